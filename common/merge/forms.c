/* Kinds of keys that only FBX has, on their way into a game's: slopes that FBX derives, and TCB by FBX's own rule. */
#include "internal.h"

#include <math.h>
#include <string.h>

bool kfi_merge_explicit(kf_job *job, const kf_curve *from, kf_curve *to)
{
    bool any = false;
    for (size_t i = 0; i < from->count; i++)
        any = any || from->keys[i].interp == KF_AUTO;
    *to = *from;
    if (!any)
        return true;
    if (!kfi_own_keys(job, to, KFI_HANDLES))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        kf_key *key = &to->keys[i];
        bool derived = from->keys[i].interp == KF_AUTO, last = i + 1 == from->count;
        kfi_segment s = {.shape = KFI_CUBIC};
        if (!last)
            kfi_curve_segment(from, i, &s);
        if (derived)
            key->interp = s.shape == KFI_BEZIER ? KF_BEZIER : KF_HERMITE;
        if (derived && !last)
            to->handles[i].out = s.h0;
        if (!last && s.shape >= KFI_CUBIC && (derived || from->keys[i + 1].interp == KF_AUTO))
            to->handles[i + 1].in = s.h1;
    }
    return true;
}

static bool bent(kf_handle a, kf_handle b)
{
    double x = kfi_handle_slope(a), y = kfi_handle_slope(b);
    return fabs(x - y) > 1e-5 * (fabs(x) + fabs(y));
}

bool kfi_merge_tell_bent(const kfi_merge_track *t, const kf_curve *edited, const size_t *edited_of, const kf_curve *merged)
{
    bool told = false, noted = false;
    const char *node = t->input->original->nodes[t->original->node].name;
    const char *channel = kfi_channel_name((kf_channel)t->original->channel);
    for (size_t k = 0; k + 1 < merged->count; k++) {
        const kf_key *key = &merged->keys[k];
        bool native = edited->keys[edited_of[k]].interp == KF_TCB, made = merged->origin[k].changed & KF_CHANGED_INTERP;
        if (key->interp != KF_TCB || edited_of[k + 1] != edited_of[k] + 1 || (native ? told || !made : noted))
            continue;
        kfi_segment fbx, game;
        kfi_curve_segment(edited, edited_of[k], &fbx);
        kfi_curve_segment(merged, k, &game);
        if (!bent(fbx.h0, game.h0) && !bent(fbx.h1, game.h1))
            continue;
        told = told || native;
        noted = noted || !native;
        if (!(native ? kfi_warn(t->job, "tcb-bent",
                                "take \"%.60s\", node \"%.60s\", %s at %.4f s: the new TCB keys keep their numbers, by "
                                "which the game gives end keys, unevenly spaced ones and those beside other kinds other "
                                "slopes than FBX does",
                                t->take, node, channel, key->time)
                     : kfi_note(t->job, "tcb-follows",
                                "take \"%.60s\", node \"%.60s\", %s at %.4f s: TCB keys keep their numbers, so that their "
                                "slopes follow the edited keys around them",
                                t->take, node, channel, key->time)))
            return false;
    }
    return true;
}
