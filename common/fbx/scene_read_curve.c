/* An AnimationCurve.
 *
 *   7.x  arrays KeyTime, KeyValueFloat, KeyAttrFlags, KeyAttrDataFloat, KeyAttrRefCount (see fbx/keys.h). In the
 *        document tree values are doubles, and the attributes' data floats, or from ASCII 7200 on the floats' bits
 *        as integers.
 *   6.x  keys of varying length, of which ufbx gives only the shape they have
 *
 *   Pre-Extrapolation, Post-Extrapolation: Type (a letter), Repetition */
#include "fbx/scene_read.h"

#include "fbx/keys.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- arrays of the document tree */

static const ufbx_dom_value *array_of(const ufbx_dom_node *curve, const char *name)
{
    const ufbx_dom_node *node = ufbx_dom_find(curve, name);
    return node && node->values.count == 1 ? &node->values.data[0] : NULL;
}

static bool find_arrays(const ufbx_dom_node *curve, const ufbx_dom_value *found[KFI_FBX_ARRAYS])
{
    found[KFI_FBX_TIMES] = array_of(curve, "KeyTime");
    found[KFI_FBX_VALUES] = array_of(curve, "KeyValueFloat");
    found[KFI_FBX_FLAGS] = array_of(curve, "KeyAttrFlags");
    found[KFI_FBX_DATA] = array_of(curve, "KeyAttrDataFloat");
    found[KFI_FBX_REF_COUNT] = array_of(curve, "KeyAttrRefCount");
    for (size_t i = 0; i < KFI_FBX_ARRAYS; i++)
        if (!found[i]) return false;
    ufbx_dom_value_type values = found[KFI_FBX_VALUES]->type, data = found[KFI_FBX_DATA]->type;
    return found[KFI_FBX_TIMES]->type == UFBX_DOM_VALUE_ARRAY_I64 &&
           (values == UFBX_DOM_VALUE_ARRAY_F64 || values == UFBX_DOM_VALUE_ARRAY_F32) &&
           found[KFI_FBX_FLAGS]->type == UFBX_DOM_VALUE_ARRAY_I32 &&
           (data == UFBX_DOM_VALUE_ARRAY_F32 || data == UFBX_DOM_VALUE_ARRAY_I32) &&
           found[KFI_FBX_REF_COUNT]->type == UFBX_DOM_VALUE_ARRAY_I32;
}

/* Values and data are brought into the form of kfi_fbx_keys, the rest stays where it is. */
static bool copy_arrays(kfi_fbx_reader *in, const ufbx_dom_value *from[KFI_FBX_ARRAYS], const size_t counts[],
                        kfi_fbx_keys *keys)
{
    kfi_fbx_unpacked *values = &in->unpacked[KFI_FBX_VALUES], *data = &in->unpacked[KFI_FBX_DATA];
    if (!kfi_fbx_reserve(in, values, (uint64_t)counts[KFI_FBX_VALUES] * sizeof(float)) ||
        !kfi_fbx_reserve(in, data, (uint64_t)counts[KFI_FBX_DATA] * sizeof(uint32_t)))
        return false;
    keys->times = (int64_t *)from[KFI_FBX_TIMES]->value_blob.data;
    keys->flags = (int32_t *)from[KFI_FBX_FLAGS]->value_blob.data;
    keys->ref_count = (int32_t *)from[KFI_FBX_REF_COUNT]->value_blob.data;
    keys->values = values->data;
    keys->data = data->data;
    if (counts[KFI_FBX_DATA] > 0)
        memcpy(keys->data, from[KFI_FBX_DATA]->value_blob.data, counts[KFI_FBX_DATA] * sizeof(uint32_t));
    if (from[KFI_FBX_VALUES]->type == UFBX_DOM_VALUE_ARRAY_F64) {
        const double *doubles = from[KFI_FBX_VALUES]->value_blob.data;
        for (size_t i = 0; i < counts[KFI_FBX_VALUES]; i++) keys->values[i] = (float)doubles[i];
    } else if (counts[KFI_FBX_VALUES] > 0) {
        memcpy(keys->values, from[KFI_FBX_VALUES]->value_blob.data, counts[KFI_FBX_VALUES] * sizeof(float));
    }
    return true;
}

/* ---------------------------------------------------------------- raw keys */

