#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_VALUE, VALUE, MAYBE_VALUE /* only behind '=' */ };

/* Turns the text of an option's value into its place; false if it is none. */
typedef bool set_option(cli *c, const char *value);

/* ---------------------------------------------------------------- values */

static bool positive(const char *text, double *value)
{
    char *end;
    double number = strtod(text, &end);
    bool ok = end != text && *end == '\0' && isfinite(number) && number > 0;
    if (ok)
        *value = number;
    return ok;
}

static bool bytes(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    int shift = *end == 'k' || *end == 'K'   ? 10
                : *end == 'm' || *end == 'M' ? 20
                : *end == 'g' || *end == 'G' ? 30
                                             : 0;
    *value = (uint64_t)number << shift;
    return text[0] >= '0' && text[0] <= '9' && errno == 0 && end[shift > 0] == '\0' && number > 0 &&
           *value >> shift == number;
}

static bool choice(const char *text, const char *const *names, int *index)
{
    for (*index = 0; names[*index]; ++*index)
        if (strcmp(text, names[*index]) == 0)
            return true;
    return false;
}

static bool set_from(cli *c, const char *value)
{
    c->options.from = value;
    return value[0] != '\0';
}

static bool set_to(cli *c, const char *value)
{
    c->options.to = value;
    return value[0] != '\0';
}

static bool set_base(cli *c, const char *value)
{
    c->bases = need(realloc(c->bases, (c->base_count + 1) * sizeof *c->bases));
    c->bases[c->base_count++] = value;
    return value[0] != '\0';
}

static bool set_for(cli *c, const char *value)
{
    static const char *const names[] = {"any", "maya", "max", "motionbuilder", "blender", NULL};
    int index;
    bool ok = choice(value, names, &index);
    c->options.program = (kf_program)index;
    return ok;
}

static bool set_bake(cli *c, const char *value)
{
    c->options.bake = true;
    return !value || positive(value, &c->options.bake_rate);
}

static bool set_fps(cli *c, const char *value)
{
    return positive(value, &c->options.frame_rate);
}

static bool set_tcb(cli *c, const char *value)
{
    static const char *const names[] = {"native", "slopes", NULL};
    int index;
    bool ok = choice(value, names, &index);
    c->options.tcb = (kf_tcb_mode)(index + 1);
    return ok;
}

static bool set_order(cli *c, const char *value)
{
    static const char *const names[] = {"XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX",
                                        "xyz", "xzy", "yzx", "yxz", "zxy", "zyx", NULL};
    int index;
    c->options.rotation_order = value;
    return choice(value, names, &index);
}

static bool set_tolerance(cli *c, const char *value)
{
    return positive(value, &c->options.tolerance);
}

static bool set_rig(cli *c, const char *value)
{
    c->rig = value;
    return value[0] != '\0';
}

static bool set_version(cli *c, const char *value)
{
    static const char *const names[] = {"7400", "7500", NULL};
    int index;
    bool ok = choice(value, names, &index);
    c->options.fbx_version = index == 0 ? 7400 : 7500;
    return ok;
}

static bool set_memory(cli *c, const char *value)
{
    return bytes(value, &c->options.max_memory);
}

static bool set_jobs(cli *c, const char *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(value, &end, 10);
    c->jobs = (unsigned)number;
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0 && number > 0 && number <= 1024;
}

/* ---------------------------------------------------------------- switches */

#define SWITCH(name, place)                                                                                  \
    static bool name(cli *c, const char *value)                                                              \
    {                                                                                                        \
        (void)value;                                                                                         \
        c->place = true;                                                                                     \
        return true;                                                                                         \
    }
SWITCH(set_split, options.split_takes)
SWITCH(set_drop, options.drop_missing)
SWITCH(set_ascii, options.ascii)
SWITCH(set_no_capsule, options.no_capsule)
SWITCH(set_no_sidecar, options.no_sidecar)
SWITCH(set_strict, options.strict)
SWITCH(set_dry_run, dry_run)
SWITCH(set_json, json)
SWITCH(set_newer, newer)
SWITCH(set_yes, yes)
SWITCH(set_never, never)
SWITCH(set_commands, commands)
SWITCH(set_help, help)

