/* SPDX-License-Identifier: MIT */
/* What an event of a rank is made of: the computation before it, then the operations of its call, with the changes. */
#include <math.h>

#include "base/array.h"
#include "job/course.h"
#include "job/define.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/starts.h"
#include "job/value.h"
#include "replay/bind_parts.h"

/* The rank of the job whom `peer` means. */
static uint32_t world_rank(const struct replay_bind *b, uint32_t rank, const struct job_terminal *t, int64_t peer)
{
    int64_t world = t->comm == GRAMMAR_NONE ? GRAMMAR_PEER_NONE : job_comm_world(b->job, t->comm, rank, peer);

    if (peer == GRAMMAR_PEER_ANY)
        return REPLAY_ANY;
    return world >= 0 && world < (int64_t)b->source.ranks ? (uint32_t)world : REPLAY_NOWHERE;
}

static int64_t value(const struct replay_bind *b, uint32_t rank, uint32_t node, enum grammar_channel channel,
                     struct replay_moment at, int64_t none)
{
    const struct job_class *c = bind_class(b, rank);
    int64_t v;

    int status = job_attr_value(b->job, c, node, channel, rank, 0, at.nth, &v);
    if (status == 0)
        return v;
    const struct job_variant *variant = job_variant(c, node, channel, rank, 0);
    if (channel == GRAMMAR_BYTES && variant && status == 1)
        return (int64_t)job_attr_mean(&variant->attr);
    return none;
}

/* Which channels a message's values are in. */
struct half { enum grammar_channel peer, bytes, tag; };
static const struct half out_half = { GRAMMAR_PEER, GRAMMAR_BYTES, GRAMMAR_INDEX };
static const struct half in_half = { GRAMMAR_SOURCE, GRAMMAR_RECEIVED, GRAMMAR_SOURCE_TAG };

/* A message's operation: whom, how much, which tag. How many: a null process has none, since it is always ready. */
static uint32_t message(const struct replay_bind *b, uint32_t rank, uint32_t node, struct replay_moment at,
                        const struct job_terminal *t, enum replay_kind kind, uint32_t place, const struct half *half,
                        struct replay_op *to)
{
    int64_t bytes = value(b, rank, node, half->bytes, at, 1), reply;
    int64_t tag = value(b, rank, node, half->tag, at, REPLAY_TAG_UNKNOWN);
    const struct job_class *c = bind_class(b, rank);
    uint8_t peer_class = half == &out_half ? t->peer_class : JOB_PEER_RANK; /* it is of the half that sends */
    bool receives = kind == REPLAY_RECV || kind == REPLAY_IRECV;
    bool anyone = peer_class == JOB_PEER_ANY && receives;
    int64_t peer = value(b, rank, node, half->peer, at, GRAMMAR_PEER_NONE);
    if (peer_class == JOB_PEER_NULL || peer == GRAMMAR_PEER_NULL)
        return 0;
    struct replay_op op = { .kind = (uint8_t)kind, .place = place, .bytes = bytes > 0 ? (uint64_t)bytes : 1,
                            .tag = replay_tag(bind_comm(b, rank, t->comm), (uint32_t)tag),
                            .anyone = anyone, .group = t->comm };

    op.peer = peer_class == JOB_PEER_SELF ? rank : world_rank(b, rank, t, peer);
    if (anyone && kind == REPLAY_IRECV)
        op.peer = REPLAY_LATER;
    if (op.peer == REPLAY_NOWHERE && !receives &&
        job_attr_value(b->job, c, node, GRAMMAR_REPLY, rank, 0, at.nth, &reply) == 0 &&
        reply == 1)
        op.peer = REPLAY_SOURCE;
    if (op.peer == REPLAY_NOWHERE && peer == GRAMMAR_PEER_NONE && receives)
        op.peer = REPLAY_ANY;
    *to = op;
    return 1;
}

