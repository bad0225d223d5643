/* FBX key arrays into neutral keys and back: flags, slopes, packed weights, TCB numbers, runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "fbx/keys.h"

static kf_job job;

static int set_up(void **state)
{
    (void)state;
    memset(&job, 0, sizeof job);
    kfi_arena_init(&job.arena, (kf_allocator){0}, UINT64_MAX);
    job.arena.item_blocks = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kfi_arena_free(&job.arena);
    return 0;
}

#define THIRDS 0x0d050d05u

static uint32_t bits(double value)
{
    float number = (float)value;
    uint32_t result;
    memcpy(&result, &number, sizeof result);
    return result;
}

static uint32_t random_state;
static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 16 | random_state << 16;
}

/* The attributes of key i, runs unrolled. */
static void attributes(const kfi_fbx_keys *keys, size_t i, uint32_t words[5])
{
    size_t run = 0;
    while (i >= (size_t)keys->ref_count[run])
        i -= (size_t)keys->ref_count[run++];
    assert_true(run < keys->runs);
    memcpy(words, &keys->flags[run], 4);
    memcpy(words + 1, &keys->data[4 * run], 16);
}

static void assert_same_keys(const kfi_fbx_keys *a, const kfi_fbx_keys *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->times, b->times, a->count * 8);
    assert_memory_equal(a->values, b->values, a->count * 4);
    for (size_t i = 0; i < a->count; i++) {
        uint32_t left[5], right[5];
        attributes(a, i, left);
        attributes(b, i, right);
        for (int k = 0; k < 5; k++)
            if (left[k] != right[k])
                fail_msg("key %zu of %zu, word %d: %08x, not %08x", i, a->count, k, right[k], left[k]);
    }
}

/* Arrays with a run for each key. */
static kfi_fbx_keys make_arrays(size_t count, const uint32_t (*words)[5])
{
    kfi_fbx_keys keys = {
        .count = count,
        .times = kfi_alloc(&job, count, 8),
        .values = kfi_alloc(&job, count, 4),
        .runs = count,
        .flags = kfi_alloc(&job, count, 4),
        .data = kfi_alloc(&job, count, 16),
        .ref_count = kfi_alloc(&job, count, 4),
    };
    for (size_t i = 0; i < count; i++) {
        keys.times[i] = (int64_t)i * 1924423250 + (int64_t)(i * i) * 7;
        keys.values[i] = (float)i * 1.25f - 3.0f;
        memcpy(&keys.flags[i], &words[i][0], 4);
        memcpy(&keys.data[4 * i], &words[i][1], 16);
        keys.ref_count[i] = 1;
    }
    return keys;
}

static void check_exact(const kfi_fbx_keys *keys, bool needs_data)
{
    kf_curve curve = {0};
    kfi_fbx_keys again;
    assert_true(kfi_fbx_unpack(&job, keys, (double)KFI_FBX_TICKS, &curve));
    assert_int_equal(curve.fbx_data != NULL, needs_data);
    assert_true(kfi_fbx_pack(&job, &curve, &again));
    assert_same_keys(keys, &again);
}

static void test_ticks(void **state)
{
    (void)state;
    assert_int_equal(kfi_fbx_ticks(1.0), 46186158000);
    assert_int_equal(kfi_fbx_ticks(-1.0 / 30.0), -1539538600);
    assert_int_equal(kfi_fbx_ticks(0.4999 / 46186158000.0), 0);
    assert_int_equal(kfi_fbx_ticks(0.5001 / 46186158000.0), 1);
    assert_int_equal(kfi_fbx_ticks(-0.5001 / 46186158000.0), -1);
    assert_int_equal(kfi_fbx_ticks(1e300), INT64_MAX);
    assert_int_equal(kfi_fbx_ticks(-INFINITY), -INT64_MAX);
    assert_int_equal(kfi_fbx_ticks(NAN), 0);
    assert_true(kfi_fbx_seconds(46186158000) == 1.0);
    random_state = 1;
    for (int i = 0; i < 100000; i++) {
        int64_t ticks = (int64_t)((uint64_t)next_random() << 18 | next_random() >> 14);
        if (i & 1)
            ticks = -ticks;
        assert_int_equal(kfi_fbx_ticks(kfi_fbx_seconds(ticks)), ticks);
    }
}

