/* The targets, see fuzz.h. */
#include "fuzz.h"

#include "fbx/capsule.h"
#include "formats/mm2_anim.h"
#include "formats/mm2_skel.h"
#include "helper_memory.h"
#include "reader.h"
#include "writer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MEMORY = 64 << 20, LITTLE_MEMORY = 8 << 20 };

size_t fuzz_failures;

static kf_library *library;
static const char *format; /* that the target is about */
static void (*target)(const uint8_t *data, size_t size);
static bool item_blocks; /* every allocation its own block, so that a step beyond any of them is seen; slow */

void fuzz_broken(const char *what, const kf_error *error)
{
    fprintf(stderr, "BROKEN PROMISE: %s%s%s\n", what, error ? ": " : "", error ? error->message : "");
    abort();
}

static kf_job *new_job(kf_options options)
{
    kf_error error;
    options.size = sizeof options;
    options.max_memory = fuzz_failures > 0 ? LITTLE_MEMORY : MEMORY; /* what is done often has to be done soon */
    kf_job *job = kf_job_new(library, &options, &error);
    if (!job)
        fuzz_broken("no job", &error);
    job->arena.item_blocks = item_blocks;
    return job;
}

/* A no must have a reason, a yes must have none. */
static bool answered(bool ok, const kf_error *error)
{
    if (ok != (error->code == KF_OK) || (!ok && !error->message[0]))
        fuzz_broken("the answer and its reason disagree", error);
    return ok;
}

/* ---------------------------------------------------------------- outputs, kept in memory */

typedef struct bytes {
    char name[1024];
    uint8_t *data;
    size_t size, room;
} bytes;

typedef struct outputs {
    bytes last, sidecar; /* that ended well */
    bytes now;
} outputs;

static bool append(void *user, const void *data, size_t size)
{
    bytes *now = &((outputs *)user)->now;
    if (size > now->room - now->size) {
        now->room = (now->room + size) * 2;
        now->data = realloc(now->data, now->room);
    }
    if (size)
        memcpy(now->data + now->size, data, size);
    now->size += size;
    return true;
}

static bool patch(void *user, uint64_t at, const void *data, size_t size)
{
    bytes *now = &((outputs *)user)->now;
    if (at > now->size || size > now->size - at)
        fuzz_broken("a patch outside of what was written", NULL);
    memcpy(now->data + at, data, size);
    return true;
}

static bool begin(void *user, const char *name, kf_sink *sink)
{
    if (!kfi_plain_name(name))
        fuzz_broken("an output that leaves its folder", NULL);
    snprintf(((outputs *)user)->now.name, sizeof((outputs *)user)->now.name, "%s", name);
    *sink = (kf_sink){user, append, patch};
    return true;
}

static bool end(void *user, bool ok)
{
    outputs *out = user;
    size_t length = strlen(out->now.name);
    bytes *to = length > 3 && strcmp(out->now.name + length - 3, ".kf") == 0 ? &out->sidecar : &out->last;
    if (ok) {
        free(to->data);
        *to = out->now;
    } else {
        free(out->now.data);
    }
    memset(&out->now, 0, sizeof out->now);
    return true;
}

static void forget(outputs *out)
{
    free(out->last.data);
    free(out->sidecar.data);
}

static bool convert_once(kf_options options, const kf_convert_input *input, outputs *out, kf_error *error)
{
    kf_output output = {out, begin, end};
    kf_summary summary;
    kf_job *job = new_job(options);
    memset(out, 0, sizeof *out);
    bool ok = answered(kf_convert(job, input, &output, &summary, error), error);
    kf_job_free(job);
    return ok;
}

static bool convert(kf_options options, const kf_convert_input *input, outputs *out)
{
    kf_error error, other;
    failing_memory all = {0};
    if (fuzz_failures > 0) {
        options.allocator = failing_allocator(&all);
        item_blocks = true;
    }
    bool ok = convert_once(options, input, out, &error);
    size_t first = all.count - all.count / (fuzz_failures + 1) * fuzz_failures; /* evenly, the last one among them */
    for (size_t i = 0; i < fuzz_failures && first > 0; i++) {
        failing_memory m = {.fail_at = first + all.count / (fuzz_failures + 1) * (i + 1)};
        outputs lost;
        options.allocator = failing_allocator(&m);
        bool still = convert_once(options, input, &lost, &other);
        forget(&lost);
        /* A file that is refused may be refused for what it is: the memory was for telling more of that. */
        if (m.count >= m.fail_at && (still || (other.code != KF_NO_MEMORY && other.code != error.code)))
            fuzz_broken("memory ran out, and nobody says so", still ? NULL : &other);
        if (m.live != 0)
            fuzz_broken("memory is not given back", NULL);
    }
    return ok;
}

