/* A small x4-ani file made by hand, and a job to try it in. */
#ifndef HELPER_X4_H
#define HELPER_X4_H

#include "anim.h"
#include "formats/x4_ani.h"

extern const kf_format kfi_format_x4_ani;
extern const kf_host X4_HOST;

#define DEGREES 57.295779513082320876798154814105

typedef struct bytes {
    uint8_t data[8192];
    size_t size;
} bytes;

enum { KEYS = 5, FIRST_KEY = 16 + 2 * 160 };

/* Offset of a field of the sample's position key k; its rotation keys follow. */
#define at_key(k, field) ((size_t)FIRST_KEY + (size_t)(k)*X4_KEY_SIZE + (size_t)(field))

void x4_job_begin(kf_job *job);
void x4_job_end(kf_job *job);

void x4_put(bytes *b, uint32_t word);
void x4_put_header(bytes *b, uint32_t count, uint32_t offset);
/* Something other than zeros lies behind the names. */
void x4_put_desc(bytes *b, const char *name, const char *sub_name, const uint32_t counts[5], float duration);
/* A key with values v, v + 1, v + 2, control points a quarter of a second and half a unit away, distinct
 * numbers in every other field. */
void x4_put_key(bytes *b, float time, float v, uint32_t x, uint32_t y, uint32_t z);

/* Two parts in two states; the first has five position keys (each component another mix) and two rotation
 * keys. */
void x4_sample(bytes *b);

bool x4_import_bytes(kf_job *job, const bytes *b, kf_file *file, kf_anim *anim);

/* Fails the test unless they are equal but for rounding. */
void x4_near(double found, double expected);

#endif
