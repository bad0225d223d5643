/* What is known of TCB keys' motion between the samples of a bake of which a part was edited. */
#include "shared.h"

unsigned kfi_shared_known(const kfi_shared_samples *from, size_t i)
{
    unsigned known = 0;
    for (unsigned c = 0; c < from->curves; c++)
        known |= from->between[c] && !isnan(from->between[c][i]) ? 1u << c : 0u;
    return known;
}

static bool has_key(const kf_curve *curve, double time)
{
    size_t low = 0, high = curve->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->keys[middle].time < time - 1e-7)
            low = middle + 1;
        else
            high = middle;
    }
    return low < curve->count && curve->keys[low].time <= time + 1e-7;
}

enum { FINEST = 32 };

/* By how much a curve was edited from sample i to the next. */
static double edit_step(const kfi_shared_samples *from, unsigned c, size_t i)
{
    return from->values[c][i + 1] - kfi_curve_value(from->original[c], from->times[i + 1], 0.0) -
           (from->values[c][i] - kfi_curve_value(from->original[c], from->times[i], 0.0));
}

/* Whether the edit jumps between sample i and the next, and is even before and after that. */
static bool edit_jumps(const kfi_shared_samples *from, unsigned c, size_t i)
{
    double most = 4.0 * from->tolerance[c];
    if (i > 0)
        most = fmax(most, 20.0 * fabs(edit_step(from, c, i - 1)));
    if (i + 2 < from->count)
        most = fmax(most, 20.0 * fabs(edit_step(from, c, i + 1)));
    return fabs(edit_step(from, c, i)) > most;
}

/* Whether a jump ends or begins beside interval i; between two of them nothing is known. */
static bool beside_jump(const kfi_shared_samples *from, size_t i)
{
    bool before = false, behind = false;
    for (unsigned c = 0; c < from->curves; c++) {
        before = before || (i > 0 && edit_jumps(from, c, i - 1));
        behind = behind || (i + 2 < from->count && edit_jumps(from, c, i + 1));
    }
    return before != behind;
}

size_t kfi_shared_places(const kfi_shared_samples *from, size_t i, bool jumps, double places[KFI_SHARED_PLACES])
{
    unsigned known = kfi_shared_known(from, i);
    if (!known && !(jumps && beside_jump(from, i)))
        return 0;
    double start = from->times[i], gap = from->times[i + 1] - start;
    const bool bends[2] = {
        (i > 0 && kfi_shared_known(from, i - 1) != known) || has_key(from->original[0], start),
        (i + 2 < from->count && kfi_shared_known(from, i + 1) != known) || has_key(from->original[0], from->times[i + 1])};
    size_t count = 0;
    for (unsigned part = 1; part < FINEST; part++) {
        unsigned away = part < FINEST / 2 ? part : FINEST - part;
        bool power = (away & (away - 1)) == 0;
        if (part == FINEST / 2 || (power && bends[part > FINEST / 2]))
            places[count++] = start + gap * part / FINEST;
    }
    return count;
}

/* Up to four numbers around an interval that begins with number `at`, at the share x of it. A bend at one end alone, as sharp as the
 * steps are high, is a corner or a jump: what is beyond it does not count. */
static double around(const double v[4], int first, int last, int at, double x)
{
    double line = v[at] + x * (v[at + 1] - v[at]), bend[2] = {0, 0}, high = 0.0;
    for (int k = first; k < last; k++)
        high = fmax(high, fabs(v[k + 1] - v[k]));
    for (int side = 0; side < 2; side++)
        if (at + side > first && at + side < last)
            bend[side] = v[at + side - 1] - 2.0 * v[at + side] + v[at + side + 1];
    const bool ends[2] = {at == first, at + 1 == last}; /* nothing is known beyond */
    for (int side = 0; side < 2; side++)
        if (ends[side] || (fabs(bend[side]) > 0.5 * high && fabs(bend[1 - side]) < 0.25 * fabs(bend[side])))
            bend[side] = bend[1 - side];
    /* The cubic, or parabola, that has these bends. */
    return line - x * (1.0 - x) / 6.0 * ((2.0 - x) * bend[0] + (1.0 + x) * bend[1]);
}

static double roughness(const double v[4], int first, int last)
{
    double sum = 0.0;
    for (int k = first; k + 2 <= last; k++)
        sum += fabs(v[k] - 2.0 * v[k + 1] + v[k + 2]);
    return sum;
}

double kfi_shared_between(const kfi_shared_samples *from, unsigned c, size_t i, double time)
{
    enum { AROUND = 4 };
    double v[AROUND], edit[AROUND], x = (time - from->times[i]) / (from->times[i + 1] - from->times[i]);
    int first = i > 0 ? 0 : 1, last = i + 2 < from->count ? 3 : 2;
    bool evenly = true;
    for (int k = first; k <= last; k++) {
        size_t sample = i + (size_t)k - 1;
        double gap = from->times[i + 1] - from->times[i], from_start = from->times[sample] - from->times[i];
        evenly = evenly && fabs(from_start - (k - 1) * gap) <= 0.01 * gap;
        v[k] = from->values[c][sample];
        edit[k] = v[k] - kfi_curve_value(from->original[c], from->times[sample], 0.0);
    }
    if (!evenly)
        return kfi_between_samples(from->times, from->values[c], from->count, i + 1, time);
    if (roughness(edit, first, last) < roughness(v, first, last))
        return kfi_curve_value(from->original[c], time, 0.0) + around(edit, first, last, 1, x);
    return around(v, first, last, 1, x);
}
