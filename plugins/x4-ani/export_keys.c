/* One list of keys into records. A record stands for three neutral keys, one of each component. It begins as
 * a copy of the original's record, if the keys have one, and only what their origins call changed is written
 * over it. */
#include "x4-ani/x4.h"

#include "curve.h"

#include <float.h>
#include <math.h>

typedef struct writing {
    kf_job *job;
    const x4_list *list;
    size_t count;
    double unit;
    kf_key constant[3]; /* stands for the keys of a component that has none */
    double limit[3];    /* what rounding a time may do to a component's motion */
    bool told;          /* that it did more */
} writing;

/* A row: the keys of x, y and z at one time, and what is known of each from the original. */
typedef struct row {
    const uint8_t *base;      /* the record that the shared fields come from, or NULL */
    const uint8_t *source[3]; /* the record that the component comes from, or NULL */
    bool follows[3];          /* there is a record before `source` */
    uint32_t changed[3];
    bool moved; /* the time differs from the base's */
    uint32_t number[3];
} row;

bool kfi_x4_to_f32(kf_job *job, const x4_list *list, double number, float *result)
{
    if (fabs(number) <= FLT_MAX) {
        *result = (float)number;
        return true;
    }
    *result = number < 0 ? -FLT_MAX : FLT_MAX;
    return kfi_warn(job, "range",
                    "node \"%.60s\", take \"%.60s\", %s: %g is beyond a 32-bit float and was clamped",
                    list->node, list->take, kfi_x4_kind_name(list->kind), number);
}

static bool store(writing *w, uint8_t *at, double number)
{
    float value;
    if (!kfi_x4_to_f32(w->job, w->list, number, &value))
        return false;
    kfi_store_f32(at, value);
    return true;
}

/* ---------------------------------------------------------------- the keys asked for */

static size_t keys_of(const kf_track *track, unsigned c)
{
    return c < track->curves ? track->curve[c].count : 0;
}

static bool misfit(kf_job *job, const x4_list *list, const char *what)
{
    return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "node \"%.60s\", take \"%.60s\", %s: %s", list->node,
                    list->take, kfi_x4_kind_name(list->kind), what);
}

bool kfi_x4_list_count(kf_job *job, const x4_list *list, size_t *count)
{
    const kf_track *track = list->track;
    const kf_curve *first = NULL;
    *count = 0;
    if (track->quaternion)
        return misfit(job, list, "rotations as quaternions cannot be stored");
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *curve = &track->curve[c];
        if (keys_of(track, c) == 0)
            continue;
        if (!first) {
            first = curve;
            *count = curve->count;
        }
        if (curve->count != *count)
            return misfit(job, list, "x, y and z must have their keys at the same times");
        for (size_t i = 0; i < *count; i++)
            if (fabs(curve->keys[i].time - first->keys[i].time) > 1e-6 * fmax(1, fabs(first->keys[i].time)))
                return misfit(job, list, "x, y and z must have their keys at the same times");
    }
    return *count <= INT32_MAX || misfit(job, list, "too many keys");
}

static const kf_key *key_at(const writing *w, unsigned c, size_t i)
{
    return keys_of(w->list->track, c) ? &w->list->track->curve[c].keys[i] : &w->constant[c];
}

static double time_at(const writing *w, size_t i)
{
    for (unsigned c = 0; c < 3; c++)
        if (keys_of(w->list->track, c))
            return w->list->track->curve[c].keys[i].time + w->list->shift;
    return 0;
}

/* ---------------------------------------------------------------- what they were */

static void find_row(const writing *w, size_t i, row *r)
{
    *r = (row){0};
    for (unsigned c = 0; c < 3; c++) {
        const kf_origin *origin = keys_of(w->list->track, c) ? w->list->track->curve[c].origin : NULL;
        r->changed[c] = KF_CHANGED_ALL;
        if (!origin || origin[i].key >= w->list->source_count)
            continue;
        r->source[c] = w->list->source + (size_t)origin[i].key * X4_KEY_SIZE;
        r->follows[c] = origin[i].key > 0;
        r->changed[c] = origin[i].changed;
        r->moved = r->moved || (origin[i].changed & KF_CHANGED_TIME);
        if (!r->base)
            r->base = r->source[c];
    }
}

static bool is_bezier(uint32_t number)
{
    return number == X4_BEZIER || number == X4_BEZIER_LINEAR_TIME;
}

static bool is_plain(uint32_t number)
{
    return number == X4_STEP || number == X4_LINEAR || number == X4_TCB || is_bezier(number);
}

