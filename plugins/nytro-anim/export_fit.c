/* A node has one kind of interpolation for all its keys. Where the keys are of another kind, or have tangents
 * that the engine would not give them, more keys are put in until the motion is followed within tolerance. */
#include "nytro.h"

#include "tolerance.h"

#include <math.h>

enum { ROUNDS = 16, SAMPLES = 7 };

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

kf_tcb kfi_nytro_numbers(const nytro_channel *channel, size_t i)
{
    /* Continuity -1 points both tangents along the chords: straight lines, and slerp for rotations. */
    static const kf_tcb corner = {.continuity = -1.0f}, smooth = {0};
    if (channel->count == 1 || channel->keys[i].solved)
        return channel->keys[i].tcb;
    uint8_t out = channel->keys[i + 1 == channel->count ? i - 1 : i].interp;
    uint8_t in = channel->keys[i > 0 ? i - 1 : i].interp;
    if (out == KF_TCB)
        return channel->keys[i].tcb;
    if (out == KF_LINEAR || in == KF_LINEAR)
        return corner;
    return in == KF_TCB ? channel->keys[i].tcb : smooth;
}

/* ---------------------------------------------------------------- what the engine would play */

typedef struct played {
    kf_curve curve[3];
    kf_quat_curve quat;
} played;

static bool play(const nytro_node *node, const nytro_channel *channel, uint32_t kind, played *to)
{
    bool tcb = kind == KFI_NYTRO_TCB;
    memset(to, 0, sizeof *to);
    if (channel->channel == KFI_NYTRO_ROTATION) {
        if (!kfi_make_quat_keys(node->job, &to->quat, channel->count, tcb))
            return false;
        for (size_t i = 0; i < channel->count; i++) {
            kf_quat_key *key = &to->quat.keys[i];
            key->time = channel->keys[i].time;
            key->interp = tcb ? KF_TCB : KF_LINEAR;
            memcpy(key->q, channel->keys[i].value, sizeof key->q);
            if (tcb)
                to->quat.tcb[i] = kfi_nytro_numbers(channel, i);
        }
        return true;
    }
    uint8_t interp = tcb ? KF_TCB : kind == KFI_NYTRO_BEZIER ? KF_HERMITE : KF_LINEAR;
    for (unsigned c = 0; c < 3; c++) {
        if (!kfi_make_keys(node->job, &to->curve[c], channel->count, tcb))
            return false;
        for (size_t i = 0; i < channel->count; i++) {
            to->curve[c].keys[i] =
                (kf_key){.time = channel->keys[i].time, .value = channel->keys[i].value[c], .interp = interp};
            if (tcb)
                to->curve[c].tcb[i] = kfi_nytro_numbers(channel, i);
        }
        if (kind == KFI_NYTRO_BEZIER)
            kfi_nytro_derive_handles(&to->curve[c]);
    }
    return true;
}

static double wanted_value(const nytro_channel *channel, unsigned c, double time)
{
    const kf_track *track = channel->track;
    return c < track->curves ? kfi_curve_value(&track->curve[c], time, track->rest[c]) : track->rest[c];
}

/* The worst distance within the segment after key i, as a multiple of what is tolerated; how much it is, and
 * when. */
