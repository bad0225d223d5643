/* Which take, node and track of an FBX that came back is which of those that were written.
 *
 * Programs rename: Blender makes "Scene", "Obj|Take" or "Obj|Owner|Take", with or without "|Layer", of a take's name and
 * adds ".001" to a node's; others call the only take "Take 001". They also add nodes ("Armature", "..._end",
 * "..._GeomAdjust") and shift time. */
#include "internal.h"

#include "names.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- nodes */

/* Length of a name without the ".001" that programs add to a second one. */
static size_t stem(const char *name)
{
    size_t length = strlen(name);
    if (length > 4 && name[length - 4] == '.') {
        bool digits = true;
        for (size_t i = length - 3; i < length; i++)
            digits = digits && name[i] >= '0' && name[i] <= '9';
        if (digits)
            return length - 4;
    }
    return length;
}

/* What a name was before Maya wrote every character that its names cannot have as "FBXASC" and three digits; NULL if memory
 * runs out. */
static const char *plain_name(kf_job *job, const char *name)
{
    static const char mark[] = "FBXASC";
    size_t length = strlen(mark), used = 0;
    if (!strstr(name, mark))
        return name;
    char *plain = kfi_strndup(job, name, strlen(name));
    while (plain && *name) {
        unsigned byte = 0;
        size_t digits = 0;
        if (strncmp(name, mark, length) == 0)
            for (; digits < 3 && name[length + digits] >= '0' && name[length + digits] <= '9'; digits++)
                byte = 10 * byte + (unsigned)(name[length + digits] - '0');
        bool coded = digits == 3 && byte > 0 && byte < 256;
        plain[used++] = coded ? (char)byte : *name;
        name += coded ? length + digits : 1;
    }
    if (plain)
        plain[used] = '\0';
    return plain;
}

/* Where each file is a node that is called like it, a file of another name than the FBX came from is none that the FBX has. The only
 * one is it all the same, and so is the last of several, if nothing tells their names and one is left on the other side, too. */
static void match_last(const kfi_merge *input, const bool *inside, kfi_matches *m)
{
    const kf_anim *written = input->written, *edited = input->edited;
    int32_t left = -1, found = -1;
    if (!input->capabilities->files_are_nodes || !(input->strange || written->node_count == input->first_node + 1))
        return;
    for (size_t i = input->first_node; i < written->node_count; i++) {
        if (m->back[i] < 0 && left >= 0)
            return;
        left = m->back[i] < 0 ? (int32_t)i : left;
    }
    for (size_t e = 0; e < edited->take_count && left >= 0; e++)
        for (size_t i = 0; i < edited->takes[e].track_count; i++) {
            int32_t n = (int32_t)edited->takes[e].tracks[i].node;
            const kf_node *node = &edited->nodes[n];
            if (m->node[n] >= 0 || n == m->wrapper || !inside[n] || node->kind == KF_NODE_OTHER || kfi_programs_own(node->name))
                continue;
            if (found >= 0 && found != n)
                return;
            found = n;
        }
    if (left < 0 || found < 0)
        return;
    m->node[found] = left;
    m->back[left] = found;
    m->last = left;
}

static bool match_nodes(kf_job *job, const kfi_merge *input, kfi_matches *m)
{
    const kf_anim *written = input->written, *edited = input->edited;
    kfi_map map;
    bool *inside = kfi_alloc(job, edited->node_count, sizeof *inside);
    m->node = kfi_alloc(job, edited->node_count, sizeof *m->node);
    m->back = kfi_alloc(job, written->node_count, sizeof *m->back);
    if (!inside || !m->node || !m->back || !kfi_map_init(&map, job, written->node_count))
        return false;
    for (size_t i = 0; i < written->node_count; i++) {
        m->back[i] = -1;
        kfi_map_put(&map, written->nodes[i].name, (uint32_t)i);
    }
    for (size_t i = 0; i < edited->node_count; i++) {
        int32_t parent = edited->nodes[i].parent;
        m->node[i] = -1;
        inside[i] = m->wrapper < 0 || (int32_t)i == m->wrapper || (parent >= 0 && inside[parent]);
    }
    if (m->wrapper >= 0 && input->first_node == 1) {
        m->node[m->wrapper] = 0;
        m->back[0] = m->wrapper;
    }
    /* Below the wrapper first, whole names before stems and those that were written otherwise. */
    for (int pass = 0; pass < 6; pass++) {
        for (size_t i = 0; i < edited->node_count; i++) {
            const char *name = edited->nodes[i].name;
            if (m->node[i] >= 0 || inside[i] != (pass % 2 == 0))
                continue;
            if (pass > 3 && !(name = plain_name(job, name)))
                return false;
            int64_t found = kfi_map_get(&map, name, pass / 2 == 1 ? stem(name) : strlen(name));
            if (found >= 0 && m->back[found] < 0) {
                m->node[i] = (int32_t)found;
                m->back[found] = (int32_t)i;
            }
        }
    }
    match_last(input, inside, m);
    return true;
}