/* What keys from a game become. */
static void test_new_keys(void **state)
{
    (void)state;
    kf_key keys[] = {
        {.time = 0, .value = 1, .interp = KF_STEP},
        {.time = 1, .value = 2, .interp = KF_STEP_NEXT},
        {.time = 2, .value = 3, .interp = KF_LINEAR},
        {.time = 3, .value = 4, .interp = KF_HERMITE},
        {.time = 4, .value = 5, .interp = KF_HERMITE},
        {.time = 5, .value = 6, .interp = KF_HERMITE},
        {.time = 6, .value = 7, .interp = KF_BEZIER},
        {.time = 8, .value = 8, .interp = KF_BEZIER},
        {.time = 9, .value = 9, .interp = KF_BEZIER},
        {.time = 10, .value = 10, .interp = KF_TCB},
        {.time = 11, .value = 11, .interp = KF_AUTO},
        {.time = 12, .value = 12, .interp = KF_HERMITE, .flags = KF_KEY_BROKEN},
    };
    kf_handles handles[12] = {
        [3] = {.out = {0.5, 1}},                                       /* slope 2 */
        [4] = {.in = {-0.1, -0.2}, .out = {2, 4}},                     /* 2 and 2: in line */
        [5] = {.in = {-1, 3}, .out = {1, 3}},                          /* -3 and 3: broken */
        [6] = {.in = {-1, -3}, .out = {2000.0 / 9999, 6000.0 / 9999}}, /* 3, 3 */
        [7] = {.in = {-2.0 / 3, -2}, .out = {2, 2}},
        [8] = {.in = {0, -5}, .out = {1.0 / 3, 0}},
        [9] = {.in = {-1.0 / 3, 0}},
    };
    kf_tcb tcb[12] = {[9] = {.tension = 0.25f, .continuity = -4, .bias = -0.0f, .ease_in = 1}};
    kf_curve curve = {.keys = keys, .count = 12, .handles = handles, .tcb = tcb};
    static const uint32_t weight = 9999;
    const uint32_t expected[12][5] = {
        {0x2, 0, 0, THIRDS, 0},
        {0x102, 0, 0, THIRDS, 0},
        {0x404, 0, 0, THIRDS, 0},
        {0x408, bits(2), bits(2), THIRDS, 0},
        {0x408, bits(2), bits(-3), THIRDS, 0},
        {0xc08, bits(3), bits(3), THIRDS, 0},
        {0x1000408, bits(3), bits(3), 1000 | 3333u << 16, 0}, /* of 2 seconds, a third */
        {0x3000c08, bits(1), bits((float)(-5.0 / (-1.0 / weight))), 9899 | 1u << 16, 0}, /* too long, none */
        {0xc08, 0, 0, THIRDS, 0},
        {0x208, bits(0.25), bits(-4), 0x80000000, 0},
        {0x108, 0, 0, THIRDS, 0},
        {0xc08, 0, 0, THIRDS, 0},
    };
    kfi_fbx_keys packed;
    assert_true(kfi_fbx_pack(&job, &curve, &packed));
    for (size_t i = 0; i < 12; i++) {
        uint32_t words[5];
        attributes(&packed, i, words);
        for (int k = 0; k < 5; k++)
            if (words[k] != expected[i][k])
                fail_msg("key %zu word %d: %08x, not %08x", i, k, words[k], expected[i][k]);
        assert_int_equal(packed.times[i], kfi_fbx_ticks(keys[i].time));
        assert_true(packed.values[i] == (float)keys[i].value);
    }
    /* And that is what a reader gets. */
    kf_curve read = {0};
    kfi_fbx_keys again;
    assert_true(kfi_fbx_unpack(&job, &packed, (double)KFI_FBX_TICKS, &read));
    assert_int_equal(read.tcb_rule, KF_TCB_FBX);
    for (size_t i = 0; i < 12; i++) {
        bool weightless = i == 8; /* a Bezier of two thirds is a Hermite */
        assert_int_equal(read.keys[i].interp, weightless ? KF_HERMITE : keys[i].interp);
        assert_int_equal(read.keys[i].attr, expected[i][0]);
        assert_int_equal(read.keys[i].flags, expected[i][0] & 0x800 ? KF_KEY_BROKEN : 0);
    }
    assert_true(read.tcb[9].continuity == -4.0f && signbit(read.tcb[9].bias));
    assert_true(fabs(read.handles[6].out.dt - 2000.0 / 9999) < 1e-15 &&
                fabs(read.handles[6].out.dv - 6000.0 / 9999) < 1e-15);
    assert_true(read.handles[7].in.dt == -2.0 / 3.0 && read.handles[7].in.dv == -2.0);
    assert_true(read.handles[8].in.dv == -5.0 && fabs(read.handles[8].in.dt + 1.0 / 9999) < 1e-15);
    assert_true(kfi_fbx_pack(&job, &read, &again));
    assert_same_keys(&packed, &again);
}

