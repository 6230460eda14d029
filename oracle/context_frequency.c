/* SPDX-License-Identifier: MIT */
/* Reservoirs of places by context, and their votes. */
#include "grammar/flat.h"
#include "oracle/context_frequency.h"

enum { VOTES = 16 };

int oracle_frequency_create(struct oracle_frequency *s, struct base_arena *room, size_t memory, uint32_t turnover)
{
    uint64_t slots = ORACLE_FREQUENCY_SLOTS;

    while (2 * slots * sizeof *s->slot + ORACLE_FREQUENCY_CACHE * sizeof *s->kept <= memory)
        slots *= 2;
    s->mask = slots - 1;
    s->turnover = turnover;
    s->random = 1;
    s->slot = base_arena_take(room, slots * sizeof *s->slot);
    s->kept = base_arena_take(room, ORACLE_FREQUENCY_CACHE * sizeof *s->kept);
    return s->slot && s->kept ? 0 : -1;
}

static uint32_t random_below(struct oracle_frequency *s, uint32_t n)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((s->random >> 32) * n >> 32);
}

void oracle_frequency_add(struct oracle_frequency *s, uint64_t hash, uint32_t name)
{
    struct oracle_frequency_slot *slot = &s->slot[hash & s->mask];
    uint32_t tag = (uint32_t)(hash >> 32);

    if (slot->tag != tag || slot->seen == 0) {
        if (slot->seen > 1) { /* the rarer of two that collide gives way */
            slot->seen -= slot->seen < 64 ? 1 : slot->seen / 64;
            return;
        }
        *slot = (struct oracle_frequency_slot){ .tag = tag };
    }
    slot->seen += slot->seen < UINT32_MAX;
    if (slot->taken < ORACLE_FREQUENCY_ROOM) {
        slot->at[slot->taken++] = name;
        return;
    }
    uint32_t most = s->turnover * ORACLE_FREQUENCY_ROOM, among = slot->seen < most ? slot->seen : most;
    uint32_t which = random_below(s, among);
    if (which < ORACLE_FREQUENCY_ROOM) {
        slot->at[which] = name;
        slot->taken++;
    }
}

/* --- The question --- */

/* What is `distance` after the places of the sample, GRAMMAR_NONE where that is not known, and how many are known. */
static uint32_t read_places(const struct oracle_frequency_slot *slot, const struct oracle_history *t, uint64_t distance,
                            uint64_t *place, uint32_t *symbol)
{
    uint32_t known = 0, places = slot->taken < ORACLE_FREQUENCY_ROOM ? slot->taken : ORACLE_FREQUENCY_ROOM;

    for (uint32_t i = 0; i < places; i++)
        if (oracle_history_find(t, slot->at[i], &place[known]) && oracle_history_reaches(t, place[known], distance)) {
            symbol[known] = oracle_history_symbol(t, place[known] + distance);
            known++;
        }
    return known;
}

/* The most frequent of `n` symbols, of the first VOTES different ones. */
static uint32_t most_frequent(const uint32_t *symbol, uint32_t n, uint32_t *agreed)
{
    struct { uint32_t symbol, votes; } ballot[VOTES];
    uint32_t ballots = 0, best = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = 0;
        while (b < ballots && ballot[b].symbol != symbol[i])
            b++;
        if (b == VOTES)
            continue;
        if (b == ballots) {
            ballot[ballots].symbol = symbol[i];
            ballot[ballots++].votes = 0;
        }
        if (++ballot[b].votes > ballot[best].votes)
            best = b;
    }
    *agreed = ballots ? ballot[best].votes : 0;
    return ballots ? ballot[best].symbol : GRAMMAR_NONE;
}

static struct oracle_frequency_answer elect(const struct oracle_frequency_slot *slot, const struct oracle_history *t,
                                        uint64_t distance)
{
    uint64_t place[ORACLE_FREQUENCY_ROOM];
    uint32_t symbol[ORACLE_FREQUENCY_ROOM];
    struct oracle_frequency_answer answer = { .asked = read_places(slot, t, distance, place, symbol) };
    double until = 0, duration = 0;

    answer.terminal = most_frequent(symbol, answer.asked, &answer.agreed);
    for (uint32_t i = 0; i < answer.asked; i++)
        if (symbol[i] == answer.terminal) {
            const struct oracle_history_time *then = oracle_history_time(t, place[i] + distance);
            until += (double)(then->end - then->duration - oracle_history_time(t, place[i])->end);
            duration += (double)then->duration;
            answer.fixed = place[i] < t->fixed;
        }
    if (answer.agreed) {
        answer.until = (float)(until / answer.agreed);
        answer.duration = (float)(duration / answer.agreed);
    }
    return answer;
}

struct oracle_frequency_answer oracle_frequency_ask(struct oracle_frequency *s, const struct oracle_history *t,
                                                    uint64_t hash, uint64_t distance)
{
    const struct oracle_frequency_slot *slot = &s->slot[hash & s->mask];
    uint64_t spread = (distance * 0x9e3779b97f4a7c15u ^ hash) * 0x9e3779b97f4a7c15u;
    struct oracle_frequency_kept *kept = &s->kept[(spread >> 40) % ORACLE_FREQUENCY_CACHE];

    if (slot->tag != (uint32_t)(hash >> 32) || slot->taken == 0)
        return (struct oracle_frequency_answer){ .terminal = GRAMMAR_NONE };
    if (kept->distance != distance || kept->slot != (uint32_t)(hash & s->mask) || kept->tag != slot->tag ||
        slot->taken - kept->taken > kept->answer.asked / 8)
        *kept = (struct oracle_frequency_kept){ distance, (uint32_t)(hash & s->mask), slot->tag, slot->taken,
                                            elect(slot, t, distance) };
    return kept->answer;
}
