/* SPDX-License-Identifier: MIT */
/* `pythia doctor`: the command line and the order of the checks; see doctor.h. */
#include "config.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/doctor.h"
#include "tools/program.h"
#include "tools/tool.h"

struct request {
    char **command; /* NULL-terminated, NULL without */
    bool probe, omp;
};

static const struct tool_option options[] = {
    TOOL_SWITCH(omp, 0, "omp", "the program's parallel regions: which may be changed, which are left alone and why"),
    TOOL_SWITCH(probe, 0, "probe", NULL), /* what a rank finds, for doctor itself */
    { 0 },
};

static void check(void *request, struct argp_state *state)
{
    const struct request *r = request;

    if (r->omp && !r->command)
        argp_error(state, "--omp needs a program");
}

static const struct tool_line usage = {
    .options = options, .arguments = "[[--] COMMAND...]", TOOL_COMMAND(command), .check = check,
    .doc =
        "Says what works on this machine, and why something does not: a line a check, with what was found and how to "
        "repair it."
        "\v"
        "COMMAND is what you want to run, with or without its launcher; or stand inside the launcher, as record does. "
        "The program itself is never run: what it would load is read from its file, and in its place the launcher "
        "starts a probe.\n\n"
        "ok: works. note: works slowly, in part or perhaps. FAIL: would break.\n"
        "Exit code: 0, or 1 when something would break.\n\n"
        "Examples:\n"
        "  pythia doctor\n"
        "  pythia doctor -- mpirun -n 8 ./app 100\n"
        "  mpirun -n 8 pythia doctor -- ./app 100\n",
};

static unsigned failures;

void doctor_say(enum doctor_state state, const char *checked, const char *repair, const char *found, ...)
{
    static const char *const word[] = { "ok", "note", "FAIL" };
    char text[2 * PATH_MAX];
    va_list args;

    va_start(args, found);
    vsnprintf(text, sizeof text, found, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    printf("%-5s %-13s %s%s%s\n", word[state], checked, text, repair ? "; " : "", repair ? repair : "");
    failures += state == DOCTOR_BROKEN;
}

const char *doctor_mpi_name(enum doctor_mpi mpi)
{
    return mpi == DOCTOR_OPEN_MPI ? "Open MPI" : mpi == DOCTOR_MPICH ? "MPICH" : "no MPI";
}

enum doctor_mpi doctor_built_for(void)
{
    return !strcmp(MPI_FLAVOUR, "openmpi") ? DOCTOR_OPEN_MPI
           : !strcmp(MPI_FLAVOUR, "mpich") ? DOCTOR_MPICH
                                           : DOCTOR_NO_MPI;
}

/* Finds the program behind launchers and wrappers. Returns TOOL_OK, or complains as the shell would. */
static int find_target(struct doctor_target *t, char **command)
{
    *t = (struct doctor_target){ .argv = command, .program = program_index(command) };
    t->name = command[t->program];
    if (!t->name) {
        tool_complain("%s: no program in this command that can be run", command[0]);
        return TOOL_NOT_FOUND;
    }
    int rc = program_find(t->name, t->path, sizeof t->path);
    if (rc == 0 && binary_read(t->path, &t->binary) == 0) {
        if (program_choose_library(t->path, command + t->program + 1, t->library, sizeof t->library) != 0)
            t->library[0] = '\0';
        return TOOL_OK;
    }
    tool_complain("cannot run %s: %s", t->name, strerror(rc ? rc : EACCES));
    return rc == ENOENT ? TOOL_NOT_FOUND : TOOL_CANNOT_RUN;
}

static int examine(char **command)
{
    struct doctor_target target;

    if (command) {
        int rc = find_target(&target, command);
        if (rc != TOOL_OK)
            return rc;
    }
    doctor_machine(command ? &target : NULL);
    if (command)
        doctor_program(&target);
    doctor_launch(command ? &target : NULL);
    if (failures)
        printf("\n%u thing%s would break: see FAIL above\n", failures, failures == 1 ? "" : "s");
    else
        printf("\nnothing would break\n");
    return failures ? TOOL_NO : TOOL_OK;
}

static int examine_omp(char **command)
{
    struct doctor_target target;
    int rc = find_target(&target, command);

    if (rc != TOOL_OK)
        return rc;
    return tool_doctor_omp(target.path, command + target.program);
}

int tool_doctor(int argc, char **argv)
{
    struct request r = { 0 };

    tool_parse(&usage, argc, argv, &r);
    if (r.probe)
        return doctor_probe();
    if (!base_log_is_first_rank()) /* rank 0 speaks for all */
        return TOOL_OK;
    return r.omp ? examine_omp(r.command) : examine(r.command);
}
