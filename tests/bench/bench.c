/* bench NODES KEYS ROUNDS FBX [LINEAR-FBX]: one animation of NODES x 9 curves x KEYS keys with tangents: written by us
 * and packed by zlib, read by us and by ufbx, evaluated and baked by both. The animation is left in FBX.
 * bench read FBX: read by us, once, by a process that has no memory yet.
 * bench game FILE ROUNDS: the writing alone of what is in a game's file, into memory and into FILE.fbx.
 * bench decode ROUNDS: large made-up files of each format, decoded.
 * Each number is the least processor time of ROUNDS, in seconds, as a line of JSON. */
#include "bench.h"

#include "curve.h"
#include "fbx/lower.h"
#include "fbx/scene.h"
#include "pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ufbx.h>
#include <unistd.h>
#include <zlib.h>
#ifdef WITH_ASSIMP
#include <assimp/cexport.h>
#include <assimp/cimport.h>
#include <assimp/scene.h>
#endif

int rounds;

void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double peak_mb(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

void put(const char *name, double value)
{
    printf(",\"%s\":%.6g", name, value);
}

/* ---------------------------------------------------------------- the animation */

static uint32_t chance_state = 1;

static double chance(void) /* -1..1 */
{
    chance_state = chance_state * 1664525u + 1013904223u;
    return (double)(chance_state >> 8) / 8388608.0 - 1;
}

static void fill(kf_curve *curve, size_t keys, bool linear)
{
    double speed = 1 + chance(), phase = chance() * 3;
    for (size_t i = 0; i < keys; i++) {
        kf_key *key = &curve->keys[i];
        key->time = (double)i / 30;
        key->value = (double)(float)(50 * sin(key->time * speed + phase) + chance());
        key->interp = linear ? KF_LINEAR : KF_HERMITE;
    }
    for (size_t i = 0; i < keys && !linear; i++) {
        const kf_key *a = &curve->keys[i ? i - 1 : i], *b = &curve->keys[i + 1 < keys ? i + 1 : i];
        float slope = keys > 1 ? (float)((b->value - a->value) / (b->time - a->time)) : 0;
        curve->handles[i].in = (kf_handle){-1.0 / 90, (double)slope * (-1.0 / 90)};
        curve->handles[i].out = (kf_handle){1.0 / 90, (double)slope * (1.0 / 90)};
    }
}

static void build(kf_job *job, kf_anim *anim, size_t nodes, size_t keys, bool linear)
{
    kfi_anim_init(anim, "fbx");
    chance_state = 1;
    kf_take *take = kfi_add_take(job, anim, "take");
    for (size_t n = 0; take && n < nodes; n++) {
        char name[32];
        snprintf(name, sizeof name, "node%04zu", n);
        char *kept = malloc(sizeof name);
        if (!kept || !kfi_add_node(job, anim, strcpy(kept, name), -1))
            die("no memory");
        for (unsigned channel = KF_TRANSLATION; channel <= KF_SCALE; channel++) {
            kf_track *track = kfi_add_track(job, take, (uint32_t)n, (kf_channel)channel, 3);
            for (unsigned k = 0; k < 3; k++) {
                if (!track || !kfi_make_keys(job, &track->curve[k], keys, linear ? 0 : KFI_HANDLES))
                    die("no memory");
                fill(&track->curve[k], keys, linear);
            }
        }
    }
    kfi_fit_take_ranges(anim);
    if (!take || !kfi_anim_validate(job, anim))
        die("the animation is not valid");
}

/* ---------------------------------------------------------------- writing */

static bool append(void *user, const void *data, size_t size)
{
    memory *m = user;
    if (size > m->capacity - m->size)
        return false;
    memcpy(m->data + m->size, data, size);
    m->size += size;
    return true;
}

static bool patch(void *user, uint64_t at, const void *data, size_t size)
{
    memory *m = user;
    memcpy(m->data + at, data, size);
    return true;
}

static bool drop(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return true;
}

static bool drop_at(void *user, uint64_t at, const void *data, size_t size)
{
    (void)at;
    return drop(user, data, size);
}

/* Walks through more memory than any cache holds. */
static void clear_caches(void)
{
    static unsigned char *much;
    const size_t size = (size_t)256 << 20;
    if (!much && !(much = calloc(size, 1)))
        die("no memory");
    for (size_t i = 0; i < size; i += 64)
        much[i]++;
}

double write_fbx(kf_job *job, const kf_anim *anim, memory *m, bool cold)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        m->size = 0;
        if (cold)
            clear_caches();
        double began = now();
        kf_job aside = kfi_aside(job); /* gives back what it takes, as others do */
        if (!kfi_fbx_write(&aside, anim, &(kf_sink){m, append, patch}) || !kfi_aside_end(job, &aside))
            die("the FBX was not written");
        best = fmin(best, now() - began);
    }
    return best;
}

