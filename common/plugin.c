/* Loading plugins: shared libraries in given folders, each with the one function KF_PLUGIN_ENTRY. Only
 * absolute folders count, so that nothing is ever loaded from where the program happens to stand. */
#include "format.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dirent.h>
#include <dlfcn.h>
#endif

typedef struct name_list {
    const char **names;
    size_t count;
} name_list;

static bool add_name(kf_job *job, name_list *list, const char *name)
{
    const char *copy = kfi_strdup(job, name);
    const char **slot = copy ? kfi_push(job, &list->names, &list->count, sizeof *slot) : NULL;
    if (slot)
        *slot = copy;
    return slot != NULL;
}

/* ---------------------------------------------------------------- the operating system's part */

#ifdef _WIN32
enum { PATH_UNITS = 32768 };
static const char SEPARATOR = ';', SUFFIX[] = ".dll";

static bool absolute(const char *path)
{
    bool drive = ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) &&
                 path[1] == ':' && (path[2] == '\\' || path[2] == '/');
    return drive || (path[0] == '\\' && path[1] == '\\');
}

static wchar_t *wide(kf_job *job, const char *text)
{
    wchar_t *result = kfi_alloc(job, PATH_UNITS, sizeof *result);
    if (result && !MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, result, PATH_UNITS))
        result[0] = 0;
    return result;
}

/* False: no memory. `found` tells whether the folder could be read. */
static bool list_folder(kf_job *job, const char *folder, name_list *list, bool *found)
{
    char *pattern_text = kfi_format_text(job, "%s\\*.dll", folder);
    wchar_t *pattern = pattern_text ? wide(job, pattern_text) : NULL;
    if (!pattern)
        return false;
    WIN32_FIND_DATAW item;
    HANDLE search = FindFirstFileW(pattern, &item);
    *found = search != INVALID_HANDLE_VALUE || GetLastError() == ERROR_FILE_NOT_FOUND;
    bool ok = true;
    if (search != INVALID_HANDLE_VALUE) {
        do {
            char name[MAX_PATH * 3 + 1];
            if (WideCharToMultiByte(CP_UTF8, 0, item.cFileName, -1, name, sizeof name, NULL, NULL))
                ok = add_name(job, list, name);
        } while (ok && FindNextFileW(search, &item));
        FindClose(search);
    }
    return ok;
}

static void *open_module(kf_job *job, const char *path, const char **why)
{
    wchar_t *name = wide(job, path);
    void *module = name && name[0] ? (void *)LoadLibraryExW(name, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
    if (!module)
        *why = kfi_format_text(job, "Windows error %lu", (unsigned long)GetLastError());
    return module;
}

static kf_plugin_entry *find_entry(void *module)
{
    FARPROC found = GetProcAddress((HMODULE)module, KF_PLUGIN_ENTRY);
    kf_plugin_entry *entry;
    memcpy(&entry, &found, sizeof entry);
    return entry;
}

static void close_module(void *module)
{
    FreeLibrary((HMODULE)module);
}
#else
static const char SEPARATOR = ':';
#ifdef __APPLE__
static const char SUFFIX[] = ".dylib";
#else
static const char SUFFIX[] = ".so";
#endif

static bool absolute(const char *path)
{
    return path[0] == '/';
}

static bool list_folder(kf_job *job, const char *folder, name_list *list, bool *found)
{
    DIR *dir = opendir(folder);
    *found = dir != NULL;
    bool ok = true;
    if (dir) {
        for (struct dirent *item = readdir(dir); ok && item; item = readdir(dir))
            ok = add_name(job, list, item->d_name);
        closedir(dir);
    }
    return ok;
}

static void *open_module(kf_job *job, const char *path, const char **why)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        /* The loader begins its sentence with the path, which the message has already. */
        const char *text = dlerror();
        text = text ? text : "unknown error";
        size_t size = strlen(path);
        if (strncmp(text, path, size) == 0 && strncmp(text + size, ": ", 2) == 0)
            text += size + 2;
        *why = kfi_strdup(job, text);
    }
    return module;
}

static kf_plugin_entry *find_entry(void *module)
{
    void *found = dlsym(module, KF_PLUGIN_ENTRY);
    kf_plugin_entry *entry;
    memcpy(&entry, &found, sizeof entry);
    return entry;
}

static void close_module(void *module)
{
    dlclose(module);
}
#endif

/* ---------------------------------------------------------------- the same everywhere */

static bool left_out(kf_library *library, const char *path, const char *why)
{
    return kfi_say(&library->job, KF_WARNING, "plugin", path, KF_NO_OFFSET, "left out: %s", why);
}

static bool load(kf_library *library, const char *path)
{
    kf_job *job = &library->job;
    const char *why = NULL;
    void *module = open_module(job, path, &why);
    if (!module)
        return why && left_out(library, path, why);

    bool ok, added = false;
    kf_plugin_entry *entry = find_entry(module);
    const kf_format *format = entry ? entry(KF_ABI) : NULL;
    if (!entry)
        ok = left_out(library, path, "it has no function " KF_PLUGIN_ENTRY);
    else if (!format)
        ok = left_out(library, path, "it offers nothing for this version of the plugin interface");
    else
        ok = kfi_register(library, format, path, &added);
    kfi_loaded *loaded =
        added ? kfi_push(job, &library->loaded, &library->loaded_count, sizeof *loaded) : NULL;
    if (loaded)
        *loaded = (kfi_loaded){module, path, format};
    else
        close_module(module);
    return ok && (loaded || !added);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool load_folder(kf_library *library, const char *folder, bool must_exist)
{
    kf_job *job = &library->job;
    if (!absolute(folder))
        return left_out(library, folder, "a plugin folder must be an absolute path");
    name_list list = {0};
    bool found;
    if (!list_folder(job, folder, &list, &found))
        return false;
    if (!found)
        return !must_exist || left_out(library, folder, "the folder cannot be read");
    if (list.count > 1)
        qsort(list.names, list.count, sizeof *list.names, by_name);
    for (size_t i = 0; i < list.count; i++) {
        size_t size = strlen(list.names[i]);
        if (size < sizeof SUFFIX || strcmp(list.names[i] + size - (sizeof SUFFIX - 1), SUFFIX) != 0)
            continue;
        const char *path = kfi_format_text(job, "%s/%s", folder, list.names[i]);
        if (!path || !load(library, path))
            return false;
    }
    return true;
}

bool kfi_load_plugins(kf_library *library, const char *folders, bool must_exist)
{
    while (*folders) {
        const char *end = strchr(folders, SEPARATOR);
        size_t size = end ? (size_t)(end - folders) : strlen(folders);
        char *folder = kfi_strndup(&library->job, folders, size);
        if (!folder || (size > 0 && !load_folder(library, folder, must_exist)))
            return false;
        folders += size + (end ? 1 : 0);
    }
    return true;
}

void kfi_close_plugins(kf_library *library)
{
    while (library->loaded_count > 0)
        close_module(library->loaded[--library->loaded_count].module);
}