static double segment_error(const nytro_channel *channel, const played *p, size_t i,
                            const double tolerance[3], double *much, double *when)
{
    double t0 = channel->keys[i].time, t1 = channel->keys[i + 1].time, worst = 0.0;
    kfi_segment segment[3];
    kfi_quat_segment turn;
    bool rotation = channel->channel == KFI_NYTRO_ROTATION;
    if (!(t1 > t0))
        return 0.0;
    if (rotation)
        kfi_quat_curve_segment(&p->quat, i, &turn);
    for (unsigned c = 0; c < 3 && !rotation; c++)
        kfi_curve_segment(&p->curve[c], i, &segment[c]);
    for (unsigned s = 1; s <= SAMPLES; s++) {
        double time = t0 + (t1 - t0) * s / (SAMPLES + 1);
        for (unsigned c = 0; c < (rotation ? 1u : 3u); c++) {
            double error, q[4], wanted[4];
            if (rotation) {
                kfi_quat_segment_value(&turn, time, q);
                kfi_quat_curve_value(&channel->quat, time, wanted);
                error = kfi_quat_angle(q, wanted);
            } else {
                error = fabs(kfi_segment_value(&segment[c], time) - wanted_value(channel, c, time));
            }
            if (error / tolerance[c] > worst) {
                worst = error / tolerance[c];
                *much = error;
                *when = time;
            }
        }
    }
    return worst;
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

/* Marks the segments that need a key and says how many; `worst` of the channel becomes that of the rest. */
static bool measure(const nytro_node *node, nytro_channel *channel, uint32_t kind, const double tolerance[3],
                    size_t *splits)
{
    kfi_mark mark = kfi_arena_mark(&node->job->arena);
    played p;
    if (kind == KFI_NYTRO_TCB && channel->channel != KFI_NYTRO_ROTATION)
        kfi_nytro_solve(channel);
    if (!play(node, channel, kind, &p))
        return false;
    *splits = 0;
    channel->worst = 0.0;
    double most = 1.0;
    for (size_t i = 0; i + 1 < channel->count; i++) {
        nytro_key *key = &channel->keys[i];
        double much = 0.0, when = key->time, error = segment_error(channel, &p, i, tolerance, &much, &when);
        key->split = error > 1.0 && channel->keys[i + 1].time - key->time > 2 * shortest(key->time);
        *splits += key->split;
        if (error > most) {
            most = error;
            channel->worst = much;
            channel->worst_at = when;
        }
    }
    kfi_arena_release(&node->job->arena, mark);
    return true;
}

static bool split(const nytro_node *node, nytro_channel *channel, size_t splits)
{
    nytro_key *keys = kfi_alloc_raw(node->job, channel->count + splits, sizeof *keys);
    size_t count = 0;
    if (!keys)
        return false;
    for (size_t i = 0; i < channel->count; i++) {
        nytro_key *key = &keys[count++];
        *key = channel->keys[i];
        /* Ease belongs to a whole segment. */
        if (i > 0 && channel->keys[i - 1].split)
            key->tcb.ease_in = 0.0f;
        if (!channel->keys[i].split)
            continue;
        key->tcb.ease_out = 0.0f;
        key->split = false;
        nytro_key *middle = &keys[count++];
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
            middle->value[c] = wanted_value(channel, c, middle->time);
    }
    channel->keys = keys;
    channel->count = count;
    channel->added += splits;
    return true;
}

/* ---------------------------------------------------------------- fewer keys */

enum { BESIDE = 3 };

/* Whether the motion is followed without a key that was put in: `left` are the keys before it, `right` those behind it, as many
 * as it concerns; the numbers of the two beside it follow. */
static bool needless(const nytro_node *node, const nytro_channel *channel, uint32_t kind, const double tolerance[3],
                     nytro_key *left, size_t lefts, nytro_key *right, size_t rights, bool *is_so)
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
    kfi_mark mark = kfi_arena_mark(&node->job->arena);
    played p;
    if (!play(node, &window, kind, &p))
        return false;
    *is_so = true;
    for (size_t k = lefts > 1 ? lefts - 2 : 0; *is_so && k <= lefts && k + 1 < window.count; k++) {
        double much, when;
        *is_so = segment_error(&window, &p, k, tolerance, &much, &when) <= 1.0;
    }
    kfi_arena_release(&node->job->arena, mark);
    if (*is_so) {
        left[-1] = keys[lefts - 1];
        right[0] = keys[lefts];
    }
    return true;
}

/* Halves are not the best of places: keys that were put in and that others have made needless go again. Ends, whose own
 * rule looks two keys far, keep their neighbour. */
static bool thin_out(const nytro_node *node, nytro_channel *channel, uint32_t kind, const double tolerance[3])
{
    enum { PASSES = 4 };
    nytro_key *keys = channel->keys;
    size_t before = SIZE_MAX;
    for (int pass = 0; channel->count < before && pass < PASSES; pass++) {
        size_t to = 0;
        before = channel->count;
        for (size_t i = 0; i < before; i++) {
            bool gone = false;
            if (keys[i].origin < 0 && keys[i].index < 0 && to > 1 && i + 2 < before &&
                !needless(node, channel, kind, tolerance, &keys[to], to, &keys[i + 1], before - i - 1, &gone))
                return false;
            if (!gone)
                keys[to++] = keys[i];
        }
        channel->added -= before - to;
        channel->count = to;
    }
    return true;
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

bool kfi_nytro_follow(nytro_node *node, nytro_channel *channel, uint32_t kind)
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
    size_t splits = 0, most = 64 * channel->count + 4096;
    if (!measure(node, channel, kind, tolerance, &splits))
        return false;
    if (all && node->was && !kfi_nytro_shaped(channel))
        return true;
    for (int round = 0; round < ROUNDS && splits > 0 && channel->count + splits <= most; round++)
        if (!split(node, channel, splits) || !measure(node, channel, kind, tolerance, &splits))
            return false;
    return splits > 0 || channel->added == 0 || thin_out(node, channel, kind, tolerance);
}
