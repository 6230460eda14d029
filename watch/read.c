/* SPDX-License-Identifier: MIT */
#include "watch/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/name.h"
#include "base/order.h"

enum { READ_TRIES = 50, READ_NAP_US = 200, READ_OLD_S = 60 };

/* --- Names --- */

void watch_path(char path[WATCH_PATH], uint64_t job, uint32_t rank)
{
    snprintf(path, WATCH_PATH, WATCH_DIRECTORY "/pythia-%u-%016llx-%u", (unsigned)geteuid(), (unsigned long long)job,
             rank);
}

/* Written as we would write it, and not otherwise. */
static bool read_name(const char *text, struct watch_found *found)
{
    char path[WATCH_PATH];
    unsigned uid;
    unsigned long long job;
    if (sscanf(text, "pythia-%10u-%16llx-%10u", &uid, &job, &found->rank) != 3)
        return false;
    found->job = job;
    watch_path(path, job, found->rank);
    return !strcmp(base_name(path), text);
}

BASE_COMPARISON(by_job, struct watch_found, BASE_UP(job) ?: BASE_UP(rank))

uint32_t watch_find(uint64_t job, struct watch_found **found)
{
    DIR *d = opendir(WATCH_DIRECTORY);
    const struct dirent *e;
    uint32_t count = 0, room = 0;
    struct watch_found one;
    *found = NULL;
    while (d && (e = readdir(d)))
        if (read_name(e->d_name, &one) && (!job || one.job == job))
            (void)base_array_append(found, &count, &room, &one, 1, sizeof one);
    if (d)
        closedir(d);
    if (count)
        qsort(*found, count, sizeof one, by_job);
    return count;
}

/* --- One board --- */

int watch_read_open(const char *path, const char **why)
{
    struct stat st;
    int f = base_io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    *why = NULL;
    if (f < 0 || fstat(f, &st))
        *why = errno == ELOOP ? "it is a link" : strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = "it is no regular file";
    else if (st.st_uid != geteuid())
        *why = "it belongs to somebody else";
    else if (st.st_mode & 077)
        *why = "others may write or read it";
    if (f < 0 || !*why)
        return f;
    close(f);
    errno = EPERM;
    return -1;
}

/* What it was in: nothing yet, a region, one of the calls. */
static void read_decode(struct watch_board *b)
{
    uint64_t at = (b->call - b->calls_at) / sizeof(struct watch_call);
    uint64_t slot = b->slot ? (b->slot - b->ways_at) / WATCH_WAY_STEP : WATCH_WAYS - 1;
    b->is = (struct watch_named){.what = {.call_kind = WATCH_REGION}};
    b->came = NULL;
    b->from = b->call;
    if (b->call & WATCH_OF_REGION) {
        strcpy(b->is.function, "a parallel region");
    } else {
        b->is = b->call && at < b->calls && at < WATCH_CALLS ? b->of[at] : (struct watch_named){0};
        b->came = b->call && slot < WATCH_WAYS && b->way[slot].from[0] ? &b->way[slot] : NULL;
        b->from = b->came ? b->came->from[0] & ~WATCH_OF_REGION : 0;
    }
    if (!b->is.what.peers) {
        b->source = b->dest = WATCH_NOBODY;
        b->tag = 0;
    }
    b->events = 0;
    for (unsigned i = 0; i < WATCH_SPOTS; i++)
        b->events += b->sum[i].count;
}

const struct watch_named *watch_thread_waits(const struct watch_sight *s, uint32_t thread, uint64_t *since_ns)
{
    const struct watch_board *b = &s->board;
    const struct watch_thread *t = &b->thread[thread];
    uint64_t at = (t->call - b->calls_at) / sizeof(struct watch_call), since = t->since;
    bool known = since != WATCH_CHANGES && (since & 1) && at < b->calls && at < WATCH_CALLS;
    *since_ns = known && s->now > since >> 1 ? s->now - (since >> 1) : 0;
    return known && b->of[at].what.blocking ? &b->of[at] : NULL;
}

static void clean(char *text, size_t size)
{
    text[size - 1] = '\0';
    base_clean(text);
}

/* A text that nobody uses may say anything; a number that is used must not. */
bool watch_is_sound(struct watch_board *b)
{
    read_decode(b);
    clean(b->node, sizeof b->node);
    clean(b->command, sizeof b->command);
    clean(b->file, sizeof b->file);
    clean(b->is.function, sizeof b->is.function);
    for (unsigned i = 0; i < WATCH_CALLS; i++)
        clean(b->of[i].function, sizeof b->of[i].function);
    for (unsigned i = 0; i < WATCH_REGIONS; i++)
        clean(b->region[i].name, sizeof b->region[i].name);
    if (b->in_region >= WATCH_REGIONS)
        b->in_region = 0;
    for (unsigned i = 0; i < WATCH_COMMS; i++)
        clean(b->comm[i].name, sizeof b->comm[i].name);
    b->modules[WATCH_MODULES - 1] = '\0';
    if (b->longest > INT64_MAX / 128)
        b->longest = 0;
    if (b->tolds > WATCH_TOLD)
        b->tolds = 0;
    if (b->seasons > WATCH_SEASONS)
        b->seasons = 0;
    if (!(b->progress >= 0 && b->progress <= 1))
        b->progress = 0;
    return b->magic == WATCH_MAGIC && b->ranks > 0 && b->rank < b->ranks && b->pid > 0 && b->pid <= INT32_MAX;
}

