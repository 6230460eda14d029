/* SPDX-License-Identifier: MIT */
/*
 * Peers for any runtime: what the recording says of this very stream, and what oracle/peers.h learns of the run. Not
 * the rules that a class has for other ranks: who opens an oracle names the rank that it is.
 */
#include "api/api.h"
#include "file/file.h"

#include <string.h>

#include "pythia.h"

enum { JUDGED = 16 }; /* one in so many, where all that was said lately is right */

int api_peers_open(struct api_peers *p, const struct job *job, uint32_t class_index, uint32_t rank, uint32_t thread,
                   bool follows)
{
    *p = (struct api_peers){ job, class_index, rank, thread, oracle_peers_create(), NULL, NULL, 0 };
    if (job && follows)
        p->courses = job_follow_create(job, rank);
    return p->learned && (p->courses || !job || !follows) ? 0 : PYTHIA_ENOMEM;
}

void api_peers_close(struct api_peers *p)
{
    oracle_peers_destroy(p->learned);
    job_follow_destroy(p->courses);
}

static void peers_say_recorded(const struct api_peers *p, const struct oracle_peers_event *e,
                               struct oracle_peers_said *said)
{
    struct job_follow *courses = api_peers_courses(p);
    int64_t value;

    said->mask = 0;
    if (!p->job || e->reference != 0 || e->node == GRAMMAR_NONE)
        return;
    const struct job_class *c = &p->job->classes[p->class_index];
    const struct job_variant *v = job_variant(c, e->node, GRAMMAR_PEER, p->rank, p->thread);
    if (v && courses && job_follow_say(courses, e->terminal, v, 0, &value) && value >= 0) {
        said->mask = 1u << ORACLE_PEERS_COURSE;
        said->value[ORACLE_PEERS_COURSE] = value;
    }
    if (!v || !grammar_attr_constant(&v->attr, &value))
        return;
    value = job_variant_value(v, p->rank, value);
    if (value < 0)
        return;
    said->mask |= 1u << ORACLE_PEERS_OWN;
    said->value[ORACLE_PEERS_OWN] = value;
}

static void pass_course(struct api_peers *p, uint32_t terminal, int64_t peer)
{
    if (p->courses)
        job_follow_pass(p->courses, terminal, 1u << GRAMMAR_PEER, &peer);
}

void api_peers_follow(struct api_peers *p, const struct oracle *o, uint32_t terminal, int64_t peer)
{
    struct oracle_peers_event e = { .terminal = terminal, .reference = GRAMMAR_NONE, .node = GRAMMAR_NONE };
    struct oracle_peers_actual actual = { .peer = peer, .place = -1, .reply = -1 };
    struct oracle_peers_said said;

    if (peer < 0) {
        if (p->turn) /* before the first one nothing is learned of peers */
            oracle_peers_pass(p->learned, terminal, -1);
        return;
    }
    if (++p->turn % JUDGED && oracle_peers_calm(p->learned)) {
        oracle_peers_pass(p->learned, terminal, peer);
        pass_course(p, terminal, peer);
        return;
    }
    oracle_here(o, terminal, &e.reference, &e.node, &e.turn);
    peers_say_recorded(p, &e, &said);
    oracle_peers_ask(p->learned, &e, &said);
    oracle_peers_learn(p->learned, &e, &said, &actual);
    oracle_peers_pass(p->learned, terminal, peer);
    pass_course(p, terminal, peer);
}

int api_peers_ask(const struct api_peers *p, const struct oracle_answer *a, int64_t *peer, double *chance)
{
    struct oracle_peers_event e = { a->terminal, a->reference, a->node, a->turn };
    struct oracle_peers_said said;

    peers_say_recorded(p, &e, &said);
    oracle_peers_ask(p->learned, &e, &said);
    int source = oracle_peers_choose(p->learned, &e, &said, chance);
    if (source < 0)
        return 1;
    *peer = said.value[source];
    return 0;
}
