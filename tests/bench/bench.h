/* What the parts of the benchmark share. */
#ifndef BENCH_H
#define BENCH_H

#include "anim.h"

#include <stdio.h>

extern int rounds;

/* What is written goes here; it does not grow. */
typedef struct memory {
    char *data;
    size_t size, capacity;
} memory;

void die(const char *what);
double now(void);                          /* processor time, seconds */
void put(const char *name, double value);  /* into the line of JSON, behind its first member */
/* The least time of all rounds; cold: with nothing of it in the caches, as it is in sets that are larger than those. */
double write_fbx(kf_job *job, const kf_anim *anim, memory *m, bool cold);
double write_fbx_file(kf_job *job, const kf_anim *anim, const char *path);

int bench_game(const char *path);
int bench_decode(void);

#endif
