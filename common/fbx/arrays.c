#include "fbx/arrays.h"

#include "fbx/tree_parts.h"
#include "fbx/words.h"
#include "writer.h"

#include <zlib.h>

enum {
    STORED_BELOW = 128,        /* bytes: arrays smaller than this are not packed */
    CACHED_UP_TO = 256 * 1024, /* bytes of an array that is worth remembering */
    STORE_SIZE = 1024 * 1024,  /* of all that is remembered */
    STORE_ITEMS = 512,
    COMPARED = 4,           /* arrays at the most that look alike */
    TRIED_BYTES = 64 * 1024 /* of a large array, to see whether it can be packed at all */
};

/* An array that was packed, in the store: its bytes, and behind them the packed ones (none: it is better
 * left). */
typedef struct packed_item {
    uint64_t hash;
    size_t at, size, packed_size;
} packed_item;

struct kfi_packer {
    z_stream stream;
    kfi_word_codes codes;
    uint8_t *store;
    size_t store_used;
    packed_item items[STORE_ITEMS];
    size_t item_count;
};

static voidpf zlib_alloc(voidpf job, uInt items, uInt size)
{
    return kfi_alloc_raw(job, items, size);
}

static void zlib_free(voidpf job, voidpf block)
{
    (void)job;
    (void)block; /* goes with the job */
}

kfi_packer *kfi_packer_new(kf_job *job)
{
    kfi_packer *packer = kfi_alloc(job, 1, sizeof *packer);
    if (!packer)
        return NULL;
    packer->stream = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = job};
    packer->store = kfi_alloc_raw(job, STORE_SIZE, 1);
    if (!packer->store || deflateInit(&packer->stream, 1) != Z_OK) {
        kfi_fail(job, KF_NO_MEMORY, KF_NO_OFFSET, "out of memory");
        return NULL;
    }
    return packer;
}

/* Made when they are asked for: files of few keys never do. */
static const kfi_word_codes *codes_of(kfi_packer *packer)
{
    if (packer->codes.header_bits == 0)
        kfi_word_codes_init(&packer->codes);
    return &packer->codes;
}

/* ---------------------------------------------------------------- bytes */

