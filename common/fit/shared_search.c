/* Which samples of a stretch become keys: dynamic programming over pairs of keys that follow each other. A key's numbers are
 * known once its next neighbour is, and the segment before it then; so a way is as good as the keys up to the last but
 * one, and of those that end with the same two a few are kept. Where the stretch ends is found on the way: at the first of the
 * original's keys behind which it can stay as it was. */
#include "shared.h"
#include "curve_tcb.h"
#include "shared_tangents.h"

#include <string.h>

enum {
    MOST_SAMPLES = 3072, /* in a stretch */
    LONGEST = 64,        /* samples from one new key to the next */
    ALIKE = 2,           /* ways to the same two keys that are kept */
    FOLLOWED = 12,       /* ways to the same key that are followed, besides */
    NEAR = 4,            /* those that have a key so few samples before it */
};
static const double FAR_IN = 20.0, FAR_OUT = 15.0; /* in tolerances */
static const double NEW_KEY = 1.0, OWN_KEY = 0.98; /* what a key costs; one of the original's that stays as it is */
static const double REST = 0.1; /* and one at which the motion stands, more than another */
static const double FIRM = 1e3; /* how much more a tangent counts that is to stay */

/* Two keys that can follow each other, and what their segment wants. */
typedef struct edge {
    size_t end;
    double rise[3], out[3], in[3];
    double stress; /* how much they matter */
} edge;

/* A way that ends with two keys: that at `key` and that at the sample which has it in its list. */
typedef struct way {
    size_t key;
    size_t from, next; /* the way before; the next one in the list; SIZE_MAX: none */
    edge segment;      /* between the two */
    double cost;
    kf_tcb tcb;        /* of the key */
    double out[3];     /* its tangent */
    float tension;     /* that of the first key, where this is the second */
    bool open;         /* the key is the first, so that its tangent follows from the second's */
} way;

typedef struct search {
    const kfi_shared *f;
    kfi_arena scratch;
    size_t first, last; /* the original's keys that the stretch lies between, at most */
    size_t start, end;  /* their samples */
    size_t least;       /* of the original's keys the first that it may end at, */
    size_t ended;       /* and that which was tried last */
    bool ends;          /* it is to end at the sample at hand */
    uint32_t *origin;   /* for each sample from start on */
    size_t *list;       /* the ways that end there */
    way *ways;
    size_t count, room;
} search;

/* ---- segments ---- */

/* The original's segment between two of its keys that follow each other, if nobody edited it; else SIZE_MAX. */
static size_t kept_segment(const search *s, size_t a, size_t b)
{
    const kfi_shared *f = s->f;
    uint32_t key = a < s->start ? (uint32_t)s->first - 1 : s->origin[a - s->start];
    return key != KF_NEW && key + 1 < f->count && f->at[key + 1] == b && f->kept[key] ? key : SIZE_MAX;
}

static double miss(const search *s, size_t a, size_t b, const double out[3], const double in[3])
{
    size_t own = kept_segment(s, a, b);
    double ease[2] = {0.0, 0.0};
    if (own != SIZE_MAX) {
        ease[0] = (double)s->f->tcb[own].ease_out;
        ease[1] = (double)s->f->tcb[own + 1].ease_in;
    }
    return s->f->miss(s->f->motion, a, b, ease, own != SIZE_MAX, out, in);
}

static bool make_edge(const search *s, size_t a, size_t b, edge *e)
{
    size_t own = kept_segment(s, a, b);
    e->end = b;
    s->f->way(s->f->motion, a, b, e->rise);
    e->stress = FIRM;
    if (own == SIZE_MAX) {
        e->stress = s->f->wants(s->f->motion, a, b, e->out, e->in);
        return e->stress > 0.0;
    }
    memcpy(e->out, s->f->tangent[own][0], sizeof e->out);
    memcpy(e->in, s->f->tangent[own][1], sizeof e->in);
    return true;
}

/* Where the key after sample a may be: anywhere near, fewer places farther off, and the original's next key. */
static size_t make_edges(const search *s, size_t a, edge edges[LONGEST])
{
    size_t count = 0, next = s->end;
    unsigned failed = 0;
    for (size_t k = s->first; k <= s->last; k++)
        if (s->f->at[k] > a) {
            next = s->f->at[k];
            break;
        }
    for (size_t length = 1; length <= LONGEST && a + length <= s->end && failed < 2; length += 1 + length / 6) {
        if (make_edge(s, a, a + length, &edges[count])) {
            failed = 0;
            count++;
        } else {
            failed++;
        }
    }
    bool there = false;
    for (size_t i = 0; i < count; i++)
        there = there || edges[i].end == next;
    if (!there && make_edge(s, a, next, &edges[count]))
        count++;
    return count;
}

