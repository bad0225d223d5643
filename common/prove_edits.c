/* What was edited, once merged and exported, is read again, sent to FBX once more in memory, the way the FBX that came back was
 * made, and held against that: the game is to play what the artist saw. So no edit is lost or bent in silence, whatever the
 * reason. */
#include "convert.h"

#include "curve.h"
#include "prove_internal.h"
#include "rotation.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

/* The files just made, as their importer reads them and as they would be written; takes that became files of their own, behind
 * the original's, are new. Not *there: it does not read them. */
static bool look_again(kf_job *job, const kf_format *format, const kfi_original *original, const kfi_merge_report *report,
                       kfi_original *made, bool *there)
{
    bool drawn = false; /* samples are compared with the game's own motion only */
    for (size_t i = 0; i < report->wanted_count; i++)
        drawn = drawn || !report->wanted[i].samples;
    size_t count = job->emitted_count < original->count ? job->emitted_count : original->count;
    *made = (kfi_original){.capsule = original->capsule, .count = count, .files = kfi_emitted_files(job, 0, count)};
    made->only_read = !drawn || format->capabilities.frame_rate > 0;
    if (!made->files)
        return false;
    if (original->rig.data) /* it stands behind them */
        made->files[made->count++] = original->rig;
    *there = kfi_rewrite(job, format, NULL, made);
    if (!*there && !kfi_out_of_memory(job))
        job->error = (kf_error){.offset = KF_NO_OFFSET};
    return !kfi_failed(job);
}

/* ---------------------------------------------------------------- which track it has become */

static const kf_take *find_take(const kf_anim *anim, const kf_anim *merged, size_t take)
{
    const char *name = merged->takes[take].name;
    if (merged->take_count == 1 && anim->take_count == 1)
        return &anim->takes[0];
    if (take < anim->take_count && strcmp(anim->takes[take].name, name) == 0) /* most are where they were */
        return &anim->takes[take];
    return kfi_take_named(anim, name);
}

/* The search goes on where the last one ended: most tracks are in the order that they were in. */
static const kf_track *find_track(const kf_anim *anim, const kf_take *take, const char *node, const kfi_wanted *w, size_t *index)
{
    bool there = w->node < anim->node_count && strcmp(anim->nodes[w->node].name, node) == 0;
    /* Of several nodes of one name the one in its place comes first. */
    for (size_t i = there ? 0 : take->track_count; i < 2 * take->track_count; i++) {
        *index = *index + 1 < take->track_count ? *index + 1 : 0;
        const kf_track *track = &take->tracks[*index];
        if (track->channel == w->channel && (i >= take->track_count || track->node == w->node) && strcmp(anim->nodes[track->node].name, node) == 0 &&
            (!w->name || (track->name && strcmp(track->name, w->name) == 0)))
            return track;
    }
    return NULL;
}

/* ---------------------------------------------------------------- edits that change nothing */

static bool same_numbers(const kf_tcb *a, const kf_tcb *b, size_t count)
{
    return (!a && !b) || (a && b && memcmp(a, b, count * sizeof *a) == 0);
}

static bool same_keys(const kf_curve *a, const kf_curve *b)
{
    if (a->count != b->count || a->pre != b->pre || a->post != b->post || !same_numbers(a->tcb, b->tcb, a->count))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const kf_key *x = &a->keys[i], *y = &b->keys[i];
        kf_handles was = kfi_handles_of(a, i), now = kfi_handles_of(b, i);
        if (x->time != y->time || x->value != y->value || x->interp != y->interp || x->native != y->native ||
            x->flags != y->flags || memcmp(&was, &now, sizeof was) != 0)
            return false;
    }
    return true;
}

static bool same_quats(const kf_quat_curve *a, const kf_quat_curve *b)
{
    if (a->count != b->count || !same_numbers(a->tcb, b->tcb, a->count))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const kf_quat_key *x = &a->keys[i], *y = &b->keys[i];
        if (x->time != y->time || memcmp(x->q, y->q, sizeof x->q) != 0 || x->turns != y->turns || x->interp != y->interp ||
            x->native != y->native || x->flags != y->flags)
            return false;
    }
    return true;
}

/* Such as a last key that was taken from one component, where the others have theirs and it stands as before: then the file's keys
 * are what they were, and it is none of those that changed. */
