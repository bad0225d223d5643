/* What a format with a value a frame has no place for: what was drawn between its frames, and before the first one. What came
 * back is held against what the game will play there, which is straight from frame to frame, or held; where that is no further
 * off than it was in what was written, nobody drew it. */
#include "curve_frames.h"
#include "internal.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

/* A track that is looked at, and its numbers on every frame. */
typedef struct side {
    const kf_track *track;
    kf_rotation_order order;
    double later; /* its times - the original's */
    double (*frames)[3];
    uint8_t (*keyed)[3]; /* whether a key says so */
    double (*played)[3]; /* what the game has there: a bake may have its samples beside the frames */
    kf_rotation_order played_order;
} side;

typedef enum what_drawn { A_KEY, TWO_KEYS, A_BEND, A_HOLD } what_drawn;

typedef struct looking {
    const kfi_merge_track *t;
    double rate, limit[3]; /* of rotations the first one counts */
    size_t count;          /* frames */
    side was, now;
    size_t keys; /* that lie between frames and show in none */
    double worst, at; /* how far off the worst of it is, as a part of what is tolerated, and when */
    double off;
    what_drawn what; /* that is */
    double bent, bent_at, bent_off; /* the same of bends that a program's slopes may have made */
    size_t before; /* keys before the first frame */
    double from, to; /* the first and the last of those */
} looking;

static bool number_frames(kf_job *job, side *s, double rate, size_t count)
{
    kfi_frames frames = {s->later, rate, count};
    s->frames = kfi_alloc(job, count, sizeof *s->frames);
    s->keyed = kfi_alloc(job, count, sizeof *s->keyed);
    for (unsigned c = 0; s->frames && s->keyed && c < s->track->curves; c++) {
        kfi_walk walk = {&s->track->curve[c], s->track->rest[c], 0};
        ptrdiff_t key;
        for (size_t i = 0; i < count; i++) {
            s->frames[i][c] = kfi_walk_value(&walk, &frames, i, &key);
            s->keyed[i][c] = key != KFI_NO_KEY;
        }
    }
    return s->frames && s->keyed;
}

static void play_what_is_shown(side *s)
{
    s->played = s->frames;
    s->played_order = s->order;
}

/* The numbers that the game had on its frames, or those that it has now; of quaternions what the FBX shows there. */
static bool play_frames(const kfi_merge_track *t, side *s, const kf_track *game, double rate, size_t count)
{
    side own = {.track = game};
    if (game->quaternion || game->curves != s->track->curves) {
        play_what_is_shown(s);
        return true;
    }
    if (!number_frames(t->job, &own, rate, count))
        return false;
    s->played = own.frames;
    s->played_order = t->order;
    return true;
}

static void numbers_at(const side *s, double time, double to[3])
{
    for (unsigned c = 0; c < s->track->curves; c++)
        to[c] = kfi_curve_value(&s->track->curve[c], time + s->later, s->track->rest[c]);
}

/* The frame before a time, and the one after it. */
static size_t frames_around(const looking *l, double frame, size_t *next)
{
    size_t i = (size_t)fmax(0, fmin(floor(frame), (double)(l->count - 1)));
    *next = i + 1 < l->count ? i + 1 : i;
    return i;
}

/* What the game makes of a track's frames between two of them. */
static void played_at(const looking *l, const side *s, double frame, double to[3], double q[4])
{
    const kf_capabilities *can = l->t->input->capabilities;
    size_t next, i = frames_around(l, frame, &next);
    double part = can->interps >> KF_LINEAR & 1 ? fmax(0, fmin(frame - (double)i, 1)) : 0;
    for (unsigned c = 0; c < s->track->curves; c++)
        to[c] = s->played[i][c] + part * (s->played[next][c] - s->played[i][c]);
    if (s->track->channel != KF_ROTATION)
        return;
    if (can->quaternion) {
        double a[4], b[4];
        kfi_quat_from_euler(s->played[i], s->played_order, a);
        kfi_quat_from_euler(s->played[next], s->played_order, b);
        kfi_quat_slerp(a, b, part, q);
    } else {
        kfi_quat_from_euler(to, s->played_order, q);
    }
}

/* What a program that thins out its samples may have done to a component on the frames around, where it kept none. */
static double thinned(const looking *l, unsigned c, double frame)
{
    size_t next, i = frames_around(l, frame, &next);
    bool kept = l->t->limits->exact || (l->now.keyed[i][c] && l->now.keyed[next][c]);
    return kept ? 0 : kfi_thinning(l->now.frames[i][c], l->now.frames[next][c]);
}

