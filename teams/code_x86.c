/* SPDX-License-Identifier: MIT */
/* x86-64. Capstone's operands in order: Intel's, the first one is written. */
#include <elf.h>
#include <string.h>

#include "teams/machine.h"
#include "teams/rename.h"
#include "teams/template.h"

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

/* --- Operations --- */

static bool is_branch(unsigned id)
{
    return (id >= X86_INS_JAE && id <= X86_INS_JS && id != X86_INS_JMP && id != X86_INS_LJMP) || id == X86_INS_JRCXZ ||
           id == X86_INS_JECXZ;
}

static bool begins(const char *name, const char *with)
{
    while (*with && *name == *with)
        name++, with++;
    return !*with;
}

static enum teams_op by_name(const char *name)
{
    static const struct {
        const char *begin;
        enum teams_op op;
    } table[] = {
        { "cmov", TEAMS_SELECT },       { "set", TEAMS_SET },        { "movbe", TEAMS_OTHER },
        { "movmsk", TEAMS_OTHER },      { "movsh", TEAMS_OTHER },    { "movsl", TEAMS_OTHER },
        { "movdd", TEAMS_OTHER },       { "movh", TEAMS_OTHER },     { "movl", TEAMS_OTHER },
        { "mov", TEAMS_MOVE },
        { "cvt", TEAMS_FLOAT },         { "add", TEAMS_FLOAT },      { "sub", TEAMS_FLOAT },
        { "mul", TEAMS_FLOAT },         { "div", TEAMS_FLOAT },      { "sqrt", TEAMS_FLOAT },
        { "fmadd", TEAMS_FLOAT },       { "fmsub", TEAMS_FLOAT },    { "fnmadd", TEAMS_FLOAT },
        { "fnmsub", TEAMS_FLOAT },      { "hadd", TEAMS_FLOAT },     { "hsub", TEAMS_FLOAT },
        { "dp", TEAMS_FLOAT },          { "round", TEAMS_FLOAT },    { "max", TEAMS_EXTREME },
        { "min", TEAMS_EXTREME },       { "pmax", TEAMS_EXTREME },   { "pmin", TEAMS_EXTREME },
        { "comis", TEAMS_COMPARE },     { "ucomis", TEAMS_COMPARE }, { "padd", TEAMS_VECTOR_ADD },
        { "psub", TEAMS_VECTOR_ADD },   { "fadd", TEAMS_FLOAT },     { "fsub", TEAMS_FLOAT },
        { "fmul", TEAMS_FLOAT },        { "fdiv", TEAMS_FLOAT },     { "fiadd", TEAMS_FLOAT },
    };
    if (name[0] == 'v')
        name++;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (begins(name, table[i].begin))
            return table[i].op;
    return TEAMS_OTHER;
}

#define IS(name, op) [X86_INS_##name] = TEAMS_##op + 1

