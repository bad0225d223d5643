#include "fbx/tree_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_LENGTH = 2000,
    NUMBER_SIZE = 40
}; /* arrays are broken into lines of about that many characters */

static void put(kfi_tree *tree, const char *text)
{
    kfi_tree_bytes(tree, text, strlen(text));
}

static void indent(kfi_tree *tree, unsigned depth)
{
    static const char tabs[KFI_TREE_DEPTH + 1] =
        "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
    kfi_tree_bytes(tree, tabs, depth);
}

void kfi_ascii_header(kfi_tree *tree)
{
    char text[128];
    snprintf(text, sizeof text, "; FBX %u.%u.%u project file\n; %s\n\n", (unsigned)(tree->version / 1000),
             (unsigned)(tree->version / 100 % 10), (unsigned)(tree->version / 10 % 10),
             "----------------------------------------------------");
    put(tree, text);
}

void kfi_ascii_comment(kfi_tree *tree, const char *text)
{
    put(tree, "\n");
    indent(tree, tree->depth);
    put(tree, "; ");
    put(tree, text);
    put(tree, "\n\n");
}

void kfi_ascii_begin(kfi_tree *tree, const char *name)
{
    indent(tree, tree->depth);
    put(tree, name);
    put(tree, ": ");
}

void kfi_ascii_braces(kfi_tree *tree)
{
    put(tree, " {\n");
}

/* Called with the depth of the node's parent. */
void kfi_ascii_end(kfi_tree *tree, kfi_tree_level *level)
{
    if (level->braces) {
        indent(tree, tree->depth);
        put(tree, "}");
    }
    put(tree, "\n");
}

/* ---------------------------------------------------------------- numbers */

static size_t print_integer(int64_t value, char text[NUMBER_SIZE])
{
    char digits[NUMBER_SIZE];
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t count = 0, size = 0;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        text[size++] = '-';
    while (count > 0)
        text[size++] = digits[--count];
    return size;
}

/* With as few digits as tell the number apart from all others, if that is few. */
static size_t print_number(double value, bool single, char text[NUMBER_SIZE])
{
    int64_t whole = value > -1e15 && value < 1e15 ? (int64_t)value : 0;
    if (whole != 0 && (double)whole == value)
        return print_integer(whole, text);
    char raw[NUMBER_SIZE];
    snprintf(raw, sizeof raw, "%.*g", single ? 7 : 15, value);
    double back = strtod(raw, NULL);
    if (single ? (float)back != (float)value : back != value)
        snprintf(raw, sizeof raw, "%.*g", single ? 9 : 17, value);
    /* The locale's decimal point may be anything, of several bytes too. */
    size_t size = 0;
    bool point = false;
    for (const char *p = raw; *p; p++) {
        bool ours = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        if (ours || !point)
            text[size++] = ours ? *p : '.';
        point = !ours;
    }
    return size;
}

static void comma(kfi_tree *tree, const char *text)
{
    if (tree->levels[tree->depth - 1].value_count > 1)
        put(tree, text);
}

void kfi_ascii_char(kfi_tree *tree, char value)
{
    comma(tree, ",");
    kfi_tree_bytes(tree, &value, 1);
}

void kfi_ascii_integer(kfi_tree *tree, int64_t value)
{
    char text[NUMBER_SIZE];
    comma(tree, ",");
    kfi_tree_bytes(tree, text, print_integer(value, text));
}

void kfi_ascii_number(kfi_tree *tree, double value, bool single)
{
    char text[NUMBER_SIZE];
    comma(tree, ",");
    kfi_tree_bytes(tree, text, print_number(value, single, text));
}

/* ---------------------------------------------------------------- text */

/* Whether a reader would take an '&' of the text for the beginning of one of these. */
static bool is_escape(const char *text, size_t size)
{
    static const char *const escapes[] = {"&quot;", "&lf;", "&cr;"};
    for (int i = 0; i < 3; i++)
        if (size >= strlen(escapes[i]) && memcmp(text, escapes[i], strlen(escapes[i])) == 0)
            return true;
    return false;
}

static void put_escaped(kfi_tree *tree, const char *text, size_t size)
{
    size_t plain = 0; /* where what is not yet put out begins */
    for (size_t i = 0; i < size; i++) {
        const char *instead = text[i] == '"'    ? "&quot;"
                              : text[i] == '\n' ? "&lf;"
                              : text[i] == '\r' ? "&cr;"
                              : text[i] == '\0' ? " "
                                                : NULL;
        if (text[i] == '\0' || (text[i] == '&' && is_escape(text + i, size - i)))
            tree->text_bent = true;
        if (instead) {
            kfi_tree_bytes(tree, text + plain, i - plain);
            put(tree, instead);
            plain = i + 1;
        }
    }
    kfi_tree_bytes(tree, text + plain, size - plain);
}

void kfi_ascii_string(kfi_tree *tree, const char *a, size_t a_size, const char *b, size_t b_size)
{
    comma(tree, ", ");
    put(tree, "\"");
    put_escaped(tree, a, a_size);
    put_escaped(tree, b, b_size);
    put(tree, "\"");
}

/* ---------------------------------------------------------------- arrays */

static size_t print_item(char type, const void *values, size_t i, char text[NUMBER_SIZE])
{
    switch (type) {
    case 'i':
        return print_integer(((const int32_t *)values)[i], text);
    case 'l':
        return print_integer(((const int64_t *)values)[i], text);
    case 'f':
        return print_number((double)((const float *)values)[i], true, text);
    case 'd':
        return print_number(((const double *)values)[i], false, text);
    case 'u': {
        uint32_t bits = ((const uint32_t *)values)[i];
        return print_integer(bits & 0x80000000u ? (int64_t)bits - 0x100000000 : (int64_t)bits, text);
    }
    default:
        return print_integer(((const uint8_t *)values)[i], text);
    }
}

void kfi_ascii_array(kfi_tree *tree, char type, const void *values, size_t count)
{
    char text[NUMBER_SIZE];
    put(tree, "*");
    kfi_tree_bytes(tree, text, print_integer((int64_t)count, text));
    put(tree, " {\n");
    indent(tree, tree->depth);
    put(tree, "a: ");
    uint64_t line = kfi_tree_at(tree);
    for (size_t i = 0; i < count; i++) {
        size_t size = print_item(type, values, i, text);
        if (i + 1 < count)
            text[size++] = ',';
        kfi_tree_bytes(tree, text, size);
        if (i + 1 < count && kfi_tree_at(tree) - line >= LINE_LENGTH) {
            put(tree, "\n");
            line = kfi_tree_at(tree);
        }
    }
    put(tree, "\n");
    indent(tree, tree->depth - 1);
    put(tree, "}");
}
