/* SPDX-License-Identifier: MIT */
/*
 * aarch64. What one instruction does at once is told in steps (a product and a sum, a pair of loads, a base that moves
 * on): the first has the instruction's address, the others those of its other bytes.
 *
 *   cmp   FLAGS = a ? b;  KEPT_FLAGS = FLAGS            b.eq   FLAGS = KEPT_FLAGS;  branch by FLAGS
 *   madd  BETWEEN = a * b;  dst = c + BETWEEN           cbz    FLAGS = a ? 0;  branch by FLAGS
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
                                  kept = { TEAMS_REGISTER, TEAMS_KEPT_FLAGS, 0 },
                                  between = { TEAMS_REGISTER, TEAMS_BETWEEN, 0 };

static bool is_zero(unsigned reg)
{
    return reg == ARM64_REG_XZR || reg == ARM64_REG_WZR;
}

static bool is_half(unsigned reg)
{
    return (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) || reg == ARM64_REG_WZR || reg == ARM64_REG_WSP;
}

/* The location of a register; the one that is 0 has none. */
static uint8_t location(unsigned reg)
{
    static const unsigned vectors[] = { ARM64_REG_B0, ARM64_REG_H0, ARM64_REG_S0,
                                        ARM64_REG_D0, ARM64_REG_Q0, ARM64_REG_V0 };
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
        return (uint8_t)(reg - ARM64_REG_W0);
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
        return (uint8_t)(reg - ARM64_REG_X0);
    if (reg == ARM64_REG_X29 || reg == ARM64_REG_X30)
        return reg == ARM64_REG_X29 ? TEAMS_ARM_FRAME : TEAMS_ARM_LINK;
    if (reg == ARM64_REG_SP || reg == ARM64_REG_WSP)
        return TEAMS_ARM_STACK;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (reg >= vectors[k] && reg < vectors[k] + 32)
            return (uint8_t)(TEAMS_GENERAL + reg - vectors[k]);
    return TEAMS_NO_REGISTER;
}

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
    if (plain && is_zero(o->reg))
        return teams_arm_number(0);
    s->unknown |= !plain || location(o->reg) == TEAMS_NO_REGISTER;
    return plain ? teams_arm_register(location(o->reg)) : none;
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
    *i = (struct teams_insn){ .op = (uint8_t)op, .dst = dst, .a = a, .b = b, .second = TEAMS_NO_REGISTER };
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

/* The last operand of arithmetic, shifted to the left first where it is. False: shifted or extended in another way. */
static bool last_source(struct teams_arm_steps *s, const cs_arm64_op *o, struct teams_operand *to)
{
    bool other = o->ext == ARM64_EXT_SXTB || o->ext == ARM64_EXT_SXTH || o->ext == ARM64_EXT_UXTB ||
                 o->ext == ARM64_EXT_UXTH;
    if (o->type != ARM64_OP_REG) {
        *to = operand(s, o);
        return true;
    }
    if (other || (o->shift.type != ARM64_SFT_INVALID && o->shift.type != ARM64_SFT_LSL))
        return false;
    cs_arm64_op whole = *o;
    whole.ext = ARM64_EXT_INVALID;
    whole.shift.type = ARM64_SFT_INVALID;
    *to = operand(s, &whole);
    if (o->ext == ARM64_EXT_SXTW && to->kind == TEAMS_REGISTER) {
        teams_arm_add(s, TEAMS_MOVE, between, *to, none)->widens = true;
        *to = between;
    }
    if (o->shift.type == ARM64_SFT_LSL && o->shift.value) {
        teams_arm_add(s, TEAMS_SHIFT, between, *to, teams_arm_number(o->shift.value));
        *to = between;
    }
    return true;
}