/* The copy has `since` before the place, and it is the same after that: the place belongs together. */
static bool read_copy(int f, struct watch_board *b)
{
    uint64_t after;
    for (int i = 0; i < READ_TRIES; i++) {
        if (base_io_read_at(f, b, sizeof *b, 0) != (ssize_t)sizeof *b ||
            base_io_read_at(f, &after, sizeof after, offsetof(struct watch_board, since)) != (ssize_t)sizeof after)
            return false;
        uint64_t before = atomic_load(&b->since);
        if (before == after && before != WATCH_CHANGES)
            return true;
        usleep(READ_NAP_US);
    }
    atomic_store(&b->since, WATCH_CHANGES);
    return true;
}

static enum watch_reading read_open(int f, uint64_t job, uint32_t rank, struct watch_sight *s)
{
    struct watch_board *b = &s->board;
    size_t size = offsetof(struct watch_board, job);
    ssize_t n = base_io_read_at(f, b, size, 0);
    if (n == 0 || (n == (ssize_t)size && !b->magic))
        return WATCH_GONE; /* being made */
    if (n != (ssize_t)size || b->magic != WATCH_MAGIC)
        return WATCH_REFUSED;
    if (b->version != WATCH_VERSION || b->size != sizeof *b)
        return WATCH_OTHER_VERSION;
    return read_copy(f, b) && watch_is_sound(b) && b->job == job && b->rank == rank ? WATCH_READ : WATCH_REFUSED;
}

void watch_read(uint64_t job, uint32_t rank, struct watch_sight *s)
{
    char path[WATCH_PATH];
    watch_path(path, job, rank);
    int f = watch_read_open(path, &s->why);
    if (f < 0) {
        s->reading = errno == ENOENT ? WATCH_GONE : WATCH_REFUSED;
    } else {
        s->why = "it is no board";
        s->reading = read_open(f, job, rank, s);
        close(f);
    }
    s->now = base_clock_system();
    s->process = (struct watch_process){0};
    if (s->reading == WATCH_READ && s->board.pid_space == watch_process_space()) {
        watch_process_read(s->board.pid, &s->process);
        if (s->process.start != s->board.pid_start)
            s->process.state = 'X';
    }
}

/* --- Lists --- */

void watch_sights_add(struct watch_sights *list, struct watch_sight *s)
{
    bool read = !s || s->reading == WATCH_READ, added = s && read && !base_array_more(&list->of, list->count, sizeof s);
    list->failed |= read && !added;
    list->other_version += s && s->reading == WATCH_OTHER_VERSION;
    if (added) {
        s->seen_ns = base_clock_system();
        list->of[list->count++] = s;
    } else {
        free(s);
    }
}

void watch_sights_free(struct watch_sights *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->of[i]);
    free(list->of);
}

void watch_read_all(uint64_t job, struct watch_sights *list)
{
    struct watch_found *found;
    char path[WATCH_PATH];
    uint32_t count = watch_find(job, &found);
    for (uint32_t i = 0; i < count; i++) {
        struct watch_sight *s = calloc(1, sizeof *s);
        if (s)
            watch_read(found[i].job, found[i].rank, s);
        watch_path(path, found[i].job, found[i].rank);
        if (s && s->reading == WATCH_REFUSED && list->refuse)
            list->refuse(path, s->why);
        watch_sights_add(list, s);
    }
    free(found);
}

/* --- What dead processes left --- */

/* Whoever makes a board does it at once: one that has long been none has lost its maker. */
static bool is_old(const char *path)
{
    struct stat st;
    return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && time(NULL) - st.st_mtime > READ_OLD_S;
}

/* A job of which somebody lives keeps the boards of its dead: they say who it was. What is not understood, as of
   another version, may be anybody's. */
void watch_sweep(void)
{
    struct watch_found *found;
    BASE_OWN struct watch_sight *s = calloc(1, sizeof *s);
    char path[WATCH_PATH];
    uint32_t count = watch_find(0, &found);
    for (uint32_t first = 0, end; first < count && s; first = end) {
        bool any = false;
        for (end = first; end < count && found[end].job == found[first].job; end++) {
            if (any)
                continue;
            watch_read(found[end].job, found[end].rank, s);
            watch_path(path, found[end].job, found[end].rank);
            any = s->reading == WATCH_GONE ? !is_old(path) : s->reading != WATCH_READ || s->process.state != 'X';
        }
        for (uint32_t i = first; i < end && !any; i++) {
            watch_path(path, found[i].job, found[i].rank);
            unlink(path);
        }
    }
    free(found);
}
