/* Vib-Ribbon model animations: bytes to structs and back, every byte kept.
 *
 *   u16 0x8000
 *   u16 rate             1, 15, 20, 30 or 60; what it is for is unproved
 *   u16 frames
 *   u16 [frames + 1]     where each frame begins, in units of two bytes; the last is where the file ends
 *   frames: keyframes one after the other, up to where the next frame begins
 *     u8  object
 *     u8  parts          1: rotation, 2: scale, 4: position follow, in this order
 *     i16 [3] each       rotation: 4096 is a full turn; scale: 4096 is 1
 *
 * An object without a keyframe is not drawn in that frame. Offsets of 16 bits end at 131070 bytes. */
#ifndef KFI_VIB_ANM_H
#define KFI_VIB_ANM_H

#include "reader.h"
#include "writer.h"

enum {
    KFI_VIB_MAGIC = 0x8000,
    KFI_VIB_EMPTY = 8,           /* bytes of a file without frames */
    KFI_VIB_LONGEST = 65535 * 2, /* bytes of a file */
    KFI_VIB_OBJECTS = 256,
    KFI_VIB_PARTS = 3
};

typedef enum kfi_vib_part { KFI_VIB_ROTATION, KFI_VIB_SCALE, KFI_VIB_POSITION } kfi_vib_part;

typedef struct kfi_vib_keyframe {
    uint8_t object;
    uint8_t flags;                  /* bit n: part n is stored; others are kept */
    int16_t part[KFI_VIB_PARTS][3]; /* zero where not stored */
} kfi_vib_keyframe;

typedef struct kfi_vib_anm {
    uint16_t rate;
    uint16_t frame_count;
    const uint8_t *gap; /* bytes between the offsets and the first frame; none as a rule */
    size_t gap_size;
    size_t *first; /* frame_count + 1: the first keyframe of each frame, and behind the last */
    kfi_vib_keyframe *keyframes;
} kfi_vib_anm;

/* How surely the bytes are such a file: 0 (not at all) to 100. */
int kfi_vib_probe(const uint8_t *data, size_t size);

/* `gap` points into `data`. */
bool kfi_vib_decode(kf_job *job, const uint8_t *data, size_t size, kfi_vib_anm *anm);
/* Fails with KF_INEXPRESSIBLE, and how many frames would fit, if the file would be too long. */
bool kfi_vib_encode(kfi_writer *out, const kfi_vib_anm *anm);

/* Bytes of a keyframe with these flags. */
size_t kfi_vib_keyframe_size(uint8_t flags);
/* Bytes that a frame takes: its keyframes and its offset. */
size_t kfi_vib_frame_size(const kfi_vib_anm *anm, size_t frame);
/* The failure when only `fit` frames fit into a file. Always false. */
bool kfi_vib_too_long(kf_job *job, size_t fit);

#endif
