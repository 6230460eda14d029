/* SPDX-License-Identifier: MIT */
#include "loops/image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "loops/decode.h"

enum { MOST_HEADERS = 64, MOST_TABLE = 1 << 24 /* bytes of one table */, MOST_NOTES = 1 << 12, LONGEST_ENTRY = 256 };

struct function { int32_t begin, entry; }; /* both from the begin of .eh_frame_hdr */

struct loops_image {
    int file;
    uint16_t machine;
    uint32_t headers;
    Elf64_Phdr header[MOST_HEADERS];
    uint64_t table;            /* address of .eh_frame_hdr */
    struct function *function; /* in order */
    uint32_t functions;
    Elf64_Rela *relocation;    /* of slots, in no order */
    uint32_t relocations;
    Elf64_Sym *symbol;
    uint32_t symbols;
    char *strings;
    uint64_t string_bytes;
};

uint16_t loops_image_machine(const struct loops_image *m)
{
    return m->machine;
}

/* --- Bytes --- */

static bool read_at(int file, uint64_t offset, void *to, size_t size)
{
    for (size_t got = 0; got < size;) {
        ssize_t n = pread(file, (char *)to + got, size - got, (off_t)(offset + got));
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

bool loops_image_read(const struct loops_image *m, uint64_t address, void *to, size_t size)
{
    for (uint32_t i = 0; i < m->headers; i++) {
        const Elf64_Phdr *p = &m->header[i];
        uint64_t within = address - p->p_vaddr;
        if (p->p_type == PT_LOAD && within < p->p_filesz && size <= p->p_filesz - within)
            return read_at(m->file, p->p_offset + within, to, size);
    }
    return false;
}

/* NULL: no memory, not there, or too long. */
static void *take(const struct loops_image *m, uint64_t address, uint64_t size)
{
    void *to = size && size <= MOST_TABLE ? malloc(size) : NULL;
    if (to && !loops_image_read(m, address, to, size)) {
        free(to);
        to = NULL;
    }
    return to;
}

/* --- Build-id --- */

static bool note_is(const uint8_t *notes, uint64_t size, uint64_t align, const char *expected)
{
    for (uint64_t at = 0; size - at >= sizeof(Elf64_Nhdr) && at < size;) {
        Elf64_Nhdr n;
        memcpy(&n, notes + at, sizeof n);
        uint64_t content = at + ((sizeof n + (uint64_t)n.n_namesz + align - 1) & -align);
        if (content > size || n.n_descsz > size - content)
            return false;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes + at + sizeof n, "GNU", 4)) {
            char hex[3] = "";
            bool same = strlen(expected) == 2 * (size_t)n.n_descsz;
            for (uint32_t i = 0; i < n.n_descsz && same; i++) {
                snprintf(hex, sizeof hex, "%02x", notes[content + i]);
                same = !strncmp(hex, expected + 2 * i, 2);
            }
            return same;
        }
        at = content + ((n.n_descsz + align - 1) & -align);
    }
    return false;
}

static bool same_build(const struct loops_image *m, const char *expected)
{
    uint8_t notes[MOST_NOTES];
    for (uint32_t i = 0; i < m->headers; i++) {
        const Elf64_Phdr *p = &m->header[i];
        uint64_t size = p->p_filesz < sizeof notes ? p->p_filesz : sizeof notes;
        if (p->p_type == PT_NOTE && read_at(m->file, p->p_offset, notes, size) &&
            (note_is(notes, size, p->p_align == 8 ? 8 : 4, expected) || note_is(notes, size, 4, expected)))
            return true;
    }
    return false;
}

/* --- Functions --- */

/* The table as linkers write it: 32-bit distances from where it begins, in order. */
static void read_functions(struct loops_image *m, const Elf64_Phdr *p)
{
    struct __attribute__((packed)) {
        uint8_t version, frame, count_as, table_as;
        int32_t to_frame;
        uint32_t count;
    } head;
    if (!loops_image_read(m, p->p_vaddr, &head, sizeof head) || head.version != 1 || head.frame != 0x1b ||
        head.count_as != 0x03 || head.table_as != 0x3b)
        return;
    m->function = take(m, p->p_vaddr + sizeof head, (uint64_t)head.count * sizeof *m->function);
    m->functions = m->function ? head.count : 0;
    m->table = p->p_vaddr;
}