static void test_runs(void **state)
{
    (void)state;
    kf_curve curve = {0};
    assert_true(kfi_make_keys(&job, &curve, 1000, 0));
    for (size_t i = 0; i < 1000; i++) {
        curve.keys[i].time = (double)i / 30;
        curve.keys[i].value = (double)i;
        curve.keys[i].interp = i == 700 ? KF_STEP : KF_LINEAR;
    }
    kfi_fbx_keys packed;
    assert_true(kfi_fbx_pack(&job, &curve, &packed));
    assert_int_equal(packed.runs, 3);
    assert_int_equal(packed.ref_count[0], 700);
    assert_int_equal(packed.ref_count[1], 1);
    assert_int_equal(packed.ref_count[2], 299);

    kf_curve empty = {0};
    assert_true(kfi_fbx_pack(&job, &empty, &packed));
    assert_int_equal(packed.count + packed.runs, 0);
    assert_true(kfi_fbx_unpack(&job, &packed, (double)KFI_FBX_TICKS, &empty));
    assert_int_equal(empty.count, 0);
}

/* Arrays as real programs write them come back to the bit, without any data beside the keys. */
static void test_programs(void **state)
{
    (void)state;
    static const uint32_t maya[][5] = {
        {0x3000408, 0, 0x402ddb81, THIRDS, 0},
        {0x3000408, 0x402ddb81, 0, 0x08020725, 0},
        {0x404, 0x405ca476, 0x405ca476, THIRDS, 0},
        {0x3000c08, 0xc2309065, 0xc22f2b32, 0x1f001e21, 0},
        {0x2, 0, 0, THIRDS, 0},
        {0x102, 0, 0, THIRDS, 0},
        {0x6108, 0, 0, THIRDS, 0},
        {0x3006108, 0, 0x407e0eb4, THIRDS, 0},
        {0x3006108, 0, 0x80000000, 0x0d040d04, 0},
        {0x408, 0xc1f6d713, 0xc1de8919, THIRDS, 0},
        {0x1006108, 0, 0, 0x0d051eab, 0},
    };
    kfi_fbx_keys keys = make_arrays(11, maya);
    check_exact(&keys, false);

    static const uint32_t blender[][5] = {{0x6104, 0, 0, 0x0f3f0f3f, 0}, {0x6104, 0, 0, 0x0f3f0f3f, 0}};
    keys = make_arrays(2, blender);
    keys.runs = 1;
    keys.ref_count[0] = 2;
    check_exact(&keys, false);

    static const uint32_t builder[][5] = {
        {0x10208, 0xbf000000, 0x3f000000, 0x3f400000, 0},
        {0x208, 0xbf800000, 0x3f800000, 0xbf800000, 0},
        {0x208, 0, 0xc0800000, 0, 0},
        {0x208, 0x3f000000, 0xbf000000, 0xbf19999a, 0},
    };
    keys = make_arrays(4, builder);
    check_exact(&keys, false);

    /* Velocities and weights that are no use to the key need the data beside it. */
    static const uint32_t odd[][5] = {{0x33000408, 0x3f800000, 0xbf800000, 0x08020725, 0xfff61234},
                                      {0x408, 0, 0, 0x0f3f0f3f, 0},
                                      {0x408, 0, 7, 0, 9}};
    keys = make_arrays(3, odd);
    check_exact(&keys, true);
}

