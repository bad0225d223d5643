/* Orientations about changing axes in TCB keys. With L- and L+ the logarithms of the ways to a key's neighbours, its squad points
 * are q exp((O - L+) / 2) behind it and q exp((L- - I) / 2) before it, where O and I are made of L- and L+ as the tangents
 * of curves are of their rises: so those are sought as if they were. */
#include "shared.h"
#include "rotation.h"

#include <string.h>

static const double SAME_TIME = 1e-5; /* seconds: a sample this near to a key is at the key */
static const double DEGREES = 2.0 * 57.29577951308232; /* of a rotation, for its logarithm */

typedef struct turns {
    size_t count;
    double *t;
    double (*q)[4];
    bool *told;        /* between this sample and the next nothing was edited: */
    double (*own)[3][4]; /* what the original has at the quarters then */
    double scale;      /* tolerances for a logarithm */
    double tolerance;  /* degrees */
    const kf_quat_curve *original;
} turns;

static void way(const void *motion, size_t a, size_t b, double to[3])
{
    const turns *m = motion;
    kfi_quat_log(m->q[a], m->q[b], to);
    for (int k = 0; k < 3; k++)
        to[k] *= m->scale;
}

static kfi_quat_segment segment_of(const turns *m, size_t a, size_t b, const double ease[2], const double out[3],
                                   const double in[3])
{
    kfi_quat_segment s = {.t0 = m->t[a], .t1 = m->t[b], .interp = KF_TCB};
    s.ease0 = fmax(ease[0], 0.0);
    s.ease1 = fmax(ease[1], 0.0);
    double l[3], v[3], sign = kfi_quat_dot(m->q[a], m->q[b]) < 0.0 ? -1.0 : 1.0;
    kfi_quat_log(m->q[a], m->q[b], l);
    memcpy(s.q0, m->q[a], sizeof s.q0);
    for (int k = 0; k < 4; k++)
        s.q1[k] = sign * m->q[b][k];
    s.arc = kfi_quat_arc(s.q0, s.q1);
    for (int k = 0; k < 3; k++)
        v[k] = 0.5 * (out[k] / m->scale - l[k]);
    kfi_quat_exp(s.q0, v, s.a0);
    for (int k = 0; k < 3; k++)
        v[k] = 0.5 * (l[k] - in[k] / m->scale);
    kfi_quat_exp(s.q1, v, s.b1);
    s.arc_ab = kfi_quat_arc(s.a0, s.b1);
    return s;
}

static double miss(const void *motion, size_t a, size_t b, const double ease[2], bool own, const double out[3],
                   const double in[3])
{
    enum { FIRST = 4 };
    const turns *m = motion;
    kfi_quat_segment s = segment_of(m, a, b, ease, out, in);
    double worst = 0.0, is[4];
    (void)own;
    for (size_t k = 1; k < FIRST && b - a > 2 * FIRST; k++) { /* most miss at first sight */
        size_t i = a + (b - a) * k / FIRST;
        kfi_quat_segment_value(&s, m->t[i], is);
        if (!(kfi_quat_angle(is, m->q[i]) <= 2.0 * m->tolerance))
            return INFINITY;
    }
    for (size_t i = a; i < b; i++) {
        if (i > a) {
            kfi_quat_segment_value(&s, m->t[i], is);
            worst = fmax(worst, kfi_quat_angle(is, m->q[i]) / m->tolerance);
        }
        for (int k = b == a + 1 ? 1 : 2; k < 4 && m->told[i]; k += b == a + 1 ? 1 : 2) {
            kfi_quat_segment_value(&s, m->t[i] + 0.25 * k * (m->t[i + 1] - m->t[i]), is);
            worst = fmax(worst, kfi_quat_angle(is, m->own[i][k - 1]) / m->tolerance);
        }
        if (!(worst <= 2.0))
            return INFINITY;
    }
    return worst;
}

/* ---- what a segment wants ---- */

/* Tangents by least squares: squad moves with them as a cubic does. */
typedef struct normal {
    double a00, a01, a11, r0[3], r1[3];
} normal;

