/* Numbers of TCB keys that FBX has no room for, as animated properties of their node: ease of any track, and all five of
 * rotations, which FBX only knows as Euler curves. "kf_rotation_tension" has a stepped key for each key of the
 * rotation; an artist can edit it, and without the original it tells where the keys were and what they were. */
#ifndef KFI_TCB_TRACKS_H
#define KFI_TCB_TRACKS_H

#include "rotation.h"

enum { KFI_TCB_NUMBERS = 5 }; /* tension, continuity, bias, ease in, ease out: the order of kf_tcb */

float kfi_tcb_get(const kf_tcb *tcb, unsigned number);
void kfi_tcb_set(kf_tcb *tcb, unsigned number, float value);

/* Adds the tracks for one track of an animation; `source` is its index, `shift` goes onto the times. */
bool kfi_tcb_tracks_add(kf_job *job, const kf_track *from, uint32_t node, int32_t source, double shift, kf_take *to);

/* Whether this is such a track, and if so of which channel and name (`name` is not ended by a NUL) and which number. */
bool kfi_tcb_track_parse(const kf_track *track, kf_channel *channel, const char **name, size_t *length,
                         unsigned *number);

/* Puts the numbers back into the tracks of a take from `first` on, which have no original, and takes such tracks out of it;
 * those that belong to none of them stay. A rotation becomes quaternion keys again where those play the same motion. */
bool kfi_tcb_tracks_fold(kf_job *job, const kf_anim *anim, kf_take *take, size_t first);

#endif
