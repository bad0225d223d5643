/* Conversions of scalar curves: evaluate(convert(c)) = evaluate(c), over random curves at 16 times per
 * segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "helper_curves.h"
#include "helper_rounds.h"

enum { CURVES = 400, KEYS = 12 };

static void assert_same_shape(const kf_curve *a, const kf_curve *b, double limit, const char *what, int n)
{
    double at, worst = worst_between(a, b, &at);
    if (!(worst <= limit))
        fail_msg("%s, curve %d: off by %.3g at %.6f, limit %.3g", what, n, worst, at, limit);
}

static void test_to_slopes_is_exact(void **state)
{
    (void)state;
    for (int n = 0; n < rounds(CURVES); n++) {
        kf_curve curve, slopes;
        random_curve(&curve, 1 + (size_t)n % KEYS, 0x7f, RANDOM_TCB | (n % 4 == 0 ? RANDOM_WILD_HANDLES : 0));
        curve.tcb_rule = n % 2 ? KF_TCB_FBX : KF_TCB_KOCHANEK;
        if (curve.count > 4 && n % 5 == 0)
            curve.keys[3].time = curve.keys[2].time; /* a jump */
        for (size_t i = 0; i < curve.count; i++)
            curve.keys[i].attr = random_below(2) ? 0x108 : 0x5108;
        assert_true(kfi_curve_to_slopes(&curve_job, &curve, 1e-3, &slopes));
        assert_int_equal(slopes.count, curve.count);
        assert_null(slopes.tcb);
        assert_same_shape(&curve, &slopes, 1e-9 * curve_range(&curve), "to slopes", n);
        for (size_t i = 0; i < slopes.count; i++) {
            assert_int_not_equal(slopes.keys[i].interp, KF_TCB);
            assert_int_not_equal(slopes.keys[i].interp, KF_AUTO);
            assert_int_equal(slopes.origin[i].key, i);
        }
        /* Beyond the ends as well, except behind a hold or a line that FBX lets a derived key leave with its
         * own slope. */
        if (curve.count < 2 || curve.keys[curve.count - 2].interp < KF_BEZIER)
            continue;
        curve.pre = slopes.pre = curve.post = slopes.post = KF_SLOPE;
        double first = curve.keys[0].time - 1, last = curve.keys[curve.count - 1].time + 1;
        double limit = 1e-9 * curve_range(&curve);
        assert_true(fabs(kfi_curve_value(&curve, first, 0) - kfi_curve_value(&slopes, first, 0)) <= limit);
        assert_true(fabs(kfi_curve_value(&curve, last, 0) - kfi_curve_value(&slopes, last, 0)) <= limit);
    }
}

static double worst_at_helpers(const kf_curve *curve, const kf_curve *slopes)
{
    double worst = 0.0; /* between the helper keys, and nowhere that a fit would look by itself */
    for (size_t i = 0; i + 1 < slopes->count; i++)
        for (int k = 0; k < 97; k++) {
            const kf_key *key = &slopes->keys[i];
            double time = key->time + (key[1].time - key->time) * (k + 0.5) / 97.0;
            worst = fmax(worst, fabs(kfi_curve_value(curve, time, 0) - kfi_curve_value(slopes, time, 0)));
        }
    return worst;
}

