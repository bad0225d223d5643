#include "curve_internal.h"

double kfi_ease(double u, double a, double b)
{
    kfi_share_ease(&a, &b);
    if (a + b == 0.0)
        return u;
    double k = 1.0 / (2.0 - a - b);
    if (u < a)
        return k * u * u / a;
    if (u < 1.0 - b)
        return k * (2.0 * u - a);
    return b > 0.0 ? 1.0 - k * (1.0 - u) * (1.0 - u) / b : u;
}

/* ---- one segment ---- */

static kf_handle sane(kf_handle handle)
{
    return isfinite(handle.dt) && isfinite(handle.dv) ? handle : (kf_handle){0};
}

/* A handle with that slope and the length that another one has, a third of the segment if that has none. */
static kf_handle slanted(double slope, double dt, double duration)
{
    return dt * duration > 0.0 && isfinite(dt) ? (kf_handle){dt, slope * dt}
                                               : kfi_slope_handle(slope, duration);
}

static kf_handle leaving(const kf_curve *curve, size_t i, double duration)
{
    double in, out;
    switch (curve->keys[i].interp) {
    case KF_TCB:
        kfi_tcb_slopes(curve, i, &in, &out);
        return kfi_slope_handle(out, duration);
    case KF_AUTO:
        kfi_auto_slopes(curve, i, &in, &out);
        return slanted(out, kfi_handles_of(curve, i).out.dt, duration);
    case KF_HERMITE:
        return kfi_slope_handle(kfi_handle_slope(sane(kfi_handles_of(curve, i).out)), duration);
    default:
        return sane(kfi_handles_of(curve, i).out);
    }
}

/* The handle with which a segment of kind `interp` arrives at key i. */
static kf_handle arriving(const kf_curve *curve, size_t i, uint8_t interp, double duration)
{
    const kf_key *key = &curve->keys[i];
    kf_handle own = kfi_handles_of(curve, i).in;
    bool fbx = curve->tcb_rule == KF_TCB_FBX, weighted = interp == KF_BEZIER || interp == KF_AUTO;
    double in, out;
    if (fbx ? key->interp == KF_TCB : interp == KF_TCB)
        kfi_tcb_slopes(curve, i, &in, &out);
    else if (key->interp == KF_AUTO)
        kfi_auto_slopes(curve, i, &in, &out);
    else if (interp == KF_TCB)
        in = 0.0;
    else if (interp == KF_BEZIER)
        return sane(own);
    else
        in = kfi_handle_slope(sane(own));
    return weighted ? slanted(in, own.dt, -duration) : kfi_slope_handle(in, -duration);
}

/* Keeps a handle within its segment, so that time does not run backwards. */
static kf_handle clamped(kf_handle handle, double duration)
{
    double share = handle.dt / duration;
    if (share > 1.0)
        return (kf_handle){duration, handle.dv / share};
    if (share < 0.0)
        return (kf_handle){0.0, handle.dv};
    return handle;
}

static bool is_third(double part, double whole)
{
    return fabs(part * 3.0 - whole) <= 1e-12 * whole;
}

void kfi_curve_segment(const kf_curve *curve, size_t i, kfi_segment *segment)
{
    const kf_key *a = &curve->keys[i], *b = a + 1;
    double duration = b->time - a->time;
    *segment = (kfi_segment){.t0 = a->time, .t1 = b->time, .v0 = a->value, .v1 = b->value};
    if (!(duration > 0.0)) {
        segment->shape = KFI_HOLD_NEXT;
        return;
    }
    switch (a->interp) {
    case KF_STEP:
        segment->shape = KFI_HOLD;
        return;
    case KF_STEP_NEXT:
        segment->shape = KFI_HOLD_NEXT;
        return;
    case KF_BEZIER:
    case KF_HERMITE:
    case KF_TCB:
    case KF_AUTO:
        break;
    default:
        segment->shape = KFI_LINE;
        segment->h0 = kfi_slope_handle((b->value - a->value) / duration, duration);
        segment->h1 = kfi_slope_handle((b->value - a->value) / duration, -duration);
        return;
    }
    segment->shape = KFI_CUBIC;
    segment->h0 = leaving(curve, i, duration);
    segment->h1 = arriving(curve, i + 1, a->interp, duration);
    if (a->interp == KF_BEZIER || a->interp == KF_AUTO) {
        segment->h0 = clamped(segment->h0, duration);
        segment->h1 = clamped(segment->h1, -duration);
        if (!is_third(segment->h0.dt, duration) || !is_third(-segment->h1.dt, duration))
            segment->shape = KFI_BEZIER;
    } else if (a->interp == KF_TCB && curve->tcb && curve->tcb_rule == KF_TCB_KOCHANEK) {
        segment->ease0 = fmax(kfi_tcb_of(curve->tcb, i).ease_out, 0.0);
        segment->ease1 = fmax(kfi_tcb_of(curve->tcb, i + 1).ease_in, 0.0);
    }
}

