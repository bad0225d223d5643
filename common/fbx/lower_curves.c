/* Scalar curves as FBX keys: TCB natively or as slopes, and what gets lost on the way. */
#include "fbx/keys.h"
#include "fbx/lower_internal.h"

#include <math.h>
#include <string.h>

/* The same keys, each its own origin. */
static bool borrow_curve(kfi_lowering *l, const kf_curve *from, kf_curve *to)
{
    if (from->count > l->own_room) {
        l->own_room = from->count > 2 * l->own_room ? from->count : 2 * l->own_room;
        l->own = kfi_alloc(l->job, l->own_room, sizeof *l->own);
        for (size_t i = 0; l->own && i < l->own_room; i++)
            l->own[i].key = (uint32_t)i;
    }
    *to = *from;
    to->origin = l->own;
    return l->own != NULL;
}

/* On a segment; by FBX's rule the last key says how it is arrived at, too. */
static bool has_tcb(const kf_curve *curve)
{
    for (size_t i = 0; curve->tcb && i + (curve->tcb_rule != KF_TCB_FBX) < curve->count; i++)
        if (curve->keys[i].interp == KF_TCB)
            return true;
    return false;
}

static bool has_ease(const kf_curve *curve, size_t i)
{
    return curve->tcb && (curve->tcb[i].ease_out != 0 || curve->tcb[i + 1].ease_in != 0);
}

/* Whether FBX's rule gives key i, written as a TCB key, other slopes than the game's rule. */
static bool bends(const kf_curve *native, const kf_curve *as_fbx, size_t i)
{
    double in, out, fbx_in, fbx_out;
    kfi_curve_slopes(native, i, &in, &out);
    kfi_curve_slopes(as_fbx, i, &fbx_in, &fbx_out);
    bool left = i > 0 && native->keys[i - 1].interp == KF_TCB;
    bool right = i + 1 < native->count && native->keys[i].interp == KF_TCB;
    double size = fabs(in) + fabs(out) + fabs(fbx_in) + fabs(fbx_out);
    return (left && fabs(in - fbx_in) > 1e-5 * size) || (right && fabs(out - fbx_out) > 1e-5 * size);
}

/* TCB keys as FBX TCB keys. A TCB key's record has no room for the in-tangent of the key after it, so a TCB key before
 * one that is none is written with slopes; the last key has no segment and joins the ones before it. */
static bool lower_native_tcb(kfi_lowering *l, const kf_curve *from, kf_curve *to)
{
    if (!borrow_curve(l, from, to) || !kfi_own_keys(l->job, to, 0))
        return false;
    size_t last = to->count - 1;
    if (to->keys[last].interp != KF_TCB && last > 0 && to->keys[last - 1].interp == KF_TCB)
        to->keys[last].interp = KF_TCB;
    kf_curve as_fbx = *to;
    as_fbx.tcb_rule = KF_TCB_FBX;
    /* From the end, so that a key that became slopes makes the one before it slopes too only if that was TCB. */
    for (size_t i = to->count; i-- > 0;) {
        kf_key *key = &to->keys[i];
        if (i + 1 < to->count && key->interp == KF_TCB && has_ease(from, i))
            kfi_note_loss(l, KFI_EASE_LOST, key->time);
        if (key->interp == KF_TCB && i + 1 < to->count && to->keys[i + 1].interp != KF_TCB) {
            double in, out, next_in, next_out;
            double duration = to->keys[i + 1].time - key->time;
            if (!kfi_need_handles(l->job, to))
                return false;
            as_fbx.handles = to->handles;
            kfi_curve_slopes(from, i, &in, &out);
            kfi_curve_slopes(from, i + 1, &next_in, &next_out);
            key->interp = KF_HERMITE;
            to->handles[i].out = kfi_slope_handle(out, duration);
            to->handles[i + 1].in = kfi_slope_handle(next_in, -duration);
            /* Its own in-tangent still belongs to the segment before it. */
            if (i > 0 && from->keys[i - 1].interp == KF_TCB)
                to->handles[i].in = kfi_slope_handle(in, to->keys[i - 1].time - key->time);
        } else if (key->interp == KF_TCB && bends(from, &as_fbx, i)) {
            kfi_note_loss(l, KFI_TCB_BENT, key->time);
        }
    }
    to->tcb_rule = KF_TCB_FBX;
    return true;
}

