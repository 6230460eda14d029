/* SPDX-License-Identifier: MIT */
/*
 * The options, from one self-documenting table (options.def) that also gives --help and the man page their text.
 *
 * A value that cannot be used is said on stderr, with what is allowed, by the first rank and once a process, and the
 * default stands: a wrong environment must not stop somebody's job. An empty variable counts as unset.
 * Threads: any, not while another one loads.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What the oracle does unless told otherwise: on other processors it was never run but under emulation. */
#ifdef __x86_64__
#define BASE_ACTS "all"
#else
#define BASE_ACTS "none"
#endif

#define OPTION_FIELD_TEXT const char *
#define OPTION_FIELD_CHOICE const char *
#define OPTION_FIELD_LIST const char *
#define OPTION_FIELD_NAMES const char *
#define OPTION_FIELD_COUNT uint64_t
#define OPTION_FIELD_SIZE uint64_t
#define OPTION_FIELD_SWITCH bool

struct pythia_options {
#define OPTION(field, type, value, flag, letter, env, argument, commands, help) OPTION_FIELD_##type field;
#include "base/options.def"
#undef OPTION
};

/* Fills *o from the environment. Strings point into the environment or are static. Sets the log's verbosity. */
void base_options_load(struct pythia_options *o);

struct base_option {
    const char *name, *type, *value, *flag;
    char letter;
    const char *env, *argument, *commands, *help;
};
/* The table's rows, then NULL. */
const struct base_option *base_options_row(size_t i);
/* What stands for its value in a help text. */
const char *base_options_argument(const struct base_option *option);
/* Whether `text` is a legal value; where not, why[size] is "is 'text', expected …", to follow the option's name. */
bool base_options_legal(const struct base_option *option, const char *text, char *why, size_t size);
/* Whether the list with commas contains `word`, or "all". "none" and "" contain nothing. */
bool base_options_list_has(const char *list, const char *word);
/* The options as a paragraph each, in 80 columns: environment variable, flag, default, meaning. */
void base_options_print(FILE *out);
/* The same as paragraphs of a manual page, man(7). */
void base_options_print_man(FILE *out);