/* Without a communicator all ranks take part (MPI_Finalize); of one whose members are not known the rank alone. */
static struct replay_op collective(const struct replay_bind *b, uint32_t rank, uint32_t node, struct replay_moment at,
                                   const struct job_terminal *t, uint32_t place)
{
    int64_t bytes = value(b, rank, node, GRAMMAR_BYTES, at, 1), root = value(b, rank, node, GRAMMAR_PEER, at, 0);
    struct replay_op op = { .kind = REPLAY_COLLECTIVE, .shape = b->site[place / 2].shape, .place = place,
                            .group = t->comm, .me = rank, .size = b->source.ranks,
                            .peer = root >= 0 ? (uint32_t)root : 0, .bytes = bytes > 0 ? (uint64_t)bytes : 1,
                            .tag = REPLAY_TAG_COLLECTIVE | replay_tag(bind_comm(b, rank, t->comm), 0) };
    struct job_members m;

    if (op.shape == REPLAY_NEAR)
        op.me = (uint32_t)(t - b->job->terminals);
    if (t->comm == GRAMMAR_NONE || op.shape == REPLAY_NEAR)
        return op;
    int64_t me = job_comm_rank(b->job, t->comm, rank);
    bool known = me >= 0 && job_comm_members(b->job, t->comm, rank, &m) && m.size > 0 &&
                 m.size <= b->job->info.ranks;
    op.me = known ? (uint32_t)me : 0;
    op.size = known ? m.size : 1;
    return op;
}

/* A sum of uniform variables: mean 0, variance 1, never far off. */
static double chance(uint64_t seed)
{
    double sum = 0;
    for (uint64_t k = 0; k < 12; k++)
        sum += (double)(bind_mix(seed * 12 + k + 0x9e3779b97f4a7c15u) >> 11) / 9007199254740992.0;
    return sum - 6;
}

/* The rank's work at a place, with the changes. */
static double work_of(const struct replay_bind *b, uint32_t rank, uint32_t node, uint32_t place, double ns,
                      double deviation)
{
    const struct bind_change *c = b->change;
    const struct bind_site *site = &b->site[place / 2];

    if (!c)
        return ns;
    if (c->balance_all || c->balance == place / 2)
        ns = b->mean[place];
    if (c->seed && site->count > 0)
        ns += chance(bind_mix(c->seed) + ((uint64_t)rank * 1000003 + node) * 2 + place % 2) * deviation /
              sqrt(1 + site->count / b->source.ranks);
    if (c->speed)
        ns /= c->speed[rank];
    return ns > 0 ? ns : 0;
}

/* What a call takes with the changes, that took `ns`. */
static double cost_of(const struct replay_bind *b, double ns)
{
    const struct bind_change *c = b->change;

    if (c && c->no_extra)
        return 0;
    return c && c->network ? ns + c->network->overhead - b->network.overhead : ns;
}

/* Rests are no transfer: they stay whatever the network. */
static double extra_of(const struct replay_bind *b, uint32_t rank, uint32_t site)
{
    return cost_of(b, b->extra_share * b->extra[site]) +
           b->rest_share * (double)b->rest[(size_t)rank * b->site_count + site];
}

static struct replay_op spent(uint32_t place, double ns, bool computes)
{
    return (struct replay_op){
        .kind = REPLAY_COMPUTE, .computes = computes, .place = place, .ns = replay_ns(ns + 0.5)
    };
}

static struct replay_op waits(const struct replay_bind *b, uint32_t rank, uint32_t node, struct replay_moment at,
                              enum bind_what what, uint32_t place)
{
    struct replay_op op = { .kind = REPLAY_WAIT,
                            .place = place,
                            .peer = REPLAY_ANY,
                            .back = what == BIND_WAIT_ALL ? REPLAY_BACK_ALL : REPLAY_BACK_OLDEST };
    const struct job_class *c = bind_class(b, rank);
    const struct job_start_run *runs = NULL;
    struct job_start_run one;
    uint32_t count = 0;

