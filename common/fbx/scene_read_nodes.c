#include "fbx/scene_read.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- properties
 *
 *   7.x  P: name, type, sub type, flags, values...          in Properties70
 *   6.x  Property: name, type, flags, values...             in Properties60
 */

enum { VALUES_MAX = 4 };

static bool is(const ufbx_dom_value *value, const char *text)
{
    return value->value_blob.size == strlen(text) &&
           memcmp(value->value_blob.data, text, value->value_blob.size) == 0;
}

/* What kf_node says in fields of its own; what speaks of attributes, which are not carried; and what says
 * just the usual, which the writer puts back where it is needed. */
static bool is_left_out(const kf_node *node, const ufbx_dom_node *p, size_t first_value)
{
    static const char *const fields[] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling", "RotationOrder",
                                         "DefaultAttributeIndex"};
    const ufbx_dom_value *name = &p->values.data[0], *value = NULL;
    if (p->values.count > first_value) value = &p->values.data[first_value];
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (is(name, fields[i])) return true;
    bool one = value && value->type == UFBX_DOM_VALUE_NUMBER && value->value_float == 1.0;
    return one && (is(name, "Visibility") || (is(name, "RotationActive") && node->order != KF_XYZ));
}

static const char *copy_text(kfi_fbx_reader *in, const ufbx_dom_value *value)
{
    return kfi_strndup(in->job, value->value_blob.data, value->value_blob.size);
}

static bool read_value(kfi_fbx_reader *in, const ufbx_node *node, const ufbx_dom_value *value,
                       kf_property *property)
{
    if (value->type == UFBX_DOM_VALUE_STRING) {
        if (property->text)
            return kfi_warn(in->job, "property-cut",
                            "\"%.100s\", property %.100s: only its first text is carried",
                            kfi_fbx_label(&node->element), property->name);
        property->text = copy_text(in, value);
        property->text_size = value->value_blob.size;
        return property->text != NULL;
    }
    if (value->type != UFBX_DOM_VALUE_NUMBER) return true;
    double number = value->value_float;
    if (!kfi_fbx_mend(in, &number, 1, 0.0, property->name, &node->element)) return false;
    if (number == (double)value->value_int &&
        (number >= 9007199254740992.0 || number <= -9007199254740992.0) &&
        (number >= 9.2e18 || number <= -9.2e18 || (int64_t)number != value->value_int) &&
        !kfi_warn(in->job, "property-rounded", "\"%.100s\", property %.100s: %lld does not fit a double",
                  kfi_fbx_label(&node->element), property->name, (long long)value->value_int))
        return false;
    property->value[property->value_count++] = number;
    return true;
}

static bool read_property(kfi_fbx_reader *in, kf_node *to, const ufbx_node *node, const ufbx_dom_node *p,
                          size_t first_value)
{
    const ufbx_dom_value *values = p->values.data;
    for (size_t i = 0; i < first_value; i++)
        if (values[i].type != UFBX_DOM_VALUE_STRING) return true; /* ufbx has ignored it too */
    if (is_left_out(to, p, first_value)) return true;

    kf_property *property = kfi_push(in->job, &to->properties, &to->property_count, sizeof *property);
    if (!property) return false;
    property->name = kfi_fbx_name(in, (ufbx_string){values[0].value_blob.data, values[0].value_blob.size});
    property->type = copy_text(in, &values[1]);
    property->sub_type = first_value == 4 ? copy_text(in, &values[2]) : "";
    property->flags = copy_text(in, &values[first_value - 1]);
    if (!property->name || !property->type || !property->sub_type || !property->flags) return false;

    for (size_t i = first_value; i < p->values.count; i++) {
        if (values[i].type == UFBX_DOM_VALUE_NUMBER && property->value_count == VALUES_MAX)
            break; /* ufbx keeps no more either */
        if (!read_value(in, node, &values[i], property)) return false;
    }
    return p->children.count == 0 ||
           kfi_warn(in->job, "property-cut", "\"%.100s\", property %.100s: its binary data is not carried",
                    kfi_fbx_label(&node->element), property->name);
}

