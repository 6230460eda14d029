/* SPDX-License-Identifier: MIT */
/*
 * Messages that are there and receives that are posted, in order, and by whom they are from and their tag.
 *
 *     list of rank 3's receives   a - b . c - d . e          in order; what was taken out left a hole
 *     (3, from 1, tag 7)          a - - - c - - - e          those of one key, in order
 *     (3, from 2, tag 7)              b - - - d
 *
 * A list is an array of what is looked for, so that a short one is walked within a few lines of the cache. When it is
 * long it gets the keys, and keeps them until it is empty. A message looks in its own key, and where receives from
 * anyone or of any tag are posted in theirs: of what these give the first one in the list's order is it. Once a receive
 * from anyone or of any tag looks in a long list of messages, each of these is also in the chains of such keys: (from
 * anyone, tag 7), (from 1, any tag), (from anyone, any tag).
 *
 * Keys whose lists are empty are given up when they are as many as the others.
 */

#include "base/array.h"
#include "base/must.h"
#include "replay/machine.h"

enum { KEYS_KEPT = 1024, SHORT = 32 /* a list: walked as fast */ };

uint32_t replay_item_new(struct replay_machine *m)
{
    if (m->item_free != REPLAY_NONE) {
        uint32_t i = m->item_free;
        m->item_free = m->item[i].link.next;
        return i;
    }
    base_must(base_array_room(&m->item, &m->item_room, m->item_count + 1u, sizeof *m->item));
    return m->item_count++;
}

void replay_item_free(struct replay_machine *m, uint32_t i)
{
    m->item[i].link.next = m->item_free;
    m->item_free = i;
}

static bool is_any_tag(uint64_t tag)
{
    return (uint32_t)tag == REPLAY_TAG_ANY;
}

static uint64_t any_tag_of(uint64_t tag)
{
    return tag | REPLAY_TAG_ANY;
}

static bool same_tag(uint64_t a, uint64_t b)
{
    return a == b || ((is_any_tag(a) || is_any_tag(b)) && (a ^ b) >> 32 == 0);
}

static bool matches(const struct replay_entry *e, uint32_t source, uint64_t tag)
{
    return same_tag(e->tag, tag) && (e->source == source || e->source == REPLAY_ANY || source == REPLAY_ANY);
}

/* Whether what is in a list, or looked for there, may match what has another key. */
static bool is_wild(uint32_t source, uint64_t tag)
{
    return source == REPLAY_ANY || is_any_tag(tag);
}

/* --- Keys --- */

/* By what an item is looked for: its own source and tag, or ANYONE, ANY_OF_TAG or both in their place. */
enum { ITSELF = 0, ANYONE = 1, ANY_OF_TAG = 2, BYS = 4 };

static struct replay_link *link_of(const struct replay_machine *m, uint32_t i, uint32_t by)
{
    return by == ITSELF ? &m->item[i].link : &m->wide[i * (BYS - 1) + by - 1];
}

/* By what those in the key's chain are there. */
static uint32_t by_of(const struct replay_key *k, int chain)
{
    if (chain != REPLAY_WIDE)
        return ITSELF;
    return (k->source == REPLAY_ANY ? ANYONE : 0) | (is_any_tag(k->tag) ? ANY_OF_TAG : 0);
}

/* How many of these there are: a collective's messages are of no other tag. */
static uint32_t bys_of(uint64_t tag)
{
    return tag & REPLAY_TAG_COLLECTIVE ? ANY_OF_TAG : BYS;
}

static uint64_t hash_of(uint32_t host, uint32_t source, uint64_t tag)
{
    return base_hash_mix(base_hash_mix(tag ^ base_hash_secret()) ^ ((uint64_t)source << 32 | host));
}

static struct replay_key *key_find(const struct replay_machine *m, uint64_t hash, uint32_t host, uint32_t source,
                                   uint64_t tag)
{
    uint32_t n = BASE_HASH_FIND(&m->keys, hash, i,
                                m->key[i].source == source && m->key[i].tag == tag && m->key[i].host == host);

    return n == BASE_HASH_NONE ? NULL : &m->key[n];
}

/* Keeps the keys of which something is there. */
static void keys_sweep(struct replay_machine *m)
{
    uint32_t kept = 0;

    base_hash_clear(&m->keys);
    for (uint32_t k = 0; k < m->key_count; k++) {
        if (!m->key[k].items)
            continue;
        m->key[kept] = m->key[k];
        for (int c = 0; c < REPLAY_CHAINS; c++) {
            uint32_t by = by_of(&m->key[kept], c);
            for (uint32_t i = m->key[kept].chain[c].first; i != REPLAY_NONE; i = link_of(m, i, by)->next)
                link_of(m, i, by)->key = kept;
        }
        base_hash_put(&m->keys, hash_of(m->key[kept].host, m->key[kept].source, m->key[kept].tag), kept);
        kept++;
    }
    m->key_count = kept;
}

