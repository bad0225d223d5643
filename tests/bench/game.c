/* Games' files: what the writing of one takes when all is read and made ready, and how fast files are decoded. */
#include "bench.h"

#include "convert.h"
#include "format.h"
#include "formats/ei_anm.h"
#include "formats/mm2_anim.h"
#include "formats/nytro_anim.h"
#include "formats/vib_anm.h"
#include "formats/x4_ani.h"
#include "pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The file's bytes into fresh memory, and nothing done with them. */
static double read_alone(const char *path, size_t size)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        double began = now();
        FILE *f = fopen(path, "rb");
        char *data = kfi_pages_resize(NULL, NULL, 0, size);
        if (!f || !data || fread(data, 1, size, f) != size)
            die("the game's file cannot be read");
        best = fmin(best, now() - began);
        fclose(f);
        kfi_pages_resize(NULL, data, size, 0);
    }
    return best;
}

/* What the scene writer does before it writes: looks for what FBX cannot hold, and adds helper keys. */
static double make_scene(kf_job *job, const kf_format *format, const kf_file *file, const kf_anim *anim, kfi_scene *scene)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        double began = now();
        if (!kfi_make_scene(job, format, file, 1, anim, -1, scene))
            die("the game's file cannot be made into a scene");
        best = fmin(best, now() - began);
    }
    return best;
}

int bench_game(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        die("the game's file cannot be read");
    size_t size = (size_t)ftell(f);
    char *data = malloc(size);
    rewind(f);
    if (!data || fread(data, 1, size, f) != size)
        die("the game's file cannot be read");
    fclose(f);
    kf_error error;
    kf_options options = {.size = sizeof options, .max_memory = UINT64_MAX / 4, .no_capsule = true, .no_sidecar = true};
    kf_library *library = kf_library_new(NULL, &error);
    kf_job *job = kf_job_new(library, &options, &error);
    kf_file file = {"game", data, size};
    const kf_anim *anim = job ? kf_load(job, &file, 1, &error) : NULL;
    if (!anim)
        die("the game's file cannot be read");
    kfi_scene scene;
    printf("{\"game\":1");
    put("make_scene", make_scene(job, kfi_format_find(library, anim->format), &file, anim, &scene));
    memory m = {malloc(size + (8u << 20)), 0, size + (8u << 20)};
    if (!m.data)
        die("no memory");
    memset(m.data, 0, m.capacity);
    put("read_game_file", read_alone(path, size));
    put("write_game", write_fbx(job, &scene.lowered.anim, &m, false));
    put("write_game_size", (double)m.size);
    char *out = malloc(strlen(path) + 5);
    if (!out)
        die("no memory");
    put("write_game_file", write_fbx_file(job, &scene.lowered.anim, strcat(strcpy(out, path), ".fbx")));
    free(out);
    printf("}\n");
    free(m.data);
    free(data);
    kf_job_free(job);
    kf_library_free(library);
    return 0;
}

/* ---------------------------------------------------------------- decoding */

static void put_float(kfi_writer *out, float value)
{
    uint8_t *room = kfi_write_space(out, 4);
    if (room)
        kfi_store_f32(room, value);
}

static void put_floats(kfi_writer *out, size_t count)
{
    uint8_t *room = kfi_write_space(out, 4 * count);
    for (size_t i = 0; room && i < count; i++)
        kfi_store_f32(room + 4 * i, 0.5f);
}

enum { X4_LISTS = 100, X4_KEYS = 1000, FRAMES = 20000, BONES = 40, NODES = 100, NODE_KEYS = 2000, OBJECTS = 8, VIB_FRAMES = 800 };

static void make_x4(kfi_writer *out)
{
    kfi_write_u32(out, X4_LISTS);
    kfi_write_u32(out, X4_HEADER_SIZE + X4_LISTS * X4_DESC_SIZE);
    kfi_write_u32(out, 1);
    kfi_write_u32(out, 0);
    for (unsigned i = 0; i < X4_LISTS; i++) {
        uint8_t desc[X4_DESC_SIZE] = {(uint8_t)('a' + i / 26), (uint8_t)('a' + i % 26)};
        kfi_store_u32(desc + X4_DESC_COUNTS, X4_KEYS);
        kfi_write_bytes(out, desc, sizeof desc);
    }
    for (unsigned i = 0; i < X4_LISTS * X4_KEYS; i++) {
        uint8_t key[X4_KEY_SIZE] = {0};
        kfi_store_f32(key + X4_KEY_TIME, (float)(i % X4_KEYS) / 30);
        for (unsigned c = 0; c < 3; c++)
            kfi_store_u32(key + X4_KEY_INTERP + 4 * c, X4_LINEAR);
        kfi_write_bytes(out, key, sizeof key);
    }
}

static void make_ei(kfi_writer *out)
{
    kfi_write_u32(out, FRAMES);
    put_floats(out, 4 * (size_t)FRAMES);
    kfi_write_u32(out, FRAMES);
    put_floats(out, 3 * (size_t)FRAMES);
    kfi_write_u32(out, 0);
}

static void make_mm2(kfi_writer *out)
{
    kfi_write_u32(out, 0);
    kfi_write_u32(out, FRAMES);
    kfi_write_u32(out, 3 + 3 * BONES);
    put_float(out, 0);
    kfi_write_u8(out, KFI_MM2_MOTION);
    put_floats(out, (3 + 3 * BONES) * (size_t)FRAMES);
}

