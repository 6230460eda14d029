/* SPDX-License-Identifier: MIT */
#include "base/cfi.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"

#if defined(__x86_64__)
enum { BASE = 6, STACK = 7, BACK = 16 }; /* as DWARF numbers registers here */
#elif defined(__aarch64__)
enum { BASE = 29, STACK = 31, BACK = 30 };
#else
enum { BASE = 255, STACK = 255, BACK = 255 }; /* of no table */
#endif

/* --- Reading --- */

/* An encoded pointer (DW_EH_PE_*): absolute or relative to where it stands; others are bad. */
static uintptr_t take_pointer(struct base_leb *r, uint8_t encoding)
{
    uintptr_t here = encoding & 0x70 ? (uintptr_t)r->at : 0;
    r->bad |= (encoding & 0x70) != 0 && (encoding & 0x70) != 0x10;
    switch (encoding & 0x0f) {
    case 0x00: case 0x04: case 0x0c:
        return here + base_leb_take(r, 8);
    case 0x03:
        return here + base_leb_take(r, 4);
    case 0x0b:
        return here + (uintptr_t)(int64_t)(int32_t)base_leb_take(r, 4);
    default:
        r->bad = true;
        return 0;
    }
}

/* --- From an address to its entry --- */

#ifdef HAVE__DL_FIND_OBJECT
static const uint8_t *header_of(uintptr_t pc)
{
    struct dl_find_object found;
    return _dl_find_object((void *)pc, &found) ? NULL : found.dlfo_eh_frame;
}
#else
struct look { uintptr_t pc; const uint8_t *header; };

static int look_into(struct dl_phdr_info *info, size_t size, void *context)
{
    struct look *look = context;
    const uint8_t *header = NULL;
    bool here = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        here |= p->p_type == PT_LOAD && look->pc - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
        if (p->p_type == PT_GNU_EH_FRAME)
            header = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);
    }
    look->header = here ? header : NULL;
    return here;
}

static const uint8_t *header_of(uintptr_t pc)
{
    struct look look = {pc, NULL};
    dl_iterate_phdr(look_into, &look);
    return look.header;
}
#endif

/* The entry whose code begins last of those before pc. The table is what every linker writes: pairs of distances from
   the header, in order. */
static const uint8_t *entry_of(uintptr_t pc)
{
    const uint8_t *header = header_of(pc);
    if (!header || header[0] != 1 || header[2] != 0x03 || header[3] != 0x3b)
        return NULL;
    struct base_leb r = {header + 4, header + 4 + 3 * sizeof(uint64_t), false};
    (void)take_pointer(&r, header[1]);
    uint32_t count = (uint32_t)base_leb_take(&r, 4);
    int64_t distance = (int64_t)(pc - (uintptr_t)header);
    const int32_t (*table)[2] = (const void *)r.at;
    uint32_t before = BASE_ARRAY_PLACE(count, i, table[i][0] <= distance);
    return before && !r.bad ? header + table[before - 1][1] : NULL;
}

/* --- The program of a row --- */

struct state {
    struct { uint32_t reg; int64_t offset; bool indirect; } frame;
    struct base_cfi_rule base, back;
};

enum { DEEPEST = 4, LOST = 0xff, OMITTED = 0xff };

struct program {
    uintptr_t from, pc; /* where the entry's code begins; up to where */
    uint64_t code_align;
    int64_t data_align;
    bool interrupted;
    uint8_t encoding, table_encoding; /* of addresses, and of the language's table's */
    bool augmented;
    const uint8_t *table;
    uintptr_t size; /* of the entry's code; 0: it could not be read */
    struct state now, first, kept[DEEPEST];
    uint32_t depth;
};

static struct base_cfi_rule *rule_of(struct state *s, uint64_t reg)
{
    return reg == BASE ? &s->base : reg == BACK ? &s->back : NULL;
}

static void set(struct program *p, uint64_t reg, uint8_t from, int64_t offset)
{
    struct base_cfi_rule *rule = rule_of(&p->now, reg);
    if (rule)
        *rule = (struct base_cfi_rule){(int32_t)offset, offset == (int32_t)offset ? from : LOST};
}

static uint8_t from_of(uint64_t reg)
{
    return reg == STACK ? BASE_CFI_STACK : reg == BASE ? BASE_CFI_BASE : LOST;
}

/* The expressions that compilers write: a register and an offset, and perhaps what stands there. */
static uint32_t take_expression(struct base_leb *r, int64_t *offset, bool *indirect)
{
    enum { BREG = 0x70, DEREF = 0x06 };
    uint64_t size = base_leb_unsigned(r);
    struct base_leb e = *r;
    base_leb_skip(r, size);
    e.end = r->at;
    uint32_t reg = (uint32_t)base_leb_take(&e, 1) - BREG;
    *offset = base_leb_signed(&e);
    *indirect = e.at < e.end && base_leb_take(&e, 1) == DEREF;
    return e.bad || e.at != e.end || reg > 31 ? LOST : reg;
}

