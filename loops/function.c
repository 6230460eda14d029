/* SPDX-License-Identifier: MIT */
#include "loops/function.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "base/python.h"
#include "code/leaves.h"
#include "code/step.h"
#include "loops/script.h"

enum { MOST_BYTES = 4 * LOOPS_MOST_INSNS, KNOWN = 256 /* a power of two */, SHORT_BYTES = 4096, MOST_CASES = 1024 };

struct loops_code {
    struct code_image image; /* of no bytes: a script */
    struct loops_function **function; /* by entry, in the order of reading; one that cannot be read has no blocks */
    uint32_t functions;
    struct { uint64_t target; bool returns; } known[KNOWN];
};

struct insn { uint64_t address, target; uint8_t length, op; bool leads /* somebody jumps here */; };

struct edge { uint32_t from, to; };

struct reading {
    struct loops_code *c;
    struct loops_function *f;
    struct insn *insn; /* by address */
    uint32_t insns, room;
    uint32_t *block;   /* of each instruction */
    uint32_t *first;   /* instruction of each block */
    uint64_t *named;   /* addresses that instructions compute, in order */
    uint32_t names;
    uint32_t blocks;
    struct edge *edge;
    uint32_t edges, edge_room;
    bool failed;
};

/* --- What never returns --- */

/* Whether a short function has anything that returns, or goes elsewhere. */
static bool has_return(const struct code_image *m, const struct code_range *r)
{
    uint64_t size = r->end - r->begin;
    const uint8_t *code = size > SHORT_BYTES ? NULL : code_image_at(m, r->begin, size);
    if (!code)
        return true;
    for (uint64_t at = 0; at < size;) {
        struct code_step i = code_step_at(m->machine, code + at, size - at, r->begin + at);
        bool out = i.op == CODE_JUMP && i.target - r->begin >= size;
        if (i.op == CODE_RETURN || i.op == CODE_JUMP_ANY || i.op == CODE_JUMP_SLOT || out ||
            (i.op == CODE_BRANCH && i.target - r->begin >= size))
            return true;
        at += i.length;
    }
    return false;
}

static bool look_returns(const struct code_image *m, uint64_t target)
{
    struct code_range r;
    uint64_t slot;
    const char *name = code_image_stub(m, target, &slot) ? code_image_slot(m, slot) : NULL;
    if (name)
        return code_leaves(name) == CODE_COMES_BACK;
    return !code_image_range(m, target, &r) || r.begin != target || has_return(m, &r);
}

static bool returns(struct loops_code *c, uint64_t target)
{
    uint32_t at = (uint32_t)(target * 0x9e3779b97f4a7c15u >> 40) & (KNOWN - 1);
    if (c->known[at].target != target) {
        c->known[at].target = target;
        c->known[at].returns = look_returns(&c->image, target);
    }
    return c->known[at].returns;
}

static bool call_ends(struct loops_code *c, const struct code_step *i)
{
    if (i->op == CODE_CALL)
        return !returns(c, i->target);
    const char *name = i->op == CODE_CALL_SLOT ? code_image_slot(&c->image, i->target) : NULL;
    return name && code_leaves(name) != CODE_COMES_BACK;
}

/* --- Instructions --- */

static bool is_inside(const struct loops_function *f, uint64_t address)
{
    for (uint32_t i = 0; i < f->ranges; i++)
        if (address >= f->range[i].begin && address < f->range[i].end)
            return true;
    return false;
}

/* Where a jump goes that leaves what is read: another part of the function is read, too. */
static void follow(struct reading *r, const struct code_step *i)
{
    struct code_range there;
    enum { MOST = sizeof r->f->range / sizeof *r->f->range };
    if ((i->op != CODE_JUMP && i->op != CODE_BRANCH) || is_inside(r->f, i->target) || r->f->ranges == MOST ||
        !code_image_range(&r->c->image, i->target, &there))
        return;
    if (there.part || there.begin != i->target) {
        r->f->range[r->f->ranges++] = there;
        return;
    }
    BASE_ADD(r->f->tail, r->f->tails, i->target);
}

static void read_range(struct reading *r, struct code_range range)
{
    uint64_t size = range.end - range.begin;
    const uint8_t *code = size <= MOST_BYTES ? code_image_at(&r->c->image, range.begin, size) : NULL;
    r->failed |= !code;
    for (uint64_t at = 0; at < size && !r->failed;) {
        struct code_step i = code_step_at(r->c->image.machine, code + at, size - at, range.begin + at);
        base_must(base_array_room(&r->insn, &r->room, (uint64_t)r->insns + 1, sizeof *r->insn));
        r->failed |= r->insns == LOOPS_MOST_INSNS - 1;
        if (code_op_calls(i.op) && call_ends(r->c, &i))
            i.op = CODE_TRAP;
        follow(r, &i);
        r->insn[r->insns++] = (struct insn){ .address = range.begin + at, .target = i.target, .length = i.length,
                                             .op = i.op };
        at += i.length;
    }
}

