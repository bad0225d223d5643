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
    size_t *next;       /* of each file: the next one that is converted together with it; 0: none */
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

/* Whether an FBX is made of it. */
static bool to_fbx(const path_list *made)
{
    return ends_with(made->paths[0], ".fbx") || ends_with(made->paths[0], SIDECAR_END);
}

/* Whether the file can stand in a plan; else tells why. FBX files of one output are one line of it, under the first of them. */
static bool fits(const plan *p, size_t index, claims *taken)
{
    const char *path = p->tree.files.paths[index];
    const path_list *made = &p->outputs[index];
    bool ok = true;
    for (size_t i = 0; ok && i < made->count; i++) {
        claim(taken, made->paths[i], index, NULL);
        if (has_line_break(path) || has_line_break(made->paths[i])) {
            say(stderr, "%s: a plan cannot name a file with a line break in its name: rename it, or use convert",
                path);
            ok = false;
        } else if (claims_reserved(taken, made->paths[i]) || (claims_lead(taken, index) < index && to_fbx(made))) {
            say(stderr, "%s: its output %s is another's input or output too", path, made->paths[i]);
            ok = false;
        }
    }
    return ok;
}

/* What is handed to convert as its output, to be freed: the folder, which it makes if need be, or the file itself
 * where the folder's files would have the same name but for the extension. */
static char *destination(const plan *p, size_t index, bool *is_file)
{
    const char *folder = p->tree.folders[index];
    *is_file = p->tree.whole_name[index] && to_fbx(&p->outputs[index]);
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

static bool printed_before(const plan *p, size_t first, size_t file, const char *path)
{
    for (; first != file; first = p->next[first])
        for (size_t i = 0; i < p->outputs[first].count; i++)
            if (strcmp(p->outputs[first].paths[i], path) == 0)
                return true;
    return false;
}

static void print_made(const plan *p, size_t index, FILE *to)
{
    size_t printed = 0;
    for (size_t file = index, next = 1; next > 0; file = next) {
        const path_list *made = &p->outputs[file];
        for (size_t i = 0; i < made->count; i++) {
            if (printed_before(p, index, file, made->paths[i]))
                continue;
            fputs(printed == 0 ? "" : printed == 1 ? " | " : " ", to);
            put_path(to, made->paths[i]);
            printed++;
        }
        next = p->next[file];
    }
}

static void print_rule(const cli *c, const plan *p, size_t index, FILE *to)
{
    fputs("build ", to);
    print_made(p, index, to);
    fputs(": convert", to);
    for (size_t file = index, next = 1; next > 0; file = next) {
        fputc(' ', to);
        put_path(to, p->tree.files.paths[file]);
        next = p->next[file];
    }
    /* What else the output follows from. */
    const char *before = " | ";
    for (size_t file = index, next = 1; next > 0; file = next) {
        const char *path = p->tree.files.paths[file];
        char *sidecar = sidecar_of(path);
        input about;
        if (stat_input(sidecar, &about)) {
            fputs(before, to);
            put_path(to, sidecar);
            before = " ";
        }
        free_input(&about);
        free(sidecar);
        next = p->next[file];
    }
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
    for (size_t file = index, next = 1; next > 0; file = next) {
        fputc(' ', to);
        put_word(to, p->tree.files.paths[file]);
        next = p->next[file];
    }
    fputc(' ', to);
    put_word(to, out);
    fputc('\n', to);
    free(out);
}

/* ---------------------------------------------------------------- the verb */

static batch_result print_plan(cli *c, plan *p, batch_result r)
{
    size_t count = p->tree.files.count;
    claims *taken = claims_new(count);
    char *command = command_of(c);
    size_t *last = need(calloc(count + 1, sizeof *last)); /* of those that share an output, by the first of them */
    bool *follows = need(calloc(count + 1, sizeof *follows));
    for (size_t i = 0; i < count; i++)
        claims_reserve(taken, p->tree.files.paths[i]);
    for (size_t i = 0; i < count; i++) {
        if (p->outputs[i].count > 0 && !fits(p, i, taken)) {
            list_free(&p->outputs[i]);
            r.done--;
            r.failed++;
            r.exit_code = worse(r.exit_code, EXIT_BAD);
        }
    }
    for (size_t i = 0; i < count; i++) {
        size_t lead = claims_lead(taken, i);
        if (p->outputs[i].count == 0 || to_fbx(&p->outputs[i]))
            continue;
        follows[i] = last[lead] > 0;
        if (follows[i])
            p->next[last[lead] - 1] = i;
        last[lead] = i + 1;
    }
    if (!c->commands)
        print_header(c, stdout);
    for (size_t i = 0; i < count; i++) {
        if (p->outputs[i].count == 0 || follows[i])
            continue;
        if (c->commands)
            print_command(command, p, i, stdout);
        else
            print_rule(c, p, i, stdout);
    }
    free(last);
    free(follows);
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
    bool whole = tree_of_folder(c, c->operands[0], folder, &p.tree);
    if (whole || p.tree.files.count > 0) { /* what cannot be read is told of, as is a bad file; the rest goes on */
        p.outputs = need(calloc(p.tree.files.count + 1, sizeof *p.outputs));
        p.next = need(calloc(p.tree.files.count + 1, sizeof *p.next));
        batch_result r = run_batch(c, p.tree.files.count, p.tree.files.paths, plan_nth, NULL, &p);
        if (!stop_asked()) { /* half a plan is none */
            r = print_plan(c, &p, r);
            say(stderr, "%zu planned, %zu failed, %zu left alone", r.done, r.failed, r.skipped);
        }
        code = finish_stdout(whole ? r.exit_code : worse(EXIT_FILES, r.exit_code));
        for (size_t i = 0; i < p.tree.files.count; i++)
            list_free(&p.outputs[i]);
        free(p.outputs);
        free(p.next);
    }
    tree_free(&p.tree);
    free(folder);
    die_of_signal();
    return code;
}
