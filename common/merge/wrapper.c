/* The node that was written above all others, whose transform turns the game's axes and unit into FBX's. */
#include "internal.h"

#include "names.h"

#include <string.h>

/* ---------------------------------------------------------------- where it is */

static bool hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool has_capsule(const kf_node *node)
{
    for (size_t i = 0; i < node->property_count; i++)
        if (node->properties[i].text && strcmp(node->properties[i].name, KFI_CAPSULE_PROPERTY) == 0)
            return true;
    return false;
}

int32_t kfi_find_wrapper(const kf_anim *edited, char digest[9])
{
    size_t prefix = strlen(KFI_WRAPPER_PREFIX);
    digest[0] = '\0';
    for (size_t i = 0; i < edited->node_count; i++) {
        const char *name = edited->nodes[i].name;
        if (strncmp(name, KFI_WRAPPER_PREFIX, prefix) != 0)
            continue;
        size_t digits = 0;
        while (digits < 8 && hex_digit(name[prefix + digits]))
            digits++;
        char after = name[prefix + digits];
        if (digits == 8 && (after == '\0' || after == '.')) {
            memcpy(digest, name + prefix, 8);
            digest[8] = '\0';
            return (int32_t)i;
        }
    }
    /* Renamed, but with what it carries. */
    for (size_t i = 0; i < edited->node_count; i++)
        if (has_capsule(&edited->nodes[i]))
            return (int32_t)i;
    return -1;
}
