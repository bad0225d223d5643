#include "writer.h"

void kfi_writer_init(kfi_writer *out, kf_job *job, size_t expected)
{
    *out = (kfi_writer){.job = job};
    if (expected) {
        out->data = kfi_alloc_raw(job, expected, 1);
        out->capacity = out->data ? expected : 0;
        out->failed = !out->data;
    }
}

uint8_t *kfi_write_space(kfi_writer *out, size_t size)
{
    if (out->failed)
        return NULL;
    if (size > out->capacity - out->size) {
        size_t capacity = out->capacity < 128 ? 256 : out->capacity;
        while (capacity - out->size < size) {
            if (capacity > SIZE_MAX / 2) {
                kfi_fail(out->job, KF_MEMORY_LIMIT, KF_NO_OFFSET, "the output is too large for memory");
                out->failed = true;
                return NULL;
            }
            capacity *= 2;
        }
        uint8_t *moved = kfi_alloc_raw(out->job, capacity, 1);
        if (!moved) {
            out->failed = true;
            return NULL;
        }
        if (out->size)
            memcpy(moved, out->data, out->size);
        out->data = moved;
        out->capacity = capacity;
    }
    uint8_t *space = out->data + out->size;
    out->size += size;
    return space;
}

void kfi_write_bytes(kfi_writer *out, const void *data, size_t size)
{
    uint8_t *space = kfi_write_space(out, size);
    if (space && size)
        memcpy(space, data, size);
}

void kfi_write_u8(kfi_writer *out, uint8_t value)
{
    kfi_write_bytes(out, &value, 1);
}

void kfi_write_u16(kfi_writer *out, uint16_t value)
{
    uint8_t *space = kfi_write_space(out, 2);
    if (space)
        kfi_store_u16(space, value);
}

void kfi_write_u32(kfi_writer *out, uint32_t value)
{
    uint8_t *space = kfi_write_space(out, 4);
    if (space)
        kfi_store_u32(space, value);
}

void kfi_write_text(kfi_writer *out, const char *text)
{
    kfi_write_bytes(out, text, strlen(text) + 1);
}
