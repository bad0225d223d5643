/* The arena's blocks: few, and not much larger than what is in them. */
#include "arena.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
