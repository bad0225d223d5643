#include "fbx/tree_parts.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- the buffer before the sink */

bool kfi_tree_fail(kfi_tree *tree, kf_code code, const char *message)
{
    tree->failed = true;
    return kfi_fail(tree->job, code, KF_NO_OFFSET, "%s", message);
}

static void append(kfi_tree *tree, const void *data, size_t size)
{
    if (!tree->failed && !tree->sink.append(tree->sink.user, data, size))
        kfi_tree_fail(tree, KF_IO, "the FBX could not be written");
    tree->flushed += size;
}

void kfi_tree_flush(kfi_tree *tree)
{
    if (tree->used > 0)
        append(tree, tree->buffer, tree->used);
    tree->used = 0;
}

void kfi_tree_bytes(kfi_tree *tree, const void *data, size_t size)
{
    if (size > KFI_TREE_BUFFER - tree->used) {
        kfi_tree_flush(tree);
        if (size >= KFI_TREE_BUFFER / 2) { /* large ones need no copy */
            append(tree, data, size);
            return;
        }
    }
    if (size > 0)
        memcpy(tree->buffer + tree->used, data, size);
    tree->used += size;
}

void kfi_tree_patch(kfi_tree *tree, uint64_t at, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    if (at < tree->flushed) {
        uint64_t before = tree->flushed - at;
        size_t part = before < size ? (size_t)before : size;
        if (!tree->failed && !(tree->sink.patch && tree->sink.patch(tree->sink.user, at, bytes, part)))
            kfi_tree_fail(tree, KF_IO, "the FBX could not be written");
        at += part;
        bytes += part;
        size -= part;
    }
    if (size > 0)
        memcpy(tree->buffer + (size_t)(at - tree->flushed), bytes, size);
}

/* ---------------------------------------------------------------- files and nodes */

kfi_tree *kfi_tree_new(kf_job *job, const kf_sink *sink, uint32_t version, bool ascii)
{
    if (version != 7400 && version != 7500) {
        kfi_fail(job, KF_BAD_ARGUMENT, KF_NO_OFFSET, "FBX version %lu: expected 7400 or 7500",
                 (unsigned long)version);
        return NULL;
    }
    kfi_tree *tree = kfi_alloc_raw(job, 1, sizeof *tree);
    if (!tree)
        return NULL;
    memset(tree, 0, offsetof(kfi_tree, buffer));
    tree->job = job;
    tree->sink = *sink;
    tree->version = version;
    tree->ascii = ascii;
    if (ascii) {
        kfi_ascii_header(tree);
        return tree;
    }
    tree->packer = kfi_packer_new(job);
    kfi_binary_header(tree);
    return tree->packer ? tree : NULL;
}

bool kfi_tree_finish(kfi_tree *tree)
{
    if (tree->depth != 0)
        return kfi_tree_fail(tree, KF_BAD_ARGUMENT, "an FBX node was not ended");
    if (!tree->ascii)
        kfi_binary_footer(tree);
    kfi_tree_flush(tree);
    return !tree->failed;
}

bool kfi_tree_failed(const kfi_tree *tree)
{
    return tree->failed;
}

bool kfi_tree_ascii(const kfi_tree *tree)
{
    return tree->ascii;
}

bool kfi_tree_text_bent(const kfi_tree *tree)
{
    return tree->text_bent;
}

uint32_t kfi_tree_version(const kfi_tree *tree)
{
    return tree->version;
}

void kfi_tree_braces(kfi_tree *tree)
{
    if (tree->depth == 0)
        return;
    kfi_tree_level *level = &tree->levels[tree->depth - 1];
    if (level->braces)
        return;
    level->braces = true;
    level->value_size = kfi_tree_at(tree) - level->values;
    if (tree->ascii)
        kfi_ascii_braces(tree);
}

void kfi_tree_begin(kfi_tree *tree, const char *name)
{
    kfi_tree_braces(tree);
    if (tree->depth == KFI_TREE_DEPTH) {
        kfi_tree_fail(tree, KF_BAD_ARGUMENT, "FBX nodes are nested too deep");
        return;
    }
    kfi_tree_level *level = &tree->levels[tree->depth];
    *level = (kfi_tree_level){.start = kfi_tree_at(tree)};
    if (tree->ascii)
        kfi_ascii_begin(tree, name);
    else
        kfi_binary_begin(tree, name, level);
    level->values = kfi_tree_at(tree);
    tree->depth++;
}

void kfi_tree_end(kfi_tree *tree)
{
    if (tree->depth == 0) {
        kfi_tree_fail(tree, KF_BAD_ARGUMENT, "an FBX node was ended that was never begun");
        return;
    }
    kfi_tree_level *level = &tree->levels[--tree->depth];
    if (tree->ascii) {
        kfi_ascii_end(tree, level);
        return;
    }
    if (!level->braces)
        level->value_size = kfi_tree_at(tree) - level->values;
    kfi_binary_end(tree, level);
}

/* ---------------------------------------------------------------- values */

/* True if a value can stand here: in a node, before its children. */
static bool add_value(kfi_tree *tree)
{
    if (tree->depth == 0 || tree->levels[tree->depth - 1].braces)
        return kfi_tree_fail(tree, KF_BAD_ARGUMENT, "an FBX value must stand before its node's children");
    tree->levels[tree->depth - 1].value_count++;
    return true;
}

