/* Numbers of TCB keys that travelled as properties of their own (tcb_tracks.h). */
#include "internal.h"
#include "tcb_tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The merged track gets keys, numbers and origins of its own if it still shares the original's. */
static bool own_keys(kf_job *job, const kf_track *original, kf_track *merged)
{
    if (merged->state == KF_TRACK_CHANGED)
        return true;
    kf_origin *origin;
    merged->state = KF_TRACK_CHANGED;
    for (unsigned c = 0; c < merged->curves; c++)
        if (!kfi_merge_copy_curve(job, &original->curve[c], &merged->curve[c], &origin))
            return false;
    if (!merged->quaternion)
        return true;
    const kf_quat_curve *from = &original->quat;
    origin = kfi_alloc(job, from->count, sizeof *origin);
    if (!origin || !kfi_make_quat_keys(job, &merged->quat, from->count, from->tcb != NULL))
        return false;
    memcpy(merged->quat.keys, from->keys, from->count * sizeof *from->keys);
    if (from->tcb)
        memcpy(merged->quat.tcb, from->tcb, from->count * sizeof *from->tcb);
    for (size_t i = 0; i < from->count; i++)
        origin[i].key = (uint32_t)i;
    merged->quat.origin = origin;
    return true;
}

/* Where the merged track has each of the original's keys: made once for all numbers that were edited, for these may be as many. */
typedef struct places {
    size_t *at[3]; /* of x, y and z; of an orientation the first. SIZE_MAX: it has that no more */
    size_t count[3];
} places;

static bool find_keys(kf_job *job, const kf_origin *origins, size_t keys, size_t count, size_t **at)
{
    *at = kfi_alloc_raw(job, count, sizeof **at);
    for (size_t i = 0; *at && i < count; i++)
        (*at)[i] = origins || i >= keys ? SIZE_MAX : i;
    for (size_t i = keys; *at && origins && i-- > 0;) /* the first of several counts */
        if (origins[i].key < count)
            (*at)[origins[i].key] = i;
    return *at != NULL;
}

static bool find_places(kf_job *job, const kf_track *original, const kf_track *merged, places *p)
{
    if (p->at[0])
        return true;
    const kf_quat_curve *quat = &merged->quat;
    p->count[0] = original->quat.count;
    if (merged->quaternion)
        return find_keys(job, quat->origin, quat->count, original->quat.count, &p->at[0]);
    for (unsigned c = 0; c < merged->curves; c++) {
        const kf_curve *curve = &merged->curve[c];
        p->count[c] = original->curve[c].count;
        if (!find_keys(job, curve->origin, curve->count, p->count[c], &p->at[c]))
            return false;
    }
    return true;
}

/* Which merged key is the original's key `key`; SIZE_MAX: none. */
static size_t place_of(const places *p, unsigned c, size_t key)
{
    return key < p->count[c] ? p->at[c][key] : SIZE_MAX;
}

/* Origins are ours to write: own_keys or the merge made them. */
static void set_number(kf_tcb *tcb, const kf_origin *origin, unsigned number, float value)
{
    kfi_tcb_set(tcb, number, value);
    ((kf_origin *)origin)->changed |= number < 3 ? KF_CHANGED_TCB : KF_CHANGED_EASE;
}

/* A key's numbers bend the motion from the key before it to the one behind it: that is no longer what the FBX's curves show. */
static bool except(kf_job *job, kfi_wanted *wanted, double before, double behind)
{
    kfi_stretch *span = kfi_push(job, &wanted->except, &wanted->except_count, sizeof *span);
    if (span)
        *span = (kfi_stretch){before, behind};
    return span != NULL;
}

