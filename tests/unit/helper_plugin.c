#include "helper_plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void plugin_open(plugin_test *test, const kf_format *format, bool strict)
{
    kf_error error;
    kf_options options = {.size = sizeof options, .strict = strict};
    *test = (plugin_test){.format = format, .library = kf_library_new(NULL, &error)};
    assert_non_null(test->library);
    test->job = kf_job_new(test->library, &options, &error);
    assert_non_null(test->job);
}

void plugin_close(plugin_test *test)
{
    kf_job_free(test->job);
    kf_library_free(test->library);
}

static const kf_origin *own_origins(kf_job *job, size_t count)
{
    kf_origin *origin = kfi_alloc(job, count, sizeof *origin);
    assert_non_null(origin);
    for (size_t i = 0; i < count; i++)
        origin[i].key = (uint32_t)i;
    return origin;
}

static void *copy(kf_job *job, const void *from, size_t count, size_t size)
{
    void *to = kfi_alloc(job, count + 1, size);
    assert_non_null(to);
    if (from && count)
        memcpy(to, from, count * size);
    return to;
}

static void copy_track(kf_job *job, kf_track *track)
{
    track->state = KF_TRACK_CHANGED;
    for (unsigned c = 0; c < track->curves; c++) {
        kf_curve *curve = &track->curve[c];
        curve->keys = copy(job, curve->keys, curve->count, sizeof *curve->keys);
        if (curve->handles)
            curve->handles = copy(job, curve->handles, curve->count, sizeof *curve->handles);
        if (curve->tcb)
            curve->tcb = copy(job, curve->tcb, curve->count, sizeof *curve->tcb);
        curve->origin = own_origins(job, curve->count);
    }
    track->quat.keys = copy(job, track->quat.keys, track->quat.count, sizeof *track->quat.keys);
    if (track->quat.tcb)
        track->quat.tcb = copy(job, track->quat.tcb, track->quat.count, sizeof *track->quat.tcb);
    track->quat.origin = own_origins(job, track->quat.count);
}

static kf_mesh *copy_mesh(kf_job *job, const kf_mesh *from)
{
    kf_mesh *mesh = copy(job, from, 1, sizeof *mesh);
    mesh->shapes = copy(job, from->shapes, from->shape_count, sizeof *mesh->shapes);
    for (size_t i = 0; i < mesh->shape_count; i++)
        mesh->shapes[i].offset =
            copy(job, mesh->shapes[i].offset, mesh->shapes[i].count, sizeof *mesh->shapes[i].offset);
    return mesh;
}

void plugin_load(plugin_test *test, const kf_file *files, size_t count)
{
    kf_job *job = test->job;
    test->files = copy(job, files, count, sizeof *files);
    test->count = count;
    test->original = kfi_import(job, test->format, test->files, count);
    if (!test->original)
        fail_msg("%s: %s", test->format->id, job->error.message);
    kf_anim *edited = copy(job, test->original, 1, sizeof *edited);
    edited->native = NULL;
    edited->nodes = copy(job, edited->nodes, edited->node_count, sizeof *edited->nodes);
    for (size_t i = 0; i < edited->node_count; i++)
        if (edited->nodes[i].mesh)
            edited->nodes[i].mesh = copy_mesh(job, edited->nodes[i].mesh);
    edited->takes = copy(job, edited->takes, edited->take_count, sizeof *edited->takes);
    for (size_t i = 0; i < edited->take_count; i++) {
        kf_take *take = &edited->takes[i];
        take->tracks = copy(job, take->tracks, take->track_count, sizeof *take->tracks);
        for (size_t t = 0; t < take->track_count; t++)
            copy_track(job, &take->tracks[t]);
    }
    test->edited = edited;
}

void plugin_load_one(plugin_test *test, const void *data, size_t size)
{
    kf_file file = {"part.x", data, size};
    plugin_load(test, &file, 1);
}

bool plugin_export(plugin_test *test, bool with_original)
{
    return kfi_export(test->job, test->format, test->edited, with_original ? test->original : NULL,
                      with_original ? test->files : NULL, with_original ? test->count : 0, "output.x");
}

const kfi_emitted *plugin_output(const plugin_test *test, size_t i)
{
    if (i >= test->job->emitted_count)
        fail_msg("%s: output %zu is not there: %s", test->format->id, i, test->job->error.message);
    return &test->job->emitted[i];
}

size_t plugin_changed_bytes(const plugin_test *test, size_t i)
{
    const kfi_emitted *output = plugin_output(test, i);
    const uint8_t *a = output->data, *b = test->files[i].data;
    size_t changed = 0;
    if (output->size != test->files[i].size)
        return SIZE_MAX;
    for (size_t at = 0; at < output->size; at++)
        changed += a[at] != b[at];
    return changed;
}

kf_track *plugin_track(const plugin_test *test, uint32_t node, kf_channel channel)
{
    const kf_take *take = &test->edited->takes[0];
    for (size_t i = 0; i < take->track_count; i++)
        if (take->tracks[i].node == node && take->tracks[i].channel == channel)
            return &take->tracks[i];
    fail_msg("%s: node %u has no %s", test->format->id, (unsigned)node, kfi_channel_name(channel));
    return NULL;
}

/* The origins were made by own_origins and are ours to write on. */
static kf_origin *writable(const kf_origin *origin)
{
    kf_origin *to;
    memcpy(&to, &origin, sizeof to);
    return to;
}

void plugin_change(kf_curve *curve, size_t i, uint32_t changed)
{
    writable(curve->origin)[i].changed |= changed;
}

void plugin_change_quat(kf_quat_curve *curve, size_t i, uint32_t changed)
{
    writable(curve->origin)[i].changed |= changed;
}

void plugin_insert(plugin_test *test, kf_curve *curve, size_t i, kf_key key)
{
    kf_origin *origin = copy(test->job, curve->origin, curve->count, sizeof *origin);
    curve->keys = copy(test->job, curve->keys, curve->count, sizeof *curve->keys);
    memmove(&curve->keys[i + 1], &curve->keys[i], (curve->count - i) * sizeof *curve->keys);
    memmove(&origin[i + 1], &origin[i], (curve->count - i) * sizeof *origin);
    curve->keys[i] = key;
    origin[i] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
    if (curve->handles) {
        curve->handles = copy(test->job, curve->handles, curve->count, sizeof *curve->handles);
        memmove(&curve->handles[i + 1], &curve->handles[i], (curve->count - i) * sizeof *curve->handles);
        curve->handles[i] = (kf_handles){.in = {0, 0}};
    }
    if (curve->tcb) {
        curve->tcb = copy(test->job, curve->tcb, curve->count, sizeof *curve->tcb);
        memmove(&curve->tcb[i + 1], &curve->tcb[i], (curve->count - i) * sizeof *curve->tcb);
        curve->tcb[i] = (kf_tcb){0};
    }
    curve->origin = origin;
    curve->count++;
}

void plugin_remove(kf_curve *curve, size_t i)
{
    kf_origin *origin = writable(curve->origin);
    size_t behind = curve->count - i - 1;
    memmove(&curve->keys[i], &curve->keys[i + 1], behind * sizeof *curve->keys);
    memmove(&origin[i], &origin[i + 1], behind * sizeof *origin);
    if (curve->handles)
        memmove(&curve->handles[i], &curve->handles[i + 1], behind * sizeof *curve->handles);
    if (curve->tcb)
        memmove(&curve->tcb[i], &curve->tcb[i + 1], behind * sizeof *curve->tcb);
    curve->count--;
}
