#include "fbx/scene_read.h"

#include "names.h"

#include <string.h>

static bool read_points(kfi_fbx_reader *in, const ufbx_mesh *from, kf_mesh *mesh)
{
    mesh->points = kfi_alloc_raw(in->job, from->vertices.count, sizeof *mesh->points);
    if (!mesh->points) return false;
    mesh->point_count = from->vertices.count;
    for (size_t i = 0; i < mesh->point_count; i++) {
        mesh->points[i][0] = from->vertices.data[i].x;
        mesh->points[i][1] = from->vertices.data[i].y;
        mesh->points[i][2] = from->vertices.data[i].z;
    }
    return mesh->point_count == 0 ||
           kfi_fbx_mend(in, mesh->points[0], 3 * mesh->point_count, 0.0, "points", &from->element);
}

/* Offsets of points that the mesh does not have are left out. An index for each is kept only if they do not
 * simply follow each other from the first point on. */
static bool read_shape(kfi_fbx_reader *in, const ufbx_blend_shape *from, size_t points, kf_shape *shape)
{
    size_t count = from->num_offsets;
    shape->offset = kfi_alloc_raw(in->job, count, sizeof *shape->offset);
    shape->index = kfi_alloc_raw(in->job, count, sizeof *shape->index);
    if (!shape->offset || !shape->index) return false;
    bool in_order = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t point = from->offset_vertices.data[i];
        if (point >= points) continue;
        const ufbx_vec3 *offset = &from->position_offsets.data[i];
        in_order = in_order && point == shape->count;
        shape->index[shape->count] = point;
        shape->offset[shape->count][0] = offset->x;
        shape->offset[shape->count][1] = offset->y;
        shape->offset[shape->count][2] = offset->z;
        shape->count++;
    }
    if (in_order) shape->index = NULL;
    if (shape->count < count &&
        !kfi_warn(in->job, "shape-points",
                  "shape \"%.100s\": %zu of its %zu offsets are for points that are not there",
                  kfi_fbx_label(&from->element), count - shape->count, count))
        return false;
    return shape->count == 0 ||
           kfi_fbx_mend(in, shape->offset[0], 3 * shape->count, 0.0, "offsets", &from->element);
}

/* ---------------------------------------------------------------- names */

/* Tracks find their shape by its name, so the shapes of a mesh need different ones. False if this one is taken. */
static bool take_name(kfi_map *taken, const char *name)
{
    if (kfi_map_get(taken, name, strlen(name)) >= 0) return false;
    kfi_map_put(taken, name, 0);
    return true;
}

static const char *shape_name(kfi_fbx_reader *in, const ufbx_blend_channel *channel, kfi_map *taken)
{
    const char *name = kfi_fbx_name(in, channel->element.name);
    if (name && name[0] == '\0' && channel->target_shape)
        name = kfi_fbx_name(in, channel->target_shape->element.name);
    if (!name || take_name(taken, name)) return name;
    /* The channel's own number makes it unique, unless somebody has named a shape like that. */
    const char *other = name;
    do other = kfi_format_text(in->job, "%s.%u", other, (unsigned)channel->element.typed_id);
    while (other && !take_name(taken, other));
    if (!other ||
        !kfi_warn(in->job, "shape-renamed", "a second shape \"%.100s\" is called \"%.100s\"", name, other))
        return NULL;
    return other;
}

/* ---------------------------------------------------------------- meshes */

/* Whether the shape is to be in full at another weight than 100: FullWeights has a number for each shape of the channel. Blender puts
 * one for each point there, what its vertex group leaves of the shape. */
static bool is_weighted(const ufbx_blend_channel *channel)
{
    const ufbx_dom_node *full = channel->element.dom_node ? ufbx_dom_find(channel->element.dom_node, "FullWeights") : NULL;
    ufbx_real_list weights = full ? ufbx_dom_as_real_list(full) : (ufbx_real_list){0};
    for (size_t i = 0; i < weights.count; i++)
        if (weights.data[i] != 100.0) return true;
    return false;
}

