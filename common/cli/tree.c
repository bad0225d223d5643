/* convert: which of its forms is meant, and many files at once. */
#include "convert.h"
#include "signals.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

static bool is_sidecar(const char *name)
{
    size_t size = strlen(name);
    return size > 7 && strcmp(name + size - 7, ".fbx.kf") == 0;
}

conversion tree_nth(const tree *t, size_t index, FILE *out, FILE *err)
{
    return (conversion){.inputs = (const char *const *)&t->files.paths[index],
                        .count = 1,
                        .output = t->folders[index],
                        .into_folder = true,
                        .whole_name = t->whole_name[index],
                        .batch = true,
                        .claims = t->claims,
                        .out = out,
                        .err = err};
}

static int convert_nth(cli *c, void *user, size_t index, FILE *out, FILE *err)
{
    conversion v = tree_nth(user, index, out, err);
    return convert_files(c, &v);
}

/* ---------------------------------------------------------------- names that would meet in one output */

typedef struct stem {
    const char *path;
    size_t size, index;
} stem;

static int by_stem(const void *a, const void *b)
{
    const stem *x = a, *y = b;
    size_t size = x->size < y->size ? x->size : y->size;
    int order = memcmp(x->path, y->path, size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static void find_equal_stems(tree *t)
{
    stem *stems = need(calloc(t->files.count + 1, sizeof *stems));
    for (size_t i = 0; i < t->files.count; i++) {
        const char *name = base_name(t->files.paths[i]);
        const char *dot = strrchr(name, '.');
        size_t size = dot && dot != name ? (size_t)(dot - name) : strlen(name);
        stems[i] = (stem){t->files.paths[i], (size_t)(name - t->files.paths[i]) + size, i};
    }
    if (t->files.count > 1)
        qsort(stems, t->files.count, sizeof *stems, by_stem);
    for (size_t i = 1; i < t->files.count; i++)
        if (by_stem(&stems[i - 1], &stems[i]) == 0)
            t->whole_name[stems[i - 1].index] = t->whole_name[stems[i].index] = true;
    free(stems);
}

/* ---------------------------------------------------------------- many */

static void make_room(tree *t)
{
    t->folders = need(calloc(t->files.count + 1, sizeof *t->folders));
    t->whole_name = need(calloc(t->files.count + 1, sizeof *t->whole_name));
}

bool tree_of_folder(const char *root, const char *folder, tree *t)
{
    path_list all = {0};
    *t = (tree){0};
    bool ok = list_folder(root, true, folder, &all, stderr);
    for (size_t i = 0; ok && i < all.count; i++)
        if (!is_sidecar(all.paths[i]))
            list_add(&t->files, copy_text(all.paths[i]));
    list_free(&all);
    make_room(t);
    size_t skip = strlen(root);
    for (size_t i = 0; i < t->files.count; i++) {
        const char *path = t->files.paths[i] + skip;
        path += strspn(path, "/");
        char *below = copy_text(path);
        below[base_name(below) - below] = '\0';
        t->folders[i] = below[0] ? join_path(folder, below) : copy_text(folder);
        free(below);
    }
    find_equal_stems(t);
    return ok;
}

void tree_free(tree *t)
{
    for (size_t i = 0; i < t->files.count; i++)
        free(t->folders[i]);
    free(t->folders);
    free(t->whole_name);
    list_free(&t->files);
}

/* What a run before this one may have left behind. */
static void tidy(const tree *t)
{
    claims *seen = claims_new();
    for (size_t i = 0; i < t->files.count; i++)
        if (claim(seen, t->folders[i]))
            remove_leftovers(t->folders[i]);
    claims_free(seen);
}

static int convert_all(cli *c, tree *t)
{
    t->claims = claims_new();
    batch_result r = run_batch(c, t->files.count, t->files.paths, convert_nth, t);
    if (!c->dry_run) {
        sync_everything(); /* once for all */
        tidy(t);
    }
    if (!c->json)
        say(stderr, "%zu converted, %zu failed, %zu left alone%s%s", r.done, r.failed, r.skipped,
            stop_asked() ? ", stopped" : "", c->dry_run ? " (dry run: nothing written)" : "");
    claims_free(t->claims);
    int code = finish_stdout(r.exit_code);
    die_of_signal();
    return code;
}

static int convert_tree(cli *c, const char *root, const char *folder)
{
    tree t;
    int code = tree_of_folder(root, folder, &t) ? convert_all(c, &t) : EXIT_FILES;
    tree_free(&t);
    return code;
}

static int convert_each(cli *c, const char *const *paths, size_t count, const char *folder)
{
    tree t = {0};
    for (size_t i = 0; i < count; i++)
        list_add(&t.files, copy_text(paths[i]));
    make_room(&t);
    for (size_t i = 0; i < count; i++)
        t.folders[i] = copy_text(folder);
    find_equal_stems(&t);
    int code = convert_all(c, &t);
    tree_free(&t);
    return code;
}

/* ---------------------------------------------------------------- the verb */

/* A folder whose files are the parts of one animation: those that are no animation are left out, and named.
 */
static int convert_parts(cli *c, const char *folder, const char *output)
{
    path_list list = {0}, parts = {0};
    kf_error error;
    int code = EXIT_FILES;
    if (list_folder(folder, false, NULL, &list, stderr)) {
        for (size_t i = 0; i < list.count; i++) {
            input in;
            if (is_sidecar(list.paths[i]) || !read_input(list.paths[i], &in, stderr))
                continue;
            kf_job *job = kf_job_new(c->library, NULL, &error);
            kf_file file = {in.name, in.data, in.size};
            bool known = c->options.from || (job && kf_probe(job, &file, &error));
            need_memory(known, &error);
            if (known || error.code != KF_UNKNOWN_FORMAT || has_known_extension(c, in.name))
                list_add(&parts, copy_text(list.paths[i]));
            else
                say(stderr, "%s: left out: %s", list.paths[i], error.message);
            kf_job_free(job);
            free_input(&in);
        }
        conversion v = {.inputs = (const char *const *)parts.paths,
                        .count = parts.count,
                        .output = output,
                        .out = stdout,
                        .err = stderr};
        if (parts.count > 0) {
            code = convert_files(c, &v);
        } else {
            say(stderr, "%s: the folder holds no animation", folder);
            code = EXIT_BAD;
        }
    }
    list_free(&list);
    list_free(&parts);
    return finish_stdout(code);
}

static int usage(const char *what)
{
    say(stderr, "convert: %s (keyferry convert --help)", what);
    return EXIT_USAGE;
}

int run_convert(cli *c)
{
    if (c->operand_count < 2)
        return usage("an input and an output are needed");
    size_t count = c->operand_count - 1;
    const char *output = c->operands[count];
    bool folder = output[strlen(output) - 1] == '/' || is_folder(output);
    size_t folders = 0;
    for (size_t i = 0; i < count; i++)
        folders += is_folder(c->operands[i]);
    if (folders > 0 && count > 1)
        return usage("a folder is an input of its own: it cannot stand beside others");
    if (strcmp(output, "-") == 0 && c->json && !c->dry_run)
        return usage("--json and the output - both want standard output");
    if (folders > 0)
        return folder ? convert_tree(c, c->operands[0], output) : convert_parts(c, c->operands[0], output);
    if (folder && count > 1)
        return convert_each(c, c->operands, count, output);
    conversion v = {.inputs = c->operands,
                    .count = count,
                    .output = output,
                    .into_folder = folder,
                    .out = stdout,
                    .err = stderr};
    return finish_stdout(convert_files(c, &v));
}
