/* x4-ani: its bytes, the import and the check. */
#include "helper_x4.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---------------------------------------------------------------- bytes */

static void test_decode_and_encode(void **state)
{
    (void)state;
    bytes b;
    kf_job job;
    for (int convention = 0; convention < 2; convention++) {
        x4_sample(&b);
        if (convention)
            kfi_store_u32(b.data + 4, 16);
        x4_job_begin(&job);
        kfi_reader in;
        kfi_reader_init(&in, &job, b.data, b.size);
        kfi_x4_ani ani;
        assert_true(kfi_x4_ani_decode(&in, &ani));
        assert_int_equal(ani.count, 2);
        assert_int_equal(ani.key_count, 10);
        assert_int_equal(ani.first[1], 7);
        assert_int_equal(ani.padding, 0x1234);
        assert_true(kfi_x4_keys(&ani, 1, X4_PRE_SCALE) == b.data + FIRST_KEY + 8 * 128);
        kfi_writer out;
        kfi_writer_init(&out, &job, 0);
        assert_true(kfi_x4_ani_encode(&out, &ani));
        assert_int_equal(out.size, b.size);
        assert_memory_equal(out.data, b.data, b.size);
        x4_job_end(&job);
    }
}

static void refuse(const bytes *b, uint64_t offset, const char *field)
{
    kf_job job;
    kf_file file;
    kf_anim anim;
    x4_job_begin(&job);
    assert_false(x4_import_bytes(&job, b, &file, &anim));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    if (job.error.offset != offset || !strstr(job.error.message, field))
        fail_msg("expected %s at %u, found: %s at %u", field, (unsigned)offset, job.error.message,
                 (unsigned)job.error.offset);
    assert_int_equal(kfi_format_x4_ani.probe(b->data, b->size), 0);
    x4_job_end(&job);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t word;
        const char *field;
    } cases[] = {
        {0, 0xffffffff,
         "NumAnims: expected 0 to 10 descriptions of 160 bytes in a file of 1616 bytes, found -1"},
        {0, 11, "NumAnims"},
        {0, 0x7fffffff, "NumAnims"},
        {4, 0, "KeyOffsetBytes: expected 336 or 16, found 0"},
        {4, 17, "KeyOffsetBytes"},
        {4, 16 + 160 * 3, "KeyOffsetBytes"},
        {16 + 128, 0x80000000, "description 0, NumPosKeys: expected 0 to 10 keys"},
        {16 + 132, 6, "description 0, NumRotKeys: expected 0 to 5 keys"},
        {16 + 160 + 144, 2, "description 1, NumPostScaleKeys: expected 0 to 1 keys"},
        {16 + 160 + 144, 0xffffffff,
         "NumPostScaleKeys: expected 0 to 1 keys of 128 bytes, as many as the file "
         "still holds, found -1"},
    };
    bytes b;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        x4_sample(&b);
        kfi_store_u32(b.data + cases[i].at, cases[i].word);
        refuse(&b, cases[i].at, cases[i].field);
    }
    x4_sample(&b);
    b.size -= 1;
    refuse(&b, 16 + 160 + 144, "NumPostScaleKeys");
    b.size = 15;
    refuse(&b, 0, "header: expected 16 bytes, found 15");
    x4_sample(&b);
    x4_put(&b, 0);
    refuse(&b, b.size - 4, "expected the end of the file after 10 keys, found 4 more bytes");
    kfi_store_u32(b.data + 16 + 160 + 144, 0);
    b.size -= 4;
    refuse(&b, b.size - 128, "found 128 more bytes");
}

/* ---------------------------------------------------------------- import */

static void near_handle(kf_handle found, double dt, double dv)
{
    x4_near(found.dt, dt);
    x4_near(found.dv, dv);
}

