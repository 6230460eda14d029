/* SPDX-License-Identifier: MIT */
#include "pmpi/comm_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/flat.h"
#include "pmpi/members.h"
#include "session/ask.h"
#include "session/stream.h"

static struct comm_entry comm_nobody; /* parent of those without */
static uint32_t comm_deep;

/* --- Numbers --- */

static struct comm_kind *comm_kind(struct comm_entry *parent, const char *kind)
{
    struct comm_kind *k = parent->children;
    while (k && strcmp(k->kind, kind) != 0)
        k = k->next;
    if (!k && (k = calloc(1, sizeof(*k)))) {
        k->kind = kind;
        k->next = parent->children;
        parent->children = k;
    }
    return k;
}

static bool comm_same(const struct comm_who *a, const struct comm_entry *b)
{
    return a->own == b->members && a->peers == b->seen.peers;
}

static void comm_who_drop(const struct comm_who *who)
{
    pmpi_hook_members_drop(who->own);
    pmpi_hook_members_drop(who->peers);
}

/* One more call that made parts, or left this rank out of all; returns which one it was. */
static uint32_t comm_call_parts(struct comm_kind *k)
{
    if (k->calls < COMM_WHOLES)
        k->partial[k->calls / 64] |= UINT64_C(1) << k->calls % 64;
    return k->calls++;
}

/* All ranks of the parent have it: the lowest number that none of them has, nor a part of some. The last one is
   shared. */
static uint32_t comm_order_whole(struct comm_kind *k)
{
    k->calls++;
    for (uint32_t i = 0; i < COMM_WHOLES - 1; i++)
        if (!((k->wholes[i / 64] | k->partial[i / 64]) >> i % 64 & 1)) {
            k->wholes[i / 64] |= UINT64_C(1) << i % 64;
            return i;
        }
    return COMM_WHOLES - 1;
}

/* Some have it: that of an earlier one with these members, else which call of the parent's it was. The last one is
   shared. */
static uint32_t comm_order_part(struct comm_kind *k, const struct comm_entry *entry, uint32_t call)
{
    struct comm_parts *p = k->parts;
    if (!p && !(p = k->parts = calloc(1, sizeof(*p))))
        return COMM_PARTS;
    uint32_t i = 0;
    while (i < COMM_PARTS && (p->live[i] || !p->who[i].own || !comm_same(&p->who[i], entry)))
        i++;
    i = i < COMM_PARTS || call >= COMM_PARTS ? i : call;
    if (i < COMM_PARTS) {
        pmpi_hook_members_keep(entry->members);
        pmpi_hook_members_keep(entry->seen.peers);
        comm_who_drop(&p->who[i]);
        p->who[i] = (struct comm_who){entry->members, entry->seen.peers};
        p->live[i] = true;
    }
    return i;
}

/* Only its members know of it: the lowest number that no other one of these has. */
static uint32_t comm_order_alone(struct comm_kind *k, struct comm_entry *entry)
{
    uint64_t taken[COMM_WHOLES / 64] = {0};
    const struct comm_who who = {entry->members, entry->seen.peers};
    uint32_t i = 0;
    for (const struct comm_entry *e = k->alone; e; e = e->next)
        if (comm_same(&who, e))
            taken[e->order / 64] |= UINT64_C(1) << e->order % 64;
    while (i < COMM_WHOLES - 1 && taken[i / 64] >> i % 64 & 1)
        i++;
    entry->next = k->alone;
    k->alone = entry;
    return i;
}

void pmpi_hook_name_give_back(struct comm_entry *entry)
{
    struct comm_kind *k = entry->made;
    if (!k)
        return;
    entry->made = NULL;
    if (entry->how == COMM_WHOLE && entry->order < COMM_WHOLES - 1)
        k->wholes[entry->order / 64] &= ~(UINT64_C(1) << entry->order % 64);
    else if (entry->how == COMM_PART && entry->order < COMM_PARTS)
        k->parts->live[entry->order] = false;
    struct comm_entry **e = &k->alone;
    while (entry->how == COMM_ALONE && *e && *e != entry)
        e = &(*e)->next;
    if (entry->how == COMM_ALONE && *e)
        *e = entry->next;
}

void pmpi_hook_name_left_out(struct comm_entry *parent, const char *kind)
{
    struct comm_kind *k = comm_kind(parent, kind);
    if (k)
        comm_call_parts(k);
}