/* The interpolation number of component c: the original's unless it changed. */
static bool choose_number(writing *w, const row *next, row *r, unsigned c, size_t i)
{
    static const uint8_t numbers[KF_INTERP_COUNT] = {
        X4_STEP, X4_STEP, X4_LINEAR, X4_BEZIER, X4_BEZIER_LINEAR_TIME, X4_TCB, X4_BEZIER_LINEAR_TIME};
    const kf_key *key = key_at(w, c, i);
    uint8_t interp = key->interp < KF_INTERP_COUNT ? key->interp : KF_LINEAR;
    bool handles = interp == KF_BEZIER || interp == KF_HERMITE || interp == KF_AUTO;
    if (r->source[c] && !(r->changed[c] & KF_CHANGED_INTERP)) {
        r->number[c] = kfi_x4_interp(r->source[c], c);
        /* The rare kinds have no handles of their own: once those are edited, the segment becomes a plain
         * one. */
        bool edited = (r->changed[c] & KF_CHANGED_OUT) || (next && (next->changed[c] & KF_CHANGED_IN));
        if (is_plain(r->number[c]) || !handles || !edited)
            return true;
    }
    r->number[c] = !next && !r->source[c] ? X4_STEP : numbers[interp];
    return interp != KF_STEP_NEXT || !next ||
           kfi_warn(w->job, "step-next",
                    "node \"%.60s\", take \"%.60s\", %s at %.4f s: a jump to the next value is "
                    "written as a hold",
                    w->list->node, w->list->take, kfi_x4_kind_name(w->list->kind), key->time);
}

/* ---------------------------------------------------------------- fields of a record */

/* Components of one row may come from different records. */
static void copy_component(uint8_t *to, const uint8_t *from, unsigned c)
{
    memcpy(to + X4_KEY_VALUE + 4 * c, from + X4_KEY_VALUE + 4 * c, 4);
    memcpy(to + X4_KEY_INTERP + 4 * c, from + X4_KEY_INTERP + 4 * c, 4);
    memcpy(to + kfi_x4_point(c, 0), from + kfi_x4_point(c, 0), 16);
    memcpy(to + X4_KEY_DERIV_IN + 4 * c, from + X4_KEY_DERIV_IN + 4 * c, 4);
    memcpy(to + X4_KEY_DERIV_OUT + 4 * c, from + X4_KEY_DERIV_OUT + 4 * c, 4);
}

/* A control point from a handle. `span` is the time to the key on the handle's side, negative before it. With
 * linear time only the slope counts, and the point lies a third of the way. */
static bool point_from_handle(writing *w, uint8_t *at, const kf_key *key, double time, kf_handle handle,
                              bool linear_time, double span)
{
    if (linear_time && handle.dt != 0) {
        handle.dv = handle.dv / handle.dt * (span / 3.0);
        handle.dt = span / 3.0;
    }
    return store(w, at, time + handle.dt) && store(w, at + 4, (key->value + handle.dv) / w->unit);
}

/* Control point 0 (outgoing) or 1 (incoming). `number` is the interpolation of the segment on its side, `was`
 * what that was in the original (0: there was none). */
static bool write_point(writing *w, uint8_t *record, const row *r, unsigned c, size_t i, unsigned point,
                        uint32_t number, uint32_t was)
{
    const kf_key *key = key_at(w, c, i);
    uint8_t *at = record + kfi_x4_point(c, point);
    uint32_t changed = r->changed[c];
    bool linear_time = number == X4_BEZIER_LINEAR_TIME;
    bool moved = r->moved || !r->base;
    double time = moved || !isfinite(kfi_x4_time(r->base)) ? time_at(w, i) : kfi_x4_time(r->base);
    if (is_bezier(number)) {
        bool edited = changed & (point == 0 ? KF_CHANGED_OUT : KF_CHANGED_IN);
        if (!r->source[c] || !is_bezier(was) || edited || (linear_time && moved)) {
            double span = time_at(w, point == 0 ? i + 1 : i - 1) - time_at(w, i);
            return point_from_handle(w, at, key, time, point == 0 ? key->out : key->in, linear_time, span);
        }
    }
    /* Points are absolute: those that are set move along with their key. */
    if (!r->source[c] || !x4_point_set(r->source[c], c, point))
        return true;
    double dt = kfi_load_f32(at) - (double)kfi_x4_time(r->source[c]);
    double dv = kfi_load_f32(at + 4) - (double)kfi_x4_value(r->source[c], c);
    if (moved && isfinite(dt) && !store(w, at, time + dt))
        return false;
    return !(changed & KF_CHANGED_VALUE) || !isfinite(dv) || store(w, at + 4, key->value / w->unit + dv);
}

