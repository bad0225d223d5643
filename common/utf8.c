#include "utf8.h"

size_t kfi_utf8_character(const char *text, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    if (size == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || size < length)
        return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

unsigned kfi_utf8_steering(const char *text, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned number = size == 1   ? p[0]
                      : size == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                      : size == 3 ? (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)
                                  : 0;
    bool control = number < 0x20 || (number >= 0x7f && number <= 0x9f);
    bool direction = number == 0x200e || number == 0x200f || (number >= 0x202a && number <= 0x202e) ||
                     (number >= 0x2066 && number <= 0x2069);
    return control || direction ? number : 0;
}

bool kfi_utf8_valid(const char *text, size_t size)
{
    for (size_t at = 0, length; at < size; at += length) {
        length = kfi_utf8_character(text + at, size - at);
        if (length == 0)
            return false;
    }
    return true;
}

size_t kfi_utf8_cut(const char *text, size_t room)
{
    size_t at = room;
    while (at > 0 && room - at < 3 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return ((unsigned char)text[at] & 0xc0) == 0x80 ? room : at; /* bytes that are no text have no edges */
}