static void set_expression(struct program *p, struct base_leb *r, bool memory)
{
    uint64_t reg = base_leb_unsigned(r);
    int64_t offset = 0;
    bool indirect = false;
    uint32_t base = take_expression(r, &offset, &indirect);
    set(p, reg, memory && !indirect ? from_of(base) : LOST, offset);
}

static void restore(struct program *p, uint64_t reg)
{
    if (rule_of(&p->now, reg))
        *rule_of(&p->now, reg) = *rule_of(&p->first, reg);
}

static void keep(struct program *p, struct base_leb *r)
{
    r->bad |= p->depth == DEEPEST;
    if (!r->bad)
        p->kept[p->depth++] = p->now;
}

static void bring_back(struct program *p, struct base_leb *r)
{
    r->bad |= p->depth == 0;
    if (!r->bad)
        p->now = p->kept[--p->depth];
}

static void frame_by(struct program *p, uint64_t reg, int64_t offset)
{
    p->now.frame.reg = (uint32_t)reg;
    p->now.frame.offset = offset;
    p->now.frame.indirect = false;
}

/* The instructions of table 7.29 in DWARF 5 that have no operand in their first byte, and GNU's. */
static void extended(struct program *p, struct base_leb *r, uint8_t code)
{
    uint64_t reg;
    int64_t offset;
    switch (code) {
    case 0x00: case 0x2d: /* nop; aarch64: the return address is signed */
        break;
    case 0x05: case 0x11: case 0x2f: /* offset_extended, _sf, GNU_negative_offset_extended */
        reg = base_leb_unsigned(r);
        offset = code == 0x11 ? base_leb_signed(r) : (int64_t)base_leb_unsigned(r);
        set(p, reg, BASE_CFI_FRAME, (code == 0x2f ? -offset : offset) * p->data_align);
        break;
    case 0x06:
        restore(p, base_leb_unsigned(r));
        break;
    case 0x07: case 0x08: /* undefined, same_value */
        set(p, base_leb_unsigned(r), code == 0x07 ? BASE_CFI_NONE : BASE_CFI_SAME, 0);
        break;
    case 0x09: case 0x14: case 0x15: /* register, val_offset, val_offset_sf */
        set(p, base_leb_unsigned(r), LOST, 0);
        base_leb_unsigned(r);
        break;
    case 0x0a:
        keep(p, r);
        break;
    case 0x0b:
        bring_back(p, r);
        break;
    case 0x0c: case 0x12: /* def_cfa, _sf */
        reg = base_leb_unsigned(r);
        frame_by(p, reg, code == 0x0c ? (int64_t)base_leb_unsigned(r) : base_leb_signed(r) * p->data_align);
        break;
    case 0x0d:
        frame_by(p, base_leb_unsigned(r), p->now.frame.offset);
        break;
    case 0x0e: case 0x13: /* def_cfa_offset, _sf */
        offset = code == 0x0e ? (int64_t)base_leb_unsigned(r) : base_leb_signed(r) * p->data_align;
        frame_by(p, p->now.frame.reg, offset);
        break;
    case 0x0f:
        p->now.frame.reg = take_expression(r, &p->now.frame.offset, &p->now.frame.indirect);
        break;
    case 0x10: case 0x16: /* expression, val_expression */
        set_expression(p, r, code == 0x10);
        break;
    case 0x2e: /* GNU_args_size */
        base_leb_unsigned(r);
        break;
    default:
        r->bad = true;
    }
}

/* Runs up to the row of p->pc. */
static bool run(struct program *p, struct base_leb r)
{
    uintptr_t at = p->from;
    while (r.at < r.end && !r.bad) {
        uint8_t code = (uint8_t)base_leb_take(&r, 1), low = code & 0x3f;
        uint64_t step = code >> 6 == 1 ? low : code == 0x02 ? base_leb_take(&r, 1) : code == 0x03 ? base_leb_take(&r, 2)
                      : code == 0x04 ? base_leb_take(&r, 4) : 0;
        if (step || code >> 6 == 1 || (code >= 0x02 && code <= 0x04)) {
            at += step * p->code_align;
            if (at > p->pc)
                break;
        } else if (code >> 6 == 2) {
            set(p, low, BASE_CFI_FRAME, (int64_t)base_leb_unsigned(&r) * p->data_align);
        } else if (code >> 6 == 3) {
            restore(p, low);
        } else {
            extended(p, &r, code);
        }
    }
    return !r.bad;
}

/* What follows an entry's length; false where it has the 64-bit form, which nobody writes. */
static bool open_entry(const uint8_t *entry, struct base_leb *r)
{
    uint32_t length;
    memcpy(&length, entry, sizeof length);
    *r = (struct base_leb){entry + sizeof length, entry + sizeof length + length, false};
    return length && length < 0xfffffff0;
}

