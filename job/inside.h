/* SPDX-License-Identifier: MIT */
/*
 * Where threads computed, by samples of their processor time (inside/ring.h): what they were in, and at which
 * instruction. Merged by these; what an address is in the source is read from the program's files.
 *
 *     before MPI_Allreduce    solver+0x1234      61 samples, on ranks 0-3
 *     inside MPI_Allreduce    libmpi+0x98a0      12 samples, on ranks 0-2
 *
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

enum job_inside_kind {
    JOB_INSIDE_GAP,     /* before the event of that terminal; GRAMMAR_NONE: after the last one */
    JOB_INSIDE_EVENT,   /* within it: a call, or a region with nothing else inside */
    JOB_INSIDE_UNKNOWN, /* one row, of no terminal and module: in what is not known */
    JOB_INSIDE_BESIDE,  /* of no terminal: threads that make no calls, in no region of a team of theirs */
    JOB_INSIDE_KINDS
};

struct job_inside {
    uint32_t terminal, kind, module; /* module GRAMMAR_NONE: code that was made at run time */
    uint64_t offset, samples;
    uint64_t ranks;                  /* that have it: bit rank modulo 64 */
};

struct job_inside_list {
    struct job_inside *of;
    uint32_t count, room;
};
