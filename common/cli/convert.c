#include "convert.h"
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- where outputs go */

static bool plain_name(const char *name)
{
    return name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strpbrk(name, "/\\");
}

/* The path for an output that the library calls `name`. */
static char *place(const work *w, const char *name)
{
    const char *output = w->v->output;
    if (w->v->into_folder)
        return join_path(output, name);
    if (strcmp(output, "-") == 0 || strcmp(name, w->name) == 0)
        return copy_text(output);
    if (ends_with(name, ".fbx") || ends_with(name, ".kf")) {
        /* A sidecar, or one of several takes: beside the output. */
        char *folder = copy_text(output);
        folder[base_name(folder) - folder] = '\0';
        char *path = folder[0] ? join_path(folder, name) : copy_text(name);
        free(folder);
        return path;
    }
    return copy_text(output); /* the original had another name, but the user chose this one */
}

static bool changed_since(const input *in, double then)
{
    file_about sidecar;
    if (!in->regular || in->modified > then)
        return true;
    if (!ends_with(in->path, ".fbx"))
        return false;
    char *path = sidecar_of(in->path);
    bool changed = look_at(path, &sidecar) && sidecar.modified > then;
    free(path);
    return changed;
}

/* Whether an output is up to date. */
static bool newer_than_inputs(const work *w, const char *path)
{
    file_about about, rig;
    char *own = copy_text(path);
    if (ends_with(own, SIDECAR_END)) /* which belongs to the FBX, and is what that is */
        own[strlen(own) - 3] = '\0';
    bool there = w->v->claims ? claim(w->v->claims, own, w->v->number, &about) : look_at(own, &about);
    free(own);
    if (!there || (w->c->rig && look_at(w->c->rig, &rig) && rig.modified > about.modified))
        return false;
    for (size_t i = 0; i < w->v->count; i++)
        if (changed_since(&w->inputs[i], about.modified))
            return false;
    for (size_t i = 0; i < w->base_count; i++)
        if (w->bases[i].modified > about.modified)
            return false;
    return true;
}

static bool drop(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return true;
}

static bool drop_at(void *user, uint64_t at, const void *data, size_t size)
{
    (void)at;
    return drop(user, data, size);
}

static bool begin(void *user, const char *name, kf_sink *sink)
{
    work *w = user;
    if (!plain_name(name)) {
        say(w->v->err, "\"%s\": not the name of a file; nothing is written outside the output folder", name);
        w->set.exit_code = EXIT_BAD;
        return false;
    }
    char *path = place(w, name);
    bool kept = !w->v->plan && w->c->newer && !w->v->again && newer_than_inputs(w, path);
    if (kept || w->v->plan || w->c->dry_run) {
        w->dropped = true;
        *sink = (kf_sink){NULL, drop, drop_at};
        w->kept += kept;
        if (kept)
            free(path);
        else
            list_add(w->v->plan ? w->v->plan : &w->would, path);
        return true;
    }
    bool ok = !w->v->into_folder || make_folders(w->v->output, w->v->err);
    if (!ok)
        w->set.exit_code = EXIT_FILES;
    ok = ok && output_allowed(&w->set, path);
    if (ok && w->v->claims && !claim_writing(w->v->claims, path, w->v->number)) {
        w->dropped = true;
        *sink = (kf_sink){NULL, drop, drop_at};
    } else {
        ok = ok && output_begin(&w->set, path, sink);
    }
    list_add(&w->written, path);
    return ok;
}

static bool end(void *user, bool ok)
{
    work *w = user;
    if (w->dropped) {
        w->dropped = false;
        return ok;
    }
    return output_end(&w->set, ok);
}

/* Whether an output of a dry run has a folder, or one could be made for it. */
static bool has_folder(work *w, const char *path)
{
    char *folder = copy_text(path);
    folder[base_name(folder) - folder] = '\0';
    file_about about = {.kind = KIND_FOLDER};
    bool there = folder[0] == '\0' || look_at(folder, &about), ok = there && about.kind == KIND_FOLDER;
    if (!ok && w->v->into_folder) {
        ok = could_make_folders(w->v->output, w->v->err);
    } else if (!ok) { /* in the words of a real run */
        say(w->v->err, "%s: cannot be written: %s", path, strerror(there ? ENOTDIR : errno));
    } else if (!may_write_in(folder[0] ? folder : ".")) {
        say(w->v->err, "%s: cannot be written: %s", path, strerror(errno));
        ok = false;
    }
    if (!ok)
        w->set.exit_code = EXIT_FILES;
    free(folder);
    return ok;
}

