/* Shapes that came back, and which of their points were moved. */
#include "internal.h"
#include "names.h"

#include <math.h>
#include <string.h>

static void dense_shape(const kf_shape *shape, size_t points, double (*offsets)[3])
{
    memset(offsets, 0, points * sizeof *offsets);
    for (size_t i = 0; i < shape->count; i++) {
        size_t at = shape->index ? shape->index[i] : i;
        if (at < points)
            memcpy(offsets[at], shape->offset[i], sizeof *offsets);
    }
}

bool kfi_same_point(const double a[3], const double b[3])
{
    bool same = true;
    for (int c = 0; c < 3; c++)
        same = same && fabs(a[c] - b[c]) <= 1e-6 * fmax(1.0, fabs(a[c]));
    return same;
}

static const kf_shape *find_shape(const kf_mesh *mesh, const char *name)
{
    for (size_t i = 0; i < mesh->shape_count; i++)
        if (strcmp(mesh->shapes[i].name, name) == 0)
            return &mesh->shapes[i];
    return NULL;
}

bool kfi_mix_mesh(kf_job *job, const kf_mesh *was, const kf_mesh *other, kf_mesh **now, size_t *conflicts)
{
    size_t points = was->point_count;
    if (other->point_count != points || (*now)->point_count != points)
        return true;
    kf_mesh *mesh = kfi_alloc(job, 1, sizeof *mesh);
    kf_shape *shapes = kfi_alloc(job, (*now)->shape_count, sizeof *shapes);
    double(*a)[3] = kfi_alloc(job, points, sizeof *a), (*o)[3] = kfi_alloc(job, points, sizeof *o);
    if (!mesh || !shapes || !a || !o)
        return false;
    for (size_t s = 0; s < (*now)->shape_count; s++) {
        shapes[s] = (*now)->shapes[s];
        const kf_shape *before = find_shape(was, shapes[s].name), *there = find_shape(other, shapes[s].name);
        if (!before || !there)
            continue;
        double(*b)[3] = kfi_alloc(job, points, sizeof *b);
        if (!b)
            return false;
        dense_shape(before, points, a);
        dense_shape(there, points, o);
        dense_shape(&shapes[s], points, b);
        for (size_t i = 0; i < points; i++) {
            if (kfi_same_point(a[i], b[i]))
                memcpy(b[i], o[i], sizeof b[i]);
            else
                *conflicts += !kfi_same_point(a[i], o[i]) && !kfi_same_point(b[i], o[i]);
        }
        shapes[s] = (kf_shape){.name = shapes[s].name, .offset = b, .count = points};
    }
    *mesh = **now;
    mesh->shapes = shapes;
    *now = mesh;
    return true;
}

/* The original's shapes with the points that were moved, and behind them those that are new. */
static bool merge_mesh(kfi_merging *m, size_t node)
{
    const kf_mesh *was = m->input->written->nodes[node + m->input->first_node].mesh;
    int32_t back = m->matches.back[node + m->input->first_node];
    const kf_mesh *now = back >= 0 ? m->input->edited->nodes[back].mesh : NULL;
    if (!was || !now)
        return true;
    const kf_mesh *original = m->input->original->nodes[node].mesh;
    if (now->point_count != original->point_count)
        return kfi_warn(m->job, "points", "node \"%.60s\": the mesh came back with %zu points instead of %zu; its "
                                          "shapes stay as they were",
                        m->merged->nodes[node].name, now->point_count, original->point_count);
    kf_mesh *mesh = kfi_alloc(m->job, 1, sizeof *mesh);
    if (!mesh)
        return false;
    *mesh = *original;
    mesh->shapes = kfi_alloc(m->job, original->shape_count + now->shape_count, sizeof *mesh->shapes);
    bool *known = kfi_alloc(m->job, now->shape_count, sizeof *known);
    double(*a)[3] = kfi_alloc(m->job, original->point_count, sizeof *a);
    double(*b)[3] = kfi_alloc(m->job, original->point_count, sizeof *b);
    kfi_map map;
    if (!mesh->shapes || !known || !a || !b || !kfi_map_init(&map, m->job, now->shape_count))
        return false;
    for (size_t i = 0; i < now->shape_count; i++)
        kfi_map_put(&map, now->shapes[i].name, (uint32_t)i);
    size_t edited = 0, moved = 0;
    for (size_t s = 0; s < original->shape_count; s++) {
        mesh->shapes[s] = original->shapes[s];
        int64_t found = kfi_map_get(&map, was->shapes[s].name, strlen(was->shapes[s].name));
        if (found < 0)
            continue;
        known[found] = true;
        dense_shape(&was->shapes[s], original->point_count, a);
        dense_shape(&now->shapes[found], original->point_count, b);
        kf_shape shape = {.name = original->shapes[s].name, .count = original->point_count};
        for (size_t i = 0; i < original->point_count; i++) {
            if (kfi_same_point(a[i], b[i]))
                continue;
            if (!shape.offset) {
                shape.offset = kfi_alloc(m->job, original->point_count, sizeof *shape.offset);
                if (!shape.offset)
                    return false;
                dense_shape(&original->shapes[s], original->point_count, shape.offset);
                edited++;
            }
            memcpy(shape.offset[i], b[i], sizeof b[i]);
            moved++;
        }
        if (shape.offset)
            mesh->shapes[s] = shape;
    }
    for (size_t i = 0; i < now->shape_count; i++)
        if (!known[i] && now->shapes[i].count > 0) /* else it moves nothing */
            mesh->shapes[mesh->shape_count++] = now->shapes[i];
    m->merged->nodes[node].mesh = mesh;
    if (edited == 0)
        return true;
    m->report->changed++;
    return kfi_merge_report_shapes(m, m->merged->nodes[node].name, edited, moved);
}

bool kfi_merge_meshes(kfi_merging *m)
{
    for (size_t i = 0; i < m->merged->node_count; i++)
        if (!merge_mesh(m, i))
            return false;
    return true;
}
