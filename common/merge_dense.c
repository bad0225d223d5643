/* Curves that came back as plain samples, or with a helper key moved: fitted with the format's keys, the original's
 * first.
 *
 * What was written need not be what the game plays (FBX's TCB rule, no ease), so where the samples are still those that
 * were written, the original itself is what is fitted: then its own keys are found again, to the byte. */
#include "fit.h"
#include "merge_internal.h"
#include "tolerance.h"

#include <math.h>

/* When to look, ascending, on the original's axis: the original's keys, those that came back, and where a program has
 * thinned these out those that were written, or a fit could do anything between them. And what came back is looked at
 * when: on its own key, if it has one there. */
static size_t all_times(const kfi_merge_track *t, const kf_curve *const from[3], double *times, double *looks, bool *keyed)
{
    const double shift[3] = {0, t->shift + t->offset, t->shift};
    size_t at[3] = {0, 0, 0}, count = 0;
    for (;;) {
        double next[3], least = INFINITY;
        for (int c = 0; c < 3; c++) {
            next[c] = at[c] < from[c]->count ? from[c]->keys[at[c]].time - shift[c] : INFINITY;
            least = fmin(least, next[c]);
        }
        if (least == INFINITY || least > t->cut + 1e-4)
            return count;
        int first = 2; /* of the original's time and that of what came back, the original's counts */
        bool here = next[1] <= least + 1e-4;
        if (!here && next[0] > least + 1e-4 && !kfi_thinned_before(t->input, from[1], at[1])) {
            at[2]++;
            continue;
        }
        double look = here ? from[1]->keys[at[1]].time : least + shift[1];
        for (int c = 2; c >= 0; c--) {
            if (next[c] > least + 1e-4)
                continue;
            first = c;
            at[c]++;
        }
        times[count] = next[first];
        looks[count] = look;
        keyed[count] = here;
        if (count == 0 || times[count] > times[count - 1])
            count++;
        else
            keyed[count - 1] = keyed[count - 1] || here;
    }
}

/* What is known of a curve that came back: when, on the original's axis of time, and what it is there. */
typedef struct seen {
    double *times, *looks; /* the latter on the axis of what came back */
    bool *keyed;           /* a key of what came back says so, not only the line between two */
    double *value;         /* the original's own, where that is what came back */
    bool *edited;          /* it is not */
    size_t count, edits;
} seen;

static bool make_seen(kf_job *job, seen *s, size_t most)
{
    *s = (seen){.times = kfi_alloc_raw(job, most, sizeof *s->times), .looks = kfi_alloc_raw(job, most, sizeof *s->looks)};
    s->keyed = kfi_alloc(job, most, sizeof *s->keyed);
    s->value = kfi_alloc_raw(job, most, sizeof *s->value);
    s->edited = kfi_alloc(job, most, sizeof *s->edited);
    return s->times && s->looks && s->keyed && s->value && s->edited;
}

/* Fills in the values. */
static void see(const kfi_merge_track *t, unsigned c, seen *s)
{
    enum { BATCH = 64 };
    double own[BATCH], was[BATCH], moved[BATCH];
    s->edits = 0;
    for (size_t first = 0; first < s->count; first += BATCH) {
        size_t n = s->count - first < BATCH ? s->count - first : BATCH;
        double *now = s->value + first;
        for (size_t i = 0; i < n; i++)
            moved[i] = s->looks[first + i] - t->offset;
        kfi_curve_values(&t->original->curve[c], s->times + first, n, t->original->rest[c], own);
        kfi_curve_values(&t->written->curve[c], moved, n, t->written->rest[c], was);
        kfi_curve_values(&t->edited->curve[c], s->looks + first, n, t->edited->rest[c], now);
        for (size_t i = 0; i < n; i++) {
            bool same = kfi_same_value(t->limits, t->written->channel, was[i], now[i]);
            /* Between the keys of a curve that was thinned out, it lies within the program's own bound. */
            if (!same && !s->keyed[first + i] && !t->limits->exact)
                same = fabs(was[i] - now[i]) <= kfi_thinning(was[i], now[i]);
            if (same)
                now[i] = own[i];
            s->edited[first + i] = !same;
            s->edits += !same;
        }
    }
}