static uint32_t key_of(struct replay_machine *m, uint32_t host, uint32_t source, uint64_t tag)
{
    uint64_t hash = hash_of(host, source, tag);
    struct replay_key *found = key_find(m, hash, host, source, tag);

    if (found)
        return (uint32_t)(found - m->key);
    if (m->key_count >= KEYS_KEPT && m->key_count >= 2 * m->keys_used)
        keys_sweep(m);
    base_must(base_hash_reserve(&m->keys, 1));
    base_must(base_array_room(&m->key, &m->key_room, m->key_count + 1u, sizeof *m->key));
    struct replay_key *k = &m->key[m->key_count];
    *k = (struct replay_key){ .host = host, .source = source, .tag = tag, .unclaimed = REPLAY_NONE };
    for (int c = 0; c < REPLAY_CHAINS; c++)
        k->chain[c] = (struct replay_chain){ REPLAY_NONE, REPLAY_NONE };
    base_hash_put(&m->keys, hash, m->key_count);
    return m->key_count++;
}

/* --- Lists --- */

/* Into a chain of a key, where its order says: it is the last one there but for a receive that was named late. */
static void chain_in(struct replay_machine *m, uint32_t host, int chain, uint32_t i, uint32_t by)
{
    uint32_t key = key_of(m, host, by & ANYONE ? REPLAY_ANY : m->item[i].source,
                          by & ANY_OF_TAG ? any_tag_of(m->item[i].tag) : m->item[i].tag);
    struct replay_chain *c = &m->key[key].chain[chain];
    uint32_t before = c->last;

    while (before != REPLAY_NONE && m->item[before].at > m->item[i].at)
        before = link_of(m, before, by)->before;
    uint32_t next = before == REPLAY_NONE ? c->first : link_of(m, before, by)->next;
    *link_of(m, i, by) = (struct replay_link){ .key = key, .next = next, .before = before };
    *(before == REPLAY_NONE ? &c->first : &link_of(m, before, by)->next) = i;
    *(next == REPLAY_NONE ? &c->last : &link_of(m, next, by)->before) = i;
    if (chain == REPLAY_POSTED && (next != REPLAY_NONE || m->key[key].unclaimed == REPLAY_NONE))
        m->key[key].unclaimed = next == REPLAY_NONE ? i : c->first;
    m->keys_used += m->key[key].items++ == 0;
}

static void chain_out(struct replay_machine *m, int chain, uint32_t i, uint32_t by)
{
    struct replay_link link = *link_of(m, i, by);
    struct replay_key *k = &m->key[link.key];
    struct replay_chain *c = &k->chain[chain];

    *(link.before == REPLAY_NONE ? &c->first : &link_of(m, link.before, by)->next) = link.next;
    *(link.next == REPLAY_NONE ? &c->last : &link_of(m, link.next, by)->before) = link.before;
    if (chain == REPLAY_POSTED && k->unclaimed == i)
        k->unclaimed = link.next;
    m->keys_used -= --k->items == 0;
}

/* Into the chains of the keys that mean it. */
static void wide_in(struct replay_machine *m, uint32_t host, uint32_t i)
{
    base_must(base_array_room(&m->wide, &m->wide_room, (i + 1u) * (BYS - 1u), sizeof *m->wide));
    for (uint32_t by = ITSELF + 1; by < bys_of(m->item[i].tag); by++)
        chain_in(m, host, REPLAY_WIDE, i, by);
}

static void wide_out(struct replay_machine *m, uint32_t i)
{
    for (uint32_t by = ITSELF + 1; by < bys_of(m->item[i].tag); by++)
        chain_out(m, REPLAY_WIDE, i, by);
}

/* What is from anyone or of any tag is in no other chain: among it a list is walked. */
static void index_in(struct replay_machine *m, uint32_t host, int list, uint32_t i)
{
    struct replay_list *l = &m->host[host].list[list];

    chain_in(m, host, list, i, ITSELF);
    if (is_wild(m->item[i].source, m->item[i].tag))
        l->wild++;
    else if (l->wide)
        wide_in(m, host, i);
}

static void index_out(struct replay_machine *m, uint32_t host, int list, uint32_t i)
{
    struct replay_list *l = &m->host[host].list[list];

    chain_out(m, list, i, ITSELF);
    if (is_wild(m->item[i].source, m->item[i].tag))
        l->wild--;
    else if (l->wide)
        wide_out(m, i);
}

/* Those of a list that has become long. */
static void index_all(struct replay_machine *m, uint32_t host, int list)
{
    struct replay_list *l = &m->host[host].list[list];

    l->indexed = true;
    for (uint32_t at = l->begin, i; (i = replay_list_next(l, &at)) != REPLAY_NONE;)
        index_in(m, host, list, i);
}

/* From now on those of the list are in the wide chains, too; none is from anyone or of any tag. */
static void widen(struct replay_machine *m, uint32_t host, int list)
{
    struct replay_list *l = &m->host[host].list[list];

    l->wide = true;
    for (uint32_t at = l->begin, i; (i = replay_list_next(l, &at)) != REPLAY_NONE;)
        wide_in(m, host, i);
}

