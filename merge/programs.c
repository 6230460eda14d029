/* SPDX-License-Identifier: MIT */
#include "merge/programs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pythia.h"

static const char between[] = " : ";

/* The end of the first command line of a list. */
static const char *end_of(const char *list)
{
    const char *end = strstr(list, between);
    return end ? end : list + strlen(list);
}

static const char *next_of(const char *end)
{
    return *end ? end + sizeof between - 1 : end;
}

static bool has(const char *list, const char *one, size_t length)
{
    for (const char *end; *list; list = next_of(end)) {
        end = end_of(list);
        if ((size_t)(end - list) == length && !memcmp(list, one, length))
            return true;
    }
    return false;
}

int merge_programs(struct job *into, const struct job *from, uint32_t *arguments)
{
    char text[4096];
    const char *own = job_text(into, into->info.arguments), *theirs = job_text(from, from->info.arguments);
    bool both = *own && *job_text(into, into->info.program);
    bool other = both && !job_is_of(into, job_text(from, from->info.program));
    *arguments = into->info.arguments;
    if (!both || (!other && !*end_of(theirs))) /* ranks of one program may have arguments of their own */
        return 0;
    size_t used = (size_t)snprintf(text, sizeof text, "%s", own), begin = used;
    for (const char *one = other ? theirs : next_of(end_of(theirs)), *end; *one && used < sizeof text;
         one = next_of(end)) {
        size_t length = (size_t)((end = end_of(one)) - one);
        if (!has(text, one, length) && used + sizeof between + length <= sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", between, (int)length, one);
    }
    *arguments = used > begin ? job_string(into, text) : *arguments;
    return used > begin && *arguments == GRAMMAR_NONE ? PYTHIA_ENOMEM : 0;
}
