#include "fbx/scene_write.h"

/* What kinds of objects there are, how many, and the defaults of their properties.
 *
 * The defaults are those of FBX itself; only properties that say where a node stands are listed. */

static void begin_type(kfi_tree *tree, const char *name, size_t count)
{
    kfi_tree_begin(tree, "ObjectType");
    kfi_tree_text(tree, name);
    kfi_tree_i32_node(tree, "Count", (int32_t)count);
}

static void begin_template(kfi_tree *tree, const char *name)
{
    kfi_tree_begin(tree, "PropertyTemplate");
    kfi_tree_text(tree, name);
    kfi_tree_begin(tree, "Properties70");
}

static void end_template(kfi_tree *tree)
{
    kfi_tree_end(tree);
    kfi_tree_end(tree);
}

static void lcl(kfi_tree *tree, const char *name, double value)
{
    kfi_write_p(tree, name, name, "", "A");
    for (int i = 0; i < 3; i++)
        kfi_tree_f64(tree, value);
    kfi_tree_end(tree);
}

static void node_template(kfi_tree *tree)
{
    static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    static const char *const vectors[] = {"RotationOffset",       "RotationPivot",    "ScalingOffset",
                                          "ScalingPivot",         "PreRotation",      "PostRotation",
                                          "GeometricTranslation", "GeometricRotation"};
    begin_template(tree, "FbxNode");
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        kfi_write_p_vector(tree, vectors[i], zero);
    kfi_write_p_vector(tree, "GeometricScaling", one);
    kfi_write_p_int(tree, "TranslationActive", "bool", "", 0);
    kfi_write_p_int(tree, "RotationActive", "bool", "", 0);
    kfi_write_p_int(tree, "ScalingActive", "bool", "", 0);
    kfi_write_p_int(tree, "RotationOrder", "enum", "", 0);
    kfi_write_p_int(tree, "RotationSpaceForLimitOnly", "bool", "", 0);
    kfi_write_p_int(tree, "InheritType", "enum", "", 0);
    kfi_write_p_int(tree, "Show", "bool", "", 1);
    kfi_write_p_int(tree, "NegativePercentShapeSupport", "bool", "", 1);
    kfi_write_p_int(tree, "DefaultAttributeIndex", "int", "Integer", -1);
    lcl(tree, "Lcl Translation", 0);
    lcl(tree, "Lcl Rotation", 0);
    lcl(tree, "Lcl Scaling", 1);
    kfi_write_p(tree, "Visibility", "Visibility", "", "A");
    kfi_tree_f64(tree, 1);
    kfi_tree_end(tree);
    kfi_write_p_int(tree, "Visibility Inheritance", "Visibility Inheritance", "", 1);
    end_template(tree);
}

static void stack_template(kfi_tree *tree)
{
    begin_template(tree, "FbxAnimStack");
    kfi_write_p_text(tree, "Description", "", "");
    kfi_write_p_time(tree, "LocalStart", 0);
    kfi_write_p_time(tree, "LocalStop", 0);
    kfi_write_p_time(tree, "ReferenceStart", 0);
    kfi_write_p_time(tree, "ReferenceStop", 0);
    end_template(tree);
}

static void layer_template(kfi_tree *tree)
{
    begin_template(tree, "FbxAnimLayer");
    kfi_write_p_number(tree, "Weight", "A", 100);
    kfi_write_p_int(tree, "Mute", "bool", "", 0);
    kfi_write_p_int(tree, "Solo", "bool", "", 0);
    kfi_write_p_int(tree, "Lock", "bool", "", 0);
    kfi_write_p_int(tree, "BlendMode", "enum", "", 0);
    kfi_write_p_int(tree, "RotationAccumulationMode", "enum", "", 0);
    kfi_write_p_int(tree, "ScaleAccumulationMode", "enum", "", 0);
    end_template(tree);
}

static void curve_node_template(kfi_tree *tree)
{
    begin_template(tree, "FbxAnimCurveNode");
    kfi_write_p(tree, "d", "Compound", "", "");
    kfi_tree_end(tree);
    end_template(tree);
}

void kfi_write_definitions(kfi_scene_writer *w)
{
    const kfi_fbx_counts *counts = &w->counts;
    const struct {
        const char *name;
        size_t count;
        void (*template)(kfi_tree *tree);
    } types[] = {
        {"GlobalSettings", 1, NULL},
        {"NodeAttribute", counts->attributes, NULL},
        {"Geometry", counts->meshes + counts->shapes, NULL},
        {"Model", w->anim->node_count, node_template},
        {"Deformer", counts->meshes + counts->shapes, NULL}, /* a channel for each shape */
        {"AnimationStack", w->anim->take_count, stack_template},
        {"AnimationLayer", counts->layers, layer_template},
        {"AnimationCurveNode", counts->curve_nodes, curve_node_template},
        {"AnimationCurve", counts->curves, NULL},
    };
    kfi_tree *tree = w->tree;
    size_t total = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        total += types[i].count;
    kfi_tree_comment(tree, "Object definitions");
    kfi_tree_begin(tree, "Definitions");
    kfi_tree_i32_node(tree, "Version", 100);
    kfi_tree_i32_node(tree, "Count", (int32_t)total);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].count == 0)
            continue;
        begin_type(tree, types[i].name, types[i].count);
        if (types[i].template)
            types[i].template(tree);
        kfi_tree_end(tree);
    }
    kfi_tree_end(tree);
}
