/* Which descriptions a file gets: the original's in their order, new ones behind them. */
#include "x4-ani/export_plan.h"

#include <math.h>

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
        return X4_NONE;
    default:
        return X4_NONE;
    }
}

static x4_entry *pair_at(x4_plan *p, uint32_t take, uint32_t node, bool *found)
{
    uint32_t *key = &p->key_of[p->keys];
    *key = take;
    x4_entry *entry = kfi_x4_table_at(&p->pairs, key, sizeof *key, node, found);
    if (!*found)
        p->keys++;
    return entry;
}

static void add_original(x4_plan *p)
{
    for (size_t i = 0; i < p->native->ani.count; i++) {
        x4_planned *item = &p->items[p->count++];
        item->base = kfi_x4_desc(&p->native->ani, i);
        item->index = i;
        item->take = p->take_of[p->native->take_of[i]];
        item->node = p->node_of[p->native->node_of[i]];
        for (unsigned kind = 0; kind < X4_KINDS; kind++)
            item->count[kind] = kfi_x4_desc_count(item->base, kind);
        bool found;
        if (item->take != X4_NONE && item->node != X4_NONE)
            pair_at(p, (uint32_t)item->take, (uint32_t)item->node, &found)->value = (uint32_t)i;
    }
}

/* The item for a track: the one it came from, else that of its take and node, else a new one. */
static x4_planned *item_for(x4_plan *p, size_t take, const kf_track *track, unsigned kind)
{
    bool found;
    x4_entry *entry = pair_at(p, (uint32_t)take, track->node, &found);
    if (!found) {
        entry->value = (uint32_t)p->count;
        x4_planned *item = &p->items[p->count++];
        item->take = (int32_t)take;
        item->node = (int32_t)track->node;
    }
    x4_planned *item = &p->items[entry->value];
    if (item->track[kind]) {
        kfi_fail(p->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                 "node \"%.60s\", take \"%.60s\": expected one track of %s keys, found two",
                 p->anim->nodes[track->node].name, p->anim->takes[take].name, kfi_x4_kind_name(kind));
        return NULL;
    }
    return item;
}

x4_list kfi_x4_list_of(const x4_plan *p, const x4_planned *item, unsigned kind)
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

static bool add_track(x4_plan *p, size_t take, const kf_track *track)
{
    int kind = kind_of(track);
    if (kind == X4_NONE)
        return kfi_warn(p->job, "channel-lost",
                        "node \"%.60s\", take \"%.60s\": this format cannot store the channel %s%s%.60s",
                        p->anim->nodes[track->node].name, p->anim->takes[take].name,
                        kfi_channel_name((kf_channel)track->channel), track->name ? " " : "",
                        track->name ? track->name : "");
    x4_planned *item = item_for(p, take, track, (unsigned)kind);
    if (!item)
        return false;
    item->track[kind] = track;
    x4_list list = kfi_x4_list_of(p, item, (unsigned)kind);
    if ((track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT) && list.source) {
        item->count[kind] = list.source_count;
        return true;
    }
    return kfi_x4_list_count(p->job, &list, &item->count[kind]);
}

