/* FBX files of real programs: the reader's animation against ufbx's own view of the file, and files that are
 * cut or damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fbx/scene.h"
#include "helper_fbx.h"
#include "ufbx.h"

static kf_job job;

static int tear_down(void **state)
{
    (void)state;
    kfi_arena_free(&job.arena);
    memset(&job, 0, sizeof job);
    return 0;
}

/* ---------------------------------------------------------------- against ufbx */

static const char *text_of(ufbx_string text)
{
    return text.data;
}

static int node_of(const kf_anim *anim, const ufbx_element *element)
{
    for (size_t i = 0; i < anim->node_count; i++)
        if (strcmp(anim->nodes[i].name, text_of(element->name)) == 0) return (int)i;
    return -1;
}

static void compare_nodes(const kf_anim *anim, const ufbx_scene *scene)
{
    assert_int_equal(anim->node_count, scene->nodes.count - 1);
    for (size_t i = 1; i < scene->nodes.count; i++) {
        const ufbx_node *node = scene->nodes.data[i];
        int at = node_of(anim, &node->element);
        assert_true(at >= 0);
        const kf_node *ours = &anim->nodes[at];
        if (node->parent->is_root)
            assert_int_equal(ours->parent, -1);
        else
            assert_string_equal(anim->nodes[ours->parent].name, text_of(node->parent->element.name));
        ufbx_vec3 zero = {{{0, 0, 0}}}, one = {{{1, 1, 1}}};
        ufbx_vec3 t = ufbx_find_vec3(&node->props, "Lcl Translation", zero);
        ufbx_vec3 r = ufbx_find_vec3(&node->props, "Lcl Rotation", zero);
        ufbx_vec3 s = ufbx_find_vec3(&node->props, "Lcl Scaling", one);
        for (int c = 0; c < 3; c++) {
            assert_true(ours->rest.translation[c] == t.v[c] && ours->rest.rotation[c] == r.v[c]);
            assert_true(ours->rest.scale[c] == s.v[c]);
        }
        assert_int_equal(ours->order, node->rotation_order);
        bool bone = node->attrib_type == UFBX_ELEMENT_BONE;
        assert_int_equal(ours->kind == KF_NODE_BONE || ours->kind == KF_NODE_ROOT, bone);
        assert_int_equal(ours->mesh != NULL, node->mesh && node->mesh->blend_deformers.count > 0);
        for (size_t p = 0; p < ours->property_count; p++) { /* values as ufbx has them */
            const kf_property *property = &ours->properties[p];
            const ufbx_prop *prop = ufbx_find_prop(&node->props, property->name);
            assert_non_null(prop);
            for (size_t v = 0; v < property->value_count; v++)
                assert_true(property->value[v] == prop->value_real_arr[v]);
            if (property->text) assert_int_equal(property->text_size, prop->value_str.length);
            assert_int_equal(strchr(property->flags, 'U') != NULL,
                             (prop->flags & UFBX_PROP_FLAG_USER_DEFINED) != 0);
        }
    }
}

/* The attributes of key i, as they stand in the file. */
static void raw_attributes(const ufbx_anim_curve *curve, size_t i, uint32_t words[5])
{
    const ufbx_dom_node *node = curve->element.dom_node;
    ufbx_int32_list flags = ufbx_dom_as_int32_list(ufbx_dom_find(node, "KeyAttrFlags"));
    ufbx_int32_list counts = ufbx_dom_as_int32_list(ufbx_dom_find(node, "KeyAttrRefCount"));
    const ufbx_dom_node *data = ufbx_dom_find(node, "KeyAttrDataFloat");
    size_t run = 0;
    while (i >= (size_t)counts.data[run]) i -= (size_t)counts.data[run++];
    words[0] = (uint32_t)flags.data[run];
    memcpy(words + 1, (const char *)data->values.data[0].value_blob.data + 16 * run, 16);
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(1.0, fmax(fabs(a), fabs(b)));
}

/* Counts of key kinds seen, so that the comparison cannot be empty. */
typedef struct seen {
    size_t keys, tcb, weighted, user, linear, constant, automatic, curves;
} seen;

