/* SPDX-License-Identifier: MIT */
/*
 * A preload that makes the disk fail: FAULT=CALL:NUMBER:ERRNO. The call with that number (from 1), of those that have
 * to do with a file or directory whose path contains ".pythia", fails with ERRNO; with ERRNO 0, FAULT_PATH vanishes at
 * that moment and the call goes on. FAULT_DIR: a directory that counts too (its own fsync); FAULT_NAME: calls count
 * only for paths that contain it. CALL: open, write, short (a write that writes half first), fsync, close, rename,
 * mkdir. FAULT_LOG: a file that gets a line for each such call, so that a test knows how many there are.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAULT_API __attribute__((visibility("default")))

FAULT_API void __tsan_init(void);
FAULT_API void __tsan_init(void) {} /* as a sanitizer: what stands here stands before the C library for Pythia, too */

static _Atomic int count;

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void log_call(const char *call)
{
    const char *path = getenv("FAULT_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%s\n", call);
        fclose(f);
    }
}

/* Whether this is the one: then errno is set. */
static int strikes(const char *call, const char *path)
{
    char wanted[16] = "";
    int number = 0, code = 0;
    const char *fault = getenv("FAULT"), *victim = getenv("FAULT_PATH");
    const char *directory = getenv("FAULT_DIR");
    if (!path || (!strstr(path, ".pythia") && !(directory && !strcmp(path, directory))))
        return 0;
    const char *name = getenv("FAULT_NAME");
    if (name && !strstr(path, name))
        return 0;
    log_call(call);
    if (!fault || sscanf(fault, "%15[a-z]:%d:%d", wanted, &number, &code) != 3)
        return 0;
    if (strcmp(wanted, call) && !(!strcmp(wanted, "short") && !strcmp(call, "write")))
        return 0;
    if (++count != number)
        return 0;
    if (!code && victim) {
        char away[PATH_MAX];
        snprintf(away, sizeof away, "%s.away", victim);
        ((int (*)(const char *, const char *))real("rename"))(victim, away);
    }
    errno = code;
    return code;
}

static const char *path_of(int fd, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return path;
}

FAULT_API int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    if (flags & (O_WRONLY | O_RDWR) && strikes("open", path))
        return -1;
    return ((int (*)(const char *, int, ...))real("open"))(path, flags, mode);
}

FAULT_API int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    return open(path, flags, mode);
}

FAULT_API ssize_t write(int fd, const void *data, size_t size)
{
    char path[PATH_MAX];
    ssize_t (*next)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))real("write");
    const char *fault = getenv("FAULT");
    if (!strikes("write", path_of(fd, path)))
        return next(fd, data, size);
    if (fault && !strncmp(fault, "short", 5) && size > 1)
        return next(fd, data, size / 2);
    return -1;
}

FAULT_API int fsync(int fd)
{
    char path[PATH_MAX];
    if (strikes("fsync", path_of(fd, path)))
        return -1;
    return ((int (*)(int))real("fsync"))(fd);
}

FAULT_API int close(int fd)
{
    char path[PATH_MAX];
    int hit = strikes("close", path_of(fd, path)), code = errno;
    int result = ((int (*)(int))real("close"))(fd);
    if (!hit)
        return result;
    errno = code;
    return -1;
}

FAULT_API int rename(const char *from, const char *to)
{
    if (strikes("rename", to))
        return -1;
    return ((int (*)(const char *, const char *))real("rename"))(from, to);
}

FAULT_API int mkdir(const char *path, mode_t mode)
{
    if (strikes("mkdir", path))
        return -1;
    return ((int (*)(const char *, mode_t))real("mkdir"))(path, mode);
}
