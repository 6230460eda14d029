/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "replay/goal.h"
#include "replay/machine.h"

struct rank_text {
    char *text;
    uint32_t size, text_room;
    uint64_t label;    /* of the last operation; 0: none yet */
    bool started;      /* what follows requires only that it was begun */
    /* Of each request: label of the operation that began it; whose message it got, and that one's tag. */
    struct request { uint64_t label, tag; uint32_t from; } *request;
    uint32_t requests, room;
};

enum { LINE = 96 };

/* No stream a rank: its buffer alone is longer than the text of many ranks. */
__attribute__((format(printf, 2, 3))) static void say(struct rank_text *t, const char *format, ...)
{
    va_list list;
    base_must(base_array_room(&t->text, &t->text_room, (uint64_t)t->size + LINE, 1));
    va_start(list, format);
    t->size += (uint32_t)vsnprintf(t->text + t->size, LINE, format, list);
    va_end(list);
}

/* Tags are numbers in the order in which they are first met: simulators have 32 bits for them. */
struct goal {
    struct rank_text *rank;
    struct base_hash index;
    uint64_t *tag;
    uint32_t tags, tag_room;
};

static uint32_t number_of(struct goal *g, uint64_t tag)
{
    uint64_t hash = base_hash_mix(tag ^ base_hash_secret());
    uint32_t n = BASE_HASH_FIND(&g->index, hash, i, g->tag[i] == tag);

    if (n == BASE_HASH_NONE)
        n = base_hash_append(&g->index, hash, &g->tag, &g->tags, &g->tag_room, &tag, sizeof tag);
    base_must(n == BASE_HASH_NONE);
    return n;
}

static void remember(struct rank_text *t, uint64_t request, uint64_t tag)
{
    base_must(base_array_room(&t->request, &t->room, request + 1, sizeof *t->request));
    t->request[request] = (struct request){ t->label, tag, REPLAY_ANY };
    t->requests = (uint32_t)request + 1;
}

static void matched(void *context, uint32_t rank, uint64_t request, uint32_t from, uint64_t tag)
{
    struct rank_text *t = &((struct goal *)context)->rank[rank];

    if (request < t->requests) {
        t->request[request].from = from;
        t->request[request].tag = tag;
    }
}

/* Who sends to a receive from anyone, and with which tag to any, is known once it has: until then its request stands
   there, after an @. */
static void peer(struct goal *g, struct rank_text *t, const struct replay_op *op, bool sends)
{
    bool open = !sends && (op->peer == REPLAY_ANY || op->peer == REPLAY_LATER);

    if (open)
        say(t, " from @%" PRIu32, t->requests - 1);
    else
        say(t, " %s %" PRIu32, sends ? "to" : "from", op->peer);
    if (sends)
        say(t, " tag %" PRIu32 "\n", number_of(g, op->tag));
    else
        say(t, " tag @%" PRIu32 "\n", t->requests - 1);
}

static void comes(void *context, uint32_t rank, const struct replay_host *h)
{
    struct goal *g = context;
    struct rank_text *t = &g->rank[rank];
    const struct replay_op *op = &h->op;
    bool sends = op->kind == REPLAY_SEND || op->kind == REPLAY_ISEND;
    uint64_t before = t->label++;

    if (op->kind == REPLAY_COMPUTE || op->kind == REPLAY_WAIT) {
        say(t, "l%" PRIu64 ": calc %" PRId64 "\n", t->label, op->kind == REPLAY_COMPUTE ? op->ns : 0);
    } else {
        remember(t, h->next_request, op->tag);
        say(t, "l%" PRIu64 ": %s %" PRIu64 "b", t->label, sends ? "send" : "recv", op->bytes ? op->bytes : 1);
        peer(g, t, op, sends);
    }
    if (before)
        say(t, "l%" PRIu64 " %s l%" PRIu64 "\n", t->label, t->started ? "irequires" : "requires", before);
    for (uint32_t i = 0; op->kind == REPLAY_WAIT && i < h->open_count; i++)
        if (h->open[i].awaited && h->open[i].number < t->requests)
            say(t, "l%" PRIu64 " requires l%" PRIu64 "\n", t->label, t->request[h->open[i].number].label);
    t->started = op->kind == REPLAY_ISEND || op->kind == REPLAY_IRECV;
}

static void print_rank(struct goal *g, const struct rank_text *t, FILE *out)
{
    const char *text = t->size ? t->text : "", *at;

    while ((at = strchr(text, '@'))) {
        char *end;
        uint64_t request = strtoull(at + 1, &end, 10);
        uint32_t from = t->request[request].from;
        fwrite(text, 1, (size_t)(at - text), out);
        if (*end == '\n')
            fprintf(out, "%" PRIu32, number_of(g, t->request[request].tag));
        else
            fprintf(out, "%" PRId64, from == REPLAY_ANY ? -1 : (int64_t)from);
        text = end;
    }
    fputs(text, out);
}

static void print(struct goal *g, uint32_t ranks, FILE *out)
{
    fprintf(out, "num_ranks %" PRIu32 "\n", ranks);
    for (uint32_t r = 0; r < ranks; r++) {
        fprintf(out, "\nrank %" PRIu32 " {\n", r);
        print_rank(g, &g->rank[r], out);
        fputs("}\n", out);
    }
}

void replay_goal_write(const struct replay_source *s, const struct replay_model *m, FILE *out)
{
    struct goal g = { .rank = calloc(s->ranks ? s->ranks : 1, sizeof *g.rank) };
    struct replay_watch watch = { .context = &g, .comes = comes, .matched = matched };
    struct replay_how how = { .walk = true, .watch = &watch };
    struct replay_result result = { 0 };

    base_must(replay_run(s, m, &how, &result)); /* without a limit */
    print(&g, s->ranks, out);
    for (uint32_t r = 0; r < s->ranks; r++) {
        free(g.rank[r].text);
        free(g.rank[r].request);
    }
    free(g.tag);
    base_hash_close(&g.index);
    free(g.rank);
    free(result.end);
}