static bool append_file(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size;
}

static bool patch_file(void *user, uint64_t at, const void *data, size_t size)
{
    return fseek(user, (long)at, SEEK_SET) == 0 && fwrite(data, 1, size, user) == size && fseek(user, 0, SEEK_END) == 0;
}

/* Into a file that is safe on the disk in the end, as the command's is. */
double write_fbx_file(kf_job *job, const kf_anim *anim, const char *path)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        double began = now();
        FILE *f = fopen(path, "wb");
        if (!f || !kfi_fbx_write(job, anim, &(kf_sink){f, append_file, patch_file}) || fflush(f) != 0 ||
            fsync(fileno(f)) != 0 || fclose(f) != 0)
            die("the FBX was not written");
        best = fmin(best, now() - began);
        remove(path);
    }
    return best;
}

static void save(const memory *m, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(m->data, 1, m->size, f) != m->size || fclose(f) != 0)
        die("the FBX was not saved");
}

/* The five arrays of a curve as FBX has them before any saving: 36 bytes a key. */
typedef struct arrays {
    int64_t *times;
    float *values, *data;
    int32_t *flags, *counts;
} arrays;

static void fill_arrays(const kf_curve *curve, arrays *a)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        const kf_handles *handles = &curve->handles[i];
        a->times[i] = (int64_t)llround(key->time * 46186158000.0);
        a->values[i] = (float)key->value;
        a->flags[i] = 0x00000408;
        a->counts[i] = 1;
        a->data[4 * i] = (float)(handles->out.dv / handles->out.dt);
        a->data[4 * i + 1] = i + 1 < curve->count ? (float)(handles[1].in.dv / handles[1].in.dt) : 0;
        a->data[4 * i + 2] = 4.62778e-30f; /* both weights a third, packed */
        a->data[4 * i + 3] = 0;
    }
}

static double pack(z_stream *z, const void *data, size_t size, memory *m)
{
    double began = now();
    deflateReset(z);
    z->next_in = (Bytef *)(uintptr_t)data;
    z->avail_in = (uInt)size;
    z->next_out = (Bytef *)m->data;
    z->avail_out = (uInt)(size + size / 100 + 1024);
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        die("zlib failed");
    m->size += z->total_out;
    return now() - began;
}

/* Packs each array by itself, with one stream used over and over. */
static double zlib_alone(const kf_anim *anim, int level, size_t keys, memory *m)
{
    z_stream z = {0};
    arrays a = {malloc(keys * 8), malloc(keys * 4), malloc(keys * 16), malloc(keys * 4), malloc(keys * 4)};
    if (deflateInit(&z, level) != Z_OK || !a.times || !a.values || !a.data || !a.flags || !a.counts)
        die("no memory");
    double spent = 0;
    m->size = 0;
    for (size_t t = 0; t < anim->takes[0].track_count; t++)
        for (unsigned k = 0; k < 3; k++) {
            fill_arrays(&anim->takes[0].tracks[t].curve[k], &a);
            spent += pack(&z, a.times, keys * 8, m) + pack(&z, a.values, keys * 4, m) +
                     pack(&z, a.flags, keys * 4, m) + pack(&z, a.data, keys * 16, m) +
                     pack(&z, a.counts, keys * 4, m);
        }
    deflateEnd(&z);
    free(a.times), free(a.values), free(a.data), free(a.flags), free(a.counts);
    return spent;
}

