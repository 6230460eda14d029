/* SPDX-License-Identifier: MIT */
/*
 * aarch64. What one instruction does at once is told in steps (a product and a sum, a pair of loads, a base that moves
 * on): the first has the instruction's address, the others those of its other bytes.
 *
 *   cmp   FLAGS = a ? b;  KEPT_FLAGS = FLAGS            b.eq   FLAGS = KEPT_FLAGS;  branch by FLAGS
 *   ldp   a = [x];  b = [x + 8]                         cbz    FLAGS = a ? 0;  branch by FLAGS
 *
 * Instructions are known by capstone's numbers, and no others: what is not in the table, or has operands in another
 * form, cannot be read. So are exclusive and atomic accesses, but for those of libgcc's functions, and vectors of any
 * length (SVE).
 */
#include <elf.h>
#include <string.h>

#include "teams/code_arm.h"

/* --- Operands --- */

static const struct teams_operand none = { TEAMS_NONE, 0, 0 }, memory = { TEAMS_MEMORY, 0, 0 },
                                  flags = { TEAMS_REGISTER, TEAMS_FLAGS, 0 },
                                  kept = { TEAMS_REGISTER, TEAMS_KEPT_FLAGS, 0 };

/* A register or a number as it is, neither a part of a vector nor shifted. */
static struct teams_operand operand(struct teams_arm_steps *s, const cs_arm64_op *o)
{
    if (o->type == ARM64_OP_IMM && o->shift.type == ARM64_SFT_INVALID)
        return teams_arm_number(o->imm);
    if (o->type == ARM64_OP_IMM && o->shift.type == ARM64_SFT_LSL && o->shift.value < 64)
        return teams_arm_number((int64_t)((uint64_t)o->imm << o->shift.value));
    if (o->type == ARM64_OP_FP)
        return teams_arm_number(o->fp != 0.0);
    bool plain = o->type == ARM64_OP_REG && o->vector_index < 0 && o->shift.type == ARM64_SFT_INVALID &&
                 o->ext == ARM64_EXT_INVALID;
    if (plain && teams_arm_is_zero(o->reg))
        return teams_arm_number(0);
    s->unknown |= !plain || teams_arm_location(o->reg) == TEAMS_NO_REGISTER;
    return plain ? teams_arm_register(teams_arm_location(o->reg)) : none;
}

/* Where a result goes: none where it is thrown away. */
static struct teams_operand result(struct teams_arm_steps *s, const cs_arm64_op *o)
{
    struct teams_operand to = operand(s, o);
    s->unknown |= o->type != ARM64_OP_REG;
    return to.kind == TEAMS_REGISTER ? to : none;
}

/* --- Steps --- */

struct teams_insn *teams_arm_add(struct teams_arm_steps *s, enum teams_op op, struct teams_operand dst,
                                 struct teams_operand a, struct teams_operand b)
{
    s->unknown |= s->count == TEAMS_ARM_STEPS;
    struct teams_insn *i = &s->step[s->count];
    s->count += s->count < TEAMS_ARM_STEPS;
    *i = (struct teams_insn){ .op = (uint8_t)op, .dst = dst, .a = a, .b = b };
    i->place.base = i->place.index = TEAMS_NO_REGISTER;
    return i;
}

static void keep_flags(struct teams_arm_steps *s)
{
    teams_arm_add(s, TEAMS_MOVE, kept, flags, none);
}

static void look_at_flags(struct teams_arm_steps *s)
{
    teams_arm_add(s, TEAMS_MOVE, flags, kept, none);
}

/* The last operand of arithmetic: what it is shifted or extended by does not count. */
static struct teams_operand last_source(struct teams_arm_steps *s, const cs_arm64_op *o)
{
    cs_arm64_op whole = *o;
    if (o->type == ARM64_OP_REG) {
        whole.ext = ARM64_EXT_INVALID;
        whole.shift.type = ARM64_SFT_INVALID;
    }
    return operand(s, &whole);
}

/* --- By masks --- */

/* Of a register, also a part of a vector. */
static uint64_t mask_of(struct teams_arm_steps *s, const cs_arm64_op *o)
{
    if (o->type == ARM64_OP_IMM || o->type == ARM64_OP_FP || (o->type == ARM64_OP_REG && teams_arm_is_zero(o->reg)))
        return 0;
    uint8_t at = o->type == ARM64_OP_REG ? teams_arm_location(o->reg) : TEAMS_NO_REGISTER;
    s->unknown |= at == TEAMS_NO_REGISTER;
    return teams_bit(at);
}

