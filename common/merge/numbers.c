/* Numbers of TCB keys that travelled as properties of their own (tcb_tracks.h). */
#include "internal.h"
#include "tcb_tracks.h"

#include <math.h>
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

/* The number on every merged key that is the original's key `key`. Origins are ours to write: own_keys or the merge
 * made them. */
static void set_number(kf_tcb *tcb, const kf_origin *origins, size_t count, uint32_t key, unsigned number, float value)
{
    for (size_t i = 0; tcb && origins && i < count; i++) {
        if (origins[i].key == key) {
            kfi_tcb_set(&tcb[i], number, value);
            ((kf_origin *)origins)[i].changed |= number < 3 ? KF_CHANGED_TCB : KF_CHANGED_EASE;
            return;
        }
    }
}

bool kfi_merge_numbers(kfi_merging *m, size_t written_take, size_t written_track, kf_track *merged)
{
    const kf_take *take = &m->input->written->takes[written_take];
    const kf_track *was = &take->tracks[written_track];
    const kf_track *now = m->matches.track[written_take][written_track];
    const kf_track *original = &m->input->original->takes[take->source].tracks[was->source];
    kf_channel channel;
    const char *name;
    size_t length, edits = 0;
    unsigned number;
    bool counted = merged->state == KF_TRACK_CHANGED;
    if (!kfi_tcb_track_parse(was, &channel, &name, &length, &number) || now->curves != 1)
        return true;
    for (size_t i = 0; i < was->curve[0].count; i++) {
        const kf_key *key = &was->curve[0].keys[i];
        /* Its own key, wherever that has moved to; else what is there, a hair later, so that a stepped key has happened. */
        double value = now->curve[0].count == was->curve[0].count ? now->curve[0].keys[i].value : kfi_curve_value(&now->curve[0], key->time + m->matches.offset[written_take] + 1e-7, now->rest[0]);
        if (fabs(value - key->value) <= 1e-6)
            continue;
        if (!own_keys(m->job, original, merged))
            return false;
        if (merged->quaternion)
            set_number(merged->quat.tcb, merged->quat.origin, merged->quat.count, (uint32_t)i, number, (float)value);
        for (unsigned c = 0; c < merged->curves; c++)
            set_number(merged->curve[c].tcb, merged->curve[c].origin, merged->curve[c].count, (uint32_t)i, number,
                       (float)value);
        edits++;
    }
    if (edits == 0)
        return true;
    m->report->changed += !counted;
    return kfi_merge_report_track(m, "changed", take->name, merged, was->name);
}