/* ---- ways ---- */

static size_t ways_kept(const search *s)
{
    return s->f->rests ? ALIKE + 1 : ALIKE;
}

static bool add_way(search *s, size_t at, const way *w)
{
    size_t alike = 0, most = ways_kept(s), worst = SIZE_MAX, *list = &s->list[at - s->start];
    for (size_t i = *list; i != SIZE_MAX; i = s->ways[i].next)
        if (s->ways[i].key == w->key) {
            alike++;
            worst = worst == SIZE_MAX || s->ways[i].cost > s->ways[worst].cost ? i : worst;
        }
    if (alike == most) {
        if (w->cost < s->ways[worst].cost) {
            size_t next = s->ways[worst].next;
            s->ways[worst] = *w;
            s->ways[worst].next = next;
        }
        return true;
    }
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 256;
        way *more = kfi_alloc_in(s->f->job, &s->scratch, room, sizeof *more);
        if (!more)
            return false;
        if (s->count)
            memcpy(more, s->ways, s->count * sizeof *more);
        s->ways = more;
        s->room = room;
    }
    s->ways[s->count] = *w;
    s->ways[s->count].next = *list;
    *list = s->count++;
    return true;
}

/* Whether as many ways to the same two keys as are kept cost no more than that. */
static bool is_beaten(const search *s, size_t at, size_t key, double cost)
{
    size_t better = 0, most = ways_kept(s);
    for (size_t i = s->list[at - s->start]; i != SIZE_MAX && better < most; i = s->ways[i].next)
        better += s->ways[i].key == key && s->ways[i].cost <= cost;
    return better == most;
}

/* The tangent with which a way leaves the key before the last, once that one's is known: only the first key has to wait
 * for it. */
static void leave(const search *s, const way *w, const double rise[3], const double in[3], double out[3], float *tension)
{
    memcpy(out, w->out, 3 * sizeof *out);
    if (!w->open)
        return;
    double level[3];
    kfi_end_tangent(s->f->mirrored, s->f->tcb[0], 1.0, rise, in, level);
    *tension = kfi_tension_for(level, w->segment.out, s->f->tcb[0].tension);
    kfi_scaled(level, 1.0 - (double)*tension, out);
}

/* What the segment before a key wants of its end: three quarters of what it has too much at its start make up for that. */
static void wanted_in(const way *w, double in[3])
{
    for (int c = 0; c < 3; c++)
        in[c] = w->segment.in[c] + (w->open ? 0.0 : 0.75 * (w->out[c] - w->segment.out[c]));
}

/* The sample that a way belongs to which goes on over that edge; those that are at their end are behind all samples. */
static size_t goes_to(const search *s, const edge *next)
{
    return s->ends ? s->end + 1 : next->end;
}

/* Goes on from the pair (w->key, here) to the key at the end of `next`, with these numbers for the key here. */
static bool go_on(search *s, size_t from, size_t here, const edge *next, const kfi_tcb_setting *around, kf_tcb tcb)
{
    const way w = s->ways[from];
    uint32_t origin = s->origin[here - s->start];
    way on = {.key = here, .from = from, .segment = *next, .cost = w.cost, .tcb = tcb};
    double in[3], out[3];
    for (int c = 0; c < 3; c++)
        kfi_tcb_tangents(tcb, around->gap_before, around->gap_after, around->rise_before[c], around->rise_after[c], &in[c],
                         &on.out[c]);
    if (kfi_hopeless(in, around->in, around->stress[0], FAR_IN) || kfi_hopeless(on.out, next->out, next->stress, FAR_OUT))
        return true;
    leave(s, &w, around->rise_before, in, out, &on.tension);
    double off = miss(s, w.key, here, out, in);
    if (!(off <= 1.0))
        return true;
    if (s->ends) { /* what stays behind it */
        double behind = miss(s, here, next->end, on.out, next->in);
        if (!(behind <= 1.0))
            return true;
        off = fmax(off, behind);
    }
    bool same = origin != KF_NEW && memcmp(&tcb, &s->f->tcb[origin], sizeof tcb) == 0;
    on.cost += (origin == KF_NEW ? NEW_KEY : same ? OWN_KEY : 0.99) + 1e-3 * off;
    if (s->f->rests && tcb.tension == 1.0f)
        on.cost += REST;
    return add_way(s, goes_to(s, next), &on);
}

