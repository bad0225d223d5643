/* Rotations that the format stores as orientations: what came back as Euler curves is compared as orientations. */
#include "fit/fit.h"
#include "internal.h"

#include <math.h>
#include <string.h>

static void edited_orientation(const kfi_merge_track *t, double time, double q[4])
{
    double euler[3];
    for (unsigned c = 0; c < 3; c++)
        euler[c] = kfi_curve_value(&t->edited->curve[c], time + t->shift + t->offset, t->edited->rest[c]);
    kfi_quat_from_euler(euler, t->edited_order, q);
}

static void written_orientation(const kfi_merge_track *t, double time, double q[4])
{
    double euler[3];
    for (unsigned c = 0; c < 3; c++)
        euler[c] = kfi_curve_value(&t->written->curve[c], time + t->shift, t->written->rest[c]);
    kfi_quat_from_euler(euler, t->order, q);
}

/* Straight from our own writer, equal Euler curves give equal orientations but for arithmetic. */
static double limit_of(const kfi_merge_track *t)
{
    return t->limits->exact ? 1e-4 : t->limits->value[KF_ROTATION];
}

/* What a program that thins out its samples may have done to the orientation where it kept none. */
static double thinned(const kfi_merge_track *t, double time)
{
    double sum = 0;
    time += t->shift + t->offset;
    for (unsigned c = 0; c < 3 && !t->limits->exact; c++) {
        const kf_curve *curve = &t->edited->curve[c];
        size_t low = 0, high = curve->count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (curve->keys[middle].time < time - t->limits->time)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < curve->count && curve->keys[low].time <= time + t->limits->time)
            continue;
        double value = kfi_curve_value(curve, time, t->edited->rest[c]);
        sum += kfi_thinning(value, value);
    }
    return sum;
}

static bool edited_here(const kfi_merge_track *t, double time, double written_time)
{
    double was[4], now[4];
    written_orientation(t, written_time, was);
    edited_orientation(t, time, now);
    return kfi_quat_angle(was, now) > limit_of(t) + thinned(t, time);
}

/* ---------------------------------------------------------------- key times */

static size_t union_times(const kf_track *track, double shift, double limit, double *times)
{
    size_t at[3] = {0, 0, 0}, count = 0;
    for (;;) {
        double least = INFINITY;
        for (unsigned c = 0; c < 3; c++)
            if (at[c] < track->curve[c].count)
                least = fmin(least, track->curve[c].keys[at[c]].time);
        if (least == INFINITY)
            return count;
        for (unsigned c = 0; c < 3; c++)
            while (at[c] < track->curve[c].count && track->curve[c].keys[at[c]].time <= least + limit)
                at[c]++;
        times[count++] = least - shift;
    }
}

static bool contains(const double *times, size_t count, double time, double limit)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (times[middle] < time - limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && times[low] <= time + limit;
}

static size_t all_keys(const kf_track *track)
{
    return track->curve[0].count + track->curve[1].count + track->curve[2].count;
}

/* Whether what came back is one linear key a frame instead of the keys that were written. */
static bool came_back_baked(const kfi_merge_track *t)
{
    if (t->input->baked)
        return true;
    for (unsigned c = 0; c < 3; c++)
        for (size_t i = 0; i < t->edited->curve[c].count; i++)
            if (t->edited->curve[c].keys[i].interp != KF_LINEAR)
                return false;
    return all_keys(t->edited) > all_keys(t->written);
}

/* ---------------------------------------------------------------- building */

typedef struct building {
    kf_quat_key *keys;
    kf_tcb *tcb;
    kf_origin *origin;
    size_t count, tcbs, origins;
} building;

