/* Nytro node animations: what is read, and what an edit does to the bytes. */
#include "formats/nytro_anim.h"
#include "helper_plugin.h"
#include "rotation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

extern const kf_format kfi_format_nytro_anim;

/* ---------------------------------------------------------------- files made by hand */

typedef struct bytes {
    uint8_t data[4096];
    size_t size;
    size_t keys_at; /* where the first key of the first node stands */
} bytes;

static void put_u32(bytes *b, uint32_t value)
{
    kfi_store_u32(b->data + b->size, value);
    b->size += 4;
}

static void put_f32(bytes *b, float value)
{
    kfi_store_f32(b->data + b->size, value);
    b->size += 4;
}

static void put_text(bytes *b, const char *text)
{
    memcpy(b->data + b->size, text, strlen(text) + 1);
    b->size += strlen(text) + 1;
}

/* Sizes and positions are filled in by close_chunk. */
static size_t open_chunk(bytes *b, uint32_t id, bool short_header)
{
    size_t start = b->size;
    put_u32(b, id);
    for (int i = 0; i < (short_header ? 1 : 3); i++)
        put_u32(b, 1);
    return start;
}

static void close_chunk(bytes *b, size_t start, bool short_header, uint32_t next)
{
    size_t header = short_header ? 8 : 16;
    kfi_store_u32(b->data + start + header - (short_header ? 4 : 8), (uint32_t)(b->size - start - header));
    if (!short_header)
        kfi_store_u32(b->data + start + 12, next == 1 ? (uint32_t)b->size : next);
}

static void put_header(bytes *b, bool short_header, uint16_t nodes)
{
    size_t chunk = open_chunk(b, 1, short_header);
    put_u32(b, 0);
    put_text(b, "walk");
    put_text(b, "somebody");
    kfi_store_u16(b->data + b->size, nodes);
    b->size += 2;
    close_chunk(b, chunk, short_header, 1);
}

static void put_key(bytes *b, bool tcb, float time, const float *numbers, size_t width, const float *value)
{
    put_u32(b, 0);
    put_f32(b, time);
    for (size_t i = 0; tcb && i < 5; i++)
        put_f32(b, numbers ? numbers[i] : 0.0f);
    for (size_t i = 0; i < width; i++)
        put_f32(b, value[i]);
}

enum { KEYS = 5, TURNS = 4 };
static const float TIMES[KEYS] = {0.0f, 0.5f, 1.0f, 2.0f, 2.25f};
static const float PLACES[KEYS][3] = {{0, 0, 0}, {1, 4, -2}, {3, 4, 1}, {3, -5, 2}, {2, -4, 2}};
static const float TCB[KEYS][5] = {
    {0, 0, 0, 0, 0.25f}, {0.5f, 0, 0, 0, 0}, {0, -0.5f, 0.25f, 0.5f, 0}, {-1, 0, 1, 0, 0}, {0, 0, 0, 0, 0}};
static const float ANGLES[TURNS][4] = {{30, 0, 0, 1}, {-60, 0, 1, 0}, {400, 1, 0, 0}, {-530, 0, 0, -2}};

/* One node with translations and rotations; an unknown chunk behind it where asked for. */
static bytes file_of(uint32_t kind, bool short_header, uint32_t last, bool unknown)
{
    bytes b = {.size = 0};
    bool tcb = kind & KFI_NYTRO_TCB;
    put_header(&b, short_header, 1);
    size_t chunk = open_chunk(&b, 2, short_header);
    put_text(&b, "hip");
    put_u32(&b, kind);
    put_u32(&b, KEYS);
    put_u32(&b, TURNS);
    put_u32(&b, 0);
    b.keys_at = b.size;
    for (size_t i = 0; i < KEYS; i++)
        put_key(&b, tcb, TIMES[i], TCB[i], 3, PLACES[i]);
    for (size_t i = 0; i < TURNS; i++)
        put_key(&b, tcb, TIMES[i], TCB[i], 4, ANGLES[i]);
    close_chunk(&b, chunk, short_header, unknown ? 1 : last);
    if (unknown) {
        chunk = open_chunk(&b, 77, short_header);
        put_text(&b, "kept");
        close_chunk(&b, chunk, short_header, last);
    }
    return b;
}

static size_t key_at(const bytes *b, uint32_t kind, size_t i)
{
    return b->keys_at + i * (kind & KFI_NYTRO_TCB ? 40 : 20);
}

static size_t turn_at(const bytes *b, uint32_t kind, size_t i)
{
    return key_at(b, kind, KEYS) + i * (kind & KFI_NYTRO_TCB ? 44 : 24);
}

