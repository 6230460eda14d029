/* SPDX-License-Identifier: MIT */
/* x86-64. Capstone's operands in order: Intel's, the first one is written. */
#include <elf.h>
#include <string.h>

#include "teams/code_x86.h"

enum { STACK = 4, FLOATING = 16 /* x87 and MMX, as one */, MASKS = 17 };

/* --- Registers --- */

#define GENERAL(n, a, b, c, d) \
    [X86_REG_##a] = n + 1, [X86_REG_##b] = n + 1, [X86_REG_##c] = n + 1, [X86_REG_##d] = n + 1

/* Their numbers + 1. */
static const uint8_t general[X86_REG_ENDING] = {
    GENERAL(0, RAX, EAX, AX, AL),      GENERAL(1, RCX, ECX, CX, CL),      GENERAL(2, RDX, EDX, DX, DL),
    GENERAL(3, RBX, EBX, BX, BL),      GENERAL(4, RSP, ESP, SP, SPL),     GENERAL(5, RBP, EBP, BP, BPL),
    GENERAL(6, RSI, ESI, SI, SIL),     GENERAL(7, RDI, EDI, DI, DIL),     GENERAL(8, R8, R8D, R8W, R8B),
    GENERAL(9, R9, R9D, R9W, R9B),     GENERAL(10, R10, R10D, R10W, R10B), GENERAL(11, R11, R11D, R11W, R11B),
    GENERAL(12, R12, R12D, R12W, R12B), GENERAL(13, R13, R13D, R13W, R13B), GENERAL(14, R14, R14D, R14W, R14B),
    GENERAL(15, R15, R15D, R15W, R15B),
    [X86_REG_AH] = 1, [X86_REG_CH] = 2, [X86_REG_DH] = 3, [X86_REG_BH] = 4,
};

/* The location of a register; segment registers and the like are none. */
static uint8_t location(unsigned reg)
{
    if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31)
        return (uint8_t)(TEAMS_GENERAL + reg - X86_REG_XMM0);
    if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31)
        return (uint8_t)(TEAMS_GENERAL + reg - X86_REG_YMM0);
    if (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31)
        return (uint8_t)(TEAMS_GENERAL + reg - X86_REG_ZMM0);
    if ((reg >= X86_REG_ST0 && reg <= X86_REG_ST7) || (reg >= X86_REG_MM0 && reg <= X86_REG_MM7) || reg == X86_REG_FPSW)
        return FLOATING;
    if (reg >= X86_REG_K0 && reg <= X86_REG_K7)
        return (uint8_t)(MASKS + reg - X86_REG_K0);
    if (reg == X86_REG_EFLAGS)
        return TEAMS_FLAGS;
    return reg < X86_REG_ENDING && general[reg] ? (uint8_t)(general[reg] - 1) : TEAMS_NO_REGISTER;
}

/* --- Operands --- */

static void set_place(struct teams_insn *insn, const cs_x86_op *o, bool second)
{
    struct teams_place *p = &insn->place;
    if (second && (o->access & CS_AC_WRITE))
        insn->from = insn->place;
    else if (second)
        p = &insn->from;
    *p = (struct teams_place){ TEAMS_NO_REGISTER, TEAMS_NO_REGISTER, (uint8_t)o->mem.scale, o->size, false, false,
                               o->mem.disp };
    p->thread = o->mem.segment == X86_REG_FS || o->mem.segment == X86_REG_GS;
    if (o->mem.base == X86_REG_RIP) {
        p->fixed = true;
        p->offset += (int64_t)(insn->address + insn->length);
        return;
    }
    p->fixed = o->mem.base == X86_REG_INVALID && o->mem.index == X86_REG_INVALID;
    p->base = o->mem.base == X86_REG_INVALID ? TEAMS_NO_REGISTER : location(o->mem.base);
    if (o->mem.index >= X86_REG_XMM0 && o->mem.index <= X86_REG_ZMM31)
        p->index = location(o->mem.index); /* a gather */
    else
        p->index = o->mem.index == X86_REG_INVALID ? TEAMS_NO_REGISTER : location(o->mem.index);
}