/* What its name does not tell, or tells wrongly. */
static const uint8_t exact[X86_INS_ENDING] = {
    IS(NOP, NOTHING),         IS(ENDBR64, NOTHING),     IS(VZEROUPPER, NOTHING),  IS(MFENCE, NOTHING),
    IS(LFENCE, NOTHING),      IS(SFENCE, NOTHING),      IS(PREFETCHT0, NOTHING),  IS(PREFETCHT1, NOTHING),
    IS(PREFETCHT2, NOTHING),  IS(PREFETCHW, NOTHING),   IS(PREFETCHNTA, NOTHING), IS(LEA, ADDRESS),
    IS(ADD, ADD),             IS(INC, ADD),             IS(ADC, ADD),             IS(SUB, SUB),
    IS(DEC, SUB),             IS(SBB, SUB),             IS(SHL, SHIFT),           IS(SAL, SHIFT),
    IS(IMUL, MUL),            IS(IDIV, DIVIDE),         IS(DIV, DIVIDE),
    IS(AND, BITS),            IS(OR, BITS),             IS(PAND, BITS),           IS(POR, BITS),
    IS(VPAND, BITS),          IS(VPOR, BITS),           IS(CMP, COMPARE),         IS(TEST, TEST),
    IS(RET, RETURN),          IS(UD2, TRAP),            IS(HLT, TRAP),            IS(INT3, TRAP),
    IS(PAUSE, PAUSE),         IS(SYSCALL, SYSTEM),      IS(SYSENTER, SYSTEM),     IS(INT, SYSTEM),
    IS(RDTSC, SYSTEM),        IS(RDTSCP, SYSTEM),       IS(XBEGIN, SYSTEM),       IS(CPUID, SYSTEM),
    IS(RDFSBASE, SYSTEM),     IS(RDGSBASE, SYSTEM),     IS(IRET, SYSTEM),         IS(IRETQ, SYSTEM),
    IS(LDMXCSR, SYSTEM),      IS(VLDMXCSR, SYSTEM),     IS(MOVSB, OTHER),         IS(MOVSW, OTHER),
    IS(MOVSQ, OTHER),         IS(MUL, OTHER), /* MXCSR: rounding belongs to a thread */
    IS(PUSHF, SYSTEM),        IS(PUSHFQ, SYSTEM),       IS(POPF, SYSTEM),         IS(POPFQ, SYSTEM),
    IS(LAHF, SYSTEM),         IS(SAHF, SYSTEM),         IS(ENTER, SYSTEM),        IS(RDRAND, SYSTEM),
    IS(RDSEED, SYSTEM),       IS(XGETBV, SYSTEM),       IS(MASKMOVDQU, SYSTEM),   IS(MASKMOVQ, SYSTEM),
    IS(VMASKMOVDQU, SYSTEM),
};

static enum teams_op op_of(const cs_insn *i)
{
    if (i->id < X86_INS_ENDING && exact[i->id]) /* a newer capstone may know more */
        return (enum teams_op)(exact[i->id] - 1);
    return is_branch(i->id) ? TEAMS_BRANCH : by_name(i->mnemonic + (begins(i->mnemonic, "lock ") ? 5 : 0));
}

static bool zeroes(const cs_insn *i, const cs_x86 *x)
{
    static const char *const names[] = { "xor",    "pxor",   "xorps", "xorpd",  "vpxor",
                                         "vxorps", "vxorpd", "sub",   "vpxord", "vpxorq" };
    int n = x->op_count;
    if (n < 2 || x->operands[n - 1].type != X86_OP_REG || x->operands[n - 2].type != X86_OP_REG ||
        x->operands[n - 1].reg != x->operands[n - 2].reg)
        return false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(i->mnemonic, names[k]) == 0)
            return true;
    return false;
}

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

