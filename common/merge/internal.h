/* What the parts of the merge share. */
#ifndef KFI_MERGE_INTERNAL_H
#define KFI_MERGE_INTERNAL_H

#include "merge.h"
#include "names.h"
#include "rotation.h"
#include "tolerance.h"

typedef struct kfi_limits {
    double time;     /* seconds */
    double value[KF_CHANNEL_COUNT];
    double relative; /* of a value's size */
    double slope;    /* relative */
    bool exact;      /* straight from our own writer: only rounding separates equal numbers */
} kfi_limits;

/* One track on its way: what it was, what was written, what came back. */
typedef struct kfi_merge_track {
    kf_job *job;
    const kfi_merge *input;
    const kfi_limits *limits;
    const kf_track *original;
    const kf_track *written;
    const kf_track *edited;
    const char *take; /* its name */
    double shift;  /* written time - original time */
    double offset; /* edited time - written time */
    double original_end; /* of the take */
    double cut; /* a bake ends there now, on the original's axis; else INFINITY */
    kf_rotation_order order, edited_order;
    kf_track *merged;
    bool changed;
    size_t keys_changed, keys_added, keys_removed, segments_fitted;
    struct {
        kf_curve edited; /* its slopes all stand in its handles */
        size_t *of;      /* for each merged key the one that it is there; NULL: it was not merged key by key */
    } shown[3];
} kfi_merge_track;

/* keys.c: formats with keys at any time, scalar curves. */
bool kfi_merge_keys(kfi_merge_track *t, unsigned component);
/* still.c: whether a curve is that value all along; and such a one that did not come back, once the other components are merged. */
bool kfi_stands_still(const kfi_limits *limits, unsigned channel, const kf_curve *curve, double value);
bool kfi_merge_still(kfi_merge_track *t, unsigned component);
/* Whether a track has keys of different values. */
bool kfi_moves(const kfi_limits *limits, const kf_track *track);
/* tcb.c: T alone, then T and C, that make a key's own rule give these slopes, of which one may not matter; false
 * if nothing within -1..1 does. */
bool kfi_merge_solve_tcb(kf_curve *curve, size_t i, double in, double out, bool has_in, bool has_out);
/* pair.c: both run ascending. */
enum { KFI_UNPAIRED = -1 };
typedef struct kfi_pairing {
    int64_t *partner; /* for each edited key: the written key that it is, or KFI_UNPAIRED */
    int64_t *back;    /* for each written key */
} kfi_pairing;
bool kfi_merge_pair(const kfi_merge_track *t, const kf_curve *written, const kf_curve *edited, kfi_pairing *pairing);
/* forms.c: a curve whose slopes all stand in its handles, where FBX has derived some (no game has such keys). */
bool kfi_merge_explicit(kf_job *job, const kf_curve *from, kf_curve *to);
/* Once all components are merged key by key: TCB segments that cannot stay TCB get the slopes that the FBX shows. */
bool kfi_merge_shown(kfi_merge_track *t);
/* Tells where the game gives TCB keys other slopes than they have in the FBX: those made TCB there, and those whose
 * neighbours were edited. */
bool kfi_merge_tell_bent(const kfi_merge_track *t, unsigned component);
/* seen.c: what is known of a curve that came back: when, on the original's axis of time, and what it is there. */
typedef struct kfi_seen {
    double *times, *looks; /* the latter on the axis of what came back */
    bool *keyed;           /* a key of what came back says so, not only the line between two */
    double *value;         /* the original's own, where that is what came back */
    bool *edited;          /* it is not */
    double *between;       /* what lies in the middle before the next one, where neither was edited, else NAN; or NULL */
    bool baked;            /* then that is the original's own */
    size_t count, edits;
    double tolerance;
} kfi_seen;
bool kfi_make_seen(kf_job *job, kfi_seen *s, size_t most);
/* Fills in the values at the times. */
void kfi_see(const kfi_merge_track *t, unsigned component, kfi_seen *s);
/* At every key of the original and of what came back. */
bool kfi_see_all(const kfi_merge_track *t, unsigned component, kfi_seen *s);
/* dense.c: the same for curves that came back with a helper key moved. */
bool kfi_merge_drawn(kfi_merge_track *t, unsigned component);
/* And once more for all components, none of which was edited otherwise, where that leaves more of their TCB keys as they are. */
bool kfi_merge_drawn_together(kfi_merge_track *t);
bool kfi_open_edited(const kfi_merge_track *t, unsigned component, const kfi_seen *keys, const bool *after, double tolerance,
                     kf_curve *to);
