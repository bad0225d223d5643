/* Few segments by handles of any length for curves that share their keys: the best known, not a bound. It shares nothing with the
 * library and takes its time.
 *
 * From each key on, the longest stretch that a Bezier segment of every curve tells, on the frames and at the quarters between
 * them, ends at the next key. Lengths are looked for on a grid, then nearer to the best of it; heights by least squares, in which
 * what is missed most gets ever more weight. A segment's ends are on its frames, and no key of the original has to stay.
 *
 * Input: how many curves and frames, the first one not counted; for each curve its tolerance and four values a frame and one more.
 * Output: how many segments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CURVES = 3, MOST_FRAMES = 1000, MOST_POINTS = 400, GRID = 12, ROUNDS = 30 };

typedef struct curve {
    double tolerance, *v; /* four a frame */
} curve;

static double solve(const double w[2], double time)
{
    double low = 0, high = 1;
    for (int i = 0; i < 40; i++) {
        double u = 0.5 * (low + high), m = 1 - u;
        if (3 * u * m * m * w[0] + 3 * u * u * m * (1 - w[1]) + u * u * u < time)
            low = u;
        else
            high = u;
    }
    return 0.5 * (low + high);
}

/* How far the best heights miss with these lengths, from quarter a to quarter b. */
static double miss(const curve *c, int a, int b, const double w[2])
{
    static double f0[MOST_POINTS], f1[MOST_POINTS], y[MOST_POINTS], weight[MOST_POINTS];
    int n = b - a - 1;
    double rise = c->v[b] - c->v[a], best = INFINITY;
    for (int i = 0; i < n; i++) {
        double u = solve(w, (double)(i + 1) / (b - a)), m = 1 - u;
        f0[i] = 3 * u * m * m;
        f1[i] = 3 * u * u * m;
        y[i] = c->v[a + 1 + i] - c->v[a] - rise * u * u * (3 - 2 * u);
        weight[i] = 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double a00 = 1e-14, a01 = 0, a11 = 1e-14, r0 = 0, r1 = 0, worst = 0, sum = 0;
        for (int i = 0; i < n; i++) {
            a00 += weight[i] * f0[i] * f0[i];
            a01 += weight[i] * f0[i] * f1[i];
            a11 += weight[i] * f1[i] * f1[i];
            r0 += weight[i] * f0[i] * y[i];
            r1 += weight[i] * f1[i] * y[i];
        }
        double det = a00 * a11 - a01 * a01, h0 = (r0 * a11 - r1 * a01) / det, h1 = (r1 * a00 - r0 * a01) / det;
        for (int i = 0; i < n; i++) {
            double off = fabs(y[i] - h0 * f0[i] - h1 * f1[i]);
            worst = fmax(worst, off);
            weight[i] *= off + 1e-15;
            sum += weight[i];
        }
        for (int i = 0; i < n; i++)
            weight[i] *= n / sum;
        best = fmin(best, worst);
        if (best <= c->tolerance || worst < 1e-12 || (round == 4 && best > 50 * c->tolerance))
            break;
    }
    return best;
}

static int tells(const curve *c, int a, int b)
{
    double at[2] = {1.0 / 3, 1.0 / 3}, best = miss(c, a, b, at);
    for (int i = 0; i <= GRID && best > c->tolerance; i++)
        for (int k = 0; k <= GRID && best > c->tolerance; k++) {
            double w[2] = {0.01 + 0.98 * i / GRID, 0.01 + 0.98 * k / GRID}, now = miss(c, a, b, w);
            if (now < best) {
                best = now;
                at[0] = w[0];
                at[1] = w[1];
            }
        }
    for (double step = 0.04; step > 1e-4 && best > c->tolerance; step *= 0.5)
        for (int better = 1; better && best > c->tolerance;) {
            better = 0;
            for (int i = 0; i < 9 && best > c->tolerance; i++) {
                double w[2] = {fmin(fmax(at[0] + step * (i % 3 - 1), 0), 1), fmin(fmax(at[1] + step * (i / 3 - 1), 0), 1)};
                double now = miss(c, a, b, w);
                if (now < best) {
                    best = now;
                    at[0] = w[0];
                    at[1] = w[1];
                    better = 1;
                }
            }
        }
    return best <= c->tolerance;
}

int main(void)
{
    static double values[MOST_CURVES][4 * MOST_FRAMES + 1];
    curve curves[MOST_CURVES];
    int count, frames, segments = 0;
    if (scanf("%d %d", &count, &frames) != 2 || count < 1 || count > MOST_CURVES || frames < 1 || frames > MOST_FRAMES)
        return 1;
    for (int c = 0; c < count; c++) {
        curves[c].v = values[c];
        if (scanf("%lf", &curves[c].tolerance) != 1)
            return 1;
        for (int i = 0; i <= 4 * frames; i++)
            if (scanf("%lf", &values[c][i]) != 1)
                return 1;
    }
    for (int a = 0; a < frames; segments++) {
        int b = a + 1, all = 1;
        while (all && b < frames && 4 * (b + 1 - a) < MOST_POINTS) {
            for (int c = 0; c < count && all; c++)
                all = tells(&curves[c], 4 * a, 4 * (b + 1));
            b += all;
        }
        a = b;
    }
    printf("%d\n", segments);
    return 0;
}
