/* FBX to animation to FBX to animation: nothing changes, in any encoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fbx/keys.h"
#include "fbx/scene.h"
#include "helper_fbx.h"
#include "ufbx.h"
#include "writer.h"

static kf_job job;

static int tear_down(void **state)
{
    (void)state;
    kfi_arena_free(&job.arena);
    memset(&job, 0, sizeof job);
    return 0;
}

static bool append(void *user, const void *data, size_t size)
{
    kfi_write_bytes(user, data, size);
    return true;
}

static bool patch(void *user, uint64_t at, const void *data, size_t size)
{
    kfi_writer *out = user;
    assert_true(at + size <= out->size);
    memcpy(out->data + at, data, size);
    return true;
}

static const struct {
    uint32_t version;
    bool ascii;
    const char *name;
} ENCODINGS[] = {{7400, false, "7400"}, {7500, false, "7500"}, {7500, true, "ASCII"}};
enum { ENCODING_COUNT = sizeof ENCODINGS / sizeof *ENCODINGS };

static kfi_writer write_anim(const kf_anim *anim, size_t encoding)
{
    kfi_writer out;
    kfi_writer_init(&out, &job, 0);
    kf_sink sink = {&out, append, patch};
    job.options.fbx_version = ENCODINGS[encoding].version;
    job.options.ascii = ENCODINGS[encoding].ascii;
    if (!kfi_fbx_write(&job, anim, &sink)) fail_msg("%s", job.error.message);
    assert_false(out.failed);
    return out;
}

/* ---------------------------------------------------------------- the arrays in the files, past our reader
 */

static const void *array(const ufbx_anim_curve *curve, const char *name, size_t *count)
{
    const ufbx_dom_node *node = ufbx_dom_find(curve->element.dom_node, name);
    assert_non_null(node);
    *count = (size_t)node->values.data[0].value_int;
    return node->values.data[0].value_blob.data;
}

/* Key i's flags and data, runs unrolled. */
static void attributes(const ufbx_anim_curve *curve, size_t i, uint32_t words[5])
{
    size_t count, run = 0;
    const int32_t *counts = array(curve, "KeyAttrRefCount", &count);
    while (i >= (size_t)counts[run]) i -= (size_t)counts[run++];
    memcpy(words, (const int32_t *)array(curve, "KeyAttrFlags", &count) + run, 4);
    memcpy(words + 1, (const uint32_t *)array(curve, "KeyAttrDataFloat", &count) + 4 * run, 16);
}

static size_t same_arrays(const ufbx_anim_curve *a, const ufbx_anim_curve *b, const char *what)
{
    size_t count, other;
    const int64_t *times = array(a, "KeyTime", &count), *other_times = array(b, "KeyTime", &other);
    assert_int_equal(count, other);
    assert_memory_equal(times, other_times, 8 * count);
    const double *values = array(a, "KeyValueFloat", &count),
                 *other_values = array(b, "KeyValueFloat", &other);
    for (size_t i = 0; i < count; i++) {
        float value = (float)values[i], other_value = (float)other_values[i];
        assert_memory_equal(&value, &other_value, 4);
        uint32_t words[5], other_words[5];
        attributes(a, i, words);
        attributes(b, i, other_words);
        for (int k = 0; k < 5; k++)
            if (words[k] != other_words[k])
                fail_msg("%s, key %zu, word %d: %08x became %08x", what, i, k, words[k], other_words[k]);
    }
    return count;
}

static const ufbx_anim_value *find_value(const ufbx_anim_layer *layer, const ufbx_anim_prop *wanted)
{
    for (size_t i = 0; i < layer->anim_props.count; i++) {
        const ufbx_anim_prop *prop = &layer->anim_props.data[i];
        if (prop->element->type == wanted->element->type &&
            strcmp(prop->element->name.data, wanted->element->name.data) == 0 &&
            strcmp(prop->prop_name.data, wanted->prop_name.data) == 0)
            return prop->anim_value;
    }
    fail_msg("no animation of %s", wanted->prop_name.data);
    return NULL;
}

