/* SPDX-License-Identifier: MIT */
/*
 * Example of a plugin: a table of the calls as they happen, a line before and a line after each.
 *
 *   PYTHIA_PLUGIN=trace.so mpirun -n 4 pythia record -- ./app         writes pythia-trace.RANK.tsv, one a rank
 *
 *   PYTHIA_TRACE_OUTPUT   another beginning than "pythia-trace", or "-" for stderr
 *   PYTHIA_TRACE_CALLS    functions and classes, with commas ("p2p,MPI_Barrier"); default all
 *
 *   id     thread  call       cs  key  dest  count  size  time    comm
 *   17     0       MPI_Isend  3   PRE  1     100    8     41632   world        time in ns: the CPU burst before the call
 *   17     0       MPI_Isend  3   POS  1     100    8     520     world        the call itself
 */
#include <pythia.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *table;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static uint32_t rank;

static void open_table(void)
{
    const char *output = getenv("PYTHIA_TRACE_OUTPUT");
    char path[4096];
    if (output && strcmp(output, "-") == 0) {
        table = stderr;
    } else {
        snprintf(path, sizeof path, "%s.%" PRIu32 ".tsv", output && *output ? output : "pythia-trace", rank);
        table = fopen(path, "w");
        if (!table)
            fprintf(stderr, "pythia: trace: %s: %m; nothing is traced on rank %" PRIu32 "\n", path, rank);
    }
    if (table)
        fputs("#id\tthread\tcall\tcs\tkey\tdest\tcount\tsize\ttime\tcomm\n", table);
}

static const char *peer_text(int64_t peer, char text[24])
{
    if (peer == PYTHIA_PEER_ANY)
        return "ANY";
    if (peer == PYTHIA_PEER_NULL)
        return "NULL";
    if (peer == PYTHIA_PEER_NONE)
        return "-";
    snprintf(text, 24, "%" PRId64, peer);
    return text;
}

static void show(const struct pythia_record *r, void *data)
{
    char peer[24];
    (void)data;
    if (r->phase == PYTHIA_POST && !r->happened)
        return; /* a poll that found nothing */
    pthread_once(&opened, open_table);
    if (table)
        fprintf(table,
                "%" PRIu64 "\t%" PRIu32 "\t%s\t%" PRIu32 "\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%s\n", r->id,
                r->thread, r->call, r->callsite, r->phase == PYTHIA_PRE ? "PRE" : "POS", peer_text(r->peer, peer),
                r->count, r->element_size, r->elapsed_ns, *r->communicator ? r->communicator : "-");
}

int pythia_plugin_open(uint32_t version, uint32_t own_rank)
{
    const char *list = getenv("PYTHIA_TRACE_CALLS");
    char *calls = strdup(list && *list ? list : "all"), *rest = calls;
    int used = 0;
    if (version != PYTHIA_PLUGIN_VERSION || !calls) {
        free(calls);
        return 1;
    }
    rank = own_rank;
    for (char *what; (what = strsep(&rest, ","));) {
        int error = pythia_callback_register(what, PYTHIA_PRE | PYTHIA_POST, show, NULL);
        if (error && own_rank == 0)
            fprintf(stderr, "pythia: trace: PYTHIA_TRACE_CALLS: '%s' is no MPI call and no class of calls\n", what);
        used += error == 0;
    }
    free(calls);
    return used ? 0 : 2;
}

void pythia_plugin_close(void)
{
    if (table)
        fflush(table);
}
