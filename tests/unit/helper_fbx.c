#include "helper_fbx.h"

#include "fbx/scene.h"
#include "helper_memory.h"
#include "writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---------------------------------------------------------------- jobs and samples */

void fbx_begin(kf_job *job, uint64_t limit)
{
    if (job->arena.blocks) kfi_arena_free(&job->arena);
    memset(job, 0, sizeof *job);
    kfi_arena_init(&job->arena, (kf_allocator){0}, limit);
    job->arena.item_blocks = true;
}

bool fbx_read(kf_job *job, const void *data, size_t size, kf_anim *anim)
{
    kf_file file = {"test.fbx", data, size};
    bool ok = kfi_fbx_read(job, &file, anim) && kfi_anim_validate(job, anim);
    assert_int_equal(ok, !kfi_failed(job));
    return ok;
}

const char *const FBX_SAMPLES[] = {"blender440_shape_weight_anim_7400_binary.fbx",
                                   "max_transformed_skin_7500_binary.fbx",
                                   "maya_anim_interpolation_7700_binary.fbx",
                                   "maya_anim_layers_7500_binary.fbx",
                                   "maya_auto_clamp_7700_binary.fbx",
                                   "maya_interpolation_modes_7500_ascii.fbx",
                                   "maya_interpolation_modes_7500_binary.fbx",
                                   "motionbuilder_extrapolation_slope_7700_binary.fbx",
                                   "motionbuilder_tangent_tcb_7700_ascii.fbx",
                                   "motionbuilder_tangent_weight_7700_ascii.fbx"};
const size_t FBX_SAMPLE_COUNT = sizeof FBX_SAMPLES / sizeof *FBX_SAMPLES;

void *fbx_sample(const char *name, size_t *size)
{
    const char *folder = getenv("KEYFERRY_FBX_SAMPLES");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : KEYFERRY_SOURCE "/../shared/fbx-samples", name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("skipped: there is no %s\n", name);
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    assert_true(length > 0);
    rewind(file);
    void *data = malloc((size_t)length);
    *size = fread(data, 1, (size_t)length, file);
    fclose(file);
    assert_int_equal(*size, length);
    return data;
}

/* ---------------------------------------------------------------- comparing */

#define SAME(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) fail_msg("%s: differs: %s (line %d)", what, #condition, __LINE__);                 \
    } while (0)

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_doubles(const double *a, const double *b, size_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0; /* bits: -0 is not 0 */
}

static void same_curve(const kf_curve *a, const kf_curve *b, const char *what)
{
    SAME(a->count == b->count);
    SAME(a->pre == b->pre && a->post == b->post && a->pre_count == b->pre_count &&
         a->post_count == b->post_count);
    SAME(a->tcb_rule == b->tcb_rule || a->count == 0);
    SAME(!a->handles == !b->handles && !a->tcb == !b->tcb);
    for (size_t i = 0; i < a->count; i++) {
        const kf_key *k = &a->keys[i], *l = &b->keys[i];
        SAME(k->time == l->time);
        SAME(same_doubles(&k->value, &l->value, 1));
        SAME(k->interp == l->interp);
        SAME(k->attr == l->attr);
        SAME(k->flags == l->flags);
        SAME(!a->handles || memcmp(&a->handles[i], &b->handles[i], sizeof *a->handles) == 0);
        SAME(!a->tcb || memcmp(&a->tcb[i], &b->tcb[i], sizeof *a->tcb) == 0);
    }
    SAME(!a->fbx_data == !b->fbx_data);
    if (a->fbx_data) {
        SAME(a->fbx_data_count == b->fbx_data_count);
        SAME(memcmp(a->fbx_data, b->fbx_data, a->fbx_data_count * 16) == 0);
    }
}

static void same_track(const kf_track *a, const kf_track *b, const char *what)
{
    SAME(a->node == b->node && a->layer == b->layer && a->channel == b->channel && a->curves == b->curves);
    SAME(same_text(a->name, b->name));
    SAME(same_doubles(a->rest, b->rest, a->curves));
    for (unsigned c = 0; c < a->curves; c++) same_curve(&a->curve[c], &b->curve[c], what);
}

