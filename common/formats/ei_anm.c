/* Evil Islands animation of one model part, little endian, tightly packed, no signature:
 *
 *   u32 rotations,     that many {f32 w, x, y, z}
 *   u32 translations,  that many {f32 x, y, z}
 *   u32 morph frames
 *   u32 morph vertices, frames x vertices x {f32 x, y, z}
 *
 * The three frame counts are independent of each other. A part without morphs ends either after a morph frame
 * count of 0 (the short tail) or after a zero for both counts. */
#include "formats/ei_anm.h"

bool kfi_ei_anm_decode(kfi_reader *in, kfi_ei_anm *anm)
{
    *anm = (kfi_ei_anm){0};
    anm->rotation_count = (uint32_t)kfi_read_count(in, KFI_EI_QUAT, "rotation_frame_count");
    anm->rotations = kfi_read_records(in, anm->rotation_count, KFI_EI_QUAT, "rotations");
    anm->translation_count = (uint32_t)kfi_read_count(in, KFI_EI_VEC3, "translation_frame_count");
    anm->translations = kfi_read_records(in, anm->translation_count, KFI_EI_VEC3, "translations");
    anm->morph_frames = kfi_read_u32(in, "morph_frame_count");
    if (!in->failed && anm->morph_frames == 0 && kfi_read_left(in) == 0) {
        anm->short_tail = true;
        return true;
    }
    size_t at = in->at;
    anm->morph_vertices = kfi_read_u32(in, "morph_vertex_count");
    /* Two 32-bit counts: their product fits 64 bits, times 12 it may not. */
    uint64_t offsets = (uint64_t)anm->morph_frames * anm->morph_vertices;
    if (!in->failed && offsets > kfi_read_left(in) / KFI_EI_VEC3)
        return kfi_read_fail(
            in, at,
            "morph_vertex_count: %lu frames of %lu offsets of 12 bytes do not fit into the %zu bytes "
            "that follow",
            (unsigned long)anm->morph_frames, (unsigned long)anm->morph_vertices, kfi_read_left(in));
    anm->morphs = kfi_read_records(in, (size_t)offsets, KFI_EI_VEC3, "morphs");
    return kfi_read_end(in);
}

bool kfi_ei_anm_fits(const uint8_t *data, size_t size)
{
    kf_job scratch = {0}; /* only to hold the error: decoding allocates nothing */
    kfi_reader in;
    kfi_ei_anm anm;
    kfi_reader_init(&in, &scratch, data, size);
    return kfi_ei_anm_decode(&in, &anm);
}

void kfi_ei_anm_encode(const kfi_ei_anm *anm, kfi_writer *out)
{
    kfi_write_u32(out, anm->rotation_count);
    kfi_write_bytes(out, anm->rotations, (size_t)anm->rotation_count * KFI_EI_QUAT);
    kfi_write_u32(out, anm->translation_count);
    kfi_write_bytes(out, anm->translations, (size_t)anm->translation_count * KFI_EI_VEC3);
    kfi_write_u32(out, anm->morph_frames);
    if (anm->short_tail && anm->morph_frames == 0)
        return;
    kfi_write_u32(out, anm->morph_vertices);
    kfi_write_bytes(out, anm->morphs, (size_t)anm->morph_frames * anm->morph_vertices * KFI_EI_VEC3);
}
