#include "curve_internal.h"

/* Kochanek and Bartels with uneven spacing as in 3ds Max and the games that came from it:
 *   p = 2d-/(d- + d+), n = 2d+/(d- + d+), drawn toward 1 by |continuity|;
 *   in  = 1/2 (1-T) p [(1-C)(1+B) rise- + (1+C)(1-B) rise+]
 *   out = 1/2 (1-T) n [(1+C)(1+B) rise- + (1-C)(1-B) rise+]                     per unit of their own segment
 */
void kfi_tcb_tangents(kf_tcb tcb, double gap_before, double gap_after, double rise_before, double rise_after,
                      double *in, double *out)
{
    double t = tcb.tension, c = tcb.continuity, b = tcb.bias;
    double p = 2.0 * gap_before / (gap_before + gap_after), n = 2.0 - p;
    p += fabs(c) * (1.0 - p);
    n += fabs(c) * (1.0 - n);
    *in = 0.5 * (1.0 - t) * p * ((1.0 - c) * (1.0 + b) * rise_before + (1.0 + c) * (1.0 - b) * rise_after);
    *out = 0.5 * (1.0 - t) * n * ((1.0 + c) * (1.0 + b) * rise_before + (1.0 - c) * (1.0 - b) * rise_after);
}

typedef struct around {
    bool before, after;             /* is there a neighbour at another time */
    double gap_before, gap_after;   /* in time */
    double rise_before, rise_after; /* in value */
} around;

static around look_around(const kf_curve *curve, size_t i)
{
    const kf_key *key = &curve->keys[i];
    around a = {0};
    if (i > 0) {
        a.gap_before = key->time - key[-1].time;
        a.rise_before = key->value - key[-1].value;
        a.before = a.gap_before > 0.0;
    }
    if (i + 1 < curve->count) {
        a.gap_after = key[1].time - key->time;
        a.rise_after = key[1].value - key->value;
        a.after = a.gap_after > 0.0;
    }
    return a;
}

static void kochanek_inner(const kf_curve *curve, size_t i, const around *a, double *in, double *out)
{
    kfi_tcb_tangents(kfi_tcb_of(curve->tcb, i), a->gap_before, a->gap_after, a->rise_before, a->rise_after,
                     in, out);
}

/* An end key follows from the inner one beside it: 1/2 (1-T) (3 rise - its tangent); of two keys alone: (1-T)
 * rise. */
static void kochanek_slopes(const kf_curve *curve, size_t i, double *in, double *out)
{
    around a = look_around(curve, i);
    double arrive, leave;
    if (a.before && a.after) {
        kochanek_inner(curve, i, &a, &arrive, &leave);
        *in = arrive / a.gap_before;
        *out = leave / a.gap_after;
        return;
    }
    *in = *out = 0.0;
    if (!a.before && !a.after)
        return;
    size_t beside = a.after ? i + 1 : i - 1;
    double rise = a.after ? a.rise_after : a.rise_before, gap = a.after ? a.gap_after : a.gap_before;
    double tangent = (1.0 - kfi_tcb_of(curve->tcb, i).tension) * rise;
    around b = look_around(curve, beside);
    if (b.before && b.after) {
        kochanek_inner(curve, beside, &b, &arrive, &leave);
        tangent = 0.5 * (1.0 - kfi_tcb_of(curve->tcb, i).tension) * (3.0 * rise - (a.after ? arrive : leave));
    }
    *in = *out = tangent / gap;
}

/* As MotionBuilder resolves FBX's TCB keys: slopes per second, at an end key the whole of its one side. */
static void fbx_tcb_slopes(const kf_curve *curve, size_t i, double *in, double *out)
{
    around a = look_around(curve, i);
    kf_tcb n = kfi_tcb_of(curve->tcb, i);
    double before = a.before ? a.rise_before / a.gap_before : 0.0;
    double after = a.after ? a.rise_after / a.gap_after : 0.0;
    double f = (a.before && a.after ? 0.5 : 1.0) * (1.0 - n.tension);
    double c = n.continuity, b = n.bias;
    *in = f * ((1.0 + b) * (1.0 - c) * before + (1.0 - b) * (1.0 + c) * after);
    *out = f * ((1.0 + b) * (1.0 + c) * before + (1.0 - b) * (1.0 - c) * after);
}

