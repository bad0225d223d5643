/* Memory for large animations. What is new from the system costs a fault for each page of it, for large files more
 * than all the rest; where there are larger pages to be had, they are asked for. */
#define _DEFAULT_SOURCE /* madvise */
#include "cli.h"

#include <stdlib.h>
#ifndef _WIN32
#include <sys/mman.h>
#endif

#ifdef MADV_HUGEPAGE
enum { LARGE_PAGE = 2 * 1024 * 1024 };

static void ask_for_large_pages(char *block, size_t size)
{
    size_t before = (LARGE_PAGE - (uintptr_t)block % LARGE_PAGE) % LARGE_PAGE;
    if (size >= before + LARGE_PAGE) /* else none would fit; and that it cannot be had does no harm */
        madvise(block + before, (size - before) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
}
#endif

void *resize_memory(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    block = realloc(block, new_size);
#ifdef MADV_HUGEPAGE
    if (block)
        ask_for_large_pages(block, new_size);
#endif
    return block;
}
