#include "json.h"

#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void kfi_json_init(kfi_json *json, kf_job *job, const kf_sink *sink)
{
    json->job = job;
    json->sink = sink;
    json->failed = json->comma = json->line = false;
    json->used = 0;
}

static void flush(kfi_json *json)
{
    if (json->used > 0 && !json->failed && !json->sink->append(json->sink->user, json->buffer, json->used)) {
        json->failed = true;
        kfi_fail(json->job, KF_IO, KF_NO_OFFSET, "could not be written");
    }
    json->used = 0;
}

static void put(kfi_json *json, const char *text, size_t size)
{
    while (size > 0 && !json->failed) {
        size_t room = sizeof json->buffer - json->used;
        size_t part = size < room ? size : room;
        memcpy(json->buffer + json->used, text, part);
        json->used += part;
        text += part;
        size -= part;
        if (json->used == sizeof json->buffer)
            flush(json);
    }
}

static void put_text(kfi_json *json, const char *text)
{
    put(json, text, strlen(text));
}

bool kfi_json_finish(kfi_json *json)
{
    flush(json);
    return !json->failed;
}

static void before(kfi_json *json, bool comma)
{
    if (json->comma && comma)
        put(json, ",", 1);
    if (json->line)
        put(json, "\n", 1);
    json->line = false;
}

void kfi_json_begin(kfi_json *json, char bracket)
{
    before(json, true);
    put(json, &bracket, 1);
    json->comma = false;
}

void kfi_json_end(kfi_json *json, char bracket)
{
    before(json, false);
    put(json, &bracket, 1);
    json->comma = true;
}

void kfi_json_line(kfi_json *json)
{
    json->line = true;
}

static void value(kfi_json *json, const char *text)
{
    before(json, true);
    put_text(json, text);
    json->comma = true;
}

void kfi_json_null(kfi_json *json)
{
    value(json, "null");
}

void kfi_json_bool(kfi_json *json, bool flag)
{
    value(json, flag ? "true" : "false");
}

void kfi_json_count(kfi_json *json, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    value(json, text);
}

void kfi_plain_point(const char *number, char text[KFI_NUMBER_SIZE])
{
    size_t out = 0;
    bool point = false;
    for (const char *p = number; *p; p++) {
        bool ours = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        if (ours)
            text[out++] = *p;
        else if (!point)
            text[out++] = '.';
        point = !ours;
    }
    text[out] = '\0';
}

void kfi_number_text(double number, int digits, char text[KFI_NUMBER_SIZE])
{
    char raw[KFI_NUMBER_SIZE];
    snprintf(raw, sizeof raw, "%.*g", digits, number);
    kfi_plain_point(raw, text);
}

void kfi_json_number(kfi_json *json, double number, int digits)
{
    char text[KFI_NUMBER_SIZE];
    if (isnan(number)) {
        value(json, "\"NaN\"");
    } else if (isinf(number)) {
        value(json, number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    } else {
        kfi_number_text(number, digits, text);
        value(json, text);
    }
}

static void quoted(kfi_json *json, const char *text)
{
    put(json, "\"", 1);
    while (*text) {
        char escape[12];
        size_t size = kfi_utf8_character(text, SIZE_MAX);
        unsigned number = kfi_utf8_steering(text, size);
        if (size == 0) {
            put_text(json, "\\ufffd");
            size = 1;
        } else if (*text == '"' || *text == '\\') {
            put(json, "\\", 1);
            put(json, text, 1);
        } else if (number) { /* the same text to a program; some is printed for people, too */
            snprintf(escape, sizeof escape, "\\u%04x", number);
            put_text(json, escape);
        } else {
            put(json, text, size);
        }
        text += size;
    }
    put(json, "\"", 1);
}

void kfi_json_text(kfi_json *json, const char *text)
{
    before(json, true);
    quoted(json, text);
    json->comma = true;
}

void kfi_json_key(kfi_json *json, const char *name)
{
    before(json, true);
    quoted(json, name);
    put(json, ":", 1);
    json->comma = false;
}

void kfi_json_named(kfi_json *json, const char *name, const char *text)
{
    kfi_json_key(json, name);
    kfi_json_text(json, text);
    if (kfi_utf8_valid(text, strlen(text)))
        return;
    put(json, ",\"", 2);
    put_text(json, name);
    put_text(json, "_bytes\":\"");
    for (; *text; text++) {
        char hex[4];
        snprintf(hex, sizeof hex, "%02x", (unsigned)(unsigned char)*text);
        put(json, hex, 2);
    }
    put(json, "\"", 1);
}

void kfi_json_plain(kfi_json *json, const char *text)
{
    put_text(json, text);
}

void kfi_json_plain_name(kfi_json *json, const char *name)
{
    quoted(json, name);
}

void kfi_json_plain_number(kfi_json *json, double number, int digits)
{
    char text[KFI_NUMBER_SIZE];
    kfi_number_text(number, digits, text);
    put_text(json, text);
}
