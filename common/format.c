#include "format.h"

#include "fbx/scene.h"

#include <string.h>

#define KF_FORMAT(x) extern const kf_format kfi_format_##x;
#include "../plugins/formats.def"
#undef KF_FORMAT

static const kf_format *const BUILT_IN[] = {
#define KF_FORMAT(x) &kfi_format_##x,
#include "../plugins/formats.def"
#undef KF_FORMAT
    NULL,
};

/* ---------------------------------------------------------------- FBX as a format */

static int fbx_probe(const uint8_t *data, size_t size)
{
    return kfi_fbx_probe(data, size) ? 100 : 0;
}

static bool fbx_import(kf_import_job *in, kf_anim *anim)
{
    if (in->count != 1)
        return kfi_fail(in->job, KF_BAD_ARGUMENT, KF_NO_OFFSET,
                        "an FBX is read alone, not with %zu other files", in->count - 1);
    return kfi_fbx_read(in->job, &in->files[0], anim);
}

const kf_format kfi_format_fbx = {
    .abi = KF_ABI,
    .revision = 1,
    .id = "fbx",
    .title = "Autodesk FBX",
    .extensions = "fbx",
    .probe = fbx_probe,
    .import_ = fbx_import,
};

/* ---------------------------------------------------------------- the list */

const kf_format *const *kf_library_formats(const kf_library *library, size_t *count)
{
    *count = library->format_count;
    return library->formats;
}

const kf_message *kf_library_messages(const kf_library *library, size_t *count)
{
    return kf_job_messages(&library->job, count);
}

const kf_format *kf_library_find(const kf_library *library, const char *id)
{
    for (size_t i = 0; i < library->format_count; i++)
        if (strcmp(library->formats[i]->id, id) == 0)
            return library->formats[i];
    return NULL;
}

const char *kf_library_origin(const kf_library *library, const kf_format *format)
{
    for (size_t i = 0; i < library->loaded_count; i++)
        if (library->loaded[i].format == format)
            return library->loaded[i].path;
    return NULL;
}

const kf_format *kfi_format_find(const kf_library *library, const char *id)
{
    return strcmp(id, kfi_format_fbx.id) == 0 ? &kfi_format_fbx : kf_library_find(library, id);
}

/* Ids stand in options, file names and JSON: lower-case letters, digits and dashes only. */
static bool good_id(const char *id)
{
    size_t size = id ? strlen(id) : 0;
    return size > 0 && size <= 32 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == size &&
           id[0] != '-';
}

static const char *format_problem(const kf_library *library, const kf_format *format)
{
    if (format->abi != KF_ABI)
        return "was built for another version of the plugin interface";
    if (!good_id(format->id))
        return "has no id of lower-case letters, digits and dashes";
    if (!format->title || !format->extensions || !format->probe || !format->import_ || !format->export_)
        return "lacks its title, extensions, probe, import or export";
    if (kfi_format_find(library, format->id))
        return "has the id of a format that is there already";
    return NULL;
}

bool kfi_register(kf_library *library, const kf_format *format, const char *path, bool *added)
{
    const char *problem = format_problem(library, format);
    *added = !problem;
    if (problem)
        return kfi_say(&library->job, KF_WARNING, "plugin", path, KF_NO_OFFSET, "left out: its format %s",
                       problem);
    const kf_format **slot = kfi_push(&library->job, &library->formats, &library->format_count, sizeof *slot);
    if (slot)
        *slot = format;
    return slot != NULL;
}

static bool fill(kf_library *library, const kf_library_options *options)
{
    bool added;
    for (size_t i = 0; BUILT_IN[i]; i++)
        if (!kfi_register(library, BUILT_IN[i], NULL, &added))
            return false;
    if (options->plugin_path && !kfi_load_plugins(library, options->plugin_path, true))
        return false;
#ifdef KEYFERRY_PLUGIN_DIR
    if (!options->no_installed_plugins && !kfi_load_plugins(library, KEYFERRY_PLUGIN_DIR, false))
        return false;
#endif
    return true;
}

kf_library *kf_library_new(const kf_library_options *options, kf_error *error)
{
    kf_error unused;
    error = error ? error : &unused;
    *error = (kf_error){.offset = KF_NO_OFFSET};
    kf_library_options known = {0};
    if (!kfi_copy_options(options, options ? options->size : 0, &known, sizeof known, error))
        return NULL;

    /* The library's first allocation is the library itself. */
    kfi_arena arena;
    kfi_arena_init(&arena, known.allocator, UINT64_MAX);
    kf_library *library = kfi_arena_alloc(&arena, 1, sizeof *library);
    if (!library) {
        *error = (kf_error){.code = KF_NO_MEMORY, .offset = KF_NO_OFFSET, .message = "out of memory"};
        return NULL;
    }
    memset(library, 0, sizeof *library);
    library->job.library = library;
    library->job.arena = arena;
    if (!fill(library, &known)) {
        *error = library->job.error;
        kf_library_free(library);
        return NULL;
    }
    return library;
}

void kf_library_free(kf_library *library)
{
    if (!library)
        return;
    kfi_close_plugins(library);
    kfi_arena arena = library->job.arena;
    kfi_arena_free(&arena);
}

/* ---------------------------------------------------------------- which format is it */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool kfi_format_has_extension(const kf_format *format, const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    if (!dot || dot[1] == '\0')
        return false;
    const char *at = format->extensions;
    while (*at) {
        size_t size = strcspn(at, " ");
        size_t same = 0;
        while (same < size && lower(dot[1 + same]) == at[same])
            same++;
        if (size > 0 && same == size && dot[1 + size] == '\0')
            return true;
        at += size;
        at += strspn(at, " ");
    }
    return false;
}

