/* Euler angles and scales that came back through a program's matrices: the same transform told by other numbers. Angles
 * differ by whole turns or by the second solution, and a mirrored scale comes back with its signs on other axes and
 * half a turn in the rotation, even where none was written. What means the same as what was written is put back into just
 * those numbers; what does not is told near them. */
#include "internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rotation and scale of a node; a track without keys stands for one that is not there. */
typedef struct pair {
    const kf_track *rotation, *scale;
    kf_rotation_order order;
    const kfi_turn *turn; /* what is to be undone of the rotation, or NULL */
} pair;

typedef struct pose {
    double euler[3], scale[3], q[4];
} pose;

/* When to look, ascending, and which of the edited curves (rotation 0 to 2, scale 3 to 5) have a key there. */
typedef struct moments {
    double *times;
    uint8_t (*keyed)[6];
    size_t count;
} moments;

/* All edited key times; and where a program has thinned its samples out those that were written: between two that it
 * kept, just its own numbers tell how far off it may be. `step`: of those that it did not take, nothing is known. */
static bool find_moments(const kfi_merging *merging, const pair *w, const pair *e, double offset, bool baked, double step,
                         moments *m)
{
    kf_job *job = merging->job;
    const kf_curve *curves[12];
    size_t at[12] = {0}, total = 0;
    double first = INFINITY;
    for (unsigned c = 0; c < 12; c++) {
        const pair *p = c < 6 ? e : w;
        curves[c] = c % 6 < 3 ? &p->rotation->curve[c % 3] : &p->scale->curve[c % 3];
        if (c >= 6 && !baked)
            at[c] = curves[c]->count;
        total += curves[c]->count - at[c];
        if (c < 6 && curves[c]->count)
            first = fmin(first, curves[c]->keys[0].time);
    }
    m->times = kfi_alloc_raw(job, total, sizeof *m->times);
    m->keyed = kfi_alloc(job, total, sizeof *m->keyed);
    m->count = 0;
    while (m->times && m->keyed) {
        double least = INFINITY;
        for (unsigned c = 0; c < 12; c++)
            if (at[c] < curves[c]->count)
                least = fmin(least, curves[c]->keys[at[c]].time + (c < 6 ? 0 : offset));
        if (least == INFINITY)
            return true;
        bool wanted = false, taken = !(step > 0) || fabs(remainder(least - first, step)) < 0.1 * step;
        for (unsigned c = 0; c < 6; c++)
            wanted = wanted || (at[c] < curves[c]->count && curves[c]->keys[at[c]].time <= least + 1e-6) ||
                     (taken && kfi_thinned_before(merging->input, curves[c], at[c]));
        for (unsigned c = 0; c < 12; c++) {
            while (at[c] < curves[c]->count && curves[c]->keys[at[c]].time + (c < 6 ? 0 : offset) <= least + 1e-6) {
                if (c < 6)
                    m->keyed[m->count][c] = 1;
                at[c]++;
            }
        }
        m->times[m->count] = least;
        m->count += wanted;
    }
    return false;
}

/* In another order angles run otherwise between two keys: two looks a frame tell how, or some more or fewer. A fit of so many looks as
 * a long curve would need takes too long: then *between becomes false. */
static bool look_between(const kfi_merging *merging, moments *m, bool *between)
{
    enum { FEWEST = 4, MOST = 32, LONGEST = 2000 };
    if (m->count > LONGEST / FEWEST) {
        *between = false;
        return true;
    }
    moments all = {kfi_alloc_raw(merging->job, m->count, MOST * sizeof *all.times),
                   kfi_alloc_raw(merging->job, m->count, MOST * sizeof *all.keyed), 0};
    if (!all.times || !all.keyed)
        return false;
    for (size_t i = 0; i < m->count; i++) {
        double gap = i + 1 < m->count ? m->times[i + 1] - m->times[i] : 0, frames = gap * merging->input->edited->frame_rate;
        int looks = gap > 0 ? (int)fmin(fmax(ceil(2 * frames), FEWEST), MOST) : 1;
        for (int k = 0; k < looks; k++) {
            memset(all.keyed[all.count], 1, sizeof *all.keyed);
            all.times[all.count++] = m->times[i] + gap * k / looks;
        }
    }
    *between = all.count <= LONGEST;
    if (*between)
        *m = all;
    return true;
}

