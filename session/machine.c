/* SPDX-License-Identifier: MIT */
/* The energy that a job used: for the report. What the machine is the command keeps (findings/hardware.h). */
#include "base/energy.h"
#include "base/launcher.h"
#include "session/internal.h"

/* One rank a node. */
static bool reads_energy(void)
{
    long local = base_launcher_local_rank();
    return local >= 0 ? local == 0 : session.world.rank == 0;
}

void session_machine_start(void)
{
    session.energy = reads_energy() && base_energy_open(NULL) ? base_energy_now() : 0;
}

void session_machine_finish(struct job *job, bool kept)
{
    struct job_machine *m = &job->machine;
    bool tells = kept && session.world.rank == 0;
    m->tree = GRAMMAR_NONE;
    m->energy = tells ? job_string(job, base_energy_why()) : GRAMMAR_NONE;
    if (base_energy_known() && reads_energy()) {
        m->joules = (double)(base_energy_now() - session.energy) * 1e-6;
        m->nodes = 1;
    }
    m->present = tells || m->nodes > 0;
}
