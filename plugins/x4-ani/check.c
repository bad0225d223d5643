/* Everything in a readable file that breaks the format's rules. */
#include "x4-ani/x4.h"
#include "utf8.h"

#include <math.h>

typedef struct checking {
    kf_job *job;
    const char *file;
    const kfi_x4_ani *ani;
} checking;

#define problem(c, id, offset, ...) kfi_say((c)->job, KF_PROBLEM, id, (c)->file, offset, __VA_ARGS__)

/* The floats of a key record, in its order. */
static const struct {
    const char *name;
    uint8_t offset;
} FLOATS[] = {
    {"ValueX", 0},      {"ValueY", 4},      {"ValueZ", 8},     {"Time", 24},      {"CPX1x", 28},
    {"CPX1y", 32},      {"CPX2x", 36},      {"CPX2y", 40},     {"CPY1x", 44},     {"CPY1y", 48},
    {"CPY2x", 52},      {"CPY2y", 56},      {"CPZ1x", 60},     {"CPZ1y", 64},     {"CPZ2x", 68},
    {"CPZ2y", 72},      {"Tens", 76},       {"Cont", 80},      {"Bias", 84},      {"EaseIn", 88},
    {"EaseOut", 92},    {"DerivInX", 100},  {"DerivInY", 104}, {"DerivInZ", 108}, {"DerivOutX", 112},
    {"DerivOutY", 116}, {"DerivOutZ", 120},
};
enum { FLOAT_COUNT = sizeof FLOATS / sizeof FLOATS[0] };

static bool check_name(checking *c, size_t desc, size_t field, const char *name)
{
    size_t at = X4_HEADER_SIZE + desc * X4_DESC_SIZE + field;
    const uint8_t *text = kfi_x4_desc(c->ani, desc) + field;
    size_t length = kfi_x4_name_length(text);
    if (length == X4_NAME_SIZE)
        return problem(c, "name-end", at, "description %zu, %s: expected a NUL within 64 bytes, found none",
                       desc, name);
    if (length == 0)
        return problem(c, "name-empty", at, "description %zu, %s: expected a name, found none", desc, name);
    return kfi_utf8_valid((const char *)text, length) ||
           kfi_say(c->job, KF_NOTE, "name-bytes", c->file, at, "description %zu, %s: its bytes are no UTF-8",
                   desc, name);
}

static bool check_time(checking *c, size_t at, size_t desc, unsigned kind, size_t i, float time, float before)
{
    float duration = kfi_load_f32(kfi_x4_desc(c->ani, desc) + X4_DESC_DURATION);
    if (i > 0 && time <= before &&
        !problem(c, "time-order", at + X4_KEY_TIME,
                 "description %zu, %s key %zu, Time: expected more than the %.9g s of the key before, found "
                 "%.9g s",
                 desc, kfi_x4_kind_name(kind), i, before, time))
        return false;
    /* Both come from frame / 30 in 32-bit arithmetic: a hair more is no breach. */
    return !(time > duration + 1e-6f * fmaxf(1, fabsf(duration))) ||
           problem(c, "time-duration", at + X4_KEY_TIME,
                   "description %zu, %s key %zu, Time: expected at most the Duration of %.9g s, found %.9g s",
                   desc, kfi_x4_kind_name(kind), i, duration, time);
}

static bool check_key(checking *c, size_t desc, unsigned kind, const uint8_t *keys, size_t i, size_t count)
{
    const uint8_t *key = keys + i * X4_KEY_SIZE;
    size_t at = X4_HEADER_SIZE + (size_t)(key - c->ani->descriptions);
    for (unsigned f = 0; f < FLOAT_COUNT; f++) {
        float number = kfi_load_f32(key + FLOATS[f].offset);
        if (!isfinite(number) &&
            !problem(c, "nonfinite", at + FLOATS[f].offset,
                     "description %zu, %s key %zu, %s: expected a finite number, found %g", desc,
                     kfi_x4_kind_name(kind), i, FLOATS[f].name, number))
            return false;
    }
    for (unsigned n = 0; n < 3; n++) {
        uint32_t interp = kfi_x4_interp(key, n);
        if ((interp < X4_STEP || interp > X4_TCB) &&
            !problem(c, "interpolation", at + X4_KEY_INTERP + 4 * n,
                     "description %zu, %s key %zu, Interpolation%c: expected 1 to 7, found %lu", desc,
                     kfi_x4_kind_name(kind), i, "XYZ"[n], (unsigned long)interp))
            return false;
        if (i + 1 == count && interp > X4_STEP && interp <= X4_TCB &&
            !kfi_say(
                c->job, KF_NOTE, "last-key", c->file, at + X4_KEY_INTERP + 4 * n,
                "description %zu, %s key %zu, Interpolation%c: the last key usually has 1, this one has %lu",
                desc, kfi_x4_kind_name(kind), i, "XYZ"[n], (unsigned long)interp))
            return false;
    }
    return check_time(c, at, desc, kind, i, kfi_x4_time(key), i > 0 ? kfi_x4_time(key - X4_KEY_SIZE) : 0);
}

