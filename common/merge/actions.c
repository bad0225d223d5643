/* Whose keys a take is that was not written. Blender 3.4 writes every animated object under every action, as
 * "Object|Action"; of these only those of an object's own action are real. Actions that we wrote are called "Node|Take",
 * those that Blender makes "NodeAction": the name tells whose it is. What it does not tell is not guessed, but told. */
#include "internal.h"
#include "names.h"

#include <string.h>

bool kfi_actions_init(kfi_merging *m, kfi_actions *a)
{
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    a->settled = kfi_alloc(m->job, edited->node_count, sizeof *a->settled);
    if (!a->settled || !kfi_map_init(&a->nodes, m->job, written->node_count + edited->node_count) ||
        !kfi_map_init(&a->told, m->job, edited->take_count))
        return false;
    for (size_t i = 0; i < written->node_count; i++)
        kfi_map_put(&a->nodes, written->nodes[i].name, 0);
    for (size_t i = 0; i < edited->node_count; i++)
        kfi_map_put(&a->nodes, edited->nodes[i].name, 0);
    /* New nodes that have a take of ours need no other. */
    for (size_t e = 0; e < edited->take_count; e++)
        for (size_t i = 0; m->matches.take[e] >= 0 && i < edited->takes[e].track_count; i++)
            a->settled[edited->takes[e].tracks[i].node] = true;
    return true;
}

/* Length of the longest node name that an action's begins with, or 0. */
static size_t owner_length(const kfi_actions *a, const char *action)
{
    enum { LONGEST = 256 }; /* Blender's own limit is 63 */
    size_t found = 0;
    for (size_t n = 1; n <= LONGEST && action[n - 1] != '\0'; n++) {
        bool end = action[n] == '\0' || action[n] == '|' || action[n] == '.' || strncmp(action + n, "Action", 6) == 0;
        if (end && kfi_map_get(&a->nodes, action, n) >= 0)
            found = n;
    }
    return found;
}

/* The action of a take that shows but one object, which is returned in `node`; or NULL. */
static const char *action_of(const kf_anim *edited, const kf_take *take, uint32_t *node)
{
    if (take->track_count == 0)
        return NULL;
    *node = take->tracks[0].node;
    for (size_t i = 1; i < take->track_count; i++)
        if (take->tracks[i].node != *node)
            return NULL;
    size_t length = strlen(edited->nodes[*node].name);
    bool its = strncmp(take->name, edited->nodes[*node].name, length) == 0 && take->name[length] == '|';
    return its ? take->name + length + 1 : NULL;
}

bool kfi_actions_place(kfi_merging *m, kfi_actions *a, size_t edited_take, int32_t *written)
{
    const kf_anim *edited = m->input->edited;
    const kf_take *take = &edited->takes[edited_take];
    uint32_t node = 0;
    const char *action = action_of(edited, take, &node);
    *written = -1;
    if (!action)
        return take->track_count == 0 ||
               kfi_warn(m->job, "action", "take \"%.120s\" is none that was written and is not carried", take->name);
    const char *name = edited->nodes[node].name;
    size_t owner = owner_length(a, action);
    if (owner == 0) {
        if (kfi_map_get(&a->told, action, strlen(action)) >= 0)
            return true;
        kfi_map_put(&a->told, action, 0);
        return kfi_warn(m->job, "action", "action \"%.60s\" is not carried, for its name does not tell whose it is: call it "
                                          "\"NODE|TAKE\"", action);
    }
    if (owner != strlen(name) || strncmp(action, name, owner) != 0)
        return true; /* another one's */
    if (m->matches.node[node] >= 0 || m->input->written->take_count != 1)
        return kfi_warn(m->job, "action", "node \"%.60s\": its action \"%.60s\" is none that was written and is not carried: "
                                          "call it \"%.60s|TAKE\"", name, action, name);
    if (a->settled[node])
        return kfi_warn(m->job, "action", "node \"%.60s\": its action \"%.60s\" is not carried: it has another one", name,
                        action);
    a->settled[node] = true;
    *written = 0;
    return kfi_warn(m->job, "action", "node \"%.60s\" is new: its keys start with the take, for the program writes every "
                                      "action from its first key on", name);
}

/* The first node that did not come back, of as many as `count` says. */
static const char *lost_node(const kfi_merging *m, size_t *count)
{
    const char *first = NULL;
    *count = 0;
    for (size_t i = m->input->first_node; i < m->input->written->node_count; i++) {
        if (m->matches.back[i] >= 0)
            continue;
        if (!first)
            first = m->input->written->nodes[i].name;
        ++*count;
    }
    return first;
}

bool kfi_actions_tell(kfi_merging *m, kfi_actions *a)
{
    const kf_anim *edited = m->input->edited;
    size_t lost = 0;
    const char *gone = lost_node(m, &lost);
    for (size_t e = 0; e < edited->take_count; e++) {
        uint32_t node = 0;
        if (m->matches.take[e] >= 0 || !action_of(edited, &edited->takes[e], &node) || m->matches.node[node] >= 0 ||
            a->settled[node] || (int32_t)node == m->matches.wrapper)
            continue;
        a->settled[node] = true;
        const char *name = edited->nodes[node].name;
        char *which = gone ? kfi_report_text(m->job, ". Node \"%.60s\"%s did not come back: if this is it, give it its name back",
                                             gone, lost > 1 ? " and others" : "")
                           : "";
        if (!which || !kfi_warn(m->job, "action", "node \"%.60s\" is new, and its keys are not carried, for no action is called "
                                                  "after it: call it \"%.60s|TAKE\"%s", name, name, which))
            return false;
    }
    return true;
}
