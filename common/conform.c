#include "conform.h"

#include "curve_frames.h"
#include "fit.h"
#include "rotation.h"

#include <math.h>
#include <string.h>

typedef struct conforming {
    kf_job *job;
    const kf_anim *from;
    const kf_capabilities *can;
    double rate;
    double tolerance;
    const kf_take *take; /* at work */
} conforming;

static bool can(const conforming *c, kf_interp interp)
{
    return c->can->interps >> interp & 1;
}

/* Half of what is tolerated: the way to FBX has used the other half. */
static double rotation_tolerance(const conforming *c)
{
    return (c->tolerance > 0 ? c->tolerance : 0.01) * 0.5;
}

static const char *node_name(const conforming *c, const kf_track *track)
{
    return c->from->nodes[track->node].name;
}

/* ---------------------------------------------------------------- a value a frame */

static size_t frame_count(const conforming *c)
{
    double frames = floor((c->take->end - c->take->start) * c->rate + 0.5) + 1;
    return frames < 1 ? 1 : (size_t)fmin(frames, 1e7);
}

/* A curve's value on each of the frames: that of the key which stands there, if there is one, for FBX rounds times. */
static double *frame_values(const conforming *c, const kf_curve *curve, double rest, size_t first, size_t count)
{
    kfi_frames frames = {c->take->start, c->rate, first + count};
    kfi_walk walk = {curve, rest, 0};
    double *values = kfi_alloc_raw(c->job, count, sizeof *values);
    ptrdiff_t key;
    for (size_t i = 0; values && i < count; i++)
        values[i] = kfi_walk_value(&walk, &frames, first + i, &key);
    return values;
}

/* The frames that a curve's keys lie on or between, of all that the take has. */
static size_t own_frames(const conforming *c, const kf_curve *curve, size_t *first)
{
    double last = (double)(frame_count(c) - 1);
    double from = floor((curve->keys[0].time - c->take->start) * c->rate + 1e-6);
    double to = ceil((curve->keys[curve->count - 1].time - c->take->start) * c->rate - 1e-6);
    from = fmax(0, fmin(from, last));
    to = fmax(from, fmin(to, last));
    *first = (size_t)from;
    return (size_t)(to - from) + 1;
}

static bool sample_curve(const conforming *c, kf_channel channel, kf_curve *curve, double rest)
{
    size_t count = frame_count(c), used = 0, first = 0;
    /* There may be a shape for every frame, each with a weight of a few frames: not all frames for each. */
    if (channel == KF_MORPH && curve->count)
        count = own_frames(c, curve, &first);
    double *values = frame_values(c, curve, rest, first, count);
    kf_curve to = {0};
    if (!values || !kfi_make_keys(c->job, &to, count, false))
        return false;
    bool stepped = !can(c, KF_LINEAR);
    for (size_t i = 0; i < count; i++) {
        /* Held values need no key of their own. */
        if (stepped && used > 0 && values[i] == to.keys[used - 1].value)
            continue;
        to.keys[used++] = (kf_key){
            .time = (double)(first + i) / c->rate, .value = values[i], .interp = stepped ? KF_STEP : KF_LINEAR};
    }
    to.count = used;
    *curve = to;
    return true;
}

static bool sample_rotation(const conforming *c, kf_track *track)
{
    size_t count = frame_count(c);
    double *values[3];
    for (unsigned a = 0; a < 3; a++)
        if (!(values[a] = frame_values(c, &track->curve[a], track->rest[a], 0, count)))
            return false;
    kf_quat_curve to = {0};
    if (!kfi_make_quat_keys(c->job, &to, count, false))
        return false;
    kf_rotation_order order = (kf_rotation_order)c->from->nodes[track->node].order;
    for (size_t i = 0; i < count; i++) {
        double euler[3] = {values[0][i], values[1][i], values[2][i]};
        kf_quat_key *key = &to.keys[i];
        key->time = (double)i / c->rate;
        key->interp = KF_LINEAR;
        kfi_quat_from_euler(euler, order, key->q);
        /* The same half of the sphere as the frame before. */
        const double *last = i ? to.keys[i - 1].q : key->q;
        double dot = key->q[0] * last[0] + key->q[1] * last[1] + key->q[2] * last[2] + key->q[3] * last[3];
        for (int k = 0; dot < 0 && k < 4; k++)
            key->q[k] = -key->q[k];
    }
    track->quat = to;
    track->quaternion = true;
    track->curves = 0;
    return true;
}

