/* A job without a library, memory that can be told to fail, and a sink that keeps everything in memory. */
#ifndef HELPER_MEMORY_H
#define HELPER_MEMORY_H

#include "status.h"

/* Everything each item its own block, so that sanitizers see every overrun. */
void memory_job_begin(kf_job *job);
void memory_job_end(kf_job *job);

typedef struct failing_memory {
    size_t live;    /* blocks */
    size_t count;   /* allocations so far */
    size_t fail_at; /* the one that fails, from 1; 0: none */
} failing_memory;

kf_allocator failing_allocator(failing_memory *memory);

typedef struct memory_sink {
    uint8_t *data;
    size_t size, capacity;
    size_t appends, patches;
    size_t fail_append, fail_patch; /* the call of that number fails, counted from 1; 0: none */
} memory_sink;

kf_sink memory_sink_of(memory_sink *memory); /* starts it empty */
void memory_sink_free(memory_sink *memory);

/* Items of 4 or 8 bytes as they stand in a file: little endian, whatever this machine is. */
void store_items(uint8_t *to, const void *items, size_t count, size_t item_size);

#endif
