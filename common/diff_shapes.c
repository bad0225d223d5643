/* Shapes: how far two of one name move the points of their meshes. What a game shows is each times its weight, which is a track. */
#include "diff.h"

#include "tolerance.h"

#include <math.h>
#include <string.h>

/* Most stand behind the last one that was looked for. */
static const kf_shape *find_shape(const kf_mesh *mesh, const char *name, size_t *next)
{
    for (size_t i = 0; mesh && i < mesh->shape_count; i++) {
        size_t at = (*next + i) % mesh->shape_count;
        if (strcmp(mesh->shapes[at].name, name) != 0)
            continue;
        *next = at + 1;
        return &mesh->shapes[at];
    }
    return NULL;
}

/* Adds a shape's offsets, times `sign`, to those of the points that it moves. */
static void add_offsets(const kf_shape *shape, double sign, double (*points)[3], size_t count, double *low, double *high)
{
    for (size_t i = 0; shape && i < shape->count; i++) {
        size_t point = shape->index ? shape->index[i] : i;
        for (int c = 0; c < 3 && point < count; c++) {
            points[point][c] += sign * shape->offset[i][c];
            *low = fmin(*low, shape->offset[i][c]);
            *high = fmax(*high, shape->offset[i][c]);
        }
    }
}

/* When there is the most of it. */
static double time_of_most(const kf_curve *weight)
{
    double most = 0, time = 0;
    for (size_t i = 0; i < weight->count; i++)
        if (fabs(weight->keys[i].value) > most) {
            most = fabs(weight->keys[i].value);
            time = weight->keys[i].time;
        }
    return time;
}

bool kfi_diff_shape(kf_job *job, const kf_mesh *a, const kf_mesh *b, const kf_track *weight, size_t next[2], bool *there,
                    kf_difference *found)
{
    const kf_shape *x = find_shape(a, weight->name, &next[0]), *y = find_shape(b, weight->name, &next[1]);
    size_t of_a = x ? a->point_count : 0, of_b = y ? b->point_count : 0, count = of_a > of_b ? of_a : of_b;
    double low = 0, high = 0; /* a point that is not moved */
    *there = x || y;
    if (!*there)
        return true;
    kfi_mark mark = kfi_arena_mark(&job->arena);
    double(*points)[3] = kfi_alloc(job, count, sizeof *points);
    if (!points)
        return false;
    add_offsets(x, -1, points, count, &low, &high);
    add_offsets(y, 1, points, count, &low, &high);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            found->worst = fmax(found->worst, fabs(points[i][c]));
    kfi_arena_release(&job->arena, mark);
    found->time = time_of_most(&weight->curve[0]);
    found->limit = kfi_tolerated_range(job->options.tolerance, low, high);
    return true;
}