static void observe(const turns *m, normal *n, const kfi_quat_segment *s, double time, const double q[4], double *worst)
{
    double u = (time - s->t0) / (s->t1 - s->t0), f0 = u * (1.0 - u) * (1.0 - u), f1 = -u * u * (1.0 - u), is[4], off[3];
    kfi_quat_segment_value(s, time, is);
    kfi_quat_log(is, q, off);
    n->a00 += f0 * f0;
    n->a01 += f0 * f1;
    n->a11 += f1 * f1;
    for (int k = 0; k < 3; k++) {
        n->r0[k] += f0 * off[k] * m->scale;
        n->r1[k] += f1 * off[k] * m->scale;
    }
    *worst = fmax(*worst, kfi_quat_angle(is, q) / m->tolerance);
}

/* How fast it turns at a sample, by those beside it, per unit of a gap. */
static void speed_at(const turns *m, size_t i, double gap, double speed[3])
{
    double before[3] = {0}, after[3] = {0};
    size_t last = i > 0 ? i - 1 : i, next = i + 1 < m->count ? i + 1 : i;
    way(m, last, i, before);
    way(m, i, next, after);
    double t0 = m->t[i] - m->t[last], t1 = m->t[next] - m->t[i];
    for (int k = 0; k < 3; k++) {
        double s0 = t0 > 0.0 ? before[k] / t0 : after[k] / t1, s1 = t1 > 0.0 ? after[k] / t1 : s0;
        speed[k] = (t0 + t1 > 0.0 ? (s0 * t1 + s1 * t0) / (t0 + t1) : s0) * gap;
    }
}

static double wants(const void *motion, size_t a, size_t b, double out[3], double in[3])
{
    enum { ROUNDS = 4, LOOKS = 8 };
    static const double none[2] = {0.0, 0.0};
    const turns *m = motion;
    size_t step = 1 + (b - a) / LOOKS;
    double worst = 0.0, gap = m->t[b] - m->t[a];
    speed_at(m, a, gap, out);
    speed_at(m, b, gap, in);
    if (b == a + 1 && !m->told[a])
        return 0.01;
    for (int round = 0; round < ROUNDS; round++) {
        normal n = {.a00 = 1e-9, .a11 = 1e-9};
        kfi_quat_segment s = segment_of(m, a, b, none, out, in);
        worst = 0.0;
        for (size_t i = a; i < b; i += step) {
            if (i > a)
                observe(m, &n, &s, m->t[i], m->q[i], &worst);
            for (int k = b == a + 1 ? 1 : 2; k < 4 && m->told[i] && b - a < LOOKS; k += b == a + 1 ? 1 : 2) {
                observe(m, &n, &s, m->t[i] + 0.25 * k * (m->t[i + 1] - m->t[i]), m->own[i][k - 1], &worst);
            }
        }
        if (worst < 0.1 || round + 1 == ROUNDS)
            break;
        double det = n.a00 * n.a11 - n.a01 * n.a01;
        for (int k = 0; k < 3; k++) {
            out[k] += (n.r0[k] * n.a11 - n.r1[k] * n.a01) / det;
            in[k] += (n.r1[k] * n.a00 - n.r0[k] * n.a01) / det;
        }
    }
    return worst <= 1.5 || b == a + 1 ? 1.0 : 0.0; /* least squares leaves the worst above what is possible */
}

/* ---- the samples ---- */

enum { FINEST = 32 };

static bool same(const turns *m, double time, const double q[4])
{
    double own[4];
    kfi_quat_curve_value(m->original, time, own);
    return kfi_quat_angle(own, q) <= 0.01 * m->tolerance;
}

static void add_sample(turns *m, double time, const double q[4])
{
    memcpy(m->q[m->count], q, sizeof *m->q);
    kfi_quat_normalize(m->q[m->count]);
    m->told[m->count] = false;
    m->t[m->count++] = time;
}

