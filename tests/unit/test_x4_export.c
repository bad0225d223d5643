/* x4-ani: the export, with edits of every kind on an original and without one. */
#include "helper_x4.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---------------------------------------------------------------- editing */

typedef struct edit {
    kf_job job;
    bytes file;
    kf_file original_file;
    kf_anim original, anim;
} edit;

/* The animation as it would come back unedited: every track changed in name only, keys with their own
 * origins. */
static void begin(edit *e)
{
    x4_job_begin(&e->job);
    x4_sample(&e->file);
    assert_true(x4_import_bytes(&e->job, &e->file, &e->original_file, &e->original));
    kf_file ignored;
    assert_true(x4_import_bytes(&e->job, &e->file, &ignored, &e->anim));
    e->anim.native = NULL;
    for (size_t t = 0; t < e->anim.take_count; t++)
        for (size_t i = 0; i < e->anim.takes[t].track_count; i++) {
            kf_track *track = &e->anim.takes[t].tracks[i];
            track->state = KF_TRACK_CHANGED;
            for (unsigned c = 0; c < track->curves; c++) {
                kf_origin *origin = kfi_alloc(&e->job, track->curve[c].count, sizeof *origin);
                for (size_t k = 0; k < track->curve[c].count; k++)
                    origin[k].key = (uint32_t)k;
                track->curve[c].origin = origin;
            }
        }
}

static kf_track *track_of(edit *e, size_t take, size_t track)
{
    return &e->anim.takes[take].tracks[track];
}

static kf_key *change(kf_track *track, unsigned c, size_t key, uint32_t what)
{
    ((kf_origin *)track->curve[c].origin)[key].changed = what;
    return &track->curve[c].keys[key];
}

/* The same for the handles of the first track's key. */
static kf_handles *change_handles(edit *e, unsigned c, size_t key, uint32_t what)
{
    change(track_of(e, 0, 0), c, key, what);
    return &track_of(e, 0, 0)->curve[c].handles[key];
}

static bool write(edit *e, bytes *out)
{
    kf_export_job job = {.job = &e->job,
                         .host = &X4_HOST,
                         .options = &e->job.options,
                         .anim = &e->anim,
                         .original = &e->original,
                         .files = &e->original_file,
                         .count = 1,
                         .output = "other.ani"};
    e->job.emitted_count = 0;
    if (!kfi_format_x4_ani.export_(&job))
        return false;
    assert_int_equal(e->job.emitted_count, 1);
    assert_string_equal(e->job.emitted[0].name, "door.ani");
    assert_true(e->job.emitted[0].size <= sizeof out->data);
    memcpy(out->data, e->job.emitted[0].data, e->job.emitted[0].size);
    out->size = e->job.emitted[0].size;
    return true;
}

static void put_at(bytes *b, size_t at, float value)
{
    kfi_store_f32(b->data + at, value);
}

/* Writes, and compares with what was expected byte for byte. */
static void expect(edit *e, const bytes *expected)
{
    bytes out;
    if (!write(e, &out))
        fail_msg("%s", e->job.error.message);
    assert_int_equal(out.size, expected->size);
    for (size_t i = 0; i < out.size; i++)
        if (out.data[i] != expected->data[i])
            fail_msg("byte %zu: expected %02x, found %02x", i, expected->data[i], out.data[i]);
    x4_job_end(&e->job);
}

/* ---------------------------------------------------------------- with the original */

static void test_unchanged(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    expect(&e, &e.file);
}

static void test_value(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    bytes expected = e.file;
    change(track_of(&e, 0, 0), 0, 1, KF_CHANGED_VALUE)->value = 12;
    put_at(&expected, at_key(1, X4_KEY_VALUE), 12);
    put_at(&expected, at_key(1, kfi_x4_point(0, 0) + 4), 12.5f); /* the handles move along */
    put_at(&expected, at_key(1, kfi_x4_point(0, 1) + 4), 11.25f);
    expect(&e, &expected);

    begin(&e);
    expected = e.file;
    change(track_of(&e, 0, 1), 2, 1, KF_CHANGED_VALUE)->value = 2 * DEGREES;
    put_at(&expected, at_key(KEYS + 1, X4_KEY_VALUE + 8), 2);
    put_at(&expected, at_key(KEYS + 1, kfi_x4_point(2, 0) + 4), 2.5f);
    put_at(&expected, at_key(KEYS + 1, kfi_x4_point(2, 1) + 4), 1.25f);
    expect(&e, &expected);
}

