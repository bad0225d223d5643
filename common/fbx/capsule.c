#include "fbx/capsule.h"

#include "reader.h"
#include "writer.h"

#include <string.h>
#include <zlib.h>

static const char MAGIC[] = "KFERRY1\n";

/* Level 1: the originals are mostly floats, which pack badly whatever time is spent on them: level 6 takes 1.5 to 2 times as
 * long and saves a tenth at the most. Z_RLE takes a little over half the time, but makes X4's a sixth larger. */
enum { MAGIC_SIZE = 8, HEADER_SIZE = 16, LEVEL = 1, FILE_MIN = 5 /* an empty name and a size */ };

/* ---------------------------------------------------------------- names */

#ifdef _WIN32
static const bool DRIVES = true;
#else
static const bool DRIVES = false; /* a file may be called a:b */
#endif

/* What is left of a name without folders, and without a drive if there may be one; "" if that is no name of a file. */
static const char *plain_name(const char *name, bool drives)
{
    const char *plain = name ? name : "";
    bool letter = (plain[0] >= 'A' && plain[0] <= 'Z') || (plain[0] >= 'a' && plain[0] <= 'z');
    if (drives && letter && plain[1] == ':') plain += 2;
    for (const char *c = plain; *c; c++)
        if (*c == '/' || *c == '\\') plain = c + 1;
    return strcmp(plain, ".") == 0 || strcmp(plain, "..") == 0 ? "" : plain;
}

/* ---------------------------------------------------------------- digest */

static uLong add_bytes(uLong crc, const void *data, size_t size)
{
    const Bytef *at = data;
    while (size > 0) {
        uInt part = size > 1u << 30 ? 1u << 30 : (uInt)size;
        crc = crc32(crc, at, part);
        at += part;
        size -= part;
    }
    return crc;
}

static uLong add_text(uLong crc, const char *text)
{
    return add_bytes(crc, text, strlen(text) + 1);
}

/* What the digest takes in before a file's bytes, the same on every system. */
static uLong add_name(uLong crc, const kf_file *file)
{
    uint8_t size[8];
    kfi_store_u64(size, file->size);
    return add_bytes(add_text(crc, plain_name(file->name, true)), size, sizeof size);
}

static void put_digest(uLong crc, char digest[KFI_DIGEST_SIZE])
{
    for (int i = 0; i < 8; i++) digest[i] = "0123456789abcdef"[crc >> (28 - 4 * i) & 15];
    digest[8] = '\0';
}

void kfi_capsule_digest(const kfi_capsule *capsule, char digest[KFI_DIGEST_SIZE])
{
    uLong crc = add_text(add_text(crc32(0, Z_NULL, 0), capsule->format), capsule->options);
    for (size_t i = 0; i < capsule->count; i++)
        crc = add_bytes(add_name(crc, &capsule->files[i]), capsule->files[i].data, capsule->files[i].size);
    put_digest(crc, digest);
}

/* ---------------------------------------------------------------- zlib with the job's memory */

static voidpf zlib_alloc(voidpf user, uInt count, uInt size)
{
    return kfi_arena_alloc(user, count, size);
}

/* The whole arena is rolled back instead. */
static void zlib_free(voidpf user, voidpf block)
{
    (void)user;
    (void)block;
}

static bool zlib_failed(kf_job *job, int result)
{
    if (result == Z_MEM_ERROR)
        return kfi_fail(job, job->arena.over_limit ? KF_MEMORY_LIMIT : KF_NO_MEMORY, KF_NO_OFFSET,
                        "not enough memory for zlib");
    return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "capsule: the compressed data is damaged");
}

/* ---------------------------------------------------------------- packing */

/* What comes before the files' bytes. */
static bool write_directory(kf_job *job, const kfi_capsule *capsule, kfi_writer *out)
{
    kfi_writer_init(out, job, 256);
    kfi_write_text(out, capsule->format);
    kfi_write_u32(out, capsule->revision);
    kfi_write_text(out, capsule->options);
    kfi_write_u32(out, (uint32_t)capsule->count);
    for (size_t i = 0; i < capsule->count; i++) {
        const char *name = plain_name(capsule->files[i].name, DRIVES);
        if (name[0] == '\0')
            return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "\"%.100s\" is not the name of a file",
                            capsule->files[i].name ? capsule->files[i].name : "");
        kfi_write_text(out, name);
        kfi_write_u32(out, (uint32_t)capsule->files[i].size);
    }
    return !out->failed;
}

