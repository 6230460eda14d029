/* SPDX-License-Identifier: MIT */
#include "places/cores.h"

#include <fcntl.h>
#include <hwloc.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

/* Ranks that this node runs, by what the usual launchers say; 1 when they say nothing. */
static long ranks_here(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
                                         "SLURM_TASKS_PER_NODE" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        long n = text ? strtol(text, NULL, 10) : 0;
        if (n > 0)
            return n;
    }
    return 1;
}

/* --- Quotas --- */

/* The first words of a file; false when there is none. */
static bool read_text(const char *path, char *text, size_t size)
{
    int file = base_io_open(path, O_RDONLY, 0);
    ssize_t n = file >= 0 ? base_io_read(file, text, size - 1) : 0;
    text[n > 0 ? n : 0] = '\0';
    if (file >= 0)
        close(file);
    return n > 0;
}

/* "50000 100000" is half a processor, "max 100000" none that limits. */
static double quota_v2(const char *directory)
{
    char path[PATH_MAX + 64], text[128];
    double quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (!read_text(path, text, sizeof text) || sscanf(text, "%lf %lf", &quota, &period) != 2 || quota <= 0 || period <= 0)
        return 0;
    return quota / period;
}

static double quota_v1(const char *directory)
{
    char path[PATH_MAX + 64], quota[64], period[64];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (!read_text(path, quota, sizeof quota) || strtod(quota, NULL) <= 0)
        return 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (!read_text(path, period, sizeof period) || strtod(period, NULL) <= 0)
        return 0;
    return strtod(quota, NULL) / strtod(period, NULL);
}

/* The least quota of a group and of those above it. */
static double quota_up(const char *mount, const char *group, double (*quota)(const char *))
{
    char directory[PATH_MAX];
    double least = 0;
    int n = snprintf(directory, sizeof directory, "%s%s", mount, group);
    size_t bottom = strlen(mount);
    if (n < 0 || (size_t)n >= sizeof directory)
        return 0;
    for (;;) {
        double here = quota(directory);
        if (here > 0 && (least == 0 || here < least))
            least = here;
        char *slash = strrchr(directory, '/');
        if (!slash || (size_t)(slash - directory) < bottom || strlen(directory) <= bottom)
            return least;
        *slash = '\0';
    }
}

/* Whether a line's list of controllers ("cpu,cpuacct") has the processors'. */
static bool has_cpu(const char *list, size_t length)
{
    for (size_t i = 0; i < length; i += strcspn(list + i, ",:") + 1)
        if (strcspn(list + i, ",:") == 3 && strncmp(list + i, "cpu", 3) == 0)
            return true;
    return false;
}

/* One line of /proc/self/cgroup: number:controllers:group. */
static double quota_line(const char *root, const char *line, size_t length)
{
    char mount[PATH_MAX], group[PATH_MAX];
    const char *list = memchr(line, ':', length);
    const char *path = list ? memchr(list + 1, ':', length - (size_t)(list + 1 - line)) : NULL;
    if (!path || (size_t)(line + length - path) >= sizeof group)
        return 0;
    snprintf(group, sizeof group, "%.*s", (int)(line + length - path - 1), path + 1);
    if (strcmp(group, "/") == 0)
        group[0] = '\0';
    if (path == list + 1)
        return quota_up(root, group, quota_v2);
    if (!has_cpu(list + 1, (size_t)(path - list - 1)))
        return 0;
    snprintf(mount, sizeof mount, "%s/cpu", root);
    double inside = quota_up(mount, group, quota_v1);
    return inside > 0 ? inside : quota_v1(mount); /* in a container the group is often not visible by its name */
}

double places_cores_quota(const char *root, const char *self)
{
    double least = 0;
    for (const char *line = self; *line;) {
        size_t length = strcspn(line, "\n");
        double here = quota_line(root, line, length);
        if (here > 0 && (least == 0 || here < least))
            least = here;
        line += length + (line[length] == '\n');
    }
    return least;
}

/* --- Cores --- */

static bool has_hyper_threads(void)
{
    char text[16];
    return read_text("/sys/devices/system/cpu/smt/active", text, sizeof text) && text[0] == '1';
}

/* Cores of the mask, 0 when they cannot be told. */
static unsigned cores_in_mask(void)
{
    hwloc_topology_t topology;
    unsigned cores = 0;
    if (hwloc_topology_init(&topology))
        return 0;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    if (mine && hwloc_topology_load(topology) == 0 && hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_obj_t core = NULL;
        while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)))
            cores += hwloc_bitmap_intersects(core->cpuset, mine) != 0;
    }
    hwloc_bitmap_free(mine);
    hwloc_topology_destroy(topology);
    return cores;
}

double places_cores_share(unsigned *in_mask)
{
    char self[4096];
    cpu_set_t mask;
    long online = sysconf(_SC_NPROCESSORS_ONLN), ranks = ranks_here();
    long mine = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : online;
    *in_mask = mine > 0 ? (unsigned)mine : 1;
    double processors = mine >= online ? (double)mine / (double)ranks : (double)mine;
    double quota = read_text("/proc/self/cgroup", self, sizeof self) ? places_cores_quota("/sys/fs/cgroup", self) : 0;
    if (quota > 0 && quota / (double)ranks < processors)
        processors = quota / (double)ranks;
    return processors < 1 ? 1 : processors;
}

void places_cores(struct places_cores *c)
{
    c->processors = places_cores_share(&c->in_mask);
    unsigned cores = has_hyper_threads() ? cores_in_mask() : 0;
    c->cores = cores ? c->processors * (cores < c->in_mask ? cores : c->in_mask) / c->in_mask : c->processors;
    if (c->cores < 1)
        c->cores = 1;
}
