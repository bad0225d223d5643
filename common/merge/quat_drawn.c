/* Orientations that were drawn between keys, told anew in the format's keys, the merged ones first. */
#include "fit/fit.h"
#include "quat_looks.h"

#include <math.h>
#include <string.h>

/* Pieces of such a piece where it bends much, for a search in the second round, at most, and for straight ways; and how many keys
 * from what was drawn the others may have to be told anew, and a search for TCB keys never comes. */
enum { MORE = 4, MOST = 8, FINER = 32, BESIDE = 4, NEAR = 8, FAR = 256 };

/* What is to be fitted. */
typedef struct samples {
    double *times, (*q)[4];
    size_t count;
} samples;

static void add_sample(samples *s, double time, const double q[4])
{
    memcpy(s->q[s->count], q, sizeof *s->q);
    if (s->count)
        kfi_quat_align(s->q[s->count], s->q[s->count - 1]);
    s->times[s->count++] = time;
}

/* Into how many parts each of the pieces from look k on has to be cut at the least, so that straight ways between these tell how
 * what was drawn, or what is played, bends: a part has a fourth of that, and it is looked at in one place. The last piece may be a
 * jump: it counts as those before it. */
static double bends_of(const kfi_looks *l, const double (*q)[4], size_t k, double tolerance)
{
    double bend = 0, middle[4];
    for (size_t i = k + 1; i + 1 < k + KFI_PIECES; i++) {
        double share = (l->times[i] - l->times[i - 1]) / (l->times[i + 1] - l->times[i - 1]);
        kfi_quat_slerp(q[i - 1], q[i + 1], share, middle);
        bend = fmax(bend, kfi_quat_angle(middle, q[i]));
    }
    return sqrt(bend / tolerance);
}

/* What is fitted is looked at between, too. */
static size_t parts_of(const kfi_looks *l, size_t k, double tolerance, unsigned finest)
{
    double least = fmax(bends_of(l, (const double(*)[4])l->now, k, tolerance), 3);
    return (size_t)fmin(ceil(least) * (finest == FINER ? 2 : 1), finest);
}

/* What was drawn after merged key i: what came back, and the original where that is it. */
static void sample_drawn(const kfi_merge_track *t, const kfi_looks *l, size_t i, double tolerance, unsigned finest, samples *s)
{
    for (size_t k = l->first[i]; k < l->first[i + 1]; k += KFI_PIECES) {
        size_t parts = parts_of(l, k, 0.5 * tolerance, finest);
        for (size_t part = 0; part < KFI_PIECES * parts; part++) {
            size_t look = k + part / parts;
            double from = l->times[look], to = l->times[look + 1], q[4];
            bool jumps = l->held[k] && (look == k || look + 1 == k + KFI_PIECES);
            double time = from + (to - from) * (double)(part % parts) / (double)parts;
            if ((part == 0 && k == l->first[i]) || (jumps && part % parts))
                continue;
            if (kfi_turned_here(t, time, time))
                kfi_edited_orientation(t, time, q);
            else
                kfi_quat_curve_value(&t->original->quat, time, q);
            add_sample(s, time, q);
        }
    }
}

/* The fit began with the merged keys: where those came from. */
static void pass_on(const kf_quat_curve *begun, kf_quat_curve *fitted)
{
    kf_origin *origin = (kf_origin *)fitted->origin; /* just made */
    for (size_t i = 0; i < fitted->count; i++) {
        if (origin[i].key == KF_NEW)
            continue;
        kf_origin was = begun->origin[origin[i].key];
        origin[i] = (kf_origin){was.key, was.key == KF_NEW ? KF_CHANGED_ALL : was.changed | origin[i].changed};
    }
}

/* How many segments away from segment i the nearest one is that was drawn. */
static size_t away(const bool *drawn, size_t count, size_t i, size_t *last, size_t *next)
{
    if (drawn[i])
        *last = i;
    while (*next < count && (*next < i || !drawn[*next]))
        ++*next;
    size_t before = *last != SIZE_MAX ? i - *last : SIZE_MAX, behind = *next < count ? *next - i : SIZE_MAX;
    return before < behind ? before : behind;
}