/* What was written must be readable. */
static void read_again(const char *id, const bytes *made)
{
    kf_error error;
    kf_job *job = new_job((kf_options){.from = id});
    kf_file file = {made->name, made->data ? made->data : (const uint8_t *)"", made->size};
    if (!kf_load(job, &file, 1, &error) && error.code != KF_MEMORY_LIMIT)
        fuzz_broken("what was written cannot be read", &error);
    kf_job_free(job);
}

/* ---------------------------------------------------------------- decode-FORMAT */

static void decode(const uint8_t *data, size_t size)
{
    kf_job job;
    size_t back_size = 0;
    memset(&job, 0, sizeof job);
    kfi_arena_init(&job.arena, (kf_allocator){0}, MEMORY);
    job.arena.item_blocks = item_blocks;
    const uint8_t *back = fuzz_decode(&job, format, data, size, &back_size);
    answered(back, &job.error);
    if (back && (back_size != size || memcmp(back, data, size) != 0))
        fuzz_broken("does not come back byte for byte", NULL);
    kfi_arena_free(&job.arena);
}

/* ---------------------------------------------------------------- FORMAT */

static bool drop(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return true;
}

static void game(const uint8_t *data, size_t size)
{
    kf_job *job = new_job((kf_options){.from = format, .to = "fbx"});
    kf_file file = {"input", data, size};
    kf_error error;
    kf_verdict verdict;
    kf_sink nowhere = {NULL, drop, NULL};
    kf_probe(job, &file, &error);
    bool sound = kf_check(job, &file, &error);
    const kf_anim *anim = kf_load(job, &file, 1, &error);
    if (answered(anim, &error)) {
        kf_info(job, anim, true, &nowhere, &error);
        kf_dump(job, anim, &nowhere, &error);
        kf_explain(job, anim, KF_FOR_BLENDER, &nowhere, &error);
        if (answered(kf_verify(job, &file, 1, &verdict, &error), &error)) {
            if (!verdict.restored)
                fuzz_broken("does not come back byte for byte", NULL);
        } else if (error.code != KF_MEMORY_LIMIT && error.code != KF_INEXPRESSIBLE) {
            fuzz_broken("was read, but cannot be verified", &error);
        }
    } else if (sound) {
        fuzz_broken("found sound, but cannot be read", &error);
    }
    kf_job_free(job);
}

/* ---------------------------------------------------------------- fbx-FORMAT */

static void from_fbx(const uint8_t *data, size_t size)
{
    kf_file file = {"input.fbx", data, size};
    kf_convert_input input = {.size = sizeof input, .files = &file, .count = 1};
    outputs out;
    if (convert((kf_options){.from = "fbx", .to = format}, &input, &out))
        read_again(format, &out.last);
    forget(&out);
}

/* ---------------------------------------------------------------- merge-FORMAT */

typedef struct original {
    const char *format;
    char digest[9];
    bytes fbx, sidecar, text; /* text: the same FBX written as such */
} original;

static original *originals;
static size_t original_count;

static uint8_t *read_file(const char *path, size_t *size)
{
    uint8_t *data = NULL;
    FILE *in = fopen(path, "rb");
    if (in && fseek(in, 0, SEEK_END) == 0) {
        long length = ftell(in);
        rewind(in);
        *size = length > 0 ? (size_t)length : 0;
        data = malloc(*size + 1);
        if (data && fread(data, 1, *size, in) != *size)
            abort();
    }
    if (in)
        fclose(in);
    return data;
}

/* A sample as it goes to one program; those that cannot go are left out. */
static void add_original(const char *id, const kf_file *file, kf_program program)
{
    kf_convert_input input = {.size = sizeof input, .files = file, .count = 1, .output = "sample.fbx"};
    kf_error error;
    kf_options options = {.from = id, .to = "fbx", .no_capsule = true, .program = program};
    outputs out, text;
    if (!convert(options, &input, &out)) {
        forget(&out);
        return;
    }
    options.ascii = true;
    if (!convert(options, &input, &text))
        fuzz_broken("an FBX that cannot be text", NULL);
    free(text.sidecar.data);
    originals = realloc(originals, (original_count + 1) * sizeof *originals);
    original *to = &originals[original_count++];
    *to = (original){.format = id, .fbx = out.last, .sidecar = out.sidecar, .text = text.last};
    kf_job *job = new_job((kf_options){0});
    kf_file sidecar = {"sample.fbx.kf", out.sidecar.data, out.sidecar.size};
    if (!kf_sidecar_digest(job, &sidecar, to->digest, &error))
        fuzz_broken("a good sidecar was refused", &error);
    kf_job_free(job);
}