/* Instructions of the x87: capstone does not name what they do to its stack. */
static bool is_old_floating(const cs_insn *i)
{
    return i->mnemonic[0] == 'f';
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

/* What is written without being an operand, as by cwd. */
static bool writes_a_part(const cs_regs regs, uint8_t count)
{
    for (int k = 0; k < count; k++)
        if (regs[k] == X86_REG_AX || regs[k] == X86_REG_AL || regs[k] == X86_REG_AH || regs[k] == X86_REG_DX)
            return true;
    return false;
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
    insn->partial |= writes_a_part(writes, write_count);
    collect_operands(&d->insn->detail->x86, insn);
    if (is_old_floating(d->insn)) {
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
        insn->if_equal = i->id == X86_INS_JE;
        insn->if_unequal = i->id == X86_INS_JNE;
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
    case TEAMS_SHIFT:
        return n == 2 && o[1].kind == TEAMS_IMMEDIATE;
    case TEAMS_MUL:
        return n >= 2;
    case TEAMS_DIVIDE:
        insn->dst = insn->a = in_register(0);
        insn->b = o[0];
        insn->second = 2;
        return n == 1 && x->operands[0].size >= 4;
    case TEAMS_COMPARE:
    case TEAMS_TEST:
        insn->dst = none;
        insn->a = o[0];
        insn->b = o[1];
        return n == 2;
    case TEAMS_SELECT:
    case TEAMS_SET:
        insn->reads_flags = true;
        insn->writes_flags = false;
        return true;
    case TEAMS_BITS:
        return n >= 2 && n <= 3;
    default:
        insn->writes_flags = false;
        return false;
    }
}

static bool is_high(const cs_x86_op *o)
{
    return o->type == X86_OP_REG && (o->reg == X86_REG_AH || o->reg == X86_REG_BH || o->reg == X86_REG_CH ||
                                     o->reg == X86_REG_DH);
}

/* Whether a register that is written keeps a part of what was in it. */
static bool is_partial(const cs_insn *i, const cs_x86 *x)
{
    static const char *const lanes[] = { "movlps", "movlpd", "movhps", "movhpd", "movhlps", "movlhps", "cvtsi2s",
                                         "cvtss2sd", "cvtsd2ss", "sqrts", "rounds", "rcpss", "rsqrtss" };
    const cs_x86_op *o = x->operands;
    if (x->op_count == 0 || o->type != X86_OP_REG)
        return false;
    if (location(o->reg) < FLOATING)
        return o->size < 4;
    bool scalar = strcmp(i->mnemonic, "movss") == 0 || strcmp(i->mnemonic, "movsd") == 0;
    if (scalar)
        return x->op_count == 2 && o[1].type == X86_OP_REG;
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++)
        if (begins(i->mnemonic, lanes[k]))
            return true;
    return false;
}

/* Whether it looks at flags, that of the direction of strings aside. */
static bool tests_flags(const cs_insn *i, const cs_x86 *x)
{
    bool carry = i->id == X86_INS_ADC || i->id == X86_INS_SBB || i->id == X86_INS_RCL || i->id == X86_INS_RCR;
    return carry || (!is_old_floating(i) && (x->eflags & (X86_EFLAGS_TEST_OF | X86_EFLAGS_TEST_SF | X86_EFLAGS_TEST_ZF |
                                                X86_EFLAGS_TEST_PF | X86_EFLAGS_TEST_CF | X86_EFLAGS_TEST_AF)));
}

/* Whether it leaves some flags as they were; shifts by 0 do, and by a register may be such. */
static bool keeps_flags(const cs_insn *i, const cs_x86 *x)
{
    static const uint64_t written[] = {
        X86_EFLAGS_MODIFY_CF | X86_EFLAGS_RESET_CF | X86_EFLAGS_SET_CF | X86_EFLAGS_UNDEFINED_CF,
        X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_RESET_ZF | X86_EFLAGS_SET_ZF | X86_EFLAGS_UNDEFINED_ZF,
        X86_EFLAGS_MODIFY_SF | X86_EFLAGS_RESET_SF | X86_EFLAGS_SET_SF | X86_EFLAGS_UNDEFINED_SF,
        X86_EFLAGS_MODIFY_OF | X86_EFLAGS_RESET_OF | X86_EFLAGS_SET_OF | X86_EFLAGS_UNDEFINED_OF,
    };
    static const unsigned shifts[] = { X86_INS_SHL, X86_INS_SAL, X86_INS_SHR, X86_INS_SAR, X86_INS_SHLD, X86_INS_SHRD };
    const cs_x86_op *count = &x->operands[x->op_count ? x->op_count - 1 : 0];
    bool some = count->type == X86_OP_IMM && (count->imm & (x->operands[0].size > 4 ? 63 : 31)) != 0;
    for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++)
        if (i->id == shifts[k] && x->op_count > 1 && !some)
            return true;
    for (size_t k = 0; k < sizeof written / sizeof *written; k++)
        if (!(x->eflags & written[k]))
            return true;
    return false;
}