enum form {
    UNKNOWN,
    SKIPPED,
    HINT,
    ALIKE,    /* dst = op(the rest, in any way) */
    INTO,     /* likewise, with what was in dst */
    CARRY,    /* likewise, with flags */
    COMPUTED, /* dst = a op b; with vectors as ALIKE */
    MOVED,
    CONSTANT,
    SHIFTED,
    INSERTED, /* at a place of zeroes */
    MULTIPLIED_ADDED,
    COMPARED,
    COMPARED_IF,
    CHOSEN,
    CHOSEN_ALIKE,
    CHOSEN_NEXT,
    FLAG,
    ADDRESS,
    JUMP,
    JUMP_ANY,
    CALLED,
    CALLED_ANY,
    RETURNED,
    BRANCH_REGISTER,
    BRANCH_BIT,
    LOADED,
    STRUCTURE,
    THREAD,
    PLAIN, /* an operation without operands that count */
};

struct kind { uint8_t form, op; };

#define IS(name, form, op) [ARM64_INS_##name] = { form, TEAMS_##op }

static const struct kind kinds[ARM64_INS_ENDING] = {
    IS(NOP, SKIPPED, NOTHING), IS(DMB, SKIPPED, NOTHING), IS(PRFM, SKIPPED, NOTHING), IS(HINT, HINT, NOTHING),
    IS(PRFUM, SKIPPED, NOTHING), IS(YIELD, PLAIN, PAUSE), IS(SVC, PLAIN, SYSTEM), IS(BRK, PLAIN, TRAP),
    /* whole numbers */
    IS(ADD, COMPUTED, ADD), IS(SUB, COMPUTED, SUB), IS(AND, COMPUTED, BITS), IS(ORR, COMPUTED, BITS),
    IS(MUL, COMPUTED, MUL), IS(SMULL, COMPUTED, MUL), IS(UMULL, COMPUTED, MUL), IS(SDIV, COMPUTED, DIVIDE),
    IS(UDIV, COMPUTED, DIVIDE), IS(MADD, MULTIPLIED_ADDED, ADD), IS(SMADDL, MULTIPLIED_ADDED, ADD),
    IS(UMADDL, MULTIPLIED_ADDED, ADD), IS(MSUB, MULTIPLIED_ADDED, SUB), IS(SMSUBL, MULTIPLIED_ADDED, SUB),
    IS(UMSUBL, MULTIPLIED_ADDED, SUB), IS(MOV, MOVED, MOVE), IS(SXTW, MOVED, MOVE), IS(UXTW, MOVED, MOVE),
    IS(MOVZ, CONSTANT, MOVE), IS(MOVN, CONSTANT, MOVE), IS(LSL, SHIFTED, SHIFT), IS(SBFIZ, INSERTED, SHIFT),
    IS(UBFIZ, INSERTED, SHIFT), IS(MNEG, ALIKE, OTHER), IS(SMNEGL, ALIKE, OTHER), IS(UMNEGL, ALIKE, OTHER),
    IS(EOR, ALIKE, OTHER), IS(BIC, ALIKE, OTHER), IS(MVN, ALIKE, OTHER), IS(ORN, ALIKE, OTHER),
    IS(EON, ALIKE, OTHER), IS(NEG, ALIKE, OTHER), IS(NEGS, ALIKE, OTHER), IS(ASR, ALIKE, OTHER),
    IS(LSR, ALIKE, OTHER), IS(ROR, ALIKE, OTHER), IS(EXTR, ALIKE, OTHER), IS(REV, ALIKE, OTHER),
    IS(REV16, ALIKE, OTHER), IS(REV32, ALIKE, OTHER), IS(RBIT, ALIKE, OTHER), IS(CLZ, ALIKE, OTHER),
    IS(CLS, ALIKE, OTHER), IS(SXTB, ALIKE, OTHER), IS(SXTH, ALIKE, OTHER), IS(UXTB, ALIKE, OTHER),
    IS(UXTH, ALIKE, OTHER), IS(UBFX, ALIKE, OTHER), IS(SBFX, ALIKE, OTHER), IS(SMULH, ALIKE, OTHER),
    IS(UMULH, ALIKE, OTHER), IS(BFI, INTO, OTHER), IS(BFXIL, INTO, OTHER), IS(MOVK, INTO, OTHER),
    IS(ADC, CARRY, OTHER), IS(SBC, CARRY, OTHER), IS(NGC, CARRY, OTHER),
    /* flags */
    IS(CMP, COMPARED, COMPARE), IS(CMN, COMPARED, OTHER), IS(TST, COMPARED, TEST), IS(FCMP, COMPARED, COMPARE),
    IS(FCMPE, COMPARED, COMPARE), IS(CCMP, COMPARED_IF, OTHER), IS(CCMN, COMPARED_IF, OTHER),
    IS(FCCMP, COMPARED_IF, OTHER), IS(FCCMPE, COMPARED_IF, OTHER), IS(CSEL, CHOSEN, SELECT),
    IS(CSINC, CHOSEN_NEXT, SELECT), IS(CINC, CHOSEN_NEXT, SELECT), IS(CSNEG, CHOSEN_ALIKE, OTHER),
    IS(CSINV, CHOSEN_ALIKE, OTHER), IS(CNEG, CHOSEN_ALIKE, OTHER), IS(CINV, CHOSEN_ALIKE, OTHER),
    IS(FCSEL, CHOSEN_ALIKE, OTHER), IS(CSET, FLAG, SET), IS(CSETM, FLAG, SET),
    /* control, memory */
    IS(B, JUMP, JUMP), IS(BR, JUMP_ANY, JUMP_ANY), IS(BL, CALLED, CALL), IS(BLR, CALLED_ANY, CALL_ANY),
    IS(RET, RETURNED, RETURN), IS(CBZ, BRANCH_REGISTER, BRANCH), IS(CBNZ, BRANCH_REGISTER, BRANCH),
    IS(TBZ, BRANCH_BIT, BRANCH), IS(TBNZ, BRANCH_BIT, BRANCH), IS(ADRP, ADDRESS, ADDRESS), IS(ADR, ADDRESS, ADDRESS),
    IS(MRS, THREAD, MOVE), IS(LDR, LOADED, MOVE), IS(LDUR, LOADED, MOVE), IS(LDRB, LOADED, MOVE),
    IS(LDURB, LOADED, MOVE), IS(LDRH, LOADED, MOVE), IS(LDURH, LOADED, MOVE), IS(LDRSB, LOADED, MOVE),
    IS(LDURSB, LOADED, MOVE), IS(LDRSH, LOADED, MOVE), IS(LDURSH, LOADED, MOVE), IS(LDRSW, LOADED, MOVE),
    IS(LDURSW, LOADED, MOVE), IS(STR, LOADED, MOVE), IS(STUR, LOADED, MOVE), IS(STRB, LOADED, MOVE),
    IS(STURB, LOADED, MOVE), IS(STRH, LOADED, MOVE), IS(STURH, LOADED, MOVE), IS(LDP, LOADED, MOVE),
    IS(LDPSW, LOADED, MOVE), IS(STP, LOADED, MOVE), IS(LDNP, LOADED, MOVE), IS(STNP, LOADED, MOVE),
    IS(LD1, STRUCTURE, OTHER), IS(LD1R, STRUCTURE, OTHER), IS(LD2, STRUCTURE, OTHER), IS(LD3, STRUCTURE, OTHER),
    IS(LD4, STRUCTURE, OTHER), IS(ST1, STRUCTURE, OTHER), IS(ST2, STRUCTURE, OTHER), IS(ST3, STRUCTURE, OTHER),
    IS(ST4, STRUCTURE, OTHER),
    /* floating point */
    IS(FADD, ALIKE, FLOAT), IS(FSUB, ALIKE, FLOAT), IS(FMUL, ALIKE, FLOAT), IS(FNMUL, ALIKE, FLOAT),
    IS(FDIV, ALIKE, FLOAT), IS(FSQRT, ALIKE, FLOAT), IS(FABD, ALIKE, FLOAT), IS(FADDP, ALIKE, FLOAT),
    IS(FMADD, ALIKE, FLOAT), IS(FMSUB, ALIKE, FLOAT), IS(FNMADD, ALIKE, FLOAT), IS(FNMSUB, ALIKE, FLOAT),
    IS(FMLA, INTO, FLOAT), IS(FMLS, INTO, FLOAT), IS(FCVT, ALIKE, FLOAT), IS(FCVTL, ALIKE, FLOAT),
    IS(FCVTL2, ALIKE, FLOAT), IS(FCVTN, ALIKE, FLOAT), IS(FCVTN2, INTO, FLOAT), IS(FCVTZS, ALIKE, FLOAT),
    IS(FCVTZU, ALIKE, FLOAT), IS(FCVTMS, ALIKE, FLOAT), IS(FCVTPS, ALIKE, FLOAT), IS(FCVTAS, ALIKE, FLOAT),
    IS(SCVTF, ALIKE, FLOAT), IS(UCVTF, ALIKE, FLOAT), IS(FRINTA, ALIKE, FLOAT), IS(FRINTM, ALIKE, FLOAT),
    IS(FRINTP, ALIKE, FLOAT), IS(FRINTZ, ALIKE, FLOAT), IS(FRINTN, ALIKE, FLOAT), IS(FNEG, ALIKE, OTHER),
    IS(FABS, ALIKE, OTHER), IS(FMOV, MOVED, MOVE), IS(FMAX, ALIKE, EXTREME), IS(FMIN, ALIKE, EXTREME),
    IS(FMAXNM, ALIKE, EXTREME), IS(FMINNM, ALIKE, EXTREME), IS(SMAX, ALIKE, EXTREME), IS(SMIN, ALIKE, EXTREME),
    IS(UMAX, ALIKE, EXTREME), IS(UMIN, ALIKE, EXTREME),
    /* vectors */
    IS(SADDW, ALIKE, VECTOR_ADD), IS(SADDW2, ALIKE, VECTOR_ADD), IS(UADDW, ALIKE, VECTOR_ADD),
    IS(UADDW2, ALIKE, VECTOR_ADD),
    IS(ADDV, ALIKE, VECTOR_ADD), IS(ADDP, ALIKE, VECTOR_ADD), IS(MLA, INTO, OTHER), IS(MLS, INTO, OTHER),
    IS(SMLAL, INTO, OTHER), IS(SMLAL2, INTO, OTHER), IS(UMLAL, INTO, OTHER), IS(UMLAL2, INTO, OTHER),
    IS(SMULL2, ALIKE, OTHER), IS(UMULL2, ALIKE, OTHER), IS(DUP, ALIKE, OTHER), IS(INS, INTO, OTHER),
    IS(UMOV, ALIKE, OTHER), IS(SMOV, ALIKE, OTHER), IS(MOVI, CONSTANT, MOVE), IS(MVNI, ALIKE, OTHER),
    IS(EXT, ALIKE, OTHER), IS(ZIP1, ALIKE, OTHER), IS(ZIP2, ALIKE, OTHER), IS(UZP1, ALIKE, OTHER),
    IS(UZP2, ALIKE, OTHER), IS(TRN1, ALIKE, OTHER), IS(TRN2, ALIKE, OTHER), IS(REV64, ALIKE, OTHER),
    IS(BSL, INTO, OTHER), IS(BIT, INTO, OTHER), IS(BIF, INTO, OTHER), IS(CMEQ, ALIKE, OTHER), IS(CMGT, ALIKE, OTHER),
    IS(CMGE, ALIKE, OTHER), IS(CMLT, ALIKE, OTHER), IS(CMLE, ALIKE, OTHER), IS(CMHI, ALIKE, OTHER),
    IS(CMHS, ALIKE, OTHER), IS(CMTST, ALIKE, OTHER), IS(FCMEQ, ALIKE, OTHER), IS(FCMGT, ALIKE, OTHER),
    IS(FCMGE, ALIKE, OTHER), IS(FCMLT, ALIKE, OTHER), IS(FCMLE, ALIKE, OTHER), IS(SSHLL, ALIKE, OTHER),
    IS(SSHLL2, ALIKE, OTHER), IS(USHLL, ALIKE, OTHER), IS(USHLL2, ALIKE, OTHER), IS(XTN, ALIKE, OTHER),
    IS(XTN2, INTO, OTHER), IS(SHL, ALIKE, OTHER), IS(SSHR, ALIKE, OTHER), IS(USHR, ALIKE, OTHER),
    IS(SSHL, ALIKE, OTHER), IS(USHL, ALIKE, OTHER), IS(ABS, ALIKE, OTHER),
};

