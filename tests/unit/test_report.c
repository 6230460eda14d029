/* SPDX-License-Identifier: MIT */
/* Reports of jobs made by hand: exact texts, and a reader that gets the whole stream back from the reading view. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/grammar.h"
#include "pythia.h"
#include "report/export.h"
#include "report/html.h"
#include "report/report.h"
#include "report/scaling.h"
#include "report/units.h"
#include "tests/unit/unit.h"

/* --- Jobs --- */

static uint32_t add_call(struct job *j, const char *function, uint64_t offset, uint8_t call_class)
{
    struct job_frame f = {.module = job_module(j, "/nowhere/app", "00ff"), .offset = offset};
    struct job_terminal t = {.kind = JOB_CALL, .call_class = call_class, .function = job_string(j, function)};
    t.callsite = job_callsite(j, &f, 1);
    t.comm = job_comm(j, "world", 4);
    t.peer_class = call_class == JOB_P2P ? JOB_PEER_RANK : JOB_PEER_NONE;
    return job_terminal(j, &t);
}

static uint32_t add_region(struct job *j, uint64_t offset)
{
    struct job_frame f = {.module = job_module(j, "/nowhere/app", "00ff"), .offset = offset};
    struct job_terminal t = {.kind = JOB_REGION, .function = job_string(j, "omp parallel"), .comm = GRAMMAR_NONE};
    t.callsite = job_callsite(j, &f, 1);
    return job_terminal(j, &t);
}

static uint32_t add_word(struct job *j, const char *word)
{
    struct job_terminal t = {.kind = JOB_WORD, .function = job_string(j, word), .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE};
    return job_terminal(j, &t);
}

static void append(struct grammar *g, uint32_t terminal, uint64_t gap_us, uint64_t duration_us)
{
    struct grammar_event e = {.terminal = terminal, .gap = gap_us * 1000, .duration = duration_us * 1000};
    grammar_append(g, &e);
}

/* Freezes `g` into the stream of a rank, and destroys it. */
static void add_stream(struct job *j, struct grammar *g, uint32_t rank, uint64_t wall_us, uint64_t mpi_us)
{
    struct grammar_flat *flat = grammar_freeze(g);
    ck_assert_ptr_nonnull(flat);
    struct job_stream s = {.rank = rank, .events = flat->events, .wall_ns = wall_us * 1000, .mpi_ns = mpi_us * 1000};
    grammar_destroy(g);
    ck_assert_int_eq(job_add_stream(j, &s, flat), 0);
    j->info.ranks = rank + 1 > j->info.ranks ? rank + 1 : j->info.ranks;
    j->info.threads = 1;
    j->info.runs = 1;
    j->info.wall_ns = s.wall_ns > j->info.wall_ns ? s.wall_ns : j->info.wall_ns;
}

/* The EP program of the source, figure 2: its times are those of the figure. */
static struct job *make_ep(void)
{
    struct job *j = job_create();
    uint32_t bcast = add_call(j, "MPI_Bcast", 0x10, JOB_COLLECTIVE);
    uint32_t barrier = add_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
    uint32_t allreduce = add_call(j, "MPI_Allreduce", 0x30, JOB_COLLECTIVE);
    struct grammar *g = grammar_create(1 << 20);
    append(g, bcast, 720, 487);
    append(g, barrier, 900, 864);
    for (int i = 0; i < 4; i++)
        append(g, allreduce, i == 0 ? 1308795 : 1308792, i == 0 ? 128 : 129);
    add_stream(j, g, 0, 5238657, 1866);
    j->info.program = job_string(j, "/nowhere/ep");
    return j;
}

/* A loop in a loop, like the source's LU. */
static struct job *make_nested(void)
{
    struct job *j = job_create();
    uint32_t send = add_call(j, "MPI_Send", 0x10, JOB_P2P);
    uint32_t recv = add_call(j, "MPI_Recv", 0x20, JOB_P2P);
    uint32_t reduce = add_call(j, "MPI_Allreduce", 0x30, JOB_COLLECTIVE);
    struct grammar *g = grammar_create(1 << 20);
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 124; i++)
            append(g, send, 2, 1);
        for (int i = 0; i < 3; i++) {
            append(g, recv, 10, 4);
            append(g, reduce, 6, 20);
        }
    }
    append(g, reduce, 1, 1);
    add_stream(j, g, 0, 5 * (372 + 120) + 2, 1000);
    return j;
}

