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
 * distance after the one before, none later than twice that. Of several such sets those that carry at least 0.7 of the
 * time of the heaviest one are left, and of these the one with the fewest turns is taken: the outermost loop. Marks at
 * the begin and the end of a turn are as many as turns. Else there is one turn more than between the marks where
 * before the first one or after the last one there is a fifth of a mean turn's calls, by time, and two more where
 * there is so on both sides and one of them is nearly whole: so a loop that is left in the middle is counted as the
 * source counts it.
 *
 * What is done every tenth turn looks like a loop around ten turns. It is taken for that unless there are at least four
 * calls that mark turns between its marks, equally many each time, and what is not done in each of these takes at most
 * a hundredth of the time: a loop around a solver has other numbers of turns, or work of its own.
 *
 * Cost: at most twenty walks over a stream of the class, none where it has more than 2^24 events.
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_MARKS_H
#define PYTHIA_REPORT_MARKS_H

#include "report/model.h"

/*
 * Makes that the main loop instead of the one found by rules (or none) if it has much more time; or, where both have
 * much the same, if that one has more turns, and is run as often as there are marks, or has equally many turns between
 * each two: then it is run in each turn. Also where there are other numbers of them, if at least four calls mark the
 * turns, and these differ: of what is done now and then in a rule's loop, the distances are the same, or the calls
 * are few.
 */
void report_prefer_marks(const struct job *j, uint32_t class_index, struct report_loop *loop);

#endif
