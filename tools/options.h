/* SPDX-License-Identifier: MIT */
/*
 * A command's line as a table: a row says how an option is written, what it may be, where its value goes in the
 * command's `struct request` and what --help says of it.
 *
 *     static const struct tool_option options[] = {
 *         TOOL_COUNT(rank, 'r', "rank", "R", 0, UINT32_MAX, "rank whose events to print (required)"),
 *         TOOL_TEXT(output, 'o', "output", "FILE", "write to FILE"),
 *         { 0 },
 *     };
 *
 * What is not given stays as it was in the request. What is given wrongly ends the command: "--rank must be a number
 * from 0 to 4294967295, not 'x'". Without a letter an option has its name only.
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void tool_take(void *request, char *arg, struct argp_state *state);

struct tool_option {
    const char *name, *argument, *help; /* an argument in brackets may be left out; no help: hidden */
    enum tool_type { TOOL_IS_SWITCH, TOOL_IS_TEXT, TOOL_IS_COUNT, TOOL_IS_CHOICE, TOOL_IS_MEASURE, TOOL_IS_TAKEN } type;
    int letter;               /* 0: none */
    size_t at;                /* of its field in the request */
    uint64_t least, most;     /* of a count; most 0: no limit */
    const char *const *words; /* of a choice, NULL at the end */
    tool_take *take;          /* of what is read otherwise */
};

/* The place of a field, which must have one of the types. */
#define TOOL_AT(field, ...) \
    (offsetof(struct request, field) + 0 * sizeof(_Generic(((struct request *)0)->field, __VA_ARGS__)))

#define TOOL_SWITCH(field, letter, name, help) \
    { name, NULL, help, TOOL_IS_SWITCH, letter, TOOL_AT(field, bool: 0), 0, 0, NULL, NULL }
#define TOOL_TEXT(field, letter, name, argument, help) \
    { name, argument, help, TOOL_IS_TEXT, letter, TOOL_AT(field, const char *: 0), 0, 0, NULL, NULL }
#define TOOL_COUNT(field, letter, name, argument, least, most, help) \
    { name, argument, help, TOOL_IS_COUNT, letter, TOOL_AT(field, uint64_t: 0), least, most, NULL, NULL }
/* The number of the word, into an int or an enumeration. */
#define TOOL_CHOICE(field, letter, name, argument, words, help) \
    { name, argument, help, TOOL_IS_CHOICE, letter, TOOL_AT(field, int: 0, unsigned: 0), 0, 0, words, NULL }
/* Where a command writes to: fields `output` and `force`. */
#define TOOL_OUTPUT(argument, help) \
    TOOL_TEXT(output, 'o', "output", argument, help), \
    TOOL_SWITCH(force, 0, "force", "replace what is there, whatever it is; else it is kept as FILE.old-1")
/* A number of at least 0, into a double. */
#define TOOL_MEASURE(field, letter, name, argument, help) \
    { name, argument, help, TOOL_IS_MEASURE, letter, TOOL_AT(field, double: 0), 0, 0, NULL, NULL }
#define TOOL_TAKEN(take, letter, name, argument, help) \
    { name, argument, help, TOOL_IS_TAKEN, letter, 0, 0, 0, NULL, take }

struct tool_line {
    const struct tool_option *options; /* NULL: none */
    const char *arguments, *doc;       /* as --help prints them */
    const char *what;                  /* the only argument, which must be there: "job file" … */
    size_t at;                         /* … and its field */
    tool_take *take;                   /* or who takes each one */
    bool command;                      /* or a program, whose all that follows is: to `at`, NULL-terminated */
    void (*check)(void *request, struct argp_state *state); /* at the end: what does not go together; or NULL */
};

#define TOOL_ONLY(text, field) .what = text, .at = TOOL_AT(field, const char *: 0)
#define TOOL_COMMAND(field) .command = true, .at = TOOL_AT(field, char **: 0)

/* Fills the request in; ends the process for --help and for what is wrong. */
void tool_parse(const struct tool_line *line, int argc, char **argv, void *request);

/* A decimal number without sign, `least` to `most` (0: no limit); else the command ends with "WHAT must be …". */
uint64_t tool_number(const char *arg, const char *what, uint64_t least, uint64_t most, struct argp_state *state);