static pose pose_at(const pair *p, double time)
{
    pose result;
    for (unsigned c = 0; c < 3; c++) {
        result.euler[c] = kfi_curve_value(&p->rotation->curve[c], time, p->rotation->rest[c]);
        result.scale[c] = kfi_curve_value(&p->scale->curve[c], time, p->scale->rest[c]);
    }
    kfi_quat_from_euler(result.euler, p->order, result.q);
    if (p->turn)
        kfi_undo_rotation(p->turn, result.q);
    return result;
}

/* The same transform, told by half a turn more about an axis and other signs of the two other scales. */
static void half_turn(pose *p, int axis)
{
    double half[4] = {0, 0, 0, 0}, turned[4];
    half[1 + axis] = 1;
    kfi_quat_multiply(p->q, half, turned);
    memcpy(p->q, turned, sizeof turned);
    for (int c = 0; c < 3; c++)
        if (c != axis)
            p->scale[c] = -p->scale[c];
}

/* Mirrored otherwise than it was written: of the ways to tell that, the one that turns it least. */
static void match_mirrored(const pose *was, pose *now)
{
    pose best = *now;
    for (int c = 0; c < 3; c++) {
        pose other = *now;
        half_turn(&other, c);
        if (kfi_quat_angle(was->q, other.q) < kfi_quat_angle(was->q, best.q))
            best = other;
    }
    *now = best;
}

/* Signs of the scale as they were written: two axes at a time, each pair with half a turn about the third. A scale of
 * nearly nothing has whatever sign is left for it. */
static void match_signs(const pose *was, pose *now)
{
    bool flip[3];
    int flips = 0, least = 0;
    for (int c = 0; c < 3; c++) {
        flip[c] = was->scale[c] * now->scale[c] < 0;
        flips += flip[c];
        least = fabs(now->scale[c]) < fabs(now->scale[least]) ? c : least;
    }
    if (flips % 2 && fabs(now->scale[least]) < 1e-4) {
        flips += flip[least] ? -1 : 1;
        flip[least] = !flip[least];
    }
    if (flips % 2) {
        match_mirrored(was, now);
        return;
    }
    for (int c = 0; flips == 2 && c < 3; c++)
        if (!flip[c])
            half_turn(now, c);
}

/* Where an orientation puts an axis: to[1] to to[3]. */
static void turn_axis(const double q[4], unsigned of, double to[4])
{
    double axis[4] = {0, 0, 0, 0}, half[4];
    const double conjugate[4] = {q[0], -q[1], -q[2], -q[3]};
    axis[1 + of] = 1;
    kfi_quat_multiply(q, axis, half);
    kfi_quat_multiply(half, conjugate, to);
}

/* Where a scale is zero its axis points nowhere: compare what is left, the columns of rotation times scale. */
static bool same_columns(const pose *a, const pose *b)
{
    double size = 0, gap = 0;
    for (unsigned c = 0; c < 3; c++) {
        double u[4], v[4];
        turn_axis(a->q, c, u);
        turn_axis(b->q, c, v);
        size = fmax(size, fmax(fabs(a->scale[c]), fabs(b->scale[c])));
        for (int k = 1; k < 4; k++)
            gap = fmax(gap, fabs(u[k] * a->scale[c] - v[k] * b->scale[c]));
    }
    return gap <= 1e-4 * size + 1e-6;
}

/* Where some scale is zero, a program that takes its angles and signs from a matrix finds no rotation in it, and tells any:
 * sizes are all that is left to compare. */
static bool just_sizes(const kfi_limits *limits, const pose *was, const pose *now)
{
    bool flat = false;
    for (int c = 0; c < 3; c++) {
        flat = flat || fabs(was->scale[c]) < 1e-6;
        if (!kfi_same_value(limits, KF_SCALE, fabs(was->scale[c]), fabs(now->scale[c])))
            return false;
    }
    return flat;
}

/* What 32 bits lose of an orientation near the lock, in degrees: the first and the third angle are told from numbers as
 * small as the cosine of the second (measured: up to 4 roundings). */
static double lock_loss(const pose *p, kf_rotation_order order)
{
    const double degree = 0.017453292519943296; /* in radians */
    double cosine = fabs(cos(p->euler[kfi_second_axis(order)] * degree));
    return cosine > 16 * FLT_EPSILON ? 8 * FLT_EPSILON / cosine / degree : 0; /* at the lock, one angle tells all of it */
}

/* How far apart two orientations may be and still be the same: with angles of many turns, of which 32 bits keep little; and
 * where the program kept no sample. `drifts`: that goes for curves of which it kept none at all, too. */
