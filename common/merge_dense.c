/* Curves that came back as plain samples, or with a helper key moved: fitted with the format's keys, the original's
 * first.
 *
 * What was written need not be what the game plays (FBX's TCB rule, no ease), so where the samples are still those that
 * were written, the original itself is what is fitted: then its own keys are found again, to the byte. */
#include "fit.h"
#include "merge_internal.h"

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
        if (least == INFINITY)
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

/* Between the keys of a curve that is more than its samples, more of it is looked at. */
enum { LOOKS = 8 };

static size_t look_closer(double *times, double *looks, bool *keyed, size_t count)
{
    size_t total = count > 1 ? (count - 1) * LOOKS + 1 : count;
    for (size_t i = count; count > 1 && i-- > 0;) {
        double time = times[i], look = looks[i];
        bool key = keyed[i];
        size_t to = i * LOOKS;
        for (size_t k = 1; i + 1 < count && k < LOOKS; k++) {
            double share = (double)k / LOOKS;
            times[to + k] = time + share * (times[to + LOOKS] - time);
            looks[to + k] = look + share * (looks[to + LOOKS] - look);
            keyed[to + k] = true; /* tangents tell what is there */
        }
        times[to] = time;
        looks[to] = look;
        keyed[to] = key;
    }
    return total;
}

static bool same_all(const kfi_merge_track *t, const double *was, const double *now, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!kfi_same_value(t->limits, t->written->channel, was[i], now[i]))
            return false;
    return true;
}

bool kfi_merge_dense(kfi_merge_track *t, unsigned c)
{
    const kf_curve *from = &t->original->curve[c], *w = &t->written->curve[c], *e = &t->edited->curve[c];
    bool samples = kfi_came_back_baked(t->input, t->written, t->edited);
    const kf_curve none = {0}, *const all[3] = {from, e, samples ? w : &none};
    size_t most = (from->count + e->count) * (samples ? 1 : LOOKS) + all[2]->count;
    double *times = kfi_alloc_raw(t->job, most + 1, sizeof *times);
    double *looks = kfi_alloc_raw(t->job, most + 1, sizeof *looks);
    bool *keyed = kfi_alloc(t->job, most + 1, sizeof *keyed);
    if (!times || !looks || !keyed)
        return false;
    size_t count = all_times(t, all, times, looks, keyed);
    if (!samples)
        count = look_closer(times, looks, keyed, count);
    double *was = kfi_alloc_raw(t->job, count, sizeof *was), *now = kfi_alloc_raw(t->job, count, sizeof *now);
    double *own = kfi_alloc_raw(t->job, count, sizeof *own), *moved = kfi_alloc_raw(t->job, count, sizeof *moved);
    if (!was || !now || !own || !moved)
        return false;
    kfi_curve_values(from, times, count, t->original->rest[c], own);
    for (size_t i = 0; i < count; i++)
        moved[i] = looks[i] - t->offset;
    kfi_curve_values(w, moved, count, t->written->rest[c], was);
    kfi_curve_values(e, looks, count, t->edited->rest[c], now);

    size_t edits = 0, used = 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        bool same = same_all(t, &was[i], &now[i], 1);
        /* Between the keys of a curve that was thinned out, it lies within the program's own bound. */
        if (!same && !keyed[i] && !t->limits->exact)
            same = fabs(was[i] - now[i]) <= kfi_thinning(was[i], now[i]);
        edits += !same;
        times[used] = times[i];
        now[used] = same ? own[i] : now[i];
        low = fmin(low, now[used]);
        high = fmax(high, now[used]);
        used++;
    }
    count = used;
    if (edits == 0) { /* others may have changed in the same keys: its own keep their bytes */
        kf_origin *origin;
        return kfi_merge_copy_curve(t->job, from, &t->merged->curve[c], &origin);
    }

    kfi_fit_options options = {.interps = t->input->capabilities->interps, .original = from};
    options.tolerance = t->input->tolerance > 0                  ? t->input->tolerance
                        : t->original->channel == KF_ROTATION ? 0.01
                                                              : 1e-4 * fmax(high - low, 1.0);
    kf_curve fitted = {0};
    if (!kfi_fit(t->job, times, now, count, &options, &fitted))
        return false;
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
