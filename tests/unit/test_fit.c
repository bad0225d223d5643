/* Dense samples to few keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/internal.h"
#include "helper_curves.h"

enum { MOST = 20000 };
static double times[MOST], values[MOST];

/* One sample a frame over the curve's keys. */
static size_t bake(const kf_curve *curve, double rate)
{
    double start = curve->keys[0].time, end = curve->keys[curve->count - 1].time;
    size_t count = (size_t)floor((end - start) * rate + 1.5);
    for (size_t i = 0; i < count; i++)
        times[i] = start + (double)i / rate;
    kfi_curve_values(curve, times, count, 0, values);
    return count;
}

static kf_curve fit(size_t count, uint32_t interps, double tolerance, const kf_curve *original)
{
    kf_curve result;
    kfi_fit_options options = {.interps = interps, .tolerance = tolerance, .original = original};
    assert_true(kfi_fit(&curve_job, times, values, count, &options, &result));
    return result;
}

static void assert_within(const kf_curve *curve, size_t count, double tolerance, const char *what, int n)
{
    for (size_t i = 0; i < count; i++) {
        double is = kfi_curve_value(curve, times[i], 0);
        if (!(fabs(is - values[i]) <= tolerance * (1 + 1e-6)))
            fail_msg("%s %d: %.9g instead of %.9g at sample %zu (%.4f s), tolerance %g, %zu keys", what, n,
                     is, values[i], i, times[i], tolerance, curve->count);
    }
}

static const struct {
    const char *what;
    uint32_t own, allowed;
    unsigned how;
} KINDS[] = {
    {"TCB", 1u << KF_TCB, 1u << KF_TCB, RANDOM_TCB},
    {"TCB with ease", 1u << KF_TCB, 1u << KF_TCB, RANDOM_TCB | RANDOM_EASE},
    {"TCB among others", 1u << KF_TCB, 0x3f, RANDOM_TCB | RANDOM_EASE},
    {"Bezier", 1u << KF_BEZIER, 1u << KF_BEZIER | 1u << KF_LINEAR | 1u << KF_STEP, 0},
    {"Hermite", 1u << KF_HERMITE, 1u << KF_HERMITE, 0},
    {"linear", 1u << KF_LINEAR, 1u << KF_LINEAR, 0},
    {"step", 1u << KF_STEP, 1u << KF_STEP, 0},
    {"all kinds", 0x3f, 0x3f, RANDOM_TCB | RANDOM_EASE},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

/* A bake that nobody touched gives exactly the original's keys. */
static void test_untouched(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        for (int n = 0; n < 40; n++) {
            kf_curve curve;
            random_curve(&curve, 10, KINDS[kind].own, KINDS[kind].how | RANDOM_FRAMES);
            if (n % 5 == 0)
                curve.keys[4].time = curve.keys[3].time; /* a jump */
            size_t count = bake(&curve, 30);
            kf_curve back = fit(count, KINDS[kind].allowed, 1e-4 * curve_range(&curve), &curve);
            assert_int_equal(back.count, curve.count);
            for (size_t i = 0; i < curve.count; i++) {
                if (back.origin[i].key != i || back.origin[i].changed)
                    fail_msg("%s %d: key %zu came from %u, changed %u", KINDS[kind].what, n, i,
                             back.origin[i].key, back.origin[i].changed);
                assert_memory_equal(&back.keys[i], &curve.keys[i], sizeof curve.keys[i]);
                if (curve.tcb)
                    assert_memory_equal(&back.tcb[i], &curve.tcb[i], sizeof curve.tcb[i]);
            }
        }
}

/* One region edited: the rest keeps its keys to the byte, and there are at most 1.2 times as many. */
static void test_one_region_edited(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KIND_COUNT - 1; kind++) {
        size_t before = 0, after = 0, most = 0;
        for (int n = 0; n < 40; n++) {
            kf_curve curve, edited;
            random_curve(&curve, 40, KINDS[kind].own, KINDS[kind].how | RANDOM_FRAMES);
            edited = curve;
            assert_true(kfi_own_keys(&curve_job, &edited, 0));
            size_t first = 5 + random_below(25), last = first + random_below(4);
            for (size_t i = first; i <= last; i++)
                edited.keys[i].value += random_between(-5, 5);
            double tolerance = 1e-4 * curve_range(&edited);
            size_t count = bake(&edited, 30);
            kf_curve back = fit(count, KINDS[kind].allowed, tolerance, &curve);
            assert_within(&back, count, tolerance, KINDS[kind].what, n);
            before += curve.count;
            after += back.count;
            most = back.count > most ? back.count : most;
            for (size_t i = 0; i < curve.count; i++) { /* what lies three keys away is as it was */
                if (i + 3 >= first && i <= last + 3)
                    continue;
                bool found = false;
                for (size_t k = 0; k < back.count; k++)
                    found = found || (back.origin[k].key == i && back.origin[k].changed == 0);
                if (!found)
                    fail_msg("%s %d: key %zu changed, though keys %zu to %zu were edited", KINDS[kind].what,
                             n, i, first, last);
            }
        }
        print_message("%s: %zu keys, values of one to four edited, fitted with %zu (at most %zu of 40)\n",
                      KINDS[kind].what, before, after, most);
        assert_true((double)after <= 1.2 * (double)before);
    }
}