static bool run_common(struct program *p, const uint8_t *entry)
{
    struct base_leb r;
    if (!open_entry(entry, &r) || base_leb_take(&r, 4) != 0)
        return false;
    uint8_t version = (uint8_t)base_leb_take(&r, 1);
    const char *letters = (const char *)r.at;
    size_t count = strnlen(letters, (size_t)(r.end - r.at));
    base_leb_skip(&r, count + 1);
    p->code_align = base_leb_unsigned(&r);
    p->data_align = base_leb_signed(&r);
    uint64_t back = version == 1 ? base_leb_take(&r, 1) : base_leb_unsigned(&r);
    p->augmented = letters[0] == 'z';
    if (r.bad || back != BACK || (version != 1 && version != 3) || (letters[0] && !p->augmented))
        return false;
    struct base_leb a = r;
    if (p->augmented) {
        uint64_t size = base_leb_unsigned(&r);
        a = r;
        base_leb_skip(&r, size);
        a.end = r.at;
    }
    for (size_t i = 1; i < count; i++)
        switch (letters[i]) {
        case 'R': p->encoding = (uint8_t)base_leb_take(&a, 1); break;
        case 'P': (void)take_pointer(&a, (uint8_t)(base_leb_take(&a, 1) & 0x7f)); break;
        case 'L': p->table_encoding = (uint8_t)base_leb_take(&a, 1); break;
        case 'S': p->interrupted = true; break;
        case 'B': case 'G': break; /* aarch64: which key signs; tagged memory */
        default: return false;
        }
    return !a.bad && run(p, r);
}

/* 0 is none, wherever it stands. */
static const uint8_t *table_of(struct base_leb *r, uint8_t encoding)
{
    struct base_leb plain = *r;
    return take_pointer(&plain, encoding & 0x0f) ? (const uint8_t *)take_pointer(r, encoding) : NULL;
}

static bool run_entry(struct program *p, const uint8_t *entry)
{
    struct base_leb r;
    if (!open_entry(entry, &r))
        return false;
    const uint8_t *common = r.at;
    common -= base_leb_take(&r, 4);
    p->from = p->pc + 1; /* the common part is for no address: all of it */
    p->now.base.from = p->now.back.from = BASE_CFI_SAME;
    if (!run_common(p, common))
        return false;
    p->from = take_pointer(&r, p->encoding);
    uintptr_t size = take_pointer(&r, p->encoding & 0x0f);
    if (p->augmented) {
        struct base_leb a = r;
        base_leb_skip(&r, base_leb_unsigned(&r));
        (void)base_leb_unsigned(&a);
        p->table = p->table_encoding == OMITTED || r.bad ? NULL : table_of(&a, p->table_encoding);
    }
    p->first = p->now;
    p->size = r.bad ? 0 : size;
    return p->pc - p->from < p->size && run(p, r);
}

bool base_cfi_function(uintptr_t pc, uintptr_t *begin, const uint8_t **table)
{
    struct program p = {.pc = pc, .table_encoding = OMITTED};
    const uint8_t *entry = entry_of(pc);
    if (entry)
        (void)run_entry(&p, entry);
    *begin = p.from;
    *table = p.pc - p.from < p.size ? p.table : NULL;
    return !entry || p.size;
}

bool base_cfi_find(uintptr_t pc, struct base_cfi_row *row)
{
    struct program p = {.pc = pc, .table_encoding = OMITTED};
    const uint8_t *entry = entry_of(pc);
    if (!entry || !run_entry(&p, entry))
        return false;
    *row = (struct base_cfi_row){ .frame = {(int32_t)p.now.frame.offset, from_of(p.now.frame.reg)},
                                  .indirect = p.now.frame.indirect, .interrupted = p.interrupted,
                                  .base = p.now.base, .back = p.now.back };
    return row->frame.from != LOST && row->base.from != LOST && row->back.from != LOST;
}

/* --- Stepping --- */

static const uintptr_t *where(const struct base_cfi_place *at, uintptr_t frame, struct base_cfi_rule rule)
{
    uintptr_t from = rule.from == BASE_CFI_FRAME ? frame : rule.from == BASE_CFI_STACK ? at->sp : at->base;
    return rule.from <= BASE_CFI_SAME ? NULL : (const uintptr_t *)(from + (uintptr_t)(intptr_t)rule.offset);
}

static bool is_word(const void *address)
{
    return (uintptr_t)address % sizeof(uintptr_t) == 0;
}

/* Without the signature that aarch64 may put into it. */
static uintptr_t plain(uintptr_t back)
{
#if defined(__aarch64__)
    register uintptr_t link __asm__("x30") = back;
    __asm__("hint 7" : "+r"(link)); /* xpaclri; where the processor signs nothing, nothing */
    return link;
#else
    return back;
#endif
}

bool base_cfi_step(struct base_cfi_place *at, const struct base_cfi_row *row, struct base_cfi_read *read)
{
    const uintptr_t *frame = where(at, 0, row->frame);
    *read = (struct base_cfi_read){.frame = row->indirect ? frame : NULL};
    if (row->indirect && !is_word(frame))
        return false;
    uintptr_t sp = row->indirect ? *frame : (uintptr_t)frame;
    read->base = where(at, sp, row->base);
    read->back = where(at, sp, row->back);
    if (!read->back || !is_word(read->back) || !is_word(read->base) || (sp <= at->sp && !row->interrupted))
        return false;
    *at = (struct base_cfi_place){plain(*read->back), sp, read->base ? *read->base : at->base, row->interrupted};
    return at->pc != 0;
}
