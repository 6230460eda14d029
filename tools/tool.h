/* SPDX-License-Identifier: MIT */
/*
 * What the commands of `pythia` share: exit codes, one-line complaints, reading job files, writing output.
 *
 * A command is `int tool_NAME(int argc, char **argv)`: argv[0] is "pythia NAME" (for messages), the result is the exit
 * code. main() checks standard output when the process ends, so commands just print.
 *
 * Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TOOLS_TOOL_H
#define PYTHIA_TOOLS_TOOL_H

#include <argp.h>
#include <stdio.h>

#include "merge/job.h"

enum tool_exit {
    TOOL_OK = 0,
    TOOL_NO = 1,     /* the answer is no: a check failed, files differ */
    TOOL_USAGE = 2,
    TOOL_INPUT = 3,  /* an input file is missing, damaged or not what the command needs */
    TOOL_OUTPUT = 4, /* the output could not be written */
    TOOL_MEMORY = 5,
    TOOL_CANNOT_RUN = 126, /* as in a shell: found, but not executable */
    TOOL_NOT_FOUND = 127
};

int tool_record(int argc, char **argv);
int tool_predict(int argc, char **argv);
int tool_report(int argc, char **argv);
int tool_events(int argc, char **argv);
int tool_export(int argc, char **argv);
int tool_grammar(int argc, char **argv);
int tool_infer(int argc, char **argv);
int tool_evaluate(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_check(int argc, char **argv);
int tool_merge(int argc, char **argv);
int tool_doctor(int argc, char **argv);

/* One line on standard error: "pythia: …". */
void tool_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Parses a decimal number without sign, at most `max`. Returns 0, or -1 when `text` is anything else. */
int tool_number(const char *text, uint64_t max, uint64_t *value);

/* The end of an argp parser of a command on one job file: takes the file's name, complains of none and of two. */
error_t tool_job_argument(int key, char *arg, struct argp_state *state, const char **job);

/* Reads a job file. Returns TOOL_OK with *job, owned by the caller, or complains and returns TOOL_INPUT. */
int tool_read_job(const char *path, struct job **job);

/*
 * Where a command writes: a file that appears whole or not at all (a temporary one beside it, renamed at the end, removed
 * when a signal ends the command), or standard output for NULL and "-". What is there and is not a regular file (a pipe,
 * /dev/full) is written directly. One at a time.
 */
struct tool_output {
    FILE *file;
    char *path;      /* NULL: standard output */
    char *temporary; /* NULL: written directly */
};
/* Both return TOOL_OK, or complain and return TOOL_OUTPUT. */
int tool_output_open(struct tool_output *o, const char *path);
/* `keep` 0: the output is given up, the old file stays. */
int tool_output_close(struct tool_output *o, int keep);

/* Writes a job file in this way. Returns TOOL_OK, or complains and returns TOOL_OUTPUT or TOOL_MEMORY. */
int tool_write_job(const struct job *j, const char *path);

#endif