/* Whether components share TCB keys, but not their handles. */
bool kfi_share_tcb(const kfi_merge_track *t);
/* What was fitted becomes a part of what is merged. No keys: it was not edited. */
bool kfi_take_fitted(kfi_merge_track *t, unsigned component, const kf_curve *fitted);
/* baked.c: for all components of a track that came back baked. */
bool kfi_merge_baked(kfi_merge_track *t);
/* Origins of a fit name keys of the curve it began with, and those the original's: what those are. */
void kfi_pass_on(const kf_curve *begun, const kf_curve *original, kf_curve *fitted);
/* together.c: the same where x, y and z share TCB keys. Not *done: no such case. *pieces: how many keys it took to tell
 * segments with ease that nobody edited. */
bool kfi_merge_together(kfi_merge_track *t, const kfi_seen seen[3], kf_curve fitted[3], bool *done, size_t *pieces);
bool kfi_tell_pieces(const kfi_merge_track *t, size_t pieces);
/* border.c: numbers for a key that keeps its slope on one side, whatever its neighbour on the other. For each
 * component what lies between the key and its neighbours, both forward in time, and the tangent that it had. */
typedef struct kfi_border {
    int side;      /* the one that stays: 0 before the key, 1 after it */
    double gap[2]; /* seconds on that side and on the other */
    unsigned count;
    double near[3], far[3], want[3];
    double limit[3]; /* how far the motion may be off */
} kfi_border;
/* `tcb` comes in with the key's own. */
bool kfi_border_numbers(const kfi_border *b, kf_tcb *tcb);
/* samples.c: formats with a value a frame; `frames` is how many the take has now. */
bool kfi_merge_samples(kfi_merge_track *t, size_t frames);
/* between.c: warns, once for a track, of what was drawn between those frames or before them and is lost. `raw`: what came back
 * before a program's numbers were settled, which leaves no bends; NULL where it is not in the written axes. */
bool kfi_tell_between(const kfi_merge_track *t, const kf_track *raw, size_t frames);
/* ends.c: the first key not before a time; `count`: none. */
size_t kfi_key_from(const kf_curve *curve, double time);
/* Whether what was written between two keys came back as it was, its slopes included, wherever its ends are now. */
bool kfi_only_ends_moved(const kfi_merge_track *t, const double was[2], const double now[2]);
/* quat.c: rotations that the format keeps as quaternions. */
bool kfi_merge_quat(kfi_merge_track *t, size_t frames);

/* match.c */
enum { KFI_NOBODY = -2 };
typedef struct kfi_matches {
    int32_t *node;           /* for each edited node, the written one, or -1 */
    int32_t *back;           /* for each written node, the edited one, or -1 */
    int32_t last;            /* a written node that nothing but its being the only one left tells, or -1 */
    int32_t *take;           /* for each edited take, the written one, or -1 */
    int32_t *owner;          /* for each edited take, the written node it alone speaks for, -1, or KFI_NOBODY */
    int32_t scene;           /* the edited take that shows every node in one of several written takes, or -1 */
    int32_t *home;           /* for each written node, the written take that the scene shows it in, or -1; or NULL */
    const kf_track ***track; /* for each written take and track, what came back, or NULL */
    bool **settled;          /* for each written take and track: what came back is in the written node's rotation order */
    bool **known;            /* for each edited take and track: it is one that was written, or none of ours */
    const kf_track ***instead; /* for each edited take and track: the same in numbers near the written ones, or NULL */
    const char **renamed;    /* for each written take, its new name, or NULL */
    double *offset;          /* for each written take: edited time - written time */
    int32_t wrapper;         /* edited node, or -1 */
} kfi_matches;

/* The first track of a take that another one has not got, or not so; NULL if there is none. */
const kf_track *kfi_other_motion(const kfi_limits *limits, const kf_take *take, const kf_take *than);
/* takes.c: whether Blender wrote it, which has curves for what nobody animated. */
bool kfi_by_blender(const kf_anim *edited);
/* Whether what stands before the first '|' of a take's name is an object, as in the names that Blender gives. */
bool kfi_names_object(const kfi_merge *input, const char *name);

