/* SPDX-License-Identifier: MIT */
#include "base/processors.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/launcher.h"

/* The first words of a file; false when there is none. */
/* "50000 100000" is half a processor, "max 100000" none that limits. */
static double quota_v2(const char *directory)
{
    char text[128];
    double quota, period;
    if (!base_io_text(text, sizeof text, "%s/cpu.max", directory) || sscanf(text, "%lf %lf", &quota, &period) != 2 ||
        quota <= 0 || period <= 0)
        return 0;
    return quota / period;
}

static double quota_v1(const char *directory)
{
    char quota[64], period[64];
    if (!base_io_text(quota, sizeof quota, "%s/cpu.cfs_quota_us", directory) || strtod(quota, NULL) <= 0 ||
        !base_io_text(period, sizeof period, "%s/cpu.cfs_period_us", directory) || strtod(period, NULL) <= 0)
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

double base_processors_quota(const char *root, const char *self)
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

double base_processors_quota_here(void)
{
    char self[4096];
    return base_io_text(self, sizeof self, "/proc/self/cgroup") ? base_processors_quota("/sys/fs/cgroup", self) : 0;
}

double base_processors_share(unsigned *in_mask)
{
    cpu_set_t mask;
    long online = sysconf(_SC_NPROCESSORS_ONLN), ranks = base_launcher_local_ranks();
    long mine = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : online;
    if (ranks < 1)
        ranks = 1;
    *in_mask = mine > 0 ? (unsigned)mine : 1;
    double processors = mine >= online ? (double)mine / (double)ranks : (double)mine;
    double quota = base_processors_quota_here();
    if (quota > 0 && quota / (double)ranks < processors)
        processors = quota / (double)ranks;
    return processors < 1 ? 1 : processors;
}