static void test_import(void **state)
{
    (void)state;
    bytes b;
    kf_job job;
    kf_file file;
    kf_anim anim;
    x4_job_begin(&job);
    x4_sample(&b);
    assert_true(x4_import_bytes(&job, &b, &file, &anim));
    assert_int_equal(kfi_format_x4_ani.probe(b.data, b.size), 100);
    assert_int_equal(job.message_count, 0);
    assert_true(anim.float32 && anim.frame_rate == 30 && anim.basis.scale[0] == -1 &&
                anim.basis.scale[1] == 1);
    assert_int_equal(anim.node_count, 2);
    assert_string_equal(anim.nodes[0].name, "door");
    assert_string_equal(anim.nodes[1].name, "lamp");
    assert_int_equal(anim.take_count, 2);
    assert_string_equal(anim.takes[0].name, "open");
    assert_true(anim.takes[0].start == 0 && anim.takes[0].end == 4);
    assert_int_equal(anim.takes[0].track_count, 2);
    assert_int_equal(anim.takes[1].track_count, 3);
    assert_string_equal(anim.takes[1].tracks[1].name, "pre_scale");
    assert_string_equal(anim.takes[1].tracks[2].name, "post_scale");
    assert_int_equal(anim.takes[1].tracks[2].source, 9);

    const kf_track *position = &anim.takes[0].tracks[0], *rotation = &anim.takes[0].tracks[1];
    static const uint8_t interps[3][KEYS] = {{KF_BEZIER, KF_BEZIER, KF_BEZIER, KF_STEP, KF_STEP},
                                             {KF_HERMITE, KF_HERMITE, KF_HERMITE, KF_LINEAR, KF_STEP},
                                             {KF_TCB, KF_TCB, KF_TCB, KF_TCB, KF_STEP}};
    static const double values[KEYS] = {1, 2, 4, 3, 0};
    for (unsigned c = 0; c < 3; c++) {
        assert_int_equal(position->curve[c].count, KEYS);
        for (size_t i = 0; i < KEYS; i++) {
            assert_int_equal(position->curve[c].keys[i].interp, interps[c][i]);
            x4_near(position->curve[c].keys[i].time, (double)i);
            x4_near(position->curve[c].keys[i].value, values[i] + c);
        }
    }
    /* Bezier handles as they are, the ones before the first and after the last Bezier key included. */
    near_handle(position->curve[0].handles[0].out, 0.25, 0.5);
    near_handle(position->curve[0].handles[0].in, -0.25, -0.75);
    near_handle(position->curve[0].handles[3].in, -0.25, -0.75);
    near_handle(position->curve[0].handles[4].in, 0, 0);
    /* With linear time the same values lie a third of the way. */
    near_handle(position->curve[1].handles[1].out, 1.0 / 3, 0.5);
    near_handle(position->curve[1].handles[1].in, -1.0 / 3, -0.75);
    assert_null(position->curve[0].tcb);
    assert_non_null(position->curve[2].tcb);
    const kf_tcb *tcb = &position->curve[2].tcb[4];
    assert_true(tcb->tension == 0.5f && tcb->continuity == -0.25f && tcb->bias == 0.125f);
    assert_true(tcb->ease_in == 0.0625f && tcb->ease_out == 0.375f);
    x4_near(rotation->curve[0].keys[1].value, 7 * DEGREES);
    assert_int_equal(rotation->source, 1);
    x4_job_end(&job);
}

static void test_import_rare(void **state)
{
    (void)state;
    bytes b;
    kf_job job;
    kf_file file;
    kf_anim anim;
    x4_job_begin(&job);
    x4_put_header(&b, 3, 16);
    x4_put_desc(&b, "a", "x", (uint32_t[5]){4, 0, 0, 0, 0}, 3.0f);
    x4_put_desc(&b, "a", "x", (uint32_t[5]){0, 1, 0, 0, 0}, 5.0f);
    x4_put_desc(&b, "a", "x", (uint32_t[5]){0, 1, 0, 0, 0}, 1.0f);
    x4_put_key(&b, 0.0f, 1.0f, 3, 4, 9);
    x4_put_key(&b, 1.0f, 2.0f, 3, 4, 0);
    x4_put_key(&b, 2.0f, 4.0f, 2, 4, 70000);
    x4_put_key(&b, 1.5f, 3.0f, 1, 1, 1);
    x4_put_key(&b, 0.0f, NAN, 1, 1, 1);
    x4_put_key(&b, NAN, INFINITY, 1, 1, 1);
    size_t keys = 16 + 3 * 160;
    kfi_store_u32(b.data + keys + X4_KEY_SIZE + X4_KEY_DERIV, 1);       /* key 1 has derivatives */
    memset(b.data + keys + 2 * X4_KEY_SIZE + kfi_x4_point(1, 0), 0, 8); /* key 2, y: no control point out */
    memset(b.data + keys + 3 * X4_KEY_SIZE + kfi_x4_point(1, 1), 0, 8); /* key 3, y: none in */
    assert_true(x4_import_bytes(&job, &b, &file, &anim));

    const kf_curve *curve = anim.takes[0].tracks[0].curve;
    /* Quadratic: two thirds of the way to the one control point, from both ends. */
    assert_int_equal(curve[0].keys[0].interp, KF_BEZIER);
    assert_int_equal(curve[0].keys[0].native, 3);
    near_handle(curve[0].handles[0].out, 0.25 * 2 / 3, 0.5 * 2 / 3);
    near_handle(curve[0].handles[1].in, -0.75 * 2 / 3, -0.5 * 2 / 3);
    /* Cubic: stored derivatives (101 in, 104 out on y), the chord where there is none, else a line. */
    assert_int_equal(curve[1].keys[0].interp, KF_HERMITE);
    near_handle(curve[1].handles[0].out, 1.0 / 3, 1.0 / 3);
    near_handle(curve[1].handles[1].in, -1.0 / 3, -101.0 / 3);
    near_handle(curve[1].handles[1].out, 1.0 / 3, 104.0 / 3);
    assert_int_equal(curve[1].keys[2].interp, KF_LINEAR);
    assert_int_equal(curve[1].keys[2].native, 4);
    assert_int_equal(curve[2].keys[0].interp, KF_LINEAR);
    assert_int_equal(curve[2].keys[0].native, 9);
    assert_int_equal(curve[2].keys[2].native, 65535);
    assert_int_equal(kfi_said(&job, "interpolation"), 8);
    /* A time that goes back. */
    x4_near(curve[0].keys[3].time, 2);
    assert_int_equal(kfi_said(&job, "time-order"), 1);
    /* The same pair of names three times. */
    assert_int_equal(anim.node_count, 3);
    assert_string_equal(anim.nodes[1].name, "a#2");
    assert_string_equal(anim.nodes[2].name, "a#3");
    assert_true(anim.takes[0].end == 5);
    /* Not finite: held at the rest value and flagged. */
    const kf_key *bad = anim.takes[0].tracks[2].curve[1].keys;
    assert_true(bad->time == 0 && bad->value == 0 && bad->flags == (KF_KEY_NONFINITE | KF_KEY_INFINITE));
    assert_int_equal(kfi_said(&job, "nonfinite"), 6);
    x4_job_end(&job);
}

