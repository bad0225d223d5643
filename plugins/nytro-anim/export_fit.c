/* A node has one kind of interpolation for all its keys. Where the keys are of another kind, or have tangents
 * that the engine would not give them, more keys are put in until the motion is followed within tolerance. */
#include "nytro.h"

#include "tolerance.h"

#include <math.h>

enum { ROUNDS = 16 };

/* Keys are no nearer than this, eight steps of a 32-bit time at the least: what is steeper is as good as a jump. */
static double shortest(double time)
{
    return fmax(5e-4, fabs(time) * 0x1p-20);
}

bool kfi_nytro_is_kind(const nytro_node *node, uint32_t kind)
{
    for (unsigned c = 0; c < 3; c++) {
        const nytro_channel *channel = &node->channels[c];
        uint8_t interp = kind == KFI_NYTRO_TCB                                 ? KF_TCB
                         : kind == KFI_NYTRO_BEZIER && c != KFI_NYTRO_ROTATION ? KF_HERMITE
                                                                               : KF_LINEAR;
        for (size_t i = 0; i + 1 < channel->count; i++)
            if (channel->keys[i].interp != interp)
                return false;
    }
    return true;
}

/* ---------------------------------------------------------------- more keys */

static void tolerances(const nytro_node *node, const nytro_channel *channel, double tolerance[3])
{
    for (unsigned c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < channel->count; i++) {
            low = fmin(low, channel->keys[i].value[c]);
            high = fmax(high, channel->keys[i].value[c]);
        }
        double asked = node->options->tolerance;
        tolerance[c] = 0.5 * (channel->channel == KFI_NYTRO_ROTATION ? kfi_tolerated_angle(asked)
                                                                      : kfi_tolerated_range(asked, low, high));
        /* the way there and rounding have the rest */
    }
}

/* Marks the segments that need a key and says how many; `worst` of the channel becomes that of the rest. A segment that was
 * followed is looked at again only if the keys at its ends play another way now; the ends of the channel always may. */
static size_t measure(nytro_channel *channel, uint32_t kind, const double tolerance[3])
{
    nytro_key *keys = channel->keys;
    size_t splits = 0, last = channel->count - 1;
    double most = 1.0;
    if (kind == KFI_NYTRO_TCB && channel->channel != KFI_NYTRO_ROTATION)
        kfi_nytro_solve(channel);
    channel->worst = 0.0;
    for (size_t i = 0; i < last; i++) {
        nytro_key *key = &keys[i];
        if (key->followed && key->settled && key[1].settled && i > 0 && i + 1 < last)
            continue;
        double much = 0.0, when = key->time;
        double error = kfi_nytro_segment_error(channel, kind, i, tolerance, &much, &when);
        key->followed = error <= 1.0;
        key->split = error > 1.0 && key[1].time - key->time > 2 * shortest(key->time);
        splits += key->split;
        if (error > most) {
            most = error;
            channel->worst = much;
            channel->worst_at = when;
        }
    }
    for (size_t i = 0; i <= last; i++)
        keys[i].settled = true;
    return splits;
}

static bool split(nytro_node *node, nytro_channel *channel, size_t splits)
{
    nytro_channel to = *channel;
    if (!kfi_nytro_make_room(node, &to, channel->count + splits))
        return false;
    to.count = 0;
    for (size_t i = 0; i < channel->count; i++) {
        nytro_key *key = &to.keys[to.count++];
        *key = channel->keys[i];
        /* Ease belongs to a whole segment. */
        if (i > 0 && channel->keys[i - 1].split)
            key->tcb.ease_in = 0.0f;
        if (!channel->keys[i].split)
            continue;
        key->tcb.ease_out = 0.0f;
        key->split = false;
        nytro_key *middle = &to.keys[to.count++];
        *middle = (nytro_key){.time = 0.5 * (key->time + channel->keys[i + 1].time),
                              .origin = -1,
                              .index = -1,
                              .changed = {KF_CHANGED_ALL, KF_CHANGED_ALL, KF_CHANGED_ALL},
                              .mixed = true,
                              .interp = key->interp};
        key->mixed = true; /* a nearer neighbour bends both */
        key->settled = false;
        channel->keys[i + 1].mixed = true;
        channel->keys[i + 1].settled = false;
        if (channel->channel == KFI_NYTRO_ROTATION)
            kfi_quat_curve_value(&channel->quat, middle->time, middle->value);
        for (unsigned c = 0; c < 3 && channel->channel != KFI_NYTRO_ROTATION; c++)
            kfi_nytro_wanted(channel, c, &middle->time, 1, &middle->value[c]);
    }
    kfi_nytro_leave_room(node, channel);
    *channel = to;
    channel->added += splits;
    return true;
}

/* ---------------------------------------------------------------- fewer keys */

enum { BESIDE = 3 };

/* Whether the motion is followed without a key that was put in: `left` are the keys before it, `right` those behind it, as many
 * as it concerns; the numbers of the two beside it follow. */
