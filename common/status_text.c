/* The text of a message. Every one is made here, so that names look alike in all of them: they come from files and may be long,
 * anything but UTF-8, or the same for two nodes. */
#include "status.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

static const char CUT[] = "...";

typedef struct message {
    const kf_job *job;
    char *to;
    size_t size;
    size_t length; /* of the whole text, whether there is room for it or not */
    size_t whole;  /* a name of up to so many bytes is not cut, whatever the format says */
} message;

/* In a struct of its own: a va_list that was handed on may be an array, and then has no address of the right type. */
typedef struct arguments {
    va_list list;
} arguments;

static void put(message *m, const char *bytes, size_t count)
{
    if (m->length < m->size) {
        size_t room = m->size - m->length;
        memcpy(m->to + m->length, bytes, count < room ? count : room);
    }
    m->length += count;
}

/* ---------------------------------------------------------------- names */

bool kfi_show_as(kf_job *job, const char *name, const char *shown)
{
    enum { MOST = 1024 }; /* every name in a message is looked for among them */
    if (job->shown_count >= MOST)
        return true;
    kfi_shown *one = kfi_push(job, &job->shown, &job->shown_count, sizeof *one);
    if (one)
        *one = (kfi_shown){name, shown};
    return one != NULL;
}

static const char *shown_name(const kf_job *job, const char *name)
{
    for (size_t i = job->shown_count; i-- > 0;) /* the latest counts */
        if (job->shown[i].name == name)
            return job->shown[i].shown;
    return name;
}

static void put_name(message *m, const char *name, size_t most)
{
    size_t length = 0;
    name = shown_name(m->job, name);
    most = most < m->whole ? m->whole : most;
    while (length <= most && name[length])
        length++;
    bool whole = length <= most;
    put(m, name, whole ? length : kfi_utf8_cut(name, most));
    put(m, CUT, whole ? 0 : sizeof CUT - 1);
}

/* ---------------------------------------------------------------- what a format asks for */

/* A conversion: "%-5.2lld" without its length and its letter, and those. */
typedef struct conversion {
    char spec[32];
    int longs;      /* how many l; -1: z */
    long precision; /* -1: none */
    bool given;     /* the precision, as an argument */
    char letter;
} conversion;

static long long next_signed(const conversion *c, arguments *from)
{
    return c->longs > 1 ? va_arg(from->list, long long) : c->longs == 1 ? va_arg(from->list, long) : va_arg(from->list, int);
}

static unsigned long long next_unsigned(const conversion *c, arguments *from)
{
    return c->longs > 1    ? va_arg(from->list, unsigned long long)
           : c->longs == 1 ? va_arg(from->list, unsigned long)
           : c->longs < 0  ? va_arg(from->list, size_t)
                           : va_arg(from->list, unsigned);
}

/* The format behind the conversion. */
static const char *parse(const char *at, arguments *from, conversion *c)
{
    size_t length = 1;
    *c = (conversion){.spec = "%", .precision = -1};
    for (; *at && strchr("-+ #0123456789.*", *at) && length + 16 < sizeof c->spec; at++) {
        int number = *at == '*' ? va_arg(from->list, int) : *at - '0';
        c->given = c->given || *at == '*';
        if (*at == '.')
            c->precision = 0;
        else if (c->precision >= 0)
            c->precision = 10 * c->precision + number;
        length += (size_t)(*at == '*' ? sprintf(c->spec + length, "%d", number) : sprintf(c->spec + length, "%c", *at));
    }
    for (; *at == 'l' || *at == 'z'; at++)
        c->longs = *at == 'z' ? -1 : c->longs + 1;
    c->letter = *at;
    return *at ? at + 1 : at;
}

static void put_string(message *m, const conversion *c, const char *text)
{
    size_t length = 0;
    if (c->precision >= 0 && !c->given) {
        put_name(m, text, (size_t)c->precision);
        return;
    }
    while ((c->precision < 0 || length < (size_t)c->precision) && text[length])
        length++;
    put(m, text, length);
}

/* False for what no message of ours asks for. */
static bool put_conversion(message *m, conversion *c, arguments *from)
{
    char number[400] = ""; /* a double has up to 309 digits before its point */
    size_t end = strlen(c->spec);
    switch (c->letter) {
    case 's':
        put_string(m, c, va_arg(from->list, const char *));
        return true;
    case 'c':
        number[0] = (char)va_arg(from->list, int);
        break;
    case 'd':
        memcpy(c->spec + end, "lld", 4);
        snprintf(number, sizeof number, c->spec, next_signed(c, from));
        break;
    case 'u':
    case 'x':
    case 'X':
        sprintf(c->spec + end, "ll%c", c->letter);
        snprintf(number, sizeof number, c->spec, next_unsigned(c, from));
        break;
    case 'f':
    case 'g':
        c->spec[end] = c->letter;
        snprintf(number, sizeof number, c->spec, va_arg(from->list, double));
        break;
    case '%':
        number[0] = '%';
        break;
    default:
        return false;
    }
    put(m, number, strlen(number));
    return true;
}

static void write_text(message *m, const char *format, va_list args)
{
    arguments from;
    conversion c;
    va_copy(from.list, args);
    m->length = 0;
    for (bool known = true; known;) {
        size_t plain = strcspn(format, "%");
        put(m, format, plain);
        if (format[plain] == '\0')
            break;
        format = parse(format + plain + 1, &from, &c);
        known = put_conversion(m, &c, &from);
    }
    va_end(from.list);
}

enum { WHOLE = 200 };

void kfi_message_text(const kf_job *job, char *text, size_t size, const char *format, va_list args)
{
    message m = {.job = job, .to = text, .size = size, .whole = WHOLE};
    write_text(&m, format, args);
    if (m.length >= size) { /* rather all of the words than all of the names */
        m.whole = 0;
        write_text(&m, format, args);
    }
    if (m.length >= size) {
        m.length = kfi_utf8_cut(text, size - sizeof CUT);
        put(&m, CUT, sizeof CUT - 1);
    }
    text[m.length] = '\0';
    kfi_make_readable(text);
}

char *kfi_report_text(kf_job *job, const char *format, ...)
{
    message m = {.job = job, .whole = WHOLE};
    va_list args;
    va_start(args, format);
    write_text(&m, format, args);
    m.size = m.length;
    m.to = kfi_alloc_raw(job, m.size + 1, 1);
    if (m.to) {
        write_text(&m, format, args);
        m.to[m.size] = '\0';
        kfi_make_readable(m.to);
    }
    va_end(args);
    return m.to;
}