/* Pieces of a segment that was not drawn: few; but beside what was drawn new keys may bend it, and near the key more than
 * elsewhere. Where that leads nowhere, a segment near by may have to be told by new keys, too, and fast ones, or such with ease,
 * take many. What is far away stays as it is: a search would but look at it. */
static size_t pieces_sought(size_t distance, unsigned finest)
{
    unsigned more = finest > MORE ? finest / MORE : 1, near = more < BESIDE ? more * more : more * BESIDE;
    return KFI_PIECES * (size_t)(distance > FAR ? 0 : distance == 1 && finest > 1 ? more * BESIDE : distance <= NEAR ? near : 1);
}

/* The same of what merged key i plays up to the next, at the looks: the FBX has keys wherever that turns sharply, as with little
 * ease. Near what was drawn it may be told by new keys, and is looked at more closely. */
static size_t parts_played(const kfi_looks *l, size_t k, double tolerance, bool near)
{
    double least = bends_of(l, (const double(*)[4])l->plays, k, tolerance);
    return (size_t)fmin(ceil(fmax(least, near ? 3 : 1)), FINER);
}

/* What merged key i plays up to the next, in pieces. */
static void sample_played(const kf_quat_curve *keys, size_t i, size_t pieces, samples *s)
{
    double from = keys->keys[i].time, length = keys->keys[i + 1].time - from, q[4];
    kfi_quat_segment segment;
    if (!(length > 0))
        return;
    kfi_quat_curve_segment(keys, i, &segment);
    for (size_t k = 1; k < pieces; k++) {
        double time = from + length * (double)k / (double)pieces;
        kfi_quat_segment_value(&segment, time, q);
        add_sample(s, time, q);
    }
}

/* The same for straight ways. */
static void sample_closely(const kf_quat_curve *keys, const kfi_looks *l, size_t i, double tolerance, bool near, samples *s)
{
    kfi_quat_segment segment;
    kfi_quat_curve_segment(keys, i, &segment);
    for (size_t k = l->first[i]; k < l->first[i + 1]; k += KFI_PIECES) {
        size_t parts = parts_played(l, k, 0.5 * tolerance, near);
        for (size_t part = k == l->first[i]; part < KFI_PIECES * parts; part++) {
            size_t look = k + part / parts;
            double from = l->times[look], to = l->times[look + 1], q[4];
            double time = from + (to - from) * (double)(part % parts) / (double)parts;
            kfi_quat_segment_value(&segment, time, q);
            add_sample(s, time, q);
        }
    }
}

/* Merged keys from one jump to the next, with the looks and what was drawn from the first of them on. */
typedef struct part {
    kf_quat_curve keys;
    kfi_looks looks;
    const bool *drawn;
} part;

/* Of the segments that were drawn what came back; of the others what the merged keys play: in as many pieces as straight ways
 * take, or, for a search, few; but beside what was drawn new keys may bend it, and near the key more than elsewhere. */
static bool sample(const kfi_merge_track *t, const part *p, double tolerance, unsigned finest, samples *s)
{
    const kf_quat_curve *keys = &p->keys;
    const kfi_looks *l = &p->looks;
    const bool *drawn = p->drawn;
    size_t room = 1, last = SIZE_MAX, next = 0;
    size_t *pieces = kfi_alloc(t->job, keys->count, sizeof *pieces);
    bool *near = kfi_alloc(t->job, keys->count, sizeof *near);
    if (!pieces || !near)
        return false;
    for (size_t i = 0; i + 1 < keys->count; i++) {
        size_t distance = away(drawn, keys->count, i, &last, &next);
        near[i] = distance <= NEAR;
        pieces[i] = pieces_sought(distance, finest);
        room += 1 + (drawn[i] || finest == FINER ? 0 : pieces[i]);
        for (size_t k = l->first[i]; (drawn[i] || finest == FINER) && k < l->first[i + 1]; k += KFI_PIECES)
            room += KFI_PIECES * (drawn[i] ? parts_of(l, k, 0.5 * tolerance, finest) : parts_played(l, k, 0.5 * tolerance, near[i]));
    }
    *s = (samples){kfi_alloc_raw(t->job, room, sizeof *s->times), kfi_alloc_raw(t->job, room, sizeof *s->q), 0};
    if (!s->times || !s->q)
        return false;
    for (size_t i = 0; i < keys->count; i++) {
        add_sample(s, keys->keys[i].time, keys->keys[i].q);
        if (i + 1 == keys->count)
            break;
        if (drawn[i])
            sample_drawn(t, l, i, tolerance, finest, s);
        else if (finest == FINER)
            sample_closely(keys, l, i, tolerance, near[i], s);
        else
            sample_played(keys, i, pieces[i], s);
    }
    return true;
}

