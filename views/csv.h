/* SPDX-License-Identifier: MIT */
/* Comma-separated values, RFC 4180. Threads: owner.  Hook-safe: no. */
#ifndef PYTHIA_VIEWS_CSV_H
#define PYTHIA_VIEWS_CSV_H

#include <stdio.h>

struct report;
struct report_site;

/* The first cells of a line: function, caller, file, line, module, offset. */
void report_csv_place(struct report *r, const struct report_site *s, FILE *out);

#endif
