/* SPDX-License-Identifier: MIT */
/*
 * Functions that do not come back to who calls them, by name: behind such a call nothing goes on.
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

enum code_leaves {
    CODE_COMES_BACK, /* … for all that is known */
    CODE_EXITS,      /* the process ends */
    CODE_THROWS,     /* an exception goes on */
    CODE_JUMPS_AWAY  /* control goes to where the program was before, or the thread ends */
};

enum code_leaves code_leaves(const char *name);
