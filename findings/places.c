/* SPDX-License-Identifier: MIT */
#include "findings/places.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/resolve.h"
#include "job/schema.h"
#include "loops/function.h"

struct reading {
    const struct job *j;
    struct job made;          /* its places alone */
    struct loops_code **code; /* of each module; NULL: not read, or not yet */
    bool *tried, interpreted;
    uint64_t limit, began;
    struct job *into;         /* where names go */
    struct findings_resolver *resolver;
    bool *named;
};

static uint64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_late(const struct reading *r)
{
    return r->limit && processor_ns() - r->began > r->limit;
}

/* --- Looking --- */

static int place_order(const struct job_place *p, uint32_t module, uint64_t offset, uint32_t kind)
{
    return BASE_ORDER(p->module, module) ?: BASE_ORDER(p->offset, offset) ?: BASE_ORDER(p->kind, kind);
}

const struct job_place *findings_places_find(const struct job_places *p, uint32_t module, uint64_t offset,
                                             enum job_place_kind kind)
{
    uint32_t n = BASE_ARRAY_PLACE(p->place_count, i, place_order(&p->place[i], module, offset, kind) < 0);
    const struct job_place *found = n < p->place_count ? &p->place[n] : NULL;
    bool same = found && found->module == module && found->offset == offset;
    return same && (found->kind == kind || kind == JOB_PLACE_ENTRY) ? found : NULL;
}

const struct job_spot *findings_places_spot(const struct job *j, uint32_t module, uint64_t offset)
{
    return job_rows_find(j, JOB_TABLE_SPOTS, &(struct job_spot){ .module = module, .offset = offset });
}

bool findings_places_lead(const struct job_places *p, const struct job_place *from, const struct job_place *to)
{
    for (uint32_t i = 0; i < from->way_count; i++)
        if (p->way[from->way_first + i].to == to - p->place)
            return true;
    return false;
}

bool findings_places_known(const struct job *j)
{
    for (uint32_t i = 0; i < j->hops.stop_count; i++) {
        const struct job_callsite c = job_named_without(j, j->hops.stop[i].path);
        for (uint32_t k = 0; k < c.count; k++) {
            const struct job_frame *f = &j->frames[c.first + k];
            if (!findings_places_find(&j->places, f->module, f->offset, JOB_PLACE_CALL))
                return false;
        }
    }
    return j->places.place_count > 0;
}

/* --- Code --- */

/* Compiled for whom it interprets: loops of the machine's code are not the program's. */
static bool is_interpreted(const struct job *j)
{
    for (uint32_t i = 0; i < j->module_count; i++)
        if (findings_interpreter(job_text(j, j->modules[i].path)) || findings_is_script(j, i))
            return true;
    return false;
}

/* Of the call, not where it returns to. */
static uint64_t address_of(const struct reading *r, const struct job_place *p)
{
    return p->offset - (p->kind == JOB_PLACE_CALL && !findings_is_script(r->j, p->module));
}

/* A runtime's is not read: its threads wait in loops that are not the program's. */
static const struct loops_function *function_at(struct reading *r, uint32_t module, uint64_t address)
{
    const struct job_module *m = &r->j->modules[module];
    bool program = r->interpreted ? findings_is_script(r->j, module) : !findings_is_runtime(job_text(r->j, m->path));
    if (!r->tried[module] && program)
        r->code[module] = loops_code_open(job_text(r->j, m->path), job_text(r->j, m->build_id));
    r->tried[module] = true;
    return r->code[module] ? loops_code_function(r->code[module], address) : NULL;
}

static uint32_t level_of(const struct loops_function *f, int loop)
{
    uint32_t level = 0;
    while ((loop = f->forest.parent[loop]) >= 0)
        level++;
    return level;
}

static struct job_place place_of_loop(const struct loops_function *f, uint32_t module, int loop)
{
    return (struct job_place){ .module = module, .kind = JOB_PLACE_LOOP + level_of(f, loop), .offset = f->turn[loop],
                               .function = GRAMMAR_NONE, .path = GRAMMAR_NONE, .code = f->number,
                               .around = GRAMMAR_NONE };
}