static void make_nytro(kfi_writer *out)
{
    kfi_write_u32(out, KFI_NYTRO_HEADER);
    kfi_write_u32(out, 8);
    kfi_write_u32(out, 0);
    kfi_write_text(out, "");
    kfi_write_text(out, "");
    kfi_write_u16(out, NODES);
    kfi_write_u32(out, KFI_NYTRO_ANIMATION);
    size_t size_at = out->size;
    kfi_write_u32(out, 0);
    for (unsigned n = 0; n < NODES; n++) {
        char name[8];
        snprintf(name, sizeof name, "n%u", n);
        kfi_write_text(out, name);
        kfi_write_u32(out, KFI_NYTRO_LINEAR);
        kfi_write_u32(out, NODE_KEYS);
        kfi_write_u32(out, 0);
        kfi_write_u32(out, 0);
        for (unsigned i = 0; i < NODE_KEYS; i++) {
            kfi_write_u32(out, KFI_NYTRO_ACTIVE);
            put_float(out, (float)i / 30);
            put_floats(out, 3);
        }
    }
    if (!out->failed)
        kfi_store_u32(out->data + size_at, (uint32_t)(out->size - size_at - 4));
}

static void make_vib(kfi_writer *out)
{
    enum { TABLE = 6 + 2 * (VIB_FRAMES + 1), FRAME = OBJECTS * 20 };
    kfi_write_u16(out, KFI_VIB_MAGIC);
    kfi_write_u16(out, 30);
    kfi_write_u16(out, VIB_FRAMES);
    for (unsigned i = 0; i <= VIB_FRAMES; i++)
        kfi_write_u16(out, (uint16_t)((TABLE + i * FRAME) / 2));
    for (unsigned i = 0; i < VIB_FRAMES * OBJECTS; i++) {
        kfi_write_u8(out, (uint8_t)(i % OBJECTS));
        kfi_write_u8(out, 7);
        for (unsigned k = 0; k < 9; k++)
            kfi_write_u16(out, (uint16_t)(i + k));
    }
}

static bool decode_x4(kf_job *job, const uint8_t *data, size_t size)
{
    kfi_reader in;
    kfi_x4_ani ani;
    kfi_reader_init(&in, job, data, size);
    return kfi_x4_ani_decode(&in, &ani);
}

static bool decode_ei(kf_job *job, const uint8_t *data, size_t size)
{
    kfi_reader in;
    kfi_ei_anm anm;
    kfi_reader_init(&in, job, data, size);
    return kfi_ei_anm_decode(&in, &anm);
}

static bool decode_mm2(kf_job *job, const uint8_t *data, size_t size)
{
    kfi_mm2_anim anim;
    return kfi_mm2_decode(job, data, size, &anim);
}

static bool decode_nytro(kf_job *job, const uint8_t *data, size_t size)
{
    kfi_nytro anim;
    return kfi_nytro_decode(job, data, size, &anim);
}

static bool decode_vib(kf_job *job, const uint8_t *data, size_t size)
{
    kfi_vib_anm anm;
    return kfi_vib_decode(job, data, size, &anm);
}

static const struct {
    const char *id;
    void (*make)(kfi_writer *out);
    bool (*decode)(kf_job *job, const uint8_t *data, size_t size);
} FORMATS[] = {{"x4-ani", make_x4, decode_x4},
               {"ei-anm", make_ei, decode_ei},
               {"nytro-anim", make_nytro, decode_nytro},
               {"mm2-anim", make_mm2, decode_mm2},
               {"vib-anm", make_vib, decode_vib}};

/* Bytes into the format's own structs, most of which stay in the bytes; and, as a second number, into an animation. */
static void measure(kf_library *library, size_t which, const uint8_t *data, size_t size)
{
    enum { REPEATS = 100 };
    kf_options options = {.size = sizeof options, .max_memory = UINT64_MAX / 4, .from = FORMATS[which].id};
    kf_file file = {"made-up", data, size};
    double decoding = 1e9, importing = 1e9;
    char name[64];
    for (int r = 0; r < rounds; r++) {
        kf_error error;
        kf_job *job = kf_job_new(library, &options, &error);
        double began = now();
        for (int i = 0; job && i < REPEATS; i++) {
            kfi_mark mark = kfi_arena_mark(&job->arena);
            if (!FORMATS[which].decode(job, data, size))
                die(job->error.message);
            kfi_arena_release(&job->arena, mark);
        }
        decoding = fmin(decoding, (now() - began) / REPEATS);
        began = now();
        if (!job || !kf_load(job, &file, 1, &error))
            die(error.message);
        importing = fmin(importing, now() - began);
        kf_job_free(job);
    }
    snprintf(name, sizeof name, "decode %s", FORMATS[which].id);
    put(name, (double)size / decoding / 1e9);
    snprintf(name, sizeof name, "import %s", FORMATS[which].id);
    put(name, (double)size / importing / 1e9);
}

int bench_decode(void)
{
    kf_error error;
    kf_options options = {.size = sizeof options, .max_memory = UINT64_MAX / 4};
    kf_library *library = kf_library_new(NULL, &error);
    printf("{\"decode\":1");
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        kf_job *job = kf_job_new(library, &options, &error);
        kfi_writer out;
        if (!job)
            die(error.message);
        kfi_writer_init(&out, job, 64);
        FORMATS[i].make(&out);
        if (out.failed)
            die("no memory");
        measure(library, i, out.data, out.size);
        kf_job_free(job);
    }
    printf("}\n");
    kf_library_free(library);
    return 0;
}
