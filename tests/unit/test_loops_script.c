/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loops/function.h"
#include "tests/unit/unit.h"

static const char text[] =
    "import x\n"                 /* 1 */
    "@deco\n"
    "def f(a,\n"
    "      b):\n"
    "    for i in a:\n"          /* 5 */
    "        if i:\n"
    "            one()\n"
    "        elif b:\n"
    "            continue\n"
    "        else:\n"            /* 10 */
    "            two()\n"
    "        while b:\n"
    "\t    three(\n"
    "                b)\n"
    "            if b: break\n"  /* 15 */
    "        four()\n"
    "    # for all\n"
    "    def g():\n"
    "        for k in a:\n"
    "            five()\n"       /* 20 */
    "    return six()\n"
    "for t in x:\n"
    "    f(t, t)\n"
    "last()\n";

static struct loops_code *open_text(const char *id)
{
    char path[] = "/tmp/pythia-script-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    struct loops_code *c = loops_code_open(path, id);
    unlink(path);
    return c;
}

/* The line of the innermost loop's head around a line, 0: none. */
static uint64_t around(const struct loops_function *f, uint64_t line)
{
    uint32_t node = loops_function_node(f, line);
    ck_assert_uint_ne(node, UINT32_MAX);
    return f->forest.loop[node] < 0 ? 0 : f->turn[f->forest.loop[node]];
}

START_TEST(loops_are_by_indentation)
{
    struct loops_code *c = open_text("python:2:f:x.py");
    const struct loops_function *f = loops_code_function(c, 5);
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_null(loops_code_function(c, 1));
    ck_assert_ptr_null(loops_code_function(c, 22));
    ck_assert_uint_eq(around(f, 3), 0);
    ck_assert_uint_eq(around(f, 7), 5);
    ck_assert_uint_eq(around(f, 11), 5);
    ck_assert_uint_eq(around(f, 13), 12);
    ck_assert_uint_eq(around(f, 14), 12);
    ck_assert_uint_eq(around(f, 16), 5);
    ck_assert_uint_eq(around(f, 21), 0);
    loops_code_close(c);
}
END_TEST

START_TEST(ways_are_by_their_words)
{
    struct loops_code *c = open_text("python:2:f:x.py");
    const struct loops_function *f = loops_code_function(c, 5);
    ck_assert(loops_function_leads(f, 7, 13) && loops_function_leads(f, 11, 16) && loops_function_leads(f, 13, 16));
    ck_assert(loops_function_leads(f, 16, 21) && loops_function_leads(f, 13, 14));
    ck_assert(!loops_function_leads(f, 7, 11) && !loops_function_leads(f, 11, 7)); /* one or the other */
    ck_assert(!loops_function_leads(f, 16, 7) && !loops_function_leads(f, 14, 13)); /* a turn */
    ck_assert(!loops_function_leads(f, 9, 13) && !loops_function_leads(f, 21, 5));
    loops_code_close(c);
}
END_TEST

START_TEST(a_module_goes_past_what_it_defines)
{
    struct loops_code *c = open_text("python:1:<module>:x.py");
    const struct loops_function *f = loops_code_function(c, 1);
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(around(f, 23), 22);
    ck_assert_uint_eq(around(f, 24), 0);
    ck_assert(loops_function_leads(f, 3, 23) && loops_function_leads(f, 23, 24) && !loops_function_leads(f, 7, 23));
    loops_code_close(c);
    ck_assert_ptr_null(loops_code_open("/nowhere/x.py", "python:1:<module>:x.py"));
    ck_assert_ptr_null(loops_code_open("<string>", "python:1:<module>:x.py"));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(loops_are_by_indentation),
        UNIT_TEST(ways_are_by_their_words),
        UNIT_TEST(a_module_goes_past_what_it_defines),
    };
    return unit_run("loops/script", tests, UNIT_COUNT(tests));
}
