/* SPDX-License-Identifier: MIT */
#include "places/place.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "include/pythia.h"

/* The status of the page: its node, or a negative errno. Moves nothing. */
static int locate_page(uintptr_t address)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)(address & ~(size - 1));
    int status = -1;
    return syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0) == 0 ? status : -1;
}

static unsigned count(hwloc_topology_t machine, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(machine, type);
    return n > 0 ? (unsigned)n : 1;
}

/* Whether processor `number` belongs to the node. A machine without nodes is one node. */
static bool belongs(hwloc_topology_t machine, hwloc_obj_t node, unsigned number)
{
    hwloc_obj_t pu = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, number);
    return pu && (!node || hwloc_bitmap_isset(node->cpuset, pu->os_index));
}

static void set_node(hwloc_topology_t machine, unsigned number, struct places_place *place)
{
    unsigned nodes = count(machine, HWLOC_OBJ_NUMANODE), processors = count(machine, HWLOC_OBJ_PU);
    hwloc_obj_t node;
    place->node = number % nodes;
    node = hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, place->node);
    place->first = place->count = 0;
    for (unsigned i = 0; i < processors; i++)
        if (belongs(machine, node, i) && place->count++ == 0)
            place->first = i;
}

static unsigned node_of(hwloc_topology_t machine, unsigned processor)
{
    unsigned nodes = count(machine, HWLOC_OBJ_NUMANODE);
    for (unsigned n = 0; n < nodes; n++)
        if (belongs(machine, hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, n), processor))
            return n;
    return 0;
}

static void set_data(hwloc_topology_t machine, uintptr_t address, places_locate_t locate, struct places_place *place)
{
    int os = locate ? locate(address) : locate_page(address);
    hwloc_obj_t node = os >= 0 ? hwloc_get_numanode_obj_by_os_index(machine, (unsigned)os) : NULL;
    set_node(machine, node ? node->logical_index : 0, place);
}

int places_decide(hwloc_topology_t machine, const struct places_wish *wish, places_locate_t locate,
                     struct places_place *place)
{
    switch (wish->kind) {
    case PYTHIA_AFFINITY_THREAD:
        place->first = (unsigned)(wish->value % count(machine, HWLOC_OBJ_PU));
        place->count = 1;
        place->node = node_of(machine, place->first);
        return 0;
    case PYTHIA_AFFINITY_NODE:
        set_node(machine, (unsigned)(wish->value % count(machine, HWLOC_OBJ_NUMANODE)), place);
        return 0;
    case PYTHIA_AFFINITY_DATA:
        set_data(machine, wish->value, locate, place);
        return 0;
    default:
        return PYTHIA_EINVAL;
    }
}

struct places_wish places_of_member(const struct places_wish *wish, unsigned number)
{
    struct places_wish own = *wish;
    if (own.kind == PYTHIA_AFFINITY_THREAD)
        own.value += number;
    return own;
}

/* The processors of a node need not be neighbours in number. */
void places_processors(hwloc_topology_t machine, const struct places_place *place, cpu_set_t *set)
{
    hwloc_obj_t node = hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, place->node);
    unsigned processors = count(machine, HWLOC_OBJ_PU);
    CPU_ZERO(set);
    for (unsigned i = place->first; i < (place->count == 1 ? place->first + 1 : processors); i++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, i);
        if (pu && pu->os_index < CPU_SETSIZE && (place->count == 1 || belongs(machine, node, i)))
            CPU_SET(pu->os_index, set);
    }
}
