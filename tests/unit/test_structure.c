/* SPDX-License-Identifier: MIT */
/* The reading view: exact texts, and a reader that gets the whole stream back from it. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/structure.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

/* The EP program of the source, figure 2: its times are those of the figure. */
static struct job *make_ep(void)
{
    struct job *j = job_create();
    uint32_t bcast = hand_call(j, "MPI_Bcast", 0x10, JOB_COLLECTIVE);
    uint32_t barrier = hand_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
    uint32_t allreduce = hand_call(j, "MPI_Allreduce", 0x30, JOB_COLLECTIVE);
    struct grammar *g = grammar_create(1 << 20);
    hand_append(g, bcast, 720, 487);
    hand_append(g, barrier, 900, 864);
    for (int i = 0; i < 4; i++)
        hand_append(g, allreduce, i == 0 ? 1308795 : 1308792, i == 0 ? 128 : 129);
    hand_stream(j, g, 0, 5238657, 1866);
    j->info.program = job_string(j, "/nowhere/ep");
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
        report_print_structure(j, c, names, &how, out);
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
    expect_structure(
        hand_nested(), (struct report_structure){ 0 },
        "((CPU0: 2.00+Send0: 1.00)[124]+(CPU1: 10.00+Recv1: 4.00+CPU2: 6.00+Allreduce2: 20.00)[3])[5]: 2460\n"
        "CPU2: 1\n"
        "Allreduce2: 1\n");
}
END_TEST

START_TEST(depth_hides_inner_loops)
{
    expect_structure(hand_nested(), (struct report_structure){.depth = 1, .collapse = true},
                     "((…)[124]+(…)[3])[5]: 2460\n"
                     "(CPU2+Allreduce2): 2\n");
}
END_TEST

START_TEST(indented_code)
{
    expect_structure(hand_nested(), (struct report_structure){.indented = true},
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
    uint32_t barrier = hand_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 3; i++)
            hand_append(g, barrier, 10 + 2 * rank, 2);
        hand_stream(j, g, rank, 100, 6);
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
        words[i] = hand_word(j, name);
    }
    /* Turns of loops and copies of what was: long rules, used in many places, and nested ones. */
    for (size_t n = 0; n < EVENTS;) {
        uint32_t x = (uint32_t)rand_r(&seed);
        size_t length = 1 + x % 60, from = n > length ? (size_t)rand_r(&seed) % (n - length) : 0;
        for (size_t i = 0; i < length && n < EVENTS; i++, n++)
            stream[n] = from && x % 4 ? stream[from + i] : (uint32_t)rand_r(&seed) % 6;
    }
    for (size_t n = 0; n < EVENTS; n++)
        hand_append(g, words[stream[n]], 1, 1);
    hand_stream(j, g, 0, 2 * EVENTS, 0);
    char *text = structure_of(j, (struct report_structure){.collapse = true});
    struct reader r = {.events = back, .room = EVENTS + 1};
    read_view(&r, text);
    ck_assert_msg(r.count == EVENTS, "seed %d: %zu events", _i + 1, r.count);
    ck_assert_msg(!memcmp(stream, back, sizeof stream), "seed %d: other events", _i + 1);
    free(text);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(ep_reads_as_in_figure_2), UNIT_TEST(collapsed_lines_have_totals_only), UNIT_TEST(loops_nest),
        UNIT_TEST(depth_hides_inner_loops), UNIT_TEST(indented_code), UNIT_TEST(members_are_averaged),
        UNIT_LOOP(nothing_is_lost, 60),
    };
    return unit_run("report/structure", tests, UNIT_COUNT(tests));
}
