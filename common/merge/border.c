/* T, C and B for a key that keeps its slope on one side, though its neighbour on the other is another one now.
 *
 * Tangents are X near + Y far: what lies between the key and its neighbours on the side that stays and on the other, with
 *   X = p/2 (1-T)(1-C)(1+B)   Y = p/2 (1-T)(1+C)(1-B)
 * for the side before the key, and with the other sign of B for the side after it; p grows with |C| to 1. So X and Y are
 * found first, for all components at once, and then the least numbers that make them. */
#include "curve.h"
#include "internal.h"

#include <math.h>

static double share(const kfi_border *b, double c)
{
    double p = 2.0 * b->gap[0] / (b->gap[0] + b->gap[1]);
    return p + fabs(c) * (1.0 - p);
}

static bool holds(const kfi_border *b, const kf_tcb *tcb)
{
    for (unsigned i = 0; i < b->count; i++) {
        double in, out;
        if (b->side)
            kfi_tcb_tangents(*tcb, b->gap[1], b->gap[0], b->far[i], b->near[i], &in, &out);
        else
            kfi_tcb_tangents(*tcb, b->gap[0], b->gap[1], b->near[i], b->far[i], &in, &out);
        /* A tangent's miss is at most 4/27 of it on the way. */
        if (!(fabs((b->side ? out : in) - b->want[i]) * 4.0 / 27.0 <= b->limit[i]))
            return false;
    }
    return true;
}

/* The least numbers with which x and y come out. */
static bool numbers_of(const kfi_border *b, double x, double y, kf_tcb *tcb)
{
    enum { STEPS = 64 };
    double best = INFINITY;
    if (!(x >= 0.0) || !(y >= 0.0))
        return false;
    for (int i = -STEPS; i <= STEPS; i++) {
        double c = (double)i / STEPS, p = share(b, c);
        if ((i == STEPS && x > 0.0) || (i == -STEPS && y > 0.0))
            continue;
        double plus = x > 0.0 ? 2.0 * x / (p * (1.0 - c)) : 0.0, minus = y > 0.0 ? 2.0 * y / (p * (1.0 + c)) : 0.0;
        double t = 1.0 - 0.5 * (plus + minus), bias = plus + minus > 0.0 ? (plus - minus) / (plus + minus) : 0.0;
        double size = t * t + c * c + bias * bias;
        if (!(t >= -1.0) || size >= best)
            continue;
        best = size;
        tcb->tension = (float)t;
        tcb->continuity = (float)c;
        tcb->bias = (float)(b->side ? -bias : bias);
    }
    return best < INFINITY && holds(b, tcb);
}

bool kfi_border_numbers(const kfi_border *b, kf_tcb *tcb)
{
    double nn = 0.0, nf = 0.0, ff = 0.0, nw = 0.0, fw = 0.0;
    for (unsigned i = 0; i < b->count; i++) {
        nn += b->near[i] * b->near[i];
        nf += b->near[i] * b->far[i];
        ff += b->far[i] * b->far[i];
        nw += b->near[i] * b->want[i];
        fw += b->far[i] * b->want[i];
    }
    if (!(b->gap[0] > 0.0) || !(b->gap[1] > 0.0))
        return false;
    kfi_border exact = *b;
    for (unsigned i = 0; i < b->count; i++)
        exact.limit[i] *= 1e-3;
    if (holds(&exact, tcb))
        return true;
    /* As near as can be to what the key's own numbers make, then by one of the neighbours alone. */
    double bias = b->side ? -tcb->bias : tcb->bias, half = 0.5 * share(b, tcb->continuity) * (1.0 - tcb->tension);
    double x = half * (1.0 - tcb->continuity) * (1.0 + bias), y = half * (1.0 + tcb->continuity) * (1.0 - bias);
    double pull = 1e-9 * (nn + ff), det = (nn + pull) * (ff + pull) - nf * nf;
    double rx = nw + pull * x, ry = fw + pull * y;
    kf_tcb found = *tcb;
    if ((det > 0.0 && numbers_of(b, (rx * (ff + pull) - ry * nf) / det, (ry * (nn + pull) - rx * nf) / det, &found)) ||
        (nn > 0.0 && numbers_of(b, nw / nn, 0.0, &found)) || (ff > 0.0 && numbers_of(b, 0.0, fw / ff, &found)) ||
        numbers_of(b, 0.0, 0.0, &found)) {
        *tcb = found;
        return true;
    }
    return false;
}
