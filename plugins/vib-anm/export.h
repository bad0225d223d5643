/* How an animation is written: which object is where when (sample.c), and the files (export.c). */
#ifndef VIB_EXPORT_H
#define VIB_EXPORT_H

#include "curve_frames.h"
#include "vib.h"

/* One part of one object, read frame by frame. */
typedef struct vib_source {
    bool given;             /* it has curves, of its own or the original's; else it stands at `rest` */
    const kf_track *before; /* the original's track; NULL: none */
    const kf_curve *curve;  /* three */
    bool whole;             /* the curves are the original's, unchanged */
    double rest[3];
    kfi_walk walk[3];
    int16_t held[3]; /* what was stored last */
    bool holds;      /* something was */
} vib_source;

/* What a frame wants of a part. */
typedef struct vib_wish {
    int16_t stored[3];
    bool clamped;
    bool original_key; /* one of the original's keys stands here */
    bool new_key;      /* a key stands here that the original does not have, or not so */
} vib_wish;

typedef struct vib_object {
    uint32_t node;
    vib_source part[KFI_VIB_PARTS];
    const kf_curve *visible; /* NULL: always */
    kfi_walk visible_walk;
    bool drawn;          /* in some frame */
    size_t hidden;       /* frames without it, which the original draws or has not got */
    size_t keys, edited; /* which the original stores in such frames, and how many of them were edited */
    size_t first, last;  /* of such frames */
} vib_object;

typedef struct vib_exporter {
    kf_job *job;
    const kf_anim *anim;
    const kf_take *take;
    const kf_anim *original; /* NULL: none */
    kf_rotation_order order; /* that of the file */
    kfi_frames frames;
    ptrdiff_t shift;                      /* frame i of the take was frame i + shift of the original */
    vib_object *objects[KFI_VIB_OBJECTS]; /* NULL: none of that number */
} vib_exporter;

/* Finds the nodes that are objects, and their curves. */
bool vib_find_objects(vib_exporter *ex);
bool vib_drawn(const vib_exporter *ex, vib_object *object, size_t frame);
/* Frames must be asked for in ascending order. */
void vib_wish_for(const vib_exporter *ex, vib_source *source, kfi_vib_part part, size_t frame,
                  vib_wish *wish);

#endif
