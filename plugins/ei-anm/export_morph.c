/* Shapes and their weights into morph frames.
 *
 * While the weights are the importer's, each frame is its own shape and only offsets that differ from the
 * imported ones get new bytes. Other weights are played: a frame is the sum of the shapes at that time. */
#include "ei.h"

#include "curve.h"

#include <math.h>

typedef double vector[3];

typedef struct morphs {
    const ei_part *part;
    const kf_mesh *mesh; /* the shapes to write */
    const kf_mesh *was;  /* the importer's, or NULL */
    size_t vertices;
    vector *offsets; /* of one shape, one for each vertex */
    size_t found;    /* the last shape found; the next one looked for is mostly the next */
} morphs;

static const kf_shape *find_shape(const kf_mesh *mesh, const char *name, size_t *hint)
{
    for (size_t i = 0; mesh && i < mesh->shape_count; i++) {
        size_t at = (*hint + 1 + i) % mesh->shape_count;
        if (strcmp(mesh->shapes[at].name, name) == 0) {
            *hint = at;
            return &mesh->shapes[at];
        }
    }
    return NULL;
}

/* A shape of the edited mesh, or of the imported one where it did not come back. */
static const kf_shape *shape_named(morphs *m, const char *name)
{
    size_t other = m->found;
    const kf_shape *shape = find_shape(m->mesh, name, &m->found);
    return shape ? shape : find_shape(m->was, name, &other);
}

/* One offset for each vertex into m->offsets; vertices that the shape does not name stay where they are. */
static void spread(morphs *m, const kf_shape *shape)
{
    memset(m->offsets, 0, m->vertices * sizeof *m->offsets);
    for (size_t i = 0; shape && i < shape->count; i++) {
        size_t vertex = shape->index ? shape->index[i] : i;
        if (vertex < m->vertices)
            memcpy(m->offsets[vertex], shape->offset[i], sizeof *m->offsets);
    }
}

/* The bytes of a number in a frame of the original, if the importer took them for this one; else NULL. */
static const uint8_t *bytes_there(const morphs *m, int64_t frame, size_t vertex, size_t c, double number)
{
    const kfi_ei_anm *was = m->part->was;
    if (!was || frame < 0 || frame >= (int64_t)was->morph_frames || vertex >= was->morph_vertices)
        return NULL;
    const uint8_t *old = was->morphs + ((size_t)frame * was->morph_vertices + vertex) * KFI_EI_VEC3;
    vector imported;
    kfi_ei_offset(old, imported);
    return (float)number == (float)imported[c] ? old + 4 * c : NULL;
}

/* Writes a frame's offsets. Numbers equal to the original's on that frame, or on its frame `from` (-1: none), keep their
 * bytes, those that the importer took for 0 too. */
