/* Samples of x, y and z in keys that they share, where TCB keys are: new T, C, B sought for one component would bend the
 * others. So new keys have handles, which each component has for itself, and the original's segments that nobody edited
 * stay TCB.
 *
 * The key at the border of such a stretch gets a new neighbour, and by that other slopes. The one on the side that stays is
 * kept by other T, C, B on that key (border.c). Where there are none, a key on the new curve nearer to it may help; else
 * the segment beside it, too, is told by handles, in pieces if it has ease, and the border is one key further out. */
#include "curve_unite.h"
#include "together.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- what was edited */

static bool same_keys(const kf_track *track)
{
    for (unsigned c = 1; c < track->curves; c++) {
        if (track->curve[c].count != track->curve[0].count)
            return false;
        for (size_t i = 0; i < track->curve[c].count; i++)
            if (track->curve[c].keys[i].time != track->curve[0].keys[i].time)
                return false;
    }
    return true;
}

static bool find_edited(kfi_together *g)
{
    size_t room = g->count + 2;
    g->open = kfi_alloc(g->t->job, room, sizeof *g->open);
    g->at = kfi_alloc(g->t->job, room, sizeof(kfi_span *));
    g->number = kfi_alloc(g->t->job, room, sizeof(kf_tcb *));
    for (unsigned c = 0; c < 3; c++)
        g->edited[c] = kfi_alloc(g->t->job, room, sizeof *g->edited[c]);
    if (!g->open || !g->at || !g->number || !g->edited[0] || !g->edited[1] || !g->edited[2])
        return false;
    for (unsigned c = 0; c < g->t->original->curves; c++) {
        const kfi_seen *seen = &g->seen[c];
        const kf_key *keys = kfi_original(g, c)->keys;
        for (size_t i = 0, s = 0; i < seen->count; i++) {
            while (s < g->count && keys[s].time <= seen->times[i])
                s++;
            if (!seen->edited[i])
                continue;
            g->edited[c][s] = g->open[s] = true;
            bool jump = s > 1 && keys[s - 1].time == keys[s - 2].time; /* what is before it, no sample tells */
            if (s > 0 && !jump && keys[s - 1].time == seen->times[i])
                g->edited[c][s - 1] = g->open[s - 1] = true;
        }
    }
    /* A key that is edited at an end of the samples has nothing beyond it. */
    for (unsigned c = 0; c < g->t->original->curves; c++) {
        const kfi_seen *seen = &g->seen[c];
        if (seen->times[0] >= kfi_original(g, c)->keys[0].time)
            g->edited[c][0] = g->open[0] = false;
        if (seen->times[seen->count - 1] <= kfi_original(g, c)->keys[g->count - 1].time)
            g->edited[c][g->count] = g->open[g->count] = false;
    }
    return true;
}

/* ---------------------------------------------------------------- borders */

/* The key at one end of a span: what it must keep on the side that stays, if its neighbour is that one. */
static bool keeps_slopes(const kfi_together *g, const kfi_span *s, int side, double time, const double value[3], kf_tcb *tcb)
{
    size_t key = (side ? s->last : s->first) - 1, beside = side ? key + 1 : key - 1;
    kfi_border b = {.side = side};
    for (unsigned c = 0; c < g->t->original->curves; c++) {
        const kf_curve *from = kfi_original(g, c);
        size_t segment = side ? key : key - 1;
        if (from->keys[segment].interp != KF_TCB)
            continue;
        const kf_key *here = &from->keys[key], *other = &from->keys[beside];
        kfi_segment shape;
        kfi_curve_segment(from, segment, &shape);
        b.gap[0] = fabs(other->time - here->time);
        b.gap[1] = fabs(time - here->time);
        b.near[b.count] = side ? other->value - here->value : here->value - other->value;
        b.far[b.count] = side ? here->value - value[c] : value[c] - here->value;
        b.want[b.count] = side ? 3.0 * shape.h0.dv : -3.0 * shape.h1.dv;
        b.limit[b.count++] = 0.05 * g->seen[c].tolerance;
        *tcb = from->tcb ? from->tcb[key] : (kf_tcb){0};
    }
    /* Of two keys alone the slopes follow from another rule. */
    return b.count == 0 || (g->count > 2 && kfi_border_numbers(&b, tcb));
}

/* Whether there is something beyond that end of a span which has to stay. Behind a jump the slopes are others. */
static bool has_border(const kfi_together *g, const kfi_span *s, int side)
{
    size_t place = side ? s->last : s->first, beyond = side ? place : place - 1;
    if (place < 1 || place > g->count || beyond < 1 || beyond >= g->count || g->open[beyond])
        return false;
    const kf_key *key = &kfi_original(g, 0)->keys[beyond];
    return key->time > key[-1].time;
}

