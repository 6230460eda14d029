/* SPDX-License-Identifier: MIT */
/* Who is in a job: streams by their classes' members. Nothing here counts up to a number that a file names. */
#include "job/ranges.h"
#include "job/schema.h"
#include "job/streams.h"

uint32_t job_stream_class(const struct job *j, uint32_t rank, uint32_t thread)
{
    for (uint32_t i = 0; i < j->class_count; i++)
        if (job_ranges_contain(j->classes[i].ranges, j->classes[i].member_ranges, rank, thread))
            return i;
    return GRAMMAR_NONE;
}

const struct job_stream *job_find_stream(const struct job *j, uint32_t rank, uint32_t thread)
{
    const struct job_stream key = { .rank = rank - rank % j->info.block, .thread = thread };
    const struct job_stream *s = job_rows_find(j, JOB_TABLE_STREAMS, &key);
    return !s || j->info.block == 1 || job_stream_class(j, rank, thread) != GRAMMAR_NONE ? s : NULL;
}

uint64_t job_streams(const struct job *j)
{
    uint64_t streams = 0;
    for (uint32_t i = 0; i < j->stream_count; i++)
        streams += j->streams[i].count;
    return streams;
}

/* The run of the range's innermost dimension that has its first member at or after `rank`, or goes across it: that
   member, and how many follow without a gap, itself included. 0: there is none. */
static uint32_t next_run(const struct job_range *r, uint32_t rank, uint32_t *member)
{
    uint64_t i = job_range_before(r, rank);
    if (i == job_range_size(r))
        return 0;
    *member = job_range_rank(r, i);
    return r->stride == 1 ? r->count - (uint32_t)(i % r->count) : 1;
}

/* The first rank at or after `from` whose main thread has a stream, and how many there are without a gap as far as one
   range tells. 0: none. */
static uint32_t next_ranks(const struct job *j, uint32_t from, uint32_t *first)
{
    uint32_t length = 0, member = 0;
    *first = UINT32_MAX;
    for (uint32_t i = 0; i < j->class_count; i++)
        for (uint32_t k = 0; k < j->classes[i].member_ranges; k++) {
            const struct job_range *r = &j->classes[i].ranges[k];
            uint32_t n = r->thread ? 0 : next_run(r, from, &member);
            if (n && member < *first) {
                *first = member;
                length = n;
            }
        }
    return length;
}

uint32_t job_ranks_run(const struct job *j, uint32_t from, uint32_t end, bool there)
{
    uint32_t at = from, first = UINT32_MAX, length;
    while (at < end) {
        length = next_ranks(j, at, &first);
        if (!there)
            return (length && first < end ? first : end) - from;
        if (!length || first != at)
            break;
        at = length < end - at ? at + length : end;
    }
    return at - from;
}

uint64_t job_stream_launch(const struct job *j, const struct job_stream *s)
{
    uint32_t c = s->thread == 0 ? job_stream_class(j, s->rank, 0) : GRAMMAR_NONE;
    const struct grammar_flat *g = c < j->class_count ? j->classes[c].grammar : NULL;
    if (!g || !g->rule_count || !g->rules[0].length)
        return 0;
    uint32_t n = g->rules[0].first;
    if (g->nodes[n].symbol >= j->terminal_count || !job_is_start(j, g->nodes[n].symbol))
        return 0;
    const struct job_own *o = job_own_of(j, c, n, s->rank, 0);
    const struct grammar_moments *took = &g->stats[n].duration;
    return (uint64_t)(o && o->ranks ? job_own_mean(o, JOB_OWN_DURATION) : grammar_moments_mean(took, g->stats[n].count));
}

struct job_base job_base_of(const struct job *j)
{
    struct job_base b = { .threads = 1, .wall_ns = j->stream_count ? 0 : (double)j->info.wall_ns };
    uint32_t threads = 0;
    double streams = 0;

    for (uint32_t i = 0; i < j->stream_count; i++) { /* by rank, then thread */
        const struct job_stream *s = &j->streams[i];
        uint64_t mean = job_stream_mean(s, s->wall_ns), most = s->wall.most > mean ? s->wall.most : mean,
                 launch = job_stream_launch(j, s);
        streams += (double)s->wall_ns - (double)launch * s->count;
        threads = (i && s->rank == s[-1].rank ? threads : 0) + (s->events > 0);
        b.threads = threads > b.threads ? threads : b.threads;
        if (s->thread)
            continue;
        b.ranks += s->count;
        b.wall_ns = most > launch && (double)(most - launch) > b.wall_ns ? (double)(most - launch) : b.wall_ns;
    }
    b.ns = b.wall_ns * b.ranks * b.threads;
    b.ns = b.ns > streams ? b.ns : streams; /* no thread outlives its process; a file may say so */
    return b;
}

uint64_t job_launch_time(const struct job *j)
{
    uint64_t ns = 0;

    for (uint32_t c = 0; c < j->class_count; c++) {
        const struct grammar_flat *g = j->classes[c].grammar;
        uint32_t n = g && g->rule_count && g->rules[0].length ? g->rules[0].first : GRAMMAR_NONE;
        if (n != GRAMMAR_NONE && g->nodes[n].symbol < j->terminal_count && job_is_start(j, g->nodes[n].symbol))
            ns += g->stats[n].duration.sum;
    }
    return ns;
}

double job_mpi_time(const struct job *j)
{
    double ns = -(double)job_launch_time(j);

    for (uint32_t i = 0; i < j->stream_count; i++)
        ns += (double)j->streams[i].mpi_ns;
    return ns > 0 ? ns : 0;
}
