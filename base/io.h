/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing files inside somebody else's process.
 *
 *   1. A call that a signal interrupts is made again, and what a call left over is written or read by the next one.
 *   2. A write of ours that the kernel refuses (a limit of file size, a reader that is gone) is an errno value and
 *      nothing else: the SIGXFSZ or SIGPIPE that comes with it does not reach the program. The kernel sends both to the
 *      thread that writes, so this thread puts them off, and takes back the one that its own write caused. What the
 *      program does with these signals is not changed for a moment, and one of its own that was put off already stays.
 *   3. No thread is cancelled in here.
 *   4. The lowest free descriptor is the program's: those that we keep are high ones.
 *
 * Functions return -1 with errno set where they fail.
 * Threads: any.  Hook-safe: no (system calls), but there is no lock and no malloc.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { BASE_IO_FIRST = 100 };

/* Between these two, in one thread, rules 2 and 3 hold for whatever is written: also by a library. errno is kept. */
struct base_io_hush {
    sigset_t before, waiting;
    int cancel;
};
void base_io_hush(struct base_io_hush *h);
void base_io_unhush(const struct base_io_hush *h);

/* All of it: 0, or -1. What a file takes no more of is ENOSPC. */
int base_io_write(int fd, const void *data, size_t size);
/* How many bytes came before the end: `size`, or fewer there. */
ssize_t base_io_read(int fd, void *data, size_t size);
ssize_t base_io_read_at(int fd, void *data, size_t size, off_t offset);
/* The beginning of a file whose name is printed, with '\0' behind it: how many bytes, 0 where it cannot be read. */
size_t base_io_text(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Close-on-exec, and out of the program's way: a descriptor of 100 or more, where the limits allow. */
int base_io_open(const char *path, int flags, mode_t mode);
/* The same of a descriptor that is open, which is closed. -1 is legal, errno stays. */
int base_io_raise(int fd);
/* While the process has one thread: makes the table of descriptors as large as rule 4 needs it. Later the kernel would
   wait for all processors first, 5 to 20 ms. */
void base_io_make_room(void);
/* For a thread of ours: what it opens from now on is in a table of its own, and only stderr of the program's is in
   it. False: it is the program's. */
bool base_io_own_table(void);
int base_io_sync(int fd);
/* Of a file that was written: an error that the file system put off until now. The descriptor is free in any case. */
int base_io_close(int fd);
