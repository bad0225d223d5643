#include "fbx/scene_read.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- which track a curve node is */

/* One AnimationCurveNode and the property it drives. */
typedef struct target {
    const ufbx_anim_prop *prop;
    uint32_t node;
    kf_channel channel;
    const char *name; /* of morphs; NULL for others */
    size_t shape;     /* of these, too */
} target;

static bool same(ufbx_string a, const char *b)
{
    return a.length == strlen(b) && memcmp(a.data, b, a.length) == 0;
}

static const char *element_kind(const ufbx_element *element)
{
    switch (element->type) {
    case UFBX_ELEMENT_NODE:
        return "node";
    case UFBX_ELEMENT_MESH:
        return "mesh";
    case UFBX_ELEMENT_LIGHT:
        return "light";
    case UFBX_ELEMENT_CAMERA:
        return "camera";
    case UFBX_ELEMENT_BONE:
        return "bone attribute";
    case UFBX_ELEMENT_BLEND_CHANNEL:
        return "shape";
    case UFBX_ELEMENT_MATERIAL:
        return "material";
    case UFBX_ELEMENT_TEXTURE:
        return "texture";
    case UFBX_ELEMENT_CONSTRAINT:
        return "constraint";
    case UFBX_ELEMENT_ANIM_LAYER:
        return "animation layer";
    default:
        return "object";
    }
}

/* Up to version 7100 the weight of a shape is a property of the mesh, called like the shape. Blender writes
 * that too, beside the newer way. */
static const ufbx_blend_channel *channel_of_mesh(const ufbx_mesh *mesh, ufbx_string name)
{
    for (size_t d = 0; d < mesh->blend_deformers.count; d++) {
        const ufbx_blend_channel_list *channels = &mesh->blend_deformers.data[d]->channels;
        for (size_t c = 0; c < channels->count; c++)
            if (same(name, channels->data[c]->element.name.data)) return channels->data[c];
    }
    return NULL;
}

/* A copy of a shape's animation for programs that know the older way only. */
static bool is_copy(const kfi_fbx_reader *in, const ufbx_anim_prop *prop)
{
    return in->scene->metadata.version >= 7200 && prop->element->type == UFBX_ELEMENT_MESH &&
           channel_of_mesh(ufbx_as_mesh(prop->element), prop->prop_name);
}

/* False: nothing that an animation carries. */
static bool resolve(const kfi_fbx_reader *in, const ufbx_anim_prop *prop, target *to)
{
    *to = (target){.prop = prop};
    const ufbx_blend_channel *channel = NULL;
    if (prop->element->type == UFBX_ELEMENT_NODE) {
        to->node = in->node_index[prop->element->typed_id];
        to->channel = same(prop->prop_name, "Lcl Translation") ? KF_TRANSLATION
                      : same(prop->prop_name, "Lcl Rotation")  ? KF_ROTATION
                      : same(prop->prop_name, "Lcl Scaling")   ? KF_SCALE
                      : same(prop->prop_name, "Visibility")    ? KF_VISIBILITY
                                                               : KF_CUSTOM;
        return to->node != KFI_FBX_NONE;
    }
    if (prop->element->type == UFBX_ELEMENT_BLEND_CHANNEL && same(prop->prop_name, "DeformPercent"))
        channel = ufbx_as_blend_channel(prop->element);
    else if (prop->element->type == UFBX_ELEMENT_MESH && in->scene->metadata.version < 7200)
        channel = channel_of_mesh(ufbx_as_mesh(prop->element), prop->prop_name);
    if (!channel || !in->morphs[channel->element.typed_id].known) return false;
    const kfi_fbx_morph *morph = &in->morphs[channel->element.typed_id];
    to->channel = KF_MORPH;
    to->node = morph->node;
    to->name = morph->name;
    to->shape = morph->shape;
    return true;
}

/* By node, then channel, then place in the file: so a file that was written from the result reads back in the
 * same order. */
static int by_place(const void *left, const void *right)
{
    const target *a = left, *b = right;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    if (a->channel != b->channel) return a->channel < b->channel ? -1 : 1;
    uint32_t id_a = a->prop->anim_value->element.element_id, id_b = b->prop->anim_value->element.element_id;
    if (id_a != id_b) return id_a < id_b ? -1 : 1;
    return a->prop < b->prop ? -1 : a->prop > b->prop;
}

/* ---------------------------------------------------------------- curve nodes
 *
 * An AnimationCurveNode has a property "d|X" for each component, with the value that holds where no curve is
 * connected to it; of a single number it is "d|" and the property's name. */

typedef struct component {
    const ufbx_anim_curve *curve;
    double rest;
    bool stated; /* the curve node says the rest itself */
} component;

enum { COMPONENTS_MAX = 3, PROPERTIES_MAX = 64 };