/* Without an original, a take without keys is kept as a description without keys, which must be some node's. */
static bool keep_empty_takes(x4_plan *p)
{
    if (p->native || p->anim->node_count == 0)
        return true;
    for (size_t i = 0; i < p->anim->take_count; i++) {
        if (p->anim->takes[i].track_count > 0)
            continue;
        x4_planned *item = &p->items[p->count++];
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
static bool tell_scales(const x4_plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const x4_planned *item = &p->items[i];
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

/* The game counts from the start of a state, and no key may lie beyond its end. */
static bool tell_spans(const x4_plan *p)
{
    for (size_t i = 0; i < p->anim->take_count; i++) {
        const kf_take *take = &p->anim->takes[i];
        double first, last;
        if (take->source >= 0 || !kfi_take_range(take, &first, &last))
            continue;
        if (isfinite(take->start) && fabs(take->start) > 1e-9 &&
            !kfi_note(p->job, "start", "take \"%.60s\" begins at %.6g s: its times are counted from there", take->name,
                      take->start))
            return false;
        if (last > take->end + 0.5 / p->anim->frame_rate &&
            !kfi_warn(p->job, "span", "take \"%.60s\" ends at %.4f s, but has keys up to %.4f s: in the file it lasts until then",
                      take->name, take->end, last))
            return false;
    }
    return true;
}

/* A file that is made anew has parts only where they move. */
static bool tell_still(const x4_plan *p)
{
    bool *has = kfi_alloc(p->job, p->anim->node_count, sizeof *has);
    size_t still = 0;
    for (size_t i = 0; has && i < p->count; i++)
        if (p->items[i].node != X4_NONE)
            has[p->items[i].node] = true;
    for (size_t i = 0; has && i < p->anim->node_count; i++)
        still += !has[i];
    return has && (p->native || still == 0 ||
                   kfi_note(p->job, "still-nodes", "%zu nodes that do not move were not written", still));
}

/* The first channel in which a node stands elsewhere without keys; KF_CHANNEL_COUNT: none. */
static unsigned posed(const kf_node *node, unsigned keyed)
{
    for (unsigned c = 0; c < 3; c++)
        for (unsigned channel = KF_TRANSLATION; channel <= KF_SCALE; channel++) {
            double value = channel == KF_TRANSLATION ? node->rest.translation[c]
                           : channel == KF_ROTATION  ? node->rest.rotation[c]
                                                     : node->rest.scale[c] - 1;
            if (!(keyed >> channel & 1) && fabs(value) > 1e-5)
                return channel;
        }
    return KF_CHANNEL_COUNT;
}

/* Keys are offsets to the model's rest pose, which no file of this kind has: nor what the scene has instead. */
static bool tell_poses(const x4_plan *p)
{
    uint8_t *keyed = kfi_alloc(p->job, p->anim->node_count, sizeof *keyed);
    size_t count = 0, first = 0;
    for (size_t t = 0; keyed && t < p->anim->take_count; t++)
        for (size_t i = 0; i < p->anim->takes[t].track_count; i++)
            keyed[p->anim->takes[t].tracks[i].node] |= (uint8_t)(1u << p->anim->takes[t].tracks[i].channel);
    for (size_t i = 0; keyed && i < p->anim->node_count; i++) {
        const kf_node *node = &p->anim->nodes[i];
        if (node->source < 0 && keyed[i] && posed(node, keyed[i]) < KF_CHANNEL_COUNT)
            first = count++ ? first : i;
    }
    return keyed && (count == 0 || kfi_note(p->job, "poses", "%zu nodes stand elsewhere than their parents where they have no keys: the file "
                                                             "has no poses, only what moves (first: node \"%.60s\", %s)",
                                            count, p->anim->nodes[first].name,
                                            kfi_channel_name((kf_channel)posed(&p->anim->nodes[first], keyed[first]))));
}

/* What did not come back stays as it is, unless it is to be dropped. */
static void drop_missing(x4_plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        x4_planned *item = &p->items[i];
        bool had = false, has = false;
        for (unsigned kind = 0; kind < X4_KINDS; kind++) {
            if (!item->track[kind] && p->drop_missing) {
                had = had || item->count[kind];
                item->count[kind] = 0;
            }
            has = has || item->count[kind] || item->track[kind];
        }
        item->dropped =
            p->drop_missing && item->base && (had || item->take == X4_NONE || item->node == X4_NONE) && !has;
    }
}

bool kfi_x4_make_plan(x4_plan *p)
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
            p->take_of[i] = X4_NONE;
        for (size_t i = 0; i < p->original->node_count; i++)
            p->node_of[i] = X4_NONE;
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
    return keep_empty_takes(p) && tell_still(p) && tell_poses(p) && tell_spans(p) && tell_scales(p);
}
