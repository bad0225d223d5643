/* X4: Foundations part animations (.ani): the bytes and their fields.
 *
 * A decoded file is its header plus raw records that stay where they are in the file, so that every byte
 * (text left over behind a name, the sign of a zero, the payload of a NaN, an unknown number) is kept without
 * being understood. The layout is told in x4_ani.c. */
#ifndef KFI_FORMATS_X4_ANI_H
#define KFI_FORMATS_X4_ANI_H

#include "reader.h"
#include "writer.h"

/* Sizes of the records, and where their fields are. */
enum {
    X4_HEADER_SIZE = 16,

    X4_DESC_SIZE = 160,
    X4_NAME_SIZE = 64,
    X4_DESC_NAME = 0,
    X4_DESC_SUB_NAME = 64,
    X4_DESC_COUNTS = 128, /* five: one for each kind of key */
    X4_DESC_DURATION = 148,
    X4_DESC_PADDING = 152,

    X4_KEY_SIZE = 128,
    X4_KEY_VALUE = 0,   /* x y z */
    X4_KEY_INTERP = 12, /* x y z */
    X4_KEY_TIME = 24,
    X4_KEY_POINTS = 28, /* for each of x y z: control point 1 (time, value), control point 2 (time, value) */
    X4_KEY_TENSION = 76,
    X4_KEY_CONTINUITY = 80,
    X4_KEY_BIAS = 84,
    X4_KEY_EASE_IN = 88,
    X4_KEY_EASE_OUT = 92,
    X4_KEY_DERIV = 96,
    X4_KEY_DERIV_IN = 100,  /* x y z */
    X4_KEY_DERIV_OUT = 112, /* x y z */
    X4_KEY_ANGLE_KEY = 124
};

/* The five lists of keys of a description, in the order of the file. */
enum { X4_POS, X4_ROT, X4_SCALE, X4_PRE_SCALE, X4_POST_SCALE, X4_KINDS };

/* Interpolation of the segment after a key. */
enum {
    X4_UNKNOWN = 0,
    X4_STEP = 1,
    X4_LINEAR = 2,
    X4_QUADRATIC = 3,
    X4_CUBIC = 4,
    X4_BEZIER = 5,
    X4_BEZIER_LINEAR_TIME = 6,
    X4_TCB = 7
};

typedef struct kfi_x4_ani {
    uint32_t count;      /* descriptions */
    uint32_t key_offset; /* X4_HEADER_SIZE, or where the keys begin: two conventions */
    uint32_t version;
    uint32_t padding;
    const uint8_t *descriptions; /* count records of X4_DESC_SIZE */
    const uint8_t *keys;         /* key_count records of X4_KEY_SIZE */
    size_t key_count;
    size_t *first; /* count + 1: the index of each description's first key, and key_count */
} kfi_x4_ani;

/* How the file calls a list's count ("NumPosKeys") and its keys ("position"). */
const char *kfi_x4_count_name(unsigned kind);
const char *kfi_x4_kind_name(unsigned kind);

/* True if the whole structure fits these bytes: sizes, counts and offsets. */
bool kfi_x4_ani_fits(const uint8_t *data, size_t size);

/* The records stay in the reader's bytes. */
bool kfi_x4_ani_decode(kfi_reader *in, kfi_x4_ani *ani);
bool kfi_x4_ani_encode(kfi_writer *out, const kfi_x4_ani *ani);
/* What comes before the descriptions and the keys, for those who make these in their place. */
void kfi_x4_write_header(kfi_writer *out, const kfi_x4_ani *ani);

static inline const uint8_t *kfi_x4_desc(const kfi_x4_ani *ani, size_t index)
{
    return ani->descriptions + index * X4_DESC_SIZE;
}

static inline uint32_t kfi_x4_desc_count(const uint8_t *desc, unsigned kind)
{
    return kfi_load_u32(desc + X4_DESC_COUNTS + 4 * kind);
}

/* The first key record of a description's list. */
static inline const uint8_t *kfi_x4_keys(const kfi_x4_ani *ani, size_t index, unsigned kind)
{
    size_t key = ani->first[index];
    for (unsigned k = 0; k < kind; k++)
        key += kfi_x4_desc_count(kfi_x4_desc(ani, index), k);
    return ani->keys + key * X4_KEY_SIZE;
}

/* How many bytes of a 64-byte name come before its NUL; 64 if there is none. */
static inline size_t kfi_x4_name_length(const uint8_t *name)
{
    const uint8_t *end = memchr(name, 0, X4_NAME_SIZE);
    return end ? (size_t)(end - name) : X4_NAME_SIZE;
}

static inline float kfi_x4_value(const uint8_t *key, unsigned component)
{
    return kfi_load_f32(key + X4_KEY_VALUE + 4 * component);
}

static inline uint32_t kfi_x4_interp(const uint8_t *key, unsigned component)
{
    return kfi_load_u32(key + X4_KEY_INTERP + 4 * component);
}

static inline float kfi_x4_time(const uint8_t *key)
{
    return kfi_load_f32(key + X4_KEY_TIME);
}

/* Where control point 0 (outgoing) or 1 (incoming) of a component is: its time, then its value, absolute
 * both. */
static inline size_t kfi_x4_point(unsigned component, unsigned point)
{
    return X4_KEY_POINTS + 16 * (size_t)component + 8 * (size_t)point;
}

#endif