/* A smooth bump over a stretch of the samples, as an artist pulls a baked curve. */
static double bump(double time, double start, double end, double height)
{
    if (time <= start || time >= end)
        return 0;
    double s = sin(acos(-1) * (time - start) / (end - start));
    return height * s * s * s * s;
}

static void test_bump(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KIND_COUNT - 2; kind++) {
        /* A TCB key may have to hand on what its neighbours no longer give it. */
        size_t before = 0, after = 0,
               beside = KINDS[kind].how & RANDOM_EASE  ? 3
                        : KINDS[kind].how & RANDOM_TCB ? 1
                                                       : 0;
        double worst_over = 0;
        for (int n = 0; n < 40; n++) {
            kf_curve curve;
            random_curve(&curve, 40, KINDS[kind].own, KINDS[kind].how | RANDOM_FRAMES | RANDOM_TAME);
            size_t first = 5 + random_below(25), last = first + 3;
            double start = curve.keys[first].time + 0.1, end = curve.keys[last].time - 0.1,
                   height = random_between(2, 6);
            double tolerance = 1e-4 * curve_range(&curve);
            size_t count = bake(&curve, 30);
            for (size_t i = 0; i < count; i++)
                values[i] += bump(times[i], start, end, height);
            kf_curve back = fit(count, KINDS[kind].allowed, tolerance, &curve);
            assert_within(&back, count, tolerance, KINDS[kind].what, n);
            before += curve.count;
            after += back.count;
            for (size_t i = 0; i < curve.count; i++) { /* away from the bump all is as it was */
                if (i + beside >= first && i <= last + beside)
                    continue;
                bool found = false;
                for (size_t k = 0; k < back.count; k++)
                    found = found || (back.origin[k].key == i && back.origin[k].changed == 0);
                if (!found)
                    fail_msg("%s %d: key %zu changed, the bump lies between keys %zu and %zu",
                             KINDS[kind].what, n, i, first, last);
            }
            for (size_t i = 0; i + 1 < count; i++) /* the true curve is known */
                for (int k = 1; k < 16; k++) {
                    double time = times[i] + (times[i + 1] - times[i]) * k / 16;
                    double should = kfi_curve_value(&curve, time, 0) + bump(time, start, end, height);
                    double over = fabs(kfi_curve_value(&back, time, 0) - should) / tolerance;
                    worst_over = fmax(worst_over, over);
                }
        }
        print_message("%s: %zu keys, a bump over three segments, fitted with %zu; %.1f tolerances off "
                      "between samples\n",
                      KINDS[kind].what, before, after, worst_over);
        /* Lines need a key a frame for what is round, and ease that no longer fits gives way to keys. */
        if (KINDS[kind].own == 1u << KF_LINEAR || KINDS[kind].how & RANDOM_EASE)
            continue;
        assert_true((double)after <= 1.2 * (double)before);
        /* Off by little where a corner of the original's lies under the bump, and by more where a Bezier of
         * its turns faster than 30 samples a second can tell. */
        assert_true(worst_over < (KINDS[kind].own == 1u << KF_TCB       ? 2
                                  : KINDS[kind].own == 1u << KF_HERMITE ? 12
                                                                        : 40));
    }
}

/* ---- without an original ---- */

static double smooth(double t)
{
    return 3 * sin(2 * t) + sin(5.3 * t + 1);
}

static double noisy(double t) /* one thousandth of the range, the same for the same time */
{
    uint64_t x = (uint64_t)llround(t * 30) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return smooth(t) + 0.008 * ((double)(x >> 40) / 16777216 - 0.5);
}