    int unknown = job_completes(b->job, c, node, rank, 0, at.nth, &one, &runs, &count);
    op.cancelled = unknown == 3;
    int64_t peer = what == BIND_WAIT_ONE || count == 1 ? value(b, rank, node, GRAMMAR_PEER, at, GRAMMAR_PEER_NONE)
                                                       : GRAMMAR_PEER_NONE;
    if (peer >= 0)
        op.peer = (uint32_t)peer;
    if (unknown) {
        bool nothing = what == BIND_WAIT_ALL ? value(b, rank, node, GRAMMAR_INDEX, at, 1) == 0
                                             : peer == GRAMMAR_PEER_NULL;
        op.back = nothing ? 0 : op.back;
        return op;
    }
    b->rank[rank].one = (struct replay_run){ one.distance, one.step, one.count };
    op.back = (int32_t)count;
    op.runs = runs == &one ? &b->rank[rank].one : (const struct replay_run *)runs;
    return op;
}

_Static_assert(sizeof(struct replay_run) == sizeof(struct job_start_run), "runs are taken as they are");

/* A probe that does not have to wait, ns: who receives the message waits for it there. */
static double probe_ns(const struct replay_bind *b, uint32_t rank, uint32_t node)
{
    double shortest = (double)bind_class(b, rank)->grammar->stats[node].duration.min;

    return shortest < b->network.overhead ? shortest : b->network.overhead;
}

/* --- Persistent requests --- */

/* A row of the terminal's messages that the rank has, from *at on, which is moved on; NULL: there is no more. */
static const struct job_flow *next_flow(const struct replay_bind *b, uint32_t rank, uint32_t terminal, uint32_t *at)
{
    const struct job_flows *f = &b->job->flows;

    while (*at < f->count && f->row[*at].terminal == terminal) {
        const struct job_flow *row = &f->row[(*at)++];
        if (job_ranges_contain(f->ranges.range + row->range_first, row->range_count, rank, 0))
            return row;
    }
    return NULL;
}

static uint32_t first_flow(const struct replay_bind *b, uint32_t terminal)
{
    return BASE_ARRAY_PLACE(b->job->flows.count, i, b->job->flows.row[i].terminal < terminal);
}

static uint32_t flow_peer(const struct replay_bind *b, uint32_t rank, const struct job_flow *row)
{
    return job_flow_peer(row, rank, b->job->info.ranks);
}

/* --- Neighbourhood collectives: a message a row of the sums, receives and sends, then the wait for both --- */

bool bind_neighbour(void *context, uint32_t rank, const struct replay_op *op, uint32_t *step, struct replay_op *out)
{
    const struct replay_bind *b = context;
    uint32_t first = first_flow(b, op->me), at = first + *step;
    const struct job_flow *row = *step == UINT32_MAX ? NULL : next_flow(b, rank, op->me, &at);

    *out = *op;
    if (row) {
        *step = at - first;
        out->kind = row->receives ? REPLAY_IRECV : REPLAY_ISEND;
        out->peer = flow_peer(b, rank, row);
        out->bytes = row->bytes / row->messages;
        return true;
    }
    out->kind = REPLAY_WAIT;
    out->back = REPLAY_BACK_OWN;
    bool waits = *step && *step != UINT32_MAX && !op->starts;
    *step = UINT32_MAX;
    return waits;
}

/* --- Several persistent requests at once --- */

/* The messages of all requests that are started at once: equal parts of the sums, receives first. 0: they are not. */
static uint32_t start_all(const struct replay_bind *b, uint32_t rank, uint32_t terminal, uint32_t site,
                          struct replay_op *op)
{
    enum { ROOM = REPLAY_OPS - 2 };
    uint64_t starts = (uint64_t)b->count[(size_t)rank * b->site_count + site];
    uint32_t n = 0;

