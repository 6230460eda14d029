/* SPDX-License-Identifier: MIT */
/* Loops of graphs made at random (loops/forest.h) and of this program's own code (loops/function.h). */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/modules.h"
#include "code/leaves.h"
#include "code/step.h"
#include "loops/function.h"
#include "tests/unit/unit.h"

/* --- Graphs --- */

enum { MOST = 10, GRAPHS = 3000 };

struct graph {
    bool edge[MOST][MOST];
    uint32_t first[MOST + 1], to[MOST * MOST];
    struct loops_graph g;
    struct loops_forest f;
};

static void build(struct graph *g, uint32_t nodes)
{
    uint32_t n = 0;
    for (uint32_t a = 0; a < nodes; a++) {
        g->first[a] = n;
        for (uint32_t b = 0; b < nodes; b++)
            if (g->edge[a][b])
                g->to[n++] = b;
    }
    g->first[nodes] = n;
    g->g = (struct loops_graph){ g->first, g->to, nodes };
    loops_forest_make(&g->f, &g->g);
}

static void random_graph(struct graph *g, uint32_t nodes, unsigned density)
{
    memset(g, 0, sizeof *g);
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++)
            g->edge[a][b] = (unsigned)rand() % 100 < density;
    for (uint32_t b = 1; b < nodes; b++) /* node 0 leads to all */
        g->edge[(uint32_t)rand() % b][b] = true;
    build(g, nodes);
}

typedef bool cut_fn(const struct graph *, uint32_t, uint32_t);

static bool reaches(const struct graph *g, uint32_t from, uint32_t to, cut_fn *cut)
{
    bool seen[MOST] = { false };
    uint32_t stack[MOST * MOST], depth = 0;
    stack[depth++] = from;
    while (depth) {
        uint32_t a = stack[--depth];
        for (uint32_t b = 0; b < g->g.nodes; b++) {
            if (!g->edge[a][b] || (cut && cut(g, a, b)))
                continue;
            if (b == to)
                return true;
            if (!seen[b])
                stack[depth++] = b;
            seen[b] = true;
        }
    }
    return false;
}

static bool is_turn(const struct graph *g, uint32_t from, uint32_t to)
{
    for (int l = g->f.loop[from]; l >= 0; l = g->f.parent[l])
        if (g->f.head[l] == to)
            return true;
    return false;
}

START_TEST(parts_are_loops)
{
    srand(1);
    for (int i = 0; i < GRAPHS; i++) {
        struct graph g;
        random_graph(&g, 2 + (uint32_t)rand() % (MOST - 1), (unsigned)(i % 30));
        for (uint32_t a = 0; a < g.g.nodes; a++) {
            ck_assert_msg((g.f.loop[a] >= 0) == reaches(&g, a, a, NULL), "graph %d, node %u", i, a);
            ck_assert_msg(!reaches(&g, a, a, is_turn), "graph %d: a cycle without a turn at %u", i, a);
            for (uint32_t b = 0; b < g.g.nodes; b++) {
                bool both = reaches(&g, a, b, NULL) && reaches(&g, b, a, NULL);
                ck_assert_msg(a == b || (loops_forest_common(&g.f, a, b) >= 0) == both, "graph %d: %u and %u", i, a, b);
                if (a != b && g.edge[a][b] && !is_turn(&g, a, b))
                    ck_assert_uint_lt(g.f.order[a], g.f.order[b]);
            }
        }
        loops_forest_close(&g.f);
    }
}
END_TEST

/* Whether there is a way, of no edge at least, that does not pass `without`. */
static bool is_way(const struct graph *g, uint32_t from, uint32_t to, uint32_t without, bool *seen)
{
    if (from == without || seen[from])
        return false;
    seen[from] = true;
    if (from == to)
        return true;
    for (uint32_t b = 0; b < g->g.nodes; b++)
        if (g->edge[from][b] && is_way(g, b, to, without, seen))
            return true;
    return false;
}

