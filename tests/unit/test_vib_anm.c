/* Vib-Ribbon animations: numbers, what a frame shows, edits, fresh files. Bytes are made here by hand, not by
 * our encoder, and what is written is read by a second reader (shows). */
#include "format.h"
#include "formats/vib_anm.h"
#include "helper_library.h"
#include "vib-anm/vib.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const kf_format *format(void)
{
    return library_format("vib-anm");
}

/* ---------------------------------------------------------------- bytes by hand */

typedef struct bytes {
    uint8_t data[140000];
    size_t size;
    size_t table; /* where the next frame's offset goes */
} bytes;

static void put_word(bytes *to, uint16_t word)
{
    assert_true(to->size + 2 <= sizeof to->data);
    to->data[to->size++] = (uint8_t)word;
    to->data[to->size++] = (uint8_t)(word >> 8);
}

static void next_frame(bytes *to)
{
    to->data[to->table++] = (uint8_t)(to->size / 2);
    to->data[to->table++] = (uint8_t)(to->size / 2 >> 8);
}

static bytes *begin(uint16_t rate, uint16_t frames)
{
    bytes *to = calloc(1, sizeof *to);
    assert_non_null(to);
    put_word(to, 0x8000);
    put_word(to, rate);
    put_word(to, frames);
    to->table = to->size;
    to->size += 2 * (frames + 1u);
    next_frame(to);
    return to;
}

static void put_keyframe(bytes *to, uint8_t object, uint8_t flags, const int16_t *values)
{
    to->data[to->size++] = object;
    to->data[to->size++] = flags;
    for (unsigned part = 0; part < 3; part++)
        for (unsigned c = 0; c < 3 && (flags >> part & 1); c++)
            put_word(to, (uint16_t)*values++);
}

/* ---------------------------------------------------------------- a second reader */

typedef struct shown {
    bool drawn;
    bool stored[3];
    int16_t part[3][3];
} shown;

/* What the game shows of an object in a frame: a scale that is not stored is 1, the rest holds. */
static shown shows(const void *file, size_t size, unsigned frame, unsigned object)
{
    const uint8_t *data = file;
    shown s = {.part = {{0}, {4096, 4096, 4096}, {0}}};
    for (unsigned f = 0; f <= frame; f++) {
        size_t at = (data[6 + 2 * f] + 256u * data[7 + 2 * f]) * 2;
        size_t end = (data[8 + 2 * f] + 256u * data[9 + 2 * f]) * 2;
        assert_true(at <= end && end <= size);
        s.drawn = false;
        memset(s.stored, 0, sizeof s.stored);
        while (at < end) {
            bool own = data[at] == object;
            uint8_t flags = data[at + 1];
            at += 2;
            if (own && !s.drawn)
                s.part[1][0] = s.part[1][1] = s.part[1][2] = 4096;
            s.drawn = s.drawn || own;
            for (unsigned part = 0; part < 3; part++)
                for (unsigned c = 0; c < 3 && (flags >> part & 1); c++, at += 2)
                    if (own) {
                        s.stored[part] = true;
                        s.part[part][c] = (int16_t)(data[at] | data[at + 1] << 8);
                    }
        }
        assert_int_equal(at, end);
    }
    return s;
}

/* ---------------------------------------------------------------- numbers */

static void test_every_number_survives(void **state)
{
    (void)state;
    for (int part = 0; part < KFI_VIB_PARTS; part++)
        for (int i = INT16_MIN; i <= INT16_MAX; i++) {
            bool clamped;
            double value = vib_value((kfi_vib_part)part, (int16_t)i);
            assert_true((double)(float)value == value);
            assert_int_equal(vib_stored((kfi_vib_part)part, (double)(float)value, &clamped), i);
            assert_false(clamped);
            /* and the drift that programs add: measured 3e-5, on scales 3e-7 */
            double drift = part == KFI_VIB_SCALE ? 3e-6 : 3e-4;
            assert_int_equal(vib_stored((kfi_vib_part)part, value + drift, &clamped), i);
            assert_int_equal(vib_stored((kfi_vib_part)part, value - drift, &clamped), i);
        }
    assert_true(vib_value(KFI_VIB_ROTATION, 1024) == 90 && vib_value(KFI_VIB_SCALE, -2048) == -0.5);
    assert_true(vib_value(KFI_VIB_POSITION, -7) == -7);
}

