/* Which stretches of samples one segment can tell: holds, lines, cubics. A curve must meet every sample
 * within tolerance, and in the middle between two samples may leave their chord only as far as the samples'
 * own bend says. */
#include "curve_unite.h"
#include "internal.h"

bool kfi_fit_hold(const kfi_samples *s, size_t a, size_t b)
{
    for (size_t i = a; i < b; i++)
        if (!(fabs(s->v[i] - s->v[a]) <= s->tolerance))
            return false;
    return true;
}

bool kfi_fit_line(const kfi_samples *s, size_t a, size_t b)
{
    double slope = (s->v[b] - s->v[a]) / (s->t[b] - s->t[a]);
    for (size_t i = a + 1; i < b; i++)
        if (!(fabs(s->v[i] - (s->v[a] + slope * (s->t[i] - s->t[a]))) <= s->tolerance))
            return false;
    for (size_t i = a; i < b; i++)
        if (s->told[i] && !(fabs(s->middle[i] - (s->v[a] + slope * (0.5 * (s->t[i] + s->t[i + 1]) - s->t[a]))) <= s->tolerance))
            return false;
    return true;
}

/* ---- cubics ---- */

/* A cubic over samples a..b by the tangents at its ends, as shares of the stretch's length. */
typedef struct cubic {
    const kfi_samples *s;
    size_t a, b;
    double scale, ease0, ease1, m0, m1;
} cubic;

static inline double share(const cubic *c, double time)
{
    double u = (time - c->s->t[c->a]) * c->scale;
    return c->ease0 + c->ease1 > 0.0 ? kfi_ease(u, c->ease0, c->ease1) : u;
}

static inline double value_at(const cubic *c, double u)
{
    double v0 = c->s->v[c->a], rise = c->s->v[c->b] - v0;
    return v0 + u * (c->m0 + u * (3.0 * rise - 2.0 * c->m0 - c->m1 + u * (c->m0 + c->m1 - 2.0 * rise)));
}

static inline double miss_at(const cubic *c, size_t i)
{
    return fabs(value_at(c, share(c, c->s->t[i])) - c->s->v[i]);
}

/* Up to the first sample that is missed by `limit` or more: that is enough to know. */
static double worst_miss(const cubic *c, double limit)
{
    double worst = 0.0;
    for (size_t i = c->a + 1; i < c->b && worst < limit; i++) {
        double miss = miss_at(c, i);
        if (!(miss <= worst))
            worst = miss;
    }
    return worst;
}

static bool stays_between(const cubic *c)
{
    for (size_t i = c->a; i < c->b; i++) {
        double middle = value_at(c, share(c, 0.5 * (c->s->t[i] + c->s->t[i + 1])));
        if (!kfi_middle_fits(c->s, i, middle))
            return false;
    }
    double length = c->s->t[c->b] - c->s->t[c->a], third = length / 3.0;
    kfi_segment segment = {c->s->t[c->a], c->s->t[c->b], c->s->v[c->a], c->s->v[c->b], {third, c->m0 / 3.0}, {-third, -c->m1 / 3.0},
                           c->ease0, c->ease1, KFI_CUBIC};
    for (size_t i = c->a; c->s->was && i < c->b; i++)
        if (!kfi_told_fit(c->s, i, &segment))
            return false;
    return kfi_extremes_fit(c->s, c->a, c->b, &segment, false);
}

typedef struct normal {
    double a00, a01, a11, r0, r1;
} normal;

static inline void observe(const cubic *c, normal *n, double u, double value, double weight)
{
    double m = 1.0 - u, f0 = u * m * m, f1 = -u * u * m, v0 = c->s->v[c->a], rise = c->s->v[c->b] - v0;
    double y = value - v0 - rise * u * u * (3.0 - 2.0 * u);
    n->a00 += weight * f0 * f0;
    n->a01 += weight * f0 * f1;
    n->a11 += weight * f1 * f1;
    n->r0 += weight * f0 * y;
    n->r1 += weight * f1 * y;
}

/* Tangents by least squares through the samples and, as far as they are known, the middles between them.
 * After a first time the worst samples are weighted by a `power` of their miss. A hint of pull toward the
 * chord settles what is left open. */
