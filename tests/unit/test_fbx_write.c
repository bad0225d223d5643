/* Whole scenes written as FBX, looked at through ufbx: every object, connection, property and key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fbx/keys.h"
#include "fbx/scene.h"
#include "helper_memory.h"
#include "helper_scene.h"
#include "ufbx.h"
#include "writer.h"

static kf_job job;
static kf_anim anim;
static memory_sink memory;
static kf_sink sink;

static int set_up(void **state)
{
    (void)state;
    memory_job_begin(&job);
    sink = memory_sink_of(&memory);
    scene_make(&job, &anim);
    assert_int_equal(job.error.code, KF_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_job_end(&job);
    memory_sink_free(&memory);
    return 0;
}

/* The three ways a file can be. */
enum { ENCODINGS = 3 };
static void choose(int encoding)
{
    job.options.fbx_version = encoding == 0 ? 7400 : 7500;
    job.options.ascii = encoding == 2;
    memory_sink_free(&memory);
    sink = memory_sink_of(&memory);
}

static ufbx_scene *write_and_load(int encoding)
{
    choose(encoding);
    if (!kfi_fbx_write(&job, &anim, &sink))
        fail_msg("%s", job.error.message);
    ufbx_load_opts opts = {.retain_dom = true, .strict = true};
    ufbx_error error;
    ufbx_scene *scene = ufbx_load_memory(memory.data, memory.size, &opts, &error);
    if (!scene) {
        char text[2048];
        ufbx_format_error(text, sizeof text, &error);
        fail_msg("encoding %d: %s", encoding, text);
    }
    for (size_t i = 0; i < scene->metadata.warnings.count; i++)
        fail_msg("encoding %d: %s", encoding, scene->metadata.warnings.data[i].description.data);
    assert_int_equal(scene->metadata.version, job.options.fbx_version);
    assert_int_equal(scene->metadata.ascii, encoding == 2);
    return scene;
}

static const ufbx_node *node_of(const ufbx_scene *scene, size_t node)
{
    const ufbx_node *found = ufbx_find_node(scene, anim.nodes[node].name);
    if (!found)
        fail_msg("no node %s", anim.nodes[node].name);
    return found;
}

/* ---------------------------------------------------------------- keys */

static const ufbx_anim_curve *curve_of(const ufbx_scene *scene, const kf_take *take, const kf_track *track,
                                       unsigned c)
{
    static const char *const properties[] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling", "Visibility",
                                             "DeformPercent"};
    const ufbx_anim_stack *stack = ufbx_find_anim_stack(scene, take->name);
    assert_non_null(stack);
    const ufbx_element *element = &node_of(scene, track->node)->element;
    if (track->channel == KF_MORPH) {
        element = ufbx_find_element(scene, UFBX_ELEMENT_BLEND_CHANNEL, track->name);
        assert_non_null(element);
    }
    const char *property = track->channel == KF_CUSTOM ? track->name : properties[track->channel];
    const ufbx_anim_prop *prop = ufbx_find_anim_prop(stack->layers.data[track->layer], element, property);
    if (!prop)
        fail_msg("no animation of %s", property);
    double factor = track->channel == KF_MORPH ? 100 : 1;
    assert_true(fabs(prop->anim_value->default_value.v[c] - track->rest[c] * factor) < 1e-9);
    return prop->anim_value->curves[c];
}

static const uint8_t *array_of(const ufbx_anim_curve *curve, const char *name, size_t count)
{
    const ufbx_dom_node *node = ufbx_dom_find(curve->element.dom_node, name);
    assert_non_null(node);
    assert_int_equal(ufbx_dom_array_size(node), count);
    return node->values.data[0].value_blob.data;
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * (1e-6 + fabs(a) + fabs(b));
}

