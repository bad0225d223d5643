/* plan: how to convert a tree, for the engines that run many commands, or many machines.
 *
 * A conversion depends on its input files and options alone, so each file is one command, and the commands can
 * run anywhere in any order. The files, and their outputs' names, are those of convert. */
#include "convert.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

typedef struct plan {
    tree tree;
    path_list *outputs; /* of each file; none: it is left out */
} plan;

/* ---------------------------------------------------------------- paths and words as the engines want them */

/* A word for sh. */
static void put_word(FILE *to, const char *word)
{
    static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=+:@%";
    if (word[0] && strspn(word, SAFE) == strlen(word)) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    fputc('\'', to);
}

/* A path of a build line. There is no escape for a bar, but a variable can hold one. */
static void put_path(FILE *to, const char *path)
{
    for (; *path; path++) {
        if (*path == '|') {
            fputs("${bar}", to);
            continue;
        }
        if (*path == '$' || *path == ' ' || *path == ':')
            fputc('$', to);
        fputc(*path, to);
    }
}

/* Words for sh in the value of a variable. */
static void put_value(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '$')
            fputc('$', to);
        fputc(*text, to);
    }
}

static char *quoted(const char *word)
{
    memory_stream text;
    memory_open(&text);
    put_word(text.file, word);
    memory_close(&text);
    return need(text.data);
}

static bool has_line_break(const char *path)
{
    return strpbrk(path, "\n\r") != NULL;
}

/* "PROGRAM convert OPTION..." */
static char *command_of(const cli *c)
{
    memory_stream text;
    memory_open(&text);
    FILE *to = text.file;
    put_word(to, c->program);
    fputs(" convert", to);
    if (!c->commands)
        fputs(" -y", to); /* it runs where the output is older */
    for (size_t i = 0; i < c->given_count; i++) {
        fputc(' ', to);
        put_word(to, c->given[i]);
    }
    fputs(" --", to);
    memory_close(&text);
    return need(text.data);
}

/* ---------------------------------------------------------------- what is made of each file */

static int plan_nth(cli *c, void *user, size_t index, FILE *out, FILE *err)
{
    plan *p = user;
    conversion v = tree_nth(&p->tree, index, out, err);
    v.plan = &p->outputs[index];
    int code = convert_files(c, &v);
    if (code != EXIT_DONE)
        list_free(v.plan);
    return code;
}

/* Whether the file can stand in a plan beside those before it; else tells why. */
static bool fits(const plan *p, size_t index, claims *taken)
{
    const char *path = p->tree.files.paths[index];
    const path_list *made = &p->outputs[index];
    bool ok = true;
    for (size_t i = 0; ok && i < made->count; i++) {
        if (has_line_break(path) || has_line_break(made->paths[i])) {
            say(stderr, "%s: a plan cannot name a file with a line break in its name: rename it, or use convert",
                path);
            ok = false;
        } else if (!claim(taken, made->paths[i])) {
            say(stderr, "%s: its output %s is another's input or output too", path, made->paths[i]);
            ok = false;
        }
    }
    return ok;
}

static bool ends_with(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a >= b && strcmp(name + a - b, end) == 0;
}

/* What is handed to convert as its output, to be freed: the folder, which it makes if need be, or the file itself
 * where the folder's files would have the same name but for the extension. */
static char *destination(const plan *p, size_t index, bool *is_file)
{
    const char *first = p->outputs[index].paths[0], *folder = p->tree.folders[index];
    *is_file = p->tree.whole_name[index] && (ends_with(first, ".fbx") || ends_with(first, ".fbx.kf"));
    if (!*is_file)
        return copy_text(folder);
    char *path = join_path(folder, base_name(p->tree.files.paths[index]));
    path = need(realloc(path, strlen(path) + 5));
    return strcat(path, ".fbx");
}

/* ---------------------------------------------------------------- Ninja */

static void print_header(cli *c, FILE *to)
{
    char *command = command_of(c);
    fputs("# Made by keyferry plan: one rule for each file.\n"
          "bar = |\n"
          "rule convert\n"
          "  command = ",
          to);
    put_value(to, command);
    fputs(" $in $to\n"
          "  description = $in\n"
          "\n",
          to);
    free(command);
}