/* ---------------------------------------------------------------- curves that are more than their samples */

/* Between two keys such a curve is looked at closely: `looks` times, every second of which the fit takes for a middle. */
enum { FEW_LOOKS = 2, MANY_LOOKS = 16, MOST_LOOKS = 128, PROBES = 64 };

/* Key i and `looks` times up to the next one, which is not among them. */
static void look_between(const seen *keys, size_t i, unsigned looks, seen *to)
{
    for (unsigned k = 0; k < looks; k++) {
        double share = (double)k / looks;
        to->times[to->count] = keys->times[i] + share * (keys->times[i + 1] - keys->times[i]);
        to->looks[to->count] = keys->looks[i] + share * (keys->looks[i + 1] - keys->looks[i]);
        to->keyed[to->count++] = k > 0 || keys->keyed[i]; /* tangents tell what is between */
    }
}

/* How far a curve is from what was drawn between keys i and i + 1, and where that is. */
static bool probe(const kfi_merge_track *t, unsigned c, const seen *keys, size_t i, const kf_curve *curve, seen *probes,
                  double *worst, double *at)
{
    double values[PROBES];
    probes->count = 0;
    look_between(keys, i, PROBES, probes);
    see(t, c, probes);
    kfi_curve_values(curve, probes->times, PROBES, t->original->rest[c], values);
    *worst = 0;
    for (size_t k = 1; k < PROBES; k++) {
        if (fabs(values[k] - probes->value[k]) <= *worst)
            continue;
        *worst = fabs(values[k] - probes->value[k]);
        *at = probes->times[k];
    }
    return probes->edits > 0;
}

static bool tell_off(const kfi_merge_track *t, double worst, double at)
{
    return kfi_warn(t->job, "fit", "take \"%.60s\", node \"%.60s\", %s at %.4f s: the curve as it was drawn cannot be told in "
                                   "keys of this format: it is off by %.4g", t->take,
                    t->input->original->nodes[t->original->node].name, kfi_channel_name((kf_channel)t->original->channel), at,
                    worst);
}

/* The original, but what was edited is open for handles, and the TCB segments beside that keep their shape by them. `looks`
 * tells what was edited. */
static bool open_edited(const kfi_merge_track *t, unsigned c, const seen *keys, const uint8_t *looks, double tolerance,
                        kf_curve *to)
{
    const kf_curve *from = &t->original->curve[c];
    bool *edited = kfi_alloc(t->job, from->count, sizeof *edited), *grows = kfi_alloc(t->job, from->count, sizeof *grows);
    bool *which = kfi_alloc(t->job, from->count, sizeof *which);
    kf_origin *origin;
    if (!edited || !grows || !which || !kfi_merge_copy_curve(t->job, from, to, &origin))
        return false;
    for (size_t i = 0, key = 0; i + 1 < keys->count; i++) {
        while (key + 1 < from->count && from->keys[key + 1].time <= keys->times[i])
            key++;
        if (looks[i] > FEW_LOOKS && key < from->count)
            edited[key] = grows[key] = true;
    }
    kfi_curve_affected(from, grows, which);
    for (size_t i = 0; i < from->count; i++)
        which[i] = which[i] && !edited[i];
    /* Components that share their keys: pieces end where those of the one before do. */
    const kf_curve *before = c > 0 ? &t->merged->curve[c - 1] : to;
    double *stops = kfi_alloc_raw(t->job, before->count, sizeof *stops);
    if (!stops)
        return false;
    for (size_t i = 0; i < before->count; i++)
        stops[i] = before->keys[i].time;
    if (!kfi_curve_tell_by_handles(t->job, to, &(kfi_opening){tolerance, which, stops, before->count}))
        return false;
    for (size_t i = 0; i < to->count; i++)
        if (to->origin[i].key != KF_NEW && edited[to->origin[i].key] && to->keys[i].interp == KF_TCB)
            to->keys[i].interp = KF_BEZIER;
    return true;
}

