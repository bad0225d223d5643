/* Between conform.c and the others of its name. */
#ifndef KFI_CONFORM_INTERNAL_H
#define KFI_CONFORM_INTERNAL_H

#include "conform.h"
#include "tolerance.h"

typedef struct kfi_conforming {
    kf_job *job;
    const kf_anim *from;
    const kf_capabilities *can;
    double rate;
    double tolerance;
    const kf_take *take; /* at work */
} kfi_conforming;

static inline bool kfi_can(const kfi_conforming *c, kf_interp interp)
{
    return c->can->interps >> interp & 1;
}

/* Half of what is tolerated: the way to FBX has used the other half. */
static inline double kfi_rotation_tolerance(const kfi_conforming *c)
{
    return kfi_tolerated_angle(c->tolerance) * 0.5;
}

/* conform_jumps.c: warns of steps that the format has not got, in a curve or in the orientations that a track became. */
bool kfi_tell_jumps(const kfi_conforming *c, const kf_track *track, const kf_curve *curve);
bool kfi_tell_turn_jumps(const kfi_conforming *c, const kf_track *track, const kf_quat_curve *quat);
/* conform_told.c: warns of what moves before the take's first frame or after its last one, and of what moves by so little that the
 * format's numbers are the same all along. */
bool kfi_tell_outside(const kfi_conforming *c);
bool kfi_tell_rounded(const kfi_conforming *c);
/* conform_frames.c: whether there is memory for all frames of the take; two keys a day apart make many. */
bool kfi_frames_fit(const kfi_conforming *c);
/* A new track gets a value on each of the format's frames. */
bool kfi_conform_frames(const kfi_conforming *c, kf_track *track);

#endif
