/* kf_diff: what counts as a difference, where it is worst, and what is matched with what. */
#include "anim.h"
#include "format.h"
#include "rotation.h"

#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct state {
    kf_library *library;
    kf_job *job;
    kf_error error;
    kf_anim a, b;
    kf_diff_result result;
} state;

static int setup(void **out)
{
    state *s = calloc(1, sizeof *s);
    kf_library_options options = {.size = sizeof options, .no_installed_plugins = true};
    s->library = kf_library_new(&options, &s->error);
    s->job = kf_job_new(s->library, NULL, &s->error);
    assert_non_null(s->job);
    kf_anim *both[2] = {&s->a, &s->b};
    for (int i = 0; i < 2; i++) {
        kfi_anim_init(both[i], "test");
        kfi_add_node(s->job, both[i], "hip", -1);
        kfi_add_take(s->job, both[i], "walk");
    }
    *out = s;
    return 0;
}

static int teardown(void **in)
{
    state *s = *in;
    kf_job_free(s->job);
    kf_library_free(s->library);
    free(s);
    return 0;
}

static const kf_difference *diff(state *s)
{
    assert_true(kfi_anim_validate(s->job, &s->a) && kfi_anim_validate(s->job, &s->b));
    assert_true(kf_diff(s->job, &s->a, &s->b, &s->result, &s->error));
    return s->result.count ? &s->result.items[0] : NULL;
}

/* A curve through (0, 0), (1, 10), (2, 0), ... of the given kind. */
static kf_curve *zigzag(state *s, kf_anim *anim, kf_channel channel, size_t count, kf_interp interp)
{
    kf_track *track = kfi_add_track(s->job, &anim->takes[0], 0, channel, channel == KF_VISIBILITY ? 1 : 3);
    kf_curve *curve = &track->curve[0];
    assert_true(kfi_make_keys(s->job, curve, count, KFI_HANDLES | (interp == KF_TCB ? KFI_NUMBERS : 0)));
    for (size_t i = 0; i < count; i++) {
        curve->keys[i] = (kf_key){.time = (double)i, .value = i % 2 ? 10 : 0, .interp = (uint8_t)interp};
        curve->handles[i] = (kf_handles){.in = {-1.0 / 3, -1}, .out = {1.0 / 3, 1}};
    }
    return curve;
}

static void equal_is_equal(void **in)
{
    state *s = *in;
    const kf_interp kinds[] = {KF_STEP, KF_STEP_NEXT, KF_LINEAR, KF_BEZIER, KF_HERMITE, KF_TCB, KF_AUTO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        s->a.takes[0].track_count = s->b.takes[0].track_count = 0;
        zigzag(s, &s->a, KF_TRANSLATION, 5, kinds[i]);
        zigzag(s, &s->b, KF_TRANSLATION, 5, kinds[i]);
        zigzag(s, &s->a, KF_ROTATION, 5, kinds[i]);
        zigzag(s, &s->b, KF_ROTATION, 5, kinds[i]);
        assert_null(diff(s));
        assert_true(s->result.same);
        assert_int_equal(s->result.compared, 2); /* x of the translation; the rotation as a whole */
    }
}

static void a_moved_value(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 5, KF_LINEAR);
    zigzag(s, &s->b, KF_TRANSLATION, 5, KF_LINEAR)->keys[2].value += 0.5;
    const kf_difference *d = diff(s);
    assert_non_null(d);
    assert_string_equal(d->take, "walk");
    assert_string_equal(d->node, "hip");
    assert_string_equal(d->channel, "translation.x");
    assert_true(fabs(d->worst - 0.5) < 1e-12 && fabs(d->time - 2) < 1e-9);
    assert_true(fabs(d->limit - 1e-3) < 1e-12); /* a ten-thousandth of the range 10 */
    assert_int_equal(d->changed, 1);
    assert_int_equal(d->added + d->removed, 0);
    assert_false(s->result.same);
}

