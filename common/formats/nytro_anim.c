/* Nytro node animation, little endian, a chain of chunks:
 *
 *   u32 id, u32 version (1), u32 size of the payload, u32 position of the next chunk, payload
 *   or, the short form: u32 id, u32 size of the payload, payload
 *
 *   chunk 1   u32 flags (0), text name, text author, u16 nodes
 *   chunk 2   for each node: text name, u32 flags (TCB 1, BEZIER 2, LINEAR 4),
 *                            u32 translation keys, u32 rotation keys, u32 scale keys,
 *                            then those keys, each u32 flags, f32 time,
 *                                [TCB nodes: f32 tension, continuity, bias, ease in, ease out,]
 *                                f32 x, y, z   or, for rotations, f32 degrees, axis x, y, z
 *   others    unknown, kept
 *
 * Texts end with a NUL. The last chunk's "next" is the size of the file, 0 or 0xffffffff. */
#include "formats/nytro_anim.h"

enum { NODE_MINIMUM = 1 + 4 + 3 * 4 };

/* The header of one chunk, its payload and what follows it. Leaves `in` at the next chunk; false at the end.
 */
static bool read_chunk(kfi_reader *in, bool short_header, kfi_nytro_chunk *chunk)
{
    *chunk = (kfi_nytro_chunk){0};
    chunk->id = kfi_read_u32(in, "chunkID");
    if (!short_header)
        chunk->version = kfi_read_u32(in, "chunkVersion");
    chunk->size = kfi_read_count(in, 1, "chunkSize");
    size_t next_at = in->at;
    if (!short_header)
        chunk->next = kfi_read_u32(in, "nextChunkPos");
    chunk->payload = kfi_read_bytes(in, chunk->size, "chunk");
    if (in->failed)
        return false;
    size_t end = in->at, next = chunk->next;
    if (short_header)
        next = end;
    else if (next == 0 || next == UINT32_MAX)
        next = in->size;
    else if (next < end || next > in->size)
        return kfi_read_fail(in, next_at, "nextChunkPos: expected a position from %zu to %zu, found %zu", end,
                             in->size, next);
    chunk->last = next == in->size;
    chunk->gap_size = next - end;
    chunk->gap = kfi_read_bytes(in, chunk->gap_size, "bytes between chunks");
    return true;
}

static bool read_header(kfi_reader *in, kfi_nytro *anim)
{
    anim->flags = kfi_read_u32(in, "flags");
    anim->name = kfi_read_text(in, "anim_name");
    anim->author = kfi_read_text(in, "anim_author");
    anim->node_count = kfi_read_u16(in, "nodeCount");
    anim->header_rest_size = kfi_read_left(in);
    anim->header_rest = kfi_read_bytes(in, anim->header_rest_size, "rest of chunk 1");
    return !in->failed;
}

static bool read_node(kfi_reader *in, kfi_nytro_node *node)
{
    static const char *const counts[3] = {"translationKeyCount", "rotationKeyCount", "scaleKeyCount"};
    static const char *const keys[3] = {"translation keys", "rotation keys", "scale keys"};
    node->name = kfi_read_text(in, "nodeName");
    node->flags = kfi_read_u32(in, "node flags");
    for (unsigned c = 0; c < 3; c++)
        node->count[c] =
            (uint32_t)kfi_read_count(in, kfi_nytro_record_size(node->flags, (kfi_nytro_channel)c), counts[c]);
    for (unsigned c = 0; c < 3; c++)
        node->records[c] = kfi_read_records(
            in, node->count[c], kfi_nytro_record_size(node->flags, (kfi_nytro_channel)c), keys[c]);
    return !in->failed;
}

/* `anim->nodes` may be NULL: then the nodes are only looked at. */
static bool read_nodes(kfi_reader *in, size_t nodes_at, kfi_nytro *anim)
{
    if (anim->node_count > kfi_read_left(in) / NODE_MINIMUM)
        return kfi_read_fail(in, nodes_at,
                             "nodeCount: %zu nodes of at least %d bytes do not fit into the %zu bytes of "
                             "chunk 2",
                             anim->node_count, (int)NODE_MINIMUM, kfi_read_left(in));
    for (size_t i = 0; i < anim->node_count; i++) {
        kfi_nytro_node node;
        if (!read_node(in, &node))
            return false;
        if (anim->nodes)
            anim->nodes[i] = node;
    }
    anim->animation_rest_size = kfi_read_left(in);
    anim->animation_rest = kfi_read_bytes(in, anim->animation_rest_size, "rest of chunk 2");
    return !in->failed;
}

/* A reader of one chunk's payload, with offsets of the file. */
static kfi_reader payload_reader(const kfi_reader *file, const kfi_nytro_chunk *chunk)
{
    kfi_reader in = *file;
    in.at = (size_t)(chunk->payload - file->data);
    in.size = in.at + chunk->size;
    return in;
}

static bool found_twice(kfi_reader *in, const kfi_nytro_chunk *first, const kfi_nytro_chunk *second)
{
    return first->payload &&
           kfi_read_fail(in, (size_t)(second->payload - in->data),
                         "chunkID: expected one chunk %lu, found a second one", (unsigned long)second->id);
}

