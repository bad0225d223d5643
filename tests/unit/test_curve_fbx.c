/* Curves from FBX files against ufbx's evaluation of the same files, and against MotionBuilder's own samples.
 */
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
#include "helper_curves.h"
#include "helper_memory.h"
#include "ufbx.h"

static void sample_path(const char *name, char *path, size_t size)
{
    const char *folder = getenv("KEYFERRY_FBX_SAMPLES");
    if (folder)
        snprintf(path, size, "%s/%s", folder, name);
    else
        snprintf(path, size, "%s/../shared/fbx-samples/%s", KEYFERRY_SOURCE, name);
}

static ufbx_scene *load(const char *path)
{
    ufbx_load_opts options = {0};
    options.retain_dom = true;
    return ufbx_load_file(path, &options, NULL);
}

/* The raw arrays as they stand in the file. */
static void raw_curve(const ufbx_anim_curve *from, kf_curve *curve)
{
    ufbx_dom_node *node = from->element.dom_node;
    assert_non_null(node);
    ufbx_int64_list times = ufbx_dom_as_int64_list(ufbx_dom_find(node, "KeyTime"));
    ufbx_int32_list flags = ufbx_dom_as_int32_list(ufbx_dom_find(node, "KeyAttrFlags"));
    ufbx_int32_list counts = ufbx_dom_as_int32_list(ufbx_dom_find(node, "KeyAttrRefCount"));
    ufbx_dom_node *data = ufbx_dom_find(node, "KeyAttrDataFloat");
    ufbx_float_list numbers = ufbx_dom_as_float_list(data);
    ufbx_int32_list words = ufbx_dom_as_int32_list(data);
    kfi_fbx_keys keys = {.count = times.count,
                         .runs = flags.count,
                         .times = times.data,
                         .flags = flags.data,
                         .ref_count = counts.data};
    keys.values = calloc(times.count + 1, sizeof *keys.values);
    keys.data = calloc(4 * flags.count + 1, sizeof *keys.data);
    for (size_t i = 0; i < times.count; i++)
        keys.values[i] = (float)from->keyframes.data[i].value;
    memcpy(keys.data, numbers.count ? (const void *)numbers.data : (const void *)words.data,
           16 * flags.count);
    *curve = (kf_curve){0};
    assert_true(kfi_fbx_unpack(&curve_job, &keys, (double)KFI_FBX_TICKS, curve));
    curve->pre = (uint8_t)from->pre_extrapolation.mode;
    curve->post = (uint8_t)from->post_extrapolation.mode;
    free(keys.values);
    free(keys.data);
}

/* ufbx takes weights for shares of 10000, they are of 9999: the comparison needs its handles. */
static void shorten_as_ufbx(kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        if (key->attr & KFI_FBX_WEIGHT_RIGHT) {
            curve->handles[i].out.dt *= 0.9999;
            curve->handles[i].out.dv *= 0.9999;
        }
        if (i > 0 && key[-1].attr & KFI_FBX_WEIGHT_NEXT_LEFT) {
            curve->handles[i].in.dt *= 0.9999;
            curve->handles[i].in.dv *= 0.9999;
        }
    }
}

