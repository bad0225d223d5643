/* What the importer of nytro-anim leaves for its exporter, and the exporter's own steps. */
#ifndef KFI_PLUGIN_NYTRO_H
#define KFI_PLUGIN_NYTRO_H

#include "rotation.h"
#include "formats/nytro_anim.h"

typedef struct nytro_native {
    kfi_nytro file;
} nytro_native;

bool kfi_nytro_import(kf_import_job *in, kf_anim *anim);
bool kfi_nytro_export(kf_export_job *out);
bool kfi_nytro_check(kf_import_job *in);

/* Which kf_channel and which native one belong together. */
static inline kf_channel kfi_nytro_neutral(unsigned channel)
{
    return channel == KFI_NYTRO_TRANSLATION ? KF_TRANSLATION
           : channel == KFI_NYTRO_ROTATION  ? KF_ROTATION
                                            : KF_SCALE;
}

/* What a node's flags mean for its keys: KFI_NYTRO_TCB, _BEZIER or _LINEAR. */
uint32_t kfi_nytro_kind(uint32_t node_flags);
/* The five numbers of a TCB record, non-finite ones as 0. */
kf_tcb kfi_nytro_tcb(const uint8_t *record);
/* The tangents that the engine gives BEZIER keys, as handles on all keys of the curve. */
void kfi_nytro_derive_handles(kf_curve *curve);
/* A rotation as angle and axis into a quaternion, and the turns beyond it. */
void kfi_nytro_quat(double degrees, const double axis[3], double q[4], int32_t *turns);

/* ---------------------------------------------------------------- the exporter's steps */

/* A key on its way into a record: all components together. There may be many, so that each byte counts. */
typedef struct nytro_key {
    double time;
    double value[4]; /* x, y, z; or the quaternion */
    int64_t origin;  /* the original's key, or -1 */
    int64_t index;   /* of the same key in each of the track's curves, or -1 */
    kf_tcb tcb;
    int32_t turns;
    uint8_t changed[3]; /* KF_CHANGED_... for x, y, z; rotations use the first */
    uint8_t interp;
    uint8_t numbers_of; /* the component that T, C and B were taken from */
    bool split : 1;     /* a key is wanted in the middle of the segment after it */
    bool mixed : 1;     /* x, y and z want different T, C and B here */
    bool drawn : 1;     /* the segment after it is TCB, but not on every component */
    bool solved : 1;    /* its T, C and B are ours (export_solve.c) */
    bool settled : 1;   /* it plays as it did when last looked at: the keys beside it are the same */
    bool followed : 1;  /* the segment after it was within tolerance then */
    bool needed : 1;    /* it was put in, and cannot go as long as the keys beside it stay */
} nytro_key;

/* One channel of a node: its keys, and the motion that they have to follow. */
typedef struct nytro_channel {
    unsigned channel;      /* kfi_nytro_channel */
    const kf_track *track; /* NULL: there is none */
    kf_quat_curve quat;    /* of rotations */
    bool raw;              /* untouched: the original's records stand */
    nytro_key *keys;
    kfi_arena room; /* where a trial's keys are; else empty */
    size_t count;
    size_t added;           /* keys that had to be put in to follow the motion */
    bool gave_up;           /* more would be needed than it may have */
    double worst, worst_at; /* how far the keys are from it, and when; within tolerance: 0 */
} nytro_channel;

/* One node. */
typedef struct nytro_node {
    kf_job *job;
    const kf_options *options;
    const kf_anim *anim;
    const kf_take *take;
    uint32_t index;       /* in anim */
    const size_t *tracks; /* which of the take are its own */
    size_t track_count;
    const char *name;
    const kfi_nytro_node *was; /* the original's, or NULL */
    const kf_anim *original;   /* or NULL */
    uint32_t flags;            /* what it becomes */
    uint64_t held;             /* memory spoken for: its trials' rooms, and the file that all records become */
    nytro_channel channels[3];
} nytro_node;

/* The keys of a channel, x, y and z brought together (export_keys.c). */
bool kfi_nytro_gather(nytro_node *node, unsigned channel);
/* Whether every key of the node is of the kind that a node of these flags has. */
bool kfi_nytro_is_kind(const nytro_node *node, uint32_t kind);
/* Room for a trial's keys, apart from the job's memory but within its limit, so that it can be had again (export.c): given up
 * for a larger one, and when there is a better trial. */
bool kfi_nytro_make_room(nytro_node *node, nytro_channel *channel, size_t count);
void kfi_nytro_leave_room(nytro_node *node, nytro_channel *channel);
uint64_t kfi_nytro_memory_left(const nytro_node *node);
/* Puts in what keys the node's kind needs to follow the motion, as long as those are no more than `budget` (export_fit.c). */
bool kfi_nytro_follow(nytro_node *node, nytro_channel *channel, uint32_t kind, size_t budget);
/* The worst distance within the segment after key i, as a multiple of what is tolerated; how much it is, and when
 * (export_play.c). */
double kfi_nytro_segment_error(const nytro_channel *channel, uint32_t kind, size_t i, const double tolerance[3],
                               double *much, double *when);
/* The values of the motion wanted at ascending times. */
void kfi_nytro_wanted(const nytro_channel *channel, unsigned c, const double *times, size_t count, double *values);
/* Whether tangents were drawn or kinds changed: moving keys leaves them to the engine, as they were before.
 */
bool kfi_nytro_shaped(const nytro_channel *channel);
/* T, C and B for the keys of a translation or scale that are not TCB, two keys at least (export_solve.c). */
void kfi_nytro_solve(nytro_channel *channel);
void kfi_nytro_solve_key(nytro_channel *channel, size_t i);
/* T, C and B of key i in a TCB node. */
kf_tcb kfi_nytro_numbers(const nytro_channel *channel, size_t i);
/* The channel's records (export_records.c). */
bool kfi_nytro_encode_channel(const nytro_node *node, const nytro_channel *channel, kfi_nytro_node *to);

#endif
