/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "replay/blame.h"
#include "base/must.h"

/* Of a path, at most: places x blocks of ranks, and blocks; of all paths together: fewer blocks in large jobs. */
enum { CELLS = 4096, BLOCKS = 64, ALL_CELLS = 1 << 20, CHUNK = 8 /* places: sums of a cache line */ };

/* A place on a path, by a block of ranks. */
struct cell { int64_t ns, visits; };

/* A place where the late one's path is longer, ns. */
struct more { uint32_t place; double ns; };

/* What a period adds is the difference to one of these: the blame's sums; its waits by place, then by cause. */
struct slot {
    int64_t *sum;
    double *ns;
    uint32_t causes;
};

struct replay_blame {
    uint32_t ranks, places, row; /* row: cells of a path: of each place its blocks; 0: there are no paths */
    uint32_t block, blocks;      /* ranks in a block; blocks */
    int64_t *sum;                /* what a period adds to, in one piece: path, account, spent, unmatched */
    size_t sums;
    struct cell *path;           /* ranks x row; NULL: sums alone */
    int64_t *path_sum;           /* ranks x places: over the blocks of each */
    uint32_t *last;              /* as paths: the rank that was there last, on that path */
    uint64_t *stamp;             /* ranks x chunks of CHUNK places: where it is the same paths are equal there */
    uint32_t chunks;
    uint64_t stamps;             /* given so far */
    struct replay_account *account;
    double *place;               /* of each place: waits of all ranks … */
    int64_t *unmatched;          /* … and by reason what went on without its message */
    struct more *more;           /* of the wait that is looked at: room for all places */
    int64_t *spent;              /* ranks x places: work, calls and waits there */
    struct replay_cause *cause;
    uint32_t cause_count, cause_room;
    struct base_hash index;      /* of the causes */
    struct slot slot[REPLAY_BLAME_SLOTS];
};

/* `row` as in the blame. */
static struct replay_blame *create(uint32_t ranks, uint32_t places, uint32_t row)
{
    struct replay_blame *b = calloc(1, sizeof *b);
    size_t accounts = sizeof *b->account / sizeof *b->sum * ranks, spent = (size_t)ranks * places,
           unmatched = (size_t)places * REPLAY_REASONS;

    b->ranks = ranks;
    b->places = places;
    b->row = row;
    b->sums = accounts + spent + unmatched + (size_t)ranks * row * (sizeof *b->path / sizeof *b->sum);
    b->sum = calloc(b->sums + 1, sizeof *b->sum);
    b->account = (struct replay_account *)b->sum;
    b->spent = b->sum + accounts;
    b->unmatched = b->spent + spent;
    b->path = row ? (struct cell *)(b->unmatched + unmatched) : NULL;
    b->place = calloc((size_t)places + 1, sizeof *b->place);
    return b;
}

struct replay_blame *replay_blame_create_sums(uint32_t ranks, uint32_t places)
{
    return create(ranks, places, 0);
}

struct replay_blame *replay_blame_create(uint32_t ranks, uint32_t places)
{
    uint32_t block = 1, blocks;
    size_t n = ranks ? ranks : 1;

    for (;; block *= 2) {
        blocks = (ranks + block - 1) / block;
        uint64_t row = (uint64_t)blocks * places;
        if (blocks <= 1 || (blocks <= BLOCKS && row <= CELLS && row * ranks <= ALL_CELLS))
            break;
    }
    struct replay_blame *b = create(ranks, places, places * blocks);
    b->block = block;
    b->blocks = blocks;
    b->path_sum = calloc(n * (places + 1), sizeof *b->path_sum);
    b->chunks = (places + CHUNK - 1) / CHUNK;
    b->stamp = calloc(n * (b->chunks + 1), sizeof *b->stamp);
    b->last = calloc(n * (b->row + 1), sizeof *b->last);
    b->more = calloc((size_t)places + 1, sizeof *b->more);
    return b;
}

