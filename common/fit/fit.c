#include "internal.h"
#include "tolerance.h"

#include <string.h>

void *kfi_scratch(kfi_fitting *f, size_t count, size_t size)
{
    return kfi_alloc_in(f->job, &f->scratch, count, size);
}

kfi_fit_key *kfi_fit_add(kfi_fitting *f, kfi_fit_keys *keys)
{
    if (keys->count == keys->room) {
        size_t room = keys->room ? keys->room * 2 : 16;
        kfi_fit_key *items = kfi_scratch(f, room, sizeof *items);
        if (!items)
            return NULL;
        if (keys->count)
            memcpy(items, keys->items, keys->count * sizeof *items);
        keys->items = items;
        keys->room = room;
    }
    return &keys->items[keys->count++];
}

bool kfi_fit_as_curve(kfi_fitting *f, kf_curve *curve)
{
    size_t count = f->keys.count;
    *curve = (kf_curve){.keys = kfi_scratch(f, count, sizeof *curve->keys),
                        .count = count,
                        .handles = kfi_scratch(f, count, sizeof *curve->handles),
                        .tcb = kfi_scratch(f, count, sizeof *curve->tcb),
                        .tcb_rule = f->tcb_rule};
    bool ok = curve->keys && curve->handles && curve->tcb;
    for (size_t i = 0; ok && i < count; i++) {
        curve->keys[i] = f->keys.items[i].key;
        curve->handles[i] = f->keys.items[i].handles;
        curve->tcb[i] = f->keys.items[i].tcb;
    }
    return ok;
}

/* ---- the original's keys ---- */

/* Whether the original's segment after key i lies within the samples and runs through them. `ref` are its own
 * values. */
static bool segment_kept(const kfi_fitting *f, const double *ref, size_t i, size_t a, size_t b)
{
    const kf_key *key = &f->original->keys[i];
    const kfi_samples *s = &f->samples;
    if (!kfi_can(f, key->interp) || (key->flags & KF_KEY_HELPER))
        return false;
    /* At the end of a hold, and at a jump, the last sample is the next key's affair. */
    bool jump = i + 2 < f->original->count && key[2].time <= key[1].time;
    size_t first = key->interp == KF_STEP_NEXT ? a + 1 : a, last = key->interp == KF_STEP || jump ? b : b + 1;
    for (size_t k = first; k < last; k++)
        if (!(fabs(s->v[k] - ref[k]) <= s->tolerance))
            return false;
    kfi_segment segment;
    kfi_curve_segment(f->original, i, &segment);
    for (size_t k = a; k < b; k++)
        if (s->told[k] && !(fabs(s->middle[k] - kfi_segment_value(&segment, 0.5 * (s->t[k] + s->t[k + 1]))) <= s->tolerance))
            return false;
    return true;
}

static uint8_t usual_kind(const kfi_fitting *f)
{
    return (uint8_t)(f->cubic ? f->cubic : kfi_can(f, KF_LINEAR) ? KF_LINEAR : KF_STEP);
}

static kfi_fit_key *add_new(kfi_fitting *f, size_t sample)
{
    kfi_fit_key *key = kfi_fit_add(f, &f->keys);
    if (key) {
        *key = (kfi_fit_key){.sample = sample, .origin = KF_NEW};
        key->key = (kf_key){.time = f->samples.t[sample], .value = f->samples.v[sample]};
        key->key.interp = usual_kind(f);
    }
    return key;
}

/* The list to begin with: the original's keys, with the values that the samples have there, and an end key
 * where the samples go beyond them. */
