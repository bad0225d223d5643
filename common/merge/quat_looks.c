/* Looks at orientations between keys, and what they tell: where something was drawn, and where it jumps. */
#include "quat_looks.h"

#include <math.h>

/* Whether a component of what came back holds from one of its keys to the next. The times ascend. */
static bool holds(const kfi_merge_track *t, double time, size_t at[3])
{
    bool step = false;
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *curve = &t->edited->curve[c];
        while (at[c] + 1 < curve->count && curve->keys[at[c] + 1].time <= time + t->shift + t->offset)
            at[c]++;
        step = step || (at[c] + 1 < curve->count && curve->keys[at[c]].value != curve->keys[at[c] + 1].value &&
                        (curve->keys[at[c]].interp == KF_STEP || curve->keys[at[c]].interp == KF_STEP_NEXT));
    }
    return step;
}

/* The pieces from one time to another, which is not among them. A hold is looked at up to the jump that ends it. */
static void look_between(const kfi_merge_track *t, double from, double to, size_t at[3], kfi_looks *l)
{
    double aside = (to - from) / KFI_PIECES;
    l->held[l->count] = holds(t, 0.5 * (from + to), at);
    aside = l->held[l->count] ? fmin(KFI_JUMP_TIME, aside) : aside;
    for (int k = 0; k < KFI_PIECES; k++)
        l->times[l->count++] = k == 0                ? from
                               : k == 1              ? from + aside
                               : k + 1 == KFI_PIECES     ? to - aside
                                                     : from + (to - from) * k / KFI_PIECES;
}

/* The orientations of three curves at ascending times. */
static bool orientations(kf_job *job, const kf_track *track, kf_rotation_order order, double shift, const kfi_looks *l, double (*q)[4])
{
    kfi_mark mark = kfi_arena_mark(&job->arena);
    double *times = kfi_alloc_raw(job, l->count, sizeof *times), *one = kfi_alloc_raw(job, l->count, sizeof *one);
    if (!times || !one)
        return false;
    for (size_t i = 0; i < l->count; i++)
        times[i] = l->times[i] + shift + KFI_JUST_AFTER;
    for (unsigned c = 0; c < 3; c++) {
        kfi_curve_values(&track->curve[c], times, l->count, track->rest[c], one);
        for (size_t i = 0; i < l->count; i++)
            q[i][c] = one[i];
    }
    for (size_t i = 0; i < l->count; i++) {
        double euler[3] = {q[i][0], q[i][1], q[i][2]};
        kfi_quat_from_euler(euler, order, q[i]);
    }
    kfi_arena_release(&job->arena, mark);
    return true;
}

bool kfi_list_looks(const kfi_merge_track *t, kfi_looks *l)
{
    const kf_quat_curve *keys = &t->merged->quat;
    size_t most[2] = {kfi_euler_keys(t->written), kfi_euler_keys(t->edited)}, next[2] = {0, 0}, at[3] = {0, 0, 0};
    double *marks[2] = {kfi_alloc_raw(t->job, most[0], sizeof **marks), kfi_alloc_raw(t->job, most[1], sizeof **marks)};
    if (!marks[0] || !marks[1])
        return false;
    double limit = fmax(t->limits->time, 1e-6);
    const size_t counts[2] = {kfi_union_times(t->written, t->shift, limit, marks[0]),
                              kfi_union_times(t->edited, t->shift + t->offset, limit, marks[1])};
    size_t room = KFI_PIECES * (counts[0] + counts[1] + keys->count);
    *l = (kfi_looks){.times = kfi_alloc_raw(t->job, room, sizeof *l->times), .now = kfi_alloc_raw(t->job, room, sizeof *l->now),
                 .plays = kfi_alloc_raw(t->job, room, sizeof *l->plays), .edited = kfi_alloc_raw(t->job, room, sizeof *l->edited),
                 .held = kfi_alloc_raw(t->job, room, sizeof *l->held), .first = kfi_alloc_raw(t->job, keys->count, sizeof *l->first)};
    if (!l->times || !l->now || !l->plays || !l->edited || !l->held || !l->first)
        return false;
    for (size_t i = 0; i < keys->count; i++) {
        l->first[i] = l->count;
        if (i + 1 == keys->count)
            break;
        double from = keys->keys[i].time, end = keys->keys[i + 1].time;
        while (from < end) {
            double to = end;
            for (int k = 0; k < 2; k++) {
                while (next[k] < counts[k] && marks[k][next[k]] <= from + limit)
                    next[k]++;
                if (next[k] < counts[k] && marks[k][next[k]] < end - limit)
                    to = fmin(to, marks[k][next[k]]);
            }
            look_between(t, from, to, at, l);
            from = to;
        }
    }
    if (keys->count)
        l->times[l->count++] = keys->keys[keys->count - 1].time;
    if (!orientations(t->job, t->edited, t->edited_order, t->shift + t->offset, l, l->now) ||
        !orientations(t->job, t->written, t->order, t->shift, l, l->plays))
        return false;
    for (size_t i = 0; i < l->count; i++)
        l->edited[i] = kfi_quat_angle(l->plays[i], l->now[i]) > kfi_turn_limit(t) && kfi_turned_here(t, l->times[i], l->times[i]);
    kfi_quat_curve_values(keys, l->times, l->count, l->plays);
    return true;
}