static bool extend(search *s, size_t from, size_t here, const edge *next)
{
    const kfi_shared *f = s->f;
    const way *w = &s->ways[from];
    uint32_t origin = s->origin[here - s->start];
    kfi_tcb_setting around = {.gap_before = f->t[here] - f->t[w->key],
                              .gap_after = f->t[next->end] - f->t[here],
                              .stress = {w->segment.stress, next->stress}};
    memcpy(around.rise_before, w->segment.rise, sizeof around.rise_before);
    memcpy(around.rise_after, next->rise, sizeof around.rise_after);
    wanted_in(w, around.in);
    memcpy(around.out, next->out, sizeof around.out);
    if (is_beaten(s, goes_to(s, next), here, w->cost + (origin == KF_NEW ? NEW_KEY : OWN_KEY)))
        return true;
    if (origin != KF_NEW && !go_on(s, from, here, next, &around, f->tcb[origin]))
        return false;
    kf_tcb tcb = kfi_tcb_nearest(&around);
    if (origin != KF_NEW) {
        tcb.ease_in = f->tcb[origin].ease_in;
        tcb.ease_out = f->tcb[origin].ease_out;
    }
    if (!go_on(s, from, here, next, &around, tcb))
        return false;
    tcb.tension = 1.0f;
    return !s->f->rests || go_on(s, from, here, next, &around, tcb);
}

/* The pair (w->key, the last key of all). */
static bool arrive(search *s, size_t from)
{
    const kfi_shared *f = s->f;
    const way w = s->ways[from];
    way on = {.key = s->end, .from = from, .cost = w.cost, .tcb = f->tcb[f->count - 1]};
    const double *rise = w.segment.rise;
    double in[3], out[3], level[3], wanted[3];
    memcpy(out, w.out, sizeof out);
    wanted_in(&w, wanted);
    if (w.open && !f->mirrored) { /* two keys alone */
        on.tension = kfi_tension_for(rise, w.segment.out, f->tcb[0].tension);
        kfi_scaled(rise, 1.0 - (double)on.tension, out);
        memcpy(level, rise, sizeof level);
    } else {
        leave(s, &w, rise, rise, out, &on.tension);
        kfi_end_tangent(s->f->mirrored, on.tcb, -1.0, rise, out, level);
    }
    on.tcb.tension = kfi_tension_for(level, wanted, on.tcb.tension);
    kfi_scaled(level, 1.0 - (double)on.tcb.tension, in);
    double off = miss(s, w.key, s->end, out, in);
    on.cost += 1e-3 * off;
    return !(off <= 1.0) || add_way(s, s->end + 1, &on);
}

/* ---- a stretch ---- */

static bool prepare(search *s)
{
    const kfi_shared *f = s->f;
    size_t count = s->end - s->start + 2;
    s->origin = kfi_alloc_in(f->job, &s->scratch, count, sizeof *s->origin);
    s->list = kfi_alloc_in(f->job, &s->scratch, count, sizeof *s->list);
    if (!s->origin || !s->list)
        return false;
    for (size_t i = 0; i < count; i++) {
        s->origin[i] = KF_NEW;
        s->list[i] = SIZE_MAX;
    }
    for (size_t k = s->first; k <= s->last; k++)
        s->origin[f->at[k] - s->start] = (uint32_t)k;
    way begin = {.key = SIZE_MAX, .from = SIZE_MAX, .segment = {.stress = FIRM}};
    if (s->first > 0) {
        begin.key = f->at[s->first - 1];
        f->way(f->motion, begin.key, s->start, begin.segment.rise);
        memcpy(begin.out, f->tangent[s->first - 1][0], sizeof begin.out);
        memcpy(begin.segment.out, begin.out, sizeof begin.out);
        memcpy(begin.segment.in, f->tangent[s->first - 1][1], sizeof begin.out);
    }
    return add_way(s, s->start, &begin);
}

/* What a way to that sample may cost to be followed: as much as the last of the best ones. */
static double most_cost(const search *s, size_t here)
{
    double best[FOLLOWED];
    size_t count = 0;
    for (size_t i = s->list[here - s->start]; i != SIZE_MAX; i = s->ways[i].next) {
        double cost = s->ways[i].cost;
        size_t at = count < FOLLOWED ? count++ : cost < best[FOLLOWED - 1] ? FOLLOWED - 1 : FOLLOWED;
        for (; at < FOLLOWED && at > 0 && best[at - 1] > cost; at--)
            best[at] = best[at - 1];
        if (at < FOLLOWED)
            best[at] = cost;
    }
    return count < FOLLOWED ? INFINITY : best[FOLLOWED - 1];
}

