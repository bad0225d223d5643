/* One component of a list of keys: records into a neutral curve. */
#include "x4-ani/x4.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool warn_key(const x4_component *c, const char *id, size_t i, const char *what)
{
    return kfi_warn(c->job, id, "node \"%.60s\", take \"%.60s\", %s %c at %.4f s: %s",
                    c->anim->nodes[c->track->node].name, c->take->name, kfi_x4_kind_name(c->kind),
                    "xyz"[c->index], c -> curve -> keys[i].time, what);
}

static const uint8_t *record(const x4_component *c, size_t i)
{
    return c->records + i * X4_KEY_SIZE;
}

/* Times and values; where one is no finite number, or a time lies before its predecessor's, the last good
 * one. */
static bool read_times_and_values(x4_component *c)
{
    double time = 0, value = x4_rest(c->kind);
    for (size_t i = 0; i < c->curve->count; i++) {
        kf_key *key = &c->curve->keys[i];
        double own_time = kfi_x4_time(record(c, i)), own_value = kfi_x4_value(record(c, i), c->index);
        bool finite = isfinite(own_time) && isfinite(own_value);
        bool backwards = i > 0 && own_time < time;
        if (isfinite(own_time) && !backwards)
            time = own_time;
        if (isfinite(own_value))
            value = own_value * c->unit;
        key->time = time;
        key->value = value;
        if (!finite) {
            key->flags |= isfinite(own_value) ? KF_KEY_NONFINITE : kfi_nonfinite_flags(own_value);
            if (!warn_key(c, "nonfinite", i,
                          isfinite(own_time) ? "the value is no finite number: the last one is held"
                                             : "the time is no finite number: the last one is held"))
                return false;
        }
        if (backwards && c->index == 0 &&
            !kfi_note(c->job, "time-order",
                      "node \"%.60s\", take \"%.60s\", %s key %zu: its time %g s lies before the key before "
                      "it and is "
                      "shown as %g s",
                      c->anim->nodes[c->track->node].name, c->take->name, kfi_x4_kind_name(c->kind), i,
                      own_time, time))
            return false;
    }
    return true;
}

static float finite_number(const uint8_t *field, bool *finite)
{
    float number = kfi_load_f32(field);
    if (isfinite(number))
        return number;
    *finite = false;
    return 0;
}

static bool read_tcb(x4_component *c)
{
    for (size_t i = 0; i < c->curve->count; i++) {
        const uint8_t *key = record(c, i);
        bool finite = true;
        c->curve->tcb[i] = (kf_tcb){
            .tension = finite_number(key + X4_KEY_TENSION, &finite),
            .continuity = finite_number(key + X4_KEY_CONTINUITY, &finite),
            .bias = finite_number(key + X4_KEY_BIAS, &finite),
            .ease_in = finite_number(key + X4_KEY_EASE_IN, &finite),
            .ease_out = finite_number(key + X4_KEY_EASE_OUT, &finite),
        };
        if (finite)
            continue;
        c->curve->keys[i].flags |= KF_KEY_NONFINITE_SHAPE;
        if (!warn_key(c, "nonfinite", i, "a TCB number is no finite number: 0 is used"))
            return false;
    }
    return true;
}

/* Where the record of key `of` has no finite number its key has the last one; the point may itself be none. */
static bool read_odd_point(x4_component *c, size_t i, const uint8_t *point, size_t of, kf_handle *handle)
{
    kf_key *key = &c->curve->keys[of];
    double time = kfi_x4_time(record(c, of)), value = kfi_x4_value(record(c, of), c->index);
    if (!isfinite(time))
        time = key->time;
    if (!isfinite(value))
        value = key->value / c->unit;
    handle->dt = kfi_load_f32(point) - time;
    handle->dv = (kfi_load_f32(point + 4) - value) * c->unit;
    if (isfinite(handle->dt) && isfinite(handle->dv))
        return true;
    *handle = (kf_handle){0, 0};
    key->flags |= KF_KEY_NONFINITE_SHAPE;
    return warn_key(c, "nonfinite", i, "a control point is no finite number: a handle of no length is used");
}

