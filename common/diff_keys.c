/* Which keys of two curves differ. */
#include "diff.h"

#include <math.h>

static bool same_tcb(const kf_tcb *a, const kf_tcb *b)
{
    static const float NEAR = 1e-4f;
    return fabsf(a->tension - b->tension) <= NEAR && fabsf(a->continuity - b->continuity) <= NEAR &&
           fabsf(a->bias - b->bias) <= NEAR && fabsf(a->ease_in - b->ease_in) <= NEAR &&
           fabsf(a->ease_out - b->ease_out) <= NEAR;
}

/* Two handles make the same shape if their ends lie on one line from the key, about equally far. FBX keeps
 * lengths to a ten-thousandth of the segment. */
static bool same_handle(kf_handle a, kf_handle b, double duration, double limit)
{
    if (fabs(a.dt - b.dt) > 1e-3 * duration + 1e-9)
        return false;
    double moved = b.dt != 0 ? b.dv * (a.dt / b.dt) : b.dv;
    return fabs(a.dv - moved) <= limit;
}

static int kind_of(uint8_t shape)
{
    return shape == KFI_BEZIER ? KFI_CUBIC : shape;
}

/* Compares the segments after two keys; tells which of their ends is another. */
static void compare_segments(const kf_curve *a, size_t i, const kf_curve *b, size_t j, double limit,
                             bool *first, bool *second)
{
    kfi_segment x, y;
    kfi_curve_segment(a, i, &x);
    kfi_curve_segment(b, j, &y);
    *second = false;
    if (kind_of(x.shape) != kind_of(y.shape)) {
        *first = true;
        return;
    }
    *first = fabs(x.ease0 - y.ease0) > 1e-4;
    *second = fabs(x.ease1 - y.ease1) > 1e-4;
    if (kind_of(x.shape) == KFI_CUBIC) {
        *first |= !same_handle(x.h0, y.h0, x.t1 - x.t0, limit);
        *second |= !same_handle(x.h1, y.h1, x.t1 - x.t0, limit);
    }
}

/* A value that is no number on one side only. */
static bool is_odd(uint8_t a, uint8_t b, double time, kfi_diff_keys *keys)
{
    if (!((a ^ b) & KF_KEY_NONFINITE))
        return false;
    if (!keys->odd || time < keys->odd_time)
        keys->odd_time = time;
    keys->odd = true;
    return true;
}

static bool has_tcb(const kf_curve *curve, size_t i)
{
    return curve->keys[i].interp == KF_TCB || (i > 0 && curve->keys[i - 1].interp == KF_TCB);
}

/* A key that the other side has not: the earlier one. */
static void pass_alone(double gap, size_t *i, size_t *j, kfi_diff_keys *keys)
{
    if (gap < 0) {
        keys->removed++;
        ++*i;
    } else {
        keys->added++;
        ++*j;
    }
}

void kfi_diff_curve_keys(const kf_curve *a, const kf_curve *b, double limit, kfi_diff_keys *keys)
{
    size_t i = 0, j = 0;
    bool together = false; /* the keys before were a pair too, so that a segment lies between */
    bool second = false;   /* and its end is another */
    while (i < a->count || j < b->count) {
        double gap = i == a->count ? INFINITY : j == b->count ? -INFINITY : a->keys[i].time - b->keys[j].time;
        if (!(fabs(gap) <= kfi_diff_instant(i < a->count ? a->keys[i].time : 0))) {
            pass_alone(gap, &i, &j, keys);
            together = false;
            continue;
        }
        bool changed = fabs(a->keys[i].value - b->keys[j].value) > limit || (together && second);
        changed |= is_odd(a->keys[i].flags, b->keys[j].flags, a->keys[i].time, keys);
        if (a->tcb && b->tcb && has_tcb(a, i) && has_tcb(b, j))
            changed |= !same_tcb(&a->tcb[i], &b->tcb[j]);
        together = i + 1 < a->count && j + 1 < b->count &&
                   fabs(a->keys[i + 1].time - b->keys[j + 1].time) <= kfi_diff_instant(a->keys[i + 1].time);
        if (together) {
            bool first;
            compare_segments(a, i, b, j, limit, &first, &second);
            changed |= first;
        }
        keys->changed += changed;
        i++;
        j++;
    }
}

void kfi_diff_quat_keys(const kf_quat_curve *a, const kf_quat_curve *b, double limit, kfi_diff_keys *keys)
{
    size_t i = 0, j = 0;
    while (i < a->count && j < b->count) {
        double gap = a->keys[i].time - b->keys[j].time;
        if (fabs(gap) > kfi_diff_instant(a->keys[i].time)) {
            pass_alone(gap, &i, &j, keys);
            continue;
        }
        bool last = i + 1 == a->count && j + 1 == b->count; /* nothing follows that could be interpolated */
        bool changed = kfi_quat_angle(a->keys[i].q, b->keys[j].q) > limit ||
                       (a->keys[i].interp != b->keys[j].interp && !last);
        changed |= is_odd(a->keys[i].flags, b->keys[j].flags, a->keys[i].time, keys);
        if (a->tcb && b->tcb && a->keys[i].interp == KF_TCB && b->keys[j].interp == KF_TCB)
            changed |= !same_tcb(&a->tcb[i], &b->tcb[j]);
        keys->changed += changed;
        i++;
        j++;
    }
    keys->removed += a->count - i;
    keys->added += b->count - j;
}
