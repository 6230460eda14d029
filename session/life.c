/* SPDX-License-Identifier: MIT */
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/python.h"
#include "job/schema.h"
#include "pythia.h"
#include "session/clock.h"
#include "session/internal.h"
#include "session/site.h"
#include "watch/board.h"

/* A forked child has none of the threads that the streams belong to, and its parent goes on writing the files. */
static void life_in_child(void)
{
    atomic_store(&base_hot.mode, SESSION_OFF);
    session_epoch_next();
    for (uint32_t i = 0; i < session.stream_count; i++)
        atomic_store(&session.streams[i]->held, 0);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, life_in_child);
}

/* What the kernel does at once for a process of one thread. One of several, as after MPI_Init, has to wait for all
   processors: 5 to 25 ms each. The first is what session_barrier() wants; refused on old kernels: see there. */
static __attribute__((constructor)) void while_alone(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    base_io_make_room();
}

/* What session_choose() has opened, or bytes. */
static int open_reference(const void *reference, size_t size)
{
    bool own = reference == session_reference();
    struct job *chosen = session_chosen();
    if (!own)
        job_destroy(chosen);
    return session_predict_open(own ? chosen : NULL, reference, size);
}

enum session_mode session_start(const struct session_world *world, const void *reference, size_t reference_size)
{
    uint64_t before = base_clock_processor();
    base_clock_init();
    session_output_path(); /* loads the options: not while other threads read them */
    char why[256];
    base_options_load(&session.options);
    if (session_kinds(&session.options, &session.records, why, sizeof why))
        session.records = 0; /* session_choose() said so */
    session.world = *world;
    atomic_store(&session.paused, false);
    session.incomplete = false;
    session.job = job_create();
    memset(session.module, 0, sizeof session.module);
    if (!session.job || (reference && open_reference(reference, reference_size))) {
        session_predict_close();
        job_destroy(session.job);
        session.job = NULL;
        return SESSION_OFF;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    session_threads_start();
    session.process = getpid();
    session_machine_start();
    session_delay_start();
    session_binding_start();
    session_took_begin();
    session_sites_leave_out((const void *)(uintptr_t)session_sites_leave_out);
    base_python_start();
    if (session.options.stacks)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* refused where nobody keeps them from it */
    session.begin = base_clock_now();
    session.before = 0;
    session.start_time = (uint64_t)time(NULL);
    session.generation++;
    enum session_mode mode = reference ? SESSION_PREDICT : SESSION_RECORD;
    if (session.options.board)
        watch_board_open(&(struct watch_life){world->job, world->rank, world->ranks, mode == SESSION_PREDICT,
                                              reference ? session_input_path() : session_output_path()});
    session.checks_peers = mode == SESSION_PREDICT && session.options.verbose >= 2;
    atomic_store_explicit(&base_hot.mode, mode, memory_order_release);
    session_epoch_next();
    session_part_begin();
    if (mode == SESSION_RECORD)
        session_checkpoint_start();
    else
        session_progress_start();
    session_copies_start();
    if (session_hooks && session_hooks->begins)
        session_hooks->begins();
    session.own_ns = base_clock_processor() - before;
    return mode;
}

/* No thread is inside its stream any more. */
static void quiesce(void)
{
    session_barrier();
    /* Not while waiting: who is busy may want it. No stream is made any more. */
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    uint32_t count = session.stream_count;
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    for (uint32_t i = 0; i < count; i++)
        while (atomic_load_explicit(&session.streams[i]->busy, memory_order_acquire))
            sched_yield();
}

static int add_stream(struct session_stream *s)
{
    struct session_frozen f;
    session_control_finish(s);
    session_named_finish(s);
    if (!session_stream_freeze(s, &f))
        return -1;
    session_sums_finish(s, session.job);
    return session_frozen_add(&f, session.job);
}

static void add_score(const struct session_stream *s)
{
    const struct oracle_score_peers *p = &s->peers.score, *late = &s->peers.late;
    if (p->asked)
        base_log_debug("rank %u, thread %u: peers=%llu foretold=%llu right=%llu late=%llu late_foretold=%llu "
                       "late_right=%llu",
                       session.world.rank, s->thread, (unsigned long long)p->asked, (unsigned long long)p->foretold,
                       (unsigned long long)p->right, (unsigned long long)late->asked,
                       (unsigned long long)late->foretold, (unsigned long long)late->right);
    struct job_oracle own = { .actions = s->actions, .gain_seconds = s->gain_ns * 1e-9 };
    if (s->oracle)
        own.score = *oracle_score(s->oracle);
    else
        own.score.events = s->events;
    own.score.peers = *p;
    own.score.cost_ns = session_stream_cost(s);
    own.cost_seconds = (double)own.score.cost_ns * 1e-9;
    job_row_join(session.job, JOB_TABLE_ORACLE, &session.job->oracle, &own);
}

static void add_own(struct job *job, uint64_t ns)
{
    uint64_t hooks = 0;
    for (uint32_t i = 0; i < job->stream_count; i++)
        hooks += job->streams[i].cost_ns;
    session_took_store(job, hooks);
    if (!job->oracle.present)
        return;
    job->oracle.score.cost_ns += ns;
    job->oracle.cost_seconds += (double)ns * 1e-9;
}

struct job *session_finish(void)
{
    uint64_t before = base_clock_processor();
    session_took_ends();
    session_copies_stop();
    session_ends_close();
    watch_board_close();
    /* In a handler of a signal that came inside an append: this thread's stream is half changed, and the helper may
       wait for it. What the last checkpoint kept is all that can be had. */
    if (session_stream_busy_here()) {
        session_off(NULL);
        return NULL;
    }
    session_checkpoint_stop();
    session_progress_stop();
    int was = atomic_exchange(&base_hot.mode, SESSION_OFF);
    session_epoch_next();
    if (was == SESSION_OFF || !session.job)
        return NULL;
    quiesce();
    session.left = 0;
    uint64_t anew = 0;
    if (session.regions)
        session_ask_team();
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    int error = session_fill_info(session.job);
    for (uint32_t i = 0; i < session.stream_count && !error; i++) {
        struct session_stream *s = session.streams[i];
        if (s->grammar)
            error = add_stream(s);
        if (was == SESSION_PREDICT)
            add_score(s);
        session.left += s->left;
        anew += s->anew;
    }
    base_log_debug("rank %u: %llu calls looked at anew", session.world.rank, (unsigned long long)anew);
    if (was == SESSION_PREDICT) {
        session.job->info.missing += session.incomplete && session.options.update;
        session.job->oracle.present = 1;
        session.job->oracle.ranks = 1;
        session.job->oracle.wall_ns = session.job->info.wall_ns;
    }
    error = error ?: session_samples_add(session.job, true);
    session_machine_finish(session.job, was == SESSION_RECORD || session.options.update);
    if (was == SESSION_RECORD || session.options.update)
        error = error ?: session_binding_finish(session.job);
    session_delay_finish(session.job);
    session_clock_finish(session.job);
    if (session_hooks && session_hooks->tasks)
        session_hooks->tasks();
    session_task_count(session.job);
    if (session_hooks && session_hooks->regions)
        session_hooks->regions(session.job);
    struct job *job = session.job;
    session.job = NULL;
    session_threads_retire();
    session_predict_close();
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    add_own(job, session.own_ns + base_clock_processor() - before);
    if (!error)
        return job;
    base_log_warn("rank %u: out of memory at the end of the run; its recording is lost", session.world.rank);
    job_destroy(job);
    return NULL;
}

uint64_t session_left(void)
{
    return session.left;
}

void session_tell_left(uint64_t left)
{
    if (left)
        base_log_info("%llu calls or regions were left by a jump or an exception; the recording went on",
                      (unsigned long long)left);
}
