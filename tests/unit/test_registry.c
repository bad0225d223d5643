/* The registry: which format is it, loaded plugins, jobs and their options, and every allocation failing in
 * turn. */
#include "format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GOOD KEYFERRY_TEST_PLUGINS "/good"
#define BAD  KEYFERRY_TEST_PLUGINS "/bad"

static const uint8_t SAMPLE[] = {'S', 'M', 'P',  'L',  2, 0, 0,    0,    0, 0, 0, 0,
                                 0,   0,   0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};

/* ---------------------------------------------------------------- formats made for the test */

static int first_byte(const uint8_t *data, size_t size, uint8_t wanted, int score)
{
    return size > 0 && data[0] == wanted ? score : 0;
}

static int probe_a(const uint8_t *data, size_t size)
{
    return first_byte(data, size, 'x', 50) + first_byte(data, size, 't', 70);
}

static int probe_b(const uint8_t *data, size_t size)
{
    return first_byte(data, size, 'x', 60) + first_byte(data, size, 't', 70) + first_byte(data, size, 'b', 1);
}

static bool no_import(kf_import_job *in, kf_anim *anim)
{
    (void)in;
    (void)anim;
    return false; /* and no reason given */
}

static bool no_export(kf_export_job *out)
{
    (void)out;
    return true; /* but nothing emitted */
}

static const kf_format format_a = {.abi = KF_ABI,
                                   .id = "test-a",
                                   .title = "A",
                                   .extensions = "aa shared",
                                   .probe = probe_a,
                                   .import_ = no_import,
                                   .export_ = no_export};
static const kf_format format_b = {.abi = KF_ABI,
                                   .id = "test-b",
                                   .title = "B",
                                   .extensions = "bb shared",
                                   .probe = probe_b,
                                   .import_ = no_import,
                                   .export_ = no_export};

typedef struct state {
    kf_library *library;
    kf_job *job;
    kf_error error;
} state;

static int setup(void **out)
{
    static state s;
    bool added;
    kf_library_options options = {.size = sizeof options, .plugin_path = GOOD, .no_installed_plugins = true};
    s.library = kf_library_new(&options, &s.error);
    assert_non_null(s.library);
    assert_true(kfi_register(s.library, &format_a, NULL, &added) && added);
    assert_true(kfi_register(s.library, &format_b, NULL, &added) && added);
    s.job = kf_job_new(s.library, NULL, &s.error);
    assert_non_null(s.job);
    *out = &s;
    return 0;
}

static int teardown(void **in)
{
    state *s = *in;
    kf_job_free(s->job);
    kf_library_free(s->library);
    return 0;
}

static const char *probe(state *s, const char *name, const char *text)
{
    kf_file file = {name, text, strlen(text)};
    return kf_probe(s->job, &file, &s->error);
}

static void content_decides(void **in)
{
    state *s = *in;
    assert_string_equal(probe(s, "file.aa", "x..."), "test-b"); /* 60 beats 50, whatever the name says */
    assert_int_equal(s->error.code, KF_OK);
    assert_string_equal(probe(s, "file.aa", "b..."), "test-b");
    assert_string_equal(probe(s, "file", "b..."), "test-b");
}

static void extension_breaks_a_tie(void **in)
{
    state *s = *in;
    assert_string_equal(probe(s, "file.aa", "t..."), "test-a");
    assert_string_equal(probe(s, "file.BB", "t..."), "test-b");
    const char *ties[] = {"file.shared", "file.cc", "file", "aa", "file.aa.", "file.aab", "file.a"};
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
        assert_null(probe(s, ties[i], "t..."));
        assert_int_equal(s->error.code, KF_AMBIGUOUS);
        assert_string_equal(s->error.file, ties[i]);
        assert_non_null(strstr(s->error.message, "test-a"));
        assert_non_null(strstr(s->error.message, "test-b"));
        assert_non_null(strstr(s->error.message, "--from"));
    }
}