typedef struct option {
    const char *name;
    int takes;
    set_option *set;
    const char *expected; /* of its value, for the message */
} option;

static const option OPTIONS[] = {
    {"--from", VALUE, set_from, "a format's id (keyferry formats)"},
    {"--to", VALUE, set_to, "a format's id (keyferry formats)"},
    {"--base", VALUE, set_base, "a file"},
    {"--for", VALUE, set_for, "maya, max, motionbuilder or blender"},
    {"--bake", MAYBE_VALUE, set_bake, "frames a second"},
    {"--fps", VALUE, set_fps, "frames a second"},
    {"--tcb", VALUE, set_tcb, "native or slopes"},
    {"--rotation-order", VALUE, set_order, "XYZ, XZY, YZX, YXZ, ZXY or ZYX"},
    {"--tolerance", VALUE, set_tolerance, "a number above 0"},
    {"--rig", VALUE, set_rig, "a file"},
    {"--split-takes", NO_VALUE, set_split, NULL},
    {"--drop-missing", NO_VALUE, set_drop, NULL},
    {"--fbx-version", VALUE, set_version, "7400 or 7500"},
    {"--ascii", NO_VALUE, set_ascii, NULL},
    {"--no-capsule", NO_VALUE, set_no_capsule, NULL},
    {"--no-sidecar", NO_VALUE, set_no_sidecar, NULL},
    {"--strict", NO_VALUE, set_strict, NULL},
    {"--dry-run", NO_VALUE, set_dry_run, NULL},
    {"--json", NO_VALUE, set_json, NULL},
    {"--jobs", VALUE, set_jobs, "a number from 1 to 1024"},
    {"--newer", NO_VALUE, set_newer, NULL},
    {"--max-memory", VALUE, set_memory, "bytes above 0, with K, M or G behind them if need be"},
    {"-y", NO_VALUE, set_yes, NULL},
    {"-n", NO_VALUE, set_never, NULL},
    {"--commands", NO_VALUE, set_commands, NULL},
    {"--help", NO_VALUE, set_help, NULL},
    {"-h", NO_VALUE, set_help, NULL},
};

/* ---------------------------------------------------------------- the nearest word */

/* How many letters must be changed, added or left out to make one word of the other; words up to 31 letters.
 */
static size_t distance(const char *a, const char *b, size_t b_size)
{
    size_t row[32];
    size_t a_size = strlen(a);
    if (a_size > 31 || b_size > 31)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t replaced = corner + (a[i - 1] != b[j - 1]);
            size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            corner = row[j];
            row[j] = replaced < least ? replaced : least;
        }
    }
    return row[b_size];
}

bool nearest_word(const char *word, const char *list, char found[32])
{
    size_t best = strlen(word) / 2 + 1; /* more than half wrong is no slip of the finger */
    bool any = false;
    for (const char *at = list + strspn(list, " "); *at;) {
        size_t size = strcspn(at, " ");
        size_t far = distance(word, at, size);
        if (far < best && size < 32) {
            best = far;
            any = true;
            memcpy(found, at, size);
            found[size] = '\0';
        }
        at += size;
        at += strspn(at, " ");
    }
    return any;
}

/* ---------------------------------------------------------------- parsing */

static bool takes_option(const verb *v, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = strstr(v->options, name); at; at = strstr(at + 1, name))
        if (at[-1] == ' ' && at[size] == ' ')
            return true;
    return strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
}

static bool wrong(const cli *c, const char *what, const char *text, const char *hint)
{
    say(stderr, "%s: %s%s%s (keyferry %s --help)", c->verb->name, what, text, hint, c->verb->name);
    return false;
}

