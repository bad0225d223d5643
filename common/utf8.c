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
