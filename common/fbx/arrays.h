/* Packing of FBX arrays: one zlib stream for all of them, and a memory of what was packed lately, since the
 * key times and flags of one curve are those of many. */
#ifndef KFI_FBX_ARRAYS_H
#define KFI_FBX_ARRAYS_H

#include "status.h"

typedef struct kfi_packer kfi_packer;

/* Takes all the memory it will ever need (about 1.5 MiB) from the job. NULL on failure. */
kfi_packer *kfi_packer_new(kf_job *job);

#endif