static bool read_properties(kfi_fbx_reader *in, kf_node *to, const ufbx_node *node)
{
    const ufbx_dom_node *model = node->element.dom_node;
    if (!model) return true;
    const ufbx_dom_node *list = ufbx_dom_find(model, "Properties70");
    size_t first_value = 4;
    if (!list) {
        list = ufbx_dom_find(model, "Properties60");
        first_value = 3;
    }
    for (size_t i = 0; list && i < list->children.count; i++) {
        const ufbx_dom_node *p = list->children.data[i];
        if (p->values.count >= first_value && !read_property(in, to, node, p, first_value)) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- nodes */

/* By the type that stands in the file, as programs go by it too; in 6.x files by what ufbx has made of it. */
static kf_node_kind kind_of(const ufbx_node *node)
{
    const ufbx_dom_node *model = node->element.dom_node;
    if (model && model->values.count > 2 && model->values.data[2].type == UFBX_DOM_VALUE_STRING) {
        const ufbx_dom_value *type = &model->values.data[2];
        if (is(type, "Null") || is(type, "")) return KF_NODE_NULL;
        if (is(type, "LimbNode") || is(type, "Limb")) return KF_NODE_BONE;
        if (is(type, "Root")) return KF_NODE_ROOT;
        return KF_NODE_OTHER;
    }
    switch (node->attrib_type) {
    case UFBX_ELEMENT_UNKNOWN:
        return node->attrib ? KF_NODE_OTHER : KF_NODE_NULL;
    case UFBX_ELEMENT_EMPTY:
        return KF_NODE_NULL;
    case UFBX_ELEMENT_BONE:
        return node->bone && node->bone->is_root ? KF_NODE_ROOT : KF_NODE_BONE;
    default:
        return KF_NODE_OTHER;
    }
}

static bool read_rest(kfi_fbx_reader *in, kf_node *to, const ufbx_node *node)
{
    const ufbx_props *props = &node->element.props;
    const ufbx_element *element = &node->element;
    kf_transform *rest = &to->rest;
    kfi_fbx_numbers(props, "Lcl Translation", rest->translation);
    kfi_fbx_numbers(props, "Lcl Rotation", rest->rotation);
    kfi_fbx_numbers(props, "Lcl Scaling", rest->scale);
    int64_t order = ufbx_find_int(props, "RotationOrder", 0);
    if (order >= KF_XYZ && order <= KF_ZYX)
        to->order = (uint8_t)order;
    else if (!kfi_warn(in->job, "rotation-order",
                       "\"%.100s\": rotation order %lld is not carried, XYZ is taken", kfi_fbx_label(element),
                       (long long)order))
        return false;
    return kfi_fbx_mend(in, rest->translation, 3, 0.0, "Lcl Translation", element) &&
           kfi_fbx_mend(in, rest->rotation, 3, 0.0, "Lcl Rotation", element) &&
           kfi_fbx_mend(in, rest->scale, 3, 1.0, "Lcl Scaling", element);
}

/* A node below two parents is kept below the one that ufbx has chosen. */
static bool one_parent(kfi_fbx_reader *in, const ufbx_node *node)
{
    size_t parents = 0;
    const ufbx_connection_list *list = &node->element.connections_src;
    for (size_t i = 0; i < list->count; i++) {
        const ufbx_connection *connection = &list->data[i];
        if (connection->src_prop.length == 0 && connection->dst_prop.length == 0 &&
            connection->dst->type == UFBX_ELEMENT_NODE)
            parents++;
    }
    return parents <= 1 ||
           kfi_warn(in->job, "instance", "\"%.100s\" is below %zu parents; it is kept below \"%.100s\"",
                    kfi_fbx_label(&node->element), parents, kfi_fbx_label(&node->parent->element));
}

static bool read_node(kfi_fbx_reader *in, const ufbx_node *node, uint32_t *index)
{
    if (in->anim->node_count >= INT32_MAX)
        return kfi_fail(in->job, KF_BAD_INPUT, KF_NO_OFFSET, "there are more than %d nodes", INT32_MAX);
    const char *name = kfi_fbx_name(in, node->element.name);
    bool top = !node->parent || node->parent->is_root;
    int32_t parent = top ? -1 : (int32_t)index[node->parent->element.typed_id];
    kf_node *to = name ? kfi_add_node(in->job, in->anim, name, parent) : NULL;
    if (!to) return false;
    index[node->element.typed_id] = (uint32_t)(in->anim->node_count - 1);
    to->kind = (uint8_t)kind_of(node);
    return read_rest(in, to, node) && read_properties(in, to, node) && one_parent(in, node);
}

/* In the order of the file, except that a parent that comes late is drawn before its first child. */
bool kfi_fbx_read_nodes(kfi_fbx_reader *in)
{
    const ufbx_scene *scene = in->scene;
    uint32_t *index = kfi_alloc_raw(in->job, scene->nodes.count, sizeof *index);
    const ufbx_node **chain = kfi_alloc_raw(in->job, scene->nodes.count, sizeof *chain);
    if (!index || !chain) return false;
    for (size_t i = 0; i < scene->nodes.count; i++) index[i] = KFI_FBX_NONE;

    for (size_t i = 0; i < scene->elements.count; i++) {
        size_t depth = 0;
        for (const ufbx_node *node = ufbx_as_node(scene->elements.data[i]);
             node && !node->is_root && index[node->element.typed_id] == KFI_FBX_NONE &&
             depth < scene->nodes.count;
             node = node->parent)
            chain[depth++] = node;
        while (depth > 0)
            if (!read_node(in, chain[--depth], index)) return false;
    }
    in->node_index = index;
    return true;
}
