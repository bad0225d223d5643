#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a well-formed UTF-8 character at p; 0 if there is none. */
static size_t utf8_size(const unsigned char *p)
{
    size_t size = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (size > 1 && (p[0] < 0xc2 || p[0] > 0xf4))
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool beyond = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || beyond ? 0 : size;
}

/* The number of the character of that size at p if a terminal acts on it: a control character, or one that turns the direction of
 * writing, by which a text can look like another one. Else 0. */
static unsigned steering(const unsigned char *p, size_t size)
{
    unsigned number = size == 1   ? p[0]
                      : size == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                      : size == 3 ? (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)
                                  : 0;
    bool control = number < 0x20 || (number >= 0x7f && number <= 0x9f);
    bool direction = number == 0x200e || number == 0x200f || (number >= 0x202a && number <= 0x202e) ||
                     (number >= 0x2066 && number <= 0x2069);
    return control || direction ? number : 0;
}

/* Names in files can hold anything; a terminal must not act on it. All bytes of a character are shown in one way, so that what
 * is printed is UTF-8. */
void put_safe(FILE *to, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text, *plain = p; *plain; plain = p) {
        size_t size = 1;
        while (*p && ((*p >= 0x20 && *p < 0x7f) || ((size = utf8_size(p)) > 0 && !steering(p, size))))
            p += *p < 0x80 ? 1 : size;
        fwrite(plain, 1, (size_t)(p - plain), to);
        for (size_t left = *p ? (size ? size : 1) : 0; left > 0; left--)
            fprintf(to, "\\x%02x", *p++);
    }
}

void say(FILE *to, const char *format, ...)
{
    char usual[1536], *text = usual;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(usual, sizeof usual, format, args);
    if (size >= (int)sizeof usual) { /* paths may be long */
        text = need(malloc((size_t)size + 1));
        vsnprintf(text, (size_t)size + 1, format, again);
    }
    va_end(again);
    va_end(args);
    fputs("keyferry: ", to);
    put_safe(to, text);
    fputc('\n', to);
    if (text != usual)
        free(text);
}

static const char *path_of(const char *name, const input *inputs, size_t count, const char *otherwise)
{
    if (!name || !name[0])
        return otherwise;
    for (size_t i = 0; i < count; i++)
        if (strcmp(inputs[i].name, name) == 0)
            return inputs[i].path;
    return name;
}

/* "PATH: warning: offset 0x10: text (and 3 more like this)" */
static void put_at(FILE *to, const char *path, const char *level, uint64_t offset, const char *text,
                   size_t repeats)
{
    if (path) {
        put_safe(to, path);
        fputs(": ", to);
    }
    fputs(level, to);
    if (offset != KF_NO_OFFSET)
        fprintf(to, "offset 0x%llx: ", (unsigned long long)offset);
    put_safe(to, text);
    if (repeats)
        fprintf(to, " (and %zu more like this)", repeats);
    fputc('\n', to);
}

void say_error(FILE *to, const kf_error *error, const input *inputs, size_t count, const char *otherwise)
{
    fputs("keyferry: ", to);
    put_at(to, path_of(error->file, inputs, count, otherwise), "", error->offset, error->message, 0);
}

/* x, y and z often have the same to say. */
static bool said_before(const kf_message *messages, size_t i)
{
    const kf_message *m = &messages[i], *before = m - 1;
    return i > 0 && m->repeats == 0 && m->level == before->level && m->file == before->file && m->offset == before->offset &&
           strcmp(m->text, before->text) == 0;
}

void say_messages(FILE *to, const kf_job *job, kf_level least, const input *inputs, size_t count,
                  const char *otherwise)
{
    size_t n;
    const kf_message *messages = kf_job_messages(job, &n);
    for (size_t i = 0; i < n; i++) {
        const kf_message *m = &messages[i];
        if (m->level == KF_PROBLEM || m->level < least || said_before(messages, i))
            continue;
        fputs("keyferry: ", to);
        put_at(to, path_of(m->file, inputs, count, otherwise),
               m->level == KF_NOTE ? "note: " : "warning: ", m->offset, m->text, m->repeats);
    }
}

size_t print_problems(FILE *to, const kf_job *job, const char *path)
{
    size_t n, found = 0;
    const kf_message *messages = kf_job_messages(job, &n);
    for (size_t i = 0; i < n; i++) {
        const kf_message *m = &messages[i];
        if (m->level != KF_PROBLEM)
            continue;
        put_at(to, path, "", m->offset, m->text, m->repeats);
        found++;
    }
    return found;
}

int exit_code_of(kf_code code)
{
    switch (code) {
    case KF_OK:
        return EXIT_DONE;
    case KF_BAD_ARGUMENT:
        return EXIT_USAGE;
    case KF_IO:
    case KF_NO_MEMORY:
    case KF_CANCELLED:
        return EXIT_FILES;
    case KF_BAD_INPUT:
    case KF_UNKNOWN_FORMAT:
    case KF_AMBIGUOUS:
    case KF_INEXPRESSIBLE:
    case KF_MEMORY_LIMIT:
    case KF_BAD_PLUGIN:
        return EXIT_BAD;
    }
    return EXIT_BAD;
}

int worse(int a, int b)
{
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- JSON */

void json_text(FILE *to, const char *text)
{
    if (!text) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t size = utf8_size(p);
        unsigned number = steering(p, size);
        if (size == 0) {
            fputs("\\ufffd", to);
            size = 1;
        } else if (*p == '"' || *p == '\\') {
            fprintf(to, "\\%c", *p);
        } else if (number) { /* the same text to a program; some is printed for people, too */
            fprintf(to, "\\u%04x", number);
        } else {
            fwrite(p, 1, size, to);
        }
        p += size;
    }
    fputc('"', to);
}

void json_number(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, "%.9g", value);
    else
        fputs("null", to);
}

static void json_offset(FILE *to, uint64_t offset)
{
    if (offset == KF_NO_OFFSET)
        fputs("null", to);
    else
        fprintf(to, "%llu", (unsigned long long)offset);
}

void json_messages(FILE *to, const kf_job *job)
{
    static const char *const levels[] = {"note", "warning", "problem"};
    size_t count = 0;
    const kf_message *messages = job ? kf_job_messages(job, &count) : NULL;
    fputs("\"messages\":[", to);
    for (size_t i = 0; i < count; i++) {
        const kf_message *m = &messages[i];
        fprintf(to, "%s{\"level\":\"%s\",\"id\":", i ? "," : "", levels[m->level]);
        json_text(to, m->id);
        fputs(",\"text\":", to);
        json_text(to, m->text);
        fputs(",\"file\":", to);
        json_text(to, m->file);
        fputs(",\"offset\":", to);
        json_offset(to, m->offset);
        fprintf(to, ",\"repeats\":%zu}", m->repeats);
    }
    fputs("]", to);
}

void json_error(FILE *to, const kf_error *error)
{
    fputs("\"error\":", to);
    if (error->code == KF_OK) {
        fputs("null", to);
        return;
    }
    fprintf(to, "{\"code\":%d,\"message\":", (int)error->code);
    json_text(to, error->message);
    fputs(",\"file\":", to);
    json_text(to, error->file[0] ? error->file : NULL);
    fputs(",\"offset\":", to);
    json_offset(to, error->offset);
    fputs("}", to);
}
