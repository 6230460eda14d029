/* SPDX-License-Identifier: MIT */
#include "findings/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Without what compilers add: "f._omp_fn.0", "f.constprop.0", "f.omp_outlined". What begins with a point is a name of
   theirs, whole: ".omp_outlined..3". */
static char *without_suffix(const char *symbol)
{
    char *copy = strdup(symbol), *point = *copy != '.' ? strchr(copy, '.') : NULL;

    if (point)
        *point = '\0';
    return copy;
}

/* "__module_MOD_procedure". */
static char *fortran(const char *symbol)
{
    const char *parts = strncmp(symbol, "__", 2) ? NULL : strstr(symbol + 2, "_MOD_");
    size_t module = parts ? (size_t)(parts - symbol - 2) : 0, rest = parts ? strlen(parts + 5) : 0;

    if (!parts || !module || !rest)
        return NULL;
    char *name = malloc(module + rest + 3);
    memcpy(name, symbol + 2, module);
    memcpy(name + module, "::", 2);
    memcpy(name + module + 2, parts + 5, rest + 1);
    return name;
}

/* In place. The brackets of operator<, operator-> and their like are no arguments. */
static void drop_template_arguments(char *name)
{
    char *to = name;
    int depth = 0;

    for (const char *from = name; *from; from++) {
        size_t before = (size_t)(to - name);
        bool operator = before >= 8 && !strncmp(to - 8, "operator", 8);
        if (depth == 0 && (operator || (before && to[-1] == '-' && *from == '>'))) {
            *to++ = *from;
            while (operator && from[1] && strchr("<>=-", from[1]))
                *to++ = *++from;
        } else if (*from == '<') {
            depth++;
        } else if (*from == '>') {
            depth -= depth > 0;
        } else if (depth == 0) {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static char *demangle(const char *symbol, int options)
{
    char *plain = without_suffix(symbol), *name;

    name = fortran(plain);
    if (!name)
        name = cplus_demangle(plain, options | DMGL_AUTO);
    if (!name)
        return plain;
    free(plain);
    return name;
}

char *findings_demangle_full(const char *symbol)
{
    return demangle(symbol, DMGL_PARAMS | DMGL_ANSI);
}

char *findings_demangle_short(const char *symbol)
{
    char *name = demangle(symbol, DMGL_NO_OPTS);

    if (strcmp(name, symbol) && symbol[0] == '_')
        drop_template_arguments(name);
    return name;
}