bool kfi_border_holds(const kfi_together *g, const kfi_span *s, int side, double time, const double value[3])
{
    kf_tcb tcb;
    return !has_border(g, s, side) || keeps_slopes(g, s, side, time, value, &tcb);
}

static void value_at(const kfi_together *g, const kfi_span *s, double time, double value[3])
{
    for (unsigned c = 0; c < g->t->original->curves; c++)
        value[c] = kfi_curve_value(&s->curve[c], time, 0);
}

/* Whether each segment has room for its handles: a part of one whose handles pass each other in time need not. */
static bool has_room(const kf_curve *curve)
{
    bool room = true;
    for (size_t i = 0; i + 1 < curve->count && room; i++) {
        double length = curve->keys[i + 1].time - curve->keys[i].time;
        room = curve->keys[i].interp != KF_BEZIER ||
               fmax(kfi_handles_of(curve, i).out.dt, -kfi_handles_of(curve, i + 1).in.dt) <= (1.0 + 1e-6) * length;
    }
    return room;
}

/* A key within the span, nearer than the one that is there, with which the border holds. */
static bool set_nearer(const kfi_together *g, kfi_span *s, int side, kf_tcb *tcb, bool *found)
{
    enum { MOST = 64 };
    const kfi_seen *seen = &g->seen[0];
    size_t had = s->curve[0].count;
    double from = s->curve[0].keys[side ? had - 2 : 0].time, to = s->curve[0].keys[side ? had - 1 : 1].time, value[3];
    double frame = 1.0 / g->t->input->original->frame_rate;
    *found = false;
    size_t first = kfi_seen_from(seen, from + 0.5 * frame), last = kfi_seen_from(seen, to - 0.5 * frame); /* those between */
    for (size_t k = 0; first + k < last && k < MOST && !*found; k++) {
        double time = seen->times[side ? first + k : last - 1 - k];
        value_at(g, s, time, value);
        *found = keeps_slopes(g, s, side, time, value, tcb);
        if (!*found)
            continue;
        double *times = kfi_alloc_raw(g->t->job, had + 1, sizeof *times);
        if (!times)
            return false;
        size_t count = 0;
        for (size_t i = 0; i < had; i++) {
            if (i > 0 && s->curve[0].keys[i].time > time && times[count - 1] < time)
                times[count++] = time;
            times[count++] = s->curve[0].keys[i].time;
        }
        kf_curve parted[3];
        for (unsigned c = 0; c < g->t->original->curves; c++) {
            if (!kfi_split_curve(g->t->job, &s->curve[c], times, count, 0, &parted[c]))
                return false;
            *found = *found && has_room(&parted[c]);
        }
        if (*found)
            memcpy(s->curve, parted, g->t->original->curves * sizeof *parted);
    }
    return true;
}

/* Goes outward from one end of a span until what is beyond it stays as it is. */
static bool settle_border(kfi_together *g, kfi_span *s, int side)
{
    for (;;) {
        size_t place = side ? s->last : s->first, count = s->curve[0].count;
        if (!has_border(g, s, side) || count < 2)
            return true;
        const kf_key *next = &s->curve[0].keys[side ? count - 2 : 1];
        double value[3];
        kf_tcb tcb = {0};
        value_at(g, s, next->time, value);
        bool holds = keeps_slopes(g, s, side, next->time, value, &tcb);
        if (!holds && !set_nearer(g, s, side, &tcb, &holds))
            return false;
        if (holds) {
            g->number[place - 1] = kfi_alloc(g->t->job, 1, sizeof tcb);
            if (g->number[place - 1])
                *g->number[place - 1] = tcb;
            return g->number[place - 1] != NULL;
        }
        s = kfi_make_span(g, side ? place : place - 1, side ? place + 1 : place);
        if (!s)
            return false;
        g->pieces += s->curve[0].count - 2;
    }
}

/* ---------------------------------------------------------------- all of it */

static bool make_spans(kfi_together *g)
{
    for (size_t s = 0; s <= g->count; s++) {
        if (!g->open[s])
            continue;
        size_t first = s;
        while (s <= g->count && g->open[s])
            s++;
        if (!kfi_make_span(g, first, s))
            return false;
    }
    for (size_t place = 0; place <= g->count; place++) {
        kfi_span *s = g->at[place];
        if (s && !(settle_border(g, s, 0) && settle_border(g, s, 1)))
            return false;
        if (s)
            place = s->last - 1;
    }
    return true;
}

typedef struct joining {
    kf_curve *to;
    kf_origin *origin;
    size_t count;
} joining;

