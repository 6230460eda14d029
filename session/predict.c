/* SPDX-License-Identifier: MIT */
/* The reference of a predicted run: its classes' indices, each stream's oracle, and the mapping of terminals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/order.h"
#include "file/file.h"
#include "job/turns.h"
#include "pythia.h"
#include "session/internal.h"

/* Bytes that somebody else keeps. */
static int open_copy(const void *reference, size_t size, char *why, size_t why_size)
{
    void *bytes = malloc(size + 1);
    snprintf(why, why_size, "out of memory");
    if (!bytes)
        return PYTHIA_ENOMEM;
    memcpy(bytes, reference, size);
    int error = file_open_bytes(bytes, size, &session.reference, why, why_size);
    if (error)
        free(bytes);
    return error;
}

int session_predict_open(struct job *own, const void *bytes, size_t size)
{
    char why[256];
    session.reference = own;
    int error = own ? 0 : open_copy(bytes, size, why, sizeof why);
    if (error) {
        base_log_warn("the reference cannot be used: %s; the program runs on without predictions", why);
        return error;
    }
    session.predicted_from = (struct session_recording){
        session.reference->info.start_time, session.reference->info.wall_ns, session.reference->info.runs};
    session.unusable = calloc(session.reference->class_count + 1, sizeof *session.unusable);
    return session.unusable ? 0 : -1;
}

void session_predict_close(void)
{
    for (uint32_t i = 0; i < session.role_count; i++)
        oracle_index_destroy(session.role[i].index);
    free(session.role);
    session.role = NULL;
    session.role_count = session.role_room = 0;
    free(session.unusable);
    session.unusable = NULL;
    job_destroy(session.reference);
    session.reference = NULL;
}

/* One line is enough, whatever the number of classes and threads. */
static void say_unusable(const char *why)
{
    static uint32_t told; /* in this session */
    if (told != session.generation)
        base_log_warn("a part of the reference cannot be used: %s", why);
    told = session.generation;
}

static const struct oracle_index *new_role(uint32_t class_index, uint32_t rank, uint32_t thread,
                                           const struct grammar_flat *g)
{
    struct oracle_index *x = NULL;
    if (base_array_room(&session.role, &session.role_room, (uint64_t)session.role_count + 1, sizeof *session.role) == 0)
        x = oracle_index_create(g);
    if (x)
        session.role[session.role_count++] = (struct session_role){class_index, rank, thread, g, x};
    session.unusable[class_index] |= !x;
    return x;
}

/* Of the grammar that a member of the class has. */
static const struct oracle_index *index_of(uint32_t class_index, uint32_t rank, uint32_t thread)
{
    const struct grammar_flat *g;
    char why[256];
    if (session.unusable[class_index])
        return NULL;
    if (file_open_member(session.reference, class_index, rank, thread, &g, why, sizeof why)) {
        say_unusable(why);
        session.unusable[class_index] = true;
        return NULL;
    }
    for (uint32_t i = 0; i < session.role_count; i++)
        if (session.role[i].grammar == g)
            return session.role[i].index;
    return new_role(class_index, rank, thread, g);
}

enum { ROLES = 256 };

static uint32_t roles_each(void)
{
    uint32_t classes = session.reference->class_count;
    return classes < ROLES ? ROLES / (classes + !classes) : 1;
}

struct candidate { struct job_role role; const struct oracle_index *index; };

static int by_rank(const void *x, const void *y)
{
    const struct job_role *a = &((const struct candidate *)x)->role, *b = &((const struct candidate *)y)->role;
    return BASE_ORDER(a->rank, b->rank) ?: BASE_ORDER(a->thread, b->thread);
}

/* All roles of threads like this one, in the order of their first ranks. Main threads
   resemble main threads; other threads each other. */
