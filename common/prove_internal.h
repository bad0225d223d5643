/* Between prove_edits.c and prove_shapes.c. */
#ifndef KFI_PROVE_INTERNAL_H
#define KFI_PROVE_INTERNAL_H

#include "merge/merge.h"

/* Where a track is furthest from what came back. */
typedef struct kfi_worst {
    double part; /* of what is tolerated */
    double off, limit;
    double when;
} kfi_worst;

/* prove_shapes.c: whether a weight belongs to a mesh, of which the game shows the sum of its shapes on every frame. */
bool kfi_plays_shapes(const kf_anim *made, const kf_anim *merged, const kfi_wanted *w, const kf_track *track);
/* How far the sums of a made node's shapes are from those that came back; `w`, up to `end`, are all its weights that were edited. */
bool kfi_measure_shapes(kf_job *job, const kf_anim *made, const kf_take *take, uint32_t node, const kf_anim *merged,
                        const kfi_wanted *w, const kfi_wanted *end, kfi_worst *found);

#endif
