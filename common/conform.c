#include "conform_internal.h"

#include "curve_unite.h"
#include "fit/fit.h"
#include "rotation.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

static const char *node_name(const kfi_conforming *c, const kf_track *track)
{
    return c->from->nodes[track->node].name;
}

/* ---------------------------------------------------------------- keys at any time */

static bool fits(const kfi_conforming *c, const kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (!kfi_can(c, (kf_interp)curve->keys[i].interp))
            return false;
    return true;
}

/* FBX derives the slopes at such a key from its neighbours, whatever the kind of the segment that arrives there. */
static bool derives(const kf_curve *curve, const kf_key *key)
{
    return key->interp == KF_AUTO || (key->interp == KF_TCB && curve->tcb_rule == KF_TCB_FBX);
}

/* Whether a key's own value shows for no more than an instant, because the segment before it is a step. */
static bool is_instant(const kfi_conforming *c, const kf_curve *curve, size_t i)
{
    return i == 0 ? curve->keys[0].time <= c->take->start : curve->keys[i - 1].interp == KF_STEP;
}

/* The kind that the segment after key i can be told in without a change of shape; its own where there is none. */
static kf_interp other_kind(const kfi_conforming *c, const kf_curve *curve, size_t i, const kfi_segment *s)
{
    kf_interp own = (kf_interp)curve->keys[i].interp;
    if (s->shape == KFI_HOLD_NEXT && kfi_can(c, KF_STEP) && is_instant(c, curve, i))
        return KF_STEP;
    if (s->shape == KFI_CUBIC && kfi_can(c, KF_HERMITE))
        return KF_HERMITE;
    if ((s->shape == KFI_CUBIC || s->shape == KFI_BEZIER) && kfi_can(c, KF_BEZIER))
        return KF_BEZIER;
    return own;
}

/* Handles for the segment after key i, where its kind or that of its end changed and with it what the handles say. */
static void set_handles(const kf_curve *from, size_t i, kf_curve *to, kf_origin *origin)
{
    kfi_segment s;
    kf_key *key = &to->keys[i], *next = key + 1;
    bool converted = key->interp != from->keys[i].interp;
    kfi_curve_segment(from, i, &s);
    if (key->interp == KF_TCB || (s.shape != KFI_CUBIC && s.shape != KFI_BEZIER))
        return;
    if (converted) {
        to->handles[i].out = s.h0;
        origin[i].changed |= KF_CHANGED_OUT;
    }
    if (next->interp != KF_AUTO && (converted || derives(from, &from->keys[i + 1]))) {
        to->handles[i + 1].in = s.h1;
        origin[i + 1].changed |= KF_CHANGED_IN;
    }
}

/* What can be told in another form without a change of shape. */
static bool convert_forms(const kfi_conforming *c, kf_curve *curve)
{
    kf_curve to = *curve;
    kf_origin *origin = kfi_alloc(c->job, curve->count, sizeof *origin);
    if (!origin || !kfi_own_keys(c->job, &to, KFI_HANDLES))
        return false;
    for (size_t i = 0; i < curve->count; i++) {
        kf_key *key = &to.keys[i];
        origin[i] = curve->origin ? curve->origin[i] : (kf_origin){KF_NEW, KF_CHANGED_ALL};
        if (kfi_can(c, (kf_interp)key->interp))
            continue;
        origin[i].changed |= KF_CHANGED_INTERP;
        if (i + 1 == curve->count) {
            key->interp = kfi_can(c, KF_STEP) ? KF_STEP : KF_LINEAR;
            continue;
        }
        kfi_segment s;
        kfi_curve_segment(curve, i, &s);
        key->interp = (uint8_t)other_kind(c, &to, i, &s);
        if (key->interp != curve->keys[i].interp && key->interp == KF_STEP) {
            key->value = s.v1;
            origin[i].changed |= KF_CHANGED_VALUE;
        }
    }
    for (size_t i = 0; i + 1 < curve->count; i++)
        set_handles(curve, i, &to, origin);
    to.origin = origin;
    *curve = to;
    return true;
}

static bool differ(kf_handle a, kf_handle b, double size)
{
    return fabs(kfi_handle_slope(a) - kfi_handle_slope(b)) > 1e-5 * size;
}

