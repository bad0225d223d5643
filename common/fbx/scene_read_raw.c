/* The key arrays of a binary FBX, straight from the file's bytes.
 *
 * ufbx turns every key into one of its own, which costs more than all the rest and loses what is wanted here.
 * So it is asked to leave the keys alone, and they are taken from where they stand:
 *
 *   header   21 bytes "Kaydara FBX Binary  " with NUL, 0x1a, 0 (little endian), u32 version
 *   record   end offset, number of values, bytes of values (u32 each, from 7500 on u64), u8 length of name, name,
 *            values, child records; the list of children ends with a record of zeros
 *   value    a letter and what it says: L i64; arrays i, l, f, d: u32 items, u32 encoding (0 plain, 1 zlib), u32 bytes
 *   curve    Objects / AnimationCurve: first value its id, L; children KeyTime l, KeyValueFloat f, KeyAttrFlags i,
 *            KeyAttrDataFloat f, KeyAttrRefCount i
 *
 * This looks only at what is usual. Whenever a byte is not as expected, the whole file is left to ufbx, which
 * knows all dialects and judges what is broken. */
#include "fbx/scene_read.h"

#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 27, WIDE_VERSION = 7500 };

static const struct {
    const char *name;
    char type;
    uint8_t size; /* of an item */
} KINDS[KFI_FBX_ARRAYS] = {
    {"KeyTime", 'l', 8},          {"KeyValueFloat", 'f', 4},   {"KeyAttrFlags", 'i', 4},
    {"KeyAttrDataFloat", 'f', 4}, {"KeyAttrRefCount", 'i', 4},
};

/* ---------------------------------------------------------------- records */

typedef struct record {
    const uint8_t *name, *values, *children, *end;
    size_t name_size, value_count;
} record;

typedef struct walk {
    const uint8_t *data, *end;
    bool wide; /* 64-bit records */
} walk;

/* The record at `at`, which must end by `limit`. False if it is none; a record of zeros has end == NULL. */
static bool read_record(const walk *in, const uint8_t *at, const uint8_t *limit, record *to)
{
    size_t word = in->wide ? 8 : 4;
    if ((size_t)(limit - at) < 3 * word + 1) return false;
    uint64_t end = in->wide ? kfi_load_u64(at) : kfi_load_u32(at);
    uint64_t count = in->wide ? kfi_load_u64(at + word) : kfi_load_u32(at + word);
    uint64_t bytes = in->wide ? kfi_load_u64(at + 2 * word) : kfi_load_u32(at + 2 * word);
    size_t name_size = at[3 * word];
    const uint8_t *name = at + 3 * word + 1;
    if (end == 0) {
        *to = (record){.children = name};
        return name_size == 0;
    }
    if (end > (uint64_t)(limit - in->data) || in->data + end <= name) return false;
    *to = (record){.name = name, .name_size = name_size, .end = in->data + end};
    if ((size_t)(to->end - name) < name_size) return false;
    to->values = name + name_size;
    if ((size_t)(to->end - to->values) < bytes || count > bytes) return false;
    to->children = to->values + bytes;
    to->value_count = (size_t)count;
    return true;
}

static bool named(const record *in, const char *name)
{
    return in->name_size == strlen(name) && memcmp(in->name, name, in->name_size) == 0;
}

/* The array that is the record's only value. */
static bool read_array(const record *in, size_t kind, kfi_fbx_array *to)
{
    const uint8_t *value = in->values;
    size_t room = (size_t)(in->children - value);
    if (in->value_count != 1 || room < 13 || value[0] != (uint8_t)KINDS[kind].type || to->data) return false;
    *to = (kfi_fbx_array){
        .data = value + 13, .count = kfi_load_u32(value + 1), .size = kfi_load_u32(value + 9)};
    uint32_t encoding = kfi_load_u32(value + 5);
    to->packed = encoding == 1;
    return encoding <= 1 && to->size == room - 13 &&
           (to->packed || (uint64_t)to->size == (uint64_t)to->count * KINDS[kind].size);
}

/* All five arrays of a curve, each once. */
static bool read_curve(const walk *in, const record *curve, kfi_fbx_raw *to)
{
    if (curve->value_count < 1 || curve->children - curve->values < 9 || curve->values[0] != 'L')
        return false;
    uint64_t id = kfi_load_u64(curve->values + 1);
    *to = (kfi_fbx_raw){.id = id};
    for (const uint8_t *at = curve->children; at < curve->end;) {
        record child;
        if (!read_record(in, at, curve->end, &child)) return false;
        if (!child.end) break;
        for (size_t kind = 0; kind < KFI_FBX_ARRAYS; kind++)
            if (named(&child, KINDS[kind].name) && !read_array(&child, kind, &to->arrays[kind])) return false;
        at = child.end;
    }
    for (size_t kind = 0; kind < KFI_FBX_ARRAYS; kind++)
        if (!to->arrays[kind].data) return false;
    return true;
}

/* ---------------------------------------------------------------- the index */

