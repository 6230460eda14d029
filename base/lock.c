/* SPDX-License-Identifier: MIT */
#include "base/lock.h"

#ifdef PYTHIA_DEBUG
#include <stdio.h>
#include <stdlib.h>

static __thread unsigned held; /* bits 1 << enum base_lock */

void base_lock_taken(enum base_lock which)
{
    if (held >> which) {
        fprintf(stderr, "pythia: lock %d is taken by a thread that holds %#x: see base/lock.h\n", which, held);
        abort();
    }
    held |= 1u << which;
}

void base_lock_released(enum base_lock which)
{
    held &= ~(1u << which);
}
#endif
