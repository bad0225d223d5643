#include "helper_scene.h"

#include <string.h>

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

void scene_curve(kf_job *job, kf_curve *curve, size_t count, uint32_t seed)
{
    kfi_make_keys(job, curve, count, KFI_HANDLES | KFI_NUMBERS);
    curve->tcb_rule = KF_TCB_FBX;
    double time = 0.5;
    for (size_t i = 0; i < count; i++) {
        kf_key *key = &curve->keys[i];
        double duration = (1 + next_random(&seed) % 40) / 30.0;
        key->time = time;
        key->value = ((int)(next_random(&seed) % 2000) - 1000) / 16.0;
        /* All kinds in turn; a TCB key is followed by another, since its record has no room for a slope. */
        key->interp = (uint8_t)(i % 8 == 7 ? KF_TCB : i % 8 == 6 ? KF_TCB : (i + seed % 6) % 6);
        if (key->interp == KF_TCB && i % 8 < 6)
            key->interp = KF_AUTO;
        double slope = ((int)(next_random(&seed) % 200) - 100) / 4.0;
        double bend = next_random(&seed) % 3 ? 0 : 2.5;
        bool bezier = key->interp == KF_BEZIER;
        double out = bezier ? duration * (100 + next_random(&seed) % 9700) / 9999.0 : duration / 3.0;
        curve->handles[i].out = (kf_handle){out, slope * out};
        if (i > 0) {
            double before = time - key[-1].time;
            double in = key[-1].interp == KF_BEZIER ? before * (100 + next_random(&seed) % 9700) / 9999.0
                                                    : before / 3.0;
            curve->handles[i].in = (kf_handle){-in, key[-1].interp == KF_TCB ? 0 : -(slope + bend) * in};
        }
        if (key->interp == KF_TCB)
            curve->tcb[i] = (kf_tcb){.tension = (float)slope / 50, .continuity = (float)bend, .bias = -0.25f};
        time += duration;
    }
}

static void add_property(kf_job *job, kf_anim *anim, size_t node, kf_property property)
{
    kf_property *to =
        kfi_push(job, &anim->nodes[node].properties, &anim->nodes[node].property_count, sizeof *to);
    *to = property;
}

static void add_mesh(kf_job *job, kf_anim *anim, size_t node)
{
    kf_mesh *mesh = kfi_alloc(job, 1, sizeof *mesh);
    mesh->point_count = 200;
    mesh->points = kfi_alloc(job, mesh->point_count, sizeof *mesh->points);
    for (size_t i = 0; i < 3 * mesh->point_count; i++)
        mesh->points[i / 3][i % 3] = (double)(i * i % 97) / 7;
    mesh->shape_count = 3;
    mesh->shapes = kfi_alloc(job, mesh->shape_count, sizeof *mesh->shapes);
    static const char *const names[] = {"smile", "blink \xc3\xa4", "none"};
    static const size_t counts[] = {200, 3, 0};
    for (size_t i = 0; i < mesh->shape_count; i++) {
        kf_shape *shape = &mesh->shapes[i];
        shape->name = names[i];
        shape->count = counts[i];
        shape->offset = kfi_alloc(job, shape->count, sizeof *shape->offset);
        for (size_t k = 0; k < 3 * shape->count; k++)
            shape->offset[k / 3][k % 3] = (double)k / 3 - 1;
    }
    mesh->shapes[1].index = kfi_alloc(job, 3, sizeof(uint32_t));
    memcpy(mesh->shapes[1].index, (const uint32_t[]){7, 5, 199}, 12);
    anim->nodes[node].mesh = mesh;
    anim->nodes[node].kind = KF_NODE_MESH;
}