/* ways.c: what a node's transform was multiplied with: axes change places and signs, and all of it a size. */
typedef struct kfi_turn {
    bool usable;
    bool around;      /* its own axes and its points with it */
    bool found;       /* the size was found in what came back, as it is none that the file states */
    bool alone;       /* by the moves of one node */
    bool lost;        /* nothing came back in that one, and in no other most of it */
    unsigned from[3]; /* axis i of what came back was axis from[i], */
    double sign[3];   /* times sign[i], */
    double size;      /* times size */
    double mirror;    /* -1 if that mirrors, else 1 */
    double back[4];   /* the rotation that undoes it; the mirroring goes into the scale */
} kfi_turn;
enum { KFI_AS_WRITTEN, KFI_IN_WORLD, KFI_IN_METRES, KFI_UNTURNED, KFI_ALL_ROUND, KFI_ROUND_BEFORE, KFI_SCALED, KFI_WAYS };
void kfi_find_ways(const kfi_merge *input, kfi_turn ways[KFI_WAYS]);
bool kfi_turns(const kfi_turn *t);
void kfi_undo_rotation(const kfi_turn *t, double q[4]);
void kfi_undo(const kfi_turn *t, unsigned channel, kf_rotation_order order, const double near[3], double value[3]);
/* The same, as far as it takes to tell the ways apart. */
bool kfi_alike(unsigned channel, const double a[3], kf_rotation_order order_a, const double b[3], kf_rotation_order order_b);
/* On how many of its keys that are looked at (score[KFI_WAYS]) a written track is what came back, taken each way; `now` may be NULL. */
void kfi_count_alike(const kfi_merge *input, const kfi_turn ways[KFI_WAYS], const kf_track *was, const kf_track *now,
                     const kf_node *node, double offset, size_t score[KFI_WAYS + 1]);

/* The whole merge on its way. */
typedef struct kfi_merging {
    kf_job *job;
    const kfi_merge *input;
    kfi_limits limits;
    kfi_matches matches;
    kfi_turn ways[KFI_WAYS]; /* that a program may have turned nodes */
    const kfi_turn **turn; /* for each edited node, which of them is to be undone of its rotation tracks, or NULL; or NULL */
    kf_anim *merged;
    kfi_merge_report *report;
    struct {
        size_t lost;           /* tracks of tcb_tracks.h that did not come back */
        const char *take;      /* the first of them */
        const kf_track *track;
    } numbers;
} kfi_merging;

/* merge.c: what came back, matched with what was written, and with its axes turned back if a program turned them: then it is
 * *unwrapped. */
bool kfi_match_turned(kfi_merging *m, kf_anim *unwrapped, bool *turned);

/* match_both.c: how an FBX and another one, written as it was, compare with what was written; not *simple: not just by numbers. */
bool kfi_match_both(kfi_merging *m, const kf_anim *into, kfi_matches *other, bool *simple);

/* new.c: whether a track of a written node that is none of the written ones is no addition: a program wrote it of its own accord. */
bool kfi_says_nothing(const kfi_merging *m, const kf_track *track);

/* report.c: sentences for the report; `detail` may be empty. */
bool kfi_merge_report_track(kfi_merging *m, kfi_what what, const char *take, const kf_track *track, const char *detail);
bool kfi_merge_report_same(kfi_merging *m, const char *take, const kf_track *track);
bool kfi_merge_report_shapes(kfi_merging *m, const char *node, size_t shapes, size_t points);
bool kfi_merge_report_renamed(kfi_merging *m, const char *was, const char *now);

/* Whether curves with tangents came back as plain samples. */
bool kfi_came_back_baked(const kfi_merge *input, const kf_track *written, const kf_track *edited);
/* count.c: counts them again where several curves are one list of keys in the file. */
bool kfi_count_keys(kfi_merge_track *t);
/* end.c: how many frames of the original's rate a take has now; and the time on the original's axis after which a bake of
 * a take with keys has nothing any more, or INFINITY. */
