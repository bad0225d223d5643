#include "curve_internal.h"

/* ---- cubic pieces of an eased segment ---- */

enum { MOST_PIECES = 256 };

/* An eased segment on its way to cubic pieces; `at` is how far it has come, u in 0..1. */
typedef struct easing {
    double time, duration, ease0, ease1; /* ease with a sum of at most 1 */
    double c[4];                   /* value as a cubic of the eased u */
    double tolerance;
    const double *stops;           /* times at which a key would cost nothing, ascending, or NULL */
    size_t stop_count;
} easing;

typedef struct piece {
    double end;            /* u */
    double slope0, slope1; /* per u */
} piece;

static double eased_value(const easing *e, double u)
{
    double x = kfi_ease(u, e->ease0, e->ease1);
    return e->c[0] + x * (e->c[1] + x * (e->c[2] + x * e->c[3]));
}

static double eased_slope(const easing *e, double u)
{
    double a = e->ease0, b = e->ease1, k = 1.0 / (2.0 - a - b), x = kfi_ease(u, a, b);
    double rate = u < a ? 2.0 * k * u / a : u <= 1.0 - b ? 2.0 * k : 2.0 * k * (1.0 - u) / b;
    return rate * (e->c[1] + x * (2.0 * e->c[2] + 3.0 * x * e->c[3]));
}

/* What a piece is off by is a polynomial of degree 6 at the most between the places where the ease sets in and ends.
 * Such a one is nowhere beyond its values at 32 Chebyshev nodes divided by cos(6 pi / 64): so it is within tolerance
 * everywhere, not only where it was looked at. */
static bool part_fits(const easing *e, double start, const piece *p, double from, double to)
{
    const double first = 0.99879545620517239, turn = 1.9903694533443939; /* cos(pi / 64), 2 cos(pi / 32) */
    const double limit = 0.95694033573220886 * e->tolerance;
    double length = p->end - start, v0 = eased_value(e, start), rise = eased_value(e, p->end) - v0;
    double m0 = p->slope0 * length, m1 = p->slope1 * length, before = first, node = first;
    for (int i = 0; i < 32; i++) {
        double u = from + (0.5 + 0.5 * node) * (to - from), s = (u - start) / length;
        double value = v0 + s * (m0 + s * (3.0 * rise - 2.0 * m0 - m1 + s * (m0 + m1 - 2.0 * rise)));
        if (!(fabs(value - eased_value(e, u)) <= limit))
            return false;
        double next = turn * node - before;
        before = node;
        node = next;
    }
    return true;
}

static bool piece_fits(const easing *e, double start, const piece *p)
{
    double from = start, stops[3] = {e->ease0, 1.0 - e->ease1, p->end};
    for (int i = 0; i < 3; i++) {
        double to = fmin(stops[i], p->end);
        if (to > from && !part_fits(e, start, p, from, to))
            return false;
        from = fmax(from, to);
    }
    return true;
}

/* A cubic from start to end: with the true slopes at both ends if that is close enough, else through two more
 * points of the curve, placed where a quartic's error is spread evenly (the zeros of T4 stretched so that the
 * outer ones are the ends). That reaches half as far again. */
static bool make_piece(const easing *e, double start, double end, piece *p)
{
    *p = (piece){end, eased_slope(e, start), eased_slope(e, end)};
    if (piece_fits(e, start, p))
        return true;
    const double near = 0.29289321881345254, far = 0.70710678118654752, bulge = near * far;
    double length = end - start, v0 = eased_value(e, start), rise = eased_value(e, end) - v0;
    double a = (eased_value(e, start + near * length) - v0 - near * rise) / bulge;
    double b = (eased_value(e, start + far * length) - v0 - far * rise) / bulge;
    double tilt = (b - a) / (far - near);
    p->slope0 = (rise + a - tilt * near) / length;
    p->slope1 = (rise - (a + tilt * (1.0 - near))) / length;
    return piece_fits(e, start, p);
}

/* The same piece, ending at a time that a game's 32-bit float can tell, and tell from that of either end: two keys of one
 * time would move one of them. Where there is no such time the piece is all that is left, if that is not far off. */
static piece round_piece(const easing *e, double start, const piece *p)
{
    piece rounded;
    float first = (float)(e->time + start * e->duration), last = (float)(e->time + e->duration);
    float near = fminf((float)(e->time + p->end * e->duration), nextafterf(last, first));
    bool room = near > first;
    for (int i = 0; i < 2 && near > first; i++, near = nextafterf(near, first)) {
        double end = ((double)near - e->time) / e->duration;
        if (end > start && end < 1.0 && (make_piece(e, start, end, &rounded) || end < p->end))
            return rounded;
    }
    easing lenient = *e;
    lenient.tolerance *= 4.0;
    return !room && make_piece(&lenient, start, 1.0, &rounded) ? rounded : *p;
}