    for (int receives = 1; receives >= 0; receives--) {
        const struct job_flow *row;
        for (uint32_t at = first_flow(b, terminal); (row = next_flow(b, rank, terminal, &at));) {
            uint32_t peer = flow_peer(b, rank, row);
            if (row->mean || !starts || row->messages % starts || row->messages / starts > ROOM ||
                peer >= b->source.ranks)
                return 0;
            for (uint64_t k = 0; row->receives == receives && k < row->messages / starts; k++) {
                if (n == ROOM)
                    return 0;
                op[n++] = (struct replay_op){ .kind = receives ? REPLAY_IRECV : REPLAY_ISEND,
                                              .place = 2 * site + 1,
                                              .bytes = row->bytes / row->messages,
                                              .peer = peer,
                                              .tag = replay_tag(GRAMMAR_NONE, REPLAY_TAG_UNKNOWN) };
            }
        }
    }
    return n;
}

/* The message of one; 0 where the rank's starts of the terminal go both ways. */
static uint32_t start_one(const struct replay_bind *b, uint32_t rank, uint32_t node, struct replay_moment at,
                          uint32_t terminal, uint32_t site, struct replay_op *op)
{
    uint32_t ways = 0, place = first_flow(b, terminal);

    for (const struct job_flow *row; (row = next_flow(b, rank, terminal, &place));)
        ways |= row->receives ? 2 : 1;
    if (ways != 1 && ways != 2)
        return 0;
    return message(b, rank, node, at, &b->job->terminals[terminal], ways == 1 ? REPLAY_ISEND : REPLAY_IRECV,
                   2 * site + 1, &out_half, op);
}

static uint32_t call_ops(const struct replay_bind *b, uint32_t rank, uint32_t node, struct replay_moment at,
                         const struct job_terminal *t, uint32_t site, struct replay_op *op)
{
    enum bind_what what = (enum bind_what)b->site[site].what;
    uint32_t place = 2 * site + 1, n = 0;
    uint32_t symbol = bind_class(b, rank)->grammar->nodes[node].symbol;
    double call = b->rank[rank].node[node].call;

    switch (what) {
    case BIND_SEND:
        n = message(b, rank, node, at, t, REPLAY_SEND, place, &out_half, op);
        op[n] = spent(place, !n || op[0].bytes <= BIND_EAGER ? cost_of(b, call) : extra_of(b, rank, site), false);
        return n + 1;
    case BIND_ISEND:
    case BIND_IRECV:
        n = message(b, rank, node, at, t, what == BIND_ISEND ? REPLAY_ISEND : REPLAY_IRECV, place, &out_half, op);
        op[n++] = spent(place, cost_of(b, call), false);
        return n;
    case BIND_RECV:
        n = message(b, rank, node, at, t, REPLAY_RECV, place, &out_half, op);
        break;
    case BIND_START:
    case BIND_STARTALL:
        n = what == BIND_START ? start_one(b, rank, node, at, symbol, site, op) : start_all(b, rank, symbol, site, op);
        op[n++] = spent(place, cost_of(b, call), false);
        return n;
    case BIND_SENDRECV:
        n = message(b, rank, node, at, t, REPLAY_IRECV, place, &in_half, op);
        n += message(b, rank, node, at, t, REPLAY_ISEND, place, &out_half, op + n);
        if (n)
            op[n++] = (struct replay_op){ .kind = REPLAY_WAIT, .place = place, .back = REPLAY_BACK_OWN };
        break;
    case BIND_WAIT_ONE:
    case BIND_WAIT_ALL:
        op[n] = waits(b, rank, node, at, what, place);
        op[n].polls = !t->blocking;
        op[n++].ns = replay_ns(call);
        break;
    case BIND_ICOLLECTIVE:
        op[n] = collective(b, rank, node, at, t, place);
        op[n++].starts = 1;
        op[n++] = spent(place, cost_of(b, call), false);
        return n;
    case BIND_PROBE:
        op[n++] = spent(place, cost_of(b, probe_ns(b, rank, node)), false);
        return n;
    case BIND_COLLECTIVE:
    case BIND_FINALIZE:
        op[n++] = collective(b, rank, node, at, t, place);
        break;
    default:
        op[n++] = spent(place, b->change && b->change->no_extra ? 0 : call, false);
        return n;
    }
    op[n] = spent(place, n ? extra_of(b, rank, site) : cost_of(b, call), false);
    return n + 1;
}

