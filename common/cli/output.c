/* Outputs are written to temporary files in their own folder and renamed when all of them are complete, so
 * that whatever happens the old files stay whole. */
#include "cli.h"
#include "signals.h"
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static bool refuse(output_set *set, const char *path, const char *why)
{
    say(set->rules->err, "%s: %s", path, why);
    set->exit_code = EXIT_FILES;
    return false;
}

static bool ask(const char *path)
{
    fputs("keyferry: ", stderr);
    put_safe(stderr, path);
    fputs(" exists. Overwrite it? [y/N] ", stderr);
    char answer[16];
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

bool output_allowed(output_set *set, const char *path)
{
    const output_rules *rules = set->rules;
    file_about about;
    if (strcmp(path, "-") == 0)
        return true;
    /* Of a batch that is what was there before it, whatever others of it have written since. */
    if (!(rules->claims ? claim(rules->claims, path, rules->number, &about) : look_at(path, &about)))
        return true;
    if (about.kind == KIND_FOLDER)
        return refuse(set, path, "is a folder");
    if (about.kind != KIND_FILE)
        return true;
    for (size_t i = 0; i < rules->input_count; i++)
        if (rules->inputs[i].regular && rules->inputs[i].device == about.device &&
            rules->inputs[i].inode == about.inode)
            return refuse(set, path, "is the input itself: choose another output");
    if (rules->claims && claims_reserved(rules->claims, path))
        return refuse(set, path, "is another input of this run: choose another folder");
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
    return write_all_at(out->fd, data, size, at) || io_failed(set, out->path);
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
    file_about about;
    bool exists = !standard && look_at(out.path, &about);
    out.replace = set->rules->yes || set->may_replace;
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].path, out.path) == 0) {
            free(out.path);
            return refuse(set, path, "would be written twice: give a folder as the output");
        }
    }
    if (!standard && !set->rules->dry && (!exists || about.kind == KIND_FILE)) {
        out.temp = make_temporary(out.path, &out.fd);
        if (!out.temp) {
            io_failed(set, path);
            free(out.path);
            return false;
        }
        /* A new file takes over who may read the old one; where that is not possible, it is still a good
         * file. */
        if (exists)
            keep_mode(out.fd, &about);
    }
    out.data = set->rules->dry ? NULL : need(malloc(out.capacity));
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
    if (ok && set->rules->sync && !sync_file(out->fd))
        ok = io_failed(set, out->path);
    if (!close_file(out->fd) && ok)
        ok = io_failed(set, out->path);
    out->fd = -1;
    free(out->data);
    out->data = NULL;
    return ok;
}

/* ---------------------------------------------------------------- all together or not at all */

static bool write_direct(const output_file *out)
{
    bool standard = strcmp(out->path, "-") == 0;
    int fd = standard ? STANDARD_OUTPUT : open_to_write(out->path);
    bool ok = fd >= 0 && write_all(fd, out->data, out->used);
    int reason = errno;
    if (fd >= 0 && !standard && !close_file(fd) && ok) {
        reason = errno;
        ok = false;
    }
    errno = reason;
    return ok;
}

/* Where somebody may wait for the other end of a pipe for ever, signals count. */
static bool write_unheld(const output_file *out, held_signals *before)
{
    release_signals(before);
    bool ok = write_direct(out);
    int reason = errno;
    hold_signals(before);
    errno = reason;
    return ok;
}

bool output_commit(output_set *set)
{
    size_t done = 0;
    held_signals before;
    hold_signals(&before);
    for (; done < set->count; done++) {
        output_file *out = &set->items[done];
        if (!(out->temp ? rename_file(out->temp->path, out->path, out->replace) : write_unheld(out, &before))) {
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
            remove_file(set->items[i].path);
    release_signals(&before);
    for (size_t i = 0; ok && set->rules->sync && i < set->count; i++)
        if (strcmp(set->items[i].path, "-") != 0)
            sync_folder_of(set->items[i].path);
    output_discard(set);
    return ok;
}

void output_discard(output_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        output_file *out = &set->items[i];
        if (out->fd >= 0)
            close_file(out->fd);
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
