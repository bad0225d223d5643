/* ASCII FBX files made by hand: nodes, properties, takes, shapes, old versions, odd structures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fbx/scene.h"
#include "helper_fbx.h"

static kf_job job;
static kf_anim anim;

static int tear_down(void **state)
{
    (void)state;
    kfi_arena_free(&job.arena);
    memset(&job, 0, sizeof job);
    return 0;
}

static char text[3 * 1024 * 1024];

static bool read_text(const char *header, const char *objects, const char *connections)
{
    int size = snprintf(text, sizeof text,
                        "; FBX 7.5.0 project file\n%s\nObjects: {\n%s\n}\nConnections: {\n%s\n}\n", header,
                        objects, connections);
    assert_true(size > 0 && (size_t)size < sizeof text);
    char *exact = malloc((size_t)size);
    memcpy(exact, text, (size_t)size);
    fbx_begin(&job, UINT64_MAX);
    bool ok = fbx_read(&job, exact, (size_t)size, &anim);
    free(exact);
    return ok;
}

static const char HEADER[] = "FBXHeaderExtension: {\n FBXHeaderVersion: 1003\n FBXVersion: 7500\n}";

static void must_read(const char *objects, const char *connections)
{
    if (!read_text(HEADER, objects, connections)) fail_msg("%s", job.error.message);
}

static size_t said(const char *id)
{
    return kfi_said(&job, id);
}

/* ---------------------------------------------------------------- is it one */

#define BYTES(text) text, sizeof(text) - 1

static void probing(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool is;
    } cases[] = {
        {BYTES(""), false},
        {BYTES("K"), false},
        {BYTES("Kaydara FBX Binary  \0\x1a\0"), true},
        {BYTES("Kaydara FBX Binary  \0"), true},
        {BYTES("Kaydara FBX Binary  "), false},
        {BYTES("; FBX 7.5.0 project file\n"), true},
        {BYTES(";FBX 6.1.0 project file\n"), true},
        {BYTES("\xef\xbb\xbf; FBX 7.5.0"), true},
        {BYTES("\r\n\t ; something\n; else\n  FBXHeaderExtension:  {\n"), true},
        {BYTES("; something\n; else\nObjects: {"), false},
        {BYTES(";"), false},
        {BYTES("; FBX"), false},
        {BYTES("v 1 2 3\nf 1 2 3\n"), false},
        {BYTES("PK\3\4"), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *exact = malloc(cases[i].size ? cases[i].size : 1);
        memcpy(exact, cases[i].bytes, cases[i].size);
        if (kfi_fbx_probe(exact, cases[i].size) != cases[i].is) fail_msg("case %zu", i);
        fbx_begin(&job, UINT64_MAX);
        if (!cases[i].is) {
            assert_false(fbx_read(&job, exact, cases[i].size, &anim));
            assert_int_equal(job.error.code, KF_BAD_INPUT);
            assert_non_null(strstr(job.error.message, "expected an FBX file"));
        }
        free(exact);
    }
}

/* ---------------------------------------------------------------- nodes */

static int node(const char *name)
{
    for (size_t i = 0; i < anim.node_count; i++)
        if (strcmp(anim.nodes[i].name, name) == 0) return (int)i;
    fail_msg("no node %s", name);
    return -1;
}

static void order_of_nodes(void **state)
{
    (void)state;
    must_read("Model: 1, \"Model::leaf\", \"LimbNode\" {\n}\n"
              "Model: 2, \"Model::other\", \"Camera\" {\n}\n"
              "Model: 3, \"Model::root\", \"Root\" {\n}\n"
              "Model: 4, \"Model::mid\", \"Null\" {\n}\n"
              "Model: 5, \"Model::lone\", \"\" {\n}\n"
              "Model: 6, \"Model::a::b\", \"Mesh\" {\n}",
              "C: \"OO\",3,0\nC: \"OO\",1,4\nC: \"OO\",4,3\nC: \"OO\",2,0\nC: \"OO\",6,2");
    static const char *const names[] = {"root", "mid", "leaf", "other", "lone", "a::b"};
    static const int parents[] = {-1, 0, 1, -1, -1, 3};
    static const int kinds[] = {KF_NODE_ROOT,  KF_NODE_NULL, KF_NODE_BONE,
                                KF_NODE_OTHER, KF_NODE_NULL, KF_NODE_OTHER};
    assert_int_equal(anim.node_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(anim.nodes[i].name, names[i]);
        assert_int_equal(anim.nodes[i].parent, parents[i]);
        assert_int_equal(anim.nodes[i].kind, kinds[i]);
        assert_int_equal(anim.nodes[i].source, i);
    }
}