static bool read_channel(kfi_fbx_reader *in, const ufbx_blend_channel *channel, uint32_t node, kfi_map *taken,
                         kf_mesh *mesh)
{
    kfi_fbx_morph *morph = &in->morphs[channel->element.typed_id];
    if (morph->known) return true; /* below two deformers */
    const char *name = shape_name(in, channel, taken);
    kf_shape *shape = name ? kfi_push(in->job, &mesh->shapes, &mesh->shape_count, sizeof *shape) : NULL;
    if (!shape) return false;
    shape->name = name;
    shape->weight = channel->weight;
    *morph = (kfi_fbx_morph){true, node, name, mesh->shape_count - 1};
    if (!kfi_fbx_mend(in, &shape->weight, 1, 0.0, "DeformPercent", &channel->element)) return false;
    if (channel->keyframes.count > 1 &&
        !kfi_warn(in->job, "in-between", "shape \"%.100s\": its %zu in-between shapes are not carried", name,
                  channel->keyframes.count - 1))
        return false;
    if (channel->keyframes.count == 1 && is_weighted(channel) &&
        !kfi_warn(in->job, "full-weights",
                  "node \"%.60s\", shape \"%.60s\": its full weight is not 100 everywhere (FullWeights, or a vertex "
                  "group), which is not carried: it is taken as a shape with the weight 100. Apply it to the shape",
                  in->anim->nodes[node].name, name))
        return false;
    return !channel->target_shape || read_shape(in, channel->target_shape, mesh->point_count, shape);
}

static bool read_mesh(kfi_fbx_reader *in, const ufbx_mesh *from, uint32_t node)
{
    kf_mesh *mesh = kfi_alloc(in->job, 1, sizeof *mesh);
    size_t channels = 0;
    for (size_t d = 0; d < from->blend_deformers.count; d++)
        channels += from->blend_deformers.data[d]->channels.count;
    kfi_map taken;
    if (!mesh || !kfi_map_init(&taken, in->job, channels) || !read_points(in, from, mesh)) return false;
    for (size_t d = 0; d < from->blend_deformers.count; d++) {
        const ufbx_blend_deformer *deformer = from->blend_deformers.data[d];
        for (size_t c = 0; c < deformer->channels.count; c++)
            if (!read_channel(in, deformer->channels.data[c], node, &taken, mesh)) return false;
    }
    in->anim->nodes[node].mesh = mesh;
    in->anim->nodes[node].kind = KF_NODE_MESH;
    return true;
}

bool kfi_fbx_read_meshes(kfi_fbx_reader *in)
{
    const ufbx_scene *scene = in->scene;
    in->morphs = kfi_alloc(in->job, scene->blend_channels.count, sizeof *in->morphs);
    if (!in->morphs) return false;
    for (size_t i = 0; i < scene->meshes.count; i++) {
        const ufbx_mesh *mesh = scene->meshes.data[i];
        if (mesh->blend_deformers.count == 0) continue;
        uint32_t node = KFI_FBX_NONE;
        for (size_t n = 0; n < mesh->element.instances.count; n++) {
            uint32_t index = in->node_index[mesh->element.instances.data[n]->element.typed_id];
            if (index < node && !in->anim->nodes[index].mesh) node = index;
        }
        if (node == KFI_FBX_NONE) {
            if (!kfi_warn(in->job, "mesh-without-node",
                          "mesh \"%.100s\" with blend shapes is on no node of its own",
                          kfi_fbx_label(&mesh->element)))
                return false;
            continue;
        }
        if (mesh->element.instances.count > 1 &&
            !kfi_warn(
                in->job, "instance", "mesh \"%.100s\" is on %zu nodes; its shapes are kept on \"%.100s\"",
                kfi_fbx_label(&mesh->element), mesh->element.instances.count, in->anim->nodes[node].name))
            return false;
        if (!read_mesh(in, mesh, node)) return false;
    }
    return true;
}