static size_t values(uint32_t kind)
{
    return kind & KFI_NYTRO_TCB ? 28 : 8;
}

static const uint8_t *output(const plugin_test *test)
{
    return plugin_output(test, 0)->data;
}

static void open_file(plugin_test *test, bytes *b, uint32_t kind)
{
    *b = file_of(kind, false, 1, true);
    plugin_open(test, &kfi_format_nytro_anim, false);
    plugin_load_one(test, b->data, b->size);
}

/* ---------------------------------------------------------------- bytes */

static void test_dialects(void **state)
{
    (void)state;
    static const uint32_t lasts[3] = {1, 0, 0xffffffff};
    for (int short_header = 0; short_header < 2; short_header++)
        for (int last = 0; last < 3; last++)
            for (int unknown = 0; unknown < 2; unknown++) {
                bytes b = file_of(KFI_NYTRO_TCB, short_header, lasts[last], unknown);
                kf_job job = {0};
                kfi_nytro file;
                kfi_arena_init(&job.arena, (kf_allocator){0}, UINT64_MAX);
                assert_true(kfi_nytro_decode(&job, b.data, b.size, &file));
                assert_int_equal(file.short_header, short_header);
                assert_int_equal(file.chunk_count, 2 + unknown);
                assert_int_equal(file.nodes[0].count[KFI_NYTRO_ROTATION], TURNS);
                kfi_writer out;
                kfi_writer_init(&out, &job, 0);
                assert_true(kfi_nytro_encode(&file, &out));
                assert_int_equal(out.size, b.size);
                assert_memory_equal(out.data, b.data, b.size);
                /* One key less: sizes and positions follow, the convention of the last one stays. */
                file.nodes[0].count[KFI_NYTRO_ROTATION]--;
                kfi_writer_init(&out, &job, 0);
                assert_true(kfi_nytro_encode(&file, &out));
                assert_int_equal(out.size, b.size - 44);
                kfi_nytro again;
                assert_true(kfi_nytro_decode(&job, out.data, out.size, &again));
                assert_int_equal(again.nodes[0].count[KFI_NYTRO_ROTATION], TURNS - 1);
                if (!short_header)
                    assert_int_equal(again.chunks[again.chunk_count - 1].next,
                                     last == 0 ? out.size : lasts[last]);
                kfi_arena_free(&job.arena);
            }
}

static void refused(const bytes *b, uint64_t offset, const char *field)
{
    kf_job job = {.error = {.offset = KF_NO_OFFSET}};
    kfi_nytro file;
    assert_false(kfi_nytro_decode(&job, b->data, b->size, &file));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    if (!strstr(job.error.message, field))
        fail_msg("expected \"%s\" in: %s", field, job.error.message);
    assert_int_equal(job.error.offset, offset);
    assert_int_equal(kfi_format_nytro_anim.probe(b->data, b->size), 0);
}

static void test_refuses(void **state)
{
    (void)state;
    bytes good = file_of(KFI_NYTRO_LINEAR, false, 1, false);
    size_t second = kfi_load_u32(good.data + 12);
    bytes b = good;
    kfi_store_u32(b.data + second + 12, 20); /* backwards */
    refused(&b, second + 12, "nextChunkPos");
    b = good;
    kfi_store_u32(b.data + second + 12, (uint32_t)b.size + 1); /* past the end */
    refused(&b, second + 12, "nextChunkPos");
    b = good;
    kfi_store_u32(b.data + second + 8, 0x7fffffff);
    refused(&b, second + 8, "chunkSize");
    b = good;
    kfi_store_u32(b.data + b.keys_at - 12, 0x20000000); /* times 20 this is more than 32 bits */
    refused(&b, b.keys_at - 12, "translationKeyCount");
    b = good;
    kfi_store_u32(b.data + b.keys_at - 4, 1);
    refused(&b, b.size, "scale keys");
    b = good;
    kfi_store_u16(b.data + second - 2, 0xffff);
    refused(&b, second - 2, "nodeCount");
    b = good;
    memset(b.data + second + 16, 'x', b.size - second - 16); /* a name without end */
    refused(&b, second + 16, "nodeName");
    b = good;
    kfi_store_u32(b.data + second, 3); /* no chunk 2 */
    refused(&b, b.size, "chunk 2");
    b = good;
    kfi_store_u32(b.data + second, 1); /* chunk 1 twice */
    refused(&b, second + 16, "second one");
    b.size = 0;
    refused(&b, 0, "chunkID");
}

/* ---------------------------------------------------------------- import */

