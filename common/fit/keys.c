/* Segments with handles of their own, lines and holds through samples: the original's way first, then another
 * kind, then more keys. */
#include "internal.h"

#include <string.h>

static bool is_cubic(unsigned interp)
{
    return interp == KF_BEZIER || interp == KF_HERMITE;
}

/* Whether handles lie within the segment after a key, or those of the original's that has stayed where it was. */
static bool has_room(const kfi_fitting *f, const kfi_fit_key *key)
{
    double length = key[1].key.time - key->key.time;
    const kf_key *was = key->origin != KF_NEW && key[1].origin == key->origin + 1 ? &f->original->keys[key->origin] : NULL;
    if (key->key.interp != KF_BEZIER || (was && was->time == key->key.time && was[1].time == key[1].key.time))
        return true;
    return key->handles.out.dt <= length && -key[1].handles.in.dt <= length;
}

/* The segment as it is, with the values its keys now have. Where no sample is within, its ends say nothing of what is between. */
static bool as_it_is(const kfi_fitting *f, const kfi_fit_key *key, bool between)
{
    if (!has_room(f, key))
        return false;
    between = between || key[1].sample - key->sample == 1;
    kf_key ends[2] = {key[0].key, key[1].key};
    kf_handles handles[2] = {key[0].handles, key[1].handles};
    ends[1].interp = KF_STEP; /* so that no rule of its own decides how it is arrived at */
    kf_curve curve = {.keys = ends, .count = 2, .handles = handles};
    kfi_segment segment;
    kfi_curve_segment(&curve, 0, &segment);
    return kfi_fit_segment(&f->samples, key[0].sample, key[1].sample, &segment, between);
}

static void set_slopes(kfi_fit_key *key, uint8_t interp, const double slope[2])
{
    double length = key[1].key.time - key->key.time;
    key->key.interp = interp;
    key->handles.out = kfi_slope_handle(slope[0], length);
    key[1].handles.in = kfi_slope_handle(slope[1], -length);
}

/* Tries to tell the segment after a key without a further key. */
static bool settle_alone(kfi_fitting *f, kfi_fit_key *key)
{
    const kfi_samples *s = &f->samples;
    size_t a = key->sample, b = key[1].sample;
    uint8_t own = key->key.interp;
    double slope[2];
    bool ours = key->origin != KF_NEW && !(key->key.flags & KF_KEY_HELPER) && kfi_can(f, own) && own != KF_TCB && own != KF_AUTO;
    if (ours && as_it_is(f, key, false))
        return true;
    if (ours && own == KF_HERMITE && kfi_fit_cubic(s, a, b, slope)) {
        set_slopes(key, own, slope);
        return true;
    }
    /* Lengths of handles cannot be told from so little. */
    if (ours && own == KF_BEZIER && b - a <= 2 && s->told[a] && s->told[b - 1] && kfi_fit_cubic(s, a, b, slope)) {
        set_slopes(key, own, slope);
        return true;
    }
    if (ours && own == KF_BEZIER) {
        kf_handle h[2] = {key->handles.out, key[1].handles.in};
        if (kfi_fit_bezier(s, a, b, h)) {
            key->handles.out = h[0];
            key[1].handles.in = h[1];
            return true;
        }
    }
    /* Any other kind. */
    kfi_piece piece = kfi_longest_piece(f, a, b);
    if (piece.end < b)
        return false;
    if (piece.interp == KF_HERMITE) {
        if (f->cubic == KF_TCB)
            return false;
        key->key.interp = f->cubic;
        key->handles.out = piece.h[0];
        key[1].handles.in = piece.h[1];
    } else {
        key->key.interp = piece.interp;
    }
    return true;
}

static void set_piece(const kfi_fitting *f, kfi_fit_key *key, const kfi_piece *piece)
{
    key->key.interp = piece->interp == KF_HERMITE ? f->cubic : piece->interp;
    key->handles.out = piece->h[0];
    key->fits = key->key.interp != KF_TCB;
}

static void place(const kfi_fitting *f, kfi_fit_key *key, const kfi_piece *before)
{
    key->sample = before->end;
    key->key.time = f->samples.t[before->end];
    key->key.value = f->samples.v[before->end];
    key->handles.in = before->h[1];
}

