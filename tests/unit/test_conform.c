/* Curves of an FBX made elsewhere, told in the kinds of keys that a format has: the motion stays, or a warning says
 * that it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "conform.h"
#include "curve.h"
#include "helper_curves.h"

enum {
    STEPS = 1u << KF_STEP | 1u << KF_STEP_NEXT,
    SMOOTH = 1u << KF_LINEAR | 1u << KF_BEZIER | 1u << KF_HERMITE | 1u << KF_AUTO,
    TCB = 1u << KF_TCB
};

/* What formats with keys at any time can store: x4-ani, nytro-anim. */
static const uint32_t STORED[] = {1u << KF_STEP | 1u << KF_LINEAR | 1u << KF_BEZIER | 1u << KF_HERMITE | TCB,
                                  1u << KF_LINEAR | 1u << KF_HERMITE | TCB};

static kf_track conformed(const kf_track *track, uint32_t interps, bool together)
{
    kf_node node = {.name = "node", .parent = -1, .source = -1};
    kf_take take = {.name = "take", .start = -2, .end = 40, .tracks = (kf_track *)track, .track_count = 1, .source = -1};
    kf_anim from = {.nodes = &node, .node_count = 1, .takes = &take, .take_count = 1, .frame_rate = 30}, to;
    kf_capabilities can = {.channels = 1u << KF_TRANSLATION, .interps = interps, .components_together = together};
    const kfi_conformed *each;
    assert_true(kfi_conform(&curve_job, &from, &can, 30, 0, &to, &each));
    assert_int_equal(to.takes[0].track_count, 1);
    return to.takes[0].tracks[0];
}

static bool near_a_key(const kf_track *track, double time)
{
    for (unsigned c = 0; c < 3; c++)
        for (size_t i = 0; i < track->curve[c].count; i++)
            if (fabs(track->curve[c].keys[i].time - time) < 2e-3)
                return true;
    return false;
}

/* How far the two are apart between keys, where no jump can be. */
static double worst_off(const kf_track *before, const kf_track *after, double *at)
{
    double worst = 0;
    for (unsigned c = 0; c < 3; c++)
        for (double time = -2; time < 12; time += 1.0 / 128) {
            double off = fabs(kfi_curve_value(&before->curve[c], time, 0) - kfi_curve_value(&after->curve[c], time, 0));
            if (off > worst && !near_a_key(before, time)) {
                worst = off;
                *at = time;
            }
        }
    return worst;
}

static void check(uint32_t kinds, unsigned how, uint8_t rule, const char *warning)
{
    for (size_t format = 0; format < sizeof STORED / sizeof *STORED; format++)
        for (int n = 0; n < 60; n++) {
            kf_track track = {.curves = 3};
            double range = 0, at = 0;
            for (unsigned c = 0; c < 3; c++) {
                random_curve(&track.curve[c], 8, kinds, how | RANDOM_FRAMES);
                track.curve[c].tcb_rule = rule;
                range = fmax(range, curve_range(&track.curve[c]));
            }
            size_t said = warning ? kfi_said(&curve_job, warning) : 0;
            kf_track after = conformed(&track, STORED[format], how & RANDOM_TAME);
            double worst = worst_off(&track, &after, &at);
            bool warned = warning && kfi_said(&curve_job, warning) > said;
            if (worst > 5e-4 * fmax(range, 1) && !warned)
                fail_msg("kinds 0x%x, format %zu, track %d: off by %g at %.4f s", kinds, format, n, worst, at);
        }
}

/* Each curve for itself; and tame ones with x, y and z at common times, where segments are split. */
static void check_both(uint32_t kinds, unsigned how, const char *warning)
{
    check(kinds, how, KF_TCB_FBX, warning);
    check(kinds, how | RANDOM_TAME, KF_TCB_FBX, warning);
}

static void test_smooth(void **state)
{
    (void)state;
    check_both(SMOOTH, 0, NULL);
}

