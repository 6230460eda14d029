/* SPDX-License-Identifier: MIT */
/* The tree of call paths as other tools read stacks; see export.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "findings/calltree.h"
#include "page/export.h"

void report_print_folded(struct report *r, FILE *out)
{
    struct report_calltree *t = report_calltree_create(r);

    for (uint32_t i = 0; i < t->paths; i++) {
        char *stack = t->path[i].own_ns ? report_path_stack(t, i) : NULL;
        if (stack)
            fprintf(out, "%s %" PRIu64 "\n", stack, t->path[i].own_ns);
        free(stack);
    }
    report_calltree_destroy(t);
}
