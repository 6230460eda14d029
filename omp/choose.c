/* SPDX-License-Identifier: MIT */
/* With how many threads the region that begins now runs. */
#include <stddef.h>

#include "base/clock.h"
#include "omp/team_state.h"

enum { CONTROL_BURST = 4 };
static const double gap_counted = 250000; /* ns, at most: a team that comes back after long does not come alone */

/* What the reference knows of this region here: its place, and times by team size. */
static struct omp_hook_context *consult(struct omp_hook_region *r)
{
    struct oracle_answer answer;
    bool known = session_expect(r->stream, &r->span, &answer) == 0;
    bool place = known && answer.reference != GRAMMAR_NONE;
    struct omp_hook_context *c = omp_hook_context_find(r->site, place ? answer.reference : GRAMMAR_NONE,
                                                       place ? answer.node : omp_hook_context_history(), r->program, true);
    if (c && !c->model.cost) {
        struct session_recorded recorded = { NULL, NULL };
        if (known)
            recorded = session_recorded_there(r->stream, &answer);
        omp_hook_model_start(&c->model, r->cost, recorded.team, recorded.stats);
    }
    return c;
}

/* Workers' time since the last team, ns. */
static uint64_t since_team(const struct omp_hook_region *r)
{
    return r->span.begin > omp_hook_team.last_team ? r->span.begin - omp_hook_team.last_team : 0;
}

static void note_gap(struct omp_hook_cost *cost, uint64_t since)
{
    cost->gap = since < gap_counted ? (double)since : gap_counted;
}

/* What was clear the last few times is not decided anew, while nothing else has changed. */
static bool settled(struct omp_hook_region *r)
{
    struct omp_hook_context *c = r->context;
    uint64_t since = since_team(r);
    if (!c || omp_hook_team.control || omp_hook_team.pinned || r->cost->share != omp_hook_team.crowd.share ||
        !omp_hook_context_settled(c, r->plan->pool, since))
        return false;
    note_gap(r->cost, since);
    r->k = c->k;
    r->credit = c->credit;
    r->lowered = c->model.lowering;
    return r->settled = true;
}

/* Sets r->k (the pool's size), r->cold and r->idle. */
static void look_at_workers(struct omp_hook_region *r)
{
    struct omp_hook_cost *cost = r->cost;
    uint64_t since = since_team(r);
    uint32_t k = r->k = omp_hook_team.pinned ? cost->teams - 1 : r->plan->pool;
    if (since > 2 * cost->team[k].spin && !cost->cold_known && cost->team[k].hot >= 0 && omp_hook_team.alive == cost->team[k].size) {
        omp_hook_cost_measure_cold(cost, k);
        session_begin_again(r->stream, &r->span);
        omp_hook_team.last_team = r->span.begin;
        since = 0;
    }
    r->cold = since > cost->team[k].spin;
    r->idle = r->span.begin > omp_hook_team.last_end + cost->team[cost->teams - 1].spin;
    omp_hook_stall_fade(&cost->stall, r->span.begin);
    cost->share = omp_hook_team.crowd.share;
    cost->wait = omp_hook_team.crowd.wait;
    note_gap(cost, since);
}

/* For the plan: what comes after the region that begins now. */
static bool future(void *argument, uint32_t distance, double best[OMP_HOOK_TEAMS])
{
    struct omp_hook_region *r = argument;
    struct oracle_answer answer;
    if (session_predict(r->stream, distance + 1, &answer) || answer.reference == GRAMMAR_NONE)
        return false;
    omp_hook_context_best(omp_hook_context_find(NULL, answer.reference, answer.node, r->program, false), best);
    return true;
}

static void plan(struct omp_hook_region *r)
{
    double best[OMP_HOOK_TEAMS];
    if (omp_hook_team.pinned || !omp_hook_plan_open(r->plan))
        return;
    omp_hook_context_best(r->context, best);
    r->k = omp_hook_plan_next(r->plan, best, future, r);
}

/*
 * Sleeping workers make a team dear, and without a team they go on sleeping: what would pay with workers awake must not
 * wait for ever for somebody else to wake them. So what was missed is summed up, and once it is more than waking costs
 * now, this region does it: at most twice the cost of knowing the future (the ski-rental argument).
 */
static bool worth_waking(const struct omp_hook_region *r, const struct omp_hook_choice *c)
{
    if (!r->cold || r->cost->team[r->k].spin < 1000000 || c->hot > 0.95 * c->one)
        return false;
    omp_hook_team.missed += c->one - c->hot;
    if (omp_hook_team.missed < c->full - c->one)
        return false;
    omp_hook_team.missed = 0;
    return true;
}

