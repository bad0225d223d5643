/* Common key times for formats whose keys hold x, y and z at once. */
#include "curve_unite.h"

#include "curve.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

/* Whether a key at `time` is no later than that one, to the format: times are 32-bit floats, and FBX has rounded them
 * once more. */
static bool by_then(double time, double then)
{
    return time <= then + 1e-9 || (float)time <= (float)then;
}

/* A curve while keys are added to it; there is room for all of them. */
typedef struct growing {
    kf_curve curve;
    kf_origin *origin;
} growing;

static void add_new(growing *g, const kf_key *key)
{
    size_t at = g->curve.count++;
    g->curve.keys[at] = *key;
    g->origin[at] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
}

/* Where on a 2-D Bezier's parameter its time is reached: bisection, because the handles are clamped into the segment
 * and time only grows. */
static double parameter_at(const kfi_segment *s, double time)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double u = (low + high) / 2, n = 1 - u;
        double x = n * n * n * s->t0 + 3 * n * n * u * (s->t0 + s->h0.dt) + 3 * n * u * u * (s->t1 + s->h1.dt) +
                   u * u * u * s->t1;
        if (x < time)
            low = u;
        else
            high = u;
    }
    return (low + high) / 2;
}

static kf_handle between(kf_handle a, kf_handle b, double u)
{
    return (kf_handle){a.dt + (b.dt - a.dt) * u, a.dv + (b.dv - a.dv) * u};
}

/* De Casteljau: value and handles of the key that splits the segment, and shorter handles for its two ends. */
static double split(const kfi_segment *s, double time, kf_handles *own, kf_handle *out, kf_handle *in)
{
    double u = parameter_at(s, time);
    kf_handle p0 = {s->t0, s->v0}, p1 = {s->t0 + s->h0.dt, s->v0 + s->h0.dv};
    kf_handle p2 = {s->t1 + s->h1.dt, s->v1 + s->h1.dv}, p3 = {s->t1, s->v1};
    kf_handle a = between(p0, p1, u), b = between(p1, p2, u), c = between(p2, p3, u);
    kf_handle d = between(a, b, u), e = between(b, c, u), m = between(d, e, u);
    *out = (kf_handle){a.dt - p0.dt, a.dv - p0.dv};
    *in = (kf_handle){c.dt - p3.dt, c.dv - p3.dv};
    *own = (kf_handles){{d.dt - m.dt, d.dv - m.dv}, {e.dt - m.dt, e.dv - m.dv}};
    return m.dv;
}

kfi_segment kfi_cut_segment(const kfi_segment *segment, double from, double to)
{
    kfi_segment part = *segment;
    kf_handles own;
    kf_handle out, in;
    if (to < part.t1) {
        part.v1 = split(&part, to, &own, &out, &in);
        part.t1 = to;
        part.h0 = out;
        part.h1 = own.in;
    }
    if (from > part.t0) {
        part.v0 = split(&part, from, &own, &out, &in);
        part.t0 = from;
        part.h0 = own.out;
        part.h1 = in;
    }
    return part;
}

/* A key in the middle of the segment after the last key of `g`; `next_in` is the handle of the segment's other end, which
 * gets a new one. */
static void insert(growing *g, const kfi_segment *s, double time, kf_handle *next_in, uint32_t *next_changed)
{
    kf_key *last = &g->curve.keys[g->curve.count - 1];
    kf_origin *changed = &g->origin[g->curve.count - 1];
    kf_handles *handles = &g->curve.handles[g->curve.count];
    kf_key key = {.time = time, .interp = last->interp};
    switch (s->shape) {
    case KFI_HOLD:
        key.value = s->v0;
        break;
    case KFI_HOLD_NEXT:
        key.value = s->v1;
        key.interp = KF_STEP;
        break;
    case KFI_LINE:
        key.value = s->v0 + (s->v1 - s->v0) * ((time - s->t0) / (s->t1 - s->t0));
        break;
    default: {
        uint8_t interp = s->shape == KFI_BEZIER ? KF_BEZIER : KF_HERMITE;
        key.value = split(s, time, handles, &handles[-1].out, next_in);
        key.interp = interp;
        if (last->interp != interp)
            changed->changed |= KF_CHANGED_INTERP;
        changed->changed |= KF_CHANGED_OUT;
        last->interp = interp;
        *next_changed |= KF_CHANGED_IN;
    }
    }
    add_new(g, &key);
}