/* How far each sample is from what a curve plays; and the straight way to the next, so that nothing swings between two. */
static bool measure(kf_job *job, const kf_quat_curve *curve, const samples *s, double *off)
{
    kfi_mark mark = kfi_arena_mark(&job->arena);
    double *middles = kfi_alloc_raw(job, s->count, sizeof *middles), middle[4];
    double(*q)[4] = kfi_alloc_raw(job, s->count, sizeof *q);
    if (!middles || !q)
        return false;
    kfi_quat_curve_values(curve, s->times, s->count, q);
    for (size_t i = 0; i < s->count; i++) {
        off[i] = kfi_quat_angle(q[i], s->q[i]);
        middles[i] = i + 1 < s->count ? 0.5 * (s->times[i] + s->times[i + 1]) : s->times[i];
    }
    kfi_quat_curve_values(curve, middles, s->count, q);
    for (size_t i = 0; i + 1 < s->count; i++) {
        bool jump = s->times[i + 1] - s->times[i] <= KFI_JUMP_TIME;
        kfi_quat_slerp(s->q[i], s->q[i + 1], 0.5, middle);
        double there = jump ? 0 : kfi_quat_angle(q[i], middle);
        off[i] = fmax(off[i], there);
        off[i + 1] = fmax(off[i + 1], there);
    }
    kfi_arena_release(&job->arena, mark);
    return true;
}

/* Adds to a few samples those of all that were missed before. */
static bool add_missed(kf_job *job, const samples *all, const bool *missed, size_t count, samples *few)
{
    const samples had = *few;
    size_t next = 0;
    *few = (samples){kfi_alloc_raw(job, had.count + count, sizeof *few->times), kfi_alloc_raw(job, had.count + count, sizeof *few->q), 0};
    if (!few->times || !few->q)
        return false;
    for (size_t i = 0; i < all->count; i++) {
        if (!missed[i])
            continue;
        for (; next < had.count && had.times[next] <= all->times[i]; next++)
            add_sample(few, had.times[next], had.q[next]);
        if (few->count == 0 || all->times[i] > few->times[few->count - 1])
            add_sample(few, all->times[i], all->q[i]);
    }
    for (; next < had.count; next++)
        add_sample(few, had.times[next], had.q[next]);
    return true;
}

/* TCB keys through a few looks, and through more of them wherever that leaves what lies between; not *found where there are none. */
static bool search(const kfi_merge_track *t, const part *p, double tolerance, const samples *all, const kfi_fit_quat_options *options,
                   kf_quat_curve *fitted, bool *found)
{
    enum { ROUNDS = 8, ENOUGH = 6144 }; /* the latter: samples in all rounds, of which each takes milliseconds */
    samples few;
    unsigned finest = 1;
    size_t count = 0, before = SIZE_MAX, looked = 0; /* the first two: missed so far */
    bool *missed = kfi_alloc(t->job, all->count, sizeof *missed);
    double *off = kfi_alloc_raw(t->job, all->count, sizeof *off);
    *found = false;
    if (!missed || !off)
        return false;
    for (unsigned round = 0; round < ROUNDS && !*found && count != before && (round < 2 || looked < ENOUGH); round++) {
        kfi_mark mark = kfi_arena_mark(&t->job->arena);
        if (!sample(t, p, tolerance, finest, &few) || !add_missed(t->job, all, missed, count, &few) ||
            !kfi_fit_quat(t->job, few.times, (const double(*)[4])few.q, few.count, options, fitted) ||
            !measure(t->job, fitted, all, off))
            return false;
        looked += few.count - p->keys.count;
        *found = fitted->count > 0;
        for (size_t i = 0; i < all->count && *found; i++)
            *found = off[i] <= 0.9 * tolerance;
        if (!*found)
            kfi_arena_release(&t->job->arena, mark);
        if (round == 0 || (fitted->count == 0 && finest < MOST)) {
            finest = round ? 2 * finest : MORE;
            continue;
        }
        before = count;
        for (size_t i = 0; i < all->count && fitted->count; i++) {
            count += !missed[i] && off[i] > options->tolerance;
            missed[i] = missed[i] || off[i] > options->tolerance;
        }
    }
    return true;
}