/* The program's own size; a few regions in a row where that is another pool. */
static void control(struct omp_hook_region *r)
{
    if (omp_hook_team.control == 0)
        omp_hook_team.control = r->k == r->cost->teams - 1 ? 1 : CONTROL_BURST;
    omp_hook_team.control--;
    r->k = r->cost->teams - 1;
    r->control = r->trial = true;
}

/* Sizes to try a program with: one; or one, the middle, the program's. */
static void force(struct omp_hook_region *r)
{
    uint32_t turn = omp_hook_team.wanted == OMP_HOOK_ALWAYS_ONE ? 0 : (uint32_t)(r->site->stats.executions % 3);
    r->lowered = turn == 0;
    if (turn == 2)
        r->k = r->cost->teams - 1;
    else if (turn == 1 && r->k > 0 && !omp_hook_team.pinned)
        r->k--;
}

static void apply(struct omp_hook_region *r)
{
    struct omp_hook_choice choice;
    if (omp_hook_team.wanted != OMP_HOOK_BEST) {
        force(r);
        return;
    }
    unsigned workers = (r->cold ? OMP_HOOK_ASLEEP : 0) | (r->idle ? OMP_HOOK_ASLEEP_ANYWAY : 0);
    omp_hook_model_choose(&r->context->model, &r->site->patience, r->k, workers, &omp_hook_team.budget, &choice);
    r->full = choice.full;
    r->credit = choice.credit;
    r->one = choice.one;
    r->hot = choice.hot;
    r->trial = choice.trial;
    if (choice.control || omp_hook_team.control)
        control(r);
    else
        r->lowered = choice.lower && !worth_waking(r, &choice);
}

/* Its place in the program's loop may end a window of the referee's, or begin the first one. */
static void take_turn(const struct omp_hook_region *r, bool ends)
{
    struct omp_hook_context *c = r->context;
    uint64_t now = r->span.begin - session_call_ns(r->stream); /* waiting for other ranks, which try other ways, is left out */
    bool anchor = c && omp_hook_return_note(&c->returns, omp_hook_team.counts.considered, now);
    if (ends && c == omp_hook_team.anchor) {
        omp_hook_team.counts.judged += omp_hook_referee_turn(&omp_hook_team.referee, now, &omp_hook_team.budget);
    } else if (ends) {
        omp_hook_referee_lose(&omp_hook_team.referee);
    } else if (anchor && !omp_hook_team.referee.length && omp_hook_team.wanted == OMP_HOOK_BEST) {
        omp_hook_referee_anchor(&omp_hook_team.referee, &c->returns, now);
        omp_hook_team.anchor = c;
    }
}

/* All regions are run in one way for now. */
static bool rests(struct omp_hook_region *r)
{
    enum omp_hook_way way = omp_hook_team.referee.way;
    if (way == OMP_HOOK_CHOSEN || !r->site->known || omp_hook_team.control || omp_hook_team.pinned)
        return false;
    r->context = NULL;
    r->k = r->plan->pool;
    r->lowered = way == OMP_HOOK_ONE;
    r->credit = r->site->credit;
    omp_hook_team.counts.rested++;
    return r->settled = true;
}

/* The region's place, where that is needed. Returns whether there is nothing to decide. */
static bool as_ever(struct omp_hook_region *r)
{
    bool ends = omp_hook_referee_ends(&omp_hook_team.referee, ++omp_hook_team.counts.considered);
    if (!ends && rests(r))
        return true;
    r->context = consult(r);
    take_turn(r, ends);
    return rests(r) || settled(r);
}

static void decide(struct omp_hook_region *r)
{
    look_at_workers(r);
    plan(r);
    /* The first time shows how the region asks for its threads; without a context there is nothing to go by. */
    if (r->context && r->site->known)
        apply(r);
    else
        r->k = r->cost->teams - 1;
}

void omp_hook_team_choose(struct omp_hook_region *r)
{
    if (!as_ever(r))
        decide(r);
    uint32_t size = r->lowered ? 1 : r->cost->team[r->k].size;
    if (size != r->program)
        r->nt = size;
    r->direct = r->lowered && omp_hook_team_may_be_direct(r);
    if (size > 1)
        r->changes = omp_hook_team.alive && omp_hook_team.alive != size;
    if (!r->settled)
        r->begin = base_clock_now();
}
