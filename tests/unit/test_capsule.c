/* Capsules: what goes in comes out; hostile ones are refused before they cost anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fbx/capsule.h"
#include "reader.h"
#include "writer.h"

static kf_job job;

static void begin(uint64_t limit)
{
    kfi_arena_free(&job.arena);
    memset(&job, 0, sizeof job);
    kfi_arena_init(&job.arena, (kf_allocator){0}, limit);
    job.arena.item_blocks = true;
}

static int set_up(void **state)
{
    (void)state;
    memset(&job, 0, sizeof job);
    begin(UINT64_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kfi_arena_free(&job.arena);
    return 0;
}

static void assert_same(const kfi_capsule *a, const kfi_capsule *b)
{
    assert_string_equal(a->format, b->format);
    assert_int_equal(a->revision, b->revision);
    assert_string_equal(a->options, b->options);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->files[i].name, b->files[i].name);
        assert_int_equal(a->files[i].size, b->files[i].size);
        if (a->files[i].size > 0) assert_memory_equal(a->files[i].data, b->files[i].data, a->files[i].size);
    }
}

static uint8_t *noise(size_t size, uint32_t seed)
{
    uint8_t *bytes = malloc(size ? size : 1);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(seed >> 24);
    }
    return bytes;
}

static void comes_back(void **state)
{
    (void)state;
    uint8_t *random = noise(300001, 7); /* does not pack */
    static uint8_t zeros[100000];       /* does */
    kf_file files[] = {
        {"walk.anim", random, 300001}, {"empty", NULL, 0}, {"na\xefve \xff.ani", zeros, sizeof zeros}};
    for (size_t count = 1; count <= 3; count++) {
        kfi_capsule in = {"x4-ani", 0xfedcba98u, "tcb=native fbx=7500", files, count, 0}, out;
        const uint8_t *data;
        size_t size;
        assert_true(kfi_capsule_pack(&job, &in, &data, &size));
        assert_memory_equal(data, "KFERRY1\n", 8);
        assert_true(kfi_capsule_unpack(&job, data, size, &out));
        assert_same(&in, &out);
        kfi_capsule seen;
        assert_true(kfi_capsule_holds(&out, files, count) && !kfi_capsule_holds(&out, files + 1, 1));
        assert_true(kfi_capsule_peek(&job, data, size, &seen) && kfi_capsule_alike(&out, &seen));
        char before[KFI_DIGEST_SIZE], after[KFI_DIGEST_SIZE];
        kfi_capsule_digest(&in, before);
        kfi_capsule_digest(&out, after);
        assert_string_equal(before, after);
        after[0] = '\0';
        assert_true(kf_sidecar_digest(&job, &(kf_file){"s.kf", data, size}, after, NULL));
        assert_string_equal(before, after);
        assert_int_equal(strlen(before), 8);
        assert_int_equal(strspn(before, "0123456789abcdef"), 8);
        const uint8_t *again;
        size_t again_size;
        assert_true(kfi_capsule_pack(&job, &in, &again, &again_size));
        assert_int_equal(size, again_size);
        assert_memory_equal(data, again, size);
    }
    free(random);
}

