/* Many files: in threads, each piece of work with its own job, but told of in order, so that the output is
 * the same for any number of threads. */
#include "cli.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

typedef struct result {
    memory_stream out, err; /* what it printed */
    int exit_code;
    bool ready;
} result;

typedef struct batch {
    cli *c;
    size_t count;
    char *const *names;
    batch_work *work;
    batch_withdrawn *withdrawn;
    void *user;
    lock guard;
    condition news;
    size_t threads, working; /* how many there are, and at work now */
    size_t next;             /* the first that nobody has taken */
    size_t finished, current;
    result *results;
    double began;
    bool bar;
    double drawn; /* when the bar was drawn, in seconds from the beginning; 0: it is not there */
} batch;

/* ---------------------------------------------------------------- the bar on a terminal */

static void clear_bar(batch *b)
{
    if (b->drawn > 0)
        fputs("\r\033[K", stderr);
    b->drawn = 0;
}

/* "12 of 60000, 3100 a second, 19 s left: walk.ani", at most ten times a second. */
static void draw_bar(batch *b, size_t done, size_t current)
{
    double passed = b->bar ? seconds_now() - b->began : 0;
    if (!b->bar || done >= b->count || (b->drawn > 0 && passed < b->drawn + 0.1))
        return;
    double rate = passed > 0 ? (double)done / passed : 0;
    memory_stream text;
    memory_open(&text);
    fprintf(text.file, "%zu of %zu, %.0f a second", done, b->count, rate);
    if (rate > 0)
        fprintf(text.file, ", %.0f s left", (double)(b->count - done) / rate);
    fputs(": ", text.file);
    put_safe(text.file, base_name(b->names[current]));
    memory_close(&text);
    size_t end = text.size, most = terminal_columns() - 1; /* two lines could not be wiped out */
    if (end > most)
        end = most;
    while (end > 0 && end < text.size && ((unsigned char)text.data[end] & 0xc0) == 0x80)
        end--; /* a character is not cut in two */
    fprintf(stderr, "\r\033[K%.*s", (int)end, text.data);
    fflush(stderr);
    free(text.data);
    b->drawn = passed;
}

/* ---------------------------------------------------------------- the work */

static void do_one(batch *b, size_t index)
{
    result *r = &b->results[index];
    memory_open(&r->out);
    memory_open(&r->err);
    r->exit_code = b->work(b->c, b->user, index, r->out.file, r->err.file);
    memory_close(&r->out);
    memory_close(&r->err);
}

static bool same_folder(const char *a, const char *b)
{
    size_t size = (size_t)(base_name(a) - a);
    return (size_t)(base_name(b) - b) == size && memcmp(a, b, size) == 0;
}

/* The end of what a thread takes next: files of one folder, as two that make files in the same one wait for each other,
 * and the fewer the less is left, so that all threads end together. */
static size_t end_of_run(const batch *b)
{
    enum { LONGEST = 256, SHARES = 8 };
    size_t most = (b->count - b->next) / (SHARES * b->threads), end = b->next + 1;
    if (most > LONGEST)
        most = LONGEST;
    while (end < b->count && end - b->next < most && same_folder(b->names[b->next], b->names[end]))
        end++;
    return end;
}

static void worker(void *user)
{
    batch *b = user;
    lock_take(&b->guard);
    b->working++;
    while (b->next < b->count && !stop_asked()) {
        size_t index = b->next, end = end_of_run(b);
        for (b->next = end; index < end && !stop_asked(); index++) {
            b->current = index;
            lock_give(&b->guard);
            do_one(b, index);
            lock_take(&b->guard);
            b->results[index].ready = true;
            b->finished++;
        }
    }
    if (--b->working == 0) /* till then somebody looks ten times a second */
        condition_tell(&b->news);
    lock_give(&b->guard);
}

static void work_in_thread(void *user)
{
    leave_signals_to_others();
    worker(user);
}

static void tell(batch *b, result *r, batch_result *total)
{
    bool withdrawn = b->withdrawn && b->withdrawn(b->user, (size_t)(r - b->results));
    if (!withdrawn && (r->err.size || r->out.size)) {
        clear_bar(b);
        fwrite(r->out.data, 1, r->out.size, stdout);
        fflush(stdout);
        fwrite(r->err.data, 1, r->err.size, stderr);
    }
    free(r->out.data);
    free(r->err.data);
    if (withdrawn)
        r->exit_code = SKIPPED;
    else if (r->exit_code == SKIPPED)
        total->skipped++;
    else if (r->exit_code == EXIT_DONE)
        total->done++;
    else
        total->failed++;
    if (r->exit_code != SKIPPED)
        total->exit_code = worse(total->exit_code, r->exit_code);
}

/* Prints results as their turn comes. Once it was asked to stop and nobody works any more there may be none of some. */
static void wait_and_tell(batch *b, batch_result *total)
{
    lock_take(&b->guard);
    for (size_t told = 0; told < b->count;) {
        size_t ready = told;
        while (ready < b->count && b->results[ready].ready)
            ready++;
        if (ready > told) {
            lock_give(&b->guard); /* once for all of them, as those at work need it for each */
            while (told < ready)
                tell(b, &b->results[told++], total);
            lock_take(&b->guard);
        } else if (stop_asked() && b->working == 0) {
            told++;
        } else {
            condition_wait(&b->news, &b->guard, 0.1);
        }
        draw_bar(b, b->finished, b->current);
    }
    lock_give(&b->guard);
    clear_bar(b);
}

/* Of many files, those that failed have long scrolled away: their names once more. */
static void name_failed(const batch *b, const batch_result *total)
{
    enum { A_SCREEN = 20, MOST = 10 };
    size_t named = 0;
    for (size_t i = 0; i < b->count && b->count > A_SCREEN && !b->c->json && named < MOST; i++) {
        const result *r = &b->results[i];
        if (!r->ready || r->exit_code == SKIPPED || r->exit_code == EXIT_DONE)
            continue;
        say(stderr, "failed: %s", b->names[i]);
        named++;
    }
    if (named == MOST && total->failed > named)
        say(stderr, "failed: %zu more", total->failed - named);
}

batch_result run_batch(cli *c, size_t count, char *const *names, batch_work *work, batch_withdrawn *withdrawn, void *user)
{
    batch b = {.c = c, .count = count, .names = names, .work = work, .withdrawn = withdrawn, .user = user};
    batch_result total = {0};
    b.bar = count > 1 && is_terminal(STANDARD_ERROR) && !c->json;
    b.results = need(calloc(count + 1, sizeof *b.results));
    b.began = seconds_now();
    lock_make(&b.guard);
    condition_make(&b.news);
    b.threads = c->jobs ? c->jobs : processors();
    if (b.threads > count)
        b.threads = count;
    thread *ids = need(calloc(b.threads + 1, sizeof *ids));
    defer_signals(true);
    size_t started = 0;
    while (started < b.threads && thread_start(&ids[started], work_in_thread, &b))
        started++;
    if (started == 0 && count > 0)
        worker(&b); /* no threads to be had: here, then */
    wait_and_tell(&b, &total);
    for (size_t i = 0; i < started; i++)
        thread_join(ids[i]);
    name_failed(&b, &total);
    free(ids);
    free(b.results);
    condition_free(&b.news);
    lock_free(&b.guard);
    return total;
}