static void two_parents_and_circles(void **state)
{
    (void)state;
    static const char models[] =
        "Model: 1, \"Model::a\", \"Null\" {\n}\nModel: 2, \"Model::b\", \"Null\" {\n}\n"
        "Model: 3, \"Model::c\", \"Null\" {\n}";
    must_read(models, "C: \"OO\",1,0\nC: \"OO\",2,0\nC: \"OO\",3,1\nC: \"OO\",3,2");
    assert_int_equal(anim.node_count, 3);
    assert_int_equal(said("instance"), 1);
    assert_true(anim.nodes[node("c")].parent >= 0);
    assert_false(read_text(HEADER, models, "C: \"OO\",1,2\nC: \"OO\",2,3\nC: \"OO\",3,1"));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
    assert_non_null(strstr(job.error.message, "Cyclic"));
    assert_false(read_text(HEADER, models, "C: \"OO\",1,1"));
    assert_int_equal(job.error.code, KF_BAD_INPUT);
}

static void deep_chains(void **state)
{
    (void)state;
    for (int depth = 1000; depth <= 5000; depth += 4000) {
        char *objects = malloc((size_t)depth * 48), *connections = malloc((size_t)depth * 32);
        size_t o = 0, c = 0;
        for (int i = depth; i >= 1; i--) { /* the deepest first */
            o += (size_t)sprintf(objects + o, "Model: %d, \"Model::n%d\", \"Null\" {\n}\n", i, i);
            c += (size_t)sprintf(connections + c, "C: \"OO\",%d,%d\n", i, i - 1);
        }
        bool ok = read_text(HEADER, objects, connections);
        assert_int_equal(ok, depth == 1000);
        if (ok)
            for (int i = 0; i < depth; i++) assert_int_equal(anim.nodes[i].parent, i - 1);
        else
            assert_non_null(strstr(job.error.message, "deeper than 4096"));
        free(objects);
        free(connections);
    }
}

