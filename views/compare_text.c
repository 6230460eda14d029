/* SPDX-License-Identifier: MIT */
/* A comparison of two jobs for people: what differs, nothing where nothing does. */
#include <inttypes.h>
#include <stdlib.h>

#include "contracts/compare.h"
#include "findings/units.h"
#include "views/scaling.h"
#include "views/views.h"

enum { LINES = 20 /* of each kind */, FUNCTIONS = 3 /* of a time */ }; /* the JSON has all */

static const char arrow[] = "->";

/* As A has it where A has it. */
static const char *call_text(const struct contracts_comparison *c, const uint32_t terminal[2])
{
    return contracts_pair_text(c, terminal, 0, (const int[2]){ 40, 120 });
}

/* Whether one line more has room; the first one comes under a heading. */
static bool has_room(uint32_t *shown, const char *heading, FILE *out)
{
    if (++*shown == 1)
        fputs(heading, out);
    return *shown <= LINES;
}

static void print_more(uint32_t shown, FILE *out)
{
    if (shown > LINES)
        fprintf(out, "  and %u more (--format json lists all)\n", shown - LINES);
}

static void print_jobs(const struct contracts_comparison *c, FILE *out)
{
    for (int i = 0; i < 2; i++) {
        const struct job *j = c->report[i]->job;
        fprintf(out, "%c: %s: %s, %s, %" PRIu64 " events, %s\n", "AB"[i], findings_line(c->file[i], 255),
                findings_program_text(j, 60), findings_size_text(j->info.ranks, j->info.threads),
                c->report[i]->model->events, findings_time((double)c->report[i]->model->wall_ns));
    }
}

static void print_mapping(const struct contracts_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    fprintf(
        out,
        "mapped: %u kinds of events are the same, %u by their innermost frame, %u by function and order; only in A %u, "
        "only in B %u\n",
        c->matched[CONTRACTS_SAME], c->matched[CONTRACTS_PLACE], c->matched[CONTRACTS_ORDER],
        c->matched[CONTRACTS_ONLY], c->only_b);
    if (c->gave_up)
        fputs("  too many callsites to be mapped by function and order: what is not the same counts as removed and "
              "added\n", out);
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct contracts_row *r = &c->rows[i];
        if (r->match == CONTRACTS_ORDER && r->terminal[0] != GRAMMAR_NONE && r->terminal[1] != GRAMMAR_NONE &&
            has_room(&shown, "", out))
            fprintf(out, "  %s %s %s\n", call_text(c, r->terminal), arrow,
                    findings_where(c->report[1], r->terminal[1], 120));
    }
    print_more(shown, out);
}

/* --- Structure --- */

static void print_teams(const struct contracts_row *r, int side, FILE *out)
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

static void print_calls(const struct contracts_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct contracts_row *r = &c->rows[i];
        if (!contracts_row_changed(c, r) || !has_room(&shown, "\ncalls and regions\n", out))
            continue;
        fprintf(out, "  %-8s %s: ", contracts_change_text(r->count[0], r->count[1], true), call_text(c, r->terminal));
        if (r->count[0] && r->count[1])
            fprintf(out, "%" PRIu64 " %s ", r->count[0], arrow);
        fprintf(out, "%" PRIu64 " times\n", r->count[1] ? r->count[1] : r->count[0]);
    }
    print_more(shown, out);
    shown = 0;
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct contracts_row *r = &c->rows[i];
        if (!r->teams_differ || !has_room(&shown, "\nteam sizes\n", out))
            continue;
        fprintf(out, "  %s: ", call_text(c, r->terminal));
        print_teams(r, 0, out);
        fprintf(out, " %s ", arrow);
        print_teams(r, 1, out);
        fputc('\n', out);
    }
    print_more(shown, out);
}

static void print_turns(const struct findings_loop *l, FILE *out)
{
    if (l->turns_most && l->turns_least == l->turns_most)
        fprintf(out, "%" PRIu64, l->turns_least);
    else if (l->turns_most)
        fprintf(out, "%" PRIu64 " to %" PRIu64 " (mean %.4g)", l->turns_least, l->turns_most,
                findings_mean(l->turns.sum, l->entries.sum));
    else
        fprintf(out, "%.6g", findings_mean(l->turns.sum, l->entries.sum));
}

