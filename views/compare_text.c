/* SPDX-License-Identifier: MIT */
/* A comparison of two jobs for people: what differs, nothing where nothing does. */
#include <inttypes.h>
#include <string.h>

#include "base/clean.h"
#include "contracts/compare.h"
#include "findings/units.h"
#include "views/scaling.h"
#include "views/views.h"

enum { LINES = 20 }; /* of each kind; the JSON has all */

static const char arrow[] = "->";

/* A call for people, with its callsite; as A has it where A has it. */
static void print_call(const struct report_comparison *c, const uint32_t terminal[2], FILE *out)
{
    int side = terminal[0] == GRAMMAR_NONE;
    struct report *r = c->report[side];

    if (terminal[side] == GRAMMAR_NONE)
        fprintf(out, "lost events");
    else
        fprintf(out, "%s at %s", report_line(job_text(r->job, r->job->terminals[terminal[side]].function), 40),
                report_where(r, terminal[side], 120));
}

static void print_more(uint32_t shown, FILE *out)
{
    if (shown > LINES)
        fprintf(out, "  and %u more (--format json lists all)\n", shown - LINES);
}

static void print_jobs(const struct report_comparison *c, FILE *out)
{
    for (int i = 0; i < 2; i++) {
        const struct job *j = c->report[i]->job;
        fprintf(out, "%c: %s: %s, %s, %" PRIu64 " events, %s\n", "AB"[i], report_line(c->file[i], 255),
                report_program_text(j, 60), report_size_text(j), c->report[i]->model->events,
                report_time((double)c->report[i]->model->wall_ns));
    }
}

static void print_mapping(const struct report_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    fprintf(
        out,
        "mapped: %u kinds of events are the same, %u by their innermost frame, %u by function and order; only in A %u, "
        "only in B %u\n",
        c->matched[REPORT_SAME], c->matched[REPORT_PLACE], c->matched[REPORT_ORDER], c->matched[REPORT_ONLY],
        c->only_b);
    if (c->gave_up)
        fprintf(out, "  too many callsites to be mapped by function and order: what is not the same counts as removed and added\n");
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct report_row *r = &c->rows[i];
        if (r->match != REPORT_ORDER || r->terminal[0] == GRAMMAR_NONE || r->terminal[1] == GRAMMAR_NONE ||
            ++shown > LINES)
            continue;
        fputs("  ", out);
        print_call(c, r->terminal, out);
        fprintf(out, " %s %s\n", arrow, report_where(c->report[1], r->terminal[1], 120));
    }
    print_more(shown, out);
}

/* --- Structure --- */

static void print_teams(const struct report_row *r, int side, FILE *out)
{
    for (uint32_t i = 0; i < r->team_count[side]; i++) {
        if (r->teams[side][i].size < 0)
            fprintf(out, "%sother", i ? ", " : "");
        else
            fprintf(out, "%s%" PRId64, i ? ", " : "", r->teams[side][i].size);
        fprintf(out, " (%" PRIu64 " x)", r->teams[side][i].count);
    }
    if (!r->team_count[side])
        fputs("none", out);
}

static void print_calls(const struct report_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct report_row *r = &c->rows[i];
        if (!report_row_changed(c, r) || ++shown > LINES)
            continue;
        if (shown == 1)
            fprintf(out, "\ncalls and regions\n");
        fprintf(out, "  %-8s ", !r->count[0] ? "added" : !r->count[1] ? "removed" : "changed");
        print_call(c, r->terminal, out);
        if (r->count[0] && r->count[1])
            fprintf(out, ": %" PRIu64 " %s %" PRIu64 " times\n", r->count[0], arrow, r->count[1]);
        else
            fprintf(out, ": %" PRIu64 " times\n", r->count[0] + r->count[1]);
    }
    print_more(shown, out);
    shown = 0;
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct report_row *r = &c->rows[i];
        if (!r->teams_differ || ++shown > LINES)
            continue;
        fprintf(out, "%s  ", shown == 1 ? "\nteam sizes\n" : "");
        print_call(c, r->terminal, out);
        fputs(": ", out);
        print_teams(r, 0, out);
        fprintf(out, " %s ", arrow);
        print_teams(r, 1, out);
        fputc('\n', out);
    }
    print_more(shown, out);
}

