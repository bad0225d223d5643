/* An FBX that is merged into another file than it came from, into a newer one or into what an FBX before it made: what was not
 * edited in the FBX since it was written is as that file has it. */
#include "internal.h"

#include <math.h>
#include <string.h>

bool kfi_runs_alike(const kfi_limits *limits, unsigned channel, const kf_curve *a, double rest_a, const kf_curve *b, double rest_b,
                    double later)
{
    enum { LOOKS = 4 };
    for (int side = 0; side < 2; side++) {
        const kf_curve *curve = side ? b : a;
        double back = side ? later : 0;
        for (size_t i = 0; i <= curve->count && curve->count; i++) {
            double from = i ? curve->keys[i - 1].time : curve->keys[0].time - 1;
            double to = i < curve->count ? curve->keys[i].time : from + 1;
            for (int look = 0; look < LOOKS && to > from; look++) { /* between keys, where a stepped one is beyond doubt */
                double time = from + (to - from) * (look + 0.5) / LOOKS - back;
                if (!kfi_same_value(limits, channel, kfi_curve_value(a, time, rest_a), kfi_curve_value(b, time + later, rest_b)))
                    return false;
            }
        }
    }
    return a->count || b->count || kfi_same_value(limits, channel, rest_a, rest_b);
}

static bool alike(const kfi_limits *limits, const kf_track *a, const kf_track *b, unsigned c, double later)
{
    return kfi_runs_alike(limits, a->channel, &a->curve[c], a->rest[c], &b->curve[c], b->rest[c], later);
}

static bool same_place(const kf_anim *a, const kf_track *one, const kf_anim *b, const kf_track *other)
{
    return one->channel == other->channel && one->curves == other->curves && !one->name == !other->name &&
           (!one->name || strcmp(one->name, other->name) == 0) &&
           strcmp(a->nodes[one->node].name, b->nodes[other->node].name) == 0;
}

/* The track of the other file that is a written one's, or NULL. */
static const kf_track *find_track(const kf_anim *written, const kf_take *take, size_t i, const kf_anim *into, const kf_take *other)
{
    const kf_track *track = &take->tracks[i];
    if (i < other->track_count && same_place(written, track, into, &other->tracks[i])) /* most are where they were */
        return &other->tracks[i];
    for (size_t k = 0; k < other->track_count; k++)
        if (same_place(written, track, into, &other->tracks[k]))
            return &other->tracks[k];
    return NULL;
}

/* What came back, to be changed: the track of the copy. */
static kf_track *own_track(const kf_anim *from, kf_anim *copy, const kf_track *track, size_t *take)
{
    for (size_t e = 0; e < from->take_count; e++) {
        const kf_take *of = &from->takes[e];
        if (of->track_count && track >= of->tracks && track < of->tracks + of->track_count) {
            *take = e;
            return &copy->takes[e].tracks[track - of->tracks];
        }
    }
    return NULL;
}

static bool copy_takes(kf_job *job, const kf_anim *from, kf_anim *to)
{
    *to = *from;
    kf_take *takes = kfi_alloc(job, from->take_count, sizeof *takes);
    if (!takes)
        return false;
    for (size_t e = 0; e < from->take_count; e++) {
        const kf_take *take = &from->takes[e];
        takes[e] = *take;
        kf_track *tracks = kfi_alloc(job, take->track_count, sizeof *tracks);
        if (!tracks)
            return false;
        if (take->track_count)
            memcpy(tracks, take->tracks, take->track_count * sizeof *tracks);
        takes[e].tracks = tracks;
    }
    to->takes = takes;
    return true;
}

/* The other file's curve in place of one that was not edited. */
static bool put_curve(kf_job *job, const kf_track *from, unsigned c, double later, kf_track *to)
{
    to->curve[c] = from->curve[c];
    to->rest[c] = from->rest[c];
    if (later == 0)
        return true;
    if (!kfi_own_keys(job, &to->curve[c], 0))
        return false;
    for (size_t k = 0; k < to->curve[c].count; k++)
        to->curve[c].keys[k].time += later;
    return true;
}

static bool merge_track(kfi_since *s, const kfi_limits *limits, const kf_take *take, const kf_track *was, const kf_track *other,
                        double later, kf_track *now)
{
    bool edited = false, newer = false, both = false, agreed = true;
    bool touched[3] = {false}, moved[3] = {false};
    kf_rotation_order order = (kf_rotation_order)s->into->nodes[other->node].order;
    bool turns = was->channel == KF_ROTATION; /* its angles are one number */
    if (now->curves != was->curves || (turns && order != (kf_rotation_order)s->from->edited->nodes[now->node].order))
        return true;
    for (unsigned c = 0; c < was->curves; c++) {
        touched[c] = !alike(limits, was, now, c, later);
        moved[c] = !alike(limits, was, other, c, 0);
        edited = edited || touched[c];
        newer = newer || moved[c];
        both = both || (touched[c] && moved[c]);
        agreed = agreed && alike(limits, other, now, c, later);
    }
    if (!newer || agreed)
        return true;
    for (unsigned c = 0; c < was->curves; c++)
        if ((turns ? !edited : !touched[c]) && moved[c] && !put_curve(s->job, other, c, later, now))
            return false;
    if (!(turns ? edited : both))
        return true;
    s->conflicts++;
    return kfi_warn(s->job, "conflict", "take \"%.60s\", node \"%.60s\": the %s was edited in %.100s and in %.100s: the latter stays",
                    take->name, s->from->written->nodes[was->node].name, was->name ? was->name : kfi_channel_name((kf_channel)was->channel),
                    s->elsewhere, s->file);
}

bool kfi_merge_since(kfi_since *s, kf_anim *edited)
{
    const kfi_merge *from = s->from;
    kfi_limits limits;
    kfi_matches matches;
    kfi_set_limits(&limits, from->edited);
    if (!kfi_match(s->job, from, &limits, NULL, &matches) || !copy_takes(s->job, from->edited, edited))
        return false;
    for (size_t t = 0; t < from->written->take_count; t++) {
        const kf_take *take = &from->written->takes[t], *other = kfi_take_named(s->into, take->name);
        double later = matches.offset[t];
        for (size_t i = 0; other && i < take->track_count; i++) {
            const kf_track *back = matches.track[t][i], *there = back ? find_track(from->written, take, i, s->into, other) : NULL;
            size_t e = 0;
            kf_track *now = there ? own_track(from->edited, edited, back, &e) : NULL;
            if (now && !merge_track(s, &limits, take, &take->tracks[i], there, later, now))
                return false;
            kf_take *whole = now ? &edited->takes[e] : NULL;
            double frame = from->edited->frame_rate > 0 ? 0.5 / from->edited->frame_rate : 0;
            if (whole && fabs(whole->end - take->end - later) <= frame) /* it was not made longer or shorter */
                whole->end = other->end + later;
        }
    }
    return true;
}
