/* From a decoded file to the neutral animation: one take for each SubName, one node for each Name, and for
 * each list of keys one track with three curves. */
#include "x4-ani/x4.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- which take and node a description is */

typedef struct naming {
    kf_job *job;
    kf_anim *anim;
    x4_native *native;
    x4_table names;  /* Name, or a made-up name, to node */
    x4_table takes;  /* SubName to take */
    x4_table pairs;  /* (take, node of the Name) to the node used last */
    uint32_t *spare; /* for each node: the next one of the same Name; 0: none */
    uint32_t *rank;  /* for each node: how many of the same Name come before it */
} naming;

static const char *text_of(kf_job *job, const uint8_t *field)
{
    return kfi_strndup(job, (const char *)field, kfi_x4_name_length(field));
}

static double duration_of(const uint8_t *desc)
{
    double duration = kfi_load_f32(desc + X4_DESC_DURATION);
    return isfinite(duration) && duration > 0 ? duration : 0;
}

/* The first node of the description's Name, and its take; both are made where they appear first. */
static bool name_description(naming *n, size_t i)
{
    const uint8_t *desc = kfi_x4_desc(&n->native->ani, i);
    const uint8_t *name = desc + X4_DESC_NAME, *sub_name = desc + X4_DESC_SUB_NAME;
    bool found;
    x4_entry *node = kfi_x4_table_at(&n->names, name, kfi_x4_name_length(name), 0, &found);
    if (!found) {
        const char *text = text_of(n->job, name);
        if (!text || !kfi_add_node(n->job, n->anim, text, -1))
            return false;
        node->value = (uint32_t)(n->anim->node_count - 1);
    }
    x4_entry *take = kfi_x4_table_at(&n->takes, sub_name, kfi_x4_name_length(sub_name), 0, &found);
    if (!found) {
        const char *text = text_of(n->job, sub_name);
        if (!text || !kfi_add_take(n->job, n->anim, text) || (!text[0] && !kfi_show_as(n->job, text, KFI_UNNAMED_TAKE)))
            return false;
        take->value = (uint32_t)(n->anim->take_count - 1);
    }
    n->native->node_of[i] = node->value;
    n->native->take_of[i] = take->value;
    kf_take *at = &n->anim->takes[take->value];
    at->end = fmax(at->end, duration_of(desc));
    return true;
}

/* A name nobody has: "name#2" for the second of a kind, cut so that it fits the format's 64 bytes again.
 * Where that is taken, numbers follow that no other description tries, so that the search is short whatever
 * the names are. */
static const char *spare_name(naming *n, const char *name, uint32_t rank, size_t desc)
{
    for (size_t attempt = 0;; attempt++) {
        char suffix[32];
        int length = attempt == 0
                         ? snprintf(suffix, sizeof suffix, "#%lu", rank + 1ul)
                         : snprintf(suffix, sizeof suffix, "#%zu", desc + attempt * n->native->ani.count);
        size_t room = X4_NAME_SIZE - 1 - (size_t)length, keep = strlen(name);
        if (keep > room) {
            keep = room;
            while (keep > 0 && ((uint8_t)name[keep] & 0xc0) == 0x80)
                keep--;
        }
        char *text = kfi_format_text(n->job, "%.*s%s", (int)keep, name, suffix);
        if (!text)
            return NULL;
        bool found;
        kfi_x4_table_at(&n->names, text, strlen(text), 0, &found);
        if (!found)
            return text;
    }
}

/* A second description of the same Name and SubName gets a node of its own. */
static bool separate_description(naming *n, size_t i)
{
    uint32_t node = n->native->node_of[i], take = n->native->take_of[i];
    bool found;
    x4_entry *last = kfi_x4_table_at(&n->pairs, &n->native->take_of[i], sizeof take, node, &found);
    if (!found) {
        last->value = node;
        return true;
    }
    uint32_t next = n->spare[last->value];
    if (next == 0) {
        const char *name = n->anim->nodes[node].name;
        uint32_t rank = n->rank[last->value] + 1;
        const char *text = spare_name(n, name, rank, i);
        if (!text || !kfi_add_node(n->job, n->anim, text, -1))
            return false;
        next = (uint32_t)(n->anim->node_count - 1);
        n->spare[last->value] = next;
        n->rank[next] = rank;
        if (!kfi_note(n->job, "duplicate",
                      "take \"%.60s\" has more than one description of \"%.60s\": the further one is node "
                      "\"%.60s\"",
                      n->anim->takes[take].name, name, text))
            return false;
    }
    last->value = next;
    n->native->node_of[i] = next;
    return true;
}