/* Every curve of nodes and shapes; how many keys that were. */
static size_t same_curves(const ufbx_scene *a, const ufbx_scene *b, const char *what)
{
    size_t keys = 0;
    assert_int_equal(a->anim_stacks.count, b->anim_stacks.count);
    for (size_t s = 0; s < a->anim_stacks.count; s++) {
        const ufbx_anim_layer_list *layers = &a->anim_stacks.data[s]->layers,
                                   *others = &b->anim_stacks.data[s]->layers;
        assert_int_equal(layers->count, others->count);
        for (size_t l = 0; l < layers->count; l++) {
            for (size_t p = 0; p < layers->data[l]->anim_props.count; p++) {
                const ufbx_anim_prop *prop = &layers->data[l]->anim_props.data[p];
                if (prop->element->type != UFBX_ELEMENT_NODE &&
                    prop->element->type != UFBX_ELEMENT_BLEND_CHANNEL)
                    continue;
                const ufbx_anim_value *value = find_value(others->data[l], prop);
                for (int c = 0; c < 3; c++) {
                    const ufbx_anim_curve *curve = prop->anim_value->curves[c];
                    assert_int_equal(curve != NULL, value->curves[c] != NULL);
                    if (curve) keys += same_arrays(curve, value->curves[c], what);
                }
            }
        }
    }
    return keys;
}

/* ---------------------------------------------------------------- round trips */

/* Written and read again; and ufbx has nothing to say about the file. */
static size_t round_trip(const kf_anim *anim, size_t encoding, kf_anim *back, const ufbx_scene *original,
                         const char *what)
{
    kfi_writer out = write_anim(anim, encoding);
    if (!fbx_read(&job, out.data, out.size, back)) fail_msg("%s", job.error.message);
    ufbx_error error;
    ufbx_load_opts opts = {.retain_dom = true};
    ufbx_scene *scene = ufbx_load_memory(out.data, out.size, &opts, &error);
    assert_non_null(scene);
    for (size_t i = 0; i < scene->metadata.warnings.count; i++) /* names may be any bytes */
        assert_int_equal(scene->metadata.warnings.data[i].type, UFBX_WARNING_BAD_UNICODE);
    size_t keys = original ? same_curves(original, scene, what) : 0;
    ufbx_free_scene(scene);
    return keys;
}

static void samples_do_not_change(void **state)
{
    (void)state;
    size_t files = 0, keys = 0;
    for (size_t i = 0; i < FBX_SAMPLE_COUNT; i++) {
        size_t size;
        void *data = fbx_sample(FBX_SAMPLES[i], &size);
        if (!data) continue;
        ufbx_load_opts opts = {.retain_dom = true};
        ufbx_scene *original = ufbx_load_memory(data, size, &opts, NULL);
        for (size_t e = 0; e < ENCODING_COUNT; e++) {
            kf_anim first, second, third;
            char what[200];
            snprintf(what, sizeof what, "%s by way of %s", FBX_SAMPLES[i], ENCODINGS[e].name);
            fbx_begin(&job, UINT64_MAX);
            job.arena.item_blocks = false;
            assert_true(fbx_read(&job, data, size, &first));
            keys += round_trip(&first, e, &second, original, what);
            fbx_assert_same(&first, &second, what);
            round_trip(&second, (e + 1) % ENCODING_COUNT, &third, original, what);
            fbx_assert_same(&first, &third, what);
        }
        ufbx_free_scene(original);
        free(data);
        files++;
    }
    if (files < FBX_SAMPLE_COUNT) skip();
    printf("%zu files in %d encodings, %zu keys, bit for bit\n", files, (int)ENCODING_COUNT, keys);
    assert_int_equal(keys, 3 * 449);
}

/* ---------------------------------------------------------------- random scenes */

static uint32_t random_state;
static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 16 | random_state << 16;
}

static uint32_t random_below(uint32_t limit)
{
    return next_random() % limit;
}

