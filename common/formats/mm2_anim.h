/* Midtown Madness 2 clips: bytes to structs and back, every byte kept.
 *
 *   u32 channels          0 in retail files, where exactly one follows
 *   u32 frames
 *   for each channel:
 *     u32 floats a frame
 *     f32 unknown         follows the distance travelled in one loop
 *     u8  type            1: root translation, then three angles in radians for each bone
 *     f32 [frames][floats]
 *
 * Older files:
 *   u32 frames, u32 bones, f32 unknown, u8 type, f32 [frames][3 * bones + 3]
 *
 * Only the exact size tells the two apart. All little endian. */
#ifndef KFI_MM2_ANIM_H
#define KFI_MM2_ANIM_H

#include "reader.h"
#include "writer.h"

enum { KFI_MM2_MOTION = 1 };

typedef struct kfi_mm2_channel {
    uint32_t floats;  /* a frame */
    uint32_t unknown; /* a float's bits */
    uint8_t type;
    const uint8_t *frames; /* the floats, where they stand in the file */
    size_t offset;         /* of "floats a frame" ("bones" in older files) in the file it came from */
} kfi_mm2_channel;

typedef struct kfi_mm2_anim {
    bool old;              /* the older layout; it has one channel */
    uint32_t stored_count; /* of channels, as the file has it: 0 stands for 1 */
    uint32_t frame_count;
    kfi_mm2_channel *channels;
    size_t channel_count;
} kfi_mm2_anim;

/* How surely the bytes are a clip: 0 (not at all) to 100. */
int kfi_mm2_probe(const uint8_t *data, size_t size);

/* The result points into `data`. */
bool kfi_mm2_decode(kf_job *job, const uint8_t *data, size_t size, kfi_mm2_anim *anim);
bool kfi_mm2_encode(kfi_writer *out, const kfi_mm2_anim *anim);
/* Whether bytes of the older layout are known as such: its header has nothing of its own. */
bool kfi_mm2_reads_as_old(const uint8_t *data, size_t size);

/* The channel that moves bones: the first of type 1 that has whole triples. NULL if there is none. */
const kfi_mm2_channel *kfi_mm2_motion(const kfi_mm2_anim *anim);

#endif
