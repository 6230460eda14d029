/* SPDX-License-Identifier: MIT */
/* `pythia merge`: joins the part files that a run left behind when it died before MPI_Finalize. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findings/places.h"
#include "tools/parts.h"
#include "tools/tool.h"

struct request {
    const char *directory, *output;
    bool force;
};

static const struct tool_option options[] = {
    TOOL_OUTPUT("FILE", "job file to write (required)"),
    { 0 },
};

static void check(void *request, struct argp_state *state)
{
    if (!((struct request *)request)->output)
        argp_error(state, "no --output");
}

static const struct tool_line usage = {
    .options = options, .arguments = "DIR --output=FILE", TOOL_ONLY("directory", directory), .check = check,
    .doc = "Joins the part files DIR/*.pythia of a run that died into one job file, and says which ranks are "
           "missing. A file holds the parts of all ranks of a node; of a rank that was killed while it wrote the part "
           "before counts."
           "\v"
           "Exit code: 0 when a file was written, also when parts are missing or damaged (each is told); 3 when there is "
           "no usable part.\n\n"
           "Example:\n"
           "  pythia merge app.pythia.parts -o app.pythia\n",
};

/* Whether the output is a file that stands among the parts. */
static bool is_part(const struct request *r)
{
    struct stat parts, place;
    BASE_OWN char *path = strdup(r->output);
    bool among = access(path, F_OK) == 0 && stat(r->directory, &parts) == 0 && stat(dirname(path), &place) == 0 &&
                 parts.st_dev == place.st_dev && parts.st_ino == place.st_ino;

    return among;
}

static int write_job(const struct job *j, const struct request *r)
{
    if (parts_print_missing(j, stdout))
        putchar('\n');
    int rc = tool_write_job(j, r->output, r->force);
    if (rc != TOOL_OK)
        return rc;
    printf("%s: %u of %u ranks\n", r->output, j->info.ranks - j->info.missing, j->info.ranks);
    return TOOL_OK;
}

int tool_merge(int argc, char **argv)
{
    struct request r = { 0 };
    struct job *whole = NULL;

    tool_parse(&usage, argc, argv, &r);
    int rc = parts_join(r.directory, &whole);
    if (rc == TOOL_OK && !r.force && is_part(&r))
        rc = tool_keep(r.output, "one of the parts");
    if (rc == TOOL_OK) {
        findings_places_keep(whole, 0);
        rc = write_job(whole, &r);
    }
    job_destroy(whole);
    return rc;
}
