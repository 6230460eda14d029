/* SPDX-License-Identifier: MIT */
/*
 * What another process has loaded: from an address to (module, offset), as a job has it (base/modules.h), with the
 * build-id of the module's file.
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "job/define.h"

struct inside_map {
    uint64_t begin, end, bias; /* an address less its bias is its offset */
    uint32_t module;           /* of the job */
};

struct inside_maps {
    struct inside_map *of; /* code, by address */
    uint32_t count;
};

struct job;

/* Of a process, its modules defined in `job`. What cannot be read has none. */
void inside_maps_read(struct inside_maps *m, pid_t process, struct job *job);
void inside_maps_free(struct inside_maps *m);
/* Whether an address is in a module. */
int inside_maps_find(const struct inside_maps *m, uint64_t address, struct job_frame *frame);
