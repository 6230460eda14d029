/* SPDX-License-Identifier: MIT */
/*
 * A preload in which one allocation fails: STARVE=N, the Nth of malloc, calloc and realloc together, in the program
 * that /proc/self/exe names STARVE_PROGRAM. STARVE_COUNT names a file that is told at the end how many there were.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static _Atomic long seen;
static long victim; /* 0: none of this program's */

static __attribute__((constructor)) void load(void)
{
    char path[PATH_MAX];
    const char *number = getenv("STARVE"), *program = getenv("STARVE_PROGRAM");
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    if (number && program && !strcmp(path, program))
        victim = atol(number);
}

static __attribute__((destructor)) void unload(void)
{
    const char *path = getenv("STARVE_COUNT");
    long count = seen;
    FILE *f = victim && path ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%ld\n", count);
        fclose(f);
    }
}

static int fails(void)
{
    if (!victim || ++seen != victim)
        return 0;
    errno = ENOMEM;
    return 1;
}

API void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

API void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

API void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}
