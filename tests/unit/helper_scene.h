/* An animation that has everything an FBX can hold: all kinds of nodes, properties, tracks and keys. */
#ifndef HELPER_SCENE_H
#define HELPER_SCENE_H

#include "anim.h"

/* Keys of every kind in every order; `seed` makes different ones. */
void scene_curve(kf_job *job, kf_curve *curve, size_t count, uint32_t seed);
void scene_make(kf_job *job, kf_anim *anim);

#endif
