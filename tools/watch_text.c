/* SPDX-License-Identifier: MIT */
/* A job on the screen: the verdict first, then one line for each kind of rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "findings/units.h"
#include "tools/tool.h"
#include "tools/watch.h"

enum { BAR = 20 };

static const char *time_of(double ns)
{
    return base_terminal_time(ns, findings_text("%*s", 32, ""));
}

static const char *at(const char *place)
{
    return place ? findings_text(", %s", place) : "";
}

/* "ranks 0-2,5"; how many columns that took. */
static int print_ranks(FILE *f, const uint32_t *rank, uint32_t count)
{
    int columns = fprintf(f, "rank%s ", count > 1 ? "s" : "");
    for (uint32_t i = 0, first; i < count; i++) {
        first = i;
        while (i + 1 < count && rank[i + 1] == rank[i] + 1)
            i++;
        columns += fprintf(f, "%s%u", first ? "," : "", rank[first]);
        if (i > first)
            columns += fprintf(f, i > first + 1 ? "-%u" : ",%u", rank[i]);
    }
    return columns;
}

/* --- What a rank does --- */

/* Its other threads that wait in a call. */
static void print_threads(FILE *f, const struct watch_row *r, bool many)
{
    for (uint32_t i = 0; r->sight && i < WATCH_THREADS; i++) {
        uint64_t since;
        const struct watch_named *call = watch_thread_waits(r->sight, i, &since);
        if (call)
            fprintf(f, ", %s thread %u waits in %s%s for %s", many ? "their" : "its", i + 1, call->function,
                    at(watch_thread_place(r, i)), time_of((double)since));
    }
}

/* Where it is in the program's own words. */
static void print_region(FILE *f, const struct watch_row *r, bool many)
{
    uint64_t entries;
    const char *region = watch_region(r, &entries);
    if (region)
        fprintf(f, many ? ", in %s" : ", in %s, entry %llu", region, (unsigned long long)entries);
}

static void print_doing(FILE *f, const struct watch_row *r, bool many)
{
    const char *last = watch_last_call(r);
    switch (r->state) {
    case WATCH_ABSENT:
        fprintf(f, "%s no board%s", many ? "have" : "has", r->last ? " any more" : "");
        if (r->last && last)
            fprintf(f, ", %s seen last %s %s%s", many ? "were" : "was", r->last->board.since & 1 ? "in" : "after", last,
                    at(watch_place(r)));
        return;
    case WATCH_ENDED: fprintf(f, "%s ended without MPI_Finalize", many ? "have" : "has"); break;
    case WATCH_HALTED: fputs(many ? "are halted" : "is halted", f); break;
    case WATCH_SILENT:
        fprintf(f, "%s silent with all of %s since %s,", many ? "are" : "is", r->sight->board.node,
                time_of((double)r->sight->age_ns));
        break;
    case WATCH_WAITS: fputs(many ? "wait" : "waits", f); break;
    case WATCH_ASKS: fprintf(f, "ask%s again and again", many ? "" : "s"); break;
    case WATCH_COMPUTES: fprintf(f, "%s%s", watch_call(r) ? "work" : "compute", many ? "" : "s"); break;
    }
    if (last)
        fprintf(f, " %s %s%s", watch_call(r) ? "in" : "after", last, at(watch_place(r)));
    print_region(f, r, many);
    print_threads(f, r, many);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_kind(const struct watch_row *a, const struct watch_row *b)
{
    if (a->state != b->state || !a->sight || !b->sight)
        return a->state == b->state && !a->sight && !b->sight && !a->last == !b->last &&
               same_text(watch_last_call(a), watch_last_call(b)) && same_text(watch_place(a), watch_place(b));
    for (uint32_t i = 0; i < WATCH_THREADS; i++)
        if (!same_text(watch_thread_place(a, i), watch_thread_place(b, i)))
            return false;
    uint64_t entries;
    return (a->state != WATCH_SILENT || !strcmp(a->sight->board.node, b->sight->board.node)) &&
           same_text(watch_region(a, &entries), watch_region(b, &entries)) &&
           same_text(watch_call(a), watch_call(b)) && same_text(watch_last_call(a), watch_last_call(b)) &&
           same_text(watch_place(a), watch_place(b));
}

/* Calls `tell` for each kind among these ranks: with the ranks of it. */
static void each_kind(const struct watch_job *j, const uint32_t *rank, uint32_t count,
                      void (*tell)(void *context, const struct watch_job *j, const uint32_t *of, uint32_t number),
                      void *context)
{
    BASE_OWN bool *done = calloc((size_t)count + 1, sizeof *done);
    BASE_OWN uint32_t *of = calloc((size_t)count + 1, sizeof *of);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = 0;
        for (uint32_t k = i; k < count && !done[i]; k++)
            if (k == i || (!done[k] && same_kind(&j->rows[rank[i]], &j->rows[rank[k]]))) {
                of[number++] = rank[k];
                done[k] = k > i;
            }
        if (number)
            tell(context, j, of, number);
    }
}

