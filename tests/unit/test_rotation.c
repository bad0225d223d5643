/* Orientations, Euler angles in all six orders, quaternion curves and their Euler curves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "helper_curves.h"
#include "helper_rounds.h"

static const double NONE[3] = {0, 0, 0};

static void random_quat(double q[4])
{
    double axis[3] = {random_between(-1, 1), random_between(-1, 1), random_between(-1, 1)};
    kfi_quat_from_axis(random_between(-360, 360), axis, q);
}

/* The rotation matrix of a quaternion and of Euler angles, by the book: XYZ is Rz Ry Rx. */
static void quat_matrix(const double q[4], double m[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(m, r, sizeof r);
}

static void euler_matrix(const double degrees[3], const char *order, double m[3][3])
{
    double result[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (; *order; order++) {
        int axis = *order - 'X', j = (axis + 1) % 3, k = (axis + 2) % 3;
        double a = degrees[axis] * acos(-1) / 180, turn[3][3] = {{0}}, next[3][3] = {{0}};
        turn[axis][axis] = 1;
        turn[j][j] = turn[k][k] = cos(a);
        turn[k][j] = sin(a);
        turn[j][k] = -sin(a);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                for (int i = 0; i < 3; i++)
                    next[r][c] += turn[r][i] * result[i][c];
        memcpy(result, next, sizeof next);
    }
    memcpy(m, result, sizeof result);
}

static const char *const ORDERS[6] = {"XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX"};

static void test_euler_is_the_matrix(void **state)
{
    (void)state;
    for (int order = 0; order < 6; order++)
        for (int n = 0; n < rounds(2000); n++) {
            double degrees[3], q[4], a[3][3], b[3][3];
            for (int i = 0; i < 3; i++)
                degrees[i] = random_between(-800, 800);
            kfi_quat_from_euler(degrees, (kf_rotation_order)order, q);
            quat_matrix(q, a);
            euler_matrix(degrees, ORDERS[order], b);
            for (int i = 0; i < 9; i++)
                assert_true(fabs(a[i / 3][i % 3] - b[i / 3][i % 3]) < 1e-11);
        }
}

static void test_euler_and_back(void **state)
{
    (void)state;
    double worst = 0;
    for (int order = 0; order < 6; order++)
        for (int n = 0; n < rounds(20000); n++) {
            double degrees[3], near[3], q[4], found[3], back[4];
            for (int i = 0; i < 3; i++) {
                degrees[i] = random_between(-900, 900);
                if (n % 3 == 0) /* at and near multiples of 90, where an order locks */
                    degrees[i] =
                        90.0 * (random_below(17) - 8.0) + (n % 2 ? pow(10, random_between(-14, -1)) : 0);
                near[i] = degrees[i] + random_between(-20, 20);
            }
            kfi_quat_from_euler(degrees, (kf_rotation_order)order, q);
            kfi_quat_to_euler(q, (kf_rotation_order)order, near, found);
            kfi_quat_from_euler(found, (kf_rotation_order)order, back);
            worst = fmax(worst, kfi_quat_angle(q, back));
            /* It is at least as near as the angles that made it. */
            double is = 0, was = 0;
            for (int i = 0; i < 3; i++) {
                is += (found[i] - near[i]) * (found[i] - near[i]);
                was += (degrees[i] - near[i]) * (degrees[i] - near[i]);
            }
            assert_true(is <= was + 1e-4);
        }
    assert_true(worst < 5e-5); /* what the lock's width of 2e-7 can cost */
}

/* How far a small step of the angles turns follows from the angle between the first and the last axis. */
static void test_euler_cosine(void **state)
{
    (void)state;
    for (int order = 0; order < 6; order++)
        for (int n = 0; n < rounds(500); n++) {
            int second = ORDERS[order][1] - 'X', first = ORDERS[order][0] - 'X', last = ORDERS[order][2] - 'X';
            double angles[3], step[3], there[3], q[4], p[4];
            for (int i = 0; i < 3; i++) {
                angles[i] = random_between(-180, 180);
                step[i] = random_between(-1e-3, 1e-3);
                there[i] = angles[i] + step[i];
            }
            kfi_quat_from_euler(angles, (kf_rotation_order)order, q);
            kfi_quat_from_euler(there, (kf_rotation_order)order, p);
            double cosine = kfi_euler_cosine((kf_rotation_order)order, angles[second]);
            double square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2] +
                            2 * cosine * step[first] * step[last];
            assert_true(fabs(kfi_quat_angle(q, p) - sqrt(square)) < 1e-7);
        }
}

static void test_axis_and_slerp(void **state)
{
    (void)state;
    for (int n = 0; n < rounds(5000); n++) {
        double a[4], b[4], c[4], axis[3], angle, back[4];
        random_quat(a);
        random_quat(b);
        kfi_quat_to_axis(a, &angle, axis);
        assert_true(angle >= 0 && angle <= 180.0000001);
        kfi_quat_from_axis(angle, axis, back);
        assert_true(kfi_quat_angle(a, back) < 1e-10);
        double u = random_between(0, 1), whole = kfi_quat_angle(a, b);
        kfi_quat_slerp(a, b, u, c);
        assert_true(fabs(kfi_quat_dot(c, c) - 1) < 1e-12);
        assert_true(fabs(kfi_quat_angle(a, c) - u * whole) < 1e-6);
        assert_true(fabs(kfi_quat_angle(c, b) - (1 - u) * whole) < 1e-6);
    }
    double none[4] = {0, 0, 0, 0}, wrong[4] = {NAN, 1, 0, 0}, q[4], axis[3], angle;
    kfi_quat_normalize(none);
    kfi_quat_normalize(wrong);
    assert_true(none[0] == 1 && wrong[0] == 1 && wrong[1] == 0);
    kfi_quat_from_axis(90, (double[3]){0, 0, 0}, q);
    assert_true(q[0] == 1);
    kfi_quat_to_axis(q, &angle, axis);
    assert_true(angle == 0 && axis[0] == 1);
}

/* ---- quaternion curves ---- */

/* Turning about one axis, a squad is the scalar cubic with the same numbers, inner keys at least. */
static void test_squad_about_one_axis(void **state)
{
    (void)state;
    for (int n = 0; n < rounds(200); n++) {
        kf_curve angles;
        kf_quat_curve curve = {0};
        random_curve(&angles, 8, 1u << KF_TCB, RANDOM_TCB | RANDOM_EASE);
        assert_true(kfi_make_quat_keys(&curve_job, &curve, 8, true));
        for (size_t i = 0; i < 8; i++) {
            kfi_quat_from_axis(angles.keys[i].value, (double[3]){1, 2, -3}, curve.keys[i].q);
            curve.keys[i].time = angles.keys[i].time;
            curve.keys[i].interp = KF_TCB;
            curve.tcb[i] = angles.tcb[i];
        }
        for (size_t i = 1; i < 6; i++)
            for (int k = 0; k <= 16; k++) {
                double time = angles.keys[i].time + (angles.keys[i + 1].time - angles.keys[i].time) * k / 16;
                double q[4], should[4];
                kfi_quat_curve_value(&curve, time, q);
                kfi_quat_from_axis(kfi_curve_value(&angles, time, 0), (double[3]){1, 2, -3}, should);
                if (!(kfi_quat_angle(q, should) < 1e-6))
                    fail_msg("curve %d, key %zu + %d/16: off by %g degrees", n, i, k,
                             kfi_quat_angle(q, should));
            }
    }
}

static void test_quat_curves(void **state)
{
    (void)state;
    static double times[2000], q[2000][4], one[4];
    for (int n = 0; n < rounds(40); n++) {
        kf_quat_curve curve;
        random_quat_curve(&curve, 1 + (size_t)n, 1u << KF_STEP | 1u << KF_LINEAR | 1u << KF_TCB,
                          RANDOM_TCB | RANDOM_EASE, 170);
        double end = curve.keys[curve.count - 1].time + 0.5;
        for (int i = 0; i < 2000; i++)
            times[i] = -0.5 + (end + 0.5) * i / 1999;
        kfi_quat_curve_values(&curve, times, 2000, q);
        for (int i = 0; i < 2000; i++) {
            kfi_quat_curve_value(&curve, times[i], one);
            assert_true(kfi_quat_angle(q[i], one) < 1e-9);
            assert_true(fabs(kfi_quat_dot(one, one) - 1) < 1e-9);
        }
        for (size_t i = 0; i < curve.count; i++) {
            kfi_quat_curve_value(&curve, curve.keys[i].time, one);
            assert_true(kfi_quat_angle(curve.keys[i].q, one) < 1e-9);
            if (i + 1 < curve.count &&
                curve.keys[i].interp != KF_STEP) { /* and it gets there without a jump */
                kfi_quat_curve_value(&curve, curve.keys[i + 1].time - 1e-9, one);
                assert_true(kfi_quat_angle(curve.keys[i + 1].q, one) < 1e-4);
            }
        }
    }
    kf_quat_curve none = {0};
    kfi_quat_curve_value(&none, 1, one);
    assert_true(one[0] == 1);
}

/* ---- to Euler curves and back ---- */

typedef struct outcome {
    double worst;  /* degrees */
    double widest; /* step of one component between keys */
    size_t keys, helpers;
} outcome;

static outcome convert(const kf_quat_curve *curve, int order, double tolerance, kf_curve euler[3])
{
    outcome o = {0};
    assert_true(kfi_euler_from_quat_curve(&curve_job, curve, (kf_rotation_order)order, tolerance, euler));
    size_t own = 0;
    for (size_t i = 0; i < euler[0].count; i++) {
        const kf_key *key = &euler[0].keys[i];
        if (key->flags & KF_KEY_HELPER) {
            o.helpers++;
            assert_int_equal(euler[0].origin[i].key, own - 1);
        } else {
            assert_true(key->time == curve->keys[own].time);
            assert_int_equal(euler[0].origin[i].key, own);
            own++;
        }
        assert_true(euler[1].keys[i].time == key->time && euler[2].keys[i].time == key->time);
        if (i == 0)
            continue;
        bool held = key[-1].interp == KF_STEP;
        for (int c = 0; c < 3 && !held; c++)
            o.widest = fmax(o.widest, fabs(euler[c].keys[i].value - euler[c].keys[i - 1].value));
        for (int k = 0; k < 61; k++) { /* nowhere that a fit would look by itself */
            double time = key[-1].time + (key->time - key[-1].time) * (k + 0.5) / 61, angles[3], is[4], should[4];
            for (int c = 0; c < 3; c++)
                angles[c] = kfi_curve_value(&euler[c], time, 0);
            kfi_quat_from_euler(angles, (kf_rotation_order)order, is);
            kfi_quat_curve_value(curve, time, should);
            o.worst = fmax(o.worst, kfi_quat_angle(is, should));
        }
    }
    assert_int_equal(own, curve->count);
    assert_true(euler[1].count == euler[0].count && euler[2].count == euler[0].count);
    o.keys = own;
    return o;
}

static void test_to_euler_within_tolerance(void **state)
{
    (void)state;
    const double tolerances[3] = {1, 0.1, 0.01};
    for (int t = 0; t < 3; t++) {
        size_t keys = 0, helpers = 0;
        double worst = 0;
        for (int order = 0; order < 6; order++)
            for (int n = 0; n < rounds(30); n++) {
                kf_quat_curve curve;
                kf_curve euler[3];
                random_quat_curve(&curve, 12, n % 2 ? 1u << KF_TCB : 1u << KF_LINEAR | 1u << KF_STEP,
                                  RANDOM_TCB | (n % 3 ? 0 : RANDOM_EASE), n < 8 ? 3 : n < 20 ? 60 : 179);
                outcome o = convert(&curve, order, tolerances[t], euler);
                if (!(o.worst <= tolerances[t]) || !(o.widest < 180))
                    fail_msg("order %s, curve %d: off by %g degrees of %g, widest step %g", ORDERS[order], n,
                             o.worst, tolerances[t], o.widest);
                worst = fmax(worst, o.worst);
                keys += o.keys;
                helpers += o.helpers;
            }
        print_message("within %g degrees: %.2f helper keys a segment, worst %g\n", tolerances[t],
                      (double)helpers / (double)keys, worst);
    }
}

/* About one axis of the order there is nothing to help with. */
static void test_to_euler_simple_turns(void **state)
{
    (void)state;
    for (int order = 0; order < 6; order++)
        for (int axis = 0; axis < 3; axis++) {
            /* 720 degrees by keys 80 degrees apart: unrolled, straight, no helper keys. */
            kf_quat_curve curve = {0};
            kf_curve euler[3];
            assert_true(kfi_make_quat_keys(&curve_job, &curve, 10, false));
            for (size_t i = 0; i < 10; i++) {
                double direction[3] = {0};
                direction[axis] = 1;
                kfi_quat_from_axis(80.0 * (double)i, direction, curve.keys[i].q);
                curve.keys[i].time = 0.4 * (double)i;
                curve.keys[i].interp = KF_LINEAR;
            }
            outcome o = convert(&curve, order, 0.01, euler);
            assert_int_equal(o.helpers, 0);
            assert_true(o.worst < 1e-6);
            for (size_t i = 0; i < 10; i++)
                for (int c = 0; c < 3; c++)
                    assert_true(fabs(euler[c].keys[i].value - (c == axis ? 80.0 * (double)i : 0)) < 1e-6);
            /* A half turn is longer than one step may be. */
            curve.count = 2;
            double direction[3] = {0};
            direction[axis] = 1;
            kfi_quat_from_axis(180, direction, curve.keys[1].q);
            o = convert(&curve, order, 0.01, euler);
            assert_int_equal(o.helpers, 1);
            assert_true(o.widest < 180 && o.worst < 1e-6);
        }
}

/* Motions that go through the lock, past it at any distance, stay at it, or come from 32-bit floats. */
static void test_to_euler_near_the_lock(void **state)
{
    (void)state;
    size_t most = 0;
    for (int order = 0; order < 6; order++)
        for (int n = 0; n < rounds(60); n++) {
            int second = ORDERS[order][1] - 'X', first = ORDERS[order][0] - 'X';
            kf_quat_curve curve = {0};
            kf_curve euler[3];
            assert_true(kfi_make_quat_keys(&curve_job, &curve, 4, false));
            double distance = n % 5 == 0 ? 0.0 : pow(10, random_between(-9, 1)),
                   tilt = random_between(0, 360);
            for (size_t i = 0; i < 4;
                 i++) { /* tilted aside by `distance` so that it misses 90 degrees by that */
                double angles[3] = {0}, aside[3] = {0}, swing[4], lean[4];
                angles[second] = 60.0 + 20.0 * (double)i;
                angles[first] = n % 7 == 0 ? 0 : tilt;
                aside[first] = 1;
                kfi_quat_from_euler(angles, (kf_rotation_order)order, swing);
                kfi_quat_from_axis(distance, aside, lean);
                kfi_quat_multiply(lean, swing, curve.keys[i].q);
                for (int c = 0; c < 4 && n % 2; c++)
                    curve.keys[i].q[c] = (double)(float)curve.keys[i].q[c];
                kfi_quat_normalize(curve.keys[i].q);
                curve.keys[i].time = 0.5 * (double)i;
                curve.keys[i].interp = KF_LINEAR;
            }
            outcome o = convert(&curve, order, 0.01, euler);
            most = o.helpers > most ? o.helpers : most;
            if (!(o.worst <= 0.01) || !(o.widest < 180))
                fail_msg("order %s, %g degrees from the lock: off by %g degrees, widest step %g",
                         ORDERS[order], distance, o.worst, o.widest);
            if (distance < 1e-3 && o.helpers > 0)
                fail_msg("order %s, %g degrees from the lock: %zu helper keys for a straight swing",
                         ORDERS[order], distance, o.helpers);
        }
    print_message("past the lock at any distance: at most %zu helper keys in three segments\n", most);
}

/* Few helper keys: against a search over a grid of joints, each piece three cubics between points of the
 * motion with slopes by least squares, weighted toward the worst points. */
enum { GRID = 64, FINE = 6 };

static bool grid_piece_fits(double (*angles)[3], double (*q)[4], int from, int to, int order,
                            double tolerance)
{
    static double weight[GRID * FINE + 1], miss[GRID * FINE + 1];
    int count = to - from;
    for (int i = 0; i <= count; i++)
        weight[i] = 1;
    for (int round = 0; round < 12; round++) {
        double a[3], b[3], worst = 0;
        for (int c = 0; c < 3; c++) {
            double aa = 0, ab = 0, bb = 0, ra = 0, rb = 0;
            for (int i = 1; i < count; i++) {
                double s = (double)i / count, f = s * (1 - s);
                double y = angles[from + i][c] - angles[from][c] - s * (angles[to][c] - angles[from][c]);
                aa += weight[i] * f * f;
                ab += weight[i] * f * f * s;
                bb += weight[i] * f * f * s * s;
                ra += weight[i] * f * y;
                rb += weight[i] * f * s * y;
            }
            a[c] = (ra * bb - rb * ab) / (aa * bb - ab * ab);
            b[c] = (rb * aa - ra * ab) / (aa * bb - ab * ab);
            if (!(fabs(angles[to][c] - angles[from][c]) < 180))
                return false;
        }
        for (int i = 1; i < count; i++) {
            double s = (double)i / count, is[3], o[4];
            for (int c = 0; c < 3; c++)
                is[c] =
                    angles[from][c] + s * (angles[to][c] - angles[from][c]) + s * (1 - s) * (a[c] + b[c] * s);
            kfi_quat_from_euler(is, (kf_rotation_order)order, o);
            miss[i] = kfi_quat_angle(o, q[from + i]);
            worst = fmax(worst, miss[i]);
        }
        if (worst <= tolerance)
            return true;
        if (round == 2 && worst > 3 * tolerance)
            return false; /* the rounds to come do not gain that much */
        for (int i = 1; i < count; i++)
            weight[i] *= 0.2 + miss[i] / worst;
    }
    return false;
}

static void test_to_euler_few_helpers(void **state)
{
    (void)state;
    static double angles[GRID * FINE + 1][3], q[GRID * FINE + 1][4];
    size_t ours = 0, fewest = 0;
    for (int n = 0; n < rounds(18); n++) {
        kf_quat_curve curve;
        kf_curve euler[3];
        random_quat_curve(&curve, 2, 1u << KF_LINEAR, 0, 170);
        curve.keys[0].interp = KF_LINEAR;
        ours += convert(&curve, n % 6, 0.01, euler).helpers + 1;
        double near[3] = {0, 0, 0};
        for (int i = 0; i <= GRID * FINE; i++) {
            kfi_quat_curve_value(&curve, curve.keys[1].time * i / (GRID * FINE), q[i]);
            kfi_quat_to_euler(q[i], (kf_rotation_order)(n % 6), near, angles[i]);
            memcpy(near, angles[i], sizeof near);
        }
        size_t best[GRID + 1] = {0};
        for (int to = 1; to <= GRID; to++) {
            best[to] = SIZE_MAX;
            for (int from = 0; from < to; from++)
                if (best[from] != SIZE_MAX && best[from] + 1 < best[to] &&
                    grid_piece_fits(angles, q, FINE * from, FINE * to, n % 6, 0.01))
                    best[to] = best[from] + 1;
        }
        assert_true(best[GRID] != SIZE_MAX);
        fewest += best[GRID];
    }
    print_message("pieces of %d slerps: %zu, the search finds %zu\n", rounds(18), ours, fewest);
    assert_true(ours <= fewest);
}

static void test_from_euler_curves(void **state)
{
    (void)state;
    size_t keys = 0, all = 0;
    for (int n = 0; n < rounds(60); n++) {
        kf_curve euler[3];
        kf_quat_curve curve;
        int order = n % 6;
        double rest[3] = {10, 20, 30}, tolerance = n % 2 ? 0.1 : 0.5;
        for (int c = 0; c < 3; c++) {
            random_curve(&euler[c], n % 10 == c ? 0 : 5, n % 3 ? 1u << KF_HERMITE | 1u << KF_LINEAR : 0x1f,
                         0);
            for (size_t i = 0; i < euler[c].count; i++)
                euler[c].keys[i].value *= 9;
            keys += euler[c].count;
        }
        assert_true(
            kfi_quat_from_euler_curves(&curve_job, euler, rest, (kf_rotation_order)order, tolerance, &curve));
        all += curve.count;
        for (size_t i = 0; i + 1 < curve.count; i++) {
            assert_true(curve.keys[i + 1].time > curve.keys[i].time);
            assert_true(kfi_quat_dot(curve.keys[i].q, curve.keys[i + 1].q) >= 0);
            double length = curve.keys[i + 1].time - curve.keys[i].time;
            if (length <= 1.01e-4) /* the hold beside a jump */
                continue;
            for (int k = 0; k < 61; k++) {
                double angles[3], q[4], is[4], time = curve.keys[i].time + length * (k + 0.5) / 61;
                for (int c = 0; c < 3; c++)
                    angles[c] = kfi_curve_value(&euler[c], time, rest[c]);
                kfi_quat_from_euler(angles, (kf_rotation_order)order, q);
                kfi_quat_curve_value(&curve, time, is);
                if (!(kfi_quat_angle(q, is) <= tolerance))
                    fail_msg("curve %d at %.6f: off by %g degrees", n, time, kfi_quat_angle(q, is));
            }
        }
        for (int c = 0; c < 3; c++)
            for (size_t i = 0; i < euler[c].count; i++) { /* a key for every key */
                bool found = false;
                for (size_t k = 0; k < curve.count; k++)
                    found = found || curve.keys[k].time == euler[c].keys[i].time;
                assert_true(found);
            }
    }
    print_message("%zu Euler keys became %zu quaternion keys\n", keys, all);
    kf_curve none[3] = {{0}};
    kf_quat_curve empty;
    assert_true(kfi_quat_from_euler_curves(&curve_job, none, NONE, KF_XYZ, 0.01, &empty));
    assert_int_equal(empty.count, 0);
}

/* Two full turns between two keys need enough keys to be told from none. */
static void test_from_euler_full_turns(void **state)
{
    (void)state;
    kf_key keys[2] = {{.interp = KF_LINEAR}, {.time = 1, .value = 720}};
    kf_curve euler[3] = {{.keys = keys, .count = 2}, {0}, {0}}, back[3];
    kf_quat_curve curve;
    assert_true(kfi_quat_from_euler_curves(&curve_job, euler, NONE, KF_ZXY, 0.01, &curve));
    assert_in_range(curve.count, 6, 9);
    assert_true(kfi_euler_from_quat_curve(&curve_job, &curve, KF_ZXY, 0.01, back));
    assert_true(fabs(back[0].keys[back[0].count - 1].value - 720) < 1e-6);
    for (int i = 0; i <= 64; i++)
        assert_true(fabs(kfi_curve_value(&back[0], i / 64.0, 0) - 720 * i / 64.0) < 0.02);
}

/* A hundred turns about one axis take a few keys each; turns about three that no number of keys could tell take few. */
static void test_from_euler_very_many_turns(void **state)
{
    (void)state;
    kf_key keys[2] = {{.interp = KF_LINEAR}, {.time = 1, .value = 36000}};
    kf_curve one[3] = {{.keys = keys, .count = 2}, {0}, {0}};
    kf_quat_curve curve;
    assert_true(kfi_quat_from_euler_curves(&curve_job, one, NONE, KF_XYZ, 0.01, &curve));
    assert_in_range(curve.count, 201, 400);
    for (int i = 0; i <= 1000; i++) {
        const double angles[3] = {36.0 * i, 0, 0};
        double q[4], is[4];
        kfi_quat_from_euler(angles, KF_XYZ, q);
        kfi_quat_curve_value(&curve, i / 1000.0, is);
        assert_true(kfi_quat_angle(q, is) <= 0.01);
    }
    for (double degrees = 1e6; degrees < 1e300; degrees *= 1e7) {
        keys[1].value = degrees;
        kf_curve all[3] = {one[0], one[0], one[0]};
        assert_true(kfi_quat_from_euler_curves(&curve_job, all, NONE, KF_XYZ, 0.01, &curve));
        assert_in_range(curve.count, 2, 66);
    }
}

/* Whole double turns more are no other orientation, however many they are. */
static void test_from_euler_far_out(void **state)
{
    (void)state;
    for (double turns = 1.0; turns < 1e11; turns *= 3.0) {
        for (int n = 0; n < 6; n++) {
            const double near[3] = {31.0, -62.5, 118.25}, far[3] = {31.0 + 720.0 * turns, -62.5 - 720.0 * turns, 118.25 + 720.0 * turns};
            double a[4], b[4];
            kfi_quat_from_euler(near, (kf_rotation_order)n, a);
            kfi_quat_from_euler(far, (kf_rotation_order)n, b);
            /* As near as the numbers themselves are. */
            for (int i = 0; i < 4; i++)
                assert_true(fabs(a[i] - b[i]) <= 1e-15 + 720.0 * turns * 1.2e-16 * 0.03);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_euler_is_the_matrix, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_euler_and_back, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_euler_cosine, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_axis_and_slerp, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_squad_about_one_axis, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_quat_curves, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_to_euler_within_tolerance, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_to_euler_simple_turns, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_to_euler_near_the_lock, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_to_euler_few_helpers, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_from_euler_curves, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_from_euler_full_turns, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_from_euler_very_many_turns, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_from_euler_far_out, curve_set_up, curve_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
