/* SPDX-License-Identifier: MIT */
/* Names of terminals for people; see names.h. */
#include "findings/names.h"
#include "base/clean.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct findings_names {
    const struct job *job;
    uint32_t *number; /* by callsite */
    char **name;      /* by terminal */
};

static const char phase_mark[][2] = { "", "{", "}" };

static const struct job_terminal *terminal_of(const struct job *j, uint32_t terminal)
{
    return terminal < j->terminal_count ? &j->terminals[terminal] : NULL;
}

char *findings_function_text(const struct job *j, uint32_t terminal)
{
    const struct job_terminal *t = terminal_of(j, terminal);
    char *text = t ? findings_text("%s%s", job_text(j, t->function), phase_mark[t->phase % 3])
                   : findings_text("%s", terminal == GRAMMAR_LOST ? "LOST" : "?");

    base_clean(text);
    return text;
}

static char *plain_name(const struct findings_names *n, uint32_t terminal)
{
    const struct job_terminal *t = &n->job->terminals[terminal];
    uint32_t number = findings_site_number(n, t->callsite);
    const char *site = number != GRAMMAR_NONE ? findings_text("@%u", number) : "";
    char *name = NULL;

    base_must(asprintf(&name, "%s%s%s", job_text(n->job, t->function), site, phase_mark[t->phase % 3]) < 0);
    base_clean(name);
    if (t->kind != JOB_WORD)
        for (char *c = name; *c; c++)
            if (*c == ' ')
                *c = '_';
    return name;
}

struct entry {
    char *name;
    uint32_t terminal;
};

BASE_COMPARISON(by_name, struct entry, strcmp(a->name, b->name) ?: BASE_UP(terminal))

/* Terminals that look alike get ".2", ".3", … in the order of their numbers. */
static void make_unique(struct findings_names *n)
{
    uint32_t count = n->job->terminal_count;
    BASE_OWN struct entry *sorted = calloc((size_t)count + 1, sizeof *sorted);
    uint32_t same = 1;

    for (uint32_t t = 0; t < count; t++)
        sorted[t] = (struct entry){ n->name[t], t };
    qsort(sorted, count, sizeof *sorted, by_name);
    for (uint32_t i = 1; i < count; i++) {
        same = strcmp(sorted[i].name, sorted[i - 1].name) ? 1 : same + 1;
        if (same == 1)
            continue;
        char *longer = NULL;
        base_must(asprintf(&longer, "%s.%u", sorted[i].name, same) < 0);
        n->name[sorted[i].terminal] = longer;
    }
    for (uint32_t i = 0; i < count; i++)
        if (n->name[sorted[i].terminal] != sorted[i].name)
            free(sorted[i].name);
}

struct findings_names *findings_names_create(const struct job *j)
{
    struct findings_names *n = calloc(1, sizeof *n);

    n->job = j;
    n->number = calloc((size_t)j->callsite_count + 1, sizeof *n->number);
    n->name = calloc((size_t)j->terminal_count + 1, sizeof *n->name);
    job_number_sites(j, n->number);
    for (uint32_t t = 0; t < j->terminal_count; t++)
        n->name[t] = plain_name(n, t);
    make_unique(n);
    return n;
}

void findings_names_destroy(struct findings_names *n)
{
    if (!n)
        return;
    for (uint32_t t = 0; t < n->job->terminal_count; t++)
        free(n->name[t]);
    free(n->name);
    free(n->number);
    free(n);
}

const char *findings_name(void *names, uint32_t terminal)
{
    const struct findings_names *n = names;

    if (terminal == GRAMMAR_LOST)
        return "LOST";
    return terminal < n->job->terminal_count ? n->name[terminal] : "?";
}

uint32_t findings_site_number(const struct findings_names *n, uint32_t callsite)
{
    return callsite < n->job->callsite_count ? n->number[callsite] : GRAMMAR_NONE;
}

char *findings_site_name(const struct findings_names *n, uint32_t terminal)
{
    const struct job_terminal *t = terminal_of(n->job, terminal);
    char *text = findings_text("%s", !t || t->kind == JOB_WORD ? findings_name((void *)(uintptr_t)n, terminal)
                                                             : job_text(n->job, t->function));
    base_clean(text);
    return text;
}