static void the_limit(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 3, KF_LINEAR);
    kf_curve *b = zigzag(s, &s->b, KF_TRANSLATION, 3, KF_LINEAR);
    b->keys[1].value = 10 + 0.99e-3;
    assert_non_null(diff(s));    /* it differs, */
    assert_true(s->result.same); /* but within tolerance */
    assert_int_equal(s->result.items[0].changed, 0);
    b->keys[1].value = 10 + 1.01e-3;
    diff(s);
    assert_false(s->result.same);
    s->job->options.tolerance = 0.01;
    diff(s);
    assert_true(s->result.same);
    assert_true(s->result.items[0].limit == 0.01);
    b->keys[1].value = 10.02;
    diff(s);
    assert_false(s->result.same);
}

/* The worst place lies between keys: the two curves meet at all of them. */
static void worst_between_keys(void **in)
{
    state *s = *in;
    kf_curve *a = zigzag(s, &s->a, KF_TRANSLATION, 2, KF_LINEAR);
    kf_curve *b = zigzag(s, &s->b, KF_TRANSLATION, 2, KF_HERMITE);
    a->keys[1].value = b->keys[1].value = 0;
    b->handles[0].out = (kf_handle){1.0 / 3, 1};
    b->handles[1].in = (kf_handle){-1.0 / 3, 1};
    /* v(u) = 3u(1-u): 0.75 at the middle */
    const kf_difference *d = diff(s);
    assert_true(fabs(d->worst - 0.75) < 1e-9 && fabs(d->time - 0.5) < 1e-4);
    assert_int_equal(d->changed, 1); /* the first key's interpolation */
    /* One-sided: 3u(1-u)^2 has its top 4/9 at a third. */
    b->handles[1].in = (kf_handle){-1.0 / 3, 0};
    d = diff(s);
    assert_true(fabs(d->worst - 4.0 / 9) < 1e-9 && fabs(d->time - 1.0 / 3) < 1e-4);
}

static void keys_added_and_removed(void **in)
{
    state *s = *in;
    kf_curve *a = zigzag(s, &s->a, KF_TRANSLATION, 3, KF_LINEAR);
    kf_curve *b = zigzag(s, &s->b, KF_TRANSLATION, 4, KF_LINEAR);
    memmove(&b->keys[2], &b->keys[1], 2 * sizeof *b->keys);
    b->keys[1].time = 0.5;
    b->keys[1].value = 5; /* on the line: no difference of shape */
    b->keys[3] = a->keys[2];
    const kf_difference *d = diff(s);
    assert_int_equal(d->added, 1);
    assert_int_equal(d->removed + d->changed, 0);
    assert_true(d->worst < 1e-12);
    assert_true(s->result.same);
    /* The other way round. */
    kf_anim swap = s->a;
    s->a = s->b;
    s->b = swap;
    d = diff(s);
    assert_int_equal(d->removed, 1);
    assert_int_equal(d->added + d->changed, 0);
}

/* Times that FBX or a game rounded are the same times; a jump in between is no difference. */
static void rounded_times(void **in)
{
    state *s = *in;
    kf_curve *a = zigzag(s, &s->a, KF_VISIBILITY, 6, KF_STEP);
    kf_curve *b = zigzag(s, &s->b, KF_VISIBILITY, 6, KF_STEP);
    for (size_t i = 0; i < 6; i++) {
        a->keys[i].time = (double)i / 30;
        b->keys[i].time = (double)((float)i / 30.0f);
    }
    const kf_difference *d = diff(s);
    assert_null(d);
    assert_true(s->result.same);
    b->keys[3].time += 0.001; /* this is a difference */
    d = diff(s);
    assert_non_null(d);
    assert_true(d->worst == 10);
    assert_int_equal(d->added, 1);
    assert_int_equal(d->removed, 1);
}

