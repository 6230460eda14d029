/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdlib.h>

#include "teams/machine.h"

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
    void (*free)(cs_insn *, size_t);
    cs_err (*close)(csh *);
    bool (*disasm)(csh, const uint8_t **, size_t *, uint64_t *, cs_insn *);
    cs_err (*access)(csh, const cs_insn *, cs_regs, uint8_t *, cs_regs, uint8_t *);
} capstone;

static bool there;

static void load_capstone(void)
{
    static const char *const names[] = { "cs_open",  "cs_option",      "cs_malloc",     "cs_free",
                                         "cs_close", "cs_disasm_iter", "cs_regs_access" };
    void *library = dlopen("libcapstone.so." TEXT(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
    void **to = (void **)(void *)&capstone;
    bool all = library != NULL;
    for (size_t i = 0; all && i < sizeof names / sizeof *names; i++)
        all = (to[i] = dlsym(library, names[i])) != NULL;
    there = all;
}

bool teams_code_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_capstone);
    return there;
}

static const struct teams_convention none;
#if defined __x86_64__
static const struct teams_machine *machine = &teams_x86;
#elif defined __aarch64__ && defined __AARCH64EL__
static const struct teams_machine *machine = &teams_arm;
#else
static const struct teams_machine *machine;
#endif

void teams_code_choose(uint16_t elf)
{
    machine = elf == EM_X86_64 ? &teams_x86 : elf == EM_AARCH64 ? &teams_arm : NULL;
}

const struct teams_convention *teams_convention(void)
{
    return machine ? &machine->convention : &none;
}

struct teams_decoder *teams_decoder_create(void)
{
    struct teams_decoder *d = calloc(1, sizeof *d);
    if (d && machine && !machine->mode)
        return d; /* it reads bits */
    if (d && machine && teams_code_prepare() && capstone.open(machine->arch, machine->mode, &d->handle) == CS_ERR_OK) {
        capstone.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
        d->access = capstone.access;
        d->insn = capstone.make(d->handle);
        if (d->insn)
            return d;
        capstone.close(&d->handle);
    }
    free(d);
    return NULL;
}

void teams_decoder_destroy(struct teams_decoder *d)
{
    if (d && d->insn) {
        capstone.free(d->insn, 1);
        capstone.close(&d->handle);
    }
    free(d);
}

void teams_decoder_look_at(struct teams_decoder *d, uintptr_t begin, uintptr_t end)
{
    d->begin = begin;
    d->end = end;
}

bool teams_disassemble(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address)
{
    size_t left = size;
    uint64_t at = address;
    return capstone.disasm(d->handle, &code, &left, &at, d->insn) && d->insn->detail;
}

bool teams_decode(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address,
                  struct teams_insn *insn)
{
    return machine->decode(d, code, size, address, insn);
}
