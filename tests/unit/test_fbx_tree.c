/* The FBX tree writer: bytes against bytes written down by hand, and whole trees against a parser of our own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fbx/tree.h"
#include "fbx/words.h"
#include "helper_memory.h"
#include "reader.h"
#include "writer.h"

static kf_job job;
static memory_sink memory;
static kf_sink sink;

static int set_up(void **state)
{
    (void)state;
    memory_job_begin(&job);
    sink = memory_sink_of(&memory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_job_end(&job);
    memory_sink_free(&memory);
    return 0;
}

static uint32_t random_state;
static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 16 | random_state << 16;
}

/* ---------------------------------------------------------------- exact bytes */

static void write_small(kfi_tree *tree)
{
    kfi_tree_begin(tree, "Top");
    kfi_tree_i32(tree, -2);
    kfi_tree_name(tree, "Model", "a\"b");
    kfi_tree_begin(tree, "None");
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "Empty");
    kfi_tree_braces(tree);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "A");
    kfi_tree_f32_array(tree, (const float[]){1.5f, -0.0f}, 2);
    kfi_tree_end(tree);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "V");
    kfi_tree_i16(tree, 258);
    kfi_tree_char(tree, 'K');
    kfi_tree_f32(tree, 0.5f);
    kfi_tree_f64(tree, 0.1);
    kfi_tree_i64(tree, 46186158000);
    kfi_tree_string(tree, "x\ny", 3);
    kfi_tree_end(tree);
}

static const char END_MAGIC[] = "\xf8\x5a\x8c\x6a\xde\xf5\xd9\x7e\xec\xe9\x0c\xe3\x75\x8f\x29\x0b";
static const char ID[] = "\xfa\xbc\xab\x09\xd0\xc8\xd4\x66\xb1\x76\xfb\x83\x1c\xf7\x26\x7e";

static void test_binary_bytes(void **state)
{
    (void)state;
    static const uint32_t versions[] = {7400, 7500};
    for (int v = 0; v < 2; v++) {
        size_t wide = v ? 8 : 4;
        sink = memory_sink_of(&memory);
        kfi_tree *tree = kfi_tree_new(&job, &sink, versions[v], false);
        assert_non_null(tree);
        write_small(tree);
        assert_true(kfi_tree_finish(tree));

        /* By hand: each node's end, number of values and their bytes, then name and values. */
        kfi_writer by_hand;
        kfi_writer_init(&by_hand, &job, 0);
        kfi_write_bytes(&by_hand, "Kaydara FBX Binary  \0\x1a\0", 23);
        kfi_write_u32(&by_hand, versions[v]);
#define SIZES(end, values, bytes)                                                                            \
    do {                                                                                                     \
        const size_t fields[3] = {end, values, bytes};                                                       \
        for (int f = 0; f < 3; f++) {                                                                        \
            kfi_write_u32(&by_hand, (uint32_t)fields[f]);                                                    \
            if (wide == 8)                                                                                   \
                kfi_write_u32(&by_hand, 0);                                                                  \
        }                                                                                                    \
    } while (0)
        size_t record = 3 * wide + 1, zeros = record;
        size_t top = 27, none = top + record + 3 + 5 + 5 + 10, empty = none + record + 4,
               array = empty + record + 5 + zeros, top_end = array + record + 1 + 21 + zeros,
               values_end = top_end + record + 1 + 3 + 2 + 5 + 9 + 9 + 8;
        SIZES(top_end, 2, 20);
        kfi_write_bytes(&by_hand,
                        "\3Top"
                        "I\xfe\xff\xff\xff"
                        "S\x0a\0\0\0"
                        "a\"b\0\1Model",
                        24);
        SIZES(empty, 0, 0);
        kfi_write_bytes(&by_hand, "\4None", 5);
        SIZES(array, 0, 0);
        kfi_write_bytes(&by_hand, "\5Empty", 6);
        memset(kfi_write_space(&by_hand, zeros), 0, zeros);
        SIZES(top_end - zeros, 1, 21);
        kfi_write_bytes(&by_hand,
                        "\1A"
                        "f\2\0\0\0\0\0\0\0\x08\0\0\0"
                        "\0\0\xc0\x3f\0\0\0\x80",
                        23);
        memset(kfi_write_space(&by_hand, zeros), 0, zeros);
        SIZES(values_end, 6, 36);
        kfi_write_bytes(&by_hand,
                        "\1V"
                        "Y\x02\x01"
                        "CK"
                        "F\0\0\0\x3f"
                        "D\x9a\x99\x99\x99\x99\x99\xb9\x3f",
                        21);
        kfi_write_bytes(&by_hand,
                        "L\xb0\xd7\xe8\xc0\x0a\0\0\0"
                        "S\3\0\0\0x\ny",
                        17);
        memset(kfi_write_space(&by_hand, zeros), 0, zeros);
        kfi_write_bytes(&by_hand, ID, 16);
        size_t pad = 16 - by_hand.size % 16;
        memset(kfi_write_space(&by_hand, pad + 4), 0, pad + 4);
        kfi_write_u32(&by_hand, versions[v]);
        memset(kfi_write_space(&by_hand, 120), 0, 120);
        kfi_write_bytes(&by_hand, END_MAGIC, 16);

        assert_int_equal(memory.size, by_hand.size);
        assert_memory_equal(memory.data, by_hand.data, memory.size);
        assert_int_equal(memory.size % 16, 0);
        memory_sink_free(&memory);
    }
}

