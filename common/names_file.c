#include "names_file.h"

#include <string.h>

bool kfi_file_names_init(kfi_file_names *names, const kf_export_job *out, size_t more, const char *extension)
{
    *names = (kfi_file_names){.job = out->job, .extension = extension};
    if (more > SIZE_MAX / 4 - out->count || !kfi_map_init(&names->taken, out->job, out->count + more))
        return false;
    for (size_t i = 0; i < out->count; i++)
        kfi_map_set(&names->taken, out->files[i].name, 2);
    return true;
}

const char *kfi_file_name(kfi_file_names *names, const char *before, const char *name)
{
    char *stem = kfi_format_text(names->job, "%s%s", before, name);
    for (char *p = stem ? stem + strlen(before) : NULL; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f || strchr("/\\:*?\"<>|", *p) || (p == stem && *p == '.'))
            *p = '_';
    const char *plain = stem ? kfi_format_text(names->job, "%s.%s", stem, names->extension) : NULL, *own = plain;
    if (!plain)
        return NULL;
    int64_t number = kfi_map_get(&names->taken, plain, strlen(plain));
    while (own && kfi_map_get(&names->taken, own, strlen(own)) >= 0)
        own = kfi_format_text(names->job, "%s_%lld.%s", stem, (long long)number++, names->extension);
    if (own != plain)
        kfi_map_set(&names->taken, plain, (uint32_t)number);
    if (own)
        kfi_map_set(&names->taken, own, 2);
    return own;
}
