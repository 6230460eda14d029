/* SPDX-License-Identifier: MIT */
/*
 * What the commands of `pythia` share: exit codes, one-line complaints, reading job files, writing output.
 *
 * A command is `int tool_NAME(int argc, char **argv)`: argv[0] is "pythia NAME" (for messages), the result is the exit
 * code. main() checks standard output when the process ends, so commands just print. An allocation that fails ends the
 * process in one place, memory.c: nobody else looks.
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "findings/report.h"
#include "job/job.h"
#include "tools/options.h"

enum tool_exit {
    TOOL_OK = 0,
    TOOL_NO = 1,     /* the answer is no: a check failed, files differ */
    TOOL_USAGE = 2,
    TOOL_INPUT = 3,  /* an input file is missing, damaged or not what the command needs */
    TOOL_OUTPUT = 4, /* the output could not be written */
    TOOL_MEMORY = 5, /* memory.c alone */
    TOOL_CANNOT_RUN = 126, /* as in a shell: found, but not executable */
    TOOL_NOT_FOUND = 127
};

#define COMMAND(name, where, help) int tool_##name(int argc, char **argv);
#include "tools/commands.def"
#undef COMMAND

/* One line on standard error: "pythia: …". */
void tool_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `made`, or the end of the command where that is NULL: of what is not malloc's, such as grammars and oracles. */
void *tool_need(void *made);

/* Reads a job file, or, where there is none but FILE.parts, these. Says so, and where parts are beside it. Returns
   TOOL_OK with *job, owned by the caller, or TOOL_INPUT after a complaint. */
int tool_read_job(const char *path, struct job **job);

/* A job file and the tables made of it; zeroed: none. */
struct tool_job {
    struct job *job;
    struct report *report;
};
/* Returns TOOL_OK, or TOOL_INPUT after a complaint. */
int tool_job_open(struct tool_job *j, const char *path);
void tool_job_close(struct tool_job *j);

/*
 * Has `print` write to a file that appears whole or not at all (a temporary one beside it, renamed at the end, removed
 * when a signal ends the command), or to standard output for NULL and "-". What is there and is not a regular file (a
 * pipe, /dev/full) is written directly. A regular file is replaced only where it is empty or begins as the new one
 * does, as an earlier output of the command, or by `force`: anything else, an input, a source or a program, is kept
 * first. Returns TOOL_OK, or TOOL_OUTPUT after a complaint.
 */
int tool_write(const char *path, bool force, void (*print)(void *context, FILE *out), void *context);

/* What is at `path` is kept as PATH.old-N; a line says that it was there and `what`. TOOL_OK, or TOOL_OUTPUT: it cannot
   be, which is said, too. */
int tool_keep(const char *path, const char *what);

/* Writes a job file in this way; the recording of another program is kept, too. */
int tool_write_job(const struct job *j, const char *path, bool force);
