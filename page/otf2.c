/* SPDX-License-Identifier: MIT */
/*
 * The replayed run as an OTF2 archive, for Vampir, Scalasca and what else reads that: a location a rank, a region a
 * call or parallel region with its place, messages, requests, collectives and teams. Times are those of the replay.
 *
 *   request ID       index of the event that began it, in its location
 *   communicator     each group of ranks that has a name of the job's is one
 *   a receive from anyone whose source the recording does not have, and starts of persistent requests, whose direction
 *   it does not have, are calls without a message
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "findings/findings.h"
#include "page/export.h"

#ifndef HAVE_OTF2

const char *page_write_otf2(struct report *r, const char *dir)
{
    (void)r, (void)dir;
    return "this pythia was built without OTF2 (Debian: libotf2-trace-dev)";
}

#else

#include <otf2/otf2.h>

#include "page/replayed.h"
#include "replay/calls.h"

enum { RING = 1 << 16 }; /* starts of a rank that are remembered */

struct start { uint64_t event; int64_t peer, tag, bytes; uint32_t comm; uint8_t what; };

struct location {
    OTF2_EvtWriter *to;
    struct start *start;
    uint64_t last, records;
};

struct writer {
    struct page_replayed replayed;
    struct report *r;
    const struct job *job;
    struct location *at;
    uint32_t *comm;             /* of each rank and communicator of the job; OTF2_UNDEFINED_COMM */
    uint32_t *entered;          /* of each terminal: the one that is entered when it is left */
    uint64_t latest;
    OTF2_GlobalDefWriter *defs;
    uint32_t strings, groups, comms;
};

/* --- Events --- */

static int64_t value(const struct writer *w, uint32_t rank, enum grammar_channel channel, int64_t none)
{
    const struct page_rank *k = &w->replayed.rank[rank];
    int64_t v;

    return job_attr_value(w->job, k->c, k->at.node, channel, rank, 0, k->at.nth, &v) == 0 ? v : none;
}

/* The index of the event at hand. */
static uint64_t index_of(const struct writer *w, uint32_t rank)
{
    return w->replayed.rank[rank].at.index;
}

static uint32_t comm_of(const struct writer *w, uint32_t rank, uint32_t comm)
{
    return comm == GRAMMAR_NONE ? OTF2_UNDEFINED_COMM : w->comm[(size_t)comm * w->job->info.ranks + rank];
}

static void send(struct writer *w, uint32_t rank, uint64_t time, uint32_t comm, bool starts)
{
    struct location *l = &w->at[rank];
    int64_t peer = value(w, rank, GRAMMAR_PEER, -1), tag = value(w, rank, GRAMMAR_INDEX, 0);
    uint64_t bytes = (uint64_t)value(w, rank, GRAMMAR_BYTES, 0);

    if (peer < 0 || comm == OTF2_UNDEFINED_COMM)
        return;
    if (starts)
        OTF2_EvtWriter_MpiIsend(l->to, NULL, time, (uint32_t)peer, comm, (uint32_t)tag, bytes, index_of(w, rank));
    else
        OTF2_EvtWriter_MpiSend(l->to, NULL, time, (uint32_t)peer, comm, (uint32_t)tag, bytes);
    l->records++;
}

static void receive(struct writer *w, uint32_t rank, uint64_t time, uint32_t comm, bool second)
{
    struct location *l = &w->at[rank];
    int64_t peer = value(w, rank, second ? GRAMMAR_SOURCE : GRAMMAR_PEER, -1);
    int64_t tag = value(w, rank, second ? GRAMMAR_SOURCE_TAG : GRAMMAR_INDEX, 0);
    int64_t bytes = value(w, rank, second ? GRAMMAR_RECEIVED : GRAMMAR_BYTES, 0);

    if (peer < 0 || comm == OTF2_UNDEFINED_COMM)
        return;
    OTF2_EvtWriter_MpiRecv(l->to, NULL, time, (uint32_t)peer, comm, (uint32_t)tag, (uint64_t)bytes);
    l->records++;
}

static void remember(struct writer *w, uint32_t rank, uint32_t comm, uint8_t what)
{
    uint64_t event = index_of(w, rank);

    w->at[rank].start[event % RING] = (struct start){ event, value(w, rank, GRAMMAR_PEER, -1),
                                                      value(w, rank, GRAMMAR_INDEX, 0),
                                                      value(w, rank, GRAMMAR_BYTES, 0), comm, what };
}