/* Any finite float: of everyday size mostly, but also tiny, huge and -0. */
static uint32_t random_float(void)
{
    switch (random_below(8)) {
    case 0:
        return 0;
    case 1:
        return 0x80000000u;
    case 2:
        return next_random() & 0xfeffffffu; /* any exponent but the largest */
    default:
        return (next_random() & 0x807fffffu) | (120 + random_below(16)) << 23;
    }
}

static void random_curve(kf_curve *curve)
{
    static const uint32_t flags[] = {0x2,   0x102,     0x404,     0x4,        0x6104,    0x408,
                                     0xc08, 0x3000408, 0x1000c08, 0x2000408,  0x208,     0x6108,
                                     0x108, 0x1108,    0x4908,    0x13000408, 0x30000408};
    size_t count = 1 + random_below(random_below(4) == 0 ? 3000 : 12);
    kfi_fbx_keys keys = {.count = count,
                         .times = kfi_alloc(&job, count, 8),
                         .values = kfi_alloc(&job, count, 4),
                         .flags = kfi_alloc(&job, count, 4),
                         .data = kfi_alloc(&job, count, 16),
                         .ref_count = kfi_alloc(&job, count, 4)};
    int64_t time = (int64_t)random_below(1000) * -KFI_FBX_TICKS / 24;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = random_float();
        memcpy(&keys.values[i], &bits, 4);
        keys.times[i] = time;
        time += random_below(2) ? KFI_FBX_TICKS / 30 * (1 + random_below(20)) : 1 + (int64_t)next_random();
        if (keys.runs > 0 && random_below(3) == 0) {
            keys.ref_count[keys.runs - 1]++;
            continue;
        }
        size_t run = keys.runs++;
        keys.ref_count[run] = 1;
        keys.flags[run] = (int32_t)flags[random_below(sizeof flags / sizeof *flags)];
        for (int k = 0; k < 3; k++) keys.data[4 * run + (size_t)k] = random_float();
        if (!(keys.flags[run] & 0x200))
            keys.data[4 * run + 2] = (1 + random_below(9899)) | (1 + random_below(9899)) << 16;
        if (keys.flags[run] & 0x30000000) keys.data[4 * run + 3] = next_random();
    }
    assert_true(kfi_fbx_unpack(&job, &keys, (double)KFI_FBX_TICKS, curve));
    curve->pre = (uint8_t)random_below(5);
    curve->post = (uint8_t)random_below(5);
    if (curve->pre != KF_CONSTANT && curve->pre != KF_SLOPE) curve->pre_count = random_below(3);
    if (curve->post != KF_CONSTANT && curve->post != KF_SLOPE) curve->post_count = random_below(3);
}

static double random_number(void)
{
    double number;
    uint64_t bits = (uint64_t)next_random() << 32 | next_random();
    bits = (bits & 0x800fffffffffffffu) | (uint64_t)(1020 + random_below(12)) << 52;
    memcpy(&number, &bits, 8);
    return random_below(4) == 0 ? (double)random_below(100) : number;
}