/* At 16 times per segment and beyond both ends; returns how many curves were compared. */
static size_t compare_with_ufbx(const ufbx_scene *scene, const char *what)
{
    size_t compared = 0;
    for (size_t c = 0; c < scene->anim_curves.count; c++) {
        const ufbx_anim_curve *theirs = scene->anim_curves.data[c];
        if (theirs->keyframes.count < 2)
            continue;
        kf_curve ours;
        raw_curve(theirs, &ours);
        shorten_as_ufbx(&ours);
        double limit = 1e-5 * curve_range(&ours);
        double start = ours.keys[0].time, length = ours.keys[ours.count - 1].time - start;
        for (size_t i = 0; i + 1 < ours.count; i++)
            for (int k = 0; k <= 16; k++) {
                double time = ours.keys[i].time + (ours.keys[i + 1].time - ours.keys[i].time) * k / 16.0;
                double is = kfi_curve_value(&ours, time, 0.0),
                       should = ufbx_evaluate_curve(theirs, time, 0.0);
                if (!(fabs(is - should) <= limit))
                    fail_msg("%s, curve %zu, key %zu + %d/16: %.9g instead of %.9g", what, c, i, k, is,
                             should);
            }
        for (int k = -64; k < 128; k++) {
            double time = start + length * (k + 0.37) / 32.0;
            double is = kfi_curve_value(&ours, time, 0.0), should = ufbx_evaluate_curve(theirs, time, 0.0);
            if (!(fabs(is - should) <= limit))
                fail_msg("%s, curve %zu at %.6f: %.9g instead of %.9g", what, c, time, is, should);
        }
        compared++;
    }
    return compared;
}

static void test_real_files(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
        "maya_interpolation_modes_7500_binary.fbx",          "maya_interpolation_modes_7500_ascii.fbx",
        "maya_anim_interpolation_7700_binary.fbx",           "maya_auto_clamp_7700_binary.fbx",
        "motionbuilder_tangent_weight_7700_ascii.fbx",       "motionbuilder_tangent_tcb_7700_ascii.fbx",
        "motionbuilder_extrapolation_slope_7700_binary.fbx", "max_transformed_skin_7500_binary.fbx",
        "blender440_shape_weight_anim_7400_binary.fbx",      "maya_anim_layers_7500_binary.fbx"};
    size_t compared = 0;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char path[1024];
        sample_path(NAMES[i], path, sizeof path);
        ufbx_scene *scene = load(path);
        if (!scene) {
            print_message("skipped: %s is not there\n", NAMES[i]);
            continue;
        }
        compared += compare_with_ufbx(scene, NAMES[i]);
        ufbx_free_scene(scene);
    }
    if (compared == 0)
        skip();
}

/* ---- MotionBuilder's own samples ---- */

/* The one public curve of TCB keys that MotionBuilder wrote: the keys as they stand in its file, and what
 * MotionBuilder itself plays at 24 frames a second, as ufbx's tests publish it. */
static const struct {
    int64_t ticks;
    float value, tension, continuity, bias;
} TCB_KEYS[] = {
    {0, 0, -0.5f, 0.5f, 0.75f},
    {11546539500, -2, -1, 1, -1},
    {23093079000, 5, -1, 0, 1},
    {46186158000, 0, 0, -1, -1},
    {57732697500, 10, 0, -4, 0},
    {80825776500, 6, -0.8f, -0.2f, 0.6f},
    {92372316000, -2, 0.8f, 0.2f, -0.4f},
    {98145585750, 4, 0.5f, 1.5f, -0.5f},
    {109692125250, -1, 0.5f, 1.5f, -0.5f},
    {115465395000, 4, 0.5f, -0.5f, -0.6f},
};
enum { TCB_COUNT = sizeof TCB_KEYS / sizeof *TCB_KEYS };

static const double TCB_SAMPLES[] = {
    0.000000,  -0.839699, -2.648148, -4.546875, -5.657407, -5.101273, -2.000000, -1.805556, -1.222222,
    -0.250000, 1.111111,  2.861111,  5.000000,  6.862268,  7.870370,  8.156250,  7.851851,  7.089120,
    6.000000,  4.716435,  3.370370,  2.093750,  1.018518,  0.276620,  0.000000,  2.407407,  3.481481,
    4.000000,  4.740741,  6.481482,  10.000000, 7.193704,  5.340741,  4.290000,  3.890371,  3.990741,
    4.440001,  5.087037,  5.780741,  6.370000,  6.703704,  6.630741,  6.000000,  4.702963,  2.951704,
    1.076000,  -0.594370, -1.729629, -2.000000, -0.186167, 2.875667,  4.000000,  3.947917,  2.680556,
    0.875000,  -0.791667, -1.642361, -1.000000, -0.069444, 2.354167,  4.000000,
};

