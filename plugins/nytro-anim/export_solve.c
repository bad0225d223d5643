/* Tension, continuity and bias for keys that have none; what the slopes they give miss, more keys make up for. */
#include "nytro.h"

#include "curve_tcb.h"

#include <math.h>

/* The slope of the motion just before (side -1) or after (1) a time, over a stretch that is short beside the
 * gap. */
static double slope_at(const kf_curve *curve, double rest, double time, double gap, double side)
{
    double h = side * gap / 256.0, v = kfi_curve_value(curve, time, rest);
    return (-3.0 * v + 4.0 * kfi_curve_value(curve, time + h, rest) -
            kfi_curve_value(curve, time + 2.0 * h, rest)) /
           (2.0 * h);
}

static void wanted_slopes(const nytro_channel *channel, size_t i, unsigned c, double before, double after,
                          double *in, double *out)
{
    const kf_track *track = channel->track;
    const nytro_key *key = &channel->keys[i];
    *in = *out = 0.0;
    if (c >= track->curves)
        return;
    if (key->index >= 0) { /* ease bends time, not the slopes */
        kfi_curve_slopes(&track->curve[c], (size_t)key->index, in, out);
        return;
    }
    if (before > 0)
        *in = slope_at(&track->curve[c], track->rest[c], key->time, before, -1.0);
    if (after > 0)
        *out = slope_at(&track->curve[c], track->rest[c], key->time, after, 1.0);
}

static void look_around(const nytro_channel *channel, size_t i, kfi_tcb_setting *s)
{
    const nytro_key *key = &channel->keys[i];
    *s = (kfi_tcb_setting){.stress = {1.0, 1.0}};
    if (i > 0)
        s->gap_before = key->time - key[-1].time;
    if (i + 1 < channel->count)
        s->gap_after = key[1].time - key->time;
    for (unsigned c = 0; c < 3; c++) {
        double in, out;
        wanted_slopes(channel, i, c, s->gap_before, s->gap_after, &in, &out);
        s->rise_before[c] = i > 0 ? key->value[c] - key[-1].value[c] : 0.0;
        s->rise_after[c] = i + 1 < channel->count ? key[1].value[c] - key->value[c] : 0.0;
        s->in[c] = in * s->gap_before;
        s->out[c] = out * s->gap_after;
    }
}

/* An end key's tangent is 1/2 (1 - T) (3 rise - the neighbour's tangent toward it), of two keys alone (1 - T)
 * rise. */
static void solve_end(nytro_channel *channel, size_t i)
{
    kfi_tcb_setting s, beside;
    bool first = i == 0;
    size_t other = first ? 1 : i - 1;
    double along = 0.0, length = 0.0;
    look_around(channel, i, &s);
    look_around(channel, other, &beside);
    for (unsigned c = 0; c < 3; c++) {
        double rise = first ? s.rise_after[c] : s.rise_before[c], wanted = first ? s.out[c] : s.in[c];
        double whole = rise, in, out;
        if (beside.gap_before > 0 && beside.gap_after > 0) {
            kfi_tcb_tangents(kfi_nytro_numbers(channel, other), beside.gap_before, beside.gap_after,
                             beside.rise_before[c], beside.rise_after[c], &in, &out);
            whole = 0.5 * (3.0 * rise - (first ? in : out));
        }
        along += wanted * whole;
        length += whole * whole;
    }
    double tension = length > 0 ? 1.0 - along / length : 0.0;
    channel->keys[i].tcb.tension = (float)fmax(-1.0, fmin(1.0, tension));
    channel->keys[i].tcb.continuity = channel->keys[i].tcb.bias = 0.0f;
}

void kfi_nytro_solve_key(nytro_channel *channel, size_t i)
{
    nytro_key *keys = channel->keys;
    uint8_t out = keys[i + 1 == channel->count ? i - 1 : i].interp, in = keys[i > 0 ? i - 1 : i].interp;
    keys[i].solved = in != KF_TCB || out != KF_TCB || keys[i].mixed;
    kfi_tcb_setting s;
    if (!keys[i].solved || i == 0 || i + 1 == channel->count)
        return;
    look_around(channel, i, &s);
    kf_tcb was = keys[i].tcb;
    keys[i].tcb = s.gap_before > 0 && s.gap_after > 0 ? kfi_tcb_nearest(&s) : (kf_tcb){0};
    /* Ease stays where its segment is still TCB. */
    keys[i].tcb.ease_in = in == KF_TCB ? was.ease_in : 0.0f;
    keys[i].tcb.ease_out = out == KF_TCB ? was.ease_out : 0.0f;
}

void kfi_nytro_solve(nytro_channel *channel)
{
    nytro_key *keys = channel->keys;
    for (size_t i = 0; i < channel->count; i++)
        if (!keys[i].settled)
            kfi_nytro_solve_key(channel, i);
    if (keys[0].solved)
        solve_end(channel, 0);
    if (keys[channel->count - 1].solved)
        solve_end(channel, channel->count - 1);
}
