/* Quaternion curves to Euler curves.
 *
 * Each quaternion segment is first walked in small steps, so that the Euler angles run on without jumps; a
 * step whose middle lies far from the middle of the angles is halved. A motion that passes the gimbal lock by
 * less than the tolerance goes straight through it, one that keeps more away from it swings around it. Then
 * the longest cubic pieces that stay within tolerance are laid along the walk, one after the other. */
#include "rotation.h"
#include "curve_internal.h"

#include <string.h>

enum { MOST_STEPS = 32, MOST_SPOTS = 1024, DEEPEST = 24, MOST_PIECES = 512, SAMPLES = 16 };
enum { SPARE_SPOTS = MOST_STEPS + 2 * DEEPEST }; /* for what is still to be walked without halving */
static const double WIDEST =
    175.0; /* degrees between neighbouring keys of one component; readers re-wrap 180 */

typedef struct spot {
    double time, angles[3];
} spot;

typedef struct walk {
    const kfi_quat_segment *segment;
    kf_rotation_order order;
    double tolerance; /* degrees */
    int samples;      /* at which a piece of the whole segment is looked at */
    size_t count;
    spot spots[MOST_SPOTS];
} walk;

typedef struct piece {
    double end;
    double angles[3];            /* at the end */
    double slope0[3], slope1[3]; /* degrees a second */
} piece;

static void middle_of(const double a[3], const double b[3], double share, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] + share * (b[i] - a[i]);
}

static double widest_step(const double a[3], const double b[3])
{
    return fmax(fabs(a[0] - b[0]), fmax(fabs(a[1] - b[1]), fabs(a[2] - b[2])));
}

/* How far a motion that is at these angles is from where it should be. */
static double miss(const walk *w, const double angles[3], const double q[4])
{
    double is[4];
    kfi_quat_from_euler(angles, w->order, is);
    return kfi_quat_angle(is, q);
}

/* Steps on from the last spot to `time`, in halves if the angles do not run evenly. */
/* NOLINTNEXTLINE: DEEPEST bounds it */
static void step_to(walk *w, double time, int depth)
{
    const spot *from = &w->spots[w->count - 1];
    double q0[4], q1[4], half[4], angles[3], middle[3];
    kfi_quat_segment_value(w->segment, from->time, q0);
    kfi_quat_segment_value(w->segment, time, q1);
    kfi_quat_to_euler_within(q1, w->order, from->angles, 0.5 * w->tolerance, angles);
    if (depth < DEEPEST && w->count + SPARE_SPOTS < MOST_SPOTS) {
        double between = from->time + 0.5 * (time - from->time);
        kfi_quat_segment_value(w->segment, between, half);
        middle_of(from->angles, angles, 0.5, middle);
        if (miss(w, middle, half) > fmax(0.5 * w->tolerance, 0.05 * kfi_quat_angle(q0, q1))) {
            step_to(w, between, depth + 1);
            step_to(w, time, depth + 1);
            return;
        }
    }
    spot *to = &w->spots[w->count++];
    to->time = time;
    memcpy(to->angles, angles, sizeof to->angles);
}

/* The same with a spot wherever ease ends or sets in, and in the middle of it: there the motion bends sharply. */
static void step_past_ease(walk *w, double time)
{
    const kfi_quat_segment *s = w->segment;
    double a = s->ease0, b = s->ease1, last = w->spots[w->count - 1].time;
    kfi_share_ease(&a, &b);
    const double marks[4] = {0.5 * a, a, 1.0 - b, 1.0 - 0.5 * b};
    for (int i = 0; i < 4; i++) {
        double mark = s->t0 + marks[i] * (s->t1 - s->t0);
        if (mark > last && mark < time) {
            step_to(w, mark, 0);
            last = mark;
        }
    }
    step_to(w, time, 0);
}

/* The angles at a time, near to the walk; `at` is a spot at or before it. Where the walk went straight
 * through the lock, the walk's own angles are as good and do not jump. */
static void angles_at(const walk *w, double time, size_t at, double angles[3])
{
    while (at + 2 < w->count && w->spots[at + 1].time <= time)
        at++;
    const spot *a = &w->spots[at], *b = a + 1;
    double near[3], q[4];
    middle_of(a->angles, b->angles, (time - a->time) / (b->time - a->time), near);
    kfi_quat_segment_value(w->segment, time, q);
    kfi_quat_to_euler_within(q, w->order, near, 0.5 * w->tolerance, angles);
    if (widest_step(angles, near) > 10.0 && miss(w, near, q) <= w->tolerance)
        memcpy(angles, near, sizeof near);
}

static void exact_key(const walk *w, double angles[3])
{
    double exact[3];
    kfi_quat_to_euler(w->segment->q1, w->order, angles, exact);
    if (widest_step(exact, angles) < 10.0)
        memcpy(angles, exact, sizeof exact);
}

