/* The arena's blocks: few, and not much larger than what is in them. */
#include "arena.h"
#include "pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct counted {
    size_t blocks, now, most;
} counted;

static void *resize(void *user, void *block, size_t old_size, size_t new_size)
{
    counted *c = user;
    c->blocks += old_size == 0;
    c->now += new_size - old_size;
    if (c->now > c->most)
        c->most = c->now;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static void test_growth(void **state)
{
    (void)state;
    enum { ITEM = 1000, ITEMS = 60000 };
    counted c = {0};
    kfi_arena arena;
    kfi_arena_init(&arena, (kf_allocator){&c, resize}, UINT64_MAX);
    for (size_t used = 0, i = 0; i < ITEMS; i++) {
        char *item = kfi_arena_alloc(&arena, 1, ITEM);
        assert_non_null(item);
        memset(item, 1, ITEM); /* really there: sanitizers look */
        used += ITEM;
        assert_true(c.now <= used + used / 2 + 1100 * 1024);
    }
    assert_true(c.blocks < 40);
    assert_int_equal(c.now, arena.total);
    kfi_arena_free(&arena);
    assert_int_equal(c.now, 0);
}

/* Near the ceiling only what is needed is taken. */
static void test_ceiling(void **state)
{
    (void)state;
    enum { LIMIT = 20 * 1024 * 1024, ITEM = 100000 };
    counted c = {0};
    kfi_arena arena;
    size_t used = 0;
    kfi_arena_init(&arena, (kf_allocator){&c, resize}, LIMIT);
    while (kfi_arena_alloc(&arena, 1, ITEM))
        used += ITEM;
    assert_true(arena.over_limit);
    assert_true(c.most <= LIMIT);
    assert_true(used > LIMIT - LIMIT / 20);
    kfi_arena_free(&arena);
    assert_int_equal(c.now, 0);
}

/* Blocks so large that they get pages of their own are malloc's like all others: all of their bytes are there, keep their
 * contents when they grow or shrink, and are freed. */
static void test_large(void **state)
{
    (void)state;
    static const size_t sizes[] = {KFI_LARGE_BLOCK - 1, KFI_LARGE_BLOCK, KFI_LARGE_BLOCK + 1, 7 * (size_t)KFI_LARGE_PAGE + 12345};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i], more = 2 * size + 1, less = 100;
        unsigned char *block = kfi_pages_resize(NULL, NULL, 0, size);
        assert_non_null(block);
        memset(block, (int)i + 1, size);
        block = kfi_pages_resize(NULL, block, size, more);
        assert_non_null(block);
        assert_int_equal(block[0], i + 1);
        assert_int_equal(block[size - 1], i + 1);
        memset(block, (int)i + 2, more);
        block = kfi_pages_resize(NULL, block, more, less);
        assert_non_null(block);
        assert_int_equal(block[less - 1], i + 2);
        assert_null(kfi_pages_resize(NULL, block, less, 0));
    }
}

/* More than there can be is no memory, and not the ceiling's fault. */
static void test_too_large(void **state)
{
    (void)state;
    kfi_arena arena;
    kfi_arena_init(&arena, (kf_allocator){0}, UINT64_MAX);
    assert_non_null(kfi_arena_alloc(&arena, 1, KFI_LARGE_BLOCK));
    uint64_t before = arena.total;
    assert_null(kfi_arena_alloc(&arena, 1, SIZE_MAX / 2));
    assert_false(arena.over_limit);
    assert_int_equal(arena.total, before);
    assert_null(kfi_arena_alloc(&arena, 2, SIZE_MAX / 2));
    assert_true(arena.over_limit);
    kfi_arena_free(&arena);
    assert_int_equal(arena.total, 0);
}

/* From where blocks are large on they fill large pages: the arena counts what it takes. */
static void test_whole_pages(void **state)
{
    (void)state;
    counted c = {0};
    kfi_arena arena;
    kfi_arena_init(&arena, (kf_allocator){&c, resize}, UINT64_MAX);
    for (uint64_t before = 0; arena.total < 64 * (uint64_t)KFI_LARGE_PAGE;) {
        assert_non_null(kfi_arena_alloc(&arena, 1, 1000));
        uint64_t block = arena.total - before;
        if (block > 0 && before >= 2 * KFI_LARGE_BLOCK) {
            assert_true(block >= KFI_LARGE_BLOCK);
            assert_int_equal(block % KFI_LARGE_PAGE, 0);
        }
        before = arena.total;
        assert_int_equal(c.now, before);
    }
    kfi_arena_free(&arena);
    assert_int_equal(c.now, 0);
}

/* The first block of a large input's job is large, and no more than a quarter of what there is. */
static void test_large_input(void **state)
{
    (void)state;
    for (uint64_t input = 1024; input <= 256 * (uint64_t)KFI_LARGE_PAGE; input *= 2) {
        counted c = {0};
        kfi_arena arena;
        kfi_arena_init(&arena, (kf_allocator){&c, resize}, UINT64_MAX);
        arena.beside = input;
        assert_non_null(kfi_arena_alloc(&arena, 1, 1000));
        assert_int_equal(arena.total >= KFI_LARGE_BLOCK, input >= 2 * KFI_LARGE_BLOCK);
        for (int i = 0; i < 100000; i++) {
            uint64_t before = arena.total;
            assert_non_null(kfi_arena_alloc(&arena, 1, 1000));
            assert_true(arena.total - before <= (before + input) / 4 + KFI_LARGE_BLOCK);
        }
        kfi_arena_free(&arena);
        assert_int_equal(c.now, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_whole_pages),
        cmocka_unit_test(test_large_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
