/* The same as jumps.c for orientations: two keys of the original at one time stay, unless the sample before them was edited. */
#include "internal.h"

#include <string.h>

static const double SAME_TURN = 1e-6; /* degrees */

typedef struct splitting {
    kf_job *job;
    const kfi_fit_quat_options *options;
    const double *given;
    const double (*turns)[4];
    size_t count;
    double *t; /* of the stretch at work */
    double (*q)[4];
    kfi_quat_part *pieces;
    size_t piece_count;
    size_t sample; /* how far the search for the next jump is */
} splitting;

/* Where a stretch begins: with which of the original's keys and samples; `starts`: that key is a sample of its own. */
typedef struct place {
    size_t key, sample;
    bool starts;
} place;

kf_quat_curve kfi_quat_part_of(const kf_quat_curve *curve, size_t from, size_t to)
{
    kf_quat_curve part = {.keys = curve->keys + from, .count = to + 1 - from, .tcb = curve->tcb ? curve->tcb + from : NULL};
    return part;
}

static void add_sample(const splitting *s, size_t at, double time, const double q[4])
{
    s->t[at] = time;
    memcpy(s->q[at], q, sizeof s->q[at]);
    if (at > 0)
        kfi_quat_align(s->q[at], s->q[at - 1]);
}

/* From a place to the original's key `last` and the sample before `end`; `ends`: that key is a sample, too. */
static bool fit_stretch(splitting *s, place from, size_t last, size_t end, bool ends)
{
    kf_quat_curve keys = kfi_quat_part_of(s->options->original, from.key, last);
    kfi_fit_quat_options options = *s->options;
    size_t count = 0;
    if (from.starts)
        add_sample(s, count++, keys.keys[0].time, keys.keys[0].q);
    for (size_t i = from.sample; i < end; i++)
        add_sample(s, count++, s->given[i], s->turns[i]);
    if (ends)
        add_sample(s, count++, keys.keys[keys.count - 1].time, keys.keys[keys.count - 1].q);
    options.original = &keys;
    kfi_quat_part *made = kfi_push(s->job, &s->pieces, &s->piece_count, sizeof *made);
    if (!made)
        return false;
    made->key = from.key;
    return kfi_fit_quat(s->job, s->t, (const double(*)[4])s->q, count, &options, &made->curve);
}

/* Ends the stretch before the keys first..last, which have one time, and begins the one behind them. */
static bool split(splitting *s, size_t first, size_t last, place *from)
{
    const kf_quat_curve *original = s->options->original;
    double time = original->keys[first].time, was[4];
    while (s->sample < s->count && s->given[s->sample] < time - KFI_SAME_TIME)
        s->sample++;
    size_t sample = s->sample;
    bool begins = first == 0 && sample == 0; /* with a jump: there is no stretch before it */
    if ((sample <= from->sample && !begins) || sample == s->count)
        return true;
    if (!begins)
        kfi_quat_curve_value(original, s->given[sample - 1], was);
    if (!begins && kfi_quat_angle(was, s->turns[sample - 1]) > SAME_TURN)
        return true;
    if (!begins && !fit_stretch(s, *from, first, sample, true))
        return false;
    size_t unseen = first + !begins;
    if (last > unseen) { /* those that nothing shows */
        kfi_quat_part *hidden = kfi_push(s->job, &s->pieces, &s->piece_count, sizeof *hidden);
        if (!hidden)
            return false;
        *hidden = (kfi_quat_part){kfi_quat_part_of(original, unseen, last - 1), unseen};
    }
    *from = (place){last, sample, s->given[sample] > time + KFI_SAME_TIME};
    return true;
}

bool kfi_join_quat_parts(kf_job *job, const kfi_quat_part *parts, size_t part_count, kf_quat_curve *curve)
{
    size_t count = 0, at = 0;
    bool tcb = false;
    for (size_t i = 0; i < part_count; i++) {
        count += parts[i].curve.count;
        tcb = tcb || parts[i].curve.tcb;
    }
    *curve = (kf_quat_curve){0};
    kf_origin *origin = kfi_alloc(job, count, sizeof *origin);
    if (!origin || !kfi_make_quat_keys(job, curve, count, tcb))
        return false;
    for (size_t i = 0; i < part_count; i++) {
        const kfi_quat_part *p = &parts[i];
        for (size_t k = 0; k < p->curve.count; k++, at++) {
            curve->keys[at] = p->curve.keys[k];
            if (p->curve.tcb)
                curve->tcb[at] = p->curve.tcb[k];
            origin[at] = p->curve.origin ? p->curve.origin[k] : (kf_origin){(uint32_t)k, 0};
            if (origin[at].key != KF_NEW)
                origin[at].key += (uint32_t)p->key;
        }
    }
    curve->origin = origin;
    return true;
}

size_t kfi_quat_jump(const kf_quat_curve *curve, size_t from)
{
    while (from + 1 < curve->count && curve->keys[from + 1].time > curve->keys[from].time + KFI_SAME_TIME)
        from++;
    return from;
}

bool kfi_fit_quat_jumps(kf_job *job, const double *times, const double (*q)[4], size_t count, const kfi_fit_quat_options *options,
                        kf_quat_curve *curve)
{
    const kf_quat_curve *original = options->original;
    splitting s = {.job = job, .options = options, .given = times, .turns = q, .count = count};
    place from = {0};
    for (size_t i = 0; i + 1 < original->count; i++) {
        size_t last = i;
        while (last + 1 < original->count && original->keys[last + 1].time <= original->keys[i].time + KFI_SAME_TIME)
            last++;
        if (last == i)
            continue;
        s.t = s.t ? s.t : kfi_alloc_raw(job, count + 2, sizeof *s.t);
        s.q = s.q ? s.q : kfi_alloc_raw(job, count + 2, sizeof *s.q);
        if (!s.t || !s.q || !split(&s, i, last, &from))
            return false;
        i = last - 1;
    }
    if (s.piece_count == 0)
        return kfi_fit_quat(job, times, q, count, options, curve);
    return fit_stretch(&s, from, original->count - 1, count, false) && kfi_join_quat_parts(job, s.pieces, s.piece_count, curve);
}
