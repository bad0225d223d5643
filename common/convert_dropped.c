/* --drop-missing with several FBX files: what one of them has not got may have been edited in another, and is
 * merged into the original's bytes there. So it goes last of all: what was made is written once more, without
 * the tracks that are to go. */
#include "convert.h"

#include <string.h>

/* Whether the last that was told of a track is that it goes. */
static bool goes(const kfi_group *group, const char *of)
{
    int64_t at = kfi_map_get(&group->known, of, strlen(of));
    return at >= 0 && group->told[at].change.what == KFI_WHAT_DROPPED;
}

/* What was made, by the names that it was told of by, without those. */
static bool leave_out(kf_job *job, const kfi_group *group, const kfi_original *made, kf_anim *left)
{
    const kf_anim *written = &made->written.anim;
    *left = *written;
    left->takes = kfi_alloc(job, written->take_count, sizeof *left->takes);
    for (size_t t = 0; left->takes && t < written->take_count; t++) {
        const kf_take *from = &written->takes[t];
        const char *first = kfi_first_name(group, from->name);
        kf_take *to = &left->takes[t];
        *to = *from;
        to->track_count = 0;
        to->tracks = kfi_alloc(job, from->track_count, sizeof *to->tracks);
        if (!to->tracks)
            return false;
        for (size_t i = 0; i < from->track_count; i++) {
            const kf_track *track = &made->anim->takes[from->source].tracks[from->tracks[i].source];
            const char *of = kfi_track_text(job, written->nodes[from->tracks[i].node].name, first, track);
            if (!of)
                return false;
            if (!goes(group, of))
                to->tracks[to->track_count++] = from->tracks[i];
        }
    }
    return left->takes != NULL;
}

bool kfi_drop_told(kf_job *job, const kf_format *format, const kfi_group *group)
{
    kf_anim left;
    kfi_merge_report ignored;
    const char *recorded = group->rig.data ? "rig=1" : "";
    kfi_original made = {.capsule = {.options = recorded}, .count = job->emitted_count};
    made.files = kfi_emitted_files(job, 0, made.count);
    if (!made.files)
        return false;
    if (group->rig.data) /* it stands behind them */
        made.files[made.count++] = group->rig;
    if (!kfi_rewrite(job, format, NULL, &made) || !leave_out(job, group, &made, &left))
        return false;
    job->emitted_count = 0;
    return kfi_export_edited(job, format, &left, &made, made.files[0].name, &ignored);
}
