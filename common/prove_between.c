/* A bake says nothing of what lies between its frames. Where none of the two was edited, the game is to play there what it played
 * before. */
#include "curve.h"
#include "prove_internal.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

/* Looks between two frames: thirteenths, which are no places that the fit has looked at; each a hair sooner and later, too, as
 * times are rounded. */
enum { PARTS = 13, SIDES = 3 };

/* The curve of what was written that has the most keys: all have theirs on frames. */
static const kf_curve *frames_of(const kf_track *written)
{
    const kf_curve *most = &written->curve[0];
    for (unsigned c = 1; c < written->curves; c++)
        if (written->curve[c].count > most->count)
            most = &written->curve[c];
    return most;
}

/* Finds the components that came back on each frame as they were written. `at`: the frames, on the original's axis. */
static bool find_same(kf_job *job, const kfi_wanted *w, const double *at, size_t count, uint8_t *same)
{
    const double none[3] = {0, 0, 0};
    double *times = kfi_alloc_raw(job, count, sizeof *times), off, limit;
    double(*was)[4] = kfi_alloc_raw(job, count, sizeof *was), (*now)[4] = kfi_alloc_raw(job, count, sizeof *now);
    if (!times || !was || !now)
        return false;
    for (size_t i = 0; i < count; i++)
        times[i] = at[i] + w->shift;
    if (!kfi_track_values(job, w->written, w->was_order, times, count, was))
        return false;
    for (size_t i = 0; i < count; i++)
        times[i] = at[i] + w->offset;
    if (!kfi_track_values(job, w->back, w->order, times, count, now))
        return false;
    for (size_t i = 0; i < count; i++)
        for (unsigned c = 0; c < 3; c++)
            if (kfi_apart(w, 1u << c, none, was[i], now[i], &off, &limit) <= 1)
                same[i] |= (uint8_t)(1u << c);
    return true;
}

/* What somebody drew between two frames has keys there; neither those nor the frames beside them tell what is to be played. */
static void leave_out_drawn(const kfi_wanted *w, const double *at, size_t count, uint8_t *same)
{
    for (unsigned c = 0; c < w->back->curves; c++) {
        const kf_curve *curve = &w->back->curve[c];
        for (size_t i = 0, k = 0; k < curve->count; k++) {
            double time = curve->keys[k].time - w->offset, near = fmax(1e-4, 0x1p-22 * fabs(time));
            while (i < count && at[i] < time - near)
                i++;
            if (i > 0 && i < count && at[i] > time + near)
                same[i - 1] = same[i] = 0;
        }
    }
}

/* The looks within intervals whose frames are both the same, and in which components. */
static size_t make_looks(const kfi_wanted *w, const double *at, size_t count, const uint8_t *same, double *times, uint8_t *components)
{
    size_t looks = 0, next = 0;
    for (size_t i = 0; i + 1 < count; i++)
        for (int part = 1; part < PARTS && (same[i] & same[i + 1]); part++) {
            double time = at[i] + (at[i + 1] - at[i]) * part / PARTS;
            if (kfi_excepted(w, time, &next))
                continue;
            components[looks] = same[i] & same[i + 1];
            times[looks++] = time;
        }
    return looks;
}

/* The worst of some looks; *worst: which it is. `components`: of each, those that count. */
static bool compare_at(kf_job *job, const kfi_wanted *w, const kfi_played *p, const double *times, const uint8_t *components, size_t looks,
                       kfi_worst *found, size_t *worst)
{
    double limits[3] = {0, 0, 0};
    double *moved = kfi_alloc_raw(job, looks, sizeof *moved);
    double(*was)[4] = kfi_alloc_raw(job, looks, sizeof *was), (*now[SIDES])[4];
    *found = (kfi_worst){0, 0, 0, 0};
    *worst = 0;
    if (!moved || !was || !kfi_track_values(job, w->original, w->was_order, times, looks, was))
        return false;
    for (int side = 0; side < SIDES; side++) {
        now[side] = kfi_alloc_raw(job, looks, sizeof *now[side]);
        for (size_t i = 0; i < looks; i++)
            moved[i] = times[i] + (side - 1) * (1e-9 + 0x1p-24 * fabs(times[i]));
        if (!now[side] || !kfi_track_values(job, p->track, p->order, moved, looks, now[side]))
            return false;
    }
    for (unsigned c = 0; c < w->back->curves; c++)
        limits[c] = kfi_tolerated(job->options.tolerance, (kf_channel)w->channel, &w->back->curve[c]) + p->quantum;
    for (size_t i = 0; i < looks; i++) {
        kfi_worst least = {.part = INFINITY, .when = times[i]};
        for (int side = 0; side < SIDES; side++) {
            double off = 0, limit = 0, part = kfi_apart(w, components[i], limits, was[i], now[side][i], &off, &limit);
            if (part < least.part)
                least = (kfi_worst){part, off, limit, least.when};
        }
        if (least.part > found->part) {
            *found = least;
            *worst = i;
        }
    }
    return true;
}

/* The top beside a look, which is less than a thirteenth of a frame away. */
static bool look_closer(kf_job *job, const kfi_wanted *w, const kfi_played *p, double from, double to, uint8_t components,
                        kfi_worst *found)
{
    enum { CLOSER = 16 };
    double times[CLOSER];
    uint8_t each[CLOSER];
    kfi_worst top;
    size_t worst, next = 0;
    for (int i = 0; i < CLOSER; i++) {
        times[i] = from + (to - from) * (i + 0.5) / CLOSER;
        each[i] = kfi_excepted(w, times[i], &next) ? 0 : components;
    }
    if (!compare_at(job, w, p, times, each, CLOSER, &top, &worst))
        return false;
    if (top.part > found->part)
        *found = top;
    return true;
}

bool kfi_prove_between(kf_job *job, const kfi_wanted *w, const kfi_played *p, kfi_worst *found)
{
    static const double CLOSE = 0.5; /* the top beside a look may be more than is tolerated, though the look is not */
    const kf_curve *frames = frames_of(w->written);
    size_t count = frames->count, most = PARTS * count, worst;
    double *at = kfi_alloc_raw(job, count, sizeof *at), *times = kfi_alloc_raw(job, most, sizeof *times);
    uint8_t *same = kfi_alloc(job, count, sizeof *same), *components = kfi_alloc(job, most, sizeof *components);
    *found = (kfi_worst){0, 0, 0, 0};
    if (!at || !times || !same || !components)
        return count == 0;
    for (size_t i = 0; i < count; i++)
        at[i] = frames->keys[i].time - w->shift;
    if (!find_same(job, w, at, count, same))
        return false;
    leave_out_drawn(w, at, count, same);
    size_t looks = make_looks(w, at, count, same, times, components);
    if (looks == 0)
        return true;
    if (!compare_at(job, w, p, times, components, looks, found, &worst))
        return false;
    if (found->part <= CLOSE)
        return true;
    size_t i = 0;
    while (at[i + 1] <= times[worst])
        i++;
    double part = (at[i + 1] - at[i]) / PARTS;
    return look_closer(job, w, p, times[worst] - part, times[worst] + part, components[worst], found);
}
