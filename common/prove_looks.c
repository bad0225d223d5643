/* When an edited track is looked at, to see whether the game plays what came back. */
#include "prove_internal.h"

#include <math.h>

/* How long a jump may take; of what is played meanwhile nothing is asked. */
static const double JUMP = 1e-3;

/* When what came back jumps, in order. */
static size_t jump_times(const kf_track *back, double *at)
{
    size_t count = 0;
    for (unsigned c = 0; c < back->curves; c++)
        for (size_t i = 0; i + 1 < back->curve[c].count; i++) {
            const kf_key *key = &back->curve[c].keys[i];
            bool step = key->interp == KF_STEP || key->interp == KF_STEP_NEXT || key[1].time - key->time <= JUMP;
            if (step && key->value != key[1].value)
                at[count++] = key->interp == KF_STEP_NEXT ? key->time : key[1].time;
        }
    kfi_sort_numbers(at, count);
    return count;
}

static double last_key(const kf_track *track)
{
    double last = -INFINITY;
    for (unsigned c = 0; c < track->curves; c++)
        if (track->curve[c].count)
            last = fmax(last, track->curve[c].keys[track->curve[c].count - 1].time);
    return last;
}

static size_t add_time(double *at, double time, double after)
{
    *at = time;
    return time > after;
}

/* The keys of both, on the axis of what came back, and the end; the game's own wherever something may turn between those that came
 * back, in a format that has a value for each frame, and behind the last that came back, where it stands. With a value for each
 * frame all are on frames; `rate` is 0 in others. */
static size_t key_times(const kfi_wanted *w, const kfi_played *p, double rate, double end, double *at)
{
    size_t count = 0, kept = 0;
    double last = last_key(w->back);
    for (unsigned c = 0; c < w->back->curves; c++)
        for (size_t i = 0; i < w->back->curve[c].count; i++) {
            double time = w->back->curve[c].keys[i].time;
            at[count++] = rate > 0 ? fmin(fmax(nearbyint((time - w->offset) * rate) / rate, 0), end) + w->offset : time;
        }
    bool own = rate > 0 || (w->channel == KF_ROTATION && !w->samples);
    for (unsigned c = 0; c < p->track->curves; c++)
        for (size_t i = 0; i < p->track->curve[c].count; i++)
            count += add_time(at + count, p->track->curve[c].keys[i].time + w->offset, own ? -INFINITY : last);
    for (size_t i = 0; i < p->track->quat.count; i++)
        count += add_time(at + count, p->track->quat.keys[i].time + w->offset, own ? -INFINITY : last);
    count += add_time(at + count, end + w->offset, rate > 0 ? INFINITY : last);
    kfi_sort_numbers(at, count);
    for (size_t i = 0; i < count; i++) /* of those that are one but for rounding the last: a jump is over on both sides then */
        if (i + 1 == count || at[i + 1] - at[i] > fmax(1e-6, 0x1p-22 * fabs(at[i])))
            at[kept++] = at[i];
    return kept;
}

bool kfi_prove_looks(kf_job *job, const kfi_wanted *w, double rate, double end, kfi_played *p)
{
    bool turns = w->channel == KF_ROTATION && !w->samples && rate == 0;
    int most_parts = rate > 0 ? 1 : turns ? 7 : 4;
    double last = last_key(w->back);
    size_t most = kfi_track_keys(w->back) + kfi_track_keys(p->track) + 1, count = 0, next = 0;
    double *keys = kfi_alloc(job, most, sizeof *keys), *at = kfi_alloc(job, (size_t)most_parts * most, sizeof *at);
    double *jumps = kfi_alloc(job, most, sizeof *jumps);
    bool *steady = kfi_alloc(job, (size_t)most_parts * most, sizeof *steady);
    if (!keys || !at || !jumps || !steady)
        return false;
    most = key_times(w, p, rate, end, keys);
    size_t jump_count = jump_times(w->back, jumps);
    for (size_t i = 0; i < most; i++) {
        int parts = i + 1 == most || (w->samples && keys[i] < last) ? 1 : most_parts;
        for (int part = 0; part < parts; part++) {
            double time = part ? keys[i] + (keys[i + 1] - keys[i]) * part / parts : keys[i];
            while (next < jump_count && jumps[next] + JUMP < time)
                next++;
            bool near = next < jump_count && jumps[next] - JUMP < time;
            if (near && part && turns)
                continue;
            steady[count] = !near;
            at[count++] = time;
        }
    }
    p->times = at;
    p->steady = steady;
    p->count = count;
    p->between = !w->samples && rate == 0;
    return true;
}