static void unknown_bytes(void **in)
{
    state *s = *in;
    assert_null(probe(s, "file.txt", "nothing known"));
    assert_int_equal(s->error.code, KF_UNKNOWN_FORMAT);
    assert_null(strstr(s->error.message, "--from"));
    assert_null(probe(s, "file.aa", "nothing known"));
    assert_int_equal(s->error.code, KF_UNKNOWN_FORMAT);
    assert_non_null(strstr(s->error.message, "--from test-a"));
    assert_null(probe(s, "file.aa", ""));
    assert_non_null(strstr(s->error.message, "empty"));
    assert_null(kf_load(s->job, NULL, 0, &s->error));
    assert_int_equal(s->error.code, KF_BAD_ARGUMENT);
    /* The error of one call is not that of the next. */
    assert_string_equal(probe(s, "file.aa", "x"), "test-b");
    assert_int_equal(s->error.code, KF_OK);
}

static void fbx_is_known_by_its_bytes(void **in)
{
    state *s = *in;
    char head[64] = "Kaydara FBX Binary  ";
    head[21] = 0x1a;
    head[24] = (char)0xe8;
    head[25] = 0x1c;
    kf_file file = {"scene.aa", head, sizeof head};
    assert_string_equal(kf_probe(s->job, &file, &s->error), "fbx");
    assert_null(kf_library_find(s->library, "fbx"));                       /* it is in no list, */
    assert_ptr_equal(kfi_format_find(s->library, "fbx"), &kfi_format_fbx); /* but an id */
    assert_ptr_equal(kfi_format_by_extension(s->library, "x.FBX"), &kfi_format_fbx);
}

static void parts_must_be_alike(void **in)
{
    state *s = *in;
    kf_file files[3] = {{"one.zz", "t1", 2}, {"two", "x2", 2}, {"three", "b3", 2}};
    assert_ptr_equal(kfi_format_detect(s->job, files, 3), &format_b); /* the only one that fits all three */
    kf_file mixed[2] = {{"one", "b1", 2}, {"two", SAMPLE, sizeof SAMPLE}};
    assert_null(kf_load(s->job, mixed, 2, &s->error));
    assert_int_equal(s->error.code, KF_BAD_INPUT);
    assert_string_equal(s->error.file, "two");
    assert_non_null(strstr(s->error.message, "is sample, but \"one\" is test-b"));
    kf_file broken[2] = {{"one", "b1", 2}, {"two", "?", 1}};
    assert_null(kf_load(s->job, broken, 2, &s->error));
    assert_int_equal(s->error.code, KF_UNKNOWN_FORMAT);
    assert_string_equal(s->error.file, "two");
}

static void silence_is_no_excuse(void **in)
{
    state *s = *in;
    kf_file file = {"one.bb", "b1", 2};
    assert_null(kf_load(s->job, &file, 1, &s->error));
    assert_int_equal(s->error.code, KF_BAD_PLUGIN);
    assert_non_null(strstr(s->error.message, "test-b could not read it"));
    kf_anim anim = {0};
    kfi_enter(s->job);
    assert_false(kfi_export(s->job, &format_b, &anim, NULL, NULL, 0, "out.bb"));
    assert_int_equal(s->job->error.code, KF_BAD_PLUGIN);
}

/* ---------------------------------------------------------------- loaded plugins */

static void a_plugin_works(void **in)
{
    state *s = *in;
    size_t count;
    kf_library_messages(s->library, &count);
    assert_int_equal(count, 0);
    const kf_format *format = kf_library_find(s->library, "sample");
    assert_non_null(format);
    assert_string_equal(kf_library_origin(s->library, format), GOOD "/sample.so");
    assert_null(kf_library_origin(s->library, &format_a));

    kf_file file = {"door.smpl", SAMPLE, sizeof SAMPLE};
    const kf_anim *anim = kf_load(s->job, &file, 1, &s->error);
    assert_non_null(anim);
    assert_string_equal(anim->format, "sample");
    assert_int_equal(anim->takes[0].tracks[0].curve[0].count, 2);
    assert_true(anim->takes[0].tracks[0].curve[0].keys[1].value == 2.0);

    assert_true(kfi_export(s->job, format, anim, NULL, NULL, 0, "new.smpl"));
    assert_int_equal(s->job->emitted_count, 1);
    assert_string_equal(s->job->emitted[0].name, "new.smpl");
    assert_int_equal(s->job->emitted[0].size, sizeof SAMPLE);
    assert_memory_equal(s->job->emitted[0].data, SAMPLE, sizeof SAMPLE);
    /* A second export starts anew. */
    assert_true(kfi_export(s->job, format, anim, anim, &file, 1, "new.smpl"));
    assert_int_equal(s->job->emitted_count, 1);
    assert_string_equal(s->job->emitted[0].name, "door.smpl");
}

