/* SPDX-License-Identifier: MIT */
/*
 * What a thread keeps in memory of its own that it reaches by an index or by a pointer: in which order its places are
 * written and read is not followed, so a shared loop must write such an object before it reads it, in each iteration.
 *
 *   for (shared) { for (k) own[k] = ..;  .. own[j] ..; }     the inner loop's head comes before each load: own's
 *   for (shared) own[j]++;                                   the load comes before any store: kept
 *
 * A store in an inner loop is taken for one at the head of that loop: how often it turns is not known.
 */
#include <stdlib.h>

#include "teams/case.h"

enum { NO_OBJECT = INT32_MIN, HEAP = INT32_MAX };

/* The object that an address is in: its place in the frame. */
static int32_t object_of(const struct teams_value *at)
{
    return at->kind == TEAMS_STACK ? at->number : at->kind == TEAMS_HEAP ? HEAP : NO_OBJECT;
}

static void add(struct teams_case *c, int b, uint32_t insn, int32_t object, bool stores, bool kept)
{
    if (object == NO_OBJECT)
        return;
    if (c->accesses == TEAMS_ACCESSES) {
        teams_case_object(c, JOB_PROOF_LARGE, c->f->insn[insn].address);
        return;
    }
    c->access[c->accesses++] = (struct teams_access){ object, insn, b, stores, kept };
}

void teams_case_access(struct teams_case *c, int b, uint32_t insn, const struct teams_value *at, bool kept)
{
    const struct teams_insn *i = &c->f->insn[insn];
    if (i->loads)
        add(c, b, insn, object_of(at), false, false);
    if (i->stores)
        add(c, b, insn, object_of(at), true, kept);
}

void teams_case_lend(struct teams_case *c, int b, uint32_t insn, const struct teams_value *at, bool acts)
{
    add(c, b, insn, object_of(at), false, false);
    if (acts)
        add(c, b, insn, object_of(at), true, false);
}

void teams_case_allocates(struct teams_case *c, int b, uint32_t insn)
{
    add(c, b, insn, HEAP, true, false);
}

/* Where a store is taken to happen, as the load sees it: at the head of the outermost loop around it, or before that
   where it is decided alike in all iterations whether the loop is there at all. */
static int place_of_store(const struct teams_case *c, int loop, const struct teams_access *store, int load)
{
    const struct teams_flow *f = c->f;
    int b = store->block;
    while (b != f->head[loop]) {
        int inner = f->block[b].loop, before = f->block[b].dominator;
        if (inner != loop && inner >= 0 && b != f->head[inner] && !teams_flow_in_loop(f, inner, load))
            b = f->head[inner];
        else if (b != load && (f->block[before].next[1] < 0 || teams_case_is_fixed(c, before, loop)))
            b = before;
        else
            return b;
    }
    return b;
}

static bool comes_before(const struct teams_case *c, int loop, const struct teams_access *store,
                         const struct teams_access *load)
{
    if (store->block == load->block)
        return store->insn < load->insn;
    int b = place_of_store(c, loop, store, load->block);
    return b != load->block && teams_flow_dominates(c->f, b, load->block);
}

/* Whether what is read there may be of an iteration before. */
static bool may_be_kept(const struct teams_case *c, const struct teams_access *load)
{
    bool written = false;
    for (uint32_t k = 0; k < c->accesses; k++) {
        const struct teams_access *a = &c->access[k];
        int loop = c->r->shared_loop[a->block];
        if (!a->stores || a->object != load->object || loop < 0)
            continue;
        if (a->kept || (!teams_flow_in_loop(c->f, loop, load->block) && load->block > a->block))
            return true;
        if (!teams_flow_in_loop(c->f, loop, load->block))
            continue;
        if (comes_before(c, loop, a, load))
            return false;
        written = true;
    }
    return written;
}

void teams_case_arrays(struct teams_case *c)
{
    for (uint32_t k = 0; c->outlined && k < c->accesses; k++)
        if (!c->access[k].stores && may_be_kept(c, &c->access[k]))
            teams_case_object(c, JOB_PROOF_CARRIES, c->f->insn[c->access[k].insn].address);
}
