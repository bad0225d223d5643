/* kf_diff: takes are matched by name (or, where each side has one, with each other), nodes by name, tracks by
 * node, layer, channel and name. What a game calls its nodes may not stand in an FBX as it is: against an
 * FBX, names are compared as the FBX writer would write them. */
#include "diff.h"

#include "format.h"
#include "names.h"
#include "tcb_tracks.h"
#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct named {
    const char *name;
    size_t index;
} named;

/* A track in its place among all of a pair of takes. */
typedef struct entry {
    size_t node; /* A's number for it; nodes that only B has come behind A's */
    uint32_t layer;
    uint8_t channel;
    uint8_t side; /* 0 A, 1 B */
    const char *name;
    size_t index;
    const kf_track *track;
} entry;

typedef struct differ {
    kf_job *job;
    const kf_anim *anim[2];
    size_t *node_map; /* for each node of B, its number as in entry.node */
    kf_difference *items;
    size_t count;
    size_t compared;
    bool same;
    bool held; /* one side is an FBX of a game's file: what is no number there it can but hold */
    bool baked[2]; /* that side is such an FBX, and a bake */
    const char *take; /* at work */
    size_t next_shape[2];
} differ;

/* ---------------------------------------------------------------- matching by name */

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* The names in order, as the other side will have written them. */
static named *sorted_names(kf_job *job, const kf_anim *anim, bool takes, const char *otherwise)
{
    size_t count = takes ? anim->take_count : anim->node_count;
    bool raw = strcmp(anim->format, "fbx") == 0;
    named *list = kfi_alloc(job, count, sizeof *list);
    kfi_names names;
    if (!list || !kfi_names_init(&names, job, count, 0))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = takes ? anim->takes[i].name : anim->nodes[i].name;
        list[i] = (named){raw ? name : kfi_names_give(&names, name, otherwise), i};
        if (!list[i].name)
            return NULL;
    }
    if (count > 1)
        qsort(list, count, sizeof *list, by_name);
    return list;
}

/* For each item of B its partner in A, or SIZE_MAX. Of equal names the first belongs to the first. */
static size_t *match_names(kf_job *job, const kf_anim *const anim[2], bool takes, const char *otherwise)
{
    size_t count[2];
    named *list[2];
    for (int k = 0; k < 2; k++) {
        count[k] = takes ? anim[k]->take_count : anim[k]->node_count;
        list[k] = sorted_names(job, anim[k], takes, otherwise);
        if (!list[k])
            return NULL;
    }
    size_t *map = kfi_alloc(job, count[1], sizeof *map);
    if (!map)
        return NULL;
    for (size_t j = 0; j < count[1]; j++)
        map[j] = SIZE_MAX;
    for (size_t i = 0, j = 0; i < count[0] && j < count[1];) {
        int order = strcmp(list[0][i].name, list[1][j].name);
        if (order == 0)
            map[list[1][j].index] = list[0][i].index;
        i += order <= 0;
        j += order >= 0;
    }
    return map;
}

/* ---------------------------------------------------------------- tracks */

static const char *channel_label(kf_job *job, const kf_track *track, int component)
{
    static const char *const suffix[] = {"", ".x", ".y", ".z"};
    return kfi_format_text(job, "%s%s%s%s", kfi_channel_name((kf_channel)track->channel),
                           track->name ? ":" : "", track->name ? track->name : "", suffix[component + 1]);
}

static kf_difference *add_item(differ *d, const char *node, const char *channel)
{
    kf_difference *item = channel ? kfi_push(d->job, &d->items, &d->count, sizeof *item) : NULL;
    if (item)
        *item = (kf_difference){.take = d->take, .node = node, .channel = channel};
    return item;
}

