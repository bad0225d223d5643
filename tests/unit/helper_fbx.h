/* For tests of the FBX reader: real files if there are any, files made by hand, and comparing animations. */
#ifndef HELPER_FBX_H
#define HELPER_FBX_H

#include "anim.h"

/* A fresh job in `job`, with a ceiling. */
void fbx_begin(kf_job *job, uint64_t limit);
/* Reads and judges; frees nothing. */
bool fbx_read(kf_job *job, const void *data, size_t size, kf_anim *anim);

/* The files written by real programs that are not part of the project. */
extern const char *const FBX_SAMPLES[];
extern const size_t FBX_SAMPLE_COUNT;
/* The bytes of one in a block of just that size, to be freed; NULL (and "skipped" is printed) where there are
 * none. */
void *fbx_sample(const char *name, size_t *size);

/* Fails the test at the first difference. Only what an FBX does not carry may differ: a kind that is not
 * carried and so comes back as a null, the creator, `source`. */
void fbx_assert_same(const kf_anim *a, const kf_anim *b, const char *what);

/* A binary FBX in the making: records with values, nested; version 7400 or 7500. */
typedef struct fbx_maker {
    uint8_t *data;
    size_t size, capacity;
    uint32_t version;
    size_t open[16]; /* where the records that are still open begin */
    size_t first_value[16];
    int depth;
    bool has_children[17];
} fbx_maker;

void fbx_make(fbx_maker *m, uint32_t version);
void fbx_open(fbx_maker *m, const char *name);
void fbx_close(fbx_maker *m);
void fbx_bytes(fbx_maker *m, const void *data, size_t size);
void fbx_text(fbx_maker *m, const void *text, size_t size);
void fbx_i32(fbx_maker *m, int32_t value);
void fbx_i64(fbx_maker *m, int64_t value);
void fbx_f64(fbx_maker *m, double value);
void fbx_array(fbx_maker *m, char type, const void *items, uint32_t count, bool packed);
/* A record with one array. */
void fbx_array_record(fbx_maker *m, const char *name, char type, const void *items, uint32_t count,
                      bool packed);
/* "OO" or, with a property, "OP". */
void fbx_connect(fbx_maker *m, int64_t child, int64_t parent, const char *property);
/* Ends the file; `data` is to be freed. */
void fbx_finish(fbx_maker *m);

#endif
