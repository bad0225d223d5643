/* Dense orientations to few keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "fit/fit.h"
#include "helper_curves.h"

enum { MOST = 4000 };
static double times[MOST], q[MOST][4];

static size_t bake(const kf_quat_curve *curve)
{
    size_t count = (size_t)floor(curve->keys[curve->count - 1].time * 30 + 1.5);
    for (size_t i = 0; i < count; i++)
        times[i] = (double)i / 30;
    kfi_quat_curve_values(curve, times, count, q);
    return count;
}

static kf_quat_curve fit(size_t count, uint32_t interps, double tolerance, const kf_quat_curve *original)
{
    kf_quat_curve result;
    kfi_fit_quat_options options = {.interps = interps, .tolerance = tolerance, .original = original};
    assert_true(kfi_fit_quat(&curve_job, times, (const double(*)[4])q, count, &options, &result));
    return result;
}

static double worst_at_samples(const kf_quat_curve *curve, size_t count)
{
    double worst = 0, is[4];
    for (size_t i = 0; i < count; i++) {
        kfi_quat_curve_value(curve, times[i], is);
        worst = fmax(worst, kfi_quat_angle(is, q[i]));
    }
    return worst;
}

static const struct {
    const char *what;
    uint32_t own, allowed;
    unsigned how;
} KINDS[] = {
    {"slerp", 1u << KF_LINEAR, 1u << KF_LINEAR, 0},
    {"slerp and step", 1u << KF_LINEAR | 1u << KF_STEP, 1u << KF_LINEAR | 1u << KF_STEP, 0},
    {"TCB", 1u << KF_TCB, 1u << KF_TCB | 1u << KF_LINEAR, RANDOM_TCB | RANDOM_TAME},
    {"TCB alone", 1u << KF_TCB, 1u << KF_TCB, RANDOM_TCB | RANDOM_TAME},
    {"TCB with ease", 1u << KF_TCB, 1u << KF_TCB | 1u << KF_LINEAR, RANDOM_TCB | RANDOM_EASE | RANDOM_TAME},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static void test_untouched(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        for (int n = 0; n < 40; n++) {
            kf_quat_curve curve;
            random_quat_curve(&curve, 12, KINDS[kind].own, KINDS[kind].how | RANDOM_FRAMES, 120);
            size_t count = bake(&curve);
            kf_quat_curve back = fit(count, KINDS[kind].allowed, 0.01, &curve);
            assert_int_equal(back.count, curve.count);
            for (size_t i = 0; i < curve.count; i++) {
                assert_int_equal(back.origin[i].key, i);
                assert_int_equal(back.origin[i].changed, 0);
                assert_memory_equal(&back.keys[i], &curve.keys[i], sizeof curve.keys[i]);
            }
        }
}

/* A region turned aside by up to 20 degrees: within tolerance there, the keys away from it as they were. */
static void test_region(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        size_t before = 0, after = 0, beside = KINDS[kind].how & RANDOM_TCB ? 2 : 0, away = 0, kept = 0;
        double worst = 0;
        for (int n = 0; n < (KINDS[kind].how ? 5 : 30); n++) {
            kf_quat_curve curve;
            random_quat_curve(&curve, 24, KINDS[kind].own, KINDS[kind].how | RANDOM_FRAMES, 90);
            for (size_t i = 0; i < 24 && KINDS[kind].how;
                 i++) { /* moderate turns about axes that wander a little */
                double s = 0.15 * (double)i;
                kfi_quat_from_axis(25 * (double)i + random_between(-5, 5),
                                   (double[3]){1, 0.2 * sin(s), 0.2 * cos(s)}, curve.keys[i].q);
            }
            size_t first = 6 + random_below(8), last = first + 3, count = bake(&curve);
            double start = curve.keys[first].time, end = curve.keys[last].time;
            for (size_t i = 0; i < count; i++) {
                double s = (times[i] - start) / (end - start), turn[4];
                double angle = s > 0 && s < 1 ? 20 * pow(sin(acos(-1) * s), 4) : 0;
                kfi_quat_from_axis(angle, (double[3]){1, 2, 3}, turn);
                kfi_quat_multiply(turn, q[i], q[i]);
            }
            kf_quat_curve back = fit(count, KINDS[kind].allowed, 0.05, &curve);
            worst = fmax(worst, worst_at_samples(&back, count));
            before += curve.count;
            after += back.count;
            for (size_t i = 0; i < curve.count; i++) {
                if (i + beside >= first && i <= last + beside)
                    continue;
                away++;
                for (size_t k = 0; k < back.count; k++)
                    kept += back.origin[k].key == i && back.origin[k].changed == 0;
            }
        }
        print_message(
            "%s: %zu keys, a turn over three segments, fitted with %zu, worst %g; %zu of %zu keys away "
            "from it kept\n",
            KINDS[kind].what, before, after, worst, kept, away);
        assert_true(worst <= 0.05001);
        assert_true(KINDS[kind].how & RANDOM_EASE ? kept * 10 > away * 9 : kept == away);
        if (KINDS[kind].how) /* three segments of 23 by TCB keys, not by slerps */
            assert_true((double)after <= (KINDS[kind].how & RANDOM_EASE ? 1.7 : 1.4) * (double)before);
    }
}