static void add_nodes(kf_job *job, kf_anim *anim)
{
    static const struct {
        const char *name;
        int32_t parent;
        kf_node_kind kind;
        kf_rotation_order order;
    } nodes[] = {{"wrapper", -1, KF_NODE_NULL, KF_XYZ},     {"root", 0, KF_NODE_ROOT, KF_XYZ},
                 {"bone \"one\"", 1, KF_NODE_BONE, KF_ZYX}, {"b\xc3\xb6ne", 2, KF_NODE_BONE, KF_YXZ},
                 {"face", 0, KF_NODE_MESH, KF_XYZ},         {"a::b & c", 0, KF_NODE_NULL, KF_XZY}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        kf_node *node = kfi_add_node(job, anim, nodes[i].name, nodes[i].parent);
        node->kind = (uint8_t)nodes[i].kind;
        node->order = (uint8_t)nodes[i].order;
        node->rest =
            (kf_transform){{1.5 * (double)i, -0.1, 1e-7}, {30, -45.25, 0.1 * (double)i}, {1, 2, 0.5}};
    }
    add_mesh(job, anim, 4);
    char *long_text = kfi_alloc(job, 100001, 1);
    memset(long_text, 'k', 100000);
    add_property(job, anim, 0,
                 (kf_property){.name = "text",
                               .type = "KString",
                               .sub_type = "",
                               .flags = "U",
                               .text = "a \"b\"\nc\r",
                               .text_size = 8});
    add_property(job, anim, 0,
                 (kf_property){.name = "long",
                               .type = "KString",
                               .sub_type = "",
                               .flags = "U",
                               .text = long_text,
                               .text_size = 100000});
    add_property(job, anim, 1,
                 (kf_property){.name = "whole",
                               .type = "int",
                               .sub_type = "Integer",
                               .flags = "U",
                               .value = {-7},
                               .value_count = 1});
    add_property(job, anim, 1,
                 (kf_property){.name = "choice",
                               .type = "Enum",
                               .sub_type = "",
                               .flags = "A+U",
                               .value = {1},
                               .value_count = 1,
                               .text = "a~b~c",
                               .text_size = 5});
    add_property(job, anim, 2,
                 (kf_property){.name = "size",
                               .type = "double",
                               .sub_type = "Number",
                               .flags = "U",
                               .value = {0.1},
                               .value_count = 1});
    add_property(job, anim, 3,
                 (kf_property){.name = "PreRotation",
                               .type = "Vector3D",
                               .sub_type = "Vector",
                               .flags = "",
                               .value = {0, -90, 0.3},
                               .value_count = 3});
    add_property(job, anim, 3,
                 (kf_property){.name = "colour",
                               .type = "ColorRGB",
                               .sub_type = "Color",
                               .flags = "A+U",
                               .value = {0.5, 0.25, 1},
                               .value_count = 3});
}

static kf_track *add_track(kf_job *job, kf_take *take, uint32_t node, kf_channel channel, unsigned curves,
                           size_t keys, const char *name)
{
    kf_track *track = kfi_add_track(job, take, node, channel, curves);
    track->name = name;
    for (unsigned c = 0; c < curves; c++) {
        scene_curve(job, &track->curve[c], keys + c, (uint32_t)(1 + take->track_count * 3 + c));
        track->rest[c] = track->curve[c].count ? track->curve[c].keys[0].value : 0.25;
    }
    return track;
}

void scene_make(kf_job *job, kf_anim *anim)
{
    kfi_anim_init(anim, "test");
    anim->frame_rate = 30;
    add_nodes(job, anim);
    kf_take *take = kfi_add_take(job, anim, "walk \xc3\xa4");
    take->start = -0.5;
    take->end = 30;
    kf_layer layers[] = {{"base", 1, 0, 0, 0, true, false}, {"over", 0.25, 1, 1, 1, false, true}};
    take->layers = kfi_alloc(job, 2, sizeof *take->layers);
    memcpy(take->layers, layers, sizeof layers);
    take->layer_count = 2;
    add_track(job, take, 1, KF_TRANSLATION, 3, 40, NULL);
    add_track(job, take, 1, KF_ROTATION, 3, 17, NULL);
    add_track(job, take, 2, KF_SCALE, 3, 1, NULL);
    kf_track *sparse = add_track(job, take, 3, KF_ROTATION, 3, 9, NULL);
    sparse->curve[1].count = 0; /* holds its rest */
    sparse->rest[1] = 12.5;
    kf_curve *ends = sparse->curve;
    ends[0].pre = KF_REPEAT;
    ends[0].post = KF_MIRROR;
    ends[0].post_count = 3;
    ends[2].pre = KF_SLOPE;
    ends[2].post = KF_REPEAT_RELATIVE;
    kf_track *visible = add_track(job, take, 2, KF_VISIBILITY, 1, 6, NULL);
    for (size_t i = 0; i < 6; i++) {
        visible->curve[0].keys[i].value = (double)(i % 2);
        visible->curve[0].keys[i].interp = KF_STEP;
    }
    visible->rest[0] = 0;
    add_track(job, take, 4, KF_MORPH, 1, 12, "smile");
    add_track(job, take, 4, KF_MORPH, 1, 5, "blink \xc3\xa4");
    add_track(job, take, 5, KF_CUSTOM, 1, 8, "heat");
    add_track(job, take, 5, KF_CUSTOM, 2, 8, "uv");
    add_track(job, take, 5, KF_CUSTOM, 3, 8, "wind");
    add_track(job, take, 3, KF_CUSTOM, 3, 4, "colour");
    add_track(job, take, 1, KF_TRANSLATION, 3, 5, NULL)->layer = 1;

    take = kfi_add_take(job, anim, "second");
    take->end = 2;
    add_track(job, take, 1, KF_TRANSLATION, 3, 2, NULL);
    add_track(job, take, 5, KF_CUSTOM, 1, 3, "heat");
    kfi_add_take(job, anim, "empty")->end = 1;
    kfi_anim_validate(job, anim);
}