/* Without "d|", which 6.x files leave out. */
static ufbx_string component_name(ufbx_string name)
{
    if (name.length > 2 && memcmp(name.data, "d|", 2) == 0)
        return (ufbx_string){name.data + 2, name.length - 2};
    return name;
}

/* X, Y, Z by their letter; others as the curve node lists them. COMPONENTS_MAX if it is none. */
static size_t component_index(const ufbx_anim_value *value, ufbx_string name)
{
    ufbx_string letter = component_name(name);
    if (letter.length == 1 && letter.data[0] >= 'X' && letter.data[0] <= 'Z')
        return (size_t)(letter.data[0] - 'X');
    const ufbx_dom_node *list =
        value->element.dom_node ? ufbx_dom_find(value->element.dom_node, "Properties70") : NULL;
    size_t index = 0;
    for (size_t i = 0; list && i < list->children.count && i < PROPERTIES_MAX && index < COMPONENTS_MAX;
         i++) {
        const ufbx_dom_node *p = list->children.data[i];
        if (p->values.count == 0 || p->values.data[0].value_blob.size < 3 ||
            memcmp(p->values.data[0].value_blob.data, "d|", 2) != 0)
            continue;
        if (p->values.data[0].value_blob.size == name.length &&
            memcmp(p->values.data[0].value_blob.data, name.data, name.length) == 0)
            return index;
        index++;
    }
    return index == 0 ? 0 : COMPONENTS_MAX; /* nothing listed: the only one */
}

/* How many components there are; those beyond COMPONENTS_MAX are counted in `lost`. */
static size_t read_components(const ufbx_anim_value *value, component components[COMPONENTS_MAX],
                              size_t *lost)
{
    size_t count = 0;
    *lost = 0;
    for (size_t i = 0; i < COMPONENTS_MAX; i++)
        components[i] = (component){.rest = value->default_value.v[i]}; /* what 6.x files state */
    for (size_t i = 0; i < value->element.props.props.count; i++) {
        const ufbx_prop *prop = &value->element.props.props.data[i];
        if (prop->name.length < 3 || memcmp(prop->name.data, "d|", 2) != 0) continue;
        size_t at = component_index(value, prop->name);
        if (at == COMPONENTS_MAX) {
            (*lost)++;
            continue;
        }
        components[at].rest = prop->value_real;
        components[at].stated = true;
        count = at >= count ? at + 1 : count;
    }
    for (size_t i = 0; i < value->element.connections_dst.count; i++) {
        const ufbx_connection *connection = &value->element.connections_dst.data[i];
        if (connection->src->type != UFBX_ELEMENT_ANIM_CURVE || connection->src_prop.length > 0) continue;
        size_t at = component_index(value, connection->dst_prop);
        if (at == COMPONENTS_MAX || components[at].curve) {
            (*lost)++;
            continue;
        }
        components[at].curve = ufbx_as_anim_curve(connection->src);
        count = at >= count ? at + 1 : count;
    }
    return count > 0 ? count : 1;
}

/* ---------------------------------------------------------------- tracks */

/* Where the curve node does not say what holds, the node does. */
static double rest_of_node(const kf_node *node, kf_channel channel, size_t i)
{
    switch (channel) {
    case KF_TRANSLATION:
        return node->rest.translation[i];
    case KF_ROTATION:
        return node->rest.rotation[i];
    case KF_SCALE:
        return node->rest.scale[i];
    case KF_VISIBILITY:
        return 1.0;
    default:
        return 0.0;
    }
}

static void scale_curve(kf_curve *curve, double factor)
{
    for (size_t i = 0; i < curve->count; i++) {
        curve->keys[i].value /= factor;
        curve->handles[i].in.dv /= factor;
        curve->handles[i].out.dv /= factor;
    }
}

