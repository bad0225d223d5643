/* Angles of one rotation order as those of another. */
#include "rotation.h"
#include "tolerance.h"

#include <string.h>

/* A line on nearly every frame, at the same times on all three: samples. */
static bool is_sampled(const kf_track *track, double rate)
{
    enum { LEAST = 8 };
    const kf_curve *first = &track->curve[0];
    size_t count = first->count;
    if (count < LEAST || (first->keys[count - 1].time - first->keys[0].time) * rate > 1.5 * (double)(count - 1))
        return false;
    for (unsigned c = 0; c < 3; c++)
        for (size_t i = 0; i < count; i++)
            if (track->curve[c].count != count || track->curve[c].keys[i].interp != KF_LINEAR ||
                track->curve[c].keys[i].time != first->keys[i].time)
                return false;
    return true;
}

/* Each sample by itself, so that what is fitted to them later is fitted to samples. */
static bool turn_samples(kf_job *job, kf_track *track, kf_rotation_order from, kf_rotation_order to)
{
    size_t count = track->curve[0].count;
    kf_curve made[3] = {{0}};
    double q[4], degrees[3];
    for (unsigned c = 0; c < 3; c++)
        if (!kfi_make_keys(job, &made[c], count, 0))
            return false;
    for (size_t i = 0; i < count; i++) {
        double euler[3];
        for (unsigned c = 0; c < 3; c++)
            euler[c] = track->curve[c].keys[i].value;
        kfi_quat_from_euler(euler, from, q);
        double near[3];
        memcpy(near, i ? degrees : euler, sizeof near);
        kfi_quat_to_euler(q, to, near, degrees);
        for (unsigned c = 0; c < 3; c++)
            made[c].keys[i] = (kf_key){.time = track->curve[c].keys[i].time, .value = degrees[c], .interp = KF_LINEAR};
    }
    memcpy(track->curve, made, sizeof made);
    return true;
}

/* The way to orientations and the way back have a quarter of what is tolerated each. */
static bool turn_keys(kf_job *job, kf_track *track, kf_rotation_order from, kf_rotation_order to, double tolerance)
{
    kf_quat_curve quat = {0};
    double within = 0.25 * kfi_tolerated_angle(tolerance);
    if (!kfi_quat_from_euler_curves(job, track->curve, track->rest, from, within, &quat) ||
        !kfi_euler_from_quat_curve(job, &quat, to, within, track->curve))
        return false;
    for (unsigned c = 0; c < 3; c++)
        track->curve[c].origin = NULL; /* keys of what is no one's original */
    return true;
}

/* Whether a curve turns its node by an angle that counts at all. */
static bool turns(const kf_curve *curve, double rest, double least)
{
    bool any = curve->count == 0 && fabs(rest) > least;
    for (size_t i = 0; i < curve->count && !any; i++)
        any = fabs(curve->keys[i].value) > least ||
              (curve->handles && fmax(fabs(curve->handles[i].in.dv), fabs(curve->handles[i].out.dv)) > least);
    return any;
}

bool kfi_turns_alike(const kf_track *track, kf_rotation_order from, kf_rotation_order to, double tolerance)
{
    const char *a = kfi_order_name(from), *b = kfi_order_name(to);
    double least = 0.01 * kfi_tolerated_angle(tolerance);
    char in_a[4] = "", in_b[4] = "";
    for (unsigned i = 0, n = 0, k = 0; i < 3; i++) {
        if (turns(&track->curve[a[i] - 'X'], track->rest[a[i] - 'X'], least))
            in_a[n++] = a[i];
        if (turns(&track->curve[b[i] - 'X'], track->rest[b[i] - 'X'], least))
            in_b[k++] = b[i];
    }
    return strcmp(in_a, in_b) == 0;
}

bool kfi_turn_order(kf_job *job, kf_track *track, kf_rotation_order from, kf_rotation_order to, double rate, double tolerance)
{
    double q[4], near[3];
    memcpy(near, track->rest, sizeof near);
    bool keyed = track->curve[0].count || track->curve[1].count || track->curve[2].count;
    if (keyed && !(is_sampled(track, rate) ? turn_samples(job, track, from, to) : turn_keys(job, track, from, to, tolerance)))
        return false;
    kfi_quat_from_euler(near, from, q);
    kfi_quat_to_euler(q, to, near, track->rest);
    return true;
}

bool kfi_note_order(kf_job *job, const char *take, const char *node, kf_rotation_order from, kf_rotation_order to)
{
    return kfi_note(job, "order", "take \"%.60s\", node \"%.60s\": its rotation order is %s in the FBX and %s in the file, where the "
                                  "same angles turn it otherwise: fitted anew",
                    take, node, kfi_order_name(from), kfi_order_name(to));
}

static bool is_other(const kf_node *node, kf_rotation_order order)
{
    return node->source < 0 && node->order != order;
}

static void turn_rest(kf_node *node, kf_rotation_order to)
{
    double q[4], near[3];
    memcpy(near, node->rest.rotation, sizeof near);
    kfi_quat_from_euler(near, (kf_rotation_order)node->order, q);
    kfi_quat_to_euler(q, to, near, node->rest.rotation);
    node->order = (uint8_t)to;
}

bool kfi_turn_new_nodes(kf_job *job, kf_anim *anim, kf_rotation_order to, double tolerance)
{
    for (size_t t = 0; t < anim->take_count; t++)
        for (size_t i = 0; i < anim->takes[t].track_count; i++) {
            kf_track *track = &anim->takes[t].tracks[i];
            const kf_node *node = &anim->nodes[track->node];
            kf_rotation_order from = (kf_rotation_order)node->order;
            if (is_other(node, to) && track->channel == KF_ROTATION && track->curves == 3 &&
                !kfi_turns_alike(track, from, to, tolerance) &&
                !(kfi_turn_order(job, track, from, to, anim->frame_rate, tolerance) &&
                  kfi_note_order(job, anim->takes[t].name, node->name, from, to)))
                return false;
        }
    for (size_t n = 0; n < anim->node_count; n++)
        if (is_other(&anim->nodes[n], to))
            turn_rest(&anim->nodes[n], to);
    return true;
}
