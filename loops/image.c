/* SPDX-License-Identifier: MIT */
#include "loops/image.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hex.h"
#include "base/leb.h"
#include "base/io.h"
#include "base/must.h"
#include "code/step.h"

enum { MOST_TABLE = 1 << 24 /* bytes of one entry */, LONGEST_ENTRY = 256, LONGEST_ID = 64 };

struct function { int32_t begin, entry; }; /* both from the begin of .eh_frame_hdr */
struct slot { uint64_t address; const char *name; };

struct loops_image {
    int file;
    Elf *elf;
    uint16_t machine;
    const char *bytes; /* all of the file */
    size_t size;
    uint64_t table;                  /* address of .eh_frame_hdr */
    const struct function *function; /* in order */
    uint32_t functions;
    struct slot *slot; /* in no order */
    uint32_t slots;
};

uint16_t loops_image_machine(const struct loops_image *m)
{
    return m->machine;
}

/* The i-th header of the type, from 0 on. False: there is none. */
static bool find_header(Elf *elf, uint32_t type, int i, GElf_Phdr *p)
{
    for (int n = 0; gelf_getphdr(elf, n, p); n++)
        if (p->p_type == type && i-- == 0)
            return true;
    return false;
}

const uint8_t *loops_image_at(const struct loops_image *m, uint64_t address, uint64_t size)
{
    GElf_Phdr p;
    for (int i = 0; find_header(m->elf, PT_LOAD, i, &p); i++) {
        uint64_t within = address - p.p_vaddr;
        if (within < p.p_filesz && size <= p.p_filesz - within)
            return p.p_offset <= m->size && within + size <= m->size - p.p_offset
                       ? (const uint8_t *)m->bytes + p.p_offset + within : NULL;
    }
    return NULL;
}

static bool same_build(Elf *elf, const char *expected)
{
    char hex[2 * LONGEST_ID + 1];
    const void *id;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &id);
    return n > 0 && n <= LONGEST_ID && !strcmp(base_hex(hex, id, (size_t)n), expected);
}

/* --- Functions --- */

/* The table as linkers write it: 32-bit distances from where it begins, in order. */
static void find_functions(struct loops_image *m)
{
    struct __attribute__((packed)) {
        uint8_t version, frame, count_as, table_as;
        int32_t to_frame;
        uint32_t count;
    } head;
    GElf_Phdr p;
    const uint8_t *at = find_header(m->elf, PT_GNU_EH_FRAME, 0, &p) ? loops_image_at(m, p.p_vaddr, sizeof head) : NULL;
    if (!at)
        return;
    memcpy(&head, at, sizeof head);
    if (head.version != 1 || head.frame != 0x1b || head.count_as != 0x03 || head.table_as != 0x3b)
        return;
    at = loops_image_at(m, p.p_vaddr + sizeof head, (uint64_t)head.count * sizeof *m->function);
    if (!at || (uintptr_t)at % _Alignof(struct function))
        return;
    m->function = (const void *)at;
    m->functions = head.count;
    m->table = p.p_vaddr;
}

/* Whether the entry's rules begin with the stack, and not with an advance to where that is first used. */
static bool begins_within(const uint8_t *entry, uint64_t size)
{
    struct base_leb r = {entry + 16, entry + size, false};
    base_leb_skip(&r, base_leb_unsigned(&r)); /* the augmentation */
    uint64_t rule = base_leb_take(&r, 1);
    return (rule >= 0x0c && rule <= 0x0e) || rule == 0x0a || rule >= 0x80;
}

bool loops_image_range(const struct loops_image *m, uint64_t address, struct loops_range *r)
{
    uint32_t length, size;
    int32_t begin;
    uint32_t i = BASE_ARRAY_PLACE(m->functions, k, m->table + (uint64_t)(int64_t)m->function[k].begin <= address);
    if (i-- == 0)
        return false;
    uint64_t at = m->table + (uint64_t)(int64_t)m->function[i].entry;
    const uint8_t *entry = loops_image_at(m, at, sizeof length);
    if (!entry)
        return false;
    memcpy(&length, entry, sizeof length);
    if (length < 13 || length > MOST_TABLE)
        return false;
    length = length + 4 < LONGEST_ENTRY ? length + 4 : LONGEST_ENTRY;
    entry = loops_image_at(m, at, length);
    if (!entry)
        return false;
    memcpy(&begin, entry + 8, 4); /* from where it stands: the encoding that compilers use */
    memcpy(&size, entry + 12, 4);
    *r = (struct loops_range){ .begin = at + 8 + (uint64_t)(int64_t)begin, .part = begins_within(entry, length) };
    r->end = r->begin + size;
    return r->begin == m->table + (uint64_t)(int64_t)m->function[i].begin && address < r->end;
}