static void test_from_nothing(void **state)
{
    (void)state;
    /* Sparse slerps are found again from their samples alone. */
    for (int n = 0; n < 30; n++) {
        kf_quat_curve curve;
        random_quat_curve(&curve, 12, 1u << KF_LINEAR, RANDOM_FRAMES, 150);
        size_t count = bake(&curve);
        kf_quat_curve back = fit(count, 1u << KF_LINEAR, 0.01, NULL);
        assert_int_equal(back.count, curve.count);
        assert_true(worst_at_samples(&back, count) <= 0.01001);
    }
    /* A smooth motion, holds and steps; and by TCB keys alone. */
    const uint32_t masks[3] = {1u << KF_LINEAR, 1u << KF_LINEAR | 1u << KF_STEP, 1u << KF_TCB};
    for (int shape = 0; shape < 2; shape++)
        for (int m = 0; m < 3; m++) {
            size_t count = 301;
            for (size_t i = 0; i < count; i++) {
                times[i] = (double)i / 30;
                double angles[3] = {30 * sin(times[i]), 20 * cos(1.7 * times[i]), 10 * times[i]};
                if (shape)
                    angles[0] = angles[1] = angles[2] = 40 * floor(times[i] / 1.5 + 1e-9);
                kfi_quat_from_euler(angles, KF_XYZ, q[i]);
            }
            kf_quat_curve back = fit(count, masks[m], 0.1, NULL);
            double worst = worst_at_samples(&back, count);
            print_message("%s, mask %x: 301 samples, %zu keys, worst %g degrees\n",
                          shape ? "stepped" : "smooth", masks[m], back.count, worst);
            assert_true(worst <= 0.1001);
            assert_true(back.count <= (shape ? m == 1 ? 8u : 14u : 90u));
        }
    kf_quat_curve none = fit(0, 1u << KF_LINEAR, 0, NULL), one = fit(1, 1u << KF_LINEAR, 0, NULL);
    assert_true(none.count == 0 && one.count == 1);
}

/* A door: TCB keys about one axis, a stretch turned further. As few keys as any curve would need, the rest as it was. */
static void test_about_an_axis(void **state)
{
    (void)state;
    enum { KEYS = 12 };
    size_t before = 0, after = 0;
    for (int n = 0; n < 40; n++) {
        kf_quat_curve curve = {0};
        assert_true(kfi_make_quat_keys(&curve_job, &curve, KEYS, true));
        double time = 0;
        for (size_t i = 0; i < KEYS; i++) {
            double half = random_between(-40, 40) * acos(-1) / 180;
            kf_quat_key *key = &curve.keys[i];
            *key = (kf_quat_key){.time = time, .q = {cos(half), 0.6 * sin(half), 0.8 * sin(half), 0}, .interp = KF_TCB};
            curve.tcb[i] = (kf_tcb){(float)random_between(-0.4, 0.4), (float)random_between(-0.4, 0.4),
                                    (float)random_between(-0.4, 0.4), 0, 0};
            time += (double)(8 + random_below(15)) / 30;
        }
        size_t count = bake(&curve), segment = random_below(KEYS - 1);
        double start = curve.keys[segment].time, end = curve.keys[segment + 1].time;
        for (size_t i = 0; i < count; i++) {
            double share = (times[i] - start) / (end - start), more = sin(share * acos(-1));
            if (!(share > 0 && share < 1))
                continue;
            double half = 7 * more * more * acos(-1) / 180, is[4];
            kfi_quat_multiply(q[i], (const double[4]){cos(half), 0.6 * sin(half), 0.8 * sin(half), 0}, is);
            memcpy(q[i], is, sizeof is);
        }
        kf_quat_curve back = fit(count, 1u << KF_TCB | 1u << KF_LINEAR, 0.01, &curve);
        assert_true(worst_at_samples(&back, count) <= 0.01);
        before += KEYS;
        after += back.count;
        for (size_t i = 0; i < KEYS; i++) {
            bool found = i + 2 >= segment && i <= segment + 3;
            for (size_t k = 0; k < back.count; k++)
                found = found || (back.origin[k].key == i && back.origin[k].changed == 0);
            assert_true(found);
        }
    }
    print_message("about one axis: %zu keys, one segment bent, fitted with %zu\n", before, after);
    assert_true((double)after <= 1.5 * (double)before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_untouched, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_about_an_axis, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_region, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_from_nothing, curve_set_up, curve_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