static bool has_key(const kf_quat_curve *curve, double time)
{
    size_t low = 0, high = curve->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->keys[middle].time < time - SAME_TIME)
            low = middle + 1;
        else
            high = middle;
    }
    return low < curve->count && curve->keys[low].time <= time + SAME_TIME;
}

/* From the first key to the last. Between samples that nobody edited there may be keys, too: more of them where the bend may
 * change at once. */
static bool take_samples(kf_job *job, const double *times, const double (*q)[4], size_t count, turns *m)
{
    const kf_quat_curve *original = m->original;
    size_t room = 10 * count + original->count;
    bool *is = kfi_alloc_raw(job, count + 1, sizeof *is);
    m->t = kfi_alloc_raw(job, room, sizeof *m->t);
    m->q = kfi_alloc_raw(job, room, sizeof *m->q);
    m->told = kfi_alloc_raw(job, room, sizeof *m->told);
    m->own = kfi_alloc_raw(job, room, sizeof *m->own);
    if (!is || !m->t || !m->q || !m->told || !m->own)
        return false;
    for (size_t i = 0; i < count; i++)
        is[i] = same(m, times[i], q[i]);
    for (size_t i = 0; i < count; i++) {
        add_sample(m, times[i], q[i]);
        if (i + 1 == count || !is[i] || !is[i + 1])
            continue;
        const bool bends[2] = {(i > 0 && !is[i - 1]) || has_key(original, times[i]),
                               (i + 2 < count && !is[i + 2]) || has_key(original, times[i + 1])};
        for (unsigned part = 0; part < FINEST; part++) {
            unsigned away = part < FINEST / 2 ? part : FINEST - part;
            double time = times[i] + (times[i + 1] - times[i]) * part / FINEST, own[4];
            if (part != 0 && part != FINEST / 2 && ((away & (away - 1)) != 0 || !bends[part > FINEST / 2]))
                continue;
            kfi_quat_curve_value(original, time, own);
            if (part != 0)
                add_sample(m, time, own);
            m->told[m->count - 1] = true;
        }
    }
    for (size_t i = 0; i + 1 < m->count; i++)
        for (int k = 0; k < 3 && m->told[i]; k++)
            kfi_quat_curve_value(original, m->t[i] + 0.25 * (k + 1) * (m->t[i + 1] - m->t[i]), m->own[i][k]);
    return true;
}

typedef struct originals {
    size_t *at;
    bool *kept;
    double (*tangent)[2][3];
} originals;

/* What the original's segments have, and whether they run through the samples. Not *fits: it is not for here. */
static bool look_at_original(kf_job *job, turns *m, originals *o, bool *fits)
{
    const kf_quat_curve *from = m->original;
    size_t sample = 0;
    o->at = kfi_alloc_raw(job, from->count, sizeof *o->at);
    o->kept = kfi_alloc(job, from->count, sizeof *o->kept);
    o->tangent = kfi_alloc(job, from->count, sizeof *o->tangent);
    if (!o->at || !o->kept || !o->tangent)
        return false;
    *fits = true;
    for (size_t i = 0; i < from->count && *fits; i++) {
        const kf_quat_key *key = &from->keys[i];
        while (sample + 1 < m->count && m->t[sample] < key->time - SAME_TIME)
            sample++;
        o->at[i] = sample;
        *fits = fabs(m->t[sample] - key->time) <= SAME_TIME && (i == 0 || sample > o->at[i - 1]) &&
                (i + 1 == from->count || key->interp == KF_TCB);
        m->t[sample] = *fits ? key->time : m->t[sample];
        if (*fits && kfi_quat_angle(key->q, m->q[sample]) <= m->tolerance)
            memcpy(m->q[sample], key->q, sizeof key->q);
    }
    *fits = *fits && o->at[0] == 0 && o->at[from->count - 1] + 1 == m->count;
    for (size_t i = 0; i + 1 < from->count && *fits; i++) {
        kfi_quat_segment s;
        double l[3], a[3], b[3], is[4];
        kfi_quat_curve_segment(from, i, &s);
        kfi_quat_log(s.q0, s.q1, l);
        kfi_quat_log(s.q0, s.a0, a);
        kfi_quat_log(s.q1, s.b1, b);
        for (int k = 0; k < 3; k++) {
            o->tangent[i][0][k] = (l[k] + 2.0 * a[k]) * m->scale;
            o->tangent[i][1][k] = (l[k] - 2.0 * b[k]) * m->scale;
        }
        o->kept[i] = true;
        for (size_t k = o->at[i]; k <= o->at[i + 1] && o->kept[i]; k++) {
            kfi_quat_segment_value(&s, m->t[k], is);
            o->kept[i] = kfi_quat_angle(is, m->q[k]) <= m->tolerance;
        }
    }
    return true;
}

