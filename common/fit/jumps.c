/* Two keys of the original at one time are a jump, and samples have one value a time. What lies before it and what lies behind it
 * is fitted for itself, so that both keys stay, for a component that stands still, too; unless the curve was edited just there. */
#include "internal.h"
#include "tolerance.h"

#include <string.h>

/* Keys from..to of a curve. */
typedef struct range {
    size_t from, to;
} range;

/* A stretch of the curve. */
typedef struct stretch {
    range keys, was;  /* of the original, and of what was there before the edit */
    range samples;    /* those given; the last one is not part of it */
    bool starts, ends; /* with a sample that is not among them: the original's key */
} stretch;

/* What became of one: keys of the original from `key` on, which stay if it has no origins. */
typedef struct piece {
    kf_curve curve;
    size_t key;
} piece;

typedef struct splitting {
    kf_job *job;
    const kfi_fit_options *options;
    const double *given, *values;
    size_t count;
    double *t, *v, *between; /* of the stretch at work */
    piece *pieces;
    size_t piece_count;
    size_t sample, was; /* how far the search for the next jump is among the samples, and among the keys before the edit */
} splitting;

static kf_curve part_of(const kf_curve *curve, range keys)
{
    kf_curve part = *curve;
    part.keys += keys.from;
    part.count = keys.to + 1 - keys.from;
    part.handles = curve->handles ? curve->handles + keys.from : NULL;
    part.tcb = curve->tcb ? curve->tcb + keys.from : NULL;
    part.origin = NULL;
    return part;
}

/* The keys at a time, sought from key `at` on; false: there is none. */
static bool keys_at(const kf_curve *curve, double time, size_t at, range *found)
{
    while (at < curve->count && curve->keys[at].time < time - KFI_SAME_TIME)
        at++;
    *found = (range){at, at};
    while (found->to + 1 < curve->count && curve->keys[found->to + 1].time <= time + KFI_SAME_TIME)
        found->to++;
    return at < curve->count && curve->keys[at].time <= time + KFI_SAME_TIME;
}

static void add_sample(const splitting *s, size_t at, double time, double value)
{
    s->t[at] = time;
    s->v[at] = value;
    s->between[at] = NAN;
}

static bool fit_stretch(splitting *s, const stretch *part)
{
    const kf_curve *original = s->options->original;
    kf_curve keys = part_of(original, part->keys), was;
    kfi_fit_options options = *s->options;
    size_t count = 0;
    if (part->starts)
        add_sample(s, count++, keys.keys[0].time, keys.keys[0].value);
    for (size_t i = part->samples.from; i < part->samples.to; i++) {
        add_sample(s, count, s->given[i], s->values[i]);
        s->between[count++] = s->options->between[i];
    }
    if (part->ends)
        add_sample(s, count++, keys.keys[keys.count - 1].time, keys.keys[keys.count - 1].value);
    if (part->starts && count > 1 && !isnan(s->options->between[part->samples.from - 1]))
        s->between[0] = kfi_curve_value(&keys, 0.5 * (s->t[0] + s->t[1]), 0.0);
    if (part->ends && count > 1)
        s->between[count - 2] = kfi_curve_value(&keys, 0.5 * (s->t[count - 2] + s->t[count - 1]), 0.0);
    options.original = &keys;
    options.between = s->between;
    if (options.was) {
        was = part_of(options.was, part->was);
        options.was = &was;
    }
    piece *made = kfi_push(s->job, &s->pieces, &s->piece_count, sizeof *made);
    if (!made)
        return false;
    made->key = part->keys.from;
    return kfi_fit_smooth_samples(s->job, s->t, s->v, count, &options, &made->curve);
}

