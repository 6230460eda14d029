/* SPDX-License-Identifier: MIT */
/* What /proc says of a process of this node. Threads: any.  Hook-safe: no (system calls), but there is no malloc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch_process {
    char state;     /* R, S, D, T, t, Z, …; X: there is none. 0: not known, as of another number space */
    uint64_t ticks; /* processor time of all threads, clock ticks */
    uint64_t start; /* clock ticks since the machine started */
    uint64_t used_ns, delayed_ns; /* its main thread had a processor; could have run, and had none. 0: not known */
};

void watch_process_read(uint32_t pid, struct watch_process *p);
/* Next to no processor time in so many ns, or until a while ago, although it could have run. */
bool watch_process_starves(const struct watch_process *p, const struct watch_process *before, uint64_t ns);
/* For how long it has had no processor time, as who looks again and again has seen. */
struct watch_used { uint64_t start, ticks, since; };
uint64_t watch_process_idle(const struct watch_process *p, struct watch_used *u, uint64_t now);
/* Arguments of this one with blanks between them, cut at `size`; "" where they cannot be read. */
void watch_process_command(char *text, size_t size);
/* A file's name from the root on, links of its directory followed; the file need not be there. As it is where the
   directory is not there. */
void watch_process_file(const char *file, char *text, size_t size);
/* Of the space of process numbers that this process lives in; 0: not known. */
uint64_t watch_process_space(void);
