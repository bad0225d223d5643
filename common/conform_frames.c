/* A value a frame, for formats that store nothing else. */
#include "conform_internal.h"

#include "curve_frames.h"
#include "rotation.h"

#include <math.h>

static double all_frames(const kfi_conforming *c)
{
    return fmax(1, kfi_frames_spanned(c->take, c->rate));
}

static size_t frame_count(const kfi_conforming *c)
{
    return (size_t)fmin(all_frames(c), 1e7);
}

/* A curve's value on each of the frames: that of the key which stands there, if there is one, for FBX rounds times. */
static double *frame_values(const kfi_conforming *c, const kf_curve *curve, double rest, size_t first, size_t count)
{
    kfi_frames frames = {c->take->start, c->rate, first + count};
    kfi_walk walk = {curve, rest, 0};
    double *values = kfi_alloc_raw(c->job, count, sizeof *values);
    ptrdiff_t key;
    for (size_t i = 0; values && i < count; i++)
        values[i] = kfi_walk_value(&walk, &frames, first + i, &key);
    return values;
}

/* The frames that a curve's keys lie on or between, of all that the take has. */
static size_t own_frames(const kfi_conforming *c, const kf_curve *curve, size_t *first)
{
    double last = (double)(frame_count(c) - 1);
    double from = floor((curve->keys[0].time - c->take->start) * c->rate + 1e-6);
    double to = ceil((curve->keys[curve->count - 1].time - c->take->start) * c->rate - 1e-6);
    from = fmax(0, fmin(from, last));
    to = fmax(from, fmin(to, last));
    *first = (size_t)from;
    return (size_t)(to - from) + 1;
}

static bool sample_curve(const kfi_conforming *c, kf_channel channel, kf_curve *curve, double rest)
{
    size_t count = frame_count(c), used = 0, first = 0;
    /* There may be a shape for every frame, each with a weight of a few frames: not all frames for each. */
    if (channel == KF_MORPH && curve->count)
        count = own_frames(c, curve, &first);
    kf_curve to = {0};
    if (!kfi_make_keys(c->job, &to, count, 0))
        return false;
    kfi_mark mark = kfi_arena_mark(&c->job->arena);
    const double *values = frame_values(c, curve, rest, first, count);
    if (!values)
        return false;
    bool stepped = !kfi_can(c, KF_LINEAR);
    for (size_t i = 0; i < count; i++) {
        /* Held values need no key of their own. */
        if (stepped && used > 0 && values[i] == to.keys[used - 1].value)
            continue;
        to.keys[used++] = (kf_key){
            .time = (double)(first + i) / c->rate, .value = values[i], .interp = stepped ? KF_STEP : KF_LINEAR};
    }
    kfi_arena_release(&c->job->arena, mark);
    to.count = used;
    *curve = to;
    return true;
}

static bool sample_rotation(const kfi_conforming *c, kf_track *track)
{
    size_t count = frame_count(c);
    double *values[3];
    kf_quat_curve to = {0};
    if (!kfi_make_quat_keys(c->job, &to, count, false))
        return false;
    kfi_mark mark = kfi_arena_mark(&c->job->arena);
    for (unsigned a = 0; a < 3; a++)
        if (!(values[a] = frame_values(c, &track->curve[a], track->rest[a], 0, count)))
            return false;
    kf_rotation_order order = (kf_rotation_order)c->from->nodes[track->node].order;
    for (size_t i = 0; i < count; i++) {
        double euler[3] = {values[0][i], values[1][i], values[2][i]};
        kf_quat_key *key = &to.keys[i];
        key->time = (double)i / c->rate;
        key->interp = KF_LINEAR;
        kfi_quat_from_euler(euler, order, key->q);
        /* The same half of the sphere as the frame before. */
        const double *last = i ? to.keys[i - 1].q : key->q;
        double dot = key->q[0] * last[0] + key->q[1] * last[1] + key->q[2] * last[2] + key->q[3] * last[3];
        for (int k = 0; dot < 0 && k < 4; k++)
            key->q[k] = -key->q[k];
    }
    kfi_arena_release(&c->job->arena, mark);
    track->quat = to;
    track->quaternion = true;
    track->curves = 0;
    return true;
}

bool kfi_frames_fit(const kfi_conforming *c)
{
    const kfi_arena *arena = &c->job->arena;
    uint64_t left = arena->limit > arena->total ? arena->limit - arena->total : 0, frame = 0; /* bytes */
    for (size_t i = 0; i < c->take->track_count; i++) {
        const kf_track *track = &c->take->tracks[i];
        if (track->state == KF_TRACK_NEW && c->can->channels >> track->channel & 1 && track->channel != KF_MORPH)
            frame += track->channel == KF_ROTATION && c->can->quaternion ? sizeof(kf_quat_key)
                                                                         : track->curves * sizeof(kf_key);
    }
    /* As keys, and once more as what the exporter makes of them. */
    if (frame == 0 || frame_count(c) <= left / 2 / frame)
        return true;
    return kfi_fail(c->job, KF_MEMORY_LIMIT, KF_NO_OFFSET,
                    "take \"%.60s\" lasts %g s: %.0f frames at %g a second need more memory than the limit of %llu bytes "
                    "(raise it with --max-memory)",
                    c->take->name, c->take->end - c->take->start, all_frames(c), c->rate, (unsigned long long)arena->limit);
}

bool kfi_conform_frames(const kfi_conforming *c, kf_track *track)
{
    if (track->state != KF_TRACK_NEW)
        return true; /* on the format's frames already */
    if (track->quaternion && !kfi_euler_from_quat_curve(c->job, &track->quat, KF_XYZ, kfi_rotation_tolerance(c), track->curve))
        return false;
    if (track->channel == KF_ROTATION && c->can->quaternion)
        return sample_rotation(c, track);
    for (unsigned i = 0; i < track->curves; i++)
        if ((track->curve[i].count || track->channel <= KF_SCALE) &&
            !sample_curve(c, (kf_channel)track->channel, &track->curve[i], track->rest[i]))
            return false;
    return true;
}