static void tangents_and_tcb(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 5, KF_BEZIER);
    kf_curve *b = zigzag(s, &s->b, KF_TRANSLATION, 5, KF_BEZIER);
    b->handles[2].out.dv = 1.5;
    const kf_difference *d = diff(s);
    assert_int_equal(d->changed, 1);
    assert_false(s->result.same);
    b->handles[2].out.dv = 1;
    b->handles[3].in.dv = 0;
    assert_int_equal(diff(s)->changed, 1);
    b->handles[3].in.dv = -1;
    b->handles[4].out.dv = 77; /* nothing follows: it counts for nothing */
    assert_null(diff(s));

    s->a.takes[0].track_count = s->b.takes[0].track_count = 0;
    kf_curve *x = zigzag(s, &s->a, KF_TRANSLATION, 5, KF_TCB);
    kf_curve *y = zigzag(s, &s->b, KF_TRANSLATION, 5, KF_TCB);
    for (size_t i = 0; i < 5; i++)
        x->keys[i].value = y->keys[i].value = 3; /* flat: T, C and B have no effect, but are not the same */
    y->tcb[1].tension = 0.5f;
    y->tcb[3].ease_in = 0.5f;
    d = diff(s);
    assert_int_equal(d->changed, 2);
    assert_true(d->worst == 0);
    assert_true(s->result.same);
}

/* A cubic in time told as Hermite and as Bezier is the same curve. */
static void form_is_not_shape(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 5, KF_BEZIER);
    zigzag(s, &s->b, KF_TRANSLATION, 5, KF_HERMITE);
    const kf_difference *d = diff(s);
    assert_true(!d || (d->worst < 1e-9 && d->changed == 0));
    assert_true(s->result.same);
}

/* ---------------------------------------------------------------- rotations */

static kf_track *euler(state *s, kf_anim *anim, const double (*angles)[3], size_t count)
{
    kf_track *track = kfi_add_track(s->job, &anim->takes[0], 0, KF_ROTATION, 3);
    for (unsigned c = 0; c < 3; c++) {
        assert_true(kfi_make_keys(s->job, &track->curve[c], count, 0));
        for (size_t i = 0; i < count; i++)
            track->curve[c].keys[i] = (kf_key){.time = (double)i, .value = angles[i][c], .interp = KF_LINEAR};
    }
    return track;
}

static void orientations_not_angles(void **in)
{
    state *s = *in;
    const double a[][3] = {{10, 20, 30}, {10, 20, 30}}, b[][3] = {{190, 160, 210}, {190, 160, 210}};
    euler(s, &s->a, a, 2);
    euler(s, &s->b, b, 2); /* the other angles of the same orientation */
    const kf_difference *d = diff(s);
    assert_true(s->result.same);
    assert_non_null(d); /* its keys are others */
    assert_int_equal(d->changed, 6);
    assert_string_equal(d->channel, "rotation");
    assert_true(d->worst < 1e-5);
}

static void orders_and_quaternions(void **in)
{
    state *s = *in;
    const double angles[][3] = {{10, 20, 30}, {40, -50, 60}};
    euler(s, &s->a, angles, 1);
    /* The same orientation in another order, and as a quaternion. */
    double q[4], other[3], near[3] = {0, 0, 0};
    kfi_quat_from_euler(angles[0], KF_XYZ, q);
    s->b.nodes[0].order = KF_ZYX;
    kfi_quat_to_euler(q, KF_ZYX, near, other);
    const double(*as_other)[3] = (const double(*)[3]) & other;
    kf_track *track = euler(s, &s->b, as_other, 1);
    assert_null(diff(s));
    track->curve[1].keys[0].value += 1;
    const kf_difference *d = diff(s);
    assert_true(d->worst > 0.5 && d->worst < 1.5);
    assert_int_equal(d->changed, 1);
    assert_int_equal(d->added + d->removed, 0);

    s->b.takes[0].track_count = 0;
    track = kfi_add_track(s->job, &s->b.takes[0], 0, KF_ROTATION, 0);
    assert_true(kfi_make_quat_keys(s->job, &track->quat, 2, false));
    for (int i = 0; i < 2; i++) {
        track->quat.keys[i] = (kf_quat_key){.time = i, .interp = KF_LINEAR};
        for (int c = 0; c < 4; c++)
            track->quat.keys[i].q[c] = -q[c]; /* the same orientation too */
    }
    d = diff(s);
    assert_true(s->result.same);
    assert_int_equal(d->added, 1);
    assert_int_equal(d->changed + d->removed, 0);
}

