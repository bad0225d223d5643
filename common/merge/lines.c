/* A bake of keys without numbers, in a format whose components share keys and have no handles: lines, or keys with numbers.
 *
 * What each component is fitted with for itself is nothing that such a key could hold. So both are tried: lines as few as there
 * may be, which are never more than the samples, and TCB keys for all components at once, a record of which is twice as large. */
#include "fit/shared.h"
#include "internal.h"

#include <math.h>

static bool has_cubics(const kf_curve *curve)
{
    for (size_t i = 0; i + 1 < curve->count; i++)
        if (curve->keys[i].interp == KF_HERMITE || curve->keys[i].interp == KF_TCB)
            return true;
    return false;
}

/* Whether keys came in, or all that the edit does is to move those that there were. */
static bool has_new(const kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->origin[i].key == KF_NEW)
            return true;
    return false;
}

/* The times of all components' keys, ascending. */
static size_t count_times(const kf_curve *const from[3], unsigned curves)
{
    size_t at[3] = {0}, count = 0;
    for (;; count++) {
        double least = INFINITY;
        for (unsigned c = 0; c < curves; c++)
            if (at[c] < from[c]->count)
                least = fmin(least, from[c]->keys[at[c]].time);
        if (least == INFINITY)
            return count;
        for (unsigned c = 0; c < curves; c++)
            while (at[c] < from[c]->count && from[c]->keys[at[c]].time <= least + 1e-9)
                at[c]++;
    }
}

/* The same keys with the numbers that make them play as they do: corners between lines, and none where the format derives the
 * slopes from the neighbours, which is another rule at the ends only. */
static bool as_tcb(kf_job *job, const kf_curve *from, kf_curve *to)
{
    *to = (kf_curve){.tcb_rule = KF_TCB_KOCHANEK, .pre = from->pre, .post = from->post};
    if (!kfi_make_keys(job, to, from->count, KFI_NUMBERS))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        bool line = from->keys[i].interp == KF_LINEAR || (i > 0 && from->keys[i - 1].interp == KF_LINEAR);
        to->keys[i] = (kf_key){.time = from->keys[i].time, .value = from->keys[i].value, .interp = KF_TCB};
        to->tcb[i] = (kf_tcb){.continuity = line ? -1.0f : 0.0f};
    }
    return true;
}

/* Between samples, too, those numbers may say something else at the ends: then what is there is not known. */
static bool between_as(const kfi_merge_track *t, const kfi_seen *seen, const kf_curve *tcb, const double **between)
{
    double *known = kfi_alloc_raw(t->job, seen->count, sizeof *known);
    if (!known)
        return false;
    for (size_t i = 0; i < seen->count; i++) {
        double own = i + 1 < seen->count ? kfi_curve_value(tcb, 0.5 * (seen->times[i] + seen->times[i + 1]), 0.0) : NAN;
        known[i] = fabs(own - seen->between[i]) <= 0.05 * seen->tolerance ? seen->between[i] : NAN;
    }
    *between = known;
    return true;
}

static bool fit_tcb(const kfi_merge_track *t, const kfi_seen seen[3], kf_curve fitted[3], bool *done)
{
    kf_curve tcb[3];
    kfi_shared_samples from = {.curves = t->original->curves, .times = seen[0].times, .count = seen[0].count};
    *done = false;
    for (unsigned c = 0; c < from.curves; c++) {
        if (seen[c].count != from.count || t->original->curve[c].count < 2)
            return true;
        if (!as_tcb(t->job, &t->original->curve[c], &tcb[c]) || !between_as(t, &seen[c], &tcb[c], &from.between[c]))
            return false;
        from.original[c] = &tcb[c];
        from.values[c] = seen[c].value;
        from.tolerance[c] = seen[c].tolerance;
    }
    if (!kfi_fit_shared_values(t->job, &from, fitted, done))
        return false;
    for (unsigned c = 0; c < from.curves && *done; c++) {
        kf_origin *origin = (kf_origin *)fitted[c].origin; /* just made */
        for (size_t i = 0; i < fitted[c].count; i++)
            origin[i].changed |= KF_CHANGED_INTERP | KF_CHANGED_TCB;
    }
    return true;
}

bool kfi_lines_or_tcb(const kfi_merge_track *t, const kfi_seen seen[3], kf_curve fitted[3])
{
    unsigned curves = t->original->curves;
    kf_curve lines[3] = {{0}}, tcb[3] = {{0}};
    const kf_curve *all[3] = {NULL, NULL, NULL};
    bool bent = false, done;
    for (unsigned c = 0; c < curves; c++) {
        const kf_curve *from = &t->original->curve[c];
        for (size_t i = 0; i + 1 < from->count; i++)
            if (from->keys[i].interp == KF_TCB)
                return true;
        bent = bent || (has_cubics(&fitted[c]) && has_new(&fitted[c]));
    }
    if (!bent)
        return true;
    for (unsigned c = 0; c < curves; c++) {
        const kf_curve *from = &t->original->curve[c];
        all[c] = from;
        if (fitted[c].count == 0 && !has_cubics(from))
            continue;
        kfi_fit_options options = {.interps = 1u << KF_LINEAR, .tolerance = seen[c].tolerance, .original = from};
        if (!kfi_fit(t->job, seen[c].times, seen[c].value, seen[c].count, &options, &lines[c]))
            return false;
        all[c] = &lines[c];
    }
    if (!fit_tcb(t, seen, tcb, &done))
        return false;
    done = done && 2 * tcb[0].count <= count_times(all, curves);
    for (unsigned c = 0; c < curves; c++)
        fitted[c] = done ? tcb[c] : lines[c];
    return true;
}