static void check_curve(const ufbx_anim_curve *found, const kf_curve *curve, double factor)
{
    kf_curve scaled = *curve, expected = {0};
    assert_true(kfi_own_keys(&job, &scaled, KFI_HANDLES));
    for (size_t i = 0; i < curve->count; i++) {
        scaled.keys[i].value *= factor;
        scaled.handles[i].in.dv *= factor;
        scaled.handles[i].out.dv *= factor;
    }
    kfi_fbx_keys keys;
    assert_true(kfi_fbx_pack(&job, &scaled, &keys));
    assert_true(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, &expected));

    /* The arrays, to the bit. */
    assert_memory_equal(array_of(found, "KeyTime", keys.count), keys.times, 8 * keys.count);
    assert_memory_equal(array_of(found, "KeyAttrFlags", keys.runs), keys.flags, 4 * keys.runs);
    assert_memory_equal(array_of(found, "KeyAttrDataFloat", 4 * keys.runs), keys.data, 16 * keys.runs);
    assert_memory_equal(array_of(found, "KeyAttrRefCount", keys.runs), keys.ref_count, 4 * keys.runs);

    /* And what ufbx makes of them. */
    assert_int_equal(found->keyframes.count, curve->count);
    static const ufbx_interpolation interpolations[] = {
        UFBX_INTERPOLATION_CONSTANT_PREV, UFBX_INTERPOLATION_CONSTANT_NEXT, UFBX_INTERPOLATION_LINEAR,
        UFBX_INTERPOLATION_CUBIC,         UFBX_INTERPOLATION_CUBIC,         UFBX_INTERPOLATION_CUBIC,
        UFBX_INTERPOLATION_CUBIC};
    for (size_t i = 0; i < curve->count; i++) {
        const ufbx_keyframe *key = &found->keyframes.data[i];
        const kf_key *own = &expected.keys[i];
        const kf_handles *handles = &expected.handles[i];
        assert_true(key->time == own->time);
        assert_true((float)key->value == (float)own->value);
        assert_int_equal(key->interpolation, interpolations[curve->keys[i].interp]);
        bool slopes = own->interp == KF_HERMITE || own->interp == KF_BEZIER;
        if (slopes && i + 1 < curve->count) { /* ufbx's unit of weight is 1/10000, not 1/9999 */
            assert_true(near((double)key->right.dx, handles->out.dt, 2e-4));
            assert_true(near((double)key->right.dy, handles->out.dv, 2e-4));
        }
        if (slopes && i > 0 && (own[-1].interp == KF_HERMITE || own[-1].interp == KF_BEZIER)) {
            assert_true(near((double)key->left.dx, -handles->in.dt, 2e-4));
            assert_true(near((double)key->left.dy, -handles->in.dv, 2e-4));
        }
    }
    static const ufbx_extrapolation_mode modes[] = {UFBX_EXTRAPOLATION_CONSTANT, UFBX_EXTRAPOLATION_REPEAT,
                                                    UFBX_EXTRAPOLATION_MIRROR, UFBX_EXTRAPOLATION_SLOPE,
                                                    UFBX_EXTRAPOLATION_REPEAT_RELATIVE};
    assert_int_equal(found->pre_extrapolation.mode, modes[curve->pre]);
    assert_int_equal(found->post_extrapolation.mode, modes[curve->post]);
    assert_int_equal(found->post_extrapolation.repeat_count, curve->post_count ? (int)curve->post_count : -1);
}

static void test_keys(void **state)
{
    (void)state;
    unsigned kinds = 0;
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        ufbx_scene *scene = write_and_load(encoding);
        assert_int_equal(scene->anim_stacks.count, anim.take_count);
        size_t curves = 0, nodes = 0;
        for (size_t t = 0; t < anim.take_count; t++) {
            const kf_take *take = &anim.takes[t];
            for (size_t k = 0; k < take->track_count; k++) {
                const kf_track *track = &take->tracks[k];
                nodes++;
                for (unsigned c = 0; c < track->curves; c++) {
                    const ufbx_anim_curve *found = curve_of(scene, take, track, c);
                    assert_int_equal(found != NULL, track->curve[c].count > 0);
                    if (!found)
                        continue;
                    curves++;
                    check_curve(found, &track->curve[c], track->channel == KF_MORPH ? 100 : 1);
                    for (size_t i = 0; i + 1 < track->curve[c].count; i++)
                        kinds |= 1u << track->curve[c].keys[i].interp;
                }
            }
        }
        assert_int_equal(scene->anim_curves.count, curves);
        assert_int_equal(scene->anim_values.count, nodes);
        ufbx_free_scene(scene);
    }
    assert_int_equal(kinds, (1u << KF_INTERP_COUNT) - 1);
}

/* ---------------------------------------------------------------- everything else */

static bool same_text(ufbx_string text, const char *expected)
{
    return strcmp(text.data, expected) == 0;
}