static void test_numbers_beyond(void **state)
{
    (void)state;
    bool clamped;
    assert_int_equal(vib_stored(KFI_VIB_POSITION, 40000, &clamped), 32767);
    assert_true(clamped);
    assert_int_equal(vib_stored(KFI_VIB_SCALE, -9, &clamped), -32768);
    assert_true(clamped);
    /* Turns may be dropped: the pose is the same. */
    assert_int_equal(vib_stored(KFI_VIB_ROTATION, 360 * 100 + 90, &clamped), 1024);
    assert_false(clamped);
    assert_int_equal(vib_stored(KFI_VIB_ROTATION, -360 * 100 - 90, &clamped), -1024);
    assert_int_equal(vib_stored(KFI_VIB_ROTATION, 1e300, &clamped) > -4096, true);
}

/* All 65,536 numbers in all three parts, through a file, 32-bit floats as FBX has them, and a fresh file. */
static void test_every_number_through_files(void **state)
{
    (void)state;
    enum { EACH = 5900 };
    for (int first = INT16_MIN; first <= INT16_MAX; first += EACH) {
        kf_job *job = library_job(NULL);
        unsigned frames = (unsigned)(INT16_MAX - first + 1 < EACH ? INT16_MAX - first + 1 : EACH);
        bytes *b = begin(30, (uint16_t)frames);
        for (unsigned i = 0; i < frames; i++) {
            int16_t v = (int16_t)(first + (int)i);
            const int16_t values[9] = {v, (int16_t)~v, v, v, v, (int16_t)~v, (int16_t)~v, v, v};
            put_keyframe(b, 5, 7, values);
            next_frame(b);
        }
        kf_file file = {"all.anm", b->data, b->size};
        const kf_anim *anim = kfi_import(job, format(), &file, 1);
        assert_non_null(anim);
        for (size_t t = 0; t < anim->takes[0].track_count; t++)
            for (unsigned c = 0; c < anim->takes[0].tracks[t].curves; c++) {
                kf_curve *curve = &anim->takes[0].tracks[t].curve[c];
                for (size_t k = 0; k < curve->count; k++)
                    curve->keys[k].value = (double)(float)curve->keys[k].value;
            }
        assert_true(kfi_export(job, format(), anim, NULL, NULL, 0, "fresh.anm"));
        assert_int_equal(job->emitted[0].size, b->size);
        assert_memory_equal(job->emitted[0].data, b->data, b->size);
        free(b);
        kf_job_free(job);
    }
}

/* ---------------------------------------------------------------- reading */

static bytes *story(void)
{
    /* frame 0: drawn bare; 1: rotation, scale; 2: hidden; 3: bare; 4: position, twice; 5: rotation, unknown
     * flags */
    bytes *b = begin(15, 6);
    put_keyframe(b, 9, 0, NULL);
    put_keyframe(b, 3, 0, NULL);
    next_frame(b);
    put_keyframe(b, 3, 3, (const int16_t[]){1024, 0, -1024, 2048, 2048, 4096});
    next_frame(b);
    put_keyframe(b, 9, 1, (const int16_t[]){1, 2, 3});
    next_frame(b);
    put_keyframe(b, 3, 0, NULL);
    next_frame(b);
    put_keyframe(b, 3, 5, (const int16_t[]){1, 1, 1, 10, 20, 30});
    put_keyframe(b, 3, 4, (const int16_t[]){11, 21, 31});
    next_frame(b);
    put_keyframe(b, 3, 0x81, (const int16_t[]){-32768, 32767, 5});
    next_frame(b);
    return b;
}

