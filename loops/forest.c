/* SPDX-License-Identifier: MIT */
/* Tarjan's algorithm, without recursion, once for each level of loops: an edge back to a head that was found is not
   followed any more. */
#include "loops/forest.h"

#include <stdlib.h>
#include <string.h>

struct visit { uint32_t node, edge; };

struct search {
    const struct loops_graph *g;
    struct loops_forest *f;
    uint32_t *number, *low; /* number 0: not met in this pass */
    uint32_t *part;         /* stack of nodes whose part is not closed */
    bool *open;             /* on that stack */
    struct visit *way;
    uint32_t met, parts, ways, placed;
    bool found; /* a loop, in this pass */
};

static bool is_back(const struct loops_forest *f, uint32_t from, uint32_t to)
{
    int loop = f->loop[to];
    while (loop >= 0 && f->head[loop] != to)
        loop = f->parent[loop];
    return loop >= 0 && loops_forest_within(f, f->loop[from], loop);
}

static void enter(struct search *s, uint32_t node)
{
    s->number[node] = s->low[node] = ++s->met;
    s->part[s->parts++] = node;
    s->open[node] = true;
    s->way[s->ways++] = (struct visit){ node, s->g->first[node] };
}

static bool leads_to_itself(const struct search *s, uint32_t node)
{
    for (uint32_t e = s->g->first[node]; e < s->g->first[node + 1]; e++)
        if (s->g->to[e] == node && !is_back(s->f, node, node))
            return true;
    return false;
}

/* All nodes above `head` on the stack are one part. */
static void close_part(struct search *s, uint32_t head)
{
    uint32_t first = s->parts;
    while (s->part[--first] != head)
        ;
    bool loop = s->parts - first > 1 || leads_to_itself(s, head);
    int number = (int)s->f->loops;
    if (loop) {
        s->f->parent[number] = s->f->loop[head];
        s->f->head[number] = head;
        s->f->loops++;
        s->found = true;
    }
    for (uint32_t i = first; i < s->parts; i++) {
        s->open[s->part[i]] = false;
        if (loop)
            s->f->loop[s->part[i]] = number;
        s->f->order[s->part[i]] = s->placed;
    }
    s->placed--;
    s->parts = first;
}

static void search_from(struct search *s, uint32_t root)
{
    enter(s, root);
    while (s->ways) {
        struct visit *v = &s->way[s->ways - 1];
        uint32_t node = v->node;
        if (v->edge < s->g->first[node + 1]) {
            uint32_t to = s->g->to[v->edge++];
            if (is_back(s->f, node, to))
                continue;
            if (!s->number[to])
                enter(s, to);
            else if (s->open[to] && s->number[to] < s->low[node])
                s->low[node] = s->number[to];
            continue;
        }
        s->ways--;
        if (s->ways && s->low[node] < s->low[s->way[s->ways - 1].node])
            s->low[s->way[s->ways - 1].node] = s->low[node];
        if (s->low[node] == s->number[node])
            close_part(s, node);
    }
}

static void pass(struct search *s)
{
    memset(s->number, 0, s->g->nodes * sizeof *s->number);
    s->met = s->parts = s->ways = 0;
    s->placed = s->g->nodes;
    s->found = false;
    for (uint32_t n = 0; n < s->g->nodes; n++)
        if (!s->number[n])
            search_from(s, n);
}

void loops_forest_make(struct loops_forest *f, const struct loops_graph *g)
{
    size_t n = (size_t)g->nodes + 1;
    struct search s = { .g = g, .f = f, .number = malloc(n * sizeof *s.number), .low = malloc(n * sizeof *s.low),
                        .part = malloc(n * sizeof *s.part), .open = calloc(n, sizeof *s.open),
                        .way = malloc(n * sizeof *s.way), .found = true };
    *f = (struct loops_forest){ .loop = malloc(n * sizeof *f->loop), .order = calloc(n, sizeof *f->order),
                                .parent = malloc(n * sizeof *f->parent), .head = malloc(n * sizeof *f->head) };
    memset(f->loop, 0xff, n * sizeof *f->loop); /* -1 */
    for (int level = 0; s.found && level <= LOOPS_LEVELS; level++)
        pass(&s);
    free(s.number);
    free(s.low);
    free(s.part);
    free(s.open);
    free(s.way);
}

void loops_forest_close(struct loops_forest *f)
{
    free(f->loop);
    free(f->order);
    free(f->parent);
    free(f->head);
    memset(f, 0, sizeof *f);
}

bool loops_forest_aside(const struct loops_forest *f, const struct loops_graph *g, int loop)
{
    for (uint32_t n = 0; n < g->nodes; n++)
        for (uint32_t e = g->first[n]; e < g->first[n + 1]; e++)
            if (g->to[e] != f->head[loop] && loops_forest_within(f, f->loop[g->to[e]], loop) &&
                !loops_forest_within(f, f->loop[n], loop))
                return true;
    return false;
}

/* An edge that is a turn of a loop that holds `common`, the innermost one that holds both ends of the question. */
static bool turns_around(const struct loops_forest *f, int common, uint32_t from, uint32_t to)
{
    for (int loop = common; loop >= 0; loop = f->parent[loop])
        if (f->head[loop] == to && loops_forest_within(f, f->loop[from], loop))
            return true;
    return false;
}

bool loops_forest_leads(const struct loops_forest *f, const struct loops_graph *g, uint32_t from, uint32_t to)
{
    int common = loops_forest_common(f, from, to);
    bool found = false, *seen = calloc((size_t)g->nodes + 1, sizeof *seen);
    uint32_t *stack = malloc(((size_t)g->nodes + 1) * sizeof *stack), depth = 0;
    stack[depth++] = from;
    while (depth && !found) {
        uint32_t node = stack[--depth];
        for (uint32_t e = g->first[node]; e < g->first[node + 1] && !found; e++) {
            uint32_t next = g->to[e];
            if (turns_around(f, common, node, next))
                continue;
            found = next == to;
            if (!seen[next])
                stack[depth++] = next;
            seen[next] = true;
        }
    }
    free(seen);
    free(stack);
    return found;
}
