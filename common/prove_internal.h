/* Between prove_edits.c, prove_looks.c and prove_shapes.c. */
#ifndef KFI_PROVE_INTERNAL_H
#define KFI_PROVE_INTERNAL_H

#include "merge/merge.h"
#include "rotation.h"

/* Where a track is furthest from what came back. */
typedef struct kfi_worst {
    double part; /* of what is tolerated */
    double off, limit;
    double when;
} kfi_worst;

/* A track as the game will play it, and when to look at it. */
typedef struct kfi_played {
    const kf_track *track;
    size_t number;  /* in its take */
    kf_rotation_order order;
    double shift;   /* its times - those of what came back */
    double quantum; /* of the format's numbers */
    const double *times;
    const bool *steady; /* of each: nothing jumps there */
    size_t count;
    bool between; /* what came back tells of what lies between two looks, too */
    double late;  /* what times may be off that nobody moved */
    bool doubtful; /* it is not what came back: what was so before is left out */
} kfi_played;

/* prove_edits.c: values of a track at ascending times: three a time, or an orientation in four. */
bool kfi_track_values(kf_job *job, const kf_track *track, kf_rotation_order order, const double *times, size_t count, double (*to)[4]);
/* How far two are apart in these components (bit 0 for x, or for an orientation), as a part of what is tolerated; *off: how far,
 * *limit: of how much. */
double kfi_apart(const kfi_wanted *w, unsigned components, const double limits[3], const double a[4], const double b[4], double *off,
                 double *limit);
/* Whether the FBX's curves do not tell what is to be played there. Times ascend: *next is the first exception not over yet. */
bool kfi_excepted(const kfi_wanted *w, double time, size_t *next);

/* prove_between.c: where the game plays a track, of which samples came back, between two that nobody edited otherwise than before. */
bool kfi_prove_between(kf_job *job, const kfi_wanted *w, const kfi_played *p, kfi_worst *found);

/* prove_looks.c. When to look: at the keys, and between them unless they are samples or frames; behind the last sample it stands still.
 * Orientations are watched more closely: two that are equal at the keys and halfway need not be so elsewhere. Sevenths fall on no
 * whole turn of one that turns a few times. */
bool kfi_prove_looks(kf_job *job, const kfi_wanted *w, double rate, double end, kfi_played *p);

/* prove_shapes.c: whether a weight belongs to a mesh, of which the game shows the sum of its shapes on every frame. */
bool kfi_plays_shapes(const kf_anim *made, const kf_anim *merged, const kfi_wanted *w, const kf_track *track);
/* How far the sums of a made node's shapes are from those that came back; `w`, up to `end`, are all its weights that were edited. */
bool kfi_measure_shapes(kf_job *job, const kf_anim *made, const kf_take *take, uint32_t node, const kf_anim *merged,
                        const kfi_wanted *w, const kfi_wanted *end, kfi_worst *found);
/* Whether a format that has a shape for every frame tells an edited weight by them: a made node has others than the original. What
 * was found of the last node is kept, for it has many weights. */
typedef struct kfi_shapes_told {
    uint32_t node;
    bool otherwise;
} kfi_shapes_told;
bool kfi_told_by_shapes(const kf_anim *original, const kf_anim *made, const kfi_wanted *w, const kf_track *track, kfi_shapes_told *last);

#endif
