/* The file that an FBX came from: in its capsule, in a sidecar, or given with --base. */
#include "convert.h"
#include "fbx/scene.h"
#include "format.h"
#include "recorded.h"

#include <string.h>

/* Something that may be damaged without harm: says what was wrong as a note and goes on. False: no memory. */
static bool forgive(kf_job *job, const char *what)
{
    if (kfi_out_of_memory(job))
        return false;
    char message[sizeof job->error.message];
    memcpy(message, job->error.message, sizeof message);
    memset(&job->error, 0, sizeof job->error);
    return kfi_warn(job, "capsule", "%s is damaged and was not used: %.300s", what, message);
}

/* The capsule that a wrapper node carries, or NULL. */
static const kf_property *find_packed(const kf_anim *anim, int32_t wrapper)
{
    return wrapper >= 0 ? kfi_property_named(&anim->nodes[wrapper], KFI_CAPSULE_PROPERTY) : NULL;
}

/* With --base it only has to tell how the FBX was written, unless the rig is in it. */
static bool unpack(kf_job *job, bool based, const void *data, size_t size, kfi_capsule *capsule)
{
    if (based && kfi_capsule_peek(job, data, size, capsule)) {
        kf_options ignored = {0};
        kfi_recorded recorded;
        kfi_recorded_parse(job, capsule->options, &ignored, &recorded);
        if (!recorded.rig)
            return true;
    }
    if (job->error.code == KF_BAD_INPUT)
        job->error = (kf_error){.offset = KF_NO_OFFSET};
    if (!kfi_failed(job) && kfi_capsule_unpack(job, data, size, capsule))
        return true;
    *capsule = (kfi_capsule){0}; /* nothing of a damaged one counts */
    return false;
}

/* Whether a capsule is the one that an FBX names; of one that was only looked into, as far as that tells. */
static bool is_named(kf_job *job, const kf_file *packed, const kfi_capsule *capsule, const char *digest)
{
    char found[KFI_DIGEST_SIZE];
    bool whole = true;
    for (size_t i = 0; i < capsule->count; i++)
        whole = whole && capsule->files[i].data;
    if (whole)
        kfi_capsule_digest(capsule, found);
    return digest[0] == '\0' || (!whole && !kfi_capsule_digest_packed(job, packed->data, packed->size, found)) ||
           strcmp(found, digest) == 0;
}

static bool find_capsule(kf_job *job, const kf_anim *edited, const kf_convert_input *input, bool based, kfi_original *original,
                         kf_file *packed, const char **where)
{
    char digest[KFI_DIGEST_SIZE];
    kfi_capsule *capsule = &original->capsule;
    int32_t wrapper = kfi_find_wrapper(edited, digest);
    const kf_property *property = find_packed(edited, wrapper);
    *where = NULL;
    if (property && property->text) {
        const uint8_t *data;
        size_t size;
        if (kfi_base64_decode(job, property->text, property->text_size, &data, &size) && unpack(job, based, data, size, capsule)) {
            *where = "capsule";
            *packed = (kf_file){.data = data, .size = size};
        } else if (!forgive(job, "the capsule in the FBX"))
            return false;
    }
    kf_file sidecar = {0};
    bool named = strcmp(digest, KFI_NO_DIGEST) != 0;
    if (!*where && named && input->find_sidecar && input->find_sidecar(input->user, digest, &sidecar) && sidecar.data) {
        if (!unpack(job, based, sidecar.data, sidecar.size, capsule)) {
            if (!forgive(job, "the sidecar"))
                return false;
        } else if (is_named(job, &sidecar, capsule, digest)) {
            *where = "sidecar";
            *packed = sidecar;
        } else {
            *capsule = (kfi_capsule){0};
            original->stranger = sidecar.name ? kfi_strdup(job, sidecar.name) : "the sidecar";
        }
    }
    if (!*where && named && digest[0])
        original->missed = kfi_strdup(job, digest);
    return !kfi_failed(job);
}

