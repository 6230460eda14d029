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

#include "base/order.h"
#include "findings/ranges.h"
#include "findings/units.h"
#include "views/json.h"
#include "views/views.h"

enum { OWN_LINES = 5 };

struct own_place {
    uint32_t terminal, rank, ranks;
    double ns, count; /* before all calls of a rank; how many */
};

struct own_line {
    uint32_t terminal;
    const struct own_place *least, *most;
    double mean, excess_ns; /* of a call; of the longest rank's run */
};

static int own_order(const void *a, const void *b)
{
    const struct own_place *x = a, *y = b;

    return BASE_ORDER(x->terminal, y->terminal) ?: BASE_ORDER(x->rank, y->rank);
}

/* The first threads' times before calls and regions, one for each terminal and rank; returns how many. */
static uint32_t own_collect(const struct job *j, struct own_place *place)
{
    uint32_t count = 0, kept = 0;

    for (uint32_t i = 0; i < j->own.count; i++) {
        const struct job_own *o = &j->own.row[i];
        const struct job_class *c = &j->classes[o->class_index];
        uint32_t terminal = c->grammar->nodes[o->node].symbol;
        if (o->thread || terminal >= j->terminal_count || j->terminals[terminal].phase == JOB_CLOSE)
            continue;
        double calls = (double)c->grammar->stats[o->node].count / (double)report_members(c);
        place[count++] = (struct own_place){ terminal, o->rank, o->ranks, job_own_mean(o, JOB_OWN_GAP) * calls, calls };
    }
    qsort(place, count, sizeof *place, own_order);
    for (uint32_t i = 1; i < count; i++)
        if (own_order(&place[kept], &place[i]) == 0) {
            place[kept].ns += place[i].ns;
            place[kept].count += place[i].count;
        } else {
            place[++kept] = place[i];
        }
    return count ? kept + 1 : 0;
}

static double own_of_call(const struct own_place *p)
{
    return p->count > 0 ? p->ns / p->count : 0;
}

/* Of places of one terminal. */
static struct own_line own_compare(const struct own_place *place, uint32_t count)
{
    struct own_line line = { .terminal = place->terminal, .least = place, .most = place };
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

/* Keeps the lines with most to save, in order. */
static uint32_t own_keep(struct own_line *lines, uint32_t count, struct own_line line)
{
    uint32_t at = count;

    while (at && lines[at - 1].excess_ns < line.excess_ns)
        at--;
    if (at == OWN_LINES)
        return count;
    count += count < OWN_LINES;
    for (uint32_t i = count - 1; i > at; i--)
        lines[i] = lines[i - 1];
    lines[at] = line;
    return count;
}

static void own_print_end(const struct own_place *p, FILE *out)
{
    fprintf(out, " %10s %8s", report_time(own_of_call(p)), report_rank_text(p->rank, p->ranks));
}

static void own_print(const struct report *r, const struct own_line *lines, uint32_t count, FILE *out)
{
    fprintf(out, "\ncomputation before a call, by rank\n%10s %8s %10s %10s %8s %10s  %s\n", "least", "of rank", "mean",
            "most", "of rank", "in the run", "before");
    for (uint32_t i = 0; i < count; i++) {
        own_print_end(lines[i].least, out);
        fprintf(out, " %10s", report_time(lines[i].mean));
        own_print_end(lines[i].most, out);
        fprintf(out, " %10s  %s\n", report_time(lines[i].excess_ns), report_name(r->names, lines[i].terminal));
    }
    fputs("in the run: how much longer than the mean the longest rank computes there\n", out);
}

void report_print_own(struct report *r, FILE *out)
{
    struct own_place *place = calloc((size_t)r->job->own.count + 1, sizeof *place);
    struct own_line lines[OWN_LINES];
    uint32_t kept = 0, begin = 0, count = own_collect(r->job, place);

    for (uint32_t i = 1; i <= count; i++)
        if (i == count || place[i].terminal != place[begin].terminal) {
            struct own_line line = own_compare(&place[begin], i - begin);
            if (line.excess_ns > 0.001 * (double)r->model->wall_ns) /* less is nobody's concern */
                kept = own_keep(lines, kept, line);
            begin = i;
        }
    if (kept)
        own_print(r, lines, kept, out);
    free(place);
}

static void own_add(struct report *r, const struct own_place *place, uint32_t count, cJSON *array)
{
    const struct job_terminal *t = &r->job->terminals[place->terminal];
    uint32_t number = report_site_number(r->names, t->callsite);
    cJSON *o = report_json_object(array), *rank = cJSON_AddArrayToObject(o, "rank");
    cJSON *calls = cJSON_AddArrayToObject(o, "calls"), *gap = cJSON_AddArrayToObject(o, "gap_seconds");

    report_json_text(o, "function", job_text(r->job, t->function));
    cJSON_AddItemToObject(o, "number", number == GRAMMAR_NONE ? cJSON_CreateNull() : cJSON_CreateNumber(number));
    cJSON_AddNumberToObject(o, "ranks", place->ranks);
    for (uint32_t i = 0; i < count; i++) {
        cJSON_AddItemToArray(rank, cJSON_CreateNumber(place[i].rank));
        cJSON_AddItemToArray(calls, cJSON_CreateNumber(place[i].count));
        cJSON_AddItemToArray(gap, cJSON_CreateNumber(own_of_call(&place[i]) / 1e9));
    }
}

void report_add_own(struct report *r, cJSON *root)
{
    struct own_place *place = calloc((size_t)r->job->own.count + 1, sizeof *place);
    cJSON *array = cJSON_AddArrayToObject(root, "own");
    uint32_t begin = 0, count = own_collect(r->job, place);

    for (uint32_t i = 1; i <= count; i++)
        if (i == count || place[i].terminal != place[begin].terminal) {
            own_add(r, &place[begin], i - begin, array);
            begin = i;
        }
    free(place);
}
