/* Which bytes are UTF-8, against the rule itself: the shortest form of a number up to 0x10ffff that is no surrogate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "utf8.h"

/* The number in a form of that many bytes, whether it is its right one or not. */
static void put(uint32_t number, size_t size, char *to)
{
    static const uint8_t leads[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; number >>= 6)
        to[i] = (char)(0x80 | (number & 0x3f));
    to[0] = (char)(size == 1 ? number : leads[size] | number);
}

static void test_every_number(void **state)
{
    (void)state;
    static const uint32_t limits[5] = {0, 0x80, 0x800, 0x10000, 0x200000};
    for (size_t size = 1; size <= 4; size++)
        for (uint32_t number = 0; number < limits[size]; number += number < 0x11000 ? 1 : 61) {
            char text[8] = {0};
            put(number, size, text);
            bool right = number >= limits[size - 1] && number <= 0x10ffff && (number < 0xd800 || number > 0xdfff);
            if (size == 1)
                right = true;
            if (kfi_utf8_character(text, SIZE_MAX) != (right ? size : 0) || kfi_utf8_valid(text, size) != right)
                fail_msg("0x%x in %zu bytes", (unsigned)number, size);
            for (size_t less = 0; less < size; less++) /* cut short, by the size or by a NUL */
                assert_int_equal(kfi_utf8_character(text, less), 0);
            for (size_t less = 1; right && less < size; less++) {
                text[size - less] = '\0';
                assert_int_equal(kfi_utf8_character(text, SIZE_MAX), 0);
            }
        }
}

static void test_bytes_that_begin_nothing(void **state)
{
    (void)state;
    for (int lead = 0x80; lead < 0x100; lead++) {
        char text[5] = {(char)lead, 'a', 'b', 'c', 0};
        assert_int_equal(kfi_utf8_character(text, SIZE_MAX), 0);
        assert_false(kfi_utf8_valid(text, 4));
    }
    assert_true(kfi_utf8_valid("", 0));
    assert_true(kfi_utf8_valid("a\xc3\xa4z", 4));
    assert_false(kfi_utf8_valid("a\xc3\xa4\xc3", 4));
    assert_true(kfi_utf8_valid("a\0b", 3)); /* a NUL is a character */
}

static void test_what_terminals_act_on(void **state)
{
    (void)state;
    static const uint32_t ranges[][2] = {{1, 0x1f}, {0x7f, 0x9f}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}};
    static const uint32_t limits[5] = {0, 0x80, 0x800, 0x10000, 0x11000};
    uint32_t number = 0;
    for (size_t size = 1; size <= 4; size++)
        for (; number < limits[size]; number++) {
            char text[8] = {0};
            bool acts = false;
            put(number, size, text);
            for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
                acts = acts || (number >= ranges[i][0] && number <= ranges[i][1]);
            assert_int_equal(kfi_utf8_steering(text, size), acts ? number : 0);
        }
    assert_int_equal(kfi_utf8_steering("\x9b", 0), 0); /* no character */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number),
        cmocka_unit_test(test_what_terminals_act_on),
        cmocka_unit_test(test_bytes_that_begin_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