static bool has_key(const kf_curve *curve, size_t at, double time)
{
    return at < curve->count && by_then(curve->keys[at].time, time);
}

bool kfi_split_curve(kf_job *job, const kf_curve *from, const double *times, size_t count, double rest, kf_curve *to)
{
    growing g = {.curve = *from, .origin = kfi_alloc(job, count, sizeof *g.origin)};
    size_t next = 0;
    kf_handle *ins = kfi_alloc(job, from->count, sizeof *ins); /* in handles, which may change */
    kf_origin *origins = kfi_alloc(job, from->count, sizeof *origins);
    if (!ins || !origins || !g.origin || !kfi_make_keys(job, &g.curve, count, kfi_parts(from) | KFI_HANDLES))
        return false;
    g.curve.count = 0;
    for (size_t i = 0; i < from->count; i++) {
        ins[i] = kfi_handles_of(from, i).in;
        origins[i] = from->origin ? from->origin[i] : (kf_origin){KF_NEW, KF_CHANGED_ALL};
    }
    for (size_t i = 0; i < count; i++) {
        double time = times[i];
        if (has_key(from, next, time)) {
            kfi_copy_keys(&g.curve, i, from, next, 1);
            g.curve.handles[i].in = ins[next];
            g.origin[i] = origins[next++];
            g.curve.count++;
        } else if (from->count == 0 || next == 0 || next == from->count) {
            /* Outside its keys a curve holds. */
            kf_key key = {.time = time, .interp = KF_STEP};
            key.value = from->count == 0 ? rest : from->keys[next == 0 ? 0 : from->count - 1].value;
            if (i && g.curve.keys[i - 1].interp > KF_LINEAR) {
                g.curve.keys[i - 1].interp = KF_STEP;
                g.origin[i - 1].changed |= KF_CHANGED_INTERP;
            }
            add_new(&g, &key);
        } else {
            /* The rest of the segment as it now stands, after earlier splits. */
            kfi_segment s;
            kfi_curve_segment(from, next - 1, &s);
            const kf_key *last = &g.curve.keys[i - 1];
            if (g.origin[i - 1].key == KF_NEW && last->time > from->keys[next - 1].time && s.shape >= KFI_CUBIC) {
                s.t0 = last->time;
                s.v0 = last->value;
                s.h0 = g.curve.handles[i - 1].out;
                s.h1 = ins[next];
            }
            insert(&g, &s, time, &ins[next], &origins[next].changed);
        }
    }
    g.curve.origin = g.origin;
    *to = g.curve;
    return true;
}

/* ---------------------------------------------------------------- segments that follow from rules */

/* Segments that get a key at one of the times, and those that follow from them, told by handles. `all` spares the
 * search: every eased segment. `grown`: there are more keys now. */
static bool tell_by_handles(kf_job *job, kf_curve *curve, const double *times, size_t count, bool all, double tolerance,
                            bool *grown)
{
    size_t had = curve->count;
    bool *grows = kfi_alloc(job, had, sizeof *grows), *which = kfi_alloc(job, had, sizeof *which);
    bool any = false;
    if (!grows || !which)
        return false;
    for (size_t i = 0, next = 0; i < count; i++) {
        if (has_key(curve, next, times[i]))
            next++;
        else if (next > 0 && next < had)
            any = which[next - 1] = grows[next - 1] = true;
        else if (had > 1) /* an end key is none any more */
            any = which[next ? had - 2 : 0] = true;
    }
    if (!any)
        return true;
    for (size_t i = 0; i + 1 < had; i++)
        if (all && kfi_segment_eased(curve, i))
            which[i] = true;
    kfi_curve_affected(curve, grows, which);
    if (!kfi_curve_tell_by_handles(job, curve, &(kfi_opening){tolerance, which, times, count}))
        return false;
    *grown = *grown || curve->count > had;
    return true;
}

/* The times of all keys. */
static double *common_times(kf_job *job, const kf_track *track, size_t *count)
{
    size_t total = 0, at[3] = {0, 0, 0};
    for (unsigned c = 0; c < track->curves; c++)
        total += track->curve[c].count;
    double *times = kfi_alloc_raw(job, total, sizeof *times);
    *count = 0;
    while (times) {
        double least = INFINITY;
        for (unsigned c = 0; c < track->curves; c++)
            if (at[c] < track->curve[c].count)
                least = fmin(least, track->curve[c].keys[at[c]].time);
        if (least == INFINITY)
            break;
        for (unsigned c = 0; c < track->curves; c++)
            at[c] += has_key(&track->curve[c], at[c], least);
        times[(*count)++] = least;
    }
    return times;
}