void replay_blame_destroy(struct replay_blame *b)
{
    if (!b)
        return;
    for (int i = 0; i < REPLAY_BLAME_SLOTS; i++) {
        free(b->slot[i].sum);
        free(b->slot[i].ns);
    }
    free(b->sum);
    free(b->path_sum);
    free(b->last);
    free(b->stamp);
    free(b->place);
    free(b->more);
    free(b->cause);
    base_hash_close(&b->index);
    free(b);
}

static int64_t clock_of(const struct replay_blame *b, uint32_t rank)
{
    const struct replay_account *a = &b->account[rank];
    return a->work + a->call + a->wait + a->between;
}

static struct cell *path_of(const struct replay_blame *b, uint32_t rank)
{
    return b->path + (size_t)rank * b->row;
}

static int64_t *sums_of(const struct replay_blame *b, uint32_t rank)
{
    return b->path_sum + (size_t)rank * b->places;
}

static uint32_t *last_of(const struct replay_blame *b, uint32_t rank)
{
    return b->last + (size_t)rank * b->row;
}

static uint64_t *stamps_of(const struct replay_blame *b, uint32_t rank)
{
    return b->stamp + (size_t)rank * b->chunks;
}

static void add_to_path(struct replay_blame *b, uint32_t rank, uint32_t place, int64_t ns)
{
    uint32_t at = place * b->blocks + rank / b->block;

    path_of(b, rank)[at].ns += ns;
    path_of(b, rank)[at].visits++;
    sums_of(b, rank)[place] += ns;
    last_of(b, rank)[at] = rank;
    stamps_of(b, rank)[place / CHUNK] = ++b->stamps;
}

void replay_blame_spend(struct replay_blame *b, uint32_t rank, int64_t until, const struct replay_op *op)
{
    int64_t ns = until - clock_of(b, rank);

    if (ns <= 0)
        return;
    if (b->path)
        add_to_path(b, rank, op->place, ns);
    *(op->computes ? &b->account[rank].work : &b->account[rank].call) += ns;
    b->spent[(size_t)rank * b->places + op->place] += ns;
}

/* --- Causes --- */

static bool same_cause(const struct replay_cause *a, const struct replay_cause *b)
{
    return a->where == b->where && a->cause == b->cause && a->culprit == b->culprit && a->waiter == b->waiter &&
           a->sender == b->sender && a->between == b->between;
}

static void add_cause(struct replay_blame *b, const struct replay_cause *c)
{
    uint64_t hash = base_hash_mix(base_hash_mix((uint64_t)c->where << 32 | c->cause) ^
                                  ((uint64_t)c->culprit << 34 | (uint64_t)c->waiter << 2 | c->between << 1 |
                                   c->sender));
    uint32_t n = BASE_HASH_FIND(&b->index, hash, i, same_cause(&b->cause[i], c));

    if (n != BASE_HASH_NONE)
        b->cause[n].ns += c->ns;
    else
        base_must(base_hash_append(&b->index, hash, &b->cause, &b->cause_count, &b->cause_room, c, sizeof *c) ==
                  BASE_HASH_NONE);
}

static uint32_t chunk_end(const struct replay_blame *b, uint32_t chunk)
{
    return (chunk + 1) * CHUNK < b->places ? (chunk + 1) * CHUNK : b->places;
}

/* Where the late one's path has more than the waiting one's: in b->more, in order; how many places, *all: their sum. */
static uint32_t excess(struct replay_blame *b, uint32_t late, uint32_t waits, double *all)
{
    const int64_t *theirs = sums_of(b, late), *own = sums_of(b, waits);
    uint32_t count = 0;
    int64_t sum = 0;

    for (uint32_t c = 0; c < b->chunks; c++)
        for (uint32_t p = c * CHUNK; p < chunk_end(b, c) && stamps_of(b, late)[c] != stamps_of(b, waits)[c]; p++)
            if (theirs[p] > own[p]) {
                b->more[count++] = (struct more){ p, (double)(theirs[p] - own[p]) };
                sum += theirs[p] - own[p];
            }
    *all = (double)sum;
    return count;
}

