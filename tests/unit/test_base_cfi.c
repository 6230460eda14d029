/* SPDX-License-Identifier: MIT */
/* Rows of unwind tables against elfutils' reading of them: instructions all over this program and the C library. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cfi.h"
#include "tests/unit/unit.h"

#if defined(__aarch64__)
enum { BASE = 29, STACK = 31, BACK = 30 };
#else
enum { BASE = 6, STACK = 7, BACK = 16 };
#endif

enum { STEP = 7 }; /* bytes from one instruction that is asked for to the next, wherever they begin */

static uint8_t from_of(int reg)
{
    return reg == STACK ? BASE_CFI_STACK : reg == BASE ? BASE_CFI_BASE : 0xff;
}

/* Which it is: its first member. */
static uint8_t operation(const Dwarf_Op *op)
{
    return *(const uint8_t *)op;
}

/* A register and an offset, as elfutils says it; 0xff: something else. */
static struct base_cfi_rule said(const Dwarf_Op *op)
{
    bool numbered = operation(op) == DW_OP_bregx, plain = operation(op) >= DW_OP_breg0 && operation(op) <= DW_OP_breg31;
    if (!numbered && !plain)
        return (struct base_cfi_rule){0, 0xff};
    return (struct base_cfi_rule){ (int32_t)(numbered ? op->number2 : op->number),
                                   from_of(numbered ? (int)op->number : operation(op) - DW_OP_breg0) };
}

static struct base_cfi_rule frame_said(Dwarf_Frame *f, bool *indirect)
{
    Dwarf_Op *ops;
    size_t count;
    ck_assert_int_eq(dwarf_frame_cfa(f, &ops, &count), 0);
    *indirect = count == 2 && operation(ops + 1) == DW_OP_deref;
    return count == 1 || *indirect ? said(ops) : (struct base_cfi_rule){0, 0xff};
}

static struct base_cfi_rule register_said(Dwarf_Frame *f, int reg)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    ck_assert_int_eq(dwarf_frame_register(f, reg, memory, &ops, &count), 0);
    if (count == 0)
        return (struct base_cfi_rule){0, ops ? BASE_CFI_NONE : BASE_CFI_SAME};
    bool framed = operation(ops) == DW_OP_call_frame_cfa;
    if (framed && (count == 1 || (count == 2 && operation(ops + 1) == DW_OP_plus_uconst)))
        return (struct base_cfi_rule){ count == 1 ? 0 : (int32_t)ops[1].number, BASE_CFI_FRAME };
    if (framed && count == 2) /* an expression begins with that on its stack */
        return said(ops + 1);
    return count == 1 ? said(ops) : (struct base_cfi_rule){0, 0xff};
}

static bool equal(struct base_cfi_rule a, struct base_cfi_rule b)
{
    return a.from == b.from && a.offset == b.offset;
}

struct tally { uint32_t asked, rows, none; };

static void ask(Dwarf_CFI *cfi, uintptr_t pc, uint64_t bias, struct tally *t)
{
    Dwarf_Frame *f = NULL;
    struct base_cfi_row row = {.indirect = false};
    bool indirect = false, found = base_cfi_find(pc, &row);
    t->asked++;
    if (dwarf_cfi_addrframe(cfi, pc - bias, &f)) {
        ck_assert(!found);
        return;
    }
    struct base_cfi_rule frame = frame_said(f, &indirect), base = register_said(f, BASE), back = register_said(f, BACK);
    bool known = frame.from != 0xff && base.from != 0xff && back.from != 0xff;
    if (found != known)
        ck_abort_msg("at %#lx: a row is %sfound", (unsigned long)(pc - bias), found ? "" : "not ");
    if (found && (!equal(row.frame, frame) || row.indirect != indirect || !equal(row.base, base) ||
                  !equal(row.back, back)))
        ck_abort_msg("at %#lx: %d%+d %d%+d %d%+d", (unsigned long)(pc - bias), row.frame.from, row.frame.offset,
                     row.base.from, row.base.offset, row.back.from, row.back.offset);
    t->rows += found;
    t->none += !known;
    free(f);
}

struct module { const char *path; uintptr_t bias, begin, end; const void *inside; };

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct module *m = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && (uintptr_t)m->inside - begin < p->p_memsz)
            *m = (struct module){ info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", info->dlpi_addr, begin,
                                  begin + p->p_memsz, m->inside };
    }
    return 0;
}

static struct tally ask_all(const void *inside)
{
    struct module m = {.inside = inside};
    struct tally t = {0};
    dl_iterate_phdr(look, &m);
    ck_assert_ptr_nonnull(m.path);
    elf_version(EV_CURRENT);
    int fd = open(m.path, O_RDONLY);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    ck_assert_ptr_nonnull(cfi);
    for (uintptr_t pc = m.begin; pc < m.end; pc += STEP)
        ask(cfi, pc, m.bias, &t);
    dwarf_cfi_end(cfi);
    elf_end(elf);
    close(fd);
    return t;
}

START_TEST(test_rows_are_those_of_elfutils)
{
    const void *const inside[] = {(const void *)(uintptr_t)ask_all, dlsym(RTLD_DEFAULT, "qsort")};
    struct tally t = ask_all(inside[_i]);
    ck_assert_uint_gt(t.rows, t.asked / 2);
    ck_assert_uint_lt(t.none, t.asked / 20); /* the procedure linkage table, code by hand */
}
END_TEST

START_TEST(test_what_is_no_code_has_no_row)
{
    struct base_cfi_row row;
    uintptr_t begin;
    const uint8_t *table = (const uint8_t *)"";
    ck_assert(!base_cfi_find((uintptr_t)&row, &row));
    ck_assert(!base_cfi_find(0, &row));
    ck_assert(base_cfi_function((uintptr_t)&row, &begin, &table)); /* it is known to have none */
    ck_assert_ptr_null(table);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(test_rows_are_those_of_elfutils, 2),
    UNIT_TEST(test_what_is_no_code_has_no_row),
};

int main(void)
{
    return unit_run("base/cfi", tests, UNIT_COUNT(tests));
}