static double copy_alone(size_t size)
{
    char *a = malloc(size), *b = malloc(size);
    double best = 1e9;
    if (!a || !b)
        die("no memory");
    memset(a, 1, size);
    memset(b, 2, size);
    for (int i = 0; i < rounds + 1; i++) {
        double began = now();
        memcpy(b, a, size);
        best = fmin(best, now() - began);
        a[0] = b[size / 2];
    }
    free(a);
    free(b);
    return best;
}

/* ---------------------------------------------------------------- what nobody gets around */

/* Every key looked at, and nothing done with it; from the memory, as a bake that takes turns with another program's has them. */
static double look_alone(const kf_anim *anim)
{
    double best = 1e9, sum = 0;
    for (int i = 0; i < 5 * rounds; i++) {
        clear_caches();
        double began = now();
        for (size_t t = 0; t < anim->takes[0].track_count; t++)
            for (unsigned c = 0; c < 3; c++) {
                const kf_curve *curve = &anim->takes[0].tracks[t].curve[c];
                for (size_t k = 0; k < curve->count; k++)
                    sum += curve->keys[k].time + curve->keys[k].value;
            }
        best = fmin(best, now() - began);
    }
    return best + (sum > 1e300 ? 1 : 0);
}

/* Memory for as many keys with handles, fresh from the system. */
static double touch_alone(size_t keys)
{
    double best = 1e9;
    size_t size = keys * (sizeof(kf_key) + sizeof(kf_handles));
    for (int i = 0; i < rounds + 1; i++) {
        double began = now();
        char *fresh = kfi_pages_resize(NULL, NULL, 0, size);
        if (!fresh)
            die("no memory");
        memset(fresh, i + 1, size);
        best = fmin(best, now() - began + (fresh[keys] ? 0 : 1));
        kfi_pages_resize(NULL, fresh, size, 0);
    }
    return best;
}

/* ---------------------------------------------------------------- reading and evaluating */

static double ufbx_alone(const char *path, ufbx_scene **kept)
{
    double best = 1e9;
    *kept = NULL;
    for (int i = 0; i < rounds; i++) {
        ufbx_free_scene(*kept);
        double began = now();
        *kept = ufbx_load_file(path, NULL, NULL);
        best = fmin(best, now() - began);
        if (!*kept)
            die("ufbx does not read it");
    }
    return best;
}

static double read_ours(kf_library *library, const char *path)
{
    double best = 1e9;
    kf_error error;
    for (int i = 0; i < rounds; i++) {
        double began = now();
        FILE *f = fopen(path, "rb");
        if (!f || fseek(f, 0, SEEK_END) != 0)
            die("cannot be read");
        size_t size = (size_t)ftell(f);
        char *data = malloc(size);
        rewind(f);
        if (!data || fread(data, 1, size, f) != size)
            die("cannot be read");
        fclose(f);
        kf_job *job = kf_job_new(library, NULL, &error);
        if (!job || !kf_load(job, &(kf_file){"x.fbx", data, size}, 1, &error))
            die(error.message);
        best = fmin(best, now() - began);
        kf_job_free(job);
        free(data);
    }
    return best;
}

static int bench_read(const char *path)
{
    kf_library *library = kf_library_new(NULL, NULL);
    rounds = 1;
    printf("{\"read\":%.6g}\n", read_ours(library, path));
    kf_library_free(library);
    return 0;
}

