/* Between export_keys.c, which goes through a list of keys, and export_record.c, which writes one. */
#ifndef X4_ANI_EXPORT_KEYS_H
#define X4_ANI_EXPORT_KEYS_H

#include "x4.h"

typedef struct x4_writing {
    kf_job *job;
    const x4_list *list;
    size_t count;
    double unit;
    kf_key constant[3]; /* stands for the keys of a component that has none */
    double limit[3];    /* what rounding a time may do to a component's motion */
    bool told;          /* that it did more */
} x4_writing;

/* A row: the keys of x, y and z at one time, and what is known of each from the original. */
typedef struct x4_row {
    const uint8_t *base;      /* the record that the shared fields come from, or NULL */
    const uint8_t *source[3]; /* the record that the component comes from, or NULL */
    bool follows[3];          /* there is a record before `source` */
    uint32_t changed[3];
    bool moved; /* the time differs from the base's */
    uint32_t number[3];
} x4_row;

static inline size_t x4_keys_of(const kf_track *track, unsigned c)
{
    return c < track->curves ? track->curve[c].count : 0;
}

static inline bool x4_is_bezier(uint32_t number)
{
    return number == X4_BEZIER || number == X4_BEZIER_LINEAR_TIME;
}

/* What is asked for of component c at row i, and the time of that row in the file. */
const kf_key *kfi_x4_key_at(const x4_writing *w, unsigned c, size_t i);
kf_handles kfi_x4_handles_at(const x4_writing *w, unsigned c, size_t i);
double kfi_x4_time_at(const x4_writing *w, size_t i);

/* How far rounding a time may put a component's motion off: half of what is tolerated. */
double kfi_x4_rounding_limit(const x4_list *list, unsigned c);
/* The record of row i; `before` is the row before it, or NULL. */
bool kfi_x4_write_row(x4_writing *w, uint8_t *record, const x4_row *before, const x4_row *r, size_t i);

#endif