/* The innermost loop around a place: for one that is a loop itself, that. */
static int loop_at(const struct reading *r, const struct loops_function *f, const struct job_place *p)
{
    uint32_t node = loops_function_node(f, address_of(r, p));
    int loop = node == UINT32_MAX ? -1 : f->forest.loop[node];
    while (loop >= 0 && p->kind >= JOB_PLACE_LOOP && JOB_PLACE_LOOP + level_of(f, loop) != p->kind)
        loop = f->forest.parent[loop];
    return loop;
}

static void add(struct reading *r, const struct job_place *p)
{
    struct job_places *to = &r->made.places;
    base_must(base_array_append(&to->place, &to->place_count, &to->place_room, p, 1, sizeof *p));
}

/* --- Places --- */

static void add_callsite(struct reading *r, uint32_t callsite, enum job_place_kind innermost)
{
    const struct job_callsite c = job_named_without(r->j, callsite);
    for (uint32_t k = 0; k < c.count; k++) {
        const struct job_frame *f = &r->j->frames[c.first + k];
        add(r, &(struct job_place){ .module = f->module, .offset = f->offset, .kind = k ? JOB_PLACE_CALL : innermost,
                                    .function = GRAMMAR_NONE, .path = GRAMMAR_NONE, .around = GRAMMAR_NONE });
    }
}

static enum job_place_kind kind_of(const struct job_terminal *t)
{
    return t->kind == JOB_REGION ? JOB_PLACE_ENTRY : JOB_PLACE_CALL;
}

/* Calls `visit` for each callsite that a report may ask for. */
static void visit_callsites(struct reading *r, void (*visit)(struct reading *, uint32_t, enum job_place_kind))
{
    const struct job *j = r->j;
    for (uint32_t i = 0; i < j->terminal_count; i++)
        visit(r, j->terminals[i].callsite, kind_of(&j->terminals[i]));
    for (uint32_t i = 0; i < j->hops.stop_count; i++)
        visit(r, j->hops.stop[i].path, JOB_PLACE_CALL);
    for (uint32_t i = 0; i < j->region_count; i++) {
        visit(r, j->regions[i].callsite, JOB_PLACE_ENTRY);
        visit(r, j->regions[i].where, JOB_PLACE_ENTRY);
    }
    for (uint32_t i = 0; i < j->task_count; i++)
        visit(r, j->tasks[i].callsite, JOB_PLACE_ENTRY);
}

static void settle(struct reading *r)
{
    base_must(job_rows_settle(&r->made, JOB_TABLE_PLACES));
}

/* False: it takes too long. */
static bool add_loops(struct reading *r)
{
    for (uint32_t i = 0, n = r->made.places.place_count; i < n; i++) {
        struct job_place p = r->made.places.place[i];
        if (is_late(r))
            return false;
        const struct loops_function *f = p.kind == JOB_PLACE_CALL ? function_at(r, p.module, address_of(r, &p)) : NULL;
        if (!f || loops_function_node(f, address_of(r, &p)) == UINT32_MAX)
            continue;
        r->made.places.place[i].code = f->number;
        for (int loop = loop_at(r, f, &p); loop >= 0; loop = f->forest.parent[loop]) {
            struct job_place around = place_of_loop(f, p.module, loop);
            add(r, &around);
        }
    }
    settle(r);
    return true;
}

static void nest(struct reading *r)
{
    for (uint32_t i = 0; i < r->made.places.place_count; i++) {
        struct job_place *p = &r->made.places.place[i];
        const struct loops_function *f = p->code ? function_at(r, p->module, address_of(r, p)) : NULL;
        int loop = f ? loop_at(r, f, p) : -1;
        if (loop >= 0 && p->kind >= JOB_PLACE_LOOP)
            loop = f->forest.parent[loop];
        if (loop < 0)
            continue;
        struct job_place key = place_of_loop(f, p->module, loop);
        p->around = (uint32_t)(findings_places_find(&r->made.places, key.module, key.offset, key.kind) -
                               r->made.places.place);
    }
}