/* --- Texts --- */

static char *structure_of(const struct job *j, struct report_structure how)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct report_names *names = report_names_create(j);
    for (uint32_t c = 0; c < j->class_count; c++)
        ck_assert_int_eq(report_print_structure(j, c, names, &how, out), 0);
    report_names_destroy(names);
    fclose(out);
    return text;
}

static void expect_structure(struct job *j, struct report_structure how, const char *expected)
{
    char *text = structure_of(j, how);
    ck_assert_str_eq(text, expected);
    free(text);
    job_destroy(j);
}

START_TEST(ep_reads_as_in_figure_2)
{
    expect_structure(make_ep(), (struct report_structure){0},
                     "CPU0: 720\n"
                     "Bcast0: 487\n"
                     "CPU1: 900\n"
                     "Barrier1: 864\n"
                     "(CPU2: 1308792.75+Allreduce2: 128.75)[4]: 5235686\n");
}
END_TEST

START_TEST(collapsed_lines_have_totals_only)
{
    expect_structure(make_ep(), (struct report_structure){.collapse = true},
                     "(CPU0+Bcast0): 1207\n"
                     "(CPU1+Barrier1): 1764\n"
                     "(CPU2+Allreduce2)[4]: 5235686\n");
}
END_TEST

START_TEST(loops_nest)
{
    expect_structure(make_nested(), (struct report_structure){0},
                     "((CPU0: 2.00+Send0: 1.00)[124]+(CPU1: 10.00+Recv1: 4.00+CPU2: 6.00+Allreduce2: 20.00)[3])[5]: 2460\n"
                     "CPU2: 1\n"
                     "Allreduce2: 1\n");
}
END_TEST

START_TEST(depth_hides_inner_loops)
{
    expect_structure(make_nested(), (struct report_structure){.depth = 1, .collapse = true},
                     "((…)[124]+(…)[3])[5]: 2460\n"
                     "(CPU2+Allreduce2): 2\n");
}
END_TEST

START_TEST(indented_code)
{
    expect_structure(make_nested(), (struct report_structure){.indented = true},
                     "    total       gap   in call\n"
                     "  2.46 ms                      loop 5 times\n"
                     "  1.86 ms   2.00 us   1.00 us      124 x MPI_Send@0\n"
                     "   600 us                          loop 3 times\n"
                     "   210 us   10.0 us   4.00 us          MPI_Recv@1\n"
                     "   390 us   6.00 us   20.0 us          MPI_Allreduce@2\n"
                     "  2.00 us   1.00 us   1.00 us  MPI_Allreduce@2\n");
}
END_TEST

START_TEST(members_are_averaged)
{
    struct job *j = job_create();
    uint32_t barrier = add_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 3; i++)
            append(g, barrier, 10 + 2 * rank, 2);
        add_stream(j, g, rank, 100, 6);
    }
    ck_assert_uint_eq(j->class_count, 1);
    expect_structure(j, (struct report_structure){0}, "(CPU0: 13.00+Barrier0: 2.00)[3]: 45\n");
}
END_TEST

/* --- The reading view is lossless: a naive reader expands it again --- */

struct reader {
    const char *at, *text;
    uint32_t *events;
    size_t count, room;
};

static void read_parts(struct reader *r);

/* The body of the rule that is printed under `name`. */
static void read_rule(struct reader *r, const char *name)
{
    char head[32];
    const char *back = r->at;
    int n = snprintf(head, sizeof head, "\n%s = ", name);
    const char *rule = strstr(r->text, head);
    ck_assert_msg(rule, "no rule %s", name);
    r->at = rule + n;
    read_parts(r);
    r->at = back;
}

