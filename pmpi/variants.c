/* SPDX-License-Identifier: MIT */
#include "pmpi/variants.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* How long a run of one variant was, and what came next, one more; 0: not yet. */
struct variants_run { uint32_t length; uint8_t next; };

/* Of one name; VARIANTS_MOST stands for any that is not told apart. */
struct variants {
    const struct pmpi_hook_members *own[VARIANTS_MOST], *peers[VARIANTS_MOST];
    uint8_t count, now, before, surprises;
    uint32_t length; /* of the present run */
    struct variants_run run[VARIANTS_MOST + 1][VARIANTS_MOST + 1]; /* by the variant before it, and its own */
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
        v->own[i] = own;
        v->peers[i] = peers;
        v->count++;
    }
    return i;
}

/* Whether names go on in an order of some kind. */
static bool variants_follow(struct variants *v, uint8_t next)
{
    if (v->length && next != v->now) {
        struct variants_run *run = &v->run[v->before][v->now], is = { v->length, (uint8_t)(next + 1) };
        v->surprises += v->surprises < VARIANTS_SURPRISES && (run->length != is.length || run->next != is.next);
        *run = is;
        v->before = v->now;
        v->length = 0;
    }
    v->now = next;
    v->length++;
    return v->surprises < VARIANTS_SURPRISES;
}

void pmpi_hook_variant_name(uint32_t number, const struct pmpi_hook_members *own, const struct pmpi_hook_members *peers,
                            char *name, size_t size)
{
    struct variants *v = variants_at(number);
    size_t length = strlen(name);
    if (!v || !own || !peers)
        return;
    uint8_t k = variants_find(v, own, peers);
    if (!variants_follow(v, k) || k == VARIANTS_MOST)
        snprintf(name + length, size - length, ".*");
    else if (k)
        snprintf(name + length, size - length, ".%u", k);
}
