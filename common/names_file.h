/* Names for the files that an exporter makes of nodes or takes: none leaves its folder, none is there twice. */
#ifndef KFI_NAMES_FILE_H
#define KFI_NAMES_FILE_H

#include "names.h"

typedef struct kfi_file_names {
    kf_job *job;
    const char *extension;
    kfi_map taken; /* each with the number that the next one of that name gets */
} kfi_file_names;

/* The names of the original's files are taken; up to `more` are asked for. */
bool kfi_file_names_init(kfi_file_names *names, const kf_export_job *out, size_t more, const char *extension);
/* `before`, and a name in which what no folder could hold is '_'; a name that is taken gets a number. NULL on failure. */
const char *kfi_file_name(kfi_file_names *names, const char *before, const char *name);

#endif
