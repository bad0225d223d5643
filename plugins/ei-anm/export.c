/* The neutral animation into Evil Islands parts: a file for each node, a value for each frame. What the merge
 * says is unchanged keeps its bytes, down to the single component. */
#include "ei.h"

#include "curve.h"
#include "names_file.h"

#include <float.h>
#include <math.h>

double kfi_ei_frame(const ei_part *part, double time)
{
    return floor((time - part->start) * part->rate + 0.5);
}

double kfi_ei_time(const ei_part *part, size_t frame)
{
    return part->start + (double)frame / part->rate;
}

bool kfi_ei_frames(const ei_part *part, double last, uint32_t *frames)
{
    double frame = kfi_ei_frame(part, last);
    if (frame >= UINT32_MAX / KFI_EI_QUAT)
        return kfi_fail(
            part->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
            "node \"%.60s\", take \"%.60s\": a key at %.4f s is more frames away than a file can hold",
            part->anim->nodes[part->node].name, part->take->name, last);
    *frames = frame < 0 ? 0 : (uint32_t)frame + 1;
    return true;
}

bool kfi_ei_store(const ei_part *part, uint8_t *at, double value, double time)
{
    if (fabs(value) > (double)FLT_MAX) {
        value = value < 0 ? -(double)FLT_MAX : (double)FLT_MAX;
        if (!kfi_warn(
                part->job, "out-of-range",
                "node \"%.60s\", take \"%.60s\", %.4f s: a value is larger than a 32-bit float and was cut",
                part->anim->nodes[part->node].name, part->take->name, time))
            return false;
    }
    kfi_store_f32(at, (float)value);
    return true;
}

int64_t kfi_ei_key_at(const ei_part *part, const kf_curve *curve, size_t frame, size_t *cursor)
{
    while (*cursor < curve->count && kfi_ei_frame(part, curve->keys[*cursor].time) < (double)frame)
        ++*cursor;
    /* Of several keys at one time the last one counts. */
    int64_t found = -1;
    double within = 0.01 / part->rate;
    for (size_t i = *cursor; i < curve->count && curve->keys[i].time < kfi_ei_time(part, frame) + within; i++)
        if (curve->keys[i].time > kfi_ei_time(part, frame) - within)
            found = (int64_t)i;
    return found;
}

const kf_track *kfi_ei_track(const ei_part *part, uint32_t node, size_t i)
{
    size_t at = part->first[node] + i;
    return at < part->first[node + 1] ? &part->take->tracks[part->order[at]] : NULL;
}

const kf_track *kfi_ei_find(const ei_part *part, uint32_t node, kf_channel channel)
{
    const kf_track *track;
    for (size_t i = 0; (track = kfi_ei_track(part, node, i)) != NULL; i++)
        if (track->channel == channel && track->layer == 0)
            return track;
    return NULL;
}

bool kfi_ei_untouched(const kf_track *track)
{
    return track->source >= 0 && (track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT);
}

bool kfi_ei_warn_before(const ei_part *part, const char *channel, double first)
{
    return kfi_ei_frame(part, first) >= 0 ||
           kfi_warn(part->job, "before-start",
                    "node \"%.60s\", take \"%.60s\", %.4f s: %s keys before the first frame were left out",
                    part->anim->nodes[part->node].name, part->take->name, first, channel);
}

/* ---------------------------------------------------------------- translation */

/* The original's bytes of an unchanged key, or NULL. */
const uint8_t *kfi_ei_kept(const kf_origin *origin, const uint8_t *records, size_t count, size_t size)
{
    bool kept = origin && origin->key < count && !(origin->changed & KF_CHANGED_VALUE);
    return kept ? records + origin->key * size : NULL;
}

static bool build_translations(const ei_part *part, const kf_track *track, uint32_t count, uint8_t *bytes)
{
    for (unsigned c = 0; c < 3; c++) {
        kf_curve none = {0};
        const kf_curve *curve = c < track->curves ? &track->curve[c] : &none;
        size_t cursor = 0;
        for (size_t f = 0; f < count; f++) {
            uint8_t *at = bytes + f * KFI_EI_VEC3 + 4 * c;
            double time = kfi_ei_time(part, f);
            int64_t key = kfi_ei_key_at(part, curve, f, &cursor);
            const kf_origin *origin = key >= 0 && curve->origin ? &curve->origin[key] : NULL;
            const uint8_t *kept = part->was ? kfi_ei_kept(origin, part->was->translations,
                                                          part->was->translation_count, KFI_EI_VEC3)
                                            : NULL;
            if (kept)
                memcpy(at, kept + 4 * c, 4);
            else if (!kfi_ei_store(part, at,
                                   /* NOLINTNEXTLINE: the key is one of the curve */
                                   key >= 0 ? curve->keys[key].value
                                            : kfi_curve_value(curve, time, track->rest[c]),
                                   time))
                return false;
        }
    }
    return true;
}

static bool export_translations(const ei_part *part, kfi_ei_anm *anm)
{
    const kf_track *track = kfi_ei_find(part, part->node, KF_TRANSLATION);
    const double *rest = part->anim->nodes[part->node].rest.translation;
    if (track && part->was && kfi_ei_untouched(track)) {
        anm->translation_count = part->was->translation_count;
        anm->translations = part->was->translations;
        return true;
    }
    kf_track still = {.channel = KF_TRANSLATION, .rest = {rest[0], rest[1], rest[2]}};
    uint32_t count = 0;
    if (!track && !part->was && (rest[0] != 0 || rest[1] != 0 || rest[2] != 0)) {
        track = &still;
        count = 1;
    }
    for (unsigned c = 0; track && c < track->curves; c++) {
        const kf_curve *curve = &track->curve[c];
        uint32_t frames = 0;
        if (curve->count && (!kfi_ei_warn_before(part, "translation", curve->keys[0].time) ||
                             !kfi_ei_frames(part, curve->keys[curve->count - 1].time, &frames)))
            return false;
        count = frames > count ? frames : count;
    }
    uint8_t *bytes = kfi_alloc_raw(part->job, count, KFI_EI_VEC3);
    anm->translation_count = count;
    anm->translations = bytes;
    return bytes && (count == 0 || build_translations(part, track, count, bytes));
}