static void test_motionbuilder_tcb(void **state)
{
    (void)state;
    kf_key keys[TCB_COUNT];
    kf_tcb tcb[TCB_COUNT];
    kf_curve curve = {.keys = keys, .count = TCB_COUNT, .tcb = tcb, .tcb_rule = KF_TCB_FBX};
    for (size_t i = 0; i < TCB_COUNT; i++) {
        keys[i] = (kf_key){.time = (double)TCB_KEYS[i].ticks / KFI_FBX_TICKS,
                           .value = (double)TCB_KEYS[i].value,
                           .interp = KF_TCB};
        tcb[i] = (kf_tcb){TCB_KEYS[i].tension, TCB_KEYS[i].continuity, TCB_KEYS[i].bias, 0, 0};
    }
    /* Printed with six digits after the point, so each is off by up to half of the last one by itself. */
    const double limit = 1e-6 + 0.5e-6;
    double worst = 0;
    for (size_t i = 0; i < sizeof TCB_SAMPLES / sizeof *TCB_SAMPLES; i++) {
        double is = kfi_curve_value(&curve, (double)i / 24, 0), off = fabs(is - TCB_SAMPLES[i]);
        worst = fmax(worst, off);
        if (!(off <= limit))
            fail_msg("frame %zu: %.9g, but MotionBuilder has %.9g", i, is, TCB_SAMPLES[i]);
    }
    print_message("MotionBuilder's TCB samples: off by %.3g at the most, by %.3g of the range\n", worst,
                  worst / curve_range(&curve));

    char path[1024];
    sample_path("motionbuilder_tangent_tcb_7700_ascii.fbx", path, sizeof path);
    ufbx_scene *scene = load(path);
    if (!scene) {
        print_message("skipped: MotionBuilder's file is not there; its keys were taken from the table\n");
        return;
    }
    kf_curve file = {0};
    for (size_t c = 0; c < scene->anim_curves.count; c++)
        if (scene->anim_curves.data[c]->keyframes.count == TCB_COUNT)
            raw_curve(scene->anim_curves.data[c], &file);
    assert_int_equal(file.count, TCB_COUNT);
    for (size_t i = 0; i < TCB_COUNT; i++) {
        assert_int_equal(file.keys[i].interp, KF_TCB);
        assert_true(file.keys[i].time == keys[i].time && file.keys[i].value == keys[i].value);
        assert_memory_equal(&file.tcb[i], &tcb[i], sizeof tcb[i]);
    }
    ufbx_free_scene(scene);
}

/* ---- every kind, written by us ---- */

enum { NODES = 24, KEYS = 14 };

/* Attribute words of automatic tangents: plain, clamped in each way, broken, with weights of their own. */
static const uint32_t AUTO_WORDS[] = {0x108,  0x1108, 0x2108,    0x4108,    0x5108,
                                      0x6108, 0x908,  0x3000108, 0x3006108, 0x1000108};

/* Only what an FBX can say: a record holds the next key's left weight and bias, and not every record does. */
static void dress_up(kf_curve *curve, bool mixed)
{
    curve->tcb_rule = KF_TCB_FBX;
    curve->pre = (uint8_t)random_below(5);
    curve->post = (uint8_t)random_below(5);
    for (size_t i = 0; i < curve->count; i++) {
        kf_key *key = &curve->keys[i];
        kf_handles *handles = &curve->handles[i];
        if (key->interp == KF_AUTO) {
            double bias = mixed || random_below(3) ? 0 : random_between(-900, 900);
            key->attr = AUTO_WORDS[random_below(sizeof AUTO_WORDS / sizeof *AUTO_WORDS)];
            /* A weight counts only with its flag. */
            double third = i + 1 < curve->count ? (key[1].time - key->time) / 3 : handles->out.dt;
            if (!(key->attr & KFI_FBX_WEIGHT_RIGHT))
                handles->out.dt = third;
            if (i + 1 < curve->count && !(key->attr & KFI_FBX_WEIGHT_NEXT_LEFT))
                handles[1].in.dt = -third;
            if (i > 0 && key[-1].interp != KF_AUTO && key[-1].interp != KF_BEZIER)
                handles->in.dt = (key[-1].time - key->time) / 3;
            handles->out.dv = bias * handles->out.dt;
            handles->in.dv = (random_below(2) ? -bias : 0) * handles->in.dt;
        }
        if (random_below(6) == 0 && i > 0)
            key->value = key[-1].value; /* level with its neighbour: what clamping looks for */
    }
}

