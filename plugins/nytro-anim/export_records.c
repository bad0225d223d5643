/* Keys into records. A key that was in the original starts as its record, and only the fields that changed
 * are written over. */
#include "nytro.h"

#include <float.h>
#include <math.h>

static bool store(const nytro_node *node, uint8_t *at, double value, double time)
{
    if (fabs(value) > (double)FLT_MAX) {
        value = value < 0 ? -(double)FLT_MAX : (double)FLT_MAX;
        if (!kfi_warn(
                node->job, "out-of-range",
                "node \"%.60s\", take \"%.60s\", %.4f s: a value is larger than a 32-bit float and was cut",
                node->name, node->take->name, time))
            return false;
    }
    kfi_store_f32(at, (float)value);
    return true;
}

/* Angle and axis of a quaternion. Beside the original's axis its side and its number of turns are kept;
 * `axis_same` says that the axis is that very one. */
static void angle_axis(const nytro_key *key, const uint8_t *old, double *degrees, double axis[3],
                       bool *axis_same)
{
    kfi_quat_to_axis(key->value, degrees, axis);
    *axis_same = false;
    double was[3] = {0, 0, 0}, length = 0.0, along = 0.0;
    double angle = old ? kfi_load_f32(old) : NAN;
    for (size_t c = 0; old && c < 3; c++) {
        was[c] = kfi_load_f32(old + 4 + 4 * c);
        length += was[c] * was[c];
    }
    if (!isfinite(angle) || !isfinite(length) || length == 0.0) {
        *degrees += 360.0 * key->turns;
        return;
    }
    length = sqrt(length);
    for (size_t c = 0; c < 3; c++) {
        was[c] /= length;
        along += axis[c] * was[c];
    }
    if (*degrees < 1e-6) { /* no rotation is one about any axis */
        *degrees = 0.0;
        memcpy(axis, was, sizeof was);
        along = 1.0;
    }
    if (along < 0) {
        *degrees = -*degrees;
        for (size_t c = 0; c < 3; c++)
            axis[c] = -axis[c];
        along = -along;
    }
    if (along > 0.9)
        *degrees += 360.0 * floor((angle - *degrees) / 360.0 + 0.5);
    *axis_same = along > 1.0 - 1e-12;
}

static bool encode_rotation(const nytro_node *node, const nytro_key *key, const uint8_t *old, uint8_t *at)
{
    if (old && !(key->changed[0] & KF_CHANGED_VALUE)) {
        memcpy(at, old, 16);
        return true;
    }
    double degrees, axis[3];
    bool axis_same;
    angle_axis(key, old, &degrees, axis, &axis_same);
    if (!store(node, at, degrees, key->time))
        return false;
    for (size_t c = 0; c < 3; c++)
        kfi_store_f32(at + 4 + 4 * c, (float)axis[c]);
    if (axis_same)
        /* NOLINTNEXTLINE: the same as the old one */
        memcpy(at + 4, old + 4, 12);
    return true;
}

static bool encode_values(const nytro_node *node, const nytro_key *key, const uint8_t *old, uint8_t *at)
{
    for (size_t c = 0; c < 3; c++) {
        if (old && !(key->changed[c] & KF_CHANGED_VALUE))
            memcpy(at + 4 * c, old + 4 * c, 4);
        else if (!store(node, at + 4 * c, key->value[c], key->time))
            return false;
    }
    return true;
}

/* T, C and B lie within -1..1, ease within 0..1. */
static bool cut_number(const nytro_node *node, unsigned which, double time, float *number)
{
    static const char *const names[5] = {"a tension", "a continuity", "a bias", "an ease in", "an ease out"};
    float least = which < 3 ? -1.0f : 0.0f, within = fmaxf(least, fminf(1.0f, *number)), was = *number;
    *number = within;
    return within == was || kfi_warn(node->job, "out-of-range",
                                     "node \"%.60s\", take \"%.60s\", %.4f s: %s of %g lies beyond %g..1 and "
                                     "was cut",
                                     node->name, node->take->name, time, names[which], (double)was, (double)least);
}

/* A number that is still what the importer made of the original's keeps its bytes. */
static bool encode_numbers(const nytro_node *node, double time, kf_tcb tcb, const uint8_t *old_record,
                           uint8_t *record)
{
    float numbers[5] = {tcb.tension, tcb.continuity, tcb.bias, tcb.ease_in, tcb.ease_out};
    kf_tcb was = old_record ? kfi_nytro_tcb(old_record) : (kf_tcb){0};
    const float before[5] = {was.tension, was.continuity, was.bias, was.ease_in, was.ease_out};
    for (unsigned i = 0; i < 5; i++) {
        size_t at = KFI_NYTRO_TCB_AT + 4 * i;
        if (old_record && numbers[i] == before[i]) {
            memcpy(record + at, old_record + at, 4);
            continue;
        }
        if (!cut_number(node, i, time, &numbers[i]))
            return false;
        kfi_store_f32(record + at, numbers[i]);
    }
    return true;
}

bool kfi_nytro_encode_channel(const nytro_node *node, const nytro_channel *channel, kfi_nytro_node *to)
{
    unsigned number = channel->channel;
    bool same_layout = node->was && ((node->was->flags ^ node->flags) & KFI_NYTRO_TCB) == 0;
    if (channel->raw && same_layout && channel->added == 0) {
        to->count[number] = node->was->count[number];
        to->records[number] = node->was->records[number];
        return true;
    }
    if (channel->count > UINT32_MAX)
        return kfi_fail(node->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "node \"%.60s\": more keys than a file can count", node->name);
    size_t size = kfi_nytro_record_size(node->flags, (kfi_nytro_channel)number);
    size_t values_at = kfi_nytro_values_at(node->flags);
    uint8_t *records = kfi_alloc(node->job, channel->count, size);
    if (!records)
        return false;
    to->count[number] = (uint32_t)channel->count;
    to->records[number] = records;
    for (size_t i = 0; i < channel->count; i++) {
        const nytro_key *key = &channel->keys[i];
        uint8_t *record = records + i * size;
        const uint8_t *old = NULL, *old_values = NULL;
        bool moved = true;
        if (node->was && key->origin >= 0 && key->origin < (int64_t)node->was->count[number]) {
            old = node->was->records[number] +
                  (size_t)key->origin * kfi_nytro_record_size(node->was->flags, (kfi_nytro_channel)number);
            old_values = old + kfi_nytro_values_at(node->was->flags);
            memcpy(record, old, KFI_NYTRO_TCB_AT); /* flags and time */
            moved = (key->changed[0] | key->changed[1] | key->changed[2]) & KF_CHANGED_TIME;
        }
        if (moved && !store(node, record + KFI_NYTRO_TIME_AT, key->time, key->time))
            return false;
        if ((node->flags & KFI_NYTRO_TCB) &&
            !encode_numbers(node, key->time, kfi_nytro_numbers(channel, i),
                            old && (node->was->flags & KFI_NYTRO_TCB) ? old : NULL, record))
            return false;
        if (!(number == KFI_NYTRO_ROTATION ? encode_rotation(node, key, old_values, record + values_at)
                                           : encode_values(node, key, old_values, record + values_at)))
            return false;
    }
    return true;
}
