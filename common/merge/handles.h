/* Between keys.c and handles.c: the handles of a curve that came back with its keys. */
#ifndef KFI_MERGE_HANDLES_H
#define KFI_MERGE_HANDLES_H

#include "internal.h"

static inline bool kfi_has_handles(uint8_t interp)
{
    return interp == KF_BEZIER || interp == KF_HERMITE;
}

/* Key i of what was written and key j of what came back, which are the same one. */
typedef struct kfi_both {
    const kf_curve *written, *edited;
    size_t i, j;
} kfi_both;

/* KF_CHANGED_IN and KF_CHANGED_OUT: which handles are others now. `from` is the original's curve, `origin` its key there. */
uint32_t kfi_handle_changes(const kfi_merge_track *t, const kf_curve *from, size_t origin, const kfi_both *both,
                            const kfi_pairing *p);
/* keys.c: all that changed on a key, KF_CHANGED_... of component c. `p` may be NULL: its neighbours are those that they were. */
uint32_t kfi_key_changes(const kfi_merge_track *t, unsigned c, const kf_curve *w, size_t i, const kf_curve *e, size_t j,
                         const kfi_pairing *p);
/* And which have to follow their segment, another one now, though they are the same in FBX's terms. */
uint32_t kfi_handles_follow(const kfi_merge_track *t, const kf_curve *from, size_t origin, const kfi_both *both,
                            const kfi_pairing *p);
/* Whether a curve with these handles at one end of its segment rises there by the same over the whole of it. */
bool kfi_same_rise(const kfi_merge_track *t, kf_handle was, double was_distance, kf_handle now, double now_distance);
/* Handles as they came back; `original` come in, those that `changed` names are set. */
void kfi_take_handles(const kfi_merge_track *t, const kfi_both *both, uint32_t changed, kf_handles *original);

#endif
