/* From the neutral animation to a file: the original's descriptions in their order, new ones behind them. */
#include "x4-ani/x4.h"

#include <math.h>

enum { NONE = -1 };

/* A description to be written. */
typedef struct planned {
    const uint8_t *base;             /* the original's record, or NULL */
    size_t index;                    /* its number in the original */
    int32_t take, node;              /* in the animation; NONE if they are gone from it */
    const kf_track *track[X4_KINDS]; /* what each list of keys is made of; NULL: the original's, or none */
    size_t count[X4_KINDS];
    bool dropped;
} planned;

typedef struct plan {
    kf_job *job;
    const kf_anim *anim;
    const kf_anim *original;
    const x4_native *native; /* of the original, or NULL */
    bool drop_missing;
    double tolerance;
    planned *items;
    size_t count;
    x4_table pairs;   /* (take, node) of the animation to item */
    uint32_t *key_of; /* room for the pairs' keys */
    size_t keys;
    int32_t *take_of, *node_of; /* for the original's takes and nodes: which they are in the animation */
} plan;

/* ---------------------------------------------------------------- which description a track belongs to */

static int kind_of(const kf_track *track)
{
    switch (track->channel) {
    case KF_TRANSLATION:
        return X4_POS;
    case KF_ROTATION:
        return X4_ROT;
    case KF_SCALE:
        return X4_SCALE;
    case KF_CUSTOM:
        if (track->name && strcmp(track->name, X4_PRE_SCALE_NAME) == 0)
            return X4_PRE_SCALE;
        if (track->name && strcmp(track->name, X4_POST_SCALE_NAME) == 0)
            return X4_POST_SCALE;
        return NONE;
    default:
        return NONE;
    }
}

static x4_entry *pair_at(plan *p, uint32_t take, uint32_t node, bool *found)
{
    uint32_t *key = &p->key_of[p->keys];
    *key = take;
    x4_entry *entry = kfi_x4_table_at(&p->pairs, key, sizeof *key, node, found);
    if (!*found)
        p->keys++;
    return entry;
}

static void add_original(plan *p)
{
    for (size_t i = 0; i < p->native->ani.count; i++) {
        planned *item = &p->items[p->count++];
        item->base = kfi_x4_desc(&p->native->ani, i);
        item->index = i;
        item->take = p->take_of[p->native->take_of[i]];
        item->node = p->node_of[p->native->node_of[i]];
        for (unsigned kind = 0; kind < X4_KINDS; kind++)
            item->count[kind] = kfi_x4_desc_count(item->base, kind);
        bool found;
        if (item->take != NONE && item->node != NONE)
            pair_at(p, (uint32_t)item->take, (uint32_t)item->node, &found)->value = (uint32_t)i;
    }
}

/* The item for a track: the one it came from, else that of its take and node, else a new one. */
static planned *item_for(plan *p, size_t take, const kf_track *track, unsigned kind)
{
    bool found;
    x4_entry *entry = pair_at(p, (uint32_t)take, track->node, &found);
    if (!found) {
        entry->value = (uint32_t)p->count;
        planned *item = &p->items[p->count++];
        item->take = (int32_t)take;
        item->node = (int32_t)track->node;
    }
    planned *item = &p->items[entry->value];
    if (item->track[kind]) {
        kfi_fail(p->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                 "node \"%.60s\", take \"%.60s\": expected one track of %s keys, found two",
                 p->anim->nodes[track->node].name, p->anim->takes[take].name, kfi_x4_kind_name(kind));
        return NULL;
    }
    return item;
}

static x4_list list_of(const plan *p, const planned *item, unsigned kind)
{
    const kf_track *track = item->track[kind];
    const kf_take *take = &p->anim->takes[item->take];
    x4_list list = {
        .track = track, .kind = kind, .take = take->name, .node = p->anim->nodes[item->node].name,
        .tolerance = p->tolerance};
    if (p->native && track->source >= 0 && (size_t)track->source / X4_KINDS < p->native->ani.count &&
        (unsigned)track->source % X4_KINDS == kind) {
        size_t from = (size_t)track->source / X4_KINDS;
        list.source = kfi_x4_keys(&p->native->ani, from, kind);
        list.source_count = kfi_x4_desc_count(kfi_x4_desc(&p->native->ani, from), kind);
    }
    /* The game counts from the start of a state: a new take that begins elsewhere is moved there. */
    if (take->source < 0 && isfinite(take->start))
        list.shift = -take->start;
    return list;
}

