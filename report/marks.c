/* SPDX-License-Identifier: MIT */
#include "report/marks.h"

#include <stdlib.h>

#include "report/ranges.h"

#define SOONEST 0.4 /* of the mean distance between two marks */
#define LATEST 2.0
#define FEW 0.1 /* of the turns: may be others */
#define CARRIES 0.7 /* of the time of those that carry most */
#define A_TURN 0.2 /* of a mean turn's calls: a short turn */
#define A_WHOLE 0.75 /* one that is nearly whole */
#define EMBRACE 0.5 /* of a turn, which is not between its first mark and its last one */
#define DIFFER 1.25 /* longest over shortest distance */
#define LITTLE 0.01 /* of the time: what is done now and then */

enum { WALK = 1 << 24, LEAST_TURNS = 3, LEAST_MARKS = 2, MANY = 4 };

struct marks {
    uint32_t mark, count; /* one of so many */
    bool differ;          /* distances */
    bool embrace;         /* marks at the begin and at the end of a turn */
    bool inside;          /* turns of which something is done now and then */
    uint64_t turns;
    double ns;            /* of all turns, of one member */
};

/* One call's occurrences: how many, where in the stream's time, how far apart; and how many before the first mark and
   until the last one. */
struct seen { uint64_t count, passed; double first, last, least, most; uint64_t before, until; double ns; bool other; };

struct walk {
    const struct job *j;
    const struct grammar_flat *g;
    struct seen *of; /* each terminal */
    double ns;       /* of the whole stream */
};

/* --- Distances --- */

static void note(struct seen *s, double now)
{
    double distance = now - s->last;

    if (!s->count++)
        s->first = now;
    else if (s->count == 2 || distance < s->least)
        s->least = distance;
    if (s->count > 1 && distance > s->most)
        s->most = distance;
    s->last = now;
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

static double step_of(const struct seen *s)
{
    return (s->last - s->first) / (double)(s->count - 1);
}

/* What the turns that it marks take: a turn before the first and one after the last, as far as the stream goes. */
static double extent_of(const struct walk *w, const struct seen *s)
{
    double step = step_of(s), from = s->first - step, to = s->last + step;
    return (to < w->ns ? to : w->ns) - (from > 0 ? from : 0);
}

static bool is_regular(const struct seen *s)
{
    return s->count >= LEAST_TURNS && s->least >= SOONEST * step_of(s) && s->most <= LATEST * step_of(s);
}

/* --- Which calls are the marks --- */

/* Calls made `count` times, regularly, over at least `ns`. */
static uint32_t marks_of(const struct walk *w, uint64_t count, double ns)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++)
        n += w->of[t].count == count && is_regular(&w->of[t]) && extent_of(w, &w->of[t]) >= ns;
    return n;
}

/* The most time of calls that others are made as often as. */
static double most_time(const struct walk *w)
{
    double most = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct seen *s = &w->of[t];
        if (is_regular(s) && extent_of(w, s) > most && marks_of(w, s->count, 0) >= LEAST_MARKS)
            most = extent_of(w, s);
    }
    return most;
}

/* How often the marks come; 0: there are none. */
static uint64_t fewest_turns(const struct walk *w, double ns)
{
    uint64_t fewest = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct seen *s = &w->of[t];
        if (is_regular(s) && (!fewest || s->count < fewest) && marks_of(w, s->count, ns) >= LEAST_MARKS)
            fewest = s->count;
    }
    return fewest;
}

/* --- Turns --- */

/* Which calls are made once between each two of the mark: just before it, or just after it. */
struct others { uint32_t mark; uint64_t marks; };

static void see_other(struct walk *w, uint32_t terminal, double now, double ns, void *context)
{
    struct others *o = context;
    struct seen *s = &w->of[terminal];

    (void)now;
    (void)ns;
    o->marks += terminal == o->mark;
    s->passed++;
    s->other &= s->passed == o->marks + (s->first < w->of[o->mark].first);
}

static void find_others(struct walk *w, uint32_t mark)
{
    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        w->of[t].other = w->of[t].count == w->of[mark].count;
        w->of[t].passed = w->of[t].before = w->of[t].until = 0;
    }
    walk_through(w, see_other, &(struct others){ .mark = mark });
}

/* Counts what comes before the first mark and until the last. */
struct limits { double first, last; };

static void split(struct walk *w, uint32_t terminal, double now, double ns, void *context)
{
    const struct limits *l = context;

    (void)ns;
    w->of[terminal].before += now < l->first;
    w->of[terminal].until += now <= l->last;
}

/* How often a call is made between each two marks. */
struct counts { uint32_t mark, call; uint64_t turn; uint32_t *of; };

static void count_call(struct walk *w, uint32_t terminal, double now, double ns, void *context)
{
    struct counts *c = context;

    (void)w;
    (void)now;
    (void)ns;
    c->turn += terminal == c->mark;
    c->of[c->turn] += terminal == c->call;
}

/* Whether it is so equally often, but for a few. */
static bool is_steady(struct walk *w, uint32_t mark, uint32_t call)
{
    uint64_t marks = w->of[mark].count, sum = 0, off = 0;
    struct counts c = { .mark = mark, .call = call, .of = calloc(marks + 1, sizeof *c.of) };

    walk_through(w, count_call, &c);
    for (uint64_t i = 1; i < marks; i++)
        sum += c.of[i];
    double mean = (double)sum / (double)(marks - 1);
    for (uint64_t i = 1; i < marks; i++)
        off += c.of[i] > mean + 0.5 || c.of[i] < mean - 0.5;
    free(c.of);
    return (double)off <= FEW * (double)marks;
}

