/* FBX files as what they are below any meaning: a tree of named nodes, each with a list of values and, if it
 * has braces, a list of child nodes. Written front to back into a sink, in one of three encodings:
 *
 *   binary 7400     "Kaydara FBX Binary  \0", 1a 00, u32 version; nodes; the footer
 *                   node: u32 end offset, u32 number of values, u32 bytes of values, u8 length and name, values,
 *                   and with braces the children and 13 zero bytes behind the last
 *   binary 7500     the same with three u64 and 25 zero bytes
 *   ASCII           Name: value, value {  children  }
 *
 *   values          Y i16, C char, I i32, F f32, D f64, L i64; S and R: u32 size and bytes;
 *                   arrays f d l i b: u32 count, u32 1 if zlib-packed, u32 bytes as stored, bytes
 *
 * A node is begun, gets its values, then its children, and is ended. Failures are kept: check once, at the
 * end. The same calls give the same bytes. Numbers that are not finite become 0. */
#ifndef KFI_FBX_TREE_H
#define KFI_FBX_TREE_H

#include "status.h"

#include <string.h>

typedef struct kfi_tree kfi_tree;

/* Version 7400 or 7500. NULL on failure. */
kfi_tree *kfi_tree_new(kf_job *job, const kf_sink *sink, uint32_t version, bool ascii);
/* Writes the footer and whatever is still held back. False if anything has failed on the way. */
bool kfi_tree_finish(kfi_tree *tree);
bool kfi_tree_failed(const kfi_tree *tree);
bool kfi_tree_ascii(const kfi_tree *tree);
uint32_t kfi_tree_version(const kfi_tree *tree);
/* Whether a text was written that ASCII cannot hold as it is. */
bool kfi_tree_text_bent(const kfi_tree *tree);

void kfi_tree_begin(kfi_tree *tree, const char *name);
/* The node has braces, be there children or not. Comes by itself with the first child. */
void kfi_tree_braces(kfi_tree *tree);
void kfi_tree_end(kfi_tree *tree);

void kfi_tree_i16(kfi_tree *tree, int16_t value);
void kfi_tree_char(kfi_tree *tree, char value); /* a letter */
void kfi_tree_i32(kfi_tree *tree, int32_t value);
void kfi_tree_i64(kfi_tree *tree, int64_t value);
void kfi_tree_f32(kfi_tree *tree, float value);
void kfi_tree_f64(kfi_tree *tree, double value);
/* Any bytes. ASCII has no way to say NUL (it becomes a space) nor the letters "&quot;", "&cr;", "&lf;". */
void kfi_tree_string(kfi_tree *tree, const char *text, size_t size);
static inline void kfi_tree_text(kfi_tree *tree, const char *text)
{
    kfi_tree_string(tree, text, strlen(text)); /* of the literals, which most are, the compiler knows it */
}
/* The name of an object of some class: "name\0\1Model" or, in ASCII, "Model::name". */
void kfi_tree_name(kfi_tree *tree, const char *class_name, const char *name);
void kfi_tree_raw(kfi_tree *tree, const void *data, size_t size); /* binary files only */

/* At most one array in a node, and nothing beside it. */
void kfi_tree_i32_array(kfi_tree *tree, const int32_t *values, size_t count);
void kfi_tree_i64_array(kfi_tree *tree, const int64_t *values, size_t count);
void kfi_tree_f32_array(kfi_tree *tree, const float *values, size_t count);
void kfi_tree_f64_array(kfi_tree *tree, const double *values, size_t count);
void kfi_tree_byte_array(kfi_tree *tree, const uint8_t *values, size_t count);
/* Floats that carry packed numbers: as bits, which ASCII shows as integers. */
void kfi_tree_bits_array(kfi_tree *tree, const uint32_t *values, size_t count);

/* A line for people, in ASCII only. */
void kfi_tree_comment(kfi_tree *tree, const char *text);

/* Nodes of one value. */
void kfi_tree_i32_node(kfi_tree *tree, const char *name, int32_t value);
void kfi_tree_i64_node(kfi_tree *tree, const char *name, int64_t value);
void kfi_tree_f64_node(kfi_tree *tree, const char *name, double value);
void kfi_tree_text_node(kfi_tree *tree, const char *name, const char *text);

#endif
