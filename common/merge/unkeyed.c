/* What stands in an FBX otherwise than it was written, without keys: poses, hidden nodes, points of a mesh outside its shapes, new
 * shapes. A game's file has room for what keys say, so nothing of this is carried: told, or it would be lost in silence.
 *
 * Programs leave the pose of some frame in a node's own transform. So that tells something only of a channel that has no keys at
 * all: neither in any take that was written, nor in any that came back. */
#include "internal.h"

#include <math.h>
#include <string.h>

/* The shapes of a mesh that came back, by name, and which of them were written or have keys. */
typedef struct kfi_shapes {
    kfi_map map;
    bool *known;
} kfi_shapes;

/* A node that came back. */
typedef struct kfi_standing {
    const kf_node *was; /* as it was written; NULL: it was not */
    uint8_t keyed, now_keyed; /* a bit for each channel that had keys in some take or has them now; and that has them now */
    bool hides; /* it was written with keys that hide it */
    double reach; /* how far away the world's origin may be in what is below it: programs' numbers are off by a part of that */
    kfi_shapes *shapes; /* if some are new */
} kfi_standing;

uint8_t *kfi_keyed_channels(kf_job *job, const kf_anim *anim)
{
    uint8_t *keyed = kfi_alloc(job, anim->node_count, sizeof *keyed);
    for (size_t t = 0; keyed && t < anim->take_count; t++)
        for (size_t i = 0; i < anim->takes[t].track_count; i++) {
            const kf_track *track = &anim->takes[t].tracks[i];
            if (kfi_track_keys(track) > 0)
                keyed[track->node] |= (uint8_t)(1U << track->channel);
        }
    return keyed;
}

static bool hides(const kf_track *track)
{
    bool hidden = false;
    for (size_t i = 0; track->channel == KF_VISIBILITY && i < track->curve[0].count; i++)
        hidden = hidden || track->curve[0].keys[i].value < 0.5;
    return hidden;
}