static void check_node(const ufbx_scene *scene, size_t at)
{
    const kf_node *node = &anim.nodes[at];
    const ufbx_node *found = node_of(scene, at);
    const ufbx_node *parent = node->parent < 0 ? scene->root_node : node_of(scene, (size_t)node->parent);
    assert_ptr_equal(found->parent, parent);
    assert_int_equal(found->rotation_order, node->order); /* ufbx numbers them as FBX does */
    static const char *const names[] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling"};
    const double *values[] = {node->rest.translation, node->rest.rotation, node->rest.scale};
    for (int i = 0; i < 3; i++) {
        ufbx_vec3 v = ufbx_find_vec3(&found->props, names[i], ufbx_zero_vec3);
        assert_true(v.x == values[i][0] && v.y == values[i][1] && v.z == values[i][2]);
    }
    assert_int_equal(ufbx_find_int(&found->props, "RotationActive", 0), node->order != KF_XYZ);
    assert_int_equal(ufbx_find_int(&found->props, "InheritType", 0), 1);
    static const ufbx_element_type attributes[] = {UFBX_ELEMENT_EMPTY, UFBX_ELEMENT_BONE, UFBX_ELEMENT_MESH,
                                                   UFBX_ELEMENT_BONE};
    assert_int_equal(found->attrib_type, attributes[node->kind]);
    if (found->bone)
        assert_int_equal(found->bone->is_root, node->kind == KF_NODE_ROOT);
    for (size_t i = 0; i < node->property_count; i++) {
        const kf_property *own = &node->properties[i];
        const ufbx_prop *prop = ufbx_find_prop(&found->props, own->name);
        assert_non_null(prop);
        assert_int_equal(!!(prop->flags & UFBX_PROP_FLAG_USER_DEFINED), strchr(own->flags, 'U') != NULL);
        for (size_t k = 0; k < own->value_count && k < 3; k++)
            assert_true(prop->value_vec3.v[k] == own->value[k]);
        if (own->text) {
            assert_int_equal(prop->value_str.length, own->text_size);
            assert_memory_equal(prop->value_str.data, own->text, own->text_size);
        }
    }
}

static void check_mesh(const ufbx_node *found, const kf_mesh *mesh)
{
    assert_int_equal(found->mesh->num_vertices, mesh->point_count);
    assert_int_equal(found->mesh->num_faces, 0);
    assert_memory_equal(found->mesh->vertices.data, mesh->points, mesh->point_count * sizeof *mesh->points);
    assert_int_equal(found->mesh->blend_deformers.count, 1);
    const ufbx_blend_channel_list *channels = &found->mesh->blend_deformers.data[0]->channels;
    assert_int_equal(channels->count, mesh->shape_count);
    for (size_t i = 0; i < mesh->shape_count; i++) {
        const kf_shape *own = &mesh->shapes[i];
        assert_true(same_text(channels->data[i]->name, own->name));
        const ufbx_blend_shape *shape = channels->data[i]->target_shape;
        assert_non_null(shape);
        if (own->count == 0) { /* Blender wants at least one */
            assert_int_equal(shape->num_offsets, 1);
            assert_true(shape->position_offsets.data[0].x == 0 && shape->position_offsets.data[0].z == 0);
            continue;
        }
        assert_int_equal(shape->num_offsets, own->count);
        for (size_t k = 0; k < own->count; k++) { /* ufbx sorts them by point */
            size_t at = 0;
            while (at < own->count && (own->index ? own->index[at] : at) != shape->offset_vertices.data[k])
                at++;
            assert_true(at < own->count);
            assert_memory_equal(&shape->position_offsets.data[k], own->offset[at], sizeof own->offset[at]);
        }
    }
}

/* Definitions says how many objects of each kind there are; here they are counted. */
static void check_definitions(const ufbx_scene *scene)
{
    const ufbx_dom_node *definitions = ufbx_dom_find(scene->dom_root, "Definitions");
    const ufbx_dom_node *objects = ufbx_dom_find(scene->dom_root, "Objects");
    int64_t total = 0, counted = 0;
    for (size_t i = 0; i < definitions->children.count; i++) {
        const ufbx_dom_node *type = definitions->children.data[i];
        if (!same_text(type->name, "ObjectType"))
            continue;
        int64_t stated = ufbx_dom_find(type, "Count")->values.data[0].value_int;
        size_t found = same_text(type->values.data[0].value_str, "GlobalSettings");
        for (size_t k = 0; k < objects->children.count; k++)
            found += same_text(objects->children.data[k]->name, type->values.data[0].value_str.data);
        assert_int_equal(stated, found);
        total += stated;
        counted += (int64_t)found;
    }
    assert_int_equal(counted, (int64_t)objects->children.count + 1);
    assert_int_equal(ufbx_dom_find(definitions, "Count")->values.data[0].value_int, total);
    for (size_t i = 0; i < scene->dom_root->children.count; i++) /* and they come before the objects */
        if (scene->dom_root->children.data[i] == definitions)
            return;
        else if (scene->dom_root->children.data[i] == objects)
            fail_msg("Objects before Definitions");
}

