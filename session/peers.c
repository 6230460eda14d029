/* SPDX-License-Identifier: MIT */
/* What a recording says of peers, taken to the shape of this run; asking, and keeping the score. */
#include "base/lock.h"
#include "session/peers.h"

#include <stdlib.h>

#include "session/internal.h"

/* One event with a peer in about so many is asked about, and of those after so many answers. */
enum { SAMPLE = 16, KNOWN = 256, KNOWN_SAMPLE = 64 };

/* --- What the recording says --- */

static void say(struct oracle_peers_said *said, enum oracle_peers_source source, int64_t value)
{
    said->mask |= 1u << source;
    said->value[source] = value;
}

/* The way from `from` to `to` on a ring of `size`, the shorter one. */
static int64_t way(int64_t from, int64_t to, int64_t size)
{
    int64_t up = ((to - from) % size + size) % size;
    if (2 * up == size) /* as far either way: as it was written there */
        return to - from;
    return 2 * up < size ? up : up - size;
}

static void say_rules(const struct job_variant *v, int64_t value, struct oracle_peers_said *said)
{
    int64_t rank = session.world.rank, ranks = session.world.ranks;
    if (v->relations & JOB_ABSOLUTE && value >= 0 && value < ranks)
        say(said, ORACLE_PEERS_SAME, value);
    if (!v->modulus || value < 0)
        return;
    if (v->relations & JOB_OFFSET)
        say(said, ORACLE_PEERS_OFFSET, ((rank + way(v->sample_rank, value, v->modulus)) % ranks + ranks) % ranks);
    if (v->relations & JOB_XOR && (rank ^ value ^ v->sample_rank) < ranks)
        say(said, ORACLE_PEERS_XOR, rank ^ value ^ v->sample_rank);
}

/* What holds for this stream, where it is of the class; else what holds for one of the reference's members, where these
   are some of the class; else for most of the class. */
static const struct job_variant *variant_of(const struct session_stream *s, const struct job_class *c,
                                            const struct oracle_peers_event *e, enum grammar_channel channel)
{
    uint64_t place = ((uint64_t)e->reference << 32 | e->node) * GRAMMAR_CHANNELS + channel + 1; /* 0: nothing */
    struct session_peers_found *f = &s->peers.found[place % SESSION_PEERS_FOUND];
    if (f->place != place) {
        f->place = place;
        const struct session_role *role = &s->peers.role[e->reference];
        f->variant = s->peers.own ? job_variant(c, e->node, channel, session.world.rank, s->thread)
                     : c->turn_count ? job_variant(c, e->node, channel, role->rank, role->thread)
                                     : job_variant_most(c, e->node, channel);
    }
    return f->variant;
}

static void peers_say_recorded(struct session_stream *s, const struct oracle_peers_event *e,
                               struct oracle_peers_said *said)
{
    int64_t value;
    said->mask = 0;
    if (e->reference >= s->peers.references || e->node == GRAMMAR_NONE)
        return;
    const struct job_class *c = &session.reference->classes[s->peers.role[e->reference].class_index];
    const struct grammar_flat_node *n = &c->grammar->nodes[e->node];
    for (uint32_t i = 0; i < n->attr_count; i++) {
        uint8_t channel = c->grammar->attrs[n->attr + i].channel;
        const struct job_variant *v = channel == GRAMMAR_PEER || channel == GRAMMAR_REPLY || channel == GRAMMAR_PLACE
                                          ? variant_of(s, c, e, channel) : NULL;
        if (v && channel == GRAMMAR_PEER && s->peers.follow &&
            job_follow_say(s->peers.follow, e->terminal, v, 0, &value))
            say(said, ORACLE_PEERS_COURSE, value);
        if (!v || !grammar_attr_constant(&v->attr, &value))
            continue;
        if (channel == GRAMMAR_REPLY && value == 1)
            say(said, ORACLE_PEERS_REPLY, 1);
        else if (channel == GRAMMAR_PLACE)
            say(said, ORACLE_PEERS_PLACE, value);
        else if (channel == GRAMMAR_PEER && s->peers.own)
            say(said, ORACLE_PEERS_OWN, job_variant_value(v, session.world.rank, value));
        else if (channel == GRAMMAR_PEER)
            say_rules(v, value, said);
    }
}

/* --- A stream's peers --- */

/* Other threads open other classes meanwhile. */
static bool role_with(const struct grammar_flat *g, struct session_role *role)
{
    bool found = false;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    for (uint32_t i = 0; i < session.role_count && !found; i++)
        if (session.role[i].grammar == g) {
            *role = session.role[i];
            found = true;
        }
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return found;
}

/* At the first peer. */
static __attribute__((noinline)) bool open_peers(struct session_stream *s)
{
    struct session_peers *p = &s->peers;
    const struct oracle_index *x;
    while (oracle_reference(s->oracle, p->references))
        p->references++;
    p->learned = oracle_peers_create();
    p->role = malloc((p->references + 1) * sizeof *p->role);
    p->found = calloc(SESSION_PEERS_FOUND, sizeof *p->found);
    p->off = !p->learned || !p->role || !p->found;
    for (uint32_t i = 0; !p->off && i < p->references; i++) {
        x = oracle_reference(s->oracle, i);
        p->off |= !role_with(oracle_index_grammar(x), &p->role[i]);
    }
    if (p->off)
        return false;
    p->random = s->thread + 1;
    p->own = p->references == 1 && session.reference->info.ranks == session.world.ranks &&
             job_stream_class(session.reference, session.world.rank, s->thread) == p->role[0].class_index;
    p->follow = p->own ? job_follow_create(session.reference, session.world.rank) : NULL; /* without memory: none */
    return true;
}

