/* How far two tracks are apart: the inner part of kf_diff. */
#ifndef KFI_DIFF_H
#define KFI_DIFF_H

#include "rotation.h"

/* One side of a comparison. A track that is not there holds its rest value. */
typedef struct kfi_diff_side {
    const kf_track *track;
    kf_rotation_order order;
} kfi_diff_side;

/* Two key times nearer than this are one: FBX rounds times to its ticks, games to 32-bit floats. */
double kfi_diff_instant(double time);

/* The worst difference of component c (degrees between orientations for rotations, where c does not count),
 * over the keys of both and between them, and its time. False: no memory. */
bool kfi_diff_worst(kf_job *job, const kfi_diff_side *a, const kfi_diff_side *b, unsigned c, double *worst,
                    double *time);

/* Keys that only B has, that only A has, and that both have but with another value, shape, interpolation or
 * T/C/B. A value that is no number on one side alone is another value, however like the one held in its stead. */
typedef struct kfi_diff_keys {
    size_t added, removed, changed;
    bool odd; /* there is such a value; the first one's time */
    double odd_time;
} kfi_diff_keys;

void kfi_diff_curve_keys(const kf_curve *a, const kf_curve *b, double limit, kfi_diff_keys *keys);
void kfi_diff_quat_keys(const kf_quat_curve *a, const kf_quat_curve *b, double limit, kfi_diff_keys *keys);
/* Of rotations kept in different ways: times only, and the orientations at them. */
bool kfi_diff_mixed_keys(kf_job *job, const kfi_diff_side *a, const kfi_diff_side *b, double limit,
                         kfi_diff_keys *keys);

/* diff_shapes.c: how far apart the two shapes that a weight is of, one of which may be missing, move their points: the worst, what is
 * tolerated, and when there is the most of it. Not *there: there is none. `next` begins as 0, 0 and says where to look first. */
bool kfi_diff_shape(kf_job *job, const kf_mesh *a, const kf_mesh *b, const kf_track *weight, size_t next[2], bool *there,
                    kf_difference *found);

/* diff_bake.c: whether an FBX of a game's file is a bake; and its take on the axis of the game's. */
bool kfi_diff_is_bake(kf_job *job, const kf_anim *fbx, bool *baked);
bool kfi_diff_move_bake(kf_job *job, const kf_take *game, kf_take *bake);

#endif
