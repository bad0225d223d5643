/* TCB segments through samples. A key's numbers say the slopes on both its sides, and those depend on where
 * its neighbours are; so everything is looked at in rounds. Each round seeks new numbers for the keys beside
 * segments that do not fit, and splits the segments for which that was in vain.
 *
 * The original's segments are to stay as they are: the key where one meets an edited stretch has to keep its
 * slope on that side. Where no numbers in range do both, an anchor is set in the edited stretch: a key at a
 * place that makes it possible. */
#include "internal.h"

enum { MOST_ROUNDS = 200, TRIES = 3, FARTHEST = 64 };

typedef enum todo { FINE, SEEK, CUT, HALVE } todo;

/* Where a key should come in and go out; NAN where any slope will do. */
typedef struct target {
    double in, out;
    bool sought;
    uint8_t todo;  /* of the segment after it */
    size_t anchor; /* a sample in the segment after it to set a key at; 0: none */
} target;

typedef struct around {
    double gap[2], rise[2]; /* before and after a key; 0 where there is none */
} around;

static around look_around(const kfi_fit_keys *keys, size_t i)
{
    const kf_key *key = &keys->items[i].key;
    around a = {{0.0, 0.0}, {0.0, 0.0}};
    if (i > 0) {
        const kf_key *before = &keys->items[i - 1].key;
        a.gap[0] = key->time - before->time;
        a.rise[0] = key->value - before->value;
    }
    if (i + 1 < keys->count) {
        const kf_key *after = &keys->items[i + 1].key;
        a.gap[1] = after->time - key->time;
        a.rise[1] = after->value - key->value;
    }
    return a;
}

/* How far off the slopes that the numbers give an inner key are, in values: at most 4/27 of the slope's miss
 * over the segment. */
static void misses(const kfi_fitting *f, const around *a, const kf_tcb *tcb, const double slope[2],
                   double miss[2])
{
    double is[2];
    if (f->tcb_rule == KF_TCB_FBX) {
        kfi_tcb_tangents(*tcb, 1.0, 1.0, a->rise[0] / a->gap[0], a->rise[1] / a->gap[1], &is[0], &is[1]);
    } else {
        kfi_tcb_tangents(*tcb, a->gap[0], a->gap[1], a->rise[0], a->rise[1], &is[0], &is[1]);
        is[0] /= a->gap[0];
        is[1] /= a->gap[1];
    }
    for (int side = 0; side < 2; side++)
        miss[side] = fabs(is[side] - slope[side]) * a->gap[side] * 4.0 / 27.0;
}

/* A place in the segment on `side` of key i where a neighbour lets numbers in range say its slope on both
 * sides; the farthest one, or SIZE_MAX. */
static size_t find_anchor(const kfi_fitting *f, size_t i, int side, const double slope[2])
{
    const kfi_samples *s = &f->samples;
    const kfi_fit_key *key = &f->keys.items[i];
    size_t here = key->sample, room = side ? key[1].sample - here : here - key[-1].sample, best = SIZE_MAX;
    around a = look_around(&f->keys, i);
    for (size_t m = 1; m < room && m <= FARTHEST; m += 1 + m / 4) {
        size_t there = side ? here + m : here - m;
        double slopes[2], want[2] = {slope[0], slope[1]}, miss[2];
        if (!kfi_fit_cubic(s, side ? here : there, side ? there : here, slopes))
            break;
        want[side] = slopes[1 - side];
        a.gap[side] = fabs(s->t[there] - s->t[here]);
        a.rise[side] = side ? s->v[there] - s->v[here] : s->v[here] - s->v[there];
        kf_tcb tcb = {0};
        kfi_tcb_from_slopes(f->tcb_rule, a.gap, a.rise, want, &tcb);
        misses(f, &a, &tcb, want, miss);
        if (fmax(miss[0], miss[1]) < 0.25 * s->tolerance)
            best = there;
    }
    return best;
}

