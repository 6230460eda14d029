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

static bool begins_node(const struct base_machine *m, unsigned i)
{
    return i == 0 || m->at[i].first[BASE_NODE] != m->at[i - 1].first[BASE_NODE];
}

/* The node of processor i: the processors of one stand side by side. */
static void set_node(const struct base_machine *m, unsigned i, struct places_place *place)
{
    place->node = 0;
    for (unsigned k = 0; k <= i; k++)
        if (begins_node(m, k)) {
            place->node += k > 0;
            place->first = k;
        }
    for (place->count = 1; place->first + place->count < m->count && !begins_node(m, place->first + place->count);)
        place->count++;
}

/* The first processor of a node, whose numbers begin again behind the last one. */
static unsigned of_node(const struct base_machine *m, uintptr_t number)
{
    unsigned nodes = 0, i;
    for (i = 0; i < m->count; i++)
        nodes += begins_node(m, i);
    for (i = 0, number %= nodes; number > 0;)
        number -= begins_node(m, ++i);
    return i;
}

static unsigned of_data(const struct base_machine *m, uintptr_t address, places_locate_t locate)
{
    int node = locate ? locate(address) : locate_page(address);
    for (unsigned i = 0; i < m->count; i++)
        if (m->at[i].node == node)
            return i;
    return 0;
}

int places_decide(const struct base_machine *m, const struct places_wish *wish, places_locate_t locate,
                  struct places_place *place)
{
    switch (wish->kind) {
    case PYTHIA_AFFINITY_THREAD:
        set_node(m, (unsigned)(wish->value % m->count), place);
        place->first = (unsigned)(wish->value % m->count);
        place->count = 1;
        return 0;
    case PYTHIA_AFFINITY_NODE:
        set_node(m, of_node(m, wish->value), place);
        return 0;
    case PYTHIA_AFFINITY_DATA:
        set_node(m, of_data(m, wish->value, locate), place);
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

void places_processors(const struct base_machine *m, const struct places_place *place, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (unsigned i = place->first; i < place->first + place->count; i++)
        CPU_SET(m->at[i].number, set);
}