static void complete_one(struct writer *w, uint32_t rank, uint64_t time, uint64_t event, bool alone)
{
    struct location *l = &w->at[rank];
    struct start *s = &l->start[event % RING];

    if (s->event != event || !s->what || s->comm == OTF2_UNDEFINED_COMM)
        return;
    if (s->peer == GRAMMAR_PEER_ANY && alone)
        s->peer = value(w, rank, GRAMMAR_PEER, -1);
    if (s->what == BIND_ISEND && s->peer >= 0)
        OTF2_EvtWriter_MpiIsendComplete(l->to, NULL, time, event);
    else if (s->what == BIND_IRECV && s->peer >= 0)
        OTF2_EvtWriter_MpiIrecv(l->to, NULL, time, (uint32_t)s->peer, s->comm, (uint32_t)s->tag, (uint64_t)s->bytes,
                                event);
    else
        return;
    l->records++;
    s->what = BIND_NOTHING;
}

static void complete(struct writer *w, uint32_t rank, uint64_t time)
{
    const struct page_rank *l = &w->replayed.rank[rank];
    const struct job_start_run *run = NULL;
    struct job_start_run one;
    uint32_t count = 0;

    if (job_completes(w->job, l->c, l->at.node, rank, 0, l->at.occurrence, &one, &run, &count))
        return;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < run[i].count; k++) {
            int64_t distance = run[i].distance + (int64_t)k * run[i].step;
            if (distance > 0 && (uint64_t)distance <= l->at.index)
                complete_one(w, rank, time, l->at.index - (uint64_t)distance, count == 1 && run[i].count == 1);
        }
}

