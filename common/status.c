#include "status.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* Always false. */
static bool no_memory(kf_job *job, const kfi_arena *arena)
{
    return arena->over_limit
               ? kfi_fail(job, KF_MEMORY_LIMIT, KF_NO_OFFSET,
                          "needs more memory than the limit of %llu bytes (raise it with --max-memory)",
                          (unsigned long long)job->arena.limit)
               : kfi_fail(job, KF_NO_MEMORY, KF_NO_OFFSET, "out of memory");
}

void *kfi_alloc_in(kf_job *job, kfi_arena *arena, size_t count, size_t size)
{
    void *memory = kfi_arena_alloc(arena, count, size);
    if (!memory)
        no_memory(job, arena);
    return memory;
}

void *kfi_alloc_raw(kf_job *job, size_t count, size_t size)
{
    return kfi_alloc_in(job, &job->arena, count, size);
}

void *kfi_alloc(kf_job *job, size_t count, size_t size)
{
    void *memory = kfi_alloc_raw(job, count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

kf_job kfi_aside(const kf_job *job)
{
    const kfi_arena *arena = &job->arena;
    kf_job aside = *job;
    kfi_arena_init(&aside.arena, arena->allocator, arena->limit > arena->total ? arena->limit - arena->total : 0);
    aside.arena.item_blocks = arena->item_blocks;
    return aside;
}

/* What was said aside is said by the job: its words are the job's from now on. */
static bool keep_messages(kf_job *job, const kf_job *aside)
{
    size_t count = job->message_count;
    for (size_t i = 0; i < count; i++)
        job->messages[i].repeats = aside->messages[i].repeats;
    for (size_t i = count; i < aside->message_count; i++) {
        kf_message own = aside->messages[i];
        own.text = kfi_strdup(job, own.text);
        own.id = own.text ? kfi_strdup(job, own.id) : NULL;
        own.file = own.id && own.file ? kfi_strdup(job, own.file) : NULL;
        bool whole = own.text && own.id && (own.file || !aside->messages[i].file);
        kf_message *kept = whole ? kfi_push(job, &job->messages, &job->message_count, sizeof *kept) : NULL;
        if (!kept)
            return false;
        *kept = own;
    }
    return true;
}

bool kfi_aside_end(kf_job *job, kf_job *aside)
{
    aside->arena.over_limit = aside->error.code == KF_MEMORY_LIMIT; /* or that of an arena beside it was */
    if (aside->arena.over_limit)
        no_memory(job, &aside->arena); /* of the job's limit */
    else if (!kfi_failed(job))
        job->error = aside->error;
    bool kept = keep_messages(job, aside);
    kfi_arena_free(&aside->arena);
    return kept && !kfi_failed(job);
}

char *kfi_strndup(kf_job *job, const char *text, size_t size)
{
    if (size == SIZE_MAX) {
        kfi_fail(job, KF_MEMORY_LIMIT, KF_NO_OFFSET, "a text of %zu bytes is too long", size);
        return NULL;
    }
    char *copy = kfi_alloc_raw(job, size + 1, 1);
    if (copy) {
        if (size)
            memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

char *kfi_strdup(kf_job *job, const char *text)
{
    return kfi_strndup(job, text, strlen(text));
}

char *kfi_format_text(kf_job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = kfi_alloc_raw(job, (size_t)(length < 0 ? 0 : length) + 1, 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, args);
    va_end(args);
    return text;
}

void *kfi_push(kf_job *job, void *array, size_t *count, size_t item_size)
{
    void *items;
    memcpy(&items, array, sizeof items);
    size_t n = *count;
    if ((n & (n - 1)) == 0) { /* 0 or a power of two: full */
        size_t capacity = n == 0 ? 1 : n * 2;
        void *moved = kfi_alloc(job, capacity, item_size);
        if (!moved)
            return NULL;
        if (n)
            memcpy(moved, items, n * item_size);
        items = moved;
        memcpy(array, &items, sizeof items);
    }
    *count = n + 1;
    return (char *)items + n * item_size;
}

void kfi_make_readable(char *text)
{
    for (size_t size; *text; text += size) {
        size = kfi_utf8_character(text, SIZE_MAX);
        if (size == 0) {
            *text = '?';
            size = 1;
        }
    }
}

bool kfi_vfail(kf_job *job, kf_code code, uint64_t offset, const char *format, va_list args)
{
    kf_error *error = &job->error;
    if (error->code != KF_OK)
        return false;
    error->code = code;
    error->offset = offset;
    snprintf(error->file, sizeof error->file, "%s", job->file ? job->file : "");
    kfi_message_text(job, error->message, sizeof error->message, format, args);
    return false;
}

bool kfi_fail(kf_job *job, kf_code code, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kfi_vfail(job, code, offset, format, args);
    va_end(args);
    return false;
}

bool kfi_failed(const kf_job *job)
{
    return job->error.code != KF_OK;
}

bool kfi_say(kf_job *job, kf_level level, const char *id, const char *file, uint64_t offset, const char *format, ...)
{
    char text[1024]; /* for three names, and words */
    va_list args;
    if (level == KF_WARNING && job->options.strict) {
        va_start(args, format);
        kfi_vfail(job, KF_INEXPRESSIBLE, offset, format, args);
        va_end(args);
        return false;
    }

    size_t alike = 0;
    kf_message *last = NULL;
    for (size_t i = 0; i < job->message_count; i++) {
        kf_message *message = &job->messages[i];
        if (message->level == level && strcmp(message->id, id) == 0) {
            alike++;
            last = message;
        }
    }
    if (alike >= KFI_MESSAGES_EACH) {
        last->repeats++;
        return true;
    }
    va_start(args, format);
    kfi_message_text(job, text, sizeof text, format, args);
    va_end(args);
    char *copy = kfi_strdup(job, text);
    kf_message *message = copy ? kfi_push(job, &job->messages, &job->message_count, sizeof *message) : NULL;
    if (!message)
        return false;
    *message = (kf_message){.level = level, .id = id, .text = copy, .file = file, .offset = offset};
    return true;
}

size_t kfi_said(const kf_job *job, const char *id)
{
    size_t said = 0;
    for (size_t i = 0; i < job->message_count; i++)
        if (strcmp(job->messages[i].id, id) == 0)
            said += 1 + job->messages[i].repeats;
    return said;
}
