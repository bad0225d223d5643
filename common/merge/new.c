/* What an FBX has that was not written: new tracks, nodes and takes; or all of it, when there is no original. */
#include "internal.h"
#include "names.h"
#include "tcb_tracks.h"

#include <string.h>

static bool stands(const kfi_merging *m, const kf_track *track, const kf_transform *rest)
{
    for (unsigned c = 0; c < track->curves; c++) {
        double value = track->channel == KF_TRANSLATION ? rest->translation[c]
                       : track->channel == KF_ROTATION  ? rest->rotation[c]
                       : track->channel == KF_SCALE     ? rest->scale[c]
                                                        : track->rest[c];
        for (size_t i = 0; i < track->curve[c].count; i++)
            if (!kfi_same_value(&m->limits, track->channel, value, track->curve[c].keys[i].value))
                return false;
    }
    return true;
}

/* A track that does nothing: every value is the node's own. That of a new node which moves is nowhere but in its tracks. */
static bool idle(const kfi_merging *m, const kf_track *track, const bool *moving)
{
    static const kf_transform none = {.scale = {1, 1, 1}};
    int32_t written = m->matches.node[track->node];
    return stands(m, track, written >= 0 ? &m->input->written->nodes[written].rest
                            : moving[track->node] ? &none
                                                  : &m->input->edited->nodes[track->node].rest);
}

static bool warn_layer(kf_job *job, const kf_anim *anim, const kf_take *take, const kf_track *track)
{
    const char *why = kfi_report_text(job, "on layer \"%.60s\", which is not carried: merge layers first",
                                      take->layers[track->layer].name);
    return why && kfi_warn_lost(job, "layer", anim, take, track, why);
}

/* A channel without keys that a program which bakes has written all the same, as it writes every node's pose: the node
 * stands elsewhere, which is no animation. */
static bool just_a_pose(const kfi_merging *m, const kf_track *track)
{
    return m->input->baked && !m->limits.exact && track->channel <= KF_SCALE && m->matches.node[track->node] >= 0 &&
           !kfi_moves(&m->limits, track);
}

bool kfi_says_nothing(const kfi_merging *m, const kf_track *track)
{
    int32_t written = m->matches.node[track->node];
    return written >= 0 && (stands(m, track, &m->input->written->nodes[written].rest) || just_a_pose(m, track));
}

/* Of several takes the programs give all the pose of one: where that has keys, nobody has moved anything. Each is told once. */
static bool tell_pose(const kfi_merging *m, const char *take, const kf_track *track, uint8_t *keyed)
{
    uint8_t *of_node = &keyed[m->matches.node[track->node]], bit = (uint8_t)(1U << track->channel);
    if (*of_node & bit)
        return true;
    *of_node |= bit;
    return kfi_warn(m->job, "pose", "take \"%.60s\", node \"%.60s\": its %s is another one, but stands still: a pose is not "
                                    "carried, only what moves", take, m->input->edited->nodes[track->node].name,
                    kfi_channel_name((kf_channel)track->channel));
}

/* Tracks of a take that stand still, where the node or the take is new: a file says as much without them. */
typedef struct resting {
    size_t count;
    const kf_track *first;
} resting;

/* Programs that write samples have them of what nobody animated; of others somebody has set the keys. */
static bool somebody_keyed(const kfi_merging *m, const kf_track *track)
{
    bool sampled = !m->limits.exact && (m->input->baked || kfi_by_blender(m->input->edited));
    return !sampled && track->layer == 0 && kfi_track_keys(track) > 0;
}

static bool tell_resting(const kfi_merging *m, const char *take, const resting *r)
{
    const kf_track *first = r->first;
    return r->count == 0 || kfi_note(m->job, "resting", "take \"%.60s\": the keys of %zu channels of a new %s stand still where it is without them, "
                                                        "and are not written (first: node \"%.60s\", %.60s)",
                                     take, r->count, m->matches.node[first->node] < 0 ? "node" : "take",
                                     m->input->edited->nodes[first->node].name,
                                     first->name ? first->name : kfi_channel_name((kf_channel)first->channel));
}

/* New nodes below ours that no track has brought into the file, which holds only what moves; not those that are told of, and not
 * what programs put there. */
