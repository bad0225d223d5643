/* Midtown Madness 2 clips: dialects, rigs, edits, fresh files. Bytes are made here by hand, not by our
 * encoder. */
#include "format.h"
#include "formats/mm2_anim.h"
#include "formats/mm2_skel.h"
#include "helper_library.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const kf_format *format(void)
{
    return library_format("mm2-anim");
}

/* ---------------------------------------------------------------- bytes by hand */

typedef struct bytes {
    uint8_t data[4096];
    size_t size;
} bytes;

static void put(bytes *to, const void *data, size_t size)
{
    assert_true(to->size + size <= sizeof to->data);
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void put_word(bytes *to, uint32_t word)
{
    const uint8_t little[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                               (uint8_t)(word >> 24)};
    put(to, little, 4);
}

static void put_float(bytes *to, float value)
{
    uint32_t word;
    memcpy(&word, &value, 4);
    put_word(to, word);
}

static void put_channel(bytes *to, uint32_t frames, uint32_t floats, float unknown, uint8_t type)
{
    put_word(to, floats);
    put_float(to, unknown);
    put(to, &type, 1);
    for (uint32_t i = 0; i < frames * floats; i++)
        put_float(to, (float)i * 0.37f - 1.0f);
}

/* A clip with one channel. */
static bytes simple(uint32_t count, uint32_t frames, uint32_t bones)
{
    bytes b = {.size = 0};
    put_word(&b, count);
    put_word(&b, frames);
    put_channel(&b, frames, 3 * bones + 3, 1.5f, 1);
    return b;
}

static bytes old(uint32_t frames, uint32_t bones)
{
    bytes b = {.size = 0};
    put_word(&b, frames);
    put_word(&b, bones);
    put_float(&b, 2.5f);
    put(&b, "\1", 1);
    for (uint32_t i = 0; i < frames * (3 * bones + 3); i++)
        put_float(&b, (float)i);
    return b;
}

static const kf_anim *import_as(kf_job *job, const bytes *b, const char *name)
{
    kf_file *file = kfi_alloc(job, 1, sizeof *file);
    *file = (kf_file){name, b->data, b->size};
    return kfi_import(job, format(), file, 1);
}

/* ---------------------------------------------------------------- reading */

static void assert_identical(const bytes *b)
{
    kf_job *job = library_job(NULL);
    kfi_mm2_anim clip;
    assert_true(kfi_mm2_decode(job, b->data, b->size, &clip));
    kfi_writer out;
    kfi_writer_init(&out, job, 0);
    assert_true(kfi_mm2_encode(&out, &clip));
    assert_int_equal(out.size, b->size);
    assert_memory_equal(out.data, b->data, b->size);
    kf_job_free(job);
}

static void test_dialects_come_back(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 2; count++)
        for (uint32_t frames = 0; frames < 4; frames++)
            for (uint32_t bones = 0; bones < 4; bones++) {
                bytes b = simple(count, frames, bones);
                assert_identical(&b);
            }
    for (uint32_t frames = 1; frames < 4; frames++)
        for (uint32_t bones = 0; bones < 4; bones++) {
            bytes b = old(frames, bones);
            assert_identical(&b);
        }
    bytes b = {.size = 0};
    put_word(&b, 3);
    put_word(&b, 2);
    put_channel(&b, 2, 9, 1.0f, 1);
    put_channel(&b, 2, 0, -1.0f, 7);
    put_channel(&b, 2, 5, 0.0f, 0);
    assert_identical(&b);
}

static void test_old_is_told_by_size(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    kfi_mm2_anim clip;
    bytes b = old(3, 2);
    assert_true(kfi_mm2_decode(job, b.data, b.size, &clip));
    assert_true(clip.old);
    assert_int_equal(clip.frame_count, 3);
    assert_int_equal(clip.channels[0].floats, 9);
    /* What the five bytes say is nobody's business, unless they make a newer file that was cut off. */
    memcpy(b.data + 8, "\6\0\0\0\0", 5);
    assert_true(kfi_mm2_decode(job, b.data, b.size, &clip));
    assert_true(clip.old);
    assert_int_equal(kfi_mm2_probe(b.data, b.size), 30);
    b.data[16] = 1;
    assert_false(kfi_mm2_decode(job, b.data, b.size, &clip));
    assert_int_equal(kfi_mm2_probe(b.data, b.size), 0);
    b = simple(0, 3, 2);
    assert_true(kfi_mm2_decode(job, b.data, b.size, &clip));
    assert_false(clip.old);
    assert_int_equal(clip.channel_count, 1);
    assert_int_equal(clip.stored_count, 0);
    kf_job_free(job);
}