/* Whatever the length of the file before it: at least one zero up to a multiple of 16, then four. */
static void test_footer(void **state)
{
    (void)state;
    size_t full = 0;
    for (size_t length = 0; length < 16; length++) {
        memory_sink_free(&memory);
        sink = memory_sink_of(&memory);
        kfi_tree *tree = kfi_tree_new(&job, &sink, 7500, false);
        kfi_tree_begin(tree, "N");
        kfi_tree_string(tree, "0123456789abcdef", length);
        kfi_tree_end(tree);
        assert_true(kfi_tree_finish(tree));
        size_t id = 27 + 25 + 1 + 5 + length + 25;
        assert_memory_equal(memory.data + id, ID, 16);
        size_t version = memory.size - 16 - 120 - 4, zeros = version - (id + 16);
        assert_int_equal(kfi_load_u32(memory.data + version), 7500);
        assert_true(zeros >= 5 && zeros <= 20 && memory.size % 16 == 0);
        full += zeros == 20;
    }
    assert_int_equal(full, 1);
}

static void test_ascii_text(void **state)
{
    (void)state;
    static const char expected[] =
        "; FBX 7.5.0 project file\n"
        "; ----------------------------------------------------\n\n"
        "Top: -2, \"Model::a&quot;b\" {\n"
        "\tNone: \n"
        "\tEmpty:  {\n"
        "\t}\n"
        "\tA: *2 {\n"
        "\t\ta: 1.5,-0\n"
        "\t}\n"
        "}\n"
        "V: 258,K,0.5,0.1,46186158000, \"x&lf;y\"\n"
        "Bits: *3 {\n"
        "\ta: 218434821,-2147483648,0\n"
        "}\n"
        "Nothing: *0 {\n"
        "\ta: \n"
        "}\n"
        "Numbers: 0.1,0.333333343,0.30000000000000004,1e+300,0,0,123456789,-1e-300, \"r&cr; t\"\n"
        "\n; for people\n\n";
    setlocale(LC_ALL, "de_DE.UTF-8"); /* may not be there; then the test shows a little less */
    kfi_tree *tree = kfi_tree_new(&job, &sink, 7500, true);
    write_small(tree);
    kfi_tree_begin(tree, "Bits");
    kfi_tree_bits_array(tree, (const uint32_t[]){0x0d050d05, 0x80000000, 0}, 3);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "Nothing");
    kfi_tree_i64_array(tree, NULL, 0);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "Numbers");
    kfi_tree_f32(tree, 0.1f);
    kfi_tree_f32(tree, 1.0f / 3.0f);
    kfi_tree_f64(tree, 0.1 + 0.2);
    kfi_tree_f64(tree, 1e300);
    kfi_tree_f64(tree, NAN);
    kfi_tree_f32(tree, INFINITY);
    kfi_tree_f64(tree, 123456789);
    kfi_tree_f64(tree, -1e-300);
    kfi_tree_string(tree, "r\r\0t", 4);
    kfi_tree_end(tree);
    kfi_tree_comment(tree, "for people");
    assert_true(kfi_tree_finish(tree));
    setlocale(LC_ALL, "C");
    assert_int_equal(memory.patches, 0);
    assert_int_equal(memory.size, strlen(expected));
    assert_memory_equal(memory.data, expected, memory.size);
}

