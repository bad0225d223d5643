#include "format.h"

#include <math.h>
#include <string.h>

enum { LEAST_LIMIT = 64 * 1024 * 1024, LIMIT_PER_BYTE = 64 };

/* ---------------------------------------------------------------- options */

bool kfi_copy_options(const void *given, size_t given_size, void *known, size_t known_size, kf_error *error)
{
    if (!given)
        return true;
    const char *problem = given_size < sizeof(size_t) ? "options: their size is not set" : NULL;
    /* A newer caller's options may be longer, as long as it does not use what is not known here. */
    for (size_t i = known_size; !problem && i < given_size; i++)
        if (((const char *)given)[i] != 0)
            problem = "options: one is set that this version does not know";
    if (problem && error) {
        *error = (kf_error){.code = KF_BAD_ARGUMENT, .offset = KF_NO_OFFSET};
        memcpy(error->message, problem, strlen(problem) + 1);
    }
    if (problem)
        return false;
    memcpy(known, given, given_size < known_size ? given_size : known_size);
    return true;
}

static bool keep_text(kf_job *job, const char **text)
{
    if (*text)
        *text = kfi_strdup(job, *text);
    return !kfi_failed(job);
}

static bool bad_option(kf_job *job, const char *what)
{
    return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "options: %s", what);
}

static bool known_id(kf_job *job, const char *id)
{
    return !id || kfi_format_find(job->library, id) ||
           kfi_fail(job, KF_UNKNOWN_FORMAT, KF_NO_OFFSET, "there is no format \"%.60s\"", id);
}

static bool adopt_options(kf_job *job)
{
    kf_options *o = &job->options;
    if (!keep_text(job, &o->from) || !keep_text(job, &o->to) || !keep_text(job, &o->rotation_order) ||
        !keep_text(job, &o->rig.name) || !known_id(job, o->from) || !known_id(job, o->to))
        return false;
    kf_rotation_order order;
    if (!kfi_order_from_name(o->rotation_order, &order))
        return bad_option(job, "the rotation order is none of XYZ, XZY, YZX, YXZ, ZXY, ZYX");
    if ((unsigned)o->program > KF_FOR_BLENDER)
        return bad_option(job, "the program is unknown");
    if ((unsigned)o->tcb > KF_TCB_SLOPES)
        return bad_option(job, "the way of writing TCB keys is unknown");
    if (!(o->tolerance >= 0) || !isfinite(o->tolerance))
        return bad_option(job, "the tolerance must be 0 or more");
    if (!(o->frame_rate >= 0) || !(o->bake_rate >= 0) || o->frame_rate > 1e6 || o->bake_rate > 1e6)
        return bad_option(job, "a frame rate must lie between 0 and 1000000");
    if (o->fbx_version != 0 && o->fbx_version != 7400 && o->fbx_version != 7500)
        return bad_option(job, "the FBX version must be 7400 or 7500");
    if (o->rig.size > 0 && !o->rig.data)
        return bad_option(job, "the rig has a size, but no data");
    return true;
}

/* ---------------------------------------------------------------- jobs */

kf_job *kf_job_new(kf_library *library, const kf_options *options, kf_error *error)
{
    kf_error unused;
    error = error ? error : &unused;
    *error = (kf_error){.offset = KF_NO_OFFSET};
    kf_options known = {0};
    if (!kfi_copy_options(options, options ? options->size : 0, &known, sizeof known, error))
        return NULL;

    /* The job's first allocation is the job itself. */
    kfi_arena arena;
    kfi_arena_init(&arena, known.allocator.resize ? known.allocator : library->job.arena.allocator,
                   known.max_memory ? known.max_memory : LEAST_LIMIT);
    kf_job *job = kfi_arena_alloc(&arena, 1, sizeof *job);
    if (!job) {
        *error = arena.over_limit
                     ? (kf_error){.code = KF_MEMORY_LIMIT, .message = "the memory limit is too small"}
                     : (kf_error){.code = KF_NO_MEMORY, .message = "out of memory"};
        error->offset = KF_NO_OFFSET;
        return NULL;
    }
    memset(job, 0, sizeof *job);
    job->library = library;
    job->options = known;
    job->options.size = sizeof known;
    job->arena = arena;
    kfi_enter(job);
    if (!adopt_options(job)) {
        kfi_leave(job, error);
        kf_job_free(job);
        return NULL;
    }
    return job;
}