/* Ends the stretch before the jump at these keys of the original, if nothing was edited there, and begins the one behind it. */
static bool split(splitting *s, range keys, stretch *part)
{
    const kf_curve *original = s->options->original, *was = s->options->was;
    double time = original->keys[keys.from].time;
    range before = keys;
    while (s->sample < s->count && s->given[s->sample] < time - KFI_SAME_TIME)
        s->sample++;
    bool there = !was || keys_at(was, time, s->was, &before);
    size_t sample = s->sample;
    s->was = was ? before.from : 0;
    bool begins = keys.from == 0 && sample == 0; /* with a jump: there is no stretch before it */
    if (sample == s->count || !there || (!begins && (sample <= part->samples.from || isnan(s->options->between[sample - 1]))))
        return true;
    part->keys.to = keys.from;
    part->was.to = before.from;
    part->samples.to = sample;
    part->ends = true;
    if (!begins && !fit_stretch(s, part))
        return false;
    size_t unseen = keys.from + !begins;
    if (keys.to > unseen) { /* those that nothing shows */
        piece *hidden = kfi_push(s->job, &s->pieces, &s->piece_count, sizeof *hidden);
        if (!hidden)
            return false;
        *hidden = (piece){part_of(original, (range){unseen, keys.to - 1}), unseen};
    }
    /* Taken a hair before the jump, by rounding: what the original has there is not what is behind it. */
    bool early = s->given[sample] < time && fabs(s->values[sample] - kfi_curve_value(original, s->given[sample], 0.0)) <= s->options->tolerance;
    *part = (stretch){.keys.from = keys.to, .was.from = before.to, .samples.from = sample + early,
                      .starts = early || s->given[sample] > time + KFI_SAME_TIME};
    return true;
}

/* The pieces one behind the other. */
static bool join(const splitting *s, kf_curve *curve)
{
    size_t count = 0, at = 0;
    unsigned parts = 0;
    for (size_t i = 0; i < s->piece_count; i++) {
        count += s->pieces[i].curve.count;
        parts |= kfi_parts(&s->pieces[i].curve);
    }
    *curve = s->pieces[s->piece_count - 1].curve;
    kf_origin *origin = kfi_alloc(s->job, count, sizeof *origin);
    if (!origin || !kfi_make_keys(s->job, curve, count, parts))
        return false;
    for (size_t i = 0; i < s->piece_count; i++) {
        const piece *p = &s->pieces[i];
        kfi_copy_keys(curve, at, &p->curve, 0, p->curve.count);
        for (size_t k = 0; k < p->curve.count; k++, at++) {
            origin[at] = p->curve.origin ? p->curve.origin[k] : (kf_origin){(uint32_t)k, 0};
            if (origin[at].key != KF_NEW)
                origin[at].key += (uint32_t)p->key;
        }
    }
    curve->origin = origin;
    return true;
}

/* Whether two keys have one time. */
static bool has_jumps(const kf_curve *curve)
{
    bool found = false;
    for (size_t i = 0; i + 1 < curve->count && !found; i++)
        found = curve->keys[i + 1].time <= curve->keys[i].time + KFI_SAME_TIME;
    return found;
}

bool kfi_fit(kf_job *job, const double *times, const double *values, size_t count, const kfi_fit_options *options, kf_curve *curve)
{
    if (!options->original || !options->between || count == 0 || !has_jumps(options->original))
        return kfi_fit_smooth_samples(job, times, values, count, options, curve);
    kfi_fit_options all = *options;
    all.tolerance = kfi_tolerated_samples(options->tolerance, values, count);
    splitting s = {.job = job, .options = &all, .given = times, .values = values, .count = count,
                   .t = kfi_alloc_raw(job, count + 2, sizeof *s.t), .v = kfi_alloc_raw(job, count + 2, sizeof *s.v),
                   .between = kfi_alloc_raw(job, count + 2, sizeof *s.between)};
    const kf_curve *original = options->original;
    stretch part = {0};
    if (!s.t || !s.v || !s.between)
        return false;
    for (size_t i = 0; i + 1 < original->count; i++) {
        range keys;
        keys_at(original, original->keys[i].time, i, &keys);
        if (keys.to > i && !split(&s, keys, &part))
            return false;
        i = keys.to > i ? keys.to - 1 : i;
    }
    part.keys.to = original->count - 1;
    part.was.to = options->was ? options->was->count - 1 : 0;
    part.samples.to = count;
    return fit_stretch(&s, &part) && join(&s, curve);
}
