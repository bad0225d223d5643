/* JSON written piece by piece into a sink. Commas come by themselves; failures are kept for the end. */
#ifndef KFI_JSON_H
#define KFI_JSON_H

#include "status.h"

typedef struct kfi_json {
    kf_job *job;
    const kf_sink *sink;
    bool failed;
    bool comma; /* something stands before the next value */
    bool line;  /* the next value begins a line */
    size_t used;
    char buffer[8192];
} kfi_json;

void kfi_json_init(kfi_json *json, kf_job *job, const kf_sink *sink);
/* Writes what is still held back. False (KF_IO) if any write failed. */
bool kfi_json_finish(kfi_json *json);

void kfi_json_begin(kfi_json *json, char bracket); /* '{' or '[' */
void kfi_json_end(kfi_json *json, char bracket);   /* '}' or ']' */
void kfi_json_key(kfi_json *json, const char *name);
/* The next value, key or closing bracket stands on a new line. */
void kfi_json_line(kfi_json *json);

void kfi_json_null(kfi_json *json);
void kfi_json_bool(kfi_json *json, bool value);
void kfi_json_count(kfi_json *json, uint64_t value);
/* 9 digits tell any float32, 17 any double. Minus zero keeps its sign; "NaN", "Infinity", "-Infinity" are
 * strings. */
void kfi_json_number(kfi_json *json, double value, int digits);
/* Bytes that are no UTF-8 become U+FFFD, each by itself. */
void kfi_json_text(kfi_json *json, const char *text);
/* The key `name` with the text; and if that is no UTF-8, `name_bytes` with all its bytes in hex. */
void kfi_json_named(kfi_json *json, const char *name, const char *text);

/* Text without JSON's punctuation, for reports through the same buffer; names in quotes, with escapes. */
void kfi_json_plain(kfi_json *json, const char *text);
void kfi_json_plain_name(kfi_json *json, const char *name);
void kfi_json_plain_number(kfi_json *json, double value, int digits);

enum { KFI_NUMBER_SIZE = 40 };
/* A number as text with a decimal point whatever the locale. */
void kfi_number_text(double value, int digits, char text[KFI_NUMBER_SIZE]);
/* Its second half: the locale's decimal point, which may be any character, of several bytes too, becomes '.'.
 */
void kfi_plain_point(const char *number, char text[KFI_NUMBER_SIZE]);

#endif
