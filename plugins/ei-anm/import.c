/* Evil Islands parts into the neutral animation: a node for each file, a key for each stored frame. */
#include "ei.h"

#include <math.h>

typedef struct importer {
    kf_job *job;
    kf_anim *anim;
    kf_take *take;
    const kf_file *file; /* the part at work */
    const char *name;    /* of its node */
    uint32_t node;
    double rate;
} importer;

static uint64_t offset_of(const importer *im, const uint8_t *at)
{
    return (uint64_t)(at - (const uint8_t *)im->file->data);
}

static bool warn_at(const importer *im, const uint8_t *at, const char *id, const char *what, size_t frame)
{
    return kfi_say(im->job, KF_WARNING, id, im->file->name, offset_of(im, at),
                   "node \"%.60s\", take \"" EI_TAKE "\", %.4f s: %s", im->name, (double)frame / im->rate,
                   what);
}

void kfi_ei_offset(const uint8_t *bytes, double offset[3])
{
    for (size_t c = 0; c < 3; c++) {
        double value = kfi_load_f32(bytes + 4 * c);
        offset[c] = isfinite(value) ? value : 0.0;
    }
}

static bool import_translations(importer *im, const kfi_ei_anm *anm)
{
    size_t count = anm->translation_count;
    kf_track *track = count ? kfi_add_track(im->job, im->take, im->node, KF_TRANSLATION, 3) : NULL;
    if (!track)
        return count == 0;
    track->source = (int32_t)(im->take->track_count - 1);
    for (size_t c = 0; c < 3; c++) {
        kf_curve *curve = &track->curve[c];
        if (!kfi_make_keys(im->job, curve, count, 0))
            return false;
        double last = 0.0;
        for (size_t i = 0; i < count; i++) {
            const uint8_t *at = anm->translations + i * KFI_EI_VEC3 + c * 4;
            double value = kfi_load_f32(at);
            curve->keys[i] = (kf_key){.time = (double)i / im->rate, .interp = KF_LINEAR};
            if (isfinite(value)) {
                last = value;
            } else {
                curve->keys[i].flags = kfi_nonfinite_flags(value);
                if (!warn_at(im, at, "nonfinite",
                             "a translation is not a finite number, the last one is held", i))
                    return false;
            }
            curve->keys[i].value = last;
        }
    }
    return true;
}

/* A stored quaternion as a unit one. What has no direction takes `q` as it stands. */
static bool read_rotation(const importer *im, const uint8_t *at, size_t frame, double q[4], uint8_t *flags)
{
    double stored[4], length = 0.0;
    for (size_t c = 0; c < 4; c++) {
        stored[c] = kfi_load_f32(at + 4 * c);
        length += stored[c] * stored[c];
    }
    if (!isfinite(length)) {
        *flags = KF_KEY_NONFINITE;
        return warn_at(im, at, "nonfinite", "a rotation is not finite, the last one is held", frame);
    }
    if (length == 0.0) {
        q[0] = 1.0;
        q[1] = q[2] = q[3] = 0.0;
        return warn_at(im, at, "zero-quaternion", "a rotation is the zero quaternion, taken as none", frame);
    }
    length = sqrt(length);
    for (size_t c = 0; c < 4; c++)
        q[c] = stored[c] / length;
    return true;
}

static bool import_rotations(importer *im, const kfi_ei_anm *anm)
{
    size_t count = anm->rotation_count;
    kf_track *track = count ? kfi_add_track(im->job, im->take, im->node, KF_ROTATION, 0) : NULL;
    if (!track || !kfi_make_quat_keys(im->job, &track->quat, count, false))
        return count == 0;
    track->source = (int32_t)(im->take->track_count - 1);
    double q[4] = {1.0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < count; i++) {
        kf_quat_key *key = &track->quat.keys[i];
        key->time = (double)i / im->rate;
        key->interp = KF_LINEAR;
        if (!read_rotation(im, anm->rotations + i * KFI_EI_QUAT, i, q, &key->flags))
            return false;
        memcpy(key->q, q, sizeof q);
    }
    return true;
}

