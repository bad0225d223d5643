#include "rotation.h"

#include <math.h>
#include <string.h>

static const double DEGREES = 57.295779513082320877; /* in a radian */

/* ---- quaternions ---- */

void kfi_quat_multiply(const double a[4], const double b[4], double out[4])
{
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    out[0] = w;
    out[1] = x;
    out[2] = y;
    out[3] = z;
}

double kfi_quat_dot(const double a[4], const double b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* What has no length, or one that is no number, becomes no rotation. */
void kfi_quat_normalize(double q[4])
{
    double most = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
    if (!(most > 0.0) || !isfinite(q[0] + q[1] + q[2] + q[3])) {
        q[0] = 1.0;
        q[1] = q[2] = q[3] = 0.0;
        return;
    }
    double length = most * sqrt(q[0] / most * (q[0] / most) + q[1] / most * (q[1] / most) +
                                q[2] / most * (q[2] / most) + q[3] / most * (q[3] / most));
    for (int i = 0; i < 4; i++)
        q[i] /= length;
}

void kfi_quat_align(double q[4], const double like[4])
{
    if (q[0] * like[0] + q[1] * like[1] + q[2] * like[2] + q[3] * like[3] < 0)
        for (int c = 0; c < 4; c++)
            q[c] = -q[c];
}

/* By the chord to the nearer of b and -b, which stays exact for small angles where the cosine does not. */
double kfi_quat_angle(const double a[4], const double b[4])
{
    double minus = 0.0, plus = 0.0;
    for (int i = 0; i < 4; i++) {
        minus += (a[i] - b[i]) * (a[i] - b[i]);
        plus += (a[i] + b[i]) * (a[i] + b[i]);
    }
    double near = fmin(minus, plus), far = fmax(minus, plus);
    return 4.0 * atan2(sqrt(near), sqrt(far)) * DEGREES;
}

double kfi_quat_arc(const double a[4], const double b[4])
{
    double minus = 0.0, plus = 0.0;
    for (int i = 0; i < 4; i++) {
        minus += (a[i] - b[i]) * (a[i] - b[i]);
        plus += (a[i] + b[i]) * (a[i] + b[i]);
    }
    return 2.0 * atan2(sqrt(minus), sqrt(plus));
}

/* From a to b as they stand, without choosing the nearer sign. */
void kfi_quat_slerp_long(const double a[4], const double b[4], double u, double out[4])
{
    kfi_quat_slerp_arc(a, b, kfi_quat_arc(a, b), u, out);
}

void kfi_quat_slerp_arc(const double a[4], const double b[4], double angle, double u, double out[4])
{
    double sine = sin(angle), ka = 1.0 - u, kb = u;
    if (sine > 1e-9) {
        ka = sin((1.0 - u) * angle) / sine;
        kb = sin(u * angle) / sine;
    }
    for (int i = 0; i < 4; i++)
        out[i] = ka * a[i] + kb * b[i];
    kfi_quat_normalize(out);
}

void kfi_quat_slerp(const double a[4], const double b[4], double u, double out[4])
{
    double near[4];
    double sign = kfi_quat_dot(a, b) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++)
        near[i] = sign * b[i];
    kfi_quat_slerp_long(a, near, u, out);
}

void kfi_quat_from_axis(double degrees, const double axis[3], double q[4])
{
    double most = fmax(fabs(axis[0]), fmax(fabs(axis[1]), fabs(axis[2])));
    double half = 0.5 * degrees / DEGREES;
    if (!(most > 0.0) || !isfinite(most) || !isfinite(degrees)) {
        q[0] = 1.0;
        q[1] = q[2] = q[3] = 0.0;
        return;
    }
    double x = axis[0] / most, y = axis[1] / most, z = axis[2] / most,
           scale = sin(half) / sqrt(x * x + y * y + z * z);
    q[0] = cos(half);
    q[1] = scale * x;
    q[2] = scale * y;
    q[3] = scale * z;
}

void kfi_quat_to_axis(const double q[4], double *degrees, double axis[3])
{
    double sign = q[0] < 0.0 ? -1.0 : 1.0;
    double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    *degrees = 2.0 * atan2(sine, fabs(q[0])) * DEGREES;
    axis[0] = 1.0;
    axis[1] = axis[2] = 0.0;
    if (sine > 0.0)
        for (int i = 0; i < 3; i++)
            axis[i] = sign * q[i + 1] / sine;
}

/* ---- Euler angles ---- */

