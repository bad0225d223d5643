/* Every allocation fails in turn, through every function of keyferry.h that takes memory: the answer is no with
 * KF_NO_MEMORY, and all that was taken is given back. The arena gives each item a block of its own, so that the
 * allocator sees them all. A function that is new in the header and not here fails the test. */
#include "format.h"
#include "helper_memory.h"
#include "helper_rounds.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---------------------------------------------------------------- what there is to work with */

typedef struct fixture {
    const kf_format *format;
    kf_file game, other; /* two samples of the format */
    const kf_anim *anim, *other_anim;
    memory_sink fbx, bare, sidecar;   /* with the capsule in it, and without */
    memory_sink baked, baked_sidecar; /* on every frame, and without */
} fixture;

static kf_library *library;

static kf_job *new_job(kf_options options, failing_memory *m)
{
    kf_error error;
    options.size = sizeof options;
    options.max_memory = UINT64_MAX / 4;
    options.allocator = m ? failing_allocator(m) : (kf_allocator){0};
    kf_job *job = kf_job_new(library, &options, &error);
    if (!job && error.code != KF_NO_MEMORY)
        fail_msg("no job: %s", error.message);
    if (job)
        job->arena.item_blocks = true;
    return job;
}

typedef struct outputs {
    memory_sink *fbx, *sidecar; /* NULL: not kept */
    memory_sink lost;
} outputs;

static bool begin(void *user, const char *name, kf_sink *sink)
{
    outputs *out = user;
    memory_sink *to = strstr(name, ".kf") ? out->sidecar : out->fbx;
    if (!to) {
        memory_sink_free(&out->lost);
        to = &out->lost;
    }
    *sink = memory_sink_of(to);
    return true;
}

static bool end(void *user, bool ok)
{
    (void)user;
    return ok;
}

static bool convert(kf_job *job, kf_convert_input in, memory_sink *fbx, memory_sink *sidecar, kf_error *error)
{
    outputs out = {.fbx = fbx, .sidecar = sidecar};
    kf_output output = {&out, begin, end};
    kf_summary summary;
    in.size = sizeof in;
    in.output = in.output ? in.output : "out.fbx";
    bool ok = kf_convert(job, &in, &output, &summary, error);
    memory_sink_free(&out.lost);
    return ok;
}

static bool drop(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return true;
}

static const kf_sink NOWHERE = {NULL, drop, NULL};

static kf_file as_file(const memory_sink *data, const char *name)
{
    return (kf_file){name, data->data, data->size};
}

/* ---------------------------------------------------------------- the functions */

static bool library_new(const fixture *f, failing_memory *m, kf_error *error)
{
    (void)f;
    kf_library_options options = {.size = sizeof options,
                                  .allocator = failing_allocator(m),
                                  .plugin_path = KEYFERRY_TEST_PLUGINS "/bad:" KEYFERRY_TEST_PLUGINS "/good",
                                  .no_installed_plugins = true};
    kf_library *made = kf_library_new(&options, error);
    kf_library_free(made);
    return made != NULL;
}

static bool job_new(const fixture *f, failing_memory *m, kf_error *error)
{
    kf_options options = {.size = sizeof options,
                          .allocator = failing_allocator(m),
                          .from = f->format->id,
                          .to = "fbx",
                          .rotation_order = "ZYX",
                          .rig = {"rig", "", 0}};
    kf_job *job = kf_job_new(library, &options, error);
    kf_job_free(job);
    return job != NULL;
}

static bool probe(kf_job *job, const fixture *f, kf_error *error)
{
    return kf_probe(job, &f->game, error) != NULL;
}

static bool load(kf_job *job, const fixture *f, kf_error *error)
{
    return kf_load(job, &f->game, 1, error) != NULL;
}

static bool load_fbx(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file fbx = as_file(&f->fbx, "in.fbx");
    return kf_load(job, &fbx, 1, error) != NULL;
}

static bool check(kf_job *job, const fixture *f, kf_error *error)
{
    bool ok = kf_check(job, &f->game, error) || error->code == KF_BAD_INPUT; /* that there are problems is an answer */
    if (ok)
        error->code = KF_OK;
    return ok;
}

static bool dump(kf_job *job, const fixture *f, kf_error *error)
{
    return kf_dump(job, f->anim, &NOWHERE, error);
}

static bool info(kf_job *job, const fixture *f, kf_error *error)
{
    return kf_info(job, f->anim, false, &NOWHERE, error) && kf_info(job, f->anim, true, &NOWHERE, error);
}

