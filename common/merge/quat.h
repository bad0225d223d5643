/* What the parts of the merge of orientations share. Times are those of the original. */
#ifndef KFI_MERGE_QUAT_H
#define KFI_MERGE_QUAT_H

#include "internal.h"

/* By this much later curves are looked at: at a key that ends a hold, what it says, though times are rounded. */
static const double KFI_JUST_AFTER = 1e-9;

/* What came back, as an orientation, and whether it is another one than was written. */
void kfi_edited_orientation(const kfi_merge_track *t, double time, double q[4]);
bool kfi_turned_here(const kfi_merge_track *t, double time, double written_time);
/* Degrees by which equal orientations may differ where a key stands. */
double kfi_turn_limit(const kfi_merge_track *t);
/* All times at which one of three curves has a key, less `shift`; there are at most kfi_euler_keys. */
size_t kfi_union_times(const kf_track *track, double shift, double limit, double *times);
size_t kfi_euler_keys(const kf_track *track);

/* quat_bake.c: all of a bake; and counting what became of the keys, once they were fitted. */
bool kfi_merge_quat_bake(kfi_merge_track *t);
void kfi_count_quat_keys(kfi_merge_track *t);
/* quat_drawn.c: what was drawn between the keys that t->merged has already. */
bool kfi_merge_quat_drawn(kfi_merge_track *t);

#endif