static double rotation_limit(const kfi_limits *limits, const pair *e, const pose *was, const pose *now, const uint8_t keyed[6],
                             bool drifts)
{
    double limit = limits->value[KF_ROTATION];
    for (unsigned c = 0; c < 3; c++)
        limit += fmin(FLT_EPSILON * fabs(was->euler[c]), 90);
    for (unsigned c = 0; c < 3; c++)
        if (!keyed[c] && (e->rotation->curve[c].count || drifts))
            limit += kfi_thinning(now->euler[c], now->euler[c]);
    return limit;
}

/* Whether two orientations are within `limit`, or near the lock within what is lost there: in the numbers that came back or,
 * where these are turned or the second angle has no key, in those that the program worked with. What the numbers that came
 * back lose is a turn about their first axis: where that itself points is told well, and elsewhere nobody but an artist turns it. */
static bool same_orientation(const pair *w, const pair *e, const pose *was, const pose *now, const uint8_t keyed[6], double limit)
{
    const double degree = 0.017453292519943296; /* in radians */
    double apart = kfi_quat_angle(was->q, now->q), a[4], b[4], way = 0;
    bool others = e->turn || !keyed[kfi_second_axis(e->order)];
    if (apart <= limit || apart > limit + fmax(lock_loss(now, e->order), others ? lock_loss(was, w->order) : 0))
        return apart <= limit;
    turn_axis(was->q, (unsigned)kfi_first_axis(e->order), a);
    turn_axis(now->q, (unsigned)kfi_first_axis(e->order), b);
    for (int c = 1; c < 4; c++)
        way += (a[c] - b[c]) * (a[c] - b[c]);
    return others || sqrt(way) <= limit * degree;
}

/* A program drops a curve that hardly moves and leaves the value of some frame in its place: then the rotation is just the
 * written one somewhere. If it is so nowhere, somebody turned it. */
static bool hardly_moves(const kfi_merging *merging, const pair *w, const pair *e, double offset, const moments *m)
{
    bool dropped = false;
    for (unsigned c = 0; c < 3; c++)
        dropped = dropped || e->rotation->curve[c].count == 0;
    for (size_t i = 0; dropped && i < m->count; i++) {
        pose was = pose_at(w, m->times[i] - offset), now = pose_at(e, m->times[i]);
        double limit = rotation_limit(&merging->limits, e, &was, &now, m->keyed[i], false);
        match_signs(&was, &now);
        if (same_orientation(w, e, &was, &now, m->keyed[i], limit))
            return true;
    }
    return false;
}

/* Whether the angles on a written frame came back as the numbers that they were. */
static bool same_numbers(const kfi_limits *limits, const pair *e, const pose *was, double time)
{
    pose now = pose_at(e, time);
    for (unsigned c = 0; c < 3; c++)
        if (!kfi_same_value(limits, KF_ROTATION, was->euler[c], now.euler[c]))
            return false;
    return true;
}

/* Whether the orientation on a written frame is the one that it was, in whatever numbers. */
static bool same_turn(const kfi_limits *limits, const pair *w, const pair *e, const pose *was, double time)
{
    static const uint8_t keyed[6] = {1, 1, 1, 1, 1, 1};
    pose now = pose_at(e, time);
    double limit = rotation_limit(limits, e, was, &now, keyed, false);
    match_signs(was, &now);
    return same_orientation(w, e, was, &now, keyed, limit) || same_columns(was, &now);
}

/* What may be the program's own between two written frames, where it samples finer than these: near the lock other angles
 * stand for the same two orientations, and the lines between them are others. Frames that were edited allow nothing. */
static double between_frames(const kfi_limits *limits, const pair *w, const pair *e, double time, double offset)
{
    const double near = 1e-4;
    const kf_curve *curve = &w->rotation->curve[0];
    size_t at = kfi_key_from(curve, time - near);
    if (at == 0 || at == curve->count || curve->keys[at].time <= time + near)
        return 0;
    double from = curve->keys[at - 1].time, to = curve->keys[at].time;
    pose before = pose_at(w, from), after = pose_at(w, to);
    bool numbers = !e->turn && e->order == w->order && same_numbers(limits, e, &before, from + offset) &&
                   same_numbers(limits, e, &after, to + offset);
    if (numbers || !same_turn(limits, w, e, &before, from + offset) || !same_turn(limits, w, e, &after, to + offset))
        return 0;
    return 0.5 * kfi_quat_angle(before.q, after.q);
}

