/* Evaluating scalar curves, against closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "helper_curves.h"

#define assert_near(is, should, limit) check_near(is, should, limit, #is, __LINE__)
static void check_near(double is, double should, double limit, const char *what, int line)
{
    if (!(fabs(is - should) <= limit))
        fail_msg("line %d: %s is %.17g, not %.17g", line, what, is, should);
}

static kf_curve curve_of(kf_key *keys, size_t count)
{
    return (kf_curve){.keys = keys, .count = count};
}

static void test_holds_and_lines(void **state)
{
    (void)state;
    kf_key keys[] = {{.time = 1, .value = 5, .interp = KF_STEP},
                     {.time = 2, .value = 7, .interp = KF_STEP_NEXT},
                     {.time = 3, .value = -1, .interp = KF_LINEAR},
                     {.time = 5, .value = 3}};
    kf_curve curve = curve_of(keys, 4);
    assert_near(kfi_curve_value(&curve, 1.0, 0), 5, 0);
    assert_near(kfi_curve_value(&curve, 1.999, 0), 5, 0);
    assert_near(kfi_curve_value(&curve, 2.0, 0), 7, 0);
    assert_near(kfi_curve_value(&curve, 2.0001, 0), -1, 0);
    assert_near(kfi_curve_value(&curve, 3.0, 0), -1, 0);
    assert_near(kfi_curve_value(&curve, 3.5, 0), 0, 1e-15);
    assert_near(kfi_curve_value(&curve, 5.0, 0), 3, 0);
    assert_near(kfi_curve_value(&curve, 0.0, 0), 5, 0);
    assert_near(kfi_curve_value(&curve, 9.0, 0), 3, 0);
    kf_curve none = {0}, one = curve_of(keys, 1);
    assert_near(kfi_curve_value(&none, 1.0, 42), 42, 0);
    assert_near(kfi_curve_value(&one, 7.0, 42), 5, 0);
}

static void test_hermite_is_a_cubic(void **state)
{
    (void)state;
    kf_key keys[5] = {0};
    kf_handles handles[5];
    double times[] = {-1, -0.25, 0.5, 2, 2.5};
    for (int i = 0; i < 5; i++) { /* x^3 - 2x + 1, handles of any length */
        double t = times[i], slope = 3 * t * t - 2;
        keys[i] = (kf_key){.time = t, .value = t * t * t - 2 * t + 1, .interp = KF_HERMITE};
        handles[i] = (kf_handles){{-0.1 * (i + 1), -0.1 * (i + 1) * slope}, {0.2, 0.2 * slope}};
    }
    kf_curve curve = {.keys = keys, .count = 5, .handles = handles};
    for (int i = 0; i <= 350; i++) {
        double t = -1 + i * 0.01;
        assert_near(kfi_curve_value(&curve, t, 0), t * t * t - 2 * t + 1, 1e-13);
    }
    double in, out;
    kfi_curve_slopes(&curve, 2, &in, &out);
    assert_near(in, 3 * 0.25 - 2, 1e-13);
    assert_near(out, 3 * 0.25 - 2, 1e-13);
}

