/* SPDX-License-Identifier: MIT */
/*
 * Which processors this rank's threads may use, as the program has bound them by the end: those that make calls or work
 * in a team, where there are such; and how busy these processors were meanwhile, by whom.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/launcher.h"
#include "base/threads.h"
#include "base/topology.h"
#include "job/binding.h"
#include "session/internal.h"

enum { THREADS = 1024, TEXT = 4096, MACHINE_TEXT = 1 << 13 };

/* "0-3,8"; how many bytes, 0: it is longer. */
static size_t list_text(const cpu_set_t *set, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0, last; i < CPU_SETSIZE && used < size; i = last + 1) {
        for (last = i; last + 1 < CPU_SETSIZE && CPU_ISSET(i, set) && CPU_ISSET(last + 1, set); last++)
            ;
        if (CPU_ISSET(i, set))
            used += (size_t)snprintf(text + used, size - used, last > i ? "%s%d-%d" : "%s%d", used ? "," : "", i, last);
    }
    return used < size ? used : 0;
}

/* --- Each thread's --- */

struct bound { cpu_set_t all; char each[TEXT]; size_t used; uint32_t threads; bool differ; };

static void add_thread(struct bound *b, const cpu_set_t *one)
{
    b->differ |= b->threads && !CPU_EQUAL(&b->all, one);
    CPU_OR(&b->all, &b->all, one);
    if (b->threads++ && b->used && b->used + 2 < TEXT)
        b->each[b->used++] = ';';
    size_t more = list_text(one, b->each + b->used, TEXT - b->used);
    b->used = more && (b->used || b->threads == 1) ? b->used + more : 0; /* all or nothing */
}

/* Those that compute; where nobody does, as far as is known, all. */
static void add_threads(struct bound *b)
{
    pid_t thread[THREADS];
    cpu_set_t one;
    uint32_t count = base_threads(thread, THREADS);
    for (int all = 0; all < 2 && !b->threads; all++)
        for (uint32_t i = 0; i < count; i++)
            if ((all || session_samples_computes(thread[i])) && !sched_getaffinity(thread[i], sizeof one, &one))
                add_thread(b, &one);
}

/* --- How busy processors are --- */

static struct { uint64_t busy[CPU_SETSIZE], own, at; } begin;

/* ns that each has run something so far; 0 where that is not known. */
static void read_busy(uint64_t busy[CPU_SETSIZE])
{
    static char text[1 << 17]; /* that of the processors comes first */
    uint64_t each[8], ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    unsigned number;
    memset(busy, 0, CPU_SETSIZE * sizeof *busy);
    (void)base_io_text(text, sizeof text, "/proc/stat");
    for (const char *at = strstr(text, "\ncpu"); at; at = strstr(at + 1, "\ncpu"))
        if (sscanf(at, "\ncpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                   &number, &each[0], &each[1], &each[2], &each[3], &each[4], &each[5], &each[6]) == 8 &&
            number < CPU_SETSIZE) /* user, nice, system; idle, waiting for a device; interrupts */
            busy[number] = (each[0] + each[1] + each[2] + each[5] + each[6]) * ns;
}

/* Of this process and of those that it started. */
static uint64_t read_own(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return base_clock_process() + (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000;
}

void session_binding_start(void)
{
    read_busy(begin.busy);
    begin.own = read_own();
    begin.at = base_clock_system();
}

static void fill_busy(struct job_binding *b, const cpu_set_t *set)
{
    static uint64_t busy[CPU_SETSIZE];
    read_busy(busy);
    b->own_ns = read_own() - begin.own;
    b->wall_ns = base_clock_system() - begin.at;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, set) && busy[i] > begin.busy[i])
            b->busy_ns += busy[i] - begin.busy[i];
}

/* --- What this node is --- */

/* "0,64;1,65": of the processors, those that share what is numbered so; how many bytes, 0: it is longer. */
static size_t groups_text(const struct base_machine *m, int (*group)(const struct base_processor *), char *text)
{
    size_t used = 0;
    for (unsigned i = 0, k; i < m->count && used < MACHINE_TEXT; i++) {
        for (k = 0; k < i && group(&m->at[k]) != group(&m->at[i]); k++)
            ;
        for (unsigned n = i; k == i && n < m->count && used < MACHINE_TEXT; n++) /* the first of its group: all of it */
            if (group(&m->at[n]) == group(&m->at[i]))
                used += (size_t)snprintf(text + used, MACHINE_TEXT - used, "%s%u", n > i ? "," : used ? ";" : "",
                                         m->at[n].number);
    }
    return used < MACHINE_TEXT ? used : 0;
}

static int core_of(const struct base_processor *p)
{
    return p->first[BASE_CORE];
}

static int node_of(const struct base_processor *p)
{
    return p->node;
}

/* By the first rank of each node, where there are several. */
static int add_host(struct job *job)
{
    static struct base_machine machine;
    static char cores[MACHINE_TEXT], memory[MACHINE_TEXT];
    if (base_launcher_local_rank() != 0 || base_launcher_local_ranks() >= (long)session.world.ranks ||
        !base_topology_read("", &machine) || !groups_text(&machine, core_of, cores) ||
        !groups_text(&machine, node_of, memory))
        return 0;
    return job_host_add(job, session.world.rank, cores, memory);
}

int session_binding_finish(struct job *job)
{
    static struct bound b;
    char text[TEXT];
    b = (struct bound){ .threads = 0 };
    add_threads(&b);
    if (!list_text(&b.all, text, sizeof text))
        return 0;
    struct job_binding row = { .threads = job->info.threads };
    fill_busy(&row, &b.all);
    b.each[b.used] = '\0';
    int error = job_binding_add(job, session.world.rank, text, b.differ && b.used ? b.each : NULL, &row);
    return error ?: add_host(job);
}
