/* What importer and exporter of Midtown Madness 2 clips share. */
#ifndef MM2_H
#define MM2_H

#include "anim.h"
#include "formats/mm2_anim.h"

#define MM2_DEGREES (180.0 / 3.14159265358979323846) /* of one radian */
#define MM2_DEFAULT_RATE 30.0                        /* files do not say it */

/* kf_anim.native: clip i is take i and file i. Nodes 0..bones-1 are the bones, a clip without bones has node
 * 0 for its translation; one more node carries the channels that move no bones, if there are any. */
typedef struct mm2_native {
    kfi_mm2_anim *clips;
    size_t count;
    size_t bone_nodes;
} mm2_native;

bool mm2_import(kf_import_job *in, kf_anim *anim);
bool mm2_export(kf_export_job *out);

/* "channel1_0003" is float 3 of channel 1, "channel1_type" the property with its type. */
#define MM2_CUSTOM_NAME "channel%lu_%04lu"
#define MM2_TYPE_NAME "channel%lu_type"
/* The numbers of such names; false if it is none. */
bool mm2_custom_name(const char *name, uint32_t *channel, uint32_t *index);
bool mm2_type_name(const char *name, uint32_t *channel);

#endif
