#include "helper_contract.h"

#include "anim.h"
#include "helper_memory.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KF_FORMAT(x) extern const kf_format kfi_format_##x;
#include "../../plugins/formats.def"
#undef KF_FORMAT

static const kf_format *const FORMATS[] = {
#define KF_FORMAT(x) &kfi_format_##x,
#include "../../plugins/formats.def"
#undef KF_FORMAT
    NULL,
};

/* ---------------------------------------------------------------- a job without the library around it */

static void *host_alloc(kf_job *job, size_t count, size_t size)
{
    return kfi_alloc(job, count, size);
}

static bool host_fail(kf_job *job, kf_code code, uint64_t offset, const char *message)
{
    return kfi_fail(job, code, offset, "%s", message);
}

static bool host_say(kf_job *job, kf_level level, const char *id, const char *file, uint64_t offset,
                     const char *text)
{
    return kfi_say(job, level, id, file, offset, "%s", text);
}

static bool host_emit(kf_job *job, const char *name, const void *data, size_t size)
{
    kfi_emitted *emitted = kfi_push(job, &job->emitted, &job->emitted_count, sizeof *emitted);
    if (emitted)
        *emitted = (kfi_emitted){name, data, size};
    return emitted != NULL;
}

static const kf_host HOST = {sizeof(kf_host), host_alloc, host_fail, host_say, host_emit};

/* ---------------------------------------------------------------- a second look at what was imported */

#define hold(x)                                                                                              \
    do {                                                                                                     \
        if (!(x))                                                                                            \
            return #x;                                                                                       \
    } while (0)

static const char *walk_curve(const kf_curve *curve)
{
    hold(curve->count == 0 || curve->keys);
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        hold(isfinite(key->time) && isfinite(key->value));
        hold((key->interp != KF_BEZIER && key->interp != KF_HERMITE) || curve->handles);
        kf_handles h = kfi_handles_of(curve, i);
        hold(isfinite(h.in.dt) && isfinite(h.in.dv) && isfinite(h.out.dt) && isfinite(h.out.dv));
        hold(i == 0 || key->time >= curve->keys[i - 1].time);
        hold(key->interp < KF_INTERP_COUNT && !(key->flags & KF_KEY_HELPER));
        hold(key->interp != KF_TCB || curve->tcb);
        if (curve->tcb)
            hold(isfinite(curve->tcb[i].tension + curve->tcb[i].continuity) &&
                 isfinite(curve->tcb[i].ease_in));
    }
    return NULL;
}

static const char *walk_track(const kf_anim *anim, const kf_track *track)
{
    hold(track->node < anim->node_count && track->channel < KF_CHANNEL_COUNT && track->curves <= 3);
    hold(track->quaternion == (track->curves == 0));
    hold((track->channel != KF_MORPH && track->channel != KF_CUSTOM) ||
         (track->name && strlen(track->name) < 1000));
    for (unsigned c = 0; c < track->curves; c++) {
        const char *problem = walk_curve(&track->curve[c]);
        if (problem)
            return problem;
    }
    for (size_t i = 0; track->quaternion && i < track->quat.count; i++) {
        const double *q = track->quat.keys[i].q;
        hold(isfinite(track->quat.keys[i].time));
        hold(fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1) < 1e-6);
    }
    return NULL;
}

