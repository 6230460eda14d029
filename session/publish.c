/* SPDX-License-Identifier: MIT */
/* What becomes of the whole job: a recording is written, a prediction's score is stored, and one line tells. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/name.h"
#include "file/file.h"
#include "merge/merge.h"
#include "session/internal.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

/* " accuracy_16=0.9987", or nothing where the run was too short to tell. */
static void print_accuracy(char *text, size_t size, const struct oracle_score *s, unsigned d)
{
    text[0] = '\0';
    if (s->at[d].predictions)
        snprintf(text, size, " accuracy_%u=%.4f", oracle_score_distances[d],
                 share(s->at[d].hits, s->at[d].predictions));
}

/* Scripts read this line: names and order stay. */
static void print_predicted(const struct job *merged)
{
    const struct job_oracle *o = &merged->oracle;
    const struct oracle_score *s = &o->score;
    double error = oracle_time_median(s->time_error);
    char further[ORACLE_DISTANCES][32];
    for (unsigned d = 1; d < ORACLE_DISTANCES; d++)
        print_accuracy(further[d], sizeof further[d], s, d);
    char peers[32] = "";
    if (s->peers.asked)
        snprintf(peers, sizeof peers, " peers=%.4f", share(s->peers.right, s->peers.asked));
    base_log_info("predicted events=%llu accuracy=%.4f unknown=%.4f time_error=%.3f actions=%llu gain_seconds=%.3f "
                  "cost_seconds=%.3f ranks=%u%s%s%s%s",
                  (unsigned long long)s->events, share(s->at[0].hits, s->at[0].predictions),
                  share(s->at[0].unknown, s->at[0].predictions), error < 0 ? 0.0 : error,
                  (unsigned long long)o->actions, o->gain_seconds, o->cost_seconds, o->ranks, further[1], further[2],
                  further[3], peers);
}

/* What a first run gained by acting, or nothing. */
static void print_actions(char *text, size_t size, const struct job *job)
{
    unsigned long long actions = 0;
    double gain = 0;
    for (uint32_t i = 0; i < job->region_count; i++) {
        actions += job->regions[i].changed;
        gain += (double)job->regions[i].gain_ns * 1e-9;
    }
    for (uint32_t i = 0; i < job->task_count; i++) {
        actions += job->tasks[i].at_once;
        gain += session_task_gain(&job->tasks[i]);
    }
    text[0] = '\0';
    if (actions)
        snprintf(text, size, " actions=%llu gain_seconds=%.3f", actions, gain);
}

static void print_recorded(const struct job *job, const char *path)
{
    char actions[64];
    unsigned long long events = 0, wall = 0, cost = 0;
    for (int i = 0; i < JOB_TOOK_LOADING; i++)
        cost += job->took.sum[i];
    for (uint32_t i = 0; i < job->stream_count; i++) {
        events += job->streams[i].events;
        wall += job->streams[i].wall_ns;
    }
    struct job_base base = job_base_of(job);
    print_actions(actions, sizeof actions, job);
    base_log_info("recorded ranks=%u streams=%llu events=%llu terminals=%u classes=%u mpi=%.1f%% cost=%.2f%%%s in %s",
                  job->info.ranks, (unsigned long long)job_streams(job), events, job->terminal_count, job->class_count,
                  base.ns > 0 ? 100 * job_mpi_time(job) / base.ns : 0, 100.0 * share(cost, wall), actions, path);
}

/* Where it goes when its own place takes it no more: a new file in TMPDIR. False where that fails, too. */
static bool write_elsewhere(const struct job *job, char *path, size_t size)
{
    const char *directory = getenv("TMPDIR");
    char why[512];
    if ((size_t)snprintf(path, size, "%s/%.100s.XXXXXX.pythia", directory && *directory ? directory : "/tmp",
                         base_name(session_output_path())) >= size)
        return false;
    int fd = mkstemps(path, 7); /* the name is ours before anything is written: it may be anybody's directory */
    if (fd < 0)
        return false;
    close(fd);
    if (!file_write(job, path, why, sizeof why))
        return true;
    unlink(path);
    return false;
}

static void say_lost(const char *why)
{
    bool parts = !access(session_parts_path(), F_OK);
    base_log_warn("the recording is lost: %s%s%s%s", why, parts ? "; its last checkpoint is in " : "",
                  parts ? session_parts_path() : "", parts ? " (pythia merge joins it)" : "");
}

