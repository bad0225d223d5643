#include "formats/vib_anm.h"

enum { HEADER = 6 };

size_t kfi_vib_keyframe_size(uint8_t flags)
{
    return 2u + 6u * ((flags & 1u) + (flags >> 1 & 1u) + (flags >> 2 & 1u));
}

int kfi_vib_probe(const uint8_t *data, size_t size)
{
    if (size < HEADER + 2 || size > KFI_VIB_LONGEST || kfi_load_u16(data) != KFI_VIB_MAGIC)
        return 0;
    size_t frames = kfi_load_u16(data + 4);
    size_t table = HEADER + 2 * (frames + 1);
    if (table > size || kfi_load_u16(data + table - 2) * 2u != size)
        return 0;
    size_t at = kfi_load_u16(data + HEADER) * 2u;
    if (at < table)
        return 0;
    for (size_t i = 1; i <= frames; i++) {
        size_t end = kfi_load_u16(data + HEADER + 2 * i) * 2u;
        if (end > size)
            return 0;
        while (at < end)
            at += kfi_vib_keyframe_size(data[at + 1]);
        if (at != end)
            return 0;
    }
    return 100;
}

/* Where frame `i` begins, in bytes. */
static size_t frame_offset(const uint8_t *table, size_t i)
{
    return kfi_load_u16(table + 2 * i) * 2u;
}

/* A keyframe that is known to be there as a whole. */
static void read_keyframe(const uint8_t *from, kfi_vib_keyframe *keyframe)
{
    *keyframe = (kfi_vib_keyframe){.object = from[0], .flags = from[1]};
    from += 2;
    for (unsigned part = 0; part < KFI_VIB_PARTS; part++) {
        if (!(keyframe->flags >> part & 1))
            continue;
        for (unsigned c = 0; c < 3; c++)
            keyframe->part[part][c] = kfi_load_i16(from + 2 * c);
        from += 6;
    }
}

/* The keyframes of all frames, for which there is room. */
static bool read_frames(kfi_reader *in, const uint8_t *table, kfi_vib_anm *anm)
{
    size_t count = 0, at = in->at;
    for (size_t i = 0; i < anm->frame_count; i++) {
        size_t end = frame_offset(table, i + 1);
        if (end < at || end > in->size)
            return kfi_read_fail(in, HEADER + 2 * (i + 1),
                                 "frame offset %zu: expected from %zu to %zu bytes, found %zu", i + 1, at,
                                 in->size, end);
        anm->first[i] = count;
        while (at < end) {
            size_t size = kfi_vib_keyframe_size(in->data[at + 1]);
            if (size > end - at)
                return kfi_read_fail(
                    in, at,
                    "frame %zu, keyframe of object %u: expected %zu bytes, found %zu before the next frame",
                    i, in->data[at], size, end - at);
            read_keyframe(in->data + at, &anm->keyframes[count++]);
            at += size;
        }
    }
    anm->first[anm->frame_count] = count;
    in->at = at;
    return kfi_read_end(in);
}

bool kfi_vib_decode(kf_job *job, const uint8_t *data, size_t size, kfi_vib_anm *anm)
{
    kfi_reader in;
    kfi_reader_init(&in, job, data, size);
    *anm = (kfi_vib_anm){0};
    uint16_t magic = kfi_read_u16(&in, "first word");
    if (!in.failed && magic != KFI_VIB_MAGIC)
        return kfi_read_fail(&in, 0, "first word: expected 0x8000, found 0x%04x", magic);
    anm->rate = kfi_read_u16(&in, "rate");
    anm->frame_count = kfi_read_u16(&in, "number of frames");
    size_t frames = anm->frame_count;
    const uint8_t *table = kfi_read_records(&in, frames + 1, 2, "frame offsets");
    if (in.failed)
        return false;
    size_t begin = frame_offset(table, 0), end = size < KFI_VIB_LONGEST ? size : KFI_VIB_LONGEST;
    if (begin < in.at || begin > size)
        return kfi_read_fail(&in, HEADER, "frame offset 0: expected from %zu to %zu bytes, found %zu", in.at,
                             size, begin);
    anm->gap_size = begin - in.at;
    anm->gap = kfi_read_bytes(&in, anm->gap_size, "bytes before the first frame");
    anm->first = kfi_alloc(job, frames + 1, sizeof *anm->first);
    /* A keyframe takes two bytes at the least; where frames end is only known when they have been walked. */
    anm->keyframes = kfi_alloc_raw(job, (end - begin) / 2, sizeof *anm->keyframes);
    return anm->first && anm->keyframes && read_frames(&in, table, anm);
}

bool kfi_vib_too_long(kf_job *job, size_t fit)
{
    return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                    "a file of at most %d bytes cannot hold all frames: only the first %zu fit",
                    KFI_VIB_LONGEST, fit);
}

size_t kfi_vib_frame_size(const kfi_vib_anm *anm, size_t frame)
{
    size_t size = 2; /* its offset */
    for (size_t i = anm->first[frame]; i < anm->first[frame + 1]; i++)
        size += kfi_vib_keyframe_size(anm->keyframes[i].flags);
    return size;
}

bool kfi_vib_encode(kfi_writer *out, const kfi_vib_anm *anm)
{
    size_t frames = anm->frame_count;
    size_t size = KFI_VIB_EMPTY + anm->gap_size;
    for (size_t i = 0; i < frames; i++) {
        size += kfi_vib_frame_size(anm, i);
        if (size > KFI_VIB_LONGEST)
            return kfi_vib_too_long(out->job, i);
    }
    kfi_write_u16(out, KFI_VIB_MAGIC);
    kfi_write_u16(out, anm->rate);
    kfi_write_u16(out, anm->frame_count);
    size_t at = HEADER + 2 * (frames + 1) + anm->gap_size;
    for (size_t i = 0; i <= frames; i++) {
        kfi_write_u16(out, (uint16_t)(at / 2));
        if (i < frames)
            at += kfi_vib_frame_size(anm, i) - 2;
    }
    kfi_write_bytes(out, anm->gap, anm->gap_size);
    for (size_t i = 0; i < anm->first[frames]; i++) {
        const kfi_vib_keyframe *keyframe = &anm->keyframes[i];
        kfi_write_u8(out, keyframe->object);
        kfi_write_u8(out, keyframe->flags);
        for (unsigned part = 0; part < KFI_VIB_PARTS; part++)
            for (unsigned c = 0; c < 3 && (keyframe->flags >> part & 1); c++)
                kfi_write_u16(out, (uint16_t)keyframe->part[part][c]);
    }
    return !out->failed;
}