/* What came back, in angles and scales near the written ones; *turned becomes whether the rotation is another one. */
static bool settle(const kfi_merging *merging, const pair *w, const pair *e, double offset, bool baked, bool *between, double step,
                   kf_track to[2], bool *turned)
{
    moments m;
    double last[3] = {0, 0, 0};
    if (!find_moments(merging, w, e, offset, baked, step, &m) || (*between && !look_between(merging, &m, between)))
        return false;
    to[0] = *e->rotation;
    to[1] = *e->scale;
    for (unsigned c = 0; c < 6; c++) {
        to[c / 3].curve[c % 3] = (kf_curve){0};
        if (!kfi_make_keys(merging->job, &to[c / 3].curve[c % 3], m.count, 0))
            return false;
    }
    *turned = false;
    bool edited_before = false, drifts = baked && hardly_moves(merging, w, e, offset, &m);
    for (size_t i = 0; i < m.count; i++) {
        pose was = pose_at(w, m.times[i] - offset), now = pose_at(e, m.times[i]);
        double limit = rotation_limit(&merging->limits, e, &was, &now, m.keyed[i], drifts);
        limit += merging->input->baked ? between_frames(&merging->limits, w, e, m.times[i] - offset, offset) : 0;
        match_signs(&was, &now);
        bool flat = baked && just_sizes(&merging->limits, &was, &now);
        bool same = flat || same_orientation(w, e, &was, &now, m.keyed[i], limit) || same_columns(&was, &now);
        if (same)
            memcpy(last, was.euler, sizeof last);
        else
            kfi_quat_to_euler(now.q, w->order, edited_before ? last : was.euler, last);
        *turned = *turned || !same;
        edited_before = !same;
        for (unsigned c = 0; c < 3; c++) {
            double gap = fabs(was.scale[c] - now.scale[c]);
            bool scaled = !flat && (m.keyed[i][3 + c] || gap > kfi_thinning(was.scale[c], now.scale[c]));
            to[0].curve[c].keys[i] = (kf_key){.time = m.times[i], .value = last[c], .interp = KF_LINEAR};
            to[1].curve[c].keys[i] =
                (kf_key){.time = m.times[i], .value = scaled ? now.scale[c] : was.scale[c], .interp = KF_LINEAR};
        }
    }
    return true;
}

/* ---------------------------------------------------------------- a take */

/* The tracks of a node's rotation (0) and scale (1): in the written take, and what came back, which may be a track that
 * was not written. */
typedef struct turning {
    size_t written[2]; /* + 1 */
    const kf_track *edited[2];
    size_t edited_take[2], edited_track[2]; /* of one that was not written */
} turning;

static void find_turnings(const kfi_merging *m, size_t written_take, turning *of_node)
{
    const kf_take *written = &m->input->written->takes[written_take];
    for (size_t i = 0; i < written->track_count; i++) {
        const kf_track *track = &written->tracks[i], *back = m->matches.track[written_take][i];
        if ((track->channel != KF_ROTATION && track->channel != KF_SCALE) || track->curves != 3)
            continue;
        bool scale = track->channel == KF_SCALE;
        of_node[track->node].written[scale] = i + 1;
        of_node[track->node].edited[scale] = back && back->curves == 3 ? back : NULL;
    }
    for (size_t e = 0; e < m->input->edited->take_count; e++) {
        const kf_take *edited = &m->input->edited->takes[e];
        bool perhaps = m->matches.take[e] == (int32_t)written_take || m->matches.scene == (int32_t)e;
        for (size_t i = 0; perhaps && i < edited->track_count; i++) {
            const kf_track *track = &edited->tracks[i];
            int32_t node = m->matches.node[track->node];
            bool scale = track->channel == KF_SCALE;
            if (node < 0 || kfi_take_of(&m->matches, e, track->node) != (int32_t)written_take || m->matches.known[e][i] ||
                track->layer != 0 || track->curves != 3 || (track->channel != KF_ROTATION && !scale) ||
                of_node[node].written[scale])
                continue;
            of_node[node].edited[scale] = track;
            of_node[node].edited_take[scale] = e;
            of_node[node].edited_track[scale] = i;
        }
    }
}

