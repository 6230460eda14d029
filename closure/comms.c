/* SPDX-License-Identifier: MIT */
/* The communicators of a job, by the call that makes them: "PARENT/KIND#NUMBER.VARIANT" (pmpi/comm_name.c). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "closure/parts.h"
#include "findings/units.h"

struct made { int parent; char kind[64]; int number, variant; bool is; /* else no call makes it */ };

static int find(const struct job *j, const char *name, size_t length)
{
    for (uint32_t i = 0; i < j->comm_count; i++) {
        const char *other = job_text(j, j->comms[i].name);
        if (strlen(other) == length && !strncmp(other, name, length))
            return (int)i;
    }
    return -1;
}

static bool take_apart(const struct job *j, const char *name, struct made *m)
{
    const char *kind = strrchr(name, '/'), *number = strrchr(name, '#');

    if (!kind || !number || number < kind || !isdigit((unsigned char)number[1]) ||
        (size_t)(number - kind) > sizeof m->kind)
        return false;
    m->parent = find(j, name, (size_t)(kind - name));
    snprintf(m->kind, sizeof m->kind, "%.*s", (int)(number - kind - 1), kind + 1);
    m->number = atoi(number + 1);
    const char *variant = strchr(number, '.');
    m->variant = variant ? atoi(variant + 1) : 0;
    return m->parent >= 0 && (!variant || isdigit((unsigned char)variant[1]));
}

/* Whether members come in another order than that of their ranks in the job, or are to be named (MPI_Comm_create). */
static bool lists(const struct job *j, uint32_t comm, const struct made *m)
{
    bool named = !strcmp(m->kind, "create");

    for (uint32_t k = 0; k < j->groups.group_count; k++) {
        const struct job_group *g = &j->groups.group[k];
        const struct job_run *run = j->groups.runs + g->run_first;
        if (g->comm != comm || g->remote)
            continue;
        for (uint32_t i = 0; i < g->run_count; i++)
            named = named || (run[i].count > 1 && run[i].stride < 0) || (i && run[i].first < run[i - 1].first);
    }
    return named;
}

/* "size, ranks, size, ranks, … 0": of each group once. */
static void print_members(const struct job *j, uint32_t comm, FILE *out)
{
    struct job_members m, other;

    fprintf(out, "static const int members_%u[] = { ", comm);
    for (uint32_t rank = 0; rank < j->info.ranks; rank++) {
        bool known = !job_comm_members(j, comm, rank, &m) || !m.size;
        for (uint32_t r = 0; r < rank && !known; r++)
            known = job_comm_members(j, comm, r, &other) && other.size == m.size &&
                    job_members_at(&other, 0) == job_members_at(&m, 0);
        for (uint32_t i = 0; i < m.size && !known; i++)
            fprintf(out, "%s%u, ", i ? "" : findings_text("%u, ", m.size), job_members_at(&m, i));
    }
    fputs("0 };\n", out);
}

/* --- Grids: of a Cartesian communicator with parts that are lines, the lengths and strides of these --- */

enum { DIMENSIONS = 8 };
struct grid { int count, extent[DIMENSIONS]; uint32_t stride[DIMENSIONS]; };

/* Length and distance of a part of one dimension, as rank 0 of the parent sees it. */
static bool line(const struct job *j, uint32_t comm, uint32_t rank, struct job_run *to)
{
    struct job_members m;

    if (!job_comm_members(j, comm, rank, &m) || m.run_count != 1 || m.runs[0].stride < 1)
        return false;
    *to = m.runs[0];
    return true;
}

static bool add_line(struct grid *g, const struct job_run *run)
{
    int at = 0;

    while (at < g->count && g->stride[at] > (uint32_t)run->stride)
        at++;
    if (run->count < 2 || (at < g->count && g->stride[at] == (uint32_t)run->stride))
        return run->count < 2 || g->extent[at] == (int)run->count;
    if (g->count == DIMENSIONS)
        return false;
    for (int k = g->count++; k > at; k--) {
        g->extent[k] = g->extent[k - 1];
        g->stride[k] = g->stride[k - 1];
    }
    g->extent[at] = (int)run->count;
    g->stride[at] = (uint32_t)run->stride;
    return true;
}

/* Dimensions that no part keeps are between those that are known, and before them. */
static bool fill_grid(struct grid *g, uint32_t size)
{
    uint32_t whole = 1;

    for (int k = g->count; k >= 0; k--) {
        uint32_t stride = k ? g->stride[k - 1] : size;
        if (stride % whole)
            return false;
        if (stride != whole) {
            struct job_run missing = { .count = stride / whole, .stride = (int32_t)whole };
            if (!add_line(g, &missing))
                return false;
        }
        whole = stride * (k ? (uint32_t)g->extent[k - 1] : 1);
    }
    return true;
}

static bool grid_of(const struct job *j, int cart, struct grid *g)
{
    struct job_members all;
    struct job_run run;
    struct made m;

    *g = (struct grid){ 0 };
    if (cart < 0)
        return false;
    uint32_t first = job_comm_members(j, (uint32_t)cart, 0, &all) ? job_members_at(&all, 0) : 0;
    for (uint32_t i = 0; i < j->comm_count; i++)
        if (take_apart(j, job_text(j, j->comms[i].name), &m) && m.parent == cart && !strcmp(m.kind, "sub") &&
            (!line(j, i, first, &run) || !add_line(g, &run)))
            return false;
    return g->count && fill_grid(g, j->comms[cart].size);
}