/* Whatever bits: packing what was unpacked gives them again, but for slopes that are no numbers. */
static void test_any_words(void **state)
{
    (void)state;
    static const uint32_t flags[] = {0x2,        0x102,      0x404,      0x6104,    0x4,       0x408,
                                     0xc08,      0x6108,     0x3000408,  0x1000c08, 0x2000408, 0x3006108,
                                     0x33000408, 0x208,      0x10208,    0x8,       0x908,     0x5108,
                                     0x1000404,  0x30000008, 0xffffffff, 0x20408,   0x80000002};
    random_state = 7;
    size_t beside = 0;
    for (int round = 0; round < 3000; round++) {
        uint32_t words[24][5];
        size_t count = 1 + next_random() % 24;
        unsigned wildness = next_random() % 3;
        for (size_t i = 0; i < count; i++) {
            words[i][0] = flags[next_random() % (sizeof flags / sizeof flags[0])];
            for (int k = 1; k < 5; k++)
                words[i][k] = next_random() % 4 ? next_random() : 0;
            if (wildness < 2)
                words[i][3] = (1 + next_random() % 9899) | (1 + next_random() % 9899) << 16;
            if (wildness == 0)
                words[i][4] = 0;
            bool tcb = (words[i][0] & 0x20a) == 0x208;
            for (int k = 1; k <= (tcb ? 3 : 2); k++)
                if ((words[i][k] & 0x7f800000) == 0x7f800000)
                    words[i][k] &= ~0x00800000u;
        }
        kfi_fbx_keys keys = make_arrays(count, (const uint32_t(*)[5])words), again;
        if (wildness == 2 && count > 3) { /* keys at one time, and out of order */
            keys.times[1] = keys.times[2];
            keys.times[3] = -5;
        }
        kf_curve curve = {0};
        assert_true(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, &curve));
        beside += curve.fbx_data != NULL;
        assert_true(kfi_fbx_pack(&job, &curve, &again));
        assert_same_keys(&keys, &again);
    }
    assert_true(beside > 1000 && beside < 3000);
}

/* Any curve: what is read back is written again the same. */
static void test_stable(void **state)
{
    (void)state;
    random_state = 3;
    for (int round = 0; round < 2000; round++) {
        size_t count = 1 + next_random() % 20;
        kf_curve curve = {0}, read = {0};
        assert_true(kfi_make_keys(&job, &curve, count, KFI_HANDLES | (round & 1 ? KFI_NUMBERS : 0)));
        double time = -1;
        for (size_t i = 0; i < count; i++) {
            kf_key *key = &curve.keys[i];
            time += (double)(1 + next_random() % 1000) / 977;
            key->time = time;
            key->value = (double)(int32_t)next_random() / 12345;
            key->interp = (uint8_t)(next_random() % KF_INTERP_COUNT);
            key->flags = next_random() % 8 == 0 ? KF_KEY_BROKEN : 0;
            kf_handles *handles = &curve.handles[i];
            handles->in =
                (kf_handle){-(double)(next_random() % 2000) / 1000, (double)(int32_t)next_random() / 1e6};
            handles->out =
                (kf_handle){(double)(next_random() % 2000) / 1000, (double)(int32_t)next_random() / 1e6};
            if (curve.tcb)
                curve.tcb[i] = (kf_tcb){.tension = (float)handles->in.dt, .bias = (float)handles->out.dt};
        }
        kfi_fbx_keys packed, again;
        assert_true(kfi_fbx_pack(&job, &curve, &packed));
        assert_true(kfi_fbx_unpack(&job, &packed, (double)KFI_FBX_TICKS, &read));
        assert_null(read.fbx_data);
        for (size_t i = 0; i < count; i++) {
            const kf_key *a = &curve.keys[i], *b = &read.keys[i];
            assert_true(a->interp == b->interp || (a->interp == KF_BEZIER && b->interp == KF_HERMITE));
            assert_true(fabs(a->time - b->time) < 1.1e-11 && b->value == (double)(float)a->value);
            kf_handle was = curve.handles[i].out, is = read.handles[i].out;
            if (a->interp == KF_HERMITE && was.dt > 0 && i + 1 < count)
                assert_true(fabs(is.dv / is.dt - was.dv / was.dt) <= 6e-8 * fabs(was.dv / was.dt));
        }
        assert_true(kfi_fbx_pack(&job, &read, &again));
        assert_same_keys(&packed, &again);
    }
}

