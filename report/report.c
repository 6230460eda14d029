/* SPDX-License-Identifier: MIT */
/* What the forms of a report share; see report.h. */
#include "report/report.h"
#include "base/clean.h"

#include "report/findings.h"
#include "replay/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct report *report_create(const struct job *j)
{
    struct report *r = calloc(1, sizeof *r);

    r->job = j;
    r->steps = REPLAY_ANALYSIS_STEPS;
    r->model = report_model_create(j);
    r->names = report_names_create(j);
    r->resolver = report_resolver_create(j);
    report_find_main_loop(r);
    return r;
}

void report_destroy(struct report *r)
{
    if (!r)
        return;
    report_model_destroy(r->model);
    report_names_destroy(r->names);
    report_resolver_destroy(r->resolver);
    report_findings_destroy(r->findings);
    replay_analysis_destroy(r->analysis);
    free(r);
}

void report_program_text(const struct job *j, char *text, size_t size)
{
    const char *path = job_text(j, j->info.program), *slash = strrchr(path, '/');

    snprintf(text, size, "%s", slash ? slash + 1 : *path ? path : "unnamed program"); /* of a runtime that gave no name */
    base_clean(text);
}

const char *report_size_text(const struct job *j, char text[64])
{
    const struct job_info *i = &j->info;
    int n = snprintf(text, 64, "%u rank%s", i->ranks, i->ranks == 1 ? "" : "s");

    if (i->threads)
        snprintf(text + n, 64 - (size_t)n, " x %u thread%s", i->threads, i->threads == 1 ? "" : "s");
    return text;
}

static enum report_address address_of(const struct job_terminal *t)
{
    return t->kind == JOB_REGION ? REPORT_ENTRY : REPORT_CALL;
}

/* "~" says that something is missing. Never inside a multi-byte character. */
void report_cut(char *text, int width)
{
    int columns = 0;

    for (char *c = text; *c; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80)
            continue;
        if (++columns == width && c[1] && strlen(c) > 1) {
            strcpy(c, "~");
            return;
        }
    }
}

void report_where(struct report *r, uint32_t terminal, char *text, int width)
{
    const struct job_terminal *t = &r->job->terminals[terminal];

    report_callsite_text(r->resolver, t->callsite, address_of(t), text, 256);
    report_cut(text, width);
}

void report_print_column(const char *text, int width, FILE *out)
{
    int columns = 0;

    for (const char *c = text; *c; c++)
        columns += ((unsigned char)*c & 0xc0) != 0x80;
    fprintf(out, "%s%*s", text, columns < width ? width - columns : 0, "");
}

const struct report_place *report_place_of(struct report *r, uint32_t terminal)
{
    const struct job_terminal *t = &r->job->terminals[terminal];

    return report_resolve(r->resolver, t->callsite, 0, address_of(t));
}

const char *report_peer_text(const struct report_peer *p, char text[32])
{
    switch (p->relation) {
    case REPORT_RANK:
        snprintf(text, 32, "rank %" PRId64, p->value);
        return text;
    case REPORT_OFFSET:
        if (p->value == 0)
            return "itself";
        snprintf(text, 32, "own %c %" PRIu64, p->value < 0 ? '-' : '+',
                 p->value < 0 ? 0 - (uint64_t)p->value : (uint64_t)p->value);
        return text;
    case REPORT_XOR:
        snprintf(text, 32, "own xor %" PRId64, p->value);
        return text;
    case REPORT_ANY:
        return "any";
    default:
        return "varies";
    }
}

const char *report_comm_text(const struct report *r, uint32_t comm)
{
    return comm < r->job->comm_count ? job_text(r->job, r->job->comms[comm].name) : "-";
}

void report_call_name(const struct report *r, const struct report_site *s, char *text, size_t size)
{
    snprintf(text, size, "%s", job_text(r->job, s->function));
    base_clean(text);
}

double report_mean(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : 0;
}

double report_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}
