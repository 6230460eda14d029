/* SPDX-License-Identifier: MIT */
/*
 * The functions around an address, as they stand in the machine code: the one that was compiled, and in it those that
 * were inlined.
 *
 *     struct findings_scopes *s = findings_scopes_create();
 *     Dwarf_Die around[FINDINGS_SCOPES];
 *     int n = findings_scopes_at(s, unit, address, around);    around[0]: innermost … around[n - 1]: a subprogram
 *
 * libdw looks through all of a unit for each address, .5 ms where a unit has the C++ library's headers, and sees
 * nothing inlined in a function that a compiler outlined. Here a unit is looked through once, then a function alone.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <elfutils/libdw.h>

enum { FINDINGS_SCOPES = 64 }; /* what is nested deeper is not seen */

struct findings_scopes;

struct findings_scopes *findings_scopes_create(void);
void findings_scopes_destroy(struct findings_scopes *s); /* NULL is legal */

/* Scopes of a unit that hold the address, as the unit has it: functions, inlined ones and blocks in them, innermost
   first. Returns how many; 0: none is known. */
int findings_scopes_at(struct findings_scopes *s, Dwarf_Die *unit, Dwarf_Addr address,
                       Dwarf_Die around[FINDINGS_SCOPES]);