/* Work that is made equal on all ranks is so in each turn. */
static bool is_drawn(const struct replay_bind *b, uint32_t rank, uint32_t node, enum bind_drawn what, uint32_t site)
{
    const struct bind_change *c = b->change;

    return c && c->draw != BIND_MEANS && b->rank[rank].node[node].shape[what] && !c->balance_all && c->balance != site;
}

uint32_t bind_event(void *context, uint32_t rank, uint32_t node, struct replay_moment at, struct replay_op *op)
{
    const struct replay_bind *b = context;
    const struct bind_times *t = &b->rank[rank].node[node];
    double factor = bind_before_factor(&b->role[b->rank[rank].role], node, at.before), gap = factor * t->gap,
           call = t->call;
    uint32_t symbol = bind_class(b, rank)->grammar->nodes[node].symbol;

    if (symbol >= b->job->terminal_count) {
        op[0] = spent(2 * b->site_count, gap + call, true);
        return 1;
    }
    const struct job_terminal *terminal = &b->job->terminals[symbol];
    uint32_t site = b->site_of[symbol], n = 0;

    bool polls = terminal->call_kind == JOB_COMPLETION && !terminal->blocking;
    if (is_drawn(b, rank, node, BIND_DRAWN_GAP, site))
        gap += factor * bind_draw(b, rank, node, BIND_DRAWN_GAP, at.i);
    if (is_drawn(b, rank, node, BIND_DRAWN_REGION, site))
        call += bind_draw(b, rank, node, BIND_DRAWN_REGION, at.i);
    if (b->site[site].what == BIND_INIT)
        op[n++] = spent(2 * site + 1, gap, true);
    else
        op[n++] = spent(2 * site, work_of(b, rank, node, 2 * site, gap, factor * t->gap_deviation), true);
    op[n - 1].polls = polls;
    if (terminal->phase == JOB_LEAF && terminal->kind == JOB_CALL)
        n += call_ops(b, rank, node, at, terminal, site, op + n);
    else
        op[n++] = spent(2 * site + 1, work_of(b, rank, node, 2 * site + 1, call, t->call_deviation), true);
    return n;
}

/* What is drawn goes by how often the rank was at the node; what follows a course does not depend on that. */
uint32_t bind_cycle(void *context, uint32_t rank, uint32_t node)
{
    const struct replay_bind *b = context;
    const struct job_class *c = bind_class(b, rank);
    uint32_t whole = 1;

    uint32_t symbol = c->grammar->nodes[node].symbol;
    for (enum bind_drawn what = 0; what < BIND_DRAWN_KINDS && symbol < b->job->terminal_count; what++)
        if (is_drawn(b, rank, node, what, b->site_of[symbol]))
            whole = replay_cycle_both(whole, b->shape[b->rank[rank].node[node].shape[what] - 1].turns);
    return whole;
}

bool bind_course(void *context, uint32_t rank, uint32_t node, struct replay_cycle *cycle)
{
    const struct replay_bind *b = context;
    const struct job_class *c = bind_class(b, rank);
    bool found = false;

    *cycle = (struct replay_cycle){ 0, 1 };
    for (int channel = 0; channel < GRAMMAR_CHANNELS; channel++) {
        const struct job_variant *v = job_variant(c, node, (enum grammar_channel)channel, rank, 0);
        struct replay_cycle own;
        if (!v || !job_course_cycle(b->job, v, &own.from, &own.period))
            continue;
        found = true;
        cycle->period = replay_cycle_both(cycle->period, own.period);
        cycle->from = own.from > cycle->from ? own.from : cycle->from;
    }
    return found;
}
