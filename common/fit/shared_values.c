/* Curves of places, or of scales, in TCB keys that they share. */
#include "shared.h"

#include <string.h>

typedef struct values {
    unsigned curves;
    kfi_samples samples[3];
    kfi_samples seen[3]; /* those that came back alone: between them what was there, and how much that was edited, says more */
    size_t *frame;       /* for each sample, the last of these that is not later */
    const kf_curve *original[3];
    bool frames; /* keys on the samples that came back alone */
    bool strict; /* what these say counts between two of them that have a key each, too, and beside jumps there may be keys */
} values;

static void way(const void *motion, size_t a, size_t b, double to[3])
{
    const values *m = motion;
    to[0] = to[1] = to[2] = 0.0;
    for (unsigned c = 0; c < m->curves; c++)
        to[c] = (m->samples[c].v[b] - m->samples[c].v[a]) / m->samples[c].tolerance;
}

/* The slopes that keys without numbers at samples a, b and those beside them have. */
static void plain_slopes(const kfi_samples *s, size_t a, size_t b, double slope[2])
{
    const kf_tcb none = {0};
    double gap = s->t[b] - s->t[a], rise = s->v[b] - s->v[a], other;
    slope[0] = slope[1] = rise;
    if (a > 0)
        kfi_tcb_tangents(none, s->t[a] - s->t[a - 1], gap, s->v[a] - s->v[a - 1], rise, &other, &slope[0]);
    if (b + 1 < s->count)
        kfi_tcb_tangents(none, gap, s->t[b + 1] - s->t[b], rise, s->v[b + 1] - s->v[b], &slope[1], &other);
    if (a == 0) /* the rule of end keys */
        slope[0] = 0.5 * (3.0 * rise - slope[1]);
    if (b + 1 == s->count)
        slope[1] = 0.5 * (3.0 * rise - slope[0]);
    slope[0] /= gap;
    slope[1] /= gap;
}

/* Whether a sample is one that came back. */
static bool is_frame(const values *m, size_t i)
{
    return i == 0 || m->frame[i] != m->frame[i - 1];
}

static double wants(const void *motion, size_t a, size_t b, double out[3], double in[3])
{
    const values *m = motion;
    bool can = true, known = b > a + 1;
    out[2] = in[2] = out[1] = in[1] = 0.0;
    for (unsigned c = 0; c < m->curves && can; c++) {
        const kfi_samples *s = &m->samples[c];
        double slope[2], scale = (s->t[b] - s->t[a]) / s->tolerance;
        bool seen = m->strict && b == a + 1 && !s->told[a] && is_frame(m, a) && is_frame(m, b);
        can = (seen ? kfi_fit_cubic(&m->seen[c], m->frame[a], m->frame[b], slope) : kfi_fit_cubic(s, a, b, slope)) || b == a + 1;
        if (m->frames && b == a + 1 && !s->told[a]) /* anything will do: then what leaves the numbers to those that are told */
            plain_slopes(s, a, b, slope);
        known = known || s->told[a];
        out[c] = slope[0] * scale;
        in[c] = slope[1] * scale;
    }
    return !can ? 0.0 : known ? 1.0 : 0.01;
}

static double miss(const void *motion, size_t a, size_t b, const double ease[2], bool own, const double out[3],
                   const double in[3])
{
    const values *m = motion;
    double worst = 0.0, blind = 0.0;
    for (unsigned c = 0; c < m->curves; c++) {
        const kfi_samples *s = &m->samples[c];
        double third = (s->t[b] - s->t[a]) / 3.0, part = s->tolerance / 3.0;
        kfi_segment segment = {.t0 = s->t[a], .t1 = s->t[b], .v0 = s->v[a], .v1 = s->v[b], .h0 = {third, out[c] * part},
                               .h1 = {-third, -in[c] * part}, .ease0 = ease[0], .ease1 = ease[1], .shape = KFI_CUBIC};
        for (size_t i = a; i < b; i++) {
            for (int k = 1; k < 4 && b == a + 1 && s->told[i]; k += 2) {
                double time = s->t[i] + 0.25 * k * (s->t[b] - s->t[i]);
                double is = kfi_segment_value(&segment, time), should = kfi_curve_value(m->original[c], time, 0.0);
                worst = fmax(worst, fabs(is - should) / s->tolerance);
            }
            double middle = kfi_segment_value(&segment, 0.5 * (s->t[i] + s->t[i + 1]));
            if (i > a)
                worst = fmax(worst, fabs(kfi_segment_value(&segment, s->t[i]) - s->v[i]) / s->tolerance);
            if (!(own && !s->told[i]) && !kfi_middle_fits(s, i, middle)) {
                if (s->told[i] || b > a + 1)
                    worst = fmax(worst, fabs(middle - s->middle[i]) / s->tolerance + 0.05);
                blind = 1.0; /* between two frames that have a key each nobody knows better */
            }
            if (!(worst <= 2.0))
                return INFINITY;
        }
        /* Beside a jump it may swing out within one frame, further than anybody could doubt how the curve runs there. */
        if (!own && ((b == a + 1 && !kfi_extremes_fit(s, a, b, &segment, true)) ||
                     (m->strict && !kfi_extremes_fit(&m->seen[c], m->frame[a], m->frame[b - 1] + 1, &segment, false))))
            worst = fmax(worst, 1.5);
    }
    return fmax(worst, blind);
}