static bool add(kf_job *job, building *b, const kf_quat_key *key, const kf_tcb *tcb, kf_origin origin)
{
    kf_quat_key *k = kfi_push(job, &b->keys, &b->count, sizeof *k);
    kf_tcb *n = k ? kfi_push(job, &b->tcb, &b->tcbs, sizeof *n) : NULL;
    kf_origin *o = n ? kfi_push(job, &b->origin, &b->origins, sizeof *o) : NULL;
    if (!o)
        return false;
    *k = *key;
    if (tcb)
        *n = *tcb;
    *o = origin;
    return true;
}

/* Turned so that it lies in the same half of the sphere as another: the same orientation, a smooth sequence. */
static void align(double q[4], const double like[4])
{
    if (q[0] * like[0] + q[1] * like[1] + q[2] * like[2] + q[3] * like[3] < 0)
        for (int c = 0; c < 4; c++)
            q[c] = -q[c];
}

static void set_orientation(const kfi_merge_track *t, kf_quat_key *key, double time)
{
    double q[4];
    edited_orientation(t, time, q);
    align(q, key->q);
    memcpy(key->q, q, sizeof q);
    key->turns = 0;
}

static bool add_native(kfi_merge_track *t, building *b, size_t i, double time)
{
    const kf_quat_curve *from = &t->original->quat;
    kf_quat_key key = from->keys[i];
    kf_origin origin = {(uint32_t)i, 0};
    if (time != key.time) {
        key.time = time;
        origin.changed |= KF_CHANGED_TIME;
    }
    if (edited_here(t, time, from->keys[i].time)) {
        set_orientation(t, &key, time);
        origin.changed |= KF_CHANGED_VALUE;
    }
    t->keys_changed += origin.changed != 0;
    return add(t->job, b, &key, from->tcb ? &from->tcb[i] : NULL, origin);
}

static bool add_new(kfi_merge_track *t, building *b, double time)
{
    const kf_quat_curve *from = &t->original->quat;
    kf_quat_key key = {.time = time, .q = {1, 0, 0, 0}};
    key.interp = b->count ? b->keys[b->count - 1].interp : from->count ? from->keys[0].interp : KF_LINEAR;
    if (b->count)
        memcpy(key.q, b->keys[b->count - 1].q, sizeof key.q);
    set_orientation(t, &key, time);
    t->keys_added++;
    return add(t->job, b, &key, NULL, (kf_origin){KF_NEW, KF_CHANGED_ALL});
}

/* Retimed as a whole: as many keys as were written, with their orientations in their order. */
static bool retimed(const kfi_merge_track *t, const double *was, size_t was_count, const double *now, size_t now_count)
{
    for (size_t i = 0; was_count == now_count && i < now_count; i++)
        if (edited_here(t, now[i], was[i]))
            return false;
    return was_count == now_count;
}

/* The original's keys that are still there, those that moved, and new ones, in order of time. */
static bool build_sparse(kfi_merge_track *t, building *b)
{
    const kf_quat_curve *from = &t->original->quat;
    double limit = fmax(t->limits->time, 1e-6);
    double *now = kfi_alloc_raw(t->job, all_keys(t->edited), sizeof *now);
    double *was = kfi_alloc_raw(t->job, all_keys(t->written), sizeof *was);
    if (!now || !was)
        return false;
    size_t now_count = union_times(t->edited, t->shift + t->offset, limit, now);
    size_t was_count = union_times(t->written, t->shift, limit, was);
    size_t i = 0, j = 0;
    if (retimed(t, was, was_count, now, now_count)) {
        for (; i < from->count; i++) {
            while (j + 1 < was_count && was[j] < from->keys[i].time - limit)
                j++;
            bool moved = fabs(now[j] - was[j]) > limit;
            if (!add_native(t, b, i, moved ? now[j] : from->keys[i].time))
                return false;
        }
        return true;
    }
    while (i < from->count || j < now_count) {
        /* The next native key that is still in its place; before it, what was lost and what is new. */
        size_t stay = i;
        while (stay < from->count && !contains(now, now_count, from->keys[stay].time, limit))
            stay++;
        double until = stay < from->count ? from->keys[stay].time : INFINITY;
        size_t lost = stay - i;
        size_t fresh = 0;
        for (size_t k = j; k < now_count && now[k] < until - limit; k++)
            fresh += !contains(was, was_count, now[k], limit);
        for (; j < now_count && now[j] < until - limit; j++) {
            if (contains(was, was_count, now[j], limit))
                continue; /* a helper key that stayed */
            if (lost == fresh && i < stay ? !add_native(t, b, i++, now[j]) : !add_new(t, b, now[j]))
                return false;
        }
        t->keys_removed += stay - i;
        i = stay;
        if (i < from->count) {
            if (!add_native(t, b, i, from->keys[i].time))
                return false;
            i++;
            while (j < now_count && now[j] <= until + limit)
                j++;
        }
    }
    return true;
}