static const kf_track *find_track(const kf_anim *anim, const char *node, kf_channel channel)
{
    for (size_t i = 0; i < anim->takes[0].track_count; i++) {
        const kf_track *track = &anim->takes[0].tracks[i];
        if (track->channel == channel && strcmp(anim->nodes[track->node].name, node) == 0)
            return track;
    }
    return NULL;
}

static void assert_keys(const kf_track *track, unsigned c, double rate, size_t count, const double (*keys)[2])
{
    assert_non_null(track);
    assert_int_equal(track->curve[c].count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(track->curve[c].keys[i].time == keys[i][0] / rate);
        assert_true(track->curve[c].keys[i].value == keys[i][1]);
        assert_int_equal(track->curve[c].keys[i].interp, KF_STEP);
    }
}

static void test_import(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    bytes *b = story();
    kf_file file = {"dance.anm", b->data, b->size};
    const kf_anim *anim = kfi_import(job, format(), &file, 1);
    assert_non_null(anim);
    assert_true(anim->frame_rate == 15 && !anim->float32 && anim->basis.rotation[0] == 180);
    assert_int_equal(anim->node_count, 2);
    assert_string_equal(anim->nodes[0].name, "object_003");
    assert_string_equal(anim->nodes[1].name, "object_009");
    assert_string_equal(anim->takes[0].name, "dance");
    assert_true(anim->takes[0].start == 0 && anim->takes[0].end == 5 / 15.0);
    assert_keys(find_track(anim, "object_003", KF_ROTATION), 0, 15, 3,
                (const double[][2]){{1, 90}, {4, 360 / 4096.0}, {5, -2880}});
    assert_keys(find_track(anim, "object_003", KF_SCALE), 0, 15, 3,
                (const double[][2]){{0, 1}, {1, 0.5}, {3, 1}});
    assert_keys(find_track(anim, "object_003", KF_TRANSLATION), 2, 15, 1, (const double[][2]){{4, 31}});
    assert_keys(find_track(anim, "object_003", KF_VISIBILITY), 0, 15, 3,
                (const double[][2]){{0, 1}, {2, 0}, {3, 1}});
    assert_null(find_track(anim, "object_009", KF_SCALE));
    assert_keys(find_track(anim, "object_009", KF_VISIBILITY), 0, 15, 4,
                (const double[][2]){{0, 1}, {1, 0}, {2, 1}, {3, 0}});
    free(b);
    kf_job_free(job);
}

static void test_rates_and_orders(void **state)
{
    (void)state;
    static const struct {
        uint16_t word;
        double option, rate;
    } cases[] = {{1, 0, 30}, {15, 0, 15}, {60, 0, 60}, {20, 0, 20}, {0, 0, 30}, {61, 0, 30}, {20, 50, 50}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kf_options options = {.size = sizeof options, .frame_rate = cases[i].option, .rotation_order = "ZYX"};
        kf_job *job = library_job(&options);
        bytes *b = begin(cases[i].word, 1);
        put_keyframe(b, 0, 0, NULL);
        next_frame(b);
        kf_file file = {"a.anm", b->data, b->size};
        const kf_anim *anim = kfi_import(job, format(), &file, 1);
        assert_true(anim->frame_rate == cases[i].rate);
        assert_int_equal(anim->nodes[0].order, KF_ZYX);
        free(b);
        kf_job_free(job);
    }
}

/* ---------------------------------------------------------------- writing */