/* The piece up to the last stop before its end, if that takes no more than half of it away. */
static piece stop_early(const easing *e, double start, const piece *whole)
{
    piece p;
    size_t low = 0, high = e->stop_count;
    double last = e->time + whole->end * e->duration;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->stops[middle] <= last)
            low = middle + 1;
        else
            high = middle;
    }
    double end = low > 0 ? (e->stops[low - 1] - e->time) / e->duration : 0.0;
    bool worth = end < 1.0 && end - start > 0.5 * (whole->end - start);
    return worth && make_piece(e, start, end, &p) ? p : *whole;
}

/* The longest piece from `start` on. */
static piece next_piece(const easing *e, double start, bool last)
{
    piece best, p;
    if (make_piece(e, start, 1.0, &best) || last)
        return best;
    double low = start, high = 1.0;
    best = (piece){start + (1.0 - start) * 1e-4, eased_slope(e, start), eased_slope(e, start)};
    for (int i = 0; i < 14; i++) {
        double middle = 0.5 * (low + high);
        if (make_piece(e, start, middle, &p)) {
            best = p;
            low = middle;
        } else {
            high = middle;
        }
    }
    piece early = stop_early(e, start, &best);
    return early.end < best.end ? early : round_piece(e, start, &best);
}

static bool prepare(const kfi_segment *s, const kfi_opening *how, easing *e)
{
    double a = s->ease0, b = s->ease1;
    if (s->shape != KFI_CUBIC || a + b <= 0.0)
        return false;
    kfi_share_ease(&a, &b);
    double rise = s->v1 - s->v0, leave = 3.0 * s->h0.dv, arrive = -3.0 * s->h1.dv;
    *e = (easing){s->t0,
                  s->t1 - s->t0,
                  a,
                  b,
                  {s->v0, leave, 3.0 * rise - 2.0 * leave - arrive, leave + arrive - 2.0 * rise},
                  how->tolerance,
                  how->stops,
                  how->stop_count};
    /* Closer than double precision allows would only make keys. */
    double least = 1e-9 * (fabs(s->v0) + fabs(s->v1) + fabs(leave) + fabs(arrive));
    e->tolerance = fmax(how->tolerance, least);
    return true;
}

static size_t count_helpers(const kf_curve *curve, size_t i, const kfi_opening *how)
{
    kfi_segment segment;
    easing e;
    kfi_curve_segment(curve, i, &segment);
    if (!prepare(&segment, how, &e))
        return 0;
    size_t pieces = 0;
    for (double at = 0.0; at < 1.0; pieces++)
        at = next_piece(&e, at, pieces + 1 == MOST_PIECES).end;
    return pieces - 1;
}

/* ---- curves ---- */

typedef struct builder {
    kf_curve *to;
    kf_origin *origin;
    size_t count;
} builder;

/* Splits the segment that begins at the last key added; returns the handle with which it arrives at the next
 * key. */
static kf_handle add_pieces(builder *b, const easing *e, size_t from)
{
    double start_time = b->to->keys[b->count - 1].time, at = 0.0;
    for (size_t pieces = 1;; pieces++) {
        piece p = next_piece(e, at, pieces == MOST_PIECES);
        double duration = (p.end - at) * e->duration;
        b->to->handles[b->count - 1].out = kfi_slope_handle(p.slope0 / e->duration, duration);
        kf_handle in = kfi_slope_handle(p.slope1 / e->duration, -duration);
        at = p.end;
        if (at >= 1.0)
            return in;
        b->to->keys[b->count] = (kf_key){.time = start_time + at * e->duration,
                                         .value = eased_value(e, at),
                                         .interp = KF_HERMITE,
                                         .flags = KF_KEY_HELPER};
        b->to->handles[b->count].in = in;
        b->origin[b->count++].key = (uint32_t)from;
    }
}

static bool derived(uint8_t interp)
{
    return interp == KF_TCB || interp == KF_AUTO;
}

bool kfi_curve_to_slopes(kf_job *job, const kf_curve *from, double tolerance, kf_curve *to)
{
    return kfi_curve_open(job, from, &(kfi_opening){.tolerance = tolerance}, to);
}

