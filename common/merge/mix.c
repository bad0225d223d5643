/* A track that was edited both in an FBX and in the file that it goes into, since the FBX was written: what either edited counts,
 * key by key; where both edited the same otherwise, the FBX. */
#include "handles.h"
#include "together.h"

#include <math.h>
#include <stdlib.h>

/* A key that both sides edited, or that one of them deleted. */
static void tell_conflict(kfi_mix *m, double time, bool gone, bool away)
{
    m->conflicts++;
    if (time >= m->first)
        return;
    m->first = time;
    m->gone = gone;
    m->away = away;
}

static kfi_merge_track track_of(const kfi_mix *m, const kf_track *original, const kf_track *edited, double offset)
{
    return (kfi_merge_track){.job = m->job,
                             .input = m->from,
                             .limits = m->limits,
                             .original = original,
                             .written = m->was,
                             .edited = edited,
                             .offset = offset,
                             .cut = INFINITY};
}

/* ---------------------------------------------------------------- samples */

/* What is edited at one time. Where the FBX ends, it tells nothing; where it goes on after all that was written, all is new. */
static bool edited_at(const kfi_mix *m, unsigned c, const kfi_seen *s, double time)
{
    const kf_curve *w = &m->was->curve[c], *e = &m->now->curve[c];
    size_t i = kfi_seen_from(s, time - 1e-4);
    double limit = m->limits->time, at = time + m->later;
    if (e->count == 0 || at < e->keys[0].time - limit || at > e->keys[e->count - 1].time + limit)
        return false;
    bool beyond = w->count == 0 || time < w->keys[0].time - limit || time > w->keys[w->count - 1].time + limit;
    return beyond || (i < s->count && s->times[i] <= time + 1e-4 && s->edited[i]);
}

/* Whether the FBX ends earlier than what was written, or begins later: then so does the result. */
static bool cut_off(const kfi_mix *m, unsigned c, double time)
{
    const kf_curve *w = &m->was->curve[c], *e = &m->now->curve[c];
    double limit = m->limits->time, first = e->keys[0].time - m->later, last = e->keys[e->count - 1].time - m->later;
    return (time < first - limit && w->count && first > w->keys[0].time + limit) ||
           (time > last + limit && w->count && last < w->keys[w->count - 1].time - limit);
}

static bool is_step(const kf_curve *curve, double time)
{
    size_t next = kfi_key_from(curve, time + 1e-4);
    return next > 0 && curve->keys[next - 1].interp == KF_STEP;
}

/* What was fitted is off by up to the tolerance where nobody edited it; formats with a value a frame have just these. */
static bool differ(const kfi_mix *m, const kfi_seen *s, double a, double b)
{
    double fitted = m->from->capabilities->frame_rate > 0 ? 0 : s->tolerance;
    return fabs(a - b) > fitted && !kfi_same_value(m->limits, m->was->channel, a, b);
}

static bool mix_samples(kfi_mix *m, unsigned c, const kfi_seen seen[3], kf_curve *to)
{
    const kfi_seen *s = &seen[c];
    const kf_curve *w = &m->was->curve[c], *e = &m->now->curve[c], *o = &m->other->curve[c];
    *to = *e;
    if (!kfi_make_keys(m->job, to, s->count, 0))
        return false;
    to->count = 0;
    for (size_t i = 0; i < s->count; i++) {
        double time = s->times[i];
        bool edited = false;
        if (cut_off(m, c, time))
            continue;
        for (unsigned d = m->begin; d < m->end; d++)
            edited = edited || edited_at(m, d, &seen[d], time);
        double now = kfi_curve_value(e, s->looks[i], m->now->rest[c]), was = kfi_curve_value(w, time, m->was->rest[c]);
        double other = kfi_curve_value(o, time, m->other->rest[c]);
        if (edited && differ(m, s, other, was) && differ(m, s, other, now))
            tell_conflict(m, time, false, false);
        bool step = edited ? is_step(e, s->looks[i]) : is_step(o, time);
        to->keys[to->count++] = (kf_key){.time = s->looks[i], .value = edited ? now : other, .interp = step ? KF_STEP : KF_LINEAR};
    }
    to->fbx_data = NULL;
    return true;
}

