/* A segment between two keys turns twice at the most. Where it does, it may not swing out: beyond what the samples around tell of
 * the curve between the two that it is between. Nor may it just beside its keys, where short handles make it turn sharply. */
#include "internal.h"

/* What is known of interval i: its samples, quarters and middle. */
static void known_of(const kfi_samples *s, size_t i, double v[5])
{
    const double known[5] = {s->v[i], s->quarter[i][0], s->middle[i], s->quarter[i][1], s->v[i + 1]};
    for (int k = 0; k < 5; k++)
        v[k] = known[k];
}

/* The polynomial through what is known at first..first + count - 1 quarters, at x quarters. */
static double through(const double v[5], int first, int count, double x)
{
    double d[5], value;
    for (int k = 0; k < count; k++)
        d[k] = v[first + k];
    for (int level = 1; level < count; level++)
        for (int k = count - 1; k >= level; k--)
            d[k] = (d[k] - d[k - 1]) / level;
    value = d[count - 1];
    for (int k = count - 2; k >= 0; k--)
        value = d[k] + value * (x - first - k);
    return value;
}

/* How little a cubic through five values in a row says of them. */
static double roughness(const double v[5])
{
    return fabs(v[0] - 4.0 * v[1] + 6.0 * v[2] - 4.0 * v[3] + v[4]);
}

/* The same with the eighths between them, if an edit runs more evenly than what it was added to: that is known there. How many. */
static int known_closely(const kfi_samples *s, size_t i, double v[9])
{
    double known[5], edit[5];
    known_of(s, i, known);
    for (int k = 0; s->was && k < 5; k++)
        edit[k] = known[k] - (k < 4 ? s->was[i][k] : s->was[i + 1][0]);
    if (!s->was || !(roughness(edit) < roughness(known))) {
        for (int k = 0; k < 5; k++)
            v[k] = known[k];
        return 5;
    }
    for (int k = 0; k < 9; k++)
        v[k] = k % 2 ? s->eighth[i][k / 2] + through(edit, 0, 5, 0.5 * k) : known[k / 2];
    return 9;
}

/* The highest and the lowest that the curve is between samples i and i + 1: of parabolas through what is known there. */
static void range_between(const kfi_samples *s, size_t i, double *low, double *high)
{
    double v[9];
    int last = known_closely(s, i, v) - 1;
    *low = fmin(v[0], v[last]);
    *high = fmax(v[0], v[last]);
    for (int k = 1; k < last; k++) {
        double slope = 0.5 * (v[k + 1] - v[k - 1]), bend = v[k + 1] - 2.0 * v[k] + v[k - 1];
        double top = fabs(slope) < fabs(bend) ? v[k] - 0.5 * slope * slope / bend : v[k];
        *low = fmin(*low, fmin(v[k], top));
        *high = fmax(*high, fmax(v[k], top));
    }
}

/* The interval in which the segment has come as far as u. */
static size_t interval_at(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment, double u)
{
    double length = segment->t1 - segment->t0, m = 1.0 - u;
    double time = segment->t0 + 3.0 * m * u * (m * segment->h0.dt + u * (length + segment->h1.dt)) + u * u * u * length;
    while (b - a > 1) {
        size_t middle = a + (b - a) / 2;
        bool behind = segment->shape == KFI_BEZIER
                          ? s->t[middle] > time
                          : kfi_ease((s->t[middle] - segment->t0) / length, segment->ease0, segment->ease1) > u;
        if (behind)
            b = middle;
        else
            a = middle;
    }
    return a;
}

static bool extreme_fits(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment, double u, bool doubted)
{
    if (!(u > 0.0 && u < 1.0))
        return true;
    double m = 1.0 - u, low, high;
    double value = segment->v0 + 3.0 * m * m * u * segment->h0.dv + 3.0 * m * u * u * (segment->v1 - segment->v0 + segment->h1.dv) +
                   u * u * u * (segment->v1 - segment->v0);
    size_t i = interval_at(s, a, b, segment, u);
    if (isnan(s->quarter[i][0]))
        return true;
    range_between(s, i, &low, &high);
    double most = s->tolerance + (doubted ? s->doubt[i] : 0.0);
    return value >= low - most && value <= high + most;
}

bool kfi_extremes_fit(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment, bool doubted)
{
    double d0 = segment->h0.dv, d2 = -segment->h1.dv, d1 = segment->v1 - segment->v0 - d0 - d2;
    double square = d0 - 2.0 * d1 + d2, half = d1 - d0, root = half * half - square * d0;
    if (!(root >= 0.0))
        return true;
    /* Without cancellation, where the square all but vanishes. */
    double sum = -(half + copysign(sqrt(root), half));
    return (square == 0.0 || extreme_fits(s, a, b, segment, sum / square, doubted)) &&
           (sum == 0.0 || extreme_fits(s, a, b, segment, d0 / sum, doubted));
}

bool kfi_beside_keys_fit(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment)
{
    for (int side = 0; side < 2; side++) {
        size_t i = side ? b - 1 : a;
        double v[5];
        if (isnan(s->quarter[i][0]))
            continue;
        known_of(s, i, v);
        for (int k = 1; k < 4; k++) {
            double x = side ? 4.0 - 0.25 * k : 0.25 * k, time = s->t[i] + 0.25 * x * (s->t[i + 1] - s->t[i]);
            bool told = s->before && s->told[i];
            double value = told ? kfi_curve_value(s->before, time, 0.0) : through(v, 0, 5, x);
            double doubt = told ? 0.0 : fabs(value - through(v, side, 4, x));
            if (!(fabs(kfi_segment_value(segment, time) - value) <= kfi_within(s, i) + doubt))
                return false;
        }
    }
    return true;
}
