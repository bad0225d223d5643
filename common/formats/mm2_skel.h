/* Midtown Madness 2 skeletons: text that names a clip's bones, nests them and tells their offsets.
 *
 *   NumBones 2
 *   bone root {
 *       offset 0 0.9 0
 *       bone spine {
 *           offset 0 0.25 0
 *       }
 *   }
 *
 * Words with any white space between them. A clip's angles come in the order of the bones here. */
#ifndef KFI_MM2_SKEL_H
#define KFI_MM2_SKEL_H

#include "status.h"

enum { KFI_MM2_SKEL_DEPTH = 128 }; /* bones within bones */

typedef struct kfi_mm2_bone {
    const char *name;
    int32_t parent; /* an earlier bone, or -1 */
    double offset[3];
} kfi_mm2_bone;

typedef struct kfi_mm2_skel {
    kfi_mm2_bone *bones;
    size_t count;
} kfi_mm2_skel;

bool kfi_mm2_skel_parse(kf_job *job, const void *data, size_t size, kfi_mm2_skel *skel);

#endif