/* From now on the waiting one's path is the late one's. */
static void adopt(struct replay_blame *b, uint32_t waits, uint32_t late)
{
    for (uint32_t c = 0; c < b->chunks; c++) {
        uint32_t first = c * CHUNK, count = chunk_end(b, c) - first;
        if (stamps_of(b, late)[c] == stamps_of(b, waits)[c])
            continue;
        stamps_of(b, waits)[c] = stamps_of(b, late)[c];
        memcpy(sums_of(b, waits) + first, sums_of(b, late) + first, count * sizeof *b->path_sum);
        first *= b->blocks;
        count *= b->blocks;
        memcpy(path_of(b, waits) + first, path_of(b, late) + first, count * sizeof *b->path);
        memcpy(last_of(b, waits) + first, last_of(b, late) + first, count * sizeof *b->last);
    }
}

/* A visit of the waiting rank's path to the place, since the two parted, ns. */
static double own_visit(const struct replay_blame *b, const struct cell *late, const struct cell *own, uint32_t place)
{
    double ns = 0, visits = 0;

    for (uint32_t i = place * b->blocks; i < (place + 1) * b->blocks; i++)
        if (own[i].visits > late[i].visits) {
            ns += (double)(own[i].ns - late[i].ns);
            visits += (double)(own[i].visits - late[i].visits);
        }
    return visits > 0 && ns > 0 ? ns / visits : 0;
}

/* Beyond what so many visits take the waiting one itself. */
static double beyond(const struct cell *late, const struct cell *own, double visit)
{
    double ns = (double)(late->ns - own->ns) - visit * (double)(late->visits - own->visits);

    return late->visits > own->visits && ns > 0 ? ns : 0;
}

/* `c` is a cause: its time goes to the ranks whose visits to the place were longer, or more. */
static void share_out(struct replay_blame *b, struct replay_cause c, const struct cell *late, const struct cell *own,
                      const uint32_t *last)
{
    uint32_t first = c.cause * b->blocks, end = first + b->blocks, most = first;
    double visit = own_visit(b, late, own, c.cause), sum = 0, ns = c.ns;

    for (uint32_t i = first; i < end; i++) {
        sum += beyond(&late[i], &own[i], visit);
        if (late[i].ns - own[i].ns > late[most].ns - own[most].ns)
            most = i;
    }
    for (uint32_t i = first; i < end; i++) {
        double part = sum > 0 ? beyond(&late[i], &own[i], visit) / sum : i == most;
        c.culprit = last[i];
        c.ns = ns * part;
        if (part > 0)
            add_cause(b, &c);
    }
}

static void find_causes(struct replay_blame *b, uint32_t waits, uint32_t late, int64_t ns, const struct replay_op *op,
                        bool receives, bool between)
{
    const struct cell *theirs = path_of(b, late), *own = path_of(b, waits);
    if (ns <= 0)
        return;
    double all, sum = 0;
    uint32_t count = excess(b, late, waits, &all);
    double least = all / 256; /* what is too little is not told apart */

    for (uint32_t i = 0; i < count; i++)
        sum += b->more[i].ns > least ? b->more[i].ns : 0;
    if (sum <= 0) {
        sum = all;
        least = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (b->more[i].ns <= least)
            continue;
        struct replay_cause c = { .where = op->place, .cause = b->more[i].place, .waiter = waits, .sender = !receives,
                                  .between = between, .ns = (double)ns * b->more[i].ns / sum };
        share_out(b, c, theirs, own, last_of(b, late));
    }
}

void replay_blame_late(struct replay_blame *b, uint32_t waits, uint32_t late, int64_t until, int64_t looked,
                       const struct replay_op *op, bool receives)
{
    int64_t now = clock_of(b, waits), then = clock_of(b, late), ns = then - now;
    int64_t between = looked >= then ? 0 : looked <= now ? ns : then - looked;

    if (ns <= 0 || then > until)
        return;
    if (b->path) {
        find_causes(b, waits, late, ns - between, op, receives, false);
        find_causes(b, waits, late, between, op, receives, true);
        adopt(b, waits, late);
    }
    b->account[waits].wait += ns - between;
    b->account[waits].between += between;
    b->place[op->place] += (double)ns;
    b->spent[(size_t)waits * b->places + op->place] += ns;
}