/* ---------------------------------------------------------------- whole trees */

/* What a tree holds, one line after the other: from writing it, and from parsing the file. */
typedef struct trace {
    uint8_t *data;
    size_t size, capacity;
} trace;

static void note(trace *log, char kind, const void *data, size_t size)
{
    if (size + 9 > log->capacity - log->size) {
        log->capacity = log->capacity * 2 + size + 9;
        log->data = realloc(log->data, log->capacity);
    }
    log->data[log->size] = (uint8_t)kind;
    kfi_store_u64(log->data + log->size + 1, size);
    if (size)
        memcpy(log->data + log->size + 9, data, size);
    log->size += 9 + size;
}

static void note_items(trace *log, char kind, const void *items, size_t count, size_t item_size)
{
    uint8_t *stored = malloc(count * item_size + 1);
    store_items(stored, items, count, item_size);
    note(log, kind, stored, count * item_size);
    free(stored);
}

static const uint8_t *parse_value(const uint8_t *p, const uint8_t *end, trace *log, size_t *packed)
{
    char type = (char)*p++;
    static const char scalars[] = "YCIFDL";
    static const size_t sizes[] = {2, 1, 4, 4, 8, 8};
    const char *scalar = strchr(scalars, type);
    if (scalar) {
        size_t size = sizes[scalar - scalars];
        note(log, type, p, size);
        return p + size;
    }
    if (type == 'S' || type == 'R') {
        size_t size = kfi_load_u32(p);
        note(log, type, p + 4, size);
        return p + 4 + size;
    }
    assert_non_null(strchr("fdlib", type));
    size_t count = kfi_load_u32(p), encoding = kfi_load_u32(p + 4), stored = kfi_load_u32(p + 8);
    size_t size = count * (type == 'b' ? 1 : type == 'f' || type == 'i' ? 4 : 8);
    p += 12;
    assert_true(stored <= (size_t)(end - p));
    if (encoding == 0) {
        assert_int_equal(stored, size);
        note(log, type, p, size);
    } else {
        assert_int_equal(encoding, 1);
        assert_true(stored < size);
        uint8_t *raw = malloc(size);
        uLongf got = (uLongf)size, used = (uLong)stored;
        assert_int_equal(uncompress2(raw, &got, p, &used), Z_OK);
        assert_int_equal(got, size);
        assert_int_equal(used, stored);
        note(log, type, raw, size);
        free(raw);
        ++*packed;
    }
    return p + stored;
}

/* Returns behind the record; NULL if it was the end of a list. */
static const uint8_t *parse_node(const uint8_t *p, uint64_t version, trace *log, size_t *packed)
{
    const uint8_t *base = memory.data;
    uint64_t fields[3];
    for (int i = 0; i < 3; i++) {
        fields[i] = version >= 7500 ? kfi_load_u64(p) : kfi_load_u32(p);
        p += version >= 7500 ? 8 : 4;
    }
    size_t name = *p++;
    if (fields[0] == 0) {
        assert_true(fields[1] == 0 && fields[2] == 0 && name == 0);
        return NULL;
    }
    const uint8_t *end = base + fields[0];
    assert_true(fields[0] <= memory.size);
    note(log, 'N', p, name);
    p += name;
    const uint8_t *values_end = p + fields[2];
    for (uint64_t i = 0; i < fields[1]; i++)
        p = parse_value(p, values_end, log, packed);
    assert_ptr_equal(p, values_end);
    if (p != end) {
        note(log, '{', NULL, 0);
        const uint8_t *next;
        while ((next = parse_node(p, version, log, packed)) != NULL)
            p = next;
        p += version >= 7500 ? 25 : 13;
        assert_ptr_equal(p, end);
    }
    note(log, '}', NULL, 0);
    return end;
}