void kf_job_free(kf_job *job)
{
    if (!job)
        return;
    kfi_arena arena = job->arena;
    kfi_arena_free(&arena);
}

const kf_message *kf_job_messages(const kf_job *job, size_t *count)
{
    *count = job->message_count;
    return job->messages;
}

void kfi_enter(kf_job *job)
{
    job->error = (kf_error){.offset = KF_NO_OFFSET};
    job->file = NULL;
}

bool kfi_leave(kf_job *job, kf_error *error)
{
    if (error)
        *error = job->error;
    return !kfi_failed(job);
}

void kfi_allow_input(kf_job *job, const kf_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        job->input += files[i].size;
    job->arena.beside = job->input;
    if (job->options.max_memory == 0 && job->input < UINT64_MAX / LIMIT_PER_BYTE &&
        job->input * LIMIT_PER_BYTE > job->arena.limit)
        job->arena.limit = job->input * LIMIT_PER_BYTE;
}

/* ---------------------------------------------------------------- what plugins call */

static void *host_alloc(kf_job *job, size_t count, size_t size)
{
    return kfi_alloc(job, count, size);
}

static bool host_fail(kf_job *job, kf_code code, uint64_t offset, const char *message)
{
    return kfi_fail(job, code == KF_OK ? KF_BAD_INPUT : code, offset, "%s", message);
}

static bool host_say(kf_job *job, kf_level level, const char *id, const char *file, uint64_t offset,
                     const char *text)
{
    /* The caller's strings may not live as long as the message. */
    return keep_text(job, &id) && keep_text(job, &file) && kfi_say(job, level, id, file, offset, "%s", text);
}

bool kfi_plain_name(const char *name)
{
#ifdef _WIN32
    static const char barred[] = "/\\:"; /* a drive or a stream of a file */
#else
    static const char barred[] = "/\\";
#endif
    return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strpbrk(name, barred);
}

static bool host_emit(kf_job *job, const char *name, const void *data, size_t size)
{
    if (!kfi_plain_name(name))
        return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "output name \"%.100s\": not the name of a file",
                        name);
    for (size_t i = 0; i < job->emitted_count; i++)
        if (strcmp(job->emitted[i].name, name) == 0)
            return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "two outputs have the name \"%.100s\"", name);
    const char *copy = kfi_strdup(job, name);
    kfi_emitted *emitted = copy ? kfi_push(job, &job->emitted, &job->emitted_count, sizeof *emitted) : NULL;
    if (emitted)
        *emitted = (kfi_emitted){copy, data, size};
    return emitted != NULL;
}

const kf_host kfi_host = {sizeof(kf_host), host_alloc, host_fail, host_say, host_emit};

/* A plugin that says no must say why. */
static bool blame(kf_job *job, const kf_format *format, const char *verb)
{
    return kfi_fail(job, KF_BAD_PLUGIN, KF_NO_OFFSET, "%s could not %s it and gave no reason", format->id,
                    verb);
}

const kf_anim *kfi_import_as(kf_job *job, const kf_format *format, uint32_t revision, const kf_file *files,
                             size_t count)
{
    kf_import_job in = {job, &kfi_host, &job->options, files, count};
    kf_anim *anim = kfi_alloc(job, 1, sizeof *anim);
    if (!anim)
        return NULL;
    job->file = files[0].name;
    kfi_anim_init(anim, format->id);
    anim->revision = revision;
    if (!format->import_(&in, anim)) {
        blame(job, format, "read");
        return NULL;
    }
    if (kfi_failed(job) || !kfi_anim_validate(job, anim))
        return NULL;
    job->file = NULL;
    return anim;
}