/* Every field counts, and so does where one ends and the next begins. */
/* The digest of a packed capsule, whatever part of it had to be unpacked. */
static void digest_of_packed(void **state)
{
    (void)state;
    enum { LONG = 5000 };
    uint8_t *random = noise(2 * LONG, 3);
    char options[LONG + 1];
    memset(options, 'o', LONG);
    options[LONG] = '\0';
    for (size_t n = 0; n <= LONG; n += n < 3900 || n > 4200 ? 97 : 1) { /* all about the 4096 bytes that are looked at */
        for (int is_options = 0; is_options < 2; is_options++) {
            kf_file file = {"walk.anim", random, is_options ? 1 : n};
            kfi_capsule in = {"x4-ani", 1, options + LONG - (is_options ? n : 0), &file, 1, 0};
            const uint8_t *data;
            size_t size;
            char expected[KFI_DIGEST_SIZE], found[KFI_DIGEST_SIZE];
            kfi_capsule_digest(&in, expected);
            assert_true(kfi_capsule_pack(&job, &in, &data, &size));
            for (int asked = 0; asked < 3; asked++) { /* for nothing, for another one, for this one */
                strcpy(found, asked == 0 ? "" : asked == 1 ? "01234567" : expected);
                assert_true(kf_sidecar_digest(&job, &(kf_file){"s.kf", data, size}, found, NULL));
                assert_string_equal(found, expected);
            }
            size_t directory = sizeof "x4-ani" + 4 + (is_options ? n : 0) + 1 + 4 + sizeof "walk.anim" + 4;
            assert_int_equal(kfi_capsule_digest_packed(&job, data, size, found), directory <= 4096);
            job.error = (kf_error){0};
        }
    }
    /* A byte that is wrong is seen, but for one that only the contents have where the digest is the one asked for. */
    kf_file file = {"walk.anim", random, 2 * LONG};
    kfi_capsule in = {"x4-ani", 1, "", &file, 1, 0};
    const uint8_t *data;
    size_t size, seen = 0, unseen = 0;
    char expected[KFI_DIGEST_SIZE];
    kfi_capsule_digest(&in, expected);
    assert_true(kfi_capsule_pack(&job, &in, &data, &size));
    uint8_t *damaged = malloc(size);
    memcpy(damaged, data, size);
    for (size_t i = 0; i < size; i += i < 100 ? 1 : 101) {
        char any[KFI_DIGEST_SIZE] = "", this[KFI_DIGEST_SIZE];
        strcpy(this, expected);
        damaged[i] ^= 0x10;
        bool harmless = kf_sidecar_digest(&job, &(kf_file){"s.kf", damaged, size}, any, NULL); /* a bit that nobody reads */
        assert_true(!harmless || strcmp(any, expected) == 0);
        bool taken = kf_sidecar_digest(&job, &(kf_file){"s.kf", damaged, size}, this, NULL);
        assert_true(!taken || strcmp(this, expected) == 0);
        assert_true(i > 50 || taken == harmless); /* header and directory */
        seen += !harmless;
        unseen += taken && !harmless;
        damaged[i] = data[i];
    }
    assert_true(seen > 100 && unseen > 10);
    job.error = (kf_error){0};
    free(damaged);
    free(random);
}

static void digests_differ(void **state)
{
    (void)state;
    kf_file ab[] = {{"a", "b", 1}}, ab2[] = {{"a", "b", 1}, {"a", "b", 1}}, ba[] = {{"b", "a", 1}};
    kf_file split[] = {{"a", "xy", 2}, {"b", "z", 1}}, split2[] = {{"a", "x", 1}, {"b", "yz", 2}};
    const kfi_capsule capsules[] = {{"f", 1, "o", NULL, 0, 0},  {"fo", 1, "", NULL, 0, 0},  {"", 1, "fo", NULL, 0, 0},
                                    {"f", 1, "o", ab, 1, 0},    {"f", 1, "o", ab2, 2, 0},   {"f", 1, "o", ba, 1, 0},
                                    {"f", 1, "o", split, 2, 0}, {"f", 1, "o", split2, 2, 0}};
    enum { COUNT = sizeof capsules / sizeof *capsules };
    char digests[COUNT][KFI_DIGEST_SIZE];
    for (size_t i = 0; i < COUNT; i++) {
        kfi_capsule_digest(&capsules[i], digests[i]);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(digests[i], digests[k]);
    }
    /* The importer's revision is no part of it, nor is a folder. */
    kf_file folder[] = {{"/some/folder/a", "b", 1}};
    char digest[KFI_DIGEST_SIZE];
    kfi_capsule_digest(&(kfi_capsule){"f", 2, "o", folder, 1, 0}, digest);
    assert_string_equal(digest, digests[3]);
}