/* ---------------------------------------------------------------- keys */

enum { GONE = 1 << 16 }; /* beside KF_CHANGED_... */

/* What came of the written keys on one side. */
typedef struct side {
    kf_curve curve;
    kfi_pairing pairs;
    uint32_t *changed; /* of each written key */
} side;

static bool compare(const kfi_mix *m, unsigned c, const kf_track *edited, double offset, side *s)
{
    const kf_curve *w = &m->was->curve[c];
    kfi_merge_track t = track_of(m, m->original, edited, offset);
    s->changed = kfi_alloc(m->job, w->count, sizeof *s->changed);
    if (!s->changed || !kfi_merge_explicit(m->job, &edited->curve[c], &s->curve) || !kfi_merge_pair(&t, w, &s->curve, &s->pairs))
        return false;
    for (size_t i = 0; i < w->count; i++) {
        int64_t j = s->pairs.back[i];
        s->changed[i] = j == KFI_UNPAIRED ? (uint32_t)GONE : kfi_key_changes(&t, c, w, i, &s->curve, (size_t)j, &s->pairs);
    }
    return true;
}

/* One key of the result: that of one side, but for some of it from the FBX. */
typedef struct chosen {
    double time, place; /* the latter among the FBX's keys, for those at one time */
    const kf_curve *from, *over;
    size_t key, over_key;
    uint32_t fields; /* KF_CHANGED_... of `over` */
    bool here, there; /* it is new in the FBX, or was moved there; the same of the other side */
} chosen;

static int by_time(const void *a, const void *b)
{
    const chosen *one = a, *two = b;
    if (one->time != two->time)
        return one->time < two->time ? -1 : 1;
    if (one->place != two->place)
        return one->place < two->place ? -1 : 1;
    return (one->key > two->key) - (one->key < two->key);
}

/* Helper keys tell a shape together with the others of their segment: where both sides have edited them, and one has not all of
 * them where they were, they are the FBX's. */
static bool *find_own(kfi_mix *m, unsigned c, const side *now, const side *other)
{
    const kf_curve *w = &m->was->curve[c];
    bool *own = kfi_alloc(m->job, w->count, sizeof *own);
    for (size_t i = 0, end = 0; own && i < w->count; i = end + 1) {
        const uint32_t elsewhere = GONE | KF_CHANGED_TIME;
        bool there = false, others = false;
        size_t here = SIZE_MAX;
        for (end = i; end < w->count && w->keys[end].flags & KF_KEY_HELPER; end++) {
            here = here == SIZE_MAX && now->changed[end] ? end : here;
            there = there || other->changed[end];
            others = others || (now->changed[end] | other->changed[end]) & elsewhere;
        }
        if (here == SIZE_MAX || !there || !others)
            continue;
        tell_conflict(m, w->keys[here].time, false, false);
        for (size_t k = i; k < end; k++)
            own[k] = true;
    }
    return own;
}

static bool in_own(const kf_curve *w, const bool *own, double time)
{
    size_t next = kfi_key_from(w, time);
    return (next > 0 && own[next - 1]) || (next < w->count && own[next]);
}

/* A written key that both sides still have. */
static chosen choose(kfi_mix *m, unsigned c, size_t i, const side *now, const side *other)
{
    size_t n = (size_t)now->pairs.back[i], o = (size_t)other->pairs.back[i];
    uint32_t fields = now->changed[i], both = fields & other->changed[i];
    chosen k = {.place = (double)n, .from = &other->curve, .key = o, .over = &now->curve, .over_key = n, .fields = fields};
    k.here = fields & KF_CHANGED_TIME;
    k.there = !k.here && other->changed[i] & KF_CHANGED_TIME;
    k.time = k.there ? other->curve.keys[o].time + m->later : now->curve.keys[n].time;
    kfi_merge_track t = track_of(m, m->original, m->now, m->later);
    if (both && kfi_key_changes(&t, c, &other->curve, o, &now->curve, n, NULL) & both)
        tell_conflict(m, m->was->curve[c].keys[i].time, false, false);
    return k;
}

