/* SPDX-License-Identifier: MIT */
/* x86-64, by capstone but for AVX-512. Its operands in order: Intel's, the first one is written. */
#include <capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <string.h>

#include "code/x86.h"

/*
 * Capstone is loaded where code will be read: linked, its relocations would cost each program that is recorded a
 * millisecond or two when it starts.
 */
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
static struct {
    cs_err (*open)(cs_arch, cs_mode, csh *);
    cs_err (*option)(csh, cs_opt_type, size_t);
    cs_insn *(*make)(csh);
    bool (*disasm)(csh, const uint8_t **, size_t *, uint64_t *, cs_insn *);
    cs_err (*access)(csh, const cs_insn *, cs_regs, uint8_t *, cs_regs, uint8_t *);
} capstone;
static csh handle;
static cs_insn *last; /* instruction, with details; NULL: nothing reads any */

static void load_capstone(void)
{
    static const char *const names[] = { "cs_open", "cs_option", "cs_malloc", "cs_disasm_iter", "cs_regs_access" };
    void *library = dlopen("libcapstone.so." TEXT(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
    void **to = (void **)(void *)&capstone;
    bool all = library != NULL;
    for (size_t i = 0; all && i < sizeof names / sizeof *names; i++)
        all = (to[i] = dlsym(library, names[i])) != NULL;
    if (!all || capstone.open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
        return;
    capstone.option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    last = capstone.make(handle);
}

static bool prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_capstone);
    return last != NULL;
}

/* --- What its numbers and names mean, where it does not say so itself --- */

static bool begins(const char *name, const char *with)
{
    while (*with && *name == *with)
        name++, with++;
    return !*with;
}

static enum code_op by_name(const char *name)
{
    static const struct {
        const char *begin;
        enum code_op op;
    } table[] = {
        { "cmov", CODE_SELECT },       { "set", CODE_OTHER },        { "movbe", CODE_OTHER },
        { "movmsk", CODE_OTHER },      { "movsh", CODE_OTHER },    { "movsl", CODE_OTHER },
        { "movdd", CODE_OTHER },       { "movh", CODE_OTHER },     { "movl", CODE_OTHER },
        { "mov", CODE_MOVE },
        { "comis", CODE_COMPARE },     { "ucomis", CODE_COMPARE },
        { "fnst", CODE_SYSTEM },       { "fldc", CODE_SYSTEM },    { "flde", CODE_SYSTEM },
        { "fnsa", CODE_SYSTEM },       { "frst", CODE_SYSTEM },    { "fnin", CODE_SYSTEM },
        { "fncl", CODE_SYSTEM },       { "fxsave", CODE_SYSTEM },  { "fxrstor", CODE_SYSTEM },
        { "xsave", CODE_SYSTEM },      { "xrstor", CODE_SYSTEM },  { "rdp", CODE_SYSTEM },
        { "rdssp", CODE_SYSTEM },      { "wr", CODE_SYSTEM },      { "lsl", CODE_SYSTEM },
        { "sgdt", CODE_SYSTEM },       { "sidt", CODE_SYSTEM },    { "sldt", CODE_SYSTEM },
        { "str", CODE_SYSTEM },        { "umwait", CODE_SYSTEM },  { "tpause", CODE_SYSTEM },
        { "mwait", CODE_SYSTEM },      { "monitor", CODE_SYSTEM },
    };
    if (name[0] == 'v')
        name++;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (begins(name, table[i].begin))
            return table[i].op;
    return CODE_OTHER;
}

#define IS(name, op) [X86_INS_##name] = CODE_##op + 1

/* What its name does not tell, or tells wrongly. */
static const uint8_t exact[X86_INS_ENDING] = {
    IS(NOP, NOTHING),         IS(ENDBR64, NOTHING),     IS(VZEROUPPER, NOTHING),  IS(MFENCE, NOTHING),
    IS(LFENCE, NOTHING),      IS(SFENCE, NOTHING),      IS(PREFETCHT0, NOTHING),  IS(PREFETCHT1, NOTHING),
    IS(PREFETCHT2, NOTHING),  IS(PREFETCHW, NOTHING),   IS(PREFETCHNTA, NOTHING), IS(LEA, ADDRESS),
    IS(ADD, ADD),             IS(INC, ADD),             IS(ADC, ADD),             IS(SUB, SUB),
    IS(DEC, SUB),             IS(SBB, SUB),             IS(IMUL, SCALE),
    IS(SHL, SCALE),           IS(SAL, SCALE),
    IS(SHR, HALVE),           IS(SAR, HALVE),
    IS(AND, BITS),            IS(OR, BITS),             IS(PAND, BITS),           IS(POR, BITS),
    IS(VPAND, BITS),          IS(VPOR, BITS),           IS(CMP, COMPARE),         IS(TEST, TEST),
    IS(RET, RETURN),          IS(UD2, TRAP),            IS(HLT, TRAP),            IS(INT3, TRAP),
    IS(PAUSE, PAUSE),         IS(SYSCALL, SYSTEM),      IS(SYSENTER, SYSTEM),     IS(INT, SYSTEM),
    IS(RDTSC, OTHER),         IS(RDTSCP, OTHER),        IS(XBEGIN, SYSTEM),       IS(CPUID, SYSTEM),
    IS(RDFSBASE, SYSTEM),     IS(RDGSBASE, SYSTEM),     IS(IRET, SYSTEM),         IS(IRETQ, SYSTEM),
    IS(LDMXCSR, SYSTEM),      IS(VLDMXCSR, SYSTEM),     IS(STMXCSR, SYSTEM),      IS(VSTMXCSR, SYSTEM),
    IS(MOVSB, OTHER),         IS(MOVSW, OTHER),
    IS(MOVSQ, OTHER),         IS(MUL, OTHER), /* MXCSR: rounding belongs to a thread */
    IS(PUSHF, SYSTEM),        IS(PUSHFQ, SYSTEM),       IS(POPF, SYSTEM),         IS(POPFQ, SYSTEM),
    IS(LAHF, SYSTEM),         IS(SAHF, SYSTEM),         IS(ENTER, SYSTEM),        IS(RDRAND, SYSTEM),
    IS(RDSEED, SYSTEM),       IS(XGETBV, SYSTEM),       IS(MASKMOVDQU, SYSTEM),   IS(MASKMOVQ, SYSTEM),
    IS(VMASKMOVDQU, SYSTEM),
};

static enum code_op op_of(const cs_insn *i)
{
    if (i->id < X86_INS_ENDING && exact[i->id]) /* a newer capstone may know more */
        return (enum code_op)(exact[i->id] - 1);
    return by_name(i->mnemonic + (begins(i->mnemonic, "lock ") ? 5 : 0));
}

static bool zeroes(const cs_insn *i, const cs_x86 *x)
{
    static const char *const names[] = { "xor", "pxor", "xorps", "xorpd", "vpxor", "vxorps", "vxorpd", "sub" };
    int n = x->op_count;
    if (n < 2 || x->operands[n - 1].type != X86_OP_REG || x->operands[n - 2].type != X86_OP_REG ||
        x->operands[n - 1].reg != x->operands[n - 2].reg)
        return false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(i->mnemonic, names[k]) == 0)
            return true;
    return false;
}

