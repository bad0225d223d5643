/* Evil Islands parts: what is read, and what an edit does to the bytes. */
#include "formats/ei_anm.h"
#include "helper_plugin.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

extern const kf_format kfi_format_ei_anm;

/* ---------------------------------------------------------------- files made by hand */

typedef struct bytes {
    uint8_t data[1024];
    size_t size;
} bytes;

static void put_u32(bytes *b, uint32_t value)
{
    kfi_store_u32(b->data + b->size, value);
    b->size += 4;
}

static void put_f32(bytes *b, size_t count, const float *values)
{
    for (size_t i = 0; i < count; i++, b->size += 4)
        kfi_store_f32(b->data + b->size, values[i]);
}

enum {
    FRAMES = 4,
    VERTICES = 2,
    ROTATIONS_AT = 4,
    TRANSLATIONS_AT = 4 + 16 * FRAMES + 4,
    MORPHS_AT = TRANSLATIONS_AT + 12 * FRAMES + 8
};

static const float ROTATIONS[FRAMES][4] = {
    {1, 0, 0, 0}, {-0.70710678f, -0.70710678f, 0, 0}, {0, 3, 0, 0}, {0.5f, 0.5f, 0.5f, 0.5f}};
static const float TRANSLATIONS[FRAMES][3] = {{1, 2, 3}, {1.5f, -0.0f, 3}, {2, 2, 3.25f}, {4, 0, 0}};
static const float MORPHS[FRAMES][VERTICES][3] = {{{0, 0, 0}, {1, 0, 0}},
                                                  {{0.5f, 0, 0}, {1, 1, -0.0f}},
                                                  {{0.25f, 0, 1}, {0, 2, 0}},
                                                  {{-0.05f, -0.08f, 0.125f}, {0.1f, 0.2f, 0.3f}}};

/* morphs: 0 short tail, 1 long tail, 2 with morph frames */
static bytes part(int morphs)
{
    bytes b = {.size = 0};
    put_u32(&b, FRAMES);
    put_f32(&b, 4 * FRAMES, ROTATIONS[0]);
    put_u32(&b, FRAMES);
    put_f32(&b, 3 * FRAMES, TRANSLATIONS[0]);
    put_u32(&b, morphs == 2 ? FRAMES : 0);
    if (morphs > 0)
        put_u32(&b, morphs == 2 ? VERTICES : 0);
    if (morphs == 2)
        put_f32(&b, 3 * VERTICES * FRAMES, MORPHS[0][0]);
    return b;
}

static float output_f32(const plugin_test *test, size_t at)
{
    const kfi_emitted *output = plugin_output(test, 0);
    assert_true(at + 4 <= output->size);
    return kfi_load_f32((const uint8_t *)output->data + at);
}

/* ---------------------------------------------------------------- bytes */

static void test_decode(void **state)
{
    (void)state;
    for (int tail = 0; tail < 3; tail++) {
        bytes b = part(tail);
        kf_job job = {0};
        kfi_arena_init(&job.arena, (kf_allocator){0}, UINT64_MAX);
        kfi_reader in;
        kfi_ei_anm anm;
        kfi_reader_init(&in, &job, b.data, b.size);
        assert_true(kfi_ei_anm_decode(&in, &anm));
        assert_int_equal(anm.rotation_count, FRAMES);
        assert_int_equal(anm.translation_count, FRAMES);
        assert_int_equal(anm.short_tail, tail == 0);
        assert_int_equal(anm.morph_frames, tail == 2 ? FRAMES : 0);
        assert_int_equal(anm.morph_vertices, tail == 2 ? VERTICES : 0);
        kfi_writer out;
        kfi_writer_init(&out, &job, 0);
        kfi_ei_anm_encode(&anm, &out);
        assert_int_equal(out.size, b.size);
        assert_memory_equal(out.data, b.data, b.size);
        kfi_arena_free(&job.arena);
    }
}