/* ---------------------------------------------------------------- files */

static bool write_part(kf_export_job *out, const ei_part *part, const char *name)
{
    kfi_ei_anm anm = {.short_tail = part->was && part->was->short_tail};
    if (!export_translations(part, &anm) || !kfi_ei_export_rotations(part, &anm) ||
        !kfi_ei_export_morphs(part, &anm))
        return false;
    size_t offsets = (size_t)anm.morph_frames * anm.morph_vertices;
    kfi_writer writer;
    kfi_writer_init(&writer, out->job,
                    16 + (size_t)anm.rotation_count * KFI_EI_QUAT +
                        (size_t)anm.translation_count * KFI_EI_VEC3 + offsets * KFI_EI_VEC3);
    kfi_ei_anm_encode(&anm, &writer);
    return !writer.failed && out->host->emit(out->job, name, writer.data, writer.size);
}

static bool has_tracks(const ei_part *part, size_t node)
{
    const kf_track *track;
    for (size_t i = 0; (track = kfi_ei_track(part, (uint32_t)node, i)) != NULL; i++)
        if (track->channel == KF_TRANSLATION || track->channel == KF_ROTATION || track->channel == KF_MORPH)
            return true;
    return false;
}

static const char *file_for(kfi_file_names *names, const kf_node *node)
{
    return kfi_file_name(names, "", node->name[0] ? node->name : "part");
}

static bool export_fresh(kf_export_job *out, ei_part *part, kfi_file_names *names)
{
    const kf_anim *anim = out->anim;
    size_t moving = 0, nodes = 0;
    for (size_t i = 0; i < anim->node_count; i++) {
        moving += has_tracks(part, i);
        nodes += anim->nodes[i].kind != KF_NODE_OTHER;
    }
    size_t parts = moving ? moving : nodes;
    if (parts == 0)
        return kfi_fail(out->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "there is no node that could be a part");
    if (moving && moving < nodes &&
        !kfi_note(out->job, "still-nodes", "%zu nodes that do not move were not written", nodes - moving))
        return false;
    for (size_t i = 0; i < anim->node_count; i++) {
        if (moving ? !has_tracks(part, i) : anim->nodes[i].kind == KF_NODE_OTHER)
            continue;
        part->node = (uint32_t)i;
        const char *name = parts == 1 && out->output ? out->output : file_for(names, &anim->nodes[i]);
        if (!name || !write_part(out, part, name))
            return false;
    }
    return true;
}

static bool export_merged(kf_export_job *out, ei_part *part, kfi_file_names *names)
{
    const kf_anim *anim = out->anim;
    const ei_native *native = out->original->native;
    for (size_t i = 0; i < anim->node_count; i++) {
        const kf_node *node = &anim->nodes[i];
        part->node = (uint32_t)i;
        if (node->source >= 0 && (size_t)node->source < native->count && (size_t)node->source < out->count) {
            part->was = &native->parts[node->source];
            if (!write_part(out, part, out->files[node->source].name))
                return false;
        } else if (has_tracks(part, i)) {
            part->was = NULL;
            /* A file for a new part, where there are several already; one file has no room for it. */
            if (native->count == 1) {
                if (!kfi_warn(
                        out->job, "node-lost",
                        "node \"%.60s\", take \"%.60s\": new, but the file holds one part only; not written",
                        node->name, part->take->name))
                    return false;
                continue;
            }
            const char *name = file_for(names, node);
            if (!name ||
                !kfi_note(out->job, "new-part", "node \"%.60s\" is new and becomes the file \"%.100s\"",
                          node->name, name) ||
                !write_part(out, part, name))
                return false;
        }
    }
    if (out->job->emitted_count == 0)
        return kfi_fail(out->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "no part of the original is left");
    return true;
}

bool kfi_ei_export(kf_export_job *out)
{
    static const kf_take empty = {.name = EI_TAKE};
    const kf_anim *anim = out->anim;
    size_t chosen = 0;
    for (size_t i = 0; out->original && i < anim->take_count; i++)
        if (anim->takes[i].source == 0)
            chosen = i;
    for (size_t i = 0; i < anim->take_count; i++)
        if (i != chosen &&
            !kfi_warn(out->job, "take-lost", "take \"%.60s\" was not written: the format holds one",
                      anim->takes[i].name))
            return false;
    ei_part part = {.job = out->job,
                    .anim = anim,
                    .take = anim->take_count ? &anim->takes[chosen] : &empty,
                    .original = out->original,
                    .rate = EI_RATE};
    if (out->original)
        part.rate = out->original->frame_rate;
    else if (out->options->frame_rate > 0)
        part.rate = out->options->frame_rate;
    size_t *first, *order;
    kfi_file_names names;
    if (!kfi_note_unnamed(out->job, out->original, part.take) ||
        !kfi_tracks_by_node(out->job, anim, part.take, &first, &order) || !kfi_file_names_init(&names, out, anim->node_count, "anm"))
        return false;
    part.first = first;
    part.order = order;
    if (out->original)
        return export_merged(out, &part, &names);
    double start, end;
    part.start = part.take->start;
    if (kfi_take_range(part.take, &start, &end) && start < part.start)
        part.start = start;
    return export_fresh(out, &part, &names);
}