static void compare_key(const kf_curve *ours, const ufbx_anim_curve *curve, size_t i, double scale,
                        seen *count)
{
    const kf_key *key = &ours->keys[i];
    const ufbx_keyframe *theirs = &curve->keyframes.data[i];
    uint32_t raw[5];
    raw_attributes(curve, i, raw);
    assert_true(key->time == theirs->time);
    assert_true(key->value == (double)(float)theirs->value / scale);
    assert_int_equal(key->attr, raw[0]);
    bool next = i + 1 < ours->count;
    double duration = next ? ours->keys[i + 1].time - key->time : 0;
    count->keys++;
    if (raw[0] & 2) {
        assert_int_equal(key->interp, raw[0] & 0x100 ? KF_STEP_NEXT : KF_STEP);
        count->constant++;
    } else if (!(raw[0] & 8)) {
        assert_int_equal(key->interp, KF_LINEAR);
        count->linear++;
    } else if (raw[0] & 0x200) {
        assert_int_equal(key->interp, KF_TCB);
        assert_true(ours->tcb[i].tension == as_float(raw[1]) && ours->tcb[i].continuity == as_float(raw[2]) &&
                    ours->tcb[i].bias == as_float(raw[3]));
        count->tcb++;
    } else if (raw[0] & 0x400) {
        bool weighted = raw[0] & 0x3000000;
        assert_int_equal(key->interp, weighted ? KF_BEZIER : KF_HERMITE);
        if (next) {
            const kf_handle out = ours->handles[i].out, in = ours->handles[i + 1].in;
            const ufbx_tangent left = theirs[1].left;
            double right_weight = raw[0] & 0x1000000 ? (raw[3] & 0xffff) / 9999.0 : 1 / 3.0;
            double left_weight = raw[0] & 0x2000000 ? (raw[3] >> 16) / 9999.0 : 1 / 3.0;
            assert_true(near(out.dt, right_weight * duration, 1e-4));
            assert_true(near(in.dt, -left_weight * duration, 1e-4));
            assert_true(near(out.dv * scale, as_float(raw[1]) * out.dt, 1e-6));
            assert_true(near(in.dv * scale, as_float(raw[2]) * in.dt, 1e-6));
            /* ufbx's own handles are up to 0.01 % short, and it has its own view of what follows a TCB key.
             */
            assert_true(near(out.dt, (double)theirs->right.dx, 2e-4));
            assert_true(near(out.dv * scale, (double)theirs->right.dy, 2e-4));
            if (key[1].interp != KF_TCB && key[1].interp != KF_AUTO) {
                assert_true(near(-in.dt, (double)left.dx, 2e-4));
                assert_true(near(-in.dv * scale, (double)left.dy, 2e-4));
            }
        }
        count->user++;
        count->weighted += weighted;
    } else {
        assert_int_equal(key->interp, KF_AUTO);
        count->automatic++;
    }
}

static unsigned extrapolation(ufbx_extrapolation_mode mode)
{
    return mode == UFBX_EXTRAPOLATION_REPEAT            ? KF_REPEAT
           : mode == UFBX_EXTRAPOLATION_MIRROR          ? KF_MIRROR
           : mode == UFBX_EXTRAPOLATION_SLOPE           ? KF_SLOPE
           : mode == UFBX_EXTRAPOLATION_REPEAT_RELATIVE ? KF_REPEAT_RELATIVE
                                                        : KF_CONSTANT;
}

static const kf_track *find_track(const kf_take *take, uint32_t layer, int node, kf_channel channel,
                                  const char *name)
{
    const kf_track *found = NULL;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        if (track->layer != layer || (int)track->node != node || track->channel != channel) continue;
        if (name && strcmp(track->name, name) != 0) continue;
        assert_null(found);
        found = track;
    }
    return found;
}

/* False if it is an animation of something that is not carried. */
static bool compare_property(const kf_anim *anim, const kf_take *take, uint32_t layer,
                             const ufbx_anim_prop *prop, seen *count)
{
    const char *name = text_of(prop->prop_name);
    kf_channel channel = KF_CUSTOM;
    int node = -1;
    const char *track_name = name;
    if (prop->element->type == UFBX_ELEMENT_NODE) {
        node = node_of(anim, prop->element);
        channel = !strcmp(name, "Lcl Translation") ? KF_TRANSLATION
                  : !strcmp(name, "Lcl Rotation")  ? KF_ROTATION
                  : !strcmp(name, "Lcl Scaling")   ? KF_SCALE
                  : !strcmp(name, "Visibility")    ? KF_VISIBILITY
                                                   : KF_CUSTOM;
        track_name = channel == KF_CUSTOM ? name : NULL;
    } else if (prop->element->type == UFBX_ELEMENT_BLEND_CHANNEL) {
        for (size_t i = 0; i < anim->node_count; i++)
            if (anim->nodes[i].mesh) node = (int)i;
        channel = KF_MORPH;
        track_name = text_of(prop->element->name);
    } else {
        return false;
    }
    const kf_track *track = find_track(take, layer, node, channel, track_name);
    assert_non_null(track);
    const ufbx_anim_value *value = prop->anim_value;
    double scale = channel == KF_MORPH ? 100.0 : 1.0;
    assert_int_equal(track->curves, channel <= KF_SCALE ? 3 : 1);
    for (unsigned c = 0; c < track->curves; c++) {
        const kf_curve *ours = &track->curve[c];
        const ufbx_anim_curve *curve = value->curves[c];
        if (channel <= KF_SCALE) assert_true(track->rest[c] == value->default_value.v[c]);
        assert_int_equal(ours->count, curve ? curve->keyframes.count : 0);
        if (!curve) continue;
        assert_int_equal(ours->pre, extrapolation(curve->pre_extrapolation.mode));
        assert_int_equal(ours->post, extrapolation(curve->post_extrapolation.mode));
        for (size_t i = 0; i < ours->count; i++) compare_key(ours, curve, i, scale, count);
        count->curves++;
    }
    return true;
}

