/* SPDX-License-Identifier: MIT */
/*
 * A class's grammar as a person reads a program, in the notation of Grosclaude et al., "Tracing MPI binaries for
 * knowledge discovery": a line for each part of R,
 *
 *     CPU0: 720                                              computation before the call at callsite 0, us
 *     Bcast0: 487                                            the call at callsite 0, us
 *     (CPU2: 1308792.75+Allreduce2: 128.75)[4]: 5235686      a loop of 4 turns: means inside, the total at the end
 *
 * or as indented pseudo-code with the same figures, loops as "loop N times", and for each call its place in the source,
 * its peers relative to the own rank ("to rank+1") and the bytes of one call. Times are means over the members of the
 * class; inside a rule that is used in several places, over all of them. A rule that is used in several places and long
 * is printed once, under its name, so that the text is never much longer than the grammar.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_STRUCTURE_H
#define PYTHIA_REPORT_STRUCTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "job/job.h"
#include "report/names.h"

/* What pseudo-code says of a call beside its name: "halo@app.c:12". Ends in '\0', may be empty. */
typedef void report_place_fn(void *context, uint32_t terminal, char *text, size_t size);

struct report_structure {
    uint32_t depth;  /* loops nested deeper than this are shown as "…"; 0: no limit */
    bool collapse;   /* only the totals of lines, no times inside */
    bool indented;   /* pseudo-code instead of lines */
    report_place_fn *place; /* pseudo-code: where calls are; may be NULL */
    void *context;
};

/* Prints class `index` of the job. */
void report_print_structure(const struct job *j, uint32_t index, const struct report_names *names,
                            const struct report_structure *how, FILE *out);
/* The beginning of one node of R or of a rule, without times and without its end: "(CPU1+Send1)[124]", a few hundred
   characters at most. `out` is a memory stream or a file that can be sought. */
void report_print_shape(const struct job *j, uint32_t index, uint32_t node, const struct report_names *names,
                        FILE *out);

/* Peer and bytes of a call in one class: "to rank+1, 800 B"; "" where it has neither. */
void report_message_text(const struct job *j, const struct job_class *c, uint32_t node, char *text, size_t size);

#endif