/* --- By masks --- */

/* Of a register, also a part of a vector. */
static uint64_t mask_of(struct teams_arm_steps *s, const cs_arm64_op *o)
{
    if (o->type == ARM64_OP_IMM || o->type == ARM64_OP_FP || (o->type == ARM64_OP_REG && is_zero(o->reg)))
        return 0;
    uint8_t at = o->type == ARM64_OP_REG ? location(o->reg) : TEAMS_NO_REGISTER;
    s->unknown |= at == TEAMS_NO_REGISTER;
    return teams_bit(at);
}

/* The operands from `first` on are read. */
static struct teams_insn *alike(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_op op, int first)
{
    struct teams_insn *i = teams_arm_add(s, op, none, none, none);
    for (int k = first; k < x->op_count; k++)
        i->reads |= mask_of(s, &x->operands[k]);
    return i;
}

static void masked(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_op op, enum form form)
{
    if (x->op_count < 2 || x->operands[0].type != ARM64_OP_REG) {
        s->unknown = true;
        return;
    }
    if (form == CARRY || form == CHOSEN_ALIKE)
        look_at_flags(s);
    bool lane = x->operands[0].vector_index >= 0;
    struct teams_insn *i = alike(s, x, op, form == INTO || lane ? 0 : 1);
    i->writes = mask_of(s, &x->operands[0]);
    i->reads_flags = form == CARRY || form == CHOSEN_ALIKE;
    i->writes_flags = x->update_flags;
    if (x->update_flags)
        keep_flags(s);
}

