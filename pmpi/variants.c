/* SPDX-License-Identifier: MIT */
#include "pmpi/variants.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "pmpi/members.h"

/* Of one name. */
struct variants {
    const struct pmpi_hook_members *own[VARIANTS_MOST], *peers[VARIANTS_MOST];
    uint8_t count;
    struct pmpi_hook_order order;
};

static struct variants *variants_of; /* of each number; guarded by the caller's lock */
static uint32_t variants_room;

static struct variants *variants_at(uint32_t number)
{
    uint32_t room = variants_room;
    if (number >= room) {
        if (base_array_room(&variants_of, &variants_room, (uint64_t)number + 1, sizeof(*variants_of)) != 0)
            return NULL;
        memset(variants_of + room, 0, (variants_room - room) * sizeof(*variants_of));
    }
    return &variants_of[number];
}

static uint8_t variants_find(struct variants *v, const struct pmpi_hook_members *own,
                             const struct pmpi_hook_members *peers)
{
    uint8_t i = 0;
    while (i < v->count && (v->own[i] != own || v->peers[i] != peers))
        i++;
    if (i == v->count && i < VARIANTS_MOST) {
        pmpi_hook_members_keep(v->own[i] = own);
        pmpi_hook_members_keep(v->peers[i] = peers);
        v->count++;
    }
    return i;
}

bool pmpi_hook_order_follow(struct pmpi_hook_order *o, uint8_t next)
{
    if (o->length && next != o->now) {
        struct pmpi_hook_run *run = &o->run[o->before][o->now], is = {o->length, (uint8_t)(next + 1)};
        o->surprises += o->surprises < VARIANTS_SURPRISES && (run->length != is.length || run->next != is.next);
        *run = is;
        o->before = o->now;
        o->length = 0;
    }
    o->now = next;
    o->length++;
    return o->surprises < VARIANTS_SURPRISES;
}

void pmpi_hook_variant_name(uint32_t number, const struct pmpi_hook_members *own, const struct pmpi_hook_members *peers,
                            char *name, size_t size)
{
    struct variants *v = variants_at(number);
    size_t length = strlen(name);
    if (!v || !own || !peers)
        return;
    uint8_t k = variants_find(v, own, peers);
    if (!pmpi_hook_order_follow(&v->order, k) || k == VARIANTS_MOST)
        snprintf(name + length, size - length, ".*");
    else if (k)
        snprintf(name + length, size - length, ".%u", k);
}