static bool conform_sampled(const conforming *c, kf_track *track)
{
    if (track->state != KF_TRACK_NEW)
        return true; /* on the format's frames already */
    if (track->quaternion && !kfi_euler_from_quat_curve(c->job, &track->quat, KF_XYZ, rotation_tolerance(c), track->curve))
        return false;
    if (track->channel == KF_ROTATION && c->can->quaternion)
        return sample_rotation(c, track);
    for (unsigned i = 0; i < track->curves; i++)
        if ((track->curve[i].count || track->channel <= KF_SCALE) &&
            !sample_curve(c, (kf_channel)track->channel, &track->curve[i], track->rest[i]))
            return false;
    return true;
}

/* ---------------------------------------------------------------- keys at any time */

static bool fits(const conforming *c, const kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (!can(c, (kf_interp)curve->keys[i].interp))
            return false;
    return true;
}

/* FBX derives the slopes at such a key from its neighbours, whatever the kind of the segment that arrives there. */
static bool derives(const kf_curve *curve, const kf_key *key)
{
    return key->interp == KF_AUTO || (key->interp == KF_TCB && curve->tcb_rule == KF_TCB_FBX);
}

/* Whether a key's own value shows for no more than an instant, because the segment before it is a step. */
static bool is_instant(const conforming *c, const kf_curve *curve, size_t i)
{
    return i == 0 ? curve->keys[0].time <= c->take->start : curve->keys[i - 1].interp == KF_STEP;
}

/* The kind that the segment after key i can be told in without a change of shape; its own where there is none. */
static kf_interp other_kind(const conforming *c, const kf_curve *curve, size_t i, const kfi_segment *s)
{
    kf_interp own = (kf_interp)curve->keys[i].interp;
    if (s->shape == KFI_HOLD_NEXT && can(c, KF_STEP) && is_instant(c, curve, i))
        return KF_STEP;
    if (s->shape == KFI_CUBIC && can(c, KF_HERMITE))
        return KF_HERMITE;
    if ((s->shape == KFI_CUBIC || s->shape == KFI_BEZIER) && can(c, KF_BEZIER))
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
        key->out = s.h0;
        origin[i].changed |= KF_CHANGED_OUT;
    }
    if (next->interp != KF_AUTO && (converted || derives(from, &from->keys[i + 1]))) {
        next->in = s.h1;
        origin[i + 1].changed |= KF_CHANGED_IN;
    }
}

/* What can be told in another form without a change of shape. */
static bool convert_forms(const conforming *c, kf_curve *curve)
{
    kf_curve to = *curve;
    kf_origin *origin = kfi_alloc(c->job, curve->count, sizeof *origin);
    if (!origin || !kfi_make_keys(c->job, &to, curve->count, curve->tcb != NULL))
        return false;
    for (size_t i = 0; i < curve->count; i++) {
        kf_key *key = &to.keys[i];
        *key = curve->keys[i];
        if (curve->tcb)
            to.tcb[i] = curve->tcb[i];
        origin[i] = curve->origin ? curve->origin[i] : (kf_origin){KF_NEW, KF_CHANGED_ALL};
        if (can(c, (kf_interp)key->interp))
            continue;
        origin[i].changed |= KF_CHANGED_INTERP;
        if (i + 1 == curve->count) {
            key->interp = can(c, KF_STEP) ? KF_STEP : KF_LINEAR;
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
static bool take_tcb_rule(const conforming *c, const kf_track *track, const kf_curve *from, kf_curve *curve)
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
                            curve->keys[i].time, can(c, KF_BEZIER) ? ": --tcb slopes keeps the motion" : "");
    }
    return true;
}

/* Samples tell a jump as a steep line; the format has nothing better. */
static bool tell_jumps(const conforming *c, const kf_track *track, const kf_curve *curve)
{
    size_t jumps = 0;
    double first = 0;
    for (size_t i = 0; i + 1 < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        bool step = key->interp == KF_STEP || key->interp == KF_STEP_NEXT;
        if (step && !can(c, (kf_interp)key->interp) && key->value != key[1].value && jumps++ == 0)
            first = key->interp == KF_STEP ? key[1].time : key->time;
    }
    return jumps == 0 || kfi_warn(c->job, "jumps",
                                  "take \"%.60s\", node \"%.60s\", %s: the format has no such steps: jumps take up to a "
                                  "millisecond (%zu, the first at %.4f s)",
                                  c->take->name, node_name(c, track), kfi_channel_name((kf_channel)track->channel),
                                  jumps, first);
}

