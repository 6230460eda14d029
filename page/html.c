/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML file: page, style and scripts of page/html, and the data in it: the JSON report, shortened
 * where it is long, and the grammars as the timeline needs them (html/structure.js says in which form).
 *
 * The page must open at once and stay small whatever the job is. A class gets its share of MOST_NODES nodes: the rules
 * that hold most time are there, of the others only their times. In a rule with very many nodes neighbours that are
 * short are folded into one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "findings/ranges.h"
#include "findings/units.h"
#include "job/turns.h"
#include "page/html_assets.h"
#include "page/html.h"
#include "views/views.h"
#include "views/table.h"

enum { MOST_NODES = 24000, FEWEST_NODES = 300, LONG_RULE = 1200, MOST_ROWS = 2000, MOST_CLASSES = 512, MOST_STREAMS =
       4096,
       MOST_EDGES = 8192, CELLS = 64, MESSAGES = 4000 };

struct shape {
    struct report *r;
    const struct job_class *c;
    uint64_t members;
    uint32_t *rule;     /* number in the page of each rule, GRAMMAR_NONE: left out */
    uint32_t *terminal; /* the same of the job's terminals; shared by all classes */
    uint32_t *terminals, next_terminal;
};

/* --- Which rules are there --- */

struct weight {
    uint32_t rule;
    double ns;
};

static int by_weight(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;

    return BASE_ORDER(y->ns, x->ns) ?: BASE_ORDER(x->rule, y->rule);
}

static double node_ns(const struct grammar_stats *s)
{
    return (double)s->gap.sum + (double)s->duration.sum;
}

