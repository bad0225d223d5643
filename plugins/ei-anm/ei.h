/* What the importer of ei-anm leaves for its exporter. */
#ifndef KFI_PLUGIN_EI_H
#define KFI_PLUGIN_EI_H

#include "anim.h"
#include "formats/ei_anm.h"

#define EI_RATE 15.0 /* frames a second, as the game plays them */
#define EI_TAKE "animation"

/* One decoded file for each node of the animation, in order. */
typedef struct ei_native {
    kfi_ei_anm *parts;
    size_t count;
} ei_native;

/* One part on its way back into bytes. */
typedef struct ei_part {
    kf_job *job;
    const kf_anim *anim;
    const kf_take *take;
    const kf_anim *original; /* or NULL */
    const kfi_ei_anm *was;   /* the part's original file, or NULL */
    uint32_t node;           /* of anim */
    const size_t *first;     /* the take's tracks by node: kfi_tracks_by_node */
    const size_t *order;
    double start; /* the time of frame 0 */
    double rate;
} ei_part;

/* Track i of a node; NULL behind the last one. */
const kf_track *kfi_ei_track(const ei_part *part, uint32_t node, size_t i);
/* Its track of a channel, or NULL. */
const kf_track *kfi_ei_find(const ei_part *part, uint32_t node, kf_channel channel);
/* True if the original's bytes stand for the whole track. */
bool kfi_ei_untouched(const kf_track *track);
/* The original's bytes of a key whose value did not change, of `count` records of `size` bytes; or NULL. */
const uint8_t *kfi_ei_kept(const kf_origin *origin, const uint8_t *records, size_t count, size_t size);
/* Tells of keys before frame 0. False: a warning that could not be given. */
bool kfi_ei_warn_before(const ei_part *part, const char *channel, double first);
/* The frame nearest to a time. */
double kfi_ei_frame(const ei_part *part, double time);
/* The time of a frame. */
double kfi_ei_time(const ei_part *part, size_t frame);
/* The keys' index at a frame, or -1. `*cursor` runs along with ascending frames; it starts at 0. */
int64_t kfi_ei_key_at(const ei_part *part, const kf_curve *curve, size_t frame, size_t *cursor);
/* A number as the file holds it. False: a warning that could not be given. */
bool kfi_ei_store(const ei_part *part, uint8_t *at, double value, double time);
/* How many frames the last key asks for. False: too many for any file. */
bool kfi_ei_frames(const ei_part *part, double last, uint32_t *frames);

/* Rotations of a part into anm (export_rotation.c). */
bool kfi_ei_export_rotations(const ei_part *part, kfi_ei_anm *anm);
/* Morph frames of a part into anm: the shapes' offsets, blended by their weights where those are no longer
 * the importer's (export_morph.c). */
bool kfi_ei_export_morphs(const ei_part *part, kfi_ei_anm *anm);

bool kfi_ei_import(kf_import_job *in, kf_anim *anim);
bool kfi_ei_export(kf_export_job *out);
bool kfi_ei_check(kf_import_job *in);

/* The three floats at `bytes` as the importer gives them: what is no finite number is 0. */
void kfi_ei_offset(const uint8_t *bytes, double offset[3]);

#endif
