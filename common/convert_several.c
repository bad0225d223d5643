/* FBX files of one original that were written alike become one before they go back: what each of them edited, key by key. */
#include "convert.h"
#include "format.h"

#include <string.h>

/* What an FBX came from. What there is to say of it is said when it goes back. */
static bool find_came(kf_job *job, const kf_convert_input *input, const kf_anim *fbx, kfi_original *came)
{
    size_t messages = job->message_count;
    *came = (kfi_original){0};
    bool done = kfi_find_came(job, input, fbx, came);
    job->message_count = messages;
    came->files = came->capsule.files;
    came->count = came->capsule.count;
    return done;
}

/* Whether both go back into the same file, and were written with the same options: then they can be held against each other. */
static bool written_alike(kf_job *job, const kf_convert_input *input, const kf_anim *first, const kf_anim *next,
                          const kf_format **format, bool *alike)
{
    kfi_original one, other;
    *alike = false;
    if (!find_came(job, input, first, &one) || !find_came(job, input, next, &other))
        return false;
    const kfi_capsule *a = &one.capsule, *b = &other.capsule;
    if (!a->format || !b->format || strcmp(a->format, b->format) != 0 || a->revision != b->revision || !kfi_capsule_alike(a, b) ||
        strcmp(a->options, b->options) != 0)
        return true;
    *format = kfi_format_find(job->library, b->format);
    if (!*format)
        return true;
    const kf_format *target = kfi_target_format(job, input, *format);
    *alike = target == *format;
    return target != NULL;
}

bool kfi_mix_fbx(kf_job *job, const kf_convert_input *input, const kfi_named_fbx *first, const kfi_named_fbx *next, kf_anim *both,
                 bool *done)
{
    kfi_original came;
    const kf_format *format = NULL;
    kf_job aside = kfi_aside(job); /* most are not, and nothing of it is needed then */
    bool looked = written_alike(&aside, input, first->anim, next->anim, &format, done);
    if (!kfi_aside_end(job, &aside) || !looked)
        return false;
    if (!*done)
        return true;
    if (!find_came(job, input, next->anim, &came) || !kfi_rewrite(job, format, next->anim, &came))
        return false;
    kfi_merge from = kfi_merge_of(&came, next->anim, &format->capabilities);
    kfi_since since = {.job = job, .from = &from, .into = first->anim, .came_back = true, .elsewhere = first->name, .file = next->name};
    return kfi_merge_since(&since, both, done);
}