static bool check_lengths(kf_job *job, const size_t counts[KFI_FBX_ARRAYS], uint64_t offset,
                          const kfi_fbx_place *place)
{
    size_t keys = counts[KFI_FBX_TIMES], runs = counts[KFI_FBX_FLAGS];
    if (counts[KFI_FBX_VALUES] != keys)
        return kfi_fail(job, KF_BAD_INPUT, offset,
                        KFI_FBX_AT ": KeyTime has %zu items, but KeyValueFloat %zu", KFI_FBX_PLACE(place),
                        keys, counts[KFI_FBX_VALUES]);
    if (counts[KFI_FBX_REF_COUNT] != runs || counts[KFI_FBX_DATA] / 4 != runs ||
        counts[KFI_FBX_DATA] % 4 != 0)
        return kfi_fail(job, KF_BAD_INPUT, offset,
                        KFI_FBX_AT ": KeyAttrFlags has %zu items, KeyAttrRefCount %zu, KeyAttrDataFloat %zu "
                                   "(expected 4 for each)",
                        KFI_FBX_PLACE(place), runs, counts[KFI_FBX_REF_COUNT], counts[KFI_FBX_DATA]);
    return true;
}

static bool check_sum(kf_job *job, const kfi_fbx_keys *keys, uint64_t offset, const kfi_fbx_place *place)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < keys->runs; i++) {
        if (keys->ref_count[i] <= 0)
            return kfi_fail(job, KF_BAD_INPUT, offset, KFI_FBX_AT ": item %zu of KeyAttrRefCount is %ld",
                            KFI_FBX_PLACE(place), i, (long)keys->ref_count[i]);
        sum += (uint64_t)keys->ref_count[i];
    }
    return sum == keys->count ||
           kfi_fail(job, KF_BAD_INPUT, offset,
                    KFI_FBX_AT ": KeyAttrRefCount adds up to %llu, but there are %zu keys",
                    KFI_FBX_PLACE(place), (unsigned long long)sum, keys->count);
}

/* Numbers that are none are put right by kfi_fbx_unpack; here it is told. */
static bool say_nonfinite(kfi_fbx_reader *in, const kfi_fbx_keys *keys, const kfi_fbx_place *place)
{
    size_t bad = 0;
    for (size_t i = 0; i < keys->count; i++) bad += isfinite(keys->values[i]) ? 0 : 1;
    if (bad > 0 && !kfi_warn(in->job, "nonfinite",
                             KFI_FBX_AT ": %zu values are not finite numbers; the value before is held",
                             KFI_FBX_PLACE(place), bad))
        return false;
    bad = 0;
    for (size_t i = 0; i < keys->runs; i++) {
        size_t floats = (keys->flags[i] & KFI_FBX_CUBIC) && (keys->flags[i] & KFI_FBX_TCB) ? 3 : 2;
        for (size_t f = 0; f < floats; f++)
            bad += (keys->data[4 * i + f] & 0x7f800000u) == 0x7f800000u ? 1 : 0;
    }
    return bad == 0 ||
           kfi_warn(in->job, "nonfinite", KFI_FBX_AT ": %zu tangents are not finite numbers; taken as 0",
                    KFI_FBX_PLACE(place), bad);
}

/* From the bytes of the file, or else from the document tree; both NULL is not possible. */
static bool read_arrays(kfi_fbx_reader *in, const kfi_fbx_raw *raw,
                        const ufbx_dom_value *from[KFI_FBX_ARRAYS], const kfi_fbx_place *place,
                        kf_curve *curve)
{
    size_t counts[KFI_FBX_ARRAYS];
    for (size_t i = 0; i < KFI_FBX_ARRAYS; i++)
        /* cppcheck-suppress nullPointer */
        counts[i] = raw ? raw->arrays[i].count : (size_t)from[i]->value_int;
    uint64_t offset = raw ? (uint64_t)(raw->arrays[KFI_FBX_TIMES].data - in->bytes) : KF_NO_OFFSET;
    if (!check_lengths(in->job, counts, offset, place)) return false;

    kfi_fbx_keys keys = {.count = counts[KFI_FBX_TIMES], .runs = counts[KFI_FBX_FLAGS]};
    if (raw) {
        if (!kfi_fbx_unpack_raw(in, raw, place)) return false;
        keys.times = in->unpacked[KFI_FBX_TIMES].data;
        keys.values = in->unpacked[KFI_FBX_VALUES].data;
        keys.flags = in->unpacked[KFI_FBX_FLAGS].data;
        keys.data = in->unpacked[KFI_FBX_DATA].data;
        keys.ref_count = in->unpacked[KFI_FBX_REF_COUNT].data;
    } else if (!copy_arrays(in, from, counts, &keys)) {
        return false;
    }
    return check_sum(in->job, &keys, offset, place) && say_nonfinite(in, &keys, place) &&
           kfi_fbx_unpack(in->job, &keys, (double)in->scene->metadata.ktime_second, curve);
}

