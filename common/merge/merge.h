/* An edited FBX and the file it came from become the edited file: what did not change keeps its origin, so that the
 * exporter can keep its bytes.
 *
 *   original   what the importer makes of the original file
 *   written    what was made of that for the FBX, rounded as FBX rounds (see fbx/lower.h)
 *   edited     what came back
 *
 * `edited` is compared with `written`, never with the original: FBX rounds, and rounding is no edit. */
#ifndef KFI_MERGE_H
#define KFI_MERGE_H

#include "anim.h"

typedef struct kfi_merge {
    const kf_anim *original;
    const kf_anim *written;
    const kf_anim *edited;
    uint32_t first_node;    /* written node of original node 0 */
    bool baked;             /* written as a linear key a frame */
    const double *shift;    /* for each written take, what was added to its times */
    const kf_capabilities *capabilities;
    bool drop_missing;
    double tolerance;       /* of the user; 0: defaults */
} kfi_merge;

/* A track that was edited, and what came back of it. */
typedef struct kfi_wanted {
    size_t take; /* of the merged animation, and so is the node */
    uint32_t node;
    uint8_t channel;
    bool samples;     /* what lies between the keys of what came back says nothing */
    const char *name; /* of a custom channel or shape, else NULL */
    const kf_track *back;
    kf_rotation_order order; /* of its angles */
    double offset;           /* its times - the original's */
    double trip, relative;   /* what its values may be off that nobody edited, and of their size */
} kfi_wanted;

/* A track that was not written. */
typedef struct kfi_addition {
    const char *take, *node, *name;
    size_t take_index, takes; /* the take's place among all of them */
    uint8_t channel;
    size_t change; /* which of the changes tells of it */
} kfi_addition;

typedef struct kfi_merge_report {
    size_t tracks, changed, added, kept, dropped;
    const char **changes; /* a sentence for each track that changed, was added, kept or dropped */
    size_t change_count;
    kfi_wanted *wanted;
    size_t wanted_count;
    kfi_addition *additions; /* `added` of them */
} kfi_merge_report;

/* `merged` has the original's nodes, takes and tracks in their order, new ones behind them. */
bool kfi_merge_run(kf_job *job, const kfi_merge *input, kf_anim *merged, kfi_merge_report *report);

/* An FBX on its way into another file than it came from. */
typedef struct kfi_since {
    kf_job *job;
    const kfi_merge *from; /* as if it were to go back where it came from */
    const kf_anim *into;   /* the other file, written as it was */
    const char *elsewhere, *file; /* what that is called in a warning, and the FBX's name */
    size_t conflicts;      /* tracks that were edited both there and here */
} kfi_since;

/* What came back, but with the curves of the other file where they were not edited. */
bool kfi_merge_since(kfi_since *s, kf_anim *edited);

/* What an FBX has become when there is no original: all of it new, without its wrapper node. */
bool kfi_merge_fresh(kf_job *job, const kf_anim *edited, kf_anim *fresh);

/* The wrapper node's index, or -1: known by its name, whose digest goes to `digest` (9 bytes), else by its capsule, and
 * `digest` is "". */
int32_t kfi_find_wrapper(const kf_anim *edited, char digest[9]);

#endif