static void test_probe(void **state)
{
    (void)state;
    bytes b = simple(0, 4, 3);
    assert_int_equal(kfi_mm2_probe(b.data, b.size), 100);
    for (size_t size = 0; size < b.size; size++)
        assert_int_equal(kfi_mm2_probe(b.data, size), 0);
    b.data[16] = 2; /* another type of channel */
    assert_int_equal(kfi_mm2_probe(b.data, b.size), 0);
    b = old(4, 3);
    int low = kfi_mm2_probe(b.data, b.size);
    assert_true(low > 0 && low < 50);
    memcpy(b.data + 13 + 8, "\0\0\xc0\x7f", 4); /* no finite number */
    assert_int_equal(kfi_mm2_probe(b.data, b.size), 0);
    b = (bytes){.size = 0};
    put_word(&b, 0);
    put_word(&b, 2);
    put_channel(&b, 2, 7, 0, 1); /* no triples */
    assert_int_equal(kfi_mm2_probe(b.data, b.size), 0);
}

static void test_text_is_refused(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    kfi_mm2_anim clip;
    const char *text = "ped_walk\r\nped_run\r\n";
    assert_false(kfi_mm2_decode(job, (const uint8_t *)text, strlen(text), &clip));
    assert_int_equal(job->error.code, KF_BAD_INPUT);
    assert_non_null(strstr(job->error.message, "plain text"));
    kf_job_free(job);
}

static void test_import(void **state)
{
    (void)state;
    kf_options options = {.size = sizeof options, .frame_rate = 25};
    kf_job *job = library_job(&options);
    bytes b = {.size = 0};
    put_word(&b, 2);
    put_word(&b, 3);
    put_channel(&b, 3, 9, 1.0f, 1);
    put_channel(&b, 3, 2, -1.0f, 7);
    memcpy(b.data + 17 + 4 * (9 + 4), "\0\0\x80\x7f", 4); /* frame 1, bone 0, y: infinite */
    const kf_anim *anim = import_as(job, &b, "walk.anim");
    assert_non_null(anim);
    assert_true(anim->frame_rate == 25 && anim->float32 && anim->basis.scale[1] == 100);
    assert_int_equal(anim->node_count, 3);
    assert_string_equal(anim->nodes[1].name, "bone_01");
    assert_string_equal(anim->nodes[2].name, "channels");
    assert_string_equal(anim->nodes[2].properties[0].name, "channel1_type");
    assert_true(anim->nodes[2].properties[0].value[0] == 7);
    const kf_take *take = &anim->takes[0];
    assert_string_equal(take->name, "walk");
    assert_true(take->start == 0 && take->end == 2 / 25.0);
    assert_int_equal(take->track_count, 5);
    const kf_track *track = &take->tracks[0];
    assert_true(track->channel == KF_TRANSLATION && track->node == 0 && track->curves == 3);
    assert_true(track->curve[2].keys[1].value == (double)(float)(11 * 0.37f - 1.0f));
    track = &take->tracks[1];
    assert_true(track->channel == KF_ROTATION && track->node == 0);
    double degrees = (double)(4 * 0.37f - 1.0f) * 180 / acos(-1);
    assert_true(fabs(track->curve[1].keys[0].value - degrees) < 1e-12);
    assert_true(track->curve[1].keys[1].value == track->curve[1].keys[0].value); /* holds */
    assert_true(track->curve[1].keys[1].flags & KF_KEY_NONFINITE);
    assert_false(track->curve[1].keys[2].flags & KF_KEY_NONFINITE);
    assert_true(track->curve[1].keys[2].interp == KF_LINEAR && track->curve[1].keys[2].time == 2 / 25.0);
    assert_string_equal(take->tracks[4].name, "channel1_0001");
    assert_true(take->tracks[4].curves == 1 && take->tracks[4].curve[0].count == 3);
    assert_int_equal(kfi_said(job, "nonfinite"), 1);
    kf_job_free(job);
}

/* ---------------------------------------------------------------- rigs */

