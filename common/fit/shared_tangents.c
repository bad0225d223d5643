/* Tangents of a motion in three directions, in tolerances. */
#include "shared_tangents.h"

#include <math.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void kfi_scaled(const double from[3], double by, double to[3])
{
    for (int c = 0; c < 3; c++)
        to[c] = from[c] * by;
}

void kfi_end_tangent(bool mirrored, kf_tcb tcb, double sign, const double rise[3], const double beside[3], double level[3])
{
    double own = 1.0 + sign * (double)tcb.continuity * (double)tcb.bias;
    for (int c = 0; c < 3; c++)
        level[c] = mirrored ? own * rise[c] : 0.5 * (3.0 * rise[c] - beside[c]);
}

float kfi_tension_for(const double level[3], const double wanted[3], float was)
{
    double size = dot(level, level), tension = size > 0.0 ? 1.0 - dot(level, wanted) / size : 0.0;
    float now = (float)fmin(fmax(tension, -1.0), 1.0);
    return fabs((double)now - (double)was) * sqrt(size) <= 0.1 ? was : now;
}

bool kfi_hopeless(const double is[3], const double wanted[3], double stress, double most)
{
    for (int c = 0; c < 3 && stress >= 1.0; c++)
        if (fabs(is[c] - wanted[c]) > most)
            return true;
    return false;
}
