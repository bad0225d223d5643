/* A job's state that everything works with: its memory, its first error, its messages. */
#ifndef KFI_STATUS_H
#define KFI_STATUS_H

#include "arena.h"
#include "keyferry.h"

#include <stdarg.h>

#if defined(__GNUC__) && !defined(__MINGW32__) /* where "printf" means another one */
#define KFI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define KFI_PRINTF(text, first)
#endif

typedef struct kfi_emitted {
    const char *name;
    const void *data;
    size_t size;
} kfi_emitted;

/* What a name is called in messages. */
typedef struct kfi_shown {
    const char *name, *shown;
} kfi_shown;

struct kf_job {
    kf_library *library;
    kf_options options;
    kfi_arena arena;
    kf_error error;      /* code KF_OK while all is well */
    const char *file;    /* name of the file at work, for errors; or NULL */
    kf_message *messages;
    size_t message_count;
    uint64_t input;      /* bytes of all files given so far; the memory ceiling grows with it */
    kfi_emitted *emitted; /* what an exporter has written */
    size_t emitted_count;
    kfi_shown *shown; /* names that are others in FBX */
    size_t shown_count;
    bool unnamed; /* an exporter had no room for the new name of a take */
    size_t name_room; /* bytes after which it has cut one; 0: it has not */
};

/* Zeroed memory of the job; NULL and KF_NO_MEMORY or KF_MEMORY_LIMIT on failure. */
void *kfi_alloc(kf_job *job, size_t count, size_t size);
/* The same without zeroing, for arrays that are filled at once. */
void *kfi_alloc_raw(kf_job *job, size_t count, size_t size);
/* The same in another arena within the job's limit. */
void *kfi_alloc_in(kf_job *job, kfi_arena *arena, size_t count, size_t size);
/* The same job with memory of its own, within what is left of the job's: for work of which little is kept. At its end that
 * memory is given back, and what it had to say goes to the job; false if that is an error. */
kf_job kfi_aside(const kf_job *job);
bool kfi_aside_end(kf_job *job, kf_job *aside);
/* A copy with a NUL behind it. */
char *kfi_strndup(kf_job *job, const char *text, size_t size);
char *kfi_strdup(kf_job *job, const char *text);
KFI_PRINTF(2, 3) char *kfi_format_text(kf_job *job, const char *format, ...);
/* Makes a message UTF-8, whatever bytes the names in it have and wherever they were cut: others become '?'. */
void kfi_make_readable(char *text);

/* One more item at the end of an array that grows only here: returns the zeroed new item, counts it, and moves the
 * array when its count reaches a power of two. `array` is the address of the array's pointer. */
void *kfi_push(kf_job *job, void *array, size_t *count, size_t item_size);

/* The text of a message, as printf would make it but for names. "%.60s" is a name: all of it if it has up to 200 bytes, else
 * the first 200 and "..."; where the text has no room for that, it is 60. What is no UTF-8 becomes '?'. */
void kfi_message_text(const kf_job *job, char *text, size_t size, const char *format, va_list args);
/* The same, as long as need be. */
KFI_PRINTF(2, 3) char *kfi_report_text(kf_job *job, const char *format, ...);
/* From now on messages call the name so, as FBX does. It is this one by its address: two nodes may have the same name. */
bool kfi_show_as(kf_job *job, const char *name, const char *shown);

/* Notes the error unless there is one already; always false. */
bool kfi_vfail(kf_job *job, kf_code code, uint64_t offset, const char *format, va_list args);
KFI_PRINTF(4, 5) bool kfi_fail(kf_job *job, kf_code code, uint64_t offset, const char *format, ...);
bool kfi_failed(const kf_job *job);

/* Adds a message. False only on failure: no memory, or a warning with options.strict (KF_INEXPRESSIBLE).
 * Beyond KFI_MESSAGES_EACH of one id, messages are only counted on the last one kept. */
enum { KFI_MESSAGES_EACH = 8 };
KFI_PRINTF(6, 7)
bool kfi_say(kf_job *job, kf_level level, const char *id, const char *file, uint64_t offset, const char *format, ...);
#define kfi_warn(job, id, ...) kfi_say(job, KF_WARNING, id, NULL, KF_NO_OFFSET, __VA_ARGS__)
#define kfi_note(job, id, ...) kfi_say(job, KF_NOTE, id, NULL, KF_NO_OFFSET, __VA_ARGS__)

/* How often a message of that id was given, repeats included. */
size_t kfi_said(const kf_job *job, const char *id);

#endif
