/* What the tests of curves, rotations and fitting share: a job, random numbers that are the same everywhere,
 * random curves of every kind, and comparisons of two curves between their keys. */
#ifndef HELPER_CURVES_H
#define HELPER_CURVES_H

#include "rotation.h"

extern kf_job curve_job;
int curve_set_up(void **state);
int curve_tear_down(void **state);

void random_seed(uint64_t seed);
double random_between(double low, double high);
unsigned random_below(unsigned count);

enum { RANDOM_TCB = 1, RANDOM_EASE = 2, RANDOM_WILD_HANDLES = 4, RANDOM_FRAMES = 8, RANDOM_TAME = 16 };

/* `interps` is a mask of 1 << kf_interp, from which each key takes one. RANDOM_FRAMES puts keys on frames of
 * 1/30 s; RANDOM_TAME keeps T, C and B within a half, handles moderate and keys at least half a second apart:
 * curves that 30 samples a second tell in full. */
void random_curve(kf_curve *curve, size_t count, uint32_t interps, unsigned how);
/* Turns of up to `widest` degrees between keys. */
void random_quat_curve(kf_quat_curve *curve, size_t count, uint32_t interps, unsigned how, double widest);

double curve_range(const kf_curve *curve); /* of its values, at 16 times per segment */

/* The worst difference at 16 times per segment of a; `at` gets its time. */
double worst_between(const kf_curve *a, const kf_curve *b, double *at);

#endif