static void compare_scene(const kf_anim *anim, const ufbx_scene *scene, seen *count)
{
    compare_nodes(anim, scene);
    assert_true(near(anim->frame_rate, scene->settings.frames_per_second, 1e-4));
    assert_int_equal(anim->settings.time_mode, scene->settings.time_mode);
    assert_true(near(anim->settings.unit_scale, scene->settings.unit_meters * 100.0, 1e-12));
    assert_int_equal(2 * anim->settings.up_axis + (anim->settings.up_sign < 0), scene->settings.axes.up);
    assert_int_equal(2 * anim->settings.front_axis + (anim->settings.front_sign < 0),
                     scene->settings.axes.front);
    assert_int_equal(2 * anim->settings.coord_axis + (anim->settings.coord_sign < 0),
                     scene->settings.axes.right);
    assert_int_equal(anim->take_count, scene->anim_stacks.count);
    for (size_t i = 0; i < anim->take_count; i++) {
        const ufbx_anim_stack *stack = scene->anim_stacks.data[i];
        const kf_take *take = &anim->takes[i];
        assert_string_equal(take->name, text_of(stack->element.name));
        assert_true(take->start == stack->time_begin && take->end == stack->time_end);
        assert_int_equal(take->layer_count, stack->layers.count);
        size_t carried = 0;
        for (size_t l = 0; l < stack->layers.count; l++) {
            const ufbx_anim_layer *layer = stack->layers.data[l];
            assert_string_equal(take->layers[l].name, text_of(layer->element.name));
            assert_true(near(take->layers[l].weight, layer->weight, 1e-12));
            assert_int_equal(take->layers[l].mode == 0, layer->additive);
            for (size_t p = 0; p < layer->anim_props.count; p++)
                carried += compare_property(anim, take, (uint32_t)l, &layer->anim_props.data[p], count);
        }
        assert_int_equal(take->track_count, carried);
    }
}

static void samples_as_ufbx_sees_them(void **state)
{
    (void)state;
    seen count = {0};
    size_t files = 0;
    for (size_t i = 0; i < FBX_SAMPLE_COUNT; i++) {
        size_t size;
        void *data = fbx_sample(FBX_SAMPLES[i], &size);
        if (!data) continue;
        fbx_begin(&job, UINT64_MAX);
        kf_anim anim;
        assert_true(fbx_read(&job, data, size, &anim));
        ufbx_load_opts opts = {.retain_dom = true};
        ufbx_scene *scene = ufbx_load_memory(data, size, &opts, NULL);
        assert_non_null(scene);
        compare_scene(&anim, scene, &count);
        /* Only the one file animates something else, the weight of a layer. */
        assert_int_equal(kfi_said(&job, "animation-not-carried"), strstr(FBX_SAMPLES[i], "layers") ? 1 : 0);
        assert_int_equal(kfi_said(&job, "not-carried"), 1);
        ufbx_free_scene(scene);
        free(data);
        kfi_arena_free(&job.arena);
        assert_int_equal(job.arena.total, 0); /* ufbx's memory was counted in and out */
        files++;
    }
    if (files < FBX_SAMPLE_COUNT) skip();
    printf("%zu files, %zu curves, %zu keys: %zu constant, %zu linear, %zu auto, %zu user (%zu weighted), "
           "%zu TCB\n",
           files, count.curves, count.keys, count.constant, count.linear, count.automatic, count.user,
           count.weighted, count.tcb);
    /* What there is in the ten files. */
    assert_int_equal(count.curves, 52);
    assert_int_equal(count.keys, 449);
    assert_int_equal(count.constant, 15);
    assert_int_equal(count.linear, 336);
    assert_int_equal(count.automatic, 67);
    assert_int_equal(count.user, 21);
    assert_int_equal(count.weighted, 15);
    assert_int_equal(count.tcb, 10);
}

