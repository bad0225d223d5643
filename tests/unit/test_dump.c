/* The JSON of dump and info, to the letter. */
#include "anim.h"
#include "format.h"
#include "json.h"

#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct state {
    kf_library *library;
    kf_job *job;
    kf_error error;
    char text[65536];
    size_t size;
    size_t fail_after; /* bytes */
} state;

static int setup(void **out)
{
    state *s = calloc(1, sizeof *s);
    s->fail_after = SIZE_MAX;
    kf_library_options options = {.size = sizeof options, .no_installed_plugins = true};
    s->library = kf_library_new(&options, &s->error);
    s->job = kf_job_new(s->library, NULL, &s->error);
    assert_non_null(s->job);
    *out = s;
    return 0;
}

static int teardown(void **in)
{
    state *s = *in;
    kf_job_free(s->job);
    kf_library_free(s->library);
    free(s);
    return 0;
}

static bool collect(void *user, const void *data, size_t size)
{
    state *s = user;
    if (s->size + size > s->fail_after)
        return false;
    assert_true(s->size + size < sizeof s->text);
    memcpy(s->text + s->size, data, size);
    s->size += size;
    s->text[s->size] = '\0';
    return true;
}

static const char *dumped(state *s, const kf_anim *anim)
{
    kf_sink sink = {s, collect, NULL};
    s->size = 0;
    assert_true(kf_dump(s->job, anim, &sink, &s->error));
    return s->text;
}

static kf_anim *one_of_everything(state *s)
{
    kf_job *job = s->job;
    static kf_anim anim;
    kfi_anim_init(&anim, "test");
    kfi_add_node(job, &anim, "root", -1);
    kfi_add_node(job, &anim, "t\xfcr \"A\"\n", 0); /* not UTF-8 */
    kf_take *take = kfi_add_take(job, &anim, "\xd0\x9e");
    take->start = -0.0;
    take->end = 2;
    kf_track *track = kfi_add_track(job, take, 1, KF_TRANSLATION, 3);
    kfi_make_keys(job, &track->curve[1], 2, KFI_HANDLES);
    track->curve[1].keys[0] = (kf_key){.time = 0, .value = -0.0, .interp = KF_BEZIER};
    track->curve[1].keys[1] = (kf_key){.time = 0.1, .value = 1e300, .interp = KF_STEP, .flags = KF_KEY_NONFINITE};
    track->curve[1].handles[0].out = (kf_handle){0.25, 1.0 / 3.0};
    track->curve[1].handles[1].in = (kf_handle){-0.25, 0};
    track = kfi_add_track(job, take, 0, KF_ROTATION, 0);
    kfi_make_quat_keys(job, &track->quat, 2, true);
    track->quat.keys[0] = (kf_quat_key){.time = 0, .q = {1, 0, 0, 0}, .interp = KF_TCB};
    track->quat.tcb[0] = (kf_tcb){.tension = 0.1f, .ease_out = 1};
    track->quat.keys[1] = (kf_quat_key){.time = 1, .q = {0, 0, 0, -1}, .turns = -1, .interp = KF_LINEAR};
    track = kfi_add_track(job, take, 0, KF_CUSTOM, 1);
    track->name = "speed";
    track->layer = 0;
    kfi_make_keys(job, &track->curve[0], 4, KFI_HANDLES | KFI_NUMBERS);
    for (int i = 0; i < 4; i++)
        track->curve[0].keys[i] = (kf_key){.time = i, .value = i};
    track->curve[0].keys[0].interp = KF_TCB;
    track->curve[0].keys[1].interp = KF_AUTO;
    track->curve[0].keys[2].interp = KF_HERMITE;
    track->curve[0].keys[3].interp = KF_STEP_NEXT;
    assert_true(kfi_anim_validate(job, &anim));
    return &anim;
}

/* A value that is no finite number is told as it stands in the file, not as what holds in its place. */
static void values_that_are_none(void **in)
{
    state *s = *in;
    static const double values[3] = {NAN, INFINITY, -INFINITY};
    static const char *const told[3] = {"\"v\":\"NaN\"", "\"v\":\"Infinity\"", "\"v\":\"-Infinity\""};
    kf_anim *anim = one_of_everything(s);
    kf_key *key = &anim->takes[0].tracks[0].curve[1].keys[1];
    for (int i = 0; i < 3; i++) {
        key->flags = kfi_nonfinite_flags(values[i]);
        const char *text = dumped(s, anim);
        assert_non_null(strstr(text, told[i]));
        assert_null(strstr(text, "e+300"));
        assert_non_null(strstr(text, "\"nonfinite\":true"));
    }
}

