/* SPDX-License-Identifier: MIT */
#include "code/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "base/modules.h"
#include "code/insn.h"

enum { MOST_TABLE = 1 << 24 /* bytes of one entry */, LONGEST_ENTRY = 256 };

/* --- Bytes --- */

/* What there is from an address on; NULL: nothing. */
static const uint8_t *find_bytes(const struct code_image *m, uint64_t address, uint64_t *size)
{
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct code_part *p = &m->part[i];
        *size = p->end - address;
        if (address >= p->begin && address < p->end)
            return p->bytes + (address - p->begin);
    }
    return NULL;
}

const uint8_t *code_image_at(const struct code_image *m, uint64_t address, uint64_t size)
{
    uint64_t all;
    const uint8_t *bytes = find_bytes(m, address, &all);
    return bytes && size <= all ? bytes : NULL;
}

static bool copy(const struct code_image *m, uint64_t address, void *to, size_t size)
{
    const uint8_t *from = code_image_at(m, address, size);
    if (from)
        memcpy(to, from, size);
    return from;
}

/* --- What the program headers say --- */

/* One of them. False: there are too many parts. */
static bool add_header(struct code_image *m, uint32_t type, uint32_t flags, uint64_t begin, uint64_t size,
                       uint64_t memory, const uint8_t *bytes)
{
    if (type == PT_GNU_RELRO) {
        m->relro = begin;
        m->relro_end = begin + memory;
    } else if (type == PT_GNU_EH_FRAME) {
        m->unwind = begin;
    }
    if (type != PT_LOAD)
        return true;
    if (flags & PF_W) {
        m->data = m->data ? m->data : begin;
        m->data_end = begin + memory;
    }
    if (!(flags & PF_R) || !size || !bytes)
        return true;
    if (m->parts == CODE_PARTS || begin + size < begin)
        return false;
    m->part[m->parts++] = (struct code_part){ begin, begin + size, bytes };
    return true;
}

/* glibc has relocated the pointers of its own copy, other loaders need not; nor has a file. */
static uint64_t pointer(const struct code_image *m, uint64_t value)
{
    return value && value < m->base ? m->base + value : value;
}

static void read_dynamic(struct code_image *m, uint64_t at)
{
    Elf64_Dyn d;
    for (; copy(m, at, &d, sizeof d) && d.d_tag != DT_NULL; at += sizeof d)
        switch (d.d_tag) {
        case DT_SYMTAB: m->symbols = pointer(m, d.d_un.d_ptr); break;
        case DT_STRTAB: m->strings = pointer(m, d.d_un.d_ptr); break;
        case DT_RELA: m->relocations = pointer(m, d.d_un.d_ptr); break;
        case DT_RELASZ: m->relocation_count = d.d_un.d_val / sizeof(Elf64_Rela); break;
        case DT_JMPREL: m->jumps = pointer(m, d.d_un.d_ptr); break;
        case DT_PLTRELSZ: m->jump_count = d.d_un.d_val / sizeof(Elf64_Rela); break;
        default: break;
        }
}

/* --- Loaded modules --- */

struct search {
    uint64_t address;
    struct code_image *m;
};

static int look_at_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct search *s = data;
    struct code_image m = { .base = info->dlpi_addr, .path = info->dlpi_name, .machine = code_chosen() };
    uint64_t dynamic = 0;
    bool fine = true;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + p->p_vaddr;
        fine &= add_header(&m, p->p_type, p->p_flags, begin, p->p_filesz, p->p_memsz,
                           (const uint8_t *)(uintptr_t)begin);
        if (p->p_type == PT_DYNAMIC)
            dynamic = begin;
        if (p->p_type == PT_LOAD && (p->p_flags & (PF_X | PF_R)) == (PF_X | PF_R) && s->address - begin < p->p_filesz) {
            m.begin = begin;
            m.end = begin + p->p_filesz;
        }
    }
    if (!m.end)
        return 0;
    if (dynamic)
        read_dynamic(&m, dynamic);
    *s->m = m;
    return fine ? 1 : 2;
}

bool code_image_find(uint64_t address, struct code_image *m)
{
    struct search s = { address, m };
    return dl_iterate_phdr(look_at_loaded, &s) == 1;
}

bool code_image_is_constant(const struct code_image *m, uint64_t address)
{
    bool data = address >= m->data && address < m->data_end, relro = address >= m->relro && address < m->relro_end;
    return !data || relro;
}

struct kept { uint64_t from, to; };

static int look_at_kept(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct kept *k = data;
    bool kept = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + p->p_vaddr;
        bool constant = p->p_type == PT_GNU_RELRO || (p->p_type == PT_LOAD && (p->p_flags & (PF_R | PF_W)) == PF_R);
        kept |= constant && k->from >= begin && k->to <= begin + p->p_filesz;
    }
    return kept;
}