size_t kfi_frame_count(const kfi_merging *m, size_t written_take);
double kfi_cut_at(const kfi_merging *m, size_t written_take);
/* Says where the span of a take was changed, and its keys do not say so. Programs set it as they like: then it tells nothing. */
bool kfi_tell_span(const kfi_merging *m, size_t written_take, const kf_take *merged);
/* bent.c: what was drawn between the frames of a bake, as samples of what came back. */
bool kfi_open_bends(kfi_merging *m, size_t written_take);
/* pose.c: gives the curves of a take that a program dropped because they stand still the value they stand at. */
bool kfi_fill_standing(kfi_merging *m, size_t written_take);
/* refill.c: the seconds between the samples that came back, if a program took fewer than were written, or others, else 0;
 * and what was written put back between those that are as they were. */
double kfi_other_step(const kfi_merging *m, size_t written_take);
bool kfi_refill_take(kfi_merging *m, size_t written_take, double step);
/* What was written before the first key that came back, and after the last frame that was exported. */
bool kfi_refill_ends(kfi_merging *m, size_t written_take);
/* Warns if a program's other frame rate made a take faster or slower. */
bool kfi_tell_rate(const kfi_merging *m, size_t written_take);
/* rotation.c: what came back of a take, its rotations and scales in the numbers that were written where they mean
 * the same, and in the written node's order. `step`: of the samples, if they are others, else 0. */
bool kfi_settle_take(kfi_merging *m, size_t written_take, double step);
/* numbers.c: T, C, B and ease edited on a track of tcb_tracks.h, into the merged track that they belong to. `wanted`: what is asked
 * of that, or NULL; where they bend it, that is not. */
bool kfi_merge_numbers(kfi_merging *m, size_t written_take, size_t written_track, kf_track *merged, kfi_wanted *wanted);
void kfi_order_excepted(kfi_wanted *wanted);
/* Warns, once for all of them, of those that did not come back: a program that drops custom properties drops every one. */
bool kfi_tell_numbers(const kfi_merging *m);
/* new.c: tracks, nodes and takes that were not in what was written. */
bool kfi_merge_new(kfi_merging *m);
/* actions.c: takes named "Object|Action" that were not written. */
typedef struct kfi_actions {
    kfi_map nodes, told; /* names of nodes, written and edited; actions that were told of */
    bool *settled;       /* for each edited node: it has keys in a take, or was told of */
} kfi_actions;
bool kfi_actions_init(kfi_merging *m, kfi_actions *a);
/* The written take that such a take's keys go to, or -1. */
bool kfi_actions_place(kfi_merging *m, kfi_actions *a, size_t edited_take, int32_t *written);
/* Names the new nodes that are left without keys. */
bool kfi_actions_tell(kfi_merging *m, kfi_actions *a);
/* mesh.c: shapes whose points were moved. */
bool kfi_merge_meshes(kfi_merging *m);
/* Points or offsets that are the same but for what the trip does to them. */
bool kfi_same_point(const double a[3], const double b[3]);
/* Points of shapes that did not move since they were written, as another file has them; *conflicts: those that both have moved. */
bool kfi_mix_mesh(kf_job *job, const kf_mesh *was, const kf_mesh *other, kf_mesh **now, size_t *conflicts);

/* parents.c: warns of nodes that hang below another one than they did. */
bool kfi_tell_parents(const kfi_merging *m);
/* Nodes that programs add of their own accord; they stand still. */
bool kfi_programs_own(const char *name);
/* Warns of takes with one name of which the second, which is not carried, has other motion. */
bool kfi_tell_twice(const kfi_merging *m);
/* unheard.c: warns of what the FBX plays beside the keys of its curves. */
bool kfi_tell_unheard(const kfi_merging *m);
/* The same where nothing was written; `number` is less than 0 for nodes that do not matter. */
bool kfi_tell_unheard_fresh(kf_job *job, const kf_anim *edited, const kf_capabilities *can, const int32_t *number);
/* What a node turns by, or about, beside its curves; NULL: nothing. Turns count only where they are switched on. */
const char *kfi_turned_beside(const kf_node *node);
/* unkeyed.c: warns of what stands otherwise than it was written, without keys. */
bool kfi_tell_unkeyed(const kfi_merging *m);
/* What the FBX came from, as it was written, and for each of its nodes the edited one or -1: by name, where that is not the file that
 * it goes into. NULL on failure. */
const kf_anim *kfi_came_from(const kfi_merging *m, const int32_t **edited);
/* For each node a bit for each channel that has keys in some take; NULL on failure. */
uint8_t *kfi_keyed_channels(kf_job *job, const kf_anim *anim);
/* Of hidden nodes alone, where nothing was written. */
bool kfi_tell_hidden(kf_job *job, const kf_anim *fresh);

