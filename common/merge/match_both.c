/* Two FBX files that were written alike: whether both are that still, but for their numbers. */
#include "internal.h"

static bool has_all_curves(const kf_track *was, const kf_track *back)
{
    bool all = back && back->curves == was->curves;
    for (unsigned c = 0; c < was->curves && all; c++)
        all = was->curve[c].count == 0 || back->curve[c].count > 0;
    return all;
}

/* Whether all that was written came back, where it was. */
static bool all_back(const kf_anim *written, const kfi_matches *m)
{
    bool all = m->scene < 0;
    for (size_t t = 0; t < written->take_count && all; t++) {
        all = m->offset[t] == 0;
        for (size_t i = 0; i < written->takes[t].track_count && all; i++)
            all = has_all_curves(&written->takes[t].tracks[i], m->track[t][i]);
    }
    return all;
}

/* And no more than that. */
static bool nothing_new(const kf_anim *edited, const kfi_matches *m)
{
    bool known = true;
    for (size_t i = 0; i < edited->node_count && known; i++)
        known = m->node[i] >= 0 || i == 0; /* that is the wrapper */
    for (size_t e = 0; e < edited->take_count && known; e++) {
        known = m->take[e] >= 0;
        for (size_t i = 0; i < edited->takes[e].track_count && known; i++)
            known = m->known[e][i];
    }
    return known;
}

/* Whether every node came back with the rotation order and the points that it was written with. */
static bool same_nodes(const kf_anim *written, const kf_anim *edited, const kfi_matches *m)
{
    bool same = true;
    for (size_t i = 0; i < written->node_count && same; i++) {
        const kf_node *was = &written->nodes[i], *now = m->back[i] >= 0 ? &edited->nodes[m->back[i]] : NULL;
        same = !now || now->order == was->order;
        if (was->mesh)
            same = same && now && now->mesh && now->mesh->point_count == was->mesh->point_count;
    }
    return same;
}

/* Whether an FBX is what was written, but for its numbers. What is said of its axes is said when it goes back. */
static bool match_numbers(kfi_merging *m, bool *simple)
{
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    kf_anim unwrapped;
    bool turned;
    size_t said = m->job->message_count;
    if (!kfi_match_turned(m, &unwrapped, &turned))
        return false;
    m->job->message_count = said;
    *simple = !turned && all_back(written, &m->matches) && same_nodes(written, edited, &m->matches);
    return true;
}

bool kfi_match_both(kfi_merging *m, const kf_anim *into, kfi_matches *other, bool *simple)
{
    kfi_merge from = *m->input;
    kfi_merging there = {.job = m->job, .input = &from};
    bool here = false;
    from.edited = into;
    *simple = false;
    if (!match_numbers(m, &here) || (here && !match_numbers(&there, simple)))
        return false;
    *other = there.matches;
    *simple = *simple && there.limits.exact == m->limits.exact && nothing_new(into, other);
    return true;
}
