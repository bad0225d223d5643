#include "fbx/keys.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Weights are stored as whole numbers of 1/9999; programs keep them within 0.0001..0.99. */
enum { WEIGHT_UNIT = 9999, WEIGHT_MIN = 1, WEIGHT_MAX = 9899, WEIGHT_THIRD = 3333 };

#define THIRDS (WEIGHT_THIRD | (uint32_t)WEIGHT_THIRD << 16)
#define WEIGHTED ((uint32_t)KFI_FBX_WEIGHT_RIGHT | (uint32_t)KFI_FBX_WEIGHT_NEXT_LEFT)

/* One key's attributes, as in the file. */
typedef struct record {
    uint32_t flags;
    uint32_t data[4];
} record;

/* ---------------------------------------------------------------- numbers */

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline bool finite_bits(uint32_t bits)
{
    return (bits & 0x7f800000u) != 0x7f800000u;
}

/* The nearest finite float; 0 for what is no number. */
static inline float to_float(double value)
{
    if (value > -FLT_MAX && value < FLT_MAX)
        return (float)value;
    return value >= FLT_MAX ? FLT_MAX : value <= -FLT_MAX ? -FLT_MAX : 0.0f;
}

static inline int64_t round_ticks(double seconds)
{
    double ticks = seconds * (double)KFI_FBX_TICKS;
    if (!(ticks > -9.2e18 && ticks < 9.2e18))
        return ticks >= 9.2e18 ? INT64_MAX : ticks <= -9.2e18 ? -INT64_MAX : 0;
    int64_t whole = (int64_t)ticks;
    double rest = ticks - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

int64_t kfi_fbx_ticks(double seconds)
{
    return round_ticks(seconds);
}

double kfi_fbx_seconds(int64_t ticks)
{
    return (double)ticks / (double)KFI_FBX_TICKS;
}

static kf_interp interp_of(uint32_t flags)
{
    if (flags & KFI_FBX_CONSTANT)
        return flags & KFI_FBX_AUTO ? KF_STEP_NEXT : KF_STEP;
    if (!(flags & KFI_FBX_CUBIC))
        return KF_LINEAR;
    if (flags & KFI_FBX_TCB)
        return KF_TCB;
    if (flags & KFI_FBX_USER)
        return flags & WEIGHTED ? KF_BEZIER : KF_HERMITE;
    return KF_AUTO;
}

static inline bool has_slopes(unsigned interp)
{
    return interp == KF_HERMITE || interp == KF_BEZIER;
}

/* ---------------------------------------------------------------- a record's meaning as handles */

/* The segment that a key's handles are measured by; behind the last key it is the one before it. */
static inline double duration_after(const kf_key *keys, size_t count, size_t i)
{
    if (i + 1 < count)
        return keys[i + 1].time - keys[i].time;
    return count > 1 ? keys[i].time - keys[i - 1].time : 1.0;
}

/* On cubic keys a weight counts only if its flag is set. Others have no use for it, so it can be kept as it
 * is. */
static inline double handle_length(uint32_t flags, uint32_t flag, uint32_t packed, double duration)
{
    uint32_t weight = (flags & flag) || !(flags & KFI_FBX_CUBIC) ? packed & 0xffff : (uint32_t)WEIGHT_THIRD;
    return weight == WEIGHT_THIRD ? duration / 3.0 : weight / (double)WEIGHT_UNIT * duration;
}

static void record_handles(uint32_t flags, const uint32_t data[4], double duration, kf_handle *out,
                           kf_handle *next_in)
{
    if ((flags & (KFI_FBX_CUBIC | KFI_FBX_TCB | KFI_FBX_CONSTANT)) == (KFI_FBX_CUBIC | KFI_FBX_TCB)) {
        *out = (kf_handle){0, 0};
        *next_in = (kf_handle){-duration / 3.0, 0};
        return;
    }
    double right = handle_length(flags, KFI_FBX_WEIGHT_RIGHT, data[2], duration);
    double left = handle_length(flags, KFI_FBX_WEIGHT_NEXT_LEFT, data[2] >> 16, -duration);
    *out = (kf_handle){right, (double)bits_float(data[0]) * right};
    *next_in = (kf_handle){left, (double)bits_float(data[1]) * left};
}

/* But for what scaling and scaling back may do to the last bit. */
static inline bool same_number(double a, double b)
{
    return fabs(a - b) <= 1e-14 * fabs(a);
}

static inline bool same_handle(kf_handle a, kf_handle b)
{
    return same_number(a.dt, b.dt) && same_number(a.dv, b.dv);
}

/* ---------------------------------------------------------------- packing */

static inline float slope_of(kf_handle handle)
{
    return handle.dt != 0 ? to_float(handle.dv / handle.dt) : 0.0f;
}

/* Slope and weight of a Bezier handle; `duration` has the handle's sign. A handle too short for FBX keeps its
 * height, one too long its direction. */
static unsigned pack_weight(kf_handle handle, double duration, float *slope)
{
    double weight = duration != 0 ? handle.dt / duration * WEIGHT_UNIT : WEIGHT_THIRD;
    *slope = slope_of(handle);
    if (!(weight >= WEIGHT_MIN)) {
        double least = duration * WEIGHT_MIN / WEIGHT_UNIT;
        *slope = least != 0 ? to_float(handle.dv / least) : 0.0f;
        return WEIGHT_MIN;
    }
    return weight > WEIGHT_MAX ? (unsigned)WEIGHT_MAX : (unsigned)(weight + 0.5);
}

static inline unsigned keep_weight(kf_handle handle, double duration)
{
    double weight = duration != 0 ? handle.dt / duration * WEIGHT_UNIT + 0.5 : 0;
    return weight >= 1 && weight < 65536 ? (unsigned)weight : (unsigned)WEIGHT_THIRD;
}

/* The record that the key and the one after it ask for, when the words once read are not to be had: its four
 * words of data, and the flags returned. */
static uint32_t make_record(const kf_curve *curve, size_t i, float in_slope, uint32_t data[4])
{
    const kf_key *key = &curve->keys[i];
    const kf_key *next = i + 1 < curve->count ? key + 1 : NULL;
    kf_handle out = kfi_handles_of(curve, i).out, next_in = next ? kfi_handles_of(curve, i + 1).in : (kf_handle){0, 0};
    bool known = key->attr != 0 && interp_of(key->attr) == key->interp;
    uint32_t broken = key->flags & KF_KEY_BROKEN ? KFI_FBX_BREAK : 0;
    uint32_t kept = (key->attr & ~(uint32_t)KFI_FBX_BREAK) | broken;

    data[0] = data[1] = data[3] = 0;
    data[2] = THIRDS;
    if (has_slopes(key->interp)) {
        float right = 0, left = 0;
        uint32_t flags = KFI_FBX_CUBIC | KFI_FBX_USER;
        if (key->interp == KF_BEZIER) {
            double duration = duration_after(curve->keys, curve->count, i);
            bool open = !next && out.dt == 0; /* a last key whose out handle nobody set */
            unsigned right_weight = open ? (unsigned)WEIGHT_THIRD : pack_weight(out, duration, &right);
            unsigned left_weight = next ? pack_weight(next_in, -duration, &left) : (unsigned)WEIGHT_THIRD;
            data[2] = right_weight | (uint32_t)left_weight << 16;
            flags |= (right_weight != WEIGHT_THIRD ? (uint32_t)KFI_FBX_WEIGHT_RIGHT : 0) |
                     (left_weight != WEIGHT_THIRD ? (uint32_t)KFI_FBX_WEIGHT_NEXT_LEFT : 0);
        } else {
            right = slope_of(out);
            left = slope_of(next_in);
        }
        bool arrives = i > 0 && has_slopes(key[-1].interp);
        if (!known && !next && out.dt == 0 && arrives)
            right = in_slope; /* nobody said what comes after the last key: straight on */
        if (next && next->interp == KF_AUTO && next->attr == 0)
            left = 0; /* would be its bias */
        if (arrives && next && right != in_slope)
            broken = KFI_FBX_BREAK;
        data[0] = float_bits(known ? right : right + 0.0f); /* -0 only where a program wrote it */
        data[1] = float_bits(known ? left : left + 0.0f);
        return known ? kept | (flags & WEIGHTED) : flags | broken;
    }
    if (key->interp == KF_TCB) {
        kf_tcb tcb = curve->tcb ? curve->tcb[i] : (kf_tcb){0};
        data[0] = float_bits(to_float(tcb.tension));
        data[1] = float_bits(to_float(tcb.continuity));
        data[2] = float_bits(to_float(tcb.bias));
        return known ? kept : (uint32_t)(KFI_FBX_CUBIC | KFI_FBX_TCB);
    }
    if (known) {
        double duration = duration_after(curve->keys, curve->count, i);
        unsigned right = keep_weight(out, duration);
        unsigned left = next                     ? keep_weight(next_in, -duration)
                        : key->interp == KF_AUTO ? (unsigned)WEIGHT_THIRD
                                                 : right;
        data[0] = float_bits(slope_of(out));
        data[1] = float_bits(slope_of(next_in));
        data[2] = right | (uint32_t)left << 16;
        return kept;
    }
    switch (key->interp) {
    case KF_STEP:
        return KFI_FBX_CONSTANT;
    case KF_STEP_NEXT:
        return KFI_FBX_CONSTANT | KFI_FBX_AUTO;
    case KF_AUTO:
        return KFI_FBX_CUBIC | KFI_FBX_AUTO | broken;
    default:
        return KFI_FBX_LINEAR | KFI_FBX_USER;
    }
}

/* One by one: they were just written that way, and wider loads would have to wait for it. */
static inline bool same_words(const uint32_t a[4], const uint32_t b[4])
{
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
}

/* The words once read, if key i still is what they make of it. */
static bool reuse_record(const kf_curve *curve, size_t i, uint32_t *flags, uint32_t to[4])
{
    const kf_key *key = &curve->keys[i];
    const uint32_t *data = &curve->fbx_data[4 * i];
    bool broken = key->attr & KFI_FBX_BREAK;
    if (key->attr == 0 || interp_of(key->attr) != key->interp || broken != !!(key->flags & KF_KEY_BROKEN))
        return false;
    if (key->interp == KF_TCB) {
        const kf_tcb *tcb = curve->tcb ? &curve->tcb[i] : NULL;
        if (!tcb || float_bits(tcb->tension) != data[0] || float_bits(tcb->continuity) != data[1] ||
            float_bits(tcb->bias) != data[2])
            return false;
    } else {
        kf_handle out, next_in;
        record_handles(key->attr, data, duration_after(curve->keys, curve->count, i), &out, &next_in);
        if (!same_handle(out, kfi_handles_of(curve, i).out) ||
            (i + 1 < curve->count && !same_handle(next_in, kfi_handles_of(curve, i + 1).in)))
            return false;
    }
    *flags = key->attr;
    memcpy(to, data, 4 * sizeof *to);
    return true;
}

bool kfi_fbx_keys_alloc(kf_job *job, size_t room, kfi_fbx_keys *keys)
{
    *keys = (kfi_fbx_keys){
        .seconds = kfi_alloc(job, room, sizeof *keys->seconds),
        .times = kfi_alloc(job, room, sizeof *keys->times),
        .values = kfi_alloc_raw(job, room, sizeof *keys->values),
        .flags = kfi_alloc_raw(job, room, sizeof *keys->flags),
        .data = kfi_alloc_raw(job, room, 4 * sizeof *keys->data),
        .ref_count = kfi_alloc_raw(job, room, sizeof *keys->ref_count),
    };
    return keys->seconds && keys->times && keys->values && keys->flags && keys->data && keys->ref_count;
}

bool kfi_fbx_pack(kf_job *job, const kf_curve *curve, kfi_fbx_keys *keys)
{
    if (!kfi_fbx_keys_alloc(job, curve->count, keys))
        return false;
    kfi_fbx_pack_into(curve, keys);
    return true;
}

static inline void pack_time(double seconds, kfi_fbx_keys *keys, size_t i)
{
    if (keys->seconds[i] == seconds)
        return;
    keys->seconds[i] = seconds;
    keys->times[i] = round_ticks(seconds);
}

static inline bool is_line(const kf_key *key)
{
    return key->interp == KF_LINEAR && key->attr == 0;
}

/* Times and values of lines with plain values, from key i on; returns where they end. */
static size_t pack_lines(const kf_curve *curve, size_t i, kfi_fbx_keys *keys)
{
    for (; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        kfi_look_ahead(key);
        if (!is_line(key) || !(key->value > -FLT_MAX && key->value < FLT_MAX))
            break;
        pack_time(key->time, keys, i);
        keys->values[i] = (float)key->value;
    }
    return i;
}

void kfi_fbx_pack_into(const kf_curve *curve, kfi_fbx_keys *keys)
{
    size_t count = curve->count;
    bool reuse = curve->fbx_data && curve->fbx_data_count == count;
    float value = 0, in_slope = 0;
    uint32_t last_flags = 0;
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        const kf_key *key = &curve->keys[i];
        kfi_look_ahead(key);
        if (!isnan(key->value)) /* a value that is none holds the one before */
            value = to_float(key->value);
        pack_time(key->time, keys, i);
        keys->values[i] = value;
        if (i > 0 && is_line(key) && is_line(key - 1)) { /* all lines have the same record */
            size_t end = pack_lines(curve, i + 1, keys);
            keys->ref_count[runs - 1] += (int32_t)(end - i);
            i = end - 1;
            value = keys->values[i];
            continue;
        }

        /* Made in its place, which is given up again if it only repeats the one before. */
        uint32_t flags, *data = &keys->data[4 * runs];
        if (!reuse || !reuse_record(curve, i, &flags, data))
            flags = make_record(curve, i, in_slope, data);
        in_slope = bits_float(data[1]);
        if (runs > 0 && flags == last_flags && same_words(data, data - 4)) {
            keys->ref_count[runs - 1]++;
            continue;
        }
        last_flags = flags;
        memcpy(&keys->flags[runs], &flags, sizeof flags);
        keys->ref_count[runs++] = 1;
    }
    keys->count = count;
    keys->runs = runs;
}