static bool begin_with_original(kfi_fitting *f)
{
    const kf_curve *original = f->original;
    kfi_samples *s = &f->samples;
    double *ref = kfi_scratch(f, s->count, sizeof *ref);
    size_t *at = kfi_scratch(f, original->count, sizeof *at);
    if (!ref || !at)
        return false;
    kfi_curve_values(original, s->t, s->count, 0.0, ref);
    size_t first = SIZE_MAX, last = 0, sample = 0;
    for (size_t i = 0; i < original->count; i++) {
        while (sample + 1 < s->count && s->t[sample] < original->keys[i].time)
            sample++;
        bool there = s->t[sample] == original->keys[i].time;
        at[i] = there ? sample : SIZE_MAX;
        if (there) {
            first = first == SIZE_MAX ? i : first;
            last = i;
        }
    }
    if (first == SIZE_MAX)
        return add_new(f, 0) && (s->count == 1 || add_new(f, s->count - 1));
    size_t outer = kfi_key_outside(s, ref, 0, at[first], first == 0 && original->pre != KF_CONSTANT, s->v[at[first]]);
    if (outer != SIZE_MAX && !add_new(f, outer))
        return false;
    bool before_kept = false;
    for (size_t i = first; i <= last; i++) {
        const kf_key *key = &original->keys[i];
        bool kept = i < last && at[i] != SIZE_MAX && at[i + 1] != SIZE_MAX &&
                    segment_kept(f, ref, i, at[i], at[i + 1]);
        bool jump = i < last && key[1].time <= key->time;
        if (jump) /* of two keys at one time the first stays only for the segment before it */
            kept = before_kept;
        if (at[i] == SIZE_MAX || (jump && !before_kept))
            continue;
        kfi_fit_key *own = kfi_fit_add(f, &f->keys);
        if (!own)
            return false;
        *own = (kfi_fit_key){.key = *key, .sample = at[i], .origin = (uint32_t)i, .fits = kept, .kept = kept};
        own->handles = kfi_handles_of(original, i);
        if (original->tcb)
            own->tcb = original->tcb[i];
        if (!kfi_can(f, key->interp))
            own->key.interp = usual_kind(f);
        if (!jump) {
            /* One that was edited counts as it is, however little: if the key does not stay, it would be missed by that and by
             * the tolerance. */
            bool edited = s->was && fabs(s->edit[at[i]]) > 1e-3 * s->tolerance;
            if (kept || (before_kept && key[-1].interp != KF_STEP && key[-1].time < key->time) ||
                (!edited && fabs(s->v[at[i]] - key->value) <= s->tolerance))
                s->v[at[i]] = key->value;
            else
                own->key.value = s->v[at[i]];
        }
        before_kept = kept;
    }
    bool cycles = last + 1 == original->count && original->post != KF_CONSTANT;
    outer = kfi_key_outside(s, ref, at[last] + 1, s->count, cycles, s->v[at[last]]);
    if (outer == SIZE_MAX)
        return true;
    kf_key *end = &f->keys.items[f->keys.count - 1].key; /* what a last key says of the segment after it, nobody chose */
    if (end->interp == KF_STEP && last + 1 == original->count && (last == 0 || original->keys[last - 1].interp != KF_STEP))
        end->interp = kfi_can(f, KF_LINEAR) ? KF_LINEAR : usual_kind(f);
    return add_new(f, outer);
}

/* ---- the whole ---- */

static uint8_t choose_cubic(const kfi_fitting *f, bool handles)
{
    size_t used[KF_INTERP_COUNT] = {0};
    for (size_t i = 0; f->original && i < f->original->count; i++)
        if (f->original->keys[i].interp < KF_INTERP_COUNT)
            used[f->original->keys[i].interp]++;
    bool hermite = kfi_can(f, KF_HERMITE), bezier = kfi_can(f, KF_BEZIER), tcb = kfi_can(f, KF_TCB);
    if (tcb && !handles && used[KF_TCB] > used[KF_HERMITE] + used[KF_BEZIER])
        return KF_TCB;
    if (hermite && bezier)
        return !handles && used[KF_HERMITE] > used[KF_BEZIER] ? KF_HERMITE : KF_BEZIER;
    return (uint8_t)(hermite ? KF_HERMITE : bezier ? KF_BEZIER : tcb ? KF_TCB : 0);
}

