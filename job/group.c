/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/order.h"
#include "job/group.h"

#include <stdlib.h>
#include <string.h>

#include "job/check.h"
#include "job/ranges.h"
#include "job/schema.h"
#include "pythia.h"

enum { GROUP_STEPS = 1 << 20 }; /* of a look-up in one group; a file that needs more is refused */

/* --- Building --- */

/* A group with what its numbers stand for. */
struct view {
    struct job_group group;
    const struct job_run *runs;
    struct job_set set; /* the origins */
};

static struct view view_of(const struct job_groups *g, uint32_t i, const uint32_t *comm_map)
{
    struct view v = { g->group[i], g->runs + g->group[i].run_first,
                      { g->ranges.range + g->group[i].range_first, g->group[i].range_count } };
    if (comm_map)
        v.group.comm = comm_map[v.group.comm];
    return v;
}

/* Appends n groups of equal content as one. */
static int group_append(struct job *made, const struct view *v, uint32_t n)
{
    struct job_groups *g = &made->groups;
    struct job_group group = v->group;
    group.run_first = g->run_count;
    int error = base_array_append(&g->runs, &g->run_count, &g->run_room, v->runs, group.run_count, sizeof *v->runs);
    return error ?: job_rows_append(made, JOB_TABLE_GROUPS, &group, &v->set, sizeof *v, n);
}

BASE_COMPARISON(group_by_content, struct view, BASE_UP(group.comm) ?: BASE_UP(group.remote) ?: BASE_UP(group.size) ?:
                BASE_UP(group.run_count) ?:
                (a->group.run_count ? memcmp(a->runs, b->runs, a->group.run_count * sizeof *a->runs) : 0))

/* Views in order, at most two of equal content. Of a communicator that is not known only that is kept. */
static int join_views(struct job *made, const struct view *v, uint32_t n)
{
    int error = 0;
    uint32_t lost = GRAMMAR_NONE;
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        next = i + 1 + (i + 1 < n && group_by_content(&v[i], &v[i + 1]) == 0);
        if (v[i].group.comm == lost)
            continue;
        if (!v[i].group.size)
            lost = v[i].group.comm;
        error = group_append(made, &v[i], v[i].group.size ? next - i : 0);
    }
    return error;
}

int job_groups_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    const struct job_groups *a = &into->groups, *b = &from->groups;
    BASE_OWN struct view *v = malloc(((size_t)a->group_count + b->group_count + 1) * sizeof *v);
    uint32_t n = 0;
    if (!v)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < a->group_count; i++)
        v[n++] = view_of(a, i, NULL);
    for (uint32_t i = 0; i < b->group_count; i++)
        v[n++] = view_of(b, i, maps->of[JOB_OF_COMMS]);
    BASE_SORT(v, n, group_by_content);
    return join_views(made, v, n);
}

/* --- One rank's --- */

static uint32_t first_group(const struct job_groups *g, uint32_t comm)
{
    return BASE_ARRAY_PLACE(g->group_count, i, g->group[i].comm < comm);
}

/* A group of one rank, counted from its origin. */
static int add_one(struct job *one, uint32_t comm, uint32_t remote, uint32_t origin, const struct job_run *runs,
                   uint32_t count)
{
    struct job_range at = { .first = origin, .count = 1, .stride = 1 };
    BASE_OWN struct job_run *own = malloc((size_t)count * sizeof *own);
    struct view v = { { .comm = comm, .remote = remote, .run_count = count }, own, { &at, 1 } };
    if (!own)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        own[i] = runs[i];
        own[i].first -= origin;
        v.group.size += runs[i].count;
    }
    return group_append(one, &v, 1);
}

static bool has_groups(const struct job_groups *g, uint32_t comm)
{
    uint32_t first = first_group(g, comm);
    return first < g->group_count && g->group[first].comm == comm;
}

