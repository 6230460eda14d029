/* SPDX-License-Identifier: MIT */
#include "page/replayed.h"

#include <stdlib.h>

#include "base/must.h"
#include "findings/findings.h"

static void finish_event(struct page_replayed *p, uint32_t rank, int64_t end)
{
    const struct job *j = p->r->job;
    struct page_rank *k = &p->rank[rank];
    int64_t begin = k->begun ? k->begin : end;

    if (k->open && k->at.terminal < j->terminal_count && job_is_start(j, k->at.terminal)) /* before the replay begins */
        begin -= (int64_t)job_stream_launch(j, job_find_stream(j, rank, 0));
    if (k->open)
        p->event(p, rank, begin, end);
    k->open = k->begun = false;
}

static void comes(void *context, uint32_t rank, const struct replay_host *h)
{
    struct page_replayed *p = context;
    struct page_rank *k = &p->rank[rank];

    if (!k->c)
        return;
    if (k->open && k->at.index != h->feed.events) {
        finish_event(p, rank, h->cpu);
        grammar_cursor_next(&k->at);
    }
    k->open = true;
    if (!k->begun && h->op.place % 2) { /* places of calls and regions are odd (replay/bind.h) */
        k->begun = true;
        k->begin = h->cpu;
    }
}

void page_replayed_open(struct page_replayed *p, struct report *r)
{
    const struct job *j = r->job;

    p->r = r;
    p->watch.context = p;
    p->watch.comes = comes;
    p->rank = calloc(j->info.ranks + 1u, sizeof *p->rank);
    for (uint32_t i = 0; i < j->info.ranks; i++) {
        uint32_t c = job_stream_class(j, i, 0);
        if (c >= j->class_count || !j->classes[c].grammar || !j->classes[c].grammar->events)
            continue;
        p->rank[i].c = &j->classes[c];
        p->rank[i].grammar = job_member_grammar(p->rank[i].c, i, 0);
        grammar_cursor_open(&p->rank[i].at, p->rank[i].grammar);
    }
}

void page_replayed_run(struct page_replayed *p)
{
    struct replay_bind *bind = findings_analysis(p->r)->bind;
    struct replay_how how = { .walk = true, .watch = &p->watch };
    struct replay_result result = { 0 };
    struct replay_model model = replay_bind_model(bind);

    base_must(replay_run(&bind->source, &model, &how, &result));
    for (uint32_t i = 0; i < p->r->job->info.ranks; i++)
        finish_event(p, i, result.end[i]);
    free(result.end);
}

void page_replayed_close(struct page_replayed *p)
{
    for (uint32_t i = 0; i < p->r->job->info.ranks; i++)
        if (p->rank[i].c) {
            grammar_cursor_close(&p->rank[i].at);
            job_member_free(p->rank[i].grammar);
        }
    free(p->rank);
}
