/* What every built-in format must keep to, on every sample in tests/data/<id>:
 *
 *   an accepted file comes back byte for byte when nothing was edited, whether the tracks say so or each of
 * their keys; a file cut off anywhere, with any bit turned or any 32-bit word set to an extreme, to a count
 * that overflows, to a float that is no finite number, or to a word from elsewhere, is either refused with a
 * message or comes back byte for byte, too; it never crashes, never reads beyond its bytes
 * (they lie in a block of just their size) and never takes more than 64 times its size + 64 KiB of memory; an
 * allocation that fails, whichever it is, ends in KF_NO_MEMORY and leaks nothing.
 *
 * Formats added to formats.def are covered without a word here. A sample whose name begins with "bad" must be
 * refused. */
#include "helper_contract.h"
#include "helper_rounds.h"

#include "writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_bad(const sample *s)
{
    return strncmp(strchr(s->name, '/') + 1, "bad", 3) == 0;
}

/* A big sample is not changed in every place: what is left out is spread evenly. */
enum { MOST_CHANGES = 50000, MOST_WORDS = 12000 };
static size_t stride(size_t changes, int most)
{
    return changes / (size_t)rounds(most) + 1;
}

static size_t comes_back(const kf_format *format, const sample *s)
{
    outcome o = try_bytes(format, s->data, s->size, 2, 0);
    if (o.problem)
        fail_msg("%s: %s", s->name, o.problem);
    if (o.accepted == is_bad(s))
        fail_msg("%s: %s", s->name, o.accepted ? "should be refused" : "refused");
    if (!is_bad(s) && format->probe(s->data, s->size) == 0)
        fail_msg("%s: not recognised by its probe", s->name);
    return 1;
}

static size_t cut_anywhere(const kf_format *format, const sample *s)
{
    size_t runs = 0;
    for (size_t size = 0; size < s->size; size += stride(s->size, MOST_CHANGES)) {
        outcome o = try_bytes(format, s->data, size, 1, 0);
        if (o.problem)
            fail_msg("%s cut to %zu bytes: %s", s->name, size, o.problem);
        runs++;
    }
    memcpy(s->data + s->size, "\1\2\3\4", 4);
    for (size_t more = 1; more <= 4; more++) {
        outcome o = try_bytes(format, s->data, s->size + more, 1, 0);
        if (o.problem)
            fail_msg("%s with %zu more bytes: %s", s->name, more, o.problem);
        runs++;
    }
    return runs;
}

static size_t any_bit_turned(const kf_format *format, const sample *s)
{
    size_t runs = 0;
    for (size_t bit = 0; bit < s->size * 8; bit += stride(s->size * 8, MOST_CHANGES)) {
        s->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        outcome o = try_bytes(format, s->data, s->size, 1, 0);
        s->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (o.problem)
            fail_msg("%s, bit %zu of byte %zu turned: %s", s->name, bit % 8, bit / 8, o.problem);
        runs++;
    }
    return runs;
}

/* Puts each of the values in the place of each 32-bit word: at every byte of a sample, or where it is a large one at
 * every fourth. */
static size_t any_word_becomes(const kf_format *format, const sample *s, const uint32_t *values, size_t count)
{
    size_t runs = 0;
    for (size_t at = 0; at + 4 <= s->size; at += s->size > 1024 ? 4 * (stride(s->size * count / 4, MOST_WORDS) | 1) : 1)
        for (size_t i = 0; i < count; i++) {
            uint8_t kept[4];
            memcpy(kept, s->data + at, 4);
            kfi_store_u32(s->data + at, values[i]);
            outcome o = try_bytes(format, s->data, s->size, 1, 0);
            memcpy(s->data + at, kept, 4);
            if (o.problem)
                fail_msg("%s, the word at %zu set to 0x%08x: %s", s->name, at, (unsigned)values[i], o.problem);
            runs++;
        }
    return runs;
}

static size_t any_word_extreme(const kf_format *format, const sample *s)
{
    static const uint32_t extremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
    return any_word_becomes(format, s, extremes, sizeof extremes / sizeof *extremes);
}

