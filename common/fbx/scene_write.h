/* What the parts of the scene writer share. Each writes one section of the file; the objects' numbers follow
 * from the animation alone, so that connections can be written without remembering any. */
#ifndef KFI_FBX_SCENE_WRITE_H
#define KFI_FBX_SCENE_WRITE_H

#include "anim.h"
#include "fbx/keys.h"
#include "fbx/tree.h"

/* The first number of each kind of object. Nodes, takes, tracks and so on count on from there in their order.
 */
typedef struct kfi_fbx_ids {
    int64_t document, model, attribute, geometry, deformer, channel, shape, stack, layer, curve_node, curve;
} kfi_fbx_ids;

typedef struct kfi_fbx_counts {
    size_t attributes, meshes, shapes, layers, tracks; /* tracks: all there are */
    size_t curve_nodes, curves;                        /* those that are written */
    size_t keys_max, morph_keys_max, points_max; /* of one curve, one morph's curve, one mesh or shape */
} kfi_fbx_counts;

typedef struct kfi_scene_writer {
    kf_job *job;
    const kf_anim *anim;
    kfi_tree *tree;
    kfi_fbx_ids ids;
    kfi_fbx_counts counts;
    /* For each track, all takes' one after the other: the object that it moves, 0 if it is not written; and
     * the next track of the same node. */
    int64_t *target;
    uint32_t *next_of_node;
    uint32_t *first_of_node; /* for each node */
    const kf_track **tracks;
    /* Room for the largest curve and shape there are. The sink may take memory from the job too, so nothing
     * can be given back while the file is being written. */
    kfi_fbx_keys keys;
    kf_curve percent;
    double *numbers;
    int32_t *indices;
    size_t curves_done;
} kfi_scene_writer;

#define KFI_NO_TRACK UINT32_MAX

/* scene_write.c */
bool kfi_write_from_fbx(const kf_anim *anim); /* nothing is to be decided any more */
bool kfi_write_animated(const kfi_scene_writer *w, size_t node, kf_channel channel);

/* scene_write_properties.c: lists of properties, P: name, type, sub type, flags, values... */
void kfi_write_p(kfi_tree *tree, const char *name, const char *type, const char *sub_type, const char *flags);
void kfi_write_p_int(kfi_tree *tree, const char *name, const char *type, const char *sub_type, int32_t value);
void kfi_write_p_double(kfi_tree *tree, const char *name, double value);
void kfi_write_p_number(kfi_tree *tree, const char *name, const char *flags, double value);
void kfi_write_p_vector(kfi_tree *tree, const char *name, const double value[3]);
void kfi_write_p_text(kfi_tree *tree, const char *name, const char *sub_type, const char *text);
void kfi_write_p_time(kfi_tree *tree, const char *name, double seconds);
/* The transform, what programs need to be told, the node's own properties, and those that tracks animate. */
void kfi_write_node_properties(kfi_scene_writer *w, size_t node);

/* scene_write_definitions.c */
void kfi_write_definitions(kfi_scene_writer *w);

/* scene_write_objects.c, scene_write_curves.c */
const char *kfi_node_type(const kf_node *node); /* "Null", "LimbNode", ... */
bool kfi_write_nodes(kfi_scene_writer *w);
bool kfi_write_takes(kfi_scene_writer *w);
/* What an AnimationCurveNode calls a component of its track: "d|X". */
void kfi_write_component(kfi_tree *tree, const kf_track *track, unsigned component);
const char *kfi_track_property(const kf_track *track); /* of the object that it moves */

/* scene_write_connections.c */
void kfi_write_connections(kfi_scene_writer *w);

#endif
