/* Orientations to few keys: the original's keys where they still tell the motion, holds and slerps elsewhere.
 *
 * A TCB key beside an edited stretch has new neighbours, and the original's segment on its other side would
 * bend: its numbers are chosen anew so that the squad point of that segment stays where it was. */
#include "quat_internal.h"
#include "shared.h"
#include "tolerance.h"

#include <string.h>

static const double SAME_TIME = 1e-7;
enum { MOST_PASSES = 40, PATIENCE = 32, LITTLE_PATIENCE = 2, MANY_EACH = 8 };

static bool can(const kfi_quat_fitting *f, unsigned interp)
{
    return f->interps >> interp & 1;
}

static kfi_quat_item *add(kfi_quat_fitting *f, kfi_quat_item **items, size_t *count, size_t sample,
                          uint8_t interp)
{
    kfi_quat_item *it = kfi_push(f->job, items, count, sizeof *it);
    if (it) {
        *it = (kfi_quat_item){.sample = sample, .origin = KF_NEW};
        it->key.time = f->t[sample];
        it->key.interp = interp;
        memcpy(it->key.q, f->q[sample], sizeof it->key.q);
    }
    return it;
}

/* ---- samples ---- */

static bool take_samples(kfi_quat_fitting *f, const double *times, const double (*q)[4], size_t count)
{
    const kf_quat_curve *original = f->original;
    size_t keys = original ? original->count : 0, key = 0;
    f->t = kfi_alloc_raw(f->job, count + keys, sizeof *f->t);
    f->q = kfi_alloc_raw(f->job, count + keys, sizeof *f->q);
    if (!f->t || !f->q)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (f->count > 0 && !(times[i] > f->t[f->count - 1]))
            continue;
        for (; key < keys && original->keys[key].time < times[i] - SAME_TIME; key++) {
            double time = original->keys[key].time, own[4];
            if (i == 0 || time <= f->t[f->count - 1] + SAME_TIME)
                continue;
            /* A key between two samples: it stays if the original passes through both. */
            double u = (time - times[i - 1]) / (times[i] - times[i - 1]);
            kfi_quat_slerp(q[i - 1], q[i], u, f->q[f->count]);
            bool same = true;
            for (size_t k = i - 1; k <= i; k++) {
                kfi_quat_curve_value(original, times[k], own);
                same = same && kfi_quat_angle(own, q[k]) <= f->tolerance;
            }
            if (same)
                memcpy(f->q[f->count], original->keys[key].q, sizeof *f->q);
            f->t[f->count++] = time;
        }
        bool at_key = key < keys && fabs(original->keys[key].time - times[i]) <= SAME_TIME;
        f->t[f->count] = at_key ? original->keys[key].time : times[i];
        memcpy(f->q[f->count], q[i], sizeof *f->q);
        kfi_quat_normalize(f->q[f->count++]);
    }
    return true;
}

/* ---- pieces ---- */

static bool hold_fits(const kfi_quat_fitting *f, size_t a, size_t b)
{
    for (size_t i = a + 1; i < b; i++)
        if (!(kfi_quat_angle(f->q[a], f->q[i]) <= f->tolerance))
            return false;
    return true;
}

static bool slerp_fits(const kfi_quat_fitting *f, size_t a, size_t b)
{
    for (size_t i = a + 1; i < b; i++) {
        double is[4];
        kfi_quat_slerp(f->q[a], f->q[b], (f->t[i] - f->t[a]) / (f->t[b] - f->t[a]), is);
        if (!(kfi_quat_angle(is, f->q[i]) <= f->tolerance))
            return false;
    }
    return true;
}

/* A hold of several samples that ends in a jump is a step. */
static size_t hold_reach(const kfi_quat_fitting *f, size_t a, size_t limit)
{
    size_t b = a + 1;
    while (b < limit && kfi_quat_angle(f->q[a], f->q[b]) <= f->tolerance)
        b++;
    bool jump = kfi_quat_angle(f->q[b - 1], f->q[b]) > 4.0 * f->tolerance;
    return b > a + 2 && jump ? b : a;
}

static size_t slerp_reach(const kfi_quat_fitting *f, size_t a, size_t limit)
{
    size_t best = a + 1, fails = limit + 1;
    for (size_t length = 2; best < limit; length *= 2) {
        size_t b = length < limit - a ? a + length : limit;
        if (!slerp_fits(f, a, b)) {
            fails = b;
            break;
        }
        best = b;
    }
    while (fails - best > 1) {
        size_t middle = best + (fails - best) / 2;
        if (slerp_fits(f, a, middle))
            best = middle;
        else
            fails = middle;
    }
    return best;
}

