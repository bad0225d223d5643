/* Nodes that came back otherwise than they were written, in one of the ways of ways.c: that which leaves most of a
 * node's motion as it was written counts, and is undone. */
#include "internal.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- undoing it */

static bool copy_curve(kf_job *job, const kf_curve *from, double factor, kf_curve *to)
{
    kf_curve copy = *from;
    copy.fbx_data = NULL;
    copy.fbx_data_count = 0;
    if (!kfi_own_keys(job, &copy, 0))
        return false;
    for (size_t i = 0; i < copy.count; i++) {
        copy.keys[i].value *= factor;
        if (copy.handles && copy.keys[i].interp != KF_AUTO) { /* whose handles hold no values */
            copy.handles[i].in.dv *= factor;
            copy.handles[i].out.dv *= factor;
        }
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
        if (!kfi_make_keys(job, &track->curve[c], count, 0))
            return false;
        for (size_t i = 0; i < count; i++)
            track->curve[c].keys[i] = (kf_key){
                .time = times[i], .value = kfi_curve_value(&was.curve[c], times[i], was.rest[c]), .interp = KF_LINEAR};
    }
    return true;
}

/* A rotation stays as it is until it is compared. */
static bool turn_track(kf_job *job, const kfi_turn *t, double rate, kf_track *track)
{
    const kf_track was = *track;
    bool scale = was.channel == KF_SCALE;
    if (was.curves != 3 || was.channel > KF_SCALE)
        return true;
    if (was.channel == KF_ROTATION)
        return !kfi_turns(t) || sample_rotation(job, rate, track);
    kfi_undo(t, was.channel, KF_XYZ, was.rest, track->rest);
    for (unsigned c = 0; c < 3; c++)
        if (!copy_curve(job, &was.curve[c], !scale ? t->sign[c] / t->size : t->around ? 1 : t->mirror / t->size,
                        &track->curve[scale && !t->around ? c : t->from[c]]))
            return false;
    return true;
}

/* A node's own axes are those of its points. */
static bool turn_mesh(kf_job *job, const kfi_turn *t, kf_node *node)
{
    const double origin[3] = {0, 0, 0};
    kf_mesh *mesh = kfi_alloc(job, 1, sizeof *mesh);
    if (!mesh)
        return false;
    *mesh = *node->mesh;
    mesh->points = kfi_alloc_raw(job, mesh->point_count, sizeof *mesh->points);
    mesh->shapes = mesh->points ? kfi_alloc(job, mesh->shape_count, sizeof *mesh->shapes) : NULL;
    for (size_t i = 0; mesh->shapes && i < mesh->point_count; i++) {
        memcpy(mesh->points[i], node->mesh->points[i], sizeof mesh->points[i]);
        kfi_undo(t, KF_TRANSLATION, KF_XYZ, origin, mesh->points[i]);
    }
    for (size_t s = 0; mesh->shapes && s < mesh->shape_count; s++) {
        kf_shape *shape = &mesh->shapes[s];
        *shape = node->mesh->shapes[s];
        shape->offset = kfi_alloc_raw(job, shape->count, sizeof *shape->offset);
        if (!shape->offset)
            return false;
        memcpy(shape->offset, node->mesh->shapes[s].offset, shape->count * sizeof *shape->offset);
        for (size_t i = 0; i < shape->count; i++)
            kfi_undo(t, KF_TRANSLATION, KF_XYZ, origin, shape->offset[i]);
    }
    node->mesh = mesh;
    return mesh->shapes != NULL;
}

/* A copy in which every node that has a way is as it was written, but for rotation tracks; no longer just what our
 * writer wrote. */
