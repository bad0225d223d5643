/* Samples of components that share keys and have no handles: lines, or keys with numbers.
 *
 * What each component is fitted with for itself is nothing that such a key could hold. So both are tried: lines as few as there
 * may be, which are never more than the samples, and TCB keys for all components at once, a record of which is twice as large. */
#include "shared.h"

#include <math.h>

/* How many keys there are once all components have them at the same times. */
static size_t count_times(const kf_curve curves[3], unsigned count)
{
    size_t at[3] = {0}, times = 0;
    for (;; times++) {
        double least = INFINITY;
        for (unsigned c = 0; c < count; c++)
            if (at[c] < curves[c].count)
                least = fmin(least, curves[c].keys[at[c]].time);
        if (least == INFINITY)
            return times;
        for (unsigned c = 0; c < count; c++)
            while (at[c] < curves[c].count && curves[c].keys[at[c]].time <= least + 1e-9)
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

/* Where there is no original: a key at each end. */
static bool two_keys(kf_job *job, const kfi_shared_samples *from, unsigned c, kf_curve *to)
{
    *to = (kf_curve){.tcb_rule = KF_TCB_KOCHANEK};
    if (!kfi_make_keys(job, to, 2, KFI_NUMBERS))
        return false;
    for (size_t i = 0; i < 2; i++) {
        size_t sample = i ? from->count - 1 : 0;
        to->keys[i] = (kf_key){.time = from->times[sample], .value = from->values[c][sample], .interp = KF_TCB};
    }
    return true;
}

/* Between samples, too, those numbers may say something else at the ends: then what is there is not known. */
static bool between_as(kf_job *job, const kfi_shared_samples *from, unsigned c, const kf_curve *tcb, const double **between)
{
    const double *was = from->between[c];
    double *known = kfi_alloc_raw(job, from->count, sizeof *known);
    if (!known)
        return false;
    for (size_t i = 0; i < from->count; i++) {
        bool ask = was && i + 1 < from->count;
        double own = ask ? kfi_curve_value(tcb, 0.5 * (from->times[i] + from->times[i + 1]), 0.0) : NAN;
        known[i] = ask && fabs(own - was[i]) <= 0.05 * from->tolerance[c] ? was[i] : NAN;
    }
    *between = known;
    return true;
}

static bool fit_tcb(kf_job *job, const kfi_shared_samples *samples, kf_curve fitted[3], bool *done)
{
    kf_curve tcb[3];
    kfi_shared_samples from = *samples;
    *done = false;
    for (unsigned c = 0; c < from.curves; c++) {
        const kf_curve *original = samples->original[c];
        if (original ? !as_tcb(job, original, &tcb[c]) : !two_keys(job, samples, c, &tcb[c]))
            return false;
        if (!between_as(job, samples, c, &tcb[c], &from.between[c]))
            return false;
        from.original[c] = &tcb[c];
    }
    if (!kfi_fit_shared_values(job, &from, fitted, done))
        return false;
    for (unsigned c = 0; c < from.curves && *done; c++) {
        kf_origin *origin = (kf_origin *)fitted[c].origin; /* just made */
        for (size_t i = 0; i < fitted[c].count; i++)
            origin[i] = samples->original[c] ? (kf_origin){origin[i].key, origin[i].changed | KF_CHANGED_INTERP | KF_CHANGED_TCB}
                                             : (kf_origin){KF_NEW, KF_CHANGED_ALL};
    }
    return true;
}

bool kfi_fit_lines_or_tcb(kf_job *job, const kfi_shared_samples *from, kf_curve fitted[3])
{
    kf_curve lines[3] = {{0}}, tcb[3] = {{0}};
    bool done;
    for (unsigned c = 0; c < from->curves; c++) {
        kfi_fit_options options = {.interps = 1u << KF_LINEAR, .tolerance = from->tolerance[c], .original = from->original[c],
                                   .between = from->between[c]};
        if (!kfi_fit(job, from->times, from->values[c], from->count, &options, &lines[c]))
            return false;
    }
    /* The search for TCB keys takes a millisecond or two a sample: where there are very many, lines will do. */
    enum { MOST_SOUGHT = 768 };
    done = false;
    if (from->count <= MOST_SOUGHT && !fit_tcb(job, from, tcb, &done))
        return false;
    done = done && 2 * tcb[0].count <= count_times(lines, from->curves);
    for (unsigned c = 0; c < from->curves; c++)
        fitted[c] = done ? tcb[c] : lines[c];
    return true;
}
