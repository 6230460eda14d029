/* SPDX-License-Identifier: MIT */
/* The forms of the report: they agree, fit, and bear any name and any figure that a job file can have. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/findings.h"
#include "merge/merge.h"
#include "page/export.h"
#include "page/html.h"
#include "replay/bind.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"
#include "views/scaling.h"
#include "views/views.h"

/* JSON, CSV, the seven views, all loops, all call paths, page, trace in two forms, graph, stacks, and side by
   side with itself. */
enum { OTHERS = 9, FORMS = 17 };

static void print_other_form(struct report *r, int form, FILE *out)
{
    struct views_tree_how how = {.all = true};
    struct page_export limits = {.limit = 500, .folded = form == 4};
    struct views_scaling two = {.count = 2, .file = {"a", "b"}, .report = {r, r}};
    switch (form) {
    case 0:
        views_print_text(r, VIEWS_STRUCTURE, &how, out);
        break;
    case 1:
        views_print_text(r, VIEWS_CALLTREE, &how, out);
        break;
    case 2:
        page_print_html(r, out);
        break;
    case 3:
    case 4:
        page_print_trace(r, &limits, out);
        break;
    case 5:
        page_print_dot(r, &limits, out);
        break;
    case 6:
        page_print_folded(r, out);
        break;
    default:
        views_print_scaling(&two, out);
    }
}

static char *print_form(const struct job *j, int form)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct report *r = report_create(j);
    struct views_tree_how how = {0};
    if (form >= OTHERS)
        print_other_form(r, form - OTHERS, out);
    else if (form == 0)
        views_print_json(r, NULL, out);
    else if (form == 1)
        views_print_csv(r, out);
    else
        views_print_text(r, (enum views_view)(form - 2), &how, out);
    ck_assert(!ferror(out));
    report_destroy(r);
    fclose(out);
    return text;
}

START_TEST(json_agrees_with_the_model)
{
    struct job *j = hand_nested();
    struct findings_model *m = findings_model_create(j);
    char *text = print_form(j, 0);
    cJSON *root = cJSON_Parse(text);
    ck_assert_ptr_nonnull(root);
    cJSON *sites = cJSON_GetObjectItemCaseSensitive(root, "callsites");
    ck_assert_int_eq(cJSON_GetArraySize(sites), (int)m->site_count);
    for (uint32_t i = 0; i < m->site_count; i++) {
        cJSON *o = cJSON_GetArrayItem(sites, (int)i);
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(o, "function")->valuestring,
                         job_text(j, m->sites[i].function));
        ck_assert_double_eq(cJSON_GetObjectItemCaseSensitive(o, "count")->valuedouble, (double)m->sites[i].count);
        ck_assert_double_eq(cJSON_GetObjectItemCaseSensitive(o, "time_seconds")->valuedouble,
                            (double)m->sites[i].time_ns / 1e9);
        ck_assert(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(o, "line"))); /* the module is nowhere */
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(o, "module")->valuestring, "app");
    }
    cJSON_Delete(root);
    free(text);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

static double figure_of(struct views_scaling *s, int job, const char *key)
{
    cJSON *root = views_scaling_json(s);
    cJSON *value = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "jobs"), job), key);
    ck_assert_ptr_nonnull(value);
    double figure = cJSON_IsNull(value) ? -1 : value->valuedouble;
    cJSON_Delete(root);
    return figure;
}

/* One program on one thread and on two: the same useful time, in half of the time if it were ideal. What its first
   threads alone have says nothing of that. */
