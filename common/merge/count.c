/* How many keys of a track changed, came and went, where x, y and z are parts of one key in the file: each counts once, whichever of
 * them was edited. */
#include "internal.h"

#include <math.h>

/* The keys of a track's curves at one time, on the way through all times. */
typedef struct place {
    size_t at[3]; /* the next key of each curve */
    double time;
} place;

static bool next_place(const kf_track *track, place *p)
{
    p->time = INFINITY;
    for (unsigned c = 0; c < track->curves; c++)
        if (p->at[c] < track->curve[c].count)
            p->time = fmin(p->time, track->curve[c].keys[p->at[c]].time);
    return p->time < INFINITY;
}

/* The key of curve c at the place, which is passed; NULL: it has none there. Without origins a curve is the original's. */
static const kf_origin *take_key(const kf_curve *curve, size_t *at, double time, kf_origin *same)
{
    if (*at == curve->count || curve->keys[*at].time > time + 1e-9)
        return NULL;
    size_t i = (*at)++;
    *same = (kf_origin){(uint32_t)i, 0};
    return curve->origin ? &curve->origin[i] : same;
}

bool kfi_count_keys(kfi_merge_track *t)
{
    enum { GONE, MOVED, STAYS };
    const kf_track *track = t->merged;
    size_t count = t->original->curve[0].count, added = 0, changed = 0, removed = 0;
    bool shared = t->input->capabilities->components_together && track->curves > 1;
    for (unsigned c = 1; c < track->curves; c++)
        shared = shared && t->original->curve[c].count == count;
    uint8_t *became = shared ? kfi_alloc(t->job, count, sizeof *became) : NULL;
    if (!became)
        return !shared;
    for (int pass = 0; pass < 2; pass++) { /* what stays in its place first: a part of it that went elsewhere is another key then */
        for (place p = {{0, 0, 0}, 0}; next_place(track, &p);) {
            uint32_t own = KF_NEW, moved = KF_NEW, flags = 0;
            for (unsigned c = 0; c < track->curves; c++) {
                kf_origin same;
                const kf_origin *origin = take_key(&track->curve[c], &p.at[c], p.time, &same);
                if (!origin || origin->key == KF_NEW || origin->key >= count) {
                    flags |= KF_CHANGED_VALUE; /* none there: it gets what the curve is there */
                    continue;
                }
                flags |= origin->changed;
                *(origin->changed & KF_CHANGED_TIME ? &moved : &own) = origin->key;
            }
            if (pass == 0 && own != KF_NEW) {
                became[own] = STAYS;
                changed += flags != 0;
            } else if (pass == 1 && own == KF_NEW) {
                bool whole = moved != KF_NEW && became[moved] == GONE;
                changed += whole;
                added += !whole;
                if (whole)
                    became[moved] = MOVED;
            }
        }
    }
    for (size_t i = 0; i < count; i++)
        removed += became[i] == GONE;
    t->keys_changed = changed;
    t->keys_added = added;
    t->keys_removed = removed;
    return true;
}