void kfi_tcb_slopes(const kf_curve *curve, size_t i, double *in, double *out)
{
    if (curve->tcb_rule == KF_TCB_FBX)
        fbx_tcb_slopes(curve, i, in, out);
    else
        kochanek_slopes(curve, i, in, out);
}

/* ---- FBX's auto tangents ---- */

enum { CLAMP = 0x1000, TIME_INDEPENDENT = 0x2000, CLAMP_PROGRESSIVE = 0x4000 };

/* Beyond 500 the auto bias also adds a slope of its own. */
static double far_bias(double bias, double toward)
{
    double excess = fabs(bias) / 100.0 - 5.0;
    if (excess <= 0.0)
        return 0.0;
    return copysign(40.0 * excess * excess, toward);
}

/* A slope that keeps both handles between the neighbours' values. */
static double progressive(double slope, const around *a, double length_before, double length_after)
{
    double sign = slope < 0.0 ? -1.0 : 1.0, size = fabs(slope);
    double most_before = length_before > 0.0 ? fmax(sign * a->rise_before / length_before, 0.0) : 0.0;
    double most_after = length_after > 0.0 ? fmax(sign * a->rise_after / length_after, 0.0) : 0.0;
    return sign * fmin(size, fmin(most_before, most_after));
}

static double auto_inner(const around *a, uint32_t attr, double bias, double length_before,
                         double length_after)
{
    if ((attr & CLAMP) && (a->rise_before == 0.0 || a->rise_after == 0.0))
        return 0.0;
    double whole = a->gap_before + a->gap_after;
    double slope = (a->rise_before + a->rise_after) / whole;
    if (!(attr & TIME_INDEPENDENT)) {
        double before = a->rise_before / a->gap_before, after = a->rise_after / a->gap_after;
        double share = a->gap_before / whole;
        slope = 0.5 * slope + 0.5 * (before * (1.0 - share) + after * share);
        double pull = fabs(bias) / 100.0;
        if (pull > 0.0001) {
            double target = bias > 0.0 ? after : before, way = target - slope;
            slope += way * pull + far_bias(bias, fabs(way) > 0.00001 ? way : bias);
        }
    }
    return attr & CLAMP_PROGRESSIVE ? progressive(slope, a, length_before, length_after) : slope;
}

static double auto_end(double rise, double gap, uint32_t attr, double bias)
{
    if ((attr & CLAMP_PROGRESSIVE) || ((attr & CLAMP) && rise == 0.0))
        return 0.0;
    return rise / gap + (attr & TIME_INDEPENDENT ? 0.0 : far_bias(bias, bias));
}

void kfi_auto_slopes(const kf_curve *curve, size_t i, double *in, double *out)
{
    const kf_key *key = &curve->keys[i];
    kf_handles own = kfi_handles_of(curve, i);
    around a = look_around(curve, i);
    double bias_in = -kfi_finite(kfi_handle_slope(own.in)), bias_out = kfi_finite(kfi_handle_slope(own.out));
    if (a.before && a.after) {
        double length_before = kfi_finite(-own.in.dt), length_after = kfi_finite(own.out.dt);
        if (length_before == 0.0)
            length_before = a.gap_before / 3.0;
        if (length_after == 0.0)
            length_after = a.gap_after / 3.0;
        *out = auto_inner(&a, key->attr, bias_out, length_before, length_after);
        /* Both sides carry the same bias unless the tangents were broken. */
        *in = fabs(bias_out - bias_in) <= 0.0001
                  ? *out
                  : auto_inner(&a, key->attr, bias_in, length_before, length_after);
    } else if (a.before) {
        *in = *out = auto_end(a.rise_before, a.gap_before, key->attr, bias_in);
    } else if (a.after) {
        *in = *out = auto_end(a.rise_after, a.gap_after, key->attr, bias_out);
    } else {
        *in = *out = 0.0;
    }
}