static void test_import(void **state)
{
    (void)state;
    static const uint32_t kinds[3] = {KFI_NYTRO_TCB, KFI_NYTRO_BEZIER, KFI_NYTRO_LINEAR};
    static const uint8_t interps[3] = {KF_TCB, KF_HERMITE, KF_LINEAR};
    for (int k = 0; k < 3; k++) {
        plugin_test test;
        bytes b;
        open_file(&test, &b, kinds[k]);
        const kf_take *take = &test.original->takes[0];
        assert_string_equal(take->name, "walk");
        assert_string_equal(test.original->nodes[0].name, "hip");
        assert_true(take->start == 0.0 && take->end == 2.25 && test.original->float32);
        assert_int_equal(take->track_count, 2);
        for (unsigned c = 0; c < 3; c++) {
            const kf_curve *curve = &take->tracks[0].curve[c];
            assert_int_equal(curve->count, KEYS);
            assert_int_equal(curve->tcb != NULL, k == 0);
            for (size_t i = 0; i < KEYS; i++) {
                assert_true(curve->keys[i].value == (double)PLACES[i][c]);
                assert_int_equal(curve->keys[i].interp, interps[k]);
                assert_true(k != 0 || memcmp(&curve->tcb[i], TCB[i], sizeof TCB[i]) == 0);
            }
        }
        if (k == 1) { /* y: from (0, 0) over (0.5, 4) to (1, 4); the end keys look along their only segment */
            const kf_handles *handles = take->tracks[0].curve[1].handles;
            assert_true(fabs(kfi_handle_slope(handles[1].in) - 4.0) < 1e-12);
            assert_true(fabs(kfi_handle_slope(handles[1].out) - 4.0) < 1e-12);
            assert_true(fabs(kfi_handle_slope(handles[0].out) - 8.0) < 1e-12);
            assert_true(fabs(kfi_handle_slope(handles[4].in) - 4.0) < 1e-12);
            assert_true(fabs(handles[1].out.dt - 0.5 / 3.0) < 1e-12);
        }
        const kf_quat_curve *turn = &take->tracks[1].quat;
        for (size_t i = 0; i < TURNS; i++) {
            double half = (double)ANGLES[i][0] * acos(-1.0) / 360.0, length = i == 3 ? 2.0 : 1.0;
            double q[4] = {cos(half), 0, 0, 0};
            for (int c = 0; c < 3; c++)
                q[c + 1] = sin(half) * (double)ANGLES[i][c + 1] / length;
            assert_true(kfi_quat_angle(q, turn->keys[i].q) < 1e-5);
            assert_int_equal(turn->keys[i].interp, k == 0 ? KF_TCB : KF_LINEAR);
        }
        assert_int_equal(turn->keys[2].turns, 1); /* 400 = 40 and a turn */
        assert_int_equal(turn->keys[3].turns, 1); /* -530 about -z is 170 and a turn about z */
        plugin_close(&test);
    }
}

static void test_oddities(void **state)
{
    (void)state;
    plugin_test test;
    bytes b = file_of(KFI_NYTRO_TCB, false, 0, false);
    kfi_store_u32(b.data + key_at(&b, 1, 1) + 4, 0x7fc00000);   /* time NaN */
    kfi_store_f32(b.data + key_at(&b, 1, 3) + 4, 0.75f);        /* time back */
    kfi_store_u32(b.data + key_at(&b, 1, 2) + 8, 0x7f800000);   /* tension infinite */
    kfi_store_u32(b.data + key_at(&b, 1, 2) + 28, 0xff800000);  /* x infinite */
    kfi_store_u32(b.data + turn_at(&b, 1, 1) + 28, 0x7fc00000); /* angle NaN */
    memset(b.data + turn_at(&b, 1, 2) + 32, 0, 12);             /* no axis */
    plugin_open(&test, &kfi_format_nytro_anim, false);
    plugin_load_one(&test, b.data, b.size);
    assert_int_equal(kfi_said(test.job, "nonfinite"), 4);
    assert_int_equal(kfi_said(test.job, "time-backwards"), 1);
    assert_int_equal(kfi_said(test.job, "zero-axis"), 1);
    const kf_curve *x = &plugin_track(&test, 0, KF_TRANSLATION)->curve[0];
    assert_true(x->keys[1].time == 0.0 && x->keys[1].flags == KF_KEY_NONFINITE);
    assert_true(x->keys[2].value == 1.0 && x->tcb[2].tension == 0.0f);
    assert_int_equal(x->keys[2].flags, KF_KEY_NONFINITE | KF_KEY_MINUS_INFINITE | KF_KEY_NONFINITE_SHAPE);
    assert_true(x->keys[3].time == 1.0 && x->keys[4].time == 2.25);
    assert_true(plugin_export(&test, true));
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);
    kf_error error;
    assert_false(kf_check(test.job, &test.files[0], &error));
    /* NaN time, tension, x, angle again; and the axis of none, the one of length 2, time back. */
    assert_int_equal(kfi_said(test.job, "axis"), 2);
    assert_int_equal(kfi_said(test.job, "time-backwards"), 3); /* twice by the import, once by the check */
    plugin_close(&test);
}