/* ---- values ---- */

/* A segment ready to be evaluated: polynomials of u in 0..1. */
typedef struct plan {
    double t0, scale;      /* u = (time - t0) * scale */
    double c0, c1, c2, c3; /* value */
    double x1, x2, x3;     /* time of a Bezier, as a share of the segment; x0 is 0 */
} plan;

static plan make_plan(const kfi_segment *s)
{
    plan p = {.t0 = s->t0, .scale = 1.0 / (s->t1 - s->t0), .c0 = s->v0};
    double rise = s->v1 - s->v0, leave = 3.0 * s->h0.dv, arrive = -3.0 * s->h1.dv;
    if (s->shape == KFI_LINE) {
        p.c1 = rise;
        return p;
    }
    p.c1 = leave;
    p.c2 = 3.0 * rise - 2.0 * leave - arrive;
    p.c3 = leave + arrive - 2.0 * rise;
    if (s->shape == KFI_BEZIER) {
        double w0 = 3.0 * s->h0.dt * p.scale, w1 = -3.0 * s->h1.dt * p.scale;
        p.x1 = w0;
        p.x2 = 3.0 - 2.0 * w0 - w1;
        p.x3 = w0 + w1 - 2.0;
    }
    return p;
}

static inline double cubic(const plan *p, double u)
{
    return p->c0 + u * (p->c1 + u * (p->c2 + u * p->c3));
}

/* The u at which a Bezier's time is x, both 0..1: Newton's steps inside a shrinking bracket. Time is
 * monotone, but flat where a handle has no length or both are full, so the bracket is what ends the search
 * there. */
static double solve_time(const plan *p, double x)
{
    double low = 0.0, high = 1.0, u = x;
    for (int i = 0; i < 80; i++) {
        double miss = u * (p->x1 + u * (p->x2 + u * p->x3)) - x;
        if (fabs(miss) < 1e-15)
            break;
        if (miss > 0.0)
            high = u;
        else
            low = u;
        double rate = p->x1 + u * (2.0 * p->x2 + u * (3.0 * p->x3));
        double next = u - miss / rate;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (next == u || high - low < 1e-16)
            break;
        u = next;
    }
    return u;
}

double kfi_segment_value(const kfi_segment *segment, double time)
{
    if (segment->shape == KFI_HOLD)
        return time < segment->t1 ? segment->v0 : segment->v1;
    if (time <= segment->t0)
        return segment->v0;
    if (time >= segment->t1 || segment->shape == KFI_HOLD_NEXT)
        return segment->v1;
    plan p = make_plan(segment);
    double u = (time - p.t0) * p.scale;
    if (segment->shape == KFI_BEZIER)
        u = solve_time(&p, u);
    else if (segment->shape == KFI_CUBIC)
        u = kfi_ease(u, segment->ease0, segment->ease1);
    return cubic(&p, u);
}

/* The last key at or before the time; there is one. */
static size_t find_key(const kf_curve *curve, double time)
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

static double value_inside(const kf_curve *curve, double time)
{
    size_t i = find_key(curve, time);
    if (i + 1 == curve->count)
        return curve->keys[i].value;
    kfi_segment segment;
    kfi_curve_segment(curve, i, &segment);
    return kfi_segment_value(&segment, time);
}

