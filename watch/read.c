/* SPDX-License-Identifier: MIT */
#include "watch/read.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/order.h"

enum { READ_TRIES = 50, READ_NAP_US = 200 };

/* --- Names --- */

void watch_name(char name[WATCH_NAME], uint64_t job, uint32_t rank)
{
    snprintf(name, WATCH_NAME, "pythia-%u-%016llx-%u", (unsigned)geteuid(), (unsigned long long)job, rank);
}

/* Written as we would write it, and not otherwise. */
static bool read_name(const char *text, struct watch_found *found)
{
    char name[WATCH_NAME];
    unsigned uid;
    unsigned long long job;
    if (sscanf(text, "pythia-%10u-%16llx-%10u", &uid, &job, &found->rank) != 3)
        return false;
    found->job = job;
    watch_name(name, job, found->rank);
    return !strcmp(name, text);
}

static int by_job(const void *a, const void *b)
{
    const struct watch_found *x = a, *y = b;
    return x->job != y->job ? BASE_ORDER(x->job, y->job) : BASE_ORDER(x->rank, y->rank);
}

uint32_t watch_find(const char *directory, struct watch_found **found)
{
    DIR *d = opendir(directory);
    const struct dirent *e;
    uint32_t count = 0, room = 0;
    struct watch_found one;
    *found = NULL;
    while (d && (e = readdir(d)))
        if (read_name(e->d_name, &one) && !base_array_room(found, &room, (uint64_t)count + 1, sizeof one))
            (*found)[count++] = one;
    if (d)
        closedir(d);
    if (count)
        qsort(*found, count, sizeof one, by_job);
    return count;
}

/* --- One board --- */

int watch_read_open(const char *path, char *why, size_t size)
{
    struct stat st;
    int f = base_io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (f < 0 || fstat(f, &st)) {
        snprintf(why, size, "%s", errno == ELOOP ? "it is a link" : strerror(errno));
        return f;
    }
    *why = '\0';
    if (!S_ISREG(st.st_mode))
        snprintf(why, size, "it is no regular file");
    else if (st.st_uid != geteuid())
        snprintf(why, size, "it belongs to somebody else");
    else if (st.st_mode & 077)
        snprintf(why, size, "others may write or read it");
    if (!*why)
        return f;
    close(f);
    errno = EPERM;
    return -1;
}

static void clean(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = '?';
}

/* What it was in: nothing yet, a region, one of the calls. */
static void decode(struct watch_board *b)
{
    uint64_t at = (b->call - b->calls_at) / sizeof(struct watch_call);
    b->what = (struct watch_what){.call_kind = b->from & WATCH_OF_REGION ? WATCH_REGION : 0};
    memset(b->function, 0, sizeof b->function);
    if (b->from && b->what.call_kind != WATCH_REGION && at < b->calls && at < WATCH_CALLS) {
        b->what = b->of[at].what;
        memcpy(b->function, b->of[at].function, sizeof b->function);
    }
    b->events = 0;
    for (unsigned i = 0; i < WATCH_SPOTS; i++)
        b->events += b->sum[i].count;
}

/* A text that nobody uses may say anything; a number that is used must not. */
bool watch_is_sound(struct watch_board *b)
{
    decode(b);
    clean(b->node, sizeof b->node);
    clean(b->command, sizeof b->command);
    clean(b->file, sizeof b->file);
    clean(b->function, sizeof b->function);
    for (unsigned i = 0; i < WATCH_COMMS; i++)
        clean(b->comm[i].name, sizeof b->comm[i].name);
    b->modules[WATCH_MODULES - 1] = '\0';
    if (b->tolds > WATCH_TOLD)
        b->tolds = 0;
    if (b->seasons > WATCH_SEASONS)
        b->seasons = 0;
    if (!(b->progress >= 0 && b->progress <= 1))
        b->progress = 0;
    return b->ranks > 0 && b->rank < b->ranks && b->pid > 0 && b->pid <= INT32_MAX;
}

/* The copy has `since` before the place, and it is the same after that: the place belongs together. */
static bool read_copy(int f, struct watch_board *b)
{
    uint64_t after;
    for (int i = 0; i < READ_TRIES; i++) {
        if (base_io_read_at(f, b, sizeof *b, 0) != (ssize_t)sizeof *b)
            return false;
        if (base_io_read_at(f, &after, sizeof after, offsetof(struct watch_board, since)) != (ssize_t)sizeof after)
            return false;
        uint64_t before = atomic_load(&b->since);
        if (before == after && before != WATCH_CHANGES)
            return true;
        usleep(READ_NAP_US);
    }
    atomic_store(&b->since, WATCH_CHANGES);
    return true;
}

static void read_process(struct watch_sight *s)
{
    const struct watch_board *b = &s->board;
    s->near = b->pid_space == watch_process_space();
    s->alive = !s->near || (watch_process_read(b->pid, &s->process) && s->process.start == b->pid_start);
}

enum watch_reading watch_read(const char *directory, uint64_t job, uint32_t rank, struct watch_sight *s, char *why,
                              size_t size)
{
    struct { uint64_t magic; uint32_t version, size; } head = {0, 0, 0};
    char path[PATH_MAX], name[WATCH_NAME];
    watch_name(name, job, rank);
    snprintf(path, sizeof path, "%.4000s/%s", directory, name);
    int f = watch_read_open(path, why, size);
    if (f < 0)
        return errno == ENOENT ? WATCH_GONE : WATCH_REFUSED;
    enum watch_reading result = WATCH_REFUSED;
    snprintf(why, size, "it is no board");
    bool headed = base_io_read_at(f, &head, sizeof head, 0) == (ssize_t)sizeof head;
    if (headed && head.magic == 0)
        result = WATCH_GONE; /* being made */
    else if (headed && head.magic == WATCH_MAGIC &&
             (head.version != WATCH_VERSION || head.size != sizeof s->board))
        result = WATCH_OTHER_VERSION;
    else if (headed && head.magic == WATCH_MAGIC && read_copy(f, &s->board) && watch_is_sound(&s->board) &&
             s->board.job == job && s->board.rank == rank)
        result = WATCH_READ;
    s->now = base_clock_system();
    close(f);
    if (result == WATCH_READ)
        read_process(s);
    return result;
}

/* --- What dead processes left --- */

static bool lives(uint64_t job, uint32_t rank, struct watch_sight *s)
{
    char why[128];
    enum watch_reading r = watch_read(WATCH_DIRECTORY, job, rank, s, why, sizeof why);
    return r != WATCH_READ || s->alive;
}

/* A job of which somebody lives keeps the boards of its dead: they say who it was. What is not understood, as of
   another version, may be anybody's, and stays. */
void watch_sweep(void)
{
    struct watch_found *found;
    struct watch_sight *s = malloc(sizeof *s);
    uint32_t count = s ? watch_find(WATCH_DIRECTORY, &found) : 0;
    for (uint32_t first = 0, end; first < count; first = end) {
        bool any = false;
        for (end = first; end < count && found[end].job == found[first].job; end++)
            any = any || lives(found[end].job, found[end].rank, s);
        for (uint32_t i = first; i < end && !any; i++) {
            char name[WATCH_NAME], path[sizeof WATCH_DIRECTORY + WATCH_NAME];
            watch_name(name, found[i].job, found[i].rank);
            snprintf(path, sizeof path, WATCH_DIRECTORY "/%s", name);
            unlink(path);
        }
    }
    if (s)
        free(found);
    free(s);
}
