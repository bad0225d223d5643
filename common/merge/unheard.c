/* What an FBX plays that is not in the keys of its curves, and no game's file has room for: told, or it would be lost in silence. */
#include "internal.h"

#include <math.h>

static bool is_set(const kf_node *node, const char *name)
{
    const kf_property *property = kfi_property_named(node, name);
    for (size_t i = 0; property && i < property->value_count; i++)
        if (property->value[i] != 0)
            return true;
    return false;
}

const char *kfi_turned_beside(const kf_node *node)
{
    static const char *const NAMES[] = {"PreRotation", "PostRotation", "RotationPivot", "ScalingPivot", "RotationOffset", "ScalingOffset"};
    for (size_t i = is_set(node, "RotationActive") ? 0 : 2; i < sizeof NAMES / sizeof *NAMES; i++)
        if (is_set(node, NAMES[i]))
            return NAMES[i];
    return NULL;
}

/* The same, or how the points of its mesh lie beside it; NULL: as they are. */
static const char *lies_beside(const kf_node *node)
{
    const kf_property *size = node->mesh ? kfi_property_named(node, "GeometricScaling") : NULL;
    for (size_t i = 0; size && i < size->value_count; i++)
        if (size->value[i] != 1)
            return "GeometricScaling";
    return node->mesh && is_set(node, "GeometricTranslation") ? "GeometricTranslation"
           : node->mesh && is_set(node, "GeometricRotation")  ? "GeometricRotation"
                                                              : kfi_turned_beside(node);
}

/* Of pivots and turns alone; `number` is less than `first` for nodes that do not matter. */
static bool tell_pivots(kf_job *job, const kf_anim *edited, const int32_t *number, int32_t first)
{
    size_t count = 0;
    const char *node = NULL, *name = NULL;
    for (size_t i = 0; i < edited->node_count; i++) {
        const char *beside = number[i] >= first ? lies_beside(&edited->nodes[i]) : NULL;
        if (!beside)
            continue;
        if (count++ == 0) {
            node = edited->nodes[i].name;
            name = beside;
        }
    }
    return count == 0 ||
           kfi_warn(job, "pivot", "%zu nodes have turns or pivots beside their curves, which the format has no room for: the curves are "
                                  "taken as they are. Freeze or bake them (first: node \"%.60s\", %s)", count, node, name);
}

/* A curve that goes on before or after its keys; formats with a value a frame have that, too. */
static bool goes_on(const kf_curve *curve)
{
    return curve->count > 1 && (curve->pre != KF_CONSTANT || curve->post != KF_CONSTANT);
}

/* `number` is less than 0 for nodes that do not matter. */
static bool tell_endless(kf_job *job, const kf_anim *edited, const kf_capabilities *can, const int32_t *number)
{
    size_t count = 0;
    double time = 0;
    const char *take = NULL, *node = NULL, *channel = NULL;
    for (size_t e = 0; can->frame_rate == 0 && e < edited->take_count; e++)
        for (size_t i = 0; i < edited->takes[e].track_count; i++) {
            const kf_track *track = &edited->takes[e].tracks[i];
            for (unsigned c = 0; number[track->node] >= 0 && c < track->curves; c++) {
                const kf_curve *curve = &track->curve[c];
                if (!goes_on(curve) || count++ > 0)
                    continue;
                time = curve->keys[curve->post != KF_CONSTANT ? curve->count - 1 : 0].time;
                take = edited->takes[e].name;
                node = edited->nodes[track->node].name;
                channel = kfi_channel_name((kf_channel)track->channel);
            }
        }
    return count == 0 ||
           kfi_warn(job, "endless", "%zu curves go on before or after their keys, by cycles or slopes, where the game stands still: bake "
                                    "them to carry that (first: take \"%.60s\", node \"%.60s\", %s at %.4f s)",
                    count, take, node, channel, time);
}

/* Of layers above the first a warning says that they are not carried. */
static bool tell_layers(kf_job *job, const kf_anim *edited)
{
    for (size_t e = 0; e < edited->take_count; e++) {
        const kf_layer *layer = edited->takes[e].layer_count && edited->takes[e].track_count ? &edited->takes[e].layers[0] : NULL;
        bool muted = layer && layer->mute, light = layer && fabs(layer->weight - 1) > 1e-6;
        if ((muted || light) &&
            !kfi_warn(job, "layer-weight", "take \"%.60s\": its layer \"%.60s\" %s in the FBX: it is taken as if it played in full",
                      edited->takes[e].name, layer->name, muted ? "is muted" : "has not its full weight"))
            return false;
    }
    return true;
}