/* --- Arithmetic --- */

static bool has_vectors(const cs_arm64 *x)
{
    for (int k = 0; k < x->op_count; k++)
        if (x->operands[k].type == ARM64_OP_REG && !is_zero(x->operands[k].reg) &&
            location(x->operands[k].reg) >= TEAMS_GENERAL)
            return true;
    return false;
}

/* The lowest byte alone, as of what a function says with yes or no. */
static bool takes_byte(const cs_arm64 *x, unsigned id)
{
    const cs_arm64_op *o = x->operands;
    return id == ARM64_INS_AND && !x->update_flags && x->op_count == 3 && !has_vectors(x) &&
           o[2].type == ARM64_OP_IMM && o[2].imm == 0xff;
}

static void computed(struct teams_arm_steps *s, const cs_arm64 *x, unsigned id, enum teams_op op)
{
    if (takes_byte(x, id)) {
        teams_arm_add(s, TEAMS_MOVE, result(s, &x->operands[0]), operand(s, &x->operands[1]), none)->narrow = 1;
        return;
    }
    if (has_vectors(x)) {
        masked(s, x, op == TEAMS_ADD || op == TEAMS_SUB ? TEAMS_VECTOR_ADD : TEAMS_OTHER, ALIKE);
        return;
    }
    struct teams_operand b = none;
    if (x->op_count != 3 || !last_source(s, &x->operands[2], &b)) {
        masked(s, x, TEAMS_OTHER, ALIKE);
        return;
    }
    struct teams_insn *i = teams_arm_add(s, op, result(s, &x->operands[0]), operand(s, &x->operands[1]), b);
    i->writes_flags = x->update_flags;
    if (x->update_flags)
        keep_flags(s);
}

