/* SPDX-License-Identifier: MIT */
/* Views of the replay: waits and their causes; the critical path. */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/efficiency.h"
#include "findings/findings.h"
#include "findings/units.h"
#include "job/regions.h"
#include "views/table.h"
#include "views/views.h"

enum { MOST_WAITS = 20, MOST_PLACES = 24, RANKS_WIDTH = 20 };
#define NOT_KNOWN UINT32_MAX /* for a place: one of a rank that is missing, perhaps */
enum wait_kind { LATE_SENDER, LATE_RECEIVER, AT_COLLECTIVE, AT_FINALIZE, LATE_COMPLETION, BETWEEN_LOOKS, WAIT_KINDS };

static const char *const kind_names[WAIT_KINDS] = { "late sender", "late receiver", "at a collective", "at Finalize",
                                                    "late completion", "between looks" };

static enum wait_kind kind_of(const struct bind_site *s, const struct replay_cause *c)
{
    if (s->what == BIND_FINALIZE)
        return AT_FINALIZE;
    if (c->between)
        return BETWEEN_LOOKS;
    if (s->call_kind == JOB_COMPLETION)
        return c->sender ? LATE_COMPLETION : LATE_SENDER;
    if (s->call_kind == JOB_P2P || s->call_kind == JOB_PROBE)
        return c->sender ? LATE_RECEIVER : LATE_SENDER;
    return AT_COLLECTIVE;
}

/* Waits at one place because of another. */
struct row { uint32_t where, cause; enum wait_kind kind; double ns; };

BASE_COMPARISON(by_pair, struct row, BASE_UP(where) ?: BASE_UP(cause) ?: BASE_UP(kind))

BASE_COMPARISON(by_cost, struct row, BASE_DOWN(ns))

/* What a rank that is missing made others wait for is in what their calls took: such a call is to blame for nothing. */
static uint32_t cause_of(struct report *r, uint32_t place)
{
    const struct replay_bind *b = findings_analysis(r)->bind;
    bool call = place % 2 && place / 2 < b->site_count && b->site[place / 2].what != BIND_REGION;

    return call && r->job->info.missing ? NOT_KNOWN : place;
}

static struct row *rows_of(struct report *r, uint32_t *count)
{
    struct replay_analysis *a = findings_analysis(r);
    uint32_t n;
    const struct replay_cause *c = replay_blame_causes(a->blame, &n);
    struct row *row = calloc(n + 1, sizeof *row);

    for (uint32_t i = 0; i < n; i++)
        row[i] = (struct row){ c[i].where, cause_of(r, c[i].cause),
                               kind_of(&a->bind->site[c[i].where / 2], &c[i]), c[i].ns };
    *count = BASE_ARRAY_JOIN(row, n, by_pair, into, from, into->ns += from->ns);
    qsort(row, *count, sizeof *row, by_cost);
    return row;
}

/* Whose work it is that makes others wait at a place: text as "ranks 0,2". */
static void culprits(struct report *r, const struct row *row, char *text, size_t size)
{
    uint32_t n, ranks = r->job->info.ranks;
    const struct replay_cause *c = replay_blame_causes(findings_analysis(r)->blame, &n);
    double *by = calloc(ranks, sizeof *by), most = 0;
    BASE_OWN bool *in = calloc(ranks, sizeof *in);

    for (uint32_t i = 0; i < n; i++)
        if (c[i].where == row->where && c[i].cause == row->cause)
            by[c[i].culprit] += c[i].ns;
    for (uint32_t i = 0; i < ranks; i++)
        most = by[i] > most ? by[i] : most;
    for (uint32_t i = 0; i < ranks; i++)
        in[i] = by[i] > 0.1 * most;
    findings_ranks_set(in, ranks, text, size < RANKS_WIDTH + 1 ? size : RANKS_WIDTH + 1);
    free(by);
}

/* "before FUNCTION@FILE:LINE", "in the region FUNCTION@FILE:LINE", "FUNCTION@FILE:LINE". */
static void place_text(struct report *r, uint32_t place, char *text, size_t size)
{
    struct replay_bind *b = findings_analysis(r)->bind;
    char at[256] = "";

    if (place / 2 >= b->site_count) {
        snprintf(text, size, "events whose order was lost");
        return;
    }
    findings_site_place(r, b->site[place / 2].terminal, at, sizeof at);
    snprintf(text, size, "%s%s",
             place % 2 == 0                                        ? "before "
             : b->site[place / 2].what == BIND_REGION ? "region "
                                                                   : "",
             at);
}