/* Every vertex starts at 0 and each morph frame is a shape that holds its offsets. */
static bool import_shapes(importer *im, const kfi_ei_anm *anm)
{
    size_t vertices = anm->morph_vertices;
    kf_mesh *mesh = kfi_alloc(im->job, 1, sizeof *mesh);
    if (!mesh)
        return false;
    mesh->point_count = vertices;
    mesh->points = kfi_alloc(im->job, vertices, sizeof *mesh->points);
    mesh->shape_count = anm->morph_frames;
    mesh->shapes = kfi_alloc(im->job, mesh->shape_count, sizeof *mesh->shapes);
    if (!mesh->points || !mesh->shapes)
        return false;
    for (size_t f = 0; f < mesh->shape_count; f++) {
        kf_shape *shape = &mesh->shapes[f];
        shape->name = kfi_format_text(im->job, "morph_%03zu", f);
        shape->count = vertices;
        shape->offset = kfi_alloc_raw(im->job, vertices, sizeof *shape->offset);
        if (!shape->name || !shape->offset)
            return false;
        for (size_t v = 0; v < vertices; v++) {
            const uint8_t *at = anm->morphs + (f * vertices + v) * KFI_EI_VEC3;
            kfi_ei_offset(at, shape->offset[v]);
            for (size_t c = 0; c < 3; c++)
                if (!isfinite(kfi_load_f32(at + 4 * c)) &&
                    !warn_at(im, at + 4 * c, "nonfinite", "a morph offset is not a finite number, taken as 0",
                             f))
                    return false;
        }
    }
    im->anim->nodes[im->node].mesh = mesh;
    im->anim->nodes[im->node].kind = KF_NODE_MESH;
    return true;
}

/* The weights: 1 at the shape's own frame and 0 at its neighbours, linear between, so that at any time the
 * two shapes around it are blended as the game blends their frames. */
static bool import_weights(importer *im, const kfi_ei_anm *anm)
{
    size_t frames = anm->morph_frames;
    for (size_t f = 0; f < frames; f++) {
        kf_track *track = kfi_add_track(im->job, im->take, im->node, KF_MORPH, 1);
        size_t first = f > 0 ? f - 1 : 0;
        size_t last = f + 1 < frames ? f + 1 : f;
        if (!track || !kfi_make_keys(im->job, &track->curve[0], last - first + 1, 0))
            return false;
        track->source = (int32_t)(im->take->track_count - 1);
        track->name = im->anim->nodes[im->node].mesh->shapes[f].name;
        for (size_t i = first; i <= last; i++)
            track->curve[0].keys[i - first] =
                (kf_key){.time = (double)i / im->rate, .value = i == f ? 1.0 : 0.0, .interp = KF_LINEAR};
    }
    return true;
}

static bool import_part(importer *im, kfi_ei_anm *anm)
{
    kfi_reader reader;
    im->job->file = im->file->name;
    kfi_reader_init(&reader, im->job, im->file->data, im->file->size);
    if (!kfi_ei_anm_decode(&reader, anm))
        return false;
    im->name = kfi_stem(im->job, im->file->name, "part");
    if (!im->name || !kfi_add_node(im->job, im->anim, im->name, -1))
        return false;
    im->node = (uint32_t)(im->anim->node_count - 1);
    if (!import_translations(im, anm) || !import_rotations(im, anm))
        return false;
    /* Frames without vertices (a hostile file may count four thousand million) are nothing to see. */
    return anm->morph_frames == 0 || anm->morph_vertices == 0 ||
           (import_shapes(im, anm) && import_weights(im, anm));
}

bool kfi_ei_import(kf_import_job *in, kf_anim *anim)
{
    importer im = {.job = in->job, .anim = anim, .rate = EI_RATE};
    ei_native *native = kfi_alloc(in->job, 1, sizeof *native);
    if (in->options->frame_rate > 0)
        im.rate = in->options->frame_rate;
    anim->frame_rate = im.rate;
    anim->float32 = true;
    anim->basis.rotation[0] = -90.0; /* the game's Z is up */
    im.take = kfi_add_take(in->job, anim, EI_TAKE);
    if (!native || !im.take)
        return false;
    native->count = in->count;
    native->parts = kfi_alloc(in->job, in->count, sizeof *native->parts);
    if (!native->parts)
        return false;
    for (size_t i = 0; i < in->count; i++) {
        im.file = &in->files[i];
        if (!import_part(&im, &native->parts[i]))
            return false;
    }
    anim->native = native;
    kfi_fit_take_ranges(anim);
    return true;
}