static void uncount_same(const kf_anim *original, const kf_anim *merged, const kf_anim *again, kfi_merge_report *report)
{
    size_t number = 0;
    kfi_shapes_told told = {.node = UINT32_MAX};
    for (size_t i = 0; i < report->wanted_count; i++) {
        const kfi_wanted *w = &report->wanted[i];
        const kf_take *take = find_take(again, merged, w->take), *was = w->take < original->take_count ? &original->takes[w->take] : NULL;
        const kf_track *track = take ? find_track(again, take, merged->nodes[w->node].name, w, &number) : NULL;
        kfi_change *change = &report->changes[w->change];
        bool same = track && was && take->start == was->start && take->end == was->end && track->curves == w->original->curves &&
                    track->quaternion == w->original->quaternion && same_quats(&track->quat, &w->original->quat);
        for (unsigned c = 0; same && c < track->curves; c++)
            same = same_keys(&track->curve[c], &w->original->curve[c]);
        if (!same || change->what != KFI_WHAT_CHANGED || kfi_told_by_shapes(original, again, w, track, &told))
            continue;
        change->what = KFI_WHAT_SAME;
        report->changed--;
    }
}

/* ---------------------------------------------------------------- the comparison */

/* On time, and a hair sooner and later: by what a time in 32 bits is rounded, and by what the trip moved it; a jump, visibly. Not
 * just that, for what else moves while one component jumps is elsewhere by then. What is merely fast has to be on time. */
enum { SIDES = 5 };

static double aside(int side, const kfi_played *p, size_t i)
{
    static const int WAYS[SIDES] = {-1, -1, 0, 1, 1};
    double time = fmax(fabs(p->times[i]), fabs(p->times[i] + p->shift));
    bool visibly = !p->steady[i] && (side == 0 || side == SIDES - 1);
    return WAYS[side] * (visibly ? fmax(1e-4, 4e-7 * time) : p->late + 1e-9 + 0x1p-24 * time);
}

/* How far times are off that count as those that were written: a program may round them. */
static double times_off(const kfi_wanted *w)
{
    double most = 0;
    for (unsigned c = 0; c < w->back->curves && c < w->written->curves; c++) {
        const kf_curve *now = &w->back->curve[c], *was = &w->written->curve[c];
        for (size_t i = 0, k = 0; i < now->count && was->count; i++) {
            double time = now->keys[i].time - w->offset + w->shift;
            while (k + 1 < was->count && fabs(was->keys[k + 1].time - time) <= fabs(was->keys[k].time - time))
                k++;
            double off = fabs(was->keys[k].time - time);
            most = off <= w->trip_time ? fmax(most, off) : most;
        }
    }
    return most;
}

bool kfi_track_values(kf_job *job, const kf_track *track, kf_rotation_order order, const double *times, size_t count, double (*to)[4])
{
    if (track->quaternion) {
        kfi_quat_curve_values(&track->quat, times, count, to);
        return true;
    }
    double *one = kfi_alloc_raw(job, count, sizeof *one);
    if (!one)
        return false;
    memset(to, 0, count * sizeof *to);
    for (unsigned c = 0; c < track->curves; c++) {
        kfi_curve_values(&track->curve[c], times, count, track->rest[c], one);
        for (size_t i = 0; i < count; i++)
            to[i][c] = one[i];
    }
    for (size_t i = 0; track->channel == KF_ROTATION && i < count; i++) {
        double q[4];
        kfi_quat_from_euler(to[i], order, q);
        memcpy(to[i], q, sizeof q);
    }
    return true;
}

enum { ALL = 7 }; /* components */

double kfi_apart(const kfi_wanted *w, unsigned components, const double limits[3], const double a[4], const double b[4], double *off,
                 double *limit)
{
    if (w->channel == KF_ROTATION) {
        if (!(components & 1))
            return 0;
        *off = kfi_quat_angle(a, b);
        *limit = limits[0] + w->trip;
        return *off / *limit;
    }
    double worst = 0;
    for (unsigned c = 0; c < w->back->curves; c++) {
        double gap = fabs(a[c] - b[c]), size = fmax(fabs(a[c]), fabs(b[c]));
        double most = limits[c] + fmax(w->trip, w->relative * size);
        if (gap < worst * most || !(components >> c & 1))
            continue;
        worst = gap / most;
        *off = gap;
        *limit = most;
    }
    return worst;
}

/* What a program that thins out its samples may have left out of a component behind the last one that it kept; straight from our
 * own writer nothing was. */
static double thinned_behind(const kfi_wanted *w, unsigned c, double time)
{
    const kf_curve *curve = &w->back->curve[c];
    bool behind = w->samples && w->trip > 1e-9 && curve->count && time > curve->keys[curve->count - 1].time;
    return behind ? kfi_thinning(curve->keys[curve->count - 1].value, curve->keys[curve->count - 1].value) : 0;
}

static bool play(kf_job *job, const kfi_played *p, double (*shown[SIDES])[4])
{
    double *moved = kfi_alloc_raw(job, p->count, sizeof *moved);
    for (int side = 0; side < SIDES; side++) {
        shown[side] = kfi_alloc_raw(job, p->count, sizeof *shown[side]);
        if (!moved || !shown[side])
            return false;
        for (size_t i = 0; i < p->count; i++)
            moved[i] = p->times[i] + p->shift + aside(side, p, i);
        if (!kfi_track_values(job, p->track, p->order, moved, p->count, shown[side]))
            return false;
    }
    return true;
}

