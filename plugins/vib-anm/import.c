#include "vib.h"

typedef struct importer {
    kf_job *job;
    kf_anim *anim;
    const vib_native *native;
    unsigned object; /* at work */
    uint32_t node;
} importer;

/* Takes note of a key: the first time by counting, the second by writing it. */
static void put_key(const importer *im, kf_track *track, bool fill, size_t frame, const double *values)
{
    for (unsigned c = 0; c < track->curves; c++) {
        kf_curve *curve = &track->curve[c];
        if (fill)
            curve->keys[curve->count] =
                (kf_key){.time = (double)frame / im->anim->frame_rate, .value = values[c], .interp = KF_STEP};
        curve->count++;
    }
}

/* Keys where the file stores the part. A scale that is missing from a drawn frame is 1 there; rotation and
 * position hold. */
static void put_part(const importer *im, kf_track *track, bool fill, kfi_vib_part part)
{
    bool one = false; /* the scale's curve stands at 1 */
    for (size_t f = 0; f < im->native->count; f++) {
        const kfi_vib_anm *file = &im->native->files[f];
        for (size_t i = 0; i < file->frame_count; i++) {
            vib_seen seen = vib_see(file, i, im->object);
            double values[3] = {1, 1, 1};
            const int16_t *stored = seen.part[part];
            if (!stored && (part != KFI_VIB_SCALE || !seen.drawn || one))
                continue;
            for (unsigned c = 0; stored && c < 3; c++)
                values[c] = vib_value(part, stored[c]);
            one = values[0] == 1 && values[1] == 1 && values[2] == 1;
            put_key(im, track, fill, im->native->start[f] + i, values);
        }
    }
}

/* Keys where it changes, and one on the first frame. */
static void put_visibility(const importer *im, kf_track *track, bool fill)
{
    bool was = false;
    for (size_t f = 0; f < im->native->count; f++) {
        const kfi_vib_anm *file = &im->native->files[f];
        for (size_t i = 0; i < file->frame_count; i++) {
            bool drawn = vib_see(file, i, im->object).drawn;
            double value = drawn ? 1.0 : 0.0;
            if (track->curve[0].count == 0 || drawn != was)
                put_key(im, track, fill, im->native->start[f] + i, &value);
            was = drawn;
        }
    }
}

static bool add_track(const importer *im, kf_channel channel, int part)
{
    kf_take *take = &im->anim->takes[0];
    kf_track *track = kfi_add_track(im->job, take, im->node, channel, channel == KF_VISIBILITY ? 1 : 3);
    if (!track)
        return false;
    track->source = (int32_t)(take->track_count - 1);
    for (int fill = 0; fill < 2; fill++) {
        for (unsigned c = 0; fill && c < track->curves; c++) {
            if (!kfi_make_keys(im->job, &track->curve[c], track->curve[c].count, 0))
                return false;
            track->curve[c].count = 0;
        }
        if (channel == KF_VISIBILITY)
            put_visibility(im, track, fill);
        else
            put_part(im, track, fill, (kfi_vib_part)part);
    }
    return true;
}

static bool add_object(importer *im, uint8_t flags, kf_rotation_order order)
{
    static const kfi_vib_part parts[KFI_VIB_PARTS] = {KFI_VIB_POSITION, KFI_VIB_ROTATION, KFI_VIB_SCALE};
    char *name = kfi_format_text(im->job, "object_%03u", im->object);
    kf_node *node = name ? kfi_add_node(im->job, im->anim, name, -1) : NULL;
    if (!node)
        return false;
    node->order = (uint8_t)order;
    im->node = (uint32_t)(im->anim->node_count - 1);
    for (unsigned i = 0; i < KFI_VIB_PARTS; i++)
        if ((flags >> parts[i] & 1) && !add_track(im, vib_channel(parts[i]), (int)parts[i]))
            return false;
    return add_track(im, KF_VISIBILITY, -1);
}

static double rate_of(const kf_options *options, uint16_t word)
{
    if (options->frame_rate > 0)
        return options->frame_rate;
    return word >= 15 && word <= 60 ? (double)word : VIB_DEFAULT_RATE;
}

static bool decode_files(kf_import_job *in, vib_native *native)
{
    native->files = kfi_alloc(in->job, in->count, sizeof *native->files);
    native->start = kfi_alloc(in->job, in->count + 1, sizeof *native->start);
    if (!native->files || !native->start)
        return false;
    for (size_t i = 0; i < in->count; i++) {
        const kf_file *file = &in->files[i];
        in->job->file = file->name;
        if (!kfi_vib_decode(in->job, file->data, file->size, &native->files[i]))
            return false;
        native->start[i + 1] = native->start[i] + native->files[i].frame_count;
        native->count++;
        if (native->files[i].rate != native->files[0].rate &&
            !kfi_note(in->job, "rate",
                      "\"%.60s\" has the rate %u, \"%.60s\" %u: the first one counts for all",
                      in->files[0].name, native->files[0].rate, file->name, native->files[i].rate))
            return false;
    }
    return true;
}

bool vib_import(kf_import_job *in, kf_anim *anim)
{
    vib_native *native = kfi_alloc(in->job, 1, sizeof *native);
    if (!native || !decode_files(in, native))
        return false;
    anim->native = native;
    anim->frame_rate = rate_of(in->options, native->files[0].rate);
    anim->basis.rotation[0] = 180.0; /* Y points down, Z into the screen */
    const char *name = kfi_stem(in->job, in->files[0].name, "animation");
    kf_take *take = name ? kfi_add_take(in->job, anim, name) : NULL;
    if (!take)
        return false;
    size_t frames = native->start[native->count];
    take->end = frames > 0 ? (double)(frames - 1) / anim->frame_rate : 0.0;

    /* Objects that are never drawn are not known to be there. */
    bool drawn[KFI_VIB_OBJECTS] = {0};
    uint8_t flags[KFI_VIB_OBJECTS] = {0};
    for (size_t f = 0; f < native->count; f++) {
        const kfi_vib_anm *file = &native->files[f];
        for (size_t i = 0; i < file->first[file->frame_count]; i++) {
            drawn[file->keyframes[i].object] = true;
            flags[file->keyframes[i].object] |= file->keyframes[i].flags;
        }
    }
    kf_rotation_order order;
    kfi_order_from_name(in->options->rotation_order, &order);
    importer im = {.job = in->job, .anim = anim, .native = native};
    for (im.object = 0; im.object < KFI_VIB_OBJECTS; im.object++) {
        if (!drawn[im.object])
            continue;
        native->object_of[anim->node_count] = (uint8_t)im.object;
        if (!add_object(&im, flags[im.object], order))
            return false;
    }
    return true;
}
