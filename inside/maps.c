/* SPDX-License-Identifier: MIT */
#include "inside/maps.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hex.h"
#include "base/must.h"
#include "job/job.h"

enum { ID = 64 /* bytes of a build-id, at most */ };

/* Of the file that is mapped from `offset` on: its build-id, and the address that it gives to what is there. */
static uint64_t read_file(const char *path, uint64_t offset, char id[2 * ID + 1])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    const void *bits;
    size_t parts = 0;
    ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
    uint64_t address = offset;
    GElf_Phdr p;
    if (size > 0 && size <= ID)
        base_hex(id, bits, (size_t)size);
    if (elf && elf_getphdrnum(elf, &parts))
        parts = 0;
    for (size_t i = 0; i < parts; i++)
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X &&
            offset <= p.p_offset + p.p_filesz && offset + (uint64_t)getpagesize() > p.p_offset)
            address = p.p_vaddr + offset - p.p_offset;
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return address;
}

void inside_maps_read(struct inside_maps *m, pid_t process, struct job *job)
{
    char name[64], line[PATH_MAX + 128], path[PATH_MAX], rights[8];
    uint64_t begin, end, offset;
    snprintf(name, sizeof name, "/proc/%d/maps", process);
    FILE *f = fopen(name, "re");
    *m = (struct inside_maps){ .of = NULL };
    elf_version(EV_CURRENT);
    while (f && fgets(line, sizeof line, f)) {
        char id[2 * ID + 1] = "";
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &begin, &end, rights, &offset,
                   path) != 5 || !strchr(rights, 'x'))
            continue;
        uint64_t address = *path == '/' ? read_file(path, offset, id) : 0; /* else "[vdso]" */
        base_must(base_array_more(&m->of, m->count, sizeof *m->of));
        m->of[m->count++] = (struct inside_map){ begin, end, begin - address, job_module(job, path, id) };
    }
    if (f)
        fclose(f);
}

void inside_maps_free(struct inside_maps *m)
{
    free(m->of);
    *m = (struct inside_maps){ .of = NULL };
}

int inside_maps_find(const struct inside_maps *m, uint64_t address, struct job_frame *frame)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (address >= m->of[i].begin && address < m->of[i].end) {
            *frame = (struct job_frame){ .module = m->of[i].module, .offset = address - m->of[i].bias };
            return 1;
        }
    return 0;
}
