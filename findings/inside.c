/* SPDX-License-Identifier: MIT */
#include "findings/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/findings.h"
#include "findings/units.h"

/* A sample's row, with where it is; `site`: of its terminal, as a number that orders them. */
struct row {
    const struct job_inside *of;
    const struct report_place *place;
    uint32_t site, part_terminal;
    bool before;
};

/* Sites, then regions, then what comes before no event. The gap before a span's end is inside it. */
static struct row row_of(const struct report *r, const struct job_inside *s)
{
    struct row row = { .of = s, .site = GRAMMAR_NONE, .part_terminal = GRAMMAR_NONE, .before = true };

    if (s->module != GRAMMAR_NONE)
        row.place = report_resolve_at(r->resolver, s->module, s->offset, REPORT_SAMPLE);
    if (s->terminal == GRAMMAR_NONE)
        return row;
    const struct job_terminal *t = &r->job->terminals[s->terminal];
    row.site = r->model->place[s->terminal] + (t->kind == JOB_REGION ? r->model->site_count : 0);
    row.part_terminal = report_site_of(r->model, s->terminal)->terminal;
    row.before = s->kind == JOB_INSIDE_GAP && t->phase != JOB_CLOSE;
    return row;
}

static int by_part(const struct row *x, const struct row *y)
{
    return BASE_ORDER(x->site, y->site) ?: BASE_ORDER(x->before, y->before);
}

static int text_order(const char *a, const char *b)
{
    return strcmp(a ?: "", b ?: "");
}

/* Of functions without a name only the module is known: they are one. */
static int by_function(const struct row *x, const struct row *y)
{
    const struct report_place *a = x->place, *b = y->place;

    if (!a || !b)
        return BASE_ORDER(a != NULL, b != NULL);
    return strcmp(a->module, b->module) ?: text_order(a->symbol, b->symbol) ?: text_order(a->inlined, b->inlined);
}

static int by_line(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return by_part(x, y) ?: by_function(x, y) ?:
           BASE_ORDER(x->place ? x->place->line : 0, y->place ? y->place->line : 0) ?:
           BASE_ORDER(x->of->offset, y->of->offset);
}

static int most_first(const void *a, const void *b)
{
    const struct report_inside_function *x = a, *y = b;

    return BASE_ORDER(y->samples, x->samples);
}

static int larger_first(const void *a, const void *b)
{
    const struct report_inside_part *x = a, *y = b;

    return BASE_ORDER(y->samples, x->samples) ?: BASE_ORDER(x->terminal, y->terminal);
}

/* Wilson's interval of `k` of `n`. */
static void set_share(struct report_inside_function *f, uint64_t all)
{
    double n = (double)all, p = (double)f->samples / n, z = 1.96, z2 = z * z;
    double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    double half = z * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
    bool few = all < REPORT_INSIDE_FEW;

    f->share = few ? NAN : p;
    f->low = few ? NAN : fmax(0, middle - half);
    f->high = few ? NAN : fmin(1, middle + half);
}

/* Of the rows of one function, in order of lines. */
static struct report_inside_function function_of(const struct row *row, uint32_t count)
{
    struct report_inside_function f = { .place = row->place };
    uint64_t best = 0, line = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool same = i && (!row[i].place || row[i].place->line == row[i - 1].place->line);
        line = (same ? line : 0) + row[i].of->samples;
        if (line > best) {
            best = line;
            f.place = row[i].place;
        }
        f.samples += row[i].of->samples;
        f.ranks |= row[i].of->ranks;
    }
    return f;
}

