#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The one's name with the other's extension, by which formats are told apart where bytes do not tell. */
static char *name_like(const char *other, const char *own)
{
    const char *dot = strrchr(other, '.'), *extension = strrchr(own, '.');
    size_t stem = dot ? (size_t)(dot - other) : strlen(other), size = extension ? strlen(extension) : 0;
    char *name = need(malloc(stem + size + 1));
    memcpy(name, other, stem);
    memcpy(name + stem, extension ? extension : "", size + 1);
    return name;
}

int load_file(cli *c, const char *path, const char *like, loaded *result)
{
    kf_error error;
    memset(result, 0, sizeof *result);
    if (!read_input(path, &result->in, stderr))
        return EXIT_FILES;
    if (like) {
        char *name = name_like(like, result->in.name);
        free(result->in.name);
        result->in.name = name;
    }
    kf_file file = {result->in.name, result->in.data, result->in.size};
    kf_options options = c->options;
    if (options.from && strcmp(options.from, "fbx") != 0 && c->operand_count > 1) {
        /* Of two files to compare one may be an FBX: it is known by its bytes. */
        kf_job *probing = kf_job_new(c->library, NULL, &error);
        const char *id = probing ? kf_probe(probing, &file, &error) : NULL;
        if (id && strcmp(id, "fbx") == 0)
            options.from = NULL;
        kf_job_free(probing);
        need_memory(id, &error);
    }
    result->job = kf_job_new(c->library, &options, &error);
    result->anim = result->job ? kf_load(result->job, &file, 1, &error) : NULL;
    if (result->job)
        say_messages(stderr, result->job, KF_WARNING, &result->in, 1, path);
    if (result->anim)
        return EXIT_DONE;
    say_error(stderr, &error, &result->in, 1, path);
    unload_file(result);
    return exit_code_of(error.code);
}

void unload_file(loaded *l)
{
    kf_job_free(l->job);
    free_input(&l->in);
    memset(l, 0, sizeof *l);
}

static bool has_extension(const char *name, const char *extension, size_t size)
{
    size_t length = strlen(name);
    if (length < size + 1 || name[length - size - 1] != '.')
        return false;
    for (size_t i = 0; i < size; i++) {
        char letter = name[length - size + i];
        if ((letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter) != extension[i])
            return false;
    }
    return true;
}

bool has_known_extension(const cli *c, const char *name)
{
    size_t count;
    const kf_format *const *formats = kf_library_formats(c->library, &count);
    if (has_extension(name, "fbx", 3))
        return true;
    for (size_t i = 0; i < count; i++) {
        for (const char *at = formats[i]->extensions; *at;) {
            size_t size = strcspn(at, " ");
            if (size && has_extension(name, at, size))
                return true;
            at += size;
            at += strspn(at, " ");
        }
    }
    return false;
}

bool expand_operands(cli *c, path_list *list, bool **from_folder)
{
    bool ok = true;
    size_t known = 0;
    *from_folder = NULL;
    for (size_t i = 0; i < c->operand_count; i++) {
        bool folder = is_folder(c->operands[i]);
        if (folder)
            ok = list_folder(c->operands[i], true, NULL, list, stderr) && ok;
        else
            list_add(list, copy_text(c->operands[i]));
        *from_folder = need(realloc(*from_folder, (list->count + 1) * sizeof **from_folder));
        while (known < list->count)
            (*from_folder)[known++] = folder;
    }
    return ok;
}

bool is_many(const path_list *list, const bool *from_folder)
{
    return list->count != 1 || from_folder[0];
}
