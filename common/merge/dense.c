/* Curves that came back with a helper key moved: fitted with the format's keys, the original's first. So are those in
 * baked.c.
 *
 * What was written need not be what the game plays (FBX's TCB rule, no ease), so where the samples are still those that
 * were written, the original itself is what is fitted: then its own keys are found again, to the byte. */
#include "fit/fit.h"
#include "internal.h"

#include <math.h>

/* ---------------------------------------------------------------- curves that are more than their samples */

/* Between two keys such a curve is looked at closely: `looks` times, every second of which the fit takes for a middle. */
enum { FEW_LOOKS = 2, MANY_LOOKS = 16, MOST_LOOKS = 128, PROBES = 64 };

/* Key i and `looks` times up to the next one, which is not among them. */
static void look_between(const kfi_seen *keys, size_t i, unsigned looks, kfi_seen *to)
{
    for (unsigned k = 0; k < looks; k++) {
        double share = (double)k / looks;
        to->times[to->count] = keys->times[i] + share * (keys->times[i + 1] - keys->times[i]);
        to->looks[to->count] = keys->looks[i] + share * (keys->looks[i + 1] - keys->looks[i]);
        to->keyed[to->count++] = k > 0 || keys->keyed[i]; /* tangents tell what is between */
    }
}

/* How far a curve is from what was drawn between keys i and i + 1, and where that is. */
static bool probe(const kfi_merge_track *t, unsigned c, const kfi_seen *keys, size_t i, const kf_curve *curve, kfi_seen *probes,
                  double *worst, double *at)
{
    double values[PROBES];
    probes->count = 0;
    look_between(keys, i, PROBES, probes);
    kfi_see(t, c, probes);
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

/* The original, but what was edited is open for handles, and the TCB segments beside that keep their shape by them. `after`
 * tells of each sample whether what follows it was edited. */
bool kfi_open_edited(const kfi_merge_track *t, unsigned c, const kfi_seen *keys, const bool *after, double tolerance,
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
        if (after[i] && key < from->count)
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

void kfi_pass_on(const kf_curve *begun, const kf_curve *original, kf_curve *fitted)
{
    kf_origin *origin = (kf_origin *)fitted->origin; /* just made */
    for (size_t i = 0; i < fitted->count; i++) {
        if (origin[i].key == KF_NEW)
            continue;
        kf_origin was = begun->origin[origin[i].key];
        uint32_t changed = was.key == KF_NEW ? KF_CHANGED_ALL : was.changed | origin[i].changed;
        if (was.key != KF_NEW && fitted->keys[i].interp != original->keys[was.key].interp)
            changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
        origin[i] = (kf_origin){was.key, changed};
    }
}

/* The rest is for what a cubic can do between two looks, and for the tenth by which helper keys miss ease. Misses of three
 * angles add up. */
static double aim_of(const kfi_merge_track *t)
{
    return t->original->channel == KF_ROTATION ? 0.5 : 0.85;
}

/* Fits what was drawn through `keys`, and looks closer wherever the fit leaves it. No keys: it was not edited. */
static bool fit_drawn(const kfi_merge_track *t, unsigned c, const kfi_seen *keys, kfi_fit_options options, kf_curve *fitted)
{
    double tolerance = options.tolerance;
    double aim = aim_of(t);
    uint8_t *looks = kfi_alloc_raw(t->job, keys->count, sizeof *looks);
    bool *after = kfi_alloc_raw(t->job, keys->count, sizeof *after);
    kfi_seen probes, all;
    if (!looks || !after || !kfi_make_seen(t->job, &probes, PROBES))
        return false;
    bool edited = keys->edits > 0;
    for (size_t i = 0; i + 1 < keys->count; i++) {
        double worst, at;
        bool here = probe(t, c, keys, i, options.original, &probes, &worst, &at);
        looks[i] = here ? MANY_LOOKS : FEW_LOOKS;
        after[i] = here;
        edited = edited || here;
    }
    if (!edited)
        return true;
    options.handles = options.interps >> KF_BEZIER & 1;
    kf_curve opened;
    if (options.handles) {
        options.original = &opened;
        if (!kfi_open_edited(t, c, keys, after, 0.5 * aim * tolerance, &opened))
            return false;
    }
    options.tolerance = aim * tolerance;
    for (;;) {
        size_t most = 1;
        for (size_t i = 0; i + 1 < keys->count; i++)
            most += looks[i];
        if (!kfi_make_seen(t->job, &all, most))
            return false;
        for (size_t i = 0; i + 1 < keys->count; i++)
            look_between(keys, i, looks[i], &all);
        all.times[all.count] = keys->times[keys->count - 1];
        all.looks[all.count] = keys->looks[keys->count - 1];
        all.keyed[all.count++] = keys->keyed[keys->count - 1];
        kfi_see(t, c, &all);
        double *between = kfi_alloc_raw(t->job, all.count, sizeof *between);
        if (!between)
            return false;
        for (size_t i = 0; 2 * i < all.count; i++) {
            between[i] = 2 * i + 1 < all.count ? all.value[2 * i + 1] : NAN;
            all.times[i] = all.times[2 * i];
            all.value[i] = all.value[2 * i];
        }
        options.between = between;
        if (!kfi_fit(t->job, all.times, all.value, (all.count + 1) / 2, &options, fitted))
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
            kfi_pass_on(&opened, &t->original->curve[c], fitted);
        return farthest <= tolerance || tell_off(t, farthest, where);
    }
}

/* ---------------------------------------------------------------- all components */

bool kfi_share_tcb(const kfi_merge_track *t)
{
    const kf_capabilities *can = t->input->capabilities;
    if (!can->components_together || !(can->interps >> KF_BEZIER & 1) || t->original->curves == 1)
        return false;
    for (unsigned c = 0; c < t->original->curves; c++)
        for (size_t i = 0; i < t->original->curve[c].count; i++)
            if (t->original->curve[c].keys[i].interp == KF_TCB)
                return true;
    return false;
}

bool kfi_take_fitted(kfi_merge_track *t, unsigned c, const kf_curve *fitted)
{
    const kf_curve *from = &t->original->curve[c];
    if (fitted->count == 0) { /* others may have changed in the same keys: its own keep their bytes */
        kf_origin *origin;
        return kfi_merge_copy_curve(t->job, from, &t->merged->curve[c], &origin);
    }
    size_t kept = 0;
    for (size_t i = 0; i < fitted->count; i++) {
        bool is_new = !fitted->origin || fitted->origin[i].key == KF_NEW;
        t->keys_added += is_new;
        kept += !is_new;
        t->keys_changed += !is_new && fitted->origin[i].changed;
    }
    t->keys_removed += from->count > kept ? from->count - kept : 0;
    t->segments_fitted++;
    t->changed = true;
    t->merged->curve[c] = *fitted;
    t->merged->curve[c].pre = from->pre;
    t->merged->curve[c].post = from->post;
    return true;
}

bool kfi_merge_drawn(kfi_merge_track *t, unsigned c)
{
    kfi_seen keys;
    kf_curve fitted = {0};
    if (!kfi_see_all(t, c, &keys))
        return false;
    kfi_fit_options options = {
        .interps = t->input->capabilities->interps, .tolerance = keys.tolerance, .original = &t->original->curve[c]};
    return fit_drawn(t, c, &keys, options, &fitted) && kfi_take_fitted(t, c, &fitted);
}

/* As samples, with every second look for a middle. */
static bool look_closely(const kfi_merge_track *t, unsigned c, const kfi_seen *keys, kfi_seen *to)
{
    if (!kfi_make_seen(t->job, to, keys->count * MANY_LOOKS + 1))
        return false;
    for (size_t i = 0; i + 1 < keys->count; i++)
        look_between(keys, i, MANY_LOOKS, to);
    to->times[to->count] = keys->times[keys->count - 1];
    to->looks[to->count] = keys->looks[keys->count - 1];
    to->keyed[to->count++] = keys->keyed[keys->count - 1];
    kfi_see(t, c, to);
    to->between = kfi_alloc_raw(t->job, to->count, sizeof *to->between);
    if (!to->between)
        return false;
    for (size_t i = 0; 2 * i < to->count; i++) {
        to->between[i] = 2 * i + 1 < to->count ? to->value[2 * i + 1] : NAN;
        to->times[i] = to->times[2 * i];
        to->value[i] = to->value[2 * i];
        to->edited[i] = to->edited[2 * i];
    }
    to->count = (to->count + 1) / 2;
    to->tolerance = aim_of(t) * keys->tolerance;
    return true;
}

/* How many keys there are at the least once x, y and z have them at the same times. */
static size_t count_times(const kf_track *track)
{
    size_t at[3] = {0}, count = 0;
    for (;; count++) {
        double least = INFINITY;
        for (unsigned c = 0; c < track->curves; c++)
            if (at[c] < track->curve[c].count)
                least = fmin(least, track->curve[c].keys[at[c]].time);
        if (least == INFINITY)
            return count;
        for (unsigned c = 0; c < track->curves; c++)
            while (at[c] < track->curve[c].count && track->curve[c].keys[at[c]].time <= least + 1e-9)
                at[c]++;
    }
}

static bool as_drawn(const kfi_merge_track *t, const kfi_seen keys[3], const kf_curve fitted[3], kfi_seen *probes)
{
    for (unsigned c = 0; c < t->original->curves; c++)
        for (size_t i = 0; i + 1 < keys[c].count; i++) {
            double worst, at;
            probe(t, c, &keys[c], i, &fitted[c], probes, &worst, &at);
            if (!(worst <= keys[c].tolerance))
                return false;
        }
    return true;
}

bool kfi_merge_drawn_together(kfi_merge_track *t)
{
    /* Ever closer, for what the fit does between two looks. So many looks at a curve that is longer would take too much. */
    enum { ATTEMPTS = 3, LONGEST = 10000 };
    kfi_seen keys[3] = {{0}}, all[3] = {{0}}, probes;
    kf_curve fitted[3];
    bool done = false;
    size_t pieces = 0;
    if (!kfi_share_tcb(t))
        return true;
    for (unsigned c = 0; c < t->original->curves; c++) {
        if (t->original->curve[c].count == 0)
            return true;
        if (!kfi_see_all(t, c, &keys[c]))
            return false;
        if (keys[c].count > LONGEST)
            return true;
        if (!look_closely(t, c, &keys[c], &all[c]))
            return false;
    }
    if (!kfi_make_seen(t->job, &probes, PROBES))
        return false;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!kfi_merge_together(t, all, fitted, &done, &pieces))
            return false;
        if (!done || fitted[0].count >= count_times(t->merged))
            return true;
        done = as_drawn(t, keys, fitted, &probes);
        if (done)
            break;
        for (unsigned c = 0; c < t->original->curves; c++)
            all[c].tolerance *= 0.7;
    }
    if (!done)
        return true;
    t->keys_changed = t->keys_added = t->keys_removed = t->segments_fitted = 0;
    for (unsigned c = 0; c < t->original->curves; c++)
        if (!kfi_take_fitted(t, c, &fitted[c]))
            return false;
    return kfi_tell_pieces(t, pieces);
}
