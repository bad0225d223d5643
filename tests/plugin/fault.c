/* Preloaded before the C library: lets the n-th call that makes, writes, names or removes a file fail, or
 * ends the program there as a power cut would. KEYFERRY_FAULT is "fail N" or "kill N"; files that are only
 * read do not count. With "tell FILE" all goes well, and the calls' names are put there. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* else open is open64, and there would be two of it */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The C library's own streams do not call what is here. */
static void tell(const char *path, const char *call)
{
    FILE *to = fopen(path, "a");
    if (to) {
        fprintf(to, "%s\n", call);
        fclose(to);
    }
}

/* Whether this call is to fail. */
static int fault(const char *call)
{
    static int count;
    const char *text = getenv("KEYFERRY_FAULT");
    if (text && strncmp(text, "tell ", 5) == 0) {
        tell(text + 5, call);
        return 0;
    }
    if (!text || strlen(text) < 6 || ++count != atoi(text + 5))
        return 0;
    if (strncmp(text, "kill", 4) == 0)
        kill(getpid(), SIGKILL);
    errno = EIO;
    return 1;
}

/* ISO C has no way to make a function of what dlsym gives; this is the usual one. */
#define ORIGINAL(name, type)                                                                                 \
    static type *original;                                                                                   \
    if (!original) {                                                                                         \
        void *found = dlsym(RTLD_NEXT, name);                                                                \
        memcpy(&original, &found, sizeof found);                                                             \
    }

typedef int open_function(const char *path, int flags, ...);
typedef ssize_t write_function(int fd, const void *data, size_t size);
typedef int fd_function(int fd);
typedef void void_function(void);
typedef int path_function(const char *path);
typedef int two_paths_function(const char *from, const char *to);

#define OPEN(name)                                                                                           \
    int name(const char *path, int flags, ...)                                                               \
    {                                                                                                        \
        ORIGINAL(#name, open_function)                                                                       \
        va_list args;                                                                                        \
        va_start(args, flags);                                                                               \
        mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;                                            \
        va_end(args);                                                                                        \
        return flags & O_CREAT && fault("open") ? -1 : original(path, flags, mode);                          \
    }
open_function open, open64;
OPEN(open)
OPEN(open64)

ssize_t write(int fd, const void *data, size_t size)
{
    ORIGINAL("write", write_function)
    return fd > 2 && fault("write") ? -1 : original(fd, data, size);
}

#define PWRITE(name, offset)                                                                                 \
    typedef ssize_t name##_function(int fd, const void *data, size_t size, offset at);                       \
    name##_function name;                                                                                    \
    ssize_t name(int fd, const void *data, size_t size, offset at)                                           \
    {                                                                                                        \
        ORIGINAL(#name, name##_function)                                                                     \
        return fault("pwrite") ? -1 : original(fd, data, size, at);                                          \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

int fsync(int fd)
{
    ORIGINAL("fsync", fd_function)
    return fault("fsync") ? -1 : original(fd);
}

int unlink(const char *path)
{
    ORIGINAL("unlink", path_function)
    return fault("unlink") ? -1 : original(path);
}

int rename(const char *from, const char *to)
{
    ORIGINAL("rename", two_paths_function)
    return fault("rename") ? -1 : original(from, to);
}

int link(const char *from, const char *to)
{
    ORIGINAL("link", two_paths_function)
    return fault("link") ? -1 : original(from, to);
}

void sync(void)
{
    ORIGINAL("sync", void_function)
    fault("sync"); /* it cannot fail */
    original();
}
