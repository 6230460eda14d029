/* SPDX-License-Identifier: MIT */
/* `pythia check`: reads a job file (checksums, bounds) and audits its invariants. */
#include <inttypes.h>
#include <string.h>

#include "tools/tool.h"

struct request {
    const char *job;
};

static const struct tool_line usage = {
    .arguments = "JOB", TOOL_ONLY("job file", job),
    .doc = "Verifies a job file: every checksum and every invariant. Prints one line."
           "\v"
           "Exit code: 0 when all is well, 1 when the file can be read but an invariant does not hold, 3 when it cannot be "
           "read (missing, damaged, foreign).\n\n"
           "Example:\n"
           "  pythia check app.pythia\n",
};

int tool_check(int argc, char **argv)
{
    struct request r = { 0 };
    struct job *j;
    char why[256] = "";
    uint64_t events = 0;

    tool_parse(&usage, argc, argv, &r);
    int rc = tool_read_job(r.job, &j);
    if (rc != TOOL_OK)
        return rc;
    if (job_check(j, why, sizeof why) != 0) {
        tool_complain("%s: %s", r.job, why);
        job_destroy(j);
        return TOOL_NO;
    }
    for (uint32_t i = 0; i < j->stream_count; i++)
        events += j->streams[i].events;
    printf("ok %s: %u ranks", r.job, j->info.ranks);
    if (j->info.missing)
        printf(" (%u missing)", j->info.missing);
    printf(", %" PRIu64 " streams, %u groups, %u callsites, %" PRIu64 " events\n", job_streams(j), j->class_count,
           j->callsite_count, events);
    job_destroy(j);
    return TOOL_OK;
}