static bool tell_still(const kfi_merging *m, const int64_t *nodes, const bool *told)
{
    const kf_anim *edited = m->input->edited;
    bool *below = kfi_alloc(m->job, edited->node_count, sizeof *below);
    size_t count = 0;
    const char *first = NULL;
    for (size_t i = 0; below && i < edited->node_count; i++) {
        const kf_node *node = &edited->nodes[i];
        int32_t above = node->parent;
        below[i] = above >= 0 && (below[above] || above == m->matches.wrapper || m->matches.node[above] >= 0);
        if (below[i] && m->matches.node[i] < 0 && nodes[i] < 0 && !told[i] && node->kind != KF_NODE_OTHER &&
            !kfi_programs_own(node->name) && count++ == 0)
            first = node->name;
    }
    return below && (count == 0 || kfi_note(m->job, "still", "%zu new nodes do not move and are not written: the file has only what moves "
                                                             "(first: node \"%.60s\")", count, first));
}

/* Below our wrapper the numbers are the game's; elsewhere they are the program's. */
static bool tell_outside(const kfi_merging *m, uint32_t node)
{
    const kf_node *nodes = m->input->edited->nodes;
    int32_t above = (int32_t)node;
    while (above >= 0 && above != m->matches.wrapper)
        above = nodes[above].parent;
    return m->matches.wrapper < 0 || above >= 0 ||
           kfi_warn(m->job, "outside", "node \"%.60s\" is new and does not hang below \"%.60s\": its numbers are taken as they "
                                       "are, in the program's axes and unit", nodes[node].name,
                    nodes[m->matches.wrapper].name);
}

/* The merged node that an edited one is, made if it is new. */
static int64_t merged_node(kfi_merging *m, int64_t *nodes, uint32_t edited)
{
    if (nodes[edited] >= 0)
        return nodes[edited];
    const kf_node *from = &m->input->edited->nodes[edited];
    int32_t parent = from->parent >= 0 && m->matches.node[from->parent] >= (int32_t)m->input->first_node
                         ? m->matches.node[from->parent] - (int32_t)m->input->first_node
                         : -1;
    kf_node *node = kfi_add_node(m->job, m->merged, from->name, parent);
    if (!node || !tell_outside(m, edited))
        return -1;
    *node = *from;
    node->parent = parent;
    node->source = -1;
    nodes[edited] = (int64_t)m->merged->node_count - 1;
    return nodes[edited];
}

static void to_fresh(kf_track *track, double offset)
{
    track->state = KF_TRACK_NEW;
    track->source = -1;
    track->layer = 0;
    for (unsigned c = 0; c < track->curves; c++) {
        kf_curve *curve = &track->curve[c];
        curve->origin = NULL;
        for (size_t i = 0; i < curve->count; i++)
            curve->keys[i].time -= offset;
    }
}

/* The node that it comes to may have another rotation order in the original. */
static bool match_order(const kfi_merging *m, const kf_take *take, const kf_node *from, kf_track *track)
{
    const kf_node *to = &m->merged->nodes[track->node];
    const kf_capabilities *can = m->input->capabilities;
    if (track->channel != KF_ROTATION || track->curves != 3 || from->order == to->order ||
        kfi_turns_alike(track, (kf_rotation_order)from->order, (kf_rotation_order)to->order, m->input->tolerance))
        return true;
    return kfi_turn_order(m->job, track, (kf_rotation_order)from->order, (kf_rotation_order)to->order,
                          m->input->edited->frame_rate, m->input->tolerance) &&
           (can->frame_rate > 0 || can->quaternion ||
            kfi_note_order(m->job, take->name, to->name, (kf_rotation_order)from->order, (kf_rotation_order)to->order));
}

/* What is new in a take of those that are merged. */
typedef struct additions {
    const char *name; /* of the take, for the report */
    size_t first;     /* track; those before it were written */
} additions;