static bool needless(const nytro_channel *channel, uint32_t kind, const double tolerance[3], nytro_key *left, size_t lefts,
                     nytro_key *right, size_t rights)
{
    nytro_key keys[2 * BESIDE];
    nytro_channel window = *channel;
    lefts = lefts < BESIDE ? lefts : BESIDE;
    rights = rights < BESIDE ? rights : BESIDE;
    memcpy(keys, left - lefts, lefts * sizeof *keys);
    memcpy(keys + lefts, right, rights * sizeof *keys);
    window.keys = keys;
    window.count = lefts + rights;
    keys[lefts - 1].mixed = keys[lefts].mixed = true;
    if (kind == KFI_NYTRO_TCB && channel->channel != KFI_NYTRO_ROTATION) {
        kfi_nytro_solve_key(&window, lefts - 1);
        kfi_nytro_solve_key(&window, lefts);
    }
    /* The segment where it was misses the most. */
    const size_t order[3] = {lefts - 1, lefts, lefts > 1 ? lefts - 2 : lefts};
    for (size_t k = 0; k < 3; k++) {
        double much, when;
        if (order[k] + 1 < window.count &&
            kfi_nytro_segment_error(&window, kind, order[k], tolerance, &much, &when) > 1.0)
            return false;
    }
    left[-1] = keys[lefts - 1];
    right[0] = keys[lefts];
    return true;
}

/* Halves are not the best of places: keys that were put in and that others have made needless go again. Ends, whose own
 * rule looks two keys far, keep their neighbour. A key is asked again once one beside it has gone. */
static void thin_out(nytro_channel *channel, uint32_t kind, const double tolerance[3])
{
    enum { PASSES = 4 };
    nytro_key *keys = channel->keys;
    size_t before = SIZE_MAX;
    for (int pass = 0; channel->count < before && pass < PASSES; pass++) {
        size_t to = 0;
        before = channel->count;
        for (size_t i = 0; i < before; i++) {
            bool asked = keys[i].origin < 0 && keys[i].index < 0 && !keys[i].needed && to > 1 && i + 2 < before;
            if (asked && needless(channel, kind, tolerance, &keys[to], to, &keys[i + 1], before - i - 1)) {
                for (size_t k = 1; k <= BESIDE; k++) {
                    if (k <= to)
                        keys[to - k].needed = false;
                    if (i + k < before)
                        keys[i + k].needed = false;
                }
                continue;
            }
            keys[to] = keys[i];
            keys[to++].needed = asked;
        }
        channel->added -= before - to;
        channel->count = to;
    }
}

bool kfi_nytro_shaped(const nytro_channel *channel)
{
    for (size_t i = 0; i < channel->count; i++)
        for (unsigned c = 0; c < 3; c++)
            if (channel->keys[i].origin < 0 ||
                (channel->keys[i].changed[c] & (KF_CHANGED_IN | KF_CHANGED_OUT | KF_CHANGED_INTERP)))
                return true;
    return false;
}

/* No more keys than many for each that there was, and than half of the memory left can hold: they come from a room that is
 * smaller, and their records are. */
static size_t most_keys(const nytro_node *node, const nytro_channel *channel)
{
    enum { FOR_EACH = 64, AT_LEAST = 4096, PART = 2 };
    uint64_t room = kfi_nytro_memory_left(node) / PART / sizeof *channel->keys;
    size_t most = FOR_EACH * channel->count + AT_LEAST;
    return room < most ? (size_t)room : most;
}

bool kfi_nytro_follow(nytro_node *node, nytro_channel *channel, uint32_t kind, size_t budget)
{
    if (!channel->track || channel->count < 2)
        return true;
    uint8_t interp = kind == KFI_NYTRO_TCB ? KF_TCB : KF_LINEAR;
    bool derived = kind == KFI_NYTRO_BEZIER && channel->channel != KFI_NYTRO_ROTATION, all = true;
    for (size_t i = 0; i + 1 < channel->count; i++)
        all = all && channel->keys[i].interp == (derived ? KF_HERMITE : interp) && !channel->keys[i].mixed;
    if (all && (!derived || (channel->raw && kfi_nytro_kind(node->was->flags) == kind)))
        return true;
    double tolerance[3];
    tolerances(node, channel, tolerance);
    size_t splits = measure(channel, kind, tolerance), most = most_keys(node, channel);
    if (all && node->was && !kfi_nytro_shaped(channel))
        return true;
    for (int round = 0; round < ROUNDS && splits > 0; round++) {
        channel->gave_up = channel->count + splits > most || channel->added + splits > budget;
        if (channel->gave_up)
            return true;
        if (!split(node, channel, splits))
            return false;
        splits = measure(channel, kind, tolerance);
    }
    if (splits == 0 && channel->added > 0)
        thin_out(channel, kind, tolerance);
    return true;
}
