/* SPDX-License-Identifier: MIT */
/*
 * What a command that is interrupted (Ctrl-C, kill, a closed terminal) leaves behind: nothing. The file that it is just
 * writing, under a temporary name, is removed, and the command then dies of the signal, as its caller expects.
 * Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TOOLS_INTERRUPT_H
#define PYTHIA_TOOLS_INTERRUPT_H

/* mkstemp(3) of `template`, which from then on belongs to the signals too, until interrupt_forget(). One file at a time.
   Returns the descriptor, or -1 with errno. */
int interrupt_mkstemp(char *template);
/* The file has its final name, or is gone. */
void interrupt_forget(void);

#endif
