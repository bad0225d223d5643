/* TCB segments told by handles, as they were, where their slopes would follow new keys. */
#include "curve.h"

static bool is_tcb(const kf_curve *curve, size_t i)
{
    return i + 1 < curve->count && curve->keys[i].interp == KF_TCB;
}

bool kfi_segment_eased(const kf_curve *curve, size_t i)
{
    return is_tcb(curve, i) && curve->tcb && (curve->tcb[i].ease_out > 0 || curve->tcb[i + 1].ease_in > 0);
}

void kfi_curve_affected(const kf_curve *curve, bool *grows, bool *which)
{
    for (int way = 0; way < 2; way++) {
        for (size_t k = 0; k + 2 < curve->count; k++) {
            size_t i = way ? curve->count - 2 - k : k, beside = way ? i - 1 : i + 1;
            grows[i] = grows[i] || (which[i] && kfi_segment_eased(curve, i));
            which[beside] = which[beside] || (grows[i] && is_tcb(curve, beside));
        }
    }
    for (size_t i = 0; i < curve->count; i++)
        which[i] = which[i] && is_tcb(curve, i);
}

bool kfi_curve_tell_by_handles(kf_job *job, kf_curve *curve, const kfi_opening *how)
{
    const kf_curve from = *curve;
    if (!kfi_curve_open(job, &from, how, curve))
        return false;
    kf_origin *origin = (kf_origin *)curve->origin; /* just made, and ours */
    for (size_t k = 0; k < curve->count; k++) {
        size_t i = origin[k].key;
        if (curve->keys[k].flags & KF_KEY_HELPER || !from.origin)
            origin[k] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
        else
            origin[k] = from.origin[i];
        if (how->which[i])
            origin[k].changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
        if (i > 0 && how->which[i - 1])
            origin[k].changed |= KF_CHANGED_IN;
        curve->keys[k].flags &= (uint8_t)~KF_KEY_HELPER;
    }
    return true;
}
