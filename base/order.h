/* SPDX-License-Identifier: MIT */
/*
 * What the comparisons of qsort() and bsearch() return. Several keys: the first that tells them apart decides.
 *
 *     return BASE_ORDER(a->rank, b->rank) ?: BASE_ORDER(a->thread, b->thread);
 *
 * The greatest come first with the operands exchanged. Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_BASE_ORDER_H
#define PYTHIA_BASE_ORDER_H

/* -1, 0 or 1. Both of one type: of a signed and an unsigned one C converts the signed. A NaN equals everything, which
   is no order. The arguments are evaluated twice. */
#define BASE_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#endif
