#include "mm2.h"

#include <math.h>

/* ---------------------------------------------------------------- what is against the rules */

static bool check_floats(kf_import_job *in, const kf_file *file, const kfi_mm2_anim *clip, size_t number)
{
    const kfi_mm2_channel *channel = &clip->channels[number];
    size_t count = (size_t)clip->frame_count * channel->floats;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(kfi_load_f32(channel->frames + 4 * i)))
            continue;
        if (!kfi_say(in->job, KF_PROBLEM, "not-finite", file->name, channel->offset + 9 + 4 * i,
                     "channel %zu, frame %zu, float %zu: expected a finite number, found the bits 0x%08lx",
                     number, i / channel->floats, i % channel->floats,
                     (unsigned long)kfi_load_u32(channel->frames + 4 * i)))
            return false;
    }
    return true;
}

static bool check_channel(kf_import_job *in, const kf_file *file, const kfi_mm2_anim *clip, size_t number)
{
    const kfi_mm2_channel *channel = &clip->channels[number];
    bool motion = clip->old || channel->type == KFI_MM2_MOTION;
    if (motion && (channel->floats % 3 != 0 || channel->floats < 3) &&
        !kfi_say(in->job, KF_PROBLEM, "floats", file->name, channel->offset,
                 "channel %zu, floats a frame: expected three for the root and three for each bone, found %lu",
                 number, (unsigned long)channel->floats))
        return false;
    return check_floats(in, file, clip, number);
}

static bool mm2_check(kf_import_job *in)
{
    for (size_t f = 0; f < in->count; f++) {
        const kf_file *file = &in->files[f];
        kfi_mm2_anim clip;
        if (!kfi_mm2_decode(in->job, file->data, file->size, &clip))
            return false;
        if (clip.frame_count == 0 && !kfi_say(in->job, KF_PROBLEM, "no-frames", file->name, clip.old ? 0 : 4,
                                              "number of frames: expected at least 1, found 0"))
            return false;
        for (size_t i = 0; i < clip.channel_count; i++)
            if (!check_channel(in, file, &clip, i))
                return false;
    }
    return true;
}

/* ---------------------------------------------------------------- names of floats that move no bones */

static const char *parse_number(const char *at, uint32_t *number)
{
    uint64_t value = 0;
    const char *start = at;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return NULL;
    }
    *number = (uint32_t)value;
    return at > start ? at : NULL;
}

static const char *parse_channel(const char *name, uint32_t *channel)
{
    const char *at = strncmp(name, "channel", 7) == 0 ? parse_number(name + 7, channel) : NULL;
    return at && *at == '_' ? at + 1 : NULL;
}

bool mm2_custom_name(const char *name, uint32_t *channel, uint32_t *index)
{
    const char *at = parse_channel(name, channel);
    at = at ? parse_number(at, index) : NULL;
    return at && *at == '\0';
}

bool mm2_type_name(const char *name, uint32_t *channel)
{
    const char *at = parse_channel(name, channel);
    return at && strcmp(at, "type") == 0;
}

const kf_format kfi_format_mm2_anim = {
    .abi = KF_ABI,
    .revision = 1,
    .id = "mm2-anim",
    .title = "Midtown Madness 2 pedestrian clips",
    .extensions = "anim",
    .capabilities =
        {
            .channels = 1u << KF_TRANSLATION | 1u << KF_ROTATION | 1u << KF_CUSTOM,
            .interps = 1u << KF_LINEAR,
            .frame_rate = MM2_DEFAULT_RATE,
            .components_together = true,
            .hierarchy = true,
            .rig = true,
        },
    .probe = kfi_mm2_probe,
    .import_ = mm2_import,
    .export_ = mm2_export,
    .check = mm2_check,
};