/* Numbers of TCB keys that travel as tracks of their own belong to what they are the numbers of, new as that is. */
static bool settle_new(kfi_merging *m, const additions *added)
{
    for (size_t t = 0; t < m->merged->take_count; t++) {
        kf_take *take = &m->merged->takes[t];
        if (!kfi_tcb_tracks_fold(m->job, m->merged, take, added[t].first))
            return false;
        for (size_t i = added[t].first; i < take->track_count; i++) {
            const kf_track *track = &take->tracks[i];
            kfi_addition *addition = kfi_push(m->job, &m->report->additions, &m->report->added, sizeof *addition);
            if (!addition)
                return false;
            *addition = (kfi_addition){.take = take->name,
                                       .node = m->merged->nodes[track->node].name,
                                       .name = track->name,
                                       .take_index = t,
                                       .takes = m->merged->take_count,
                                       .channel = track->channel,
                                       .change = m->report->change_count};
            m->report->tracks++;
            if (!kfi_merge_report_track(m, KFI_WHAT_ADDED, added[t].name, &take->tracks[i], ""))
                return false;
        }
    }
    return true;
}

static bool tells_numbers(const kf_track *track)
{
    kf_channel channel;
    const char *name;
    size_t length;
    unsigned number;
    return kfi_tcb_track_parse(track, &channel, &name, &length, &number);
}

bool kfi_merge_new(kfi_merging *m)
{
    const kf_anim *edited = m->input->edited;
    int64_t *nodes = kfi_alloc_raw(m->job, edited->node_count, sizeof *nodes);
    bool *moving = kfi_alloc(m->job, edited->node_count, sizeof *moving), *told = kfi_alloc(m->job, edited->node_count, sizeof *told);
    additions *added = kfi_alloc(m->job, m->merged->take_count + edited->take_count, sizeof *added);
    uint8_t *keyed = kfi_keyed_channels(m->job, m->input->written);
    kfi_actions actions;
    if (!nodes || !moving || !told || !added || !keyed || !kfi_actions_init(m, &actions))
        return false;
    for (size_t t = 0; t < m->merged->take_count; t++)
        added[t].first = m->merged->takes[t].track_count;
    for (size_t e = 0; e < edited->take_count; e++)
        for (size_t i = 0; i < edited->takes[e].track_count; i++) {
            const kf_track *track = &edited->takes[e].tracks[i];
            if (m->matches.node[track->node] < 0 && !moving[track->node])
                moving[track->node] = kfi_moves(&m->limits, track);
        }
    for (size_t i = 0; i < edited->node_count; i++) {
        int32_t written = m->matches.node[i];
        nodes[i] = written >= (int32_t)m->input->first_node ? written - (int32_t)m->input->first_node : -1;
    }
    for (size_t e = 0; e < edited->take_count; e++) {
        const kf_take *from = &edited->takes[e];
        int32_t written = m->matches.take[e];
        if (written < 0 && kfi_names_object(m->input, from->name)) {
            if (!kfi_actions_place(m, &actions, e, &written))
                return false;
            if (written < 0)
                continue;
        }
        const size_t fresh = m->merged->take_count;
        resting rests = {0};
        for (size_t i = 0; i < from->track_count; i++) {
            const kf_track *track = m->matches.instead[e][i] ? m->matches.instead[e][i] : &from->tracks[i];
            if (m->matches.scene == (int32_t)e)
                written = kfi_take_of(&m->matches, e, track->node);
            const char *name = written >= 0 ? m->input->written->takes[written].name : from->name;
            size_t take = written >= 0 ? (size_t)m->input->written->takes[written].source : fresh;
            bool wrapper = (int32_t)track->node == m->matches.wrapper;
            bool numbers = (written < 0 || m->matches.node[track->node] < 0) && tells_numbers(track); /* even if all are 0 */
            if (wrapper && kfi_moves(&m->limits, track) &&
                !kfi_warn(m->job, "wrapper", "take \"%.60s\", node \"%.60s\": the %s of the node above all others is not "
                                             "carried: move the nodes below it", from->name,
                          edited->nodes[track->node].name, kfi_channel_name((kf_channel)track->channel)))
                return false;
            if (m->matches.known[e][i] || wrapper || (kfi_programs_own(edited->nodes[track->node].name) && !kfi_moves(&m->limits, track)))
                continue;
            if (!numbers && idle(m, track, moving)) {
                if ((written < 0 || m->matches.node[track->node] < 0) && somebody_keyed(m, track)) {
                    told[track->node] = true;
                    if (rests.count++ == 0)
                        rests.first = track;
                }
                continue;
            }
            if (written >= 0 && just_a_pose(m, track)) {
                if (!tell_pose(m, name, track, keyed))
                    return false;
                continue;
            }
            if (track->layer != 0) {
                if (!warn_layer(m->job, edited, from, track))
                    return false;
                continue;
            }
            if (take == m->merged->take_count) {
                kf_take *made = kfi_add_take(m->job, m->merged, from->name);
                if (!made)
                    return false;
                made->start = from->start;
                made->end = from->end;
                made->source = -1;
            }
            int64_t node = merged_node(m, nodes, track->node);
            kf_track *to = node >= 0 ? kfi_push(m->job, &m->merged->takes[take].tracks,
                                                &m->merged->takes[take].track_count, sizeof *to)
                                     : NULL;
            if (!to)
                return false;
            *to = *track;
            to->node = (uint32_t)node;
            to_fresh(to, written >= 0 ? m->matches.offset[written] + m->input->shift[written] : 0);
            /* What was settled is in the original's order already. */
            if (!m->matches.instead[e][i] && !match_order(m, from, &edited->nodes[track->node], to))
                return false;
            added[take].name = name;
        }
        if (!tell_resting(m, from->name, &rests))
            return false;
    }
    return settle_new(m, added) && tell_still(m, nodes, told) && kfi_actions_tell(m, &actions);
}

