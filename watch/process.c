/* SPDX-License-Identifier: MIT */
#include "watch/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

void watch_process_read(uint32_t pid, struct watch_process *p)
{
    char text[1024], state;
    unsigned long long user, system, start, used = 0, delayed = 0;
    *p = (struct watch_process){.state = 'X'};
    base_io_text(text, sizeof text, "/proc/%u/stat", pid);
    const char *after = strrchr(text, ')'); /* the name may have blanks and brackets */
    if (!after || sscanf(after, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu",
                         &state, &user, &system, &start) != 4)
        return;
    base_io_text(text, sizeof text, "/proc/%u/schedstat", pid);
    (void)sscanf(text, "%llu %llu", &used, &delayed);
    *p = (struct watch_process){state, user + system, start, used, delayed};
}

bool watch_process_starves(const struct watch_process *p, const struct watch_process *before, uint64_t ns)
{
    uint64_t used = p->used_ns - before->used_ns, delayed = p->delayed_ns - before->delayed_ns;
    bool waits = delayed > ns / 2 || (p->state == 'R' && before->state == 'R' && !used); /* counted when that ends */
    return p->used_ns && p->start == before->start && ((used < ns / 100 && waits) || delayed > ns / 2 * 3);
}

uint64_t watch_process_idle(const struct watch_process *p, struct watch_used *u, uint64_t now)
{
    if (u->start != p->start || u->ticks != p->ticks)
        *u = (struct watch_used){p->start, p->ticks, now};
    return now - u->since;
}

void watch_process_command(char *text, size_t size)
{
    size_t n = base_io_text(text, size, "/proc/self/cmdline");
    for (size_t i = 0; i + 1 < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
}

void watch_process_file(const char *file, char *text, size_t size)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    char *directory = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    char *whole = directory ? realpath(directory, NULL) : NULL;
    if (whole)
        snprintf(text, size, "%s/%s", strcmp(whole, "/") ? whole : "", name);
    else
        snprintf(text, size, "%s", file);
    free(whole);
    free(directory);
}

uint64_t watch_process_space(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}