static uint32_t all_roles(uint32_t thread, const struct oracle_index **index, double *weight)
{
    const struct job *r = session.reference;
    struct candidate *all = malloc(((size_t)r->class_count * roles_each() + 1) * sizeof *all);
    struct job_role role[ROLES];
    uint32_t count = 0;
    for (uint32_t c = 0; all && c < r->class_count; c++) {
        uint32_t roles = job_roles(&r->classes[c], thread == 0, roles_each(), role);
        for (uint32_t i = 0; i < roles; i++) {
            all[count] = (struct candidate){role[i], index_of(c, role[i].rank, role[i].thread)};
            count += all[count].index != NULL;
        }
    }
    if (count)
        qsort(all, count, sizeof *all, by_rank);
    for (uint32_t i = 0; i < count; i++) {
        index[i] = all[i].index;
        weight[i] = (double)all[i].role.members;
    }
    free(all);
    return count;
}

/* The same rank of a job of the same shape starts from its own grammar; anything else from all that there are, by
   share. */
static uint32_t candidates(uint32_t thread, const struct oracle_index **index, double *weight)
{
    const struct job *r = session.reference;
    uint32_t own = job_stream_class(r, session.world.rank, thread);
    if (own != GRAMMAR_NONE && r->info.ranks == session.world.ranks) {
        index[0] = index_of(own, session.world.rank, thread);
        weight[0] = 1;
        return index[0] != NULL;
    }
    return all_roles(thread, index, weight);
}

/* What a stream may keep of its run: the first thread a share of the process's memory, some others a quarter of that,
   more would together be too much. A list of the reference's events is made of it at the first event (100 ns each): a
   program without MPI may be over in 100 ms. */
static size_t learn_memory(uint32_t thread)
{
    enum { SHARES = 16, SHARES_ALONE = 64, OTHERS = 4, LEARN = 16 };
    size_t share = (size_t)session.options.memory / (session.world.mpi[0] ? SHARES : SHARES_ALONE);
    return thread == 0 ? share : thread < LEARN ? share / OTHERS : 0;
}

struct oracle *session_predict_oracle(uint32_t thread)
{
    uint32_t classes = session.reference ? session.reference->class_count : 0;
    size_t most = classes ? (size_t)classes * roles_each() : 0;
    const struct oracle_index **index = calloc(most + 1, sizeof *index);
    double *weight = calloc(most + 1, sizeof *weight);
    struct oracle *oracle = NULL;
    if (index && weight && classes) {
        struct oracle_options options = {.learn = learn_memory(thread)};
        uint32_t count = candidates(thread, index, weight);
        if (count || options.learn) /* a thread that the reference does not know learns from itself */
            oracle = oracle_create(index, weight, count, &options);
    }
    free(index);
    free(weight);
    return oracle;
}

static bool taken(const struct session_stream *s, uint32_t reference)
{
    for (uint32_t t = 0; t < s->keys.terminals; t++)
        if (s->keys.reference_terminal[t] == reference)
            return true;
    return false;
}

/* What the oracle expects just now, if that is the same call and nothing else was taken for it yet. In a rebuilt
   program every address is new, and the first time through it is this that finds each call's place. */
static uint32_t expected(struct session_stream *s, uint32_t terminal)
{
    struct oracle_answer answer;
    if (!s->oracle || oracle_predict(s->oracle, 1, &answer) || answer.terminal >= session.reference->terminal_count)
        return GRAMMAR_NONE;
    bool fits = job_alike(session.reference, answer.terminal, session.job, terminal) && !taken(s, answer.terminal);
    return fits ? answer.terminal : GRAMMAR_NONE;
}

uint32_t session_predict_terminal(struct session_stream *s, uint32_t terminal)
{
    if (!session.reference)
        return GRAMMAR_NONE;
    uint32_t found = job_match_frame(session.reference, session.job, terminal);
    found = found != GRAMMAR_NONE ? found : expected(s, terminal);
    found = found != GRAMMAR_NONE ? found : job_match_terminal(session.reference, session.job, terminal);
    /* what the reference does not know has numbers beyond its own, so that it can be learned */
    return found != GRAMMAR_NONE ? found : session.reference->terminal_count + terminal;
}
