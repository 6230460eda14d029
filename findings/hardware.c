/* SPDX-License-Identifier: MIT */
#include "findings/hardware.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/topology.h"
#include "job/schema.h"

/* What asks cards, or runs on each processor, is left out. */
static hwloc_topology_t begin(void)
{
    static const char *const others[] = { "cuda", "nvml", "rsmi", "levelzero", "opencl", "gl", "x86" };
    hwloc_topology_t t;

    if (hwloc_topology_init(&t))
        return NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        (void)hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, others[i]);
    (void)hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
    (void)hwloc_topology_set_type_filter(t, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
    return t;
}

static hwloc_topology_t load(hwloc_topology_t t)
{
    if (!t || hwloc_topology_load(t) == 0)
        return t;
    hwloc_topology_destroy(t);
    return NULL;
}

static hwloc_topology_t here(void)
{
    hwloc_topology_t t = begin();

    if (t)
        (void)hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
    return load(t);
}

static cpu_set_t set_of(hwloc_const_bitmap_t bits)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = hwloc_bitmap_first(bits); i >= 0 && i < CPU_SETSIZE; i = hwloc_bitmap_next(bits, i))
        CPU_SET(i, &set);
    return set;
}

/* Of all objects of a kind: how many. */
static unsigned sets_of(hwloc_topology_t t, hwloc_obj_type_t type, cpu_set_t **sets)
{
    unsigned count = 0;

    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, type, o));)
        BASE_ADD(*sets, count, set_of(o->cpuset));
    return count;
}

/* Whether a node's processors are also another one's: all of these and more, or the same as an earlier one has. */
static bool is_beside(const struct findings_hardware *h, unsigned node)
{
    cpu_set_t both;

    for (unsigned i = 0; i < h->nodes; i++) {
        CPU_AND(&both, &h->node[i], &h->node[node]);
        bool within = i != node && CPU_COUNT(&h->node[i]) && CPU_EQUAL(&both, &h->node[i]);
        if (within && (i < node || !CPU_EQUAL(&h->node[i], &h->node[node])))
            return true;
    }
    return !CPU_COUNT(&h->node[node]);
}

/* Memory of a card, or a faster one beside the processors' own: nobody is put there. */
static void leave_out_memory(struct findings_hardware *h)
{
    BASE_OWN bool *beside = calloc(h->nodes + 1u, sizeof *beside);
    unsigned kept = 0;

    for (unsigned i = 0; i < h->nodes; i++)
        beside[i] = is_beside(h, i);
    for (unsigned i = 0; i < h->nodes; i++)
        if (!beside[i])
            h->node[kept++] = h->node[i];
    h->nodes = kept;
}

static void fill(hwloc_topology_t t, struct findings_hardware *h)
{
    *h = (struct findings_hardware){ .all = set_of(hwloc_topology_get_allowed_cpuset(t)) };
    h->cores = sets_of(t, HWLOC_OBJ_CORE, &h->core);
    if (!h->cores) /* not told */
        h->cores = sets_of(t, HWLOC_OBJ_PU, &h->core);
    h->nodes = sets_of(t, HWLOC_OBJ_NUMANODE, &h->node);
    leave_out_memory(h);
}

bool findings_hardware_here(struct findings_hardware *h)
{
    hwloc_topology_t t = here();

    if (!t)
        return false;
    fill(t, h);
    hwloc_topology_destroy(t);
    return true;
}

void findings_hardware_free(struct findings_hardware *h)
{
    free(h->core);
    free(h->node);
    *h = (struct findings_hardware){ .cores = 0 };
}

static void print_level(hwloc_topology_t t, hwloc_obj_type_t type, const char *name, int *indent, FILE *out)
{
    int count = hwloc_get_nbobjs_by_type(t, type);
    hwloc_obj_t first = count > 0 ? hwloc_get_obj_by_type(t, type, 0) : NULL;
    uint64_t bytes = !first ? 0 : type == HWLOC_OBJ_NUMANODE ? first->attr->numanode.local_memory
                     : hwloc_obj_type_is_cache(type)        ? first->attr->cache.size : 0;

    if (!first)
        return;
    fprintf(out, "%*s", 2 * (*indent)++, "");
    if (count > 1)
        fprintf(out, "%d x ", count);
    fputs(name, out);
    if (bytes)
        fprintf(out, " of %.4g %s", (double)bytes / (type == HWLOC_OBJ_NUMANODE ? 1 << 30 : 1 << 20),
                type == HWLOC_OBJ_NUMANODE ? "GiB" : "MiB");
    fputc('\n', out);
}

