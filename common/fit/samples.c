/* What samples tell of the curve they were taken from: rests, jumps, and how it runs between two of them. */
#include "internal.h"

bool kfi_samples_room(kf_job *job, kfi_arena *arena, size_t count, kfi_samples *s)
{
    s->t = kfi_alloc_in(job, arena, count, sizeof *s->t);
    s->v = kfi_alloc_in(job, arena, count, sizeof *s->v);
    s->bulge = kfi_alloc_in(job, arena, count, sizeof *s->bulge);
    s->middle = kfi_alloc_in(job, arena, count, sizeof *s->middle);
    s->doubt = kfi_alloc_in(job, arena, count, sizeof *s->doubt);
    s->quarter = kfi_alloc_in(job, arena, count, sizeof *s->quarter);
    s->told = kfi_alloc_in(job, arena, count, sizeof *s->told);
    s->next_jump = kfi_alloc_in(job, arena, count, sizeof *s->next_jump);
    s->next_rest = kfi_alloc_in(job, arena, count, sizeof *s->next_rest);
    return s->t && s->v && s->bulge && s->middle && s->doubt && s->quarter && s->told && s->next_jump && s->next_rest;
}

/* Whether it was a jump before it was edited. */
static bool jumped(const kfi_samples *s, size_t i)
{
    return s->was && s->was[i][2] == s->was[i][0] && s->was[i][3] == s->was[i][0] && s->was[i + 1][0] != s->was[i][0];
}

/* By how much interval i rises otherwise than those beside it do, the one of them that is more like it. */
static double unevenness(const double *v, size_t count, size_t i)
{
    double rise = v[i + 1] - v[i], least = INFINITY;
    if (i > 0)
        least = fabs(rise - (v[i] - v[i - 1]));
    if (i + 2 < count)
        least = fmin(least, fabs(rise - (v[i + 2] - v[i + 1])));
    return least;
}

/* A jump that is still there is under an edit that runs on over it. Samples that have nothing to do any more with what jumped
 * there run on themselves, and then what they were edited by jumps. */
static bool still_jumps(const kfi_samples *s, size_t i)
{
    return jumped(s, i) && unevenness(s->edit, s->count, i) < unevenness(s->v, s->count, i);
}

/* A jump stands out from all that happens a few samples before and after it, but for another one. */
static bool jumps(const kfi_samples *s, size_t i)
{
    double step = fabs(s->v[i + 1] - s->v[i]), most = 0.0, beside = 0.0;
    if (s->count < 3 || !(step > 4.0 * s->tolerance))
        return false;
    if (s->told[i]) /* and how it gets there with it */
        return fabs(s->middle[i] - s->v[i]) <= 1e-6 * step;
    if (still_jumps(s, i) && fabs(s->was[i + 1][0] - s->was[i][0]) > 0.5 * step)
        return true;
    for (size_t k = i < 4 ? 0 : i - 4; k < i + 5 && k + 1 < s->count; k++)
        if (k != i) {
            double other = fabs(s->v[k + 1] - s->v[k]);
            beside = fmax(beside, fmin(most, other));
            most = fmax(most, other);
        }
    return step > 6.0 * beside;
}

/* The size of the second derivative at a sample, of values that each of them has. */
static double bend(const kfi_samples *s, const double *v, size_t i)
{
    if (i == 0 || i + 1 >= s->count)
        return 0.0;
    double before = s->t[i] - s->t[i - 1], after = s->t[i + 1] - s->t[i];
    return 2.0 * fabs((v[i + 1] - v[i]) / after - (v[i] - v[i - 1]) / before) / (before + after);
}

/* How far from its chord interval i may run: by the second largest of the four bends around it. The largest
 * alone may be a corner, which says nothing of the curve beside it. */
static double bulge(const kfi_samples *s, size_t i)
{
    double first = 0.0, second = 0.0, h = s->t[i + 1] - s->t[i];
    for (size_t k = i > 0 ? i - 1 : 0; k <= i + 2; k++) {
        double b = bend(s, s->v, k);
        if (b > first) {
            second = first;
            first = b;
        } else if (b > second) {
            second = b;
        }
    }
    return 1.5 / 8.0 * h * h * second;
}