static double stepped(double t)
{
    return floor(t / 0.7 + 1e-9) * 1.5 - 3 * floor(t / 2.1 + 1e-9);
}

static double broken(double t) /* smooth, with a jump every two seconds */
{
    return smooth(t) + 4 * floor(t / 2 + 1e-9);
}

static double cornered(double t) /* a bouncing ball */
{
    double phase = t - floor(t / 0.8 + 1e-9) * 0.8;
    return 40 * phase * (0.8 - phase);
}

static double door(double t) /* rest, open with ease, rest, close, rest */
{
    double s = t < 1 ? 0 : t < 2.5 ? (t - 1) / 1.5 : t < 5 ? 1 : t < 6 ? 6 - t : 0;
    return 90 * s * s * (3 - 2 * s);
}

static double turret(double t) /* constant speed, stops, turns back */
{
    double way = t < 1 ? 0 : t < 3 ? (t - 1) * 60 : t < 5 ? 120 : t < 9 ? 120 - (t - 5) * 45 : -60;
    return way;
}

static double walk(double t) /* a hip: two harmonics of the step and a drift */
{
    double p = 2 * acos(-1) * t / 1.1;
    return 4 * cos(p) + 1.3 * cos(2 * p + 0.4) + 0.2 * cos(3 * p) + 0.3 * t;
}

static double knee(double t) /* bends, and rests at once: its curvature jumps */
{
    double s = sin(2 * acos(-1) * t);
    return s > 0 ? 60 * s * s : 0;
}

static const struct {
    const char *what;
    double (*at)(double);
    size_t most[3]; /* keys: Bezier, TCB, linear */
    double between; /* how far off it may be between samples, of the range; more where nobody can tell */
} SHAPES[] = {
    {"smooth", smooth, {19, 44, 291}, 1.02e-4},     {"noisy", noisy, {84, 98, 294}, 1e-3},
    {"stepped", stepped, {16, 16, 16}, 0},          {"broken", broken, {24, 44, 271}, 1e-2},
    {"cornered", cornered, {14, 27, 301}, 1.02e-4}, {"door", door, {6, 6, 76}, 1.02e-4},
    {"turret", turret, {6, 6, 6}, 1.02e-4},         {"walk", walk, {38, 102, 292}, 1.02e-4},
    {"knee", knee, {51, 101, 163}, 5e-4},
};

/* A curve at 30 frames a second, and how far it ranges. */
static double sample(double (*at)(double), size_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        times[i] = (double)i / 30;
        values[i] = at(times[i]);
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return high - low;
}

/* Beyond the two samples beside it a curve goes no further than their bends say, whatever the samples are. */
static double most_between(size_t i, size_t count, double tolerance)
{
    double bend = 0;
    for (size_t k = i > 0 ? i - 1 : 0; k <= i + 2; k++)
        if (k > 0 && k + 1 < count)
            bend = fmax(bend, fabs(values[k + 1] - 2 * values[k] + values[k - 1]));
    return tolerance + bend / 4;
}

static void test_from_nothing(void **state)
{
    (void)state;
    const uint32_t steps = 1u << KF_STEP | 1u << KF_LINEAR;
    const struct {
        const char *what;
        uint32_t interps;
    } ways[3] = {{"Bezier", steps | 1u << KF_BEZIER}, {"TCB", steps | 1u << KF_TCB}, {"linear", steps}};
    for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; k++)
        for (size_t w = 0; w < 3; w++) {
            size_t count = 301;
            double range = sample(SHAPES[k].at, count), tolerance = 1e-4 * range, worst = 0, between = 0;
            kf_curve curve = fit(count, ways[w].interps, tolerance, NULL);
            assert_within(&curve, count, tolerance, SHAPES[k].what, (int)w);
            for (size_t i = 0; i < count; i++)
                worst = fmax(worst, fabs(kfi_curve_value(&curve, times[i], 0) - values[i]));
            for (size_t i = 0; i + 1 < count; i++)
                for (int n = 1; n < 16; n++) {
                    double time = times[i] + n / 480.0, is = kfi_curve_value(&curve, time, 0);
                    double over = fmax(is - fmax(values[i], values[i + 1]), fmin(values[i], values[i + 1]) - is);
                    between = fmax(between, fabs(is - SHAPES[k].at(time)));
                    assert_true(over <= most_between(i, count, tolerance));
                }
            print_message("%-9s %-6s 301 samples, %3zu keys, worst %.2g of the range, between samples %.2g\n",
                          SHAPES[k].what, ways[w].what, curve.count, worst / range,
                          between / range);
            assert_true(curve.count <= SHAPES[k].most[w]);
            assert_true(w == 2 || between <= SHAPES[k].between * range);
        }
}