static bool write_component(writing *w, uint8_t *record, const row *before, const row *r, unsigned c,
                            size_t i)
{
    const kf_key *key = key_at(w, c, i);
    if (r->source[c] && r->source[c] != r->base)
        copy_component(record, r->source[c], c);
    if ((r->changed[c] & KF_CHANGED_VALUE) && !store(w, record + X4_KEY_VALUE + 4 * c, key->value / w->unit))
        return false;
    kfi_store_u32(record + X4_KEY_INTERP + 4 * c, r->number[c]);
    uint32_t was_out = r->source[c] ? kfi_x4_interp(r->source[c], c) : 0;
    uint32_t was_in = r->follows[c] ? kfi_x4_interp(r->source[c] - X4_KEY_SIZE, c) : 0;
    /* Beyond the last key there is no segment, whatever number it has. */
    uint32_t out = i + 1 < w->count ? r->number[c] : 0;
    return write_point(w, record, r, c, i, 0, out, was_out) &&
           write_point(w, record, r, c, i, 1, before ? before->number[c] : 0, was_in);
}

static bool uses_tcb(const row *before, const row *r, unsigned c)
{
    return r->number[c] == X4_TCB || (before && before->number[c] == X4_TCB);
}

static bool same_tcb(const kf_tcb *a, const kf_tcb *b)
{
    return a->tension == b->tension && a->continuity == b->continuity && a->bias == b->bias &&
           a->ease_in == b->ease_in && a->ease_out == b->ease_out;
}

/* The record has one set of T/C/B and ease for all three components: those that changed decide, the first of
 * them where there are several. */
static bool write_tcb(writing *w, uint8_t *record, const row *before, const row *r, size_t i)
{
    const kf_track *track = w->list->track;
    const kf_tcb *tcb = NULL, *ease = NULL;
    bool kept = false; /* the record's numbers serve a component that comes from it */
    for (unsigned c = 0; c < 3; c++)
        kept = kept || (r->source[c] && uses_tcb(before, r, c));
    for (unsigned c = 0; c < 3; c++) {
        if (keys_of(track, c) == 0 || !track->curve[c].tcb)
            continue;
        if (!r->source[c] && (kept || !uses_tcb(before, r, c)))
            continue;
        if ((r->changed[c] & KF_CHANGED_TCB) && !tcb)
            tcb = &track->curve[c].tcb[i];
        if ((r->changed[c] & KF_CHANGED_EASE) && !ease)
            ease = &track->curve[c].tcb[i];
    }
    if (tcb) {
        kfi_store_f32(record + X4_KEY_TENSION, tcb->tension);
        kfi_store_f32(record + X4_KEY_CONTINUITY, tcb->continuity);
        kfi_store_f32(record + X4_KEY_BIAS, tcb->bias);
    }
    if (ease) {
        kfi_store_f32(record + X4_KEY_EASE_IN, ease->ease_in);
        kfi_store_f32(record + X4_KEY_EASE_OUT, ease->ease_out);
    }
    if (!tcb && !ease)
        return true;
    kf_tcb stored = {kfi_load_f32(record + X4_KEY_TENSION), kfi_load_f32(record + X4_KEY_CONTINUITY),
                     kfi_load_f32(record + X4_KEY_BIAS), kfi_load_f32(record + X4_KEY_EASE_IN),
                     kfi_load_f32(record + X4_KEY_EASE_OUT)};
    for (unsigned c = 0; c < 3; c++)
        if (keys_of(track, c) && track->curve[c].tcb && uses_tcb(before, r, c) &&
            !same_tcb(&track->curve[c].tcb[i], &stored))
            return kfi_warn(w->job, "tcb-shared",
                            "node \"%.60s\", take \"%.60s\", %s at %.4f s: x, y and z share their tension, "
                            "continuity, bias and ease in this format; one component's edited numbers now "
                            "serve all",
                            w->list->node, w->list->take, kfi_x4_kind_name(w->list->kind), time_at(w, i));
    return true;
}

/* The steepest slope at key i, that of the straight way to its neighbours included. A jump is none, however steep. */
static double steepest(const kf_curve *curve, size_t i)
{
    const kf_key *key = &curve->keys[i];
    double most = 0, slope[2];
    kfi_curve_slopes(curve, i, &slope[0], &slope[1]);
    for (int side = 0; side < 2; side++) {
        if (side ? i + 1 == curve->count : i == 0)
            continue;
        const kf_key *first = side ? key : key - 1;
        double gap = first[1].time - first->time, rise = first[1].value - first->value;
        if (first->interp == KF_STEP || first->interp == KF_STEP_NEXT || gap <= fmax(1e-6, fabs(key->time) * 0x1p-24))
            continue;
        most = fmax(most, fmax(fabs(slope[side]), fabs(rise / gap)));
    }
    return most;
}

