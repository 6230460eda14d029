/* SPDX-License-Identifier: MIT */
/*
 * Lines for people, on standard error, never on standard output: "pythia: MESSAGE". A line is one write(), so that the
 * lines of many ranks do not mix, and is cut at BASE_LOG_LINE bytes. errno is kept.
 *
 * PYTHIA_VERBOSE: 0 nothing; 1, the default, what a user must know (warn, info); 2 also how things were decided (debug).
 * Threads: any.  Hook-safe: no (a system call), but there is no lock and no malloc.
 */
#ifndef PYTHIA_BASE_LOG_H
#define PYTHIA_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

enum { BASE_LOG_LINE = 2048 };

void base_log_verbosity(int level);
void base_log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void base_log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void base_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A warning that is given once: `said` is ATOMIC_FLAG_INIT before. */
void base_log_once(atomic_flag *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether this process may speak for the job: no launcher says that it is another rank than 0. For what every rank
   would say alike, before MPI is initialised. */
bool base_log_is_first_rank(void);

#endif
