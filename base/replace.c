/* SPDX-License-Identifier: MIT */
#include "base/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

enum {
    TRIES = 100,
    LINKS = 40,  /* as many as the kernel follows */
    STEM = 100,  /* bytes of the final name in the temporary one: with all of a long one it would be too long */
};

static int failed(struct base_replace *r, const char *what)
{
    r->what = what;
    return -1;
}

/* Length of the directory part, its last slash included. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* --- The final name --- */

/* One link further; 0 where it is none, -1 with errno. */
static int replace_follow(char path[PATH_MAX])
{
    char target[PATH_MAX], next[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return errno == EINVAL || errno == ENOENT ? 0 : -1;
    target[n] = '\0';
    size_t length = target[0] == '/' ? 0 : directory_length(path);
    if ((size_t)snprintf(next, sizeof next, "%.*s%s", (int)length, path, target) >= sizeof next) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path, next, sizeof next);
    return 1;
}

static int resolve(struct base_replace *r, const char *path)
{
    int more = 1;
    if ((size_t)snprintf(r->path, sizeof r->path, "%s", path) >= sizeof r->path) {
        errno = ENAMETOOLONG;
        return failed(r, "can't write");
    }
    for (int i = 0; more > 0; i++)
        if (i == LINKS) {
            errno = ELOOP;
            more = -1;
        } else {
            more = replace_follow(r->path);
        }
    return more < 0 ? failed(r, "can't write") : 0;
}

/* --- The temporary name --- */