static void test_scene(void **state)
{
    (void)state;
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        ufbx_scene *scene = write_and_load(encoding);
        assert_int_equal(scene->nodes.count, anim.node_count + 1);
        for (size_t i = 0; i < anim.node_count; i++)
            check_node(scene, i);
        check_mesh(node_of(scene, 4), anim.nodes[4].mesh);
        check_definitions(scene);
        /* Hidden at the start, yet not hidden for programs that do not play it. */
        assert_true(ufbx_find_real(&node_of(scene, 2)->props, "Visibility", 0) == 1);

        for (size_t i = 0; i < anim.take_count; i++) {
            const kf_take *take = &anim.takes[i];
            const ufbx_anim_stack *stack = scene->anim_stacks.data[i];
            assert_true(same_text(stack->name, take->name));
            assert_true(near(stack->time_begin, take->start, 1e-12) &&
                        near(stack->time_end, take->end, 1e-12));
            assert_int_equal(stack->layers.count, take->layer_count);
            for (size_t k = 0; k < take->layer_count; k++) {
                const ufbx_anim_layer *layer = stack->layers.data[k];
                assert_true(same_text(layer->name, take->layers[k].name));
                assert_true(near(layer->weight, take->layers[k].weight, 1e-9));
                assert_int_equal(layer->additive, take->layers[k].mode == 0);
                assert_int_equal(layer->blended, take->layers[k].mode == 2 || take->layers[k].mode == 0);
            }
        }
        assert_int_equal(scene->settings.axes.up, UFBX_COORDINATE_AXIS_POSITIVE_Y);
        assert_true(scene->settings.original_unit_meters == 0.01 && scene->settings.frames_per_second == 30);
        assert_int_equal(scene->settings.time_mode, UFBX_TIME_MODE_30_FPS);
        assert_true(same_text(scene->metadata.latest_application.name, "Keyferry"));
        ufbx_free_scene(scene);
    }
}

static void test_frame_rates(void **state)
{
    (void)state;
    static const struct {
        double rate;
        int32_t given;
        int expected;
    } rates[] = {{24, 0, 11},
                 {25, 0, 10},
                 {30, 0, 0},
                 {30, 0, 6},
                 {30, 11, 6},
                 {60, 0, 3},
                 {1000, 0, 12},
                 {15, 0, 14},
                 {300, 3, 14},
                 {30, 7, 7},
                 {30000 / 1001.0, 9, 9},
                 {24000 / 1001.0, 0, 13},
                 {12.5, 14, 14}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        anim.format = rates[i].given == 0 && rates[i].expected == 0 ? "fbx" : "test";
        anim.frame_rate = rates[i].rate;
        anim.settings.time_mode = rates[i].given;
        ufbx_scene *scene = write_and_load((int)i % ENCODINGS);
        assert_int_equal(ufbx_find_int(&scene->settings.props, "TimeMode", -1), rates[i].expected);
        assert_true(near(scene->settings.frames_per_second, rates[i].rate, 1e-6));
        ufbx_free_scene(scene);
    }
}

static void test_same_bytes(void **state)
{
    (void)state;
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        choose(encoding);
        assert_true(kfi_fbx_write(&job, &anim, &sink));
        memory_sink first = memory;
        memory = (memory_sink){0};
        choose(encoding);
        assert_true(kfi_fbx_write(&job, &anim, &sink));
        assert_int_equal(first.size, memory.size);
        assert_memory_equal(first.data, memory.data, first.size);
        memory_sink_free(&first);
    }
}

