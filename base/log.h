/* SPDX-License-Identifier: MIT */
/*
 * Lines for people, on standard error, never on standard output: "pythia: MESSAGE". A line is one write(), so that the
 * lines of many ranks do not mix; it is cut at BASE_LOG_LINE bytes, and has no control characters. errno is kept. Where
 * nobody reads them any more, they are lost, and nothing else happens.
 *
 * PYTHIA_VERBOSE: 0 nothing; 1, the default, what a user must know (warn, info); 2 also how things were decided
 * (debug).
 * Threads: any.  Hook-safe: no (a system call), but there is no lock and no malloc.
 */
#pragma once

#include <stdbool.h>

enum { BASE_LOG_LINE = 2048 };

void base_log_verbosity(int level);
void base_log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void base_log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void base_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether this process may speak for the job: no launcher says that it is another rank than 0. For what every rank
   would say alike. */
bool base_log_is_first_rank(void);
