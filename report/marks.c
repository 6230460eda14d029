/* SPDX-License-Identifier: MIT */
#include "report/marks.h"

#include <stdlib.h>
#include <string.h>

#include "report/ranges.h"

#define SOONEST 0.4 /* of the mean distance between two marks */
#define LATEST 2.0
#define FEW 0.1     /* of the turns: may be others */
#define NEARLY 0.8  /* of the turns: what is made in so many is part of a turn */
#define CARRIES 0.7 /* of the time of those that carry most */
#define LEAST 0.2   /* of the stream */
#define A_TURN 0.2  /* of a mean turn's calls: a short turn */
#define A_WHOLE 0.75 /* one that is nearly whole */
#define EMBRACE 0.5 /* of a turn, from its first mark to its last one */
#define DIFFER 1.25 /* longest over shortest distance */
#define LITTLE 0.01 /* of the time: what is done now and then */
#define FAR 0.1     /* of all turns: one that is too long */
#define SOME 0.1    /* where the turns between are counted on */
#define OWN 0.03    /* in the marks themselves: what is not done now and then */

enum { WALK = 1 << 24, LEAST_TURNS = 3, LEAST_MARKS = 2, MANY = 4, MANY_TURNS = 20, SETS = 32 };

/* A call's occurrences at distances that are much the same: how many, where in the stream's time, how far apart. */
struct stretch { uint64_t count; double first, second, last, sum, least, most; };

/* How often a call is made, all of it as a stretch, the one that takes the most time at distances much the same. */
struct seen { bool common, regular; double ns; struct stretch all, now, best; };

/* Calls that are made in turn, each as often as the others. */
struct set {
    uint32_t mark, calls; /* the first of so many */
    uint64_t count;       /* how often each is made */
    double first, last;   /* the first call's first time, the last one's last time */
    double length;        /* from the first call to the last one, mean of the turns */
    uint64_t turn;        /* while walking */
    bool embrace;         /* marks at the begin and at the end of a turn */
    bool differ;          /* distances */
    bool inside;          /* turns of which something is done now and then */
    bool common;          /* a call of it is made as often by all ranks */
    bool regular;         /* a call of it is made at distances much the same */
    uint64_t turns;
    double ns;            /* of all turns, of one member */
    double carried;       /* of it, in calls that are made in nearly every turn */
    double own;           /* in the marks */
};

/* One call with regard to one set: how often before its first mark, until its last one, and in how many turns. */
struct within { uint64_t before, until, turns, latest; };

struct walk {
    const struct job *j;
    const struct grammar_flat *g;
    struct seen *of; /* each terminal */
    double ns;       /* of the whole stream */
    struct set sets[SETS]; /* fewest marks first */
    uint32_t count;
    struct within *within; /* of each set, each terminal */
};

/* --- Distances --- */

static void keep_longer(struct seen *s)
{
    if (s->now.last - s->now.first >= s->best.last - s->best.first)
        s->best = s->now;
}

static void go_on(struct stretch *x, double now)
{
    double distance = now - x->last;

    if (!x->count++)
        x->first = now;
    else {
        x->second = x->count == 2 ? now : x->second;
        x->least = x->count == 2 || distance < x->least ? distance : x->least;
        x->most = distance > x->most ? distance : x->most;
    }
    x->last = now;
    x->sum += now;
}

/* What is made before the loop or after it, too, is so at other distances: there another stretch begins. */
static void note(struct seen *s, double now)
{
    struct stretch next = s->now;

    go_on(&s->all, now);
    go_on(&next, now);
    if (s->now.count > 1 && next.most * SOONEST > next.least * LATEST) {
        keep_longer(s);
        next = (struct stretch){ 0 };
        go_on(&next, s->now.last);
        go_on(&next, now);
    }
    s->now = next;
}

/* Each event of the stream at its time, by means. */
typedef void visit_fn(struct walk *w, uint32_t terminal, double now, double ns, void *context);

static void walk_through(struct walk *w, visit_fn *visit, void *context)
{
    struct grammar_cursor c;
    double now = 0;

    for (int more = grammar_cursor_open(&c, w->g); more; more = grammar_cursor_next(&c)) {
        const struct grammar_stats *s = &w->g->stats[c.node];
        double gap = grammar_moments_mean(&s->gap, s->count), duration = grammar_moments_mean(&s->duration, s->count);
        if (c.terminal < w->j->terminal_count)
            visit(w, c.terminal, now + gap, gap + duration, context);
        now += gap + duration;
    }
    grammar_cursor_close(&c);
    w->ns = now;
}

static void see(struct walk *w, uint32_t terminal, double now, double ns, void *unused)
{
    (void)unused;
    note(&w->of[terminal], now);
    w->of[terminal].ns += ns;
}