/* ---- the fewest ---- */

/* Whether one segment can tell samples a..b, tried in every way the fit has. Of TCB keys the slopes are not asked for, which a
 * key cannot have that lies as high as its neighbours: so some more are needed than are found here. */
static bool tells(const kfi_samples *s, size_t a, size_t b, unsigned kind)
{
    double slope[2];
    if (b == a + 1 || kfi_fit_line(s, a, b))
        return true;
    if (kind == KF_LINEAR)
        return false;
    if (kfi_fit_cubic(s, a, b, slope))
        return true;
    double length = s->t[b] - s->t[a];
    kf_handle h[2] = {kfi_slope_handle(slope[0], length), kfi_slope_handle(slope[1], -length)};
    return kind == KF_BEZIER && kfi_fit_bezier(s, a, b, h);
}

/* The least number of keys at samples, by trying all: the fewest up to sample b is one more than the fewest up to some a
 * from which one segment tells the rest. */
static size_t fewest(size_t count, double tolerance, unsigned kind)
{
    enum { ROOM = 128 };
    static double bulge[ROOM], middle[ROOM], doubt[ROOM], quarter[ROOM][2];
    static bool told[ROOM];
    static size_t jump[ROOM], rest[ROOM], best[ROOM];
    kfi_samples s = {.count = count, .t = times, .v = values, .bulge = bulge, .middle = middle, .doubt = doubt,
                     .quarter = quarter, .told = told, .next_jump = jump, .next_rest = rest, .tolerance = tolerance};
    kfi_samples_look(&s, false);
    best[0] = 1;
    for (size_t b = 1; b < count; b++) {
        best[b] = SIZE_MAX;
        for (size_t a = 0; a < b; a++)
            if (best[a] + 1 < best[b] && tells(&s, a, b, kind))
                best[b] = best[a] + 1;
    }
    return best[count - 1];
}

static void test_fewest(void **state)
{
    (void)state;
    const struct {
        const char *what;
        unsigned kind;
        double most; /* times as many */
    } ways[4] = {{"linear", KF_LINEAR, 1.05}, {"Hermite", KF_HERMITE, 1.05}, {"Bezier", KF_BEZIER, 1.05}, {"TCB", KF_TCB, 1.1}};
    for (size_t w = 0; w < 4; w++) {
        size_t ours = 0, least = 0;
        for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; k++) {
            size_t count = 91;
            double tolerance = 1e-4 * sample(SHAPES[k].at, count);
            kf_curve curve = fit(count, 1u << KF_LINEAR | 1u << ways[w].kind, tolerance, NULL);
            size_t most = fewest(count, tolerance, ways[w].kind);
            print_message("%-9s %-7s %2zu keys, %2zu would do\n", SHAPES[k].what, ways[w].what, curve.count, most);
            ours += curve.count;
            least += most;
        }
        print_message("%s: %.3f times the fewest keys\n", ways[w].what, (double)ours / (double)least);
        assert_true((double)ours <= ways[w].most * (double)least);
    }
}

/* Eight times the samples, eight times the keys: nothing along the way depends on how long the whole is. */
static void test_long(void **state)
{
    (void)state;
    enum { LONGEST = 80000 };
    static double long_times[LONGEST], long_values[LONGEST], is[LONGEST];
    const double tolerance = 1e-3;
    for (size_t i = 0; i < LONGEST; i++) {
        long_times[i] = (double)i / 30;
        long_values[i] = walk(long_times[i]);
    }
    for (int w = 0; w < 2; w++) {
        size_t keys[2];
        for (int k = 0; k < 2; k++) {
            size_t count = k ? LONGEST : LONGEST / 8;
            kfi_fit_options options = {.interps = w ? 1u << KF_TCB : 1u << KF_BEZIER | 1u << KF_LINEAR, .tolerance = tolerance};
            kf_curve curve;
            assert_true(kfi_fit(&curve_job, long_times, long_values, count, &options, &curve));
            kfi_curve_values(&curve, long_times, count, 0, is);
            for (size_t i = 0; i < count; i++)
                assert_true(fabs(is[i] - long_values[i]) <= tolerance * (1 + 1e-6));
            keys[k] = curve.count;
        }
        print_message("%s: %zu keys for %d samples, %zu for %d\n", w ? "TCB" : "Bezier", keys[0], LONGEST / 8,
                      keys[1], LONGEST);
        assert_true(keys[1] <= 8 * keys[0] + 8 * keys[0] / 100);
    }
}

