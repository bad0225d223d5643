#include "fbx/lower_bake.h"

#include <math.h>

/* The programs keep these rates as they are; others get stretched or lose their last key. */
static const double RATES[] = {30, 60, 15, 24, 300};
enum { RATE_COUNT = sizeof RATES / sizeof RATES[0], MAX_FRAMES = 10000000 };

static double off_frame(double time, double rate)
{
    double frame = time * rate;
    return fabs(frame - nearbyint(frame)) / rate;
}

static void worst_off(const kf_take *take, double rate, double *worst)
{
    /* Times are counted from the take's first key, which a bake puts on a frame of its own. */
    double start = 0, end = 0;
    if (!kfi_take_range(take, &start, &end))
        return;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        for (size_t k = 0; track->quaternion && k < track->quat.count; k++)
            *worst = fmax(*worst, off_frame(track->quat.keys[k].time - start, rate));
        for (unsigned c = 0; c < track->curves; c++)
            for (size_t k = 0; k < track->curve[c].count; k++)
                *worst = fmax(*worst, off_frame(track->curve[c].keys[k].time - start, rate));
    }
}

double kfi_bake_rate(const kf_anim *anim, double *between)
{
    double best = 30, least = INFINITY;
    for (int pass = 0; pass < RATE_COUNT + 1; pass++) {
        double rate = pass == 0 ? anim->frame_rate : RATES[pass - 1];
        bool known = false;
        for (int i = 0; i < RATE_COUNT; i++)
            known = known || rate == RATES[i];
        if (!known)
            continue;
        double worst = 0;
        for (size_t i = 0; i < anim->take_count; i++)
            worst_off(&anim->takes[i], rate, &worst);
        if (worst < 2e-6) { /* float32 times of a few seconds are this far off */
            *between = 0;
            return rate;
        }
        if (worst < least) {
            least = worst;
            best = rate;
        }
    }
    *between = least;
    return best;
}

double kfi_bake_start(const kf_take *take)
{
    double first = take->start, last;
    return kfi_take_range(take, &first, &last) ? fmin(take->start, first) : take->start;
}

bool kfi_bake_frames(kf_job *job, const kf_take *take, double rate, kfi_bake *bake)
{
    double start = kfi_bake_start(take), end = take->end, first, last;
    if (kfi_take_range(take, &first, &last))
        end = fmax(end, last);
    /* Frame 0 on the first key, so that keys a hair off zero still lie on frames. */
    double count = ceil((end - start) * rate - 1e-4) + 1;
    if (!(count <= MAX_FRAMES))
        return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "take \"%.60s\" lasts %g seconds: too long to bake at %g frames a second", take->name,
                        end - start, rate);
    bake->rate = rate;
    bake->start = start;
    bake->frames = count < 1 ? 1 : (size_t)count;
    bake->shift = -start;
    bake->times = kfi_alloc_raw(job, bake->frames, sizeof *bake->times);
    if (!bake->times)
        return false;
    for (size_t i = 0; i < bake->frames; i++)
        bake->times[i] = start + (double)i / rate;
    return true;
}

/* Empty linear keys on every frame. A frame stands for the native key within a quarter of it; the others are helpers
 * of the native key before them. */
static bool make_keys(kf_job *job, const kfi_bake *bake, const double *native, size_t count, kf_curve *to)
{
    *to = (kf_curve){0};
    kf_origin *origin = kfi_alloc(job, bake->frames, sizeof *origin);
    if (!origin || !kfi_make_keys(job, to, bake->frames, 0))
        return false;
    to->origin = origin;
    double near = 0.25 / bake->rate;
    size_t key = 0;
    for (size_t i = 0; i < bake->frames; i++) {
        while (key + 1 < count && native[key + 1] <= bake->times[i] + near)
            key++;
        to->keys[i].time = (double)i / bake->rate;
        to->keys[i].interp = KF_LINEAR;
        to->keys[i].flags = count > 0 && fabs(native[key] - bake->times[i]) <= near ? 0 : KF_KEY_HELPER;
        origin[i].key = (uint32_t)key;
    }
    return true;
}

/* When each frame looks at the curve: at its own time, or at that of the native key that stands on it. Games keep times
 * as 32-bit floats, so a step may come a hair after its frame, and would show a whole frame late. */
static double *look_times(kf_job *job, const kfi_bake *bake, const double *native, size_t count)
{
    double *times = kfi_alloc_raw(job, bake->frames, sizeof *times);
    double near = 1e-3 / bake->rate;
    size_t key = 0;
    for (size_t i = 0; times && i < bake->frames; i++) {
        while (key + 1 < count && native[key + 1] <= bake->times[i] + near)
            key++;
        times[i] = count > 0 && fabs(native[key] - bake->times[i]) <= near ? native[key] : bake->times[i];
    }
    return times;
}

bool kfi_bake_curve(kf_job *job, const kfi_bake *bake, const kf_curve *from, double rest, kf_curve *to)
{
    double *native = kfi_alloc_raw(job, from->count, sizeof *native);
    double *values = kfi_alloc_raw(job, bake->frames, sizeof *values);
    if (!native || !values)
        return false;
    for (size_t i = 0; i < from->count; i++)
        native[i] = from->keys[i].time;
    if (!make_keys(job, bake, native, from->count, to))
        return false;
    const double *times = look_times(job, bake, native, from->count);
    if (!times)
        return false;
    kfi_curve_values(from, times, bake->frames, rest, values);
    for (size_t i = 0; i < bake->frames; i++)
        to->keys[i].value = values[i];
    return true;
}

bool kfi_bake_quat_curve(kf_job *job, const kfi_bake *bake, const kf_quat_curve *from, kf_rotation_order order,
                         kf_curve to[3])
{
    double *native = kfi_alloc_raw(job, from->count, sizeof *native);
    double(*q)[4] = kfi_alloc_raw(job, bake->frames, sizeof *q);
    if (!native || !q)
        return false;
    for (size_t i = 0; i < from->count; i++)
        native[i] = from->keys[i].time;
    for (int c = 0; c < 3; c++)
        if (!make_keys(job, bake, native, from->count, &to[c]))
            return false;
    const double *times = look_times(job, bake, native, from->count);
    if (!times)
        return false;
    kfi_quat_curve_values(from, times, bake->frames, q);
    double euler[3] = {0, 0, 0};
    for (size_t i = 0; i < bake->frames; i++) {
        kfi_quat_to_euler(q[i], order, euler, euler);
        for (int c = 0; c < 3; c++)
            to[c].keys[i].value = euler[c];
    }
    return true;
}