bool kfi_find_came(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_original *came)
{
    const char *where;
    kf_file packed;
    return find_capsule(job, edited, input, false, came, &packed, &where);
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

/* ---------------------------------------------------------------- --base */

/* A sidecar, or an FBX with a capsule, is as good as the files in it. */
bool kfi_open_base(kf_job *job, const kf_convert_input *input, kfi_group *group)
{
    *group = (kfi_group){.job = job, .base = input->base, .base_count = input->base_count};
    if (input->base_count != 1)
        return true;
    const uint8_t *data = input->base->data;
    size_t size = input->base->size;
    if (!kfi_capsule_probe(data, size)) {
        if (!kfi_fbx_probe(data, size))
            return true;
        kf_options own = job->options;
        size_t messages = job->message_count;
        char digest[KFI_DIGEST_SIZE];
        job->options.strict = false;
        const kf_anim *anim = kfi_import(job, &kfi_format_fbx, input->base, 1);
        const kf_property *property = anim ? find_packed(anim, kfi_find_wrapper(anim, digest)) : NULL;
        job->options = own;
        job->message_count = messages;
        if (!property || !property->text)
            return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "--base %.100s is an FBX that does not carry its original: give the "
                                                                "game's own file, or the .kf file that was made with the FBX",
                            input->base->name);
        if (!kfi_base64_decode(job, property->text, property->text_size, &data, &size))
            return false;
    }
    job->file = input->base->name;
    if (!kfi_capsule_unpack(job, data, size, &group->carried))
        return false;
    job->file = NULL;
    kf_options ignored = {0};
    kfi_recorded recorded;
    kfi_recorded_parse(job, group->carried.options, &ignored, &recorded);
    group->base = group->carried.files;
    group->base_count = group->carried.count - (recorded.rig && group->carried.count > 1);
    return true;
}

/* Where the FBX does not tell how it was written, what was given as its original may. */
static bool use_carried(const kf_anim *edited, const kfi_group *group, kfi_original *original)
{
    char digest[KFI_DIGEST_SIZE], found[KFI_DIGEST_SIZE];
    if (original->capsule.format || !group->carried.format)
        return false;
    kfi_find_wrapper(edited, digest);
    kfi_capsule_digest(&group->carried, found);
    if (digest[0] == '\0' || strcmp(digest, found) == 0)
        original->capsule = group->carried;
    return true;
}

/* ---------------------------------------------------------------- one for several FBX files */

/* Keeps the original of an FBX for others that have none. */
static bool lend(kfi_group *group, const char *file, const kf_file *packed, const char *where)
{
    if (group->lent.data)
        return true;
    uint8_t *data = kfi_alloc_raw(group->job, packed->size, 1);
    if (!data)
        return false;
    memcpy(data, packed->data, packed->size);
    group->lent = (kf_file){file, data, packed->size};
    group->lent_where = where;
    return true;
}

/* Looks for one in all of them, so that it does not matter which is the first. What there is to say is said when they go back. */
static bool seek(kf_job *job, const kf_convert_input *input, kfi_group *group)
{
    group->sought = true;
    for (size_t i = 0; i < input->count && !group->lent.data; i++) {
        kf_job aside = kfi_aside(job);
        kfi_original came = {0};
        kf_file packed = {0};
        const char *where;
        aside.options.strict = false;
        const kf_anim *fbx = kfi_import(&aside, &kfi_format_fbx, &input->files[i], 1);
        bool done = fbx && find_capsule(&aside, fbx, input, false, &came, &packed, &where) &&
                    (!packed.data || lend(group, input->files[i].name, &packed, where));
        aside.message_count = job->message_count;
        if (!kfi_aside_end(job, &aside) || !done)
            return false;
    }
    return true;
}

/* How an FBX was written that may have come from an original, but not by the way that is recorded with that. */
static const char *guess_record(kf_job *job, const kf_anim *edited, const kfi_capsule *capsule)
{
    kf_options own = job->options;
    kfi_recorded recorded;
    const kf_format *format = kfi_format_find(job->library, capsule->format);
    kfi_recorded_parse(job, capsule->options, &job->options, &recorded);
    job->options.program = own.program;
    job->options.tcb = own.tcb;
    job->options.bake = own.bake;
    job->options.bake_rate = own.bake_rate;
    job->options.rig = (kf_file){.data = recorded.rig ? "" : NULL};
    bool sampled = !format || format->capabilities.frame_rate > 0; /* there it does not matter */
    const char *text = sampled || kfi_guess_options(job, edited) ? kfi_recorded_text(job, &job->options, -1) : NULL;
    job->options = own;
    return text;
}