static void read_name(struct reader *r)
{
    char name[32];
    size_t n = strspn(r->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZw0123456789");
    ck_assert(n > 0 && n < sizeof name);
    memcpy(name, r->at, n);
    name[n] = '\0';
    r->at += n;
    if (!strcmp(name, "CPU")) /* the gap before a word, which follows */
        return;
    if (name[0] == 'w') {
        ck_assert(r->count < r->room);
        r->events[r->count++] = (uint32_t)atoi(name + 1);
    } else
        read_rule(r, name);
}

static void read_part(struct reader *r)
{
    size_t begin = r->count;
    if (*r->at == '(') {
        r->at++;
        read_parts(r);
        ck_assert_int_eq(*r->at, ')');
        r->at++;
    } else
        read_name(r);
    if (*r->at != '[')
        return;
    unsigned long turns = strtoul(r->at + 1, (char **)&r->at, 10);
    ck_assert_int_eq(*r->at++, ']');
    size_t length = r->count - begin;
    for (unsigned long i = 1; i < turns; i++) {
        ck_assert(r->count + length <= r->room);
        memcpy(r->events + r->count, r->events + begin, length * sizeof *r->events);
        r->count += length;
    }
}

static void read_parts(struct reader *r)
{
    read_part(r);
    while (*r->at == '+') {
        r->at++;
        read_part(r);
    }
}

static void read_view(struct reader *r, const char *text)
{
    r->text = text;
    for (r->at = text; *r->at; r->at++) {
        if (strstr(r->at, " = ") && memchr(r->at, '=', strcspn(r->at, "\n")))
            break; /* rules follow */
        read_parts(r);
        r->at += strcspn(r->at, "\n"); /* ": total" */
    }
}

START_TEST(nothing_is_lost)
{
    enum { EVENTS = 3000 };
    uint32_t stream[EVENTS], back[EVENTS + 1];
    struct job *j = job_create();
    struct grammar *g = grammar_create(4 << 20);
    unsigned seed = (unsigned)_i + 1;
    uint32_t words[6];
    char name[8];
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "w%u", i);
        words[i] = add_word(j, name);
    }
    /* Turns of loops and copies of what was: long rules, used in many places, and nested ones. */
    for (size_t n = 0; n < EVENTS;) {
        uint32_t x = (uint32_t)rand_r(&seed);
        size_t length = 1 + x % 60, from = n > length ? (size_t)rand_r(&seed) % (n - length) : 0;
        for (size_t i = 0; i < length && n < EVENTS; i++, n++)
            stream[n] = from && x % 4 ? stream[from + i] : (uint32_t)rand_r(&seed) % 6;
    }
    for (size_t n = 0; n < EVENTS; n++)
        append(g, words[stream[n]], 1, 1);
    add_stream(j, g, 0, 2 * EVENTS, 0);
    char *text = structure_of(j, (struct report_structure){.collapse = true});
    struct reader r = {.events = back, .room = EVENTS + 1};
    read_view(&r, text);
    ck_assert_msg(r.count == EVENTS, "seed %d: %zu events", _i + 1, r.count);
    ck_assert_msg(!memcmp(stream, back, sizeof stream), "seed %d: other events", _i + 1);
    free(text);
    job_destroy(j);
}
END_TEST

/* --- The model --- */

START_TEST(sites_add_up)
{
    struct job *j = make_nested();
    struct report_model *m = report_model_create(j);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->site_count; i++)
        sum += m->sites[i].time_ns + m->sites[i].gap_ns;
    ck_assert_uint_eq(sum, j->streams[0].wall_ns);
    ck_assert_uint_eq(m->site_count, 3);
    ck_assert_str_eq(job_text(j, m->sites[0].function), "MPI_Send"); /* 620 us, most */
    ck_assert_uint_eq(m->sites[0].count, 620);
    ck_assert_uint_eq(m->loop.turns, 5);
    ck_assert_uint_eq(m->events, 651);
    report_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* wall 100, useful 90 and 60: 0.75 = 75 / 90 x 90 / 100 */
START_TEST(efficiencies_of_a_hand_made_job)
{
    struct job *j = job_create();
    uint32_t barrier = add_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        append(g, barrier, rank ? 60 : 90, rank ? 40 : 10);
        add_stream(j, g, rank, 100, rank ? 40 : 10);
    }
    struct report_model *m = report_model_create(j);
    ck_assert_double_eq_tol(m->parallel_efficiency, 0.75, 1e-12);
    ck_assert_double_eq_tol(m->load_balance, 75.0 / 90, 1e-12);
    ck_assert_double_eq_tol(m->communication_efficiency, 0.9, 1e-12);
    report_model_destroy(m);
    job_destroy(j);
}
END_TEST