/* Pieces from the last of the items to sample b, which is not added. */
static bool add_pieces(kfi_quat_fitting *f, kfi_quat_item **items, size_t *count, size_t b)
{
    for (;;) {
        kfi_quat_item *from = &(*items)[*count - 1];
        size_t a = from->sample, held = can(f, KF_STEP) ? hold_reach(f, a, b) : a;
        size_t end = held > a ? held : slerp_reach(f, a, b);
        if (held > a) {
            from->key.interp = KF_STEP;
        } else if (can(f, KF_LINEAR)) {
            from->key.interp = KF_LINEAR;
        } else if (can(f, KF_TCB)) {
            from->key.interp = KF_TCB;
            from->tcb.ease_out = 0.0f;
            if (!from->bound)
                from->tcb = (kf_tcb){.continuity = -1.0f, .ease_in = from->tcb.ease_in};
        } else { /* steps only */
            from->key.interp = KF_STEP;
            for (end = a + 1; end < b && hold_fits(f, a, end + 1);)
                end++;
        }
        if (end >= b)
            return true;
        if (!add(f, items, count, end, from->key.interp))
            return false;
    }
}

/* ---- the original's keys ---- */

static bool begin_with_original(kfi_quat_fitting *f)
{
    const kf_quat_curve *original = f->original;
    size_t sample = 0, outside = 0;
    double own[4];
    for (size_t i = 0; i < original->count; i++) {
        while (sample + 1 < f->count && f->t[sample] < original->keys[i].time)
            sample++;
        if (f->t[sample] != original->keys[i].time)
            continue;
        if (f->item_count == 0) { /* what lies before the first key must be what it is there, or it needs a key */
            for (size_t k = 0; k < sample; k++)
                outside += kfi_quat_angle(f->q[sample], f->q[k]) > f->tolerance;
            size_t rest = 0; /* it may come after a rest */
            while (rest + 1 < sample && kfi_quat_angle(f->q[0], f->q[rest + 1]) <= 1e-3 * f->tolerance)
                rest++;
            if (outside && !add(f, &f->items, &f->item_count, rest, KF_LINEAR))
                return false;
        }
        kfi_quat_item *it = add(f, &f->items, &f->item_count, sample, original->keys[i].interp);
        if (!it)
            return false;
        it->key = original->keys[i];
        it->origin = (uint32_t)i;
        if (original->tcb)
            it->tcb = original->tcb[i];
        if (kfi_quat_angle(it->key.q, f->q[sample]) <= f->tolerance)
            memcpy(f->q[sample], it->key.q, sizeof it->key.q);
        else
            memcpy(it->key.q, f->q[sample], sizeof it->key.q);
    }
    if (f->item_count == 0)
        return add(f, &f->items, &f->item_count, 0, KF_LINEAR) &&
               (f->count == 1 || add(f, &f->items, &f->item_count, f->count - 1, KF_LINEAR));
    for (size_t i = 0; i + 1 < f->item_count; i++) {
        kfi_quat_item *it = &f->items[i];
        it->kept = it->origin != KF_NEW && it[1].origin == it->origin + 1 && can(f, it->key.interp);
        size_t end = it->key.interp == KF_STEP ? it[1].sample : it[1].sample + 1;
        for (size_t k = it->sample; k < end && it->kept; k++) {
            kfi_quat_curve_value(original, f->t[k], own);
            it->kept = kfi_quat_angle(own, f->q[k]) <= f->tolerance;
        }
    }
    const kfi_quat_item *last = &f->items[f->item_count - 1];
    for (size_t k = last->sample + 1; k < f->count; k++)
        if (kfi_quat_angle(last->key.q, f->q[k]) > f->tolerance)
            return add(f, &f->items, &f->item_count, f->count - 1, KF_LINEAR);
    return true;
}

bool kfi_quat_fit_curve(kfi_quat_fitting *f, kf_quat_curve *curve)
{
    *curve = (kf_quat_curve){0};
    if (!kfi_make_quat_keys(f->job, curve, f->item_count, true))
        return false;
    for (size_t i = 0; i < f->item_count; i++) {
        curve->keys[i] = f->items[i].key;
        curve->tcb[i] = f->items[i].tcb;
    }
    return true;
}

