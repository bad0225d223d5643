/* Names that FBX and the programs that read it can hold, and know again. */
#ifndef KFI_NAMES_H
#define KFI_NAMES_H

#include "status.h"

/* The wrapper node is called this and then the eight hex digits of the capsule's digest. */
#define KFI_WRAPPER_PREFIX "keyferry_"
/* Its property that holds the capsule. */
#define KFI_CAPSULE_PROPERTY "keyferry_capsule"

/* Makes names unique as they are asked for. */
typedef struct kfi_names {
    kf_job *job;
    const char **slots; /* open hash of the names given out */
    size_t capacity;
    size_t count;
    size_t limit; /* longest name in bytes; 0: any */
} kfi_names;

bool kfi_names_init(kfi_names *names, kf_job *job, size_t expected, size_t limit);

/* A name made of `bytes`: bytes that are no UTF-8, control characters, '|', ':' and NUL-like separators become "%XX",
 * and so does the first one of a name that begins like the wrapper's; an empty name becomes `otherwise`; a name given
 * out before gets "__2", "__3", ... NULL on failure. */
const char *kfi_names_give(kfi_names *names, const char *bytes, const char *otherwise);
/* The bytes that such a name was made of: every "%XX" as its byte again. NULL on failure. */
const char *kfi_names_bytes(kf_job *job, const char *name);

/* Which number a name has: the first one put in counts. A map of zeros has none. */
typedef struct kfi_map {
    const char **names;
    uint32_t *numbers;
    size_t capacity;
} kfi_map;

bool kfi_map_init(kfi_map *map, kf_job *job, size_t expected); /* no more than that many go in */
void kfi_map_put(kfi_map *map, const char *name, uint32_t number);
void kfi_map_set(kfi_map *map, const char *name, uint32_t number); /* the last one counts */
int64_t kfi_map_get(const kfi_map *map, const char *name, size_t length); /* -1: not there */

/* A 64-bit hash of bytes (FNV-1a): for tables, not for trust. */
uint64_t kfi_hash(const void *data, size_t size);

#endif
