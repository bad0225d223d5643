/* The samples as they come in. */
#include "internal.h"

double kfi_between_samples(const double *t, const double *v, size_t count, size_t after, double time)
{
    size_t first = after < 2 ? 0 : after - 2, last = after + 2 < count ? after + 2 : count;
    double sum = 0.0;
    for (size_t i = first; i < last; i++) {
        double part = v[i];
        for (size_t k = first; k < last; k++)
            if (k != i)
                part *= (time - t[k]) / (t[i] - t[k]);
        sum += part;
    }
    return sum;
}

/* The samples given, and one at each key of the original that lies between them. */
static bool take_samples(kfi_fitting *f, const double *times, const double *values, const double *middles, size_t count)
{
    const kf_curve *original = f->original;
    size_t most = count + (original ? original->count : 0);
    kfi_samples *s = &f->samples;
    if (!kfi_samples_room(f->job, &f->scratch, most, s))
        return false;
    size_t key = 0;
    for (size_t i = 0; i < count; i++) {
        if (s->count > 0 && !(times[i] > s->t[s->count - 1])) /* the last of equal times counts */
            s->count--;
        for (; original && key < original->count && original->keys[key].time < times[i] - KFI_SAME_TIME; key++) {
            double time = original->keys[key].time;
            if (i == 0 || time <= times[i - 1] + KFI_SAME_TIME || (s->count > 0 && time <= s->t[s->count - 1]))
                continue;
            double own = kfi_curve_value(original, time, 0.0), here = kfi_between_samples(times, values, count, i, time);
            bool same = fabs(values[i] - kfi_curve_value(original, times[i], 0.0)) <= s->tolerance &&
                        fabs(values[i - 1] - kfi_curve_value(original, times[i - 1], 0.0)) <= s->tolerance;
            if (s->count > 0)
                s->told[s->count - 1] = false; /* that was the middle of the whole */
            s->t[s->count] = time;
            s->told[s->count] = false;
            s->v[s->count++] = same ? own : here;
        }
        bool at_key =
            original && key < original->count && fabs(original->keys[key].time - times[i]) <= KFI_SAME_TIME;
        double time = at_key ? original->keys[key].time : times[i];
        double value = values[i];
        /* Taken a hair before the key, by rounding: then it is the key's if it is what the original has
         * there. */
        if (at_key && times[i] < time &&
            fabs(value - kfi_curve_value(original, times[i], 0.0)) <= s->tolerance)
            value = kfi_curve_value(original, time, 0.0);
        s->t[s->count] = s->count > 0 && !(time > s->t[s->count - 1]) ? times[i] : time;
        s->told[s->count] = middles && i + 1 < count && !isnan(middles[i]);
        s->middle[s->count] = s->told[s->count] ? middles[i] : 0.0;
        s->v[s->count++] = value;
    }
    return true;
}

bool kfi_take_before(kf_job *job, kfi_arena *arena, const kf_curve *was, kfi_samples *s)
{
    enum { BATCH = 16 };
    double times[BATCH][8], values[BATCH][8];
    s->was = kfi_alloc_in(job, arena, s->count, sizeof *s->was);
    s->eighth = kfi_alloc_in(job, arena, s->count, sizeof *s->eighth);
    s->edit = kfi_alloc_in(job, arena, s->count, sizeof *s->edit);
    s->before = was;
    if (!s->was || !s->eighth || !s->edit)
        return false;
    for (size_t first = 0; first < s->count; first += BATCH) {
        size_t n = s->count - first < BATCH ? s->count - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            const double *t = &s->t[first + i];
            double length = first + i + 1 < s->count ? t[1] - t[0] : 0.0;
            for (int k = 0; k < 8; k++)
                times[i][k] = t[0] + 0.125 * k * length;
        }
        kfi_curve_values(was, times[0], 8 * n, 0.0, values[0]);
        for (size_t i = 0; i < n; i++) {
            for (int k = 0; k < 4; k++) {
                s->was[first + i][k] = values[i][2 * k];
                s->eighth[first + i][k] = values[i][2 * k + 1];
            }
            s->edit[first + i] = s->v[first + i] - s->was[first + i][0];
        }
    }
    return true;
}

bool kfi_take_samples(kfi_fitting *f, const double *times, const double *values, size_t count, const kfi_fit_options *options)
{
    return take_samples(f, times, values, options->between, count) &&
           (!options->was || kfi_take_before(f->job, &f->scratch, options->was, &f->samples));
}
