/* SPDX-License-Identifier: MIT */
/* Efficiencies and what is lost, for people. */
#include "findings/findings.h"
#include "findings/placement.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/parts.h"
#include "findings/units.h"
#include "job/job.h"
#include "views/table.h"
#include "views/views.h"

void views_print_efficiency(const struct findings_efficiency *e, FILE *out)
{
    if (e->threads > 1 && e->measured) {
        fprintf(out, "parallel efficiency %.1f %% = MPI %.1f %% x OpenMP %.1f %%\n", 100 * e->parallel, 100 * e->mpi,
                100 * e->openmp);
        fprintf(out, "  OpenMP, %u threads = load balance %.1f %% x waiting %.1f %% x fork and join %.1f %% x "
                "serial %.1f %%\n", e->threads, 100 * e->omp_load_balance, 100 * e->omp_waiting,
                100 * e->omp_fork_join, 100 * e->omp_serial);
        fprintf(out, "  (%s executions of regions timed in each thread, %.0f %% of their time)\n",
                findings_count((uint64_t)e->samples), 100 * e->covered);
        fputs("  MPI", out);
    } else if (e->threads > 1) {
        fprintf(out, "parallel efficiency not measured: of the time in regions, %u threads, %.1f %% was looked into\n",
                e->threads, 100 * e->covered);
        fprintf(out, "  MPI %.1f %%", 100 * e->mpi);
    } else {
        fprintf(out, "parallel efficiency %.1f %%", 100 * e->parallel);
    }
    fprintf(out, " = load balance %.1f %% x communication %.1f %%\n", 100 * e->load_balance, 100 * e->communication);
    if (e->nodes > 1)
        fprintf(out, "  load balance = between %u nodes %.1f %% x within %.1f %%\n", e->nodes, 100 * e->between_nodes,
                100 * e->within_nodes);
}

void views_print_split(const struct findings_efficiency *e, FILE *out)
{
    fprintf(out, "  communication = serialisation %.1f %% x transfer %.1f %%\n", 100 * e->serialisation,
            100 * e->transfer);
}

/* --- What is lost --- */

/* Operations that went on without their message, where they are many: of communicators or threads that the replay does
   not follow; else 0. */
static uint64_t many_unmatched(struct report *r)
{
    return findings_unmatched(r) > REPLAY_FEW_UNMATCHED ? findings_analysis(r)->result.unmatched : 0;
}

/* Beside the findings: what waits for a processor is in what calls and computation took. */
static void print_delay(struct report *r, FILE *out)
{
    struct findings_crowd crowd = findings_crowd_of(r);

    if (findings_delay_share(r) >= LEAST_SHARE)
        fprintf(out, "\nno processor for ranks that were ready: %.1f %% of their time\n%s",
                100 * findings_delay_share(r),
                findings_crowd_text(&crowd) ? findings_text("  %s\n", findings_crowd_text(&crowd)) : "");
}

/* Whose work it is, or who is there: "rank 1 before MPI_Allreduce", "ranks 0-1, some before put@app.c:12". */
static char *who_text(struct report *r, const struct finding *one, int width)
{
    const char *function = job_text(r->job, r->job->terminals[one->by].function), *some = one->some ? ", some" : "";
    bool works = one->kind <= FINDINGS_SERIAL_CHAIN; /* before the call */
    char *place = findings_text("%s", one->cause);

    if (strcmp(one->where, one->cause)) {
        findings_cut_place(place, width - 8 - (int)strlen(one->ranks) - (int)strlen(some));
        return findings_text("%s%s before %s", one->ranks, some, place);
    }
    return strstr(function, "MPI_") ? findings_text("%s%s %s %s", one->ranks, some, works ? "before" : "in", function)
                                    : findings_text("%s", one->ranks);
}

