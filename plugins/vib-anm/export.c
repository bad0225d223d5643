#include "export.h"

#include "names_file.h"

#include <math.h>

/* A file under construction. */
typedef struct builder {
    kfi_vib_anm anm;
    size_t keyframe_count;
    size_t first_count; /* of anm.first */
    size_t size;        /* of the file so far */
} builder;

/* ---------------------------------------------------------------- one keyframe */

static bool same(const int16_t a[3], const int16_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool is_default(kfi_vib_part part, const int16_t stored[3])
{
    int16_t value = part == KFI_VIB_SCALE ? 4096 : 0;
    const int16_t whole[3] = {value, value, value};
    return same(stored, whole);
}

/* The original stores nothing here and nothing before, and no key has come since: the game's own start
 * counts. The curve, which has to show something, shows its first key; that a key says so is no edit. */
static bool before_first(const vib_exporter *ex, const vib_source *source, kfi_vib_part part, size_t frame,
                         const int16_t stored[3])
{
    if (!source->before || source->before->curve[0].count == 0)
        return false;
    double at = kfi_frames_between(0, source->before->curve[0].keys[0].time, ex->frames.rate);
    if (at <= (double)frame + (double)ex->shift)
        return false;
    bool begun = false;
    int16_t first[3];
    for (unsigned c = 0; c < 3; c++) {
        bool clamped;
        first[c] = vib_stored(part, source->before->curve[c].keys[0].value, &clamped);
        begun = begun || source->walk[c].next > 0;
    }
    return !begun || same(first, stored);
}

/* Whether a part is to be stored in a keyframe. `seen` is what the original has in this frame. What is stored
 * there and comes back stays; else a part is stored where it differs from what the game would take without
 * it. */
static bool stores(const vib_exporter *ex, const vib_source *source, kfi_vib_part part, size_t frame,
                   const vib_seen *seen, const vib_wish *wish)
{
    bool implied = part == KFI_VIB_SCALE ? is_default(part, wish->stored)
                                         : source->holds && same(wish->stored, source->held);
    if (seen->part[part] && source->before)
        return !implied || wish->original_key;
    if (part == KFI_VIB_SCALE && source->given && !source->before && !source->holds)
        return true; /* the first of a curve made from nothing, so that the curve is not lost */
    if (part != KFI_VIB_SCALE && !source->holds && seen->drawn &&
        before_first(ex, source, part, frame, wish->stored))
        return false;
    return !implied;
}

static bool say_clamped(const vib_exporter *ex, const vib_object *object, kfi_vib_part part, size_t frame)
{
    return kfi_warn(ex->job, "clamped",
                    "%s of node \"%.60s\" (take \"%.60s\", %.3f s): beyond 16 bits, clamped",
                    kfi_channel_name(vib_channel(part)), ex->anim->nodes[object->node].name, ex->take->name,
                    kfi_frame_time(&ex->frames, frame));
}

/* Adds to a keyframe, of which carrier[part] are the places, what a drawn object's frame stores. */
static bool fill_keyframe(vib_exporter *ex, vib_object *object, size_t frame, const vib_seen *seen,
                          kfi_vib_keyframe *const carrier[KFI_VIB_PARTS])
{
    for (unsigned p = 0; p < KFI_VIB_PARTS; p++) {
        kfi_vib_part part = (kfi_vib_part)p;
        vib_source *source = &object->part[p];
        vib_wish wish;
        vib_wish_for(ex, source, part, frame, &wish);
        if (!stores(ex, source, part, frame, seen, &wish))
            continue;
        if (wish.clamped && !say_clamped(ex, object, part, frame))
            return false;
        carrier[p]->flags |= (uint8_t)(1u << p);
        memcpy(carrier[p]->part[p], wish.stored, sizeof wish.stored);
        memcpy(source->held, wish.stored, sizeof wish.stored);
        source->holds = true;
    }
    return true;
}

/* Keys of an object that is not drawn cannot be stored; what they set shows when it is drawn again. `was` is
 * what the original has in this frame: its keys are counted, for they go as well. */
static bool pass_hidden(vib_exporter *ex, vib_object *object, size_t frame, const vib_seen *was)
{
    bool known = ex->original && ex->anim->nodes[object->node].source >= 0;
    if (was->drawn || !known) {
        object->first = object->hidden ? object->first : frame;
        object->last = frame;
        object->hidden++;
    }
    for (unsigned p = 0; p < KFI_VIB_PARTS; p++) {
        vib_source *source = &object->part[p];
        vib_wish wish;
        vib_wish_for(ex, source, (kfi_vib_part)p, frame, &wish);
        if (was->part[p] && wish.original_key) {
            object->keys++;
            object->edited += wish.new_key;
        } else if (wish.new_key && source->holds && !same(wish.stored, source->held) &&
                   !kfi_note(ex->job, "hidden-key",
                             "%s of node \"%.60s\" (take \"%.60s\", %.3f s): a key where the object is not "
                             "drawn is not stored",
                             kfi_channel_name(vib_channel((kfi_vib_part)p)),
                             ex->anim->nodes[object->node].name, ex->take->name,
                             kfi_frame_time(&ex->frames, frame)))
            return false;
    }
    return true;
}

/* What went with the frames in which an object is hidden. That is what was asked for, unless somebody has
 * edited it, too, or nothing is left of the object. */
static bool tell_hidden(const vib_exporter *ex, const vib_object *object)
{
    bool gone = object->hidden && !object->drawn;
    if (!gone && object->keys == 0)
        return true;
    return kfi_say(ex->job, gone || object->edited ? KF_WARNING : KF_NOTE, "hidden", NULL, KF_NO_OFFSET,
                   "take \"%.60s\", node \"%.60s\", %.3f s to %.3f s: hidden in %zu frames, it is not in the "
                   "file %s: %zu stored keys are gone, %zu of them edited",
                   ex->take->name, ex->anim->nodes[object->node].name,
                   kfi_frame_time(&ex->frames, object->first), kfi_frame_time(&ex->frames, object->last),
                   object->hidden, gone ? "at all" : "there", object->keys, object->edited);
}

static bool tell_all_hidden(const vib_exporter *ex)
{
    for (unsigned i = 0; i < KFI_VIB_OBJECTS; i++)
        if (ex->objects[i] && !tell_hidden(ex, ex->objects[i]))
            return false;
    return true;
}

/* ---------------------------------------------------------------- one frame */

/* What the original has in a frame, and where that now stands in the file under construction. */
typedef struct places {
    vib_seen seen[KFI_VIB_OBJECTS];
    size_t at[KFI_VIB_OBJECTS][KFI_VIB_PARTS]; /* the keyframe that carries each part */
} places;

/* The original's keyframes of a frame, without those of objects that are no longer drawn. Should a frame have
 * an object twice, each part is carried by the last keyframe that stores it, or by the last; what the others
 * store stays. */
static bool copy_keyframes(vib_exporter *ex, builder *to, const kfi_vib_anm *from, size_t frame,
                           const bool *drawn, places *where)
{
    for (size_t i = from->first[frame]; i < from->first[frame + 1]; i++) {
        const kfi_vib_keyframe *keyframe = &from->keyframes[i];
        unsigned object = keyframe->object;
        if (!drawn[object])
            continue;
        kfi_vib_keyframe *copy =
            kfi_push(ex->job, &to->anm.keyframes, &to->keyframe_count, sizeof *to->anm.keyframes);
        if (!copy)
            return false;
        *copy = *keyframe;
        vib_seen *seen = &where->seen[object];
        seen->drawn = true;
        for (unsigned p = 0; p < KFI_VIB_PARTS; p++) {
            bool stored = keyframe->flags >> p & 1;
            if (stored)
                seen->part[p] = keyframe->part[p];
            if (stored || !seen->part[p])
                where->at[object][p] = to->keyframe_count - 1;
        }
    }
    return true;
}

/* An object that the original does not draw in this frame: before those with higher numbers. */
static bool add_keyframe(vib_exporter *ex, builder *to, size_t frame, unsigned object)
{
    kfi_vib_keyframe keyframe = {.object = (uint8_t)object};
    kfi_vib_keyframe *const carrier[KFI_VIB_PARTS] = {&keyframe, &keyframe, &keyframe};
    const vib_seen nothing = {0};
    if (!fill_keyframe(ex, ex->objects[object], frame, &nothing, carrier) ||
        !kfi_push(ex->job, &to->anm.keyframes, &to->keyframe_count, sizeof keyframe))
        return false;
    size_t first = to->anm.first[to->anm.frame_count];
    size_t at = first, last = to->keyframe_count - 1;
    while (at < last && to->anm.keyframes[at].object < object)
        at++;
    memmove(&to->anm.keyframes[at + 1], &to->anm.keyframes[at], (last - at) * sizeof keyframe);
    to->anm.keyframes[at] = keyframe;
    return true;
}

/* `frame` of the take as the next one of the file; `from` is the original's file, or NULL where it has no
 * such frame. */
static bool add_frame(vib_exporter *ex, builder *to, const kfi_vib_anm *from, size_t local, size_t frame)
{
    places where;
    bool drawn[KFI_VIB_OBJECTS];
    memset(&where, 0, sizeof where);
    for (unsigned i = 0; i < KFI_VIB_OBJECTS; i++)
        drawn[i] = vib_drawn(ex, ex->objects[i], frame);
    if (from && !copy_keyframes(ex, to, from, local, drawn, &where))
        return false;
    for (unsigned i = 0; i < KFI_VIB_OBJECTS; i++) {
        kfi_vib_keyframe *carrier[KFI_VIB_PARTS];
        if (!where.seen[i].drawn)
            continue;
        for (unsigned p = 0; p < KFI_VIB_PARTS; p++) {
            carrier[p] = &to->anm.keyframes[where.at[i][p]];
            carrier[p]->flags &= (uint8_t) ~(1u << p);
        }
        if (!fill_keyframe(ex, ex->objects[i], frame, &where.seen[i], carrier))
            return false;
    }
    for (unsigned i = 0; i < KFI_VIB_OBJECTS; i++) {
        vib_object *object = ex->objects[i];
        if (!object)
            continue;
        object->drawn = object->drawn || drawn[i];
        vib_seen was = from && !drawn[i] ? vib_see(from, local, i) : (vib_seen){0};
        if (!(drawn[i] ? where.seen[i].drawn || add_keyframe(ex, to, frame, i)
                       : pass_hidden(ex, object, frame, &was)))
            return false;
    }
    size_t *first = kfi_push(ex->job, &to->anm.first, &to->first_count, sizeof *first);
    if (!first)
        return false;
    *first = to->keyframe_count;
    to->anm.frame_count++;
    to->size += kfi_vib_frame_size(&to->anm, to->anm.frame_count - 1u);
    return to->size <= KFI_VIB_LONGEST || kfi_vib_too_long(ex->job, to->anm.frame_count - 1u);
}

/* ---------------------------------------------------------------- files */

static bool begin_file(vib_exporter *ex, builder *to, uint16_t rate, const kfi_vib_anm *like)
{
    *to = (builder){.anm = {.rate = rate}, .size = KFI_VIB_EMPTY};
    if (like) {
        to->anm.rate = like->rate;
        to->anm.gap = like->gap;
        to->anm.gap_size = like->gap_size;
        to->size += like->gap_size;
    }
    return kfi_push(ex->job, &to->anm.first, &to->first_count, sizeof *to->anm.first);
}

static bool end_file(vib_exporter *ex, const builder *from, const kf_host *host, const char *name)
{
    kfi_writer out;
    kfi_writer_init(&out, ex->job, from->size);
    return kfi_vib_encode(&out, &from->anm) && host->emit(ex->job, name, out.data, out.size);
}

/* The take onto the original's files: what lies before the first or behind the last goes into these. */
static bool export_onto(vib_exporter *ex, kf_export_job *out)
{
    const vib_native *native = ex->original->native;
    const kf_take *before = &ex->original->takes[0];
    size_t total = native->start[native->count];
    double rate = ex->original->frame_rate;
    double shift = kfi_frames_between(before->start, ex->take->start, rate);
    if (shift == 0 && kfi_frames_between(before->end, ex->take->end, rate) == 0)
        ex->frames = (kfi_frames){before->start, rate, total};
    else if (!kfi_take_frames(ex->job, ex->take, rate, total + KFI_VIB_LONGEST, &ex->frames))
        return false;
    ex->shift = (ptrdiff_t)fmax(fmin(shift, 1e9), -1e9);
    if (!vib_find_objects(ex))
        return false;
    size_t frame = 0;
    for (size_t f = 0; f < native->count; f++) {
        builder to;
        ex->job->file = out->files[f].name;
        if (!begin_file(ex, &to, 0, &native->files[f]))
            return false;
        for (; frame < ex->frames.count; frame++) {
            ptrdiff_t was = (ptrdiff_t)frame + ex->shift;
            if (was >= (ptrdiff_t)native->start[f + 1] && f + 1 < native->count)
                break;
            bool there = was >= (ptrdiff_t)native->start[f] && was < (ptrdiff_t)native->start[f + 1];
            if (!add_frame(ex, &to, there ? &native->files[f] : NULL,
                           there ? (size_t)was - native->start[f] : 0, frame))
                return false;
        }
        if (!end_file(ex, &to, out->host, out->files[f].name))
            return false;
    }
    return tell_all_hidden(ex);
}

static bool export_fresh(vib_exporter *ex, kf_export_job *out, const char *name)
{
    double rate = out->anim->frame_rate;
    bool told = rate >= 15 && rate <= 60 && rate == nearbyint(rate);
    builder to;
    ex->job->file = name;
    if (!told &&
        !kfi_warn(ex->job, "rate", "take \"%.60s\": a file cannot say %.3f frames a second, only 15 to 60",
                  ex->take->name, rate))
        return false;
    if (!kfi_take_frames(ex->job, ex->take, rate, SIZE_MAX / 2, &ex->frames) || !vib_find_objects(ex) ||
        !begin_file(ex, &to, (uint16_t)(told ? rate : VIB_DEFAULT_RATE), NULL))
        return false;
    for (size_t i = 0; i < ex->frames.count; i++)
        if (!add_frame(ex, &to, NULL, 0, i))
            return false;
    return tell_all_hidden(ex) && end_file(ex, &to, out->host, name);
}

bool vib_export(kf_export_job *out)
{
    const kf_take pose = {.name = "pose"}; /* a scene without takes: one frame */
    const kf_anim *anim = out->anim;
    size_t takes = anim->take_count > 0 ? anim->take_count : 1;
    kfi_file_names names;
    const char *stem = out->output ? kfi_stem(out->job, out->output, "animation") : NULL;
    const char *before = stem ? kfi_format_text(out->job, "%s_", stem) : "";
    if ((out->output && !stem) || !before || !kfi_file_names_init(&names, out, takes, "anm"))
        return false;
    for (size_t i = 0; i < takes; i++) {
        vib_exporter ex = {.job = out->job, .anim = anim, .take = anim->take_count ? &anim->takes[i] : &pose};
        if (out->original && ex.take->source == 0) {
            ex.original = out->original;
            ex.order = out->original->node_count ? (kf_rotation_order)out->original->nodes[0].order : KF_XYZ;
            if (!kfi_note_unnamed(out->job, out->original, ex.take) || !export_onto(&ex, out))
                return false;
            continue;
        }
        const char *name = takes == 1 && out->output ? out->output : kfi_file_name(&names, before, ex.take->name);
        kfi_order_from_name(out->options->rotation_order, &ex.order);
        if (!name || !export_fresh(&ex, out, name))
            return false;
    }
    return true;
}