static bool dominates(const struct graph *g, uint32_t dominator, uint32_t node)
{
    return !is_way(g, 0, node, dominator, (bool[MOST]){ false });
}

/* A node of the natural loop of `head`: it leads to a node with an edge back, not through the head. */
static bool is_in(const struct graph *g, uint32_t head, uint32_t node)
{
    for (uint32_t tail = 0; tail < g->g.nodes; tail++)
        if (g->edge[tail][head] && dominates(g, head, tail) &&
            (node == head || is_way(g, node, tail, head, (bool[MOST]){ false })))
            return true;
    return false;
}

/* The head of the innermost natural loop: all others around the node dominate it. */
static int natural_head(const struct graph *g, uint32_t node)
{
    int head = -1;
    for (uint32_t h = 0; h < g->g.nodes; h++)
        if (is_in(g, h, node) && (head < 0 || dominates(g, (uint32_t)head, h)))
            head = (int)h;
    return head;
}

static bool is_natural_turn(const struct graph *g, uint32_t from, uint32_t to)
{
    return dominates(g, to, from);
}

/* Where all cycles go around by edges back to what dominates them. */
START_TEST(natural_loops_are_the_same)
{
    int seen = 0;
    srand(2);
    for (int i = 0; i < GRAPHS; i++) {
        struct graph g;
        bool natural = true;
        random_graph(&g, 2 + (uint32_t)rand() % (MOST - 1), 12);
        for (uint32_t a = 0; a < g.g.nodes; a++)
            natural &= !reaches(&g, a, a, is_natural_turn);
        for (uint32_t b = 0; b < g.g.nodes && natural; b++)
            ck_assert_int_eq(natural_head(&g, b), g.f.loop[b] < 0 ? -1 : (int)g.f.head[g.f.loop[b]]);
        seen += natural;
        loops_forest_close(&g.f);
    }
    ck_assert_int_gt(seen, 300);
}
END_TEST

/* 0 -> 1 <-> 2 (a loop in which 1 leads out to 3), 3 <-> 4, all of it again from 5 to 1. */
START_TEST(a_way_without_a_turn)
{
    static const uint32_t edges[][2] = { { 0, 1 }, { 1, 2 }, { 2, 1 }, { 1, 3 },
                                         { 3, 4 }, { 4, 3 }, { 3, 5 }, { 5, 1 } };
    struct graph g = { 0 };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        g.edge[edges[i][0]][edges[i][1]] = true;
    build(&g, 6);
    ck_assert_int_eq(loops_forest_leads(&g.f, &g.g, 2, 5), 0); /* one head, one loop: 1 begins the next turn */
    ck_assert_int_eq(loops_forest_leads(&g.f, &g.g, 4, 5), 1); /* out of the loop at its head */
    ck_assert_int_eq(loops_forest_leads(&g.f, &g.g, 4, 4), 0);
    ck_assert_int_eq(loops_forest_leads(&g.f, &g.g, 5, 3), 0);
    loops_forest_close(&g.f);
}
END_TEST

/* --- Instructions, as an assembler writes them --- */

