/* SPDX-License-Identifier: MIT */
#include "tests/unit/follower.h"

#include "tests/unit/audit.h"

#include "tests/unit/unit.h"

#include "tests/unit/audit.h"

uint64_t follower_seed;

uint64_t follower_random(uint64_t below)
{
    follower_seed = follower_seed * 6364136223846793005u + 1442695040888963407u;
    return (follower_seed >> 33) % below;
}

void follower_put(struct follower_list *l, uint32_t terminal)
{
    if (l->count < FOLLOWER_ROOM) {
        l->e[l->count].terminal = terminal;
        l->e[l->count].gap = 100 + 7 * terminal;
        l->e[l->count++].duration = 10 + terminal;
    }
}

/* A program: nested loops over random blocks. */
static void program(struct follower_list *l, int depth, uint32_t *seed_terminal)
{
    uint64_t parts = 1 + follower_random(4);

    for (uint64_t i = 0; i < parts; i++) {
        uint64_t turns = follower_random(3) ? 1 + follower_random(9) : 1, mark = follower_seed;
        uint32_t terminal = (uint32_t)follower_random(12) + *seed_terminal;
        for (uint64_t turn = 0; turn < turns && l->count < FOLLOWER_ROOM / 2; turn++) {
            follower_seed = mark; /* the same body in every turn */
            if (depth == 0 || follower_random(3) == 0)
                follower_put(l, terminal);
            else
                program(l, depth - 1, seed_terminal);
        }
    }
}

void follower_program(struct follower_list *l, unsigned seed)
{
    uint32_t base = 0;

    follower_seed = seed;
    l->count = 0;
    while (l->count < 200)
        program(l, 3, &base);
}

void follower_open_options(struct follower *f, const struct follower_list *l, const struct oracle_options *options)
{
    struct grammar *g = grammar_create(64 << 20);
    const struct oracle_index *one;

    for (uint32_t i = 0; i < l->count; i++) {
        struct grammar_event e = { .terminal = l->e[i].terminal, .gap = l->e[i].gap, .duration = l->e[i].duration };
        grammar_append(g, &e);
    }
    f->g = grammar_freeze(g);
    grammar_destroy(g);
    one = f->x = oracle_index_create(f->g);
    f->o = oracle_create(&one, NULL, 1, options);
    ck_assert_ptr_nonnull(f->o);
}

void follower_open(struct follower *f, const struct follower_list *l)
{
    follower_open_options(f, l, NULL);
}

void follower_close(struct follower *f)
{
    oracle_destroy(f->o);
    oracle_index_destroy(f->x);
    grammar_flat_destroy(f->g);
}

void follower_audit(const struct oracle *o, unsigned seed, uint32_t at)
{
    char why[200];
    if (audit_oracle(o, why, sizeof why) != 0)
        ck_abort_msg("seed %u, event %u: %s", seed, at, why);
}

void follower_follow(struct follower *f, const struct follower_list *l, uint32_t i)
{
    oracle_follow(f->o, l->e[i].terminal, l->e[i].gap, l->e[i].duration);
}