/* ---- the samples ---- */

/* Where they say too little, the edit is taken to run straight on: of all that it may do there, that swings out least. */
static void read_straight(kfi_samples *s)
{
    for (size_t i = 0; i + 1 < s->count; i++) {
        double part = 0.25 * (s->edit[i + 1] - s->edit[i]);
        if (s->told[i] || s->doubt[i] <= 4.0 * s->tolerance)
            continue;
        s->quarter[i][0] = s->was[i][1] + s->edit[i] + part;
        s->middle[i] = s->was[i][2] + s->edit[i] + 2.0 * part;
        s->quarter[i][1] = s->was[i][3] + s->edit[i] + 3.0 * part;
    }
}

/* What came back alone, and what was there before. */
static bool take_seen(kf_job *job, const kfi_shared_samples *from, unsigned c, kfi_samples *to)
{
    *to = (kfi_samples){.count = from->count, .tolerance = from->tolerance[c]};
    if (!kfi_samples_room(job, &job->arena, from->count, to))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        to->t[i] = from->times[i];
        to->v[i] = from->values[c][i];
        to->told[i] = kfi_shared_known(from, i) >> c & 1;
        to->middle[i] = to->told[i] ? from->between[c][i] : 0.0;
    }
    if (!kfi_take_before(job, &job->arena, from->original[c], to))
        return false;
    kfi_samples_look(to, false);
    read_straight(to);
    return true;
}

static bool take_samples(kf_job *job, const kfi_shared_samples *from, values *m)
{
    double places[KFI_SHARED_PLACES];
    size_t count = from->count;
    for (size_t i = 0; i + 1 < from->count && !m->frames; i++)
        count += kfi_shared_places(from, i, m->strict, places);
    m->curves = from->curves;
    m->frame = kfi_alloc_raw(job, count, sizeof *m->frame);
    if (!m->frame)
        return false;
    for (unsigned c = 0; c < from->curves; c++) {
        kfi_samples *s = &m->samples[c];
        m->original[c] = from->original[c];
        *s = (kfi_samples){.tolerance = from->tolerance[c]};
        if (!kfi_samples_room(job, &job->arena, count, s))
            return false;
        memset(s->told, 0, count * sizeof *s->told);
        for (size_t i = 0; i < from->count; i++) {
            m->frame[s->count] = i;
            s->t[s->count] = from->times[i];
            s->v[s->count++] = from->values[c][i];
            if (i + 1 == from->count)
                break;
            size_t more = m->frames ? 0 : kfi_shared_places(from, i, m->strict, places), first = s->count - 1;
            bool told = kfi_shared_known(from, i) >> c & 1;
            for (size_t k = 0; k < more; k++) {
                m->frame[s->count] = i;
                s->t[s->count] = places[k];
                s->v[s->count++] = told ? kfi_curve_value(from->original[c], places[k], 0.0)
                                        : kfi_shared_between(from, c, i, places[k]);
            }
            for (size_t k = first; told && k < s->count; k++) {
                double next = k + 1 < s->count ? s->t[k + 1] : from->times[i + 1];
                s->told[k] = true;
                s->middle[k] = kfi_curve_value(from->original[c], 0.5 * (s->t[k] + next), 0.0);
            }
        }
        kfi_samples_look(s, false);
        if (m->strict && !take_seen(job, from, c, &m->seen[c]))
            return false;
    }
    return true;
}

/* The original's keys among the samples, and which of its segments run through them; where something was edited before the first
 * or behind the last of them, a key of ours at the end of that. Not *same: not for here. */
typedef struct originals {
    size_t count;
    bool before, behind; /* the first or the last is ours */
    size_t *at;
    bool *kept;
    double (*tangent)[2][3];
    kf_tcb *tcb;
    bool same;
} originals;

