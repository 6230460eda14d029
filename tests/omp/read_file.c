/* SPDX-License-Identifier: MIT */
/*
 * What the proof (teams/proof.h) says of the regions in a file, which may be for another processor: it is mapped as a
 * loader would, and nothing in it is run.
 *
 *   read_file FILE...      a line a region: "NAME VERDICT FUNCTION+OFFSET", the place of the instruction that is it
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "code/insn.h"
#include "teams/proof.h"

static struct file {
    const char *name;
    uint8_t *bytes; /* as they are in the file */
    uint64_t size;
    uint8_t *base;
    const Elf64_Sym *symbols;
    const char *strings;
    uint64_t count;
} file;

/* In place of the C library's: the file is all that is loaded. */
int dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *data)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)file.bytes;
    struct dl_phdr_info info = { .dlpi_addr = (uintptr_t)file.base,
                                 .dlpi_name = file.name,
                                 .dlpi_phdr = (const Elf64_Phdr *)(file.bytes + e->e_phoff),
                                 .dlpi_phnum = e->e_phnum };
    return file.base ? look(&info, sizeof info, data) : 0;
}

static const Elf64_Sym *symbol_at(uintptr_t address)
{
    const Elf64_Sym *best = NULL;
    for (uint64_t i = 0; i < file.count; i++) {
        const Elf64_Sym *s = &file.symbols[i];
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx && address - s->st_value < s->st_size)
            best = s;
    }
    return best;
}

static bool map_file(const char *name)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return false;
    file = (struct file){ .name = name, .size = (uint64_t)st.st_size };
    file.bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)file.bytes;
    if (file.bytes == MAP_FAILED || file.size < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    code_choose(e->e_machine);
    uint64_t end = 0;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(file.bytes + e->e_phoff);
    for (int i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_vaddr + p[i].p_memsz > end)
            end = p[i].p_vaddr + p[i].p_memsz;
    file.base = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (file.base == MAP_FAILED)
        return false;
    for (int i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_LOAD)
            memcpy(file.base + p[i].p_vaddr, file.bytes + p[i].p_offset, p[i].p_filesz);
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file.bytes + e->e_shoff);
    for (int i = 0; i < e->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB) {
            file.symbols = (const Elf64_Sym *)(file.bytes + sections[i].sh_offset);
            file.count = sections[i].sh_size / sizeof *file.symbols;
            file.strings = (const char *)(file.bytes + sections[sections[i].sh_link].sh_offset);
        }
    return file.symbols != NULL;
}

static void show(struct teams_prover *p, const Elf64_Sym *s)
{
    uintptr_t base = (uintptr_t)file.base;
    struct teams_verdict v = teams_prove(p, base + s->st_value, TEAMS_REGION);
    const Elf64_Sym *at = v.where ? symbol_at(v.where - base) : NULL;
    printf("%s %s", file.strings + s->st_name,
           job_proof_reason(v.proof) == JOB_PROOF_HARMLESS ? "proven" : job_proof_text(job_proof_reason(v.proof)));
    if (at)
        printf(" at %s+0x%lx", file.strings + at->st_name, (unsigned long)(v.where - base - at->st_value));
    printf("\n");
}

static int by_address(const void *a, const void *b)
{
    const Elf64_Sym *x = *(const Elf64_Sym *const *)a, *y = *(const Elf64_Sym *const *)b;
    return (x->st_value > y->st_value) - (x->st_value < y->st_value);
}

static void show_all(void)
{
    const Elf64_Sym **regions = malloc((file.count + 1) * sizeof *regions);
    uint64_t count = 0;
    for (uint64_t i = 0; regions && i < file.count; i++) {
        const char *name = file.strings + file.symbols[i].st_name;
        bool whole = !strstr(name, ".cold") && !strstr(name, ".part");
        if (ELF64_ST_TYPE(file.symbols[i].st_info) == STT_FUNC && file.symbols[i].st_shndx &&
            (strstr(name, "._omp_fn.") || strncmp(name, "region_", 7) == 0) && whole)
            regions[count++] = &file.symbols[i];
    }
    qsort(regions, count, sizeof *regions, by_address);
    struct teams_prover *p = teams_prover_create();
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (uint64_t i = 0; i < count; i++)
        show(p, regions[i]);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    double ms = (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
    fprintf(stderr, "%s: %lu regions, %.3f ms each\n", file.name, (unsigned long)count,
            ms / (double)(count ? count : 1));
    teams_prover_destroy(p);
    free(regions);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!map_file(argv[i])) {
            fprintf(stderr, "%s: no ELF file with symbols\n", argv[i]);
            return 1;
        }
        show_all();
    }
    return 0;
}