/* No numbers in range say the slopes of key i: sets a neighbour on one side, or on both. */
static void help_key(kfi_fitting *f, target *want, size_t i, const double slope[2], const double miss[2])
{
    kfi_fit_key *key = &f->keys.items[i];
    bool open[2] = {!key[-1].kept && key[-1].key.interp == KF_TCB, !key->kept && key->key.interp == KF_TCB};
    size_t farthest = 0;
    for (int side = 0; side < 2; side++) {
        size_t anchor = open[side] ? find_anchor(f, i, side, slope) : SIZE_MAX;
        size_t way = anchor == SIZE_MAX ? 0 : side ? anchor - key->sample : key->sample - anchor;
        if (way > farthest) {
            farthest = way;
            want[side ? i : i - 1].anchor = anchor;
            if (side)
                want[i - 1].anchor = 0;
        }
    }
    if (farthest > 0)
        return;
    bool halved = false;
    for (int side = 0; side < 2; side++) {
        const kfi_fit_key *start = side ? key : key - 1;
        if (open[side] && start[1].sample - start->sample > 1) {
            want[side ? i : i - 1].todo = HALVE;
            halved = true;
        }
    }
    for (int side = 0; side < 2 && !halved; side++)
        if (key[side - 1].kept && miss[side] > 0.5 * f->samples.tolerance)
            key[side - 1].kept = false; /* then the original's segment cannot stay */
}

static void seek_numbers(kfi_fitting *f, kf_curve *curve, target *want, size_t i)
{
    kfi_fit_key *key = &f->keys.items[i];
    around a = look_around(&f->keys, i);
    double slope[2] = {want[i].in, want[i].out}, miss[2];
    for (int side = 0; side < 2; side++)
        if (isnan(slope[side]))
            slope[side] = slope[1 - side];
    if (isnan(slope[0]))
        return;
    /* Neighbours were fitted each for itself; where they meet almost in line, in line is meant. */
    double gap = fmin(a.gap[0] > 0.0 ? a.gap[0] : a.gap[1], a.gap[1] > 0.0 ? a.gap[1] : a.gap[0]);
    bool kept = key->kept || (i > 0 && key[-1].kept);
    if (!kept && fabs(slope[0] - slope[1]) * gap * 4.0 / 27.0 < 0.1 * f->samples.tolerance)
        slope[0] = slope[1] = (slope[0] * a.gap[0] + slope[1] * a.gap[1]) / (a.gap[0] + a.gap[1]);
    key->tries++;
    if (!(a.gap[0] > 0.0) ||
        !(a.gap[1] > 0.0)) { /* what an end key has without tension is all it can reach */
        int side = a.gap[0] > 0.0 ? 0 : 1;
        double level[2];
        curve->tcb[i] = (kf_tcb){0};
        kfi_tcb_slopes(curve, i, &level[0], &level[1]);
        a.rise[side] = level[side] * a.gap[side];
        kfi_tcb_from_slopes(f->tcb_rule, a.gap, a.rise, slope, &key->tcb);
        return;
    }
    kfi_tcb_from_slopes(f->tcb_rule, a.gap, a.rise, slope, &key->tcb);
    misses(f, &a, &key->tcb, slope, miss);
    if (fmax(miss[0], miss[1]) > 0.25 * f->samples.tolerance)
        help_key(f, want, i, slope, miss);
}

/* Looks at the TCB segment after key i: what it wants of its ends, and what is to be done about it. */
static void look_at(kfi_fitting *f, const kf_curve *curve, target *want, size_t i)
{
    const kfi_samples *s = &f->samples;
    kfi_fit_key *key = &f->keys.items[i];
    kfi_segment segment;
    kfi_curve_segment(curve, i, &segment);
    size_t a = key->sample, b = key[1].sample;
    bool own =
        key->kept || (key->origin != KF_NEW && key[1].origin != KF_NEW && key->tries + key[1].tries == 0);
    bool fits = kfi_fit_segment(s, a, b, &segment, !own);
    want[i].out = kfi_handle_slope(segment.h0);
    want[i + 1].in = kfi_handle_slope(segment.h1);
    want[i].todo = FINE;
    key->fits = true;
    if (key->kept) {
        kfi_curve_segment(f->original, key->origin, &segment);
        want[i].out = kfi_handle_slope(segment.h0);
        want[i + 1].in = kfi_handle_slope(segment.h1);
        if (fits)
            return;
        bool before = i > 0 && !key[-1].kept, after = !key[1].kept;
        want[i].sought = want[i].sought || before || !after;
        want[i + 1].sought = after || !before;
        want[i].todo = SEEK;
        return;
    }
    if (fits)
        return;
    double slope[2];
    bool eased = segment.ease0 + segment.ease1 > 0.0;
    bool cubic = eased && kfi_fit_eased(s, a, b, segment.ease0, segment.ease1, slope);
    if (!cubic) {
        cubic = kfi_fit_cubic(s, a, b, slope);
        if (eased)
            key->tcb.ease_out = key[1].tcb.ease_in = 0.0f;
    }
    bool whole = b - a > 1; /* else there is nothing to split */
    unsigned tries = whole ? TRIES : 2;
    bool hope = key->tries < tries || key[1].tries < tries;
    want[i].todo = (uint8_t)(!cubic && whole ? CUT : hope ? SEEK : whole ? HALVE : FINE);
    if (want[i].todo == SEEK || want[i].todo == HALVE) {
        want[i].out = slope[0];
        want[i + 1].in = slope[1];
        want[i].sought = want[i + 1].sought = true;
    }
}

