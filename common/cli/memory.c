/* Memory for the bytes of whole files, on large pages where the system has them: to fill small ones for the first time
 * takes longer than to read the file. */
#ifdef __linux__
#define _DEFAULT_SOURCE /* for madvise */
#include <sys/mman.h>
#endif

#include "cli.h"

#include <stdlib.h>

void *file_memory(size_t size)
{
#ifdef MADV_HUGEPAGE
    enum { LARGE_PAGE = 2 * 1024 * 1024, LARGE_FILE = 2 * LARGE_PAGE };
    void *memory;
    if (size >= LARGE_FILE && posix_memalign(&memory, LARGE_PAGE, size) == 0) {
        madvise(memory, size - size % LARGE_PAGE, MADV_HUGEPAGE); /* a wish */
        return memory;
    }
#endif
    return need(malloc(size));
}
