#include "signals.h"

#include "cli.h"
#include "system.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static lock guard = LOCK_MADE;
static temporary *temporaries; /* changed with the guard held and signals off */
static atomic_int deferred;    /* atomic: written by the handler, read by the threads */
static atomic_int caught;

/* Without threads the handler cleans up by itself, so that a signal is obeyed at once whatever the library is
 * doing; with them it only leaves word, and the threads end where they can. */
static void on_signal(int number)
{
    if (deferred) {
        if (caught) /* asked twice */
            end_by_signal(number);
        caught = number;
        return;
    }
    for (temporary *temp = temporaries; temp; temp = temp->next)
        remove_file(temp->path);
    end_by_signal(number);
}

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
    if (number) {
        fflush(NULL);
        end_by_signal(number);
    }
}

/* ---------------------------------------------------------------- temporary files */

temporary *make_temporary(const char *beside, int *fd)
{
    static unsigned number;
    const char *slash = strrchr(beside, '/');
    size_t folder = slash ? (size_t)(slash + 1 - beside) : 0;
    temporary *temp = need(calloc(1, sizeof *temp));
    temp->path = need(malloc(folder + 64));
    memcpy(temp->path, beside, folder);
    held_signals before;
    hold_signals(&before);
    lock_take(&guard);
    do {
        snprintf(temp->path + folder, 64, ".keyferry-%ld-%u.tmp", process_number(), number++);
        *fd = create_to_write(temp->path);
    } while (*fd < 0 && errno == EEXIST && number < 1000000);
    int reason = errno;
    if (*fd >= 0) {
        temp->next = temporaries;
        if (temporaries)
            temporaries->previous = temp;
        temporaries = temp;
    }
    lock_give(&guard);
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
    lock_take(&guard);
    if (temp->previous)
        temp->previous->next = temp->next;
    else
        temporaries = temp->next;
    if (temp->next)
        temp->next->previous = temp->previous;
    lock_give(&guard);
    release_signals(&before);
    free(temp->path);
    free(temp);
}

void remove_temporary(temporary *temp)
{
    remove_file(temp->path);
    forget_temporary(temp);
}
