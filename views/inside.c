/* SPDX-License-Identifier: MIT */
/* What stands between two calls, by samples: a line below a finding, the summary's, a table, JSON. */
#include "findings/inside.h"

#include <string.h>

#include "findings/findings.h"
#include "findings/units.h"
#include "job/job.h"
#include "views/table.h"
#include "views/views.h"

enum { MOST_FUNCTIONS = 12, SUMMARY_PARTS = 2, LEAST_PERCENT = 1 };

/* "computation before MPI_Allreduce", "in MPI_Allreduce"; `terminal` stands for the part's site. */
static char *part_text(const struct report *r, const struct findings_inside_part *p)
{
    if (p->terminal == GRAMMAR_NONE)
        return findings_text("%s", p->before ? "computation that no call came after" : "threads that make no calls");
    return findings_text("%s %s", p->before ? "computation before" : "in",
                         findings_line(findings_site_name(r->names, p->terminal), 40));
}

const char *views_inside_text(struct report *r, const struct finding *f)
{
    bool works = f->kind <= FINDINGS_SERIAL_CHAIN || f->kind == FINDINGS_SERIAL_PART; /* before a call or region */
    const struct findings_inside_part *p = works ? findings_inside_find(r, f->by, true) : NULL;
    const char *text = p ? findings_inside_text(p, 79 - 17) : "";

    return *text ? findings_line(text, 79 - 17) : NULL;
}

void views_print_inside_most(struct report *r, FILE *out)
{
    const struct findings_inside *in = findings_inside_of(r);
    uint32_t shown = 0;

    for (uint32_t i = 0; i < in->parts && shown < SUMMARY_PARTS; i++) {
        const struct findings_inside_part *p = &in->part[i];
        char *text = findings_inside_text(p, 75);
        if (!*text || 10 * p->samples < in->known)
            break;
        if (!p->before && p->terminal == GRAMMAR_NONE)
            continue;
        char *where = p->terminal == GRAMMAR_NONE ? findings_text("%s", "") : findings_where(r, p->terminal, 33);
        fprintf(out, "%s%s%s%s:\n  %s\n", shown ? "" : "\n", part_text(r, p), *where ? " at " : "", where,
                findings_line(text, 77));
        shown++;
    }
}

static const char *file_of(const struct findings_inside_function *f)
{
    return f->place ? f->place->file ?: f->place->module : NULL;
}

static double number_of(const struct report *r, const struct findings_inside_part *p)
{
    return p->terminal == GRAMMAR_NONE ? NAN : views_site_number(r, r->job->terminals[p->terminal].callsite);
}

/* Of a part, NULL: headings. */
static void print_function(const struct report *r, const struct findings_inside_part *p,
                           const struct findings_inside_function *f, struct views_table *t)
{
    const struct findings_place *place = f->place;
    double line = views_known(place && place->line, place ? place->line : 0);

    ROW(t, NUMBER("", p ? number_of(r, p) : NAN, "number", 6), COUNT("", f->samples, "samples", 8),
        RATIO("", 100 * f->share, "share %", 8), RATIO("", 100 * f->low, "from", 6),
        RATIO("", 100 * f->high, "to", 6), TEXT("", p ? part_text(r, p) : "", " of", -36),
        TEXT("", place ? findings_function_at(place, false) : "code made at run time", " function", -24),
        TEXT("", file_of(f), " file", -20), NUMBER("", line, "line", 6),
        TEXT("", p ? findings_inside_ranks(r, f->ranks) : "", " ranks", 0));
}

void views_print_inside(struct report *r, FILE *out)
{
    static const struct findings_inside_function none;
    const struct findings_inside *in = findings_inside_of(r);
    struct views_table t = { .out = out };

    if (!in->parts)
        return;
    fprintf(out, "\n# where threads computed: %s samples, of which %s are in nothing that is known\n",
            findings_count(in->known + in->unknown), findings_count(in->unknown));
    print_function(r, NULL, &none, &t);
    for (uint32_t i = 0; i < in->parts; i++)
        for (uint32_t k = 0; k < in->part[i].count && k < MOST_FUNCTIONS; k++) {
            const struct findings_inside_function *f = &in->part[i].function[k];
            if (100 * f->samples >= LEAST_PERCENT * in->known)
                print_function(r, &in->part[i], f, &t);
        }
}

/* `before`: the callsite's number, for who reads only computation; else what the samples are inside, or of. */
static void add_before(const struct report *r, const struct findings_inside_part *p, cJSON *o)
{
    const struct job_terminal *t = p->terminal == GRAMMAR_NONE ? NULL : &r->job->terminals[p->terminal];

    if (p->before)
        ADD(o, NUMBER("before", number_of(r, p)));
    else
        ADD(o, TEXT("before", !t ? "thread" : t->kind == JOB_REGION ? "region" : "call"));
    ADD(o, NUMBER("number", number_of(r, p)), TEXT("call", t ? job_text(r->job, t->function) : NULL));
}

static void add_function(const struct report *r, const struct findings_inside_function *f, cJSON *o)
{
    const struct findings_place *p = f->place;

    ADD(o, TEXT("function", p ? p->full : NULL), TEXT("file", p ? p->file : NULL), TEXT("path", p ? p->path : NULL),
        NUMBER("line", views_known(p && p->line, p ? p->line : 0)), TEXT("inlined", p ? p->inlined : NULL),
        TEXT("module", p ? p->module : NULL), NUMBER("samples", f->samples), NUMBER("share", f->share),
        NUMBER("share_low", f->low), NUMBER("share_high", f->high), NUMBER("ranks", findings_inside_count(f->ranks)),
        TEXT("ranks_text", findings_inside_ranks(r, f->ranks)));
}

void views_add_functions(const struct report *r, const struct findings_inside_part *p, cJSON *array)
{
    for (uint32_t k = 0; k < p->count; k++)
        add_function(r, &p->function[k], views_json_object(array));
}

void views_add_inside(struct report *r, cJSON *root)
{
    const struct findings_inside *in = findings_inside_of(r);
    cJSON *array = cJSON_AddArrayToObject(root, "inside");

    for (uint32_t i = 0; i < in->parts; i++)
        for (uint32_t k = 0; k < in->part[i].count; k++) {
            cJSON *o = views_json_object(array);
            add_before(r, &in->part[i], o);
            add_function(r, &in->part[i].function[k], o);
        }
    cJSON_AddNumberToObject(root, "inside_unknown", (double)in->unknown);
}
