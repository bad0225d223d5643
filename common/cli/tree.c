/* convert: which of its forms is meant, and many files at once. */
#include "convert.h"
#include "signals.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

conversion tree_nth(const tree *t, size_t index, FILE *out, FILE *err)
{
    return (conversion){.inputs = (const char *const *)&t->files.paths[index],
                        .count = 1,
                        .output = t->folders[index],
                        .into_folder = true,
                        .whole_name = t->whole_name[index],
                        .batch = true,
                        .claims = t->claims,
                        .number = index,
                        .out = out,
                        .err = err};
}

static int convert_nth(cli *c, void *user, size_t index, FILE *out, FILE *err)
{
    conversion v = tree_nth(user, index, out, err);
    return convert_files(c, &v);
}

/* ---------------------------------------------------------------- inputs that have the same output */

/* Of those the first is converted by itself and told of, as what it shares is not known sooner. The others follow when all is
 * done: FBX files of one original go back into it together. */
static bool shares(void *user, size_t index)
{
    const tree *t = user;
    return claims_written(t->claims, index) && claims_lead(t->claims, index) < index;
}

typedef struct sharing {
    const tree *t;
    path_list *together; /* of each input that leads others: all of them */
    int *codes;
    char **leads; /* paths, and their numbers */
    size_t *numbers, count;
} sharing;

static void convert_first_again(cli *c, const conversion *v)
{
    memory_stream out, err;
    memory_open(&out);
    memory_open(&err);
    conversion first = *v;
    first.count = 1;
    first.out = out.file;
    first.err = err.file;
    convert_files(c, &first);
    memory_close(&out);
    memory_close(&err);
    free(out.data);
    free(err.data);
}

static int convert_together(cli *c, void *user, size_t index, FILE *out, FILE *err)
{
    sharing *s = user;
    const path_list *all = &s->together[s->numbers[index]];
    conversion v = tree_nth(s->t, s->numbers[index], out, err);
    v.inputs = (const char *const *)all->paths;
    v.count = all->count;
    v.claims = NULL;
    v.again = true;
    s->codes[index] = convert_files(c, &v);
    if (s->codes[index] != EXIT_DONE && !c->dry_run)
        convert_first_again(c, &v); /* whichever of them has written: that is chance */
    return s->codes[index];
}

static void convert_shared(cli *c, const tree *t, batch_result *r)
{
    size_t count = t->files.count;
    sharing s = {.t = t,
                 .together = need(calloc(count + 1, sizeof *s.together)),
                 .codes = need(calloc(count + 1, sizeof *s.codes)),
                 .leads = need(calloc(count + 1, sizeof *s.leads)),
                 .numbers = need(calloc(count + 1, sizeof *s.numbers))};
    bool *written = need(calloc(count + 1, sizeof *written));
    for (size_t i = 0; i < count; i++) {
        size_t lead = claims_lead(t->claims, i);
        path_list *all = &s.together[lead];
        written[lead] = written[lead] || claims_written(t->claims, i);
        list_add(all, copy_text(t->files.paths[i]));
    }
    for (size_t i = 0; i < count; i++)
        if (written[i] && s.together[i].count > 1) {
            s.codes[s.count] = SKIPPED;
            s.numbers[s.count] = i;
            s.leads[s.count++] = t->files.paths[i];
        }
    batch_result more = run_batch(c, s.count, s.leads, convert_together, NULL, &s);
    for (size_t i = 0; i < s.count; i++) {
        size_t others = s.together[s.numbers[i]].count - 1;
        if (s.codes[i] == SKIPPED) /* it was stopped before; what has been begun is not left half done */
            s.codes[i] = convert_together(c, &s, i, stdout, stderr);
        *(s.codes[i] == EXIT_DONE ? &r->done : &r->failed) += others;
        r->exit_code = worse(r->exit_code, s.codes[i]);
    }
    r->exit_code = worse(r->exit_code, more.exit_code);
    for (size_t i = 0; i < count; i++)
        list_free(&s.together[i]);
    free(s.together);
    free(s.codes);
    free(s.leads);
    free(s.numbers);
    free(written);
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

/* A file without a format's extension is seldom an animation, so it is the one that keeps its whole name, if that is longer. */
static void find_equal_stems(const cli *c, tree *t)
{
    size_t count = t->files.count;
    stem *stems = need(calloc(count + 1, sizeof *stems));
    bool *known = need(calloc(count + 1, sizeof *known));
    for (size_t i = 0; i < count; i++)
        known[i] = has_known_extension(c, base_name(t->files.paths[i]));
    for (bool more = count > 1; more;) { /* a whole name may be what is left of a longer one */
        more = false;
        for (size_t i = 0; i < count; i++) {
            const char *name = base_name(t->files.paths[i]);
            const char *dot = strrchr(name, '.');
            size_t size = dot && dot != name && !t->whole_name[i] ? (size_t)(dot - name) : strlen(name);
            stems[i] = (stem){t->files.paths[i], (size_t)(name - t->files.paths[i]) + size, i};
        }
        qsort(stems, count, sizeof *stems, by_stem);
        for (size_t first = 0, end; first < count; first = end) {
            size_t animations = 0;
            bool others_whole = true;
            for (end = first; end < count && by_stem(&stems[first], &stems[end]) == 0; end++) {
                animations += known[stems[end].index];
                others_whole = others_whole && (known[stems[end].index] || t->whole_name[stems[end].index]);
            }
            for (size_t i = first; i < end && end - first > 1; i++) {
                bool *whole = &t->whole_name[stems[i].index], wanted = animations != 1 || others_whole || !known[stems[i].index];
                more = more || (wanted && !*whole);
                *whole = *whole || wanted;
            }
        }
    }
    free(stems);
    free(known);
}

/* ---------------------------------------------------------------- many */

static void make_room(tree *t)
{
    t->folders = need(calloc(t->files.count + 1, sizeof *t->folders));
    t->whole_name = need(calloc(t->files.count + 1, sizeof *t->whole_name));
}

bool tree_of_folder(const cli *c, const char *root, const char *folder, tree *t)
{
    path_list all = {0};
    *t = (tree){0};
    bool ok = list_folder(root, true, folder, &all, stderr);
    for (size_t i = 0; i < all.count; i++)
        if (!ends_with(all.paths[i], SIDECAR_END))
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
    find_equal_stems(c, t);
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
    claims *seen = claims_new(0);
    for (size_t i = 0; i < t->files.count; i++) {
        if (!claims_reserved(seen, t->folders[i]))
            remove_leftovers(t->folders[i]);
        claims_reserve(seen, t->folders[i]);
    }
    claims_free(seen);
}

static int convert_all(cli *c, tree *t)
{
    t->claims = claims_new(t->files.count);
    for (size_t i = 0; i < t->files.count; i++)
        claims_reserve(t->claims, t->files.paths[i]);
    batch_result r = run_batch(c, t->files.count, t->files.paths, convert_nth, shares, t);
    convert_shared(c, t, &r);
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
    int code = EXIT_FILES;
    if (tree_of_folder(c, root, folder, &t))
        code = convert_all(c, &t);
    else if (t.files.count > 0) /* the rest goes on */
        code = worse(code, convert_all(c, &t));
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
    find_equal_stems(c, &t);
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
            if (ends_with(list.paths[i], SIDECAR_END) || !read_input(list.paths[i], &in, stderr))
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