/* The operands from `first` on are read. */
static struct teams_insn *alike(struct teams_arm_steps *s, const cs_arm64 *x, int first)
{
    struct teams_insn *i = teams_arm_add(s, TEAMS_OTHER, none, none, none);
    for (int k = first; k < x->op_count; k++)
        i->reads |= mask_of(s, &x->operands[k]);
    return i;
}

static void masked(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_arm_form form)
{
    if (x->op_count < 2 || x->operands[0].type != ARM64_OP_REG) {
        s->unknown = true;
        return;
    }
    if (form == TEAMS_ARM_CARRY)
        look_at_flags(s);
    bool lane = x->operands[0].vector_index >= 0;
    struct teams_insn *i = alike(s, x, form == TEAMS_ARM_INTO || lane ? 0 : 1);
    i->writes = mask_of(s, &x->operands[0]);
    i->reads_flags = form == TEAMS_ARM_CARRY;
    i->writes_flags = x->update_flags;
    if (x->update_flags)
        keep_flags(s);
}

/* --- Arithmetic --- */

static bool has_vectors(const cs_arm64 *x)
{
    for (int k = 0; k < x->op_count; k++)
        if (x->operands[k].type == ARM64_OP_REG && !teams_arm_is_zero(x->operands[k].reg) &&
            teams_arm_location(x->operands[k].reg) >= TEAMS_GENERAL)
            return true;
    return false;
}

static void computed(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_op op)
{
    if (has_vectors(x) || x->op_count != 3) {
        masked(s, x, TEAMS_ARM_ALIKE);
        return;
    }
    struct teams_operand b = last_source(s, &x->operands[2]);
    struct teams_insn *i = teams_arm_add(s, op, result(s, &x->operands[0]), operand(s, &x->operands[1]), b);
    i->writes_flags = x->update_flags;
    if (x->update_flags)
        keep_flags(s);
}

static void moved(struct teams_arm_steps *s, const cs_arm64 *x)
{
    const cs_arm64_op *o = x->operands;
    if (x->op_count != 2)
        s->unknown = true;
    else if (o[0].vector_index >= 0 || o[1].vector_index >= 0)
        masked(s, x, TEAMS_ARM_ALIKE);
    else
        teams_arm_add(s, TEAMS_MOVE, result(s, &o[0]), operand(s, &o[1]), none);
}

/* --- Flags --- */

static void compared(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_op op)
{
    s->unknown |= x->op_count != 2;
    if (op == TEAMS_OTHER)
        alike(s, x, 0)->writes_flags = true;
    else
        teams_arm_add(s, op, none, operand(s, &x->operands[0]), last_source(s, &x->operands[1]))->writes_flags = true;
    keep_flags(s);
}

static void compared_if(struct teams_arm_steps *s, const cs_arm64 *x)
{
    look_at_flags(s);
    struct teams_insn *i = alike(s, x, 0);
    i->reads_flags = i->writes_flags = true;
    keep_flags(s);
}

/* One or the other, whatever is made of it besides. */
static void chosen(struct teams_arm_steps *s, const cs_arm64 *x)
{
    s->unknown |= x->op_count != 3 && x->op_count != 2;
    struct teams_operand a = operand(s, &x->operands[1]), b = operand(s, &x->operands[x->op_count - 1]);
    look_at_flags(s);
    teams_arm_add(s, TEAMS_SELECT, result(s, &x->operands[0]), a, b)->reads_flags = true;
}

static void branch(struct teams_arm_steps *s, const cs_arm64_op *to)
{
    struct teams_insn *i = teams_arm_add(s, TEAMS_BRANCH, none, none, none);
    s->unknown |= to->type != ARM64_OP_IMM;
    i->target = (uintptr_t)to->imm;
    i->reads_flags = true;
}

