/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML file: page, style and scripts of page/html, and the data in it: the JSON report, shortened
 * where it is long, for the page must open at once whatever the job is, and one turn of the main loop (html_turn.c).
 */
#include <stdlib.h>
#include <string.h>

#include "page/html_assets.h"
#include "page/html.h"
#include "views/views.h"

enum { MOST_ROWS = 2000, MOST_CLASSES = 512, MOST_STREAMS = 4096, MOST_EDGES = 8192, CELLS = 64 };

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
    const struct findings_model *m = r->model;
    uint32_t block = r->job->info.ranks / CELLS + 1;
    BASE_OWN double *cell = m->edge_count > MOST_EDGES ? calloc(2 * CELLS * CELLS, sizeof *cell) : NULL;
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
}

static cJSON *page_data(struct report *r)
{
    cJSON *root = views_json(r);

    cJSON_AddNumberToObject(root, "callsites_left_out", thin(cJSON_GetObjectItem(root, "callsites"), MOST_ROWS, false));
    thin(cJSON_GetObjectItem(root, "regions"), MOST_ROWS, false);
    thin(cJSON_GetObjectItem(root, "unmatched_calls"), MOST_ROWS, false);
    thin(cJSON_GetObjectItem(root, "polls"), MOST_ROWS, false);
    thin(cJSON_GetObjectItem(root, "classes"), MOST_CLASSES, false);
    thin(cJSON_GetObjectItem(root, "streams"), MOST_STREAMS, true);
    thin(cJSON_GetObjectItem(root, "comm"), MOST_ROWS, false);
    thin_edges(r, root);
    html_add_turn(r, cJSON_AddObjectToObject(root, "turn_replayed"));
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
    BASE_OWN char *json = cJSON_PrintUnformatted(root);

    cJSON_Delete(root);
    for (const char *at = page_html_frame, *mark; *at; at = mark) {
        mark = strchrnul(at, '@');
        fwrite(at, 1, (size_t)(mark - at), out);
        if (!strncmp(mark, "@STYLE@", 7)) {
            fputs(page_html_style, out);
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
}

void page_print_jobs_html(cJSON *root, FILE *out)
{
    const char *const scripts[] = { page_html_base, page_html_canvas, page_html_jobs_script, NULL };

    print_page(page_html_jobs, root, scripts, out);
}

void page_print_html(struct report *r, FILE *out)
{
    const char *const scripts[] = { page_html_base,   page_html_canvas, page_html_timeline, page_html_structure,
                                    page_html_tables, page_html_sums,   page_html_charts,   page_html_main,
                                    NULL };

    print_page(page_html_page, page_data(r), scripts, out);
}
