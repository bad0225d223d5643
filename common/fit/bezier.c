/* Handles of a 2-D Bezier through samples. For given lengths the heights follow by least squares; better
 * lengths are searched for from the ones to begin with and from thirds. */
#include "internal.h"

/* What the curve has to meet inside a stretch from sample a on: samples, and the middles between them that are known. */
static bool look(const kfi_samples *s, size_t a, size_t number, double *time, double *value)
{
    size_t i = a + number / 2;
    bool sample = number % 2 == 0;
    *time = sample ? s->t[i] : 0.5 * (s->t[i] + s->t[i + 1]);
    *value = sample ? s->v[i] : s->middle[i];
    return sample || kfi_middle_known(s, i);
}

/* Of two lengths (shares of the segment): the heights, and the mean squared miss. Four unknowns do not need a
 * thousand samples: some `most` of them are looked at. */
static double heights(const kfi_samples *s, size_t a, size_t b, const double w[2], size_t most, double dv[2])
{
    double length = s->t[b] - s->t[a], v0 = s->v[a], rise = s->v[b] - v0;
    double pull = 1e-9, a00 = pull, a01 = 0.0, a11 = pull, r0 = pull * rise * w[0], r1 = -pull * rise * w[1],
           yy = 0.0;
    size_t stride = 1 + 2 * (b - a) / most, count = 0;
    for (size_t i = 1; i < 2 * (b - a); i += stride) {
        double time, value;
        if (!look(s, a, i, &time, &value))
            continue;
        double u = kfi_bezier_solve(w[0], w[1], (time - s->t[a]) / length), n = 1.0 - u;
        double f0 = 3.0 * u * n * n, f1 = 3.0 * u * u * n, y = value - v0 - rise * u * u * (3.0 - 2.0 * u);
        count++;
        a00 += f0 * f0;
        a01 += f0 * f1;
        a11 += f1 * f1;
        r0 += f0 * y;
        r1 += f1 * y;
        yy += y * y;
    }
    double det = a00 * a11 - a01 * a01;
    dv[0] = (r0 * a11 - r1 * a01) / det;
    dv[1] = (r1 * a00 - r0 * a01) / det;
    return fmax(yy - dv[0] * r0 - dv[1] * r1, 0.0) / (double)(count ? count : 1);
}

static bool try_lengths(const kfi_samples *s, size_t a, size_t b, const double w[2], kf_handle h[2])
{
    double length = s->t[b] - s->t[a], dv[2];
    heights(s, a, b, w, 256, dv);
    kf_handle h0 = {w[0] * length, dv[0]}, h1 = {-w[1] * length, dv[1]};
    kfi_segment segment = {s->t[a], s->t[b], s->v[a], s->v[b], h0, h1, 0.0, 0.0, KFI_BEZIER};
    if (!kfi_fit_segment(s, a, b, &segment, true))
        return false;
    h[0] = h0;
    h[1] = h1;
    return true;
}

/* ---- lengths and heights together ---- */

enum { UNKNOWNS = 4 }; /* two lengths, two heights */

typedef struct normal {
    double a[UNKNOWNS][UNKNOWNS], r[UNKNOWNS], sum; /* sum: of squared misses, per sample */
} normal;

/* The normal equations at x = (w0, w1, dv0, dv1). A length moves time, and with it the parameter at which a
 * sample lies: du/dw = -(dtime/dw) / (dtime/du). */
static void linearize(const kfi_samples *s, size_t a, size_t b, const double x[UNKNOWNS], normal *n)
{
    double length = s->t[b] - s->t[a], rise = s->v[b] - s->v[a];
    size_t stride = 1 + 2 * (b - a) / 32, count = 0;
    *n = (normal){0};
    for (size_t i = 1; i < 2 * (b - a); i += stride) {
        double time, value;
        if (!look(s, a, i, &time, &value))
            continue;
        double u = kfi_bezier_solve(x[0], x[1], (time - s->t[a]) / length), m = 1.0 - u;
        count++;
        double f0 = 3.0 * u * m * m, f1 = 3.0 * u * u * m, f2 = u * u * u;
        double d0 = 3.0 * m * (m - 2.0 * u), d1 = 3.0 * u * (2.0 * m - u), d2 = 3.0 * u * u;
        double rate = fmax(d0 * x[0] + d1 * (1.0 - x[1]) + d2, 1e-6);
        double slope = (d0 * x[2] + d1 * (rise + x[3]) + d2 * rise) / rate;
        double miss = value - s->v[a] - (f0 * x[2] + f1 * (rise + x[3]) + f2 * rise);
        const double g[UNKNOWNS] = {-slope * f0, slope * f1, f0, f1};
        for (int r = 0; r < UNKNOWNS; r++) {
            for (int c = 0; c <= r; c++)
                n->a[r][c] += g[r] * g[c];
            n->r[r] += g[r] * miss;
        }
        n->sum += miss * miss;
    }
    n->sum /= (double)(count ? count : 1);
}