static void random_scene(kf_anim *anim)
{
    static const char *const names[] = {"a",    "b \"quoted\"", "line\nbreak\r", "\xc3\xa9t\xc3\xa9",
                                        "x::y", "%s",           "Model::z",      "\xff\xfe"};
    kfi_anim_init(anim, "fbx");
    anim->settings.up_axis = 2;
    anim->settings.coord_sign = -1;
    anim->settings.unit_scale = random_number();
    anim->frame_rate = 24;
    anim->settings.time_mode = 11;
    size_t nodes = 1 + random_below(20);
    for (size_t i = 0; i < nodes; i++) {
        kf_node *node =
            kfi_add_node(&job, anim, names[random_below(8)], (int32_t)random_below((uint32_t)i + 1) - 1);
        for (int c = 0; c < 3; c++) {
            node->rest.translation[c] = random_number();
            node->rest.rotation[c] = random_number();
            node->rest.scale[c] = random_number();
        }
        node->order = (uint8_t)random_below(6);
        static const uint8_t kinds[] = {KF_NODE_NULL, KF_NODE_BONE, KF_NODE_ROOT};
        node->kind = kinds[random_below(3)];
        for (uint32_t p = random_below(4); p > 0; p--) {
            kf_property *property =
                kfi_push(&job, &node->properties, &node->property_count, sizeof *property);
            *property = (kf_property){.name = kfi_format_text(&job, "p%u", p),
                                      .type = "Vector3D",
                                      .sub_type = "Vector",
                                      .flags = "A+U"};
            property->value_count = 3;
            for (int c = 0; c < 3; c++) property->value[c] = random_number();
            if (random_below(2)) {
                property->type = "KString";
                property->sub_type = "";
                property->value_count = 0;
                property->text = names[random_below(8)];
                property->text_size = strlen(property->text);
            }
        }
    }
    for (uint32_t t = random_below(4); t > 0; t--) {
        kf_take *take = kfi_add_take(&job, anim, kfi_format_text(&job, "take %u", t));
        take->start = -(double)random_below(5);
        take->end = 1 + random_below(100) / 8.0;
        for (uint32_t l = 1 + random_below(3); l > 0; l--) {
            kf_layer *layer = kfi_push(&job, &take->layers, &take->layer_count, sizeof *layer);
            *layer = (kf_layer){.name = kfi_format_text(&job, "layer %u", l),
                                .weight = random_below(101) / 100.0,
                                .mode = (uint8_t)random_below(3),
                                .rotation = (uint8_t)random_below(2),
                                .scale = (uint8_t)random_below(2),
                                .mute = random_below(2),
                                .solo = random_below(2)};
        }
        for (uint32_t l = 0; l < take->layer_count; l++)
            for (uint32_t n = 0; n < nodes; n++)
                for (uint32_t channel = KF_TRANSLATION; channel <= KF_CUSTOM; channel++) {
                    if (channel == KF_MORPH || random_below(3) != 0) continue;
                    unsigned curves = channel <= KF_SCALE    ? 3
                                      : channel == KF_CUSTOM ? 1 + random_below(3)
                                                             : 1;
                    kf_track *track = kfi_add_track(&job, take, n, (kf_channel)channel, curves);
                    track->layer = l;
                    for (unsigned c = 0; c < curves; c++) {
                        track->rest[c] = random_number();
                        if (random_below(4) != 0) random_curve(&track->curve[c]);
                    }
                    if (channel != KF_CUSTOM) continue;
                    kf_node *node = &anim->nodes[n]; /* animated properties are the node's */
                    const char *name = kfi_format_text(&job, "custom %u", (unsigned)node->property_count);
                    track->name = name;
                    kf_property *property =
                        kfi_push(&job, &node->properties, &node->property_count, sizeof *property);
                    *property = (kf_property){
                        .name = name, .type = "Number", .sub_type = "", .flags = "A+U", .value_count = 1};
                }
    }
    assert_true(kfi_anim_validate(&job, anim));
}

static void random_scenes_do_not_change(void **state)
{
    (void)state;
    size_t keys = 0;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        fbx_begin(&job, UINT64_MAX);
        job.arena.item_blocks = false;
        random_state = seed;
        kf_anim anim;
        random_scene(&anim);
        for (size_t e = 0; e < ENCODING_COUNT; e++) {
            char what[80];
            snprintf(what, sizeof what, "random scene %u by way of %s", seed, ENCODINGS[e].name);
            kf_anim back;
            round_trip(&anim, e, &back, NULL, what);
            fbx_assert_same(&anim, &back, what);
        }
        for (size_t t = 0; t < anim.take_count; t++)
            for (size_t i = 0; i < anim.takes[t].track_count; i++)
                for (unsigned c = 0; c < anim.takes[t].tracks[i].curves; c++)
                    keys += anim.takes[t].tracks[i].curve[c].count;
    }
    printf("%zu random keys in %d encodings\n", keys, (int)ENCODING_COUNT);
    assert_true(keys > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_scenes_do_not_change, tear_down),
        cmocka_unit_test_teardown(samples_do_not_change, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
