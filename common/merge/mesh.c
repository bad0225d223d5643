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

/* The original's shapes with the points that were moved. */
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
    mesh->shapes = kfi_alloc(m->job, original->shape_count, sizeof *mesh->shapes);
    double(*a)[3] = kfi_alloc(m->job, original->point_count, sizeof *a);
    double(*b)[3] = kfi_alloc(m->job, original->point_count, sizeof *b);
    kfi_map map;
    if (!mesh->shapes || !a || !b || !kfi_map_init(&map, m->job, now->shape_count))
        return false;
    for (size_t i = 0; i < now->shape_count; i++)
        kfi_map_put(&map, now->shapes[i].name, (uint32_t)i);
    size_t edited = 0, moved = 0;
    for (size_t s = 0; s < original->shape_count; s++) {
        mesh->shapes[s] = original->shapes[s];
        int64_t found = kfi_map_get(&map, was->shapes[s].name, strlen(was->shapes[s].name));
        if (found < 0)
            continue;
        dense_shape(&was->shapes[s], original->point_count, a);
        dense_shape(&now->shapes[found], original->point_count, b);
        kf_shape shape = {.name = original->shapes[s].name, .count = original->point_count};
        for (size_t i = 0; i < original->point_count; i++) {
            bool differs = false;
            for (int c = 0; c < 3; c++)
                differs = differs || fabs(a[i][c] - b[i][c]) > 1e-6 * fmax(1.0, fabs(a[i][c]));
            if (!differs)
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
    m->merged->nodes[node].mesh = mesh;
    if (edited == 0)
        return true;
    m->report->changed++;
    const char **slot = kfi_push(m->job, &m->report->changes, &m->report->change_count, sizeof *slot);
    if (!slot)
        return false;
    char *text = kfi_format_text(m->job, "changed: node \"%.60s\", %zu shapes: %zu points moved", m->merged->nodes[node].name,
                            edited, moved);
    if (text)
        kfi_make_readable(text);
    *slot = text;
    return *slot != NULL;
}

bool kfi_merge_meshes(kfi_merging *m)
{
    for (size_t i = 0; i < m->merged->node_count; i++)
        if (!merge_mesh(m, i))
            return false;
    return true;
}
