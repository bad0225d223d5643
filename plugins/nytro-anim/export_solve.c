/* Tension, continuity and bias for keys that have none: the numbers whose tangents come nearest to the slopes
 * wanted. One set serves x, y and z, so six slopes have three numbers; what they miss, more keys make up for.
 */
#include "nytro.h"

#include <math.h>

/* What a key's neighbours are and what is wanted of its tangents, per unit of their own segment. */
typedef struct setting {
    double gap_before, gap_after;
    double rise_before[3], rise_after[3];
    double in[3], out[3];
    double size; /* of what is wanted, squared */
} setting;

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

static weights weights_of(const setting *s, double continuity)
{
    double p = 2.0 * s->gap_before / (s->gap_before + s->gap_after), n = 2.0 - p;
    p += fabs(continuity) * (1.0 - p);
    n += fabs(continuity) * (1.0 - n);
    return (weights){p * (1.0 - continuity), p * (1.0 + continuity), n * (1.0 + continuity), n * (1.0 - continuity)};
}

static double miss(const setting *s, double continuity, shares x)
{
    weights w = weights_of(s, continuity);
    double sum = 0.0;
    for (unsigned c = 0; c < 3; c++) {
        double before = x.before * s->rise_before[c], after = x.after * s->rise_after[c];
        double in = w.in_before * before + w.in_after * after - s->in[c];
        double out = w.out_before * before + w.out_after * after - s->out[c];
        sum += in * in + out * out;
    }
    return sum;
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

/* The best shares for a continuity, and what they miss. */
static double try_continuity(const setting *s, double continuity, shares *x)
{
    weights w = weights_of(s, continuity);
    double before = dot(s->rise_before, s->rise_before), after = dot(s->rise_after, s->rise_after);
    double across = dot(s->rise_before, s->rise_after);
    bowl m = {.a = before * (w.in_before * w.in_before + w.out_before * w.out_before),
              .b = across * (w.in_before * w.in_after + w.out_before * w.out_after),
              .c = after * (w.in_after * w.in_after + w.out_after * w.out_after),
              .d = w.in_before * dot(s->in, s->rise_before) + w.out_before * dot(s->out, s->rise_before),
              .e = w.in_after * dot(s->in, s->rise_after) + w.out_after * dot(s->out, s->rise_after)};
    /* Where many would do, those near T = B = 0. */
    double little = 1e-12 * (before + after) + 1e-300;
    m.a += little;
    m.c += little;
    m.d += 0.5 * little;
    m.e += 0.5 * little;
    *x = lowest(&m);
    return miss(s, continuity, *x);
}

/* The best continuity between two, by the golden section; finely only where the tangents can be had exactly. */
static double narrow(const setting *s, double low, double high, double best, double *continuity)
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

static kf_tcb solve_inner(setting *s)
{
    enum { STEPS = 12 }; /* from continuity 0, where the rule has a bend, to 1 and to -1 */
    static const shares half = {0.5, 0.5};
    s->size = dot(s->in, s->in) + dot(s->out, s->out) + 1e-30;
    double exact = 1e-12 * s->size, best = INFINITY, continuity = 0.0;
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

/* ---------------------------------------------------------------- on a channel */

/* The slope of the motion just before (side -1) or after (1) a time, over a stretch that is short beside the
 * gap. */
static double slope_at(const kf_curve *curve, double rest, double time, double gap, double side)
{
    double h = side * gap / 256.0, v = kfi_curve_value(curve, time, rest);
    return (-3.0 * v + 4.0 * kfi_curve_value(curve, time + h, rest) -
            kfi_curve_value(curve, time + 2.0 * h, rest)) /
           (2.0 * h);
}

static void wanted_slopes(const nytro_channel *channel, size_t i, unsigned c, double before, double after,
                          double *in, double *out)
{
    const kf_track *track = channel->track;
    const nytro_key *key = &channel->keys[i];
    *in = *out = 0.0;
    if (c >= track->curves)
        return;
    if (key->index >= 0) { /* ease bends time, not the slopes */
        kfi_curve_slopes(&track->curve[c], (size_t)key->index, in, out);
        return;
    }
    if (before > 0)
        *in = slope_at(&track->curve[c], track->rest[c], key->time, before, -1.0);
    if (after > 0)
        *out = slope_at(&track->curve[c], track->rest[c], key->time, after, 1.0);
}

static void look_around(const nytro_channel *channel, size_t i, setting *s)
{
    const nytro_key *key = &channel->keys[i];
    memset(s, 0, sizeof *s);
    if (i > 0)
        s->gap_before = key->time - key[-1].time;
    if (i + 1 < channel->count)
        s->gap_after = key[1].time - key->time;
    for (unsigned c = 0; c < 3; c++) {
        double in, out;
        wanted_slopes(channel, i, c, s->gap_before, s->gap_after, &in, &out);
        s->rise_before[c] = i > 0 ? key->value[c] - key[-1].value[c] : 0.0;
        s->rise_after[c] = i + 1 < channel->count ? key[1].value[c] - key->value[c] : 0.0;
        s->in[c] = in * s->gap_before;
        s->out[c] = out * s->gap_after;
    }
}

/* An end key's tangent is 1/2 (1 - T) (3 rise - the neighbour's tangent toward it), of two keys alone (1 - T)
 * rise. */
static void solve_end(nytro_channel *channel, size_t i)
{
    setting s, beside;
    bool first = i == 0;
    size_t other = first ? 1 : i - 1;
    double along = 0.0, length = 0.0;
    look_around(channel, i, &s);
    look_around(channel, other, &beside);
    for (unsigned c = 0; c < 3; c++) {
        double rise = first ? s.rise_after[c] : s.rise_before[c], wanted = first ? s.out[c] : s.in[c];
        double whole = rise, in, out;
        if (beside.gap_before > 0 && beside.gap_after > 0) {
            kfi_tcb_tangents(kfi_nytro_numbers(channel, other), beside.gap_before, beside.gap_after,
                             beside.rise_before[c], beside.rise_after[c], &in, &out);
            whole = 0.5 * (3.0 * rise - (first ? in : out));
        }
        along += wanted * whole;
        length += whole * whole;
    }
    double tension = length > 0 ? 1.0 - along / length : 0.0;
    channel->keys[i].tcb.tension = (float)fmax(-1.0, fmin(1.0, tension));
    channel->keys[i].tcb.continuity = channel->keys[i].tcb.bias = 0.0f;
}

void kfi_nytro_solve_key(nytro_channel *channel, size_t i)
{
    nytro_key *keys = channel->keys;
    uint8_t out = keys[i + 1 == channel->count ? i - 1 : i].interp, in = keys[i > 0 ? i - 1 : i].interp;
    keys[i].solved = in != KF_TCB || out != KF_TCB || keys[i].mixed;
    setting s;
    if (!keys[i].solved || i == 0 || i + 1 == channel->count)
        return;
    look_around(channel, i, &s);
    kf_tcb was = keys[i].tcb;
    keys[i].tcb = s.gap_before > 0 && s.gap_after > 0 ? solve_inner(&s) : (kf_tcb){0};
    /* Ease stays where its segment is still TCB. */
    keys[i].tcb.ease_in = in == KF_TCB ? was.ease_in : 0.0f;
    keys[i].tcb.ease_out = out == KF_TCB ? was.ease_out : 0.0f;
}

void kfi_nytro_solve(nytro_channel *channel)
{
    nytro_key *keys = channel->keys;
    for (size_t i = 0; i < channel->count; i++)
        if (!keys[i].settled)
            kfi_nytro_solve_key(channel, i);
    if (keys[0].solved)
        solve_end(channel, 0);
    if (keys[channel->count - 1].solved)
        solve_end(channel, channel->count - 1);
}