/* Numbers that the scene writer put beside the keys they belong to: a game's file has them in its keys. */
static bool is_numbers(const differ *d, const kf_track *track, int side)
{
    kf_channel channel;
    const char *name;
    size_t length;
    unsigned number;
    return d->held && strcmp(d->anim[side]->format, "fbx") == 0 && kfi_tcb_track_parse(track, &channel, &name, &length, &number);
}

static bool one_sided(differ *d, const char *node, const kf_track *track, int side)
{
    if (is_numbers(d, track, side))
        return true;
    kf_difference *item = add_item(d, node, channel_label(d->job, track, -1));
    if (!item)
        return false;
    size_t keys = kfi_track_keys(track);
    item->only_a = side == 0;
    item->only_b = side == 1;
    item->removed = item->only_a ? keys : 0;
    item->added = item->only_b ? keys : 0;
    d->same = false;
    return true;
}

static double limit_of(double tolerance, const kf_track *track, const kf_curve *a, const kf_curve *b)
{
    if (tolerance > 0 || track->channel == KF_ROTATION)
        return kfi_tolerated_angle(tolerance);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 2; k++) {
        const kf_curve *curve = k ? b : a;
        for (size_t i = 0; i < curve->count; i++) {
            low = fmin(low, curve->keys[i].value);
            high = fmax(high, curve->keys[i].value);
        }
    }
    return kfi_tolerated_range(tolerance, low, high);
}

/* Adds what was found of a pair of curves or rotations, if it is anything at all. */
static bool judge(differ *d, const char *node, const kf_track *track, int component, kf_difference found,
                  const kfi_diff_keys *keys)
{
    found.added = keys->added;
    found.removed = keys->removed;
    found.changed = keys->changed;
    if (keys->odd && !d->held) {
        found.worst = INFINITY;
        found.time = keys->odd_time;
    }
    d->compared++;
    if (!(found.worst <= found.limit))
        d->same = false;
    if (found.worst == 0 && found.added + found.removed + found.changed == 0)
        return true;
    kf_difference *item = add_item(d, node, channel_label(d->job, track, component));
    if (!item)
        return false;
    found.take = item->take;
    found.node = item->node;
    found.channel = item->channel;
    *item = found;
    return true;
}

static bool compare_rotations(differ *d, const char *node, const kfi_diff_side *a, const kfi_diff_side *b)
{
    kf_difference found = {.limit = kfi_tolerated_angle(d->job->options.tolerance)};
    kfi_diff_keys keys = {0};
    if (!kfi_diff_worst(d->job, a, b, 0, &found.worst, &found.time))
        return false;
    if (a->track->quaternion && b->track->quaternion) {
        kfi_diff_quat_keys(&a->track->quat, &b->track->quat, found.limit, &keys);
    } else if (!a->track->quaternion && !b->track->quaternion && a->order == b->order) {
        for (unsigned c = 0; c < 3; c++)
            kfi_diff_curve_keys(&a->track->curve[c], &b->track->curve[c], found.limit, &keys);
    } else if (!kfi_diff_mixed_keys(d->job, a, b, found.limit, &keys)) {
        return false;
    }
    /* Orientations of equal curves differ by the last digits of their sines. */
    if (found.worst < 1e-6)
        found.worst = 0;
    return judge(d, node, a->track, -1, found, &keys);
}

static bool compare_tracks(differ *d, const char *node, const kfi_diff_side *a, const kfi_diff_side *b)
{
    if (a->track->channel == KF_ROTATION)
        return compare_rotations(d, node, a, b);
    unsigned curves = a->track->curves > b->track->curves ? a->track->curves : b->track->curves;
    for (unsigned c = 0; c < curves; c++) {
        const kf_curve *x = &a->track->curve[c], *y = &b->track->curve[c];
        double tolerance = d->job->options.tolerance;
        kf_difference found = {.limit = limit_of(tolerance, a->track, x, y)};
        kfi_diff_keys keys = {0};
        if (x->count == 0 && y->count == 0)
            continue;
        if (!kfi_diff_worst(d->job, a, b, c, &found.worst, &found.time))
            return false;
        kfi_diff_curve_keys(x, y, found.limit, &keys);
        if (!judge(d, node, a->track, curves > 1 ? (int)c : -1, found, &keys))
            return false;
    }
    return true;
}

