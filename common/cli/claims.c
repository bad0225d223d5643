/* Which outputs a batch has written: two inputs with the same output would else undo each other in silence.
 */
#include "cli.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

struct claims {
    lock guard;
    char **slots; /* open hash of paths */
    size_t capacity, count;
};

claims *claims_new(void)
{
    claims *c = need(calloc(1, sizeof *c));
    lock_make(&c->guard);
    c->capacity = 64;
    c->slots = need(calloc(c->capacity, sizeof *c->slots));
    return c;
}

void claims_free(claims *c)
{
    for (size_t i = 0; i < c->capacity; i++)
        free(c->slots[i]);
    free(c->slots);
    lock_free(&c->guard);
    free(c);
}

static char **slot_of(char **slots, size_t capacity, const char *path)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *p = path; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    size_t at = (size_t)hash & (capacity - 1);
    while (slots[at] && strcmp(slots[at], path) != 0)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static void grow(claims *c)
{
    size_t capacity = c->capacity * 2;
    char **slots = need(calloc(capacity, sizeof *slots));
    for (size_t i = 0; i < c->capacity; i++)
        if (c->slots[i])
            *slot_of(slots, capacity, c->slots[i]) = c->slots[i];
    free(c->slots);
    c->slots = slots;
    c->capacity = capacity;
}

bool claim(claims *c, const char *path)
{
    lock_take(&c->guard);
    char **slot = slot_of(c->slots, c->capacity, path);
    bool free_yet = *slot == NULL;
    if (free_yet) {
        *slot = copy_text(path);
        if (++c->count * 2 > c->capacity)
            grow(c);
    }
    lock_give(&c->guard);
    return free_yet;
}