/* The output is known to have room. */
static int compress_part(z_stream *stream, const void *data, size_t size, int flush)
{
    Bytef none = 0;
    stream->next_in = size > 0 ? (z_const Bytef *)data : &none;
    stream->avail_in = (uInt)size;
    return deflate(stream, flush);
}

static bool compress_all(kf_job *job, const kfi_capsule *capsule, const kfi_writer *directory, uint8_t *to,
                         size_t room, size_t *size)
{
    kfi_mark mark = kfi_arena_mark(&job->arena);
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &job->arena};
    int result = deflateInit(&stream, LEVEL);
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    if (result == Z_OK) result = compress_part(&stream, directory->data, directory->size, Z_NO_FLUSH);
    for (size_t i = 0; result == Z_OK && i < capsule->count; i++)
        if (capsule->files[i].size > 0)
            result = compress_part(&stream, capsule->files[i].data, capsule->files[i].size, Z_NO_FLUSH);
    if (result == Z_OK) result = compress_part(&stream, NULL, 0, Z_FINISH);
    *size = room - stream.avail_out;
    kfi_arena_release(&job->arena, mark);
    return result == Z_STREAM_END || zlib_failed(job, result);
}

bool kfi_capsule_pack(kf_job *job, const kfi_capsule *capsule, const uint8_t **data, size_t *size)
{
    kfi_writer directory;
    if (!write_directory(job, capsule, &directory)) return false;
    uint64_t total = directory.size;
    uLong crc = add_bytes(crc32(0, Z_NULL, 0), directory.data, directory.size);
    for (size_t i = 0; i < capsule->count; i++) {
        if (capsule->files[i].size > UINT32_MAX - total) total = UINT32_MAX;
        if (total == UINT32_MAX || capsule->count > UINT32_MAX)
            return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                            "the original files are larger than 4 GiB together");
        total += capsule->files[i].size;
        crc = add_bytes(crc, capsule->files[i].data, capsule->files[i].size);
    }
    uint64_t room = (uint64_t)compressBound((uLong)total) + 64;
    if (room < total || room > UINT32_MAX - HEADER_SIZE)
        return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "the original files are larger than 4 GiB together");
    uint8_t *out = kfi_alloc_raw(job, (size_t)room + HEADER_SIZE, 1);
    size_t packed;
    if (!out || !compress_all(job, capsule, &directory, out + HEADER_SIZE, (size_t)room, &packed))
        return false;
    memcpy(out, MAGIC, MAGIC_SIZE);
    kfi_store_u32(out + 8, (uint32_t)total);
    kfi_store_u32(out + 12, (uint32_t)crc);
    *data = out;
    *size = HEADER_SIZE + packed;
    return true;
}

/* ---------------------------------------------------------------- unpacking */

/* All of it, or just as much as there is room for. */
static bool inflate_into(kf_job *job, const uint8_t *data, size_t size, bool all, uint8_t *to, size_t room)
{
    if (size > UINT32_MAX) return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "capsule: larger than 4 GiB");
    kfi_mark mark = kfi_arena_mark(&job->arena);
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &job->arena};
    stream.next_in = (z_const Bytef *)data;
    stream.avail_in = (uInt)size;
    int result = inflateInit(&stream);
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    if (result == Z_OK) result = inflate(&stream, Z_FINISH);
    bool ended = result == Z_STREAM_END && stream.avail_in == 0;
    bool filled = stream.avail_out == 0 && (ended || (!all && result == Z_BUF_ERROR));
    kfi_arena_release(&job->arena, mark);
    return filled || zlib_failed(job, result);
}

/* What comes before the files' bytes. */
static bool read_directory(kf_job *job, kfi_reader *in, kfi_capsule *capsule)
{
    const char *format = kfi_read_text(in, "format");
    capsule->revision = kfi_read_u32(in, "importer revision");
    const char *options = kfi_read_text(in, "options");
    capsule->format = format ? format : "";
    capsule->options = options ? options : "";
    size_t start = in->at;
    capsule->count = kfi_read_count(in, FILE_MIN, "number of files");
    if (!in->failed && capsule->count == 0) return kfi_read_fail(in, start, "capsule: number of files: expected at least 1, found 0");
    capsule->files = kfi_alloc(job, capsule->count, sizeof *capsule->files);
    if (!capsule->files) return false;
    for (size_t i = 0; i < capsule->count && !in->failed; i++) {
        size_t at = in->at;
        const char *name = kfi_read_text(in, "file name");
        capsule->files[i].size = kfi_read_u32(in, "file size");
        capsule->files[i].name = plain_name(name, DRIVES);
        if (!in->failed && capsule->files[i].name[0] == '\0')
            return kfi_read_fail(in, at, "capsule: \"%.100s\" is not the name of a file", name);
    }
    return !in->failed;
}