void replay_blame_unmatched(struct replay_blame *b, uint32_t place, enum replay_reason why)
{
    b->unmatched[(size_t)place * REPLAY_REASONS + why]++;
}

/* --- Periods --- */

size_t replay_blame_armed_bytes(const struct replay_blame *b)
{
    return b->sums * sizeof *b->sum;
}

void replay_blame_arm(struct replay_blame *b, uint32_t slot)
{
    struct slot *s = &b->slot[slot];

    s->sum = s->sum ? s->sum : malloc((b->sums + 1) * sizeof *s->sum);
    s->ns = realloc(s->ns, ((size_t)b->places + b->cause_count + 1) * sizeof *s->ns);
    s->causes = b->cause_count;
    memcpy(s->sum, b->sum, b->sums * sizeof *s->sum);
    memcpy(s->ns, b->place, b->places * sizeof *s->ns);
    for (uint32_t i = 0; i < b->cause_count; i++)
        s->ns[b->places + i] = b->cause[i].ns;
}

void replay_blame_skip(struct replay_blame *b, uint32_t slot, uint64_t n)
{
    const struct slot *s = &b->slot[slot];
    size_t chunks = (size_t)b->ranks * b->chunks;

    for (size_t i = 0; i < chunks; i++) /* what is equal now need not have been when the period began */
        b->stamp[i] = ++b->stamps;
    for (size_t i = 0; i < b->sums; i++)
        b->sum[i] += (int64_t)n * (b->sum[i] - s->sum[i]);
    for (uint32_t r = 0; b->path && r < b->ranks; r++)
        for (uint32_t p = 0; p < b->places; p++)
            sums_of(b, r)[p] = replay_blame_path(b, r, p, &(uint32_t){ 0 });
    for (uint32_t i = 0; i < b->places; i++)
        b->place[i] += (double)n * (b->place[i] - s->ns[i]);
    for (uint32_t i = 0; i < b->cause_count; i++)
        b->cause[i].ns += (double)n * (b->cause[i].ns - (i < s->causes ? s->ns[b->places + i] : 0));
}

/* --- Reading --- */

struct replay_account replay_blame_account(const struct replay_blame *b, uint32_t rank)
{
    return b->account[rank];
}

const struct replay_cause *replay_blame_causes(const struct replay_blame *b, uint32_t *count)
{
    *count = b->cause_count;
    return b->cause;
}

int64_t replay_blame_path(const struct replay_blame *b, uint32_t rank, uint32_t place, uint32_t *last)
{
    uint32_t first = place * b->blocks, most = first;
    int64_t ns = 0;

    for (uint32_t i = first; i < first + b->blocks; i++) {
        ns += path_of(b, rank)[i].ns;
        if (path_of(b, rank)[i].ns > path_of(b, rank)[most].ns)
            most = i;
    }
    *last = last_of(b, rank)[most];
    return ns;
}

int64_t replay_blame_path_of(const struct replay_blame *b, uint32_t rank, uint32_t i, uint32_t *block)
{
    int64_t ns = 0;

    *block = b->block;
    for (uint32_t p = 0; p < b->places && i < b->blocks; p++)
        ns += path_of(b, rank)[p * b->blocks + i].ns;
    return ns;
}

double replay_blame_waits(const struct replay_blame *b, uint32_t place)
{
    return b->place[place];
}

uint64_t replay_blame_unmatched_at(const struct replay_blame *b, uint32_t place, enum replay_reason why)
{
    return (uint64_t)b->unmatched[(size_t)place * REPLAY_REASONS + why];
}

int64_t replay_blame_spent(const struct replay_blame *b, uint32_t rank, uint32_t place)
{
    return b->spent[(size_t)rank * b->places + place];
}