static const char NEUTRAL[] = ",\"tension\":0,\"continuity\":0,\"bias\":0,\"ease_in\":0,\"ease_out\":0";

static void everything_to_the_letter(void **in)
{
    state *s = *in;
    char expected[4096];
    snprintf(
        expected, sizeof expected,
        "{\"keyferry\":1,\"format\":\"test\",\"frame_rate\":30,\n"
        "\"nodes\":[\n"
        "{\"name\":\"root\",\"parent\":null},\n"
        "{\"name\":\"t\\ufffdr \\\"A\\\"\\u000a\",\"name_bytes\":\"74fc72202241220a\",\"parent\":0}],\n"
        "\"takes\":[\n"
        "{\"name\":\"\xd0\x9e\",\"start\":-0,\"end\":2,\"tracks\":[\n"
        "{\"node\":1,\"channel\":\"translation\",\"component\":\"y\",\"keys\":[\n"
        "{\"t\":0,\"v\":-0,\"interp\":\"bezier\",\"out\":[0.25,0.33333333333333331]},\n"
        "{\"t\":0.10000000000000001,\"v\":1.0000000000000001e+300,\"interp\":\"step\",\"in\":[-0.25,0],"
        "\"nonfinite\":true}]},\n"
        "{\"node\":0,\"channel\":\"rotation\",\"mode\":\"squad\",\"keys\":[\n"
        "{\"t\":0,\"q\":[1,0,0,0],\"interp\":\"tcb\",\"tension\":0.100000001,\"continuity\":0,\"bias\":0,"
        "\"ease_in\":0,\"ease_out\":1},\n"
        "{\"t\":1,\"q\":[0,0,0,-1],\"turns\":-1,\"interp\":\"linear\"%s}]},\n"
        "{\"node\":0,\"channel\":\"custom\",\"name\":\"speed\",\"keys\":[\n"
        "{\"t\":0,\"v\":0,\"interp\":\"tcb\"%s},\n"
        "{\"t\":1,\"v\":1,\"interp\":\"auto\"%s},\n"
        "{\"t\":2,\"v\":2,\"interp\":\"hermite\",\"out\":[0,0]},\n"
        "{\"t\":3,\"v\":3,\"interp\":\"step-next\",\"in\":[0,0]}]}]}]}\n",
        NEUTRAL, NEUTRAL, NEUTRAL);
    assert_string_equal(dumped(s, one_of_everything(s)), expected);
}

static void nine_digits_for_floats(void **in)
{
    state *s = *in;
    kf_anim *anim = one_of_everything(s);
    anim->float32 = true;
    anim->takes[0].tracks[0].curve[1].keys[1].value = (double)0.1f;
    const char *text = dumped(s, anim);
    assert_non_null(strstr(text, "\"v\":0.100000001,"));
    assert_non_null(strstr(text, "\"out\":[0.25,0.333333333]"));
    assert_null(strstr(text, "0.33333333333333331"));
}

/* Every float32 comes back from 9 digits, every double from 17; here on many bit patterns. */
static void digits_are_enough(void **in)
{
    (void)in;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double value;
        memcpy(&value, &seed, sizeof value);
        uint32_t bits = (uint32_t)(seed >> 32);
        float narrow;
        memcpy(&narrow, &bits, sizeof narrow);
        char text[KFI_NUMBER_SIZE];
        if (isfinite(value)) {
            kfi_number_text(value, 17, text);
            assert_true(strtod(text, NULL) == value);
        }
        if (isfinite(narrow)) {
            kfi_number_text((double)narrow, 9, text);
            assert_true((float)strtod(text, NULL) == narrow);
        }
    }
}

static void numbers_ignore_the_locale(void **in)
{
    (void)in;
    char text[KFI_NUMBER_SIZE];
    kfi_plain_point("-1,2345e-17", text); /* as in German */
    assert_string_equal(text, "-1.2345e-17");
    kfi_plain_point("12\xd9\xab"
                    "5",
                    text); /* as in Pashto: two bytes */
    assert_string_equal(text, "12.5");
    kfi_plain_point("1e+300", text);
    assert_string_equal(text, "1e+300");
}

