#ifdef __linux__
#define _DEFAULT_SOURCE /* for madvise */
#include <sys/mman.h>
#endif

#include "pages.h"

#include <stdlib.h>

#ifdef MADV_HUGEPAGE

static void *allocate(size_t size)
{
    void *block;
    if (size < KFI_LARGE_BLOCK)
        return malloc(size);
    if (posix_memalign(&block, KFI_LARGE_PAGE, size) != 0)
        return NULL;
    /* A wish: where it is not granted the pages are small. What is left of the last one stays small anyway. */
    madvise(block, size - size % KFI_LARGE_PAGE, MADV_HUGEPAGE);
    return block;
}

#else
#define allocate malloc
#endif

void *kfi_pages_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return block ? realloc(block, new_size) : allocate(new_size);
}
