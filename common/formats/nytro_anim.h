/* Nytro engine: generic node animation.
 *
 * The decoded file is structure and pointers into the bytes it was decoded from: chunks that are not known,
 * bytes between and behind chunks, and the choice between the two chunk headers all stay, so that
 * encode(decode(bytes)) = bytes for every file that decode accepts. */
#ifndef KFI_NYTRO_ANIM_H
#define KFI_NYTRO_ANIM_H

#include "reader.h"
#include "writer.h"

enum {
    KFI_NYTRO_HEADER = 1, /* chunk ids */
    KFI_NYTRO_ANIMATION = 2,

    KFI_NYTRO_TCB = 1, /* node flags */
    KFI_NYTRO_BEZIER = 2,
    KFI_NYTRO_LINEAR = 4,

    KFI_NYTRO_ACTIVE = 1, /* key flags */
    KFI_NYTRO_EASE = 2
};

typedef enum kfi_nytro_channel {
    KFI_NYTRO_TRANSLATION = 0,
    KFI_NYTRO_ROTATION = 1,
    KFI_NYTRO_SCALE = 2
} kfi_nytro_channel;

typedef struct kfi_nytro_chunk {
    uint32_t id;
    uint32_t version; /* long headers only */
    uint32_t next;    /* as read; when written, a position that meant a place means it again */
    const uint8_t *payload;
    size_t size;
    const uint8_t *gap; /* what lies between it and the next chunk or the end of the file */
    size_t gap_size;
    bool last; /* `next` of a last chunk: 0, 0xffffffff or the file's size */
} kfi_nytro_chunk;

typedef struct kfi_nytro_node {
    const char *name;
    uint32_t flags;
    uint32_t count[3]; /* keys of each kfi_nytro_channel */
    const uint8_t *records[3];
} kfi_nytro_node;

typedef struct kfi_nytro {
    bool short_header; /* u32 id, u32 size instead of the four words */
    kfi_nytro_chunk *chunks;
    size_t chunk_count;
    uint32_t flags;
    const char *name;
    const char *author;
    const uint8_t *header_rest; /* what chunk 1 holds beyond its fields */
    size_t header_rest_size;
    kfi_nytro_node *nodes;
    size_t node_count;
    const uint8_t *animation_rest;
    size_t animation_rest_size;
    size_t size; /* of the file */
} kfi_nytro;

/* Bytes of a key's record, and of its fields: u32 flags, f32 time, [f32 T, C, B, ease in, ease out,] f32
 * values. */
enum { KFI_NYTRO_TIME_AT = 4, KFI_NYTRO_TCB_AT = 8, KFI_NYTRO_TCB_SIZE = 20 };
static inline size_t kfi_nytro_values_at(uint32_t node_flags)
{
    return KFI_NYTRO_TCB_AT + (node_flags & KFI_NYTRO_TCB ? KFI_NYTRO_TCB_SIZE : 0);
}
static inline size_t kfi_nytro_record_size(uint32_t node_flags, kfi_nytro_channel channel)
{
    return kfi_nytro_values_at(node_flags) + (channel == KFI_NYTRO_ROTATION ? 16 : 12);
}

/* 0: no such file; 1: with short headers; 2: with long ones. Needs no job. */
int kfi_nytro_fits(const uint8_t *data, size_t size);

/* The result points into `data`. False: KF_BAD_INPUT with offset and field. */
bool kfi_nytro_decode(kf_job *job, const uint8_t *data, size_t size, kfi_nytro *anim);
/* Positions and sizes are worked out anew; chunks 1 and 2 are made of the fields, others written as they are.
 */
bool kfi_nytro_encode(const kfi_nytro *anim, kfi_writer *out);

#endif