/* Fills s->rule, R first; returns how many there are. */
static uint32_t choose_rules(struct shape *s, uint32_t budget)
{
    const struct grammar_flat *g = s->c->grammar;
    struct weight *w = calloc(g->rule_count, sizeof *w);
    uint32_t chosen = 0;

    for (uint32_t i = 0; i < g->rule_count; i++)
        w[i].rule = i;
    for (uint32_t n = 0; n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            w[g->nodes[n].symbol & ~GRAMMAR_RULE].ns += node_ns(&g->stats[n]);
    qsort(w + 1, g->rule_count - 1, sizeof *w, by_weight);
    for (uint32_t i = 0; i < g->rule_count; i++) {
        uint32_t length = g->rules[w[i].rule].length;
        length = length < LONG_RULE ? length : LONG_RULE;
        bool fits = i == 0 || length <= budget;
        s->rule[w[i].rule] = fits ? chosen++ : GRAMMAR_NONE;
        budget -= fits && length < budget ? length : fits ? budget : 0;
    }
    free(w);
    return chosen;
}

/* --- Nodes --- */

/* As an item of its own. */
static cJSON *html_text(const char *text)
{
    cJSON *o = cJSON_CreateObject();

    report_json_text(o, "text", text);
    cJSON *item = cJSON_DetachItemFromObject(o, "text");
    cJSON_Delete(o);
    return item;
}

/* A rule is -1 and below, a terminal 0 and above, both numbered as the page meets them; NAN: what is not there. */
static double symbol_of(struct shape *s, uint32_t symbol)
{
    if (grammar_is_rule(symbol)) {
        uint32_t rule = s->rule[symbol & ~GRAMMAR_RULE];
        return views_known(rule != GRAMMAR_NONE, -1.0 - rule);
    }
    if (symbol >= s->r->job->terminal_count)
        return NAN;
    if (s->terminal[symbol] == GRAMMAR_NONE) {
        s->terminals[s->next_terminal] = symbol;
        s->terminal[symbol] = s->next_terminal++;
    }
    return s->terminal[symbol];
}

static void add_box(cJSON *array, double symbol, double turns, double count, double gap, double duration,
                    const char *text)
{
    const double figures[] = { symbol, rint(turns), count, rint(gap), rint(duration) };

    cJSON_AddItemToArray(html_figures(array, figures, 5), *text ? html_text(text) : NULL);
}

static void add_node(struct shape *s, uint32_t n, cJSON *array)
{
    const struct grammar_flat_node *node = &s->c->grammar->nodes[n];
    const struct grammar_stats *t = &s->c->grammar->stats[n];
    double count = t->count ? (double)t->count : 1, symbol = symbol_of(s, node->symbol);
    char message[192] = "";

    if (s->c->grammar->node_count < MESSAGES)
        report_message_text(s->r->job, s->c, n, message, sizeof message);
    if (node->symbol == GRAMMAR_LOST)
        strcpy(message, "order given up");
    else if (grammar_is_rule(node->symbol) && isnan(symbol))
        strcpy(message, "folded");
    add_box(array, symbol, job_mean_turns(s->c, n), (double)(t->count / s->members), (double)t->gap.sum / count,
            (double)t->duration.sum / count, message);
}

/* Neighbours [from, to) as one box without anything inside; `uses`: how often a member expands their rule. */
static void add_folded(struct shape *s, uint32_t from, uint32_t to, double uses, cJSON *array)
{
    double gap = 0, duration = 0, all = uses * (double)s->members;

    for (uint32_t n = from; n < to; n++) {
        gap += (double)s->c->grammar->stats[n].gap.sum;
        duration += (double)s->c->grammar->stats[n].duration.sum;
    }
    add_box(array, NAN, 1, 0, gap / all, duration / all, report_text("%u parts", to - from));
}

static double rule_uses(const struct shape *s, uint32_t first)
{
    double uses = (double)s->c->grammar->stats[first].count / (double)s->members / job_mean_turns(s->c, first);

    return uses > 0 ? uses : 1;
}

/* The nodes of a long rule that take a thousandth of it stand alone; runs of others are folded, never more than
   half. */
static void add_long(struct shape *s, const struct grammar_flat_rule *rule, cJSON *array)
{
    double all = 0, uses = rule_uses(s, rule->first);
    uint32_t folded = rule->first, end = rule->first + rule->length, most = rule->length / (LONG_RULE / 2) + 1;

    for (uint32_t n = rule->first; n < end; n++)
        all += node_ns(&s->c->grammar->stats[n]);
    for (uint32_t n = rule->first; n <= end; n++) {
        bool alone = n < end && node_ns(&s->c->grammar->stats[n]) > all / (LONG_RULE / 2);
        if (n > folded && (n == end || alone || n - folded >= most)) {
            add_folded(s, folded, n, uses, array);
            folded = n;
        }
        if (alone) {
            add_node(s, n, array);
            folded = n + 1;
        }
    }
}

static void add_rule(struct shape *s, uint32_t rule, cJSON *array)
{
    const struct grammar_flat_rule *body = &s->c->grammar->rules[rule];

    if (body->length > LONG_RULE)
        add_long(s, body, array);
    for (uint32_t i = 0; i < body->length && body->length <= LONG_RULE; i++)
        add_node(s, body->first + i, array);
}

/* {"rules": [[node, …], …], "folded": whether something is missing} */
static void add_class(struct shape *s, uint32_t budget, cJSON *o)
{
    const struct grammar_flat *g = s->c->grammar;
    uint32_t *place = calloc((size_t)g->rule_count + 1, sizeof *place);
    cJSON *rules = cJSON_AddArrayToObject(o, "rules");
    bool folded = false;

    s->rule = calloc((size_t)g->rule_count + 1, sizeof *s->rule);
    uint32_t chosen = choose_rules(s, budget);
    for (uint32_t i = 0; i < g->rule_count; i++) {
        folded |= s->rule[i] == GRAMMAR_NONE || g->rules[i].length > LONG_RULE;
        if (s->rule[i] != GRAMMAR_NONE)
            place[s->rule[i]] = i;
    }
    for (uint32_t i = 0; i < chosen; i++)
        add_rule(s, place[i], html_figures(rules, NULL, 0));
    ADD(o, BOOL("folded", folded));
    free(s->rule);
    free(place);
}

/* --- Structure and terminals --- */

cJSON *html_figures(cJSON *array, const double *figures, int count)
{
    cJSON *row = cJSON_CreateDoubleArray(figures ? figures : (const double[]){ 0 }, count);

    cJSON_AddItemToArray(array, row);
    return row;
}

/* Whose colour it gets. */
static const char *kind_of(const struct job_terminal *t)
{
    if (t->kind == JOB_REGION)
        return "omp";
    switch (t->call_kind) {
    case JOB_PROBE:
        return job_call_kind_text(JOB_COMPLETION);
    case JOB_NO_CALL_KIND:
    case JOB_COMMUNICATOR:
    case JOB_LIFE:
        return job_call_kind_text(JOB_OTHER);
    default:
        return job_call_kind_text(t->call_kind);
    }
}

void html_add_terminal(struct report *r, uint32_t terminal, bool phase, cJSON *array)
{
    const struct job_terminal *t = &r->job->terminals[terminal];
    cJSON *row = html_figures(array, NULL, 0);

    cJSON_AddItemToArray(row, html_text(phase ? report_short_name(r->names, terminal)
                                              : report_site_name(r->names, terminal)));
    cJSON_AddItemToArray(row, html_text(kind_of(t)));
    cJSON_AddItemToArray(row, html_text(t->callsite < r->job->callsite_count ? report_where(r, terminal, 200) : ""));
}

static void add_structure(struct report *r, cJSON *root)
{
    const struct job *j = r->job;
    uint32_t classes = j->class_count < MOST_CLASSES ? j->class_count : MOST_CLASSES;
    uint32_t budget = classes ? MOST_NODES / classes : 0;
    size_t count = (size_t)j->terminal_count + 1;
    struct shape s = { .r = r, .terminal = malloc(count * sizeof *s.terminal),
                       .terminals = calloc(count, sizeof *s.terminals) };
    cJSON *structure = cJSON_AddArrayToObject(root, "structure");
    cJSON *terminals = cJSON_AddArrayToObject(root, "terminals");

    memset(s.terminal, 0xff, count * sizeof *s.terminal);
    for (uint32_t i = 0; i < classes; i++) {
        s.c = &j->classes[i];
        s.members = report_members(s.c);
        bool known = s.c->grammar && s.members;
        cJSON_AddItemToArray(structure, known ? cJSON_CreateObject() : cJSON_CreateNull());
        if (known)
            add_class(&s, budget > FEWEST_NODES ? budget : FEWEST_NODES, structure->child->prev);
    }
    for (uint32_t i = 0; i < s.next_terminal; i++)
        html_add_terminal(r, s.terminals[i], true, terminals);
    html_add_turn(r, cJSON_AddObjectToObject(root, "turn_replayed"));
    free(s.terminal);
    free(s.terminals);
}

/* --- Shortening the JSON report --- */

/* Keeps every step-th item and no more than `most`; returns how many went. */
static uint32_t thin(cJSON *array, uint32_t most, bool evenly)
{
    uint32_t count = (uint32_t)cJSON_GetArraySize(array), step = evenly && most ? (count + most - 1) / most : 1, at = 0,
             gone = 0;

    for (cJSON *item = array ? array->child : NULL, *next; item && count > most; item = next, at++) {
        next = item->next;
        if ((evenly && at % step == 0) || (!evenly && at < most))
            continue;
        cJSON_Delete(cJSON_DetachItemViaPointer(array, item));
        gone++;
    }
    return gone;
}

/* Beyond MOST_EDGES the page shows blocks of ranks anyway: one edge a pair of blocks, named by their first ranks. */
static void thin_edges(const struct report *r, cJSON *root)
{
    const struct report_model *m = r->model;
    uint32_t block = r->job->info.ranks / CELLS + 1;
    double *cell = m->edge_count > MOST_EDGES ? calloc(2 * CELLS * CELLS, sizeof *cell) : NULL;
    cJSON *matrix = cJSON_GetObjectItem(root, "matrix"), *edges = cJSON_CreateArray();

    for (uint32_t i = 0; cell && i < m->edge_count; i++) {
        uint32_t at = m->edges[i].from / block * CELLS + m->edges[i].to / block;
        cell[2 * at] += (double)m->edges[i].messages;
        cell[2 * at + 1] += (double)m->edges[i].bytes;
    }
    for (uint32_t at = 0; cell && at < CELLS * CELLS; at++) {
        const double figures[] = { at / CELLS * block, at % CELLS * block, cell[2 * at], cell[2 * at + 1] };
        if (cell[2 * at] > 0)
            cJSON_AddItemToArray(edges, cJSON_CreateDoubleArray(figures, 4));
    }
    if (cell)
        cJSON_ReplaceItemInObject(matrix, "edges", edges);
    else
        cJSON_Delete(edges);
    free(cell);
}

static cJSON *page_data(struct report *r)
{
    cJSON *root = report_json(r);

    cJSON_AddNumberToObject(root, "callsites_left_out", thin(cJSON_GetObjectItem(root, "callsites"), MOST_ROWS, false));
    thin(cJSON_GetObjectItem(root, "regions"), MOST_ROWS, false);
    thin(cJSON_GetObjectItem(root, "unmatched_calls"), MOST_ROWS, false);
    thin(cJSON_GetObjectItem(root, "polls"), MOST_ROWS, false);
    thin(cJSON_GetObjectItem(root, "classes"), MOST_CLASSES, false);
    thin(cJSON_GetObjectItem(root, "streams"), MOST_STREAMS, true);
    thin(cJSON_GetObjectItem(root, "comm"), MOST_ROWS, false);
    thin_edges(r, root);
    add_structure(r, root);
    return root;
}

/* --- The page --- */

/* Inside a script element "<" could end it. In JSON it stands in strings only, where it can be written otherwise. */
static void print_json(const char *json, FILE *out)
{
    for (; *json; json++)
        if (*json == '<')
            fputs("\\u003c", out);
        else
            fputc(*json, out);
}

/* A page with this body, these data and what draws it: scripts, NULL at the end. Takes `root`. */
static void print_page(const char *body, cJSON *root, const char *const *scripts, FILE *out)
{
    char *json = cJSON_PrintUnformatted(root);

    cJSON_Delete(root);
    for (const char *at = report_html_frame, *mark; *at; at = mark) {
        mark = strchrnul(at, '@');
        fwrite(at, 1, (size_t)(mark - at), out);
        if (!strncmp(mark, "@STYLE@", 7)) {
            fputs(report_html_style, out);
            mark += 7;
        } else if (!strncmp(mark, "@BODY@", 6)) {
            fputs(body, out);
            mark += 6;
        } else if (!strncmp(mark, "@DATA@", 6)) {
            print_json(json, out);
            mark += 6;
        } else if (!strncmp(mark, "@SCRIPT@", 8)) {
            for (size_t i = 0; scripts[i]; i++)
                fputs(scripts[i], out);
            mark += 8;
        } else if (*mark) {
            fputc(*mark++, out);
        }
    }
    free(json);
}

void report_print_jobs_html(cJSON *root, FILE *out)
{
    const char *const scripts[] = { report_html_base, report_html_canvas, report_html_jobs_script, NULL };

    print_page(report_html_jobs, root, scripts, out);
}

void report_print_html(struct report *r, FILE *out)
{
    const char *const scripts[] = { report_html_base,   report_html_canvas, report_html_timeline, report_html_structure,
                                    report_html_tables, report_html_sums,   report_html_charts,   report_html_main,
                                    NULL };

    print_page(report_html_page, page_data(r), scripts, out);
}