static void refused(bytes b, uint64_t offset, const char *field)
{
    kf_job job = {.error = {.offset = KF_NO_OFFSET}};
    kfi_reader in;
    kfi_ei_anm anm;
    kfi_reader_init(&in, &job, b.data, b.size);
    assert_false(kfi_ei_anm_decode(&in, &anm));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    assert_int_equal(job.error.offset, offset);
    assert_non_null(strstr(job.error.message, field));
    assert_int_equal(kfi_format_ei_anm.probe(b.data, b.size), 0);
}

static void test_refuses(void **state)
{
    (void)state;
    bytes b = part(2);
    kfi_store_u32(b.data, 0x10000001);
    refused(b, 0, "rotation_frame_count");
    b = part(2);
    kfi_store_u32(b.data + TRANSLATIONS_AT - 4, 0xffffffff);
    refused(b, TRANSLATIONS_AT - 4, "translation_frame_count");
    b = part(2);
    kfi_store_u32(b.data + MORPHS_AT - 8, 0xffffffff);
    kfi_store_u32(b.data + MORPHS_AT - 4, 0xffffffff);
    refused(b, MORPHS_AT - 4, "morph_vertex_count");
    b = part(2);
    kfi_store_u32(b.data + MORPHS_AT - 8, 0x80000000); /* times 12 this is 0 in 64 bits */
    kfi_store_u32(b.data + MORPHS_AT - 4, 0x80000000);
    refused(b, MORPHS_AT - 4, "morph_vertex_count");
    b = part(2);
    b.size -= 1;
    refused(b, MORPHS_AT - 4, "morph_vertex_count");
    b = part(2);
    b.size += 1;
    refused(b, b.size - 1, "end of the file");
    b = part(1);
    kfi_store_u32(b.data + b.size - 8, 5); /* frames, but the vertex count is cut off */
    b.size -= 4;
    refused(b, b.size, "morph_vertex_count");
}

static void test_probe(void **state)
{
    (void)state;
    bytes b = part(2);
    int loose = kfi_format_ei_anm.probe(b.data, b.size);
    assert_true(loose > 0);
    kfi_store_f32(b.data + ROTATIONS_AT + 2 * 16 + 4, 1.0f); /* the one that was 3 long */
    assert_true(kfi_format_ei_anm.probe(b.data, b.size) > loose);
    assert_int_equal(kfi_format_ei_anm.probe(b.data, 0), 0);
}

/* ---------------------------------------------------------------- import */

static void test_import(void **state)
{
    (void)state;
    plugin_test test;
    bytes b = part(2);
    plugin_open(&test, &kfi_format_ei_anm, false);
    kf_file file = {"r_pereponka.anm", b.data, b.size};
    plugin_load(&test, &file, 1);
    const kf_anim *anim = test.original;
    assert_int_equal(anim->node_count, 1);
    assert_string_equal(anim->nodes[0].name, "r_pereponka");
    assert_true(anim->float32 && anim->frame_rate == 15.0 && anim->basis.rotation[0] == -90.0);
    assert_true(anim->takes[0].start == 0.0 && fabs(anim->takes[0].end - 3.0 / 15.0) < 1e-12);
    assert_int_equal(anim->takes[0].track_count, 2 + FRAMES);

    const kf_track *move = &anim->takes[0].tracks[0], *turn = &anim->takes[0].tracks[1];
    assert_true(move->channel == KF_TRANSLATION && turn->channel == KF_ROTATION && turn->quaternion);
    for (size_t i = 0; i < FRAMES; i++) {
        for (unsigned c = 0; c < 3; c++) {
            assert_true(move->curve[c].keys[i].value == (double)TRANSLATIONS[i][c]);
            assert_true(move->curve[c].keys[i].interp == KF_LINEAR);
        }
        assert_true(fabs(turn->quat.keys[i].time - (double)i / 15.0) < 1e-12);
    }
    assert_true(turn->quat.keys[2].q[1] == 1.0); /* brought to length 1 */

    const kf_mesh *mesh = anim->nodes[0].mesh;
    assert_non_null(mesh);
    assert_int_equal(mesh->point_count, VERTICES);
    assert_int_equal(mesh->shape_count, FRAMES);
    assert_string_equal(mesh->shapes[3].name, "morph_003");
    assert_true(mesh->points[1][0] == 0.0 && mesh->shapes[3].offset[1][2] == (double)0.3f);
    /* At any time the weights are the game's blend of two frames. */
    for (double frame = 0.0; frame <= FRAMES - 1; frame += 0.125) {
        double weights[FRAMES];
        for (size_t s = 0; s < FRAMES; s++) {
            const kf_curve *curve = &anim->takes[0].tracks[2 + s].curve[0];
            weights[s] = 0.0;
            for (size_t k = 0; k < curve->count; k++) {
                double away = fabs(curve->keys[k].time * 15.0 - frame);
                if (away < 1.0)
                    weights[s] += curve->keys[k].value * (1.0 - away);
            }
            assert_true(fabs(weights[s] - fmax(0.0, 1.0 - fabs((double)s - frame))) < 1e-12);
        }
    }
    plugin_close(&test);
}

