/* Handles of a curve that came back with its keys: which were edited, and what becomes of those beside keys that moved, came
 * or went.
 *
 * An FBX handle is a share of its segment; a game's is a point. Beside a key that came, went or was moved in time, the segment
 * is another one, and the same point is another share: so points are compared there. A program that keeps its handles in place
 * leaves them alone; one that keeps their shares has drawn longer or shorter ones, and those are what the artist saw. */
#include "handles.h"

#include <math.h>

static const double SHARE = 1.01e-4; /* FBX counts shares in steps of 1/9999 */

/* ---------------------------------------------------------------- what changed */

static bool same_slope(const kfi_merge_track *t, kf_handle a, kf_handle b)
{
    double slope_a = a.dt != 0 ? a.dv / a.dt : 0, slope_b = b.dt != 0 ? b.dv / b.dt : 0;
    return fabs(slope_a - slope_b) <= t->limits->slope * (fmax(fabs(slope_a), fabs(slope_b)) + 1e-3);
}

static double share_of(kf_handle handle, double segment)
{
    return segment != 0 ? handle.dt / segment : 0;
}

/* One side of a key: its handles, their segments, and whether it is the same one as in what was written. */
typedef struct side {
    kf_handle was, now;
    double was_segment, now_segment;
    uint8_t was_interp, now_interp; /* of the segments */
    bool had;                       /* there was one */
    bool same_neighbour;
} side;

static bool side_of(const kfi_both *both, const kfi_pairing *p, bool out, side *s)
{
    const kf_curve *w = both->written, *e = both->edited;
    size_t i = both->i, j = both->j;
    if (out ? j + 1 == e->count : j == 0)
        return false;
    size_t next = out ? j + 1 : j - 1;
    kf_handles was = kfi_handles_of(w, i), now = kfi_handles_of(e, j);
    *s = (side){.was = out ? was.out : was.in, .now = out ? now.out : now.in, .had = out ? i + 1 < w->count : i > 0};
    s->now_segment = e->keys[next].time - e->keys[j].time;
    s->now_interp = e->keys[out ? j : next].interp;
    if (s->had) {
        size_t before = out ? i + 1 : i - 1;
        s->was_segment = w->keys[before].time - w->keys[i].time;
        s->was_interp = w->keys[out ? i : before].interp;
        s->same_neighbour = !p || p->partner[next] == (int64_t)before;
    }
    return true;
}

/* Its segment is no longer or shorter than it was, and ends at the same key. */
static bool same_segment(const kfi_merge_track *t, const side *s)
{
    return s->same_neighbour && fabs(s->was_segment - s->now_segment) <= 2 * t->limits->time;
}

/* FBX had room for the original's handle, so that what came back tells of it. */
static bool told(const side *s, kf_handle original)
{
    return fabs(s->was.dt - original.dt) <= 1e-3 * fabs(original.dt);
}

static bool side_changed(const kfi_merge_track *t, const side *s, kf_handle original, bool native)
{
    if (!kfi_has_handles(s->now_interp))
        return false;
    if (!s->had || !kfi_has_handles(s->was_interp) || !same_slope(t, s->was, s->now))
        return true;
    if (s->was_interp != KF_BEZIER && s->now_interp != KF_BEZIER)
        return false; /* without lengths */
    if (same_segment(t, s) || native || (s->same_neighbour && !told(s, original)))
        return fabs(share_of(s->was, s->was_segment) - share_of(s->now, s->now_segment)) > SHARE;
    return fabs(s->was.dt - s->now.dt) > SHARE * fmax(fabs(s->was_segment), fabs(s->now_segment));
}