const kf_anim *kfi_import(kf_job *job, const kf_format *format, const kf_file *files, size_t count)
{
    return kfi_import_as(job, format, format->revision, files, count);
}

bool kfi_export(kf_job *job, const kf_format *format, const kf_anim *anim, const kf_anim *original,
                const kf_file *files, size_t count, const char *output)
{
    kf_export_job out = {job, &kfi_host, &job->options, anim, original, files, count, output};
    job->emitted = NULL;
    job->emitted_count = 0;
    job->file = output;
    if (!format->export_)
        return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "%s cannot be written", format->id);
    if (!format->export_(&out) || (!kfi_failed(job) && job->emitted_count == 0))
        return blame(job, format, "write");
    job->file = NULL;
    return !kfi_failed(job);
}

/* ---------------------------------------------------------------- probing, reading, checking */

static bool files_given(kf_job *job, const kf_file *files, size_t count)
{
    bool ok = count > 0;
    for (size_t i = 0; i < count; i++)
        ok = ok && files[i].name && (files[i].data || files[i].size == 0);
    return ok ||
           kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "no file was given, or one without name or data");
}

const char *kf_probe(kf_job *job, const kf_file *file, kf_error *error)
{
    kfi_enter(job);
    const kf_format *format = files_given(job, file, 1) ? kfi_format_detect(job, file, 1) : NULL;
    return kfi_leave(job, error) && format ? format->id : NULL;
}

const kf_anim *kf_load(kf_job *job, const kf_file *files, size_t count, kf_error *error)
{
    kfi_enter(job);
    const kf_anim *anim = NULL;
    if (files_given(job, files, count)) {
        kfi_allow_input(job, files, count);
        const kf_format *format = kfi_format_of_input(job, files, count);
        anim = format ? kfi_import(job, format, files, count) : NULL;
    }
    return kfi_leave(job, error) ? anim : NULL;
}

static size_t problems(const kf_job *job)
{
    size_t found = 0;
    for (size_t i = 0; i < job->message_count; i++)
        if (job->messages[i].level == KF_PROBLEM)
            found += 1 + job->messages[i].repeats;
    return found;
}

static void check(kf_job *job, const kf_file *file)
{
    const kf_format *format =
        job->options.from ? kfi_format_of_input(job, file, 1) : kfi_format_detect(job, file, 1);
    if (!format && job->error.code == KF_UNKNOWN_FORMAT) {
        /* Too broken to be recognised: take its name's word, so that the reader can tell what is wrong. */
        format = file->size > 0 ? kfi_format_by_extension(job->library, file->name) : NULL;
        if (format)
            kfi_enter(job);
    }
    if (!format)
        return;
    kf_import_job in = {job, &kfi_host, &job->options, file, 1};
    size_t before = problems(job);
    if (!kfi_import(job, format, file, 1)) {
        kf_error error = job->error;
        if (error.code == KF_BAD_INPUT) {
            kfi_enter(job);
            if (kfi_say(job, KF_PROBLEM, "unreadable", file->name, error.offset, "%s", error.message))
                job->error = error;
        }
        return;
    }
    job->file = file->name;
    if (format->check && !format->check(&in)) {
        blame(job, format, "check");
        return;
    }
    size_t found = problems(job) - before;
    if (found > 0 && !kfi_failed(job))
        kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "breaks the rules of %s in %zu place%s", format->id, found,
                 found == 1 ? "" : "s");
}

bool kf_check(kf_job *job, const kf_file *file, kf_error *error)
{
    kfi_enter(job);
    if (files_given(job, file, 1)) {
        kfi_allow_input(job, file, 1);
        check(job, file);
    }
    return kfi_leave(job, error);
}
