/* SPDX-License-Identifier: MIT */
/* The loops of a program as a tree: for people, indented as the source is, and for scripts. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "findings/inside.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { LINES = 40, WIDTH = 160, NAME = 60, MOST_ITEMS = 1000 /* for scripts */ };

/* What stands in a loop: another one, or a call. */
struct item { bool loop; uint32_t at, order; };

struct view {
    struct report *r;
    const struct findings_loops *l;
    double least;      /* ns: what takes less is not shown */
    uint32_t left_out; /* so many */
    uint32_t depth;    /* levels that are shown, 0: all */
    bool all;          /* whatever it is */
    FILE *out;
};

BASE_COMPARISON(by_order, struct item, BASE_UP(order) ?: BASE_UP(loop) ?: BASE_UP(at))

/* A loop that never turned twice in a row, within others or around one: nothing that people would call one. */
static bool is_hidden(const struct view *v, int loop)
{
    const struct findings_loop *l = &v->l->loop[loop < 0 ? 0 : loop];
    return !v->all && loop >= 0 && !l->unseen && l->parent >= 0 && l->turns.sum == l->entries.sum;
}

static int shown(const struct view *v, int loop)
{
    while (is_hidden(v, loop))
        loop = v->l->loop[loop].parent;
    return loop;
}

/* What stands directly in a loop, -1: in none, in the order of the program; the caller frees it. */
static struct item *items_in(const struct view *v, int loop, uint32_t *count)
{
    const struct findings_loops *l = v->l;
    struct item *item = malloc(((size_t)l->loops + l->calls + 1) * sizeof *item);
    *count = 0;
    for (uint32_t i = 0; i < l->loops; i++)
        if (!is_hidden(v, (int)i) && shown(v, l->loop[i].parent) == loop && l->loop[i].streams)
            item[(*count)++] = (struct item){ true, i, l->loop[i].order };
    for (uint32_t i = 0; i < l->calls; i++)
        if (shown(v, l->call[i].loop) == loop)
            item[(*count)++] = (struct item){ false, i, l->call[i].order };
    qsort(item, *count, sizeof *item, by_order);
    return item;
}

static double time_of(const struct view *v, const struct item *item)
{
    return item->loop ? v->l->loop[item->at].ns : v->l->call[item->at].ns;
}

static const struct findings_place *call_place(const struct view *v, const struct findings_loop_call *c)
{
    return c->path == GRAMMAR_NONE ? findings_place_of(v->r, c->terminal)
                                   : findings_resolve_call(v->r->resolver, c->path);
}

static const char *place_text(const struct findings_place *p, char between)
{
    const char *scope = p && p->function ? strstr(p->function, "::") : NULL; /* a module of Fortran's, a name space */
    if (p && p->function && p->file && p->line)
        return findings_text("%s%c%s:%u", scope ? scope + 2 : p->function, between, p->file, p->line);
    return p ? findings_function_at(p, false) : "?";
}

static const char *call_name(const struct view *v, const struct findings_loop_call *c)
{
    return job_text(v->r->job, v->r->job->terminals[c->terminal].function);
}

/* --- Text --- */

/* "15", "23-61". */
static const char *between_text(uint64_t least, uint64_t most)
{
    return least == most ? findings_text("%llu", (unsigned long long)least)
                         : findings_text("%llu-%llu", (unsigned long long)least, (unsigned long long)most);
}

/* The same, or "about 12.5". */
static const char *range_text(const struct findings_loop *l, const struct findings_span *s)
{
    return l->mean ? findings_text("about %.4g", (double)s->sum / (double)l->streams) : between_text(s->least, s->most);
}

static const char *turns_text(const struct view *v, const struct findings_loop *l)
{
    const char *turns = range_text(l, &l->turns);
    if (l->unseen)
        return "turns not known";
    if (l->parent >= 0 && v->l->loop[l->parent].unseen) /* as often as that turns */
        return findings_text("%s turns in all", turns);
    if (l->entries.most <= 1 && !l->mean)
        return findings_text("%s turn%s", turns, l->turns.most == 1 ? "" : "s");
    if (l->turns_most)
        return findings_text("%s turns, %s times", between_text(l->turns_least, l->turns_most),
                             range_text(l, &l->entries));
    return findings_text("%s turns in %s", turns, range_text(l, &l->entries));
}

/* ", x 2", ", 1 in 5 turns", ", in 3 of 15", ", 0.93 a turn", of those who make the call; "" where it comes once in
   each. */
