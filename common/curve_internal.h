/* What the curve files share among themselves. */
#ifndef KFI_CURVE_INTERNAL_H
#define KFI_CURVE_INTERNAL_H

#include "curve.h"

#include <math.h>

/* Slopes per second of key i by the rule of its kind, from its neighbours' times and values. A neighbour at
 * the same time is a jump and counts as none. */
void kfi_tcb_slopes(const kf_curve *curve, size_t i, double *in, double *out);
void kfi_auto_slopes(const kf_curve *curve, size_t i, double *in, double *out);

/* The values at `count` times, all within the segment and short of its end. */
void kfi_segment_values(const kfi_segment *segment, const double *times, size_t count, double *values);

/* The parameter at which a Bezier with handles of these weights has come to the share x of its time, all
 * 0..1. */
double kfi_bezier_solve(double w0, double w1, double x);

static inline double kfi_finite(double number)
{
    return isfinite(number) ? number : 0.0;
}

/* The numbers of key i; what is no finite number counts as 0. */
static inline kf_tcb kfi_tcb_of(const kf_tcb *tcb, size_t i)
{
    if (!tcb)
        return (kf_tcb){0};
    kf_tcb n = tcb[i];
    return (kf_tcb){(float)kfi_finite(n.tension), (float)kfi_finite(n.continuity), (float)kfi_finite(n.bias),
                    (float)kfi_finite(n.ease_in), (float)kfi_finite(n.ease_out)};
}

/* Ease as it counts: not below 0, and both together at most the whole segment. */
static inline void kfi_share_ease(double *a, double *b)
{
    *a = fmax(*a, 0.0);
    *b = fmax(*b, 0.0);
    double sum = *a + *b;
    if (sum > 1.0) {
        *a /= sum;
        *b /= sum;
    }
}

static inline bool kfi_gap(double from, double to)
{
    return to > from;
}

#endif
