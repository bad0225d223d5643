/* The way home without an FBX in between: every sample of every format is lowered, the result taken as what came back,
 * and merged with its original. Unedited it is the same bytes; made anew it is the same motion. */
#include "convert.h"
#include "format.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void visit(kf_library *library, const kf_format *format, const kf_file *file);

static void each_sample(visit *call)
{
    kf_error error = {0};
    kf_library *library = kf_library_new(&(kf_library_options){.size = sizeof(kf_library_options),
                                                               .no_installed_plugins = true}, &error);
    assert_non_null(library);
    size_t count, seen = 0;
    const kf_format *const *formats = kf_library_formats(library, &count);
    for (size_t i = 0; i < count; i++) {
        char folder[1024];
        snprintf(folder, sizeof folder, "%s/tests/data/%s", KEYFERRY_SOURCE, formats[i]->id);
        DIR *dir = opendir(folder);
        struct dirent *entry;
        while (dir && (entry = readdir(dir))) {
            size_t name = strlen(entry->d_name);
            bool ours = false;
            for (const char *e = formats[i]->extensions; *e && !ours; e += strspn(e, " ")) {
                size_t length = strcspn(e, " ");
                ours = name > length && entry->d_name[name - length - 1] == '.' &&
                       strncmp(entry->d_name + name - length, e, length) == 0;
                e += length;
            }
            if (!ours || strncmp(entry->d_name, "bad", 3) == 0)
                continue;
            char path[2048];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            FILE *in = fopen(path, "rb");
            assert_non_null(in);
            fseek(in, 0, SEEK_END);
            long size = ftell(in);
            rewind(in);
            char *data = malloc((size_t)size + 1);
            assert_int_equal(fread(data, 1, (size_t)size, in), (size_t)size);
            fclose(in);
            kf_file file = {entry->d_name, data, (size_t)size};
            call(library, formats[i], &file);
            free(data);
            seen++;
        }
        if (dir)
            closedir(dir);
    }
    assert_true(seen > 0);
    kf_library_free(library);
}

static const kf_options OPTIONS[] = {
    {.size = sizeof(kf_options)},
    {.size = sizeof(kf_options), .tcb = KF_TCB_SLOPES},
    {.size = sizeof(kf_options), .program = KF_FOR_BLENDER},
    {.size = sizeof(kf_options), .bake = true, .bake_rate = 24},
};

static void check(kf_job *job, const kf_format *format, const kf_file *file, bool ok)
{
    if (!ok)
        fail_msg("%s %s: %s", format->id, file->name, job->error.message);
}

/* What an FBX of the file would be read back as. */
static const kf_anim *came_back(kf_job *job, const kf_format *format, const kf_file *file, kfi_original *original,
                                const char *creator)
{
    original->files = kfi_alloc(job, 1, sizeof *original->files);
    original->files[0] = *file;
    original->count = 1;
    check(job, format, file, kfi_rewrite(job, format, NULL, original));
    kf_anim *edited = kfi_alloc(job, 1, sizeof *edited);
    *edited = original->written.anim;
    edited->creator = creator;
    kfi_original again = *original;
    check(job, format, file, kfi_rewrite(job, format, NULL, &again)); /* keys of its own */
    *edited = again.written.anim;
    edited->creator = creator;
    return edited;
}

static void restore(kf_library *library, const kf_format *format, const kf_file *file)
{
    static const char *const CREATORS[] = {"Keyferry", "Another Program"};
    for (size_t o = 0; o < sizeof OPTIONS / sizeof OPTIONS[0]; o++) {
        for (size_t c = 0; c < 2; c++) {
            kf_error error = {0};
            kf_job *job = kf_job_new(library, &OPTIONS[o], &error);
            kfi_original original = {0};
            kfi_merge_report report;
            const kf_anim *edited = came_back(job, format, file, &original, CREATORS[c]);
            check(job, format, file, kfi_export_edited(job, format, edited, &original, file->name, &report));
            for (size_t i = 0; i < report.change_count; i++)
                if (report.changes[i].what != KFI_WHAT_SAME)
                    fail_msg("%s, options %zu, %s: %s", file->name, o, CREATORS[c], report.changes[i].text);
            assert_int_equal(job->emitted_count, 1);
            assert_int_equal(job->emitted[0].size, file->size);
            assert_memory_equal(job->emitted[0].data, file->data, file->size);
            kf_job_free(job);
        }
    }
}

static void test_restored(void **state)
{
    (void)state;
    each_sample(restore);
}

/* ---------------------------------------------------------------- keys that are there once */

static size_t shared_curves;

/* What was written is the same whether or not what came back is at hand; a curve that came back as it was shares its
 * keys, one with another bit does not. */
static void share(kf_library *library, const kf_format *format, const kf_file *file)
{
    kf_error error = {0};
    kf_job *job = kf_job_new(library, &OPTIONS[0], &error);
    kf_file files[] = {*file};
    kfi_original alone = {.files = files, .count = 1}, back = alone, beside = alone;
    check(job, format, file, kfi_rewrite(job, format, NULL, &alone) && kfi_rewrite(job, format, NULL, &back));
    const kf_curve *bent = NULL;
    for (size_t t = 0; t < back.written.anim.take_count && !bent; t++)
        for (size_t i = 0; i < back.written.anim.takes[t].track_count && !bent; i++)
            if (back.written.anim.takes[t].tracks[i].curve[0].count > 0)
                bent = &back.written.anim.takes[t].tracks[i].curve[0];
    if (bent)
        bent->handles[bent->count - 1].out.dv = nextafter(bent->handles[bent->count - 1].out.dv, 1e9);
    check(job, format, file, kfi_rewrite(job, format, &back.written.anim, &beside));
    for (size_t t = 0; t < alone.written.anim.take_count; t++)
        for (size_t i = 0; i < alone.written.anim.takes[t].track_count; i++) {
            const kf_track *a = &alone.written.anim.takes[t].tracks[i], *b = &back.written.anim.takes[t].tracks[i];
            const kf_track *c = &beside.written.anim.takes[t].tracks[i];
            for (unsigned k = 0; k < a->curves; k++) {
                size_t count = a->curve[k].count;
                assert_int_equal(c->curve[k].count, count);
                if (count == 0)
                    continue;
                assert_memory_equal(c->curve[k].keys, a->curve[k].keys, count * sizeof(kf_key));
                assert_int_equal(!c->curve[k].tcb, !a->curve[k].tcb);
                if (a->curve[k].tcb)
                    assert_memory_equal(c->curve[k].tcb, a->curve[k].tcb, count * sizeof(kf_tcb));
                assert_int_equal(c->curve[k].keys == b->curve[k].keys, &b->curve[k] != bent && !a->curve[k].fbx_data);
                shared_curves += c->curve[k].keys == b->curve[k].keys;
            }
        }
    kf_job_free(job);
}

static void test_shared(void **state)
{
    (void)state;
    each_sample(share);
    assert_true(shared_curves > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restored),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
