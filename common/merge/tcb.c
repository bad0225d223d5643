/* Slopes drawn by hand on a TCB key, as the numbers that make its rule give them. */
#include "internal.h"

#include <math.h>

bool kfi_merge_solve_tcb(kf_curve *curve, size_t i, double in, double out, bool has_in, bool has_out)
{
    const kf_tcb before = curve->tcb[i];
    double size = fmax(fabs(in), fabs(out)) + 1e-9;
    for (int use_continuity = 0; use_continuity < 2; use_continuity++) {
        double x[2] = {(double)before.tension, (double)before.continuity};
        for (int step = 0; step < 40; step++) {
            double at[3][2]; /* slopes at x, and beside it in both directions */
            for (int probe = 0; probe < 3; probe++) {
                curve->tcb[i].tension = (float)(x[0] + (probe == 1 ? 1e-3 : 0));
                curve->tcb[i].continuity = (float)(x[1] + (probe == 2 ? 1e-3 : 0));
                kfi_curve_slopes(curve, i, &at[probe][0], &at[probe][1]);
            }
            double miss_in = has_in ? in - at[0][0] : 0, miss_out = has_out ? out - at[0][1] : 0;
            if (fabs(miss_in) + fabs(miss_out) <= 1e-5 * size && fabs(x[0]) <= 1.0001 && fabs(x[1]) <= 1.0001) {
                curve->tcb[i] = before;
                curve->tcb[i].tension = (float)fmax(-1, fmin(1, x[0]));
                curve->tcb[i].continuity = (float)fmax(-1, fmin(1, x[1]));
                return true;
            }
            double a = (at[1][0] - at[0][0]) * 1e3, b = (at[2][0] - at[0][0]) * 1e3;
            double c = (at[1][1] - at[0][1]) * 1e3, d = (at[2][1] - at[0][1]) * 1e3;
            if (!use_continuity || !has_in || !has_out) { /* least squares in tension alone */
                double norm = (has_in ? a * a : 0) + (has_out ? c * c : 0);
                if (norm < 1e-18)
                    break;
                x[0] += ((has_in ? a * miss_in : 0) + (has_out ? c * miss_out : 0)) / norm;
            } else {
                double det = a * d - b * c;
                if (fabs(det) < 1e-18)
                    break;
                x[0] += (miss_in * d - b * miss_out) / det;
                x[1] += (a * miss_out - miss_in * c) / det;
            }
            if (!(fabs(x[0]) < 4) || !(fabs(x[1]) < 4))
                break;
        }
    }
    curve->tcb[i] = before;
    return false;
}
