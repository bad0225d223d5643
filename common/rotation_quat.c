/* Euler curves to a quaternion curve: slerp between keys, with as few keys as keep the motion within
 * tolerance. */
#include "rotation.h"
#include "curve_internal.h"

#include <string.h>

enum { MOST_PIECES = 4096, MOST_SAMPLES = 2048 };

/* The time between two neighbouring keys of any of the three curves. */
typedef struct stretch {
    const kf_curve *curves;
    const double *rest;
    kf_rotation_order order;
    double start, end;
    kfi_segment segment[3];
    bool inside[3]; /* is the curve within its keys here */
    bool still;     /* nothing moves */
    size_t samples; /* enough to see every turn */
} stretch;

/* The orientation within the stretch, at its ends too: before jumps at the end, after jumps at the start. */
static void orientation(const stretch *s, double time, double q[4])
{
    double angles[3];
    for (int i = 0; i < 3; i++) {
        const kfi_segment *segment = &s->segment[i];
        if (!s->inside[i])
            angles[i] = kfi_curve_value(&s->curves[i], time, s->rest[i]);
        else if (segment->shape == KFI_HOLD)
            angles[i] = segment->v0;
        else if (segment->shape == KFI_HOLD_NEXT)
            angles[i] = segment->v1;
        else
            angles[i] = kfi_segment_value(segment, time);
    }
    kfi_quat_from_euler(angles, s->order, q);
}

static void orientation_at_key(const stretch *s, double time, double q[4])
{
    double angles[3];
    for (int i = 0; i < 3; i++)
        angles[i] = kfi_curve_value(&s->curves[i], time, s->rest[i]);
    kfi_quat_from_euler(angles, s->order, q);
}

/* `at` are the curves' keys at or before the start. */
static void begin_stretch(stretch *s, const size_t at[3], double start, double end)
{
    double way = 0.0;
    s->start = start;
    s->end = end;
    s->still = true;
    for (int i = 0; i < 3; i++) {
        const kf_curve *curve = &s->curves[i];
        s->inside[i] = at[i] + 1 < curve->count && curve->keys[at[i]].time <= start;
        if (s->inside[i]) {
            kfi_segment *segment = &s->segment[i];
            kfi_curve_segment(curve, at[i], segment);
            if (segment->shape >= KFI_LINE) {
                s->still =
                    s->still && segment->v0 == segment->v1 && segment->h0.dv == 0.0 && segment->h1.dv == 0.0;
                way +=
                    fabs(segment->v1 - segment->v0) + 2.0 * fabs(segment->h0.dv) + 2.0 * fabs(segment->h1.dv);
            }
        } else if (curve->count && curve->pre + curve->post != 2 * KF_CONSTANT) {
            s->still = false;
            way += 360.0;
        }
    }
    s->samples = way < 8.0 * (MOST_SAMPLES - 16) ? 16 + (size_t)(way / 8.0) : MOST_SAMPLES;
}

static bool slerp_fits(const stretch *s, double from, double to, double tolerance)
{
    double a[4], b[4], is[4], should[4];
    orientation(s, from, a);
    orientation(s, to, b);
    size_t samples = 16 + (size_t)((double)s->samples * ((to - from) / (s->end - s->start)));
    tolerance *= 0.99; /* it may be a little worse between the samples */
    for (size_t i = 1; i < samples; i++) {
        double u = (double)i / (double)samples;
        orientation(s, from + (to - from) * u, should);
        kfi_quat_slerp(a, b, u, is);
        if (!(kfi_quat_angle(is, should) <= tolerance))
            return false;
    }
    return true;
}

static double longest_slerp(const stretch *s, double from, double to, double tolerance)
{
    if (slerp_fits(s, from, to, tolerance))
        return to;
    double low = from, high = to, best = from + (to - from) / 1024.0;
    for (int i = 0; i < 14; i++) {
        double middle = low + 0.5 * (high - low);
        if (slerp_fits(s, from, middle, tolerance))
            best = low = middle;
        else
            high = middle;
    }
    return best;
}

static bool add_key(kf_job *job, kf_quat_curve *to, double time, const double q[4], uint8_t interp)
{
    kf_quat_key *key = kfi_push(job, &to->keys, &to->count, sizeof *key);
    if (!key)
        return false;
    double sign = to->count > 1 && kfi_quat_dot(key[-1].q, q) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++)
        key->q[i] = sign * q[i];
    key->time = time;
    key->interp = interp;
    return true;
}

/* The keys of a stretch but for the one at its end. A jump takes a key of its own just before or after it. */
static bool add_stretch(kf_job *job, const stretch *s, double tolerance, kf_quat_curve *to)
{
    double q[4], key[4], aside = fmin((s->end - s->start) / 16.0, 1e-4), from = s->start, end = s->end;
    orientation_at_key(s, s->start, key);
    if (!add_key(job, to, s->start, key, s->still ? KF_STEP : KF_LINEAR))
        return false;
    orientation(s, s->start, q);
    if (kfi_quat_angle(q, key) > tolerance) {
        to->keys[to->count - 1].interp = KF_STEP;
        from += aside;
        orientation(s, from, q);
        if (!add_key(job, to, from, q, s->still ? KF_STEP : KF_LINEAR))
            return false;
    }
    if (s->still)
        return true;
    orientation(s, s->end, q);
    orientation_at_key(s, s->end, key);
    bool jump = kfi_quat_angle(q, key) > tolerance;
    if (jump)
        end -= aside;
    for (size_t pieces = 1;; pieces++) {
        from = pieces == MOST_PIECES ? end : longest_slerp(s, from, end, tolerance);
        if (from >= end)
            break;
        orientation(s, from, q);
        if (!add_key(job, to, from, q, KF_LINEAR))
            return false;
    }
    if (!jump)
        return true;
    orientation(s, end, q);
    return add_key(job, to, end, q, KF_STEP);
}

/* The next key time after `time` on any curve; false if there is none. */
static bool next_time(const kf_curve from[3], size_t at[3], double time, double *next)
{
    bool found = false;
    for (int i = 0; i < 3; i++) {
        while (at[i] + 1 < from[i].count && from[i].keys[at[i] + 1].time <= time)
            at[i]++;
        size_t k = from[i].count && from[i].keys[at[i]].time > time ? at[i] : at[i] + 1;
        if (k < from[i].count && (!found || from[i].keys[k].time < *next)) {
            *next = from[i].keys[k].time;
            found = true;
        }
    }
    return found;
}

bool kfi_quat_from_euler_curves(kf_job *job, const kf_curve from[3], const double rest[3],
                                kf_rotation_order order, double tolerance, kf_quat_curve *to)
{
    *to = (kf_quat_curve){0};
    stretch s = {.curves = from, .rest = rest, .order = order};
    size_t at[3] = {0};
    double time = 0.0, next, q[4];
    if (!next_time(from, at, -INFINITY, &time))
        return true;
    tolerance = fmax(tolerance, 1e-6); /* closer would chase rounding */
    while (next_time(from, at, time, &next)) {
        begin_stretch(&s, at, time, next);
        if (!add_stretch(job, &s, tolerance, to))
            return false;
        time = next;
    }
    uint8_t interp = KF_STEP;
    for (int i = 0; i < 3; i++)
        if (from[i].count && from[i].keys[from[i].count - 1].interp > KF_STEP_NEXT)
            interp = KF_LINEAR;
    orientation_at_key(&s, time, q);
    return add_key(job, to, time, q, interp);
}