/* The rows of one part. */
static void add_part(struct report_inside *in, const struct row *row, uint32_t count)
{
    struct report_inside_part part = { row->part_terminal, row->before, 0, in->functions, 0 };

    for (uint32_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && by_function(&row[i], &row[i + n]) == 0; n++)
            ;
        base_must(base_array_more(&in->function, in->functions, sizeof *in->function));
        in->function[in->functions++] = function_of(row + i, n);
        part.samples += in->function[in->functions - 1].samples;
        part.count++;
    }
    for (uint32_t i = 0; i < part.count; i++)
        set_share(&in->function[part.first + i], part.samples);
    qsort(in->function + part.first, part.count, sizeof *in->function, most_first);
    in->known += part.samples;
    base_must(base_array_more(&in->part, in->parts, sizeof *in->part));
    in->part[in->parts++] = part;
}

static struct report_inside *make(const struct report *r)
{
    const struct job_inside_list *list = &r->job->inside;
    struct report_inside *in = calloc(1, sizeof *in);
    struct row *row = calloc((size_t)list->count + 1, sizeof *row);
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->count; i++)
        if (list->of[i].kind == JOB_INSIDE_UNKNOWN)
            in->unknown += list->of[i].samples;
        else
            row[count++] = row_of(r, &list->of[i]);
    qsort(row, count, sizeof *row, by_line);
    for (uint32_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && by_part(&row[i], &row[i + n]) == 0; n++)
            ;
        add_part(in, row + i, n);
    }
    if (in->parts)
        qsort(in->part, in->parts, sizeof *in->part, larger_first);
    free(row);
    return in;
}

const struct report_inside *report_inside_of(struct report *r)
{
    if (!r->inside)
        r->inside = make(r);
    return r->inside;
}

void report_inside_destroy(struct report_inside *inside)
{
    if (!inside)
        return;
    free(inside->part);
    free(inside->function);
    free(inside);
}

const struct report_inside_part *report_inside_find(struct report *r, uint32_t terminal, bool before)
{
    const struct report_inside *in = report_inside_of(r);
    uint32_t site = terminal == GRAMMAR_NONE ? GRAMMAR_NONE : report_site_of(r->model, terminal)->terminal;

    for (uint32_t i = 0; i < in->parts; i++)
        if (in->part[i].terminal == site && in->part[i].before == before)
            return &in->part[i];
    return NULL;
}

uint32_t report_inside_count(uint64_t ranks)
{
    return (uint32_t)__builtin_popcountll(ranks);
}

char *report_inside_ranks(const struct report *r, uint64_t ranks)
{
    enum { BITS = 64 };
    bool in[BITS];
    char text[REPORT_TEXT];

    if (r->job->info.ranks > BITS)
        return report_text("%u ranks or more", report_inside_count(ranks));
    for (int i = 0; i < BITS; i++)
        in[i] = ranks >> i & 1;
    report_ranks_set(in, r->job->info.ranks, text, sizeof text);
    return report_text("%s", text);
}

static char *function_text(const struct report_inside_function *f)
{
    const struct report_place *p = f->place;

    if (!p)
        return report_text("code made at run time");
    if (!p->function)
        return report_text("%s", p->module);
    if (!p->line)
        return report_text("%s@%s", p->function, p->module);
    return p->inlined ? report_text("%s (%s@%s:%u)", p->function, p->inlined, p->file, p->line)
                      : report_text("%s@%s:%u", p->function, p->file, p->line);
}

char *report_inside_text(struct report *r, const struct report_inside_part *part, int width)
{
    const struct report_inside *in = report_inside_of(r);
    char *samples = report_text(" (%s samples)", report_count(part->samples)), *text = report_text("%s", "");

    if (part->samples < REPORT_INSIDE_FEW)
        return text;
    for (uint32_t i = 0; i < part->count && in->function[part->first + i].share >= 0.05; i++) {
        const struct report_inside_function *f = &in->function[part->first + i];
        char *one = report_text("%s%.0f %% %s", i ? ", " : "", 100 * f->share, function_text(f));
        if (i && (int)(strlen(text) + strlen(one) + strlen(samples)) > width)
            break;
        text = report_text("%s%s", text, one);
    }
    return *text ? report_text("%s%s", text, samples) : text;
}