enum { MOST_AROUND = 8, MOST_NODES = MOST_AROUND + 2 };

/* What a polynomial goes through. At a time that stands there twice it is level. */
typedef struct nodes {
    int count;
    double t[MOST_NODES], v[MOST_NODES];
} nodes;

static void add_node(nodes *n, double t, double v)
{
    n->t[n->count] = t;
    n->v[n->count++] = v;
}

/* Where interval i has its quarters, by a polynomial, and by how much the last of the nodes changed the middle one, and the one
 * before it. */
typedef struct reading {
    double value[3], doubt, before;
} reading;

/* Taken instead of what was read so far, if it is in less doubt. Above what is there anyway. */
static void read_by(const kfi_samples *s, size_t i, const nodes *n, const double *above, reading *r)
{
    double d[MOST_NODES], way = 1.0, before = 1.0;
    int last = n->count - 1;
    if (last < 1 || last >= MOST_NODES) /* never: it says so to those who read no further than this */
        return;
    for (int k = 0; k <= last; k++)
        d[k] = n->v[k];
    for (int level = 1; level <= last; level++)
        for (int k = last; k >= level; k--) {
            double gap = n->t[k] - n->t[k - level];
            d[k] = gap != 0.0 ? (d[k] - d[k - 1]) / gap : 0.0;
        }
    for (int k = 0; k < last; k++) {
        before = way;
        way *= 0.5 * (s->t[i] + s->t[i + 1]) - n->t[k];
    }
    if (!(fabs(d[last] * way) < r->doubt))
        return;
    r->doubt = fabs(d[last] * way);
    r->before = fabs(d[last - 1] * before);
    for (int q = 0; q < 3; q++) {
        double x = s->t[i] + 0.25 * (q + 1) * (s->t[i + 1] - s->t[i]), value = d[last];
        for (int k = last - 1; k >= 0; k--)
            value = d[k] + value * (x - n->t[k]);
        r->value[q] = value + (above ? above[q] : 0.0);
    }
}

/* By `count` samples from `first` on, of the samples or of how much they were edited. */
static void read_through(const kfi_samples *s, size_t i, bool edit, size_t first, size_t count, reading *r)
{
    nodes n = {.count = 0};
    for (size_t k = first; k < first + count; k++)
        add_node(&n, s->t[k], edit ? s->edit[k] : s->v[k]);
    read_by(s, i, &n, edit ? s->was[i] + 1 : NULL, r);
}

/* Beyond what was edited nothing was: if the edit begins and ends gently, it is level there. The nearer of the two ends is the
 * last of the nodes, so that the doubt is about just that. */
static void read_gentle(const kfi_samples *s, size_t i, const size_t range[2], size_t first, size_t count, reading *r)
{
    size_t low = range[0], high = range[1];
    double none = 1e-3 * s->tolerance;
    const bool level[2] = {first == low && fabs(s->edit[low]) <= none && (low == 0 || s->told[low - 1]),
                           first + count == high + 1 && fabs(s->edit[high]) <= none && (high + 1 == s->count || s->told[high])};
    if (!level[0] && !level[1])
        return;
    bool back = level[0] && (!level[1] || i - low < high - 1 - i);
    nodes n = {.count = 0};
    for (size_t k = 0; k < count; k++) {
        size_t at = back ? first + count - 1 - k : first + k;
        add_node(&n, s->t[at], s->edit[at]);
        if ((level[0] && at == low) || (level[1] && at == high))
            add_node(&n, s->t[at], s->edit[at]);
    }
    read_by(s, i, &n, s->was[i] + 1, r);
}

/* Interval i by five samples around it or on one side, whichever lie most evenly: so that the far side of a corner does not
 * count. Or by eight around it, where the motion is fast and smooth. Only samples range[0]..range[1] count. */
