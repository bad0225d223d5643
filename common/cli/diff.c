#include "cli.h"

#include <stdlib.h>
#include <string.h>

static void print_json(const kf_diff_result *r)
{
    printf("{\"same\":%s,\"compared\":%zu,\"differences\":[", r->same ? "true" : "false", r->compared);
    for (size_t i = 0; i < r->count; i++) {
        const kf_difference *d = &r->items[i];
        fputs(i ? ",\n{\"take\":" : "\n{\"take\":", stdout);
        json_text(stdout, d->take);
        fputs(",\"node\":", stdout);
        json_text(stdout, d->node);
        fputs(",\"channel\":", stdout);
        json_text(stdout, d->channel);
        fputs(",\"worst\":", stdout);
        json_number(stdout, d->worst);
        fputs(",\"time\":", stdout);
        json_number(stdout, d->time);
        fputs(",\"limit\":", stdout);
        json_number(stdout, d->limit);
        printf(",\"added\":%zu,\"removed\":%zu,\"changed\":%zu,\"only\":%s}", d->added, d->removed,
               d->changed,
               d->only_a   ? "\"a\""
               : d->only_b ? "\"b\""
                           : "null");
    }
    fputs("]}\n", stdout);
}

static void print_place(const kf_difference *d)
{
    fputs("take ", stdout);
    json_text(stdout, d->take);
    if (d->node[0]) {
        fputs(", ", stdout);
        json_text(stdout, d->node);
        fputs(" ", stdout);
        put_safe(stdout, d->channel);
    }
}

static void print_text(const kf_diff_result *r)
{
    size_t beyond = 0;
    for (size_t i = 0; i < r->count; i++) {
        const kf_difference *d = &r->items[i];
        bool only = d->only_a || d->only_b, over = d->worst > d->limit;
        beyond += only || over;
        if (!only && !over && d->added + d->removed + d->changed == 0)
            continue; /* rounding */
        print_place(d);
        if (only)
            printf(": only in %s\n", d->only_a ? "A" : "B");
        else if (!d->node[0] && strcmp(d->channel, "duration") == 0)
            printf(": its duration differs by %.6g s\n", d->worst);
        else
            printf(": worst %.6g at %.6g s%s; keys: %zu added, %zu removed, %zu changed\n", d->worst, d->time,
                   over ? "" : " (within tolerance)", d->added, d->removed, d->changed);
    }
    printf("%s: %zu compared, %zu beyond tolerance\n", r->same ? "same" : "different", r->compared, beyond);
}

int run_diff(cli *c)
{
    if (c->operand_count != 2) {
        say(stderr, "diff: two files are needed (keyferry diff --help)");
        return EXIT_USAGE;
    }
    loaded a, b;
    int code = load_file(c, c->operands[0], NULL, &a);
    if (code != EXIT_DONE)
        return code;
    bool fbx = strcmp(a.anim->format, "fbx") == 0; /* its names are its own, whatever the file's */
    code = load_file(c, c->operands[1], fbx ? NULL : a.in.name, &b);
    if (code == EXIT_DONE) {
        kf_error error;
        kf_diff_result result;
        if (!kf_diff(a.job, a.anim, b.anim, &result, &error)) {
            say_error(stderr, &error, NULL, 0, NULL);
            code = exit_code_of(error.code);
        } else {
            if (c->json)
                print_json(&result);
            else
                print_text(&result);
            code = result.same ? EXIT_DONE : EXIT_BAD;
        }
        unload_file(&b);
    }
    unload_file(&a);
    return finish_stdout(code);
}
