#include "fbx/lower_internal.h"

#include "fbx/capsule.h"
#include "fbx/keys.h"
#include "fbx/lower_bake.h"
#include "names.h"
#include "rotation.h"
#include "tcb_tracks.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

void kfi_lower_options_from(const kf_options *options, kfi_lower_options *lower)
{
    *lower = (kfi_lower_options){
        .program = options->program,
        .bake = options->bake || options->program == KF_FOR_BLENDER,
        .bake_rate = options->bake_rate,
        .tolerance = options->tolerance,
        .take = -1,
        .revision = KFI_LOWERING_REVISION,
    };
    lower->tcb_slopes =
        options->tcb == KF_TCB_SLOPES || (options->tcb == KF_TCB_DEFAULT && options->program == KF_FOR_MAYA);
}

void kfi_note_loss(kfi_lowering *l, int which, double time)
{
    kfi_loss *lost = &l->losses[which];
    *l->lossy = true;
    if (lost->count++ == 0) {
        lost->take = l->take->name;
        lost->node = l->from->nodes[l->track->node].name;
        lost->channel = kfi_channel_name((kf_channel)l->track->channel);
        lost->time = time;
    }
}

static bool tell_losses(kfi_lowering *l)
{
    for (int i = 0; i < KFI_LOSS_COUNT; i++) {
        const kfi_loss *lost = &l->losses[i];
        if (lost->count &&
            !kfi_warn(l->job, lost->id, "%zu %s (first: take \"%.60s\", node \"%.60s\", %s at %.4f s)", lost->count,
                      lost->what, lost->take, lost->node, lost->channel, lost->time))
            return false;
    }
    return l->changed_names == 0 ||
           kfi_warn(l->job, "name-changed",
                    "%zu names are empty, too long or there twice and stand changed in the FBX (first: \"%.60s\" as "
                    "\"%.60s\"): only with the original are they known again",
                    l->changed_names, l->changed_from, l->changed_to);
}

/* The way back has to add keys of its own (conform.c) and needs room for them. */
static double rotation_tolerance(const kfi_lowering *l)
{
    return kfi_tolerated_angle(l->options->tolerance) * 0.4;
}

/* ---------------------------------------------------------------- tracks, takes, nodes */

/* To the bit, so that nobody can tell one's keys from the other's. */
static bool same_keys(const kf_curve *a, const kf_curve *b)
{
    return a->count == b->count && !a->tcb == !b->tcb && a->tcb_rule == b->tcb_rule && !a->fbx_data && !b->fbx_data &&
           !a->handles == !b->handles && memcmp(a->keys, b->keys, a->count * sizeof *a->keys) == 0 &&
           (!a->handles || memcmp(a->handles, b->handles, a->count * sizeof *a->handles) == 0) &&
           (!a->tcb || memcmp(a->tcb, b->tcb, a->count * sizeof *a->tcb) == 0);
}

static bool round_curve(kfi_lowering *l, kf_curve *curve, const kf_curve *edited)
{
    if (curve->count == 0)
        return true;
    kf_curve rounded = {0};
    if (curve->count > l->packed_room) {
        l->packed_room = curve->count > 2 * l->packed_room ? curve->count : 2 * l->packed_room;
        if (!kfi_fbx_keys_alloc(l->job, l->packed_room, &l->packed))
            return false;
    }
    kfi_fbx_pack_into(curve, &l->packed);
    kfi_mark mark = kfi_arena_mark(&l->job->arena);
    if (!kfi_fbx_unpack(l->job, &l->packed, (double)KFI_FBX_TICKS, &rounded))
        return false;
    for (size_t i = 0; i < curve->count; i++)
        rounded.keys[i].flags |= (uint8_t)(curve->keys[i].flags & KF_KEY_HELPER);
    if (edited && same_keys(&rounded, edited)) {
        /* Most curves come back as they were: the memory that this one took is the next one's. */
        kfi_arena_release(&l->job->arena, mark);
        rounded.keys = edited->keys;
        rounded.handles = edited->handles;
        rounded.tcb = edited->tcb;
    }
    rounded.origin = curve->origin;
    rounded.pre = curve->pre;
    rounded.post = curve->post;
    rounded.pre_count = curve->pre_count;
    rounded.post_count = curve->post_count;
    *curve = rounded;
    return true;
}