/* ---------------------------------------------------------------- check */

static size_t problems(kf_job *job, const bytes *b)
{
    kf_file file = {"door.ani", b->data, b->size};
    kf_import_job in = {job, &X4_HOST, &job->options, &file, 1};
    job->message_count = 0;
    assert_true(kfi_format_x4_ani.check(&in));
    size_t count = 0;
    for (size_t i = 0; i < job->message_count; i++)
        count += job->messages[i].level == KF_PROBLEM;
    return count;
}

static void test_check(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t word;
        const char *id, *text;
    } cases[] = {
        {8, 2, "version", "Version: expected 1, found 2"},
        {16 + X4_DESC_DURATION, 0x7fc00000, "duration", "Duration: expected a finite number"},
        {16 + 160 + X4_DESC_DURATION, 0xbf800000, "duration", "seconds, 0 or more, found -1"},
        {16 + X4_DESC_DURATION, 0x40000000, "time-duration",
         "expected at most the Duration of 2 s, found 3 s"},
        {at_key(1, X4_KEY_INTERP + 4), 0, "interpolation", "InterpolationY: expected 1 to 7, found 0"},
        {at_key(1, X4_KEY_INTERP + 8), 8, "interpolation", "InterpolationZ: expected 1 to 7, found 8"},
        {at_key(2, X4_KEY_TIME), 0x3f800000, "time-order", "expected more than the 1 s of the key before"},
        {at_key(2, 72), 0xffc00000, "nonfinite", "CPZ2y: expected a finite number"},
        {at_key(2, 120), 0x7f800000, "nonfinite", "DerivOutZ: expected a finite number"},
    };
    kf_job job;
    bytes b;
    x4_job_begin(&job);
    x4_sample(&b);
    assert_int_equal(problems(&job, &b), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        x4_sample(&b);
        kfi_store_u32(b.data + cases[i].at, cases[i].word);
        assert_true(problems(&job, &b) > 0);
        const kf_message *m = &job.messages[0];
        assert_string_equal(m->id, cases[i].id);
        if (!strstr(m->text, cases[i].text) || strcmp(m->file, "door.ani") != 0)
            fail_msg("expected \"%s\", found \"%s\"", cases[i].text, m->text);
        if (strcmp(m->id, "time-duration") != 0)
            assert_int_equal(m->offset, cases[i].at);
    }
    x4_sample(&b);
    memset(b.data + 16, 'N', 64);
    memcpy(b.data + 16 + 160 + 64, "", 1);
    assert_int_equal(problems(&job, &b), 2);
    assert_string_equal(job.messages[0].id, "name-end");
    assert_string_equal(job.messages[1].id, "name-empty");
    x4_sample(&b);
    memcpy(b.data + 16 + 160, b.data + 16, 128);
    assert_int_equal(problems(&job, &b), 1);
    assert_string_equal(job.messages[0].id, "duplicate");
    x4_sample(&b);
    kfi_store_u32(b.data + 16 + 160 + X4_DESC_COUNTS + 12, 2); /* one more pre-scale key, no post-scale key */
    kfi_store_u32(b.data + 16 + 160 + X4_DESC_COUNTS + 16, 0);
    assert_true(problems(&job, &b) >= 1);
    assert_int_equal(kfi_said(&job, "scale-counts"), 1);
    x4_job_end(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_and_encode),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_import_rare),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
