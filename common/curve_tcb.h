/* Tension, continuity and bias whose tangents come nearest to those wanted. One set serves x, y and z, so that six slopes
 * have three numbers. */
#ifndef KFI_CURVE_TCB_H
#define KFI_CURVE_TCB_H

#include "curve.h"

/* What the neighbours of an inner key are and what is wanted of its tangents, per unit of their own segment. */
typedef struct kfi_tcb_setting {
    double gap_before, gap_after;
    double rise_before[3], rise_after[3];
    double in[3], out[3];
    double stress[2]; /* how much a miss on the way in counts, and one on the way out */
} kfi_tcb_setting;

/* Without ease. */
kf_tcb kfi_tcb_nearest(const kfi_tcb_setting *setting);

#endif
