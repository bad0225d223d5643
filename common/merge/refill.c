/* What a program did not sample, and nobody edited. It may take fewer samples than were written, every second frame for
 * example (Blender: "Sampling Rate"), or samples beside the frames, every 0.7 of one, of which the last is not the last
 * frame: what lies between two that are as they were written is put back. And it may begin later, or export a range of
 * frames that ends earlier: so is what was before and after. */
#include "internal.h"

#include <math.h>
#include <string.h>

static double least_gap(const kf_track *track, double least)
{
    for (unsigned c = 0; track && c < track->curves; c++)
        for (size_t i = 1; i < track->curve[c].count; i++) {
            double gap = track->curve[c].keys[i].time - track->curve[c].keys[i - 1].time;
            least = gap > 1e-6 ? fmin(least, gap) : least;
        }
    return least;
}

/* The time of a take's first and last key that came back; false if there are none. */
static bool range_of(const kfi_merging *m, size_t written_take, double *first, double *last)
{
    *first = INFINITY;
    *last = -INFINITY;
    for (size_t i = 0; i < m->input->written->takes[written_take].track_count; i++) {
        const kf_track *track = m->matches.track[written_take][i];
        for (unsigned c = 0; track && c < track->curves; c++)
            if (track->curve[c].count) {
                *first = fmin(*first, track->curve[c].keys[0].time);
                *last = fmax(*last, track->curve[c].keys[track->curve[c].count - 1].time);
            }
    }
    return *first <= *last;
}

double kfi_other_step(const kfi_merging *m, size_t written_take)
{
    const kf_take *take = &m->input->written->takes[written_take];
    double was = INFINITY, now = INFINITY, first, last, start = 0, end = 0;
    if (m->limits.exact || !m->input->baked || !range_of(m, written_take, &first, &last) || !kfi_take_range(take, &start, &end))
        return 0;
    for (size_t i = 0; i < take->track_count; i++) {
        was = least_gap(&take->tracks[i], was);
        now = least_gap(m->matches.track[written_take][i], now);
    }
    double part = was / now, behind = end + m->matches.offset[written_take] - last, rate = m->input->written->frame_rate;
    bool beside = fabs(part - nearbyint(part)) > 0.01 * part;
    bool short_of = now < 0.99 * was && behind > 1e-4 && behind < now + 1e-4;
    if (fabs(rate - m->input->edited->frame_rate) > 1e-3 * rate)
        beside = short_of = false; /* it is the rate that was changed, and with it every frame */
    return isfinite(was) && isfinite(now) && (now > 1.5 * was || beside || short_of) ? now : 0;
}

bool kfi_tell_rate(const kfi_merging *m, size_t written_take)
{
    const kf_take *take = &m->input->written->takes[written_take];
    double was = m->input->written->frame_rate, now = m->input->edited->frame_rate;
    double start = 0, end = 0, first, last;
    if (m->limits.exact || !m->input->baked || !(now > 0) || fabs(was - now) < 1e-5 * was ||
        !range_of(m, written_take, &first, &last) || !kfi_take_range(take, &start, &end))
        return true;
    double frames = (end - start) * was;
    double off_now = fabs((last - first) * now - frames), off_was = fabs((last - first) * was - frames);
    if (off_now > 0.5 || off_was <= fmin(0.5, 10 * off_now + 1e-3)) /* 29.97 and 30 are not a frame apart for long */
        return true;
    return kfi_warn(m->job, "rate", "take \"%.60s\" came back with %g frames a second instead of %g: that makes it last %.4g s "
                                    "instead of %.4g s. If that is not meant, give the program its frame rate back and export again",
                    take->name, now, was, last - first, end - start);
}

/* One curve on its way. */
typedef struct refill {
    const kfi_merging *m;
    const kf_track *was, *now;
    double offset, step;
} refill;

/* As it was written, at that time, in one component or (a rotation) in all. */
static bool same_at(const refill *r, unsigned component, double time, double slack)
{
    for (unsigned c = 0; c < r->was->curves; c++) {
        if (r->was->channel != KF_ROTATION && c != component)
            continue;
        double a = kfi_curve_value(&r->was->curve[c], time - r->offset, r->was->rest[c]);
        double b = kfi_curve_value(&r->now->curve[c], time, r->now->rest[c]);
        if (!kfi_same_value(&r->m->limits, r->was->channel, a, b) && !(fabs(a - b) <= slack * kfi_thinning(a, b)))
            return false;
    }
    return true;
}

/* Between two keys: both are as they were written, and so are the samples between them that the program found needless. */
static bool same_between(const refill *r, unsigned c, const kf_key *from, const kf_key *to)
{
    const double finest = 100; /* samples a frame, in Blender */
    double steps = nearbyint((to->time - from->time) / r->step);
    /* No more can have been taken than there are in all that was written. */
    if (steps > finest * (double)r->was->curve[c].count || !same_at(r, c, from->time, 0) || !same_at(r, c, to->time, 0))
        return false;
    for (double i = 1; i < steps; i++)
        if (!same_at(r, c, from->time + i * (to->time - from->time) / steps, 1))
            return false;
    return true;
}

