/* Orientations that all turn about one axis, as those of doors and turrets do: there squad is the cubic of the angle, so
 * that the angles are fitted as any curve is, with the original's numbers. Only the rule of end keys is another: they stand
 * as if the motion came in as it goes out. So the curve of angles has a key more at each end, where the mirrored
 * neighbour would be, and samples up to there. */
#include "quat_internal.h"

#include <string.h>

static const double SAME_TIME = 1e-4; /* seconds */
static const double HALF_DEGREE = 0.008726646259971648; /* in radians */

typedef struct turning {
    double base[4], axis[3];
    double limit; /* degrees by which it may be off the axis */
} turning;

static void relative(const turning *a, const double q[4], double out[4])
{
    const double back[4] = {a->base[0], -a->base[1], -a->base[2], -a->base[3]};
    kfi_quat_multiply(back, q, out);
}

/* The axis by the orientation that is turned farthest; false if none is turned. */
static bool find_axis(turning *a, const double (*q)[4], size_t count, double *most)
{
    for (size_t i = 0; i < count; i++) {
        double r[4];
        relative(a, q[i], r);
        double length = sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
        if (length <= *most)
            continue;
        *most = length;
        for (int k = 0; k < 3; k++)
            a->axis[k] = r[1 + k] / length;
    }
    return *most > 1e-4;
}

/* The angle of an orientation, as near to another as whole turns let it be; false if it is turned about another axis. */
static bool angle_of(const turning *a, const double q[4], double near, double *angle)
{
    double r[4], along = 0.0, aside = 0.0;
    relative(a, q, r);
    for (int k = 0; k < 3; k++)
        along += r[1 + k] * a->axis[k];
    for (int k = 0; k < 3; k++)
        aside += (r[1 + k] - along * a->axis[k]) * (r[1 + k] - along * a->axis[k]);
    *angle = atan2(along, r[0]) / HALF_DEGREE;
    *angle += 360.0 * nearbyint((near - *angle) / 360.0);
    return sqrt(aside) / HALF_DEGREE <= a->limit;
}

static void orientation(const turning *a, double angle, double q[4])
{
    double s = sin(angle * HALF_DEGREE);
    const double turn[4] = {cos(angle * HALF_DEGREE), s * a->axis[0], s * a->axis[1], s * a->axis[2]};
    kfi_quat_multiply(a->base, turn, q);
}

enum { BEYOND = 8 }; /* samples between an end key and the key that was put beyond it */

/* The samples as angles, with room for those beyond the ends. */
typedef struct angles {
    double *t, *v;
    size_t count;
} angles;

/* The key beyond an end key: as far from it as its neighbour, on the other side. */
static void mirror(kf_curve *flat, size_t beyond, size_t end, size_t neighbour)
{
    flat->keys[beyond] = flat->keys[end];
    flat->keys[beyond].time = 2.0 * flat->keys[end].time - flat->keys[neighbour].time;
    flat->keys[beyond].value = 2.0 * flat->keys[end].value - flat->keys[neighbour].value;
    flat->keys[beyond].interp = KF_TCB;
    flat->tcb[beyond] = (kf_tcb){0};
}

/* The original as a curve of angles, key i of it key i + 1; false if there is no memory. *same: it is one. */
static bool flatten(kf_job *job, const turning *a, const kf_quat_curve *original, const angles *s, kf_curve *flat, bool *same)
{
    size_t count = original->count;
    double near = 0.0;
    *flat = (kf_curve){.tcb_rule = KF_TCB_KOCHANEK};
    *same = kfi_make_keys(job, flat, count + 2, KFI_NUMBERS);
    if (!*same)
        return false;
    for (size_t i = 0, at = 0; i < count && *same; i++) {
        const kf_quat_key *key = &original->keys[i];
        while (at + 1 < s->count && s->t[at] < key->time)
            at++;
        near = i == 0 ? s->v[at] : near;
        flat->keys[i + 1] = (kf_key){.time = key->time, .interp = key->interp};
        flat->tcb[i + 1] = original->tcb[i];
        *same = angle_of(a, key->q, near, &flat->keys[i + 1].value) &&
                (i == 0 || key->time > key[-1].time);
        near = flat->keys[i + 1].value;
    }
    if (!*same)
        return true;
    mirror(flat, 0, 1, 2);
    mirror(flat, count + 1, count, count - 1);
    flat->keys[count].interp = KF_TCB; /* no last key here */
    for (size_t i = 0; i < s->count && *same; i++) { /* it plays the same, ends and all */
        double was[4], is[4];
        kfi_quat_curve_value(original, s->t[i], was);
        orientation(a, kfi_curve_value(flat, s->t[i], 0.0), is);
        *same = kfi_quat_angle(was, is) <= a->limit;
    }
    return true;
}

/* Samples from the keys beyond the ends on. */
static bool reach_beyond(kf_job *job, const kf_curve *flat, angles *s)
{
    angles all = {kfi_alloc_raw(job, s->count + 2 * BEYOND, sizeof *all.t), kfi_alloc_raw(job, s->count + 2 * BEYOND, sizeof *all.v), 0};
    size_t last = flat->count - 1;
    if (!all.t || !all.v)
        return false;
    for (size_t i = 0; i < s->count + 2 * BEYOND; i++) {
        bool before = i < BEYOND, behind = i >= s->count + BEYOND;
        size_t k = before ? i : i - s->count - BEYOND + 1;
        const kf_key *from = &flat->keys[before ? 0 : last - 1];
        double time = before || behind ? from->time + (from[1].time - from->time) * (double)k / BEYOND : s->t[i - BEYOND];
        if (behind && k == BEYOND)
            time = flat->keys[last].time;
        all.t[all.count] = time;
        all.v[all.count++] = before || behind ? kfi_curve_value(flat, time, 0.0) : s->v[i - BEYOND];
    }
    *s = all;
    return true;
}