/* Moves all to the front: there are no holes then. */
static void close_up(struct replay_machine *m, struct replay_list *l)
{
    uint32_t kept = 0;

    for (uint32_t at = l->begin; at < l->end; at++)
        if (l->entry[at].item != REPLAY_NONE) {
            m->item[l->entry[at].item].at = kept;
            l->entry[kept++] = l->entry[at];
        }
    l->begin = 0;
    l->end = kept;
}

void replay_list_add(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t i)
{
    struct replay_list *l = &m->host[host].list[list];
    struct replay_item *item = &m->item[i];

    if (l->end == l->room && l->count <= l->room / 2)
        close_up(m, l);
    base_must(base_array_room(&l->entry, &l->room, l->end + 1u, sizeof *l->entry));
    item->at = l->end++;
    l->entry[item->at] = (struct replay_entry){ .source = item->source, .tag = item->tag, .item = i };
    if (l->indexed)
        index_in(m, host, list, i);
    if (++l->count > SHORT && !l->indexed)
        index_all(m, host, list);
}

void replay_list_take_out(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t i)
{
    struct replay_list *l = &m->host[host].list[list];

    if (l->indexed)
        index_out(m, host, list, i);
    l->entry[m->item[i].at].item = REPLAY_NONE;
    if (--l->count == 0) {
        l->begin = l->end = 0;
        l->indexed = l->wide = false;
    }
    while (l->begin < l->end && l->entry[l->begin].item == REPLAY_NONE)
        l->begin++;
}

void replay_list_remove(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t i)
{
    replay_list_take_out(m, host, list, i);
    replay_item_free(m, i);
}

void replay_list_name(struct replay_machine *m, uint32_t host, uint32_t i, uint32_t source)
{
    struct replay_list *l = &m->host[host].list[REPLAY_POSTED];

    if (l->indexed)
        index_out(m, host, REPLAY_POSTED, i);
    m->item[i].source = l->entry[m->item[i].at].source = source;
    m->item[i].claimed = false;
    if (l->indexed)
        index_in(m, host, REPLAY_POSTED, i);
}

/* The first receive of the key that no message was sent for. */
static uint32_t first_unclaimed(const struct replay_machine *m, struct replay_key *k)
{
    while (k->unclaimed != REPLAY_NONE && m->item[k->unclaimed].claimed)
        k->unclaimed = m->item[k->unclaimed].link.next;
    return k->unclaimed;
}

static uint32_t find_by_walk(const struct replay_machine *m, const struct replay_list *l, uint32_t source, uint64_t tag,
                             bool unclaimed)
{
    for (uint32_t at = l->begin; at < l->end; at++) {
        const struct replay_entry *e = &l->entry[at];
        if (matches(e, source, tag) && e->item != REPLAY_NONE && !(unclaimed && m->item[e->item].claimed))
            return e->item;
    }
    return REPLAY_NONE;
}

/* The first message for a receive from anyone or of any tag. */
static uint32_t find_wide(struct replay_machine *m, uint32_t host, uint32_t source, uint64_t tag)
{
    if (!m->host[host].list[REPLAY_UNEXPECTED].wide)
        widen(m, host, REPLAY_UNEXPECTED);
    const struct replay_key *k = key_find(m, hash_of(host, source, tag), host, source, tag);
    return k ? k->chain[REPLAY_WIDE].first : REPLAY_NONE;
}

/* The first in the list that matches; `unclaimed`: that no other message was sent for. */
static uint32_t find(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t source, uint64_t tag,
                     bool unclaimed)
{
    const struct replay_list *l = &m->host[host].list[list];
    uint32_t first = REPLAY_NONE;

    if (l->indexed && list == REPLAY_UNEXPECTED && !l->wild && is_wild(source, tag))
        return find_wide(m, host, source, tag);
    if (!l->indexed || is_wild(source, tag))
        return find_by_walk(m, l, source, tag, unclaimed);
    const uint32_t bys = l->wild ? bys_of(tag) : ITSELF + 1;
    for (uint32_t by = ITSELF; by < bys; by++) {
        uint32_t s = by & ANYONE ? REPLAY_ANY : source;
        uint64_t t = by & ANY_OF_TAG ? any_tag_of(tag) : tag;
        struct replay_key *k = key_find(m, hash_of(host, s, t), host, s, t);
        uint32_t i = !k ? REPLAY_NONE : unclaimed ? first_unclaimed(m, k) : k->chain[list].first;
        if (i != REPLAY_NONE && (first == REPLAY_NONE || m->item[i].at < m->item[first].at))
            first = i;
    }
    return first;
}

uint32_t replay_list_take(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t source,
                          uint64_t tag)
{
    uint32_t i = find(m, host, list, source, tag, false);

    if (i != REPLAY_NONE)
        replay_list_take_out(m, host, list, i);
    return i;
}

uint32_t replay_list_claim(struct replay_machine *m, uint32_t host, uint32_t source, uint64_t tag)
{
    uint32_t i = find(m, host, REPLAY_POSTED, source, tag, true);

    if (i != REPLAY_NONE)
        m->item[i].claimed = true;
    return i;
}
