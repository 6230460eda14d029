/* SPDX-License-Identifier: MIT */
/*
 * The board: what a running rank shows of itself, in shared memory, for whoever looks (pythia watch).
 *
 *     /dev/shm/pythia-UID-JOB-RANK      0600, made new (O_EXCL, O_NOFOLLOW), mapped by its process alone
 *     | who it is | place, since, sums | communicators | requests | modules |
 *       once        each event           when made       each start   when loaded
 *
 * The hook writes with plain stores: no system call, no lock; some ten instructions before a call, and after it.
 *
 *   1. `since` is the sequence lock of the place: WATCH_CHANGES while its fields are written, else ns * 2, one more in
 *      a call or a region. Two equal readings of it around the fields mean that these belong together: no two calls
 *      begin at one ns
 *   2. every other field is one aligned word, written by one thread: it is old or new, and counts only rise. Requests
 *      and communicators are written by whatever thread has them; what two threads write at a time is lost
 *   3. the place is that of the thread that began MPI, or of the first one; some others have a call and its place each
 *   4. a reader trusts nothing in here (watch/read.h)
 *
 * The file goes when the process ends, also by a signal that Pythia meets. What is left by dead processes goes when a
 * first rank starts, or somebody watches, and no process of that job lives on this node any more; so does what never
 * became a board, after a minute.
 *
 * Threads: as said.  Hook-safe: what is inline, and no more.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WATCH_MAGIC UINT64_C(0x6472616f42687950) /* "PyhBoard" */
#define WATCH_DIRECTORY "/dev/shm"

enum { WATCH_VERSION = 10, WATCH_COMMS = 128, WATCH_REQUESTS = 256, WATCH_SPOTS = 512, WATCH_SEASONS = 4,
       WATCH_TOLD = 16, WATCH_MODULES = 32768, WATCH_FUNCTION = 36, WATCH_CALLS = 512, WATCH_WAYS = 513,
       WATCH_WAY_STEP = 64, WATCH_FRAMES = 16, WATCH_REGIONS = 64, WATCH_THREADS = 7,
       WATCH_NOBODY = INT32_MIN /* no peer */ };
enum { WATCH_CHANGES = 1 }; /* of `since` */
#define WATCH_BEYOND UINT64_MAX

/* A call of MPI: its name, and what it is. All of them are in one section, which the board has a copy of: so a place
   says with one word which it is. */
struct watch_what {
    uint8_t call_kind;  /* enum job_call_kind; WATCH_REGION: a parallel region */
    uint8_t blocking;
    uint8_t how;       /* enum watch_how */
    uint8_t peers;     /* it is with those that the board names */
};
struct watch_call {
    _Alignas(64) char function[WATCH_FUNCTION];
    struct watch_what what;
};
#define WATCH_CALL static const struct watch_call __attribute__((section("pythia_calls"), used))
struct watch_named { char function[WATCH_FUNCTION]; struct watch_what what; }; /* the same, unaligned */
enum { WATCH_REGION = 255 };
#define WATCH_OF_REGION (UINT64_C(1) << 63) /* no address of a program's */
enum watch_how {
    WATCH_PLAIN,
    WATCH_POLLS,
    WATCH_COLLECTIVE, /* all of its communicator call it, in one order */
    WATCH_COMMON      /* all that share its window or file do; nobody counts these */
};

struct watch_comm {
    uint64_t handle;      /* as calls name it; 0: none. Written last */
    uint64_t identity;    /* equal on all of its members, on nobody else's */
    uint64_t collectives; /* on it, that this rank has been through */
    uint32_t number;      /* as requests name it */
    int32_t rank, size;   /* rank -1: of an intercommunicator */
    char name[28];
};

struct watch_request {
    uint64_t handle;      /* 0: none */
    uint64_t collective;  /* how many collectives of the communicator were before it, where it is one */
    uint32_t comm;        /* number */
    int32_t peer, tag;
    uint32_t kind;        /* enum watch_request_kind */
};
enum watch_request_kind { WATCH_SENDS, WATCH_RECEIVES, WATCH_TAKES_PART /* in a collective */ };

/* Events of one identity: how many there were, and what was before them in all; the same at the ends of seasons, which
   are all equally long: where there would be more of them two become one. */
struct watch_tally { uint64_t count, gap_ns; };
/* How the program came to a call: return addresses, the innermost first, 0 behind. */
struct watch_way { uint64_t from[WATCH_FRAMES]; };
struct watch_season { uint64_t end; struct watch_tally past[WATCH_SPOTS]; };

/* Regions that the program names, with those around them, "solve > halo", and how often this was begun. */
struct watch_region { char name[56]; uint64_t entries; };

/* Another thread: what it is in, or was in last, the return address into the program, and since when. */
struct watch_thread { _Atomic uint64_t since; uint64_t call, from; };

