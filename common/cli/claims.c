/* Which outputs a batch makes, and of which inputs: several inputs may have the same one. */
#include "cli.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = SIZE_MAX };

typedef struct claimed {
    char *path;
    file_about before; /* what was there before the run */
    bool looked, existed, reserved;
    size_t first, writer;
} claimed;

struct claims {
    lock guard;
    claimed *slots; /* open hash of paths */
    size_t capacity, count;
    size_t *lead;  /* of each input: one before it that shares an output with it, or itself */
    bool *written; /* of each input: it has begun to write */
};

claims *claims_new(size_t inputs)
{
    claims *c = need(calloc(1, sizeof *c));
    lock_make(&c->guard);
    c->capacity = 64;
    c->slots = need(calloc(c->capacity, sizeof *c->slots));
    c->lead = need(calloc(inputs + 1, sizeof *c->lead));
    c->written = need(calloc(inputs + 1, sizeof *c->written));
    for (size_t i = 0; i < inputs; i++)
        c->lead[i] = i;
    return c;
}

void claims_free(claims *c)
{
    for (size_t i = 0; i < c->capacity; i++)
        free(c->slots[i].path);
    free(c->slots);
    free(c->lead);
    free(c->written);
    lock_free(&c->guard);
    free(c);
}

static claimed *slot_of(claimed *slots, size_t capacity, const char *path)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *p = path; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    size_t at = (size_t)hash & (capacity - 1);
    while (slots[at].path && strcmp(slots[at].path, path) != 0)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static void grow(claims *c)
{
    size_t capacity = c->capacity * 2;
    claimed *slots = need(calloc(capacity, sizeof *slots));
    for (size_t i = 0; i < c->capacity; i++)
        if (c->slots[i].path)
            *slot_of(slots, capacity, c->slots[i].path) = c->slots[i];
    free(c->slots);
    c->slots = slots;
    c->capacity = capacity;
}

/* The path, to be freed with the rest, gets an entry; there is none yet. */
static claimed *insert(claims *c, char *path)
{
    if (++c->count * 2 > c->capacity)
        grow(c);
    claimed *entry = slot_of(c->slots, c->capacity, path);
    *entry = (claimed){.path = path, .first = NOBODY, .writer = NOBODY};
    return entry;
}

/* The entry of what the path leads to, made if need be; takes the guard, and leaves it to the caller. */
static claimed *take_entry(claims *c, const char *path)
{
    lock_take(&c->guard);
    claimed *entry = slot_of(c->slots, c->capacity, path);
    if (entry->path) /* most are asked for several times, and are no links */
        return entry;
    lock_give(&c->guard); /* others need not wait for the file system */
    file_about before = {0};
    char *real = follow_links(path);
    bool existed = look_at(real, &before);
    lock_take(&c->guard);
    entry = slot_of(c->slots, c->capacity, real);
    if (entry->path) { /* who has made it before has looked before, too: only then may something be written there */
        free(real);
        return entry;
    }
    entry = insert(c, real);
    entry->before = before;
    entry->existed = existed;
    entry->looked = true;
    return entry;
}

static size_t lead_of(claims *c, size_t number)
{
    while (c->lead[number] != number)
        number = c->lead[number] = c->lead[c->lead[number]];
    return number;
}

void claims_reserve(claims *c, const char *path)
{
    claimed *entry = slot_of(c->slots, c->capacity, path);
    if (!entry->path)
        entry = insert(c, copy_text(path));
    entry->reserved = true;
}

bool claims_reserved(claims *c, const char *path)
{
    bool reserved = take_entry(c, path)->reserved;
    lock_give(&c->guard);
    return reserved;
}

bool claim(claims *c, const char *path, size_t number, file_about *before)
{
    claimed *entry = take_entry(c, path);
    if (!entry->looked) { /* an input of the run */
        entry->existed = look_at(entry->path, &entry->before);
        entry->looked = true;
    }
    if (entry->first == NOBODY)
        entry->first = number;
    size_t a = lead_of(c, number), b = lead_of(c, entry->first);
    c->lead[a > b ? a : b] = a > b ? b : a;
    if (before)
        *before = entry->before;
    bool existed = entry->existed;
    lock_give(&c->guard);
    return existed;
}

bool claim_writing(claims *c, const char *path, size_t number)
{
    claimed *entry = take_entry(c, path);
    if (entry->writer == NOBODY)
        entry->writer = number;
    c->written[number] = true;
    bool own = entry->writer == number;
    lock_give(&c->guard);
    return own;
}

size_t claims_lead(claims *c, size_t number)
{
    lock_take(&c->guard);
    size_t lead = lead_of(c, number);
    lock_give(&c->guard);
    return lead;
}

bool claims_written(claims *c, size_t number)
{
    lock_take(&c->guard);
    bool written = c->written[number];
    lock_give(&c->guard);
    return written;
}
