/* SPDX-License-Identifier: MIT */
#include "findings/scopes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"

struct function { Dwarf_Addr begin, end; Dwarf_Die die; };
struct unit {
    const void *begin; /* of its DIE: a name for the unit, in whatever module */
    struct function *functions; /* one for each of their ranges */
    uint32_t count, room;
};
struct findings_scopes { struct unit *units; uint32_t count, room; };

struct findings_scopes *findings_scopes_create(void)
{
    struct findings_scopes *s = calloc(1, sizeof *s);
    base_must(!s);
    return s;
}

void findings_scopes_destroy(struct findings_scopes *s)
{
    for (uint32_t i = 0; s && i < s->count; i++)
        free(s->units[i].functions);
    if (s)
        free(s->units);
    free(s);
}

static int note_function(Dwarf_Die *die, void *data)
{
    struct unit *u = data;
    struct function f = { .die = *die };
    Dwarf_Addr base;

    for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &f.begin, &f.end)) > 0;)
        base_must(base_array_append(&u->functions, &u->count, &u->room, &f, 1, sizeof f));
    return DWARF_CB_OK;
}

static const struct unit *unit_of(struct findings_scopes *s, Dwarf_Die *unit)
{
    struct unit new = { .begin = unit->addr };

    for (uint32_t i = 0; i < s->count; i++)
        if (s->units[i].begin == new.begin)
            return &s->units[i];
    (void)dwarf_getfuncs(unit, note_function, &new, 0);
    base_must(base_array_append(&s->units, &s->count, &s->room, &new, 1, sizeof new));
    return &s->units[s->count - 1];
}

/* The innermost one: compilers of some languages nest them. */
static const Dwarf_Die *function_at(const struct unit *u, Dwarf_Addr address)
{
    const struct function *found = NULL;

    for (const struct function *f = u->functions; f < u->functions + u->count; f++)
        if (f->begin <= address && address < f->end && (!found || f->end - f->begin < found->end - found->begin))
            found = f;
    return found ? &found->die : NULL;
}

/* What is inlined there, or a block of the function's. */
static bool child_at(Dwarf_Die *of, Dwarf_Addr address, Dwarf_Die *child)
{
    if (dwarf_child(of, child) != 0)
        return false;
    do {
        int tag = dwarf_tag(child);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
             tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt) && dwarf_haspc(child, address) > 0)
            return true;
    } while (dwarf_siblingof(child, child) == 0);
    return false;
}

int findings_scopes_at(struct findings_scopes *s, Dwarf_Die *unit, Dwarf_Addr address,
                       Dwarf_Die around[FINDINGS_SCOPES])
{
    const Dwarf_Die *function = function_at(unit_of(s, unit), address);
    int n = 0;

    if (!function)
        return 0;
    around[n++] = *function;
    while (n < FINDINGS_SCOPES && child_at(&around[n - 1], address, &around[n]))
        n++;
    for (int i = 0; i < n / 2; i++) {
        Dwarf_Die swapped = around[i];
        around[i] = around[n - 1 - i];
        around[n - 1 - i] = swapped;
    }
    return n;
}
