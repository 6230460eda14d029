/* SPDX-License-Identifier: MIT */
/*
 * Programs for the replay: of a known shape, or random ones that always end.
 *
 * A program is a tree of loops whose leaves are phases that all ranks take part in: computation and a pattern of
 * messages. Odd ranks may have a loop's first turn apart, as the grammars of real ranks differ.
 */
#pragma once

#include "replay/program.h"

enum phase_kind { PHASE_COMPUTE, PHASE_HALO, PHASE_RING, PHASE_XOR, PHASE_PAIR, PHASE_CHAIN, PHASE_ANY,
                  PHASE_COLLECTIVE, PHASE_LIST,
                  PHASE_KINDS };

struct phase {
    enum phase_kind kind;
    uint8_t shape;
    uint64_t bytes;
    int64_t ns; /* computation before it */
    uint64_t seed;
};

enum { PROGRAM_PHASES = 128 };

struct program {
    struct replay_source source;
    struct grammar_flat *grammar[2]; /* of even and of odd ranks */
    struct phase phase[PROGRAM_PHASES];
    uint32_t phases;
};

/* Loops of up to `turns` turns, `depth` deep. program_destroy() frees. */
struct program *program_random(uint64_t seed, uint32_t ranks, uint32_t depth, uint32_t turns);
/* One loop of these phases. */
struct program *program_loop(uint32_t ranks, const struct phase *phases, uint32_t count, uint64_t turns);
void program_destroy(struct program *p);
