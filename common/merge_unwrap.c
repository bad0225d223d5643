/* Nodes that came back without the wrapper above them. Each of those that were written just below it stands in the FBX
 * in one of these ways, and that which leaves most of its motion as it was written counts:
 *
 *   as it was written    the wrapper has another name, or a program just cut it off
 *   in the world         its motion was kept, so that the wrapper's transform is part of it
 *   in a program's axes  it was cut off in a program with Z up and metres (Blender), which then wrote the FBX in the
 *                        axes and unit that the file states */
#include "merge_internal.h"

#include <math.h>
#include <string.h>

enum { AS_WRITTEN, IN_WORLD, IN_METRES, WAYS };

/* What a node's transform was multiplied with: axes change places and signs, and all of it a size. */
typedef struct turn {
    bool usable;
    unsigned from[3]; /* axis i of what came back was axis from[i], */
    double sign[3];   /* times sign[i], */
    double size;      /* times size */
    double mirror;    /* -1 if that mirrors, else 1 */
    double back[4];   /* the rotation that undoes it; the mirroring goes into the scale */
} turn;

typedef double matrix[3][3];

/* ---------------------------------------------------------------- the ways */

static void multiply(matrix a, matrix b, matrix out)
{
    for (unsigned r = 0; r < 3; r++)
        for (unsigned c = 0; c < 3; c++)
            out[r][c] = a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c];
}

static void from_transform(const kf_transform *transform, matrix out)
{
    double q[4];
    kfi_quat_from_euler(transform->rotation, KF_XYZ, q);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    matrix m = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (unsigned r = 0; r < 3; r++)
        for (unsigned c = 0; c < 3; c++)
            out[r][c] = m[r][c] * transform->scale[c];
}

/* From our axes and unit (KFI_SETTINGS) to those that the file states. */
static void from_settings(const kf_settings *settings, matrix out)
{
    memset(out, 0, sizeof(matrix));
    out[settings->coord_axis][0] = settings->coord_sign / settings->unit_scale;
    out[settings->up_axis][1] = settings->up_sign / settings->unit_scale;
    out[settings->front_axis][2] = settings->front_sign / settings->unit_scale;
}

/* The quaternion of a matrix of rotation: that component first which is largest. */
static void to_quat(matrix m, double q[4])
{
    double square[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
                        1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]};
    double product[4][4] = {{square[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]},
                            {m[2][1] - m[1][2], square[1], m[1][0] + m[0][1], m[0][2] + m[2][0]},
                            {m[0][2] - m[2][0], m[1][0] + m[0][1], square[2], m[2][1] + m[1][2]},
                            {m[1][0] - m[0][1], m[0][2] + m[2][0], m[2][1] + m[1][2], square[3]}};
    unsigned largest = 0;
    for (unsigned i = 1; i < 4; i++)
        largest = square[i] > square[largest] ? i : largest;
    memcpy(q, product[largest], 4 * sizeof *q);
    kfi_quat_normalize(q);
}

/* A matrix that turns axes other than into each other, or sizes them differently, is not usable. */
static turn turn_of(matrix m)
{
    turn t = {.size = fabs(m[0][0]) + fabs(m[0][1]) + fabs(m[0][2])};
    matrix back = {{0}};
    bool taken[3] = {false};
    if (!(t.size > 1e-9 && t.size < 1e9))
        return t;
    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 1; c < 3; c++)
            t.from[r] = fabs(m[r][c]) > fabs(m[r][t.from[r]]) ? c : t.from[r];
        for (unsigned c = 0; c < 3; c++)
            if (!(fabs(fabs(m[r][c]) / t.size - (c == t.from[r])) < 1e-9))
                return t;
        t.sign[r] = m[r][t.from[r]] < 0 ? -1 : 1;
        back[t.from[r]][r] = t.sign[r];
        if (taken[t.from[r]])
            return t;
        taken[t.from[r]] = true;
    }
    bool odd = t.from[1] != (t.from[0] + 1) % 3;
    t.mirror = t.sign[0] * t.sign[1] * t.sign[2] * (odd ? -1 : 1);
    for (unsigned r = 0; r < 3; r++)
        for (unsigned c = 0; c < 3; c++)
            back[r][c] *= t.mirror;
    to_quat(back, t.back);
    t.usable = true;
    return t;
}

