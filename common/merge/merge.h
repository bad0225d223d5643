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
#include "names.h"

/* Bends between the frames of a format with a value a frame that are beyond what is tolerated, but so little that a program's smooth
 * slopes make them, or made by what nobody edited beside a frame that was: told once for all tracks. */
typedef struct kfi_small_bends {
    size_t tracks;
    double worst, off, at; /* the worst as a part of what is tolerated; how much that is, and when */
    const char *take, *node, *channel, *name; /* the last may be NULL */
    bool large; /* it is more than such slopes make */
} kfi_small_bends;

typedef struct kfi_merge {
    const kf_anim *original;
    const kf_anim *written;
    const kf_anim *edited;
    const kf_anim *came;    /* as `written`, what the FBX came from, if that is not the original; else NULL */
    uint32_t first_node;    /* written node of original node 0 */
    bool baked;             /* written as a linear key a frame */
    const double *shift;    /* for each written take, what was added to its times */
    const kf_capabilities *capabilities;
    bool strange;           /* nothing tells what the original's files were called when the FBX was made */
    bool drop_missing;
    bool drop_later;        /* with it: tracks that did not come back are told of, and stay for now */
    double tolerance;       /* of the user; 0: defaults */
    kfi_small_bends *bends; /* what is gathered, or NULL */
} kfi_merge;

typedef struct kfi_stretch {
    double from, to;
} kfi_stretch;

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
    const kf_track *original, *written; /* what it was, in the file and in the FBX */
    kf_rotation_order was_order;
    double shift;            /* times of `written` - the original's */
    double trip, relative;   /* what its values may be off that nobody edited, and of their size */
    double trip_time;        /* and its times */
    kfi_stretch *except;     /* on the original's axis, ascending: a number of tcb_tracks.h was edited there, so that the game plays
                              * another motion than the FBX's curves show */
    size_t except_count;
    size_t change;           /* which of the changes tells of it */
} kfi_wanted;

/* A track that was not written. */
typedef struct kfi_addition {
    const char *take, *node, *name;
    size_t take_index, takes; /* the take's place among all of them */
    uint8_t channel;
    size_t change; /* which of the changes tells of it */
} kfi_addition;

typedef enum kfi_what {
    KFI_WHAT_CHANGED,
    KFI_WHAT_ADDED,
    KFI_WHAT_KEPT, /* it did not come back */
    KFI_WHAT_DROPPED,
    KFI_WHAT_RENAMED,
    KFI_WHAT_SAME /* it came back, and nobody edited it, or the file has no room for what was: it has no sentence */
} kfi_what;

/* What became of a track, of a node's shapes or of a take's name. */
typedef struct kfi_change {
    kfi_what what;
    const char *of;     /* which it is: the same text in every report of the same file */
    const char *take;   /* of a track, or which got another name; else NULL */
    const char *now;    /* that name, else NULL */
    const char *detail; /* of `text` the end, may be empty */
    const char *text;   /* a sentence */
} kfi_change;

typedef struct kfi_merge_report {
    size_t tracks, changed, added, kept, dropped;
    kfi_change *changes; /* one for each track; its TCB numbers have their own */
    size_t change_count;
    kfi_wanted *wanted;
    size_t wanted_count;
    kfi_addition *additions; /* `added` of them */
} kfi_merge_report;

/* `merged` has the original's nodes, takes and tracks in their order, new ones behind them. */
bool kfi_merge_run(kf_job *job, const kfi_merge *input, kf_anim *merged, kfi_merge_report *report);

/* kfi_change.of of a track; `node` and `take`: as written. NULL on failure. */
const char *kfi_track_text(kf_job *job, const char *node, const char *take, const kf_track *track);
const char *kfi_renamed_text(kf_job *job, const char *was, const char *now);

/* What FBX files changed on a track. */
typedef struct kfi_told {
    kfi_change change;
    const char *files; /* their names */
    bool several;      /* the sentence has them */
    size_t last;       /* how many FBX files there were with the last that told of it */
} kfi_told;

/* Tells of them, once all is merged: a note, for mostly nobody drew them. */
bool kfi_tell_small_bends(kf_job *job, const kfi_merge *input);

/* An FBX on its way into another file than it came from. */
typedef struct kfi_since {
    kf_job *job;
    const kfi_merge *from; /* as if it were to go back where it came from */
    const kf_anim *into;   /* the other file, written as it was */
    bool came_back;        /* or another FBX, written as this one was, as it came back */
    const char *elsewhere, *file; /* what that is called in a warning, and the FBX's name */
    const kfi_told *told;  /* by FBX files before it */
    const kfi_map *known;  /* where in that a track is */
} kfi_since;

/* What came back, but as the other file has it where it was not edited, key by key. Not *done, with another FBX only: one of the
 * two has tracks that the other has not. */
bool kfi_merge_since(kfi_since *s, kf_anim *edited, bool *done);

/* What an FBX has become when there is no original: all of it new, without its wrapper node. */
bool kfi_merge_fresh(kf_job *job, const kf_anim *edited, const kf_capabilities *can, kf_anim *fresh);

/* The wrapper node's index, or -1: known by its name, whose digest goes to `digest` (9 bytes), else by its capsule, and
 * `digest` is "". */
int32_t kfi_find_wrapper(const kf_anim *edited, char digest[9]);

#endif
