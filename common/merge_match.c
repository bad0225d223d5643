/* Which take, node and track of an FBX that came back is which of those that were written.
 *
 * Programs rename: Blender makes "Scene", "Obj|Take" or "Obj|Owner|Take", with or without "|Layer", of a take's name and
 * adds ".001" to a node's; others call the only take "Take 001". They also add nodes ("Armature", "..._end",
 * "..._GeomAdjust") and shift time. */
#include "merge_internal.h"

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
    /* Below the wrapper first, whole names before stems. */
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < edited->node_count; i++) {
            const char *name = edited->nodes[i].name;
            if (m->node[i] >= 0 || inside[i] != (pass % 2 == 0))
                continue;
            int64_t found = kfi_map_get(&map, name, pass < 2 ? strlen(name) : stem(name));
            if (found >= 0 && m->back[found] < 0) {
                m->node[i] = (int32_t)found;
                m->back[found] = (int32_t)i;
            }
        }
    }
    return true;
}

/* ---------------------------------------------------------------- takes */

static int32_t find_take(const kf_anim *written, const char *name, size_t length)
{
    for (size_t i = 0; i < written->take_count; i++)
        if (strlen(written->takes[i].name) == length && strncmp(written->takes[i].name, name, length) == 0)
            return (int32_t)i;
    return -1;
}

static int32_t find_node(const kf_anim *written, const char *name, size_t length)
{
    for (size_t i = 0; i < written->node_count; i++)
        if (strlen(written->nodes[i].name) == length && strncmp(written->nodes[i].name, name, length) == 0)
            return (int32_t)i;
    return -1;
}

/* What a take's name tells. */
typedef struct take_name {
    int32_t take, owner; /* the written take and the written node that it is of, or -1 */
    const char *action;  /* "Owner|Take" or "Take" */
    size_t length;       /* of that, without a layer behind it */
    bool twice;          /* "Obj|Obj|Take" */
} take_name;

/* "Obj|Take", "Obj|Owner|Take", both with or without "|Layer" behind. Where Obj and Owner differ, the take shows one
 * object moved by another one's action: no take of ours. */
static take_name parse_take(const kf_anim *written, const char *name)
{
    enum { MOST = 4 };
    take_name result = {.take = -1, .owner = -1};
    const char *part[MOST];
    size_t length[MOST], parts = 0;
    for (const char *at = name; parts < MOST;) {
        part[parts] = at;
        length[parts] = strcspn(at, "|");
        at += length[parts++];
        if (*at == '\0')
            break;
        at++;
    }
    for (size_t i = 1; i < parts && i <= 2; i++) {
        int32_t found = find_take(written, part[i], length[i]);
        if (found < 0)
            continue;
        result.twice = i == 2;
        if (result.twice && (length[0] != length[1] || strncmp(part[0], part[1], length[0]) != 0))
            return result;
        result.take = found;
        result.owner = find_node(written, part[0], length[0]);
        result.action = part[result.twice ? 1 : 0];
        result.length = (size_t)(part[i] + length[i] - result.action);
        return result;
    }
    return result;
}