static const char *walk(const kf_anim *anim)
{
    hold(anim->native && anim->frame_rate > 0 && isfinite(anim->frame_rate));
    for (size_t i = 0; i < anim->node_count; i++) {
        hold(anim->nodes[i].name && strlen(anim->nodes[i].name) < 100000);
        hold(anim->nodes[i].parent >= -1 && anim->nodes[i].parent < (int32_t)i);
        hold(anim->nodes[i].source == (int32_t)i);
    }
    for (size_t i = 0; i < anim->take_count; i++) {
        const kf_take *take = &anim->takes[i];
        hold(take->name && strlen(take->name) < 100000 && isfinite(take->start) && isfinite(take->end));
        hold(take->source == (int32_t)i);
        for (size_t t = 0; t < take->track_count; t++) {
            const char *problem = walk_track(anim, &take->tracks[t]);
            if (problem)
                return problem;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- there and back */

static const kf_origin *identity(kf_job *job, size_t count)
{
    kf_origin *origin = kfi_alloc(job, count, sizeof *origin);
    for (size_t i = 0; origin && i < count; i++)
        origin[i].key = (uint32_t)i;
    return origin;
}

/* The animation as it comes back unedited: every track in that state, every key its own origin. */
static bool unedited(kf_job *job, const kf_anim *anim, kf_track_state state, kf_anim *back)
{
    *back = *anim;
    back->native = NULL;
    back->takes = kfi_alloc(job, anim->take_count, sizeof *back->takes);
    for (size_t i = 0; back->takes && i < anim->take_count; i++) {
        const kf_take *from = &anim->takes[i];
        kf_take *take = &back->takes[i];
        *take = *from;
        take->tracks = kfi_alloc(job, from->track_count, sizeof *take->tracks);
        for (size_t t = 0; take->tracks && t < from->track_count; t++) {
            kf_track *track = &take->tracks[t];
            *track = from->tracks[t];
            track->state = (uint8_t)state;
            for (unsigned c = 0; c < track->curves; c++)
                track->curve[c].origin = identity(job, track->curve[c].count);
            track->quat.origin = identity(job, track->quat.count);
        }
    }
    return !kfi_failed(job);
}

static const char *there_and_back(kf_job *job, const kf_format *format, const kf_file *file, int ways,
                                  bool *accepted)
{
    uint64_t allowed = 64 * (uint64_t)file->size + 64 * 1024;
    kf_import_job in = {job, &HOST, &job->options, file, 1};
    kf_anim anim;
    kfi_anim_init(&anim, format->id);
    uint64_t before = job->arena.total;
    *accepted = format->import_(&in, &anim);
    if (job->arena.total - before > allowed)
        return "importing took more memory than 64 times the file + 64 KiB";
    if (*accepted == kfi_failed(job))
        return "import's answer and the job's error disagree";
    if (!*accepted)
        return job->error.message[0] ? NULL : "refused without a message";
    const char *problem = walk(&anim);
    if (problem)
        return problem;
    *accepted = kfi_anim_validate(job, &anim);
    if (!*accepted) /* for want of memory, or the core refuses what cannot be animated */
        return NULL;
    if (format->check && !format->check(&in) && !kfi_failed(job))
        return "check failed without an error";
    for (int i = 0; i < ways && !kfi_failed(job); i++) {
        kf_anim back;
        if (!unedited(job, &anim, i == 0 ? KF_TRACK_CHANGED : KF_TRACK_SAME, &back))
            break;
        job->emitted_count = 0;
        job->emitted = NULL;
        before = job->arena.total;
        kf_export_job out = {job, &HOST, &job->options, &back, &anim, file, 1, "output"};
        if (format->export_(&out) == kfi_failed(job))
            return "export's answer and the job's error disagree";
        if (job->arena.total - before > allowed)
            return "exporting took more memory than 64 times the file + 64 KiB";
        if (kfi_failed(job))
            break;
        if (job->emitted_count != 1 || strcmp(job->emitted[0].name, file->name) != 0)
            return "export must emit one file of the original's name";
        if (job->emitted[0].size != file->size || memcmp(job->emitted[0].data, file->data, file->size) != 0)
            return i == 0 ? "not byte for byte, with every key unchanged"
                          : "not byte for byte, with tracks unchanged";
    }
    if (kfi_failed(job) && job->error.code != KF_NO_MEMORY)
        return job->error.message;
    return NULL;
}

outcome try_bytes(const kf_format *format, const uint8_t *data, size_t size, int ways, size_t fail_at)
{
    static char problem[600];
    outcome result = {0};
    failing_memory m = {.fail_at = fail_at};
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, data, size);
    kf_job job = {
        .options = {.size = sizeof(kf_options)}, .error = {.offset = KF_NO_OFFSET}, .file = "sample"};
    kfi_arena_init(&job.arena, failing_allocator(&m), UINT64_MAX);
    job.arena.item_blocks = true;
    kf_file file = {"sample", size ? exact : exact + 1, size};
    int score = format->probe(file.data, size);
    const char *wrong = there_and_back(&job, format, &file, ways, &result.accepted);
    if (!wrong && (score < 0 || score > 100))
        wrong = "probe must give 0 to 100";
    if (!wrong && fail_at == 0 && score >= 50 && !result.accepted && job.error.code == KF_BAD_INPUT &&
        job.error.offset == KF_NO_OFFSET)
        wrong = "refused without an offset";
    if (wrong)
        snprintf(problem, sizeof problem, "%s", wrong);
    result.problem = wrong ? problem : NULL;
    result.code = job.error.code;
    kfi_arena_free(&job.arena);
    result.allocations = m.count;
    if (!result.problem && m.live != 0)
        result.problem = "memory was not given back";
    free(exact);
    return result;
}

/* ---------------------------------------------------------------- the samples */

static bool read_sample(const kf_format *format, const char *name, sample *s)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/%s/%s", KEYFERRY_SOURCE, format->id, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    snprintf(s->name, sizeof s->name, "%s/%s", format->id, name);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fseek(file, 0, SEEK_SET);
    s->size = size > 0 ? (size_t)size : 0;
    s->data = malloc(s->size + 4);
    bool ok = s->data && fread(s->data, 1, s->size, file) == s->size;
    fclose(file);
    return ok;
}

static bool has_extension(const kf_format *format, const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot || dot[1] == '\0')
        return false;
    size_t length = strlen(dot + 1);
    for (const char *at = strstr(format->extensions, dot + 1); at; at = strstr(at + 1, dot + 1))
        if ((at == format->extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

void on_every_sample(contract *part)
{
    for (size_t f = 0; FORMATS[f]; f++) {
        char folder[1024];
        snprintf(folder, sizeof folder, "%s/tests/data/%s", KEYFERRY_SOURCE, FORMATS[f]->id);
        DIR *dir = opendir(folder);
        if (!dir)
            fail_msg("%s: there are no samples in tests/data/%s", FORMATS[f]->id, FORMATS[f]->id);
        size_t samples = 0, runs = 0;
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            sample s = {0};
            if (!has_extension(FORMATS[f], entry->d_name))
                continue;
            assert_true(read_sample(FORMATS[f], entry->d_name, &s));
            runs += part(FORMATS[f], &s);
            samples++;
            free(s.data);
        }
        closedir(dir);
        if (samples == 0)
            fail_msg("%s: there are no samples in tests/data/%s", FORMATS[f]->id, FORMATS[f]->id);
        print_message("%s: %zu samples, %zu runs\n", FORMATS[f]->id, samples, runs);
    }
}