bool code_image_keeps(uint64_t address, size_t bytes)
{
    struct kept k = { address, address + bytes };
    return bytes > 0 && k.to > k.from && dl_iterate_phdr(look_at_kept, &k) == 1;
}

/* What a slot leads to until its first call: back to where its number is pushed for the loader, or (aarch64) to the
   begin of all stubs, which saves two registers first. */
static bool is_unbound(const struct code_image *m, uint64_t to)
{
    static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e, 0xfa }, push = 0x68, save[] = { 0xf0, 0x7b, 0xbf, 0xa9 };
    if (to < m->begin || to + 16 > m->end)
        return false;
    const uint8_t *code = (const uint8_t *)(uintptr_t)to;
    bool marked = memcmp(code, mark, sizeof mark) == 0;
    return code[marked ? sizeof mark : 0] == push || memcmp(code, save, sizeof save) == 0;
}

/* The program's and its libraries' names come first, then those that came with the module (RTLD_LOCAL). */
static uint64_t find_name(const struct code_image *m, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name), *own;
    if (found || !m->path || !*m->path || !(own = dlopen(m->path, RTLD_LAZY | RTLD_NOLOAD)))
        return (uintptr_t)found;
    found = dlsym(own, name);
    dlclose(own);
    return (uintptr_t)found;
}

uint64_t code_image_target(const struct code_image *m, uint64_t slot, const char *name)
{
    struct code_image other;
    uintptr_t to;
    memcpy(&to, (const void *)(uintptr_t)slot, sizeof to);
    return code_image_find(to, &other) && !is_unbound(m, to) ? to : find_name(m, name);
}

/* --- Files --- */

static bool is_known(struct code_image *m)
{
    const Elf64_Ehdr *e = (const void *)m->file.bytes; /* which has one: base_elf_map() */
    m->machine = e->e_machine;
    return e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_ident[EI_DATA] == ELFDATA2LSB &&
           (e->e_machine == EM_X86_64 || e->e_machine == EM_AARCH64);
}

static bool read_headers(struct code_image *m)
{
    ElfW(Phdr) p;
    uint64_t dynamic = 0;
    bool fine = is_known(m);
    for (unsigned i = 0; fine && base_elf_segment(&m->file, i, &p); i++) {
        fine = add_header(m, p.p_type, p.p_flags, p.p_vaddr, p.p_filesz, p.p_memsz,
                          base_elf_bytes(&m->file, p.p_offset, p.p_filesz));
        if (p.p_type == PT_DYNAMIC)
            dynamic = p.p_vaddr;
    }
    read_dynamic(m, dynamic);
    return fine;
}

bool code_image_open(struct code_image *m, const char *path, const char *build_id)
{
    char id[BASE_ELF_ID] = "";
    *m = (struct code_image){ .path = path };
    if (path[0] == '/' && base_elf_map(&m->file, path) == 0) {
        base_elf_file_id(&m->file, id);
        if (!strcmp(id, build_id) && read_headers(m))
            return true;
    }
    code_image_close(m);
    return false;
}

void code_image_close(struct code_image *m)
{
    base_elf_unmap(&m->file);
}

/* --- Names of what is imported --- */

static const char *text_at(const struct code_image *m, uint64_t address)
{
    uint64_t size;
    const char *text = (const char *)find_bytes(m, address, &size);
    return text && memchr(text, 0, size) ? text : NULL;
}

static const char *slot_in(const struct code_image *m, uint64_t table, uint64_t count, uint64_t slot)
{
    const uint8_t *rows = code_image_at(m, table, count * sizeof(Elf64_Rela));
    Elf64_Rela r;
    Elf64_Sym s;
    for (uint64_t i = 0; rows && i < count; i++) {
        memcpy(&r, rows + i * sizeof r, sizeof r);
        if (r.r_offset + m->base != slot)
            continue;
        uint64_t symbol = ELF64_R_SYM(r.r_info);
        return symbol && copy(m, m->symbols + symbol * sizeof s, &s, sizeof s) ? text_at(m, m->strings + s.st_name)
                                                                               : NULL;
    }
    return NULL;
}

static bool binds(const struct code_image *m, uint64_t table, uint64_t count, const char *begin)
{
    const uint8_t *rows = code_image_at(m, table, count * sizeof(Elf64_Rela));
    bool found = count && !rows;
    Elf64_Rela r;
    Elf64_Sym s;
    for (uint64_t i = 0; rows && i < count && !found; i++) {
        memcpy(&r, rows + i * sizeof r, sizeof r);
        uint64_t symbol = ELF64_R_SYM(r.r_info);
        const char *name = symbol && copy(m, m->symbols + symbol * sizeof s, &s, sizeof s)
                               ? text_at(m, m->strings + s.st_name) : "";
        found = !name || !strncmp(name, begin, strlen(begin));
    }
    return found;
}

