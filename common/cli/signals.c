#include "signals.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static temporary *temporaries; /* changed with the guard held and signals off */
static atomic_int deferred;    /* atomic: written by the handler, read by the threads */
static atomic_int caught;

/* Without threads the handler cleans up by itself, so that a signal is obeyed at once whatever the library is
 * doing; with them it only leaves word, and the threads end where they can. */
static void on_signal(int number)
{
    if (deferred) {
        if (caught) { /* asked twice */
            signal(number, SIG_DFL);
            raise(number);
        }
        caught = number;
        return;
    }
    for (temporary *temp = temporaries; temp; temp = temp->next)
        unlink(temp->path);
    signal(number, SIG_DFL);
    raise(number);
}

void catch_signals(void)
{
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&action.sa_mask, SIGNALS[i]);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction before;
        /* What was ignored from outside (nohup) stays ignored. */
        if (sigaction(SIGNALS[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(SIGNALS[i], &action, NULL);
    }
    /* A closed pipe and a file too large are failed writes, with a reason. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
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
        signal(number, SIG_DFL);
        raise(number);
    }
}

void hold_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&set, SIGNALS[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void release_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
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
    sigset_t before;
    hold_signals(&before);
    pthread_mutex_lock(&guard);
    do {
        snprintf(temp->path + folder, 64, ".keyferry-%ld-%u.tmp", (long)getpid(), number++);
        *fd = open(temp->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (*fd < 0 && errno == EEXIST && number < 1000000);
    int reason = errno;
    if (*fd >= 0) {
        temp->next = temporaries;
        if (temporaries)
            temporaries->previous = temp;
        temporaries = temp;
    }
    pthread_mutex_unlock(&guard);
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
    sigset_t before;
    hold_signals(&before);
    pthread_mutex_lock(&guard);
    if (temp->previous)
        temp->previous->next = temp->next;
    else
        temporaries = temp->next;
    if (temp->next)
        temp->next->previous = temp->previous;
    pthread_mutex_unlock(&guard);
    release_signals(&before);
    free(temp->path);
    free(temp);
}

void remove_temporary(temporary *temp)
{
    unlink(temp->path);
    forget_temporary(temp);
}