/* Segments that were drawn are fitted anew: with TCB keys through a few looks, if these do between them, too; else with straight
 * ways, which need many. */
static bool fit_part(const kfi_merge_track *t, const part *p, double tolerance, kf_quat_curve *fitted)
{
    /* The rest is for what lies between two looks, for the FBX, which has the original within 0.004 degrees, and, beside TCB keys,
     * for an exporter that has to tell straight ways in these. */
    double aim = p->keys.tcb ? 0.5 : 0.6;
    kfi_fit_quat_options options = {.interps = t->input->capabilities->quat_interps, .tolerance = aim * tolerance,
                                    .original = &p->keys, .keys = KFI_QUAT_CURVED};
    samples all;
    bool found;
    if (!sample(t, p, tolerance, FINER, &all) || !search(t, p, tolerance, &all, &options, fitted, &found))
        return false;
    options.keys = KFI_QUAT_STRAIGHT;
    return found || kfi_fit_quat(t->job, all.times, (const double(*)[4])all.q, all.count, &options, fitted);
}

/* Samples have one value a time: keys at one time stay as they are, and what lies between two jumps is fitted for itself. */
static bool fit_parts(kfi_merge_track *t, const kfi_looks *l, const bool *drawn, double tolerance)
{
    const kf_quat_curve begun = t->merged->quat;
    kfi_quat_part *parts = NULL;
    size_t count = 0;
    for (size_t from = 0, to; from < begun.count; from = to + 1) {
        to = kfi_quat_jump(&begun, from);
        part p = {kfi_quat_part_of(&begun, from, to), *l, drawn + from};
        kfi_quat_part *made = kfi_push(t->job, &parts, &count, sizeof *made);
        bool any = false;
        if (!made)
            return false;
        *made = (kfi_quat_part){p.keys, from};
        p.looks.first += from;
        for (size_t i = 0; i + 1 < p.keys.count; i++)
            any = any || p.drawn[i];
        if (any && !fit_part(t, &p, tolerance, &made->curve))
            return false;
    }
    if (!kfi_join_quat_parts(t->job, parts, count, &t->merged->quat))
        return false;
    pass_on(&begun, &t->merged->quat);
    return true;
}

bool kfi_merge_quat_drawn(kfi_merge_track *t)
{
    size_t count = t->merged->quat.count;
    double tolerance = t->input->tolerance > 0 ? t->input->tolerance : fmax(0.01, t->limits->value[KF_ROTATION]);
    kfi_looks l;
    bool any = false;
    if (count < 2)
        return true;
    bool *drawn = kfi_alloc(t->job, count, sizeof *drawn);
    if (!drawn || !kfi_list_looks(t, &l))
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        if (!kfi_is_drawn(t, &l, i, 0.95 * tolerance, &drawn[i])) /* between two looks it may be more */
            return false;
        any = any || drawn[i];
    }
    if (!any)
        return true;
    if (!kfi_tell_drawn_jumps(t, &l, drawn) || !fit_parts(t, &l, drawn, tolerance))
        return false;
    kfi_count_quat_keys(t);
    return true;
}