/* --- Names of what is imported --- */

/* Of a section of relocations those that name a symbol. */
static void add_slots(struct loops_image *m, Elf_Scn *section)
{
    GElf_Shdr own, of;
    Elf_Scn *symbols = gelf_getshdr(section, &own) && own.sh_type == SHT_RELA ? elf_getscn(m->elf, own.sh_link) : NULL;
    if (!gelf_getshdr(symbols, &of) || of.sh_type != SHT_DYNSYM)
        return;
    Elf_Data *rows = elf_getdata(section, NULL), *names = elf_getdata(symbols, NULL);
    GElf_Rela r;
    GElf_Sym symbol;
    for (int i = 0; gelf_getrela(rows, i, &r); i++) {
        int number = (int)GELF_R_SYM(r.r_info);
        const char *name = number && gelf_getsym(names, number, &symbol)
                               ? elf_strptr(m->elf, of.sh_link, symbol.st_name) : NULL;
        if (!name)
            continue;
        BASE_ADD(m->slot, m->slots, (struct slot){ r.r_offset, name });
    }
}

const char *loops_image_slot(const struct loops_image *m, uint64_t slot)
{
    for (uint32_t i = 0; i < m->slots; i++)
        if (m->slot[i].address == slot)
            return m->slot[i].name;
    return NULL;
}

static const char *stub_arm(const struct loops_image *m, uint64_t stub)
{
    uint32_t w[3];
    const uint8_t *code = loops_image_at(m, stub, sizeof w);
    if (!code)
        return NULL;
    memcpy(w, code, sizeof w);
    unsigned at = w[0] == 0xd503245f; /* bti c */
    if ((w[at] & 0x9f00001f) != 0x90000010 || (w[at + 1] & 0xffc003ff) != 0xf9400211) /* adrp x16; ldr x17, [x16, …] */
        return NULL;
    int64_t pages = (int64_t)(((uint64_t)(w[at] >> 5 & 0x7ffff) << 2 | (w[at] >> 29 & 3)) << 43) >> 43;
    uint64_t page = ((stub + 4 * at) & ~0xfffull) + (uint64_t)(pages * 4096);
    return loops_image_slot(m, page + (w[at + 1] >> 10 & 0xfff) * 8);
}

const char *loops_image_stub(const struct loops_image *m, uint64_t stub)
{
    enum { MOST = 32 };
    if (m->machine == EM_AARCH64)
        return stub_arm(m, stub);
    const uint8_t *code = loops_image_at(m, stub, MOST);
    for (size_t at = 0, steps = 0; code && at < MOST && steps < 2; steps++) { /* endbr64, then the jump */
        struct code_step i = code_step_at(m->machine, code + at, MOST - at, stub + at);
        if (i.op == CODE_JUMP_SLOT)
            return loops_image_slot(m, i.target);
        if (i.op != CODE_OTHER)
            return NULL;
        at += i.length;
    }
    return NULL;
}

/* --- Opening --- */

static int open_file(const char *path)
{
    struct stat st;
    if (path[0] != '/' || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a job may name a pipe: never wait for one */
        return -1;
    return base_io_open(path, O_RDONLY | O_CLOEXEC, 0);
}

static bool is_known(struct loops_image *m)
{
    GElf_Ehdr e;
    if (elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &e) || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_ident[EI_DATA] != ELFDATA2LSB || (e.e_machine != EM_X86_64 && e.e_machine != EM_AARCH64))
        return false;
    m->machine = e.e_machine;
    m->bytes = elf_rawfile(m->elf, &m->size);
    return m->bytes;
}

struct loops_image *loops_image_open(const char *path, const char *build_id)
{
    struct loops_image *m = calloc(1, sizeof *m);
    elf_version(EV_CURRENT);
    m->file = open_file(path);
    m->elf = m->file < 0 ? NULL : elf_begin(m->file, ELF_C_READ_MMAP, NULL);
    if (!is_known(m) || !same_build(m->elf, build_id)) {
        loops_image_close(m);
        return NULL;
    }
    find_functions(m);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(m->elf, section));)
        add_slots(m, section);
    return m;
}

void loops_image_close(struct loops_image *m)
{
    if (!m)
        return;
    elf_end(m->elf);
    if (m->file >= 0)
        close(m->file);
    free(m->slot);
    free(m);
}