static void test_oddities(void **state)
{
    (void)state;
    bytes b = part(2);
    memset(b.data + ROTATIONS_AT, 0, 16);                     /* a zero quaternion */
    kfi_store_u32(b.data + ROTATIONS_AT + 16, 0x7fc00000);    /* NaN */
    kfi_store_u32(b.data + TRANSLATIONS_AT + 12, 0x7f800000); /* infinite */
    kfi_store_u32(b.data + MORPHS_AT + 4, 0xffc00000);        /* NaN */
    plugin_test test;
    plugin_open(&test, &kfi_format_ei_anm, false);
    plugin_load_one(&test, b.data, b.size);
    assert_int_equal(kfi_said(test.job, "zero-quaternion"), 1);
    assert_int_equal(kfi_said(test.job, "nonfinite"), 3);
    const kf_track *move = plugin_track(&test, 0, KF_TRANSLATION),
                   *turn = plugin_track(&test, 0, KF_ROTATION);
    assert_true(turn->quat.keys[0].q[0] == 1.0);
    assert_true(turn->quat.keys[1].q[0] == 1.0 && turn->quat.keys[1].flags == KF_KEY_NONFINITE);
    assert_true(move->curve[0].keys[1].value == 1.0 && move->curve[0].keys[1].flags ==
                (KF_KEY_NONFINITE | KF_KEY_INFINITE));
    assert_true(plugin_export(&test, true));
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);

    kf_error error;
    assert_false(kf_check(test.job, &test.files[0], &error));
    assert_int_equal(kfi_said(test.job, "not-unit"), 2); /* the zero one and the one of length 3 */
    assert_int_equal(error.code, KF_BAD_INPUT);
    plugin_close(&test);
}

/* ---------------------------------------------------------------- edits with the original */

static void open_part(plugin_test *test, bytes *b, int morphs)
{
    *b = part(morphs);
    plugin_open(test, &kfi_format_ei_anm, true);
    plugin_load_one(test, b->data, b->size);
}

static void test_unedited(void **state)
{
    (void)state;
    for (int tail = 0; tail < 3; tail++) {
        plugin_test test;
        bytes b;
        open_part(&test, &b, tail);
        assert_true(plugin_export(&test, true));
        assert_int_equal(plugin_changed_bytes(&test, 0), 0);
        plugin_close(&test);
    }
}

static void test_one_component(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_part(&test, &b, 2);
    kf_curve *y = &plugin_track(&test, 0, KF_TRANSLATION)->curve[1];
    y->keys[2].value = 7.5;
    plugin_change(y, 2, KF_CHANGED_VALUE);
    assert_true(plugin_export(&test, true));
    assert_true(output_f32(&test, TRANSLATIONS_AT + 2 * 12 + 4) == 7.5f);
    kfi_store_f32(b.data + TRANSLATIONS_AT + 2 * 12 + 4, 7.5f);
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);
    plugin_close(&test);
}