bool kfi_excepted(const kfi_wanted *w, double time, size_t *next)
{
    while (*next < w->except_count && w->except[*next].to <= time)
        ++*next;
    return *next < w->except_count && w->except[*next].from < time;
}

/* Finds the components that are at a look what they were before, in the FBX and in the game: what differs there, beside an end of
 * TCB keys, which FBX bends, is nobody's edit. */
static bool find_untouched(kf_job *job, const kfi_wanted *w, const kfi_played *p, const double limits[3], double (*wanted)[4],
                           double (*shown)[4], uint8_t *untouched)
{
    double *moved = kfi_alloc_raw(job, p->count, sizeof *moved);
    double(*was)[4] = kfi_alloc_raw(job, p->count, sizeof *was), off, limit;
    if (!moved || !was)
        return false;
    memset(untouched, ALL, p->count);
    for (int fbx = 0; fbx < 2; fbx++) {
        for (size_t i = 0; i < p->count; i++)
            moved[i] = p->times[i] - w->offset + (fbx ? w->shift : 0);
        if (!kfi_track_values(job, fbx ? w->written : w->original, w->was_order, moved, p->count, was))
            return false;
        for (size_t i = 0; i < p->count; i++)
            for (unsigned c = 0; c < 3; c++)
                if (kfi_apart(w, 1u << c, limits, was[i], fbx ? wanted[i] : shown[i], &off, &limit) > 1)
                    untouched[i] &= (uint8_t)~(1u << c);
    }
    return true;
}

/* *look: which of the looks that was. */
static bool compare_at(kf_job *job, const kfi_wanted *w, const kfi_played *p, kfi_worst *found, size_t *look)
{
    double limits[3] = {0, 0, 0};
    double(*wanted)[4] = kfi_alloc_raw(job, p->count, sizeof *wanted), (*shown[SIDES])[4];
    *found = (kfi_worst){0, 0, 0, 0};
    *look = 0;
    if (!wanted || !kfi_track_values(job, w->back, w->order, p->times, p->count, wanted) || !play(job, p, shown))
        return false;
    for (unsigned c = 0; c < w->back->curves; c++)
        limits[c] = kfi_tolerated(job->options.tolerance, (kf_channel)w->channel, &w->back->curve[c]) + p->quantum;
    uint8_t *untouched = kfi_alloc(job, p->count, sizeof *untouched);
    if (!untouched || (p->doubtful && !find_untouched(job, w, p, limits, wanted, shown[SIDES / 2], untouched)))
        return false;
    size_t next = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (kfi_excepted(w, p->times[i] - w->offset, &next))
            continue;
        kfi_worst least = {.part = INFINITY, .when = p->times[i] - w->offset};
        double allowed[3] = {limits[0], limits[1], limits[2]};
        for (unsigned c = 0; c < w->back->curves; c++)
            allowed[w->channel == KF_ROTATION ? 0 : c] += thinned_behind(w, c, p->times[i]);
        for (int side = 0; side < SIDES; side++) {
            double off = 0, limit = 0, part = kfi_apart(w, ALL & ~(unsigned)untouched[i], allowed, wanted[i], shown[side][i], &off, &limit);
            if (part < least.part)
                least = (kfi_worst){part, off, limit, least.when};
        }
        if (least.part > found->part) {
            *found = least;
            *look = i;
        }
    }
    return true;
}

/* The worst look, and the top beside it: that tells how far off the game will be. */
static bool compare(kf_job *job, const kfi_wanted *w, const kfi_played *p, kfi_worst *found)
{
    enum { ROUNDS = 3, CLOSER = 16 };
    static const double CLOSE = 0.5; /* the top beside a look may be more than is tolerated, though the look is not */
    double times[CLOSER];
    bool steady[CLOSER];
    size_t look;
    if (!compare_at(job, w, p, found, &look))
        return false;
    if (found->part <= CLOSE || !p->between || !p->steady[look])
        return true;
    double low = look > 0 && p->steady[look - 1] ? p->times[look - 1] : p->times[look];
    double high = look + 1 < p->count && p->steady[look + 1] ? p->times[look + 1] : p->times[look];
    for (int round = 0; round < ROUNDS; round++) {
        kfi_played closer = *p;
        kfi_worst top;
        double step = (high - low) / (CLOSER - 1);
        for (size_t i = 0; i < CLOSER; i++) {
            times[i] = low + step * (double)i;
            steady[i] = true;
        }
        closer.times = times;
        closer.steady = steady;
        closer.count = CLOSER;
        if (!compare_at(job, w, &closer, &top, &look))
            return false;
        low = fmax(low, times[look] - step);
        high = fmin(high, times[look] + step);
        if (top.part > found->part)
            *found = top;
    }
    return true;
}

