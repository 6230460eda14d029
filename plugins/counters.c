/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters at the ends of CPU bursts: what the processor did between two MPI calls, by callsite.
 *
 *   cc -shared -fPIC -o counters.so counters.c $(pkg-config --cflags pythia)
 *   PYTHIA_PLUGIN=./counters.so mpirun -n 4 pythia record -- ./app;  pythia report app.pythia --view callsites
 *
 *   PYTHIA_COUNTERS   which, with commas; default instructions,cycles,cache-misses,task-clock,page-faults
 *
 *        POST               PRE
 *   MPI --|--- CPU burst ----|-- MPI        the difference is added to the callsite where the burst ends
 *
 * One group of perf_event_open(2) a thread, opened at its first call: all are read by one system call, user space only.
 * What the kernel does not give is said once, and the others are counted; so is a thread whose group it does not open.
 * Where the processor has fewer counters than are asked for by all, the kernel lets groups take turns: a burst's values
 * are scaled to all of its time, and a burst in which the group had no turn is no sample.
 */
#include <pythia.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 8 };

struct counter {
    const char *name;
    uint32_t type;
    uint64_t config;
};

static const struct counter known[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
};
enum { KNOWN = sizeof known / sizeof *known };

/* Those that work here, in the order asked for. */
static struct { const struct counter *counter; int sum; } used[MOST];
static int used_count;
static char missing[256]; /* names, with commas */
static int missing_errno;

/* --- One thread's group --- */

struct values { uint64_t enabled, running, value[MOST]; }; /* ns that it was to count, that it did; what it counted */

struct group {
    int fd[MOST]; /* the first one leads; -1: not open */
    struct values last;
    int state;    /* 0 not tried, 1 counts, -1 does not */
};

static __thread struct group own;
static pthread_key_t at_exit;

static int counter_open(const struct counter *c, int leader)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = c->type,
                                   .config = c->config,
                                   .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC), error = errno;
    int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 100) : -1; /* low ones are the program's */
    if (high >= 0)
        close(fd);
    errno = error;
    return high >= 0 ? high : fd;
}

static void group_close(void *group)
{
    struct group *g = group;
    for (int i = 0; i < used_count; i++)
        if (g->state > 0)
            close(g->fd[i]);
    g->state = -1;
}

/* Each counter of it was there alone: too many files, or too many counters for one group. */
static void say_unopened(const char *name, int error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "pythia: counters: %s: cannot be counted in a thread's group (%s); nothing is counted there\n",
                name, strerror(error));
}

static int group_open(struct group *g)
{
    for (int i = 0; i < used_count; i++) {
        g->fd[i] = counter_open(used[i].counter, i ? g->fd[0] : -1);
        if (g->fd[i] >= 0)
            continue;
        say_unopened(used[i].counter->name, errno);
        while (i > 0)
            close(g->fd[--i]);
        return -1;
    }
    pthread_setspecific(at_exit, g);
    return 1;
}

/* The values now; false where this thread has none. */
static int group_read(struct group *g, struct values *values)
{
    struct { uint64_t count; struct values values; } data;
    size_t size = (3 + (size_t)used_count) * sizeof(uint64_t);
    if (g->state == 0)
        g->state = group_open(g);
    if (g->state < 0 || read(g->fd[0], &data, sizeof data) != (ssize_t)size)
        return 0;
    *values = data.values;
    return 1;
}

/* --- Callbacks --- */

static void say_missing(void)
{
    const char *remedy = missing_errno == EACCES || missing_errno == EPERM
                             ? "; the kernel forbids it: see /proc/sys/kernel/perf_event_paranoid"
                             : "";
    fprintf(stderr, "pythia: counters: %s: not available here (%s)%s%s\n", missing, strerror(missing_errno), remedy,
            used_count ? "; the others are counted" : "; nothing is counted");
}

static void burst_ends(const struct pythia_record *r, void *data)
{
    struct values now;
    int began = own.state > 0;
    (void)data;
    if (!group_read(&own, &now) || !began)
        return;
    uint64_t running = now.running - own.last.running;
    double scale = running ? (double)(now.enabled - own.last.enabled) / (double)running : 0;
    for (int i = 0; i < used_count && running; i++)
        pythia_sum_add(r, used[i].sum, (uint64_t)((double)(now.value[i] - own.last.value[i]) * scale + 0.5));
}

static void burst_begins(const struct pythia_record *r, void *data)
{
    (void)r;
    (void)data;
    group_read(&own, &own.last);
}

/* --- Choosing --- */

static const struct counter *find(const char *name)
{
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

static void use(const struct counter *c)
{
    int fd = counter_open(c, -1);
    if (fd < 0) {
        missing_errno = errno;
        size_t length = strlen(missing);
        snprintf(missing + length, sizeof missing - length, "%s%s", length ? ", " : "", c->name);
        return;
    }
    close(fd);
    int sum = used_count < MOST ? pythia_sum_define(c->name) : -1;
    if (sum >= 0) {
        used[used_count].counter = c;
        used[used_count++].sum = sum;
    }
}

/* An unknown name is said with those that are known; the others are used. */
static void choose(char *list, int say)
{
    for (char *name; (name = strsep(&list, ","));) {
        const struct counter *c = find(name);
        if (c) {
            use(c);
            continue;
        }
        if (say)
            fprintf(stderr, "pythia: counters: PYTHIA_COUNTERS: '%s' is not one of:", name);
        for (int i = 0; i < KNOWN && say; i++)
            fprintf(stderr, " %s%s", known[i].name, i + 1 < KNOWN ? "," : "\n");
    }
}

int pythia_plugin_open(uint32_t version, uint32_t rank)
{
    const char *asked = getenv("PYTHIA_COUNTERS");
    char *list = strdup(asked && *asked ? asked : "instructions,cycles,cache-misses,task-clock,page-faults");
    if (version != PYTHIA_PLUGIN_VERSION || !list || pthread_key_create(&at_exit, group_close) != 0) {
        free(list);
        return 1;
    }
    choose(list, rank == 0);
    free(list);
    if (*missing && rank == 0)
        say_missing();
    if (!used_count)
        return 0;
    int error = pythia_callback_register("all", PYTHIA_PRE, burst_ends, NULL);
    return error ? error : pythia_callback_register("all", PYTHIA_POST, burst_begins, NULL);
}