static bool is_kept(const values *m, const kf_curve *curve, unsigned c, size_t key, const size_t at[2], double tangent[2][3])
{
    const kfi_samples *s = &m->samples[c];
    kfi_segment segment;
    kfi_curve_segment(curve, key, &segment);
    tangent[0][c] = 3.0 * segment.h0.dv / s->tolerance;
    tangent[1][c] = -3.0 * segment.h1.dv / s->tolerance;
    for (size_t i = at[0]; i < at[1]; i++)
        if (!(fabs(kfi_segment_value(&segment, s->t[i]) - s->v[i]) <= s->tolerance) ||
            (s->told[i] && !(fabs(kfi_segment_value(&segment, 0.5 * (s->t[i] + s->t[i + 1])) - s->middle[i]) <= s->tolerance)))
            return false;
    return fabs(curve->keys[key + 1].value - s->v[at[1]]) <= s->tolerance;
}

/* Room for what is known of the keys, and ours among them. */
static bool make_originals(kf_job *job, const kfi_shared_samples *from, originals *o)
{
    const kf_curve *first = from->original[0];
    o->before = from->times[0] < first->keys[0].time;
    o->behind = from->times[from->count - 1] > first->keys[first->count - 1].time;
    o->count = first->count + o->before + o->behind;
    o->at = kfi_alloc(job, o->count, sizeof *o->at);
    o->kept = kfi_alloc(job, o->count, sizeof *o->kept);
    o->tangent = kfi_alloc(job, o->count, sizeof *o->tangent);
    o->tcb = kfi_alloc(job, o->count, sizeof *o->tcb);
    return o->at && o->kept && o->tangent && o->tcb;
}

static bool look_at_original(kf_job *job, const kfi_shared_samples *from, values *m, originals *o)
{
    const kf_curve *first = from->original[0];
    size_t count = first->count, sample = 0;
    if (!make_originals(job, from, o))
        return false;
    size_t *at = o->at + o->before;
    o->at[o->count - 1] = m->samples[0].count - 1;
    o->same = true;
    for (size_t i = 0; i < count && o->same; i++) {
        while (sample + 1 < m->samples[0].count && m->samples[0].t[sample] < first->keys[i].time)
            sample++;
        at[i] = sample;
        o->tcb[i + o->before] = first->tcb[i];
        o->same = m->samples[0].t[sample] == first->keys[i].time && (i == 0 || sample > at[i - 1]);
        for (unsigned c = 0; c < from->curves && o->same; c++) {
            const kf_curve *curve = from->original[c];
            o->same = curve->count == count && curve->tcb && curve->tcb_rule == KF_TCB_KOCHANEK &&
                      curve->keys[i].time == first->keys[i].time &&
                      memcmp(&curve->tcb[i], &first->tcb[i], sizeof *o->tcb) == 0 &&
                      (i + 1 == count || curve->keys[i].interp == KF_TCB);
        }
    }
    for (size_t i = 0; i < count && o->same; i++)
        for (unsigned c = 0; c < from->curves; c++) {
            double *value = &m->samples[c].v[at[i]], own = from->original[c]->keys[i].value;
            if (fabs(*value - own) <= from->tolerance[c])
                *value = own;
        }
    for (size_t i = 0; i + 1 < count && o->same; i++) {
        bool *kept = &o->kept[i + o->before];
        *kept = true;
        for (unsigned c = 0; c < from->curves; c++)
            *kept = is_kept(m, from->original[c], c, i, at + i, o->tangent[i + o->before]) && *kept;
    }
    return true;
}

static bool make_curve(kf_job *job, const values *m, const originals *o, const kf_curve *original, unsigned c,
                       const kfi_shared_key *keys, size_t count, kf_curve *to)
{
    kf_origin *origin = kfi_alloc(job, count, sizeof *origin);
    kf_curve curve = *original;
    curve.fbx_data = NULL;
    if (!origin || !kfi_make_keys(job, &curve, count, KFI_NUMBERS))
        return false;
    for (size_t i = 0; i < count; i++) {
        const kfi_shared_key *from = &keys[i];
        kf_key key = {.time = m->samples[c].t[from->sample], .interp = KF_TCB};
        size_t number = from->origin == KF_NEW || from->origin < o->before ? KF_NEW : from->origin - o->before;
        origin[i] = (kf_origin){number < original->count ? (uint32_t)number : KF_NEW, KF_CHANGED_ALL};
        double value = m->samples[c].v[from->sample];
        if (origin[i].key != KF_NEW) {
            const kf_tcb *was = &original->tcb[number], *now = &from->tcb;
            key = original->keys[number];
            key.interp = i + 1 == count ? key.interp : KF_TCB; /* that of a last key has no meaning */
            origin[i].changed = key.value != value ? KF_CHANGED_VALUE : 0u;
            if (was->tension != now->tension || was->continuity != now->continuity || was->bias != now->bias)
                origin[i].changed |= KF_CHANGED_TCB;
            if (was->ease_in != now->ease_in || was->ease_out != now->ease_out)
                origin[i].changed |= KF_CHANGED_EASE;
        }
        key.value = value;
        curve.keys[i] = key;
        curve.tcb[i] = from->tcb;
    }
    curve.origin = origin;
    *to = curve;
    return true;
}