static void full_turns_are_seen(void **in)
{
    state *s = *in;
    for (int turns = 1; turns <= 6; turns++) {
        s->a.takes[0].track_count = s->b.takes[0].track_count = 0;
        const double still[][3] = {{0, 0, 0}, {0, 0, 0}}, turning[][3] = {{0, 0, 0}, {0, 0, 360.0 * turns}};
        euler(s, &s->a, still, 2);
        euler(s, &s->b, turning, 2);
        const kf_difference *d = diff(s);
        assert_true(d->worst > 175); /* somewhere it stands upside down */
    }
}

static void quaternion_keys(void **in)
{
    state *s = *in;
    kf_track *tracks[2];
    for (int k = 0; k < 2; k++) {
        tracks[k] = kfi_add_track(s->job, k ? &s->b.takes[0] : &s->a.takes[0], 0, KF_ROTATION, 0);
        assert_true(kfi_make_quat_keys(s->job, &tracks[k]->quat, 3, true));
        for (int i = 0; i < 3; i++) {
            const double axis[3] = {0, 0, 1};
            tracks[k]->quat.keys[i] = (kf_quat_key){.time = i, .interp = KF_TCB};
            kfi_quat_from_axis(30.0 * i, axis, tracks[k]->quat.keys[i].q);
        }
    }
    assert_null(diff(s));
    tracks[1]->quat.tcb[1].bias = 0.5f;
    assert_int_equal(diff(s)->changed, 1);
    tracks[1]->quat.keys[2].time = 2.5;
    const kf_difference *d = diff(s);
    assert_int_equal(d->added, 1);
    assert_int_equal(d->removed, 1);
    assert_int_equal(d->changed, 1);
}

/* What is no number is not the number held in its stead; but an FBX can only hold. */
static void not_a_number(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 4, KF_LINEAR)->keys[2].flags = KF_KEY_NONFINITE;
    kf_curve *b = zigzag(s, &s->b, KF_TRANSLATION, 4, KF_LINEAR);
    kf_track *tracks[2];
    for (int k = 0; k < 2; k++) {
        tracks[k] = kfi_add_track(s->job, k ? &s->b.takes[0] : &s->a.takes[0], 0, KF_ROTATION, 0);
        assert_true(kfi_make_quat_keys(s->job, &tracks[k]->quat, 2, false));
        for (int i = 0; i < 2; i++)
            tracks[k]->quat.keys[i] = (kf_quat_key){.time = i, .q = {1, 0, 0, 0}, .interp = KF_LINEAR};
    }
    const kf_difference *d = diff(s);
    assert_false(s->result.same);
    assert_int_equal(s->result.count, 1);
    assert_true(isinf(d->worst) && d->time == 2);
    assert_int_equal(d->changed, 1);
    s->b.format = "fbx";
    d = diff(s);
    assert_true(s->result.same);
    assert_int_equal(d->changed, 1);
    assert_true(d->worst == 0);
    s->b.format = "test";
    b->keys[2].flags = KF_KEY_NONFINITE; /* on both sides */
    assert_null(diff(s));
    assert_true(s->result.same);
    tracks[1]->quat.keys[1].flags = KF_KEY_NONFINITE;
    d = diff(s);
    assert_false(s->result.same);
    assert_true(isinf(d->worst) && d->time == 1 && d->changed == 1);
}

/* ---------------------------------------------------------------- matching */

static void one_side_only(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 3, KF_LINEAR);
    zigzag(s, &s->a, KF_SCALE, 3, KF_LINEAR);
    zigzag(s, &s->b, KF_TRANSLATION, 3, KF_LINEAR);
    const kf_difference *d = diff(s);
    assert_int_equal(s->result.count, 1);
    assert_true(d->only_a && !d->only_b);
    assert_string_equal(d->channel, "scale");
    assert_int_equal(d->removed, 3);
    assert_false(s->result.same);
    /* A track without keys is no track. */
    s->a.takes[0].tracks[1].curve[0].count = 0;
    assert_null(diff(s));
    assert_true(s->result.same);
    /* A node that only B has. */
    kfi_add_node(s->job, &s->b, "extra", -1);
    kf_curve *curve = zigzag(s, &s->b, KF_TRANSLATION, 2, KF_LINEAR);
    s->b.takes[0].tracks[1].node = 1;
    assert_non_null(curve);
    d = diff(s);
    assert_true(d->only_b);
    assert_string_equal(d->node, "extra");
}