/* All curves of a take's track of that number. */
static bool round_track(kfi_lowering *l, const kf_take *take, size_t number)
{
    const kf_anim *edited = l->options->edited;
    size_t at = l->to->anim.take_count - 1;
    const kf_take *came = edited && at < edited->take_count ? &edited->takes[at] : NULL;
    kf_track *track = &take->tracks[number];
    for (unsigned c = 0; c < track->curves; c++)
        if (!round_curve(l, &track->curve[c], came && number < came->track_count ? &came->tracks[number].curve[c] : NULL))
            return false;
    return true;
}

static bool lower_track(kfi_lowering *l, const kf_track *from, const kfi_bake *bake, kf_track *to)
{
    kf_rotation_order order = (kf_rotation_order)l->from->nodes[from->node].order;
    l->track = from;
    *to = *from;
    to->node = from->node + l->to->first_node;
    if (from->quaternion) {
        to->quaternion = false;
        to->curves = 3;
        to->quat = (kf_quat_curve){0};
        if (from->quat.count == 0)
            return true;
        if (!(bake ? kfi_bake_quat_curve(l->job, bake, &from->quat, order, to->curve)
                   : kfi_euler_from_quat_curve(l->job, &from->quat, order, rotation_tolerance(l), to->curve)))
            return false;
    }
    for (unsigned c = 0; c < from->curves; c++) {
        const kf_curve *curve = &from->curve[c];
        if (from->channel == KF_ROTATION)
            kfi_lower_note_angles(l, curve);
        if (!(bake && curve->count ? kfi_bake_curve(l->job, bake, curve, from->rest[c], &to->curve[c])
                                   : kfi_lower_curve(l, curve, &to->curve[c])))
            return false;
    }
    return true;
}

static bool lower_take(kfi_lowering *l, const kf_take *from, kf_take *to, double *shift, bool *lossy)
{
    l->take = from;
    kfi_bake bake;
    bool baked = l->to->baked;
    if (baked) {
        if (!kfi_bake_frames(l->job, from, l->rate, &bake))
            return false;
        *shift = bake.shift;
        to->start = 0;
        to->end = (double)(bake.frames - 1) / bake.rate;
    } else {
        to->start = from->start;
        to->end = from->end;
    }
    to->layers = from->layers;
    to->layer_count = from->layer_count;
    for (size_t i = 0; i < from->track_count; i++) {
        kf_track *track = kfi_push(l->job, &to->tracks, &to->track_count, sizeof *track);
        l->lossy = &lossy[i];
        if (!track || !lower_track(l, &from->tracks[i], baked ? &bake : NULL, track) ||
            (l->options->exact && !round_track(l, to, i)))
            return false;
        track->source = (int32_t)i;
    }
    /* Behind them, the numbers that FBX keys have no room for. */
    for (size_t i = 0; i < from->track_count && !l->options->as_is && !baked; i++) {
        const kf_track *track = &from->tracks[i];
        if ((track->quaternion || !l->options->tcb_slopes) &&
            !kfi_tcb_tracks_add(l->job, track, track->node + l->to->first_node, (int32_t)i, *shift, to))
            return false;
    }
    for (size_t i = from->track_count; l->options->exact && i < to->track_count; i++)
        if (!round_track(l, to, i))
            return false;
    return true;
}

/* Blender cuts "node|take" at 63 bytes. */
enum { BLENDER_NODE = 40, BLENDER_TAKE = 22 };

