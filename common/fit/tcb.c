/* Tension, continuity and bias from slopes.
 *
 * With X = (1-T)(1+B) and Y = (1-T)(1-B) the tangents are linear in X and Y for a given continuity:
 *   in = p/2 [(1-C) rise- X + (1+C) rise+ Y],  out = n/2 [(1+C) rise- X + (1-C) rise+ Y]
 * so each continuity gives one pair of tension and bias, and the least of them all is taken. */
#include "internal.h"

#include <string.h>

typedef struct wanted {
    double gap[2], rise[2];
    double in, out; /* tangents per unit of their segment */
} wanted;

static double size_of(double t, double c, double b)
{
    return t * t + c * c + b * b;
}

static bool inside(double t, double b)
{
    return fabs(t) <= 1.0 && fabs(b) <= 1.0;
}

/* Tension and bias for a continuity other than 0; false if there are none. */
static bool with_continuity(const wanted *w, double c, double *t, double *b)
{
    double p = 2.0 * w->gap[0] / (w->gap[0] + w->gap[1]), n = 2.0 - p;
    p += fabs(c) * (1.0 - p);
    n += fabs(c) * (1.0 - n);
    double a00 = (1.0 - c) * w->rise[0], a01 = (1.0 + c) * w->rise[1], r0 = 2.0 * w->in / p;
    double a10 = (1.0 + c) * w->rise[0], a11 = (1.0 - c) * w->rise[1], r1 = 2.0 * w->out / n;
    double det = a00 * a11 - a01 * a10;
    if (det == 0.0)
        return false;
    double x = (r0 * a11 - r1 * a01) / det, y = (r1 * a00 - r0 * a10) / det;
    *t = 1.0 - 0.5 * (x + y);
    *b = x + y != 0.0 ? (x - y) / (x + y) : 0.0;
    return isfinite(*t) && isfinite(*b);
}

/* Without continuity both slopes are one: tension alone if it will do, else the least bias that brings it in
 * reach. */
static bool smooth(const wanted *w, double *t, double *b)
{
    double whole = (w->gap[0] + w->gap[1]);
    double in = w->in * whole / w->gap[0],
           out = w->out * whole / w->gap[1]; /* both are (1-T)[(1+B)r- + (1-B)r+] */
    if (fabs(in - out) > 1e-9 * (fabs(in) + fabs(out) + fabs(w->rise[0]) + fabs(w->rise[1])))
        return false;
    double both = 0.5 * (in + out), best = INFINITY;
    for (int i = -64; i <= 64; i++) {
        double bias = i / 64.0, reach = (1.0 + bias) * w->rise[0] + (1.0 - bias) * w->rise[1];
        double tension = both == 0.0 && reach == 0.0 ? 0.0 : 1.0 - both / reach;
        if (isfinite(tension) && inside(tension, bias) && size_of(tension, 0.0, bias) < best) {
            best = size_of(tension, 0.0, bias);
            *t = tension;
            *b = bias;
        }
    }
    return best < INFINITY;
}

static double miss_of(const wanted *w, const double n[3])
{
    double in, out;
    kf_tcb tcb = {(float)n[0], (float)n[1], (float)n[2], 0.0f, 0.0f};
    kfi_tcb_tangents(tcb, w->gap[0], w->gap[1], w->rise[0], w->rise[1], &in, &out);
    return (in - w->in) * (in - w->in) + (out - w->out) * (out - w->out);
}

/* As near as can be: a coarse look over the cube, then ever smaller steps from the best. */
static void nearest(const wanted *w, double n[3])
{
    double best = INFINITY;
    for (int i = 0; i < 5 * 5 * 5; i++) {
        double at[3] = {(i % 5 - 2) * 0.5, (i / 5 % 5 - 2) * 0.5, (i / 25 - 2) * 0.5};
        double miss = miss_of(w, at) * (1.0 + 1e-6 * size_of(at[0], at[1], at[2]));
        if (miss < best) {
            best = miss;
            memcpy(n, at, sizeof at);
        }
    }
    for (double step = 0.25; step > 1e-5;) {
        bool better = false;
        for (int k = 0; k < 6; k++) {
            double at[3] = {n[0], n[1], n[2]};
            at[k / 2] = fmin(fmax(at[k / 2] + (k % 2 ? step : -step), -1.0), 1.0);
            double miss = miss_of(w, at);
            if (miss < best) {
                best = miss;
                memcpy(n, at, sizeof at);
                better = true;
            }
        }
        if (!better)
            step *= 0.5;
    }
}

/* What a continuity costs: the size of the numbers, and first of all how far they are out of range. */
static double cost_of(const wanted *w, double c)
{
    double t, b;
    if (!with_continuity(w, c, &t, &b))
        return INFINITY;
    double out = fmax(fabs(t) - 1.0, 0.0) + fmax(fabs(b) - 1.0, 0.0);
    return out > 0.0 ? 4.0 + out : size_of(t, c, b);
}

static void solve_inner(const wanted *w, double n[3])
{
    double t, b, best = INFINITY, at = 0.0;
    n[0] = n[1] = n[2] = 0.0;
    if (smooth(w, &t, &b)) {
        n[0] = t;
        n[2] = b;
        return;
    }
    /* Continuities from small to large on both sides of 0, then closer around the best. */
    for (int i = 0; i < 2 * 40; i++) {
        double c = (i % 2 ? -1.0 : 1.0) * pow(10.0, (i / 2 - 39) / 12.0), cost = cost_of(w, c);
        if (cost < best) {
            best = cost;
            at = c;
        }
    }
    for (double step = 0.1 * fabs(at); step > 1e-7 * fabs(at); step *= 0.5)
        for (int side = -1; side <= 1; side += 2) {
            double c = fmin(fmax(at + side * step, -1.0), 1.0), cost = cost_of(w, c);
            if (cost < best) {
                best = cost;
                at = c;
            }
        }
    if (best > 4.0 || !with_continuity(w, at, &t, &b)) {
        nearest(w, n);
        return;
    }
    n[0] = t;
    n[1] = at;
    n[2] = b;
}

void kfi_tcb_from_slopes(uint8_t rule, const double gap[2], const double rise[2], const double slope[2],
                         kf_tcb *tcb)
{
    wanted w = {{gap[0], gap[1]}, {rise[0], rise[1]}, slope[0] * gap[0], slope[1] * gap[1]};
    double n[3] = {0.0, 0.0, 0.0};
    if (!(gap[0] > 0.0) || !(gap[1] > 0.0)) { /* an end: `rise` is what a tension of 0 makes the tangent */
        int side = gap[0] > 0.0 ? 0 : 1;
        double whole = rise[side], want = slope[side] * gap[side];
        n[0] = whole != 0.0 ? fmin(fmax(1.0 - want / whole, -1.0), 1.0) : 0.0;
    } else {
        if (rule == KF_TCB_FBX) /* the same rule for slopes, as if all gaps were one */
            w = (wanted){{1.0, 1.0}, {rise[0] / gap[0], rise[1] / gap[1]}, slope[0], slope[1]};
        solve_inner(&w, n);
    }
    tcb->tension = (float)n[0];
    tcb->continuity = (float)n[1];
    tcb->bias = (float)n[2];
}