static void test_steps(void **state)
{
    (void)state;
    check_both(STEPS, 0, NULL);
    check_both(STEPS | SMOOTH, 0, NULL);
}

/* A format without steps: the jumps are told, once a curve. */
static void test_jumps_told(void **state)
{
    (void)state;
    kf_key keys[3] = {{.time = 0, .value = 1}, {.time = 1, .value = 2}, {.time = 2, .value = 2}};
    kf_track track = {.curves = 1, .curve = {{.keys = keys, .count = 3}}};
    conformed(&track, STORED[0], false);
    assert_int_equal(kfi_said(&curve_job, "jumps"), 0);
    kf_track after = conformed(&track, STORED[1], false);
    assert_int_equal(kfi_said(&curve_job, "jumps"), 1);
    assert_float_equal(kfi_curve_value(&after.curve[0], 0.998, 0), 1, 1e-3);
    assert_float_equal(kfi_curve_value(&after.curve[0], 1, 0), 2, 1e-3);
}

static void test_tcb(void **state)
{
    (void)state;
    check_both(SMOOTH | STEPS | TCB, RANDOM_TCB, "tcb-bent");
}

/* Ease belongs to a whole segment: one that gets a key of x's or y's is told in pieces, and those beside it stay. */
static void test_ease(void **state)
{
    (void)state;
    check(TCB, RANDOM_TCB | RANDOM_EASE | RANDOM_TAME, KF_TCB_KOCHANEK, NULL);
    check(STORED[1], RANDOM_TCB | RANDOM_EASE | RANDOM_TAME, KF_TCB_KOCHANEK, NULL);
}

/* What nobody asked for a key keeps its keys. */
static void test_ease_stays(void **state)
{
    (void)state;
    kf_track track = {.curves = 3};
    random_curve(&track.curve[0], 9, TCB, RANDOM_TCB | RANDOM_EASE | RANDOM_FRAMES);
    track.curve[1] = track.curve[2] = track.curve[0];
    kf_track after = conformed(&track, STORED[0], true);
    for (unsigned c = 0; c < 3; c++) {
        assert_int_equal(after.curve[c].count, 9);
        assert_memory_equal(after.curve[c].keys, track.curve[c].keys, 9 * sizeof(kf_key));
        assert_memory_equal(after.curve[c].tcb, track.curve[c].tcb, 9 * sizeof(kf_tcb));
    }
    /* Segments 0 and 1 have no ease, 2 has: a key in the first leaves all from the third on as it was. */
    for (unsigned c = 0; c < 3; c++) {
        random_curve(&track.curve[c], 9, TCB, RANDOM_TCB | RANDOM_FRAMES);
        for (size_t i = 0; i < 9; i++)
            track.curve[c].keys[i].time = (double)i;
        track.curve[c].tcb[2].ease_out = 0.5f;
    }
    kf_curve *more = &track.curve[0];
    assert_true(kfi_make_keys(&curve_job, more, 10, KFI_NUMBERS));
    for (size_t i = 0; i < 10; i++) {
        more->keys[i] = (kf_key){.time = i == 0 ? 0 : i == 1 ? 0.5 : (double)i - 1, .value = (double)i, .interp = KF_TCB};
        more->tcb[i] = (kf_tcb){0};
    }
    after = conformed(&track, STORED[0], true);
    for (unsigned c = 1; c < 3; c++) {
        assert_int_equal(after.curve[c].count, 10);
        assert_int_equal(after.curve[c].keys[0].interp, KF_HERMITE);
        assert_int_equal(after.curve[c].keys[2].interp, KF_HERMITE);
        assert_memory_equal(after.curve[c].keys + 4, track.curve[c].keys + 3, 6 * sizeof(kf_key));
        assert_int_equal(after.curve[c].keys[3].interp, KF_TCB);
        assert_true(after.curve[c].tcb[3].ease_out == 0.5f);
    }
    double at;
    assert_true(worst_off(&track, &after, &at) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_smooth, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_steps, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_jumps_told, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_tcb, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_ease, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_ease_stays, curve_set_up, curve_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