/* Names that only the original can tell: of none, of two alike, or cut. Messages call them as FBX does. */
static bool count_changed_name(kfi_lowering *l, const char *given, const char *bytes)
{
    const char *again = kfi_names_bytes(l->job, given);
    if (again && strcmp(again, bytes) != 0 && l->changed_names++ == 0) {
        l->changed_from = kfi_strdup(l->job, bytes); /* as it is: a copy is not called otherwise */
        l->changed_to = given;
        again = l->changed_from;
    }
    return again && (strcmp(given, bytes) == 0 || kfi_show_as(l->job, bytes, given));
}

static bool lower_takes(kfi_lowering *l)
{
    kf_anim *to = &l->to->anim;
    kfi_names names;
    /* One take needs no name to be known by. */
    size_t limit = l->options->program == KF_FOR_BLENDER && l->from->take_count > 1 ? BLENDER_TAKE : 0;
    if (!kfi_names_init(&names, l->job, l->from->take_count, limit))
        return false;
    to->takes = NULL;
    to->take_count = 0;
    l->to->shift = kfi_alloc(l->job, l->from->take_count, sizeof *l->to->shift);
    l->to->lossy = kfi_alloc(l->job, l->from->take_count, sizeof *l->to->lossy);
    if (!l->to->shift || !l->to->lossy)
        return false;
    for (size_t i = 0; i < l->from->take_count; i++) {
        const char *name = l->from->takes[i].name;
        if (!l->options->as_is)
            name = kfi_names_give(&names, name, KFI_UNNAMED_TAKE);
        if (name && !l->options->as_is && !count_changed_name(l, name, l->from->takes[i].name))
            return false;
        if (!name)
            return false;
        if (l->options->take >= 0 && (size_t)l->options->take != i)
            continue;
        size_t at = to->take_count;
        kf_take *take = kfi_add_take(l->job, to, name);
        l->to->lossy[at] = kfi_alloc(l->job, l->from->takes[i].track_count, sizeof **l->to->lossy);
        if (!take || !l->to->lossy[at] ||
            !lower_take(l, &l->from->takes[i], take, &l->to->shift[at], l->to->lossy[at]))
            return false;
        take->source = (int32_t)i;
        const double longest = (double)(INT64_MAX / KFI_FBX_TICKS);
        if (fmax(fabs(take->start), fabs(take->end)) > longest &&
            !kfi_warn(l->job, "time-range", "take \"%.60s\" lasts from %g to %g s, and FBX can tell no more than %g s", name,
                      take->start, take->end, longest))
            return false;
        if (l->options->as_is)
            continue;
        /* Programs show the layer's name; like the take's, it cannot be mistaken for another. */
        kf_layer *layers = kfi_alloc(l->job, take->layer_count, sizeof *layers);
        if (!layers)
            return false;
        memcpy(layers, take->layers, take->layer_count * sizeof *layers);
        layers[0].name = name;
        take->layers = layers;
    }
    return true;
}

static bool add_wrapper(kfi_lowering *l)
{
    kf_anim *to = &l->to->anim;
    kf_node *wrapper = kfi_add_node(l->job, to, l->options->wrapper, -1);
    if (!wrapper)
        return false;
    wrapper->source = -1;
    wrapper->rest = l->from->basis;
    if (l->options->capsule) {
        kf_property *property = kfi_push(l->job, &wrapper->properties, &wrapper->property_count, sizeof *property);
        if (!property)
            return false;
        *property = (kf_property){.name = KFI_CAPSULE_PROPERTY,
                                  .type = "KString",
                                  .sub_type = "",
                                  .flags = "U",
                                  .text = l->options->capsule,
                                  .text_size = l->options->capsule_size};
    }
    return true;
}

