/* SPDX-License-Identifier: MIT */
#include "watch/copy.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/replace.h"

#define COPY_MAGIC UINT64_C(0x7970436568547950) /* "PyTheCpy" */
enum { PAGE = 4096 };

/* After it so much of each rank's sight. */
struct copy_head { uint64_t magic; uint32_t version, size, count, unused; uint64_t step; };
enum { COPIED = offsetof(struct watch_sight, reading) };

static off_t copy_place_of(uint32_t i)
{
    return (off_t)(sizeof(struct copy_head) + (size_t)i * COPIED);
}

void watch_copy_path(char *path, size_t size, const char *directory, uint64_t job, uint32_t rank)
{
    snprintf(path, size, "%s/boards-%016llx-%u", directory, (unsigned long long)job, rank);
}

/* --- Writing --- */

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
    int error = !s || fchmod(f, 0600) ? -1 : 0;
    for (uint32_t i = 0; i < c->count && !error; i++) {
        watch_read(found[i].job, found[i].rank, s);
        s->idle_ns = watch_process_idle(&s->process, &c->used[i], s->now);
        if (s->reading == WATCH_READ)
            error = write_at(f, s, COPIED, copy_place_of(head->count++));
    }
    free(s);
    return error || ftruncate(f, copy_place_of(head->count)) || write_at(f, head, sizeof *head, 0) ? -1 : 0;
}

static int write_file(struct watch_copier *c, const struct watch_found *found, const char *path, uint64_t step)
{
    struct base_replace r;
    struct stat st;
    struct copy_head head = {COPY_MAGIC, WATCH_VERSION, COPIED, 0, 0, step};
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
    uint32_t count = watch_find(job, &found);
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

static struct watch_sight *read_one(int f, uint32_t i)
{
    struct watch_sight *s = calloc(1, sizeof *s);
    if (s && base_io_read_at(f, s, COPIED, copy_place_of(i)) == COPIED && watch_is_sound(&s->board))
        return s;
    free(s);
    return NULL;
}

static void read_file(const char *path, struct watch_sights *list)
{
    const char *why;
    struct copy_head head;
    struct stat st;
    struct watch_sight *s;
    int f = watch_read_open(path, &why);
    bool good = f >= 0 && !fstat(f, &st) && base_io_read_at(f, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                head.magic == COPY_MAGIC && head.version == WATCH_VERSION && head.size == COPIED;
    for (uint32_t i = 0; good && i < head.count && (s = read_one(f, i)); i++) {
        s->copied = true;
        s->step_ns = head.step;
        s->changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
        watch_sights_add(list, s);
    }
    if (f >= 0)
        close(f);
}

void watch_copy_read(const char *directory, struct watch_sights *list)
{
    char path[PATH_MAX];
    DIR *d = opendir(directory);
    const struct dirent *e;
    while (d && (e = readdir(d)))
        if (!strncmp(e->d_name, "boards-", 7) &&
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name) < (int)sizeof path)
            read_file(path, list);
    if (d)
        closedir(d);
}