static void properties(void **state)
{
    (void)state;
    size_t large = 1024 * 1024;
    char *objects = malloc(large + 4096);
    char *at =
        objects +
        sprintf(objects,
                "Model: 1, \"Model::&quot;n\xff\", \"Null\" {\nProperties70: {\n"
                "P: \"RotationOrder\", \"enum\", \"\", \"\",4\n"
                "P: \"RotationActive\", \"bool\", \"\", \"\",1\n"
                "P: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",1,2,3\n"
                "P: \"Lcl Rotation\", \"Lcl Rotation\", \"\", \"A+\",4,5,-0.0\n"
                "P: \"Lcl Scaling\", \"Lcl Scaling\", \"\", \"A\",7,8,1e-300\n"
                "P: \"PreRotation\", \"Vector3D\", \"Vector\", \"\",0.1,90,-180.5\n"
                "P: \"InheritType\", \"enum\", \"\", \"\",1\n"
                "P: \"DefaultAttributeIndex\", \"int\", \"Integer\", \"\",0\n"
                "P: \"Visibility\", \"Visibility\", \"\", \"A\",0\n"
                "P: \"MyEnum\", \"Enum\", \"\", \"A+U\",1, \"one~two\"\n"
                "P: \"MyText\", \"KString\", \"\", \"U\", \"&quot;q&quot;&cr;&lf;&amp; \xc3\xa9 \xff\"\n"
                "P: \"Empty\", \"KString\", \"\", \"U\", \"\"\n"
                "P: \"Four\", \"Vector4D\", \"Vector4\", \"U\",1,2,3,4\n"
                "P: \"Nothing\", \"Compound\", \"\", \"\"\n"
                "P: \"Big\", \"ULongLong\", \"\", \"U\",9007199254740993\n"
                "P: \"Capsule\", \"KString\", \"\", \"U\", \"");
    for (size_t i = 0; i < large; i++) *at++ = (char)('#' + i % 88 + (i % 88 >= 3)); /* no " and no & */
    strcpy(at, "\"\n}\n}\nModel: 2, \"Model::shown\", \"Null\" {\nProperties70: {\nP: \"Visibility\", "
               "\"Visibility\", \"\", \"A\",1\n}\n}");
    must_read(objects, "C: \"OO\",1,0");
    const kf_node *n = &anim.nodes[0];
    assert_string_equal(n->name, "\"n\xff");
    assert_int_equal(n->order, KF_ZXY);
    assert_true(n->rest.translation[1] == 2 && n->rest.rotation[0] == 4 && signbit(n->rest.rotation[2]));
    assert_true(n->rest.scale[2] == 1e-300);
    static const struct {
        const char *name, *type, *sub_type, *flags;
        double value;
        size_t count;
        const char *text;
    } expected[] = {{"PreRotation", "Vector3D", "Vector", "", 0.1, 3, NULL},
                    {"InheritType", "enum", "", "", 1, 1, NULL},
                    {"Visibility", "Visibility", "", "A", 0, 1, NULL},
                    {"MyEnum", "Enum", "", "A+U", 1, 1, "one~two"},
                    {"MyText", "KString", "", "U", 0, 0, "\"q\"\r\n&amp; \xc3\xa9 \xff"},
                    {"Empty", "KString", "", "U", 0, 0, ""},
                    {"Four", "Vector4D", "Vector4", "U", 1, 4, NULL},
                    {"Nothing", "Compound", "", "", 0, 0, NULL},
                    {"Big", "ULongLong", "", "U", 9007199254740992.0, 1, NULL}};
    size_t count = sizeof expected / sizeof *expected;
    assert_int_equal(n->property_count, count + 1);
    for (size_t i = 0; i < count; i++) {
        const kf_property *p = &n->properties[i];
        assert_string_equal(p->name, expected[i].name);
        assert_string_equal(p->type, expected[i].type);
        assert_string_equal(p->sub_type, expected[i].sub_type);
        assert_string_equal(p->flags, expected[i].flags);
        assert_int_equal(p->value_count, expected[i].count);
        if (p->value_count) assert_true(p->value[0] == expected[i].value);
        assert_int_equal(p->text != NULL, expected[i].text != NULL);
        if (p->text) assert_string_equal(p->text, expected[i].text);
        if (p->text) assert_int_equal(p->text_size, strlen(expected[i].text));
    }
    assert_true(n->properties[0].value[1] == 90 && n->properties[0].value[2] == -180.5);
    assert_int_equal(n->properties[count].text_size, large);
    assert_memory_equal(n->properties[count].text, at - large, large);
    assert_int_equal(said("property-rounded"), 1);
    assert_int_equal(anim.nodes[1].property_count, 0); /* shown is the usual */
    free(objects);
}

static void odd_numbers_and_settings(void **state)
{
    (void)state;
    assert_true(read_text(
        "GlobalSettings: {\nProperties70: {\nP: \"UpAxis\", \"int\", \"Integer\", \"\",2\n"
        "P: \"UpAxisSign\", \"int\", \"Integer\", \"\",-1\nP: \"FrontAxis\", \"int\", \"Integer\", \"\",77\n"
        "P: \"UnitScaleFactor\", \"double\", \"Number\", \"\",2.54\n"
        "P: \"TimeMode\", \"enum\", \"\", \"\",14\nP: \"CustomFrameRate\", \"double\", \"Number\", "
        "\"\",12.5\n}\n}",
        "Model: 1, \"Model::n\", \"Null\" {\nProperties70: {\nP: \"Lcl Scaling\", \"Lcl Scaling\", \"\", "
        "\"A\",inf,2,3\n"
        "P: \"RotationOrder\", \"enum\", \"\", \"\",6\nP: \"Mine\", \"double\", \"Number\", \"U\",nan\n}\n}",
        "C: \"OO\",1,0"));
    assert_true(anim.settings.up_axis == 2 && anim.settings.up_sign == -1 && anim.settings.front_axis == 2);
    assert_true(anim.settings.unit_scale == 2.54 && anim.settings.time_mode == 14 && anim.frame_rate == 12.5);
    assert_true(anim.nodes[0].rest.scale[0] == 1 && anim.nodes[0].rest.scale[1] == 2);
    assert_true(anim.nodes[0].order == KF_XYZ && anim.nodes[0].properties[0].value[0] == 0);
    assert_int_equal(said("nonfinite"), 2);
    assert_int_equal(said("rotation-order"), 1);
    assert_string_equal(anim.format, "fbx");
}

/* ---------------------------------------------------------------- takes */