static bool lower_nodes(kfi_lowering *l)
{
    kf_anim *to = &l->to->anim;
    kfi_names names;
    size_t limit = l->options->program == KF_FOR_BLENDER ? BLENDER_NODE : 0;
    if (!kfi_names_init(&names, l->job, l->from->node_count, limit))
        return false;
    to->nodes = NULL;
    to->node_count = 0;
    if (l->options->wrapper && !add_wrapper(l)) /* no other name begins like its */
        return false;
    l->to->first_node = (uint32_t)to->node_count;
    for (size_t i = 0; i < l->from->node_count; i++) {
        const kf_node *from = &l->from->nodes[i];
        const char *name = l->options->as_is ? from->name : kfi_names_give(&names, from->name, "node");
        int32_t parent = from->parent >= 0 || l->options->wrapper ? from->parent + (int32_t)l->to->first_node : -1;
        kf_node *node = name ? kfi_add_node(l->job, to, name, parent) : NULL;
        if (!node || (!l->options->as_is && !count_changed_name(l, name, from->name)))
            return false;
        *node = *from;
        node->name = name;
        node->parent = parent;
        node->source = (int32_t)i;
    }
    return true;
}

/* FBX's number for a frame rate. */
static int32_t time_mode(double rate)
{
    static const struct {
        double rate;
        int32_t mode;
    } modes[] = {{120, 1}, {100, 2}, {60, 3}, {50, 4}, {48, 5}, {30, 6}, {25, 10}, {24, 11}, {1000, 12}, {96, 15}, {72, 16}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (rate == modes[i].rate)
            return modes[i].mode;
    return 14; /* custom */
}

bool kfi_fbx_lower(kf_job *job, const kf_anim *anim, const kfi_lower_options *options, kfi_lowered *lowered)
{
    kfi_lowering l = {.job = job, .from = anim, .options = options, .to = lowered};
    l.losses[KFI_EASE_LOST] = (kfi_loss){.id = "ease-lost", .what = "segments with ease play without it in the FBX, which has "
                                                            "none: --tcb slopes keeps the shape"};
    l.losses[KFI_TCB_BENT] = (kfi_loss){.id = "tcb-bent", .what = "TCB keys get other slopes by FBX's rule (end keys, uneven "
                                                          "spacing): --tcb slopes keeps the shape"};
    l.losses[KFI_HANDLE_CLAMPED] = (kfi_loss){.id = "handle-clamped", .what = "segments have handles too short or too long for "
                                                                      "FBX: the slope is kept, the length clamped"};
    l.losses[KFI_HANDLE_OUTSIDE] = (kfi_loss){.id = "handle-outside", .what = "handles lie before the first or after the last "
                                                                      "key, where FBX has no room"};
    l.losses[KFI_WEIGHT_ROUNDED] = (kfi_loss){.id = "weight-rounded", .what = "steep segments are a little off because FBX rounds "
                                                                      "the length of handles"};
    l.losses[KFI_ANGLE_ROUNDED] = (kfi_loss){.id = "angle-rounded", .what = "angles have so many turns that FBX's 32-bit numbers "
                                                                    "are a little off"};
    memset(lowered, 0, sizeof *lowered);
    lowered->anim = *anim;
    lowered->anim.native = NULL;
    lowered->baked = options->bake;
    if (lowered->baked) {
        double between = 0;
        l.rate = options->bake_rate > 0 ? options->bake_rate : kfi_bake_rate(anim, &between);
        if (between > 0 && !kfi_warn(job, "bake-between-frames",
                                     "no frame rate puts every key on a frame: baked at %g, where keys lie up to %.4f s "
                                     "beside their frame",
                                     l.rate, between))
            return false;
        lowered->anim.frame_rate = l.rate;
    }
    if (!options->as_is || options->bake)
        lowered->anim.settings.time_mode = time_mode(lowered->anim.frame_rate);
    if (options->as_is && !options->bake && !options->tcb_slopes && options->take < 0)
        return true;
    return lower_nodes(&l) && lower_takes(&l) && tell_losses(&l);
}
