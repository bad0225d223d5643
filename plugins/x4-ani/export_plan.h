/* Between export_plan.c, which finds the descriptions to be written, and export.c, which writes them. */
#ifndef X4_ANI_EXPORT_PLAN_H
#define X4_ANI_EXPORT_PLAN_H

#include "x4.h"

enum { X4_NONE = -1 };

/* A description to be written. */
typedef struct x4_planned {
    const uint8_t *base;             /* the original's record, or NULL */
    size_t index;                    /* its number in the original */
    int32_t take, node;              /* in the animation; X4_NONE if they are gone from it */
    const kf_track *track[X4_KINDS]; /* what each list of keys is made of; NULL: the original's, or none */
    size_t count[X4_KINDS];
    bool dropped;
} x4_planned;

typedef struct x4_plan {
    kf_job *job;
    const kf_anim *anim;
    const kf_anim *original;
    const x4_native *native; /* of the original, or NULL */
    bool drop_missing;
    double tolerance;
    x4_planned *items;
    size_t count;
    x4_table pairs;   /* (take, node) of the animation to item */
    uint32_t *key_of; /* room for the pairs' keys */
    size_t keys;
    int32_t *take_of, *node_of; /* for the original's takes and nodes: which they are in the animation */
} x4_plan;

/* From the original's descriptions and the animation's tracks; what is said of it is said here. */
bool kfi_x4_make_plan(x4_plan *p);
/* The list of keys of that kind, of which there is a track. */
x4_list kfi_x4_list_of(const x4_plan *p, const x4_planned *item, unsigned kind);

#endif
