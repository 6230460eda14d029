/* SPDX-License-Identifier: MIT */
/* Where the ranks of a run that died stood, and who held them up. */
#include <stdlib.h>

#include "findings/ended.h"
#include "findings/findings.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { MOST = 4, RANKS_TEXT = 64 };

/* "ranks 0-2,5" */
static const char *ranks_of(const struct report *r, const uint32_t *rank, uint32_t count)
{
    BASE_OWN bool *in = calloc((size_t)r->job->info.ranks + 1, sizeof *in);
    char *text = findings_text("%*s", RANKS_TEXT, "");
    for (uint32_t i = 0; i < count; i++)
        in[rank[i]] = true;
    findings_ranks_set(in, r->job->info.ranks, text, RANKS_TEXT);
    return text;
}

static void print_in(const struct report *r, const struct findings_ended_in *in, FILE *out)
{
    if (in->thread)
        fprintf(out, "thread %u of ", in->thread);
    fprintf(out, "%s %s%s%s%s for %s", ranks_of(r, in->rank, in->count), in->inside || !*in->call ? "" : "after ",
            *in->call ? in->call : "before any call", *in->place ? " " : "", in->place,
            findings_time((double)in->since_ns));
}

static void print_verdict(const struct report *r, const struct watch_verdict *v, FILE *out)
{
    if (!v->rank_count || v->kind == WATCH_SLOW)
        return;
    const char *all = ranks_of(r, v->rank, v->rank_count);
    bool one = v->rank_count == 1, waits = v->kind == WATCH_NONE && v->why >= WATCH_ALL_THERE;
    fprintf(out, "  %s: %s", watch_kind_text[v->kind], all);
    if (v->kind == WATCH_DEADLOCK)
        fputs(one ? " waits for itself" : " wait for each other", out);
    else if (waits)
        fputs(v->why == WATCH_ALL_THERE ? ": all that take part have come" : ": for whom is not known", out);
    if (v->waiting_count)
        fprintf(out, "%s%s wait%s for %s", waits || v->kind == WATCH_DEADLOCK ? "; " : ": ",
                ranks_of(r, v->waiting, v->waiting_count), v->waiting_count > 1 ? "" : "s", one ? "it" : "them");
    if (v->kind == WATCH_NONE && v->why == WATCH_UNKNOWN_TIME)
        fputs("; how long it takes is not known", out);
    fputc('\n', out);
}

void views_print_ended(struct report *r, FILE *out)
{
    struct findings_ended *e = findings_ended(r);
    if (!e)
        return;
    fputs("ended in: ", out);
    for (uint32_t i = 0; i < e->count && i < MOST; i++) {
        fputs(i ? ",\n  " : "", out);
        print_in(r, &e->in[i], out);
    }
    if (e->count > MOST)
        fprintf(out, ",\n  and %u more", e->count - MOST);
    fputc('\n', out);
    print_verdict(r, &e->verdict, out);
    findings_ended_destroy(e);
}

void views_add_ended(struct report *r, cJSON *root)
{
    struct findings_ended *e = findings_ended(r);
    if (!e) {
        cJSON_AddNullToObject(root, "ended");
        return;
    }
    cJSON *ended = cJSON_AddObjectToObject(root, "ended"), *in = cJSON_AddArrayToObject(ended, "in");
    for (uint32_t i = 0; i < e->count; i++) {
        const struct findings_ended_in *k = &e->in[i];
        cJSON *o = ADD(in, NUMBER("thread", k->thread), TEXT("call", *k->call ? k->call : NULL),
                       TEXT("place", *k->place ? k->place : NULL), BOOL("inside", k->inside),
                       TIME("since_seconds", k->since_ns));
        views_json_numbers(o, "ranks", k->rank, k->count);
    }
    cJSON *v = cJSON_AddObjectToObject(ended, "verdict");
    ADD(v, TEXT("kind", watch_kind_text[e->verdict.kind]));
    views_json_numbers(v, "ranks", e->verdict.rank, e->verdict.rank_count);
    views_json_numbers(v, "waiting", e->verdict.waiting, e->verdict.waiting_count);
    findings_ended_destroy(e);
}
