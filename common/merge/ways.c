/* The ways in which a node's transform may stand in an FBX that came back, other than as it was written:
 *
 *   in the world         the wrapper is not above it, but the motion was kept, so that the wrapper's transform is part of it
 *   in a program's axes  the wrapper was taken away in a program with Z up and metres (Blender), which then wrote the FBX in
 *                        the axes and unit that the file states
 *   unturned             the same, but that program was told to leave the axes alone ("Use Space Transform" off)
 *   turned all round     that program also turned every node's own axes (Blender's "Apply Transform")
 *   round before         it did so when it read the FBX, into its own axes and unit, and wrote nodes as they were
 *   scaled               nothing is turned, all that moves is larger: somebody's edit, for all that can be told
 *
 * All but the first may be larger by a size of the program's ("Scale"), which stands in no file: size.c. */
#include "internal.h"

#include <math.h>
#include <string.h>

typedef double matrix[3][3];

/* ---------------------------------------------------------------- the ways */

static void multiply(matrix a, matrix b, matrix out)
{
    for (unsigned r = 0; r < 3; r++)
        for (unsigned c = 0; c < 3; c++)
            out[r][c] = a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c];
}

static void from_transform(const kf_transform *transform, matrix out)
{
    double q[4];
    kfi_quat_from_euler(transform->rotation, KF_XYZ, q);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    matrix m = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (unsigned r = 0; r < 3; r++)
        for (unsigned c = 0; c < 3; c++)
            out[r][c] = m[r][c] * transform->scale[c];
}

/* From our axes and unit (KFI_SETTINGS) to those that the file states. */
static void from_settings(const kf_settings *settings, matrix out)
{
    memset(out, 0, sizeof(matrix));
    out[settings->coord_axis][0] = settings->coord_sign / settings->unit_scale;
    out[settings->up_axis][1] = settings->up_sign / settings->unit_scale;
    out[settings->front_axis][2] = settings->front_sign / settings->unit_scale;
}

/* The quaternion of a matrix of rotation: that component first which is largest. */
static void to_quat(matrix m, double q[4])
{
    double square[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
                        1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]};
    double product[4][4] = {{square[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]},
                            {m[2][1] - m[1][2], square[1], m[1][0] + m[0][1], m[0][2] + m[2][0]},
                            {m[0][2] - m[2][0], m[1][0] + m[0][1], square[2], m[2][1] + m[1][2]},
                            {m[1][0] - m[0][1], m[0][2] + m[2][0], m[2][1] + m[1][2], square[3]}};
    unsigned largest = 0;
    for (unsigned i = 1; i < 4; i++)
        largest = square[i] > square[largest] ? i : largest;
    memcpy(q, product[largest], 4 * sizeof *q);
    kfi_quat_normalize(q);
}

/* A matrix that turns axes other than into each other, or sizes them differently, is not usable. */
static kfi_turn turn_of(matrix m)
{
    kfi_turn t = {.size = fabs(m[0][0]) + fabs(m[0][1]) + fabs(m[0][2])};
    matrix back = {{0}};
    bool taken[3] = {false};
    if (!(t.size > 1e-9 && t.size < 1e9))
        return t;
    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 1; c < 3; c++)
            t.from[r] = fabs(m[r][c]) > fabs(m[r][t.from[r]]) ? c : t.from[r];
        for (unsigned c = 0; c < 3; c++)
            if (!(fabs(fabs(m[r][c]) / t.size - (c == t.from[r])) < 1e-9))
                return t;
        t.sign[r] = m[r][t.from[r]] < 0 ? -1 : 1;
        back[t.from[r]][r] = t.sign[r];
        if (taken[t.from[r]])
            return t;
        taken[t.from[r]] = true;
    }
    bool odd = t.from[1] != (t.from[0] + 1) % 3;
    t.mirror = t.sign[0] * t.sign[1] * t.sign[2] * (odd ? -1 : 1);
    for (unsigned r = 0; r < 3; r++)
        for (unsigned c = 0; c < 3; c++)
            back[r][c] *= t.mirror;
    to_quat(back, t.back);
    t.usable = true;
    return t;
}

