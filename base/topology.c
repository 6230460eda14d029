/* SPDX-License-Identifier: MIT */
#include "base/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"

bool base_topology_list(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (char *end; *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end) {
        unsigned long first = strtoul(text, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (unsigned long i = first; i <= last && i < CPU_SETSIZE; i++)
            CPU_SET(i, set);
    }
    return CPU_COUNT(set) > 0;
}

static int first_of(const cpu_set_t *set)
{
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, set))
            return i;
    return -1;
}

/* The processors that share `what` with processor i: itself where that is not told. */
static bool sharing(const char *root, int i, const char *what, cpu_set_t *set)
{
    char text[4096];
    if (base_io_text(text, sizeof text, "%s/sys/devices/system/cpu/cpu%d/%s", root, i, what) &&
        base_topology_list(text, set))
        return true;
    CPU_ZERO(set);
    CPU_SET(i, set);
    return false;
}

unsigned base_topology_cores(const char *root, const cpu_set_t *set)
{
    unsigned cores = 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        cpu_set_t core;
        if (!CPU_ISSET(i, set))
            continue;
        if (!sharing(root, i, "topology/thread_siblings_list", &core))
            return 0;
        CPU_AND(&core, &core, set);
        cores += first_of(&core) == i;
    }
    return cores;
}

/* A line of /proc/self/cgroup, number:controllers:group, of the group that says which processors there are. */
static bool allowed_by(const char *root, const char *line, size_t length, char *text, size_t size)
{
    const char *list = memchr(line, ':', length);
    const char *group = list ? memchr(list + 1, ':', length - (size_t)(list + 1 - line)) : NULL;
    if (!group)
        return false;
    int n = (int)(line + length - ++group);
    if (group == list + 2)
        return base_io_text(text, size, "%s/sys/fs/cgroup%.*s/cpuset.cpus.effective", root, n, group);
    return strncmp(list, ":cpuset:", 8) == 0 &&
           (base_io_text(text, size, "%s/sys/fs/cgroup/cpuset%.*s/cpuset.effective_cpus", root, n, group) ||
            base_io_text(text, size, "%s/sys/fs/cgroup/cpuset/cpuset.effective_cpus", root));
}

/* Processors that are there and that the control group may use; false where the machine does not tell. */
static bool allowed(const char *root, cpu_set_t *set)
{
    char text[4096], groups[4096];
    if (!base_io_text(text, sizeof text, "%s/sys/devices/system/cpu/online", root) || !base_topology_list(text, set))
        return false;
    if (!base_io_text(groups, sizeof groups, "%s/proc/self/cgroup", root))
        return true;
    for (const char *line = groups; *line;) {
        size_t length = strcspn(line, "\n");
        cpu_set_t own;
        if (allowed_by(root, line, length, text, sizeof text) && base_topology_list(text, &own))
            CPU_AND(set, set, &own);
        line += length + (line[length] == '\n');
    }
    return CPU_COUNT(set) > 0;
}

static void read_processor(const char *root, int i, const cpu_set_t *here, struct base_processor *p)
{
    static const char *const what[BASE_LEVELS] = {
        [BASE_PACKAGE] = "topology/core_siblings_list", [BASE_CORE] = "topology/thread_siblings_list",
        [BASE_CACHE] = "cache/index3/shared_cpu_list",
    };
    cpu_set_t set;
    *p = (struct base_processor){ .number = (uint16_t)i };
    for (unsigned level = 0; level < BASE_LEVELS; level++)
        if (what[level]) {
            (void)sharing(root, i, what[level], &set);
            CPU_AND(&set, &set, here);
            p->first[level] = (uint16_t)(CPU_ISSET(i, &set) ? first_of(&set) : i);
        }
}

/* All of one node where there are none. */
static void read_nodes(const char *root, const cpu_set_t *here, struct base_machine *m)
{
    char text[4096];
    cpu_set_t nodes, set;
    for (unsigned i = 0; i < m->count; i++)
        m->at[i].first[BASE_NODE] = m->at[0].number;
    if (!base_io_text(text, sizeof text, "%s/sys/devices/system/node/online", root) ||
        !base_topology_list(text, &nodes))
        return;
    for (int n = 0; n < CPU_SETSIZE; n++) {
        if (!CPU_ISSET(n, &nodes) ||
            !base_io_text(text, sizeof text, "%s/sys/devices/system/node/node%d/cpulist", root, n)
            || !base_topology_list(text, &set))
            continue;
        CPU_AND(&set, &set, here);
        for (unsigned i = 0; i < m->count; i++)
            if (CPU_ISSET(m->at[i].number, &set)) {
                m->at[i].first[BASE_NODE] = (uint16_t)first_of(&set);
                m->at[i].node = (uint16_t)n;
            }
    }
}

static bool before(const struct base_machine *m, const struct base_processor *x, const struct base_processor *y)
{
    for (unsigned k = 0; k < BASE_LEVELS; k++) {
        unsigned level = m->order[k];
        if (x->first[level] != y->first[level])
            return x->first[level] < y->first[level];
    }
    return x->number < y->number;
}

static unsigned distinct(const struct base_machine *m, unsigned level)
{
    unsigned n = 0;
    for (unsigned i = 0; i < m->count; i++)
        n += m->at[i].first[level] == m->at[i].number;
    return n;
}

/* Levels by how many there are: a cache may be wider than a node, or narrower. By hand, for qsort(3) may allocate. */
void base_topology_sort(struct base_machine *m)
{
    for (unsigned k = 0; k < BASE_LEVELS; k++) {
        unsigned place = k;
        for (; place > 0 && distinct(m, m->order[place - 1]) > distinct(m, k); place--)
            m->order[place] = m->order[place - 1];
        m->order[place] = k;
    }
    for (unsigned i = 1, at; i < m->count; i++) {
        struct base_processor p = m->at[i];
        for (at = i; at > 0 && before(m, &p, &m->at[at - 1]); at--)
            m->at[at] = m->at[at - 1];
        m->at[at] = p;
    }
}

bool base_topology_read(const char *root, struct base_machine *m)
{
    cpu_set_t here;
    m->count = 0;
    if (!allowed(root, &here))
        return false;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &here))
            read_processor(root, i, &here, &m->at[m->count++]);
    read_nodes(root, &here, m);
    base_topology_sort(m);
    return true;
}