/* Shares samples a..b evenly among the last keys from `from` on; false if a piece does not fit then. */
static bool share_evenly(const kfi_fitting *f, kfi_fit_key *from, size_t count, size_t b, kfi_piece *last)
{
    enum { MOST = 4 };
    kfi_piece pieces[MOST];
    size_t a = from->sample, at = a;
    for (size_t i = 0; i < count; i++) {
        size_t end = i + 1 == count ? b : a + (b - a) * (i + 1) / count;
        pieces[i] = kfi_longest_piece(f, at, end);
        if (pieces[i].end < end || pieces[i].interp != KF_HERMITE)
            return false;
        at = end;
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            place(f, &from[i], &pieces[i - 1]);
        set_piece(f, &from[i], &pieces[i]);
    }
    *last = pieces[count - 1];
    return true;
}

/* Pieces as long as can be leave a short rest before sample b, of which few samples know little: it takes a
 * share of those before it. `last` is what stands for the rest, and the result. */
static void even_out(const kfi_fitting *f, kfi_fit_keys *to, size_t first, size_t b, kfi_piece *last)
{
    if (b - to->items[to->count - 1].sample > 4)
        return;
    for (size_t count = 2; count <= 4 && to->count >= first - 1 + count; count++)
        if (share_evenly(f, &to->items[to->count - count], count, b, last))
            return;
}

/* Adds keys from the last one of `to` on until sample b, which is not added; `in` is how b is arrived at. */
static bool add_pieces(kfi_fitting *f, kfi_fit_keys *to, size_t b, kf_handle *in, bool *have_in)
{
    size_t first = to->count;
    for (;;) {
        kfi_fit_key *key = &to->items[to->count - 1];
        kfi_piece piece = kfi_longest_piece(f, key->sample, b);
        set_piece(f, key, &piece);
        if (piece.end >= b) {
            if (to->count > first)
                even_out(f, to, first, b, &piece);
            *in = piece.h[1];
            *have_in = piece.interp == KF_HERMITE;
            return true;
        }
        key = kfi_fit_add(f, to);
        if (!key)
            return false;
        *key = (kfi_fit_key){.origin = KF_NEW};
        place(f, key, &piece);
    }
}

/* Runs of open segments are looked at more than once: what was counted before is kept, in `own` the pieces of each key's
 * segment, 0 if not counted yet. */
static bool begin_counting(kfi_fitting *f, size_t **own)
{
    *own = kfi_scratch(f, f->keys.count, sizeof **own);
    if (*own)
        memset(*own, 0, f->keys.count * sizeof **own);
    if (f->reach || !*own)
        return *own != NULL;
    f->reach = kfi_scratch(f, f->samples.count, sizeof *f->reach);
    if (f->reach)
        memset(f->reach, 0, f->samples.count * sizeof *f->reach);
    return f->reach != NULL;
}

static size_t own_pieces(const kfi_fitting *f, size_t key, size_t *own)
{
    const kfi_fit_key *keys = f->keys.items;
    if (own[key] == 0)
        for (size_t a = keys[key].sample, b = keys[key + 1].sample; a < b; own[key]++)
            a = kfi_longest_piece(f, a, b).end;
    return own[key];
}

static size_t run_pieces(const kfi_fitting *f, size_t a, size_t b)
{
    size_t pieces = 0;
    for (; a < b; pieces++) {
        kfi_reach *reach = &f->reach[a];
        if (reach->limit != b)
            *reach = (kfi_reach){kfi_longest_piece(f, a, b).end, b};
        a = reach->end;
    }
    return pieces;
}

/* Whether the segments first..last are better told without the original's keys between them. */
static bool better_without(const kfi_fitting *f, size_t first, size_t last, size_t *own)
{
    const kfi_fit_key *keys = f->keys.items;
    if (first == last)
        return false;
    size_t with = 0;
    for (size_t i = first; i <= last; i++)
        with += own_pieces(f, i, own);
    return run_pieces(f, keys[first].sample, keys[last + 1].sample) + 1 < with; /* one key is no reason */
}