static void same_mesh(const kf_mesh *a, const kf_mesh *b, const char *what)
{
    SAME(a->point_count == b->point_count && a->shape_count == b->shape_count);
    SAME(same_doubles(a->points[0], b->points[0], 3 * a->point_count));
    for (size_t i = 0; i < a->shape_count; i++) {
        const kf_shape *s = &a->shapes[i], *t = &b->shapes[i];
        SAME(same_text(s->name, t->name) && s->count == t->count && !s->index == !t->index);
        SAME(s->count == 0 || same_doubles(s->offset[0], t->offset[0], 3 * s->count));
        SAME(!s->index || memcmp(s->index, t->index, s->count * sizeof *s->index) == 0);
    }
}

static void same_node(const kf_node *a, const kf_node *b, const char *what)
{
    SAME(same_text(a->name, b->name));
    SAME(a->parent == b->parent && a->order == b->order);
    SAME(a->kind == b->kind || (a->kind == KF_NODE_OTHER && b->kind == KF_NODE_NULL));
    SAME(same_doubles(a->rest.translation, b->rest.translation, 9));
    SAME(!a->mesh == !b->mesh);
    if (a->mesh) same_mesh(a->mesh, b->mesh, what);
    SAME(a->property_count == b->property_count);
    for (size_t i = 0; i < a->property_count; i++) {
        const kf_property *p = &a->properties[i], *q = &b->properties[i];
        SAME(same_text(p->name, q->name));
        SAME(same_text(p->type, q->type) && same_text(p->sub_type, q->sub_type) &&
             same_text(p->flags, q->flags));
        SAME(p->value_count == q->value_count && same_doubles(p->value, q->value, p->value_count));
        SAME(!p->text == !q->text && p->text_size == q->text_size);
        SAME(p->text_size == 0 || memcmp(p->text, q->text, p->text_size) == 0);
    }
}

void fbx_assert_same(const kf_anim *a, const kf_anim *b, const char *what)
{
    SAME(a->frame_rate == b->frame_rate);
    const kf_settings *s = &a->settings, *t = &b->settings;
    SAME(s->up_axis == t->up_axis && s->up_sign == t->up_sign && s->front_axis == t->front_axis &&
         s->front_sign == t->front_sign && s->coord_axis == t->coord_axis && s->coord_sign == t->coord_sign);
    SAME(s->unit_scale == t->unit_scale && s->time_mode == t->time_mode);
    SAME(a->node_count == b->node_count && a->take_count == b->take_count);
    for (size_t i = 0; i < a->node_count; i++) same_node(&a->nodes[i], &b->nodes[i], what);
    for (size_t i = 0; i < a->take_count; i++) {
        const kf_take *c = &a->takes[i], *d = &b->takes[i];
        SAME(same_text(c->name, d->name) && c->start == d->start && c->end == d->end);
        SAME(c->layer_count == d->layer_count && c->track_count == d->track_count);
        for (size_t k = 0; k < c->layer_count; k++)
            SAME(same_text(c->layers[k].name, d->layers[k].name) &&
                 c->layers[k].weight == d->layers[k].weight && c->layers[k].mode == d->layers[k].mode &&
                 c->layers[k].rotation == d->layers[k].rotation && c->layers[k].scale == d->layers[k].scale &&
                 c->layers[k].mute == d->layers[k].mute && c->layers[k].solo == d->layers[k].solo);
        for (size_t k = 0; k < c->track_count; k++) same_track(&c->tracks[k], &d->tracks[k], what);
    }
}

/* ---------------------------------------------------------------- making */

void fbx_bytes(fbx_maker *m, const void *data, size_t size)
{
    if (m->size + size > m->capacity) {
        m->capacity = 2 * (m->size + size);
        m->data = realloc(m->data, m->capacity);
        assert_non_null(m->data);
    }
    if (size > 0) memcpy(m->data + m->size, data, size);
    m->size += size;
}

static void put_u32(fbx_maker *m, uint32_t value)
{
    uint8_t bytes[4];
    kfi_store_u32(bytes, value);
    fbx_bytes(m, bytes, 4);
}

static size_t word(const fbx_maker *m)
{
    return m->version >= 7500 ? 8 : 4;
}

static void patch(fbx_maker *m, size_t at, uint64_t value)
{
    uint8_t bytes[8];
    kfi_store_u64(bytes, value);
    memcpy(m->data + at, bytes, word(m));
}

