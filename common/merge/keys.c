/* Key by key: a curve that came back with its keys, into the original's keys and what changed on them. */
#include "handles.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

bool kfi_merge_copy_curve(kf_job *job, const kf_curve *from, kf_curve *to, kf_origin **origin)
{
    *to = *from;
    *origin = kfi_alloc(job, from->count, sizeof **origin);
    if (!*origin || !kfi_own_keys(job, to, 0))
        return false;
    for (size_t i = 0; i < from->count; i++)
        (*origin)[i].key = (uint32_t)i;
    to->origin = *origin;
    return true;
}

/* ---------------------------------------------------------------- what changed on a key */

static bool same_tcb(const kf_curve *a, size_t i, const kf_curve *b, size_t j, double limit)
{
    if (a->keys[i].interp != KF_TCB || b->keys[j].interp != KF_TCB)
        return b->keys[j].interp != KF_TCB; /* a key made TCB brings its numbers */
    const kf_tcb *x = &a->tcb[i], *y = &b->tcb[j];
    return fabs((double)x->tension - (double)y->tension) <= limit &&
           fabs((double)x->continuity - (double)y->continuity) <= limit &&
           fabs((double)x->bias - (double)y->bias) <= limit;
}

static bool moved(const kfi_merge_track *t, const kf_curve *w, size_t i, const kf_curve *e, size_t j)
{
    return fabs(e->keys[j].time - t->offset - w->keys[i].time) > t->limits->time;
}

static bool is_cubic(uint8_t interp)
{
    return kfi_has_handles(interp) || interp == KF_TCB;
}

/* Whether a last key of another kind than it was is arrived at with another slope: in FBX a TCB key's own numbers make that one, and
 * what follows a TCB key without being one has none. */
static bool arrives_otherwise(const kfi_merge_track *t, const kf_curve *w, size_t i, const kf_curve *e, size_t j)
{
    double was, now, out;
    if (i == 0 || j == 0 || !is_cubic(w->keys[i - 1].interp) || !is_cubic(e->keys[j - 1].interp))
        return false;
    kfi_curve_slopes(w, i, &was, &out);
    kfi_curve_slopes(e, j, &now, &out);
    return fabs(was - now) > t->limits->slope * (fmax(fabs(was), fabs(now)) + 1e-3);
}

uint32_t kfi_key_changes(const kfi_merge_track *t, unsigned c, const kf_curve *w, size_t i, const kf_curve *e, size_t j,
                         const kfi_pairing *p)
{
    const kf_key *was = &w->keys[i], *now = &e->keys[j];
    uint32_t changed = kfi_handle_changes(t, &t->original->curve[c], w->origin ? w->origin[i].key : i, &(kfi_both){w, e, i, j}, p);
    if (moved(t, w, i, e, j))
        changed |= KF_CHANGED_TIME;
    if (!kfi_same_value(t->limits, t->written->channel, was->value, now->value))
        changed |= KF_CHANGED_VALUE;
    /* The interpolation of a last key shows nowhere but in how it is arrived at. */
    bool last = j + 1 == e->count && i + 1 == w->count;
    if (was->interp != now->interp && !last)
        changed |= KF_CHANGED_INTERP;
    if (was->interp != now->interp && last && arrives_otherwise(t, w, i, e, j))
        changed |= KF_CHANGED_IN;
    if (!same_tcb(w, i, e, j, 1e-6))
        changed |= KF_CHANGED_TCB;
    return changed;
}

/* ---------------------------------------------------------------- the merged curve */

/* A key as it came back, on the original's axis of time. */
static kf_key edited_key(const kfi_merge_track *t, const kf_curve *e, size_t j)
{
    kf_key key = e->keys[j];
    key.time = key.time - t->offset - t->shift;
    key.flags &= (uint8_t)~KF_KEY_HELPER;
    key.attr = 0;
    key.native = 0;
    return key;
}

typedef struct building {
    kfi_merge_track *t;
    kf_curve *to;
    kf_origin *origin;
} building;