static bool is_open(const kfi_fitting *f, const kfi_fit_key *key)
{
    return !key->fits && !(key->key.interp == KF_TCB && kfi_can(f, KF_TCB));
}

/* A key of the original as it was, but at a sample. */
static kfi_fit_key at_sample(const kfi_fitting *f, const kfi_fit_key *key, size_t sample)
{
    kfi_fit_key moved = *key;
    moved.sample = sample;
    moved.key.time = f->samples.t[sample];
    moved.key.value = f->samples.v[sample];
    moved.handles = kfi_handles_of(f->original, key->origin);
    moved.key.interp = f->original->keys[key->origin].interp;
    return moved;
}

/* A key of the original whose segment may be of the kind it was: if not, it is told in another way, not moved. */
static bool keeps_kind(const kfi_fitting *f, const kfi_fit_key *key)
{
    return key->origin != KF_NEW && kfi_can(f, f->original->keys[key->origin].interp);
}

/* A key of the original that someone moved in time: both its segments changed, they cannot be told with the key where it
 * was, but with the key at another sample, the nearest that will do. */
static bool move_key(kfi_fitting *f, kfi_fit_key *key)
{
    enum { FARTHEST = 60 };
    size_t low = key[-1].sample + 1, high = key[1].sample;
    if (key[-1].kept || key->kept || !keeps_kind(f, key - 1) || !keeps_kind(f, key) || key[-1].key.interp == KF_TCB ||
        key->key.interp == KF_TCB)
        return false;
    for (size_t gap = 1; gap <= FARTHEST; gap++) {
        for (int side = 0; side < 2; side++) {
            size_t at = side ? key->sample + gap : key->sample - gap;
            if (side ? at >= high : key->sample < low + gap)
                continue;
            kfi_fit_key trial[3] = {key[-1], at_sample(f, key, at), key[1]};
            trial[0].handles.out = kfi_handles_of(f->original, trial[0].origin).out;
            if (trial[2].origin != KF_NEW)
                trial[2].handles.in = kfi_handles_of(f->original, trial[2].origin).in;
            if (!settle_alone(f, &trial[0]) || !settle_alone(f, &trial[1]))
                continue;
            for (int i = 0; i < 3; i++)
                key[i - 1] = trial[i];
            key[-1].fits = key->fits = true;
            return true;
        }
    }
    return false;
}

static bool move_keys(kfi_fitting *f)
{
    bool open = false;
    for (size_t i = 0; i + 1 < f->keys.count; i++) {
        kfi_fit_key *key = &f->keys.items[i];
        if (i > 0 && (is_open(f, key) || is_open(f, key - 1)))
            move_key(f, key);
    }
    for (size_t i = 0; i + 1 < f->keys.count; i++)
        open = open || is_open(f, &f->keys.items[i]);
    return !open;
}

bool kfi_fit_settle(kfi_fitting *f)
{
    size_t count = f->keys.count;
    bool failed = false;
    for (size_t i = 0; i + 1 < count; i++) {
        kfi_fit_key *key = &f->keys.items[i];
        if (!is_open(f, key))
            continue;
        key->fits = settle_alone(f, key);
        failed = failed || !key->fits;
    }
    if (!failed || (f->original && move_keys(f)))
        return true;
    kfi_fit_keys next = {0};
    size_t *own;
    if (!begin_counting(f, &own))
        return false;
    enum { LONG = 32 };
    size_t ask = 0; /* a long run, which takes long to look at, is not looked at from each of its keys */
    for (size_t i = 0; i < count; i++) {
        kfi_fit_key *key = kfi_fit_add(f, &next);
        if (!key)
            return false;
        *key = f->keys.items[i];
        size_t last = i;
        while (i >= ask && last + 2 < count && is_open(f, &f->keys.items[last]) && is_open(f, &f->keys.items[last + 1]))
            last++;
        if (i + 1 == count || !is_open(f, key))
            continue;
        if (!better_without(f, i, last, own)) {
            ask = last - i >= LONG ? i + (last - i) / 4 : ask;
            last = i;
        }
        kf_handle in;
        bool have_in;
        if (!add_pieces(f, &next, f->keys.items[last + 1].sample, &in, &have_in))
            return false;
        if (have_in)
            f->keys.items[last + 1].handles.in = in;
        i = last;
    }
    f->keys = next;
    return true;
}

