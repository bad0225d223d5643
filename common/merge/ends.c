/* A key that was given another value or time and nothing else: the segments beside it have new ends, but nobody drew them. */
#include "internal.h"

#include <math.h>

size_t kfi_key_from(const kf_curve *curve, double time)
{
    size_t low = 0, high = curve->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (curve->keys[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find_segment(const kf_curve *curve, const double ends[2], double limit, size_t at[2])
{
    for (int k = 0; k < 2; k++) {
        at[k] = kfi_key_from(curve, ends[k] - limit);
        if (at[k] == curve->count || curve->keys[at[k]].time > ends[k] + limit)
            return false;
    }
    return at[0] < at[1];
}

static bool same_slope(const kfi_merge_track *t, double a, double b)
{
    return fabs(a - b) <= t->limits->slope * (fmax(fabs(a), fabs(b)) + 1e-3);
}

/* Whether a curve's keys between two are as they were written, and so are the slopes from the first to the last. */
static bool left_alone(const kfi_merge_track *t, const kf_curve *w, const size_t was[2], const kf_curve *e, const size_t now[2])
{
    size_t count = was[1] - was[0];
    if (now[1] - now[0] != count)
        return false;
    for (size_t k = 0; k <= count; k++) {
        const kf_key *a = &w->keys[was[0] + k], *b = &e->keys[now[0] + k];
        double in[2], out[2];
        kfi_curve_slopes(w, was[0] + k, &in[0], &out[0]);
        kfi_curve_slopes(e, now[0] + k, &in[1], &out[1]);
        if ((k > 0 && !same_slope(t, in[0], in[1])) ||
            (k < count && (a->interp != b->interp || !same_slope(t, out[0], out[1]))))
            return false;
        bool between = k > 0 && k < count;
        if (between && (fabs(b->time - t->offset - a->time) > t->limits->time ||
                        !kfi_same_value(t->limits, t->written->channel, a->value, b->value)))
            return false;
    }
    return true;
}

bool kfi_only_ends_moved(const kfi_merge_track *t, const double was[2], const double now[2])
{
    double limit = fmax(t->limits->time, 1e-6);
    const double written[2] = {was[0] + t->shift, was[1] + t->shift};
    const double edited[2] = {now[0] + t->shift + t->offset, now[1] + t->shift + t->offset};
    for (unsigned c = 0; c < t->written->curves; c++) {
        size_t w[2], e[2];
        if (!find_segment(&t->written->curve[c], written, limit, w) || !find_segment(&t->edited->curve[c], edited, limit, e) ||
            !left_alone(t, &t->written->curve[c], w, &t->edited->curve[c], e))
            return false;
    }
    return true;
}
