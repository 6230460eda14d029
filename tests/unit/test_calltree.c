/* SPDX-License-Identifier: MIT */
/* The tree of call paths: what is below what, and that its sums are those of the recording. */
#include <stdlib.h>
#include <string.h>

#include "findings/calltree.h"
#include "findings/report.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

/* A path of frames at these offsets, innermost first, in modules of that name. */
static uint32_t path_of(struct job *j, const char *module, const uint64_t *offset, uint32_t count)
{
    struct job_frame frame[8];
    for (uint32_t i = 0; i < count; i++)
        frame[i] = (struct job_frame){ .module = job_module(j, module, ""), .offset = offset[i] };
    return job_callsite(j, frame, count);
}

static struct job_stop stop_of(uint32_t terminal, uint32_t path, uint64_t count, uint64_t gap, uint64_t duration)
{
    return (struct job_stop){ .terminal = terminal, .path = path, .count = count, .gap_ns = gap,
                              .duration_ns = duration };
}

static void add_stops(struct job *j, struct job_stop *stop, uint32_t count)
{
    struct job_hop hop[8];
    for (uint32_t i = 0; i < count; i++)
        hop[i] = (struct job_hop){ .from = i ? i - 1 : GRAMMAR_NONE, .to = i, .count = 1 };
    struct job_hops own = { .stop = stop, .hop = hop, .stop_count = count, .hop_count = count };
    ck_assert_int_eq(job_hops_add(j, 0, 0, &own), 0);
}

static const struct findings_path *find(const struct findings_calltree *t, const char *stack)
{
    for (uint32_t i = 0; i < t->paths; i++) {
        char *text = findings_path_stack(t, i);
        bool same = !strcmp(text, stack);
        free(text);
        if (same)
            return &t->path[i];
    }
    ck_abort_msg("no path %s", stack);
    return NULL;
}

static void adds_up(const struct findings_calltree *t)
{
    uint64_t own = 0;
    for (uint32_t i = 0; i < t->paths; i++) {
        const struct findings_path *p = &t->path[i];
        uint64_t ns = p->own_ns;
        own += p->own_ns;
        ck_assert_uint_le(i + p->inside, t->paths - 1);
        for (uint32_t k = i + 1, before = i; k <= i + p->inside; before = k, k += t->path[k].inside + 1) {
            ck_assert_int_eq(t->path[k].parent, (int)i);
            ck_assert_uint_eq(t->path[k].depth, p->depth + 1);
            if (before != i)
                ck_assert_uint_ge(t->path[before].ns, t->path[k].ns);
            ns += t->path[k].ns;
        }
        ck_assert_uint_eq(ns, p->ns);
        ck_assert_uint_le(p->call_ns, p->ns);
    }
    ck_assert_uint_eq(own, t->path[0].ns);
}

/* One call by two ways, 3 times and 1 time; a call is at 0x20 in a function that is called at 0x10 and at 0x18. */
START_TEST(one_call_by_two_ways)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    uint32_t send = hand_call(j, "MPI_Send", 0x20, JOB_P2P);
    uint32_t near = path_of(j, "a.out", (const uint64_t[]){ 0x20, 0x10 }, 2),
             far = path_of(j, "a.out", (const uint64_t[]){ 0x20, 0x18 }, 2);
    for (int i = 0; i < 4; i++)
        hand_append(g, send, 10, 1);
    hand_stream(j, g, 0, 44, 4);
    j->info.ranks = 1;
    add_stops(j, (struct job_stop[]){ stop_of(send, near, 3, 30000, 3000), stop_of(send, far, 1, 10000, 1000) }, 2);
    struct report *r = report_create(j);
    r->model->sites[0].bytes = 10; /* 3 to 1: 7 and 3, or 8 and 2 */
    struct findings_calltree *t = findings_calltree_create(r);
    adds_up(t);
    ck_assert_uint_eq(t->paths, 1 + 3 * 2);
    ck_assert_uint_eq(t->path[0].ns, r->model->stream_wall_ns);
    ck_assert_uint_eq(t->path[0].call_ns, r->model->sites[0].time_ns);
    ck_assert_uint_eq(t->path[0].count, 4);
    ck_assert_uint_eq(t->path[0].bytes, 10);
    const struct findings_path *p = find(t, "a.out+0x10;a.out+0x20;MPI_Send"),
                             *q = find(t, "a.out+0x18;a.out+0x20;MPI_Send");
    ck_assert_uint_eq(p->count, 3);
    ck_assert_uint_eq(p->own_ns, 3000);
    ck_assert_uint_eq(p[-1].own_ns, 30000);
    ck_assert_uint_eq(q->count, 1);
    ck_assert(p->bytes == 7 && q->bytes == 3);
    findings_calltree_destroy(t);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* A region with a call in it, that stands in a function of its own; OpenMP's runtime is between the two. */