/* FBX's TCB keys keep their numbers; the games' rule gives some of them other slopes. */
static bool take_tcb_rule(const kfi_conforming *c, const kf_track *track, const kf_curve *from, kf_curve *curve)
{
    curve->tcb_rule = KF_TCB_KOCHANEK;
    for (size_t i = 0; i + 1 < curve->count && from->tcb_rule == KF_TCB_FBX; i++) {
        kfi_segment game, fbx;
        if (curve->keys[i].interp != KF_TCB)
            continue;
        kfi_curve_segment(from, i, &fbx);
        kfi_curve_segment(curve, i, &game);
        double size = fabs(kfi_handle_slope(fbx.h0)) + fabs(kfi_handle_slope(fbx.h1)) +
                      fabs(kfi_handle_slope(game.h0)) + fabs(kfi_handle_slope(game.h1));
        if (differ(game.h0, fbx.h0, size) || differ(game.h1, fbx.h1, size))
            return kfi_warn(c->job, "tcb-bent",
                            "take \"%.60s\", node \"%.60s\", %s at %.4f s: the TCB keys keep their numbers, by which the "
                            "game gives end keys, unevenly spaced ones and those beside other kinds other slopes than "
                            "FBX does%s",
                            c->take->name, node_name(c, track), kfi_channel_name((kf_channel)track->channel),
                            curve->keys[i].time, kfi_can(c, KF_BEZIER) ? ": --tcb slopes keeps the motion" : "");
    }
    return true;
}

/* Within half of what is tolerated: what the format does to times and values has the rest. */
static bool fit(const kfi_conforming *c, const kf_track *track, kf_curve *curve)
{
    double share = track->channel == KF_ROTATION ? 0.25 : 0.5; /* misses of three angles add up */
    double within = share * kfi_tolerated(c->tolerance, (kf_channel)track->channel, curve);
    return kfi_fit_curve(c->job, curve, c->can->interps, within, curve);
}

static bool conform_curve(const kfi_conforming *c, const kf_track *track, kf_curve *curve)
{
    const kf_curve from = *curve;
    if (fits(c, curve) && (!curve->tcb || curve->tcb_rule != KF_TCB_FBX)) {
        curve->tcb_rule = KF_TCB_KOCHANEK;
        return true;
    }
    return convert_forms(c, curve) && take_tcb_rule(c, track, &from, curve) &&
           (fits(c, curve) || (kfi_tell_jumps(c, track, curve) && fit(c, track, curve)));
}

/* A linear key on nearly every frame is a bake: samples of a curve, not the keys of one. */
static bool is_bake(const kfi_conforming *c, const kf_curve *curve)
{
    enum { LEAST = 8 };
    if (curve->count < LEAST || c->can->interps == 1u << KF_LINEAR)
        return false;
    double frame = 1.0 / c->from->frame_rate, span = curve->keys[curve->count - 1].time - curve->keys[0].time;
    if (span > 1.5 * frame * (double)(curve->count - 1))
        return false;
    for (size_t i = 0; i < curve->count; i++) {
        double frames = (curve->keys[i].time - curve->keys[0].time) / frame;
        if (curve->keys[i].interp != KF_LINEAR || fabs(frames - nearbyint(frames)) > 0.01)
            return false;
    }
    return true;
}

static bool fit_bake(const kfi_conforming *c, const kf_track *track, kf_curve *curve)
{
    double *times = kfi_alloc_raw(c->job, curve->count, sizeof *times);
    double *values = kfi_alloc_raw(c->job, curve->count, sizeof *values);
    if (!times || !values)
        return false;
    for (size_t i = 0; i < curve->count; i++) {
        times[i] = curve->keys[i].time;
        values[i] = curve->keys[i].value;
    }
    kfi_fit_options options = {.interps = c->can->interps,
                               .tolerance = kfi_tolerated(c->tolerance, (kf_channel)track->channel, curve)};
    return kfi_fit(c->job, times, values, curve->count, &options, curve);
}

static bool tell_more(const kfi_conforming *c, const kf_track *track, const char *code, size_t more, const char *which)
{
    return more == 0 || kfi_note(c->job, code,
                                 "take \"%.60s\", node \"%.60s\", %s: x, y and z share their keys: %zu more, so that segments %s "
                                 "play as before",
                                 c->take->name, node_name(c, track), kfi_channel_name((kf_channel)track->channel), more, which);
}