static bool is_scalar(const cs_insn *i)
{
    size_t length = strlen(i->mnemonic);
    const char *end = i->mnemonic + length - (length > 2 ? 2 : 0);
    return strcmp(end, "sd") == 0 || strcmp(end, "ss") == 0;
}

/* Instructions of the x87: capstone does not name what they do to its stack. */
static bool is_old_floating(const cs_insn *i)
{
    return i->mnemonic[0] == 'f';
}

/* Whether it looks at flags, that of the direction of strings aside. */
static bool tests_flags(const cs_insn *i, const cs_x86 *x)
{
    bool carry = i->id == X86_INS_ADC || i->id == X86_INS_SBB || i->id == X86_INS_RCL || i->id == X86_INS_RCR;
    bool tests = x->eflags & (X86_EFLAGS_TEST_OF | X86_EFLAGS_TEST_SF | X86_EFLAGS_TEST_ZF | X86_EFLAGS_TEST_PF |
                              X86_EFLAGS_TEST_CF | X86_EFLAGS_TEST_AF);
    return carry || (!is_old_floating(i) && tests);
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

/* Branches by rcx, not by flags. */
static bool looks_at_rcx(const cs_insn *i)
{
    return i->id == X86_INS_JRCXZ || i->id == X86_INS_JECXZ || i->id == X86_INS_LOOP || i->id == X86_INS_LOOPE ||
           i->id == X86_INS_LOOPNE;
}

/* Far jumps, calls and returns, which `control` does not know; and what programs may not do. */
static bool goes_elsewhere(const cs_insn *i)
{
    if (i->id == X86_INS_RDTSC || i->id == X86_INS_RDTSCP) /* they may */
        return false;
    for (int k = 0; k < i->detail->groups_count; k++)
        if (i->detail->groups[k] >= CS_GRP_JUMP && i->detail->groups[k] <= CS_GRP_BRANCH_RELATIVE)
            return true;
    return false;
}

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
        return (uint8_t)(CODE_GENERAL + reg - X86_REG_XMM0);
    if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31)
        return (uint8_t)(CODE_GENERAL + reg - X86_REG_YMM0);
    if ((reg >= X86_REG_ST0 && reg <= X86_REG_ST7) || (reg >= X86_REG_MM0 && reg <= X86_REG_MM7) || reg == X86_REG_FPSW)
        return CODE_X86_FLOATING;
    if (reg >= X86_REG_K0 && reg <= X86_REG_K7)
        return (uint8_t)(CODE_X86_MASKS + reg - X86_REG_K0);
    if (reg == X86_REG_EFLAGS)
        return CODE_FLAGS;
    return reg < X86_REG_ENDING && general[reg] ? (uint8_t)(general[reg] - 1) : CODE_NO_REGISTER;
}