/* Of which two an instruction takes what; of a choice, after a comparison of its operands in their order. */
static enum teams_extreme extreme_of(const cs_insn *i, const struct teams_insn *insn)
{
    static const struct {
        const char *name;
        enum teams_extreme takes;
    } table[] = {
        { "or", TEAMS_EITHER_BIT },       { "and", TEAMS_BOTH_BITS },         { "por", TEAMS_EITHER_BIT },
        { "pand", TEAMS_BOTH_BITS },      { "cmovle", TEAMS_MOST_SIGNED },    { "cmovl", TEAMS_MOST_SIGNED },
        { "cmovge", TEAMS_LEAST_SIGNED }, { "cmovg", TEAMS_LEAST_SIGNED },    { "cmovbe", TEAMS_MOST_UNSIGNED },
        { "cmovb", TEAMS_MOST_UNSIGNED }, { "cmovae", TEAMS_LEAST_UNSIGNED }, { "cmova", TEAMS_LEAST_UNSIGNED },
        { "maxsd", TEAMS_MOST_FLOAT },    { "minsd", TEAMS_LEAST_FLOAT },     { "maxpd", TEAMS_MOST_FLOAT },
        { "minpd", TEAMS_LEAST_FLOAT },
    };
    const char *name = i->mnemonic + (begins(i->mnemonic, "lock ") ? 5 : i->mnemonic[0] == 'v');
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (strcmp(name, table[k].name) == 0)
            return table[k].takes + (insn->op == TEAMS_SELECT && insn->half ? TEAMS_OF_HALF : 0);
    return TEAMS_NO_EXTREME;
}

static void masks_of(struct teams_decoder *d, const cs_insn *i, const cs_x86 *x, struct teams_insn *insn)
{
    enum teams_op op = insn->op;
    if (i->id == X86_INS_CDQE) { /* gcc 14 widens a loop's bounds so; the older movsxd */
        insn->op = TEAMS_MOVE;
        insn->dst = insn->a = in_register(0);
    } else if (zeroes(i, x)) {
        insn->op = TEAMS_MOVE;
        insn->dst = operand(&x->operands[0]);
        insn->a = immediate(0);
        insn->writes_flags = true;
    } else if (!arithmetic(x, insn)) {
        other(d, insn);
        /* the operation of vectors and floating point is known, their sources are the mask's */
        insn->op = (uint8_t)(op == TEAMS_FLOAT || op == TEAMS_EXTREME || op == TEAMS_VECTOR_ADD ? op : TEAMS_OTHER);
    }
    insn->partial |= is_partial(i, x);
    insn->half = x->op_count && x->operands[0].size == 4;
    insn->widens = i->id == X86_INS_CDQE || i->id == X86_INS_MOVSXD;
    bool vectors = x->op_count && x->operands[0].type == X86_OP_REG && location(x->operands[0].reg) >= FLOATING;
    if (vectors && insn->op < TEAMS_FLOAT)
        insn->writes_flags = false;
    insn->keeps_flags = insn->writes_flags && keeps_flags(i, x);
    for (int k = 0; k < x->op_count; k++)
        if (x->operands[k].type != X86_OP_IMM && x->operands[k].size < 4)
            insn->narrow |= x->operands[k].size > 1 || is_high(&x->operands[k]) ? 2 : 1;
    insn->reads_flags |= tests_flags(i, x);
    if (!insn->narrow && (op == TEAMS_BITS || op == TEAMS_SELECT || op == TEAMS_EXTREME))
        insn->extreme = (uint8_t)extreme_of(i, insn);
}