/* How far apart equal numbers may be in what came back. */
void kfi_set_limits(kfi_limits *limits, const kf_anim *edited);
/* since.c: whether two curves are the same motion, the second so much later. */
bool kfi_runs_alike(const kfi_limits *limits, unsigned channel, const kf_curve *a, double rest_a, const kf_curve *b, double rest_b,
                    double later);

/* Whether a written track is none of those that the FBX was made of: it cannot be missing there. */
bool kfi_is_newer(const kfi_merge *input, const kf_take *take, size_t track);

/* mix.c: curves that were edited in an FBX and elsewhere. */
typedef struct kfi_mix {
    kf_job *job;
    const kfi_merge *from;
    const kfi_limits *limits;
    const kf_track *original, *was; /* where the FBX came from, and as it was written */
    const kf_track *other;          /* as it is elsewhere, written in the same way */
    kf_track *now;                  /* as it came back; becomes what both say */
    double later;                   /* times of what came back - written ones */
    unsigned begin, end;            /* which curves: one, or all three, the keys of which are one number then */
    size_t conflicts;               /* keys that both edited, and not alike */
    double first;                   /* when the first of them was written */
    bool gone, away;                /* that one was deleted in the FBX, or elsewhere, and edited on the other side */
} kfi_mix;
bool kfi_mix_curves(kfi_mix *mix);

/* takes.c */
bool kfi_match_takes(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *m);
/* Tells the new names once; from then on messages call the takes by them. */
bool kfi_tell_renamed(kfi_merging *m);
/* scene.c: the written take that each node plays in m->scene, of those that are not back under their own names; and
 * that which the scene is most like. */
bool kfi_match_scene(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, const bool *back,
                     kfi_matches *m);
/* How many of a written track's values (all: *values) are what came back that much later. */
size_t kfi_alike_values(const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, const kf_track *was,
                        const kf_track *now, double offset, size_t *values);
/* `ways`: those in which nodes may have come back, or NULL if just as they were written. */
bool kfi_match(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *matches);

/* unwrap.c: what came back in the axes and unit that were written, but for rotation tracks: `turn` of the merge
 * tells what is to be undone of these. Not *turned: it is that as it is. */
bool kfi_unwrap(kfi_merging *m, kf_anim *to, bool *turned);
/* One that was written just below the wrapper and hangs below neither it nor another node of ours now. */
bool kfi_is_orphan(const kfi_merging *m, size_t n);
/* size.c: ways get the size that numbers really have, where that is another one. */
bool kfi_find_sizes(const kfi_merging *m, kfi_turn ways[KFI_WAYS]);

/* The written take that an edited one is as far as one of its nodes goes, or -1. */
static inline int32_t kfi_take_of(const kfi_matches *m, size_t edited_take, uint32_t edited_node)
{
    int32_t node = m->node[edited_node];
    bool shown = (int32_t)edited_take == m->scene && node >= 0 && m->home[node] >= 0;
    return shown ? m->home[node] : m->take[edited_take];
}

/* True if two values of a channel are the same but for what the trip does to them. */
static inline bool kfi_same_value(const kfi_limits *limits, unsigned channel, double a, double b)
{
    double size = a < 0 ? -a : a, other = b < 0 ? -b : b, gap = a > b ? a - b : b - a;
    double relative = limits->relative * (size > other ? size : other);
    double absolute = limits->value[channel];
    return gap <= (relative > absolute ? relative : absolute);
}

/* Whether a curve that came back has been thinned out before its key `next`: two keys there are more than a frame apart. */
static inline bool kfi_thinned_before(const kfi_merge *input, const kf_curve *edited, size_t next)
{
    return next > 0 && next < edited->count &&
           (edited->keys[next].time - edited->keys[next - 1].time) * input->edited->frame_rate > 1.5;
}

/* What a node's own transform is in a channel. */
static inline const double *kfi_rest_of(const kf_node *node, unsigned channel)
{
    return channel == KF_TRANSLATION ? node->rest.translation
           : channel == KF_ROTATION  ? node->rest.rotation
                                     : node->rest.scale;
}

/* Copies the original's curve: keys, numbers, an origin for each key. */
bool kfi_merge_copy_curve(kf_job *job, const kf_curve *from, kf_curve *to, kf_origin **origin);

#endif
