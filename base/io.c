/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 30, /* Linux moves no more than 2 GiB at once */ MOST_FILES = 65536 };

static const int ours[] = { SIGPIPE, SIGXFSZ };
enum { OURS = sizeof ours / sizeof ours[0] };

static void make_set(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < OURS; i++)
        sigaddset(set, ours[i]);
}

void base_io_hush(struct base_io_hush *h)
{
    int saved = errno;
    sigset_t set;
    make_set(&set);
    sigpending(&h->waiting);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &h->cancel);
    pthread_sigmask(SIG_BLOCK, &set, &h->before);
    errno = saved;
}

void base_io_unhush(const struct base_io_hush *h)
{
    static const struct timespec now = { 0 };
    int saved = errno;
    sigset_t waiting, caused;
    sigpending(&waiting);
    for (int i = 0; i < OURS; i++) {
        if (!sigismember(&waiting, ours[i]) || sigismember(&h->waiting, ours[i]))
            continue;
        sigemptyset(&caused);
        sigaddset(&caused, ours[i]);
        while (sigtimedwait(&caused, NULL, &now) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
    pthread_setcancelstate(h->cancel, NULL);
    errno = saved;
}

static int write_all(int fd, const unsigned char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size < PIECE ? size : PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : ENOSPC;
            return -1;
        }
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

int base_io_write(int fd, const void *data, size_t size)
{
    struct base_io_hush h;
    base_io_hush(&h);
    int result = write_all(fd, data, size);
    base_io_unhush(&h);
    return result;
}

/* `offset` below 0: from where the file is. */
static ssize_t read_some(int fd, unsigned char *data, size_t size, off_t offset)
{
    size_t at = 0;
    while (at < size) {
        size_t piece = size - at < PIECE ? size - at : PIECE;
        ssize_t n = offset < 0 ? read(fd, data + at, piece) : pread(fd, data + at, piece, offset + (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        at += (size_t)n;
    }
    return (ssize_t)at;
}

static ssize_t io_read_all(int fd, void *data, size_t size, off_t offset)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ssize_t n = read_some(fd, data, size, offset);
    pthread_setcancelstate(before, NULL);
    return n;
}

ssize_t base_io_read(int fd, void *data, size_t size)
{
    return io_read_all(fd, data, size, -1);
}

ssize_t base_io_read_at(int fd, void *data, size_t size, off_t offset)
{
    return io_read_all(fd, data, size, offset);
}

int base_io_open(const char *path, int flags, mode_t mode)
{
    int fd;
    while ((fd = open(path, flags | O_CLOEXEC, mode)) < 0 && errno == EINTR)
        ;
    return base_io_raise(fd);
}

size_t base_io_text(char *text, size_t size, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    int fd = n > 0 && (size_t)n < sizeof path ? base_io_open(path, O_RDONLY, 0) : -1;
    ssize_t got = fd >= 0 ? base_io_read(fd, text, size - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return got > 0 ? (size_t)got : 0;
}

int base_io_raise(int fd)
{
    int error = errno, high = fd >= 0 && fd < BASE_IO_FIRST ? fcntl(fd, F_DUPFD_CLOEXEC, BASE_IO_FIRST) : -1;
    if (high >= 0)
        close(fd);
    errno = error;
    return high >= 0 ? high : fd;
}

void base_io_make_room(void)
{
    int fd = base_io_open("/", O_PATH, 0);
    if (fd >= 0)
        close(fd);
}

bool base_io_own_table(void)
{
    if (unshare(CLONE_FILES))
        return false;
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0)
        return true;
    /* before Linux 5.9 */
    for (int fd = STDERR_FILENO + 1, end = (int)sysconf(_SC_OPEN_MAX); fd < end && fd < MOST_FILES; fd++)
        close(fd);
    return true;
}

int base_io_sync(int fd)
{
    int result;
    while ((result = fsync(fd)) < 0 && errno == EINTR)
        ;
    return result;
}

int base_io_close(int fd)
{
    return close(fd) && errno != EINTR ? -1 : 0; /* interrupted or not, Linux has closed it */
}
