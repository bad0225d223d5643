/* Between together.c and span.c. */
#ifndef KFI_MERGE_TOGETHER_H
#define KFI_MERGE_TOGETHER_H

#include "internal.h"

/* Segments and what is before the first and after the last key: `s` lies between keys s - 1 and s. A place is a key's index
 * plus 1, 0 the start and count + 1 the end of all samples. */
typedef struct kfi_span {
    size_t first, last; /* places */
    kf_curve curve[3];  /* keys at the same times; the first and the last are the original's if those places are keys */
} kfi_span;

typedef struct kfi_together {
    kfi_merge_track *t;
    const kfi_seen *seen;
    size_t count;    /* keys of the original, each for all three */
    bool *edited[3]; /* for each segment */
    bool *open;      /* told by handles */
    kfi_span **at;       /* for each place: the span that begins there, or NULL */
    kf_tcb **number; /* for each key: new ones, or NULL */
    size_t pieces;   /* keys that segments which nobody edited took */
} kfi_together;

static inline const kf_curve *kfi_original(const kfi_together *g, unsigned c)
{
    return &g->t->original->curve[c];
}

/* The first sample at that time or later; their count if there is none. */
static inline size_t kfi_seen_from(const kfi_seen *seen, double time)
{
    size_t low = 0, high = seen->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (seen->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the key at one end of a span keeps its slope on the side that stays, with its neighbour in the span there. */
bool kfi_border_holds(const kfi_together *g, const kfi_span *s, int side, double time, const double value[3]);

/* span.c: all segments between two places told by handles, those that were edited as they came back. NULL: failed. */
kfi_span *kfi_make_span(kfi_together *g, size_t first, size_t last);

#endif