/* The one output whose name is known before a conversion; NULL: there is none. To be freed. */
static char *known_output(const work *w)
{
    return !w->v->into_folder || ends_with(w->name, ".fbx") ? place(w, w->name) : NULL;
}

/* After a dry run, also one that failed: whether its outputs could have been written, as far as that shows without writing. One
 * that could not is enough, and is looked for in the order of a real run, which that one would have ended. */
static bool could_write(work *w)
{
    char *known = known_output(w);
    bool ok = !known || output_allowed(&w->set, known);
    free(known);
    kf_sink unused;
    for (size_t i = 0; ok && i < w->would.count; i++) {
        ok = has_folder(w, w->would.paths[i]) && output_begin(&w->set, w->would.paths[i], &unused);
        if (ok && w->v->claims)
            claim_writing(w->v->claims, w->would.paths[i], w->v->number);
    }
    return ok;
}

/* ---------------------------------------------------------------- before */

static bool read_list(const char *const *paths, size_t count, input **inputs, FILE *err)
{
    *inputs = need(calloc(count + 1, sizeof **inputs));
    for (size_t i = 0; i < count; i++)
        if (!read_input(paths[i], &(*inputs)[i], err))
            return false;
    return true;
}

static bool read_bases(work *w)
{
    path_list list = {0};
    bool ok = true;
    for (size_t i = 0; i < w->c->base_count; i++) {
        const char *base = w->c->bases[i];
        if (!is_folder(base)) {
            list_add(&list, copy_text(base));
            continue;
        }
        size_t before = list.count;
        ok = list_folder(base, false, NULL, &list, w->v->err) && ok;
        if (ok && list.count == before) {
            say(w->v->err, "%s: there is no file in it, and its folders are not looked into: give the original itself as --base", base);
            ok = false;
        }
    }
    ok = ok && read_list((const char *const *)list.paths, list.count, &w->bases, w->v->err);
    w->base_count = ok ? list.count : 0;
    list_free(&list);
    return ok;
}

/* The end of a path, one folder more than `end` has; the path itself if there is none more. */
static const char *with_folder(const char *path, const char *end)
{
    if (end > path)
        end--;
    while (end > path && end[-1] != '/')
        end--;
    return end;
}