/* A floating-point number: the same value wherever it is made, named as an address is that no program has. */
static void number(struct teams_arm_steps *s, const cs_arm64 *x)
{
    struct teams_insn *i = teams_arm_add(s, TEAMS_ADDRESS, result(s, &x->operands[0]), none, none);
    i->place.fixed = true;
    memcpy(&i->place.offset, &x->operands[1].fp, sizeof i->place.offset);
}

static void moved(struct teams_arm_steps *s, const cs_arm64 *x)
{
    const cs_arm64_op *o = x->operands;
    if (x->op_count != 2)
        s->unknown = true;
    else if (o[0].vector_index >= 0 || o[1].vector_index >= 0)
        masked(s, x, TEAMS_OTHER, ALIKE);
    else if (o[1].type == ARM64_OP_FP && o[1].fp != 0.0)
        number(s, x);
    else
        teams_arm_add(s, TEAMS_MOVE, result(s, &o[0]), operand(s, &o[1]), none);
}

static void constant(struct teams_arm_steps *s, const cs_arm64 *x, unsigned id)
{
    if (x->op_count != 2 || x->operands[1].type != ARM64_OP_IMM) {
        s->unknown = true;
        return;
    }
    if (id == ARM64_INS_MOVI && x->operands[1].imm != 0) {
        masked(s, x, TEAMS_OTHER, ALIKE);
        return;
    }
    struct teams_operand value = operand(s, &x->operands[1]);
    unsigned to = x->operands[0].reg;
    if (id == ARM64_INS_MOVN)
        value.value = ~value.value;
    if (id == ARM64_INS_MOVN && is_half(to))
        value.value = (int32_t)value.value;
    teams_arm_add(s, TEAMS_MOVE, result(s, &x->operands[0]), value, none);
}