/* A control point (0 outgoing, 1 incoming) of key i as a handle of key `of`. */
static inline bool read_point(x4_component *c, size_t i, unsigned point, size_t of, kf_handle *handle)
{
    const uint8_t *p = record(c, i) + kfi_x4_point(c->index, point);
    double dt = kfi_load_f32(p) - (double)kfi_x4_time(record(c, of));
    double dv = (kfi_load_f32(p + 4) - (double)kfi_x4_value(record(c, of), c->index)) * c->unit;
    if (!isfinite(dt) || !isfinite(dv))
        return read_odd_point(c, i, p, of, handle);
    *handle = (kf_handle){dt, dv};
    return true;
}

static kf_handle third(const kf_key *from, const kf_key *to, double slope)
{
    double dt = (to->time - from->time) / 3.0;
    return (kf_handle){dt, slope * dt};
}

/* The derivative that the file stores, or the straight line's slope where it has none. */
static double derivative(const x4_component *c, size_t i, size_t field, double chord)
{
    float stored = kfi_load_f32(record(c, i) + field + 4 * (size_t)c->index);
    return kfi_load_u32(record(c, i) + X4_KEY_DERIV) != 0 && isfinite(stored) ? stored * c->unit : chord;
}

/* Quadratic, cubic and unknown numbers: no file shows what the game makes of them, so the nearest shape is
 * taken. */
static bool read_rare_segment(x4_component *c, size_t i, uint32_t number)
{
    kf_key *key = &c->curve->keys[i], *next = key + 1;
    kf_handle *out = &c->curve->handles[i].out, *next_in = &c->curve->handles[i + 1].in;
    const char *shape = "a straight line";
    double span = next->time - key->time;
    bool derived =
        kfi_load_u32(record(c, i) + X4_KEY_DERIV) != 0 || kfi_load_u32(record(c, i + 1) + X4_KEY_DERIV) != 0;
    key->interp = KF_LINEAR;
    if (number == X4_QUADRATIC && x4_point_set(record(c, i), c->index, 0)) {
        /* One control point for both ends, raised to the cubic of the same shape. */
        shape = "a Bezier segment through its first control point";
        key->interp = KF_BEZIER;
        if (!read_point(c, i, 0, i, out) || !read_point(c, i, 0, i + 1, next_in))
            return false;
        *out = (kf_handle){out->dt * (2.0 / 3.0), out->dv * (2.0 / 3.0)};
        *next_in = (kf_handle){next_in->dt * (2.0 / 3.0), next_in->dv * (2.0 / 3.0)};
    } else if (number == X4_CUBIC && derived && span > 0) {
        shape = "a cubic with its stored derivatives";
        double chord = (next->value - key->value) / span;
        key->interp = KF_HERMITE;
        *out = third(key, next, derivative(c, i, X4_KEY_DERIV_OUT, chord));
        *next_in = third(next, key, derivative(c, i + 1, X4_KEY_DERIV_IN, chord));
    } else if (number == X4_CUBIC &&
               (x4_point_set(record(c, i), c->index, 0) || x4_point_set(record(c, i + 1), c->index, 1))) {
        shape = "a Bezier segment through its control points";
        key->interp = KF_BEZIER;
        if (!read_point(c, i, 0, i, out) || !read_point(c, i + 1, 1, i + 1, next_in))
            return false;
    }
    char what[96];
    snprintf(what, sizeof what, "interpolation %lu is shown as %s", (unsigned long)number, shape);
    return warn_key(c, "interpolation", i, what);
}

