/* FBX files made by hand: curves that do not fit together, odd numbers, names, properties, structures and
 * versions. */
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
#include "helper_fbx.h"

static kf_job job;
static kf_anim anim;

static int tear_down(void **state)
{
    (void)state;
    kfi_arena_free(&job.arena);
    memset(&job, 0, sizeof job);
    return 0;
}

#define SECOND KFI_FBX_TICKS

/* ---------------------------------------------------------------- one curve, binary */

typedef struct curve_arrays {
    int64_t times[4];
    float values[4];
    int32_t flags[4];
    uint32_t data[16];
    int32_t ref_count[4];
    uint32_t time_count, value_count, flag_count, data_count, ref_count_count;
    char value_type;
    bool packed;
    const char *missing; /* an array that is not there */
} curve_arrays;

/* Three keys: step, user with its own weights, TCB; the last two of them one run each. */
static const curve_arrays GOOD = {
    .times = {0, SECOND / 2, SECOND * 2},
    .values = {1.5f, -2.25f, 1e-20f},
    .flags = {2, 0x3000408, 0x208},
    .data = {0, 0, 0x0d050d05, 0, 0x40400000, 0xbf800000, 0x1f400bb8, 0, 0x3f000000, 0xbe800000, 0xc0800000,
             0},
    .ref_count = {1, 1, 1},
    .time_count = 3,
    .value_count = 3,
    .flag_count = 3,
    .data_count = 12,
    .ref_count_count = 3,
    .value_type = 'f',
};

static void make_p(fbx_maker *m, const char *name, const char *type, double value)
{
    fbx_open(m, "P");
    fbx_text(m, name, strlen(name));
    fbx_text(m, type, strlen(type));
    fbx_text(m, "", 0);
    fbx_text(m, "A", 1);
    fbx_f64(m, value);
    fbx_close(m);
}

static void make_object(fbx_maker *m, const char *record, int64_t id, const char *name,
                        const char *class_name, const char *type)
{
    char joined[300];
    size_t size = strlen(name);
    memcpy(joined, name, size);
    memcpy(joined + size, "\0\1", 2);
    strcpy(joined + size + 2, class_name);
    fbx_open(m, record);
    fbx_i64(m, id);
    fbx_text(m, joined, size + 2 + strlen(class_name));
    fbx_text(m, type, strlen(type));
}

static void make_start(fbx_maker *m, uint32_t version)
{
    fbx_make(m, version);
    fbx_open(m, "FBXHeaderExtension");
    fbx_open(m, "FBXHeaderVersion");
    fbx_i32(m, 1003);
    fbx_close(m);
    fbx_close(m);
    fbx_open(m, "Objects");
}

enum { NODE = 10, STACK, LAYER, CURVE_NODE, CURVE };

static void make_curve_scene(fbx_maker *m, uint32_t version, const curve_arrays *c)
{
    make_start(m, version);
    make_object(m, "Model", NODE, "n", "Model", "Null");
    fbx_close(m);
    make_object(m, "AnimationStack", STACK, "t", "AnimStack", "");
    fbx_close(m);
    make_object(m, "AnimationLayer", LAYER, "l", "AnimLayer", "");
    fbx_close(m);
    make_object(m, "AnimationCurveNode", CURVE_NODE, "T", "AnimCurveNode", "");
    fbx_open(m, "Properties70");
    make_p(m, "d|X", "Number", 5);
    make_p(m, "d|Y", "Number", 6);
    make_p(m, "d|Z", "Number", 7);
    fbx_close(m);
    fbx_close(m);
    make_object(m, "AnimationCurve", CURVE, "", "AnimCurve", "");
    double doubles[4];
    for (int i = 0; i < 4; i++) doubles[i] = (double)c->values[i];
    const struct {
        const char *name;
        char type;
        const void *items;
        uint32_t count;
    } arrays[] = {{"KeyTime", 'l', c->times, c->time_count},
                  {"KeyValueFloat", c->value_type, c->value_type == 'd' ? (const void *)doubles : c->values,
                   c->value_count},
                  {"KeyAttrFlags", 'i', c->flags, c->flag_count},
                  {"KeyAttrDataFloat", 'f', c->data, c->data_count},
                  {"KeyAttrRefCount", 'i', c->ref_count, c->ref_count_count}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!c->missing || strcmp(c->missing, arrays[i].name) != 0)
            fbx_array_record(m, arrays[i].name, arrays[i].type, arrays[i].items, arrays[i].count, c->packed);
    fbx_close(m);
    fbx_close(m);
    fbx_open(m, "Connections");
    fbx_connect(m, NODE, 0, NULL);
    fbx_connect(m, LAYER, STACK, NULL);
    fbx_connect(m, CURVE_NODE, LAYER, NULL);
    fbx_connect(m, CURVE_NODE, NODE, "Lcl Translation");
    fbx_connect(m, CURVE, CURVE_NODE, "d|Y");
    fbx_close(m);
    fbx_finish(m);
}