/* An end key of the result whose neighbour has moved: tension for the slope it has in the curve of angles. With its mirrored
 * neighbour its tangent is (1 - T)(1 + C B) of the rise behind it, or (1 - T)(1 - C B) of that before it. */
static void settle_end(const kf_curve *flat, size_t i, int side, kf_tcb *tcb, uint32_t *changed)
{
    const kf_key *key = &flat->keys[i], *other = side ? key + 1 : key - 1;
    double slope[2], rise = (other->value - key->value) / (other->time - key->time), cb = (double)tcb->continuity * (double)tcb->bias;
    kfi_curve_slopes(flat, i, &slope[0], &slope[1]);
    double is = (1.0 - (double)tcb->tension) * (side ? 1.0 + cb : 1.0 - cb), wanted = rise != 0.0 ? slope[side] / rise : is;
    if (fabs(is - wanted) <= 1e-6)
        return;
    tcb->tension = (float)fmin(fmax(1.0 - wanted, -1.0), 1.0);
    tcb->continuity = tcb->bias = 0.0f;
    *changed |= KF_CHANGED_TCB;
}

/* Back to orientations, without the keys beyond the ends; the original's own where the angle is. *fits: nothing was changed
 * there, and no step is half a turn. */
static bool raise_keys(kf_job *job, const turning *a, const kf_quat_curve *original, const kf_curve *flat, kf_quat_curve *to,
                       bool *fits)
{
    *fits = false;
    if (flat->count < 4)
        return true;
    size_t count = flat->count - 2, last = original->count - 1;
    const kf_origin *first = &flat->origin[1], *end = &flat->origin[count];
    *fits = first->key == 1 && end->key == last + 1 && flat->origin[0].key == 0 &&
            flat->origin[count + 1].key == last + 2;
    if (!*fits)
        return true;
    kf_quat_curve curve = {0};
    kf_origin *origin = kfi_alloc(job, count, sizeof *origin);
    if (!origin || !kfi_make_quat_keys(job, &curve, count, true))
        return false;
    for (size_t i = 0; i < count; i++) {
        const kf_key *key = &flat->keys[i + 1];
        kf_quat_key *own = &curve.keys[i];
        origin[i] = flat->origin[i + 1];
        if (origin[i].key != KF_NEW) {
            *own = original->keys[--origin[i].key];
            origin[i].changed &= ~(uint32_t)(KF_CHANGED_IN | KF_CHANGED_OUT);
        }
        if (origin[i].key == KF_NEW || origin[i].changed & KF_CHANGED_VALUE)
            orientation(a, key->value, own->q);
        own->time = key->time;
        own->interp = i + 1 == count && origin[i].key == last ? own->interp : key->interp;
        curve.tcb[i] = flat->tcb[i + 1];
        *fits = *fits && (i == 0 || fabs(key->value - key[-1].value) < 179.0);
    }
    settle_end(flat, 1, 1, &curve.tcb[0], &origin[0].changed);
    settle_end(flat, count, 0, &curve.tcb[count - 1], &origin[count - 1].changed);
    curve.origin = origin;
    *to = curve;
    return true;
}

bool kfi_fit_quat_axis(kf_job *job, const double *times, const double (*q)[4], size_t count,
                       const kfi_fit_quat_options *options, double tolerance, kf_quat_curve *curve, bool *done)
{
    const kf_quat_curve *original = options->original;
    *done = false;
    if (!original || !original->tcb || original->count < 2 || count < 2 || !(options->interps >> KF_TCB & 1))
        return true;
    turning a = {.limit = 0.1 * tolerance};
    angles s = {kfi_alloc_raw(job, count, sizeof *s.t), kfi_alloc_raw(job, count, sizeof *s.v), count};
    double most = 0.0;
    if (!s.t || !s.v)
        return false;
    memcpy(a.base, original->keys[0].q, sizeof a.base);
    kfi_quat_normalize(a.base);
    if (!find_axis(&a, q, count, &most))
        return true;
    s.count = 0;
    for (size_t i = 0, key = 0; i < count; i++) { /* those from the first key to the last, and on a key where they are beside it */
        while (key + 1 < original->count && original->keys[key].time < times[i] - SAME_TIME)
            key++;
        bool at_key = fabs(times[i] - original->keys[key].time) <= SAME_TIME;
        double time = at_key ? original->keys[key].time : times[i];
        if (time < original->keys[0].time || time > original->keys[original->count - 1].time)
            continue;
        if (!angle_of(&a, q[i], s.count ? s.v[s.count - 1] : 0.0, &s.v[s.count]) || (s.count && !(time > s.t[s.count - 1])))
            return true;
        s.t[s.count++] = time;
    }
    if (s.count < 2)
        return true;
    kf_curve flat, fitted;
    bool fits;
    if (!flatten(job, &a, original, &s, &flat, &fits))
        return false;
    if (!fits)
        return true;
    kfi_fit_options how = {.interps = options->interps, .tolerance = 0.8 * tolerance, .original = &flat};
    kf_quat_curve made = {0};
    if (!reach_beyond(job, &flat, &s) || !kfi_fit(job, s.t, s.v, s.count, &how, &fitted) ||
        !raise_keys(job, &a, original, &fitted, &made, &fits))
        return false;
    for (size_t i = 0; i < count && fits; i++) { /* an end key may have no numbers for what it should do */
        double is[4];
        kfi_quat_curve_value(&made, times[i], is);
        fits = kfi_quat_angle(is, q[i]) <= tolerance; /* before the first key and after the last, too */
    }
    if (fits)
        *curve = made;
    *done = fits;
    return true;
}