/* A TCB segment that has to become explicit: its two keys get the handles they have had so far, but for an edited one. */
static void make_explicit(building *b, size_t k)
{
    kf_curve *to = b->to;
    if (k + 1 >= to->count || to->keys[k].interp != KF_TCB)
        return;
    double in, out, next_in, next_out;
    double duration = to->keys[k + 1].time - to->keys[k].time;
    kfi_curve_slopes(to, k, &in, &out);
    kfi_curve_slopes(to, k + 1, &next_in, &next_out);
    to->keys[k].interp = KF_HERMITE;
    to->handles[k].out = kfi_slope_handle(out, duration);
    if (!(b->origin[k + 1].changed & KF_CHANGED_IN))
        to->handles[k + 1].in = kfi_slope_handle(next_in, -duration);
    b->origin[k].changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
    b->origin[k + 1].changed |= KF_CHANGED_IN;
}

static void take_changes(building *b, size_t k, uint32_t changed, const kf_curve *w, size_t i, const kf_curve *e, size_t j)
{
    kf_key *key = &b->to->keys[k];
    kf_key now = edited_key(b->t, e, j);
    if (changed & KF_CHANGED_TIME)
        key->time = now.time;
    if (changed & KF_CHANGED_VALUE)
        key->value = now.value;
    if (changed & KF_CHANGED_INTERP) {
        key->interp = now.interp;
        key->native = 0;
    }
    kfi_take_handles(b->t, &(kfi_both){w, e, i, j}, changed, &b->to->handles[k]);
    if (changed & (KF_CHANGED_TCB | KF_CHANGED_INTERP) && e->keys[j].interp == KF_TCB && b->to->tcb) {
        b->to->tcb[k].tension = e->tcb[j].tension;
        b->to->tcb[k].continuity = e->tcb[j].continuity;
        b->to->tcb[k].bias = e->tcb[j].bias;
    }
}

/* Whether another component's slopes follow from the numbers of the same key, in a format that has handles instead. */
static bool shares_numbers(const kfi_merge_track *t, unsigned c, size_t key)
{
    const kf_capabilities *can = t->input->capabilities;
    bool handles = can->interps >> KF_BEZIER & 1;
    for (unsigned other = 0; handles && can->components_together && other < t->original->curves; other++) {
        const kf_curve *curve = &t->original->curve[other];
        if (other != c && key < curve->count &&
            (curve->keys[key].interp == KF_TCB || (key > 0 && curve->keys[key - 1].interp == KF_TCB)))
            return true;
    }
    return false;
}

/* An end key's slope hangs on that of its neighbour, which was drawn anew: it keeps the one that it shows. */
static void hold_end(building *b, const kf_curve *e, const size_t *edited_of, size_t end, bool alone)
{
    kf_curve *to = b->to;
    size_t segment = end ? end - 1 : 0, shown = edited_of[end];
    uint32_t side = end ? KF_CHANGED_IN : KF_CHANGED_OUT;
    if (to->keys[segment].interp != KF_TCB || !kfi_has_handles(e->keys[end ? shown - 1 : shown].interp) ||
        b->origin[end].changed & side)
        return;
    double in = kfi_handle_slope(kfi_handles_of(e, shown).in), out = kfi_handle_slope(kfi_handles_of(e, shown).out);
    kf_tcb was = to->tcb[end];
    if (kfi_merge_solve_tcb(to, end, in, out, end > 0, end == 0)) {
        if (fabsf(was.tension - to->tcb[end].tension) <= 1e-6f && was.continuity == to->tcb[end].continuity)
            to->tcb[end] = was;
        else
            b->origin[end].changed |= KF_CHANGED_TCB | (alone ? 0u : side);
        return;
    }
    make_explicit(b, segment);
    double gap = to->keys[segment + 1].time - to->keys[segment].time;
    if (end)
        to->handles[end].in = kfi_slope_handle(in, -gap);
    else
        to->handles[end].out = kfi_slope_handle(out, gap);
}

/* Slopes edited on keys that are TCB in the original: new numbers where some give these slopes and no other component
 * would follow, else the segment becomes explicit. */
