#include "cli.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

static const char OVERVIEW[] =
    "keyferry carries game animations to FBX and back, losing nothing.\n"
    "\n"
    "usage: keyferry VERB [OPTION...] FILE...\n"
    "\n"
    "  convert IN... OUT   game file to FBX, or FBX back into the game file\n"
    "  verify FILE|DIR...  does a game file come back whole from FBX?\n"
    "  info FILE           what is in a file\n"
    "  dump FILE           the whole animation as JSON\n"
    "  diff A B            how far two animations are apart\n"
    "  check FILE|DIR...   is a file well formed?\n"
    "  explain FILE        what a program will keep, change and drop of it\n"
    "  plan DIR OUTDIR/    a Ninja file or a list of commands that converts a tree\n"
    "  formats             what formats there are\n"
    "\n"
    "  keyferry VERB --help tells more; keyferry --version which one this is.\n"
    "\n"
    "examples:\n"
    "  keyferry convert door.ani door.fbx        edit door.fbx, then\n"
    "  keyferry convert door.fbx door.ani -y     the edits are in door.ani, all else as it was\n"
    "  keyferry diff door.ani door.fbx\n"
    "\n"
    "- is standard input or output. Exit code: 0 done, 1 the input is bad, differs or cannot be expressed,\n"
    "2 wrong usage, 3 could not read or write. Plugins are loaded from the folders in "
    "KEYFERRY_PLUGIN_PATH.\n";

static const verb *find_verb(const char *name)
{
    for (const verb *v = VERBS; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

static int unknown_verb(const char *word)
{
    char list[256] = " ", near[32];
    for (const verb *v = VERBS; v->name; v++) {
        strcat(list, v->name);
        strcat(list, " ");
    }
    bool hint = word[0] != '-' && nearest_word(word, list, near);
    say(stderr, "unknown %s \"%s\"%s%s%s (keyferry --help)", word[0] == '-' ? "option" : "verb", word,
        hint ? "; did you mean " : "", hint ? near : "", hint ? "?" : "");
    return EXIT_USAGE;
}

/* The library, with what it has to say about its plugins. */
static bool open_library(cli *c)
{
    kf_error error;
    kf_library_options options = {.size = sizeof options, .plugin_path = getenv("KEYFERRY_PLUGIN_PATH")};
    c->library = kf_library_new(&options, &error);
    if (!c->library) {
        say_error(stderr, &error, NULL, 0, NULL);
        return false;
    }
    size_t count;
    const kf_message *messages = kf_library_messages(c->library, &count);
    for (size_t i = 0; i < count; i++)
        say(stderr, "plugin %s: %s", messages[i].file ? messages[i].file : "", messages[i].text);
    return true;
}

/* Standard input is there for one of the files. */
static bool reads_once(const cli *c)
{
    size_t inputs = c->operand_count, standard = c->rig && strcmp(c->rig, "-") == 0;
    if (c->verb->run == run_convert && inputs > 0)
        inputs--; /* the last one is the output */
    for (size_t i = 0; i < inputs; i++)
        standard += strcmp(c->operands[i], "-") == 0;
    for (size_t i = 0; i < c->base_count; i++)
        standard += strcmp(c->bases[i], "-") == 0;
    if (standard > 1)
        say(stderr, "%s: standard input can be read only once (keyferry %s --help)", c->verb->name, c->verb->name);
    return standard <= 1;
}

static int run_verb(cli *c)
{
    input rig = {0};
    if (!reads_once(c))
        return EXIT_USAGE;
    if (!open_library(c))
        return EXIT_FILES;
    if (!check_formats(c))
        return EXIT_USAGE;
    if (c->rig) {
        if (!read_input(c->rig, &rig, stderr))
            return EXIT_FILES;
        c->options.rig = (kf_file){rig.name, rig.data, rig.size};
    }
    int code = c->verb->run(c);
    free_input(&rig);
    return code;
}

int main(int argc, char **argv)
{
    system_start(&argc, &argv);
    cli c = {.options = {.size = sizeof c.options}, .program = argv[0]};
    catch_signals();
    if (argc < 2) {
        fputs(OVERVIEW, stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(OVERVIEW, stdout);
        return finish_stdout(EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("keyferry " KF_VERSION);
        return finish_stdout(EXIT_DONE);
    }
    c.verb = find_verb(argv[1]);
    if (!c.verb)
        return unknown_verb(argv[1]);
    int code = EXIT_USAGE;
    if (parse_options(&c, argc - 2, argv + 2)) {
        if (c.help) {
            fputs(c.verb->help, stdout);
            code = finish_stdout(EXIT_DONE);
        } else {
            code = run_verb(&c);
        }
    }
    kf_library_free(c.library);
    free(c.operands);
    free(c.bases);
    free(c.given);
    return code;
}
