/* A bake begins at 0, for programs count frames from there, whenever its take does. Held against a game's
 * file, it is as much later as that begins. */
#include "diff.h"

#include "fbx/capsule.h"
#include "fbx/lower.h"
#include "fbx/lower_bake.h"
#include "merge/merge.h"
#include "recorded.h"

bool kfi_diff_is_bake(kf_job *job, const kf_anim *fbx, bool *baked)
{
    char digest[KFI_DIGEST_SIZE];
    int32_t wrapper = kfi_find_wrapper(fbx, digest);
    const kf_property *property =
        wrapper >= 0 ? kfi_property_named(&fbx->nodes[wrapper], KFI_CAPSULE_PROPERTY) : NULL;
    kfi_capsule capsule = {0};
    const uint8_t *data;
    size_t size;
    *baked = false;
    if (!property || !property->text)
        return true;
    if (kfi_base64_decode(job, property->text, property->text_size, &data, &size) &&
        kfi_capsule_peek(job, data, size, &capsule)) {
        kf_options options = {0};
        kfi_recorded recorded;
        kfi_lower_options lower;
        kfi_recorded_parse(job, capsule.options, &options, &recorded);
        kfi_lower_options_from(&options, &lower);
        *baked = lower.bake;
    } else if (job->error.code == KF_BAD_INPUT) { /* a damaged one tells nothing */
        job->error = (kf_error){.offset = KF_NO_OFFSET};
    }
    return !kfi_failed(job);
}

bool kfi_diff_move_bake(kf_job *job, const kf_take *game, kf_take *bake)
{
    double start = kfi_bake_start(game);
    kf_track *tracks = start != 0 ? kfi_alloc_raw(job, bake->track_count, sizeof *tracks) : NULL;
    if (!tracks)
        return start == 0;
    for (size_t i = 0; i < bake->track_count; i++) {
        tracks[i] = bake->tracks[i];
        for (unsigned c = 0; c < tracks[i].curves; c++) {
            kf_curve *curve = &tracks[i].curve[c];
            if (!kfi_own_keys(job, curve, 0))
                return false;
            for (size_t k = 0; k < curve->count; k++)
                curve->keys[k].time += start;
        }
    }
    bake->tracks = tracks;
    bake->start += start;
    bake->end += start;
    return true;
}
