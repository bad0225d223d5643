#include "export.h"

#include "names_file.h"

#include <math.h>

/* ---------------------------------------------------------------- floats */

static const uint8_t *original_float(const mm2_exporter *ex, size_t channel, uint32_t index, ptrdiff_t frame)
{
    if (!ex->from || channel >= ex->from->channel_count || ex->from->frame_count == 0)
        return NULL;
    const kfi_mm2_channel *from = &ex->from->channels[channel];
    if (index >= from->floats || from->floats != ex->clip.channels[channel].floats)
        return NULL;
    ptrdiff_t last = (ptrdiff_t)ex->from->frame_count - 1;
    frame = frame < 0 ? 0 : frame > last ? last : frame;
    return from->frames + ((size_t)frame * from->floats + index) * 4;
}

static uint8_t *new_float(const mm2_exporter *ex, size_t channel, uint32_t index, size_t frame)
{
    return ex->data[channel] + (frame * ex->clip.channels[channel].floats + index) * 4;
}

/* Writes one float of every frame. Keys whose value did not change keep the bits that the original has for
 * them. */
static void put_curve(const mm2_exporter *ex, const kf_track *track, const kf_curve *curve, double rest,
                      size_t channel, uint32_t index)
{
    double unit = track->channel == KF_ROTATION ? 1.0 / MM2_DEGREES : 1.0;
    bool whole = track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT;
    kfi_walk walk = {curve, rest, 0};
    for (size_t i = 0; i < ex->frames.count; i++) {
        const uint8_t *bits = NULL;
        double value = 0;
        if (whole)
            bits = original_float(ex, channel, index, (ptrdiff_t)i + ex->shift);
        if (!bits) {
            ptrdiff_t key;
            value = kfi_walk_value(&walk, &ex->frames, i, &key);
            const kf_origin *origin = key >= 0 && curve->origin ? &curve->origin[key] : NULL;
            if (origin && origin->key != KF_NEW && !(origin->changed & KF_CHANGED_VALUE))
                bits = original_float(ex, channel, index, (ptrdiff_t)origin->key);
        }
        if (bits)
            memcpy(new_float(ex, channel, index, i), bits, 4);
        else
            kfi_store_f32(new_float(ex, channel, index, i), (float)(value * unit));
    }
}

/* ---------------------------------------------------------------- tracks */

static bool drop(const mm2_exporter *ex, const kf_track *track, const char *why, double time)
{
    return kfi_warn(ex->job, "dropped", "dropped: %s of node \"%.60s\" (take \"%.60s\", %.3f s): %s",
                    track->name ? track->name : kfi_channel_name((kf_channel)track->channel),
                    ex->anim->nodes[track->node].name, ex->take->name, time, why);
}

/* The first key of a track that moves away from `still` by more than `limit`. */
static const kf_key *moving_key(const kf_track *track, const double still[3], double limit)
{
    for (unsigned c = 0; c < track->curves; c++)
        for (size_t i = 0; i < track->curve[c].count; i++)
            /* NOLINTNEXTLINE: a track has three curves at the most */
            if (!(fabs(track->curve[c].keys[i].value - still[c]) <= limit))
                return &track->curve[c].keys[i];
    return NULL;
}

