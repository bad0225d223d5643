/* An FBX back into the game's files: what changed is merged into the original, the exporter writes. */
#include "conform.h"
#include "convert.h"
#include "format.h"
#include "recorded.h"
#include "rotation.h"

#include <math.h>
#include <string.h>

bool kfi_rewrite(kf_job *job, const kf_format *format, const kf_anim *edited, kfi_original *original)
{
    kf_options own = job->options;
    size_t messages = job->message_count;
    kf_options *o = &job->options;
    kfi_recorded recorded = {.take = -1, .lowering = KFI_LOWERING_REVISION};
    if (original->capsule.options) {
        o->program = KF_FOR_ANY;
        o->tcb = KF_TCB_DEFAULT;
        o->bake = false;
        kfi_recorded_parse(job, original->capsule.options, o, &recorded);
    }
    o->strict = false;
    if (recorded.rig && original->count > 1)
        o->rig = original->rig = original->files[--original->count];
    kfi_lower_options lower;
    kfi_lower_options_from(o, &lower);
    lower.take = recorded.take;
    if (recorded.lowering < KFI_LOWERING_REVISION)
        lower.revision = recorded.lowering;
    lower.wrapper = KFI_WRAPPER_PREFIX KFI_NO_DIGEST;
    lower.exact = true;
    lower.edited = edited;
    /* What an older importer made of these bytes is what was written: by a newer one's result it would look edited. */
    const kfi_capsule *capsule = &original->capsule;
    uint32_t revision = capsule->format && capsule->revision < format->revision ? capsule->revision : format->revision;
    original->anim = kfi_import_as(job, format, revision, original->files, original->count);
    bool ok = original->anim && (original->only_read || kfi_fbx_lower(job, original->anim, &lower, &original->written));
    job->options = own;
    job->message_count = messages;
    return ok;
}

/* ---------------------------------------------------------------- from FBX */

const kf_format *kfi_target_format(kf_job *job, const kf_convert_input *input, const kf_format *original)
{
    if (job->options.to) {
        const kf_format *format = kfi_format_find(job->library, job->options.to);
        if (!format)
            kfi_fail(job, KF_UNKNOWN_FORMAT, KF_NO_OFFSET, "there is no format \"%.60s\" (see keyferry formats)",
                     job->options.to);
        return format;
    }
    if (input->output) {
        const kf_format *format = kfi_format_by_extension(job->library, input->output);
        if (format == &kfi_format_fbx)
            return format;
        if (!original && format)
            return format;
    }
    if (!original)
        kfi_fail(job, KF_UNKNOWN_FORMAT, KF_NO_OFFSET,
                 "the FBX does not tell which game format it came from, nor does the output's name: say it with --to");
    return original;
}

/* Frames a second of a file made anew: as told, else the scene's if files can say that, else the format's own. */
static bool choose_rate(kf_job *job, const kf_capabilities *can, double scene, double *rate)
{
    *rate = can->frame_rate;
    for (size_t i = 0; i < sizeof can->rates / sizeof *can->rates && can->rates[i] > 0; i++)
        if (nearbyint(scene) == can->rates[i])
            *rate = can->rates[i];
    if (job->options.frame_rate > 0)
        *rate = job->options.frame_rate;
    return *rate == nearbyint(scene) || *rate == job->options.frame_rate ||
           kfi_note(job, "rate", "the scene has %g frames a second, the file gets %g (--fps chooses another rate)", scene,
                    *rate);
}

kfi_merge kfi_merge_of(const kfi_original *original, const kf_anim *edited, const kf_capabilities *can)
{
    return (kfi_merge){
        .original = original->anim,
        .written = &original->written.anim,
        .edited = edited,
        .came = original->came,
        .first_node = original->written.first_node,
        .baked = original->written.baked,
        .shift = original->written.shift,
        .capabilities = can,
        .strange = !original->capsule.options,
    };
}

/* A format of keys whose angles have the same order in all nodes: the original's, else the one that was asked for. Others read
 * frames or orientations, in whatever order. */