/* Every sample of a format, for three programs that get three kinds of curves. */
static void add_originals(const char *id)
{
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s/tests/data/%s", KEYFERRY_SOURCE, id);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        kf_file file = {.name = entry->d_name};
        if (!kfi_format_has_extension(kfi_format_find(library, id), entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        uint8_t *data = read_file(path, &file.size);
        file.data = data;
        add_original(id, &file, KF_FOR_ANY);
        add_original(id, &file, KF_FOR_MAYA);
        add_original(id, &file, KF_FOR_BLENDER);
        free(data);
    }
    if (dir)
        closedir(dir);
}

/* The sidecar that the wrapper's name asks for; another one where the name was changed. */
static bool find_sidecar(void *user, const char *digest, kf_file *sidecar)
{
    const original *found = &originals[0];
    (void)user;
    for (size_t i = 0; i < original_count; i++)
        if (strcmp(originals[i].digest, digest) == 0)
            found = &originals[i];
    *sidecar = (kf_file){"sample.fbx.kf", found->sidecar.data, found->sidecar.size};
    return true;
}

/* The FBX that an input was made of: its wrapper has the digest in its name. */
static const original *made_of(const uint8_t *data, size_t size)
{
    static const char NAME[] = "keyferry_";
    const size_t length = sizeof NAME - 1;
    for (size_t at = 0; at + length + 8 <= size; at++) {
        const uint8_t *found = memchr(data + at, 'k', size - at - length - 8 + 1);
        if (!found)
            break;
        at = (size_t)(found - data);
        for (size_t i = 0; memcmp(found, NAME, length) == 0 && i < original_count; i++)
            if (memcmp(found + length, originals[i].digest, 8) == 0)
                return &originals[i];
    }
    return &originals[0];
}

static void merge(const uint8_t *data, size_t size)
{
    const bytes *copy = &made_of(data, size)->fbx;
    kf_file files[3] = {{"copy.fbx", copy->data, copy->size}, {"input.fbx", data, size}, {"copy.fbx", copy->data, copy->size}};
    /* Some with a copy that nobody touched, before it or after it. */
    size_t way = size / 2 % 4;
    kf_convert_input input = {.size = sizeof input, .files = &files[way != 1], .count = way == 1 || way == 2 ? 2 : 1, .find_sidecar = find_sidecar};
    outputs out;
    /* Half of them as if a curve that is gone was deleted on purpose. */
    kf_options options = {.from = "fbx", .to = format, .drop_missing = size % 2};
    if (convert(options, &input, &out))
        read_again(format, &out.last);
    forget(&out);
}

/* ---------------------------------------------------------------- capsule */

static bool give_sidecar(void *user, const char *digest, kf_file *sidecar)
{
    (void)digest;
    *sidecar = *(const kf_file *)user;
    return true;
}

/* An FBX whose wrapper says that it belongs to the sidecar of that digest: another one would not be looked into. */
static uint8_t *fbx_of(const original *from, const char *digest)
{
    const size_t prefix = strlen(KFI_WRAPPER_PREFIX), whole = prefix + strlen(digest);
    uint8_t *data = malloc(from->fbx.size);
    if (!data)
        abort();
    memcpy(data, from->fbx.data, from->fbx.size);
    for (size_t i = 0; i + whole <= from->fbx.size; i++) {
        size_t same = memcmp(data + i, KFI_WRAPPER_PREFIX, prefix) == 0 ? prefix : 0;
        while (same >= prefix && same < whole && memchr("0123456789abcdef", data[i + same], 16))
            same++;
        if (same == whole)
            memcpy(data + i + prefix, digest, whole - prefix);
    }
    return data;
}

static void with_sidecar(kf_file *sidecar)
{
    kf_job *job = new_job((kf_options){0});
    kf_error error;
    char digest[9] = "";
    kfi_capsule inside = {0};
    bool ok = answered(kf_sidecar_digest(job, sidecar, digest, &error), &error) &&
              kfi_capsule_unpack(job, sidecar->data, sidecar->size, &inside);
    /* Beside the smallest FBX of the format that it says it is. */
    const original *to = NULL;
    for (size_t i = 0; ok && i < original_count; i++)
        if (strcmp(originals[i].format, inside.format) == 0 && (!to || originals[i].fbx.size < to->fbx.size))
            to = &originals[i];
    kf_job_free(job);
    if (!to)
        return;
    uint8_t *data = fbx_of(to, digest);
    kf_file fbx = {"sample.fbx", data, to->fbx.size};
    kf_convert_input input = {
        .size = sizeof input, .files = &fbx, .count = 1, .find_sidecar = give_sidecar, .user = sidecar};
    outputs out;
    convert((kf_options){.from = "fbx"}, &input, &out);
    forget(&out);
    free(data);
}

/* As a sidecar it would be refused for its checksum: so the bytes are also what such a file holds inside. */
static void capsule(const uint8_t *data, size_t size)
{
    kf_file sidecar = {"sample.fbx.kf", data, size};
    with_sidecar(&sidecar);
    uLongf room = compressBound((uLong)size);
    uint8_t *packed = malloc(16 + room);
    if (!packed || compress2(packed + 16, &room, data, (uLong)size, 1) != Z_OK)
        abort();
    memcpy(packed, "KFERRY1\n", 8);
    kfi_store_u32(packed + 8, (uint32_t)size);
    kfi_store_u32(packed + 12, (uint32_t)crc32(0, data, (uInt)size));
    sidecar = (kf_file){"sample.fbx.kf", packed, 16 + room};
    with_sidecar(&sidecar);
    free(packed);
}

/* ---------------------------------------------------------------- skel */

/* One frame, all zeros, of as many bones as the skeleton has. */
static uint8_t *clip_for(size_t bones, size_t *size)
{
    size_t floats = 3 * bones + 3;
    *size = 17 + 4 * floats;
    uint8_t *clip = calloc(*size, 1);
    kfi_store_u32(clip + 4, 1);
    kfi_store_u32(clip + 8, (uint32_t)floats);
    clip[16] = KFI_MM2_MOTION;
    return clip;
}

static void skel(const uint8_t *data, size_t size)
{
    kf_job job;
    kfi_mm2_skel found;
    memset(&job, 0, sizeof job);
    kfi_arena_init(&job.arena, (kf_allocator){0}, MEMORY);
    job.arena.item_blocks = item_blocks;
    if (answered(kfi_mm2_skel_parse(&job, data, size, &found), &job.error)) {
        kf_file clip = {.name = "clip.anim"};
        uint8_t *bytes_of_clip = clip_for(found.count, &clip.size);
        clip.data = bytes_of_clip;
        kf_job *whole = new_job((kf_options){.from = "mm2-anim", .rig = {"ped.skel", data, size}});
        kf_verdict verdict;
        kf_error error;
        if (answered(kf_verify(whole, &clip, 1, &verdict, &error), &error) && !verdict.restored)
            fuzz_broken("does not come back byte for byte", NULL);
        kf_job_free(whole);
        free(bytes_of_clip);
    }
    kfi_arena_free(&job.arena);
}

/* ---------------------------------------------------------------- seeds */

static void add_all_originals(void)
{
    size_t count;
    const kf_format *const *formats = kf_library_formats(library, &count);
    for (size_t i = 0; i < count; i++)
        add_originals(formats[i]->id);
}

const uint8_t *fuzz_text_seed(size_t number, size_t *size)
{
    if (original_count == 0)
        add_all_originals();
    const bytes *text = &originals[number % original_count].text;
    *size = text->size;
    return text->data;
}

/* ---------------------------------------------------------------- which target */

bool fuzz_reads_fbx(void)
{
    return target == from_fbx || target == merge;
}

static bool choose(const char *name)
{
    static const struct {
        const char *prefix;
        void (*run)(const uint8_t *data, size_t size);
    } of_format[] = {{"decode-", decode}, {"fbx-", from_fbx}, {"merge-", merge}, {"", game}};
    if (strcmp(name, "capsule") == 0) {
        add_all_originals();
        target = capsule;
    } else if (strcmp(name, "skel") == 0) {
        target = skel;
    }
    for (size_t i = 0; !target && i < sizeof of_format / sizeof *of_format; i++) {
        size_t length = strlen(of_format[i].prefix);
        if (strncmp(name, of_format[i].prefix, length) == 0 &&
            (strcmp(name, "fbx-fbx") == 0 || kf_library_find(library, name + length))) {
            target = of_format[i].run;
            format = name + length;
        }
    }
    if (target == merge)
        add_originals(format);
    return target != NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    kf_library_options options = {.size = sizeof options, .no_installed_plugins = true};
    kf_error error;
    library = kf_library_new(&options, &error);
    /* libFuzzer starts itself anew for some of its work, without the arguments that it was not shown. */
    const char *name = getenv("KEYFERRY_FUZZ_TARGET");
    if (!name && *argc > 1) {
        name = (*argv)[1];
        setenv("KEYFERRY_FUZZ_TARGET", name, 1);
        for (int i = 2; i <= *argc; i++)
            (*argv)[i - 1] = (*argv)[i];
        --*argc;
    }
    if (!library || !name || !choose(name)) {
        fprintf(stderr, "usage: fuzz TARGET [FILE]...\n");
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    item_blocks = size % 4 == 0;
    target(data, size);
    return 0;
}