static void restore_form(building *b, unsigned c, const kf_curve *e, const size_t *edited_of)
{
    kf_curve *to = b->to;
    for (size_t k = 0; k < to->count; k++) {
        uint32_t changed = b->origin[k].changed;
        bool tcb_in = k > 0 && to->keys[k - 1].interp == KF_TCB;
        bool tcb_out = to->keys[k].interp == KF_TCB;
        /* A handle on the side of another kind of segment is that segment's own, and stays edited. */
        uint32_t sides = (tcb_in ? KF_CHANGED_IN : 0u) | (tcb_out ? KF_CHANGED_OUT : 0u);
        if (b->origin[k].key == KF_NEW || !(changed & sides))
            continue;
        kf_handles now = kfi_handles_of(e, edited_of[k]);
        double in = kfi_handle_slope(now.in), out = kfi_handle_slope(now.out);
        if (!shares_numbers(b->t, c, b->origin[k].key) && kfi_merge_solve_tcb(to, k, in, out, tcb_in, tcb_out)) {
            /* Where the numbers go for other components, too, it counts that they stand for slopes. */
            bool alone = !b->t->input->capabilities->components_together || b->t->original->curves == 1;
            b->origin[k].changed = (alone ? changed & ~sides : changed) | KF_CHANGED_TCB;
            if (k == 1)
                hold_end(b, e, edited_of, 0, alone);
            if (k + 2 == to->count)
                hold_end(b, e, edited_of, k + 1, alone);
            continue;
        }
        if (tcb_in && (changed & KF_CHANGED_IN)) {
            make_explicit(b, k - 1);
            to->handles[k].in = kfi_slope_handle(in, to->keys[k - 1].time - to->keys[k].time);
        }
        if (tcb_out && (changed & KF_CHANGED_OUT)) {
            make_explicit(b, k);
            to->handles[k].out = kfi_slope_handle(out, k + 1 < to->count ? to->keys[k + 1].time - to->keys[k].time : 0);
        }
    }
}

static bool wants_tcb(const kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->keys[i].interp == KF_TCB)
            return true;
    return false;
}

/* Where a helper key stands between its two native keys, 0 to 1, and their distance. */
static double place_of(const kf_curve *curve, size_t i, size_t first, size_t last, double *distance)
{
    *distance = curve->keys[last].time - curve->keys[first].time;
    return *distance > 0 ? (curve->keys[i].time - curve->keys[first].time) / *distance : 0;
}

/* A TCB key's slopes follow from its numbers. Where it was written with slopes, and its segment was stretched, and they with it,
 * nobody edited them. */
static uint32_t forgive_slopes(const kfi_merge_track *t, const kf_curve *from, size_t origin, const kf_curve *w, size_t i,
                               const kf_curve *e, size_t j, uint32_t changed)
{
    const kf_key *was = &w->keys[i], *now = &e->keys[j];
    kf_handles own = kfi_handles_of(w, i), edited = kfi_handles_of(e, j);
    if (i > 0 && j > 0 && origin > 0 && from->keys[origin - 1].interp == KF_TCB && kfi_has_handles(was[-1].interp) &&
        kfi_same_rise(t, own.in, was[-1].time - was->time, edited.in, now[-1].time - now->time))
        changed &= ~(uint32_t)KF_CHANGED_IN;
    if (i + 1 < w->count && j + 1 < e->count && from->keys[origin].interp == KF_TCB && kfi_has_handles(was->interp) &&
        kfi_same_rise(t, own.out, was[1].time - was->time, edited.out, now[1].time - now->time))
        changed &= ~(uint32_t)KF_CHANGED_OUT;
    return changed;
}

/* The game's own keys around helper key i. */
static void ends_of(const kf_curve *w, size_t i, size_t *first, size_t *last)
{
    for (*first = i; *first > 0 && (w->keys[*first].flags & KF_KEY_HELPER);)
        --*first;
    for (*last = i; *last + 1 < w->count && (w->keys[*last].flags & KF_KEY_HELPER);)
        ++*last;
}

