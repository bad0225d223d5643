/* Handles of a 2-D Bezier through samples. For given lengths the heights follow by least squares; better lengths are searched
 * for from the ones to begin with and from thirds. The worst miss counts, not the mean: where that is nearly good enough, what
 * is missed most is given ever more weight. */
#include "internal.h"

enum { MOST_LOOKS = 64, UNKNOWNS = 4 }; /* unknown: two lengths, two heights */

/* What the curve has to meet inside a stretch: samples, and the middles between them as far as they are known. Four unknowns do
 * not need a thousand of them. */
typedef struct looks {
    size_t count;
    double rise;
    double longest;            /* both lengths together */
    double time[MOST_LOOKS];   /* as a share of the stretch */
    double value[MOST_LOOKS];  /* above its start */
    double within[MOST_LOOKS]; /* how far off it may be */
    double weight[MOST_LOOKS];
    double u[MOST_LOOKS]; /* the parameter at which each lies, for the lengths that were placed last */
} looks;

/* A wide range knows nothing. */
static void look(looks *l, double time, double low, double high, double widest)
{
    if (l->count == MOST_LOOKS || !(high > low) || high - low > widest)
        return;
    l->time[l->count] = time;
    l->value[l->count] = 0.5 * (low + high);
    l->within[l->count] = 0.5 * (high - low);
    l->weight[l->count++] = 1.0;
}

static void gather(const kfi_samples *s, size_t a, size_t b, looks *l)
{
    double length = s->t[b] - s->t[a], v0 = s->v[a], widest = 1e3 * s->tolerance;
    size_t stride = 1 + 2 * (b - a) / MOST_LOOKS;
    stride += stride > 1 && stride % 2 == 0; /* samples and middles in turn */
    bool quarters = 4 * (b - a) <= MOST_LOOKS, few = b - a <= 4;
    l->count = 0;
    l->longest = s->parted ? 1.0 - 1e-9 : 2.0; /* or rounding makes them pass */
    l->rise = s->v[b] - v0;
    for (size_t k = 1; k < 2 * (b - a); k += stride) {
        size_t i = a + k / 2;
        double low = s->v[i] - s->tolerance, high = s->v[i] + s->tolerance, gap = s->t[i + 1] - s->t[i], from = s->t[i] - s->t[a];
        if (k % 2 == 0) {
            look(l, from / length, low - v0, high - v0, widest);
            continue;
        }
        kfi_middle_range(s, i, &low, &high);
        look(l, (from + 0.5 * gap) / length, low - v0, high - v0, widest);
        double within = kfi_within(s, i);
        for (int q = 0; quarters && (few || s->told[i]) && !isnan(s->quarter[i][0]) && q < 2; q++)
            look(l, (from + (0.25 + 0.5 * q) * gap) / length, s->quarter[i][q] - within - v0, s->quarter[i][q] + within - v0, widest);
        for (int q = 0; b - a == 1 && s->was && s->told[i] && q < 4; q++)
            look(l, (from + (0.125 + 0.25 * q) * gap) / length, s->eighth[i][q] - within - v0, s->eighth[i][q] + within - v0, widest);
    }
}

/* Two lengths (shares of the segment) as long as they may be together. */
static void shorten(const looks *l, double w[2])
{
    double by = l->longest / fmax(l->longest, w[0] + w[1]);
    w[0] *= by;
    w[1] *= by;
}

/* Of two lengths: where the looks lie. */
static void place(looks *l, const double w[2])
{
    for (size_t i = 0; i < l->count; i++)
        l->u[i] = kfi_bezier_solve(w[0], w[1], l->time[i]);
}

/* And the heights. */
static void heights(const looks *l, const double w[2], double dv[2])
{
    double pull = 1e-9, a00 = pull, a01 = 0.0, a11 = pull, r0 = pull * l->rise * w[0], r1 = -pull * l->rise * w[1], scale = 0.0;
    for (size_t i = 0; i < l->count; i++)
        scale = fmax(scale, l->within[i]);
    for (size_t i = 0; i < l->count; i++) {
        double u = l->u[i], n = 1.0 - u, by = scale / l->within[i];
        double f0 = 3.0 * u * n * n, f1 = 3.0 * u * u * n, y = l->value[i] - l->rise * u * u * (3.0 - 2.0 * u);
        double weight = l->weight[i] * by * by;
        a00 += weight * f0 * f0;
        a01 += weight * f0 * f1;
        a11 += weight * f1 * f1;
        r0 += weight * f0 * y;
        r1 += weight * f1 * y;
    }
    double det = a00 * a11 - a01 * a01;
    dv[0] = (r0 * a11 - r1 * a01) / det;
    dv[1] = (r1 * a00 - r0 * a01) / det;
}

static bool try_handles(const kfi_samples *s, size_t a, size_t b, const double x[UNKNOWNS], kf_handle h[2])
{
    double length = s->t[b] - s->t[a];
    kf_handle h0 = {x[0] * length, x[2]}, h1 = {-x[1] * length, x[3]};
    kfi_segment segment = {s->t[a], s->t[b], s->v[a], s->v[b], h0, h1, 0.0, 0.0, KFI_BEZIER};
    if (!kfi_fit_segment(s, a, b, &segment, true))
        return false;
    h[0] = h0;
    h[1] = h1;
    return true;
}

static bool try_lengths(const kfi_samples *s, size_t a, size_t b, looks *l, const double w[2], kf_handle h[2])
{
    double x[UNKNOWNS] = {w[0], w[1], 0.0, 0.0};
    place(l, w);
    heights(l, w, &x[2]);
    return try_handles(s, a, b, x, h);
}