static void not_numbers_are_strings(void **in)
{
    state *s = *in;
    kf_sink sink = {s, collect, NULL};
    kfi_json *json = malloc(sizeof *json);
    kfi_json_init(json, s->job, &sink);
    kfi_json_begin(json, '[');
    kfi_json_number(json, NAN, 9);
    kfi_json_number(json, -INFINITY, 9);
    kfi_json_number(json, INFINITY, 17);
    kfi_json_text(json, "\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xe2\x82|\xf0\x9f\x90\x8e\x7f");
    kfi_json_end(json, ']');
    assert_true(kfi_json_finish(json));
    free(json);
    assert_string_equal(s->text,
                        "[\"NaN\",\"-Infinity\",\"Infinity\",\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"
                        "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd|\xf0\x9f\x90\x8e\\u007f\"]");
}

static void a_full_disk_is_told(void **in)
{
    state *s = *in;
    kf_anim *anim = one_of_everything(s);
    kf_track *track = kfi_add_track(s->job, &anim->takes[0], 0, KF_SCALE, 3);
    kfi_make_keys(s->job, &track->curve[2], 400, 0); /* more than one buffer */
    kf_sink sink = {s, collect, NULL};
    size_t whole = strlen(dumped(s, anim));
    assert_true(whole > 8192);
    for (size_t limit = 0; limit < whole; limit += 5000) {
        s->size = 0;
        s->fail_after = limit;
        assert_false(kf_dump(s->job, anim, &sink, &s->error));
        assert_int_equal(s->error.code, KF_IO);
    }
}

static void info_counts(void **in)
{
    state *s = *in;
    kf_anim *anim = one_of_everything(s);
    kf_sink sink = {s, collect, NULL};
    assert_true(kf_info(s->job, anim, true, &sink, &s->error));
    assert_string_equal(
        s->text,
        "{\"format\":\"test\",\"title\":\"test\",\"frame_rate\":30,\n"
        "\"nodes\":[\n{\"name\":\"root\",\"parent\":null},\n"
        "{\"name\":\"t\\ufffdr \\\"A\\\"\\u000a\",\"name_bytes\":\"74fc72202241220a\",\"parent\":0}],\n"
        "\"takes\":[\n{\"name\":\"\xd0\x9e\",\"start\":-0,\"end\":2,\"tracks\":3,\"curves\":3,\"keys\":8,\"channels\":{"
        "\"translation\":{\"tracks\":1,\"curves\":1,\"keys\":2,\"first\":0,\"last\":0.10000000000000001,\"min\":-0,"
        "\"max\":1.0000000000000001e+300},"
        "\"rotation\":{\"tracks\":1,\"curves\":1,\"keys\":2,\"first\":0,\"last\":1},"
        "\"custom\":{\"tracks\":1,\"curves\":1,\"keys\":4,\"first\":0,\"last\":3,\"min\":0,\"max\":3}}}],\n"
        "\"tracks\":3,\"curves\":3,\"keys\":8,\"interpolations\":{\"step\":1,\"step-next\":1,\"linear\":1,\"bezier\":1,"
        "\"hermite\":1,\"tcb\":2,\"auto\":1}}\n");
    s->size = 0;
    assert_true(kf_info(s->job, anim, false, &sink, &s->error));
    assert_non_null(strstr(s->text, "2 nodes, 1 take, 30 frames a second"));
    assert_non_null(strstr(s->text, "rotation: 1 track, 1 curve, 2 keys at 0 .. 1 s\n"));
    assert_non_null(
        strstr(s->text, "8 keys: 1 step, 1 step-next, 1 linear, 1 bezier, 1 hermite, 2 tcb, 1 auto\n"));
}

int main(void)
{
#define WITH_STATE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_STATE(everything_to_the_letter),
        WITH_STATE(values_that_are_none),
        WITH_STATE(nine_digits_for_floats),
        cmocka_unit_test(digits_are_enough),
        cmocka_unit_test(numbers_ignore_the_locale),
        WITH_STATE(not_numbers_are_strings),
        WITH_STATE(a_full_disk_is_told),
        WITH_STATE(info_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