/* The shape that a weight is of. */
static bool compare_shapes(differ *d, const kf_node *a, const kf_node *b, const kf_track *weight)
{
    kf_difference found = {.take = d->take, .node = a->name};
    bool there = false;
    if (weight->channel != KF_MORPH || !weight->name)
        return true;
    if (!kfi_diff_shape(d->job, a->mesh, b->mesh, weight, d->next_shape, &there, &found))
        return false;
    d->compared += there;
    if (found.worst == 0)
        return true;
    d->same = d->same && found.worst <= found.limit;
    found.channel = kfi_format_text(d->job, "shape:%s", weight->name);
    kf_difference *item = add_item(d, a->name, found.channel);
    if (item)
        *item = found;
    return item != NULL;
}

/* ---------------------------------------------------------------- takes */

static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->channel != y->channel)
        return x->channel < y->channel ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (order)
        return order;
    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool same_place(const entry *a, const entry *b)
{
    return a->node == b->node && a->layer == b->layer && a->channel == b->channel &&
           strcmp(a->name, b->name) == 0;
}

static size_t list_tracks(const differ *d, int side, const kf_take *take, entry *list)
{
    size_t count = 0;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        if (kfi_track_keys(track) == 0)
            continue;
        size_t node = side == 0 ? track->node : d->node_map[track->node];
        list[count++] = (entry){.node = node,
                                .layer = track->layer,
                                .channel = track->channel,
                                .side = (uint8_t)side,
                                .name = track->name ? track->name : "",
                                .index = i,
                                .track = track};
    }
    return count;
}

static const kf_node *node_of(const differ *d, const entry *e)
{
    return &d->anim[e->side]->nodes[e->track->node];
}

/* The tracks of one place: the first of A with the first of B, and so on; those left over are on one side
 * only. */
static bool compare_place(differ *d, const entry *list, size_t count)
{
    size_t of_a = 0;
    while (of_a < count && list[of_a].side == 0)
        of_a++;
    size_t of_b = count - of_a;
    for (size_t i = 0; i < of_a || i < of_b; i++) {
        const entry *a = i < of_a ? &list[i] : NULL, *b = i < of_b ? &list[of_a + i] : NULL;
        const entry *present = a ? a : b;
        const char *node = node_of(d, present)->name;
        if (!a || !b) {
            if (!one_sided(d, node, present->track, present->side))
                return false;
            continue;
        }
        kfi_diff_side x = {a->track, (kf_rotation_order)node_of(d, a)->order};
        kfi_diff_side y = {b->track, (kf_rotation_order)node_of(d, b)->order};
        if (!compare_tracks(d, node, &x, &y) || !compare_shapes(d, node_of(d, a), node_of(d, b), a->track))
            return false;
    }
    return true;
}

/* How long two takes of one format last: beyond half a frame that shows, though no key tells of it. */
static bool compare_ends(differ *d, const kf_take *a, const kf_take *b)
{
    double rate = fmax(d->anim[0]->frame_rate, d->anim[1]->frame_rate); /* a file may say its own */
    double worst = fabs((b->end - b->start) - (a->end - a->start)), limit = 0.5 / (rate > 0 ? rate : 30);
    if (strcmp(d->anim[0]->format, d->anim[1]->format) != 0 || !(worst > limit))
        return true;
    kf_difference *item = add_item(d, "", "duration");
    if (!item)
        return false;
    item->worst = worst;
    item->limit = limit;
    item->time = fmin(a->end, b->end);
    d->same = false;
    return true;
}

