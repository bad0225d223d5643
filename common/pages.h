/* The memory that stands for malloc's where a caller gives no allocator of its own. */
#ifndef KFI_PAGES_H
#define KFI_PAGES_H

#include <stddef.h>

/* What the usual machines have, and the smallest block that gets them: of less too little would lie on whole ones. */
enum { KFI_LARGE_PAGE = 2 * 1024 * 1024, KFI_LARGE_BLOCK = 2 * KFI_LARGE_PAGE };

/* As kf_allocator.resize, with malloc, realloc and free. Large blocks lie on large pages where the system has them: to
 * fill a small page for the first time can cost as much as to convert what is put there. */
void *kfi_pages_resize(void *user, void *block, size_t old_size, size_t new_size);

#endif