static bool read_track(kfi_fbx_reader *in, kf_take *take, uint32_t layer, const target *from)
{
    const ufbx_anim_value *value = from->prop->anim_value;
    const char *node_name = in->anim->nodes[from->node].name;
    component components[COMPONENTS_MAX];
    size_t lost, count = read_components(value, components, &lost);
    if (from->channel <= KF_SCALE) count = 3;
    if (from->channel == KF_VISIBILITY || from->channel == KF_MORPH) {
        lost += count - 1;
        count = 1;
    }
    if (lost > 0 && !kfi_warn(in->job, "curves-lost",
                              "take \"%.80s\", node \"%.80s\", %.80s: %zu components are not carried",
                              take->name, node_name, from->prop->prop_name.data, lost))
        return false;

    kf_track *track = kfi_add_track(in->job, take, from->node, from->channel, (unsigned)count);
    if (!track) return false;
    track->layer = layer;
    track->name = from->name;
    if (from->channel == KF_CUSTOM) track->name = kfi_fbx_name(in, from->prop->prop_name);
    if (from->channel == KF_CUSTOM && !track->name) return false;
    for (size_t i = 0; i < count; i++) {
        kfi_fbx_place place = {take->name, node_name, from->prop->prop_name.data,
                               count == 1 ? ""
                               : i == 0   ? ".x"
                               : i == 1   ? ".y"
                                          : ".z"};
        double fallback = rest_of_node(&in->anim->nodes[from->node], from->channel, i);
        bool legacy = !value->element.dom_node || in->scene->metadata.version < 7000;
        track->rest[i] = components[i].stated || legacy ? components[i].rest : fallback;
        if (!kfi_fbx_mend(in, &track->rest[i], 1, fallback, place.property, from->prop->element))
            return false;
        double curves = (double)in->scene->anim_curves.count;
        if (components[i].curve && !kfi_fbx_report(in, 0.5 + 0.5 * (double)in->curves_read++ / curves))
            return false;
        if (components[i].curve && !kfi_fbx_read_curve(in, components[i].curve, &place, &track->curve[i]))
            return false;
        if (from->channel == KF_MORPH) { /* per cent in the file */
            track->rest[i] /= 100.0;
            scale_curve(&track->curve[i], 100.0);
            if (track->curve[i].count)
                in->anim->nodes[from->node].mesh->shapes[from->shape].weight = 0;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- layers and takes */

static bool say_left_out(kfi_fbx_reader *in, const kf_take *take, const ufbx_anim_prop *prop, const char *why)
{
    return kfi_warn(in->job, "animation-not-carried",
                    "take \"%.80s\": the animation of %.80s of %s \"%.80s\" is not carried%s", take->name,
                    prop->prop_name.data, element_kind(prop->element), kfi_fbx_label(prop->element), why);
}

/* ufbx sorts by object and property, so that two curve nodes for one property stand together: the first in
 * the file counts. */
static bool read_tracks(kfi_fbx_reader *in, kf_take *take, uint32_t layer, const ufbx_anim_layer *from)
{
    size_t count = 0;
    target *targets = kfi_alloc_raw(in->job, from->anim_props.count, sizeof *targets);
    if (!targets) return false;
    const ufbx_anim_prop *before = NULL;
    for (size_t i = 0; i < from->anim_props.count; i++) {
        const ufbx_anim_prop *prop = &from->anim_props.data[i];
        if (is_copy(in, prop)) continue;
        if (!resolve(in, prop, &targets[count])) {
            if (!say_left_out(in, take, prop, "")) return false;
            continue;
        }
        bool again =
            before && before->element == prop->element && same(prop->prop_name, before->prop_name.data);
        before = prop;
        if (again) {
            const ufbx_anim_prop *kept = targets[count - 1].prop;
            if (prop->anim_value->element.element_id < kept->anim_value->element.element_id)
                targets[count - 1] = targets[count];
            if (!say_left_out(in, take, prop, ": it has another curve node")) return false;
            continue;
        }
        count++;
    }
    qsort(targets, count, sizeof *targets, by_place);
    for (size_t i = 0; i < count; i++)
        if (!read_track(in, take, layer, &targets[i])) return false;
    return true;
}

static bool read_layer(kfi_fbx_reader *in, kf_take *take, const ufbx_anim_layer *from)
{
    const ufbx_props *props = &from->element.props;
    const char *name = kfi_fbx_name(in, from->element.name);
    kf_layer *layer = name ? kfi_push(in->job, &take->layers, &take->layer_count, sizeof *layer) : NULL;
    if (!layer) return false;
    double weight = ufbx_find_real(props, "Weight", 100.0);
    if (!kfi_fbx_mend(in, &weight, 1, 100.0, "Weight", &from->element)) return false;
    int64_t mode = ufbx_find_int(props, "BlendMode", 0);
    *layer = (kf_layer){.name = name,
                        .weight = weight / 100.0,
                        .mode = (uint8_t)(mode >= 0 && mode <= 2 ? mode : 0),
                        .rotation = ufbx_find_int(props, "RotationAccumulationMode", 0) == 1,
                        .scale = ufbx_find_int(props, "ScaleAccumulationMode", 0) == 1,
                        .mute = ufbx_find_int(props, "Mute", 0) != 0,
                        .solo = ufbx_find_int(props, "Solo", 0) != 0};
    return read_tracks(in, take, (uint32_t)(take->layer_count - 1), from);
}

bool kfi_fbx_read_takes(kfi_fbx_reader *in)
{
    const ufbx_scene *scene = in->scene;
    for (size_t i = 0; i < scene->anim_stacks.count; i++) {
        const ufbx_anim_stack *stack = scene->anim_stacks.data[i];
        const char *name = kfi_fbx_name(in, stack->element.name);
        kf_take *take = name ? kfi_add_take(in->job, in->anim, name) : NULL;
        if (!take) return false;
        take->start = stack->time_begin;
        take->end = stack->time_end;
        for (size_t l = 0; l < stack->layers.count; l++)
            if (!read_layer(in, take, stack->layers.data[l])) return false;
    }
    kfi_fit_take_ranges(in->anim);
    return true;
}
