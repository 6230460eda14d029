/* SPDX-License-Identifier: MIT */
/* A program's own way to the C library's heap: included, it calls heap_called() with who came there, each time. */
#include <stddef.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t), __libc_free(void *);

static void heap_called(void *caller);

void *malloc(size_t size)
{
    heap_called(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    heap_called(__builtin_return_address(0));
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    heap_called(__builtin_return_address(0));
    return __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    heap_called(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

void free(void *p)
{
    if (p)
        heap_called(__builtin_return_address(0));
    __libc_free(p);
}
