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

static bool same_times(const kfi_limits *limits, const kf_curve *a, const kf_curve *b, double later)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = fabs(b->keys[i].time - later - a->keys[i].time) <= limits->time;
    return same;
}

/* The same kinds of keys, with the same numbers, whether they bend anything or not. */
static bool same_forms(const kf_curve *a, const kf_curve *b)
{
    bool same = true;
    for (size_t i = 0; same && i < a->count; i++) {
        kf_tcb p = a->tcb ? a->tcb[i] : (kf_tcb){0}, q = b->tcb ? b->tcb[i] : (kf_tcb){0};
        same = a->keys[i].interp == b->keys[i].interp && p.tension == q.tension && p.continuity == q.continuity && p.bias == q.bias;
    }
    return same;
}

/* The same motion; and by the same keys, unless these are samples: what was edited need not show on every axis. */
static bool alike(const kfi_limits *limits, bool samples, const kf_track *a, const kf_track *b, unsigned c, double later)
{
    return kfi_runs_alike(limits, a->channel, &a->curve[c], a->rest[c], &b->curve[c], b->rest[c], later) &&
           (samples || (same_times(limits, &a->curve[c], &b->curve[c], later) && same_forms(&a->curve[c], &b->curve[c])));
}

static bool same_place(const kf_anim *a, const kf_track *one, const kf_anim *b, const kf_track *other)
{
    return one->channel == other->channel && one->curves == other->curves && !one->name == !other->name &&
           (!one->name || strcmp(one->name, other->name) == 0) &&
           strcmp(a->nodes[one->node].name, b->nodes[other->node].name) == 0;
}

/* The track of the other file that is a written one's, or NULL. */
static const kf_track *find_track(const kf_anim *written, const kf_track *track, size_t i, const kf_anim *into, const kf_take *other)
{
    if (i < other->track_count && same_place(written, track, into, &other->tracks[i])) /* most are where they were */
        return &other->tracks[i];
    for (size_t k = 0; k < other->track_count; k++)
        if (same_place(written, track, into, &other->tracks[k]))
            return &other->tracks[k];
    return NULL;
}

/* The take of another file that is this one. Where a file is one take, its name may be the file's. */
static const kf_take *find_take(const kf_anim *anim, const kf_take *take, const kf_anim *other)
{
    return anim->take_count == 1 && other->take_count == 1 ? &other->takes[0] : kfi_take_named(other, take->name);
}