static const struct { uint16_t machine; const char *bytes; uint8_t length, op; uint64_t target; } insns[] = {
    { EM_X86_64, "\xe8\x10\0\0\0", 5, CODE_CALL, 0x1015 },
    { EM_X86_64, "\x66\x48\xe8\x10\0\0\0", 7, CODE_CALL, 0x1017 },
    { EM_X86_64, "\x75\xfe", 2, CODE_BRANCH, 0x1000 },
    { EM_X86_64, "\x0f\x84\0\x01\0\0", 6, CODE_BRANCH, 0x1106 },
    { EM_X86_64, "\xeb\x10", 2, CODE_JUMP, 0x1012 },
    { EM_X86_64, "\x3e\xff\xe0", 3, CODE_JUMP_ANY, 0 },              /* notrack jmp *%rax */
    { EM_X86_64, "\xff\x25\x10\0\0\0", 6, CODE_JUMP_SLOT, 0x1016 },
    { EM_X86_64, "\x64\xff\x25\x10\0\0\0", 7, CODE_JUMP_ANY, 0 }, /* a thread's, not the module's */
    { EM_X86_64, "\xff\x15\x10\0\0\0", 6, CODE_CALL_SLOT, 0x1016 },
    { EM_X86_64, "\x41\xff\x54\x24\x10", 5, CODE_CALL_ANY, 0 },      /* call *16(%r12) */
    { EM_X86_64, "\xf3\xc3", 2, CODE_RETURN, 0 },
    { EM_X86_64, "\x0f\x0b", 2, CODE_TRAP, 0 },
    { EM_X86_64, "\x48\x8d\x3d\x10\0\0\0", 7, CODE_OTHER, 0x1017 },     /* lea 16(%rip),%rdi */
    { EM_X86_64, "\x48\xb8\1\2\3\4\5\6\7\x8", 10, CODE_OTHER, 0 },      /* movabs */
    { EM_X86_64, "\x66\xc7\x44\x24\x08\1\2", 7, CODE_OTHER, 0 },        /* movw $.,8(%rsp) */
    { EM_X86_64, "\xf7\x05\x10\0\0\0\1\2\3\4", 10, CODE_OTHER, 0 },     /* testl $.,16(%rip) */
    { EM_X86_64, "\xf7\xd8", 2, CODE_OTHER, 0 },                        /* neg %eax */
    { EM_X86_64, "\xc5\xf9\x70\xc8\x4e", 5, CODE_OTHER, 0 },            /* vpshufd $78,%xmm0,%xmm1 */
    { EM_X86_64, "\xc4\xe3\x7d\x19\xc1\1", 6, CODE_OTHER, 0 },          /* vextractf128 $1,%ymm0,%xmm1 */
    { EM_X86_64, "\x62\xf1\xfd\x48\x28\x44\x24\1", 8, CODE_OTHER, 0 },  /* vmovapd 64(%rsp),%zmm0 */
    { EM_X86_64, "\x06", 1, CODE_BAD, 0 },
    { EM_AARCH64, "\xff\xff\xff\x97", 4, CODE_CALL, 0xffc },
    { EM_AARCH64, "\x02\0\0\x14", 4, CODE_JUMP, 0x1008 },
    { EM_AARCH64, "\xe1\xff\xff\x54", 4, CODE_BRANCH, 0xffc },       /* b.ne .-4 */
    { EM_AARCH64, "\xeb\xff\xff\x54", 4, CODE_BRANCH, 0xffc },       /* b.lt .-4: each condition is one */
    { EM_AARCH64, "\xe8\xff\xff\x54", 4, CODE_BRANCH, 0xffc },
    { EM_AARCH64, "\xec\xff\xff\x54", 4, CODE_BRANCH, 0xffc },
    { EM_AARCH64, "\xee\xff\xff\x54", 4, CODE_JUMP, 0xffc },         /* b.al .-4 */
    { EM_AARCH64, "\x60\0\0\xb4", 4, CODE_BRANCH, 0x100c },          /* cbz x0, .+12 */
    { EM_AARCH64, "\x40\0\x18\x37", 4, CODE_BRANCH, 0x1008 },        /* tbnz w0, #3, .+8 */
    { EM_AARCH64, "\0\x02\x1f\xd6", 4, CODE_JUMP_ANY, 0 },
    { EM_AARCH64, "\x20\0\x3f\xd6", 4, CODE_CALL_ANY, 0 },
    { EM_AARCH64, "\xc0\x03\x5f\xd6", 4, CODE_RETURN, 0 },
    { EM_AARCH64, "\x90\0\0\x90\x11\x02\x40\xf9\x10\x02\0\x91\x20\x02\x1f\xd6", 16, CODE_JUMP_SLOT, 0x11000 },
    { EM_AARCH64, "\x20\0\x20\xd4", 4, CODE_TRAP, 0 },
};