/* --- Ways --- */

struct way { uint32_t from, to; };

BASE_COMPARISON(by_ends, struct way, BASE_UP(from) ?: BASE_UP(to))

/* The first frame, from the outermost one, in which two paths differ. False: they do not, as far as both go. */
static bool first_difference(const struct reading *r, uint32_t a, uint32_t b, struct way *w)
{
    const struct job_callsite x = job_named_without(r->j, a), y = job_named_without(r->j, b);
    for (uint32_t k = 1; k <= x.count && k <= y.count; k++) {
        const struct job_frame *f = &r->j->frames[x.first + x.count - k], *g = &r->j->frames[y.first + y.count - k];
        if (f->module == g->module && f->offset == g->offset)
            continue;
        const struct job_places *p = &r->made.places;
        w->from = (uint32_t)(findings_places_find(p, f->module, f->offset, JOB_PLACE_CALL) - p->place);
        w->to = (uint32_t)(findings_places_find(p, g->module, g->offset, JOB_PLACE_CALL) - p->place);
        return true;
    }
    return false;
}

static bool leads(struct reading *r, const struct way *w)
{
    const struct job_place *a = &r->made.places.place[w->from], *b = &r->made.places.place[w->to];
    if (a->kind >= JOB_PLACE_LOOP)
        return true;
    if (!a->code || !b->code || a->module != b->module)
        return false;
    const struct loops_function *f = function_at(r, a->module, address_of(r, a)),
                                *g = function_at(r, b->module, address_of(r, b));
    return f == g ? loops_function_leads(f, address_of(r, a), address_of(r, b)) : loops_function_ends_in(f, g->entry);
}

/* A loop that is entered at several places. */
static bool is_aside(struct reading *r, const struct job_place *p)
{
    const struct loops_function *f = p->kind < JOB_PLACE_LOOP ? NULL : function_at(r, p->module, p->offset);
    return f && loops_forest_aside(&f->forest, &f->graph, loop_at(r, f, p));
}

static void find_ways(struct reading *r)
{
    const struct job_hops *h = &r->j->hops;
    struct job_places *p = &r->made.places;
    BASE_OWN struct way *way = calloc((size_t)h->hop_count + p->place_count + 1, sizeof *way);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->place_count; i++)
        if (is_aside(r, &p->place[i]))
            way[n++] = (struct way){ i, i };
    for (uint32_t i = 0; i < h->hop_count; i++) {
        uint32_t a = h->hop[i].from == GRAMMAR_NONE ? GRAMMAR_NONE : h->stop[h->hop[i].from].path,
                 b = h->stop[h->hop[i].to].path;
        n += a != GRAMMAR_NONE && b != GRAMMAR_NONE && first_difference(r, a, b, &way[n]);
    }
    n = (uint32_t)BASE_ARRAY_JOIN(way, n, by_ends, into, from, ((void)into, (void)from));
    for (uint32_t i = 0; i < n; i++) {
        if (!leads(r, &way[i]))
            continue;
        struct job_place *from = &p->place[way[i].from];
        from->way_first = from->way_count++ ? from->way_first : p->way_count;
        base_must(base_array_append(&p->way, &p->way_count, &p->way_room, &(struct job_way){ way[i].to }, 1,
                                    sizeof *p->way));
    }
    for (uint32_t i = 0, next = 0; i < p->place_count; next += p->place[i++].way_count)
        p->place[i].way_first = next;
}

/* --- All --- */

void findings_places_free(struct job_places *p)
{
    free(p->place);
    free(p->way);
    memset(p, 0, sizeof *p);
}

bool findings_places_read(const struct job *j, uint64_t limit, struct job_places *made)
{
    struct reading r = { .j = j, .limit = limit, .began = limit ? processor_ns() : 0 };
    r.code = calloc((size_t)j->module_count + 1, sizeof *r.code);
    r.tried = calloc((size_t)j->module_count + 1, sizeof *r.tried);
    visit_callsites(&r, add_callsite);
    settle(&r);
    r.interpreted = is_interpreted(j);
    bool done = add_loops(&r);
    if (done) {
        nest(&r);
        find_ways(&r);
    }
    for (uint32_t i = 0; i < j->module_count; i++)
        loops_code_close(r.code[i]);
    free(r.code);
    free(r.tried);
    *made = r.made.places;
    if (!done || is_late(&r))
        findings_places_free(made);
    return made->place_count > 0;
}