static void print_loop(const struct contracts_comparison *c, const struct contracts_turns *l, FILE *out)
{
    const struct findings_loop *a = l->loop[0], *b = l->loop[1];
    double events = l->events[!a];

    if (a)
        print_turns(a, out);
    if (a && b)
        fprintf(out, " %s ", arrow);
    if (b)
        print_turns(b, out);
    fprintf(out, " turns of %.4g event%s, executed %" PRIu64, events, events == 1 ? "" : "s", (a ?: b)->entries.sum);
    if (a && b && a->entries.sum != b->entries.sum)
        fprintf(out, " %s %" PRIu64, arrow, b->entries.sum);
    fprintf(out, " times, from %s\n", call_text(c, l->terminal));
}

static void print_loops(const struct contracts_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    for (uint32_t i = 0; i < c->loop_count; i++) {
        const struct contracts_turns *l = &c->loops[i];
        if (!contracts_loop_changed(c, l) || !has_room(&shown, "\nloops\n", out))
            continue;
        fprintf(out, "  %-8s ", contracts_change_text(l->loop[0], l->loop[1], true));
        print_loop(c, l, out);
    }
    print_more(shown, out);
}

static void print_classes(const struct contracts_comparison *c, FILE *out)
{
    const struct contracts_shapes *s = &c->classes;

    if (!s->count[0] && !s->count[1] && !s->moved)
        return;
    fprintf(out, "\nclasses of streams: %u in both", s->common);
    if (s->moved)
        fprintf(out, " (%u of other ranks)", s->moved);
    fprintf(out, ", %u removed, %u added\n", s->count[0], s->count[1]);
    if (c->scaled) /* other neighbours, other classes: a list of all would say little */
        return;
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < s->count[side] && i < LINES; i++) {
            const struct contracts_shape *x = &s->only[side][i];
            const uint32_t terminal[2] = { side ? GRAMMAR_NONE : x->terminal, side ? x->terminal : GRAMMAR_NONE };
            fprintf(out, "  %-8s %" PRIu64 " event%s, %" PRIu64 " stream%s, from %s\n", side ? "added" : "removed",
                    x->length, x->length == 1 ? "" : "s", x->members, x->members == 1 ? "" : "s",
                    call_text(c, terminal));
        }
        print_more(s->count[side], out);
    }
}

/* --- Times --- */

static void print_shift(const struct contracts_comparison *c, const struct contracts_row *r,
                        const struct contracts_shift *s, const char *what, FILE *out)
{
    uint32_t count;

    if (!s->moved)
        return;
    fprintf(out, "  %-7s %s %s: %s +- %s %s %s +- %s\n", s->mean[1] > s->mean[0] ? "slower" : "faster", what,
            call_text(c, r->terminal), findings_time(s->mean[0]), findings_time(s->deviation[0]), arrow,
            findings_time(s->mean[1]), findings_time(s->deviation[1]));
    BASE_OWN struct contracts_grown *grown = contracts_row_grown(c, r, s == &r->gap, &count);
    for (uint32_t i = 0; i < count && i < FUNCTIONS; i++)
        fprintf(out, "          %s\n", contracts_grown_text(&grown[i]));
}

static void print_times(const struct contracts_comparison *c, FILE *out)
{
    uint32_t shown = 0;

    if (c->other_arguments)
        fprintf(out, "\ntimes are not compared: the arguments differ (%s; %s)\n",
                findings_line(job_arguments(c->report[0]->job), 60),
                findings_line(job_arguments(c->report[1]->job), 60));
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct contracts_row *r = &c->rows[i];
        if ((!r->gap.moved && !r->own.moved) ||
            !has_room(&shown, "\ntimes beyond their spread (mean +- deviation of one execution)\n", out))
            continue;
        print_shift(c, r, &r->gap, "before", out);
        print_shift(c, r, &r->own, "in    ", out);
    }
    print_more(shown, out);
    fprintf(out, "\ntotals (mean of the ranks; wall: the longest)\n");
    for (int i = 0; i < CONTRACTS_TOTALS; i++) {
        const struct contracts_total *t = &c->totals[i];
        fprintf(out, "  %-12s %10s %s %10s", t->name, findings_time(t->ns[0]), arrow, findings_time(t->ns[1]));
        if (!c->other_arguments)
            fprintf(out, "  spread %10s  %s", findings_time(t->spread), !t->moved ? "within its spread" :
                    t->ns[1] > t->ns[0] ? "slower" : "faster");
        fputc('\n', out);
    }
}

