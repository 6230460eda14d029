/* SPDX-License-Identifier: MIT */
#include "tools/parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "file/file.h"
#include "job/ranges.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tools/progress.h"
#include "tools/tool.h"

struct part {
    char *path;
    struct job *job;
    uint32_t rank; /* lowest rank in it */
};

struct parts {
    struct part *part;
    size_t count;
    const char *path; /* of the file that is read */
};

static bool is_part(const char *name)
{
    size_t n = strlen(name), m = strlen(".pythia");

    return name[0] != '.' && n > m && !strcmp(name + n - m, ".pythia");
}

static void parts_destroy(struct parts *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->part[i].path);
        job_destroy(p->part[i].job);
    }
    free(p->part);
}

/* By the classes' members: a record of streams may be of a block of ranks. */
static uint32_t lowest_rank(const struct job *j)
{
    uint32_t lowest = UINT32_MAX;

    for (uint32_t i = 0; i < j->class_count; i++) {
        struct job_member first = job_ranges_first(j->classes[i].ranges, j->classes[i].member_ranges);
        lowest = first.rank < lowest ? first.rank : lowest;
    }
    return lowest;
}

static int add_one(struct job *j, void *context)
{
    struct parts *p = context;
    struct part part = { NULL, j, lowest_rank(j) };

    base_must(base_array_more(&p->part, p->count, sizeof part));
    part.path = tool_need(strdup(p->path));
    p->part[p->count++] = part;
    return 0;
}

/* What cannot be read is left out. */
static void parts_add(struct parts *p, const char *directory, const char *name)
{
    char *path, why[256] = "";

    base_must(asprintf(&path, "%s/%s", directory, name) < 0);
    p->path = path;
    if (file_read_each(path, add_one, p, why, sizeof why))
        tool_complain("%s", why);
    free(path);
}

BASE_COMPARISON(by_rank, struct part, BASE_UP(rank) ?: strcmp(a->path, b->path))

static void drop(struct parts *p, size_t i)
{
    free(p->part[i].path);
    job_destroy(p->part[i].job);
    p->count--;
    memmove(p->part + i, p->part + i + 1, (p->count - i) * sizeof *p->part);
}

/* Who ended while it wrote, or was asked for a part at once, has two in a file: the one that got further counts. */
static void drop_earlier(struct parts *p)
{
    for (size_t i = 1; i < p->count; i++) {
        struct part *a = &p->part[i - 1], *b = &p->part[i];
        if (a->rank != b->rank || strcmp(a->path, b->path))
            continue;
        drop(p, a->job->info.wall_ns < b->job->info.wall_ns ? i - 1 : i);
        i--;
    }
}

static int parts_read(struct parts *p, const char *directory)
{
    DIR *d = opendir(directory);
    struct progress progress;

    if (!d) {
        tool_complain("cannot read %s: %s", directory, strerror(errno));
        return TOOL_INPUT;
    }
    progress_begin(&progress, "reading parts:", 0);
    for (struct dirent *e; (e = readdir(d)) != NULL; progress_at(&progress, p->count))
        if (is_part(e->d_name))
            parts_add(p, directory, e->d_name);
    progress_end(&progress);
    closedir(d);
    BASE_SORT(p->part, p->count, by_rank);
    drop_earlier(p);
    return TOOL_OK;
}

/* --- Merging --- */

/* Parts of one run agree on the number of ranks, and those of one program on its build. */
static bool same_run(const struct job *a, const struct job *b)
{
    return a->info.ranks == b->info.ranks &&
           (strcmp(job_text(a, a->info.program), job_text(b, b->info.program)) ||
            !strcmp(job_text(a, a->info.program_id), job_text(b, b->info.program_id)));
}

static int merge_part(const struct parts *p, size_t i, size_t into)
{
    const struct part *part = &p->part[i], *whole = &p->part[into];

    if (!same_run(whole->job, part->job)) {
        tool_complain("%s: of another run than %s", part->path, whole->path);
        return TOOL_INPUT;
    }
    int rc = merge_job(whole->job, part->job);
    if (rc == 0)
        return TOOL_OK;
    tool_complain("%s: cannot be merged: %s", part->path,
                  rc == PYTHIA_EINVAL ? "one of its ranks is already there" : pythia_strerror(rc));
    return TOOL_INPUT;
}

/* Neighbours, then pairs of them, as the tree of a run does: a part is copied as often as there are levels. */
static int merge_all(struct parts *p)
{
    struct progress progress;
    size_t done = 0;
    int rc = TOOL_OK;

    progress_begin(&progress, "merging", p->count);
    for (size_t step = 1; step < p->count; step *= 2)
        for (size_t i = 0; rc == TOOL_OK && i + step < p->count; i += 2 * step) {
            progress_at(&progress, ++done);
            rc = merge_part(p, i + step, i);
            job_destroy(p->part[i + step].job);
            p->part[i + step].job = NULL;
        }
    progress_end(&progress);
    return rc;
}

static uint32_t ranks_there(const struct job *j)
{
    uint64_t there = 0;

    for (uint32_t i = 0; i < j->stream_count; i++)
        there += j->streams[i].thread ? 0 : j->streams[i].count;
    return there < j->info.ranks ? (uint32_t)there : j->info.ranks;
}

uint32_t parts_print_missing(const struct job *j, FILE *out)
{
    enum { MOST = 200 };
    uint32_t missing = 0, ranges = 0, ranks = j->info.ranks;

    for (uint32_t at = 0; at < ranks && ranges <= MOST;) {
        at += job_ranks_run(j, at, ranks, true);
        uint32_t gap = job_ranks_run(j, at, ranks, false);
        if (gap && ranges++ < MOST && out) {
            fprintf(out, "%s%u", missing ? "," : "missing: ranks ", at);
            if (gap > 1)
                fprintf(out, "-%u", at + gap - 1);
        }
        missing += gap;
        at += gap;
    }
    if (ranges > MOST) {
        if (out)
            fprintf(out, ",…");
        missing = ranks - ranks_there(j);
    }
    return missing;
}

int parts_join(const char *directory, struct job **whole)
{
    struct parts p = { 0 };
    int rc = parts_read(&p, directory);

    if (rc == TOOL_OK && !p.count) {
        tool_complain("%s: no part file (*.pythia) that can be used", directory);
        rc = TOOL_INPUT;
    }
    if (rc == TOOL_OK)
        rc = merge_all(&p);
    if (rc == TOOL_OK) {
        *whole = p.part[0].job;
        p.part[0].job = NULL;
        (*whole)->info.missing = parts_print_missing(*whole, NULL);
    }
    parts_destroy(&p);
    return rc;
}
