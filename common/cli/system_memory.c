/* Large blocks in large pages. A system hands out memory in pages of 4 KiB and clears each when it is first touched:
 * for the hundreds of MB of a large animation that took as long as the rest of the work. */
#define _DEFAULT_SOURCE /* madvise */

#include "system.h"

#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/mman.h>
#endif

#ifdef MADV_HUGEPAGE
/* NULL if there is no memory. Whether there are large pages is the system's affair. */
static void *in_large_pages(size_t size)
{
    enum { PAGE = 2 * 1024 * 1024 };
    void *block;
    if (posix_memalign(&block, size >= PAGE ? PAGE : sizeof block, size) != 0)
        return NULL;
    if (size >= PAGE)
        madvise(block, size / PAGE * PAGE, MADV_HUGEPAGE); /* the rest would be cleared for nothing */
    return block;
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
#ifdef MADV_HUGEPAGE
    if (!block)
        return in_large_pages(new_size);
#endif
    return realloc(block, new_size);
}