static bool turn_back(kf_job *job, const kf_anim *from, const kfi_turn ways[KFI_WAYS], const uint8_t *way, kf_anim *to)
{
    const double origin[3] = {0, 0, 0};
    *to = *from;
    if (to->creator && strncmp(to->creator, "Keyferry", 8) == 0)
        to->creator = NULL;
    to->nodes = kfi_alloc(job, from->node_count, sizeof *to->nodes);
    to->takes = kfi_alloc(job, from->take_count, sizeof *to->takes);
    if (!to->nodes || !to->takes)
        return false;
    for (size_t i = 0; i < from->node_count; i++) {
        kf_node *node = &to->nodes[i];
        *node = from->nodes[i];
        if (way[i] == KFI_AS_WRITTEN)
            continue;
        kfi_undo(&ways[way[i]], KF_TRANSLATION, KF_XYZ, origin, node->rest.translation);
        kfi_undo(&ways[way[i]], KF_ROTATION, (kf_rotation_order)node->order, origin, node->rest.rotation);
        kfi_undo(&ways[way[i]], KF_SCALE, KF_XYZ, origin, node->rest.scale);
        if (node->mesh && ways[way[i]].around && !turn_mesh(job, &ways[way[i]], node))
            return false;
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
            if (way[track->node] == KFI_AS_WRITTEN)
                continue;
            if (track->channel == KF_ROTATION) /* what a curve without keys says itself may be older */
                memcpy(track->rest, from->nodes[track->node].rest.rotation, sizeof track->rest);
            if (!turn_track(job, &ways[way[track->node]], from->frame_rate, track))
                return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- which it is */

/* The way that explains most of all nodes. */
static unsigned common_way(const size_t all[KFI_WAYS + 1])
{
    unsigned common = 0;
    for (unsigned i = 1; i < KFI_SCALED; i++)
        common = all[i] > all[common] ? i : common;
    return common;
}

/* Its own way where that explains most of it, else the common one. A program that turns nodes all round does so with all. */
static unsigned best_way(const kfi_turn ways[KFI_WAYS], const size_t own[KFI_WAYS + 1], const size_t all[KFI_WAYS + 1])
{
    unsigned way = 0, common = common_way(all);
    for (unsigned i = 1; i < KFI_SCALED; i++)
        way = own[i] > own[way] || (own[i] == own[way] && all[i] > all[way]) ? i : way;
    if (ways[common].around || ways[way].around)
        return ways[common].around && own[KFI_AS_WRITTEN] > own[common] ? KFI_AS_WRITTEN : common;
    return 2 * own[way] > own[KFI_WAYS] ? way : common;
}

bool kfi_is_orphan(const kfi_merging *m, size_t n)
{
    int32_t back = m->matches.back[n];
    if (m->input->written->nodes[n].parent != 0 || back < 0)
        return false;
    int32_t above = m->input->edited->nodes[back].parent;
    while (above >= 0 && m->matches.node[above] < 0) /* a program's own, or new */
        above = m->input->edited->nodes[above].parent;
    return above < 0;
}

/* The same of how a node stands in channels that have no keys: where nothing moves, nothing else tells. */
static void count_pose(const kfi_merging *m, const kfi_turn ways[KFI_WAYS], size_t n, unsigned keyed, size_t score[KFI_WAYS + 1])
{
    const kf_node *was = &m->input->written->nodes[n], *now = &m->input->edited->nodes[m->matches.back[n]];
    for (unsigned channel = 0; channel <= KF_SCALE; channel++) {
        const double *before = kfi_rest_of(was, channel), *after = kfi_rest_of(now, channel);
        if (keyed >> channel & 1)
            continue;
        for (unsigned way = 0; way < KFI_WAYS; way++) {
            double value[3] = {after[0], after[1], after[2]};
            if (!ways[way].usable)
                continue;
            kfi_undo(&ways[way], channel, (kf_rotation_order)now->order, before, value);
            score[way] += kfi_alike(channel, before, (kf_rotation_order)was->order, value, (kf_rotation_order)now->order);
        }
        score[KFI_WAYS]++;
    }
}

/* How much of every written node's motion (and of all of it: `all`) each way leaves as it was written. Those further down
 * stand below a node of ours whatever became of the wrapper, but may be turned all round. */
static bool count_ways(const kfi_merging *m, const kfi_turn ways[KFI_WAYS], size_t (*score)[KFI_WAYS + 1], size_t all[KFI_WAYS + 1])
{
    const uint8_t *keyed = kfi_keyed_channels(m->job, m->input->written);
    if (!keyed)
        return false;
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    memset(score, 0, written->node_count * sizeof *score);
    memset(all, 0, (KFI_WAYS + 1) * sizeof *all);
    for (size_t t = 0; t < written->take_count; t++)
        for (size_t i = 0; i < written->takes[t].track_count; i++) {
            const kf_track *track = &written->takes[t].tracks[i];
            int32_t back = m->matches.back[track->node];
            if (track->node != 0 && back >= 0 && track->curves == 3 && track->channel <= KF_SCALE)
                kfi_count_alike(m->input, ways, track, m->matches.track[t][i], &edited->nodes[back], m->matches.offset[t],
                                score[track->node]);
        }
    for (size_t n = 0; n < written->node_count; n++) {
        if (!kfi_is_orphan(m, n))
            score[n][KFI_IN_WORLD] = score[n][KFI_IN_METRES] = score[n][KFI_UNTURNED] = score[n][KFI_AS_WRITTEN];
        else
            count_pose(m, ways, n, keyed[n], score[n]);
        for (unsigned i = 0; i <= KFI_WAYS; i++)
            all[i] += score[n][i];
    }
    return true;
}

/* Blender's "Apply Transform" turns the wrapper all round as well. That was put below its world in metres, and comes back
 * smaller by that, whatever the size of the export: in an FBX in metres, it would without. */
static bool smaller_wrapper(const kfi_merging *m)
{
    const double *was = m->input->written->nodes[0].rest.scale;
    if (m->matches.wrapper < 0)
        return false;
    const kf_anim *edited = m->input->edited;
    const double *now = edited->nodes[m->matches.wrapper].rest.scale;
    double share = cbrt(fabs(now[0] * now[1] * now[2] / (was[0] * was[1] * was[2])));
    return fabs(share / 0.01 - 1) < 1e-3 && !(fabs(edited->settings.unit_scale / 100 - 1) < 1e-3);
}

/* The same with sizes that no file states, where something is left that the stated ones do not explain. That nodes were turned
 * has to be seen: what merely moves further than it did was edited. */
static bool count_sized(kfi_merging *m, size_t (*score)[KFI_WAYS + 1], size_t all[KFI_WAYS + 1])
{
    kfi_turn stated[KFI_WAYS];
    memcpy(stated, m->ways, sizeof stated);
    if (!count_ways(m, m->ways, score, all))
        return false;
    unsigned common = common_way(all);
    if (all[common] == all[KFI_WAYS] && common != KFI_ROUND_BEFORE)
        return true;
    if (!kfi_find_sizes(m, m->ways) || !count_ways(m, m->ways, score, all))
        return false;
    common = common_way(all);
    if (!(m->ways[common].found || common == KFI_ROUND_BEFORE) || !m->ways[common].around || all[common] > all[KFI_SCALED] ||
        (common == KFI_ALL_ROUND && smaller_wrapper(m)))
        return true;
    memcpy(m->ways, stated, sizeof stated);
    m->ways[KFI_ROUND_BEFORE].usable = false;
    return count_ways(m, m->ways, score, all);
}

/* What was done with all nodes, in words. */
static bool tell_way(const kfi_merging *m, unsigned way)
{
    const kfi_turn *t = &m->ways[way];
    if (way == KFI_ALL_ROUND && !kfi_note(m->job, "axes", "the program turned the axes of every node (Blender: \"Apply Transform\"): "
                                                          "they are turned back"))
        return false;
    if (way == KFI_ROUND_BEFORE &&
        !kfi_note(m->job, "axes", "the program turned the axes of every node when it read the FBX (Blender: \"Apply Transform\" of the "
                                  "import): they are turned back, but were rounded; import without it"))
        return false;
    if (t->lost && !kfi_warn(m->job, "size", "how many times as large as it was written everything came back could not be told, for "
                                            "most of it was edited: it is taken to be %g times, as the FBX states; in the program, "
                                            "export with a scale of 1 (Blender: \"Scale\")", t->size))
        return false;
    if (!t->found || way == KFI_ROUND_BEFORE)
        return true;
    if (t->alone)
        return kfi_warn(m->job, "size", "the one node that moves came back multiplied with %g, where the FBX states a unit of %g: that is "
                                        "taken for the program's (Blender: \"Scale\" of the export), and it is divided by that. If it was "
                                        "an edit, export without \"Apply Transform\"",
                        t->size, m->input->edited->settings.unit_scale);
    return kfi_note(m->job, "size", "all came back multiplied with %g, where the FBX states a unit of %g (Blender: \"Scale\" of the "
                                    "export): it is divided by that. If it was an edit, export with a scale of 1",
                    t->size, m->input->edited->settings.unit_scale);
}

bool kfi_unwrap(kfi_merging *m, kf_anim *to, bool *turned)
{
    const kfi_turn *ways = m->ways;
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    size_t (*score)[KFI_WAYS + 1] = kfi_alloc(m->job, written->node_count, sizeof *score), all[KFI_WAYS + 1];
    uint8_t *way = kfi_alloc(m->job, edited->node_count, sizeof *way);
    const kfi_turn **turn_of_node = kfi_alloc(m->job, edited->node_count, sizeof *turn_of_node);
    size_t orphans = 0, moved = 0, most[KFI_WAYS] = {0};
    if (!score || !way || !turn_of_node || !count_sized(m, score, all))
        return false;
    for (size_t n = 1; n < written->node_count; n++) {
        int32_t back = m->matches.back[n];
        if (back < 0)
            continue;
        bool orphan = kfi_is_orphan(m, n);
        unsigned best = best_way(ways, score[n], all);
        if (!ways[best].around && !orphan)
            best = KFI_AS_WRITTEN;
        way[back] = (uint8_t)best;
        turn_of_node[back] = best != KFI_AS_WRITTEN && kfi_turns(&ways[best]) ? &ways[best] : NULL;
        orphans += orphan;
        moved += best != KFI_AS_WRITTEN;
        most[best]++;
    }
    if (orphans && !kfi_note(m->job, "wrapper",
                             "the node that was above all others is gone, elsewhere or has another name: nodes are known by their "
                             "names, and %zu of %zu below it brought back into the game's axes and unit",
                             moved, orphans))
        return false;
    for (unsigned i = 1; i < KFI_WAYS; i++)
        if (most[i] && !tell_way(m, i))
            return false;
    *turned = moved > 0;
    if (moved)
        m->turn = turn_of_node;
    return !moved || turn_back(m->job, edited, ways, way, to);
}
