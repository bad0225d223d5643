/* The registry of formats, and what every public function of the library begins and ends with. */
#ifndef KFI_FORMAT_H
#define KFI_FORMAT_H

#include "anim.h"

typedef struct kfi_loaded {
    void *module;     /* the operating system's handle */
    const char *path; /* of the file */
    const kf_format *format;
} kfi_loaded;

struct kf_library {
    kf_job job; /* its memory and messages */
    const kf_format **formats;
    size_t format_count;
    kfi_loaded *loaded;
    size_t loaded_count;
};

/* FBX as a format like the others, for reading; it stands in no list and its export_ is NULL. */
extern const kf_format kfi_format_fbx;

/* What plugins call. */
extern const kf_host kfi_host;

/* By id, "fbx" included; NULL if there is none. */
const kf_format *kfi_format_find(const kf_library *library, const char *id);
/* True if the name ends in one of the format's extensions, in any case. */
bool kfi_format_has_extension(const kf_format *format, const char *name);
/* The one format whose extension the name has, "fbx" included; NULL if none or more than one. */
const kf_format *kfi_format_by_extension(const kf_library *library, const char *name);
/* Which format the files are, which belong together: by content; KF_UNKNOWN_FORMAT or KF_AMBIGUOUS if NULL.
 */
const kf_format *kfi_format_detect(kf_job *job, const kf_file *files, size_t count);
/* options.from if given, else by content. A single file that nothing fits is refused in the words of the reader its
 * extension names, if that refuses it. */
const kf_format *kfi_format_of_input(kf_job *job, const kf_file *files, size_t count);

/* A caller's options, of which it may know fewer or more than we do, over zeroed `known`. False:
 * KF_BAD_ARGUMENT. */
bool kfi_copy_options(const void *given, size_t given_size, void *known, size_t known_size, kf_error *error);

/* Adds a format unless its id is taken or its description is incomplete; then says so. False: no memory. */
bool kfi_register(kf_library *library, const kf_format *format, const char *path, bool *added);
/* Loads every plugin of a list of folders (plugin.c). False only for want of memory. */
bool kfi_load_plugins(kf_library *library, const char *folders, bool must_exist);
void kfi_close_plugins(kf_library *library);

/* A public function's first and last act: forget the error of the call before; hand out that of this one.
 * `leave` returns whether all went well. */
void kfi_enter(kf_job *job);
bool kfi_leave(kf_job *job, kf_error *error);
/* Raises the memory ceiling by what these files allow, unless the caller set one. */
void kfi_allow_input(kf_job *job, const kf_file *files, size_t count);

/* Imports and validates; NULL on failure. The files' data must live as long as the job. */
const kf_anim *kfi_import(kf_job *job, const kf_format *format, const kf_file *files, size_t count);
/* The same as an earlier revision of the importer did it. */
const kf_anim *kfi_import_as(kf_job *job, const kf_format *format, uint32_t revision, const kf_file *files,
                             size_t count);
/* Runs the exporter; the files it makes are then job->emitted, those of earlier exports forgotten.
 * `original`, its `files` and `count` as in kf_export_job. */
bool kfi_export(kf_job *job, const kf_format *format, const kf_anim *anim, const kf_anim *original,
                const kf_file *files, size_t count, const char *output);

/* True if the name can be that of a file in any folder: not empty, no separator, not "." or "..". */
bool kfi_plain_name(const char *name);

#endif