static struct teams_operand operand(const cs_x86_op *o)
{
    switch (o->type) {
    case X86_OP_REG:
        return (struct teams_operand){ TEAMS_REGISTER, location(o->reg), 0 };
    case X86_OP_IMM:
        return (struct teams_operand){ TEAMS_IMMEDIATE, 0, o->imm };
    case X86_OP_MEM:
        return (struct teams_operand){ TEAMS_MEMORY, 0, 0 };
    default:
        return (struct teams_operand){ TEAMS_NONE, 0, 0 };
    }
}

static const struct teams_operand none = { TEAMS_NONE, 0, 0 }, memory = { TEAMS_MEMORY, 0, 0 };

static struct teams_operand immediate(int64_t value)
{
    return (struct teams_operand){ TEAMS_IMMEDIATE, 0, value };
}

static struct teams_operand in_register(uint8_t number)
{
    return (struct teams_operand){ TEAMS_REGISTER, number, 0 };
}

/* --- Registers that are read and written --- */

static uint64_t mask_of(const cs_regs regs, uint8_t count, bool *flags)
{
    uint64_t mask = 0;
    for (int i = 0; i < count; i++) {
        uint8_t at = location(regs[i]);
        *flags |= at == TEAMS_FLAGS;
        mask |= at < TEAMS_FLAGS ? 1ull << at : 0;
    }
    return mask;
}

/* Capstone does not know the access to all registers, as with a mask, and what that leaves of the first one stays. */
static void collect_operands(const cs_x86 *x, struct teams_insn *insn)
{
    bool masked = false;
    for (int k = 0; k < x->op_count; k++) {
        const cs_x86_op *o = &x->operands[k];
        uint64_t at = o->type == X86_OP_REG ? teams_bit(location(o->reg)) : 0;
        insn->reads |= o->access == 0 ? at : 0;
        insn->writes |= o->access == 0 && k == 0 ? at : 0;
        masked |= k > 0 && o->type == X86_OP_REG && o->reg >= X86_REG_K0 && o->reg <= X86_REG_K7;
    }
    if (masked)
        insn->reads |= insn->writes;
}

static void collect_masks(struct teams_decoder *d, struct teams_insn *insn)
{
    cs_regs reads, writes;
    uint8_t read_count = 0, write_count = 0;
    if (d->access(d->handle, d->insn, reads, &read_count, writes, &write_count)) {
        insn->reads = insn->writes = UINT64_MAX;
        insn->reads_flags = insn->writes_flags = true;
        return;
    }
    bool reads_flags = insn->reads_flags, writes_flags = insn->writes_flags;
    insn->reads |= mask_of(reads, read_count, &reads_flags);
    insn->writes |= mask_of(writes, write_count, &writes_flags);
    insn->reads_flags = reads_flags;
    insn->writes_flags = writes_flags;
    collect_operands(&d->insn->detail->x86, insn);
    if (teams_x86_is_old_floating(d->insn)) {
        insn->reads |= 1ull << FLOATING;
        insn->writes |= 1ull << FLOATING;
        insn->writes_flags |= strstr(d->insn->mnemonic, "comi") != NULL;
    }
    bool integer = !(insn->writes >> TEAMS_GENERAL) && !(insn->writes >> FLOATING & 1);
    insn->writes_flags |= integer && d->insn->detail->x86.eflags != 0; /* Capstone's lists do not name them always */
}

static void other(struct teams_decoder *d, struct teams_insn *insn)
{
    insn->op = TEAMS_OTHER;
    insn->dst = insn->a = insn->b = none;
    collect_masks(d, insn);
}

/* Of two places of memory the one that is written is `place`. */
static void push_or_pop(const cs_x86_op *o, bool push, struct teams_insn *insn)
{
    struct teams_place top = { STACK, TEAMS_NO_REGISTER, 1, 8, false, false, push ? -8 : 0 }, other = insn->place;
    bool from_memory = o->type == X86_OP_MEM;
    insn->op = TEAMS_MOVE;
    insn->step = push ? -8 : 8;
    insn->dst = push ? memory : operand(o);
    insn->a = push ? operand(o) : memory;
    insn->place = top;
    insn->stores = push || from_memory;
    insn->loads = !insn->stores;
    if (!from_memory)
        return;
    insn->a = (struct teams_operand){ TEAMS_FROM, 0, 0 };
    insn->from = push ? other : top;
    insn->place = push ? top : other;
    if (!push && insn->place.base == STACK) /* as it is moved already */
        insn->place.offset += 8;
}