/* Helper key i, in the same place of a segment that was stretched as a whole. */
static bool stretched(const kfi_merge_track *t, const kf_curve *w, size_t i, const kf_curve *e, const kfi_pairing *p)
{
    size_t first, last;
    ends_of(w, i, &first, &last);
    if (p->back[first] == KFI_UNPAIRED || p->back[last] == KFI_UNPAIRED || p->back[last] - p->back[first] != (int64_t)(last - first))
        return false;
    double was_distance, now_distance;
    size_t j = (size_t)p->back[i];
    double was = place_of(w, i, first, last, &was_distance);
    double now = place_of(e, j, (size_t)p->back[first], (size_t)p->back[last], &now_distance);
    kf_handles own = kfi_handles_of(w, i), edited = kfi_handles_of(e, j);
    return fabs(was - now) <= 1e-6 && was_distance > 0 && now_distance > 0 && w->keys[i].interp == e->keys[j].interp &&
           kfi_same_value(t->limits, t->written->channel, w->keys[i].value, e->keys[j].value) &&
           kfi_same_rise(t, own.in, was_distance, edited.in, now_distance) &&
           kfi_same_rise(t, own.out, was_distance, edited.out, now_distance);
}

/* Whether the slope of one of the game's own keys was edited where a helper key is beside it. */
static bool drawn_beside(const kfi_merge_track *t, unsigned c, const kf_curve *w, size_t i, const kf_curve *e, const kfi_pairing *p)
{
    uint32_t sides = (i > 0 && w->keys[i - 1].flags & KF_KEY_HELPER ? KF_CHANGED_IN : 0u) |
                     (i + 1 < w->count && w->keys[i + 1].flags & KF_KEY_HELPER ? KF_CHANGED_OUT : 0u);
    if (!sides || p->back[i] == KFI_UNPAIRED)
        return false;
    size_t j = (size_t)p->back[i], origin = w->origin ? w->origin[i].key : i;
    return forgive_slopes(t, &t->original->curve[c], origin, w, i, e, j, kfi_key_changes(t, c, w, i, e, j, p)) & sides;
}

/* Whether a helper key was touched, or a slope beside one: then its segment is fitted anew. */
static bool helper_touched(const kfi_merge_track *t, unsigned c, const kf_curve *w, const kf_curve *e, const kfi_pairing *p)
{
    for (size_t i = 0; i < w->count; i++) {
        if (!(w->keys[i].flags & KF_KEY_HELPER)) {
            if (drawn_beside(t, c, w, i, e, p))
                return true;
            continue;
        }
        if (p->back[i] == KFI_UNPAIRED || (kfi_key_changes(t, c, w, i, e, (size_t)p->back[i], p) && !stretched(t, w, i, e, p)))
            return true;
    }
    return false;
}

/* Of ease a slope alone tells nothing: what was drawn has none. */
static bool tell_drawn(const kfi_merge_track *t, unsigned c, const kf_curve *w, const kf_curve *e, const kfi_pairing *p)
{
    for (size_t i = 0; i < w->count; i++)
        if (!(w->keys[i].flags & KF_KEY_HELPER) && drawn_beside(t, c, w, i, e, p))
            return kfi_note(t->job, "helpers",
                            "take \"%.60s\", node \"%.60s\", %s at %.4f s: a slope was edited and the helper keys beside it were "
                            "not: there the game plays what was drawn, in keys without ease",
                            t->take, t->input->original->nodes[t->original->node].name,
                            kfi_channel_name((kf_channel)t->original->channel), w->keys[i].time - t->shift);
    return true;
}

/* Ease and T, C, B are the keys' own: they play between the keys as they are now, whatever the helper keys show that were left
 * behind. */
static bool tell_left_behind(const kfi_merge_track *t, const kf_curve *e, const size_t *edited_of, const kf_curve *merged)
{
    enum { LOOKS = 32 };
    double tolerance = kfi_tolerated(t->input->tolerance, (kf_channel)t->original->channel, merged), worst = tolerance, at = 0;
    for (size_t k = 0; k + 1 < merged->count; k++) {
        if (edited_of[k + 1] == edited_of[k] + 1)
            continue; /* no helper keys between them */
        double start = e->keys[edited_of[k]].time, length = e->keys[edited_of[k + 1]].time - start;
        kfi_segment game;
        kfi_curve_segment(merged, k, &game);
        for (int i = 1; i < LOOKS; i++) {
            double share = (double)i / LOOKS, time = game.t0 + share * (game.t1 - game.t0);
            double off = fabs(kfi_segment_value(&game, time) - kfi_curve_value(e, start + share * length, 0));
            if (off > worst) {
                worst = off;
                at = time;
            }
        }
    }
    return worst <= tolerance ||
           kfi_note(t->job, "helpers",
                    "take \"%.60s\", node \"%.60s\", %s at %.4f s: a key was edited or removed and the helper keys beside it were "
                    "not: ease stays as it is, between the keys that are there: the game's curve is off the one in the FBX by %.3g",
                    t->take, t->input->original->nodes[t->original->node].name,
                    kfi_channel_name((kf_channel)t->original->channel), at, worst);
}