void kfi_find_ways(const kfi_merge *input, kfi_turn ways[KFI_WAYS])
{
    const kf_settings *settings = &input->edited->settings;
    matrix none = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, metres = {{100, 0, 0}, {0, 0, 100}, {0, -100, 0}};
    matrix before = {{0.01, 0, 0}, {0, 0, -0.01}, {0, 0.01, 0}}, unit = {{100, 0, 0}, {0, 100, 0}, {0, 0, 100}};
    matrix file, basis, product;
    from_settings(settings, file);
    from_transform(&input->written->nodes[0].rest, basis);
    ways[KFI_AS_WRITTEN] = turn_of(none);
    multiply(file, basis, product);
    ways[KFI_IN_WORLD] = turn_of(product);
    multiply(file, metres, product);
    ways[KFI_IN_METRES] = turn_of(product);
    ways[KFI_UNTURNED] = turn_of(unit);
    ways[KFI_UNTURNED].size /= settings->unit_scale;
    ways[KFI_ALL_ROUND] = ways[KFI_IN_METRES];
    ways[KFI_ROUND_BEFORE] = turn_of(before);
    ways[KFI_SCALED] = ways[KFI_AS_WRITTEN];
    ways[KFI_SCALED].usable = false; /* until its size is known */
    ways[KFI_ALL_ROUND].around = ways[KFI_ROUND_BEFORE].around = ways[KFI_SCALED].around = true;
}

/* ---------------------------------------------------------------- which it is */

void kfi_undo_rotation(const kfi_turn *t, double q[4])
{
    const double forth[4] = {t->back[0], -t->back[1], -t->back[2], -t->back[3]};
    double turned[4];
    kfi_quat_multiply(t->back, q, turned);
    if (t->around)
        kfi_quat_multiply(turned, forth, q);
    else
        memcpy(q, turned, sizeof turned);
}

void kfi_undo(const kfi_turn *t, unsigned channel, kf_rotation_order order, const double near[3], double value[3])
{
    double was[3] = {value[0], value[1], value[2]}, q[4];
    if (channel == KF_ROTATION) {
        kfi_quat_from_euler(was, order, q);
        kfi_undo_rotation(t, q);
        kfi_quat_to_euler(q, order, near, value);
        return;
    }
    for (unsigned c = 0; c < 3; c++) {
        if (channel == KF_SCALE && t->around)
            value[t->from[c]] = was[c];
        else if (channel == KF_SCALE)
            value[c] = was[c] * t->mirror / t->size;
        else
            value[t->from[c]] = was[c] * t->sign[c] / t->size;
    }
}

bool kfi_turns(const kfi_turn *t)
{
    return fabs(t->back[0]) < 1 - 1e-12;
}

bool kfi_alike(unsigned channel, const double a[3], kf_rotation_order order_a, const double b[3], kf_rotation_order order_b)
{
    double p[4], q[4];
    if (channel == KF_ROTATION) {
        kfi_quat_from_euler(a, order_a, p);
        kfi_quat_from_euler(b, order_b, q);
        return kfi_quat_angle(p, q) < 0.5;
    }
    for (unsigned c = 0; c < 3; c++)
        if (!(fabs(a[c] - b[c]) <= 0.002 * (fabs(a[c]) + fabs(b[c])) + 1e-4))
            return false;
    return true;
}

void kfi_count_alike(const kfi_merge *input, const kfi_turn ways[KFI_WAYS], const kf_track *was, const kf_track *now,
                     const kf_node *node, double offset, size_t score[KFI_WAYS + 1])
{
    kf_rotation_order written = (kf_rotation_order)input->written->nodes[was->node].order;
    kf_rotation_order edited = (kf_rotation_order)node->order;
    const kf_curve *most = &was->curve[0];
    for (unsigned c = 1; c < 3; c++)
        most = was->curve[c].count > most->count ? &was->curve[c] : most;
    enum { LOOKS = 64 }; /* tell as much as thousands */
    for (size_t i = 0; i < most->count; i += most->count / LOOKS + 1) {
        double time = most->keys[i].time, before[3], after[3];
        for (unsigned c = 0; c < 3; c++) {
            before[c] = kfi_curve_value(&was->curve[c], time, was->rest[c]);
            /* What the track says of a curve without keys may be older than the node's own transform. */
            after[c] = kfi_rest_of(node, was->channel)[c];
            if (now && now->curves == 3 && now->curve[c].count)
                after[c] = kfi_curve_value(&now->curve[c], time + offset, after[c]);
        }
        for (unsigned way = 0; way < KFI_WAYS; way++) {
            double value[3] = {after[0], after[1], after[2]};
            if (!ways[way].usable)
                continue;
            kfi_undo(&ways[way], was->channel, edited, before, value);
            score[way] += kfi_alike(was->channel, before, written, value, edited);
        }
        score[KFI_WAYS]++;
    }
}
