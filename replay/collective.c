/* SPDX-License-Identifier: MIT */
#include "replay/collective.h"

/* Whether round `k` has a message to send, and one to receive; whom to and from. */
struct round { bool sends, receives; uint32_t to, from; uint64_t bytes; };

uint32_t replay_collective_rounds(uint32_t size)
{
    uint32_t n = 0;
    while (n < 31 && (1u << n) < size)
        n++;
    return n;
}

static struct round dissemination(const struct replay_op *op, uint32_t k)
{
    uint32_t by = 1u << k;
    struct round r = { .to = (op->me + by) % op->size,
                       .from = (op->me + op->size - by) % op->size,
                       .bytes = op->bytes };

    if (op->shape == REPLAY_GROW)
        r.bytes <<= k < 20 ? k : 20;
    r.sends = op->shape != REPLAY_PREFIX || op->me + by < op->size;
    r.receives = op->shape != REPLAY_PREFIX || op->me >= by;
    return r;
}

/* Binomial, from the root: in round k of n those below 2^k have it, and send it to the one 2^k above. */
static struct round tree(const struct replay_op *op, uint32_t k, uint32_t n)
{
    uint32_t root = op->peer < op->size ? op->peer : 0;
    uint32_t v = (op->me + op->size - root) % op->size;
    uint32_t by = 1u << (op->shape == REPLAY_FROM ? k : n - 1 - k);
    struct round r = { .bytes = op->bytes };
    bool parent = v < by && v + by < op->size, child = v >= by && v < 2 * by;

    r.sends = op->shape == REPLAY_FROM ? parent : child;
    r.receives = op->shape == REPLAY_FROM ? child : parent;
    r.to = r.from = parent ? (v + by + root) % op->size : (v + op->size - by + root) % op->size;
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

/* Even steps send, odd ones receive. */
static bool begin_step(const struct replay_op *op, uint32_t *step, struct replay_op *out)
{
    enum { ALL_PAIRS = 32 };
    bool pairs = op->size <= ALL_PAIRS || op->shape == REPLAY_FROM || op->shape == REPLAY_TO;
    uint32_t others = pairs ? op->size - 1 : replay_collective_rounds(op->size);

    while (*step < 2 * others) {
        uint32_t k = *step / 2, by = pairs ? k + 1 : 1u << k;
        bool sends = (*step)++ % 2 == 0;
        uint32_t other = sends ? (op->me + by) % op->size : (op->me + op->size - by) % op->size;
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
    for (uint32_t n = replay_collective_rounds(op->size); *step < 3 * n;) {
        uint32_t k = *step / 3, part = (*step)++ % 3;
        struct round r = op->shape == REPLAY_FROM || op->shape == REPLAY_TO ? tree(op, k, n) : dissemination(op, k);
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
