/* A stretch of x, y and z told by handles, in keys at the same times. */
#include "curve_unite.h"
#include "fit/fit.h"
#include "together.h"

#include <string.h>

/* The original's keys first..last to begin a fit with, its TCB segments between them told by handles: for a start, unless
 * they have no ease and were not edited. *exact: all of it is what it was. */
static bool by_handles(const kfi_together *g, unsigned c, size_t first, size_t last, kf_curve *to, bool *exact)
{
    const kf_curve *from = kfi_original(g, c);
    *to = *from;
    to->fbx_data = NULL;
    kf_origin *origin = kfi_alloc(g->t->job, last + 1 - first, sizeof *origin);
    if (!origin || !kfi_make_keys(g->t->job, to, last + 1 - first, kfi_parts(from) | KFI_HANDLES))
        return false;
    to->origin = origin;
    *exact = true;
    for (size_t i = first; i <= last; i++) {
        kf_key *key = &to->keys[i - first];
        kf_handles *handles = &to->handles[i - first];
        kf_handle in = handles->in; /* that of the segment before */
        bool arrives = i > first && from->keys[i - 1].interp == KF_TCB;
        kfi_copy_keys(to, i - first, from, i, 1);
        if (arrives)
            handles->in = in;
        origin[i - first] = (kf_origin){(uint32_t)i, arrives ? KF_CHANGED_IN : 0u};
        if (i == last)
            break;
        bool edited = g->edited[c][i + 1], eased = kfi_segment_eased(from, i);
        *exact = *exact && !edited && !eased;
        if (key->interp != KF_TCB)
            continue;
        kfi_segment s;
        kfi_curve_segment(from, i, &s);
        key->interp = edited || eased || !(g->t->input->capabilities->interps >> KF_HERMITE & 1) ? KF_BEZIER : KF_HERMITE;
        handles->out = s.h0;
        handles[1].in = s.h1;
        origin[i - first].changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
    }
    return true;
}

/* Where this component knows what it is, and another one has a key already, it gets one, too. */
static bool take_times(const kfi_together *g, unsigned c, const kf_curve *other, kf_curve *curve)
{
    const kfi_seen *seen = &g->seen[c];
    double *times = kfi_alloc_raw(g->t->job, curve->count + other->count, sizeof *times);
    size_t count = 0, at = kfi_seen_from(seen, curve->keys[0].time);
    if (!times)
        return false;
    for (size_t i = 0, k = 0; k < curve->count; k++) {
        double time = curve->keys[k].time;
        for (; i < other->count && other->keys[i].time < time; i++) {
            while (at < seen->count && seen->times[at] < other->keys[i].time)
                at++;
            if (k > 0 && at < seen->count && seen->times[at] == other->keys[i].time && seen->times[at] > times[count - 1])
                times[count++] = seen->times[at];
        }
        times[count++] = time;
    }
    return count == curve->count || kfi_split_curve(g->t->job, curve, times, count, 0, curve);
}

/* Eased segments that nobody edited: pieces begin with the slopes they have. */
static void set_slopes(const kfi_together *g, unsigned c, kf_curve *curve)
{
    const kf_curve *from = kfi_original(g, c);
    size_t i = curve->origin[0].key == KF_NEW ? 0 : curve->origin[0].key; /* new: before the first of the original's */
    for (size_t k = 0; k + 1 < curve->count; k++) {
        const kf_key *key = &curve->keys[k];
        kf_handles *handles = &curve->handles[k];
        while (i + 1 < from->count && from->keys[i + 1].time <= key->time)
            i++;
        if (i + 1 == from->count || from->keys[i].time > key->time || !kfi_segment_eased(from, i) || g->edited[c][i + 1])
            continue;
        kfi_segment s;
        kfi_curve_segment(from, i, &s);
        double length = key[1].time - key->time, hair = 1e-5 * length, end = key[1].time;
        handles->out = kfi_slope_handle((kfi_segment_value(&s, key->time + hair) - kfi_segment_value(&s, key->time)) / hair, length);
        handles[1].in = kfi_slope_handle((kfi_segment_value(&s, end) - kfi_segment_value(&s, end - hair)) / hair, -length);
    }
}

/* Fits what came back of a span. `from` are the keys to begin with. */
static bool fit_span(const kfi_together *g, unsigned c, const kfi_span *s, const kf_curve *from, kf_curve *to)
{
    const kfi_seen *seen = &g->seen[c];
    const kf_key *keys = kfi_original(g, c)->keys;
    size_t begin = s->first > 0 ? kfi_seen_from(seen, keys[s->first - 1].time) : 0;
    size_t end = s->last <= g->count ? kfi_seen_from(seen, keys[s->last - 1].time) + 1 : seen->count;
    kfi_fit_options options = {.interps = g->t->input->capabilities->interps & ~(1u << KF_TCB),
                               .tolerance = seen->tolerance,
                               .original = from,
                               .handles = true,
                               .between = seen->between + begin};
    if (!kfi_fit(g->t->job, seen->times + begin, seen->value + begin, end - begin, &options, to))
        return false;
    kfi_pass_on(from, kfi_original(g, c), to);
    return true;
}

static bool unite(const kfi_together *g, kfi_span *s)
{
    kf_track track = *g->t->original;
    size_t more;
    memcpy(track.curve, s->curve, sizeof track.curve);
    if (!kfi_unite_keys(g->t->job, &track, g->t->input->tolerance, &more))
        return false;
    memcpy(s->curve, track.curve, sizeof track.curve);
    return true;
}

kfi_span *kfi_make_span(kfi_together *g, size_t first, size_t last)
{
    kfi_span *s = kfi_alloc(g->t->job, 1, sizeof *s);
    if (!s)
        return NULL;
    *s = (kfi_span){.first = first, .last = last};
    size_t begin = first > 0 ? first - 1 : 0, end = last <= g->count ? last - 1 : g->count - 1;
    bool made[3] = {false};
    for (unsigned pass = 0; pass < 2; pass++) { /* those that were edited first */
        for (unsigned c = 0; c < g->t->original->curves; c++) {
            bool edited = false, exact;
            for (size_t i = first; i < last; i++)
                edited = edited || g->edited[c][i];
            kf_curve from;
            if (edited != (pass == 0))
                continue;
            if (!by_handles(g, c, begin, end, &from, &exact))
                return NULL;
            for (unsigned other = 0; other < 3; other++)
                if (made[other] && !take_times(g, c, &s->curve[other], &from))
                    return NULL;
            set_slopes(g, c, &from);
            s->curve[c] = from;
            made[c] = true;
            if ((edited || !exact) && !fit_span(g, c, s, &from, &s->curve[c]))
                return NULL;
        }
    }
    if (!unite(g, s))
        return NULL;
    for (size_t i = first; i < last; i++)
        g->open[i] = true;
    g->at[first] = s;
    return s;
}
