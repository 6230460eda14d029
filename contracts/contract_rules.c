/* SPDX-License-Identifier: MIT */
/* Rules of a contract as text: structure, wall > 5%, callsite[NAME] > 10%; see contract.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "contracts/contract.h"

static const char *const abouts[CONTRACTS_ABOUTS] = {
    [CONTRACTS_ABOUT_STRUCTURE] = "structure",   [CONTRACTS_ABOUT_CALLSITE] = "callsite",
    [CONTRACTS_ABOUT_REGION] = "region",         [CONTRACTS_ABOUT_LOOP] = "loop",
    [CONTRACTS_ABOUT_WALL] = "wall",             [CONTRACTS_ABOUT_PARALLEL] = "parallel",
    [CONTRACTS_ABOUT_LOAD_BALANCE] = "load_balance", [CONTRACTS_ABOUT_SERIALISATION] = "serialisation",
    [CONTRACTS_ABOUT_OPENMP] = "openmp" };
static const char *const parts[] = { "messages", "bytes", "collectives", "turns", "callsites", "classes" };

enum { PARTS = sizeof parts / sizeof *parts };

static const char *skip_blanks(const char *s, const char *end)
{
    while (s < end && isspace((unsigned char)*s))
        s++;
    return s;
}

static bool is_part(const char *name)
{
    for (int i = 0; i < PARTS; i++)
        if (!strcmp(name, parts[i]))
            return true;
    return false;
}

static bool refuse(char *why, size_t size, const char *rule, int length, const char *what)
{
    snprintf(why, size, "rule '%.*s': %s", length > 80 ? 80 : length, rule, what);
    return false;
}

/* "> 5%", a number of percent, up to `end`. */
static bool parse_tolerance(const char *s, const char *end, double *tolerance)
{
    char number[32], *rest;

    if (s == end || *s != '>')
        return false;
    s = skip_blanks(s + 1, end);
    if (end - s < 2 || end - s >= (long)sizeof number || end[-1] != '%')
        return false;
    memcpy(number, s, (size_t)(end - s) - 1);
    number[end - s - 1] = '\0';
    if (!isdigit((unsigned char)*number) && *number != '.')
        return false;
    errno = 0;
    *tolerance = strtod(number, &rest) / 100;
    return !*skip_blanks(rest, rest + strlen(rest)) && !errno && isfinite(*tolerance) && *tolerance >= 0;
}

/* One rule, without blanks around it. */
static bool parse_rule(struct contract *c, const char *text, const char *end, char *why, size_t size)
{
    int length = (int)(end - text);
    size_t word = strcspn(text, " \t[>,\n#");
    struct contracts_rule r = { 0 };
    int about = 0;

    while (about < CONTRACTS_ABOUTS && (strlen(abouts[about]) != word || strncmp(abouts[about], text, word) != 0))
        about++;
    if (about == CONTRACTS_ABOUTS)
        return refuse(why, size, text, length, "it must begin with structure, wall, callsite, region, loop, parallel, "
                      "load_balance, serialisation or openmp");
    r.about = (enum contracts_about)about;
    const char *s = skip_blanks(text + word, end);
    if (s < end && *s == '[') {
        const char *close = memchr(s, ']', (size_t)(end - s));
        if (!close || close == s + 1)
            return refuse(why, size, text, length, close ? "the brackets are empty" : "']' is missing");
        r.name = strndup(s + 1, (size_t)(close - s) - 1);
        s = skip_blanks(close + 1, end);
    }
    const char *wrong = NULL;
    if (r.about == CONTRACTS_ABOUT_STRUCTURE && s != end)
        wrong = "structure has no tolerance";
    else if (r.about == CONTRACTS_ABOUT_STRUCTURE && r.name && !is_part(r.name))
        wrong = "structure has messages, bytes, collectives, turns, callsites and classes";
    else if (r.about >= CONTRACTS_ABOUT_WALL && r.name)
        wrong = "what is of the whole run has no brackets";
    else if (r.about != CONTRACTS_ABOUT_STRUCTURE && !parse_tolerance(s, end, &r.tolerance))
        wrong = "a tolerance such as '> 5%' is missing";
    if (wrong) {
        free(r.name);
        return refuse(why, size, text, length, wrong);
    }
    r.text = strndup(text, (size_t)length);
    BASE_ADD(c->rules, c->rule_count, r);
    return true;
}

/* The end of a rule: a comma, a line's end or a comment; none of these inside brackets. */
static const char *rule_end(const char *s)
{
    for (bool inside = false; *s && *s != '\n' && (inside || (*s != ',' && *s != '#')); s++)
        inside = *s == '[' || (inside && *s != ']');
    return s;
}

bool contract_parse(struct contract *c, const char *text, char *why, size_t size)
{
    while (*text) {
        const char *end = rule_end(text), *last = end, *begin = skip_blanks(text, end);
        while (last > begin && isspace((unsigned char)last[-1]))
            last--;
        if (last > begin && !parse_rule(c, begin, last, why, size))
            return false;
        if (*end == '#')
            end += strcspn(end, "\n");
        text = *end ? end + 1 : end;
    }
    return true;
}

void contract_clear(struct contract *c)
{
    for (uint32_t i = 0; i < c->rule_count; i++) {
        free(c->rules[i].name);
        free(c->rules[i].text);
    }
    for (uint32_t i = 0; i < c->breach_count; i++) {
        free(c->breaches[i].where);
        free(c->breaches[i].grown);
    }
    free(c->rules);
    free(c->breaches);
    *c = (struct contract){ 0 };
}
