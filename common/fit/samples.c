/* What samples tell of the curve they were taken from: rests, jumps, and how it runs between two of them. */
#include "internal.h"

/* A jump stands out from all that happens a few samples before and after it, but for another one. */
static bool jumps(const kfi_samples *s, size_t i)
{
    double step = fabs(s->v[i + 1] - s->v[i]), most = 0.0, beside = 0.0;
    if (s->count < 3 || !(step > 4.0 * s->tolerance))
        return false;
    if (s->told[i] && fabs(s->middle[i] - s->v[i]) <= 1e-6 * step)
        return true;
    for (size_t k = i < 4 ? 0 : i - 4; k < i + 5 && k + 1 < s->count; k++)
        if (k != i) {
            double other = fabs(s->v[k + 1] - s->v[k]);
            beside = fmax(beside, fmin(most, other));
            most = fmax(most, other);
        }
    return step > 6.0 * beside;
}

/* The size of the second derivative at a sample. */
static double bend(const kfi_samples *s, size_t i)
{
    if (i == 0 || i + 1 >= s->count)
        return 0.0;
    double before = s->t[i] - s->t[i - 1], after = s->t[i + 1] - s->t[i];
    return 2.0 * fabs((s->v[i + 1] - s->v[i]) / after - (s->v[i] - s->v[i - 1]) / before) / (before + after);
}

/* How far from its chord interval i may run: by the second largest of the four bends around it. The largest
 * alone may be a corner, which says nothing of the curve beside it. */
static double bulge(const kfi_samples *s, size_t i)
{
    double first = 0.0, second = 0.0, h = s->t[i + 1] - s->t[i];
    for (size_t k = i > 0 ? i - 1 : 0; k <= i + 2; k++) {
        double b = bend(s, k);
        if (b > first) {
            second = first;
            first = b;
        } else if (b > second) {
            second = b;
        }
    }
    return 1.5 / 8.0 * h * h * second;
}

enum { MOST_AROUND = 8 };

/* What a polynomial goes through: the samples, or how much they were edited. */
typedef struct course {
    const double *v;
    double above; /* what the middle of the interval is in that case without any edit */
} course;

/* The polynomial through `count` samples from `first` on, at x in interval i; kept if the last of the samples changes it
 * less than what was kept so far is in doubt. */
static void guess_by(kfi_samples *s, size_t i, double x, const course *from, size_t first, int count)
{
    const double *t = s->t + first;
    double d[MOST_AROUND], value, way = 1.0;
    for (int k = 0; k < count; k++)
        d[k] = from->v[first + (size_t)k];
    for (int level = 1; level < count; level++)
        for (int k = count - 1; k >= level; k--)
            d[k] = (d[k] - d[k - 1]) / (t[k] - t[k - level]);
    value = d[count - 1];
    for (int k = count - 2; k >= 0; k--) {
        value = d[k] + value * (x - t[k]);
        way *= x - t[k];
    }
    if (fabs(d[count - 1] * way) < s->doubt[i]) {
        s->doubt[i] = fabs(d[count - 1] * way);
        s->middle[i] = from->above + value;
    }
}

/* The middle of interval i by five samples around it or on one side, whichever lie most evenly: so that the
 * far side of a corner does not count. Or by eight around it, where the motion is fast and smooth. How wrong it
 * may be is what the last of them changes. Only samples low..high count. What was edited may run more evenly than what it was
 * added to, which has the corners of its own keys. */
static void guess_middle(kfi_samples *s, size_t i, size_t low, size_t high)
{
    s->doubt[i] = 0.0;
    if (s->told[i])
        return;
    enum { FEW = 5 };
    double x = 0.5 * (s->t[i] + s->t[i + 1]);
    size_t count = high + 1 - low, few = count < FEW ? count : FEW;
    s->middle[i] = 0.5 * (s->v[i] + s->v[i + 1]);
    s->doubt[i] = INFINITY;
    if (few < 3)
        return;
    size_t last = i + few <= high + 1 ? i : high + 1 - few;
    size_t before = i < low + MOST_AROUND / 2 - 1 ? low : i - (MOST_AROUND / 2 - 1);
    const course from[2] = {{s->v, 0.0}, {s->edit, s->was ? s->was[i][2] : 0.0}};
    for (int way = 0; way < (s->was ? 2 : 1); way++) {
        for (size_t first = i < low + few - 2 ? low : i - (few - 2); first <= last; first++)
            guess_by(s, i, x, &from[way], first, (int)few);
        if (count >= MOST_AROUND)
            guess_by(s, i, x, &from[way], before + MOST_AROUND <= high + 1 ? before : high + 1 - MOST_AROUND, MOST_AROUND);
    }
}

/* The middles between samples low..high, which lie on one curve as far as can be seen. */
static void guess_middles(kfi_samples *s, size_t low, size_t high)
{
    for (size_t i = low; i < high; i++)
        guess_middle(s, i, low, high);
    double before = 0.0; /* the difference may happen to vanish here: look at those beside it too */
    for (size_t i = low; i < high; i++) {
        double here = s->doubt[i], after = i + 1 < high ? s->doubt[i + 1] : 0.0;
        if (!s->told[i])
            s->doubt[i] = 2.0 * fmax(here, fmax(before, after));
        before = here;
    }
}

