/* Kinds of keys that only FBX has, on their way into a game's: slopes that FBX derives, and TCB by FBX's own rule. */
#include "curve_unite.h"
#include "internal.h"
#include "tolerance.h"

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

/* TCB segment k of a merged component, as the FBX shows it with handles and as the game plays it. False: the FBX shows it in no
 * such form, or as the game does. */
static bool shown_otherwise(const kfi_merge_track *t, unsigned c, size_t k, kfi_segment *fbx)
{
    const kf_curve *merged = &t->merged->curve[c], *edited = &t->shown[c].edited;
    const size_t *of = t->shown[c].of;
    kfi_segment game;
    if (merged->keys[k].interp != KF_TCB || of[k + 1] != of[k] + 1 || edited->keys[of[k]].interp == KF_TCB ||
        kfi_segment_eased(merged, k))
        return false;
    kfi_curve_segment(edited, of[k], fbx);
    kfi_curve_segment(merged, k, &game);
    return fbx->shape >= KFI_CUBIC && (bent(fbx->h0, game.h0) || bent(fbx->h1, game.h1));
}

/* Segment k takes that form. */
static void take_shown(kf_curve *curve, size_t k, const kfi_segment *fbx)
{
    kf_origin *origin = (kf_origin *)curve->origin; /* just made, and so are the handles */
    curve->keys[k].interp = fbx->shape == KFI_BEZIER ? KF_BEZIER : KF_HERMITE;
    curve->handles[k].out = fbx->h0;
    curve->handles[k + 1].in = fbx->h1;
    origin[k].changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
    origin[k + 1].changed |= KF_CHANGED_IN;
}

/* Those that will be told by handles for the sake of other components' keys: their numbers give the slope no more, so it need
 * not follow the edited keys around them. */
static bool take_parted(kfi_merge_track *t)
{
    kf_job aside = kfi_aside(t->job);
    kf_track united = *t->original;
    kfi_united more;
    memcpy(united.curve, t->merged->curve, sizeof united.curve);
    bool done = kfi_unite_keys(&aside, &united, t->input->tolerance, &more);
    for (unsigned c = 0; done && c < united.curves; c++) {
        kf_curve *curve = &t->merged->curve[c];
        for (size_t k = 0, at = 0; t->shown[c].of && united.curve[c].keys != curve->keys && k + 1 < curve->count; k++, at++) {
            kfi_segment fbx;
            while (at + 1 < united.curve[c].count && united.curve[c].keys[at].time < curve->keys[k].time)
                at++;
            if (united.curve[c].keys[at].interp != KF_TCB && shown_otherwise(t, c, k, &fbx))
                take_shown(curve, k, &fbx);
        }
    }
    return kfi_aside_end(t->job, &aside) && done;
}

/* How far off the one is from the other at the most. */
static double apart(const kfi_segment *a, const kfi_segment *b)
{
    return 12.0 / 27.0 * (fabs(a->h0.dv - b->h0.dv) + fabs(a->h1.dv - b->h1.dv));
}

static bool has_others(const kf_curve *curve)
{
    for (size_t k = 0; k + 1 < curve->count; k++)
        if (curve->keys[k].interp != KF_TCB)
            return true;
    return false;
}

/* Where a format has no handles, and keys came in that are not TCB: it seeks numbers, and sets more keys, so that the motion is
 * followed. That is to be what the FBX shows, or it would go to great lengths to follow what nobody has drawn. */
static void take_fitted(kfi_merge_track *t)
{
    for (unsigned c = 0; c < t->original->curves; c++) {
        kf_curve *curve = &t->merged->curve[c];
        double half = 0.5 * kfi_tolerated(t->input->tolerance, (kf_channel)t->original->channel, curve); /* for seeking the other */
        bool fitted = t->shown[c].of && has_others(curve);
        for (size_t k = 0; fitted && k + 1 < curve->count; k++) {
            kfi_segment fbx, game;
            kfi_curve_segment(curve, k, &game);
            if (shown_otherwise(t, c, k, &fbx) && apart(&fbx, &game) > half)
                take_shown(curve, k, &fbx);
        }
    }
}

bool kfi_merge_shown(kfi_merge_track *t)
{
    const kf_capabilities *can = t->input->capabilities;
    if (!can->components_together || t->original->curves == 1)
        return true;
    if (!(can->interps >> KF_BEZIER & 1))
        take_fitted(t);
    return take_parted(t);
}

bool kfi_merge_tell_bent(const kfi_merge_track *t, unsigned c)
{
    const kf_curve *merged = &t->merged->curve[c], *edited = &t->shown[c].edited;
    const size_t *edited_of = t->shown[c].of;
    bool told = false, noted = false;
    const char *node = t->input->original->nodes[t->original->node].name;
    const char *channel = kfi_channel_name((kf_channel)t->original->channel);
    for (size_t k = 0; edited_of && k + 1 < merged->count; k++) {
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