static void outputs_stay_in_their_folder(void **in)
{
    state *s = *in;
    const kf_format *format = kf_library_find(s->library, "sample");
    kf_anim anim = {0};
    const char *names[] = {"../up.smpl", "/etc/passwd", "a/b", "a\\b", ".", "..", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kfi_enter(s->job);
        assert_false(kfi_export(s->job, format, &anim, NULL, NULL, 0, names[i]));
        assert_int_equal(s->job->error.code, KF_BAD_ARGUMENT);
        assert_int_equal(s->job->emitted_count, 0);
    }
    kfi_enter(s->job);
    assert_true(kfi_export(s->job, format, &anim, NULL, NULL, 0, "..smpl"));
    assert_false(kfi_host.emit(s->job, "..smpl", "", 0)); /* the same name twice */
    assert_int_equal(s->job->error.code, KF_BAD_ARGUMENT);
}

static void checking(void **in)
{
    state *s = *in;
    kf_file file = {"door.smpl", SAMPLE, sizeof SAMPLE};
    size_t count;
    assert_true(kf_check(s->job, &file, &s->error));
    kf_job_messages(s->job, &count);
    assert_int_equal(count, 0);

    uint8_t early[sizeof SAMPLE];
    memcpy(early, SAMPLE, sizeof early);
    early[10] = 0x80;
    early[11] = 0xbf; /* time -1 */
    kf_file odd = {"odd.smpl", early, sizeof early};
    assert_false(kf_check(s->job, &odd, &s->error));
    assert_int_equal(s->error.code, KF_BAD_INPUT);
    const kf_message *messages = kf_job_messages(s->job, &count);
    assert_int_equal(count, 1);
    assert_int_equal(messages[0].level, KF_PROBLEM);
    assert_int_equal(messages[0].offset, 8);
    assert_string_equal(messages[0].file, "odd.smpl");

    /* Too broken to be recognised, but the name says whose reader to ask. */
    kf_file cut = {"cut.smpl", "SMP", 3};
    assert_false(kf_check(s->job, &cut, &s->error));
    assert_int_equal(s->error.code, KF_BAD_INPUT);
    messages = kf_job_messages(s->job, &count);
    assert_int_equal(count, 2);
    assert_int_equal(messages[1].level, KF_PROBLEM);
    assert_non_null(strstr(messages[1].text, "magic"));

    kf_file nothing = {"cut.other", "SMP", 3};
    assert_false(kf_check(s->job, &nothing, &s->error));
    assert_int_equal(s->error.code, KF_UNKNOWN_FORMAT);
}

static const kf_message *message_for(kf_library *library, const char *path)
{
    size_t count;
    const kf_message *messages = kf_library_messages(library, &count);
    for (size_t i = 0; i < count; i++)
        if (messages[i].file && strcmp(messages[i].file, path) == 0)
            return &messages[i];
    return NULL;
}

static void expect_reason(kf_library *library, const char *path, const char *reason)
{
    const kf_message *message = message_for(library, path);
    if (!message || !strstr(message->text, reason))
        fail_msg("%s: expected \"%s\", found \"%s\"", path, reason, message ? message->text : "nothing");
}

