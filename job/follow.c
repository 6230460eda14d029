/* SPDX-License-Identifier: MIT */
#include "job/follow.h"

#include <stdlib.h>

#include "job/course.h"
#include "job/job.h"

enum { SLOTS = 128, RECENT = 8, EXPANDED = 4096, LOOKS = 64 };
enum { MEMORY = 64 }; /* events after which what was counts half */
enum { LEADS = GRAMMAR_INDEX + 1 }; /* channels that a place is found by: peer, bytes, index, in that order */

/* Of one terminal. */
struct place {
    uint32_t terminal, came; /* one more: 0 is none; events that came since this is its slot */
    int64_t recent[LEADS][RECENT]; /* values, the n-th at n modulo the size; GRAMMAR_ABSENT: it had none */
    const struct job_variant *course; /* that it is found by; NULL: not known yet */
    uint64_t next;           /* number of the next event in it */
    uint32_t right, looks;
    float said, held;       /* lately, of the course */
};

struct job_follow {
    const struct job *job;
    uint32_t rank;
    struct place of[SLOTS];
    int64_t value[EXPANDED];
};

struct job_follow *job_follow_create(const struct job *j, uint32_t rank)
{
    struct job_follow *f = calloc(1, sizeof *f);
    if (f) {
        f->job = j;
        f->rank = rank;
    }
    return f;
}

void job_follow_destroy(struct job_follow *f)
{
    free(f);
}

static struct place *follow_place_of(struct job_follow *f, uint32_t terminal)
{
    struct place *p = &f->of[terminal % SLOTS];
    if (p->terminal != terminal + 1)
        *p = (struct place){ .terminal = terminal + 1 };
    return p;
}

static bool given_up(const struct place *p)
{
    return p->looks > LOOKS + p->right;
}

bool job_follow_say(struct job_follow *f, uint32_t terminal, const struct job_variant *v, uint64_t ahead,
                    int64_t *value)
{
    struct place *p = follow_place_of(f, terminal);
    if (v->attr.kind != GRAMMAR_ATTR_VARIES || v->attr.course >= 0)
        return false;
    if (v->attr.channel < LEADS && (!p->course || v->attr.channel <= p->course->attr.channel))
        p->course = v;
    return !given_up(p) && job_course_value(f->job, v, f->rank, p->next + ahead, value) && *value != GRAMMAR_ABSENT;
}

double job_follow_chance(const struct job_follow *f, uint32_t terminal)
{
    const struct place *p = &f->of[terminal % SLOTS];
    return p->terminal == terminal + 1 ? ((double)p->held + 1.8) / ((double)p->said + 2) : 0.9;
}

/* Whether the last `length` values that came end at value `at` of the course. */
static bool ends_at(const struct job_follow *f, const struct place *p, uint32_t at, uint32_t length)
{
    for (uint32_t k = 0; k < length; k++)
        if (at < k || f->value[at - k] != p->recent[p->course->attr.channel][(p->came - 1 - k) % RECENT])
            return false;
    return true;
}

/* Where the course repeats, the place in its first turn. */
static uint32_t first_turn(const struct job_follow *f, const struct job_variant *v, uint64_t at, uint32_t count)
{
    uint64_t from;
    uint32_t period;
    if (at >= count && job_course_cycle(f->job, v, &from, &period) && period && at >= from)
        at = from + (at - from) % period;
    return at < count ? (uint32_t)at : 0;
}

static void follow_look(struct job_follow *f, struct place *p)
{
    uint32_t count = job_course_expand(f->job, p->course, f->rank, f->value, EXPANDED);
    uint32_t near = first_turn(f, p->course, p->next - 1, count);

    p->looks++;
    for (uint32_t length = RECENT; length; length /= 2)
        for (uint32_t k = 0; length <= p->came && k < count; k++) {
            uint32_t at = (near + k) % count;
            if (ends_at(f, p, at, length)) {
                p->next = (uint64_t)at + 1;
                return;
            }
        }
}

static void judge(struct place *p, bool right)
{
    if (p->said >= MEMORY) {
        p->said /= 2;
        p->held /= 2;
    }
    p->said++;
    p->held += right;
    p->right += right;
}

void job_follow_pass(struct job_follow *f, uint32_t terminal, uint32_t channels, const int64_t *value)
{
    struct place *p = follow_place_of(f, terminal);
    int64_t expected;
    bool follows = p->course && !given_up(p);
    bool known = follows && job_course_value(f->job, p->course, f->rank, p->next, &expected);
    for (int k = 0; k < LEADS; k++)
        p->recent[k][p->came % RECENT] = channels >> k & 1 ? value[k] : GRAMMAR_ABSENT;
    bool right = known && expected == p->recent[p->course->attr.channel][p->came % RECENT];
    p->came++;
    p->next++;
    if (follows)
        judge(p, right);
    if (follows && !right)
        follow_look(f, p);
}
