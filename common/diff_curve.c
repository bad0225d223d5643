#include "diff.h"

#include <math.h>
#include <string.h>

/* Points looked at between two instants where either side has a key. Six: their sevenths fall on no whole
 * turn of a rotation that turns a few times round. */
enum { BETWEEN = 6, CHUNK = 512 };

double kfi_diff_instant(double time)
{
    return fmax(1e-5, fabs(time) * 0x1p-22);
}

/* ---------------------------------------------------------------- the instants of both sides */

static size_t most_times(const kfi_diff_side *side, unsigned c, bool rotation)
{
    const kf_track *track = side->track;
    if (track->quaternion)
        return track->quat.count;
    size_t count = 0;
    for (unsigned i = rotation ? 0 : c; i < (rotation ? track->curves : c + 1); i++)
        for (size_t k = 0; k < track->curve[i].count; k++)
            count += track->curve[i].keys[k].interp == KF_BEZIER ? 4 : 1; /* as curve_times may give */
    return count;
}

/* The times of a curve's keys, and those where it is so steep that samples between them might pass by. */
static size_t curve_times(const kf_curve *curve, double *times)
{
    size_t count = 0;
    kfi_segment segment;
    for (size_t i = 0; i < curve->count; i++) {
        times[count++] = curve->keys[i].time;
        if (curve->keys[i].interp != KF_BEZIER || i + 1 == curve->count)
            continue;
        kfi_curve_segment(curve, i, &segment);
        count += kfi_segment_steep(&segment, &times[count]);
    }
    return count;
}

static size_t collect_times(const kfi_diff_side *side, unsigned c, bool rotation, double *times)
{
    const kf_track *track = side->track;
    size_t count = 0;
    if (track->quaternion) {
        for (size_t i = 0; i < track->quat.count; i++)
            times[count++] = track->quat.keys[i].time;
        return count;
    }
    for (unsigned component = rotation ? 0 : c; component < (rotation ? track->curves : c + 1); component++)
        count += curve_times(&track->curve[component], &times[count]);
    return count;
}

/* The key times of both sides in order; of times that are one instant, the last: then a jump is over on both
 * sides. */
static double *instants(kf_job *job, const kfi_diff_side *a, const kfi_diff_side *b, unsigned c,
                        bool rotation, size_t *count)
{
    size_t most = most_times(a, c, rotation) + most_times(b, c, rotation);
    double *times = kfi_alloc_raw(job, most, sizeof *times);
    if (!times)
        return NULL;
    size_t n = collect_times(a, c, rotation, times);
    n += collect_times(b, c, rotation, times + n);
    if (n > 1)
        kfi_sort_numbers(times, n);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && times[i + 1] - times[i] <= kfi_diff_instant(times[i]))
            continue;
        times[kept++] = times[i];
    }
    *count = kept;
    return times;
}

/* ---------------------------------------------------------------- the difference at given times */

typedef struct sampler {
    const kfi_diff_side *side[2];
    unsigned component;
    bool rotation;
    double values[3][CHUNK];
    double quats[2][CHUNK][4];
    double gap[CHUNK]; /* the result */
} sampler;

static void sample_orientations(sampler *s, const kfi_diff_side *side, const double *times, size_t count,
                                double (*quats)[4])
{
    const kf_track *track = side->track;
    if (track->quaternion && track->quat.count > 0) {
        kfi_quat_curve_values(&track->quat, times, count, quats);
        return;
    }
    for (unsigned c = 0; c < 3; c++) {
        if (c < track->curves)
            kfi_curve_values(&track->curve[c], times, count, track->rest[c], s->values[c]);
        else
            for (size_t i = 0; i < count; i++)
                s->values[c][i] = track->rest[c];
    }
    for (size_t i = 0; i < count; i++) {
        double angles[3] = {s->values[0][i], s->values[1][i], s->values[2][i]};
        kfi_quat_from_euler(angles, side->order, quats[i]);
    }
}

static void sample(sampler *s, const double *times, size_t count)
{
    if (s->rotation) {
        sample_orientations(s, s->side[0], times, count, s->quats[0]);
        sample_orientations(s, s->side[1], times, count, s->quats[1]);
        for (size_t i = 0; i < count; i++)
            s->gap[i] = kfi_quat_angle(s->quats[0][i], s->quats[1][i]);
        return;
    }
    for (int k = 0; k < 2; k++) {
        const kf_track *track = s->side[k]->track;
        kfi_curve_values(&track->curve[s->component], times, count, track->rest[s->component], s->values[k]);
    }
    for (size_t i = 0; i < count; i++)
        s->gap[i] = fabs(s->values[0][i] - s->values[1][i]);
}

static double gap_at(sampler *s, double time)
{
    sample(s, &time, 1);
    return s->gap[0];
}

