#include "shared.h"

#include <string.h>

/* Ease belongs to a segment that is still there. */
static void settle_ease(const kfi_shared *f, kfi_shared_key *keys, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        uint32_t key = keys[i].origin;
        if (key == KF_NEW || keys[i + 1].origin != key + 1 || !f->kept[key])
            keys[i].tcb.ease_out = keys[i + 1].tcb.ease_in = 0.0f;
    }
}

/* A stretch that was edited, and what it became. */
typedef struct stretch {
    size_t first, last; /* the original's keys */
    kfi_shared_key *keys;
    size_t count;
} stretch;

/* Fits a stretch that ends at `last` or later, and with it as much of what lies beside it as it takes: then its borders are such
 * that can stay. `floor` is the first of the original's keys that it may begin with. */
static bool settle(const kfi_shared *f, stretch *s, size_t last, size_t floor)
{
    for (size_t more = 1;; more *= 2) {
        /* The tangent of an end key hangs on its neighbour's, and on there being more than two keys. */
        if (!f->mirrored && s->first == 1)
            s->first = 0;
        s->last = last;
        if (!kfi_fit_shared_stretch(f, s->first, &s->last, &s->keys, &s->count))
            return false;
        if (s->count || s->first <= floor)
            return true;
        s->first = s->first > floor + more ? s->first - more : floor;
    }
}

bool kfi_fit_shared_keys(const kfi_shared *f, kfi_shared_key **keys, size_t *count, bool *done)
{
    stretch *all = kfi_alloc(f->job, f->count, sizeof *all);
    size_t stretches = 0, most = f->count;
    *done = false;
    if (!all)
        return false;
    for (size_t i = 0; i + 1 < f->count; i++) {
        if (f->kept[i])
            continue;
        stretch *s = &all[stretches++];
        *s = (stretch){.first = i};
        size_t last = i + 1;
        while (last + 1 < f->count && !f->kept[last])
            last++;
        for (;;) {
            size_t floor = s > all ? s[-1].last + 1 : 0;
            if (s->first >= floor && !settle(f, s, last, floor))
                return false;
            if (s->count || s == all)
                break;
            stretches--; /* one with the stretch before it */
            s--;
            s->count = 0;
        }
        if (s->count == 0)
            return true;
        i = s->last - 1;
    }
    for (size_t i = 0; i < stretches; i++)
        most += all[i].count;
    kfi_shared_key *to = kfi_alloc(f->job, most, sizeof *to);
    if (!to)
        return false;
    *count = 0;
    for (size_t i = 0, n = 0; i < f->count; i++) {
        if (n < stretches && all[n].first == i) {
            memcpy(to + *count, all[n].keys, all[n].count * sizeof *to);
            *count += all[n].count;
            i = all[n++].last;
        } else {
            to[(*count)++] = (kfi_shared_key){f->at[i], (uint32_t)i, f->tcb[i]};
        }
    }
    settle_ease(f, to, *count);
    *keys = to;
    *done = true;
    return true;
}