/* How far what came back is from what the game will play, as a part of what is tolerated; 0 where that is the written motion's. */
static double part_off(const looking *l, double time, double *off)
{
    double was[3] = {0}, now[3] = {0}, was_played[3] = {0}, now_played[3] = {0}, p[4] = {1, 0, 0, 0}, q[4] = {1, 0, 0, 0}, part = 0;
    const kfi_merge_track *t = l->t;
    numbers_at(&l->was, time, was);
    numbers_at(&l->now, time, now);
    played_at(l, &l->was, time * l->rate, was_played, p);
    played_at(l, &l->now, time * l->rate, now_played, q);
    if (t->written->channel == KF_ROTATION) {
        double a[4], b[4], limit = l->limit[0];
        kfi_quat_from_euler(was, l->was.order, a);
        kfi_quat_from_euler(now, l->now.order, b);
        for (unsigned c = 0; c < 3; c++)
            limit += thinned(l, c, time * l->rate);
        *off = kfi_quat_angle(b, q);
        return *off / (limit + kfi_quat_angle(a, p));
    }
    for (unsigned c = 0; c < 3 && c < t->written->curves; c++) {
        double gap = now[c] - now_played[c], other = fabs(gap - (was[c] - was_played[c]));
        double limit = l->limit[c] + fmax(t->limits->value[t->written->channel], t->limits->relative * fabs(now[c])) +
                       thinned(l, c, time * l->rate);
        double share = fmin(fabs(gap), other) / limit;
        if (share <= part)
            continue;
        part = share;
        *off = fabs(gap);
    }
    return part;
}

/* A key that was written between frames, a helper or a sample of a bake, and came back as it was: nobody drew there. */
static bool stood_there(const looking *l, unsigned c, const kf_key *key)
{
    const kf_curve *curve = &l->t->written->curve[c];
    double time = key->time - l->t->offset, near = fmax(l->t->limits->time, 1e-6);
    size_t at = kfi_key_from(curve, time - near);
    return at < curve->count && curve->keys[at].time <= time + near &&
           kfi_same_value(l->t->limits, l->t->written->channel, curve->keys[at].value, key->value);
}

static void note_worst(looking *l, double part, double off, double time, what_drawn what)
{
    if (part <= 1.001 * l->worst) /* of several the first */
        return;
    l->worst = part;
    l->off = off;
    l->at = time;
    l->what = what;
}

static void note_bend(looking *l, double part, double off, double time, bool drawn, bool held)
{
    if (drawn) {
        note_worst(l, part, off, time, held ? A_HOLD : A_BEND);
    } else if (part > 1.001 * l->bent) {
        l->bent = part;
        l->bent_at = time;
        l->bent_off = off;
    }
}

/* A frame has one value: of two keys there, one is lost in the segment that it ends or begins. */
static void look_at_twins(looking *l, const kf_key *key)
{
    const double aside = 0.02;
    double time = key->time - l->now.later, off = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        double part = part_off(l, time + sign * aside / l->rate, &off);
        if (part > 1)
            note_worst(l, part, off, time, TWO_KEYS);
    }
}

static void look_at_keys(looking *l)
{
    const kf_track *track = l->now.track;
    for (unsigned c = 0; c < track->curves; c++) {
        size_t lost = 0, early = 0; /* x, y and z may have them at the same times */
        for (size_t k = 0; k < track->curve[c].count; k++) {
            const kf_key *key = &track->curve[c].keys[k];
            double time = key->time - l->now.later, frame = time * l->rate, off = 0;
            bool before = frame < -0.01;
            if (!before && k + 1 < track->curve[c].count && (key[1].time - key->time) * l->rate < 0.01 && key[1].value != key->value)
                look_at_twins(l, key);
            if (!before && frame < (double)l->count - 1 && fabs(frame - nearbyint(frame)) < 0.01)
                continue;
            bool stood = stood_there(l, c, key);
            double part = stood && before ? 0 : part_off(l, time, &off);
            if (part <= 1)
                continue;
            if (stood) {
                note_bend(l, part, off, time, false, false);
                continue;
            }
            if (before) {
                l->from = fmin(l->from, time);
                l->to = fmax(l->to, time);
                early++;
                continue;
            }
            lost++;
            note_worst(l, part, off, time, A_KEY);
        }
        l->keys = lost > l->keys ? lost : l->keys;
        l->before = early > l->before ? early : l->before;
    }
}

