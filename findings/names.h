/* SPDX-License-Identifier: MIT */
/*
 * Names of terminals for people. Callsites are numbered from 0 in the order in which terminals first use them; a
 * terminal is its function and that number:
 *
 *   MPI_Isend@3      the call at callsite 3; "MPI_Isend@3.2" where callsite 3 has another terminal of that name (on
 *                    another communicator, say)
 *   omp_parallel@5   a parallel region
 *   MPI_Barrier@4{   and  MPI_Barrier@4}: begin and end of a span with others inside
 *   word             of a text stream
 *
 * Threads: any, once created.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"

struct findings_names;

struct findings_names *findings_names_create(const struct job *j);
void findings_names_destroy(struct findings_names *n); /* NULL is legal */

/* "MPI_Isend@3"; "LOST" for GRAMMAR_LOST, "?" for what the job does not have. Also a grammar_name_fn. */
const char *findings_name(void *names, uint32_t terminal);
/* Number of a callsite, GRAMMAR_NONE when no terminal uses it. */
uint32_t findings_site_number(const struct findings_names *n, uint32_t callsite);
/* Texts for a line (findings/units.h). The call or region as a whole, opened or not, for where its place stands beside
   it: "MPI_Isend", "omp parallel". */
char *findings_site_name(const struct findings_names *n, uint32_t terminal);
/* Function with its phase: "MPI_Isend", "omp parallel", "MPI_Barrier{". */
char *findings_function_text(const struct job *j, uint32_t terminal);