void fbx_make(fbx_maker *m, uint32_t version)
{
    memset(m, 0, sizeof *m);
    m->version = version;
    fbx_bytes(m, "Kaydara FBX Binary  \0\x1a\0", 23);
    put_u32(m, version);
}

/* The values of the record above end where its first child begins. */
static void end_values(fbx_maker *m)
{
    if (m->depth > 0 && !m->has_children[m->depth - 1]) {
        patch(m, m->open[m->depth - 1] + 2 * word(m), m->size - m->first_value[m->depth - 1]);
        m->has_children[m->depth - 1] = true;
    }
}

void fbx_open(fbx_maker *m, const char *name)
{
    static const uint8_t zeros[24];
    uint8_t length = (uint8_t)strlen(name);
    end_values(m);
    m->open[m->depth] = m->size;
    m->has_children[m->depth] = false;
    fbx_bytes(m, zeros, 3 * word(m));
    fbx_bytes(m, &length, 1);
    fbx_bytes(m, name, length);
    m->first_value[m->depth] = m->size;
    m->depth++;
}

static void count_value(fbx_maker *m)
{
    m->data[m->open[m->depth - 1] + word(m)]++;
}

void fbx_close(fbx_maker *m)
{
    static const uint8_t zeros[25];
    if (m->has_children[m->depth - 1])
        fbx_bytes(m, zeros, 3 * word(m) + 1);
    else
        patch(m, m->open[m->depth - 1] + 2 * word(m), m->size - m->first_value[m->depth - 1]);
    m->depth--;
    patch(m, m->open[m->depth], m->size);
}

void fbx_text(fbx_maker *m, const void *text, size_t size)
{
    count_value(m);
    fbx_bytes(m, "S", 1);
    put_u32(m, (uint32_t)size);
    fbx_bytes(m, text, size);
}

void fbx_i32(fbx_maker *m, int32_t value)
{
    count_value(m);
    fbx_bytes(m, "I", 1);
    put_u32(m, (uint32_t)value);
}

void fbx_i64(fbx_maker *m, int64_t value)
{
    uint8_t bytes[8];
    count_value(m);
    kfi_store_u64(bytes, (uint64_t)value);
    fbx_bytes(m, "L", 1);
    fbx_bytes(m, bytes, 8);
}

void fbx_f64(fbx_maker *m, double value)
{
    uint64_t bits;
    uint8_t bytes[8];
    count_value(m);
    memcpy(&bits, &value, 8);
    kfi_store_u64(bytes, bits);
    fbx_bytes(m, "D", 1);
    fbx_bytes(m, bytes, 8);
}

void fbx_array(fbx_maker *m, char type, const void *items, uint32_t count, bool packed)
{
    size_t item_size = type == 'l' || type == 'd' ? 8 : 4;
    uLong size = (uLong)count * item_size;
    uLongf packed_size = compressBound(size);
    uint8_t *data = malloc(packed_size), *plain = malloc(size + 1);
    store_items(plain, items, count, item_size);
    if (packed)
        assert_int_equal(compress(data, &packed_size, plain, size), Z_OK);
    count_value(m);
    fbx_bytes(m, &type, 1);
    put_u32(m, count);
    put_u32(m, packed);
    put_u32(m, (uint32_t)(packed ? packed_size : size));
    fbx_bytes(m, packed ? data : plain, packed ? packed_size : size);
    free(data);
    free(plain);
}

void fbx_array_record(fbx_maker *m, const char *name, char type, const void *items, uint32_t count,
                      bool packed)
{
    fbx_open(m, name);
    fbx_array(m, type, items, count, packed);
    fbx_close(m);
}

void fbx_connect(fbx_maker *m, int64_t child, int64_t parent, const char *property)
{
    fbx_open(m, "C");
    fbx_text(m, property ? "OP" : "OO", 2);
    fbx_i64(m, child);
    fbx_i64(m, parent);
    if (property) fbx_text(m, property, strlen(property));
    fbx_close(m);
}

void fbx_finish(fbx_maker *m)
{
    static const uint8_t zeros[25 + 160];
    assert_int_equal(m->depth, 0);
    fbx_bytes(m, zeros, 3 * word(m) + 1 + 160); /* the footer is of no interest to readers */
    m->data = realloc(m->data, m->size);        /* not a byte more, for the sanitizer */
}