/* Slopes through the frames, a program's or those that FBX derives, bend a curve a little between them: beyond a hundredth of
 * its range, or of a quarter turn, a bend was drawn. The others are told together. */
static double slack_of(const kf_track *track, unsigned c)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < track->curve[c].count; i++) {
        low = fmin(low, track->curve[c].keys[i].value);
        high = fmax(high, track->curve[c].keys[i].value);
    }
    double range = track->channel == KF_ROTATION ? fmin(high - low, 90) : high - low;
    return 0.01 * fmax(range, 1.0);
}

/* Whether keys were edited on the frames around a time, and nothing between them: there the game goes its own way. */
static bool only_frames(const looking *l, double frame)
{
    kfi_merge_track t = *l->t;
    const double ends[2] = {floor(frame) / l->rate, (floor(frame) + 1) / l->rate};
    t.edited = l->now.track;
    return kfi_only_ends_moved(&t, ends, ends);
}

static bool is_step(unsigned kind)
{
    return kind == KF_STEP || kind == KF_STEP_NEXT;
}

/* Whether segments of a kind go as the game does between two frames, or as they did in what was written. */
static bool goes_the_same(const kfi_merge_track *t, unsigned c, unsigned kind)
{
    const kf_curve *was = &t->written->curve[c];
    bool straight = t->input->capabilities->interps >> KF_LINEAR & 1;
    return kind == (straight ? KF_LINEAR : KF_STEP) || (kind == KF_LINEAR && was->count && was->keys[0].interp == KF_LINEAR);
}

/* Of a line, where the game holds, a frame shows all that the format can: that is no more than a small bend. */
static void look_at_bends(looking *l)
{
    enum { PARTS = 4 };
    const kf_track *track = l->now.track;
    for (unsigned c = 0; c < track->curves; c++) {
        const kf_curve *curve = &track->curve[c];
        double slack = slack_of(track, c);
        for (size_t k = 0; k + 1 < curve->count; k++) {
            const kf_key *key = &curve->keys[k];
            if (goes_the_same(l->t, c, key->interp))
                continue;
            bool held = is_step(key->interp);
            double from = fmax(0, ceil((key->time - l->now.later) * l->rate * PARTS));
            double to = fmin((key[1].time - l->now.later) * l->rate, (double)(l->count - 1)) * PARTS;
            for (double i = from; i <= to; i++) {
                bool frame = fmod(i, PARTS) == 0;
                double off = 0, time = (frame ? i - 0.01 : i) / PARTS / l->rate; /* of a hold just before the next frame */
                double part = !frame || (held && i > from) ? part_off(l, time, &off) : 0;
                bool drawn = off > slack && key->interp != KF_LINEAR;
                if (part > 1 && (drawn || part > l->bent) && !only_frames(l, time * l->rate))
                    note_bend(l, part, off, time, drawn, held);
            }
        }
    }
}

/* A track of which nothing else is told. */
static void gather_bend(const looking *l)
{
    const kfi_merge_track *t = l->t;
    kfi_small_bends *all = t->input->bends;
    if (!all || l->bent <= 1 || l->worst > 1)
        return;
    all->tracks++;
    if (l->bent <= all->worst)
        return;
    all->worst = l->bent;
    all->off = l->bent_off;
    all->at = l->bent_at;
    all->take = t->take;
    all->node = t->input->original->nodes[t->original->node].name;
    all->channel = kfi_channel_name((kf_channel)t->original->channel);
    all->name = t->original->name;
    all->large = false;
    for (unsigned c = 0; c < t->edited->curves; c++)
        all->large = all->large || l->bent_off > slack_of(t->edited, c);
}

/* What the game does between two frames. */
static const char *way_between(const kf_capabilities *can)
{
    return can->interps >> KF_LINEAR & 1 ? "goes straight" : "holds";
}