static void test_one_rotation(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_part(&test, &b, 0);
    kf_quat_curve *turn = &plugin_track(&test, 0, KF_ROTATION)->quat;
    /* The original has the negative of a quarter turn; so must a turn near it. */
    const double q[4] = {0.8, 0.6, 0.0, 0.0};
    memcpy(turn->keys[1].q, q, sizeof q);
    plugin_change_quat(turn, 1, KF_CHANGED_VALUE);
    assert_true(plugin_export(&test, true));
    assert_true(output_f32(&test, ROTATIONS_AT + 16) == -0.8f &&
                output_f32(&test, ROTATIONS_AT + 20) == -0.6f);
    for (size_t i = 0; i < 16; i++)
        b.data[ROTATIONS_AT + 16 + i] =
            ((const uint8_t *)plugin_output(&test, 0)->data)[ROTATIONS_AT + 16 + i];
    assert_int_equal(plugin_changed_bytes(&test, 0), 0); /* the one 3 long is untouched */
    plugin_close(&test);
}

static void test_shape(void **state)
{
    (void)state;
    for (int weights = 0; weights < 2;
         weights++) { /* the weights known to be untouched, or only their keys */
        plugin_test test;
        bytes b;
        open_part(&test, &b, 2);
        for (size_t i = 2; i < test.edited->takes[0].track_count; i++)
            test.edited->takes[0].tracks[i].state = weights ? KF_TRACK_CHANGED : KF_TRACK_SAME;
        test.edited->nodes[0].mesh->shapes[2].offset[1][0] = -4.0;
        assert_true(plugin_export(&test, true));
        size_t at = MORPHS_AT + (2 * VERTICES + 1) * 12;
        assert_true(output_f32(&test, at) == -4.0f);
        kfi_store_f32(b.data + at, -4.0f);
        assert_int_equal(plugin_changed_bytes(&test, 0), 0);
        plugin_close(&test);
    }
}

/* A program may give back a shape of the vertices that move only, or no mesh at all. */
static void test_sparse_shape(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_part(&test, &b, 2);
    uint32_t index[1] = {1};
    double offset[1][3] = {{1.0, 0.0, 0.0}};
    kf_shape *shape = &test.edited->nodes[0].mesh->shapes[0];
    *shape = (kf_shape){.name = shape->name, .index = index, .offset = offset, .count = 1};
    assert_true(plugin_export(&test, true));
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);
    test.edited->nodes[0].mesh = NULL;
    assert_true(plugin_export(&test, true));
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);
    plugin_close(&test);
}

static void test_weights(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_part(&test, &b, 2);
    /* Frame 1 becomes half of shape 1 and a quarter of shape 3. */
    kf_take *take = &test.edited->takes[0];
    kf_curve *second = &take->tracks[2 + 1].curve[0], *last = &take->tracks[2 + 3].curve[0];
    second->keys[1].value = 0.5;
    plugin_change(second, 1, KF_CHANGED_VALUE);
    plugin_insert(&test, last, 0, (kf_key){.time = 1.0 / 15.0, .value = 0.25, .interp = KF_LINEAR});
    plugin_insert(&test, last, 0, (kf_key){.time = 0.0, .value = 0.0, .interp = KF_LINEAR});
    assert_true(plugin_export(&test, true));
    for (size_t v = 0; v < VERTICES; v++)
        for (size_t c = 0; c < 3; c++) {
            double expected = 0.5 * (double)MORPHS[1][v][c] + 0.25 * (double)MORPHS[3][v][c];
            size_t at = MORPHS_AT + (VERTICES + v) * 12 + 4 * c;
            assert_true(fabs((double)output_f32(&test, at) - expected) < 1e-7);
            memcpy(b.data + at, (const uint8_t *)plugin_output(&test, 0)->data + at, 4);
        }
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);
    plugin_close(&test);
}

