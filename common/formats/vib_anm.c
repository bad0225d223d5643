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

/* Walks the keyframes of all frames: counts them, or, the second time, keeps them. */
static size_t walk_frames(kfi_reader *in, const uint8_t *table, size_t frames, kfi_vib_anm *keep)
{
    size_t count = 0;
    for (size_t i = 0; i < frames && !in->failed; i++) {
        size_t end = frame_offset(table, i + 1);
        if (end < in->at || end > in->size) {
            kfi_read_fail(in, HEADER + 2 * (i + 1),
                          "frame offset %zu: expected from %zu to %zu bytes, found %zu", i + 1, in->at,
                          in->size, end);
            break;
        }
        if (keep)
            keep->first[i] = count;
        while (in->at < end) {
            size_t start = in->at;
            uint8_t object = in->data[start], flags = in->data[start + 1];
            if (kfi_vib_keyframe_size(flags) > end - start) {
                kfi_read_fail(in, start,
                              "frame %zu, keyframe of object %u: expected %zu bytes, found %zu "
                              "before the next frame",
                              i, object, kfi_vib_keyframe_size(flags), end - start);
                break;
            }
            in->at += kfi_vib_keyframe_size(flags);
            if (keep) {
                kfi_vib_keyframe *keyframe = &keep->keyframes[count];
                *keyframe = (kfi_vib_keyframe){.object = object, .flags = flags};
                const uint8_t *from = in->data + start + 2;
                for (unsigned part = 0; part < KFI_VIB_PARTS; part++)
                    for (unsigned c = 0; c < 3 && (flags >> part & 1); c++, from += 2)
                        keyframe->part[part][c] = kfi_load_i16(from);
            }
            count++;
        }
    }
    if (keep)
        keep->first[frames] = count;
    return count;
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
    size_t begin = frame_offset(table, 0);
    if (begin < in.at || begin > size)
        return kfi_read_fail(&in, HEADER, "frame offset 0: expected from %zu to %zu bytes, found %zu", in.at,
                             size, begin);
    anm->gap_size = begin - in.at;
    anm->gap = kfi_read_bytes(&in, anm->gap_size, "bytes before the first frame");

    size_t count = walk_frames(&in, table, frames, NULL);
    if (!kfi_read_end(&in))
        return false;
    anm->first = kfi_alloc(job, frames + 1, sizeof *anm->first);
    anm->keyframes = kfi_alloc_raw(job, count, sizeof *anm->keyframes);
    if (!anm->first || !anm->keyframes)
        return false;
    in.at = begin;
    walk_frames(&in, table, frames, anm);
    return true;
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