/* ---------------------------------------------------------------- resolved keys */

static kf_handle handle(double dt, double dv)
{
    return isfinite(dt) && isfinite(dv) ? (kf_handle){dt, dv} : (kf_handle){0, 0};
}

static bool is_third(double length, double duration)
{
    return fabs(length - duration / 3.0) <= 1e-4 * duration;
}

/* A cubic segment is HERMITE if both its handles are a third of it. */
static bool read_resolved(kfi_fbx_reader *in, const ufbx_anim_curve *from, const kfi_fbx_place *place,
                          kf_curve *curve)
{
    size_t count = from->keyframes.count, bad = 0;
    if (!kfi_make_keys(in->job, curve, count, KFI_HANDLES)) return false;
    double value = 0;
    for (size_t i = 0; i < count; i++) {
        const ufbx_keyframe *key = &from->keyframes.data[i];
        kf_key *to = &curve->keys[i];
        to->time = key->time;
        if (isfinite(key->value)) {
            value = key->value;
        } else {
            bad++;
            to->flags = kfi_nonfinite_flags(key->value);
        }
        to->value = value;
        curve->handles[i].in = handle(-(double)key->left.dx, -(double)key->left.dy);
        curve->handles[i].out = handle((double)key->right.dx, (double)key->right.dy);
        switch (key->interpolation) {
        case UFBX_INTERPOLATION_CONSTANT_PREV:
            to->interp = KF_STEP;
            break;
        case UFBX_INTERPOLATION_CONSTANT_NEXT:
            to->interp = KF_STEP_NEXT;
            break;
        case UFBX_INTERPOLATION_LINEAR:
            to->interp = KF_LINEAR;
            break;
        default:
            to->interp = KF_BEZIER;
            break;
        }
        if (to->interp == KF_BEZIER && i + 1 < count) {
            double duration = key[1].time - key->time;
            if (is_third((double)key->right.dx, duration) && is_third((double)key[1].left.dx, duration))
                to->interp = KF_HERMITE;
        } else if (to->interp == KF_BEZIER) {
            to->interp = KF_HERMITE;
        }
    }
    return bad == 0 || kfi_warn(in->job, "nonfinite",
                                KFI_FBX_AT ": %zu values are not finite numbers; the value before is held",
                                KFI_FBX_PLACE(place), bad);
}

/* ---------------------------------------------------------------- all of it */

static void read_extrapolation(const ufbx_extrapolation *from, uint8_t *mode, uint32_t *count)
{
    *count = from->repeat_count > 0 ? (uint32_t)from->repeat_count : 0;
    switch (from->mode) {
    case UFBX_EXTRAPOLATION_REPEAT:
        *mode = KF_REPEAT;
        break;
    case UFBX_EXTRAPOLATION_MIRROR:
        *mode = KF_MIRROR;
        break;
    case UFBX_EXTRAPOLATION_REPEAT_RELATIVE:
        *mode = KF_REPEAT_RELATIVE;
        break;
    case UFBX_EXTRAPOLATION_SLOPE:
        *mode = KF_SLOPE;
        break;
    default:
        *mode = KF_CONSTANT;
        break;
    }
    if (*mode == KF_CONSTANT || *mode == KF_SLOPE || from->repeat_count == 0) *count = 0;
    if (from->repeat_count == 0 && *mode != KF_SLOPE) *mode = KF_CONSTANT; /* repeated not once */
}

bool kfi_fbx_read_curve(kfi_fbx_reader *in, const ufbx_anim_curve *from, const kfi_fbx_place *place,
                        kf_curve *curve)
{
    read_extrapolation(&from->pre_extrapolation, &curve->pre, &curve->pre_count);
    read_extrapolation(&from->post_extrapolation, &curve->post, &curve->post_count);
    const ufbx_dom_node *node = from->element.dom_node;
    const ufbx_dom_value *found[KFI_FBX_ARRAYS];
    if (in->raw) {
        bool has_id = node && node->values.count > 0 && node->values.data[0].type == UFBX_DOM_VALUE_NUMBER;
        const kfi_fbx_raw *raw =
            has_id ? kfi_fbx_find_raw(in, (uint64_t)node->values.data[0].value_int) : NULL;
        if (raw) return read_arrays(in, raw, NULL, place, curve);
        return kfi_fail(in->job, KF_BAD_INPUT, KF_NO_OFFSET, KFI_FBX_AT ": the curve has no keys in the file",
                        KFI_FBX_PLACE(place));
    }
    if (node && find_arrays(node, found)) return read_arrays(in, NULL, found, place, curve);
    return read_resolved(in, from, place, curve);
}
