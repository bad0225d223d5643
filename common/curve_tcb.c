#include "curve_tcb.h"

#include <math.h>

/* What of the setting counts: products of the rises with each other and with the tangents wanted, those times their stress. */
typedef struct wanted {
    double before, after, stress[2]; /* the gaps */
    double rises[3];      /* before with itself, after with itself, one with the other */
    double in[2], out[2]; /* with the rise before and after */
    double size;          /* of what is wanted, squared */
} wanted;

/* A share of the rise before the key and one of the rise after it, 1/2 (1-T) (1+B) and 1/2 (1-T) (1-B): once continuity is
 * given, the tangents are linear in them. */
typedef struct shares {
    double before, after;
} shares;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* What the tangents have of each share's rise, as kfi_tcb_tangents() reckons them. */
typedef struct weights {
    double in_before, in_after, out_before, out_after;
} weights;

static weights weights_of(const wanted *s, double continuity)
{
    double p = 2.0 * s->before / (s->before + s->after), n = 2.0 - p;
    p = (p + fabs(continuity) * (1.0 - p)) * s->stress[0];
    n = (n + fabs(continuity) * (1.0 - n)) * s->stress[1];
    return (weights){p * (1.0 - continuity), p * (1.0 + continuity), n * (1.0 + continuity), n * (1.0 - continuity)};
}

/* A x^2 + 2 B x y + C y^2 - 2 D x - 2 E y, which is least where the tangents are best. */
typedef struct bowl {
    double a, b, c, d, e;
} bowl;

static double height(const bowl *m, shares x)
{
    return x.before * (m->a * x.before + 2.0 * (m->b * x.after - m->d)) + x.after * (m->c * x.after - 2.0 * m->e);
}

static double within(double value, double most)
{
    return fmax(0.0, fmin(most, value));
}

/* T and B within -1..1 are shares of 0 or more that together are no more than 2. */
static shares lowest(const bowl *m)
{
    double det = m->a * m->c - m->b * m->b;
    if (det > 0) {
        shares free = {(m->d * m->c - m->e * m->b) / det, (m->e * m->a - m->d * m->b) / det};
        if (free.before >= 0 && free.after >= 0 && free.before + free.after <= 2.0)
            return free;
    }
    double across = m->a - 2.0 * m->b + m->c, most = across > 0 ? (m->d - m->e + 2.0 * (m->c - m->b)) / across : 1.0;
    shares edges[3] = {{within(m->d / m->a, 2.0), 0.0}, {0.0, within(m->e / m->c, 2.0)}, {within(most, 2.0), 0.0}};
    edges[2].after = 2.0 - edges[2].before;
    shares best = edges[0];
    for (int i = 1; i < 3; i++)
        if (height(m, edges[i]) < height(m, best))
            best = edges[i];
    return best;
}

static bowl bowl_of(const wanted *s, double continuity)
{
    weights w = weights_of(s, continuity);
    return (bowl){.a = s->rises[0] * (w.in_before * w.in_before + w.out_before * w.out_before),
                  .b = s->rises[2] * (w.in_before * w.in_after + w.out_before * w.out_after),
                  .c = s->rises[1] * (w.in_after * w.in_after + w.out_after * w.out_after),
                  .d = w.in_before * s->in[0] + w.out_before * s->out[0],
                  .e = w.in_after * s->in[1] + w.out_after * s->out[1]};
}

static double miss(const wanted *s, double continuity, shares x)
{
    bowl m = bowl_of(s, continuity);
    return height(&m, x) + s->size;
}

/* The best shares for a continuity, and what they miss. */
static double try_continuity(const wanted *s, double continuity, shares *x)
{
    bowl m = bowl_of(s, continuity), near = m;
    /* Where many would do, those near T = B = 0. */
    double little = 1e-12 * (s->rises[0] + s->rises[1]) + 1e-300;
    near.a += little;
    near.c += little;
    near.d += 0.5 * little;
    near.e += 0.5 * little;
    *x = lowest(&near);
    return height(&m, *x) + s->size;
}

/* The best continuity between two, by the golden section; finely only where the tangents can be had exactly. */
static double narrow(const wanted *s, double low, double high, double best, double *continuity)
{
    static const double golden = 0.6180339887498949, fine = 1e-8, coarse = 1e-3;
    shares x;
    double c[2] = {high - golden * (high - low), low + golden * (high - low)};
    double found[2] = {try_continuity(s, c[0], &x), try_continuity(s, c[1], &x)};
    while (high - low > (best < 1e-3 * s->size ? fine : coarse)) {
        int less = found[1] < found[0];
        if (found[less] < best) {
            best = found[less];
            *continuity = c[less];
        }
        if (less) {
            low = c[0];
            c[0] = c[1];
            found[0] = found[1];
            c[1] = low + golden * (high - low);
            found[1] = try_continuity(s, c[1], &x);
        } else {
            high = c[1];
            c[1] = c[0];
            found[1] = found[0];
            c[0] = high - golden * (high - low);
            found[0] = try_continuity(s, c[0], &x);
        }
    }
    return best;
}

kf_tcb kfi_tcb_nearest(const kfi_tcb_setting *setting)
{
    enum { STEPS = 12 }; /* from continuity 0, where the rule has a bend, to 1 and to -1 */
    static const shares half = {0.5, 0.5};
    const double *const rise[2] = {setting->rise_before, setting->rise_after}, *stress = setting->stress;
    wanted w = {.before = setting->gap_before, .after = setting->gap_after, .stress = {stress[0], stress[1]}}, *s = &w;
    for (int side = 0; side < 2; side++) {
        w.rises[side] = dot(rise[side], rise[side]);
        w.in[side] = dot(rise[side], setting->in) * stress[0];
        w.out[side] = dot(rise[side], setting->out) * stress[1];
    }
    w.rises[2] = dot(rise[0], rise[1]);
    w.size = dot(setting->in, setting->in) * stress[0] * stress[0] +
             dot(setting->out, setting->out) * stress[1] * stress[1] + 1e-30;
    double exact = 1e-12 * w.size, best = INFINITY, continuity = 0.0;
    shares x;
    /* A corner and a smooth key come first, being what most are. */
    for (int corner = 1; corner >= 0; corner--)
        if (miss(s, -corner, half) <= exact)
            return (kf_tcb){.continuity = (float)-corner};
    for (int i = 0; i <= 2 * STEPS && best > exact; i++) {
        double c = (double)((i + 1) / 2) / STEPS * (i % 2 ? 1.0 : -1.0), now = try_continuity(s, c, &x);
        if (now < 0.99 * best) {
            best = now;
            continuity = c;
        }
    }
    if (best > exact) {
        double at = continuity, step = 1.0 / STEPS;
        narrow(s, fmax(-1.0, at - step), fmin(1.0, at + step), best, &continuity);
    }
    try_continuity(s, continuity, &x);
    double sum = x.before + x.after;
    return (kf_tcb){.tension = (float)(1.0 - sum),
                    .continuity = (float)continuity,
                    .bias = sum > 0 ? (float)((x.before - x.after) / sum) : 0.0f};
}
