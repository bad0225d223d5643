/* A component that stood still and came back without a curve: programs leave those out. It is not missing,
 * and nobody edited it, so its keys stay as they are; where the format has x, y and z in one key, they go
 * where the keys of the others went. */
#include "handles.h"

#include <math.h>

bool kfi_moves(const kfi_limits *limits, const kf_track *track)
{
    for (unsigned c = 0; c < track->curves; c++)
        for (size_t i = 1; i < track->curve[c].count; i++)
            if (!kfi_same_value(limits, track->channel, track->curve[c].keys[0].value, track->curve[c].keys[i].value))
                return true;
    return false;
}

bool kfi_stands_still(const kfi_limits *limits, unsigned channel, const kf_curve *curve, double value)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        bool bends = i + 1 < curve->count && kfi_has_handles(key->interp);
        double out = bends ? kfi_handles_of(curve, i).out.dv : 0,
               in = bends ? kfi_handles_of(curve, i + 1).in.dv : 0;
        if (!kfi_same_value(limits, channel, key->value, value) ||
            !kfi_same_value(limits, channel, key->value + out, value) ||
            (bends && !kfi_same_value(limits, channel, key[1].value + in, value)))
            return false;
    }
    return true;
}

/* What became of one of the original's keys. */
enum { GONE, MOVED, STAYS };
typedef struct row {
    int became;
    double time;
} row;

/* A key that one of the other components has where it was stays. False: no other one has the same keys. */
static bool find_rows(const kfi_merge_track *t, unsigned c, row *rows)
{
    size_t count = t->original->curve[c].count;
    bool found = false;
    for (unsigned d = 0; d < t->original->curves; d++) {
        const kf_curve *other = &t->merged->curve[d];
        if (d == c || t->edited->curve[d].count == 0 || t->original->curve[d].count != count ||
            !other->origin)
            continue;
        found = true;
        for (size_t i = 0; i < other->count; i++) {
            size_t key = other->origin[i].key;
            int became = other->origin[i].changed & KF_CHANGED_TIME ? MOVED : STAYS;
            if (key < count && became > rows[key].became)
                rows[key] = (row){became, other->keys[i].time};
        }
    }
    return found;
}

bool kfi_merge_still(kfi_merge_track *t, unsigned c)
{
    const kf_curve *from = &t->original->curve[c];
    kf_origin *origin;
    kf_curve *to = &t->merged->curve[c];
    row *rows = kfi_alloc(t->job, from->count, sizeof *rows);
    if (!rows || !kfi_merge_copy_curve(t->job, from, to, &origin))
        return false;
    if (!t->input->capabilities->components_together || !find_rows(t, c, rows))
        return true;
    size_t kept = 0;
    for (size_t i = 0; i < from->count; i++) {
        bool needed = i + 1 == from->count && kept == 0; /* one has to say where it stands */
        bool back = kept > 0 && rows[i].time < to->keys[kept - 1].time;
        if ((rows[i].became == GONE && !needed) || back)
            continue;
        kfi_copy_keys(to, kept, from, i, 1);
        origin[kept] = (kf_origin){(uint32_t)i, 0};
        if (rows[i].became == MOVED) {
            to->keys[kept].time = rows[i].time;
            origin[kept].changed = KF_CHANGED_TIME;
        }
        kept++;
    }
    to->count = kept;
    return true;
}