/* Four samples a key on every curve. */
static void evaluate(const kf_anim *anim, const ufbx_scene *scene, size_t keys)
{
    size_t count = keys * 4, curves = anim->takes[0].track_count * 3;
    double *times = malloc(count * sizeof *times), *values = malloc(count * sizeof *values), sum = 0;
    if (!times || !values)
        die("no memory");
    for (size_t i = 0; i < count; i++)
        times[i] = (double)i / 120;
    if (curves > 300)
        curves = 300;
    double ours = 1e9, theirs = 1e9;
    for (int r = 0; r < rounds; r++) {
        double began = now();
        for (size_t c = 0; c < curves; c++) {
            kfi_curve_values(&anim->takes[0].tracks[c / 3].curve[c % 3], times, count, 0, values);
            sum += values[count / 2];
        }
        ours = fmin(ours, now() - began);
        began = now();
        for (size_t c = 0; c < curves; c++)
            for (size_t i = 0; i < count; i++)
                sum += (double)ufbx_evaluate_curve(scene->anim_curves.data[c], times[i], 0);
        theirs = fmin(theirs, now() - began);
    }
    put("evaluate_ns", ours / (double)(curves * count) * 1e9);
    put("ufbx_evaluate_ns", theirs / (double)(curves * count) * 1e9 + (sum > 1e300 ? 1 : 0));
    free(times);
    free(values);
}

/* Every curve at the times: by us, by ufbx. */
static void bake_values(const kf_take *take, const ufbx_scene *scene, const double *times, size_t frames, const char *name)
{
    double ours = 1e9, theirs = 1e9, sum = 0, *values = malloc(frames * sizeof *values);
    char of_ufbx[64];
    if (!values)
        die("no memory");
    for (int i = 0; i < 5 * rounds; i++) { /* some milliseconds each, which others on the machine disturb easily */
        double began = now();
        for (size_t c = 0; c < take->track_count * 3; c++) {
            kfi_curve_values(&take->tracks[c / 3].curve[c % 3], times, frames, 0, values);
            sum += values[frames / 2];
        }
        ours = fmin(ours, now() - began);
        began = now();
        for (size_t c = 0; c < scene->anim_curves.count; c++)
            for (size_t f = 0; f < frames; f++)
                sum += (double)ufbx_evaluate_curve(scene->anim_curves.data[c], times[f], 0);
        theirs = fmin(theirs, now() - began);
    }
    free(values);
    put(name, ours);
    snprintf(of_ufbx, sizeof of_ufbx, "ufbx_%s", name);
    put(of_ufbx, theirs + (sum > 1e300 ? 1 : 0));
}

/* On every frame at 30 a second, which is where the keys are, and half a frame later; and all that goes into an FBX. */
static void bake(kf_library *library, const kf_options *options, const kf_anim *anim, const ufbx_scene *scene)
{
    kfi_lower_options lower = {.bake = true, .bake_rate = 30, .take = -1};
    double whole = 1e9;
    size_t frames = 0;
    for (int i = 0; i < rounds; i++) {
        kfi_lowered baked;
        kf_job *job = kf_job_new(library, options, NULL);
        double began = now();
        if (!job || !kfi_fbx_lower(job, anim, &lower, &baked))
            die("not baked");
        whole = fmin(whole, now() - began);
        frames = baked.anim.takes[0].tracks[0].curve[0].count;
        kf_job_free(job);
    }
    put("bake_keys", whole);
    double *times = malloc(frames * sizeof *times);
    if (!times)
        die("no memory");
    for (size_t f = 0; f < frames; f++)
        times[f] = (double)f / 30;
    bake_values(&anim->takes[0], scene, times, frames, "bake");
    for (size_t f = 0; f < frames; f++)
        times[f] = ((double)f + 0.5) / 30;
    bake_values(&anim->takes[0], scene, times, frames, "bake_between");
    free(times);
}

/* ---------------------------------------------------------------- assimp: what it reads of an FBX, exported again */

