/* What is known of a curve that came back as samples, or with helper keys: when, and what it is there. */
#include "internal.h"
#include "tolerance.h"

#include <math.h>

/* When to look, ascending, on the original's axis: the original's keys, those that came back, and where a program has
 * thinned these out, or has none any more, those that were written, or a fit could do anything between them. And what came back is looked at
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
        bool outside = at[1] == 0 || at[1] == from[1]->count; /* there what came back stands still, whatever was written */
        if (!here && next[0] > least + 1e-4 && !outside && !kfi_thinned_before(t->input, from[1], at[1])) {
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

bool kfi_make_seen(kf_job *job, kfi_seen *s, size_t most)
{
    *s = (kfi_seen){.times = kfi_alloc_raw(job, most, sizeof *s->times), .looks = kfi_alloc_raw(job, most, sizeof *s->looks)};
    s->keyed = kfi_alloc(job, most, sizeof *s->keyed);
    s->value = kfi_alloc_raw(job, most, sizeof *s->value);
    s->edited = kfi_alloc(job, most, sizeof *s->edited);
    return s->times && s->looks && s->keyed && s->value && s->edited;
}

void kfi_see(const kfi_merge_track *t, unsigned c, kfi_seen *s)
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

/* Between two samples that are as they were written, the original is what it was. */
static bool see_between(const kfi_merge_track *t, unsigned c, kfi_seen *s)
{
    double *middle = kfi_alloc_raw(t->job, s->count, sizeof *middle);
    s->between = kfi_alloc_raw(t->job, s->count, sizeof *s->between);
    s->baked = true;
    if (!middle || !s->between)
        return false;
    for (size_t i = 0; i + 1 < s->count; i++)
        middle[i] = 0.5 * (s->times[i] + s->times[i + 1]);
    kfi_curve_values(&t->original->curve[c], middle, s->count - 1, t->original->rest[c], s->between);
    for (size_t i = 0; i < s->count; i++)
        if (i + 1 == s->count || s->edited[i] || s->edited[i + 1])
            s->between[i] = NAN;
    return true;
}

/* How many times to look at between a sample that came back and the one before, which the program thought enough; behind the
 * last written key, where that does not say when. */
static size_t looks_before(const kfi_merge_track *t, const kf_curve *w, const kf_curve *e, size_t i)
{
    const double enough = 8;
    double last = w->count ? w->keys[w->count - 1].time + t->offset : -INFINITY, start = e->keys[i - 1].time;
    double frames = nearbyint((e->keys[i].time - start) * t->input->edited->frame_rate);
    return start >= last - t->limits->time ? (size_t)fmax(0, fmin(frames - 1, enough)) : 0;
}

/* When a bake was looked at: the written keys, and those times. */
static bool written_times(const kfi_merge_track *t, const kf_curve *w, const kf_curve *e, kf_curve *times)
{
    size_t count = w->count, more = 0;
    for (size_t i = 1; i < e->count; i++)
        more += looks_before(t, w, e, i);
    *times = *w;
    if (more == 0)
        return true;
    *times = (kf_curve){0};
    if (!kfi_make_keys(t->job, times, count + more, 0))
        return false;
    for (size_t i = 0; i < w->count; i++)
        times->keys[i] = w->keys[i];
    for (size_t i = 1; i < e->count; i++) {
        double start = e->keys[i - 1].time - t->offset, gap = e->keys[i].time - e->keys[i - 1].time;
        size_t looks = looks_before(t, w, e, i);
        for (size_t k = 1; k <= looks; k++)
            times->keys[count++].time = start + gap * (double)k / (double)(looks + 1);
    }
    return true;
}

bool kfi_see_all(const kfi_merge_track *t, unsigned c, kfi_seen *s)
{
    const kf_curve *from = &t->original->curve[c], *w = &t->written->curve[c], *e = &t->edited->curve[c];
    kf_curve times = {0};
    bool baked = kfi_came_back_baked(t->input, t->written, t->edited);
    const kf_curve *const all[3] = {from, e, &times};
    if (baked && !written_times(t, w, e, &times))
        return false;
    if (!kfi_make_seen(t->job, s, from->count + e->count + all[2]->count + 1))
        return false;
    s->count = all_times(t, all, s->times, s->looks, s->keyed);
    kfi_see(t, c, s);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        low = fmin(low, s->value[i]);
        high = fmax(high, s->value[i]);
    }
    s->tolerance = t->original->channel == KF_ROTATION ? kfi_tolerated_angle(t->input->tolerance)
                                                       : kfi_tolerated_range(t->input->tolerance, low, high);
    return !baked || s->count == 0 || see_between(t, c, s);
}
