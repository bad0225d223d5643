/* What the files of the fit share among themselves. */
#ifndef KFI_FIT_INTERNAL_H
#define KFI_FIT_INTERNAL_H

#include "fit.h"
#include "curve_internal.h"

/* Seconds: a sample this near to a key is at the key. */
#define KFI_SAME_TIME 1e-7

/* The samples, ascending in time. Interval i lies between samples i and i + 1. */
typedef struct kfi_samples {
    size_t count;
    double *t, *v;
    double *bulge;     /* how far a smooth curve may leave the chord in the middle of interval i */
    double *middle;    /* where the samples around it put the middle of interval i */
    double *doubt;     /* and by how much that may be wrong */
    double (*quarter)[2]; /* where they put its quarters; NAN: not known */
    size_t *next_jump; /* the next interval, i or later, that is a jump and no slope; else `count` */
    size_t *next_rest; /* the next sample, i or later, at which the value comes to rest; else `count` */
    double tolerance;
    bool parted;       /* handles may not pass each other in time */
    bool *told;        /* that middle is a sample, too, and no guess */
    const kf_curve *before; /* or NULL: what they were taken from, before something was edited */
    double (*was)[4];  /* or NULL: that at sample i and at the quarters of interval i */
    double (*eighth)[4]; /* and in the middles between those */
    double *edit;      /* and how much sample i was moved */
} kfi_samples;

/* One key of the result while it is being made, and the segment after it. */
typedef struct kfi_fit_key {
    kf_key key;
    kf_handles handles;
    kf_tcb tcb;
    size_t sample;   /* the sample at its time */
    uint32_t origin; /* the original's key, or KF_NEW */
    bool fits;       /* the segment after it is settled */
    bool kept;       /* the segment after it is the original's and is to stay */
    uint8_t tries;   /* how often its numbers were sought */
} kfi_fit_key;

typedef struct kfi_fit_keys {
    kfi_fit_key *items;
    size_t count, room;
} kfi_fit_keys;

/* Where the longest piece from a sample on ends, if it may go to the limit; a limit of 0: not known yet. */
typedef struct kfi_reach {
    size_t end, limit;
} kfi_reach;

typedef struct kfi_fitting {
    kf_job *job;
    kfi_arena scratch; /* what is not part of the result */
    uint32_t interps;
    uint8_t
        cubic; /* the kind for cubic segments: HERMITE or BEZIER; KF_TCB if there is no other; 0 if none */
    uint8_t tcb_rule;
    const kf_curve *original; /* or NULL */
    kfi_samples samples;
    kfi_reach *reach; /* one per sample, or NULL: not needed yet */
    kfi_fit_keys keys;
} kfi_fitting;

/* A stretch of samples told by one segment. */
typedef struct kfi_piece {
    size_t end;
    uint8_t interp; /* KF_STEP, KF_LINEAR, or KF_HERMITE for any cubic */
    kf_handle h[2]; /* of a cubic, at its two ends */
} kfi_piece;

/* fit.c: takes the samples in. The scratch memory is to be freed, even if it failed. */
bool kfi_fit_begin(kfi_fitting *f, kf_job *job, const double *times, const double *values, size_t count,
                   const kfi_fit_options *options);
/* jumps.c has kfi_fit; this is it for what does not jump. */
bool kfi_fit_smooth_samples(kf_job *job, const double *times, const double *values, size_t count, const kfi_fit_options *options,
                            kf_curve *curve);
double kfi_tolerated_samples(double tolerance, const double *values, size_t count);
void *kfi_scratch(kfi_fitting *f, size_t count, size_t size);
kfi_fit_key *kfi_fit_add(kfi_fitting *f, kfi_fit_keys *keys);
/* The keys as a curve, to be looked at with every rule resolved. */
bool kfi_fit_as_curve(kfi_fitting *f, kf_curve *curve);

static inline bool kfi_can(const kfi_fitting *f, unsigned interp)
{
    return f->interps >> interp & 1;
}

/* Whether a segment runs within interval i where what was not edited does. */
bool kfi_told_fit(const kfi_samples *s, size_t i, const kfi_segment *segment);
/* A value between samples by the cubic through the four around it; `after` is the one behind it. */
double kfi_between_samples(const double *t, const double *v, size_t count, size_t after, double time);