/* Reads everything. Without arrays in `anim` it only counts and judges. */
static bool read_file(kf_job *job, const uint8_t *data, size_t size, kfi_nytro *anim)
{
    kfi_nytro_chunk chunk, known[2] = {{0}, {0}};
    kfi_reader in;
    kfi_reader_init(&in, job, data, size);
    anim->size = size;
    size_t count = 0;
    while (!in.failed && (count == 0 || in.at < size)) {
        if (!read_chunk(&in, anim->short_header, &chunk))
            return false;
        if (chunk.id == KFI_NYTRO_HEADER || chunk.id == KFI_NYTRO_ANIMATION) {
            if (found_twice(&in, &known[chunk.id - 1], &chunk))
                return false;
            known[chunk.id - 1] = chunk;
        }
        if (anim->chunks)
            anim->chunks[count] = chunk;
        count++;
    }
    anim->chunk_count = count;
    for (unsigned i = 0; i < 2; i++)
        if (!known[i].payload)
            return kfi_read_fail(
                &in, size, "chunkID: expected a chunk %u before the end of the file, found none", i + 1);
    kfi_reader header = payload_reader(&in, &known[0]), nodes = payload_reader(&in, &known[1]);
    return read_header(&header, anim) &&
           read_nodes(&nodes, (size_t)(known[0].payload - data) + known[0].size - anim->header_rest_size - 2,
                      anim);
}

/* Which of the two headers the file has. Neither fits: the error of the one that fitted further. */
static bool judge(const uint8_t *data, size_t size, kfi_nytro *anim, kf_error *error)
{
    kf_error errors[2];
    for (unsigned i = 0; i < 2; i++) {
        kf_job scratch = {0}; /* only to hold the error: nothing is allocated */
        *anim = (kfi_nytro){.short_header = i == 1};
        if (read_file(&scratch, data, size, anim))
            return true;
        errors[i] = scratch.error;
    }
    *error = errors[errors[1].offset > errors[0].offset];
    return false;
}

int kfi_nytro_fits(const uint8_t *data, size_t size)
{
    kfi_nytro anim;
    kf_error error;
    return !judge(data, size, &anim, &error) ? 0 : anim.short_header ? 1 : 2;
}

bool kfi_nytro_decode(kf_job *job, const uint8_t *data, size_t size, kfi_nytro *anim)
{
    kf_error error;
    if (!judge(data, size, anim, &error))
        return kfi_fail(job, error.code, error.offset, "%s", error.message);
    anim->chunks = kfi_alloc(job, anim->chunk_count, sizeof *anim->chunks);
    anim->nodes = kfi_alloc(job, anim->node_count, sizeof *anim->nodes);
    return anim->chunks && anim->nodes && read_file(job, data, size, anim);
}

/* ---------------------------------------------------------------- writing */

static void write_header(const kfi_nytro *anim, kfi_writer *out)
{
    kfi_write_u32(out, anim->flags);
    kfi_write_text(out, anim->name);
    kfi_write_text(out, anim->author);
    kfi_write_u16(out, (uint16_t)anim->node_count);
    kfi_write_bytes(out, anim->header_rest, anim->header_rest_size);
}

static void write_nodes(const kfi_nytro *anim, kfi_writer *out)
{
    for (size_t i = 0; i < anim->node_count; i++) {
        const kfi_nytro_node *node = &anim->nodes[i];
        kfi_write_text(out, node->name);
        kfi_write_u32(out, node->flags);
        for (unsigned c = 0; c < 3; c++)
            kfi_write_u32(out, node->count[c]);
        for (unsigned c = 0; c < 3; c++)
            kfi_write_bytes(out, node->records[c],
                            node->count[c] * kfi_nytro_record_size(node->flags, (kfi_nytro_channel)c));
    }
    kfi_write_bytes(out, anim->animation_rest, anim->animation_rest_size);
}

static uint32_t next_of(const kfi_nytro_chunk *chunk, size_t position)
{
    return chunk->last && (chunk->next == 0 || chunk->next == UINT32_MAX) ? chunk->next : (uint32_t)position;
}

bool kfi_nytro_encode(const kfi_nytro *anim, kfi_writer *out)
{
    if (anim->node_count > UINT16_MAX)
        return kfi_fail(out->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "%zu nodes are more than the 65535 a file can count", anim->node_count);
    for (size_t i = 0; i < anim->chunk_count; i++) {
        const kfi_nytro_chunk *chunk = &anim->chunks[i];
        size_t start = out->size, header = anim->short_header ? 8 : 16;
        kfi_write_u32(out, chunk->id);
        if (!anim->short_header)
            kfi_write_u32(out, chunk->version);
        kfi_write_u32(out, 0);
        if (!anim->short_header)
            kfi_write_u32(out, 0);
        if (chunk->id == KFI_NYTRO_HEADER)
            write_header(anim, out);
        else if (chunk->id == KFI_NYTRO_ANIMATION)
            write_nodes(anim, out);
        else
            kfi_write_bytes(out, chunk->payload, chunk->size);
        size_t end = out->size;
        kfi_write_bytes(out, chunk->gap, chunk->gap_size);
        if (out->failed)
            return false;
        /* Positions are 32 bits, and the largest number means the end. */
        if (out->size >= UINT32_MAX)
            return kfi_fail(out->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "the file would be larger than 4 GiB");
        kfi_store_u32(out->data + start + header - (anim->short_header ? 4 : 8),
                      (uint32_t)(end - start - header));
        if (!anim->short_header)
            kfi_store_u32(out->data + start + 12, next_of(chunk, out->size));
    }
    return !out->failed;
}