static const char RIG[] =
    "NumBones 3\r\nbone hips {\r\n\toffset 0 0.9 -1e-1\r\n\tbone spine {\r\n\t\toffset .5 -2. "
    "3.25\r\n\t\tstiffness 3 4\r\n\t}\r\n\tbone tail{offset 1 2 3}\r\n}\r\n";

static void test_rig(void **state)
{
    (void)state;
    kf_options options = {.size = sizeof options, .rig = {"ped.skel", RIG, sizeof RIG - 1}};
    kf_job *job = library_job(&options);
    bytes b = simple(0, 2, 3);
    const kf_anim *anim = import_as(job, &b, "walk.anim");
    assert_non_null(anim);
    assert_int_equal(anim->node_count, 3);
    assert_string_equal(anim->nodes[0].name, "hips");
    assert_string_equal(anim->nodes[2].name, "tail");
    assert_true(anim->nodes[0].parent == -1 && anim->nodes[1].parent == 0 && anim->nodes[2].parent == 0);
    assert_true(anim->nodes[0].rest.translation[1] == 0.9 && anim->nodes[0].rest.translation[2] == -0.1);
    assert_true(anim->nodes[1].rest.translation[0] == 0.5 && anim->nodes[1].rest.translation[1] == -2.0);
    kf_job_free(job);

    job = library_job(&options);
    b = simple(0, 2, 5);
    assert_null(import_as(job, &b, "walk.anim"));
    assert_int_equal(job->error.code, KF_BAD_INPUT);
    assert_non_null(strstr(job->error.message, "5"));
    assert_non_null(strstr(job->error.message, "3"));
    kf_job_free(job);
}

static void test_bad_rigs(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", "NumBones"},
        {"bones 3", "NumBones"},
        {"NumBones", "number"},
        {"NumBones x", "number"},
        {"NumBones 0", "no bones"},
        {"NumBones 2 bone a { }", "NumBones says 2, but there are 1"},
        {"NumBones 1 bone a {", "}"},
        {"NumBones 1 bone a { offset 1 2 }", "number"},
        {"NumBones 1 bone a { offset 1 2 3e }", "number"},
        {"NumBones 1 bone a { offset 1e999 2 3 }", "number"},
        {"NumBones 1 bone a }", "{"},
        {"NumBones 1 bone { }", "name"},
        {"NumBones 1 bone", "name"},
        {"NumBones 1 bone a { } }", "a bone"},
        {"NumBones 1 bone a { } stray", "a bone"},
        {"NumBones 1 bone a { { } }", "offset, bone"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kf_job *job = library_job(NULL);
        kfi_mm2_skel skel;
        size_t size = strlen(bad[i][0]);
        char *exact = malloc(size + 1); /* of just that size, for the sanitizer */
        memcpy(exact + 1, bad[i][0], size);
        assert_false(kfi_mm2_skel_parse(job, exact + 1, size, &skel));
        if (!strstr(job->error.message, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], job->error.message);
        free(exact);
        kf_job_free(job);
    }
}

static void test_deep_rig(void **state)
{
    (void)state;
    for (int depth = KFI_MM2_SKEL_DEPTH; depth <= KFI_MM2_SKEL_DEPTH + 1; depth++) {
        kf_job *job = library_job(NULL);
        kfi_mm2_skel skel;
        char text[8192];
        int at = snprintf(text, sizeof text, "NumBones %d ", depth);
        for (int i = 0; i < depth; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "bone b%d {", i);
        for (int i = 0; i < depth; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "}");
        assert_int_equal(kfi_mm2_skel_parse(job, text, (size_t)at, &skel), depth == KFI_MM2_SKEL_DEPTH);
        kf_job_free(job);
    }
}

/* ---------------------------------------------------------------- writing */

static kf_origin *identity(kf_job *job, size_t count)
{
    kf_origin *origin = kfi_alloc(job, count, sizeof *origin);
    for (size_t i = 0; i < count; i++)
        origin[i].key = (uint32_t)i;
    return origin;
}