const kf_track *kfi_other_motion(const kfi_limits *limits, const kf_take *take, const kf_take *than)
{
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        bool found = track->layer != 0; /* told elsewhere */
        for (size_t k = 0; k < than->track_count && !found; k++) {
            const kf_track *like = &than->tracks[k];
            found = like->node == track->node && like->channel == track->channel && like->curves == track->curves && like->layer == 0 &&
                    (!track->name || (like->name && strcmp(track->name, like->name) == 0));
            for (unsigned c = 0; found && c < track->curves; c++)
                if (!kfi_runs_alike(limits, track->channel, &like->curve[c], like->rest[c], &track->curve[c], track->rest[c], 0))
                    return track;
        }
        if (!found)
            return track;
    }
    return NULL;
}

bool kfi_tell_twice(const kfi_merging *m)
{
    const kf_anim *edited = m->input->edited;
    for (size_t e = 1; e < edited->take_count; e++) {
        const kf_take *take = &edited->takes[e];
        size_t first = 0;
        if (m->matches.take[e] < 0)
            continue;
        while (first < e && (m->matches.take[first] != m->matches.take[e] || strcmp(edited->takes[first].name, take->name) != 0))
            first++;
        const kf_track *other = first < e ? kfi_other_motion(&m->limits, take, &edited->takes[first]) : NULL;
        if (other && !kfi_warn(m->job, "take-twice", "take \"%.60s\" is there twice: the first counts, and the second is not carried, "
                                                     "though the %s of its node \"%.60s\" is another one",
                               take->name, other->name ? other->name : kfi_channel_name((kf_channel)other->channel),
                               edited->nodes[other->node].name))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- tracks and time */


/* Index of written tracks by node, so that many tracks are found in one pass. */
typedef struct track_index {
    uint32_t *first; /* for each node, its first track + 1 */
    uint32_t *next;  /* for each track, the node's next one + 1 */
} track_index;

static bool index_tracks(kf_job *job, const kf_anim *written, const kf_take *take, track_index *index)
{
    index->first = kfi_alloc(job, written->node_count, sizeof *index->first);
    index->next = kfi_alloc(job, take->track_count, sizeof *index->next);
    if (!index->first || !index->next)
        return false;
    for (size_t i = take->track_count; i-- > 0;) {
        uint32_t node = take->tracks[i].node;
        index->next[i] = index->first[node];
        index->first[node] = (uint32_t)i + 1;
    }
    return true;
}

/* The tracks of a take that are the same node's and channel's as one that came back; the first that is free gets it. */
static bool bind_track(kfi_matches *m, const kf_take *written, size_t t, const track_index *index, const kf_track *track)
{
    bool known = false;
    for (uint32_t n = index->first[m->node[track->node]]; n && !known; n = index->next[n - 1]) {
        const kf_track *like = &written->tracks[n - 1];
        known = like->channel == track->channel &&
                (!like->name || (track->name && strcmp(track->name, like->name) == 0));
        if (known && !m->track[t][n - 1])
            m->track[t][n - 1] = track;
    }
    return known;
}

static bool match_tracks(kf_job *job, const kfi_merge *input, kfi_matches *m)
{
    const kf_anim *written = input->written, *edited = input->edited;
    m->track = kfi_alloc(job, written->take_count, sizeof *m->track);
    track_index *index = kfi_alloc(job, written->take_count, sizeof *index);
    m->known = kfi_alloc(job, edited->take_count, sizeof *m->known);
    m->instead = kfi_alloc(job, edited->take_count, sizeof *m->instead);
    m->settled = kfi_alloc(job, written->take_count, sizeof *m->settled);
    if (!m->track || !index || !m->known || !m->instead || !m->settled)
        return false;
    for (size_t t = 0; t < written->take_count; t++) {
        m->track[t] = kfi_alloc(job, written->takes[t].track_count, sizeof *m->track[t]);
        m->settled[t] = kfi_alloc(job, written->takes[t].track_count, sizeof **m->settled);
        if (!m->track[t] || !m->settled[t] || !index_tracks(job, written, &written->takes[t], &index[t]))
            return false;
    }
    for (size_t e = 0; e < edited->take_count; e++) {
        const kf_take *take = &edited->takes[e];
        m->known[e] = kfi_alloc(job, take->track_count, sizeof *m->known[e]);
        m->instead[e] = kfi_alloc(job, take->track_count, sizeof *m->instead[e]);
        if (!m->known[e] || !m->instead[e])
            return false;
        for (size_t i = 0; i < take->track_count; i++) {
            const kf_track *track = &take->tracks[i];
            int32_t node = m->node[track->node], t = kfi_take_of(m, e, track->node);
            if (t < 0)
                continue;
            m->known[e][i] = m->owner[e] == KFI_NOBODY || (m->owner[e] >= 0 && m->owner[e] != node);
            if (node < 0 || track->layer != 0 || m->known[e][i])
                continue;
            m->known[e][i] = bind_track(m, &written->takes[t], (size_t)t, &index[t], track);
        }
    }
    return true;
}

/* Before the first key that came back and after the last nothing is known. */
static bool is_known(const kfi_limits *limits, const kf_curve *curve, double time)
{
    return curve->count && time >= curve->keys[0].time - limits->time && time <= curve->keys[curve->count - 1].time + limits->time;
}

/* Whether a curve is as it was written at that time, so much later. */
static bool agrees(const kfi_merge *input, const kfi_limits *limits, const kf_track *was, const kf_track *now, unsigned c,
                   double time, double offset)
{
    double a[3], b[3];
    for (unsigned d = 0; d < was->curves && d < now->curves; d++) {
        a[d] = kfi_curve_value(&was->curve[d], time, was->rest[d]);
        b[d] = kfi_curve_value(&now->curve[d], time + offset, now->rest[d]);
    }
    if (was->channel == KF_ROTATION && was->curves == 3 && now->curves == 3)
        return kfi_alike(KF_ROTATION, a, (kf_rotation_order)input->written->nodes[was->node].order, b,
                         (kf_rotation_order)input->edited->nodes[now->node].order);
    return fabs(a[c] - b[c]) <= fmax(limits->value[was->channel], kfi_thinning(a[c], b[c]));
}

/* How many values of a take are as they were written just if it is `offset` later, just if it is `other` later, and not in either
 * case. */
typedef struct likeness {
    size_t one, two, neither;
} likeness;

static void look(const kfi_merge *input, const kfi_limits *limits, const kf_track *was, const kf_track *now, unsigned c,
                 const double times[2], const double offsets[2], likeness *l)
{
    bool a = agrees(input, limits, was, now, c, times[0], offsets[0]);
    bool b = agrees(input, limits, was, now, c, times[1], offsets[1]);
    l->one += a && !b;
    l->two += b && !a;
    l->neither += !a && !b;
}

/* Whether a take is rather as it was written if it is `other` later than if it is `offset` later: more of its values are, and
 * more than are neither. A motion that was slowed down is like the written one somewhere, whatever the offset. Looked at on the
 * written keys; what came back as one frame has none that is known in both cases: then on its own. */
static bool agrees_better(const kfi_merge *input, const kfi_limits *limits, const kfi_matches *m, size_t t, double offset,
                          double other)
{
    enum { LOOKS = 64 };
    const kf_take *take = &input->written->takes[t];
    const double offsets[2] = {offset, other};
    likeness l = {0, 0, 0}, own = {0, 0, 0};
    size_t looked = 0;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *was = &take->tracks[i], *now = m->track[t][i];
        for (unsigned c = 0; now && c < was->curves && c < now->curves; c++) {
            const kf_curve *w = &was->curve[c], *e = &now->curve[c];
            for (size_t k = 0; k < w->count; k += w->count / LOOKS + 1) {
                double time = w->keys[k].time;
                if (!is_known(limits, e, time + offset) || !is_known(limits, e, time + other))
                    continue;
                look(input, limits, was, now, c, (double[]){time, time}, offsets, &l);
                looked++;
            }
            if (e->count == 1)
                look(input, limits, was, now, c, (double[]){e->keys[0].time - offset, e->keys[0].time - other}, offsets, &own);
        }
    }
    l = looked ? l : own;
    return l.two > l.one && l.two > l.neither;
}

/* A format with a value a frame counts from the take's start: where that and its keys were moved to before the first frame, the
 * whole take goes along, or its beginning would be lost. By whole frames, unless it is as it was just so much earlier. */
static double start_moved(const kfi_merge *input, const kfi_limits *limits, const kfi_matches *m, size_t t, double first_key)
{
    double rate = input->original->frame_rate, start = INFINITY;
    for (size_t e = 0; e < input->edited->take_count; e++)
        if (m->take[e] == (int32_t)t)
            start = fmin(start, input->edited->takes[e].start);
    double by = start - input->written->takes[t].start, hair = 0.01 / rate;
    if (!isfinite(by) || !isfinite(first_key) || by > -hair || first_key > input->written->takes[t].start - hair)
        return 0;
    double whole = floor(by * rate + 0.01) / rate;
    return fabs(whole - by) <= hair || agrees_better(input, limits, m, t, whole, by) ? by : whole;
}

/* A program that starts counting frames at 1, or that starts every take at 0, shifts the whole take. Its first key tells by
 * how much, unless the program was told to start elsewhere: then it is still as it was one frame later, or just when it
 * was. */
static void find_offsets(const kfi_merge *input, const kfi_limits *limits, kfi_matches *m)
{
    for (size_t t = 0; t < input->written->take_count; t++) {
        const kf_take *take = &input->written->takes[t];
        double written = INFINITY, edited = INFINITY;
        for (size_t i = 0; i < take->track_count; i++) {
            const kf_track *back = m->track[t][i];
            for (unsigned c = 0; back && c < back->curves && c < take->tracks[i].curves; c++) {
                if (back->curve[c].count && take->tracks[i].curve[c].count) {
                    written = fmin(written, take->tracks[i].curve[c].keys[0].time);
                    edited = fmin(edited, back->curve[c].keys[0].time);
                }
            }
        }
        double rate = input->edited->frame_rate, offset = edited - written, frames = offset * rate;
        m->offset[t] = input->capabilities->frame_rate > 0 ? start_moved(input, limits, m, t, edited) : 0;
        if (m->offset[t] != 0)
            continue;
        if (limits->exact || !(input->baked || kfi_by_blender(input->edited)) || !isfinite(offset) || !(rate > 0))
            continue;
        bool whole = fabs(offset) > limits->time && fabs(frames - nearbyint(frames)) < 0.01;
        /* Keys may begin anywhere, and what Blender bakes of them begins where it was told to: at frame 1, mostly. */
        bool likely = input->baked || fabs(offset - 1 / rate) < limits->time;
        if (whole && (likely || agrees_better(input, limits, m, t, 0, offset)))
            m->offset[t] = offset;
        const double others[] = {1 / rate, 0};
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            if (fabs(others[i] - m->offset[t]) > limits->time && agrees_better(input, limits, m, t, m->offset[t], others[i]))
                m->offset[t] = others[i];
    }
}

bool kfi_match(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *matches)
{
    char digest[9];
    memset(matches, 0, sizeof *matches);
    matches->scene = matches->last = -1;
    matches->wrapper = kfi_find_wrapper(input->edited, digest);
    if (!match_nodes(job, input, matches) || !kfi_match_takes(job, input, limits, ways, matches) ||
        !match_tracks(job, input, matches))
        return false;
    find_offsets(input, limits, matches);
    return true;
}
