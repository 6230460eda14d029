/* SPDX-License-Identifier: MIT */
#include "teams/marks.h"

/* The one link of two, if there is one. */
static mark_t link_of_both(mark_t a, mark_t b)
{
    a &= LINK, b &= LINK;
    return a == b || !b ? a : a ? NOTHING : b;
}

mark_t teams_mark_join(mark_t a, mark_t b)
{
    mark_t x = a & MOVES, y = b & MOVES, least = x < y ? x : y, link = (a & LINK) == (b & LINK) ? a & LINK : NOTHING;
    bool back = x == MOVED && y == MOVED && (a ^ b) & DOWN; /* forth and back again */
    bool alike = is(a, SWEPT) == is(b, SWEPT) && !back; /* what was read is no step */
    return (alike ? least : NOTHING) | ((a | b) & ORIGIN) | (a & b & ~(MOVES | ORIGIN | LINK)) | link;
}

/* Of bounds, as far as nothing else goes into it. */
static mark_t bounds_of(mark_t a, mark_t b)
{
    bool alone = !((a | b) & READ) && (a & (BOUNDS | STILL)) && (b & (BOUNDS | STILL));
    return alone ? (a | b) & (BOUNDS | FRESH) : NOTHING;
}

/* Made of both, in any way. What only adds up what was read does not move by itself. */
mark_t teams_mark_compute(mark_t a, mark_t b)
{
    bool swept = (is(a, SWEPT) && !(b & READ)) || (is(b, SWEPT) && !(a & READ));
    return (swept ? SWEPT : NOTHING) | ((a | b) & ORIGIN) | (a & b & STILL) | link_of_both(a, b) | bounds_of(a, b);
}

/* … so that it moves where one of them does. */
mark_t teams_mark_scale(mark_t a, mark_t b)
{
    return teams_mark_compute(a, b) | (((a | b) & MOVES) && !((a | b) & READ) ? SCALED : NOTHING);
}

/* A sum. Where both move, one may take back what the other one adds. */
mark_t teams_mark_add(mark_t a, mark_t b)
{
    mark_t moves = a & MOVES ? a : b, other = a & MOVES ? b : a;
    if (!((a | b) & READ) && (is(a, HALVED) || is(b, HALVED)))
        return HALVED;
    if (!(moves & MOVES) || !(other & STILL))
        return teams_mark_compute(a, b);
    return teams_mark_compute(a, b) | (moves & FIRST ? MOVED : SCALED);
}

mark_t teams_mark_subtract(mark_t a, mark_t b)
{
    return b & MOVES && !(a & MOVES) && !is(b, HALVED) ? teams_mark_scale(a, b)
                                                       : teams_mark_add(a, b); /* 1 - x, and again, comes back */
}

mark_t teams_mark_halve(mark_t a)
{
    if (is(a, LOW | HIGH) && !(a & READ))
        return BOUNDS | FRESH;
    return is(a, SWEPT) || (a & MOVES) != FIRST ? teams_mark_compute(a, NOTHING) : HALVED | (a & ORIGIN);
}

/* Whether it is so much, or so. */
mark_t teams_mark_compare(mark_t a, mark_t b)
{
    bool moves = is(a, SWEPT) || is(b, SWEPT) || is(a, HALVED) || is(b, HALVED) ||
                 !(a & MOVES) != !(b & MOVES); /* one side that moves on is enough */
    bool gap = ((a | b) & BOUNDS) == (LOW | HIGH); /* what is left between bounds, with a number */
    mark_t bounds = gap || (a & BOUNDS && b & BOUNDS) ? bounds_of(a, b) : NOTHING;
    return (a | b) & SWAPPED ? MOVED : (moves ? MOVED : NOTHING) | ((a | b) & ORIGIN) | bounds;
}
