/* SPDX-License-Identifier: MIT */
/* The tree of call paths as other tools read stacks; see export.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/order.h"
#include "findings/calltree.h"
#include "findings/inside.h"
#include "findings/units.h"
#include "page/export.h"

/* Functions that compute before the calls of a path's node, by samples. */
struct share { const char *function; uint64_t samples; };
struct shares { struct share *of; uint32_t count; uint64_t samples; };

BASE_COMPARISON(by_name, struct share, strcmp(a->function, b->function))

/* Those before the calls and regions that stand right in it; what is the node's own function has no name. */
static struct shares shares_of(struct report *r, const struct findings_calltree *t, uint32_t i)
{
    struct shares s = { NULL, 0, 0 };
    const char *own = t->path[i].name ?: "";

    for (uint32_t k = i + 1; k <= i + t->path[i].inside; k += t->path[k].inside + 1) {
        const struct findings_inside_part *p =
            t->path[k].terminal == GRAMMAR_NONE ? NULL : findings_inside_find(r, t->path[k].terminal, true);
        for (uint32_t n = 0; p && n < p->count; n++) {
            const struct findings_inside_function *f = &p->function[n];
            const char *name = f->place ? f->place->function ?: f->place->module : "code made at run time";
            BASE_ADD(s.of, s.count, (struct share){ strcmp(name, own) ? name : "", f->samples });
            s.samples += f->samples;
        }
    }
    BASE_SORT(s.of, s.count, by_name);
    return s;
}

/* A line a function: the node's own time shared out; the last one has what is left. */
static void print_shares(const char *stack, uint64_t ns, const struct shares *s, FILE *out)
{
    uint64_t told = 0, before = 0, until = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        const char *name = s->of[i].function;
        until += s->of[i].samples;
        if (i + 1 < s->count && !strcmp(s->of[i + 1].function, name))
            continue;
        told = (uint64_t)((unsigned __int128)ns * until / s->samples);
        if (told > before)
            fprintf(out, "%s%s%s %" PRIu64 "\n", stack, *name ? ";" : "", findings_line(name, 200), told - before);
        before = told;
    }
}

void page_print_folded(struct report *r, FILE *out)
{
    struct findings_calltree *t = findings_calltree_create(r);

    for (uint32_t i = 0; i < t->paths; i++) {
        BASE_OWN char *stack = t->path[i].own_ns ? findings_path_stack(t, i) : NULL;
        struct shares s = { NULL, 0, 0 };
        if (stack && t->path[i].terminal == GRAMMAR_NONE)
            s = shares_of(r, t, i);
        if (s.samples >= FINDINGS_INSIDE_FEW)
            print_shares(stack, t->path[i].own_ns, &s, out);
        else if (stack)
            fprintf(out, "%s %" PRIu64 "\n", stack, t->path[i].own_ns);
        free(s.of);
    }
    findings_calltree_destroy(t);
}
