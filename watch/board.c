/* SPDX-License-Identifier: MIT */
/* The writer's side: making, naming and removing the board, and what changes seldom in it. */
#include "watch/board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/modules.h"
#include "watch/process.h"
#include "watch/read.h"

struct watch_board *_Atomic watch_board_here;

static struct {
    char path[WATCH_PATH]; /* "": no file */
    pid_t process;
    uint64_t modules_seen;
} board;

enum { FIRST_TOLD = 100000000 }; /* ns */
#define FIRST_SEASON UINT64_C(2000000000) /* ns */

static struct watch_comm board_nobody;

/* --- The file --- */

/* Makes it new; MAP_FAILED with errno, and nothing is left. */
static struct watch_board *board_map(void)
{
    struct watch_board *b = MAP_FAILED;
    struct base_io_hush h;
    int f = base_io_open(board.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), error = errno;
    base_io_hush(&h); /* a limit of file size: no signal. A full file system: no SIGBUS later */
    if (f >= 0 && !(error = posix_fallocate(f, 0, sizeof *b))) {
        b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
        error = errno;
    }
    base_io_unhush(&h);
    if (f >= 0)
        close(f);
    if (f >= 0 && b == MAP_FAILED)
        unlink(board.path);
    if (b == MAP_FAILED)
        board.path[0] = '\0';
    errno = error;
    return b;
}

static void board_fill(struct watch_board *b, const struct watch_life *life, uint64_t job)
{
    struct watch_process own;
    (void)watch_process_read((uint32_t)getpid(), &own);
    b->version = WATCH_VERSION;
    b->size = sizeof *b;
    b->job = job;
    b->began = base_clock_now();
    b->started = (uint64_t)time(NULL);
    b->pid = (uint32_t)getpid();
    b->pid_start = own.start;
    b->pid_space = watch_process_space();
    b->uid = (uint32_t)geteuid();
    b->rank = life->rank;
    b->ranks = life->ranks;
    b->predicts = life->predicts;
    b->any = b->null = WATCH_NOBODY;
    b->source = b->dest = WATCH_NOBODY;
    b->season_ns = FIRST_SEASON;
    b->told_ns = FIRST_TOLD;
    b->next_season = b->began + b->season_ns;
    atomic_store(&b->since, b->began << 1);
    (void)gethostname(b->node, sizeof b->node - 1);
    watch_process_file(life->file, b->file, sizeof b->file);
    watch_process_command(b->command, sizeof b->command);
}

void watch_board_open(const struct watch_life *life)
{
    uint64_t job = life->job ? life->job : (uint64_t)getpid() << 40 ^ base_clock_system();
    if (life->rank == 0)
        watch_sweep();
    watch_path(board.path, job, life->rank);
    struct watch_board *b = board_map();
    if (b == MAP_FAILED) {
        if (base_launcher_local_rank() <= 0) /* the others of the node cannot write there either */
            base_log_warn("no board for pythia watch: %s: %s", WATCH_DIRECTORY, strerror(errno));
        return;
    }
    board.process = getpid();
    board.modules_seen = 0;
    board_fill(b, life, job);
    watch_board_here = b;
    watch_board_modules();
    atomic_thread_fence(memory_order_release);
    b->magic = WATCH_MAGIC;
}

void watch_board_mpi(int any, int null, const struct watch_call *calls, size_t count)
{
    struct watch_board *b = watch_board_here;
    if (!b)
        return;
    b->any = any;
    b->null = null;
    b->calls_at = (uint64_t)(uintptr_t)calls;
    for (b->calls = 0; b->calls < count && b->calls < WATCH_CALLS; b->calls++)
        memcpy(&b->of[b->calls], &calls[b->calls], sizeof *b->of);
}

void watch_board_unlink(void)
{
    if (board.path[0] && getpid() == board.process)
        unlink(board.path);
}

void watch_board_close(void)
{
    watch_board_unlink();
    board.path[0] = '\0';
    watch_board_here = NULL;
}