static void test_check_offsets(void **state)
{
    (void)state;
    plugin_test test;
    bytes b = file_of(KFI_NYTRO_TCB, false, 1, false);
    kfi_store_f32(b.data + turn_at(&b, 1, 3) + 40, 1.0f); /* the axis that is 2 long, now 1 */
    plugin_open(&test, &kfi_format_nytro_anim, false);
    kf_file file = {"part.x", b.data, b.size};
    kf_error error;
    size_t count;
    assert_true(kf_check(test.job, &file, &error));
    kfi_store_f32(b.data + key_at(&b, 1, 2) + 12, 1.5f); /* continuity */
    kfi_store_u32(b.data + key_at(&b, 1, 4), 0x80);      /* flags */
    assert_false(kf_check(test.job, &file, &error));
    const kf_message *messages = kf_job_messages(test.job, &count);
    assert_int_equal(count, 2);
    assert_int_equal(messages[0].level, KF_PROBLEM);
    assert_int_equal(messages[0].offset, key_at(&b, 1, 2) + 12);
    assert_non_null(strstr(messages[0].text, "continuity: expected -1..1, found 1.5"));
    assert_int_equal(messages[1].offset, key_at(&b, 1, 4));
    plugin_close(&test);
}

/* ---------------------------------------------------------------- edits with the original */

static void test_unedited(void **state)
{
    (void)state;
    static const uint32_t kinds[6] = {KFI_NYTRO_TCB, KFI_NYTRO_BEZIER, KFI_NYTRO_LINEAR, 0, 6, 0x80000003};
    for (int k = 0; k < 6; k++) {
        plugin_test test;
        bytes b = file_of(kinds[k], k & 1, 1, true);
        plugin_open(&test, &kfi_format_nytro_anim, true);
        plugin_load_one(&test, b.data, b.size);
        assert_true(plugin_export(&test, true));
        assert_int_equal(plugin_changed_bytes(&test, 0), 0);
        plugin_close(&test);
    }
}

static void test_one_number(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_TCB);
    for (unsigned c = 0; c < 3; c++) {
        kf_curve *curve = &plugin_track(&test, 0, KF_TRANSLATION)->curve[c];
        curve->tcb[2].bias = -0.125f;
        plugin_change(curve, 2, KF_CHANGED_TCB);
        curve->tcb[3].ease_in = 0.75f;
        plugin_change(curve, 3, KF_CHANGED_EASE);
    }
    kf_quat_curve *turn = &plugin_track(&test, 0, KF_ROTATION)->quat;
    turn->tcb[0].tension = 1.0f;
    plugin_change_quat(turn, 0, KF_CHANGED_TCB);
    assert_true(plugin_export(&test, true));
    assert_int_equal(kfi_said(test.job, "tcb-shared"), 0);
    kfi_store_f32(b.data + key_at(&b, 1, 2) + 16, -0.125f);
    kfi_store_f32(b.data + key_at(&b, 1, 3) + 20, 0.75f);
    kfi_store_f32(b.data + turn_at(&b, 1, 0) + 8, 1.0f);
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);

    /* On one component only: it goes for all, and that is said. */
    plugin_track(&test, 0, KF_TRANSLATION)->curve[1].tcb[1].tension = -0.5f;
    plugin_change(&plugin_track(&test, 0, KF_TRANSLATION)->curve[1], 1, KF_CHANGED_TCB);
    assert_true(plugin_export(&test, true));
    assert_int_equal(kfi_said(test.job, "tcb-shared"), 1);
    kfi_store_f32(b.data + key_at(&b, 1, 1) + 8, -0.5f);
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);
    plugin_close(&test);
}