static void test_frames_added_and_removed(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_part(&test, &b, 1);
    kf_track *move = plugin_track(&test, 0, KF_TRANSLATION);
    for (unsigned c = 0; c < 3; c++) {
        plugin_insert(&test, &move->curve[c], 4,
                      (kf_key){.time = 4.0 / 15.0, .value = 9.0 + c, .interp = KF_LINEAR});
        /* and two frames on, with nothing between: a line */
        plugin_insert(&test, &move->curve[c], 5,
                      (kf_key){.time = 6.0 / 15.0, .value = 11.0 + c, .interp = KF_LINEAR});
    }
    plugin_track(&test, 0, KF_ROTATION)->quat.count = 2;
    assert_true(plugin_export(&test, true));
    const uint8_t *out = plugin_output(&test, 0)->data;
    assert_int_equal(kfi_load_u32(out), 2);
    assert_memory_equal(out + 4, b.data + 4, 32);
    assert_int_equal(kfi_load_u32(out + 36), 7);
    assert_memory_equal(out + 40, b.data + TRANSLATIONS_AT, 12 * FRAMES);
    for (size_t i = 0; i < 9; i++)
        assert_true(kfi_load_f32(out + 40 + 12 * FRAMES + 4 * i) == (float)(9 + i / 3 + i % 3));
    assert_int_equal(plugin_output(&test, 0)->size, 4 + 32 + 4 + 84 + 8);
    plugin_close(&test);
}

static void test_moved_frame(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_part(&test, &b, 1);
    /* The frame of length 3 moves from 2 to 3, over the last one, and keeps its bytes. */
    kf_quat_curve *turn = &plugin_track(&test, 0, KF_ROTATION)->quat;
    turn->keys[2].time = turn->keys[3].time;
    plugin_change_quat(turn, 2, KF_CHANGED_TIME);
    turn->count = 3;
    assert_true(plugin_export(&test, true));
    const uint8_t *out = plugin_output(&test, 0)->data;
    assert_int_equal(kfi_load_u32(out), 4);
    assert_memory_equal(out + ROTATIONS_AT + 48, b.data + ROTATIONS_AT + 32, 16);
    plugin_close(&test);
}

/* ---------------------------------------------------------------- several parts, and none */

static void test_parts(void **state)
{
    (void)state;
    bytes a = part(0), b = part(2);
    kf_file files[2] = {{"arm.anm", a.data, a.size}, {"wing.anm", b.data, b.size}};
    plugin_test test;
    plugin_open(&test, &kfi_format_ei_anm, true);
    plugin_load(&test, files, 2);
    assert_int_equal(test.original->node_count, 2);
    assert_string_equal(test.original->nodes[1].name, "wing");
    kf_curve *x = &plugin_track(&test, 1, KF_TRANSLATION)->curve[0];
    x->keys[0].value = 100.0;
    plugin_change(x, 0, KF_CHANGED_VALUE);
    assert_true(plugin_export(&test, true));
    assert_int_equal(test.job->emitted_count, 2);
    assert_string_equal(plugin_output(&test, 0)->name, "arm.anm");
    assert_string_equal(plugin_output(&test, 1)->name, "wing.anm");
    assert_int_equal(plugin_changed_bytes(&test, 0), 0);
    kfi_store_f32(b.data + TRANSLATIONS_AT, 100.0f);
    assert_int_equal(plugin_changed_bytes(&test, 1), 0);

    /* A node that is new becomes a file of its own; one that is gone leaves none. */
    kf_track *track = plugin_track(&test, 0, KF_TRANSLATION);
    kf_node *node = &test.edited->nodes[0];
    node->name = "tail/tip";
    node->source = -1;
    track->state = KF_TRACK_NEW;
    track->source = -1;
    assert_true(plugin_export(&test, true));
    assert_int_equal(test.job->emitted_count, 2);
    assert_string_equal(plugin_output(&test, 0)->name, "tail_tip.anm");
    assert_string_equal(plugin_output(&test, 1)->name, "wing.anm");
    plugin_close(&test);
}

/* Without an original: the same frames, quaternions of length 1. */
static void test_fresh(void **state)
{
    (void)state;
    plugin_test test;
    bytes b;
    open_part(&test, &b, 2);
    assert_true(plugin_export(&test, false));
    assert_string_equal(plugin_output(&test, 0)->name, "output.x");
    const uint8_t *out = plugin_output(&test, 0)->data;
    assert_int_equal(plugin_output(&test, 0)->size, b.size);
    for (size_t i = 0; i < FRAMES; i++) {
        double dot = 0.0, length = 0.0;
        for (size_t c = 0; c < 4; c++) {
            double value = kfi_load_f32(out + ROTATIONS_AT + 16 * i + 4 * c);
            dot += value * (double)ROTATIONS[i][c];
            length += value * value;
        }
        assert_true(fabs(length - 1.0) < 1e-6 && fabs(fabs(dot) - (i == 2 ? 3.0 : 1.0)) < 1e-6);
    }
    for (size_t at = TRANSLATIONS_AT - 4; at < b.size; at += 4) /* -0 may have become 0 */
        assert_true(kfi_load_u32(out + at) == kfi_load_u32(b.data + at) ||
                    (kfi_load_f32(out + at) == 0.0f && kfi_load_f32(b.data + at) == 0.0f));
    plugin_close(&test);
}