void watch_board_way(struct watch_board *b, const void *slot, const void *first, void *const *frames, uint32_t count)
{
    size_t n = slot ? (size_t)((const char *)slot - (const char *)first) / WATCH_WAY_STEP : WATCH_WAYS - 1;
    b->ways_at = (uint64_t)(uintptr_t)first;
    for (uint32_t i = 0; i < WATCH_FRAMES; i++)
        b->way[n].from[i] = i < count ? (uint64_t)(uintptr_t)frames[i] : 0;
}

/* --- Seasons --- */

/* Of what stands equally far apart: where there is no room for more, every other one goes, and false is said. */
static bool board_room(void *of, uint64_t *count, uint64_t room, size_t size, uint64_t *step)
{
    char *at = of;
    if (*count < room)
        return true;
    for (*count = 0; *count < room / 2; ++*count)
        memcpy(at + *count * size, at + (2 * *count + 1) * size, size);
    *step *= 2;
    return false;
}

/* The place is not to be read until the event is written. */
void watch_board_season_ends(struct watch_board *b, uint64_t now)
{
    watch_changes(&b->since);
    if (board_room(b->season, &b->seasons, WATCH_SEASONS, sizeof *b->season, &b->season_ns)) {
        memcpy(b->season[b->seasons].past, b->sum, sizeof b->sum);
        b->season[b->seasons++].end = now;
    }
    b->next_season = b->began + (b->seasons + 1) * b->season_ns;
    if (b->next_season <= now)
        b->next_season = now + b->season_ns;
}

void watch_board_tells(struct watch_board *b, uint64_t now, uint64_t end)
{
    if (board_room(b->told, &b->tolds, WATCH_TOLD, sizeof *b->told, &b->told_ns))
        b->told[b->tolds++] = (struct watch_told){now, end};
    b->next_told = b->told[b->tolds - 1].at + b->told_ns;
}

/* --- Where code lies --- */

struct board_modules { char *text; size_t used; };

static void board_module(void *context, uintptr_t begin, uintptr_t end, uint64_t bias, const char *build_id,
                         const char *path)
{
    struct board_modules *m = context;
    char line[600];
    int n = snprintf(line, sizeof line, "%lx %lx %llx %s %s\n", (unsigned long)begin, (unsigned long)end,
                     (unsigned long long)bias, *build_id ? build_id : "-", path);
    if (n <= 0 || (size_t)n >= sizeof line || m->used + (size_t)n >= WATCH_MODULES)
        return;
    memcpy(m->text + m->used, line, (size_t)n + 1);
    m->used += (size_t)n;
}

void watch_board_modules(void)
{
    struct watch_board *b = watch_board_here;
    uint64_t loaded = b ? base_modules_loaded() : 0;
    if (!b || loaded == board.modules_seen)
        return;
    board.modules_seen = loaded;
    struct board_modules m = {.text = b->modules};
    base_modules_each(board_module, &m);
}

/* --- Communicators --- */

struct watch_comm *watch_board_comm(uint64_t handle, uint32_t number, const char *name, int rank, int ranks,
                                    const void *members, size_t size)
{
    struct watch_comm *c = watch_board_here ? watch_board_here->comm : NULL;
    for (unsigned i = 0; c && i < WATCH_COMMS && c->handle; i++)
        c = i + 1 < WATCH_COMMS ? c + 1 : NULL;
    if (!c)
        return &board_nobody;
    *c = (struct watch_comm){.number = number, .rank = rank, .size = ranks};
    c->identity = XXH3_64bits_withSeed(members, size, XXH3_64bits(name, strlen(name)));
    size_t length = strlen(name), from = length < sizeof c->name ? 0 : length - sizeof c->name + 1;
    snprintf(c->name, sizeof c->name, "%s", name + from);
    atomic_thread_fence(memory_order_release);
    c->handle = handle;
    return c;
}

void watch_board_comm_gone(struct watch_comm *c)
{
    if (c)
        c->handle = 0;
}