/* Names that programs give a take when they have none of their own. */
static bool default_take_name(const char *name)
{
    static const char *const names[] = {"Scene", "Take 001", "Take001", "Default", "Default Take"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strchr(name, '|') != NULL;
}

/* Every take that was lost is compared with every new one; beyond this many pairs, with none. */
enum { MOST_PAIRS = 256 };

/* How many of a written track's values are what came back, in whichever way that is. */
static size_t turned_alike(const kfi_merge *input, const kfi_turn *ways, const kf_track *was, const kf_track *now, double offset,
                           size_t values)
{
    size_t score[KFI_WAYS + 1] = {0}, best = 0;
    if (!ways || was->channel > KF_SCALE || was->curves != 3)
        return 0;
    kfi_count_alike(input, ways, was, now, &input->edited->nodes[now->node], offset, score);
    for (unsigned way = KFI_AS_WRITTEN + 1; way < KFI_WAYS; way++)
        best = score[way] > best ? score[way] : best;
    return score[KFI_WAYS] ? values * best / score[KFI_WAYS] : 0;
}

/* How much of a written take an edited one is: the share of its values that are still the same on its key times. */
static double likeness(const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, const kfi_matches *m,
                       const kf_take *edited, const kf_take *written)
{
    double start = 0, end = 0, first = 0, last = 0;
    size_t same = 0, looked = 0;
    if (!kfi_take_range(edited, &start, &end) || !kfi_take_range(written, &first, &last))
        return 0;
    for (size_t i = 0; i < edited->track_count; i++) {
        const kf_track *track = &edited->tracks[i];
        for (size_t k = 0; k < written->track_count; k++) {
            const kf_track *like = &written->tracks[k];
            if (m->node[track->node] != (int32_t)like->node || like->channel != track->channel)
                continue;
            size_t values = 0, alike = 0;
            for (unsigned c = 0; c < like->curves && c < track->curves; c++) {
                for (size_t n = 0; n < like->curve[c].count; n++) {
                    double time = like->curve[c].keys[n].time;
                    double now = kfi_curve_value(&track->curve[c], time - first + start, track->rest[c]);
                    alike += kfi_same_value(limits, like->channel, like->curve[c].keys[n].value, now);
                    values++;
                }
            }
            size_t turned = alike < values ? turned_alike(input, ways, like, track, start - first, values) : 0;
            same += turned > alike ? turned : alike;
            looked += values;
        }
    }
    return looked ? (double)same / (double)looked : 0;
}

/* Several takes under new names: each is the one of which most is left, but at the least half. Equally like: the one with
 * as many tracks, then the first. */
static void match_renamed(const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *m, bool *back)
{
    const kf_anim *written = input->written, *edited = input->edited;
    for (;;) {
        double best = 0.5;
        size_t best_gap = SIZE_MAX, from = 0, to = 0;
        for (size_t i = 0; i < edited->take_count; i++) {
            for (size_t k = 0; k < written->take_count; k++) {
                if (m->take[i] >= 0 || back[k] || default_take_name(edited->takes[i].name))
                    continue;
                double like = likeness(input, limits, ways, m, &edited->takes[i], &written->takes[k]);
                size_t a = edited->takes[i].track_count, b = written->takes[k].track_count, gap = a > b ? a - b : b - a;
                if (like > best || (like == best && gap < best_gap)) {
                    best = like;
                    best_gap = gap;
                    from = i;
                    to = k;
                }
            }
        }
        if (best_gap == SIZE_MAX)
            return;
        m->take[from] = (int32_t)to;
        m->renamed[to] = edited->takes[from].name;
        back[to] = true;
    }
}

static bool match_takes(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *m)
{
    const kf_anim *written = input->written, *edited = input->edited;
    size_t takes = written->take_count;
    m->take = kfi_alloc(job, edited->take_count, sizeof *m->take);
    m->owner = kfi_alloc(job, edited->take_count, sizeof *m->owner);
    m->renamed = kfi_alloc(job, takes, sizeof *m->renamed);
    m->offset = kfi_alloc(job, takes, sizeof *m->offset);
    bool *back = kfi_alloc(job, takes, sizeof *back);
    if (!m->take || !m->owner || !m->renamed || !m->offset || !back)
        return false;
    kfi_map own; /* the actions that objects have been seen with as their own */
    if (!kfi_map_init(&own, job, edited->take_count))
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < edited->take_count; i++) {
            const char *name = edited->takes[i].name;
            take_name told = {.take = find_take(written, name, strlen(name)), .owner = -1};
            if (told.take < 0)
                told = parse_take(written, name);
            if (told.twice != (pass == 0))
                continue;
            m->take[i] = told.take;
            m->owner[i] = told.owner;
            if (told.take >= 0)
                back[told.take] = true;
            if (told.take >= 0 && told.twice) {
                const char *action = kfi_strndup(job, told.action, told.length);
                if (!action)
                    return false;
                kfi_map_put(&own, action, 0);
            } else if (told.owner >= 0 && kfi_map_get(&own, told.action, told.length) >= 0) {
                m->owner[i] = KFI_NOBODY; /* an object that has its own, moved by an action with just the take's name */
            }
        }
    }
    /* One left over on either side: the same take under another name. */
    size_t lost = takes, lost_count = 0, strange = 0, strange_count = 0;
    for (size_t i = 0; i < takes; i++)
        if (!back[i]) {
            lost = i;
            lost_count++;
        }
    for (size_t i = 0; i < edited->take_count; i++)
        if (m->take[i] < 0) {
            strange = i;
            strange_count++;
        }
    if (lost_count > 1 && strange_count == 1 && default_take_name(edited->takes[strange].name)) {
        /* One of several takes, under a program's own name: the one it is most like. */
        double best = 0;
        for (size_t i = 0; i < takes; i++) {
            double like = back[i] ? 0 : likeness(input, limits, ways, m, &edited->takes[strange], &written->takes[i]);
            if (like > best) {
                best = like;
                m->take[strange] = (int32_t)i;
            }
        }
    } else if (lost_count == 1 && strange_count == 1) {
        m->take[strange] = (int32_t)lost;
        if (!default_take_name(edited->takes[strange].name))
            m->renamed[lost] = edited->takes[strange].name;
    } else if (lost_count > 0 && strange_count > 0 && lost_count * strange_count <= MOST_PAIRS) {
        match_renamed(input, limits, ways, m, back);
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
        if (m->take[e] < 0)
            continue;
        size_t t = (size_t)m->take[e];
        for (size_t i = 0; i < take->track_count; i++) {
            const kf_track *track = &take->tracks[i];
            int32_t node = m->node[track->node];
            m->known[e][i] = m->owner[e] == KFI_NOBODY || (m->owner[e] >= 0 && m->owner[e] != node);
            if (node < 0 || track->layer != 0 || m->known[e][i])
                continue;
            m->known[e][i] = bind_track(m, &written->takes[t], t, &index[t], track);
        }
    }
    return true;
}

/* A program that starts counting frames at 1, or that starts every take at 0, shifts the whole take. */
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
        double offset = edited - written;
        double frames = offset * input->edited->frame_rate;
        bool shifted = isfinite(offset) && fabs(offset) > limits->time && fabs(frames - nearbyint(frames)) < 0.01;
        m->offset[t] = !limits->exact && shifted && input->baked ? offset : 0;
    }
}

bool kfi_match(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *matches)
{
    char digest[9];
    memset(matches, 0, sizeof *matches);
    matches->wrapper = kfi_find_wrapper(input->edited, digest);
    if (!match_nodes(job, input, matches) || !match_takes(job, input, limits, ways, matches) ||
        !match_tracks(job, input, matches))
        return false;
    find_offsets(input, limits, matches);
    return true;
}