static void find_ways(const kfi_merge *input, turn ways[WAYS])
{
    const kf_settings *settings = &input->edited->settings;
    matrix none = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, metres = {{100, 0, 0}, {0, 0, 100}, {0, -100, 0}};
    matrix file, basis, product;
    from_settings(settings, file);
    from_transform(&input->written->nodes[0].rest, basis);
    ways[AS_WRITTEN] = turn_of(none);
    multiply(file, basis, product);
    ways[IN_WORLD] = turn_of(product);
    multiply(file, metres, product);
    ways[IN_METRES] = turn_of(product);
}

/* ---------------------------------------------------------------- which it is */

static void undo(const turn *t, unsigned channel, kf_rotation_order order, const double near[3], double value[3])
{
    double was[3] = {value[0], value[1], value[2]}, q[4], turned[4];
    if (channel == KF_ROTATION) {
        kfi_quat_from_euler(was, order, q);
        kfi_quat_multiply(t->back, q, turned);
        kfi_quat_to_euler(turned, order, near, value);
        return;
    }
    for (unsigned c = 0; c < 3; c++) {
        if (channel == KF_SCALE)
            value[c] = was[c] * t->mirror / t->size;
        else
            value[t->from[c]] = was[c] * t->sign[c] / t->size;
    }
}

static bool turns(const turn *t)
{
    return fabs(t->back[0]) < 1 - 1e-12;
}

static const double *rest_of(const kf_node *node, unsigned channel)
{
    return channel == KF_TRANSLATION ? node->rest.translation
           : channel == KF_ROTATION  ? node->rest.rotation
                                     : node->rest.scale;
}

/* The same, as far as it takes to tell the ways apart. */
static bool alike(unsigned channel, const double a[3], kf_rotation_order order_a, const double b[3],
                  kf_rotation_order order_b)
{
    double p[4], q[4];
    if (channel == KF_ROTATION) {
        kfi_quat_from_euler(a, order_a, p);
        kfi_quat_from_euler(b, order_b, q);
        return kfi_quat_angle(p, q) < 0.5;
    }
    for (unsigned c = 0; c < 3; c++)
        if (!(fabs(a[c] - b[c]) <= 0.002 * (fabs(a[c]) + fabs(b[c])) + 1e-4))
            return false;
    return true;
}

/* On how many of its keys a written track is what came back, taken each way. */
static void count_alike(const kfi_merging *m, const turn ways[WAYS], size_t take, size_t index, size_t score[WAYS + 1])
{
    const kf_track *was = &m->input->written->takes[take].tracks[index], *now = m->matches.track[take][index];
    const kf_node *node = &m->input->edited->nodes[m->matches.back[was->node]];
    kf_rotation_order written = (kf_rotation_order)m->input->written->nodes[was->node].order;
    kf_rotation_order edited = (kf_rotation_order)node->order;
    const kf_curve *most = &was->curve[0];
    for (unsigned c = 1; c < 3; c++)
        most = was->curve[c].count > most->count ? &was->curve[c] : most;
    for (size_t i = 0; i < most->count; i++) {
        double time = most->keys[i].time, before[3], after[3];
        for (unsigned c = 0; c < 3; c++) {
            before[c] = kfi_curve_value(&was->curve[c], time, was->rest[c]);
            after[c] = now && now->curves == 3
                           ? kfi_curve_value(&now->curve[c], time + m->matches.offset[take], now->rest[c])
                           : rest_of(node, was->channel)[c];
        }
        for (unsigned way = 0; way < WAYS; way++) {
            double value[3] = {after[0], after[1], after[2]};
            if (!ways[way].usable)
                continue;
            undo(&ways[way], was->channel, edited, before, value);
            score[way] += alike(was->channel, before, written, value, edited);
        }
        score[WAYS]++;
    }
}

