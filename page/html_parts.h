/* SPDX-License-Identifier: MIT */
/* Between the parts of the page: html.c (all of it), html_turn.c (a turn replayed). */
#ifndef PYTHIA_PAGE_HTML_PARTS_H
#define PYTHIA_PAGE_HTML_PARTS_H

#include <cjson/cJSON.h>

#include "page/html.h"

/* As a JSON string. */
void html_print_text(const char *text, FILE *out);
/* ["Isend3", "p2p", "halo@app.c:12"]; `phase`: the name with its mark of a begin or an end, and a
   longer place. */
void html_print_terminal(struct report *r, uint32_t terminal, bool phase, FILE *out);
/* One turn of the main loop. */
void html_print_turn(struct report *r, FILE *out);

#endif