/* In two lines: what, where; whose work it is, what to do; and what that work is, where samples say it. */
static void print_one(struct report *r, const struct finding *one, FILE *out)
{
    const char *words = finding_words(one->kind), *advice = finding_advice(r, one);
    const char *more = one->more ? findings_text(" and %u more", one->more) : "";
    const char *at = one->kind == FINDINGS_SERIAL_PART ? " before " : " at "; /* a gap is named by the call behind it */
    char *line = findings_text("%s", one->where);

    findings_cut_place(line, 79 - 19 - (int)strlen(at) - (int)strlen(words) - (int)strlen(more));
    fprintf(out, "%5.1f %% %9s  %s%s%s%s\n", 100 * one->share, findings_time(1e9 * one->seconds), words, at, line,
            more);
    int room = 79 - 19 - (int)strlen(advice);
    line = who_text(r, one, room);
    const char *end = !*advice                   ? ""
                      : (int)strlen(line) > room ? findings_text(":\n%17s", "")
                                                 : ": "; /* no name is cut */
    findings_cut(line, 79 - 17);
    fprintf(out, "%17s%s%s%s\n", "", line, end, advice);
    const char *inside = views_inside_text(r, one);
    if (inside)
        fprintf(out, "%17s%s\n", "", inside);
}

/* Shown of the summary's lines: those that cost so much, and all that is less in one line. */
#define LEAST_SHOWN 0.03

/* How many of the first lines: until they have nine tenths of what is lost, none that costs less than `least`. */
static uint32_t count_lines(const struct findings_list *f, double lost, double least, uint32_t most)
{
    double attributed = 0;
    uint32_t i = 0;

    for (; i < f->count && i < most && f->finding[i].share >= least && (i == 0 || attributed < 0.9 * lost); i++)
        attributed += f->finding[i].share;
    return i;
}

/* The share of those that come after so many. */
static double share_after(const struct findings_list *f, uint32_t shown)
{
    double rest = f->minor;

    for (uint32_t i = shown; i < f->count; i++)
        rest += f->finding[i].share;
    return rest;
}

static void print_lines(struct report *r, const struct findings_list *f, uint32_t shown, bool all, FILE *out)
{
    double rest = share_after(f, shown);

    fputc('\n', out);
    for (uint32_t i = 0; i < shown; i++)
        print_one(r, &f->finding[i], out);
    if (rest < LEAST_SHARE)
        return;
    if (f->count > shown)
        fprintf(out, "%5.1f %%            in %u more (%s)\n", 100 * rest, f->count - shown,
                all ? "--format json" : "--view waits");
    else
        fprintf(out, "%5.1f %%            what costs less than 1 %% each, together\n", 100 * rest);
}

/* One line where none of them is shown. `rest`: what they cost together. */
static void print_none(struct report *r, double rest, bool all, FILE *out)
{
    const char *other = findings_delay_share(r) >= LEAST_SHARE ? " else" : "";

    if (rest >= LEAST_SHARE)
        fprintf(out, "\nnothing%s costs 3 %% of the ranks' time, all together %.1f %%%s\n", other, 100 * rest,
                all ? "" : " (--view waits)");
    else
        fprintf(out, "\nnothing%s costs more than 1 %% of the ranks' time by waiting%s\n", other,
                r->job->info.missing ? " for each other" : "");
}

/* What other threads than the first of each rank spent in MPI, ns: the replay does not follow them. */
static uint64_t elsewhere(const struct report *r)
{
    uint64_t ns = 0;

    for (uint32_t i = 0; i < r->job->stream_count; i++)
        ns += r->job->streams[i].thread ? r->job->streams[i].mpi_ns : 0;
    return ns;
}

/* What waits are not in the findings. Returns whether there are any. */
static bool print_not_known(struct report *r, bool alone, bool all, FILE *out)
{
    double total = 1e9 * findings_analysis(r)->recorded * r->job->info.ranks;
    uint64_t calls = many_unmatched(r), ns = elsewhere(r);
    bool threads = (double)ns >= LEAST_SHARE * total;

    if (alone && (calls || threads))
        fputc('\n', out);
    if (threads)
        fprintf(out, "waits of other threads than each rank's first, %s in MPI: not known\n",
                findings_time((double)ns));
    if (calls)
        fprintf(out, "waits of %llu calls without a peer: not known%s\n", (unsigned long long)calls,
                all ? "" : " (--view waits)");
    if (calls && all)
        views_print_unmatched(r, findings_analysis(r), 3, out);
    return threads || calls;
}