static void fill(uint8_t *data, size_t size, unsigned how)
{
    for (size_t i = 0; i < size; i++) {
        switch (how % 5) {
        case 0:
            data[i] = (uint8_t)next_random();
            break; /* cannot be packed */
        case 1:
            data[i] = (uint8_t)(i / 64);
            break;
        case 2:
            data[i] = i % 16 < 8 ? (uint8_t)(next_random() | 1) : (uint8_t)(13 - i % 4);
            break; /* slopes and weights */
        case 3:
            data[i] = i >= 12 && i % 16 < 4 ? data[i - 12] : i % 16 < 8 ? (uint8_t)next_random() : 7;
            break;
        default:
            data[i] = 0;
            break;
        }
    }
}

static void random_node(kfi_tree *tree, trace *log, unsigned depth)
{
    char name[256];
    size_t name_size = next_random() % 20 ? 1 + next_random() % 12 : next_random() % 256;
    for (size_t i = 0; i < name_size; i++)
        name[i] = (char)('A' + next_random() % 26);
    name[name_size] = '\0';
    kfi_tree_begin(tree, name);
    note(log, 'N', name, name_size);
    unsigned values = next_random() % 4;
    for (unsigned i = 0; i < values; i++) {
        uint8_t bytes[8];
        uint32_t bits = next_random() & 0xff7fffff;
        kfi_store_u64(bytes, bits);
        float single;
        memcpy(&single, &bits, 4);
        double twice = (double)single;
        switch (next_random() % 9) {
        case 0:
            kfi_tree_i32(tree, (int32_t)bits);
            note(log, 'I', bytes, 4);
            break;
        case 1:
            kfi_tree_i16(tree, (int16_t)bits);
            note(log, 'Y', bytes, 2);
            break;
        case 2:
            kfi_tree_char(tree, (char)bits);
            note(log, 'C', bytes, 1);
            break;
        case 3:
            kfi_tree_f32(tree, single);
            note(log, 'F', bytes, 4);
            break;
        case 4:
            kfi_tree_f64(tree, twice);
            note_items(log, 'D', &twice, 1, 8);
            break;
        case 5:
            kfi_tree_i64(tree, -(int64_t)bits);
            kfi_store_u64(bytes, 0 - (uint64_t)bits);
            note(log, 'L', bytes, 8);
            break;
        case 6:
            kfi_tree_text(tree, name);
            note(log, 'S', name, name_size);
            break;
        case 7: {
            size_t size = next_random() % 50 ? next_random() % 300 : 70000 + next_random() % 100000;
            char *text = malloc(size + 1);
            memset(text, (int)(next_random() % 256), size);
            kfi_tree_string(tree, text, size);
            note(log, 'S', text, size);
            free(text);
            break;
        }
        default:
            kfi_tree_raw(tree, bytes, 5);
            note(log, 'R', bytes, 5);
            break;
        }
    }
    if (next_random() % 3 == 0) {
        size_t count = next_random() % 8 ? next_random() % 600 : next_random() % 60000;
        uint8_t *data = malloc(count * 8 + 1);
        fill(data, count * 8, next_random());
        switch (next_random() % 6) {
        case 0:
            kfi_tree_i32_array(tree, (int32_t *)data, count);
            note_items(log, 'i', data, count, 4);
            break;
        case 1:
            kfi_tree_i64_array(tree, (int64_t *)data, count);
            note_items(log, 'l', data, count, 8);
            break;
        case 2:
            kfi_tree_f32_array(tree, (float *)data, count);
            note_items(log, 'f', data, count, 4);
            break;
        case 3:
            kfi_tree_f64_array(tree, (double *)data, count);
            note_items(log, 'd', data, count, 8);
            break;
        case 4:
            kfi_tree_byte_array(tree, data, count);
            note(log, 'b', data, count);
            break;
        default:
            kfi_tree_bits_array(tree, (uint32_t *)data, count);
            note_items(log, 'f', data, count, 4);
            break;
        }
        free(data);
    }
    unsigned children = depth < 25 && next_random() % 2 ? next_random() % 5 : 0;
    if (children > 0 || next_random() % 4 == 0) {
        kfi_tree_braces(tree);
        note(log, '{', NULL, 0);
        for (unsigned i = 0; i < children; i++)
            random_node(tree, log, depth + 1);
    }
    kfi_tree_end(tree);
    note(log, '}', NULL, 0);
}