/* Whether two keys of the original that follow each other were edited, and nothing between them. */
static bool just_keys(const kfi_merge_track *t, const building *b, size_t i)
{
    const kf_origin *origin = &b->origin[i];
    const kf_quat_key *from = t->original->quat.keys;
    if (origin[0].key == KF_NEW || origin[1].key != origin[0].key + 1 || !(origin[0].changed || origin[1].changed))
        return false;
    const double was[2] = {from[origin[0].key].time, from[origin[1].key].time}, now[2] = {b->keys[i].time, b->keys[i + 1].time};
    return kfi_only_ends_moved(t, was, now);
}

/* Keys between the native ones where the motion was edited and the format's own interpolation would leave it. Where `sparse`
 * keys were edited and nothing between them, the format plays between them as it does: no slopes were drawn. */
static bool refine(kfi_merge_track *t, building *b, bool sparse)
{
    enum { PROBES = 12, MOST_PIECES = 64 };
    double tolerance = t->input->tolerance > 0 ? t->input->tolerance : fmax(0.01, t->limits->value[KF_ROTATION]);
    building out = {0};
    kf_quat_curve curve = {b->keys, b->count, b->tcb, NULL};
    for (size_t i = 0; i < b->count; i++) {
        if (!add(t->job, &out, &b->keys[i], &b->tcb[i], b->origin[i]))
            return false;
        if (i + 1 == b->count)
            break;
        double start = b->keys[i].time, end = b->keys[i + 1].time;
        double worst = 0;
        for (int p = 1; p < PROBES; p++) {
            double time = start + (end - start) * p / PROBES, want[4], have[4];
            if (!edited_here(t, time, time))
                continue;
            edited_orientation(t, time, want);
            kfi_quat_curve_value(&curve, time, have);
            worst = fmax(worst, kfi_quat_angle(want, have));
        }
        if (worst <= tolerance)
            continue;
        if (sparse && just_keys(t, b, i)) {
            if (!kfi_note(t->job, "keys-alone", "take \"%.60s\", node \"%.60s\", rotation after %.4f s: keys were edited and nothing "
                                                "between them: there the game turns in its own way, up to %.4g degrees from the FBX's",
                          t->take, t->input->original->nodes[t->original->node].name, start, worst))
                return false;
            continue;
        }
        /* As many equal pieces as slerp needs: its error falls with the square of the piece. Those of a bake end on its samples. */
        int pieces = (int)fmin(ceil(sqrt(worst / tolerance)), MOST_PIECES);
        double frame = sparse ? 0.0 : 1.0 / t->input->edited->frame_rate, last = start;
        for (int p = 1; p < pieces; p++) {
            double time = start + (end - start) * p / pieces;
            if (frame > 0)
                time = nearbyint((time + t->shift + t->offset) / frame) * frame - t->shift - t->offset;
            if (time > last + 0.5 * frame && time < end - 0.5 * frame && !add_new(t, &out, last = time))
                return false;
        }
        t->segments_fitted++;
    }
    *b = out;
    return true;
}