/* ---- curves told otherwise ---- */

static void test_other_kinds(void **state)
{
    (void)state;
    const uint32_t masks[4] = {1u << KF_LINEAR, 1u << KF_TCB, 1u << KF_HERMITE | 1u << KF_STEP,
                               1u << KF_BEZIER};
    size_t before[4] = {0}, after[4] = {0};
    for (int n = 0; n < 80; n++) {
        kf_curve curve, back;
        random_curve(&curve, 8, n % 4 == 0 ? 0x7f : 1u << (unsigned)(2 + n % 4), RANDOM_TCB | RANDOM_TAME);
        kf_origin origin[8];
        for (uint32_t i = 0; i < 8; i++)
            origin[i] = (kf_origin){100 + i, i == 3 ? KF_CHANGED_VALUE : 0u};
        curve.origin = origin;
        double tolerance = 1e-3 * curve_range(&curve);
        for (int m = 0; m < 4; m++) {
            assert_true(kfi_fit_curve(&curve_job, &curve, masks[m], tolerance, &back));
            before[m] += 8;
            after[m] += back.count;
            for (size_t i = 0; i < back.count; i++) {
                if (i + 1 < back.count && !(masks[m] >> back.keys[i].interp & 1))
                    fail_msg("curve %d became %d keys, which mask %x has not", n, back.keys[i].interp,
                             masks[m]);
                if (back.origin[i].key != KF_NEW) {
                    assert_in_range(back.origin[i].key, 100, 107);
                    assert_true(back.keys[i].time == curve.keys[back.origin[i].key - 100].time);
                    assert_true(back.origin[i].key != 103 || back.origin[i].changed & KF_CHANGED_VALUE);
                }
            }
            for (size_t i = 0; i + 1 < 8;
                 i++) { /* the true curve is known everywhere; a jump takes a moment */
                bool held = curve.keys[i].interp <= KF_STEP_NEXT;
                for (int k = 1; k < 24; k++) {
                    double time = curve.keys[i].time + (curve.keys[i + 1].time - curve.keys[i].time) * k / 24;
                    double is = kfi_curve_value(&back, time, 0), should = kfi_curve_value(&curve, time, 0);
                    if (!held && !(fabs(is - should) <= 1.5 * tolerance))
                        fail_msg("curve %d, mask %x at %.4f: %.6g instead of %.6g", n, masks[m], time, is,
                                 should);
                }
            }
        }
    }
    print_message("keys told as linear: %zu as %zu, TCB: %zu, Hermite and step: %zu, Bezier: %zu\n",
                  before[0], after[0], after[1], after[2], after[3]);
}

/* T, C, B found again from the slopes they make, or others that make the same. */
static void test_tcb_from_slopes(void **state)
{
    (void)state;
    for (int n = 0; n < 3000; n++) {
        double gap[2] = {random_between(0.1, 2), random_between(0.1, 2)};
        double rise[2] = {random_between(-5, 5), random_between(-5, 5)}, slope[2], in, out;
        kf_tcb was = {(float)random_between(-0.8, 0.8), (float)random_between(-0.8, 0.8),
                      (float)random_between(-0.8, 0.8), 0, 0};
        if (n % 3 == 0)
            was.continuity = 0;
        kf_tcb is = {0, 0, 0, 0.25f, 0};
        uint8_t rule = n % 2 ? KF_TCB_FBX : KF_TCB_KOCHANEK;
        kf_key keys[3] = {{.value = -rise[0], .interp = KF_TCB},
                          {.time = gap[0], .interp = KF_TCB},
                          {.time = gap[0] + gap[1], .value = rise[1], .interp = KF_TCB}};
        kf_tcb tcb[3];
        memset(tcb, 0, sizeof tcb);
        tcb[1] = was;
        kf_curve curve = {.keys = keys, .count = 3, .tcb = tcb, .tcb_rule = rule};
        kfi_curve_slopes(&curve, 1, &slope[0], &slope[1]);
        kfi_tcb_from_slopes(rule, gap, rise, slope, &is);
        assert_true(fabs(is.tension) <= 1 && fabs(is.continuity) <= 1 && fabs(is.bias) <= 1);
        assert_true(is.ease_in == 0.25f);
        tcb[1] = is;
        kfi_curve_slopes(&curve, 1, &in, &out);
        double size = fabs(slope[0]) + fabs(slope[1]) + 1;
        if (!(fabs(in - slope[0]) + fabs(out - slope[1]) < 2e-5 * size))
            fail_msg("%d: T %g C %g B %g gave slopes %g %g, found T %g C %g B %g with %g %g", n, was.tension,
                     was.continuity, was.bias, slope[0], slope[1], is.tension, is.continuity, is.bias, in,
                     out);
    }
}

