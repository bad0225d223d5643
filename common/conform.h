/* Bends an animation to what a format can store, as its capabilities say: channels, interpolations, common key times,
 * a value a frame, orientations. Tracks whose bytes stay as they are pass untouched. What cannot be held is a warning
 * that names it. */
#ifndef KFI_CONFORM_H
#define KFI_CONFORM_H

#include "anim.h"

/* What became of a track. */
typedef struct kfi_conformed {
    bool told;           /* a warning was given that its motion is another one now */
    kf_curve *fitted[3]; /* what stands for x, y and z where those were samples, which say nothing of what is between; or NULL */
} kfi_conformed;

/* `rate` is the frame rate of a format with a value a frame. `each` is for each track of each take in order. */
bool kfi_conform(kf_job *job, const kf_anim *from, const kf_capabilities *can, double rate, double tolerance,
                 kf_anim *to, const kfi_conformed **each);

#endif
