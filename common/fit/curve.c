/* A curve told in other kinds of keys: sampled, then fitted with itself as the original, so that segments
 * whose kind may stay, stay. */
#include "internal.h"

#include <string.h>

/* A Bezier segment may turn sharply anywhere; a long curve's has fewer samples, for the sake of time. Samples are many bytes a
 * key: a long curve is sampled and fitted stretch by stretch. */
enum { PER_SEGMENT = 48, PER_BEZIER = 128, LONG = 256, STRETCH = 512 };

/* How far into a segment a share of its way is: evenly in time, but a Bezier curve is steep where time runs slowly. */
static double time_at(const kfi_segment *s, double u)
{
    double length = s->t1 - s->t0;
    if (s->shape != KFI_BEZIER)
        return length * u;
    return 3.0 * (1.0 - u) * u * ((1.0 - u) * s->h0.dt + u * (length + s->h1.dt)) + u * u * u * length;
}

/* Samples of a segment but for its end. A hold ends in a sample just before the jump. */
static size_t sample_segment(const kfi_segment *segment, int per_bezier, double *times, double *values)
{
    double length = segment->t1 - segment->t0;
    if (!(length > 0.0))
        return 0;
    if (segment->shape == KFI_HOLD || segment->shape == KFI_HOLD_NEXT) {
        /* The jump lies between two samples; the rest of them keep cubic pieces from swinging out of the hold. */
        double aside = fmin(length / 16.0, 1e-3), step = (length - aside) / (PER_SEGMENT - 1);
        bool held = segment->shape == KFI_HOLD;
        for (int i = 0; i < PER_SEGMENT; i++) {
            times[i] = held ? segment->t0 + step * i : segment->t1 - step * (PER_SEGMENT - i);
            values[i] = held ? segment->v0 : segment->v1;
        }
        if (!held) {
            times[0] = segment->t0;
            values[0] = segment->v0;
        }
        return PER_SEGMENT;
    }
    int count = segment->shape == KFI_BEZIER ? per_bezier : PER_SEGMENT;
    for (int i = 0; i < count; i++)
        times[i] = segment->t0 + time_at(segment, (double)i / count);
    kfi_segment_values(segment, times, (size_t)count, values);
    return (size_t)count;
}

/* `times` and `values` have room for the samples. */
static bool fit_stretch(kf_job *job, const kf_curve *from, const kfi_fit_options *how, int per_bezier, double *times,
                        double *values, kf_curve *to)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < from->count; i++) {
        kfi_segment segment;
        kfi_curve_segment(from, i, &segment);
        count += sample_segment(&segment, per_bezier, times + count, values + count);
    }
    times[count] = from->keys[from->count - 1].time;
    values[count++] = from->keys[from->count - 1].value;
    kfi_fit_options options = *how;
    options.original = from;
    return kfi_fit(job, times, values, count, &options, to);
}

/* ---------------------------------------------------------------- stretch by stretch */

/* Whether the slopes at a key follow from its neighbours. */
static bool derived(const kf_key *key)
{
    return key->interp == KF_TCB || key->interp == KF_AUTO;
}

/* The key that a long curve's stretch ends with: one that stands for itself, so that neither side needs the other. */
static size_t end_of_stretch(const kf_curve *from, size_t first)
{
    size_t i = first + STRETCH;
    while (i + 1 < from->count &&
           (derived(&from->keys[i - 1]) || derived(&from->keys[i]) || !(from->keys[i - 1].time < from->keys[i].time) ||
            !(from->keys[i].time < from->keys[i + 1].time)))
        i++;
    return i + 1 < from->count ? i : from->count - 1;
}

/* Origins of the fit name keys of the stretch, which begins with key `first` of `from`; what those were named in their turn is
 * what counts. */
static kf_origin pass_on(const kf_curve *from, size_t first, kf_origin own)
{
    if (own.key == KF_NEW || !from->origin)
        return (kf_origin){KF_NEW, KF_CHANGED_ALL};
    const kf_origin *was = &from->origin[first + own.key];
    return (kf_origin){was->key, was->changed | own.changed};
}

typedef struct stretch {
    size_t first; /* its first key in the curve */
    kf_curve curve;
} stretch;

static bool join(kf_job *job, const kf_curve *from, const stretch *parts, size_t count, kf_curve *to)
{
    size_t total = 1;
    unsigned beside = 0;
    for (size_t i = 0; i < count; i++) {
        total += parts[i].curve.count - 1;
        beside |= kfi_parts(&parts[i].curve);
    }
    kf_curve result = parts[0].curve;
    kf_origin *origin = kfi_alloc(job, total, sizeof *origin);
    if (!origin || !kfi_make_keys(job, &result, total, beside))
        return false;
    size_t at = 0;
    for (size_t i = 0; i < count; i++, at--) { /* the last key of a stretch is the first of the next */
        const kf_curve *part = &parts[i].curve;
        for (size_t k = 0; k < part->count; k++, at++) {
            kf_handle in = kfi_handles_of(&result, at).in;
            kf_origin own = pass_on(from, parts[i].first, part->origin[k]);
            kfi_copy_keys(&result, at, part, k, 1);
            if (i > 0 && k == 0 && result.handles)
                result.handles[at].in = in;
            origin[at] = (kf_origin){own.key, origin[at].changed | own.changed};
        }
    }
    result.origin = origin;
    *to = result;
    return true;
}

static bool fit_stretches(kf_job *job, const kf_curve *from, const kfi_fit_options *how, stretch **parts, size_t *count)
{
    int per_bezier = from->count > LONG ? PER_SEGMENT : PER_BEZIER;
    size_t longest = 0;
    for (size_t first = 0, end; first + 1 < from->count; first = end) {
        end = end_of_stretch(from, first);
        longest = end - first > longest ? end - first : longest;
    }
    double *times = kfi_alloc_raw(job, longest * (size_t)per_bezier + 1, sizeof *times);
    double *values = kfi_alloc_raw(job, longest * (size_t)per_bezier + 1, sizeof *values);
    if (!times || !values)
        return false;
    for (size_t first = 0, end; first + 1 < from->count; first = end) {
        end = end_of_stretch(from, first);
        kf_curve part = *from;
        part.keys += first;
        part.handles = from->handles ? from->handles + first : NULL;
        part.tcb = from->tcb ? from->tcb + first : NULL;
        part.count = end - first + 1;
        stretch *fitted = kfi_push(job, parts, count, sizeof *fitted);
        if (!fitted)
            return false;
        fitted->first = first;
        if (!fit_stretch(job, &part, how, per_bezier, times, values, &fitted->curve))
            return false;
    }
    return true;
}

bool kfi_fit_curve(kf_job *job, const kf_curve *from, uint32_t interps, double tolerance, kf_curve *to)
{
    if (from->count < 2) {
        kf_curve same = *from;
        *to = same;
        return true;
    }
    kfi_fit_options how = {.interps = interps, .tolerance = tolerance};
    stretch *parts = NULL;
    size_t count = 0;
    kf_job aside = kfi_aside(job);
    bool fitted = fit_stretches(&aside, from, &how, &parts, &count) && join(job, from, parts, count, to);
    return kfi_aside_end(job, &aside) && fitted;
}
