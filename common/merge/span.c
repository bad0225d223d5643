/* A stretch of x, y and z told by handles, in keys at the same times. */
#include "curve_unite.h"
#include "fit/joint.h"
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

/* ---------------------------------------------------------------- where the keys are */

/* What came back of a span: samples begin..end - 1. */
typedef struct stretch {
    const kfi_together *g;
    const kfi_span *s;
    size_t begin, end;
    size_t *places, count; /* of the keys, counted from begin */
} stretch;

static stretch stretch_of(const kfi_together *g, const kfi_span *s, unsigned c)
{
    const kfi_seen *seen = &g->seen[c];
    const kf_key *keys = kfi_original(g, c)->keys;
    size_t begin = s->first > 0 ? kfi_seen_from(seen, keys[s->first - 1].time) : 0;
    size_t end = s->last <= g->count ? kfi_seen_from(seen, keys[s->last - 1].time) + 1 : seen->count;
    return (stretch){g, s, begin, end, NULL, 0};
}

static kfi_fit_options options_for(const stretch *x, unsigned c, const kf_curve *from)
{
    const kfi_seen *seen = &x->g->seen[c];
    return (kfi_fit_options){.interps = x->g->t->input->capabilities->interps & ~(1u << KF_TCB),
                             .tolerance = seen->tolerance,
                             .original = from,
                             .handles = true,
                             .between = seen->between ? seen->between + x->begin : NULL,
                             .was = seen->baked ? kfi_original(x->g, c) : NULL};
}

static bool holds(const void *context, int side, size_t sample)
{
    const stretch *x = context;
    double value[3];
    for (unsigned c = 0; c < x->g->t->original->curves; c++)
        value[c] = x->g->seen[c].value[x->begin + sample];
    return kfi_border_holds(x->g, x->s, side, x->g->seen[0].times[x->begin + sample], value);
}

/* Whether all components are known at the same times: a program may have left some of them out of one. */
static bool alike(const stretch *x)
{
    for (unsigned c = 1; c < x->g->t->original->curves; c++) {
        stretch y = stretch_of(x->g, x->s, c);
        if (y.begin != x->begin || y.end != x->end ||
            memcmp(x->g->seen[c].times + y.begin, x->g->seen[0].times + x->begin, (x->end - x->begin) * sizeof(double)) != 0)
            return false;
    }
    return true;
}

/* `from` are the keys to begin with. None: each component is to have its own. */
static bool find_places(stretch *x, const kf_curve from[3])
{
    const kfi_together *g = x->g;
    kf_job *job = g->t->job;
    size_t count = x->end - x->begin;
    if (!alike(x))
        return true;
    bool *own = kfi_alloc(job, count, sizeof *own);
    x->places = kfi_alloc_raw(job, count, sizeof *x->places);
    if (!own || !x->places)
        return false;
    for (size_t i = 0, k = 0; i < count; i++) {
        while (k < g->count && kfi_original(g, 0)->keys[k].time < g->seen[0].times[x->begin + i])
            k++;
        own[i] = k < g->count && kfi_original(g, 0)->keys[k].time == g->seen[0].times[x->begin + i];
    }
    kfi_joint joint = {.curves = g->t->original->curves, .times = g->seen[0].times + x->begin, .count = count, .own = own,
                       .holds = holds, .context = x};
    for (unsigned c = 0; c < joint.curves; c++) {
        joint.values[c] = g->seen[c].value + x->begin;
        joint.options[c] = options_for(x, c, &from[c]);
    }
    return kfi_fit_places(job, &joint, x->places, &x->count);
}

/* ---------------------------------------------------------------- keys there to begin with */

/* A curve with keys at the places, and at those that it has. */
static bool split_at(const stretch *x, kf_curve *curve)
{
    const double *seen = x->g->seen[0].times + x->begin;
    double *times = kfi_alloc_raw(x->g->t->job, curve->count + x->count, sizeof *times);
    size_t count = 0, k = 0;
    if (!times)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        double time = seen[x->places[i]];
        for (; k < curve->count && curve->keys[k].time <= time; k++)
            times[count++] = curve->keys[k].time;
        if (count == 0 || times[count - 1] < time)
            times[count++] = time;
    }
    return kfi_split_curve(x->g->t->job, curve, times, count, 0, curve);
}

/* Nothing is known of the segment after a key but where it ends. */
static void forget(kf_curve *curve, size_t i)
{
    kf_key *key = &curve->keys[i];
    double dt = (key[1].time - key->time) / 3.0, dv = (key[1].value - key->value) / 3.0;
    key->flags |= KF_KEY_HELPER;
    curve->handles[i].out = (kf_handle){dt, dv};
    curve->handles[i + 1].in = (kf_handle){-dt, -dv};
}

/* Only the keys at the places, new ones with the values that came back. Where segments became one, or one that was edited became
 * several, nothing is left of their handles. */
