/* The two ways: a game's files to an FBX, and an FBX back into them. */
#include "convert.h"

#include "fbx/scene.h"
#include "format.h"
#include "recorded.h"

#include <string.h>

/* ---------------------------------------------------------------- to FBX */

/* The files that belong to an animation, and the rig it was read with behind them. */
static bool fill_capsule(kf_job *job, const kf_format *format, const kf_file *files, size_t count, int32_t take,
                         kfi_capsule *capsule)
{
    *capsule = (kfi_capsule){.format = format->id, .revision = format->revision};
    kf_options options = job->options;
    bool rig = options.rig.data && format->capabilities.rig;
    if (!rig)
        options.rig = (kf_file){0};
    capsule->options = kfi_recorded_text(job, &options, take);
    for (size_t i = 0; i < count + rig; i++) {
        kf_file *file = kfi_push(job, &capsule->files, &capsule->count, sizeof *file);
        if (!file)
            return false;
        *file = i < count ? files[i] : options.rig;
    }
    return capsule->options != NULL;
}

bool kfi_make_scene(kf_job *job, const kf_format *format, const kf_file *files, size_t count, const kf_anim *anim,
                    int32_t take, kfi_scene *scene)
{
    kfi_lower_options lower;
    memset(scene, 0, sizeof *scene);
    kfi_lower_options_from(&job->options, &lower);
    lower.take = take;
    if (format == &kfi_format_fbx) {
        lower.as_is = true;
    } else {
        kfi_capsule capsule;
        char digest[KFI_DIGEST_SIZE] = KFI_NO_DIGEST;
        bool travels = !job->options.no_capsule || !job->options.no_sidecar;
        if (travels && !fill_capsule(job, format, files, count, take, &capsule))
            return false;
        if (travels)
            kfi_capsule_digest(&capsule, digest);
        lower.wrapper = kfi_format_text(job, KFI_WRAPPER_PREFIX "%s", digest);
        if (!lower.wrapper || (travels && !kfi_capsule_pack(job, &capsule, &scene->sidecar, &scene->sidecar_size)))
            return false;
        if (!job->options.no_capsule && scene->sidecar_size <= KFI_CAPSULE_MAX) {
            if (!kfi_base64_encode(job, scene->sidecar, scene->sidecar_size, &lower.capsule, &lower.capsule_size))
                return false;
        } else if (!job->options.no_capsule && !kfi_note(job, "large", "the original is too large to travel inside the "
                                                                       "FBX: keep the sidecar file beside it")) {
            return false;
        }
    }
    return kfi_fbx_lower(job, anim, &lower, &scene->lowered);
}

static bool write_file(kf_job *job, const kf_output *output, const char *name, const void *data, size_t size,
                       const kf_anim *anim)
{
    kf_sink sink = {0};
    if (!output->begin(output->user, name, &sink))
        return kfi_fail(job, KF_IO, KF_NO_OFFSET, "cannot write %.200s", name);
    bool ok = anim ? kfi_fbx_write(job, anim, &sink) : sink.append(sink.user, data, size);
    if (!ok)
        kfi_fail(job, KF_IO, KF_NO_OFFSET, "cannot write %.200s", name);
    if (!output->end(output->user, ok))
        kfi_fail(job, KF_IO, KF_NO_OFFSET, "cannot finish %.200s", name);
    return !kfi_failed(job);
}

static bool write_scene(kf_job *job, const kf_output *output, const char *name, const kfi_scene *scene)
{
    if (scene->sidecar && !job->options.no_sidecar) {
        const char *sidecar = kfi_format_text(job, "%s.kf", name);
        if (!sidecar || !write_file(job, output, sidecar, scene->sidecar, scene->sidecar_size, NULL))
            return false;
    }
    return write_file(job, output, name, NULL, 0, &scene->lowered.anim);
}

static void count_tracks(const kf_anim *anim, kf_summary *summary)
{
    for (size_t t = 0; t < anim->take_count; t++)
        summary->tracks += anim->takes[t].track_count;
}

/* The FBX of all takes, or of the one with that number. */
static bool write_one(kf_job *job, const kf_format *format, const kf_convert_input *input, const kf_anim *anim,
                      const kf_output *output, const char *name, size_t take)
{
    kfi_scene scene;
    bool split = job->options.split_takes;
    if (split) {
        const char *base = kfi_stem(job, name, "animation");
        name = base ? kfi_format_text(job, "%s.take%02zu.fbx", base, take + 1) : NULL;
    }
    if (!name || !kfi_make_scene(job, format, input->files, input->count, anim, split ? (int32_t)take : -1, &scene))
        return false;
    return !output || write_scene(job, output, name, &scene);
}

