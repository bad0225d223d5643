/* Bounds-checked reading of untrusted bytes, little endian.
 *
 * Sticky: after the first failure every read gives zero and the job keeps the first error, so a decoder reads on and
 * checks once at the end. Each read names its field, for the message. */
#ifndef KFI_READER_H
#define KFI_READER_H

#include "status.h"

#include <string.h>

typedef struct kfi_reader {
    kf_job *job;
    const uint8_t *data;
    size_t size;
    size_t at;
    bool failed;
} kfi_reader;

void kfi_reader_init(kfi_reader *in, kf_job *job, const void *data, size_t size);

/* Fails with KF_BAD_INPUT at the given offset. Always false. */
KFI_PRINTF(3, 4) bool kfi_read_fail(kfi_reader *in, size_t offset, const char *format, ...);

/* `size` bytes where they stand, or NULL. The pointer is into the file itself. */
const uint8_t *kfi_read_bytes(kfi_reader *in, size_t size, const char *field);
/* `count` records of `size` bytes, or NULL. */
const uint8_t *kfi_read_records(kfi_reader *in, size_t count, size_t size, const char *field);
uint8_t kfi_read_u8(kfi_reader *in, const char *field);
uint16_t kfi_read_u16(kfi_reader *in, const char *field);
uint32_t kfi_read_u32(kfi_reader *in, const char *field);
/* A u32 that counts records of `size` bytes each: refused if the rest of the file cannot hold them. */
size_t kfi_read_count(kfi_reader *in, size_t size, const char *field);
/* Text up to its NUL, which is skipped; the pointer is into the file. NULL if no NUL follows. */
const char *kfi_read_text(kfi_reader *in, const char *field);
size_t kfi_read_left(const kfi_reader *in);
/* True if all went well and nothing is left over. */
bool kfi_read_end(kfi_reader *in);

/* Fields of a record that is known to be there. */
static inline uint16_t kfi_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline int16_t kfi_load_i16(const uint8_t *p)
{
    uint16_t bits = kfi_load_u16(p);
    int16_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t kfi_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t kfi_load_u64(const uint8_t *p)
{
    return (uint64_t)kfi_load_u32(p) | (uint64_t)kfi_load_u32(p + 4) << 32;
}

static inline float kfi_load_f32(const uint8_t *p)
{
    uint32_t bits = kfi_load_u32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
