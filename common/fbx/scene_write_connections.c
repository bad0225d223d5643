#include "fbx/scene_write.h"

/* What belongs to what: an object to an object (OO), or to an object's property (OP). */

static void object(kfi_tree *tree, int64_t child, int64_t parent)
{
    kfi_tree_begin(tree, "C");
    kfi_tree_text(tree, "OO");
    kfi_tree_i64(tree, child);
    kfi_tree_i64(tree, parent);
    kfi_tree_end(tree);
}

/* The property's name is still to be written. */
static void begin_property(kfi_tree *tree, int64_t child, int64_t parent)
{
    kfi_tree_begin(tree, "C");
    kfi_tree_text(tree, "OP");
    kfi_tree_i64(tree, child);
    kfi_tree_i64(tree, parent);
}

static void connect_nodes(kfi_scene_writer *w)
{
    const kf_anim *anim = w->anim;
    const kfi_fbx_ids *ids = &w->ids;
    kfi_tree *tree = w->tree;
    int64_t shape = 0;
    for (size_t i = 0; i < anim->node_count; i++) {
        const kf_node *node = &anim->nodes[i];
        int64_t at = (int64_t)i, model = ids->model + at;
        object(tree, model, node->parent < 0 ? 0 : ids->model + node->parent);
        if (!node->mesh) {
            object(tree, ids->attribute + at, model);
            continue;
        }
        object(tree, ids->geometry + at, model);
        object(tree, ids->deformer + at, ids->geometry + at);
        for (size_t k = 0; k < node->mesh->shape_count; k++, shape++) {
            object(tree, ids->channel + shape, ids->deformer + at);
            object(tree, ids->shape + shape, ids->channel + shape);
        }
    }
}

static void connect_track(kfi_scene_writer *w, const kf_track *track, size_t at, int64_t first_layer)
{
    const kfi_fbx_ids *ids = &w->ids;
    kfi_tree *tree = w->tree;
    int64_t node = ids->curve_node + (int64_t)at;
    object(tree, node, first_layer + track->layer);
    begin_property(tree, node, w->target[at]);
    kfi_tree_text(tree, kfi_track_property(track));
    kfi_tree_end(tree);
    for (unsigned c = 0; c < track->curves; c++) {
        if (track->curve[c].count == 0)
            continue;
        begin_property(tree, ids->curve + 3 * (int64_t)at + (int64_t)c, node);
        kfi_write_component(tree, track, c);
        kfi_tree_end(tree);
    }
}

void kfi_write_connections(kfi_scene_writer *w)
{
    const kf_anim *anim = w->anim;
    kfi_tree *tree = w->tree;
    kfi_tree_comment(tree, "Object connections");
    kfi_tree_begin(tree, "Connections");
    kfi_tree_braces(tree);
    connect_nodes(w);
    int64_t layer = w->ids.layer;
    size_t at = 0;
    for (size_t i = 0; i < anim->take_count; i++) {
        const kf_take *take = &anim->takes[i];
        for (size_t k = 0; k < take->layer_count; k++)
            object(tree, layer + (int64_t)k, w->ids.stack + (int64_t)i);
        for (size_t k = 0; k < take->track_count; k++, at++)
            if (w->target[at] != 0)
                connect_track(w, &take->tracks[k], at, layer);
        layer += (int64_t)take->layer_count;
    }
    kfi_tree_end(tree);
}
