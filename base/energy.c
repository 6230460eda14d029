/* SPDX-License-Identifier: MIT */
#include "base/energy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/lock.h"

enum { COUNTERS = 64 };

struct counter { int fd; uint64_t last, range; };

/* Guarded by lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct counter counter[COUNTERS];
    unsigned count;
    uint64_t sum;
    bool opened;
    char why[256];
} energy;

static bool read_number(int fd, uint64_t *value)
{
    char text[32], *end;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = '\0';
    *value = strtoull(text, &end, 10);
    return end != text;
}

/* "intel-rapl:0" is a package, "intel-rapl:0:1" a part of one; "intel-rapl" the whole mechanism, without a counter. */
static bool wanted(const char *root, const char *zone)
{
    char name[64];
    const char *colon = strchr(zone, ':');
    if (!colon || strstr(zone, "mmio"))
        return false;
    if (!strchr(colon + 1, ':'))
        return true;
    return base_io_text(name, sizeof name, "%s/%s/name", root, zone) && !strcmp(name, "dram\n");
}

static int open_counter(const char *root, const char *zone)
{
    char path[PATH_MAX], range[32];
    struct counter *c = &energy.counter[energy.count];
    if ((size_t)snprintf(path, sizeof path, "%s/%s/energy_uj", root, zone) >= sizeof path)
        return ENAMETOOLONG;
    c->fd = base_io_open(path, O_RDONLY, 0);
    if (c->fd < 0)
        return errno;
    if (!read_number(c->fd, &c->last)) {
        close(c->fd);
        return EIO;
    }
    base_io_text(range, sizeof range, "%s/%s/max_energy_range_uj", root, zone);
    c->range = strtoull(range, NULL, 10);
    energy.count++;
    return 0;
}

static void open_all(const char *root)
{
    DIR *dir = opendir(root);
    int error = 0;
    if (!dir) {
        snprintf(energy.why, sizeof energy.why, "no %s: the kernel or the virtual machine gives no counters", root);
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) && energy.count < COUNTERS;)
        if (wanted(root, e->d_name)) {
            int failed = open_counter(root, e->d_name);
            error = failed ? failed : error;
        }
    closedir(dir);
    if (energy.count)
        snprintf(energy.why, sizeof energy.why, "%u counters in %s", energy.count, root);
    else if (error == EACCES || error == EPERM)
        snprintf(energy.why, sizeof energy.why, "the counters in %s may only be read by root", root);
    else if (error)
        snprintf(energy.why, sizeof energy.why, "the counters in %s cannot be read: %s", root, strerror(error));
    else
        snprintf(energy.why, sizeof energy.why, "no counters in %s", root);
}

bool base_energy_open(const char *root)
{
    const char *given = getenv("PYTHIA_POWERCAP");
    base_lock_take(&lock, BASE_LOCK_ENERGY);
    if (!energy.opened)
        open_all(root ? root : given && *given ? given : "/sys/class/powercap");
    energy.opened = true;
    bool known = energy.count > 0;
    base_lock_release(&lock, BASE_LOCK_ENERGY);
    return known;
}

bool base_energy_known(void)
{
    return energy.count > 0;
}

uint64_t base_energy_now(void)
{
    base_lock_take(&lock, BASE_LOCK_ENERGY);
    for (unsigned i = 0; i < energy.count; i++) {
        struct counter *c = &energy.counter[i];
        uint64_t now;
        if (!read_number(c->fd, &now))
            continue;
        energy.sum += now >= c->last ? now - c->last : now + (c->range > c->last ? c->range - c->last : 0);
        c->last = now;
    }
    uint64_t sum = energy.sum;
    base_lock_release(&lock, BASE_LOCK_ENERGY);
    return sum;
}

const char *base_energy_why(void)
{
    return energy.opened ? energy.why : "not looked for";
}

void base_energy_close(void)
{
    for (unsigned i = 0; i < energy.count; i++)
        close(energy.counter[i].fd);
    memset(&energy, 0, sizeof energy);
}
