/* Preloaded before the C library: lets the n-th call that makes, writes, names or removes a file fail, or
 * ends the program there as a power cut would. KEYFERRY_FAULT is "fail N" or "kill N"; files that are only
 * read do not count. With "tell FILE" all goes well, and the calls' names are put there. "interrupt" lets a signal come
 * into every second call that reads or writes, and the others do half of what they are asked for; with "close N" the n-th
 * file cannot be closed; with "threads" there are none; with "memory N" the n-th allocation after a file was made fails. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* else open is open64, and there would be two of it */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

static int asked(const char *for_what)
{
    const char *text = getenv("KEYFERRY_FAULT");
    return text && strncmp(text, for_what, strlen(for_what)) == 0;
}

/* Whether a signal comes into this call; if none does, how much of `size` it is to do. */
static int interrupted(size_t *size)
{
    static int count;
    if (!asked("interrupt"))
        return 0;
    if (++count % 2) {
        errno = EINTR;
        return 1;
    }
    *size = (*size + 1) / 2;
    return 0;
}

/* ---------------------------------------------------------------- memory: by the names that the GNU C library has for it */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static int file_made;

static int refused(void)
{
    static int count;
    if (!file_made || !asked("memory") || ++count != atoi(getenv("KEYFERRY_FAULT") + 7))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return refused() ? NULL : __libc_realloc(block, size);
}

/* ---------------------------------------------------------------- files */

/* ISO C has no way to make a function of what dlsym gives; this is the usual one. */
#define ORIGINAL(name, type)                                                                                 \
    static type *original;                                                                                   \
    if (!original) {                                                                                         \
        void *found = dlsym(RTLD_NEXT, name);                                                                \
        memcpy(&original, &found, sizeof found);                                                             \
    }

typedef int open_function(const char *path, int flags, ...);
typedef ssize_t write_function(int fd, const void *data, size_t size);
typedef ssize_t read_function(int fd, void *data, size_t size);
typedef int thread_function(pthread_t *id, const pthread_attr_t *how, void *(*run)(void *), void *user);
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
        file_made |= flags & O_CREAT;                                                                        \
        return flags & O_CREAT && fault("open") ? -1 : original(path, flags, mode);                          \
    }
open_function open, open64;
OPEN(open)
OPEN(open64)

ssize_t read(int fd, void *data, size_t size)
{
    ORIGINAL("read", read_function)
    return interrupted(&size) ? -1 : original(fd, data, size);
}

int close(int fd)
{
    static int count;
    ORIGINAL("close", fd_function)
    int failed = original(fd);
    if (fd > 2 && asked("close") && ++count == atoi(getenv("KEYFERRY_FAULT") + 5)) {
        errno = EIO;
        failed = -1;
    }
    return failed;
}

int pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*run)(void *), void *user)
{
    ORIGINAL("pthread_create", thread_function)
    return asked("threads") ? EAGAIN : original(id, how, run, user);
}

ssize_t write(int fd, const void *data, size_t size)
{
    ORIGINAL("write", write_function)
    if (fd > 2 && interrupted(&size))
        return -1;
    return fd > 2 && fault("write") ? -1 : original(fd, data, size);
}

#define PWRITE(name, offset)                                                                                 \
    typedef ssize_t name##_function(int fd, const void *data, size_t size, offset at);                       \
    name##_function name;                                                                                    \
    ssize_t name(int fd, const void *data, size_t size, offset at)                                           \
    {                                                                                                        \
        ORIGINAL(#name, name##_function)                                                                     \
        if (interrupted(&size))                                                                              \
            return -1;                                                                                       \
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
