#include "export.h"

#include "names_file.h"

#include <stdlib.h>

/* A clip from any animation, in the layout of the retail files: which nodes are bones, and in which order,
 * follows from a skeleton, or from names and hierarchy; tracks named like channel1_0003 become channels of their own. */

/* ---------------------------------------------------------------- which nodes are bones */

/* "bone_07" is bone 7; -1 for other names. */
static int64_t bone_number(const char *name)
{
    int64_t number = 0;
    if (strncmp(name, "bone_", 5) != 0 || name[5] == '\0')
        return -1;
    for (const char *at = name + 5; *at; at++) {
        if (*at < '0' || *at > '9' || number > UINT32_MAX)
            return -1;
        number = number * 10 + (*at - '0');
    }
    return number;
}

/* What a node carries: transforms, and floats that are no bone's. */
static void look_at_tracks(const kf_anim *anim, uint8_t *moves, uint8_t *carries)
{
    uint32_t channel, index;
    for (size_t t = 0; t < anim->take_count; t++)
        for (size_t i = 0; i < anim->takes[t].track_count; i++) {
            const kf_track *track = &anim->takes[t].tracks[i];
            if (track->channel <= KF_SCALE)
                moves[track->node] = 1;
            else if (track->channel == KF_CUSTOM && mm2_custom_name(track->name, &channel, &index))
                carries[track->node] = 1;
        }
}

static bool has_channel_types(const kf_node *node)
{
    uint32_t channel;
    for (size_t i = 0; i < node->property_count; i++)
        if (mm2_type_name(node->properties[i].name, &channel))
            return true;
    return false;
}

/* Nodes in pre-order, children in the order in which they come: as a skeleton file lists its bones. */
static bool pre_order(kf_job *job, const kf_anim *anim, uint32_t *order)
{
    size_t count = anim->node_count;
    /* The newest child of each node (the last slot is for roots), and of each node the child before it. */
    int64_t *last_child = kfi_alloc(job, count + 1, sizeof *last_child);
    int64_t *before = kfi_alloc(job, count + 1, sizeof *before);
    uint32_t *stack = kfi_alloc(job, count + 1, sizeof *stack);
    if (!last_child || !before || !stack)
        return false;
    for (size_t i = 0; i <= count; i++)
        last_child[i] = -1;
    for (size_t i = 0; i < count; i++) {
        size_t parent = anim->nodes[i].parent < 0 ? count : (size_t)anim->nodes[i].parent;
        before[i] = last_child[parent];
        last_child[parent] = (int64_t)i;
    }
    size_t depth = 0, given = 0;
    for (int64_t root = last_child[count]; root >= 0; root = before[root])
        stack[depth++] = (uint32_t)root;
    while (depth > 0) {
        uint32_t node = stack[--depth];
        order[given++] = node;
        for (int64_t child = last_child[node]; child >= 0; child = before[child])
            stack[depth++] = (uint32_t)child;
    }
    return true;
}

typedef struct numbered {
    int64_t number;
    uint32_t place, node;
} numbered;

static int by_number(const void *a, const void *b)
{
    const numbered *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return left->place < right->place ? -1 : 1;
}

/* If all bones have numbers, the numbers decide: programs sort by name. */
static bool sort_by_number(kf_job *job, const kf_anim *anim, uint32_t *bones, size_t count)
{
    numbered *list = kfi_alloc(job, count, sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < count; i++) {
        list[i] = (numbered){bone_number(anim->nodes[bones[i]].name), (uint32_t)i, bones[i]};
        if (list[i].number < 0)
            return true;
    }
    qsort(list, count, sizeof *list, by_number);
    for (size_t i = 0; i < count; i++)
        bones[i] = list[i].node;
    return true;
}

static bool find_bones(kf_job *job, const kf_anim *anim, int32_t *bone_of, size_t *bone_count)
{
    uint8_t *moves = kfi_alloc(job, anim->node_count, 1);
    uint8_t *carries = kfi_alloc(job, anim->node_count, 1);
    uint32_t *bones = kfi_alloc(job, anim->node_count, sizeof *bones);
    if (!moves || !carries || !bones || !pre_order(job, anim, bones))
        return false;
    look_at_tracks(anim, moves, carries);
    size_t count = 0;
    for (size_t i = 0; i < anim->node_count; i++) {
        const kf_node *node = &anim->nodes[bones[i]];
        bool other = node->kind == KF_NODE_OTHER || carries[bones[i]] || has_channel_types(node);
        bone_of[bones[i]] = -1;
        if (!other || moves[bones[i]])
            bones[count++] = bones[i];
    }
    if (!sort_by_number(job, anim, bones, count))
        return false;
    for (size_t i = 0; i < count; i++)
        bone_of[bones[i]] = (int32_t)i;
    *bone_count = count;
    return true;
}

/* ---------------------------------------------------------------- channels */

static bool has_rotation(const kf_anim *anim, const kf_take *take)
{
    for (size_t i = 0; i < anim->node_count; i++)
        for (int c = 0; c < 3; c++)
            if (anim->nodes[i].rest.rotation[c] != 0)
                return true;
    for (size_t i = 0; i < take->track_count; i++)
        if (take->tracks[i].channel == KF_ROTATION)
            return true;
    return false;
}

enum { MOST_CHANNELS = 65536 };