static void test_time(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    bytes expected = e.file;
    for (unsigned c = 0; c < 3; c++)
        change(track_of(&e, 0, 0), c, 1, KF_CHANGED_TIME)->time = 1.5;
    put_at(&expected, at_key(1, X4_KEY_TIME), 1.5f);
    for (unsigned c = 0; c < 3; c++) {
        put_at(&expected, at_key(1, kfi_x4_point(c, 0)), 1.75f);
        put_at(&expected, at_key(1, kfi_x4_point(c, 1)), 1.25f);
    }
    /* With linear time a handle is a third of its segment, and its slope stays: 0.5 units in 1/3 s out, 0.75
     * in. */
    put_at(&expected, at_key(1, kfi_x4_point(1, 0)), (float)(1.5 + 0.5 / 3));
    put_at(&expected, at_key(1, kfi_x4_point(1, 0) + 4), 3.25f);
    put_at(&expected, at_key(1, kfi_x4_point(1, 1)), 1);
    put_at(&expected, at_key(1, kfi_x4_point(1, 1) + 4), 1.875f);
    expect(&e, &expected);

    /* The last key beyond the end: Duration follows. */
    begin(&e);
    expected = e.file;
    for (unsigned c = 0; c < 3; c++)
        change(track_of(&e, 0, 1), c, 1, KF_CHANGED_TIME)->time = 6;
    put_at(&expected, at_key(KEYS + 1, X4_KEY_TIME), 6);
    for (unsigned c = 0; c < 3; c++) {
        put_at(&expected, at_key(KEYS + 1, kfi_x4_point(c, 0)), 6.25f);
        put_at(&expected, at_key(KEYS + 1, kfi_x4_point(c, 1)), 5.75f);
    }
    put_at(&expected, 16 + X4_DESC_DURATION, 6);
    expect(&e, &expected);

    /* The take made longer or shorter. */
    for (int i = 0; i < 2; i++) {
        begin(&e);
        expected = e.file;
        e.anim.takes[0].end = i ? 3 : 8;
        put_at(&expected, 16 + X4_DESC_DURATION, i ? 4 : 8); /* never before its last key */
        if (i)
            e.anim.takes[0].end = 3.9999999;
        expect(&e, &expected);
    }
}