/* Keys that were edited or are new bend the motion beside them, which nobody touched: says by how much. */
static bool tell_bent(const kfi_merge_track *t, const building *b)
{
    enum { PROBES = 4 };
    const kf_quat_curve *was = &t->original->quat;
    kf_quat_curve now = {b->keys, b->count, was->tcb ? b->tcb : NULL, NULL};
    double worst = t->input->tolerance > 0 ? t->input->tolerance : fmax(0.01, t->limits->value[KF_ROTATION]), at = 0;
    bool bent = false;
    for (size_t i = 0; i + 1 < b->count; i++) {
        for (int p = 1; p < PROBES; p++) {
            double time = b->keys[i].time + (b->keys[i + 1].time - b->keys[i].time) * p / PROBES, want[4], have[4];
            kfi_quat_curve_value(was, time, want);
            kfi_quat_curve_value(&now, time, have);
            if (kfi_quat_angle(want, have) <= worst || edited_here(t, time, time))
                continue;
            worst = kfi_quat_angle(want, have);
            at = time;
            bent = true;
        }
    }
    return !bent || kfi_warn(t->job, "bent", "take \"%.60s\", node \"%.60s\": the rotation at %.4f s, which was not edited, "
                                             "differs by %.4g degrees: the keys beside it bend it", t->take,
                             t->input->original->nodes[t->original->node].name, at, worst);
}

static bool same_orientation(const kfi_merge_track *t, double a, double b)
{
    double p[4], q[4];
    edited_orientation(t, a, p);
    edited_orientation(t, b, q);
    return kfi_quat_angle(p, q) <= limit_of(t);
}

/* A bake that moves on after the last key: a key where it sets out and one where it comes to rest. */
static bool add_end(kfi_merge_track *t, building *b)
{
    double *now = kfi_alloc_raw(t->job, all_keys(t->edited), sizeof *now);
    double limit = fmax(t->limits->time, 1e-6), end = b->count ? b->keys[b->count - 1].time + limit : INFINITY;
    if (!now)
        return false;
    size_t count = union_times(t->edited, t->shift + t->offset, limit, now), first = count, last = count;
    while (first > 0 && now[first - 1] > end)
        first--;
    size_t held = first;
    while (first < count && !edited_here(t, now[first], now[first]))
        first++;
    if (first == count)
        return true;
    while (last > first + 1 && same_orientation(t, now[last - 2], now[count - 1]))
        last--;
    return (first == held || add_new(t, b, now[first - 1])) && add_new(t, b, now[last - 1]);
}

static bool is_cut(const kfi_merge_track *t)
{
    const kf_quat_curve *from = &t->original->quat;
    return from->count && from->keys[from->count - 1].time > t->cut + fmax(t->limits->time, 1e-6);
}

/* A bake that was edited, fitted as a whole: samples that were not edited lie on the original, whose keys stay wherever they
 * still tell the motion. Whole turns have no place in samples; `done` says whether this was for the fit. */
