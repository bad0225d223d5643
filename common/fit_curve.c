/* A curve told in other kinds of keys: sampled, then fitted with itself as the original, so that segments
 * whose kind may stay, stay. */
#include "fit_internal.h"

#include <string.h>

/* A Bezier segment may turn sharply anywhere; of a long curve's, as many samples as memory has room for. */
enum { PER_SEGMENT = 48, PER_BEZIER = 128, LONG = 256 };

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

/* Origins of the fit name keys of `from`; what those were named in their turn is what counts. */
static void pass_on(const kf_origin *from, const kf_curve *curve, kf_origin *origin)
{
    for (size_t i = 0; i < curve->count; i++) {
        kf_origin own = curve->origin[i];
        if (own.key == KF_NEW || !from)
            origin[i] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
        else
            origin[i] = (kf_origin){from[own.key].key, from[own.key].changed | own.changed};
    }
}

/* The curve's samples, in memory of their own: they are much more than what comes of them. */
typedef struct sampled {
    kfi_arena arena;
    double *times, *values;
    size_t count;
} sampled;

static bool sample(kf_job *job, const kf_curve *from, sampled *to)
{
    int per_bezier = from->count > LONG ? PER_SEGMENT : PER_BEZIER;
    size_t most = (from->count - 1) * (size_t)per_bezier + 1;
    uint64_t left = job->arena.limit > job->arena.total ? job->arena.limit - job->arena.total : 0;
    *to = (sampled){.count = 0};
    kfi_arena_init(&to->arena, job->arena.allocator, left);
    to->arena.item_blocks = true;
    to->times = kfi_arena_alloc(&to->arena, most, sizeof *to->times);
    to->values = kfi_arena_alloc(&to->arena, most, sizeof *to->values);
    if (!to->times || !to->values)
        return kfi_no_memory(job, &to->arena);
    for (size_t i = 0; i + 1 < from->count; i++) {
        kfi_segment segment;
        kfi_curve_segment(from, i, &segment);
        to->count += sample_segment(&segment, per_bezier, to->times + to->count, to->values + to->count);
    }
    to->times[to->count] = from->keys[from->count - 1].time;
    to->values[to->count++] = from->keys[from->count - 1].value;
    return true;
}

bool kfi_fit_curve(kf_job *job, const kf_curve *from, uint32_t interps, double tolerance, kf_curve *to)
{
    if (from->count < 2) {
        kf_curve same = *from;
        *to = same;
        return true;
    }
    kfi_fit_options options = {.interps = interps, .tolerance = tolerance, .original = from};
    kf_curve result;
    sampled s;
    bool fitted = sample(job, from, &s) && kfi_fit(job, s.times, s.values, s.count, &options, &result);
    kfi_arena_free(&s.arena);
    kf_origin *origin = fitted ? kfi_alloc(job, result.count, sizeof *origin) : NULL;
    if (!origin)
        return false;
    pass_on(from->origin, &result, origin);
    result.origin = origin;
    *to = result;
    return true;
}