/* Whether two keys of the original that follow each other were edited, and nothing between them. */
static bool just_keys(const kfi_merge_track *t, size_t i)
{
    const kf_quat_curve *keys = &t->merged->quat;
    const kf_origin *origin = &keys->origin[i];
    const kf_quat_key *from = t->original->quat.keys;
    if (origin[0].key == KF_NEW || origin[1].key != origin[0].key + 1 || !(origin[0].changed || origin[1].changed))
        return false;
    const double was[2] = {from[origin[0].key].time, from[origin[1].key].time},
                 now[2] = {keys->keys[i].time, keys->keys[i + 1].time};
    return kfi_only_ends_moved(t, was, now);
}

/* Whether a key came or went beside merged key i or the next: then the numbers of these make other slopes than they did, though
 * nobody drew any. */
static bool has_new_neighbour(const kfi_merge_track *t, size_t i)
{
    const kf_quat_curve *keys = &t->merged->quat;
    bool first = keys->origin[0].key != 0, last = keys->origin[keys->count - 1].key + 1 != t->original->quat.count;
    if ((first && i < 2) || (last && i + 3 >= keys->count)) /* an end went, or came */
        return true;
    for (size_t k = i > 0 ? i - 1 : 0; k < i + 3 && k < keys->count; k++) {
        bool next = k + 1 < i + 3 && k + 1 < keys->count;
        if (keys->origin[k].key == KF_NEW || (next && keys->origin[k + 1].key != keys->origin[k].key + 1))
            return true;
    }
    return false;
}

bool kfi_is_drawn(const kfi_merge_track *t, const kfi_looks *l, size_t i, double tolerance, bool *drawn)
{
    double worst = 0;
    bool beside = has_new_neighbour(t, i);
    for (size_t k = l->first[i]; k < l->first[i + 1]; k++)
        if (l->edited[k] || beside)
            worst = fmax(worst, kfi_quat_angle(l->now[k], l->plays[k]));
    *drawn = worst > tolerance;
    if (!*drawn || !just_keys(t, i))
        return true;
    *drawn = false;
    return kfi_note(t->job, "keys-alone", "take \"%.60s\", node \"%.60s\", rotation after %.4f s: keys were edited and nothing "
                                          "between them: there the game turns in its own way, up to %.4g degrees from the FBX's",
                    t->take, t->input->original->nodes[t->original->node].name, t->merged->quat.keys[i].time, worst);
}

bool kfi_tell_drawn_jumps(const kfi_merge_track *t, const kfi_looks *l, const bool *drawn)
{
    size_t jumps = 0;
    double first = 0;
    for (size_t i = 0; i + 1 < t->merged->quat.count; i++)
        for (size_t k = l->first[i]; drawn[i] && k < l->first[i + 1]; k += KFI_PIECES)
            if (l->held[k] && kfi_quat_angle(l->now[k + KFI_PIECES - 1], l->now[k + KFI_PIECES]) > kfi_turn_limit(t) && jumps++ == 0)
                first = l->times[k + KFI_PIECES];
    return jumps == 0 || kfi_warn(t->job, "jumps", "take \"%.60s\", node \"%.60s\", rotation: the format has no such steps: jumps take "
                                                   "up to a millisecond (%zu, the first at %.4f s)",
                                  t->take, t->input->original->nodes[t->original->node].name, jumps, first);
}