/* Of a curve that has keys. */
static double range_of(const kf_curve *curve)
{
    double low = curve->keys[0].value, high = low;
    for (size_t i = 1; i < curve->count; i++) {
        double value = curve->keys[i].value;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    return high - low;
}

/* How far FBX's rounding of handle lengths, to 1/9999 of the segment, takes a Bezier segment off its course. */
static double rounding_error(const kf_curve *curve, size_t i, double limit)
{
    kfi_segment s, r;
    double slope[2], w[2];
    kfi_curve_segment(curve, i, &s);
    kfi_segment_slopes(&s, 0.0001, 0.99, slope, w);
    double duration = s.t1 - s.t0, rise = s.v1 - s.v0;
    /* No more than this: how far a point moves along its handle, and in time where the curve is steepest. */
    double y0 = slope[0] * w[0] * duration, y1 = slope[1] * w[1] * duration, middle = 1 - w[0] - w[1];
    double steep = fmax(fmax(fabs(y0), fabs(y1)), fabs(rise - y0 - y1)), slow = fmin(w[0], w[1]);
    if (middle < slow)
        slow = fmax((w[0] * w[1] - middle * middle) / (w[0] + w[1] - 2 * middle), 1e-4);
    if (0.25e-4 * (fabs(slope[0]) + fabs(slope[1])) * duration + 0.5e-4 * steep / slow <= limit)
        return 0;
    r = s;
    r.h0 = kfi_weighted_handle(slope[0], nearbyint(w[0] * 9999) / 9999, duration);
    r.h1 = kfi_weighted_handle(slope[1], nearbyint(w[1] * 9999) / 9999, -duration);
    double worst = 0;
    enum { STEPS = 64 };
    for (int k = 1; k < STEPS; k++) {
        double time = s.t0 + duration * k / STEPS;
        worst = fmax(worst, fabs(kfi_segment_value(&s, time) - kfi_segment_value(&r, time)));
    }
    return worst;
}

/* Handles that FBX cannot hold: it keeps their slope and a length between 0.0001 and 0.99 of the segment. */
static void note_handles(kfi_lowering *l, const kf_curve *curve)
{
    /* A little less than a comparison tolerates, as the samples may miss the worst place; each of three angles may be
     * off by a third of it. */
    double limit = l->track->channel == KF_ROTATION ? 0.9 * 0.01 / 3 : 0;
    const kf_key *keys = curve->keys;
    size_t last = curve->count - 1;
    if (!curve->handles)
        return;
    for (size_t i = 0; i < last; i++) {
        kfi_look_ahead(&keys[i]);
        if (keys[i].interp != KF_BEZIER)
            continue;
        double duration = keys[i + 1].time - keys[i].time;
        double right = curve->handles[i].out.dt / duration, left = -curve->handles[i + 1].in.dt / duration;
        if (limit == 0)
            limit = 0.9 * 1e-4 * fmax(range_of(curve), 1.0);
        if (!(right >= 0.0001 && right <= 0.99) || !(left >= 0.0001 && left <= 0.99))
            kfi_note_loss(l, KFI_HANDLE_CLAMPED, keys[i].time);
        else if (rounding_error(curve, i, limit) > limit)
            kfi_note_loss(l, KFI_WEIGHT_ROUNDED, keys[i].time);
    }
    kf_handle in = curve->handles[0].in, out = curve->handles[last].out;
    if (keys[0].interp == KF_BEZIER && (in.dt != 0 || in.dv != 0))
        kfi_note_loss(l, KFI_HANDLE_OUTSIDE, keys[0].time);
    if (last > 0 && keys[last - 1].interp == KF_BEZIER && (out.dt != 0 || out.dv != 0))
        kfi_note_loss(l, KFI_HANDLE_OUTSIDE, keys[last].time);
}

/* Angles of so many turns that FBX's 32-bit degrees, and then a game's 32-bit radians, round away too much of the rest:
 * a hundredth of a degree for three of them. */
void kfi_lower_note_angles(kfi_lowering *l, const kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        kfi_look_ahead(key);
        if (fabs(key->value) > 16384 && (double)(float)key->value != key->value)
            kfi_note_loss(l, KFI_ANGLE_ROUNDED, key->time);
    }
}

/* A tenth of what is tolerated altogether, so that the way back has room too. */
static double tolerance_of(const kfi_lowering *l, const kf_curve *curve)
{
    if (l->options->tolerance > 0)
        return l->options->tolerance * 0.1;
    if (l->track->channel == KF_ROTATION)
        return 0.001;
    return fmax(range_of(curve), 1.0) * 1e-5;
}

bool kfi_lower_curve(kfi_lowering *l, const kf_curve *from, kf_curve *to)
{
    if (from->count == 0) {
        *to = *from;
        return true;
    }
    bool done;
    if (has_tcb(from) && l->options->tcb_slopes)
        done = kfi_curve_to_slopes(l->job, from, tolerance_of(l, from), to);
    else if (has_tcb(from) && from->tcb_rule != KF_TCB_FBX)
        done = lower_native_tcb(l, from, to);
    else
        done = borrow_curve(l, from, to);
    if (done && !l->options->as_is) /* what came from an FBX fits into one */
        note_handles(l, to);
    return done;
}