/* FBX files of one name, such as each animator's copy, are called by as much of their paths as tells them apart. */
static void tell_apart(work *w)
{
    size_t count = w->v->count;
    const char **ends = need(calloc(count + 1, sizeof *ends));
    bool *alike = need(calloc(count + 1, sizeof *alike));
    for (size_t i = 0; i < count; i++)
        ends[i] = base_name(w->inputs[i].path);
    for (bool more = true; more;) {
        more = false;
        memset(alike, 0, count * sizeof *alike);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++)
                if (strcmp(ends[i], ends[k]) == 0)
                    alike[i] = alike[k] = true;
        for (size_t i = 0; i < count; i++) {
            more = more || (alike[i] && ends[i] > w->inputs[i].path);
            ends[i] = alike[i] ? with_folder(w->inputs[i].path, ends[i]) : ends[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (ends[i] == base_name(w->inputs[i].path))
            continue; /* also standard input, which has a name of its own */
        free(w->inputs[i].name);
        w->inputs[i].name = copy_text(ends[i]);
    }
    free(ends);
    free(alike);
}

/* Parts travel under their names: no two may be alike. */
static bool names_differ(work *w)
{
    if (w->id ? strcmp(w->id, "fbx") == 0 : ends_with(w->inputs[0].name, ".fbx")) /* also one that the library will find bad */
        tell_apart(w);
    for (size_t i = 0; i < w->v->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(w->inputs[i].name, w->inputs[k].name) == 0) {
                say(w->v->err, "%s and %s have the same name: parts of one animation must not",
                    w->inputs[k].path, w->inputs[i].path);
                return false;
            }
    return true;
}

static const char *first_extension(const cli *c, const char *id, int *size)
{
    const kf_format *format = id ? kf_library_find(c->library, id) : NULL;
    const char *all = format ? format->extensions : id && strcmp(id, "fbx") == 0 ? "fbx" : "";
    *size = (int)strcspn(all, " ");
    return all;
}

/* The target's id, or NULL where the FBX will tell. */
static const char *target(const work *w)
{
    bool from_fbx = w->id && strcmp(w->id, "fbx") == 0;
    return w->c->options.to ? w->c->options.to : from_fbx ? NULL : "fbx";
}

/* The output's name: as the user gave it, or in a folder the input's with the target's extension. */
static char *output_name(const work *w)
{
    if (!w->v->into_folder)
        return copy_text(strcmp(w->v->output, "-") == 0 ? "stdout" : base_name(w->v->output));
    const char *to = target(w);
    const char *name = w->inputs[0].name;
    const char *dot = strrchr(name, '.');
    int stem = dot && dot != name && !w->v->whole_name ? (int)(dot - name) : (int)strlen(name);
    int size;
    const char *extension = first_extension(w->c, to, &size);
    size_t room = (size_t)stem + (size_t)size + 2;
    char *result = need(malloc(room));
    snprintf(result, room, "%.*s%s%.*s", stem, name, size ? "." : "", size, extension);
    return result;
}

static void set_rules(work *w)
{
    bool reads_stdin = false;
    for (size_t i = 0; i < w->v->count; i++)
        reads_stdin |= strcmp(w->v->inputs[i], "-") == 0;
    w->rules = (output_rules){
        .yes = w->c->yes || w->v->again,
        .never = w->c->never && !w->v->again,
        .dry = w->c->dry_run,
        .sync = !w->v->batch,
        .ask = !w->v->batch && !w->c->dry_run && !reads_stdin && is_terminal(STANDARD_INPUT) && is_terminal(STANDARD_ERROR),
        .inputs = w->inputs,
        .input_count = w->v->count,
        .claims = w->v->claims,
        .number = w->v->number,
        .err = w->v->err,
    };
    w->set.rules = &w->rules;
}

/* Whether the one output whose name is known already stands in the way, or is up to date: then nothing is
 * done. A dry run goes on and tells what is in the way at its end, unless nothing may ever be written there. */
static bool look_ahead(work *w, int *code)
{
    char *path = w->v->plan ? NULL : known_output(w);
    if (!path)
        return true;
    bool go_on = true;
    if (w->c->newer && !w->v->again && newer_than_inputs(w, path)) {
        *code = w->v->batch ? SKIPPED : EXIT_DONE;
        w->left_alone = true;
        go_on = false;
    } else if ((!w->c->dry_run || w->c->never) && !output_allowed(&w->set, path)) {
        *code = w->set.exit_code;
        go_on = false;
    }
    free(path);
    return go_on;
}

/* A game file's FBX and sidecar have names that follow from its own; false where only a conversion tells. */
static bool plan_ahead(work *w)
{
    const char *to = target(w);
    bool from_fbx = w->id && strcmp(w->id, "fbx") == 0;
    if (!w->v->plan || from_fbx || w->c->options.split_takes || !to || strcmp(to, "fbx") != 0 || !plain_name(w->name))
        return false;
    char *path = place(w, w->name);
    list_add(w->v->plan, path);
    if (!w->c->options.no_sidecar)
        list_add(w->v->plan, sidecar_of(path));
    return true;
}

/* ---------------------------------------------------------------- doing it */

static bool go_on(void *user, double done)
{
    (void)user;
    (void)done;
    return !stop_asked();
}

static int convert_read(work *w)
{
    cli *c = w->c;
    kf_error error = {.offset = KF_NO_OFFSET};
    kf_options options = c->options;
    if (strcmp(w->v->output, "-") == 0)
        options.no_sidecar = true; /* there is nothing for it to stand beside */
    options.progress = w->v->again ? NULL : go_on;
    kf_file *files = files_of(w->inputs, w->v->count), *bases = files_of(w->bases, w->base_count);
    sidecar_search search = {.c = c, .fbx = w->inputs, .fbx_count = w->v->count, .err = w->v->err};
    kf_convert_input in = {.size = sizeof in,
                           .files = files,
                           .count = w->v->count,
                           .base = w->base_count ? bases : NULL,
                           .base_count = w->base_count,
                           .output = w->chosen ? w->name : NULL,
                           .find_sidecar = find_sidecar,
                           .user = &search};
    kf_output output = {w, begin, end};
    kf_summary summary = {0};
    kf_job *job = kf_job_new(c->library, &options, &error);
    bool ok = job && kf_convert(job, &in, &output, &summary, &error);
    if (!c->dry_run)
        ok = ok && output_commit(&w->set);
    else if (c->json)
        ok = could_write(w) && ok;
    int code = ok ? EXIT_DONE : w->set.exit_code ? w->set.exit_code : exit_code_of(error.code);
    w->left_alone = ok && w->kept > 0 && w->written.count + w->would.count == 0;
    if (w->left_alone && w->v->batch)
        code = SKIPPED;
    else if (ok && w->v->plan)
        w->reported = true;
    else if (!c->json)
        report_conversion(w, job, &summary, &error, ok);
    else if (ok || !w->set.exit_code) {
        report_conversion_json(w, job, &summary, &error, ok);
        w->reported = true;
    }
    if (c->dry_run && !c->json && !could_write(w)) /* behind what would have been done */
        code = w->set.exit_code;
    output_discard(&w->set);
    kf_job_free(job);
    free_inputs(search.found, search.found_count);
    free(files);
    free(bases);
    return code;
}

/* What the inputs are, as far as that can be told; the library will tell again, with its reasons. */
static const char *probe_inputs(const work *w, kf_error *error)
{
    error->code = KF_OK;
    if (w->c->options.from)
        return w->c->options.from;
    kf_job *job = kf_job_new(w->c->library, NULL, error);
    kf_file file = {w->inputs[0].name, w->inputs[0].data, w->inputs[0].size};
    const char *id = job ? kf_probe(job, &file, error) : NULL; /* ids live as long as the library */
    kf_job_free(job);
    need_memory(id, error);
    return id;
}

/* Inputs of a batch that turned out to have the same output: FBX files may go back together. */
static bool may_join(const work *w)
{
    const char *to = target(w);
    bool may = w->v->count == 1 || !to || strcmp(to, "fbx") != 0;
    for (size_t i = 1; i < w->v->count; i++)
        say(w->v->err, "%s: has the same output as %s: %s", w->v->inputs[i], w->v->inputs[0],
            may ? "both go back together" : "convert them into different folders");
    return may;
}

static int convert_work(work *w)
{
    cli *c = w->c;
    const conversion *v = w->v;
    kf_error error;
    int code = EXIT_FILES;
    if (!read_list(v->inputs, v->count, &w->inputs, v->err) || !read_bases(w))
        return EXIT_FILES;
    w->id = probe_inputs(w, &error);
    w->name = output_name(w);
    w->chosen = !v->into_folder || (target(w) && strcmp(target(w), "fbx") == 0);
    set_rules(w);
    if (v->batch && !w->id && error.code == KF_UNKNOWN_FORMAT && !has_known_extension(c, w->inputs[0].name))
        return SKIPPED;
    if (v->again && !may_join(w))
        return EXIT_FILES;
    if (!names_differ(w))
        return EXIT_USAGE;
    if (plan_ahead(w))
        code = EXIT_DONE;
    else if (look_ahead(w, &code))
        code = convert_read(w);
    if (!v->batch || code != EXIT_FILES || !c->never || !w->set.existed)
        return code;
    w->left_alone = true;
    return SKIPPED;
}

int convert_files(cli *c, const conversion *v)
{
    memory_stream said;
    conversion own = *v;
    if (c->json) { /* to have the reason of a failure that is not the library's */
        memory_open(&said);
        own.err = said.file;
    }
    work w = {.c = c, .v = &own};
    int code = convert_work(&w);
    if (c->json) {
        memory_close(&said);
        fwrite(said.data, 1, said.size, v->err);
        if ((code != SKIPPED || w.left_alone) && !w.reported) {
            bool done = code == EXIT_DONE || code == SKIPPED;
            kf_error error = done ? (kf_error){0} : last_reason(said.data, said.size);
            report_conversion_json(&w, NULL, &(kf_summary){0}, &error, done);
        }
        free(said.data);
    }
    free_inputs(w.inputs, w.inputs ? v->count : 0);
    free_inputs(w.bases, w.base_count);
    list_free(&w.written);
    list_free(&w.would);
    free(w.name);
    return code;
}
