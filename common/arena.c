#include "arena.h"

#include "pages.h"

#include <string.h>

struct kfi_block {
    kfi_block *next;
    size_t size; /* of the payload */
};

/* Blocks double up to a megabyte, then grow with all that there is, the input with it: a quarter of it at the most is not in
 * use. (A half, for the first that are large enough to lie on large pages, and fill these.) */
enum { ALIGN = 16, FIRST_BLOCK = 16 * 1024, USUAL_BLOCK = 1024 * 1024, LARGEST_BLOCK = 64 * 1024 * 1024 };

/* The payload starts at a multiple of ALIGN behind the header. */
static const size_t HEADER = (sizeof(kfi_block) + ALIGN - 1) / ALIGN * ALIGN;

void kfi_arena_init(kfi_arena *arena, kf_allocator allocator, uint64_t limit)
{
    memset(arena, 0, sizeof *arena);
    arena->allocator = allocator;
    if (!allocator.resize)
        arena->allocator.resize = kfi_pages_resize;
    arena->limit = limit;
}

static void free_newest(kfi_arena *arena)
{
    kfi_block *block = arena->blocks;
    size_t size = HEADER + block->size;
    arena->blocks = block->next;
    arena->total -= size;
    arena->allocator.resize(arena->allocator.user, block, size, 0);
}

void kfi_arena_free(kfi_arena *arena)
{
    while (arena->blocks)
        free_newest(arena);
    arena->used = 0;
}

static bool add_block(kfi_arena *arena, size_t payload)
{
    size_t size = HEADER + payload;
    if (size < payload || size > arena->limit || arena->total > arena->limit - size) {
        arena->over_limit = true;
        return false;
    }
    arena->over_limit = false;
    kfi_block *block = arena->allocator.resize(arena->allocator.user, NULL, 0, size);
    if (!block)
        return false;
    block->next = arena->blocks;
    block->size = payload;
    arena->blocks = block;
    arena->used = 0;
    arena->total += size;
    return true;
}

static size_t usual_block(const kfi_arena *arena)
{
    size_t usual = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    uint64_t all = arena->total + arena->beside, most = all / 4;
    if (most < USUAL_BLOCK)
        most = USUAL_BLOCK;
    if (most > LARGEST_BLOCK)
        most = LARGEST_BLOCK;
    if (usual > most)
        usual = (size_t)most;
    if (all < 2 * KFI_LARGE_BLOCK)
        return usual;
    if (usual < KFI_LARGE_BLOCK)
        usual = KFI_LARGE_BLOCK;
    return usual - usual % KFI_LARGE_PAGE - HEADER;
}

void *kfi_arena_alloc(kfi_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - HEADER - ALIGN) / size) {
        arena->over_limit = true;
        return NULL;
    }
    size_t bytes = count * size;
    size_t padded = bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
    kfi_block *top = arena->blocks;
    if (!top || arena->item_blocks || padded > top->size - arena->used) {
        size_t payload = padded;
        if (!arena->item_blocks) {
            size_t usual = usual_block(arena);
            if (payload < usual)
                payload = usual;
        }
        if (!add_block(arena, payload)) {
            /* Near the ceiling a block of just the needed size may still fit. */
            if (payload == padded || !arena->over_limit || !add_block(arena, padded))
                return NULL;
        }
    }
    void *result = (char *)arena->blocks + HEADER + arena->used;
    arena->used += padded;
    return result;
}

kfi_mark kfi_arena_mark(const kfi_arena *arena)
{
    return (kfi_mark){arena->blocks, arena->used};
}

void kfi_arena_release(kfi_arena *arena, kfi_mark mark)
{
    while (arena->blocks != mark.block)
        free_newest(arena);
    arena->used = mark.used;
}