static bool explain(kf_job *job, const fixture *f, kf_error *error)
{
    return kf_explain(job, f->anim, KF_FOR_MAYA, &NOWHERE, error);
}

static bool diff(kf_job *job, const fixture *f, kf_error *error)
{
    kf_diff_result result;
    return kf_diff(job, f->anim, f->other_anim, &result, error);
}

static bool sidecar_digest(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file sidecar = as_file(&f->sidecar, "in.fbx.kf");
    char digest[9] = "";
    return kf_sidecar_digest(job, &sidecar, digest, error);
}

static bool verify(kf_job *job, const fixture *f, kf_error *error)
{
    kf_verdict verdict;
    return kf_verify(job, &f->game, 1, &verdict, error);
}

static bool to_fbx(kf_job *job, const fixture *f, kf_error *error)
{
    return convert(job, (kf_convert_input){.files = &f->game, .count = 1}, NULL, NULL, error);
}

static bool back(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file in = as_file(&f->fbx, "in.fbx");
    return convert(job, (kf_convert_input){.files = &in, .count = 1, .output = "out"}, NULL, NULL, error);
}

static bool find_sidecar(void *user, const char *digest, kf_file *sidecar)
{
    (void)digest;
    *sidecar = as_file(user, "in.fbx.kf");
    return true;
}

static bool back_with_sidecar(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file in = as_file(&f->bare, "in.fbx");
    memory_sink sidecar = f->sidecar;
    kf_convert_input input = {
        .files = &in, .count = 1, .output = "out", .find_sidecar = find_sidecar, .user = &sidecar};
    return convert(job, input, NULL, NULL, error);
}

/* With another file for its original: most of it is new, and most of that one gone. */
static bool back_into_another(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file in = as_file(&f->bare, "in.fbx");
    kf_convert_input input = {.files = &in, .count = 1, .output = "out", .base = &f->other, .base_count = 1};
    return convert(job, input, NULL, NULL, error);
}

static bool back_fresh(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file in = as_file(&f->bare, "in.fbx");
    return convert(job, (kf_convert_input){.files = &in, .count = 1, .output = "out"}, NULL, NULL, error);
}

static bool back_baked(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file in = as_file(&f->baked, "in.fbx");
    memory_sink sidecar = f->baked_sidecar;
    kf_convert_input input = {
        .files = &in, .count = 1, .output = "out", .find_sidecar = find_sidecar, .user = &sidecar};
    return convert(job, input, NULL, NULL, error);
}

static bool back_baked_into_another(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file in = as_file(&f->baked, "in.fbx");
    kf_convert_input input = {.files = &in, .count = 1, .output = "out", .base = &f->other, .base_count = 1};
    return convert(job, input, NULL, NULL, error);
}

static bool back_baked_fresh(kf_job *job, const fixture *f, kf_error *error)
{
    kf_file in = as_file(&f->baked, "in.fbx");
    return convert(job, (kf_convert_input){.files = &in, .count = 1, .output = "out"}, NULL, NULL, error);
}

/* ---------------------------------------------------------------- one by one */

typedef struct deed {
    const char *function, *what;
    bool (*run)(kf_job *job, const fixture *f, kf_error *error);
    kf_options options;
    bool to_format;                                                       /* options.to is the format at hand */
    bool (*without_job)(const fixture *f, failing_memory *m, kf_error *error); /* in the place of run */
} deed;

static const deed DEEDS[] = {
    {.function = "kf_library_new", .without_job = library_new},
    {.function = "kf_job_new", .without_job = job_new},
    {.function = "kf_probe", .run = probe},
    {.function = "kf_load", .run = load},
    {.function = "kf_load", .what = "FBX", .run = load_fbx},
    {.function = "kf_check", .run = check},
    {.function = "kf_dump", .run = dump},
    {.function = "kf_info", .run = info},
    {.function = "kf_explain", .run = explain},
    {.function = "kf_diff", .run = diff},
    {.function = "kf_sidecar_digest", .run = sidecar_digest},
    {.function = "kf_convert", .what = "to FBX", .run = to_fbx},
    {.function = "kf_convert", .what = "to text", .run = to_fbx, .options = {.ascii = true, .program = KF_FOR_MAYA}},
    {.function = "kf_convert", .what = "baked", .run = to_fbx, .options = {.program = KF_FOR_BLENDER}},
    {.function = "kf_convert", .what = "take by take", .run = to_fbx, .options = {.split_takes = true}},
    {.function = "kf_convert", .what = "back, capsule", .run = back},
    {.function = "kf_convert", .what = "back, sidecar", .run = back_with_sidecar},
    {.function = "kf_convert", .what = "back into another", .run = back_into_another, .to_format = true},
    {.function = "kf_convert", .what = "the same, drop", .run = back_into_another, .options = {.drop_missing = true},
     .to_format = true},
    {.function = "kf_convert", .what = "back, fresh", .run = back_fresh, .to_format = true},
    {.function = "kf_convert", .what = "back, baked", .run = back_baked},
    {.function = "kf_convert", .what = "baked, into another", .run = back_baked_into_another, .to_format = true},
    {.function = "kf_convert", .what = "baked, fresh", .run = back_baked_fresh, .to_format = true},
    {.function = "kf_convert", .what = "FBX to FBX", .run = back, .options = {.to = "fbx"}},
    {.function = "kf_verify", .run = verify},
};
enum { DEED_COUNT = sizeof DEEDS / sizeof *DEEDS };

