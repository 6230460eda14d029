/* SPDX-License-Identifier: MIT */
/* Regions that the program names: what each costs (findings/named.h). */
#include "findings/named.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { NAME = 28, SCREEN = 5 /* lines of the summary */, CALLS = 5, LOSSES = 3 };

static void print_row(const struct report *r, const struct findings_named *n, bool waits, struct views_table *t)
{
    const struct findings_efficiency *e = &n->efficiency;
    double known = views_known(e->known, 100), threads = views_known(e->measured, 1);

    ROW(t, TEXT("", findings_line(n->name, NAME), "region by name", -NAME), COUNT("", n->entries, "entries", 9),
        TIME("", n->ns, "time", 9), PERCENT("", findings_share(r->model, n->ns), "share", 6),
        PERCENT("", known * threads * e->parallel, "effic.", 6), PERCENT("", known * e->load_balance, "balance", 7),
        PERCENT("", known * e->communication, "comm.", 6), TIME("", views_known(waits, n->wait_ns), "waiting", 9),
        NUMBER("", n->ranks, "ranks", 6));
}

static void print_table(struct report *r, uint32_t most, FILE *out)
{
    const struct findings_named_list *l = findings_named_of(r);
    struct views_table t = { .out = out };

    if (l->count)
        print_row(r, &l->of[0], l->waits, &t);
    for (uint32_t i = 0; i < l->count && i < most; i++)
        print_row(r, &l->of[i], l->waits, &t);
}

void views_print_named_top(struct report *r, FILE *out)
{
    const struct findings_named_list *l = findings_named_of(r);

    if (!l->count)
        return;
    fputc('\n', out);
    struct views_table t = { .out = out };
    for (uint32_t i = 0; i <= l->count && i <= SCREEN; i++) {
        const struct findings_named *n = &l->of[i ? i - 1 : 0];
        const struct findings_efficiency *e = &n->efficiency;
        ROW(&t, TEXT("", findings_line(n->name, 18), "region by name", -18), COUNT("", n->entries, "count", 9),
            TIME("", n->ns, "time", 9), PERCENT("", findings_share(r->model, n->ns), "share", 6),
            PERCENT("", views_known(e->known && e->measured, 100 * e->parallel), " efficiency", 11),
            PERCENT("", views_known(e->known, 100 * e->load_balance), "balance", 8));
    }
    if (l->count > SCREEN)
        fprintf(out, "  and %u more (--view named)\n", l->count - SCREEN);
}

static void print_calls(struct report *r, const struct findings_named *n, bool waits, uint32_t most, FILE *out)
{
    struct views_table t = { .out = out };

    for (uint32_t i = 0; n->call_count && i <= n->call_count && i <= (uint64_t)most; i++) {
        const struct findings_named_call *c = &n->calls[i ? i - 1 : 0];
        ROW(&t, TEXT("", findings_text("  %s", findings_site_name(r->names, c->terminal)), "  call", -22),
            COUNT("", c->count, "count", 9), TIME("", c->ns, "time", 9),
            TIME("", views_known(waits, c->wait_ns), "waiting", 9),
            TEXT("", findings_where(r, c->terminal, 60), " callsite", 0));
    }
    if (n->call_count > most)
        fprintf(out, "  and %u more calls (--region '%s' --view callsites)\n", n->call_count - most, n->name);
}

static void print_one(struct report *r, const struct findings_named *n, bool waits, uint32_t most, FILE *out)
{
    fprintf(out, "%s: %s entries, %s of %u rank%s, the longest %s\n", findings_line(n->name, 60),
            findings_count(n->entries), findings_time(n->ns), n->ranks, n->ranks == 1 ? "" : "s",
            findings_time(n->longest_ns));
    if (n->unended)
        fprintf(out, "  %s of them were ended by what was around: their own end never came\n",
                findings_count(n->unended));
    if (n->efficiency.known)
        views_print_efficiency(&n->efficiency, out);
    if (n->efficiency.split)
        views_print_split(&n->efficiency, out);
    print_calls(r, n, waits, most, out);
    for (uint32_t i = 0; i < n->loss_count && i < LOSSES; i++)
        fprintf(out, "  lost: %s, %s at %s\n", findings_time(1e9 * n->losses[i].seconds),
                finding_words(n->losses[i].finding->kind), n->losses[i].finding->where);
}

void views_print_named(struct report *r, FILE *out)
{
    const struct findings_named_list *l = findings_named_of(r);

    if (!l->count)
        fputs("the program named no region (pythia_region.h)\n", out);
    print_table(r, UINT32_MAX, out);
    for (uint32_t i = 0; i < l->count; i++) {
        fputc('\n', out);
        print_one(r, &l->of[i], l->waits, CALLS, out);
    }
    if (l->count)
        fputs("\neffic.: of the ranks that enter it, as if there were nothing else; waiting and lost: a call's, as far as "
              "its time is in the region\n", out);
}

void views_print_region(struct report *r, const char *name, uint32_t most, FILE *out)
{
    print_one(r, findings_named_find(r, name), findings_named_of(r)->waits, most, out);
}

void views_add_named(struct report *r, const struct findings_named *one, cJSON *root)
{
    const struct findings_named_list *l = findings_named_of(r);
    cJSON *array = cJSON_AddArrayToObject(root, "user_regions");

    for (uint32_t i = 0; i < l->count; i++) {
        const struct findings_named *n = &l->of[i];
        if (one && n != one)
            continue;
        cJSON *o = ADD(array, TEXT("name", n->name), COUNT("entries", n->entries), COUNT("unended", n->unended),
                       NUMBER("ranks", n->ranks), TIME("seconds", n->ns), TIME("longest_seconds", n->longest_ns),
                       PERCENT("share", findings_share(r->model, n->ns)), TIME("call_seconds", n->call_ns),
                       TIME("waiting_seconds", views_known(l->waits, n->wait_ns)));
        views_add_efficiency(&n->efficiency, o);
        cJSON *waits = cJSON_AddArrayToObject(o, "waits"), *losses = cJSON_AddArrayToObject(o, "losses");
        for (uint32_t k = 0; k < n->call_count; k++)
            ADD(waits, TEXT("call", job_text(r->job, r->job->terminals[n->calls[k].terminal].function)),
                TEXT("place", findings_where(r, n->calls[k].terminal, 255)), COUNT("count", n->calls[k].count),
                TIME("seconds", n->calls[k].ns), TIME("waiting_seconds", views_known(l->waits, n->calls[k].wait_ns)));
        for (uint32_t k = 0; k < n->loss_count; k++)
            ADD(losses, TEXT("kind", finding_name(n->losses[k].finding->kind)),
                TEXT("where", n->losses[k].finding->where), TEXT("cause", n->losses[k].finding->cause),
                NUMBER("seconds", n->losses[k].seconds));
    }
}
