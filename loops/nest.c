/* SPDX-License-Identifier: MIT */
#include "loops/nest.h"

static int meet(const struct loops_nest *n, int a, int b)
{
    while (a != b)
        if (a > b)
            a = n->node[a].dominator;
        else
            b = n->node[b].dominator;
    return a;
}

void loops_find_dominators(struct loops_nest *n)
{
    bool changed = true;
    n->node[0].dominator = 0;
    while (changed) {
        changed = false;
        for (uint32_t k = 1; k < n->nodes; k++) {
            struct loops_node *node = &n->node[k];
            int now = -1;
            for (uint32_t i = 0; i < node->before_count; i++)
                if (n->node[node->before[i]].dominator >= 0)
                    now = now < 0 ? node->before[i] : meet(n, now, node->before[i]);
            changed |= now != node->dominator;
            node->dominator = now;
        }
    }
}

bool loops_dominates(const struct loops_nest *n, int dominator, int node)
{
    while (node > dominator)
        node = n->node[node].dominator;
    return node == dominator;
}

bool loops_edge_dominates(const struct loops_nest *n, int from, int to, int node)
{
    if (!loops_dominates(n, to, node))
        return false;
    for (uint32_t i = 0; i < n->node[to].before_count; i++) {
        int p = n->node[to].before[i];
        if (p != from && !loops_dominates(n, to, p))
            return false;
    }
    return true;
}

static bool is_back(const struct loops_nest *n, int from, int to)
{
    return to <= from && loops_dominates(n, to, from);
}

int loops_second_entry(const struct loops_nest *n)
{
    for (int k = 0; k < (int)n->nodes; k++)
        for (uint32_t i = 0; i < n->node[k].before_count; i++)
            if (n->node[k].before[i] >= k && !is_back(n, n->node[k].before[i], k))
                return k;
    return -1;
}

static bool is_head(const struct loops_nest *n, int k)
{
    for (uint32_t i = 0; i < n->node[k].before_count; i++)
        if (is_back(n, n->node[k].before[i], k))
            return true;
    return false;
}

uint32_t loops_count(const struct loops_nest *n)
{
    uint32_t heads = 0;
    for (int k = 0; k < (int)n->nodes; k++)
        heads += is_head(n, k);
    return heads;
}

/* All that leads to `tail` without passing what is a member already. */
static void fill_loop(const struct loops_nest *n, uint8_t *member, int tail, int *stack)
{
    int depth = 0;
    if (!member[tail]) {
        member[tail] = 1;
        stack[depth++] = tail;
    }
    while (depth) {
        const struct loops_node *node = &n->node[stack[--depth]];
        for (uint32_t i = 0; i < node->before_count; i++)
            if (!member[node->before[i]]) {
                member[node->before[i]] = 1;
                stack[depth++] = node->before[i];
            }
    }
}

void loops_find(struct loops_nest *n, int *stack)
{
    n->loops = 0;
    for (int k = 0; k < (int)n->nodes; k++) {
        uint8_t *member = n->member + (size_t)n->loops * n->nodes;
        if (!is_head(n, k))
            continue;
        member[k] = 1;
        for (uint32_t i = 0; i < n->node[k].before_count; i++)
            if (is_back(n, n->node[k].before[i], k))
                fill_loop(n, member, n->node[k].before[i], stack);
        n->head[n->loops] = k;
        for (uint32_t m = 0; m < n->nodes; m++)
            if (member[m])
                n->node[m].loop = (int)n->loops; /* heads come outermost first */
        n->loops++;
    }
}