bool kfi_merge_fresh(kf_job *job, const kf_anim *edited, const kf_capabilities *can, kf_anim *fresh)
{
    char digest[9];
    int32_t wrapper = kfi_find_wrapper(edited, digest);
    int32_t *number = kfi_alloc_raw(job, edited->node_count, sizeof *number);
    if (!number)
        return false;
    if (wrapper < 0 && !kfi_note(job, "axes", "the scene hangs below no node of ours that tells axes and unit: its numbers "
                                              "are taken as the game's own"))
        return false;
    *fresh = *edited;
    fresh->nodes = NULL;
    fresh->node_count = 0;
    for (size_t i = 0; i < edited->node_count; i++) {
        number[i] = -1;
        if ((int32_t)i == wrapper)
            continue;
        kf_node *node = kfi_push(job, &fresh->nodes, &fresh->node_count, sizeof *node);
        if (!node)
            return false;
        number[i] = (int32_t)fresh->node_count - 1;
        *node = edited->nodes[i];
        node->parent = node->parent >= 0 ? number[node->parent] : -1;
        node->source = -1;
        if (wrapper >= 0) /* names that we wrote, escapes and all */
            node->name = kfi_names_bytes(job, node->name);
        if (!node->name)
            return false;
    }
    if (!kfi_tell_unheard_fresh(job, edited, can, number))
        return false;
    fresh->takes = NULL;
    fresh->take_count = 0;
    for (size_t t = 0; t < edited->take_count; t++) {
        const kf_take *from = &edited->takes[t];
        const char *name = wrapper >= 0 ? kfi_names_bytes(job, from->name) : from->name;
        kf_take *take = name ? kfi_add_take(job, fresh, name) : NULL;
        if (!take)
            return false;
        take->start = from->start;
        take->end = from->end;
        take->source = -1;
        for (size_t i = 0; i < from->track_count; i++) {
            const kf_track *track = &from->tracks[i];
            if ((int32_t)track->node == wrapper)
                continue;
            if (track->layer != 0) {
                if (!warn_layer(job, edited, from, track))
                    return false;
                continue;
            }
            kf_track *to = kfi_push(job, &take->tracks, &take->track_count, sizeof *to);
            if (!to)
                return false;
            *to = *track;
            to->node = (uint32_t)number[track->node];
            to_fresh(to, 0);
            /* Below our wrapper the numbers are the game's, and so is the rule they were made for. */
            for (unsigned c = 0; wrapper >= 0 && c < to->curves; c++)
                to->curve[c].tcb_rule = KF_TCB_KOCHANEK;
        }
        if (!kfi_tcb_tracks_fold(job, fresh, take, 0))
            return false;
    }
    return kfi_tell_hidden(job, fresh);
}
