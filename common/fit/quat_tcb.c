/* A TCB key between one of the original's segments and an edited stretch.
 *
 * The original's segment stays what it was if its squad point at the key does, which is
 *   arriving   q exp(1/2 [(1 - Ksm) L- - Ksp L+])     leaving   q exp(1/2 [Kdm L- + (Kdp - 1) L+])
 * with L the logarithms of the ways to the neighbours. A new neighbour on the open side changes one L; the
 * two K that make up for it follow by least squares, and for each continuity they give a tension and a bias.
 * How far away the neighbour may be is tried out. */
#include "quat_internal.h"

#include <string.h>

enum { CONTINUITIES = 41, FARTHEST = 48 };

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* x and y with x a + y b nearest to c; small ones where a and b are in line. */
static void combine(const double a[3], const double b[3], const double c[3], double *x, double *y)
{
    double aa = dot(a, a), bb = dot(b, b), ab = dot(a, b), ridge = 1e-6 * (aa + bb) + 1e-300;
    aa += ridge;
    bb += ridge;
    double det = aa * bb - ab * ab;
    *x = (dot(a, c) * bb - dot(b, c) * ab) / det;
    *y = (dot(b, c) * aa - dot(a, c) * ab) / det;
}

/* The squad point of a segment's end, as what stands in the brackets above. */
static void bracket(const double q[4], const double point[4], double out[3])
{
    kfi_quat_log(q, point, out);
    for (int k = 0; k < 3; k++)
        out[k] *= 2.0;
}

/* Three items: the neighbours of the key at hand on both sides, as they would be. */
typedef struct trial {
    kf_quat_key keys[4];
    kf_tcb tcb[4];
    kf_quat_curve curve;
} trial;

/* The worst miss of the segment between items of the trial that lie at samples a and b. */
static double miss_of(const kfi_quat_fitting *f, const trial *t, size_t segment, size_t a, size_t b)
{
    kfi_quat_segment s;
    kfi_quat_curve_segment(&t->curve, segment, &s);
    double worst = 0.0, is[4];
    for (size_t k = a + 1; k < b; k++) {
        kfi_quat_segment_value(&s, f->t[k], is);
        worst = fmax(worst, kfi_quat_angle(is, f->q[k]));
    }
    return worst;
}

/* Looks for numbers with the new neighbour at sample `there`; returns the worst miss on both sides. */
static double numbers_for(const kfi_quat_fitting *f, size_t i, int side, size_t there, kf_tcb *best)
{
    const kfi_quat_item *it = &f->items[i];
    const kfi_quat_item *kept = side ? it - 1 : it + 1;
    kf_quat_key fresh = {.time = f->t[there], .interp = KF_TCB};
    memcpy(fresh.q, f->q[there], sizeof fresh.q);
    trial t = {0};
    t.keys[side ? 0 : 2] = kept->key;
    t.keys[1] = it->key;
    t.keys[1].interp = KF_TCB;
    t.keys[side ? 2 : 0] = fresh;
    t.tcb[side ? 0 : 2] = kept->tcb;
    t.tcb[side ? 2 : 0].continuity = -1.0f;
    t.curve = (kf_quat_curve){.keys = t.keys, .count = 3, .tcb = t.tcb};

    kfi_quat_segment was;
    double came[3], goes[3], point[3], target[3], k0, k1, least = INFINITY;
    kfi_quat_curve_segment(f->original, side ? kept->origin : it->origin, &was);
    kfi_quat_log(t.keys[0].q, t.keys[1].q, came);
    kfi_quat_log(t.keys[1].q, t.keys[2].q, goes);
    bracket(it->key.q, side ? was.b1 : was.a0, point);
    for (int k = 0; k < 3; k++)
        target[k] = side ? came[k] - point[k] : point[k] + goes[k];
    combine(came, goes, target, &k0, &k1); /* Ksm and Ksp, or Kdm and Kdp */

    double before = t.keys[1].time - t.keys[0].time, after = t.keys[2].time - t.keys[1].time;
    double share = 2.0 * (side ? before : after) / (before + after);
    for (int n = 0; n < CONTINUITIES; n++) {
        double c = n / (0.5 * (CONTINUITIES - 1)) - 1.0, p = share + fabs(c) * (1.0 - share);
        double left = side ? 1.0 - c : 1.0 + c, right = side ? 1.0 + c : 1.0 - c;
        double x = left > 0.0 ? 2.0 * k0 / (left * p) : 0.0, y = right > 0.0 ? 2.0 * k1 / (right * p) : 0.0;
        double tension = 1.0 - 0.5 * (x + y), bias = x + y != 0.0 ? (x - y) / (x + y) : 0.0;
        if (!(fabs(tension) <= 1.0 && fabs(bias) <= 1.0))
            continue;
        t.tcb[1] = it->tcb;
        t.tcb[1].tension = (float)tension;
        t.tcb[1].continuity = (float)c;
        t.tcb[1].bias = (float)bias;
        if (side)
            t.tcb[1].ease_out = 0.0f;
        else
            t.tcb[1].ease_in = 0.0f;
        /* The kept neighbour's own squad point needs the key beyond it: measure the key's alone, by the
         * original. */
        kfi_quat_segment now;
        kfi_quat_curve_segment(&t.curve, side ? 0 : 1, &now);
        double moved = kfi_quat_angle(side ? now.b1 : now.a0, side ? was.b1 : was.a0);
        double open = side ? miss_of(f, &t, 1, it->sample, there) : miss_of(f, &t, 0, there, it->sample);
        double worst = fmax(moved, open); /* the middle of a squad moves by half of what its point does */
        if (worst < least) {
            least = worst;
            *best = t.tcb[1];
        }
    }
    return least;
}

bool kfi_quat_anchor(const kfi_quat_fitting *f, size_t i, int side, size_t *sample, kf_tcb *tcb)
{
    size_t here = f->items[i].sample;
    size_t room = side ? f->items[i + 1].sample - here : here - f->items[i - 1].sample;
    bool found = false;
    for (size_t m = 1; m < room && m <= FARTHEST; m += 1 + m / 4) {
        size_t there = side ? here + m : here - m;
        kf_tcb numbers;
        if (numbers_for(f, i, side, there, &numbers) <= f->tolerance) {
            *sample = there;
            *tcb = numbers;
            found = true;
        }
    }
    return found;
}
