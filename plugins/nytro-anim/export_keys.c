/* Three curves into one list of keys: the format stores x, y and z of a key together, with one set of
 * numbers. */
#include "nytro.h"

#include <math.h>

/* Times this near are one key: about the step of a 32-bit time. */
static double near_in_time(double time)
{
    return 1e-6 * fmax(1.0, fabs(time));
}

static bool untouched(const kf_track *track)
{
    return track->source >= 0 && (track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT);
}

static kf_origin origin_of(const kf_track *track, const kf_origin *origins, size_t i, size_t limit)
{
    kf_origin origin = {KF_NEW, KF_CHANGED_ALL};
    if (untouched(track))
        origin = (kf_origin){(uint32_t)i, 0};
    else if (origins)
        origin = origins[i];
    return origin.key < limit ? origin : (kf_origin){KF_NEW, KF_CHANGED_ALL};
}

static bool zips(const kf_track *track)
{
    const kf_curve *x = &track->curve[0];
    for (unsigned c = 1; c < track->curves; c++) {
        if (track->curve[c].count != x->count)
            return false;
        for (size_t i = 0; i < x->count; i++)
            if (fabs(track->curve[c].keys[i].time - x->keys[i].time) > near_in_time(x->keys[i].time))
                return false;
    }
    return track->curves == 3;
}

/* Whether a component stands still about the segment after a key: no numbers move it. */
static bool stands(const kf_curve *curve, size_t i)
{
    for (size_t k = i > 0 ? i - 1 : 0; k < curve->count && k <= i + 2; k++) {
        kf_handles handles = kfi_handles_of(curve, k);
        if (curve->keys[k].value != curve->keys[i].value || handles.in.dv != 0 || handles.out.dv != 0)
            return false;
    }
    return true;
}

/* Numbers found from slopes, each component's for itself, are the same but for rounding. */
static bool differ(float a, float b)
{
    return fabsf(a - b) > 5e-5f;
}

/* Numbers that were edited on one component go for all three, for the record has room for one set. */
static void merge_numbers(const kf_track *track, const size_t at[3], const bool here[3], nytro_key *key)
{
    int chosen = -1;
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *curve = &track->curve[c];
        if (!here[c] || !curve->tcb)
            continue;
        bool edited = key->changed[c] & (KF_CHANGED_TCB | KF_CHANGED_EASE);
        bool first = chosen < 0 || (edited && !(key->changed[chosen] & (KF_CHANGED_TCB | KF_CHANGED_EASE)));
        if (first) {
            chosen = (int)c;
            key->tcb = curve->tcb[at[c]];
            key->numbers_of = (uint8_t)c;
        }
    }
    for (unsigned c = 0; c < 3 && key->interp == KF_TCB; c++) {
        const kf_curve *curve = &track->curve[c];
        key->drawn = key->drawn || (here[c] && curve->keys[at[c]].interp != KF_TCB && !stands(curve, at[c]));
        if (!here[c] || !curve->tcb || (int)c == chosen)
            continue;
        const kf_tcb *other = &curve->tcb[at[c]];
        key->mixed = key->mixed || differ(other->tension, key->tcb.tension) || differ(other->continuity, key->tcb.continuity) ||
                     differ(other->bias, key->tcb.bias) || other->ease_in != key->tcb.ease_in ||
                     other->ease_out != key->tcb.ease_out;
    }
}

static bool tell_shared(const nytro_node *node, const nytro_channel *to, size_t i)
{
    static const double one[3] = {1.0, 1.0, 1.0};
    double most = 0.0, at = to->keys[i].time;
    for (size_t k = i > 0 ? i - 1 : 0; k <= i && k + 1 < to->count; k++) {
        double much = 0.0, when = at;
        kfi_nytro_segment_error(to, KFI_NYTRO_TCB, k, one, &much, &when);
        at = much > most ? when : at;
        most = fmax(most, much);
    }
    return kfi_warn(node->job, "tcb-shared",
                    "node \"%.60s\", take \"%.60s\", %s at %.4f s: x, y and z have different TCB numbers, the key "
                    "has one set; it takes those of %c, so that the others are off by up to %.4g at %.4f s",
                    node->name, node->take->name, kfi_channel_name(kfi_nytro_neutral(to->channel)), to->keys[i].time,
                    "xyz"[to->keys[i].numbers_of], most, at);
}

