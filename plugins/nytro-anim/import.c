/* Nytro node animations into the neutral animation: a node for each node, a key for each key. */
#include "nytro.h"

#include <math.h>

typedef struct importer {
    kf_job *job;
    const kf_file *file;
    kf_anim *anim;
    const kfi_nytro_node *node;
    uint32_t index; /* of the node */
} importer;

static bool warn_at(const importer *im, const uint8_t *at, const char *id, double time, const char *what)
{
    return kfi_say(im->job, KF_WARNING, id, im->file->name, (uint64_t)(at - (const uint8_t *)im->file->data),
                   "node \"%.60s\", take \"%.60s\", %.4f s: %s", im->node->name, im->anim->takes[0].name,
                   time, what);
}

uint32_t kfi_nytro_kind(uint32_t node_flags)
{
    return node_flags & KFI_NYTRO_TCB      ? KFI_NYTRO_TCB
           : node_flags & KFI_NYTRO_BEZIER ? KFI_NYTRO_BEZIER
                                           : KFI_NYTRO_LINEAR;
}

static float finite_f32(const uint8_t *at)
{
    float value = kfi_load_f32(at);
    return isfinite(value) ? value : 0.0f;
}

kf_tcb kfi_nytro_tcb(const uint8_t *record)
{
    const uint8_t *at = record + KFI_NYTRO_TCB_AT;
    return (kf_tcb){finite_f32(at), finite_f32(at + 4), finite_f32(at + 8), finite_f32(at + 12),
                    finite_f32(at + 16)};
}

void kfi_nytro_derive_handles(kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        const kf_key *before = i > 0 ? key - 1 : key;
        const kf_key *after = i + 1 < curve->count ? key + 1 : key;
        double span = after->time - before->time;
        double slope = span > 0 ? (after->value - before->value) / span : 0.0;
        curve->handles[i] = (kf_handles){{0, 0}, {0, 0}};
        if (i > 0)
            curve->handles[i].in = kfi_slope_handle(slope, before->time - key->time);
        if (i + 1 < curve->count)
            curve->handles[i].out = kfi_slope_handle(slope, after->time - key->time);
    }
}

void kfi_nytro_quat(double degrees, const double axis[3], double q[4], int32_t *turns)
{
    double whole = ceil(degrees / 360.0 - 0.5);
    double rest = degrees - 360.0 * whole; /* more than -180, up to 180 */
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double unit[3] = {1.0, 0.0, 0.0};
    for (size_t c = 0; length > 0 && c < 3; c++)
        unit[c] = axis[c] / length;
    kfi_quat_from_axis(length > 0 ? rest : 0.0, unit, q);
    /* Told of the axis that the quaternion itself shows, about which it turns by 0..180 degrees. */
    whole = rest < 0 ? -whole : whole;
    *turns = length > 0 && fabs(whole) < (double)INT32_MAX ? (int32_t)whole : 0;
}

/* A key's time, kept ascending. `last` is the time before it and becomes this one's. */
static bool read_time(const importer *im, const uint8_t *record, size_t i, double *last, uint8_t *flags)
{
    const uint8_t *at = record + KFI_NYTRO_TIME_AT;
    double time = kfi_load_f32(at);
    if (isfinite(time) && (i == 0 || time >= *last)) {
        *last = time;
        return true;
    }
    if (isfinite(time))
        return warn_at(im, at, "time-backwards", *last, "a key's time lies before the key before it");
    *flags |= KF_KEY_NONFINITE;
    return warn_at(im, at, "nonfinite", *last, "a key's time is not a finite number");
}

static bool read_tcb(const importer *im, const uint8_t *record, double time, kf_tcb *tcb, uint8_t *flags)
{
    *tcb = kfi_nytro_tcb(record);
    for (size_t i = 0; i < 5; i++) {
        const uint8_t *at = record + KFI_NYTRO_TCB_AT + 4 * i;
        if (isfinite(kfi_load_f32(at)))
            continue;
        *flags |= KF_KEY_NONFINITE_SHAPE;
        if (!warn_at(im, at, "nonfinite", time, "a TCB number is not finite, taken as 0"))
            return false;
    }
    return true;
}

