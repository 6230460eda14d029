/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* How long a test may take: of processor time, for a busy machine is no fault of the test's; and longer than any takes,
   for one that waits for ever. */
enum { PROCESSOR_SECONDS = UNIT_ADDRESS_SANITIZER || UNIT_THREAD_SANITIZER ? 600 : 60 };
static char seconds[] = "900";

#if UNIT_THREAD_SANITIZER
/* A session may end in a handler of the program's, which is tested; and the sanitizer takes a descriptor that it did
   not see opened (perf_event_open) for the one that had the number before. */
const char *__tsan_default_options(void);
const char *__tsan_default_suppressions(void);
const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}
const char *__tsan_default_suppressions(void)
{
    return "race:inside_ring_open\nrace:inside_ring_close\n";
}
#endif

static void limit(void)
{
    struct rlimit most = {PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1};
    const char *fork = getenv("CK_FORK");
    if (!fork || strcmp(fork, "no") != 0)
        setrlimit(RLIMIT_CPU, &most);
}

int unit_run(const char *suite, const struct unit_test *tests, size_t count)
{
    setenv("CK_DEFAULT_TIMEOUT", seconds, 0);
    Suite *s = suite_create(suite);
    for (size_t i = 0; i < count; i++) {
        TCase *c = tcase_create(tests[i].name);
        tcase_add_checked_fixture(c, limit, NULL);
        tcase_add_loop_test(c, *tests[i].test, 0, tests[i].turns);
        suite_add_tcase(s, c);
    }
    SRunner *runner = srunner_create(s);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0;
}

int unit_skip(const char *reason)
{
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}