/* Its own way where that explains most of it, else the way that explains most of all nodes. */
static unsigned best_way(const size_t own[WAYS + 1], const size_t all[WAYS + 1])
{
    unsigned way = 0, common = 0;
    for (unsigned i = 1; i < WAYS; i++) {
        common = all[i] > all[common] ? i : common;
        way = own[i] > own[way] || (own[i] == own[way] && all[i] > all[way]) ? i : way;
    }
    return 2 * own[way] > own[WAYS] ? way : common;
}

/* ---------------------------------------------------------------- undoing it */

static bool copy_curve(kf_job *job, const kf_curve *from, double factor, kf_curve *to)
{
    kf_curve copy = *from;
    copy.fbx_data = NULL;
    copy.fbx_data_count = 0;
    if (!kfi_make_keys(job, &copy, from->count, from->tcb != NULL))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        kf_key *key = &copy.keys[i];
        *key = from->keys[i];
        key->value *= factor;
        if (key->interp != KF_AUTO) { /* whose handles hold no values */
            key->in.dv *= factor;
            key->out.dv *= factor;
        }
        if (from->tcb)
            copy.tcb[i] = from->tcb[i];
    }
    *to = copy;
    return true;
}

/* When some of three curves has a key, and every frame. */
static bool find_times(kf_job *job, const kf_track *track, double rate, double **times, size_t *count)
{
    enum { MOST_FRAMES = 100000 };
    double first = INFINITY, last = -INFINITY;
    size_t total = 0, at[3] = {0}, frame = 0, frames = 0;
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *curve = &track->curve[c];
        total += curve->count;
        if (curve->count) {
            first = fmin(first, curve->keys[0].time);
            last = fmax(last, curve->keys[curve->count - 1].time);
        }
    }
    if (total && (last - first) * rate < MOST_FRAMES)
        frames = (size_t)((last - first) * rate) + 1;
    *count = 0;
    *times = kfi_alloc_raw(job, total + frames, sizeof **times);
    while (*times) {
        double least = frame < frames ? first + (double)frame / rate : INFINITY;
        for (unsigned c = 0; c < 3; c++)
            if (at[c] < track->curve[c].count)
                least = fmin(least, track->curve[c].keys[at[c]].time);
        if (least == INFINITY)
            return true;
        for (unsigned c = 0; c < 3; c++)
            while (at[c] < track->curve[c].count && track->curve[c].keys[at[c]].time <= least + 1e-6)
                at[c]++;
        while (frame < frames && first + (double)frame / rate <= least + 1e-6)
            frame++;
        (*times)[(*count)++] = least;
    }
    return false;
}

/* Rotations cannot be turned but pose by pose: curves that are not lines already become such. */
static bool sample_rotation(kf_job *job, double rate, kf_track *track)
{
    const kf_track was = *track;
    bool lines = true;
    double *times;
    size_t count;
    for (unsigned c = 0; c < 3; c++)
        for (size_t i = 0; i < was.curve[c].count; i++)
            lines = lines && was.curve[c].keys[i].interp == KF_LINEAR;
    if (lines)
        return true;
    if (!find_times(job, &was, rate, &times, &count))
        return false;
    for (unsigned c = 0; c < 3; c++) {
        track->curve[c] = (kf_curve){0};
        if (!kfi_make_keys(job, &track->curve[c], count, false))
            return false;
        for (size_t i = 0; i < count; i++)
            track->curve[c].keys[i] = (kf_key){
                .time = times[i], .value = kfi_curve_value(&was.curve[c], times[i], was.rest[c]), .interp = KF_LINEAR};
    }
    return true;
}

/* A rotation stays as it is until it is compared. */
static bool turn_track(kf_job *job, const turn *t, double rate, kf_track *track)
{
    const kf_track was = *track;
    bool scale = was.channel == KF_SCALE;
    if (was.curves != 3 || was.channel > KF_SCALE)
        return true;
    if (was.channel == KF_ROTATION)
        return !turns(t) || sample_rotation(job, rate, track);
    undo(t, was.channel, KF_XYZ, was.rest, track->rest);
    for (unsigned c = 0; c < 3; c++)
        if (!copy_curve(job, &was.curve[c], (scale ? t->mirror : t->sign[c]) / t->size,
                        &track->curve[scale ? c : t->from[c]]))
            return false;
    return true;
}

