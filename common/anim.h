/* Building and judging the neutral animation. */
#ifndef KFI_ANIM_H
#define KFI_ANIM_H

#include "status.h"

extern const kf_transform KFI_IDENTITY;
extern const kf_settings KFI_SETTINGS; /* Y up, right-handed, centimetres */

const char *kfi_channel_name(kf_channel channel); /* "translation", ... */
const char *kfi_interp_name(kf_interp interp);    /* "step", ... as dump prints it */
const char *kfi_order_name(kf_rotation_order order); /* "XYZ", ... */
/* Of these, or NULL: XYZ. False, and XYZ, for anything else, which a job's options do not hold. */
bool kfi_order_from_name(const char *name, kf_rotation_order *order);

/* An animation with defaults: identity basis, default settings, 30 frames a second. */
void kfi_anim_init(kf_anim *anim, const char *format);

/* Each returns the new item, or NULL on failure. Pointers to earlier items of the same array may move: keep indices. */
kf_node *kfi_add_node(kf_job *job, kf_anim *anim, const char *name, int32_t parent);
kf_take *kfi_add_take(kf_job *job, kf_anim *anim, const char *name);
#define KFI_UNNAMED_TAKE "take" /* in FBX, which has none without a name */
/* The first of that name, or NULL. */
const kf_take *kfi_take_named(const kf_anim *anim, const char *name);
const kf_property *kfi_property_named(const kf_node *node, const char *name);
/* A track with `curves` empty scalar curves (0: quaternions). */
kf_track *kfi_add_track(kf_job *job, kf_take *take, uint32_t node, kf_channel channel, unsigned curves);
/* What keys may have beside them: TCB numbers, handles. */
enum { KFI_NUMBERS = 1, KFI_HANDLES = 2, KFI_UNSET = 4 };
/* Room for `count` zeroed keys and for those parts; with KFI_UNSET they are not zeroed, for those who fill every one. */
bool kfi_make_keys(kf_job *job, kf_curve *curve, size_t count, unsigned parts);
/* Which a curve has. */
static inline unsigned kfi_parts(const kf_curve *curve)
{
    return (curve->handles ? (unsigned)KFI_HANDLES : 0) | (curve->tcb ? (unsigned)KFI_NUMBERS : 0);
}
/* Gives a curve handles of 0 where it has none yet. */
bool kfi_need_handles(kf_job *job, kf_curve *curve);
/* Keys from `from` on with all that belongs to them, as far as `to` has room for it; what they have not got is 0. */
void kfi_copy_keys(kf_curve *to, size_t at, const kf_curve *curve, size_t from, size_t count);
/* The same keys in memory of their own. */
bool kfi_own_keys(kf_job *job, kf_curve *curve, unsigned parts);
/* Both of key i. */
static inline kf_handles kfi_handles_of(const kf_curve *curve, size_t i)
{
    return curve->handles ? curve->handles[i] : (kf_handles){{0, 0}, {0, 0}};
}
bool kfi_make_quat_keys(kf_job *job, kf_quat_curve *curve, size_t count, bool tcb);

/* How far that is: a page, into the second cache, as what is nearer the machine asks for by itself. */
enum { KFI_AHEAD = 4096 };

/* Asks for the memory some way ahead of a key that a long loop is at: keys are many, lie one behind the other, and come as
 * fast as they can only if they are asked for early. Changes nothing else. */
static inline void kfi_look_ahead(const void *key)
{
#if defined(__GNUC__)
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): as a pointer it might be beyond its array, which C does not allow */
    __builtin_prefetch((const void *)((uintptr_t)key + KFI_AHEAD), 0, 2);
#else
    (void)key;
#endif
}

/* The flags of a key whose value in the file is this, which is not finite. */
uint8_t kfi_nonfinite_flags(double value);

/* A take's tracks grouped by node: those of node n are order[first[n]] to order[first[n + 1] - 1], as they come. */
bool kfi_tracks_by_node(kf_job *job, const kf_anim *anim, const kf_take *take, size_t **first, size_t **order);

/* The earliest and latest key time of a take; false if it has no keys. */
bool kfi_take_range(const kf_take *take, double *start, double *end);
/* How many keys a track has, of all components together. */
size_t kfi_track_keys(const kf_track *track);
/* When a track's first key is; `otherwise` if it has none. */
double kfi_track_start(const kf_track *track, double otherwise);
/* True if it does nothing: every value is what the channel has without curves (a scale of 1, a weight of 0, shown). */
bool kfi_track_neutral(const kf_track *track);
/* The warning that a track is not carried, and why. False: it could not be given, or warnings are errors. */
bool kfi_warn_lost(kf_job *job, const char *id, const kf_anim *anim, const kf_take *take, const kf_track *track,
                   const char *why);
/* For formats without names of takes: a note if a take of the original has another name now; it is not told to be renamed then. */
bool kfi_note_unnamed(kf_job *job, const kf_anim *original, const kf_take *take);
/* Widens every take whose start and end are both 0, or the wrong way round, to its keys. */
void kfi_fit_take_ranges(kf_anim *anim);

/* Checks what every stage relies on: indices in range, parents before children, finite and ascending times, finite
 * values, unit quaternions, a layer in each take. Gives takes without layers one. False: KF_BAD_INPUT. */
bool kfi_anim_validate(kf_job *job, kf_anim *anim);

/* Puts numbers in ascending order. */
void kfi_sort_numbers(double *numbers, size_t count);

/* A file's name without its extension, as a name for what is in it; `otherwise` if nothing is left. NULL on failure. */
const char *kfi_stem(kf_job *job, const char *file, const char *otherwise);

#endif
