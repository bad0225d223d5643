/* What the tests of the formats' contract share: one try of some bytes, with a second look at all that comes of them,
 * and the samples in tests/data/<id>. */
#ifndef HELPER_CONTRACT_H
#define HELPER_CONTRACT_H

#include "keyferry.h"

typedef struct outcome {
    bool accepted;
    kf_code code;
    size_t allocations;
    const char *problem; /* what broke the contract, or NULL */
} outcome;

/* Imports the bytes, looks at what came of them, and exports it unedited. They are copied into a block of just their
 * size. `ways` is how many of the two ways to say "unedited" are tried; the allocation of the number `fail_at` fails,
 * counted from 1; 0: none. */
outcome try_bytes(const kf_format *format, const uint8_t *data, size_t size, int ways, size_t fail_at);

typedef struct sample {
    char name[300]; /* format/file */
    uint8_t *data;  /* with room for four bytes more */
    size_t size;
} sample;

typedef size_t contract(const kf_format *format, const sample *s);

/* Runs a part of the contract on every sample of every format, and tells how often it did. */
void on_every_sample(contract *part);

#endif
