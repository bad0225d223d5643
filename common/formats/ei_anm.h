/* Evil Islands: the animation of one model part.
 *
 * The decoded file is counts and pointers into the bytes it was decoded from, so nothing is lost on the way
 * through: encode(decode(bytes)) = bytes for every file that decode accepts. */
#ifndef KFI_EI_ANM_H
#define KFI_EI_ANM_H

#include "reader.h"
#include "writer.h"

enum {
    KFI_EI_QUAT = 16, /* bytes of a rotation: f32 w, x, y, z */
    KFI_EI_VEC3 = 12  /* bytes of a translation or of a morph offset: f32 x, y, z */
};

typedef struct kfi_ei_anm {
    uint32_t rotation_count;
    const uint8_t *rotations;
    uint32_t translation_count;
    const uint8_t *translations;
    uint32_t morph_frames;
    uint32_t morph_vertices;
    const uint8_t *morphs; /* frame by frame, each of morph_vertices offsets */
    bool short_tail;       /* the file ends after morph_frames, which is 0 */
} kfi_ei_anm;

/* True if the sizes that the counts ask for are exactly the file's. Needs no job. */
bool kfi_ei_anm_fits(const uint8_t *data, size_t size);

/* The result points into `in`. False: KF_BAD_INPUT with offset and field. */
bool kfi_ei_anm_decode(kfi_reader *in, kfi_ei_anm *anm);
void kfi_ei_anm_encode(const kfi_ei_anm *anm, kfi_writer *out);

#endif