static bool read_curve_scene(uint32_t version, const curve_arrays *c)
{
    fbx_maker m;
    make_curve_scene(&m, version, c);
    fbx_begin(&job, UINT64_MAX);
    bool ok = fbx_read(&job, m.data, m.size, &anim);
    free(m.data);
    return ok;
}

/* Each way in which the arrays may stand in the file, the last two unusual, so that ufbx reads them. */
static void curve_in_every_form(void **state)
{
    (void)state;
    for (int form = 0; form < 6; form++) {
        curve_arrays c = GOOD;
        c.packed = form & 1;
        if (form >= 4) c.value_type = 'd';
        assert_true(read_curve_scene(form & 2 ? 7400 : 7700, &c));
        assert_int_equal(anim.take_count, 1);
        assert_int_equal(anim.takes[0].track_count, 1);
        const kf_track *track = &anim.takes[0].tracks[0];
        assert_true(track->curves == 3 && track->curve[0].count == 0 && track->curve[2].count == 0);
        assert_true(track->rest[0] == 5 && track->rest[1] == 6 && track->rest[2] == 7);
        const kf_curve *curve = &track->curve[1];
        assert_int_equal(curve->count, 3);
        const kf_key *k = curve->keys;
        const kf_handles *h = curve->handles;
        assert_true(k[0].time == 0 && k[1].time == 0.5 && k[2].time == 2);
        assert_true(k[0].value == 1.5 && k[1].value == -2.25 && k[2].value == (double)1e-20f);
        assert_true(k[0].interp == KF_STEP && k[1].interp == KF_BEZIER && k[2].interp == KF_TCB);
        assert_true(k[0].attr == 2 && k[1].attr == 0x3000408 && k[2].attr == 0x208);
        assert_true(fabs(h[1].out.dt - 1.5 * 3000 / 9999) < 1e-12 &&
                    fabs(h[2].in.dt + 1.5 * 8000 / 9999) < 1e-12);
        assert_true(fabs(h[1].out.dv - 3 * h[1].out.dt) < 1e-12 && fabs(h[2].in.dv + h[2].in.dt) < 1e-12);
        assert_true(curve->tcb[2].tension == 0.5f && curve->tcb[2].continuity == -0.25f &&
                    curve->tcb[2].bias == -4.0f);
        assert_true(anim.takes[0].start == 0 && anim.takes[0].end == 2); /* from the keys: none was stated */
    }
}

static void refused(const char *message, const char *file)
{
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    if (!strstr(job.error.message, message))
        fail_msg("%s: expected \"%s\" in \"%s\"", file, message, job.error.message);
}

