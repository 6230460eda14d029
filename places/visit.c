/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>

#include "base/fpu.h"
#include "include/pythia.h"
#include "places/place.h"
#include "libgomp/real.h"

_Thread_local struct places_wish places_task __attribute__((tls_model("initial-exec")));
_Thread_local struct places_wish places_team __attribute__((tls_model("initial-exec")));

static struct base_machine machine; /* without a processor: cannot be read; written once */

static void read_machine(void)
{
    (void)base_topology_read("", &machine);
}

static bool knows_machine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_machine);
    return machine.count > 0;
}

/* Where to go: the place, for a hint what of it is in the thread's own mask. False: stay. */
static bool choose(const struct places_wish *wish, const cpu_set_t *mask, cpu_set_t *set)
{
    struct places_place place;
    if (!knows_machine() || places_decide(&machine, wish, NULL, &place))
        return false;
    places_processors(&machine, &place, set);
    if (!wish->strict) {
        int here = sched_getcpu();
        if (here >= 0 && here < CPU_SETSIZE && CPU_ISSET(here, set))
            return false;
        CPU_AND(set, set, mask);
    }
    return CPU_COUNT(set) > 0;
}

void places_enter(const struct places_wish *wish, struct places_return *back)
{
    cpu_set_t set;
    int kept = errno;
    base_fpu_t state = base_fpu_hold();
    back->moved = wish->kind != PYTHIA_AFFINITY_NONE && sched_getaffinity(0, sizeof back->mask, &back->mask) == 0 &&
                  choose(wish, &back->mask, &set) && sched_setaffinity(0, sizeof set, &set) == 0;
    base_fpu_give_back(state);
    errno = kept;
}

void places_leave(const struct places_return *back)
{
    int kept = errno;
    if (back->moved)
        (void)sched_setaffinity(0, sizeof back->mask, &back->mask);
    errno = kept;
}

void places_run(void *place_run)
{
    const struct places_run *p = place_run;
    struct places_wish wish = places_of_member(&p->wish, (unsigned)libgomp_real()->omp_get_thread_num());
    struct places_return back;
    places_enter(&wish, &back);
    p->run(p->argument);
    places_leave(&back);
}

static int wish_for(struct places_wish *wish, int kind, uintptr_t value, int strict)
{
    if (kind < PYTHIA_AFFINITY_NONE || kind > PYTHIA_AFFINITY_DATA)
        return PYTHIA_EINVAL;
    *wish = (struct places_wish){ .kind = kind, .strict = strict != 0, .value = value };
    return 0;
}

int pythia_affinity_next_task(int kind, uintptr_t value, int strict)
{
    return wish_for(&places_task, kind, value, strict);
}

int pythia_affinity_next_team(int kind, uintptr_t value, int strict)
{
    return wish_for(&places_team, kind, value, strict);
}