START_TEST(scaling_by_all_threads)
{
    struct job *j = hand_nested();
    struct report *one = report_create(j), *two = report_create(j);
    struct views_scaling s = {.count = 2, .file = {"a", "b"}, .report = {one, two}};
    struct findings_efficiency *e = &two->model->efficiency;
    one->model->efficiency.known = one->model->efficiency.measured = true;
    one->model->efficiency.threads = 1;
    one->model->efficiency.parallel = 1;
    one->model->efficiency.of.useful = 1e9;
    one->model->wall_ns = 1000000000;
    *e = one->model->efficiency;
    e->threads = 2;
    e->parallel = .8;
    two->model->wall_ns = 625000000;
    two->model->sum_compute_ns = one->model->sum_compute_ns / 4;
    two->model->sum_omp_ns = 0;
    ck_assert_double_eq(figure_of(&s, 1, "computation_scaling"), 1);
    ck_assert_double_eq(figure_of(&s, 1, "speedup"), 1.6);
    ck_assert_double_eq(figure_of(&s, 1, "global_efficiency"), .8);
    ck_assert_double_eq(figure_of(&s, 1, "efficiency"), .8);
    e->measured = false;
    ck_assert_double_eq(figure_of(&s, 1, "parallel_efficiency"), -1);
    ck_assert_double_eq(figure_of(&s, 1, "computation_scaling"), -1);
    ck_assert_double_eq(figure_of(&s, 1, "global_efficiency"), -1);
    ck_assert_double_ge(figure_of(&s, 1, "load_balance"), 0);
    e->known = false;
    ck_assert_double_eq(figure_of(&s, 1, "load_balance"), -1);
    report_destroy(one);
    report_destroy(two);
    job_destroy(j);
}
END_TEST

/* Names that break quoting and encoding. */
START_TEST(json_and_csv_survive_any_name)
{
    struct job *j = job_create();
    hand_once(j, (uint32_t[]){ hand_word(j, "a\"b,\\c\x01"), hand_word(j, "caf\xc3\xa9 \xff\xfe \xed\xa0\x80") }, 2);
    char *json = print_form(j, 0), *csv = print_form(j, 1);
    cJSON *root = cJSON_Parse(json);
    ck_assert_ptr_nonnull(root);
    cJSON *sites = cJSON_GetObjectItemCaseSensitive(root, "callsites");
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(sites, 0), "function")->valuestring,
                     "a\"b,\\c\x01");
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(sites, 1), "function")->valuestring,
                     "caf\xc3\xa9 ?? ???");
    ck_assert_ptr_nonnull(strstr(csv, "\"a\"\"b,\\c\x01\",,,,,,1,"));
    cJSON_Delete(root);
    free(json);
    free(csv);
    job_destroy(j);
}
END_TEST

/* Of a name with line ends and escapes nothing but its printable part gets through. */
START_TEST(text_survives_any_name)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    hand_append(g, hand_word(j, "a\nb\tc\x1b[2J"), 1, 1);
    hand_append(g, hand_call(j, "MPI_\nX\x7f", 1, JOB_OTHER), 1, 1);
    hand_stream(j, g, 0, 4, 0);
    j->info.program = job_string(j, "/x/pro\ngram");
    j->info.arguments = job_string(j, "-c \nimport os\n");
    for (int form = 2; form < OTHERS; form++) {
        char *text = print_form(j, form);
        for (char *c = text; *c; c++)
            ck_assert_msg((unsigned char)*c >= ' ' || *c == '\n', "form %d: character %d", form, *c);
        ck_assert_msg(!strstr(text, "\nX") && !strstr(text, "\nb") && !strstr(text, "\nimport") &&
                          !strstr(text, "\ngram"),
                      "%s", text);
        free(text);
    }
    ck_assert_str_eq(findings_function_text(j, 0), "a?b?c?[2J");
    job_destroy(j);
}
END_TEST

static void fits_a_screen(const char *text, int form)
{
    int lines = 0;
    for (const char *c = text; *c; lines++) {
        int columns = 0;
        for (; *c && *c != '\n'; c++)
            columns += ((unsigned char)*c & 0xc0) != 0x80;
        ck_assert_msg(columns <= 80, "view %d, line %d has %d columns:\n%s", form, lines + 1, columns, text);
        c += *c == '\n';
    }
    ck_assert_msg(lines <= 40, "%d lines", lines);
}

