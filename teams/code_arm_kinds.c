/* SPDX-License-Identifier: MIT */
/* What capstone's numbers of aarch64 mean. An instruction that is not here cannot be read. */
#include "teams/code_arm.h"

bool teams_arm_is_zero(unsigned reg)
{
    return reg == ARM64_REG_XZR || reg == ARM64_REG_WZR;
}

/* The location of a register; the one that is 0 has none. */
uint8_t teams_arm_location(unsigned reg)
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

#define IS(name, form, op) [ARM64_INS_##name] = { TEAMS_ARM_##form, TEAMS_##op }
#define A(name) IS(name, ALIKE, OTHER)
#define I(name) IS(name, INTO, OTHER)
#define C(name) IS(name, CHOSEN, SELECT)
#define L(name) IS(name, LOADED, MOVE)
#define S(name) IS(name, STRUCTURE, OTHER)

static const struct teams_arm_kind kinds[ARM64_INS_ENDING] = {
    IS(NOP, SKIPPED, NOTHING), IS(DMB, SKIPPED, NOTHING), IS(PRFM, SKIPPED, NOTHING), IS(HINT, HINT, NOTHING),
    IS(PRFUM, SKIPPED, NOTHING), IS(YIELD, PLAIN, PAUSE), IS(SVC, PLAIN, SYSTEM), IS(BRK, PLAIN, TRAP),
    IS(ADD, COMPUTED, ADD), IS(SUB, COMPUTED, SUB), IS(AND, COMPUTED, BITS), IS(ORR, COMPUTED, BITS),
    IS(MOV, MOVED, MOVE), IS(SXTW, MOVED, MOVE), IS(UXTW, MOVED, MOVE), IS(MOVZ, MOVED, MOVE), IS(MOVN, MOVED, MOVE),
    IS(ADC, CARRY, OTHER), IS(SBC, CARRY, OTHER), IS(NGC, CARRY, OTHER), IS(CMP, COMPARED, COMPARE),
    IS(CMN, COMPARED, OTHER), IS(TST, COMPARED, TEST), IS(FCMP, COMPARED, COMPARE), IS(FCMPE, COMPARED, COMPARE),
    IS(CCMP, COMPARED_IF, OTHER), IS(CCMN, COMPARED_IF, OTHER), IS(FCCMP, COMPARED_IF, OTHER),
    IS(FCCMPE, COMPARED_IF, OTHER), IS(CSET, FLAG, MOVE), IS(CSETM, FLAG, MOVE), IS(B, JUMP, JUMP),
    IS(BR, JUMP_ANY, JUMP_ANY), IS(BL, CALLED, CALL), IS(BLR, CALLED_ANY, CALL_ANY), IS(RET, RETURNED, RETURN),
    IS(CBZ, BRANCH_REGISTER, BRANCH), IS(CBNZ, BRANCH_REGISTER, BRANCH), IS(TBZ, BRANCH_BIT, BRANCH),
    IS(TBNZ, BRANCH_BIT, BRANCH), IS(ADRP, ADDRESS, ADDRESS), IS(ADR, ADDRESS, ADDRESS), IS(MRS, THREAD, MOVE),
    IS(FMOV, MOVED, MOVE), IS(MOVI, MOVED, MOVE),
    L(LDR), L(LDUR), L(LDRB), L(LDURB), L(LDRH), L(LDURH), L(LDRSB), L(LDURSB), L(LDRSH), L(LDURSH), L(LDRSW),
    L(LDURSW), L(STR), L(STUR), L(STRB), L(STURB), L(STRH), L(STURH), L(LDP), L(LDPSW), L(STP), L(LDNP), L(STNP),
    S(LD1), S(LD1R), S(LD2), S(LD3), S(LD4), S(ST1), S(ST2), S(ST3), S(ST4),
    C(CSEL), C(CSINC), C(CINC), C(CSNEG), C(CSINV), C(CNEG), C(CINV), C(FCSEL),
    /* whole numbers, floating point, vectors */
    A(MUL), A(SMULL), A(UMULL), A(SDIV), A(UDIV), A(MADD), A(SMADDL), A(UMADDL), A(MSUB), A(SMSUBL), A(UMSUBL),
    A(LSL), A(SBFIZ), A(UBFIZ), A(MNEG), A(SMNEGL), A(UMNEGL), A(EOR), A(BIC), A(MVN), A(ORN), A(EON), A(NEG),
    A(NEGS), A(ASR), A(LSR), A(ROR), A(EXTR), A(REV), A(REV16), A(REV32), A(RBIT), A(CLZ), A(CLS), A(SXTB), A(SXTH),
    A(UXTB), A(UXTH), A(UBFX), A(SBFX), A(SMULH), A(UMULH), A(FADD), A(FSUB), A(FMUL), A(FNMUL), A(FDIV), A(FSQRT),
    A(FABD), A(FADDP), A(FMADD), A(FMSUB), A(FNMADD), A(FNMSUB), A(FCVT), A(FCVTL), A(FCVTL2), A(FCVTN), A(FCVTZS),
    A(FCVTZU), A(FCVTMS), A(FCVTPS), A(FCVTAS), A(SCVTF), A(UCVTF), A(FRINTA), A(FRINTM), A(FRINTP), A(FRINTZ),
    A(FRINTN), A(FNEG), A(FABS), A(FMAX), A(FMIN), A(FMAXNM), A(FMINNM), A(SMAX), A(SMIN), A(UMAX), A(UMIN),
    A(SADDW), A(SADDW2), A(UADDW), A(UADDW2), A(ADDV), A(ADDP), A(SMULL2), A(UMULL2), A(DUP), A(UMOV), A(SMOV),
    A(MVNI), A(EXT), A(ZIP1), A(ZIP2), A(UZP1), A(UZP2), A(TRN1), A(TRN2), A(REV64), A(CMEQ), A(CMGT), A(CMGE),
    A(CMLT), A(CMLE), A(CMHI), A(CMHS), A(CMTST), A(FCMEQ), A(FCMGT), A(FCMGE), A(FCMLT), A(FCMLE), A(SSHLL),
    A(SSHLL2), A(USHLL), A(USHLL2), A(XTN), A(SHL), A(SSHR), A(USHR), A(SSHL), A(USHL), A(ABS),
    I(BFI), I(BFXIL), I(MOVK), I(FMLA), I(FMLS), I(FCVTN2), I(MLA), I(MLS), I(SMLAL), I(SMLAL2), I(UMLAL),
    I(UMLAL2), I(INS), I(BSL), I(BIT), I(BIF), I(XTN2),
};

struct teams_arm_kind teams_arm_kind(unsigned id)
{
    return id < ARM64_INS_ENDING ? kinds[id] : (struct teams_arm_kind){ TEAMS_ARM_UNKNOWN, 0 };
}

bool teams_arm_is_harmless_hint(int64_t number)
{
    bool pointers = number == 7 || number == 25 || number == 27 || number == 29 || number == 31; /* their signatures */
    return pointers || (number >= 32 && number <= 38 && number % 2 == 0); /* marks for indirect branches */
}