/* ---------------------------------------------------------------- unpacking */

/* Whether make_record would find these words again from the handles that record_handles makes of them: yes if
 * every number is within its usual bounds, since a double holds a float times a weight times a duration
 * closely enough. */
static bool recoverable(uint32_t flags, const uint32_t data[4], double duration, bool last)
{
    unsigned right = data[2] & 0xffff, left = data[2] >> 16;
    if (flags == 0 || data[3] != 0)
        return false;
    kf_interp interp = interp_of(flags);
    if (interp == KF_TCB)
        return true;
    if (!(duration > 0 && duration < 1e9))
        return false;
    if (last && (data[1] != 0 || left != (flags & KFI_FBX_CUBIC ? (unsigned)WEIGHT_THIRD : right)))
        return false;
    if (interp == KF_HERMITE)
        return data[2] == THIRDS;
    if (flags & KFI_FBX_CUBIC) { /* a side that is flagged, or must be a third */
        bool right_fits = flags & KFI_FBX_WEIGHT_RIGHT || right == WEIGHT_THIRD;
        bool left_fits = flags & KFI_FBX_WEIGHT_NEXT_LEFT || left == WEIGHT_THIRD;
        if (!right_fits || !left_fits)
            return false;
    }
    return right >= WEIGHT_MIN && right <= WEIGHT_MAX && left >= WEIGHT_MIN && left <= WEIGHT_MAX;
}