/* --- Operands --- */

static struct code_place code_x86_place_of(const struct code_insn *insn, const cs_x86_op *o)
{
    struct code_place p = { CODE_NO_REGISTER, CODE_NO_REGISTER, (uint8_t)o->mem.scale, o->size, false, false,
                             o->mem.disp };
    p.thread = o->mem.segment == X86_REG_FS || o->mem.segment == X86_REG_GS;
    if (o->mem.base == X86_REG_RIP) {
        p.fixed = true;
        p.offset += (int64_t)(insn->address + insn->length);
        return p;
    }
    p.fixed = o->mem.base == X86_REG_INVALID && o->mem.index == X86_REG_INVALID;
    p.base = location(o->mem.base);
    p.index = location(o->mem.index); /* of a gather a vector */
    return p;
}

/* Of two places the one that is written counts; what is a thread's is that in any case. */
static void set_place(struct code_insn *insn, const cs_x86_op *o, bool second)
{
    bool thread = insn->place.thread;
    if (!second || (o->access & CS_AC_WRITE))
        insn->place = code_x86_place_of(insn, o);
    insn->copies = second;
    insn->place.thread |= thread || code_x86_place_of(insn, o).thread;
}

static struct code_operand operand(const cs_x86_op *o)
{
    switch (o->type) {
    case X86_OP_REG:
        return (struct code_operand){ CODE_REGISTER, location(o->reg), 0 };
    case X86_OP_IMM:
        return (struct code_operand){ CODE_IMMEDIATE, 0, o->imm };
    case X86_OP_MEM:
        return (struct code_operand){ CODE_MEMORY, 0, 0 };
    default:
        return (struct code_operand){ CODE_NONE, 0, 0 };
    }
}

static const struct code_operand none = { CODE_NONE, 0, 0 }, memory = { CODE_MEMORY, 0, 0 };

static struct code_operand immediate(int64_t value)
{
    return (struct code_operand){ CODE_IMMEDIATE, 0, value };
}

static struct code_operand in_register(uint8_t number)
{
    return (struct code_operand){ CODE_REGISTER, number, 0 };
}

/* --- Registers that are read and written --- */

static uint64_t mask_of(const cs_regs regs, uint8_t count, bool *flags)
{
    uint64_t mask = 0;
    for (int i = 0; i < count; i++) {
        uint8_t at = location(regs[i]);
        *flags |= at == CODE_FLAGS;
        mask |= at < CODE_FLAGS ? 1ull << at : 0;
    }
    return mask;
}

/* Capstone does not know the access to all registers. */
static void collect_operands(const cs_x86 *x, struct code_insn *insn)
{
    for (int k = 0; k < x->op_count; k++) {
        const cs_x86_op *o = &x->operands[k];
        uint64_t at = o->type == X86_OP_REG ? code_bit(location(o->reg)) : 0;
        insn->reads |= o->access == 0 ? at : 0;
        insn->writes |= o->access == 0 && k == 0 ? at : 0;
    }
}

static void collect_masks(struct code_insn *insn)
{
    cs_regs reads, writes;
    uint8_t read_count = 0, write_count = 0;
    if (capstone.access(handle, last, reads, &read_count, writes, &write_count)) {
        insn->reads = insn->writes = UINT64_MAX;
        insn->reads_flags = insn->writes_flags = true;
        return;
    }
    bool reads_flags = insn->reads_flags, writes_flags = insn->writes_flags;
    insn->reads |= mask_of(reads, read_count, &reads_flags);
    insn->writes |= mask_of(writes, write_count, &writes_flags);
    insn->reads_flags = reads_flags;
    insn->writes_flags = writes_flags;
    collect_operands(&last->detail->x86, insn);
    if (is_old_floating(last)) {
        insn->reads |= 1ull << CODE_X86_FLOATING;
        insn->writes |= 1ull << CODE_X86_FLOATING;
        insn->writes_flags |= strstr(last->mnemonic, "comi") != NULL;
    }
    bool integer = !(insn->writes >> CODE_GENERAL) && !(insn->writes >> CODE_X86_FLOATING & 1);
    insn->writes_flags |= integer && last->detail->x86.eflags != 0; /* Capstone's lists do not name them always */
}

