/* Outputs are written to temporary files in their own folder and renamed when all of them are complete, so
 * that whatever happens the old files stay whole. */
#include "cli.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024 };

struct output_file {
    char *path;      /* "-" is standard output */
    temporary *temp; /* NULL: kept in memory and written at the end, for what is no regular file */
    int fd;
    char *data; /* what is not written yet; all of it when there is no temporary file */
    size_t used, capacity;
    uint64_t written;
    bool replace; /* whether a file may be written over */
};

/* ---------------------------------------------------------------- may it be written there */

/* The file that a path leads to through links, so that a link stays and its target is replaced. */
static char *follow_links(const char *path)
{
    char *at = copy_text(path);
    for (int i = 0; i < 40; i++) {
        char target[PATH_MAX];
        ssize_t size = readlink(at, target, sizeof target - 1);
        if (size <= 0)
            break;
        target[size] = '\0';
        char *next;
        if (target[0] == '/') {
            next = copy_text(target);
        } else {
            at[base_name(at) - at] = '\0';
            next = at[0] ? join_path(at, target) : copy_text(target);
        }
        free(at);
        at = next;
    }
    return at;
}

static bool refuse(output_set *set, const char *path, const char *why)
{
    say(set->rules->err, "%s: %s", path, why);
    set->exit_code = EXIT_FILES;
    return false;
}

static bool ask(const char *path)
{
    fprintf(stderr, "keyferry: %s exists. Overwrite it? [y/N] ", path);
    char answer[16];
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

bool output_allowed(output_set *set, const char *path)
{
    const output_rules *rules = set->rules;
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0)
        return true;
    if (S_ISDIR(about.st_mode))
        return refuse(set, path, "is a folder");
    if (!S_ISREG(about.st_mode))
        return true;
    for (size_t i = 0; i < rules->input_count; i++)
        if (rules->inputs[i].regular && rules->inputs[i].device == (uint64_t)about.st_dev &&
            rules->inputs[i].inode == (uint64_t)about.st_ino)
            return refuse(set, path, "is the input itself: choose another output");
    if (rules->yes || set->may_replace)
        return true;
    if (!rules->never && rules->ask && ask(path)) {
        set->may_replace = true;
        return true;
    }
    set->existed = true;
    return refuse(set, path, rules->never ? "exists" : "exists (-y overwrites it)");
}

/* ---------------------------------------------------------------- writing */

static bool io_failed(output_set *set, const char *path)
{
    say(set->rules->err, "%s: cannot be written: %s", strcmp(path, "-") == 0 ? "standard output" : path,
        strerror(errno));
    set->exit_code = EXIT_FILES;
    return false;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, data, size < INT_MAX ? size : INT_MAX);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static bool flush_buffer(output_set *set, output_file *out)
{
    if (!write_all(out->fd, out->data, out->used))
        return io_failed(set, out->path);
    out->written += out->used;
    out->used = 0;
    return true;
}

static bool append(void *user, const void *data, size_t size)
{
    output_set *set = user;
    output_file *out = &set->items[set->count - 1];
    if (out->temp && size > out->capacity - out->used && !flush_buffer(set, out))
        return false;
    if (out->temp && size > out->capacity) {
        out->written += size;
        return write_all(out->fd, data, size) || io_failed(set, out->path);
    }
    while (size > out->capacity - out->used) {
        out->capacity *= 2;
        out->data = need(realloc(out->data, out->capacity));
    }
    memcpy(out->data + out->used, data, size);
    out->used += size;
    return true;
}