/* --- The verdict --- */

static void say_kind(void *context, const struct watch_job *j, const uint32_t *of, uint32_t number)
{
    FILE *f = context;
    const struct watch_row *r = &j->rows[of[0]];
    if (ftell(f) > 0)
        fputs("; ", f);
    print_ranks(f, of, number);
    fputc(' ', f);
    print_doing(f, r, number > 1);
    if (r->sight && j->verdict.kind == WATCH_STOPPED && number == 1)
        fprintf(f, " (process %u on %s)", r->sight->board.pid, r->sight->board.node);
}

static void say_slow(FILE *f, const struct watch_job *j)
{
    const struct watch_verdict *v = &j->verdict;
    const char *place = watch_verdict_place(j);
    print_ranks(f, v->rank, v->rank_count);
    fprintf(f, " %s %.1f times as long as before at the same places%s%s", v->rank_count > 1 ? "take up to" : "takes",
            v->slowest.factor, place ? ", most of all before the call at " : "", place ? place : "");
}

/* Ranks that wait in one call, or some of them. */
static void say_where(void *context, const struct watch_job *j, const uint32_t *of, uint32_t number)
{
    FILE *f = context;
    const struct watch_verdict *v = &j->verdict;
    const struct watch_row *r = &j->rows[of[0]];
    const char *last = watch_last_call(r);
    if (!last)
        return;
    fputs(number == v->waiting_count ? "," : of[0] == v->waiting[0] ? ": " : ", ", f);
    if (number < v->waiting_count)
        print_ranks(f, of, number);
    fprintf(f, " in %s%s", last, at(watch_place(r)));
}

static void say_waiting(FILE *f, const struct watch_job *j)
{
    const struct watch_verdict *v = &j->verdict;
    fputs("; ", f);
    print_ranks(f, v->waiting, v->waiting_count);
    fprintf(f, " wait%s for %s", v->waiting_count > 1 ? "" : "s", v->rank_count > 1 ? "them" : "it");
    if (v->kind == WATCH_DEADLOCK)
        return;
    fprintf(f, ", since %s", time_of((double)v->since_ns));
    each_kind(j, v->waiting, v->waiting_count, say_where, f);
}

static const char *const whys[] = {
    [WATCH_UNKNOWN_TIME] = "; how long that takes is not known",
    [WATCH_NO_PROCESSOR] = "; it could have run, and had no processor",
    [WATCH_ALL_THERE] = "; all that take part have come: do they agree in root, counts and types?",
    [WATCH_FOR_WHOM] = "; for whom is not known",
};

char *watch_sentence(const struct watch_job *j)
{
    const struct watch_verdict *v = &j->verdict;
    char *text = NULL;
    size_t size;
    FILE *f = tool_need(open_memstream(&text, &size));
    if (!v->rank_count)
        fputs("nobody waits for too long", f);
    if (v->kind == WATCH_SLOW)
        say_slow(f, j);
    else
        each_kind(j, v->rank, v->rank_count, say_kind, f);
    if (v->kind == WATCH_NONE && v->why >= WATCH_ALL_THERE)
        fprintf(f, ", since %s", time_of((double)v->since_ns));
    if (v->kind == WATCH_DEADLOCK)
        fprintf(f, "; they wait for each other, since %s", time_of((double)v->since_ns));
    if (v->waiting_count && v->kind != WATCH_SLOW)
        say_waiting(f, j);
    if (v->kind == WATCH_NONE && v->rank_count)
        fputs(whys[v->why], f);
    fclose(f);
    return text;
}

/* --- The screen --- */