static void other(struct code_insn *insn)
{
    insn->op = CODE_OTHER;
    insn->dst = insn->a = insn->b = none;
    collect_masks(insn);
}

static void push_or_pop(const cs_x86_op *o, bool push, struct code_insn *insn)
{
    struct code_place top = { CODE_X86_STACK, CODE_NO_REGISTER, 1, 8, false, false, push ? -8 : 0 };
    insn->op = CODE_MOVE;
    insn->step = push ? -8 : 8;
    insn->dst = push ? memory : operand(o);
    insn->a = push ? operand(o) : memory;
    insn->copies = o->type == X86_OP_MEM;
    insn->stores = push || insn->copies;
    insn->loads = !insn->stores;
    if (push || !insn->copies) {
        top.thread = insn->place.thread;
        insn->place = top;
    } else if (insn->place.base == CODE_X86_STACK) { /* as it is moved already */
        insn->place.offset += 8;
    }
}

/* push, pop, and what leaves the function. Returns whether it was one. */
static bool control(const cs_insn *i, const cs_x86 *x, const struct code_step *lead, struct code_insn *insn)
{
    const cs_x86_op *o = x->operands;
    if (i->id == X86_INS_PUSH || i->id == X86_INS_POP) {
        push_or_pop(o, i->id == X86_INS_PUSH, insn);
        if (o->size == 2) /* moves the stack pointer by no more */
            insn->op = CODE_SYSTEM;
        return true;
    }
    if (lead->op >= CODE_CALL && lead->op <= CODE_BRANCH) {
        insn->op = lead->op;
        insn->target = lead->target;
        insn->reads_flags = lead->op == CODE_BRANCH;
        if (lead->op == CODE_CALL_ANY || lead->op == CODE_JUMP_ANY)
            insn->a = operand(o);
        return true;
    }
    return insn->op == CODE_RETURN || insn->op == CODE_TRAP || insn->op == CODE_NOTHING || insn->op == CODE_PAUSE ||
           insn->op == CODE_SYSTEM;
}

/* dst and sources of what has one, two or three operands; false: that is no such instruction. */
static bool arithmetic(const cs_x86 *x, struct code_insn *insn)
{
    int n = x->op_count;
    struct code_operand o[3] = { none, none, none };
    for (int k = 0; k < n && k < 3; k++)
        o[k] = operand(&x->operands[k]);
    insn->dst = o[0];
    insn->a = n == 3 ? o[1] : o[0];
    insn->b = n == 3 ? o[2] : n == 2 ? o[1] : none;
    insn->writes_flags = true;
    switch (insn->op) {
    case CODE_MOVE:
        insn->a = o[1];
        insn->b = none;
        insn->writes_flags = false;
        if (n == 2 && o[1].kind == CODE_REGISTER && x->operands[1].size < 4) { /* a part, and the rest is 0 or stays */
            insn->op = CODE_BITS;
            insn->b = immediate(UINT8_MAX);
        }
        return n == 2 && (o[0].kind != CODE_MEMORY || o[1].kind != CODE_MEMORY);
    case CODE_ADDRESS:
        insn->a = insn->b = none;
        insn->writes_flags = false;
        return n == 2;
    case CODE_ADD:
    case CODE_SUB:
        if (n == 1) /* inc, dec */
            insn->b = immediate(1);
        return n <= 2;
    case CODE_COMPARE:
    case CODE_TEST:
        insn->dst = none;
        insn->a = o[0];
        insn->b = o[1];
        return n == 2;
    case CODE_SELECT:
        insn->reads_flags = true;
        insn->writes_flags = false;
        return true;
    case CODE_SCALE:
        if (x->operands[0].size < 4 || n == 1)
            break;
        return n <= 3;
    case CODE_HALVE:
        if (x->operands[0].size < 4 || (n == 2 && o[1].kind != CODE_IMMEDIATE) || (n == 2 && o[1].value != 1))
            break;
        return n <= 2;
    case CODE_BITS:
        return n >= 2 && n <= 3;
    default:
        break;
    }
    insn->writes_flags = false;
    return false;
}