/* As it comes back unedited, to be edited by the test: all keys their own origin. */
static kf_anim *comes_back(kf_job *job, const kf_anim *anim)
{
    kf_anim *back = kfi_alloc(job, 1, sizeof *back);
    *back = *anim;
    back->nodes = NULL;
    back->node_count = 0;
    for (size_t i = 0; i < anim->node_count; i++)
        kfi_add_node(job, back, anim->nodes[i].name, -1);
    back->takes = kfi_alloc(job, 1, sizeof *back->takes);
    back->takes[0] = anim->takes[0];
    back->takes[0].tracks = kfi_alloc(job, anim->takes[0].track_count + 8, sizeof(kf_track));
    for (size_t t = 0; t < anim->takes[0].track_count; t++) {
        kf_track *track = &back->takes[0].tracks[t];
        *track = anim->takes[0].tracks[t];
        track->state = KF_TRACK_CHANGED;
        for (unsigned c = 0; c < track->curves; c++) {
            kf_curve *curve = &track->curve[c];
            kf_key *keys = kfi_alloc(job, curve->count + 4, sizeof *keys);
            kf_origin *origin = kfi_alloc(job, curve->count + 4, sizeof *origin);
            memcpy(keys, curve->keys, curve->count * sizeof *keys);
            for (size_t i = 0; i < curve->count; i++)
                origin[i].key = (uint32_t)i;
            curve->keys = keys;
            curve->origin = origin;
        }
    }
    return back;
}

static kf_track *edit(kf_anim *back, const char *node, kf_channel channel)
{
    return (kf_track *)find_track(back, node, channel);
}

/* Sets a value at a frame on all curves of a track: changes the key there, or adds one. */
static void set_key(kf_anim *back, kf_track *track, unsigned frame, double value)
{
    double time = frame / back->frame_rate;
    for (unsigned c = 0; c < track->curves; c++) {
        kf_curve *curve = &track->curve[c];
        kf_origin *origin = (kf_origin *)curve->origin;
        size_t at = 0;
        while (at < curve->count && curve->keys[at].time < time - 1e-9)
            at++;
        if (at < curve->count && fabs(curve->keys[at].time - time) < 1e-9) {
            origin[at].changed |= KF_CHANGED_VALUE;
        } else {
            memmove(&curve->keys[at + 1], &curve->keys[at], (curve->count - at) * sizeof *curve->keys);
            memmove(&origin[at + 1], &origin[at], (curve->count - at) * sizeof *origin);
            origin[at] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
            curve->keys[at] = (kf_key){.time = time, .interp = KF_STEP};
            curve->count++;
        }
        curve->keys[at].value = value;
    }
}

typedef struct scene {
    kf_job *job;
    bytes *b;
    kf_file file;
    const kf_anim *anim;
    kf_anim *back;
} scene;

static scene begin_scene(bytes *b, bool strict)
{
    kf_options options = {.size = sizeof options, .strict = strict};
    scene s = {.job = library_job(&options), .b = b};
    s.file = (kf_file){"dance.anm", b->data, b->size};
    kf_file *file = kfi_alloc(s.job, 1, sizeof *file);
    *file = s.file;
    s.anim = kfi_import(s.job, format(), file, 1);
    assert_non_null(s.anim);
    s.back = comes_back(s.job, s.anim);
    return s;
}

static const kfi_emitted *write_scene(scene *s)
{
    return kfi_export(s->job, format(), s->back, s->anim, &s->file, 1, "out.anm") ? s->job->emitted : NULL;
}

static void end_scene(scene *s)
{
    free(s->b);
    kf_job_free(s->job);
}

static void test_unedited(void **state)
{
    (void)state;
    scene s = begin_scene(story(), false);
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    assert_int_equal(out->size, s.b->size);
    assert_memory_equal(out->data, s.b->data, s.b->size);
    end_scene(&s);
}

static void test_edited_value(void **state)
{
    (void)state;
    scene s = begin_scene(story(), false);
    set_key(s.back, edit(s.back, "object_003", KF_TRANSLATION), 4, 100.4);
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    /* Only the numbers that count: the later of the two keyframes. */
    assert_int_equal(out->size, s.b->size);
    size_t differing = 0;
    for (size_t i = 0; i < out->size; i++)
        differing += ((const uint8_t *)out->data)[i] != s.b->data[i];
    assert_int_equal(differing, 3);
    assert_int_equal(shows(out->data, out->size, 4, 3).part[2][1], 100);
    end_scene(&s);
}