/* A container made without the code under test. */
static uint8_t *container(const void *directory, size_t size, uint32_t declared, size_t *packed_size)
{
    uLongf room = compressBound((uLong)size);
    uint8_t *out = malloc(16 + room);
    memcpy(out, "KFERRY1\n", 8);
    kfi_store_u32(out + 8, declared);
    kfi_store_u32(out + 12, (uint32_t)crc32(0, directory, (uInt)size));
    assert_int_equal(compress(out + 16, &room, directory, (uLong)size), Z_OK);
    *packed_size = 16 + room;
    return out;
}

static bool unpack_directory(const void *directory, size_t size, kfi_capsule *capsule)
{
    size_t packed;
    uint8_t *bytes = container(directory, size, (uint32_t)size, &packed);
    begin(UINT64_MAX);
    bool ok = kfi_capsule_unpack(&job, bytes, packed, capsule);
    free(bytes);
    assert_int_equal(ok, !kfi_failed(&job));
    return ok;
}

static void layout_is_as_told(void **state)
{
    (void)state;
    static const char bytes[] = "mm2-anim\0\5\0\0\0fps=30\0\2\0\0\0a.anim\0\3\0\0\0b\0\1\0\0\0XYZ!";
    kfi_capsule capsule;
    assert_true(unpack_directory(bytes, sizeof bytes - 1, &capsule));
    kf_file files[] = {{"a.anim", "XYZ", 3}, {"b", "!", 1}};
    assert_same(&capsule, &(kfi_capsule){"mm2-anim", 5, "fps=30", files, 2, 0});
}