bool kfi_tell_small_bends(kf_job *job, const kfi_merge *input)
{
    const kfi_small_bends *b = input->bends;
    bool keys = input->capabilities->frame_rate == 0, straight = input->capabilities->interps >> KF_LINEAR & 1;
    return b->tracks == 0 ||
           kfi_note(job, "small-bends", "%zu track%s bend%s%s between %s; the most in take \"%.60s\", node \"%.60s\", %s%s%.60s at "
                                        "%.4f s, by %.4g", b->tracks, b->tracks == 1 ? "" : "s", b->tracks == 1 ? "s" : "",
                    b->large ? "" : " a little",
                    keys         ? "the frames of the bake, where the game plays its own keys"
                    : straight   ? "the format's frames, where the game goes straight"
                                 : "the format's frames, where the game holds",
                    b->take, b->node, b->channel, b->name ? " " : "", b->name ? b->name : "", b->at, b->off);
}

static bool tell(const looking *l)
{
    const kfi_merge_track *t = l->t;
    const char *node = t->input->original->nodes[t->original->node].name, *channel = kfi_channel_name((kf_channel)t->original->channel);
    const char *space = t->original->name ? " " : "", *name = t->original->name ? t->original->name : "";
    if (l->before && !kfi_warn(t->job, "before-start", "take \"%.60s\", node \"%.60s\", %s%s%.60s: %zu keys from %.4f to %.4f s lie "
                                                       "before the take's first frame and are lost", t->take, node, channel, space,
                               name, l->before, l->from, l->to))
        return false;
    if (l->worst <= 1)
        return true;
    if (l->what == TWO_KEYS)
        return kfi_warn(t->job, "between-frames", "take \"%.60s\", node \"%.60s\", %s%s%.60s at %.4f s: two keys there have other values, "
                                                  "and the format has one a frame: beside it the game is off by %.4g", t->take, node,
                        channel, space, name, l->at, l->off);
    if (l->what != A_KEY)
        return kfi_warn(t->job, "between-frames", "take \"%.60s\", node \"%.60s\", %s%s%.60s at %.4f s: the curve %s between the "
                                                  "format's frames, where the game %s: it is off by %.4g there", t->take, node,
                        channel, space, name, l->at, l->what == A_HOLD ? "holds" : "bends", way_between(t->input->capabilities),
                        l->off);
    return kfi_warn(t->job, "between-frames", "take \"%.60s\", node \"%.60s\", %s%s%.60s at %.4f s: %zu edited keys lie between the "
                                              "format's frames and show in none: it is off by %.4g there", t->take, node, channel,
                    space, name, l->at, l->keys, l->off);
}

/* Whether numbers that a program told anew lost bends that it drew. */
static bool has_bends(const kfi_merge_track *t, const kf_track *track)
{
    for (unsigned c = 0; c < track->curves; c++)
        for (size_t k = 0; k + 1 < track->curve[c].count; k++)
            if (!goes_the_same(t, c, track->curve[c].keys[k].interp))
                return true;
    return false;
}

bool kfi_tell_between(const kfi_merge_track *t, const kf_track *raw, size_t frames)
{
    const kf_capabilities *can = t->input->capabilities;
    looking l = {.t = t, .from = INFINITY, .to = -INFINITY, .rate = t->input->original->frame_rate, .count = frames,
                 .was = {.track = t->written, .order = t->order, .later = t->shift},
                 .now = {.track = t->edited, .order = t->edited_order, .later = t->shift + t->offset}};
    if (frames == 0 || t->edited->curves != t->written->curves)
        return true;
    kfi_mark mark = kfi_arena_mark(&t->job->arena);
    for (unsigned c = 0; c < t->written->curves; c++)
        l.limit[c] = kfi_tolerated(t->input->tolerance, (kf_channel)t->written->channel, &t->edited->curve[c]) +
                     (t->written->channel <= KF_SCALE ? 0.5 * can->quantum[t->written->channel] : 0); /* by which it rounds */
    if (t->written->channel == KF_ROTATION)
        l.limit[0] += t->limits->value[KF_ROTATION];
    if (!number_frames(t->job, &l.was, l.rate, frames) || !number_frames(t->job, &l.now, l.rate, frames) ||
        !play_frames(t, &l.was, t->original, l.rate, frames) || !play_frames(t, &l.now, t->merged, l.rate, frames))
        return false;
    look_at_keys(&l);
    if (raw && has_bends(t, raw)) {
        l.now.track = raw;
        if (raw != t->edited && !number_frames(t->job, &l.now, l.rate, frames))
            return false;
        play_what_is_shown(&l.now);
        look_at_bends(&l);
    }
    kfi_arena_release(&t->job->arena, mark);
    gather_bend(&l);
    return tell(&l);
}