/* Arrays that are used again hold nothing of the curve before: other times, other kinds, fewer keys or more. */
static void test_used_again(void **state)
{
    (void)state;
    enum { MOST = 40 };
    random_state = 5;
    kfi_fbx_keys again, fresh;
    assert_true(kfi_fbx_keys_alloc(&job, MOST, &again));
    for (int round = 0; round < 2000; round++) {
        kf_curve curve = {0};
        size_t count = 1 + next_random() % MOST, other = next_random() % (2 * MOST);
        bool lines = next_random() % 2;
        assert_true(kfi_make_keys(&job, &curve, count, KFI_HANDLES | KFI_NUMBERS));
        for (size_t i = 0; i < count; i++) {
            kf_key *key = &curve.keys[i];
            key->time = (double)i / 30 + (i < other ? 0 : (double)(next_random() % 3));
            key->value = next_random() % 50 == 0 ? NAN : next_random() % 50 == 0 ? -1e300 : (double)(int32_t)next_random() / 12345;
            key->interp = lines && next_random() % 20 ? KF_LINEAR : (uint8_t)(next_random() % KF_INTERP_COUNT);
            key->attr = next_random() % 30 == 0 ? KFI_FBX_LINEAR | KFI_FBX_CLAMP : 0;
            curve.handles[i].out = (kf_handle){1.0 / 90, (double)(next_random() % 3)};
        }
        kfi_fbx_pack_into(&curve, &again);
        assert_true(kfi_fbx_pack(&job, &curve, &fresh));
        assert_same_keys(&fresh, &again);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(again.times[i], kfi_fbx_ticks(curve.keys[i].time));
            double value = curve.keys[i].value, held = i > 0 ? (double)again.values[i - 1] : 0;
            assert_true((double)again.values[i] == (isnan(value) ? held : value < -1e299 ? -FLT_MAX : (double)(float)value));
        }
    }
}

/* A key that was changed after reading is written as it is now, its neighbours as they were. */
static void test_edited(void **state)
{
    (void)state;
    uint32_t words[4][5];
    for (int i = 0; i < 4; i++)
        memcpy(words[i], (uint32_t[]){0x33000408, bits(2), bits(2), 0x08020725, 0x12341234}, sizeof words[i]);
    kfi_fbx_keys keys = make_arrays(4, (const uint32_t(*)[5])words), again;
    kf_curve curve = {0};
    assert_true(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, &curve));
    assert_non_null(curve.fbx_data);
    curve.handles[1].out.dv *= 2;
    assert_true(kfi_fbx_pack(&job, &curve, &again));
    uint32_t got[5];
    for (size_t i = 0; i < 4; i++) {
        attributes(&again, i, got);
        assert_int_equal(got[1], bits(i == 1 ? 4 : 2));
        assert_int_equal(got[3], 0x08020725);
        assert_int_equal(got[4], i == 1 ? 0 : 0x12341234);
    }
    curve.handles[1].out.dv /= 2;
    curve.keys[2].interp = KF_STEP;
    curve.keys[3].attr = 0;
    assert_true(kfi_fbx_pack(&job, &curve, &again));
    attributes(&again, 1, got);
    assert_int_equal(got[4], 0x12341234);
    attributes(&again, 2, got);
    assert_int_equal(got[0], 0x2);
    attributes(&again, 3, got);
    assert_int_equal(got[0], 0x1000408);

    /* Another number of keys: the data beside them is not theirs. */
    curve.count = 2;
    assert_true(kfi_fbx_pack(&job, &curve, &again));
    attributes(&again, 0, got);
    assert_int_equal(got[4], 0);
}

