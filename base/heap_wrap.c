/* SPDX-License-Identifier: MIT */
/*
 * malloc and its like as the libraries that are loaded into a program call them (linked with --wrap): heap.h's memory
 * where it can be had, the C library's otherwise. Strings and arrays that the C library made for us go back to it.
 * Errors: as the C library's.  Threads: any.
 */
#include <string.h>

#include "base/heap.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    void *block = base_heap_take(size);
    return block ? block : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes;
    void *block = __builtin_mul_overflow(count, size, &bytes) ? NULL : base_heap_take_zeroed(bytes);
    return block ? block : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    if (!block)
        return __wrap_malloc(size);
    if (!base_heap_owns(block))
        return __real_realloc(block, size);
    size_t room = base_heap_size(block);
    if (size <= room && size >= room / 4)
        return block;
    void *moved = __wrap_malloc(size);
    if (moved) {
        memcpy(moved, block, size < room ? size : room);
        base_heap_free(block);
    }
    return moved;
}

void __wrap_free(void *block)
{
    if (base_heap_owns(block))
        base_heap_free(block);
    else
        __real_free(block);
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