/* The float that a track stands for, if it is one of another channel than the bones'. */
static bool stands_for(const kf_track *track, uint32_t *channel, uint32_t *index)
{
    return track->channel == KF_CUSTOM && track->curves == 1 &&
           mm2_custom_name(track->name, channel, index) && *channel < MOST_CHANNELS && *index < UINT32_MAX;
}

/* The types that properties remember. */
static void recall_types(mm2_exporter *ex, bool *known)
{
    uint32_t number;
    for (size_t n = 0; n < ex->anim->node_count; n++)
        for (size_t i = 0; i < ex->anim->nodes[n].property_count; i++) {
            const kf_property *property = &ex->anim->nodes[n].properties[i];
            if (mm2_type_name(property->name, &number) && number < ex->clip.channel_count &&
                property->value_count > 0 && property->value[0] >= 0 && property->value[0] <= 255) {
                ex->clip.channels[number].type = (uint8_t)property->value[0];
                known[number] = true;
            }
        }
}

/* Channels have the numbers that tracks' names say, in between are empty ones; the bones get the first that
 * no track wants. */
static bool plan_channels(mm2_exporter *ex, size_t bones, size_t rotating)
{
    kfi_mm2_anim *clip = &ex->clip;
    uint32_t number, index;
    for (size_t i = 0; i < ex->take->track_count; i++)
        if (stands_for(&ex->take->tracks[i], &number, &index) && number >= clip->channel_count)
            clip->channel_count = (size_t)number + 1;
    kfi_mm2_channel *channels = clip->channels =
        kfi_alloc(ex->job, clip->channel_count + 1, sizeof *channels);
    uint32_t *names = kfi_alloc(ex->job, clip->channel_count + 1, sizeof *names);
    bool *known = kfi_alloc(ex->job, clip->channel_count + 1, sizeof *known);
    if (!channels || !names || !known)
        return false;
    ex->channel_names = names;
    for (size_t i = 0; i < ex->take->track_count; i++)
        if (stands_for(&ex->take->tracks[i], &number, &index) && index >= channels[number].floats)
            channels[number].floats = index + 1;
    size_t motion = SIZE_MAX;
    if (bones > 0 || clip->channel_count == 0) {
        motion = 0;
        while (motion < clip->channel_count && channels[motion].floats > 0)
            motion++;
        if (motion == clip->channel_count)
            clip->channel_count++;
    }
    recall_types(ex, known);
    for (size_t i = 0; i < clip->channel_count; i++) {
        names[i] = (uint32_t)i;
        if (i == motion) {
            channels[i].type = KFI_MM2_MOTION;
            channels[i].floats = (uint32_t)(rotating * 3 + 3);
        } else if (!known[i] && channels[i].floats > 0) {
            channels[i].type = 2;
            if (!kfi_warn(ex->job, "channel-type", "take \"%.60s\": channel %zu has no type, written as 2",
                          ex->take->name, i))
                return false;
        }
    }
    return true;
}

static bool export_take(kf_export_job *out, const kf_take *take, const int32_t *bone_of, size_t bones,
                        const char *name)
{
    mm2_exporter ex = {.job = out->job, .anim = out->anim, .take = take, .bone_of = bone_of};
    double rate = out->anim->frame_rate;
    /* A single node that only moves is a clip without bones, but has its translation. */
    size_t rotating = bones == 1 && !out->options->rig.data && !has_rotation(out->anim, take) ? 0 : bones;
    if (bones > UINT32_MAX / 3 - 1)
        return kfi_fail(out->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "%zu bones are too many", bones);
    if (!kfi_take_frames(ex.job, take, rate, UINT32_MAX, &ex.frames) || !plan_channels(&ex, bones, rotating))
        return false;
    ex.clip.stored_count = ex.clip.channel_count == 1 ? 0 : (uint32_t)ex.clip.channel_count;
    if (!kfi_note(out->job, "chosen", "take \"%.60s\": %zu bones, %zu frames at %g a second, unknown float 0",
                  take->name, rotating, ex.frames.count, rate))
        return false;
    return mm2_write_clip(&ex, out->host, name);
}

bool mm2_export_fresh(kf_export_job *out)
{
    const kf_anim *anim = out->anim;
    const char *output = out->output ? out->output : "clip.anim";
    int32_t *bone_of = kfi_alloc(out->job, anim->node_count, sizeof *bone_of);
    size_t bones;
    if (!bone_of || !(out->options->rig.data ? mm2_rigged_bones(out, bone_of, &bones) : find_bones(out->job, anim, bone_of, &bones)))
        return false;
    /* A scene without takes is a pose: one frame. */
    kf_take pose = {.name = "pose"};
    if (anim->take_count <= 1)
        return export_take(out, anim->take_count ? anim->takes : &pose, bone_of, bones, output);
    kfi_file_names names;
    const char *stem = kfi_stem(out->job, output, "clip"), *before = stem ? kfi_format_text(out->job, "%s_", stem) : NULL;
    if (!before || !kfi_file_names_init(&names, out, anim->take_count, "anim"))
        return false;
    for (size_t i = 0; i < anim->take_count; i++) {
        const char *name = kfi_file_name(&names, before, anim->takes[i].name);
        if (!name || !export_take(out, &anim->takes[i], bone_of, bones, name))
            return false;
    }
    return true;
}