/* What was edited is to be seen in what would be written once more, or, where FBX has no room for the form that it got, in what
 * the game plays; of orientations that is asked, for FBX tells all their forms within a part of the tolerance. A track that is not
 * there any more lost its last key, or a warning said why. *next comes in as the end of all that is wanted, and becomes the first
 * of which nothing is known yet. */
static bool measure(kf_job *job, const kf_format *format, const kfi_original *made, const kf_anim *merged, const kfi_wanted *w,
                    const kfi_wanted **next, kfi_played *p, kfi_worst *found)
{
    size_t k = 0;
    const kfi_wanted *end = *next;
    bool sampled = format->capabilities.frame_rate > 0;
    kfi_worst again;
    const kf_take *take = find_take(made->anim, merged, w->take);
    p->track = take ? find_track(made->anim, take, merged->nodes[w->node].name, w, &p->number) : NULL;
    *found = (kfi_worst){0, 0, 0, 0};
    *next = w + 1;
    if (!p->track)
        return true;
    if (kfi_plays_shapes(made->anim, merged, w, p->track)) {
        for (; *next < end && (*next)->take == w->take && (*next)->node == w->node && (*next)->channel == KF_MORPH;)
            ++*next;
        return kfi_measure_shapes(job, made->anim, take, p->track->node, merged, w, *next, found);
    }
    p->order = (kf_rotation_order)made->anim->nodes[p->track->node].order;
    p->shift = -w->offset;
    p->quantum = w->channel <= KF_SCALE ? format->capabilities.quantum[w->channel] : 0;
    double last = sampled ? take->end : fmax(take->end, merged->takes[w->take].end);
    p->late = times_off(w);
    p->doubtful = false;
    if (!kfi_prove_looks(job, w, sampled ? made->anim->frame_rate : 0, last, p) || !compare(job, w, p, found))
        return false;
    p->doubtful = found->part > 1;
    if (p->doubtful && !compare(job, w, p, found))
        return false;
    const kf_anim *written = &made->written.anim;
    while (k < written->take_count && written->takes[k].source != (int32_t)(take - made->anim->takes))
        k++;
    if (found->part <= 1 || w->samples || sampled || p->track->quaternion || k == written->take_count)
        return true;
    p->doubtful = false;
    p->track = &written->takes[k].tracks[p->number];
    p->shift += made->written.shift[k];
    if (!compare(job, w, p, &again))
        return false;
    if (again.part < found->part)
        *found = again;
    return true;
}

static bool warn(kf_job *job, const kf_anim *merged, const kfi_wanted *w, const char *what, const kfi_worst *found)
{
    return kfi_warn(job, "motion", "take \"%.60s\", node \"%.60s\", %s%s%.60s at %.4f s: %s, by %.4g, where %.4g is tolerated",
                    merged->takes[w->take].name, merged->nodes[w->node].name, kfi_channel_name((kf_channel)w->channel),
                    w->name ? " " : "", w->name ? w->name : "", found->when, what, found->off, found->limit);
}

bool kfi_prove_edits(kf_job *job, const kf_format *format, const kfi_original *original, const kf_anim *merged,
                     kfi_merge_report *report)
{
    kfi_original made;
    kfi_played p = {0};
    bool there;
    if (report->wanted_count == 0)
        return true;
    if (!look_again(job, format, original, report, &made, &there))
        return false;
    if (there && !kfi_uncount_gone(job, original->anim, merged, made.anim, report))
        return false;
    if (there)
        uncount_same(original->anim, merged, made.anim, report);
    const kfi_wanted *end = report->wanted + report->wanted_count, *next;
    for (const kfi_wanted *w = report->wanted; there && w < end; w = next) {
        const double most = 1.02; /* times are rounded, too */
        kfi_worst found, between = {0, 0, 0, 0};
        next = end;
        kfi_mark mark = kfi_arena_mark(&job->arena); /* one track's looks are as large as all its keys */
        if (!measure(job, format, &made, merged, w, &next, &p, &found))
            return false;
        bool frames = p.track && w->samples && format->capabilities.frame_rate == 0;
        if (frames && found.part <= most && !kfi_prove_between(job, w, &p, &between))
            return false;
        kfi_arena_release(&job->arena, mark);
        if (found.part > most && !warn(job, merged, w, "the file will play this otherwise than the FBX shows it", &found))
            return false;
        if (between.part > most &&
            !warn(job, merged, w, "between frames that were not edited the file will play this otherwise than before", &between))
            return false;
    }
    return true;
}