/* Numbers that differ because a component was fitted anew, for it was moved, has keys of its own or tangents that were drawn,
 * cannot go for the others: they are solved for all three. Elsewhere someone has set them on one component, and they go for
 * all. */
static bool settle_mixed(const nytro_node *node, nytro_channel *to, const bool *alone)
{
    const uint32_t shape = KF_CHANGED_VALUE | KF_CHANGED_TIME | KF_CHANGED_IN | KF_CHANGED_OUT | KF_CHANGED_INTERP;
    bool fitted = false;
    for (size_t i = 0; i < to->count; i++) {
        const nytro_key *key = &to->keys[i];
        uint32_t any = key->changed[0] | key->changed[1] | key->changed[2];
        fitted = fitted || alone[i] || key->drawn || (key->mixed && (any & shape));
    }
    for (size_t i = 0; i < to->count; i++) {
        nytro_key *key = &to->keys[i];
        bool beside = (i > 0 && alone[i - 1]) || alone[i] || (i + 1 < to->count && alone[i + 1]);
        bool drawn = key->drawn || (i > 0 && key[-1].drawn);
        if (key->mixed && !fitted && !tell_shared(node, to, i))
            return false;
        key->mixed = fitted && (key->mixed || beside || drawn);
    }
    return true;
}

/* One key of those that the components have at a time; those without one there give their value. */
static void gather_key(const kf_track *track, const size_t at[3], const bool here[3], double time, size_t limit,
                       nytro_key *key)
{
    *key = (nytro_key){.time = time, .origin = -1, .index = -1, .interp = KF_LINEAR};
    bool typed = false;
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *curve = &track->curve[c];
        if (!here[c]) {
            key->changed[c] = KF_CHANGED_ALL;
            key->value[c] = c < track->curves ? kfi_curve_value(curve, time, track->rest[c]) : track->rest[c];
            continue;
        }
        const kf_key *from = &curve->keys[at[c]];
        kf_origin origin = origin_of(track, curve->origin, at[c], limit);
        key->value[c] = from->value;
        key->changed[c] = (uint8_t)origin.changed;
        if (origin.key != KF_NEW && (key->origin < 0 || !(origin.changed & KF_CHANGED_TIME)))
            key->origin = origin.key;
        /* TCB says the most, a cubic more than a line. */
        if (!typed || from->interp == KF_TCB || (from->interp != KF_LINEAR && key->interp == KF_LINEAR))
            key->interp = from->interp;
        typed = true;
    }
    if (here[0] && here[1] && here[2] && at[0] == at[1] && at[0] == at[2])
        key->index = (int64_t)at[0];
    merge_numbers(track, at, here, key);
}

static bool gather_values(nytro_node *node, nytro_channel *to, size_t limit)
{
    const kf_track *track = to->track;
    size_t most = 0, at[3] = {0, 0, 0};
    for (unsigned c = 0; c < track->curves; c++)
        most += track->curve[c].count;
    bool zipped = zips(track);
    if (zipped)
        most = track->curve[0].count;
    to->keys = kfi_alloc(node->job, most, sizeof *to->keys);
    bool *alone = kfi_alloc(node->job, most, sizeof *alone); /* a key of a TCB segment that not all components have */
    if (!to->keys || !alone)
        return false;
    while (to->count < most) {
        bool here[3] = {false, false, false};
        double time = INFINITY;
        for (unsigned c = 0; c < track->curves; c++)
            if (at[c] < track->curve[c].count)
                time = fmin(time, track->curve[c].keys[at[c]].time);
        if (time == (double)INFINITY)
            break;
        for (unsigned c = 0; c < track->curves; c++)
            here[c] = zipped || (at[c] < track->curve[c].count &&
                                 track->curve[c].keys[at[c]].time <= time + near_in_time(time));
        gather_key(track, at, here, time, limit, &to->keys[to->count]);
        for (unsigned c = 0; c < track->curves; c++) {
            at[c] += here[c];
            alone[to->count] = alone[to->count] || (!here[c] && to->keys[to->count].interp == KF_TCB);
        }
        /* One that ends a TCB segment bends it, whatever its own kind. */
        for (unsigned c = 0; c < track->curves && to->count > 0; c++)
            alone[to->count] = alone[to->count] || (!here[c] && to->keys[to->count - 1].interp == KF_TCB);
        to->count++;
    }
    return settle_mixed(node, to, alone);
}