/* ---- TCB keys moved in time ---- */

/* Whether the segments that key i shapes run through the samples; `at` is the sample of the key. */
static bool window_fits(const kfi_fitting *f, const kf_curve *curve, size_t i, size_t at)
{
    const kfi_fit_key *keys = f->keys.items;
    size_t last = i + 2 < curve->count ? i + 2 : curve->count - 1;
    for (size_t k = i > 1 ? i - 2 : 0; k < last; k++) {
        kfi_segment segment;
        kfi_curve_segment(curve, k, &segment);
        if (!kfi_fit_segment(&f->samples, k == i ? at : keys[k].sample, k + 1 == i ? at : keys[k + 1].sample, &segment, false))
            return false;
    }
    return true;
}

/* Like move_key: the numbers stay, and with them the slopes follow. */
bool kfi_fit_move_tcb(kfi_fitting *f)
{
    enum { FARTHEST = 60 };
    kf_curve curve;
    if (!kfi_can(f, KF_TCB) || !kfi_fit_as_curve(f, &curve))
        return !kfi_can(f, KF_TCB);
    for (size_t i = 1; i + 1 < curve.count; i++) {
        kfi_fit_key *key = &f->keys.items[i];
        if (key[-1].kept || key->kept || key->origin == KF_NEW || key->key.interp != KF_TCB ||
            key[-1].key.interp != KF_TCB || window_fits(f, &curve, i, key->sample))
            continue;
        for (size_t gap = 1; gap <= FARTHEST; gap++) {
            size_t later = key->sample + gap, earlier = key->sample - gap;
            size_t at = SIZE_MAX;
            for (int side = 0; side < 2 && at == SIZE_MAX; side++) {
                size_t to = side ? later : earlier;
                if (side ? to >= key[1].sample : key->sample < key[-1].sample + 1 + gap)
                    continue;
                curve.keys[i].time = f->samples.t[to];
                curve.keys[i].value = f->samples.v[to];
                if (window_fits(f, &curve, i, to))
                    at = to;
            }
            if (at == SIZE_MAX)
                continue;
            key->sample = at;
            key->key.time = f->samples.t[at];
            key->key.value = f->samples.v[at];
            key[-1].fits = key->fits = true;
            break;
        }
        curve.keys[i] = key->key;
    }
    return true;
}

/* ---- smooth where it can be ---- */

/* Sets one slope for both sides of a key if both segments still fit. */
static bool join(kfi_fitting *f, kfi_fit_key *key, double slope)
{
    kf_handle in = key->handles.in, out = key->handles.out;
    key->handles.in.dv = slope * in.dt;
    key->handles.out.dv = slope * out.dt;
    if (as_it_is(f, key - 1, true) && as_it_is(f, key, true))
        return true;
    key->handles.in = in;
    key->handles.out = out;
    return false;
}

/* Neighbouring pieces were fitted each for itself: where they meet almost in line, they are made to. `kept`
 * tells of segment i that it is the original's and must not change. */
void kfi_fit_smooth(kfi_fitting *f, const bool *kept)
{
    for (size_t i = 1; i + 1 < f->keys.count; i++) {
        kfi_fit_key *key = &f->keys.items[i];
        if (!is_cubic(key->key.interp) || !is_cubic(key[-1].key.interp) || (kept[i] && kept[i - 1]))
            continue;
        double in = kfi_handle_slope(key->handles.in), out = kfi_handle_slope(key->handles.out);
        double before = key->key.time - key[-1].key.time, after = key[1].key.time - key->key.time;
        if (in == out || key->handles.in.dt == 0.0 || key->handles.out.dt == 0.0)
            continue;
        /* The longer piece knows its slope better. */
        double mean = (in * before + out * after) / (before + after);
        if (kept[i] || kept[i - 1])
            join(f, key, kept[i] ? out : in);
        else if (!join(f, key, mean) && !join(f, key, before > after ? in : out))
            join(f, key, before > after ? out : in);
    }
}
