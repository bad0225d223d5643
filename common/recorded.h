/* The options that shaped an FBX, as text in its capsule: on the way back the original is written again with them. */
#ifndef KFI_RECORDED_H
#define KFI_RECORDED_H

#include "status.h"

/* What is recorded beside the user's options. */
typedef struct kfi_recorded {
    int32_t take;      /* -1: all */
    bool rig;          /* the last file is one */
    uint32_t lowering; /* the revision that wrote it (fbx/lower.h) */
} kfi_recorded;

/* "program=blender tcb=slopes rate=15 ..."; only what is not the default. `take`: -1 for all takes. */
const char *kfi_recorded_text(kf_job *job, const kf_options *options, int32_t take);
/* Over options whose other fields stay. Unknown words are skipped: they are from a newer version. */
void kfi_recorded_parse(kf_job *job, const char *text, kf_options *options, kfi_recorded *recorded);

#endif