/* Formats whose components share their keys get them at common times. */
static bool unite(const kfi_conforming *c, kf_track *track)
{
    kfi_united more;
    if (!c->can->components_together || track->curves == 1)
        return true;
    return kfi_unite_keys(c->job, track, c->tolerance, &more) && tell_more(c, track, "ease-split", more.eased, "with ease") &&
           tell_more(c, track, "handle-split", more.passing, "whose handles pass each other");
}

static size_t all_keys(const kf_track *track)
{
    size_t count = 0;
    for (unsigned i = 0; i < track->curves; i++)
        count += track->curve[i].count;
    return count;
}

/* Samples of components that share keys, and numbers instead of handles, are fitted all at once. Not *done: no such case. */
static bool fit_shared(const kfi_conforming *c, const kf_track *track, const bool baked[3], kf_curve fitted[3], bool *done)
{
    const kf_curve *first = &track->curve[0];
    kfi_shared_samples from = {.curves = track->curves, .count = first->count};
    double *times = kfi_alloc_raw(c->job, first->count, sizeof *times);
    *done = c->can->components_together && track->curves > 1 && kfi_can(c, KF_TCB) && kfi_can(c, KF_LINEAR) &&
            !kfi_can(c, KF_BEZIER);
    if (!times)
        return false;
    for (unsigned k = 0; k < track->curves && *done; k++) {
        const kf_curve *curve = &track->curve[k];
        *done = baked[k] && curve->count == first->count;
        double *values = *done ? kfi_alloc_raw(c->job, curve->count, sizeof *values) : NULL;
        if (*done && !values)
            return false;
        for (size_t i = 0; i < curve->count && *done; i++) {
            times[i] = curve->keys[i].time;
            values[i] = curve->keys[i].value;
            *done = times[i] == first->keys[i].time;
        }
        from.values[k] = values;
        from.tolerance[k] = kfi_tolerated(c->tolerance, (kf_channel)track->channel, curve);
    }
    from.times = times;
    return !*done || kfi_fit_lines_or_tcb(c->job, &from, fitted);
}

/* A track with samples: fitted, unless there would be hardly fewer keys than samples. Those are noise, and best said by
 * lines. */
static bool conform_bake(const kfi_conforming *c, kf_track *track, const bool baked[3], kfi_conformed *found)
{
    kf_track fitted = *track;
    bool done;
    if (!fit_shared(c, track, baked, fitted.curve, &done))
        return false;
    for (unsigned i = 0; i < track->curves; i++) {
        if (!baked[i])
            continue;
        found->fitted[i] = kfi_alloc(c->job, 1, sizeof *found->fitted[i]);
        if (!found->fitted[i] || (!done && !fit_bake(c, track, &fitted.curve[i])))
            return false;
        *found->fitted[i] = fitted.curve[i];
    }
    if (!unite(c, &fitted) || !unite(c, track))
        return false;
    if (!done && kfi_can(c, KF_LINEAR) && all_keys(&fitted) > all_keys(track) / 4 * 3)
        memset(found->fitted, 0, sizeof found->fitted);
    else
        *track = fitted;
    return true;
}

/* The curve's TCB keys become ones with handles, its ease keys of their own. */
static bool without_tcb(kf_job *job, kf_channel channel, kf_curve *curve)
{
    kf_curve to;
    if (!kfi_curve_to_slopes(job, curve, 0.1 * kfi_tolerated(0, channel, curve), &to))
        return false;
    kf_origin *origin = kfi_alloc_raw(job, to.count, sizeof *origin);
    for (size_t i = 0; origin && i < to.count; i++) {
        size_t from = to.origin[i].key;
        bool helper = to.keys[i].flags & KF_KEY_HELPER;
        origin[i] = curve->origin && !helper ? curve->origin[from] : (kf_origin){KF_NEW, KF_CHANGED_ALL};
        if (to.keys[i].interp != curve->keys[from].interp)
            origin[i].changed |= KF_CHANGED_INTERP | KF_CHANGED_OUT;
        if (from > 0 && curve->keys[from - 1].interp == KF_TCB)
            origin[i].changed |= KF_CHANGED_IN;
    }
    to.origin = origin;
    *curve = to;
    return origin != NULL;
}

/* The track's angles as quaternions; how many keys those take shows only in the end. */
static bool orientations(const kfi_conforming *c, const kf_track *track, kf_quat_curve *to)
{
    kf_job aside = kfi_aside(c->job);
    kf_quat_curve made = {0};
    bool done = kfi_quat_from_euler_curves(&aside, track->curve, track->rest,
                                           (kf_rotation_order)c->from->nodes[track->node].order, kfi_rotation_tolerance(c),
                                           &made) &&
                kfi_make_quat_keys(c->job, to, made.count, false);
    if (done && made.count)
        memcpy(to->keys, made.keys, made.count * sizeof *made.keys);
    return kfi_aside_end(c->job, &aside) && done;
}