/* Points of a Bezier by de Casteljau, which the evaluation must find again from their time. */
static void test_bezier_solved_for_time(void **state)
{
    (void)state;
    for (int n = 0; n < 4000; n++) {
        double w0 = random_between(0, 1), w1 = random_between(0, 1), duration = random_between(1e-3, 50);
        if (n % 7 == 0)
            w0 = 0;
        if (n % 11 == 0)
            w1 = 0;
        if (n % 13 == 0)
            w0 = 1;
        if (n % 5 == 0)
            w1 = 1;
        kf_key keys[2] = {{.time = 3, .value = 1, .interp = KF_BEZIER}, {.time = 3 + duration, .value = 2}};
        kf_handles handles[2] = {{.out = {w0 * duration, random_between(-5, 5)}},
                                 {.in = {-w1 * duration, random_between(-5, 5)}}};
        kf_curve curve = {.keys = keys, .count = 2, .handles = handles};
        for (int k = 0; k <= 64; k++) {
            double u = k / 64.0, x[4] = {0, w0 * duration, duration - w1 * duration, duration};
            double y[4] = {1, 1 + handles[0].out.dv, 2 + handles[1].in.dv, 2};
            for (int level = 3; level > 0; level--)
                for (int i = 0; i < level; i++) {
                    x[i] += u * (x[i + 1] - x[i]);
                    y[i] += u * (y[i + 1] - y[i]);
                }
            /* The value is right for a time within 1e-9 of the segment of the one asked for. */
            double low = kfi_curve_value(&curve, 3 + x[0] - 1e-9 * duration, 0);
            double high = kfi_curve_value(&curve, 3 + x[0] + 1e-9 * duration, 0);
            double is = kfi_curve_value(&curve, 3 + x[0], 0), slack = fabs(high - low) + 1e-9;
            if (!(fabs(is - y[0]) <= slack))
                fail_msg("weights %g %g at u %g: %.12g instead of %.12g", w0, w1, u, is, y[0]);
        }
    }
}

static void test_bezier_known_points(void **state)
{
    (void)state;
    /* Flat handles of weight w at both ends: by symmetry the middle is the middle, whatever w. */
    for (double w = 0; w <= 1; w += 0.125) {
        kf_key keys[2] = {{.interp = KF_BEZIER}, {.time = 1, .value = 4}};
        kf_handles handles[2] = {{.out = {w, 0}}, {.in = {-w, 0}}};
        kf_curve curve = {.keys = keys, .count = 2, .handles = handles};
        assert_near(kfi_curve_value(&curve, 0.5, 0), 2, w < 1 ? 1e-9 : 1e-4); /* where it stands upright, less sure */
    }
    /* No handles at all: a straight line. Thirds: a cubic in time. */
    kf_key line[2] = {{.interp = KF_BEZIER}, {.time = 1, .value = 4}};
    kf_curve straight = curve_of(line, 2);
    assert_near(kfi_curve_value(&straight, 0.3, 0), 1.2, 1e-12);
    kf_handles thirds[2] = {{.out = {1 / 3.0, 0}}, {.in = {-1 / 3.0, 0}}};
    straight.handles = thirds;
    assert_near(kfi_curve_value(&straight, 0.3, 0), 4 * 0.09 * (3 - 0.6), 1e-12);
}

/* Time never runs backwards and nothing is infinite, whatever the handles. */
static void test_wild_handles(void **state)
{
    (void)state;
    for (int n = 0; n < 500; n++) {
        kf_curve curve;
        random_curve(&curve, 6, 1u << KF_BEZIER, RANDOM_WILD_HANDLES);
        if (n == 0)
            curve.handles[2].out = (kf_handle){NAN, INFINITY};
        for (size_t i = 0; i + 1 < curve.count; i++) {
            kfi_segment s;
            kfi_curve_segment(&curve, i, &s);
            double duration = s.t1 - s.t0;
            assert_true(s.h0.dt >= 0 && s.h0.dt <= duration && s.h1.dt <= 0 && s.h1.dt >= -duration);
            double low = fmin(fmin(s.v0, s.v1), fmin(s.v0 + s.h0.dv, s.v1 + s.h1.dv));
            double high = fmax(fmax(s.v0, s.v1), fmax(s.v0 + s.h0.dv, s.v1 + s.h1.dv));
            for (int k = 0; k <= 100; k++) { /* within the hull of its four points */
                double value = kfi_segment_value(&s, s.t0 + duration * k / 100);
                assert_true(value >= low - 1e-9 && value <= high + 1e-9);
            }
        }
    }
    /* A handle that folds back stands upright; one too long keeps its direction. */
    kf_key keys[2] = {{.interp = KF_BEZIER}, {.time = 1, .value = 4}};
    kf_handles handles[2] = {{.out = {-1, 3}}, {.in = {-4, -8}}};
    kf_curve curve = {.keys = keys, .count = 2, .handles = handles};
    kfi_segment s;
    kfi_curve_segment(&curve, 0, &s);
    assert_near(s.h0.dt, 0, 0);
    assert_near(s.h0.dv, 3, 0);
    assert_near(s.h1.dt, -1, 0);
    assert_near(s.h1.dv, -2, 0);
}

