/* SPDX-License-Identifier: MIT */
/*
 * The view of communication: patterns by name, the matrix of up to 64 ranks (figures where they fit, shades beyond),
 * what collectives carry, and who is addressed relative to the own rank.
 */
#include <math.h>

#include "base/array.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { MOST_RANKS = 64, MOST_FIGURES = 12 };

static void print_patterns(struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;

    for (uint32_t i = 0; i < m->pattern_count; i++) {
        const struct findings_pattern *p = &m->patterns[i];
        if (i == 1 && m->pattern_count == 2 && p->bytes == m->patterns[0].bytes)
            break; /* one call: said already */
        bool all = p->site == GRAMMAR_NONE;
        uint32_t terminal = all ? GRAMMAR_NONE : m->sites[p->site].terminal;
        fprintf(out, "%s%-*s %-36s %12s messages %10s", i ? "  " : "pattern: ", i ? 24 : 17,
                all ? "all calls" : findings_site_name(r->names, terminal), p->name, findings_count(p->messages),
                findings_bytes((double)p->bytes));
        fprintf(out, "%s%s\n", all ? "" : "  ", all ? "" : findings_where(r, terminal, 60));
    }
    if (m->by_mean_bytes)
        fprintf(out, "by mean: %s of it is the mean of ranks whose messages were not kept apart\n",
                findings_bytes((double)m->by_mean_bytes));
    if (m->unplaced_messages)
        fprintf(out, "not placed: %s messages, %s (peers that are not in the job, or more of them than are kept)\n",
                findings_count(m->unplaced_messages), findings_bytes((double)m->unplaced_bytes));
}

static uint64_t cell(const struct findings_model *m, uint32_t from, uint32_t to)
{
    const struct findings_edge *e = m->edges;
    uint32_t at = BASE_ARRAY_PLACE(m->edge_count, i, e[i].from < from || (e[i].from == from && e[i].to < to));

    if (at == m->edge_count || e[at].from != from || e[at].to != to)
        return 0;
    return e[at].bytes + !e[at].bytes; /* an empty message is one, too */
}

static void print_figures(const struct findings_model *m, uint32_t ranks, FILE *out)
{
    fprintf(out, "\nbytes from rank (down) to rank (across)\n%6s", "");
    for (uint32_t to = 0; to < ranks; to++)
        fprintf(out, " %8u", to);
    for (uint32_t from = 0; from < ranks; from++) {
        fprintf(out, "\n%6u", from);
        for (uint32_t to = 0; to < ranks; to++)
            fprintf(out, " %8s", cell(m, from, to) ? findings_bytes((double)cell(m, from, to)) : ".");
    }
    fputc('\n', out);
}

static void print_shades(const struct findings_model *m, uint32_t ranks, FILE *out)
{
    static const char shades[] = "-:=+*%#@"; /* each a factor of 4 more, the last the most */
    uint64_t most = 1;

    for (uint32_t i = 0; i < m->edge_count; i++)
        most = m->edges[i].bytes > most ? m->edges[i].bytes : most;
    fprintf(out, "\nbytes from rank (down) to rank (across); @ up to %s, each of %s a quarter of the one before\n",
            findings_bytes((double)most), "# % * + = : -");
    for (uint32_t from = 0; from < ranks; from++) {
        fprintf(out, "%6u  ", from);
        for (uint32_t to = 0; to < ranks; to++) {
            uint64_t b = cell(m, from, to);
            int step = b ? 7 - (int)(log((double)most / (double)b) / log(4)) : 0;
            fputc(b ? shades[step < 0 ? 0 : step > 7 ? 7 : step] : ' ', out);
        }
        fputs("|\n", out);
    }
}

static void print_collective(struct report *r, const struct findings_site *s, struct views_table *t)
{
    ROW(t, TEXT("", findings_site_name(r->names, s->terminal), "collective", -24), COUNT("", s->count, "calls", 12),
        BYTES("", s->bytes, "bytes", 10), BYTES("", findings_mean(s->bytes, s->count), "a call", 10),
        TEXT("", findings_where(r, s->terminal, 60), " callsite", 0));
}

static void print_collectives(struct report *r, FILE *out)
{
    struct views_table t = { .out = out };

    for (uint32_t i = 0; i < r->model->site_count; i++) {
        const struct findings_site *s = &r->model->sites[i];
        if (s->call_kind != JOB_COLLECTIVE)
            continue;
        if (!t.headed) {
            fputc('\n', out);
            print_collective(r, s, &t);
        }
        print_collective(r, s, &t);
    }
}

static void print_relative(const struct report *r, FILE *out)
{
    struct views_table t = { .out = out };

    fputc('\n', out);
    for (uint32_t i = 0; i <= r->model->peer_count; i++) {
        const struct findings_peer *p = &r->model->peers[i ? i - 1 : 0];
        const char *direction = !p->onesided ? (p->receives ? "receive" : "send") : p->receives ? "read" : "write";
        ROW(&t, TEXT("", findings_line(findings_comm_text(r, p->comm), 63), "communicator", -24),
            TEXT("", direction, "direction", -9), TEXT("", findings_peer_text(p), "peer", -14),
            COUNT("", p->messages, "messages", 12), BYTES("", p->bytes, "bytes", 10),
            BYTES("", findings_mean(p->bytes, p->messages), "mean", 10));
    }
}

void views_print_comm(struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;
    uint32_t ranks = r->job->info.ranks;

    if (!m->peer_count)
        fprintf(out, "no point-to-point or one-sided communication was recorded\n");
    print_patterns(r, out);
    if (m->edge_count && ranks <= MOST_FIGURES)
        print_figures(m, ranks, out);
    else if (m->edge_count && ranks <= MOST_RANKS)
        print_shades(m, ranks, out);
    print_collectives(r, out);
    if (m->peer_count)
        print_relative(r, out);
}