/* Read by our own reader: nothing has changed, and written again it is the same file. */
static void check_round_trip(kf_anim *from)
{
    uint8_t *first = NULL;
    size_t size = 0;
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        choose(encoding);
        assert_true(kfi_fbx_write(&job, from, &sink));
        kf_file file = {"test.fbx", memory.data, memory.size};
        kf_anim read;
        if (!kfi_fbx_read(&job, &file, &read))
            fail_msg("%s", job.error.message);
        /* The same file whatever the encoding was: compared as 7400. */
        memory_sink again;
        kf_sink into = memory_sink_of(&again);
        job.options.fbx_version = 7400;
        job.options.ascii = false;
        assert_true(kfi_fbx_write(&job, &read, &into));
        if (encoding == 0) {
            first = again.data;
            size = again.size;
        } else {
            assert_int_equal(again.size, size);
            assert_memory_equal(again.data, first, size);
            memory_sink_free(&again);
        }
    }
    /* Once read, it is what an FBX can hold: writing it again changes nothing. */
    kf_file file = {"again.fbx", first, size};
    kf_anim read;
    assert_true(kfi_fbx_read(&job, &file, &read));
    choose(0);
    assert_true(kfi_fbx_write(&job, &read, &sink));
    assert_int_equal(memory.size, size);
    assert_memory_equal(memory.data, first, size);
    free(first);
}

/* With KEYFERRY_FBX_OUT=FOLDER the scene is left there in all encodings, with a list of its keys: for other
 * programs. */
static void test_leave_files(void **state)
{
    (void)state;
    static const char *const names[ENCODINGS] = {"7400.fbx", "7500.fbx", "ascii.fbx"};
    const char *folder = getenv("KEYFERRY_FBX_OUT");
    char path[1024];
    if (!folder)
        skip();
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        choose(encoding);
        assert_true(kfi_fbx_write(&job, &anim, &sink));
        snprintf(path, sizeof path, "%s/%s", folder, names[encoding]);
        FILE *stream = fopen(path, "wb");
        assert_non_null(stream);
        assert_int_equal(fwrite(memory.data, 1, memory.size, stream), memory.size);
        assert_int_equal(fclose(stream), 0);
    }
    snprintf(path, sizeof path, "%s/keys.tsv", folder);
    FILE *list = fopen(path, "w");
    assert_non_null(list);
    for (size_t t = 0; t < anim.take_count; t++)
        for (size_t k = 0; k < anim.takes[t].track_count; k++) {
            const kf_track *track = &anim.takes[t].tracks[k];
            for (unsigned c = 0; c < track->curves; c++)
                for (size_t i = 0; i < track->curve[c].count; i++)
                    fprintf(list, "%s\t%u\t%s\t%s\t%s\t%u\t%.9f\t%.9g\n", anim.takes[t].name,
                            (unsigned)track->layer, anim.nodes[track->node].name,
                            kfi_channel_name((kf_channel)track->channel), track->name ? track->name : "", c,
                            track->curve[c].keys[i].time, track->curve[c].keys[i].value);
        }
    assert_int_equal(fclose(list), 0);
}

static void test_round_trip(void **state)
{
    (void)state;
    check_round_trip(&anim);
}

/* Files of real programs, where they are at hand. */
static void test_real_files(void **state)
{
    (void)state;
    static const char *const names[] = {"blender440_shape_weight_anim_7400_binary",
                                        "max_transformed_skin_7500_binary",
                                        "maya_anim_interpolation_7700_binary",
                                        "maya_anim_layers_7500_binary",
                                        "maya_auto_clamp_7700_binary",
                                        "maya_interpolation_modes_7500_ascii",
                                        "maya_interpolation_modes_7500_binary",
                                        "motionbuilder_extrapolation_slope_7700_binary",
                                        "motionbuilder_tangent_tcb_7700_ascii",
                                        "motionbuilder_tangent_weight_7700_ascii"};
    const char *folder = getenv("KEYFERRY_FBX_SAMPLES");
    char path[1024];
    size_t found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (folder)
            snprintf(path, sizeof path, "%s/%s.fbx", folder, names[i]);
        else
            snprintf(path, sizeof path, "%s/../shared/fbx-samples/%s.fbx", KEYFERRY_SOURCE, names[i]);
        FILE *stream = fopen(path, "rb");
        if (!stream)
            continue;
        found++;
        fseek(stream, 0, SEEK_END);
        size_t size = (size_t)ftell(stream);
        rewind(stream);
        char *data = kfi_alloc_raw(&job, size, 1);
        assert_int_equal(fread(data, 1, size, stream), size);
        fclose(stream);
        kf_file file = {names[i], data, size};
        kf_anim read;
        if (!kfi_fbx_read(&job, &file, &read))
            fail_msg("%s: %s", names[i], job.error.message);
        check_round_trip(&read);
    }
    if (found == 0) {
        print_message("skipped: no files of real programs (KEYFERRY_FBX_SAMPLES)\n");
        skip();
    }
    assert_int_equal(found, sizeof names / sizeof *names);
}

