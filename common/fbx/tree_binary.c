#include "fbx/tree_parts.h"
#include "writer.h"

static const uint8_t HEADER[23] = "Kaydara FBX Binary  \0\x1a";

/* Where the file's creation time stands encrypted; this one belongs to the time that the scene writer gives.
 */
static const uint8_t FOOTER_ID[16] = {0xfa, 0xbc, 0xab, 0x09, 0xd0, 0xc8, 0xd4, 0x66,
                                      0xb1, 0x76, 0xfb, 0x83, 0x1c, 0xf7, 0x26, 0x7e};
static const uint8_t FOOTER_END[16] = {0xf8, 0x5a, 0x8c, 0x6a, 0xde, 0xf5, 0xd9, 0x7e,
                                       0xec, 0xe9, 0x0c, 0xe3, 0x75, 0x8f, 0x29, 0x0b};
static const uint8_t ZEROS[128];

/* Sizes in node records are of 8 bytes since 7500. */
static size_t field_size(const kfi_tree *tree)
{
    return tree->version >= 7500 ? 8 : 4;
}

static void close_list(kfi_tree *tree)
{
    kfi_tree_bytes(tree, ZEROS, 3 * field_size(tree) + 1);
}

void kfi_binary_header(kfi_tree *tree)
{
    uint8_t version[4];
    kfi_store_u32(version, tree->version);
    kfi_tree_bytes(tree, HEADER, sizeof HEADER);
    kfi_tree_bytes(tree, version, sizeof version);
}

/* The end of the top-level list; the id; zeros up to a multiple of 16, at least one; four more; the version;
 * 120 zeros; the end. */
void kfi_binary_footer(kfi_tree *tree)
{
    uint8_t version[4];
    kfi_store_u32(version, tree->version);
    close_list(tree);
    kfi_tree_bytes(tree, FOOTER_ID, sizeof FOOTER_ID);
    kfi_tree_bytes(tree, ZEROS, 16 - (size_t)(kfi_tree_at(tree) % 16));
    kfi_tree_bytes(tree, ZEROS, 4);
    kfi_tree_bytes(tree, version, sizeof version);
    kfi_tree_bytes(tree, ZEROS, 120);
    kfi_tree_bytes(tree, FOOTER_END, sizeof FOOTER_END);
}

/* The record's sizes stay zero until the node ends. */
void kfi_binary_begin(kfi_tree *tree, const char *name, kfi_tree_level *level)
{
    size_t size = strlen(name), sizes = 3 * field_size(tree);
    if (size > 255) {
        kfi_tree_fail(tree, KF_BAD_ARGUMENT, "the name of an FBX node is too long");
        return;
    }
    uint8_t *room = kfi_tree_room(tree, sizes + 1 + size);
    level->start = kfi_tree_at(tree);
    memset(room, 0, sizes);
    room[sizes] = (uint8_t)size;
    memcpy(room + sizes + 1, name, size);
    tree->used += sizes + 1 + size;
}

void kfi_binary_end(kfi_tree *tree, kfi_tree_level *level)
{
    if (level->braces)
        close_list(tree);
    uint64_t end = kfi_tree_at(tree);
    /* Straight into their place, if the sink has not got that yet. */
    uint8_t aside[24], *sizes = level->start >= tree->flushed ? tree->buffer + (level->start - tree->flushed) : aside;
    if (field_size(tree) == 8) {
        kfi_store_u64(sizes, end);
        kfi_store_u64(sizes + 8, level->value_count);
        kfi_store_u64(sizes + 16, level->value_size);
    } else if (end <= UINT32_MAX) {
        kfi_store_u32(sizes, (uint32_t)end);
        kfi_store_u32(sizes + 4, level->value_count);
        kfi_store_u32(sizes + 8, (uint32_t)level->value_size);
    } else {
        kfi_tree_fail(tree, KF_INEXPRESSIBLE,
                      "an FBX of version 7400 cannot be larger than 4 GiB: use version 7500");
        return;
    }
    if (sizes == aside)
        kfi_tree_patch(tree, level->start, sizes, 3 * field_size(tree));
}

void kfi_binary_number(kfi_tree *tree, char type, uint64_t bits, size_t size)
{
    uint8_t *room = kfi_tree_room(tree, 9);
    room[0] = (uint8_t)type;
    kfi_store_u64(room + 1, bits); /* the low bytes come first */
    tree->used += 1 + size;
}

void kfi_binary_string(kfi_tree *tree, char type, const char *a, size_t a_size, const char *b, size_t b_size)
{
    if (a_size > UINT32_MAX - b_size) {
        kfi_tree_fail(tree, KF_INEXPRESSIBLE, "a text of more than 4 GiB does not fit into an FBX");
        return;
    }
    uint8_t *room = kfi_tree_room(tree, 5);
    room[0] = (uint8_t)type;
    kfi_store_u32(room + 1, (uint32_t)(a_size + b_size));
    tree->used += 5;
    if (a_size > 0)
        kfi_tree_bytes(tree, a, a_size);
    if (b_size > 0)
        kfi_tree_bytes(tree, b, b_size);
}