static OTF2_CollectiveOp operation(const char *function)
{
    static const struct { const char *name; OTF2_CollectiveOp op; } known[] = {
        { "MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER },     { "MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST },
        { "MPI_Gather", OTF2_COLLECTIVE_OP_GATHER },       { "MPI_Gatherv", OTF2_COLLECTIVE_OP_GATHERV },
        { "MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER },     { "MPI_Scatterv", OTF2_COLLECTIVE_OP_SCATTERV },
        { "MPI_Allgather", OTF2_COLLECTIVE_OP_ALLGATHER }, { "MPI_Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV },
        { "MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL },   { "MPI_Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV },
        { "MPI_Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW }, { "MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE },
        { "MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE },       { "MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER },
        { "MPI_Scan", OTF2_COLLECTIVE_OP_SCAN },           { "MPI_Exscan", OTF2_COLLECTIVE_OP_EXSCAN },
        { "MPI_Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK } };

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(function, known[k].name))
            return known[k].op;
    return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

static void collective_end(struct writer *w, uint32_t rank, uint64_t time, const struct job_terminal *t)
{
    struct location *l = &w->at[rank];
    const char *function = job_text(w->job, t->function);
    int64_t root = value(w, rank, GRAMMAR_PEER, -1);
    uint64_t bytes = (uint64_t)value(w, rank, GRAMMAR_BYTES, 0);

    OTF2_EvtWriter_MpiCollectiveEnd(l->to, NULL, time, operation(function), comm_of(w, rank, t->comm),
                                    root >= 0 ? (uint32_t)root : OTF2_COLLECTIVE_ROOT_NONE, bytes, bytes);
    l->records += 2;
}

/* What stands between entering and leaving. */
static void print_records(struct writer *w, uint32_t rank, const struct job_terminal *t, uint64_t begin, uint64_t end)
{
    struct location *l = &w->at[rank];
    enum bind_what what = (enum bind_what)replay_call_of(w->job, t).what;
    uint32_t comm = comm_of(w, rank, t->comm);

    if (t->kind == JOB_REGION && t->phase == JOB_LEAF) {
        OTF2_EvtWriter_ThreadFork(l->to, NULL, begin, OTF2_PARADIGM_OPENMP, (uint32_t)value(w, rank, GRAMMAR_TEAM, 1));
        OTF2_EvtWriter_ThreadJoin(l->to, NULL, end, OTF2_PARADIGM_OPENMP);
        l->records += 2;
    }
    if (t->kind != JOB_CALL || t->phase != JOB_LEAF)
        return;
    if (what == BIND_SEND || what == BIND_SENDRECV || what == BIND_ISEND)
        send(w, rank, begin, comm, what == BIND_ISEND);
    if (what == BIND_RECV || what == BIND_SENDRECV)
        receive(w, rank, end, comm, what == BIND_SENDRECV);
    if (what == BIND_ISEND || what == BIND_IRECV)
        remember(w, rank, comm, (uint8_t)what);
    if (what == BIND_IRECV && value(w, rank, GRAMMAR_PEER, -1) != GRAMMAR_PEER_NULL) {
        OTF2_EvtWriter_MpiIrecvRequest(l->to, NULL, begin, index_of(w, rank));
        l->records++;
    }
    if (t->call_kind == JOB_COMPLETION)
        complete(w, rank, end);
    if (what == BIND_COLLECTIVE && comm != OTF2_UNDEFINED_COMM) {
        OTF2_EvtWriter_MpiCollectiveBegin(l->to, NULL, begin);
        collective_end(w, rank, end, t);
    }
}

static void event(void *context, uint32_t rank, int64_t from, int64_t until)
{
    struct writer *w = context;
    struct location *l = &w->at[rank];
    uint32_t terminal = w->replayed.rank[rank].at.terminal;
    uint64_t launch = w->r->model->launch_ns, begin = (uint64_t)from + launch, end = (uint64_t)until + launch;

    if (terminal >= w->job->terminal_count)
        return;
    begin = begin < l->last ? l->last : begin;
    end = end < begin ? begin : end;
    if (w->job->terminals[terminal].phase != JOB_CLOSE)
        OTF2_EvtWriter_Enter(l->to, NULL, begin, terminal);
    print_records(w, rank, &w->job->terminals[terminal], begin, end);
    if (w->job->terminals[terminal].phase != JOB_OPEN)
        OTF2_EvtWriter_Leave(l->to, NULL, end, w->entered[terminal]);
    l->records += w->job->terminals[terminal].phase == JOB_LEAF ? 2 : 1;
    l->last = end;
    w->latest = end > w->latest ? end : w->latest;
}

/* --- Definitions --- */

/* What begins and ends is one region, the beginning's. */
static void find_entered(struct writer *w)
{
    const struct job_terminal *all = w->job->terminals;

    w->entered = calloc((size_t)w->job->terminal_count + 1, sizeof *w->entered);
    for (uint32_t t = 0; t < w->job->terminal_count; t++) {
        uint32_t same = w->entered[t] = t;
        for (uint32_t o = 0; same == t && all[t].phase == JOB_CLOSE && o < w->job->terminal_count; o++)
            if (all[o].phase == JOB_OPEN && all[o].kind == all[t].kind && all[o].function == all[t].function &&
                all[o].callsite == all[t].callsite && all[o].comm == all[t].comm)
                w->entered[t] = same = o;
    }
}

static uint32_t string(struct writer *w, const char *text)
{
    OTF2_GlobalDefWriter_WriteString(w->defs, w->strings, text);
    return w->strings++;
}

static void define_regions(struct writer *w)
{
    uint32_t nothing = string(w, "");

    for (uint32_t t = 0; t < w->job->terminal_count; t++) {
        const struct findings_place *p = findings_place_of(w->r, t);
        const struct job_terminal *is = &w->job->terminals[t];
        uint32_t name = string(w, job_text(w->job, is->function));
        OTF2_RegionRole role = is->kind == JOB_REGION           ? OTF2_REGION_ROLE_PARALLEL
                               : is->kind == JOB_NAMED           ? OTF2_REGION_ROLE_CODE
                               : is->call_kind == JOB_P2P        ? OTF2_REGION_ROLE_POINT2POINT
                               : is->call_kind == JOB_COLLECTIVE ? OTF2_REGION_ROLE_COLL_OTHER
                                                                 : OTF2_REGION_ROLE_FUNCTION;
        OTF2_GlobalDefWriter_WriteRegion(w->defs, t, name, name,
                                         p && p->function ? string(w, p->function) : nothing, role,
                                         is->kind == JOB_REGION  ? OTF2_PARADIGM_OPENMP
                                         : is->kind == JOB_NAMED ? OTF2_PARADIGM_USER
                                                                 : OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE, p && p->path ? string(w, p->path) : nothing,
                                         p ? p->line : 0, p ? p->line : 0);
    }
}

static void define_locations(struct writer *w)
{
    uint32_t node = string(w, "job"), machine = string(w, "machine"), ranks = w->job->info.ranks;
    char name[32];

    OTF2_GlobalDefWriter_WriteSystemTreeNode(w->defs, 0, node, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t r = 0; r < ranks; r++) {
        snprintf(name, sizeof name, "rank %u", r);
        uint32_t text = string(w, name);
        OTF2_GlobalDefWriter_WriteLocationGroup(w->defs, r, text, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(w->defs, r, text, OTF2_LOCATION_TYPE_CPU_THREAD, w->at[r].records, r);
    }
    BASE_OWN uint64_t *all = calloc(ranks, sizeof *all);
    for (uint32_t r = 0; r < ranks; r++)
        all[r] = r;
    OTF2_GlobalDefWriter_WriteGroup(w->defs, w->groups++, string(w, "locations"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks, all);
}

/* Each group of a name once; numbers were given before the events were written. */
static void define_comms(struct writer *w)
{
    uint32_t ranks = w->job->info.ranks, defined = 0;
    BASE_OWN uint64_t *members = calloc(ranks, sizeof *members);
    struct job_members m;

    for (uint32_t c = 0; c < w->job->comm_count; c++) {
        uint32_t name = string(w, job_text(w->job, w->job->comms[c].name));
        for (uint32_t r = 0; r < ranks; r++) {
            uint32_t comm = comm_of(w, r, c);
            if (comm == OTF2_UNDEFINED_COMM || comm < defined || !job_comm_members(w->job, c, r, &m))
                continue;
            for (uint32_t i = 0; i < m.size && i < ranks; i++)
                members[i] = job_members_at(&m, i);
            OTF2_GlobalDefWriter_WriteGroup(w->defs, w->groups, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, m.size, members);
            OTF2_GlobalDefWriter_WriteComm(w->defs, comm, name, w->groups++, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
            defined = comm + 1;
        }
    }
}

static void number_comms(struct writer *w)
{
    uint32_t ranks = w->job->info.ranks;
    struct job_members m, other;

    w->comm = calloc((size_t)ranks * (w->job->comm_count + 1), sizeof *w->comm);
    for (uint32_t c = 0; c < w->job->comm_count; c++)
        for (uint32_t r = 0; r < ranks; r++) {
            uint32_t *to = &w->comm[(size_t)c * ranks + r];
            *to = OTF2_UNDEFINED_COMM;
            if (!job_comm_members(w->job, c, r, &m) || !m.size || m.size > ranks)
                continue;
            for (uint32_t k = 0; k < r && *to == OTF2_UNDEFINED_COMM; k++)
                if (job_comm_members(w->job, c, k, &other) && other.size == m.size &&
                    job_members_at(&other, 0) == job_members_at(&m, 0))
                    *to = comm_of(w, k, c);
            if (*to == OTF2_UNDEFINED_COMM)
                *to = w->comms++;
        }
}

static void define(struct writer *w, OTF2_Archive *archive)
{
    w->defs = OTF2_Archive_GetGlobalDefWriter(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(w->defs, 1000000000, 0, w->latest + 1,
                                              w->job->info.start_time * 1000000000);
    OTF2_GlobalDefWriter_WriteParadigm(w->defs, OTF2_PARADIGM_MPI, string(w, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
    OTF2_GlobalDefWriter_WriteParadigm(w->defs, OTF2_PARADIGM_OPENMP, string(w, "OpenMP"),
                                       OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN);
    define_regions(w);
    define_locations(w);
    define_comms(w);
}

/* --- The archive --- */

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void)final;
    return OTF2_FLUSH;
}

static void open_ranks(struct writer *w, OTF2_Archive *archive)
{
    for (uint32_t r = 0; r < w->job->info.ranks; r++) {
        w->at[r].to = OTF2_Archive_GetEvtWriter(archive, r);
        w->at[r].start = calloc(RING, sizeof *w->at[r].start);
    }
}

static void close_ranks(struct writer *w, OTF2_Archive *archive)
{
    OTF2_Archive_OpenDefFiles(archive);
    for (uint32_t r = 0; r < w->job->info.ranks; r++) {
        struct location *l = &w->at[r];
        OTF2_EvtWriter_GetNumberOfEvents(l->to, &l->records);
        OTF2_Archive_CloseEvtWriter(archive, l->to);
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, r));
        free(l->start);
    }
    OTF2_Archive_CloseDefFiles(archive);
    OTF2_Archive_CloseEvtFiles(archive);
}

const char *page_write_otf2(struct report *r, const char *dir)
{
    static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
    struct writer w = { .replayed.event = event, .r = r, .job = r->job };
    const char *why = findings_cannot_replay(r, REPLAY_FEW_UNMATCHED);
    struct stat there;

    if (why)
        return why;
    if (stat(dir, &there) == 0)
        return "the directory is there already";
    OTF2_Archive *archive = OTF2_Archive_Open(dir, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 22,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        return "the directory cannot be written";
    OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_SetCreator(archive, "pythia");
    OTF2_Archive_SetDescription(archive, "a replay of the job from each rank's own mean times, not a recorded trace");
    OTF2_Archive_SetProperty(archive, "PYTHIA::TIMES", "replay", true);
    OTF2_Archive_OpenEvtFiles(archive);
    w.at = calloc((size_t)r->job->info.ranks + 1, sizeof *w.at);
    number_comms(&w);
    find_entered(&w);
    open_ranks(&w, archive);
    page_replayed_open(&w.replayed, r);
    page_replayed_run(&w.replayed);
    page_replayed_close(&w.replayed);
    close_ranks(&w, archive);
    define(&w, archive);
    bool failed = OTF2_Archive_Close(archive) != OTF2_SUCCESS;
    free(w.comm);
    free(w.entered);
    free(w.at);
    return failed ? "the archive cannot be written" : NULL;
}

#endif