static void test_new_key_is_stored(void **state)
{
    (void)state;
    scene s = begin_scene(story(), false);
    set_key(s.back, edit(s.back, "object_003", KF_ROTATION), 3, 45);
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    assert_int_equal(out->size, s.b->size + 6);
    shown now = shows(out->data, out->size, 3, 3);
    assert_true(now.stored[0] && now.part[0][2] == 512 && !now.stored[1] && !now.stored[2]);
    /* The keys of the frames behind it are what they were. */
    now = shows(out->data, out->size, 4, 3);
    assert_true(now.stored[0] && now.part[0][0] == 1);
    end_scene(&s);
}

/* Hiding an object where it stored a rotation: the rotation must be stored where it is next drawn. */
static void test_hiding(void **state)
{
    (void)state;
    bytes *b = begin(30, 4);
    for (int16_t f = 0; f < 4; f++) {
        put_keyframe(b, 1, f < 2 ? 1 : 0, (const int16_t[]){(int16_t)(100 * f + 100), 0, 0});
        next_frame(b);
    }
    scene s = begin_scene(b, false);
    kf_track *visible = edit(s.back, "object_001", KF_VISIBILITY);
    set_key(s.back, visible, 1, 0);
    set_key(s.back, visible, 2, 1);
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    assert_true(shows(out->data, out->size, 0, 1).drawn && !shows(out->data, out->size, 1, 1).drawn);
    shown now = shows(out->data, out->size, 2, 1);
    assert_true(now.drawn && now.stored[0] && now.part[0][0] == 200);
    now = shows(out->data, out->size, 3, 1);
    assert_true(now.drawn && !now.stored[0] && now.part[0][0] == 200);
    end_scene(&s);
}

/* Showing an object in frames where it was not: what holds needs no storing, a scale does. */
static void test_showing(void **state)
{
    (void)state;
    bytes *b = begin(30, 4);
    put_keyframe(b, 1, 7, (const int16_t[]){1, 2, 3, 2048, 2048, 2048, 7, 8, 9});
    put_keyframe(b, 7, 0, NULL);
    next_frame(b);
    put_keyframe(b, 7, 0, NULL);
    next_frame(b);
    put_keyframe(b, 7, 0, NULL);
    next_frame(b);
    next_frame(b);
    scene s = begin_scene(b, false);
    s.back->takes[0].tracks[0].state = KF_TRACK_SAME;
    kf_track *visible = edit(s.back, "object_001", KF_VISIBILITY);
    visible->curve[0].count = 1; /* drawn from the start on */
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    for (unsigned f = 0; f < 4; f++) {
        shown now = shows(out->data, out->size, f, 1);
        assert_true(now.drawn && now.stored[0] == (f == 0) && now.stored[2] == (f == 0) && now.stored[1]);
        assert_true(now.part[0][2] == 3 && now.part[1][1] == 2048 && now.part[2][0] == 7);
        assert_int_equal(shows(out->data, out->size, f, 7).drawn, f < 3);
    }
    end_scene(&s);
}

/* A key in a frame where its object is not drawn shows when it is drawn again. */
static void test_hidden_key(void **state)
{
    (void)state;
    scene s = begin_scene(story(), true); /* nothing visible is lost: no warning, even if strict */
    set_key(s.back, edit(s.back, "object_003", KF_ROTATION), 2, 45);
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    assert_false(shows(out->data, out->size, 2, 3).drawn);
    shown now = shows(out->data, out->size, 3, 3);
    assert_true(now.stored[0] && now.part[0][0] == 512);
    assert_int_equal(kfi_said(s.job, "hidden-key"), 1);
    end_scene(&s);
}

static void test_clamping_is_told_of(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        scene s = begin_scene(story(), strict);
        set_key(s.back, edit(s.back, "object_003", KF_TRANSLATION), 4, 1e6);
        const kfi_emitted *out = write_scene(&s);
        assert_int_equal(out == NULL, strict);
        if (out) {
            assert_int_equal(kfi_said(s.job, "clamped"), 1);
            assert_int_equal(shows(out->data, out->size, 4, 3).part[2][0], 32767);
        } else {
            assert_int_equal(s.job->error.code, KF_INEXPRESSIBLE);
            assert_non_null(strstr(s.job->error.message, "object_003"));
        }
        end_scene(&s);
    }
}

