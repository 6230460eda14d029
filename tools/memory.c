/* SPDX-License-Identifier: MIT */
/*
 * An allocation that fails ends the command: one line, exit 5, nothing left behind.
 *
 * Libraries of ours return PYTHIA_ENOMEM all the way up, for programs that go on. A command does not, and much of what
 * it calls (argp, cJSON, libdw, stdio) has no way to say it, or takes it for a damaged file, or goes on with less. So
 * there is one place instead of hundreds: malloc, calloc and realloc of this executable stand before everybody's, and
 * pass on to the next ones, libc's or those of a preload.
 *
 * Threads: any.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tools/interrupt.h"
#include "tools/tool.h"

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ALLOCATOR_OF_A_SANITIZER
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define ALLOCATOR_OF_A_SANITIZER
#endif

#ifndef ALLOCATOR_OF_A_SANITIZER

/* No stdio: it may be what wanted the memory. */
static void give_up(void)
{
    static const char line[] = "pythia: out of memory\n";
    static atomic_flag said = ATOMIC_FLAG_INIT;

    interrupt_give_up();
    if (base_log_is_first_rank() && !atomic_flag_test_and_set(&said))
        (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(TOOL_MEMORY);
}

#define EXPORTED __attribute__((visibility("default")))

/* What dlsym() itself needs while the next ones are looked for. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static void *(*next_malloc)(size_t) = __libc_malloc;
static void *(*next_calloc)(size_t, size_t) = __libc_calloc;
static void *(*next_realloc)(void *, size_t) = __libc_realloc;

static void find(const char *name, void *function, size_t size)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found)
        memcpy(function, &found, size);
}

/* One thread so far: the dynamic linker's constructors. */
static void look(void)
{
    static bool looked;

    if (looked)
        return;
    looked = true;
    find("malloc", &next_malloc, sizeof next_malloc);
    find("calloc", &next_calloc, sizeof next_calloc);
    find("realloc", &next_realloc, sizeof next_realloc);
}

EXPORTED void *malloc(size_t size)
{
    look();
    void *block = next_malloc(size);
    if (!block && size)
        give_up();
    return block;
}

EXPORTED void *calloc(size_t count, size_t size)
{
    look();
    void *block = next_calloc(count, size);
    if (!block && count && size)
        give_up();
    return block;
}

EXPORTED void *realloc(void *old, size_t size)
{
    look();
    void *block = next_realloc(old, size);
    if (!block && size)
        give_up();
    return block;
}

#else

typedef int memory_nothing; /* an empty file is not C */

#endif