static size_t choose_written(kfi_mix *m, unsigned c, const side *now, const side *other, const bool *own, chosen *keys)
{
    const kf_curve *w = &m->was->curve[c];
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++) {
        bool gone = now->changed[i] == GONE, away = other->changed[i] == GONE;
        if (!gone && !away && !own[i]) {
            keys[count++] = choose(m, c, i, now, other);
            continue;
        }
        /* Deleted by one side: that counts, unless the FBX has edited it. */
        bool edited = !gone && now->changed[i];
        if (!own[i] && (edited || (gone && !away && other->changed[i])))
            tell_conflict(m, w->keys[i].time, gone, away);
        size_t n = (size_t)now->pairs.back[i];
        if (edited || (own[i] && !gone))
            keys[count++] = (chosen){.time = now->curve.keys[n].time, .place = (double)n, .from = &now->curve, .key = n, .here = true};
    }
    return count;
}

/* Those of the other side stand just before the next key that both still have. */
static size_t choose_new(const kfi_mix *m, unsigned c, const side *now, const side *other, const bool *own, chosen *keys)
{
    size_t count = 0;
    double place = INFINITY;
    for (size_t j = 0; j < now->curve.count; j++)
        if (now->pairs.partner[j] == KFI_UNPAIRED)
            keys[count++] = (chosen){.time = now->curve.keys[j].time, .place = (double)j, .from = &now->curve, .key = j, .here = true};
    for (size_t j = other->curve.count; j-- > 0;) {
        int64_t was = other->pairs.partner[j];
        double time = other->curve.keys[j].time;
        if (was != KFI_UNPAIRED && now->pairs.back[was] != KFI_UNPAIRED)
            place = (double)now->pairs.back[was] - 0.5;
        else if (was == KFI_UNPAIRED && !in_own(&m->was->curve[c], own, time))
            keys[count++] = (chosen){.time = time + m->later, .place = place, .from = &other->curve, .key = j, .there = true};
    }
    return count;
}

/* Two keys at one time, one put there by each side: the FBX's stays. */
static size_t drop_twice(kfi_mix *m, chosen *keys, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        chosen *last = kept ? &keys[kept - 1] : NULL;
        bool twice = last && keys[i].time - last->time <= m->limits->time && ((last->here && keys[i].there) || (last->there && keys[i].here));
        if (!twice) {
            keys[kept++] = keys[i];
            continue;
        }
        if (!kfi_same_value(m->limits, m->was->channel, last->from->keys[last->key].value, keys[i].from->keys[keys[i].key].value))
            tell_conflict(m, keys[i].time - m->later, false, false);
        if (keys[i].here)
            *last = keys[i];
    }
    return kept;
}

static void put_key(const chosen *k, kf_curve *to, size_t at)
{
    kfi_copy_keys(to, at, k->from, k->key, 1);
    kf_key *key = &to->keys[at];
    key->time = k->time;
    key->flags &= (uint8_t)~KF_KEY_HELPER; /* as in an FBX */
    if (k->fields == 0)
        return;
    const kf_key *now = &k->over->keys[k->over_key];
    kf_handles handles = kfi_handles_of(k->over, k->over_key);
    if (k->fields & KF_CHANGED_VALUE)
        key->value = now->value;
    if (k->fields & KF_CHANGED_INTERP) {
        key->interp = now->interp;
        key->attr = now->attr;
    }
    if (to->handles && k->fields & (KF_CHANGED_INTERP | KF_CHANGED_OUT))
        to->handles[at].out = handles.out;
    if (to->handles && k->fields & KF_CHANGED_IN)
        to->handles[at].in = handles.in;
    if (k->over->tcb && k->fields & (KF_CHANGED_INTERP | KF_CHANGED_TCB))
        to->tcb[at] = k->over->tcb[k->over_key];
}

