/* SPDX-License-Identifier: MIT */
/*
 * What Pythia has to say: single lines on stderr, "pythia: …", one write(2) each so that ranks do not mix.
 *
 * Verbosity (PYTHIA_VERBOSE): 0 silent, 1 what a user must know (the default), 2 also how things were decided.
 * Threads: any.  Hook-safe: no, but used in hooks where something failed, once.
 */
#ifndef PYTHIA_BASE_LOG_H
#define PYTHIA_BASE_LOG_H

void base_log_verbosity(int level);
/* Shown at level 1 and above. */
__attribute__((format(printf, 1, 2))) void base_log_info(const char *format, ...);
__attribute__((format(printf, 1, 2))) void base_log_warn(const char *format, ...);
/* Shown at level 2. */
__attribute__((format(printf, 1, 2))) void base_log_debug(const char *format, ...);

#endif