static bool add_track(plan *p, size_t take, const kf_track *track)
{
    int kind = kind_of(track);
    if (track->node >= p->anim->node_count)
        return kfi_fail(p->job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "a track has no node");
    if (kind == NONE)
        return kfi_warn(p->job, "channel-lost",
                        "node \"%.60s\", take \"%.60s\": this format cannot store the channel %s%s%.60s",
                        p->anim->nodes[track->node].name, p->anim->takes[take].name,
                        kfi_channel_name((kf_channel)track->channel), track->name ? " " : "",
                        track->name ? track->name : "");
    planned *item = item_for(p, take, track, (unsigned)kind);
    if (!item)
        return false;
    item->track[kind] = track;
    x4_list list = list_of(p, item, (unsigned)kind);
    if ((track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT) && list.source) {
        item->count[kind] = list.source_count;
        return true;
    }
    return kfi_x4_list_count(p->job, &list, &item->count[kind]);
}

/* Without an original, a take without keys beside others that have some is kept as a description without
 * keys, which must be some node's. */
static bool keep_empty_takes(plan *p)
{
    if (p->native || p->count == 0)
        return true;
    for (size_t i = 0; i < p->anim->take_count; i++) {
        if (p->anim->takes[i].track_count > 0)
            continue;
        planned *item = &p->items[p->count++];
        item->take = (int32_t)i;
        item->node = 0;
        if (!kfi_note(p->job, "empty-take",
                      "take \"%.60s\" has no keys: kept as an empty description of \"%.60s\"",
                      p->anim->takes[i].name, p->anim->nodes[0].name))
            return false;
    }
    return true;
}

/* The game wants as many pre-scale keys as post-scale keys. */
static bool tell_scales(const plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const planned *item = &p->items[i];
        size_t pre = item->count[X4_PRE_SCALE], post = item->count[X4_POST_SCALE];
        bool edited = item->track[X4_PRE_SCALE] || item->track[X4_POST_SCALE];
        bool was = item->base && kfi_x4_desc_count(item->base, X4_PRE_SCALE) !=
                                     kfi_x4_desc_count(item->base, X4_POST_SCALE);
        if (!item->dropped && pre != post && edited && !was &&
            !kfi_warn(p->job, "scale-counts",
                      "node \"%.60s\", take \"%.60s\": %zu pre-scale keys and %zu post-scale keys, of which the game "
                      "wants the same number",
                      p->anim->nodes[item->node].name, p->anim->takes[item->take].name, pre, post))
            return false;
    }
    return true;
}

/* The game counts from the start of a state. */
static bool tell_starts(const plan *p)
{
    for (size_t i = 0; i < p->anim->take_count; i++) {
        const kf_take *take = &p->anim->takes[i];
        if (take->source < 0 && take->track_count > 0 && isfinite(take->start) && fabs(take->start) > 1e-9 &&
            !kfi_note(p->job, "start", "take \"%.60s\" begins at %.6g s: its times are counted from there", take->name,
                      take->start))
            return false;
    }
    return true;
}

/* What did not come back stays as it is, unless it is to be dropped. */
static void drop_missing(plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        planned *item = &p->items[i];
        bool had = false, has = false;
        for (unsigned kind = 0; kind < X4_KINDS; kind++) {
            if (!item->track[kind] && p->drop_missing) {
                had = had || item->count[kind];
                item->count[kind] = 0;
            }
            has = has || item->count[kind] || item->track[kind];
        }
        item->dropped =
            p->drop_missing && item->base && (had || item->take == NONE || item->node == NONE) && !has;
    }
}