static bool only_places(const stretch *x, unsigned c, kf_curve *curve, bool *exact)
{
    const kf_curve from = *curve;
    const kfi_seen *seen = &x->g->seen[c];
    kf_origin *origin = kfi_alloc(x->g->t->job, x->count, sizeof *origin);
    if (!origin || !kfi_make_keys(x->g->t->job, curve, x->count, kfi_parts(&from)))
        return false;
    curve->origin = origin;
    size_t k = 0, segment = x->s->first;
    bool straight = false;
    for (size_t i = 0; i < x->count; i++, k++) {
        bool passed = false;
        while (k < from.count && from.keys[k].time < seen->times[x->begin + x->places[i]]) {
            passed = true;
            k++;
        }
        kfi_copy_keys(curve, i, &from, k, 1);
        origin[i] = from.origin[k];
        if (origin[i].key == KF_NEW)
            curve->keys[i].value = seen->value[x->begin + x->places[i]];
        if (i > 0 && (straight || passed)) {
            if (curve->keys[i - 1].interp > KF_LINEAR)
                forget(curve, i - 1);
            *exact = false;
        }
        if (origin[i].key != KF_NEW)
            segment = origin[i].key + 1;
        straight = x->g->edited[c][segment] &&
                   (origin[i].key == KF_NEW || (k + 1 < from.count && from.origin[k + 1].key == KF_NEW));
    }
    return true;
}

static bool fit_span(const stretch *x, unsigned c, const kf_curve *from, kf_curve *to)
{
    const kfi_seen *seen = &x->g->seen[c];
    kfi_fit_options options = options_for(x, c, from);
    if (!kfi_fit(x->g->t->job, seen->times + x->begin, seen->value + x->begin, x->end - x->begin, &options, to))
        return false;
    for (size_t i = 0; i < to->count; i++)
        to->keys[i].flags &= (uint8_t)~KF_KEY_HELPER;
    kfi_pass_on(from, kfi_original(x->g, c), to);
    return true;
}

static bool unite(const kfi_together *g, kfi_span *s)
{
    kf_track track = *g->t->original;
    kfi_united more;
    memcpy(track.curve, s->curve, sizeof track.curve);
    if (!kfi_unite_keys(g->t->job, &track, g->t->input->tolerance, &more))
        return false;
    memcpy(s->curve, track.curve, sizeof track.curve);
    return true;
}

/* The span's last sample if the original jumps there: what came back is what lies behind the jump. NULL: it does not, or that was
 * edited. */
static double *before_jump(const kfi_together *g, const kfi_span *s, unsigned c)
{
    const kf_key *keys = kfi_original(g, c)->keys;
    if (s->last == 0 || s->last >= g->count || keys[s->last].time > keys[s->last - 1].time)
        return NULL;
    const kfi_seen *seen = &g->seen[c];
    size_t at = kfi_seen_from(seen, keys[s->last - 1].time);
    return at < seen->count && !seen->edited[at] ? &seen->value[at] : NULL;
}

static bool fill_span(const kfi_together *g, kfi_span *s)
{
    size_t first = s->first, last = s->last;
    size_t begin = first > 0 ? first - 1 : 0, end = last <= g->count ? last - 1 : g->count - 1;
    bool exact[3] = {false, false, false};
    stretch x = stretch_of(g, s, 0);
    for (unsigned c = 0; c < g->t->original->curves; c++)
        if (!by_handles(g, c, begin, end, &s->curve[c], &exact[c]))
            return false;
    if (!find_places(&x, s->curve))
        return false;
    for (unsigned c = 0; c < g->t->original->curves; c++) {
        kf_curve *curve = &s->curve[c];
        if (x.count && !split_at(&x, curve))
            return false;
        set_slopes(g, c, curve);
        if (x.count && !only_places(&x, c, curve, &exact[c]))
            return false;
        kf_curve from = *curve;
        stretch own = stretch_of(g, s, c);
        if (!exact[c] && !fit_span(&own, c, &from, curve))
            return false;
    }
    return unite(g, s);
}

kfi_span *kfi_make_span(kfi_together *g, size_t first, size_t last)
{
    double *jump[3] = {NULL}, behind[3] = {0};
    kfi_span *s = kfi_alloc(g->t->job, 1, sizeof *s);
    if (!s)
        return NULL;
    *s = (kfi_span){.first = first, .last = last};
    for (unsigned c = 0; c < g->t->original->curves; c++) {
        jump[c] = before_jump(g, s, c);
        if (!jump[c])
            continue;
        behind[c] = *jump[c];
        *jump[c] = kfi_original(g, c)->keys[last - 1].value;
    }
    bool made = fill_span(g, s);
    for (unsigned c = 0; c < 3; c++)
        if (jump[c])
            *jump[c] = behind[c];
    if (!made)
        return NULL;
    for (size_t i = first; i < last; i++)
        g->open[i] = true;
    g->at[first] = s;
    return s;
}
