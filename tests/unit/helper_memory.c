#include "helper_memory.h"

#include "writer.h"

#include <stdlib.h>
#include <string.h>

void memory_job_begin(kf_job *job)
{
    memset(job, 0, sizeof *job);
    kfi_arena_init(&job->arena, (kf_allocator){0}, UINT64_MAX);
    job->arena.item_blocks = true;
}

void memory_job_end(kf_job *job)
{
    kfi_arena_free(&job->arena);
}

static void *resize(void *user, void *block, size_t old_size, size_t new_size)
{
    failing_memory *memory = user;
    (void)old_size;
    if (new_size == 0) {
        memory->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (++memory->count == memory->fail_at)
        return NULL;
    memory->live += block == NULL;
    return realloc(block, new_size);
}

kf_allocator failing_allocator(failing_memory *memory)
{
    return (kf_allocator){memory, resize};
}

static bool append(void *user, const void *data, size_t size)
{
    memory_sink *memory = user;
    if (++memory->appends == memory->fail_append)
        return false;
    if (size > memory->capacity - memory->size) {
        size_t capacity = memory->capacity * 2 + size;
        uint8_t *moved = realloc(memory->data, capacity);
        if (!moved)
            return false;
        memory->data = moved;
        memory->capacity = capacity;
    }
    if (size)
        memcpy(memory->data + memory->size, data, size);
    memory->size += size;
    return true;
}

static bool patch(void *user, uint64_t at, const void *data, size_t size)
{
    memory_sink *memory = user;
    if (++memory->patches == memory->fail_patch || at > memory->size || size > memory->size - at)
        return false;
    memcpy(memory->data + at, data, size);
    return true;
}

kf_sink memory_sink_of(memory_sink *memory)
{
    memset(memory, 0, sizeof *memory);
    return (kf_sink){.user = memory, .append = append, .patch = patch};
}

void memory_sink_free(memory_sink *memory)
{
    free(memory->data);
    memset(memory, 0, sizeof *memory);
}

void store_items(uint8_t *to, const void *items, size_t count, size_t item_size)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *item = (const uint8_t *)items + i * item_size;
        uint32_t four;
        uint64_t eight;
        memcpy(&four, item, 4);
        if (item_size == 4) {
            kfi_store_u32(to + i * 4, four);
        } else {
            memcpy(&eight, item, 8);
            kfi_store_u64(to + i * 8, eight);
        }
    }
}