/* As a count or an offset such a word is just too much for 32 bits once it is multiplied by the size of a record, and
 * little is left of it. */
static size_t any_word_overflows(const kf_format *format, const sample *s)
{
    static const uint8_t sizes[] = {2, 4, 8, 12, 16, 20, 24, 32, 64, 128, 160};
    uint32_t values[sizeof sizes];
    for (size_t i = 0; i < sizeof sizes; i++)
        values[i] = (uint32_t)(0x100000000u / sizes[i]) + 1;
    return any_word_becomes(format, s, values, sizeof sizes);
}

/* Not a number, quiet, signalling and negative; the infinities; the least, the negative and the largest denormal; the
 * largest number. */
static size_t any_float_odd(const kf_format *format, const sample *s)
{
    static const uint32_t odd[] = {0x7fc00000, 0x7f800001, 0xffc00001, 0x7f800000, 0xff800000,
                                   0x00000001, 0x80000001, 0x007fffff, 0x7f7fffff};
    return any_word_becomes(format, s, odd, sizeof odd / sizeof *odd);
}

/* A word takes the place of one of those behind it, or they trade places: among all the others these are the cases
 * of a time that comes again, one that goes back, and a name or an offset that comes twice. */
static size_t any_word_repeats(const kf_format *format, const sample *s)
{
    enum { FARTHEST = 200 };
    size_t words = s->size / 4, all = words * (FARTHEST / 4) * 2, runs = 0;
    for (size_t n = 0; n < all; n += stride(all, MOST_WORDS) | 1) {
        size_t at = n / (FARTHEST / 4) / 2 * 4, far = at + 4 + n / 2 % (FARTHEST / 4) * 4;
        if (far + 4 > s->size)
            continue;
        uint8_t first[4], second[4];
        memcpy(first, s->data + at, 4);
        memcpy(second, s->data + far, 4);
        memcpy(s->data + far, first, 4);
        if (n % 2)
            memcpy(s->data + at, second, 4);
        outcome o = try_bytes(format, s->data, s->size, 1, 0);
        memcpy(s->data + at, first, 4);
        memcpy(s->data + far, second, 4);
        if (o.problem)
            fail_msg("%s, the word at %zu %s at %zu: %s", s->name, at,
                     n % 2 ? "trades places with that" : "also", far, o.problem);
        runs++;
    }
    return runs;
}

static size_t any_allocation_fails(const kf_format *format, const sample *s)
{
    size_t total = try_bytes(format, s->data, s->size, 2, 0).allocations, runs = 0;
    for (size_t n = 1; n <= total; n += stride(total, 2000)) {
        outcome o = try_bytes(format, s->data, s->size, 2, n);
        if (o.problem)
            fail_msg("%s, allocation %zu of %zu fails: %s", s->name, n, total, o.problem);
        if (o.code != KF_NO_MEMORY)
            fail_msg("%s, allocation %zu of %zu fails: code %d instead of KF_NO_MEMORY", s->name, n, total,
                     o.code);
        runs++;
    }
    return runs;
}

static void test_comes_back(void **state)
{
    (void)state;
    on_every_sample(comes_back);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    on_every_sample(cut_anywhere);
}

static void test_any_bit_turned(void **state)
{
    (void)state;
    on_every_sample(any_bit_turned);
}

static void test_any_word_extreme(void **state)
{
    (void)state;
    on_every_sample(any_word_extreme);
}

static void test_any_word_overflows(void **state)
{
    (void)state;
    on_every_sample(any_word_overflows);
}

static void test_any_float_odd(void **state)
{
    (void)state;
    on_every_sample(any_float_odd);
}

static void test_any_word_repeats(void **state)
{
    (void)state;
    on_every_sample(any_word_repeats);
}

static void test_any_allocation_fails(void **state)
{
    (void)state;
    on_every_sample(any_allocation_fails);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back),           cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_any_bit_turned),       cmocka_unit_test(test_any_word_extreme),
        cmocka_unit_test(test_any_word_overflows),   cmocka_unit_test(test_any_float_odd),
        cmocka_unit_test(test_any_word_repeats),     cmocka_unit_test(test_any_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