/* When the middle of a segment by its parameter is. Where that is so near to a frame of 24, 25, 30 or 60 a second that programs
 * would take the key for the frame, the frame: its value is not the key's. */
static double middle_of(const kfi_segment *s)
{
    const double grid = 600, near = 1e-4;
    double middle = 0.5 * (s->t0 + s->t1) + 0.375 * (s->h0.dt + s->h1.dt), frame = round(middle * grid) / grid;
    bool take = fabs(frame - middle) <= near && frame > s->t0 + near && frame < s->t1 - near;
    return (double)(float)(take ? frame : middle);
}

/* Where the handles of a segment pass each other in time, a part of it would have one that reaches beyond its end, and
 * that is cut. Each half, by its parameter, has none such, nor have the parts of a half. */
static bool halve_passing(kf_job *job, kf_curve *curve, const double *times, size_t count, size_t *halved)
{
    double *all = kfi_alloc_raw(job, 2 * curve->count, sizeof *all);
    size_t total = 0;
    if (!all)
        return false;
    for (size_t i = 0, at = 0; i < curve->count; i++) {
        kfi_segment s = {.shape = KFI_HOLD};
        if (i + 1 < curve->count)
            kfi_curve_segment(curve, i, &s);
        all[total++] = curve->keys[i].time;
        while (at < count && by_then(times[at], curve->keys[i].time))
            at++;
        bool parted = i + 1 < curve->count && at < count && !by_then(curve->keys[i + 1].time, times[at]);
        if (parted && s.shape == KFI_BEZIER && s.h0.dt - s.h1.dt > s.t1 - s.t0)
            all[total++] = middle_of(&s);
    }
    if (total == curve->count)
        return true;
    *halved += total - curve->count;
    return kfi_split_curve(job, curve, all, total, 0, curve);
}

static bool unite(kf_job *job, kf_track *track, double tolerance, kfi_united *more)
{
    enum { PASSES = 8 }; /* after that, all that could ask for one more at once */
    size_t count = 0, before, halved = 0;
    double *times = common_times(job, track, &before);
    bool grown = times != NULL;
    for (int pass = 0; grown; pass++) {
        size_t had = halved;
        grown = false;
        for (unsigned c = 0; c < track->curves; c++) {
            kf_curve *curve = &track->curve[c];
            double share = track->channel == KF_ROTATION ? 0.25 : 0.5; /* misses of three angles add up */
            double within = share * kfi_tolerated(tolerance, (kf_channel)track->channel, curve);
            times = common_times(job, track, &count);
            if (!times || (curve->count != count &&
                           !(tell_by_handles(job, curve, times, count, pass >= PASSES, within, &grown) &&
                             halve_passing(job, curve, times, count, &halved))))
                return false;
        }
        grown = grown || halved > had;
    }
    more->passing = halved < count - before ? halved : count - before; /* two may be halved at one time */
    more->eased = count - before - more->passing;
    for (unsigned c = 0; times && c < track->curves; c++)
        if (track->curve[c].count != count &&
            !kfi_split_curve(job, &track->curve[c], times, count, track->rest[c], &track->curve[c]))
            return false;
    return times != NULL;
}

static bool keep(kf_job *job, const kf_curve *from, kf_curve *to)
{
    kf_curve kept = *from;
    kf_origin *origin = from->origin ? kfi_alloc_raw(job, from->count, sizeof *origin) : NULL;
    if ((from->origin && !origin) || !kfi_own_keys(job, &kept, 0))
        return false;
    for (size_t i = 0; origin && i < from->count; i++)
        origin[i] = from->origin[i];
    kept.origin = origin;
    *to = kept;
    return true;
}

bool kfi_unite_keys(kf_job *job, kf_track *track, double tolerance, kfi_united *more)
{
    kf_job aside = kfi_aside(job);
    kf_track united = *track;
    bool done = unite(&aside, &united, tolerance, more);
    for (unsigned c = 0; c < track->curves && done; c++)
        done = united.curve[c].keys == track->curve[c].keys || keep(job, &united.curve[c], &track->curve[c]);
    return kfi_aside_end(job, &aside) && done;
}
