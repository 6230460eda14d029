/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <errno.h>
#include <sys/mman.h>

void *base_pages_resize(void *old, size_t old_size, size_t size)
{
    void *pages = old ? mremap(old, old_size, size, MREMAP_MAYMOVE)
                      : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void base_pages_free(void *pages, size_t size)
{
    int kept = errno;
    if (pages)
        munmap(pages, size);
    errno = kept;
}
