/* Orientations that were drawn between keys, told anew in the format's keys, the merged ones first. */
#include "fit/fit.h"
#include "quat.h"

#include <math.h>
#include <string.h>

/* Pieces of what lies between two keys of what was written or came back, and of such a piece where it bends much; how many keys
 * from what was drawn a search for TCB keys never comes; and how long a jump takes. */
enum { PIECES = 8, FINER = 32, MORE = 4, BESIDE = 4, FAR = 256 };
static const double JUMP = 5e-4;

/* Where to look: at each of the merged keys, at all keys of what was written and came back, and between these. */
typedef struct looks {
    double *times;
    double (*now)[4], (*plays)[4]; /* what came back; what the merged keys play */
    bool *edited;
    bool *held;    /* what follows a key of those is a hold and a jump */
    size_t *first; /* look of each merged key */
    size_t count;
} looks;

/* Whether a component of what came back holds from one of its keys to the next. The times ascend. */
static bool holds(const kfi_merge_track *t, double time, size_t at[3])
{
    bool step = false;
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *curve = &t->edited->curve[c];
        while (at[c] + 1 < curve->count && curve->keys[at[c] + 1].time <= time + t->shift + t->offset)
            at[c]++;
        step = step || (at[c] + 1 < curve->count && curve->keys[at[c]].value != curve->keys[at[c] + 1].value &&
                        (curve->keys[at[c]].interp == KF_STEP || curve->keys[at[c]].interp == KF_STEP_NEXT));
    }
    return step;
}

/* The pieces from one time to another, which is not among them. A hold is looked at up to the jump that ends it. */
static void look_between(const kfi_merge_track *t, double from, double to, size_t at[3], looks *l)
{
    double aside = (to - from) / PIECES;
    l->held[l->count] = holds(t, 0.5 * (from + to), at);
    aside = l->held[l->count] ? fmin(JUMP, aside) : aside;
    for (int k = 0; k < PIECES; k++)
        l->times[l->count++] = k == 0                ? from
                               : k == 1              ? from + aside
                               : k + 1 == PIECES     ? to - aside
                                                     : from + (to - from) * k / PIECES;
}

/* The orientations of three curves at ascending times. */
static bool orientations(kf_job *job, const kf_track *track, kf_rotation_order order, double shift, const looks *l, double (*q)[4])
{
    kfi_mark mark = kfi_arena_mark(&job->arena);
    double *times = kfi_alloc_raw(job, l->count, sizeof *times), *one = kfi_alloc_raw(job, l->count, sizeof *one);
    if (!times || !one)
        return false;
    for (size_t i = 0; i < l->count; i++)
        times[i] = l->times[i] + shift + KFI_JUST_AFTER;
    for (unsigned c = 0; c < 3; c++) {
        kfi_curve_values(&track->curve[c], times, l->count, track->rest[c], one);
        for (size_t i = 0; i < l->count; i++)
            q[i][c] = one[i];
    }
    for (size_t i = 0; i < l->count; i++) {
        double euler[3] = {q[i][0], q[i][1], q[i][2]};
        kfi_quat_from_euler(euler, order, q[i]);
    }
    kfi_arena_release(&job->arena, mark);
    return true;
}

