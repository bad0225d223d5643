#include "rotation.h"
#include "curve_internal.h"

#include <string.h>

/* Half the rotation vector from a to b, in a's frame: ln(a^-1 b), b taken in a's hemisphere. */
void kfi_quat_log(const double a[4], const double b[4], double out[3])
{
    double inverse[4] = {a[0], -a[1], -a[2], -a[3]}, d[4];
    kfi_quat_multiply(inverse, b, d);
    double sign = d[0] < 0.0 ? -1.0 : 1.0, sine = sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
    double scale = sine > 1e-12 ? sign * atan2(sine, fabs(d[0])) / sine : sign;
    for (int i = 0; i < 3; i++)
        out[i] = scale * d[i + 1];
}

void kfi_quat_exp(const double q[4], const double v[3], double out[4])
{
    double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double scale = angle > 1e-12 ? sin(angle) / angle : 1.0;
    double e[4] = {cos(angle), scale * v[0], scale * v[1], scale * v[2]};
    kfi_quat_multiply(q, e, out);
}

/* The squad points of key i: `after` for the segment behind it, `before` for the one in front of it.
 * Kochanek's rule as in 3ds Max; an end key stands as if the motion came in as it goes out. */
static void squad_points(const kf_quat_curve *curve, size_t i, double before[4], double after[4])
{
    const kf_quat_key *key = &curve->keys[i];
    bool has_before = i > 0 && kfi_gap(key[-1].time, key->time);
    bool has_after = i + 1 < curve->count && kfi_gap(key->time, key[1].time);
    double came[3] = {0}, goes[3] = {0}, p = 1.0, n = 1.0;
    if (has_before)
        kfi_quat_log(key[-1].q, key->q, came);
    if (has_after)
        kfi_quat_log(key->q, key[1].q, goes);
    kf_tcb tcb = kfi_tcb_of(curve->tcb, i);
    double t = tcb.tension, c = tcb.continuity, b = tcb.bias;
    if (has_before && has_after) {
        p = 2.0 * (key->time - key[-1].time) / (key[1].time - key[-1].time);
        n = 2.0 - p;
        p += fabs(c) * (1.0 - p);
        n += fabs(c) * (1.0 - n);
    } else if (has_before) {
        memcpy(goes, came, sizeof goes);
    } else {
        memcpy(came, goes, sizeof came);
    }
    double half = 0.5 * (1.0 - t);
    double sm = half * (1.0 - c) * (1.0 + b) * p, sp = half * (1.0 + c) * (1.0 - b) * p;
    double dm = half * (1.0 + c) * (1.0 + b) * n, dp = half * (1.0 - c) * (1.0 - b) * n;
    double a[3], v[3];
    for (int k = 0; k < 3; k++) {
        a[k] = 0.5 * (dm * came[k] + (dp - 1.0) * goes[k]);
        v[k] = 0.5 * ((1.0 - sm) * came[k] - sp * goes[k]);
    }
    kfi_quat_exp(key->q, a, after);
    kfi_quat_exp(key->q, v, before);
}

void kfi_quat_curve_segment(const kf_quat_curve *curve, size_t i, kfi_quat_segment *segment)
{
    const kf_quat_key *a = &curve->keys[i], *b = a + 1;
    *segment = (kfi_quat_segment){.t0 = a->time, .t1 = b->time};
    bool step = a->interp == KF_STEP || !kfi_gap(a->time, b->time);
    segment->interp = (uint8_t)(step ? KF_STEP : a->interp == KF_TCB ? KF_TCB : KF_LINEAR);
    double sign = kfi_quat_dot(a->q, b->q) < 0.0 ? -1.0 : 1.0;
    memcpy(segment->q0, a->q, sizeof segment->q0);
    for (int k = 0; k < 4; k++)
        segment->q1[k] = sign * b->q[k];
    segment->arc = kfi_quat_arc(segment->q0, segment->q1);
    if (segment->interp != KF_TCB)
        return;
    double unused[4];
    squad_points(curve, i, unused, segment->a0);
    squad_points(curve, i + 1, segment->b1, unused);
    for (int k = 0; k < 4; k++)
        segment->b1[k] *= sign;
    segment->arc_ab = kfi_quat_arc(segment->a0, segment->b1);
    if (curve->tcb) {
        segment->ease0 = fmax(kfi_tcb_of(curve->tcb, i).ease_out, 0.0);
        segment->ease1 = fmax(kfi_tcb_of(curve->tcb, i + 1).ease_in, 0.0);
    }
}

void kfi_quat_segment_value(const kfi_quat_segment *s, double time, double q[4])
{
    if (time >= s->t1) {
        memcpy(q, s->q1, sizeof s->q1);
        return;
    }
    if (time <= s->t0 || s->interp == KF_STEP) {
        memcpy(q, s->q0, sizeof s->q0);
        return;
    }
    double u = (time - s->t0) / (s->t1 - s->t0);
    if (s->interp == KF_LINEAR) {
        kfi_quat_slerp_arc(s->q0, s->q1, s->arc, u, q);
        return;
    }
    double near[4], far[4];
    u = kfi_ease(u, s->ease0, s->ease1);
    kfi_quat_slerp_arc(s->q0, s->q1, s->arc, u, near);
    kfi_quat_slerp_arc(s->a0, s->b1, s->arc_ab, u, far);
    kfi_quat_slerp_long(near, far, 2.0 * u * (1.0 - u), q);
}

/* The last key at or before the time, else the first; there is one. */
static size_t find_key(const kf_quat_curve *curve, double time)
{
    size_t low = 0, high = curve->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (curve->keys[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void kfi_quat_curve_values(const kf_quat_curve *curve, const double *times, size_t count, double (*q)[4])
{
    size_t key = count && curve->count ? find_key(curve, times[0]) : 0;
    kfi_quat_segment segment;
    bool ready = false;
    for (size_t i = 0; i < count; i++) {
        if (curve->count == 0) {
            memcpy(q[i], (double[4]){1.0, 0.0, 0.0, 0.0}, sizeof q[i]);
            continue;
        }
        while (key + 1 < curve->count && curve->keys[key + 1].time <= times[i]) {
            key++;
            ready = false;
        }
        if (key + 1 == curve->count || times[i] <= curve->keys[key].time) {
            memcpy(q[i], curve->keys[key].q, sizeof q[i]);
            continue;
        }
        if (!ready)
            kfi_quat_curve_segment(curve, key, &segment);
        ready = true;
        kfi_quat_segment_value(&segment, times[i], q[i]);
    }
}

void kfi_quat_curve_value(const kf_quat_curve *curve, double time, double q[4])
{
    if (curve->count == 0) {
        memcpy(q, (double[4]){1.0, 0.0, 0.0, 0.0}, 4 * sizeof *q);
        return;
    }
    size_t low = find_key(curve, time);
    if (low + 1 == curve->count || time <= curve->keys[low].time) {
        memcpy(q, curve->keys[low].q, 4 * sizeof *q);
        return;
    }
    kfi_quat_segment segment;
    kfi_quat_curve_segment(curve, low, &segment);
    kfi_quat_segment_value(&segment, time, q);
}