static void test_longer_and_shorter(void **state)
{
    (void)state;
    scene s = begin_scene(story(), false);
    s.back->takes[0].end = 8 / 15.0;
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    assert_int_equal(((const uint8_t *)out->data)[4], 9);
    assert_true(shows(out->data, out->size, 8, 3).drawn && !shows(out->data, out->size, 8, 9).drawn);
    assert_int_equal(shows(out->data, out->size, 8, 3).part[0][0], -32768);
    s.back->takes[0].end = 2 / 15.0;
    out = write_scene(&s);
    assert_non_null(out);
    assert_int_equal(((const uint8_t *)out->data)[4], 3);
    assert_int_equal(out->size, 6 + 2 * 4 + 4 + 14 + 8);
    end_scene(&s);
}

static void test_new_objects(void **state)
{
    (void)state;
    scene s = begin_scene(story(), false);
    static const char *const names[] = {"object_005", "camera"};
    for (uint32_t i = 0; i < 2; i++) {
        kfi_add_node(s.job, s.back, names[i], -1)->source = -1;
        kf_track *track = &s.back->takes[0].tracks[s.back->takes[0].track_count++];
        *track = (kf_track){.node = 2 + i, .channel = KF_TRANSLATION, .curves = 3, .source = -1};
        for (unsigned c = 0; c < 3; c++) {
            kfi_make_keys(s.job, &track->curve[c], 1, 0);
            track->curve[c].keys[0].value = 42;
        }
    }
    const kfi_emitted *out = write_scene(&s);
    assert_non_null(out);
    assert_int_equal(kfi_said(s.job, "dropped"), 1);
    assert_int_equal(out->size, s.b->size + 6 * 2 + 6);
    for (unsigned f = 0; f < 6; f++) {
        shown now = shows(out->data, out->size, f, 5);
        assert_true(now.drawn && now.part[2][0] == 42 && now.stored[2] == (f == 0));
    }
    end_scene(&s);
}

static void test_gap_is_kept(void **state)
{
    (void)state;
    const uint8_t data[] = {0, 0x80, 30, 0, 1, 0, 6, 0, 7, 0, 0xde, 0xad, 4, 0x10};
    kf_job *job = library_job(NULL);
    kf_file file = {"gap.anm", data, sizeof data};
    const kf_anim *anim = kfi_import(job, format(), &file, 1);
    assert_non_null(anim);
    assert_true(kfi_export(job, format(), comes_back(job, anim), anim, &file, 1, NULL));
    assert_int_equal(job->emitted[0].size, sizeof data);
    assert_memory_equal(job->emitted[0].data, data, sizeof data);
    kf_error error;
    assert_false(kf_check(job, &file, &error));
    assert_int_equal(kfi_said(job, "gap"), 1);
    assert_int_equal(kfi_said(job, "flags"), 1);
    kf_job_free(job);
}

/* The room for keyframes does not hang on where the last frame is said to end. */
static void test_frames_going_back(void **state)
{
    (void)state;
    bytes *b = begin(30, 2);
    for (unsigned i = 0; i < 300; i++)
        put_keyframe(b, (uint8_t)i, 0, NULL);
    next_frame(b);
    b->data[b->table++] = b->data[6]; /* the second ends where the first begins */
    b->data[b->table++] = b->data[7];
    kf_job *job = library_job(NULL);
    job->arena.item_blocks = true;
    kfi_vib_anm anm;
    assert_false(kfi_vib_decode(job, b->data, b->size, &anm));
    assert_string_equal(job->error.message, "frame offset 2: expected from 612 to 612 bytes, found 12");
    kf_job_free(job);
    free(b);
}

