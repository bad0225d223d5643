/* How far a motion may be off: as much as was asked for; else 0.01 degrees, or 1e-4 of a curve's range and 1e-4 at least. */
#ifndef KFI_TOLERANCE_H
#define KFI_TOLERANCE_H

#include "anim.h"

#include <math.h>

/* `asked` 0: nothing was asked for. */
static inline double kfi_tolerated_angle(double asked)
{
    return asked > 0 ? asked : 0.01;
}

static inline double kfi_tolerated_range(double asked, double low, double high)
{
    return asked > 0 ? asked : 1e-4 * fmax(high - low, 1.0);
}

/* Of a curve, whose range is that of its keys. */
static inline double kfi_tolerated(double asked, kf_channel channel, const kf_curve *curve)
{
    if (asked > 0 || channel == KF_ROTATION)
        return kfi_tolerated_angle(asked);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < curve->count; i++) {
        low = fmin(low, curve->keys[i].value);
        high = fmax(high, curve->keys[i].value);
    }
    return kfi_tolerated_range(asked, low, high);
}

/* A program that drops samples it thinks needless drops those within 0.001 of their size (0.1 at the least) of the last
 * one kept and of the one before; the line between two kept samples then lies within three times that of what was
 * dropped: once for the sample, twice for the kept one after it. */
static inline double kfi_thinning(double a, double b)
{
    double size = (a < 0 ? -a : a) + (b < 0 ? -b : b);
    return 0.003 * (size > 0.1 ? size : 0.1);
}

#endif