static bool make_plan(plan *p)
{
    size_t most = p->native ? p->native->ani.count : 0, tracks = 0;
    for (size_t i = 0; i < p->anim->take_count; i++)
        tracks += p->anim->takes[i].track_count;
    p->items = kfi_alloc(p->job, most + tracks + p->anim->take_count, sizeof *p->items);
    p->key_of = kfi_alloc(p->job, most + tracks + 1, sizeof *p->key_of);
    if (!p->items || !p->key_of || !kfi_x4_table_init(p->job, &p->pairs, most + tracks))
        return false;
    if (p->native) {
        p->take_of = kfi_alloc_raw(p->job, p->original->take_count, sizeof *p->take_of);
        p->node_of = kfi_alloc_raw(p->job, p->original->node_count, sizeof *p->node_of);
        if (!p->take_of || !p->node_of)
            return false;
        for (size_t i = 0; i < p->original->take_count; i++)
            p->take_of[i] = NONE;
        for (size_t i = 0; i < p->original->node_count; i++)
            p->node_of[i] = NONE;
        for (size_t i = p->anim->take_count; i-- > 0;) {
            int32_t source = p->anim->takes[i].source;
            if (source >= 0 && (size_t)source < p->original->take_count)
                p->take_of[source] = (int32_t)i;
        }
        for (size_t i = p->anim->node_count; i-- > 0;) {
            int32_t source = p->anim->nodes[i].source;
            if (source >= 0 && (size_t)source < p->original->node_count)
                p->node_of[source] = (int32_t)i;
        }
        add_original(p);
    }
    for (size_t i = 0; i < p->anim->take_count; i++)
        for (size_t t = 0; t < p->anim->takes[i].track_count; t++)
            if (!add_track(p, i, &p->anim->takes[i].tracks[t]))
                return false;
    drop_missing(p);
    return keep_empty_takes(p) && tell_starts(p) && tell_scales(p);
}

/* ---------------------------------------------------------------- writing it */

/* A 64-byte name: zeros behind it, cut where it is too long. */
static bool write_name(kf_job *job, uint8_t *field, const char *name, const char *what)
{
    size_t length = strlen(name), keep = length;
    if (keep > X4_NAME_SIZE - 1) {
        keep = X4_NAME_SIZE - 1;
        while (keep > 0 && ((uint8_t)name[keep] & 0xc0) == 0x80)
            keep--;
    }
    memset(field, 0, X4_NAME_SIZE);
    memcpy(field, name, keep);
    return keep == length ||
           kfi_warn(job, "name-cut", "%s \"%.100s\" is longer than 63 bytes and was cut after %zu", what,
                    name, keep);
}

static bool write_names(const plan *p, const planned *item, uint8_t *desc)
{
    if (item->node != NONE) {
        const kf_node *node = &p->anim->nodes[item->node];
        if ((!item->base ||
             strcmp(node->name, p->original->nodes[p->native->node_of[item->index]].name) != 0) &&
            !write_name(p->job, desc + X4_DESC_NAME, node->name, "node"))
            return false;
    }
    if (item->take == NONE)
        return true;
    const kf_take *take = &p->anim->takes[item->take];
    return (item->base &&
            strcmp(take->name, p->original->takes[p->native->take_of[item->index]].name) == 0) ||
           write_name(p->job, desc + X4_DESC_SUB_NAME, take->name, "take");
}

static bool write_keys(const plan *p, const planned *item, uint8_t *keys)
{
    for (unsigned kind = 0; kind < X4_KINDS; kind++) {
        size_t size = item->count[kind] * X4_KEY_SIZE;
        const kf_track *track = item->track[kind];
        if (size == 0)
            continue;
        if (!track) {
            memcpy(keys, kfi_x4_keys(&p->native->ani, item->index, kind), size);
        } else {
            x4_list list = list_of(p, item, kind);
            if ((track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT) && list.source)
                memcpy(keys, list.source, size);
            else if (!kfi_x4_write_list(p->job, &list, keys))
                return false;
        }
        keys += size;
    }
    return true;
}

static float last_time(const uint8_t *keys, size_t count)
{
    float last = 0;
    for (size_t i = 0; i < count; i++)
        last = fmaxf(last, kfi_x4_time(keys + i * X4_KEY_SIZE)); /* passes over NaN */
    return last;
}

/* A new description lasts as long as its take. One of the original's keeps its Duration, unless its take was
 * made longer or shorter, or keys were moved or added beyond it. */