static void test_random_trees(void **state)
{
    (void)state;
    size_t packed = 0, patches = 0;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        random_state = seed;
        uint32_t version = seed & 1 ? 7500 : 7400;
        trace written = {0}, parsed = {0};
        memory_sink_free(&memory);
        sink = memory_sink_of(&memory);
        kfi_tree *tree = kfi_tree_new(&job, &sink, version, false);
        for (int i = 0; i < 30; i++)
            random_node(tree, &written, 0);
        assert_true(kfi_tree_finish(tree));
        patches += memory.patches;

        const uint8_t *p = memory.data + 27, *next;
        while ((next = parse_node(p, version, &parsed, &packed)) != NULL)
            p = next;
        assert_int_equal(written.size, parsed.size);
        assert_memory_equal(written.data, parsed.data, written.size);
        free(written.data);
        free(parsed.data);
    }
    assert_true(packed > 20 && patches > 20); /* or the test shows nothing */
}

/* The same calls, the same bytes; and arrays that come again cost no second packing and no other bytes. */
static void test_repeated_arrays(void **state)
{
    (void)state;
    int64_t *times = malloc(4000 * sizeof *times);
    memory_sink first;
    for (int round = 0; round < 2; round++) {
        sink = memory_sink_of(&memory);
        kfi_tree *tree = kfi_tree_new(&job, &sink, 7500, false);
        for (int i = 0; i < 700; i++) {
            for (int k = 0; k < 4000; k++)
                times[k] = k * 1539538600LL + (i % 3 == 2 ? i : i % 3);
            kfi_tree_begin(tree, "T");
            kfi_tree_i64_array(tree, times, i % 7 ? 4000 : 40);
            kfi_tree_end(tree);
        }
        assert_true(kfi_tree_finish(tree));
        trace parsed = {0};
        size_t packed = 0;
        const uint8_t *p = memory.data + 27, *next;
        while ((next = parse_node(p, 7500, &parsed, &packed)) != NULL)
            p = next;
        assert_true(packed > 590);
        const uint8_t *item = parsed.data;
        for (int i = 0; i < 700; i++) {
            size_t count = i % 7 ? 4000 : 40;
            item += 9 + 1; /* the name */
            assert_int_equal(item[0], 'l');
            for (size_t k = 0; k < count; k++)
                assert_true((int64_t)kfi_load_u64(item + 9 + 8 * k) ==
                            (int64_t)k * 1539538600LL + (i % 3 == 2 ? i : i % 3));
            item += 9 + 8 * count + 9;
        }
        free(parsed.data);
        if (round == 0) {
            first = memory;
        } else {
            assert_int_equal(first.size, memory.size);
            assert_memory_equal(first.data, memory.data, first.size);
            memory_sink_free(&first);
        }
    }
    free(times);
}

/* Arrays that differ in one number only are different arrays, wherever that is. */
static void test_similar_arrays(void **state)
{
    (void)state;
    int64_t times[500];
    kfi_tree *tree = kfi_tree_new(&job, &sink, 7400, false);
    for (size_t i = 0; i < 500; i++) {
        for (size_t k = 0; k < 500; k++)
            times[k] = (int64_t)k * 1539538600LL + (k == i);
        kfi_tree_begin(tree, "T");
        kfi_tree_i64_array(tree, times, 500);
        kfi_tree_end(tree);
    }
    assert_true(kfi_tree_finish(tree));
    trace parsed = {0};
    size_t packed = 0;
    const uint8_t *p = memory.data + 27, *next;
    while ((next = parse_node(p, 7400, &parsed, &packed)) != NULL)
        p = next;
    assert_int_equal(packed, 500);
    const uint8_t *item = parsed.data;
    for (size_t i = 0; i < 500; i++, item += 10 + 9 + 4000 + 9)
        for (size_t k = 0; k < 500; k++)
            assert_int_equal(kfi_load_u64(item + 19 + 8 * k), k * 1539538600ULL + (k == i));
    free(parsed.data);
}