#define CURVE(id, value)                                                                                     \
    "AnimationCurve: " #id ", \"AnimCurve::\", \"\" {\nKeyTime: *2 {\na: 0,46186158000\n}\n"                 \
    "KeyValueFloat: *2 {\na: " #value                                                                        \
    ",1\n}\nKeyAttrFlags: *1 {\na: 1028\n}\nKeyAttrDataFloat: *4 {\na: 0,0,218434821,0\n}\n"                 \
    "KeyAttrRefCount: *1 {\na: 2\n}\n}\n"
#define CURVE_NODE(id, name, properties)                                                                     \
    "AnimationCurveNode: " #id ", \"AnimCurveNode::" name "\", \"\" {\nProperties70: {\n" properties "}\n}"  \
    "\n"
#define D(name, value) "P: \"d|" name "\", \"Number\", \"\", \"A\"," #value "\n"
#define STACK(id, name, properties)                                                                          \
    "AnimationStack: " #id ", \"AnimStack::" name "\", \"\" {\nProperties70: {\n" properties "}\n}\n"
#define LAYER(id, name, properties)                                                                          \
    "AnimationLayer: " #id ", \"AnimLayer::" name "\", \"\" {\nProperties70: {\n" properties "}\n}\n"
#define MODEL(id, name)             "Model: " #id ", \"Model::" name "\", \"Null\" {\n}\n"
#define OO(child, parent)           "C: \"OO\"," #child "," #parent "\n"
#define OP(child, parent, property) "C: \"OP\"," #child "," #parent ", \"" property "\"\n"

static void takes_and_layers(void **state)
{
    (void)state;
    must_read(STACK(100, "second",
                    "P: \"LocalStart\", \"KTime\", \"Time\", \"\",-46186158000\n"
                    "P: \"LocalStop\", \"KTime\", \"Time\", \"\",23093079000\n") STACK(101, "empty", "")
                  STACK(102, "bare", "") LAYER(200, "base", "")
                      LAYER(201, "over",
                            "P: \"Weight\", \"Number\", \"\", \"A\",7\n"
                            "P: \"BlendMode\", \"enum\", \"\", \"\",2\nP: \"Mute\", \"bool\", \"\", \"\",1\n"
                            "P: \"RotationAccumulationMode\", \"enum\", \"\", \"\",1\n"
                            "P: \"ScaleAccumulationMode\", \"enum\", \"\", \"\",7\n")
                          LAYER(202, "loose", "") LAYER(203, "nothing", "") MODEL(1, "n")
                              CURVE_NODE(300, "T", D("X", 1)) CURVE_NODE(301, "T", D("X", 2))
                                  CURVE_NODE(302, "T", D("X", 3)) CURVE_NODE(303, "T", D("X", 3))
                                      CURVE(400, 5),
              OO(1, 0) OO(200, 100) OO(201, 100) OO(203, 101) OO(300, 200) OO(301, 201) OO(302, 202)
                  OP(300, 1, "Lcl Rotation") OP(301, 1, "Lcl Translation") OP(302, 1, "Lcl Scaling")
                      OP(303, 1, "Lcl Scaling") OP(400, 301, "d|Z"));
    assert_int_equal(anim.take_count, 3);
    const kf_take *take = &anim.takes[0];
    assert_string_equal(take->name, "second");
    assert_true(take->start == -1 && take->end == 0.5);
    assert_int_equal(take->layer_count, 2);
    assert_true(take->layers[0].weight == 1 && take->layers[0].mode == 0);
    assert_true(take->layers[1].weight == 0.07 && take->layers[1].mode == 2);
    assert_true(!take->layers[0].mute && take->layers[1].mute && !take->layers[1].solo);
    assert_true(take->layers[1].rotation == 1 && take->layers[1].scale == 0);
    assert_string_equal(take->layers[1].name, "over");
    assert_int_equal(take->track_count, 2);
    assert_true(take->tracks[0].layer == 0 && take->tracks[0].channel == KF_ROTATION &&
                take->tracks[0].rest[0] == 1);
    assert_true(take->tracks[0].curve[0].count == 0);
    assert_true(take->tracks[1].layer == 1 && take->tracks[1].channel == KF_TRANSLATION);
    assert_true(take->tracks[1].curve[2].count == 2 && take->tracks[1].curve[2].keys[0].value == 5);
    assert_true(anim.takes[1].track_count == 0 && anim.takes[1].layer_count == 1);
    assert_true(anim.takes[2].track_count == 0);
    assert_int_equal(said("layer-without-take"), 1);
    assert_int_equal(said("curve-without-layer"), 1);
}