static void print_rule(const cli *c, const plan *p, size_t index, FILE *to)
{
    const char *path = p->tree.files.paths[index];
    const path_list *made = &p->outputs[index];
    fputs("build ", to);
    for (size_t i = 0; i < made->count; i++) {
        fputs(i == 0 ? "" : i == 1 ? " | " : " ", to);
        put_path(to, made->paths[i]);
    }
    fputs(": convert ", to);
    put_path(to, path);
    /* What else the output follows from. */
    const char *before = " | ";
    char *sidecar = need(malloc(strlen(path) + 4));
    sprintf(sidecar, "%s.kf", path);
    input about;
    if (stat_input(sidecar, &about)) {
        fputs(before, to);
        put_path(to, sidecar);
        before = " ";
    }
    free_input(&about);
    free(sidecar);
    for (size_t i = 0; i <= c->base_count; i++) {
        const char *other = i < c->base_count ? c->bases[i] : c->rig;
        if (other && !is_folder(other)) {
            fputs(before, to);
            put_path(to, other);
            before = " ";
        }
    }
    fputc('\n', to);
    bool is_file;
    char *out = destination(p, index, &is_file), *word = quoted(out);
    fputs("  to = ", to);
    put_value(to, word);
    fputc('\n', to);
    free(word);
    free(out);
}

/* ---------------------------------------------------------------- a list of commands */

static void print_command(const char *command, const plan *p, size_t index, FILE *to)
{
    bool is_file;
    char *out = destination(p, index, &is_file);
    if (is_file) {
        fputs("mkdir -p -- ", to);
        put_word(to, p->tree.folders[index]);
        fputs(" && ", to);
    }
    fputs(command, to);
    fputc(' ', to);
    put_word(to, p->tree.files.paths[index]);
    fputc(' ', to);
    put_word(to, out);
    fputc('\n', to);
    free(out);
}

/* ---------------------------------------------------------------- the verb */

static batch_result print_plan(cli *c, plan *p, batch_result r)
{
    claims *taken = claims_new();
    char *command = command_of(c);
    for (size_t i = 0; i < p->tree.files.count; i++)
        claim(taken, p->tree.files.paths[i]);
    if (!c->commands)
        print_header(c, stdout);
    for (size_t i = 0; i < p->tree.files.count; i++) {
        if (p->outputs[i].count == 0)
            continue;
        if (!fits(p, i, taken)) {
            r.done--;
            r.failed++;
            r.exit_code = worse(r.exit_code, EXIT_BAD);
        } else if (c->commands) {
            print_command(command, p, i, stdout);
        } else {
            print_rule(c, p, i, stdout);
        }
    }
    free(command);
    claims_free(taken);
    return r;
}

static int usage(const char *what)
{
    say(stderr, "plan: %s (keyferry plan --help)", what);
    return EXIT_USAGE;
}

int run_plan(cli *c)
{
    if (c->operand_count != 2)
        return usage("a folder and an output folder are needed");
    if (!is_folder(c->operands[0]))
        return usage("its input is a folder");
    if (!c->commands && (c->newer || c->yes || c->never))
        return usage("-y, -n and --newer go with --commands: Ninja makes what is older than its input");
    for (size_t i = 0; i < c->given_count; i++)
        if (has_line_break(c->given[i]))
            return usage("an option with a line break in it");
    if (has_line_break(c->program))
        return usage("the program's own path has a line break in it");
    /* With a slash, it is a folder to convert even where there is none yet. */
    char *folder = join_path(c->operands[1], "");
    plan p = {0};
    int code = EXIT_FILES;
    if (tree_of_folder(c->operands[0], folder, &p.tree)) {
        p.outputs = need(calloc(p.tree.files.count + 1, sizeof *p.outputs));
        batch_result r = run_batch(c, p.tree.files.count, p.tree.files.paths, plan_nth, &p);
        if (!stop_asked()) { /* half a plan is none */
            r = print_plan(c, &p, r);
            say(stderr, "%zu planned, %zu failed, %zu left alone", r.done, r.failed, r.skipped);
        }
        code = finish_stdout(r.exit_code);
        for (size_t i = 0; i < p.tree.files.count; i++)
            list_free(&p.outputs[i]);
        free(p.outputs);
    }
    tree_free(&p.tree);
    free(folder);
    die_of_signal();
    return code;
}
