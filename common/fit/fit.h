/* Dense samples become few keys. */
#ifndef KFI_FIT_H
#define KFI_FIT_H

#include "rotation.h"

typedef struct kfi_fit_options {
    uint32_t interps; /* 1 << kf_interp for each kind of key that may be used */
    double tolerance; /* how far the curve may be from any sample; 0: 1e-4 of the range, at least 1e-4 */
    const kf_curve *original; /* or NULL: a curve whose keys are tried first, on the samples' axis of time. Of a segment that
                               * begins with a helper key only the ends count. */
    bool handles; /* new cubics have handles where that may be, though most of the original's keys are TCB */
    const double *between; /* or NULL: for each sample, what lies in the middle between it and the next one; NAN where that
                            * is not known */
    bool parted; /* others' keys will part its segments: handles of new ones do not pass each other in time, for which a part of
                  * such a segment would have no room */
    const kf_curve *was; /* or NULL: what the samples were taken from before some were edited. `between` is on it. */
} kfi_fit_options;

/* The fewest keys through samples at ascending times. Corners, holds and steps are found. Where the original,
 * with its own keys and rules, already runs through the samples, its keys are taken over: their origin names
 * them and `changed` is 0 (for a key at the edge of an edited stretch: only what had to change). Keys that
 * are the original's but for their value or handles name it too; others are KF_NEW. The result's tcb_rule is
 * the original's. */
bool kfi_fit(kf_job *job, const double *times, const double *values, size_t count,
             const kfi_fit_options *options, kf_curve *curve);

/* The same for orientations: holds, slerps and the original's TCB keys. The tolerance is in degrees, 0 is
 * 0.01. Where only TCB keys may be used, a slerp is one between keys of continuity -1. */
typedef struct kfi_fit_quat_options {
    uint32_t interps;
    double tolerance;
    const kf_quat_curve *original; /* or NULL */
    /* Where samples are many, one after the other: TCB keys between few of them, which take a search (no keys: those do not
     * do); what takes none, between all. */
    enum { KFI_QUAT_ANY, KFI_QUAT_CURVED, KFI_QUAT_STRAIGHT } keys;
} kfi_fit_quat_options;

bool kfi_fit_quat(kf_job *job, const double *times, const double (*q)[4], size_t count,
                  const kfi_fit_quat_options *options, kf_quat_curve *curve);

/* The same where there is an original, two keys of which may have one time. */
bool kfi_fit_quat_jumps(kf_job *job, const double *times, const double (*q)[4], size_t count, const kfi_fit_quat_options *options,
                        kf_quat_curve *curve);

/* Keys of a curve of orientations that nothing beyond them bends: those from one jump to the next. */
typedef struct kfi_quat_part {
    kf_quat_curve curve; /* or what became of them; without origins they stayed */
    size_t key;          /* of the whole curve, that the first one is */
} kfi_quat_part;
/* Keys from..to, without origins; the last key before the next jump, or of all; and all parts one behind the other. */
kf_quat_curve kfi_quat_part_of(const kf_quat_curve *curve, size_t from, size_t to);
size_t kfi_quat_jump(const kf_quat_curve *curve, size_t from);
bool kfi_join_quat_parts(kf_job *job, const kfi_quat_part *parts, size_t part_count, kf_quat_curve *curve);

/* Two or three curves with samples at the same times. */
typedef struct kfi_shared_samples {
    unsigned curves;
    const kf_curve *original[3];
    const double *times, *values[3], *between[3]; /* the latter may be NULL, as in kfi_fit_options */
    double tolerance[3];
    size_t count;
} kfi_shared_samples;
/* For formats whose components share keys and have no handles: samples of curves without numbers, or of none (original NULL), as
 * lines, or as TCB keys with the same numbers where those are less than half as many. */
bool kfi_fit_lines_or_tcb(kf_job *job, const kfi_shared_samples *samples, kf_curve fitted[3]);

/* One curve that only has to be told in other kinds of keys. `from` and `to` may be the same. */
bool kfi_fit_curve(kf_job *job, const kf_curve *from, uint32_t interps, double tolerance, kf_curve *to);

#endif
