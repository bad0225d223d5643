#include "fbx/scene_read.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- kinds of objects */

static const char *kind_name(ufbx_element_type type)
{
    switch (type) {
    case UFBX_ELEMENT_MESH:
        return "polygons of meshes";
    case UFBX_ELEMENT_LIGHT:
        return "lights";
    case UFBX_ELEMENT_CAMERA:
    case UFBX_ELEMENT_STEREO_CAMERA:
    case UFBX_ELEMENT_CAMERA_SWITCHER:
        return "cameras";
    case UFBX_ELEMENT_LINE_CURVE:
    case UFBX_ELEMENT_NURBS_CURVE:
    case UFBX_ELEMENT_NURBS_SURFACE:
    case UFBX_ELEMENT_NURBS_TRIM_SURFACE:
    case UFBX_ELEMENT_NURBS_TRIM_BOUNDARY:
    case UFBX_ELEMENT_PROCEDURAL_GEOMETRY:
        return "curves and surfaces";
    case UFBX_ELEMENT_MARKER:
        return "markers";
    case UFBX_ELEMENT_LOD_GROUP:
        return "levels of detail";
    case UFBX_ELEMENT_SKIN_DEFORMER:
        return "skins";
    case UFBX_ELEMENT_CACHE_DEFORMER:
    case UFBX_ELEMENT_CACHE_FILE:
        return "point caches";
    case UFBX_ELEMENT_MATERIAL:
    case UFBX_ELEMENT_SHADER:
    case UFBX_ELEMENT_SHADER_BINDING:
        return "materials";
    case UFBX_ELEMENT_TEXTURE:
    case UFBX_ELEMENT_VIDEO:
        return "textures";
    case UFBX_ELEMENT_DISPLAY_LAYER:
        return "display layers";
    case UFBX_ELEMENT_SELECTION_SET:
    case UFBX_ELEMENT_SELECTION_NODE:
        return "selections";
    case UFBX_ELEMENT_CHARACTER:
        return "characters";
    case UFBX_ELEMENT_CONSTRAINT:
        return "constraints";
    case UFBX_ELEMENT_AUDIO_LAYER:
    case UFBX_ELEMENT_AUDIO_CLIP:
        return "sounds";
    case UFBX_ELEMENT_POSE:
        return "poses";
    case UFBX_ELEMENT_UNKNOWN:
    case UFBX_ELEMENT_METADATA_OBJECT:
        return "objects of other kinds";
    default:
        return NULL; /* nodes, bones, empties, blend shapes, animation */
    }
}

/* A mesh of points alone, as we write them for shapes, has nothing more to carry. */
static size_t count_kind(const ufbx_scene *scene, unsigned type)
{
    size_t count = scene->elements_by_type[type].count;
    for (size_t i = 0; type == UFBX_ELEMENT_MESH && i < scene->meshes.count; i++)
        count -= scene->meshes.data[i]->num_vertices > 0 && scene->meshes.data[i]->num_indices == 0;
    return count;
}

/* One sentence for all kinds. */
static bool note_kinds(kfi_fbx_reader *in)
{
    char text[400] = "";
    size_t length = 0;
    for (unsigned type = 0; type < UFBX_ELEMENT_TYPE_COUNT; type++) {
        const char *name = kind_name((ufbx_element_type)type);
        size_t count = count_kind(in->scene, type);
        for (unsigned other = 0; name && other < UFBX_ELEMENT_TYPE_COUNT; other++) {
            const char *same = other == type ? NULL : kind_name((ufbx_element_type)other);
            if (!same || strcmp(name, same) != 0) continue;
            count = other < type ? 0 : count + count_kind(in->scene, other);
            if (other < type) break;
        }
        if (!name || count == 0 || length >= sizeof text) continue;
        int more =
            snprintf(text + length, sizeof text - length, "%s%s (%zu)", length ? ", " : "", name, count);
        length += more > 0 ? (size_t)more : 0;
    }
    return length == 0 ||
           kfi_note(in->job, "not-carried", "nodes, shapes and their animation are carried; not: %s", text);
}

