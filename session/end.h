/* SPDX-License-Identifier: MIT */
/*
 * The ends of a process that run no destructors: _exit and _Exit (handlers, children, the abort of Open MPI),
 * quick_exit, and exec. What was recorded is published before.
 *
 *     _exit(6) ──> ours: who has a session ends it, SECONDS at most ──> the C library's
 *
 * 1. It may be called in a signal handler, which has interrupted who holds a lock: a timer ends the wait, and with it
 *    the process, with its own exit code. On a signal's own stack there is no room: the helper writes the part.
 * 2. A launcher that ends a job by SIGTERM waits a moment for those that end already: so does this.
 * 3. A child, also one that shares our memory (vfork), has nothing to end.
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

/* `status`: what the process exits with; `from`: where in the code that was asked for, NULL: not known. */
typedef void session_ends(int status, const void *from);
/* When the library is loaded: calls `ends` where the process ends so and a session runs in it. Two at most. */
void session_at_end(session_ends *ends);
/* This process becomes the program at `path` (NULL: not known): its own session ends where that is one. */
void session_end_becomes(const char *path);
