/* The description of nytro-anim, how it is recognised, and what can be wrong with a readable file. */
#include "nytro.h"

#include <math.h>

static int probe(const uint8_t *data, size_t size)
{
    int fits = kfi_nytro_fits(data, size);
    return fits == 2 ? 95 : fits == 1 ? 90 : 0;
}

/* ---------------------------------------------------------------- check */

typedef struct checker {
    kf_job *job;
    const kf_file *file;
    const kfi_nytro_node *node;
} checker;

static uint64_t offset_of(const checker *ch, const void *at)
{
    return (uint64_t)((const uint8_t *)at - (const uint8_t *)ch->file->data);
}

static bool problem(const checker *ch, const char *id, const void *at, const char *field,
                    const char *expected, double found)
{
    return kfi_say(ch->job, KF_PROBLEM, id, ch->file->name, offset_of(ch, at),
                   "%s%.60s%s%s: expected %s, found %.9g", ch->node ? "node \"" : "",
                   ch->node ? ch->node->name : "", ch->node ? "\", " : "", field, expected, found);
}

static bool check_chunks(const checker *ch, const kfi_nytro *file)
{
    size_t header = file->short_header ? 8 : 16;
    for (size_t i = 0; i < file->chunk_count; i++) {
        const kfi_nytro_chunk *chunk = &file->chunks[i];
        const uint8_t *start = chunk->payload - header;
        if (!file->short_header && chunk->version != 1 &&
            !problem(ch, "version", start + 4, "chunkVersion", "1", chunk->version))
            return false;
        if (chunk->gap_size > 0 &&
            !problem(ch, "gap", chunk->gap, "bytes after a chunk", "none", (double)chunk->gap_size))
            return false;
        const uint8_t *rest = chunk->id == KFI_NYTRO_HEADER      ? file->header_rest
                              : chunk->id == KFI_NYTRO_ANIMATION ? file->animation_rest
                                                                 : NULL;
        size_t rest_size = chunk->id == KFI_NYTRO_HEADER ? file->header_rest_size : file->animation_rest_size;
        if (rest && rest_size > 0 &&
            !problem(ch, "rest", rest, "bytes after a chunk's fields", "none", (double)rest_size))
            return false;
        if (chunk->id == KFI_NYTRO_HEADER && file->flags != 0 &&
            !problem(ch, "flags", chunk->payload, "flags", "0", file->flags))
            return false;
    }
    return true;
}

static bool check_float(const checker *ch, const uint8_t *at, const char *field, double least, double most,
                        const char *expected)
{
    double value = kfi_load_f32(at);
    if (!isfinite(value))
        return problem(ch, "nonfinite", at, field, "a finite number", value);
    return (value >= least && value <= most) || problem(ch, "out-of-range", at, field, expected, value);
}

static bool check_numbers(const checker *ch, const uint8_t *record)
{
    static const char *const fields[5] = {"tension", "continuity", "bias", "easeIn", "easeOut"};
    for (size_t i = 0; i < 5; i++)
        if (!check_float(ch, record + KFI_NYTRO_TCB_AT + 4 * i, fields[i], i < 3 ? -1 : 0, 1,
                         i < 3 ? "-1..1" : "0..1"))
            return false;
    return true;
}

static bool check_rotation(const checker *ch, const uint8_t *at)
{
    double length = 0.0;
    for (size_t c = 0; c < 3; c++) {
        double value = kfi_load_f32(at + 4 + 4 * c);
        length += value * value;
    }
    length = sqrt(length);
    bool none = length == 0.0 && kfi_load_f32(at) == 0.0f;
    return none || !isfinite(length) || fabs(length - 1.0) < 1e-3 ||
           problem(ch, "axis", at + 4, "axis", "length 1", length);
}

static bool check_keys(const checker *ch, unsigned channel)
{
    static const char *const values[3] = {"translation", "rotation", "scale"};
    size_t size = kfi_nytro_record_size(ch->node->flags, (kfi_nytro_channel)channel);
    size_t values_at = kfi_nytro_values_at(ch->node->flags);
    double before = -INFINITY;
    for (size_t i = 0; i < ch->node->count[channel]; i++) {
        const uint8_t *record = ch->node->records[channel] + i * size;
        double time = kfi_load_f32(record + KFI_NYTRO_TIME_AT);
        uint32_t flags = kfi_load_u32(record);
        if ((flags & ~(uint32_t)(KFI_NYTRO_ACTIVE | KFI_NYTRO_EASE)) != 0 &&
            !problem(ch, "key-flags", record, "key flags", "0..3", flags))
            return false;
        if (!check_float(ch, record + KFI_NYTRO_TIME_AT, "time", -INFINITY, INFINITY, "") ||
            (time < before && !problem(ch, "time-backwards", record + KFI_NYTRO_TIME_AT, "time",
                                       "not before the key before it", time)))
            return false;
        before = isfinite(time) ? fmax(time, before) : before;
        if ((ch->node->flags & KFI_NYTRO_TCB) && !check_numbers(ch, record))
            return false;
        for (size_t at = values_at; at < size; at += 4)
            if (!check_float(ch, record + at, values[channel], -INFINITY, INFINITY, ""))
                return false;
        if (channel == KFI_NYTRO_ROTATION && !check_rotation(ch, record + values_at))
            return false;
    }
    return true;
}

bool kfi_nytro_check(kf_import_job *in)
{
    kfi_nytro file;
    checker ch = {.job = in->job, .file = &in->files[0]};
    if (!kfi_nytro_decode(in->job, in->files[0].data, in->files[0].size, &file) || !check_chunks(&ch, &file))
        return false;
    for (size_t i = 0; i < file.node_count; i++) {
        const kfi_nytro_node *node = &file.nodes[i];
        ch.node = node;
        if (node->flags != KFI_NYTRO_TCB && node->flags != KFI_NYTRO_BEZIER &&
            node->flags != KFI_NYTRO_LINEAR &&
            !problem(&ch, "node-flags", node->name + strlen(node->name) + 1, "flags", "1, 2 or 4",
                     node->flags))
            return false;
        for (unsigned c = 0; c < 3; c++)
            if (!check_keys(&ch, c))
                return false;
    }
    return true;
}

const kf_format kfi_format_nytro_anim = {
    .abi = KF_ABI,
    .revision = 1,
    .id = "nytro-anim",
    .title = "Nytro engine node animations",
    .extensions = "nanim",
    .capabilities = {.channels = 1u << KF_TRANSLATION | 1u << KF_ROTATION | 1u << KF_SCALE,
                     .interps = 1u << KF_LINEAR | 1u << KF_HERMITE | 1u << KF_TCB,
                     .components_together = true,
                     .quaternion = true,
                     .quat_interps = 1u << KF_LINEAR | 1u << KF_TCB},
    .probe = probe,
    .import_ = kfi_nytro_import,
    .export_ = kfi_nytro_export,
    .check = kfi_nytro_check,
};
