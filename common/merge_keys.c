/* Key by key: a curve that came back with its keys, into the original's keys and what changed on them. */
#include "merge_internal.h"

#include <math.h>
#include <string.h>

bool kfi_merge_copy_curve(kf_job *job, const kf_curve *from, kf_curve *to, kf_origin **origin)
{
    *to = *from;
    *origin = kfi_alloc(job, from->count, sizeof **origin);
    if (!*origin || !kfi_make_keys(job, to, from->count, from->tcb != NULL))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        to->keys[i] = from->keys[i];
        if (from->tcb)
            to->tcb[i] = from->tcb[i];
        (*origin)[i].key = (uint32_t)i;
    }
    to->origin = *origin;
    return true;
}

/* ---------------------------------------------------------------- which key is which */

enum { NONE = -1 };

/* partner[j]: the written key that edited key j is, or NONE. Both run ascending. */
typedef struct pairing {
    int64_t *partner; /* for each edited key */
    int64_t *back;    /* for each written key */
} pairing;

static bool same_tcb(const kf_curve *a, size_t i, const kf_curve *b, size_t j, double limit)
{
    if (a->keys[i].interp != KF_TCB || b->keys[j].interp != KF_TCB)
        return true;
    const kf_tcb *x = &a->tcb[i], *y = &b->tcb[j];
    return fabs((double)x->tension - (double)y->tension) <= limit &&
           fabs((double)x->continuity - (double)y->continuity) <= limit &&
           fabs((double)x->bias - (double)y->bias) <= limit;
}

/* Removed and added keys between two keys that stayed are moved keys where they pair up. */
static void pair_moved(const kfi_merge_track *t, const kf_curve *w, size_t w0, size_t w1, const kf_curve *e, size_t e0,
                       size_t e1, pairing *p)
{
    size_t lost = 0, found = 0;
    for (size_t i = w0; i < w1; i++)
        lost += !(w->keys[i].flags & KF_KEY_HELPER);
    found = e1 - e0;
    bool all = lost == found;
    size_t j = e0;
    for (size_t i = w0; i < w1; i++) {
        if (w->keys[i].flags & KF_KEY_HELPER)
            continue;
        size_t at = j;
        while (!all && at < e1 && !kfi_same_value(t->limits, t->written->channel, w->keys[i].value, e->keys[at].value))
            at++;
        if (at < e1) {
            p->partner[at] = (int64_t)i;
            p->back[i] = (int64_t)at;
            j = at + 1;
        }
    }
}

/* Retimed as a whole: as many keys as were written, with their values in their order. Those at a time where another
 * one used to be are not mistaken for that one. */
static bool retimed(const kfi_merge_track *t, const kf_curve *w, const kf_curve *e)
{
    bool moved = false;
    for (size_t i = 0; w->count == e->count && i < w->count; i++) {
        if (!kfi_same_value(t->limits, t->written->channel, w->keys[i].value, e->keys[i].value))
            return false;
        moved = moved || fabs(e->keys[i].time - t->offset - w->keys[i].time) > t->limits->time;
    }
    return moved;
}

static bool pair_keys(const kfi_merge_track *t, const kf_curve *w, const kf_curve *e, pairing *p)
{
    p->partner = kfi_alloc_raw(t->job, e->count, sizeof *p->partner);
    p->back = kfi_alloc_raw(t->job, w->count, sizeof *p->back);
    if (!p->partner || !p->back)
        return false;
    for (size_t j = 0; j < e->count; j++)
        p->partner[j] = NONE;
    for (size_t i = 0; i < w->count; i++)
        p->back[i] = NONE;
    size_t i = 0, j = 0, w0 = 0, e0 = 0;
    if (retimed(t, w, e)) {
        for (; i < w->count; i++)
            p->partner[i] = p->back[i] = (int64_t)i;
        return true;
    }
    while (i < w->count && j < e->count) {
        double gap = (e->keys[j].time - t->offset) - w->keys[i].time;
        if (fabs(gap) <= t->limits->time) {
            p->partner[j] = (int64_t)i;
            p->back[i] = (int64_t)j;
            pair_moved(t, w, w0, i, e, e0, j, p);
            w0 = ++i;
            e0 = ++j;
        } else if (gap > 0) {
            i++;
        } else {
            j++;
        }
    }
    pair_moved(t, w, w0, w->count, e, e0, e->count, p);
    return true;
}