static bool same_groups(const struct job_groups *known, uint32_t comm, const struct job_groups *g)
{
    uint32_t found = 0;
    for (uint32_t i = first_group(known, comm); i < known->group_count && known->group[i].comm == comm; i++) {
        struct view a = view_of(known, i, NULL), b;
        if (found == g->group_count)
            return false;
        b = view_of(g, found++, NULL);
        if (group_by_content(&a, &b) || !job_ranges_equal(a.set.ranges, a.set.count, b.set.ranges, b.set.count))
            return false;
    }
    return found == g->group_count;
}

/* Those of a communicator behind all others. On failure `j` has what it had. */
static int append_all(struct job *j, const struct job_groups *last)
{
    struct job_groups had = j->groups;
    int error = 0;
    for (uint32_t i = 0; i < last->group_count && !error; i++) {
        struct view v = view_of(last, i, NULL);
        error = group_append(j, &v, v.group.size != 0);
    }
    if (error) {
        j->groups.group_count = had.group_count;
        j->groups.run_count = had.run_count;
        j->groups.ranges.count = had.ranges.count;
    }
    return error;
}

int job_comm_add_members(struct job *j, uint32_t comm, const struct job_run *own, uint32_t own_count,
                         const struct job_run *remote, uint32_t remote_count)
{
    struct job one = { .comm_count = j->comm_count };
    int error = own_count ? add_one(&one, comm, 0, own[0].first, own, own_count) : PYTHIA_EINVAL;
    if (!error && remote_count)
        error = add_one(&one, comm, 1, own[0].first, remote, remote_count);
    bool known = !error && has_groups(&j->groups, comm), same = known && same_groups(&j->groups, comm, &one.groups);
    if (!error && known && !same) { /* another one of that name */
        job_rows_free(&one);
        one = (struct job){ .comm_count = j->comm_count };
        error = group_append(&one, &(struct view){ .group.comm = comm }, 0);
    }
    if (!error && !same) /* a new one is the last: joining would copy all for each */
        error = first_group(&j->groups, comm) == j->groups.group_count
                    ? append_all(j, &one.groups)
                    : job_rows_take(j, &one, job_groups_join, JOB_TABLE_GROUPS, JOB_TABLE_GROUP_RANGES);
    job_rows_free(&one);
    return error;
}

/* --- Looking up --- */

/* Which of the run's numbers `offset` is; -1: none. */
static int64_t in_run(const struct job_run *r, uint32_t offset)
{
    int64_t apart = (int64_t)(int32_t)(offset - r->first);
    if (r->count == 1 || !r->stride)
        return apart ? -1 : 0;
    return apart % r->stride == 0 && apart / r->stride >= 0 && apart / r->stride < r->count ? apart / r->stride : -1;
}

/* The origin of the group that has `rank` in this run, and which of the run it is. */
static bool origin_in_run(const struct job_range *ranges, uint32_t count, const struct job_run *r, uint32_t rank,
                          uint32_t *origin, uint32_t *place)
{
    if (job_ranges_size(ranges, count) <= r->count) {
        int64_t at = -1;
        for (struct job_walk w = { .range = ranges, .left = count }; at < 0 && job_walk_next(&w);) {
            at = in_run(r, rank - w.at.rank);
            *origin = w.at.rank;
            *place = (uint32_t)at;
        }
        return at >= 0;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t o = rank - (r->first + i * (uint32_t)r->stride);
        if (job_ranges_contain(ranges, count, o, 0)) {
            *origin = o;
            *place = i;
            return true;
        }
    }
    return false;
}

/* The rank's own group; its place in it. */
static const struct job_group *find_group(const struct job *j, uint32_t comm, uint32_t rank, uint32_t *origin,
                                          uint32_t *place)
{
    const struct job_groups *g = &j->groups;
    for (uint32_t i = first_group(g, comm); i < g->group_count && g->group[i].comm == comm && !g->group[i].remote;
         i++) {
        const struct job_group *group = &g->group[i];
        uint32_t before = 0;
        for (uint32_t k = 0; k < group->run_count; before += g->runs[group->run_first + k++].count)
            if (origin_in_run(g->ranges.range + group->range_first, group->range_count, &g->runs[group->run_first + k],
                              rank, origin, place)) {
                *place += before;
                return group;
            }
    }
    return NULL;
}