bool code_image_imports(const struct code_image *m, const char *begin)
{
    return binds(m, m->jumps, m->jump_count, begin) || binds(m, m->relocations, m->relocation_count, begin);
}

static const char *look_at_slot(const struct code_image *m, uint64_t slot)
{
    const char *name = slot_in(m, m->jumps, m->jump_count, slot);
    return !name && slot >= m->relro && slot < m->relro_end
               ? slot_in(m, m->relocations, m->relocation_count, slot) : name;
}

const char *code_image_slot(const struct code_image *m, uint64_t slot)
{
    /* Large programs have a hundred thousand relocations. */
    enum { CACHE = 1024 };
    static struct { uint64_t slot, base; const char *name; } cache[CACHE];
    static uint64_t unloaded;
    uint32_t at = (uint32_t)(slot >> 3) % CACHE;
    if (m->file.bytes)
        return look_at_slot(m, slot);
    if (unloaded != base_modules_unloaded())
        memset(cache, 0, sizeof cache);
    unloaded = base_modules_unloaded();
    if (cache[at].slot != slot || cache[at].base != m->base) {
        cache[at].name = look_at_slot(m, slot);
        cache[at].slot = slot;
        cache[at].base = m->base;
    }
    return cache[at].name;
}

bool code_image_stub(const struct code_image *m, uint64_t stub, uint64_t *slot)
{
    uint64_t size;
    const uint8_t *code = find_bytes(m, stub, &size);
    uint8_t mark = code ? code_mark(m->machine, code, size) : 0;
    struct code_step s = { .op = CODE_BAD };
    if (code)
        s = code_step_at(m->machine, code + mark, size - mark, stub + mark);
    *slot = s.target;
    return s.op == CODE_JUMP_SLOT;
}

/* --- Functions --- */

struct function { int32_t begin, entry; }; /* both from the begin of .eh_frame_hdr */

/* The table as linkers write it: 32-bit distances from where it begins, in order. NULL: none. */
static const struct function *find_functions(const struct code_image *m, uint32_t *count)
{
    struct __attribute__((packed)) {
        uint8_t version, frame, count_as, table_as;
        int32_t to_frame;
        uint32_t count;
    } head;
    if (!copy(m, m->unwind, &head, sizeof head) || head.version != 1 || head.frame != 0x1b || head.count_as != 0x03 ||
        head.table_as != 0x3b)
        return NULL;
    const uint8_t *at = code_image_at(m, m->unwind + sizeof head, (uint64_t)head.count * sizeof(struct function));
    *count = head.count;
    return (uintptr_t)at % _Alignof(struct function) ? NULL : (const void *)at;
}

/* Whether the entry's rules begin with the stack, and not with an advance to where that is first used. */
static bool begins_within(const uint8_t *entry, uint64_t size)
{
    struct base_leb r = {entry + 16, entry + size, false};
    base_leb_skip(&r, base_leb_unsigned(&r)); /* the augmentation */
    uint64_t rule = base_leb_take(&r, 1);
    return (rule >= 0x0c && rule <= 0x0e) || rule == 0x0a || rule >= 0x80;
}

bool code_image_range(const struct code_image *m, uint64_t address, struct code_range *r)
{
    uint32_t functions = 0, length, size;
    int32_t begin;
    const struct function *f = find_functions(m, &functions);
    uint32_t i = f ? BASE_ARRAY_PLACE(functions, k, m->unwind + (uint64_t)(int64_t)f[k].begin <= address) : 0;
    if (i-- == 0)
        return false;
    uint64_t at = m->unwind + (uint64_t)(int64_t)f[i].entry;
    if (!copy(m, at, &length, sizeof length) || length < 13 || length > MOST_TABLE)
        return false;
    length = length + 4 < LONGEST_ENTRY ? length + 4 : LONGEST_ENTRY;
    const uint8_t *entry = code_image_at(m, at, length);
    if (!entry)
        return false;
    memcpy(&begin, entry + 8, 4); /* from where it stands: the encoding that compilers use */
    memcpy(&size, entry + 12, 4);
    *r = (struct code_range){ .begin = at + 8 + (uint64_t)(int64_t)begin, .part = begins_within(entry, length) };
    r->end = r->begin + size;
    return r->begin == m->unwind + (uint64_t)(int64_t)f[i].begin && address < r->end;
}