/* A copy in which every node that has a way is as it was written, but for rotation tracks; no longer just what our
 * writer wrote. */
static bool turn_back(kf_job *job, const kf_anim *from, const turn ways[WAYS], const uint8_t *way, kf_anim *to)
{
    const double origin[3] = {0, 0, 0};
    *to = *from;
    to->creator = NULL;
    to->nodes = kfi_alloc(job, from->node_count, sizeof *to->nodes);
    to->takes = kfi_alloc(job, from->take_count, sizeof *to->takes);
    if (!to->nodes || !to->takes)
        return false;
    for (size_t i = 0; i < from->node_count; i++) {
        kf_node *node = &to->nodes[i];
        *node = from->nodes[i];
        if (way[i] == AS_WRITTEN)
            continue;
        undo(&ways[way[i]], KF_TRANSLATION, KF_XYZ, origin, node->rest.translation);
        undo(&ways[way[i]], KF_ROTATION, (kf_rotation_order)node->order, origin, node->rest.rotation);
        undo(&ways[way[i]], KF_SCALE, KF_XYZ, origin, node->rest.scale);
    }
    for (size_t t = 0; t < from->take_count; t++) {
        kf_take *take = &to->takes[t];
        *take = from->takes[t];
        take->tracks = kfi_alloc(job, take->track_count, sizeof *take->tracks);
        if (!take->tracks)
            return false;
        for (size_t i = 0; i < take->track_count; i++) {
            kf_track *track = &take->tracks[i];
            *track = from->takes[t].tracks[i];
            if (way[track->node] != AS_WRITTEN &&
                !turn_track(job, &ways[way[track->node]], from->frame_rate, track))
                return false;
        }
    }
    return true;
}

bool kfi_unwrap(kfi_merging *m, kf_anim *to, bool *turned)
{
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    size_t (*score)[WAYS + 1] = kfi_alloc(m->job, written->node_count, sizeof *score), all[WAYS + 1] = {0};
    uint8_t *way = kfi_alloc(m->job, edited->node_count, sizeof *way);
    turn *ways = kfi_alloc(m->job, WAYS, sizeof *ways);
    const double **turn_of_node = kfi_alloc(m->job, edited->node_count, sizeof *turn_of_node);
    size_t orphans = 0, moved = 0;
    if (!score || !way || !ways || !turn_of_node)
        return false;
    find_ways(m->input, ways);
    for (size_t t = 0; t < written->take_count; t++)
        for (size_t i = 0; i < written->takes[t].track_count; i++) {
            const kf_track *track = &written->takes[t].tracks[i];
            if (written->nodes[track->node].parent == 0 && m->matches.back[track->node] >= 0 && track->curves == 3 &&
                track->channel <= KF_SCALE)
                count_alike(m, ways, t, i, score[track->node]);
        }
    for (size_t n = 0; n < written->node_count; n++)
        for (unsigned i = 0; i <= WAYS; i++)
            all[i] += score[n][i];
    for (size_t n = 0; n < written->node_count; n++) {
        int32_t back = m->matches.back[n];
        if (written->nodes[n].parent != 0 || back < 0)
            continue;
        /* One that hangs below another of ours now was put there. */
        int32_t parent = edited->nodes[back].parent;
        way[back] = parent >= 0 && m->matches.node[parent] >= 0 ? AS_WRITTEN : (uint8_t)best_way(score[n], all);
        turn_of_node[back] = way[back] != AS_WRITTEN && turns(&ways[way[back]]) ? ways[way[back]].back : NULL;
        orphans++;
        moved += way[back] != AS_WRITTEN;
    }
    if (orphans && !kfi_note(m->job, "wrapper",
                             "the node that was above all others is gone or has another name: nodes are known by their "
                             "names, and %zu of %zu below it brought back into the game's axes and unit",
                             moved, orphans))
        return false;
    *turned = moved > 0;
    if (moved)
        m->turn = turn_of_node;
    return !moved || turn_back(m->job, edited, ways, way, to);
}