/* ---------------------------------------------------------------- what changed on a key */

static bool has_handles(uint8_t interp)
{
    return interp == KF_BEZIER || interp == KF_HERMITE;
}

/* A handle as FBX tells it: slope and part of the segment. */
static void handle_terms(kf_handle handle, double segment, double *slope, double *weight)
{
    *slope = handle.dt != 0 ? handle.dv / handle.dt : 0;
    *weight = segment != 0 ? handle.dt / segment : 0;
}

static bool same_handle(const kfi_merge_track *t, kf_handle a, double segment_a, kf_handle b, double segment_b,
                        bool weighted)
{
    double slope_a, weight_a, slope_b, weight_b;
    handle_terms(a, segment_a, &slope_a, &weight_a);
    handle_terms(b, segment_b, &slope_b, &weight_b);
    double size = fmax(fabs(slope_a), fabs(slope_b));
    return fabs(slope_a - slope_b) <= t->limits->slope * (size + 1e-3) &&
           (!weighted || fabs(weight_a - weight_b) <= 1.01e-4);
}

static uint32_t key_changes(const kfi_merge_track *t, const kf_curve *w, size_t i, const kf_curve *e, size_t j)
{
    const kf_key *was = &w->keys[i], *now = &e->keys[j];
    uint32_t changed = 0;
    if (fabs(now->time - t->offset - was->time) > t->limits->time)
        changed |= KF_CHANGED_TIME;
    if (!kfi_same_value(t->limits, t->written->channel, was->value, now->value))
        changed |= KF_CHANGED_VALUE;
    /* The interpolation of a last key shows nowhere. */
    bool last = j + 1 == e->count;
    if (was->interp != now->interp && !(last && i + 1 == w->count))
        changed |= KF_CHANGED_INTERP;
    if (!same_tcb(w, i, e, j, 1e-6))
        changed |= KF_CHANGED_TCB;
    if (!last && has_handles(now->interp)) {
        bool comparable = has_handles(was->interp) && i + 1 < w->count;
        if (!comparable || !same_handle(t, was->out, w->keys[i + 1].time - was->time, now->out,
                                        e->keys[j + 1].time - now->time,
                                        was->interp == KF_BEZIER || now->interp == KF_BEZIER))
            changed |= KF_CHANGED_OUT;
    }
    if (j > 0 && has_handles(e->keys[j - 1].interp)) {
        bool comparable = i > 0 && has_handles(w->keys[i - 1].interp);
        if (!comparable || !same_handle(t, was->in, w->keys[i - 1].time - was->time, now->in,
                                        e->keys[j - 1].time - now->time,
                                        w->keys[i - 1].interp == KF_BEZIER || e->keys[j - 1].interp == KF_BEZIER))
            changed |= KF_CHANGED_IN;
    }
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
    const kf_curve *from; /* the original's */
    kf_curve *to;
    kf_origin *origin;
} building;

/* A TCB segment that has to become explicit: its two keys get the handles they have had so far. */
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
    to->keys[k].out = kfi_slope_handle(out, duration);
    to->keys[k + 1].in = kfi_slope_handle(next_in, -duration);
    b->origin[k].changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
    b->origin[k + 1].changed |= KF_CHANGED_IN;
}