static void by_register(struct teams_arm_steps *s, const cs_arm64 *x, unsigned id)
{
    bool bit = id == ARM64_INS_TBZ || id == ARM64_INS_TBNZ;
    s->unknown |= x->op_count != 2 + bit || (bit && (x->operands[1].type != ARM64_OP_IMM || x->operands[1].imm > 63));
    if (s->unknown)
        return;
    struct teams_operand a = operand(s, &x->operands[0]);
    if (bit)
        teams_arm_add(s, TEAMS_TEST, none, a, teams_arm_number((int64_t)(1ull << x->operands[1].imm)))->writes_flags =
            true;
    else
        teams_arm_add(s, TEAMS_COMPARE, none, a, teams_arm_number(0))->writes_flags = true;
    branch(s, &x->operands[1 + bit]);
}

/* A call of a function that only does one access is that access. */
static bool accesses(struct teams_arm_steps *s, const struct teams_decoder *d, const cs_arm64_op *to)
{
    uintptr_t at = (uintptr_t)to->imm;
    bool there = to->type == ARM64_OP_IMM && at >= d->begin && at < d->end;
    if (!there || !teams_arm_atomic(s, (const uint32_t *)at, (d->end - at) / sizeof(uint32_t)))
        return false;
    keep_flags(s);
    return true;
}

static void jump(struct teams_arm_steps *s, const struct teams_decoder *d, const cs_arm64 *x, enum teams_arm_form form,
                 enum teams_op op)
{
    const cs_arm64_op *o = &x->operands[0];
    if (form == TEAMS_ARM_CALLED && x->op_count == 1 && accesses(s, d, o))
        return;
    s->unknown |= x->op_count != 1 || o->type != ARM64_OP_IMM;
    if (op == TEAMS_JUMP && x->cc != ARM64_CC_INVALID && x->cc != ARM64_CC_AL && x->cc != ARM64_CC_NV) {
        look_at_flags(s);
        branch(s, o);
        return;
    }
    teams_arm_add(s, op, none, none, none)->target = (uintptr_t)o->imm;
}

/* --- Memory --- */

static void structure(struct teams_arm_steps *s, const cs_arm64 *x, uint32_t word)
{
    unsigned count = 0;
    uint64_t vectors = 0;
    while (count < x->op_count && x->operands[count].type == ARM64_OP_REG &&
           teams_arm_location(x->operands[count].reg) >= TEAMS_GENERAL)
        vectors |= mask_of(s, &x->operands[count++]);
    teams_arm_structure(s, word, vectors, count);
}

static void address(struct teams_arm_steps *s, const cs_arm64 *x)
{
    struct teams_insn *i = teams_arm_add(s, TEAMS_ADDRESS, result(s, &x->operands[0]), none, none);
    s->unknown |= x->op_count != 2 || x->operands[1].type != ARM64_OP_IMM;
    i->place.fixed = true;
    i->place.offset = x->operands[1].imm;
}

/* mrs x, tpidr_el0; the other registers of the system are unknown. */
static void thread(struct teams_arm_steps *s, uint32_t word)
{
    struct teams_insn *i = teams_arm_add(s, TEAMS_MOVE, teams_arm_register(word & 31), memory, none);
    s->unknown |= (word & ~31u) != 0xd53bd040 || (word & 31) == TEAMS_ARM_ZERO;
    i->place.thread = i->loads = true;
    i->place.size = 8;
}

/* --- The whole --- */

static void leave(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_arm_form form, enum teams_op op)
{
    const cs_arm64_op *o = &x->operands[0];
    bool linked = o->type == ARM64_OP_REG && teams_arm_location(o->reg) == TEAMS_ARM_LINK;
    if (form == TEAMS_ARM_RETURNED && x->op_count && !linked)
        op = TEAMS_JUMP_ANY;
    s->unknown |= form != TEAMS_ARM_RETURNED && x->op_count != 1;
    teams_arm_add(s, op, none, x->op_count ? operand(s, o) : none, none);
}