static bool store_frame(const morphs *m, const vector *offsets, size_t frame, int64_t from, uint8_t *bytes)
{
    for (size_t v = 0; v < m->vertices; v++) {
        for (size_t c = 0; c < 3; c++) {
            uint8_t *at = bytes + v * KFI_EI_VEC3 + 4 * c;
            const uint8_t *old = bytes_there(m, (int64_t)frame, v, c, offsets[v][c]);
            if (!old)
                old = bytes_there(m, from, v, c, offsets[v][c]);
            if (old)
                memcpy(at, old, 4);
            else if (!kfi_ei_store(m->part, at, offsets[v][c], kfi_ei_time(m->part, frame)))
                return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the importer's weights */

static bool export_frames(morphs *m, kfi_ei_anm *anm, uint8_t *bytes)
{
    for (size_t f = 0; f < anm->morph_frames; f++) {
        spread(m, shape_named(m, m->was->shapes[f].name));
        if (!store_frame(m, (const vector *)m->offsets, f, (int64_t)f, bytes + f * m->vertices * KFI_EI_VEC3))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- other weights */

/* What a frame is made of so far. */
typedef struct blend {
    vector *sum;
    int64_t
        shape; /* the original frame that the only shape so far was, with weight 1; -1: none, -2: several */
} blend;

static void add_weighted(const morphs *m, double weight, int64_t origin, blend *to)
{
    if (weight == 0.0)
        return;
    to->shape = to->shape == -1 && weight == 1.0 && origin >= 0 ? origin : -2;
    for (size_t v = 0; v < m->vertices; v++)
        for (size_t c = 0; c < 3; c++)
            to->sum[v][c] += weight * m->offsets[v][c];
}

/* Which frame of the original the shape was, or -1. */
static int64_t original_frame(const morphs *m, const kf_shape *shape, size_t *hint)
{
    const kf_shape *same = shape ? find_shape(m->was, shape->name, hint) : NULL;
    /* NOLINTNEXTLINE: it is one of those */
    return same ? same - m->was->shapes : -1;
}

static void blend_track(morphs *m, const kf_track *track, int64_t origin, uint32_t frames, blend *blends)
{
    const kf_curve *curve = &track->curve[0];
    size_t first = 0, end = frames, cursor = 0;
    /* Before and after its keys a weight of 0 adds nothing: hats need a few frames each, not all. */
    bool constant = curve->count && curve->pre == KF_CONSTANT && curve->post == KF_CONSTANT;
    if (constant && curve->keys[0].value == 0.0 && kfi_ei_frame(m->part, curve->keys[0].time) > 0)
        first = (size_t)fmin(kfi_ei_frame(m->part, curve->keys[0].time), frames);
    if (constant && curve->keys[curve->count - 1].value == 0.0)
        end = (size_t)fmax(0, fmin(kfi_ei_frame(m->part, curve->keys[curve->count - 1].time) + 1, frames));
    for (size_t f = first; f < end; f++) {
        int64_t key = kfi_ei_key_at(m->part, curve, f, &cursor);
        double weight = key >= 0 ? curve->keys[key].value
                                 : kfi_curve_value(curve, kfi_ei_time(m->part, f), track->rest[0]);
        add_weighted(m, weight, origin, &blends[f]);
    }
}

static bool export_blend(morphs *m, const kfi_ei_anm *anm, uint8_t *bytes)
{
    kf_job *job = m->part->job;
    size_t frames = anm->morph_frames, hint = 0;
    blend *blends = kfi_alloc(job, frames, sizeof *blends);
    if (!blends)
        return false;
    for (size_t f = 0; f < frames; f++) {
        blends[f] = (blend){kfi_alloc(job, m->vertices, sizeof(vector)), -1};
        if (!blends[f].sum)
            return false;
    }
    const kf_track *track;
    for (size_t i = 0; (track = kfi_ei_track(m->part, m->part->node, i)) != NULL; i++) {
        if (track->channel != KF_MORPH || track->layer != 0 || track->curves == 0)
            continue;
        const kf_shape *shape = shape_named(m, track->name);
        if (!shape) /* survey told of it */
            continue;
        spread(m, shape);
        blend_track(m, track, original_frame(m, shape, &hint), anm->morph_frames, blends);
    }
    for (size_t f = 0; f < frames; f++)
        if (!store_frame(m, (const vector *)blends[f].sum, f, blends[f].shape,
                         bytes + f * m->vertices * KFI_EI_VEC3))
            return false;
    return true;
}

/* ---------------------------------------------------------------- which of the two */

/* The last key after which something still happens: a bake gives keys to the end of the take. */
static double last_change(const kf_curve *curve)
{
    size_t last = curve->count - 1;
    while (last > 0 && curve->keys[last].value == curve->keys[last - 1].value)
        last--;
    return curve->keys[last].time;
}

/* How many morph tracks with a shape the node has, how many frames their keys ask for, and whether all are the importer's.
 * Without a shape a track moves nothing, and leaves everything as it is. */
static bool survey(morphs *m, size_t *tracks, uint32_t *frames, bool *same)
{
    const ei_part *part = m->part;
    *tracks = 0;
    *frames = 0;
    *same = true;
    const kf_track *track;
    for (size_t i = 0; (track = kfi_ei_track(part, part->node, i)) != NULL; i++) {
        if (track->channel != KF_MORPH || track->layer != 0 || track->curves == 0)
            continue;
        if (track->source < 0 && !shape_named(m, track->name)) {
            if (!kfi_warn(part->job, "shape-lost", "node \"%.60s\", take \"%.60s\": there is no shape \"%.60s\"",
                          part->anim->nodes[part->node].name, part->take->name, track->name))
                return false;
            continue;
        }
        const kf_curve *curve = &track->curve[0];
        uint32_t asked = 1;
        if (curve->count) {
            double last = part->was ? curve->keys[curve->count - 1].time : last_change(curve);
            if (!kfi_ei_frames(part, last, &asked))
                return false;
        }
        *frames = asked > *frames ? asked : *frames;
        *same =
            *same && track->source >= 0 && (track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT);
        ++*tracks;
    }
    return true;
}

bool kfi_ei_export_morphs(const ei_part *part, kfi_ei_anm *anm)
{
    const kf_node *node = &part->anim->nodes[part->node];
    const kfi_ei_anm *was = part->was;
    morphs m = {.part = part, .mesh = node->mesh};
    size_t tracks;
    uint32_t frames;
    bool same;
    if (was)
        m.was = part->original->nodes[node->source].mesh;
    if (!m.mesh || m.mesh->point_count == 0)
        m.mesh = m.was;
    if (!survey(&m, &tracks, &frames, &same))
        return false;
    bool counts_only = was && (was->morph_frames == 0 || was->morph_vertices == 0);
    if (tracks == 0 || !m.mesh) {
        anm->morph_frames = counts_only ? was->morph_frames : 0;
        anm->morph_vertices = counts_only ? was->morph_vertices : 0;
        return true;
    }
    same = same && was && m.was && tracks == was->morph_frames;
    m.vertices = m.mesh->point_count;
    if (was && m.was && m.vertices != was->morph_vertices &&
        !kfi_warn(
            part->job, "vertex-count",
            "node \"%.60s\", take \"%.60s\": the mesh has %zu points, but the part had %lu morphed vertices",
            node->name, part->take->name, m.vertices, (unsigned long)was->morph_vertices))
        return false;
    if (m.vertices > UINT32_MAX)
        return kfi_fail(part->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "node \"%.60s\": more vertices than a file can count", node->name);
    anm->morph_frames = same ? was->morph_frames : frames;
    anm->morph_vertices = (uint32_t)m.vertices;
    m.offsets = kfi_alloc(part->job, m.vertices, sizeof *m.offsets);
    size_t all = anm->morph_frames != 0 && m.vertices > SIZE_MAX / anm->morph_frames
                     ? SIZE_MAX
                     : m.vertices * anm->morph_frames;
    uint8_t *bytes = m.offsets ? kfi_alloc_raw(part->job, all, KFI_EI_VEC3) : NULL;
    anm->morphs = bytes;
    return bytes && (same ? export_frames(&m, anm, bytes) : export_blend(&m, anm, bytes));
}