/* ---- lengths and heights together ---- */

typedef struct normal {
    double a[UNKNOWNS][UNKNOWNS], r[UNKNOWNS];
    double sum;   /* of squared misses in units of what they may be, on the average */
    double worst; /* of them */
    double miss[MOST_LOOKS];
} normal;

/* The normal equations at x = (w0, w1, dv0, dv1), whose lengths were placed. A length moves time, and with it the parameter at which a
 * sample lies: du/dw = -(dtime/dw) / (dtime/du). */
static void linearize(const looks *l, const double x[UNKNOWNS], normal *n)
{
    double rise = l->rise, weights = 0.0;
    *n = (normal){.sum = 0.0};
    for (size_t i = 0; i < l->count; i++) {
        double u = l->u[i], m = 1.0 - u;
        double f0 = 3.0 * u * m * m, f1 = 3.0 * u * u * m, f2 = u * u * u;
        double d0 = 3.0 * m * (m - 2.0 * u), d1 = 3.0 * u * (2.0 * m - u), d2 = 3.0 * u * u;
        double rate = fmax(d0 * x[0] + d1 * (1.0 - x[1]) + d2, 1e-6);
        double slope = (d0 * x[2] + d1 * (rise + x[3]) + d2 * rise) / rate;
        double miss = (l->value[i] - (f0 * x[2] + f1 * (rise + x[3]) + f2 * rise)) / l->within[i];
        const double g[UNKNOWNS] = {-slope * f0, slope * f1, f0, f1};
        double weight = l->weight[i] / l->within[i];
        for (int r = 0; r < UNKNOWNS; r++) {
            for (int c = 0; c <= r; c++)
                n->a[r][c] += weight * g[r] * g[c] / l->within[i];
            n->r[r] += weight * g[r] * miss;
        }
        n->miss[i] = fabs(miss);
        n->worst = fmax(n->worst, n->miss[i]);
        n->sum += l->weight[i] * miss * miss;
        weights += l->weight[i];
    }
    n->sum /= weights > 0.0 ? weights : 1.0;
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

/* One step of Levenberg and Marquardt's. */
static bool improve(looks *l, double x[UNKNOWNS], normal *n, double *damping)
{
    double step[UNKNOWNS], at[UNKNOWNS];
    if (!step_of(n, *damping, step)) {
        *damping *= 8.0;
        return false;
    }
    for (int i = 0; i < UNKNOWNS; i++)
        at[i] = i < 2 ? fmin(fmax(x[i] + fmin(fmax(step[i], -0.2), 0.2), 0.01), 0.99) : x[i] + step[i];
    shorten(l, at);
    normal next;
    place(l, at);
    heights(l, at, &at[2]);
    linearize(l, at, &next);
    if (!(next.sum < n->sum)) {
        *damping *= 8.0;
        return false;
    }
    *damping *= 0.2;
    *n = next;
    for (int i = 0; i < UNKNOWNS; i++)
        x[i] = at[i];
    return true;
}

/* From the lengths w on: least squares first, then the worst. */
static bool search(const kfi_samples *s, size_t a, size_t b, looks *l, const double w[2], kf_handle h[2])
{
    enum { ROUNDS = 24, SQUARES = 10, TRIES = 3 };
    const double hopeless = 40.0, near = 2.5;
    double x[UNKNOWNS] = {w[0], w[1], 0.0, 0.0}, damping = 1e-3;
    normal n;
    for (size_t i = 0; i < l->count; i++)
        l->weight[i] = 1.0;
    place(l, w);
    heights(l, w, &x[2]);
    linearize(l, x, &n);
    int tries = 0;
    bool settled = false;
    for (int round = 0; round < ROUNDS && tries < TRIES; round++) {
        double before = n.sum;
        bool better = improve(l, x, &n, &damping);
        if (better && n.worst <= 1.0) {
            tries++;
            if (try_handles(s, a, b, x, h))
                return true;
        }
        settled = settled || round >= SQUARES || damping > 1e4 || (better && n.sum > 0.9 * before);
        if (!settled && round > 3 && n.sum > hopeless)
            return false;
        if (!settled || (!better && damping <= 1e4))
            continue;
        if (n.worst > near)
            return false;
        for (size_t i = 0; i < l->count; i++)
            l->weight[i] *= 0.1 + n.miss[i] / n.worst;
        damping = fmin(damping, 1e-2);
        if (!better) /* others were tried in vain */
            place(l, x);
        linearize(l, x, &n);
    }
    return false;
}

bool kfi_fit_bezier(const kfi_samples *s, size_t a, size_t b, kf_handle h[2])
{
    double length = s->t[b] - s->t[a], third = 1.0 / 3.0;
    double own[2] = {fmin(fmax(h[0].dt / length, 0.0), 1.0), fmin(fmax(-h[1].dt / length, 0.0), 1.0)};
    bool thirds = fabs(own[0] - third) + fabs(own[1] - third) < 0.02;
    looks l;
    gather(s, a, b, &l);
    shorten(&l, own);
    if (try_lengths(s, a, b, &l, own, h) || (!thirds && try_lengths(s, a, b, &l, (double[2]){third, third}, h)))
        return true;
    if (l.count < 3) /* too few to tell lengths from chance */
        return false;
    double w[2] = {fmin(fmax(own[0], 0.01), 0.99), fmin(fmax(own[1], 0.01), 0.99)};
    return search(s, a, b, &l, w, h) || (!thirds && search(s, a, b, &l, (double[2]){third, third}, h));
}
