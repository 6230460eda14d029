/* SPDX-License-Identifier: MIT */
/*
 * A deferred task that is to run at a place (places/place.h): what was wished for stands before the program's data in
 * the copy that libgomp keeps, and the thread that takes the task goes there and comes back.
 *
 *     data of the task:   | header: fn, offset, wish | … | the program's data
 *                         0                              offset
 */
#include <string.h>

#include "tasks/act.h"

struct header {
    void (*fn)(void *);
    uint32_t offset; /* of the data */
    struct places_wish wish;
};

struct packet {
    struct header header;
    const struct tasks_call *call;
};

static void packet_copy(void *to, void *from)
{
    const struct packet *p = from;
    char *data = (char *)to + p->header.offset;
    memcpy(to, &p->header, sizeof p->header);
    if (p->call->cpyfn)
        p->call->cpyfn(data, p->call->data);
    else if (p->call->size > 0)
        memcpy(data, p->call->data, (size_t)p->call->size);
}

static void run_there(void *argument)
{
    struct header h;
    struct places_return back;
    memcpy(&h, argument, sizeof h);
    places_enter(&h.wish, &back);
    h.fn((char *)argument + h.offset);
    places_leave(&back);
}

void tasks_create_there(const struct tasks_call *c, const struct places_wish *wish)
{
    long align = c->align > (long)_Alignof(struct header) ? c->align : (long)_Alignof(struct header);
    uint32_t offset = (uint32_t)((sizeof(struct header) + (size_t)align - 1) & ~((size_t)align - 1));
    struct packet packet = { { c->fn, offset, *wish }, c };
    struct tasks_call wrapped = *c;
    wrapped.fn = run_there;
    wrapped.data = &packet;
    wrapped.cpyfn = packet_copy;
    wrapped.size = (long)offset + c->size;
    wrapped.align = align;
    tasks_create(&wrapped, true);
}