static void names_lose_folders(void **state)
{
    (void)state;
    static const struct {
        const char *given, *plain; /* NULL: refused */
    } cases[] = {{"a.ani", "a.ani"},
                 {"/etc/passwd", "passwd"},
                 {"../../x", "x"},
                 {"..\\..\\x", "x"},
                 {"C:\\Windows\\win.ini", "win.ini"},
                 {"a/b\\c/d", "d"},
                 {"...", "..."},
                 {".hidden", ".hidden"},
                 {"ab:c", "ab:c"},
                 {"", NULL},
                 {".", NULL},
                 {"..", NULL},
                 {"x/", NULL},
                 {"x/..", NULL},
                 {"x\\.", NULL},
#ifdef _WIN32
                 {"c:boot.ini", "boot.ini"},
                 {"a:b", "b"},
                 {"C:", NULL},
                 {"C:..", NULL},
#else
                 {"a:b.ani", "a:b.ani"},
                 {"C:", "C:"},
                 {"C:..", "C:.."},
#endif
                 {"/", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[256] = {'f', 0, 1, 0, 0, 0, 'o', 0, 1, 0, 0, 0};
        size_t length = strlen(cases[i].given) + 1;
        memcpy(bytes + 12, cases[i].given, length);
        kfi_capsule capsule;
        bool ok = unpack_directory(bytes, 12 + length + 4, &capsule);
        if (ok != (cases[i].plain != NULL))
            fail_msg("\"%s\" was %s", cases[i].given, ok ? "taken" : "refused");
        if (ok) assert_string_equal(capsule.files[0].name, cases[i].plain);
        if (!ok) assert_int_equal(job.error.code, KF_BAD_INPUT);

        begin(UINT64_MAX);
        kf_file file = {cases[i].given, "x", 1};
        const uint8_t *data;
        size_t size;
        assert_int_equal(kfi_capsule_pack(&job, &(kfi_capsule){"f", 1, "o", &file, 1, 0}, &data, &size),
                         cases[i].plain != NULL);
    }
}

static void hostile_sizes(void **state)
{
    (void)state;
    kfi_capsule capsule;
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        {"", 0},                                     /* no format */
        {"f", 1},                                    /* no NUL */
        {"f\0\1\0\0", 5},                            /* half a revision */
        {"f\0\1\0\0\0o", 7},                         /* options without NUL */
        {"f\0\1\0\0\0o\0\xff\xff\xff\xff", 12},      /* more files than bytes */
        {"f\0\1\0\0\0o\0\2\0\0\0a\0\0\0\0\0", 18},   /* one file missing */
        {"f\0\1\0\0\0o\0\1\0\0\0a\0\2\0\0\0X", 19},  /* a file cut short */
        {"f\0\1\0\0\0o\0\1\0\0\0a\0\1\0\0\0XY", 20}, /* a byte too many */
        {"f\0\1\0\0\0o\0\2\0\0\0a\0\xff\xff\xff\xff"
         "b\0\2\0\0\0XX",
         26}, /* sizes that wrap around */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (unpack_directory(bad[i].bytes, bad[i].size, &capsule)) fail_msg("bad directory %zu was taken", i);
}

static void damage_is_seen(void **state)
{
    (void)state;
    uint8_t *random = noise(500, 3);
    kf_file file = {"a.ani", random, 500};
    kfi_capsule in = {"x4-ani", 1, "", &file, 1, 0}, capsule;
    const uint8_t *packed;
    size_t size, unseen = 0;
    assert_true(kfi_capsule_pack(&job, &in, &packed, &size));
    uint8_t *good = malloc(size);
    memcpy(good, packed, size);
    for (size_t length = 0; length < size; length++) { /* buffers of just that size, for the sanitizer */
        uint8_t *cut = malloc(length ? length : 1);
        memcpy(cut, good, length);
        begin(UINT64_MAX);
        assert_false(kfi_capsule_unpack(&job, cut, length, &capsule));
        assert_int_equal(job.error.code, KF_BAD_INPUT);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * size; bit++) {
        good[bit / 8] ^= (uint8_t)(1u << bit % 8);
        begin(UINT64_MAX);
        /* A few bits are padding: then all is as it was. */
        if (kfi_capsule_unpack(&job, good, size, &capsule)) {
            assert_true(bit >= 8 * 18 && bit < 8 * size - 32 && ++unseen <= 5);
            assert_same(&capsule, &in);
        }
        good[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    uint8_t *longer = malloc(size + 1);
    memcpy(longer, good, size);
    longer[size] = 0;
    begin(UINT64_MAX);
    assert_false(kfi_capsule_unpack(&job, longer, size + 1, &capsule));
    free(longer);
    free(good);
    free(random);
}

/* One without any file is no original. */
static void nothing_inside(void **state)
{
    (void)state;
    kfi_capsule in = {"x4-ani", 1, "", NULL, 0, 0}, capsule;
    const uint8_t *packed;
    size_t size;
    begin(UINT64_MAX);
    assert_true(kfi_capsule_pack(&job, &in, &packed, &size));
    assert_false(kfi_capsule_unpack(&job, packed, size, &capsule));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    assert_string_equal(job.error.message, "capsule: number of files: expected at least 1, found 0");
}

/* A little that says it is a lot, and a lot that says it is little. */
static void bombs(void **state)
{
    (void)state;
    size_t size = 8 * 1024 * 1024, packed;
    uint8_t *zeros = calloc(size, 1);
    uint8_t *bytes = container(zeros, size, (uint32_t)size, &packed);
    kfi_capsule capsule;
    assert_true(packed < size / 900);

    begin(1024 * 1024); /* honest, but above the ceiling: nothing is taken from the system */
    assert_false(kfi_capsule_unpack(&job, bytes, packed, &capsule));
    assert_int_equal(job.error.code, KF_MEMORY_LIMIT);
    assert_true(job.arena.total < 64 * 1024);

    kfi_store_u32(bytes + 8, 1000); /* says less than there is */
    begin(UINT64_MAX);
    assert_false(kfi_capsule_unpack(&job, bytes, packed, &capsule));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    assert_true(job.arena.total < 256 * 1024);

    kfi_store_u32(bytes + 8, UINT32_MAX); /* says more than can be */
    begin(UINT64_MAX);
    assert_false(kfi_capsule_unpack(&job, bytes, packed, &capsule));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    assert_true(job.arena.total < 64 * 1024);

    kfi_store_u32(bytes + 8, (uint32_t)size + 1); /* says one byte more */
    begin(UINT64_MAX);
    assert_false(kfi_capsule_unpack(&job, bytes, packed, &capsule));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    free(bytes);
    free(zeros);
}

typedef struct failing {
    size_t left;
} failing;

static void *failing_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)old_size;
    failing *f = user;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return f->left-- == 0 ? (f->left = 0, NULL) : realloc(block, new_size);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint8_t *random = noise(5000, 1);
    kf_file file = {"a.ani", random, 5000};
    const kfi_capsule in = {"x4-ani", 1, "", &file, 1, 0};
    bool done = false;
    size_t n = 0;
    for (; !done && n < 1000; n++) {
        failing f = {n};
        kfi_arena_free(&job.arena);
        memset(&job, 0, sizeof job);
        kfi_arena_init(&job.arena, (kf_allocator){&f, failing_resize}, UINT64_MAX);
        job.arena.item_blocks = true;
        const uint8_t *data, *decoded;
        const char *text;
        size_t size, length, decoded_size;
        kfi_capsule out;
        done = kfi_capsule_pack(&job, &in, &data, &size) &&
               kfi_base64_encode(&job, data, size, &text, &length) &&
               kfi_base64_decode(&job, text, length, &decoded, &decoded_size) &&
               kfi_capsule_unpack(&job, decoded, decoded_size, &out);
        if (!done) assert_int_equal(job.error.code, KF_NO_MEMORY);
        if (done) assert_same(&in, &out);
        kfi_arena_free(&job.arena);
    }
    assert_true(done && n > 8);
    memset(&job, 0, sizeof job);
    begin(UINT64_MAX);
    free(random);
}

static void base64(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text; /* RFC 4648 */
    } cases[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"},
                 {"\xfb\xff\xbf", "+/+/"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text;
        const uint8_t *data;
        size_t length, size;
        assert_true(kfi_base64_encode(&job, cases[i].bytes, strlen(cases[i].bytes), &text, &length));
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(text));
        assert_true(kfi_base64_decode(&job, text, length, &data, &size));
        assert_int_equal(size, strlen(cases[i].bytes));
        if (size > 0) assert_memory_equal(data, cases[i].bytes, size);
    }
    const uint8_t *data;
    size_t size;
    assert_true(kfi_base64_decode(&job, " Zm9\r\nvY\tg =\n= ", 15, &data, &size));
    assert_int_equal(size, 4);
    assert_memory_equal(data, "foob", 4);

    static const char *const bad[] = {"Z",        "Zg",         "Zg=",   "Zm9vY", "=",     "====", "Z===",
                                      "Zg==Zg==", "Zg===",      "Zm8==", "Zm9v=", "Z=g=",  "Zm=v", "Zm9-",
                                      "Zm9_",     "Zm\xc3\xa9", "Zh==",  "Zm9=",  "Zg==A", "Zm9v!"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin(UINT64_MAX);
        if (kfi_base64_decode(&job, bad[i], strlen(bad[i]), &data, &size))
            fail_msg("\"%s\" was taken", bad[i]);
        assert_int_equal(job.error.code, KF_BAD_INPUT);
    }
    begin(UINT64_MAX);
    assert_false(kfi_base64_decode(&job, "Zm\0v", 4, &data, &size));

    for (size_t n = 0; n < 300; n++) { /* every length, buffers of just that size */
        begin(UINT64_MAX);
        uint8_t *random = noise(n, (uint32_t)n);
        const char *text;
        size_t length;
        assert_true(kfi_base64_encode(&job, random, n, &text, &length));
        char *exact = malloc(length ? length : 1);
        memcpy(exact, text, length);
        assert_true(kfi_base64_decode(&job, exact, length, &data, &size));
        assert_int_equal(size, n);
        if (n > 0) assert_memory_equal(data, random, n);
        free(exact);
        free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(digest_of_packed),
        cmocka_unit_test(digests_differ),
        cmocka_unit_test(layout_is_as_told),
        cmocka_unit_test(names_lose_folders),
        cmocka_unit_test(hostile_sizes),
        cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(nothing_inside),
        cmocka_unit_test(bombs),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(base64),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
