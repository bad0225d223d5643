/* How a clip is written: onto an original (export.c) or from nothing (fresh.c, fresh_rig.c). */
#ifndef MM2_EXPORT_H
#define MM2_EXPORT_H

#include "curve_frames.h"
#include "mm2.h"

/* One clip is being written from one take. */
typedef struct mm2_exporter {
    kf_job *job;
    const kf_anim *anim;
    const kf_take *take;
    const kf_anim *original;  /* NULL: none */
    const kfi_mm2_anim *from; /* the original clip; NULL: none */
    ptrdiff_t shift;          /* frame i of the take was frame i + shift of the original */
    kfi_frames frames;
    const int32_t *bone_of;        /* which bone each node is; -1: none */
    kfi_mm2_anim clip;             /* what is written */
    const uint32_t *channel_names; /* the number of each channel of `clip` in names, ascending */
    uint8_t **data;                /* the frames of each channel of `clip` */
} mm2_exporter;

/* Which channel of `clip` has that number in names; SIZE_MAX: none. */
size_t mm2_find_channel(const mm2_exporter *ex, uint32_t number);
/* Fills the frames of `clip` from the take's tracks and emits it. */
bool mm2_write_clip(mm2_exporter *ex, const kf_host *host, const char *name);
/* Without an original. */
bool mm2_export_fresh(kf_export_job *out);
/* fresh_rig.c: the bone that each node is (-1: none) of the skeleton given, of which there are *count. */
bool mm2_rigged_bones(kf_export_job *out, int32_t *bone_of, size_t *count);

#endif
