#include "signals.h"

#include "cli.h"
#include "system.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The temporary files that there are, on several shelves, so that threads which make files at the same time seldom wait for
 * each other: the guard is held while the system makes one, or the handler could miss it. */
typedef struct shelf {
    lock guard;
    temporary *first; /* changed with the guard held and signals off */
} shelf;

#define EMPTY {LOCK_MADE, NULL}
static shelf shelves[] = {EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY};
enum { SHELVES = sizeof shelves / sizeof *shelves };

static atomic_int deferred; /* atomic: written by the handler, read by the threads */
static atomic_int caught;

static void remove_all(bool guarded)
{
    for (unsigned i = 0; i < SHELVES; i++) {
        if (guarded)
            lock_take(&shelves[i].guard);
        for (temporary *temp = shelves[i].first; temp; temp = temp->next)
            remove_file(temp->path);
    }
}

/* Without threads the handler cleans up by itself, so that a signal is obeyed at once whatever the library is
 * doing; with them it only leaves word, and the threads end where they can. Who asks twice does not want to wait for
 * them: then it cleans up all the same, and keeps the guards, so that no thread makes another file. It runs in the main
 * thread, or in one of its own, and neither is stopped by it while holding a guard. */
static void on_signal(int number)
{ /* GCOVR_EXCL_START: what a program counts is lost when a signal ends it; cli.kill and cli.files see what it did */
    if (deferred && !caught) {
        caught = number;
        return;
    }
    remove_all(deferred);
    end_by_signal(number);
} /* GCOVR_EXCL_STOP */

void catch_signals(void)
{
    on_end_asked(on_signal);
}

void defer_signals(bool on)
{
    deferred = on;
}

bool stop_asked(void)
{
    return caught != 0;
}

void die_of_signal(void)
{
    int number = caught;
    if (number) { /* GCOVR_EXCL_START: as above */
        fflush(NULL);
        end_by_signal(number);
    } /* GCOVR_EXCL_STOP */
}

/* ---------------------------------------------------------------- temporary files */

temporary *make_temporary(const char *beside, int *fd)
{
    enum { TRIES = 1000000 };
    static atomic_uint numbers;
    const char *slash = strrchr(beside, '/');
    size_t folder = slash ? (size_t)(slash + 1 - beside) : 0;
    temporary *temp = need(calloc(1, sizeof *temp));
    temp->path = need(malloc(folder + 64));
    memcpy(temp->path, beside, folder);
    held_signals before;
    hold_signals(&before);
    unsigned number = atomic_fetch_add(&numbers, 1);
    shelf *at = &shelves[number % SHELVES];
    lock_take(&at->guard);
    for (int tries = 0;; tries++, number = atomic_fetch_add(&numbers, 1)) {
        snprintf(temp->path + folder, 64, ".keyferry-%ld-%u.tmp", process_number(), number);
        *fd = create_to_write(temp->path);
        if (*fd >= 0 || errno != EEXIST || tries == TRIES)
            break;
    }
    int reason = errno;
    if (*fd >= 0) {
        temp->shelf = at;
        temp->next = at->first;
        if (at->first)
            at->first->previous = temp;
        at->first = temp;
    }
    lock_give(&at->guard);
    release_signals(&before);
    if (*fd < 0) {
        free(temp->path);
        free(temp);
        errno = reason;
        return NULL;
    }
    return temp;
}

void forget_temporary(temporary *temp)
{
    held_signals before;
    hold_signals(&before);
    lock_take(&temp->shelf->guard);
    if (temp->previous)
        temp->previous->next = temp->next;
    else
        temp->shelf->first = temp->next;
    if (temp->next)
        temp->next->previous = temp->previous;
    lock_give(&temp->shelf->guard);
    release_signals(&before);
    free(temp->path);
    free(temp);
}

void remove_temporaries(void)
{
    held_signals before;
    hold_signals(&before);
    remove_all(true);
}

void remove_temporary(temporary *temp)
{
    remove_file(temp->path);
    forget_temporary(temp);
}

/* Is it a name that make_temporary gives? */
static bool is_temporary(const char *name)
{
    static const char digits[] = "0123456789";
    if (strncmp(name, ".keyferry-", 10) != 0)
        return false;
    size_t process = strspn(name + 10, digits), number = 0;
    name += 10 + process;
    if (*name == '-')
        number = strspn(name + 1, digits);
    return process > 0 && number > 0 && strcmp(name + 1 + number, ".tmp") == 0;
}

static void remove_leftover(void *user, const char *name)
{
    enum { HOUR = 3600 };
    if (!is_temporary(name))
        return;
    char *path = join_path(user, name);
    file_about about;
    if (look_at_link(path, &about) && about.kind == KIND_FILE && about.modified + HOUR < (double)time(NULL))
        remove_file(path);
    free(path);
}

void remove_leftovers(char *folder)
{
    each_name(folder, remove_leftover, folder); /* where there is none, nothing was left */
}