/* Before the first key or after the last one. */
static double value_outside(const kf_curve *curve, double time)
{
    const kf_key *first = &curve->keys[0], *last = &curve->keys[curve->count - 1];
    bool before = time < first->time;
    const kf_key *end = before ? first : last;
    uint8_t mode = before ? curve->pre : curve->post;
    uint32_t limit = before ? curve->pre_count : curve->post_count;
    double duration = last->time - first->time, beyond = before ? first->time - time : time - last->time;
    if (mode == KF_CONSTANT || !(duration > 0.0))
        return end->value;
    if (mode == KF_SLOPE) {
        double in, out;
        kfi_curve_slopes(curve, before ? 0 : curve->count - 1, &in, &out);
        return end->value + (before ? out : in) * (time - end->time);
    }

    double turns = beyond / duration, whole = floor(turns);
    if (turns - whole > 1.0 - 1e-9) /* a whole number but for rounding */
        whole += 1.0;
    double rest = fmax(beyond - whole * duration, 0.0);
    if (limit > 0 && whole >= limit) {
        whole = limit - 1.0;
        rest = duration;
    }
    if (mode == KF_MIRROR && fmod(whole, 2.0) == 0.0)
        rest = duration - rest;
    if (before)
        rest = duration - rest;
    double inside = first->time + rest;
    double value = inside >= last->time ? last->value : value_inside(curve, inside);
    if (mode == KF_REPEAT_RELATIVE)
        value += (before ? -1.0 : 1.0) * (whole + 1.0) * (last->value - first->value);
    return value;
}

double kfi_curve_value(const kf_curve *curve, double time, double rest)
{
    if (curve->count == 0)
        return rest;
    if (time < curve->keys[0].time || time > curve->keys[curve->count - 1].time)
        return value_outside(curve, time);
    return value_inside(curve, time);
}

double kfi_bezier_solve(double w0, double w1, double x)
{
    plan p = {.x1 = 3.0 * w0, .x2 = 3.0 - 6.0 * w0 - 3.0 * w1, .x3 = 3.0 * w0 + 3.0 * w1 - 2.0};
    return solve_time(&p, x);
}

void kfi_segment_values(const kfi_segment *segment, const double *times, size_t count, double *values)
{
    plan p = make_plan(segment);
    switch (segment->shape) {
    case KFI_HOLD:
        for (size_t i = 0; i < count; i++)
            values[i] = segment->v0;
        break;
    case KFI_HOLD_NEXT:
        for (size_t i = 0; i < count; i++)
            values[i] = times[i] > segment->t0 ? segment->v1 : segment->v0;
        break;
    case KFI_BEZIER:
        for (size_t i = 0; i < count; i++)
            values[i] = cubic(&p, solve_time(&p, (times[i] - p.t0) * p.scale));
        break;
    default:
        if (segment->ease0 + segment->ease1 > 0.0) {
            for (size_t i = 0; i < count; i++)
                values[i] = cubic(&p, kfi_ease((times[i] - p.t0) * p.scale, segment->ease0, segment->ease1));
        } else {
            for (size_t i = 0; i < count; i++)
                values[i] = cubic(&p, (times[i] - p.t0) * p.scale);
        }
    }
}

/* The segments that most samples fall into, lines and Hermite cubics with handles of their own, need no more
 * than this; false for others. The same numbers as by kfi_curve_segment. */
static inline bool plain_plan(const kf_curve *curve, size_t i, plan *p)
{
    const kf_key *a = &curve->keys[i], *b = a + 1;
    double duration = b->time - a->time, rise = b->value - a->value;
    if (a->interp == KF_HERMITE && curve->handles) {
        kf_handle out = curve->handles[i].out, in = curve->handles[i + 1].in;
        kfi_look_ahead(&curve->handles[i]);
        if (b->interp == KF_AUTO || (b->interp == KF_TCB && curve->tcb_rule == KF_TCB_FBX))
            return false;
        double leave = out.dv / out.dt * duration, arrive = in.dv / in.dt * duration;
        if (!isfinite(leave + arrive))
            return false;
        p->c1 = leave;
        p->c2 = 3.0 * rise - 2.0 * leave - arrive;
        p->c3 = leave + arrive - 2.0 * rise;
    } else if (a->interp == KF_LINEAR) {
        p->c1 = rise;
        p->c2 = p->c3 = 0.0;
    } else {
        return false;
    }
    p->t0 = a->time;
    p->scale = 1.0 / duration;
    p->c0 = a->value;
    return true;
}