static void test_fresh_start_and_takes(void **state)
{
    (void)state;
    plugin_test test;
    bytes b = part(0);
    plugin_open(&test, &kfi_format_ei_anm, false);
    plugin_load_one(&test, b.data, b.size);
    /* Frame 0 is where the take starts. */
    kf_take *take = &test.edited->takes[0];
    take->start = 1.0 / 15.0;
    for (unsigned c = 0; c < 3; c++)
        plugin_remove(&plugin_track(&test, 0, KF_TRANSLATION)->curve[c], 0);
    for (size_t i = 0; i < 3; i++)
        plugin_track(&test, 0, KF_ROTATION)->quat.keys[i] =
            plugin_track(&test, 0, KF_ROTATION)->quat.keys[i + 1];
    plugin_track(&test, 0, KF_ROTATION)->quat.count = 3;
    kf_take *takes = kfi_alloc(test.job, 2, sizeof *takes);
    takes[0] = takes[1] = *take;
    takes[1].name = "other";
    test.edited->takes = takes;
    test.edited->take_count = 2;
    assert_true(plugin_export(&test, false));
    assert_int_equal(kfi_said(test.job, "take-lost"), 1);
    const uint8_t *out = plugin_output(&test, 0)->data;
    assert_int_equal(kfi_load_u32(out), 3);
    assert_int_equal(kfi_load_u32(out + 4 + 48), 3);
    assert_memory_equal(out + 4 + 48 + 4, b.data + TRANSLATIONS_AT + 12, 36);
    plugin_close(&test);
}

/* Below another node: the game turns a part by its own rotation first, then by its parent's, about the
 * model's axes. */
static void test_fresh_below_another(void **state)
{
    (void)state;
    bytes a = part(0), b = part(0);
    kf_file files[2] = {{"arm.anm", a.data, a.size}, {"hand.anm", b.data, b.size}};
    plugin_test test;
    plugin_open(&test, &kfi_format_ei_anm, true);
    plugin_load(&test, files, 2);
    test.edited->nodes[1].parent = 0;
    kf_quat_curve *arm = &plugin_track(&test, 0, KF_ROTATION)->quat;
    kf_quat_curve *hand = &plugin_track(&test, 1, KF_ROTATION)->quat;
    const double h = sqrt(0.5);
    for (size_t i = 0; i < FRAMES; i++) { /* the arm a quarter about z, the hand a quarter about x below it */
        memcpy(arm->keys[i].q, (double[4]){h, 0, 0, h}, sizeof(double[4]));
        memcpy(hand->keys[i].q, (double[4]){h, h, 0, 0}, sizeof(double[4]));
    }
    assert_true(plugin_export(&test, false));
    assert_int_equal(test.job->emitted_count, 2);
    assert_string_equal(plugin_output(&test, 1)->name, "hand.anm");
    const uint8_t *out = plugin_output(&test, 1)->data;
    for (size_t i = 0; i < FRAMES; i++) { /* which is a quarter about y */
        const float expected[4] = {(float)h, 0, (float)h, 0};
        for (size_t c = 0; c < 4; c++)
            assert_true(fabsf(kfi_load_f32(out + ROTATIONS_AT + 16 * i + 4 * c) - expected[c]) < 1e-6f);
    }
    plugin_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_oddities),
        cmocka_unit_test(test_unedited),
        cmocka_unit_test(test_one_component),
        cmocka_unit_test(test_one_rotation),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_sparse_shape),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_frames_added_and_removed),
        cmocka_unit_test(test_moved_frame),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_fresh_start_and_takes),
        cmocka_unit_test(test_fresh_below_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