/* Which nodes have tracks of their own or have such nodes below them; and which have one that scales them. */
static void find_moving(const kf_anim *edited, bool *moving, bool *scaled)
{
    for (size_t e = 0; e < edited->take_count; e++)
        for (size_t i = 0; i < edited->takes[e].track_count; i++) {
            const kf_track *track = &edited->takes[e].tracks[i];
            moving[track->node] = true;
            scaled[track->node] = scaled[track->node] || track->channel == KF_SCALE;
        }
    for (size_t i = edited->node_count; i-- > 0;)
        if (moving[i] && edited->nodes[i].parent >= 0)
            moving[edited->nodes[i].parent] = true;
}

/* A size that stands in the scene, without keys, in formats that have none. `written`: nodes that are not new, whose poses are looked
 * at elsewhere; NULL: there are none. */
static bool tell_sizes(kf_job *job, const kf_anim *edited, const kf_capabilities *can, const int32_t *number, const int32_t *written)
{
    size_t count = 0;
    const kf_node *first = NULL;
    if (can->channels >> KF_SCALE & 1)
        return true;
    bool *moving = kfi_alloc(job, edited->node_count, sizeof *moving), *scaled = kfi_alloc(job, edited->node_count, sizeof *scaled);
    if (!moving || !scaled)
        return false;
    find_moving(edited, moving, scaled);
    for (size_t i = 0; i < edited->node_count; i++) {
        const double *size = edited->nodes[i].rest.scale;
        bool one = fabs(size[0] - 1) <= 1e-5 && fabs(size[1] - 1) <= 1e-5 && fabs(size[2] - 1) <= 1e-5;
        if (one || number[i] < 0 || (written && written[i] >= 0) || !moving[i] || scaled[i])
            continue;
        first = count++ ? first : &edited->nodes[i];
    }
    return count == 0 || kfi_warn(job, "size", "%zu nodes are scaled, which the format has nothing like: they and what hangs on them are "
                                               "taken in their own size (first: node \"%.60s\", %g %g %g)",
                                  count, first->name, first->rest.scale[0], first->rest.scale[1], first->rest.scale[2]);
}

/* A shape's weight that stands in the scene, without keys: a format of shapes on frames has those that keys bring in. */
static bool tell_weights(kf_job *job, const kf_anim *edited, const kf_capabilities *can, const int32_t *number)
{
    size_t count = 0;
    const char *node = NULL;
    const kf_shape *first = NULL;
    for (size_t i = 0; can->channels >> KF_MORPH & 1 && i < edited->node_count; i++) {
        const kf_mesh *mesh = number[i] >= 0 ? edited->nodes[i].mesh : NULL;
        for (size_t s = 0; mesh && s < mesh->shape_count; s++) {
            if (fabs(mesh->shapes[s].weight) <= 1e-4 || count++ > 0)
                continue;
            node = edited->nodes[i].name;
            first = &mesh->shapes[s];
        }
    }
    return count == 0 || kfi_warn(job, "weight", "%zu shapes stand at a weight without keys, which is not carried: give it a key (first: node "
                                                 "\"%.60s\", shape \"%.60s\", %g)", count, node, first->name, first->weight);
}

/* Which node of what was written each is; of new ones, which are none, those that move matter as well. */
static const int32_t *that_matter(const kfi_merging *m)
{
    const kf_anim *edited = m->input->edited;
    int32_t *number = kfi_alloc_raw(m->job, edited->node_count, sizeof *number);
    if (!number)
        return NULL;
    for (size_t i = 0; i < edited->node_count; i++)
        number[i] = m->matches.node[i];
    for (size_t e = 0; e < edited->take_count; e++)
        for (size_t i = 0; i < edited->takes[e].track_count; i++) {
            const kf_track *track = &edited->takes[e].tracks[i];
            if (number[track->node] < 0 && (int32_t)track->node != m->matches.wrapper && track->layer == 0 && kfi_moves(&m->limits, track) &&
                !kfi_programs_own(edited->nodes[track->node].name))
                number[track->node] = (int32_t)m->input->first_node;
        }
    return number;
}

bool kfi_tell_unheard(const kfi_merging *m)
{
    const int32_t *number = that_matter(m);
    return number && tell_pivots(m->job, m->input->edited, number, (int32_t)m->input->first_node) &&
           tell_endless(m->job, m->input->edited, m->input->capabilities, number) && tell_layers(m->job, m->input->edited) &&
           tell_sizes(m->job, m->input->edited, m->input->capabilities, number, m->matches.node);
}

bool kfi_tell_unheard_fresh(kf_job *job, const kf_anim *edited, const kf_capabilities *can, const int32_t *number)
{
    return tell_pivots(job, edited, number, 0) && tell_endless(job, edited, can, number) && tell_layers(job, edited) &&
           tell_sizes(job, edited, can, number, NULL) && tell_weights(job, edited, can, number);
}
