#include "vib.h"

#include <math.h>

/* ---------------------------------------------------------------- numbers */

kf_channel vib_channel(kfi_vib_part part)
{
    return part == KFI_VIB_ROTATION ? KF_ROTATION : part == KFI_VIB_SCALE ? KF_SCALE : KF_TRANSLATION;
}

static double unit_of(kfi_vib_part part)
{
    return part == KFI_VIB_ROTATION ? 360.0 / 4096.0 : part == KFI_VIB_SCALE ? 1.0 / 4096.0 : 1.0;
}

double vib_value(kfi_vib_part part, int16_t stored)
{
    return stored * unit_of(part);
}

int16_t vib_stored(kfi_vib_part part, double value, bool *clamped)
{
    double stored = nearbyint(value / unit_of(part));
    *clamped = false;
    if (stored >= INT16_MIN && stored <= INT16_MAX)
        return (int16_t)stored;
    if (part == KFI_VIB_ROTATION && isfinite(stored))
        return (int16_t)remainder(stored, 4096.0);
    *clamped = true;
    if (part == KFI_VIB_ROTATION || isnan(stored)) /* a curve that leaves the range of numbers between its keys */
        return 0;
    return stored < 0 ? INT16_MIN : INT16_MAX;
}

/* ---------------------------------------------------------------- frames */

vib_seen vib_see(const kfi_vib_anm *anm, size_t frame, unsigned object)
{
    vib_seen seen = {0};
    for (size_t i = anm->first[frame]; i < anm->first[frame + 1]; i++) {
        const kfi_vib_keyframe *keyframe = &anm->keyframes[i];
        if (keyframe->object != object)
            continue;
        seen.drawn = true;
        for (unsigned part = 0; part < KFI_VIB_PARTS; part++)
            if (keyframe->flags >> part & 1)
                seen.part[part] = keyframe->part[part];
    }
    return seen;
}

/* ---------------------------------------------------------------- what is against the rules */

static bool check_header(kf_import_job *in, const kf_file *file, const kfi_vib_anm *anm)
{
    static const uint16_t known[] = {1, 15, 20, 30, 60};
    bool good = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        good = good || anm->rate == known[i];
    if (!good && !kfi_say(in->job, KF_PROBLEM, "rate", file->name, 2,
                          "rate: expected 1, 15, 20, 30 or 60, found %u", anm->rate))
        return false;
    return anm->gap_size == 0 ||
           kfi_say(in->job, KF_PROBLEM, "gap", file->name, 6,
                   "frame offset 0: expected %u, right behind the offsets, found %zu",
                   8u + 2u * anm->frame_count, 8u + 2u * anm->frame_count + anm->gap_size);
}

static bool check_frame(kf_import_job *in, const kf_file *file, const kfi_vib_anm *anm, size_t frame,
                        size_t *at)
{
    uint8_t seen[KFI_VIB_OBJECTS] = {0};
    for (size_t i = anm->first[frame]; i < anm->first[frame + 1]; i++) {
        const kfi_vib_keyframe *keyframe = &anm->keyframes[i];
        if (keyframe->flags > 7 && !kfi_say(in->job, KF_PROBLEM, "flags", file->name, *at + 1,
                                            "frame %zu, object %u, flags: expected 0 to 7, found 0x%02x",
                                            frame, keyframe->object, keyframe->flags))
            return false;
        if (seen[keyframe->object]++ == 1 &&
            !kfi_say(in->job, KF_PROBLEM, "twice", file->name, *at,
                     "frame %zu, object: expected one keyframe of %u, found another", frame,
                     keyframe->object))
            return false;
        *at += kfi_vib_keyframe_size(keyframe->flags);
    }
    return true;
}

static bool vib_check(kf_import_job *in)
{
    for (size_t f = 0; f < in->count; f++) {
        const kf_file *file = &in->files[f];
        kfi_vib_anm anm;
        if (!kfi_vib_decode(in->job, file->data, file->size, &anm) || !check_header(in, file, &anm))
            return false;
        size_t at = 8 + 2 * (size_t)anm.frame_count + anm.gap_size;
        for (size_t i = 0; i < anm.frame_count; i++)
            if (!check_frame(in, file, &anm, i, &at))
                return false;
    }
    return true;
}

const kf_format kfi_format_vib_anm = {
    .abi = KF_ABI,
    .revision = 1,
    .id = "vib-anm",
    .title = "Vib-Ribbon model animations",
    .extensions = "anm",
    .capabilities =
        {
            .channels = 1u << KF_TRANSLATION | 1u << KF_ROTATION | 1u << KF_SCALE | 1u << KF_VISIBILITY,
            .interps = 1u << KF_STEP,
            .frame_rate = VIB_DEFAULT_RATE,
            .rates = {15, 20, 60}, /* and 1, which says nothing */
            .components_together = true,
            .quantum = {1.0, 360.0 / 4096.0, 1.0 / 4096.0},
        },
    .probe = kfi_vib_probe,
    .import_ = vib_import,
    .export_ = vib_export,
    .check = vib_check,
};