/* Whether what is first an operand in memory is only read: capstone does not know all that are written. */
static bool only_reads(const cs_insn *i)
{
    static const char *const names[] = { "call",  "cmp",  "div",  "fadd",   "fcom", "fdiv", "fiadd", "ficom",
                                         "fidiv", "fild",  "fimul", "fisub", "fld",   "fmul", "frstor", "fsub", "idiv",
                                         "imul",  "jmp",   "lods", "mul",  "push",   "scas", "test" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (begins(i->mnemonic, names[k]))
            return !begins(i->mnemonic, "cmpxchg");
    return strcmp(i->mnemonic, "bt") == 0; /* bts and others write */
}

static void look_at_memory(const cs_x86 *x, const cs_insn *i, struct teams_insn *insn)
{
    bool seen = false;
    for (int k = 0; k < x->op_count; k++) {
        const cs_x86_op *o = &x->operands[k];
        if (o->type != X86_OP_MEM)
            continue;
        set_place(insn, o, seen);
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
        insn->stores |= !only_reads(i);
    insn->swaps = i->id == X86_INS_CMPXCHG || i->id == X86_INS_CMPXCHG8B || i->id == X86_INS_CMPXCHG16B;
    insn->atomic = insn->swaps || x->prefix[0] == X86_PREFIX_LOCK || i->id == X86_INS_XCHG;
    insn->stores |= insn->atomic;
    insn->loads |= insn->atomic;
    insn->repeats = x->prefix[0] == X86_PREFIX_REP || x->prefix[0] == X86_PREFIX_REPNE;
}

/* Jumps, calls and returns that `control` does not know: loop, jrcxz, far ones. */
static bool goes_elsewhere(const cs_insn *i)
{
    for (int k = 0; k < i->detail->groups_count; k++)
        if (i->detail->groups[k] >= CS_GRP_JUMP && i->detail->groups[k] <= CS_GRP_BRANCH_RELATIVE)
            return true;
    return false;
}

/* For the next one that is alike. */
static void keep(struct teams_decoder *d, const uint8_t *code, const cs_x86 *x, const struct teams_insn *insn)
{
    unsigned end = x->encoding.imm_offset ? x->encoding.imm_offset : insn->length;
    unsigned displacement = x->encoding.disp_offset ? end - x->encoding.disp_offset : 0;
    teams_templates_keep(d->templates, code, displacement, insn->length - end, insn);
}

/* Reads what is new; true: all of it is known. */
static bool ask_capstone(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address,
                         struct teams_insn *insn)
{
    const cs_insn *i = d->insn;
    if (!teams_disassemble(d, code, size, address))
        return false;
    const cs_x86 *x = &i->detail->x86;
    *insn = (struct teams_insn){ .address = address, .length = (uint8_t)i->size, .second = TEAMS_NO_REGISTER };
    insn->place.base = insn->place.index = TEAMS_NO_REGISTER;
    insn->op = (uint8_t)op_of(i);
    look_at_memory(x, i, insn);
    bool known = true;
    if (insn->op == TEAMS_NOTHING) {
        insn->loads = insn->stores = false;
    } else if (control(i, x, insn)) {
        known = i->id != X86_INS_JRCXZ && i->id != X86_INS_JECXZ;
    } else {
        masks_of(d, i, x, insn);
        known = !goes_elsewhere(i);
    }
    if (known && size >= sizeof i->bytes)
        keep(d, code, x, insn);
    return known;
}

static bool decode(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address,
                   struct teams_insn *insn)
{
    uint8_t common[TEAMS_LONGEST_INSN];
    struct teams_names names;
    bool renamed = size >= sizeof common && teams_rename_away(code, common, &names);
    code = renamed ? common : code;
    bool known = teams_templates_find(d->templates, code, size, address, insn) ||
                 ask_capstone(d, code, renamed ? sizeof common : size, address, insn);
    if (known && renamed)
        teams_rename_back(insn, &names);
    return known;
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
        .first_on_stack = 8, /* behind the return address */
        /* all but rbx, rsp, rbp, r12 to r15 */
        .clobbered = ~(1ull << 3 | 1ull << 4 | 1ull << 5 | 15ull << 12),
    },
    .decode = decode,
};
