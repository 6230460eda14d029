/* SPDX-License-Identifier: MIT */
/* Between the parts of the page: html.c (all of it), html_turn.c (a turn replayed). */
#ifndef PYTHIA_PAGE_HTML_PARTS_H
#define PYTHIA_PAGE_HTML_PARTS_H

#include <cjson/cJSON.h>

#include "page/html.h"

/* A text as an item of its own; figures as a row at the end of an array, of which NAN is null. */
cJSON *html_text(const char *text);
cJSON *html_figures(cJSON *array, const double *figures, int count);
/* ["Isend3", "p2p", "halo@app.c:12"]; `phase`: the name with its mark of a begin or an end. */
void html_add_terminal(struct report *r, uint32_t terminal, bool phase, cJSON *array);
/* One turn of the main loop. */
void html_add_turn(struct report *r, cJSON *turn);

#endif
