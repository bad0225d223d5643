/* Orientations: quaternions (w, x, y, z), Euler angles in degrees in any of FBX's six orders, and curves of
 * both. */
#ifndef KFI_ROTATION_H
#define KFI_ROTATION_H

#include "curve.h"

void kfi_quat_multiply(const double a[4], const double b[4], double out[4]);
void kfi_quat_normalize(double q[4]); /* no rotation, if it has no length */
double kfi_quat_dot(const double a[4], const double b[4]);
/* Turned so that it lies in the same half of the sphere as another: the same orientation, a smooth sequence. */
void kfi_quat_align(double q[4], const double like[4]);
double kfi_quat_angle(const double a[4], const double b[4]); /* degrees between two orientations, 0..180 */
/* The short way; and as they stand, without changing b's sign. */
void kfi_quat_slerp(const double a[4], const double b[4], double u, double out[4]);
void kfi_quat_slerp_long(const double a[4], const double b[4], double u, double out[4]);
/* The angle between two quaternions as they stand, in radians (half the angle of the rotation); and slerp
 * where it is known. */
double kfi_quat_arc(const double a[4], const double b[4]);
void kfi_quat_slerp_arc(const double a[4], const double b[4], double angle, double u, double out[4]);

/* Half the rotation vector from a to b, in a's frame and radians: ln(a^-1 b), b taken in a's hemisphere. */
void kfi_quat_log(const double a[4], const double b[4], double out[3]);
void kfi_quat_exp(const double q[4], const double v[3], double out[4]); /* and back: q exp(v) */

void kfi_quat_from_euler(const double degrees[3], kf_rotation_order order, double q[4]);
/* The Euler angles of q that lie nearest to `near` (full turns and the second solution included), so that a
 * sequence runs on without jumps; at gimbal lock the free angle stays where it was, even if that costs 5e-5
 * degrees. */
void kfi_quat_to_euler(const double q[4], kf_rotation_order order, const double near[3], double degrees[3]);
/* The same with another price for steady angles: at most `slack` degrees off. */
void kfi_quat_to_euler_within(const double q[4], kf_rotation_order order, const double near[3], double slack,
                              double degrees[3]);

int kfi_first_axis(kf_rotation_order order);  /* 0..2: the one about which is turned first */
int kfi_second_axis(kf_rotation_order order); /* the one that locks at 90 degrees */
/* The cosine of the angle between the axes about which the first and the third angle turn. */
double kfi_euler_cosine(kf_rotation_order order, double second);

void kfi_quat_from_axis(double degrees, const double axis[3], double q[4]);
/* Angle 0..180 and unit axis; (1, 0, 0) for no rotation. */
void kfi_quat_to_axis(const double q[4], double *degrees, double axis[3]);

/* The segment after a key with its squad points, ready to be evaluated. */
typedef struct kfi_quat_segment {
    double t0, t1;
    double q0[4], q1[4]; /* in one hemisphere */
    double a0[4], b1[4]; /* squad points; of TCB segments only */
    double arc, arc_ab;  /* from q0 to q1, from a0 to b1 */
    double ease0, ease1;
    uint8_t interp; /* KF_STEP, KF_LINEAR or KF_TCB */
} kfi_quat_segment;

void kfi_quat_curve_segment(const kf_quat_curve *curve, size_t i, kfi_quat_segment *segment);
void kfi_quat_segment_value(const kfi_quat_segment *segment, double time, double q[4]);

/* The orientation at a time: slerp, TCB squad with ease, or hold; the end keys hold outside. */
void kfi_quat_curve_value(const kf_quat_curve *curve, double time, double q[4]);
void kfi_quat_curve_values(const kf_quat_curve *curve, const double *times, size_t count, double (*q)[4]);

/* Three Euler curves with common key times that play the same motion within `tolerance` degrees: a key for
 * each quaternion key plus the fewest helper keys (KF_KEY_HELPER). `origin` of every curve tells which
 * quaternion key a key stands for; for helpers, the key whose segment they lie in. Steps stay under 180
 * degrees. Hermite segments. */
bool kfi_euler_from_quat_curve(kf_job *job, const kf_quat_curve *from, kf_rotation_order order,
                               double tolerance, kf_curve to[3]);
/* The other way: a quaternion key wherever one of the curves has a key, plus more where slerp between them
 * would leave the Euler motion by more than `tolerance` degrees. */
bool kfi_quat_from_euler_curves(kf_job *job, const kf_curve from[3], const double rest[3],
                                kf_rotation_order order, double tolerance, kf_quat_curve *to);

/* Whether a track's angles turn it in the same way in both orders: those that turn it at all follow one another alike. */
bool kfi_turns_alike(const kf_track *track, kf_rotation_order from, kf_rotation_order to, double tolerance);
/* A track's three curves of angles, which nothing of an original stands behind, as those that turn it in the same way in another
 * order: within half of `tolerance` (0: what is usual), or sample by sample where there is one on nearly every frame. */
bool kfi_turn_order(kf_job *job, kf_track *track, kf_rotation_order from, kf_rotation_order to, double rate, double tolerance);
bool kfi_note_order(kf_job *job, const char *take, const char *node, kf_rotation_order from, kf_rotation_order to);
/* All that turns the nodes which are no original's, with a note for each track. */
bool kfi_turn_new_nodes(kf_job *job, kf_anim *anim, kf_rotation_order to, double tolerance);

#endif
