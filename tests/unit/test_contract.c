/* What every built-in format must keep to, on every sample in tests/data/<id>:
 *
 *   an accepted file comes back byte for byte when nothing was edited, whether the tracks say so or each of
 * their keys; a file cut off anywhere, with any bit turned or any 32-bit word set to an extreme, is either
 * refused with a message or comes back byte for byte, too; it never crashes, never reads beyond its bytes
 * (they lie in a block of just their size) and never takes more than 64 times its size + 64 KiB of memory; an
 * allocation that fails, whichever it is, ends in KF_NO_MEMORY and leaks nothing.
 *
 * Formats added to formats.def are covered without a word here. A sample whose name begins with "bad" must be
 * refused. */
#include "anim.h"

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

/* ---------------------------------------------------------------- memory that can be told to fail */

typedef struct memory {
    size_t live;    /* blocks */
    size_t count;   /* allocations so far */
    size_t fail_at; /* the one that fails, from 1; 0: none */
} memory;

static void *resize(void *user, void *block, size_t old_size, size_t new_size)
{
    memory *m = user;
    (void)old_size;
    if (new_size == 0) {
        m->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (++m->count == m->fail_at)
        return NULL;
    m->live += block == NULL;
    return realloc(block, new_size);
}

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
        hold(isfinite(key->in.dt) && isfinite(key->in.dv) && isfinite(key->out.dt) && isfinite(key->out.dv));
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

typedef struct outcome {
    bool accepted;
    kf_code code;
    size_t allocations;
    const char *problem; /* what broke the contract, or NULL */
} outcome;

/* `ways` is how many of the two ways to say "unedited" are tried. */
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

/* `data` is copied into a block of just its size. */
static outcome try_bytes(const kf_format *format, const uint8_t *data, size_t size, int ways, size_t fail_at)
{
    static char problem[600];
    outcome result = {0};
    memory m = {.fail_at = fail_at};
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, data, size);
    kf_job job = {
        .options = {.size = sizeof(kf_options)}, .error = {.offset = KF_NO_OFFSET}, .file = "sample"};
    kfi_arena_init(&job.arena, (kf_allocator){&m, resize}, UINT64_MAX);
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

typedef struct sample {
    char name[300];
    uint8_t *data;
    size_t size;
} sample;

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

typedef size_t contract(const kf_format *format, const sample *s);

/* Runs a part of the contract on every sample of every format. */
static void on_every_sample(contract *part)
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

static bool is_bad(const sample *s)
{
    return strncmp(strchr(s->name, '/') + 1, "bad", 3) == 0;
}

/* A big sample is not changed in every place: what is left out is spread evenly. */
enum { MOST_CHANGES = 50000 };
static size_t stride(size_t changes)
{
    return changes / MOST_CHANGES + 1;
}

static size_t comes_back(const kf_format *format, const sample *s)
{
    outcome o = try_bytes(format, s->data, s->size, 2, 0);
    if (o.problem)
        fail_msg("%s: %s", s->name, o.problem);
    if (o.accepted == is_bad(s))
        fail_msg("%s: %s", s->name, o.accepted ? "should be refused" : "refused");
    if (!is_bad(s) && format->probe(s->data, s->size) == 0)
        fail_msg("%s: not recognised by its probe", s->name);
    return 1;
}

static size_t cut_anywhere(const kf_format *format, const sample *s)
{
    size_t runs = 0;
    for (size_t size = 0; size < s->size; size += stride(s->size)) {
        outcome o = try_bytes(format, s->data, size, 1, 0);
        if (o.problem)
            fail_msg("%s cut to %zu bytes: %s", s->name, size, o.problem);
        runs++;
    }
    memcpy(s->data + s->size, "\1\2\3\4", 4);
    for (size_t more = 1; more <= 4; more++) {
        outcome o = try_bytes(format, s->data, s->size + more, 1, 0);
        if (o.problem)
            fail_msg("%s with %zu more bytes: %s", s->name, more, o.problem);
        runs++;
    }
    return runs;
}

static size_t any_bit_turned(const kf_format *format, const sample *s)
{
    size_t runs = 0;
    for (size_t bit = 0; bit < s->size * 8; bit += stride(s->size * 8)) {
        s->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        outcome o = try_bytes(format, s->data, s->size, 1, 0);
        s->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (o.problem)
            fail_msg("%s, bit %zu of byte %zu turned: %s", s->name, bit % 8, bit / 8, o.problem);
        runs++;
    }
    return runs;
}

static size_t any_word_extreme(const kf_format *format, const sample *s)
{
    static const uint8_t extremes[5][4] = {
        {0, 0, 0, 0}, {1, 0, 0, 0}, {0xff, 0xff, 0xff, 0x7f}, {0, 0, 0, 0x80}, {0xff, 0xff, 0xff, 0xff}};
    size_t runs = 0;
    for (size_t at = 0; at + 4 <= s->size; at += 4 * stride(s->size))
        for (int i = 0; i < 5; i++) {
            uint8_t kept[4];
            memcpy(kept, s->data + at, 4);
            memcpy(s->data + at, extremes[i], 4);
            outcome o = try_bytes(format, s->data, s->size, 1, 0);
            memcpy(s->data + at, kept, 4);
            if (o.problem)
                fail_msg("%s, the word at %zu set to extreme %d: %s", s->name, at, i, o.problem);
            runs++;
        }
    return runs;
}

static size_t any_allocation_fails(const kf_format *format, const sample *s)
{
    size_t total = try_bytes(format, s->data, s->size, 2, 0).allocations, runs = 0;
    for (size_t n = 1; n <= total; n += total / 2000 + 1) {
        outcome o = try_bytes(format, s->data, s->size, 2, n);
        if (o.problem)
            fail_msg("%s, allocation %zu of %zu fails: %s", s->name, n, total, o.problem);
        if (o.code != KF_NO_MEMORY)
            fail_msg("%s, allocation %zu of %zu fails: code %d instead of KF_NO_MEMORY", s->name, n, total,
                     o.code);
        runs++;
    }
    return runs;
}

static void test_comes_back(void **state)
{
    (void)state;
    on_every_sample(comes_back);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    on_every_sample(cut_anywhere);
}

static void test_any_bit_turned(void **state)
{
    (void)state;
    on_every_sample(any_bit_turned);
}

static void test_any_word_extreme(void **state)
{
    (void)state;
    on_every_sample(any_word_extreme);
}

static void test_any_allocation_fails(void **state)
{
    (void)state;
    on_every_sample(any_allocation_fails);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back),           cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_any_bit_turned),       cmocka_unit_test(test_any_word_extreme),
        cmocka_unit_test(test_any_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
