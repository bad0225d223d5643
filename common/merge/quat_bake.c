/* A bake of orientations that was edited, told anew in the format's keys, the original's first. */
#include "fit/fit.h"
#include "quat.h"

#include <math.h>

void kfi_count_quat_keys(kfi_merge_track *t)
{
    const kf_quat_curve *to = &t->merged->quat;
    size_t stayed = 0;
    t->keys_changed = 0;
    for (size_t i = 0; i < to->count; i++) {
        stayed += to->origin[i].key != KF_NEW;
        t->keys_changed += to->origin[i].key != KF_NEW && to->origin[i].changed;
    }
    t->keys_added = to->count - stayed;
    t->keys_removed = t->original->quat.count - stayed;
    t->segments_fitted++;
    t->changed = true;
}

static bool is_cut(const kfi_merge_track *t)
{
    const kf_quat_curve *from = &t->original->quat;
    return from->count && from->keys[from->count - 1].time > t->cut + fmax(t->limits->time, 1e-6);
}

/* The time of the original's key if it is this one but for what a file's 32 bits round. Times ascend from call to call. */
static double at_key(const kf_quat_curve *curve, double time, double limit, size_t *key)
{
    double near = limit + 0x1p-23 * fabs(time);
    while (*key < curve->count && curve->keys[*key].time < time - near)
        ++*key;
    return *key < curve->count && curve->keys[*key].time <= time + near ? curve->keys[*key].time : time;
}

/* A bake that was edited, fitted as a whole: samples that were not edited lie on the original, whose keys stay wherever they
 * still tell the motion. Whole turns of its angles are for the record: those keys are as good as others. */
bool kfi_merge_quat_bake(kfi_merge_track *t)
{
    const kf_quat_curve *from = &t->original->quat;
    size_t most[2] = {kfi_euler_keys(t->written), kfi_euler_keys(t->edited)}, count = 0, edited = 0;
    double *times[2] = {kfi_alloc_raw(t->job, most[0], sizeof **times),
                        kfi_alloc_raw(t->job, most[1], sizeof **times)};
    double *at = kfi_alloc_raw(t->job, most[0] + most[1], sizeof *at);
    double(*q)[4] = kfi_alloc_raw(t->job, most[0] + most[1], sizeof *q);
    if (!times[0] || !times[1] || !at || !q)
        return false;
    double limit = fmax(t->limits->time, 1e-6);
    const size_t counts[2] = {kfi_union_times(t->written, t->shift, limit, times[0]),
                              kfi_union_times(t->edited, t->shift + t->offset, limit, times[1])};
    for (size_t i = 0, j = 0, key = 0; i < counts[0] || j < counts[1];) {
        bool first = j == counts[1] || (i < counts[0] && times[0][i] <= times[1][j] + limit);
        double time = first ? times[0][i++] : times[1][j++];
        while (first && j < counts[1] && times[1][j] <= time + limit)
            j++;
        if (time > t->cut + limit)
            break;
        bool moved = kfi_turned_here(t, time, time);
        edited += moved;
        at[count] = at_key(from, time, limit, &key);
        if (moved)
            kfi_edited_orientation(t, time, q[count]);
        else
            kfi_quat_curve_value(from, at[count], q[count]);
        if (count)
            kfi_quat_align(q[count], q[count - 1]);
        count++;
    }
    if (edited == 0 && !is_cut(t))
        return true;
    /* Where it rests at the end no more than the first sample of that is needed. */
    double end = from->count ? from->keys[from->count - 1].time + limit : -INFINITY;
    const double *rest = count ? q[count - 1] : NULL; /* each by this one: by the next one a slow turn would be a rest */
    while (count > 2 && at[count - 2] > end && kfi_quat_angle(q[count - 2], rest) <= kfi_turn_limit(t))
        count--;
    kf_quat_curve left = *from;
    while (left.count && left.keys[left.count - 1].time > t->cut + limit)
        left.count--;
    kfi_fit_quat_options options = {
        .interps = t->input->capabilities->quat_interps, .tolerance = t->input->tolerance, .original = &left};
    kf_quat_curve *to = &t->merged->quat;
    if (!kfi_fit_quat_jumps(t->job, at, (const double(*)[4])q, count, &options, to))
        return false;
    kfi_count_quat_keys(t);
    return true;
}