/* Cholesky's way; false if the matrix is not positive. `damping` makes it so and steps short. */
static bool step_of(const normal *n, double damping, double step[UNKNOWNS])
{
    double l[UNKNOWNS][UNKNOWNS] = {{0}}, y[UNKNOWNS];
    for (int r = 0; r < UNKNOWNS; r++)
        for (int c = 0; c <= r; c++) {
            double sum = n->a[r][c] + (r == c ? damping * n->a[r][r] : 0.0);
            for (int k = 0; k < c; k++)
                sum -= l[r][k] * l[c][k];
            if (r == c && !(sum > 0.0))
                return false;
            l[r][c] = r == c ? sqrt(sum) : sum / l[c][c];
        }
    for (int r = 0; r < UNKNOWNS; r++) {
        y[r] = n->r[r];
        for (int k = 0; k < r; k++)
            y[r] -= l[r][k] * y[k];
        y[r] /= l[r][r];
    }
    for (int r = UNKNOWNS; r-- > 0;) {
        step[r] = y[r];
        for (int k = r + 1; k < UNKNOWNS; k++)
            step[r] -= l[k][r] * step[k];
        step[r] /= l[r][r];
    }
    return true;
}

/* Levenberg and Marquardt from the lengths w on. */
static bool search(const kfi_samples *s, size_t a, size_t b, const double w[2], kf_handle h[2])
{
    double limit = s->tolerance * s->tolerance, x[UNKNOWNS] = {w[0], w[1], 0.0, 0.0}, damping = 1e-3;
    heights(s, a, b, w, 32, &x[2]);
    normal n, next;
    linearize(s, a, b, x, &n);
    double tried = INFINITY;
    for (int round = 0; round < 24; round++) {
        double step[UNKNOWNS], at[UNKNOWNS];
        if (!step_of(&n, damping, step))
            return false;
        for (int i = 0; i < UNKNOWNS; i++)
            at[i] = i < 2 ? fmin(fmax(x[i] + fmin(fmax(step[i], -0.2), 0.2), 0.01), 0.99) : x[i] + step[i];
        heights(s, a, b, at, 32, &at[2]);
        linearize(s, a, b, at, &next);
        if (!(next.sum < n.sum)) {
            damping *= 8.0;
            if (damping > 1e4)
                break;
            continue;
        }
        bool slow = next.sum > 0.98 * n.sum;
        n = next;
        damping *= 0.2;
        for (int i = 0; i < UNKNOWNS; i++)
            x[i] = at[i];
        if (n.sum <= 0.4 * limit && n.sum < 0.25 * tried) {
            tried = n.sum;
            if (try_lengths(s, a, b, x, h))
                return true;
        }
        if (slow || (round > 6 && n.sum > 100.0 * limit))
            break;
    }
    return n.sum <= limit && try_lengths(s, a, b, x, h);
}

bool kfi_fit_bezier(const kfi_samples *s, size_t a, size_t b, kf_handle h[2])
{
    double length = s->t[b] - s->t[a], third = 1.0 / 3.0;
    double own[2] = {fmin(fmax(h[0].dt / length, 0.0), 1.0), fmin(fmax(-h[1].dt / length, 0.0), 1.0)};
    bool thirds = fabs(own[0] - third) + fabs(own[1] - third) < 0.02;
    if (try_lengths(s, a, b, own, h) || (!thirds && try_lengths(s, a, b, (double[2]){third, third}, h)))
        return true;
    size_t looks = b - a - 1;
    for (size_t i = a; i < b; i++)
        looks += kfi_middle_known(s, i);
    if (looks < 5) /* too few to tell lengths from chance */
        return false;
    double w[2] = {fmin(fmax(own[0], 0.01), 0.99), fmin(fmax(own[1], 0.01), 0.99)};
    return search(s, a, b, w, h) || (!thirds && search(s, a, b, (double[2]){third, third}, h));
}