/* As it comes back unedited, to be edited by the test. */
static kf_anim *comes_back(kf_job *job, const kf_anim *anim)
{
    kf_anim *back = kfi_alloc(job, 1, sizeof *back);
    *back = *anim;
    back->takes = kfi_alloc(job, anim->take_count, sizeof *back->takes);
    for (size_t i = 0; i < anim->take_count; i++) {
        back->takes[i] = anim->takes[i];
        back->takes[i].tracks = kfi_alloc(job, anim->takes[i].track_count + 4, sizeof(kf_track));
        for (size_t t = 0; t < anim->takes[i].track_count; t++) {
            kf_track *track = &back->takes[i].tracks[t];
            *track = anim->takes[i].tracks[t];
            track->state = KF_TRACK_CHANGED;
            for (unsigned c = 0; c < track->curves; c++) {
                kf_curve *curve = &track->curve[c];
                kf_key *keys = kfi_alloc(job, curve->count + 4, sizeof *keys);
                memcpy(keys, curve->keys, curve->count * sizeof *keys);
                curve->keys = keys;
                curve->origin = identity(job, curve->count);
            }
        }
    }
    return back;
}

static void change(kf_track *track, unsigned c, size_t key, double value)
{
    track->curve[c].keys[key].value = value;
    ((kf_origin *)track->curve[c].origin)[key].changed = KF_CHANGED_VALUE;
}

static const kfi_emitted *export_to(kf_job *job, const kf_anim *back, const kf_anim *original,
                                    const kf_file *files, size_t count)
{
    return kfi_export(job, format(), back, original, files, count, "out.anim") ? job->emitted : NULL;
}

static void test_edit_changes_four_bytes(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    bytes b = simple(0, 4, 2);
    memcpy(b.data + 17 + 4 * 5, "\1\2\xc0\x7f", 4); /* a NaN with a payload, in the same curve as the edit */
    kf_file file = {"walk.anim", b.data, b.size};
    const kf_anim *anim = kfi_import(job, format(), &file, 1);
    kf_anim *back = comes_back(job, anim);
    change(&back->takes[0].tracks[1], 2, 3, 90.0); /* bone 0, z, frame 3 */
    const kfi_emitted *out = export_to(job, back, anim, &file, 1);
    assert_non_null(out);
    assert_string_equal(out->name, "walk.anim");
    assert_int_equal(out->size, b.size);
    size_t at = 17 + 4 * (3 * 9 + 5);
    const uint8_t *data = out->data;
    assert_memory_equal(data, b.data, at);
    assert_memory_equal(data + at + 4, b.data + at + 4, b.size - at - 4);
    assert_true(kfi_load_f32(data + at) == 1.57079632679489662f);
    kf_job_free(job);
}

/* The older layout is known by its size alone: a clip of which no frame is left gets the newer one. */
static void test_old_without_frames(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    kfi_mm2_anim clip;
    bytes b = old(3, 2);
    kf_file file = {"walk.anim", b.data, b.size};
    const kf_anim *anim = kfi_import(job, format(), &file, 1);
    kf_anim *back = comes_back(job, anim);
    back->takes[0].end = 1 / 30.0;
    const kfi_emitted *out = export_to(job, back, anim, &file, 1);
    assert_true(out && kfi_mm2_decode(job, out->data, out->size, &clip));
    assert_true(clip.old && clip.frame_count == 2);
    assert_int_equal(kfi_said(job, "layout"), 0);
    back->takes[0].end = -1;
    out = export_to(job, back, anim, &file, 1);
    assert_true(out && kfi_mm2_decode(job, out->data, out->size, &clip));
    assert_true(!clip.old && clip.frame_count == 0 && clip.channels[0].floats == 9);
    assert_int_equal(kfi_said(job, "layout"), 1);
    kf_job_free(job);
}

static void test_frames_added_and_removed(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    bytes b = simple(1, 4, 1);
    kf_file file = {"walk.anim", b.data, b.size};
    const kf_anim *anim = kfi_import(job, format(), &file, 1);
    kf_anim *back = comes_back(job, anim);
    back->takes[0].end = 5 / 30.0;
    back->takes[0].tracks[1].state = KF_TRACK_SAME; /* holds its last frame's bits */
    const kfi_emitted *out = export_to(job, back, anim, &file, 1);
    assert_non_null(out);
    const uint8_t *data = out->data;
    assert_int_equal(out->size, 17 + 6 * 6 * 4);
    assert_int_equal(kfi_load_u32(data), 1);
    assert_int_equal(kfi_load_u32(data + 4), 6);
    assert_memory_equal(data + 8, b.data + 8, b.size - 8);
    assert_memory_equal(data + 17 + 4 * 24, data + 17 + 3 * 24, 24);
    assert_memory_equal(data + 17 + 5 * 24, data + 17 + 3 * 24, 24);
    back->takes[0].end = 1 / 30.0;
    out = export_to(job, back, anim, &file, 1);
    assert_non_null(out);
    data = out->data;
    assert_int_equal(out->size, 17 + 2 * 24);
    assert_memory_equal(data + 8, b.data + 8, out->size - 8);
    kf_job_free(job);
}

