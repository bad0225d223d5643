/* FBX files of one original that were written alike become one before they go back: what each of them edited, key by key. */
#include "convert.h"
#include "format.h"

#include <string.h>

/* Whether both go back into the same file, and were written with the same options: then they can be held against each other. */
static bool written_alike(kf_job *job, const kf_convert_input *input, const kf_anim *first, const kf_anim *next, kfi_original *came,
                          const kf_format **format, bool *alike)
{
    kfi_original other = {0};
    size_t messages = job->message_count; /* they are given once more when it goes back */
    *alike = false;
    if (!kfi_find_came(job, input, first, &other) || !kfi_find_came(job, input, next, came))
        return false;
    job->message_count = messages;
    const kfi_capsule *a = &other.capsule, *b = &came->capsule;
    if (!a->format || !b->format || strcmp(a->format, b->format) != 0 || a->revision != b->revision || !kfi_capsule_alike(a, b) ||
        strcmp(a->options, b->options) != 0)
        return true;
    *format = kfi_format_find(job->library, b->format);
    if (!*format)
        return true;
    const kf_format *target = kfi_target_format(job, input, *format);
    *alike = target == *format;
    came->files = b->files;
    came->count = b->count;
    return target != NULL;
}

bool kfi_mix_fbx(kf_job *job, const kf_convert_input *input, const kfi_named_fbx *first, const kfi_named_fbx *next, kf_anim *both,
                 bool *done)
{
    kfi_original came = {0};
    const kf_format *format = NULL;
    if (!written_alike(job, input, first->anim, next->anim, &came, &format, done) || !*done)
        return !kfi_failed(job);
    if (!kfi_rewrite(job, format, next->anim, &came))
        return false;
    kfi_merge from = kfi_merge_of(&came, next->anim, &format->capabilities);
    kfi_since since = {.job = job, .from = &from, .into = first->anim, .came_back = true, .elsewhere = first->name, .file = next->name};
    return kfi_merge_since(&since, both, done);
}
