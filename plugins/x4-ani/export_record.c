/* The fields of one record: values, control points, T/C/B and ease, time. */
#include "x4-ani/export_keys.h"

#include "curve.h"
#include "tolerance.h"

#include <float.h>
#include <math.h>

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

static bool store(x4_writing *w, uint8_t *at, double number)
{
    float value;
    if (!kfi_x4_to_f32(w->job, w->list, number, &value))
        return false;
    kfi_store_f32(at, value);
    return true;
}

/* ---------------------------------------------------------------- components */

/* Components of one row may come from different records. */
static void copy_component(uint8_t *to, const uint8_t *from, unsigned c)
{
    memcpy(to + X4_KEY_VALUE + 4 * c, from + X4_KEY_VALUE + 4 * c, 4);
    memcpy(to + X4_KEY_INTERP + 4 * c, from + X4_KEY_INTERP + 4 * c, 4);
    memcpy(to + kfi_x4_point(c, 0), from + kfi_x4_point(c, 0), 16);
    memcpy(to + X4_KEY_DERIV_IN + 4 * c, from + X4_KEY_DERIV_IN + 4 * c, 4);
    memcpy(to + X4_KEY_DERIV_OUT + 4 * c, from + X4_KEY_DERIV_OUT + 4 * c, 4);
}

/* What of a control point is written. */
enum { POINT_TIME = 1, POINT_VALUE = 2 };

/* A control point from a handle. `span` is the time to the key on the handle's side, negative before it. With
 * linear time only the slope counts, and the point lies a third of the way. */
static bool point_from_handle(x4_writing *w, uint8_t *at, const kf_key *key, double time, kf_handle handle,
                              bool linear_time, double span, unsigned parts)
{
    if (linear_time && handle.dt != 0) {
        handle.dv = handle.dv / handle.dt * (span / 3.0);
        handle.dt = span / 3.0;
    }
    return (!(parts & POINT_TIME) || store(w, at, time + handle.dt)) &&
           (!(parts & POINT_VALUE) || store(w, at + 4, (key->value + handle.dv) / w->unit));
}

/* Whether the segment on a control point's side is as long as it was in the original. */
static bool same_span(const x4_writing *w, const x4_row *r, unsigned c, unsigned point, double span)
{
    const uint8_t *here = r->source[c], *end = w->list->source + w->list->source_count * X4_KEY_SIZE;
    if (point == 0 ? end - here <= X4_KEY_SIZE : !r->follows[c])
        return false;
    const uint8_t *other = point == 0 ? here + X4_KEY_SIZE : here - X4_KEY_SIZE;
    return (double)kfi_x4_time(other) - (double)kfi_x4_time(here) == span;
}

/* Control point 0 (outgoing) or 1 (incoming). `number` is the interpolation of the segment on its side, `was`
 * what that was in the original (0: there was none). */