/* For as long as the times are those of the keys after this one, as in a bake at the rate of the keys; how many they are. What
 * they cost is the way from the memory, so nothing is asked for that lies behind the keys. */
static size_t values_on_keys(const kf_curve *curve, size_t *key, const double *times, size_t count, double *values)
{
    enum { AHEAD = KFI_AHEAD / sizeof(kf_key) };
    const kf_key *next = &curve->keys[*key + 1], *last = &curve->keys[curve->count - 1];
    const kf_key *asking = curve->count > AHEAD ? last - AHEAD : curve->keys;
    size_t at = 0;
    for (; at < count && next < last && times[at] == next->time && times[at] < next[1].time; next++) {
        if (next < asking)
            kfi_look_ahead(next);
        values[at++] = next->value;
    }
    *key += at;
    return at;
}

void kfi_curve_values(const kf_curve *curve, const double *times, size_t count, double rest, double *values)
{
    size_t at = 0, key = 0;
    while (at < count && (curve->count == 0 || times[at] < curve->keys[0].time)) {
        values[at] = kfi_curve_value(curve, times[at], rest);
        at++;
    }
    if (at < count && curve->count > 1 && times[at] >= curve->keys[1].time)
        key = find_key(curve, times[at]);
    while (at < count) {
        while (key + 1 < curve->count && curve->keys[key + 1].time <= times[at])
            key++;
        if (key + 1 == curve->count)
            break;
        kfi_look_ahead(&curve->keys[key]);
        if (times[at] == curve->keys[key].time) {
            values[at++] = curve->keys[key].value;
            if (at < count && times[at] == curve->keys[key + 1].time)
                at += values_on_keys(curve, &key, times + at, count - at, values + at);
        }
        double end = curve->keys[key + 1].time;
        if (at == count || times[at] >= end)
            continue;
        plan plain;
        if (plain_plan(curve, key, &plain)) {
            do {
                values[at] = cubic(&plain, (times[at] - plain.t0) * plain.scale);
            } while (++at < count && times[at] < end);
            continue;
        }
        size_t stop = at + 1;
        while (stop < count && times[stop] < end)
            stop++;
        kfi_segment segment;
        kfi_curve_segment(curve, key, &segment);
        kfi_segment_values(&segment, times + at, stop - at, values + at);
        at = stop;
    }
    for (; at < count; at++)
        values[at] = kfi_curve_value(curve, times[at], rest);
}

void kfi_curve_slopes(const kf_curve *curve, size_t i, double *in, double *out)
{
    const kf_key *key = &curve->keys[i];
    bool before = i > 0 && kfi_gap(key[-1].time, key->time);
    bool after = i + 1 < curve->count && kfi_gap(key->time, key[1].time);
    kfi_segment segment;
    *in = *out = 0.0;
    if (key->interp == KF_TCB)
        kfi_tcb_slopes(curve, i, in, out);
    else if (key->interp == KF_AUTO)
        kfi_auto_slopes(curve, i, in, out);
    if (before) {
        kfi_curve_segment(curve, i - 1, &segment);
        bool own = key->interp == KF_AUTO || (key->interp == KF_TCB && curve->tcb_rule == KF_TCB_FBX);
        if (segment.shape >= KFI_CUBIC || !own)
            *in = kfi_handle_slope(segment.h1);
    }
    if (after) {
        kfi_curve_segment(curve, i, &segment);
        *out = kfi_handle_slope(segment.h0);
    }
    if (key->interp == KF_TCB || key->interp == KF_AUTO)
        return;
    if (!before)
        *in = *out;
    if (!after)
        *out = *in;
}
