/* SPDX-License-Identifier: MIT */
/*
 * Parts: what each rank has so far, kept until the job file is written. Ranks of a node share one file,
 * <output>.parts/node-WHICH.pythia: a job has as many as nodes, and a checkpoint creates and renames none.
 *
 *     │ part of 0 ··│ part of 2 ··│ part of 0 ··│ part of 1 ··│ part of 2 ··│      each a job file, ·· zeros
 *
 * A rank writes two places in turn, so that the part before stays whole until the new one is: who is killed meanwhile
 * leaves one that its checksums tell from a part. Of two that are whole the longer one counts. A place is had by
 * appending: one write, which the kernel does not mix with those of other processes. A part that has outgrown its place
 * gets another one; what the old one took is given back where the file system can.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "file/file.h"
#include "job/job.h"
#include "pythia.h"
#include "session/internal.h"

static const char *directory(void)
{
    static char path[PATH_MAX + 8]; /* the same text whenever it is written */
    snprintf(path, sizeof path, "%s.parts", session_output_path());
    return path;
}

const char *session_parts_path(void)
{
    return directory();
}

/* A directory, no link to one, and this user's: what others put in the way is neither written to nor cleared. */
static bool is_ours(const char *path, struct stat *st)
{
    return lstat(path, st) == 0 && S_ISDIR(st->st_mode) && st->st_uid == geteuid();
}

int session_parts_make(const char *path, char *why, size_t size)
{
    struct stat st;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_ours(path, &st)))
        return 0;
    snprintf(why, size, "%s: %s", path,
             errno == EEXIST ? "is no directory, or somebody else's" : strerror(errno));
    return PYTHIA_EIO;
}

enum { PART_PATH = PATH_MAX + 40, PAGE = 4096 };

/* --- A rank's places in its node's file --- */

struct place {
    off_t at;
    size_t room;
};