/* Shifted to the left by a number. A part of less than 32 bits is another value. */
static void shifted(struct teams_arm_steps *s, const cs_arm64 *x, bool inserted)
{
    const cs_arm64_op *o = x->operands;
    bool whole = inserted ? x->op_count == 4 && o[3].type == ARM64_OP_IMM && o[3].imm >= 32 : x->op_count == 3;
    if (whole && o[2].type == ARM64_OP_IMM && !has_vectors(x))
        teams_arm_add(s, TEAMS_SHIFT, result(s, &o[0]), operand(s, &o[1]), operand(s, &o[2]));
    else
        masked(s, x, TEAMS_OTHER, ALIKE);
}

static void multiplied_added(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_op op)
{
    s->unknown |= x->op_count != 4;
    teams_arm_add(s, TEAMS_MUL, between, operand(s, &x->operands[1]), operand(s, &x->operands[2]));
    teams_arm_add(s, op, result(s, &x->operands[0]), operand(s, &x->operands[3]), between);
}

/* --- Flags --- */

static void compared(struct teams_arm_steps *s, const cs_arm64 *x, enum teams_op op)
{
    struct teams_operand b = none;
    s->unknown |= x->op_count != 2;
    if (op == TEAMS_OTHER || !last_source(s, &x->operands[1], &b))
        alike(s, x, TEAMS_OTHER, 0)->writes_flags = true;
    else
        teams_arm_add(s, op, none, operand(s, &x->operands[0]), b);
    s->step[s->count - 1].writes_flags = true;
    keep_flags(s);
}

static void compared_if(struct teams_arm_steps *s, const cs_arm64 *x)
{
    look_at_flags(s);
    struct teams_insn *i = alike(s, x, TEAMS_OTHER, 0);
    i->reads_flags = i->writes_flags = true;
    keep_flags(s);
}

