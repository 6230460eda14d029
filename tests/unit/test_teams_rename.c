/* SPDX-License-Identifier: MIT */
/* An instruction is the same read with its own registers, by capstone, and with those of all that are like it
   (teams/rename.h). */
#include <elf.h>
#include <string.h>

#include "teams/code.h"
#include "teams/rename.h"
#include "tests/unit/unit.h"

enum { SEEN = 500000, NO_REX = 0x3f, LAST_REX = 0x4f, SHORT = TEAMS_LONGEST_INSN - 1 /* nothing is kept of it */ };
static const uint8_t prefixes[] = { 0, 0x66, 0xf2, 0xf3 };

static uint32_t random_state = 1;

static uint8_t random_byte(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint8_t)(random_state >> 24);
}

/* Whatever does not decide on the registers is any. */
static void make_code(uint8_t *code, uint8_t prefix, int rex, bool longer, int opcode, int modrm)
{
    int at = 0;
    for (int k = 0; k < TEAMS_LONGEST_INSN; k++)
        code[k] = random_byte();
    if (prefix)
        code[at++] = prefix;
    if (rex != NO_REX)
        code[at++] = (uint8_t)rex;
    if (longer)
        code[at++] = 0x0f;
    code[at++] = (uint8_t)opcode;
    code[at] = (uint8_t)modrm;
}

/* Whether it is one that is renamed. */
static bool compare(struct teams_decoder *d, const uint8_t *code)
{
    uint8_t common[TEAMS_LONGEST_INSN];
    struct teams_names names;
    struct teams_insn own, others;
    if (!teams_rename_away(code, common, &names))
        return false;
    bool is_one = teams_decode(d, code, SHORT, 0x1000, &own);
    bool same = teams_decode(d, code, TEAMS_LONGEST_INSN, 0x1000, &others) == is_one &&
                (!is_one || memcmp(&own, &others, sizeof own) == 0);
    ck_assert_msg(same, "%02x %02x %02x %02x %02x %02x", code[0], code[1], code[2], code[3], code[4], code[5]);
    return is_one;
}

START_TEST(all_registers)
{
    struct teams_decoder *d = teams_decoder_create();
    uint8_t code[TEAMS_LONGEST_INSN];
    long seen = 0;
    ck_assert_ptr_nonnull(d);
    for (int opcode = 0; opcode < 512; opcode++)
        for (size_t p = 0; p < sizeof prefixes; p++)
            for (int rex = NO_REX; rex <= LAST_REX; rex++)
                for (int modrm = 0; modrm < 256; modrm++) {
                    make_code(code, prefixes[p], rex, opcode > 255, opcode & 255, modrm);
                    seen += compare(d, code);
                }
    ck_assert_int_gt(seen, SEEN);
    teams_decoder_destroy(d);
}
END_TEST

/* What names one register twice does so with another one; what names one in its opcode, or a part of one, stays. */
START_TEST(what_stays)
{
    static const uint8_t alike[2][TEAMS_LONGEST_INSN] = { { 0x31, 0xc0 }, { 0x31, 0xd2 } };
    static const uint8_t other[TEAMS_LONGEST_INSN] = { 0x31, 0xd0 };
    static const uint8_t stays[][TEAMS_LONGEST_INSN] = {
        { 0x50 }, { 0x88, 0xe0 }, { 0x66, 0x01, 0xc8 }, { 0xc7, 0xf8 } /* xbegin */
    };
    uint8_t common[3][TEAMS_LONGEST_INSN];
    struct teams_names names;
    ck_assert(teams_rename_away(alike[0], common[0], &names));
    ck_assert(teams_rename_away(alike[1], common[1], &names));
    ck_assert(teams_rename_away(other, common[2], &names));
    ck_assert_mem_eq(common[0], common[1], TEAMS_LONGEST_INSN);
    ck_assert_mem_ne(common[1], common[2], TEAMS_LONGEST_INSN);
    for (size_t k = 0; k < sizeof stays / sizeof *stays; k++)
        ck_assert_msg(!teams_rename_away(stays[k], common[0], &names), "%zu", k);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_TEST(all_registers), UNIT_TEST(what_stays) };
    teams_code_choose(EM_X86_64);
    struct teams_decoder *d = teams_decoder_create();
    if (!d)
        return unit_skip("nothing here reads machine code");
    teams_decoder_destroy(d);
    return unit_run("teams/rename", tests, UNIT_COUNT(tests));
}
