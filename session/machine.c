/* SPDX-License-Identifier: MIT */
/* The machine that a job ran on, as a small tree, and the energy that it used: for the report. */
#include <hwloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/energy.h"
#include "base/launcher.h"
#include "base/topology.h"
#include "session/internal.h"

struct text { char *at; size_t left; };

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at, t->left, format, arguments);
    va_end(arguments);
    if (n > 0 && (size_t)n < t->left) {
        t->at += n;
        t->left -= (size_t)n;
    } else if (t->left > 0) {
        *t->at = '\0';
    }
}

static void add_memory(struct text *t, hwloc_obj_t obj)
{
    unsigned nodes = 0;
    uint64_t bytes = 0;
    for (hwloc_obj_t m = obj->memory_first_child; m; m = m->next_sibling, nodes++)
        bytes += m->type == HWLOC_OBJ_NUMANODE ? m->attr->numanode.local_memory : 0;
    if (nodes)
        add(t, ", NUMA node%s%s", nodes > 1 ? "s" : "", bytes ? "" : " of unknown size");
    if (bytes)
        add(t, " of %.1f GiB", (double)bytes / (1 << 30));
}

/* What a line says of an object: "Package, NUMA node of 8 GiB", "L3 cache of 32 MiB", "Core", "Processor". */
static void add_object(struct text *t, hwloc_obj_t obj)
{
    if (hwloc_obj_type_is_cache(obj->type))
        add(t, "L%u cache of %.4g MiB", obj->attr->cache.depth, (double)obj->attr->cache.size / (1 << 20));
    else
        add(t, "%s", obj->type == HWLOC_OBJ_PU ? "processor" : obj->type == HWLOC_OBJ_CORE ? "core"
                                                                : hwloc_obj_type_string(obj->type));
    add_memory(t, obj);
}

/* A level with one child that adds nothing is left out; where all below are alike one stands for them. */
static void add_tree(struct text *t, hwloc_obj_t obj, unsigned alike, unsigned depth)
{
    enum { DEEPEST = 16 };
    bool small = hwloc_obj_type_is_cache(obj->type) && obj->attr->cache.depth < 3;
    bool leaf = obj->type == HWLOC_OBJ_PU && obj->parent->arity == 1;
    if (depth > DEEPEST || leaf)
        return;
    if (!small) {
        add(t, "%*s", (int)(2 * depth), "");
        if (alike > 1)
            add(t, "%u x ", alike);
        add_object(t, obj);
        add(t, "\n");
    }
    unsigned next = small ? depth : depth + 1, times = small && obj->arity ? alike : 1;
    if (obj->symmetric_subtree && obj->arity) {
        add_tree(t, obj->first_child, obj->arity * times, next);
        return;
    }
    for (hwloc_obj_t child = obj->first_child; child; child = child->next_sibling)
        add_tree(t, child, 1, next);
}

void session_machine_text(hwloc_topology_t machine, char *text, size_t size)
{
    struct text t = { text, size };
    text[0] = '\0';
    add_tree(&t, hwloc_get_root_obj(machine), 1, 0);
}

static uint32_t describe(struct job *job)
{
    hwloc_topology_t machine;
    uint32_t tree = GRAMMAR_NONE;
    char *text = malloc(4096);
    if (text && hwloc_topology_init(&machine) == 0) {
        base_topology_stay_here(machine);
        if (hwloc_topology_load(machine) == 0) {
            session_machine_text(machine, text, 4096);
            tree = job_string(job, text);
        }
        hwloc_topology_destroy(machine);
    }
    free(text);
    return tree;
}

/* One rank a node. */
static bool reads_energy(void)
{
    long local = base_launcher_local_rank();
    return local >= 0 ? local == 0 : session.world.rank == 0;
}

void session_machine_start(void)
{
    session.energy = reads_energy() && base_energy_open(NULL) ? base_energy_now() : 0;
}

void session_machine_finish(struct job *job, bool kept)
{
    struct job_machine *m = &job->machine;
    bool tells = kept && session.world.rank == 0;
    m->tree = tells ? describe(job) : GRAMMAR_NONE;
    m->energy = tells ? job_string(job, base_energy_why()) : GRAMMAR_NONE;
    if (base_energy_known() && reads_energy()) {
        m->joules = (double)(base_energy_now() - session.energy) * 1e-6;
        m->nodes = 1;
    }
    m->present = m->tree != GRAMMAR_NONE || m->nodes > 0;
}
