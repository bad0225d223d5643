#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *need(void *memory)
{
    if (!memory) {
        fputs("keyferry: out of memory\n", stderr);
        exit(EXIT_FILES);
    }
    return memory;
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

bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static void note_stat(input *in, const struct stat *about)
{
    in->regular = S_ISREG(about->st_mode);
    in->device = (uint64_t)about->st_dev;
    in->inode = (uint64_t)about->st_ino;
    in->modified = (double)about->st_mtim.tv_sec + (double)about->st_mtim.tv_nsec * 1e-9;
}

static void name_input(const char *path, input *in)
{
    memset(in, 0, sizeof *in);
    in->path = copy_text(path);
    in->name = copy_text(strcmp(path, "-") == 0 ? "stdin" : base_name(path));
}

bool stat_input(const char *path, input *in)
{
    struct stat about;
    name_input(path, in);
    bool there = stat(path, &about) == 0;
    if (there)
        note_stat(in, &about);
    return there;
}

/* Everything up to the end; `expected` is a guess, good for files whose size is known. */
static bool read_all(int fd, size_t expected, input *in)
{
    size_t capacity = expected < SIZE_MAX - 1 ? expected + 1 : expected; /* one more, to see the end */
    in->data = need(malloc(capacity));
    for (;;) {
        if (in->size == capacity) {
            if (capacity > SIZE_MAX / 2) {
                errno = EFBIG;
                return false;
            }
            capacity *= 2;
            in->data = need(realloc(in->data, capacity));
        }
        ssize_t got = read(fd, (char *)in->data + in->size, capacity - in->size);
        if (got == 0)
            return true;
        if (got > 0)
            in->size += (size_t)got;
        else if (errno != EINTR)
            return false;
    }
}

bool read_input(const char *path, input *in, FILE *err)
{
    bool standard = strcmp(path, "-") == 0;
    name_input(path, in);
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    bool ok = fd >= 0 && fstat(fd, &about) == 0;
    if (ok) {
        note_stat(in, &about);
        if (S_ISDIR(about.st_mode)) {
            errno = EISDIR;
            ok = false;
        } else {
            bool sized = S_ISREG(about.st_mode) && about.st_size > 0 && (uint64_t)about.st_size < SIZE_MAX;
            ok = read_all(fd, sized ? (size_t)about.st_size : 65535, in);
        }
    }
    if (!ok)
        say(err, "%s: cannot be read: %s", path, strerror(errno));
    if (fd >= 0 && !standard)
        close(fd);
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
