/* SPDX-License-Identifier: MIT */
#include "job/binding.h"

#include "job/schema.h"
#include "pythia.h"

static int append(struct job *j, enum job_tables t, uint32_t rank, void *row)
{
    struct job_range here = { .first = rank, .count = 1, .stride = 1 };
    return job_rows_append(j, t, row, &(struct job_set){ &here, 1 }, 0, 1);
}

int job_binding_add(struct job *j, uint32_t rank, const char *processors, const char *each,
                    const struct job_binding *like)
{
    struct job_binding row = *like;
    row.processors = job_string(j, processors);
    row.each = each ? job_string(j, each) : GRAMMAR_NONE;
    return row.processors == GRAMMAR_NONE || (each && row.each == GRAMMAR_NONE)
               ? PYTHIA_ENOMEM : append(j, JOB_TABLE_BINDINGS, rank, &row);
}

int job_host_add(struct job *j, uint32_t rank, const char *cores, const char *memory)
{
    struct job_host row = { .cores = job_string(j, cores), .memory = job_string(j, memory) };
    return row.cores == GRAMMAR_NONE || row.memory == GRAMMAR_NONE ? PYTHIA_ENOMEM
                                                                   : append(j, JOB_TABLE_HOSTS, rank, &row);
}
