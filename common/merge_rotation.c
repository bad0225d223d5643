/* Euler angles and scales that came back through a program's matrices: the same transform told by other numbers. Angles
 * differ by whole turns or by the second solution, and a mirrored scale comes back with its signs on other axes and
 * half a turn in the rotation. What means the same as what was written is put back into just those numbers; what does
 * not is told near them. */
#include "merge_internal.h"

#include <math.h>
#include <string.h>

/* Rotation and scale of a node at the same times; scale tracks may be NULL. */
typedef struct pair {
    const kf_track *rotation, *scale;
    kf_rotation_order order;
} pair;

typedef struct pose {
    double euler[3], scale[3], q[4];
} pose;

/* The times of a track's keys, ascending; and how many of its curves have one there. */
static bool key_times(kf_job *job, const kf_track *track, double **times, uint8_t (**keyed)[3], size_t *count)
{
    size_t at[3] = {0}, total = track->curve[0].count + track->curve[1].count + track->curve[2].count;
    *times = kfi_alloc_raw(job, total, sizeof **times);
    *keyed = kfi_alloc(job, total, sizeof **keyed);
    *count = 0;
    while (*times && *keyed) {
        double least = INFINITY;
        for (unsigned c = 0; c < 3; c++)
            if (at[c] < track->curve[c].count)
                least = fmin(least, track->curve[c].keys[at[c]].time);
        if (least == INFINITY)
            return true;
        for (unsigned c = 0; c < 3; c++) {
            while (at[c] < track->curve[c].count && track->curve[c].keys[at[c]].time <= least + 1e-9) {
                (*keyed)[*count][c] = 1;
                at[c]++;
            }
        }
        (*times)[(*count)++] = least;
    }
    return false;
}

static pose pose_at(const pair *p, double time)
{
    pose result = {.scale = {1, 1, 1}};
    for (unsigned c = 0; c < 3; c++) {
        result.euler[c] = kfi_curve_value(&p->rotation->curve[c], time, p->rotation->rest[c]);
        if (p->scale)
            result.scale[c] = kfi_curve_value(&p->scale->curve[c], time, p->scale->rest[c]);
    }
    kfi_quat_from_euler(result.euler, p->order, result.q);
    return result;
}

/* Signs of the scale as they were written: two axes at a time, each pair with half a turn about the third. */
static void match_signs(const pose *was, pose *now)
{
    bool flip[3];
    int flips = 0;
    for (int c = 0; c < 3; c++) {
        flip[c] = was->scale[c] * now->scale[c] < 0;
        flips += flip[c];
    }
    if (flips != 2)
        return;
    double half[4] = {0, 0, 0, 0}, turned[4];
    for (int c = 0; c < 3; c++) {
        if (flip[c])
            now->scale[c] = -now->scale[c];
        else
            half[1 + c] = 1;
    }
    kfi_quat_multiply(now->q, half, turned);
    memcpy(now->q, turned, sizeof turned);
}

/* Where a scale is zero its axis points nowhere: compare what is left, the columns of rotation times scale. */
static bool same_columns(const pose *a, const pose *b)
{
    double size = 0, gap = 0;
    for (int c = 0; c < 3; c++) {
        double axis[4] = {0, 0, 0, 0}, conjugate[4], half[4], u[4], v[4];
        axis[1 + c] = 1;
        for (int side = 0; side < 2; side++) {
            const double *q = side ? b->q : a->q;
            double turned[4] = {q[0], -q[1], -q[2], -q[3]};
            memcpy(conjugate, turned, sizeof turned);
            kfi_quat_multiply(q, axis, half);
            kfi_quat_multiply(half, conjugate, side ? v : u);
        }
        size = fmax(size, fmax(fabs(a->scale[c]), fabs(b->scale[c])));
        for (int k = 1; k < 4; k++)
            gap = fmax(gap, fabs(u[k] * a->scale[c] - v[k] * b->scale[c]));
    }
    return gap <= 1e-4 * size + 1e-6;
}

/* Both poses at an edited time, the edited one's signs as they were written. */
static void poses_at(const pair *w, const pair *e, double time, double offset, pose *was, pose *now)
{
    *was = pose_at(w, time - offset);
    *now = pose_at(e, time);
    match_signs(was, now);
}

