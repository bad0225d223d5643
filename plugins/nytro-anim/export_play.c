/* What the engine makes of a channel's keys, a few at a time, and how far that is from the motion wanted. */
#include "nytro.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 7, BESIDE = 2, AROUND = 2 * BESIDE + 2 };

kf_tcb kfi_nytro_numbers(const nytro_channel *channel, size_t i)
{
    /* Continuity -1 points both tangents along the chords: straight lines, and slerp for rotations. */
    static const kf_tcb corner = {.continuity = -1.0f}, smooth = {0};
    if (channel->count == 1 || channel->keys[i].solved)
        return channel->keys[i].tcb;
    uint8_t out = channel->keys[i + 1 == channel->count ? i - 1 : i].interp;
    uint8_t in = channel->keys[i > 0 ? i - 1 : i].interp;
    if (out == KF_TCB)
        return channel->keys[i].tcb;
    if (out == KF_LINEAR || in == KF_LINEAR)
        return corner;
    return in == KF_TCB ? channel->keys[i].tcb : smooth;
}

/* A segment with the keys about it that its shape depends on. */
typedef struct played {
    kf_key keys[3][AROUND];
    kf_handles handles[3][AROUND];
    kf_quat_key quats[AROUND];
    kf_tcb tcb[AROUND];
    kf_curve curve[3];
    kf_quat_curve quat;
} played;

static void play(const nytro_channel *channel, uint32_t kind, size_t i, played *to)
{
    size_t first = i > BESIDE ? i - BESIDE : 0;
    size_t count = channel->count - first < AROUND ? channel->count - first : AROUND;
    const nytro_key *from = &channel->keys[first];
    bool rotation = channel->channel == KFI_NYTRO_ROTATION, tcb = kind == KFI_NYTRO_TCB;
    bool derived = kind == KFI_NYTRO_BEZIER && !rotation;
    uint8_t interp = tcb ? KF_TCB : derived ? KF_HERMITE : KF_LINEAR;
    for (size_t k = 0; k < count && tcb; k++)
        to->tcb[k] = kfi_nytro_numbers(channel, first + k);
    if (rotation) {
        to->quat = (kf_quat_curve){.keys = to->quats, .count = count, .tcb = tcb ? to->tcb : NULL};
        for (size_t k = 0; k < count; k++) {
            to->quats[k] = (kf_quat_key){.time = from[k].time, .interp = interp};
            memcpy(to->quats[k].q, from[k].value, sizeof from[k].value);
        }
        return;
    }
    for (unsigned c = 0; c < 3; c++) {
        to->curve[c] = (kf_curve){.keys = to->keys[c],
                                  .count = count,
                                  .handles = derived ? to->handles[c] : NULL,
                                  .tcb = tcb ? to->tcb : NULL};
        for (size_t k = 0; k < count; k++)
            to->keys[c][k] = (kf_key){.time = from[k].time, .value = from[k].value[c], .interp = interp};
        if (derived)
            kfi_nytro_derive_handles(&to->curve[c]);
    }
}

void kfi_nytro_wanted(const nytro_channel *channel, unsigned c, const double *times, size_t count, double *values)
{
    static const kf_curve none = {0};
    const kf_track *track = channel->track;
    kfi_curve_values(c < track->curves ? &track->curve[c] : &none, times, count, track->rest[c], values);
}

double kfi_nytro_segment_error(const nytro_channel *channel, uint32_t kind, size_t i, const double tolerance[3],
                               double *much, double *when)
{
    double t0 = channel->keys[i].time, t1 = channel->keys[i + 1].time, worst = 0.0, times[SAMPLES];
    double is[SAMPLES], wanted[SAMPLES], is_turned[SAMPLES][4], turned[SAMPLES][4];
    bool rotation = channel->channel == KFI_NYTRO_ROTATION;
    if (!(t1 > t0))
        return 0.0;
    for (unsigned s = 0; s < SAMPLES; s++)
        times[s] = t0 + (t1 - t0) * (s + 1) / (SAMPLES + 1);
    played p;
    play(channel, kind, i, &p);
    if (rotation) {
        kfi_quat_curve_values(&p.quat, times, SAMPLES, is_turned);
        kfi_quat_curve_values(&channel->quat, times, SAMPLES, turned);
    }
    for (unsigned c = 0; c < (rotation ? 1u : 3u); c++) {
        if (!rotation) {
            kfi_curve_values(&p.curve[c], times, SAMPLES, 0.0, is);
            kfi_nytro_wanted(channel, c, times, SAMPLES, wanted);
        }
        for (unsigned s = 0; s < SAMPLES; s++) {
            double error = rotation ? kfi_quat_angle(is_turned[s], turned[s]) : fabs(is[s] - wanted[s]);
            if (error / tolerance[c] > worst) {
                worst = error / tolerance[c];
                *much = error;
                *when = times[s];
            }
        }
    }
    return worst;
}