static void solve(cubic *c, double worst, unsigned power)
{
    const kfi_samples *s = c->s;
    double pull = 1e-9, rise = s->v[c->b] - s->v[c->a];
    normal n = {pull, 0.0, pull, pull * rise, pull * rise};
    for (size_t i = c->a; i < c->b; i++) {
        double known = s->tolerance / (s->tolerance + s->doubt[i]);
        if (i > c->a) {
            double weight = 1.0;
            if (power) {
                double miss = miss_at(c, i) / worst;
                weight = power == 1 ? 0.05 + miss : 0.01 + miss * miss * miss;
            }
            observe(c, &n, share(c, s->t[i]), s->v[i], weight);
        }
        if (known > 0.01)
            observe(c, &n, share(c, 0.5 * (s->t[i] + s->t[i + 1])), s->middle[i],
                    known * known * (power ? 0.3 : 1.0));
    }
    /* Of a single interval one middle says too little: its quarters or the middles beside it have a word, too. */
    if (c->b - c->a == 1 && !isnan(s->quarter[c->a][0]) && s->doubt[c->a] < INFINITY) {
        double quarter = 0.25 * (s->t[c->b] - s->t[c->a]);
        observe(c, &n, share(c, s->t[c->a] + quarter), s->quarter[c->a][0], 1.0);
        observe(c, &n, share(c, s->t[c->b] - quarter), s->quarter[c->a][1], 1.0);
    } else if (c->b - c->a == 1 && c->a > 0 && c->b + 1 < s->count && kfi_middle_known(s, c->a - 1) && kfi_middle_known(s, c->a) &&
        kfi_middle_known(s, c->b)) {
        observe(c, &n, share(c, 0.5 * (s->t[c->a - 1] + s->t[c->a])), s->middle[c->a - 1], 1e-4);
        observe(c, &n, share(c, 0.5 * (s->t[c->b] + s->t[c->b + 1])), s->middle[c->b], 1e-4);
    }
    double det = n.a00 * n.a11 - n.a01 * n.a01;
    c->m0 = (n.r0 * n.a11 - n.r1 * n.a01) / det;
    c->m1 = (n.r1 * n.a00 - n.r0 * n.a01) / det;
}

bool kfi_fit_eased(const kfi_samples *s, size_t a, size_t b, double ease0, double ease1, double slope[2])
{
    double length = s->t[b] - s->t[a];
    cubic c = {s, a, b, 1.0 / length, ease0, ease1, 0.0, 0.0};
    c.m0 = c.m1 = s->v[b] - s->v[a];
    solve(&c, 0.0, 0);
    double worst = worst_miss(&c, 2.0 * s->tolerance);
    /* Near the limit, even out the misses: least squares leaves the worst a third above what is possible. */
    for (unsigned round = 0; round < 4 && worst > s->tolerance && worst < 2.0 * s->tolerance; round++) {
        cubic next = c;
        solve(&next, worst, round < 2 ? 1 : 2);
        double now = worst_miss(&next, worst);
        if (!(now < worst))
            break;
        c = next;
        worst = now;
    }
    bool fits = worst <= s->tolerance && stays_between(&c);
    slope[0] = c.m0 / length;
    slope[1] = c.m1 / length;
    return fits;
}

bool kfi_fit_cubic(const kfi_samples *s, size_t a, size_t b, double slope[2])
{
    return kfi_fit_eased(s, a, b, 0.0, 0.0, slope);
}

/* Or an edit that fades out behind a hold would be left out. */
static bool ends_in_jump(const kfi_samples *s, size_t a, size_t b)
{
    return !s->was || a >= b || s->next_jump[b - 1] == b - 1 ||
           !(fabs(s->middle[b - 1] - s->v[a]) > s->tolerance + s->doubt[b - 1]);
}

bool kfi_fit_segment(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment, bool between)
{
    enum { BATCH = 64 };
    double times[BATCH], values[BATCH];
    if (segment->shape == KFI_HOLD)
        return kfi_fit_hold(s, a, b) && ends_in_jump(s, a, b);
    if (between && segment->shape == KFI_BEZIER && !kfi_rests_fit(s, a, b, segment))
        return false;
    for (size_t i = a; i < b;) { /* samples and the middles behind them */
        size_t n = 0;
        for (size_t k = i; k < b && n + 2 <= BATCH; k++) {
            times[n++] = s->t[k];
            times[n++] = 0.5 * (s->t[k] + s->t[k + 1]);
        }
        kfi_segment_values(segment, times, n, values);
        for (size_t k = 0; k < n; k += 2, i++) {
            if (!(fabs(values[k] - s->v[i]) <= s->tolerance))
                return false;
            if ((between || s->told[i]) && segment->shape > KFI_LINE && !kfi_middle_fits(s, i, values[k + 1]))
                return false;
        }
    }
    for (size_t i = a; segment->shape > KFI_LINE && i < b; i++) {
        if (between && segment->shape == KFI_BEZIER && !kfi_quarters_fit(s, i, segment))
            return false;
        if (!kfi_told_fit(s, i, segment))
            return false;
    }
    if (between && segment->shape == KFI_BEZIER && !kfi_beside_keys_fit(s, a, b, segment))
        return false;
    return !between || segment->shape <= KFI_LINE || kfi_extremes_fit(s, a, b, segment, false);
}