/* A segment may be shorter than it was on either side, or longer; where handles have no length, they are a third of it. */
static void fit_handles(kf_curve *curve)
{
    for (size_t k = 0; curve->handles && k + 1 < curve->count; k++) {
        double segment = curve->keys[k + 1].time - curve->keys[k].time;
        kf_handle *ends[] = {&curve->handles[k].out, &curve->handles[k + 1].in};
        for (int i = 0; i < 2; i++) {
            bool third = curve->keys[k].interp == KF_HERMITE && ends[i]->dt != 0;
            if (third)
                *ends[i] = kfi_slope_handle(kfi_handle_slope(*ends[i]), i ? -segment : segment);
            else if (kfi_has_handles(curve->keys[k].interp) && fabs(ends[i]->dt) > segment && segment > 0) {
                ends[i]->dv *= segment / fabs(ends[i]->dt);
                ends[i]->dt = i ? -segment : segment;
            }
        }
    }
}

static bool mix_keys(kfi_mix *m, unsigned c, const side *now, const side *other, kf_curve *to)
{
    size_t most = m->was->curve[c].count + now->curve.count + other->curve.count;
    chosen *keys = kfi_alloc_raw(m->job, most, sizeof *keys);
    const bool *own = find_own(m, c, now, other);
    if (!keys || !own)
        return false;
    size_t count = choose_written(m, c, now, other, own, keys);
    count += choose_new(m, c, now, other, own, keys + count);
    qsort(keys, count, sizeof *keys, by_time);
    count = drop_twice(m, keys, count);
    *to = now->curve;
    if (!kfi_make_keys(m->job, to, count, kfi_parts(&now->curve) | kfi_parts(&other->curve)))
        return false;
    for (size_t k = 0; k < count; k++)
        put_key(&keys[k], to, k);
    fit_handles(to);
    to->fbx_data = NULL;
    return true;
}

/* A turn that was edited in one of its angles was in all of them. */
static void edit_all(const kfi_mix *m, side s[3])
{
    const kf_curve *w = m->was->curve;
    for (size_t i = 0; w[1].count == w[0].count && w[2].count == w[0].count && i < w[0].count; i++) {
        uint32_t any = (s[0].changed[i] | s[1].changed[i] | s[2].changed[i]) & KF_CHANGED_ALL & ~(uint32_t)KF_CHANGED_TIME;
        for (unsigned c = 0; c < 3; c++)
            if (s[c].changed[i] != GONE)
                s[c].changed[i] |= any;
    }
}

/* ---------------------------------------------------------------- both */

/* What each side has edited. */
static bool look(const kfi_mix *m, bool baked, kfi_seen seen[3], side now[3], side other[3])
{
    kfi_merge_track t = track_of(m, m->other, m->now, m->later);
    for (unsigned c = m->begin; c < m->end; c++)
        if (baked ? !kfi_see_all(&t, c, &seen[c])
                  : !compare(m, c, m->now, m->later, &now[c]) || !compare(m, c, m->other, 0, &other[c]))
            return false;
    if (m->begin == 0 && m->end == 3 && !baked) {
        edit_all(m, now);
        edit_all(m, other);
    }
    return true;
}

bool kfi_mix_curves(kfi_mix *m)
{
    bool baked = kfi_came_back_baked(m->from, m->was, m->now);
    size_t most = 0;
    kf_curve to[3];
    kfi_seen seen[3];
    side now[3], other[3];
    m->conflicts = 0;
    m->first = INFINITY;
    if (!look(m, baked, seen, now, other))
        return false;
    for (unsigned c = m->begin; c < m->end; c++) {
        m->conflicts = 0;
        if (!(baked ? mix_samples(m, c, seen, &to[c]) : mix_keys(m, c, &now[c], &other[c], &to[c])))
            return false;
        most = m->conflicts > most ? m->conflicts : most;
    }
    for (unsigned c = m->begin; c < m->end; c++)
        m->now->curve[c] = to[c];
    m->conflicts = most;
    return true;
}