static bool list_looks(const kfi_merge_track *t, looks *l)
{
    const kf_quat_curve *keys = &t->merged->quat;
    size_t most[2] = {kfi_euler_keys(t->written), kfi_euler_keys(t->edited)}, next[2] = {0, 0}, at[3] = {0, 0, 0};
    double *marks[2] = {kfi_alloc_raw(t->job, most[0], sizeof **marks), kfi_alloc_raw(t->job, most[1], sizeof **marks)};
    if (!marks[0] || !marks[1])
        return false;
    double limit = fmax(t->limits->time, 1e-6);
    const size_t counts[2] = {kfi_union_times(t->written, t->shift, limit, marks[0]),
                              kfi_union_times(t->edited, t->shift + t->offset, limit, marks[1])};
    size_t room = PIECES * (counts[0] + counts[1] + keys->count);
    *l = (looks){.times = kfi_alloc_raw(t->job, room, sizeof *l->times), .now = kfi_alloc_raw(t->job, room, sizeof *l->now),
                 .plays = kfi_alloc_raw(t->job, room, sizeof *l->plays), .edited = kfi_alloc_raw(t->job, room, sizeof *l->edited),
                 .held = kfi_alloc_raw(t->job, room, sizeof *l->held), .first = kfi_alloc_raw(t->job, keys->count, sizeof *l->first)};
    if (!l->times || !l->now || !l->plays || !l->edited || !l->held || !l->first)
        return false;
    for (size_t i = 0; i < keys->count; i++) {
        l->first[i] = l->count;
        if (i + 1 == keys->count)
            break;
        double from = keys->keys[i].time, end = keys->keys[i + 1].time;
        while (from < end) {
            double to = end;
            for (int k = 0; k < 2; k++) {
                while (next[k] < counts[k] && marks[k][next[k]] <= from + limit)
                    next[k]++;
                if (next[k] < counts[k] && marks[k][next[k]] < end - limit)
                    to = fmin(to, marks[k][next[k]]);
            }
            look_between(t, from, to, at, l);
            from = to;
        }
    }
    if (keys->count)
        l->times[l->count++] = keys->keys[keys->count - 1].time;
    if (!orientations(t->job, t->edited, t->edited_order, t->shift + t->offset, l, l->now) ||
        !orientations(t->job, t->written, t->order, t->shift, l, l->plays))
        return false;
    for (size_t i = 0; i < l->count; i++)
        l->edited[i] = kfi_quat_angle(l->plays[i], l->now[i]) > kfi_turn_limit(t) && kfi_turned_here(t, l->times[i], l->times[i]);
    kfi_quat_curve_values(keys, l->times, l->count, l->plays);
    return true;
}

/* Whether two keys of the original that follow each other were edited, and nothing between them. */
static bool just_keys(const kfi_merge_track *t, size_t i)
{
    const kf_quat_curve *keys = &t->merged->quat;
    const kf_origin *origin = &keys->origin[i];
    const kf_quat_key *from = t->original->quat.keys;
    if (origin[0].key == KF_NEW || origin[1].key != origin[0].key + 1 || !(origin[0].changed || origin[1].changed))
        return false;
    const double was[2] = {from[origin[0].key].time, from[origin[1].key].time},
                 now[2] = {keys->keys[i].time, keys->keys[i + 1].time};
    return kfi_only_ends_moved(t, was, now);
}

/* Whether something was drawn after merged key i that the format's own way from it to the next leaves. Where the keys were
 * edited and nothing between them no slopes were drawn, and that way is what is left. */
static bool is_drawn(const kfi_merge_track *t, const looks *l, size_t i, double tolerance, bool *drawn)
{
    double worst = 0;
    for (size_t k = l->first[i]; k < l->first[i + 1]; k++)
        if (l->edited[k])
            worst = fmax(worst, kfi_quat_angle(l->now[k], l->plays[k]));
    *drawn = worst > tolerance;
    if (!*drawn || !just_keys(t, i))
        return true;
    *drawn = false;
    return kfi_note(t->job, "keys-alone", "take \"%.60s\", node \"%.60s\", rotation after %.4f s: keys were edited and nothing "
                                          "between them: there the game turns in its own way, up to %.4g degrees from the FBX's",
                    t->take, t->input->original->nodes[t->original->node].name, t->merged->quat.keys[i].time, worst);
}

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

/* Into how many parts each of the pieces from look k on has to be cut, so that straight ways between these tell how what was
 * drawn bends: a part has a fourth of that, and it is looked at in one place; what is fitted is looked at between, too. The last
 * piece may be a jump: it counts as those before it. */
