/* Evaluating and converting scalar curves.
 *
 * Every kind of segment is one of four shapes: a hold, a line, a cubic in time, or a 2-D Bezier solved for
 * time; TCB and auto tangents are resolved to slopes first, and ease bends time before the cubic is taken.
 *
 * Conversion                                      exact?
 *   TCB without ease     -> slopes (Hermite)      exact
 *   TCB with ease        -> cubic pieces          within tolerance, fewest pieces
 *   Bezier               -> slopes and weights    exact while 0 < weight <= 1; else clamped as said below
 *   Hermite             <-> Bezier                exact (handles at a third of the segment)
 *   auto, clamped        -> slopes                exact, by FBX's rule
 *   quaternions          -> Euler (rotation.h)    within tolerance in degrees, fewest helper keys
 *   Euler                -> quaternions           within tolerance in degrees, fewest added keys
 *   slopes               -> TCB (fit.h)           exact where T, C, B in -1..1 reach them, else more keys
 *   dense samples        -> keys (fit.h)          within tolerance at every sample, no overshoot between
 *
 * Which rule says a tangent, in curves that mix kinds:
 *   leaving key i        The key's own kind.
 *   arriving at key j    By FBX's rule (tcb_rule KF_TCB_FBX): the key's own kind if that is TCB or AUTO; else
 *                        its `in` handle; flat after a TCB key, whose record has no room for it.
 *                        By Kochanek's rule (games): the kind of the segment. A TCB segment arrives with the
 *                        numbers of the key it ends on, whatever that key's own kind; a BEZIER or HERMITE one
 *                        with the `in` handle.
 *   AUTO keys            The length of a handle is its weight (0: a third); its dv/dt is the number that
 *                        stands in the FBX record: without the time-independent bit, MotionBuilder's bias.
 */
#ifndef KFI_CURVE_H
#define KFI_CURVE_H

#include "anim.h"

/* One segment with every rule resolved: two end points and the handles between them. */
typedef struct kfi_segment {
    double t0, t1, v0, v1;
    kf_handle h0, h1;    /* of the first key (dt >= 0), of the second (dt <= 0); thirds for KFI_CUBIC */
    double ease0, ease1; /* ease out of the first key, ease in of the second; 0 for most */
    uint8_t shape;       /* kfi_shape */
} kfi_segment;

typedef enum kfi_shape {
    KFI_HOLD,      /* v0, then v1 at t1 */
    KFI_HOLD_NEXT, /* v0 at t0, v1 at once after it */
    KFI_LINE,
    KFI_CUBIC, /* cubic in time, with ease */
    KFI_BEZIER /* 2-D, solved for time; handles clamped into the segment */
} kfi_shape;

/* The shape of the segment after key i (i + 1 < count), all rules resolved. A handle that reaches beyond the
 * segment is shortened along its direction, one that folds back in time is stood upright: time then never
 * runs backwards. */
void kfi_curve_segment(const kf_curve *curve, size_t i, kfi_segment *segment);
double kfi_segment_value(const kfi_segment *segment, double time);

/* The curve's value at a time, extrapolation included. A curve without keys gives `rest`. */
double kfi_curve_value(const kf_curve *curve, double time, double rest);
/* The same at many ascending times: one pass, no search. */
void kfi_curve_values(const kf_curve *curve, const double *times, size_t count, double rest, double *values);

/* The slopes with which the curve arrives at key i and leaves it. Where there is no segment on one side, a
 * TCB or auto key gives what its rule says and another key the slope of its other side. An upright handle
 * counts as flat. */
void kfi_curve_slopes(const kf_curve *curve, size_t i, double *in, double *out);

/* The same shape without TCB, auto or ease: TCB and auto keys become HERMITE keys with explicit handles
 * (BEZIER where a weight is not a third), and a segment with ease gets the fewest helper keys (KF_KEY_HELPER)
 * that keep it within `tolerance`. `origin` of the result tells which key each one is; for helpers, the key
 * whose segment they lie in. */
bool kfi_curve_to_slopes(kf_job *job, const kf_curve *from, double tolerance, kf_curve *to);

/* The same for some segments; the other keys keep kind and numbers. */
typedef struct kfi_opening {
    double tolerance;
    const bool *which;   /* for each segment whether it is one of them, or NULL: all are */
    const double *stops; /* or NULL: times, ascending, at which helper keys are wanted rather than near them */
    size_t stop_count;
} kfi_opening;

bool kfi_curve_open(kf_job *job, const kf_curve *from, const kfi_opening *how, kf_curve *to);

/* curve_handles.c: whether the segment after key i is a TCB segment with ease. */
bool kfi_segment_eased(const kf_curve *curve, size_t i);
/* Which TCB segments have to be told by handles if some (`grows`, `which`) get keys: those beside them, too, for they share
 * an end and would follow the new neighbour; and an eased one becomes pieces, so that those beside that one are next. */
void kfi_curve_affected(const kf_curve *curve, bool *grows, bool *which);
/* Tells them so. Origins are kept; those of the pieces are new. */
bool kfi_curve_tell_by_handles(kf_job *job, kf_curve *curve, const kfi_opening *how);

/* A segment as FBX says it: slope and weight (share of the segment's duration) at both ends. Weights are held
 * within least..most (FBX: 0.0001..0.99) with the handle's direction kept; an upright handle gets the
 * steepest slope that the least weight allows; the direction of a handle of no length is that toward the next
 * control point. */
void kfi_segment_slopes(const kfi_segment *segment, double least, double most, double slope[2],
                        double weight[2]);
/* Times inside a Bezier segment about the place where it is steepest, up to three, ascending; how many. None where it is
 * not much steeper than elsewhere: samples at even times see it all. */
size_t kfi_segment_steep(const kfi_segment *segment, double times[3]);
/* And back: the handles of a key whose segment has that duration. */
static inline kf_handle kfi_weighted_handle(double slope, double weight, double duration)
{
    return (kf_handle){weight * duration, slope * (weight * duration)};
}

/* Ready-made handles: what a cubic in time with the given slope has in a segment of that duration. For the in
 * handle give the duration negative. */
static inline kf_handle kfi_slope_handle(double slope, double duration)
{
    return (kf_handle){duration / 3.0, slope * (duration / 3.0)};
}

/* The slope of a handle; 0 for one without length in time. */
static inline double kfi_handle_slope(kf_handle handle)
{
    return handle.dt != 0.0 ? handle.dv / handle.dt : 0.0;
}

/* Where in a segment (0..1) the motion is at u when the ends have ease a and b. */
double kfi_ease(double u, double a, double b);

/* The tangents (per unit of their own segment) that a key with these numbers has by Kochanek's rule: an inner
 * key with gaps and differences before and after it. For fitting T, C, B. */
void kfi_tcb_tangents(kf_tcb tcb, double gap_before, double gap_after, double rise_before, double rise_after,
                      double *in, double *out);

#endif