const kf_anim *kfi_came_from(const kfi_merging *m, const int32_t **edited)
{
    const kf_anim *came = m->input->came, *written = m->input->written;
    kfi_map map;
    *edited = m->matches.back;
    if (!came)
        return written;
    int32_t *back = kfi_alloc_raw(m->job, came->node_count, sizeof *back);
    if (!back || !kfi_map_init(&map, m->job, written->node_count))
        return NULL;
    for (size_t i = 0; i < written->node_count; i++)
        kfi_map_put(&map, written->nodes[i].name, (uint32_t)i);
    for (size_t i = 0; i < came->node_count; i++) {
        int64_t found = kfi_map_get(&map, came->nodes[i].name, strlen(came->nodes[i].name));
        back[i] = found >= 0 ? m->matches.back[found] : -1;
    }
    *edited = back;
    return came;
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static kfi_standing *gather(const kfi_merging *m)
{
    const int32_t *back;
    const kf_anim *edited = m->input->edited, *from = kfi_came_from(m, &back);
    const uint8_t *before = from ? kfi_keyed_channels(m->job, from) : NULL, *now = before ? kfi_keyed_channels(m->job, edited) : NULL;
    kfi_standing *nodes = now ? kfi_alloc(m->job, edited->node_count, sizeof *nodes) : NULL;
    if (!nodes)
        return NULL;
    for (size_t i = 0; i < edited->node_count; i++) {
        const kf_node *node = &edited->nodes[i];
        const double *s = node->rest.scale;
        double least = fmin(fabs(s[0]), fmin(fabs(s[1]), fabs(s[2])));
        nodes[i].keyed = nodes[i].now_keyed = now[i];
        nodes[i].reach = ((node->parent >= 0 ? nodes[node->parent].reach : 0) + length(node->rest.translation)) / fmax(least, 1e-9);
    }
    for (size_t i = m->input->first_node; i < from->node_count; i++)
        if (back[i] >= 0) {
            nodes[back[i]].was = &from->nodes[i];
            nodes[back[i]].keyed |= before[i];
        }
    for (size_t t = 0; t < from->take_count; t++)
        for (size_t i = 0; i < from->takes[t].track_count; i++) {
            const kf_track *track = &from->takes[t].tracks[i];
            if (back[track->node] >= 0 && hides(track))
                nodes[back[track->node]].hides = true;
        }
    return nodes;
}

/* ---------------------------------------------------------------- poses */

static bool same_numbers(const kfi_limits *limits, unsigned channel, const double a[3], const double b[3], double far)
{
    const double noticed = 1e-3; /* who moves a node means more than that */
    double limit = limits->exact ? 0 : fmax(limits->relative * far, channel == KF_TRANSLATION ? noticed : 0);
    bool same = true;
    for (unsigned c = 0; c < 3; c++)
        same = same && (kfi_same_value(limits, channel, a[c], b[c]) || fabs(a[c] - b[c]) <= limit);
    return same;
}

/* A program that tells a mirrored scale by other signs turns the node half round with that; and one of nothing leaves no rotation. */
static bool same_turn(const kfi_limits *limits, const kf_node *was, const kf_node *now)
{
    const double *s = now->rest.scale;
    const double least = fmin(s[0], fmin(s[1], s[2])), limit = fmax(limits->value[KF_ROTATION], 1e-4);
    double p[4], q[4];
    kfi_quat_from_euler(was->rest.rotation, (kf_rotation_order)was->order, p);
    kfi_quat_from_euler(now->rest.rotation, (kf_rotation_order)now->order, q);
    bool same = kfi_quat_angle(p, q) <= limit;
    for (unsigned axis = 1; axis < 4 && least < 0; axis++) {
        double half[4] = {0, 0, 0, 0}, turned[4];
        half[axis] = 1;
        kfi_quat_multiply(p, half, turned);
        same = same || kfi_quat_angle(turned, q) <= limit;
    }
    return same || fabs(s[0] * s[1] * s[2]) < 1e-9;
}

static bool same_pose(const kfi_merging *m, const kf_node *was, const kf_node *now, unsigned channel, double far)
{
    const double *a = kfi_rest_of(was, channel), *b = kfi_rest_of(now, channel);
    if (channel == KF_ROTATION)
        return (was->order == now->order && same_numbers(&m->limits, channel, a, b, 0)) || same_turn(&m->limits, was, now);
    return same_numbers(&m->limits, channel, a, b, channel == KF_TRANSLATION ? far : 0);
}

static bool tell_poses(const kfi_merging *m, const kfi_standing *nodes)
{
    static const char *const done[] = {"moved", "turned", "scaled"};
    const kf_anim *edited = m->input->edited;
    for (size_t i = 0; i < edited->node_count; i++) {
        const kf_node *was = nodes[i].was, *now = &edited->nodes[i];
        double far = now->parent >= 0 ? nodes[now->parent].reach : 0;
        if (!was || kfi_turned_beside(now)) /* that is told, and its angles are other ones by that */
            continue;
        for (unsigned channel = 0; channel <= KF_SCALE; channel++)
            if (!(nodes[i].keyed >> channel & 1) && !same_pose(m, was, now, channel, far) &&
                !kfi_warn(m->job, "pose", "node \"%.60s\": it was %s without keys, and a pose is not carried: set keys on its %s to carry it",
                          now->name, done[channel], kfi_channel_name((kf_channel)channel)))
                return false;
    }
    return true;
}

/* ---------------------------------------------------------------- hidden nodes */

static bool is_hidden(const kf_node *node)
{
    const kf_property *seen = kfi_property_named(node, "Visibility"), *shown = kfi_property_named(node, "Show");
    return (seen && seen->value_count && seen->value[0] == 0) || (shown && shown->value_count && shown->value[0] == 0);
}

static bool tell_hidden(kf_job *job, const kf_node *node)
{
    return kfi_warn(job, "hidden", "node \"%.60s\": it is hidden without keys, which is not carried: the game will show it. Set keys on its "
                                   "visibility, if the format has any", node->name);
}

bool kfi_tell_hidden(kf_job *job, const kf_anim *fresh)
{
    const uint8_t *keyed = kfi_keyed_channels(job, fresh);
    for (size_t i = 0; keyed && i < fresh->node_count; i++)
        if (!(keyed[i] >> KF_VISIBILITY & 1) && is_hidden(&fresh->nodes[i]) && !tell_hidden(job, &fresh->nodes[i]))
            return false;
    return keyed != NULL;
}

/* ---------------------------------------------------------------- meshes */

static bool tell_points(const kfi_merging *m, const kf_node *was, const kf_node *now)
{
    size_t moved = 0;
    for (size_t i = 0; was->mesh->point_count == now->mesh->point_count && i < now->mesh->point_count; i++)
        moved += !kfi_same_point(was->mesh->points[i], now->mesh->points[i]);
    return moved == 0 ||
           kfi_warn(m->job, "mesh-points", "node \"%.60s\": %zu points of its mesh were moved, which is not carried, only the shapes' are: "
                                           "move them in the shapes instead", now->name, moved);
}

/* The shapes of a mesh that were not written are marked; none: `shapes` stays NULL. */
static bool find_new(const kfi_merging *m, const kf_mesh *was, const kf_mesh *now, kfi_shapes **shapes)
{
    size_t count = now->shape_count, found = 0;
    kfi_shapes *all = kfi_alloc(m->job, 1, sizeof *all);
    if (!all || !(all->known = kfi_alloc(m->job, count, sizeof *all->known)) || !kfi_map_init(&all->map, m->job, count))
        return false;
    for (size_t s = 0; s < count; s++)
        kfi_map_put(&all->map, now->shapes[s].name, (uint32_t)s);
    for (size_t s = 0; s < was->shape_count; s++) {
        int64_t at = kfi_map_get(&all->map, was->shapes[s].name, strlen(was->shapes[s].name));
        if (at >= 0)
            all->known[at] = true;
    }
    for (size_t s = 0; s < count; s++)
        found += !all->known[s];
    *shapes = found ? all : NULL;
    return true;
}

/* New shapes that no take gives a weight. */
static bool tell_shapes(const kfi_merging *m, const kfi_standing *nodes)
{
    const kf_anim *edited = m->input->edited;
    for (size_t t = 0; t < edited->take_count; t++)
        for (size_t i = 0; i < edited->takes[t].track_count; i++) {
            const kf_track *track = &edited->takes[t].tracks[i];
            const kfi_shapes *shapes = track->channel == KF_MORPH && track->name && kfi_track_keys(track) > 0 ? nodes[track->node].shapes : NULL;
            int64_t at = shapes ? kfi_map_get(&shapes->map, track->name, strlen(track->name)) : -1;
            if (at >= 0)
                shapes->known[at] = true;
        }
    for (size_t i = 0; i < edited->node_count; i++) {
        const kf_mesh *mesh = edited->nodes[i].mesh;
        for (size_t s = 0; nodes[i].shapes && s < mesh->shape_count; s++)
            if (!nodes[i].shapes->known[s] &&
                !kfi_warn(m->job, "shape", "node \"%.60s\": its shape \"%.60s\" is new and has no keys, so it is not carried: set keys on "
                                           "its weight", edited->nodes[i].name, mesh->shapes[s].name))
                return false;
    }
    return true;
}

bool kfi_tell_unkeyed(const kfi_merging *m)
{
    const kf_anim *edited = m->input->edited;
    kfi_standing *nodes = gather(m);
    bool new_shapes = false;
    if (!nodes || !tell_poses(m, nodes))
        return false;
    for (size_t i = 0; i < edited->node_count; i++) {
        const kf_node *was = nodes[i].was, *now = &edited->nodes[i];
        bool keyed = nodes[i].now_keyed >> KF_VISIBILITY & 1;
        if (!was)
            continue;
        if (is_hidden(now) && !keyed && !nodes[i].hides && !tell_hidden(m->job, now))
            return false;
        if (!was->mesh || !now->mesh)
            continue;
        if (!tell_points(m, was, now) || !find_new(m, was->mesh, now->mesh, &nodes[i].shapes))
            return false;
        new_shapes = new_shapes || nodes[i].shapes;
    }
    return !new_shapes || tell_shapes(m, nodes);
}
