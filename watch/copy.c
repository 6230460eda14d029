/* SPDX-License-Identifier: MIT */
#include "watch/copy.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/replace.h"

#define COPY_MAGIC UINT64_C(0x7970436568547950) /* "PyTheCpy" */
enum { PAGE = 4096 };

struct copy_head { uint64_t magic; uint32_t version, size, count, unused; uint64_t step; };
struct copy {
    struct watch_board board;
    uint64_t now, idle_ns, alive, state;
};

void watch_copy_path(char *path, size_t size, const char *directory, uint64_t job, uint32_t rank)
{
    snprintf(path, size, "%s/boards-%016llx-%u", directory, (unsigned long long)job, rank);
}

/* --- Writing --- */

static uint64_t idle(struct watch_used *u, const struct watch_sight *s)
{
    if (u->pid != s->board.pid || u->ticks != s->process.ticks)
        *u = (struct watch_used){s->board.pid, s->process.ticks, s->now};
    return s->now - u->since;
}

static int write_at(int f, const void *data, size_t size, off_t at)
{
    static const char zero[PAGE];
    const char *from = data;
    for (size_t i = 0, n; i < size; i += n) {
        n = size - i < PAGE ? size - i : PAGE;
        if (memcmp(from + i, zero, n) != 0 &&
            (lseek(f, at + (off_t)i, SEEK_SET) < 0 || base_io_write(f, from + i, n)))
            return -1;
    }
    return 0;
}

static int write_boards(struct watch_copier *c, int f, const struct watch_found *found, struct copy_head *head)
{
    struct watch_sight *s = calloc(1, sizeof *s);
    struct copy *copy = calloc(1, sizeof *copy);
    char why[128];
    int error = !s || !copy || fchmod(f, 0600) ? -1 : 0;
    for (uint32_t i = 0; i < c->count && !error; i++)
        if (watch_read(WATCH_DIRECTORY, found[i].job, found[i].rank, s, why, sizeof why) == WATCH_READ) {
            memcpy(&copy->board, &s->board, sizeof s->board);
            copy->now = s->now;
            copy->alive = s->alive;
            copy->state = (uint64_t)s->process.state;
            copy->idle_ns = idle(&c->used[i], s);
            error = write_at(f, copy, sizeof *copy, (off_t)(sizeof *head + head->count++ * sizeof *copy));
        }
    if (!error)
        error = ftruncate(f, (off_t)(sizeof *head + head->count * sizeof *copy)) ? -1
                                                                                 : write_at(f, head, sizeof *head, 0);
    free(s);
    free(copy);
    return error;
}

static int write_file(struct watch_copier *c, const struct watch_found *found, const char *path, uint64_t step)
{
    struct base_replace r;
    struct stat st;
    struct copy_head head = {COPY_MAGIC, WATCH_VERSION, sizeof(struct copy), 0, 0, step};
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        unlink(path);
    if (base_replace_open(&r, path, false))
        return -1;
    r.at_once = true;
    if (!write_boards(c, r.fd, found, &head))
        return base_replace_commit(&r);
    base_replace_abandon(&r);
    return -1;
}

int watch_copy_write(struct watch_copier *c, const char *path, uint64_t job, uint32_t ranks, uint64_t step)
{
    struct watch_found *found;
    uint32_t all = watch_find(WATCH_DIRECTORY, &found), count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (found[i].job == job)
            found[count++] = found[i];
    if (count != c->count) {
        free(c->used);
        c->used = calloc((size_t)count + 1, sizeof *c->used);
        c->count = c->used ? count : 0;
    }
    int error = c->count && count < ranks ? write_file(c, found, path, step) : 0;
    free(found);
    return error;
}

void watch_copier_close(struct watch_copier *c)
{
    free(c->used);
    *c = (struct watch_copier){NULL, 0};
}

/* --- Reading --- */

static struct watch_sight *read_one(int f, const struct copy_head *head, uint32_t i, struct copy *copy)
{
    off_t at = (off_t)(sizeof *head + i * sizeof *copy);
    if (base_io_read_at(f, copy, sizeof *copy, at) != (ssize_t)sizeof *copy || copy->board.magic != WATCH_MAGIC ||
        !watch_is_sound(&copy->board))
        return NULL;
    struct watch_sight *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    memcpy(&s->board, &copy->board, sizeof s->board);
    s->process.state = (char)copy->state;
    s->alive = copy->alive != 0;
    s->near = s->copied = true;
    s->now = copy->now;
    s->idle_ns = copy->idle_ns;
    s->step_ns = head->step;
    return s;
}

static void read_file(const char *path, void (*take)(void *context, struct watch_sight *s), void *context)
{
    char why[128];
    struct copy_head head;
    struct stat st;
    int f = watch_read_open(path, why, sizeof why);
    struct copy *copy = f < 0 ? NULL : malloc(sizeof *copy);
    bool good = copy && !fstat(f, &st) && base_io_read_at(f, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                head.magic == COPY_MAGIC && head.version == WATCH_VERSION && head.size == sizeof *copy;
    for (uint32_t i = 0; good && i < head.count; i++) {
        struct watch_sight *s = read_one(f, &head, i, copy);
        if (!s)
            break;
        s->changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
        take(context, s);
    }
    free(copy);
    if (f >= 0)
        close(f);
}

void watch_copy_read(const char *directory, void (*take)(void *context, struct watch_sight *s), void *context)
{
    char path[PATH_MAX];
    DIR *d = opendir(directory);
    const struct dirent *e;
    while (d && (e = readdir(d)))
        if (!strncmp(e->d_name, "boards-", 7) &&
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name) < (int)sizeof path)
            read_file(path, take, context);
    if (d)
        closedir(d);
}
