/* SPDX-License-Identifier: MIT */
#include "pythia.h"
#include "tests/unit/unit.h"

START_TEST(every_code_has_its_own_text)
{
    for (int a = PYTHIA_ELIMIT; a <= 1; a++)
        for (int b = PYTHIA_ELIMIT; b < a; b++)
            ck_assert_str_ne(pythia_strerror(a), pythia_strerror(b));
}
END_TEST

START_TEST(any_value_is_legal)
{
    ck_assert_str_eq(pythia_strerror(PYTHIA_ELIMIT - 1), "unknown error");
    ck_assert_str_eq(pythia_strerror(-2147483647 - 1), "unknown error");
    ck_assert_str_eq(pythia_strerror(2147483647), "no prediction");
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(every_code_has_its_own_text),
        UNIT_TEST(any_value_is_legal),
    };
    return unit_run("base/strerror", tests, UNIT_COUNT(tests));
}
