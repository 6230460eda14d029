/* SPDX-License-Identifier: MIT */
/* What a call moves, and to whom, as its class knows it: for pseudo-code and pictures. */
#include <inttypes.h>
#include <stdio.h>

#include "findings/report.h"
#include "findings/units.h"

enum { MOST_PEERS = 4, MOST_VARIANTS = 2 };

/* One peer: "rank+1", "0", "rank^4". */
static void one_peer(const struct job_variant *v, int64_t value, char *text, size_t size)
{
    int64_t modulus = v->modulus, offset = value - (int64_t)v->sample_rank;

    if (value == GRAMMAR_PEER_ANY) {
        snprintf(text, size, "any");
    } else if (value < 0) {
        snprintf(text, size, "nobody");
    } else if ((v->relations & JOB_OFFSET) && modulus > 0) {
        offset = (offset % modulus + modulus) % modulus;
        offset = 2 * offset > modulus ? offset - modulus : offset;
        if (offset)
            snprintf(text, size, "rank%+" PRId64, offset);
        else
            snprintf(text, size, "itself");
    } else if (v->relations & JOB_ABSOLUTE) {
        snprintf(text, size, "%" PRId64, value);
    } else {
        snprintf(text, size, "rank^%" PRId64, value ^ (int64_t)v->sample_rank);
    }
}

/* The peers of one variant: "rank+1", "rank+1 rank-1 …", "*". */
static void peers_of(const struct job_variant *v, char *text, size_t size)
{
    const struct grammar_attr *a = &v->attr;
    uint64_t values = a->period && a->period < a->count ? a->period : a->count;
    size_t used = 0;
    int64_t value;

    if (grammar_attr_constant(a, &value))
        values = 1;
    else if (a->kind != GRAMMAR_ATTR_LIST && a->kind != GRAMMAR_ATTR_RAMP)
        values = 0;
    snprintf(text, size, "%s", values ? "" : "*");
    for (uint64_t i = 0; i < values && used + 32 < size; i++) {
        char peer[32];
        if (i == MOST_PEERS) {
            snprintf(text + used, size - used, " …");
            return;
        }
        if (!grammar_attr_constant(a, &value) && !grammar_attr_value(a, i, &value))
            return;
        one_peer(v, value, peer, sizeof peer);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", peer);
    }
}

/* Whom the peers in one channel are, of its variants; how long the text is. */
static size_t add_half(const struct job_class *c, uint32_t node, enum grammar_channel channel, const char *head,
                       char *text, size_t size)
{
    const struct job_variant *v = job_variant_first(c, node, channel), *end = c->variants + c->variant_count;
    size_t used = 0;

    for (int i = 0; v && v < end && v->node == node && v->attr.channel == channel && used + 64 < size; i++, v++) {
        char peers[64];
        if (i == MOST_VARIANTS) {
            used += (size_t)snprintf(text + used, size - used, " or others");
            break;
        }
        peers_of(v, peers, sizeof peers);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " or " : head, peers);
    }
    return used < size ? used : size - 1;
}

/* Whether the channel's peers are MPI_PROC_NULL alone, of all members. */
static bool all_null(const struct job_class *c, uint32_t node, enum grammar_channel channel)
{
    const struct job_variant *v = job_variant_first(c, node, channel), *end = c->variants + c->variant_count;

    for (; v && v < end && v->node == node && v->attr.channel == channel; v++)
        if (v->attr.min != GRAMMAR_PEER_NULL || v->attr.max != GRAMMAR_PEER_NULL)
            return false;
    return true;
}

/* Of what sends and receives the half that is with nobody is said only where both are. */
static size_t add_peers(const struct job *j, const struct job_class *c, uint32_t node, char *text, size_t size)
{
    const struct job_terminal *t = &j->terminals[c->grammar->nodes[node].symbol];
    bool receives = false, moves = report_model_moves_data(j, c->grammar->nodes[node].symbol, &receives);
    bool both = job_variant_first(c, node, GRAMMAR_SOURCE) && !all_null(c, node, GRAMMAR_SOURCE);
    const char *head = t->peer_class == JOB_PEER_ROOT ? "root " : !moves ? "with " : receives ? "from " : "to ";
    size_t used = 0;

    if (!both || !all_null(c, node, GRAMMAR_PEER))
        used = add_half(c, node, GRAMMAR_PEER, head, text, size);
    if (both && used + 64 < size)
        used += add_half(c, node, GRAMMAR_SOURCE, used ? ", from " : "from ", text + used, size - used);
    return used;
}

void report_message_text(const struct job *j, const struct job_class *c, uint32_t node, char *text, size_t size)
{
    text[0] = '\0';
    if (c->grammar->nodes[node].symbol >= j->terminal_count ||
        j->terminals[c->grammar->nodes[node].symbol].kind != JOB_CALL)
        return;
    size_t used = add_peers(j, c, node, text, size);
    const struct job_variant *v = job_variant_first(c, node, GRAMMAR_BYTES);
    if (!v || v->attr.sum <= 0)
        return;
    snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", v->attr.min == v->attr.max ? "" : "about ",
             report_bytes(job_attr_mean(&v->attr)));
}