/* These take no memory: they are called below where there is none. */
static const char *const FREE_OF_IT[] = {"kf_library_free", "kf_library_formats", "kf_library_messages",
                                         "kf_library_find", "kf_library_origin",  "kf_job_free",
                                         "kf_job_messages"};

static bool do_it(const deed *d, const fixture *f, failing_memory *m, kf_error *error)
{
    if (d->without_job)
        return d->without_job(f, m, error);
    kf_options options = d->options;
    if (d->to_format)
        options.to = f->format->id;
    size_t fail_at = m->fail_at;
    m->fail_at = 0;
    kf_job *job = new_job(options, m);
    m->fail_at = fail_at ? m->count + fail_at : 0;
    bool ok = d->run(job, f, error);
    kf_job_free(job);
    return ok;
}

static size_t every_one(const deed *d, const fixture *f)
{
    const char *what = d->what ? d->what : "";
    failing_memory all = {0};
    kf_error error;
    if (!do_it(d, f, &all, &error))
        fail_msg("%s, %s %s: %s", f->format->id, d->function, what, error.message);
    size_t runs = 0, step = all.count / (size_t)rounds((int)all.count);
    for (size_t n = 1;; n += step, runs++) {
        failing_memory m = {.fail_at = n};
        bool ok = do_it(d, f, &m, &error);
        if (m.live != 0)
            fail_msg("%s, %s %s, allocation %zu fails: %zu blocks are not given back", f->format->id, d->function, what,
                     n, m.live);
        if (ok)
            assert_int_equal(error.code, KF_OK);
        if (ok && n > all.count)
            break; /* there is no such allocation */
        if (!ok && (error.code != KF_NO_MEMORY || !error.message[0]))
            fail_msg("%s, %s %s, allocation %zu fails: code %d, \"%s\"", f->format->id, d->function, what, n,
                     (int)error.code, error.message);
        if (ok && m.count >= m.fail_at)
            fail_msg("%s, %s %s, allocation %zu fails: and nobody says so", f->format->id, d->function, what, n);
    }
    return runs;
}

/* ---------------------------------------------------------------- the samples */

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    long length = ftell(in);
    rewind(in);
    *size = (size_t)length;
    uint8_t *data = malloc(*size + 1);
    assert_true(data && fread(data, 1, *size, in) == *size);
    data[*size] = '\0';
    fclose(in);
    return data;
}

static int by_size(const void *a, const void *b)
{
    const kf_file *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size) - (x->size < y->size) : strcmp(x->name, y->name);
}

/* All that can be read and made into an FBX, the smallest first. */
static size_t list_samples(const kf_format *format, kf_file *files, size_t most)
{
    char folder[1024], path[2048];
    size_t count = 0;
    snprintf(folder, sizeof folder, "%s/tests/data/%s", KEYFERRY_SOURCE, format->id);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL && count < most;) {
        if (!kfi_format_has_extension(format, entry->d_name))
            continue;
        kf_file *file = &files[count];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        file->data = read_file(path, &file->size);
        file->name = entry->d_name;
        kf_error error;
        kf_job *job = new_job((kf_options){.from = format->id}, NULL);
        bool good = convert(job, (kf_convert_input){.files = file, .count = 1}, NULL, NULL, &error);
        kf_job_free(job);
        file->name = NULL;
        if (good)
            file->name = strdup(entry->d_name);
        else
            free((void *)(uintptr_t)file->data);
        count += good;
    }
    closedir(dir);
    qsort(files, count, sizeof *files, by_size);
    return count;
}