bool closure_no_grid(const struct job *j, const char *name, const char *kind)
{
    struct grid g;
    size_t length = kind > name && kind < name + strlen(name) ? (size_t)(kind - name - 1) : strlen(name);

    return !strncmp(kind, "sub", 3) && !grid_of(j, find(j, name, length), &g);
}

/* "dimensions, extent, …" of a grid; "dimensions, whether it stays, …" of a part. */
static void print_grid(const struct job *j, uint32_t comm, const struct made *m, FILE *out)
{
    struct job_run run = { 0 };
    struct grid g;
    bool part = !strcmp(m->kind, "sub"), known = grid_of(j, part ? m->parent : (int)comm, &g);

    if (part)
        line(j, comm, 0, &run);
    if (!known) {
        fprintf(out, "{ 1, %u }", part ? 1 : j->comms[comm].size);
        return;
    }
    fprintf(out, "{ %d", g.count);
    for (int k = 0; k < g.count; k++)
        fprintf(out, ", %d", !part ? g.extent[k] : run.count > 1 && g.stride[k] == (uint32_t)run.stride);
    fputs(" }", out);
}

/* Of each communicator; the caller frees it. */
static struct made *all_made(const struct job *j)
{
    struct made *made = calloc((size_t)j->comm_count + 1, sizeof *made);

    for (uint32_t i = 0; i < j->comm_count; i++)
        made[i].is = take_apart(j, job_text(j, j->comms[i].name), &made[i]);
    return made;
}

uint32_t closure_comms(struct closure *g, FILE *out)
{
    const struct job *j = g->job;
    BASE_OWN struct made *made = all_made(j);
    uint32_t rows = 0;

    for (uint32_t i = 0; i < j->comm_count; i++) {
        if (made[i].is && g->made->ranks != j->info.ranks && strcmp(made[i].kind, "dup") != 0)
            closure_refuse(g, "--ranks %u: who is in %s is known of the recorded ranks", g->made->ranks,
                           job_text(j, j->comms[i].name));
        if (made[i].is && lists(j, i, &made[i]))
            print_members(j, i, out);
        rows += made[i].is;
    }
    fputs("/* What calls make of a communicator: by kind and number, with the same members each "
          "time, or a variant. */\n"
          "static const struct made {\n    int parent;\n    const char *kind;\n    int number, comm, grid[9];\n"
          "    const int *members;\n} made[] = {\n", out);
    for (int variant = 0; variant < 16; variant++)
        for (uint32_t i = 0; i < j->comm_count; i++) {
            if (!made[i].is || made[i].variant != variant)
                continue;
            fprintf(out, "    { %d, \"%s\", %d, %u, ", made[i].parent, made[i].kind, made[i].number, i);
            print_grid(j, i, &made[i], out);
            fputs(", ", out);
            if (lists(j, i, &made[i]))
                fprintf(out, "members_%u }, ", i);
            else
                fputs("NULL }, ", out);
            fprintf(out, "/* %s */\n", job_text(j, j->comms[i].name));
        }
    fputs(rows ? "};\n" : "    { -1, \"\", 0, 0, { 0 }, NULL },\n};\n", out);
    return rows ? rows : 1;
}

/* --- Which call makes which --- */

/* The last call that made something of a communicator, until what it made is met. */
enum { PENDING = 64 };
struct pending { uint32_t terminal; int parent; const char *kind; };

/* One of `made` is met: the last call that makes such is who made it, each time. */
static void seen(struct closure *g, const struct made *made, uint32_t comm, struct pending *p, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++)
        if (made[comm].parent == p[i].parent && !strcmp(made[comm].kind, p[i].kind)) {
            int *child = &g->call[p[i].terminal].child;
            *child = *child == -1 || *child == (int)comm ? (int)comm : -2;
            p[i] = p[--*count];
            return;
        }
}

static void pend(struct pending *p, uint32_t *count, struct pending one)
{
    for (uint32_t i = 0; i < *count; i++)
        if (p[i].parent == one.parent && !strcmp(p[i].kind, one.kind)) {
            p[i] = one; /* what was made before was not used */
            return;
        }
    if (*count < PENDING)
        p[(*count)++] = one;
}

/* By the calls that follow, of each class's first member, so many events of it. */
void closure_children(struct closure *g)
{
    enum { EVENTS = 20000000 };
    const struct job *j = g->job;
    BASE_OWN struct made *made = all_made(j);
    struct pending p[PENDING];
    struct grammar_cursor at;

    for (uint32_t t = 0; t < j->terminal_count; t++)
        g->call[t].child = -1;
    for (uint32_t c = 0; c < j->class_count; c++) {
        uint32_t count = 0;
        for (int more = grammar_cursor_open(&at, j->classes[c].grammar); more && at.index < EVENTS;
             more = grammar_cursor_next(&at)) {
            const struct job_terminal *t = at.terminal < j->terminal_count ? &j->terminals[at.terminal] : NULL;
            const char *kind = t && t->kind == JOB_CALL && t->comm < j->comm_count
                                   ? closure_makes(job_text(j, t->function)) : NULL;
            if (count && t && t->comm < j->comm_count && made[t->comm].is)
                seen(g, made, t->comm, p, &count);
            if (kind)
                pend(p, &count, (struct pending){ at.terminal, (int)t->comm, kind });
        }
        grammar_cursor_close(&at);
    }
    for (uint32_t t = 0; t < j->terminal_count; t++)
        g->call[t].child = g->call[t].child < 0 ? -1 : g->call[t].child;
}
