/* SPDX-License-Identifier: MIT */
/* What the forms of a report share; see report.h. */
#include "findings/report.h"
#include "base/clean.h"
#include "base/name.h"

#include "findings/findings.h"
#include "findings/inside.h"
#include "findings/named.h"
#include "findings/units.h"
#include "replay/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct report *report_create(const struct job *j)
{
    struct report *r = calloc(1, sizeof *r);

    r->job = j;
    r->steps = REPLAY_ANALYSIS_STEPS;
    r->model = findings_model_create(j);
    r->names = findings_names_create(j);
    r->resolver = findings_resolver_create(j);
    return r;
}

void report_destroy(struct report *r)
{
    if (!r)
        return;
    findings_model_destroy(r->model);
    findings_names_destroy(r->names);
    findings_resolver_destroy(r->resolver);
    findings_list_destroy(r->findings);
    findings_inside_destroy(r->inside);
    findings_named_destroy(r->named);
    findings_loops_destroy(r->loops);
    replay_analysis_destroy(r->analysis);
    free(r);
}

const struct findings_loops *findings_loops_of(struct report *r)
{
    if (!r->loops)
        r->loops = findings_loops_create(r, true);
    return r->loops;
}

const struct findings_loop *findings_main_loop(struct report *r)
{
    const struct findings_loops *l = findings_loops_of(r);

    return l->main < 0 ? NULL : &l->loop[l->main];
}

char *findings_program_text(const struct job *j, int most)
{
    const char *path = job_text(j, j->info.program);
    char *text = findings_text("%.*s", most, *path ? base_name(path) : "unnamed program"); /* a runtime's own */

    base_clean(text);
    return text;
}

char *findings_size_text(uint32_t ranks, uint32_t threads)
{
    const char *more = threads ? findings_text(" x %u thread%s", threads, threads == 1 ? "" : "s") : "";

    return findings_text("%u rank%s%s", ranks, ranks == 1 ? "" : "s", more);
}

char *findings_date_text(uint64_t seconds)
{
    time_t start = (time_t)seconds;
    char *text = findings_text("%s", "");
    struct tm tm;

    if (start > 0 && localtime_r(&start, &tm))
        strftime(text, FINDINGS_TEXT, "%Y-%m-%d %H:%M", &tm);
    return text;
}

char *findings_rank_text(uint32_t first, uint32_t count)
{
    return count > 1 ? findings_text("%u-%u", first, first + count - 1) : findings_text("%u", first);
}

static enum findings_address address_of(const struct job_terminal *t)
{
    return t->kind == JOB_REGION ? FINDINGS_ENTRY : FINDINGS_CALL;
}

char *findings_where(struct report *r, uint32_t terminal, int width)
{
    char *text = findings_text("%s", "");

    if (terminal >= r->job->terminal_count)
        return text;
    const struct job_terminal *t = &r->job->terminals[terminal];
    findings_callsite_text(r->resolver, t->callsite, address_of(t), text, 256);
    findings_cut_place(text, width);
    return text;
}

const struct findings_place *findings_place_of(struct report *r, uint32_t terminal)
{
    const struct job_terminal *t = &r->job->terminals[terminal];

    return findings_resolve(r->resolver, t->callsite, 0, address_of(t));
}

const char *findings_peer_text(const struct findings_peer *p)
{
    switch (p->relation) {
    case FINDINGS_RANK:
        return findings_text("rank %" PRId64, p->value);
    case FINDINGS_OFFSET:
        if (p->value == 0)
            return "itself";
        return findings_text("own %c %" PRIu64, p->value < 0 ? '-' : '+',
                             p->value < 0 ? 0 - (uint64_t)p->value : (uint64_t)p->value);
    case FINDINGS_XOR:
        return findings_text("own xor %" PRId64, p->value);
    case FINDINGS_ANY:
        return "any";
    default:
        return "varies";
    }
}

const char *findings_comm_text(const struct report *r, uint32_t comm)
{
    return comm < r->job->comm_count ? job_text(r->job, r->job->comms[comm].name) : "-";
}

double findings_mean(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : 0;
}

double findings_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}
