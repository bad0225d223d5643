/* Rotations, which are quaternions here, into frames. With the original, frames that did not change keep their bytes;
 * without it they are played. */
#include "ei.h"

#include "rotation.h"

#include <math.h>

/* Writes q with the sign that lies nearer to `near`, which may be of any length, and makes q that. */
static void store_rotation(uint8_t *at, double q[4], const double near[4])
{
    double along = 0.0;
    for (size_t c = 0; c < 4; c++)
        along += q[c] * near[c];
    for (size_t c = 0; c < 4; c++) {
        q[c] = along < 0 ? 0.0 - q[c] : q[c];
        kfi_store_f32(at + 4 * c, (float)q[c]);
    }
}

/* `near` is the orientation before; it follows along. */
static void build_rotation(const ei_part *part, const kf_quat_curve *curve, size_t frame, size_t *cursor,
                           uint8_t *at, double near[4])
{
    double time = kfi_ei_time(part, frame), within = 0.01 / part->rate;
    while (*cursor + 1 < curve->count && curve->keys[*cursor + 1].time < time + within)
        ++*cursor;
    const kf_quat_key *key = &curve->keys[*cursor];
    double q[4];
    if (!(fabs(key->time - time) < within)) {
        kfi_quat_curve_value(curve, time, q);
        store_rotation(at, q, near);
        memcpy(near, q, sizeof q);
        return;
    }
    const kf_origin *origin = curve->origin ? &curve->origin[*cursor] : NULL;
    const uint8_t *kept =
        part->was ? kfi_ei_kept(origin, part->was->rotations, part->was->rotation_count, KFI_EI_QUAT) : NULL;
    memcpy(q, key->q, sizeof q);
    if (kept) {
        memcpy(at, kept, KFI_EI_QUAT);
    } else {
        double was[4];
        bool known = part->was && origin && origin->key < part->was->rotation_count;
        for (size_t c = 0; known && c < 4; c++) {
            was[c] = kfi_load_f32(part->was->rotations + (size_t)origin->key * KFI_EI_QUAT + 4 * c);
            known = isfinite(was[c]);
        }
        store_rotation(at, q, known ? was : near);
    }
    memcpy(near, q, sizeof q);
}

/* How a node is turned against its parent. */
static void local_rotation(const ei_part *part, uint32_t number, double time, double q[4])
{
    const kf_node *node = &part->anim->nodes[number];
    const kf_track *track = kfi_ei_find(part, number, KF_ROTATION);
    if (track && track->quat.count)
        kfi_quat_curve_value(&track->quat, time, q);
    else
        kfi_quat_from_euler(node->rest.rotation, (kf_rotation_order)node->order, q);
}

/* The game turns a part by its own rotation and then by its parent's, about the model's axes: of a part that
 * stands below another, a (of the parent, in the model) times its local rotation times the inverse of a. */
static void game_rotation(const ei_part *part, double time, double q[4])
{
    double a[4] = {1.0, 0.0, 0.0, 0.0}, turned[4];
    local_rotation(part, part->node, time, q);
    if (part->anim->nodes[part->node].parent < 0)
        return;
    for (int32_t n = part->anim->nodes[part->node].parent; n >= 0; n = part->anim->nodes[n].parent) {
        double local[4];
        local_rotation(part, (uint32_t)n, time, local);
        kfi_quat_multiply(local, a, turned);
        memcpy(a, turned, sizeof a);
    }
    const double inverse[4] = {a[0], -a[1], -a[2], -a[3]};
    kfi_quat_multiply(a, q, turned);
    kfi_quat_multiply(turned, inverse, q);
    kfi_quat_normalize(q);
}

static void play_rotations(const ei_part *part, uint32_t count, uint8_t *bytes)
{
    double near[4] = {1.0, 0.0, 0.0, 0.0};
    for (size_t f = 0; f < count; f++) {
        double q[4];
        game_rotation(part, kfi_ei_time(part, f), q);
        store_rotation(bytes + f * KFI_EI_QUAT, q, near);
        memcpy(near, q, sizeof q);
    }
}

static void build_rotations(const ei_part *part, const kf_track *track, uint32_t count, uint8_t *bytes)
{
    double near[4] = {1.0, 0.0, 0.0, 0.0};
    size_t cursor = 0;
    /* Parts of the original stand side by side; the rotations of new ones follow from where they hang. */
    if (!track || (!part->was && part->anim->nodes[part->node].parent >= 0)) {
        play_rotations(part, count, bytes);
        return;
    }
    for (size_t f = 0; f < count; f++)
        build_rotation(part, &track->quat, f, &cursor, bytes + f * KFI_EI_QUAT, near);
}

/* The frames that a rotation's keys ask for. */
static bool rotation_frames(const ei_part *part, const kf_track *track, uint32_t *count)
{
    const kf_quat_curve *curve = &track->quat;
    return curve->count == 0 || (kfi_ei_warn_before(part, "rotation", curve->keys[0].time) &&
                                 kfi_ei_frames(part, curve->keys[curve->count - 1].time, count));
}

bool kfi_ei_export_rotations(const ei_part *part, kfi_ei_anm *anm)
{
    const kf_track *track = kfi_ei_find(part, part->node, KF_ROTATION);
    const double *rest = part->anim->nodes[part->node].rest.rotation;
    uint32_t count = 0, above;
    if (track && part->was && kfi_ei_untouched(track)) {
        anm->rotation_count = part->was->rotation_count;
        anm->rotations = part->was->rotations;
        return true;
    }
    if (track && !rotation_frames(part, track, &count))
        return false;
    /* One that stands still, but turned: a frame, or as many as what it hangs on has. */
    if (!track && !part->was && (rest[0] != 0 || rest[1] != 0 || rest[2] != 0)) {
        count = 1;
        for (int32_t n = part->anim->nodes[part->node].parent; n >= 0; n = part->anim->nodes[n].parent) {
            const kf_track *parent = kfi_ei_find(part, (uint32_t)n, KF_ROTATION);
            above = 0;
            if (parent && !rotation_frames(part, parent, &above))
                return false;
            count = above > count ? above : count;
        }
    }
    uint8_t *bytes = kfi_alloc_raw(part->job, count, KFI_EI_QUAT);
    anm->rotation_count = count;
    anm->rotations = bytes;
    if (bytes)
        build_rotations(part, track, count, bytes);
    return bytes != NULL;
}
