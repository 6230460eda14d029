/* SPDX-License-Identifier: MIT */
#include "findings/calltree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/findings.h"
#include "findings/loops_parts.h"
#include "findings/report.h"
#include "findings/units.h"

enum { DEEPEST = 256 }; /* frames: innermost ones of more */

struct build {
    struct report *r;
    const struct job *j;
    const struct job_hops *hops;
    struct findings_calltree *t;
    uint32_t room;
    uint64_t *at;           /* of each node what tells it from others of its name: a line or an offset */
    uint32_t at_room;
    struct base_hash known; /* of the nodes */
    struct base_hash regions; /* stops of regions, by where they are called */
};

/* --- Nodes --- */

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static uint64_t name_hash(int parent, const char *name, uint64_t at)
{
    uint64_t h = base_hash_mix((uint64_t)(uint32_t)parent << 32 ^ at);
    for (; name && *name; name++)
        h = base_hash_mix(h ^ (unsigned char)*name);
    return h;
}

/* The node of that kind below `parent`, whose number is smaller. */
static int node_below(struct build *b, int parent, const struct findings_path *new, uint64_t at)
{
    uint64_t hash = name_hash(parent, new->name, at);
    const struct findings_path *p = b->t->path;
    uint32_t n = BASE_HASH_FIND(&b->known, hash, i, p[i].parent == parent && b->at[i] == at &&
                                same_name(p[i].name, new->name) && p[i].named == new->named &&
                                (p[i].terminal == GRAMMAR_NONE) == (new->terminal == GRAMMAR_NONE));
    if (n != BASE_HASH_NONE)
        return (int)n;
    base_must(base_array_room(&b->t->path, &b->room, b->t->paths + 1u, sizeof *b->t->path));
    base_must(base_array_room(&b->at, &b->at_room, b->t->paths + 1u, sizeof *b->at));
    base_must(base_hash_reserve(&b->known, 1));
    base_hash_put(&b->known, hash, b->t->paths);
    b->at[b->t->paths] = at;
    b->t->path[b->t->paths] = *new;
    b->t->path[b->t->paths].parent = parent;
    return (int)b->t->paths++;
}

static int function_below(struct build *b, int parent, const struct job_frame *f, const struct findings_place *p)
{
    const struct findings_path new = { .terminal = GRAMMAR_NONE, .name = p->function, .place = p };

    if (p->interpreter && same_name(b->t->path[parent].name, p->interpreter))
        return parent;
    return node_below(b, parent, &new, new.name ? 0 : f->offset ^ (uint64_t)f->module << 48);
}

static int call_below(struct build *b, int parent, uint32_t terminal, const struct findings_place *p)
{
    const struct findings_path new = { .terminal = terminal, .place = p,
                                       .name = job_text(b->j, b->j->terminals[terminal].function) };

    return node_below(b, parent, &new, !p ? 0 : p->line ? p->line : p->offset);
}

/* --- Paths --- */

static uint64_t frame_hash(const struct job_frame *f)
{
    return base_hash_mix(f->offset ^ (uint64_t)f->module << 48);
}

static const struct job_frame *innermost(const struct build *b, uint32_t stop)
{
    return job_innermost(b->j, b->hops->stop[stop].path);
}

static void find_regions(struct build *b)
{
    for (uint32_t i = 0; i < b->hops->stop_count; i++) {
        const struct job_frame *f = innermost(b, i);
        if (!f || b->j->terminals[b->hops->stop[i].terminal].kind != JOB_REGION)
            continue;
        base_must(base_hash_reserve(&b->regions, 1));
        base_hash_put(&b->regions, frame_hash(f), i);
    }
}

/* A region that is run from that frame; GRAMMAR_NONE: none is. */
static uint32_t region_of(const struct build *b, const struct job_frame *f)
{
    uint32_t n = BASE_HASH_FIND(&b->regions, frame_hash(f), i, innermost(b, i)->module == f->module &&
                                innermost(b, i)->offset == f->offset);
    return n == BASE_HASH_NONE ? GRAMMAR_NONE : b->hops->stop[n].terminal;
}

/* The regions by name that are around a path's frames. */
static int named_around(struct build *b, uint32_t path)
{
    uint32_t depth = job_named_depth(b->j, path);
    int at = 0;

    for (uint32_t i = 0; i < depth; i++) {
        const struct job_callsite *c = &b->j->callsites[path];
        const struct findings_path new = { .terminal = GRAMMAR_NONE, .named = true,
                                           .name = job_named_frame(b->j, &b->j->frames[c->first + c->count - 1 - i]) };
        at = node_below(b, at, &new, 1);
    }
    return at;
}