static void integer(kfi_tree *tree, char type, int64_t value, size_t size)
{
    if (!add_value(tree))
        return;
    if (tree->ascii)
        kfi_ascii_integer(tree, value);
    else
        kfi_binary_number(tree, type, (uint64_t)value, size);
}

void kfi_tree_i16(kfi_tree *tree, int16_t value)
{
    integer(tree, 'Y', value, 2);
}

void kfi_tree_i32(kfi_tree *tree, int32_t value)
{
    integer(tree, 'I', value, 4);
}

void kfi_tree_i64(kfi_tree *tree, int64_t value)
{
    integer(tree, 'L', value, 8);
}

void kfi_tree_char(kfi_tree *tree, char value)
{
    if (!add_value(tree))
        return;
    if (tree->ascii)
        kfi_ascii_char(tree, value);
    else
        kfi_binary_number(tree, 'C', (uint8_t)value, 1);
}

void kfi_tree_f32(kfi_tree *tree, float value)
{
    if (!add_value(tree))
        return;
    value = isfinite(value) ? value : 0;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (tree->ascii)
        kfi_ascii_number(tree, (double)value, true);
    else
        kfi_binary_number(tree, 'F', bits, 4);
}

void kfi_tree_f64(kfi_tree *tree, double value)
{
    if (!add_value(tree))
        return;
    value = isfinite(value) ? value : 0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (tree->ascii)
        kfi_ascii_number(tree, value, false);
    else
        kfi_binary_number(tree, 'D', bits, 8);
}

void kfi_tree_string(kfi_tree *tree, const char *text, size_t size)
{
    if (!add_value(tree))
        return;
    if (tree->ascii)
        kfi_ascii_string(tree, text, size, "", 0);
    else
        kfi_binary_string(tree, 'S', text, size, "", 0);
}

void kfi_tree_name(kfi_tree *tree, const char *class_name, const char *name)
{
    char joined[64];
    size_t size = strlen(class_name);
    if (!add_value(tree) || size > sizeof joined - 2)
        return;
    if (tree->ascii) {
        memcpy(joined, class_name, size);
        memcpy(joined + size, "::", 2);
        kfi_ascii_string(tree, joined, size + 2, name, strlen(name));
    } else {
        memcpy(joined, "\0\1", 2);
        memcpy(joined + 2, class_name, size);
        kfi_binary_string(tree, 'S', name, strlen(name), joined, size + 2);
    }
}

void kfi_tree_raw(kfi_tree *tree, const void *data, size_t size)
{
    if (tree->ascii)
        kfi_tree_fail(tree, KF_BAD_ARGUMENT, "an ASCII FBX cannot hold raw bytes");
    else if (add_value(tree))
        kfi_binary_string(tree, 'R', data, size, "", 0);
}

/* ---------------------------------------------------------------- arrays */

static void array(kfi_tree *tree, char type, const void *values, size_t count, size_t item_size)
{
    if (!add_value(tree))
        return;
    if (tree->ascii)
        kfi_ascii_array(tree, type, values, count);
    else
        kfi_binary_array(tree, type == 'u' ? 'f' : type, values, count, item_size);
}

void kfi_tree_i32_array(kfi_tree *tree, const int32_t *values, size_t count)
{
    array(tree, 'i', values, count, sizeof *values);
}

void kfi_tree_i64_array(kfi_tree *tree, const int64_t *values, size_t count)
{
    array(tree, 'l', values, count, sizeof *values);
}

void kfi_tree_f32_array(kfi_tree *tree, const float *values, size_t count)
{
    array(tree, 'f', values, count, sizeof *values);
}

void kfi_tree_f64_array(kfi_tree *tree, const double *values, size_t count)
{
    array(tree, 'd', values, count, sizeof *values);
}

void kfi_tree_byte_array(kfi_tree *tree, const uint8_t *values, size_t count)
{
    array(tree, 'b', values, count, sizeof *values);
}

void kfi_tree_bits_array(kfi_tree *tree, const uint32_t *values, size_t count)
{
    array(tree, 'u', values, count, sizeof *values);
}

/* ---------------------------------------------------------------- for convenience */

void kfi_tree_comment(kfi_tree *tree, const char *text)
{
    kfi_tree_braces(tree);
    if (tree->ascii)
        kfi_ascii_comment(tree, text);
}

void kfi_tree_i32_node(kfi_tree *tree, const char *name, int32_t value)
{
    kfi_tree_begin(tree, name);
    kfi_tree_i32(tree, value);
    kfi_tree_end(tree);
}

void kfi_tree_i64_node(kfi_tree *tree, const char *name, int64_t value)
{
    kfi_tree_begin(tree, name);
    kfi_tree_i64(tree, value);
    kfi_tree_end(tree);
}

void kfi_tree_f64_node(kfi_tree *tree, const char *name, double value)
{
    kfi_tree_begin(tree, name);
    kfi_tree_f64(tree, value);
    kfi_tree_end(tree);
}

void kfi_tree_text_node(kfi_tree *tree, const char *name, const char *text)
{
    kfi_tree_begin(tree, name);
    kfi_tree_text(tree, text);
    kfi_tree_end(tree);
}
