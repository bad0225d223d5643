/* What the files that fit orientations share among themselves. */
#ifndef KFI_FIT_QUAT_INTERNAL_H
#define KFI_FIT_QUAT_INTERNAL_H

#include "internal.h"

typedef struct kfi_quat_item {
    kf_quat_key key;
    kf_tcb tcb;
    size_t sample;
    uint32_t origin;
    bool kept;  /* the segment after it is the original's */
    bool bound; /* its numbers hold a kept segment in place */
} kfi_quat_item;

typedef struct kfi_quat_fitting {
    kf_job *job;
    const kf_quat_curve *original;
    uint32_t interps;
    double tolerance; /* degrees */
    size_t count;     /* of samples */
    double *t;
    double (*q)[4];
    kfi_quat_item *items;
    size_t item_count;
    bool slerps; /* the original's TCB segments are given up */
} kfi_quat_fitting;

/* The items as a curve, and how far the segment after item i is from the samples within it. */
bool kfi_quat_fit_curve(kfi_quat_fitting *f, kf_quat_curve *curve);
double kfi_quat_fit_worst(const kfi_quat_fitting *f, const kf_quat_curve *curve, size_t i);

/* quat_axis.c: TCB keys about one axis; not *done where it is something else. */
bool kfi_fit_quat_axis(kf_job *job, const double *times, const double (*q)[4], size_t count,
                       const kfi_fit_quat_options *options, double tolerance, kf_quat_curve *curve, bool *done);

/* quat_tcb.c: a sample in the open segment beside item i, `side` 0 before it and 1 after it, at which a
 * key lets the item keep the original's segment on its other side; and the numbers it takes. False if there
 * is none. */
bool kfi_quat_anchor(const kfi_quat_fitting *f, size_t i, int side, size_t *sample, kf_tcb *tcb);

#endif
