#include "fbx/scene_write.h"

#include "names.h"

#include <string.h>

void kfi_write_p(kfi_tree *tree, const char *name, const char *type, const char *sub_type, const char *flags)
{
    kfi_tree_begin(tree, "P");
    kfi_tree_text(tree, name);
    kfi_tree_text(tree, type);
    kfi_tree_text(tree, sub_type);
    kfi_tree_text(tree, flags);
}

void kfi_write_p_int(kfi_tree *tree, const char *name, const char *type, const char *sub_type, int32_t value)
{
    kfi_write_p(tree, name, type, sub_type, "");
    kfi_tree_i32(tree, value);
    kfi_tree_end(tree);
}

void kfi_write_p_double(kfi_tree *tree, const char *name, double value)
{
    kfi_write_p(tree, name, "double", "Number", "");
    kfi_tree_f64(tree, value);
    kfi_tree_end(tree);
}

void kfi_write_p_number(kfi_tree *tree, const char *name, const char *flags, double value)
{
    kfi_write_p(tree, name, "Number", "", flags);
    kfi_tree_f64(tree, value);
    kfi_tree_end(tree);
}

static void put_vector(kfi_tree *tree, const double value[3])
{
    for (int i = 0; i < 3; i++)
        kfi_tree_f64(tree, value[i]);
    kfi_tree_end(tree);
}

void kfi_write_p_vector(kfi_tree *tree, const char *name, const double value[3])
{
    kfi_write_p(tree, name, "Vector3D", "Vector", "");
    put_vector(tree, value);
}

void kfi_write_p_text(kfi_tree *tree, const char *name, const char *sub_type, const char *text)
{
    kfi_write_p(tree, name, "KString", sub_type, "");
    kfi_tree_text(tree, text);
    kfi_tree_end(tree);
}

void kfi_write_p_time(kfi_tree *tree, const char *name, double seconds)
{
    kfi_write_p(tree, name, "KTime", "Time", "");
    kfi_tree_i64(tree, kfi_fbx_ticks(seconds));
    kfi_tree_end(tree);
}

/* ---------------------------------------------------------------- a node's own */

/* How the numbers of a property are stored, by its type. */
static char number_type(const char *type)
{
    static const struct {
        const char *type;
        char stored;
    } types[] = {{"int", 'I'},       {"bool", 'I'},     {"enum", 'I'},
                 {"Integer", 'I'},   {"Bool", 'I'},     {"Enum", 'I'},
                 {"Action", 'I'},    {"KTime", 'L'},    {"Time", 'L'},
                 {"ULongLong", 'L'}, {"Short", 'Y'},    {"LongLong", 'L'},
                 {"UShort", 'Y'},    {"float", 'F'},    {"Float", 'F'},
                 {"UInt", 'I'},      {"Distance", 'F'}, {"Visibility Inheritance", 'I'}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0)
            return types[i].stored;
    return 'D';
}

static bool whole_within(double value, double limit)
{
    return value >= -limit && value < limit && (double)(int64_t)value == value;
}

static void put_number(kfi_tree *tree, char type, double value)
{
    if (type == 'I' && whole_within(value, 0x1p31))
        kfi_tree_i32(tree, (int32_t)value);
    else if (type == 'Y' && whole_within(value, 0x1p15))
        kfi_tree_i16(tree, (int16_t)value);
    else if (type == 'L' && whole_within(value, 0x1p63))
        kfi_tree_i64(tree, (int64_t)value);
    else if (type == 'F' && (double)(float)value == value)
        kfi_tree_f32(tree, (float)value);
    else
        kfi_tree_f64(tree, value);
}

static void write_property(kfi_tree *tree, const kf_property *property)
{
    const char *type = property->type ? property->type : "";
    kfi_write_p(tree, property->name, type, property->sub_type ? property->sub_type : "",
                property->flags ? property->flags : "");
    for (size_t i = 0; i < property->value_count && i < sizeof property->value / sizeof *property->value; i++)
        put_number(tree, number_type(type), property->value[i]);
    if (property->text || (property->value_count == 0 && strcmp(type, "KString") == 0))
        kfi_tree_string(tree, property->text ? property->text : "", property->text_size);
    kfi_tree_end(tree);
}

static const kf_property *find(const kf_node *node, const char *name)
{
    for (size_t i = 0; i < node->property_count; i++)
        if (strcmp(node->properties[i].name, name) == 0)
            return &node->properties[i];
    return NULL;
}

/* What a node has in fields of its own, and bytes that it does not have. */
static bool is_left_out(const kf_property *property)
{
    static const char *const fields[] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling", "RotationOrder"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(property->name, fields[i]) == 0)
            return true;
    return property->type && strcmp(property->type, "Blob") == 0;
}