/* Puts the ways to a sample in order, the cheapest first: then most of the others are beaten before they are looked at. */
static void sort_ways(search *s, size_t here)
{
    size_t *list = &s->list[here - s->start], sorted = SIZE_MAX;
    for (size_t i = *list, next; i != SIZE_MAX; i = next) {
        size_t *at = &sorted;
        next = s->ways[i].next;
        while (*at != SIZE_MAX && s->ways[*at].cost < s->ways[i].cost)
            at = &s->ways[*at].next;
        s->ways[i].next = *at;
        *at = i;
    }
    *list = sorted;
}

/* All ways to a sample that are followed, on to the keys at the ends of these edges; with none, to the last key of all. */
static bool follow(search *s, size_t here, const edge *edges, size_t count)
{
    double most = most_cost(s, here);
    for (size_t i = s->list[here - s->start]; i != SIZE_MAX; i = s->ways[i].next) {
        if (s->ways[i].cost > most && here - s->ways[i].key > NEAR)
            continue;
        if (count == 0 && !arrive(s, i))
            return false;
        for (size_t k = 0; k < count; k++) {
            bool begins = s->ways[i].key == SIZE_MAX;
            way on = {.key = here, .from = i, .segment = edges[k], .cost = 1.0, .tcb = s->f->tcb[0], .open = true};
            if (begins ? !add_way(s, edges[k].end, &on) : !extend(s, i, here, &edges[k]))
                return false;
        }
    }
    return true;
}

/* Ends the stretch at one of the original's keys, if it can: behind it comes its last key, or a segment that nobody edited. The
 * tangent of an end key may hang on its neighbour's, which then cannot stay alone. */
static bool end_at(search *s, size_t key)
{
    const kfi_shared *f = s->f;
    bool last = key + 1 == f->count;
    edge behind = {0};
    if (key < s->least || (!last && (!f->kept[key] || (!f->mirrored && key + 2 == f->count))))
        return true;
    if (!last && !make_edge(s, f->at[key], f->at[key + 1], &behind))
        return true;
    s->ends = true;
    s->ended = key;
    bool done = follow(s, f->at[key], &behind, !last);
    s->ends = false;
    return done;
}

static bool seek(search *s)
{
    edge edges[LONGEST + 1];
    const size_t *found = &s->list[s->end + 1 - s->start];
    for (size_t here = s->start; here <= s->end; here++) {
        uint32_t key = s->origin[here - s->start];
        if (s->list[here - s->start] == SIZE_MAX)
            continue;
        sort_ways(s, here);
        if (key != KF_NEW && !end_at(s, key))
            return false;
        if (here == s->end || *found != SIZE_MAX)
            break;
        size_t count = make_edges(s, here, edges);
        if (count && !follow(s, here, edges, count))
            return false;
    }
    return true;
}

static bool give_back(const search *s, kfi_shared_key **keys, size_t *count)
{
    size_t best = SIZE_MAX, length = 0;
    for (size_t i = s->list[s->end + 1 - s->start]; i != SIZE_MAX; i = s->ways[i].next)
        best = best == SIZE_MAX || s->ways[i].cost < s->ways[best].cost ? i : best;
    *count = 0;
    if (best == SIZE_MAX)
        return true;
    for (size_t i = best; s->ways[i].from != SIZE_MAX; i = s->ways[i].from)
        length++;
    *keys = kfi_alloc(s->f->job, length, sizeof **keys);
    if (!*keys)
        return false;
    *count = length;
    float tension = 0.0f;
    for (size_t i = best; s->ways[i].from != SIZE_MAX; i = s->ways[i].from) {
        const way *w = &s->ways[i];
        kfi_shared_key *key = &(*keys)[--length];
        *key = (kfi_shared_key){.sample = w->key, .origin = s->origin[w->key - s->start], .tcb = w->tcb};
        if (w->open)
            key->tcb.tension = tension;
        tension = w->tension;
    }
    return true;
}

bool kfi_fit_shared_stretch(const kfi_shared *f, size_t first, size_t *last, kfi_shared_key **keys, size_t *count)
{
    const kfi_arena *arena = &f->job->arena;
    search s = {.f = f, .first = first, .last = *last, .least = *last, .start = f->at[first]};
    *count = 0;
    while (s.last + 1 < f->count && f->at[s.last + 1] - s.start <= MOST_SAMPLES)
        s.last++;
    s.end = f->at[s.last];
    if (s.end - s.start > MOST_SAMPLES)
        return true;
    kfi_arena_init(&s.scratch, arena->allocator, arena->limit > arena->total ? arena->limit - arena->total : 0);
    bool done = prepare(&s) && seek(&s) && give_back(&s, keys, count);
    kfi_arena_free(&s.scratch);
    if (*count)
        *last = s.ended;
    return done;
}
