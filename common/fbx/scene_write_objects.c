#include "fbx/scene_write.h"

#include <math.h>
#include <string.h>

const char *kfi_node_type(const kf_node *node)
{
    if (node->mesh)
        return "Mesh";
    return node->kind == KF_NODE_BONE ? "LimbNode" : node->kind == KF_NODE_ROOT ? "Root" : "Null";
}

static void begin_object(kfi_tree *tree, const char *node, int64_t id, const char *class_name,
                         const char *name, const char *type)
{
    kfi_tree_begin(tree, node);
    kfi_tree_i64(tree, id);
    kfi_tree_name(tree, class_name, name);
    kfi_tree_text(tree, type);
}

/* ---------------------------------------------------------------- nodes */

/* What kind of thing a node is, as an object of its own. */
static void write_attribute(const kfi_scene_writer *w, size_t at)
{
    const kf_node *node = &w->anim->nodes[at];
    kfi_tree *tree = w->tree;
    begin_object(tree, "NodeAttribute", w->ids.attribute + (int64_t)at, "NodeAttribute", node->name,
                 kfi_node_type(node));
    kfi_tree_begin(tree, "TypeFlags");
    if (node->kind == KF_NODE_ROOT)
        kfi_tree_text(tree, "Null");
    kfi_tree_text(tree, node->kind == KF_NODE_BONE || node->kind == KF_NODE_ROOT ? "Skeleton" : "Null");
    if (node->kind == KF_NODE_ROOT)
        kfi_tree_text(tree, "Root");
    kfi_tree_end(tree);
    kfi_tree_end(tree);
}

static void write_model(kfi_scene_writer *w, size_t at)
{
    const kf_node *node = &w->anim->nodes[at];
    kfi_tree *tree = w->tree;
    begin_object(tree, "Model", w->ids.model + (int64_t)at, "Model", node->name, kfi_node_type(node));
    kfi_tree_i32_node(tree, "Version", 232);
    kfi_write_node_properties(w, at);
    kfi_tree_begin(tree, "Shading");
    kfi_tree_char(tree, 'T');
    kfi_tree_end(tree);
    kfi_tree_text_node(tree, "Culling", "CullingOff");
    kfi_tree_end(tree);
}

/* ---------------------------------------------------------------- meshes and shapes */

/* Numbers that are not finite are written as 0. */
static void write_doubles(const kfi_scene_writer *w, const char *name, const double *values, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++)
        /* NOLINTNEXTLINE: there are as many as the count says */
        finite = finite && isfinite(values[i]);
    for (size_t i = 0; i < count && !finite; i++)
        w->numbers[i] = isfinite(values[i]) ? values[i] : 0;
    kfi_tree_begin(w->tree, name);
    kfi_tree_f64_array(w->tree, finite ? values : w->numbers, count);
    kfi_tree_end(w->tree);
}

/* Points without polygons. */
static void write_geometry(const kfi_scene_writer *w, size_t at)
{
    const kf_node *node = &w->anim->nodes[at];
    kfi_tree *tree = w->tree;
    begin_object(tree, "Geometry", w->ids.geometry + (int64_t)at, "Geometry", node->name, "Mesh");
    write_doubles(w, "Vertices", node->mesh->points ? node->mesh->points[0] : NULL,
                  3 * node->mesh->point_count);
    kfi_tree_begin(tree, "PolygonVertexIndex");
    kfi_tree_i32_array(tree, NULL, 0);
    kfi_tree_end(tree);
    kfi_tree_i32_node(tree, "GeometryVersion", 124);
    kfi_tree_end(tree);
}

static void write_shape(const kfi_scene_writer *w, const kf_shape *shape, int64_t id)
{
    kfi_tree *tree = w->tree;
    begin_object(tree, "Geometry", id, "Geometry", shape->name, "Shape");
    kfi_tree_i32_node(tree, "Version", 100);
    for (size_t i = 0; i < shape->count; i++)
        w->indices[i] = (int32_t)(shape->index ? shape->index[i] : i);
    kfi_tree_begin(tree, "Indexes");
    kfi_tree_i32_array(tree, w->indices, shape->count);
    kfi_tree_end(tree);
    write_doubles(w, "Vertices", shape->offset ? shape->offset[0] : NULL, 3 * shape->count);
    memset(w->numbers, 0,
           3 * shape->count * sizeof *w->numbers); /* normals do not change, but programs want them */
    write_doubles(w, "Normals", w->numbers, 3 * shape->count);
    kfi_tree_end(tree);
}

static void write_channel(const kfi_scene_writer *w, const kf_shape *shape, int64_t id)
{
    static const double full = 100;
    kfi_tree *tree = w->tree;
    begin_object(tree, "Deformer", id, "SubDeformer", shape->name, "BlendShapeChannel");
    kfi_tree_i32_node(tree, "Version", 100);
    kfi_tree_f64_node(tree, "DeformPercent", 0);
    kfi_tree_begin(tree, "FullWeights");
    kfi_tree_f64_array(tree, &full, 1);
    kfi_tree_end(tree);
    kfi_tree_end(tree);
}

/* Blender cannot read a file with an empty shape: it gets an offset of nothing. */
static kf_shape filled(const kf_shape *shape, size_t points)
{
    static double nothing[1][3];
    kf_shape result = *shape;
    if (shape->count == 0 && points > 0) {
        result.index = NULL;
        result.offset = nothing;
        result.count = 1;
    }
    return result;
}

static void write_shapes(const kfi_scene_writer *w, size_t at, size_t *shape)
{
    const kf_mesh *mesh = w->anim->nodes[at].mesh;
    begin_object(w->tree, "Deformer", w->ids.deformer + (int64_t)at, "Deformer", w->anim->nodes[at].name,
                 "BlendShape");
    kfi_tree_i32_node(w->tree, "Version", 100);
    kfi_tree_end(w->tree);
    for (size_t i = 0; i < mesh->shape_count; i++, ++*shape) {
        write_channel(w, &mesh->shapes[i], w->ids.channel + (int64_t)*shape);
        kf_shape written = filled(&mesh->shapes[i], mesh->point_count);
        write_shape(w, &written, w->ids.shape + (int64_t)*shape);
    }
}

bool kfi_write_nodes(kfi_scene_writer *w)
{
    const kf_anim *anim = w->anim;
    size_t shape = 0;
    for (size_t i = 0; i < anim->node_count; i++) {
        if (anim->nodes[i].mesh)
            write_geometry(w, i);
        else
            write_attribute(w, i);
    }
    for (size_t i = 0; i < anim->node_count; i++)
        write_model(w, i);
    for (size_t i = 0; i < anim->node_count; i++)
        if (anim->nodes[i].mesh)
            write_shapes(w, i, &shape);
    return !kfi_failed(w->job) && !kfi_tree_failed(w->tree);
}
