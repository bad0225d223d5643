/* Rotations that the format stores as orientations: what came back as Euler curves is compared as orientations. */
#include "quat.h"

#include <math.h>
#include <string.h>

/* A format with a value a frame has what its frames say. */
static double just_after(const kfi_merge_track *t)
{
    return t->input->capabilities->frame_rate > 0 ? 0 : KFI_JUST_AFTER;
}

void kfi_edited_orientation(const kfi_merge_track *t, double time, double q[4])
{
    double euler[3];
    for (unsigned c = 0; c < 3; c++)
        euler[c] = kfi_curve_value(&t->edited->curve[c], time + t->shift + t->offset + just_after(t), t->edited->rest[c]);
    kfi_quat_from_euler(euler, t->edited_order, q);
}

static void written_orientation(const kfi_merge_track *t, double time, double q[4])
{
    double euler[3];
    for (unsigned c = 0; c < 3; c++)
        euler[c] = kfi_curve_value(&t->written->curve[c], time + t->shift + just_after(t), t->written->rest[c]);
    kfi_quat_from_euler(euler, t->order, q);
}

/* Straight from our own writer, equal Euler curves give equal orientations but for arithmetic. */
double kfi_turn_limit(const kfi_merge_track *t)
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
        size_t at = kfi_key_from(curve, time - t->limits->time);
        if (at < curve->count && curve->keys[at].time <= time + t->limits->time)
            continue;
        double value = kfi_curve_value(curve, time, t->edited->rest[c]);
        sum += kfi_thinning(value, value);
    }
    return sum;
}

bool kfi_turned_here(const kfi_merge_track *t, double time, double written_time)
{
    double was[4], now[4];
    written_orientation(t, written_time, was);
    kfi_edited_orientation(t, time, now);
    return kfi_quat_angle(was, now) > kfi_turn_limit(t) + thinned(t, time);
}

/* ---------------------------------------------------------------- key times */

size_t kfi_union_times(const kf_track *track, double shift, double limit, double *times)
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

size_t kfi_euler_keys(const kf_track *track)
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
    return kfi_euler_keys(t->edited) > kfi_euler_keys(t->written);
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

static void set_orientation(const kfi_merge_track *t, kf_quat_key *key, double time)
{
    double q[4];
    kfi_edited_orientation(t, time, q);
    kfi_quat_align(q, key->q);
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
    if (kfi_turned_here(t, time, from->keys[i].time)) {
        set_orientation(t, &key, time);
        origin.changed |= KF_CHANGED_VALUE;
    }
    t->keys_changed += origin.changed != 0;
    return add(t->job, b, &key, from->tcb ? &from->tcb[i] : NULL, origin);
}

/* A new key where nothing turns otherwise than before says nothing: TCB keys beside it would only bend. */
static bool says_nothing(const kfi_merge_track *t, const building *b, double time)
{
    const kf_quat_curve *from = &t->original->quat;
    return b->count && b->keys[b->count - 1].interp == KF_TCB && time < from->keys[from->count - 1].time &&
           !kfi_turned_here(t, time, time);
}

static bool add_here(kfi_merge_track *t, building *b, double time)
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

static bool add_new(kfi_merge_track *t, building *b, double time)
{
    if (t->input->capabilities->frame_rate == 0 && says_nothing(t, b, time))
        return kfi_note(t->job, "needless", "take \"%.60s\", node \"%.60s\", rotation at %.4f s: a new key there changes nothing, but TCB "
                                            "keys around it would turn otherwise: it is left out",
                        t->take, t->input->original->nodes[t->original->node].name, time);
    return add_here(t, b, time);
}

/* Retimed as a whole: as many keys as were written, with their orientations in their order. */
static bool retimed(const kfi_merge_track *t, const double *was, size_t was_count, const double *now, size_t now_count)
{
    for (size_t i = 0; was_count == now_count && i < now_count; i++)
        if (kfi_turned_here(t, now[i], was[i]))
            return false;
    return was_count == now_count;
}

/* The original's keys that are still there, those that moved, and new ones, in order of time. */
static bool build_sparse(kfi_merge_track *t, building *b)
{
    const kf_quat_curve *from = &t->original->quat;
    double limit = fmax(t->limits->time, 1e-6);
    double *now = kfi_alloc_raw(t->job, kfi_euler_keys(t->edited), sizeof *now);
    double *was = kfi_alloc_raw(t->job, kfi_euler_keys(t->written), sizeof *was);
    if (!now || !was)
        return false;
    size_t now_count = kfi_union_times(t->edited, t->shift + t->offset, limit, now);
    size_t was_count = kfi_union_times(t->written, t->shift, limit, was);
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
            bool end = lost > 0 && (b->count == 0 || (stay == from->count && j + 1 == now_count));
            if (contains(was, was_count, now[j], limit)) { /* a helper key that stayed: with an end gone, what was drawn ends there */
                if (end && !add_here(t, b, now[j]))
                    return false;
                continue;
            }
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

/* What came back on a frame behind the list's own is what its last one, or the last of those that are built, is. */
static bool held(const kfi_merge_track *t, const building *b, double rate, size_t frame, size_t like)
{
    double now[4], before[4], time = (double)frame / rate;
    kfi_edited_orientation(t, time, now);
    if (like < t->original->quat.count)
        memcpy(before, b->keys[b->count - 1].q, sizeof before);
    else
        kfi_edited_orientation(t, (double)like / rate, before);
    return kfi_quat_angle(before, now) <= kfi_turn_limit(t) + thinned(t, time);
}

/* How many frames the list has now, of which its own are built: those that the take did not have, and up to the last one that was
 * edited. Before the take's end a list that is shorter than others holds: what is held anyway is not added, and where an edit ends
 * behind the list, the frame after it is. */
static size_t last_frame(const kfi_merge_track *t, const building *b, double rate, size_t frames)
{
    size_t own = t->original->quat.count, last = frames, behind = own;
    if (frames <= own || b->count == 0 || (double)(frames - 1) / rate > t->original_end + 0.5 / rate)
        return frames;
    while (behind < frames && held(t, b, rate, behind, own - 1))
        behind++;
    if (behind == frames)
        return own;
    while (last > own && !kfi_turned_here(t, (double)(last - 1) / rate, (double)(last - 1) / rate))
        last--;
    return last < frames && !held(t, b, rate, last, last - 1) ? last + 1 : last;
}

bool kfi_merge_quat(kfi_merge_track *t, size_t frames)
{
    const kf_quat_curve *from = &t->original->quat;
    building b = {0};
    bool sampled = t->input->capabilities->frame_rate > 0;
    if (!sampled && came_back_baked(t))
        return kfi_merge_quat_bake(t);
    if (sampled) {
        double rate = t->input->original->frame_rate;
        for (size_t i = 0; i < from->count; i++) {
            if (from->keys[i].time * rate > (double)frames - 0.5 || from->keys[i].time > t->cut + 1e-4)
                t->keys_removed++;
            else if (!add_native(t, &b, i, from->keys[i].time))
                return false;
        }
        for (size_t i = from->count, end = last_frame(t, &b, rate, frames); from->count && i < end; i++)
            if (!add_new(t, &b, (double)i / rate))
                return false;
    } else if (!build_sparse(t, &b)) {
        return false;
    }
    t->merged->quat = (kf_quat_curve){b.keys, b.count, from->tcb ? b.tcb : NULL, b.origin};
    if (!sampled && !kfi_merge_quat_drawn(t))
        return false;
    t->changed = t->changed || t->keys_changed || t->keys_added || t->keys_removed || t->segments_fitted;
    return true;
}