static void print_kind(void *context, const struct watch_job *j, const uint32_t *of, uint32_t number)
{
    FILE *out = context;
    uint64_t since = 0, age = 0;
    for (uint32_t i = 0; i < number && j->rows[of[i]].sight; i++) {
        since = j->rows[of[i]].since_ns > since ? j->rows[of[i]].since_ns : since;
        age = j->rows[of[i]].sight->age_ns > age ? j->rows[of[i]].sight->age_ns : age;
    }
    fprintf(out, "  %5u ", number);
    int columns = print_ranks(out, of, number);
    fprintf(out, "%*s ", columns < 16 ? 16 - columns : 0, "");
    print_doing(out, &j->rows[of[0]], number > 1);
    if (j->rows[of[0]].sight)
        fprintf(out, "  %s", time_of((double)since));
    if (age)
        fprintf(out, ", seen %s ago", time_of((double)age));
    fputc('\n', out);
}

static void print_end(FILE *out, const struct watch_job *j)
{
    const struct watch_numbers *n = &j->numbers;
    int full = isnan(n->progress) ? 0 : (int)(n->progress * BAR);
    if (!isnan(n->progress))
        fprintf(out, "  [%.*s%.*s] %3.0f %%", full, "####################", BAR - full, "....................",
                floor(100 * n->progress));
    if (isnan(n->eta))
        fprintf(out, "  end: unknown%s", n->beyond ? ", longer than recorded" : "");
    else
        fprintf(out, "  %s left", time_of(1e9 * n->eta));
    if (!isnan(n->eta_low))
        fprintf(out, " (%s to %s)", time_of(1e9 * n->eta_low), time_of(1e9 * n->eta_high));
    if (j->limited)
        fprintf(out, "  limit in %s%s", time_of(1e9 * fmax(0, j->limit_seconds)),
                isnan(n->eta) ? "" : j->fits ? ": it fits" : ": it does not fit");
    fputc('\n', out);
    if (isnan(n->whole.mpi))
        return;
    fprintf(out, "  MPI efficiency %.0f %%, load balance %.0f %%", 100 * n->whole.mpi,
            100 * n->whole.load_balance);
    if (!isnan(n->lately.load_balance))
        fprintf(out, "; lately %.0f %%, %.0f %%", 100 * n->lately.mpi, 100 * n->lately.load_balance);
    fputc('\n', out);
    if (n->last_rank != WATCH_NOBODY_LAST)
        fprintf(out, "  rank %u is the last: outside MPI for %.0f %% of its time, all ranks for %.0f %% in the mean\n",
                n->last_rank, 100 * n->whole.longest, 100 * n->whole.mpi);
}

static void print_stacks(FILE *out, const struct watch_job *j)
{
    for (uint32_t i = 0; i < j->verdict.rank_count; i++) {
        const struct watch_row *r = &j->rows[j->verdict.rank[i]];
        const char *last = watch_last_call(r), *way = watch_way(r);
        fprintf(out, "  rank %u: %s, %s\n", j->verdict.rank[i], last ? last : "no call yet", way ? way : "-");
    }
}

static void print_job(FILE *out, const struct watch_job *j, bool stacks)
{
    const struct watch_board *b = &j->sight[0]->board;
    BASE_OWN char *sentence = watch_sentence(j);
    BASE_OWN uint32_t *all = calloc((size_t)j->ranks + 1, sizeof *all);
    for (uint32_t i = 0; i < j->ranks; i++)
        all[i] = i;
    fprintf(out, "%s%s%s\n", j->verdict.kind ? watch_kind_text[j->verdict.kind] : "", j->verdict.kind ? ": " : "",
            sentence);
    fprintf(out, "  %s  %s  %u rank%s  %s  %s\n", b->command, b->file, j->ranks, j->ranks > 1 ? "s" : "",
            watch_job_state_text[watch_job_state(j)],
            time_of((double)(j->sight[0]->now - b->began)));
    print_end(out, j);
    each_kind(j, all, j->ranks, print_kind, out);
    if (stacks)
        print_stacks(out, j);
    if (j->stacks)
        stacks_print(j->stacks, out);
}

void watch_print_text(FILE *out, const struct watch_jobs *jobs, bool stacks)
{
    for (uint32_t i = 0; i < jobs->count; i++)
        print_job(out, &jobs->job[i], stacks);
}