/* --- Other ranks --- */

static const char *law_text(const struct contracts_comparison *c, const double value[2])
{
    double exponent;
    enum contracts_law law = contracts_law(c, value, &exponent);

    if (law == CONTRACTS_CONSTANT || law == CONTRACTS_INVERSE)
        return contracts_law_name(law);
    return law == CONTRACTS_OTHER ? findings_text("other (P^%.2f)", exponent)
                                  : findings_text("with %s", contracts_law_name(law));
}

static bool is_constant(const struct contracts_comparison *c, const double value[2])
{
    double exponent;

    return contracts_law(c, value, &exponent) == CONTRACTS_CONSTANT;
}

/* Those that are `constant`, or those that are not: the latter come first, they are what one looks for. */
static uint32_t print_scaled_calls(const struct contracts_comparison *c, bool constant, uint32_t shown, FILE *out)
{
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct contracts_row *r = &c->rows[i];
        double value[2] = { findings_mean(r->count[0], r->streams[0]), findings_mean(r->count[1], r->streams[1]) };
        if (r->count[0] && r->count[1] && is_constant(c, value) == constant && has_room(&shown, "", out))
            fprintf(out, "  %s: %.6g %s %.6g, %s\n", call_text(c, r->terminal), value[0], arrow, value[1],
                    law_text(c, value));
    }
    return shown;
}

static uint32_t print_scaled_loops(const struct contracts_comparison *c, bool constant, uint32_t shown, FILE *out)
{
    for (uint32_t i = 0; i < c->loop_count; i++) {
        const struct contracts_turns *l = &c->loops[i];
        const double value[2] = { contracts_loop_bound(l, 0), contracts_loop_bound(l, 1) };
        if (!l->loop[0] || !l->loop[1] || is_constant(c, value) != constant ||
            !has_room(&shown, "\nloop bounds, by P ranks\n", out))
            continue;
        fprintf(out, "  %s: ", law_text(c, value));
        print_loop(c, l, out);
    }
    return shown;
}

static void print_scaled(const struct contracts_comparison *c, FILE *out)
{
    fprintf(out, "\nhow often a stream executes it, by P ranks: %u %s %u\n", c->report[0]->job->info.ranks, arrow,
            c->report[1]->job->info.ranks);
    print_more(print_scaled_calls(c, true, print_scaled_calls(c, false, 0, out), out), out);
    print_more(print_scaled_loops(c, true, print_scaled_loops(c, false, 0, out), out), out);
}

/* The table of `pythia report --view scaling`. */
static void print_scaling(struct contracts_comparison *c, FILE *out)
{
    struct views_scaling s = { .count = 2,
                               .file = { c->file[0], c->file[1] },
                               .report = { c->report[0], c->report[1] } };

    fputc('\n', out);
    views_print_scaling(&s, out);
}

static void print_timing(const struct contracts_comparison *c, FILE *out)
{
    int side = c->timing[0] == GRAMMAR_NONE;

    if (contracts_by_timing(c) && !c->scaled)
        fprintf(out, "\nnot compared, since timing decides the order: loops, groups of ranks (%s at %s)\n",
                job_text(c->report[side]->job, c->report[side]->job->terminals[c->timing[side]].function),
                findings_where(c->report[side], c->timing[side], 60));
}

void views_print_comparison(struct contracts_comparison *c, FILE *out)
{
    print_jobs(c, out);
    print_mapping(c, out);
    print_calls(c, out);
    print_loops(c, out);
    print_timing(c, out);
    print_classes(c, out);
    print_times(c, out);
    if (c->scaled) {
        print_scaled(c, out);
        print_scaling(c, out);
    }
    fprintf(out, "\nstructure: %s; times: %s\n", c->structure_differs ? "differs" : "equal",
            c->other_arguments ? "not compared" : c->times_differ ? "moved beyond their spread" :
            "within their spread");
}
