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
    const struct findings_place *place;
    uint32_t site, part_terminal;
    bool before;
};

/* Sites, then regions, then what comes before no event. The gap before a span's end is inside it. */
static struct row row_of(const struct report *r, const struct job_inside *s)
{
    struct row row = { .of = s, .site = GRAMMAR_NONE, .part_terminal = GRAMMAR_NONE };

    if (s->module != GRAMMAR_NONE)
        row.place = findings_resolve_at(r->resolver, s->module, s->offset, FINDINGS_SAMPLE);
    row.before = s->kind != JOB_INSIDE_BESIDE;
    if (s->terminal == GRAMMAR_NONE)
        return row;
    const struct job_terminal *t = &r->job->terminals[s->terminal];
    row.site = r->model->place[s->terminal];
    row.part_terminal = findings_site_of(r->model, s->terminal)->terminal;
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

int findings_inside_order(const struct findings_place *a, const struct findings_place *b)
{
    if (!a || !b)
        return BASE_ORDER(a != NULL, b != NULL);
    return strcmp(a->module, b->module) ?: text_order(a->symbol, b->symbol) ?: text_order(a->inlined, b->inlined);
}

BASE_COMPARISON(by_line, struct row, by_part(a, b) ?: findings_inside_order(a->place, b->place) ?:
                BASE_ORDER(a->place ? a->place->line : 0, b->place ? b->place->line : 0) ?: BASE_UP(of->offset))

BASE_COMPARISON(most_first, struct findings_inside_function, BASE_DOWN(samples) ?:
                findings_inside_order(a->place, b->place))

BASE_COMPARISON(larger_first, struct findings_inside_part, BASE_DOWN(samples) ?: BASE_UP(terminal))

/* Wilson's interval. */
double findings_inside_share(uint64_t count, uint64_t all, double *low, double *high)
{
    double n = (double)all, p = (double)count / n, z = 1.96, z2 = z * z;
    double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    double half = z * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
    bool few = all < FINDINGS_INSIDE_FEW;

    *low = few ? NAN : fmax(0, middle - half);
    *high = few ? NAN : fmin(1, middle + half);
    return few ? NAN : p;
}

static void set_shares(struct findings_inside_part *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct findings_inside_function *f = &p->function[i];
        f->share = findings_inside_share(f->samples, p->samples, &f->low, &f->high);
    }
    BASE_SORT(p->function, p->count, most_first);
}

/* Of the rows of one function, in order of lines. */
static struct findings_inside_function function_of(const struct row *row, uint32_t count)
{
    struct findings_inside_function f = { .place = row->place };
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
static void add_part(struct findings_inside *in, const struct row *row, uint32_t count)
{
    struct findings_inside_part part = { .terminal = row->part_terminal, .before = row->before };

    for (uint32_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && findings_inside_order(row[i].place, row[i + n].place) == 0; n++)
            ;
        BASE_ADD(part.function, part.count, function_of(row + i, n));
        part.samples += part.function[part.count - 1].samples;
    }
    set_shares(&part);
    in->known += part.samples;
    BASE_ADD(in->part, in->parts, part);
}

static struct findings_inside *make(const struct report *r)
{
    const struct job_inside_list *list = &r->job->inside;
    struct findings_inside *in = calloc(1, sizeof *in);
    BASE_OWN struct row *row = calloc((size_t)list->count + 1, sizeof *row);
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
    BASE_SORT(in->part, in->parts, larger_first);
    return in;
}

const struct findings_inside *findings_inside_of(struct report *r)
{
    if (!r->inside)
        r->inside = make(r);
    return r->inside;
}

void findings_inside_destroy(struct findings_inside *inside)
{
    if (!inside)
        return;
    for (uint32_t i = 0; i < inside->parts; i++)
        free(inside->part[i].function);
    free(inside->part);
    free(inside);
}

const struct findings_inside_part *findings_inside_find(struct report *r, uint32_t terminal, bool before)
{
    const struct findings_inside *in = findings_inside_of(r);
    uint32_t site = terminal == GRAMMAR_NONE ? GRAMMAR_NONE : findings_site_of(r->model, terminal)->terminal;

    for (uint32_t i = 0; i < in->parts; i++)
        if (in->part[i].terminal == site && in->part[i].before == before)
            return &in->part[i];
    return NULL;
}