static size_t parts_of(const looks *l, size_t k, double tolerance, unsigned finest)
{
    double bend = 0, middle[4];
    for (size_t i = k + 1; i + 1 < k + PIECES; i++) {
        double share = (l->times[i] - l->times[i - 1]) / (l->times[i + 1] - l->times[i - 1]);
        kfi_quat_slerp(l->now[i - 1], l->now[i + 1], share, middle);
        if (l->edited[i])
            bend = fmax(bend, kfi_quat_angle(middle, l->now[i]));
    }
    return (size_t)fmin(ceil(fmax(sqrt(bend / tolerance), 3)) * (finest == FINER ? 2 : 1), finest);
}

/* What was drawn after merged key i: what came back, and the original where that is it. */
static void sample_drawn(const kfi_merge_track *t, const looks *l, size_t i, double tolerance, unsigned finest, samples *s)
{
    for (size_t k = l->first[i]; k < l->first[i + 1]; k += PIECES) {
        size_t parts = parts_of(l, k, 0.5 * tolerance, finest);
        for (size_t part = 0; part < PIECES * parts; part++) {
            size_t look = k + part / parts;
            double from = l->times[look], to = l->times[look + 1], q[4];
            bool jumps = l->held[k] && (look == k || look + 1 == k + PIECES);
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

/* A jump is told as a steep turn where the format has nothing better. */
static bool tell_jumps(const kfi_merge_track *t, const looks *l, const bool *drawn)
{
    size_t jumps = 0;
    double first = 0;
    for (size_t i = 0; i + 1 < t->merged->quat.count; i++)
        for (size_t k = l->first[i]; drawn[i] && k < l->first[i + 1]; k += PIECES)
            if (l->held[k] && kfi_quat_angle(l->now[k + PIECES - 1], l->now[k + PIECES]) > kfi_turn_limit(t) && jumps++ == 0)
                first = l->times[k + PIECES];
    return jumps == 0 || kfi_warn(t->job, "jumps", "take \"%.60s\", node \"%.60s\", rotation: the format has no such steps: jumps take "
                                                   "up to a millisecond (%zu, the first at %.4f s)",
                                  t->take, t->input->original->nodes[t->original->node].name, jumps, first);
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

/* Segments beside which nothing was drawn for a long way stay as they are: a search for TCB keys would but look at them. */
static bool is_near(const bool *drawn, size_t count, size_t i, size_t *last, size_t *next)
{
    if (drawn[i])
        *last = i;
    while (*next < count && (*next < i || !drawn[*next]))
        ++*next;
    return (*last != SIZE_MAX && i - *last <= FAR) || (*next < count && *next - i <= FAR);
}

/* Into how many pieces what merged key i plays up to the next has to be cut for straight ways between them. */
static size_t pieces_played(const kf_quat_curve *keys, size_t i, double tolerance)
{
    double from = keys->keys[i].time, length = keys->keys[i + 1].time - from, q[PIECES + 1][4], middle[4], bend = 0;
    kfi_quat_segment segment;
    if (!(length > 0))
        return 1;
    kfi_quat_curve_segment(keys, i, &segment);
    for (int k = 0; k <= PIECES; k++)
        kfi_quat_segment_value(&segment, from + length * k / PIECES, q[k]);
    for (int k = 1; k < PIECES; k++) {
        kfi_quat_slerp(q[k - 1], q[k + 1], 0.5, middle);
        bend = fmax(bend, kfi_quat_angle(middle, q[k]));
    }
    return PIECES * (size_t)fmin(ceil(fmax(sqrt(bend / tolerance), 1)), FINER);
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

/* Of the segments that were drawn what came back; of the others what the merged keys play: in as many pieces as straight ways
 * take, or, for a search, few; but beside what was drawn new keys may bend it, and near the key more than elsewhere. */
static bool sample(const kfi_merge_track *t, const looks *l, const bool *drawn, double tolerance, unsigned finest, samples *s)
{
    const kf_quat_curve *keys = &t->merged->quat;
    size_t room = 1, last = SIZE_MAX, next = 0;
    size_t *pieces = kfi_alloc(t->job, keys->count, sizeof *pieces);
    if (!pieces)
        return false;
    for (size_t i = 0; i + 1 < keys->count; i++) {
        bool near = is_near(drawn, keys->count, i, &last, &next), beside = (i > 0 && drawn[i - 1]) || drawn[i + 1];
        pieces[i] = PIECES * (beside && finest > 1 ? BESIDE : near);
        if (finest == FINER)
            pieces[i] = (size_t)fmax((double)pieces[i], (double)pieces_played(keys, i, 0.5 * tolerance));
        room += 1 + (drawn[i] ? 0 : pieces[i]);
        for (size_t k = l->first[i]; drawn[i] && k < l->first[i + 1]; k += PIECES)
            room += PIECES * parts_of(l, k, 0.5 * tolerance, finest);
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
        bool jump = s->times[i + 1] - s->times[i] <= JUMP;
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
static bool search(const kfi_merge_track *t, const looks *l, const bool *drawn, double tolerance, const samples *all,
                   const kfi_fit_quat_options *options, kf_quat_curve *fitted, bool *found)
{
    enum { ROUNDS = 8 };
    samples few;
    size_t count = 0, before = SIZE_MAX; /* missed so far */
    bool *missed = kfi_alloc(t->job, all->count, sizeof *missed);
    double *off = kfi_alloc_raw(t->job, all->count, sizeof *off);
    *found = false;
    if (!missed || !off)
        return false;
    for (unsigned round = 0; round < ROUNDS && !*found && count != before; round++) {
        kfi_mark mark = kfi_arena_mark(&t->job->arena);
        if (!sample(t, l, drawn, tolerance, round ? MORE : 1, &few) || !add_missed(t->job, all, missed, count, &few) ||
            !kfi_fit_quat(t->job, few.times, (const double(*)[4])few.q, few.count, options, fitted) ||
            !measure(t->job, fitted, all, off))
            return false;
        *found = fitted->count > 0;
        for (size_t i = 0; i < all->count && *found; i++)
            *found = off[i] <= 0.9 * tolerance;
        if (!*found)
            kfi_arena_release(&t->job->arena, mark);
        if (round == 0)
            continue;
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
bool kfi_merge_quat_drawn(kfi_merge_track *t)
{
    const kf_quat_curve begun = t->merged->quat;
    double tolerance = t->input->tolerance > 0 ? t->input->tolerance : fmax(0.01, t->limits->value[KF_ROTATION]);
    looks l;
    samples all;
    bool any = false, found = false;
    if (begun.count < 2)
        return true;
    bool *drawn = kfi_alloc(t->job, begun.count, sizeof *drawn);
    if (!drawn || !list_looks(t, &l))
        return false;
    for (size_t i = 0; i + 1 < begun.count; i++) {
        if (!is_drawn(t, &l, i, 0.95 * tolerance, &drawn[i])) /* between two looks it may be more */
            return false;
        any = any || drawn[i];
    }
    if (!any)
        return true;
    if (!tell_jumps(t, &l, drawn))
        return false;
    /* The rest is for what lies between two looks, for the FBX, which has the original within 0.004 degrees, and, beside TCB keys,
     * for an exporter that has to tell straight ways in these. */
    double aim = begun.tcb ? 0.5 : 0.6;
    kfi_fit_quat_options options = {.interps = t->input->capabilities->quat_interps, .tolerance = aim * tolerance,
                                    .original = &begun, .keys = KFI_QUAT_CURVED};
    kf_quat_curve fitted;
    if (!sample(t, &l, drawn, tolerance, FINER, &all))
        return false;
    if (!search(t, &l, drawn, tolerance, &all, &options, &fitted, &found))
        return false;
    options.keys = KFI_QUAT_STRAIGHT;
    if (!found && !kfi_fit_quat(t->job, all.times, (const double(*)[4])all.q, all.count, &options, &fitted))
        return false;
    t->merged->quat = fitted;
    pass_on(&begun, &t->merged->quat);
    kfi_count_quat_keys(t);
    return true;
}
