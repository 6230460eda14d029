/* SPDX-License-Identifier: MIT */
/*
 * Whether this process has rights that who started it has not (setuid, setgid, file capabilities). Its environment is
 * then a stranger's: Pythia is off, whatever it says. No file is written or read, nothing is loaded or started.
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <sys/auxv.h>

static inline bool base_rights_raised(void)
{
    return getauxval(AT_SECURE) != 0;
}