START_TEST(instructions)
{
    uint8_t code[16] = { 0 };
    memcpy(code, insns[_i].bytes, insns[_i].length);
    struct code_step i = code_step_at(insns[_i].machine, code, sizeof code, 0x1000);
    ck_assert_msg(i.length == insns[_i].length && i.op == insns[_i].op && i.target == insns[_i].target,
                  "instruction %d: %u bytes, op %u, to %#llx", _i, i.length, i.op, (unsigned long long)i.target);
    for (size_t size = 0; size < (insns[_i].machine == EM_AARCH64 ? 4 : insns[_i].length); size++)
        ck_assert_uint_eq(code_step_at(insns[_i].machine, code, size, 0x1000).op, CODE_BAD);
}
END_TEST

START_TEST(names_of_what_does_not_come_back)
{
    ck_assert_int_eq(code_leaves("MPI_Abort"), CODE_EXITS);
    ck_assert_int_eq(code_leaves("_gfortran_os_error_at"), CODE_EXITS);
    ck_assert_int_eq(code_leaves("_ZSt24__throw_out_of_range_fmtPKcz"), CODE_THROWS);
    ck_assert_int_eq(code_leaves("siglongjmp"), CODE_JUMPS_AWAY);
    ck_assert_int_eq(code_leaves("exit_group"), CODE_COMES_BACK);
    ck_assert_int_eq(code_leaves("MPI_Send"), CODE_COMES_BACK);
}
END_TEST

/* --- This program's own code --- */

static uint64_t at[8];
static volatile int never, two = 2, five = 5;

__attribute__((noinline)) static void here(int i)
{
    (void)base_modules_find(__builtin_extract_return_addr(__builtin_return_address(0)), &at[i]);
    __asm__ volatile("");
}

__attribute__((noinline)) static void die(void)
{
    exit(1);
}

__attribute__((noinline)) static void nested(int n)
{
    here(0);
    for (int i = 0; i < n; i++) {
        here(1);
        for (int k = 0; k < n; k++) {
            if (never)
                die(); /* leads nowhere: not on to what stands next */
            here(2);
        }
        here(3);
    }
    here(4);
    __asm__ volatile("");
}

__attribute__((noinline)) static void choices(int n)
{
    for (int i = 0; i < n; i++) {
        switch (i * 7 % 5) {
        case 0: here(0); break;
        case 1: here(1); never = 0; break;
        case 2: here(2); never = i & 0; break;
        case 3: never = 0; here(3); break;
        default: here(4); here(5);
        }
        here(6);
    }
    here(7);
    __asm__ volatile("");
}

#ifdef __x86_64__
static uint64_t pad, aside;

/* What an exception enters, as far as the code tells nobody, stands among the cases of a switch. */
__attribute__((noinline)) static void with_a_pad(int n)
{
    for (int i = 0; i < n; i++) {
        void *address, *other;
        switch (i * 7 % 11) {
        case 0: here(0); break;
        case 1: here(1); never = 0; break;
        case 2: here(2); never = i & 0; break;
        case 3: never = 0; here(3); break;
        case 4: here(4); here(3); break;
        case 5: never = 0; never = 0; break;
        case 6: here(5); here(2); break;
        case 7: here(5); here(1); here(0); break;
        case 8: here(4); never = i & 0; break;
        default: here(4); here(5);
        }
        __asm__ volatile("leaq 2f(%%rip), %0\n\tleaq 1f(%%rip), %1\n\tjmp 1f\n"
                         "2:\taddl $1, %%eax\n\tjmp 1f\n1:\taddl $1, %%eax"
                         : "=r"(address), "=r"(other) : : "eax", "cc");
        (void)base_modules_find(address, &pad);
        (void)base_modules_find(other, &aside);
        here(6);
    }
    here(7);
    __asm__ volatile("");
}
#endif

static struct loops_code *own_code(void)
{
    struct base_module m;
    ck_assert_int_eq(base_modules_program(&m), 0);
    return loops_code_open(m.path, m.build_id);
}

static int loop_at(const struct loops_function *f, int i)
{
    return f->forest.loop[loops_function_node(f, at[i] - 1)];
}

