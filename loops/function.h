/* SPDX-License-Identifier: MIT */
/*
 * A function's control flow from its machine code: which loops are around an address, and whether one place can be
 * reached from another without a turn of them.
 *
 *   .eh_frame: begin, end ─> instructions ─> blocks, edges ─> loops (forest.h)
 *
 * 1. parts of the function that stand elsewhere belong to it, also when an address in one of them is asked for
 * 2. jumps to other functions' beginnings leave (tail calls); a computed jump leads to where the table says that is
 *    named last before it, and to all blocks that nothing else leads to
 * 3. calls of what never returns end a block: by name, or because that function has nothing that returns
 *
 * Neither symbols nor debug information are needed. A function is read once.
 * Bounds: LOOPS_MOST_INSNS instructions of a function, about 30 ns each; what is longer cannot be read.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include "code/image.h"
#include "loops/forest.h"

enum { LOOPS_MOST_INSNS = 1 << 18 };

struct loops_function {
    uint64_t entry;
    uint32_t number;            /* from 1 on, in the order in which they were asked for */
    struct loops_forest forest; /* its nodes are the blocks */
    struct loops_graph graph;
    uint64_t *block;            /* where each begins, in order; nodes are numbered so, but 0 is the entry's */
    uint32_t *node;             /* … the node of each of these */
    uint64_t *turn;             /* of each loop: its last instruction that leads back to the head */
    uint64_t *tail;             /* functions that it ends in */
    uint32_t tails;
    struct code_range range[16];
    uint32_t ranges;
};

/* The functions of one module's file; of a script's code (base/python.h) that, its lines as addresses. NULL as
   code_image_open() fails, or no source. */
struct loops_code;
struct loops_code *loops_code_open(const char *path, const char *build_id);
void loops_code_close(struct loops_code *c); /* NULL is legal */
/* The function that holds an address; NULL: it cannot be read. Owned by `c`. */
const struct loops_function *loops_code_function(struct loops_code *c, uint64_t address);

/* The block that holds an address, as a node; UINT32_MAX: none. */
uint32_t loops_function_node(const struct loops_function *f, uint64_t address);
/* Whether control can go on from one address of a function to another without a turn of a loop that holds both. */
bool loops_function_leads(const struct loops_function *f, uint64_t from, uint64_t to);
/* Whether it may end in the function that begins there. */
bool loops_function_ends_in(const struct loops_function *f, uint64_t entry);