/* Two keys at one time: an edit behind the jump leaves what is before it alone. */
static void test_beside_a_jump(void **state)
{
    (void)state;
    kf_key keys[4] = {{.value = 0, .interp = KF_LINEAR},
                      {.time = 1, .value = 1, .interp = KF_LINEAR},
                      {.time = 1, .value = 5, .interp = KF_LINEAR},
                      {.time = 2, .value = 6, .interp = KF_LINEAR}};
    kf_curve curve = {.keys = keys, .count = 4};
    size_t count = bake(&curve, 30);
    for (size_t i = 0; i < count; i++)
        values[i] += times[i] >= 1 ? 2 : 0;
    kf_curve back = fit(count, 1u << KF_LINEAR, 1e-4, &curve);
    assert_within(&back, count, 1e-4, "beside a jump", 0);
    assert_int_equal(back.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(back.origin[i].key, i);
        assert_int_equal(back.origin[i].changed, i < 2 ? 0 : KF_CHANGED_VALUE);
    }
}

/* Samples that begin after the original's first key and end before its last one. */
static void test_a_part(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        for (int n = 0; n < 20; n++) {
            kf_curve original;
            random_curve(&original, 8, KINDS[kind].own, KINDS[kind].how | RANDOM_FRAMES);
            size_t count = bake(&original, 30), first = 1 + (size_t)n % 5, last = count - 1 - (size_t)n % 7;
            memmove(times, times + first, (last - first) * sizeof *times);
            memmove(values, values + first, (last - first) * sizeof *values);
            kf_curve back = fit(last - first, KINDS[kind].allowed, 1e-3, &original);
            assert_within(&back, last - first, 1e-3, KINDS[kind].what, n);
        }
    }
}

/* Nothing to fit, one sample, no memory. */
static void test_edges(void **state)
{
    (void)state;
    times[0] = 3;
    values[0] = 7;
    kf_curve curve = fit(0, 0x7f, 0, NULL);
    assert_int_equal(curve.count, 0);
    curve = fit(1, 0x7f, 0, NULL);
    assert_int_equal(curve.count, 1);
    assert_true(curve.keys[0].value == 7);
    kf_curve original;
    random_curve(&original, 5, 1u << KF_TCB, RANDOM_TCB | RANDOM_FRAMES);
    size_t count = bake(&original, 30);
    for (size_t i = 0; i < count; i++)
        values[i] += i > 20 ? 1 : 0;
    kf_curve one = original;
    one.count = 1;
    curve = fit(count, 1u << KF_TCB | 1u << KF_STEP, 1e-3, &one);
    assert_within(&curve, count, 1e-3, "an original of one key", 0);
    for (size_t i = 0; i < count; i++)
        times[i] += 1000; /* nowhere near the original's keys */
    curve = fit(count, 1u << KF_TCB | 1u << KF_STEP, 1e-3, &original);
    assert_within(&curve, count, 1e-3, "an original of another time", 0);
    uint64_t before = curve_job.arena.total;
    for (uint64_t more = 0;; more += 4096) { /* every shortage ends in an error, until there is enough */
        kf_job job = curve_job;
        kfi_arena_init(&job.arena, (kf_allocator){0}, 16384 + more);
        kfi_fit_options options = {.interps = 1u << KF_TCB, .tolerance = 1e-3};
        bool ok = kfi_fit(&job, times, values, count, &options, &curve);
        assert_true(ok || job.error.code == KF_MEMORY_LIMIT);
        kfi_arena_free(&job.arena);
        if (ok)
            break;
    }
    assert_int_equal(before, curve_job.arena.total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_untouched, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_one_region_edited, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_bump, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_from_nothing, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_fewest, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_long, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_other_kinds, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_tcb_from_slopes, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_beside_a_jump, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_a_part, curve_set_up, curve_tear_down),
        cmocka_unit_test_setup_teardown(test_edges, curve_set_up, curve_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
