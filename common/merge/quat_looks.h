/* Where the merge of orientations looks at what was drawn between keys. */
#ifndef KFI_MERGE_QUAT_LOOKS_H
#define KFI_MERGE_QUAT_LOOKS_H

#include "quat.h"

/* Pieces of what lies between two keys of what was written or came back. */
enum { KFI_PIECES = 8 };
/* Seconds that a jump takes. */
static const double KFI_JUMP_TIME = 5e-4;

/* Where to look: at each of the merged keys, at all keys of what was written and came back, and between these. */
typedef struct kfi_looks {
    double *times;
    double (*now)[4], (*plays)[4]; /* what came back; what the merged keys play */
    bool *edited;
    bool *held;    /* what follows a key of those is a hold and a jump */
    size_t *first; /* look of each merged key */
    size_t count;
} kfi_looks;

bool kfi_list_looks(const kfi_merge_track *t, kfi_looks *l);
/* Whether something was drawn after merged key i that the format's own way from it to the next leaves. Where the keys were
 * edited and nothing between them no slopes were drawn, and that way is what is left. */
bool kfi_is_drawn(const kfi_merge_track *t, const kfi_looks *l, size_t i, double tolerance, bool *drawn);
/* A jump is told as a steep turn where the format has nothing better. */
bool kfi_tell_drawn_jumps(const kfi_merge_track *t, const kfi_looks *l, const bool *drawn);

#endif