/* Several files are one take, and go back to the same files; what is added goes into the last. */
static void test_several_files(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    bytes *parts[3] = {begin(20, 2), begin(20, 0), begin(20, 3)};
    put_keyframe(parts[0], 0, 1, (const int16_t[]){5, 6, 7});
    next_frame(parts[0]);
    put_keyframe(parts[0], 0, 0, NULL);
    next_frame(parts[0]);
    for (int16_t f = 0; f < 3; f++) {
        put_keyframe(parts[2], 0, f == 1 ? 1 : 0, (const int16_t[]){8, 9, f});
        next_frame(parts[2]);
    }
    kf_file files[3];
    static const char *const names[3] = {"a.anm", "b.anm", "c.anm"};
    for (int i = 0; i < 3; i++)
        files[i] = (kf_file){names[i], parts[i]->data, parts[i]->size};
    const kf_anim *anim = kfi_import(job, format(), files, 3);
    assert_non_null(anim);
    assert_int_equal(anim->take_count, 1);
    assert_string_equal(anim->takes[0].name, "a");
    assert_true(anim->takes[0].end == 4 / 20.0);
    assert_keys(find_track(anim, "object_000", KF_ROTATION), 0, 20, 2,
                (const double[][2]){{0, 5 * 360 / 4096.0}, {3, 8 * 360 / 4096.0}});
    kf_anim *back = comes_back(job, anim);
    for (int more = 0; more < 2; more++) {
        back->takes[0].end = (4 + more) / 20.0;
        assert_true(kfi_export(job, format(), back, anim, files, 3, NULL));
        assert_int_equal(job->emitted_count, 3);
        for (int i = 0; i < 3; i++) {
            assert_string_equal(job->emitted[i].name, names[i]);
            if (i == 2 && more) {
                assert_int_equal(job->emitted[i].size, files[i].size + 4);
                continue;
            }
            assert_int_equal(job->emitted[i].size, files[i].size);
            assert_memory_equal(job->emitted[i].data, files[i].data, files[i].size);
        }
    }
    for (int i = 0; i < 3; i++)
        free(parts[i]);
    kf_job_free(job);
}

/* ---------------------------------------------------------------- from nothing */

static kf_track *add_turning(kf_job *job, kf_anim *anim, uint32_t node, size_t frames, double step)
{
    kf_track *track = kfi_add_track(job, &anim->takes[0], node, KF_ROTATION, 3);
    for (unsigned c = 0; c < 3; c++) {
        kfi_make_keys(job, &track->curve[c], frames, 0);
        for (size_t i = 0; i < frames; i++)
            track->curve[c].keys[i] = (kf_key){.time = (double)i / anim->frame_rate,
                                               .value = c == 0 ? (double)i * step : 0,
                                               .interp = KF_STEP};
    }
    return track;
}

static void test_too_long(void **state)
{
    (void)state;
    /* A frame takes 2 bytes of offset and 8 of keyframe; 8 bytes are the header and the first offset. */
    const size_t fit = (131070 - 8) / 10;
    for (size_t frames = fit; frames <= fit + 1; frames++) {
        kf_job *job = library_job(NULL);
        kf_anim anim;
        kfi_anim_init(&anim, "fbx");
        kfi_add_node(job, &anim, "object_000", -1)->source = -1;
        kf_take *take = kfi_add_take(job, &anim, "long");
        take->source = -1;
        take->end = (double)(frames - 1) / 30;
        add_turning(job, &anim, 0, frames, 1);
        assert_int_equal(kfi_export(job, format(), &anim, NULL, NULL, 0, "long.anm"), frames == fit);
        char number[32];
        snprintf(number, sizeof number, "first %zu", fit);
        if (frames > fit) {
            assert_int_equal(job->error.code, KF_INEXPRESSIBLE);
            assert_non_null(strstr(job->error.message, number));
        } else {
            assert_int_equal(job->emitted[0].size, 8 + 10 * fit);
        }
        kf_job_free(job);
    }
}