static void test_not_finite(void **state)
{
    (void)state;
    uint32_t words[3][5] = {{0x408, bits(1), 0x7f800001, THIRDS, 0},
                            {0x208, 0xff800000, bits(1), 0x7fc00000, 0},
                            {0x408, 0x7f800000, 0, THIRDS, 5}};
    kfi_fbx_keys keys = make_arrays(3, (const uint32_t(*)[5])words), again;
    keys.values[1] = NAN;
    kf_curve curve = {0};
    assert_true(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, &curve));
    assert_int_equal(curve.keys[1].flags, KF_KEY_NONFINITE | KF_KEY_NAN);
    assert_true(curve.keys[1].value == curve.keys[0].value);
    assert_true(curve.handles[1].in.dv == 0 && curve.tcb[1].tension == 0 && curve.tcb[1].bias == 0);
    assert_true(kfi_fbx_pack(&job, &curve, &again));
    for (size_t i = 0; i < 3; i++) {
        uint32_t got[5];
        attributes(&again, i, got);
        for (int k = 1; k < 4; k++)
            assert_true((got[k] & 0x7f800000) != 0x7f800000);
        assert_true(isfinite(again.values[i]));
    }

    kf_key bad[] = {{.time = 0, .value = 4, .interp = KF_HERMITE},
                    {.time = 1, .value = NAN, .interp = KF_BEZIER},
                    {.time = 2, .value = INFINITY, .interp = KF_TCB},
                    {.time = 3, .value = -1e300, .interp = KF_LINEAR}};
    kf_handles handles[4] = {
        {.out = {1e-300, 1e300}}, {.in = {0, -INFINITY}, .out = {NAN, NAN}}, {.in = {-1, NAN}}, {.in = {0, 0}}};
    kf_tcb tcb[4] = {[2] = {.tension = NAN, .continuity = INFINITY, .bias = -INFINITY}};
    kf_curve wild = {.keys = bad, .count = 4, .handles = handles, .tcb = tcb};
    assert_true(kfi_fbx_pack(&job, &wild, &again));
    static const float values[] = {4, 4, FLT_MAX, -FLT_MAX};
    for (size_t i = 0; i < 4; i++) {
        uint32_t got[5];
        attributes(&again, i, got);
        for (int k = 1; k < 4; k++)
            assert_true((got[k] & 0x7f800000) != 0x7f800000);
        assert_true(again.values[i] == values[i]);
    }
}

/* A last key without an out handle goes straight on. */
static void test_last_key(void **state)
{
    (void)state;
    for (int interp = KF_BEZIER; interp <= KF_HERMITE; interp++) {
        kf_key keys[] = {{.time = 0, .interp = (uint8_t)interp}, {.time = 1, .interp = (uint8_t)interp}};
        kf_handles handles[] = {{.out = {0.5, 0}}, {.in = {-0.5, -1}}};
        kf_curve curve = {.keys = keys, .count = 2, .handles = handles};
        kfi_fbx_keys packed;
        assert_true(kfi_fbx_pack(&job, &curve, &packed));
        uint32_t words[5];
        attributes(&packed, 1, words);
        const uint32_t expected[5] = {0x408, bits(2), 0, THIRDS, 0};
        assert_memory_equal(words, expected, sizeof words);
    }
}

static void test_refused(void **state)
{
    (void)state;
    uint32_t words[3][5] = {{0x2, 0, 0, THIRDS, 0}, {0x2, 0, 0, THIRDS, 0}, {0x2, 0, 0, THIRDS, 0}};
    kfi_fbx_keys keys = make_arrays(3, (const uint32_t(*)[5])words);
    kf_curve curve = {0};
    keys.ref_count[2] = 5; /* more than there are keys: harmless */
    assert_true(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, &curve));
    assert_int_equal(curve.count, 3);
    keys.ref_count[1] = 0;
    assert_false(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, &curve));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    job.error.code = KF_OK;
    keys.ref_count[1] = 1;
    keys.runs = 2;
    assert_false(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, &curve));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ticks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_new_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_programs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_edited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_finite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_last_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
