/* SPDX-License-Identifier: MIT */
/*
 * Where the threads of several processes are, as one tree:
 *
 *     main@app.c:10,12 [0-3]
 *       step@app.c:30 [0-2] > MPI_Reduce
 *       solve@app.c:88 [3]
 *
 * [0-3, 2.1-3]: the first threads of ranks 0 to 3, threads 1 to 3 of rank 2. What is in an MPI call ends with it.
 * Frames of runtimes and of what starts a thread are left out, and so are Pythia's own threads.
 *
 *   struct stacks *s = stacks_create();
 *   stacks_add(s, rank, process);  …        looks at one, some ms; again: what is not in the same functions at all
 *                                         looks "moves" beyond what these are
 *   stacks_print(s, out); stacks_json(s);   the tree of all
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cjson/cJSON.h>

struct stacks;

struct stacks *stacks_create(void);
void stacks_destroy(struct stacks *s); /* NULL is legal */
/* 0, or a negative errno (inside/walk.h; -EACCES: the process is another user's): the tree says why it is not in
   there, and what would allow it. */
int stacks_add(struct stacks *s, uint32_t rank, pid_t process);
void stacks_leave_out(struct stacks *s, uint32_t rank, int why);
/* Lines of the tree, and one for each reason why processes are not in it. */
void stacks_print(struct stacks *s, FILE *out);
/* { "tree": [ { function, file, who, lines, ranks, threads, inside } ], "not_seen": [ { rank, why } ],
   "stopped_seconds" }. The caller's. */
cJSON *stacks_json(struct stacks *s);
