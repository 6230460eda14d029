/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row per option: the parser, the limits and the help all read this. A value-less option sets its field to 1. */
struct spec {
    const char *name, *value, *help;
    size_t field;
    int initial, low, high;
};

/* Up to 400 elements to an edge keep every index of a block, and 24 times the number of elements, within an int. */
static const struct spec specs[] = {
    { "-s", "EDGE", "elements along an edge of each rank's block", offsetof(struct options, edge_elems), 30, 1, 400 },
    { "-i", "STEPS", "stop after this many iterations", offsetof(struct options, iterations), 9999999, 1, INT_MAX },
    { "-r", "COUNT", "material regions", offsetof(struct options, regions), 11, 1, 10000 },
    { "-b", "POWER", "imbalance of the regions' sizes, 0 for none", offsetof(struct options, balance), 1, 0, 64 },
    { "-c", "COST", "extra cost of the costlier regions", offsetof(struct options, cost), 1, 0, 1000000 },
    { "-p", NULL, "print a line for each iteration", offsetof(struct options, progress), 0, 0, 0 },
    { "-q", NULL, "print the final report only", offsetof(struct options, quiet), 0, 0, 0 },
    { "--state", NULL, "print the exact final state on one line instead", offsetof(struct options, state), 0, 0, 0 },
    { "-h", NULL, "print this help", offsetof(struct options, help), 0, 0, 0 },
};

#define SPECS (sizeof specs / sizeof specs[0])

static int *field_of(struct options *o, const struct spec *s)
{
    return (int *)(void *)((char *)o + s->field);
}

static const struct spec *find(const char *name)
{
    if (strcmp(name, "--help") == 0)
        name = "-h";
    for (size_t i = 0; i < SPECS; i++)
        if (strcmp(specs[i].name, name) == 0)
            return &specs[i];
    return NULL;
}

static int parse_value(const struct spec *s, const char *text, int *out)
{
    char *end;

    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < s->low || value > s->high)
        return -1;
    *out = (int)value;
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, char *error, int error_size)
{
    for (size_t i = 0; i < SPECS; i++)
        *field_of(o, &specs[i]) = specs[i].initial;

    for (int i = 1; i < argc; i++) {
        const struct spec *s = find(argv[i]);

        if (!s) {
            snprintf(error, (size_t)error_size, "unknown option '%s' (-h lists them)", argv[i]);
            return -1;
        }
        if (!s->value) {
            *field_of(o, s) = 1;
            continue;
        }
        if (++i == argc) {
            snprintf(error, (size_t)error_size, "option %s needs a value", s->name);
            return -1;
        }
        if (parse_value(s, argv[i], field_of(o, s)) != 0) {
            snprintf(error, (size_t)error_size, "option %s: '%s' is not a whole number from %d to %d", s->name, argv[i],
                     s->low, s->high);
            return -1;
        }
    }
    return 0;
}

void options_help(const char *program)
{
    printf("usage: %s [options]\n"
           "Sedov blast in a cube of hexahedra, by the LULESH 2.0 method.\n"
           "The number of MPI ranks must be a cube: 1, 8, 27, ...\n\n", program);
    for (size_t i = 0; i < SPECS; i++) {
        const struct spec *s = &specs[i];

        printf("  %-7s %-6s %s", s->name, s->value ? s->value : "", s->help);
        if (s->value)
            printf(" (default %d)", s->initial);
        putchar('\n');
    }
}