static double miss_at(const walk *w, const spot *start, const piece *p, double time)
{
    double length = p->end - start->time, s = (time - start->time) / length, angles[3], q[4];
    for (int i = 0; i < 3; i++) {
        double rise = p->angles[i] - start->angles[i], m0 = p->slope0[i] * length, m1 = p->slope1[i] * length;
        angles[i] =
            start->angles[i] + s * (m0 + s * (3.0 * rise - 2.0 * m0 - m1 + s * (m0 + m1 - 2.0 * rise)));
    }
    kfi_quat_segment_value(w->segment, time, q);
    return miss(w, angles, q);
}

/* What lies above the chord of a piece is s(1-s)(x + tilt s): its slopes from x and tilt of component i. */
static void set_bulge(const spot *start, piece *p, int i, double x, double tilt)
{
    double length = p->end - start->time, rise = p->angles[i] - start->angles[i];
    p->slope0[i] = (rise + x) / length;
    p->slope1[i] = (rise - x - tilt) / length;
}

/* A cubic through two points of the motion, placed where a quartic's error is spread evenly. */
static void through_two_points(const walk *w, const spot *start, size_t at, piece *p)
{
    const double near = 0.29289321881345254, far = 0.70710678118654752, bulge = near * far;
    double length = p->end - start->time, a[3], b[3];
    angles_at(w, start->time + near * length, at, a);
    angles_at(w, start->time + far * length, at, b);
    for (int i = 0; i < 3; i++) {
        double v0 = start->angles[i], rise = p->angles[i] - v0;
        double x = (a[i] - v0 - near * rise) / bulge, y = (b[i] - v0 - far * rise) / bulge;
        double tilt = (y - x) / (far - near);
        set_bulge(start, p, i, x - tilt * near, tilt);
    }
}

enum { POINTS = SAMPLES - 1 }; /* inside a piece */

static double share_of(int point)
{
    return (point + 1.0) / SAMPLES;
}

/* By weighted least squares: x and tilt of a bulge that is `above` the chord at the points. */
static void solve_bulge(const double above[POINTS], const double weight[POINTS], double *x, double *tilt)
{
    double a00 = 1e-12, a01 = 0.0, a11 = 1e-12, r0 = 0.0, r1 = 0.0;
    for (int k = 0; k < POINTS; k++) {
        double s = share_of(k), f = s * (1.0 - s), wf = weight[k] * f;
        a00 += wf * f;
        a01 += wf * f * s;
        a11 += wf * f * s * s;
        r0 += wf * above[k];
        r1 += wf * s * above[k];
    }
    double det = a00 * a11 - a01 * a01;
    *x = (r0 * a11 - r1 * a01) / det;
    *tilt = (r1 * a00 - r0 * a01) / det;
}

/* The motion is no quartic: least squares through points of it, those that are farthest off counting more from round
 * to round (Lawson's way to the least worst miss). The first and the last angle turn about axes that are not upright
 * on each other: of a miss (a, c) of theirs the square is (1+g)(a+c)^2/2 + (1-g)(a-c)^2/2 with g the cosine between
 * the axes, so their sum and difference are what is solved for; near the lock one of them hardly counts. True as soon
 * as all points are within tolerance. */
static bool even_out(const walk *w, const spot *start, size_t at, piece *p)
{
    enum { ROUNDS = 12 };
    double length = p->end - start->time, above[3][POINTS], cosine[POINTS], weight[POINTS], off[POINTS], best = INFINITY;
    int second = kfi_second_axis(w->order), first = (second + 1) % 3, last = (second + 2) % 3;
    for (int k = 0; k < POINTS; k++) {
        double s = share_of(k), is[3];
        angles_at(w, start->time + s * length, at, is);
        cosine[k] = kfi_euler_cosine(w->order, is[second]);
        for (int i = 0; i < 3; i++)
            is[i] -= start->angles[i] + s * (p->angles[i] - start->angles[i]);
        above[0][k] = is[second];
        above[1][k] = is[first] + is[last];
        above[2][k] = is[first] - is[last];
        weight[k] = 1.0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double worst = 0.0, x[3], tilt[3];
        for (int i = 0; i < 3; i++) {
            double counts[POINTS];
            for (int k = 0; k < POINTS; k++)
                counts[k] = weight[k] * (i == 0 ? 1.0 : i == 1 ? 1.0 + cosine[k] : 1.0 - cosine[k]);
            solve_bulge(above[i], counts, &x[i], &tilt[i]);
        }
        set_bulge(start, p, second, x[0], tilt[0]);
        set_bulge(start, p, first, 0.5 * (x[1] + x[2]), 0.5 * (tilt[1] + tilt[2]));
        set_bulge(start, p, last, 0.5 * (x[1] - x[2]), 0.5 * (tilt[1] - tilt[2]));
        for (int k = 0; k < POINTS; k++) {
            off[k] = miss_at(w, start, p, start->time + share_of(k) * length);
            worst = fmax(worst, off[k]);
        }
        if (worst <= w->tolerance)
            return true;
        if (!(worst < 2.0 * w->tolerance) || (round > 3 && worst > 0.99 * best))
            return false;
        best = fmin(best, worst);
        for (int k = 0; k < POINTS; k++)
            weight[k] *= 0.2 + off[k] / worst;
    }
    return false;
}