/* Of a few samples: what matters is that it is quick, equal arrays are compared anyway. */
static uint64_t hash_samples(const uint8_t *data, size_t size)
{
    enum { SAMPLES = 16 };
    uint64_t hash = size * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < SAMPLES; i++) {
        uint64_t sample;
        memcpy(&sample, data + (size - sizeof sample) / (SAMPLES - 1) * i, sizeof sample);
        hash = (hash ^ sample) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The packed size, or 0 if it would not save a twentieth. `room` is at least the size. */
static size_t pack(z_stream *stream, const uint8_t *data, size_t size, uint8_t *out)
{
    size_t limit = size - size / 20;
    deflateReset(stream);
    stream->next_in = (z_const Bytef *)data;
    stream->avail_in = (uInt)size;
    stream->next_out = out;
    stream->avail_out = (uInt)limit;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? limit - stream->avail_out : 0;
}

/* Arrays of words by the quick way, if that is worthwhile. */
static size_t pack_words(kfi_packer *packer, const uint8_t *data, size_t count, uint8_t *out)
{
    kfi_words words;
    kfi_words_init(&words, codes_of(packer), data, count);
    size_t size = kfi_words_put(&words, out, 4 * count);
    return words.ended ? size : 0;
}

/* The array as packed now or before. */
static const packed_item *find_or_pack(kfi_packer *packer, const uint8_t *data, size_t size, bool words)
{
    uint64_t hash = hash_samples(data, size);
    int tries = 0;
    for (size_t i = 0; i < packer->item_count && tries < COMPARED; i++) {
        const packed_item *item = &packer->items[i];
        if (item->hash != hash || item->size != size)
            continue;
        if (memcmp(packer->store + item->at, data, size) == 0)
            return item;
        tries++;
    }
    if (packer->item_count == STORE_ITEMS || STORE_SIZE - packer->store_used < 2 * size) {
        packer->item_count = 0; /* full: forget everything */
        packer->store_used = 0;
    }
    packed_item *item = &packer->items[packer->item_count++];
    *item = (packed_item){.hash = hash, .at = packer->store_used, .size = size};
    uint8_t *out = packer->store + item->at + size;
    memcpy(packer->store + item->at, data, size);
    if (words && kfi_words_worthwhile(data, size / 4))
        item->packed_size = pack_words(packer, data, size / 4, out);
    if (item->packed_size == 0)
        item->packed_size = pack(&packer->stream, data, size, out);
    packer->store_used += size + item->packed_size;
    return item;
}

/* ---------------------------------------------------------------- into the file */

/* Returns where the header's last field, the stored size, stands. */
static uint64_t put_header(kfi_tree *tree, char type, size_t count, bool packed, size_t size)
{
    uint8_t *room = kfi_tree_room(tree, 13);
    room[0] = (uint8_t)type;
    kfi_store_u32(room + 1, (uint32_t)count);
    kfi_store_u32(room + 5, packed);
    kfi_store_u32(room + 9, (uint32_t)size);
    tree->used += 13;
    return kfi_tree_at(tree) - 4;
}

/* The size, once it is known. */
static void patch_size(kfi_tree *tree, uint64_t field)
{
    uint8_t bytes[4];
    uint64_t size = kfi_tree_at(tree) - field - 4;
    kfi_store_u32(bytes, (uint32_t)size);
    kfi_tree_patch(tree, field, bytes, sizeof bytes);
}

static void put_raw(kfi_tree *tree, char type, const uint8_t *data, size_t count, size_t size)
{
    put_header(tree, type, count, false, size);
    kfi_tree_bytes(tree, data, size);
}

static void put_words(kfi_tree *tree, char type, const uint8_t *data, size_t count)
{
    uint64_t field = put_header(tree, type, count, true, 0);
    kfi_words words;
    kfi_words_init(&words, codes_of(tree->packer), data, count);
    while (!words.ended) {
        uint8_t *room = kfi_tree_room(tree, KFI_WORDS_ROOM);
        tree->used += kfi_words_put(&words, room, KFI_TREE_BUFFER - tree->used);
    }
    patch_size(tree, field);
}

/* Straight into the file, without a memory of it. */
static void put_deflated(kfi_tree *tree, char type, const uint8_t *data, size_t count, size_t size)
{
    z_stream *stream = &tree->packer->stream;
    uint64_t field = put_header(tree, type, count, true, 0);
    deflateReset(stream);
    stream->next_in = (z_const Bytef *)data;
    stream->avail_in = (uInt)size;
    int state;
    do {
        stream->next_out = kfi_tree_room(tree, KFI_WORDS_ROOM);
        size_t room = KFI_TREE_BUFFER - tree->used;
        stream->avail_out = (uInt)room;
        state = deflate(stream, Z_FINISH);
        tree->used += room - stream->avail_out;
    } while (state == Z_OK || state == Z_BUF_ERROR);
    patch_size(tree, field);
}

static void put_packed(kfi_tree *tree, char type, const uint8_t *data, size_t count, size_t size)
{
    kfi_packer *packer = tree->packer;
    if (size <= CACHED_UP_TO) {
        const packed_item *item = find_or_pack(packer, data, size, type == 'i');
        if (item->packed_size == 0) {
            put_raw(tree, type, data, count, size);
        } else {
            put_header(tree, type, count, true, item->packed_size);
            kfi_tree_bytes(tree, packer->store + item->at + size, item->packed_size);
        }
        return;
    }
    if (find_or_pack(packer, data, TRIED_BYTES, false)->packed_size == 0)
        put_raw(tree, type, data, count, size);
    else
        put_deflated(tree, type, data, count, size);
}

static void put_array(kfi_tree *tree, char type, const uint8_t *data, size_t count, size_t item_size)
{
    size_t size = count * item_size;
    if (size >= STORED_BELOW && type != 'f')
        put_packed(tree, type, data, count, size);
    else if (size >= STORED_BELOW && kfi_words_worthwhile(data, count))
        put_words(tree, type, data, count);
    else /* short, or 32-bit values, which otherwise hardly ever pack better than to nine tenths */
        put_raw(tree, type, data, count, size);
}

static bool is_little_endian(void)
{
    static const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

void kfi_binary_array(kfi_tree *tree, char type, const void *values, size_t count, size_t item_size)
{
    if (count > UINT32_MAX / item_size) {
        kfi_tree_fail(tree, KF_INEXPRESSIBLE, "an array of more than 4 GiB does not fit into an FBX");
        return;
    }
    if (is_little_endian() || item_size == 1) {
        put_array(tree, type, values, count, item_size);
        return;
    }
    /* GCOVR_EXCL_START: for machines whose numbers stand the other way round, tests/exotic/s390x.sh.
     * Arrays stand little endian in the file. The sink may take memory from the job while this copy lives. */
    size_t size = count * item_size;
    kf_allocator *allocator = &tree->job->arena.allocator;
    uint8_t *swapped = size > 0 ? allocator->resize(allocator->user, NULL, 0, size) : tree->buffer;
    const uint8_t *from = values;
    if (!swapped) {
        kfi_tree_fail(tree, KF_NO_MEMORY, "out of memory");
        return;
    }
    for (size_t i = 0; i < size; i++)
        swapped[i] = from[i / item_size * item_size + item_size - 1 - i % item_size];
    put_array(tree, type, swapped, count, item_size);
    if (size > 0)
        allocator->resize(allocator->user, swapped, size, 0);
    /* GCOVR_EXCL_STOP */
}