static void masks_of(const cs_insn *i, const cs_x86 *x, struct code_insn *insn)
{
    if (i->id == X86_INS_CDQE) { /* gcc 14 widens a loop's bounds so; the older movsxd */
        insn->op = CODE_MOVE;
        insn->dst = insn->a = in_register(0);
    } else if (zeroes(i, x)) {
        insn->op = CODE_MOVE;
        insn->dst = operand(&x->operands[0]);
        insn->a = immediate(0);
        insn->writes_flags = true;
    } else if (!arithmetic(x, insn)) {
        other(insn);
    }
    bool vectors = x->op_count && x->operands[0].type == X86_OP_REG &&
                   location(x->operands[0].reg) >= CODE_X86_FLOATING;
    if (vectors && insn->op < CODE_OTHER && insn->dst.kind != CODE_NONE)
        insn->writes_flags = false;
    insn->reads_flags |= tests_flags(i, x);
    bool small = x->op_count && x->operands[0].type == X86_OP_REG && x->operands[0].size < 4;
    insn->partial = small && (insn->op == CODE_MOVE || insn->op == CODE_BITS || insn->op == CODE_OTHER);
}

static void look_at_memory(const cs_x86 *x, const cs_insn *i, struct code_insn *insn)
{
    bool seen = false;
    for (int k = 0; k < x->op_count; k++) {
        const cs_x86_op *o = &x->operands[k];
        if (o->type != X86_OP_MEM)
            continue;
        set_place(insn, o, seen);
        if (!seen && is_scalar(i)) /* comisd has 16 bytes for capstone */
            insn->place.size = o->size < 8 ? o->size : 8;
        seen = true;
        if (i->id == X86_INS_LEA || insn->op == CODE_NOTHING)
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
    else if (x->operands[0].type != X86_OP_MEM && insn->op != CODE_OTHER)
        insn->stores = false, insn->loads = i->id != X86_INS_LEA;
    else if (x->operands[0].type == X86_OP_MEM && insn->op != CODE_NOTHING)
        insn->stores |= !only_reads(i);
    insn->swaps = i->id == X86_INS_CMPXCHG || i->id == X86_INS_CMPXCHG8B || i->id == X86_INS_CMPXCHG16B;
    insn->atomic = insn->swaps || x->prefix[0] == X86_PREFIX_LOCK || i->id == X86_INS_XCHG;
    insn->stores |= insn->atomic;
    insn->loads |= insn->atomic;
    insn->repeats = x->prefix[0] == X86_PREFIX_REP || x->prefix[0] == X86_PREFIX_REPNE;
}

/* Of segments, and of short addresses. */
static size_t prefixes(const uint8_t *code, size_t left)
{
    static const uint8_t known[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x67 };
    size_t n = 0;
    while (n < left && memchr(known, code[n], sizeof known))
        n++;
    return n;
}

static bool code_x86_read(uintptr_t begin, uintptr_t end, uintptr_t address, struct code_insn *insn)
{
    const cs_insn *i = last;
    const uint8_t *code = (const uint8_t *)address;
    size_t left = end - address;
    uint64_t at = address;
    (void)begin;
    size_t before = prefixes(code, left);
    if (before < left && code[before] == CODE_X86_EVEX)
        return before == 0 && code_evex_read(code, left, address, insn);
    if (!capstone.disasm(handle, &code, &left, &at, last) || !last->detail)
        return false;
    const cs_x86 *x = &i->detail->x86;
    *insn = (struct code_insn){ .address = address, .length = (uint8_t)i->size };
    insn->place.base = insn->place.index = CODE_NO_REGISTER;
    insn->op = (uint8_t)op_of(i);
    look_at_memory(x, i, insn);
    if (insn->op == CODE_NOTHING) {
        insn->loads = insn->stores = false;
        return true;
    }
    struct code_step lead = code_step_at(EM_X86_64, (const uint8_t *)address, i->size, address);
    if (control(i, x, &lead, insn))
        return insn->op != CODE_BRANCH || !looks_at_rcx(i);
    masks_of(i, x, insn);
    insn->tells = i->id == X86_INS_RDTSCP; /* in ecx */
    return !goes_elsewhere(i);
}

const struct code_machine code_x86 = {
    .elf = EM_X86_64,
    .convention = {
        .stack = CODE_X86_STACK,
        .result = 0,
        .argument = 7,
        /* all but rbx, rsp, rbp, r12 to r15 */
        .clobbered = ~(1ull << 3 | 1ull << 4 | 1ull << 5 | 15ull << 12),
    },
    .prepare = prepare,
    .decode = code_x86_read,
};
