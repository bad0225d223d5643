/* What the parts of the tree writer share: the buffer before the sink, and the two encodings behind one
 * front. */
#ifndef KFI_FBX_TREE_PARTS_H
#define KFI_FBX_TREE_PARTS_H

#include "fbx/arrays.h"
#include "fbx/tree.h"

enum { KFI_TREE_BUFFER = 64 * 1024, KFI_TREE_DEPTH = 32 };

/* A node that is not ended yet. */
typedef struct kfi_tree_level {
    uint64_t start;      /* where its record begins */
    uint64_t values;     /* where its values begin */
    uint64_t value_size; /* their bytes, once the braces are open */
    uint32_t value_count;
    bool braces;
} kfi_tree_level;

struct kfi_tree {
    kf_job *job;
    kf_sink sink;
    uint32_t version;
    bool ascii, failed, text_bent;
    unsigned depth;
    kfi_tree_level levels[KFI_TREE_DEPTH];
    kfi_packer *packer; /* of arrays in binary files */
    uint64_t flushed;   /* bytes that the sink has */
    size_t used;        /* bytes in the buffer, behind those */
    uint8_t buffer[KFI_TREE_BUFFER];
};

/* tree.c: bytes at the end, and over earlier ones */
static inline uint64_t kfi_tree_at(const kfi_tree *tree)
{
    return tree->flushed + tree->used;
}
void kfi_tree_flush(kfi_tree *tree);
void kfi_tree_bytes(kfi_tree *tree, const void *data, size_t size);
void kfi_tree_patch(kfi_tree *tree, uint64_t at, const void *data, size_t size);
bool kfi_tree_fail(kfi_tree *tree, kf_code code, const char *message); /* always false */

/* Room for `size` (at most KFI_TREE_BUFFER) bytes; `used` is to be raised by the caller. */
static inline uint8_t *kfi_tree_room(kfi_tree *tree, size_t size)
{
    if (size > KFI_TREE_BUFFER - tree->used)
        kfi_tree_flush(tree);
    return tree->buffer + tree->used;
}

/* tree_binary.c */
void kfi_binary_header(kfi_tree *tree);
void kfi_binary_footer(kfi_tree *tree);
void kfi_binary_begin(kfi_tree *tree, const char *name, kfi_tree_level *level);
void kfi_binary_end(kfi_tree *tree, kfi_tree_level *level);
void kfi_binary_number(kfi_tree *tree, char type, uint64_t bits, size_t size);
void kfi_binary_string(kfi_tree *tree, char type, const char *a, size_t a_size, const char *b, size_t b_size);
/* arrays.c */
void kfi_binary_array(kfi_tree *tree, char type, const void *values, size_t count, size_t item_size);

/* tree_ascii.c */
void kfi_ascii_header(kfi_tree *tree);
void kfi_ascii_begin(kfi_tree *tree, const char *name);
void kfi_ascii_braces(kfi_tree *tree);
void kfi_ascii_end(kfi_tree *tree, kfi_tree_level *level);
void kfi_ascii_comment(kfi_tree *tree, const char *text);
void kfi_ascii_char(kfi_tree *tree, char value);
void kfi_ascii_integer(kfi_tree *tree, int64_t value);
void kfi_ascii_number(kfi_tree *tree, double value, bool single);
void kfi_ascii_string(kfi_tree *tree, const char *a, size_t a_size, const char *b, size_t b_size);
/* Types as in binary; 'u' are floats' bits. */
void kfi_ascii_array(kfi_tree *tree, char type, const void *values, size_t count);

#endif