static double step_of(const struct stretch *s)
{
    return (s->last - s->first) / (double)(s->count - 1);
}

static bool is_regular(const struct walk *w, const struct seen *of)
{
    const struct stretch *s = &of->best;
    double step = s->count >= LEAST_TURNS ? step_of(s) : 0;

    return step > 0 && (double)s->count >= (1 - FEW) * (double)of->all.count && s->least >= SOONEST * step &&
           s->most <= LATEST * step && s->last - s->first + step >= LEAST * w->ns;
}

/* Many, none far from the next one, however much the distances differ. */
static bool is_even(const struct walk *w, const struct stretch *s)
{
    double span = s->last - s->first;

    return s->count >= MANY_TURNS && s->most <= FAR * span && span >= LEAST * w->ns;
}

/* --- Which calls are the marks --- */

static bool has_first_threads(const struct job_class *c)
{
    for (uint32_t i = 0; i < c->member_ranges; i++)
        if (c->ranges[i].thread == 0)
            return c->grammar != NULL;
    return false;
}

/* Calls that the members of all classes of first threads make as often as this one. */
static void find_common(struct walk *w)
{
    uint64_t *made = calloc((size_t)w->j->terminal_count + 1, sizeof *made);

    for (uint32_t t = 0; t < w->j->terminal_count; t++)
        w->of[t].common = true;
    for (uint32_t k = 0; k < w->j->class_count; k++) {
        const struct job_class *c = &w->j->classes[k];
        if (!has_first_threads(c))
            continue;
        uint64_t members = report_members(c);
        memset(made, 0, w->j->terminal_count * sizeof *made);
        for (uint32_t n = 0; n < c->grammar->node_count; n++)
            if (c->grammar->nodes[n].symbol < w->j->terminal_count)
                made[c->grammar->nodes[n].symbol] += c->grammar->stats[n].count;
        for (uint32_t t = 0; t < w->j->terminal_count; t++)
            w->of[t].common &= made[t] == w->of[t].all.count * members;
    }
    free(made);
}

static bool in_turn(const struct stretch *a, const struct stretch *b)
{
    return a->count == b->count && a->first <= b->first && b->first < a->second && a->last <= b->last;
}

static void add_set(struct walk *w, const struct set *s)
{
    uint32_t at = w->count < SETS ? w->count++ : SETS;

    while (at && w->sets[at - 1].count > s->count) {
        if (at < SETS)
            w->sets[at] = w->sets[at - 1];
        at--;
    }
    if (at < SETS)
        w->sets[at] = *s;
}

static void find_sets(struct walk *w)
{
    bool *used = calloc((size_t)w->j->terminal_count + 1, sizeof *used);

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        struct seen *of = &w->of[t];
        keep_longer(of);
        of->regular = is_regular(w, of);
        used[t] = !of->regular && !is_even(w, &of->all);
        if (!of->regular)
            of->best = of->all;
    }
    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct stretch *a = &w->of[t].best;
        struct set s = { .mark = t, .count = a->count, .first = a->first, .last = a->last };
        if (used[t])
            continue;
        for (uint32_t u = t; u < w->j->terminal_count; u++) {
            const struct stretch *b = &w->of[u].best;
            if (used[u] || !in_turn(a, b))
                continue;
            used[u] = true;
            s.calls++;
            s.own += w->of[u].ns;
            s.common |= w->of[u].common;
            s.regular |= w->of[u].regular;
            if (b->last > s.last) {
                s.last = b->last;
                s.length = (b->sum - a->sum) / (double)a->count;
            }
            s.differ |= b->most > DIFFER * b->least;
        }
        if (s.regular || s.calls >= LEAST_MARKS)
            add_set(w, &s);
    }
    free(used);
}

/* --- Turns --- */

static void see_within(struct walk *w, uint32_t terminal, double now, double ns, void *unused)
{
    (void)unused;
    (void)ns;
    for (uint32_t i = 0; i < w->count; i++) {
        struct set *s = &w->sets[i];
        struct within *x = &w->within[(size_t)i * w->j->terminal_count + terminal];
        s->turn += terminal == s->mark && now >= s->first;
        x->before += now < s->first;
        x->until += now <= s->last;
        if (s->turn && s->turn < s->count && x->latest != s->turn) {
            x->latest = s->turn;
            x->turns++;
        }
    }
}

static const struct within *within(const struct walk *w, const struct set *s, uint32_t terminal)
{
    return &w->within[(size_t)(s - w->sets) * w->j->terminal_count + terminal];
}

static double mean_ns(const struct walk *w, uint32_t terminal)
{
    const struct seen *s = &w->of[terminal];
    return s->all.count ? s->ns / (double)s->all.count : 0;
}

/* Turns that are begun before the first mark or go on after the last: of the calls of a mean turn between the marks, by
   time, those outside. What has marks of its own there is another loop. */