static bool turn_new_nodes(kf_job *job, const kfi_original *original, const kf_capabilities *can, kf_anim *merged)
{
    kf_rotation_order order = KF_XYZ;
    if (can->frame_rate > 0 || can->quaternion || !(can->channels >> KF_ROTATION & 1))
        return true;
    if (original && original->anim->node_count)
        order = (kf_rotation_order)original->anim->nodes[0].order;
    else
        kfi_order_from_name(job->options.rotation_order, &order);
    return kfi_turn_new_nodes(job, merged, order, job->options.tolerance);
}

bool kfi_export_edited(kf_job *job, const kf_format *format, const kf_anim *edited, kfi_original *original,
                       const char *output, kfi_merge_report *report)
{
    const kf_capabilities *can = &format->capabilities;
    kf_anim merged, conformed;
    double rate = can->frame_rate;
    memset(report, 0, sizeof *report);
    job->unnamed = false;
    job->name_room = 0;
    if (original) {
        kfi_small_bends bends = {0};
        kfi_merge merge = kfi_merge_of(original, edited, can);
        merge.drop_missing = job->options.drop_missing;
        merge.drop_later = original->drop_later;
        merge.tolerance = job->options.tolerance;
        merge.bends = &bends;
        if (!kfi_merge_run(job, &merge, &merged, report) || !kfi_tell_small_bends(job, &merge))
            return false;
        rate = original->anim->frame_rate;
    } else {
        if (!kfi_merge_fresh(job, edited, can, &merged))
            return false;
        if (can->frame_rate > 0 && !choose_rate(job, can, edited->frame_rate, &rate))
            return false;
    }
    const kfi_conformed *each;
    return turn_new_nodes(job, original, can, &merged) && kfi_conform(job, &merged, can, rate, job->options.tolerance, &conformed, &each) &&
           kfi_export(job, format, &conformed, original ? original->anim : NULL, original ? original->files : NULL,
                      original ? original->count : 0, output) &&
           (!original || kfi_prove_edits(job, format, original, &merged, report)) &&
           (can->frame_rate > 0 || kfi_prove(job, format, &merged, each));
}

/* ---------------------------------------------------------------- how it was written, where nothing tells */

typedef struct looks {
    bool tcb;      /* there are TCB keys */
    bool straight; /* there is nothing but lines */
    bool dense;    /* some curve has a key on nearly every frame */
} looks;

static void look_at(const kf_curve *curve, double frame, looks *seen)
{
    enum { LEAST = 8 };
    size_t close = 0;
    seen->tcb = seen->tcb || curve->tcb;
    for (size_t i = 0; seen->straight && i < curve->count; i++) { /* density counts among lines only */
        const kf_key *key = &curve->keys[i];
        seen->straight = key->interp == KF_LINEAR;
        close += i > 0 && fabs(key->time - key[-1].time - frame) < 0.01 * frame;
    }
    seen->dense = seen->dense || (curve->count >= LEAST && 2 * close > curve->count);
}

/* With --base, and neither capsule nor sidecar, nor options that say it: whether the FBX looks baked, or TCB told by
 * slopes. Where there was no TCB the latter is no difference. */
bool kfi_guess_options(kf_job *job, const kf_anim *edited)
{
    kf_options *options = &job->options;
    looks seen = {.straight = true};
    if (options->program != KF_FOR_ANY || options->tcb != KF_TCB_DEFAULT || options->bake)
        return true;
    for (size_t t = 0; t < edited->take_count; t++)
        for (size_t i = 0; i < edited->takes[t].track_count; i++) {
            const kf_track *track = &edited->takes[t].tracks[i];
            for (unsigned c = 0; track->curves == 3 && c < 3; c++)
                look_at(&track->curve[c], 1.0 / edited->frame_rate, &seen);
        }
    if (seen.straight && seen.dense) {
        options->program = KF_FOR_BLENDER;
        options->bake_rate = edited->frame_rate; /* its keys are that far apart */
        return kfi_note(job, "options", "nothing tells how the FBX was written: it looks as by --for blender --bake=%g",
                        options->bake_rate);
    }
    if (!seen.tcb)
        options->tcb = KF_TCB_SLOPES;
    return true;
}

