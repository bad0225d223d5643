/* The stages of a conversion, for those that need them one by one. */
#ifndef KFI_CONVERT_H
#define KFI_CONVERT_H

#include "conform.h"
#include "fbx/capsule.h"
#include "fbx/lower.h"
#include "merge/merge.h"
#include "names.h"

/* An FBX about to be written, and the sidecar that goes with it (NULL: none). */
typedef struct kfi_scene {
    kfi_lowered lowered;
    const uint8_t *sidecar;
    size_t sidecar_size;
} kfi_scene;

/* The file an FBX came from, and what was written of it. */
typedef struct kfi_original {
    kfi_capsule capsule;
    kf_file *files;
    size_t count;
    kf_file rig; /* what it was read with, if that travelled */
    bool only_read; /* `written` is not wanted */
    bool drop_later; /* see kfi_merge */
    const kf_anim *anim;
    kfi_lowered written;
    kfi_capsule since;    /* what the FBX came from, if that is not what it is merged into */
    const kf_anim *came;  /* that as it was written, else NULL */
    const char *missed;   /* the digest that the FBX names, if nothing with it was found */
    const char *stranger; /* a sidecar that was found, but has another one */
} kfi_original;

/* FBX files that become one file together, one after the other. */
typedef struct kfi_group {
    kf_job *job;         /* whose memory lasts for all of them: each may be at work in one aside */
    const kf_file *base; /* given with --base, or what is in that */
    size_t base_count;
    const char *base_as, *base_own; /* what one of those is called while it is at work, as the FBX calls it, and its own name; or NULL */
    kfi_capsule carried; /* what was given with --base, if it is a sidecar, or an FBX with a capsule */
    const char *file;    /* the name of the FBX at work */
    const char *before;  /* that of the one before it, or words for several */
    const kf_file *made; /* what those before it made; NULL: it is the first */
    size_t made_count;
    const char *first;   /* the first of which the original is known */
    kfi_capsule of_first;
    int32_t *takes;      /* which take each of those before it has; -1: all */
    size_t take_count;
    bool again;          /* this one's take is one of those */
    bool drop_later;     /* there are several: what one has not got goes only once all were looked at, for another may have edited it */
    kf_file rig;         /* what the file is read with, if that travelled */
    const char *where;   /* "base", or where the first original that was found stands */
    kf_file lent;        /* packed: that of the first FBX that has one, for those that have none; called as that FBX is */
    const char *lent_where;
    bool sought;         /* among those that come later, too */
    kfi_told *told;      /* what those before it changed */
    size_t told_count;
    kfi_map known;       /* where in that a track is */
    kfi_change *renamed; /* the takes that got other names, by their first ones */
    size_t renamed_count, told_named; /* the latter: how many of `told` were looked at for those */
} kfi_group;

/* `take`: -1 for all of them. */
bool kfi_make_scene(kf_job *job, const kf_format *format, const kf_file *files, size_t count, const kf_anim *anim,
                    int32_t take, kfi_scene *scene);

/* Fills in `anim` and `written`: imports the original with the options recorded in its capsule (if there are any, else
 * the job's) and lowers it anew, quietly: its warnings were given when the FBX was made. What is the same in `edited`, the
 * FBX that came back, is there once for both; NULL: nothing came back yet. */
bool kfi_rewrite(kf_job *job, const kf_format *format, const kf_anim *edited, kfi_original *original);

/* What an output made of the file `from` is called: as was asked for, else like that file. NULL on failure. */
const char *kfi_output_name(kf_job *job, const kf_format *format, const char *wanted, const char *from);

/* An FBX as it came back, and the original with what was written of it, about to be merged. */
kfi_merge kfi_merge_of(const kfi_original *original, const kf_anim *edited, const kf_capabilities *can);

/* Merges if there is an original, else makes everything anew; then conforms and exports. */
bool kfi_export_edited(kf_job *job, const kf_format *format, const kf_anim *edited, kfi_original *original,
                       const char *output, kfi_merge_report *report);

/* prove.c: some of the files just made, with room for one more behind them, and memory for them to be read. */
kf_file *kfi_emitted_files(kf_job *job, size_t first, size_t count);
/* The same as their importer reads them, with that rig if it is one; quietly, as the exporter has told what there is to tell. */
const kf_anim *kfi_read_emitted(kf_job *job, const kf_format *format, const kf_file *rig, size_t first, size_t count);
bool kfi_out_of_memory(const kf_job *job); /* that was why it failed */

/* Reads what was emitted and warns of each new track whose motion is not that of `asked`, which was conformed and exported;
 * `each` is kfi_conform's. */
bool kfi_prove(kf_job *job, const kf_format *format, const kf_anim *asked, const kfi_conformed *each);

/* The same for the tracks that a merge found edited: read again, they are to be what came back. */
bool kfi_prove_edits(kf_job *job, const kf_format *format, const kfi_original *original, const kf_anim *merged,
                     kfi_merge_report *report);

/* convert_added.c: takes out of the report what job->emitted have not got. */
bool kfi_check_added(kf_job *job, const kf_format *format, const kfi_original *original, kfi_merge_report *report);
/* The same for what was edited of nodes that the original has and `again`, read from job->emitted, has not. */
bool kfi_uncount_gone(kf_job *job, const kf_anim *original, const kf_anim *merged, const kf_anim *again, kfi_merge_report *report);

/* convert_told.c: what one more of a group's FBX files changed, each track counted and told of once. */
bool kfi_add_report(kf_job *job, kfi_group *group, const kfi_merge_report *report, kf_summary *summary);

/* What a take was called before one of a group's FBX files renamed it. */
const char *kfi_first_name(const kfi_group *group, const char *take);

/* convert_dropped.c: once all are told of, takes what none of a group's FBX files wants out of what they made. */
bool kfi_drop_told(kf_job *job, const kf_format *format, const kfi_group *group);

/* Once all are told of: the sentences, and a warning of what came back in none of them. */
bool kfi_end_report(const kfi_group *group, kf_summary *summary);

/* convert_several.c: two FBX files as one. Not *done: they were not written alike, or one of them has more or less than that. */
typedef struct kfi_named_fbx {
    const char *name;
    const kf_anim *anim;
} kfi_named_fbx;
bool kfi_mix_fbx(kf_job *job, const kf_convert_input *input, const kfi_named_fbx *first, const kfi_named_fbx *next, kf_anim *both,
                 bool *done);

/* original.c: begins a group with what --base gives. */
bool kfi_open_base(kf_job *job, const kf_convert_input *input, kfi_group *group);
/* What was made of a file that was called otherwise gets its own name. */
void kfi_end_base(kf_job *job, const kfi_group *group);
/* The file an FBX came from, and its format (NULL: none). *where becomes "base", "capsule", "sidecar" or NULL. */
bool kfi_find_original(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_group *group, kfi_original *original,
                       const kf_format **format, const char **where);

/* What travelled with an FBX or beside it: its capsule, if there is one. */
bool kfi_find_came(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_original *came);
/* Where nothing tells how an FBX was written, the job's options become what it looks like. */
bool kfi_guess_options(kf_job *job, const kf_anim *edited);
/* Which format is asked for, if the FBX came from that one (NULL: from none that is known). NULL: there is none. */
const kf_format *kfi_target_format(kf_job *job, const kf_convert_input *input, const kf_format *original);

/* An FBX back into the game's files, which are then job->emitted; nothing is done but *target set if that is FBX. */
bool kfi_convert_back(kf_job *job, const kf_convert_input *input, const kf_anim *edited, kfi_group *group,
                      const kf_format **target, kf_summary *summary);

#endif