static uint64_t turns_outside(const struct walk *w, const struct set *s)
{
    double turn = 0, head = 0, tail = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct within *x = within(w, s, t);
        double calls = (double)(x->until - x->before) / (double)(s->count - 1);
        if (calls <= 0)
            continue;
        double ns = mean_ns(w, t), after = (double)(w->of[t].all.count - x->until);
        turn += ns * calls;
        head += ns * ((double)x->before < calls ? (double)x->before : calls);
        tail += ns * (after < calls ? after : calls);
    }
    head = within(w, s, s->mark)->before ? 0 : head;
    tail = w->of[s->mark].all.count > within(w, s, s->mark)->until ? 0 : tail;
    double more = head > tail ? head : tail, less = head > tail ? tail : head;
    if (more >= A_WHOLE * turn && less >= A_TURN * turn)
        return 2;
    return head + tail >= A_TURN * turn;
}

static void measure(const struct walk *w, struct set *s)
{
    double step = step_of(&w->of[s->mark].best), all = 0, nearly = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct within *x = within(w, s, t);
        double ns = mean_ns(w, t) * (double)(x->until - x->before);
        all += ns;
        nearly += (double)x->turns >= NEARLY * (double)(s->count - 1) ? ns : 0;
    }
    s->embrace = s->length >= EMBRACE * step;
    s->turns = s->count - 1 + (s->embrace ? 1 : turns_outside(w, s));
    s->ns = (double)s->turns * step < w->ns ? (double)s->turns * step : w->ns;
    s->carried = all > 0 ? s->ns * nearly / all : 0;
}

/* How often a call is made between each two marks. */
struct counts { const struct set *set; uint32_t call; uint64_t turn; uint32_t *of; };

static void count_call(struct walk *w, uint32_t terminal, double now, double ns, void *context)
{
    struct counts *c = context;

    (void)w;
    (void)ns;
    c->turn += terminal == c->set->mark && now >= c->set->first && c->turn < c->set->count;
    c->of[c->turn] += terminal == c->call;
}

/* Whether it is so equally often, but for a few. `cut`: the last time less often, as of turns that are counted on. */
static bool is_steady(struct walk *w, const struct set *s, uint32_t call, bool *cut)
{
    uint64_t sum = 0, off = 0;
    struct counts c = { .set = s, .call = call, .of = calloc(s->count + 1, sizeof *c.of) };

    walk_through(w, count_call, &c);
    for (uint64_t i = 1; i < s->count; i++)
        sum += c.of[i];
    double mean = (double)sum / (double)(s->count - 1);
    for (uint64_t i = 1; i < s->count; i++)
        off += c.of[i] > mean + 0.5 || c.of[i] < mean - 0.5;
    *cut = s->count > MANY + 1 && c.of[s->count - 1] < c.of[1];
    for (uint64_t i = 2; i + 1 < s->count; i++)
        *cut &= c.of[i] == c.of[1];
    free(c.of);
    return (double)off <= FEW * (double)s->count || *cut;
}

/* The time of calls that are made between the marks, but not in nearly each of the turns that there are so many of. */
static double own_time(const struct walk *w, const struct set *s, double turns)
{
    double ns = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        double between = (double)(within(w, s, t)->until - within(w, s, t)->before);
        ns += between < NEARLY * turns ? mean_ns(w, t) * between : 0;
    }
    return ns;
}

/* --- Which set --- */

static bool covers(const struct set *s, const struct set *heaviest)
{
    double from = s->first > heaviest->first ? s->first : heaviest->first;
    double to = s->last < heaviest->last ? s->last : heaviest->last;

    return s->carried >= CARRIES * heaviest->carried && to - from >= CARRIES * (heaviest->last - heaviest->first);
}

/* Where the marks are of what is done every so many turns, and takes little: the marks of these turns. */
static struct set *look_inside(struct walk *w, struct set *s, const struct set *heaviest)
{
    enum { WALKS = 8 };
    int walks = 0;

    for (struct set *x = s + 1; !s->embrace && x < w->sets + w->count && walks < WALKS; x++) {
        const struct within *turns = within(w, s, x->mark);
        double own = own_time(w, s, (double)(turns->until - turns->before));
        bool cut;
        if (x->count <= s->count + s->count / 2 || x->calls < MANY || !covers(x, heaviest) || own > SOME * s->ns)
            continue;
        walks++;
        if (!is_steady(w, s, x->mark, &cut) || own > (cut ? SOME : LITTLE) * s->ns)
            continue;
        x->inside = true;
        return x;
    }
    return s;
}

/* Of sets of which one has a mark more: without a mark in the last turn, the loop was left there; without one in the
   first, that came before the loop. */