static bool make_curve(kf_job *job, const turns *m, const kfi_shared_key *keys, size_t count, kf_quat_curve *to)
{
    const kf_quat_curve *original = m->original;
    kf_quat_curve curve = {0};
    kf_origin *origin = kfi_alloc(job, count, sizeof *origin);
    if (!origin || !kfi_make_quat_keys(job, &curve, count, true))
        return false;
    for (size_t i = 0; i < count; i++) {
        const kfi_shared_key *from = &keys[i];
        kf_quat_key *key = &curve.keys[i];
        origin[i] = (kf_origin){from->origin, KF_CHANGED_ALL};
        *key = (kf_quat_key){.time = m->t[from->sample], .interp = KF_TCB};
        if (from->origin != KF_NEW) {
            *key = original->keys[from->origin];
            origin[i].changed = memcmp(key->q, m->q[from->sample], sizeof key->q) == 0 ? 0u : KF_CHANGED_VALUE;
            if (memcmp(&original->tcb[from->origin], &from->tcb, sizeof from->tcb) != 0)
                origin[i].changed |= KF_CHANGED_TCB;
        }
        memcpy(key->q, m->q[from->sample], sizeof key->q);
        curve.tcb[i] = from->tcb;
    }
    curve.origin = origin;
    *to = curve;
    return true;
}

/* Outside the keys their ends are held. */
static bool held(const double end[4], const double (*q)[4], size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!(kfi_quat_angle(end, q[i]) <= tolerance))
            return false;
    return true;
}

bool kfi_fit_shared_quats(kf_job *job, const double *times, const double (*q)[4], size_t count, const kf_quat_curve *original,
                          double tolerance, kf_quat_curve *fitted, bool *done)
{
    turns m = {.scale = DEGREES / tolerance, .tolerance = 0.95 * tolerance, .original = original};
    *done = false;
    if (original->count < 2 || !original->tcb)
        return true;
    size_t first = 0, end = count;
    while (end > 0 && times[end - 1] > original->keys[original->count - 1].time + SAME_TIME)
        end--;
    while (first < end && times[first] < original->keys[0].time - SAME_TIME)
        first++;
    if (first == end || !held(q[first], q, first, tolerance) || !held(q[end - 1], q + end, count - end, tolerance))
        return true;
    times += first;
    q += first;
    count = end - first;
    originals o = {0};
    kfi_shared_key *keys = NULL;
    size_t made = 0;
    bool fits = count >= 2;
    if (!fits)
        return true;
    if (!take_samples(job, times, q, count, &m) || !look_at_original(job, &m, &o, &fits))
        return false;
    kfi_shared f = {.job = job, .t = m.t, .motion = &m, .way = way, .wants = wants, .miss = miss, .mirrored = true,
                    .count = original->count, .at = o.at, .tcb = original->tcb, .kept = o.kept, .tangent = o.tangent};
    if (fits && !kfi_fit_shared_keys(&f, &keys, &made, &fits))
        return false;
    if (!fits)
        return true;
    kf_quat_curve curve;
    if (!make_curve(job, &m, keys, made, &curve))
        return false;
    for (size_t i = 0; i < count && fits; i++) {
        double is[4];
        kfi_quat_curve_value(&curve, times[i], is);
        fits = kfi_quat_angle(is, q[i]) <= tolerance;
    }
    if (fits)
        *fitted = curve;
    *done = fits;
    return true;
}
