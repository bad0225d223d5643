/* X4: Foundations part animations, little endian:
 *
 *   header, 16 bytes
 *     i32 NumAnims
 *     i32 KeyOffsetBytes   16 + 160 NumAnims, where the keys begin; or 16, where the descriptions begin
 *     i32 Version          1
 *     i32 Padding
 *   NumAnims descriptions, 160 bytes each
 *     u8  Name[64]         NUL-terminated; anything may follow the NUL
 *     u8  SubName[64]
 *     i32 NumPosKeys, NumRotKeys, NumScaleKeys, NumPreScaleKeys, NumPostScaleKeys
 *     f32 Duration
 *     i32 Padding[2]
 *   for each description its keys, in the order of the five counts, 128 bytes each
 *     f32 Value[3]
 *     i32 Interpolation[3] of x, y and z, on the way to the next key
 *     f32 Time             seconds
 *     f32 CP[3][2][2]      for x, y and z: first and second control point, each time and value
 *     f32 Tens, Cont, Bias, EaseIn, EaseOut
 *     i32 Deriv            the derivatives have been calculated
 *     f32 DerivIn[3], DerivOut[3]
 *     u32 AngleKey
 *
 * The counts consume the file exactly. */
#include "formats/x4_ani.h"

#include <stdio.h>

const char *kfi_x4_count_name(unsigned kind)
{
    static const char *const names[X4_KINDS] = {"NumPosKeys", "NumRotKeys", "NumScaleKeys", "NumPreScaleKeys",
                                                "NumPostScaleKeys"};
    return kind < X4_KINDS ? names[kind] : "?";
}

const char *kfi_x4_kind_name(unsigned kind)
{
    static const char *const names[X4_KINDS] = {"position", "rotation", "scale", "pre-scale", "post-scale"};
    return kind < X4_KINDS ? names[kind] : "?";
}

/* What is wrong with a structure, and where. */
typedef struct fault {
    size_t offset;
    char text[160];
} fault;

/* The counts are signed in the file: a negative one should be named as such. */
static long signed_number(uint32_t bits)
{
    int32_t number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static bool walk_header(const uint8_t *data, size_t size, fault *bad)
{
    if (size < X4_HEADER_SIZE) {
        bad->offset = 0;
        snprintf(bad->text, sizeof bad->text, "header: expected 16 bytes, found %zu", size);
        return false;
    }
    uint32_t count = kfi_load_u32(data);
    size_t room = (size - X4_HEADER_SIZE) / X4_DESC_SIZE;
    if (count > room) {
        bad->offset = 0;
        snprintf(bad->text, sizeof bad->text,
                 "NumAnims: expected 0 to %zu descriptions of 160 bytes in a file of %zu bytes, found %ld",
                 room, size, signed_number(count));
        return false;
    }
    uint32_t offset = kfi_load_u32(data + 4);
    if (offset != X4_HEADER_SIZE && offset != X4_HEADER_SIZE + (uint64_t)X4_DESC_SIZE * count) {
        bad->offset = 4;
        snprintf(bad->text, sizeof bad->text, "KeyOffsetBytes: expected %lu or 16, found %lu",
                 X4_HEADER_SIZE + X4_DESC_SIZE * (unsigned long)count, (unsigned long)offset);
        return false;
    }
    return true;
}

/* Goes through the structure; fills `first` if it is not NULL. */
static bool walk(const uint8_t *data, size_t size, size_t *first, fault *bad)
{
    if (!walk_header(data, size, bad))
        return false;
    size_t count = kfi_load_u32(data);
    size_t keys_at = X4_HEADER_SIZE + count * X4_DESC_SIZE;
    size_t room = (size - keys_at) / X4_KEY_SIZE;
    size_t keys = 0;
    for (size_t i = 0; i < count; i++) {
        size_t desc = X4_HEADER_SIZE + i * X4_DESC_SIZE;
        if (first)
            first[i] = keys;
        for (unsigned kind = 0; kind < X4_KINDS; kind++) {
            uint32_t number = kfi_x4_desc_count(data + desc, kind);
            if (number > room - keys) {
                bad->offset = desc + X4_DESC_COUNTS + 4 * kind;
                snprintf(bad->text, sizeof bad->text,
                         "description %zu, %s: expected 0 to %zu keys of 128 bytes, as many as the file "
                         "still holds, "
                         "found %ld",
                         i, kfi_x4_count_name(kind), room - keys, signed_number(number));
                return false;
            }
            keys += number;
        }
    }
    if (first)
        first[count] = keys;
    if (keys_at + keys * X4_KEY_SIZE != size) {
        bad->offset = keys_at + keys * X4_KEY_SIZE;
        snprintf(bad->text, sizeof bad->text,
                 "expected the end of the file after %zu keys, found %zu more bytes", keys,
                 size - bad->offset);
        return false;
    }
    return true;
}

bool kfi_x4_ani_fits(const uint8_t *data, size_t size)
{
    fault bad;
    return walk(data, size, NULL, &bad);
}

bool kfi_x4_ani_decode(kfi_reader *in, kfi_x4_ani *ani)
{
    const uint8_t *data = in->data;
    fault bad;
    if (in->failed)
        return false;
    if (!walk_header(data, in->size, &bad))
        return kfi_read_fail(in, bad.offset, "%s", bad.text);
    ani->count = kfi_load_u32(data);
    ani->key_offset = kfi_load_u32(data + 4);
    ani->version = kfi_load_u32(data + 8);
    ani->padding = kfi_load_u32(data + 12);
    ani->first = kfi_alloc(in->job, (size_t)ani->count + 1, sizeof *ani->first);
    if (!ani->first) {
        in->failed = true;
        return false;
    }
    if (!walk(data, in->size, ani->first, &bad))
        return kfi_read_fail(in, bad.offset, "%s", bad.text);
    ani->descriptions = data + X4_HEADER_SIZE;
    ani->keys = ani->descriptions + (size_t)ani->count * X4_DESC_SIZE;
    ani->key_count = ani->first[ani->count];
    in->at = in->size;
    return true;
}

void kfi_x4_write_header(kfi_writer *out, const kfi_x4_ani *ani)
{
    kfi_write_u32(out, ani->count);
    kfi_write_u32(out, ani->key_offset);
    kfi_write_u32(out, ani->version);
    kfi_write_u32(out, ani->padding);
}

bool kfi_x4_ani_encode(kfi_writer *out, const kfi_x4_ani *ani)
{
    kfi_x4_write_header(out, ani);
    kfi_write_bytes(out, ani->descriptions, (size_t)ani->count * X4_DESC_SIZE);
    kfi_write_bytes(out, ani->keys, ani->key_count * X4_KEY_SIZE);
    return !out->failed;
}