static void every_kind(uint64_t seed)
{
    random_seed(seed);
    kf_anim anim;
    kfi_anim_init(&anim, "test");
    kf_take *take = kfi_add_take(&curve_job, &anim, "take");
    assert_non_null(take);
    for (uint32_t n = 0; n < NODES; n++) {
        char name[16];
        snprintf(name, sizeof name, "node%u", n);
        assert_non_null(kfi_add_node(&curve_job, &anim, kfi_strdup(&curve_job, name), -1));
        kf_track *track = kfi_add_track(&curve_job, take, n, KF_TRANSLATION, 3);
        assert_non_null(track);
        for (int c = 0; c < 3; c++) { /* one kind alone, then all of them */
            uint32_t kinds = n < KF_INTERP_COUNT ? 1u << n : 0x7f;
            random_curve(&track->curve[c], KEYS, kinds, RANDOM_TCB);
            dress_up(&track->curve[c], n >= KF_INTERP_COUNT);
        }
    }
    kfi_fit_take_ranges(&anim);
    assert_true(kfi_anim_validate(&curve_job, &anim));
    memory_sink memory;
    kf_sink sink = memory_sink_of(&memory);
    assert_true(kfi_fbx_write(&curve_job, &anim, &sink));
    ufbx_load_opts options = {.retain_dom = true};
    ufbx_scene *scene = ufbx_load_memory(memory.data, memory.size, &options, NULL);
    assert_non_null(scene);
    assert_int_equal(compare_with_ufbx(scene, "what we wrote"), 3 * NODES);

    /* And what ufbx plays is what we meant, but for FBX's rounding: weights are whole 1/9999, and ufbx takes
     * them for 1/10000. */
    for (uint32_t n = 0; n < NODES; n++) {
        const ufbx_node *node = ufbx_find_node(scene, anim.nodes[n].name);
        const ufbx_anim_prop *prop =
            ufbx_find_anim_prop(scene->anim_layers.data[0], &node->element, UFBX_Lcl_Translation);
        assert_non_null(prop);
        for (int c = 0; c < 3; c++) {
            const ufbx_anim_curve *theirs = prop->anim_value->curves[c];
            const kf_curve *curve = &anim.takes[0].tracks[n].curve[c];
            double limit = 1e-3 * curve_range(curve);
            for (size_t i = 0; i + 1 < curve->count; i++)
                for (int k = 0; k < 16; k++) {
                    double step = curve->keys[i + 1].time - curve->keys[i].time;
                    double time = curve->keys[i].time + step * (k + 0.5) / 16;
                    double is = ufbx_evaluate_curve(theirs, time, 0),
                           should = kfi_curve_value(curve, time, 0);
                    double slack = fabs(kfi_curve_value(curve, time + 1e-4 * step, 0) - should);
                    if (!(fabs(is - should) <= limit + 4 * slack))
                        fail_msg("node %u, curve %d, key %zu (kind %d) + %d/16: ufbx has %.6g, not %.6g", n,
                                 c, i, curve->keys[i].interp, k, is, should);
                }
        }
    }
    ufbx_free_scene(scene);
    memory_sink_free(&memory);
}

static void test_every_kind(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        every_kind(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_real_files, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_motionbuilder_tcb, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_every_kind, curve_set_up, curve_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
