/* Keys at the same times for curves that share them, without a change of shape. */
#ifndef KFI_CURVE_UNITE_H
#define KFI_CURVE_UNITE_H

#include "curve.h"

/* What a segment by handles, without ease, is between two times within it. */
kfi_segment kfi_cut_segment(const kfi_segment *segment, double from, double to);

/* A curve with a key at each of the times, which include its own. What is split is a hold, a line or a curve by handles. */
bool kfi_split_curve(kf_job *job, const kf_curve *from, const double *times, size_t count, double rest, kf_curve *to);

/* How many keys that took which no component had: for pieces of segments with ease, and for halves of segments whose handles pass
 * each other in time. */
typedef struct kfi_united {
    size_t eased, passing;
} kfi_united;

/* x, y and z get keys at the same times; eased segments that are split become cubic pieces within the tolerance. */
bool kfi_unite_keys(kf_job *job, kf_track *track, double tolerance, kfi_united *more);

#endif
