/* Euler curves to a quaternion curve: slerp between keys, with as few keys as keep the motion within
 * tolerance. */
#include "rotation.h"
#include "curve_internal.h"

#include <string.h>

static const double DEGREES = 57.295779513082320877; /* in a radian */

enum { MOST_PIECES = 4096, FIRST_PIECES = 64, MOST_SAMPLES = 2048 };

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

/* How far the slerp between two moments leaves the motion: the square of the worst chord between quaternions, as a multiple
 * of `limit`, by samples from the middle, where it is worst as a rule, to both sides. What is beyond the limit ends it. */
static double slerp_miss(const stretch *s, double from, const double a[4], double to, double limit)
{
    double end[4], should[4];
    orientation(s, to, end);
    double sign = kfi_quat_dot(a, end) < 0.0 ? -1.0 : 1.0, worst = 0.0;
    for (int i = 0; i < 4; i++)
        end[i] *= sign;
    double arc = kfi_quat_arc(a, end), sine = sin(arc);
    bool flat = !(sine > 1e-9);
    size_t samples = 16 + (size_t)((double)s->samples * ((to - from) / (s->end - s->start)));
    for (size_t i = samples / 2; i > 0; i--) {
        double u = (double)i / (double)samples;
        const double share[2] = {flat ? u : sin(u * arc) / sine, flat ? 1.0 - u : sin((1.0 - u) * arc) / sine};
        for (int side = 0; side < 2; side++) { /* two samples as far from either end have the same shares */
            double near = 0.0, far = 0.0;
            orientation(s, from + (to - from) * (side ? 1.0 - u : u), should);
            for (int k = 0; k < 4; k++) {
                double is = share[!side] * a[k] + share[side] * end[k];
                near += (is - should[k]) * (is - should[k]);
                far += (is + should[k]) * (is + should[k]);
            }
            worst = fmax(worst, fmin(near, far) / limit);
            if (!(worst <= 1.0))
                return worst;
        }
    }
    return worst;
}

/* Where the slerp that begins at `from` is to end, and `length`, the one before, as what to try first: the misses of short
 * slerps grow as the square of their length. Where none is short enough, that is counted. */
static double longest_slerp(const stretch *s, double from, double to, double tolerance, double *length, size_t *lost)
{
    enum { TRIES = 24 };
    const double enough = 0.99; /* of the limit, which is the fourth power of the length: 0.25 % is left */
    double half_chord = sin(0.25 * 0.99 * tolerance / DEGREES); /* it may be a little worse between the samples */
    double limit = 4.0 * half_chord * half_chord, low = from, high = to, least = (to - from) / 65536.0, start[4];
    orientation(s, from, start);
    double at = fmin(from + fmax(*length, 4.0 * least), to);
    bool failed = false;
    for (int i = 0; i < TRIES && at - from > least; i++) {
        double miss = slerp_miss(s, from, start, at, limit);
        if (miss <= 1.0) {
            low = at;
            if (at == to || miss >= enough)
                break;
        } else {
            high = at;
            failed = true;
        }
        if (failed && high - low < 0.0025 * (low - from))
            break;
        double next = from + (at - from) * sqrt(sqrt(0.5 * (1.0 + enough) / fmax(miss, 1e-4)));
        at = next > low && next < high ? next : failed ? low + 0.5 * (high - low) : to;
    }
    if (!(low > from)) {
        low = from + least;
        ++*lost;
    }
    *length = low - from;
    return low;
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

/* Many pieces that could not be told; or dozens of turns between two keys, of which the first pieces told so little that all
 * pieces could not tell a quarter. */
static bool hopeless(const stretch *s, double reached, size_t pieces, size_t lost)
{
    return lost == FIRST_PIECES || (s->samples == MOST_SAMPLES && pieces == FIRST_PIECES &&
                                    (reached - s->start) * (MOST_PIECES / FIRST_PIECES) < 0.25 * (s->end - s->start));
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
    double length = end - from;
    size_t lost = 0;
    for (size_t pieces = 1;; pieces++) {
        bool enough = pieces == MOST_PIECES || hopeless(s, from, pieces, lost);
        from = enough ? end : longest_slerp(s, from, end, tolerance, &length, &lost);
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