START_TEST(peers_are_relative)
{
    struct job *j = job_create();
    uint32_t send = add_call(j, "MPI_Send", 0x10, JOB_P2P);
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 10; i++) {
            struct grammar_event e = {.terminal = send, .gap = 1000, .duration = 1000,
                                      .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES};
            e.value[GRAMMAR_PEER] = (rank + 1) % 4;
            e.value[GRAMMAR_BYTES] = 100;
            grammar_append(g, &e);
        }
        add_stream(j, g, rank, 20, 10);
    }
    struct report_model *m = report_model_create(j);
    ck_assert_uint_eq(m->peer_count, 1);
    ck_assert_uint_eq(m->peers[0].relation, REPORT_OFFSET);
    ck_assert_int_eq(m->peers[0].value, 1);
    ck_assert_uint_eq(m->peers[0].messages, 40);
    ck_assert_uint_eq(m->peers[0].bytes, 4000);
    ck_assert_uint_eq(m->sites[0].bytes, 4000);
    report_model_destroy(m);
    job_destroy(j);
}
END_TEST

START_TEST(teams_are_told_apart)
{
    struct job *j = job_create();
    uint32_t region = add_region(j, 0x40);
    struct grammar *g = grammar_create(1 << 20);
    for (int i = 0; i < 9; i++) {
        struct grammar_event e = {.terminal = region, .gap = 1000, .duration = i % 3 ? 5000 : 9000, .channels = 1u << GRAMMAR_TEAM};
        e.value[GRAMMAR_TEAM] = i % 3 ? 2 : 1;
        grammar_append(g, &e);
    }
    add_stream(j, g, 0, 66, 0);
    struct report_model *m = report_model_create(j);
    ck_assert_uint_eq(m->region_count, 1);
    ck_assert_uint_eq(m->regions[0].count, 9);
    ck_assert_uint_eq(m->regions[0].team_count, 2);
    ck_assert_int_eq(m->regions[0].teams[0].size, 1);
    ck_assert_uint_eq(m->regions[0].teams[0].count, 3);
    ck_assert_uint_eq(m->regions[0].teams[0].time_ns, 27000);
    ck_assert_uint_eq(m->regions[0].teams[1].count, 6);
    ck_assert_uint_eq(m->regions[0].teams[1].time_ns, 30000);
    report_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* What a region with a call inside does itself is in the gaps: 3 + 7 of each 13 us; outside, 2 before the region. */
START_TEST(time_inside_opened_regions)
{
    struct job *j = job_create();
    uint32_t barrier = add_call(j, "MPI_Barrier", 0x10, JOB_COLLECTIVE), leaf = add_region(j, 0x40);
    struct job_terminal t = j->terminals[leaf];
    t.phase = JOB_OPEN;
    uint32_t open = job_terminal(j, &t);
    t.phase = JOB_CLOSE;
    uint32_t close = job_terminal(j, &t);
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 30; i++) {
            append(g, barrier, 1, 1);
            append(g, open, 2, 0);
            append(g, barrier, 3, 4);
            struct grammar_event e = {.terminal = close, .gap = 7000, .channels = 1u << GRAMMAR_TEAM};
            e.value[GRAMMAR_TEAM] = 2;
            grammar_append(g, &e);
        }
        append(g, leaf, 5, 100);
        add_stream(j, g, rank, 30 * 18 + 105, 150);
    }
    struct report_model *m = report_model_create(j);
    ck_assert_uint_eq(m->regions[0].count, 3 * 31);
    ck_assert_uint_eq(m->regions[0].nested_ns, 3 * 30 * 10 * 1000);
    ck_assert_uint_eq(m->regions[0].time_ns, 3 * (30 * 10 + 100) * 1000);
    ck_assert_uint_eq(m->regions[0].teams[0].time_ns, 3 * 30 * 10 * 1000);
    report_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* --- Forms --- */

/* JSON, CSV, the six views, pseudo-code, page, trace in two forms, graph, and side by side with itself. */
enum { FORMS = 14 };