#ifdef WITH_ASSIMP
/* By turns with our write of the same, since what a memory gives changes from one second to the next. */
static void assimp(const char *path, kf_job *job, const kf_anim *anim, memory *m)
{
    double best_read = 1e9, best_write = 1e9, ours = 1e9;
    for (int i = 0; i < 2 * rounds && i < 30; i++) {
        double began = now();
        const struct aiScene *scene = aiImportFile(path, 0);
        best_read = fmin(best_read, now() - began);
        if (!scene)
            die(aiGetErrorString());
        ours = fmin(ours, write_fbx(job, anim, m, false));
        began = now();
        const struct aiExportDataBlob *blob = aiExportSceneToBlob(scene, "fbx", 0);
        best_write = fmin(best_write, now() - began);
        if (blob)
            aiReleaseExportBlob(blob);
        else
            best_write = NAN;
        aiReleaseImport(scene);
    }
    put("write_linear", ours);
    put("assimp_read", best_read);
    if (!isnan(best_write))
        put("assimp_write", best_write);
}
#endif

int main(int argc, char **argv)
{
    rounds = argc == 4 || argc == 3 ? atoi(argv[argc - 1]) : 0;
    if (argc == 4 && strcmp(argv[1], "game") == 0)
        return bench_game(argv[2]);
    if (argc == 3 && strcmp(argv[1], "decode") == 0)
        return bench_decode();
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return bench_read(argv[2]);
    if (argc < 5)
        die("usage: bench NODES KEYS ROUNDS FBX [LINEAR-FBX] | read FBX | game FILE ROUNDS | decode ROUNDS");
    size_t nodes = strtoul(argv[1], NULL, 10), keys = strtoul(argv[2], NULL, 10);
    rounds = atoi(argv[3]);
    size_t raw = nodes * 9 * keys * 36;
    kf_error error;
    kf_options options = {.size = sizeof options, .max_memory = UINT64_MAX / 4};
    kf_library *library = kf_library_new(NULL, &error);
    kf_job *job = kf_job_new(library, &options, &error);
    kf_anim anim;
    if (!job)
        die(error.message);
    build(job, &anim, nodes, keys, false);
    printf("{\"keys\":%zu", nodes * 9 * keys);
    double before = peak_mb();
    if (!kfi_fbx_write(job, &anim, &(kf_sink){NULL, drop, drop_at}))
        die("the FBX was not written");
    put("animation_mb", before);
    put("write_extra_mb", peak_mb() - before);

    memory m = {malloc(raw + (8u << 20)), 0, raw + (8u << 20)};
    if (!m.data)
        die("no memory");
    memset(m.data, 0, m.capacity);
    put("write", write_fbx(job, &anim, &m, false));
    put("write_cold", write_fbx(job, &anim, &m, true));
    put("size", (double)m.size);
    save(&m, argv[4]);
    put("zlib1", zlib_alone(&anim, 1, keys, &m));
    put("zlib1_size", (double)m.size);
    zlib_alone(&anim, 6, keys, &m);
    put("zlib6_size", (double)m.size);
    free(m.data);
    put("memcpy", copy_alone(raw));
    put("look", look_alone(&anim));
    put("touch", touch_alone(nodes * 9 * keys));
    put("raw_bytes", (double)raw);

    ufbx_scene *scene;
    put("ufbx_read", ufbx_alone(argv[4], &scene));
    evaluate(&anim, scene, keys);
    bake(library, &options, &anim, scene);
    ufbx_free_scene(scene);
    kf_job_free(job);
    put("read", read_ours(library, argv[4]));

    if (argc > 5) {
        job = kf_job_new(library, &options, &error);
        build(job, &anim, nodes, keys, true);
        m = (memory){malloc(raw + (8u << 20)), 0, raw + (8u << 20)};
        write_fbx(job, &anim, &m, false);
        save(&m, argv[5]);
#ifdef WITH_ASSIMP
        assimp(argv[5], job, &anim, &m);
#endif
        free(m.data);
        kf_job_free(job);
    }
    printf("}\n");
    kf_library_free(library);
    return 0;
}
