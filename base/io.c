/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 30 }; /* Linux moves no more than 2 GiB at once */

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

static ssize_t read_all(int fd, void *data, size_t size, off_t offset)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ssize_t n = read_some(fd, data, size, offset);
    pthread_setcancelstate(before, NULL);
    return n;
}

ssize_t base_io_read(int fd, void *data, size_t size)
{
    return read_all(fd, data, size, -1);
}

ssize_t base_io_read_at(int fd, void *data, size_t size, off_t offset)
{
    return read_all(fd, data, size, offset);
}

int base_io_open(const char *path, int flags, mode_t mode)
{
    int fd;
    while ((fd = open(path, flags | O_CLOEXEC, mode)) < 0 && errno == EINTR)
        ;
    return fd;
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