static bool check_description(checking *c, size_t i)
{
    const uint8_t *desc = kfi_x4_desc(c->ani, i);
    size_t at = X4_HEADER_SIZE + i * X4_DESC_SIZE;
    if (!check_name(c, i, X4_DESC_NAME, "Name") || !check_name(c, i, X4_DESC_SUB_NAME, "SubName"))
        return false;
    uint32_t pre = kfi_x4_desc_count(desc, X4_PRE_SCALE), post = kfi_x4_desc_count(desc, X4_POST_SCALE);
    if (pre != post &&
        !problem(c, "scale-counts", at + X4_DESC_COUNTS + 4 * X4_POST_SCALE,
                 "description %zu, NumPostScaleKeys: expected the %lu of NumPreScaleKeys, found %lu", i,
                 (unsigned long)pre, (unsigned long)post))
        return false;
    float duration = kfi_load_f32(desc + X4_DESC_DURATION);
    if (!(isfinite(duration) && duration >= 0) &&
        !problem(c, "duration", at + X4_DESC_DURATION,
                 "description %zu, Duration: expected a finite number of seconds, 0 or more, found %g", i,
                 duration))
        return false;
    for (unsigned kind = 0; kind < X4_KINDS; kind++) {
        size_t count = kfi_x4_desc_count(desc, kind);
        const uint8_t *keys = kfi_x4_keys(c->ani, i, kind);
        for (size_t k = 0; k < count; k++)
            if (!check_key(c, i, kind, keys, k, count))
                return false;
    }
    return true;
}

/* Two descriptions of the same part in the same state: the game can use one of them only. */
static bool check_pairs(checking *c)
{
    x4_table table;
    if (!kfi_x4_table_init(c->job, &table, c->ani->count))
        return false;
    for (size_t i = 0; i < c->ani->count; i++) {
        const uint8_t *desc = kfi_x4_desc(c->ani, i);
        size_t name = kfi_x4_name_length(desc), sub_name = kfi_x4_name_length(desc + X4_DESC_SUB_NAME);
        char *both = kfi_alloc_raw(c->job, 2, X4_NAME_SIZE + 1);
        if (!both)
            return false;
        memcpy(both, desc, name);
        both[name] = '\0';
        memcpy(both + name + 1, desc + X4_DESC_SUB_NAME, sub_name);
        bool found;
        x4_entry *entry = kfi_x4_table_at(&table, both, name + 1 + sub_name, 0, &found);
        if (!found)
            entry->value = (uint32_t)i;
        else if (!problem(c, "duplicate", X4_HEADER_SIZE + i * X4_DESC_SIZE,
                          "description %zu, Name and SubName: expected a pair of their own, found those of "
                          "description "
                          "%lu (\"%.60s\")",
                          i, (unsigned long)entry->value, both))
            return false;
    }
    return true;
}

bool kfi_x4_check(kf_import_job *in)
{
    kfi_x4_ani ani;
    checking c = {in->job, in->files[0].name, &ani};
    if (!kfi_x4_decode_file(in, &ani))
        return false;
    if (ani.version != 1 &&
        !problem(&c, "version", 8, "Version: expected 1, found %lu", (unsigned long)ani.version))
        return false;
    for (size_t i = 0; i < ani.count; i++)
        if (!check_description(&c, i))
            return false;
    return check_pairs(&c);
}
