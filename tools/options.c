/* SPDX-License-Identifier: MIT */
/* Command lines by argp; see options.h. */
#include "tools/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_KEY = 256 }; /* of options without a letter */

struct parser {
    const struct tool_line *line;
    char *request;
    bool taken; /* the only argument */
};

static bool read_number(const char *text, uint64_t *value)
{
    uint64_t n = 0;

    for (const char *c = text; *c; c++)
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n))
            return false;
    *value = n;
    return *text != '\0';
}

uint64_t tool_number(const char *arg, const char *what, uint64_t least, uint64_t most, struct argp_state *state)
{
    uint64_t value;

    if (read_number(arg, &value) && value >= least && (!most || value <= most))
        return value;
    if (most)
        argp_error(state, "%s must be a number from %" PRIu64 " to %" PRIu64 ", not '%s'", what, least, most, arg);
    else
        argp_error(state, "%s must be a number of at least %" PRIu64 ", not '%s'", what, least, arg);
    return 0;
}

static int choice(const char *arg, const char *what, const char *const *words, struct argp_state *state)
{
    char list[256] = "";
    int last = 0;

    for (int i = 0; words[i]; i++)
        if (!strcmp(arg, words[i] + (*words[i] == '-')))
            return i;
        else if (*words[i] != '-')
            last = i;
    for (int i = 0; i <= last; i++) {
        size_t used = strlen(list);
        if (*words[i] != '-')
            snprintf(list + used, sizeof list - used, "%s%s", !used ? "" : i < last ? ", " : " or ", words[i]);
    }
    argp_error(state, "%s must be %s, not '%s'", what, list, arg);
    return 0;
}

static double measure(const char *arg, const char *what, struct argp_state *state)
{
    char *end;
    double x = strtod(arg, &end);

    if (end == arg || *end || !(x >= 0) || x > 1e18)
        argp_error(state, "%s must be a number of at least 0, not '%s'", what, arg);
    return x;
}

static void take(const struct tool_option *o, char *request, char *arg, struct argp_state *state)
{
    void *field = request + o->at;
    char what[64];

    snprintf(what, sizeof what, "--%s", o->name);
    if (o->type == TOOL_IS_SWITCH)
        *(bool *)field = true;
    else if (o->type == TOOL_IS_TEXT)
        *(const char **)field = arg ? arg : "yes";
    else if (o->type == TOOL_IS_COUNT)
        *(uint64_t *)field = tool_number(arg, what, o->least, o->most, state);
    else if (o->type == TOOL_IS_CHOICE)
        *(int *)field = choice(arg, what, o->words, state);
    else if (o->type == TOOL_IS_MEASURE)
        *(double *)field = measure(arg, what, state);
    else
        o->take(request, arg, state);
}

static error_t argument(struct parser *p, char *arg, struct argp_state *state)
{
    if (p->line->command) {
        *(char ***)(void *)(p->request + p->line->at) = &state->argv[state->next - 1];
        state->next = state->argc;
    } else if (p->line->take)
        p->line->take(p->request, arg, state);
    else if (!p->line->what)
        argp_error(state, "unexpected argument '%s'", arg);
    else if (p->taken)
        argp_error(state, "one %s only", p->line->what);
    else
        *(const char **)(void *)(p->request + p->line->at) = arg;
    p->taken = true;
    return 0;
}

static int key_of(const struct tool_option *options, const struct tool_option *o)
{
    return o->letter ? o->letter : FIRST_KEY + (int)(o - options);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct parser *p = state->input;

    if (key == ARGP_KEY_ARG)
        return argument(p, arg, state);
    if (key == ARGP_KEY_END && p->line->what && !p->taken)
        argp_error(state, "no %s", p->line->what);
    if (key == ARGP_KEY_END && p->line->check)
        p->line->check(p->request, state);
    for (const struct tool_option *o = p->line->options; o && o->name; o++)
        if (key_of(p->line->options, o) == key) {
            take(o, p->request, arg, state);
            return 0;
        }
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

static struct argp_option row_of(const struct tool_option *options, const struct tool_option *o)
{
    bool free_to = o->argument && *o->argument == '[';
    static char word[32]; /* of the one that may be left out */

    if (free_to)
        snprintf(word, sizeof word, "%.*s", (int)strlen(o->argument) - 2, o->argument + 1);
    return (struct argp_option){ o->name, key_of(options, o), free_to ? word : o->argument,
                                 (o->help ? 0 : OPTION_HIDDEN) | (free_to ? OPTION_ARG_OPTIONAL : 0),
                                 o->help ? o->help : "", 0 };
}

void tool_parse(const struct tool_line *line, int argc, char **argv, void *request)
{
    struct argp_option rows[32] = { { 0 } };
    struct parser p = { line, request, false };

    for (const struct tool_option *o = line->options; o && o->name; o++)
        rows[o - line->options] = row_of(line->options, o);
    const struct argp argp = { .options = rows, .parser = parse, .args_doc = line->arguments, .doc = line->doc };
    argp_parse(&argp, argc, argv, line->command ? ARGP_IN_ORDER : 0, NULL, &p);
}