bool kfi_is_newer(const kfi_merge *input, const kf_take *take, size_t track)
{
    const kf_take *came = input->came ? find_take(input->written, take, input->came) : NULL;
    return input->came && (!came || !find_track(input->written, &take->tracks[track], track, input->came, came));
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

/* What FBX files before this one did to a track, or NULL. */
static const kfi_told *told_of(const kfi_since *s, const char *of)
{
    int64_t at = s->known ? kfi_map_get(s->known, of, strlen(of)) : -1;
    return at >= 0 && s->told[at].change.what != KFI_WHAT_SAME ? &s->told[at] : NULL;
}

static const char *track_title(const kf_track *track)
{
    return track->name ? track->name : kfi_channel_name((kf_channel)track->channel);
}

static bool tell(const kfi_since *s, const kfi_mix *mix, const kf_take *take, double shift)
{
    const kf_track *was = mix->was;
    if (mix->conflicts == 0)
        return true;
    const char *of = kfi_track_text(s->job, s->from->written->nodes[was->node].name, take->name, mix->original);
    if (!of)
        return false;
    const kfi_told *told = told_of(s, of);
    const char *which = mix->end - mix->begin > 1 || was->curves != 3 ? "" : mix->begin == 0 ? " x" : mix->begin == 1 ? " y" : " z";
    const char *there = mix->away ? "deleted" : "edited", *here = mix->gone ? "deleted " : mix->away ? "edited " : "";
    const char *more = mix->conflicts > 1 ? kfi_format_text(s->job, ", and both changed %zu more of its keys", mix->conflicts - 1) : "";
    return more && kfi_warn(s->job, "conflict", "take \"%.60s\", node \"%.60s\": the %s%s at %.4f s was %s in %.100s and %sin %.100s%s: "
                                                "the latter stays",
                            take->name, s->from->written->nodes[was->node].name, track_title(was), which, mix->first - shift, there,
                            told ? told->files : s->elsewhere, here, s->file, more);
}

/* The curves of `mix` if both sides have edited them; if only the other one has, that one's. */
static bool merge_curves(kfi_since *s, kfi_mix *mix, const kf_take *take, double shift)
{
    bool edited = false, newer = false, agreed = true, back = true;
    bool samples = kfi_came_back_baked(mix->from, mix->was, mix->now);
    for (unsigned c = mix->begin; c < mix->end; c++) {
        edited = edited || !alike(mix->limits, samples, mix->was, mix->now, c, mix->later);
        newer = newer || !alike(mix->limits, samples, mix->was, mix->other, c, 0);
        agreed = agreed && alike(mix->limits, samples, mix->other, mix->now, c, mix->later);
        back = back && mix->now->curve[c].count > 0;
    }
    if (!newer || agreed || (edited && !back))
        return true;
    if (edited)
        return kfi_mix_curves(mix) && tell(s, mix, take, shift);
    for (unsigned c = mix->begin; c < mix->end; c++)
        if (!put_curve(s->job, mix->other, c, mix->later, mix->now))
            return false;
    return true;
}

static bool merge_track(kfi_since *s, kfi_mix *mix, const kf_take *take, double shift)
{
    const kf_track *was = mix->was;
    bool same_order = s->into->nodes[mix->other->node].order == s->from->edited->nodes[mix->now->node].order;
    if (mix->now->curves != was->curves || (was->channel == KF_ROTATION && !same_order))
        return true;
    /* Angles that a quaternion was told by, or a program's matrices, are one number. */
    bool turns = was->channel == KF_ROTATION && was->curves == 3 &&
                 (mix->original->quaternion || (s->from->baked && !mix->limits->exact));
    unsigned step = turns ? 3 : 1;
    for (unsigned c = 0; c < was->curves; c += step) {
        mix->begin = c;
        mix->end = c + step;
        if (!merge_curves(s, mix, take, shift))
            return false;
    }
    return true;
}

/* An FBX on its way into another file: how it compares with what it came from, and what becomes of it. */
typedef struct kfi_sorting {
    kfi_since *s;
    kfi_merging m; /* with what it came from */
    kfi_matches other; /* the same of the other FBX, if it is one */
    kf_anim *edited;
} kfi_sorting;

/* A written node's mesh as the other file has it, or NULL. */
static const kf_mesh *mesh_there(const kfi_sorting *o, size_t node)
{
    const kf_anim *into = o->s->into;
    if (o->s->came_back)
        return o->other.back[node] >= 0 ? into->nodes[o->other.back[node]].mesh : NULL;
    for (size_t k = 0; k < into->node_count; k++)
        if (into->nodes[k].mesh && strcmp(into->nodes[k].name, o->s->from->written->nodes[node].name) == 0)
            return into->nodes[k].mesh;
    return NULL;
}

static bool merge_meshes(const kfi_sorting *o)
{
    const kfi_since *s = o->s;
    const kf_anim *from = s->from->edited, *written = s->from->written;
    kf_node *nodes = kfi_alloc(s->job, from->node_count, sizeof *nodes);
    if (!nodes)
        return false;
    if (from->node_count)
        memcpy(nodes, from->nodes, from->node_count * sizeof *nodes);
    o->edited->nodes = nodes;
    for (size_t i = 0; i < written->node_count; i++) {
        const kf_mesh *was = written->nodes[i].mesh;
        kf_node *now = was && o->m.matches.back[i] >= 0 ? &nodes[o->m.matches.back[i]] : NULL;
        const kf_mesh *there = now && now->mesh ? mesh_there(o, i) : NULL;
        size_t conflicts = 0;
        if (there && !kfi_mix_mesh(s->job, was, there, &now->mesh, &conflicts))
            return false;
        if (conflicts && !kfi_warn(s->job, "conflict", "node \"%.60s\": %zu points of its shapes were moved in %.100s and in %.100s: the latter "
                                                       "stays", written->nodes[i].name, conflicts, s->elsewhere, s->file))
            return false;
    }
    return true;
}

/* Whether a track came back as it was written, or with nothing in it. */
static bool unedited(const kfi_sorting *o, const kf_track *was, const kf_track *now, double later)
{
    const kfi_merge *from = o->s->from;
    bool samples = kfi_came_back_baked(from, was, now), empty = true, same = now->curves == was->curves;
    if (was->channel == KF_ROTATION && from->written->nodes[was->node].order != from->edited->nodes[now->node].order)
        same = false;
    for (unsigned c = 0; c < now->curves; c++) {
        empty = empty && now->curve[c].count == 0;
        same = same && alike(&o->m.limits, samples, was, now, c, later);
    }
    return same || empty;
}

/* Whether the FBX has edited a track, or the TCB numbers that travel beside it. */
static bool edited_here(const kfi_sorting *o, size_t t, int32_t source)
{
    const kf_take *take = &o->s->from->written->takes[t];
    bool edited = false;
    for (size_t i = 0; i < take->track_count && !edited; i++) {
        const kf_track *back = o->m.matches.track[t][i];
        edited = take->tracks[i].source == source && back && !unedited(o, &take->tracks[i], back, o->m.matches.offset[t]);
    }
    return edited;
}

/* A track that the other file has no more: it is no addition unless it was edited here, for then that would be lost. */
static bool settle_gone(const kfi_sorting *o, size_t t, size_t i, bool take_there, kf_track *now)
{
    const kf_anim *written = o->s->from->written, *original = o->s->from->original;
    const kf_take *take = &written->takes[t], *origin = &original->takes[take->source];
    const kf_track *was = &take->tracks[i];
    const char *of = kfi_track_text(o->s->job, written->nodes[was->node].name, take->name, &origin->tracks[was->source]);
    if (!of)
        return false;
    const kfi_told *told = told_of(o->s, of);
    if (!take_there && !(told && told->change.what == KFI_WHAT_DROPPED)) /* perhaps it just has another name */
        return true;
    if (!edited_here(o, t, was->source)) {
        now->curves = 0;
        return true;
    }
    bool numbers = i >= origin->track_count;
    return numbers || kfi_warn(o->s->job, "conflict", "take \"%.60s\", node \"%.60s\": the %s was deleted in %.100s and edited in %.100s: "
                                                      "the latter stays",
                               take->name, written->nodes[was->node].name, track_title(was), told ? told->files : o->s->elsewhere,
                               o->s->file);
}

/* Programs write all of a node's numbers, whether they were written for them or not: those say nothing against the other file's, which
 * may move them by now. */
static void leave_still(const kfi_sorting *o)
{
    const kf_anim *written = o->s->from->written, *back = o->s->from->edited, *into = o->s->into;
    for (size_t e = 0; e < back->take_count; e++) {
        int32_t t = o->m.matches.take[e];
        const kf_take *other = t >= 0 ? find_take(written, &written->takes[t], into) : NULL;
        for (size_t i = 0; other && i < back->takes[e].track_count; i++) {
            kf_track track = back->takes[e].tracks[i];
            if (o->m.matches.known[e][i] || !kfi_says_nothing(&o->m, &track))
                continue;
            track.node = (uint32_t)o->m.matches.node[track.node];
            if (find_track(written, &track, i, into, other))
                o->edited->takes[e].tracks[i].curves = 0;
        }
    }
}

/* Without those that are to go. */
static void remove_gone(kf_anim *edited)
{
    for (size_t e = 0; e < edited->take_count; e++) {
        kf_take *take = &edited->takes[e];
        size_t kept = 0;
        for (size_t i = 0; i < take->track_count; i++)
            if (take->tracks[i].curves > 0)
                take->tracks[kept++] = take->tracks[i];
        take->track_count = kept;
    }
}

static bool settle_track(kfi_sorting *o, size_t t, size_t i, const kf_take *other)
{
    kfi_since *s = o->s;
    const kfi_merge *from = s->from;
    const kf_take *take = &from->written->takes[t];
    const kf_track *was = &take->tracks[i], *back = o->m.matches.track[t][i];
    size_t e = 0;
    kf_track *now = back ? own_track(from->edited, o->edited, back, &e) : NULL;
    if (!now)
        return true;
    double later = o->m.matches.offset[t];
    kfi_mix mix = {.job = s->job,
                   .from = from,
                   .limits = &o->m.limits,
                   .original = &from->original->takes[take->source].tracks[was->source],
                   .was = was,
                   .other = s->came_back ? o->other.track[t][i]
                            : other ? find_track(from->written, was, i, s->into, other)
                                    : NULL,
                   .now = now,
                   .later = later};
    if (!mix.other)
        return settle_gone(o, t, i, other != NULL, now);
    kf_take *whole = &o->edited->takes[e];
    double frame = from->edited->frame_rate > 0 ? 0.5 / from->edited->frame_rate : 0;
    if (other && fabs(whole->end - take->end - later) <= frame) /* it was not made longer or shorter */
        whole->end = other->end + later;
    return merge_track(s, &mix, take, from->shift[t]);
}

/* The take of the other file that a written one is there. One that was renamed is in its place. */
static const kf_take *take_there(const kfi_sorting *o, size_t t)
{
    const kfi_since *s = o->s;
    const kf_anim *written = s->from->written;
    for (size_t e = 0; s->came_back && e < s->into->take_count; e++)
        if (o->other.take[e] == (int32_t)t)
            return &s->into->takes[e];
    const kf_take *there = find_take(written, &written->takes[t], s->into);
    if (there || s->into->take_count != written->take_count)
        return there;
    const kf_take *here = &s->into->takes[t];
    return kfi_take_named(written, here->name) ? NULL : here; /* NOLINT: there are as many as were written */
}

/* A name that a take was given in the other file stays, unless it was given another one here. */
static bool settle_name(kfi_sorting *o, size_t t, const kf_take *other)
{
    const char *was = o->s->from->written->takes[t].name, *here = o->m.matches.renamed[t], *there = NULL;
    if (o->s->came_back)
        there = o->other.renamed[t];
    else if (other && strcmp(other->name, was) != 0)
        there = other->name;
    if (there && here && strcmp(here, there) != 0)
        return kfi_warn(o->s->job, "conflict", "take \"%.60s\" is called \"%.60s\" in %.100s and \"%.60s\" in %.100s: the latter stays",
                        was, there, o->s->elsewhere, here, o->s->file);
    for (size_t e = 0; there && !here && e < o->edited->take_count; e++)
        if (o->m.matches.take[e] == (int32_t)t)
            o->edited->takes[e].name = there;
    return true;
}

/* What only another FBX says, and no track: it is told of here, for of the two this one's nodes go on. */
static bool tell_other(const kfi_sorting *o)
{
    kfi_merge input = *o->s->from;
    const kfi_merging other = {.job = o->s->job, .input = &input, .limits = o->m.limits, .matches = o->other};
    input.edited = o->s->into;
    return kfi_tell_parents(&other) && kfi_tell_unheard(&other) && kfi_tell_unkeyed(&other);
}

bool kfi_merge_since(kfi_since *s, kf_anim *edited, bool *done)
{
    const kfi_merge *from = s->from;
    kfi_sorting o = {.s = s, .m = {.job = s->job, .input = from}, .edited = edited};
    *done = true;
    kfi_set_limits(&o.m.limits, from->edited);
    if (!(s->came_back ? kfi_match_both(&o.m, s->into, &o.other, done) : kfi_match(s->job, from, &o.m.limits, NULL, &o.m.matches)))
        return false;
    if (!*done)
        return true;
    if ((s->came_back && !tell_other(&o)) || !copy_takes(s->job, from->edited, edited) || !merge_meshes(&o))
        return false;
    for (size_t t = 0; t < from->written->take_count; t++) {
        const kf_take *other = take_there(&o, t);
        if (!settle_name(&o, t, other))
            return false;
        for (size_t i = 0; i < from->written->takes[t].track_count; i++)
            if (!settle_track(&o, t, i, other))
                return false;
    }
    if (!s->came_back)
        leave_still(&o);
    remove_gone(edited);
    return true;
}