/* Of which two a choice takes what, after a comparison of its operands in their order. */
static uint8_t extreme_of(const cs_arm64 *x)
{
    static const struct { arm64_cc first, second; enum teams_extreme takes; } table[] = {
        { ARM64_CC_GE, ARM64_CC_GT, TEAMS_MOST_SIGNED },   { ARM64_CC_LE, ARM64_CC_LT, TEAMS_LEAST_SIGNED },
        { ARM64_CC_HS, ARM64_CC_HI, TEAMS_MOST_UNSIGNED }, { ARM64_CC_LS, ARM64_CC_LO, TEAMS_LEAST_UNSIGNED },
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (x->cc == table[k].first || x->cc == table[k].second)
            return (uint8_t)(table[k].takes + (is_half(x->operands[0].reg) ? TEAMS_OF_HALF : 0));
    return TEAMS_NO_EXTREME;
}

static void chosen(struct teams_arm_steps *s, const cs_arm64 *x, bool next)
{
    s->unknown |= x->op_count != 3 && !(next && x->op_count == 2);
    struct teams_operand a = operand(s, &x->operands[1]), b = operand(s, &x->operands[x->op_count == 2 ? 1 : 2]);
    look_at_flags(s);
    if (next)
        teams_arm_add(s, TEAMS_ADD, between, b, teams_arm_number(1));
    struct teams_insn *i = teams_arm_add(s, TEAMS_SELECT, result(s, &x->operands[0]), a, next ? between : b);
    i->reads_flags = true;
    i->extreme = next ? TEAMS_NO_EXTREME : extreme_of(x);
}

static void branch(struct teams_arm_steps *s, const cs_arm64_op *to, bool equal, bool unequal)
{
    struct teams_insn *i = teams_arm_add(s, TEAMS_BRANCH, none, none, none);
    s->unknown |= to->type != ARM64_OP_IMM;
    i->target = (uintptr_t)to->imm;
    i->reads_flags = true;
    i->if_equal = equal;
    i->if_unequal = unequal;
}

static void by_register(struct teams_arm_steps *s, const cs_arm64 *x, unsigned id)
{
    bool bit = id == ARM64_INS_TBZ || id == ARM64_INS_TBNZ, zero = id == ARM64_INS_CBZ || id == ARM64_INS_TBZ;
    s->unknown |= x->op_count != 2 + bit || (bit && (x->operands[1].type != ARM64_OP_IMM || x->operands[1].imm > 63));
    if (s->unknown)
        return;
    struct teams_operand a = operand(s, &x->operands[0]);
    if (bit)
        teams_arm_add(s, TEAMS_TEST, none, a, teams_arm_number((int64_t)(1ull << x->operands[1].imm)))->writes_flags =
            true;
    else
        teams_arm_add(s, TEAMS_COMPARE, none, a, teams_arm_number(0))->writes_flags = true;
    branch(s, &x->operands[1 + bit], zero, !zero);
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

static void jump(struct teams_arm_steps *s, const struct teams_decoder *d, const cs_arm64 *x, enum form form,
                 enum teams_op op)
{
    const cs_arm64_op *o = &x->operands[0];
    if (form == CALLED && x->op_count == 1 && accesses(s, d, o))
        return;
    s->unknown |= x->op_count != 1 || o->type != ARM64_OP_IMM;
    if (op == TEAMS_JUMP && x->cc != ARM64_CC_INVALID && x->cc != ARM64_CC_AL && x->cc != ARM64_CC_NV) {
        look_at_flags(s);
        branch(s, o, x->cc == ARM64_CC_EQ, x->cc == ARM64_CC_NE);
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
           location(x->operands[count].reg) >= TEAMS_GENERAL)
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

static bool is_harmless_hint(int64_t number)
{
    bool pointers = number == 7 || number == 25 || number == 27 || number == 29 || number == 31; /* their signatures */
    return pointers || (number >= 32 && number <= 38 && number % 2 == 0); /* marks for indirect branches */
}

static void leave(struct teams_arm_steps *s, const cs_arm64 *x, enum form form, enum teams_op op)
{
    const cs_arm64_op *o = &x->operands[0];
    if (form == RETURNED && x->op_count && (o->type != ARM64_OP_REG || location(o->reg) != TEAMS_ARM_LINK))
        op = TEAMS_JUMP_ANY;
    s->unknown |= form != RETURNED && x->op_count != 1;
    teams_arm_add(s, op, none, x->op_count ? operand(s, o) : none, none);
}

static void describe(struct teams_arm_steps *s, const struct teams_decoder *d, uint32_t word)
{
    const cs_insn *i = d->insn;
    const cs_arm64 *x = &i->detail->arm64;
    struct kind k = i->id < ARM64_INS_ENDING ? kinds[i->id] : (struct kind){ UNKNOWN, 0 };
    enum teams_op op = (enum teams_op)k.op;
    switch ((enum form)k.form) {
    case UNKNOWN:
        s->unknown = true;
        break;
    case HINT:
        s->unknown = x->op_count != 1 || !is_harmless_hint(x->operands[0].imm);
        teams_arm_add(s, op, none, none, none);
        break;
    case SKIPPED:
    case PLAIN:
        teams_arm_add(s, op, none, none, none);
        break;
    case ALIKE:
    case INTO:
    case CARRY:
    case CHOSEN_ALIKE:
        masked(s, x, op, (enum form)k.form);
        break;
    case COMPUTED:
        computed(s, x, i->id, op);
        break;
    case MOVED:
        moved(s, x);
        break;
    case CONSTANT:
        constant(s, x, i->id);
        break;
    case SHIFTED:
    case INSERTED:
        shifted(s, x, k.form == INSERTED);
        break;
    case MULTIPLIED_ADDED:
        multiplied_added(s, x, op);
        break;
    case COMPARED:
        compared(s, x, op);
        break;
    case COMPARED_IF:
        compared_if(s, x);
        break;
    case CHOSEN:
    case CHOSEN_NEXT:
        chosen(s, x, k.form == CHOSEN_NEXT);
        break;
    case FLAG:
        look_at_flags(s);
        teams_arm_add(s, TEAMS_SET, result(s, &x->operands[0]), none, none)->reads_flags = true;
        break;
    case ADDRESS:
        address(s, x);
        break;
    case CALLED:
    case JUMP:
        jump(s, d, x, (enum form)k.form, op);
        break;
    case JUMP_ANY:
    case CALLED_ANY:
    case RETURNED:
        leave(s, x, (enum form)k.form, op);
        break;
    case BRANCH_REGISTER:
    case BRANCH_BIT:
        by_register(s, x, i->id);
        break;
    case LOADED:
        teams_arm_loaded(s, word);
        break;
    case STRUCTURE:
        structure(s, x, word);
        break;
    case THREAD:
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

static bool widens(unsigned id)
{
    static const unsigned all[] = { ARM64_INS_SXTW,  ARM64_INS_LDRSW,  ARM64_INS_LDURSW, ARM64_INS_LDPSW,
                                    ARM64_INS_SADDW, ARM64_INS_SADDW2, ARM64_INS_UADDW,  ARM64_INS_UADDW2 };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (id == all[k])
            return true;
    return false;
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
    const cs_arm64 *x = &d->insn->detail->arm64;
    s.step[step].half |= x->op_count && x->operands[0].type == ARM64_OP_REG && is_half(x->operands[0].reg);
    s.step[step].widens |= widens(d->insn->id);
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
        .first_on_stack = 0,
        .returned = 3 | 15ull << TEAMS_GENERAL,
        /* all but x19 to x29, sp, v8 to v15 */
        .clobbered = ~(2047ull << 19 | 1ull << TEAMS_ARM_STACK | 255ull << 40),
    },
    .decode = decode,
};
