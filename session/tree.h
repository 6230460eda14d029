/* SPDX-License-Identifier: MIT */
/*
 * What `pythia record` starts may be a script: a tree of processes, of which any may record.
 *
 *     pythia record -o F ./wrap.sh ──becomes──> sh ──┬── ./app        F
 *                                                    └── ./app        F.2
 *
 * The command makes a file in memory, hands its descriptor on and says in PYTHIA_TREE where it is. Each process that
 * begins a session adds a line to it, in one write: "PROCESS PATH". It tells
 *   - which of F, F.2, F.3, … is a process's own: as many before it have named the same path. The number belongs to the
 *     process: what one records after another session goes into the same file again;
 *   - when the process that the command became ends, whether anyone recorded. Where nobody did, it says so in a line.
 *   - when that process becomes a program that no library is loaded into (`bash -c ./static` does) and nobody recorded
 *     yet: it says so before. "0 PATH REASON" is such a program that another process started: the end tells of it.
 * Processes hand our library on to what they start: exec.c.
 * A program that closes descriptors that it does not know ends this; what it records goes to F as ever.
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

/* How many other processes of the tree have claimed this path before; 0 without a tree. */
unsigned session_tree_claim(const char *path);
/* This process becomes the program at `path`, or a child of it does: where nothing of that can be seen it is noted, and
   said by the first process, at its end, if nobody recorded. Safe between vfork and exec. */
void session_tree_becomes(const char *path);
void session_tree_starts(const char *path);
/* The next function of that name behind ours; `function` points to a pointer to it. exec.c. */
void session_find_next(const char *name, void *function);
/* This process becomes another program, which is to have a number of its own. */
void session_tree_another(void);
/* The process ends: if it is the first one and nobody recorded, it says so. */
void session_tree_over(void);
/* Somebody was told why there is no recording: nothing more is to be said. */
void session_tree_said(void);