static bool conform_keyed(const kfi_conforming *c, kf_track *track, kfi_conformed *found)
{
    if (track->channel == KF_ROTATION && c->can->quaternion) {
        if (track->quaternion)
            return true;
        kf_quat_curve to = {0};
        if (!orientations(c, track, &to) || !kfi_tell_turn_jumps(c, track, &to))
            return false;
        track->quat = to;
        track->quaternion = true;
        track->curves = 0;
        return true;
    }
    if (track->quaternion) {
        if (!kfi_euler_from_quat_curve(c->job, &track->quat, (kf_rotation_order)c->from->nodes[track->node].order,
                                       kfi_rotation_tolerance(c), track->curve))
            return false;
        track->quaternion = false;
        track->curves = 3;
    }
    bool baked[3] = {false, false, false}, any = false;
    for (unsigned i = 0; i < track->curves; i++) {
        kf_curve *curve = &track->curve[i];
        baked[i] = track->state == KF_TRACK_NEW && is_bake(c, curve);
        any = any || baked[i];
        if (baked[i])
            continue;
        /* Keys made elsewhere, told by their motion instead of their numbers if that was asked for. */
        if (track->state == KF_TRACK_NEW && c->job->options.tcb == KF_TCB_SLOPES && kfi_can(c, KF_BEZIER) &&
            !without_tcb(c->job, (kf_channel)track->channel, curve))
            return false;
        if (!conform_curve(c, track, curve))
            return false;
    }
    return any ? conform_bake(c, track, baked, found) : unite(c, track);
}

/* How often it was said that a motion is another one now. */
static size_t said(const kfi_conforming *c)
{
    return kfi_said(c->job, "tcb-bent") + kfi_said(c->job, "jumps");
}

static bool conform_take(kfi_conforming *c, const kf_take *from, kf_take *to, kfi_conformed *each)
{
    c->take = from;
    *to = *from;
    to->tracks = kfi_alloc(c->job, from->track_count, sizeof *to->tracks);
    to->track_count = 0;
    if (!to->tracks)
        return false;
    bool rebased = c->can->frame_rate > 0 && from->source < 0;
    if (c->can->frame_rate > 0 && !(kfi_frames_fit(c) && kfi_tell_outside(c) && kfi_tell_rounded(c)))
        return false;
    for (size_t i = 0; i < from->track_count; i++) {
        const kf_track *track = &from->tracks[i];
        if (!(c->can->channels >> track->channel & 1)) {
            if (!kfi_track_neutral(track) &&
                !kfi_warn_lost(c->job, "channel", c->from, from, track, "the format has nothing like it; left out"))
                return false;
            continue;
        }
        kf_track *out = &to->tracks[to->track_count++];
        *out = *track;
        if (track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT)
            continue;
        size_t before = said(c);
        if (!(c->can->frame_rate > 0 ? kfi_conform_frames(c, out) : conform_keyed(c, out, &each[i])))
            return false;
        each[i].told = said(c) > before && !out->quaternion; /* how it turns between jumps is still to be looked at */
    }
    if (rebased) {
        to->end = from->end - from->start;
        to->start = 0;
    }
    return true;
}

bool kfi_conform(kf_job *job, const kf_anim *from, const kf_capabilities *capabilities, double rate, double tolerance,
                 kf_anim *to, const kfi_conformed **each)
{
    kfi_conforming c = {.job = job, .from = from, .can = capabilities, .rate = rate, .tolerance = tolerance};
    *to = *from;
    if (capabilities->frame_rate > 0)
        to->frame_rate = rate;
    to->takes = kfi_alloc(job, from->take_count, sizeof *to->takes);
    size_t tracks = 0;
    for (size_t i = 0; i < from->take_count; i++)
        tracks += from->takes[i].track_count;
    kfi_conformed *next = kfi_alloc(job, tracks, sizeof *next);
    *each = next;
    if (!to->takes || !next)
        return false;
    for (size_t i = 0; i < from->take_count; next += from->takes[i++].track_count)
        if (!conform_take(&c, &from->takes[i], &to->takes[i], next))
            return false;
    return true;
}
