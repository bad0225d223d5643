/* Steps in a format that has none: samples tell them as steep lines, and the format has nothing better. */
#include "conform_internal.h"

#include "rotation.h"

typedef struct jumps {
    size_t count;
    double first; /* when */
} jumps;

static void add_jump(jumps *found, double time)
{
    if (found->count++ == 0)
        found->first = time;
}

static bool tell(const kfi_conforming *c, const kf_track *track, const jumps *found)
{
    return found->count == 0 ||
           kfi_warn(c->job, "jumps",
                    "take \"%.60s\", node \"%.60s\", %s: the format has no such steps: jumps take up to a millisecond (%zu, "
                    "the first at %.4f s)",
                    c->take->name, c->from->nodes[track->node].name, kfi_channel_name((kf_channel)track->channel), found->count,
                    found->first);
}

bool kfi_tell_jumps(const kfi_conforming *c, const kf_track *track, const kf_curve *curve)
{
    jumps found = {0};
    for (size_t i = 0; i + 1 < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        bool step = key->interp == KF_STEP || key->interp == KF_STEP_NEXT;
        if (step && !kfi_can(c, (kf_interp)key->interp) && key->value != key[1].value)
            add_jump(&found, key->interp == KF_STEP ? key[1].time : key->time);
    }
    return tell(c, track, &found);
}

bool kfi_tell_turn_jumps(const kfi_conforming *c, const kf_track *track, const kf_quat_curve *quat)
{
    jumps found = {0};
    for (size_t i = 0; i + 1 < quat->count && !kfi_can(c, KF_STEP); i++) {
        const kf_quat_key *key = &quat->keys[i];
        if (key->interp == KF_STEP && kfi_quat_angle(key->q, key[1].q) > kfi_rotation_tolerance(c))
            add_jump(&found, key[1].time);
    }
    return tell(c, track, &found);
}