/* Whether a piece stays within tolerance: looked at evenly and at every spot of the walk, and where it is worse than on
 * both sides and not far from too bad, once more on the peak that the three make up. */
static bool stays_close(const walk *w, const spot *start, size_t at, const piece *p)
{
    const double limit = 0.99 * w->tolerance; /* a peak is not quite found */
    double length = p->end - start->time, t[3] = {start->time, start->time, start->time}, off[3] = {0.0, 0.0, 0.0};
    for (int i = 1; t[2] < p->end;) {
        double time = i < w->samples ? start->time + length * i / w->samples : p->end;
        while (at < w->count && w->spots[at].time <= t[2])
            at++;
        if (at < w->count && w->spots[at].time < time)
            time = w->spots[at].time;
        else
            i++;
        memmove(t, t + 1, 2 * sizeof *t);
        memmove(off, off + 1, 2 * sizeof *off);
        t[2] = time;
        off[2] = time < p->end ? miss_at(w, start, p, time) : 0.0;
        if (off[2] > limit)
            return false;
        double left = t[1] - t[0], right = t[2] - t[1], before = off[1] - off[0], after = off[1] - off[2];
        if (off[1] < 0.7 * limit || before < 0.0 || after < 0.0 || !(before * right + after * left > 0.0))
            continue;
        double peak = t[1] + 0.5 * (before * right * right - after * left * left) / (before * right + after * left);
        if (miss_at(w, start, p, peak) > limit)
            return false;
    }
    return true;
}

/* A cubic from `start` to `end`, whose ends are points of the motion. `at` is a spot of the walk at or before the
 * start. True if it stays within tolerance; for that, `effort` asks for the best slopes, not just for good ones. */
static bool make_piece(const walk *w, const spot *start, size_t at, double end, bool effort, piece *p)
{
    p->end = end;
    angles_at(w, end, at, p->angles);
    if (end >= w->segment->t1) /* a key, and exact unless that would turn it aside */
        exact_key(w, p->angles);
    through_two_points(w, start, at, p);
    if (!(widest_step(p->angles, start->angles) < WIDEST))
        return false;
    if (stays_close(w, start, at, p))
        return true;
    return effort && even_out(w, start, at, p) && stays_close(w, start, at, p);
}

/* Halves the way between an end that a piece reaches and one that is too far. */
static void reach_on(const walk *w, const spot *start, size_t at, double too_far, int halvings, bool effort, piece *best)
{
    double low = best->end;
    for (int i = 0; i < halvings; i++) {
        double middle = low + 0.5 * (too_far - low);
        piece p;
        if (make_piece(w, start, at, middle, effort, &p)) {
            *best = p;
            low = middle;
        } else {
            too_far = middle;
        }
    }
}

/* The longest piece from `start` on; the whole rest if it is the last one allowed. */
static piece next_piece(const walk *w, const spot *start, size_t at, bool last)
{
    double end = w->segment->t1;
    piece best;
    if (make_piece(w, start, at, end, true, &best) || last)
        return best;
    /* Shorter than that is no motion any more. */
    make_piece(w, start, at, start->time + fmax((end - start->time) * 1e-3, (end - w->segment->t0) * 1e-7),
               false, &best);
    if (best.end >= end)
        return best;
    reach_on(w, start, at, end, 12, false, &best);
    /* The best slopes reach a little further than the good ones. */
    double further = start->time + 1.25 * (best.end - start->time);
    reach_on(w, start, at, fmin(further, end), 6, true, &best);
    return best;
}

/* The three curves while they grow. Room for the quaternion keys is made at once, more only for helpers. */
typedef struct keys {
    kf_curve curve[3];
    kf_origin *origin;
    size_t count, room;
} keys;

static bool make_room(kf_job *job, keys *k, size_t room)
{
    keys more = {.count = k->count, .room = room, .origin = kfi_alloc_raw(job, room, sizeof *more.origin)};
    if (!more.origin)
        return false;
    if (k->count)
        memcpy(more.origin, k->origin, k->count * sizeof *more.origin);
    for (int i = 0; i < 3; i++) {
        if (!kfi_make_keys(job, &more.curve[i], room, KFI_HANDLES))
            return false;
        kfi_copy_keys(&more.curve[i], 0, &k->curve[i], 0, k->count);
    }
    *k = more;
    return true;
}