static bool fit_bake(kfi_merge_track *t, bool *done)
{
    const kf_quat_curve *from = &t->original->quat;
    size_t most[2] = {all_keys(t->written), all_keys(t->edited)}, count = 0, edited = 0;
    double *times[2] = {kfi_alloc_raw(t->job, most[0], sizeof **times),
                        kfi_alloc_raw(t->job, most[1], sizeof **times)};
    double *at = kfi_alloc_raw(t->job, most[0] + most[1], sizeof *at);
    double(*q)[4] = kfi_alloc_raw(t->job, most[0] + most[1], sizeof *q);
    if (!times[0] || !times[1] || !at || !q)
        return false;
    double limit = fmax(t->limits->time, 1e-6);
    const size_t counts[2] = {union_times(t->written, t->shift, limit, times[0]),
                              union_times(t->edited, t->shift + t->offset, limit, times[1])};
    for (size_t i = 0, j = 0; i < counts[0] || j < counts[1];) {
        bool first = j == counts[1] || (i < counts[0] && times[0][i] <= times[1][j] + limit);
        double time = first ? times[0][i++] : times[1][j++];
        while (first && j < counts[1] && times[1][j] <= time + limit)
            j++;
        if (time > t->cut + limit)
            break;
        bool moved = edited_here(t, time, time);
        edited += moved;
        at[count] = time;
        if (moved)
            edited_orientation(t, time, q[count]);
        else
            kfi_quat_curve_value(from, time, q[count]);
        if (count)
            align(q[count], q[count - 1]);
        count++;
    }
    *done = edited > 0 || is_cut(t);
    for (size_t i = 0; i < from->count; i++)
        *done = *done && from->keys[i].turns == 0;
    if (!*done)
        return true;
    /* Where it rests at the end no more than the first sample of that is needed. */
    double end = from->count ? from->keys[from->count - 1].time + limit : -INFINITY;
    const double *rest = count ? q[count - 1] : NULL; /* each by this one: by the next one a slow turn would be a rest */
    while (count > 2 && at[count - 2] > end && kfi_quat_angle(q[count - 2], rest) <= limit_of(t))
        count--;
    kf_quat_curve left = *from;
    while (left.count && left.keys[left.count - 1].time > t->cut + limit)
        left.count--;
    kfi_fit_quat_options options = {
        .interps = t->input->capabilities->quat_interps, .tolerance = t->input->tolerance, .original = &left};
    kf_quat_curve *to = &t->merged->quat;
    if (!kfi_fit_quat(t->job, at, (const double(*)[4])q, count, &options, to))
        return false;
    size_t stayed = 0;
    for (size_t i = 0; i < to->count; i++) {
        stayed += to->origin[i].key != KF_NEW;
        t->keys_changed += to->origin[i].key != KF_NEW && to->origin[i].changed;
    }
    t->keys_added += to->count - stayed;
    t->keys_removed += from->count - stayed;
    t->segments_fitted++;
    t->changed = true;
    return true;
}

/* How many frames the list has now: those that the take did not have, and up to the last one that was edited. Before
 * the take's end a list that is shorter than others holds. */
static size_t last_frame(const kfi_merge_track *t, double rate, size_t frames)
{
    for (; frames > t->original->quat.count; frames--) {
        double time = (double)(frames - 1) / rate;
        if (time > t->original_end + 0.5 / rate || edited_here(t, time, time))
            return frames;
    }
    return frames;
}

bool kfi_merge_quat(kfi_merge_track *t, size_t frames)
{
    const kf_quat_curve *from = &t->original->quat;
    building b = {0};
    bool sampled = t->input->capabilities->frame_rate > 0;
    bool baked = came_back_baked(t), done = false;
    if (baked && !sampled && !fit_bake(t, &done))
        return false;
    if (done)
        return true;
    if (sampled || baked) {
        double rate = t->input->original->frame_rate;
        for (size_t i = 0; i < from->count; i++) {
            if ((sampled && from->keys[i].time * rate > (double)frames - 0.5) || from->keys[i].time > t->cut + 1e-4)
                t->keys_removed++;
            else if (!add_native(t, &b, i, from->keys[i].time))
                return false;
        }
        for (size_t i = from->count, end = last_frame(t, rate, frames); sampled && from->count && i < end; i++)
            if (!add_new(t, &b, (double)i / rate))
                return false;
        if (!sampled && !(is_cut(t) ? add_new(t, &b, t->cut) : add_end(t, &b)))
            return false;
    } else if (!build_sparse(t, &b)) {
        return false;
    }
    if (!sampled && !refine(t, &b, !baked))
        return false;
    t->changed = t->changed || t->keys_changed || t->keys_added || t->keys_removed || t->segments_fitted;
    t->merged->quat = (kf_quat_curve){b.keys, b.count, from->tcb ? b.tcb : NULL, b.origin};
    return sampled || !baked || !t->changed || tell_bent(t, &b);
}