/* Which axis is applied first, second and third; and whether that is a cyclic order. */
static const uint8_t AXES[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
static const int8_t PARITY[6] = {1, -1, 1, -1, 1, -1};

int kfi_first_axis(kf_rotation_order order)
{
    return AXES[(unsigned)order < 6 ? order : KF_XYZ][0];
}

int kfi_second_axis(kf_rotation_order order)
{
    return AXES[(unsigned)order < 6 ? order : KF_XYZ][1];
}

double kfi_euler_cosine(kf_rotation_order order, double second)
{
    return -PARITY[(unsigned)order < 6 ? order : KF_XYZ] * sin(second / DEGREES);
}

/* Less whole double turns, after which a quaternion is the same. Exact, like fmod, which takes its time. */
static double within_turns(double degrees)
{
    if (fabs(degrees) < 720.0)
        return degrees;
    return fabs(degrees) < 1e12 ? degrees - 720.0 * trunc(degrees / 720.0) : fmod(degrees, 720.0);
}

void kfi_quat_from_euler(const double degrees[3], kf_rotation_order order, double q[4])
{
    const uint8_t *axis = AXES[(unsigned)order < 6 ? order : KF_XYZ];
    double v[3] = {0.0, 0.0, 0.0}, w = 1.0;
    for (int i = 0; i < 3; i++) { /* times a turn about one axis, two of whose four numbers are 0 */
        int x = axis[i], y = (x + 1) % 3, z = (x + 2) % 3;
        double half = 0.5 * within_turns(degrees[x]) / DEGREES, c = cos(half), s = sin(half);
        const double was[4] = {w, v[x], v[y], v[z]};
        w = c * was[0] - s * was[1];
        v[x] = c * was[1] + s * was[0];
        v[y] = c * was[2] - s * was[3];
        v[z] = c * was[3] + s * was[2];
    }
    q[0] = w;
    memcpy(q + 1, v, sizeof v);
}

/* The angle nearest to `near` among angle + n * 360. */
static double unroll(double angle, double near)
{
    return angle + 360.0 * nearbyint((near - angle) / 360.0);
}

static double distance(const double a[3], const double b[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* With first, second and third angle f, s, t and e = +1 for cyclic orders, q turned by 90 degrees about the
 * second axis has the two halves (cos(s'/2) e^(i(t+ef)/2)) and (sin(s'/2) e^(i(t-ef)/2)), s' = s + 90: sum
 * and difference of the outer angles come apart, and at gimbal lock, where one half vanishes, the other is
 * still exact. */
void kfi_quat_to_euler_within(const double q[4], kf_rotation_order order, const double near[3], double slack,
                              double degrees[3])
{
    unsigned which = (unsigned)order < 6 ? (unsigned)order : KF_XYZ;
    const uint8_t *axis = AXES[which];
    double e = PARITY[which], qi = q[1 + axis[0]], qj = q[1 + axis[1]], qk = e * q[1 + axis[2]];
    double a = q[0] - qj, b = qi + qk, c = qj + q[0], d = qk - qi;
    double low = hypot(a, b), high = hypot(c, d), whole = hypot(low, high);
    double n0 = near[axis[0]], n2 = e * near[axis[2]];
    /* Sum and difference of the outer angles, in degrees; at its lock each could be anything and stays as it
     * was. To turn a half of size `lock` the wrong way is an error of at most four times that. */
    double lock = slack / 4.0 / DEGREES;
    double sum = low > lock * whole ? 2.0 * atan2(b, a) * DEGREES : n2 + n0;
    double difference = high > lock * whole ? 2.0 * atan2(d, c) * DEGREES : n2 - n0;
    double first[3], second[3];
    first[axis[0]] = 0.5 * (sum - difference);
    first[axis[1]] = 2.0 * atan2(high, low) * DEGREES - 90.0;
    first[axis[2]] = e * 0.5 * (sum + difference);
    second[axis[0]] = first[axis[0]] + 180.0;
    second[axis[1]] = 180.0 - first[axis[1]];
    second[axis[2]] = first[axis[2]] + 180.0;
    for (int i = 0; i < 3; i++) {
        /* NOLINTNEXTLINE: the axes are all three */
        first[i] = unroll(first[i], near[i]);
        second[i] = unroll(second[i], near[i]);
    }
    memcpy(degrees, distance(first, near) <= distance(second, near) ? first : second, sizeof first);
}

/* A lock that a file states in 32-bit floats is off by some 1e-7, which decides nothing. */
void kfi_quat_to_euler(const double q[4], kf_rotation_order order, const double near[3], double degrees[3])
{
    kfi_quat_to_euler_within(q, order, near, 4.0 * 2e-7 * DEGREES, degrees);
}
