/* What the core refuses of an animation, whoever made it: each thing that can be wrong, alone, with the reason. */
#include "anim.h"
#include "helper_memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct {
    kf_job job;
    kf_key keys[2];
    kf_handles handles[2];
    kf_tcb tcb[2];
    kf_quat_key turns[2];
    kf_tcb turn_tcb[2];
    kf_track tracks[3]; /* a translation with TCB keys, a rotation by quaternions, a custom channel */
    kf_take take;
    double points[3][3], offset[2][3];
    uint32_t index[2];
    kf_shape shape;
    kf_mesh mesh;
    kf_node nodes[2];
    kf_anim anim;
} s;

static int set_up(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    memory_job_begin(&s.job);
    for (int i = 0; i < 2; i++) {
        s.keys[i] = (kf_key){.time = i, .value = i, .interp = KF_TCB};
        s.turns[i] = (kf_quat_key){.time = i, .q = {1, 0, 0, 0}, .interp = KF_TCB};
        s.nodes[i] = (kf_node){.name = i ? "child" : "root", .parent = i - 1};
        s.index[i] = (uint32_t)i;
    }
    s.tracks[0] = (kf_track){.channel = KF_TRANSLATION, .curves = 1, .curve = {{.keys = s.keys, .count = 2, .handles = s.handles, .tcb = s.tcb}}};
    s.tracks[1] = (kf_track){.node = 1,
                             .channel = KF_ROTATION,
                             .quaternion = true,
                             .quat = {.keys = s.turns, .count = 2, .tcb = s.turn_tcb}};
    s.tracks[2] = (kf_track){.channel = KF_CUSTOM, .name = "fov", .curves = 1};
    s.take = (kf_take){.name = "walk", .end = 1, .tracks = s.tracks, .track_count = 3};
    s.shape = (kf_shape){.name = "smile", .offset = s.offset, .index = s.index, .count = 2};
    s.mesh = (kf_mesh){.points = s.points, .point_count = 3, .shapes = &s.shape, .shape_count = 1};
    s.nodes[0].mesh = &s.mesh;
    kfi_anim_init(&s.anim, "test");
    s.anim.frame_rate = 30;
    s.anim.nodes = s.nodes;
    s.anim.node_count = 2;
    s.anim.takes = &s.take;
    s.anim.take_count = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_job_end(&s.job);
    return 0;
}

static void sound(void **state)
{
    (void)state;
    assert_true(kfi_anim_validate(&s.job, &s.anim));
    assert_int_equal(s.take.layer_count, 1); /* one for all that has none */
    assert_string_equal(s.take.layers[0].name, "walk");
    s.shape.index = NULL; /* then it is the first points */
    assert_true(kfi_anim_validate(&s.job, &s.anim));
    s.mesh.point_count = s.shape.count = 0;
    assert_true(kfi_anim_validate(&s.job, &s.anim));
}

static void refused(const char *why)
{
    assert_false(kfi_anim_validate(&s.job, &s.anim));
    assert_int_equal(s.job.error.code, KF_BAD_INPUT);
    if (!strstr(s.job.error.message, why))
        fail_msg("\"%s\" instead of \"%s\"", s.job.error.message, why);
    tear_down(NULL);
    set_up(NULL);
}

/* Each of the places, one at a time, gets each number that is none. */
#define refused_if_odd(place, why)                                                                            \
    do {                                                                                                      \
        place = NAN;                                                                                          \
        refused(why);                                                                                         \
        place = INFINITY;                                                                                     \
        refused(why);                                                                                         \
    } while (0)

static void the_whole(void **state)
{
    (void)state;
    refused_if_odd(s.anim.frame_rate, "frame rate: expected more than 0");
    s.anim.frame_rate = 0;
    refused("frame rate: expected more than 0, found 0");
}

static void nodes(void **state)
{
    (void)state;
    s.nodes[1].name = NULL;
    refused("node 1: no name");
    s.nodes[1].parent = 1;
    refused("node 1: no name, an impossible parent");
    s.nodes[1].parent = -2;
    refused("node 1: no name, an impossible parent");
    s.nodes[0].order = KF_ZYX + 1;
    refused("node 0: no name, an impossible parent or order");
    for (int c = 0; c < 3; c++) {
        refused_if_odd(s.nodes[1].rest.translation[c], "node \"child\": its rest transform is not finite");
        refused_if_odd(s.nodes[1].rest.rotation[c], "node \"child\": its rest transform is not finite");
        refused_if_odd(s.nodes[1].rest.scale[c], "node \"child\": its rest transform is not finite");
    }
}

static void meshes(void **state)
{
    (void)state;
    static const char why[] = "node \"root\": a shape has no name, points that are not there or offsets that are not finite";
    refused_if_odd(s.points[2][1], why);
    refused_if_odd(s.offset[1][2], why);
    s.shape.name = NULL;
    refused(why);
    s.index[1] = 3;
    refused(why);
    s.shape.index = NULL;
    s.mesh.point_count = 1;
    refused(why);
}

static void takes(void **state)
{
    (void)state;
    s.take.name = NULL;
    refused("a take has no name");
    refused_if_odd(s.take.start, "a take has no name or no finite span");
    refused_if_odd(s.take.end, "a take has no name or no finite span");
}

