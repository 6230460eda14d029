/* SPDX-License-Identifier: MIT */
/*
 * What capstone's numbers and names of x86-64's instructions mean, where it does not say so itself: an exact number
 * first, then what a name begins with.
 */
#include <string.h>

#include "teams/code_x86.h"

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
        { "cmov", TEAMS_SELECT },       { "set", TEAMS_OTHER },        { "movbe", TEAMS_OTHER },
        { "movmsk", TEAMS_OTHER },      { "movsh", TEAMS_OTHER },    { "movsl", TEAMS_OTHER },
        { "movdd", TEAMS_OTHER },       { "movh", TEAMS_OTHER },     { "movl", TEAMS_OTHER },
        { "mov", TEAMS_MOVE },
        { "comis", TEAMS_COMPARE },     { "ucomis", TEAMS_COMPARE },
        { "fnst", TEAMS_SYSTEM },       { "fldc", TEAMS_SYSTEM },    { "flde", TEAMS_SYSTEM },
        { "fnsa", TEAMS_SYSTEM },       { "frst", TEAMS_SYSTEM },    { "fnin", TEAMS_SYSTEM },
        { "fncl", TEAMS_SYSTEM },       { "fxsave", TEAMS_SYSTEM },  { "fxrstor", TEAMS_SYSTEM },
        { "xsave", TEAMS_SYSTEM },      { "xrstor", TEAMS_SYSTEM },  { "rdp", TEAMS_SYSTEM },
        { "rdssp", TEAMS_SYSTEM },      { "wr", TEAMS_SYSTEM },      { "lsl", TEAMS_SYSTEM },
        { "sgdt", TEAMS_SYSTEM },       { "sidt", TEAMS_SYSTEM },    { "sldt", TEAMS_SYSTEM },
        { "str", TEAMS_SYSTEM },        { "umwait", TEAMS_SYSTEM },  { "tpause", TEAMS_SYSTEM },
        { "mwait", TEAMS_SYSTEM },      { "monitor", TEAMS_SYSTEM },
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
    IS(DEC, SUB),             IS(SBB, SUB),             IS(IMUL, SCALE),
    IS(SHL, SCALE),           IS(SAL, SCALE),
    IS(SHR, HALVE),           IS(SAR, HALVE),
    IS(AND, BITS),            IS(OR, BITS),             IS(PAND, BITS),           IS(POR, BITS),
    IS(VPAND, BITS),          IS(VPOR, BITS),           IS(CMP, COMPARE),         IS(TEST, TEST),
    IS(RET, RETURN),          IS(UD2, TRAP),            IS(HLT, TRAP),            IS(INT3, TRAP),
    IS(PAUSE, PAUSE),         IS(SYSCALL, SYSTEM),      IS(SYSENTER, SYSTEM),     IS(INT, SYSTEM),
    IS(RDTSC, SYSTEM),        IS(RDTSCP, SYSTEM),       IS(XBEGIN, SYSTEM),       IS(CPUID, SYSTEM),
    IS(RDFSBASE, SYSTEM),     IS(RDGSBASE, SYSTEM),     IS(IRET, SYSTEM),         IS(IRETQ, SYSTEM),
    IS(LDMXCSR, SYSTEM),      IS(VLDMXCSR, SYSTEM),     IS(STMXCSR, SYSTEM),      IS(VSTMXCSR, SYSTEM),
    IS(MOVSB, OTHER),         IS(MOVSW, OTHER),
    IS(MOVSQ, OTHER),         IS(MUL, OTHER), /* MXCSR: rounding belongs to a thread */
    IS(PUSHF, SYSTEM),        IS(PUSHFQ, SYSTEM),       IS(POPF, SYSTEM),         IS(POPFQ, SYSTEM),
    IS(LAHF, SYSTEM),         IS(SAHF, SYSTEM),         IS(ENTER, SYSTEM),        IS(RDRAND, SYSTEM),
    IS(RDSEED, SYSTEM),       IS(XGETBV, SYSTEM),       IS(MASKMOVDQU, SYSTEM),   IS(MASKMOVQ, SYSTEM),
    IS(VMASKMOVDQU, SYSTEM),
};

enum teams_op teams_x86_op(const cs_insn *i)
{
    if (i->id < X86_INS_ENDING && exact[i->id]) /* a newer capstone may know more */
        return (enum teams_op)(exact[i->id] - 1);
    return is_branch(i->id) ? TEAMS_BRANCH : by_name(i->mnemonic + (begins(i->mnemonic, "lock ") ? 5 : 0));
}

bool teams_x86_zeroes(const cs_insn *i, const cs_x86 *x)
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

bool teams_x86_is_scalar(const cs_insn *i)
{
    size_t length = strlen(i->mnemonic);
    const char *end = i->mnemonic + length - (length > 2 ? 2 : 0);
    return strcmp(end, "sd") == 0 || strcmp(end, "ss") == 0;
}

/* Instructions of the x87: capstone does not name what they do to its stack. */
bool teams_x86_is_old_floating(const cs_insn *i)
{
    return i->mnemonic[0] == 'f';
}

/* Whether it looks at flags, that of the direction of strings aside. */
bool teams_x86_tests_flags(const cs_insn *i, const cs_x86 *x)
{
    bool carry = i->id == X86_INS_ADC || i->id == X86_INS_SBB || i->id == X86_INS_RCL || i->id == X86_INS_RCR;
    bool tests = x->eflags & (X86_EFLAGS_TEST_OF | X86_EFLAGS_TEST_SF | X86_EFLAGS_TEST_ZF | X86_EFLAGS_TEST_PF |
                              X86_EFLAGS_TEST_CF | X86_EFLAGS_TEST_AF);
    return carry || (!teams_x86_is_old_floating(i) && tests);
}

/* Whether what is first an operand in memory is only read: capstone does not know all that are written. */
bool teams_x86_only_reads(const cs_insn *i)
{
    static const char *const names[] = { "call",  "cmp",  "div",  "fadd",   "fcom", "fdiv", "fiadd", "ficom",
                                         "fidiv", "fild",  "fimul", "fisub", "fld",   "fmul", "frstor", "fsub", "idiv",
                                         "imul",  "jmp",   "lods", "mul",  "push",   "scas", "test" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (begins(i->mnemonic, names[k]))
            return !begins(i->mnemonic, "cmpxchg");
    return strcmp(i->mnemonic, "bt") == 0; /* bts and others write */
}

/* Jumps, calls and returns that `control` does not know: loop, jrcxz, far ones. */
bool teams_x86_goes_elsewhere(const cs_insn *i)
{
    for (int k = 0; k < i->detail->groups_count; k++)
        if (i->detail->groups[k] >= CS_GRP_JUMP && i->detail->groups[k] <= CS_GRP_BRANCH_RELATIVE)
            return true;
    return false;
}
