/* SPDX-License-Identifier: MIT */
/*
 * What a function that is read finds in registers and memory, and puts there (follow.h).
 *
 * Places in its frame with a known offset are slots, values like registers. An address of the frame that is handed on
 * or stored escapes: who has it may write there. Of all other memory nothing is known, but that it is the same as long
 * as it is read from the same place.
 *
 * Names of values: instructions from 1 on; below 0 places where ways come together; below TEAMS_MEMORY_NAMES what is
 * read from places in memory.
 *
 * Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_MEMORY_H
#define PYTHIA_TEAMS_MEMORY_H

#include "teams/follow.h"

enum { TEAMS_PLACES = TEAMS_REGISTERS + TEAMS_SLOTS, TEAMS_MEMORY_NAMES = -(1 << 30) };
/* A slot that was written as a part of a larger one, and not since. */
enum { TEAMS_PART = INT32_MIN };

/* Of what is the same wherever it is computed, or read: not made anywhere. */
static inline int32_t teams_name_of_place(uint64_t of, int64_t offset)
{
    uint64_t hash = (of << 32 ^ (uint64_t)offset) * 0x9e3779b97f4a7c15u;
    return TEAMS_MEMORY_NAMES - (int32_t)(hash >> 36);
}

static inline int32_t teams_name_of_meeting(int block, uint32_t place)
{
    return -(block * TEAMS_PLACES + (int32_t)place + 1);
}

/* The block where a value with such a name was made. */
static inline int teams_block_of_name(const struct teams_reading *r, int32_t name)
{
    return name > 0 ? r->block_of[name - 1] : (-name - 1) / TEAMS_PLACES;
}

/* The slot of an offset; TEAMS_NO_SLOT: none. The second makes it where it is new. */
uint8_t teams_memory_find_slot(const struct teams_reading *r, int32_t offset);
uint8_t teams_memory_slot(struct teams_reading *r, int32_t offset, uint8_t size);

struct teams_value teams_memory_load(struct teams_reading *r, const struct teams_insn *i, const struct teams_state *s);
/* Of the second place of an instruction. */
struct teams_value teams_memory_load_from(struct teams_reading *r, const struct teams_insn *i,
                                          const struct teams_state *s);
void teams_memory_store(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                        struct teams_value v);
/* An address goes where others may write by it. */
void teams_memory_escape(struct teams_reading *r, const struct teams_value *v);
/* Where it went was written, of something with these marks. */
void teams_memory_forget_escaped(struct teams_reading *r, struct teams_state *s, unsigned marks);

/* What a block writes, as far as that is being found out; a step: a register to which a constant is added. */
static inline void teams_memory_define(struct teams_reading *r, int block, uint8_t reg, bool step)
{
    if (r->recording && reg < 64) {
        struct teams_defs *d = &r->defs[block];
        d->regs |= 1ull << reg;
        d->stepped &= step ? ~0ull : ~(1ull << reg);
    }
}

static inline void teams_memory_define_slot(struct teams_reading *r, int block, uint8_t slot)
{
    if (r->recording)
        r->defs[block].slots[slot / 64] |= 1ull << slot % 64;
}

#endif
