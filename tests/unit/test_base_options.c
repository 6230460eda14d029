/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "tests/unit/unit.h"

static void forget_environment(void)
{
    for (size_t i = 0; base_options_row(i); i++)
        unsetenv(base_options_row(i)->env);
}

static const struct base_option *option(const char *name)
{
    for (size_t i = 0; base_options_row(i); i++)
        if (!strcmp(base_options_row(i)->name, name))
            return base_options_row(i);
    ck_abort_msg("no option %s", name);
    return NULL;
}

START_TEST(the_table_is_consistent)
{
    const struct base_option *o, *other;
    char why[256] = "";
    for (size_t i = 0; (o = base_options_row(i)); i++) {
        ck_assert_msg(!strncmp(o->env, "PYTHIA_", 7), "%s: %s", o->name, o->env);
        ck_assert_msg(!*o->flag == !*o->commands, "%s: a flag of nobody", o->name);
        ck_assert_msg(!o->letter || *o->flag, "%s: a letter without a flag", o->name);
        ck_assert_msg(!*o->value || base_options_legal(o, o->value, why, sizeof why), "default: %s", why);
        for (size_t j = 0; j < i && (other = base_options_row(j)); j++) {
            ck_assert_str_ne(o->env, other->env);
            ck_assert_msg(!o->letter || o->letter != other->letter, "-%c twice", o->letter);
            ck_assert_msg(!*o->flag || strcmp(o->flag, other->flag), "--%s twice", o->flag);
        }
    }
}
END_TEST

START_TEST(defaults)
{
    struct pythia_options o;
    forget_environment();
    setenv("PYTHIA_DEPTH", "", 1);
    base_options_load(&o);
    ck_assert_str_eq(o.mode, "auto");
    ck_assert_str_eq(o.output, "");
    ck_assert_str_eq(o.input, "");
    ck_assert_uint_eq(o.depth, 1);
    ck_assert_str_eq(o.act, "all");
    ck_assert_uint_eq(o.memory, 64 << 20);
    ck_assert_uint_eq(o.checkpoint, 10);
    ck_assert_str_eq(o.omp_sizes, "best");
    ck_assert_uint_eq(o.omp_team, 0);
    ck_assert(o.summary);
    ck_assert_uint_eq(o.verbose, 1);
    ck_assert_str_eq(o.omp_keep, "");
}
END_TEST

START_TEST(the_environment_is_read)
{
    struct pythia_options o;
    forget_environment();
    setenv("PYTHIA_MODE", "predict", 1);
    setenv("PYTHIA_INPUT", "a b.pythia", 1);
    setenv("PYTHIA_DEPTH", "0", 1);
    setenv("PYTHIA_MEMORY", "1G", 1);
    setenv("PYTHIA_SUMMARY", "OFF", 1);
    setenv("PYTHIA_ACT", "team", 1);
    base_options_load(&o);
    ck_assert_str_eq(o.mode, "predict");
    ck_assert_str_eq(o.input, "a b.pythia");
    ck_assert_uint_eq(o.depth, 0);
    ck_assert_uint_eq(o.memory, 1 << 30);
    ck_assert(!o.summary);
    ck_assert(base_options_list_has(o.act, "team"));
}
END_TEST

START_TEST(a_bad_value_gives_one_line_and_the_default)
{
    struct pythia_options o;
    char text[512];
    int ends[2];
    forget_environment();
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMI_RANK");
    unsetenv("PMIX_RANK");
    unsetenv("SLURM_PROCID");
    setenv("PYTHIA_DEPTH", "17", 1);
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    base_options_load(&o);
    base_options_load(&o);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    ck_assert_str_eq(text, "pythia: PYTHIA_DEPTH is '17', expected 0..16; using 1\n");
    ck_assert_uint_eq(o.depth, 1);
}
END_TEST

static const struct {
    const char *name, *text;
    bool legal;
    uint64_t value;
} values[] = {
    {"depth", "3", true, 3},         {"depth", "16", true, 16},
    {"depth", "-1", false, 0},       {"depth", "x", false, 0},
    {"depth", "1K", false, 0},       {"depth", " 1", false, 0},
    {"depth", "1 ", false, 0},       {"depth", "", false, 0},
    {"depth", "0x1", false, 0},      {"depth", "99999999999999999999", false, 0},
    {"memory", "65536", true, 65536}, {"memory", "64k", true, 65536},
    {"memory", "2M", true, 2 << 20}, {"memory", "1G", true, 1 << 30},
    {"memory", "1T", false, 0},      {"memory", "18446744073709551615G", false, 0},
    {"memory", "M", false, 0},       {"memory", "1G1", false, 0},
    {"omp_team", "3", true, 0},      {"omp_team", "-1", false, 0},
    {"omp_sizes", "one", true, 0},   {"omp_sizes", "ones", false, 0},
    {"omp_sizes", "on", false, 0},   {"omp_sizes", "best|one", false, 0},
    {"act", "none", true, 0},        {"act", "team,all", true, 0},
    {"act", "team,,all", false, 0},  {"act", "team all", false, 0},
    {"act", "team,", false, 0},      {"act", "taem", false, 0},
    {"summary", "No", true, 0},      {"summary", "1", true, 1},
    {"summary", "2", false, 0},      {"omp_keep", "any,thing", true, 0},
};

START_TEST(values_are_checked)
{
    const struct base_option *row = option(values[_i].name);
    struct pythia_options o;
    char why[256] = "";
    bool legal = base_options_legal(row, values[_i].text, why, sizeof why);
    ck_assert_msg(legal == values[_i].legal, "%s '%s': %s", row->name, values[_i].text, why);
    ck_assert_msg(legal == !*why, "%s '%s': %s", row->name, values[_i].text, why);
    forget_environment();
    setenv(row->env, values[_i].text, 1);
    setenv("PMI_RANK", "1", 1);
    base_options_load(&o);
    if (!strcmp(row->name, "depth"))
        ck_assert_uint_eq(o.depth, legal ? values[_i].value : 1);
    if (!strcmp(row->name, "memory"))
        ck_assert_uint_eq(o.memory, legal ? values[_i].value : 64 << 20);
    if (!strcmp(row->name, "summary"))
        ck_assert_int_eq(o.summary, legal ? values[_i].value : 1);
}
END_TEST

START_TEST(lists_have_words)
{
    ck_assert(base_options_list_has("a,b", "b"));
    ck_assert(base_options_list_has("all", "b"));
    ck_assert(!base_options_list_has("none", "b"));
    ck_assert(!base_options_list_has("ab,ba", "b"));
    ck_assert(!base_options_list_has("", "b"));
    ck_assert(!base_options_list_has(NULL, "b"));
}
END_TEST

static char *printed(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    print(out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(every_option_is_documented_in_80_columns)
{
    char *text = printed(base_options_print), *man = printed(base_options_print_man);
    for (size_t i = 0; base_options_row(i); i++) {
        ck_assert_ptr_nonnull(strstr(text, base_options_row(i)->env));
        ck_assert_ptr_nonnull(strstr(man, base_options_row(i)->env));
    }
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 80, "%s", line);
    free(text);
    free(man);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(the_table_is_consistent),
        UNIT_TEST(defaults),
        UNIT_TEST(the_environment_is_read),
        UNIT_TEST(a_bad_value_gives_one_line_and_the_default),
        UNIT_LOOP(values_are_checked, (int)UNIT_COUNT(values)),
        UNIT_TEST(lists_have_words),
        UNIT_TEST(every_option_is_documented_in_80_columns),
    };
    return unit_run("base/options", tests, UNIT_COUNT(tests));
}