static bool add_key(kf_job *job, keys *k, double time, const double angles[3], size_t from, uint8_t flags)
{
    if (k->count == k->room && !make_room(job, k, k->room + k->room / 2 + 8))
        return false;
    k->origin[k->count] = (kf_origin){(uint32_t)from, 0};
    for (int i = 0; i < 3; i++)
        k->curve[i].keys[k->count] = (kf_key){.time = time, .value = angles[i], .interp = KF_HERMITE, .flags = flags};
    k->count++;
    return true;
}

/* Into how many steps the segment is divided at first. A short way that stays clear of the lock takes few; a
 * slerp of three degrees, 20 or more from the lock, is a cubic to within 1e-4 degrees and takes none. */
static int steps_of(const walk *w, const double angles[3])
{
    const kfi_quat_segment *segment = w->segment;
    if (segment->interp != KF_LINEAR) /* ease and squad points may hide much in a short way */
        return MOST_STEPS;
    double way = kfi_quat_angle(segment->q0, segment->q1);
    double second = fmod(fabs(angles[kfi_second_axis(w->order)]), 180.0);
    double clear = fabs(second - 90.0) - way;
    if (way < 3.0 && clear > 20.0 && w->tolerance >= 1e-3)
        return 0;
    return way < 20.0 && clear > 10.0 ? 2 + (int)way : MOST_STEPS;
}

/* Adds the segment's helper keys and the key at its end. */
static bool add_segment(kf_job *job, keys *k, walk *w, spot *now, size_t from, uint8_t flags)
{
    const kfi_quat_segment *segment = w->segment;
    if (segment->interp == KF_STEP) {
        for (int i = 0; i < 3; i++)
            k->curve[i].keys[k->count - 1].interp = KF_STEP;
        kfi_quat_to_euler(segment->q1, w->order, now->angles, now->angles);
        now->time = segment->t1;
        return add_key(job, k, now->time, now->angles, from + 1, flags);
    }
    int steps = steps_of(w, now->angles);
    w->samples = steps == 0 ? 1 : steps < SAMPLES - 4 ? steps + 4 : SAMPLES;
    w->spots[0] = *now;
    w->count = 1;
    if (steps == 0) {
        w->spots[w->count].time = segment->t1;
        kfi_quat_to_euler(segment->q1, w->order, now->angles, w->spots[w->count++].angles);
    }
    for (int i = 1; i <= steps; i++)
        step_past_ease(w, i == steps ? segment->t1 : segment->t0 + (segment->t1 - segment->t0) * i / steps);
    size_t at = 0;
    for (size_t pieces = 1; now->time < segment->t1; pieces++) {
        piece p = next_piece(w, now, at, pieces == MOST_PIECES);
        double length = p.end - now->time;
        bool end = p.end >= segment->t1;
        for (int i = 0; i < 3; i++)
            k->curve[i].handles[k->count - 1].out = kfi_slope_handle(p.slope0[i], length);
        if (!add_key(job, k, p.end, p.angles, end ? from + 1 : from, end ? flags : KF_KEY_HELPER))
            return false;
        for (int i = 0; i < 3; i++)
            k->curve[i].handles[k->count - 1].in = kfi_slope_handle(p.slope1[i], -length);
        now->time = p.end;
        memcpy(now->angles, p.angles, sizeof now->angles);
        while (at + 2 < w->count && w->spots[at + 1].time <= now->time)
            at++;
    }
    return true;
}

bool kfi_euler_from_quat_curve(kf_job *job, const kf_quat_curve *from, kf_rotation_order order,
                               double tolerance, kf_curve to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = (kf_curve){0};
    if (from->count == 0)
        return true;
    keys k = {0};
    kfi_quat_segment segment;
    spot now = {.time = from->keys[0].time};
    walk w;
    w.segment = &segment;
    w.order = order;
    w.tolerance = fmax(tolerance, 1e-6); /* closer would chase rounding */
    kfi_quat_to_euler(from->keys[0].q, order, (double[3]){0.0, 0.0, 0.0}, now.angles);
    if (!make_room(job, &k, from->count) || !add_key(job, &k, now.time, now.angles, 0, from->keys[0].flags))
        return false;
    for (size_t i = 0; i + 1 < from->count; i++) {
        kfi_quat_curve_segment(from, i, &segment);
        if (!add_segment(job, &k, &w, &now, i, from->keys[i + 1].flags))
            return false;
    }
    for (int i = 0; i < 3; i++) {
        uint8_t interp = from->keys[from->count - 1].interp;
        to[i] = k.curve[i];
        to[i].count = k.count;
        to[i].origin = k.origin;
        to[i].keys[k.count - 1].interp = interp == KF_STEP ? KF_STEP : KF_HERMITE;
    }
    return true;
}