static const option *find_option(const char *name)
{
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        if (strcmp(OPTIONS[i].name, name) == 0)
            return &OPTIONS[i];
    return NULL;
}

/* argv[*at] is an option; its value may be the word after it. */
static bool parse_option(cli *c, int argc, char **argv, int *at)
{
    char name[32] = "", near[32], hint[80] = "";
    const char *word = argv[*at];
    const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    if (size < sizeof name) {
        memcpy(name, word, size);
        name[size] = '\0';
    }
    const option *found = find_option(name);
    if (!found) {
        if (nearest_word(name, c->verb->options, near))
            snprintf(hint, sizeof hint, "; did you mean %s?", near);
        return wrong(c, "unknown option ", word, hint);
    }
    if (!takes_option(c->verb, name))
        return wrong(c, "has no use for ", name, "");
    const char *value = equals ? equals + 1 : NULL;
    if (found->takes == NO_VALUE && value)
        return wrong(c, name, " takes no value", "");
    if (found->takes == VALUE && !value) {
        if (*at + 1 >= argc)
            return wrong(c, name, " needs a value: ", found->expected);
        value = argv[++*at];
    }
    /* A value that may be left out is only taken behind the sign: else this one would be a file's name. */
    if (found->takes == MAYBE_VALUE && !value && *at + 1 < argc && found->set(c, argv[*at + 1])) {
        snprintf(hint, sizeof hint, "=%.20s, or ./%.20s if that is a file", argv[*at + 1], argv[*at + 1]);
        return wrong(c, "write ", name, hint);
    }
    if (!found->set(c, value)) {
        char text[160];
        snprintf(text, sizeof text, ": expected %s, found \"%.60s\"", found->expected, value);
        return wrong(c, name, text, "");
    }
    return true;
}

/* Keeps an option and its value for a plan's commands; what concerns only the planning itself does not go on. */
static void note_given(cli *c, const char *word, const char *last)
{
    if (strcmp(word, "--commands") == 0 || strncmp(word, "--jobs", 6) == 0)
        return;
    c->given[c->given_count++] = word;
    if (last != word)
        c->given[c->given_count++] = last;
}

bool parse_options(cli *c, int argc, char **argv)
{
    bool only_operands = false;
    c->operands = need(calloc((size_t)argc + 1, sizeof *c->operands));
    c->given = need(calloc((size_t)argc + 1, sizeof *c->given));
    for (int at = 0; at < argc; at++) {
        const char *word = argv[at];
        if (!only_operands && strcmp(word, "--") == 0)
            only_operands = true;
        else if (only_operands || word[0] != '-' || word[1] == '\0')
            c->operands[c->operand_count++] = word;
        else if (!parse_option(c, argc, argv, &at))
            return false;
        else
            note_given(c, word, argv[at]);
    }
    if (c->yes && c->never)
        return wrong(c, "-y and -n contradict each other", "", "");
    for (size_t i = 0; i < c->operand_count; i++)
        if (c->operands[i][0] == '\0')
            return wrong(c, "an empty file name", "", "");
    return true;
}

static bool known_format(const cli *c, const char *option_name, const char *id)
{
    char list[1024] = " fbx ", near[32];
    if (!id || strcmp(id, "fbx") == 0 || kf_library_find(c->library, id))
        return true;
    size_t count;
    const kf_format *const *formats = kf_library_formats(c->library, &count);
    for (size_t i = 0; i < count && strlen(list) + strlen(formats[i]->id) + 2 < sizeof list; i++) {
        strcat(list, formats[i]->id);
        strcat(list, " ");
    }
    bool hint = nearest_word(id, list, near);
    say(stderr, "%s %s: there is no such format%s%s%s (keyferry formats lists them)", option_name, id,
        hint ? "; did you mean " : "", hint ? near : "", hint ? "?" : "");
    return false;
}

bool check_formats(const cli *c)
{
    return known_format(c, "--from", c->options.from) && known_format(c, "--to", c->options.to);
}