static int print_other_form(struct report *r, int form, FILE *out)
{
    struct report_structure how = {.indented = true};
    struct report_export limits = {.limit = 500, .folded = form == 11};
    struct report_scaling two = {.count = 2, .file = {"a", "b"}, .report = {r, r}};
    switch (form) {
    case 8:
        return report_print_text(r, REPORT_STRUCTURE, &how, out);
    case 9:
        return report_print_html(r, out);
    case 10:
    case 11:
        return report_print_trace(r, &limits, out);
    case 12:
        return report_print_dot(r, &limits, out);
    default:
        return report_print_scaling(&two, out);
    }
}

static char *print_form(const struct job *j, int form)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct report *r = report_create(j);
    struct report_structure how = {0};
    int rc = form >= 8 ? print_other_form(r, form, out) : form == 0 ? report_print_json(r, out) : form == 1 ? report_print_csv(r, out)
                                                               : report_print_text(r, (enum report_view)(form - 2), &how, out);
    ck_assert_int_eq(rc, 0);
    report_destroy(r);
    fclose(out);
    return text;
}

START_TEST(json_agrees_with_the_model)
{
    struct job *j = make_nested();
    struct report_model *m = report_model_create(j);
    char *text = print_form(j, 0);
    cJSON *root = cJSON_Parse(text);
    ck_assert_ptr_nonnull(root);
    cJSON *sites = cJSON_GetObjectItemCaseSensitive(root, "callsites");
    ck_assert_int_eq(cJSON_GetArraySize(sites), (int)m->site_count);
    for (uint32_t i = 0; i < m->site_count; i++) {
        cJSON *o = cJSON_GetArrayItem(sites, (int)i);
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(o, "function")->valuestring, job_text(j, m->sites[i].function));
        ck_assert_double_eq(cJSON_GetObjectItemCaseSensitive(o, "count")->valuedouble, (double)m->sites[i].count);
        ck_assert_double_eq(cJSON_GetObjectItemCaseSensitive(o, "time_seconds")->valuedouble, (double)m->sites[i].time_ns / 1e9);
        ck_assert(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(o, "line"))); /* the module is nowhere */
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(o, "module")->valuestring, "app");
    }
    cJSON_Delete(root);
    free(text);
    report_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* Names that break quoting and encoding. */