static const kf_track *track(kf_channel channel, const char *name)
{
    for (size_t i = 0; i < anim.takes[0].track_count; i++) {
        const kf_track *t = &anim.takes[0].tracks[i];
        if (t->channel == channel && (!name || strcmp(t->name, name) == 0)) return t;
    }
    fail_msg("no track %s", name ? name : kfi_channel_name(channel));
    return NULL;
}

static void kinds_of_tracks(void **state)
{
    (void)state;
    must_read(STACK(100, "t", "") LAYER(200, "l", "")
                  MODEL(1, "n") "Material: 2, \"Material::m\", \"\" {\n}\n" CURVE_NODE(
                      300, "Visibility", D("Visibility", 0) D("More", 1)) CURVE_NODE(301, "my", D("my", 4))
                      CURVE_NODE(302, "vec", D("X", 1) D("Y", 2) D("Z", 3))
                          CURVE_NODE(303, "col", D("R", 1) D("G", 2) D("B", 3))
                              CURVE_NODE(304, "x", D("DiffuseColor", 1)) CURVE_NODE(305, "S", D("X", 2))
                                  CURVE_NODE(306, "my", D("my", 9))
                                      CURVE_NODE(307, "four", D("A", 1) D("B", 2) D("C", 3) D("D", 4))
                                          CURVE(400, 5) CURVE(401, 6) CURVE(402, 7),
              OO(1, 0) OO(200, 100) OO(300, 200) OO(301, 200) OO(302, 200) OO(303, 200) OO(304, 200)
                  OO(305, 200) OO(306, 200) OO(307, 200) OP(300, 1, "Visibility") OP(301, 1, "my")
                      OP(302, 1, "vec") OP(303, 1, "col") OP(304, 2, "DiffuseColor") OP(305, 1, "Lcl Scaling")
                          OP(306, 1, "my") OP(307, 1, "four") OP(400, 300, "d|Visibility")
                              OP(401, 301, "d|my") OP(402, 303, "d|G") OP(402, 307, "d|D"));
    assert_int_equal(anim.takes[0].track_count, 6);
    const kf_track *t = track(KF_VISIBILITY, NULL);
    assert_true(t->curves == 1 && t->rest[0] == 0 && t->curve[0].count == 2 &&
                t->curve[0].keys[0].value == 5);
    t = track(KF_CUSTOM, "my"); /* the first of two curve nodes */
    assert_true(t->curves == 1 && t->rest[0] == 4 && t->curve[0].count == 2);
    t = track(KF_CUSTOM, "vec");
    assert_true(t->curves == 3 && t->rest[2] == 3 && t->curve[0].count == 0);
    t = track(KF_CUSTOM, "col");
    assert_true(t->curves == 3 && t->rest[1] == 2 && t->curve[1].count == 2 && t->curve[0].count == 0);
    t = track(KF_CUSTOM, "four");
    assert_int_equal(t->curves, 3);
    t = track(KF_SCALE, NULL); /* what the curve node does not state is the node's own */
    assert_true(t->curves == 3 && t->rest[0] == 2 && t->rest[1] == 1 && t->rest[2] == 1);
    assert_int_equal(said("animation-not-carried"), 2); /* the material, and the second "my" */
    assert_int_equal(said("curves-lost"), 2);           /* of "four" and of Visibility */
    bool named = false;
    for (size_t i = 0; i < job.message_count; i++)
        named = named || strstr(job.messages[i].text, "DiffuseColor of material \"m\"");
    assert_true(named);
    assert_int_equal(said("not-carried"), 1); /* one note for all that an animation does not hold */
    assert_non_null(strstr(job.messages[job.message_count - 1].text, "not: materials (1)"));
}