static void test_value_and_time(void **state)
{
    (void)state;
    static const uint32_t kinds[3] = {KFI_NYTRO_TCB, KFI_NYTRO_BEZIER, KFI_NYTRO_LINEAR};
    for (int k = 0; k < 3; k++) {
        plugin_test test;
        bytes b;
        open_file(&test, &b, kinds[k]);
        kf_track *move = plugin_track(&test, 0, KF_TRANSLATION);
        move->curve[2].keys[1].value = 8.0;
        plugin_change(&move->curve[2], 1, KF_CHANGED_VALUE);
        for (unsigned c = 0; c < 3; c++) {
            move->curve[c].keys[3].time = 1.5;
            plugin_change(&move->curve[c], 3, KF_CHANGED_TIME);
        }
        assert_true(plugin_export(&test, true));
        /* A BEZIER key's tangents follow from its neighbours: the edit bends more than FBX showed. */
        assert_int_equal(kfi_said(test.job, "tangents-derived"), k == 1);
        kfi_store_f32(b.data + key_at(&b, kinds[k], 1) + values(kinds[k]) + 8, 8.0f);
        kfi_store_f32(b.data + key_at(&b, kinds[k], 3) + 4, 1.5f);
        assert_int_equal(plugin_changed_bytes(&test, 0), 0);
        plugin_close(&test);
    }
}

static void edit_turn(plugin_test *test, size_t i, double degrees, double x, double y, double z)
{
    kf_quat_curve *turn = &plugin_track(test, 0, KF_ROTATION)->quat;
    const double axis[3] = {x, y, z};
    kfi_quat_from_axis(degrees, axis, turn->keys[i].q);
    plugin_change_quat(turn, i, KF_CHANGED_VALUE);
}

static void test_turns_keep_their_form(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_LINEAR);
    edit_turn(&test, 1, -61, 0, 1, 0);   /* -60 about y */
    edit_turn(&test, 2, 50, 1, 0, 0);    /* 400 about x: 50 more than a turn is 410 */
    edit_turn(&test, 3, -165, 0, 0, -1); /* -530 about -2 z */
    assert_true(plugin_export(&test, true));
    const float angles[3] = {-61, 410, -525};
    for (size_t i = 0; i < 3; i++) { /* the axes keep their bytes, their length too */
        float angle = kfi_load_f32(output(&test) + turn_at(&b, 4, i + 1) + 8);
        assert_true(fabsf(angle - angles[i]) < 1e-4f);
        kfi_store_f32(b.data + turn_at(&b, 4, i + 1) + 8, angle);
    }
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);

    edit_turn(&test, 0, 20, 0.6, 0, 0.8); /* about another axis: 30 about z before */
    edit_turn(&test, 1, 0, 1, 0, 0);      /* no rotation has no axis: the original's stays */
    assert_true(plugin_export(&test, true));
    const uint8_t *record = output(&test) + turn_at(&b, 4, 0) + 8;
    assert_true(fabsf(kfi_load_f32(record) - 20.0f) < 1e-4f &&
                fabsf(kfi_load_f32(record + 4) - 0.6f) < 1e-6f &&
                fabsf(kfi_load_f32(record + 12) - 0.8f) < 1e-6f);
    record = output(&test) + turn_at(&b, 4, 1) + 8;
    assert_true(kfi_load_f32(record) == 0.0f && kfi_load_f32(record + 8) == 1.0f);
    plugin_close(&test);
}

static void test_key_added_and_removed(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_TCB);
    kf_track *move = plugin_track(&test, 0, KF_TRANSLATION);
    for (unsigned c = 0; c < 3; c++) {
        plugin_remove(&move->curve[c], 1);
        plugin_insert(&test, &move->curve[c], 3, (kf_key){.time = 2.125, .value = c, .interp = KF_TCB});
        move->curve[c].tcb[3].continuity = 0.5f;
    }
    for (unsigned c = 0; c < 3; c++)
        plugin_remove(&move->curve[c], 0);
    assert_true(plugin_export(&test, true));
    assert_int_equal(plugin_output(&test, 0)->size, b.size - 40);
    const uint8_t *keys = output(&test) + b.keys_at;
    assert_int_equal(kfi_load_u32(keys - 12), 4);
    assert_memory_equal(keys, b.data + key_at(&b, 1, 2), 80);
    assert_memory_equal(keys + 120, b.data + key_at(&b, 1, 4), 40 + 44 * TURNS);
    const float added[10] = {0, 2.125f, 0, 0.5f, 0, 0, 0, 0, 1, 2};
    for (size_t i = 1; i < 10; i++)
        assert_true(kfi_load_f32(keys + 80 + 4 * i) == added[i]);
    plugin_close(&test);
}

/* The node read again by the importer: what the engine would play. */
static const kf_anim *played(plugin_test *test)
{
    const kfi_emitted *out = plugin_output(test, 0);
    kf_file *file = kfi_alloc(test->job, 1, sizeof *file);
    *file = (kf_file){"again.x", out->data, out->size};
    const kf_anim *anim = kfi_import(test->job, test->format, file, 1);
    assert_non_null(anim);
    return anim;
}