/* Segments that were settled but whose tangents changed with their neighbours are open again; returns how
 * many. */
static bool reopen(kfi_fitting *f, size_t *opened)
{
    kf_curve curve;
    *opened = 0;
    if (!kfi_fit_as_curve(f, &curve))
        return false;
    for (size_t i = 0; i + 1 < curve.count; i++) {
        kfi_fit_key *key = &f->keys.items[i];
        kfi_segment segment;
        if (!key->fits || key->key.interp == KF_TCB || key[1].sample <= key->sample)
            continue;
        kfi_curve_segment(&curve, i, &segment);
        if (segment.shape >= KFI_CUBIC &&
            !kfi_fit_segment(&f->samples, key->sample, key[1].sample, &segment, false) &&
            key[1].sample - key->sample > 1) {
            key->fits = false;
            (*opened)++;
        }
    }
    return true;
}

static bool differ(kf_handle a, kf_handle b)
{
    return a.dt != b.dt || a.dv != b.dv;
}

/* Of a key that is one of the original's; but for its numbers. */
static uint32_t changes(const kf_curve *original, const kfi_fit_key *now)
{
    const kf_key *was = &original->keys[now->origin], *is = &now->key;
    kf_handles handles = kfi_handles_of(original, now->origin);
    uint32_t changed = 0;
    changed |= was->time != is->time ? KF_CHANGED_TIME : 0u;
    changed |= was->value != is->value ? KF_CHANGED_VALUE : 0u;
    changed |= differ(handles.in, now->handles.in) ? KF_CHANGED_IN : 0u;
    changed |= differ(handles.out, now->handles.out) ? KF_CHANGED_OUT : 0u;
    changed |= was->interp != is->interp ? KF_CHANGED_INTERP : 0u;
    return changed;
}

static uint32_t number_changes(const kf_tcb *old, const kf_tcb *now)
{
    bool same = old->tension == now->tension && old->continuity == now->continuity && old->bias == now->bias;
    bool ease = old->ease_in == now->ease_in && old->ease_out == now->ease_out;
    return (same ? 0u : KF_CHANGED_TCB) | (ease ? 0u : KF_CHANGED_EASE);
}

/* Numbers that were sought and found where they had been are those that they had been. */
static void settle_numbers(kf_tcb *now, const kf_tcb *old)
{
    const float near = 1e-6f;
    if (fabsf(now->tension - old->tension) <= near && fabsf(now->continuity - old->continuity) <= near &&
        fabsf(now->bias - old->bias) <= near) {
        now->tension = old->tension;
        now->continuity = old->continuity;
        now->bias = old->bias;
    }
}

/* What the keys have beside them. */
static unsigned parts_of(const kfi_fitting *f)
{
    unsigned parts = f->original && f->original->tcb ? (unsigned)KFI_NUMBERS : 0;
    for (size_t i = 0; i < f->keys.count; i++) {
        const kfi_fit_key *key = &f->keys.items[i];
        const kf_handle none = {0, 0};
        if (key->key.interp == KF_TCB)
            parts |= KFI_NUMBERS;
        if (key->key.interp == KF_BEZIER || key->key.interp == KF_HERMITE || differ(key->handles.in, none) ||
            differ(key->handles.out, none))
            parts |= KFI_HANDLES;
    }
    return parts;
}