/* ---------------------------------------------------------------- words */

/* Our sum against zlib's, for every short length and with the bytes that make the largest sums. */
static void test_words_check(void **state)
{
    (void)state;
    static uint8_t data[20011];
    for (int kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = kind == 0 ? 255 : kind == 1 ? (uint8_t)(i % 2 * 255) : (uint8_t)(i * i * 7 + i / 3);
        for (size_t size = 0; size < 600; size++)
            assert_int_equal(kfi_words_check(data + size % 9, size), adler32(1, data + size % 9, (uInt)size));
        assert_int_equal(kfi_words_check(data, sizeof data), adler32(1, data, sizeof data));
    }
}

static void test_words(void **state)
{
    (void)state;
    kfi_word_codes codes;
    kfi_word_codes_init(&codes);
    random_state = 5;
    for (int round = 0; round < 600; round++) {
        size_t count = next_random() % 3000;
        uint8_t *data = malloc(4 * count + 1), *packed = malloc(5 * count + 64),
                *back = malloc(4 * count + 1);
        fill(data, 4 * count, next_random());
        kfi_words words;
        kfi_words_init(&words, &codes, data, count);
        size_t size = 0;
        while (!words.ended) {
            size_t room = KFI_WORDS_ROOM + next_random() % 100;
            uint8_t *piece = malloc(room); /* exactly as large, so that an overrun is seen */
            size_t got = kfi_words_put(&words, piece, room);
            assert_true(got <= room);
            memcpy(packed + size, piece, got);
            free(piece);
            size += got;
            assert_true(size <= 5 * count + 64);
        }
        uLongf back_size = (uLongf)(4 * count + 1);
        uLong used = (uLong)size;
        assert_int_equal(uncompress2(back, &back_size, packed, &used), Z_OK);
        assert_int_equal(used, size);
        assert_int_equal(back_size, 4 * count);
        assert_memory_equal(back, data, 4 * count);
        if (count > 100 && kfi_words_worthwhile(data, count))
            assert_true(size < 4 * count * 92 / 100);
        free(data);
        free(packed);
        free(back);
    }
    /* Every length of a run. */
    for (size_t run = 0; run <= 200; run++) {
        uint32_t data[220];
        for (size_t i = 0; i < 220; i++)
            data[i] = i >= 4 && i < 4 + run ? data[i - 4] : (uint32_t)(i * 2654435761u);
        uint8_t packed[1200], back[sizeof data];
        kfi_words words;
        kfi_words_init(&words, &codes, (uint8_t *)data, 220);
        size_t size = kfi_words_put(&words, packed, sizeof packed);
        assert_true(words.ended);
        uLongf back_size = sizeof back;
        assert_int_equal(uncompress(back, &back_size, packed, (uLong)size), Z_OK);
        assert_memory_equal(back, data, sizeof data);
    }
}

/* ---------------------------------------------------------------- failures */

static void write_much(kfi_tree *tree)
{
    static uint8_t noise[100000];
    random_state = 9;
    fill(noise, sizeof noise, 0);
    kfi_tree_begin(tree, "Top");
    for (int i = 0; i < 5; i++) {
        kfi_tree_begin(tree, "Data");
        kfi_tree_f32_array(tree, (float *)noise, sizeof noise / 4);
        kfi_tree_end(tree);
    }
    kfi_tree_end(tree);
}

