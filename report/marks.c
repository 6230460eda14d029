/* SPDX-License-Identifier: MIT */
#include "report/marks.h"

#include <stdlib.h>

#define SOONEST 0.4 /* of the mean distance between two marks */
#define LATEST 2.0
#define CARRIES 0.7 /* of the time of those that carry most */
#define A_TURN 0.2 /* of a mean turn's calls: a short turn */
#define A_WHOLE 0.75 /* one that is nearly whole */
#define EMBRACE 0.5 /* of a turn, which is not between its first mark and its last one */
#define DIFFER 1.25 /* longest over shortest distance */

enum { WALK = 1 << 24, LEAST_TURNS = 3, LEAST_MARKS = 2, MANY = 4 };

struct marks {
    uint32_t mark, count; /* one of so many */
    bool differ;          /* distances */
    bool embrace;         /* marks at the begin and at the end of a turn */
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

static void look(struct walk *w)
{
    struct grammar_cursor c;

    for (int more = grammar_cursor_open(&c, w->g); more; more = grammar_cursor_next(&c)) {
        const struct grammar_stats *s = &w->g->stats[c.node];
        double gap = grammar_moments_mean(&s->gap, s->count), duration = grammar_moments_mean(&s->duration, s->count);
        if (c.terminal < w->j->terminal_count) {
            note(&w->of[c.terminal], w->ns + gap);
            w->of[c.terminal].ns += gap + duration;
        }
        w->ns += gap + duration;
    }
    grammar_cursor_close(&c);
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

/* Calls that are made once between each two of the mark: just before it, or just after it. */
static void find_others(struct walk *w, uint32_t mark)
{
    uint64_t marks = 0;
    struct grammar_cursor c;

    for (uint32_t t = 0; t < w->j->terminal_count; t++) {
        w->of[t].other = w->of[t].count == w->of[mark].count;
        w->of[t].passed = w->of[t].before = w->of[t].until = 0;
    }
    for (int more = grammar_cursor_open(&c, w->g); more; more = grammar_cursor_next(&c)) {
        struct seen *s = c.terminal < w->j->terminal_count ? &w->of[c.terminal] : NULL;
        if (!s)
            continue;
        marks += c.terminal == mark;
        s->passed++;
        s->other &= s->passed == marks + (s->first < w->of[mark].first);
    }
    grammar_cursor_close(&c);
}

/* Counts what comes before the first mark and until the last. */
static void split(struct walk *w, double first, double last)
{
    struct grammar_cursor c;
    double now = 0;

    for (int more = grammar_cursor_open(&c, w->g); more; more = grammar_cursor_next(&c)) {
        const struct grammar_stats *s = &w->g->stats[c.node];
        double gap = grammar_moments_mean(&s->gap, s->count);
        if (c.terminal < w->j->terminal_count) {
            w->of[c.terminal].before += now + gap < first;
            w->of[c.terminal].until += now + gap <= last;
        }
        now += gap + grammar_moments_mean(&s->duration, s->count);
    }
    grammar_cursor_close(&c);
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
    *m = (struct marks){ .mark = GRAMMAR_NONE };
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
    split(w, first, last);
    m->embrace = last - first >= ((double)count - EMBRACE) * step;
    m->turns = count - 1 + (m->embrace ? 1 : turns_outside(w, count));
    m->ns = (double)m->turns * step < w->ns ? (double)m->turns * step : w->ns;
}

/* False: the class has no such loop. */
static bool find(const struct job *j, const struct job_class *c, struct marks *marks)
{
    struct walk w = { .j = j, .g = c->grammar };

    if (w.g->events > WALK)
        return false;
    w.of = calloc((size_t)j->terminal_count + 1, sizeof *w.of);
    look(&w);
    double least = CARRIES * most_time(&w);
    uint64_t count = fewest_turns(&w, least);
    if (count)
        measure(&w, count, least, marks);
    if (count && !marks->embrace && marks_of(&w, count + 1, least) >= 2 * marks_of(&w, count, least))
        measure(&w, count + 1, least, marks);
    free(w.of);
    return count > 0;
}

void report_prefer_marks(const struct job *j, uint32_t class_index, struct report_loop *loop)
{
    struct marks m;

    if (!find(j, &j->classes[class_index], &m))
        return;
    bool within = loop->executions >= m.turns;
    if (loop->present && !within && loop->total_ns >= CARRIES * m.ns && !(m.differ && m.count >= MANY))
        return;
    *loop = (struct report_loop){ .present = true, .class_index = class_index, .node = GRAMMAR_NONE,
                                  .mark = m.mark, .turns = m.turns, .executions = 1,
                                  .turn_ns = m.ns / (double)m.turns, .total_ns = m.ns };
}
