/* The command where memory runs out. Its allocations come here: at each that is reached on a way through the code on
 * which none was reached before, a child goes on without the memory. It must end with exit code 3 and say so;
 * then all goes on as if nothing had been. The ways seen before are in the file KEYFERRY_WAYS, to which the
 * new ones are added, so that many runs need not try the same again. A run must not write files: a child would have its
 * parent's. */
#define _GNU_SOURCE
#include "arena.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 40, MOST_WAYS = 1 << 16, WRONG = 70 };

extern char __executable_start, etext; /* the linker's */
void *__real_kfi_arena_alloc(kfi_arena *arena, size_t count, size_t size);
void *__wrap_kfi_arena_alloc(kfi_arena *arena, size_t count, size_t size);

static uint64_t seen[MOST_WAYS]; /* a hash table; 0: empty */
static int ways_file = -1;
static bool in_child;

static bool add_way(uint64_t way)
{
    size_t slot = way % MOST_WAYS;
    for (size_t tries = 0; tries < MOST_WAYS; tries++, slot = (slot + 1) % MOST_WAYS) {
        if (seen[slot] == way)
            return false;
        if (seen[slot] == 0) {
            seen[slot] = way;
            return true;
        }
    }
    return false;
}

static void read_ways(void)
{
    const char *path = getenv("KEYFERRY_WAYS");
    uint64_t way;
    ways_file = open(path ? path : "", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (ways_file < 0) {
        perror("KEYFERRY_WAYS");
        exit(WRONG);
    }
    while (read(ways_file, &way, sizeof way) == (ssize_t)sizeof way)
        add_way(way);
}

/* The program and the libraries lie elsewhere in memory every time: only the program counts, from its start on. */
static uint64_t way_here(void)
{
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < count; i++)
        if ((char *)frames[i] >= &__executable_start && (char *)frames[i] < &etext)
            hash = (hash ^ (uint64_t)((char *)frames[i] - &__executable_start)) * 1099511628211u;
    return hash | 1;
}

static void wrong(const char *what, const char *said)
{
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);
    fprintf(stderr, "memory ran out: %s\n%s\n", what, said);
    backtrace_symbols_fd(frames, count, 2);
    _exit(WRONG);
}

/* The parent comes back from here; so does the child, with true. */
static bool child_without_memory(void)
{
    FILE *said = tmpfile();
    fflush(NULL);
    pid_t child = said ? fork() : -1;
    if (child < 0)
        wrong("no process for it", "");
    if (child == 0) {
        in_child = true;
        dup2(fileno(said), 1);
        dup2(fileno(said), 2);
        alarm(60);
        return true;
    }
    int status = 0;
    char text[4096];
    if (waitpid(child, &status, 0) != child)
        wrong("no end of it", "");
    rewind(said);
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    fclose(said);
    if (!WIFEXITED(status))
        wrong("ended by a signal", text);
    if (WEXITSTATUS(status) != 3)
        wrong(WEXITSTATUS(status) == 0 ? "and nobody says so" : "another exit code", text);
    if (!strstr(text, "memory"))
        wrong("another reason is given", text);
    return false;
}

void *__wrap_kfi_arena_alloc(kfi_arena *arena, size_t count, size_t size)
{
    if (!in_child) {
        if (ways_file < 0)
            read_ways();
        uint64_t way = way_here();
        if (add_way(way)) {
            if (write(ways_file, &way, sizeof way) != (ssize_t)sizeof way)
                wrong("KEYFERRY_WAYS cannot be written", "");
            if (child_without_memory()) {
                arena->over_limit = false;
                return NULL;
            }
        }
    }
    return __real_kfi_arena_alloc(arena, count, size);
}
