/* SPDX-License-Identifier: MIT */
/* Calls as comma-separated values: of all ranks, of each, and how large their data are. */
#include "findings/by_rank.h"
#include "views/table.h"
#include "views/views.h"

/* Where a call is; nowhere for NULL. */
struct spot { const char *function; const struct findings_place *place; };

static struct spot spot_of(struct report *r, const struct findings_site *s)
{
    static const struct findings_place nowhere;
    const struct findings_place *p = s ? findings_place_of(r, s->terminal) : NULL;

    return (struct spot){ s ? job_text(r->job, s->function) : NULL, p ? p : &nowhere };
}

#define SPOT(s) \
    TEXT("function", (s).function), TEXT("caller", (s).place->function), TEXT("file", (s).place->file), \
    NUMBER("line", views_known((s).place->line, (s).place->line)), TEXT("module", (s).place->module), \
    OFFSET("offset", views_known((s).place->module, (double)(s).place->offset))

void views_print_csv(struct report *r, FILE *out)
{
    static const struct findings_site none;
    struct views_table t = { .out = out, .csv = true };

    for (uint32_t i = 0; i <= r->model->site_count; i++) {
        const struct findings_site *s = i ? &r->model->sites[i - 1] : &none;
        const struct findings_spread *of = &s->spread;
        struct spot spot = spot_of(r, i ? s : NULL);
        double executed = views_known(of->min_ns != UINT64_MAX, 1);
        ROW(&t, SPOT(spot), COUNT("count", s->count), TIME("time_seconds", s->time_ns), TIME("gap_seconds", s->gap_ns),
            BYTES("bytes", s->bytes), TIME("min_seconds", executed * (double)of->min_ns),
            TIME("max_seconds", executed * (double)of->max_ns), NUMBER("streams", of->streams),
            RATIO("cov", views_known(of->cov >= 0, of->cov)),
            NUMBER("worst_rank", views_known(of->worst_rank != GRAMMAR_NONE, of->worst_rank)));
    }
}

static void print_cell(struct views_table *t, struct spot spot, const struct findings_rank *k,
                       const struct findings_cell *c)
{
    ROW(t, SPOT(spot), NUMBER("rank", k->rank), NUMBER("ranks", k->ranks), COUNT("count", c->count),
        TIME("time_seconds", c->ns), TIME("min_seconds", c->least_ns), TIME("mean_seconds", c->ns / c->count),
        TIME("max_seconds", c->most_ns), BYTES("bytes", c->bytes), TIME("shared_seconds", c->shared_ns));
}

void views_print_calls_csv(struct report *r, FILE *out)
{
    struct views_table t = { .out = out, .csv = true };
    struct findings_by_rank *b = findings_by_rank_create(r);

    print_cell(&t, spot_of(r, NULL), &(struct findings_rank){ 0 }, &(struct findings_cell){ 0 });
    for (uint32_t s = 0; s < b->sites; s++)
        for (uint32_t k = 0; k < b->ranks; k++)
            if (findings_cell(b, k, s)->count > 0)
                print_cell(&t, spot_of(r, &r->model->sites[s]), &r->model->ranks[k], findings_cell(b, k, s));
    findings_by_rank_destroy(b);
}

static void print_size(struct views_table *t, struct spot spot, double comm, int size, double calls)
{
    ROW(t, SPOT(spot), NUMBER("communicator_size", comm), BYTES("min_bytes", findings_size_least(size)),
        COUNT("calls", calls));
}

void views_print_sizes_csv(struct report *r, FILE *out)
{
    struct views_table t = { .out = out, .csv = true };
    struct findings_by_rank *b = findings_by_rank_create(r);

    print_size(&t, spot_of(r, NULL), NAN, 0, 0);
    for (const struct findings_sizes *s = b->sizes; s < b->sizes + b->comms + b->sites; s++)
        for (int k = 0; k < FINDINGS_SIZES; k++)
            if (s->calls[k] >= 0.5)
                print_size(&t, spot_of(r, s->site), s->site ? NAN : s->comm_size, k, s->calls[k]);
    findings_by_rank_destroy(b);
}