static struct {
    pthread_mutex_t lock; /* the helper writes, and a thread of the program that asks for it */
    dev_t device;
    ino_t file;           /* that they are in */
    struct place place[2];
    unsigned next;        /* the one with the older part */
    uint64_t wall;        /* of the newer one */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

void session_part_begin(void)
{
    memset(own.place, 0, sizeof own.place);
}

static void own_path(char path[PART_PATH])
{
    snprintf(path, PART_PATH, "%s/node-%016llx.pythia", directory(), (unsigned long long)base_clock_node());
}

static int open_own(int flags)
{
    char path[PART_PATH];
    own_path(path);
    return base_io_open(path, O_WRONLY | O_NOFOLLOW | flags, 0666);
}

/* Whether it is the file that the places are in; else there are none yet, or somebody has removed that one. */
static bool is_known(int fd)
{
    struct stat st = {0};
    bool same = !fstat(fd, &st) && own.device == st.st_dev && own.file == st.st_ino;
    if (same && (own.place[0].room || own.place[1].room))
        return true;
    session_part_begin();
    own.device = st.st_dev;
    own.file = st.st_ino;
    return false;
}

/* Asks the file system for no more than that, once the directory was looked at. */
static int open_checked(char *why, size_t size)
{
    int fd = open_own(0);
    if (fd >= 0 && is_known(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    if (session_parts_make(directory(), why, size))
        return -1;
    fd = open_own(O_CREAT);
    if (fd < 0)
        snprintf(why, size, "%s: can't write there: %s", directory(), strerror(errno));
    else
        (void)is_known(fd);
    return fd;
}

/* No part begins there any more. */
static void strike(int fd, const struct place *p)
{
    static const char nothing[8];
    if (p->room && lseek(fd, p->at, SEEK_SET) == p->at)
        (void)!base_io_write(fd, nothing, sizeof nothing);
}

static void give_back(int fd, struct place *p)
{
    if (p->room)
        (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, p->at, (off_t)p->room);
    p->room = 0;
}

/* In one write: a second one might follow somebody else's. */
static int part_append(int fd, const void *data, size_t size, struct place *p)
{
    struct base_io_hush hush;
    if (fcntl(fd, F_SETFL, O_APPEND))
        return -1;
    base_io_hush(&hush);
    ssize_t n = write(fd, data, size);
    int error = errno;
    base_io_unhush(&hush);
    off_t end = lseek(fd, 0, SEEK_CUR);
    (void)!fcntl(fd, F_SETFL, 0);
    if (n > 0)
        *p = (struct place){end - n, (size_t)n};
    if (n == (ssize_t)size)
        return 0;
    give_back(fd, p);
    errno = n < 0 ? error : ENOSPC;
    return -1;
}

/* With half as much again for what it grows by. */
static int move(int fd, const void *part, size_t size, struct place *p)
{
    size_t room = (size + size / 2 + PAGE - 1) / PAGE * PAGE;
    char *data = calloc(1, room);
    if (!data)
        return -1;
    give_back(fd, p);
    int error = part_append(fd, memcpy(data, part, size), room, p);
    free(data);
    return error;
}

/* A new file's name is kept, too, best effort. */
static int keep(int fd, bool is_new)
{
    int place = is_new ? base_io_open(directory(), O_RDONLY | O_DIRECTORY, 0) : -1;
    if (place >= 0) {
        base_io_sync(place);
        close(place);
    }
    return base_io_sync(fd);
}

static int put(int fd, const void *part, size_t size, bool at_once)
{
    struct place *p = &own.place[own.next];
    if (size > p->room ? move(fd, part, size, p) : lseek(fd, p->at, SEEK_SET) != p->at || base_io_write(fd, part, size))
        return -1;
    return at_once ? 0 : keep(fd, p->at == 0);
}

/* After a reset the new part is the shorter one. */
static int put_in_turn(int fd, const struct job *job, const void *part, size_t size, bool at_once)
{
    if (put(fd, part, size, at_once)) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    own.next = !own.next;
    if (job->info.wall_ns < own.wall)
        strike(fd, &own.place[own.next]);
    own.wall = job->info.wall_ns;
    return base_io_close(fd);
}

int session_part_write(const struct job *job, bool at_once, char *why, size_t size)
{
    void *part;
    size_t length;
    int error = file_pack_for_file(job, &part, &length);
    if (error) {
        snprintf(why, size, "can't pack it: %s", pythia_strerror(error));
        return error;
    }
    pthread_mutex_lock(&own.lock);
    int fd = open_checked(why, size);
    bool written = fd >= 0 && !put_in_turn(fd, job, part, length, at_once);
    if (fd >= 0 && !written)
        snprintf(why, size, "%s: can't write there: %s", directory(), strerror(errno));
    pthread_mutex_unlock(&own.lock);
    free(part);
    return written ? 0 : PYTHIA_EIO;
}

static int part_is_whole(struct job *j, void *unused)
{
    (void)unused;
    job_destroy(j);
    return 1;
}

void session_part_remove(void)
{
    char path[PART_PATH], why[256];
    int fd = open_own(0);
    if (fd < 0)
        return;
    pthread_mutex_lock(&own.lock);
    for (int i = 0; i < 2 && is_known(fd); i++)
        strike(fd, &own.place[i]);
    pthread_mutex_unlock(&own.lock);
    close(fd);
    own_path(path);
    if (file_read_each(path, part_is_whole, NULL, why, sizeof why) == PYTHIA_EFORMAT && !unlink(path))
        rmdir(directory()); /* where it is empty now */
}

bool session_parts_first(void)
{
    char mark[PATH_MAX + 40];
    snprintf(mark, sizeof mark, "%s/.node.said", directory()); /* goes when the parts do */
    int fd = access(directory(), F_OK) ? -1 : base_io_open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Whether Pythia made it: a file of parts, or the mark beside them. */
static bool is_part(const char *name)
{
    if (strncmp(name, "node-", 5))
        return !strcmp(name, ".node.said");
    return strspn(name + 5, "0123456789abcdef") == 16 && !strcmp(name + 21, ".pythia");
}

/* Of a node's boards (watch/copy.h), or what was to become it. */
static bool is_copy(const char *name)
{
    return !strncmp(name + (*name == '.'), "boards-", 7);
}

/* How many parts there are in a directory that is ours; `act` is called for each, and for copies of boards, which count
   then, too. */
static unsigned each_part(const char *path, void (*act)(int directory, const char *name))
{
    struct stat st;
    unsigned count = 0;
    int fd = base_io_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    DIR *d = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        bool counts = is_part(e->d_name) || (act && is_copy(e->d_name));
        count += counts;
        if (act && counts)
            act(dirfd(d), e->d_name);
    }
    closedir(d);
    return count;
}

static void remove_part(int directory, const char *name)
{
    unlinkat(directory, name, 0);
}

/* Removes the parts in a directory, and it, unless something else is in there. */
static void clear(const char *path)
{
    if (each_part(path, remove_part))
        rmdir(path);
}

void session_parts_remove(void)
{
    clear(directory());
}

void session_parts_put_aside(void)
{
    char old[PATH_MAX + 16];
    if (!each_part(directory(), NULL)) {
        clear(directory());
        return;
    }
    snprintf(old, sizeof old, "%s.old", directory());
    clear(old);
    if (!rename(directory(), old))
        base_log_info("parts of an earlier run that died are now in %s (pythia merge joins them)", old);
    else
        base_log_warn("parts of an earlier run that died are in %s and will be written over: %s: %s", directory(), old,
                      strerror(errno));
}