/* Many callsites, regions, classes, long names; and the empty job. */
START_TEST(the_summary_fits_a_screen)
{
    struct job *j = job_create();
    j->info.program = job_string(
        j, "/a/very/long/path/to/a-program-with-a-name-that-does-not-fit-anywhere-on-a-screen-at-all");
    j->info.arguments = job_string(
        j, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34");
    j->info.mpi = job_string(
        j, "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022, and more");
    j->info.start_time = 1700000000;
    j->info.missing = 3;
    j->oracle.present = 1;
    for (int d = 0; d < ORACLE_DISTANCES; d++)
        j->oracle.score.at[d].predictions = j->oracle.score.at[d].hits = 1000;
    j->oracle.score.time_error[ORACLE_TIME_BUCKETS / 2] = 7;
    j->oracle.actions = UINT64_MAX;
    j->oracle.ranks = 1234567;
    j->oracle.wall_ns = 98765432100000;
    j->oracle.gain_seconds = j->oracle.cost_seconds = 1234567.89;
    uint32_t terminal[40];
    for (uint32_t i = 0; i < 40; i++)
        terminal[i] = i % 2 ? hand_region(j, i)
                            : hand_call(j, i % 4 ? "MPI_Neighbor_alltoallw_init" : "MPI_Send", i, 1 + i % 9);
    for (uint32_t rank = 0; rank < 20; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (uint32_t i = 0; i < 2000; i++)
            hand_append(g, terminal[(i * (1 + rank % 7)) % 40], 123456789, 987654321);
        hand_stream(j, g, rank, 2000ull * 1111111110, 1000ull * 1111111110);
    }
    for (int form = 0; form < FORMS; form++) {
        char *text = print_form(j, form);
        if (form == 2)
            fits_a_screen(text, form);
        free(text);
    }
    job_destroy(j);
}
END_TEST

/* Two executions at the program's own size tell nothing; no region gains more than it took. */
START_TEST(gains_are_bounded)
{
    struct job *j = job_create();
    uint32_t region = hand_region(j, 0x30);
    struct grammar *g = grammar_create(1 << 20);
    for (int i = 0; i < 10; i++)
        hand_append(g, region, 0, 1000);
    hand_stream(j, g, 0, 10000, 0);
    struct job_region known = { .callsite = j->terminals[region].callsite, .where = GRAMMAR_NONE, .team = 2,
                                .executions = 10, .changed = 8, .gain_ns = INT64_C(22900000000) };
    struct report *r = report_create(j);
    known.controls = 4;
    ck_assert(isnan(views_gain(r, &known)));
    known.controls = 5;
    ck_assert_double_eq(views_gain(r, &known), 1e7);
    known.gain_ns = -300;
    ck_assert_double_eq(views_gain(r, &known), -300);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* Threads' own clocks may say more than there was: the parts are no more than all. */
START_TEST(parts_are_no_more_than_the_capacity)
{
    struct job *j = job_create();
    uint32_t region = hand_region(j, 0x30);
    struct grammar *g = grammar_create(1 << 20);
    for (int i = 0; i < 10; i++)
        hand_append(g, region, 0, 1000);
    hand_stream(j, g, 0, 10000, 0);
    j->info.threads = 2;
    struct job_threads t = { .rank = 0, .callsite = GRAMMAR_NONE, .ranks = 1, .threads = 2, .samples = 10,
                             .region_ns = 10000000, .team_ns = 20050000, .timed_ns = 20050000 };
    t.part[JOB_THREADS_WORK] = 15000000;
    t.part[JOB_THREADS_UNEVEN] = 5050000;
    ck_assert_int_eq(job_threads_add(j, &t), 0);
    struct report *r = report_create(j);
    const struct findings_capacity *of = &r->model->efficiency.of;
    ck_assert_double_eq_tol(of->mpi + of->ended + of->useful + of->serial + of->fork_join + of->waiting + of->uneven,
                            of->all, 1);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* Only rank 1 waits long in MPI_Barrier: its own time is known, and rank 0's is what is left, not the mean of both. */
START_TEST(times_of_others_are_what_is_left)
{
    struct job *j = job_create();
    uint32_t many = hand_call(j, "MPI_Send", 0x20, JOB_P2P);
    uint32_t once = hand_call(j, "MPI_Barrier", 0x30, JOB_COLLECTIVE);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 1000; i++)
            hand_append(g, many, 0, rank ? 1 : 100);
        hand_append(g, once, 0, rank ? 100000 : 10);
        hand_stream(j, g, rank, 101010, 101010);
    }
    struct replay_bind *b = replay_bind_create(j);
    double ns = 0;
    for (uint32_t s = 0; s < b->site_count; s++)
        ns += b->site[s].terminal == once ? b->site[s].call_ns : 0;
    ck_assert_double_eq_tol(ns, 100010e3, 10e3);
    replay_bind_destroy(b);
    job_destroy(j);
}
END_TEST

/* What to try takes no letter of a call's name: there is a line more. */
START_TEST(no_call_is_cut_for_advice)
{
    struct job *j = job_create();
    uint32_t call = hand_call(j, "MPI_Win_allocate_shared", 0x20, JOB_ONESIDED);
    struct grammar *g = grammar_create(1 << 20);
    hand_append(g, call, 0, 1000);
    hand_stream(j, g, 0, 10000, 0);
    struct report *r = report_create(j);
    struct findings_list *f = r->findings = calloc(1, sizeof *f);
    f->known = true;
    f->finding = calloc(1, sizeof *f->finding);
    f->count = 1;
    *f->finding = (struct finding){ .kind = FINDINGS_MANY_SMALL_MESSAGES, .where = "here", .cause = "here",
                                    .ranks = "ranks 0-1,3-4,7-8", .call = call, .by = call, .seconds = 1,
                                    .share = 0.5 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    views_print_findings(r, 3, out);
    fclose(out);
    ck_assert_msg(strstr(text, "in MPI_Win_allocate_shared:\n"), "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "                 fewer, larger messages\n"));
    free(text);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

START_TEST(an_empty_job_can_be_reported)
{
    struct job *j = job_create();
    for (int form = 0; form < FORMS; form++) {
        char *text = print_form(j, form);
        ck_assert_msg(form == 4 || form == OTHERS + 6 || *text, "form %d says nothing", form);
        free(text);
    }
    job_destroy(j);
}
END_TEST

/* --- Hostile jobs: whatever passes job_check is reported, whatever its figures are --- */

struct area {
    void *bytes;
    size_t size;
};

static size_t areas_of(struct job *j, struct area *a)
{
    struct job_class *c = &j->classes[0];
    struct grammar_flat *g = c->grammar;
    size_t n = 0;
    a[n++] = (struct area){j->modules, j->module_count * sizeof *j->modules};
    a[n++] = (struct area){j->frames, j->frame_count * sizeof *j->frames};
    a[n++] = (struct area){j->callsites, j->callsite_count * sizeof *j->callsites};
    a[n++] = (struct area){j->comms, j->comm_count * sizeof *j->comms};
    a[n++] = (struct area){j->streams, j->stream_count * sizeof *j->streams};
    a[n++] = (struct area){&j->info, sizeof j->info};
    a[n++] = (struct area){&j->oracle, sizeof j->oracle};
    a[n++] = (struct area){g->nodes, g->node_count * sizeof *g->nodes};
    a[n++] = (struct area){g->stats, g->node_count * sizeof *g->stats};
    a[n++] = (struct area){g->attrs, g->attr_count * sizeof *g->attrs};
    a[n++] = (struct area){c->ranges, c->range_count * sizeof *c->ranges};
    a[n++] = (struct area){c->variants, c->variant_count * sizeof *c->variants};
    a[n++] = (struct area){c->spread, g->node_count * sizeof *c->spread};
    return n;
}

static struct job *make_rich(void)
{
    struct job *j = job_create();
    uint32_t send = hand_call(j, "MPI_Send", 0x10, JOB_P2P), region = hand_region(j, 0x40);
    struct job_terminal t = j->terminals[region];
    t.phase = JOB_OPEN;
    uint32_t open = job_terminal(j, &t);
    t.phase = JOB_CLOSE;
    uint32_t close = job_terminal(j, &t);
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 20; i++) {
            struct grammar_event e = {
                .terminal = send, .gap = 10, .duration = 5, .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES
            };
            e.value[GRAMMAR_PEER] = (rank + 1 + i % 3) % 4;
            e.value[GRAMMAR_BYTES] = 100 * i;
            hand_append(g, open, 2, 0);
            grammar_append(g, &e);
            e = (struct grammar_event){.terminal = i % 2 ? close : region, .gap = 7, .channels = 1u << GRAMMAR_TEAM};
            e.value[GRAMMAR_TEAM] = 1 + i % 4;
            grammar_append(g, &e);
        }
        hand_stream(j, g, rank, 1000, 100);
    }
    j->oracle.present = 1;
    return j;
}

/* Slices of a call that a process of the trace has, of a thread. */
static int slices(const cJSON *trace, const char *call, int rank, int thread)
{
    const cJSON *e;
    int n = 0;
    cJSON_ArrayForEach(e, cJSON_GetObjectItem(trace, "traceEvents"))
        n += !strcmp(cJSON_GetObjectItem(e, "ph")->valuestring, "X") &&
             !strncmp(cJSON_GetObjectItem(e, "name")->valuestring, call, strlen(call)) &&
             cJSON_GetObjectItem(e, "pid")->valueint == rank && cJSON_GetObjectItem(e, "tid")->valueint == thread;
    return n;
}

/* Ranks 0 and 1, and a further thread of each, are of one class, whose loop turns 5 and 10 times. */
START_TEST(a_trace_has_each_ranks_own_turns)
{
    struct job *j = job_create();
    uint32_t look = hand_call(j, "MPI_Iprobe", 0x10, JOB_OTHER);
    uint32_t end = hand_call(j, "MPI_Comm_size", 0x20, JOB_OTHER);
    for (uint32_t stream = 0; stream < 4; stream++) {
        struct grammar *g = grammar_create(1 << 20);
        uint32_t turns = 5 * (stream % 2 + 1);
        for (uint32_t i = 0; i < turns; i++)
            hand_append(g, look, 2, 1);
        hand_append(g, end, 2, 1);
        struct grammar_flat *flat = grammar_freeze(g);
        struct job_stream s = { .rank = stream % 2, .thread = stream / 2, .events = flat->events,
                                .wall_ns = 3000 * (turns + 1), .mpi_ns = 1000 * (turns + 1) };
        grammar_destroy(g);
        j->info.ranks = 2;
        ck_assert_int_eq(merge_add_stream(j, &s, flat), 0);
    }
    j->info.threads = j->info.runs = 1;
    j->info.wall_ns = 33000;
    ck_assert_uint_eq(j->class_count, 1);
    char *text = print_form(j, OTHERS + 3);
    cJSON *trace = cJSON_Parse(text);
    ck_assert_int_eq(slices(trace, "Iprobe", 0, 0) + slices(trace, "MPI_Iprobe", 0, 0), 5);
    ck_assert_int_eq(slices(trace, "Iprobe", 1, 0) + slices(trace, "MPI_Iprobe", 1, 0), 10);
    ck_assert_int_eq(slices(trace, "Iprobe", 1, 1) + slices(trace, "MPI_Iprobe", 1, 1), 10);
    cJSON_Delete(trace);
    free(text);
    job_destroy(j);
}
END_TEST

START_TEST(hostile_figures_are_printed)
{
    static const uint64_t special[] = {0, 1, 0x7fffffff, 0xffffffff, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX, 64};
    struct job *j = make_rich();
    unsigned seed = (unsigned)_i + 1, accepted = 0;
    char why[128];
    for (int turn = 0; turn < 150; turn++) {
        struct area areas[16];
        struct area *a = &areas[(size_t)rand_r(&seed) % areas_of(j, areas)];
        size_t width = rand_r(&seed) % 2 ? 4 : 8;
        if (a->size < width)
            continue;
        unsigned char *at = (unsigned char *)a->bytes + (size_t)rand_r(&seed) % (a->size / width) * width, old[8];
        uint64_t value = rand_r(&seed) % 3 ? special[rand_r(&seed) % 8]
                                           : (uint64_t)rand_r(&seed) << 32 | (unsigned)rand_r(&seed);
        memcpy(old, at, width);
        memcpy(at, &value, width);
        if (job_check(j, why, sizeof why) != 0) {
            memcpy(at, old, width); /* what is accepted stays, and adds up */
            continue;
        }
        accepted++;
        for (int form = 0; form < FORMS; form++)
            free(print_form(j, form));
    }
    ck_assert_msg(accepted > 5, "seed %d: only %u accepted", _i + 1, accepted);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(json_agrees_with_the_model), UNIT_TEST(json_and_csv_survive_any_name),
        UNIT_TEST(scaling_by_all_threads),
        UNIT_TEST(text_survives_any_name), UNIT_TEST(the_summary_fits_a_screen),
        UNIT_TEST(an_empty_job_can_be_reported), UNIT_TEST(gains_are_bounded),
        UNIT_TEST(a_trace_has_each_ranks_own_turns), UNIT_TEST(no_call_is_cut_for_advice),
        UNIT_TEST(times_of_others_are_what_is_left),
        UNIT_TEST(parts_are_no_more_than_the_capacity), UNIT_LOOP(hostile_figures_are_printed, 20),
    };
    return unit_run("page/forms", tests, UNIT_COUNT(tests));
}