/* That nothing is there to merge into; worth a warning if there has been something. */
static bool tell_fresh(kf_job *job, const kf_format *of_original, const kfi_original *original)
{
    static const char anew[] = "the whole file is made anew";
    if (of_original)
        return kfi_note(job, "fresh", "the original is of another format: %s", anew);
    if (!original->missed)
        return kfi_note(job, "fresh", "there is no original (no capsule, no sidecar, no --base): %s", anew);
    const char *beside = original->stranger ? kfi_report_text(job, ", and %.100s belongs to another one", original->stranger) : "";
    return beside && kfi_warn(job, "fresh", "the FBX came from an original that is not here (%s)%s: %s; give the original with --base "
                                            "FILE, or the .kf file that was made with the FBX", original->missed, beside, anew);
}

/* An output of one name has room for what the original is, but not for takes that would be files of their own. */
static bool keep_one(kf_job *job, const kfi_original *original)
{
    if (job->emitted_count < 2 || original->count != 1 || strcmp(job->emitted[0].name, original->files[0].name) != 0)
        return true;
    for (size_t i = 1; i < job->emitted_count; i++)
        if (!kfi_warn(job, "take-lost", "\"%.100s\", a take that the original has not got, was not written: it is a file of its "
                                        "own, and the output is one file; give a folder for both", job->emitted[i].name))
            return false;
    job->emitted_count = 1;
    return true;
}

/* What came back, with the curves of the file that it is merged into where they were not edited: that file is not the one
 * that the FBX came from. */
static bool take_newer(kf_job *job, const kf_format *format, const kf_anim *edited, const kfi_group *group,
                       kfi_original *original, kf_anim *result)
{
    kfi_original came = {.capsule = original->since, .files = original->since.files, .count = original->since.count};
    kf_anim *written = kfi_alloc(job, 1, sizeof *written);
    if (!written || !kfi_rewrite(job, format, edited, &came))
        return false;
    *written = came.written.anim; /* for later */
    original->came = written;
    kfi_merge from = kfi_merge_of(&came, edited, &format->capabilities);
    kfi_since since = {.job = job,
                       .from = &from,
                       .into = &original->written.anim,
                       .elsewhere = group->base_count ? "--base" : group->before,
                       .file = group->file,
                       .told = group->told,
                       .known = &group->known};
    bool done;
    return kfi_merge_since(&since, result, &done);
}

bool kfi_convert_back(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_group *group,
                      const kf_format **target, kf_summary *summary)
{
    kfi_original original = {.drop_later = group->drop_later};
    const kf_format *of_original;
    if (!kfi_find_original(job, input, edited, group, &original, &of_original, &summary->original))
        return false;
    *target = kfi_target_format(job, input, of_original);
    if (!*target)
        return false;
    if (*target == &kfi_format_fbx)
        return true;
    summary->merged = of_original == *target && (summary->original || group->made);
    if (!summary->merged) {
        summary->original = NULL;
        if (!tell_fresh(job, of_original, &original))
            return false;
    }
    kfi_merge_report report;
    const char *name = kfi_output_name(job, *target, input->output, input->files[0].name);
    kf_options own = job->options;
    bool known = !summary->merged || original.capsule.options || (*target)->capabilities.frame_rate > 0;
    bool done = name && (known || kfi_guess_options(job, edited)) && (!summary->merged || kfi_rewrite(job, *target, edited, &original));
    kf_anim newer;
    bool since = summary->merged && original.since.format && strcmp(original.since.format, (*target)->id) == 0;
    done = done && (!since || take_newer(job, *target, edited, group, &original, &newer));
    job->options = own;
    if (!done || !kfi_export_edited(job, *target, since ? &newer : edited, summary->merged ? &original : NULL, name, &report))
        return false;
    group->rig = original.rig;
    if (summary->merged && ((input->output && !keep_one(job, &original)) ||
                            !kfi_check_added(job, *target, &original, &report)))
        return false;
    return kfi_add_report(job, group, &report, summary);
}