/* Slopes and TCB numbers that are no finite numbers become 0. */
static void load_record(const kfi_fbx_keys *from, size_t run, record *to)
{
    memcpy(&to->flags, &from->flags[run], sizeof to->flags);
    memcpy(to->data, &from->data[4 * run], sizeof to->data);
    size_t floats = interp_of(to->flags) == KF_TCB ? 3 : 2;
    for (size_t i = 0; i < floats; i++)
        if (!finite_bits(to->data[i]))
            to->data[i] = 0;
}

static bool keep_data(kf_job *job, const kfi_fbx_keys *from, kf_curve *curve)
{
    uint32_t *data = kfi_alloc_raw(job, curve->count, 4 * sizeof *data);
    if (!data)
        return false;
    size_t i = 0;
    for (size_t run = 0; i < curve->count; run++) {
        record read;
        load_record(from, run, &read);
        for (int32_t n = 0; n < from->ref_count[run] && i < curve->count; n++, i++)
            memcpy(&data[4 * i], read.data, sizeof read.data);
    }
    curve->fbx_data = data;
    curve->fbx_data_count = curve->count;
    return true;
}

static void read_times(const kfi_fbx_keys *from, double ticks_per_second, kf_key *keys)
{
    float value = 0;
    for (size_t i = 0; i < from->count; i++) {
        uint8_t flags = 0;
        if (isfinite(from->values[i]))
            value = from->values[i];
        else
            flags = kfi_nonfinite_flags((double)from->values[i]);
        keys[i] = (kf_key){.time = (double)from->times[i] / ticks_per_second, .value = (double)value, .flags = flags};
    }
}

