/* SPDX-License-Identifier: MIT */
/*
 * In the view of ranks: where one rank computes longer than the others, place by place.
 *
 *     own times (job/own.h): class, node, rank  -->  terminal, rank: time before a call  -->  least, mean, most
 *
 * Compared are the ranks (of large jobs the blocks of ranks) that have times of their own there; first comes the place
 * where the longest rank would save most with the mean.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/ranges.h"
#include "views/table.h"
#include "views/views.h"

enum { OWN_LINES = 5 };

struct own_place {
    uint32_t terminal, rank, ranks;
    double ns, count; /* before all calls of a rank; how many */
};

struct own_line {
    const struct own_place *of, *least, *most; /* of: `count` ones, of a terminal */
    uint32_t count;
    double mean, excess_ns;                    /* of a call; of the longest rank's run */
};

BASE_COMPARISON(own_order, struct own_place, BASE_UP(terminal) ?: BASE_UP(rank))

BASE_COMPARISON(most_excess, struct own_line, BASE_DOWN(excess_ns) ?: BASE_UP(of->terminal))

/* The first threads' times before calls and regions, one for each terminal and rank; returns how many. */
static uint32_t own_collect(const struct job *j, struct own_place *place)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < j->own.count; i++) {
        const struct job_own *o = &j->own.row[i];
        const struct job_class *c = &j->classes[o->class_index];
        uint32_t terminal = c->grammar->nodes[o->node].symbol;
        if (o->thread || terminal >= j->terminal_count || j->terminals[terminal].phase == JOB_CLOSE)
            continue;
        double calls = (double)c->grammar->stats[o->node].count / (double)findings_members(c);
        place[count++] = (struct own_place){ terminal, o->rank, o->ranks, job_own_mean(o, JOB_OWN_GAP) * calls, calls };
    }
    return BASE_ARRAY_JOIN(place, count, own_order, into, from, (into->ns += from->ns, into->count += from->count));
}

static double own_of_call(const struct own_place *p)
{
    return p->count > 0 ? p->ns / p->count : 0;
}

/* Of places of one terminal. */
static struct own_line own_compare(const struct own_place *place, uint32_t count)
{
    struct own_line line = { .of = place, .count = count, .least = place, .most = place };
    double ns = 0, calls = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (own_of_call(&place[i]) < own_of_call(line.least))
            line.least = &place[i];
        if (own_of_call(&place[i]) > own_of_call(line.most))
            line.most = &place[i];
        ns += place[i].ns * place[i].ranks;
        calls += place[i].count * place[i].ranks;
    }
    line.mean = calls > 0 ? ns / calls : 0;
    line.excess_ns = (own_of_call(line.most) - line.mean) * line.most->count;
    return line;
}

/* A line a terminal; `place`: what they are made of. Both are the caller's. */
static struct own_line *own_lines(const struct job *j, struct own_place **place, uint32_t *lines)
{
    *place = calloc((size_t)j->own.count + 1, sizeof **place);
    uint32_t begin = 0, count = own_collect(j, *place);
    struct own_line *line = calloc((size_t)count + 1, sizeof *line);

    *lines = 0;
    for (uint32_t i = 1; i <= count; i++)
        if (i == count || (*place)[i].terminal != (*place)[begin].terminal) {
            line[(*lines)++] = own_compare(&(*place)[begin], i - begin);
            begin = i;
        }
    return line;
}

static void own_print(const struct report *r, const struct own_line *l, struct views_table *t)
{
    ROW(t, TIME("", own_of_call(l->least), "least", 10),
        TEXT("", findings_rank_text(l->least->rank, l->least->ranks), "of rank", 8), TIME("", l->mean, "mean", 10),
        TIME("", own_of_call(l->most), "most", 10),
        TEXT("", findings_rank_text(l->most->rank, l->most->ranks), "of rank", 8),
        TIME("", l->excess_ns, "in the run", 10), TEXT("", findings_name(r->names, l->of->terminal), " before", 0));
}

void views_print_own(struct report *r, FILE *out)
{
    BASE_OWN struct own_place *place = NULL;
    uint32_t count;
    BASE_OWN struct own_line *line = own_lines(r->job, &place, &count);
    struct views_table t = { .out = out };

    BASE_SORT(line, count, most_excess);
    for (uint32_t i = 0; i < count && i < OWN_LINES; i++) {
        if (line[i].excess_ns <= 0.001 * (double)r->model->wall_ns) /* less is nobody's concern */
            break;
        if (i == 0) {
            fputs("\ncomputation before a call, by rank\n", out);
            own_print(r, line, &t);
        }
        own_print(r, &line[i], &t);
    }
    if (t.headed)
        fputs("in the run: how much longer than the mean the longest rank computes there\n", out);
}

void views_add_own(struct report *r, cJSON *root)
{
    BASE_OWN struct own_place *place = NULL;
    uint32_t count;
    BASE_OWN struct own_line *line = own_lines(r->job, &place, &count);
    cJSON *array = cJSON_AddArrayToObject(root, "own");

    for (uint32_t i = 0; i < count; i++) {
        const struct own_line *l = &line[i];
        const struct job_terminal *t = &r->job->terminals[l->of->terminal];
        cJSON *o = views_json_object(array), *rank = cJSON_AddArrayToObject(o, "rank");
        cJSON *calls = cJSON_AddArrayToObject(o, "calls"), *gap = cJSON_AddArrayToObject(o, "gap_seconds");
        ADD(o, TEXT("function", job_text(r->job, t->function)), NUMBER("number", views_site_number(r, t->callsite)),
            NUMBER("ranks", l->of->ranks));
        for (uint32_t k = 0; k < l->count; k++) {
            cJSON_AddItemToArray(rank, cJSON_CreateNumber(l->of[k].rank));
            cJSON_AddItemToArray(calls, cJSON_CreateNumber(l->of[k].count));
            cJSON_AddItemToArray(gap, cJSON_CreateNumber(own_of_call(&l->of[k]) / 1e9));
        }
    }
}
