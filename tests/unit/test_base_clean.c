/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/clean.h"
#include "tests/unit/unit.h"

static const struct { const char *text, *clean, *utf8; } cases[] = {
    { "plain text, 100 %", "plain text, 100 %", "plain text, 100 %" },
    { "\033[31mred\033[0m", "?[31mred?[0m", "\033[31mred\033[0m" },
    { "a\nb\tc\rd\177", "a?b?c?d?", "a\nb\tc\rd\177" },
    { "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
      "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
    { "\xc2\x9b" "31m", "??31m", "\xc2\x9b" "31m" },                    /* CSI of C1 */
    { "\xc2\xa0|\xc2\xbf", "\xc2\xa0|\xc2\xbf", "\xc2\xa0|\xc2\xbf" }, /* the first after C1 */
    { "\x9b" "31m", "?31m", "?31m" },                                    /* the same byte alone */
    { "cut \xe2\x82", "cut ??", "cut ??" },
    { "\xed\xa0\x80 \xc0\x80 \xf5\x80\x80\x80", "??? ?? ????", "??? ?? ????" }, /* surrogate, overlong, too large */
    { "", "", "" },
};

START_TEST(what_is_left_of_a_text)
{
    char text[100];
    strcpy(text, cases[_i].text);
    base_clean(text);
    ck_assert_str_eq(text, cases[_i].clean);
    strcpy(text, cases[_i].text);
    base_clean_utf8(text);
    ck_assert_str_eq(text, cases[_i].utf8);
}
END_TEST

START_TEST(a_cut_character_goes)
{
    static const struct { const char *text, *left; } ends[] = {
        { "cut \xe2\x82", "cut " },           { "cut \xe2\x82\xac", "cut \xe2\x82\xac" }, { "\xc3", "" },
        { "a\xf0\x9f\x98", "a" },            { "a\xf0\x9f\x98\x80", "a\xf0\x9f\x98\x80" },
        { "plain", "plain" },                { "", "" },                                  { "\x80\x80", "\x80\x80" },
    };
    char text[100];
    for (size_t i = 0; i < UNIT_COUNT(ends); i++) {
        strcpy(text, ends[i].text);
        base_clean_end(text);
        ck_assert_str_eq(text, ends[i].left);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(what_is_left_of_a_text, UNIT_COUNT(cases)),
        UNIT_TEST(a_cut_character_goes),
    };
    return unit_run("base/clean", tests, UNIT_COUNT(tests));
}
