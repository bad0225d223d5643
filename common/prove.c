/* What is in no original is read again and held against what was asked for, so that no deviation goes by in silence, whatever its
 * cause: a fit that did not reach, times or values that the format rounds, a rule of its own. */
#include "convert.h"

#include "curve.h"
#include "format.h"

#include <math.h>

/* Room for each byte that is read again, beside what the conversion itself holds. */
enum { PER_BYTE = 32 };

kf_file *kfi_emitted_files(kf_job *job, size_t first, size_t count)
{
    kf_file *files = kfi_alloc(job, count + 1, sizeof *files);
    for (size_t i = 0; files && i < count; i++) {
        const kfi_emitted *made = &job->emitted[first + i];
        files[i] = (kf_file){made->name, made->data, made->size};
        if (job->options.max_memory == 0)
            job->arena.limit += PER_BYTE * made->size;
    }
    return files;
}

const kf_anim *kfi_read_emitted(kf_job *job, const kf_format *format, const kf_file *rig, size_t first, size_t count)
{
    const kf_file *files = kfi_emitted_files(job, first, count);
    if (!files)
        return NULL;
    kf_options own = job->options;
    size_t messages = job->message_count;
    job->options.strict = false;
    if (rig && rig->data)
        job->options.rig = *rig;
    const kf_anim *again = kfi_import(job, format, files, count);
    job->options = own;
    job->message_count = messages;
    return again;
}

bool kfi_out_of_memory(const kf_job *job)
{
    return job->error.code == KF_NO_MEMORY || job->error.code == KF_MEMORY_LIMIT;
}

static double first_key(const kf_take *take)
{
    double start = INFINITY, end;
    return kfi_take_range(take, &start, &end) ? start : INFINITY;
}

static void move_track(kf_track *track, double by)
{
    for (unsigned c = 0; c < track->curves; c++)
        for (size_t i = 0; i < track->curve[c].count; i++)
            track->curve[c].keys[i].time += by;
    for (size_t i = 0; i < track->quat.count; i++)
        track->quat.keys[i].time += by;
}

/* A format that counts from the start of a take had its times moved there. */
static void move_back(const kf_anim *asked, const kf_anim *again)
{
    for (size_t i = 0; i < again->take_count; i++) {
        kf_take *take = &again->takes[i];
        bool only = asked->take_count == 1 && again->take_count == 1;
        const kf_take *other = only ? &asked->takes[0] : kfi_take_named(asked, take->name);
        double by = other ? first_key(other) - first_key(take) : 0;
        if (!other || other->start == 0 || !(fabs(by - other->start) <= 1e-3))
            continue;
        for (size_t t = 0; t < take->track_count; t++)
            move_track(&take->tracks[t], other->start);
    }
}

static bool is_instant(const kf_take *take, const kf_curve *curve, size_t i)
{
    const kf_key *key = &curve->keys[i];
    return i + 1 < curve->count && key->interp == KF_STEP_NEXT &&
           (i == 0 ? key->time <= take->start : key[-1].interp == KF_STEP);
}

/* Where a key's own value shows for no more than an instant, before a jump to the next one, it may be that one. */
static bool settle(kf_job *job, const kf_take *take, kf_curve *curve)
{
    size_t first = 0;
    while (first < curve->count && !is_instant(take, curve, first))
        first++;
    if (first == curve->count)
        return true;
    /* Slopes that follow from the values beside them stay as they are. */
    kf_curve told;
    if (!kfi_curve_to_slopes(job, curve, 1e-9, &told))
        return false;
    for (size_t i = 0; i + 1 < told.count; i++) {
        if (!is_instant(take, &told, i))
            continue;
        told.keys[i].value = told.keys[i + 1].value;
        told.keys[i].interp = KF_STEP;
    }
    *curve = told;
    return true;
}

/* What is new but for the tracks that a warning has told of; samples as the curve that was put through them. */
static bool untold(kf_job *job, const kf_anim *asked, const kfi_conformed *each, kf_anim *left, bool *any)
{
    *any = false;
    *left = *asked;
    left->takes = kfi_alloc(job, asked->take_count, sizeof *left->takes);
    for (size_t i = 0; left->takes && i < asked->take_count; i++) {
        const kf_take *from = &asked->takes[i];
        kf_take *to = &left->takes[i];
        *to = *from;
        to->tracks = kfi_alloc(job, from->track_count, sizeof *to->tracks);
        to->track_count = 0;
        if (!to->tracks)
            return false;
        for (size_t t = 0; t < from->track_count; t++) {
            const kfi_conformed *found = each++;
            if (found->told || from->tracks[t].state != KF_TRACK_NEW)
                continue;
            *any = true;
            kf_track *track = &to->tracks[to->track_count++];
            *track = from->tracks[t];
            for (unsigned c = 0; c < track->curves; c++)
                if (found->fitted[c])
                    track->curve[c] = *found->fitted[c];
                else if (!settle(job, from, &track->curve[c]))
                    return false;
        }
    }
    return left->takes != NULL;
}

bool kfi_prove(kf_job *job, const kf_format *format, const kf_anim *asked, const kfi_conformed *each)
{
    kf_anim left;
    kf_diff_result result;
    bool any;
    if (!untold(job, asked, each, &left, &any))
        return false;
    if (!any)
        return true;
    const kf_anim *again = kfi_read_emitted(job, format, NULL, 0, job->emitted_count);
    if (!again)
        return false;
    move_back(asked, again);
    if (!kf_diff(job, &left, again, &result, NULL))
        return false;
    for (size_t i = 0; i < result.count; i++) {
        const kf_difference *item = &result.items[i];
        if (!item->only_a && !item->only_b && item->worst > item->limit &&
            !kfi_warn(job, "motion",
                      "take \"%.60s\", node \"%.60s\", %s at %.4f s: the format cannot hold this motion: what was written "
                      "is %.4g off, where %.4g is tolerated",
                      item->take, item->node, item->channel, item->time, item->worst, item->limit))
            return false;
    }
    return true;
}