static void test_fresh(void **state)
{
    (void)state;
    kf_job *job = library_job(NULL);
    kf_anim anim;
    kfi_anim_init(&anim, "fbx");
    anim.frame_rate = 24;
    static const char *const names[] = {"head", "object_000", "tail"};
    for (size_t i = 0; i < 3; i++)
        kfi_add_node(job, &anim, names[i], -1)->source = -1;
    anim.nodes[2].rest.translation[1] = -50;
    anim.nodes[2].rest.scale[0] = 2;
    kf_take *take = kfi_add_take(job, &anim, "Take 001");
    take->source = -1;
    take->end = 3 / 24.0;
    add_turning(job, &anim, 0, 4, 90);
    anim.takes[0].tracks[0].curve[0].keys[2].value = 90; /* frame 2 holds */
    anim.nodes[1].order = KF_ZYX;
    kf_track *turned = add_turning(job, &anim, 1, 1, 0);
    turned->curve[0].keys[0].value = 90;
    turned->curve[1].keys[0].value = 90;
    assert_true(kfi_export(job, format(), &anim, NULL, NULL, 0, "fresh.anm"));
    const kfi_emitted *out = job->emitted;
    const uint8_t *data = out->data;
    assert_string_equal(out->name, "fresh.anm");
    assert_true(data[0] == 0 && data[1] == 0x80 && data[2] == 24 && data[4] == 4);
    /* object_000 keeps its number, the others get free ones in order */
    const bool stored[4] = {true, true, false, true};
    const int16_t angle[4] = {0, 1024, 1024, 3072};
    for (unsigned f = 0; f < 4; f++) {
        shown head = shows(out->data, out->size, f, 1), tail = shows(out->data, out->size, f, 2);
        assert_true(head.drawn && head.stored[0] == stored[f] && head.part[0][0] == angle[f]);
        assert_true(tail.drawn && tail.stored[2] == (f == 0) && tail.part[2][1] == -50 && !tail.stored[0]);
        assert_true(tail.stored[1] && tail.part[1][0] == 8192 && tail.part[1][1] == 4096);
    }
    /* Z, Y, X applied in this order by (90, 90, 0): x goes to y; told in XYZ */
    shown now = shows(out->data, out->size, 0, 0);
    double y = now.part[0][1] * acos(-1) / 2048, z = now.part[0][2] * acos(-1) / 2048;
    assert_true(fabs(cos(y) * cos(z)) < 1e-6 && fabs(cos(y) * sin(z) - 1) < 1e-6 && fabs(sin(y)) < 1e-6);
    kf_job_free(job);
}

/* Objects have no parents: a group that does nothing is left out, one that does something is told of. */
static void test_fresh_hierarchy(void **state)
{
    (void)state;
    for (int moved = 0; moved < 2; moved++) {
        kf_job *job = library_job(NULL);
        kf_anim anim;
        kfi_anim_init(&anim, "fbx");
        kfi_add_node(job, &anim, "group", -1)->source = -1;
        kfi_add_node(job, &anim, "object_004", 0)->source = -1;
        anim.nodes[0].rest.translation[0] = moved;
        assert_true(kfi_export(job, format(), &anim, NULL, NULL, 0, "fresh.anm"));
        assert_int_equal(kfi_said(job, "hierarchy"), moved);
        assert_int_equal(shows(job->emitted[0].data, job->emitted[0].size, 0, 0).drawn, moved);
        assert_true(shows(job->emitted[0].data, job->emitted[0].size, 0, 4).drawn);
        kf_job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number_survives),
        cmocka_unit_test(test_numbers_beyond),
        cmocka_unit_test(test_every_number_through_files),
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_rates_and_orders),
        cmocka_unit_test(test_unedited),
        cmocka_unit_test(test_edited_value),
        cmocka_unit_test(test_new_key_is_stored),
        cmocka_unit_test(test_hiding),
        cmocka_unit_test(test_showing),
        cmocka_unit_test(test_hidden_key),
        cmocka_unit_test(test_clamping_is_told_of),
        cmocka_unit_test(test_longer_and_shorter),
        cmocka_unit_test(test_new_objects),
        cmocka_unit_test(test_gap_is_kept),
        cmocka_unit_test(test_frames_going_back),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_fresh_hierarchy),
    };
    return cmocka_run_group_tests(tests, library_set_up, library_tear_down);
}