/* The two largest, which have the most in them. */
static void on_two_samples(const kf_format *format)
{
    kf_file samples[64];
    size_t count = list_samples(format, samples, 64), runs = 0;
    assert_true(count >= 2);
    kf_error error;
    fixture f = {.format = format, .game = samples[count - 1], .other = samples[count - 2]};
    kf_job *job = new_job((kf_options){.from = format->id}, NULL);
    f.anim = kf_load(job, &f.game, 1, &error);
    f.other_anim = kf_load(job, &f.other, 1, &error);
    assert_true(f.anim && f.other_anim);
    kf_job *whole = new_job((kf_options){0}, NULL), *bare = new_job((kf_options){.no_capsule = true}, NULL);
    kf_job *frames = new_job((kf_options){.no_capsule = true, .program = KF_FOR_BLENDER}, NULL);
    kf_convert_input input = {.files = &f.game, .count = 1};
    assert_true(convert(whole, input, &f.fbx, NULL, &error) && convert(bare, input, &f.bare, &f.sidecar, &error) &&
                convert(frames, input, &f.baked, &f.baked_sidecar, &error));
    for (size_t i = 0; i < DEED_COUNT; i++)
        runs += every_one(&DEEDS[i], &f);
    print_message("%s: %s and %s, %zu failing allocations\n", format->id, f.game.name, f.other.name, runs);
    kf_job_free(whole);
    kf_job_free(bare);
    kf_job_free(frames);
    kf_job_free(job);
    memory_sink_free(&f.fbx);
    memory_sink_free(&f.bare);
    memory_sink_free(&f.sidecar);
    memory_sink_free(&f.baked);
    memory_sink_free(&f.baked_sidecar);
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)samples[i].data);
        free((void *)(uintptr_t)samples[i].name);
    }
}

static void every_allocation_fails(void **state)
{
    (void)state;
    size_t count;
    const kf_format *const *formats = kf_library_formats(library, &count);
    assert_true(count >= 5);
    for (size_t i = 0; i < count; i++)
        on_two_samples(formats[i]);
}

static void where_there_is_none(void **state)
{
    (void)state;
    kf_error error;
    failing_memory m = {0};
    kf_library_options options = {.size = sizeof options, .allocator = failing_allocator(&m), .no_installed_plugins = true};
    kf_library *own = kf_library_new(&options, &error);
    kf_job *job = kf_job_new(own, NULL, &error);
    assert_true(own && job);
    size_t before = m.count, count;
    const kf_format *const *formats = kf_library_formats(own, &count);
    assert_ptr_equal(kf_library_find(own, formats[0]->id), formats[0]);
    assert_null(kf_library_origin(own, formats[0]));
    kf_library_messages(own, &count);
    kf_job_messages(job, &count);
    kf_job_free(job);
    kf_library_free(own);
    assert_int_equal(m.count, before);
    assert_int_equal(m.live, 0);
}

/* ---------------------------------------------------------------- nothing is left out */

static bool known(const char *name, size_t size)
{
    for (size_t i = 0; i < DEED_COUNT; i++)
        if (strlen(DEEDS[i].function) == size && strncmp(name, DEEDS[i].function, size) == 0)
            return true;
    for (size_t i = 0; i < sizeof FREE_OF_IT / sizeof *FREE_OF_IT; i++)
        if (strlen(FREE_OF_IT[i]) == size && strncmp(name, FREE_OF_IT[i], size) == 0)
            return true;
    return false;
}

static void every_function_is_here(void **state)
{
    (void)state;
    size_t size, found = 0;
    char *header = (char *)read_file(KEYFERRY_SOURCE "/common/keyferry.h", &size);
    for (char *at = strstr(header, "\nKF_API "); at; at = strstr(at + 1, "\nKF_API ")) {
        char *end = strchr(at, '('), *name = end;
        while (name > at && name[-1] != ' ' && name[-1] != '*')
            name--;
        if (!known(name, (size_t)(end - name)))
            fail_msg("%.*s is not tested where memory runs out", (int)(end - name), name);
        found++;
    }
    assert_true(found >= 18);
    free(header);
}

int main(void)
{
    kf_error error;
    kf_library_options options = {.size = sizeof options, .no_installed_plugins = true};
    library = kf_library_new(&options, &error);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_here),
        cmocka_unit_test(where_there_is_none),
        cmocka_unit_test(every_allocation_fails),
    };
    int failed = library ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    kf_library_free(library);
    return failed;
}