/* ---- TCB ---- */

static void make_tcb(kf_key *keys, const double *times, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = (kf_key){.time = times[i], .value = values[i], .interp = KF_TCB};
}

static void test_tcb_by_hand(void **state)
{
    (void)state;
    /* Gaps 1 and 3, rises 2 and 9: p = 1/2, n = 3/2. */
    double times[] = {0, 1, 4}, values[] = {0, 2, 11}, in, out;
    kf_key keys[3];
    kf_tcb tcb[3] = {{0}};
    make_tcb(keys, times, values, 3);
    kf_curve curve = {.keys = keys, .count = 3, .tcb = tcb};

    kfi_curve_slopes(&curve, 1, &in, &out); /* 1/2 p (2 + 9) = 2.75 over 1; 1/2 n 11 = 8.25 over 3 */
    assert_near(in, 2.75, 1e-14);
    assert_near(out, 2.75, 1e-14);
    kfi_curve_slopes(&curve, 0, &in, &out); /* 1/2 (3 * 2 - 2.75) */
    assert_near(out, 1.625, 1e-14);
    kfi_curve_slopes(&curve, 2, &in, &out); /* 1/2 (3 * 9 - 8.25) / 3 */
    assert_near(in, 3.125, 1e-14);

    tcb[1] = (kf_tcb){.tension = 0.5f};
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(in, 1.375, 1e-14);
    tcb[1] = (kf_tcb){.bias = 0.5f}; /* 1/2 p (1.5 * 2 + 0.5 * 9) */
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(in, 1.875, 1e-14);
    assert_near(out, 1.875, 1e-14);
    tcb[1] =
        (kf_tcb){.continuity = 0.5f}; /* p = 3/4, n = 5/4; 1/2 p (0.5*2 + 1.5*9); 1/2 n (1.5*2 + 0.5*9) / 3 */
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(in, 5.4375, 1e-14);
    assert_near(out, 1.5625, 1e-14);
    tcb[1] = (kf_tcb){.continuity = -1}; /* a corner: each side goes straight to its neighbour */
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(in, 2, 1e-14);
    assert_near(out, 3, 1e-14);
    tcb[1] = (kf_tcb){.tension = NAN, .bias = INFINITY}; /* counts as 0 */
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(in, 2.75, 1e-14);

    /* The last key may be of another kind: it is still arrived at by its numbers. */
    keys[2].interp = KF_STEP;
    tcb[1] = (kf_tcb){0};
    tcb[2] = (kf_tcb){.tension = 1};
    assert_near(kfi_curve_value(&curve, 2.5, 0), 2 + 4.5 + 2.75 * 3 / 8.0, 1e-12);
}

static void test_tcb_two_keys_and_straight_lines(void **state)
{
    (void)state;
    double times[] = {1, 3}, values[] = {4, 10};
    kf_key keys[8];
    kf_tcb tcb[8] = {{.tension = 0}, {.tension = 1}};
    make_tcb(keys, times, values, 2);
    kf_curve curve = {.keys = keys, .count = 2, .tcb = tcb};
    double in, out;
    kfi_curve_slopes(&curve, 0, &in, &out);
    assert_near(out, 3, 1e-15);
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(in, 0, 1e-15);
    /* Keys evenly on a line stay on it. */
    for (int i = 0; i < 8; i++)
        keys[i] = (kf_key){.time = i * 0.5, .value = 3 - 2 * i, .interp = KF_TCB};
    curve = (kf_curve){.keys = keys, .count = 8};
    for (int i = 0; i <= 70; i++)
        assert_near(kfi_curve_value(&curve, i * 0.05, 0), 3 - 4 * (i * 0.05), 1e-12);
}