/* --- Names --- */

static uint32_t kept_text(struct job *j, const char *text)
{
    uint32_t number = text ? job_string(j, text) : GRAMMAR_NONE;
    base_must(text && number == GRAMMAR_NONE);
    return number;
}

static bool name(struct reading *r, uint32_t i)
{
    struct job_place *to = &r->made.places.place[i];
    const struct findings_place *p;
    if (r->named[i])
        return to->in_main;
    p = findings_resolve_at(r->resolver, to->module, to->offset,
                            to->kind == JOB_PLACE_CALL ? FINDINGS_CALL : FINDINGS_ENTRY);
    to->function = kept_text(r->into, p->symbol);
    to->path = kept_text(r->into, p->path);
    to->line = p->line;
    to->within = (uint32_t)p->within;
    to->in_main = p->in_main;
    r->named[i] = true;
    return to->in_main;
}

/* From the innermost frame up to main: above it there is only what started the program. */
static void name_callsite(struct reading *r, uint32_t callsite, enum job_place_kind kind)
{
    const struct job_callsite c = job_named_without(r->j, callsite);
    bool in_main = false;
    for (uint32_t k = 0; k < c.count && !in_main && !is_late(r); k++, kind = JOB_PLACE_CALL) {
        const struct job_frame *f = &r->j->frames[c.first + k];
        in_main = name(r, (uint32_t)(findings_places_find(&r->made.places, f->module, f->offset, kind) -
                                     r->made.places.place));
    }
}

static void name_samples(struct reading *r)
{
    const struct job_inside_list *in = &r->j->inside;
    for (uint32_t i = 0; i < in->count && !is_late(r); i++) {
        struct job_spot spot = { .module = in->of[i].module, .offset = in->of[i].offset };
        if (spot.module == GRAMMAR_NONE || findings_places_spot(&r->made, spot.module, spot.offset))
            continue;
        const struct findings_place *p = findings_resolve_at(r->resolver, spot.module, spot.offset, FINDINGS_SAMPLE);
        spot.function = kept_text(r->into, p->symbol);
        spot.path = kept_text(r->into, p->path);
        spot.line = p->line;
        spot.within = (uint32_t)p->within;
        spot.inlined = kept_text(r->into, p->inlined);
        base_must(job_rows_add(&r->made, JOB_TABLE_SPOTS, &spot));
    }
}

static void name_all(struct reading *r)
{
    uint32_t n = r->made.places.place_count;
    r->resolver = findings_resolver_create(r->j);
    r->named = calloc((size_t)n + 1, sizeof *r->named);
    visit_callsites(r, name_callsite);
    for (uint32_t i = 0; i < n && !is_late(r); i++)
        if (r->made.places.place[i].kind >= JOB_PLACE_LOOP)
            name(r, i);
    name_samples(r);
    findings_resolver_destroy(r->resolver);
    free(r->named);
}

/* Whether anything is said at all. */
static bool is_told(const struct job_places *p)
{
    for (uint32_t i = 0; i < p->place_count; i++)
        if (p->place[i].code || p->place[i].function != GRAMMAR_NONE || p->place[i].path != GRAMMAR_NONE)
            return true;
    return false;
}

bool findings_places_keep(struct job *j, uint64_t limit)
{
    struct reading r = { .j = j, .into = j, .limit = limit, .began = processor_ns() };
    if (findings_places_known(j) || !findings_places_read(j, limit, &r.made.places))
        return false;
    name_all(&r);
    if (is_late(&r) || !is_told(&r.made.places)) {
        findings_places_free(&r.made.places);
        free(r.made.spots.of);
        return false;
    }
    findings_places_free(&j->places);
    free(j->spots.of);
    j->places = r.made.places;
    j->spots = r.made.spots;
    return true;
}