/* Whether another curve begins at sample i: a rest, a motion after one, either side of a jump, or what was edited. */
static bool is_edge(const kfi_samples *s, size_t i)
{
    if (i == 0 || i + 1 == s->count || jumps(s, i) || jumps(s, i - 1) || s->told[i] != s->told[i - 1])
        return true;
    bool before = kfi_rests(s, i - 1), after = kfi_rests(s, i);
    return before != after && (before ? i > 1 && kfi_rests(s, i - 2) : i + 2 < s->count && kfi_rests(s, i + 1));
}

void kfi_middle_range(const kfi_samples *s, size_t i, double *low, double *high)
{
    /* Where it is known, the worst need not be in the middle itself. */
    double within = kfi_middle_known(s, i) ? 0.95 * s->tolerance : s->tolerance + s->doubt[i];
    *low = s->middle[i] - within;
    *high = s->middle[i] + within;
    if (kfi_middle_known(s, i) || s->doubt[i] <= 2.0 * s->tolerance)
        return;
    /* Beside a corner the bends say too little; then those that say otherwise are better known. */
    double chord = 0.5 * (s->v[i] + s->v[i + 1]), aside = s->tolerance + s->bulge[i];
    double least = fmax(*low, chord - aside), most = fmin(*high, chord + aside);
    if (most - least >= s->tolerance) {
        *low = least;
        *high = most;
    }
}

bool kfi_middle_fits(const kfi_samples *s, size_t i, double value)
{
    double low, high;
    kfi_middle_range(s, i, &low, &high);
    return value >= low && value <= high;
}

/* The cubic through four points, at x. */
static double cubic_at(const double t[4], const double v[4], double x)
{
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        double part = v[i];
        for (int k = 0; k < 4; k++)
            if (k != i)
                part *= (x - t[k]) / (t[i] - t[k]);
        sum += part;
    }
    return sum;
}

bool kfi_told_quarters_fit(const kfi_samples *s, size_t i, double first, double last)
{
    return !s->was || !s->told[i] ||
           (fabs(first - s->was[i][1]) <= s->tolerance && fabs(last - s->was[i][3]) <= s->tolerance);
}

/* Short handles may swing out beside a key, where no middle shows it: where the samples tell, the quarters of interval i are
 * looked at, too. Two cubics say where they are, or by how much they were edited, and how little they know. */
bool kfi_quarters_fit(const kfi_samples *s, size_t i, const kfi_segment *segment)
{
    if (i == 0 || i + 2 >= s->count || (s->was && s->told[i]))
        return true;
    double t[5], v[5], times[2], values[2];
    for (size_t k = 0; k < 5; k++) {
        size_t at = i - 1 + (k + 1) / 2;
        bool middle = k % 2 == 0;
        if (middle && !kfi_middle_known(s, at))
            return true;
        t[k] = middle ? 0.5 * (s->t[at] + s->t[at + 1]) : s->t[at];
        v[k] = (middle ? s->middle[at] : s->v[at]) - (s->was ? s->was[at][middle ? 2 : 0] : 0.0);
    }
    for (int k = 0; k < 2; k++)
        times[k] = 0.5 * (t[1 + k] + t[2 + k]);
    kfi_segment_values(segment, times, 2, values);
    for (int k = 0; k < 2; k++) {
        double a = cubic_at(t, v, times[k]), b = cubic_at(t + 1, v + 1, times[k]);
        double now = values[k] - (s->was ? s->was[i][1 + 2 * k] : 0.0);
        if (!(fabs(now - 0.5 * (a + b)) <= s->tolerance + fabs(a - b)))
            return false;
    }
    return true;
}

void kfi_samples_look(kfi_samples *s, bool steps)
{
    size_t low = 0;
    for (size_t i = 0; i + 1 < s->count; i++) {
        s->bulge[i] = bulge(s, i);
        s->doubt[i] = 0.0;
        if (!is_edge(s, i + 1))
            continue;
        guess_middles(s, low, i + 1);
        low = i + 1;
    }
    size_t jump = s->count, rest = jump, length = 0;
    for (size_t i = s->count; i-- > 0;) {
        bool inner = i + 1 < s->count;
        if (inner && steps && jumps(s, i))
            jump = i;
        length = inner && kfi_rests(s, i) ? length + 1 : 0;
        if (length >= 2 && (i == 0 || !kfi_rests(s, i - 1)))
            rest = i;
        s->next_jump[i] = jump;
        s->next_rest[i] = rest;
    }
}

bool kfi_rests_fit(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment)
{
    for (size_t i = a; i < b; i++) {
        if (!kfi_rests(s, i) || !kfi_middle_known(s, i) || fabs(s->middle[i] - s->v[i]) > 0.1 * s->tolerance)
            continue;
        for (int k = 1; k < 4; k += 2)
            if (!(fabs(kfi_segment_value(segment, s->t[i] + 0.25 * k * (s->t[i + 1] - s->t[i])) - s->v[i]) <= s->tolerance))
                return false;
    }
    return true;
}