/* Origins of the fit name keys of the opened curve: what those are. */
static void pass_on(const kf_curve *opened, const kf_curve *original, kf_curve *fitted)
{
    kf_origin *origin = (kf_origin *)fitted->origin; /* just made */
    for (size_t i = 0; i < fitted->count; i++) {
        if (origin[i].key == KF_NEW)
            continue;
        kf_origin was = opened->origin[origin[i].key];
        uint32_t changed = was.key == KF_NEW ? KF_CHANGED_ALL : was.changed | origin[i].changed;
        if (was.key != KF_NEW && fitted->keys[i].interp != original->keys[was.key].interp)
            changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
        origin[i] = (kf_origin){was.key, changed};
    }
}

/* Fits what was drawn through `keys`, and looks closer wherever the fit leaves it. No keys: it was not edited. */
static bool fit_drawn(const kfi_merge_track *t, unsigned c, const seen *keys, kfi_fit_options options, kf_curve *fitted)
{
    double tolerance = options.tolerance;
    /* The rest is for what a cubic can do between two looks, and for the tenth by which helper keys miss ease. Misses of three
     * angles add up. */
    double aim = t->original->channel == KF_ROTATION ? 0.5 : 0.85;
    uint8_t *looks = kfi_alloc_raw(t->job, keys->count, sizeof *looks);
    seen probes, all;
    if (!looks || !make_seen(t->job, &probes, PROBES))
        return false;
    bool edited = keys->edits > 0;
    for (size_t i = 0; i + 1 < keys->count; i++) {
        double worst, at;
        bool here = probe(t, c, keys, i, options.original, &probes, &worst, &at);
        looks[i] = here ? MANY_LOOKS : FEW_LOOKS;
        edited = edited || here;
    }
    if (!edited)
        return true;
    options.middles = true;
    options.handles = options.interps >> KF_BEZIER & 1;
    kf_curve opened;
    if (options.handles) {
        options.original = &opened;
        if (!open_edited(t, c, keys, looks, 0.5 * aim * tolerance, &opened))
            return false;
    }
    options.tolerance = aim * tolerance;
    for (;;) {
        size_t most = 1;
        for (size_t i = 0; i + 1 < keys->count; i++)
            most += looks[i];
        if (!make_seen(t->job, &all, most))
            return false;
        for (size_t i = 0; i + 1 < keys->count; i++)
            look_between(keys, i, looks[i], &all);
        all.times[all.count] = keys->times[keys->count - 1];
        all.looks[all.count] = keys->looks[keys->count - 1];
        all.keyed[all.count++] = keys->keyed[keys->count - 1];
        see(t, c, &all);
        if (!kfi_fit(t->job, all.times, all.value, all.count, &options, fitted))
            return false;
        double farthest = tolerance, where = 0;
        bool closer = false;
        for (size_t i = 0; i + 1 < keys->count; i++) {
            double worst, at = 0;
            probe(t, c, keys, i, fitted, &probes, &worst, &at);
            if (worst <= (aim + 0.05) * tolerance)
                continue;
            if (looks[i] < MOST_LOOKS) {
                looks[i] = (uint8_t)(looks[i] < MANY_LOOKS ? MANY_LOOKS : 2 * looks[i]);
                closer = true;
            }
            if (worst > farthest) {
                farthest = worst;
                where = at;
            }
        }
        if (closer)
            continue;
        if (options.handles)
            pass_on(&opened, &t->original->curve[c], fitted);
        return farthest <= tolerance || tell_off(t, farthest, where);
    }
}

/* ---------------------------------------------------------------- samples */

