/* From an animation to what is written into an FBX.
 *
 * Everything that FBX or the program it is for demands is decided here, and only here: names, the wrapper node, Euler
 * curves for quaternions, slopes or native keys for TCB, helper keys for ease, bakes. The same animation and options
 * give the same result, so that on the way back it can be made again and compared with what came back. */
#ifndef KFI_FBX_LOWER_H
#define KFI_FBX_LOWER_H

#include "anim.h"

/* Raised whenever something else is made of the same animation (a test tells: cli.revision). What an earlier revision made
 * has to be made again where `revision` asks for it, or what nobody touched would look edited in the FBX files it wrote. */
enum { KFI_LOWERING_REVISION = 1 };

/* What was asked for, options and program resolved. */
typedef struct kfi_lower_options {
    kf_program program;
    bool as_is;              /* an FBX read before: nothing is renamed, and only a bake changes its curves */
    bool tcb_slopes;         /* explicit slopes instead of TCB keys */
    bool bake;
    double bake_rate;        /* 0: chosen */
    double tolerance;        /* 0: the default */
    int32_t take;            /* only this take; -1: all */
    const char *wrapper;     /* name of the wrapper node; NULL: none */
    const char *capsule;     /* text property of the wrapper; NULL: none */
    size_t capsule_size;
    uint32_t revision;       /* as this one made it */
    bool exact;              /* round every key to what a reader will get back */
    const kf_anim *edited;   /* with exact, what came back: a curve that is the same to the bit shares its keys; or NULL */
} kfi_lower_options;

/* The result. Node i of the animation is node `first_node + i` here; takes and tracks keep their order, and their
 * `source` is the index they had (the take's in the animation); behind a take's tracks come those of tcb_tracks.h. Curves' origins name the animation's keys: helpers
 * (KF_KEY_HELPER) the one whose segment they lie in. */
typedef struct kfi_lowered {
    kf_anim anim;
    uint32_t first_node; /* 1 with a wrapper, else 0 */
    bool baked;
    bool **lossy;        /* for each take of `anim` and its tracks: a warning told of something that FBX cannot hold */
    double *shift;       /* for each take of `anim`: added to every time, so that a bake starts at 0 */
} kfi_lowered;

void kfi_lower_options_from(const kf_options *options, kfi_lower_options *lower);

/* Warnings: "ease-lost", "tcb-bent", "handle-clamped", "handle-outside", "bake-between-frames". */
bool kfi_fbx_lower(kf_job *job, const kf_anim *anim, const kfi_lower_options *options, kfi_lowered *lowered);

#endif
