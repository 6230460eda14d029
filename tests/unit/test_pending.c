/* SPDX-License-Identifier: MIT */
/* Messages and receives of the replay: what is found by key is what a walk through a plain list finds. */
#include <stdlib.h>

#include "replay/machine.h"
#include "tests/unit/unit.h"

enum { HOSTS = 2, MOST = 200 };

/* A list as it is meant: in order, walked. */
struct plain { uint32_t item[MOST], count; };

static struct replay_machine *machine(uint32_t hosts)
{
    struct replay_machine *m = calloc(1, sizeof *m);
    m->host = calloc(hosts, sizeof *m->host);
    m->item_free = REPLAY_NONE;
    return m;
}

static void destroy(struct replay_machine *m, uint32_t hosts)
{
    for (uint32_t h = 0; h < hosts; h++)
        for (int list = 0; list < REPLAY_LISTS; list++)
            free(m->host[h].list[list].entry);
    base_hash_close(&m->keys);
    free(m->key);
    free(m->wide);
    free(m->item);
    free(m->host);
    free(m);
}

static uint32_t add(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t source, uint64_t tag)
{
    uint32_t i = replay_item_new(m);
    m->item[i] = (struct replay_item){ .source = source, .tag = tag };
    replay_list_add(m, host, list, i);
    return i;
}

static bool is_any(uint64_t tag)
{
    return (uint32_t)tag == REPLAY_TAG_ANY;
}

static bool tags_match(uint64_t a, uint64_t b)
{
    return a == b || ((is_any(a) || is_any(b)) && a >> 32 == b >> 32);
}

static uint32_t walk(const struct replay_machine *m, const struct plain *p, uint32_t source, uint64_t tag,
                     bool unclaimed)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const struct replay_item *i = &m->item[p->item[k]];
        bool sources = i->source == source || i->source == REPLAY_ANY || source == REPLAY_ANY;
        if (sources && tags_match(i->tag, tag) && !(unclaimed && i->claimed))
            return p->item[k];
    }
    return REPLAY_NONE;
}

static void drop(struct plain *p, uint32_t item)
{
    uint32_t k = 0;
    while (k < p->count && p->item[k] != item)
        k++;
    for (p->count--; k < p->count; k++)
        p->item[k] = p->item[k + 1];
}

static void same_order(const struct replay_machine *m, const struct replay_list *l, const struct plain *p)
{
    uint32_t at = l->begin;
    for (uint32_t k = 0; k < p->count; k++) {
        ck_assert_uint_eq(replay_list_next(l, &at), p->item[k]);
        ck_assert_uint_eq(m->item[p->item[k]].at, at - 1);
    }
    ck_assert_uint_eq(replay_list_next(l, &at), REPLAY_NONE);
    ck_assert_uint_eq(l->count, p->count);
}

static uint32_t below(uint64_t *random, uint32_t n)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % n;
}

static uint64_t some_tag(uint64_t *random)
{
    uint32_t comm = below(random, 2);
    if (!below(random, 12))
        return below(random, 3) ? replay_tag(comm, REPLAY_TAG_ANY) : REPLAY_TAG_COLLECTIVE | replay_tag(comm, 0);
    return replay_tag(comm, below(random, 4));
}

/* Of a message, or a receive: also from anyone, posted also for whom a wait names. */
static uint32_t some_source(uint64_t *random, bool receive)
{
    uint32_t s = below(random, receive ? 8 : 4);
    return s < 4 ? s : s == 4 ? REPLAY_ANY : s == 5 ? REPLAY_LATER : s - 4;
}