START_TEST(what_a_region_calls)
{
    struct job *j = job_create();
    uint32_t region = hand_region(j, 0x80), barrier = hand_call(j, "MPI_Barrier", 0x90, JOB_COLLECTIVE);
    uint32_t around = path_of(j, "a.out", (const uint64_t[]){ 0x40, 0x10 }, 2);
    uint32_t here = job_module(j, "a.out", ""), runtime = job_module(j, "/lib/libgomp.so.1", "");
    const struct job_frame in[] = { { .module = here, .offset = 0x90 }, { .module = runtime, .offset = 0x5 },
                                    { .module = here, .offset = 0x40 }, { .module = here, .offset = 0x10 } };
    add_stops(j, (struct job_stop[]){ stop_of(region, around, 1, 5, 100),
                                      stop_of(barrier, job_callsite(j, in, 4), 1, 7, 3) }, 2);
    struct report *r = report_create(j);
    struct findings_calltree *t = findings_calltree_create(r);
    adds_up(t);
    const struct findings_path *p = find(t, "a.out+0x10;a.out+0x40;omp parallel");
    ck_assert_uint_eq(p->own_ns, 100);
    ck_assert_uint_eq(p->ns, 110);
    ck_assert_uint_eq(p->call_ns, 3);
    ck_assert_uint_eq(p->inside, 2);
    ck_assert_uint_eq(find(t, "a.out+0x10;a.out+0x40;omp parallel;a.out+0x90;MPI_Barrier")->ns, 3);
    findings_calltree_destroy(t);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* All frames of an interpreter are one; a job without paths has its calls' own places. */
START_TEST(an_interpreter)
{
    struct job *j = job_create();
    uint32_t send = hand_call(j, "MPI_Send", 0x20, JOB_P2P);
    uint32_t python = job_module(j, "/usr/bin/python3.11", ""), library = job_module(j, "/x/MPI.so", "");
    const struct job_frame in[] = { { .module = library, .offset = 0x7 }, { .module = python, .offset = 0x5 },
                                    { .module = python, .offset = 0x40 }, { .module = python, .offset = 0x10 } };
    add_stops(j, (struct job_stop[]){ stop_of(send, job_callsite(j, in, 4), 1, 5, 100) }, 1);
    struct report *r = report_create(j);
    struct findings_calltree *t = findings_calltree_create(r);
    ck_assert_uint_eq(find(t, "python;MPI.so+0x7;MPI_Send")->depth, 3);
    char text[64];
    findings_callsite_text(r->resolver, j->hops.stop[0].path, FINDINGS_CALL, text, sizeof text);
    ck_assert_str_eq(text, "MPI.so+0x7<python");
    ck_assert_ptr_null(findings_interpreter("/x/julia_set"));
    ck_assert_str_eq(findings_interpreter("/usr/lib/libpython3.11.so.1.0"), "python");
    findings_calltree_destroy(t);
    report_destroy(r);
    job_destroy(j);

    r = report_create(j = hand_nested());
    t = findings_calltree_create(r);
    adds_up(t);
    ck_assert_uint_eq(t->path[0].ns, r->model->stream_wall_ns);
    ck_assert_uint_eq(t->path[0].call_ns, r->model->call_ns);
    findings_calltree_destroy(t);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(one_call_by_two_ways), UNIT_TEST(what_a_region_calls), UNIT_TEST(an_interpreter),
    };
    return unit_run("findings/calltree", tests, UNIT_COUNT(tests));
}
