/* SPDX-License-Identifier: MIT */
/* The `pythia` command: finds the command that was asked for and checks, at the end, that the output arrived. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "tools/tool.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

const char *argp_program_version = "pythia " PACKAGE_VERSION;

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
#define COMMAND(name, where, help) { #name, tool_##name, help },
#include "tools/commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out)
{
    fprintf(out,
            "Usage: pythia COMMAND [OPTION...] ...\n"
            "An oracle for hybrid MPI + OpenMP programs: record a run, predict the next ones,\nread the record.\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\n  pythia COMMAND --help     options and an example\n"
                 "  pythia --options          what the environment can say to a run, PYTHIA_…\n"
                 "  pythia --version\n\n"
                 "Example:\n"
                 "  mpirun -n 8 pythia record ./app    writes app.pythia\n"
                 "  mpirun -n 8 pythia predict ./app   follows it, acts, and says how good it was\n"
                 "  pythia report app.pythia\n\n"
                 "Exit codes: 0 fine, 1 the answer is no, 2 usage, 3 bad input file, 4 output not\n"
                 "written, 5 out of memory; record and predict: the program's own.\n");
}

/* Whether standard output is a pipe that nobody reads any more. */
static int is_closed_pipe(void)
{
    struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

    return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

/* At exit: a full disk or a closed pipe must not pass for success. The latter needs no words: `| head` has what it
   wanted. */
static void check_stdout(void)
{
    int failed = ferror(stdout) || fflush(stdout) != 0, error = errno;

    if (failed && is_closed_pipe())
        _exit(TOOL_OUTPUT);
    if (!failed && fclose(stdout) == 0)
        return;
    fprintf(stderr, "pythia: cannot write standard output: %s\n", strerror(failed ? error ? error : EIO : errno));
    _exit(TOOL_OUTPUT);
}

static const struct command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static char help_option[] = "--help";

/* argv[0] of a command is "pythia NAME": argp and getopt begin their messages with it. */
static int run(const struct command *command, int argc, char **argv)
{
    char name[32];

    snprintf(name, sizeof name, "pythia %s", command->name);
    argv[0] = name;
    if (argc > 1 && !strcmp(argv[1], "-h")) /* argp has -? only */
        argv[1] = help_option;
    return command->run(argc, argv);
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

int main(int argc, char **argv)
{
    argp_err_exit_status = TOOL_USAGE;
    if (argc < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }
    if (argc == 3 && is_help(argv[1]) && find(argv[2])) { /* pythia help report = pythia report --help */
        argv[1] = argv[2];
        argv[2] = help_option;
    }
    const struct command *command = find(argv[1]);
    int runs_program = command && (command->run == tool_record || command->run == tool_predict);
    /* A closed pipe and a limit of file size are told as errors of write(); the program that is run keeps what it was
       given. */
    if (!runs_program) {
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
    }
    atexit(check_stdout);
    if (command)
        return run(command, argc - 1, argv + 1);
    if (is_help(argv[1]))
        print_help(stdout);
    else if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        puts(argp_program_version);
    else if (!strcmp(argv[1], "--options"))
        base_options_print(stdout);
    else if (!strcmp(argv[1], "--options=man")) /* for the manual page */
        base_options_print_man(stdout);
    else {
        tool_complain("no command '%s'; see pythia --help", argv[1]);
        return TOOL_USAGE;
    }
    return TOOL_OK;
}
