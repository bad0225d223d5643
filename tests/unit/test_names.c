/* Names for FBX: each of them unlike the others, in UTF-8, within a length, and back again to the bytes that they were. */
#include "helper_memory.h"
#include "names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* More than were expected: the table grows, and still knows all. */
static void more_than_expected(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    kf_job job;
    kfi_names names;
    const char *given[COUNT];
    memory_job_begin(&job);
    assert_true(kfi_names_init(&names, &job, 0, 0));
    for (int i = 0; i < COUNT; i++) {
        char text[32];
        snprintf(text, sizeof text, "node %d", i);
        given[i] = kfi_names_give(&names, text, "");
        assert_string_equal(given[i], text);
    }
    for (int i = 0; i < COUNT; i++) {
        const char *again = kfi_names_give(&names, given[i], "");
        assert_int_equal(strncmp(again, given[i], strlen(given[i])), 0);
        assert_string_not_equal(again, given[i]);
    }
    memory_job_end(&job);
}

static void many_alike(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    kf_job job;
    kfi_names names;
    const char *given[COUNT];
    memory_job_begin(&job);
    assert_true(kfi_names_init(&names, &job, 0, 12));
    for (int i = 0; i < COUNT; i++) {
        given[i] = kfi_names_give(&names, "", "unnamed and long");
        assert_true(strlen(given[i]) <= 12);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(given[i], given[k]);
    }
    assert_string_equal(given[0], "unnamed and ");
    memory_job_end(&job);
}

/* A character is not cut in two. */
static void cut_at_an_edge(void **state)
{
    (void)state;
    kf_job job;
    kfi_names names;
    memory_job_begin(&job);
    assert_true(kfi_names_init(&names, &job, 4, 6));
    assert_string_equal(kfi_names_give(&names, "abcde\xc3\xa9", ""), "abcde");
    assert_string_equal(kfi_names_give(&names, "abcd\xc3\xa9", ""), "abcd\xc3\xa9");
    assert_string_equal(kfi_names_give(&names, "abcd\xc3\xa9", ""), "abc__2");
    assert_string_equal(kfi_names_give(&names, "ab\xc3\xa9x", ""), "ab\xc3\xa9x");
    assert_string_equal(kfi_names_give(&names, "ab\xc3\xa9x", ""), "ab__2");
    memory_job_end(&job);
}

static void there_and_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain", "a|b::c\"&\x7f", "50%", "\xcf\xf0\xe8", "tab\there", "keyferry_7"};
    kf_job job;
    kfi_names names;
    memory_job_begin(&job);
    assert_true(kfi_names_init(&names, &job, 0, 0));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *name = kfi_names_give(&names, texts[i], "");
        assert_int_equal(strcspn(name, "|:\"&\t\x7f"), strlen(name));
        assert_true(strncmp(name, KFI_WRAPPER_PREFIX, strlen(KFI_WRAPPER_PREFIX)) != 0);
        assert_string_equal(kfi_names_bytes(&job, name), texts[i]);
    }
    /* What only looks like such a byte stays. */
    assert_string_equal(kfi_names_bytes(&job, "%4"), "%4");
    assert_string_equal(kfi_names_bytes(&job, "%zz %00"), "%zz %00");
    memory_job_end(&job);
}

static void memory_runs_out(void **state)
{
    (void)state;
    bool done = false;
    for (size_t n = 1; !done; n++) {
        kf_job job;
        kfi_names names;
        failing_memory memory = {.fail_at = n};
        memset(&job, 0, sizeof job);
        kfi_arena_init(&job.arena, failing_allocator(&memory), UINT64_MAX);
        job.arena.item_blocks = true;
        done = kfi_names_init(&names, &job, 0, 0);
        for (int i = 0; done && i < 40; i++)
            done = kfi_names_give(&names, i % 2 ? "" : "same", "other") != NULL;
        done = done && kfi_names_bytes(&job, "%41");
        assert_int_equal(job.error.code, done ? KF_OK : KF_NO_MEMORY);
        assert_true(n < 1000);
        kfi_arena_free(&job.arena);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_expected), cmocka_unit_test(many_alike),      cmocka_unit_test(cut_at_an_edge),
        cmocka_unit_test(there_and_back),     cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
