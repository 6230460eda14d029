/* SPDX-License-Identifier: MIT */
/* Tables in every form; see table.h. */
#include "views/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "base/order.h"
#include "findings/units.h"
#include "views/views.h"

static bool is_end(const struct views_cell *c)
{
    return !c->key && !c->heading;
}

static const char *text_of(const struct views_cell *c)
{
    static const char *const format[] = { [VIEWS_NUMBER] = "%.0f", [VIEWS_OFFSET] = "%.0f", [VIEWS_RATIO] = "%.2f",
                                          [VIEWS_PERCENT] = "%.1f%%", [VIEWS_PERCENT2] = "%.2f%%" };

    if (c->unit == VIEWS_TEXT ? !c->text : isnan(c->value))
        return "-";
    switch (c->unit) {
    case VIEWS_TEXT:
        return c->text;
    case VIEWS_BOOL:
        return c->value > 0 ? "yes" : "no";
    case VIEWS_COUNT:
        return findings_count((uint64_t)c->value);
    case VIEWS_BYTES:
        return findings_bytes(c->value);
    case VIEWS_TIME:
        return findings_time(c->value);
    default:
        return findings_text(format[c->unit], c->value);
    }
}

void views_column(const char *text, int width, FILE *out)
{
    int columns = 0, wide = abs(width);

    for (const char *c = text; *c; c++)
        columns += ((unsigned char)*c & 0xc0) != 0x80;
    fprintf(out, "%*s%s%*s", width > columns ? wide - columns : 0, "", text, -width > columns ? wide - columns : 0, "");
}

/* A cell, or its heading. */
static void print_text(const struct views_cell *cells, bool headings, FILE *out)
{
    const char *between = "";

    for (const struct views_cell *c = cells; !is_end(c); c++) {
        if (!c->heading)
            continue;
        size_t blanks = strspn(c->heading, " ");
        fprintf(out, "%s%.*s", between, (int)blanks, c->heading);
        views_column(headings ? c->heading + blanks : text_of(c), c->width, out);
        between = " ";
    }
    fputc('\n', out);
}

/* What a spreadsheet would take for a formula, or for a number with a sign, begins with an apostrophe: that is how they
   write text. */
static void print_field(const char *text, FILE *out)
{
    bool formula = *text && strchr("=+-@\t\r", *text);

    if (!formula && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputs(formula ? "\"'" : "\"", out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', out);
}

static void print_csv(const struct views_cell *cells, bool headings, FILE *out)
{
    for (const struct views_cell *c = cells; !is_end(c); c++) {
        if (c != cells)
            fputc(',', out);
        if (headings || c->unit == VIEWS_TEXT)
            print_field(headings ? c->key : c->text ? c->text : "", out);
        else if (isnan(c->value))
            continue;
        else if (c->unit == VIEWS_OFFSET)
            fprintf(out, "0x%llx", (unsigned long long)c->value);
        else
            fprintf(out, c->unit == VIEWS_TIME ? "%.9f" : c->unit == VIEWS_RATIO ? "%.6f" : "%.0f",
                    c->unit == VIEWS_TIME ? c->value / 1e9 : c->value);
    }
    fputc('\n', out);
}

void views_row(struct views_table *t, const struct views_cell *cells)
{
    (t->csv ? print_csv : print_text)(cells, !t->headed, t->out);
    t->headed = true;
}

cJSON *views_add(cJSON *to, const struct views_cell *cells)
{
    cJSON *o = cJSON_IsArray(to) ? views_json_object(to) : to;

    for (const struct views_cell *c = cells; !is_end(c); c++)
        if (c->key && c->unit == VIEWS_TEXT)
            views_json_text(o, c->key, c->text);
        else if (c->key && isnan(c->value))
            cJSON_AddNullToObject(o, c->key);
        else if (c->key && c->unit == VIEWS_BOOL)
            cJSON_AddBoolToObject(o, c->key, c->value > 0);
        else if (c->key)
            cJSON_AddNumberToObject(o, c->key, c->unit == VIEWS_TIME ? c->value / 1e9 : c->value);
    return o;
}

/* --- What is too small --- */

BASE_COMPARISON(largest_first, double, BASE_ORDER(*b, *a))

double views_least(double *value, uint32_t count, uint32_t most)
{
    uint32_t fit = most;

    qsort(value, count, sizeof *value, largest_first);
    while (count > fit && fit && value[fit - 1] <= value[most]) /* those that are alike go together */
        fit--;
    return count <= fit ? 0 : fit ? value[fit - 1] : INFINITY;
}

/* --- JSON --- */

/* Names come from files and file systems: JSON must be UTF-8 all the same. */
void views_json_text(cJSON *o, const char *key, const char *text)
{
    if (!text) {
        cJSON_AddNullToObject(o, key);
        return;
    }
    BASE_OWN char *clean = strdup(text);
    base_clean_utf8(clean);
    cJSON_AddStringToObject(o, key, clean);
}

cJSON *views_json_object(cJSON *array)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddItemToArray(array, o);
    return o;
}

void views_json_numbers(cJSON *o, const char *key, const uint32_t *number, uint32_t count)
{
    cJSON *list = cJSON_AddArrayToObject(o, key);

    for (uint32_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(number[i]));
}

char *views_json_quoted(const char *text)
{
    cJSON *o = cJSON_CreateObject();

    views_json_text(o, "t", text);
    char *printed = cJSON_PrintUnformatted(cJSON_GetObjectItem(o, "t"));
    cJSON_Delete(o);
    return printed;
}

void views_json_write(cJSON *root, FILE *out)
{
    BASE_OWN char *text = cJSON_Print(root);

    cJSON_Delete(root);
    fprintf(out, "%s\n", text);
}