struct watch_board {
    /* Written once, the magic last. */
    uint64_t magic;
    uint32_t version, size;
    uint64_t job;          /* of all ranks */
    uint64_t began, started; /* ns of CLOCK_MONOTONIC; s since 1970 */
    uint64_t pid_start;    /* of its process, as /proc/PID/stat says it: tells it from a later one of that number */
    uint64_t pid_space;    /* its number space */
    uint32_t rank, ranks, pid, uid, predicts;
    int32_t any, null;     /* MPI_ANY_SOURCE, MPI_PROC_NULL */
    char node[64], command[256], file[512]; /* the job file that it writes, or that it is predicted from */

    /* Each event. */
    _Alignas(64) _Atomic uint64_t since;
    uint64_t call;                  /* where the call is described in its process: of `calls`; WATCH_OF_REGION: of a
                                       region, its function */
    uint64_t slot;                  /* where its way is remembered in its process: of `way`; 0: the last one there */
    uint64_t where;                 /* of a call that blocks: handle of the communicator, or of the request; 0: none */
    int32_t source, dest, tag;      /* … that has `peers` */
    uint64_t mpi_ns, omp_ns;        /* in calls and in regions that have ended */
    uint64_t launch_ns;             /* of it in MPI_Init, which is not the program's */
    uint64_t longest;               /* ns: an event with the gap before it, but MPI_Init's */

    _Alignas(64) struct watch_thread thread[WATCH_THREADS]; /* those after the first one */

    /* Nobody's: who reads a board has here what it is in, or was in last, its way, the return address into the program
       (WATCH_OF_REGION: the region's function), and how many events there were. */
    struct watch_named is;
    const struct watch_way *came; /* NULL: not known */
    uint64_t from, events;

    /* Of a predicted run, now and then: 0 until known. */
    _Alignas(64) _Atomic uint64_t noted; /* ns: when, written last */
    uint64_t left_ns;      /* of the run; WATCH_BEYOND: it is longer than the recorded one */
    uint64_t next_ns;      /* until the next event has ended, as it was expected then */
    uint64_t turn, turns;  /* of the loop around; turns 0: in none */
    double progress;       /* of the run, by time; does not go back */
    uint64_t tolds, told_ns, next_told;                  /* how many ends were foretold; as seasons are */
    struct watch_told { uint64_t at, end; } told[WATCH_TOLD]; /* ns: when, and which */

    _Alignas(64) struct watch_region region[WATCH_REGIONS]; /* the first is none: of what is outside of all */
    uint32_t in_region;    /* the one that the first thread is in */

    _Alignas(64) struct watch_comm comm[WATCH_COMMS];
    struct watch_request request[WATCH_REQUESTS];
    uint64_t seasons, season_ns, next_season; /* how many have ended, how long they are; when the one at hand ends */
    struct watch_season season[WATCH_SEASONS];
    /* By the number of the identity in its stream; where there are more, several share one. */
    uint64_t met[WATCH_SPOTS]; /* `from` there; 0: not known, or of several */
    struct watch_tally sum[WATCH_SPOTS];
    uint64_t calls_at, calls; /* where the first one is described, how many are */
    struct watch_named of[WATCH_CALLS];
    uint64_t ways_at;  /* where the first slot is */
    struct watch_way way[WATCH_WAYS];
    char modules[WATCH_MODULES]; /* lines: begin, end, bias in hexadecimal, build-id or -, path */
};

/* The process's; what a thread writes on is base_here.board. */
extern struct watch_board *_Atomic watch_board_here __attribute__((visibility("hidden")));

/* --- Before a call and after it --- */

/* Nobody sees what is written behind it and not that: costs nothing on x86. `since`: of a board, or of a thread in
   it. */