static void print_turns(const struct report_turns *l, int side, FILE *out)
{
    if (l->least[side] == l->most[side])
        fprintf(out, "%" PRIu64, l->least[side]);
    else
        fprintf(out, "%" PRIu64 " to %" PRIu64 " (mean %.4g)", l->least[side], l->most[side],
                report_mean(l->turns[side], l->executions[side]));
}

static void print_loop(const struct report_comparison *c, const struct report_turns *l, FILE *out)
{
    if (l->present[0])
        print_turns(l, 0, out);
    if (l->present[0] && l->present[1])
        fprintf(out, " %s ", arrow);
    if (l->present[1])
        print_turns(l, 1, out);
    int side = !l->present[0];
    fprintf(out, " turns of %" PRIu64 " event%s, executed %" PRIu64, l->length[side], l->length[side] == 1 ? "" : "s",
            l->executions[side]);
    if (l->present[0] && l->present[1] && l->executions[0] != l->executions[1])
        fprintf(out, " %s %" PRIu64, arrow, l->executions[1]);
    fprintf(out, " times, from ");
    print_call(c, l->terminal, out);
}

static void print_loops(const struct report_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    for (uint32_t i = 0; i < c->loop_count; i++) {
        const struct report_turns *l = &c->loops[i];
        if (!report_loop_changed(c, l) || ++shown > LINES)
            continue;
        if (shown == 1)
            fprintf(out, "\nloops\n");
        fprintf(out, "  %-8s ", !l->present[0] ? "added" : !l->present[1] ? "removed" : "changed");
        print_loop(c, l, out);
        fputc('\n', out);
    }
    print_more(shown, out);
}

static void print_shapes(const struct report_comparison *c, const struct report_shapes *s, const char *name, FILE *out)
{
    if (!s->count[0] && !s->count[1] && !s->moved)
        return;
    fprintf(out, "\n%s: %u in both", name, s->common);
    if (s->moved)
        fprintf(out, " (%u of other ranks)", s->moved);
    fprintf(out, ", %u removed, %u added\n", s->count[0], s->count[1]);
    if (c->scaled) /* other neighbours, other rules: a list of all would say little */
        return;
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < s->count[side] && i < LINES; i++) {
            const struct report_shape *x = &s->only[side][i];
            const uint32_t terminal[2] = { side ? GRAMMAR_NONE : x->terminal, side ? x->terminal : GRAMMAR_NONE };
            fprintf(out, "  %-8s %" PRIu64 " event%s, %" PRIu64 " stream%s, from ", side ? "added" : "removed",
                    x->length, x->length == 1 ? "" : "s", x->members, x->members == 1 ? "" : "s");
            print_call(c, terminal, out);
            fputc('\n', out);
        }
        print_more(s->count[side], out);
    }
}

/* --- Times --- */

static void print_shift(const struct report_comparison *c, const struct report_row *r, const struct report_shift *s,
                        const char *what, FILE *out)
{
    fprintf(out, "  %-7s %s ", s->mean[1] > s->mean[0] ? "slower" : "faster", what);
    print_call(c, r->terminal, out);
    fprintf(out, ": %s +- %s %s %s +- %s\n", report_time(s->mean[0]), report_time(s->deviation[0]), arrow,
            report_time(s->mean[1]), report_time(s->deviation[1]));
}

static void print_times(const struct report_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    if (c->other_arguments)
        fprintf(out, "\ntimes are not compared: the arguments differ (%s; %s)\n",
                report_line(job_arguments(c->report[0]->job), 60),
                report_line(job_arguments(c->report[1]->job), 60));
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct report_row *r = &c->rows[i];
        if ((!r->gap.moved && !r->own.moved) || ++shown > LINES)
            continue;
        if (shown == 1)
            fprintf(out, "\ntimes beyond their spread (mean +- deviation of one execution)\n");
        if (r->gap.moved)
            print_shift(c, r, &r->gap, "before", out);
        if (r->own.moved)
            print_shift(c, r, &r->own, "in    ", out);
    }
    print_more(shown, out);
    fprintf(out, "\ntotals (mean of the ranks; wall: the longest)\n");
    for (int i = 0; i < REPORT_TOTALS; i++) {
        const struct report_total *t = &c->totals[i];
        fprintf(out, "  %-12s %10s %s %10s", t->name, report_time(t->ns[0]), arrow, report_time(t->ns[1]));
        if (!c->other_arguments)
            fprintf(out, "  spread %10s  %s", report_time(t->spread), !t->moved ? "within its spread" :
                    t->ns[1] > t->ns[0] ? "slower" : "faster");
        fputc('\n', out);
    }
}

