/* SPDX-License-Identifier: MIT */
/* Where capstone is missing, or the processor is none whose code is read: nothing is proven. */
#include "teams/code.h"

#include <stddef.h>

bool teams_code_prepare(void)
{
    return false;
}

struct teams_decoder *teams_decoder_create(void)
{
    return NULL;
}

void teams_decoder_destroy(struct teams_decoder *d)
{
    (void)d;
}

void teams_decoder_look_at(struct teams_decoder *d, uintptr_t begin, uintptr_t end)
{
    (void)d, (void)begin, (void)end;
}

bool teams_decode(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address,
                  struct teams_insn *insn)
{
    (void)d, (void)code, (void)size, (void)address, (void)insn;
    return false;
}

void teams_code_choose(uint16_t elf)
{
    (void)elf;
}

const struct teams_convention *teams_convention(void)
{
    static const struct teams_convention none;
    return &none;
}