bool kfi_fbx_unpack(kf_job *job, const kfi_fbx_keys *from, double ticks_per_second, kf_curve *curve)
{
    size_t covered = 0;
    bool tcb = false;
    for (size_t run = 0; run < from->runs && covered < from->count; run++) {
        if (from->ref_count[run] <= 0)
            return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET,
                            "KeyAttrRefCount: item %zu is %ld, not 1 or more", run,
                            (long)from->ref_count[run]);
        covered += (size_t)from->ref_count[run];
        uint32_t flags;
        memcpy(&flags, &from->flags[run], sizeof flags);
        tcb |= interp_of(flags) == KF_TCB;
    }
    if (covered < from->count)
        return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "KeyAttrRefCount: covers %zu of %zu keys", covered,
                        from->count);

    if (!kfi_make_keys(job, curve, from->count, KFI_UNSET | KFI_HANDLES | (tcb ? (unsigned)KFI_NUMBERS : 0)))
        return false;
    if (from->count > 0)
        curve->handles[0].in = (kf_handle){0, 0};
    read_times(from, ticks_per_second, curve->keys);
    curve->tcb_rule = KF_TCB_FBX;
    curve->fbx_data = NULL;
    curve->fbx_data_count = 0;

    bool exact = true;
    size_t i = 0;
    for (size_t run = 0; i < from->count; run++) {
        record read;
        load_record(from, run, &read);
        kf_interp interp = interp_of(read.flags);
        for (int32_t n = 0; n < from->ref_count[run] && i < from->count; n++, i++) {
            kf_key *key = &curve->keys[i];
            bool last = i + 1 == from->count;
            double duration = duration_after(curve->keys, from->count, i);
            kf_handle next_in;
            record_handles(read.flags, read.data, duration, &curve->handles[i].out, &next_in);
            if (!last)
                curve->handles[i + 1].in = next_in;
            key->interp = (uint8_t)interp;
            key->flags |= read.flags & KFI_FBX_BREAK ? KF_KEY_BROKEN : 0;
            key->attr = read.flags;
            if (tcb)
                curve->tcb[i] = interp != KF_TCB ? (kf_tcb){0}
                                                 : (kf_tcb){.tension = bits_float(read.data[0]),
                                                            .continuity = bits_float(read.data[1]),
                                                            .bias = bits_float(read.data[2])};
            exact = exact && recoverable(read.flags, read.data, duration, last);
        }
    }
    return exact || keep_data(job, from, curve);
}
