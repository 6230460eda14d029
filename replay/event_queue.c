/* SPDX-License-Identifier: MIT */
/* The events to come: by time, then by when one was first put there. */
#include "base/array.h"
#include "base/must.h"
#include "replay/machine.h"

void replay_push(struct replay_machine *m, struct replay_event e)
{
    base_must(base_array_room(&m->heap, &m->heap_room, m->heap_count + 1u, sizeof *m->heap));
    uint32_t i = m->heap_count++;
    for (; i && replay_before(&e, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = e;
}

struct replay_event replay_pop(struct replay_machine *m)
{
    struct replay_event top = m->heap[0], last = m->heap[--m->heap_count];
    uint32_t i = 0;

    for (uint32_t child; (child = 2 * i + 1) < m->heap_count; i = child) {
        if (child + 1 < m->heap_count && replay_before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!replay_before(&m->heap[child], &last))
            break;
        m->heap[i] = m->heap[child];
    }
    if (m->heap_count)
        m->heap[i] = last;
    return top;
}