START_TEST(json_and_csv_survive_any_name)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    append(g, add_word(j, "a\"b,\\c\x01"), 1, 1);
    append(g, add_word(j, "caf\xc3\xa9 \xff\xfe \xed\xa0\x80"), 1, 1);
    add_stream(j, g, 0, 4, 0);
    char *json = print_form(j, 0), *csv = print_form(j, 1);
    cJSON *root = cJSON_Parse(json);
    ck_assert_ptr_nonnull(root);
    cJSON *sites = cJSON_GetObjectItemCaseSensitive(root, "callsites");
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(sites, 0), "function")->valuestring, "a\"b,\\c\x01");
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(sites, 1), "function")->valuestring, "caf\xc3\xa9 ?? ???");
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
    char function[64];
    append(g, add_word(j, "a\nb\tc\x1b[2J"), 1, 1);
    append(g, add_call(j, "MPI_\nX\x7f", 1, JOB_OTHER), 1, 1);
    add_stream(j, g, 0, 4, 0);
    j->info.program = job_string(j, "/x/pro\ngram");
    j->info.arguments = job_string(j, "-c \nimport os\n");
    for (int form = 2; form < 8; form++) {
        char *text = print_form(j, form);
        for (char *c = text; *c; c++)
            ck_assert_msg((unsigned char)*c >= ' ' || *c == '\n', "form %d: character %d", form, *c);
        ck_assert_msg(!strstr(text, "\nX") && !strstr(text, "\nb") && !strstr(text, "\nimport") && !strstr(text, "\ngram"), "%s", text);
        free(text);
    }
    report_function_text(j, 0, function, sizeof function);
    ck_assert_str_eq(function, "a?b?c?[2J");
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
    j->info.program = job_string(j, "/a/very/long/path/to/a-program-with-a-name-that-does-not-fit-anywhere-on-a-screen-at-all");
    j->info.arguments = job_string(j, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34");
    j->info.mpi = job_string(j, "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022, and more");
    j->info.start_time = 1700000000;
    j->info.missing = 3;
    j->oracle.present = 1;
    for (int d = 0; d < ORACLE_DISTANCES; d++)
        j->oracle.score.at[d].predictions = j->oracle.score.at[d].hits = 1000;
    j->oracle.score.time_error[ORACLE_TIME_BUCKETS / 2] = 7;
    j->oracle.actions = UINT64_MAX;
    j->oracle.gain_seconds = j->oracle.cost_seconds = 1234567.89;
    uint32_t terminal[40];
    for (uint32_t i = 0; i < 40; i++)
        terminal[i] = i % 2 ? add_region(j, i) : add_call(j, i % 4 ? "MPI_Neighbor_alltoallw_init" : "MPI_Send", i, 1 + i % 9);
    for (uint32_t rank = 0; rank < 20; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (uint32_t i = 0; i < 2000; i++)
            append(g, terminal[(i * (1 + rank % 7)) % 40], 123456789, 987654321);
        add_stream(j, g, rank, 2000ull * 1111111110, 1000ull * 1111111110);
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

START_TEST(an_empty_job_can_be_reported)
{
    struct job *j = job_create();
    for (int form = 0; form < FORMS; form++) {
        char *text = print_form(j, form);
        ck_assert_msg(form == 4 || *text, "form %d says nothing", form);
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
    struct job_class_entry *c = &j->classes[0];
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
    uint32_t send = add_call(j, "MPI_Send", 0x10, JOB_P2P), region = add_region(j, 0x40);
    struct job_terminal t = j->terminals[region];
    t.phase = JOB_OPEN;
    uint32_t open = job_terminal(j, &t);
    t.phase = JOB_CLOSE;
    uint32_t close = job_terminal(j, &t);
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 20; i++) {
            struct grammar_event e = {.terminal = send, .gap = 10, .duration = 5, .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES};
            e.value[GRAMMAR_PEER] = (rank + 1 + i % 3) % 4;
            e.value[GRAMMAR_BYTES] = 100 * i;
            append(g, open, 2, 0);
            grammar_append(g, &e);
            e = (struct grammar_event){.terminal = i % 2 ? close : region, .gap = 7, .channels = 1u << GRAMMAR_TEAM};
            e.value[GRAMMAR_TEAM] = 1 + i % 4;
            grammar_append(g, &e);
        }
        add_stream(j, g, rank, 1000, 100);
    }
    j->oracle.present = 1;
    return j;
}

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
        uint64_t value = rand_r(&seed) % 3 ? special[rand_r(&seed) % 8] : (uint64_t)rand_r(&seed) << 32 | (unsigned)rand_r(&seed);
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

START_TEST(units)
{
    static const struct { double ns; const char *text; } times[] = {
        {0, "0 ns"}, {999.4, "999 ns"}, {999.6, "1.00 us"}, {9994, "9.99 us"}, {9996, "10.0 us"}, {99960, "100 us"},
        {1.5e6, "1.50 ms"}, {2.5e9, "2.50 s"}, {999.4e9, "999 s"}, {3600e9, "1h00m"}, {7500e9, "2h05m"}};
    char text[32];
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        ck_assert_str_eq(report_time(times[i].ns, text), times[i].text);
    ck_assert_str_eq(report_bytes(1024 * 1536.0, text), "1.50 MiB");
    ck_assert_uint_lt(strlen(report_bytes(1e300, text)), 32); /* cut, not overrun */
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(ep_reads_as_in_figure_2), UNIT_TEST(collapsed_lines_have_totals_only), UNIT_TEST(loops_nest),
        UNIT_TEST(depth_hides_inner_loops), UNIT_TEST(indented_code), UNIT_TEST(members_are_averaged),
        UNIT_LOOP(nothing_is_lost, 60), UNIT_TEST(sites_add_up), UNIT_TEST(efficiencies_of_a_hand_made_job),
        UNIT_TEST(peers_are_relative), UNIT_TEST(teams_are_told_apart), UNIT_TEST(time_inside_opened_regions), UNIT_TEST(json_agrees_with_the_model),
        UNIT_TEST(json_and_csv_survive_any_name), UNIT_TEST(text_survives_any_name), UNIT_TEST(the_summary_fits_a_screen), UNIT_TEST(an_empty_job_can_be_reported),
        UNIT_LOOP(hostile_figures_are_printed, 20), UNIT_TEST(units),
    };
    return unit_run("report", tests, UNIT_COUNT(tests));
}