/* The edited rotation in angles near the written ones. Where a program kept no sample of a curve, it may be off by as
 * much as the program allows itself. */
static bool settle_rotation(kf_job *job, const kfi_limits *limits, const pair *w, const pair *e, double offset,
                            kf_track *to)
{
    double *times, last[3] = {0, 0, 0};
    uint8_t(*keyed)[3];
    size_t count;
    if (!key_times(job, e->rotation, &times, &keyed, &count))
        return false;
    *to = *e->rotation;
    for (unsigned c = 0; c < 3; c++) {
        to->curve[c] = (kf_curve){0};
        if (!kfi_make_keys(job, &to->curve[c], count, false))
            return false;
    }
    bool edited_before = false;
    for (size_t i = 0; i < count; i++) {
        pose was, now;
        poses_at(w, e, times[i], offset, &was, &now);
        double limit = limits->value[KF_ROTATION];
        for (unsigned c = 0; c < 3; c++)
            if (!keyed[i][c])
                limit += kfi_thinning(now.euler[c], now.euler[c]);
        bool same = kfi_quat_angle(was.q, now.q) <= limit || (e->scale && same_columns(&was, &now));
        if (same)
            memcpy(last, was.euler, sizeof last);
        else
            kfi_quat_to_euler(now.q, w->order, edited_before ? last : was.euler, last);
        edited_before = !same;
        for (unsigned c = 0; c < 3; c++)
            to->curve[c].keys[i] = (kf_key){.time = times[i], .value = last[c], .interp = KF_LINEAR};
    }
    return true;
}

static bool settle_scale(kf_job *job, const pair *w, const pair *e, double offset, kf_track *to)
{
    *to = *e->scale;
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *from = &e->scale->curve[c];
        to->curve[c] = (kf_curve){0};
        if (!kfi_make_keys(job, &to->curve[c], from->count, false))
            return false;
        for (size_t i = 0; i < from->count; i++) {
            pose was, now;
            double time = from->keys[i].time;
            poses_at(w, e, time, offset, &was, &now);
            double value = same_columns(&was, &now) ? was.scale[c] : now.scale[c];
            to->curve[c].keys[i] = (kf_key){.time = time, .value = value, .interp = KF_LINEAR};
        }
    }
    return true;
}

bool kfi_settle_take(kfi_merging *m, size_t written_take)
{
    const kf_take *written = &m->input->written->takes[written_take];
    const kf_track **back = m->matches.track[written_take];
    if (m->limits.exact)
        return true;
    size_t *scale_of = kfi_alloc(m->job, m->input->written->node_count, sizeof *scale_of); /* + 1 */
    if (!scale_of)
        return false;
    for (size_t i = 0; i < written->track_count; i++)
        if (written->tracks[i].channel == KF_SCALE && back[i] && back[i]->curves == 3)
            scale_of[written->tracks[i].node] = i + 1;
    for (size_t i = 0; i < written->track_count; i++) {
        const kf_track *w = &written->tracks[i];
        if (w->channel != KF_ROTATION || !back[i] || back[i]->curves != 3)
            continue;
        kf_rotation_order order = (kf_rotation_order)m->input->written->nodes[w->node].order;
        kf_rotation_order edited_order = (kf_rotation_order)m->input->edited->nodes[back[i]->node].order;
        if (order == edited_order && !kfi_came_back_baked(m->input, w, back[i]))
            continue;
        size_t scale = scale_of[w->node];
        kf_track *settled = kfi_alloc(m->job, 2, sizeof *settled);
        pair was = {w, scale ? &written->tracks[scale - 1] : NULL, order};
        pair now = {back[i], scale ? back[scale - 1] : NULL, edited_order};
        double offset = m->matches.offset[written_take];
        if (!settled || !settle_rotation(m->job, &m->limits, &was, &now, offset, &settled[0]) ||
            (scale && !settle_scale(m->job, &was, &now, offset, &settled[1])))
            return false;
        back[i] = &settled[0];
        m->matches.settled[written_take][i] = true;
        if (scale)
            back[scale - 1] = &settled[1];
    }
    return true;
}
