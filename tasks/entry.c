/* SPDX-License-Identifier: MIT */
#include "tasks/entry.h"

struct tasks_entry tasks_entries[TASKS_ENTRIES];

/* Two threads that see a depth first may both take an entry: the one that comes second leaves its own unused. */
uint32_t tasks_entry_make(struct tasks_site *site, uint32_t depth)
{
    static atomic_uint taken;
    uint16_t known = atomic_load_explicit(&site->entry[depth], memory_order_acquire);
    if (known)
        return known;
    uint32_t n = atomic_load(&taken) < TASKS_ENTRIES ? atomic_fetch_add(&taken, 1) : TASKS_ENTRIES;
    if (n < TASKS_ENTRIES)
        tasks_entries[n] = (struct tasks_entry){ (tasks_function)atomic_load(&site->fn), site,
                                                 tasks_site_number(site), depth };
    else
        n = TASKS_ENTRIES;
    if (!atomic_compare_exchange_strong(&site->entry[depth], &known, (uint16_t)(n + 1)))
        return known;
    return n + 1;
}

/* One function for each number of three hexadecimal digits below 2 x TASKS_ENTRIES. */
#define EACH_16(what, n) what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) \
    what(n##8) what(n##9) what(n##a) what(n##b) what(n##c) what(n##d) what(n##e) what(n##f)
#define EACH_256(what, n) EACH_16(what, n##0) EACH_16(what, n##1) EACH_16(what, n##2) EACH_16(what, n##3) \
    EACH_16(what, n##4) EACH_16(what, n##5) EACH_16(what, n##6) EACH_16(what, n##7) EACH_16(what, n##8) \
    EACH_16(what, n##9) EACH_16(what, n##a) EACH_16(what, n##b) EACH_16(what, n##c) EACH_16(what, n##d) \
    EACH_16(what, n##e) EACH_16(what, n##f)

#define RUN(n)                     \
    static void run_##n(void *data) \
    {                              \
        tasks_run(data, n);        \
    }
EACH_256(RUN, 0x0)
EACH_256(RUN, 0x1)

#define ADDRESS(n) run_##n,
const tasks_function tasks_functions[2 * TASKS_ENTRIES] = { EACH_256(ADDRESS, 0x0) EACH_256(ADDRESS, 0x1) };