/* Tells machines, and containers, that share a directory: process numbers mean something within one only. */
static unsigned machine(void)
{
    struct utsname u;
    char space[64];
    uint32_t hash = 2166136261u; /* FNV-1a */
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space);
    for (ssize_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)space[i]) * 16777619u;
    if (uname(&u) == 0)
        for (const char *c = u.nodename; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

/* ".stem.machine.process.", the beginning of the temporary names that this process makes for a file; without a process
   (0) what all of them on this machine begin with. */
static int beginning(char *text, size_t size, const char *base, pid_t process)
{
    int n = snprintf(text, size, ".%.*s.%08x.", STEM, base, machine());
    return process ? n + snprintf(text + n, size - (size_t)n, "%ld.", (long)process) : n;
}

static int open_temporary(struct base_replace *r)
{
    size_t length = directory_length(r->path);
    char own[STEM + 64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    beginning(own, sizeof own, r->path + length, getpid());
    for (int i = 0; i < TRIES; i++) {
        int n = snprintf(r->name, sizeof r->name, "%.*s%s%lx.tmp", (int)length, r->path, own,
                         (unsigned long)(now.tv_nsec + i));
        if (n < 0 || (size_t)n >= sizeof r->name) {
            errno = ENAMETOOLONG;
            break;
        }
        r->fd = base_io_open(r->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        if (r->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    r->name[0] = '\0';
    return failed(r, "can't create a file beside it");
}

/* What is not allowed is left out: the new file then is the writer's own. */
static void inherit(int fd, const struct stat *old)
{
    struct stat now;
    if (fstat(fd, &now) == 0 && (now.st_uid != old->st_uid || now.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0)
        (void)!fchown(fd, (uid_t)-1, old->st_gid);
    (void)!fchmod(fd, old->st_mode & 0777);
}

static int open_directory(struct base_replace *r)
{
    char directory[PATH_MAX] = ".";
    size_t length = directory_length(r->path);
    if (length)
        snprintf(directory, sizeof directory, "%.*s", (int)length, r->path);
    r->directory = base_io_open(directory, O_RDONLY | O_DIRECTORY, 0);
    return r->directory < 0 ? failed(r, "can't open its directory") : 0;
}

static int open_beside(struct base_replace *r, const struct stat *old)
{
    if (open_directory(r))
        return -1;
    if (open_temporary(r)) {
        int saved = errno;
        close(r->directory);
        errno = saved;
        return -1;
    }
    if (old)
        inherit(r->fd, old);
    return 0;
}

int base_replace_open(struct base_replace *r, const char *path, bool wait)
{
    struct stat old;
    *r = (struct base_replace){ .fd = -1, .directory = -1, .what = "" };
    if (resolve(r, path))
        return -1;
    bool exists = stat(r->path, &old) == 0;
    if (!exists || S_ISREG(old.st_mode))
        return open_beside(r, exists ? &old : NULL);
    r->fd = base_io_open(r->path, O_WRONLY | O_NOCTTY | (wait ? 0 : O_NONBLOCK), 0);
    return r->fd < 0 ? failed(r, "can't write") : 0;
}

void base_replace_abandon(struct base_replace *r)
{
    int saved = errno;
    if (r->fd >= 0)
        close(r->fd);
    if (r->name[0])
        unlink(r->name);
    if (r->directory >= 0)
        close(r->directory);
    r->fd = r->directory = -1;
    errno = saved;
}

/* The file is whole and synced, or an error is known. Pipes and the like know no sync. */
static int close_written(struct base_replace *r)
{
    int fd = r->fd, error = fd >= 0 && r->name[0] && !r->at_once && base_io_sync(fd) ? errno : 0;
    r->fd = -1;
    if (fd >= 0 && base_io_close(fd) && !error)
        error = errno;
    errno = error;
    return error ? failed(r, "can't write") : 0;
}

int base_replace_commit(struct base_replace *r)
{
    int result = close_written(r);
    if (!result && r->name[0] && rename(r->name, r->path))
        result = failed(r, "can't put it in place");
    if (result) {
        base_replace_abandon(r);
        return result;
    }
    if (r->directory >= 0) {
        if (!r->at_once)
            base_io_sync(r->directory); /* the new file is whole and in place; that the name lasts is best effort */
        close(r->directory);
    }
    return 0;
}

/* Some file systems have no second names: there the file moves, and who comes first has a name. */
static int keep_as(const char *path, const char *name)
{
    struct stat st;
    if (!link(path, name))
        return 0;
    if (errno == EEXIST || !lstat(name, &st)) {
        errno = EEXIST;
        return -1;
    }
    return rename(path, name);
}

int base_replace_keep(const char *path, char kept[PATH_MAX])
{
    struct base_replace r;
    int error = resolve(&r, path);
    for (unsigned i = 1; !error; i++) {
        if ((size_t)snprintf(kept, PATH_MAX, "%s.old-%u", r.path, i) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (!keep_as(r.path, kept))
            return 0;
        error = errno != EEXIST;
    }
    return -1;
}

int base_replace_possible(const char *path)
{
    struct base_replace r;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
        return S_ISDIR(st.st_mode) || access(path, W_OK) ? -1 : 0;
    }
    if (base_replace_open(&r, path, false))
        return -1;
    base_replace_abandon(&r);
    return 0;
}

/* --- What dead processes left --- */

/* Whether "PROCESS.HEX.tmp" tells a process that is no more. */
static bool is_left(const char *rest)
{
    char *end;
    if (*rest < '1' || *rest > '9')
        return false;
    long process = strtol(rest, &end, 10);
    size_t digits = *end == '.' ? strspn(end + 1, "0123456789abcdef") : 0;
    return digits && !strcmp(end + 1 + digits, ".tmp") && kill((pid_t)process, 0) && errno == ESRCH;
}

void base_replace_sweep(const char *path)
{
    struct base_replace r = { .fd = -1, .directory = -1 };
    char common[STEM + 64];
    struct stat st;
    int saved = errno;
    DIR *d = resolve(&r, path) || open_directory(&r) ? NULL : fdopendir(r.directory);
    if (d) {
        size_t n = (size_t)beginning(common, sizeof common, r.path + directory_length(r.path), 0);
        for (struct dirent *e; (e = readdir(d)) != NULL;)
            if (!strncmp(e->d_name, common, n) && is_left(e->d_name + n) &&
                fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
                st.st_uid == geteuid())
                unlinkat(dirfd(d), e->d_name, 0);
        closedir(d);
    } else if (r.directory >= 0) {
        close(r.directory);
    }
    errno = saved;
}