/* A track without keys that stands where the node does. */
static kf_track standing(const kf_node *node, uint32_t index, bool scale)
{
    kf_track track = {.node = index, .channel = scale ? KF_SCALE : KF_ROTATION, .curves = 3};
    memcpy(track.rest, scale ? node->rest.scale : node->rest.rotation, sizeof track.rest);
    return track;
}

/* On the keys an orientation is the same in any order; between them each angle goes its own way, unless it was looked at there. */
static bool tell_order(const kfi_merging *m, const kf_take *take, const kf_node *written, const kf_node *edited, bool between)
{
    if (written->order > 5 || edited->order > 5)
        return true;
    const char *now = kfi_order_name((kf_rotation_order)edited->order), *was = kfi_order_name((kf_rotation_order)written->order);
    return between ? kfi_note(m->job, "order", "take \"%.60s\", node \"%.60s\": its rotation order is %s in the FBX and %s in the file, where "
                                               "the same angles turn it otherwise: fitted anew. With its order back, it would keep its keys",
                              take->name, written->name, now, was)
                   : kfi_warn(m->job, "order", "take \"%.60s\", node \"%.60s\": its rotation order is %s in the FBX and %s in the file: it turns "
                                               "as in the FBX on its keys, and otherwise between them, which are too many to be fitted anew. "
                                               "Give it its order back, or bake it",
                              take->name, written->name, now, was);
}

static bool settle_node(kfi_merging *m, size_t written_take, uint32_t node, const turning *of, double step)
{
    const kf_take *take = &m->input->written->takes[written_take];
    const kf_node *written = &m->input->written->nodes[node];
    int32_t back = m->matches.back[node];
    const kf_track *w[2], *e[2];
    kf_track none[4];
    bool baked = false;
    if (back < 0)
        return true;
    const kf_node *edited = &m->input->edited->nodes[back];
    for (unsigned i = 0; i < 2; i++) {
        none[i] = standing(written, node, i == 1);
        none[2 + i] = standing(edited, (uint32_t)back, i == 1);
        w[i] = of->written[i] ? &take->tracks[of->written[i] - 1] : &none[i];
        e[i] = of->edited[i] ? of->edited[i] : &none[2 + i];
        baked = baked || (of->written[i] && of->edited[i] && kfi_came_back_baked(m->input, w[i], e[i]));
    }
    bool other_order = written->order != edited->order && of->written[0] && of->edited[0];
    const kfi_turn *turn = m->turn && of->edited[0] ? m->turn[back] : NULL;
    bool quaternion = of->written[0] && m->input->original->takes[take->source].tracks[w[0]->source].quaternion; /* knows all orders */
    if ((!baked && !other_order && !turn) || (m->limits.exact && (!other_order || quaternion)))
        return true;
    bool order = other_order && !baked && !turn && !quaternion && m->input->capabilities->frame_rate == 0;
    bool between = order;
    pair was = {w[0], w[1], (kf_rotation_order)written->order, NULL};
    pair now = {e[0], e[1], (kf_rotation_order)edited->order, turn};
    kf_track *settled = kfi_alloc(m->job, 2, sizeof *settled);
    bool turned;
    if (!settled || !settle(m, &was, &now, m->matches.offset[written_take], baked, &between, step, settled, &turned) ||
        (order && turned && !tell_order(m, take, written, edited, between)))
        return false;
    for (unsigned i = 0; i < (baked || turn ? 2 : 1); i++) { /* another order alone does nothing to the scale */
        if (of->written[i] && of->edited[i]) {
            m->matches.track[written_take][of->written[i] - 1] = &settled[i];
            m->matches.settled[written_take][of->written[i] - 1] = true;
        } else if (of->edited[i]) {
            /* Not written; if it turns nothing it was the mirrored scale's. */
            m->matches.instead[of->edited_take[i]][of->edited_track[i]] = &settled[i];
            m->matches.known[of->edited_take[i]][of->edited_track[i]] = i == 0 && !turned;
        }
    }
    return true;
}

bool kfi_settle_take(kfi_merging *m, size_t written_take, double step)
{
    size_t nodes = m->input->written->node_count;
    turning *of_node = kfi_alloc(m->job, nodes, sizeof *of_node);
    if (!of_node)
        return false;
    find_turnings(m, written_take, of_node);
    for (size_t i = 0; i < nodes; i++)
        if ((of_node[i].written[0] || of_node[i].written[1] || (m->turn && of_node[i].edited[0])) &&
            !settle_node(m, written_take, (uint32_t)i, &of_node[i], step))
            return false;
    return true;
}