static void print_tree(hwloc_topology_t t, FILE *out)
{
    static const struct { hwloc_obj_type_t type; const char *name; } levels[] = {
        { HWLOC_OBJ_MACHINE, "machine" }, { HWLOC_OBJ_PACKAGE, "package" }, { HWLOC_OBJ_NUMANODE, "memory node" },
        { HWLOC_OBJ_L3CACHE, "L3 cache" }, { HWLOC_OBJ_CORE, "core" }, { HWLOC_OBJ_PU, "processor" } };
    int indent = 0;

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        print_level(t, levels[i].type, levels[i].name, &indent, out);
}

/* --- In a job --- */

unsigned findings_hardware_sets(const char *text, cpu_set_t **sets)
{
    unsigned count = 0;
    cpu_set_t one;

    for (const char *at = text; at && count < CPU_SETSIZE && base_topology_list(at, &one); at += at != NULL) {
        BASE_ADD(*sets, count, one);
        at = strchr(at, ';');
    }
    return count;
}

static const struct job_hardware *row_of(const struct job *j)
{
    return j->hardware.count ? &j->hardware.of[0] : NULL;
}

const char *findings_hardware_tree(const struct job *j)
{
    return row_of(j) ? job_text(j, row_of(j)->tree) : NULL;
}

const char *findings_hardware_xml(const struct job *j)
{
    return row_of(j) ? job_text(j, row_of(j)->xml) : NULL;
}

static bool read_machine(const char *cores, const char *nodes, struct findings_hardware *h)
{
    *h = (struct findings_hardware){ .cores = 0 };
    h->cores = findings_hardware_sets(cores, &h->core);
    h->nodes = findings_hardware_sets(nodes, &h->node);
    leave_out_memory(h);
    CPU_ZERO(&h->all);
    for (unsigned i = 0; i < h->cores; i++)
        CPU_OR(&h->all, &h->all, &h->core[i]);
    if (h->cores)
        return true;
    findings_hardware_free(h);
    return false;
}

bool findings_hardware_of(const struct job *j, struct findings_hardware *h)
{
    *h = (struct findings_hardware){ .cores = 0 };
    return row_of(j) && read_machine(job_text(j, row_of(j)->cores), job_text(j, row_of(j)->nodes), h);
}

bool findings_hardware_of_host(const struct job *j, uint32_t row, struct findings_hardware *h)
{
    const struct job_host *host = &j->hosts.row[row];

    return read_machine(job_text(j, host->cores), job_text(j, host->memory), h);
}

static void print_sets(const cpu_set_t *sets, unsigned count, FILE *out)
{
    for (unsigned k = 0; k < count; k++)
        for (int i = 0, any = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &sets[k]))
                fprintf(out, "%s%d", any++ ? "," : k ? ";" : "", i);
}

static uint32_t text_of(struct job *j, hwloc_topology_t t, const cpu_set_t *sets, unsigned count)
{
    BASE_OWN char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (sets)
        print_sets(sets, count, out);
    else
        print_tree(t, out);
    fclose(out);
    return job_string(j, text);
}

bool findings_hardware_keep(struct job *j)
{
    hwloc_topology_t t = j->hardware.count ? NULL : here();
    struct findings_hardware h;
    char *xml = NULL;
    int size;

    if (!t)
        return false;
    fill(t, &h);
    bool there = hwloc_topology_export_xmlbuffer(t, &xml, &size, 0) == 0;
    if (there) {
        struct job_hardware row = { job_string(j, xml), text_of(j, t, NULL, 0), text_of(j, t, h.core, h.cores),
                                    text_of(j, t, h.node, h.nodes) };
        base_must(row.xml == GRAMMAR_NONE || job_rows_add(j, JOB_TABLE_HARDWARE, &row));
        hwloc_free_xmlbuffer(t, xml);
    }
    findings_hardware_free(&h);
    hwloc_topology_destroy(t);
    return there;
}

/* --- Counting --- */

static unsigned count_in(const cpu_set_t *sets, unsigned count, const cpu_set_t *set)
{
    unsigned in = 0;
    cpu_set_t both;

    for (unsigned i = 0; i < count; i++) {
        CPU_AND(&both, &sets[i], set);
        in += CPU_COUNT(&both) > 0;
    }
    return in;
}

unsigned findings_hardware_cores(const struct findings_hardware *h, const cpu_set_t *set)
{
    return count_in(h->core, h->cores, set);
}

unsigned findings_hardware_nodes(const struct findings_hardware *h, const cpu_set_t *set)
{
    return count_in(h->node, h->nodes, set);
}
