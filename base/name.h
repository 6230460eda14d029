/* SPDX-License-Identifier: MIT */
/* A path without its directory; libc's basename() may be the program's own.  Threads: any.  Hook-safe: yes. */
#pragma once

#include <stddef.h>
#include <string.h>

static inline const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The one of `names` that the file's name begins with; NULL: none. */
static inline const char *base_name_begins(const char *path, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strncmp(base_name(path), names[i], strlen(names[i])))
            return names[i];
    return NULL;
}
