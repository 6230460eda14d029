/* SPDX-License-Identifier: MIT */
/* Which processors this process's threads may use, all together, as the program has bound them by the end. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "job/binding.h"
#include "session/internal.h"

enum { THREADS = 1024, TEXT = 4096 };

/* As getdents64(2) has it. */
struct entry { uint64_t inode; int64_t next; uint16_t size; uint8_t type; char name[]; };

static void add_thread(cpu_set_t *all, const char *name)
{
    cpu_set_t one;
    if (*name != '.' && !sched_getaffinity(atoi(name), sizeof one, &one))
        CPU_OR(all, all, &one);
}

/* Without opendir(), which comes to the program's heap: it is over. */
static void add_threads(cpu_set_t *all)
{
    _Alignas(struct entry) char room[4096];
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), threads = 0;
    long size;
    if (fd < 0)
        return;
    fd = base_io_raise(fd);
    while (threads < THREADS && (size = syscall(SYS_getdents64, fd, room, sizeof room)) > 0)
        for (long at = 0; at < size && threads < THREADS; threads++) {
            const struct entry *e = (const struct entry *)(room + at);
            add_thread(all, e->name);
            at += e->size;
        }
    close(fd);
}

/* "0-3,8"; false: it is longer. */
static bool list_text(const cpu_set_t *set, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0, last; i < CPU_SETSIZE && used < size; i = last + 1) {
        for (last = i; last + 1 < CPU_SETSIZE && CPU_ISSET(i, set) && CPU_ISSET(last + 1, set); last++)
            ;
        if (CPU_ISSET(i, set))
            used += (size_t)snprintf(text + used, size - used, last > i ? "%s%d-%d" : "%s%d", used ? "," : "", i, last);
    }
    return used > 0 && used < size;
}

int session_binding_finish(struct job *job)
{
    cpu_set_t all;
    char text[TEXT];
    CPU_ZERO(&all);
    add_threads(&all);
    return list_text(&all, text, sizeof text) ? job_binding_add(job, session.world.rank, text, job->info.threads) : 0;
}