static void test_sink_fails(void **state)
{
    (void)state;
    kfi_tree *tree = kfi_tree_new(&job, &sink, 7500, false);
    write_much(tree);
    assert_true(kfi_tree_finish(tree));
    size_t appends = memory.appends, patches = memory.patches;
    assert_true(appends > 5 && patches > 3);
    for (size_t i = 1; i <= appends + patches; i++) {
        memory_sink_free(&memory);
        sink = memory_sink_of(&memory);
        memory.fail_append = i <= appends ? i : 0;
        memory.fail_patch = i > appends ? i - appends : 0;
        job.error.code = KF_OK;
        tree = kfi_tree_new(&job, &sink, 7500, false);
        write_much(tree);
        assert_false(kfi_tree_finish(tree));
        assert_int_equal(job.error.code, KF_IO);
        if (i <= appends)
            assert_int_equal(memory.appends, i); /* nothing more is asked of a sink that failed */
    }
}

/* A sink that cannot go back holds ASCII, and binary files that fit into the buffer. */
static void test_sink_without_patch(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        memory_sink_free(&memory);
        sink = memory_sink_of(&memory);
        sink.patch = NULL;
        kfi_tree *tree = kfi_tree_new(&job, &sink, 7500, kind == 0);
        if (kind < 2)
            write_small(tree);
        else
            write_much(tree);
        assert_int_equal(kfi_tree_finish(tree), kind < 2);
    }
    assert_int_equal(job.error.code, KF_IO);
}

static void test_misuse(void **state)
{
    (void)state;
    assert_null(kfi_tree_new(&job, &sink, 6100, false));
    for (int kind = 0; kind < 6; kind++) {
        job.error.code = KF_OK;
        kfi_tree *tree = kfi_tree_new(&job, &sink, 7400, kind == 5);
        if (kind == 0)
            kfi_tree_end(tree);
        if (kind == 1)
            kfi_tree_begin(tree, "open");
        if (kind == 2)
            for (int i = 0; i < 100; i++)
                kfi_tree_begin(tree, "deep");
        if (kind == 3)
            kfi_tree_i32(tree, 1);
        if (kind >= 4) {
            kfi_tree_begin(tree, "late");
            kfi_tree_i32_node(tree, "child", 1);
            if (kind == 4)
                kfi_tree_text(tree, "value");
            else
                kfi_tree_raw(tree, "raw", 3);
            kfi_tree_end(tree);
        }
        assert_false(kfi_tree_finish(tree));
        assert_int_equal(job.error.code, KF_BAD_ARGUMENT);
    }
}

static bool swallow(void *user, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return true;
}

static bool swallow_patch(void *user, uint64_t at, const void *data, size_t size)
{
    (void)data;
    return at + size <= *(uint64_t *)user;
}

/* Beyond 4 GiB the narrow records of 7400 give up, those of 7500 do not. */
static void test_huge(void **state)
{
    (void)state;
    size_t size = 64 << 20;
    uint8_t *noise = malloc(size);
    random_state = 2;
    for (size_t i = 0; i < size; i += 4)
        kfi_store_u32(noise + i, next_random());
    for (uint32_t version = 7400; version <= 7500; version += 100) {
        uint64_t total = 0;
        kf_sink into_nothing = {.user = &total, .append = swallow, .patch = swallow_patch};
        kfi_tree *tree = kfi_tree_new(&job, &into_nothing, version, false);
        kfi_tree_begin(tree, "Much");
        for (int i = 0; i < 65; i++) {
            kfi_tree_begin(tree, "Noise");
            kfi_tree_byte_array(tree, noise, size);
            kfi_tree_end(tree);
        }
        kfi_tree_end(tree);
        assert_int_equal(kfi_tree_finish(tree), version == 7500);
        assert_int_equal(job.error.code, version == 7400 ? KF_INEXPRESSIBLE : KF_OK);
        assert_int_equal(total > (uint64_t)65 * size, version == 7500);
        job.error.code = KF_OK;
    }
    free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_binary_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_footer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ascii_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_trees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_repeated_arrays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_similar_arrays, set_up, tear_down),
        cmocka_unit_test(test_words_check),
        cmocka_unit_test_setup_teardown(test_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sink_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sink_without_patch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_misuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_huge, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