/* Format number i of the library, FBX before the first. */
static const kf_format *nth(const kf_library *library, size_t i)
{
    return i == 0 ? &kfi_format_fbx : library->formats[i - 1];
}

const kf_format *kfi_format_by_extension(const kf_library *library, const char *name)
{
    const kf_format *found = NULL;
    for (size_t i = 0; i <= library->format_count; i++) {
        const kf_format *format = nth(library, i);
        if (!kfi_format_has_extension(format, name))
            continue;
        if (found)
            return NULL;
        found = format;
    }
    return found;
}

static int score_of(const kf_format *format, const kf_file *files, size_t count)
{
    int least = 100;
    for (size_t i = 0; i < count && least > 0; i++) {
        int score = files[i].size > 0 ? format->probe(files[i].data, files[i].size) : 0;
        if (score < least)
            least = score;
    }
    return least;
}

/* The best formats for files that belong together: how many share the highest score, and the first two of
 * them. */
static size_t best_formats(const kf_library *library, const kf_file *files, size_t count,
                           const kf_format *best[2])
{
    size_t ties = 0;
    int top = 0;
    size_t named = 0; /* how many of the ties the file's extension speaks for */
    const kf_format *by_name = NULL;
    best[0] = best[1] = NULL;
    for (size_t i = 0; i <= library->format_count; i++) {
        const kf_format *format = nth(library, i);
        int score = score_of(format, files, count);
        if (score <= 0 || score < top)
            continue;
        if (score > top)
            ties = named = 0;
        top = score;
        if (ties < 2)
            best[ties] = format;
        ties++;
        if (kfi_format_has_extension(format, files[0].name)) {
            named++;
            by_name = format;
        }
    }
    if (ties > 1 && named == 1) {
        best[0] = by_name;
        return 1;
    }
    return ties;
}

/* "ei-anm or vib-anm": the formats whose extension a name has. */
static const char *ids_by_name(kf_job *job, const char *name)
{
    const char *ids = "";
    for (size_t i = 0; ids && i <= job->library->format_count; i++)
        if (kfi_format_has_extension(nth(job->library, i), name))
            ids = kfi_format_text(job, "%.80s%s%.80s", ids, ids[0] ? " or " : "", nth(job->library, i)->id);
    return ids;
}

static const kf_format *unknown(kf_job *job, const kf_file *file)
{
    const kf_format *hint = kfi_format_by_extension(job->library, file->name);
    const char *ids = ids_by_name(job, file->name);
    job->file = file->name;
    if (file->size == 0)
        kfi_fail(job, KF_UNKNOWN_FORMAT, KF_NO_OFFSET, "the file is empty");
    else if (ids && ids[0])
        kfi_fail(job, KF_UNKNOWN_FORMAT, KF_NO_OFFSET,
                 "no known format fits its bytes; by its name it should be %s (--from %s tells what is wrong "
                 "with it)",
                 ids, hint ? hint->id : "ID");
    else
        kfi_fail(job, KF_UNKNOWN_FORMAT, KF_NO_OFFSET, "no known format fits its bytes (keyferry formats lists what there is)");
    return NULL;
}

const kf_format *kfi_format_detect(kf_job *job, const kf_file *files, size_t count)
{
    const kf_format *best[2];
    size_t ties = best_formats(job->library, files, count, best);
    if (ties == 1)
        return best[0];
    job->file = files[0].name;
    if (ties > 1) {
        kfi_fail(job, KF_AMBIGUOUS, KF_NO_OFFSET,
                 "both %s and %s fit its bytes equally well (choose one with --from)", best[0]->id,
                 best[1]->id);
        return NULL;
    }
    /* Nothing fits them all: name the first file that is the reason. */
    const kf_format *first = NULL;
    for (size_t i = 0; i < count; i++) {
        ties = best_formats(job->library, &files[i], 1, best);
        if (ties == 0)
            return unknown(job, &files[i]);
        if (i == 0)
            first = best[0];
        else if (best[0] != first) {
            job->file = files[i].name;
            kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET,
                     "is %s, but \"%.100s\" is %s: they cannot be parts of one animation", best[0]->id,
                     files[0].name, first->id);
            return NULL;
        }
    }
    return unknown(job, &files[0]);
}

/* A file that nothing fits, but whose name says what it should be: that format's reader can tell what is
 * wrong. */
static void ask_by_name(kf_job *job, const kf_file *file)
{
    const kf_format *hint = file->size > 0 ? kfi_format_by_extension(job->library, file->name) : NULL;
    if (!hint)
        return;
    kf_error told = job->error;
    size_t messages = job->message_count;
    kf_import_job in = {job, &kfi_host, &job->options, file, 1};
    kf_anim anim;
    job->error = (kf_error){.offset = KF_NO_OFFSET};
    job->file = file->name;
    kfi_anim_init(&anim, hint->id);
    if (hint->import_(&in, &anim) || job->error.code != KF_BAD_INPUT)
        job->error = told;
    job->message_count = messages;
}

const kf_format *kfi_format_of_input(kf_job *job, const kf_file *files, size_t count)
{
    const kf_format *format = job->options.from ? kfi_format_find(job->library, job->options.from)
                                                : kfi_format_detect(job, files, count);
    if (!format && count == 1 && job->error.code == KF_UNKNOWN_FORMAT)
        ask_by_name(job, &files[0]);
    if (format && format != &kfi_format_fbx && job->options.rig.data && !format->capabilities.rig &&
        !kfi_warn(job, "unused", "--rig does nothing here: %s keeps no skeleton in another file", format->id))
        return NULL;
    return format;
}