/* The function that a stop's call stands in. */
static int walk(struct build *b, uint32_t path)
{
    uint32_t frames = job_named_without(b->j, path).count;
    const struct findings_place *p;
    uint32_t depth = 0;
    int at = named_around(b, path);

    while (depth < DEEPEST && depth < frames && (p = findings_resolve(b->r->resolver, path, depth, FINDINGS_CALL)) &&
           !(depth && findings_is_start(p))) {
        depth++;
        if (p->in_main)
            break;
    }
    while (depth--) {
        const struct job_frame *f = &b->j->frames[b->j->callsites[path].first + depth];
        p = findings_resolve(b->r->resolver, path, depth, FINDINGS_CALL);
        if (depth && findings_is_runtime(p->module))
            continue;
        at = function_below(b, at, f, p);
        uint32_t region = depth ? region_of(b, f) : GRAMMAR_NONE;
        if (region != GRAMMAR_NONE)
            at = call_below(b, at, region, p);
    }
    return at;
}

/* --- Figures --- */

/* What a site has in the model, and how much of that was given to its stops: shares that add up to all of it. */
struct share { double wait_ns; uint64_t counts, durations, count, duration; };

static uint64_t share_of(double whole, uint64_t done, uint64_t part, uint64_t all)
{
    if (!all)
        return 0;
    return (uint64_t)(whole * ((double)(done + part) / (double)all)) - (uint64_t)(whole * ((double)done / (double)all));
}

static uint64_t count_of(const struct build *b, const struct job_stop *s)
{
    return b->j->terminals[s->terminal].phase == JOB_CLOSE ? 0 : s->count;
}

/* Nobody waited longer in calls than these took. */
static void find_waits(struct build *b, struct share *share)
{
    struct replay_analysis *a = findings_analysis(b->r);

    b->t->waits = a != NULL;
    for (uint32_t s = 0; a && s < a->bind->site_count; s++) {
        const struct bind_site *site = &a->bind->site[s];
        double ns = replay_blame_waits(a->blame, 2 * s + 1);
        if (b->j->terminals[site->terminal].kind != JOB_REGION)
            share[b->r->model->place[site->terminal]].wait_ns += ns < site->call_ns ? ns : site->call_ns;
    }
}

static struct share *find_shares(struct build *b)
{
    struct share *share = calloc((size_t)b->j->terminal_count + 1, sizeof *share);

    find_waits(b, share);
    for (uint32_t i = 0; i < b->hops->stop_count; i++) {
        const struct job_stop *s = &b->hops->stop[i];
        if (b->j->terminals[s->terminal].kind == JOB_REGION)
            continue;
        share[b->r->model->place[s->terminal]].counts += count_of(b, s);
        share[b->r->model->place[s->terminal]].durations += s->duration_ns;
    }
    return share;
}

static void add_stop(struct build *b, const struct job_stop *s, struct share *share)
{
    const struct job_terminal *t = &b->j->terminals[s->terminal];
    int around = walk(b, s->path),
        at = call_below(b, around, s->terminal, findings_resolve_call(b->r->resolver, s->path));
    struct findings_path *p = &b->t->path[at];

    /* before the end of a region that others were in is time of the region */
    (t->phase == JOB_CLOSE ? p : &b->t->path[around])->own_ns += s->gap_ns;
    p->own_ns += s->duration_ns;
    p->launch_ns += job_is_start(b->j, s->terminal) ? s->duration_ns : 0;
    p->count += count_of(b, s);
    if (t->kind == JOB_REGION)
        return;
    struct share *of = &share[b->r->model->place[s->terminal]];
    p->call_ns += s->duration_ns;
    double bytes = (double)findings_site_of(b->r->model, s->terminal)->bytes;
    p->bytes += share_of(bytes, of->count, count_of(b, s), of->counts);
    p->wait_ns += share_of(of->wait_ns, of->duration, s->duration_ns, of->durations);
    of->count += count_of(b, s);
    of->duration += s->duration_ns;
}

/* Time that is in no stop: before a region by name begins or ends. */
static void add_named(struct build *b)
{
    for (uint32_t i = 0; i < b->j->named.count; i++) {
        const struct job_named *n = &b->j->named.of[i];
        int at = named_around(b, n->path); /* which may move the paths */
        b->t->path[at].own_ns += n->own_ns;
    }
}