static bool patch(void *user, uint64_t at, const void *data, size_t size)
{
    output_set *set = user;
    output_file *out = &set->items[set->count - 1];
    if (at >= out->written && at - out->written <= out->used &&
        size <= out->used - (size_t)(at - out->written)) {
        memcpy(out->data + (at - out->written), data, size);
        return true;
    }
    if (!out->temp || at > out->written + out->used || size > out->written + out->used - at) {
        errno = EINVAL;
        return io_failed(set, out->path);
    }
    if (!flush_buffer(set, out))
        return false;
    const char *from = data;
    while (size > 0) {
        ssize_t done = pwrite(out->fd, from, size, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return io_failed(set, out->path);
        from += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return true;
}

bool output_begin(output_set *set, const char *path, kf_sink *sink)
{
    if (!output_allowed(set, path))
        return false;
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 4;
        set->items = need(realloc(set->items, set->capacity * sizeof *set->items));
    }
    bool standard = strcmp(path, "-") == 0;
    output_file out = {.path = standard ? copy_text(path) : follow_links(path), .fd = -1, .capacity = BUFFER};
    struct stat about;
    bool exists = !standard && stat(out.path, &about) == 0;
    out.replace = set->rules->yes || set->may_replace;
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].path, out.path) == 0) {
            free(out.path);
            return refuse(set, path, "would be written twice: give a folder as the output");
        }
    }
    if (set->rules->claims && !claim(set->rules->claims, out.path)) {
        free(out.path);
        return refuse(set, path,
                      "another input of this run has the same output: convert them one by one, or together");
    }
    if (!standard && (!exists || S_ISREG(about.st_mode))) {
        out.temp = make_temporary(out.path, &out.fd);
        if (!out.temp) {
            io_failed(set, path);
            free(out.path);
            return false;
        }
        /* A new file takes over who may read the old one; where that is not possible, it is still a good
         * file. */
        if (exists && fchmod(out.fd, about.st_mode & 07777) != 0)
            errno = 0;
    }
    out.data = need(malloc(out.capacity));
    set->items[set->count++] = out;
    *sink = (kf_sink){set, append, patch};
    return true;
}

bool output_end(output_set *set, bool ok)
{
    output_file *out = &set->items[set->count - 1];
    if (!out->temp)
        return ok;
    ok = ok && flush_buffer(set, out);
    if (ok && set->rules->sync && fsync(out->fd) != 0)
        ok = io_failed(set, out->path);
    if (close(out->fd) != 0 && ok)
        ok = io_failed(set, out->path);
    out->fd = -1;
    free(out->data);
    out->data = NULL;
    return ok;
}

/* ---------------------------------------------------------------- all together or not at all */

/* Gives a finished file its name. Where nothing may be replaced a link does it: it fails if the name has been
 * taken since it was looked at. Not every file system has links. */
static bool give_name(const output_file *out)
{
    if (!out->replace) {
        if (link(out->temp->path, out->path) == 0) {
            if (unlink(out->temp->path) == 0)
                return true;
            int reason = errno;
            unlink(out->path); /* the one with two names goes as a whole */
            errno = reason;
            return false;
        }
        if (errno == EEXIST || access(out->path, F_OK) == 0) {
            errno = EEXIST;
            return false;
        }
    }
    return rename(out->temp->path, out->path) == 0;
}

static bool write_direct(const output_file *out)
{
    bool standard = strcmp(out->path, "-") == 0;
    int fd = standard ? STDOUT_FILENO : open(out->path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, out->data, out->used);
    int reason = errno;
    if (fd >= 0 && !standard && close(fd) != 0 && ok) {
        reason = errno;
        ok = false;
    }
    errno = reason;
    return ok;
}

static void sync_folder(const char *path)
{
    char *folder = copy_text(path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd); /* not every file system can; the file itself is safe */
        close(fd);
    }
    free(folder);
}

bool output_commit(output_set *set)
{
    size_t done = 0;
    sigset_t before;
    hold_signals(&before);
    for (; done < set->count; done++) {
        output_file *out = &set->items[done];
        if (!(out->temp ? give_name(out) : write_direct(out))) {
            io_failed(set, out->path);
            break;
        }
        if (out->temp)
            forget_temporary(out->temp);
        out->temp = NULL;
    }
    bool ok = done == set->count;
    /* What was there before cannot be brought back, but what was not there goes again. */
    for (size_t i = 0; !ok && i < done; i++)
        if (!set->items[i].replace && strcmp(set->items[i].path, "-") != 0)
            unlink(set->items[i].path);
    release_signals(&before);
    for (size_t i = 0; ok && set->rules->sync && i < set->count; i++)
        if (strcmp(set->items[i].path, "-") != 0)
            sync_folder(set->items[i].path);
    output_discard(set);
    return ok;
}

void output_discard(output_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        output_file *out = &set->items[i];
        if (out->fd >= 0)
            close(out->fd);
        if (out->temp)
            remove_temporary(out->temp);
        free(out->data);
        free(out->path);
    }
    free(set->items);
    set->items = NULL;
    set->count = set->capacity = 0;
}

bool stdout_append(void *user, const void *data, size_t size)
{
    (void)user;
    return fwrite(data, 1, size, stdout) == size;
}

int finish_stdout(int exit_code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        say(stderr, "standard output: cannot be written: %s", strerror(errno));
        return EXIT_FILES;
    }
    return exit_code;
}