/* Whether the segment before merged key k has handles, and that before the original's key had none: nobody edited the key, but
 * it has none to keep. */
static bool arrives_by_handle(const kf_curve *to, size_t k, const kf_curve *from, size_t origin)
{
    return k > 0 && kfi_has_handles(to->keys[k - 1].interp) && !(origin > 0 && kfi_has_handles(from->keys[origin - 1].interp));
}

bool kfi_merge_keys(kfi_merge_track *t, unsigned c)
{
    const kf_curve *from = &t->original->curve[c], *w = &t->written->curve[c], *e;
    kf_curve edited;
    kfi_pairing p;
    if (!kfi_merge_explicit(t->job, &t->edited->curve[c], &edited))
        return false;
    e = &edited;
    if (!kfi_merge_pair(t, w, e, &p))
        return false;
    if (helper_touched(t, c, w, e, &p))
        return tell_drawn(t, c, w, e, &p) && kfi_merge_drawn(t, c);

    size_t count = 0;
    unsigned parts = kfi_parts(from) | KFI_HANDLES | (wants_tcb(e) ? (unsigned)KFI_NUMBERS : 0);
    for (size_t j = 0; j < e->count; j++)
        count += p.partner[j] == KFI_UNPAIRED || !(w->keys[p.partner[j]].flags & KF_KEY_HELPER);
    kf_curve to = *from;
    building b = {t, &to, kfi_alloc(t->job, count, sizeof(kf_origin))};
    size_t *edited_of = kfi_alloc(t->job, count, sizeof *edited_of);
    if (!b.origin || !edited_of || !kfi_make_keys(t->job, &to, count, parts))
        return false;
    to.origin = b.origin;
    if (to.count && !from->count)
        to.tcb_rule = KF_TCB_KOCHANEK;

    size_t kept = 0, k = 0;
    for (size_t j = 0; j < e->count; j++) {
        if (p.partner[j] != KFI_UNPAIRED && (w->keys[p.partner[j]].flags & KF_KEY_HELPER))
            continue;
        edited_of[k] = j;
        if (p.partner[j] == KFI_UNPAIRED) {
            b.origin[k] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
            kfi_copy_keys(&to, k, e, j, 1);
            to.keys[k] = edited_key(t, e, j);
            t->keys_added++;
        } else {
            size_t i = (size_t)p.partner[j];
            uint32_t origin = w->origin ? w->origin[i].key : (uint32_t)i;
            uint32_t changed = forgive_slopes(t, from, origin, w, i, e, j, kfi_key_changes(t, c, w, i, e, j, &p));
            changed |= kfi_handles_follow(t, from, origin, &(kfi_both){w, e, i, j}, &p);
            if (arrives_by_handle(&to, k, from, origin))
                changed |= KF_CHANGED_IN;
            b.origin[k] = (kf_origin){origin, changed};
            kfi_copy_keys(&to, k, from, origin, 1);
            take_changes(&b, k, changed, w, i, e, j);
            t->keys_changed += changed != 0;
            kept++;
        }
        k++;
    }
    restore_form(&b, c, e, edited_of);
    if (!tell_left_behind(t, e, edited_of, &to))
        return false;
    t->keys_removed += from->count - kept;
    for (size_t i = 0; i < count; i++)
        t->changed = t->changed || b.origin[i].changed;
    t->changed = t->changed || kept != from->count;
    t->merged->curve[c] = to;
    t->shown[c].edited = edited;
    t->shown[c].of = edited_of;
    return true;
}
