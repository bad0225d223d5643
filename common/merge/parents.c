/* Nodes that hang below another one than they did: a game's file has its own order of nodes, or none, so it keeps their numbers, which
 * are those below the new one. Told, or what the new one adds to them would be lost in silence. */
#include "internal.h"

#include <string.h>

bool kfi_programs_own(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, "Armature") == 0 || (length > 4 && strcmp(name + length - 4, "_end") == 0) ||
           (length > 11 && strcmp(name + length - 11, "_GeomAdjust") == 0);
}

/* For each edited node whether it is somewhere else than its parent, in some frame. */
static bool *find_elsewhere(const kfi_merging *m)
{
    const kf_anim *edited = m->input->edited;
    bool *elsewhere = kfi_alloc(m->job, edited->node_count, sizeof *elsewhere);
    for (size_t i = 0; elsewhere && i < edited->node_count; i++) {
        const kf_transform *rest = &edited->nodes[i].rest;
        for (unsigned c = 0; c < 3; c++)
            elsewhere[i] = elsewhere[i] || !kfi_same_value(&m->limits, KF_TRANSLATION, rest->translation[c], 0) ||
                           !kfi_same_value(&m->limits, KF_ROTATION, rest->rotation[c], 0) ||
                           !kfi_same_value(&m->limits, KF_SCALE, rest->scale[c], 1);
    }
    for (size_t t = 0; elsewhere && t < edited->take_count; t++)
        for (size_t i = 0; i < edited->takes[t].track_count; i++) {
            const kf_track *track = &edited->takes[t].tracks[i];
            for (unsigned c = 0; track->channel <= KF_SCALE && c < track->curves && !elsewhere[track->node]; c++)
                for (size_t k = 0; k < track->curve[c].count && !elsewhere[track->node]; k++)
                    elsewhere[track->node] = !kfi_same_value(&m->limits, track->channel, track->curve[c].keys[k].value, track->channel == KF_SCALE);
        }
    return elsewhere;
}

/* A new node between a node and the one of ours that it hangs below, which moves it, or -1. */
static int32_t find_between(const kfi_merging *m, int32_t back, int32_t above, const bool *elsewhere)
{
    const kf_node *nodes = m->input->edited->nodes;
    for (int32_t at = nodes[back].parent; at >= 0 && at != above; at = nodes[at].parent)
        if (elsewhere[at] && !kfi_programs_own(nodes[at].name))
            return at;
    return -1;
}

bool kfi_tell_parents(const kfi_merging *m)
{
    const int32_t *back, first = (int32_t)m->input->first_node;
    const kf_anim *from = kfi_came_from(m, &back), *edited = m->input->edited;
    int32_t *number = from ? kfi_alloc_raw(m->job, edited->node_count, sizeof *number) : NULL; /* back's other way round */
    size_t moved = 0;
    const char *node = NULL, *below = NULL;
    bool *elsewhere = NULL, up_first = false;
    if (!number)
        return false;
    for (size_t i = 0; i < edited->node_count; i++)
        number[i] = -1;
    for (size_t i = 0; i < from->node_count; i++)
        if (back[i] >= 0)
            number[back[i]] = (int32_t)i;
    for (size_t i = m->input->first_node; i < from->node_count; i++) {
        if (back[i] < 0)
            continue;
        int32_t direct = edited->nodes[back[i]].parent, above = direct;
        while (above >= 0 && number[above] < 0) /* a program's own, or new */
            above = edited->nodes[above].parent;
        int32_t was = from->nodes[i].parent, now = above >= 0 ? number[above] : first - 1, between = -1;
        if (above >= 0 && direct != above) {
            if (!elsewhere && !(elsewhere = find_elsewhere(m)))
                return false;
            between = find_between(m, back[i], above, elsewhere);
        }
        bool other = now != was && now >= first, up = was >= first && now < first && back[was] >= 0;
        if ((!other && !up && between < 0) || moved++ > 0)
            continue;
        node = from->nodes[i].name;
        up_first = up;
        below = up ? from->nodes[was].name : between >= 0 ? edited->nodes[between].name : from->nodes[now].name;
    }
    return moved == 0 ||
           kfi_warn(m->job, "parent", "node \"%.60s\" %s \"%.60s\"%s (%zu such in all): the file keeps its own order of nodes, and its "
                                      "motion is taken as it is below the new one", node, up_first ? "no longer hangs below" : "hangs below", below, up_first ? "" : " now", moved);
}