/* `named`: no message is of any tag. */
static void step(struct replay_machine *m, struct plain p[HOSTS][REPLAY_LISTS], uint64_t *random, uint32_t grows,
                 bool named)
{
    uint32_t host = below(random, HOSTS), list = below(random, REPLAY_LISTS), what = below(random, 10), i;
    uint64_t tag = some_tag(random);
    struct plain *l = &p[host][list];

    if (what < grows && l->count < MOST) {
        if (named && list == REPLAY_UNEXPECTED && is_any(tag))
            tag = replay_tag(0, 0);
        l->item[l->count++] = add(m, host, list, some_source(random, list == REPLAY_POSTED), tag);
    } else if (what < 8) {
        uint32_t source = some_source(random, list == REPLAY_UNEXPECTED), found = walk(m, l, source, tag, false);
        ck_assert_uint_eq(replay_list_take(m, host, list, source, tag), found);
        if (found != REPLAY_NONE) {
            drop(l, found);
            replay_item_free(m, found);
        }
    } else if (what == 8) {
        uint32_t source = below(random, 3) ? below(random, 4) : REPLAY_LATER;
        uint32_t found = walk(m, &p[host][REPLAY_POSTED], source, tag, true);
        ck_assert_uint_eq(replay_list_claim(m, host, source, tag), found);
    } else if (l->count) {
        i = l->item[below(random, l->count)];
        if (list == REPLAY_POSTED && m->item[i].source == REPLAY_LATER) {
            replay_list_name(m, host, i, some_source(random, false));
            ck_assert(!m->item[i].claimed);
        } else {
            drop(l, i);
            replay_list_remove(m, host, list, i);
        }
    }
}

START_TEST(what_is_found_is_the_first)
{
    struct replay_machine *m = machine(HOSTS);
    struct plain p[HOSTS][REPLAY_LISTS] = { 0 };
    uint64_t random = (uint64_t)_i + 1;

    for (uint32_t k = 0; k < 6000; k++) {
        step(m, p, &random, k / 500 % 2 ? 3 : 7, _i % 2); /* long lists, and short ones again */
        if (k % 100 == 0)
            for (int h = 0; h < HOSTS; h++)
                for (int list = 0; list < REPLAY_LISTS; list++)
                    same_order(m, &m->host[h].list[list], &p[h][list]);
    }
    destroy(m, HOSTS);
}
END_TEST

/* A walk for each would be 10^10 steps. */
START_TEST(many_are_found_at_once)
{
    enum { MESSAGES = 200000 };
    struct replay_machine *m = machine(1);

    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MESSAGES; i++)
            add(m, 0, REPLAY_UNEXPECTED, i % 7, i);
        for (uint32_t i = MESSAGES; i-- > 0;) {
            uint32_t found = replay_list_take(m, 0, REPLAY_UNEXPECTED, i % 7, i);
            ck_assert_uint_ne(found, REPLAY_NONE);
            replay_item_free(m, found);
        }
        for (uint32_t i = 0; i < MESSAGES; i++)
            add(m, 0, REPLAY_UNEXPECTED, i, i);
        for (uint32_t i = MESSAGES; i-- > 0;) {
            uint32_t found = i % 2 ? replay_list_take(m, 0, REPLAY_UNEXPECTED, REPLAY_ANY, i)
                                   : replay_list_take(m, 0, REPLAY_UNEXPECTED, i, replay_tag(0, REPLAY_TAG_ANY));
            ck_assert_uint_ne(found, REPLAY_NONE);
            replay_item_free(m, found);
        }
        for (uint32_t i = 0; i < MESSAGES; i++)
            add(m, 0, REPLAY_POSTED, 1, 64);
        for (uint32_t i = 0; i < MESSAGES; i++)
            ck_assert_uint_ne(replay_list_claim(m, 0, 1, 64), REPLAY_NONE);
        for (uint32_t i = 0; i < MESSAGES; i++)
            replay_item_free(m, replay_list_take(m, 0, REPLAY_POSTED, 1, 64));
    }
    destroy(m, 1);
}
END_TEST

/* Tags that never come again do not stay. */
START_TEST(empty_keys_are_given_up)
{
    struct replay_machine *m = machine(1);

    for (uint32_t i = 0; i < 33; i++)
        add(m, 0, REPLAY_UNEXPECTED, 0, 1);
    for (uint32_t i = 2; i < 100000; i++) {
        add(m, 0, REPLAY_UNEXPECTED, 0, i);
        replay_item_free(m, replay_list_take(m, 0, REPLAY_UNEXPECTED, 0, i));
    }
    ck_assert_uint_lt(m->key_count, 2000);
    ck_assert_uint_eq(m->keys_used, 1);
    destroy(m, 1);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(what_is_found_is_the_first, 20),
        UNIT_TEST(many_are_found_at_once),
        UNIT_TEST(empty_keys_are_given_up),
    };
    return unit_run("pending", tests, UNIT_COUNT(tests));
}
