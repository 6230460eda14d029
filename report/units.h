/* SPDX-License-Identifier: MIT */
/*
 * Figures for people: three to four significant digits and a unit.
 * Each writes at most 31 characters into `text` and returns it.  Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_UNITS_H
#define PYTHIA_REPORT_UNITS_H

#include <stdint.h>

const char *report_time(double ns, char text[32]);       /* "870 ns", "12.3 us", "4.56 ms", "1.23 s", "2h05m" */
const char *report_bytes(double bytes, char text[32]);   /* "512 B", "1.5 KiB", "3.2 GiB" */
const char *report_count(uint64_t count, char text[32]); /* "999", "12345", "1.23e+09" from 10^9 */

#endif