static void describe(struct teams_arm_steps *s, const struct teams_decoder *d, uint32_t word)
{
    const cs_insn *i = d->insn;
    const cs_arm64 *x = &i->detail->arm64;
    struct teams_arm_kind k = teams_arm_kind(i->id);
    enum teams_op op = (enum teams_op)k.op;
    switch ((enum teams_arm_form)k.form) {
    case TEAMS_ARM_UNKNOWN:
        s->unknown = true;
        break;
    case TEAMS_ARM_HINT:
        s->unknown = x->op_count != 1 || !teams_arm_is_harmless_hint(x->operands[0].imm);
        teams_arm_add(s, op, none, none, none);
        break;
    case TEAMS_ARM_SKIPPED:
    case TEAMS_ARM_PLAIN:
        teams_arm_add(s, op, none, none, none);
        break;
    case TEAMS_ARM_ALIKE:
    case TEAMS_ARM_INTO:
    case TEAMS_ARM_CARRY:
        masked(s, x, (enum teams_arm_form)k.form);
        break;
    case TEAMS_ARM_COMPUTED:
        computed(s, x, op);
        break;
    case TEAMS_ARM_MOVED:
        moved(s, x);
        break;
    case TEAMS_ARM_COMPARED:
        compared(s, x, op);
        break;
    case TEAMS_ARM_COMPARED_IF:
        compared_if(s, x);
        break;
    case TEAMS_ARM_CHOSEN:
        chosen(s, x);
        break;
    case TEAMS_ARM_FLAG:
        look_at_flags(s);
        teams_arm_add(s, TEAMS_MOVE, result(s, &x->operands[0]), flags, none);
        break;
    case TEAMS_ARM_ADDRESS:
        address(s, x);
        break;
    case TEAMS_ARM_CALLED:
    case TEAMS_ARM_JUMP:
        jump(s, d, x, (enum teams_arm_form)k.form, op);
        break;
    case TEAMS_ARM_JUMP_ANY:
    case TEAMS_ARM_CALLED_ANY:
    case TEAMS_ARM_RETURNED:
        leave(s, x, (enum teams_arm_form)k.form, op);
        break;
    case TEAMS_ARM_BRANCH_REGISTER:
    case TEAMS_ARM_BRANCH_BIT:
        by_register(s, x, i->id);
        break;
    case TEAMS_ARM_LOADED:
        teams_arm_loaded(s, word);
        break;
    case TEAMS_ARM_STRUCTURE:
        structure(s, x, word);
        break;
    case TEAMS_ARM_THREAD:
        thread(s, word);
        break;
    }
}

/* adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset; br x17: what the linker makes for a name. */
static bool is_stub(const uint32_t *word, uint64_t size, uintptr_t address, uintptr_t *slot)
{
    if (size < 4 * sizeof *word || (word[0] & 0x9f00001f) != 0x90000010 || (word[1] & 0xffc003ff) != 0xf9400211 ||
        (word[2] & 0xffc003ff) != 0x91000210 || word[3] != 0xd61f0220)
        return false;
    int64_t pages = teams_arm_signed(word[0], 5, 19) * 4 + teams_arm_bits(word[0], 29, 2);
    *slot = (address & ~(uintptr_t)4095) + (uintptr_t)(pages * 4096) + (uintptr_t)(teams_arm_bits(word[1], 10, 12) * 8);
    return true;
}

static bool decode(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address,
                   struct teams_insn *insn)
{
    unsigned step = address & 3;
    struct teams_arm_steps s = { .count = 0 };
    uint32_t word[4];
    uintptr_t slot;
    code -= step;
    size += step;
    if (size < sizeof *word)
        return false;
    memcpy(word, code, size < sizeof word ? sizeof *word : sizeof word);
    if (!step && is_stub(word, size, address, &slot)) {
        *insn = *teams_arm_add(&s, TEAMS_JUMP_SLOT, none, none, none);
        insn->target = slot;
        insn->address = address;
        insn->length = sizeof word;
        return true;
    }
    if (!teams_disassemble(d, code, sizeof *word, address - step))
        return false;
    describe(&s, d, word[0]);
    if (s.unknown || step >= s.count)
        return false;
    *insn = s.step[step];
    insn->address = address;
    insn->length = (uint8_t)(step + 1 == s.count ? 4 - step : 1);
    return true;
}

const struct teams_machine teams_arm = {
    .elf = EM_AARCH64,
    .arch = CS_ARCH_ARM64,
    .mode = CS_MODE_LITTLE_ENDIAN,
    .convention = {
        .stack = TEAMS_ARM_STACK,
        .result = 0,
        .arguments = { 0, 1, 2, 3, 4, 5, 6, 7, 8 },
        .argument_count = 9,
        /* all but x19 to x29, sp, v8 to v15 */
        .clobbered = ~(2047ull << 19 | 1ull << TEAMS_ARM_STACK | 255ull << 40),
    },
    .decode = decode,
};