static void tracks(void **state)
{
    (void)state;
    s.tracks[2].node = 2;
    refused("take \"walk\", track 2: impossible structure");
    s.tracks[2].layer = 1;
    refused("take \"walk\", track 2: impossible structure");
    s.tracks[2].channel = KF_CHANNEL_COUNT;
    refused("take \"walk\", track 2: impossible structure");
    s.tracks[2].curves = 4;
    refused("take \"walk\", track 2: impossible structure");
    s.tracks[1].curves = 3;
    refused("take \"walk\", track 1: impossible structure");
    s.tracks[2].curves = 0;
    refused("take \"walk\", track 2: impossible structure");
    s.tracks[2].name = NULL;
    refused("take \"walk\", node \"root\", custom: the channel has no name");
    s.tracks[2].channel = KF_MORPH;
    s.tracks[2].name = NULL;
    refused("the channel has no name");
    for (int c = 0; c < 3; c++)
        refused_if_odd(s.tracks[0].rest[c], "node \"root\", translation: a static value is not finite");
}

static void keys(void **state)
{
    (void)state;
    refused_if_odd(s.keys[1].time, "node \"root\", translation: a key's time or value is not a finite number");
    refused_if_odd(s.keys[1].value, "a key's time or value is not a finite number");
    refused_if_odd(s.handles[1].in.dt, "a key's handle is not a finite number");
    refused_if_odd(s.handles[1].in.dv, "a key's handle is not a finite number");
    refused_if_odd(s.handles[0].out.dt, "a key's handle is not a finite number");
    refused_if_odd(s.handles[0].out.dv, "a key's handle is not a finite number");
    refused_if_odd(s.tcb[1].tension, "a key's TCB numbers are not finite");
    refused_if_odd(s.tcb[1].continuity, "a key's TCB numbers are not finite");
    refused_if_odd(s.tcb[1].bias, "a key's TCB numbers are not finite");
    refused_if_odd(s.tcb[1].ease_in, "a key's TCB numbers are not finite");
    refused_if_odd(s.tcb[0].ease_out, "a key's TCB numbers are not finite");
    s.keys[1].time = -1;
    refused("key times go backwards");
    s.keys[1].interp = KF_INTERP_COUNT;
    refused("a key's interpolation is unknown");
    s.tracks[0].curve[0].tcb = NULL;
    refused("a TCB key has no TCB numbers");
    for (int interp = 0; interp < KF_INTERP_COUNT; interp++) { /* the rest has no use for handles */
        s.keys[1].interp = s.keys[0].interp = (uint8_t)interp;
        s.keys[1].time = 1;
        s.tracks[0].curve[0].handles = NULL;
        s.tracks[0].curve[0].tcb = s.tcb;
        if (interp == KF_BEZIER || interp == KF_HERMITE)
            refused("a BEZIER or HERMITE key has no handles");
        else
            assert_true(kfi_anim_validate(&s.job, &s.anim));
    }
}

/* A key goes with all that belongs to it, as far as there is room, and what it has not got is 0 there. */
static void copies(void **state)
{
    (void)state;
    kf_curve from = {.keys = s.keys, .count = 2, .handles = s.handles, .tcb = s.tcb}, to = from, none = {0};
    const kf_handles no_handles = {{0, 0}, {0, 0}};
    s.handles[1] = (kf_handles){{-1, 2}, {3, 4}};
    s.tcb[1] = (kf_tcb){.tension = 5, .ease_out = 6};
    assert_true(kfi_own_keys(&s.job, &to, 0));
    assert_int_equal(kfi_parts(&to), KFI_HANDLES | KFI_NUMBERS);
    assert_true(to.keys != from.keys && to.handles != from.handles && to.tcb != from.tcb);
    assert_memory_equal(to.keys, s.keys, sizeof s.keys);
    assert_memory_equal(to.handles, s.handles, sizeof s.handles);
    assert_memory_equal(to.tcb, s.tcb, sizeof s.tcb);

    kf_curve bare = {.keys = s.keys, .count = 2};
    kfi_copy_keys(&to, 1, &bare, 0, 1);
    assert_memory_equal(&to.keys[1], &s.keys[0], sizeof s.keys[0]);
    assert_memory_equal(&to.handles[1], &no_handles, sizeof no_handles);
    assert_memory_equal(&to.tcb[1], &(kf_tcb){0}, sizeof(kf_tcb));
    assert_true(kfi_make_keys(&s.job, &none, 2, 0));
    kfi_copy_keys(&none, 0, &from, 0, 2);
    assert_memory_equal(none.keys, s.keys, sizeof s.keys);
    assert_int_equal(kfi_parts(&none), 0);

    assert_true(kfi_need_handles(&s.job, &none) && kfi_parts(&none) == KFI_HANDLES);
    assert_memory_equal(&none.handles[1], &no_handles, sizeof no_handles);
    kf_handles *had = from.handles;
    assert_true(kfi_need_handles(&s.job, &from) && from.handles == had);
    assert_true(kfi_own_keys(&s.job, &bare, KFI_HANDLES) && kfi_parts(&bare) == KFI_HANDLES);
}

static void rotations(void **state)
{
    (void)state;
    refused_if_odd(s.turns[1].time, "node \"child\", rotation: a rotation key has no finite time");
    for (int c = 0; c < 4; c++)
        refused_if_odd(s.turns[1].q[c], "is no unit quaternion");
    s.turns[0].q[0] = 0.5;
    refused("is no unit quaternion");
    s.turns[1].time = -1;
    refused("key times go backwards");
    s.turns[1].interp = KF_INTERP_COUNT;
    refused("a key's interpolation is unknown");
    refused_if_odd(s.turn_tcb[1].bias, "a key's TCB numbers are not finite");
    s.tracks[1].quat.tcb = NULL;
    refused("a TCB key has no TCB numbers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sound, set_up, tear_down),  cmocka_unit_test_setup_teardown(the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes, set_up, tear_down),  cmocka_unit_test_setup_teardown(meshes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes, set_up, tear_down),  cmocka_unit_test_setup_teardown(tracks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys, set_up, tear_down),   cmocka_unit_test_setup_teardown(copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rotations, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