static void bad_plugins_are_left_out(void **in)
{
    (void)in;
    kf_error error;
    kf_library_options options = {.size = sizeof options,
                                  .no_installed_plugins = true,
                                  .plugin_path = BAD ":" GOOD ":" GOOD "::plugins:" BAD "/nowhere"};
    kf_library *library = kf_library_new(&options, &error);
    assert_non_null(library);
    expect_reason(library, BAD "/abi.so", "another version");
    expect_reason(library, BAD "/id.so", "there already"); /* it calls itself fbx */
    expect_reason(library, BAD "/title.so", "lacks");
    expect_reason(library, BAD "/name.so", "keyferry_plugin");
    expect_reason(library, BAD "/version.so", "offers nothing");
    expect_reason(library, BAD "/text.so", "left out: ");
    assert_null(strstr(message_for(library, BAD "/text.so")->text, "/text.so")); /* not the path twice */
    assert_null(message_for(library, BAD "/notes.txt"));
    expect_reason(library, GOOD "/sample.so", "there already"); /* the second time */
    expect_reason(library, "plugins", "absolute");
    size_t count;
    kf_library_messages(library, &count);
    assert_int_equal(count, 8); /* the ninth is counted on the eighth, as with all messages */
    size_t formats;
    kf_library_formats(library, &formats);
    assert_string_equal(kf_library_formats(library, &formats)[formats - 1]->id, "sample");
    kf_library_free(library);
}

static void a_plugin_that_lacks_a_symbol(void **in)
{
    (void)in;
    kf_error error;
    kf_library_options options = {.size = sizeof options,
                                  .no_installed_plugins = true,
                                  .plugin_path = KEYFERRY_TEST_PLUGINS "/unresolved"};
    kf_library *library = kf_library_new(&options, &error);
    assert_non_null(library);
    expect_reason(library, KEYFERRY_TEST_PLUGINS "/unresolved/symbol.so", "nobody_has_this");
    assert_null(kf_library_find(library, "sample"));
    kf_library_free(library);
}

static void nothing_from_the_current_folder(void **in)
{
    (void)in;
    kf_error error;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(GOOD), 0);
    const char *paths[] = {NULL, "", ":", ".", "./", "sample.so", "../good"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        kf_library_options options = {
            .size = sizeof options, .no_installed_plugins = true, .plugin_path = paths[i]};
        kf_library *library = kf_library_new(&options, &error);
        assert_non_null(library);
        assert_null(kf_library_find(library, "sample"));
        kf_library_free(library);
    }
    assert_int_equal(chdir(before), 0);
}

/* ---------------------------------------------------------------- jobs */

static kf_code refused(state *s, kf_options options)
{
    options.size = sizeof options;
    kf_job *job = kf_job_new(s->library, &options, &s->error);
    kf_job_free(job);
    return s->error.code;
}

static void options_are_judged(void **in)
{
    state *s = *in;
    assert_int_equal(refused(s, (kf_options){0}), KF_OK);
    assert_int_equal(refused(s, (kf_options){.from = "fbx", .to = "sample", .rotation_order = "zyx"}), KF_OK);
    assert_int_equal(refused(s, (kf_options){.from = "nonsense"}), KF_UNKNOWN_FORMAT);
    assert_int_equal(refused(s, (kf_options){.to = "FBX"}), KF_UNKNOWN_FORMAT);
    assert_int_equal(refused(s, (kf_options){.rotation_order = "XXX"}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.program = (kf_program)9}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.tcb = (kf_tcb_mode)9}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.tolerance = -1}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.frame_rate = -1}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.bake_rate = 1e9}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.fbx_version = 7300}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.rig = {"rig", NULL, 3}}), KF_BAD_ARGUMENT);
    assert_int_equal(refused(s, (kf_options){.max_memory = 100}), KF_MEMORY_LIMIT);

    kf_options no_size = {0};
    assert_null(kf_job_new(s->library, &no_size, &s->error));
    assert_int_equal(s->error.code, KF_BAD_ARGUMENT);
}

static void options_older_and_newer(void **in)
{
    state *s = *in;
    /* An older caller's options end earlier: what follows is not read. */
    kf_options older = {.size = offsetof(kf_options, to), .from = "fbx"};
    older.to = "nonsense";
    kf_job *job = kf_job_new(s->library, &older, &s->error);
    assert_non_null(job);
    assert_string_equal(job->options.from, "fbx");
    assert_null(job->options.to);
    kf_job_free(job);
    /* A newer caller's are longer: fine as long as it does not use them. */
    struct {
        kf_options options;
        uint64_t more;
    } newer = {.options = {.size = sizeof newer}};
    job = kf_job_new(s->library, &newer.options, &s->error);
    assert_non_null(job);
    kf_job_free(job);
    newer.more = 1;
    assert_null(kf_job_new(s->library, &newer.options, &s->error));
    assert_int_equal(s->error.code, KF_BAD_ARGUMENT);
}