/* push, pop, and what leaves the function. Returns whether it was one. */
static bool control(const cs_insn *i, const cs_x86 *x, struct teams_insn *insn)
{
    const cs_x86_op *o = x->operands;
    bool call = i->id == X86_INS_CALL, jump = i->id == X86_INS_JMP;
    if (i->id == X86_INS_PUSH || i->id == X86_INS_POP) {
        push_or_pop(o, i->id == X86_INS_PUSH, insn);
        if (o->size == 2) /* moves the stack pointer by no more */
            insn->op = TEAMS_SYSTEM;
        return true;
    }
    if (call || jump) {
        if (o->type == X86_OP_IMM) {
            insn->op = call ? TEAMS_CALL : TEAMS_JUMP;
            insn->target = (uintptr_t)o->imm;
        } else if (o->type == X86_OP_MEM && insn->place.fixed && !insn->place.thread) {
            insn->op = call ? TEAMS_CALL_SLOT : TEAMS_JUMP_SLOT;
            insn->target = (uintptr_t)insn->place.offset;
        } else {
            insn->op = call ? TEAMS_CALL_ANY : TEAMS_JUMP_ANY;
            insn->a = operand(o);
        }
        return true;
    }
    if (insn->op == TEAMS_BRANCH) {
        insn->target = o->type == X86_OP_IMM ? (uintptr_t)o->imm : 0;
        insn->reads_flags = true;
    }
    return insn->op == TEAMS_BRANCH || insn->op == TEAMS_RETURN || insn->op == TEAMS_TRAP ||
           insn->op == TEAMS_NOTHING || insn->op == TEAMS_PAUSE || insn->op == TEAMS_SYSTEM;
}

/* dst and sources of what has one, two or three operands; false: that is no such instruction. */
static bool arithmetic(const cs_x86 *x, struct teams_insn *insn)
{
    int n = x->op_count;
    struct teams_operand o[3] = { none, none, none };
    for (int k = 0; k < n && k < 3; k++)
        o[k] = operand(&x->operands[k]);
    insn->dst = o[0];
    insn->a = n == 3 ? o[1] : o[0];
    insn->b = n == 3 ? o[2] : n == 2 ? o[1] : none;
    insn->writes_flags = true;
    switch (insn->op) {
    case TEAMS_MOVE:
        insn->a = o[1];
        insn->b = none;
        insn->writes_flags = false;
        if (n == 2 && o[1].kind == TEAMS_REGISTER && x->operands[1].size < 4) { /* a part, and the rest is 0 or stays */
            insn->op = TEAMS_BITS;
            insn->b = immediate(UINT8_MAX);
        }
        return n == 2 && (o[0].kind != TEAMS_MEMORY || o[1].kind != TEAMS_MEMORY);
    case TEAMS_ADDRESS:
        insn->a = insn->b = none;
        insn->writes_flags = false;
        return n == 2;
    case TEAMS_ADD:
    case TEAMS_SUB:
        if (n == 1) /* inc, dec */
            insn->b = immediate(1);
        return n <= 2;
    case TEAMS_COMPARE:
    case TEAMS_TEST:
        insn->dst = none;
        insn->a = o[0];
        insn->b = o[1];
        return n == 2;
    case TEAMS_SELECT:
        insn->reads_flags = true;
        insn->writes_flags = false;
        return true;
    case TEAMS_SCALE:
        if (x->operands[0].size < 4 || n == 1)
            break;
        return n <= 3;
    case TEAMS_HALVE:
        if (x->operands[0].size < 4 || (n == 2 && o[1].kind != TEAMS_IMMEDIATE) || (n == 2 && o[1].value != 1))
            break;
        return n <= 2;
    case TEAMS_BITS:
        return n >= 2 && n <= 3;
    default:
        break;
    }
    insn->writes_flags = false;
    return false;
}