/* A component without keys holds its rest value. */
static void missing_component(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 3, KF_LINEAR);
    zigzag(s, &s->b, KF_TRANSLATION, 3, KF_LINEAR);
    kf_track *a = &s->a.takes[0].tracks[0], *b = &s->b.takes[0].tracks[0];
    assert_true(kfi_make_keys(s->job, &a->curve[2], 2, 0));
    a->curve[2].keys[0] = (kf_key){.time = 0, .value = 7};
    a->curve[2].keys[1] = (kf_key){.time = 1, .value = 7};
    b->rest[2] = 7;
    const kf_difference *d = diff(s);
    assert_int_equal(s->result.count, 1);
    assert_string_equal(d->channel, "translation.z");
    assert_int_equal(d->removed, 2);
    assert_true(d->worst == 0 && s->result.same);
    b->rest[2] = 6;
    assert_true(diff(s)->worst == 1);
    assert_false(s->result.same);
}

static void nodes_by_name(void **in)
{
    state *s = *in;
    /* The same two nodes in another order; two of one name: the first is the first. */
    kfi_add_node(s->job, &s->a, "leg", -1);
    kfi_add_node(s->job, &s->a, "leg", -1);
    s->b.nodes[0].name = "leg";
    kfi_add_node(s->job, &s->b, "leg", -1);
    kfi_add_node(s->job, &s->b, "hip", -1);
    const uint32_t of_a[3] = {0, 1, 2}, of_b[3] = {2, 0, 1};
    for (uint32_t i = 0; i < 3; i++) {
        zigzag(s, &s->a, KF_TRANSLATION, 2, KF_LINEAR)->keys[1].value = i;
        zigzag(s, &s->b, KF_TRANSLATION, 2, KF_LINEAR)->keys[1].value = i;
        s->a.takes[0].tracks[i].node = of_a[i];
        s->b.takes[0].tracks[i].node = of_b[i];
    }
    assert_null(diff(s));
    assert_int_equal(s->result.compared, 3);
    s->b.takes[0].tracks[1].node = 1; /* exchanged */
    s->b.takes[0].tracks[2].node = 0;
    diff(s);
    assert_int_equal(s->result.count, 2);
}

/* What the FBX writer makes of a name is that name. */
static void names_as_in_an_fbx(void **in)
{
    state *s = *in;
    s->a.nodes[0].name = "a|b\xff";
    s->b.nodes[0].name = "a%7Cb%FF";
    s->b.format = "fbx";
    zigzag(s, &s->a, KF_TRANSLATION, 2, KF_LINEAR);
    zigzag(s, &s->b, KF_TRANSLATION, 2, KF_LINEAR);
    assert_null(diff(s));
    assert_int_equal(s->result.compared, 1);
}

static void takes_by_name(void **in)
{
    state *s = *in;
    s->b.takes[0].name = "Take 001"; /* the only one on either side: they belong together */
    zigzag(s, &s->a, KF_TRANSLATION, 2, KF_LINEAR);
    zigzag(s, &s->b, KF_TRANSLATION, 2, KF_LINEAR);
    assert_null(diff(s));
    assert_int_equal(s->result.compared, 1);
    kfi_add_take(s->job, &s->b, "run"); /* now names decide */
    const kf_difference *d = diff(s);
    assert_int_equal(s->result.count, 3);
    assert_int_equal(s->result.compared, 0);
    assert_string_equal(d->node, "");
    kfi_add_take(s->job, &s->a, "Take 001");
    diff(s);
    assert_int_equal(s->result.count, 3); /* walk, run, and a track that only B's Take 001 has */
}