static void test_handles_and_forms(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    bytes expected = e.file;
    change_handles(&e, 0, 1, KF_CHANGED_OUT)->out = (kf_handle){0.5, 3};
    put_at(&expected, at_key(1, kfi_x4_point(0, 0)), 1.5f);
    put_at(&expected, at_key(1, kfi_x4_point(0, 0) + 4), 5);
    change_handles(&e, 0, 2, KF_CHANGED_IN)->in = (kf_handle){-0.125, 1};
    put_at(&expected, at_key(2, kfi_x4_point(0, 1)), 1.875f);
    put_at(&expected, at_key(2, kfi_x4_point(0, 1) + 4), 5);
    /* Linear time: a slope of 6 whatever the handle's length, and the point's time says nothing. */
    change_handles(&e, 1, 1, KF_CHANGED_OUT)->out = (kf_handle){0.5, 3};
    put_at(&expected, at_key(1, kfi_x4_point(1, 0) + 4), 5);
    expect(&e, &expected);

    /* Without linear time the times of both points count, though nobody changed the next key's. */
    begin(&e);
    expected = e.file;
    change(track_of(&e, 0, 0), 1, 1, KF_CHANGED_INTERP | KF_CHANGED_OUT)->interp = KF_BEZIER;
    track_of(&e, 0, 0)->curve[1].handles[1].out = (kf_handle){0.5, 3};
    kfi_store_u32(expected.data + at_key(1, X4_KEY_INTERP + 4), 5);
    put_at(&expected, at_key(1, kfi_x4_point(1, 0)), 1.5f);
    put_at(&expected, at_key(1, kfi_x4_point(1, 0) + 4), 6);
    put_at(&expected, at_key(2, kfi_x4_point(1, 1)), (float)(5.0 / 3));
    expect(&e, &expected);

    /* Linear becomes Bezier: its own point and the next key's, though that has not changed. */
    begin(&e);
    expected = e.file;
    change(track_of(&e, 0, 0), 1, 3, KF_CHANGED_INTERP | KF_CHANGED_OUT)->interp = KF_BEZIER;
    kf_handles *handles = track_of(&e, 0, 0)->curve[1].handles;
    handles[3].out = (kf_handle){0.5, -1};
    handles[4].in = (kf_handle){-0.5, 1};
    kfi_store_u32(expected.data + at_key(3, X4_KEY_INTERP + 4), 5);
    put_at(&expected, at_key(3, kfi_x4_point(1, 0)), 3.5f);
    put_at(&expected, at_key(3, kfi_x4_point(1, 0) + 4), 3);
    put_at(&expected, at_key(4, kfi_x4_point(1, 1)), 3.5f);
    put_at(&expected, at_key(4, kfi_x4_point(1, 1) + 4), 2);
    expect(&e, &expected);

    begin(&e);
    expected = e.file;
    change(track_of(&e, 0, 0), 0, 2, KF_CHANGED_INTERP)->interp = KF_STEP;
    kfi_store_u32(expected.data + at_key(2, X4_KEY_INTERP), 1);
    expect(&e, &expected);
}

static void test_tcb(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    bytes expected = e.file;
    change(track_of(&e, 0, 0), 2, 1, KF_CHANGED_TCB);
    track_of(&e, 0, 0)->curve[2].tcb[1] = (kf_tcb){-1, 0.75f, 1, 9, 9};
    put_at(&expected, at_key(1, X4_KEY_TENSION), -1);
    put_at(&expected, at_key(1, X4_KEY_CONTINUITY), 0.75f);
    put_at(&expected, at_key(1, X4_KEY_BIAS), 1);
    change(track_of(&e, 0, 0), 2, 2, KF_CHANGED_EASE);
    track_of(&e, 0, 0)->curve[2].tcb[2].ease_in = 0.9f;
    put_at(&expected, at_key(2, X4_KEY_EASE_IN), 0.9f);
    expect(&e, &expected);
}

static void test_removed_and_added(void **state)
{
    (void)state;
    edit e;
    bytes expected;
    begin(&e);
    kf_track *track = track_of(&e, 0, 0);
    for (unsigned c = 0; c < 3; c++) { /* key 1 goes */
        kf_curve *curve = &track->curve[c];
        kfi_copy_keys(curve, 1, curve, 2, KEYS - 2);
        memmove((kf_origin *)&curve->origin[1], &curve->origin[2], (KEYS - 2) * sizeof *curve->origin);
        curve->count--;
    }
    expected = e.file;
    memmove(expected.data + at_key(1, 0), expected.data + at_key(2, 0), expected.size - at_key(2, 0));
    expected.size -= X4_KEY_SIZE;
    kfi_store_u32(expected.data + 16 + X4_DESC_COUNTS, KEYS - 1);
    expect(&e, &expected);

    /* A last key that is new: fresh fields, a step. */
    begin(&e);
    track = track_of(&e, 0, 1);
    for (unsigned c = 0; c < 3; c++) {
        kf_curve *curve = &track->curve[c], longer = *curve;
        kf_origin *origin = kfi_alloc(&e.job, 3, sizeof *origin);
        assert_true(kfi_make_keys(&e.job, &longer, 3, kfi_parts(curve)));
        kfi_copy_keys(&longer, 0, curve, 0, 2);
        longer.keys[2] = (kf_key){.time = 4.5, .value = (c + 1) * DEGREES, .interp = KF_LINEAR};
        origin[1].key = 1;
        origin[2] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
        longer.origin = origin;
        *curve = longer;
    }
    expected = e.file;
    size_t at = at_key(KEYS + 2, 0);
    memmove(expected.data + at + X4_KEY_SIZE, expected.data + at, expected.size - at);
    expected.size += X4_KEY_SIZE;
    memset(expected.data + at, 0, X4_KEY_SIZE);
    for (unsigned c = 0; c < 3; c++) {
        put_at(&expected, at + 4 * c, (float)c + 1);
        kfi_store_u32(expected.data + at + X4_KEY_INTERP + 4 * c, 1);
    }
    put_at(&expected, at + X4_KEY_TIME, 4.5f);
    kfi_store_u32(expected.data + 16 + X4_DESC_COUNTS + 4, 3);
    put_at(&expected, 16 + X4_DESC_DURATION, 4.5f);
    expect(&e, &expected);
}

