/* The description of ei-anm, how it is recognised, and what can be wrong with a readable file. */
#include "ei.h"

#include <math.h>

/* The counts say the exact size of the file: no other evidence exists. Rotations that are rotations
 * strengthen it. */
static int probe(const uint8_t *data, size_t size)
{
    if (!kfi_ei_anm_fits(data, size))
        return 0;
    uint32_t rotations = kfi_load_u32(data);
    for (uint32_t i = 0; i < rotations; i++) {
        double length = 0.0;
        for (size_t c = 0; c < 4; c++) {
            double value = kfi_load_f32(data + 4 + (size_t)i * KFI_EI_QUAT + 4 * c);
            length += value * value;
        }
        if (!(fabs(length - 1.0) < 0.01))
            return 50;
    }
    return rotations > 0 ? 70 : 50;
}

typedef struct checker {
    kf_job *job;
    const kf_file *file;
} checker;

static bool problem(const checker *ch, const char *id, const uint8_t *at, const char *field, size_t index,
                    const char *expected, double found)
{
    return kfi_say(ch->job, KF_PROBLEM, id, ch->file->name, (uint64_t)(at - (const uint8_t *)ch->file->data),
                   "%s[%zu]: expected %s, found %.9g", field, index, expected, found);
}

static bool check_finite(const checker *ch, const uint8_t *at, size_t count, size_t size, const char *field)
{
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < size; c += 4) {
            double value = kfi_load_f32(at + i * size + c);
            if (!isfinite(value) &&
                !problem(ch, "nonfinite", at + i * size + c, field, i, "a finite number", value))
                return false;
        }
    return true;
}

static bool check_unit(const checker *ch, const kfi_ei_anm *anm)
{
    for (size_t i = 0; i < anm->rotation_count; i++) {
        const uint8_t *at = anm->rotations + i * KFI_EI_QUAT;
        double length = 0.0;
        for (size_t c = 0; c < 4; c++) {
            double value = kfi_load_f32(at + 4 * c);
            length += value * value;
        }
        if (isfinite(length) && fabs(sqrt(length) - 1.0) > 1e-3 &&
            !problem(ch, "not-unit", at, "rotations", i, "a quaternion of length 1", sqrt(length)))
            return false;
    }
    return true;
}

bool kfi_ei_check(kf_import_job *in)
{
    for (size_t i = 0; i < in->count; i++) {
        checker ch = {in->job, &in->files[i]};
        kfi_reader reader;
        kfi_ei_anm anm;
        kfi_reader_init(&reader, in->job, in->files[i].data, in->files[i].size);
        if (!kfi_ei_anm_decode(&reader, &anm))
            return false;
        const uint8_t *counts = anm.translations + (size_t)anm.translation_count * KFI_EI_VEC3;
        if ((anm.morph_frames == 0) != (anm.morph_vertices == 0) &&
            !kfi_say(in->job, KF_PROBLEM, "half-morph", in->files[i].name,
                     (uint64_t)(counts - (const uint8_t *)in->files[i].data),
                     "morph_frame_count, morph_vertex_count: expected both 0 or neither, found %lu and %lu",
                     (unsigned long)anm.morph_frames, (unsigned long)anm.morph_vertices))
            return false;
        size_t offsets = (size_t)anm.morph_frames * anm.morph_vertices;
        if (!check_finite(&ch, anm.rotations, anm.rotation_count, KFI_EI_QUAT, "rotations") ||
            !check_finite(&ch, anm.translations, anm.translation_count, KFI_EI_VEC3, "translations") ||
            !check_finite(&ch, anm.morphs, offsets, KFI_EI_VEC3, "morphs") || !check_unit(&ch, &anm))
            return false;
    }
    return true;
}

const kf_format kfi_format_ei_anm = {
    .abi = KF_ABI,
    .revision = 1,
    .id = "ei-anm",
    .title = "Evil Islands animations of model parts",
    .extensions = "anm",
    .capabilities = {.channels = 1u << KF_TRANSLATION | 1u << KF_ROTATION | 1u << KF_MORPH,
                     .interps = 1u << KF_LINEAR,
                     .frame_rate = EI_RATE,
                     .components_together = true,
                     .quaternion = true,
                     .files_are_nodes = true,
                     .quat_interps = 1u << KF_LINEAR},
    .probe = probe,
    .import_ = kfi_ei_import,
    .export_ = kfi_ei_export,
    .check = kfi_ei_check,
};