static struct set *first_or_last(struct walk *w, struct set *s, const struct set *heaviest)
{
    for (struct set *x = w->sets; x < w->sets + w->count; x++) {
        if (x->count == s->count + 1 && x->calls >= 2 * s->calls && !s->embrace && x->last > s->last &&
            covers(x, heaviest))
            return x;
        if (x->count + 1 == s->count && x->count >= LEAST_TURNS && x->calls >= LEAST_MARKS &&
            x->first > w->of[s->mark].best.second && x->last > w->of[s->mark].best.last)
            return x;
    }
    return s;
}

/* The set with the fewest turns that covers the heaviest one. One of calls that other ranks make more or less often is
   how messages happen to come, unless what all ranks make equally often comes equally often in each of its turns. */
static struct set *fewest(struct walk *w, const struct set *heaviest)
{
    enum { WALKS = 8 };
    struct set *end = w->sets + w->count, *common = w->sets, *first = w->sets;
    int walks = 0;
    bool cut;

    while (common < end && !(common->common && covers(common, heaviest)))
        common++;
    while (first < end && (!covers(first, heaviest) ||
                           (first < common && common < end &&
                            (walks++ >= WALKS || !is_steady(w, first, common->mark, &cut)))))
        first++;
    return first < end ? first : NULL;
}

/* NULL: the class has no such loop. */
static const struct set *find(struct walk *w)
{
    const struct set *heaviest = w->sets;
    struct set *s;

    walk_through(w, see, NULL);
    find_common(w);
    find_sets(w);
    w->within = calloc((size_t)w->count * w->j->terminal_count + 1, sizeof *w->within);
    walk_through(w, see_within, NULL);
    for (s = w->sets; s < w->sets + w->count; s++) {
        measure(w, s);
        heaviest = s->carried > heaviest->carried ? s : heaviest;
    }
    s = fewest(w, heaviest);
    return s ? look_inside(w, first_or_last(w, s, heaviest), heaviest) : NULL;
}

/* Whether the loop found by rules is the main loop, not the marked one. */
static bool rules_are_right(const struct walk *w, const struct report_loop *l, const struct set *m, double ns)
{
    if (!l->present || l->total_ns < CARRIES * ns)
        return false;
    if (ns < CARRIES * l->total_ns)
        return true;
    if (l->turns <= m->turns + m->turns / 2) /* the same turns, or some of them together */
        return !m->inside;
    return l->executions < m->turns && !m->embrace && !(m->differ && m->calls >= MANY) && m->own < OWN * m->ns &&
           own_time(w, m, (double)l->turns) <= (1 - NEARLY) * m->ns;
}

/* Of sets that mark the same loop that with most calls; NULL: none. A rule may have parts of one turn, or be beside the
   loop, too, so that its turns are not as exact. */
static const struct set *same_loop(const struct walk *w, const struct report_loop *l, double scale)
{
    const struct set *best = NULL;

    for (const struct set *x = w->sets; x < w->sets + w->count; x++)
        if (x->calls >= (x->embrace ? LEAST_MARKS : MANY) && (!best || x->calls > best->calls) &&
            x->ns * scale >= CARRIES * l->total_ns && l->turns <= x->turns + x->turns / 2 &&
            x->turns <= l->turns + l->turns / 2)
            best = x;
    return best;
}

/* A walk goes the first member's way by the times of all: what is a share of it is as great a share of theirs. */
static double mean_time(const struct job_class *c)
{
    const struct grammar_flat *g = c->grammar;
    double ns = 0;

    for (uint32_t n = 0; n < g->node_count; n++)
        if (!grammar_is_rule(g->nodes[n].symbol))
            ns += (double)g->stats[n].gap.sum + (double)g->stats[n].duration.sum;
    return ns / (double)report_members(c);
}

void report_prefer_marks(const struct job *j, uint32_t class_index, struct report_loop *loop)
{
    struct walk w = { .j = j, .g = j->classes[class_index].grammar };

    if (w.g->events > WALK)
        return;
    w.of = calloc((size_t)j->terminal_count + 1, sizeof *w.of);
    const struct set *s = find(&w);
    double scale = w.ns > 0 ? mean_time(&j->classes[class_index]) / w.ns : 1;
    if (s && !rules_are_right(&w, loop, s, s->ns * scale))
        *loop = (struct report_loop){ .present = true, .class_index = class_index, .node = GRAMMAR_NONE,
                                      .mark = s->mark, .turns = s->turns, .executions = 1,
                                      .turn_ns = s->ns * scale / (double)s->turns, .total_ns = s->ns * scale };
    else if (s && loop->present && (s = same_loop(&w, loop, scale))) {
        loop->turns = s->turns;
        loop->turn_ns = loop->total_ns / (double)s->turns;
    }
    free(w.within);
    free(w.of);
}
