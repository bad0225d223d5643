#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static bool names_in(const char *folder, path_list *names, FILE *err)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        say(err, "%s: cannot be read: %s", folder, strerror(errno));
        return false;
    }
    for (struct dirent *item = readdir(dir); item; item = readdir(dir))
        if (item->d_name[0] != '.')
            list_add(names, copy_text(item->d_name));
    closedir(dir);
    if (names->count > 1)
        qsort(names->paths, names->count, sizeof *names->paths, by_text);
    return true;
}

static bool walk(const char *folder, bool deep, const struct stat *skip, path_list *list, FILE *err)
{
    path_list names = {0};
    bool ok = names_in(folder, &names, err);
    for (size_t i = 0; i < names.count; i++) {
        char *path = join_path(folder, names.paths[i]);
        struct stat about, target;
        bool there = lstat(path, &about) == 0;
        /* A link to a file counts as the file; a link to a folder is left alone: it may lead round in a
         * circle. */
        bool file = there && (S_ISREG(about.st_mode) || (S_ISLNK(about.st_mode) && stat(path, &target) == 0 &&
                                                         S_ISREG(target.st_mode)));
        bool inside = there && deep && S_ISDIR(about.st_mode) &&
                      !(skip && about.st_dev == skip->st_dev && about.st_ino == skip->st_ino);
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
    struct stat about;
    bool known = skip && stat(skip, &about) == 0;
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
        if (mkdir(part, 0777) != 0 && errno != EEXIST && !is_folder(part)) {
            say(err, "%s: the folder cannot be made: %s", part, strerror(errno));
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