static double recorded_calls(struct report *r)
{
    struct replay_bind *b = findings_analysis(r)->bind;
    double ns = 0;

    for (uint32_t s = 0; s < b->site_count; s++)
        if (b->site[s].what != BIND_REGION && b->site[s].what != BIND_NOTHING)
            ns += b->site[s].call_ns;
    return ns;
}

static double all_rests(struct report *r)
{
    struct replay_analysis *a = findings_analysis(r);
    double ns = 0;

    for (uint32_t s = 0; s < a->bind->site_count; s++)
        ns += replay_analysis_rests(a, s);
    return ns;
}

static void print_serialisation(struct report *r, FILE *out)
{
    const struct findings_efficiency *e = &r->model->efficiency;

    findings_split_communication(r);
    if (e->split)
        fprintf(out, "serialisation %.1f %% = order of dependences %.1f %% x imbalance that moves %.1f %% x no cause found "
                "%.1f %%\n", 100 * e->serialisation, 100 * e->order, 100 * e->moving, 100 * e->explained);
}

static void print_totals(struct report *r, const struct row *row, uint32_t rows, FILE *out)
{
    const struct replay_blame *b = findings_analysis(r)->blame;
    double wait = 0, call = 0, between = 0, kinds[WAIT_KINDS] = { 0 };

    for (uint32_t i = 0; i < r->job->info.ranks; i++) {
        struct replay_account a = replay_blame_account(b, i);
        wait += (double)a.wait;
        between += (double)a.between;
        call += (double)a.call;
    }
    for (uint32_t i = 0; i < rows; i++)
        kinds[row[i].kind] += row[i].ns;
    const struct replay_moving *m = &findings_analysis(r)->moving;
    double rests = m->excess > 0 ? all_rests(r) * (1 - m->varying / m->excess) : 0,
           moving = rests > 0 ? rests * m->moving / (m->excess - m->varying) : 0;
    fprintf(out, "in MPI, all ranks: %s = waiting %s + %s %s", findings_time(wait + call), findings_time(wait),
            r->job->info.missing ? "transfer, or waiting for missing ranks," : "transfer", findings_time(call - rests));
    if (rests > 0)
        fprintf(out, "\n  + waiting for ranks that are late in turn %s + not explained %s", findings_time(moving),
                findings_time(rests - moving));
    fprintf(out, " (recorded: %s)\n", findings_time(recorded_calls(r)));
    print_serialisation(r, out);
    for (int k = 0; k < WAIT_KINDS; k++)
        if (kinds[k] > 0)
            fprintf(out, "  %-16s %9s %5.1f%%%s\n", kind_names[k], findings_time(kinds[k]),
                    findings_percent(kinds[k], wait + between),
                    k == BETWEEN_LOOKS ? "  besides: of MPI_Test, recorded as computation" : "");
}

/* Where the time of all threads went; where regions are and what they lose are findings and losses, above. */
static void print_threads(const struct findings_efficiency *e, FILE *out)
{
    const struct findings_capacity *of = &e->of;

    if (e->threads < 2)
        return;
    if (e->measured)
        fprintf(out,
                "all threads, %u a rank: %s = useful %s + uneven threads %s + waiting for each other %s\n"
                "  + fork and join %s + serial part %s + MPI %s + ended early %s\n",
                e->threads, findings_time(of->all), findings_time(of->useful), findings_time(of->uneven),
                findings_time(of->waiting), findings_time(of->fork_join), findings_time(of->serial),
                findings_time(of->mpi), findings_time(of->ended));
    else
        fprintf(out, "all threads, %u a rank: what they did in regions was not measured\n", e->threads);
}

static void print_wait(struct report *r, const struct row *row, struct views_table *t)
{
    double all = 1e9 * findings_list(r)->base;
    char where[256], cause[256] = "ranks are missing", ranks[128] = "not known:";

    place_text(r, row->where, where, sizeof where);
    findings_cut(where, 38);
    if (row->cause != NOT_KNOWN) {
        culprits(r, row, ranks, sizeof ranks);
        place_text(r, row->cause, cause, sizeof cause);
    }
    ROW(t, TIME("", row->ns, "wait", 9), PERCENT("", findings_percent(row->ns, all), "share", 6),
        TEXT("", kind_names[row->kind], " kind", -15), TEXT("", where, "at", -38),
        TEXT("", findings_text("%s %s", ranks, cause), "because of", 0));
}