static bool read_header(kf_job *job, const uint8_t *bytes, size_t size, uint32_t *total, uint32_t *crc)
{
    *total = *crc = 0;
    if (size < HEADER_SIZE || memcmp(bytes, MAGIC, MAGIC_SIZE) != 0)
        return kfi_fail(job, KF_BAD_INPUT, 0, "capsule: expected it to begin with \"KFERRY1\"");
    *total = kfi_load_u32(bytes + 8);
    *crc = kfi_load_u32(bytes + 12);
    /* Deflate makes at most 1032 bytes of one. */
    return *total / 1032 <= size - HEADER_SIZE ||
           kfi_fail(job, KF_BAD_INPUT, 8, "capsule: %lu bytes cannot come of %zu", (unsigned long)*total,
                    size - HEADER_SIZE);
}

/* What the bytes behind the directory add to the checksum of all. */
static uint32_t contents_of(const kfi_reader *in, uint32_t total, uint32_t whole)
{
    uLong directory = add_bytes(crc32(0, Z_NULL, 0), in->data, in->at);
    uint32_t length = (uint32_t)(total - in->at), half = length / 2; /* z_off_t may have 32 bits */
    directory = crc32_combine(directory, 0, (z_off_t)half);
    return (uint32_t)(whole ^ crc32_combine(directory, 0, (z_off_t)(length - half)));
}

static uint64_t bytes_of(const kf_file *files, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += files[i].size;
    return bytes;
}

bool kfi_capsule_holds(const kfi_capsule *capsule, const kf_file *files, size_t count)
{
    uLong crc = crc32(0, Z_NULL, 0);
    if (bytes_of(capsule->files, capsule->count) != bytes_of(files, count)) return false;
    for (size_t i = 0; i < count; i++) crc = add_bytes(crc, files[i].data, files[i].size);
    return crc == capsule->contents;
}

bool kfi_capsule_alike(const kfi_capsule *a, const kfi_capsule *b)
{
    return a->contents == b->contents && bytes_of(a->files, a->count) == bytes_of(b->files, b->count);
}

bool kfi_capsule_outline(kf_job *job, const kfi_capsule *capsule, kfi_capsule *outline)
{
    *outline = (kfi_capsule){.contents = capsule->contents, .count = capsule->count};
    outline->files = kfi_alloc(job, capsule->count, sizeof *outline->files);
    for (size_t i = 0; outline->files && i < capsule->count; i++) {
        char *name = kfi_strdup(job, capsule->files[i].name);
        if (!name)
            return false;
        outline->files[i] = (kf_file){.name = name, .size = capsule->files[i].size};
    }
    return outline->files != NULL;
}

bool kfi_capsule_probe(const void *data, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(data, MAGIC, MAGIC_SIZE) == 0;
}

bool kfi_capsule_unpack(kf_job *job, const void *data, size_t size, kfi_capsule *capsule)
{
    const uint8_t *bytes = data;
    uint32_t total, crc;
    *capsule = (kfi_capsule){0};
    if (!read_header(job, bytes, size, &total, &crc)) return false;
    uint8_t *unpacked = kfi_alloc_raw(job, total, 1);
    if (!unpacked || !inflate_into(job, bytes + HEADER_SIZE, size - HEADER_SIZE, true, unpacked, total))
        return false;
    if (add_bytes(crc32(0, Z_NULL, 0), unpacked, total) != crc)
        return kfi_fail(job, KF_BAD_INPUT, 12, "capsule: its checksum does not fit");

    kfi_reader in;
    kfi_reader_init(&in, job, unpacked, total);
    if (!read_directory(job, &in, capsule)) return false;
    capsule->contents = contents_of(&in, total, crc);
    for (size_t i = 0; i < capsule->count && !in.failed; i++)
        capsule->files[i].data = kfi_read_bytes(&in, capsule->files[i].size, "file");
    return kfi_read_end(&in);
}

/* No more is unpacked than a directory usually takes. */
static bool peek(kf_job *job, const void *data, size_t size, kfi_reader *in, uint32_t *total, uint32_t *crc, kfi_capsule *capsule)
{
    enum { PEEKED = 4096 };
    const uint8_t *bytes = data;
    *capsule = (kfi_capsule){0};
    if (!read_header(job, bytes, size, total, crc)) return false;
    size_t room = *total < PEEKED ? *total : PEEKED;
    uint8_t *start = kfi_alloc_raw(job, room, 1);
    if (!start || !inflate_into(job, bytes + HEADER_SIZE, size - HEADER_SIZE, *total == room, start, room)) return false;
    kfi_reader_init(in, job, start, room);
    if (!read_directory(job, in, capsule)) return false;
    capsule->contents = contents_of(in, *total, *crc);
    return true;
}

