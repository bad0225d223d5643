#include "cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct check_list {
    path_list files;
    bool *from_folder;
} check_list;

static void print_json(FILE *out, const char *path, const char *id, const kf_job *job, const kf_error *error)
{
    fputs("{\"file\":", out);
    json_text(out, path);
    fputs(",\"format\":", out);
    json_text(out, id);
    fprintf(out, ",\"ok\":%s,", error->code == KF_OK ? "true" : "false");
    json_messages(out, job);
    fputc(',', out);
    json_error(out, error);
    fputs("}\n", out);
}

static int check_file(cli *c, void *user, size_t index, FILE *out, FILE *err)
{
    check_list *list = user;
    const char *path = list->files.paths[index];
    input in;
    kf_error error = {.code = KF_IO, .offset = KF_NO_OFFSET, .message = "cannot be read"}, ignored;
    if (!read_input(path, &in, err)) {
        if (c->json)
            print_json(out, path, NULL, NULL, &error);
        return EXIT_FILES;
    }
    kf_file file = {in.name, in.data, in.size};
    kf_job *job = kf_job_new(c->library, &c->options, &error);
    int code;
    if (!job) {
        say_error(err, &error, &in, 1, path);
        code = exit_code_of(error.code);
    } else {
        bool ok = kf_check(job, &file, &error);
        if (error.code == KF_UNKNOWN_FORMAT && list->from_folder[index] && !has_known_extension(c, in.name)) {
            code = SKIPPED; /* a folder holds other things too */
        } else {
            const char *id = c->options.from ? c->options.from : kf_probe(job, &file, &ignored);
            code = ok ? EXIT_DONE : exit_code_of(error.code);
            if (c->json) {
                print_json(out, path, id, job, &error);
            } else {
                say_messages(err, job, KF_WARNING, &in, 1, path);
                size_t found = print_problems(out, job, path);
                if (ok) {
                    put_safe(out, path);
                    fprintf(out, ": ok, %s\n", id ? id : "");
                } else if (found == 0) {
                    say_error(err, &error, &in, 1, path);
                }
            }
        }
    }
    kf_job_free(job);
    free_input(&in);
    return code;
}

int run_check(cli *c)
{
    if (c->operand_count == 0) {
        say(stderr, "check: a file or folder is needed (keyferry check --help)");
        return EXIT_USAGE;
    }
    check_list list = {0};
    int code = expand_operands(c, &list.files, &list.from_folder) ? EXIT_DONE : EXIT_FILES;
    batch_result r = run_batch(c, list.files.count, list.files.paths, check_file, NULL, &list);
    if (is_many(&list.files, list.from_folder) && !c->json)
        say(stderr, "%zu well formed, %zu not, %zu of no known format left out%s", r.done, r.failed, r.skipped,
            stop_asked() ? ", stopped" : "");
    list_free(&list.files);
    free(list.from_folder);
    code = finish_stdout(worse(code, r.exit_code));
    die_of_signal();
    return code;
}