/* ---- the longest ---- */

static bool piece_fits(const kfi_samples *s, size_t a, size_t b, uint8_t interp, kfi_piece *piece)
{
    double length = s->t[b] - s->t[a], slope[2];
    *piece = (kfi_piece){.end = b, .interp = interp};
    if (interp == KF_LINEAR)
        return kfi_fit_line(s, a, b);
    bool fits = kfi_fit_cubic(s, a, b, slope);
    piece->h[0] = kfi_slope_handle(slope[0], length);
    piece->h[1] = kfi_slope_handle(slope[1], -length);
    return fits;
}

/* Doubling, then halving: the work is of the order of the piece's length. */
static kfi_piece reach(const kfi_samples *s, size_t a, size_t limit, uint8_t interp)
{
    kfi_piece best, p;
    piece_fits(s, a, a + 1, interp, &best);
    size_t fails = limit + 1;
    for (size_t length = 2; best.end < limit; length *= 2) {
        size_t b = length < limit - a ? a + length : limit;
        if (!piece_fits(s, a, b, interp, &p)) {
            fails = b;
            break;
        }
        best = p;
    }
    while (fails - best.end > 1) {
        size_t middle = best.end + (fails - best.end) / 2;
        if (piece_fits(s, a, middle, interp, &p))
            best = p;
        else
            fails = middle;
    }
    return best;
}

/* With handles of other lengths than a third a Bezier may reach further. */
static void stretch(const kfi_samples *s, size_t a, size_t limit, kfi_piece *piece)
{
    size_t fails = limit + 1;
    for (size_t more = (piece->end - a + 1) / 2; piece->end < limit && more > 0;) {
        size_t b = piece->end + more < fails ? piece->end + more : fails - 1;
        kf_handle h[2] = {piece->h[0], piece->h[1]};
        if (b > piece->end && kfi_fit_bezier(s, a, b, h)) {
            *piece = (kfi_piece){.end = b, .interp = KF_HERMITE, .h = {h[0], h[1]}};
        } else {
            fails = b;
            more = (fails - piece->end) / 2;
            if (more < (piece->end - a) / 16)
                break;
        }
    }
}

/* Whether the middles between the samples lie on the line too. */
static bool line_is_meant(const kfi_samples *s, size_t a, size_t b)
{
    for (size_t i = a; i < b; i++)
        if (fabs(0.5 * (s->v[i] + s->v[i + 1]) - s->middle[i]) > s->tolerance + s->doubt[i])
            return false;
    return true;
}

/* Whether a piece of one interval may stay: where nobody edited it runs as it did, else it must not swing out. */
static bool may_stay(const kfi_samples *s, size_t a, const kf_handle h[2])
{
    const kfi_segment segment = {s->t[a], s->t[a + 1], s->v[a], s->v[a + 1], h[0], h[1], 0.0, 0.0, KFI_BEZIER};
    return s->told[a] || kfi_extremes_fit(s, a, a + 1, &segment, false);
}

/* One interval: there is no shorter piece, so the nearest has to do that does not swing out, and be it straight. */
static void come_near(const kfi_samples *s, size_t a, kf_handle h[2])
{
    enum { TOLD_ROUNDS = 6, ROUNDS = 16 };
    kfi_samples loose = *s;
    if (!s->told[a] && may_stay(s, a, h))
        return;
    for (int i = 0; i < (s->told[a] ? TOLD_ROUNDS : ROUNDS); i++) {
        kf_handle near[2] = {h[0], h[1]};
        if (kfi_fit_bezier(&loose, a, a + 1, near) && may_stay(s, a, near)) {
            h[0] = near[0];
            h[1] = near[1];
            return;
        }
        loose.tolerance *= 1.5;
    }
    if (may_stay(s, a, h))
        return;
    double third = (s->t[a + 1] - s->t[a]) / 3.0, rise = (s->v[a + 1] - s->v[a]) / 3.0;
    h[0] = (kf_handle){third, rise};
    h[1] = (kf_handle){-third, -rise};
}