static bool refill_curve(const refill *r, unsigned c, kf_curve *to)
{
    const kf_curve *was = &r->was->curve[c], *now = &r->now->curve[c];
    const double near = 1e-4;
    size_t next = 0, count = 0;
    *to = (kf_curve){0};
    if (!kfi_make_keys(r->m->job, to, was->count + now->count, kfi_parts(now)))
        return false;
    for (size_t i = 0; i < now->count; i++) {
        double start = now->keys[i].time, end = i + 1 < now->count ? now->keys[i + 1].time : start + r->step + 2 * near;
        bool same = i + 1 < now->count ? same_between(r, c, &now->keys[i], &now->keys[i + 1]) : same_at(r, c, start, 0);
        kfi_copy_keys(to, count++, now, i, 1);
        while (next < was->count && was->keys[next].time + r->offset <= start + near)
            next++;
        for (; next < was->count && was->keys[next].time + r->offset < end - near; next++) {
            if (!same)
                continue;
            to->keys[count] = (kf_key){.time = was->keys[next].time + r->offset, .value = was->keys[next].value, .interp = KF_LINEAR};
            count++;
        }
    }
    to->count = count;
    return true;
}

/* Written keys `from` to `to`, on the axis of what came back. */
static void put(const kf_curve *was, size_t from, size_t to, double offset, kf_key **at)
{
    for (size_t i = from; i < to; i++)
        *(*at)++ = (kf_key){.time = was->keys[i].time + offset, .value = was->keys[i].value, .interp = KF_LINEAR};
}

/* The written keys before `first`, those that came back, and the written ones after `last`. */
static bool put_around(kf_job *job, const kf_curve *was, const kf_curve *now, double offset, double first, double last,
                       kf_curve *to)
{
    size_t before = 0, after = was->count;
    while (before < was->count && was->keys[before].time + offset < first)
        before++;
    while (after > before && was->keys[after - 1].time + offset > last)
        after--;
    *to = (kf_curve){0};
    if (!kfi_make_keys(job, to, before + now->count + was->count - after, 0))
        return false;
    kf_key *at = to->keys;
    put(was, 0, before, offset, &at);
    put(now, 0, now->count, 0, &at);
    put(was, after, was->count, offset, &at);
    return true;
}

/* Until when a scene's range of frames shows a take, which is then all that is known; INFINITY if it came back as an action,
 * which ends where its keys do. */
static double shown_until(const kfi_merging *m, size_t written_take, double last)
{
    const kf_anim *edited = m->input->edited;
    bool scene = false;
    for (size_t e = 0; e < edited->take_count; e++) {
        if (m->matches.take[e] != (int32_t)written_take && m->matches.scene != (int32_t)e)
            continue;
        scene = !strchr(edited->takes[e].name, '|');
        last = fmax(last, edited->takes[e].end);
    }
    return scene ? last : INFINITY;
}

bool kfi_refill_ends(kfi_merging *m, size_t written_take)
{
    const kf_take *take = &m->input->written->takes[written_take];
    double first, last, start = 0, end = 0, offset = m->matches.offset[written_take];
    double half = 0.5 / m->input->written->frame_rate;
    if (m->limits.exact || !m->input->baked || !range_of(m, written_take, &first, &last) ||
        !kfi_take_range(take, &start, &end))
        return true;
    last = m->input->drop_missing ? INFINITY : shown_until(m, written_take, last);
    bool late = first > start + offset + half, early = last < end + offset - half;
    if (!late && !early)
        return true;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *was = &take->tracks[i], **back = &m->matches.track[written_take][i];
        if (!*back || (*back)->curves != was->curves)
            continue;
        kf_track *filled = kfi_alloc(m->job, 1, sizeof *filled);
        if (!filled)
            return false;
        *filled = **back;
        for (unsigned c = 0; c < was->curves; c++)
            if ((*back)->curve[c].count &&
                !put_around(m->job, &was->curve[c], &(*back)->curve[c], offset, late ? first - half : -INFINITY,
                            early ? last + half : INFINITY, &filled->curve[c]))
                return false;
        *back = filled;
    }
    return (!late || kfi_warn(m->job, "kept", "take \"%.60s\": its first %.4g s did not come back and stay as they were: let the "
                                              "program export from its first frame on", take->name, first - offset - start)) &&
           (!early || kfi_warn(m->job, "kept", "take \"%.60s\": its last %.4g s did not come back and stay as they were: let the "
                                               "program export to its last frame (--drop-missing ends it there)", take->name,
                               end + offset - last));
}

bool kfi_refill_take(kfi_merging *m, size_t written_take, double step)
{
    const kf_take *take = &m->input->written->takes[written_take];
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *was = &take->tracks[i], **back = &m->matches.track[written_take][i];
        if (!*back || (*back)->curves != was->curves)
            continue;
        refill r = {m, was, *back, m->matches.offset[written_take], step};
        kf_track *filled = kfi_alloc(m->job, 1, sizeof *filled);
        if (!filled)
            return false;
        *filled = **back;
        for (unsigned c = 0; c < was->curves; c++)
            if ((*back)->curve[c].count && !refill_curve(&r, c, &filled->curve[c]))
                return false;
        *back = filled;
    }
    return true;
}