static bool compare_takes(differ *d, const kf_take *first, const kf_take *second)
{
    kf_take one = *first, other = *second;
    const kf_take *a = &one, *b = &other;
    d->take = a->name;
    if (!compare_ends(d, a, b) || (d->baked[0] && !kfi_diff_move_bake(d->job, b, &one)) ||
        (d->baked[1] && !kfi_diff_move_bake(d->job, a, &other)))
        return false;
    entry *list = kfi_alloc(d->job, a->track_count + b->track_count, sizeof *list);
    if (!list)
        return false;
    size_t count = list_tracks(d, 0, a, list);
    count += list_tracks(d, 1, b, list + count);
    if (count > 1)
        qsort(list, count, sizeof *list, by_place);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && same_place(&list[i], &list[next]);)
            next++;
        if (!compare_place(d, list + i, next - i))
            return false;
    }
    return true;
}

static bool lone_take(differ *d, const kf_take *take, int side)
{
    d->take = take->name;
    kf_difference *item = add_item(d, "", "");
    if (!item)
        return false;
    item->only_a = side == 0;
    item->only_b = side == 1;
    d->same = false;
    return true;
}

static bool compare_all(differ *d)
{
    const kf_anim *a = d->anim[0], *b = d->anim[1];
    d->node_map = match_names(d->job, d->anim, false, "node");
    size_t *take_map = d->node_map ? match_names(d->job, d->anim, true, KFI_UNNAMED_TAKE) : NULL;
    bool *met = take_map ? kfi_alloc(d->job, a->take_count, sizeof *met) : NULL;
    if (!met)
        return false;
    for (size_t j = 0; j < b->node_count; j++)
        if (d->node_map[j] == SIZE_MAX)
            d->node_map[j] = a->node_count + j;
    if (a->take_count == 1 && b->take_count == 1)
        take_map[0] = 0;
    for (size_t j = 0; j < b->take_count; j++)
        if (take_map[j] != SIZE_MAX)
            met[take_map[j]] = true;
    for (size_t i = 0; i < a->take_count; i++)
        if (!met[i] && !lone_take(d, &a->takes[i], 0))
            return false;
    for (size_t j = 0; j < b->take_count; j++) {
        bool paired = take_map[j] != SIZE_MAX;
        if (!(paired ? compare_takes(d, &a->takes[take_map[j]], &b->takes[j])
                     : lone_take(d, &b->takes[j], 1)))
            return false;
    }
    return true;
}

/* What stands on one side only first, then by how far beyond the tolerance; else by name. */
static int worst_first(const void *a, const void *b)
{
    const kf_difference *x = a, *y = b;
    int one_x = x->only_a || x->only_b, one_y = y->only_a || y->only_b;
    if (one_x != one_y)
        return one_y - one_x;
    double over_x = x->limit > 0 ? x->worst / x->limit : 0, over_y = y->limit > 0 ? y->worst / y->limit : 0;
    if (over_x != over_y)
        return over_x < over_y ? 1 : -1;
    int order = strcmp(x->take, y->take);
    order = order ? order : strcmp(x->node, y->node);
    return order ? order : strcmp(x->channel, y->channel);
}

bool kf_diff(kf_job *job, const kf_anim *a, const kf_anim *b, kf_diff_result *result, kf_error *error)
{
    kfi_enter(job);
    differ d = {.job = job, .anim = {a, b}, .same = true};
    d.held = (strcmp(a->format, "fbx") == 0) != (strcmp(b->format, "fbx") == 0);
    *result = (kf_diff_result){0};
    bool fbx = strcmp(b->format, "fbx") == 0;
    if ((!d.held || kfi_diff_is_bake(job, d.anim[fbx], &d.baked[fbx])) && compare_all(&d)) {
        if (d.count > 1)
            qsort(d.items, d.count, sizeof *d.items, worst_first);
        *result = (kf_diff_result){d.items, d.count, d.compared, d.same};
    }
    return kfi_leave(job, error);
}
