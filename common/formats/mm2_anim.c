#include "formats/mm2_anim.h"

#include <math.h>

enum { HEADER = 8, CHANNEL_HEADER = 9, OLD_HEADER = 13 };

/* The size of a channel's frames, or SIZE_MAX if that is more than `left`. */
static size_t frames_size(uint32_t frames, uint64_t floats, size_t left)
{
    if (frames == 0 || floats == 0)
        return 0;
    return floats <= left / 4 / frames ? (size_t)floats * 4 * frames : SIZE_MAX;
}

static uint64_t old_floats(uint32_t bones)
{
    return (uint64_t)bones * 3 + 3;
}

/* True if channel headers and frames end exactly where the file ends. */
static bool fits_channels(const uint8_t *data, size_t size)
{
    if (size < HEADER)
        return false;
    uint32_t count = kfi_load_u32(data);
    uint32_t frames = kfi_load_u32(data + 4);
    size_t at = HEADER;
    if (count == 0)
        count = 1;
    for (; count > 0 && size - at >= CHANNEL_HEADER; count--) {
        uint32_t floats = kfi_load_u32(data + at);
        at += CHANNEL_HEADER;
        size_t body = frames_size(frames, floats, size - at);
        if (body == SIZE_MAX)
            return false;
        at += body;
    }
    return count == 0 && at == size;
}

/* The channel header at `at` reads like that of a channel that moves bones. */
static bool is_motion(const uint8_t *at)
{
    return at[8] == KFI_MM2_MOTION && kfi_load_u32(at) % 3 == 0;
}

/* A file of the newer layout, cut off, may have the size of an older one: but where that one has the last byte of a
 * float, it has a channel's type. */
static bool fits_old(const uint8_t *data, size_t size)
{
    if (size <= OLD_HEADER + 4 || is_motion(data + HEADER))
        return false;
    uint32_t frames = kfi_load_u32(data);
    uint64_t floats = old_floats(kfi_load_u32(data + 4));
    return floats <= UINT32_MAX && frames > 0 &&
           frames_size(frames, floats, size - OLD_HEADER) == size - OLD_HEADER;
}

bool kfi_mm2_reads_as_old(const uint8_t *data, size_t size)
{
    return !fits_channels(data, size) && fits_old(data, size);
}

static bool all_finite(const uint8_t *floats, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(kfi_load_f32(floats + 4 * i)))
            return false;
    return true;
}

int kfi_mm2_probe(const uint8_t *data, size_t size)
{
    if (fits_channels(data, size)) {
        /* Without frames or floats there is little that could have failed to fit. */
        bool much = kfi_load_u32(data + 4) > 0 && kfi_load_u32(data + HEADER) > 0;
        return !is_motion(data + HEADER) ? 0 : much ? 100 : 50;
    }
    /* The older header has nothing of its own but the size that follows from it. */
    if (fits_old(data, size) && all_finite(data + OLD_HEADER, (size - OLD_HEADER) / 4))
        return 30;
    return 0;
}

/* Short lists in plain text share the extension. */
static bool is_text(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] != '\t' && data[i] != '\n' && data[i] != '\r' && (data[i] < 0x20 || data[i] > 0x7e))
            return false;
    return size > 0;
}

static bool decode_old(kfi_reader *in, kfi_mm2_anim *anim)
{
    anim->old = true;
    anim->stored_count = 1;
    anim->channel_count = 1;
    anim->channels = kfi_alloc(in->job, 1, sizeof *anim->channels);
    if (!anim->channels)
        return false;
    kfi_mm2_channel *channel = anim->channels;
    anim->frame_count = kfi_read_u32(in, "frames");
    channel->offset = in->at;
    channel->floats = (uint32_t)old_floats(kfi_read_u32(in, "bones"));
    channel->unknown = kfi_read_u32(in, "unknown float");
    channel->type = kfi_read_u8(in, "channel type");
    channel->frames = kfi_read_records(in, anim->frame_count, (size_t)channel->floats * 4, "frames");
    return kfi_read_end(in);
}

static bool decode_channels(kfi_reader *in, kfi_mm2_anim *anim)
{
    anim->stored_count = kfi_read_u32(in, "number of channels");
    anim->frame_count = kfi_read_u32(in, "number of frames");
    anim->channel_count = anim->stored_count == 0 ? 1 : anim->stored_count;
    if (!in->failed && anim->channel_count > kfi_read_left(in) / CHANNEL_HEADER)
        return kfi_read_fail(
            in, 0, "number of channels: %zu of at least %d bytes do not fit into the %zu that follow",
            anim->channel_count, CHANNEL_HEADER, kfi_read_left(in));
    if (in->failed)
        return false;
    anim->channels = kfi_alloc(in->job, anim->channel_count, sizeof *anim->channels);
    if (!anim->channels)
        return false;
    for (size_t i = 0; i < anim->channel_count && !in->failed; i++) {
        kfi_mm2_channel *channel = &anim->channels[i];
        channel->offset = in->at;
        channel->floats = kfi_read_u32(in, "floats a frame");
        channel->unknown = kfi_read_u32(in, "unknown float");
        channel->type = kfi_read_u8(in, "channel type");
        size_t body = frames_size(anim->frame_count, channel->floats, kfi_read_left(in));
        if (!in->failed && body == SIZE_MAX)
            return kfi_read_fail(
                in, channel->offset,
                "floats a frame: %lu frames of %lu floats do not fit into the %zu bytes that follow",
                (unsigned long)anim->frame_count, (unsigned long)channel->floats, kfi_read_left(in));
        channel->frames = kfi_read_bytes(in, body, "frames");
    }
    return kfi_read_end(in);
}

bool kfi_mm2_decode(kf_job *job, const uint8_t *data, size_t size, kfi_mm2_anim *anim)
{
    kfi_reader in;
    kfi_reader_init(&in, job, data, size);
    *anim = (kfi_mm2_anim){0};
    if (fits_channels(data, size))
        return decode_channels(&in, anim);
    if (kfi_mm2_reads_as_old(data, size))
        return decode_old(&in, anim);
    if (is_text(data, size))
        return kfi_read_fail(&in, 0, "is plain text: a list, not a clip");
    return decode_channels(&in, anim); /* says what is wrong */
}

bool kfi_mm2_encode(kfi_writer *out, const kfi_mm2_anim *anim)
{
    if (anim->old) {
        kfi_write_u32(out, anim->frame_count);
        kfi_write_u32(out, anim->channels[0].floats / 3 - 1);
    } else {
        kfi_write_u32(out, anim->stored_count);
        kfi_write_u32(out, anim->frame_count);
    }
    for (size_t i = 0; i < anim->channel_count; i++) {
        const kfi_mm2_channel *channel = &anim->channels[i];
        if (!anim->old)
            kfi_write_u32(out, channel->floats);
        kfi_write_u32(out, channel->unknown);
        kfi_write_u8(out, channel->type);
        kfi_write_bytes(out, channel->frames, (size_t)anim->frame_count * channel->floats * 4);
    }
    return !out->failed;
}

const kfi_mm2_channel *kfi_mm2_motion(const kfi_mm2_anim *anim)
{
    for (size_t i = 0; i < anim->channel_count; i++) {
        const kfi_mm2_channel *channel = &anim->channels[i];
        bool triples = channel->floats >= 3 && channel->floats % 3 == 0;
        if (anim->old || (channel->type == KFI_MM2_MOTION && triples))
            return channel;
    }
    return NULL;
}