static void test_new_node_is_told_of(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        kf_options options = {.size = sizeof options, .strict = strict};
        kf_job *job = library_job(&options);
        bytes b = simple(0, 4, 1);
        kf_file file = {"walk.anim", b.data, b.size};
        const kf_anim *anim = kfi_import(job, format(), &file, 1);
        kf_anim *back = comes_back(job, anim);
        back->nodes = NULL;
        back->node_count = 0;
        kfi_add_node(job, back, "bone_00", -1);
        kf_node *hat = kfi_add_node(job, back, "hat", 0);
        hat->source = -1;
        kf_track *track = &back->takes[0].tracks[back->takes[0].track_count++];
        *track = back->takes[0].tracks[1];
        track->node = 1;
        track->source = -1;
        track->state = KF_TRACK_NEW;
        const kfi_emitted *out = export_to(job, back, anim, &file, 1);
        if (strict) {
            assert_null(out);
            assert_int_equal(job->error.code, KF_INEXPRESSIBLE);
            assert_non_null(strstr(job->error.message, "hat"));
        } else {
            assert_non_null(out);
            assert_int_equal(kfi_said(job, "dropped"), 1);
            assert_int_equal(out->size, b.size);
            assert_memory_equal(out->data, b.data, b.size);
        }
        kf_job_free(job);
    }
}

/* Made from nothing: bones in pre-order whatever the nodes' order, another rotation order, a custom channel.
 */
static void test_fresh(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    kf_anim anim;
    kfi_anim_init(&anim, "fbx");
    static const struct {
        const char *name;
        int32_t parent;
    } nodes[] = {{"hips", -1}, {"l_leg", 0}, {"r_leg", 0}, {"l_foot", 1}, {"flags", -1}};
    for (size_t i = 0; i < 5; i++)
        kfi_add_node(job, &anim, nodes[i].name, nodes[i].parent)->source = -1;
    anim.nodes[2].order = KF_ZYX;
    anim.nodes[3].rest.rotation[1] = 30;
    kf_take *take = kfi_add_take(job, &anim, "Take 001");
    take->source = -1;
    take->end = 1 / 30.0;
    static const struct {
        uint32_t node;
        kf_channel channel;
        const char *name;
        double value[3];
    } tracks[] = {{0, KF_TRANSLATION, NULL, {1, 2, 3}},
                  {0, KF_ROTATION, NULL, {10, 20, 30}},
                  {1, KF_ROTATION, NULL, {720, 0, -90}},
                  {2, KF_ROTATION, NULL, {90, 90, 0}},
                  {4, KF_CUSTOM, "channel3_0001", {7, 0, 0}}};
    for (size_t i = 0; i < 5; i++) {
        kf_track *track = kfi_add_track(job, take, tracks[i].node, tracks[i].channel, tracks[i].name ? 1 : 3);
        track->name = tracks[i].name;
        for (unsigned c = 0; c < track->curves; c++) {
            kfi_make_keys(job, &track->curve[c], 2, 0);
            for (size_t k = 0; k < 2; k++)
                track->curve[c].keys[k] =
                    (kf_key){.time = (double)k / 30, .value = tracks[i].value[c], .interp = KF_LINEAR};
        }
    }
    const kfi_emitted *out = export_to(job, &anim, NULL, NULL, 0);
    assert_non_null(out);
    assert_string_equal(out->name, "out.anim");
    kfi_mm2_anim clip;
    assert_true(kfi_mm2_decode(job, out->data, out->size, &clip));
    assert_int_equal(clip.channel_count, 4);
    assert_int_equal(clip.stored_count, 4);
    assert_int_equal(clip.frame_count, 2);
    const kfi_mm2_channel *bones = &clip.channels[0];
    assert_int_equal(bones->floats, 3 + 4 * 3);
    assert_int_equal(bones->type, 1);
    /* hips, l_leg, l_foot, then r_leg */
    const double expected[12] = {1, 2, 3, 10, 20, 30, 720, 0, -90, 0, 30, 0};
    for (size_t i = 0; i < 12; i++) {
        double value = (double)kfi_load_f32(bones->frames + 4 * i) * (i < 3 ? 1 : 180 / acos(-1));
        assert_true(fabs(value - expected[i]) < 1e-4);
    }
    /* r_leg turns about Z, Y, X in this order: Y takes the x axis to -z, X takes that to y */
    double y = (double)kfi_load_f32(bones->frames + 52), z = (double)kfi_load_f32(bones->frames + 56);
    assert_true(fabs(cos(y) * cos(z)) < 1e-6 && fabs(cos(y) * sin(z) - 1) < 1e-6 && fabs(sin(y)) < 1e-6);
    assert_int_equal(clip.channels[1].floats, 0);
    assert_int_equal(clip.channels[2].floats, 0);
    assert_int_equal(clip.channels[3].floats, 2);
    assert_true(kfi_load_f32(clip.channels[3].frames + 4) == 7.0f);
    assert_int_equal(kfi_said(job, "channel-type"), 1);
    kf_job_free(job);
}