/* ---------------------------------------------------------------- what may go wrong */

static void test_not_finite(void **state)
{
    (void)state;
    anim.nodes[1].rest.translation[0] = NAN;
    anim.nodes[2].rest.scale[1] = INFINITY;
    anim.nodes[4].mesh->points[3][1] = -INFINITY;
    anim.nodes[4].mesh->shapes[0].offset[7][2] = NAN;
    anim.nodes[2].properties[0].value[0] = NAN;
    anim.takes[0].tracks[0].rest[2] = NAN;
    anim.takes[0].tracks[0].curve[0].keys[3].value = NAN;
    anim.takes[0].tracks[0].curve[1].handles[2].out.dv = INFINITY;
    anim.takes[0].layers[1].weight = INFINITY;
    anim.settings.unit_scale = NAN;
    anim.takes[0].end = INFINITY;
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        ufbx_scene *scene = write_and_load(encoding);
        for (size_t i = 0; i < scene->anim_curves.count; i++)
            for (size_t k = 0; k < scene->anim_curves.data[i]->keyframes.count; k++) {
                const ufbx_keyframe *key = &scene->anim_curves.data[i]->keyframes.data[k];
                assert_true(isfinite(key->value) && isfinite(key->time) && isfinite(key->left.dy) &&
                            isfinite(key->right.dy));
            }
        for (size_t i = 0; i < scene->elements.count; i++)
            for (size_t k = 0; k < scene->elements.data[i]->props.props.count; k++)
                for (int c = 0; c < 3; c++)
                    assert_true(isfinite(scene->elements.data[i]->props.props.data[k].value_vec3.v[c]));
        const ufbx_mesh *mesh = node_of(scene, 4)->mesh;
        assert_true(mesh->vertices.data[3].y == 0 && mesh->vertices.data[3].x != 0);
        ufbx_free_scene(scene);
    }
}

static void test_nothing(void **state)
{
    (void)state;
    kfi_anim_init(&anim, "test");
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        ufbx_scene *scene = write_and_load(encoding);
        assert_int_equal(scene->nodes.count, 1);
        assert_int_equal(scene->anim_stacks.count, 0);
        ufbx_free_scene(scene);
    }
}

static void test_long_curve(void **state)
{
    (void)state;
    kfi_anim_init(&anim, "test");
    kfi_add_node(&job, &anim, "node", -1);
    kf_track *track = kfi_add_track(&job, kfi_add_take(&job, &anim, "take"), 0, KF_TRANSLATION, 3);
    for (unsigned c = 0; c < 3; c++)
        scene_curve(&job, &track->curve[c], 100000 + c, c + 1);
    assert_true(kfi_anim_validate(&job, &anim));
    for (int encoding = 0; encoding < ENCODINGS; encoding++) {
        ufbx_scene *scene = write_and_load(encoding);
        for (unsigned c = 0; c < 3; c++)
            check_curve(curve_of(scene, &anim.takes[0], track, c), &track->curve[c], 1);
        ufbx_free_scene(scene);
    }
}

/* A sink that takes its memory from the same job must not lose it. */
static bool append_to_job(void *user, const void *data, size_t size)
{
    kfi_write_bytes(user, data, size);
    return !((kfi_writer *)user)->failed;
}

static bool patch_in_job(void *user, uint64_t at, const void *data, size_t size)
{
    memcpy(((kfi_writer *)user)->data + at, data, size);
    return true;
}

static void test_sink_in_job(void **state)
{
    (void)state;
    choose(1);
    assert_true(kfi_fbx_write(&job, &anim, &sink));
    kfi_writer out;
    kfi_writer_init(&out, &job, 0);
    kf_sink into_job = {.user = &out, .append = append_to_job, .patch = patch_in_job};
    assert_true(kfi_fbx_write(&job, &anim, &into_job));
    assert_int_equal(out.size, memory.size);
    assert_memory_equal(out.data, memory.data, out.size);
}

