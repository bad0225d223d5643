/* A bake is a line from frame to frame. Where its keys came back stepped, or with slopes that somebody drew, what lies between them
 * is an edit like any other: it becomes samples, so that it is fitted with them. Slopes that programs give to keys of their own
 * accord are no edit; what they bend beyond what is tolerated is told, once for all tracks. */
#include "internal.h"
#include "tolerance.h"

#include <math.h>

/* Samples between two frames, as many as a step or a slope may take; they are further apart than times that are taken for one, and
 * a jump is over within a millisecond. */
enum { PARTS = 8 };
static const double LEAST_GAP = 3e-4, LONGEST_JUMP = 1e-3, JUST_BEFORE = 1.0 / 64;

typedef struct bake {
    const kfi_merging *m;
    const char *take;
    const kf_track *original, *written, *back;
    double shift, offset;
    double limit[3];
    size_t jumps;      /* that become steep lines, */
    double first_jump; /* and when the first is */
    double worst, at, off; /* of the bends that are nobody's edit, as in kfi_small_bends */
} bake;

static bool is_step(const kf_key *key)
{
    return key->interp == KF_STEP || key->interp == KF_STEP_NEXT;
}

/* Whether a slope is one that programs derive from the neighbours: none, that of a way to one of them, or what lies between. Before
 * the first key and behind the last they go on as the curve does. */
static bool derived(const kf_curve *curve, size_t i, double slope)
{
    double low = 0, high = 0;
    bool end = i == 0 || i + 1 == curve->count;
    for (size_t k = i > 0 ? i - 1 : 0; k <= i && k + 1 < curve->count; k++) {
        const kf_key *key = &curve->keys[k];
        double gap = key[1].time - key->time, way = gap > 0 ? (end ? 1.5 : 1.0) * (key[1].value - key->value) / gap : 0;
        low = fmin(low, way);
        high = fmax(high, way);
    }
    double slack = 0.01 * (high - low);
    return slope >= low - slack && slope <= high + slack;
}

/* How far from a line segment k runs, at the most of some looks. */
static double off_line(const kf_curve *curve, size_t k)
{
    const kf_key *key = &curve->keys[k];
    double most = is_step(key) ? fabs(key[1].value - key->value) : 0;
    for (int i = 1; i < PARTS && !is_step(key); i++) {
        double share = (double)i / PARTS, time = key->time + share * (key[1].time - key->time);
        most = fmax(most, fabs(kfi_curve_value(curve, time, 0) - key->value - share * (key[1].value - key->value)));
    }
    return most;
}

/* Whether somebody drew segment k of what came back. */
static bool is_drawn(const bake *b, unsigned c, size_t k)
{
    const kf_curve *curve = &b->back->curve[c], *was = &b->written->curve[c];
    const kf_key *key = &curve->keys[k];
    double in, out, other, near = fmax(b->m->limits.time, 1e-6);
    if (key->interp == KF_LINEAR || key[1].time - key->time < 2 * LEAST_GAP || !(off_line(curve, k) > b->limit[c]))
        return false;
    size_t at = kfi_key_from(was, key->time - b->offset - near);
    if (at < was->count && was->keys[at].interp == key->interp)
        return false; /* as it was written */
    kfi_curve_slopes(curve, k, &other, &out);
    kfi_curve_slopes(curve, k + 1, &in, &other);
    return is_step(key) || !derived(curve, k, out) || !derived(curve, k + 1, in);
}

/* What the game plays there, unless somebody edits it, and what came back. */
static double off_game(const bake *b, unsigned c, double time, double *was_off)
{
    double now = kfi_curve_value(&b->back->curve[c], time, b->back->rest[c]);
    double was = kfi_curve_value(&b->written->curve[c], time - b->offset, b->written->rest[c]);
    double game = kfi_curve_value(&b->original->curve[c], time - b->offset - b->shift, b->original->rest[c]);
    *was_off = fabs(was - game);
    return fabs(now - game);
}

/* The same of orientations, for a bend in one of their angles. */
static double off_turn(const bake *b, double time, double *was_off)
{
    const kf_anim *written = b->m->input->written, *edited = b->m->input->edited;
    double now[3], was[3], p[4], q[4], game[4];
    for (unsigned c = 0; c < 3; c++) {
        now[c] = kfi_curve_value(&b->back->curve[c], time, b->back->rest[c]);
        was[c] = kfi_curve_value(&b->written->curve[c], time - b->offset, b->written->rest[c]);
    }
    kfi_quat_from_euler(was, (kf_rotation_order)written->nodes[b->written->node].order, p);
    kfi_quat_from_euler(now, (kf_rotation_order)edited->nodes[b->back->node].order, q);
    kfi_quat_curve_value(&b->original->quat, time - b->offset - b->shift, game);
    *was_off = kfi_quat_angle(p, game);
    return kfi_quat_angle(q, game);
}

/* Keys that are as they were written. */
static bool untouched(const bake *b, unsigned c, const kf_key *key)
{
    double was = kfi_curve_value(&b->written->curve[c], key->time - b->offset, b->written->rest[c]);
    return kfi_same_value(&b->m->limits, b->written->channel, was, key->value);
}

/* A segment that nobody drew. */
static void look_at_small(bake *b, unsigned c, size_t k)
{
    const kf_curve *curve = &b->back->curve[c];
    const kf_key *key = &curve->keys[k];
    if (key->interp == KF_LINEAR || is_step(key) || !(off_line(curve, k) > b->limit[c]) || !untouched(b, c, key) ||
        !untouched(b, c, key + 1))
        return;
    for (int i = 1; i < PARTS; i++) {
        double was_off, time = key->time + (key[1].time - key->time) * i / PARTS;
        double off = b->original->quaternion ? off_turn(b, time, &was_off) : off_game(b, c, time, &was_off);
        double part = off / (b->limit[c] + was_off);
        if (part <= 1 || part <= b->worst)
            continue;
        b->worst = part;
        b->off = off;
        b->at = time - b->offset - b->shift;
    }
}

