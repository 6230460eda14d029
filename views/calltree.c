/* SPDX-License-Identifier: MIT */
/* Where the time went by call path (findings/calltree.h): for people, for spreadsheets and for scripts. */
#include <stdlib.h>
#include <string.h>

#include "findings/calltree.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { LINES = 40, NAME = 76, MOST_NODES = 1000 /* for scripts */ };

struct view {
    const struct findings_calltree *t;
    const struct findings_model *m;
    double least;      /* ns: what takes less is not shown */
    uint32_t left_out; /* so many */
    uint32_t depth;    /* lines deep, 0: all */
    struct views_table table;
};

#define FIGURES(v, p) \
    COUNT("count", (p)->count, "calls", 10), TIME("seconds", (p)->ns, "total", 8), \
    RATIO("share", findings_share((v)->m, (double)((p)->ns - (p)->launch_ns)), "app %", 6), \
    TIME("own_seconds", (p)->own_ns, "own", 8), TIME("call_seconds", (p)->call_ns, "in calls", 8), \
    TIME("computation_seconds", (p)->ns - (p)->call_ns, "computing", 9), \
    TIME("waiting_seconds", views_known((v)->t->waits, (double)(p)->wait_ns), "waiting", 8), \
    BYTES("bytes", (p)->bytes, "bytes", 9)

static struct view view_of(const struct report *r, const struct findings_calltree *t, uint32_t most)
{
    BASE_OWN double *ns = malloc(((size_t)t->paths + 1) * sizeof *ns);

    for (uint32_t i = 0; i < t->paths; i++)
        ns[i] = (double)t->path[i].ns;
    return (struct view){ .t = t, .m = r->model, .least = views_least(ns, t->paths, most) };
}

/* Its place in the source, of a function without the line: it has many. */
static const char *file_of(const struct findings_path *p)
{
    return p->place ? p->place->file : NULL;
}

static double line_of(const struct findings_path *p)
{
    bool known = p->terminal != GRAMMAR_NONE && p->place && p->place->line;
    return views_known(known, known ? p->place->line : 0);
}

static void print_row(struct view *v, const struct findings_path *p, const char *name)
{
    ROW(&v->table, TEXT("path", name, "call path", -NAME), TEXT("file", file_of(p)), NUMBER("line", line_of(p)),
        FIGURES(v, p));
}

/* --- Text --- */

/* A function that only calls another one stands on its line. */
static bool only_leads_on(const struct findings_calltree *t, uint32_t i)
{
    const struct findings_path *p = &t->path[i], *next = p + 1;
    return p->inside && next->inside == p->inside - 1 && !p->own_ns && p->terminal == GRAMMAR_NONE &&
           next->terminal == GRAMMAR_NONE;
}

static void print_path(struct view *v, uint32_t i, uint32_t indent)
{
    const struct findings_calltree *t = v->t;
    const char *name = findings_text("%*s%s", (int)indent, "", findings_path_text(&t->path[i])), *longer;

    if ((double)t->path[i].ns < v->least) {
        v->left_out += t->path[i].inside + 1;
        return;
    }
    for (; i && only_leads_on(t, i); name = longer, i++)
        if (strlen(longer = findings_text("%s > %s", name, findings_path_text(&t->path[i + 1]))) > NAME)
            break;
    print_row(v, &t->path[i], findings_line(name, NAME));
    for (uint32_t k = i + 1; (!v->depth || indent + 1 < v->depth) && k <= i + t->path[i].inside;
         k += t->path[k].inside + 1)
        print_path(v, k, indent + 1);
}

/* Where what is shown begins. */
static bool is_shown(const struct findings_calltree *t, uint32_t i, const char *region)
{
    return region ? t->path[i].named && !strcmp(t->path[i].name, region) : i == 0;
}

void views_print_calltree(struct report *r, const struct views_tree_how *how, FILE *out)
{
    struct findings_calltree *t = findings_calltree_create(r);
    struct view v = view_of(r, t, how->all ? UINT32_MAX : LINES - 4);

    v.depth = how->depth;
    v.table.out = out;
    print_row(&v, &t->path[0], "");
    for (uint32_t i = 0; i < t->paths; i++)
        if (is_shown(t, i, how->region))
            print_path(&v, i, 0);
    if (v.left_out)
        fprintf(out, "and %u that took less (--all)\n", v.left_out);
    fputs("\nown: of a function, before the calls that stand in it; waiting and bytes of a call that is made along "
          "several paths: its mean there\n", out);
    findings_calltree_destroy(t);
}

/* --- CSV and JSON --- */

void views_print_calltree_csv(struct report *r, FILE *out)
{
    struct findings_calltree *t = findings_calltree_create(r);
    struct view v = { .t = t, .m = r->model, .table = { .out = out, .csv = true } };

    print_row(&v, &t->path[0], "");
    for (uint32_t i = 0; i < t->paths; i++) {
        BASE_OWN char *stack = findings_path_stack(t, i);
        print_row(&v, &t->path[i], stack);
    }
    findings_calltree_destroy(t);
}

static void add_path(struct view *v, uint32_t i, cJSON *o)
{
    const struct findings_path *p = &v->t->path[i];
    bool call = p->terminal != GRAMMAR_NONE;

    const char *what = call ? "call" : p->named ? "region" : "function";

    ADD(o, TEXT(what, p->name ?: findings_path_text(p)), TEXT("file", file_of(p)),
        NUMBER("line", line_of(p)), FIGURES(v, p));
    cJSON *inside = cJSON_AddArrayToObject(o, "inside");
    for (uint32_t k = i + 1; k <= i + p->inside; k += v->t->path[k].inside + 1)
        if ((double)v->t->path[k].ns >= v->least)
            add_path(v, k, views_json_object(inside));
        else
            v->left_out += v->t->path[k].inside + 1;
}

void views_json_calltree(struct report *r, const char *region, cJSON *root)
{
    struct findings_calltree *t = findings_calltree_create(r);
    struct view v = view_of(r, t, MOST_NODES);
    cJSON *all = cJSON_AddObjectToObject(root, "calltree"),
          *inside = region ? cJSON_AddArrayToObject(all, "inside") : NULL;

    for (uint32_t i = 0; i < t->paths; i++)
        if (is_shown(t, i, region))
            add_path(&v, i, region ? views_json_object(inside) : all);
    cJSON_AddNumberToObject(root, "calltree_left_out", v.left_out);
    findings_calltree_destroy(t);
}