void views_print_findings(struct report *r, uint32_t most, FILE *out)
{
    bool all = most == UINT32_MAX;
    const struct findings_list *f = findings_list(r);

    print_delay(r, out);
    views_print_placement(r, out);
    if (!f->known && r->not_replayed == PYTHIA_ELIMIT)
        fprintf(out, "\nwho waits for whom, and why: %s\n",
                r->steps < REPLAY_ANALYSIS_STEPS ? "pythia report (it takes longer than there is here)"
                                                 : "not known, its replay would take too long");
    if (!f->known)
        return;
    bool unknown = !f->count && print_not_known(r, true, all, out);
    double lost = all ? INFINITY : isnan(f->lost) ? 1 : f->lost;
    uint32_t shown = count_lines(f, lost, all ? 0 : LEAST_SHOWN, all ? 20 : most);
    if (shown)
        print_lines(r, f, shown, all, out);
    if (shown && f->base < 0.99e-9 * r->model->base.ns)
        fprintf(out, "shares: of %s, the ranks' time; threads wait with their rank\n", findings_time(1e9 * f->base));
    else if (!unknown && !r->job->ends.count) /* a hang costs all that there is */
        print_none(r, share_after(f, 0), all, out);
    if (f->count)
        (void)print_not_known(r, false, all, out);
    if (r->job->info.missing)
        fputs("waits for ranks that are missing: not known\n", out);
}

/* --- Operations that a replay could not match, by callsite and reason: what their waits are for is not known --- */

struct row { uint64_t count; uint32_t terminal; enum replay_reason why; };

static const char *const reasons[REPLAY_REASONS] = { "no rule says whom with", "no message is left for it",
                                                     "no receive is left for it" };

BASE_COMPARISON(most_first, struct row, BASE_DOWN(count) ?: BASE_UP(terminal) ?: BASE_UP(why))

static uint32_t rows_of(struct replay_analysis *a, struct row **row)
{
    struct replay_bind *b = a->bind;
    uint32_t count = 0, room = 0;

    *row = NULL;
    for (uint32_t s = 0; s < b->site_count; s++)
        for (int why = 0; why < REPLAY_REASONS; why++) {
            uint64_t n = replay_blame_unmatched_at(a->blame, 2 * s + 1, (enum replay_reason)why);
            if (!n)
                continue;
            base_must(base_array_room(row, &room, count + 1u, sizeof **row));
            (*row)[count++] = (struct row){ n, b->site[s].terminal, (enum replay_reason)why };
        }
    BASE_SORT(*row, count, most_first);
    return count;
}

void views_print_unmatched(struct report *r, struct replay_analysis *a, uint32_t most, FILE *out)
{
    BASE_OWN struct row *row = NULL;
    uint32_t count = rows_of(a, &row);

    for (uint32_t i = 0; i < count && i < most; i++) {
        char where[256];
        const char *function = job_text(r->job, r->job->terminals[row[i].terminal].function);
        findings_site_place(r, row[i].terminal, where, sizeof where);
        findings_cut(where, 79 - 16 - (int)strlen(function) - (int)strlen(reasons[row[i].why]));
        fprintf(out, "%8" PRIu64 "  %s at %s: %s\n", row[i].count, function, where, reasons[row[i].why]);
    }
    if (count > most)
        fprintf(out, "%8s  at %" PRIu32 " more\n", "", count - most);
}

void views_json_unmatched(struct report *r, struct replay_analysis *a, cJSON *object)
{
    cJSON *array = cJSON_AddArrayToObject(object, "unmatched_calls");
    BASE_OWN struct row *row = NULL;
    uint32_t count = rows_of(a, &row);

    for (uint32_t i = 0; i < count; i++) {
        char where[256];
        findings_site_place(r, row[i].terminal, where, sizeof where);
        ADD(array, TEXT("function", job_text(r->job, r->job->terminals[row[i].terminal].function)),
            TEXT("where", where), TEXT("reason", reasons[row[i].why]), COUNT("count", row[i].count));
    }
}