static bool pass_warnings(kfi_fbx_reader *in)
{
    const ufbx_warning_list *list = &in->scene->metadata.warnings;
    for (size_t i = 0; i < list->count; i++) {
        const ufbx_warning *warning = &list->data[i];
        bool ok = true;
        switch (warning->type) {
        case UFBX_WARNING_BAD_UNICODE:
            break; /* the bytes are kept */
        case UFBX_WARNING_UNSUPPORTED_VERSION:
        case UFBX_WARNING_DUPLICATE_OBJECT_ID:
        case UFBX_WARNING_TRUNCATED_ARRAY:
            ok = kfi_warn(in->job, "fbx-structure", "%s", warning->description.data);
            break;
        default:
            ok = kfi_note(in->job, "fbx-structure", "%s", warning->description.data);
            break;
        }
        if (!ok) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- loose ends */

static bool connects_to(const ufbx_element *element, ufbx_element_type type)
{
    for (size_t i = 0; i < element->connections_src.count; i++)
        if (element->connections_src.data[i].dst->type == type) return true;
    return false;
}

/* Animation that no take plays. */
static bool warn_of_loose_animation(kfi_fbx_reader *in)
{
    const ufbx_scene *scene = in->scene;
    for (size_t i = 0; i < scene->anim_layers.count; i++) {
        const ufbx_anim_layer *layer = scene->anim_layers.data[i];
        if (layer->anim_values.count > 0 && !connects_to(&layer->element, UFBX_ELEMENT_ANIM_STACK) &&
            !kfi_warn(in->job, "layer-without-take",
                      "animation layer \"%.100s\" belongs to no take and is not carried",
                      kfi_fbx_label(&layer->element)))
            return false;
    }
    size_t loose = 0;
    for (size_t i = 0; i < scene->anim_values.count; i++)
        loose += connects_to(&scene->anim_values.data[i]->element, UFBX_ELEMENT_ANIM_LAYER) ? 0 : 1;
    return loose == 0 || kfi_warn(in->job, "curve-without-layer",
                                  "%zu curve nodes belong to no layer and are not carried", loose);
}

/* Motion that is in no curve. */
static bool warn_of_constraints(kfi_fbx_reader *in)
{
    const ufbx_scene *scene = in->scene;
    size_t count = 0;
    const ufbx_constraint *first = NULL;
    for (size_t i = 0; i < scene->constraints.count; i++) {
        const ufbx_constraint *constraint = scene->constraints.data[i];
        if (!constraint->active || !constraint->node || constraint->weight == 0) continue;
        first = count++ ? first : constraint;
    }
    return count == 0 ||
           kfi_warn(in->job, "constraint",
                    "%zu constraints move nodes, which is not carried: bake them into keys (first: \"%.60s\", node \"%.60s\")",
                    count, kfi_fbx_label(&first->element), kfi_fbx_label(&first->node->element));
}

/* What users have typed on anything but a node. */
static bool note_user_properties(kfi_fbx_reader *in)
{
    const ufbx_scene *scene = in->scene;
    const ufbx_props *settings = &scene->settings.props;
    size_t count = 0;
    for (size_t i = 0; i < settings->props.count; i++)
        count += settings->props.data[i].flags & UFBX_PROP_FLAG_USER_DEFINED ? 1 : 0;
    for (size_t i = 0; i < scene->elements.count; i++) {
        const ufbx_element *element = scene->elements.data[i];
        for (size_t p = 0; element->type != UFBX_ELEMENT_NODE && p < element->props.props.count; p++)
            count += element->props.props.data[p].flags & UFBX_PROP_FLAG_USER_DEFINED ? 1 : 0;
    }
    return count == 0 || kfi_note(in->job, "user-properties",
                                  "%zu user properties of other objects than nodes are not carried", count);
}

bool kfi_fbx_note_left_out(kfi_fbx_reader *in)
{
    return note_kinds(in) && note_user_properties(in) && warn_of_constraints(in) && warn_of_loose_animation(in) && pass_warnings(in);
}