/* Programs sort by name: bone_10 must not come before bone_2. */
static void test_fresh_by_number(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    kf_anim anim;
    kfi_anim_init(&anim, "fbx");
    static const char *const names[] = {"bone_0", "bone_10", "bone_2"};
    for (size_t i = 0; i < 3; i++) {
        kf_node *node = kfi_add_node(job, &anim, names[i], -1);
        node->source = -1;
        node->rest.rotation[0] = i == 1 ? 10 : i == 2 ? 2 : 0;
    }
    const kfi_emitted *out = export_to(job, &anim, NULL, NULL, 0); /* no take: a pose */
    assert_non_null(out);
    kfi_mm2_anim clip;
    assert_true(kfi_mm2_decode(job, out->data, out->size, &clip));
    assert_int_equal(clip.stored_count, 0);
    assert_int_equal(clip.frame_count, 1);
    assert_int_equal(clip.channels[0].floats, 12);
    assert_true(fabs((double)kfi_load_f32(clip.channels[0].frames + 4 * 6) * 180 / acos(-1) - 2) < 1e-5);
    assert_true(fabs((double)kfi_load_f32(clip.channels[0].frames + 4 * 9) * 180 / acos(-1) - 10) < 1e-5);
    kf_job_free(job);
}

/* Several clips of one skeleton are several takes, and go back to their files. */
static void test_several_files(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    bytes a = simple(0, 4, 2), b = simple(1, 2, 2);
    kf_file files[2] = {{"walk.anim", a.data, a.size}, {"run.anim", b.data, b.size}};
    const kf_anim *anim = kfi_import(job, format(), files, 2);
    assert_non_null(anim);
    assert_int_equal(anim->take_count, 2);
    assert_int_equal(anim->node_count, 2);
    assert_non_null(export_to(job, comes_back(job, anim), anim, files, 2));
    assert_int_equal(job->emitted_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(job->emitted[i].name, files[i].name);
        assert_int_equal(job->emitted[i].size, files[i].size);
        assert_memory_equal(job->emitted[i].data, files[i].data, files[i].size);
    }
    kf_job_free(job);
}

static void test_check(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    bytes b = simple(0, 4, 2);
    kf_file file = {"walk.anim", b.data, b.size};
    assert_true(kf_check(job, &file, NULL));
    memcpy(b.data + 17 + 4 * 11, "\0\0\x80\x7f", 4);
    kf_error error;
    assert_false(kf_check(job, &file, &error));
    const kf_message *found = NULL;
    for (size_t i = 0; i < job->message_count; i++)
        if (job->messages[i].level == KF_PROBLEM)
            found = &job->messages[i];
    assert_non_null(found);
    assert_int_equal(found->offset, 17 + 4 * 11);
    assert_non_null(strstr(found->text, "frame 1, float 2"));
    kf_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialects_come_back),
        cmocka_unit_test(test_old_is_told_by_size),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_text_is_refused),
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_rig),
        cmocka_unit_test(test_bad_rigs),
        cmocka_unit_test(test_deep_rig),
        cmocka_unit_test(test_edit_changes_four_bytes),
        cmocka_unit_test(test_old_without_frames),
        cmocka_unit_test(test_frames_added_and_removed),
        cmocka_unit_test(test_new_node_is_told_of),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_fresh_by_number),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, library_set_up, library_tear_down);
}
