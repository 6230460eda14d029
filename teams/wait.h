/* SPDX-License-Identifier: MIT */
/*
 * Loops that may wait for another thread: those that turn until memory changes which they do not change themselves.
 *
 * A loop is none of them where each turn passes a way out that is decided by something that each turn moves on (a
 * counter, a pointer along a list, a result of the run time's), or where nothing that it decides by was read from a
 * place that is the same in each turn. An exchange that is repeated until it succeeds (compare-and-swap of what was
 * read) always succeeds for somebody; one that is repeated until it finds a constant waits for whoever stores it. A
 * place in the frame whose address others have is memory: it moves on only where the loop itself moves it. A bound on
 * waiting is no end: a way out that is decided by a place which stays the same, and which the loop does not write,
 * waits, however many turns it may take: so does a function that looks there for the loop, writes nothing, and is told
 * the same each time. What the loop exchanges with others is not its own.
 *
 * What moves on is found by following the loop's turn from its head: what each turn adds to, always the same or a
 * number, what it follows (a list), what it halves. Remainders, bits, differences of what moves and whatever else may
 * come back to where it was do not move: a ring of places is one place. What is read from a place that moves is new in
 * each turn, and so is all that is made of it; but of a place that is followed, only its next link is: a list may be a
 * ring, whose other places come again.
 *
 * A search ends whatever it reads: each turn sets one of two bounds to what it halved out of both, and a way out that
 * these decide is passed in each turn. That what is between them gets less is taken for granted.
 *
 * One turn each, of a place in memory (rdi) and a count (esi); all of these are in tests/unit/test_teams_wait.c:
 *
 *     1: dec %esi; jnz 1b                              the way out is decided by esi, which moves on         ends
 *     1: mov (%rdi),%eax; test %eax,%eax; jz 1b        by eax, read where rdi leads: the same each turn      waits
 *     1: cmpl $0,(%rdi); jne 2f; dec %esi; jnz 1b; 2:  of two ways out one is by such a place: a bound       waits
 *     1: mov (%rdi),%rdi; test %rdi,%rdi; jnz 1b       by rdi, which follows a list                          ends
 *     1: mov (%rdi),%rdi; cmpl $0,8(%rdi); je 1b       by what stands beside the link: the list may be a ring  waits
 *     1: lea 1(%rax),%edx; lock cmpxchg %edx,(%rdi); jne 1b    swaps what it read: somebody succeeds         ends
 *     1: xor %eax,%eax; lock cmpxchg %edx,(%rdi); jne 1b       swaps a constant: until somebody stores it    waits
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include "teams/frame.h"

/* The first instruction of a loop that may wait, 0: there is none. */
uintptr_t teams_wait_find(const struct teams_frame *f);
