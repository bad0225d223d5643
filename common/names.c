#include "names.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

uint64_t kfi_hash(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

bool kfi_names_init(kfi_names *names, kf_job *job, size_t expected, size_t limit)
{
    size_t capacity = 16;
    while (capacity / 2 < expected)
        capacity *= 2;
    *names = (kfi_names){.job = job, .capacity = capacity, .limit = limit};
    names->slots = kfi_alloc(job, capacity, sizeof *names->slots);
    return names->slots != NULL;
}

/* The slot that holds the name, or the free one where it belongs. */
static const char **slot_of(const kfi_names *names, const char *name)
{
    size_t mask = names->capacity - 1;
    size_t at = (size_t)kfi_hash(name, strlen(name)) & mask;
    while (names->slots[at] && strcmp(names->slots[at], name) != 0)
        at = (at + 1) & mask;
    return &names->slots[at];
}

static bool grow(kfi_names *names)
{
    kfi_names larger;
    if (!kfi_names_init(&larger, names->job, names->capacity, names->limit))
        return false;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i])
            *slot_of(&larger, names->slots[i]) = names->slots[i];
    larger.count = names->count;
    *names = larger;
    return true;
}

/* Length of the UTF-8 character at `text` if it may stand in a name, else 0. */
static size_t plain_character(const char *text)
{
    unsigned char lead = (unsigned char)text[0];
    if (lead < 0x80)
        return lead >= 0x20 && lead != 0x7f && lead != '|' && lead != ':' && lead != '%' && lead != '"' && lead != '&';
    return kfi_utf8_character(text, SIZE_MAX);
}

static size_t cut(const char *text, size_t length, size_t room)
{
    return length <= room ? length : kfi_utf8_cut(text, room);
}

const char *kfi_names_give(kfi_names *names, const char *bytes, const char *otherwise)
{
    size_t size = strlen(bytes);
    char *text = kfi_alloc_raw(names->job, size + 1, 3); /* every byte may become three */
    if (!text)
        return NULL;
    size_t length = 0;
    bool reserved = strncmp(bytes, KFI_WRAPPER_PREFIX, strlen(KFI_WRAPPER_PREFIX)) == 0;
    for (size_t i = 0; i < size;) {
        size_t plain = reserved && i == 0 ? 0 : plain_character(bytes + i);
        if (plain > 0) {
            memcpy(text + length, bytes + i, plain);
            length += plain;
            i += plain;
        } else {
            snprintf(text + length, 4, "%%%02X", (unsigned)(unsigned char)bytes[i]);
            length += 3;
            i++;
        }
    }
    text[length] = '\0';
    if (length == 0) {
        text = kfi_strdup(names->job, otherwise);
        if (!text)
            return NULL;
        length = strlen(text);
    }

    size_t limit = names->limit ? names->limit : SIZE_MAX;
    text[cut(text, length, limit)] = '\0';
    length = strlen(text);
    const char *name = text;
    for (size_t n = 2; *slot_of(names, name); n++) {
        if (n == 10 && names->count > n)
            n = names->count + 1; /* many alike: go where numbers are free, or thousands of equal names take for ever */
        char suffix[24];
        size_t extra = (size_t)snprintf(suffix, sizeof suffix, "__%zu", n);
        size_t kept = cut(text, length, limit > extra ? limit - extra : 0);
        name = kfi_format_text(names->job, "%.*s%s", (int)kept, text, suffix);
        if (!name)
            return NULL;
    }
    if (names->count * 2 >= names->capacity && !grow(names))
        return NULL;
    *slot_of(names, name) = name;
    names->count++;
    return name;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

const char *kfi_names_bytes(kf_job *job, const char *name)
{
    char *bytes = kfi_strdup(job, name);
    size_t length = 0;
    if (!bytes)
        return NULL;
    for (size_t i = 0; name[i]; i++) {
        int high = name[i] == '%' ? hex_value(name[i + 1]) : -1;
        int low = high >= 0 ? hex_value(name[i + 2]) : -1;
        if (low >= 0 && high * 16 + low != 0) {
            bytes[length++] = (char)(high * 16 + low);
            i += 2;
        } else {
            bytes[length++] = name[i];
        }
    }
    bytes[length] = '\0';
    return bytes;
}

bool kfi_map_init(kfi_map *map, kf_job *job, size_t expected)
{
    size_t capacity = 16;
    while (capacity / 2 < expected)
        capacity *= 2;
    map->names = kfi_alloc(job, capacity, sizeof *map->names);
    map->numbers = kfi_alloc(job, capacity, sizeof *map->numbers);
    map->capacity = capacity;
    return map->names && map->numbers;
}

static size_t map_slot(const kfi_map *map, const char *name, size_t length)
{
    size_t mask = map->capacity - 1;
    size_t at = (size_t)kfi_hash(name, length) & mask;
    while (map->names[at] && (strncmp(map->names[at], name, length) != 0 || map->names[at][length] != '\0'))
        at = (at + 1) & mask;
    return at;
}

void kfi_map_put(kfi_map *map, const char *name, uint32_t number)
{
    size_t at = map_slot(map, name, strlen(name));
    if (!map->names[at]) {
        map->names[at] = name;
        map->numbers[at] = number;
    }
}

void kfi_map_set(kfi_map *map, const char *name, uint32_t number)
{
    size_t at = map_slot(map, name, strlen(name));
    map->names[at] = name;
    map->numbers[at] = number;
}

int64_t kfi_map_get(const kfi_map *map, const char *name, size_t length)
{
    if (map->capacity == 0)
        return -1;
    size_t at = map_slot(map, name, length);
    return map->names[at] ? (int64_t)map->numbers[at] : -1;
}