#if defined __x86_64__ || defined __aarch64__
START_TEST(loops_of_code)
{
    nested(two);
    struct loops_code *c = own_code();
    ck_assert_ptr_nonnull(c);
    const struct loops_function *f = loops_code_function(c, at[0] - 1);
    ck_assert_ptr_nonnull(f);
    int outer = loop_at(f, 1), inner = loop_at(f, 2);
    ck_assert_int_eq(loop_at(f, 0), -1);
    ck_assert_int_eq(loop_at(f, 4), -1);
    ck_assert_int_ge(outer, 0);
    ck_assert_int_eq(loop_at(f, 3), outer);
    ck_assert_int_ne(inner, outer);
    ck_assert_int_eq(f->forest.parent[inner], outer);
    ck_assert_int_eq(f->forest.parent[outer], -1);
    static const struct { int from, to; bool leads; } ways[] = {
        { 0, 1, true }, { 1, 2, true }, { 2, 3, true }, { 3, 4, true }, { 0, 4, true }, { 2, 4, true },
        { 2, 2, false }, { 3, 1, false }, { 3, 2, false }, { 2, 1, false }, { 4, 0, false }, { 1, 3, true },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        ck_assert_msg(loops_function_leads(f, at[ways[i].from] - 1, at[ways[i].to] - 1) == ways[i].leads, "%d to %d",
                      ways[i].from, ways[i].to);
    loops_code_close(c);
}
END_TEST

/* Two cases of one switch are not on one way. */
START_TEST(a_switch_in_a_loop)
{
    choices(five);
    struct loops_code *c = own_code();
    const struct loops_function *f = loops_code_function(c, at[7] - 1);
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(loop_at(f, 7), -1);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_ge(loop_at(f, i), 0);
        ck_assert_int_eq(loop_at(f, i), loop_at(f, 6));
        ck_assert(loops_function_leads(f, at[i] - 1, at[6] - 1));
        ck_assert(!loops_function_leads(f, at[6] - 1, at[i] - 1));
        for (int k = 0; k < 5; k++)
            ck_assert_msg(i == k || i == 5 || !loops_function_leads(f, at[i] - 1, at[k] - 1), "%d to %d", i, k);
    }
    ck_assert(loops_function_leads(f, at[4] - 1, at[5] - 1));
    loops_code_close(c);
}
END_TEST
#endif

#ifdef __x86_64__
START_TEST(a_switch_leads_to_its_cases_only)
{
    with_a_pad(11);
    struct loops_code *c = own_code();
    const struct loops_function *f = loops_code_function(c, at[7] - 1);
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(loop_at(f, i), loop_at(f, 6));
    ck_assert_int_ge(f->forest.loop[loops_function_node(f, aside)], 0);
    ck_assert_int_eq(f->forest.loop[loops_function_node(f, pad)], -1);
    loops_code_close(c);
}
END_TEST
#endif

START_TEST(another_build_is_not_read)
{
    struct base_module m;
    ck_assert_int_eq(base_modules_program(&m), 0);
    m.build_id[0] = m.build_id[0] == '0' ? '1' : '0';
    ck_assert_ptr_null(loops_code_open(m.path, m.build_id));
    ck_assert_ptr_null(loops_code_open("/nowhere", m.build_id));
    ck_assert_ptr_null(loops_code_open("/dev/null", m.build_id));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(parts_are_loops), UNIT_TEST(natural_loops_are_the_same), UNIT_TEST(a_way_without_a_turn),
        UNIT_LOOP(instructions, (int)UNIT_COUNT(insns)),
        UNIT_TEST(names_of_what_does_not_come_back),
#if defined __x86_64__ || defined __aarch64__
        UNIT_TEST(loops_of_code), UNIT_TEST(a_switch_in_a_loop),
#ifdef __x86_64__
        UNIT_TEST(a_switch_leads_to_its_cases_only),
#endif
#endif
        UNIT_TEST(another_build_is_not_read),
    };
    return unit_run("loops/function", tests, UNIT_COUNT(tests));
}