static void clocks_and_ends(void **state)
{
    (void)state;
    static const char objects[] = STACK(100, "t", "") LAYER(200, "l", "") MODEL(1, "n") CURVE_NODE(
        300, "T", D("X", 0)) "AnimationCurve: 400, \"AnimCurve::\", \"\" {\n"
                             "KeyTime: *2 {\na: 0,141120000\n}\nKeyValueFloat: *2 {\na: "
                             "0,1\n}\nKeyAttrFlags: *1 {\na: 1028\n}\n"
                             "KeyAttrDataFloat: *4 {\na: 0,0,218434821,0\n}\nKeyAttrRefCount: *1 {\na: 2\n}\n"
                             "Pre-Extrapolation: {\nType: 77\nRepetition: 3\n}\nPost-Extrapolation: {\nType: "
                             "65\nRepetition: -1\n}\n}\n";
    static const char connections[] =
        OO(1, 0) OO(200, 100) OO(300, 200) OP(300, 1, "Lcl Translation") OP(400, 300, "d|X");
    must_read(objects, connections);
    const kf_curve *curve = &anim.takes[0].tracks[0].curve[0];
    assert_true(curve->keys[1].time == 141120000 / 46186158000.0);
    assert_true(curve->pre == KF_MIRROR && curve->pre_count == 3);
    assert_true(curve->post == KF_REPEAT_RELATIVE && curve->post_count == 0);
    assert_true(
        read_text("FBXHeaderExtension: {\nFBXHeaderVersion: 1004\nOtherFlags: {\nTCDefinition: 100\n}\n}",
                  objects, connections));
    assert_true(anim.takes[0].tracks[0].curve[0].keys[1].time == 1.0);
    assert_true(
        read_text("FBXHeaderExtension: {\nFBXHeaderVersion: 1004\nOtherFlags: {\nTCDefinition: 127\n}\n}",
                  objects, connections));
    assert_true(anim.takes[0].tracks[0].curve[0].keys[1].time < 0.01);
}

/* ---------------------------------------------------------------- shapes */

#define SHAPE(id, name, indexes, count, vertices)                                                            \
    "Geometry: " #id ", \"Geometry::" name "\", \"Shape\" {\nIndexes: *" #count " {\na: " indexes            \
    "\n}\nVertices: *" #count "0 {\na: " vertices "\n}\n}\n"
#define CHANNEL(id, name) "Deformer: " #id ", \"SubDeformer::" name "\", \"BlendShapeChannel\" {\n}\n"

static void shapes(void **state)
{
    (void)state;
    must_read(
        STACK(100, "t", "") LAYER(
            200, "l",
            "") "Geometry: 10, \"Geometry::g\", \"Mesh\" {\nVertices: *9 {\na: 0,0,0,1,0,0,0,1,0\n}\n}\n"
                "Model: 1, \"Model::m\", \"Mesh\" {\n}\nModel: 2, \"Model::again\", \"Mesh\" {\n}\n"
                "Deformer: 20, \"Deformer::d\", \"BlendShape\" {\n}\n" CHANNEL(30, "smile")
                    CHANNEL(31, "smile") CHANNEL(32, "") SHAPE(40, "s0", "2,0", 2, "0,0,5,0,0,3")
                        SHAPE(41, "s1", "0,1,2", 3, "1,1,1,2,2,2,3,3,3")
                            SHAPE(42, "s2", "1,7", 2, "4,4,4,9,9,9")
                                CURVE_NODE(300, "DeformPercent", D("DeformPercent", 7)) CURVE(400, 50),
        OO(1, 0) OO(2, 0) OO(10, 1) OO(10, 2) OO(20, 10) OO(30, 20) OO(31, 20) OO(32, 20) OO(40, 30)
            OO(41, 31) OO(42, 32) OO(200, 100) OO(300, 200) OP(300, 31, "DeformPercent")
                OP(400, 300, "d|DeformPercent"));
    assert_int_equal(anim.nodes[0].kind, KF_NODE_MESH);
    assert_int_equal(anim.nodes[1].kind, KF_NODE_OTHER);
    const kf_mesh *mesh = anim.nodes[0].mesh;
    assert_true(mesh && !anim.nodes[1].mesh);
    assert_int_equal(mesh->point_count, 3);
    assert_true(mesh->points[1][0] == 1 && mesh->points[2][1] == 1);
    assert_int_equal(mesh->shape_count, 3);
    assert_string_equal(mesh->shapes[0].name, "smile");
    assert_true(mesh->shapes[0].count == 2 && mesh->shapes[0].index[0] == 0 && mesh->shapes[0].index[1] == 2);
    assert_true(mesh->shapes[0].offset[0][2] == 3 && mesh->shapes[0].offset[1][2] == 5);
    assert_string_not_equal(mesh->shapes[1].name, "smile");
    assert_true(mesh->shapes[1].count == 3 && !mesh->shapes[1].index && mesh->shapes[1].offset[2][0] == 3);
    assert_string_equal(mesh->shapes[2].name, "s2");
    assert_true(mesh->shapes[2].count == 1 && mesh->shapes[2].index[0] == 1);
    const kf_track *t = track(KF_MORPH, mesh->shapes[1].name);
    assert_true(t->node == 0 && t->curves == 1 && t->rest[0] == 0.07);
    assert_true(t->curve[0].keys[0].value == 0.5 && t->curve[0].keys[1].value == 0.01);
    assert_int_equal(said("shape-renamed"), 1);
    assert_int_equal(said("shape-points"), 1);
    assert_int_equal(said("instance"), 1);
}

