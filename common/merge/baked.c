/* Curves that came back as plain samples. */
#include "curve_unite.h"
#include "fit/shared.h"
#include "internal.h"

#include <math.h>
#include <string.h>

/* Whether TCB keys got numbers that the other components, which share them, do not have. */
static bool has_own_numbers(const kfi_merge_track *t, const kf_curve *fitted)
{
    const kf_capabilities *can = t->input->capabilities;
    if (!can->components_together || t->original->curves == 1)
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

/* The other components follow by nothing but handles. */
static bool fit_by_handles(const kfi_merge_track *t, unsigned c, const kfi_seen *keys, kfi_fit_options options, kf_curve *fitted)
{
    kf_curve opened;
    bool *after = kfi_alloc_raw(t->job, keys->count, sizeof *after);
    if (!after)
        return false;
    for (size_t i = 0; i + 1 < keys->count; i++)
        after[i] = keys->edited[i] || keys->edited[i + 1];
    if (!kfi_open_edited(t, c, keys, after, 0.5 * options.tolerance, &opened))
        return false;
    opened = cut_off(t, opened);
    options.original = &opened;
    options.handles = true;
    if (!kfi_fit(t->job, keys->times, keys->value, keys->count, &options, fitted))
        return false;
    kfi_pass_on(&opened, &t->original->curve[c], fitted);
    return true;
}

/* Whether keys would have to be set for the sake of other components' ones. */
static bool apart(const kfi_merge_track *t, const kf_curve fitted[3])
{
    const kf_curve *b = fitted[0].count ? &fitted[0] : &t->original->curve[0];
    for (unsigned c = 0; c < t->original->curves; c++) {
        const kf_curve *a = fitted[c].count ? &fitted[c] : &t->original->curve[c];
        if (a->count != b->count)
            return true;
        for (size_t i = 0; i < a->count; i++)
            if (a->keys[i].time != b->keys[i].time)
                return true;
    }
    return false;
}

static kfi_fit_options options_for(const kfi_merge_track *t, unsigned c, const kfi_seen *keys)
{
    return (kfi_fit_options){.interps = t->input->capabilities->interps,
                             .tolerance = keys->tolerance,
                             .original = &t->original->curve[c],
                             .between = keys->between,
                             .was = keys->baked ? &t->original->curve[c] : NULL};
}

/* How many keys there are once all components have them at the same times, and how many of them no component asked for. */
static bool count_united(const kfi_merge_track *t, const kf_curve fitted[3], size_t *count, kfi_united *more)
{
    kf_job aside = kfi_aside(t->job);
    kf_track track = *t->original;
    for (unsigned c = 0; c < track.curves; c++)
        if (fitted[c].count)
            track.curve[c] = fitted[c];
    bool done = kfi_unite_keys(&aside, &track, t->input->tolerance, more);
    *count = track.curve[0].count;
    return kfi_aside_end(t->job, &aside) && done;
}

/* Where handles pass each other in time, keys of other components part that segment only with more keys yet, which can be more
 * than there are samples: then without such handles, if that takes fewer. */
static bool fit_parted(const kfi_merge_track *t, const kfi_seen seen[3], kf_curve fitted[3])
{
    kf_curve parted[3] = {{0}};
    size_t before, now;
    kfi_united more;
    if (!t->input->capabilities->components_together || t->original->curves == 1 || !apart(t, fitted))
        return true;
    if (!count_united(t, fitted, &before, &more))
        return false;
    if (more.passing == 0)
        return true;
    for (unsigned c = 0; c < t->original->curves; c++) {
        kfi_fit_options options = options_for(t, c, &seen[c]);
        options.parted = true;
        if (fitted[c].count && !kfi_fit(t->job, seen[c].times, seen[c].value, seen[c].count, &options, &parted[c]))
            return false;
    }
    if (!count_united(t, parted, &now, &more))
        return false;
    if (now < before)
        memcpy(fitted, parted, sizeof parted);
    return true;
}

/* Not *same: they are not seen at the same times. */
static kfi_shared_samples samples_of(const kfi_merge_track *t, const kfi_seen seen[3], bool *same)
{
    kfi_shared_samples from = {.curves = t->original->curves, .times = seen[0].times, .count = seen[0].count};
    *same = true;
    for (unsigned c = 0; c < from.curves && *same; c++) {
        *same = seen[c].count == from.count && memcmp(seen[c].times, from.times, from.count * sizeof *from.times) == 0;
        from.original[c] = &t->original->curve[c];
        from.values[c] = seen[c].value;
        from.between[c] = seen[c].between;
        from.tolerance[c] = seen[c].tolerance;
    }
    return from;
}

/* Whether keys came in that a format without handles has no numbers for. */
static bool drawn(const kf_curve *fitted)
{
    bool cubic = false, more = false;
    for (size_t i = 0; i < fitted->count; i++) {
        cubic = cubic || (i + 1 < fitted->count && fitted->keys[i].interp == KF_HERMITE);
        more = more || fitted->origin[i].key == KF_NEW;
    }
    return cubic && more;
}

/* Whether a fit does no more than give the original's keys other values, which leaves the other components alone. */
static bool just_values(const kf_curve *original, const kf_curve *fitted)
{
    for (size_t i = 0; i < fitted->count; i++)
        if (fitted->count != original->count || fitted->origin[i].key != i || fitted->origin[i].changed & ~(uint32_t)KF_CHANGED_VALUE)
            return false;
    return true;
}

/* The same where a format has no handles that each component could have for itself. */
static bool fit_shared(const kfi_merge_track *t, const kfi_seen seen[3], kf_curve fitted[3])
{
    bool same, done = false, lines = t->input->capabilities->components_together && t->original->curves > 1, own = false;
    kfi_shared_samples from = samples_of(t, seen, &same);
    for (unsigned c = 0; c < from.curves && lines; c++)
        own = own || !just_values(&t->original->curve[c], &fitted[c]);
    if (!same || (own && !kfi_fit_shared_values(t->job, &from, fitted, &done)))
        return !same;
    for (unsigned c = 0; c < from.curves; c++)
        for (size_t i = 0; i + 1 < from.original[c]->count; i++)
            lines = lines && from.original[c]->keys[i].interp != KF_TCB;
    bool bent = drawn(&fitted[0]) || drawn(&fitted[1]) || drawn(&fitted[2]);
    if (lines && bent && !done)
        return kfi_fit_lines_or_tcb(t->job, &from, fitted);
    for (unsigned c = 0; c < from.curves && own && !done; c++) { /* keys for all will be put in, and be off by as much again */
        kfi_fit_options options = options_for(t, c, &seen[c]);
        options.tolerance *= 0.5;
        if (fitted[c].count && !kfi_fit(t->job, from.times, from.values[c], from.count, &options, &fitted[c]))
            return false;
    }
    return true;
}

/* Whether a curve that nobody edited is told in pieces where others of the same keys were: by handles there is no ease. */
static bool takes_pieces(const kfi_merge_track *t, unsigned c)
{
    bool eased = false;
    for (size_t i = 0; i + 1 < t->original->curve[c].count && !eased; i++)
        eased = kfi_segment_eased(&t->original->curve[c], i);
    return eased && kfi_share_tcb(t);
}

/* Misses of several angles add up, those of the first and the third the more, the nearer their axes are: each gets a share, so
 * that the orientation is off by no more than one may be. */
static void share_tolerance(const kfi_merge_track *t, kfi_seen keys[3])
{
    int second = kfi_second_axis(t->order);
    const kfi_seen *middle = &keys[second];
    double edited[3], cosine = 0;
    if (t->original->channel != KF_ROTATION || t->original->curves != 3)
        return;
    for (int c = 0; c < 3; c++)
        edited[c] = keys[c].edits > 0 || takes_pieces(t, (unsigned)c);
    for (size_t i = 0; i < middle->count; i++)
        cosine = fmax(cosine, fabs(kfi_euler_cosine(t->order, middle->value[i])));
    double sum = edited[0] + edited[1] + edited[2] + 2 * cosine * edited[(second + 1) % 3] * edited[(second + 2) % 3];
    for (int c = 0; c < 3; c++)
        keys[c].tolerance /= sqrt(fmax(sum, 1));
}

bool kfi_merge_baked(kfi_merge_track *t)
{
    kfi_seen keys[3];
    kf_curve fitted[3] = {{0}};
    bool own[3] = {false}, shorter = false, done = false;
    size_t pieces = 0;
    for (unsigned c = 0; c < t->original->curves; c++)
        if (!kfi_see_all(t, c, &keys[c]))
            return false;
    share_tolerance(t, keys);
    for (unsigned c = 0; c < t->original->curves; c++) {
        const kf_curve left = cut_off(t, t->original->curve[c]);
        kfi_fit_options options = options_for(t, c, &keys[c]);
        options.original = &left;
        shorter = shorter || left.count < t->original->curve[c].count;
        if (keys[c].edits == 0 && left.count == t->original->curve[c].count)
            continue;
        if (!kfi_fit(t->job, keys[c].times, keys[c].value, keys[c].count, &options, &fitted[c]))
            return false;
        own[c] = has_own_numbers(t, &fitted[c]);
    }
    bool any = own[0] || own[1] || own[2], handles = t->input->capabilities->interps >> KF_BEZIER & 1;
    if (!handles) {
        if (!shorter && !fit_shared(t, keys, fitted))
            return false;
        own[0] = own[1] = own[2] = false;
    } else if (!shorter && (any || (kfi_share_tcb(t) && apart(t, fitted))) &&
               !kfi_merge_together(t, keys, fitted, &done, &pieces)) {
        return false;
    }
    if (handles && !shorter && !any && !done && !fit_parted(t, keys, fitted))
        return false;
    for (unsigned c = 0; c < t->original->curves; c++)
        if ((own[c] && !done && !fit_by_handles(t, c, &keys[c], options_for(t, c, &keys[c]), &fitted[c])) ||
            !kfi_take_fitted(t, c, &fitted[c]))
            return false;
    return kfi_tell_pieces(t, pieces);
}
