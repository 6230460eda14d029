/* SPDX-License-Identifier: MIT */
/* Why there is no stack of a process, and what would allow it: what a kernel's Yama says is made up here. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tools/stacks.h"
#include "tools/tool.h"

static const char *scope; /* NULL: this kernel has none */

size_t __wrap_base_io_text(char *text, size_t size, const char *format, ...);
uid_t __wrap_geteuid(void);

void *tool_need(void *made)
{
    ck_assert_ptr_nonnull(made);
    return made;
}

size_t __wrap_base_io_text(char *text, size_t size, const char *format, ...)
{
    if (!strstr(format, "yama/ptrace_scope") || !scope)
        return 0;
    return (size_t)snprintf(text, size, "%s\n", scope);
}

uid_t __wrap_geteuid(void)
{
    return 1000;
}

/* The only line of a tree of which rank 3 was left out at two looks. */
static void expect(const char *yama, int why, const char *text)
{
    struct stacks *s = stacks_create();
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);

    scope = yama;
    stacks_leave_out(s, 3, why);
    stacks_leave_out(s, 3, why);
    stacks_print(s, out);
    fclose(out);
    ck_assert_msg(strstr(printed, text) != NULL, "%s", printed);
    ck_assert_ptr_eq(strchr(printed, '\n'), printed + size - 1);
    ck_assert(strstr(printed, "no stack of rank 3: "));
    free(printed);
    stacks_destroy(s);
}

START_TEST(what_allows_it)
{
    expect("1", -EPERM, "ptrace_scope is 1: a run that is started with PYTHIA_STACKS=yes allows it");
    expect("2", -EPERM, "ptrace_scope is 2: root may");
    expect("3", -EPERM, "ptrace_scope is 3: nobody may");
    expect("0", -EPERM, "--cap-add SYS_PTRACE");
    expect(NULL, -EPERM, "--cap-add SYS_PTRACE");
    expect("1", -EACCES, "another user's: that user and root may");
    expect("1", -ESRCH, "gone");
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_TEST(what_allows_it) };

    return unit_run("tools/stacks", tests, UNIT_COUNT(tests));
}