/* ---------------------------------------------------------------- version 6.1 */

static const char OLD[] =
    "; FBX 6.1.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 6100\n}\nObjects: "
    "{\n"
    "Model: \"Model::bone\", \"Limb\" {\nProperties60: {\nProperty: \"Lcl Translation\", \"Lcl "
    "Translation\", \"A+\",1,2,3\n"
    "Property: \"Mine\", \"KString\", \"U\", \"text\"\n}\n}\nModel: \"Model::child\", \"Null\" {\n}\n}\n"
    "Connections: {\nConnect: \"OO\", \"Model::bone\", \"Model::Scene\"\nConnect: \"OO\", \"Model::child\", "
    "\"Model::bone\"\n}\n"
    "Takes: {\nCurrent: \"walk\"\nTake: \"walk\" {\nLocalTime: 0,92372316000\nModel: \"Model::bone\" "
    "{\nChannel: \"Transform\" {\n"
    "Channel: \"T\" {\nChannel: \"X\" {\nDefault: 1\nKeyVer: 4005\nKeyCount: 3\n"
    "Key: 0,1.5,C,s,46186158000,2.5,L,92372316000,3.5,U,s,2,0,n\n}\n"
    "Channel: \"Y\" {\nDefault: 2\n}\nChannel: \"Z\" {\nDefault: 3\n}\n}\n}\n}\n}\n}\n";

static void old_files(void **state)
{
    (void)state;
    fbx_begin(&job, UINT64_MAX);
    if (!fbx_read(&job, OLD, sizeof OLD - 1, &anim)) fail_msg("%s", job.error.message);
    assert_int_equal(anim.node_count, 2);
    assert_string_equal(anim.nodes[0].name, "bone");
    assert_true(anim.nodes[0].kind == KF_NODE_BONE && anim.nodes[1].parent == 0);
    assert_true(anim.nodes[0].rest.translation[2] == 3);
    assert_int_equal(anim.nodes[0].property_count, 1);
    assert_string_equal(anim.nodes[0].properties[0].text, "text");
    assert_string_equal(anim.nodes[0].properties[0].flags, "U");
    assert_int_equal(anim.take_count, 1);
    assert_string_equal(anim.takes[0].name, "walk");
    assert_true(anim.takes[0].start == 0 && anim.takes[0].end == 2);
    const kf_track *t = track(KF_TRANSLATION, NULL);
    assert_true(t->curves == 3 && t->rest[1] == 2 && t->rest[2] == 3);
    const kf_curve *curve = &t->curve[0];
    assert_int_equal(curve->count, 3);
    assert_true(curve->keys[1].time == 1 && curve->keys[1].value == 2.5 && curve->keys[2].value == 3.5);
    assert_true(curve->keys[0].interp == KF_STEP && curve->keys[1].interp == KF_LINEAR);
    assert_true(curve->keys[0].attr == 0);
    assert_null(anim.creator); /* it names none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(probing, tear_down),
        cmocka_unit_test_teardown(order_of_nodes, tear_down),
        cmocka_unit_test_teardown(two_parents_and_circles, tear_down),
        cmocka_unit_test_teardown(deep_chains, tear_down),
        cmocka_unit_test_teardown(properties, tear_down),
        cmocka_unit_test_teardown(odd_numbers_and_settings, tear_down),
        cmocka_unit_test_teardown(takes_and_layers, tear_down),
        cmocka_unit_test_teardown(kinds_of_tracks, tear_down),
        cmocka_unit_test_teardown(clocks_and_ends, tear_down),
        cmocka_unit_test_teardown(shapes, tear_down),
        cmocka_unit_test_teardown(old_files, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
