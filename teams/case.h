/* SPDX-License-Identifier: MIT */
/*
 * One function that is judged, for the files that judge it (proof.h): what it does itself (effects.c), and by its calls
 * (calls.c).
 *
 * Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_CASE_H
#define PYTHIA_TEAMS_CASE_H

#include "teams/follow.h"
#include "teams/proof.h"

/* What a function does to whoever calls it. */
struct teams_summary {
    uintptr_t entry;
    enum job_proof reason; /* JOB_PROOF_HARMLESS: none */
    uintptr_t where;
    uint64_t arguments; /* registers that it reads before it writes them */
    uint64_t clobbers;  /* registers that it changes: compilers know that of their own functions */
    bool open;          /* being read */
    bool acts;          /* writes what others may see */
    bool locks;         /* critical or atomic: as often as it is called */
    bool stack;         /* reads arguments from the stack */
};

/* A function as it was read, for the next one that calls it, and followed, for the next kind of proof. */
struct teams_kept {
    struct teams_flow *flow;
    struct teams_reading *reading; /* NULL: not yet, or what it calls is known better since */
    uintptr_t waits;               /* with a reading: teams_wait_find() */
};

struct teams_prover {
    struct teams_reader *reader;
    struct base_arena room, code; /* of the region, and of functions that are kept */
    struct teams_summary function[TEAMS_FUNCTIONS];
    uint32_t functions, read;
    struct teams_kept kept[3 * TEAMS_FUNCTIONS]; /* of regions before, and twice of this one */
    uint32_t flows, insns; /* of what is kept */
    uintptr_t module;      /* base of the one with the outlined function */
    bool elsewhere;        /* code was followed that may be another module's in another run */
};

/* One function that is judged. */
struct teams_case {
    struct teams_prover *p;
    struct teams_kept *kept;
    struct teams_flow *f; /* kept->flow, kept->reading */
    struct teams_reading *r;
    struct teams_summary *s;
    enum teams_kind kind;
    bool outlined; /* the function of a region itself */
    uint32_t depth;
};

/* That of a function, read where it is new. NULL: there is no room for it. */
struct teams_summary *teams_case_summary(struct teams_prover *p, uintptr_t entry, enum teams_kind kind,
                                         uint32_t depth);
/* Takes a reason down, as far as it counts for this kind and is the first one. */
void teams_case_object(struct teams_case *c, enum job_proof reason, uintptr_t where);

/* Whether the branch that ends a block is decided by what is the same in all turns of a loop. */
bool teams_case_is_fixed(const struct teams_case *c, int b, int loop);
/* Something that others see happens in a block; or somebody may count how often. */
void teams_case_effect(struct teams_case *c, int b, uintptr_t where, bool counts);
/* An instruction's place of memory. */
void teams_case_memory(struct teams_case *c, int b, const struct teams_insn *i, const struct teams_state *s);
/* Sums that threads of a region run in turn add to as they come. */
void teams_case_sums(struct teams_case *c);

/* A place is written in a shared loop: one of its own may be read in a later iteration. */
void teams_case_keeps(struct teams_case *c, int b, uint32_t insn, const struct teams_value *at);

/* What each call looks at and changes: of what is followed, by reading it first. Returns whether that is new. */
bool teams_case_read_calls(struct teams_case *c);
/* Calls that are a reason wherever they stand: nothing else needs to be read then. Returns whether there is one. */
bool teams_case_is_hopeless(struct teams_case *c);
void teams_case_call(struct teams_case *c, int b, uint32_t insn, const struct teams_state *s);

#endif