static uint64_t leb(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 63; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

/* Whether the entry's rules begin with the stack, and not with an advance to where that is first used. */
static bool begins_within(const uint8_t *entry, uint64_t size)
{
    const uint8_t *at = entry + 16, *end = entry + size;
    uint64_t augmentation = leb(&at, end);
    if (augmentation >= (uint64_t)(end - at))
        return false;
    uint8_t rule = at[augmentation];
    return (rule >= 0x0c && rule <= 0x0e) || rule == 0x0a || rule >= 0x80;
}

bool loops_image_range(const struct loops_image *m, uint64_t address, struct loops_range *r)
{
    uint8_t entry[LONGEST_ENTRY];
    uint32_t length, size;
    int32_t begin;
    uint32_t i = BASE_ARRAY_PLACE(m->functions, k, m->table + (uint64_t)(int64_t)m->function[k].begin <= address);
    if (i-- == 0)
        return false;
    uint64_t at = m->table + (uint64_t)(int64_t)m->function[i].entry;
    if (!loops_image_read(m, at, &length, sizeof length) || length < 13 || length > MOST_TABLE)
        return false;
    length = length + 4 < sizeof entry ? length + 4 : (uint32_t)sizeof entry;
    if (!loops_image_read(m, at, entry, length))
        return false;
    memcpy(&begin, entry + 8, 4); /* from where it stands: the encoding that compilers use */
    memcpy(&size, entry + 12, 4);
    *r = (struct loops_range){ .begin = at + 8 + (uint64_t)(int64_t)begin, .part = begins_within(entry, length) };
    r->end = r->begin + size;
    return r->begin == m->table + (uint64_t)(int64_t)m->function[i].begin && address < r->end;
}

/* --- Names of what is imported --- */

struct tables { uint64_t symbols, strings, string_bytes, rela, rela_size, jump, jump_size; };

static struct tables read_dynamic(const struct loops_image *m, const Elf64_Phdr *p)
{
    struct tables t = { 0 };
    Elf64_Dyn *d = take(m, p->p_vaddr, p->p_filesz - p->p_filesz % sizeof *d);
    for (uint64_t i = 0; d && i < p->p_filesz / sizeof *d && d[i].d_tag != DT_NULL; i++)
        switch (d[i].d_tag) {
        case DT_SYMTAB: t.symbols = d[i].d_un.d_ptr; break;
        case DT_STRTAB: t.strings = d[i].d_un.d_ptr; break;
        case DT_STRSZ: t.string_bytes = d[i].d_un.d_val; break;
        case DT_RELA: t.rela = d[i].d_un.d_ptr; break;
        case DT_RELASZ: t.rela_size = d[i].d_un.d_val; break;
        case DT_JMPREL: t.jump = d[i].d_un.d_ptr; break;
        case DT_PLTRELSZ: t.jump_size = d[i].d_un.d_val; break;
        default: break;
        }
    free(d);
    return t;
}

/* Appends those that name a symbol. */
static void read_relocations(struct loops_image *m, uint64_t address, uint64_t size)
{
    Elf64_Rela *all = take(m, address, size - size % sizeof *all);
    uint32_t room = m->relocations;
    for (uint64_t i = 0; all && i < size / sizeof *all; i++)
        if (ELF64_R_SYM(all[i].r_info) && !base_array_more(&m->relocation, room, sizeof *all)) {
            m->relocation[room++] = all[i];
            m->relocations = room;
            uint32_t symbol = (uint32_t)ELF64_R_SYM(all[i].r_info) + 1;
            m->symbols = symbol > m->symbols ? symbol : m->symbols;
        }
    free(all);
}

static void read_names(struct loops_image *m, const Elf64_Phdr *p)
{
    struct tables t = read_dynamic(m, p);
    read_relocations(m, t.jump, t.jump_size);
    read_relocations(m, t.rela, t.rela_size);
    m->symbol = take(m, t.symbols, (uint64_t)m->symbols * sizeof *m->symbol);
    m->strings = take(m, t.strings, t.string_bytes);
    m->string_bytes = m->strings ? t.string_bytes : 0;
    if (m->strings)
        m->strings[m->string_bytes - 1] = '\0';
}

const char *loops_image_slot(const struct loops_image *m, uint64_t slot)
{
    for (uint32_t i = 0; m->symbol && i < m->relocations; i++)
        if (m->relocation[i].r_offset == slot) {
            uint32_t name = m->symbol[ELF64_R_SYM(m->relocation[i].r_info)].st_name;
            return name < m->string_bytes ? m->strings + name : NULL;
        }
    return NULL;
}

static const char *stub_arm(const struct loops_image *m, uint64_t stub)
{
    uint32_t w[3];
    unsigned at = 0;
    if (!loops_image_read(m, stub, w, sizeof w))
        return NULL;
    at = w[0] == 0xd503245f; /* bti c */
    if ((w[at] & 0x9f00001f) != 0x90000010 || (w[at + 1] & 0xffc003ff) != 0xf9400211) /* adrp x16; ldr x17, [x16, …] */
        return NULL;
    int64_t pages = (int64_t)(((uint64_t)(w[at] >> 5 & 0x7ffff) << 2 | (w[at] >> 29 & 3)) << 43) >> 43;
    uint64_t page = ((stub + 4 * at) & ~0xfffull) + (uint64_t)(pages * 4096);
    return loops_image_slot(m, page + (w[at + 1] >> 10 & 0xfff) * 8);
}

const char *loops_image_stub(const struct loops_image *m, uint64_t stub)
{
    uint8_t code[32];
    if (m->machine == EM_AARCH64)
        return stub_arm(m, stub);
    if (!loops_image_read(m, stub, code, sizeof code))
        return NULL;
    for (size_t at = 0, steps = 0; at < sizeof code && steps < 2; steps++) { /* endbr64, then the jump */
        struct loops_insn i = loops_decode(m->machine, code + at, sizeof code - at, stub + at);
        if (i.step == LOOPS_JUMP_SLOT)
            return loops_image_slot(m, i.target);
        if (i.step != LOOPS_ON)
            return NULL;
        at += i.length;
    }
    return NULL;
}

/* --- Opening --- */

static bool read_headers(struct loops_image *m)
{
    Elf64_Ehdr e;
    if (!read_at(m->file, 0, &e, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_phentsize != sizeof *m->header || e.e_phnum > MOST_HEADERS ||
        (e.e_machine != EM_X86_64 && e.e_machine != EM_AARCH64))
        return false;
    m->machine = e.e_machine;
    m->headers = e.e_phnum;
    return read_at(m->file, e.e_phoff, m->header, m->headers * sizeof *m->header);
}

static int open_file(const char *path)
{
    struct stat st;
    if (path[0] != '/' || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a job may name a pipe: never wait for one */
        return -1;
    return base_io_open(path, O_RDONLY | O_CLOEXEC, 0);
}

struct loops_image *loops_image_open(const char *path, const char *build_id)
{
    struct loops_image *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->file = open_file(path);
    if (m->file < 0 || !read_headers(m) || !same_build(m, build_id)) {
        loops_image_close(m);
        return NULL;
    }
    for (uint32_t i = 0; i < m->headers; i++)
        if (m->header[i].p_type == PT_GNU_EH_FRAME && !m->function)
            read_functions(m, &m->header[i]);
        else if (m->header[i].p_type == PT_DYNAMIC && !m->symbol)
            read_names(m, &m->header[i]);
    return m;
}

void loops_image_close(struct loops_image *m)
{
    if (!m)
        return;
    if (m->file >= 0)
        close(m->file);
    free(m->function);
    free(m->relocation);
    free(m->symbol);
    free(m->strings);
    free(m);
}