/* x, y and z of one row need not come from one record: each keeps its own fields. */
static void test_rows_put_together(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    kf_track *track = track_of(&e, 0, 0);
    change(track, 1, 1, KF_CHANGED_TIME)->time = 2; /* y's key 1 now lies where x and z have their key 2 */
    kf_curve *y = &track->curve[1];
    kf_origin *origin = (kf_origin *)y->origin;
    kfi_copy_keys(y, 2, y, 1, 1); /* its own key 2 is gone */
    origin[2] = origin[1];
    y->keys[1] = (kf_key){.time = 1, .value = 9, .interp = KF_STEP};
    y->handles[1] = (kf_handles){.in = {0, 0}};
    origin[1] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
    bytes expected = e.file;
    put_at(&expected, at_key(1, X4_KEY_VALUE + 4), 9);
    kfi_store_u32(expected.data + at_key(1, X4_KEY_INTERP + 4), 1);
    put_at(&expected, at_key(1, kfi_x4_point(1, 1)), 1); /* a handle of no length on the segment before it */
    put_at(&expected, at_key(1, kfi_x4_point(1, 1) + 4), 9);
    const uint8_t *from = e.file.data + at_key(1, 0);
    uint8_t *to = expected.data + at_key(2, 0);
    memcpy(to + X4_KEY_VALUE + 4, from + X4_KEY_VALUE + 4, 4);
    memcpy(to + X4_KEY_DERIV_IN + 4, from + X4_KEY_DERIV_IN + 4, 4);
    memcpy(to + X4_KEY_DERIV_OUT + 4, from + X4_KEY_DERIV_OUT + 4, 4);
    /* A third of a second after 2 s; the values are record 1's, which has other ones only here. */
    put_at(&expected, at_key(2, kfi_x4_point(1, 0)), (float)(2 + 1.0 / 3));
    put_at(&expected, at_key(2, kfi_x4_point(1, 0) + 4), 3.5f);
    /* The segment before is a step now: its point moved along, no more. */
    put_at(&expected, at_key(2, kfi_x4_point(1, 1)), 1.75f);
    put_at(&expected, at_key(2, kfi_x4_point(1, 1) + 4), 2.25f);
    expect(&e, &expected);
}

/* A new key before the first one: what was no handle is one now, and the record before the list is none of
 * its. */
static void test_new_first_key(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    kf_track *track = track_of(&e, 0, 1);
    for (unsigned c = 0; c < 3; c++) {
        kf_curve *curve = &track->curve[c], longer = *curve;
        kf_origin *origin = kfi_alloc(&e.job, 3, sizeof *origin);
        assert_true(kfi_make_keys(&e.job, &longer, 3, KFI_HANDLES));
        kfi_copy_keys(&longer, 1, curve, 0, 2);
        longer.keys[0] = (kf_key){.time = -2, .interp = KF_BEZIER};
        longer.handles[0].out = (kf_handle){1, 2 * DEGREES};
        longer.handles[1].in = (kf_handle){-0.5, -3 * DEGREES};
        origin[0] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
        origin[2].key = 1;
        longer.origin = origin;
        *curve = longer;
    }
    /* The position key before the rotation keys is made a Bezier key to mislead. */
    kfi_store_u32(e.file.data + at_key(KEYS - 1, X4_KEY_INTERP), 5);
    bytes expected = e.file;
    size_t at = at_key(KEYS, 0);
    memmove(expected.data + at + X4_KEY_SIZE, expected.data + at, expected.size - at);
    expected.size += X4_KEY_SIZE;
    memset(expected.data + at, 0, X4_KEY_SIZE);
    kfi_store_u32(expected.data + 16 + X4_DESC_COUNTS + 4, 3);
    put_at(&expected, at + X4_KEY_TIME, -2);
    for (unsigned c = 0; c < 3; c++) {
        kfi_store_u32(expected.data + at + X4_KEY_INTERP + 4 * c, 5);
        put_at(&expected, at + kfi_x4_point(c, 0), -1);
        put_at(&expected, at + kfi_x4_point(c, 0) + 4, 2);
        put_at(&expected, at + X4_KEY_SIZE + kfi_x4_point(c, 1), -0.5f);
        put_at(&expected, at + X4_KEY_SIZE + kfi_x4_point(c, 1) + 4, (float)c - 3);
    }
    expect(&e, &expected);
}