static void arrays_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        int what;
        const char *message, *by_ufbx;
    } cases[] = {
        {0, "KeyTime has 2 items, but KeyValueFloat 3", "do not fit together"},
        {1, "KeyTime has 3 items, but KeyValueFloat 2", "do not fit together"},
        {2, "KeyAttrFlags has 2 items, KeyAttrRefCount 3, KeyAttrDataFloat 12", "do not fit together"},
        {3, "KeyAttrFlags has 3 items, KeyAttrRefCount 3, KeyAttrDataFloat 11", "do not fit together"},
        {4, "KeyAttrFlags has 3 items, KeyAttrRefCount 2, KeyAttrDataFloat 12", "do not fit together"},
        {5, "KeyAttrRefCount adds up to 4, but there are 3 keys", "adds up to 4, but there are 3 keys"},
        {6, "item 1 of KeyAttrRefCount is 0", "do not fit together"},
        {7, "item 2 of KeyAttrRefCount is -1", "do not fit together"},
        {8, "KeyAttrRefCount adds up to 2147483649, but there are 3 keys", "adds up to"},
        {9, "KeyAttrRefCount adds up to 2, but there are 3 keys", "do not fit together"},
        {10, "KeyAttrFlags has 3 items, KeyAttrRefCount 3, KeyAttrDataFloat 13", "do not fit together"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int form = 0; form < 3; form++) {
            curve_arrays c = GOOD;
            c.packed = form == 1;
            c.value_type = form == 2 ? 'd' : 'f'; /* left to ufbx */
            switch (cases[i].what) {
            case 0:
                c.time_count = 2;
                break;
            case 1:
                c.value_count = 2;
                break;
            case 2:
                c.flag_count = 2;
                break;
            case 3:
                c.data_count = 11;
                break;
            case 4:
                c.ref_count_count = 2;
                break;
            case 5:
                c.ref_count[2] = 2;
                break;
            case 6:
                c.ref_count[1] = 0;
                break;
            case 7:
                c.ref_count[2] = -1;
                break;
            case 8:
                c.ref_count[2] = INT32_MAX;
                break;
            case 10:
                c.data_count = 13;
                break;
            default:
                c.flag_count = c.ref_count_count = 2, c.data_count = 8;
                break;
            }
            assert_false(read_curve_scene(7500, &c));
            refused(form == 2 ? cases[i].by_ufbx : cases[i].message, form == 2 ? "by ufbx" : "ours");
            if (form < 2) { /* says where */
                refused("take \"t\", node \"n\", Lcl Translation.y", "ours");
                assert_true(job.error.offset != KF_NO_OFFSET);
            }
        }
}

static void arrays_that_are_missing(void **state)
{
    (void)state;
    static const char *const names[] = {"KeyTime", "KeyValueFloat", "KeyAttrFlags", "KeyAttrDataFloat",
                                        "KeyAttrRefCount"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        curve_arrays c = GOOD;
        c.missing = names[i];
        assert_false(read_curve_scene(7500, &c));
        refused("or one is missing", names[i]);
        assert_true(job.error.offset > 100 && job.error.offset != KF_NO_OFFSET);
    }
}

/* Sizes that lie: more than can come of the bytes, less than comes, damaged. */
static void packed_data_that_lies(void **state)
{
    (void)state;
    curve_arrays c = GOOD;
    c.packed = true;
    fbx_maker m;
    make_curve_scene(&m, 7500, &c);
    size_t at = 0;
    while (memcmp(m.data + at, "KeyTimel", 8) != 0) at++;
    at += 8; /* u32 items, u32 encoding, u32 bytes, data */
    static const struct {
        size_t offset;
        uint8_t byte;
        const char *message;
    } lies[] = {{3, 0x20, "cannot come of"},
                {0, 4, "has not 4 items"},
                {0, 2, "has not 2 items"},
                {14, 0x7f, "damaged"},
                {8, 200, "malformed"}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        uint8_t *byte = &m.data[at + lies[i].offset], before = *byte;
        /* The number of values must fit too, or that is what is told. */
        size_t value_at = at;
        while (memcmp(m.data + value_at, "KeyValueFloatf", 14) != 0) value_at++;
        uint8_t *value_byte = &m.data[value_at + 14 + lies[i].offset], value_before = *value_byte;
        *byte = lies[i].byte;
        if (lies[i].offset < 4) *value_byte = lies[i].byte;
        fbx_begin(&job, UINT64_MAX);
        assert_false(fbx_read(&job, m.data, m.size, &anim));
        refused(lies[i].message, "packed");
        *byte = before;
        *value_byte = value_before;
    }
    fbx_begin(&job, UINT64_MAX);
    assert_true(fbx_read(&job, m.data, m.size, &anim));
    free(m.data);
}

static size_t said(const char *id)
{
    return kfi_said(&job, id);
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        curve_arrays c = GOOD;
        c.value_type = form ? 'd' : 'f';
        c.values[0] = INFINITY;
        c.values[2] = NAN;
        c.data[4] = 0x7fc00000;  /* right slope of the second key */
        c.data[10] = 0xff800000; /* bias of the third */
        assert_true(read_curve_scene(7500, &c));
        const kf_curve *curve = &anim.takes[0].tracks[0].curve[1];
        assert_true(curve->keys[0].value == 0 && curve->keys[1].value == -2.25 &&
                    curve->keys[2].value == -2.25);
        assert_true(curve->keys[0].flags & KF_KEY_NONFINITE && curve->keys[2].flags & KF_KEY_NONFINITE);
        assert_false(curve->keys[1].flags & KF_KEY_NONFINITE);
        assert_true(curve->handles[1].out.dv == 0 && curve->tcb[2].bias == 0 && curve->tcb[2].tension == 0.5f);
        assert_int_equal(said("nonfinite"), 2);
        job.options.strict = true;
    }
}