static void read_around(const kfi_samples *s, size_t i, bool edit, const size_t range[2], reading *best, reading *wide)
{
    enum { FEW = 5 };
    size_t low = range[0], high = range[1], count = high + 1 - low;
    size_t few = count < FEW ? count : FEW, many = count < MOST_AROUND ? count : MOST_AROUND;
    if (few < 3)
        return;
    size_t last = i + few <= high + 1 ? i : high + 1 - few;
    for (size_t first = i < low + few - 2 ? low : i - (few - 2); first <= last; first++)
        read_through(s, i, edit, first, few, best);
    /* Between two corners near to each other there may be four only: they say it where they lie on one line, for on one cubic
     * they may lie by chance. */
    reading short_of = {.doubt = INFINITY};
    for (size_t first = i < low + 2 ? low : i - 2; best->doubt > s->tolerance && first <= i && first + 4 <= high + 1; first++)
        read_through(s, i, edit, first, 4, &short_of);
    if (short_of.doubt <= 0.01 * s->tolerance && short_of.before <= 0.01 * s->tolerance)
        *best = short_of;
    size_t before = i < low + many / 2 - 1 ? low : i - (many / 2 - 1);
    before = before + many <= high + 1 ? before : high + 1 - many;
    if (many > few)
        read_through(s, i, edit, before, many, wide);
    reading gentle = {.doubt = INFINITY};
    if (edit)
        read_gentle(s, i, range, before, many, &gentle);
    /* On an edit that is the same from both ends the last node may change nothing, though the ends are not level: then the samples
     * alone say otherwise. Of an even number of them the last changes nothing there, either, though they say little: the one before
     * it tells. */
    double sure = fmax(wide->doubt, wide->before);
    if (gentle.doubt <= 2.0 * sure && !(fabs(gentle.value[1] - wide->value[1]) > 2.0 * sure))
        *wide = gentle;
}

/* Whether interval i was edited, and not by a jump. */
static bool goes_on(const kfi_samples *s, size_t i)
{
    return !s->told[i] && (jumped(s, i) ? still_jumps(s, i) : !jumps(s, i));
}

/* The samples near interval i up to where the edit begins and ends. It may run evenly where what it was added to does not: that
 * jumps, or has the corners of its own keys. */
static void edit_around(const kfi_samples *s, size_t i, size_t range[2])
{
    range[0] = i;
    range[1] = i + 1;
    while (range[0] > 0 && goes_on(s, range[0] - 1) && i - range[0] < MOST_AROUND)
        range[0]--;
    while (range[1] + 1 < s->count && goes_on(s, range[1]) && range[1] - i < MOST_AROUND)
        range[1]++;
}

/* Whether the middle of interval i may lie so far above its chord, by the largest of the four bends around it. */
static bool bends_so(const kfi_samples *s, const double *v, size_t i, double above)
{
    double most = 0.0, h = s->t[i + 1] - s->t[i];
    for (size_t k = i > 0 ? i - 1 : 0; k <= i + 2; k++)
        most = fmax(most, bend(s, v, k));
    return fabs(above) <= s->tolerance + 1.5 / 8.0 * h * h * most;
}

/* Beside an end, or a jump, a polynomial through noise may swing out far, and be in little doubt by chance. */
static bool is_plausible(const kfi_samples *s, size_t i, double middle)
{
    return bends_so(s, s->v, i, middle - 0.5 * (s->v[i] + s->v[i + 1])) ||
           (s->was && bends_so(s, s->edit, i, middle - s->was[i][2] - 0.5 * (s->edit[i] + s->edit[i + 1])));
}

