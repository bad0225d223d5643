/* A file there and back in memory: restored with its original, and rebuilt without it. */
#include "convert.h"
#include "fbx/scene.h"
#include "format.h"
#include "writer.h"

#include <stdio.h>
#include <string.h>

static bool memory_append(void *user, const void *data, size_t size)
{
    kfi_write_bytes(user, data, size);
    return !((kfi_writer *)user)->failed;
}

static bool memory_patch(void *user, uint64_t at, const void *data, size_t size)
{
    kfi_writer *out = user;
    if (out->failed || size > out->size || at > out->size - size)
        return false;
    memcpy(out->data + at, data, size);
    return true;
}

/* Room for each byte of the FBX, which is in no file that the ceiling counts. */
enum { PER_BYTE = 16 };

/* The FBX of a file, read again. */
static const kf_anim *there(kf_job *job, const kfi_scene *scene)
{
    kfi_writer out;
    kfi_writer_init(&out, job, 0);
    kf_sink sink = {&out, memory_append, memory_patch};
    if (!kfi_fbx_write(job, &scene->lowered.anim, &sink)) {
        kfi_fail(job, KF_IO, KF_NO_OFFSET, "the FBX could not be written");
        return NULL;
    }
    kf_file fbx = {"memory.fbx", out.data, out.size};
    if (job->options.max_memory == 0)
        job->arena.limit += PER_BYTE * (uint64_t)out.size;
    return kfi_import(job, &kfi_format_fbx, &fbx, 1);
}

/* The emitted files against the given ones. */
static bool same_files(const kf_job *job, const kf_file *files, size_t count, uint64_t *difference)
{
    *difference = 0;
    if (job->emitted_count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const kfi_emitted *out = &job->emitted[i];
        const uint8_t *a = files[i].data, *b = out->data;
        size_t least = files[i].size < out->size ? files[i].size : out->size, at = 0;
        while (at < least && a[at] == b[at])
            at++;
        if (at < files[i].size || at < out->size) {
            *difference = at;
            return false;
        }
    }
    return true;
}

/* Whether it was said that the format's times are too coarse for this node's motion. */
static bool too_coarse(const kf_job *job, const char *node)
{
    char name[64];
    snprintf(name, sizeof name, "\"%.60s\"", node);
    kfi_make_readable(name);
    for (size_t i = 0; i < job->message_count; i++) {
        const kf_message *message = &job->messages[i];
        if (strcmp(message->id, "time-rounded") == 0 && (message->repeats > 0 || strstr(message->text, name)))
            return true;
    }
    return false;
}

/* Whether a warning told of what this difference is about. */
static bool excused(const kf_job *job, const kf_anim *anim, const kfi_lowered *lowered, const kf_difference *item)
{
    if (kfi_said(job, "nonfinite") || ((kfi_said(job, "name-changed") || kfi_said(job, "name-cut")) && (item->only_a || item->only_b)) ||
        (strcmp(item->channel, "duration") == 0 && (kfi_said(job, "time-range") || kfi_said(job, "span"))) || too_coarse(job, item->node))
        return true;
    for (size_t t = 0; t < lowered->anim.take_count; t++) {
        const kf_take *take = &anim->takes[lowered->anim.takes[t].source];
        if (strcmp(take->name, item->take) != 0)
            continue;
        for (size_t i = 0; i < take->track_count; i++) {
            const kf_track *track = &take->tracks[i];
            const char *channel = kfi_channel_name((kf_channel)track->channel);
            if (lowered->lossy[t][i] && strcmp(anim->nodes[track->node].name, item->node) == 0 &&
                (strncmp(item->channel, channel, strlen(channel)) == 0 ||
                 (track->name && strstr(item->channel, track->name))))
                return true;
        }
    }
    return false;
}

/* By way of the capsule's bytes, as it would travel. */
static bool restore(kf_job *job, const kf_format *format, const kfi_scene *scene, const kf_file *files, size_t count,
                    kf_verdict *verdict)
{
    kfi_original original = {0};
    kfi_merge_report report;
    const kf_anim *edited = there(job, scene);
    if (!edited || !kfi_capsule_unpack(job, scene->sidecar, scene->sidecar_size, &original.capsule))
        return false;
    original.files = original.capsule.files;
    original.count = original.capsule.count;
    if (!kfi_rewrite(job, format, edited, &original) ||
        !kfi_export_edited(job, format, edited, &original, files[0].name, &report))
        return false;
    verdict->restored = same_files(job, files, count, &verdict->first_difference);
    return true;
}

static bool verify(kf_job *job, const kf_file *files, size_t count, kf_verdict *verdict)
{
    kfi_allow_input(job, files, count);
    const kf_format *format = kfi_format_of_input(job, files, count);
    if (!format)
        return false;
    if (format == &kfi_format_fbx)
        return kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "verify takes a game's file, not an FBX");
    const kf_anim *anim = kfi_import(job, format, files, count);
    kfi_scene scene;
    if (!anim || !kfi_make_scene(job, format, files, count, anim, -1, &scene))
        return false;
    kf_job aside = kfi_aside(job);
    bool done = restore(&aside, format, &scene, files, count, verdict);
    if (!kfi_aside_end(job, &aside) || !done)
        return false;

    /* With no key at all there is nothing to make anew. */
    double start, end;
    bool any = false;
    for (size_t i = 0; i < anim->take_count; i++)
        any = any || kfi_take_range(&anim->takes[i], &start, &end);
    /* Nor is a bake judged by what lies between its frames, which is not in it. */
    verdict->rebuilt = !any || scene.lowered.baked;
    if (verdict->rebuilt)
        return true;

    /* Read once more: the merge may have worked on the keys of the first. Nor is a rate asked for that only the
     * original could say. */
    kfi_merge_report report;
    const kf_anim *edited = there(job, &scene);
    if (format->capabilities.frame_rate > 0)
        job->options.frame_rate = anim->frame_rate;
    if (!edited || !kfi_export_edited(job, format, edited, NULL, files[0].name, &report))
        return false;
    kf_file *rebuilt = kfi_alloc(job, job->emitted_count, sizeof *rebuilt);
    if (!rebuilt)
        return false;
    for (size_t i = 0; i < job->emitted_count; i++)
        rebuilt[i] = (kf_file){job->emitted[i].name, job->emitted[i].data, job->emitted[i].size};
    const kf_anim *again = kfi_import(job, format, rebuilt, job->emitted_count);
    if (!again || !kf_diff(job, anim, again, &verdict->diff, NULL))
        return false;
    /* What no warning explains comes first in the list. */
    kf_difference *items = kfi_alloc(job, verdict->diff.count, sizeof *items);
    if (!items)
        return false;
    size_t count_unexplained = 0, at = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < verdict->diff.count; i++) {
            const kf_difference *item = &verdict->diff.items[i];
            bool differs = item->worst > item->limit || item->only_a || item->only_b;
            bool unexplained = differs && !excused(job, anim, &scene.lowered, item);
            count_unexplained += pass == 0 && unexplained;
            if (unexplained == (pass == 0))
                items[at++] = *item;
        }
    }
    verdict->diff.items = items;
    verdict->rebuilt = count_unexplained == 0;
    return true;
}

KF_API bool kf_verify(kf_job *job, const kf_file *files, size_t count, kf_verdict *verdict, kf_error *error)
{
    kfi_enter(job);
    kf_options own = job->options;
    job->options.no_sidecar = false;
    memset(verdict, 0, sizeof *verdict);
    verify(job, files, count, verdict);
    job->options = own;
    return kfi_leave(job, error);
}
