/* kf_dump: the neutral animation as one JSON object, a key a line. A track of three curves is printed as
 * three, each with its component; curves without keys are left out. */
#include "format.h"
#include "json.h"

#include <math.h>

typedef struct dump {
    kfi_json json;
    const kf_anim *anim;
    int digits;
} dump;

static void number(dump *d, const char *name, double value)
{
    kfi_json_key(&d->json, name);
    kfi_json_number(&d->json, value, d->digits);
}

static void pair(dump *d, const char *name, kf_handle handle)
{
    kfi_json_key(&d->json, name);
    kfi_json_begin(&d->json, '[');
    kfi_json_number(&d->json, handle.dt, d->digits);
    kfi_json_number(&d->json, handle.dv, d->digits);
    kfi_json_end(&d->json, ']');
}

static bool has_handle(int interp)
{
    return interp == KF_BEZIER || interp == KF_HERMITE;
}

static void tcb(dump *d, const kf_tcb *numbers, bool always)
{
    const kf_tcb *n = numbers;
    if (!n || (!always && n->tension == 0 && n->continuity == 0 && n->bias == 0 && n->ease_in == 0 &&
               n->ease_out == 0))
        return;
    kfi_json_key(&d->json, "tension");
    kfi_json_number(&d->json, (double)n->tension, 9);
    kfi_json_key(&d->json, "continuity");
    kfi_json_number(&d->json, (double)n->continuity, 9);
    kfi_json_key(&d->json, "bias");
    kfi_json_number(&d->json, (double)n->bias, 9);
    kfi_json_key(&d->json, "ease_in");
    kfi_json_number(&d->json, (double)n->ease_in, 9);
    kfi_json_key(&d->json, "ease_out");
    kfi_json_number(&d->json, (double)n->ease_out, 9);
}

static void flags(dump *d, int key_flags)
{
    if (key_flags & KF_KEY_NONFINITE) {
        kfi_json_key(&d->json, "nonfinite");
        kfi_json_bool(&d->json, true);
    }
    if (key_flags & KF_KEY_NONFINITE_SHAPE) {
        kfi_json_key(&d->json, "nonfinite_shape");
        kfi_json_bool(&d->json, true);
    }
}

static void interp_of(dump *d, int interp)
{
    kfi_json_key(&d->json, "interp");
    kfi_json_text(&d->json, kfi_interp_name((kf_interp)interp));
}

/* The value as it stands in the file, where that is no finite number. */
static double value_in_file(const kf_key *key)
{
    return key->flags & KF_KEY_NAN              ? (double)NAN
           : key->flags & KF_KEY_INFINITE       ? (double)INFINITY
           : key->flags & KF_KEY_MINUS_INFINITE ? -(double)INFINITY
                                                : key->value;
}

/* A handle or number is printed where it counts, and where it does not but is there all the same. */
static void curve_keys(dump *d, const kf_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        kf_handles handles = kfi_handles_of(curve, i);
        int previous = i > 0 ? curve->keys[i - 1].interp : KF_STEP;
        kfi_json_line(&d->json);
        kfi_json_begin(&d->json, '{');
        number(d, "t", key->time);
        number(d, "v", value_in_file(key));
        interp_of(d, key->interp);
        if (has_handle(previous) || handles.in.dt != 0 || handles.in.dv != 0)
            pair(d, "in", handles.in);
        if (has_handle(key->interp) || handles.out.dt != 0 || handles.out.dv != 0)
            pair(d, "out", handles.out);
        tcb(d, curve->tcb ? &curve->tcb[i] : NULL, key->interp == KF_TCB || previous == KF_TCB);
        flags(d, key->flags);
        kfi_json_end(&d->json, '}');
    }
}

static void quat_keys(dump *d, const kf_quat_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_quat_key *key = &curve->keys[i];
        kfi_json_line(&d->json);
        kfi_json_begin(&d->json, '{');
        number(d, "t", key->time);
        kfi_json_key(&d->json, "q");
        kfi_json_begin(&d->json, '[');
        for (int c = 0; c < 4; c++)
            kfi_json_number(&d->json, key->q[c], d->digits);
        kfi_json_end(&d->json, ']');
        if (key->turns)
            number(d, "turns", (double)key->turns);
        interp_of(d, key->interp);
        tcb(d, curve->tcb ? &curve->tcb[i] : NULL,
            key->interp == KF_TCB || (i > 0 && key[-1].interp == KF_TCB));
        flags(d, key->flags);
        kfi_json_end(&d->json, '}');
    }
}

