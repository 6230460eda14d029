/* SPDX-License-Identifier: MIT */
/* `pythia merge`: joins the part files that a run left behind when it died before MPI_Finalize. */
#include <argp.h>
#include <stdlib.h>

#include "tools/parts.h"
#include "tools/tool.h"

struct request {
    const char *directory, *output;
};

static const struct argp_option options[] = {
    { "output", 'o', "FILE", 0, "job file to write (required)", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;

    switch (key) {
    case 'o':
        r->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (r->directory)
            argp_error(state, "one directory only");
        r->directory = arg;
        return 0;
    case ARGP_KEY_END:
        if (!r->directory)
            argp_error(state, "no directory");
        if (!r->output)
            argp_error(state, "no --output");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "DIR --output=FILE",
    .doc = "Joins the part files DIR/*.pythia of a run that died into one job file, and says which ranks are missing."
           "\v"
           "Exit code: 0 when a file was written, also when parts are missing or damaged (each is told); 3 when there is "
           "no usable part.\n\n"
           "Example:\n"
           "  pythia merge app.pythia.parts -o app.pythia\n",
};

static int write_job(const struct job *j, const char *path)
{
    if (parts_print_missing(j, stdout))
        putchar('\n');
    int rc = tool_write_job(j, path);
    if (rc != TOOL_OK)
        return rc;
    printf("%s: %u of %u ranks\n", path, j->info.ranks - j->info.missing, j->info.ranks);
    return TOOL_OK;
}

int tool_merge(int argc, char **argv)
{
    struct request r = { 0 };
    struct job *whole = NULL;

    argp_parse(&argp, argc, argv, 0, NULL, &r);
    int rc = parts_join(r.directory, &whole);
    if (rc == TOOL_OK)
        rc = write_job(whole, r.output);
    job_destroy(whole);
    return rc;
}