static bool finish(kfi_fitting *f, kf_curve *result)
{
    const kf_curve *original = f->original;
    size_t count = f->keys.count;
    kf_curve curve = {.tcb_rule = f->tcb_rule};
    kf_origin *origin = kfi_alloc(f->job, count, sizeof *origin);
    if (!origin || !kfi_make_keys(f->job, &curve, count, parts_of(f)))
        return false;
    if (original) {
        curve.pre = original->pre;
        curve.post = original->post;
        curve.pre_count = original->pre_count;
        curve.post_count = original->post_count;
    }
    for (size_t i = 0; i < count; i++) {
        kfi_fit_key *key = &f->keys.items[i];
        if (i + 1 == count && key->origin == KF_NEW && i > 0)
            key->key.interp = key[-1].key.interp;
        origin[i] = (kf_origin){key->origin, KF_CHANGED_ALL};
        if (key->origin != KF_NEW) {
            /* NOLINTNEXTLINE: what has an origin has an original */
            const kf_tcb *old = original->tcb ? &original->tcb[key->origin] : NULL;
            if (old)
                settle_numbers(&key->tcb, old);
            origin[i].changed = changes(original, key) | (old ? number_changes(old, &key->tcb) : 0u);
            if (origin[i].changed & KF_CHANGED_INTERP)
                key->key.native = 0, key->key.attr = 0;
        }
        curve.keys[i] = key->key;
        if (curve.handles)
            curve.handles[i] = key->handles;
        if (curve.tcb)
            curve.tcb[i] = key->tcb;
    }
    curve.origin = origin;
    *result = curve;
    return true;
}

static bool run(kfi_fitting *f)
{
    kfi_samples *s = &f->samples;
    if (f->original && f->original->count ? !begin_with_original(f)
                                          : !add_new(f, 0) || (s->count > 1 && !add_new(f, s->count - 1)))
        return false;
    kfi_samples_look(s, kfi_can(f, KF_STEP));
    if (f->original && !kfi_fit_move_tcb(f))
        return false;
    size_t opened = 1;
    for (int pass = 0; opened && pass < 8; pass++)
        if (!kfi_fit_settle(f) || !kfi_fit_tcb(f) || !reopen(f, &opened))
            return false;
    bool *kept = kfi_scratch(f, f->keys.count, sizeof *kept);
    if (!kept)
        return false;
    for (size_t i = 0; i < f->keys.count; i++) {
        const kfi_fit_key *key = &f->keys.items[i];
        kept[i] = false;
        if (i + 1 < f->keys.count && key->origin != KF_NEW && key[1].origin == key->origin + 1)
            kept[i] = !(changes(f->original, key) & ~(uint32_t)KF_CHANGED_IN) &&
                      !(changes(f->original, key + 1) & ~(uint32_t)(KF_CHANGED_OUT | KF_CHANGED_INTERP));
    }
    kfi_fit_smooth(f, kept);
    return true;
}

double kfi_tolerated_samples(double tolerance, const double *values, size_t count)
{
    double low = values[0], high = values[0];
    for (size_t i = 1; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return kfi_tolerated_range(tolerance, low, high);
}

bool kfi_fit_begin(kfi_fitting *f, kf_job *job, const double *times, const double *values, size_t count,
                   const kfi_fit_options *options)
{
    *f = (kfi_fitting){.job = job, .interps = options->interps, .original = options->original};
    uint64_t left = job->arena.limit > job->arena.total ? job->arena.limit - job->arena.total : 0;
    kfi_arena_init(&f->scratch, job->arena.allocator, left);
    f->scratch.item_blocks = job->arena.item_blocks;
    f->cubic = choose_cubic(f, options->handles);
    f->tcb_rule = options->original ? options->original->tcb_rule : (uint8_t)KF_TCB_KOCHANEK;
    f->samples.tolerance = kfi_tolerated_samples(options->tolerance, values, count);
    f->samples.parted = options->parted;
    return kfi_take_samples(f, times, values, count, options);
}

bool kfi_fit_smooth_samples(kf_job *job, const double *times, const double *values, size_t count, const kfi_fit_options *options,
                            kf_curve *curve)
{
    if (count == 0) {
        *curve = (kf_curve){0};
        return true;
    }
    kfi_fitting f;
    bool ok = kfi_fit_begin(&f, job, times, values, count, options) && run(&f) && finish(&f, curve);
    kfi_arena_free(&f.scratch);
    return ok;
}
