/* What a value a frame leaves out of new tracks, told once a take. */
#include "conform_internal.h"

#include "curve.h"

#include <math.h>

/* The last key, or else the first, that lies outside of the take's frames and is no more of what is held at their ends. */
static const kf_key *moves_outside(const kfi_conforming *c, kf_channel channel, const kf_curve *curve, double rest)
{
    double half = 0.5 / c->rate, tolerance = kfi_tolerated(c->tolerance, channel, curve);
    double end = kfi_curve_value(curve, c->take->end, rest), start = kfi_curve_value(curve, c->take->start, rest);
    for (size_t i = curve->count; i-- > 0 && curve->keys[i].time > c->take->end + half;)
        if (fabs(curve->keys[i].value - end) > tolerance)
            return &curve->keys[i];
    for (size_t i = 0; i < curve->count && curve->keys[i].time < c->take->start - half; i++)
        if (fabs(curve->keys[i].value - start) > tolerance)
            return &curve->keys[i];
    return NULL;
}

bool kfi_tell_outside(const kfi_conforming *c)
{
    size_t count = 0;
    const kf_track *track_of_first = NULL;
    const kf_key *first = NULL;
    for (size_t i = 0; i < c->take->track_count; i++) {
        const kf_track *track = &c->take->tracks[i];
        if (track->state != KF_TRACK_NEW || !(c->can->channels >> track->channel & 1))
            continue;
        for (unsigned a = 0; a < track->curves; a++) {
            const kf_key *key = moves_outside(c, (kf_channel)track->channel, &track->curve[a], track->rest[a]);
            count += key != NULL;
            if (key && !first) {
                first = key;
                track_of_first = track;
            }
        }
    }
    return !first || kfi_warn(c->job, "span", "take \"%.60s\" lasts from %.4f to %.4f s, and what moves outside of that is not "
                                              "written: %zu curves (first: node \"%.60s\", %s, its key at %.4f s); %s makes it longer",
                              c->take->name, c->take->start, c->take->end, count, c->from->nodes[track_of_first->node].name,
                              kfi_channel_name((kf_channel)track_of_first->channel), first->time,
                              c->take->source < 0 ? "a longer span" : "a later key of a node it had");
}

/* By how much a curve's keys move, if the format's numbers, so far apart, are the same for all of them; else 0. Less than 32 bits
 * tell of such values is no motion. */
static double lost_by_rounding(const kfi_conforming *c, kf_channel channel, const kf_curve *curve, double quantum)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < curve->count; i++) {
        low = fmin(low, curve->keys[i].value);
        high = fmax(high, curve->keys[i].value);
    }
    double least = fmax(kfi_tolerated(c->tolerance, channel, curve), 1e-5 * fmax(fabs(low), fabs(high)));
    return curve->count > 1 && high - low > least && nearbyint(low / quantum) == nearbyint(high / quantum) ? high - low : 0;
}

bool kfi_tell_rounded(const kfi_conforming *c)
{
    size_t count = 0;
    const kf_track *of_first = NULL;
    double first = 0;
    for (size_t i = 0; i < c->take->track_count; i++) {
        const kf_track *track = &c->take->tracks[i];
        double quantum = track->channel <= KF_SCALE ? c->can->quantum[track->channel] : 0;
        for (unsigned a = 0; track->state == KF_TRACK_NEW && quantum > 0 && a < track->curves; a++) {
            double by = lost_by_rounding(c, (kf_channel)track->channel, &track->curve[a], quantum);
            if (by == 0 || count++ > 0)
                continue;
            of_first = track;
            first = by;
        }
    }
    return !of_first || kfi_warn(c->job, "rounded", "take \"%.60s\": %zu curves move by less than the file can tell, and stand still in it "
                                                    "(first: node \"%.60s\", %s, by %.4g, where numbers are %.4g apart)",
                                 c->take->name, count, c->from->nodes[of_first->node].name,
                                 kfi_channel_name((kf_channel)of_first->channel), first, c->can->quantum[of_first->channel]);
}
