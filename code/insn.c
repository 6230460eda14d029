/* SPDX-License-Identifier: MIT */
#include "code/insn.h"

#include <elf.h>
#include <stddef.h>

#ifdef HAVE_CAPSTONE
#define X86 &code_x86
#else
#define X86 NULL
#endif

#if defined __x86_64__
static const struct code_machine *machine = X86;
#elif defined __aarch64__ && defined __AARCH64EL__
static const struct code_machine *machine = &code_arm;
#else
static const struct code_machine *machine;
#endif

void code_choose(uint16_t elf)
{
    machine = elf == EM_X86_64 ? X86 : elf == EM_AARCH64 ? &code_arm : NULL;
}

uint16_t code_chosen(void)
{
    return machine ? machine->elf : EM_NONE;
}

bool code_prepare(void)
{
    return machine && (!machine->prepare || machine->prepare());
}

bool code_read(uintptr_t begin, uintptr_t end, uintptr_t address, struct code_insn *insn)
{
    return machine->decode(begin, end, address, insn);
}

const struct code_convention *code_convention(void)
{
    static const struct code_convention none;
    return machine ? &machine->convention : &none;
}
