/* How libFuzzer changes its inputs. An FBX is changed where it means something: in one written as text numbers become
 * other numbers, names other names, lines and records go, come twice or trade places; in a binary one bytes are changed
 * in place, so that its offsets stay right. Now and then, and everywhere else, it is any bytes. */
#include "fuzz.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static size_t below(size_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return limit ? (size_t)(state >> 33) % limit : 0;
}

typedef struct span {
    size_t from, to;
} span;

typedef struct text {
    uint8_t *data;
    size_t size, max;
} text;

/* Puts bytes in the place of others, if they fit. `with` may lie in the text itself. */
static void replace(text *in, span old, const void *with, size_t size)
{
    if (old.to < old.from || in->size - (old.to - old.from) + size > in->max)
        return;
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, with, size);
    memmove(in->data + old.from + size, in->data + old.to, in->size - old.to);
    memcpy(in->data + old.from, copy, size);
    in->size = in->size - (old.to - old.from) + size;
    free(copy);
}

static bool in_number(uint8_t c)
{
    return isdigit(c) || c == '-' || c == '+' || c == '.';
}

/* A number somewhere: the first one behind a random place. Empty if there is none. */
static span number(const text *in)
{
    span found = {below(in->size), 0};
    while (found.from < in->size && !isdigit(in->data[found.from]))
        found.from++;
    while (found.from > 0 && in_number(in->data[found.from - 1]))
        found.from--;
    found.to = found.from;
    while (found.to < in->size && (in_number(in->data[found.to]) || in->data[found.to] == 'e'))
        found.to++;
    return found;
}

/* What stands between two quotes. */
static span name(const text *in)
{
    span found = {below(in->size), 0};
    while (found.from < in->size && in->data[found.from] != '"')
        found.from++;
    found.from += found.from < in->size;
    found.to = found.from;
    while (found.to < in->size && in->data[found.to] != '"' && in->data[found.to] != '\n')
        found.to++;
    return found;
}

/* A line, or with `record` also all that its brace encloses. */
static span line(const text *in, bool record)
{
    span found = {below(in->size), 0};
    int depth = 0;
    while (found.from > 0 && in->data[found.from - 1] != '\n')
        found.from--;
    for (found.to = found.from; found.to < in->size; found.to++) {
        depth += in->data[found.to] == '{' ? 1 : in->data[found.to] == '}' ? -1 : 0;
        if (in->data[found.to] == '\n' && (depth <= 0 || !record))
            break;
    }
    found.to += found.to < in->size;
    return found;
}

static void change_number(text *in)
{
    static const char *const extremes[] = {
        "0",       "1",     "-1",     "-0",     "2",          "0.5",         "1e-45",      "1e-310",
        "1e38",    "-1e39", "1e308",  "1e999",  "180",        "-180",        "360",        "100000",
        "255",     "65535", "256",    "24840",  "2147483647", "-2147483648", "4294967295", "9223372036854775807",
        "nan",     "inf",   "1539538600",       "46186158000", "-46186158000", "4618615800000"};
    span old = number(in);
    char made[64];
    if (old.to <= old.from)
        return;
    size_t way = below(4);
    if (way == 0) {
        const char *with = extremes[below(sizeof extremes / sizeof *extremes)];
        replace(in, old, with, strlen(with));
    } else if (way == 1) {
        span other = number(in);
        if (other.to > other.from)
            replace(in, old, in->data + other.from, other.to - other.from);
    } else {
        size_t length = old.to - old.from;
        if (length >= sizeof made)
            return;
        memcpy(made, in->data + old.from, length);
        made[length] = '\0';
        bool whole = !memchr(made, '.', length) && !memchr(made, 'e', length);
        double value = strtod(made, NULL), step = (double)below(2001) / 1000 - 1;
        value += way == 2 ? step : value * step;
        int size = whole ? snprintf(made, sizeof made, "%.0f", value) : snprintf(made, sizeof made, "%.9g", value);
        if (size > 0 && (size_t)size < sizeof made)
            replace(in, old, made, (size_t)size);
    }
}

static void change_text(text *in)
{
    span a, b;
    switch (below(8)) {
    case 0: /* a name for another */
        a = name(in), b = name(in);
        if (b.to >= b.from)
            replace(in, a, in->data + b.from, b.to - b.from);
        break;
    case 1: /* a line or record goes */
        replace(in, line(in, below(2)), "", 0);
        break;
    case 2: /* one comes again elsewhere */
        a = line(in, below(2)), b = line(in, false);
        replace(in, (span){b.from, b.from}, in->data + a.from, a.to - a.from);
        break;
    case 3: /* one in the place of another */
        a = line(in, false), b = line(in, false);
        replace(in, a, in->data + b.from, b.to - b.from);
        break;
    default:
        for (size_t i = below(4) + 1; i > 0 && in->size > 0; i--)
            change_number(in);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    state = seed;
    below(1);
    if (!fuzz_reads_fbx() || size < 32 || below(8) == 0)
        return LLVMFuzzerMutate(data, size, max);
    if (memcmp(data, "Kaydara", 7) == 0) {
        size_t length = (size_t)1 << below(6), at = below(size - length + 1);
        LLVMFuzzerMutate(data + at, length, length);
        return size;
    }
    text in = {data, size, max};
    change_text(&in);
    return in.size;
}