double kfi_quat_fit_worst(const kfi_quat_fitting *f, const kf_quat_curve *curve, size_t i)
{
    kfi_quat_segment segment;
    kfi_quat_curve_segment(curve, i, &segment);
    double worst = 0.0, is[4];
    for (size_t k = f->items[i].sample + 1; k < f->items[i + 1].sample; k++) {
        kfi_quat_segment_value(&segment, f->t[k], is);
        worst = fmax(worst, kfi_quat_angle(is, f->q[k]));
    }
    return worst;
}

/* Between keys with these numbers TCB is slerp. */
static bool is_corner(const kf_tcb *tcb)
{
    return tcb->tension == 0.0f && tcb->continuity == -1.0f && tcb->bias == 0.0f;
}

/* Whether the segment after item i tells its samples as it is. */
static bool fits(const kfi_quat_fitting *f, const kf_quat_curve *curve, size_t i)
{
    const kfi_quat_item *it = &f->items[i];
    if (!can(f, it->key.interp))
        return false;
    if (f->slerps && it->key.interp == KF_TCB && !(is_corner(&it->tcb) && is_corner(&it[1].tcb)))
        return false;
    return it->key.interp == KF_STEP ? hold_fits(f, it->sample, it[1].sample)
                                     : kfi_quat_fit_worst(f, curve, i) <= f->tolerance;
}

/* Gives each TCB key between one of the original's segments and one that does not fit an anchor in the
 * latter; where there is no place for one, the original's segment is lost. */
static bool set_anchors(kfi_quat_fitting *f)
{
    kf_quat_curve curve;
    kfi_quat_item *items = NULL;
    size_t count = 0;
    if (!kfi_quat_fit_curve(f, &curve))
        return false;
    for (size_t i = 0; i < f->item_count; i++) {
        kfi_quat_item *it = &f->items[i];
        bool inner = i > 0 && i + 1 < f->item_count && !it->bound, before = inner && it[-1].kept;
        bool bent = inner && before != it->kept && it[before ? -1 : 0].key.interp == KF_TCB;
        size_t sample = SIZE_MAX;
        int side = before ? 1 : 0;
        if (bent && !fits(f, &curve, before ? i : i - 1)) {
            if (kfi_quat_anchor(f, i, side, &sample, &it->tcb)) {
                it->bound = true;
                if (side)
                    it->key.interp = KF_TCB;
            } else {
                it[before ? -1 : 0].kept = false;
            }
        }
        for (int k = 0; k < 2; k++) { /* the anchor before or behind the key */
            bool own = k == (side && sample != SIZE_MAX ? 0 : 1);
            kfi_quat_item *to = own                  ? kfi_push(f->job, &items, &count, sizeof *to)
                                : sample != SIZE_MAX ? add(f, &items, &count, sample, KF_TCB)
                                                     : NULL;
            if (!to && (own || sample != SIZE_MAX))
                return false;
            if (own)
                *to = *it;
            else if (to)
                to->tcb.continuity = -1.0f;
        }
    }
    f->items = items;
    f->item_count = count;
    return true;
}

/* Tells the open segments that do not fit as they are by pieces; `done` if there were none. */
static bool fill_gaps(kfi_quat_fitting *f, bool *done)
{
    kf_quat_curve curve;
    kfi_quat_item *items = NULL;
    size_t count = 0;
    *done = true;
    if (!kfi_quat_fit_curve(f, &curve))
        return false;
    for (size_t i = 0; i < f->item_count; i++) {
        kfi_quat_item *it = kfi_push(f->job, &items, &count, sizeof *it);
        if (!it)
            return false;
        *it = f->items[i];
        if (i + 1 == f->item_count || it->kept || fits(f, &curve, i))
            continue;
        *done = false;
        if (!add_pieces(f, &items, &count, f->items[i + 1].sample))
            return false;
        /* Where TCB keys have to tell a slerp, its end must not bend it either. */
        kfi_quat_item *end = &f->items[i + 1];
        if (!can(f, KF_LINEAR) && !end->bound)
            end->tcb = (kf_tcb){.continuity = -1.0f, .ease_out = end->tcb.ease_out};
    }
    f->items = items;
    f->item_count = count;
    return true;
}

