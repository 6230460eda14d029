/* SPDX-License-Identifier: MIT */
#include "teams/code.h"

#include <elf.h>
#include <stddef.h>

#ifdef HAVE_CAPSTONE
#define X86 &teams_x86
#else
#define X86 NULL
#endif

#if defined __x86_64__
static const struct teams_machine *machine = X86;
#elif defined __aarch64__ && defined __AARCH64EL__
static const struct teams_machine *machine = &teams_arm;
#else
static const struct teams_machine *machine;
#endif

void teams_code_choose(uint16_t elf)
{
    machine = elf == EM_X86_64 ? X86 : elf == EM_AARCH64 ? &teams_arm : NULL;
}

bool teams_code_prepare(void)
{
    return machine && (!machine->prepare || machine->prepare());
}

bool teams_decode(uintptr_t begin, uintptr_t end, uintptr_t address, struct teams_insn *insn)
{
    return machine->decode(begin, end, address, insn);
}

const struct teams_convention *teams_convention(void)
{
    static const struct teams_convention none;
    return machine ? &machine->convention : &none;
}