/* An edited handle on a quadratic segment makes it a Bezier segment; an edited value does not. */
static void test_rare_form(void **state)
{
    (void)state;
    edit e;
    bytes expected;
    for (int handle = 0; handle < 2; handle++) {
        begin(&e);
        kfi_store_u32(e.file.data + at_key(1, X4_KEY_INTERP), 3);
        expected = e.file;
        kf_key *key = change(track_of(&e, 0, 0), 0, 1, handle ? KF_CHANGED_OUT : KF_CHANGED_VALUE);
        if (handle) {
            kf_handles *handles = change_handles(&e, 0, 1, KF_CHANGED_OUT);
            handles->out = (kf_handle){0.125, 1};
            handles[1].in = (kf_handle){-0.125, 2};
            kfi_store_u32(expected.data + at_key(1, X4_KEY_INTERP), 5);
            put_at(&expected, at_key(1, kfi_x4_point(0, 0)), 1.125f);
            put_at(&expected, at_key(1, kfi_x4_point(0, 0) + 4), 3);
            put_at(&expected, at_key(2, kfi_x4_point(0, 1)), 1.875f);
            put_at(&expected, at_key(2, kfi_x4_point(0, 1) + 4), 6);
        } else {
            key->value = 12;
            put_at(&expected, at_key(1, X4_KEY_VALUE), 12);
            put_at(&expected, at_key(1, kfi_x4_point(0, 0) + 4), 12.5f);
            put_at(&expected, at_key(1, kfi_x4_point(0, 1) + 4), 11.25f);
        }
        expect(&e, &expected);
    }
}

static void test_names(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    bytes expected = e.file;
    e.anim.takes[0].name = "closed";
    memcpy(expected.data + 16 + 64, "closed", 7); /* what lies behind it stays */
    /* 62 letters and a letter of two bytes: cut before it. */
    char name[80];
    memset(name, 'n', 62);
    memcpy(name + 62, "\xc3\xa9 and more", 12);
    e.anim.nodes[1].name = name;
    memset(expected.data + 16 + 160, 'n', 62);
    expected.data[16 + 160 + 62] = 0;
    bytes out;
    assert_true(write(&e, &out));
    assert_int_equal(kfi_said(&e.job, "name-cut"), 1);
    expect(&e, &expected);
}