static const char *rate_text(const struct view *v, const struct findings_loop_call *c)
{
    int loop = shown(v, c->loop);
    uint64_t of = loop < 0 ? c->streams : v->all ? c->turns : c->outer;
    double rate = of ? (double)c->count / (double)of : 0,
           turns = loop < 0 ? -1 : findings_loop_turns(&v->l->loop[loop]);
    if (!c->count || !c->streams || c->count == of || (loop >= 0 && v->l->loop[loop].unseen) || (loop < 0 && rate < 1))
        return "";
    if (rate > 1 && c->count % of == 0)
        return findings_text(", x %llu", (unsigned long long)(c->count / of));
    if (rate < 1 && of % c->count == 0 && of / c->count < 1000 && c->count > c->streams)
        return findings_text(", 1 in %llu turns", (unsigned long long)(of / c->count));
    if (rate < 1 && turns > 0 && c->count % c->streams == 0)
        return findings_text(", in %llu of %.0f", (unsigned long long)(c->count / c->streams), turns);
    return loop < 0 ? findings_text(", x %.4g", rate) : findings_text(", %.3g a turn", rate);
}

/* ", by 1 of 4": where not all make it that are there. */
static const char *makers_text(const struct view *v, const struct findings_loop_call *c)
{
    int loop = shown(v, c->loop);
    uint64_t all = loop < 0 ? v->l->streams : v->l->loop[loop].streams;
    return c->streams < all
               ? findings_text(", by %llu of %llu", (unsigned long long)c->streams, (unsigned long long)all)
               : "";
}

static void print_line(const struct view *v, uint32_t indent, const char *name, const char *rest)
{
    const char *line = findings_text("%*s%s", (int)(2 * indent), "", name);
    views_column(findings_line(line, NAME), -NAME, v->out);
    fprintf(v->out, " %s\n", findings_line(rest, WIDTH - NAME - 1));
}

static void print_call(const struct view *v, const struct findings_loop_call *c, uint32_t indent)
{
    const char *name = findings_text("%s%s%s", call_name(v, c), rate_text(v, c), makers_text(v, c)),
               *region = job_named_innermost(v->r->job, c->path);
    print_line(v, indent, name, findings_text("%s%s", place_text(call_place(v, c), '@'),
                                              region ? findings_text("   [%s]", region) : ""));
}

static void print_items(struct view *v, int loop, uint32_t indent);

/* What computes in a loop's own turns, by samples (findings/inside.h). */
static void print_inside(const struct view *v, int loop, uint32_t indent)
{
    double ns;
    struct findings_inside_part part = findings_inside_loop(v->r, v->l, loop, false, &ns);
    const char *text = findings_inside_text(&part, WIDTH - 2 * (int)indent);
    if (*text)
        fprintf(v->out, "%*s%s\n", (int)(2 * indent), "", findings_line(text, WIDTH - 2 * (int)indent));
    free(part.function);
}

static void print_loop(struct view *v, const struct findings_loop *l, uint32_t indent)
{
    const char *each = findings_text("   %s each", findings_time(l->turns.sum ? l->ns / (double)l->turns.sum : 0));
    print_line(
        v, indent, place_text(l->place, ' '),
        findings_text("%-28s %5.1f %%%s", turns_text(v, l), findings_share(v->r->model, l->ns), l->unseen ? "" : each));
    print_inside(v, (int)(l - v->l->loop), indent + 1);
    if (!v->depth || indent + 1 < v->depth)
        print_items(v, (int)(l - v->l->loop), indent + 1);
}

static void print_items(struct view *v, int loop, uint32_t indent)
{
    uint32_t count;
    BASE_OWN struct item *item = items_in(v, loop, &count);

    for (uint32_t i = 0; i < count; i++)
        if (time_of(v, &item[i]) < v->least)
            v->left_out++;
        else if (item[i].loop)
            print_loop(v, &v->l->loop[item[i].at], indent);
        else
            print_call(v, &v->l->call[item[i].at], indent);
}

/* So much that at most so many items take that much: what is around one takes no less. */
static double least_time(const struct view *v, uint32_t most)
{
    const struct findings_loops *l = v->l;
    double *ns = malloc(((size_t)l->loops + l->calls + 1) * sizeof *ns), least;
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->loops; i++)
        if (l->loop[i].streams && !is_hidden(v, (int)i))
            ns[n++] = l->loop[i].ns;
    for (uint32_t i = 0; i < l->calls; i++)
        ns[n++] = l->call[i].ns;
    least = views_least(ns, n, most);
    free(ns);
    return least;
}

