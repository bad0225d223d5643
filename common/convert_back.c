/* An FBX back into the game's files: the original is found, what changed is merged into it, the exporter writes. */
#include "conform.h"
#include "convert.h"
#include "format.h"
#include "recorded.h"

#include <math.h>
#include <string.h>

/* Something that may be damaged without harm: says what was wrong as a note and goes on. False: no memory. */
static bool forgive(kf_job *job, const char *what)
{
    if (job->error.code == KF_NO_MEMORY || job->error.code == KF_MEMORY_LIMIT)
        return false;
    char message[sizeof job->error.message];
    memcpy(message, job->error.message, sizeof message);
    memset(&job->error, 0, sizeof job->error);
    return kfi_warn(job, "capsule", "%s is damaged and was not used: %.300s", what, message);
}

static const kf_property *find_property(const kf_anim *anim, int32_t node, const char *name)
{
    for (size_t i = 0; node >= 0 && i < anim->nodes[node].property_count; i++)
        if (strcmp(anim->nodes[node].properties[i].name, name) == 0)
            return &anim->nodes[node].properties[i];
    return NULL;
}

/* With --base it only has to tell how the FBX was written, unless the rig is in it. */
static bool unpack(kf_job *job, const kf_convert_input *input, const void *data, size_t size, kfi_capsule *capsule)
{
    if (input->base_count && kfi_capsule_peek(job, data, size, capsule)) {
        kf_options ignored = {0};
        kfi_recorded recorded;
        kfi_recorded_parse(job, capsule->options, &ignored, &recorded);
        if (!recorded.rig)
            return true;
    }
    if (job->error.code == KF_BAD_INPUT)
        job->error = (kf_error){.offset = KF_NO_OFFSET};
    return !kfi_failed(job) && kfi_capsule_unpack(job, data, size, capsule);
}

static bool find_capsule(kf_job *job, const kf_anim *edited, const kf_convert_input *input, kfi_capsule *capsule,
                         const char **where)
{
    char digest[KFI_DIGEST_SIZE];
    int32_t wrapper = kfi_find_wrapper(edited, digest);
    const kf_property *property = find_property(edited, wrapper, KFI_CAPSULE_PROPERTY);
    *where = NULL;
    if (property && property->text) {
        const uint8_t *data;
        size_t size;
        if (kfi_base64_decode(job, property->text, property->text_size, &data, &size) &&
            unpack(job, input, data, size, capsule))
            *where = "capsule";
        else if (!forgive(job, "the capsule in the FBX"))
            return false;
    }
    kf_file sidecar = {0};
    bool named = strcmp(digest, KFI_NO_DIGEST) != 0;
    if (!*where && named && input->find_sidecar && input->find_sidecar(input->user, digest, &sidecar) && sidecar.data) {
        if (unpack(job, input, sidecar.data, sidecar.size, capsule))
            *where = "sidecar";
        else if (!forgive(job, "the sidecar"))
            return false;
    }
    return true;
}

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
        o->rig = original->files[--original->count];
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
    bool ok = original->anim && kfi_fbx_lower(job, original->anim, &lower, &original->written);
    job->options = own;
    job->message_count = messages;
    return ok;
}

/* ---------------------------------------------------------------- from FBX */

static const kf_format *target_format(kf_job *job, const kf_convert_input *input, const kf_format *original)
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

bool kfi_export_edited(kf_job *job, const kf_format *format, const kf_anim *edited, kfi_original *original,
                       const char *output, kfi_merge_report *report)
{
    const kf_capabilities *can = &format->capabilities;
    kf_anim merged, conformed;
    double rate = can->frame_rate;
    memset(report, 0, sizeof *report);
    if (original) {
        kfi_merge merge = {
            .original = original->anim,
            .written = &original->written.anim,
            .edited = edited,
            .first_node = original->written.first_node,
            .baked = original->written.baked,
            .shift = original->written.shift,
            .capabilities = can,
            .drop_missing = job->options.drop_missing,
            .tolerance = job->options.tolerance,
        };
        if (!kfi_merge_run(job, &merge, &merged, report))
            return false;
        rate = original->anim->frame_rate;
    } else {
        if (!kfi_merge_fresh(job, edited, &merged))
            return false;
        if (can->frame_rate > 0 && !choose_rate(job, can, edited->frame_rate, &rate))
            return false;
    }
    const kfi_conformed *each;
    return kfi_conform(job, &merged, can, rate, job->options.tolerance, &conformed, &each) &&
           kfi_export(job, format, &conformed, original ? original->anim : NULL, original ? original->files : NULL,
                      original ? original->count : 0, output) &&
           (original ? kfi_prove_edits(job, format, original, &merged, report)
                     : can->frame_rate > 0 || kfi_prove(job, format, &merged, each));
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
static bool guess_options(kf_job *job, const kf_anim *edited)
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
        return kfi_note(job, "options", "nothing tells how the FBX was written: it looks as by --for blender");
    }
    if (!seen.tcb)
        options->tcb = KF_TCB_SLOPES;
    return true;
}

