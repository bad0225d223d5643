/* What importer, exporter and checker of x4-ani share. */
#ifndef X4_ANI_PLUGIN_H
#define X4_ANI_PLUGIN_H

#include "anim.h"
#include "formats/x4_ani.h"

#define X4_PRE_SCALE_NAME "pre_scale"
#define X4_POST_SCALE_NAME "post_scale"

/* kf_anim.native: the decoded file, and which take and node each description became. */
typedef struct x4_native {
    kfi_x4_ani ani;
    uint32_t *take_of;
    uint32_t *node_of;
} x4_native;

/* kf_track.source: which description and which of its lists of keys a track is. */
static inline int32_t x4_source(size_t desc, unsigned kind)
{
    return (int32_t)(desc * X4_KINDS + kind);
}

/* An open hash from (text, number) to a number. Room for `most` entries is set aside at once. */
typedef struct x4_entry {
    const void *text; /* or NULL */
    uint32_t size;
    uint32_t number;
    uint32_t value;
    bool taken;
} x4_entry;

typedef struct x4_table {
    x4_entry *entries;
    size_t mask;
} x4_table;

bool kfi_x4_table_init(kf_job *job, x4_table *table, size_t most);
/* The entry of that key; `*found` tells whether it was there. A new one has value 0. */
x4_entry *kfi_x4_table_at(x4_table *table, const void *text, size_t size, uint32_t number, bool *found);

bool kfi_x4_import(kf_import_job *in, kf_anim *anim);
bool kfi_x4_export(kf_export_job *out);
bool kfi_x4_check(kf_import_job *in);

/* The one file of an animation, decoded. */
bool kfi_x4_decode_file(kf_import_job *in, kfi_x4_ani *ani);

/* What a rotation's stored numbers are multiplied with to be degrees. */
#define X4_DEGREES (180.0 / 3.14159265358979323846)

static inline double x4_unit(unsigned kind)
{
    return kind == X4_ROT ? X4_DEGREES : 1.0;
}

/* What a component of that kind is without keys. */
static inline double x4_rest(unsigned kind)
{
    return kind >= X4_SCALE ? 1.0 : 0.0;
}

/* True if the control point says something: both of its numbers are 0 where a file leaves it unset. */
static inline bool x4_point_set(const uint8_t *key, unsigned component, unsigned point)
{
    const uint8_t *p = key + kfi_x4_point(component, point);
    return kfi_load_f32(p) != 0.0f || kfi_load_f32(p + 4) != 0.0f;
}

/* ---------------------------------------------------------------- between import.c and import_keys.c */

/* One component of a list of keys on its way into a curve. */
typedef struct x4_component {
    kf_job *job;
    const kf_anim *anim;
    const kf_take *take;
    const kf_track *track;
    const uint8_t *records;
    kf_curve *curve;
    unsigned kind, index; /* index: 0 x, 1 y, 2 z */
    double unit;
} x4_component;

/* The interpolations that x, y and z of a list's records have: bit n for number n, bit 31 for all from 31 on. */
void kfi_x4_find_interps(const uint8_t *records, size_t count, uint32_t found[3]);
bool kfi_x4_read_component(x4_component *c, size_t count, uint32_t found);

/* ---------------------------------------------------------------- of export_keys.c and export_record.c */

/* A list of keys to write: what was asked for, and the list of the original's that its origins speak of. */
typedef struct x4_list {
    const kf_track *track;
    const uint8_t *source; /* the original's records; NULL if there are none */
    size_t source_count;
    unsigned kind;
    double shift;            /* added to every new or changed time */
    double tolerance;        /* as asked for; 0: the usual one */
    const char *take, *node; /* names, for messages */
} x4_list;

/* How many records the list needs; false (KF_INEXPRESSIBLE) if its curves do not fit together. */
bool kfi_x4_list_count(kf_job *job, const x4_list *list, size_t *count);
/* Writes them into `records`, room for that many. */
bool kfi_x4_write_list(kf_job *job, const x4_list *list, uint8_t *records);

/* To the nearest 32-bit float; beyond their range the largest one, with a warning. */
bool kfi_x4_to_f32(kf_job *job, const x4_list *list, double number, float *result);

#endif