static inline void watch_changes(_Atomic uint64_t *since)
{
    atomic_store_explicit(since, WATCH_CHANGES, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static inline void watch_inside(_Atomic uint64_t *since, uint64_t begin)
{
    atomic_store_explicit(since, begin << 1 | 1, memory_order_release);
}

/* `call`: a WATCH_CALL, `slot` as watch_board_way() has it. */
static inline void watch_board_place(struct watch_board *b, const struct watch_call *call, const void *slot,
                                     uint64_t where)
{
    watch_changes(&b->since);
    b->call = (uint64_t)(uintptr_t)call;
    b->slot = (uint64_t)(uintptr_t)slot;
    b->where = where;
}

/* Before that, of a call that has peers. */
static inline void watch_board_with(struct watch_board *b, int source, int dest, int tag)
{
    watch_changes(&b->since);
    b->source = source;
    b->dest = dest;
    b->tag = tag;
}

/* `begin`: of a poll when the last event ended, so that it is one call for who asks again and again. */
static inline void watch_board_enter(struct watch_board *b, uint64_t begin)
{
    watch_inside(&b->since, begin);
}

/* The same of another thread; and after a call. */
static inline void watch_thread_enter(struct watch_thread *t, const struct watch_call *call, const void *from,
                                      uint64_t begin)
{
    watch_changes(&t->since);
    t->call = (uint64_t)(uintptr_t)call;
    t->from = (uint64_t)(uintptr_t)from;
    watch_inside(&t->since, begin);
}

static inline void watch_thread_left(struct watch_thread *t, uint64_t end)
{
    atomic_store_explicit(&t->since, end << 1, memory_order_release);
}

static inline void watch_board_region(struct watch_board *b, uintptr_t function, uint64_t begin)
{
    watch_changes(&b->since);
    b->call = function | WATCH_OF_REGION;
    watch_board_enter(b, begin);
}

/* The thread goes into a region by name, or back into the one around it. */
static inline void watch_board_begins(struct watch_board *b, uint32_t region)
{
    b->region[region].entries++;
    b->in_region = region;
}

/* An identity is met for the first time, there. */
static inline void watch_board_met(struct watch_board *b, uint32_t identity, uint64_t from)
{
    identity &= WATCH_SPOTS - 1;
    b->met[identity] = b->sum[identity].count ? 0 : from;
}

/* How the program came to a place was found, and is remembered in a slot (NULL: nowhere), of those from the first one
   on, WATCH_WAY_STEP apart. */
void watch_board_way(struct watch_board *b, const void *slot, const void *first, void *const *frames, uint32_t count);

/* Now and then, before an event that ended at `now` is written. */
void watch_board_season_ends(struct watch_board *b, uint64_t now);
static inline void watch_board_season(struct watch_board *b, uint64_t now)
{
    if (now >= b->next_season)
        watch_board_season_ends(b, now);
}

/* An event ended, after a gap; the sums are those with it. */
static inline void watch_board_left(struct watch_board *b, uint32_t identity, uint64_t gap, uint64_t duration,
                                    uint64_t end, uint64_t mpi_ns)
{
    identity &= WATCH_SPOTS - 1;
    b->sum[identity].count++;
    b->sum[identity].gap_ns += gap;
    if (gap + duration > b->longest)
        b->longest = gap + duration;
    b->mpi_ns = mpi_ns;
    atomic_store_explicit(&b->since, end << 1, memory_order_release);
}

/* Its end as it is foretold now, of which one in a while is kept. */
void watch_board_tells(struct watch_board *b, uint64_t now, uint64_t end);

/* Of a predicted run: what is left at `now`, or WATCH_BEYOND. */
static inline void watch_board_note(struct watch_board *b, uint64_t now, uint64_t left, uint64_t next, uint64_t turn,
                                    uint64_t turns)
{
    double done = (double)(now - b->began), progress = done / (done + (double)left);
    b->left_ns = left;
    b->next_ns = next;
    b->turn = turn;
    b->turns = turns;
    if (left != WATCH_BEYOND) {
        b->progress = progress > b->progress ? progress : b->progress;
        if (now >= b->next_told)
            watch_board_tells(b, now, now + left);
    }
    atomic_store_explicit(&b->noted, now, memory_order_release);
}

/* --- Requests --- */

static inline struct watch_request *watch_board_request(struct watch_board *b, uint64_t handle)
{
    return &b->request[(handle * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (WATCH_REQUESTS - 1)];
}

static inline void watch_board_started(uint64_t handle, uint32_t kind, uint32_t comm, int32_t peer, int32_t tag,
                                       uint64_t collective)
{
    struct watch_board *b = watch_board_here;
    if (!b)
        return;
    struct watch_request *r = watch_board_request(b, handle);
    *r = (struct watch_request){handle, collective, comm, peer, tag, kind};
}

static inline void watch_board_completed(uint64_t handle)
{
    struct watch_board *b = watch_board_here;
    if (b && watch_board_request(b, handle)->handle == handle)
        watch_board_request(b, handle)->handle = 0;
}

/* --- Life; Threads: the one that starts and finishes the session --- */

struct watch_life {
    uint64_t job;      /* 0: this process alone */
    uint32_t rank, ranks;
    bool predicts;
    const char *file;
};

/* Makes this process's board; the first rank sweeps before. Where that fails, one line says so, and there is none. */
void watch_board_open(const struct watch_life *life);
/* What the MPI library calls them; and all calls that a place may be. */
void watch_board_mpi(int any, int null, const struct watch_call *calls, size_t count);
/* Libraries may have been loaded since the last time: their places are written anew if so. */
void watch_board_modules(void);
/* The file goes; its memory stays, for threads that still write. */
void watch_board_close(void);
/* Only that. Safe in a signal handler, and in any process but a child of its own. */
void watch_board_unlink(void);

/* A communicator came; `identity` is made of its name and the `size` bytes at `members`. Never NULL: without a board,
   or where there are too many, what stands for nobody's. Under the caller's lock. */
struct watch_comm *watch_board_comm(uint64_t handle, uint32_t number, const char *name, int rank, int ranks,
                                    const void *members, size_t size);
void watch_board_comm_gone(struct watch_comm *c);
