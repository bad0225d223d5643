/* TCB keys whose numbers go for a motion in three directions at once: x, y and z of a place, or the axis and angle of a turn.
 *
 * A key's tangents lie in the plane of the ways to its two neighbours, so that a key that is put in bends the segments of both.
 * Which samples become keys is sought for a whole stretch: from its start on, each pair of keys that can follow each other
 * is kept with the fewest keys that lead there. */
#ifndef KFI_FIT_SHARED_H
#define KFI_FIT_SHARED_H

#include "internal.h"

/* Ways and tangents are in tolerances: of a length up to 1 counts as met. */
typedef struct kfi_shared {
    kf_job *job;
    const double *t; /* of the samples */
    const void *motion;
    /* The way from sample a to sample b. */
    void (*way)(const void *motion, size_t a, size_t b, double way[3]);
    /* The tangents, per unit of the segment, with which one segment would best tell samples a..b, and how much they matter;
     * 0: none can. */
    double (*wants)(const void *motion, size_t a, size_t b, double out[3], double in[3]);
    /* How far a segment with these tangents is off; INFINITY where it is much. `own`: it is the original's. */
    double (*miss)(const void *motion, size_t a, size_t b, const double ease[2], bool own, const double out[3],
                   const double in[3]);
    bool rests;        /* at a new key the motion may come to a stand, which leaves it to either side alone */
    bool mirrored;     /* an end key stands as if there were a neighbour beyond it, mirrored; else by the rule of curves */
    size_t count;      /* the original's keys, two or more; one at an end may be none of its own, before or behind which it held */
    const size_t *at;  /* the sample of each */
    const kf_tcb *tcb; /* their numbers */
    const bool *kept;  /* whether the segment after it was not edited, */
    double (*const tangent)[2][3]; /* and then what it has: leaving, arriving */
} kfi_shared;

typedef struct kfi_shared_key {
    size_t sample;
    uint32_t origin; /* the original's key, or KF_NEW */
    kf_tcb tcb;
} kfi_shared_key;

/* shared_search.c: those from the original's key `first` to `*last` or the first one behind that, beside which it stays: that is
 * *last then; none if no way was found. */
bool kfi_fit_shared_stretch(const kfi_shared *f, size_t first, size_t *last, kfi_shared_key **keys, size_t *count);
/* All keys from the first of the original's to its last; not *done: there is no way that was found. */
bool kfi_fit_shared_keys(const kfi_shared *f, kfi_shared_key **keys, size_t *count, bool *done);

/* shared_between.c: which curves are known between sample i and the next, as bits. */
unsigned kfi_shared_known(const kfi_shared_samples *from, size_t i);
/* Where not all was edited, the original says what lies between two samples: there may be keys, too. More of them where the
 * bend may change at once: beside the original's keys, and where an edit begins or ends. With `jumps` also where all was
 * edited, beside a lone jump of the edit. */
enum { KFI_SHARED_PLACES = 9 };
size_t kfi_shared_places(const kfi_shared_samples *from, size_t i, bool jumps, double places[KFI_SHARED_PLACES]);
/* A curve that was edited between samples i and i + 1: by the samples around, or by how much they were moved, whichever runs
 * more evenly. */
double kfi_shared_between(const kfi_shared_samples *from, unsigned c, size_t i, double time);

/* shared_values.c: two or three curves of TCB keys at the same times that came back as samples at the same times. Their
 * keys keep their origins. */
bool kfi_fit_shared_values(kf_job *job, const kfi_shared_samples *samples, kf_curve fitted[3], bool *done);

/* shared_quats.c: the same for orientations. */
bool kfi_fit_shared_quats(kf_job *job, const double *times, const double (*q)[4], size_t count, const kf_quat_curve *original,
                          double tolerance, kf_quat_curve *fitted, bool *done);

#endif