/* On all components. `wanted`: what is asked of the track, or NULL. Not *set: the key is gone, and its number with it. */
static bool set_numbers(kf_job *job, kf_track *merged, const places *p, size_t key, unsigned number, float value, kfi_wanted *wanted,
                        bool *set)
{
    const kf_quat_curve *quat = &merged->quat;
    size_t i = merged->quaternion && quat->tcb ? place_of(p, 0, key) : SIZE_MAX;
    *set = i != SIZE_MAX;
    if (*set)
        set_number(&quat->tcb[i], &quat->origin[i], number, value);
    if (wanted && *set && !except(job, wanted, quat->keys[i > 0 ? i - 1 : i].time, quat->keys[i + 1 < quat->count ? i + 1 : i].time))
        return false;
    for (unsigned c = 0; c < merged->curves; c++) {
        const kf_curve *curve = &merged->curve[c];
        i = curve->tcb && curve->origin ? place_of(p, c, key) : SIZE_MAX;
        if (i == SIZE_MAX)
            continue;
        *set = true;
        set_number(&curve->tcb[i], &curve->origin[i], number, value);
        if (wanted && !except(job, wanted, curve->keys[i > 0 ? i - 1 : i].time, curve->keys[i + 1 < curve->count ? i + 1 : i].time))
            return false;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    double x = ((const kfi_stretch *)a)->from, y = ((const kfi_stretch *)b)->from;
    return (x > y) - (x < y);
}

void kfi_order_excepted(kfi_wanted *wanted)
{
    size_t kept = 0;
    if (wanted->except_count)
        qsort(wanted->except, wanted->except_count, sizeof *wanted->except, by_start);
    for (size_t i = 0; i < wanted->except_count; i++) {
        kfi_stretch next = wanted->except[i], *last = kept ? &wanted->except[kept - 1] : NULL;
        if (last && next.from < last->to)
            last->to = fmax(last->to, next.to);
        else
            wanted->except[kept++] = next;
    }
    wanted->except_count = kept;
}

/* Whether its curve did not come back, and with it other numbers than the one that the property stands at by itself. */
static bool is_lost(const kf_track *was, const kf_track *now)
{
    double rest = now ? now->rest[0] : 0;
    if (now && now->curve[0].count > 0)
        return false;
    for (size_t i = 0; i < was->curve[0].count; i++)
        if (fabs(was->curve[0].keys[i].value - rest) > 1e-6)
            return true;
    return false;
}

/* The number of a written key: its own key's, wherever that has moved to; else what is there, a hair later, so that a stepped
 * key has happened. */
static double number_now(const kf_curve *was, const kf_track *now, size_t i, double offset)
{
    if (!now)
        return 0;
    const kf_curve *curve = &now->curve[0];
    return curve->count == was->count ? curve->keys[i].value
                                      : kfi_curve_value(curve, was->keys[i].time + offset + 1e-7, now->rest[0]);
}

/* When the merged track has the original's key `key`; NAN if it has that no more. */
static double time_of(const kf_track *merged, const places *p, size_t key)
{
    size_t i = merged->quaternion ? place_of(p, 0, key) : SIZE_MAX;
    if (i != SIZE_MAX)
        return merged->quat.keys[i].time;
    for (unsigned c = 0; c < merged->curves; c++)
        if (merged->curve[c].tcb && place_of(p, c, key) != SIZE_MAX)
            return merged->curve[c].keys[place_of(p, c, key)].time;
    return NAN;
}

/* A number belongs to a key of the motion: moved alone, to where another number is due, it does not go there. */
static bool tell_moved(const kfi_merging *m, size_t written_take, const kf_track *was, const kf_track *now, const kf_track *original,
                       const kf_track *merged, places *p)
{
    double later = m->matches.offset[written_take], limit = fmax(m->limits.time, 1e-6);
    const kf_curve *curve = &now->curve[0];
    for (size_t i = 0; curve->count == was->curve[0].count && i < curve->count; i++) {
        if (fabs(curve->keys[i].time - was->curve[0].keys[i].time - later) <= limit)
            continue;
        if (!find_places(m->job, original, merged, p))
            return false;
        double at = time_of(merged, p, i) + m->input->shift[written_take] + later;
        double shown = kfi_curve_value(curve, at + limit, now->rest[0]);
        if (fabs(shown - curve->keys[i].value) <= 1e-6 || isnan(at))
            continue;
        return kfi_warn(m->job, "moved", "take \"%.60s\", node \"%.60s\", %.60s at %.4f s: moved without the key that it belongs to, "
                                         "at %.4f s, which keeps %g, though the FBX shows %g there",
                        m->input->written->takes[written_take].name, m->input->written->nodes[was->node].name, was->name,
                        curve->keys[i].time, at, curve->keys[i].value, shown);
    }
    return true;
}

/* A number where the motion has no key to hold it goes nowhere. One that is a neighbour's tells nothing new: programs sample. */
static bool tell_between(const kfi_merging *m, size_t written_take, const kf_track *was, const kf_track *now)
{
    double later = m->matches.offset[written_take], limit = fmax(m->limits.time, 1e-6);
    const kf_curve *curve = &now->curve[0], *had = &was->curve[0];
    size_t next = 0; /* of the written keys, the first that is no earlier */
    for (size_t i = 0; curve->count != had->count && i < curve->count; i++) {
        double time = curve->keys[i].time - later;
        bool known = false;
        while (next < had->count && had->keys[next].time < time - limit)
            next++;
        for (size_t k = next > 0 ? next - 1 : 0; k <= next && k < had->count; k++)
            known = known || fabs(had->keys[k].time - time) <= limit ||
                    fabs(number_now(had, now, k, later) - curve->keys[i].value) <= 1e-6;
        if (!known)
            return kfi_warn(m->job, "moved", "take \"%.60s\", node \"%.60s\", %.60s at %.4f s: the motion has no key there that could "
                                             "have the number %g: it is lost. Set it where a key is",
                            m->input->written->takes[written_take].name, m->input->written->nodes[was->node].name, was->name,
                            curve->keys[i].time, curve->keys[i].value);
    }
    return true;
}

bool kfi_merge_numbers(kfi_merging *m, size_t written_take, size_t written_track, kf_track *merged, kfi_wanted *wanted)
{
    const kf_take *take = &m->input->written->takes[written_take];
    const kf_track *was = &take->tracks[written_track];
    const kf_track *now = m->matches.track[written_take][written_track];
    const kf_track *original = &m->input->original->takes[take->source].tracks[was->source];
    kf_channel channel;
    const char *name;
    size_t length, edits = 0;
    unsigned number;
    places p = {0};
    bool counted = merged->state == KF_TRACK_CHANGED;
    if (!kfi_tcb_track_parse(was, &channel, &name, &length, &number) || (now && now->curves != 1))
        return true;
    if (is_lost(was, now) && !m->input->drop_missing) {
        if (m->numbers.lost++ == 0) {
            m->numbers.take = take->name;
            m->numbers.track = was;
        }
        return true;
    }
    for (size_t i = 0; i < was->curve[0].count; i++) {
        double value = number_now(&was->curve[0], now, i, m->matches.offset[written_take]);
        if (fabs(value - was->curve[0].keys[i].value) <= 1e-6)
            continue;
        bool set;
        if (!own_keys(m->job, original, merged) || !find_places(m->job, original, merged, &p) ||
            !set_numbers(m->job, merged, &p, i, number, (float)value, wanted, &set))
            return false;
        edits += set;
    }
    if (now && (!tell_moved(m, written_take, was, now, original, merged, &p) || !tell_between(m, written_take, was, now)))
        return false;
    if (edits == 0)
        return true;
    m->report->changed += !counted;
    return kfi_merge_report_track(m, KFI_WHAT_CHANGED, take->name, merged, was->name);
}

bool kfi_tell_numbers(const kfi_merging *m)
{
    const kf_track *first = m->numbers.track;
    return m->numbers.lost == 0 ||
           kfi_warn(m->job, "kept", "%zu properties that tell tension, continuity, bias or ease did not come back, and these numbers "
                                    "stay as they were (--drop-missing makes them 0; first: take \"%.60s\", node \"%.60s\", %.60s)",
                    m->numbers.lost, m->numbers.take, m->input->written->nodes[first->node].name, first->name);
}