static bool write_duration(const plan *p, const planned *item, uint8_t *desc, const uint8_t *keys,
                           size_t count)
{
    const kf_take *take = item->take == NONE ? NULL : &p->anim->takes[item->take];
    float last = last_time(keys, count), duration = 0;
    if (!item->base) {
        /* NOLINTNEXTLINE: what is new has a take */
        x4_list list = {.take = take->name, .node = p->anim->nodes[item->node].name};
        double length = take->end - (take->source < 0 ? take->start : 0);
        if (!kfi_x4_to_f32(p->job, &list, isfinite(length) && length > 0 ? length : 0, &duration))
            return false;
        kfi_store_f32(desc + X4_DESC_DURATION, fmaxf(duration, last));
        return true;
    }
    float old = kfi_load_f32(item->base + X4_DESC_DURATION);
    size_t old_count = p->native->ani.first[item->index + 1] - p->native->ani.first[item->index];
    float old_last = last_time(kfi_x4_keys(&p->native->ani, item->index, 0), old_count);
    if (!isfinite(old))
        return true;
    duration = old;
    if (take && take->source >= 0) {
        double old_end = p->original->takes[p->native->take_of[item->index]].end;
        if (fabs(take->end - old_end) > 1e-4 && fabs(old - old_end) <= 1e-6 && take->end > 0)
            duration = (float)take->end;
    }
    if (last > duration && last != old_last && isfinite(last))
        duration = last;
    if (duration != old && isfinite(duration))
        kfi_store_f32(desc + X4_DESC_DURATION, duration);
    return true;
}

static bool write_item(const plan *p, const planned *item, uint8_t *desc, uint8_t *keys, size_t count)
{
    if (item->base)
        memcpy(desc, item->base, X4_DESC_SIZE);
    else
        memset(desc, 0, X4_DESC_SIZE);
    for (unsigned kind = 0; kind < X4_KINDS; kind++)
        kfi_store_u32(desc + X4_DESC_COUNTS + 4 * kind, (uint32_t)item->count[kind]);
    return write_names(p, item, desc) && write_keys(p, item, keys) &&
           write_duration(p, item, desc, keys, count);
}

static size_t keys_in(const planned *item)
{
    size_t count = 0;
    for (unsigned kind = 0; kind < X4_KINDS; kind++)
        count += item->count[kind];
    return count;
}

static bool write_plan(const plan *p, kfi_writer *out)
{
    kfi_x4_ani ani = {.version = 1};
    size_t descs = 0, keys = 0;
    for (size_t i = 0; i < p->count; i++) {
        descs += !p->items[i].dropped;
        keys += p->items[i].dropped ? 0 : keys_in(&p->items[i]);
    }
    if (descs == 0 && !p->native)
        return kfi_fail(p->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "there is no animation that x4-ani could store");
    if (descs > (INT32_MAX - X4_HEADER_SIZE) / X4_DESC_SIZE)
        return kfi_fail(p->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "%zu descriptions are too many", descs);
    uint8_t *desc_bytes = kfi_alloc_raw(p->job, descs, X4_DESC_SIZE);
    uint8_t *key_bytes = kfi_alloc_raw(p->job, keys, X4_KEY_SIZE);
    if (!desc_bytes || !key_bytes)
        return false;
    ani.count = (uint32_t)descs;
    ani.key_offset = X4_HEADER_SIZE + X4_DESC_SIZE * ani.count;
    if (p->native) { /* which of the two conventions shows only where there are descriptions */
        const kfi_x4_ani *from = &p->native->ani;
        ani.version = from->version;
        ani.padding = from->padding;
        if (from->count > 0 && from->key_offset == X4_HEADER_SIZE)
            ani.key_offset = X4_HEADER_SIZE;
    }
    ani.descriptions = desc_bytes;
    ani.keys = key_bytes;
    ani.key_count = keys;
    for (size_t i = 0; i < p->count; i++) {
        const planned *item = &p->items[i];
        if (item->dropped)
            continue;
        size_t count = keys_in(item);
        if (!write_item(p, item, desc_bytes, key_bytes, count))
            return false;
        desc_bytes += X4_DESC_SIZE;
        key_bytes += count * X4_KEY_SIZE;
    }
    kfi_writer_init(out, p->job, X4_HEADER_SIZE + descs * X4_DESC_SIZE + keys * X4_KEY_SIZE);
    return kfi_x4_ani_encode(out, &ani);
}

bool kfi_x4_export(kf_export_job *job)
{
    plan p = {.job = job->job, .anim = job->anim, .original = job->original};
    p.drop_missing = job->options && job->options->drop_missing;
    p.tolerance = job->options ? job->options->tolerance : 0;
    if (job->original)
        p.native = job->original->native;
    kfi_writer out = {0};
    if (!make_plan(&p) || !write_plan(&p, &out))
        return false;
    const char *name = job->original && job->count > 0 ? job->files[0].name : job->output;
    return job->host->emit(job->job, name, out.data, out.size);
}
