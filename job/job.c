/* SPDX-License-Identifier: MIT */
#include "job/job.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/class.h"
#include "job/intern.h"
#include "job/schema.h"

struct job *job_create(void)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->index = calloc(1, sizeof *j->index);
    if (!j->index) {
        free(j);
        return NULL;
    }
    j->machine.tree = j->machine.energy = GRAMMAR_NONE;
    j->info.program = j->info.program_id = j->info.arguments = j->info.mpi = GRAMMAR_NONE;
    j->info.runs = j->info.block = 1;
    return j;
}

static void index_destroy(struct job_index *x)
{
    for (int kind = 0; kind < JOB_INTERNED_KINDS; kind++)
        job_table_free(&x->table[kind]);
    for (int kind = 0; kind < JOB_INTERNED_TERMINAL; kind++)
        free(x->hash[kind]);
    job_match_free(x->match);
    free(x);
}

void job_destroy(struct job *j)
{
    if (!j)
        return;
    for (uint32_t i = 0; i < j->string_count; i++)
        free(j->strings[i]);
    for (uint32_t i = 0; i < j->class_count; i++)
        job_class_clear(&j->classes[i]);
    free(j->strings);
    free(j->terminal_hash);
    free(j->classes);
    job_rows_free(j);
    if (j->store)
        j->store->close(j->store);
    index_destroy(j->index);
    free(j);
}
