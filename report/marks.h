/* SPDX-License-Identifier: MIT */
/*
 * A loop whose turns differ, known by the calls that come once in each.
 *
 * Of an iteration in which a solver takes 3 steps, then 5, then 4, no rule is a turn. But some calls are made once a
 * turn, so at about equal distances; they mark the turns, and between the marks is whatever a turn has.
 *
 *     init  s s s s  |  s s s s s  |  s s s  |  s s s s  end        | 3 marks: 4 turns
 *           head                                tail
 *
 * Marks: two calls or more that are made equally often, at least three times, none sooner than 0.4 of the mean
 * distance after the one before, none later than twice that. Of several such sets the one with fewest turns among those
 * that carry at least 0.7 of what the one with most time does: the outermost. Marks at the begin and the end of a turn
 * are as many as turns. Else there is one turn more than between the marks where before the first one or after the last
 * one there is a fifth of a mean turn's calls, by time, and two more where there is so on both sides and one of them is
 * nearly whole: so a loop that is left in the middle is counted as the source counts it.
 *
 * Cost: up to five walks over a stream of the class, none where it has more than 2^24 events.
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_MARKS_H
#define PYTHIA_REPORT_MARKS_H

#include "report/model.h"

/*
 * Makes that the main loop instead of the one found by rules (or none), where it has much more time, where that one
 * is run in each turn, or at least four calls mark it and its turns differ: of a rule's loop that does something now
 * and then, the distances are the same.
 */
void report_prefer_marks(const struct job *j, uint32_t class_index, struct report_loop *loop);

#endif