/* From sample a on, as far as nothing was edited, the rest of the segment that is there; false: there is none, or it cannot be told in
 * one piece. */
static bool as_it_was(const kfi_fitting *f, size_t a, size_t limit, kfi_piece *piece)
{
    const kfi_samples *s = &f->samples;
    size_t low = 0, high = s->before ? s->before->count : 0, b = a;
    if (f->cubic != KF_BEZIER || high < 2 || !s->told[a])
        return false;
    while (high - low > 1) { /* the last key that is not later */
        size_t middle = low + (high - low) / 2;
        if (s->before->keys[middle].time <= s->t[a])
            low = middle;
        else
            high = middle;
    }
    kfi_segment segment;
    if (high == s->before->count || s->before->keys[low].time > s->t[a])
        return false;
    kfi_curve_segment(s->before, low, &segment);
    while (b < limit && s->told[b] && s->t[b + 1] <= segment.t1)
        b++;
    if (segment.shape < KFI_CUBIC || segment.ease0 + segment.ease1 > 0.0)
        return false;
    for (; b > a; b = a + (b - a) / 2) { /* a part of it may have handles for which it has no room; parts of that have them shorter */
        kfi_segment part = kfi_cut_segment(&segment, s->t[a], s->t[b]);
        *piece = (kfi_piece){.end = b, .interp = KF_HERMITE, .h = {part.h0, part.h1}};
        if (fmax(part.h0.dt, -part.h1.dt) <= part.t1 - part.t0)
            return true;
    }
    return false;
}

kfi_piece kfi_longest_piece(const kfi_fitting *f, size_t a, size_t limit)
{
    const kfi_samples *s = &f->samples;
    bool line = kfi_can(f, KF_LINEAR) || !f->cubic;
    size_t stop = limit;
    if (kfi_can(f, KF_STEP)) {
        size_t jump = s->next_jump[a];
        if (jump == a)
            return (kfi_piece){.end = a + 1, .interp = KF_STEP};
        if (jump < limit) { /* a value held until it jumps is one segment */
            if (kfi_fit_hold(s, a, jump + 1))
                return (kfi_piece){.end = jump + 1, .interp = KF_STEP};
            stop = jump;
        }
        if (f->interps == 1u << KF_STEP) {
            kfi_piece longest = {.end = a + 1, .interp = KF_STEP};
            while (longest.end < limit && fabs(s->v[longest.end] - s->v[a]) <= s->tolerance)
                longest.end++;
            return longest;
        }
    }
    /* Rest is rest: it ends where it ends, not a little later within tolerance. And it begins where it
     * begins. */
    size_t rest = a;
    while (rest < stop && kfi_rests(s, rest))
        rest++;
    if (rest >= a + 2 || (rest == stop && rest > a)) {
        double third = (s->t[rest] - s->t[a]) / 3.0;
        return (kfi_piece){rest, line ? KF_LINEAR : KF_HERMITE, {{third, 0.0}, {-third, 0.0}}};
    }
    if (a + 1 < stop && s->next_rest[a + 1] < stop)
        stop = s->next_rest[a + 1];
    kfi_piece straight = {.end = a, .interp = KF_LINEAR}, bent = {.end = a, .interp = KF_HERMITE};
    if (line)
        straight = reach(s, a, stop, KF_LINEAR);
    if (f->cubic && straight.end == a + 1 && !kfi_fit_line(s, a, a + 1)) /* what is between the two is known */
        straight.end = a;
    if (f->cubic && (straight.end < stop || !line_is_meant(s, a, stop)))
        bent = reach(s, a, stop, KF_HERMITE);
    if (straight.end > bent.end || (straight.end == bent.end && line_is_meant(s, a, straight.end)))
        return straight;
    if (f->cubic == KF_BEZIER && bent.end < stop)
        stretch(s, a, stop, &bent);
    if (f->cubic == KF_BEZIER && bent.end == a + 1 && (s->told[a] || s->was))
        come_near(s, a, bent.h);
    kfi_piece own;
    return as_it_was(f, a, stop, &own) && own.end >= bent.end ? own : bent;
}