/* The files given with --base, or those an earlier FBX of the same original made, and the capsule's rig behind them. */
static bool take_base(kf_job *job, const kf_file *base, size_t count, kfi_original *original)
{
    kfi_recorded recorded;
    kf_options ignored = {0};
    const kfi_capsule *capsule = &original->capsule;
    kfi_recorded_parse(job, capsule->options ? capsule->options : "", &ignored, &recorded);
    bool rig = recorded.rig && capsule->count > 0;
    original->files = kfi_alloc(job, count + 1, sizeof *original->files);
    if (!original->files)
        return false;
    memcpy(original->files, base, count * sizeof *base);
    if (rig)
        original->files[count] = capsule->files[capsule->count - 1];
    original->count = count + rig;
    return true;
}

/* The file an FBX came from, and its format (NULL: none). *where becomes "base", "capsule", "sidecar" or NULL. */
static bool find_original(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_original *original,
                          const kf_format **format, const char **where)
{
    *format = NULL;
    if (!find_capsule(job, edited, input, &original->capsule, where))
        return false;
    if (original->capsule.format)
        *format = kfi_format_find(job->library, original->capsule.format);
    kf_options ignored = {0};
    kfi_recorded recorded;
    kfi_recorded_parse(job, original->capsule.options ? original->capsule.options : "", &ignored, &recorded);
    if (*format && original->capsule.revision > (*format)->revision &&
        !kfi_warn(job, "revision", "the FBX was made by a newer version (revision %lu of the importer, here it is %lu): what "
                                   "the two read otherwise looks edited",
                  (unsigned long)original->capsule.revision, (unsigned long)(*format)->revision))
        return false;
    if (recorded.lowering > KFI_LOWERING_REVISION &&
        !kfi_warn(job, "revision", "the FBX was made by a newer version (revision %lu of the scene writer, here it is %d): what "
                                   "the two write otherwise looks edited",
                  (unsigned long)recorded.lowering, KFI_LOWERING_REVISION))
        return false;
    if (input->base_count) {
        if (!take_base(job, input->base, input->base_count, original))
            return false;
        *where = "base";
        if (!*format)
            *format = kfi_format_detect(job, input->base, input->base_count);
        return *format != NULL;
    }
    original->files = original->capsule.files;
    original->count = original->capsule.count;
    return *format || !*where ||
           kfi_warn(job, "format", "the original is of format \"%.60s\", which is not here", original->capsule.format);
}

/* Behind what was told of the FBX files before it. */
static bool add_report(kf_job *job, kf_summary *summary, const kfi_merge_report *report)
{
    const char **changes = kfi_alloc(job, summary->change_count + report->change_count, sizeof *changes);
    if (!changes)
        return false;
    for (size_t i = 0; i < summary->change_count; i++)
        changes[i] = summary->changes[i];
    for (size_t i = 0; i < report->change_count; i++)
        changes[summary->change_count + i] = report->changes[i];
    summary->tracks += report->tracks;
    summary->changed += report->changed;
    summary->added += report->added;
    summary->kept += report->kept;
    summary->dropped += report->dropped;
    summary->changes = changes;
    summary->change_count += report->change_count;
    return true;
}

bool kfi_convert_back(kf_job *job, const kf_convert_input *input, const kf_anim *edited, const kf_format **target,
                      kf_summary *summary)
{
    kfi_original original = {0};
    const kf_format *of_original;
    if (!find_original(job, input, edited, &original, &of_original, &summary->original))
        return false;
    *target = target_format(job, input, of_original);
    if (!*target)
        return false;
    if (*target == &kfi_format_fbx)
        return true;
    summary->merged = of_original == *target && summary->original;
    if (!summary->merged) {
        summary->original = NULL;
        const char *why = of_original ? "the original is of another format"
                                      : "there is no original (no capsule, no sidecar, no --base)";
        if (!kfi_note(job, "fresh", "%s: the whole file is made anew", why))
            return false;
    }
    kfi_merge_report report;
    const char *name = kfi_output_name(job, *target, input->output, input->files[0].name);
    kf_options own = job->options;
    bool known = !summary->merged || original.capsule.options || (*target)->capabilities.frame_rate > 0;
    bool rewritten = name && (known || guess_options(job, edited)) && (!summary->merged || kfi_rewrite(job, *target, edited, &original));
    job->options = own;
    if (!rewritten ||
        !kfi_export_edited(job, *target, edited, summary->merged ? &original : NULL, name, &report))
        return false;
    return add_report(job, summary, &report);
}