static kfi_fit_key *add_tcb(kfi_fitting *f, kfi_fit_keys *to, size_t sample)
{
    kfi_fit_key *key = kfi_fit_add(f, to);
    if (key) {
        *key = (kfi_fit_key){.sample = sample, .origin = KF_NEW};
        key->key = (kf_key){.time = f->samples.t[sample], .value = f->samples.v[sample], .interp = KF_TCB};
    }
    return key;
}

/* Puts keys between the last one of the list `to` and sample b by the longest pieces; the last two share
 * evenly if they can, since a short rest knows little of its slopes. */
static bool cut(kfi_fitting *f, kfi_fit_keys *to, size_t b)
{
    size_t before = b, first = to->count;
    for (size_t a = to->items[to->count - 1].sample; a < b;) {
        kfi_piece piece = kfi_longest_piece(f, a, b);
        bool alone = to->count == first && piece.end >= b; /* one piece, but no TCB cubic */
        if (piece.interp == KF_STEP || (alone && piece.interp == KF_LINEAR && kfi_can(f, KF_LINEAR))) {
            to->items[to->count - 1].key.interp = piece.interp;
            to->items[to->count - 1].fits = true;
        } else if (alone) {
            piece.end = a + (b - a) / 2;
        }
        if (piece.end < b) {
            before = a;
            if (!add_tcb(f, to, piece.end))
                return false;
        }
        a = piece.end;
    }
    if (to->count == first || to->items[to->count - 2].key.interp != KF_TCB)
        return true;
    kfi_fit_key *last = &to->items[to->count - 1];
    double slope[2];
    for (size_t at = before + (b - before) / 2; at < last->sample; at += 1 + (last->sample - at) / 2)
        if (last->key.interp == KF_TCB && kfi_fit_cubic(&f->samples, before, at, slope) &&
            kfi_fit_cubic(&f->samples, at, b, slope)) {
            last->sample = at;
            last->key.time = f->samples.t[at];
            last->key.value = f->samples.v[at];
            break;
        }
    return true;
}

static bool split(kfi_fitting *f, const target *want)
{
    kfi_fit_keys next = {0};
    for (size_t i = 0; i < f->keys.count; i++) {
        kfi_fit_key *key = kfi_fit_add(f, &next);
        if (!key)
            return false;
        *key = f->keys.items[i];
        if (i + 1 == f->keys.count || (want[i].todo < CUT && !want[i].anchor))
            continue;
        key->tries = 0;
        size_t a = key->sample, b = f->keys.items[i + 1].sample;
        if (want[i].anchor          ? !add_tcb(f, &next, want[i].anchor)
            : want[i].todo == HALVE ? !add_tcb(f, &next, a + (b - a) / 2)
                                    : !cut(f, &next, b))
            return false;
    }
    f->keys = next;
    return true;
}

static bool tcb_round(kfi_fitting *f, bool *open)
{
    size_t count = f->keys.count;
    kf_curve curve;
    target *want = kfi_scratch(f, count, sizeof *want);
    if (!want || !kfi_fit_as_curve(f, &curve))
        return false;
    for (size_t i = 0; i < count; i++)
        want[i] = (target){NAN, NAN, false, FINE, 0};
    bool splits = false;
    *open = false;
    for (size_t i = 0; i + 1 < count; i++)
        if (f->keys.items[i].key.interp == KF_TCB)
            look_at(f, &curve, want, i);
    for (size_t i = 0; i < count; i++)
        if (want[i].sought)
            seek_numbers(f, &curve, want, i);
    for (size_t i = 0; i < count; i++) {
        *open = *open || want[i].todo != FINE || want[i].anchor;
        splits = splits || want[i].todo >= CUT || want[i].anchor;
    }
    return !splits || split(f, want);
}

bool kfi_fit_tcb(kfi_fitting *f)
{
    bool open = true;
    for (int round = 0; open && round < MOST_ROUNDS; round++) {
        kfi_mark mark = kfi_arena_mark(&f->scratch);
        const kfi_fit_key *items = f->keys.items;
        if (!tcb_round(f, &open))
            return false;
        if (f->keys.items == items) /* else the new list lies behind the mark */
            kfi_arena_release(&f->scratch, mark);
    }
    return true;
}