/* --- Other ranks --- */

static enum report_law law_of(const struct report_comparison *c, const double value[2], double *exponent)
{
    const uint32_t ranks[2] = { c->report[0]->job->info.ranks, c->report[1]->job->info.ranks };

    return report_law(value, ranks, exponent);
}

static void print_law(const struct report_comparison *c, const double value[2], FILE *out)
{
    double exponent;
    enum report_law law = law_of(c, value, &exponent);

    if (law == REPORT_CONSTANT || law == REPORT_INVERSE)
        fprintf(out, "%s", report_law_name(law));
    else if (law == REPORT_OTHER)
        fprintf(out, "other (P^%.2f)", exponent);
    else
        fprintf(out, "with %s", report_law_name(law));
}

/* Those that are `constant`, or those that are not: the latter come first, they are what one looks for. */
static uint32_t print_scaled_calls(const struct report_comparison *c, bool constant, uint32_t shown, FILE *out)
{
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct report_row *r = &c->rows[i];
        double value[2] = { report_mean(r->count[0], r->streams[0]), report_mean(r->count[1], r->streams[1]) },
               exponent;
        if (!r->count[0] || !r->count[1] || (law_of(c, value, &exponent) == REPORT_CONSTANT) != constant ||
            ++shown > LINES)
            continue;
        fputs("  ", out);
        print_call(c, r->terminal, out);
        fprintf(out, ": %.6g %s %.6g, ", value[0], arrow, value[1]);
        print_law(c, value, out);
        fputc('\n', out);
    }
    return shown;
}

static uint32_t print_scaled_loops(const struct report_comparison *c, bool constant, uint32_t shown, FILE *out)
{
    for (uint32_t i = 0; i < c->loop_count; i++) {
        const struct report_turns *l = &c->loops[i];
        double value[2] = { report_mean(l->turns[0], l->executions[0]), report_mean(l->turns[1], l->executions[1]) },
               exponent;
        if (!l->present[0] || !l->present[1] || (law_of(c, value, &exponent) == REPORT_CONSTANT) != constant ||
            ++shown > LINES)
            continue;
        fprintf(out, "%s  ", shown == 1 ? "\nloop bounds, by P ranks\n" : "");
        print_law(c, value, out);
        fputs(": ", out);
        print_loop(c, l, out);
        fputc('\n', out);
    }
    return shown;
}

static void print_scaled(const struct report_comparison *c, FILE *out)
{
    fprintf(out, "\nhow often a stream executes it, by P ranks: %u %s %u\n", c->report[0]->job->info.ranks, arrow,
            c->report[1]->job->info.ranks);
    print_more(print_scaled_calls(c, true, print_scaled_calls(c, false, 0, out), out), out);
    print_more(print_scaled_loops(c, true, print_scaled_loops(c, false, 0, out), out), out);
}

/* The table of `pythia report --view scaling`. */
static void print_scaling(struct report_comparison *c, FILE *out)
{
    struct report_scaling s = { .count = 2,
                                .file = { c->file[0], c->file[1] },
                                .report = { c->report[0], c->report[1] } };

    fputc('\n', out);
    report_print_scaling(&s, out);
}

static void print_timing(const struct report_comparison *c, FILE *out)
{
    int side = c->timing[0] == GRAMMAR_NONE;

    if (report_by_timing(c) && !c->scaled)
        fprintf(out, "\nnot compared, since timing decides the order: loops, rules, classes (%s at %s)\n",
                job_text(c->report[side]->job, c->report[side]->job->terminals[c->timing[side]].function),
                report_where(c->report[side], c->timing[side], 60));
}

void report_print_comparison(struct report_comparison *c, FILE *out)
{
    print_jobs(c, out);
    print_mapping(c, out);
    print_calls(c, out);
    print_loops(c, out);
    print_timing(c, out);
    print_shapes(c, &c->rules, "rules", out);
    print_shapes(c, &c->classes, "classes of streams", out);
    print_times(c, out);
    if (c->scaled) {
        print_scaled(c, out);
        print_scaling(c, out);
    }
    fprintf(out, "\nstructure: %s; times: %s\n", c->structure_differs ? "differs" : "equal",
            c->other_arguments ? "not compared" : c->times_differ ? "moved beyond their spread" :
            "within their spread");
}