void session_peers_close(struct session_peers *p)
{
    oracle_peers_destroy(p->learned);
    job_follow_destroy(p->follow);
    free(p->role);
    free(p->found);
    p->learned = NULL;
    p->follow = NULL;
    p->role = NULL;
    p->found = NULL;
}

static bool has_peer(uint32_t peer_class, const struct grammar_event *event)
{
    return event->channels & 1u << GRAMMAR_PEER && event->value[GRAMMAR_PEER] >= 0 &&
           (peer_class == JOB_PEER_RANK || peer_class == JOB_PEER_SELF || peer_class == JOB_PEER_ROOT);
}

static bool chosen_for_sample(struct session_peers *p)
{
    if (session.checks_peers)
        return true;
    if (p->unasked) {
        p->unasked--;
        return false;
    }
    p->random = p->random * 1664525u + 1013904223u;
    p->unasked = (p->random >> 16) % (2 * (p->score.asked < KNOWN ? SAMPLE : KNOWN_SAMPLE) - 1);
    return true;
}

/* Each event, however little else is done with it: a place in a course is how many there were. */
static void pass_course(struct session_peers *p, uint32_t terminal, const struct grammar_event *event)
{
    if (p->follow)
        job_follow_pass(p->follow, terminal, event->channels, event->value);
}

bool session_peers_unasked(const struct session_peers *p, uint32_t peer_class, const struct grammar_event *event)
{
    return p->off || !has_peer(peer_class, event) ||
           (p->learned && p->unasked && !session.checks_peers && oracle_peers_calm(p->learned));
}

void session_peers_after_quick(struct session_peers *p, uint32_t peer_class, uint32_t terminal,
                               const struct grammar_event *event)
{
    if (p->off)
        return;
    if (has_peer(peer_class, event)) {
        p->unasked--;
        oracle_peers_pass(p->learned, terminal, event->value[GRAMMAR_PEER]);
    } else {
        oracle_peers_pass(p->learned, terminal, -1);
    }
    pass_course(p, terminal, event);
}

void session_peers_before(struct session_stream *s, uint32_t peer_class, const struct grammar_event *event)
{
    struct session_peers *p = &s->peers;
    struct oracle_answer answer;
    p->asked = false;
    if (p->off || !has_peer(peer_class, event) || (!p->learned && !open_peers(s)) || !chosen_for_sample(p))
        return;
    p->asked = true;
    p->source = -1;
    if (oracle_predict(s->oracle, 1, &answer))
        return;
    struct oracle_peers_event e = { answer.terminal, answer.reference, answer.node, answer.turn };
    p->terminal = answer.terminal;
    peers_say_recorded(s, &e, &p->said);
    oracle_peers_ask(p->learned, &e, &p->said);
    p->source = oracle_peers_choose(p->learned, &e, &p->said, NULL);
}

static void count(struct oracle_score_peers *score, bool foretold, bool right)
{
    score->asked++;
    score->foretold += foretold;
    score->right += right;
}

static void judge(struct session_stream *s, uint32_t terminal, const struct oracle_peers_actual *actual)
{
    struct session_peers *p = &s->peers;
    bool right = p->source >= 0 && p->terminal == terminal && oracle_peers_right(&p->said, p->source, actual);
    count(&p->score, p->source >= 0, right);
    if (s->events > SESSION_PEERS_SETTLED)
        count(&p->late, p->source >= 0, right);
}

/* The event is what is learned from. */
static void peers_learn(struct session_stream *s, uint32_t terminal, const struct oracle_peers_actual *actual)
{
    struct oracle_peers_event e = { .terminal = terminal, .reference = GRAMMAR_NONE, .node = GRAMMAR_NONE };
    struct oracle_peers_said said;
    oracle_here(s->oracle, terminal, &e.reference, &e.node, &e.turn);
    peers_say_recorded(s, &e, &said);
    oracle_peers_ask(s->peers.learned, &e, &said);
    oracle_peers_learn(s->peers.learned, &e, &said, actual);
    oracle_peers_pass(s->peers.learned, terminal, actual->peer);
}

void session_peers_after(struct session_stream *s, uint32_t peer_class, uint32_t terminal,
                         const struct grammar_event *event)
{
    struct session_peers *p = &s->peers;
    if (!p->learned || p->off)
        return;
    if (!has_peer(peer_class, event)) {
        oracle_peers_pass(p->learned, terminal, -1);
        pass_course(p, terminal, event);
        return;
    }
    struct oracle_peers_actual actual = {
        .peer = event->value[GRAMMAR_PEER],
        .place = event->channels & 1u << GRAMMAR_PLACE ? event->value[GRAMMAR_PLACE] : -1,
        .reply = event->channels & 1u << GRAMMAR_REPLY ? event->value[GRAMMAR_REPLY] : -1,
    };
    if (p->asked)
        judge(s, terminal, &actual);
    if (!p->asked && oracle_peers_calm(p->learned))
        oracle_peers_pass(p->learned, terminal, actual.peer);
    else
        peers_learn(s, terminal, &actual);
    pass_course(p, terminal, event);
}