static void masks_of(struct teams_decoder *d, const cs_insn *i, const cs_x86 *x, struct teams_insn *insn)
{
    if (i->id == X86_INS_CDQE) { /* gcc 14 widens a loop's bounds so; the older movsxd */
        insn->op = TEAMS_MOVE;
        insn->dst = insn->a = in_register(0);
    } else if (teams_x86_zeroes(i, x)) {
        insn->op = TEAMS_MOVE;
        insn->dst = operand(&x->operands[0]);
        insn->a = immediate(0);
        insn->writes_flags = true;
    } else if (!arithmetic(x, insn)) {
        other(d, insn);
    }
    bool vectors = x->op_count && x->operands[0].type == X86_OP_REG && location(x->operands[0].reg) >= FLOATING;
    if (vectors && insn->op < TEAMS_OTHER && insn->dst.kind != TEAMS_NONE)
        insn->writes_flags = false;
    insn->reads_flags |= teams_x86_tests_flags(i, x);
    bool small = x->op_count && x->operands[0].type == X86_OP_REG && x->operands[0].size < 4;
    insn->partial = small && (insn->op == TEAMS_MOVE || insn->op == TEAMS_BITS || insn->op == TEAMS_OTHER);
}

static void look_at_memory(const cs_x86 *x, const cs_insn *i, struct teams_insn *insn)
{
    bool seen = false;
    for (int k = 0; k < x->op_count; k++) {
        const cs_x86_op *o = &x->operands[k];
        if (o->type != X86_OP_MEM)
            continue;
        set_place(insn, o, seen);
        if (!seen && teams_x86_is_scalar(i)) /* comisd has 16 bytes for capstone */
            insn->place.size = o->size < 8 ? o->size : 8;
        seen = true;
        if (i->id == X86_INS_LEA || insn->op == TEAMS_NOTHING)
            continue;
        bool unknown = o->access == 0;
        insn->stores |= unknown || (o->access & CS_AC_WRITE);
        insn->loads |= unknown || (o->access & CS_AC_READ);
    }
    if (!seen)
        return;
    /* Capstone does not know the access of all of them. */
    if (i->id == X86_INS_CMP || i->id == X86_INS_TEST)
        insn->stores = false;
    else if (x->operands[0].type != X86_OP_MEM && insn->op != TEAMS_OTHER)
        insn->stores = false, insn->loads = i->id != X86_INS_LEA;
    else if (x->operands[0].type == X86_OP_MEM && insn->op != TEAMS_NOTHING)
        insn->stores |= !teams_x86_only_reads(i);
    insn->swaps = i->id == X86_INS_CMPXCHG || i->id == X86_INS_CMPXCHG8B || i->id == X86_INS_CMPXCHG16B;
    bool atomic = insn->swaps || x->prefix[0] == X86_PREFIX_LOCK || i->id == X86_INS_XCHG;
    insn->stores |= atomic;
    insn->loads |= atomic;
    insn->repeats = x->prefix[0] == X86_PREFIX_REP || x->prefix[0] == X86_PREFIX_REPNE;
}

static bool decode(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address,
                   struct teams_insn *insn)
{
    const cs_insn *i = d->insn;
    if (!teams_disassemble(d, code, size, address))
        return false;
    const cs_x86 *x = &i->detail->x86;
    *insn = (struct teams_insn){ .address = address, .length = (uint8_t)i->size };
    insn->place.base = insn->place.index = TEAMS_NO_REGISTER;
    insn->op = (uint8_t)teams_x86_op(i);
    look_at_memory(x, i, insn);
    if (insn->op == TEAMS_NOTHING) {
        insn->loads = insn->stores = false;
        return true;
    }
    if (control(i, x, insn))
        return i->id != X86_INS_JRCXZ && i->id != X86_INS_JECXZ;
    masks_of(d, i, x, insn);
    return !teams_x86_goes_elsewhere(i);
}

const struct teams_machine teams_x86 = {
    .elf = EM_X86_64,
    .arch = CS_ARCH_X86,
    .mode = CS_MODE_64,
    .convention = {
        .stack = STACK,
        .result = 0,
        .arguments = { 7, 6, 2, 1, 8, 9 },
        .argument_count = 6,
        /* all but rbx, rsp, rbp, r12 to r15 */
        .clobbered = ~(1ull << 3 | 1ull << 4 | 1ull << 5 | 15ull << 12),
    },
    .decode = decode,
};