static void write_lcl(const kfi_scene_writer *w, size_t node, const char *name, kf_channel channel,
                      const double v[3])
{
    kfi_write_p(w->tree, name, name, "", kfi_write_animated(w, node, channel) ? "A+" : "A");
    put_vector(w->tree, v);
}

static const char *custom_name(const kf_track *track)
{
    return track->channel == KF_CUSTOM ? track->name : NULL;
}

static void write_custom(kfi_tree *tree, const kf_track *track)
{
    static const char *const types[] = {"Number", "Vector2D", "Vector"};
    static const char *const sub_types[] = {"", "Vector2", ""};
    unsigned kind = track->curves >= 3 ? 2 : track->curves == 2 ? 1 : 0;
    kfi_write_p(tree, track->name, types[kind], sub_types[kind], "A+U");
    for (unsigned i = 0; i <= kind; i++)
        kfi_tree_f64(tree, track->rest[i]);
    kfi_tree_end(tree);
}

/* A custom track needs a property to animate. One that the node has of its own is there already; one that several takes
 * animate is written once, as the last of them has it. */
static void write_customs(const kfi_scene_writer *w, size_t at)
{
    const kf_node *node = &w->anim->nodes[at];
    size_t count = 0;
    for (uint32_t t = w->first_of_node[at]; t != KFI_NO_TRACK; t = w->next_of_node[t])
        count += custom_name(w->tracks[t]) != NULL;
    kfi_map names; /* the number of each name, from 0; `count`: a property of the node */
    uint32_t *last = count ? kfi_alloc(w->job, count, sizeof *last) : NULL, used = 0;
    if (!last || !kfi_map_init(&names, w->job, node->property_count + count))
        return;
    for (size_t i = 0; i < node->property_count; i++)
        kfi_map_put(&names, node->properties[i].name, (uint32_t)count);
    for (uint32_t t = w->first_of_node[at]; t != KFI_NO_TRACK; t = w->next_of_node[t]) {
        const char *name = custom_name(w->tracks[t]);
        int64_t number = name ? kfi_map_get(&names, name, strlen(name)) : (int64_t)count;
        if (number < 0) {
            number = used++;
            kfi_map_put(&names, name, (uint32_t)number);
        }
        if (number < (int64_t)count)
            last[number] = t;
    }
    for (uint32_t t = w->first_of_node[at]; t != KFI_NO_TRACK; t = w->next_of_node[t]) {
        const char *name = custom_name(w->tracks[t]);
        int64_t number = name ? kfi_map_get(&names, name, strlen(name)) : (int64_t)count;
        if (number < (int64_t)count && last[number] == t)
            write_custom(w->tree, w->tracks[t]);
    }
}

void kfi_write_node_properties(kfi_scene_writer *w, size_t at)
{
    const kf_node *node = &w->anim->nodes[at];
    kfi_tree *tree = w->tree;
    kfi_tree_begin(tree, "Properties70");
    kfi_tree_braces(tree);
    if (node->order != KF_XYZ)
        kfi_write_p_int(tree, "RotationOrder", "enum", "", node->order);
    if (node->order != KF_XYZ && !find(node, "RotationActive")) /* or programs take XYZ */
        kfi_write_p_int(tree, "RotationActive", "bool", "", 1);
    /* A game's transforms are plain products of matrices; FBX's own default is another rule. */
    if (!kfi_write_from_fbx(w->anim) && !find(node, "InheritType"))
        kfi_write_p_int(tree, "InheritType", "enum", "", 1);
    if (!find(node, "DefaultAttributeIndex"))
        kfi_write_p_int(tree, "DefaultAttributeIndex", "int", "Integer", 0);
    write_lcl(w, at, "Lcl Translation", KF_TRANSLATION, node->rest.translation);
    write_lcl(w, at, "Lcl Rotation", KF_ROTATION, node->rest.rotation);
    write_lcl(w, at, "Lcl Scaling", KF_SCALE, node->rest.scale);
    if (kfi_write_animated(w, at, KF_VISIBILITY) && !find(node, "Visibility")) {
        /* Even if it starts hidden: a node that is statically hidden confuses Blender. */
        kfi_write_p(tree, "Visibility", "Visibility", "", "A+");
        kfi_tree_f64(tree, 1);
        kfi_tree_end(tree);
    }
    for (size_t i = 0; i < node->property_count; i++)
        if (!is_left_out(&node->properties[i]))
            write_property(tree, &node->properties[i]);
    write_customs(w, at);
    kfi_tree_end(tree);
}