static void join_key(const kfi_together *g, joining *j, const kf_curve *from, size_t i, kf_origin origin)
{
    size_t k = j->count++;
    kfi_copy_keys(j->to, k, from, i, 1);
    j->origin[k] = origin;
    kf_tcb *tcb = &j->to->tcb[k];
    if (origin.key == KF_NEW) {
        *tcb = (kf_tcb){0};
        return;
    }
    const kf_tcb *number = g->number[origin.key];
    if (!number)
        return;
    if (number->tension != tcb->tension || number->continuity != tcb->continuity || number->bias != tcb->bias)
        j->origin[k].changed |= KF_CHANGED_TCB;
    tcb->tension = number->tension;
    tcb->continuity = number->continuity;
    tcb->bias = number->bias;
}

/* The original's keys, and instead of them those of the spans. */
static bool join(const kfi_together *g, unsigned c, kf_curve *to)
{
    size_t room = g->count;
    for (size_t place = 0; place <= g->count; place++)
        room += g->at[place] ? g->at[place]->curve[c].count : 0;
    const kf_curve *from = kfi_original(g, c);
    *to = *from;
    joining j = {to, kfi_alloc(g->t->job, room, sizeof(kf_origin)), 0};
    if (!j.origin || !kfi_make_keys(g->t->job, to, room, KFI_HANDLES | KFI_NUMBERS))
        return false;
    bool there = false; /* the key at this place is there already */
    for (size_t place = 0; place <= g->count;) {
        const kfi_span *s = g->at[place];
        if (!s) {
            if (place > 0 && !there)
                join_key(g, &j, from, place - 1, (kf_origin){(uint32_t)place - 1, 0});
            there = false;
            place++;
            continue;
        }
        const kf_curve *part = &s->curve[c];
        if (there) { /* leaves its key by the span's handle */
            to->keys[j.count - 1].interp = part->keys[0].interp;
            to->handles[j.count - 1].out = kfi_handles_of(part, 0).out;
            j.origin[j.count - 1].changed |= part->origin[0].changed & (KF_CHANGED_OUT | KF_CHANGED_INTERP);
        }
        for (size_t i = there; i < part->count; i++)
            join_key(g, &j, part, i, part->origin[i]);
        place = s->last;
        there = place <= g->count;
        if (there) { /* what is after it is as it was, or the next span's */
            to->keys[j.count - 1].interp = from->keys[place - 1].interp;
            to->handles[j.count - 1].out = kfi_handles_of(from, place - 1).out;
            j.origin[j.count - 1].changed &= ~(uint32_t)(KF_CHANGED_OUT | KF_CHANGED_INTERP);
        }
    }
    to->count = j.count;
    to->origin = j.origin;
    to->fbx_data = NULL;
    return true;
}

/* A last look: what was not opened is what it was. */
static bool stays(const kfi_together *g, unsigned c, const kf_curve *now)
{
    for (size_t i = 0; i + 1 < now->count; i++) {
        size_t key = now->origin[i].key;
        if (key == KF_NEW || now->keys[i].interp != KF_TCB || now->origin[i + 1].key != key + 1)
            continue;
        kfi_segment a, b;
        kfi_curve_segment(kfi_original(g, c), key, &a);
        kfi_curve_segment(now, i, &b);
        if (!(fmax(fabs(a.h0.dv - b.h0.dv), fabs(a.h1.dv - b.h1.dv)) * 12.0 / 27.0 <= 0.1 * g->seen[c].tolerance))
            return false;
    }
    return true;
}

bool kfi_merge_together(kfi_merge_track *t, const kfi_seen seen[3], kf_curve fitted[3], bool *done, size_t *pieces)
{
    kfi_together g = {.t = t, .seen = seen, .count = t->original->curve[0].count};
    *done = false;
    if (g.count == 0 || !same_keys(t->original) || !find_edited(&g))
        return g.count == 0 || g.open || !same_keys(t->original);
    if (!make_spans(&g))
        return false;
    kf_curve joined[3];
    for (unsigned c = 0; c < t->original->curves; c++) {
        if (!join(&g, c, &joined[c]))
            return false;
        if (!stays(&g, c, &joined[c]))
            return true;
    }
    memcpy(fitted, joined, sizeof joined);
    *done = true;
    *pieces = g.pieces;
    return true;
}

bool kfi_tell_pieces(const kfi_merge_track *t, size_t pieces)
{
    return pieces == 0 ||
           kfi_note(t->job, "ease-split",
                    "take \"%.60s\", node \"%.60s\", %s: no tension, continuity and bias that x, y and z share say the slopes "
                    "beside what was edited: %zu more keys, so that segments with ease play as before",
                    t->take, t->input->original->nodes[t->original->node].name,
                    kfi_channel_name((kf_channel)t->original->channel), pieces);
}