static struct job_members members_of(const struct job *j, const struct job_group *group, uint32_t origin)
{
    return (struct job_members){ origin, group->size, group->run_count, j->groups.runs + group->run_first };
}

bool job_comm_members(const struct job *j, uint32_t comm, uint32_t rank, struct job_members *m)
{
    uint32_t origin, place;
    const struct job_group *group = find_group(j, comm, rank, &origin, &place);
    if (group)
        *m = members_of(j, group, origin);
    return group != NULL;
}

bool job_comm_peers(const struct job *j, uint32_t comm, uint32_t rank, struct job_members *m)
{
    const struct job_groups *g = &j->groups;
    if (!job_comm_members(j, comm, rank, m))
        return false;
    for (uint32_t i = first_group(g, comm); i < g->group_count && g->group[i].comm == comm; i++) {
        const struct job_group *group = &g->group[i];
        if (group->remote &&
            job_ranges_contain(g->ranges.range + group->range_first, group->range_count, m->origin, 0)) {
            *m = members_of(j, group, m->origin);
            break;
        }
    }
    return true;
}

uint32_t job_members_at(const struct job_members *m, uint32_t i)
{
    const struct job_run *r = m->runs, *end = r + m->run_count;
    for (; r < end - 1 && i >= r->count; r++)
        i -= r->count;
    return m->origin + r->first + i * (uint32_t)r->stride;
}

int64_t job_comm_world(const struct job *j, uint32_t comm, uint32_t rank, int64_t peer)
{
    struct job_members m;
    if (peer < 0)
        return peer;
    if (!job_comm_peers(j, comm, rank, &m) || peer >= m.size)
        return GRAMMAR_PEER_NONE;
    return job_members_at(&m, (uint32_t)peer);
}

int64_t job_comm_rank(const struct job *j, uint32_t comm, uint32_t rank)
{
    uint32_t origin, place;
    return find_group(j, comm, rank, &origin, &place) ? (int64_t)place : -1;
}

/* --- Audit --- */

static int check_group(const struct job *j, uint32_t i, char *why, size_t size)
{
    const struct job_groups *g = &j->groups;
    const struct job_group *group = &g->group[i];
    const struct job_range *origins = g->ranges.range + group->range_first;
    uint64_t ranks = 0, steps = 0, count = 0;
    if (!group->size != !group->run_count)
        return job_refuse(why, size, "group %u: communicator or size", i);
    if (!group->size)
        return group->range_count ? job_refuse(why, size, "group %u: origins of nobody", i) : 0;
    if (!group->range_count)
        return job_refuse(why, size, "group %u: of nobody", i);
    if (group->run_first > g->run_count || group->run_count > g->run_count - group->run_first)
        return job_refuse(why, size, "group %u: members out of range", i);
    count = job_ranges_size(origins, group->range_count);
    for (uint32_t k = 0; k < group->run_count; k++) {
        const struct job_run *r = &g->runs[group->run_first + k];
        if (!r->count || (r->count > 1 && !r->stride))
            return job_refuse(why, size, "group %u: run %u", i, k);
        ranks += r->count;
        steps += r->count < count ? r->count : count;
    }
    return ranks != group->size || steps > GROUP_STEPS ? job_refuse(why, size, "group %u: its size", i) : 0;
}

int job_groups_check(const struct job *j, char *why, size_t size)
{
    int error = 0;
    for (uint32_t i = 0; i < j->groups.group_count && !error; i++) {
        struct view now = view_of(&j->groups, i, NULL);
        error = check_group(j, i, why, size);
        if (!error && i) {
            struct view before = view_of(&j->groups, i - 1, NULL);
            if (group_by_content(&before, &now) >= 0)
                error = job_refuse(why, size, "group %u: out of order", i);
        }
    }
    return error;
}
