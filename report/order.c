/* SPDX-License-Identifier: MIT */
/* Bottom-up order of rules: Kahn's algorithm from R downwards, then reversed. */
#include "report/order.h"

#include <stdlib.h>

/* How many nodes name each rule. */
static void count_users(const struct grammar_flat *g, uint32_t *users)
{
    for (uint32_t n = 0; n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            users[g->nodes[n].symbol & ~GRAMMAR_RULE]++;
}

uint32_t *report_bottom_up(const struct grammar_flat *g)
{
    uint32_t *order = calloc(g->rule_count, sizeof *order);
    uint32_t *users = calloc(g->rule_count, sizeof *users);
    uint32_t tail = g->rule_count; /* order[tail…] is filled, from the end: R first, so R is last */

    count_users(g, users);
    order[--tail] = 0;
    for (uint32_t head = g->rule_count; head-- > tail;) {
        const struct grammar_flat_rule *rule = &g->rules[order[head]];
        for (uint32_t n = rule->first; n < rule->first + rule->length; n++) {
            uint32_t symbol = g->nodes[n].symbol;
            if (grammar_is_rule(symbol) && --users[symbol & ~GRAMMAR_RULE] == 0)
                order[--tail] = symbol & ~GRAMMAR_RULE;
        }
    }
    free(users);
    return order;
}
