/* Many files: in threads, each piece of work with its own job, but told of in order, so that the output is
 * the same for any number of threads. */
#include "cli.h"
#include "signals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

typedef struct result {
    char *out, *err; /* what it printed */
    size_t out_size, err_size;
    int exit_code;
    bool ready;
} result;

typedef struct batch {
    cli *c;
    size_t count;
    char *const *names;
    batch_work *work;
    void *user;
    pthread_mutex_t guard;
    pthread_cond_t news;
    size_t next, finished;
    result *results;
    struct timespec began;
    bool bar;
    double drawn; /* when the bar was drawn, in seconds from the beginning; 0: it is not there */
} batch;

static double seconds_since(const struct timespec *began)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) * 1e-9;
}

/* ---------------------------------------------------------------- the bar on a terminal */

static void clear_bar(batch *b)
{
    if (b->drawn > 0)
        fputs("\r\033[K", stderr);
    b->drawn = 0;
}

/* Columns of the terminal; a bar that breaks into two lines could not be wiped out. */
static size_t columns(void)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
#endif
    return 80;
}

/* "12 of 60000, 3100 a second, 19 s left: walk.ani", at most ten times a second. */
static void draw_bar(batch *b, size_t done, size_t current)
{
    double passed = b->bar ? seconds_since(&b->began) : 0;
    if (!b->bar || done >= b->count || (b->drawn > 0 && passed < b->drawn + 0.1))
        return;
    char text[256];
    double rate = passed > 0 ? (double)done / passed : 0;
    int size = snprintf(text, sizeof text, "%zu of %zu, %.0f a second", done, b->count, rate);
    if (rate > 0)
        size += snprintf(text + size, sizeof text - (size_t)size, ", %.0f s left", (double)(b->count - done) / rate);
    snprintf(text + size, sizeof text - (size_t)size, ": %.100s", base_name(b->names[current]));
    size_t end = strlen(text), most = columns() - 1;
    if (end > most)
        end = most;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--; /* a character is not cut in two */
    fputs("\r\033[K", stderr);
    for (size_t i = 0; i < end; i++)
        fputc((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i], stderr);
    fflush(stderr);
    b->drawn = passed;
}

/* ---------------------------------------------------------------- the work */

static void do_one(batch *b, size_t index)
{
    result *r = &b->results[index];
    FILE *out = need(open_memstream(&r->out, &r->out_size));
    FILE *err = need(open_memstream(&r->err, &r->err_size));
    r->exit_code = b->work(b->c, b->user, index, out, err);
    fclose(out);
    fclose(err);
}

static void *worker(void *user)
{
    batch *b = user;
    sigset_t before;
    hold_signals(&before);
    pthread_mutex_lock(&b->guard);
    while (b->next < b->count && !stop_asked()) {
        size_t index = b->next++;
        pthread_mutex_unlock(&b->guard);
        do_one(b, index);
        pthread_mutex_lock(&b->guard);
        b->results[index].ready = true;
        b->finished++;
        pthread_cond_signal(&b->news);
    }
    pthread_mutex_unlock(&b->guard);
    return NULL;
}

static void tell(batch *b, result *r, batch_result *total)
{
    if (r->err_size || r->out_size)
        clear_bar(b);
    fwrite(r->out, 1, r->out_size, stdout);
    fflush(stdout);
    fwrite(r->err, 1, r->err_size, stderr);
    free(r->out);
    free(r->err);
    if (r->exit_code == SKIPPED)
        total->skipped++;
    else if (r->exit_code == EXIT_DONE)
        total->done++;
    else
        total->failed++;
    if (r->exit_code != SKIPPED)
        total->exit_code = worse(total->exit_code, r->exit_code);
}

/* Prints results as their turn comes until all are there, or until it was asked to stop and nobody works any
 * more. */
static void wait_and_tell(batch *b, batch_result *total)
{
    pthread_mutex_lock(&b->guard);
    for (size_t told = 0; told < b->count;) {
        if (b->results[told].ready) {
            pthread_mutex_unlock(&b->guard);
            tell(b, &b->results[told], total);
            pthread_mutex_lock(&b->guard);
            told++;
            draw_bar(b, b->finished, b->next ? b->next - 1 : 0);
            continue;
        }
        if (stop_asked() && b->finished == b->next && told >= b->next)
            break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&b->news, &b->guard, &until);
        draw_bar(b, b->finished, b->next ? b->next - 1 : 0);
    }
    pthread_mutex_unlock(&b->guard);
    clear_bar(b);
}

static unsigned processors(void)
{
    long found = sysconf(_SC_NPROCESSORS_ONLN);
    return found < 1 ? 1 : found > 256 ? 256 : (unsigned)found;
}

batch_result run_batch(cli *c, size_t count, char *const *names, batch_work *work, void *user)
{
    batch b = {.c = c, .count = count, .names = names, .work = work, .user = user};
    batch_result total = {0};
    b.bar = count > 1 && isatty(STDERR_FILENO) && !c->json;
    b.results = need(calloc(count + 1, sizeof *b.results));
    clock_gettime(CLOCK_MONOTONIC, &b.began);
    pthread_mutex_init(&b.guard, NULL);
    pthread_cond_init(&b.news, NULL);
    size_t threads = c->jobs ? c->jobs : processors();
    if (threads > count)
        threads = count;
    pthread_t *ids = need(calloc(threads + 1, sizeof *ids));
    defer_signals(true);
    size_t started = 0;
    while (started < threads && pthread_create(&ids[started], NULL, worker, &b) == 0)
        started++;
    if (started == 0 && count > 0)
        worker(&b); /* no threads to be had: here, then */
    wait_and_tell(&b, &total);
    for (size_t i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    free(ids);
    free(b.results);
    pthread_cond_destroy(&b.news);
    pthread_mutex_destroy(&b.guard);
    return total;
}