static void times_that_go_back(void **state)
{
    (void)state;
    curve_arrays c = GOOD;
    c.times[2] = SECOND / 4;
    assert_false(read_curve_scene(7500, &c));
    refused("key times go backwards", "times");
}

typedef struct counting {
    size_t now, peak;
} counting;

static void *counting_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    counting *c = user;
    c->now = c->now - old_size + new_size;
    c->peak = c->now > c->peak ? c->now : c->peak;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

/* At no time is more taken than the ceiling allows, by ufbx or by us. */
static void memory_is_bounded(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        fbx_maker m;
        curve_arrays c = GOOD;
        c.value_type = form ? 'd' : 'f';
        make_curve_scene(&m, 7500, &c);
        bool done = false;
        size_t refusals = 0;
        for (uint64_t limit = 512; !done; limit += limit / 16) {
            counting count = {0, 0};
            memset(&job, 0, sizeof job);
            kfi_arena_init(&job.arena, (kf_allocator){&count, counting_resize}, limit);
            done = fbx_read(&job, m.data, m.size, &anim);
            if (!done) {
                assert_int_equal(job.error.code, KF_MEMORY_LIMIT);
                refusals++;
            }
            assert_true(count.peak <= limit);
            assert_int_equal(count.now, job.arena.total);
            kfi_arena_free(&job.arena);
            assert_int_equal(count.now, 0);
        }
        assert_true(refusals > 30);
        free(m.data);
    }
}

typedef struct failing {
    size_t left, failed;
} failing;

static void *failing_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)old_size;
    failing *f = user;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    if (f->left == 0) {
        f->failed++;
        return NULL;
    }
    f->left--;
    return realloc(block, new_size);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fbx_maker m;
    curve_arrays c = GOOD;
    c.packed = true;
    make_curve_scene(&m, 7500, &c);
    bool done = false;
    size_t n = 0;
    for (; !done && n < 5000; n++) {
        failing f = {n, 0};
        memset(&job, 0, sizeof job);
        kfi_arena_init(&job.arena, (kf_allocator){&f, failing_resize}, UINT64_MAX);
        job.arena.item_blocks = true;
        done = fbx_read(&job, m.data, m.size, &anim);
        if (!done) assert_int_equal(job.error.code, KF_NO_MEMORY);
        assert_int_equal(done, f.failed == 0);
        kfi_arena_free(&job.arena);
        assert_int_equal(job.arena.total, 0);
    }
    assert_true(done && n > 30);
    free(m.data);
}

typedef struct patience {
    size_t left, calls;
    double last;
} patience;

static bool on_progress(void *user, double done)
{
    patience *p = user;
    assert_true(done >= p->last && done <= 1);
    p->last = done;
    p->calls++;
    return p->left-- > 0;
}

static void progress_and_cancel(void **state)
{
    (void)state;
    fbx_maker m;
    curve_arrays c = GOOD;
    for (int form = 0; form < 2; form++) {
        c.value_type = form ? 'd' : 'f';
        make_curve_scene(&m, 7500, &c);
        bool done = false;
        size_t n = 0;
        for (; !done; n++) { /* cancelled at each call */
            patience p = {.left = n};
            fbx_begin(&job, UINT64_MAX);
            job.options.user = &p;
            job.options.progress = on_progress;
            done = fbx_read(&job, m.data, m.size, &anim);
            if (!done) {
                assert_int_equal(job.error.code, KF_CANCELLED);
                assert_int_equal(p.calls, n + 1);
            }
        }
        assert_true(n >= 3); /* at the start and at the curve, at least */
        free(m.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(curve_in_every_form, tear_down),
        cmocka_unit_test_teardown(arrays_that_do_not_fit, tear_down),
        cmocka_unit_test_teardown(arrays_that_are_missing, tear_down),
        cmocka_unit_test_teardown(packed_data_that_lies, tear_down),
        cmocka_unit_test_teardown(numbers_that_are_none, tear_down),
        cmocka_unit_test_teardown(times_that_go_back, tear_down),
        cmocka_unit_test_teardown(memory_is_bounded, tear_down),
        cmocka_unit_test_teardown(every_allocation_may_fail, tear_down),
        cmocka_unit_test_teardown(progress_and_cancel, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