static void gather(const bake *b)
{
    kfi_small_bends *all = b->m->input->bends;
    if (!all || b->worst <= 1)
        return;
    all->tracks++;
    if (b->worst <= all->worst)
        return;
    *all = (kfi_small_bends){.tracks = all->tracks, .worst = b->worst, .off = b->off, .at = b->at, .take = b->take,
                             .node = b->m->input->original->nodes[b->original->node].name,
                             .channel = kfi_channel_name((kf_channel)b->original->channel), .name = b->original->name};
}

/* The samples that take the place of a segment's way, behind its first key. */
static size_t add_samples(const kf_curve *from, size_t k, kf_key *to)
{
    const kf_key *key = &from->keys[k];
    double length = key[1].time - key->time, gap = fmin(fmax(LEAST_GAP, length * JUST_BEFORE), LONGEST_JUMP);
    int parts = (int)fmin(PARTS, floor(length / LEAST_GAP));
    size_t count = 0;
    if (key->interp == KF_STEP_NEXT)
        to[count++] = (kf_key){.time = key->time + gap, .value = key[1].value, .interp = KF_LINEAR};
    for (int i = 1; i < parts; i++) {
        double time = key->time + length * i / parts;
        if (!is_step(key) || (time > key->time + gap + LEAST_GAP && time < key[1].time - gap - LEAST_GAP))
            to[count++] = (kf_key){.time = time, .value = kfi_curve_value(from, time, 0), .interp = KF_LINEAR};
    }
    if (key->interp == KF_STEP)
        to[count++] = (kf_key){.time = key[1].time - gap, .value = key->value, .interp = KF_LINEAR};
    return count;
}

/* A format without such steps has steep lines in their place. */
static void count_jump(bake *b, const kf_key *key)
{
    const kf_capabilities *can = b->m->input->capabilities;
    unsigned interps = b->original->quaternion ? can->quat_interps : can->interps;
    if (!is_step(key) || interps >> key->interp & 1)
        return;
    double time = (key->interp == KF_STEP ? key[1].time : key->time) - b->offset - b->shift;
    b->first_jump = b->jumps++ ? fmin(b->first_jump, time) : time;
}

static bool tell_jumps(const bake *b)
{
    return b->jumps == 0 ||
           kfi_warn(b->m->job, "jumps", "take \"%.60s\", node \"%.60s\", %s: the format has no such steps: jumps take up to a millisecond "
                                        "(%zu, the first at %.4f s)", b->take, b->m->input->original->nodes[b->original->node].name,
                    kfi_channel_name((kf_channel)b->original->channel), b->jumps, b->first_jump);
}

/* The same curve as lines, with more samples where it was drawn. */
static bool open_curve(bake *b, unsigned c, kf_curve *to)
{
    const kf_curve *from = &b->back->curve[c];
    size_t drawn = 0, count = 0;
    bool *is = kfi_alloc(b->m->job, from->count, sizeof *is);
    if (!is)
        return false;
    for (size_t k = 0; k + 1 < from->count; k++) {
        is[k] = is_drawn(b, c, k);
        drawn += is[k];
        if (!is[k])
            look_at_small(b, c, k);
    }
    *to = (kf_curve){.pre = from->pre, .post = from->post};
    if (!kfi_make_keys(b->m->job, to, from->count + drawn * PARTS, 0))
        return false;
    for (size_t k = 0; k < from->count; k++) {
        to->keys[count] = from->keys[k];
        to->keys[count++].interp = KF_LINEAR;
        if (!is[k])
            continue;
        count_jump(b, &from->keys[k]);
        count += add_samples(from, k, &to->keys[count]);
    }
    to->count = count;
    return true;
}

static bool has_lines_only(const kf_curve *curve)
{
    for (size_t k = 0; k + 1 < curve->count; k++)
        if (curve->keys[k].interp != KF_LINEAR)
            return false;
    return true;
}

static bool open_track(bake *b, const kf_track **back)
{
    const kfi_merging *m = b->m;
    kf_track *own = NULL;
    for (unsigned c = 0; c < b->back->curves; c++) {
        if (has_lines_only(&b->back->curve[c]))
            continue;
        if (!own) {
            own = kfi_alloc(m->job, 1, sizeof *own);
            if (!own)
                return false;
            *own = *b->back;
        }
        b->limit[c] = kfi_tolerated(m->input->tolerance, (kf_channel)b->written->channel, &b->back->curve[c]) +
                      m->limits.value[b->written->channel];
        if (!open_curve(b, c, &own->curve[c]))
            return false;
    }
    *back = own ? own : *back;
    gather(b);
    return tell_jumps(b);
}

bool kfi_open_bends(kfi_merging *m, size_t written_take)
{
    const kf_take *take = &m->input->written->takes[written_take];
    const kf_take *original = &m->input->original->takes[take->source];
    for (size_t i = 0; m->input->baked && m->input->capabilities->frame_rate == 0 && i < take->track_count; i++) {
        const kf_track *was = &take->tracks[i], **back = &m->matches.track[written_take][i];
        if (!*back || was->source < 0 || was->channel > KF_MORPH || was->channel == KF_VISIBILITY || (*back)->curves != was->curves)
            continue;
        bake b = {.m = m, .take = take->name, .original = &original->tracks[was->source], .written = was, .back = *back,
                  .shift = m->input->shift[written_take], .offset = m->matches.offset[written_take]};
        if (!open_track(&b, back))
            return false;
    }
    return true;
}