static int by_address(const void *x, const void *y)
{
    const struct insn *a = x, *b = y;
    return BASE_ORDER(a->address, b->address);
}

/* UINT32_MAX: no instruction begins there. */
static uint32_t insn_at(const struct reading *r, uint64_t address)
{
    uint32_t i = BASE_ARRAY_PLACE(r->insns, k, r->insn[k].address < address);
    return i < r->insns && r->insn[i].address == address ? i : UINT32_MAX;
}

/* --- Tables of jumps: 32-bit distances from where they stand --- */

/* The instruction that an entry leads to. */
static uint32_t case_of(const struct reading *r, uint64_t table, uint32_t entry)
{
    int32_t distance;
    const uint8_t *at = code_image_at(&r->c->image, table + 4ull * entry, sizeof distance);
    if (!at)
        return UINT32_MAX;
    memcpy(&distance, at, sizeof distance);
    uint64_t target = table + (uint64_t)(int64_t)distance;
    return is_inside(r->f, target) ? insn_at(r, target) : UINT32_MAX;
}

/* The table named last before an instruction; 0: none. *own: it is its own, no other computed jump stands between. */
static uint64_t table_before(const struct reading *r, uint32_t jump, bool *own)
{
    *own = true;
    for (uint32_t i = jump; i-- > 0; *own &= r->insn[i].op != CODE_JUMP_ANY)
        if (r->insn[i].op == CODE_OTHER && r->insn[i].target && !is_inside(r->f, r->insn[i].target) &&
            case_of(r, r->insn[i].target, 0) != UINT32_MAX)
            return r->insn[i].target;
    return 0;
}

static int by_number(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;
    return BASE_ORDER(*a, *b);
}

static void find_named(struct reading *r)
{
    r->named = malloc(r->insns * sizeof *r->named);
    for (uint32_t i = 0; i < r->insns; i++)
        if (r->insn[i].op == CODE_OTHER && r->insn[i].target)
            r->named[r->names++] = r->insn[i].target;
    if (r->names)
        qsort(r->named, r->names, sizeof *r->named, by_number);
}

static bool is_named(const struct reading *r, uint64_t address)
{
    uint32_t i = BASE_ARRAY_PLACE(r->names, k, r->named[k] < address);
    return i < r->names && r->named[i] == address;
}

/* Calls `visit` for each case of a computed jump. False: it may lead elsewhere, too. */
static bool visit_cases(struct reading *r, uint32_t jump, void (*visit)(struct reading *, uint32_t jump, uint32_t to))
{
    bool own;
    uint64_t table = table_before(r, jump, &own);
    uint32_t to, i = 0;
    for (; table && i < MOST_CASES && (to = case_of(r, table, i)) != UINT32_MAX; i++) {
        if (i && is_named(r, table + 4ull * i)) /* the next one begins */
            break;
        visit(r, jump, to);
    }
    return i > 0 && own;
}

/* --- Blocks and edges --- */

static void mark(struct reading *r, uint32_t jump, uint32_t to)
{
    (void)jump;
    r->insn[to].leads = true;
}

static void add_edge(struct reading *r, uint32_t from, uint32_t to)
{
    base_must(base_array_room(&r->edge, &r->edge_room, (uint64_t)r->edges + 1, sizeof *r->edge));
    r->edge[r->edges++] = (struct edge){ from, to };
}

static void add_case(struct reading *r, uint32_t jump, uint32_t to)
{
    add_edge(r, r->block[jump], r->block[to]);
}

static bool goes_on(uint8_t op)
{
    return op == CODE_OTHER || op == CODE_BRANCH || code_op_calls(op);
}

static bool follows(const struct reading *r, uint32_t i)
{
    return i + 1 < r->insns && r->insn[i + 1].address == r->insn[i].address + r->insn[i].length;
}

static void find_blocks(struct reading *r)
{
    for (uint32_t i = 0; i < r->insns; i++) {
        uint8_t op = r->insn[i].op;
        uint32_t to = op == CODE_JUMP || op == CODE_BRANCH ? insn_at(r, r->insn[i].target) : UINT32_MAX;
        if (to != UINT32_MAX)
            r->insn[to].leads = true;
        if (op == CODE_JUMP_ANY)
            (void)visit_cases(r, i, mark);
    }
    for (uint32_t i = 0; i < r->insns; i++) {
        uint8_t before = i ? r->insn[i - 1].op : CODE_RETURN;
        bool straight = before == CODE_OTHER || (code_op_calls(before));
        if (!i || r->insn[i].leads || r->insn[i].address == r->f->entry || !straight || !follows(r, i - 1))
            r->first[r->blocks++] = i;
        r->block[i] = r->blocks - 1;
    }
}