/* A jump (two keys at one time) is no neighbour: both sides are ends. */
static void test_tcb_beside_a_jump(void **state)
{
    (void)state;
    double times[] = {0, 1, 1, 2, 3}, values[] = {0, 1, 100, 101, 102};
    kf_key keys[5];
    make_tcb(keys, times, values, 5);
    kf_curve curve = {.keys = keys, .count = 5};
    for (int i = 0; i < 10; i++)
        assert_near(kfi_curve_value(&curve, i * 0.1, 0), i * 0.1, 1e-12);
    assert_near(kfi_curve_value(&curve, 1.0, 0), 100, 0);
    for (int i = 0; i <= 20; i++)
        assert_near(kfi_curve_value(&curve, 1 + i * 0.1, 0), 100 + i * 0.1, 1e-12);
}

static void test_ease(void **state)
{
    (void)state;
    assert_near(kfi_ease(0.3, 0, 0), 0.3, 0);
    for (double a = 0; a <= 1; a += 0.125)
        for (double b = 0; b <= 1; b += 0.125) {
            double sum = fmax(a + b, 1), from = a / sum, to = 1 - b / sum, k = 1 / (2 - (a + b) / sum);
            assert_near(kfi_ease(0, a, b), 0, 0);
            assert_near(kfi_ease(1, a, b), 1, 1e-15);
            assert_near(kfi_ease(from, a, b), k * from, 1e-15);
            assert_near(kfi_ease(to, a, b), 1 - k * (1 - to), 1e-15);
            for (int i = 0; i < 1000; i++) /* always onward, and without a jump */
                assert_true(kfi_ease((i + 1) / 1000.0, a, b) - kfi_ease(i / 1000.0, a, b) < 0.0021);
        }
    double times[] = {0, 2}, values[] = {0, 8};
    kf_key keys[2];
    kf_tcb tcb[2] = {{.ease_out = 0.5f}, {.ease_in = 0.5f}};
    make_tcb(keys, times, values, 2);
    kf_curve curve = {.keys = keys, .count = 2, .tcb = tcb};
    assert_near(kfi_curve_value(&curve, 0.5, 0), 8 * 2 * 0.0625, 1e-14); /* k = 1: 2 u^2 */
    assert_near(kfi_curve_value(&curve, 1.5, 0), 8 - 8 * 2 * 0.0625, 1e-14);
    tcb[0].ease_out = NAN;
    tcb[1].ease_in = -3;
    assert_near(kfi_curve_value(&curve, 0.5, 0), 2, 1e-14);
    curve.tcb_rule = KF_TCB_FBX; /* which knows no ease */
    tcb[0].ease_out = 1;
    assert_near(kfi_curve_value(&curve, 0.5, 0), 2, 1e-14);
}

/* The slopes of MotionBuilder's rule in fractions, worked out by hand; the numbers are those of the keys in a
 * file of MotionBuilder's, whose own evaluation agrees with these to all the six digits that it prints. */
