#include "cli.h"
#include "signals.h"
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *need(void *memory)
{
    if (!memory) {
        remove_temporaries();
        fputs("keyferry: out of memory\n", stderr);
        exit(EXIT_FILES);
    }
    return memory;
}

void need_memory(bool ok, const kf_error *error)
{
    if (!ok && error->code == KF_NO_MEMORY)
        need(NULL);
}

char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(need(malloc(size)), text, size);
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *join_path(const char *folder, const char *name)
{
    size_t size = strlen(folder);
    bool slash = size > 0 && folder[size - 1] != '/';
    char *path = need(malloc(size + strlen(name) + 2));
    memcpy(path, folder, size);
    if (slash)
        path[size++] = '/';
    memcpy(path + size, name, strlen(name) + 1);
    return path;
}

bool ends_with(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a >= b && strcmp(name + a - b, end) == 0;
}

char *sidecar_of(const char *fbx)
{
    size_t size = strlen(fbx);
    char *path = need(malloc(size + sizeof ".kf"));
    memcpy(path, fbx, size);
    memcpy(path + size, ".kf", sizeof ".kf");
    return path;
}

bool is_folder(const char *path)
{
    file_about about;
    return look_at(path, &about) && about.kind == KIND_FOLDER;
}

static void note_about(input *in, const file_about *about)
{
    in->regular = about->kind == KIND_FILE;
    in->device = about->device;
    in->inode = about->inode;
    in->modified = about->modified;
}

static void name_input(const char *path, input *in)
{
    memset(in, 0, sizeof *in);
    in->path = copy_text(path);
    in->name = copy_text(strcmp(path, "-") == 0 ? "stdin" : base_name(path));
}

bool stat_input(const char *path, input *in)
{
    file_about about;
    name_input(path, in);
    bool there = look_at(path, &about);
    if (there)
        note_about(in, &about);
    return there;
}

/* A device or a pipe may have no end. */
static const size_t MOST_OF_A_STREAM = (size_t)1 << 30;

/* Everything up to the end; `expected` is a guess, good for files whose size is known. */
static bool read_all(int file, size_t expected, size_t most, input *in)
{
    size_t capacity = expected < SIZE_MAX - 1 ? expected + 1 : expected; /* one more, to see the end */
    in->data = file_memory(capacity);
    for (;;) {
        if (in->size == capacity) {
            if (capacity > most / 2) {
                errno = EFBIG;
                return false;
            }
            capacity *= 2;
            in->data = need(realloc(in->data, capacity));
        }
        ptrdiff_t got = read_some(file, (char *)in->data + in->size, capacity - in->size);
        if (got <= 0)
            return got == 0;
        in->size += (size_t)got;
    }
}

bool read_input(const char *path, input *in, FILE *err)
{
    bool standard = strcmp(path, "-") == 0;
    name_input(path, in);
    int file = standard ? STANDARD_INPUT : open_to_read(path);
    file_about about;
    bool ok = file >= 0 && look_at_open(file, &about);
    if (ok) {
        note_about(in, &about);
        if (about.kind == KIND_FOLDER) {
            errno = EISDIR;
            ok = false;
        } else {
            bool sized = about.kind == KIND_FILE && about.size > 0 && about.size < SIZE_MAX;
            ok = read_all(file, sized ? (size_t)about.size : 65535, sized ? SIZE_MAX : MOST_OF_A_STREAM, in);
        }
    }
    if (!ok)
        say(err, "%s: cannot be read: %s", path, strerror(errno));
    if (file >= 0 && !standard)
        close_file(file);
    if (!ok)
        free_input(in);
    return ok;
}

void free_input(input *in)
{
    free(in->path);
    free(in->name);
    free(in->data);
    memset(in, 0, sizeof *in);
}

void free_inputs(input *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free_input(&in[i]);
    free(in);
}

kf_file *files_of(const input *in, size_t count)
{
    kf_file *files = need(calloc(count + 1, sizeof *files));
    for (size_t i = 0; i < count; i++)
        files[i] = (kf_file){in[i].name, in[i].data, in[i].size};
    return files;
}