static void worst_first(void **in)
{
    state *s = *in;
    for (int i = 0; i < 3; i++) {
        static const kf_channel channels[] = {KF_TRANSLATION, KF_SCALE, KF_ROTATION};
        zigzag(s, &s->a, channels[i], 2, KF_LINEAR);
        zigzag(s, &s->b, channels[i], 2, KF_LINEAR)->keys[1].value += i == 1 ? 0.1 : 0.01;
    }
    diff(s);
    assert_int_equal(s->result.count, 3);
    assert_string_equal(s->result.items[0].channel, "scale.x");       /* 100 times its limit */
    assert_string_equal(s->result.items[1].channel, "translation.x"); /* 10 times */
    assert_string_equal(s->result.items[2].channel, "rotation");      /* once */
}

/* Many keys: more samples than one portion, the worst one in the last. */
static void long_curves(void **in)
{
    state *s = *in;
    zigzag(s, &s->a, KF_TRANSLATION, 5001, KF_LINEAR);
    zigzag(s, &s->b, KF_TRANSLATION, 5001, KF_LINEAR)->keys[4999].value += 2;
    const kf_difference *d = diff(s);
    assert_true(fabs(d->worst - 2) < 1e-9 && fabs(d->time - 4999) < 1e-6);
    assert_int_equal(d->changed, 1);
}

/* ---------------------------------------------------------------- every allocation failing in turn */

static size_t allowed;

static void *limited(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    if (allowed == 0)
        return NULL;
    allowed--;
    return malloc(new_size);
}

static bool swallow(void *user, const void *data, size_t size)
{
    *(size_t *)user += size;
    return data != NULL;
}

static void memory_runs_out_anywhere(void **in)
{
    state *s = *in;
    const double angles[][3] = {{10, 20, 30}, {40, -50, 60}};
    zigzag(s, &s->a, KF_TRANSLATION, 5, KF_LINEAR);
    zigzag(s, &s->b, KF_TRANSLATION, 5, KF_TCB);
    zigzag(s, &s->b, KF_SCALE, 5, KF_TCB);
    euler(s, &s->a, angles, 2);
    euler(s, &s->b, angles, 1);
    s->b.nodes[0].order = KF_ZYX;
    assert_true(kfi_anim_validate(s->job, &s->a) && kfi_anim_validate(s->job, &s->b));
    for (int what = 0; what < 4; what++) {
        bool done = false;
        size_t n = 0;
        for (; !done; n++) {
            kf_options options = {.size = sizeof options, .allocator = {NULL, limited}};
            allowed = 1;
            kf_job *job = kf_job_new(s->library, &options, &s->error);
            assert_non_null(job);
            job->arena.item_blocks = true;
            allowed = n;
            size_t bytes = 0;
            kf_sink sink = {&bytes, swallow, NULL};
            done = what == 0   ? kf_diff(job, &s->a, &s->b, &s->result, &s->error)
                   : what == 1 ? kf_dump(job, &s->a, &sink, &s->error)
                               : kf_info(job, &s->a, what == 2, &sink, &s->error);
            assert_int_equal(s->error.code, done ? KF_OK : KF_NO_MEMORY);
            kf_job_free(job);
            assert_true(n < 1000);
        }
        assert_true(n > (what == 0 ? 10 : 1));
    }
}

int main(void)
{
#define WITH_STATE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_STATE(equal_is_equal),
        WITH_STATE(a_moved_value),
        WITH_STATE(the_limit),
        WITH_STATE(worst_between_keys),
        WITH_STATE(keys_added_and_removed),
        WITH_STATE(rounded_times),
        WITH_STATE(tangents_and_tcb),
        WITH_STATE(form_is_not_shape),
        WITH_STATE(orientations_not_angles),
        WITH_STATE(orders_and_quaternions),
        WITH_STATE(full_turns_are_seen),
        WITH_STATE(quaternion_keys),
        WITH_STATE(not_a_number),
        WITH_STATE(one_side_only),
        WITH_STATE(missing_component),
        WITH_STATE(nodes_by_name),
        WITH_STATE(names_as_in_an_fbx),
        WITH_STATE(takes_by_name),
        WITH_STATE(worst_first),
        WITH_STATE(long_curves),
        WITH_STATE(memory_runs_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