static void test_tcb_as_motionbuilder(void **state)
{
    (void)state;
    double times[] = {0, 0.25, 0.5, 1, 1.25, 1.75, 2, 2.125, 2.375, 2.5};
    double values[] = {0, -2, 5, 0, 10, 6, -2, 4, -1, 4};
    kf_tcb tcb[] = {{-0.5f, 0.5f, 0.75f, 0, 0}, {-1, 1, -1, 0, 0},         {-1, 0, 1, 0, 0},
                    {0, -1, -1, 0, 0},          {0, -4, 0, 0, 0},          {-0.8f, -0.2f, 0.6f, 0, 0},
                    {0.8f, 0.2f, -0.4f, 0, 0},  {0.5f, 1.5f, -0.5f, 0, 0}, {0.5f, 1.5f, -0.5f, 0, 0},
                    {0.5f, -0.5f, -0.6f, 0, 0}};
    double arrive[] = {0, 112, 56, 0, 112, -23.04, 6.528, -21.75, 38.75, 12};
    double leave[] = {-1.5, 0, 56, 80, -80, -23.04, 3.072, 18.75, -13.75, 0};
    kf_key keys[10];
    make_tcb(keys, times, values, 10);
    kf_curve curve = {.keys = keys, .count = 10, .tcb = tcb, .tcb_rule = KF_TCB_FBX};
    for (size_t i = 0; i < 10; i++) {
        double in, out;
        kfi_curve_slopes(&curve, i, &in, &out);
        if (i > 0)
            assert_near(in, arrive[i], 1e-4);
        if (i < 9)
            assert_near(out, leave[i], 1e-4);
    }
    /* Half way: the mean of the ends and an eighth of the segment times the slopes' difference. */
    for (size_t i = 0; i < 9; i++) {
        double length = times[i + 1] - times[i];
        double middle = (values[i] + values[i + 1]) / 2 + length / 8 * (leave[i] - arrive[i + 1]);
        assert_near(kfi_curve_value(&curve, times[i] + length / 2, 0), middle, 1e-5);
    }
    /* A key that is no TCB key is arrived at flat: the record before it has no room for its slope. */
    keys[2].interp = KF_HERMITE;
    kf_handles handles[10] = {[2] = {.in = {-1, -7}}};
    curve.handles = handles;
    double in, out;
    kfi_curve_slopes(&curve, 2, &in, &out);
    assert_near(in, 0, 0);
}

static void test_auto(void **state)
{
    (void)state;
    /* Gaps 1 and 3, rises 2 and 9. */
    kf_key keys[3] = {{.value = 0, .interp = KF_AUTO},
                      {.time = 1, .value = 2, .interp = KF_AUTO},
                      {.time = 4, .value = 11, .interp = KF_AUTO}};
    kf_handles handles[3] = {{{0, 0}, {0, 0}}};
    kf_curve curve = curve_of(keys, 3);
    double in, out;
    keys[1].attr = 0x2108; /* the whole difference: 11 / 4 */
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(in, 2.75, 1e-15);
    keys[1].attr = 0x108; /* half of it, half of the sides' mean (2 * 3/4 + 3 * 1/4) */
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(out, 1.375 + 1.125, 1e-15);
    curve.handles = handles;
    handles[1].out =
        (kf_handle){1, 50}; /* a bias of 50: half way to the right side's slope 3; 1e-4 apart means broken */
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(out, 2.75, 1e-12);
    assert_near(in, 2.5, 1e-12);
    handles[1] = (kf_handles){.in = {-1, -50}};
    kfi_curve_slopes(&curve, 1, &in,
                     &out); /* on the left it stands with the other sign: toward the left slope 2 */
    assert_near(in, 2.25, 1e-12);
    handles[1].in = (kf_handle){0};
    keys[1].attr = 0x6108;
    kfi_curve_slopes(&curve, 1, &in,
                     &out); /* the handles' ends stay between the neighbours: within 6 and 9 */
    assert_near(out, 2.75, 1e-15);
    keys[1].value = 0.1;
    kfi_curve_slopes(&curve, 1, &in, &out); /* 0.1 within a third of 1 */
    assert_near(out, 0.3, 1e-12);
    keys[1].value = -1;
    kfi_curve_slopes(&curve, 1, &in, &out);
    assert_near(out, 0, 0);
    keys[1].value = 0;
    keys[1].attr = 0x1108;
    kfi_curve_slopes(&curve, 1, &in, &out); /* clamped: level with a neighbour */
    assert_near(out, 0, 0);
    keys[0].attr = 0x108;
    keys[1].value = 2;
    kfi_curve_slopes(&curve, 0, &in, &out);
    assert_near(out, 2, 1e-15);
    keys[0].attr = 0x4108;
    kfi_curve_slopes(&curve, 0, &in, &out);
    assert_near(out, 0, 0);
}

