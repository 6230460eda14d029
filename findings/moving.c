/* SPDX-License-Identifier: MIT */
/* Ranks that are late in turn: nobody is slower in the mean (replay/moving.h). */
#include <math.h>

#include "findings/parts.h"

static void add_site(struct findings *f, uint32_t site, double ns, uint32_t cause)
{
    const struct bind_site *s = &f->bind->site[site];
    uint32_t place = f->report->model->place[s->terminal],
             by = cause == GRAMMAR_NONE || cause / 2 >= f->bind->site_count ? site : cause / 2;
    double open = fmax(f->time[place] - f->attributed[place], 0);
    struct finding one = { .kind = FINDINGS_MOVING_IMBALANCE, .call = s->terminal,
                           .seconds = fmin(f->in_mpi * ns, open) / 1e9 };

    uint32_t late = f->bind->site[by].terminal;
    findings_add_at(f, one, late, late, NULL);
    f->attributed[place] += 1e9 * one.seconds;
}

void findings_of_moving(struct findings *f)
{
    const struct replay_moving *m = &f->analysis->moving;

    for (uint32_t s = 0; s < f->bind->site_count; s++)
        if (m->at[s] >= LEAST_PART * 1e9 * f->all->base)
            add_site(f, s, m->at[s], m->cause[s]);
}