/* An FBX without an original is taken to have come from that of another one, if there is any. */
static bool borrow(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_group *group, kfi_original *original,
                   kf_file *packed, const char **where)
{
    char digest[KFI_DIGEST_SIZE], found[KFI_DIGEST_SIZE];
    kfi_capsule *capsule = &original->capsule;
    if (!group->lent.data && !group->sought && !seek(job, input, group))
        return false;
    if (!group->lent.data)
        return true;
    if (!kfi_capsule_unpack(job, group->lent.data, group->lent.size, capsule))
        return false;
    *packed = group->lent;
    *where = group->lent_where;
    kfi_find_wrapper(edited, digest);
    kfi_capsule_digest(capsule, found);
    bool named = strcmp(digest, found) == 0;
    if (!named)
        capsule->options = guess_record(job, edited, capsule);
    if (!capsule->options)
        return false;
    if (!named && original->missed)
        return kfi_warn(job, "lent", "%.100s came from an original that is not here (%s): it is taken to have come from that of %.100s; if it "
                                     "has not, convert it by itself, with --base FILE", group->file, original->missed, group->lent.name);
    return kfi_note(job, "lent", "%.100s does not carry its original: it is taken to have come from that of %.100s", group->file,
                    group->lent.name);
}

/* ---------------------------------------------------------------- all of it */

static bool check_revisions(kf_job *job, const kf_format *format, const kfi_capsule *capsule, const kfi_recorded *recorded)
{
    if (format && capsule->revision > format->revision &&
        !kfi_warn(job, "revision", "the FBX was made by a newer version (revision %lu of the importer, here it is %lu): what "
                                   "the two read otherwise looks edited",
                  (unsigned long)capsule->revision, (unsigned long)format->revision))
        return false;
    return recorded->lowering <= KFI_LOWERING_REVISION ||
           kfi_warn(job, "revision", "the FBX was made by a newer version (revision %lu of the scene writer, here it is %d): what "
                                     "the two write otherwise looks edited",
                    (unsigned long)recorded->lowering, KFI_LOWERING_REVISION);
}

static const kf_file *file_named(const kf_file *files, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

/* The files of one side that the other has not got: the first, and how many. */
static size_t count_left(const kf_file *files, size_t count, const kf_file *other, size_t others, size_t *first)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (!file_named(other, others, files[i].name) && left++ == 0)
            *first = i;
    return left;
}

/* Where each file is a node that is called like it, a file given with --base that has another name than the one the FBX came from is
 * that one, if they are the only two left: so it is called as the FBX has it, until all is done. */
static bool call_base(kf_job *job, const kf_format *format, const kf_anim *edited, const kfi_capsule *came, kfi_group *group)
{
    size_t ours = 0, theirs = 0;
    if (!format || !format->capabilities.files_are_nodes || group->made || group->base_as || !came->format ||
        count_left(group->base, group->base_count, came->files, came->count, &ours) != 1 ||
        count_left(came->files, came->count, group->base, group->base_count, &theirs) != 1)
        return true;
    const char *node = kfi_stem(job, group->base[ours].name, "");
    kf_file *base = kfi_alloc(group->job, group->base_count, sizeof *base);
    char *as = kfi_strdup(group->job, came->files[theirs].name);
    if (!node || !base || !as)
        return false;
    for (size_t i = 0; i < edited->node_count; i++)
        if (strcmp(edited->nodes[i].name, node) == 0) /* then that is it */
            return true;
    memcpy(base, group->base, group->base_count * sizeof *base);
    group->base_own = base[ours].name;
    group->base_as = base[ours].name = as;
    group->base = base;
    return kfi_note(job, "part", "--base %.100s is taken for %.100s, which %.100s came from", group->base_own, as, group->file);
}