/* ---- outside, and many at once ---- */

static void test_extrapolation(void **state)
{
    (void)state;
    kf_key keys[] = {{.time = 1, .value = 0, .interp = KF_LINEAR},
                     {.time = 2, .value = 4, .interp = KF_LINEAR},
                     {.time = 5, .value = 10}};
    kf_curve c = curve_of(keys, 3);
    c.pre = c.post = KF_SLOPE;
    assert_near(kfi_curve_value(&c, 0, 0), -4, 1e-14);
    assert_near(kfi_curve_value(&c, 7, 0), 14, 1e-14);
    c.pre = c.post = KF_REPEAT;
    assert_near(kfi_curve_value(&c, 5.5, 0), 2, 1e-14);
    assert_near(kfi_curve_value(&c, 5 + 4 * 3 + 1, 0), 4, 1e-12);
    assert_near(kfi_curve_value(&c, 0.5, 0), 9, 1e-14);
    c.pre = c.post = KF_MIRROR;
    assert_near(kfi_curve_value(&c, 5.5, 0), 9, 1e-14);
    assert_near(kfi_curve_value(&c, 9.5, 0), 2, 1e-14);
    assert_near(kfi_curve_value(&c, 0.5, 0), 2, 1e-14);
    c.pre = c.post = KF_REPEAT_RELATIVE;
    assert_near(kfi_curve_value(&c, 5.5, 0), 12, 1e-14);
    assert_near(kfi_curve_value(&c, 0.5, 0), -1, 1e-14);
    assert_near(kfi_curve_value(&c, 9.5, 0), 22, 1e-12);
    c.post_count = 1;
    assert_near(kfi_curve_value(&c, 20, 0), 20, 1e-12);
    c.post = KF_MIRROR;
    assert_near(kfi_curve_value(&c, 20, 0), 0, 1e-12);
}

static void test_many_as_one(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static double times[COUNT], values[COUNT];
    for (int n = 0; n < 60; n++) {
        kf_curve curve;
        random_curve(&curve, 1 + random_below(20), 0x7f, RANDOM_TCB | RANDOM_EASE | RANDOM_WILD_HANDLES);
        curve.tcb_rule = n % 2 ? KF_TCB_FBX : KF_TCB_KOCHANEK;
        curve.pre = (uint8_t)random_below(5);
        curve.post = (uint8_t)random_below(5);
        if (curve.count > 3 && n % 3 == 0)
            curve.keys[2].time = curve.keys[1].time;
        double time = curve.keys[0].time - 3;
        for (int i = 0; i < COUNT; i++) {
            times[i] = i % 50 == 0 && i / 50 < (int)curve.count ? curve.keys[i / 50].time : time;
            times[i] = i > 0 ? fmax(times[i], times[i - 1]) : times[i];
            time = times[i] + random_between(0, 0.015);
        }
        kfi_curve_values(&curve, times, COUNT, 0, values);
        for (int i = 0; i < COUNT; i++)
            assert_near(values[i], kfi_curve_value(&curve, times[i], 0), 1e-12 * (1 + fabs(values[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_holds_and_lines, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_hermite_is_a_cubic, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_bezier_solved_for_time, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_bezier_known_points, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_wild_handles, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_tcb_by_hand, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_tcb_two_keys_and_straight_lines, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_tcb_beside_a_jump, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_ease, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_tcb_as_motionbuilder, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_auto, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_extrapolation, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_many_as_one, curve_set_up, curve_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