/* The original's segments that cannot be kept are open from now on. */
static bool keep_segments(kfi_quat_fitting *f, bool *lost)
{
    kfi_mark mark = kfi_arena_mark(&f->job->arena);
    kf_quat_curve curve;
    *lost = false;
    if (!kfi_quat_fit_curve(f, &curve))
        return false;
    for (size_t i = 0; i + 1 < f->item_count; i++) {
        kfi_quat_item *it = &f->items[i];
        if (it->kept && it->key.interp == KF_TCB && kfi_quat_fit_worst(f, &curve, i) > f->tolerance) {
            it->kept = false;
            *lost = true;
        }
    }
    kfi_arena_release(&f->job->arena, mark);
    return true;
}

static bool finish(kfi_quat_fitting *f, kf_quat_curve *result)
{
    const kf_quat_curve *original = f->original;
    bool tcb = original && original->tcb;
    for (size_t i = 0; i < f->item_count; i++)
        tcb = tcb || f->items[i].key.interp == KF_TCB;
    kf_quat_curve curve = {0};
    kf_origin *origin = kfi_alloc(f->job, f->item_count, sizeof *origin);
    if (!origin || !kfi_make_quat_keys(f->job, &curve, f->item_count, tcb))
        return false;
    for (size_t i = 0; i < f->item_count; i++) {
        kfi_quat_item *it = &f->items[i];
        uint32_t changed = KF_CHANGED_ALL;
        if (i > 0 && i + 1 == f->item_count && !can(f, it->key.interp))
            it->key.interp = it[-1].key.interp;
        if (it->origin != KF_NEW) {
            /* NOLINTNEXTLINE: what has an origin has an original */
            const kf_quat_key *was = &original->keys[it->origin];
            bool same = memcmp(was->q, it->key.q, sizeof was->q) == 0;
            changed =
                (same ? 0u : KF_CHANGED_VALUE) | (was->interp == it->key.interp ? 0u : KF_CHANGED_INTERP);
            if (original->tcb && memcmp(&original->tcb[it->origin], &it->tcb, sizeof it->tcb) != 0)
                changed |= KF_CHANGED_TCB;
        }
        curve.keys[i] = it->key;
        if (tcb)
            curve.tcb[i] = it->tcb;
        origin[i] = (kf_origin){it->origin, changed};
    }
    curve.origin = origin;
    *result = curve;
    return true;
}

bool kfi_fit_quat(kf_job *job, const double *times, const double (*q)[4], size_t count,
                  const kfi_fit_quat_options *options, kf_quat_curve *curve)
{
    *curve = (kf_quat_curve){0};
    if (count == 0)
        return true;
    kfi_quat_fitting f = {.job = job, .interps = options->interps, .original = options->original};
    f.tolerance = kfi_tolerated_angle(options->tolerance);
    bool about_axis = false, search = options->keys != KFI_QUAT_STRAIGHT;
    if (search && !kfi_fit_quat_axis(job, times, q, count, options, f.tolerance, curve, &about_axis))
        return false;
    bool shared = false, more = search && (!about_axis || curve->count > options->original->count);
    kf_quat_curve other;
    if (more && can(&f, KF_TCB) && options->original &&
        !kfi_fit_shared_quats(job, times, q, count, options->original, f.tolerance, &other, &shared))
        return false;
    if (shared && (!about_axis || other.count <= curve->count))
        *curve = other;
    if (shared || about_axis || options->keys == KFI_QUAT_CURVED)
        return true;
    if (!take_samples(&f, times, q, count))
        return false;
    if (f.original && f.original->count
            ? !begin_with_original(&f)
            : !add(&f, &f.items, &f.item_count, 0, KF_LINEAR) ||
                  (f.count > 1 && !add(&f, &f.items, &f.item_count, f.count - 1, KF_LINEAR)))
        return false;
    bool done = false, lost = true;
    for (int pass = 0; pass < MOST_PASSES && (!done || lost); pass++) {
        /* One segment after the other would be lost: then all at once, and soon where few of the keys are the original's anyway. */
        bool others = f.original && f.item_count / MANY_EACH > f.original->count;
        f.slerps = pass > (others ? LITTLE_PATIENCE : PATIENCE);
        for (size_t i = 0; f.slerps && i < f.item_count; i++) {
            f.items[i].kept = f.items[i].kept && f.items[i].key.interp != KF_TCB;
            f.items[i].bound = false;
        }
        if (!set_anchors(&f) || !fill_gaps(&f, &done) || !keep_segments(&f, &lost))
            return false;
    }
    return finish(&f, curve);
}
