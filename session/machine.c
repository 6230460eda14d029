/* SPDX-License-Identifier: MIT */
/* The machine that a job ran on, as a small tree, and the energy that it used: for the report. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/energy.h"
#include "base/launcher.h"
#include "base/topology.h"
#include "session/internal.h"

struct text { char *at; size_t left; };

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at, t->left, format, arguments);
    va_end(arguments);
    if (n > 0 && (size_t)n < t->left) {
        t->at += n;
        t->left -= (size_t)n;
    } else if (t->left > 0) {
        *t->at = '\0';
    }
}

/* "3 x ", "3 to 5 x ", nothing for one. */
static void add_count(struct text *t, unsigned least, unsigned most)
{
    if (least != most)
        add(t, "%u to %u x ", least, most);
    else if (most > 1)
        add(t, "%u x ", most);
}

static void add_size(struct text *t, uint64_t least, uint64_t most, unsigned level)
{
    const double unit = level == BASE_NODE ? 1 << 30 : 1 << 20;
    const char *name = level == BASE_NODE ? "GiB" : "MiB";
    if (least < most)
        add(t, " of %.4g to %.4g %s", (double)least / unit, (double)most / unit, name);
    else if (most)
        add(t, " of %.4g %s", (double)most / unit, name);
}

/* How many of the k-th level there are in one of the level above, at least and at most. */
static void count_level(const struct base_machine *m, unsigned k, unsigned *least, unsigned *most)
{
    unsigned n = 0;
    *least = UINT_MAX;
    *most = 0;
    for (unsigned i = 0; i <= m->count; i++) {
        unsigned shared = i < m->count ? base_topology_shared(m, i) : 0;
        if (i > 0 && (shared < k || i == m->count)) {
            *least = n < *least ? n : *least;
            *most = n > *most ? n : *most;
            n = 0;
        }
        n += shared <= k;
    }
}

/* A line a level; a level that is not there (no such cache, one processor a core) has none. */
void session_machine_text(const struct base_machine *m, char *text, size_t size)
{
    static const char *const names[] = { "package", "NUMA node", "L3 cache", "core", "processor" };
    struct text t = { text, size };
    unsigned depth = 1;
    text[0] = '\0';
    add(&t, "machine\n");
    for (unsigned k = 0; k <= BASE_LEVELS; k++) {
        unsigned level = k < BASE_LEVELS ? m->order[k] : BASE_LEVELS, least, most;
        uint64_t smallest = UINT64_MAX, largest = 0;
        for (unsigned i = 0; i < m->count && level < BASE_LEVELS; i++) {
            smallest = m->at[i].bytes[level] < smallest ? m->at[i].bytes[level] : smallest;
            largest = m->at[i].bytes[level] > largest ? m->at[i].bytes[level] : largest;
        }
        count_level(m, k, &least, &most);
        if ((level == BASE_CACHE && !largest) || (level == BASE_LEVELS && most <= 1))
            continue;
        add(&t, "%*s", (int)(2 * depth++), "");
        add_count(&t, least, most);
        add(&t, "%s", names[level]);
        add_size(&t, smallest, largest, level);
        add(&t, "\n");
    }
}

static uint32_t describe(struct job *job)
{
    enum { TEXT = 1024 };
    uint32_t tree = GRAMMAR_NONE;
    struct base_machine *m = malloc(sizeof *m + TEXT);
    if (m && base_topology_read("", m)) {
        session_machine_text(m, (char *)(m + 1), TEXT);
        tree = job_string(job, (char *)(m + 1));
    }
    free(m);
    return tree;
}

/* One rank a node. */
static bool reads_energy(void)
{
    long local = base_launcher_local_rank();
    return local >= 0 ? local == 0 : session.world.rank == 0;
}

void session_machine_start(void)
{
    session.energy = reads_energy() && base_energy_open(NULL) ? base_energy_now() : 0;
}

void session_machine_finish(struct job *job, bool kept)
{
    struct job_machine *m = &job->machine;
    bool tells = kept && session.world.rank == 0;
    m->tree = tells ? describe(job) : GRAMMAR_NONE;
    m->energy = tells ? job_string(job, base_energy_why()) : GRAMMAR_NONE;
    if (base_energy_known() && reads_energy()) {
        m->joules = (double)(base_energy_now() - session.energy) * 1e-6;
        m->nodes = 1;
    }
    m->present = m->tree != GRAMMAR_NONE || m->nodes > 0;
}
