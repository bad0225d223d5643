/* Bytes growing in a job's memory, little endian. Sticky like the reader: check `failed` once at the end. */
#ifndef KFI_WRITER_H
#define KFI_WRITER_H

#include "status.h"

#include <string.h>

typedef struct kfi_writer {
    kf_job *job;
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool failed;
} kfi_writer;

/* `expected` bytes are set aside at once; more come as needed. */
void kfi_writer_init(kfi_writer *out, kf_job *job, size_t expected);

/* Room for `size` more bytes at the end, to be filled by the caller; NULL on failure. */
uint8_t *kfi_write_space(kfi_writer *out, size_t size);
void kfi_write_bytes(kfi_writer *out, const void *data, size_t size);
void kfi_write_u8(kfi_writer *out, uint8_t value);
void kfi_write_u16(kfi_writer *out, uint16_t value);
void kfi_write_u32(kfi_writer *out, uint32_t value);
/* With its NUL. */
void kfi_write_text(kfi_writer *out, const char *text);

static inline void kfi_store_u16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void kfi_store_u32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
    p[2] = (uint8_t)(value >> 16);
    p[3] = (uint8_t)(value >> 24);
}

static inline void kfi_store_u64(uint8_t *p, uint64_t value)
{
    kfi_store_u32(p, (uint32_t)value);
    kfi_store_u32(p + 4, (uint32_t)(value >> 32));
}

static inline void kfi_store_f32(uint8_t *p, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    kfi_store_u32(p, bits);
}

#endif
