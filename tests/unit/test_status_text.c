/* The text of messages: as printf makes it, but for names, of any length, of any bytes, in any room. */
#include "helper_memory.h"
#include "utf8.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

KFI_PRINTF(4, 5) static void make(const kf_job *job, char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kfi_message_text(job, text, size, format, args);
    va_end(args);
}

/* Everything that stands in a format somewhere. */
#define SAME(job, format, ...)                                                   \
    do {                                                                         \
        char expected[512], text[512];                                           \
        snprintf(expected, sizeof expected, format, __VA_ARGS__);                \
        make(job, text, sizeof text, format, __VA_ARGS__);                       \
        assert_string_equal(text, expected);                                     \
        assert_string_equal(kfi_report_text(job, format, __VA_ARGS__), expected); \
    } while (0)

static void as_printf(void **state)
{
    (void)state;
    kf_job job;
    memory_job_begin(&job);
    SAME(&job, "%s, %.60s, %.*s and %s", "a", "b", 2, "abc", "");
    SAME(&job, "%d %5d %-5d| %04d %+d %ld %lld", -1, 2, 3, 4, 5, -6L, -7LL);
    SAME(&job, "%u %lu %llu %zu %02zu", 1U, ~0UL, ~0ULL, SIZE_MAX, (size_t)7);
    SAME(&job, "%x %02x %08lx %02X %04x", 10U, 11U, 12UL, 0xabU, 0xffffU);
    SAME(&job, "%g %.4f %.*g %.9g %.0f %f", 1e39, -0.00005, 3, 1234.5678, 0.1, 2.5, -DBL_MAX);
    SAME(&job, "%c%c 100%% of %s%%", 'x', 'y', "it");
    SAME(&job, "%s", "");
    memory_job_end(&job);
}

/* Whatever the room: UTF-8, its end within it, and where something is missing it says so. */
static void any_room(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x99\x82", "\x80", "\xf0\x9f"};
    kf_job job;
    memory_job_begin(&job);
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++)
        for (size_t count = 0; count < 260; count += 13) {
            char name[1200] = "";
            for (size_t i = 0; i < count; i++)
                strcat(name, pieces[p]);
            for (size_t room = 4; room < 500; room += 7) {
                char *text = malloc(room); /* so that sanitizers see an overrun */
                assert_non_null(text);
                make(&job, text, room, "node \"%.60s\", take \"%.60s\": end", name, name);
                size_t length = strlen(text);
                assert_true(length < room && kfi_utf8_valid(text, length));
                bool whole = strlen(name) <= 200 && 2 * strlen(name) + 21 < room;
                assert_true(whole == !strstr(text, "..."));
                assert_true(room < 160 || strcmp(text + length - 5, ": end") == 0);
                free(text);
            }
        }
    memory_job_end(&job);
}

/* A name is called otherwise by its address, not by its letters; the latest counts. */
static void called_otherwise(void **state)
{
    (void)state;
    const char first[] = "hip", second[] = "hip";
    kf_job job;
    memory_job_begin(&job);
    assert_true(kfi_show_as(&job, second, "hip__2"));
    assert_string_equal(kfi_report_text(&job, "%.60s and %.60s", first, second), "hip and hip__2");
    assert_true(kfi_show_as(&job, second, "knee"));
    assert_string_equal(kfi_report_text(&job, "%.60s and %.60s", first, second), "hip and knee");
    for (int i = 0; i < 5000; i++)
        assert_true(kfi_show_as(&job, first, "many"));
    assert_true(job.shown_count < 5000);
    memory_job_end(&job);
}

/* What is said aside outlasts the memory that it was said in: a plugin's words are there only as long. */
static void said_aside(void **state)
{
    (void)state;
    kf_job job;
    memory_job_begin(&job);
    kf_job aside = kfi_aside(&job);
    assert_true(kfi_say(&aside, KF_WARNING, kfi_strdup(&aside, "id"), kfi_strdup(&aside, "file"), 4, "%s", "text"));
    assert_true(kfi_say(&aside, KF_NOTE, kfi_strdup(&aside, "other"), NULL, 4, "%s", "more"));
    assert_true(kfi_aside_end(&job, &aside));
    assert_int_equal(job.message_count, 2);
    assert_string_equal(job.messages[0].id, "id");
    assert_string_equal(job.messages[0].file, "file");
    assert_string_equal(job.messages[0].text, "text");
    assert_string_equal(job.messages[1].id, "other");
    assert_null(job.messages[1].file);
    memory_job_end(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_printf),
        cmocka_unit_test(any_room),
        cmocka_unit_test(called_otherwise),
        cmocka_unit_test(said_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