BASE_COMPARISON(by_function, struct findings_inside_function, findings_inside_order(a->place, b->place) ?:
                BASE_DOWN(samples))

struct findings_inside_part findings_inside_together(const struct findings_inside_part *const *part, uint32_t count)
{
    struct findings_inside_part all = { .terminal = GRAMMAR_NONE, .before = true };
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; part[i] && k < part[i]->count; k++)
            BASE_ADD(all.function, all.count, part[i]->function[k]);
        all.samples += part[i] ? part[i]->samples : 0;
    }
    BASE_SORT(all.function, all.count, by_function);
    for (uint32_t i = 0; i < all.count; i++) {
        struct findings_inside_function *last = kept ? &all.function[kept - 1] : NULL, f = all.function[i];
        if (last && findings_inside_order(last->place, f.place) == 0) {
            last->samples += f.samples;
            last->ranks |= f.ranks;
        } else {
            all.function[kept++] = f;
        }
    }
    all.count = kept;
    set_shares(&all);
    return all;
}

static bool is_within(const struct findings_loops *l, int loop, int around)
{
    while (loop >= 0 && loop != around)
        loop = l->loop[loop].parent;
    return loop == around;
}

struct findings_inside_part findings_inside_loop(struct report *r, const struct findings_loops *l, int loop,
                                                 bool within, double *ns)
{
    struct { uint64_t count; double gap_ns, ns; } *of = calloc(r->job->terminal_count + 1u, sizeof *of);
    BASE_OWN const struct findings_inside_part **part = NULL;
    uint32_t count = 0;

    *ns = 0;
    for (uint32_t i = 0; i < l->calls; i++) {
        const struct findings_loop_call *c = &l->call[i];
        uint32_t site = findings_site_of(r->model, c->terminal)->terminal;
        if (!(within ? is_within(l, c->loop, loop) : c->loop == loop))
            continue;
        of[site].count += c->count;
        of[site].gap_ns += c->ns - c->call_ns;
        of[site].ns += c->ns;
    }
    for (uint32_t t = 0; t < r->job->terminal_count; t++) {
        bool region = r->job->terminals[t].kind == JOB_REGION;
        if (!of[t].count || of[t].count < findings_site_of(r->model, t)->count)
            continue;
        BASE_ADD(part, count, findings_inside_find(r, t, true));
        if (region)
            BASE_ADD(part, count, findings_inside_find(r, t, false));
        *ns += region ? of[t].ns : of[t].gap_ns;
    }
    struct findings_inside_part all = findings_inside_together(part, count);
    free(of);
    return all;
}

uint32_t findings_inside_count(uint64_t ranks)
{
    return (uint32_t)__builtin_popcountll(ranks);
}

char *findings_inside_ranks(const struct report *r, uint64_t ranks)
{
    enum { BITS = 64 };
    bool in[BITS];
    char text[FINDINGS_TEXT];

    if (r->job->info.ranks > BITS)
        return findings_text("%u ranks or more", findings_inside_count(ranks));
    for (int i = 0; i < BITS; i++)
        in[i] = ranks >> i & 1;
    findings_ranks_set(in, r->job->info.ranks, text, sizeof text);
    return findings_text("%s", text);
}

char *findings_inside_place(const struct findings_place *p)
{
    if (!p)
        return findings_text("code made at run time");
    if (!p->function)
        return findings_text("%s", p->module);
    if (!p->line)
        return findings_text("%s@%s", p->function, p->module);
    return p->inlined ? findings_text("%s (%s@%s:%u)", p->function, p->inlined, p->file, p->line)
                      : findings_text("%s@%s:%u", p->function, p->file, p->line);
}

char *findings_inside_text(const struct findings_inside_part *part, int width)
{
    char *samples = findings_text(" (%s samples)", findings_count(part->samples)), *text = findings_text("%s", "");

    if (part->samples < FINDINGS_INSIDE_FEW)
        return text;
    for (uint32_t i = 0; i < part->count && part->function[i].share >= 0.05; i++) {
        const struct findings_inside_function *f = &part->function[i];
        char *one = findings_text("%s%.0f %% %s", i ? ", " : "", 100 * f->share, findings_inside_place(f->place));
        if (i && (int)(strlen(text) + strlen(one) + strlen(samples)) > width)
            break;
        text = findings_text("%s%s", text, one);
    }
    return *text ? findings_text("%s%s", text, samples) : text;
}