/* What is only there to have the next block begin at a round address. */
static bool is_padding(const struct reading *r, uint32_t block)
{
    static const uint8_t longest = 16;
    uint32_t end = block + 1 < r->blocks ? r->first[block + 1] : r->insns;
    for (uint32_t i = r->first[block]; i < end; i++)
        if (r->insn[i].op != CODE_OTHER || r->insn[i].target)
            return false;
    return r->insn[end - 1].address + r->insn[end - 1].length - r->insn[r->first[block]].address < longest;
}

/* Blocks that nothing enters are where those computed jumps lead that may lead elsewhere, if there are any; else
   exceptions do, by which no loop turns. */
static void guess_cases(struct reading *r, const uint32_t *jump, uint32_t jumps)
{
    bool *entered = jumps ? calloc(r->blocks, sizeof *entered) : NULL;
    for (uint32_t e = 0; entered && e < r->edges; e++)
        entered[r->edge[e].to] = true;
    for (uint32_t b = 0; entered && b < r->blocks; b++)
        if (!entered[b] && r->insn[r->first[b]].address != r->f->entry && !is_padding(r, b))
            for (uint32_t i = 0; i < jumps; i++)
                add_edge(r, jump[i], b);
    free(entered);
}

static void find_edges(struct reading *r)
{
    uint32_t *jump = malloc(((size_t)r->blocks + 1) * sizeof *jump), jumps = 0; /* blocks with such a one */
    for (uint32_t b = 0; b < r->blocks; b++) {
        uint32_t last = (b + 1 < r->blocks ? r->first[b + 1] : r->insns) - 1;
        const struct insn *i = &r->insn[last];
        uint32_t to = i->op == CODE_JUMP || i->op == CODE_BRANCH ? insn_at(r, i->target) : UINT32_MAX;
        if (goes_on(i->op) && follows(r, last))
            add_edge(r, b, b + 1);
        if (to != UINT32_MAX)
            add_edge(r, b, r->block[to]);
        if (i->op == CODE_JUMP_ANY && !visit_cases(r, last, add_case))
            jump[jumps++] = b;
    }
    guess_cases(r, jump, jumps);
    free(jump);
}

/* --- The function --- */

static int by_from(const void *x, const void *y)
{
    const struct edge *a = x, *b = y;
    return BASE_ORDER(a->from, b->from) ?: BASE_ORDER(a->to, b->to);
}

/* Blocks as nodes: the entry's and the first one change places. */
static void make_graph(struct reading *r, uint32_t entry)
{
    struct loops_function *f = r->f;
    uint32_t *first = calloc((size_t)r->blocks + 1, sizeof *first), *to = malloc(((size_t)r->edges + 1) * sizeof *to);
    f->graph = (struct loops_graph){ .first = first, .to = to, .nodes = r->blocks };
    f->block = malloc(r->blocks * sizeof *f->block);
    f->node = malloc(r->blocks * sizeof *f->node);
    for (uint32_t b = 0; b < r->blocks; b++) {
        f->node[b] = b == r->block[entry] ? 0 : b == 0 ? r->block[entry] : b;
        f->block[b] = r->insn[r->first[b]].address;
    }
    for (uint32_t e = 0; e < r->edges; e++)
        r->edge[e] = (struct edge){ f->node[r->edge[e].from], f->node[r->edge[e].to] };
    if (r->edges)
        qsort(r->edge, r->edges, sizeof *r->edge, by_from);
    for (uint32_t e = 0; e < r->edges; e++) {
        first[r->edge[e].from + 1]++;
        to[e] = r->edge[e].to;
    }
    for (uint32_t b = 0; b < r->blocks; b++)
        first[b + 1] += first[b];
    loops_forest_make(&f->forest, &f->graph);
}

/* The last instruction of each loop that leads to its head. */
static void find_turns(struct reading *r)
{
    struct loops_function *f = r->f;
    f->turn = calloc((size_t)f->forest.loops + 1, sizeof *f->turn);
    for (uint32_t b = 0; b < r->blocks; b++) {
        uint32_t last = (b + 1 < r->blocks ? r->first[b + 1] : r->insns) - 1, n = f->node[b];
        for (uint32_t e = f->graph.first[n]; e < f->graph.first[n + 1]; e++)
            for (int l = f->forest.loop[n]; l >= 0; l = f->forest.parent[l])
                if (f->forest.head[l] == f->graph.to[e] && r->insn[last].address > f->turn[l])
                    f->turn[l] = r->insn[last].address;
    }
}

