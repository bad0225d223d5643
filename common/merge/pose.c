/* Curves that a program dropped because they stand still. It leaves their value in the node's own transform, which is the
 * node's pose in the frame that the program showed: a standing curve that was edited is found there, and nowhere else. But
 * a pose may also be another take's, or one that somebody left behind without making keys of it; then it tells nothing,
 * and what was written counts. */
#include "internal.h"

#include <math.h>
#include <string.h>

/* A node's tracks of a take as they came back, by channel, or NULL. */
typedef const kf_track *tracks_of[KF_SCALE + 1];

static bool stands_at(const kf_node *node, const kfi_turn *turn, const tracks_of tracks, double time)
{
    for (unsigned channel = 0; channel <= KF_SCALE; channel++) {
        const kf_track *track = tracks[channel];
        double now[3];
        for (unsigned c = 0; track && c < 3; c++)
            now[c] = kfi_curve_value(&track->curve[c], time, kfi_rest_of(node, channel)[c]);
        if (track && channel == KF_ROTATION && turn) /* the node's own is turned back already */
            kfi_undo(turn, channel, (kf_rotation_order)node->order, now, now);
        kf_rotation_order order = (kf_rotation_order)node->order;
        if (track && !kfi_alike(channel, now, order, kfi_rest_of(node, channel), order))
            return false;
    }
    return true;
}

/* Whether the node's own transform is its pose in some frame of its motion; of which there are no more than about twice as
 * many as were written. */
static bool is_played(const kfi_merging *m, const kf_node *node, const kfi_turn *turn, const tracks_of tracks, size_t written)
{
    double first = INFINITY, last = -INFINITY, rate = m->input->edited->frame_rate;
    for (unsigned channel = 0; channel <= KF_SCALE; channel++)
        for (unsigned c = 0; tracks[channel] && c < 3; c++) {
            const kf_curve *curve = &tracks[channel]->curve[c];
            if (curve->count) {
                first = fmin(first, curve->keys[0].time);
                last = fmax(last, curve->keys[curve->count - 1].time);
            }
        }
    double frames = (last - first) * rate + 1;
    for (size_t i = 0; frames < 2 * (double)written + 16 && (double)i < frames; i++)
        if (stands_at(node, turn, tracks, first + (double)i / rate))
            return true;
    return false;
}

/* It would be dropped as it was written: then `low` and `high` are its values. */
static bool stands(const kf_curve *curve, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < curve->count; i++) {
        *low = fmin(*low, curve->keys[i].value);
        *high = fmax(*high, curve->keys[i].value);
    }
    return curve->count > 0 && *high - *low <= kfi_thinning(*low, *high);
}

/* The keys of a written curve, all with one value. */
static bool stand(kf_job *job, const kf_curve *was, double offset, double value, kf_curve *to)
{
    *to = (kf_curve){0};
    if (!kfi_make_keys(job, to, was->count, 0))
        return false;
    for (size_t i = 0; i < was->count; i++)
        to->keys[i] = (kf_key){.time = was->keys[i].time + offset, .value = value, .interp = KF_LINEAR};
    return true;
}

/* `played`: the node's own transform tells where a curve without keys stands. What the track itself says of that (FBX has
 * room for it there, too) may be older. */
static bool fill_track(kfi_merging *m, size_t take, size_t index, bool played)
{
    const kf_track *was = &m->input->written->takes[take].tracks[index], **back = &m->matches.track[take][index];
    const int32_t number = m->matches.back[was->node];
    const kf_node *node = &m->input->edited->nodes[number];
    const double *rest = kfi_rest_of(node, was->channel);
    kf_track filled = *back ? **back : (kf_track){.node = (uint32_t)number, .channel = was->channel, .curves = 3};
    bool dropped[3], any = false, moved = false;
    for (unsigned c = 0; c < 3; c++) {
        double low, high;
        dropped[c] = stands(&was->curve[c], &low, &high) && filled.curve[c].count == 0;
        any = any || dropped[c];
        moved = moved || (dropped[c] && !kfi_same_value(&m->limits, was->channel, fmax(low, fmin(high, rest[c])), rest[c]));
        filled.rest[c] = rest[c];
    }
    if (!any || (!*back && !(played && moved)))
        return true;
    for (unsigned c = 0; c < 3; c++) {
        bool written = !played && was->channel != KF_TRANSLATION; /* that is put in its place, and told of, later */
        if (dropped[c] && (written || (played && moved)) &&
            !stand(m->job, &was->curve[c], m->matches.offset[take], written ? was->curve[c].keys[0].value : rest[c],
                   &filled.curve[c]))
            return false;
    }
    kf_track *copy = kfi_alloc(m->job, 1, sizeof *copy);
    if (!copy)
        return false;
    *copy = filled;
    *back = copy;
    return true;
}

bool kfi_fill_standing(kfi_merging *m, size_t written_take)
{
    const kf_take *take = &m->input->written->takes[written_take];
    if (m->limits.exact || !m->input->baked)
        return true;
    size_t nodes = m->input->written->node_count;
    tracks_of *of_node = kfi_alloc(m->job, nodes, sizeof *of_node);
    uint8_t *played = kfi_alloc(m->job, nodes, sizeof *played); /* 1: yes, 2: no */
    if (!of_node || !played)
        return false;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i], *back = m->matches.track[written_take][i];
        if (track->channel <= KF_SCALE && back && back->curves == 3)
            of_node[track->node][track->channel] = back;
    }
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i], *back = m->matches.track[written_take][i];
        int32_t node = m->matches.back[track->node];
        if (track->channel > KF_SCALE || track->curves != 3 || node < 0 || (back && back->curves != 3) ||
            (back && back->curve[0].count && back->curve[1].count && back->curve[2].count))
            continue;
        const kfi_turn *turn = m->turn ? m->turn[node] : NULL;
        if (turn && track->channel == KF_ROTATION)
            continue; /* in other axes other curves stand still */
        uint8_t *known = &played[track->node];
        size_t most = 0;
        for (unsigned c = 0; c < 3; c++)
            most = track->curve[c].count > most ? track->curve[c].count : most;
        if (!*known)
            *known = m->input->written->take_count == 1 &&
                             is_played(m, &m->input->edited->nodes[node], turn, of_node[track->node], most)
                         ? 1
                         : 2;
        if (!fill_track(m, written_take, i, *known == 1))
            return false;
    }
    return true;
}