static void add_up(struct findings_calltree *t)
{
    for (uint32_t i = 0; i < t->paths; i++)
        t->path[i].ns = t->path[i].own_ns;
    for (uint32_t i = t->paths; i-- > 1;) {
        struct findings_path *p = &t->path[i], *up = &t->path[p->parent];
        up->count += p->count;
        up->bytes += p->bytes;
        up->ns += p->ns;
        up->launch_ns += p->launch_ns;
        up->wait_ns += p->wait_ns;
        up->call_ns += p->call_ns;
        up->inside += p->inside + 1;
    }
}

/* --- Order --- */

static int most_first(const void *x, const void *y, void *context)
{
    const struct findings_path *path = context, *a = &path[*(const uint32_t *)x], *b = &path[*(const uint32_t *)y];
    return BASE_ORDER(a->parent, b->parent) ?: BASE_ORDER(b->ns, a->ns) ?: BASE_ORDER(a, b);
}

/* Each goes to the place that is left next in its parent's. */
static void put_in_order(struct findings_calltree *t)
{
    BASE_OWN uint32_t *order = malloc(((size_t)t->paths + 1) * sizeof *order),
                      *to = calloc((size_t)t->paths + 1, sizeof *to),
                      *next = calloc((size_t)t->paths + 1, sizeof *next);
    struct findings_path *sorted = malloc(((size_t)t->paths + 1) * sizeof *sorted);

    for (uint32_t i = 0; i < t->paths; i++)
        order[i] = i;
    qsort_r(order, t->paths, sizeof *order, most_first, t->path);
    for (uint32_t i = 0; i < t->paths; i++) { /* parents have smaller numbers: they come first */
        const struct findings_path *p = &t->path[order[i]];
        uint32_t up = p->parent < 0 ? 0 : (uint32_t)p->parent;
        to[order[i]] = i ? next[up] : 0;
        next[up] += i ? p->inside + 1 : 0;
        next[order[i]] = to[order[i]] + 1;
        struct findings_path *new = &sorted[to[order[i]]];
        *new = *p;
        new->parent = i ? (int)to[up] : -1;
        new->depth = i ? sorted[to[up]].depth + 1 : 0;
    }
    free(t->path);
    t->path = sorted;
}

/* --- All --- */

struct findings_calltree *findings_calltree_create(struct report *r)
{
    struct job_hops own = { 0 };
    struct build b = { .r = r, .j = r->job, .hops = findings_hops(r->job, &own), .t = calloc(1, sizeof *b.t) };

    node_below(&b, -1, &(struct findings_path){ .terminal = GRAMMAR_NONE, .name = "all" }, 0);
    find_regions(&b);
    BASE_OWN struct share *share = find_shares(&b);
    for (uint32_t i = 0; i < b.hops->stop_count; i++)
        add_stop(&b, &b.hops->stop[i], share);
    add_named(&b);
    add_up(b.t);
    put_in_order(b.t);
    free(b.at);
    base_hash_close(&b.known);
    base_hash_close(&b.regions);
    job_hops_free(&own);
    return b.t;
}

void findings_calltree_destroy(struct findings_calltree *t)
{
    if (t)
        free(t->path);
    free(t);
}

const char *findings_path_text(const struct findings_path *p)
{
    const char *scope = p->name ? strstr(p->name, "::") : NULL; /* a module of Fortran's, a name space */

    if (p->named)
        return findings_text("[%s]", p->name);
    if (!p->name)
        return findings_function_at(p->place, false);
    if (p->terminal != GRAMMAR_NONE && p->place && p->place->file && p->place->line)
        return findings_text("%s %s:%u", p->name, p->place->file, p->place->line);
    return scope ? scope + 2 : p->name;
}

char *findings_path_stack(const struct findings_calltree *t, uint32_t i)
{
    uint32_t depth = t->path[i].depth, *chain = calloc(depth + (size_t)1, sizeof *chain);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (uint32_t n = depth + 1; n-- > 0; i = (uint32_t)t->path[i].parent)
        chain[n] = i;
    for (uint32_t n = depth ? 1 : 0; n <= depth; n++) {
        if (n > 1)
            fputc(';', out);
        for (const char *c = findings_line(findings_path_text(&t->path[chain[n]]), FINDINGS_TEXT); *c; c++)
            fputc(*c == ';' ? ':' : *c, out);
    }
    fclose(out);
    free(chain);
    return text;
}