uint32_t kfi_handle_changes(const kfi_merge_track *t, const kf_curve *from, size_t origin, const kfi_both *both,
                            const kfi_pairing *p)
{
    side s;
    uint32_t changed = 0;
    kf_handles own = origin < from->count ? kfi_handles_of(from, origin) : (kf_handles){{0, 0}, {0, 0}};
    /* Kinds that only the game has do not have the handles that they are shown with. */
    if (side_of(both, p, true, &s) && side_changed(t, &s, own.out, origin < from->count && from->keys[origin].native != 0))
        changed |= KF_CHANGED_OUT;
    if (side_of(both, p, false, &s) &&
        side_changed(t, &s, own.in, origin > 0 && origin <= from->count && from->keys[origin - 1].native != 0))
        changed |= KF_CHANGED_IN;
    return changed;
}

/* ---------------------------------------------------------------- what follows */

/* `before` is the original's key that begins the handle's segment; `own` the handle there. */
static bool follows(const kfi_merge_track *t, const kf_key *before, kf_handle own, const side *s)
{
    if (!s->had || !kfi_has_handles(s->now_interp) || !kfi_has_handles(before->interp) || before->native != 0 || same_segment(t, s))
        return false;
    bool thirds = s->was_interp == KF_HERMITE && s->now_interp == KF_HERMITE && told(s, own);
    bool room = fabs(own.dt) <= fabs(s->now_segment) && !thirds;
    return (before->interp == KF_HERMITE || !room) && (!s->same_neighbour || told(s, own));
}

/* A handle without a length, here or in the FBX, where it is a third of whatever its segment is, and one whose segment has no
 * longer room for it are what the FBX shows; but one that FBX had no room for is not taken from it. */
uint32_t kfi_handles_follow(const kfi_merge_track *t, const kf_curve *from, size_t origin, const kfi_both *both,
                            const kfi_pairing *p)
{
    const kf_key *key = &from->keys[origin];
    kf_handles original = kfi_handles_of(from, origin);
    side s;
    uint32_t changed = 0;
    if (!(t->input->capabilities->interps >> KF_BEZIER & 1))
        return 0; /* no room for a handle's length: its slope is all there is */
    if (side_of(both, p, true, &s) && follows(t, key, original.out, &s))
        changed |= KF_CHANGED_OUT;
    if (origin > 0 && side_of(both, p, false, &s) && follows(t, key - 1, original.in, &s))
        changed |= KF_CHANGED_IN;
    return changed;
}

/* ---------------------------------------------------------------- what they are now */

bool kfi_same_rise(const kfi_merge_track *t, kf_handle was, double was_distance, kf_handle now, double now_distance)
{
    double a = was.dt != 0 ? was.dv / was.dt * was_distance : 0, b = now.dt != 0 ? now.dv / now.dt * now_distance : 0;
    return fabs(a - b) <= t->limits->slope * (fmax(fabs(a), fabs(b)) + 1e-3);
}

/* FBX rounds a handle's length: where the segment was stretched and the handle with it, it is the original's, stretched; with
 * what it rises by, or with its slope. */
static kf_handle stretched(const kfi_merge_track *t, kf_handle original, const side *s)
{
    bool whole = s->had && s->was_segment != 0 && s->now_segment != 0 && told(s, original) && same_slope(t, original, s->was);
    if (!whole || fabs(share_of(s->was, s->was_segment) - share_of(s->now, s->now_segment)) > SHARE)
        return s->now;
    double longer = s->now_segment / s->was_segment;
    if (kfi_same_rise(t, s->was, s->was_segment, s->now, s->now_segment))
        return (kf_handle){original.dt * longer, original.dv};
    return same_slope(t, s->was, s->now) ? (kf_handle){original.dt * longer, original.dv * longer} : s->now;
}

void kfi_take_handles(const kfi_merge_track *t, const kfi_both *both, uint32_t changed, kf_handles *original)
{
    kf_handles now = kfi_handles_of(both->edited, both->j);
    side s;
    if (changed & (KF_CHANGED_INTERP | KF_CHANGED_OUT))
        original->out = side_of(both, NULL, true, &s) ? stretched(t, original->out, &s) : now.out;
    if (changed & KF_CHANGED_IN)
        original->in = side_of(both, NULL, false, &s) ? stretched(t, original->in, &s) : now.in;
}
