/* What the parts of lowering share. */
#ifndef KFI_FBX_LOWER_INTERNAL_H
#define KFI_FBX_LOWER_INTERNAL_H

#include "fbx/keys.h"
#include "fbx/lower.h"

/* What FBX cannot hold is counted, and told of once each with the first place. */
typedef struct kfi_loss {
    const char *id, *what;
    size_t count;
    const char *take, *node, *channel;
    double time;
} kfi_loss;

enum {
    KFI_EASE_LOST,
    KFI_TCB_BENT,
    KFI_HANDLE_CLAMPED,
    KFI_HANDLE_OUTSIDE,
    KFI_WEIGHT_ROUNDED,
    KFI_ANGLE_ROUNDED,
    KFI_LOSS_COUNT
};

typedef struct kfi_lowering {
    kf_job *job;
    const kf_anim *from;
    const kfi_lower_options *options;
    kfi_lowered *to;
    double rate;
    const kf_take *take; /* at work */
    const kf_track *track;
    bool *lossy; /* of the track at work */
    size_t changed_names;
    const char *changed_from, *changed_to; /* the first of them */
    kfi_loss losses[KFI_LOSS_COUNT];
    kf_origin *own;       /* each key from the one of its number: all curves share it */
    kfi_fbx_keys packed;  /* used over and over */
    size_t own_room, packed_room; /* keys */
} kfi_lowering;

/* One more of what FBX cannot hold, on the track at work. */
void kfi_note_loss(kfi_lowering *l, int which, double time);

/* lower_curves.c: a scalar curve as FBX keys; its keys are those of `from` itself where none changes. */
bool kfi_lower_curve(kfi_lowering *l, const kf_curve *from, kf_curve *to);
/* Notes angles so large that FBX rounds them. */
void kfi_lower_note_angles(kfi_lowering *l, const kf_curve *curve);

#endif
