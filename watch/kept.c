/* SPDX-License-Identifier: MIT */
#include "watch/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum { KEPT_TRIES = 100 };
#define KEPT_BEGIN UINT64_C(1000) /* ns: any that is not taken for WATCH_CHANGES */

/* While its threads write it: who calls looks whether they did, and copies again. Not memcpy: what is read at once with
   a write is meant here, and only here. */
__attribute__((no_sanitize("thread"))) static void copy_written(struct watch_board *to, const struct watch_board *from)
{
    typedef uint64_t __attribute__((may_alias)) word;
    _Static_assert(sizeof *to % sizeof(word) == 0, "words");
    for (size_t i = 0; i < sizeof *to / sizeof(word); i++)
        ((word *)to)[i] = ((const volatile word *)from)[i];
}

struct watch_sight *watch_kept_see(void)
{
    struct watch_board *b = watch_board_here; /* whoever finishes closes it meanwhile: it stays mapped */
    struct watch_sight *s = b ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    for (int i = 0; i < KEPT_TRIES; i++) {
        uint64_t before = atomic_load(&b->since);
        copy_written(&s->board, b);
        if (before != WATCH_CHANGES && before == atomic_load(&b->since))
            break;
    }
    s->now = base_clock_system();
    s->board.magic = WATCH_MAGIC;
    (void)watch_is_sound(&s->board);
    return s;
}

uint64_t watch_kept_since(const struct watch_sight *s, bool *inside)
{
    uint64_t since = s->board.since, then = since >> 1;
    *inside = since != WATCH_CHANGES && (since & 1);
    return since == WATCH_CHANGES || s->now < then ? 0 : s->now - then;
}

char *watch_kept_text(const struct watch_sight *s)
{
    const struct watch_board *b = &s->board;
    uint64_t known = 0;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    for (unsigned i = 0; i < WATCH_SPOTS; i++)
        known += b->from && b->met[i] == b->from ? b->sum[i].count : 0;
    fprintf(f, "call %x %x %x %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx64 " %" PRIx64
            " %" PRIx64 " %" PRIx64 "\n", b->is.what.call_kind, b->is.what.blocking, b->is.what.how,
            (uint32_t)b->source, (uint32_t)b->dest, (uint32_t)b->tag, (uint32_t)b->any, (uint32_t)b->null, b->longest,
            known, b->events, b->where);
    for (const struct watch_comm *c = b->comm; c < b->comm + WATCH_COMMS; c++)
        if (c->handle)
            fprintf(f, "comm %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %s\n", c->handle,
                    c->identity, c->collectives, c->number, (uint32_t)c->rank, (uint32_t)c->size, c->name);
    for (const struct watch_request *q = b->request; q < b->request + WATCH_REQUESTS; q++)
        if (q->handle)
            fprintf(f, "request %" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 "\n", q->handle,
                    q->collective, q->comm, (uint32_t)q->peer, (uint32_t)q->tag, q->kind);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static void take_call(struct watch_board *b, const char *line)
{
    unsigned kind, blocking, how;
    uint32_t source, dest, tag, any, null;
    uint64_t longest, known, events, where;
    if (sscanf(line, "call %x %x %x %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx64 " %" SCNx64
               " %" SCNx64 " %" SCNx64, &kind, &blocking, &how, &source, &dest, &tag, &any, &null, &longest, &known,
               &events, &where) != 12)
        return;
    b->is.what = (struct watch_what){(uint8_t)kind, (uint8_t)blocking, (uint8_t)how, true};
    b->source = (int32_t)source;
    b->dest = (int32_t)dest;
    b->tag = (int32_t)tag;
    b->any = (int32_t)any;
    b->null = (int32_t)null;
    b->longest = longest < INT64_MAX / 128 ? longest : 0;
    b->from = b->met[0] = 1;
    b->sum[0].count = known;
    b->events = events;
    b->where = where;
}

static void take_comm(struct watch_board *b, unsigned *at, const char *line)
{
    struct watch_comm c = {.handle = 0};
    uint32_t rank, size;
    if (*at < WATCH_COMMS &&
        sscanf(line, "comm %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %27[^\n]", &c.handle,
               &c.identity, &c.collectives, &c.number, &rank, &size, c.name) >= 6) {
        c.rank = (int32_t)rank;
        c.size = (int32_t)size;
        b->comm[(*at)++] = c;
    }
}

static void take_request(struct watch_board *b, unsigned *at, const char *line)
{
    struct watch_request q = {.handle = 0};
    uint32_t peer, tag;
    if (*at < WATCH_REQUESTS &&
        sscanf(line, "request %" SCNx64 " %" SCNx64 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32, &q.handle,
               &q.collective, &q.comm, &peer, &tag, &q.kind) == 6) {
        q.peer = (int32_t)peer;
        q.tag = (int32_t)tag;
        b->request[(*at)++] = q;
    }
}

struct watch_sight *watch_kept_sight(const char *text, uint32_t rank, uint32_t ranks, const char *function, bool inside,
                                     uint64_t since_ns)
{
    struct watch_sight *s = calloc(1, sizeof *s);
    unsigned comms = 0, requests = 0;
    if (!s)
        return NULL;
    s->board.rank = rank;
    s->board.ranks = ranks;
    s->board.source = s->board.dest = s->board.any = s->board.null = WATCH_NOBODY;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        take_call(&s->board, line);
        take_comm(&s->board, &comms, line);
        take_request(&s->board, &requests, line);
    }
    snprintf(s->board.is.function, sizeof s->board.is.function, "%s", function);
    s->now = KEPT_BEGIN + (since_ns < UINT64_MAX / 4 ? since_ns : UINT64_MAX / 4);
    atomic_store(&s->board.since, KEPT_BEGIN << 1 | inside);
    return s;
}