static void publish_recorded(struct job *job)
{
    char why[512], elsewhere[PATH_MAX];
    uint64_t since = session_took_rest(job);
    const char *path = session_output_path();
    if (!session_make_way(path, job->info.ranks, why, sizeof why) || file_write(job, path, why, sizeof why)) {
        if (!write_elsewhere(job, elsewhere, sizeof elsewhere)) {
            say_lost(why);
            return;
        }
        path = elsewhere;
        base_log_warn("%s; the recording is in %s", why, path);
    }
    if (!job->info.missing) /* else they may hold what is missing */
        session_parts_remove();
    if (session.options.summary)
        print_recorded(job, path);
    else if (job->info.missing) /* the summary says it, too */
        base_log_warn("incomplete: %u of %u ranks are missing in %s", job->info.missing, job->info.ranks, path);
    session_print_summary(path, "summary", true, since);
}

/* The score, and what was learned of regions and tasks; what was recorded stays. */
static void store_score(struct job *reference, const struct job *job, const char *path)
{
    char why[512] = "out of memory";
    reference->oracle = job->oracle;
    int error = job_learn(reference, job);
    error = error ?: file_write(reference, path, why, sizeof why);
    if (error)
        base_log_warn("the score of this run is not stored: %s", why);
    else
        session_print_summary(path, "predicted", false, 0);
}

static uint64_t lost_events(const struct job *job)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < job->stream_count; i++)
        lost += job->streams[i].lost;
    return lost;
}

/* Why a run must not take the place of the profile, NULL where it may. */
static const char *not_to_fold(const struct job *job, const struct job *reference)
{
    if (job->info.missing)
        return "not all of its ranks were recorded";
    if (!job->stream_count)
        return "nothing of it was recorded";
    if (lost_events(job) && !lost_events(reference))
        return "it did not fit into PYTHIA_MEMORY";
    return NULL;
}

/* A run of another number of ranks takes the profile's place only where nothing of that is lost: else the score alone
   is stored. */
static void fold_in(struct job *job, struct job *reference, const char *path)
{
    struct merge_updated u;
    char why[512] = "out of memory";
    int error = merge_update(job, reference, &u);
    bool in_place = !strcmp(path, session_input_path());
    if (!error && u.dropped && in_place && job->info.ranks != reference->info.ranks) {
        base_log_warn("this run is not folded into %s: it has %u ranks, the profile %u, and %u of its classes would be "
                      "lost (PYTHIA_OUTPUT can name a file of its own)", path, job->info.ranks, reference->info.ranks,
                      u.dropped);
        store_score(reference, job, path);
        return;
    }
    uint64_t since = session_took_rest(job);
    error = error ?: file_write(job, path, why, sizeof why);
    if (error) {
        base_log_warn("the profile is not updated: %s", why);
        return;
    }
    base_log_info("updated %s: runs=%u classes kept=%u (this run weighs %.2f) new=%u gone=%u", path, u.runs, u.kept,
                  u.share, u.added, u.dropped);
    session_print_summary(path, "predicted", false, since);
}

/* What the run is to be compared with; its own times are known only now, when all ranks have ended. */
static void compare_with(struct job *job, const struct job *reference)
{
    struct job_oracle *o = &job->oracle;
    o->wall_ns = job->info.wall_ns;
    o->start_time = job->info.start_time;
    o->threads = job->info.threads;
    o->recorded_ranks = reference->info.ranks;
    o->recorded_ns = job_other_arguments(job, reference) ? 0 : reference->info.wall_ns;
    o->recorded_time = reference->info.start_time;
}

/* Whether that is another recording than the one that was predicted from. */
static bool recorded_anew(const struct job_info *info)
{
    const struct session_recording *from = &session.predicted_from;
    return info->start_time != from->start_time || info->wall_ns != from->wall_ns || info->runs != from->runs;
}

/* Into the file that was predicted from, or a copy of it where an output was asked for. */
static void publish_predicted(struct job *job)
{
    const char *output = session.options.output;
    const char *path = output && output[0] ? session_output_path() : session_input_path();
    char why[512];
    struct job *reference = NULL;
    print_predicted(job);
    if (file_read(session_input_path(), &reference, why, sizeof why)) {
        base_log_warn("the score of this run is not stored: %s", why);
        return;
    }
    if (recorded_anew(&reference->info)) {
        base_log_warn("the score of this run is not stored: %s was recorded anew meanwhile", session_input_path());
        job_destroy(reference);
        return;
    }
    if (strcmp(path, session_input_path()) && !session_make_way(path, reference->info.ranks, why, sizeof why)) {
        base_log_warn("the score of this run is not stored: %s", why);
        job_destroy(reference);
        return;
    }
    compare_with(job, reference);
    const char *obstacle = session.options.update ? not_to_fold(job, reference) : NULL;
    if (obstacle)
        base_log_warn("this run is not folded into %s: %s", path, obstacle);
    if (session.options.update && !obstacle)
        fold_in(job, reference, path);
    else
        store_score(reference, job, path);
    job_destroy(reference);
}

void session_publish(struct job *job, enum session_mode mode)
{
    if (mode == SESSION_RECORD)
        publish_recorded(job);
    else
        publish_predicted(job);
}