/* A track that the clip has no room for: silence if it says nothing. */
static bool leave_out(const mm2_exporter *ex, const kf_track *track)
{
    const kf_node *node = &ex->anim->nodes[track->node];
    const double one[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
    const kf_key *key = NULL;
    if (track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT)
        return true;
    if (ex->bone_of[track->node] < 0 && track->channel != KF_CUSTOM) {
        key =
            moving_key(track, track->channel == KF_SCALE || track->channel == KF_VISIBILITY ? one : zero, 0);
        return !key || drop(ex, track, "the clip has no such bone", key->time);
    }
    if (track->channel == KF_TRANSLATION) {
        /* A bone that stays where it is needs no translation: its place is the skeleton's affair. */
        double still[3];
        for (unsigned c = 0; c < 3; c++)
            still[c] = ex->original && node->source >= 0
                           ? ex->original->nodes[node->source].rest.translation[c]
                       : track->curve[c].count ? track->curve[c].keys[0].value
                                               : track->rest[c];
        key = moving_key(track, still, 1e-3);
        return !key || drop(ex, track, "only the first bone has a translation", key->time);
    }
    key = moving_key(track, track->channel == KF_SCALE || track->channel == KF_VISIBILITY ? one : zero, 1e-5);
    return !key || drop(ex, track, "a clip cannot hold it", key->time);
}

static bool put_rotation(mm2_exporter *ex, const kf_track *track, size_t channel, uint32_t index)
{
    kf_curve converted[3];
    const kf_curve *curves = track->curve;
    kf_rotation_order order = (kf_rotation_order)ex->anim->nodes[track->node].order;
    bool whole = ex->from && (track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT);
    if (!whole && (track->quaternion || order != KF_XYZ)) {
        if (!kfi_rotation_frames(ex->job, track, order, KF_XYZ, &ex->frames, converted))
            return false;
        curves = converted;
    }
    for (unsigned c = 0; c < 3; c++)
        put_curve(ex, track, &curves[c], track->rest[c], channel, index + c);
    return true;
}

size_t mm2_find_channel(const mm2_exporter *ex, uint32_t number)
{
    size_t low = 0, high = ex->clip.channel_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ex->channel_names[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ex->clip.channel_count && ex->channel_names[low] == number ? low : SIZE_MAX;
}

static bool put_track(mm2_exporter *ex, const kf_track *track, size_t motion)
{
    int32_t bone = ex->bone_of[track->node];
    uint32_t number, index;
    if (motion < ex->clip.channel_count && bone >= 0) {
        uint32_t floats = ex->clip.channels[motion].floats;
        if (track->channel == KF_TRANSLATION && bone == 0 && track->curves == 3) {
            for (unsigned c = 0; c < 3; c++)
                put_curve(ex, track, &track->curve[c], track->rest[c], motion, c);
            return true;
        }
        if (track->channel == KF_ROTATION && (uint32_t)bone < floats / 3 - 1)
            return put_rotation(ex, track, motion, 3 + 3 * (uint32_t)bone);
    }
    if (track->channel == KF_CUSTOM && track->curves == 1 && mm2_custom_name(track->name, &number, &index)) {
        size_t found = mm2_find_channel(ex, number);
        if (found != motion && found < ex->clip.channel_count && index < ex->clip.channels[found].floats) {
            put_curve(ex, track, &track->curve[0], track->rest[0], found, index);
            return true;
        }
    }
    return leave_out(ex, track);
}

/* Bones without curves of their own stand as the scene has them. */
static void put_rest(mm2_exporter *ex, size_t motion)
{
    for (size_t n = 0; n < ex->anim->node_count; n++) {
        int32_t bone = ex->bone_of[n];
        const kf_transform *rest = &ex->anim->nodes[n].rest;
        kf_rotation_order order = (kf_rotation_order)ex->anim->nodes[n].order;
        if (bone < 0)
            continue;
        double angles[3] = {rest->rotation[0], rest->rotation[1], rest->rotation[2]};
        if (order != KF_XYZ) {
            double q[4];
            kfi_quat_from_euler(rest->rotation, order, q);
            kfi_quat_to_euler(q, KF_XYZ, rest->rotation, angles);
        }
        for (size_t i = 0; i < ex->frames.count; i++)
            for (uint32_t c = 0; c < 3; c++) {
                if (bone == 0)
                    kfi_store_f32(new_float(ex, motion, c, i), (float)rest->translation[c]);
                if ((uint32_t)bone < ex->clip.channels[motion].floats / 3 - 1)
                    kfi_store_f32(new_float(ex, motion, 3 + 3 * (uint32_t)bone + c, i),
                                  (float)(angles[c] / MM2_DEGREES));
            }
    }
}

bool mm2_write_clip(mm2_exporter *ex, const kf_host *host, const char *name)
{
    kfi_mm2_anim *clip = &ex->clip;
    const kfi_mm2_channel *found = kfi_mm2_motion(clip);
    size_t motion = found ? (size_t)(found - clip->channels) : SIZE_MAX;
    clip->frame_count = (uint32_t)ex->frames.count;
    ex->data = kfi_alloc(ex->job, clip->channel_count, sizeof *ex->data);
    size_t total = 64;
    for (size_t i = 0; ex->data && i < clip->channel_count; i++) {
        size_t frame = (size_t)clip->channels[i].floats * 4;
        ex->data[i] = kfi_alloc(ex->job, clip->frame_count, frame);
        if (!ex->data[i])
            return false;
        clip->channels[i].frames = ex->data[i];
        total += frame * clip->frame_count + 16;
    }
    if (!ex->data)
        return false;
    if (motion != SIZE_MAX)
        put_rest(ex, motion);
    for (size_t i = 0; i < ex->take->track_count; i++)
        if (!put_track(ex, &ex->take->tracks[i], motion))
            return false;
    kfi_writer out;
    kfi_writer_init(&out, ex->job, total);
    if (!kfi_mm2_encode(&out, clip))
        return false;
    if (clip->old && !kfi_mm2_reads_as_old(out.data, out.size)) {
        if (!kfi_warn(ex->job, "layout", "take \"%.60s\": with these frames the older layout would not be known again; the "
                                         "file gets the newer one", ex->take->name))
            return false;
        clip->old = false;
        clip->channels[0].type = KFI_MM2_MOTION;
        kfi_writer_init(&out, ex->job, total);
        if (!kfi_mm2_encode(&out, clip))
            return false;
    }
    return host->emit(ex->job, name, out.data, out.size);
}

/* ---------------------------------------------------------------- with an original */

/* The original's channels, to be filled anew. */
static bool plan_like(mm2_exporter *ex, const kfi_mm2_anim *model)
{
    ex->clip = *model;
    ex->clip.channels = kfi_alloc(ex->job, model->channel_count, sizeof *ex->clip.channels);
    uint32_t *names = kfi_alloc(ex->job, model->channel_count, sizeof *names);
    if (!ex->clip.channels || !names)
        return false;
    for (size_t i = 0; i < model->channel_count; i++) {
        ex->clip.channels[i] = model->channels[i];
        names[i] = (uint32_t)i;
    }
    ex->channel_names = names;
    return true;
}

static bool export_known_take(mm2_exporter *ex, kf_export_job *out)
{
    const mm2_native *native = out->original->native;
    const kf_take *before = &out->original->takes[ex->take->source];
    double rate = out->original->frame_rate;
    ex->from = &native->clips[ex->take->source];
    if (!kfi_note_unnamed(ex->job, out->original, ex->take) || !plan_like(ex, ex->from))
        return false;
    double shift = kfi_frames_between(before->start, ex->take->start, rate);
    if (shift == 0 && kfi_frames_between(before->end, ex->take->end, rate) == 0) {
        ex->frames = (kfi_frames){before->start, rate, ex->from->frame_count};
    } else {
        if (!kfi_take_frames(ex->job, ex->take, rate, UINT32_MAX, &ex->frames))
            return false;
        ex->shift = (ptrdiff_t)fmax(fmin(shift, (double)UINT32_MAX), -(double)UINT32_MAX);
    }
    return mm2_write_clip(ex, out->host, out->files[ex->take->source].name);
}

/* A take that the original does not have: a clip like the first one, under the take's name. */
static bool export_new_take(mm2_exporter *ex, kf_export_job *out, kfi_file_names *names)
{
    const mm2_native *native = out->original->native;
    if (!plan_like(ex, &native->clips[0]) ||
        !kfi_take_frames(ex->job, ex->take, out->original->frame_rate, UINT32_MAX, &ex->frames))
        return false;
    for (size_t i = 0; i < ex->clip.channel_count; i++)
        ex->clip.channels[i].unknown = 0;
    const char *title = ex->take->name[0] ? ex->take->name : "take";
    size_t dots = strspn(title, "."); /* which stay */
    const char *before = kfi_strndup(ex->job, title, dots);
    const char *name = before ? kfi_file_name(names, before, title + dots) : NULL;
    return name && mm2_write_clip(ex, out->host, name);
}

static bool export_onto(kf_export_job *out)
{
    const kf_anim *anim = out->anim;
    const mm2_native *native = out->original->native;
    int32_t *bone_of = kfi_alloc(out->job, anim->node_count, sizeof *bone_of);
    kfi_file_names names;
    if (!bone_of || !kfi_file_names_init(&names, out, anim->take_count, "anim"))
        return false;
    for (size_t i = 0; i < anim->node_count; i++) {
        int32_t source = anim->nodes[i].source;
        bone_of[i] = source >= 0 && (size_t)source < native->bone_nodes ? source : -1;
    }
    for (size_t i = 0; i < anim->take_count; i++) {
        mm2_exporter ex = {.job = out->job,
                           .anim = anim,
                           .take = &anim->takes[i],
                           .original = out->original,
                           .bone_of = bone_of};
        int32_t source = ex.take->source;
        if (!(source >= 0 && (size_t)source < native->count ? export_known_take(&ex, out)
                                                            : export_new_take(&ex, out, &names)))
            return false;
    }
    return true;
}

bool mm2_export(kf_export_job *out)
{
    return out->original ? export_onto(out) : mm2_export_fresh(out);
}
