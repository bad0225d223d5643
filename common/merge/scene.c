/* One take that shows a whole scene, of a program that keeps an action for each object (Blender, without "All Actions"):
 * every node plays the one of several takes that it happened to play last. Which that is, its motion tells. */
#include "internal.h"

#include <math.h>

/* A node's tracks in the scene, by channel, or NULL. */
typedef const kf_track *tracks_of[KF_SCALE + 1];

/* How much of a node's motion in a take it is what the scene shows, and how much was looked at. */
typedef struct score {
    size_t same, looked;
    uint8_t has; /* a bit for each channel that the take has */
} score;

/* What a take without a channel cannot have moved speaks against it. */
static void count_strange(const kfi_limits *limits, const tracks_of shown, score *s)
{
    for (unsigned channel = 0; s->has && channel <= KF_SCALE; channel++)
        if (shown[channel] && !(s->has >> channel & 1) && kfi_moves(limits, shown[channel]))
            s->looked += shown[channel]->curve[0].count + shown[channel]->curve[1].count + shown[channel]->curve[2].count;
}

static double share(const score *s)
{
    return s->looked ? (double)s->same / (double)s->looked : 0;
}

bool kfi_match_scene(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, const bool *back,
                     kfi_matches *m)
{
    const kf_anim *written = input->written, *edited = input->edited;
    const kf_take *scene = &edited->takes[m->scene];
    size_t nodes = written->node_count;
    tracks_of *shown = kfi_alloc(job, nodes, sizeof *shown);
    score *of_node = kfi_alloc(job, nodes, sizeof *of_node);
    double *best = kfi_alloc(job, nodes, sizeof *best), most = 0, start = 0, end = 0;
    m->home = kfi_alloc(job, nodes, sizeof *m->home);
    if (!shown || !of_node || !best || !m->home)
        return false;
    kfi_take_range(scene, &start, &end);
    for (size_t i = 0; i < nodes; i++)
        m->home[i] = -1;
    for (size_t i = 0; i < scene->track_count; i++) {
        const kf_track *track = &scene->tracks[i];
        if (m->node[track->node] >= 0 && track->channel <= KF_SCALE && track->layer == 0)
            shown[m->node[track->node]][track->channel] = track;
    }
    for (size_t t = 0; t < written->take_count; t++) {
        const kf_take *take = &written->takes[t];
        double first = 0, last = 0, frame = edited->frame_rate > 0 ? 1 / edited->frame_rate : 0;
        if (back[t] || !kfi_take_range(take, &first, &last))
            continue;
        /* From its own start on, or all in their places, counted from frame 1 or 0. */
        const double offsets[] = {start - first, frame, 0};
        for (unsigned o = 0; o < sizeof offsets / sizeof offsets[0]; o++) {
            score all = {0};
            for (size_t i = 0; i < nodes; i++)
                of_node[i] = (score){0};
            for (size_t i = 0; i < take->track_count; i++) {
                const kf_track *was = &take->tracks[i];
                const kf_track *now = was->channel <= KF_SCALE ? shown[was->node][was->channel] : NULL;
                size_t values = 0;
                if (!now)
                    continue;
                of_node[was->node].same += kfi_alike_values(input, limits, ways, was, now, offsets[o], &values);
                of_node[was->node].looked += values;
                of_node[was->node].has |= (uint8_t)(1U << was->channel);
            }
            for (size_t i = 0; i < nodes; i++) {
                count_strange(limits, shown[i], &of_node[i]);
                all.same += of_node[i].same;
                all.looked += of_node[i].looked;
                if (share(&of_node[i]) > best[i]) {
                    best[i] = share(&of_node[i]);
                    m->home[i] = (int32_t)t;
                }
            }
            if (share(&all) > most) {
                most = share(&all);
                m->take[m->scene] = (int32_t)t;
            }
        }
    }
    return true;
}