void kfi_end_base(kf_job *job, const kfi_group *group)
{
    for (size_t i = 0; i < job->emitted_count && group->base_as; i++)
        if (strcmp(job->emitted[i].name, group->base_as) == 0)
            job->emitted[i].name = group->base_own;
}

/* Several FBX files make one file only if they came from one. */
static bool join_group(kf_job *job, kfi_group *group, const kfi_capsule *capsule)
{
    if (!capsule->format || group->base_count)
        return true;
    if (!group->first) {
        group->first = group->file;
        return kfi_capsule_outline(group->job, capsule, &group->of_first);
    }
    return kfi_capsule_alike(&group->of_first, capsule) ||
           kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET,
                    "%.100s and %.100s came from different originals, %.100s and %.100s: several FBX files make one game file only "
                    "if they came from the same; convert them one by one",
                    group->first, group->file, group->of_first.files[0].name, capsule->files[0].name);
}

/* Whether a take is in an FBX that came before: then what was edited there has to be told from what was edited here. */
static bool add_take(kfi_group *group, int32_t take)
{
    group->again = false;
    for (size_t i = 0; i < group->take_count; i++)
        group->again = group->again || take < 0 || group->takes[i] < 0 || take == group->takes[i];
    int32_t *slot = kfi_push(group->job, &group->takes, &group->take_count, sizeof *slot);
    if (slot)
        *slot = take;
    return slot != NULL;
}

bool kfi_find_original(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_group *group, kfi_original *original,
                       const kf_format **format, const char **where)
{
    kf_file packed = {0};
    *format = NULL;
    if (!find_capsule(job, edited, input, group->base_count || group->made, original, &packed, where))
        return false;
    bool alone = group->base_count || input->count == 1;
    if (!alone && !(packed.data ? lend(group, group->file, &packed, *where)
                                : borrow(job, input, edited, group, original, &packed, where)))
        return false;
    if (!join_group(job, group, &original->capsule))
        return false;
    const char *id = use_carried(edited, group, original) ? group->carried.format : original->capsule.format;
    if (id)
        *format = kfi_format_find(job->library, id);
    kf_options ignored = {0};
    kfi_recorded recorded;
    kfi_recorded_parse(job, original->capsule.options ? original->capsule.options : "", &ignored, &recorded);
    if (!check_revisions(job, *format, &original->capsule, &recorded) || !add_take(group, recorded.take))
        return false;
    bool other = group->again;
    kf_file *base = NULL;
    size_t bases = 0;
    if (group->base_count) {
        if (!call_base(job, *format, edited, &original->capsule, group) ||
            !take_base(job, group->base, group->base_count, original))
            return false;
        base = original->files;
        bases = original->count;
        bool differs = packed.data && !kfi_capsule_holds(&original->capsule, original->files, original->count);
        if (differs && !kfi_note(job, "base", "%.100s came from another file than --base %.100s: what was not edited in the FBX stays as "
                                              "--base has it", group->file, input->base->name))
            return false;
        other = other || differs;
    }
    if (group->made && !take_base(job, group->made, group->made_count, original))
        return false;
    if (!group->where)
        group->where = group->base_count ? "base" : *where;
    *where = group->where; /* what an FBX before it made came from there */
    if (group->base_count || group->made) {
        if (other && packed.data && !kfi_capsule_unpack(job, packed.data, packed.size, &original->since)) {
            original->since = (kfi_capsule){0};
            if (!forgive(job, "the original that the FBX came from"))
                return false;
        }
        if (!*format)
            *format = kfi_format_detect(job, original->files, original->count);
        if (*format && other && !packed.data && group->made && base) /* it is taken to have come from --base */
            original->since = (kfi_capsule){.format = (*format)->id, .revision = (*format)->revision, .files = base, .count = bases};
        original->since.options = original->capsule.options;
        return *format != NULL;
    }
    original->files = original->capsule.files;
    original->count = original->capsule.count;
    return *format || !*where ||
           kfi_warn(job, "format", "the original is of format \"%.60s\", which is not here", original->capsule.format);
}
