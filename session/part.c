/* SPDX-License-Identifier: MIT */
/* Part files: <output>.parts/rank-N.pythia, one of each rank, until the job file is written. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

enum { PART_PATH = PATH_MAX + 40 };

static void own_path(char path[PART_PATH])
{
    snprintf(path, PART_PATH, "%s/rank-%u.pythia", directory(), session.world.rank);
}

int session_part_write(const struct job *job, bool at_once, char *why, size_t size)
{
    char path[PART_PATH];
    struct stat st;
    if (session_parts_make(directory(), why, size))
        return PYTHIA_EIO;
    own_path(path);
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) /* a job file is written through links, a part is not */
        unlink(path);
    return (at_once ? file_write_at_once : file_write)(job, path, why, size);
}

void session_part_remove(void)
{
    char path[PART_PATH];
    own_path(path);
    if (!unlink(path))
        rmdir(directory()); /* where it is empty now */
}

bool session_parts_first(void)
{
    char mark[PATH_MAX + 40];
    snprintf(mark, sizeof mark, "%s/.rank-0.pythia.said.tmp", directory()); /* goes when the parts do */
    int fd = access(directory(), F_OK) ? -1 : base_io_open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Whether Pythia made it: a part, or the temporary file of one that was not finished. */
static bool is_part(const char *name)
{
    bool temporary = *name == '.';
    name += temporary;
    if (strncmp(name, "rank-", 5) != 0)
        return false;
    size_t digits = strspn(name + 5, "0123456789"), n = strlen(name);
    if (!digits || strncmp(name + 5 + digits, ".pythia", 7) != 0)
        return false;
    return temporary ? !strcmp(name + n - 4, ".tmp") : n == 5 + digits + 7;
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