static void guess_middle(kfi_samples *s, size_t i, const size_t range[2])
{
    s->doubt[i] = 0.0;
    if (s->told[i]) {
        for (int q = 0; q < 2; q++)
            s->quarter[i][q] = s->was ? s->was[i][1 + 2 * q] : NAN;
        return;
    }
    double rise = s->v[i + 1] - s->v[i];
    const reading none = {{s->v[i] + 0.25 * rise, s->v[i] + 0.5 * rise, s->v[i] + 0.75 * rise}, INFINITY, 0.0};
    reading best = none, wide = {.doubt = INFINITY};
    read_around(s, i, false, range, &best, &wide);
    if (s->was && goes_on(s, i)) {
        size_t edited[2];
        edit_around(s, i, edited);
        read_around(s, i, true, edited, &best, &wide);
    }
    /* Five of a wave may happen to lie on a cubic: what many say counts then, and is off by far less than without the last of
     * them. Unless corners may be among so many: those of an edit are few. */
    if (wide.doubt < fmax(best.doubt, s->was ? 0.1 * best.before : 0.0)) {
        best = wide;
        best.doubt *= s->was ? 0.1 : 1.0;
    }
    if ((i == range[0] || i + 1 == range[1]) && !is_plausible(s, i, best.value[1])) {
        double doubt = fmax(best.doubt, s->tolerance);
        best = none;
        best.doubt = doubt;
    }
    s->quarter[i][0] = best.value[0];
    s->middle[i] = best.value[1];
    s->quarter[i][1] = best.value[2];
    s->doubt[i] = best.doubt;
}

/* The middles between samples low..high, which lie on one curve as far as can be seen. */
static void guess_middles(kfi_samples *s, size_t low, size_t high)
{
    for (size_t i = low; i < high; i++)
        guess_middle(s, i, (size_t[2]){low, high});
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
    *low = s->middle[i] - kfi_within(s, i);
    *high = s->middle[i] + kfi_within(s, i);
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

bool kfi_told_fit(const kfi_samples *s, size_t i, const kfi_segment *segment)
{
    enum { LOOKS = 8 };
    double times[LOOKS], values[LOOKS], step = (s->t[i + 1] - s->t[i]) / LOOKS, within = kfi_within(s, i);
    if (!s->was || !s->told[i])
        return true;
    for (int k = 1; k < LOOKS; k++)
        times[k] = s->t[i] + step * k;
    kfi_segment_values(segment, times + 1, LOOKS - 1, values + 1);
    for (int k = 1; k < LOOKS; k++)
        if (!(fabs(values[k] - (k % 2 ? s->eighth[i][k / 2] : s->was[i][k / 2])) <= within))
            return false;
    return true;
}

/* Short handles may swing out beside a key, where no middle shows it: where the samples tell, the quarters of interval i are
 * looked at, too. Where only middles are told, two cubics say where they are, and how little they know. */
bool kfi_quarters_fit(const kfi_samples *s, size_t i, const kfi_segment *segment)
{
    double t[5], v[5], times[2], values[2];
    if (s->was && s->told[i])
        return true;
    if (!isnan(s->quarter[i][0])) {
        for (int k = 0; k < 2; k++)
            times[k] = s->t[i] + 0.25 * (1 + 2 * k) * (s->t[i + 1] - s->t[i]);
        kfi_segment_values(segment, times, 2, values);
        return fabs(values[0] - s->quarter[i][0]) <= kfi_within(s, i) &&
               fabs(values[1] - s->quarter[i][1]) <= kfi_within(s, i);
    }
    if (i == 0 || i + 2 >= s->count)
        return true;
    for (size_t k = 0; k < 5; k++) {
        size_t at = i - 1 + (k + 1) / 2;
        bool middle = k % 2 == 0;
        if (middle && !kfi_middle_known(s, at))
            return true;
        t[k] = middle ? 0.5 * (s->t[at] + s->t[at + 1]) : s->t[at];
        v[k] = middle ? s->middle[at] : s->v[at];
    }
    for (int k = 0; k < 2; k++)
        times[k] = 0.5 * (t[1 + k] + t[2 + k]);
    kfi_segment_values(segment, times, 2, values);
    for (int k = 0; k < 2; k++) {
        double a = cubic_at(t, v, times[k]), b = cubic_at(t + 1, v + 1, times[k]);
        if (!(fabs(values[k] - 0.5 * (a + b)) <= s->tolerance + fabs(a - b)))
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