static int by_id(const void *left, const void *right)
{
    const kfi_fbx_raw *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Counts the curves of the file, and lists them if there is a list. False if something is not as usual. */
static bool list_curves(const walk *in, kfi_fbx_raw *list, size_t *count)
{
    *count = 0;
    for (const uint8_t *at = in->data + HEADER_SIZE;;) {
        record top, object;
        if (!read_record(in, at, in->end, &top)) return false;
        if (!top.end) return true;
        at = top.end;
        if (!named(&top, "Objects")) continue;
        for (const uint8_t *o = top.children; o < top.end; o = object.end) {
            if (!read_record(in, o, top.end, &object)) return false;
            if (!object.end) break;
            if (!named(&object, "AnimationCurve")) continue;
            kfi_fbx_raw unlisted;
            if (!read_curve(in, &object, list ? &list[*count] : &unlisted)) return false;
            (*count)++;
        }
    }
}

bool kfi_fbx_index(kfi_fbx_reader *in, const kf_file *file)
{
    const uint8_t *data = file->data;
    if (file->size < HEADER_SIZE || data[0] != 'K' || data[21] != 0x1a || data[22] != 0)
        return true;
    uint32_t version = kfi_load_u32(data + 23);
    walk bytes = {data, data + file->size, version >= WIDE_VERSION};
    size_t count;
    if (version < 7000 || version >= 10000 || !list_curves(&bytes, NULL, &count) || count == 0) return true;
    kfi_fbx_raw *list = kfi_alloc_raw(in->job, count, sizeof *list);
    if (!list) return false;
    list_curves(&bytes, list, &count);
    qsort(list, count, sizeof *list, by_id);
    in->raw = list;
    in->raw_count = count;
    in->bytes = data;
    return true;
}

const kfi_fbx_raw *kfi_fbx_find_raw(const kfi_fbx_reader *in, uint64_t id)
{
    kfi_fbx_raw wanted = {.id = id};
    return in->raw_count == 0 ? NULL : bsearch(&wanted, in->raw, in->raw_count, sizeof wanted, by_id);
}

/* ---------------------------------------------------------------- unpacking */

static uint64_t offset_of(const kfi_fbx_reader *in, const kfi_fbx_array *array)
{
    return (uint64_t)(array->data - in->bytes);
}

static bool same_bytes(const kfi_fbx_array *a, const kfi_fbx_array *b)
{
    return a->data && a->count == b->count && a->size == b->size && a->packed == b->packed &&
           (a->data == b->data || memcmp(a->data, b->data, a->size) == 0);
}

/* Items stand little endian in the file; where this machine's do not, they are turned. */
static void to_this_machine(void *items, size_t count, size_t item_size)
{
    const uint16_t probe = 1;
    uint8_t low, *item = items;
    memcpy(&low, &probe, 1);
    for (size_t i = 0; low == 0 && i < count; i++, item += item_size)
        for (size_t k = 0; k < item_size / 2; k++) { /* GCOVR_EXCL_START: tests/exotic/s390x.sh */
            uint8_t kept = item[k];
            item[k] = item[item_size - 1 - k];
            item[item_size - 1 - k] = kept;
        } /* GCOVR_EXCL_STOP */
}

/* Many curves have the same times and attributes: what was unpacked last is kept for the next. */
static bool unpack(kfi_fbx_reader *in, const kfi_fbx_array *array, size_t kind, const kfi_fbx_place *place)
{
    kfi_fbx_unpacked *to = &in->unpacked[kind];
    if (same_bytes(&to->of, array)) return true;
    to->of = (kfi_fbx_array){0};
    uint64_t size = (uint64_t)array->count * KINDS[kind].size;
    /* Deflate makes at most 1032 bytes of one. */
    if (size / 1032 > array->size)
        return kfi_fail(in->job, KF_BAD_INPUT, offset_of(in, array),
                        KFI_FBX_AT ": %s: %lu items cannot come of %lu bytes", KFI_FBX_PLACE(place),
                        KINDS[kind].name, (unsigned long)array->count, (unsigned long)array->size);
    if (!kfi_fbx_reserve(in, to, size)) return false;
    if (!array->packed) {
        if (size > 0) memcpy(to->data, array->data, (size_t)size);
    } else {
        ufbx_inflate_input input = {.total_size = array->size, .data = array->data, .data_size = array->size};
        if (ufbx_inflate(to->data, (size_t)size, &input, &in->inflate) != (ptrdiff_t)size)
            return kfi_fail(in->job, KF_BAD_INPUT, offset_of(in, array),
                            KFI_FBX_AT ": %s: the compressed data is damaged or has not %lu items",
                            KFI_FBX_PLACE(place), KINDS[kind].name, (unsigned long)array->count);
    }
    to_this_machine(to->data, array->count, KINDS[kind].size);
    to->of = *array;
    return true;
}

bool kfi_fbx_unpack_raw(kfi_fbx_reader *in, const kfi_fbx_raw *raw, const kfi_fbx_place *place)
{
    for (size_t kind = 0; kind < KFI_FBX_ARRAYS; kind++)
        if (!unpack(in, &raw->arrays[kind], kind, place)) return false;
    return true;
}