void pmpi_hook_name_free(struct comm_entry *entry)
{
    while (entry->children) {
        struct comm_kind *k = entry->children;
        entry->children = k->next;
        for (uint32_t i = 0; k->parts && i < COMM_PARTS; i++)
            comm_who_drop(&k->parts->who[i]);
        free(k->parts);
        free(k);
    }
}

/* --- Names --- */

/* What not all of the parent's ranks take part in making. */
static enum comm_how comm_how(const struct comm_entry *entry, const struct comm_entry *parent, const char *kind)
{
    if (!parent || !strcmp(kind, "create_group"))
        return COMM_ALONE;
    bool some = !entry->seen.inter && entry->members && parent->members && entry->seen.size < parent->seen.size;
    return some ? COMM_PART : COMM_WHOLE;
}

/* A grammar would not repeat where numbers come by chance, of parts or between parts and wholes. */
static bool comm_by_chance(const struct comm_entry *entry)
{
    uint8_t number = entry->how == COMM_PART && entry->order < VARIANTS_MOST ? (uint8_t)entry->order : VARIANTS_MOST;
    struct comm_parts *parts = entry->how == COMM_ALONE ? NULL : entry->made->parts;
    return parts && !pmpi_hook_order_follow(&parts->order, number);
}

/* "(size)", "(size*stride)", "(size:window)": how many are in it; the stride where it is not 1; where the first one is
   in steps of that, modulo the size. Groups that overlap, as those with each neighbour do, differ in one of these;
   rows have one name, and so have columns. */
static void comm_among(const struct comm_entry *entry, char *text, size_t room)
{
    static const struct job_run nobody = {.count = 1, .stride = 1};
    const struct job_run *run = entry->members && entry->members->run_count ? entry->members->runs : &nobody;
    uint32_t size = (uint32_t)(entry->seen.size + (entry->seen.inter ? entry->seen.fan : 0));
    uint32_t stride = run->count < 2 ? 1 : run->stride < 0 ? -(uint32_t)run->stride : (uint32_t)run->stride;
    uint32_t lowest = run->stride < 0 ? run->first - (run->count - 1) * stride : run->first;
    uint32_t window = stride ? lowest / stride % (uint32_t)entry->seen.size : 0;
    char by[16] = "", at[16] = "";
    if (stride != 1)
        snprintf(by, sizeof(by), "*%u", stride);
    if (window)
        snprintf(at, sizeof(at), ":%u", window);
    snprintf(text, room, "(%u%s%s)", size, by, at);
}

static void comm_name_child(struct comm_entry *entry, struct comm_entry *parent, const char *kind)
{
    struct comm_kind *k = comm_kind(parent ? parent : &comm_nobody, kind);
    if (!k) {
        snprintf(entry->name, sizeof(entry->name), "deep/%s#%u", kind, comm_deep++);
        return;
    }
    entry->parent = parent;
    if (parent)
        parent->references++;
    entry->made = k;
    entry->how = comm_how(entry, parent, kind);
    entry->order = entry->how == COMM_WHOLE  ? comm_order_whole(k)
                   : entry->how == COMM_PART ? comm_order_part(k, entry, comm_call_parts(k))
                                             : comm_order_alone(k, entry);
    char number[16] = "*", among[48] = "";
    entry->by_chance = comm_by_chance(entry);
    if (!entry->by_chance)
        snprintf(number, sizeof(number), "%u", entry->order);
    if (entry->how == COMM_ALONE)
        comm_among(entry, among, sizeof(among));
    int length = snprintf(entry->name, sizeof(entry->name), "%s%s%s%s#%s", parent ? parent->name : "",
                          parent ? "/" : "", kind, among, number);
    if (length >= (int)sizeof(entry->name))
        snprintf(entry->name, sizeof(entry->name), "deep/%s#%u", kind, comm_deep++);
}

/* Defines it; a name that had other members before gets what tells it from these. */
static uint32_t comm_number(struct comm_entry *entry)
{
    uint32_t size = (uint32_t)entry->seen.size, number = session_comm(entry->name, size);
    if (number == GRAMMAR_NONE || !entry->made || entry->by_chance)
        return number;
    pmpi_hook_variant_name(number, entry->members, entry->seen.peers, entry->name, sizeof(entry->name));
    return session_comm(entry->name, size);
}

void pmpi_hook_name(struct comm_entry *entry, struct comm_entry *parent, const char *kind, const char *given)
{
    if (given)
        snprintf(entry->name, sizeof(entry->name), "%s", given);
    else
        comm_name_child(entry, parent, kind);
    entry->seen.name = entry->name;
    entry->seen.number = comm_number(entry);
}