static double worst_difference(const kf_anim *anim, const kf_anim *wanted)
{
    double worst = 0.0;
    for (size_t t = 0; t < wanted->takes[0].track_count; t++) {
        const kf_track *a = &anim->takes[0].tracks[t], *b = &wanted->takes[0].tracks[t];
        for (double time = -0.1; time < 2.4; time += 0.003) {
            if (b->quaternion) {
                double p[4], q[4];
                kfi_quat_curve_value(&a->quat, time, p);
                kfi_quat_curve_value(&b->quat, time, q);
                worst = fmax(worst, kfi_quat_angle(p, q));
            }
            for (unsigned c = 0; c < b->curves; c++)
                worst = fmax(worst, fabs(kfi_curve_value(&a->curve[c], time, 0) -
                                         kfi_curve_value(&b->curve[c], time, 0)));
        }
    }
    return worst;
}

static uint32_t node_flags(const plugin_test *test, const bytes *b)
{
    return kfi_load_u32(output(test) + b->keys_at - 16);
}

/* A LINEAR node whose rotation becomes TCB: all of it is TCB then, the lines still lines. */
static void test_linear_node_gets_tcb(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_LINEAR);
    kf_quat_curve *turn = &plugin_track(&test, 0, KF_ROTATION)->quat;
    turn->tcb = kfi_alloc(test.job, turn->count, sizeof *turn->tcb);
    for (size_t i = 0; i < turn->count; i++) {
        turn->keys[i].interp = KF_TCB;
        turn->tcb[i].tension = 0.25f;
        plugin_change_quat(turn, i, KF_CHANGED_INTERP | KF_CHANGED_TCB);
    }
    plugin_track(&test, 0, KF_TRANSLATION)->state = KF_TRACK_SAME;
    assert_true(plugin_export(&test, true));
    assert_int_equal(node_flags(&test, &b), KFI_NYTRO_TCB);
    assert_int_equal(kfi_said(test.job, "node-kind"), 1);
    assert_int_equal(kfi_said(test.job, "keys-added"), 0);
    assert_true(worst_difference(played(&test), test.edited) < 1e-5);
    /* values keep their bytes in the longer records */
    assert_memory_equal(output(&test) + b.keys_at + 40 + 28, b.data + key_at(&b, 4, 1) + 8, 12);
    plugin_close(&test);
}

/* A TCB node with nothing but lines left is a LINEAR one. */
static void test_tcb_node_becomes_linear(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_TCB);
    kf_quat_curve *turn = &plugin_track(&test, 0, KF_ROTATION)->quat;
    for (size_t i = 0; i < turn->count; i++) {
        turn->keys[i].interp = KF_LINEAR;
        plugin_change_quat(turn, i, KF_CHANGED_INTERP);
    }
    for (unsigned c = 0; c < 3; c++)
        for (size_t i = 0; i < KEYS; i++) {
            plugin_track(&test, 0, KF_TRANSLATION)->curve[c].keys[i].interp = KF_LINEAR;
            plugin_change(&plugin_track(&test, 0, KF_TRANSLATION)->curve[c], i, KF_CHANGED_INTERP);
        }
    assert_true(plugin_export(&test, true));
    assert_int_equal(node_flags(&test, &b), KFI_NYTRO_LINEAR);
    assert_int_equal(plugin_output(&test, 0)->size, b.size - 20 * (KEYS + TURNS));
    assert_true(worst_difference(played(&test), test.edited) < 1e-5);
    plugin_close(&test);
}

/* One line among TCB keys: the node stays TCB and follows, with more keys if need be. */
static void test_tcb_node_gets_a_line(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_TCB);
    for (unsigned c = 0; c < 3; c++) {
        kf_curve *curve = &plugin_track(&test, 0, KF_TRANSLATION)->curve[c];
        curve->keys[2].interp = KF_LINEAR;
        plugin_change(curve, 2, KF_CHANGED_INTERP);
    }
    assert_true(plugin_export(&test, true));
    assert_int_equal(node_flags(&test, &b), KFI_NYTRO_TCB);
    assert_int_equal(kfi_said(test.job, "keys-added"), 1);
    double worst = worst_difference(played(&test), test.edited);
    if (!(worst < 9e-4)) /* 1e-4 of the range */
        fail_msg("%g", worst);
    plugin_close(&test);
}

/* Tangents that the engine would not give: more keys, said so, and the curve as it was drawn. A few of them
 * and the node stays BEZIER; for more it becomes TCB, which needs fewer. */
