#include "curve_frames.h"

#include <math.h>

double kfi_frame_time(const kfi_frames *frames, size_t frame)
{
    return frames->start + (double)frame / frames->rate;
}

double kfi_frames_between(double from, double to, double rate)
{
    return nearbyint((to - from) * rate);
}

double kfi_frames_spanned(const kf_take *take, double rate)
{
    const double near = 1e-6; /* which a half may be off in doubles */
    return floor((take->end - take->start) * rate + 0.5 + near) + 1;
}

bool kfi_take_frames(kf_job *job, const kf_take *take, double rate, size_t most, kfi_frames *frames)
{
    double count = kfi_frames_spanned(take, rate);
    if (!(count <= (double)most))
        return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "take \"%.60s\": %.0f frames are more than the %zu that fit", take->name, count,
                        most);
    *frames = (kfi_frames){take->start, rate, count > 0 ? (size_t)count : 0};
    return true;
}

double kfi_walk_value(kfi_walk *walk, const kfi_frames *frames, size_t frame, ptrdiff_t *key)
{
    const kf_curve *curve = walk->curve;
    double time = kfi_frame_time(frames, frame);
    double near = 1e-3 / frames->rate;
    while (walk->next < curve->count && curve->keys[walk->next].time <= time + near)
        walk->next++;
    *key = KFI_NO_KEY;
    double least = INFINITY;
    for (size_t i = walk->next; i > 0 && curve->keys[i - 1].time >= time - near; i--)
        if (fabs(curve->keys[i - 1].time - time) < least) {
            least = fabs(curve->keys[i - 1].time - time);
            *key = (ptrdiff_t)i - 1;
        }
    return *key != KFI_NO_KEY ? curve->keys[*key].value : kfi_curve_value(curve, time, walk->rest);
}

bool kfi_rotation_frames(kf_job *job, const kf_track *track, kf_rotation_order from, kf_rotation_order to,
                         const kfi_frames *frames, kf_curve out[3])
{
    kfi_walk walks[3] = {{0}};
    double degrees[3] = {0, 0, 0};
    for (unsigned c = 0; c < 3; c++) {
        out[c] = (kf_curve){0};
        if (!kfi_make_keys(job, &out[c], frames->count, 0))
            return false;
        walks[c] = (kfi_walk){&track->curve[c], track->rest[c], 0};
    }
    for (size_t i = 0; i < frames->count; i++) {
        double q[4], time = kfi_frame_time(frames, i);
        ptrdiff_t key;
        if (track->quaternion) {
            kfi_quat_curve_value(&track->quat, time, q);
        } else {
            double euler[3];
            for (unsigned c = 0; c < 3; c++)
                euler[c] = kfi_walk_value(&walks[c], frames, i, &key);
            kfi_quat_from_euler(euler, from, q);
        }
        double before[3] = {degrees[0], degrees[1], degrees[2]};
        kfi_quat_to_euler(q, to, before, degrees);
        for (unsigned c = 0; c < 3; c++) {
            out[c].keys[i].time = time;
            out[c].keys[i].value = degrees[c];
            out[c].keys[i].interp = KF_LINEAR;
        }
    }
    return true;
}