/* --- The critical path --- */

static uint32_t last_rank(struct replay_analysis *a, uint32_t ranks)
{
    const struct replay_result *result = &a->result;
    uint32_t last = 0;

    for (uint32_t r = 1; r < ranks; r++)
        if (result->end[r] > result->end[last])
            last = r;
    return last;
}

struct piece { uint32_t place, rank; int64_t ns; };

BASE_COMPARISON(longest, struct piece, BASE_DOWN(ns))

static void print_piece(struct report *r, const struct piece *p, struct views_table *t)
{
    double mean = 0, most = 0, wall = (double)findings_analysis(r)->result.longest;
    char place[256];

    for (uint32_t k = 0; k < r->job->info.ranks; k++) {
        double own = (double)replay_blame_spent(findings_analysis(r)->blame, k, p->place);
        mean += own / r->job->info.ranks;
        most = fmax(most, own);
    }
    place_text(r, p->place, place, sizeof place);
    findings_cut(place, 44);
    ROW(t, TIME("", p->ns, "on path", 9), PERCENT("", findings_percent((double)p->ns, wall), "share", 6),
        TIME("", fmax(fmin((double)p->ns, most) - mean, 0), "imbalance", 10),
        TEXT("", findings_text("%s, last rank %u", place, p->rank), " place", 0));
}

static void print_pieces(struct report *r, struct replay_analysis *a, uint32_t last, FILE *out)
{
    uint32_t places = 2 * a->bind->site_count + 1, count = 0;
    BASE_OWN struct piece *piece = calloc(places, sizeof *piece);
    double least = 0.001 * (double)a->result.longest;
    struct views_table t = { .out = out };

    for (uint32_t p = 0; p < places; p++) {
        piece[count] = (struct piece){ .place = p };
        piece[count].ns = replay_blame_path(a->blame, last, p, &piece[count].rank);
        count += piece[count].ns > 0;
    }
    qsort(piece, count, sizeof *piece, longest);
    print_piece(r, piece, &t);
    for (uint32_t i = 0; i < count && i < MOST_PLACES && (double)piece[i].ns > least; i++)
        print_piece(r, &piece[i], &t);
}

static void print_path(struct report *r, FILE *out)
{
    struct replay_analysis *a = findings_analysis(r);
    uint32_t ranks = r->job->info.ranks, last = last_rank(a, ranks), block = 1;
    fprintf(out, "\ncritical path: %s, ends on rank %u\n", findings_time((double)a->result.longest),
            last);
    fputs("imbalance: what of the path one rank has more at a place than their mean: what sharing that work would "
          "save\n\n", out);
    print_pieces(r, a, last, out);
    fputs("\nby rank:", out);
    for (uint32_t i = 0; i * block < ranks; i++) {
        int64_t ns = replay_blame_path_of(a->blame, last, i, &block);
        if ((double)ns < 0.01 * (double)a->result.longest)
            continue;
        fprintf(out, "  %s %s", findings_rank_text(i * block, block), findings_time((double)ns));
    }
    fputc('\n', out);
}

/* --- All of it --- */

void views_print_waits(struct report *r, FILE *out)
{
    const char *why = findings_cannot_replay(r, 1);
    struct views_table t = { .out = out };
    uint32_t count = 0;

    if (why) {
        fprintf(out, "this job cannot be replayed: %s\n", why);
        return;
    }
    BASE_OWN struct row *row = rows_of(r, &count);
    views_print_findings(r, UINT32_MAX, out);
    fputc('\n', out);
    print_totals(r, row, count, out);
    print_threads(&r->model->efficiency, out);
    if (count)
        fputc('\n', out);
    for (uint32_t i = 0; count && i <= count && i <= MOST_WAITS && row[i ? i - 1 : 0].ns > 0.001 * row[0].ns; i++)
        print_wait(r, &row[i ? i - 1 : 0], &t);
    print_path(r, out);
}
