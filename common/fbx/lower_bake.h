/* Curves sampled on whole frames, for programs that keep nothing else. */
#ifndef KFI_FBX_LOWER_BAKE_H
#define KFI_FBX_LOWER_BAKE_H

#include "rotation.h"

typedef struct kfi_bake {
    double rate;
    double start;   /* time of frame 0 */
    size_t frames;
    double *times;  /* of the animation */
    double shift;   /* what is added to them in the FBX */
} kfi_bake;

/* The rate among 15, 24, 30, 60 and 300 that puts every key on a frame, the animation's own first; if there is none,
 * the one that comes nearest, and *between is how many seconds a key lies off its frame at the worst. */
double kfi_bake_rate(const kf_anim *anim, double *between);

/* When a bake of a take begins, which is its frame 0: at its first key or start. */
double kfi_bake_start(const kf_take *take);

/* The frames of one take, from there to its last key or end. */
bool kfi_bake_frames(kf_job *job, const kf_take *take, double rate, kfi_bake *bake);

/* Linear keys on every frame. Origins tell the native keys that lie on a frame from helpers. */
bool kfi_bake_curve(kf_job *job, const kfi_bake *bake, const kf_curve *from, double rest, kf_curve *to);
bool kfi_bake_quat_curve(kf_job *job, const kfi_bake *bake, const kf_quat_curve *from, kf_rotation_order order,
                         kf_curve to[3]);

#endif
