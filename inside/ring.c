/* SPDX-License-Identifier: MIT */
#include "inside/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

enum { PAGES = 2 /* the kernel's words, then the ring: 170 samples */ };

/* As the kernel writes it, in the order of the bits of sample_type. */
struct record { struct perf_event_header header; uint64_t address, at; };

int inside_ring_open(struct inside_ring *r, pid_t thread, uint64_t rate)
{
    struct perf_event_attr how = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof how, .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000000 / rate, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME, .exclude_kernel = 1,
        .exclude_hv = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC, .wakeup_events = 1,
    };
    *r = (struct inside_ring){ .fd = -1 };
    int fd = (int)syscall(SYS_perf_event_open, &how, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -1;
    void *memory = mmap(NULL, PAGES * (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    *r = (struct inside_ring){ fd, memory };
    return 0;
}

void inside_ring_close(struct inside_ring *r)
{
    if (!r->memory)
        return;
    munmap(r->memory, PAGES * (size_t)getpagesize());
    close(r->fd);
    *r = (struct inside_ring){ .fd = -1 };
}

/* From a place in the ring on, around its end. */
static void copy_from(const char *ring, uint64_t size, uint64_t at, void *to, size_t count)
{
    size_t first = size - at % size < count ? size - at % size : count;
    memcpy(to, ring + at % size, first);
    memcpy((char *)to + first, ring, count - first);
}

uint32_t inside_ring_read(struct inside_ring *r, struct inside_sample *samples, uint32_t room)
{
    uint32_t count = 0;
    struct record one;
    if (!r->memory)
        return 0;
    struct perf_event_mmap_page *page = r->memory;
    uint64_t size = (uint64_t)getpagesize(), at = page->data_tail;
    uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    for (const char *ring = (char *)r->memory + size; at < end && count < room; at += one.header.size) {
        copy_from(ring, size, at, &one, sizeof one.header);
        if (one.header.size < sizeof one.header)
            break;
        if (one.header.type != PERF_RECORD_SAMPLE || one.header.size != sizeof one)
            continue;
        copy_from(ring, size, at, &one, sizeof one);
        samples[count++] = (struct inside_sample){ one.at, one.address, false };
    }
    __atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
    return count;
}

/* What forbids it, as far as that can be told. */
static void say_why(int error, char *why, size_t size)
{
    char text[16];
    long level = 0;
    bool set = base_io_text(text, sizeof text, "/proc/sys/kernel/perf_event_paranoid") &&
               sscanf(text, "%ld", &level) == 1;
    if ((error == EACCES || error == EPERM) && set && level > 2)
        snprintf(why, size, "kernel.perf_event_paranoid is %ld (2 or less allows it)", level);
    else if (error == EACCES || error == EPERM)
        snprintf(why, size, "perf_event_open is forbidden here, as in many containers");
    else
        snprintf(why, size, "perf_event_open: %s", strerror(error));
}

bool inside_ring_allowed(char *why, size_t size)
{
    struct inside_ring r;
    if (inside_ring_open(&r, 0, 100)) {
        say_why(errno, why, size);
        return false;
    }
    inside_ring_close(&r);
    return true;
}
