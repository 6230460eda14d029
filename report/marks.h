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
 * Marks: a call, or a set of calls made in turn, at least three times, none sooner than 0.4 of the mean distance after
 * the one before, none later than twice that. A tenth of them may be at other distances before the loop or after it,
 * where a solver is tried out. Two calls or more that take turns at least twenty times are marks at any distances, none
 * longer than a tenth of all: a solver may need many steps at first, then ever fewer. What a set carries is the time in
 * calls that are made in at least 0.8 of its turns: what is done at the begin and at the end of a run is not around
 * what is between. The main loop's set is the one with the fewest turns of those that carry at least 0.7 of what the
 * heaviest one carries, at the same place of the run. Calls that other ranks make more or less often are how messages
 * happen to come, unless a call that all ranks make equally often is made equally often in each of their turns.
 *
 * Marks at the begin and at the end of a turn are as many as turns. Else there is one turn more than between the marks
 * where before the first one or after the last one there is a fifth of a mean turn's calls, by time, and two more where
 * there is so on both sides and one of them is nearly whole: so a loop that is left in the middle is counted as the
 * source counts it. Of two sets of which one has a mark more, that mark counts where the others lack it in the last
 * turn, and does not where they lack it in the first: that one came before the loop.
 *
 * What is done every tenth turn looks like a loop around ten turns. It is taken for a loop where there are marks at the
 * begin and at the end. Else the turns between are the loop's where at least four calls mark them, equally many each
 * time, and what is not done in each of these takes at most a hundredth of the time; a tenth, where the last time there
 * are fewer, for a loop within a loop would not be cut short.
 *
 * Cost: at most eighteen walks over a stream of the class, none where it has more than 2^24 events.
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_MARKS_H
#define PYTHIA_REPORT_MARKS_H

#include "report/model.h"

/*
 * Makes that the main loop instead of the one found by rules (or none) if it has much more time; or, where both have
 * much the same and that one has half as many turns again or more, if the marks are at the begin and at the end of a
 * turn; or have work of their own; or four calls mark turns that differ; or the calls of the rules' turns are less than
 * 0.8 of the time between the marks. Where both are the same loop, the marks say how many turns it has.
 */
void report_prefer_marks(const struct job *j, uint32_t class_index, struct report_loop *loop);

#endif
