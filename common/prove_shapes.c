/* What the game shows of a mesh is the sum of its shapes, each times its weight. A format may tell the same by other shapes and
 * other weights, so it is the sums that are compared. */
#include "prove_internal.h"

#include "curve_frames.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

typedef double vector[3];

/* The points of a mesh on every frame. */
typedef struct playing {
    kf_job *job;
    const kf_mesh *mesh;
    double rate;
    size_t frames, points;
    vector *sum;    /* of point p on frame f: f * points + p */
    double largest; /* offset of a shape */
} playing;

/* Most are where the last one was found, or behind it. */
static const kf_shape *shape_named(const kf_mesh *mesh, const char *name, size_t *hint)
{
    for (size_t i = 0; name && i < mesh->shape_count; i++) {
        size_t at = (*hint + i) % mesh->shape_count;
        if (strcmp(mesh->shapes[at].name, name) != 0)
            continue;
        *hint = at + 1;
        return &mesh->shapes[at];
    }
    return NULL;
}

static void add_shape(playing *p, const kf_shape *shape, const kf_track *track, double later)
{
    const kf_curve *curve = &track->curve[0];
    kfi_frames frames = {later, p->rate, p->frames};
    kfi_walk walk = {curve, track->rest[0], 0};
    size_t first = 0, end = p->frames;
    /* Outside of its keys a weight of 0 adds nothing: one shape for each frame, and all frames for each, would be many. */
    if (curve->count && curve->pre == KF_CONSTANT && curve->keys[0].value == 0)
        first = (size_t)fmax(0, fmin(floor((curve->keys[0].time - later) * p->rate), (double)end));
    if (curve->count && curve->post == KF_CONSTANT && curve->keys[curve->count - 1].value == 0)
        end = (size_t)fmax(0, fmin(ceil((curve->keys[curve->count - 1].time - later) * p->rate) + 1, (double)end));
    for (size_t f = first; f < end; f++) {
        ptrdiff_t key;
        double weight = kfi_walk_value(&walk, &frames, f, &key);
        for (size_t i = 0; weight != 0 && i < shape->count; i++) {
            size_t point = shape->index ? shape->index[i] : i;
            for (int c = 0; c < 3 && point < p->points; c++) {
                p->sum[f * p->points + point][c] += weight * shape->offset[i][c];
                p->largest = fmax(p->largest, fabs(shape->offset[i][c]));
            }
        }
    }
}

/* All shapes of a node in a take; of the tracks that were edited, `edited` and those behind it, what came back. */
static bool play(playing *p, const kf_take *take, uint32_t node, const kfi_wanted *edited, const kfi_wanted *end)
{
    size_t hint = 0;
    p->sum = kfi_alloc(p->job, p->frames, p->points * sizeof *p->sum);
    for (size_t i = 0; p->sum && i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        if (track->channel != KF_MORPH || track->node != node || track->layer != 0 || track->curves == 0)
            continue;
        const kf_shape *shape = shape_named(p->mesh, track->name, &hint);
        bool back = edited < end && track->name && strcmp(edited->name, track->name) == 0;
        if (shape)
            add_shape(p, shape, back ? edited->back : track, back ? edited->offset : 0);
        if (back)
            edited++;
    }
    return p->sum != NULL;
}

bool kfi_plays_shapes(const kf_anim *made, const kf_anim *merged, const kfi_wanted *w, const kf_track *track)
{
    const kf_mesh *a = merged->nodes[w->node].mesh, *b = made->nodes[track->node].mesh;
    return w->channel == KF_MORPH && w->name && a && b && a->point_count > 0 && b->point_count > 0 && made->frame_rate > 0;
}

bool kfi_measure_shapes(kf_job *job, const kf_anim *made, const kf_take *take, uint32_t node, const kf_anim *merged,
                        const kfi_wanted *w, const kfi_wanted *end, kfi_worst *found)
{
    const kf_take *asked = &merged->takes[w->take];
    const kf_mesh *mesh[2] = {merged->nodes[w->node].mesh, made->nodes[node].mesh};
    size_t frames = (size_t)fmin(fmax(0, nearbyint(fmax(take->end, asked->end) * made->frame_rate)), 1e7) + 1;
    size_t points = mesh[0]->point_count > mesh[1]->point_count ? mesh[0]->point_count : mesh[1]->point_count;
    playing p[2];
    for (int i = 0; i < 2; i++)
        p[i] = (playing){.job = job, .mesh = mesh[i], .rate = made->frame_rate, .frames = frames, .points = points};
    if (!play(&p[0], asked, w->node, w, end) || !play(&p[1], take, node, NULL, NULL))
        return false;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < frames * points; i++)
        for (int c = 0; c < 3; c++) {
            low = fmin(low, p[0].sum[i][c]);
            high = fmax(high, p[0].sum[i][c]);
        }
    /* Weights that nobody edited may be off by as much as numbers are on their way; and the format rounds to 32 bits. */
    double limit = kfi_tolerated_range(job->options.tolerance, low, high) + (2 * w->trip + 1e-6) * p[0].largest;
    for (size_t i = 0; i < frames * points; i++)
        for (int c = 0; c < 3; c++) {
            double off = fabs(p[0].sum[i][c] - p[1].sum[i][c]);
            if (off / limit > found->part)
                *found = (kfi_worst){off / limit, off, limit, (double)(i / points) / made->frame_rate};
        }
    return true;
}

static bool same_shapes(const kf_mesh *a, const kf_mesh *b)
{
    if (!a || !b || a->point_count != b->point_count || a->shape_count != b->shape_count)
        return a == b;
    for (size_t i = 0; i < a->shape_count; i++) {
        const kf_shape *x = &a->shapes[i], *y = &b->shapes[i];
        if (strcmp(x->name, y->name) != 0 || x->count != y->count || !x->index != !y->index ||
            (x->index && memcmp(x->index, y->index, x->count * sizeof *x->index) != 0) ||
            memcmp(x->offset, y->offset, x->count * sizeof *x->offset) != 0)
            return false;
    }
    return true;
}

bool kfi_told_by_shapes(const kf_anim *original, const kf_anim *made, const kfi_wanted *w, const kf_track *track, kfi_shapes_told *last)
{
    if (w->channel != KF_MORPH || w->node >= original->node_count)
        return false;
    if (last->node != w->node)
        *last = (kfi_shapes_told){w->node, !same_shapes(original->nodes[w->node].mesh, made->nodes[track->node].mesh)};
    return last->otherwise;
}