static void test_missing_and_new(void **state)
{
    (void)state;
    for (int drop = 0; drop < 2; drop++) {
        edit e;
        bytes expected;
        begin(&e);
        expected = e.file;
        e.job.options.drop_missing = drop;
        e.anim.take_count = 1; /* "idle" is gone */
        if (drop) {
            memmove(expected.data + 16 + 160, expected.data + FIRST_KEY, 7 * X4_KEY_SIZE);
            expected.size = 16 + 160 + 7 * X4_KEY_SIZE;
            kfi_store_u32(expected.data, 1);
            kfi_store_u32(expected.data + 4, 16 + 160);
        }
        expect(&e, &expected);
    }
    /* A rotation of "lamp" in "open", which had none: a new description. Times count from the take's start.
     */
    edit e;
    begin(&e);
    bytes out;
    kf_track *track = kfi_add_track(&e.job, &e.anim.takes[0], 1, KF_ROTATION, 3);
    assert_true(kfi_make_keys(&e.job, &track->curve[0], 1, 0)); /* y and z hold */
    track->curve[0].keys[0] = (kf_key){.time = 2, .value = DEGREES, .interp = KF_LINEAR};
    /* And a position of "lamp" in "idle": it has a description already. */
    track = kfi_add_track(&e.job, &e.anim.takes[1], 1, KF_TRANSLATION, 3);
    for (unsigned c = 0; c < 3; c++)
        assert_true(kfi_make_keys(&e.job, &track->curve[c], 1, 0));
    track = kfi_add_track(&e.job, &e.anim.takes[1], 1, KF_CUSTOM, 1);
    track->name = "glow";
    assert_true(write(&e, &out));
    assert_int_equal(kfi_said(&e.job, "channel-lost"), 1);
    assert_int_equal(out.size, e.file.size + 160 + 2 * X4_KEY_SIZE);
    assert_int_equal(kfi_load_u32(out.data), 3);
    assert_int_equal(kfi_load_u32(out.data + 4), 16 + 3 * 160);
    const uint8_t *desc = out.data + 16 + 2 * 160;
    assert_string_equal((const char *)desc, "lamp");
    assert_string_equal((const char *)desc + 64, "open");
    assert_int_equal(kfi_load_u32(desc + X4_DESC_COUNTS + 4), 1);
    assert_true(kfi_load_f32(desc + X4_DESC_DURATION) == 4);
    const uint8_t *key = out.data + out.size - X4_KEY_SIZE;
    assert_true(kfi_x4_value(key, 0) == 1 && kfi_x4_value(key, 1) == 0 && kfi_x4_time(key) == 2);
    assert_int_equal(kfi_load_u32(out.data + 16 + 160 + X4_DESC_COUNTS), 1);
    x4_job_end(&e.job);
}

/* ---------------------------------------------------------------- without one */

static void same_curve(const kf_curve *a, const kf_curve *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const kf_key *x = &a->keys[i], *y = &b->keys[i];
        x4_near(y->time, x->time);
        x4_near(y->value, x->value);
        bool last = i + 1 == a->count;
        if (!last)
            assert_int_equal(x->interp, y->interp);
        if (!last && (x->interp == KF_BEZIER || x->interp == KF_HERMITE)) {
            /* Points are 32-bit floats. */
            const kf_handles *h = &a->handles[i], *k = &b->handles[i];
            assert_true(fabs(h->out.dt - k->out.dt) < 1e-6 && fabs(h->out.dv - k->out.dv) < 2e-5);
            assert_true(fabs(h[1].in.dt - k[1].in.dt) < 1e-6 && fabs(h[1].in.dv - k[1].in.dv) < 2e-5);
        }
        if (x->interp == KF_TCB || (i && x[-1].interp == KF_TCB))
            assert_memory_equal(&a->tcb[i], &b->tcb[i], sizeof *a->tcb);
    }
}