/* The segment after key i: the key's interpolation, its out handle and the next key's in handle. */
static bool read_segment(x4_component *c, size_t i)
{
    kf_key *key = &c->curve->keys[i];
    uint32_t number = kfi_x4_interp(record(c, i), c->index);
    if (number == X4_STEP || number == X4_LINEAR || number == X4_TCB) {
        key->interp = number == X4_STEP ? KF_STEP : number == X4_LINEAR ? KF_LINEAR : KF_TCB;
        return true;
    }
    if (!kfi_need_handles(c->job, c->curve))
        return false;
    kf_handles *handles = &c->curve->handles[i];
    switch (number) {
    case X4_BEZIER:
        key->interp = KF_BEZIER;
        return read_point(c, i, 0, i, &handles->out) && read_point(c, i + 1, 1, i + 1, &handles[1].in);
    case X4_BEZIER_LINEAR_TIME:
        /* Only the points' values count, at a third and two thirds of the way. */
        key->interp = KF_HERMITE;
        if (!read_point(c, i, 0, i, &handles->out) || !read_point(c, i + 1, 1, i + 1, &handles[1].in))
            return false;
        handles->out.dt = (key[1].time - key->time) / 3.0;
        handles[1].in.dt = -handles->out.dt;
        if (handles->out.dt == 0)
            handles->out = handles[1].in = (kf_handle){0, 0};
        return true;
    default:
        key->native = number <= UINT16_MAX ? (uint16_t)number : UINT16_MAX;
        return read_rare_segment(c, i, number);
    }
}

/* What the last key says of a segment that is not there, and the handles before the first and after the last
 * key. */
static bool read_ends(x4_component *c)
{
    static const uint8_t interps[] = {KF_LINEAR, KF_STEP,   KF_LINEAR,  KF_LINEAR,
                                      KF_LINEAR, KF_BEZIER, KF_HERMITE, KF_TCB};
    size_t last = c->curve->count - 1;
    kf_key *keys = c->curve->keys;
    uint32_t number = kfi_x4_interp(record(c, last), c->index);
    keys[last].interp = number < sizeof interps ? interps[number] : KF_LINEAR;
    if ((keys[last].interp == KF_BEZIER || keys[last].interp == KF_HERMITE) && !kfi_need_handles(c->job, c->curve))
        return false;
    if (number == X4_QUADRATIC || number == X4_CUBIC || number > X4_TCB)
        keys[last].native = number <= UINT16_MAX ? (uint16_t)number : UINT16_MAX;
    if (!c->curve->handles)
        return true;
    if (keys[0].interp == KF_BEZIER && keys[0].native == 0 && x4_point_set(record(c, 0), c->index, 1) &&
        !read_point(c, 0, 1, 0, &c->curve->handles[0].in))
        return false;
    bool handled = keys[last].interp == KF_BEZIER ||
                   (last > 0 && keys[last - 1].interp == KF_BEZIER && keys[last - 1].native == 0);
    return !handled || !x4_point_set(record(c, last), c->index, 0) ||
           read_point(c, last, 0, last, &c->curve->handles[last].out);
}

/* ---------------------------------------------------------------- the usual ones in one go */

enum { HANDLED = 1u << X4_BEZIER | 1u << X4_BEZIER_LINEAR_TIME, PLAIN = HANDLED | 1u << X4_STEP | 1u << X4_LINEAR | 1u << X4_TCB };

/* A control point as a handle of its own record's key; returns the sum of its numbers. */
static inline float plain_handle(const uint8_t *point, double time, double value, double unit, kf_handle *handle)
{
    float t = kfi_load_f32(point), v = kfi_load_f32(point + 4);
    handle->dt = t - time;
    handle->dv = (v - value) * unit;
    return t + v;
}

/* Where only the points' values count, their times are a third and two thirds of the way. */
static void space_evenly(kf_curve *curve)
{
    kf_handles *handles = curve->handles;
    for (size_t i = 0; i + 1 < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        if (key->interp != KF_HERMITE)
            continue;
        double part = (key[1].time - key->time) / 3.0;
        handles[i].out.dt = part;
        handles[i + 1].in.dt = -part;
        if (part == 0)
            handles[i].out = handles[i + 1].in = (kf_handle){0, 0};
    }
}

