/* Which bytes are text: UTF-8 without overlong forms, surrogates or anything beyond U+10FFFF. */
#ifndef KFI_UTF8_H
#define KFI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes the character at the start has; 0 if they are none. Never looks beyond a NUL, so that for a text that
 * ends with one `size` may be anything. */
size_t kfi_utf8_character(const char *text, size_t size);

/* The number of the character of that size at the start if a terminal acts on it: a control character, or one that turns the
 * direction of writing. Else 0. */
unsigned kfi_utf8_steering(const char *text, size_t size);

bool kfi_utf8_valid(const char *text, size_t size);

/* Where to cut a text that is longer than that, so that at most `room` bytes stay and no character is split. */
size_t kfi_utf8_cut(const char *text, size_t room);

#endif
