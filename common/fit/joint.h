/* Keys at the same times for curves that share them. */
#ifndef KFI_FIT_JOINT_H
#define KFI_FIT_JOINT_H

#include "fit.h"

enum { KFI_JOINT_MOST = 3 };

/* Samples of all curves at the same times; there are keys at the first and at the last of them. */
typedef struct kfi_joint {
    unsigned curves;
    const double *times;
    size_t count;
    const double *values[KFI_JOINT_MOST];
    kfi_fit_options options[KFI_JOINT_MOST];
    const bool *own; /* for each sample: the original has a key there */
    /* Or NULL: whether what is beyond the first sample (side 0), or the last (1), stays as it is with the key beside it at that
     * sample. */
    bool (*holds)(const void *context, int side, size_t sample);
    const void *context;
} kfi_joint;

/* The samples at which to have keys; `places` has room for all. None: the samples of the curves do not lie at the same times. */
bool kfi_fit_places(kf_job *job, const kfi_joint *from, size_t *places, size_t *count);

#endif