static bool write_point(x4_writing *w, uint8_t *record, const x4_row *r, unsigned c, size_t i, unsigned point,
                        uint32_t number, uint32_t was)
{
    const kf_key *key = kfi_x4_key_at(w, c, i);
    uint8_t *at = record + kfi_x4_point(c, point);
    uint32_t changed = r->changed[c];
    bool linear_time = number == X4_BEZIER_LINEAR_TIME, was_linear = was == X4_BEZIER_LINEAR_TIME;
    bool moved = r->moved || !r->base;
    double time = moved || !isfinite(kfi_x4_time(r->base)) ? kfi_x4_time_at(w, i) : kfi_x4_time(r->base);
    if (x4_is_bezier(number)) {
        bool edited = changed & (point == 0 ? KF_CHANGED_OUT : KF_CHANGED_IN);
        bool freed = was_linear && !linear_time; /* its time, which meant nothing, does now */
        if (!r->source[c] || !x4_is_bezier(was) || edited || (linear_time && moved) || freed) {
            double span = kfi_x4_time_at(w, point == 0 ? i + 1 : i - 1) - kfi_x4_time_at(w, i);
            kf_handles handles = kfi_x4_handles_at(w, c, i);
            unsigned parts = POINT_TIME | POINT_VALUE;
            if (r->source[c] && was_linear && !moved && same_span(w, r, c, point, span)) {
                if (linear_time)
                    parts = POINT_VALUE;
                else if (!edited && !(changed & KF_CHANGED_VALUE))
                    parts = POINT_TIME;
            }
            return point_from_handle(w, at, key, time, point == 0 ? handles.out : handles.in,
                                     linear_time || (freed && !edited), span, parts);
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

static bool write_component(x4_writing *w, uint8_t *record, const x4_row *before, const x4_row *r, unsigned c,
                            size_t i)
{
    const kf_key *key = kfi_x4_key_at(w, c, i);
    if (r->source[c] && r->source[c] != r->base)
        copy_component(record, r->source[c], c);
    uint8_t *value = record + X4_KEY_VALUE + 4 * c;
    bool zero = key->value == 0 && kfi_load_f32(value) == 0; /* which keeps its sign */
    if ((r->changed[c] & KF_CHANGED_VALUE) && !zero && !store(w, value, key->value / w->unit))
        return false;
    kfi_store_u32(record + X4_KEY_INTERP + 4 * c, r->number[c]);
    uint32_t was_out = r->source[c] ? kfi_x4_interp(r->source[c], c) : 0;
    uint32_t was_in = r->source[c] && r->follows[c] ? kfi_x4_interp(r->source[c] - X4_KEY_SIZE, c) : 0;
    /* Beyond the last key there is no segment, whatever number it has. */
    uint32_t out = i + 1 < w->count ? r->number[c] : 0;
    return write_point(w, record, r, c, i, 0, out, was_out) &&
           write_point(w, record, r, c, i, 1, before ? before->number[c] : 0, was_in);
}

static bool uses_tcb(const x4_row *before, const x4_row *r, unsigned c)
{
    return r->number[c] == X4_TCB || (before && before->number[c] == X4_TCB);
}

static bool same_tcb(const kf_tcb *a, const kf_tcb *b)
{
    return a->tension == b->tension && a->continuity == b->continuity && a->bias == b->bias &&
           a->ease_in == b->ease_in && a->ease_out == b->ease_out;
}

/* A number as the importer shows it: what is no finite number is 0. */
static float load_number(const uint8_t *at)
{
    float number = kfi_load_f32(at);
    return isfinite(number) ? number : 0.0f;
}

/* One that comes back as it was shown keeps its bits. */
static void store_number(uint8_t *at, float number)
{
    if (number != load_number(at))
        kfi_store_f32(at, number);
}

/* The record has one set of T/C/B and ease for all three components: those that changed decide, the first of
 * them where there are several. */
static bool write_tcb(x4_writing *w, uint8_t *record, const x4_row *before, const x4_row *r, size_t i)
{
    const kf_track *track = w->list->track;
    const kf_tcb *tcb = NULL, *ease = NULL;
    bool kept = false; /* the record's numbers serve a component that comes from it */
    for (unsigned c = 0; c < 3; c++)
        kept = kept || (r->source[c] && uses_tcb(before, r, c));
    for (unsigned c = 0; c < 3; c++) {
        if (x4_keys_of(track, c) == 0 || !track->curve[c].tcb)
            continue;
        if (!r->source[c] && (kept || !uses_tcb(before, r, c)))
            continue;
        if ((r->changed[c] & KF_CHANGED_TCB) && !tcb)
            tcb = &track->curve[c].tcb[i];
        if ((r->changed[c] & KF_CHANGED_EASE) && !ease)
            ease = &track->curve[c].tcb[i];
    }
    if (tcb) {
        store_number(record + X4_KEY_TENSION, tcb->tension);
        store_number(record + X4_KEY_CONTINUITY, tcb->continuity);
        store_number(record + X4_KEY_BIAS, tcb->bias);
    }
    if (ease) {
        store_number(record + X4_KEY_EASE_IN, ease->ease_in);
        store_number(record + X4_KEY_EASE_OUT, ease->ease_out);
    }
    if (!tcb && !ease)
        return true;
    kf_tcb stored = {load_number(record + X4_KEY_TENSION), load_number(record + X4_KEY_CONTINUITY),
                     load_number(record + X4_KEY_BIAS), load_number(record + X4_KEY_EASE_IN),
                     load_number(record + X4_KEY_EASE_OUT)};
    for (unsigned c = 0; c < 3; c++)
        if (x4_keys_of(track, c) && track->curve[c].tcb && uses_tcb(before, r, c) &&
            !same_tcb(&track->curve[c].tcb[i], &stored))
            return kfi_warn(w->job, "tcb-shared",
                            "node \"%.60s\", take \"%.60s\", %s at %.4f s: x, y and z share their tension, "
                            "continuity, bias and ease in this format; one component's edited numbers now "
                            "serve all",
                            w->list->node, w->list->take, kfi_x4_kind_name(w->list->kind), kfi_x4_time_at(w, i));
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
static bool tell_rounding(x4_writing *w, size_t i, double stored)
{
    const kf_track *track = w->list->track;
    for (unsigned c = 0; c < 3 && !w->told; c++) {
        if (x4_keys_of(track, c) == 0)
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
static bool write_time(x4_writing *w, uint8_t *record, size_t i)
{
    if (!store(w, record + X4_KEY_TIME, kfi_x4_time_at(w, i)))
        return false;
    float before = i ? kfi_x4_time(record - X4_KEY_SIZE) : 0;
    if (i && kfi_x4_time(record) <= before)
        kfi_store_f32(record + X4_KEY_TIME, nextafterf(before, FLT_MAX));
    return tell_rounding(w, i, kfi_x4_time(record));
}

double kfi_x4_rounding_limit(const x4_list *list, unsigned c)
{
    if (x4_keys_of(list->track, c) == 0)
        return 0;
    return 0.5 * kfi_tolerated(list->tolerance, (kf_channel)list->track->channel, &list->track->curve[c]);
}

bool kfi_x4_write_row(x4_writing *w, uint8_t *record, const x4_row *before, const x4_row *r, size_t i)
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