static void read_function(struct reading *r)
{
    for (uint32_t i = 0; i < r->f->ranges && !r->failed; i++) /* grows as parts are met */
        read_range(r, r->f->range[i]);
    if (r->failed || !r->insns)
        return;
    qsort(r->insn, r->insns, sizeof *r->insn, by_address);
    uint32_t entry = insn_at(r, r->f->entry);
    if (entry == UINT32_MAX)
        return;
    r->block = malloc(r->insns * sizeof *r->block);
    r->first = malloc(r->insns * sizeof *r->first);
    find_named(r);
    find_blocks(r);
    find_edges(r);
    make_graph(r, entry);
    find_turns(r);
}

static void function_clear(struct loops_function *f)
{
    free((uint32_t *)f->graph.first);
    free((uint32_t *)f->graph.to);
    free(f->block);
    free(f->node);
    free(f->turn);
    free(f->tail);
    loops_forest_close(&f->forest);
}

/* Where a part's function begins: where its jumps lead. */
static void find_whole(struct loops_code *c, struct code_range *r)
{
    uint64_t size = r->end - r->begin < SHORT_BYTES ? r->end - r->begin : SHORT_BYTES;
    const uint8_t *code = r->part ? code_image_at(&c->image, r->begin, size) : NULL;
    struct code_range there;
    if (!code)
        return;
    for (uint64_t at = 0; at < size;) {
        struct code_step i = code_step_at(c->image.machine, code + at, size - at, r->begin + at);
        if ((i.op == CODE_JUMP || i.op == CODE_BRANCH) && code_image_range(&c->image, i.target, &there) &&
            !there.part && there.begin != i.target) {
            *r = there;
            return;
        }
        at += i.length;
    }
}

const struct loops_function *loops_code_function(struct loops_code *c, uint64_t address)
{
    struct code_range range, asked;
    if (!c->image.parts)
        return is_inside(c->function[0], address) ? c->function[0] : NULL;
    if (!code_image_range(&c->image, address, &range))
        return NULL;
    asked = range;
    find_whole(c, &range);
    for (uint32_t i = 0; i < c->functions; i++)
        if (c->function[i]->entry == range.begin)
            return c->function[i]->graph.nodes ? c->function[i] : NULL;
    struct loops_function *f = calloc(1, sizeof *f);
    BASE_ADD(c->function, c->functions, f);
    f->number = c->functions;
    f->entry = range.begin;
    f->range[f->ranges++] = range;
    if (asked.begin != range.begin)
        f->range[f->ranges++] = asked;
    struct reading r = { .c = c, .f = f };
    read_function(&r);
    free(r.insn);
    free(r.block);
    free(r.first);
    free(r.named);
    free(r.edge);
    return f->graph.nodes ? f : NULL;
}

/* One function, of the source. */
static struct loops_code *open_script(const char *path, const char *what)
{
    unsigned first = 0;
    char name[16] = "";
    struct loops_function *f = calloc(1, sizeof *f);
    struct loops_code *c = calloc(1, sizeof *c);
    sscanf(what, "%u:%15[^:]", &first, name);
    if (loops_script_read(path, first, !strcmp(name, "<module>"), f)) {
        BASE_ADD(c->function, c->functions, f);
        f->number = c->functions;
        return c;
    }
    free(f);
    free(c);
    return NULL;
}

struct loops_code *loops_code_open(const char *path, const char *build_id)
{
    if (!strncmp(build_id, BASE_PYTHON_ID, strlen(BASE_PYTHON_ID)))
        return open_script(path, build_id + strlen(BASE_PYTHON_ID));
    struct loops_code *c = calloc(1, sizeof *c);
    if (code_image_open(&c->image, path, build_id))
        return c;
    free(c);
    return NULL;
}

void loops_code_close(struct loops_code *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->functions; i++) {
        function_clear(c->function[i]);
        free(c->function[i]);
    }
    free(c->function);
    code_image_close(&c->image);
    free(c);
}

/* --- Places --- */

uint32_t loops_function_node(const struct loops_function *f, uint64_t address)
{
    uint32_t b = BASE_ARRAY_PLACE(f->graph.nodes, k, f->block[k] <= address);
    return b && is_inside(f, address) ? f->node[b - 1] : UINT32_MAX;
}

bool loops_function_leads(const struct loops_function *f, uint64_t from, uint64_t to)
{
    uint32_t a = loops_function_node(f, from), b = loops_function_node(f, to);
    if (a == UINT32_MAX || b == UINT32_MAX)
        return false;
    return (a == b && to > from) || loops_forest_leads(&f->forest, &f->graph, a, b);
}

bool loops_function_ends_in(const struct loops_function *f, uint64_t entry)
{
    for (uint32_t i = 0; i < f->tails; i++)
        if (f->tail[i] == entry)
            return true;
    return false;
}
