#include "cli.h"
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void list_add(path_list *list, char *path)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 16;
        list->paths = need(realloc(list->paths, list->capacity * sizeof *list->paths));
    }
    list->paths[list->count++] = path;
}

void list_free(path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (path_list){0};
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_visible(void *user, const char *name)
{
    if (name[0] != '.')
        list_add(user, copy_text(name));
}

static bool names_in(const char *folder, path_list *names, FILE *err)
{
    if (!each_name(folder, add_visible, names)) {
        say(err, "%s: cannot be read: %s", folder, strerror(errno));
        return false;
    }
    if (names->count > 1)
        qsort(names->paths, names->count, sizeof *names->paths, by_text);
    return true;
}

/* NOLINTNEXTLINE: no deeper than a path is long */
static bool walk(const char *folder, bool deep, const file_about *skip, path_list *list, FILE *err)
{
    path_list names = {0};
    bool ok = names_in(folder, &names, err);
    for (size_t i = 0; i < names.count; i++) {
        char *path = join_path(folder, names.paths[i]);
        file_about about, target;
        bool there = look_at_link(path, &about), gone = !there && errno == ENOENT;
        /* A link to a file counts as the file; a link to a folder is left alone: it may lead round in a
         * circle. */
        bool link = there && about.kind == KIND_LINK;
        bool file = there && (about.kind == KIND_FILE || (link && look_at(path, &target) && target.kind == KIND_FILE));
        if (deep && ((!there && !gone) || (link && !file && !look_at(path, &target)))) {
            say(err, "%s: cannot be read: %s", path, strerror(errno));
            ok = false;
        }
        bool inside = there && deep && about.kind == KIND_FOLDER &&
                      !(skip && about.device == skip->device && about.inode == skip->inode);
        if (inside)
            ok = walk(path, true, skip, list, err) && ok;
        if (file)
            list_add(list, path);
        else
            free(path);
    }
    list_free(&names);
    return ok;
}

bool list_folder(const char *folder, bool deep, const char *skip, path_list *list, FILE *err)
{
    file_about about;
    bool known = skip && look_at(skip, &about);
    return walk(folder, deep, known ? &about : NULL, list, err);
}

bool make_folders(const char *path, FILE *err)
{
    if (is_folder(path))
        return true;
    char *part = copy_text(path);
    bool ok = true;
    size_t size = strlen(part);
    for (size_t i = 1; ok && i <= size; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char kept = part[i];
        part[i] = '\0';
        int reason = make_folder(part) ? 0 : errno;
        if (reason != 0 && reason != EEXIST && !is_folder(part)) {
            say(err, "%s: the folder cannot be made: %s", part, strerror(reason));
            ok = false;
        }
        part[i] = kept;
    }
    if (ok && size > 0 && !is_folder(path)) {
        say(err, "%s: is no folder", path);
        ok = false;
    }
    free(part);
    return ok;
}

bool could_make_folders(const char *path, FILE *err)
{
    char *part = copy_text(path), *last = copy_text(path[0] == '/' ? "/" : ".");
    file_about about;
    bool ok = true, there = true;
    for (size_t i = 1, size = strlen(part); ok && there && i <= size; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char kept = part[i];
        part[i] = '\0';
        there = look_at(part, &about);
        ok = !there || about.kind == KIND_FOLDER;
        if (!ok)
            say(err, "%s: is no folder", part);
        if (ok && there) {
            free(last);
            last = copy_text(part);
        }
        part[i] = kept;
    }
    if (ok && !may_write_in(last)) {
        say(err, "%s: cannot be written in: %s", last, strerror(errno));
        ok = false;
    }
    free(last);
    free(part);
    return ok;
}