static void test_ease_becomes_pieces(void **state)
{
    (void)state;
    size_t helpers[3] = {0}, eased = 0;
    const double tolerances[3] = {1e-2, 1e-4, 1e-6};
    for (int n = 0; n < rounds(CURVES); n++) {
        kf_curve curve, slopes;
        random_curve(&curve, KEYS, 1u << KF_TCB, RANDOM_TCB | RANDOM_EASE);
        double range = curve_range(&curve);
        for (size_t i = 0; i + 1 < KEYS; i++)
            eased += curve.tcb[i].ease_out > 0 || curve.tcb[i + 1].ease_in > 0;
        for (int t = 0; t < 3; t++) {
            assert_true(kfi_curve_to_slopes(&curve_job, &curve, tolerances[t] * range, &slopes));
            double worst = worst_at_helpers(&curve, &slopes);
            if (!(worst <= tolerances[t] * range))
                fail_msg("curve %d: off by %.3g, tolerance %.3g", n, worst, tolerances[t] * range);
            size_t own = 0;
            for (size_t i = 0; i < slopes.count; i++) {
                const kf_key *key = &slopes.keys[i];
                if (key->flags & KF_KEY_HELPER) {
                    helpers[t]++;
                    assert_int_equal(slopes.origin[i].key, own - 1);
                } else {
                    assert_int_equal(slopes.origin[i].key, own);
                    assert_true(key->time == curve.keys[own].time && key->value == curve.keys[own].value);
                    own++;
                }
                assert_true(i == 0 || key->time > key[-1].time);
            }
            assert_int_equal(own, KEYS);
        }
    }
    print_message(
        "helper keys per eased segment: %.2f within 1e-2 of the range, %.2f within 1e-4, %.2f within 1e-6\n",
        (double)helpers[0] / (double)eased, (double)helpers[1] / (double)eased,
        (double)helpers[2] / (double)eased);
}

/* The greedy pieces against the fewest there can be: a search over a fine grid of joints, each piece a cubic
 * between points of the curve with the best slopes that least squares finds. */
enum { GRID = 60 };

static double eased_at(const kf_curve *curve, double u)
{
    return kfi_curve_value(curve, curve->keys[0].time + u * (curve->keys[1].time - curve->keys[0].time), 0);
}

static bool grid_piece_fits(const double *v, int from, int to, double tolerance)
{
    /* Values less the chord are fitted by s(1-s)(a + b s); weighted toward the worst points a few times. */
    double weight[8 * GRID + 1], a = 0, b = 0;
    int count = to - from;
    for (int i = 0; i <= count; i++)
        weight[i] = 1;
    for (int round = 0; round < 25; round++) {
        double aa = 0, ab = 0, bb = 0, ra = 0, rb = 0, worst = 0;
        for (int i = 1; i < count; i++) {
            double s = (double)i / count, f = s * (1 - s), y = v[from + i] - v[from] - s * (v[to] - v[from]);
            aa += weight[i] * f * f;
            ab += weight[i] * f * f * s;
            bb += weight[i] * f * f * s * s;
            ra += weight[i] * f * y;
            rb += weight[i] * f * s * y;
        }
        double det = aa * bb - ab * ab;
        if (det <= 0)
            return true;
        a = (ra * bb - rb * ab) / det;
        b = (rb * aa - ra * ab) / det;
        for (int i = 1; i < count; i++) {
            double s = (double)i / count, y = v[from + i] - v[from] - s * (v[to] - v[from]);
            worst = fmax(worst, fabs(y - s * (1 - s) * (a + b * s)));
        }
        if (worst <= tolerance)
            return true;
        for (int i = 1; i < count; i++) {
            double s = (double)i / count, y = v[from + i] - v[from] - s * (v[to] - v[from]);
            weight[i] *= 0.2 + fabs(y - s * (1 - s) * (a + b * s)) / worst;
        }
    }
    return false;
}

static void test_ease_pieces_are_few(void **state)
{
    (void)state;
    static double values[8 * GRID + 1];
    size_t ours = 0, fewest = 0;
    for (int n = 0; n < rounds(30); n++) {
        kf_curve curve, slopes;
        random_curve(&curve, 2, 1u << KF_TCB, RANDOM_TCB);
        curve.tcb[0].ease_out = (float)random_between(0.05, 1);
        curve.tcb[1].ease_in = (float)random_between(0.05, 1);
        double tolerance = 1e-4 * curve_range(&curve);
        assert_true(kfi_curve_to_slopes(&curve_job, &curve, tolerance, &slopes));
        ours += slopes.count - 1;
        for (int i = 0; i <= 8 * GRID; i++)
            values[i] = eased_at(&curve, i / (8.0 * GRID));
        size_t best[GRID + 1];
        best[0] = 0;
        for (int to = 1; to <= GRID; to++) {
            best[to] = SIZE_MAX;
            for (int from = 0; from < to; from++)
                if (best[from] + 1 < best[to] && grid_piece_fits(values, 8 * from, 8 * to, tolerance))
                    best[to] = best[from] + 1;
        }
        fewest += best[GRID];
    }
    print_message("pieces of %d eased segments: %zu, the fewest possible about %zu\n", rounds(30), ours, fewest);
    assert_true((double)ours <= 1.1 * (double)fewest);
}