/* Whether TCB keys got numbers that the other components, which share them, do not have. */
static bool has_own_numbers(const kfi_merge_track *t, const kf_curve *fitted)
{
    const kf_capabilities *can = t->input->capabilities;
    if (!can->components_together || !(can->interps >> KF_BEZIER & 1) || t->original->curves == 1)
        return false;
    for (size_t i = 0; i < fitted->count; i++) {
        bool tcb = fitted->keys[i].interp == KF_TCB || (i > 0 && fitted->keys[i - 1].interp == KF_TCB);
        if (tcb && (fitted->origin[i].key == KF_NEW || fitted->origin[i].changed & (KF_CHANGED_TCB | KF_CHANGED_EASE)))
            return true;
    }
    return false;
}

/* Without what lies behind the end of a bake that is shorter now. */
static kf_curve cut_off(const kfi_merge_track *t, kf_curve curve)
{
    while (curve.count && curve.keys[curve.count - 1].time > t->cut + 1e-4)
        curve.count--;
    return curve;
}

static bool fit_samples(const kfi_merge_track *t, unsigned c, const seen *keys, kfi_fit_options options, kf_curve *fitted)
{
    const kf_curve left = cut_off(t, *options.original);
    if (keys->edits == 0 && left.count == options.original->count)
        return true;
    options.original = &left;
    if (!kfi_fit(t->job, keys->times, keys->value, keys->count, &options, fitted))
        return false;
    if (!has_own_numbers(t, fitted))
        return true;
    kf_curve opened;
    uint8_t *looks = kfi_alloc_raw(t->job, keys->count, sizeof *looks);
    if (!looks)
        return false;
    for (size_t i = 0; i + 1 < keys->count; i++)
        looks[i] = keys->edited[i] || keys->edited[i + 1] ? MANY_LOOKS : FEW_LOOKS;
    if (!open_edited(t, c, keys, looks, 0.5 * options.tolerance, &opened))
        return false;
    opened = cut_off(t, opened);
    options.original = &opened;
    options.handles = true;
    if (!kfi_fit(t->job, keys->times, keys->value, keys->count, &options, fitted))
        return false;
    pass_on(&opened, &t->original->curve[c], fitted);
    return true;
}

bool kfi_merge_dense(kfi_merge_track *t, unsigned c)
{
    const kf_curve *from = &t->original->curve[c], *w = &t->written->curve[c], *e = &t->edited->curve[c];
    bool samples = kfi_came_back_baked(t->input, t->written, t->edited);
    const kf_curve none = {0}, *const all[3] = {from, e, samples ? w : &none};
    seen keys;
    if (!make_seen(t->job, &keys, from->count + e->count + all[2]->count + 1))
        return false;
    keys.count = all_times(t, all, keys.times, keys.looks, keys.keyed);
    see(t, c, &keys);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < keys.count; i++) {
        low = fmin(low, keys.value[i]);
        high = fmax(high, keys.value[i]);
    }
    kfi_fit_options options = {.interps = t->input->capabilities->interps, .original = from};
    options.tolerance = t->original->channel == KF_ROTATION ? kfi_tolerated_angle(t->input->tolerance)
                                                            : kfi_tolerated_range(t->input->tolerance, low, high);
    kf_curve fitted = {0};
    if (!(samples ? fit_samples : fit_drawn)(t, c, &keys, options, &fitted))
        return false;
    if (fitted.count == 0) { /* others may have changed in the same keys: its own keep their bytes */
        kf_origin *origin;
        return kfi_merge_copy_curve(t->job, from, &t->merged->curve[c], &origin);
    }
    size_t kept = 0;
    for (size_t i = 0; i < fitted.count; i++) {
        bool is_new = !fitted.origin || fitted.origin[i].key == KF_NEW;
        t->keys_added += is_new;
        kept += !is_new;
        t->keys_changed += !is_new && fitted.origin[i].changed;
    }
    t->keys_removed += from->count > kept ? from->count - kept : 0;
    t->segments_fitted++;
    t->changed = true;
    fitted.pre = from->pre;
    fitted.post = from->post;
    t->merged->curve[c] = fitted;
    return true;
}
