/* SPDX-License-Identifier: MIT */
#include "grammar/notation.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "pythia.h"

/* Rule r > 0 is the r-th word of A … Z without R, then AA, AB, … : digits of a bijective numeral system of base 25. */
void grammar_rule_name(uint32_t rule, char name[16])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQSTUVWXYZ";
    char reversed[16];
    int n = 0;
    if (rule == 0) {
        strcpy(name, "R");
        return;
    }
    for (; rule; rule = (rule - 1) / 25)
        reversed[n++] = letters[(rule - 1) % 25];
    for (int i = 0; i < n; i++)
        name[i] = reversed[n - 1 - i];
    name[n] = '\0';
}

static int needs_quotes(const char *s)
{
    int upper = 1;
    if (!*s)
        return 1;
    for (; *s; s++) {
        if (isspace((unsigned char)*s) || *s == '\'' || *s == '^')
            return 1;
        upper &= isupper((unsigned char)*s) != 0;
    }
    return upper;
}

static void print_terminal(const char *s, FILE *out)
{
    if (!needs_quotes(s)) {
        fputs(s, out);
        return;
    }
    putc('\'', out);
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\')
            putc('\\', out);
        putc(*s, out);
    }
    putc('\'', out);
}

static void print_node(const struct grammar_flat_node *node, grammar_name_fn name, void *context, FILE *out)
{
    char rule[16];
    putc(' ', out);
    if (grammar_is_rule(node->symbol)) {
        grammar_rule_name(node->symbol & ~GRAMMAR_RULE, rule);
        fputs(rule, out);
    } else if (node->symbol == GRAMMAR_LOST) {
        fputs("…", out);
    } else {
        print_terminal(name(context, node->symbol), out);
    }
    if (node->exponent > 1)
        fprintf(out, "^%" PRIu64, node->exponent);
}

int grammar_print(const struct grammar_flat *g, grammar_name_fn name, void *context, FILE *out)
{
    for (uint32_t r = 0; r < g->rule_count; r++) {
        char rule[16];
        grammar_rule_name(r, rule);
        fprintf(out, "%s ->", rule);
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++)
            print_node(&g->nodes[n], name, context, out);
        putc('\n', out);
    }
    return ferror(out) ? PYTHIA_EIO : 0;
}