static bool is_squad(const kf_quat_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->keys[i].interp == KF_TCB)
            return true;
    return false;
}

/* One printed track: component c of `track`, or its quaternions. */
static void track_part(dump *d, const kf_track *track, unsigned c)
{
    static const char *const components[3] = {"x", "y", "z"};
    kfi_json *json = &d->json;
    kfi_json_line(json);
    kfi_json_begin(json, '{');
    kfi_json_key(json, "node");
    kfi_json_count(json, track->node);
    kfi_json_key(json, "channel");
    kfi_json_text(json, kfi_channel_name((kf_channel)track->channel));
    if (track->name)
        kfi_json_named(json, "name", track->name);
    if (track->curves > 1) {
        kfi_json_key(json, "component");
        kfi_json_text(json, components[c]);
    }
    if (track->layer > 0) {
        kfi_json_key(json, "layer");
        kfi_json_count(json, track->layer);
    }
    if (track->quaternion) {
        kfi_json_key(json, "mode");
        kfi_json_text(json, is_squad(&track->quat) ? "squad" : "slerp");
    }
    kfi_json_key(json, "keys");
    kfi_json_begin(json, '[');
    if (track->quaternion)
        quat_keys(d, &track->quat);
    else
        curve_keys(d, &track->curve[c]);
    kfi_json_end(json, ']');
    kfi_json_end(json, '}');
}

static void take_object(dump *d, const kf_take *take)
{
    kfi_json *json = &d->json;
    kfi_json_line(json);
    kfi_json_begin(json, '{');
    kfi_json_named(json, "name", take->name);
    number(d, "start", take->start);
    number(d, "end", take->end);
    kfi_json_key(json, "tracks");
    kfi_json_begin(json, '[');
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        if (track->quaternion && track->quat.count > 0)
            track_part(d, track, 0);
        for (unsigned c = 0; c < track->curves; c++)
            if (track->curve[c].count > 0)
                track_part(d, track, c);
    }
    kfi_json_end(json, ']');
    kfi_json_end(json, '}');
}

static void nodes(dump *d)
{
    kfi_json *json = &d->json;
    kfi_json_begin(json, '[');
    for (size_t i = 0; i < d->anim->node_count; i++) {
        const kf_node *node = &d->anim->nodes[i];
        kfi_json_line(json);
        kfi_json_begin(json, '{');
        kfi_json_named(json, "name", node->name);
        kfi_json_key(json, "parent");
        if (node->parent < 0)
            kfi_json_null(json);
        else
            kfi_json_count(json, (uint64_t)node->parent);
        kfi_json_end(json, '}');
    }
    kfi_json_end(json, ']');
}

bool kf_dump(kf_job *job, const kf_anim *anim, const kf_sink *sink, kf_error *error)
{
    kfi_enter(job);
    dump *d = kfi_alloc_raw(job, 1, sizeof *d);
    if (d) {
        kfi_json *json = &d->json;
        kfi_json_init(json, job, sink);
        d->anim = anim;
        d->digits = anim->float32 ? 9 : 17;
        kfi_json_begin(json, '{');
        kfi_json_key(json, "keyferry");
        kfi_json_count(json, 1);
        kfi_json_key(json, "format");
        kfi_json_text(json, anim->format);
        number(d, "frame_rate", anim->frame_rate);
        kfi_json_line(json);
        kfi_json_key(json, "nodes");
        nodes(d);
        kfi_json_line(json);
        kfi_json_key(json, "takes");
        kfi_json_begin(json, '[');
        for (size_t i = 0; i < anim->take_count; i++)
            take_object(d, &anim->takes[i]);
        kfi_json_end(json, ']');
        kfi_json_end(json, '}');
        kfi_json_plain(json, "\n");
        kfi_json_finish(json);
    }
    return kfi_leave(job, error);
}