/* take.c */
bool kfi_take_samples(kfi_fitting *f, const double *times, const double *values, size_t count, const kfi_fit_options *options);
/* What they were before something was edited. */
bool kfi_take_before(kf_job *job, kfi_arena *arena, const kf_curve *was, kfi_samples *s);
/* samples.c: room for so many, of which nothing is known yet. */
bool kfi_samples_room(kf_job *job, kfi_arena *arena, size_t count, kfi_samples *s);
void kfi_samples_look(kfi_samples *s, bool steps);
/* Whether the value rests from one sample to the next; one may be a file's 32-bit float, and the other not. */
static inline bool kfi_rests(const kfi_samples *s, size_t i)
{
    return fabs(s->v[i + 1] - s->v[i]) <= fmin(1e-3 * s->tolerance, 1.2e-7 * (1.0 + fabs(s->v[i])));
}
/* Whether the samples tell where the curve runs in the middle of interval i. */
static inline bool kfi_middle_known(const kfi_samples *s, size_t i)
{
    return s->doubt[i] <= 0.5 * s->tolerance;
}
/* How far from there the curve may run, and from its quarters. Where that is known, the worst need not be just there. */
static inline double kfi_within(const kfi_samples *s, size_t i)
{
    return kfi_middle_known(s, i) ? 0.95 * s->tolerance : s->tolerance + s->doubt[i];
}
/* Within what the curve has to run in the middle. */
void kfi_middle_range(const kfi_samples *s, size_t i, double *low, double *high);
bool kfi_middle_fits(const kfi_samples *s, size_t i, double value);
bool kfi_quarters_fit(const kfi_samples *s, size_t i, const kfi_segment *segment);

/* Where the value rests between samples a and b, a segment does at the quarters, too. */
bool kfi_rests_fit(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment);

/* extremes.c: whether a segment turns, between samples a and b, no further out than the samples around there say; if doubted, than
 * they could say. */
bool kfi_extremes_fit(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment, bool doubted);
/* And whether it runs as it should in the quarters beside its two keys, as far as can be told. */
bool kfi_beside_keys_fit(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment);

/* outside.c: samples first..last - 1 lie outside the keys that are at samples. Which of them needs a key: none (SIZE_MAX) where
 * they are what plays there without, `end` held, or the original's own cycle (`ref`). Else the outermost, or the one from which on
 * outward they are the original's hold. */
size_t kfi_key_outside(const kfi_samples *s, const double *ref, size_t first, size_t last, bool cycles, double end);

/* pieces.c: whether samples a..b can be told by one segment that runs from sample a to sample b. */
bool kfi_fit_hold(const kfi_samples *s, size_t a, size_t b);
bool kfi_fit_line(const kfi_samples *s, size_t a, size_t b);
bool kfi_fit_cubic(const kfi_samples *s, size_t a, size_t b, double slope[2]);
/* A cubic of eased time. */
bool kfi_fit_eased(const kfi_samples *s, size_t a, size_t b, double ease0, double ease1, double slope[2]);
/* A segment as it is; `between` asks for the middles between samples too, which one of the original's own
 * form may pass as it likes. */
bool kfi_fit_segment(const kfi_samples *s, size_t a, size_t b, const kfi_segment *segment, bool between);
/* The longest piece from sample a on, at most to `limit`. */
kfi_piece kfi_longest_piece(const kfi_fitting *f, size_t a, size_t limit);

/* keys.c */
bool kfi_fit_move_tcb(kfi_fitting *f);
bool kfi_fit_settle(kfi_fitting *f);
void kfi_fit_smooth(kfi_fitting *f, const bool *kept);

/* bezier.c: handles of a 2-D Bezier; `h` comes in with lengths to begin with, thirds if it has none. */
bool kfi_fit_bezier(const kfi_samples *s, size_t a, size_t b, kf_handle h[2]);

/* tcb.c, tcb_keys.c */
/* T, C and B within -1..1 that give a key these slopes, or come as near as can be; small numbers preferred. A
 * side without a neighbour has a gap of 0. Ease is left alone. */
void kfi_tcb_from_slopes(uint8_t rule, const double gap[2], const double rise[2], const double slope[2],
                         kf_tcb *tcb);
/* Settles the TCB segments that do not fit yet: new numbers first, then more keys. */
bool kfi_fit_tcb(kfi_fitting *f);

#endif