/* ---- Hermite, Bezier, slopes and weights ---- */

static void test_hermite_and_bezier(void **state)
{
    (void)state;
    for (int n = 0; n < rounds(CURVES); n++) {
        kf_curve hermite, bezier;
        random_curve(&hermite, KEYS, 1u << KF_HERMITE, 0);
        bezier = hermite;
        assert_true(kfi_own_keys(&curve_job, &bezier, 0));
        for (size_t i = 0; i < KEYS; i++) {
            const kf_key *key = &hermite.keys[i];
            kf_handles *handles = &bezier.handles[i];
            bezier.keys[i].interp = KF_BEZIER;
            if (i > 0)
                handles->in = kfi_slope_handle(kfi_handle_slope(handles->in), key[-1].time - key->time);
            if (i + 1 < KEYS)
                handles->out = kfi_slope_handle(kfi_handle_slope(handles->out), key[1].time - key->time);
        }
        assert_same_shape(&hermite, &bezier, 1e-9 * curve_range(&hermite), "Hermite as Bezier", n);
        for (size_t i = 0; i < KEYS; i++)
            bezier.keys[i].interp = KF_HERMITE; /* and back: only slopes count */
        assert_same_shape(&hermite, &bezier, 1e-9 * curve_range(&hermite), "and back", n);
    }
}

static void rebuild(const kf_curve *from, double least, double most, kf_curve *to)
{
    *to = *from;
    assert_true(kfi_own_keys(&curve_job, to, KFI_HANDLES));
    for (size_t i = 0; i + 1 < from->count; i++) {
        kfi_segment s;
        double slope[2], weight[2];
        kfi_curve_segment(from, i, &s);
        kfi_segment_slopes(&s, least, most, slope, weight);
        assert_true(weight[0] >= least && weight[1] >= least && weight[0] <= most && weight[1] <= most);
        if (s.shape < KFI_LINE)
            continue;
        to->keys[i].interp = KF_BEZIER;
        to->handles[i].out = kfi_weighted_handle(slope[0], weight[0], s.t1 - s.t0);
        to->handles[i + 1].in = kfi_weighted_handle(slope[1], weight[1], s.t0 - s.t1);
    }
    to->keys[to->count - 1].interp = KF_BEZIER;
}

static void test_slopes_and_weights(void **state)
{
    (void)state;
    for (int n = 0; n < rounds(CURVES); n++) {
        kf_curve curve, back;
        random_curve(&curve, KEYS, 0x7f, RANDOM_TCB);
        rebuild(&curve, 1e-4, 0.99, &back);
        assert_same_shape(&curve, &back, 1e-6 * curve_range(&curve), "slopes and weights", n);
        /* Handles that fold back, stand upright or reach too far: as near as the limits on weights allow. */
        random_curve(&curve, KEYS, 1u << KF_BEZIER, RANDOM_WILD_HANDLES);
        rebuild(&curve, 1e-9, 1.0, &back);
        for (size_t i = 0; i + 1 < KEYS; i++)
            for (int k = 1; k < 16; k++) {
                double step = curve.keys[i + 1].time - curve.keys[i].time,
                       time = curve.keys[i].time + step * k / 16;
                double low = kfi_curve_value(&curve, time - 1e-6 * step, 0),
                       is = kfi_curve_value(&back, time, 0);
                double high = kfi_curve_value(&curve, time + 1e-6 * step, 0);
                double slack = fabs(high - low) + 1e-5 * curve_range(&curve);
                if (!(is >= fmin(low, high) - slack && is <= fmax(low, high) + slack))
                    fail_msg("curve %d, key %zu + %d/16: %.9g, not %.9g", n, i, k, is, 0.5 * (low + high));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_to_slopes_is_exact, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_ease_becomes_pieces, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_ease_pieces_are_few, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_hermite_and_bezier, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_slopes_and_weights, curve_set_up, curve_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