/* Keys and handles of a component that has only plain interpolations, in one go. False, and what was made is of no use, where
 * a number is not finite (or some together are too large) or a time goes backwards. */
static bool read_plain(const x4_component *c)
{
    static const uint8_t interps[] = {[X4_STEP] = KF_STEP,
                                      [X4_LINEAR] = KF_LINEAR,
                                      [X4_BEZIER] = KF_BEZIER,
                                      [X4_BEZIER_LINEAR_TIME] = KF_HERMITE,
                                      [X4_TCB] = KF_TCB};
    const unsigned index = c->index; /* copies: for all that the compiler knows, the keys might be written over these */
    const double unit = c->unit;
    const uint8_t *r = c->records;
    kf_key *keys = c->curve->keys;
    kf_handles *handles = c->curve->handles;
    const size_t last = c->curve->count - 1, out = kfi_x4_point(index, 0), in = kfi_x4_point(index, 1);
    float earlier = kfi_x4_time(r);
    uint32_t before = X4_UNKNOWN;
    for (size_t i = 0; i <= last; i++, r += X4_KEY_SIZE) {
        const uint32_t number = kfi_x4_interp(r, index);
        float time = kfi_x4_time(r), value = kfi_x4_value(r, index), sum = time + value;
        keys[i] = (kf_key){.time = time, .value = value * unit, .interp = interps[number]};
        if (handles) {
            if (1u << before & HANDLED)
                sum += plain_handle(r + in, time, value, unit, &handles[i].in);
            else
                handles[i].in = (kf_handle){0, 0};
            if ((1u << number & HANDLED) && i < last)
                sum += plain_handle(r + out, time, value, unit, &handles[i].out);
            else
                handles[i].out = (kf_handle){0, 0};
            before = number;
        }
        if (sum * 0 != 0 || time < earlier)
            return false;
        earlier = time;
    }
    return true;
}

/* All else: each key with what is to be said of it. */
static bool read_odd(x4_component *c)
{
    size_t count = c->curve->count;
    memset(c->curve->keys, 0, count * sizeof *c->curve->keys);
    if (c->curve->handles)
        memset(c->curve->handles, 0, count * sizeof *c->curve->handles);
    if (!read_times_and_values(c) || (c->curve->tcb && !read_tcb(c)))
        return false;
    for (size_t i = 0; i + 1 < count; i++)
        if (!read_segment(c, i))
            return false;
    return read_ends(c);
}

void kfi_x4_find_interps(const uint8_t *records, size_t count, uint32_t found[3])
{
    found[0] = found[1] = found[2] = 0;
    for (size_t i = 0; i < count; i++, records += X4_KEY_SIZE) {
        kfi_look_ahead(records);
        for (unsigned k = 0; k < 3; k++) {
            uint32_t number = kfi_x4_interp(records, k);
            found[k] |= 1u << (number < 31 ? number : 31);
        }
    }
}

bool kfi_x4_read_component(x4_component *c, size_t count, uint32_t found)
{
    bool tcb = found & 1u << X4_TCB, plain = (found & ~(uint32_t)PLAIN) == 0;
    unsigned parts = KFI_UNSET | (tcb ? (unsigned)KFI_NUMBERS : 0) |
                     (plain && (found & HANDLED) ? (unsigned)KFI_HANDLES : 0);
    if (!kfi_make_keys(c->job, c->curve, count, parts))
        return false;
    if (!plain || !read_plain(c))
        return read_odd(c);
    if (found & 1u << X4_BEZIER_LINEAR_TIME)
        space_evenly(c->curve);
    return (!tcb || read_tcb(c)) && read_ends(c);
}
