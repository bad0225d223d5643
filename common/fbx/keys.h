/* The five arrays of an FBX AnimationCurve, and neutral keys made of them and into them.
 *
 * This is the one place that knows the key attributes. What does not survive FBX (double values, times finer
 * than a tick, handle lengths outside 0.0001..0.99, ease) is lost in kfi_fbx_pack and nowhere else, so that
 * unpack(pack(curve)) is exactly what will be read back from the file.
 *
 *   KeyTime           int64, 46186158000 a second
 *   KeyValueFloat     float32
 *   KeyAttrFlags      one word for each run of keys with equal attributes
 *   KeyAttrDataFloat  four floats each: right slope, next left slope, two packed weights, two packed velocities;
 *                     or tension, continuity, bias, 0
 *   KeyAttrRefCount   how many keys each run has
 *
 * A key's record holds its own right tangent and the *left* tangent of the key after it. */
#ifndef KFI_FBX_KEYS_H
#define KFI_FBX_KEYS_H

#include "curve.h"

#define KFI_FBX_TICKS 46186158000LL /* a second */

enum {
    KFI_FBX_CONSTANT = 0x2,
    KFI_FBX_LINEAR = 0x4,
    KFI_FBX_CUBIC = 0x8,
    KFI_FBX_AUTO = 0x100, /* on a constant key: hold the next value */
    KFI_FBX_TCB = 0x200,
    KFI_FBX_USER = 0x400,
    KFI_FBX_BREAK = 0x800,
    KFI_FBX_CLAMP = 0x1000,
    KFI_FBX_TIME_INDEPENDENT = 0x2000,
    KFI_FBX_CLAMP_PROGRESSIVE = 0x4000,
    KFI_FBX_WEIGHT_RIGHT = 0x1000000,
    KFI_FBX_WEIGHT_NEXT_LEFT = 0x2000000,
    KFI_FBX_VELOCITY_RIGHT = 0x10000000,
    KFI_FBX_VELOCITY_NEXT_LEFT = 0x20000000
};

typedef struct kfi_fbx_keys {
    size_t count; /* keys */
    double *seconds; /* for packing: those that `times` are the ticks of; curves that follow each other mostly share them */
    int64_t *times;
    float *values;
    size_t runs;
    int32_t *flags;     /* runs */
    uint32_t *data;     /* 4 * runs, the floats' bits */
    int32_t *ref_count; /* runs */
} kfi_fbx_keys;

int64_t kfi_fbx_ticks(double seconds); /* rounded to the nearest */
double kfi_fbx_seconds(int64_t ticks);

/* Neutral keys into FBX arrays. Keys whose `attr` is set keep it as far as it fits their interpolation;
 * others get the flags that say their shape: unified user tangents where both sides are in line, broken ones
 * otherwise, weights only where a handle is not a third. A TCB key followed by one that needs its own
 * in-tangent cannot be a TCB key: the caller (lower) has turned such keys into slopes. */
bool kfi_fbx_pack(kf_job *job, const kf_curve *curve, kfi_fbx_keys *keys);
/* The same into arrays that have room for `room` keys and as many runs. */
bool kfi_fbx_keys_alloc(kf_job *job, size_t room, kfi_fbx_keys *keys);
void kfi_fbx_pack_into(const kf_curve *curve, kfi_fbx_keys *keys);

/* FBX arrays into neutral keys with `attr` set, so that packing them again gives the same arrays, bit for bit
 * but for the cutting into runs. Refuses (KF_BAD_INPUT) arrays whose lengths do not fit together. Every key
 * gets the handles of its record, also where they do not count: on AUTO keys the slope is FBX's auto bias. A
 * value that is no finite number becomes the one before it (KF_KEY_NONFINITE), such a slope 0.
 * `ticks_per_second` is KFI_FBX_TICKS for all but the newest files. */
bool kfi_fbx_unpack(kf_job *job, const kfi_fbx_keys *keys, double ticks_per_second, kf_curve *curve);

#endif