static void test_without_original(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    for (size_t t = 0; t < e.anim.take_count; t++) {
        e.anim.takes[t].source = -1;
        for (size_t i = 0; i < e.anim.takes[t].track_count; i++) {
            kf_track *track = &e.anim.takes[t].tracks[i];
            track->source = -1;
            track->state = KF_TRACK_NEW;
            for (unsigned c = 0; c < 3; c++)
                track->curve[c].origin = NULL;
        }
    }
    kf_export_job job = {
        .job = &e.job, .host = &X4_HOST, .options = &e.job.options, .anim = &e.anim, .output = "fresh.ani"};
    assert_true(kfi_format_x4_ani.export_(&job));
    assert_string_equal(e.job.emitted[0].name, "fresh.ani");
    bytes fresh;
    memcpy(fresh.data, e.job.emitted[0].data, e.job.emitted[0].size);
    fresh.size = e.job.emitted[0].size;
    assert_int_equal(fresh.size, e.file.size);
    assert_int_equal(kfi_load_u32(fresh.data + 4), FIRST_KEY);
    assert_int_equal(kfi_load_u32(fresh.data + 8), 1);
    assert_int_equal(kfi_load_u32(fresh.data + 12), 0);
    assert_int_equal(fresh.data[16 + 5], 0); /* nothing behind the name */
    assert_int_equal(kfi_load_u32(fresh.data + at_key(KEYS - 1, X4_KEY_INTERP + 8)), 1);
    kf_file file;
    kf_anim again;
    assert_true(x4_import_bytes(&e.job, &fresh, &file, &again));
    kf_import_job in = {&e.job, &X4_HOST, &e.job.options, &file, 1};
    assert_true(kfi_format_x4_ani.check(&in));
    assert_int_equal(e.job.message_count, 0);
    assert_int_equal(again.take_count, 2);
    for (size_t t = 0; t < 2; t++) {
        assert_string_equal(again.takes[t].name, e.original.takes[t].name);
        assert_true(again.takes[t].end == e.original.takes[t].end);
        for (size_t i = 0; i < again.takes[t].track_count; i++)
            for (unsigned c = 0; c < 3; c++)
                same_curve(&e.original.takes[t].tracks[i].curve[c], &again.takes[t].tracks[i].curve[c]);
    }
    x4_job_end(&e.job);

    /* A new take that starts at 10 s. */
    begin(&e);
    for (size_t i = 0; i < 2; i++)
        for (unsigned c = 0; c < 3; c++)
            for (size_t k = 0; k < track_of(&e, 0, i)->curve[c].count; k++)
                track_of(&e, 0, i)->curve[c].keys[k].time += 10;
    e.anim.takes[0].source = -1;
    e.anim.takes[0].start = 10;
    e.anim.takes[0].end = 15;
    job = (kf_export_job){
        .job = &e.job, .host = &X4_HOST, .options = &e.job.options, .anim = &e.anim, .output = "fresh.ani"};
    assert_true(kfi_format_x4_ani.export_(&job));
    const uint8_t *data = e.job.emitted[0].data;
    assert_true(kfi_load_f32(data + 16 + X4_DESC_DURATION) == 5);
    assert_true(kfi_x4_time(data + at_key(3, 0)) == 3);
    assert_true(kfi_load_f32(data + at_key(1, kfi_x4_point(0, 0))) == 1.25f);
    x4_job_end(&e.job);
}

static void inexpressible(edit *e)
{
    bytes out;
    assert_false(write(e, &out));
    assert_int_equal(e->job.error.code, KF_INEXPRESSIBLE);
    assert_true(e->job.error.message[0] != 0);
    x4_job_end(&e->job);
}

static void test_inexpressible(void **state)
{
    (void)state;
    edit e;
    begin(&e);
    track_of(&e, 0, 0)->curve[1].count--;
    inexpressible(&e);
    begin(&e);
    track_of(&e, 0, 0)->curve[1].keys[2].time += 0.01;
    inexpressible(&e);
    begin(&e);
    track_of(&e, 0, 1)->quaternion = true;
    track_of(&e, 0, 1)->curves = 0;
    inexpressible(&e);
    begin(&e); /* two tracks for one list of keys */
    kf_track *track = kfi_add_track(&e.job, &e.anim.takes[0], 0, KF_TRANSLATION, 3);
    assert_non_null(track);
    inexpressible(&e);
    kf_job job;
    x4_job_begin(&job);
    kf_anim empty;
    kfi_anim_init(&empty, "fbx");
    kf_export_job out = {
        .job = &job, .host = &X4_HOST, .options = &job.options, .anim = &empty, .output = "x.ani"};
    assert_false(kfi_format_x4_ani.export_(&out));
    assert_int_equal(job.error.code, KF_INEXPRESSIBLE);
    x4_job_end(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_handles_and_forms),
        cmocka_unit_test(test_tcb),
        cmocka_unit_test(test_removed_and_added),
        cmocka_unit_test(test_rows_put_together),
        cmocka_unit_test(test_new_first_key),
        cmocka_unit_test(test_rare_form),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_missing_and_new),
        cmocka_unit_test(test_without_original),
        cmocka_unit_test(test_inexpressible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