static void the_ceiling_follows_the_input(void **in)
{
    state *s = *in;
    assert_int_equal(s->job->arena.limit, 64u << 20);
    kf_file file = {"x", SAMPLE, 2u << 20}; /* the data is not looked at */
    kfi_allow_input(s->job, &file, 1);
    assert_int_equal(s->job->arena.limit, 128u << 20);
    kfi_allow_input(s->job, &file, 1); /* a second file in the same job adds to it */
    assert_int_equal(s->job->arena.limit, 256u << 20);
    kf_options options = {.size = sizeof options, .max_memory = 1u << 20};
    kf_job *job = kf_job_new(s->library, &options, &s->error);
    kfi_allow_input(job, &file, 1);
    assert_int_equal(job->arena.limit, 1u << 20);
    assert_null(kfi_alloc(job, 2u << 20, 1));
    assert_int_equal(job->error.code, KF_MEMORY_LIMIT);
    kf_job_free(job);
}

static void strict_makes_warnings_errors(void **in)
{
    state *s = *in;
    kf_file empty = {"empty.smpl", "SMPL\0\0\0\0", 8};
    assert_non_null(kf_load(s->job, &empty, 1, &s->error));
    size_t count;
    assert_string_equal(kf_job_messages(s->job, &count)[0].id, "no-keys");
    kf_options options = {.size = sizeof options, .strict = true};
    kf_job *job = kf_job_new(s->library, &options, &s->error);
    assert_null(kf_load(job, &empty, 1, &s->error));
    assert_int_equal(s->error.code, KF_INEXPRESSIBLE);
    kf_job_free(job);
}

/* ---------------------------------------------------------------- every allocation failing in turn */

typedef struct counter {
    size_t left, blocks;
} counter;

static void *counted(void *user, void *block, size_t old_size, size_t new_size)
{
    counter *c = user;
    (void)old_size;
    if (new_size == 0) {
        c->blocks--;
        free(block);
        return NULL;
    }
    if (c->left == 0)
        return NULL;
    c->left--;
    c->blocks++;
    return malloc(new_size);
}

static bool load_all(counter *c, kf_error *error)
{
    kf_library_options options = {
        .size = sizeof options, .allocator = {c, counted}, .plugin_path = GOOD, .no_installed_plugins = true};
    kf_library *library = kf_library_new(&options, error);
    kf_job *job = library ? kf_job_new(library, NULL, error) : NULL;
    bool ok = false;
    if (job) {
        job->arena.item_blocks = true;
        kf_file file = {"door.smpl", SAMPLE, sizeof SAMPLE};
        ok = kf_load(job, &file, 1, error) != NULL && kf_check(job, &file, error);
    }
    kf_job_free(job);
    kf_library_free(library);
    return ok;
}

static void memory_runs_out_anywhere(void **in)
{
    (void)in;
    kf_error error;
    size_t n = 0;
    for (bool done = false; !done; n++) {
        counter c = {.left = n};
        done = load_all(&c, &error);
        assert_int_equal(c.blocks, 0);
        if (!done)
            assert_int_equal(error.code, KF_NO_MEMORY);
        assert_true(n < 1000);
    }
    assert_true(n > 10);
}

int main(void)
{
#define WITH_STATE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_STATE(content_decides),
        WITH_STATE(extension_breaks_a_tie),
        WITH_STATE(unknown_bytes),
        WITH_STATE(fbx_is_known_by_its_bytes),
        WITH_STATE(parts_must_be_alike),
        WITH_STATE(silence_is_no_excuse),
        WITH_STATE(a_plugin_works),
        WITH_STATE(outputs_stay_in_their_folder),
        WITH_STATE(checking),
        cmocka_unit_test(bad_plugins_are_left_out),
        cmocka_unit_test(a_plugin_that_lacks_a_symbol),
        cmocka_unit_test(nothing_from_the_current_folder),
        WITH_STATE(options_are_judged),
        WITH_STATE(options_older_and_newer),
        WITH_STATE(the_ceiling_follows_the_input),
        WITH_STATE(strict_makes_warnings_errors),
        cmocka_unit_test(memory_runs_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
