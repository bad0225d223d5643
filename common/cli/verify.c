#include "cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct verify_list {
    path_list files;
    bool *from_folder;
} verify_list;

static void print_json(FILE *out, const char *path, const kf_job *job, const kf_verdict *v,
                       const kf_error *error)
{
    fputs("{\"file\":", out);
    json_text(out, path);
    bool tried = error->code == KF_OK;
    fprintf(out, ",\"ok\":%s", tried && v->restored && v->rebuilt ? "true" : "false");
    if (tried) {
        fprintf(out, ",\"restored\":%s,\"rebuilt\":%s,\"first_difference\":", v->restored ? "true" : "false",
                v->rebuilt ? "true" : "false");
        if (v->restored)
            fputs("null", out);
        else
            fprintf(out, "%llu", (unsigned long long)v->first_difference);
    }
    fputc(',', out);
    json_messages(out, job);
    fputc(',', out);
    json_error(out, error);
    fputs("}\n", out);
}

static void print_text(FILE *out, const char *path, const kf_verdict *v)
{
    put_safe(out, path);
    if (v->restored && v->rebuilt) {
        fputs(": ok\n", out);
        return;
    }
    fputs(": FAILED:", out);
    if (!v->restored)
        fprintf(out, " restored, it differs at offset 0x%llx%s", (unsigned long long)v->first_difference,
                v->rebuilt ? "" : ";");
    if (!v->rebuilt) {
        fputs(" rebuilt without the original, it differs", out);
        if (v->diff.count > 0) {
            const kf_difference *d = &v->diff.items[0];
            fputs(" in take \"", out);
            put_safe(out, d->take);
            fputs("\", \"", out);
            put_safe(out, d->node);
            fputs("\" ", out);
            put_safe(out, d->channel);
            if (d->only_a || d->only_b)
                fputs(d->only_a ? ", which is gone" : ", which is new", out);
            else
                fprintf(out, " by %.6g at %.6g s", d->worst, d->time);
        }
    }
    fputc('\n', out);
}

static int verify_file(cli *c, void *user, size_t index, FILE *out, FILE *err)
{
    verify_list *list = user;
    const char *path = list->files.paths[index];
    input in;
    kf_error error = {.code = KF_IO, .offset = KF_NO_OFFSET, .message = "cannot be read"};
    kf_verdict verdict = {0};
    if (!read_input(path, &in, err)) {
        if (c->json)
            print_json(out, path, NULL, &verdict, &error);
        return EXIT_FILES;
    }
    kf_file file = {in.name, in.data, in.size};
    kf_job *job = kf_job_new(c->library, &c->options, &error);
    const char *id = NULL;
    if (job)
        id = c->options.from ? c->options.from : kf_probe(job, &file, &error);
    bool other = !id && error.code == KF_UNKNOWN_FORMAT && !has_known_extension(c, in.name);
    int code;
    if (list->from_folder[index] && (other || (id && strcmp(id, "fbx") == 0))) {
        code = SKIPPED; /* a folder holds other things too */
    } else {
        /* What no format recognises is asked of it too: it tells what is wrong with the bytes. */
        bool tried = job && kf_verify(job, &file, 1, &verdict, &error);
        code = !tried ? exit_code_of(error.code) : verdict.restored && verdict.rebuilt ? EXIT_DONE : EXIT_BAD;
        if (c->json) {
            print_json(out, path, job, &verdict, &error);
        } else {
            if (job)
                say_messages(err, job, KF_NOTE, &in, 1, path);
            if (tried)
                print_text(out, path, &verdict);
            else
                say_error(err, &error, &in, 1, path);
        }
    }
    kf_job_free(job);
    free_input(&in);
    return code;
}

int run_verify(cli *c)
{
    if (c->operand_count == 0) {
        say(stderr, "verify: a file or folder is needed (keyferry verify --help)");
        return EXIT_USAGE;
    }
    verify_list list = {0};
    int code = expand_operands(c, &list.files, &list.from_folder) ? EXIT_DONE : EXIT_FILES;
    batch_result r = run_batch(c, list.files.count, list.files.paths, verify_file, NULL, &list);
    if (is_many(&list.files, list.from_folder) && !c->json)
        say(stderr, "%zu came back whole, %zu failed, %zu left out that are no game animations%s", r.done, r.failed, r.skipped,
            stop_asked() ? ", stopped" : "");
    list_free(&list.files);
    free(list.from_folder);
    code = finish_stdout(worse(code, r.exit_code));
    die_of_signal();
    return code;
}