static void test_failing_sink(void **state)
{
    (void)state;
    kf_track *track = kfi_add_track(&job, &anim.takes[1], 2, KF_ROTATION, 3);
    for (unsigned c = 0; c < 3; c++)
        scene_curve(&job, &track->curve[c], 10000, c + 1);
    choose(0);
    assert_true(kfi_fbx_write(&job, &anim, &sink));
    size_t appends = memory.appends, patches = memory.patches;
    assert_true(appends > 3 && patches > 2);
    for (size_t i = 1; i <= appends + patches; i++) {
        choose(0);
        memory.fail_append = i <= appends ? i : 0;
        memory.fail_patch = i > appends ? i - appends : 0;
        job.error.code = KF_OK;
        assert_false(kfi_fbx_write(&job, &anim, &sink));
        assert_int_equal(job.error.code, KF_IO);
    }
}

static void test_failing_memory(void **state)
{
    (void)state;
    size_t tries = 0;
    for (bool done = false; !done; tries++) {
        failing_memory f = {.fail_at = tries + 1};
        kf_job other = {0};
        kfi_arena_init(&other.arena, failing_allocator(&f), UINT64_MAX);
        other.arena.item_blocks = true;
        memory_sink_free(&memory);
        sink = memory_sink_of(&memory);
        done = kfi_fbx_write(&other, &anim, &sink);
        assert_int_equal(other.error.code, done ? KF_OK : KF_NO_MEMORY);
        kfi_arena_free(&other.arena);
        assert_int_equal(f.live, 0);
        assert_true(tries < 1000);
    }
    assert_true(tries > 10);
    kf_job small = {0};
    kfi_arena_init(&small.arena, (kf_allocator){0}, 100000);
    assert_false(kfi_fbx_write(&small, &anim, &sink));
    assert_int_equal(small.error.code, KF_MEMORY_LIMIT);
    kfi_arena_free(&small.arena);
}

static bool stop_at_once(void *user, double done)
{
    assert_true(done >= 0 && done <= 1);
    ++*(int *)user;
    return false;
}

static void test_cancelled(void **state)
{
    (void)state;
    kf_take *take = &anim.takes[1];
    for (int i = 0; i < 40; i++) {
        kf_track *track = kfi_add_track(&job, take, 2, KF_CUSTOM, 3);
        track->name = "again";
        for (unsigned c = 0; c < 3; c++)
            scene_curve(&job, &track->curve[c], 3, c);
    }
    int calls = 0;
    job.options.user = &calls;
    job.options.progress = stop_at_once;
    choose(1);
    assert_false(kfi_fbx_write(&job, &anim, &sink));
    assert_int_equal(job.error.code, KF_CANCELLED);
    assert_int_equal(calls, 1);
}

static void test_refused(void **state)
{
    (void)state;
    kf_track *track = &anim.takes[0].tracks[0];
    anim.takes[0].tracks[5].name = "no such shape";
    choose(1);
    assert_true(kfi_fbx_write(&job, &anim, &sink));
    assert_int_equal(kfi_said(&job, "morph-without-shape"), 1);
    track->quaternion = true;
    assert_false(kfi_fbx_write(&job, &anim, &sink));
    assert_int_equal(job.error.code, KF_BAD_ARGUMENT);
    track->quaternion = false;
    track->layer = 2;
    job.error.code = KF_OK;
    assert_false(kfi_fbx_write(&job, &anim, &sink));
    assert_int_equal(job.error.code, KF_BAD_ARGUMENT);
    track->layer = 0;
    job.error.code = KF_OK;
    job.options.fbx_version = 7700;
    assert_false(kfi_fbx_write(&job, &anim, &sink));
    assert_int_equal(job.error.code, KF_BAD_ARGUMENT);
    /* Texts that ASCII cannot say are told of. */
    job.error.code = KF_OK;
    anim.nodes[0].name = "a &quot; b";
    choose(2);
    assert_true(kfi_fbx_write(&job, &anim, &sink));
    assert_int_equal(kfi_said(&job, "ascii-text"), 1);
    choose(1);
    assert_true(kfi_fbx_write(&job, &anim, &sink));
    assert_int_equal(kfi_said(&job, "ascii-text"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_frame_rates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_leave_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_real_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_finite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_curve, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sink_in_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failing_sink, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failing_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