/* ---- all of it ---- */

/* Whether all curves are at sample i what they are at sample k, but for a share of the tolerance. */
static bool rests(const kfi_shared_samples *from, size_t i, size_t k, double share)
{
    for (unsigned c = 0; c < from->curves; c++)
        if (!(fabs(from->values[c][i] - from->values[c][k]) <= share * from->tolerance[c]))
            return false;
    return true;
}

/* Before the first key and behind the last the motion rests: samples there are left out, but for those from or up to the time at
 * which it does. */
static void leave_out_rests(kfi_shared_samples *from)
{
    double start = from->original[0]->keys[0].time, end = from->original[0]->keys[from->original[0]->count - 1].time;
    size_t first = 0, last = from->count - 1, head = 0, tail = last; /* the samples at those two keys */
    while (head < last && from->times[head] < start)
        head++;
    while (tail > 0 && from->times[tail] > end)
        tail--;
    while (last > tail && rests(from, last, tail, 1.0))
        last--;
    if (last > tail)
        for (last = from->count - 1; last > tail + 1 && rests(from, last - 1, from->count - 1, 1e-3);)
            last--;
    while (first < head && rests(from, first, head, 1.0))
        first++;
    if (first < head)
        for (first = 0; first + 1 < head && rests(from, first + 1, 0, 1e-3);)
            first++;
    from->count = last >= first ? last - first + 1 : 0;
    from->times += first;
    for (unsigned c = 0; c < from->curves; c++) {
        from->values[c] += first;
        from->between[c] = from->between[c] ? from->between[c] + first : NULL;
    }
}

/* Not *done: no way was found, or none with fewer keys than `most`. */
static bool fit_keys(kf_job *job, const kfi_shared_samples *from, bool frames, bool strict, bool rests, size_t most,
                     kf_curve fitted[3], bool *done)
{
    values m = {.frames = frames, .strict = strict};
    originals o = {0};
    kfi_shared_key *keys = NULL;
    size_t count = 0;
    *done = false;
    if (!take_samples(job, from, &m) || !look_at_original(job, from, &m, &o))
        return false;
    kfi_shared f = {.job = job, .t = m.samples[0].t, .motion = &m, .way = way, .wants = wants, .miss = miss,
                    .rests = rests, .count = o.count, .at = o.at, .tcb = o.tcb, .kept = o.kept, .tangent = o.tangent};
    if (o.same && !kfi_fit_shared_keys(&f, &keys, &count, done))
        return false;
    *done = *done && count < most;
    for (unsigned c = 0; c < from->curves && *done; c++)
        if (!make_curve(job, &m, &o, from->original[c], c, keys, count, &fitted[c]))
            return false;
    return true;
}

bool kfi_fit_shared_values(kf_job *job, const kfi_shared_samples *samples, kf_curve fitted[3], bool *done)
{
    kfi_shared_samples from = *samples;
    bool fewer = false;
    *done = false;
    if (from.curves == 0 || from.count < 2 || from.original[0]->count < 2 || !from.original[0]->tcb)
        return true;
    leave_out_rests(&from);
    if (from.curves == 0 || from.count < 2)
        return true;
    if (!fit_keys(job, &from, false, true, false, SIZE_MAX, fitted, done) ||
        (!*done && !fit_keys(job, &from, false, true, true, SIZE_MAX, fitted, done)) ||
        (!*done && !fit_keys(job, &from, false, false, false, SIZE_MAX, fitted, done)))
        return false;
    /* Where one component is noise and another was not edited, keys between the samples help neither. */
    size_t most = *done ? fitted[0].count : SIZE_MAX;
    if (most > from.count && !fit_keys(job, &from, true, false, false, most, fitted, &fewer))
        return false;
    *done = *done || fewer;
    return true;
}
