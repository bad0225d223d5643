#include "mm2.h"

#include "formats/mm2_skel.h"

#include <float.h>
#include <math.h>

typedef struct importer {
    kf_job *job;
    kf_anim *anim;
    mm2_native *native;
    const kfi_mm2_skel *rig; /* or NULL */
    size_t skipped;          /* floats that are no finite numbers */
    size_t skipped_frame;    /* the first of them */
    uint32_t skipped_node;
} importer;

/* ---------------------------------------------------------------- keys */

/* One float of every frame as linear keys. */
static bool make_curve(importer *im, kf_curve *curve, const kfi_mm2_anim *clip,
                       const kfi_mm2_channel *channel, uint32_t first, double unit, uint32_t node)
{
    if (!kfi_make_keys(im->job, curve, clip->frame_count, 0))
        return false;
    double last = 0;
    for (size_t i = 0; i < clip->frame_count; i++) {
        kf_key *key = &curve->keys[i];
        double value = (double)kfi_load_f32(channel->frames + (i * channel->floats + first) * 4) * unit;
        key->time = (double)i / im->anim->frame_rate;
        key->interp = KF_LINEAR;
        if (isfinite(value) && fabs(value) <= (double)FLT_MAX) {
            last = value;
        } else {
            key->flags |= isfinite(value) ? KF_KEY_NONFINITE : kfi_nonfinite_flags(value);
            if (im->skipped++ == 0) {
                im->skipped_frame = i;
                im->skipped_node = node;
            }
        }
        key->value = last;
    }
    return true;
}

static bool add_track(importer *im, size_t take, const kfi_mm2_anim *clip, const kfi_mm2_channel *channel,
                      uint32_t first, kf_channel what, uint32_t node, const char *name)
{
    unsigned curves = what == KF_CUSTOM ? 1 : 3;
    kf_take *to = &im->anim->takes[take];
    kf_track *track = kfi_add_track(im->job, to, node, what, curves);
    if (!track)
        return false;
    track->source = (int32_t)(to->track_count - 1);
    track->name = name;
    for (unsigned c = 0; c < curves; c++)
        if (!make_curve(im, &track->curve[c], clip, channel, first + c,
                        what == KF_ROTATION ? MM2_DEGREES : 1.0, node))
            return false;
    return true;
}

static bool add_motion(importer *im, size_t take, const kfi_mm2_anim *clip, const kfi_mm2_channel *channel)
{
    if (!add_track(im, take, clip, channel, 0, KF_TRANSLATION, 0, NULL))
        return false;
    for (uint32_t bone = 0; bone < channel->floats / 3 - 1; bone++)
        if (!add_track(im, take, clip, channel, 3 + 3 * bone, KF_ROTATION, bone, NULL))
            return false;
    return true;
}

static bool add_custom(importer *im, size_t take, const kfi_mm2_anim *clip, size_t number)
{
    const kfi_mm2_channel *channel = &clip->channels[number];
    for (uint32_t i = 0; i < channel->floats; i++) {
        char *name = kfi_format_text(im->job, MM2_CUSTOM_NAME, (unsigned long)number, (unsigned long)i);
        if (!name ||
            !add_track(im, take, clip, channel, i, KF_CUSTOM, (uint32_t)im->native->bone_nodes, name))
            return false;
    }
    return true;
}

static bool add_take(importer *im, size_t number, const kf_file *file)
{
    const kfi_mm2_anim *clip = &im->native->clips[number];
    const kfi_mm2_channel *motion = kfi_mm2_motion(clip);
    const char *name = kfi_stem(im->job, file->name, "clip");
    kf_take *take = name ? kfi_add_take(im->job, im->anim, name) : NULL;
    if (!take)
        return false;
    if (clip->frame_count == 0)
        return true;
    if (motion && !add_motion(im, number, clip, motion))
        return false;
    for (size_t i = 0; i < clip->channel_count; i++)
        if (&clip->channels[i] != motion && !add_custom(im, number, clip, i))
            return false;
    if (take->track_count > 0) /* else the number of frames is a mere claim */
        take->end = (double)(clip->frame_count - 1) / im->anim->frame_rate;
    if (im->skipped == 0)
        return true;
    size_t count = im->skipped;
    im->skipped = 0;
    return kfi_warn(
        im->job, "nonfinite",
        "%zu floats are no finite numbers, or too large to be degrees: the value before them holds "
        "(first: take \"%.60s\", node \"%.60s\" at frame %zu)",
        count, name, im->anim->nodes[im->skipped_node].name, im->skipped_frame);
}

/* ---------------------------------------------------------------- nodes */