/* Translation or scale: three curves with common times. */
static bool import_values(const importer *im, unsigned channel, kf_track *track)
{
    uint32_t kind = kfi_nytro_kind(im->node->flags);
    size_t size = kfi_nytro_record_size(im->node->flags, (kfi_nytro_channel)channel);
    size_t values_at = kfi_nytro_values_at(im->node->flags), count = im->node->count[channel];
    uint8_t interp = kind == KFI_NYTRO_TCB ? KF_TCB : kind == KFI_NYTRO_BEZIER ? KF_HERMITE : KF_LINEAR;
    unsigned parts = kind == KFI_NYTRO_TCB ? KFI_NUMBERS : kind == KFI_NYTRO_BEZIER ? KFI_HANDLES : 0;
    for (unsigned c = 0; c < 3; c++)
        if (!kfi_make_keys(im->job, &track->curve[c], count, parts))
            return false;
    double time = 0.0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *record = im->node->records[channel] + i * size;
        uint8_t flags = 0;
        kf_tcb tcb = {0};
        if (!read_time(im, record, i, &time, &flags) ||
            (kind == KFI_NYTRO_TCB && !read_tcb(im, record, time, &tcb, &flags)))
            return false;
        for (unsigned c = 0; c < 3; c++) {
            kf_curve *curve = &track->curve[c];
            const uint8_t *at = record + values_at + 4 * c;
            double value = kfi_load_f32(at);
            curve->keys[i] = (kf_key){.time = time, .value = value, .interp = interp, .flags = flags};
            if (curve->tcb)
                curve->tcb[i] = tcb;
            if (!isfinite(value)) {
                curve->keys[i].value = i > 0 ? curve->keys[i - 1].value : track->rest[c];
                curve->keys[i].flags |= kfi_nonfinite_flags(value);
                if (!warn_at(im, at, "nonfinite", time,
                             "a value is not a finite number, the last one is held"))
                    return false;
            }
        }
    }
    for (unsigned c = 0; c < 3 && kind == KFI_NYTRO_BEZIER; c++)
        kfi_nytro_derive_handles(&track->curve[c]);
    return true;
}

static bool read_rotation(const importer *im, const uint8_t *at, double time, double before[4],
                          kf_quat_key *key)
{
    double degrees = kfi_load_f32(at), axis[3];
    for (size_t c = 0; c < 3; c++)
        axis[c] = kfi_load_f32(at + 4 + 4 * c);
    if (!isfinite(degrees) || !isfinite(axis[0]) || !isfinite(axis[1]) || !isfinite(axis[2])) {
        key->flags |= KF_KEY_NONFINITE;
        memcpy(key->q, before, sizeof key->q);
        return warn_at(im, at, "nonfinite", time, "a rotation is not finite, the last one is held");
    }
    kfi_nytro_quat(degrees, axis, key->q, &key->turns);
    memcpy(before, key->q, sizeof key->q);
    return axis[0] != 0 || axis[1] != 0 || axis[2] != 0 || degrees == 0 ||
           warn_at(im, at + 4, "zero-axis", time, "a rotation has an angle but no axis, taken as none");
}

static bool import_rotations(const importer *im, kf_track *track)
{
    bool tcb = kfi_nytro_kind(im->node->flags) == KFI_NYTRO_TCB;
    size_t size = kfi_nytro_record_size(im->node->flags, KFI_NYTRO_ROTATION);
    size_t values_at = kfi_nytro_values_at(im->node->flags), count = im->node->count[KFI_NYTRO_ROTATION];
    kf_quat_curve *curve = &track->quat;
    if (!kfi_make_quat_keys(im->job, curve, count, tcb))
        return false;
    double time = 0.0, q[4] = {1.0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < count; i++) {
        const uint8_t *record = im->node->records[KFI_NYTRO_ROTATION] + i * size;
        kf_quat_key *key = &curve->keys[i];
        key->interp = tcb ? KF_TCB : KF_LINEAR;
        if (!read_time(im, record, i, &time, &key->flags) ||
            !read_rotation(im, record + values_at, time, q, key) ||
            (tcb && !read_tcb(im, record, time, &curve->tcb[i], &key->flags)))
            return false;
        key->time = time;
    }
    return true;
}

static bool import_node(importer *im)
{
    if (!kfi_add_node(im->job, im->anim, im->node->name, -1))
        return false;
    for (unsigned channel = 0; channel < 3; channel++) {
        bool rotation = channel == KFI_NYTRO_ROTATION;
        if (im->node->count[channel] == 0)
            continue;
        kf_take *take = &im->anim->takes[0];
        kf_track *track =
            kfi_add_track(im->job, take, im->index, kfi_nytro_neutral(channel), rotation ? 0 : 3);
        if (!track)
            return false;
        track->source = (int32_t)(take->track_count - 1);
        if (!(rotation ? import_rotations(im, track) : import_values(im, channel, track)))
            return false;
    }
    return true;
}

bool kfi_nytro_import(kf_import_job *in, kf_anim *anim)
{
    if (in->count != 1)
        return kfi_fail(in->job, KF_BAD_ARGUMENT, KF_NO_OFFSET,
                        "a nytro-anim file is an animation of its own: convert the %zu files one by one",
                        in->count);
    nytro_native *native = kfi_alloc(in->job, 1, sizeof *native);
    if (!native || !kfi_nytro_decode(in->job, in->files[0].data, in->files[0].size, &native->file))
        return false;
    anim->float32 = true;
    if (in->options->frame_rate > 0)
        anim->frame_rate = in->options->frame_rate;
    anim->native = native;
    const char *name = native->file.name;
    if (!kfi_add_take(in->job, anim, name) || (!name[0] && !kfi_show_as(in->job, name, KFI_UNNAMED_TAKE)))
        return false;
    importer im = {.job = in->job, .file = &in->files[0], .anim = anim};
    for (size_t i = 0; i < native->file.node_count; i++) {
        im.node = &native->file.nodes[i];
        im.index = (uint32_t)i;
        if (!import_node(&im))
            return false;
    }
    kfi_fit_take_ranges(anim);
    return true;
}
