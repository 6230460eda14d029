/* SPDX-License-Identifier: MIT */
#include "replay/collective.h"

/* Whether round `k` has a message to send, and one to receive; whom to and from. */
struct round { bool sends, receives; uint32_t to, from; uint64_t bytes; };

uint32_t replay_collective_rounds(uint32_t size)
{
    uint32_t n = size > 1 ? 32 - (uint32_t)__builtin_clz(size - 1) : 0;

    return n < 31 ? n : 31;
}

/* The rank so many further on in the group. */
static uint32_t around(const struct replay_op *op, uint32_t by)
{
    return (uint32_t)(((uint64_t)op->me + by) % op->size);
}

/* What a rank has after k rounds. */
static uint64_t grown(const struct replay_op *op, uint32_t k)
{
    return op->shape == REPLAY_GROW ? op->bytes << (k < 20 ? k : 20) : op->bytes;
}

static struct round dissemination(const struct replay_op *op, uint32_t k)
{
    uint32_t by = 1u << k;
    struct round r = { .to = around(op, by), .from = around(op, op->size - by), .bytes = grown(op, k) };

    r.sends = op->shape != REPLAY_PREFIX || (uint64_t)op->me + by < op->size;
    r.receives = op->shape != REPLAY_PREFIX || op->me >= by;
    return r;
}

/* Binomial: in round k of n those below 2^k have what comes down from the root, and send it to the one 2^k above; what
   goes up takes the rounds the other way round. */
static struct round tree(const struct replay_op *op, bool down, uint32_t root, uint32_t k, uint32_t n)
{
    uint32_t v = around(op, op->size - root), by = 1u << (down ? k : n - 1 - k);
    struct round r = { .bytes = op->bytes };
    bool parent = v < by && (uint64_t)v + by < op->size, child = v >= by && v / 2 < by;

    r.sends = down ? parent : child;
    r.receives = down ? child : parent;
    r.to = r.from = around(op, parent ? by : op->size - by);
    return r;
}

static bool is_rooted(const struct replay_op *op)
{
    return op->shape == REPLAY_FROM || op->shape == REPLAY_TO;
}

static bool goes_up_and_down(const struct replay_op *op)
{
    return (op->shape == REPLAY_ALL || op->shape == REPLAY_GROW) && op->size > COLLECTIVE_FEW;
}

static uint32_t rounds_of(const struct replay_op *op)
{
    return replay_collective_rounds(op->size) << goes_up_and_down(op);
}

static struct round round_of(const struct replay_op *op, uint32_t k)
{
    uint32_t n = replay_collective_rounds(op->size), root = op->peer < op->size ? op->peer : 0;

    if (is_rooted(op))
        return tree(op, op->shape == REPLAY_FROM, root, k, n);
    if (!goes_up_and_down(op))
        return dissemination(op, k);
    struct round r = tree(op, k >= n, 0, k % n, n);
    r.bytes = grown(op, k < n ? k : n);
    return r;
}

/* --- One that is only begun --- */

static bool depends(const struct replay_op *op, uint32_t to, uint32_t from)
{
    uint32_t root = op->peer < op->size ? op->peer : 0;

    return op->shape == REPLAY_FROM     ? from == root
           : op->shape == REPLAY_TO     ? to == root
           : op->shape == REPLAY_PREFIX ? from < to
                                        : true;
}

/* Of a rooted one: its message with the root. */
static bool begin_leaf(const struct replay_op *op, uint32_t *step, struct replay_op *out)
{
    if ((*step)++)
        return false;
    *out = *op;
    out->kind = op->shape == REPLAY_TO ? REPLAY_ISEND : REPLAY_IRECV;
    out->peer = op->peer < op->size ? op->peer : 0;
    return true;
}

/* Even steps send, odd ones receive. */
static bool begin_step(const struct replay_op *op, uint32_t *step, struct replay_op *out)
{
    enum { ALL_PAIRS = 32 };
    bool pairs = op->size <= ALL_PAIRS || is_rooted(op);
    uint64_t others = pairs ? op->size - 1 : replay_collective_rounds(op->size);

    if (is_rooted(op) && op->me != (op->peer < op->size ? op->peer : 0))
        return begin_leaf(op, step, out);
    while (*step < 2 * others && *step != UINT32_MAX) {
        uint32_t k = *step / 2, by = pairs ? k + 1 : 1u << k;
        bool sends = (*step)++ % 2 == 0;
        uint32_t other = around(op, sends ? by : op->size - by);
        if (sends ? !depends(op, other, op->me) : !depends(op, op->me, other))
            continue;
        *out = *op;
        out->kind = sends ? REPLAY_ISEND : REPLAY_IRECV;
        out->peer = other;
        return true;
    }
    return false;
}

/* A round is up to three steps: begin to send, receive, see that it was sent. */
bool replay_collective_step(const struct replay_op *op, uint32_t *step, struct replay_op *out)
{
    if (op->starts)
        return begin_step(op, step, out);
    for (uint32_t n = rounds_of(op); *step < 3 * n;) {
        uint32_t k = *step / 3, part = (*step)++ % 3;
        struct round r = round_of(op, k);
        *out = *op;
        out->kind = part == 0 ? REPLAY_ISEND : part == 1 ? REPLAY_RECV : REPLAY_WAIT;
        out->peer = part == 0 ? r.to : r.from;
        out->bytes = r.bytes ? r.bytes : 1;
        out->back = REPLAY_BACK_OWN;
        if (part == 1 ? r.receives : r.sends)
            return true;
    }
    return false;
}