static bool conform_curve(const conforming *c, const kf_track *track, kf_curve *curve)
{
    const kf_curve from = *curve;
    if (fits(c, curve) && (!curve->tcb || curve->tcb_rule != KF_TCB_FBX)) {
        curve->tcb_rule = KF_TCB_KOCHANEK;
        return true;
    }
    return convert_forms(c, curve) && take_tcb_rule(c, track, &from, curve) &&
           (fits(c, curve) || (tell_jumps(c, track, curve) &&
                               kfi_fit_curve(c->job, curve, c->can->interps, c->tolerance, curve)));
}

/* A linear key on nearly every frame is a bake: samples of a curve, not the keys of one. */
static bool is_bake(const conforming *c, const kf_curve *curve)
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

static bool fit_bake(const conforming *c, const kf_track *track, kf_curve *curve)
{
    double *times = kfi_alloc_raw(c->job, curve->count, sizeof *times);
    double *values = kfi_alloc_raw(c->job, curve->count, sizeof *values);
    if (!times || !values)
        return false;
    for (size_t i = 0; i < curve->count; i++) {
        times[i] = curve->keys[i].time;
        values[i] = curve->keys[i].value;
    }
    kfi_fit_options options = {.interps = c->can->interps, .tolerance = c->tolerance};
    if (options.tolerance == 0 && track->channel == KF_ROTATION)
        options.tolerance = 0.01;
    return kfi_fit(c->job, times, values, curve->count, &options, curve);
}

static bool conform_keyed(const conforming *c, kf_track *track)
{
    if (track->channel == KF_ROTATION && c->can->quaternion) {
        if (track->quaternion)
            return true;
        kf_quat_curve to = {0};
        if (!kfi_quat_from_euler_curves(c->job, track->curve, track->rest,
                                        (kf_rotation_order)c->from->nodes[track->node].order, rotation_tolerance(c),
                                        &to))
            return false;
        track->quat = to;
        track->quaternion = true;
        track->curves = 0;
        return true;
    }
    if (track->quaternion) {
        if (!kfi_euler_from_quat_curve(c->job, &track->quat, (kf_rotation_order)c->from->nodes[track->node].order,
                                       rotation_tolerance(c), track->curve))
            return false;
        track->quaternion = false;
        track->curves = 3;
    }
    for (unsigned i = 0; i < track->curves; i++) {
        kf_curve *curve = &track->curve[i];
        if (track->state == KF_TRACK_NEW && is_bake(c, curve)) {
            if (!fit_bake(c, track, curve))
                return false;
            continue;
        }
        /* Keys made elsewhere, told by their motion instead of their numbers if that was asked for. */
        if (track->state == KF_TRACK_NEW && c->job->options.tcb == KF_TCB_SLOPES && can(c, KF_BEZIER) &&
            !kfi_without_tcb(c->job, (kf_channel)track->channel, curve))
            return false;
        if (!conform_curve(c, track, curve))
            return false;
    }
    if (!c->can->components_together || track->curves == 1)
        return true;
    size_t more = 0;
    return kfi_unite_keys(c->job, track, c->tolerance, &more) &&
           (more == 0 || kfi_note(c->job, "ease-split",
                                  "take \"%.60s\", node \"%.60s\", %s: x, y and z share their keys: %zu more, so that "
                                  "segments with ease play as before",
                                  c->take->name, node_name(c, track), kfi_channel_name((kf_channel)track->channel), more));
}

static bool conform_take(conforming *c, const kf_take *from, kf_take *to)
{
    c->take = from;
    *to = *from;
    to->tracks = kfi_alloc(c->job, from->track_count, sizeof *to->tracks);
    to->track_count = 0;
    if (!to->tracks)
        return false;
    bool rebased = c->can->frame_rate > 0 && from->source < 0;
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
        if (!(c->can->frame_rate > 0 ? conform_sampled(c, out) : conform_keyed(c, out)))
            return false;
    }
    if (rebased) {
        to->end = from->end - from->start;
        to->start = 0;
    }
    return true;
}

bool kfi_conform(kf_job *job, const kf_anim *from, const kf_capabilities *capabilities, double rate, double tolerance,
                 kf_anim *to)
{
    conforming c = {.job = job, .from = from, .can = capabilities, .rate = rate, .tolerance = tolerance};
    *to = *from;
    if (capabilities->frame_rate > 0)
        to->frame_rate = rate;
    to->takes = kfi_alloc(job, from->take_count, sizeof *to->takes);
    if (!to->takes)
        return false;
    for (size_t i = 0; i < from->take_count; i++)
        if (!conform_take(&c, &from->takes[i], &to->takes[i]))
            return false;
    return true;
}
