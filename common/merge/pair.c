/* Which key that came back is which of those that were written. */
#include "internal.h"

#include <math.h>

/* Removed and added keys between two keys that stayed are moved keys where they pair up. A key's value is looked for in
 * so many of those that came, so that a curve that is new all over costs no more than its length. */
enum { NEAR = 256 };
static void pair_moved(const kfi_merge_track *t, const kf_curve *w, size_t w0, size_t w1, const kf_curve *e, size_t e0,
                       size_t e1, kfi_pairing *p)
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
        size_t at = j, end = e1 - j < NEAR ? e1 : j + NEAR;
        while (!all && at < end && !kfi_same_value(t->limits, t->written->channel, w->keys[i].value, e->keys[at].value))
            at++;
        if (at < end) {
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

bool kfi_merge_pair(const kfi_merge_track *t, const kf_curve *w, const kf_curve *e, kfi_pairing *p)
{
    p->partner = kfi_alloc_raw(t->job, e->count, sizeof *p->partner);
    p->back = kfi_alloc_raw(t->job, w->count, sizeof *p->back);
    if (!p->partner || !p->back)
        return false;
    for (size_t j = 0; j < e->count; j++)
        p->partner[j] = KFI_UNPAIRED;
    for (size_t i = 0; i < w->count; i++)
        p->back[i] = KFI_UNPAIRED;
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