void views_print_loops(struct report *r, const struct views_tree_how *how, FILE *out)
{
    struct view v = { .r = r, .l = findings_loops_of(r), .depth = how->depth, .all = how->all, .out = out };

    v.least = how->all ? 0 : least_time(&v, LINES - 4);
    fprintf(out, "loops %s%s\n",
            v.l->by_code ? "of the code" : "by what repeats in the events: there is no code to read",
            v.l->loops ? "; time of its calls and the computation before them" : ": none");
    if (v.l->unknown)
        fprintf(out, "%s events have more paths than are recorded: loops around them are not seen, others counted too "
                     "often\n", findings_count(v.l->unknown));
    print_items(&v, -1, 0);
    if (v.left_out)
        fprintf(out, "and %u that took less (--all)\n", v.left_out);
}

/* --- JSON --- */

static void add_loop(cJSON *o, const struct report *r, const struct findings_loops *of, const struct findings_loop *l)
{
    static const struct findings_place nowhere;
    const struct findings_place *p = l->place ?: &nowhere;
    double seen = views_known(!l->unseen, 1), entered = views_known(l->parent < 0 || !of->loop[l->parent].unseen, 1);
    double known = views_known(l->turns_most > 0, seen * entered);
    double single = views_known(!l->mean, seen);

    ADD(o, TEXT("function", l->place ? findings_function_at(p, true) : NULL), TEXT("file", p->file),
        NUMBER("line", views_known(p->line, p->line)), NUMBER("turns", seen * findings_loop_mean_turns(l)),
        NUMBER("entries", entered * findings_loop_mean_entries(l)), NUMBER("turns_min", known * (double)l->turns_least),
        NUMBER("turns_max", known * (double)l->turns_most));
    ADD(cJSON_AddObjectToObject(o, "by_stream"), NUMBER("streams", l->streams),
        NUMBER("turns_min", single * (double)l->turns.least), NUMBER("turns_max", single * (double)l->turns.most));
    ADD(o, PERCENT("share", findings_share(r->model, l->ns)), TIME("seconds", l->ns),
        NUMBER("seconds_per_turn", seen * (l->turns.sum ? l->ns / 1e9 / (double)l->turns.sum : 0)));
}

static void add_call(const struct view *v, cJSON *calls, const struct findings_loop_call *c)
{
    bool seen = c->turns && (c->loop < 0 || !v->l->loop[c->loop].unseen);
    bool whole = seen && c->turns > c->count && c->count && c->turns % c->count == 0;

    ADD(calls, TEXT("call", call_name(v, c)), TEXT("region", job_named_innermost(v->r->job, c->path)),
        TEXT("callsite", place_text(call_place(v, c), '@')),
        COUNT("count", c->count), NUMBER("streams", c->streams), TIME("seconds", c->ns),
        TIME("call_seconds", c->call_ns),
        NUMBER("per_turn", views_known(seen, (double)c->count / (double)c->turns)),
        NUMBER("every", whole ? (double)(c->turns / c->count) : (double)NAN));
}

static void add_items(struct view *v, cJSON *loops, cJSON *calls, int loop)
{
    uint32_t count;
    BASE_OWN struct item *item = items_in(v, loop, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (time_of(v, &item[i]) < v->least) {
            v->left_out++;
            continue;
        }
        if (!item[i].loop) {
            if (calls)
                add_call(v, calls, &v->l->call[item[i].at]);
            continue;
        }
        cJSON *o = views_json_object(loops);
        add_loop(o, v->r, v->l, &v->l->loop[item[i].at]);
        double ns;
        struct findings_inside_part part = findings_inside_loop(v->r, v->l, (int)item[i].at, false, &ns);
        views_add_functions(v->r, &part, cJSON_AddArrayToObject(o, "inside"));
        free(part.function);
        cJSON *inner = cJSON_AddArrayToObject(o, "calls");
        add_items(v, cJSON_AddArrayToObject(o, "loops"), inner, (int)item[i].at);
    }
}

void views_json_loops(struct report *r, cJSON *root)
{
    struct view v = { .r = r, .l = findings_loops_of(r), .all = true };
    const struct findings_loop *l = findings_main_loop(r);

    v.least = least_time(&v, MOST_ITEMS);

    views_json_text(root, "loops_by", v.l->by_code ? "code" : "events");
    cJSON_AddNumberToObject(root, "loops_unknown_events", (double)v.l->unknown);
    add_items(&v, cJSON_AddArrayToObject(root, "loops"), NULL, -1);
    cJSON_AddNumberToObject(root, "loops_left_out", v.left_out);
    if (l)
        add_loop(cJSON_AddObjectToObject(root, "main_loop"), r, v.l, l);
}