static bool to_fbx(kf_job *job, const kf_format *format, const kf_convert_input *input, const kf_output *output,
                   kf_summary *summary)
{
    const kf_anim *anim = kfi_import(job, format, input->files, input->count);
    const char *stem = kfi_stem(job, input->files[0].name, "animation");
    const char *name = input->output ? input->output : stem ? kfi_format_text(job, "%s.fbx", stem) : NULL;
    if (!anim || !name)
        return false;
    /* Written with the options as they will be read back. */
    kfi_recorded beside;
    const char *recorded = kfi_recorded_text(job, &job->options, -1);
    if (!recorded)
        return false;
    kfi_recorded_parse(job, recorded, &job->options, &beside);
    count_tracks(anim, summary);
    summary->outputs = job->options.split_takes ? anim->take_count : 1;
    for (size_t i = 0; i < summary->outputs; i++) { /* of which many, one after the other, need no more memory than one */
        kf_job aside = kfi_aside(job);
        bool done = write_one(&aside, format, input, anim, output, name, i);
        if (!kfi_aside_end(job, &aside) || !done)
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- from FBX */

static bool write_emitted(kf_job *job, const char *name, const kf_output *output)
{
    for (size_t i = 0; i < job->emitted_count; i++) {
        const kfi_emitted *file = &job->emitted[i];
        if (!write_file(job, output, job->emitted_count == 1 && name ? name : file->name, file->data, file->size, NULL))
            return false;
    }
    return true;
}

const char *kfi_output_name(kf_job *job, const kf_format *format, const char *wanted, const char *from)
{
    if (wanted)
        return wanted;
    const char *slash = from ? strrchr(from, '/') : NULL; /* of several FBX files, by which they are told apart */
    const char *stem = kfi_stem(job, slash ? slash + 1 : from, "animation");
    int size = (int)strcspn(format->extensions, " ");
    return stem ? kfi_format_text(job, "%s%s%.*s", stem, size ? "." : "", size, format->extensions) : NULL;
}

/* An FBX written anew as it was read. */
static bool write_fbx(kf_job *job, const kf_convert_input *input, const kf_output *output, const kf_anim *anim,
                      kf_summary *summary)
{
    kfi_scene scene;
    count_tracks(anim, summary);
    summary->outputs = 1;
    return kfi_make_scene(job, &kfi_format_fbx, NULL, 0, anim, -1, &scene) &&
           (!output || write_scene(job, output, input->output ? input->output : input->files[0].name, &scene));
}

/* What is only for an FBX that goes back into its original. */
static bool warn_unused(kf_job *job, const kf_convert_input *input)
{
    return (input->base_count == 0 ||
            kfi_warn(job, "unused", "--base does nothing here: it is for an FBX that becomes a game's file again")) &&
           (!job->options.drop_missing ||
            kfi_warn(job, "unused", "--drop-missing does nothing here: it is for an FBX that becomes a game's file again"));
}

/* A name that promises another format than is written. */
static bool warn_name(kf_job *job, const kf_convert_input *input, const kf_format *to)
{
    const kf_format *named = input->output ? kfi_format_by_extension(job->library, input->output) : NULL;
    if (!named || job->options.to || kfi_format_has_extension(to, input->output))
        return true;
    return kfi_warn(job, "name", "\"%.100s\" becomes %s, not %s as its name says: --to %s, if that is meant", input->output, to->id,
                    named->id, named->id);
}

/* FBX number *i, read already if it is *edited, and those behind it that are one with it: *i becomes the last of them. *next: the
 * one after that, if it was read. */
static bool take_alike(kf_job *job, const kf_convert_input *input, size_t *i, kfi_group *group, const kf_anim **edited,
                       const kf_anim **next)
{
    kfi_named_fbx first = {input->files[*i].name, *edited ? *edited : kfi_import(job, &kfi_format_fbx, &input->files[*i], 1)};
    bool done = true;
    *next = NULL;
    while (first.anim && *i + 1 < input->count) {
        kfi_named_fbx other = {input->files[*i + 1].name, kfi_import(job, &kfi_format_fbx, &input->files[*i + 1], 1)};
        kf_anim *both = kfi_alloc(job, 1, sizeof *both);
        if (!other.anim || !both || !kfi_mix_fbx(job, input, &first, &other, both, &done))
            return false;
        *next = other.anim;
        if (!done)
            break;
        *next = NULL;
        first.anim = both;
        first.name = kfi_report_text(job, "%.300s or %.100s", first.name, other.name);
        if (!first.name)
            return false;
        ++*i;
    }
    group->file = first.name;
    *edited = first.anim;
    return first.anim != NULL;
}

/* What an FBX has made, for the next one to be merged into, in memory that lasts. */
static bool keep_made(const kf_job *from, kfi_group *group)
{
    kf_file *made = kfi_alloc(group->job, from->emitted_count, sizeof *made);
    for (size_t i = 0; made && i < from->emitted_count; i++) {
        const kfi_emitted *file = &from->emitted[i];
        char *name = kfi_strdup(group->job, file->name);
        uint8_t *data = kfi_alloc_raw(group->job, file->size, 1);
        if (!name || !data)
            return false;
        if (file->size)
            memcpy(data, file->data, file->size);
        made[i] = (kf_file){name, data, file->size};
    }
    group->made = made;
    group->made_count = from->emitted_count;
    return made != NULL;
}

/* All but the last FBX go back aside, so that many need no more memory than one, but for themselves and what they make. */
static bool go_back(kf_job *job, const kf_convert_input *input, const kf_anim *edited, bool last, kfi_group *group,
                    const kf_format **target, kf_summary *summary)
{
    if (last)
        return kfi_convert_back(job, input, edited, group, target, summary);
    kf_job aside = kfi_aside(job);
    bool done = kfi_convert_back(&aside, input, edited, group, target, summary) && keep_made(&aside, group);
    return kfi_aside_end(job, &aside) && done;
}

static bool from_fbx(kf_job *job, const kf_convert_input *input, const kf_output *output, kf_summary *summary)
{
    kfi_group group;
    const kf_anim *next = NULL;
    const kf_format *target = NULL;
    if (!kfi_open_base(job, input, &group))
        return false;
    for (size_t i = 0; i < input->count; i++) {
        const kf_anim *edited = next;
        bool first = i == 0;
        group.before = group.take_count == 1 ? group.file : "an FBX before it";
        if (!take_alike(job, input, &i, &group, &edited, &next))
            return false;
        bool last = i + 1 == input->count;
        group.drop_later = group.drop_later || !last;
        if (!go_back(job, input, edited, last, &group, &target, summary))
            return false;
        summary->to = target->id;
        if (first && !warn_name(job, input, target))
            return false;
        if (target == &kfi_format_fbx) {
            if (input->count > 1)
                return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "several FBX files make one game file, not one FBX");
            return warn_unused(job, input) && write_fbx(job, input, output, edited, summary);
        }
    }
    if (group.drop_later && summary->merged && summary->dropped && !kfi_drop_told(job, target, &group))
        return false;
    kfi_end_base(job, &group);
    summary->outputs = job->emitted_count;
    return kfi_end_report(&group, summary) && (!output || write_emitted(job, input->output, output));
}

/* One game's file into another's: by way of what an FBX would hold. */
static bool game_to_game(kf_job *job, const kf_format *format, const kf_format *to, const kf_convert_input *input,
                         const kf_output *output, kf_summary *summary)
{
    kfi_scene scene;
    kfi_merge_report report;
    job->options.no_capsule = job->options.no_sidecar = true; /* there is no FBX for them */
    const kf_anim *anim = kfi_import(job, format, input->files, input->count);
    const char *name = kfi_output_name(job, to, input->output, input->files[0].name);
    if (!anim || !name || !kfi_make_scene(job, format, input->files, input->count, anim, -1, &scene) ||
        !kfi_export_edited(job, to, &scene.lowered.anim, NULL, name, &report))
        return false;
    summary->outputs = job->emitted_count;
    return !output || write_emitted(job, input->output, output);
}

static bool convert(kf_job *job, const kf_convert_input *input, const kf_output *output, kf_summary *summary)
{
    if (input->count == 0)
        return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "no input");
    kfi_allow_input(job, input->files, input->count);
    kfi_allow_input(job, input->base, input->base_count);
    const kf_format *from = kfi_format_of_input(job, input->files, input->count);
    if (!from)
        return false;
    summary->from = from->id;
    if (from == &kfi_format_fbx)
        return from_fbx(job, input, output, summary);
    const kf_format *to = job->options.to ? kfi_format_find(job->library, job->options.to) : &kfi_format_fbx;
    if (!to)
        return kfi_fail(job, KF_UNKNOWN_FORMAT, KF_NO_OFFSET, "there is no format \"%.60s\" (see keyferry formats)",
                        job->options.to);
    summary->to = to->id;
    if (!warn_unused(job, input) || !warn_name(job, input, to))
        return false;
    return to == &kfi_format_fbx ? to_fbx(job, from, input, output, summary)
                                 : game_to_game(job, from, to, input, output, summary);
}

KF_API bool kf_convert(kf_job *job, const kf_convert_input *given, const kf_output *output, kf_summary *summary,
                       kf_error *error)
{
    kf_convert_input input = {0};
    kf_summary ignored;
    kfi_enter(job);
    if (!kfi_copy_options(given, given->size, &input, sizeof input, error))
        return false;
    kf_options own = job->options;
    summary = summary ? summary : &ignored;
    memset(summary, 0, sizeof *summary);
    convert(job, &input, output, summary);
    job->options = own;
    return kfi_leave(job, error);
}