/* Where the motion is steep and the time large, the nearest 32-bit time may be too far away. */
static bool tell_rounding(writing *w, size_t i, double stored)
{
    const kf_track *track = w->list->track;
    for (unsigned c = 0; c < 3 && !w->told; c++) {
        if (keys_of(track, c) == 0)
            continue;
        double asked = track->curve[c].keys[i].time + w->list->shift, off = fabs(stored - asked);
        double moved = off > 0 ? off * steepest(&track->curve[c], i) : 0;
        if (!(moved > w->limit[c]))
            continue;
        w->told = true;
        return kfi_warn(w->job, "time-rounded",
                        "node \"%.60s\", take \"%.60s\", %s at %.4f s: the 32-bit times of the format are too coarse for "
                        "a motion so steep; here a key is %.2g s late or early, and the motion %.2g off",
                        w->list->node, w->list->take, kfi_x4_kind_name(w->list->kind), asked, off, moved);
    }
    return true;
}

/* Two keys of the same time are one to the game: where 32 bits cannot tell them apart, the later one is a hair later. */
static bool write_time(writing *w, uint8_t *record, size_t i)
{
    if (!store(w, record + X4_KEY_TIME, time_at(w, i)))
        return false;
    float before = i ? kfi_x4_time(record - X4_KEY_SIZE) : 0;
    if (i && kfi_x4_time(record) <= before)
        kfi_store_f32(record + X4_KEY_TIME, nextafterf(before, FLT_MAX));
    return tell_rounding(w, i, kfi_x4_time(record));
}

/* Half of what is tolerated. */
static double rounding_limit(const x4_list *list, unsigned c)
{
    const kf_curve *curve = &list->track->curve[c];
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < keys_of(list->track, c); i++) {
        low = fmin(low, curve->keys[i].value);
        high = fmax(high, curve->keys[i].value);
    }
    double tolerance = list->kind == X4_ROT ? 0.01 : 1e-4 * fmax(high - low, 1);
    return 0.5 * (list->tolerance > 0 ? list->tolerance : tolerance);
}

static bool write_row(writing *w, uint8_t *record, const row *before, const row *r, size_t i)
{
    if (r->base)
        memcpy(record, r->base, X4_KEY_SIZE);
    else
        memset(record, 0, X4_KEY_SIZE);
    for (unsigned c = 0; c < 3; c++)
        if (!write_component(w, record, before, r, c, i))
            return false;
    if ((r->moved || !r->base) && !write_time(w, record, i))
        return false;
    return write_tcb(w, record, before, r, i);
}

/* Whether the key that follows `a` in component c is another one than in the original, or at another time. */
static bool parted(const row *a, const row *b, unsigned c)
{
    return a->moved || b->moved || !a->source[c] || b->source[c] != a->source[c] + X4_KEY_SIZE;
}

/* A key that was not edited keeps its bytes, and with them its control point, while an FBX handle is a share of its
 * segment and changes with it. */
static bool keeps_point(const row *before, const row *r, const row *next)
{
    for (unsigned c = 0; c < 3 && !r->moved; c++) {
        if (next && parted(r, next, c) && r->source[c] && is_bezier(r->number[c]) && !(r->changed[c] & KF_CHANGED_OUT))
            return true;
        if (before && parted(before, r, c) && r->source[c] && is_bezier(before->number[c]) &&
            !(r->changed[c] & KF_CHANGED_IN))
            return true;
    }
    return false;
}

bool kfi_x4_write_list(kf_job *job, const x4_list *list, uint8_t *records)
{
    writing w = {.job = job, .list = list, .unit = x4_unit(list->kind)};
    if (!kfi_x4_list_count(job, list, &w.count))
        return false;
    for (unsigned c = 0; c < 3; c++)
        w.constant[c] = (kf_key){.value = list->track->rest[c], .interp = KF_LINEAR};
    for (unsigned c = 0; c < 3; c++)
        w.limit[c] = rounding_limit(list, c);
    row before, here = {0}, next = {0};
    if (w.count)
        find_row(&w, 0, &next);
    for (size_t i = 0; i < w.count; i++) {
        before = here;
        here = next;
        bool last = i + 1 == w.count;
        if (!last)
            find_row(&w, i + 1, &next);
        for (unsigned c = 0; c < 3; c++)
            if (!choose_number(&w, last ? NULL : &next, &here, c, i))
                return false;
        if (!write_row(&w, records + i * X4_KEY_SIZE, i ? &before : NULL, &here, i))
            return false;
        if (keeps_point(i ? &before : NULL, &here, last ? NULL : &next) &&
            !kfi_note(
                job, "handle-kept",
                "node \"%.60s\", take \"%.60s\", %s at %.4f s: the key beside it was moved in time, is new or "
                "gone; its own handle stays as it was in the file",
                list->node, list->take, kfi_x4_kind_name(list->kind), time_at(&w, i)))
            return false;
    }
    return true;
}