/* How many nodes a clip's bones need; without frames the number of floats is a mere claim and needs none. */
static size_t bone_nodes(const kfi_mm2_anim *clip)
{
    const kfi_mm2_channel *motion = kfi_mm2_motion(clip);
    if (!motion || clip->frame_count == 0)
        return 0;
    return motion->floats > 3 ? motion->floats / 3 - 1 : 1;
}

static bool fits_rig(importer *im, const kfi_mm2_anim *clip)
{
    const kfi_mm2_channel *motion = kfi_mm2_motion(clip);
    size_t bones = motion ? motion->floats / 3 - 1 : 0;
    return !motion || bones == im->rig->count ||
           kfi_fail(im->job, KF_BAD_INPUT, motion->offset,
                    "bones: the clip has %zu, the skeleton given with --rig has %zu", bones, im->rig->count);
}

static bool add_bones(importer *im)
{
    for (size_t i = 0; i < im->native->bone_nodes; i++) {
        const kfi_mm2_bone *bone = im->rig ? &im->rig->bones[i] : NULL;
        const char *name = bone ? bone->name : kfi_format_text(im->job, "bone_%02zu", i);
        kf_node *node = name ? kfi_add_node(im->job, im->anim, name, bone ? bone->parent : -1) : NULL;
        if (!node)
            return false;
        if (bone) {
            node->kind = KF_NODE_BONE;
            for (int c = 0; c < 3; c++)
                node->rest.translation[c] = bone->offset[c];
        }
    }
    return true;
}

/* Channels that move no bones hang on a node of their own, which remembers their types. */
static bool add_channel_node(importer *im)
{
    kf_node *node = NULL;
    for (size_t i = 0; i < im->native->count; i++) {
        const kfi_mm2_anim *clip = &im->native->clips[i];
        const kfi_mm2_channel *motion = kfi_mm2_motion(clip);
        for (size_t c = 0; c < clip->channel_count && clip->frame_count > 0; c++) {
            if (&clip->channels[c] == motion || clip->channels[c].floats == 0)
                continue;
            if (!node)
                node = kfi_add_node(im->job, im->anim, "channels", -1);
            if (!node)
                return false;
            if (i > 0)
                continue; /* types of the first clip only: the names must not clash */
            kf_property *type = kfi_push(im->job, &node->properties, &node->property_count, sizeof *type);
            char *name = type ? kfi_format_text(im->job, MM2_TYPE_NAME, (unsigned long)c) : NULL;
            if (!name)
                return false;
            *type = (kf_property){.name = name,
                                  .type = "int",
                                  .sub_type = "Integer",
                                  .flags = "U",
                                  .value = {clip->channels[c].type},
                                  .value_count = 1};
        }
    }
    return true;
}

static bool read_rig(importer *im, const kf_file *rig, kfi_mm2_skel *skel)
{
    const char *file = im->job->file;
    im->job->file = rig->name;
    if (!kfi_mm2_skel_parse(im->job, rig->data, rig->size, skel))
        return false;
    im->job->file = file;
    im->rig = skel;
    return true;
}

bool mm2_import(kf_import_job *in, kf_anim *anim)
{
    importer im = {.job = in->job, .anim = anim};
    kfi_mm2_skel skel;
    if (in->options->rig.data && !read_rig(&im, &in->options->rig, &skel))
        return false;
    mm2_native *native = im.native = kfi_alloc(in->job, 1, sizeof *native);
    if (!native || !(native->clips = kfi_alloc(in->job, in->count, sizeof *native->clips)))
        return false;
    anim->native = native;
    anim->float32 = true;
    anim->frame_rate = in->options->frame_rate > 0 ? in->options->frame_rate : MM2_DEFAULT_RATE;
    for (int c = 0; c < 3; c++)
        anim->basis.scale[c] = 100.0; /* metres; Y is up and the axes are right-handed as in FBX */
    for (; native->count < in->count; native->count++) {
        const kf_file *file = &in->files[native->count];
        kfi_mm2_anim *clip = &native->clips[native->count];
        in->job->file = file->name;
        if (!kfi_mm2_decode(in->job, file->data, file->size, clip) || (im.rig && !fits_rig(&im, clip)))
            return false;
        size_t nodes = bone_nodes(clip);
        native->bone_nodes = nodes > native->bone_nodes ? nodes : native->bone_nodes;
    }
    if (im.rig)
        native->bone_nodes = im.rig->count;
    if (!add_bones(&im) || !add_channel_node(&im))
        return false;
    for (size_t i = 0; i < in->count; i++) {
        in->job->file = in->files[i].name;
        if (!add_take(&im, i, &in->files[i]))
            return false;
    }
    return true;
}