bool kfi_capsule_peek(kf_job *job, const void *data, size_t size, kfi_capsule *capsule)
{
    kfi_reader in;
    uint32_t total, crc;
    return peek(job, data, size, &in, &total, &crc, capsule);
}

/* What one file's bytes add to a checksum follows from the checksum of all: only the directory has to be unpacked. */
bool kfi_capsule_digest_packed(kf_job *job, const void *data, size_t size, char digest[KFI_DIGEST_SIZE])
{
    uint32_t total, whole;
    kfi_capsule capsule;
    kfi_reader in;
    if (!peek(job, data, size, &in, &total, &whole, &capsule) || capsule.count != 1 ||
        capsule.files[0].size != total - in.at || capsule.files[0].size > INT32_MAX) /* z_off_t may have 32 bits */
        return false;
    z_off_t length = (z_off_t)capsule.files[0].size;
    uLong named = add_name(add_text(add_text(crc32(0, Z_NULL, 0), capsule.format), capsule.options), capsule.files);
    put_digest(crc32_combine(named, capsule.contents, length), digest);
    return true;
}

/* ---------------------------------------------------------------- base64 */

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool kfi_base64_encode(kf_job *job, const void *data, size_t size, const char **text, size_t *length)
{
    if (size > SIZE_MAX / 4 * 3 - 8)
        return kfi_fail(job, KF_MEMORY_LIMIT, KF_NO_OFFSET, "too large for base64");
    size_t groups = size / 3 + (size % 3 != 0);
    char *out = kfi_alloc_raw(job, groups * 4 + 1, 1);
    if (!out) return false;
    *text = out;
    *length = groups * 4;
    const uint8_t *in = data;
    for (; size >= 3; size -= 3, in += 3, out += 4) {
        uint32_t word = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        out[0] = ALPHABET[word >> 18];
        out[1] = ALPHABET[word >> 12 & 63];
        out[2] = ALPHABET[word >> 6 & 63];
        out[3] = ALPHABET[word & 63];
    }
    if (size > 0) {
        uint32_t word = (uint32_t)in[0] << 16 | (size > 1 ? (uint32_t)in[1] << 8 : 0);
        out[0] = ALPHABET[word >> 18];
        out[1] = ALPHABET[word >> 12 & 63];
        out[2] = size > 1 ? ALPHABET[word >> 6 & 63] : '=';
        out[3] = '=';
        out += 4;
    }
    *out = '\0';
    return true;
}

enum { PAD = 64, SPACE = 65, BAD = 66 };

static void make_table(uint8_t table[256])
{
    memset(table, BAD, 256);
    for (uint8_t i = 0; i < 64; i++) table[(uint8_t)ALPHABET[i]] = i;
    for (const char *c = " \t\r\n\f\v"; *c; c++) table[(uint8_t)*c] = SPACE;
    table['='] = PAD;
}

/* The last group may end with one or two '=', and its unused bits are 0. */
bool kfi_base64_decode(kf_job *job, const char *text, size_t length, const uint8_t **data, size_t *size)
{
    uint8_t table[256];
    make_table(table);
    uint8_t *out = kfi_alloc_raw(job, length / 4 + 1, 3);
    if (!out) return false;
    *data = out;
    uint32_t word = 0;
    unsigned have = 0, pads = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t value = table[(uint8_t)text[i]];
        if (value == SPACE) continue;
        if (value == BAD || (pads > 0 && value != PAD) || (value == PAD && (have < 2 || pads == 2)))
            return kfi_fail(job, KF_BAD_INPUT, i, "base64: the byte 0x%02x is out of place",
                            (uint8_t)text[i]);
        pads += value == PAD;
        word = word << 6 | (value & 63);
        if (++have < 4) continue;
        if (pads > 0 && (word & (pads == 1 ? 0xffu : 0xffffu)) != 0)
            return kfi_fail(job, KF_BAD_INPUT, i, "base64: bits are left over at its end");
        out[0] = (uint8_t)(word >> 16);
        out[1] = (uint8_t)(word >> 8);
        out[2] = (uint8_t)word;
        out += 3 - pads;
        if (pads > 0) pads = 2; /* nothing may follow */
        have = 0;
        word = 0;
    }
    if (have > 0) return kfi_fail(job, KF_BAD_INPUT, length, "base64: ends in the middle of a group");
    *size = (size_t)(out - *data);
    return true;
}
