/* Tension, continuity and bias for keys that have none: the numbers whose tangents come nearest to the slopes
 * wanted. One set serves x, y and z, so six slopes have three numbers; what they miss, more keys make up for.
 */
#include "nytro.h"

#include <math.h>

/* What a key's neighbours are and what is wanted of its tangents, per unit of their own segment. */
typedef struct setting {
    double gap_before, gap_after;
    double rise_before[3], rise_after[3];
    double in[3], out[3];
    double size; /* of what is wanted, squared */
} setting;

static double miss(const setting *s, const double x[3], double r[6])
{
    kf_tcb tcb = {(float)x[0], (float)x[1], (float)x[2], 0.0f, 0.0f};
    double sum = 0.0;
    for (unsigned c = 0; c < 3; c++) {
        kfi_tcb_tangents(tcb, s->gap_before, s->gap_after, s->rise_before[c], s->rise_after[c], &r[2 * c],
                         &r[2 * c + 1]);
        r[2 * c] -= s->in[c];
        r[2 * c + 1] -= s->out[c];
        sum += r[2 * c] * r[2 * c] + r[2 * c + 1] * r[2 * c + 1];
    }
    return sum;
}

/* Solves a 3 x 3 system by Cramer's rule; false where it has no solution to speak of. */
static bool solve3(double m[3][3], const double v[3], double x[3])
{
    double cofactor[3], det = 0.0;
    for (int i = 0; i < 3; i++) {
        cofactor[i] = m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3];
        det += m[0][i] * cofactor[i];
    }
    if (!(fabs(det) > 1e-300))
        return false;
    for (int column = 0; column < 3; column++) {
        double n[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                n[i][j] = j == column ? v[i] : m[i][j];
        double sum = 0.0;
        for (int i = 0; i < 3; i++)
            sum += n[0][i] * (n[1][(i + 1) % 3] * n[2][(i + 2) % 3] - n[1][(i + 2) % 3] * n[2][(i + 1) % 3]);
        x[column] = sum / det;
    }
    return true;
}

/* Levenberg and Marquardt within -1..1, from x on. */
static double descend(const setting *s, double x[3])
{
    static const double aside = 1.0 / 4096;
    double r[6], best = miss(s, x, r), damping = 1e-3;
    for (int step = 0; step < 60 && best > 1e-14 * s->size; step++) {
        double jacobian[6][3], m[3][3] = {{0}}, v[3] = {0}, move[3], to[3], moved[6];
        for (int j = 0; j < 3; j++) {
            double y[3] = {x[0], x[1], x[2]}, h = x[j] > 0 ? -aside : aside;
            y[j] += h;
            miss(s, y, moved);
            for (int i = 0; i < 6; i++)
                jacobian[i][j] = (moved[i] - r[i]) / h;
        }
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 3; j++) {
                v[j] -= jacobian[i][j] * r[i];
                for (int k = 0; k < 3; k++)
                    m[j][k] += jacobian[i][j] * jacobian[i][k];
            }
        for (int j = 0; j < 3; j++)
            m[j][j] += damping * (m[j][j] + 1e-9 * s->size);
        if (!solve3(m, v, move))
            break;
        for (int j = 0; j < 3; j++)
            to[j] = fmax(-1.0, fmin(1.0, x[j] + move[j]));
        double now = miss(s, to, moved);
        if (now < best) {
            bool hardly = best - now < 1e-6 * best;
            best = now;
            memcpy(x, to, sizeof to);
            memcpy(r, moved, sizeof moved);
            damping = fmax(damping * 0.2, 1e-12);
            if (hardly)
                break;
        } else {
            damping *= 10.0;
            if (damping > 1e9)
                break;
        }
    }
    return best;
}

static kf_tcb solve_inner(setting *s)
{
    /* A corner and a smooth key come first, being what most are; the rule has a bend at continuity 0. */
    static const double starts[][3] = {{0, -1, 0},    {0, 0, 0},       {0, 0.25, 0},
                                       {0, -0.25, 0}, {0, -0.25, 0.5}, {0, 0.25, -0.5}};
    double best = INFINITY, x[3] = {0, 0, 0};
    s->size = 1e-30;
    for (unsigned c = 0; c < 3; c++)
        s->size += s->in[c] * s->in[c] + s->out[c] * s->out[c];
    for (size_t i = 0; i < sizeof starts / sizeof starts[0] && best > 1e-12 * s->size; i++) {
        double y[3] = {starts[i][0], starts[i][1], starts[i][2]};
        double now = descend(s, y);
        if (now < 0.99 * best) {
            best = now;
            memcpy(x, y, sizeof x);
        }
    }
    return (kf_tcb){(float)x[0], (float)x[1], (float)x[2], 0.0f, 0.0f};
}

/* ---------------------------------------------------------------- on a channel */

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

static void look_around(const nytro_channel *channel, size_t i, setting *s)
{
    const nytro_key *key = &channel->keys[i];
    memset(s, 0, sizeof *s);
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
    setting s, beside;
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
    setting s;
    if (!keys[i].solved || i == 0 || i + 1 == channel->count)
        return;
    look_around(channel, i, &s);
    kf_tcb was = keys[i].tcb;
    keys[i].tcb = s.gap_before > 0 && s.gap_after > 0 ? solve_inner(&s) : (kf_tcb){0};
    /* Ease stays where its segment is still TCB. */
    keys[i].tcb.ease_in = in == KF_TCB ? was.ease_in : 0.0f;
    keys[i].tcb.ease_out = out == KF_TCB ? was.ease_out : 0.0f;
}

void kfi_nytro_solve(nytro_channel *channel)
{
    nytro_key *keys = channel->keys;
    for (size_t i = 0; i < channel->count; i++) {
        if (!keys[i].settled)
            kfi_nytro_solve_key(channel, i);
        keys[i].settled = true;
    }
    if (keys[0].solved)
        solve_end(channel, 0);
    if (keys[channel->count - 1].solved)
        solve_end(channel, channel->count - 1);
}