static void test_bezier_tangent(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        plugin_test test;
        bytes b;
        open_file(&test, &b, KFI_NYTRO_BEZIER);
        kf_curve *x = &plugin_track(&test, 0, KF_TRANSLATION)->curve[0];
        double slope = k == 0 ? 4.0 / 3.0 + 5e-4 : -6.0; /* the engine gives 4/3 */
        x->handles[2].out = kfi_slope_handle(slope, 1.0);
        x->handles[2].in = kfi_slope_handle(slope, -0.5);
        plugin_change(x, 2, KF_CHANGED_IN | KF_CHANGED_OUT);
        assert_true(plugin_export(&test, true));
        assert_int_equal(node_flags(&test, &b), k == 0 ? KFI_NYTRO_BEZIER : KFI_NYTRO_TCB);
        assert_int_equal(kfi_said(test.job, "keys-added"), k);
        assert_int_equal(kfi_said(test.job, "tangents-derived"), 0);
        const kf_anim *again = played(&test);
        double worst = worst_difference(again, test.edited);
        if (!(worst < 3e-4)) /* 1e-4 of the range */
            fail_msg("%g", worst);
        assert_true(again->takes[0].tracks[0].curve[0].count <= KEYS + (k == 0 ? 0 : 50));
        if (k == 0)
            assert_int_equal(plugin_changed_bytes(&test, 0), 0);
        plugin_close(&test);
    }
}

/* A tangent that is broken is more than a BEZIER key can have: the node becomes TCB. */
static void test_bezier_corner(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_BEZIER);
    kf_curve *x = &plugin_track(&test, 0, KF_TRANSLATION)->curve[0];
    x->handles[2].out = kfi_slope_handle(-6.0, 1.0);
    plugin_change(x, 2, KF_CHANGED_OUT);
    assert_true(plugin_export(&test, true));
    assert_int_equal(node_flags(&test, &b), KFI_NYTRO_TCB);
    assert_int_equal(kfi_said(test.job, "tangents-derived"), 0);
    double worst = worst_difference(played(&test), test.edited);
    if (!(worst < 9e-4))
        fail_msg("%g", worst);
    plugin_close(&test);
}

/* Slopes that T, C and B can say get them back: the numbers themselves, no key more. */
static void test_slopes_become_numbers(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_TCB);
    kf_track *move = plugin_track(&test, 0, KF_TRANSLATION);
    for (unsigned c = 0; c < 3; c++) {
        kf_curve slopes;
        for (size_t i = 0; i < KEYS; i++) /* without ease, which slopes do not have */
            move->curve[c].tcb[i].ease_in = move->curve[c].tcb[i].ease_out = 0.0f;
        assert_true(kfi_curve_to_slopes(test.job, &move->curve[c], 1e-9, &slopes));
        assert_int_equal(slopes.count, KEYS);
        for (size_t i = 0; i < KEYS; i++)
            assert_int_equal(slopes.keys[i].interp, KF_HERMITE);
        slopes.origin = NULL;
        slopes.tcb = NULL;
        move->curve[c] = slopes;
    }
    plugin_track(&test, 0, KF_ROTATION)->quat.count = 1;
    assert_true(plugin_export(&test, false));
    assert_int_equal(kfi_said(test.job, "keys-added"), 0);
    const kf_track *again = &played(&test)->takes[0].tracks[0];
    assert_int_equal(again->curve[0].count, KEYS);
    for (size_t i = 1; i + 1 < KEYS; i++) {
        if (i == 3) /* tension -1 and bias 1: the numbers of that key have other solutions */
            continue;
        assert_true(fabsf(again->curve[0].tcb[i].tension - TCB[i][0]) < 1e-3f);
        assert_true(fabsf(again->curve[0].tcb[i].continuity - TCB[i][1]) < 1e-3f);
        assert_true(fabsf(again->curve[0].tcb[i].bias - TCB[i][2]) < 1e-3f);
    }
    assert_true(worst_difference(played(&test), test.edited) < 9e-4);
    plugin_close(&test);
}

/* x, y and z with keys at different times (which conform should have seen to): all of them together. */
static void test_uneven_components(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_LINEAR);
    kf_track *move = plugin_track(&test, 0, KF_TRANSLATION);
    plugin_insert(&test, &move->curve[0], 1, (kf_key){.time = 0.25, .value = -1.0, .interp = KF_LINEAR});
    plugin_remove(&move->curve[1], 2);
    assert_true(plugin_export(&test, true));
    assert_int_equal(kfi_load_u32(output(&test) + b.keys_at - 12), KEYS + 1);
    assert_true(worst_difference(played(&test), test.edited) < 1e-6);
    plugin_close(&test);
}