static bool name_all(kf_job *job, kf_anim *anim, x4_native *native)
{
    size_t count = native->ani.count;
    naming n = {.job = job, .anim = anim, .native = native};
    native->take_of = kfi_alloc(job, count, sizeof *native->take_of);
    native->node_of = kfi_alloc(job, count, sizeof *native->node_of);
    /* Every description adds one node at the most. */
    n.spare = kfi_alloc(job, count, sizeof *n.spare);
    n.rank = kfi_alloc(job, count, sizeof *n.rank);
    if (!native->take_of || !native->node_of || !n.spare || !n.rank ||
        !kfi_x4_table_init(job, &n.names, count) || !kfi_x4_table_init(job, &n.takes, count) ||
        !kfi_x4_table_init(job, &n.pairs, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!name_description(&n, i))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!separate_description(&n, i))
            return false;
    return true;
}

/* ---------------------------------------------------------------- tracks */

static bool read_list(kf_job *job, kf_anim *anim, const x4_native *native, size_t desc, unsigned kind)
{
    static const uint8_t channels[X4_KINDS] = {KF_TRANSLATION, KF_ROTATION, KF_SCALE, KF_CUSTOM, KF_CUSTOM};
    size_t count = kfi_x4_desc_count(kfi_x4_desc(&native->ani, desc), kind);
    if (count == 0)
        return true;
    kf_take *take = &anim->takes[native->take_of[desc]];
    kf_track *track = kfi_add_track(job, take, native->node_of[desc], (kf_channel)channels[kind], 3);
    if (!track)
        return false;
    track->source = x4_source(desc, kind);
    if (channels[kind] == KF_CUSTOM)
        track->name = kind == X4_PRE_SCALE ? X4_PRE_SCALE_NAME : X4_POST_SCALE_NAME;
    const uint8_t *records = kfi_x4_keys(&native->ani, desc, kind);
    uint32_t found[3];
    kfi_x4_find_interps(records, count, found);
    for (unsigned i = 0; i < 3; i++) {
        track->rest[i] = x4_rest(kind);
        x4_component c = {.job = job,
                          .anim = anim,
                          .take = take,
                          .track = track,
                          .records = records,
                          .curve = &track->curve[i],
                          .kind = kind,
                          .index = i,
                          .unit = x4_unit(kind)};
        if (!kfi_x4_read_component(&c, count, found[i]))
            return false;
    }
    return true;
}

bool kfi_x4_import(kf_import_job *in, kf_anim *anim)
{
    kf_job *job = in->job;
    x4_native *native = kfi_alloc(job, 1, sizeof *native);
    if (!native || !kfi_x4_decode_file(in, &native->ani))
        return false;
    anim->native = native;
    anim->float32 = true;
    anim->frame_rate = in->options->frame_rate > 0 ? in->options->frame_rate : 30.0;
    /* The game's space is left-handed: x is mirrored once, above everything, and the numbers stay the game's
     * own. */
    anim->basis.scale[0] = -1.0;
    if (!name_all(job, anim, native))
        return false;
    kf_rotation_order order;
    kfi_order_from_name(in->options->rotation_order, &order);
    for (size_t i = 0; i < anim->node_count; i++)
        anim->nodes[i].order = (uint8_t)order;
    for (size_t desc = 0; desc < native->ani.count; desc++)
        for (unsigned kind = 0; kind < X4_KINDS; kind++)
            if (!read_list(job, anim, native, desc, kind))
                return false;
    return true;
}