/* The same scene in both encodings, which are read in different ways. */
static void both_encodings(void **state)
{
    (void)state;
    size_t ascii_size, binary_size;
    void *ascii = fbx_sample("maya_interpolation_modes_7500_ascii.fbx", &ascii_size);
    void *binary = fbx_sample("maya_interpolation_modes_7500_binary.fbx", &binary_size);
    if (!ascii || !binary) {
        free(ascii);
        free(binary);
        skip();
    }
    fbx_begin(&job, UINT64_MAX);
    kf_anim a, b;
    assert_true(fbx_read(&job, ascii, ascii_size, &a));
    assert_true(fbx_read(&job, binary, binary_size, &b));
    assert_int_equal(a.takes[0].tracks[0].curve[0].count, 12);
    for (size_t i = 0; i < 12; i++) { /* 7 digits in the one, floats in the other */
        double *value = &a.takes[0].tracks[0].curve[0].keys[i].value;
        double other = b.takes[0].tracks[0].curve[0].keys[i].value;
        assert_true(near(*value, other, 1e-6));
        *value = other;
    }
    for (int c = 0; c < 3; c++) { /* 15 digits */
        assert_true(near(a.nodes[0].rest.translation[c], b.nodes[0].rest.translation[c], 1e-14));
        a.nodes[0].rest.translation[c] = b.nodes[0].rest.translation[c];
        assert_true(near(a.takes[0].tracks[0].rest[c], b.takes[0].tracks[0].rest[c], 1e-14));
        a.takes[0].tracks[0].rest[c] = b.takes[0].tracks[0].rest[c];
    }
    fbx_assert_same(&a, &b, "ASCII and binary");
    free(ascii);
    free(binary);
}

/* ---------------------------------------------------------------- cut and damaged */

static void try_bytes(const void *data, size_t size, size_t *good, size_t *bad)
{
    fbx_begin(&job, 256 * 1024 * 1024);
    kf_anim anim;
    if (fbx_read(&job, data, size, &anim)) {
        ++*good;
    } else {
        ++*bad;
        assert_true(job.error.message[0] != '\0');
        assert_true(job.error.offset == KF_NO_OFFSET || job.error.offset <= size);
    }
    kfi_arena_free(&job.arena);
    assert_int_equal(job.arena.total, 0);
}

static void cut_samples(void **state)
{
    (void)state;
    size_t good = 0, bad = 0;
    for (size_t i = 0; i < FBX_SAMPLE_COUNT; i++) {
        size_t size;
        uint8_t *data = fbx_sample(FBX_SAMPLES[i], &size);
        if (!data) continue;
        for (size_t length = 0; length < size; length += length < 64 ? 1 : size / 150 + 1) {
            uint8_t *cut = malloc(length ? length : 1);
            memcpy(cut, data, length);
            try_bytes(cut, length, &good, &bad);
            free(cut);
        }
        free(data);
    }
    if (bad == 0) skip();
    printf("%zu cut files: %zu read, %zu refused\n", good + bad, good, bad);
    assert_true(bad > 10 * good); /* the end of a file holds little that is missed */
}

static uint32_t random_state = 12345;
static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 16 | random_state << 16;
}

static void damaged_samples(void **state)
{
    (void)state;
    size_t good = 0, bad = 0;
    for (size_t i = 0; i < FBX_SAMPLE_COUNT; i++) {
        size_t size;
        uint8_t *data = fbx_sample(FBX_SAMPLES[i], &size);
        if (!data) continue;
        uint8_t *copy = malloc(size);
        for (int round = 0; round < 150; round++) {
            memcpy(copy, data, size);
            for (uint32_t flips = 1 + next_random() % 8; flips > 0; flips--)
                copy[next_random() % size] = (uint8_t)next_random();
            try_bytes(copy, size, &good, &bad);
        }
        free(copy);
        free(data);
    }
    if (good + bad == 0) skip();
    printf("%zu damaged files: %zu read, %zu refused\n", good + bad, good, bad);
    assert_true(good > 0 && bad > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(samples_as_ufbx_sees_them, tear_down),
        cmocka_unit_test_teardown(both_encodings, tear_down),
        cmocka_unit_test_teardown(cut_samples, tear_down),
        cmocka_unit_test_teardown(damaged_samples, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