/* Climbs to the top between two times. */
static void climb(sampler *s, double low, double high, double *worst, double *time)
{
    if (!(high > low))
        return;
    static const double GOLDEN = 0.6180339887498949;
    double x1 = high - GOLDEN * (high - low), x2 = low + GOLDEN * (high - low);
    double g1 = gap_at(s, x1), g2 = gap_at(s, x2);
    for (int i = 0; i < 40 && high - low > 1e-9; i++) {
        if (g1 < g2) {
            low = x1;
            x1 = x2;
            g1 = g2;
            x2 = low + GOLDEN * (high - low);
            g2 = gap_at(s, x2);
        } else {
            high = x2;
            x2 = x1;
            g2 = g1;
            x1 = high - GOLDEN * (high - low);
            g1 = gap_at(s, x1);
        }
    }
    if (g1 > *worst) {
        *worst = g1;
        *time = x1;
    }
    if (g2 > *worst) {
        *worst = g2;
        *time = x2;
    }
}

/* The worst sample so far, and the samples beside it. */
typedef struct peak {
    double worst, time;
    double low, high;
    bool on_instant; /* it lies on a key of one side, not between keys */
    bool low_instant, high_instant;
} peak;

static void find_peak(sampler *s, const double *times, size_t count, double next, peak *p)
{
    sample(s, times, count);
    for (size_t k = 0; k < count; k++) {
        if (!(s->gap[k] > p->worst))
            continue;
        p->worst = s->gap[k];
        p->time = times[k];
        p->low = k > 0 ? times[k - 1] : times[k];
        p->high = k + 1 < count ? times[k + 1] : next;
        p->on_instant = k % (BETWEEN + 1) == 0;
        p->low_instant = k % (BETWEEN + 1) == 1;
        p->high_instant = k % (BETWEEN + 1) == BETWEEN;
    }
}

/* Looks for the top beside the worst sample, but not within an instant: there one side may have jumped
 * already and the other not yet. */
static void refine_peak(sampler *s, peak *p)
{
    double time = p->time;
    if (p->on_instant) {
        climb(s, p->low, time - 2 * kfi_diff_instant(time), &p->worst, &p->time);
        climb(s, time, p->high, &p->worst, &p->time);
        return;
    }
    double low = p->low + (p->low_instant ? kfi_diff_instant(p->low) : 0);
    double high = p->high - (p->high_instant ? 2 * kfi_diff_instant(p->high) : 0);
    climb(s, low, high, &p->worst, &p->time);
}

bool kfi_diff_worst(kf_job *job, const kfi_diff_side *a, const kfi_diff_side *b, unsigned c, double *worst,
                    double *time)
{
    bool rotation = a->track->channel == KF_ROTATION;
    kfi_mark mark = kfi_arena_mark(&job->arena);
    size_t count = 0;
    double *at = instants(job, a, b, c, rotation, &count);
    sampler *s = at ? kfi_alloc_raw(job, 1, sizeof *s) : NULL;
    if (!s)
        return false;
    s->side[0] = a;
    s->side[1] = b;
    s->component = c;
    s->rotation = rotation;
    peak p = {.time = count ? at[0] : 0};
    double times[CHUNK];
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        double next = last ? at[i] : at[i + 1];
        times[filled++] = at[i];
        for (int k = 1; !last && k <= BETWEEN; k++)
            times[filled++] = at[i] + k * (next - at[i]) / (BETWEEN + 1);
        if (filled + BETWEEN + 1 > CHUNK || last) {
            find_peak(s, times, filled, next, &p);
            filled = 0;
        }
    }
    if (p.worst > 0)
        refine_peak(s, &p);
    *worst = p.worst;
    *time = p.time;
    kfi_arena_release(&job->arena, mark);
    return true;
}

/* ---------------------------------------------------------------- rotations kept in different ways */

static bool has_instant(const double *times, size_t count, double time)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times[middle] < time - kfi_diff_instant(time))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && times[low] <= time + kfi_diff_instant(time);
}

bool kfi_diff_mixed_keys(kf_job *job, const kfi_diff_side *a, const kfi_diff_side *b, double limit,
                         kfi_diff_keys *keys)
{
    static const kf_track nothing = {.channel = KF_ROTATION, .curves = 3};
    kfi_diff_side none = {&nothing, KF_XYZ};
    kfi_mark mark = kfi_arena_mark(&job->arena);
    size_t a_count = 0, b_count = 0;
    double *a_times = instants(job, a, &none, 0, true, &a_count);
    double *b_times = a_times ? instants(job, b, &none, 0, true, &b_count) : NULL;
    sampler *s = b_times ? kfi_alloc_raw(job, 1, sizeof *s) : NULL;
    if (!s)
        return false;
    s->side[0] = a;
    s->side[1] = b;
    s->rotation = true;
    for (size_t i = 0; i < a_count; i++) {
        if (!has_instant(b_times, b_count, a_times[i]))
            keys->removed++;
        else if (gap_at(s, a_times[i]) > limit)
            keys->changed++;
    }
    for (size_t i = 0; i < b_count; i++)
        keys->added += !has_instant(a_times, a_count, b_times[i]);
    kfi_arena_release(&job->arena, mark);
    return true;
}