/* Turns that are begun before the first mark or go on after the last: of the calls of a mean turn between the marks, by
   time, those outside. */
static uint64_t turns_outside(const struct walk *w, uint64_t marks)
{
    double turn = 0, head = 0, tail = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct seen *s = &w->of[t];
        double calls = (double)(s->until - s->before) / (double)(marks - 1);
        if (calls <= 0)
            continue;
        double ns = s->ns / (double)s->count, after = (double)(s->count - s->until);
        turn += ns * calls;
        head += ns * ((double)s->before < calls ? (double)s->before : calls);
        tail += ns * (after < calls ? after : calls);
    }
    double more = head > tail ? head : tail, less = head > tail ? tail : head;
    if (more >= A_WHOLE * turn && less >= A_TURN * turn)
        return 2;
    return head + tail >= A_TURN * turn;
}

static void measure(struct walk *w, uint64_t count, double least, struct marks *m)
{
    *m = (struct marks){ .mark = GRAMMAR_NONE, .inside = m->inside };
    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct seen *s = &w->of[t];
        if (s->count != count || !is_regular(s) || extent_of(w, s) < least)
            continue;
        m->mark = m->mark == GRAMMAR_NONE ? t : m->mark;
        m->differ |= s->most > DIFFER * s->least;
    }
    find_others(w, m->mark);
    double first = w->of[m->mark].first, last = w->of[m->mark].last, step = step_of(&w->of[m->mark]);
    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct seen *s = &w->of[t];
        m->count += s->other;
        if (s->other && s->first < first)
            first = s->first;
        if (s->other && s->last > last)
            last = s->last;
    }
    walk_through(w, split, &(struct limits){ first, last });
    m->embrace = last - first >= ((double)count - EMBRACE) * step;
    m->turns = count - 1 + (m->embrace ? 1 : turns_outside(w, count));
    m->ns = (double)m->turns * step < w->ns ? (double)m->turns * step : w->ns;
}

/* The time of calls that are made between the marks, but not in each turn of those that there are so many of. */
static double own_time(const struct walk *w, uint64_t turns)
{
    double ns = 0;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        const struct seen *s = &w->of[t];
        double between = (double)(s->until - s->before);
        ns += s->count && between < (1 - FEW) * (double)turns ? s->ns / (double)s->count * between : 0;
    }
    return ns;
}

/* Where the marks are of what is done every so many turns, and takes little: the marks of these turns. */
static void look_inside(struct walk *w, double least, struct marks *m)
{
    enum { WALKS = 8 };
    uint64_t count = w->of[m->mark].count, fewest = 0, tried = 0;
    int walks = 0;

    for (uint32_t t = 0; t < w->j->terminal_count && walks < WALKS; t++) {
        const struct seen *s = &w->of[t];
        if (s->count <= count + count / 2 || s->count == tried || (fewest && s->count >= fewest) || !is_regular(s) ||
            marks_of(w, s->count, least) < MANY)
            continue;
        tried = s->count;
        walks++;
        if (is_steady(w, m->mark, t))
            fewest = s->count;
    }
    m->inside = fewest && own_time(w, fewest) <= LITTLE * m->ns;
    if (m->inside)
        measure(w, fewest, least, m);
}

/* False: the class has no such loop. */
static bool find(struct walk *w, struct marks *marks)
{
    walk_through(w, see, NULL);
    double least = CARRIES * most_time(w);
    uint64_t count = fewest_turns(w, least);
    if (!count)
        return false;
    measure(w, count, least, marks);
    if (!marks->embrace && marks_of(w, count + 1, least) >= 2 * marks_of(w, count, least))
        measure(w, count + 1, least, marks);
    look_inside(w, least, marks);
    return true;
}

/* The first call of the rule's loop. */
static uint32_t first_call(const struct grammar_flat *g, uint32_t node)
{
    uint32_t symbol = g->nodes[node].symbol;

    while (grammar_is_rule(symbol))
        symbol = g->nodes[g->rules[symbol & ~GRAMMAR_RULE].first].symbol;
    return symbol;
}

/* Whether the loop found by rules is the main loop, not the marked one. */
static bool rules_are_right(struct walk *w, const struct report_loop *l, const struct marks *m)
{
    if (!l->present || l->total_ns < CARRIES * m->ns)
        return false;
    if (m->ns < CARRIES * l->total_ns)
        return true;
    if (l->turns <= m->turns + m->turns / 2) /* the same turns, or some of them together */
        return !m->inside;
    uint32_t call = first_call(w->g, l->node);
    bool inner = l->executions >= m->turns || (call < w->j->terminal_count && is_steady(w, m->mark, call));
    return !inner && !(m->differ && m->count >= MANY);
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
    struct marks m = { .inside = false };

    if (w.g->events > WALK)
        return;
    w.of = calloc((size_t)j->terminal_count + 1, sizeof *w.of);
    bool found = find(&w, &m);
    if (w.ns > 0)
        m.ns *= mean_time(&j->classes[class_index]) / w.ns;
    if (found && !rules_are_right(&w, loop, &m))
        *loop = (struct report_loop){ .present = true, .class_index = class_index, .node = GRAMMAR_NONE,
                                      .mark = m.mark, .turns = m.turns, .executions = 1,
                                      .turn_ns = m.ns / (double)m.turns, .total_ns = m.ns };
    free(w.of);
}
