#include "cli.h"

static int one_operand(const cli *c)
{
    if (c->operand_count == 1)
        return EXIT_DONE;
    say(stderr, "%s: one file is needed (keyferry %s --help)", c->verb->name, c->verb->name);
    return EXIT_USAGE;
}

typedef bool print_anim(cli *c, const loaded *l, const kf_sink *sink, kf_error *error);

static bool print_info(cli *c, const loaded *l, const kf_sink *sink, kf_error *error)
{
    return kf_info(l->job, l->anim, c->json, sink, error);
}

static bool print_dump(cli *c, const loaded *l, const kf_sink *sink, kf_error *error)
{
    (void)c;
    return kf_dump(l->job, l->anim, sink, error);
}

static bool print_explanation(cli *c, const loaded *l, const kf_sink *sink, kf_error *error)
{
    return kf_explain(l->job, l->anim, c->options.program, sink, error);
}

static int print_file(cli *c, print_anim *print)
{
    loaded l;
    int code = one_operand(c);
    if (code == EXIT_DONE)
        code = load_file(c, c->operands[0], NULL, &l);
    if (code != EXIT_DONE)
        return code;
    kf_error error;
    kf_sink sink = {NULL, stdout_append, NULL};
    if (!print(c, &l, &sink, &error)) {
        code = exit_code_of(error.code);
        if (error.code != KF_IO) /* what went wrong with stdout is told when it is closed */
            say_error(stderr, &error, &l.in, 1, c->operands[0]);
    }
    unload_file(&l);
    return finish_stdout(code);
}

int run_info(cli *c)
{
    return print_file(c, print_info);
}

int run_dump(cli *c)
{
    return print_file(c, print_dump);
}

int run_explain(cli *c)
{
    if (c->options.program == KF_FOR_ANY) {
        say(stderr, "explain: a program is needed: --for maya, max, motionbuilder or blender (keyferry "
                    "explain --help)");
        return EXIT_USAGE;
    }
    return print_file(c, print_explanation);
}