/* Times are stored in 32 bits. A new key amid a fast turn is one where it will stand, or it would be too early or too late; at
 * the end of a turn it stays what it is. */
static void at_stored_time(const kf_quat_curve *quat, nytro_key *key)
{
    double stored = (double)(float)key->time, by = fabs(stored - key->time), before[4], after[4];
    kfi_quat_curve_value(quat, key->time - by, before);
    kfi_quat_curve_value(quat, key->time + by, after);
    double came = kfi_quat_angle(before, key->value), goes = kfi_quat_angle(after, key->value);
    if (key->origin >= 0 || fmax(came, goes) < 1e-4 || fmin(came, goes) < 0.25 * fmax(came, goes))
        return;
    memcpy(key->value, stored < key->time ? before : after, sizeof before);
    key->time = stored;
}

static bool gather_rotations(nytro_node *node, nytro_channel *to, size_t limit)
{
    const kf_track *track = to->track; /* of quaternions: the format is one that has them */
    to->quat = track->quat;
    to->keys = kfi_alloc(node->job, to->quat.count, sizeof *to->keys);
    if (!to->keys)
        return false;
    for (size_t i = 0; i < to->quat.count; i++) {
        const kf_quat_key *key = &to->quat.keys[i];
        kf_origin origin = origin_of(track, to->quat.origin, i, limit);
        to->keys[i] = (nytro_key){.time = key->time,
                                  .turns = key->turns,
                                  .origin = origin.key == KF_NEW ? -1 : (int64_t)origin.key,
                                  .changed = {(uint8_t)origin.changed},
                                  .index = (int64_t)i,
                                  .interp = key->interp};
        memcpy(to->keys[i].value, key->q, sizeof key->q);
        if (to->quat.tcb)
            to->keys[i].tcb = to->quat.tcb[i];
        at_stored_time(&to->quat, &to->keys[i]);
    }
    to->count = to->quat.count;
    return true;
}

/* A channel that does not move, but stands elsewhere than where a node stands by itself: one key. */
static bool gather_rest(nytro_node *node, nytro_channel *to)
{
    const kf_node *from = &node->anim->nodes[node->index];
    const double *rest = to->channel == KFI_NYTRO_TRANSLATION ? from->rest.translation
                         : to->channel == KFI_NYTRO_ROTATION  ? from->rest.rotation
                                                              : from->rest.scale;
    double usual = to->channel == KFI_NYTRO_SCALE ? 1.0 : 0.0;
    if (rest[0] == usual && rest[1] == usual && rest[2] == usual)
        return true;
    to->keys = kfi_alloc(node->job, 1, sizeof *to->keys);
    if (!to->keys)
        return false;
    nytro_key *key = &to->keys[0];
    *key = (nytro_key){.time = node->take->start, .origin = -1, .index = -1, .interp = KF_LINEAR};
    memcpy(key->value, rest, 3 * sizeof *rest);
    if (to->channel == KFI_NYTRO_ROTATION)
        kfi_quat_from_euler(rest, (kf_rotation_order)from->order, key->value);
    to->count = 1;
    return true;
}

bool kfi_nytro_gather(nytro_node *node, unsigned channel)
{
    nytro_channel *to = &node->channels[channel];
    *to = (nytro_channel){.channel = channel};
    for (size_t i = 0; i < node->track_count && !to->track; i++) {
        const kf_track *track = &node->take->tracks[node->tracks[i]];
        if (track->channel == kfi_nytro_neutral(channel) && track->layer == 0)
            to->track = track;
    }
    if (!to->track)
        return node->original ? true : gather_rest(node, to);
    size_t limit = node->was ? node->was->count[channel] : 0;
    to->raw = node->was && untouched(to->track);
    return channel == KFI_NYTRO_ROTATION ? gather_rotations(node, to, limit) : gather_values(node, to, limit);
}