static void test_takes_nodes_names(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_LINEAR);
    test.edited->takes[0].name = "runs";
    assert_true(plugin_export(&test, true));
    assert_non_null(memchr(output(&test), 'r', 30));
    memcpy(b.data + 20, "runs", 4);
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);

    /* A new node behind the others; the old one dropped. */
    kf_node *node = &test.edited->nodes[0];
    node->source = -1;
    node->name = "tail";
    assert_true(plugin_export(&test, true));
    const kf_anim *again = played(&test);
    assert_int_equal(again->node_count, 1);
    assert_string_equal(again->nodes[0].name, "tail");
    plugin_close(&test);
}

/* ---------------------------------------------------------------- without the original */

static void test_fresh(void **state)
{
    (void)state;
    static const uint32_t kinds[3] = {KFI_NYTRO_TCB, KFI_NYTRO_BEZIER, KFI_NYTRO_LINEAR};
    for (int k = 0; k < 3; k++) {
        plugin_test test;
        bytes b = file_of(kinds[k], false, 1, false);
        /* A fresh file has no author; nothing else differs but an axis of length 2. */
        plugin_open(&test, &kfi_format_nytro_anim, true);
        plugin_load_one(&test, b.data, b.size);
        assert_true(plugin_export(&test, false));
        assert_string_equal(plugin_output(&test, 0)->name, "output.x");
        const uint8_t *out = output(&test);
        size_t author = strlen("somebody");
        assert_int_equal(plugin_output(&test, 0)->size, b.size - author);
        assert_memory_equal(out + b.keys_at - author - 20, b.data + b.keys_at - 20,
                            turn_at(&b, kinds[k], 0) - b.keys_at + 20);
        for (size_t i = 0; i < TURNS; i++) { /* turns and all; about either end of the axis */
            const uint8_t *at = out + turn_at(&b, kinds[k], i) - author + values(kinds[k]);
            float sign = 0.0f, length = i == 3 ? 2.0f : 1.0f;
            for (int c = 0; c < 3; c++)
                sign += kfi_load_f32(at + 4 + 4 * c) * ANGLES[i][c + 1] / length;
            assert_true(fabsf(fabsf(sign) - 1.0f) < 1e-6f);
            assert_true(fabsf(kfi_load_f32(at) * sign - ANGLES[i][0]) < 1e-3f);
        }
        plugin_close(&test);
    }
}

/* Curves that no node of the format has: within tolerance all the same. */
static void test_fresh_any_curve(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_file(&test, &b, KFI_NYTRO_BEZIER);
    kf_track *move = plugin_track(&test, 0, KF_TRANSLATION);
    for (unsigned c = 0; c < 3; c++)
        for (size_t i = 0; i < KEYS; i++) {
            move->curve[c].handles[i].out =
                kfi_slope_handle(10.0 * c - 5.0, i + 1 < KEYS ? TIMES[i + 1] - TIMES[i] : 0);
            move->curve[c].keys[i].interp = i == 1 ? KF_LINEAR : KF_HERMITE;
        }
    test.edited->nodes[0].rest.scale[1] = 3.0;
    assert_true(plugin_export(&test, false));
    const kf_anim *again = played(&test);
    double worst = worst_difference(again, test.edited);
    if (!(worst < 9e-4))
        fail_msg("%g", worst);
    assert_true(again->takes[0].tracks[0].curve[0].count < 200);
    /* A scale that does not move, but is not 1, is one key. */
    assert_int_equal(again->takes[0].track_count, 3);
    assert_int_equal(again->takes[0].tracks[2].curve[1].count, 1);
    assert_true(again->takes[0].tracks[2].curve[1].keys[0].value == 3.0);
    plugin_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_oddities),
        cmocka_unit_test(test_check_offsets),
        cmocka_unit_test(test_unedited),
        cmocka_unit_test(test_one_number),
        cmocka_unit_test(test_value_and_time),
        cmocka_unit_test(test_turns_keep_their_form),
        cmocka_unit_test(test_key_added_and_removed),
        cmocka_unit_test(test_linear_node_gets_tcb),
        cmocka_unit_test(test_tcb_node_becomes_linear),
        cmocka_unit_test(test_tcb_node_gets_a_line),
        cmocka_unit_test(test_bezier_tangent),
        cmocka_unit_test(test_bezier_corner),
        cmocka_unit_test(test_slopes_become_numbers),
        cmocka_unit_test(test_uneven_components),
        cmocka_unit_test(test_takes_nodes_names),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_fresh_any_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