static void take_changes(building *b, size_t k, uint32_t changed, const kf_curve *e, size_t j)
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
        key->out = now.out;
    }
    if (changed & KF_CHANGED_OUT)
        key->out = now.out;
    if (changed & KF_CHANGED_IN)
        key->in = now.in;
    if (changed & (KF_CHANGED_TCB | KF_CHANGED_INTERP) && e->keys[j].interp == KF_TCB && b->to->tcb) {
        b->to->tcb[k].tension = e->tcb[j].tension;
        b->to->tcb[k].continuity = e->tcb[j].continuity;
        b->to->tcb[k].bias = e->tcb[j].bias;
    }
}

/* Slopes edited on keys that are TCB in the original: new numbers where some give these slopes, else the segment
 * becomes explicit. */
static void restore_form(building *b, const kf_curve *e, const size_t *edited_of)
{
    kf_curve *to = b->to;
    for (size_t k = 0; k < to->count; k++) {
        uint32_t changed = b->origin[k].changed;
        if (b->origin[k].key == KF_NEW || !(changed & (KF_CHANGED_IN | KF_CHANGED_OUT)))
            continue;
        bool tcb_in = k > 0 && to->keys[k - 1].interp == KF_TCB;
        bool tcb_out = to->keys[k].interp == KF_TCB;
        if (!tcb_in && !tcb_out)
            continue;
        const kf_key *now = &e->keys[edited_of[k]];
        double in = now->in.dt != 0 ? now->in.dv / now->in.dt : 0;
        double out = now->out.dt != 0 ? now->out.dv / now->out.dt : 0;
        if (kfi_merge_solve_tcb(to, k, in, out, tcb_in, tcb_out)) {
            b->origin[k].changed = (changed & ~(uint32_t)(KF_CHANGED_IN | KF_CHANGED_OUT)) | KF_CHANGED_TCB;
            continue;
        }
        if (tcb_in && (changed & KF_CHANGED_IN)) {
            make_explicit(b, k - 1);
            to->keys[k].in = kfi_slope_handle(in, to->keys[k - 1].time - to->keys[k].time);
        }
        if (tcb_out && (changed & KF_CHANGED_OUT)) {
            make_explicit(b, k);
            to->keys[k].out = kfi_slope_handle(out, k + 1 < to->count ? to->keys[k + 1].time - to->keys[k].time : 0);
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

static bool same_rise(const kfi_merge_track *t, kf_handle was, double was_distance, kf_handle now, double now_distance)
{
    double a = was.dt != 0 ? was.dv / was.dt * was_distance : 0, b = now.dt != 0 ? now.dv / now.dt * now_distance : 0;
    return fabs(a - b) <= t->limits->slope * (fmax(fabs(a), fabs(b)) + 1e-3);
}

/* A TCB key's slopes follow from its numbers. Where its segment was stretched, and they with it, nobody edited them. */
static uint32_t forgive_slopes(const kfi_merge_track *t, const kf_curve *from, size_t origin, const kf_curve *w, size_t i,
                               const kf_curve *e, size_t j, uint32_t changed)
{
    const kf_key *was = &w->keys[i], *now = &e->keys[j];
    if (i > 0 && j > 0 && origin > 0 && from->keys[origin - 1].interp == KF_TCB &&
        same_rise(t, was->in, was[-1].time - was->time, now->in, now[-1].time - now->time))
        changed &= ~(uint32_t)KF_CHANGED_IN;
    if (i + 1 < w->count && j + 1 < e->count && from->keys[origin].interp == KF_TCB &&
        same_rise(t, was->out, was[1].time - was->time, now->out, now[1].time - now->time))
        changed &= ~(uint32_t)KF_CHANGED_OUT;
    return changed;
}

/* Helper key i, in the same place of a segment that was stretched as a whole. */
static bool stretched(const kfi_merge_track *t, const kf_curve *w, size_t i, const kf_curve *e, const pairing *p)
{
    size_t first = i, last = i;
    while (first > 0 && (w->keys[first].flags & KF_KEY_HELPER))
        first--;
    while (last + 1 < w->count && (w->keys[last].flags & KF_KEY_HELPER))
        last++;
    if (p->back[first] == NONE || p->back[last] == NONE || p->back[last] - p->back[first] != (int64_t)(last - first))
        return false;
    double was_distance, now_distance;
    size_t j = (size_t)p->back[i];
    double was = place_of(w, i, first, last, &was_distance);
    double now = place_of(e, j, (size_t)p->back[first], (size_t)p->back[last], &now_distance);
    return fabs(was - now) <= 1e-6 && was_distance > 0 && now_distance > 0 && w->keys[i].interp == e->keys[j].interp &&
           kfi_same_value(t->limits, t->written->channel, w->keys[i].value, e->keys[j].value) &&
           same_rise(t, w->keys[i].in, was_distance, e->keys[j].in, now_distance) &&
           same_rise(t, w->keys[i].out, was_distance, e->keys[j].out, now_distance);
}

/* Whether a helper key was touched: then its segment is fitted anew. */
static bool helper_touched(const kfi_merge_track *t, const kf_curve *w, const kf_curve *e, const pairing *p)
{
    for (size_t i = 0; i < w->count; i++) {
        if (!(w->keys[i].flags & KF_KEY_HELPER))
            continue;
        if (p->back[i] == NONE || (key_changes(t, w, i, e, (size_t)p->back[i]) && !stretched(t, w, i, e, p)))
            return true;
    }
    return false;
}

bool kfi_merge_keys(kfi_merge_track *t, unsigned c)
{
    const kf_curve *from = &t->original->curve[c], *w = &t->written->curve[c], *e = &t->edited->curve[c];
    pairing p;
    if (!pair_keys(t, w, e, &p))
        return false;
    if (helper_touched(t, w, e, &p))
        return kfi_merge_dense(t, c);

    size_t count = 0;
    bool tcb = from->tcb != NULL || wants_tcb(e);
    for (size_t j = 0; j < e->count; j++)
        count += p.partner[j] == NONE || !(w->keys[p.partner[j]].flags & KF_KEY_HELPER);
    kf_curve to = *from;
    building b = {t, from, &to, kfi_alloc(t->job, count, sizeof(kf_origin))};
    size_t *edited_of = kfi_alloc(t->job, count, sizeof *edited_of);
    if (!b.origin || !edited_of || !kfi_make_keys(t->job, &to, count, tcb))
        return false;
    to.origin = b.origin;
    if (to.count && !from->count)
        to.tcb_rule = KF_TCB_KOCHANEK;

    size_t kept = 0, k = 0;
    for (size_t j = 0; j < e->count; j++) {
        if (p.partner[j] != NONE && (w->keys[p.partner[j]].flags & KF_KEY_HELPER))
            continue;
        edited_of[k] = j;
        if (p.partner[j] == NONE) {
            b.origin[k] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
            to.keys[k] = edited_key(t, e, j);
            if (tcb && e->tcb)
                to.tcb[k] = e->tcb[j];
            t->keys_added++;
        } else {
            size_t i = (size_t)p.partner[j];
            uint32_t origin = w->origin ? w->origin[i].key : (uint32_t)i;
            uint32_t changed = forgive_slopes(t, from, origin, w, i, e, j, key_changes(t, w, i, e, j));
            b.origin[k] = (kf_origin){origin, changed};
            to.keys[k] = from->keys[origin];
            if (from->tcb)
                to.tcb[k] = from->tcb[origin];
            take_changes(&b, k, changed, e, j);
            t->keys_changed += changed != 0;
            kept++;
        }
        k++;
    }
    restore_form(&b, e, edited_of);
    t->keys_removed += from->count - kept;
    for (size_t i = 0; i < count; i++)
        t->changed = t->changed || b.origin[i].changed;
    t->changed = t->changed || kept != from->count;
    t->merged->curve[c] = to;
    return true;
}
