/* Memory of one job: everything is allocated here and freed at once. Allocation is counted against a ceiling. */
#ifndef KFI_ARENA_H
#define KFI_ARENA_H

#include "keyferry.h"

typedef struct kfi_block kfi_block;

typedef struct kfi_arena {
    kf_allocator allocator;
    kfi_block *blocks; /* newest first */
    size_t used;       /* of the newest block */
    uint64_t total;    /* bytes taken from the allocator */
    uint64_t limit;    /* the ceiling on total */
    uint64_t beside;   /* bytes of the input, which stand in memory as well: the more there are, the larger the blocks */
    bool item_blocks;  /* each allocation its own block, so that failing allocators and ASan see every item */
    bool over_limit;   /* why the last allocation failed: the ceiling, not the allocator */
} kfi_arena;

/* A point to which the arena can be rolled back. */
typedef struct kfi_mark {
    kfi_block *block;
    size_t used;
} kfi_mark;

/* An allocator with no functions set stands for malloc. */
void kfi_arena_init(kfi_arena *arena, kf_allocator allocator, uint64_t limit);
void kfi_arena_free(kfi_arena *arena);

/* `count` items of `size` bytes, aligned for anything; NULL on failure. The one place where sizes are multiplied.
 * An allocation of zero bytes gives a valid pointer. */
void *kfi_arena_alloc(kfi_arena *arena, size_t count, size_t size);

kfi_mark kfi_arena_mark(const kfi_arena *arena);
/* Frees everything allocated since the mark. */
void kfi_arena_release(kfi_arena *arena, kfi_mark mark);

#endif