bool kfi_curve_open(kf_job *job, const kf_curve *from, const kfi_opening *how, kf_curve *to)
{
    const bool *which = how->which;
    size_t count = from->count;
    for (size_t i = 0; i + 1 < from->count; i++)
        if (from->keys[i].interp == KF_TCB && from->tcb && (!which || which[i]))
            count += count_helpers(from, i, how);

    kf_curve result = *from;
    builder b = {&result, kfi_alloc(job, count, sizeof(kf_origin)), 0};
    unsigned parts = KFI_HANDLES | (which && from->tcb ? (unsigned)KFI_NUMBERS : 0);
    if (!b.origin || !kfi_make_keys(job, &result, count, parts))
        return false;
    kf_handle in = {0};
    bool have_in = false;
    for (size_t i = 0; i < from->count; i++) {
        const kf_key *old = &from->keys[i];
        kf_key *key = &result.keys[b.count];
        kf_handles *handles = &result.handles[b.count];
        kfi_copy_keys(&result, b.count, from, i, 1);
        b.origin[b.count++].key = (uint32_t)i;
        double before = i > 0 ? old->time - old[-1].time : 0.0,
               after = i + 1 < from->count ? old[1].time - old->time : 0.0;
        bool here = !which || (i + 1 < from->count && which[i]);
        if (derived(old->interp) && here) {
            double arrive, leave;
            kfi_curve_slopes(from, i, &arrive, &leave);
            key->interp = KF_HERMITE;
            key->attr = 0;
            if (!which) /* else it is that of another segment, or nobody's */
                handles->in = kfi_slope_handle(arrive, -(before > 0.0 ? before : after));
            handles->out = kfi_slope_handle(leave, after > 0.0 ? after : before);
        }
        if (have_in)
            handles->in = in;
        have_in = false;
        if (i + 1 == from->count || !here || (!derived(old->interp) && !derived(old[1].interp)))
            continue;
        kfi_segment segment;
        easing e;
        kfi_curve_segment(from, i, &segment);
        if (segment.shape < KFI_CUBIC)
            continue;
        have_in = true;
        if (prepare(&segment, how, &e)) {
            in = add_pieces(&b, &e, i);
        } else {
            in = segment.h1;
            if (derived(old->interp)) {
                key->interp = segment.shape == KFI_BEZIER ? KF_BEZIER : KF_HERMITE;
                handles->out = segment.h0;
            }
        }
    }
    if (!which)
        result.tcb = NULL;
    if (result.count != from->count)
        result.fbx_data = NULL;
    result.origin = b.origin;
    *to = result;
    return true;
}

/* ---- slopes and weights ---- */

/* One end: the handle, turned so that time runs forward, and the way to the far control point. */
static void end_slope(kf_handle handle, kf_handle far, double duration, double least, double most,
                      double *slope, double *weight)
{
    double share = handle.dt / duration;
    if (share >= least && share > 0.0) {
        *slope = handle.dv / handle.dt;
        *weight = fmin(share, most);
        return;
    }
    *weight = least;
    if (handle.dt > 0.0 || handle.dv != 0.0)
        *slope = handle.dv / (least * duration);
    else
        *slope = far.dt > 0.0 ? far.dv / far.dt : 0.0;
}

void kfi_segment_slopes(const kfi_segment *segment, double least, double most, double slope[2],
                        double weight[2])
{
    double duration = segment->t1 - segment->t0, rise = segment->v1 - segment->v0;
    slope[0] = slope[1] = 0.0;
    weight[0] = weight[1] = 1.0 / 3.0;
    if (segment->shape < KFI_LINE || !(duration > 0.0))
        return;
    if (segment->shape == KFI_LINE) {
        slope[0] = slope[1] = rise / duration;
        return;
    }
    kf_handle h0 = segment->h0, h1 = {-segment->h1.dt, -segment->h1.dv};
    end_slope(h0, (kf_handle){duration - h1.dt, rise - h1.dv}, duration, least, most, &slope[0], &weight[0]);
    end_slope(h1, (kf_handle){duration - h0.dt, rise - h0.dv}, duration, least, most, &slope[1], &weight[1]);
    if (segment->shape == KFI_CUBIC)
        weight[0] = weight[1] = 1.0 / 3.0;
}

/* Time as a share of the segment runs as 3(1-u)^2 u a + 3(1-u) u^2 b + u^3: slowest, and the curve steepest, where the
 * derivative of that, a parabola, has its vertex. */
size_t kfi_segment_steep(const kfi_segment *segment, double times[3])
{
    double duration = segment->t1 - segment->t0;
    if (segment->shape != KFI_BEZIER || !(duration > 0.0))
        return 0;
    double a = segment->h0.dt / duration, b = 1.0 + segment->h1.dt / duration, bend = 3.0 * (a - b) + 1.0;
    double u = bend > 0.0 ? (2.0 * a - b) / bend : -1.0;
    double pace = 3.0 * (a + u * (2.0 * (b - 2.0 * a) + u * bend));
    size_t count = 0;
    if (!(u > 0.0 && u < 1.0) || pace > 0.3)
        return 0;
    for (int i = -1; i <= 1; i++) {
        double at = u + 0.08 * i;
        if (at > 0.0 && at < 1.0)
            times[count++] = segment->t0 + duration * at * (3.0 * (1.0 - at) * ((1.0 - at) * a + at * b) + at * at);
    }
    return count;
}
