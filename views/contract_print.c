/* SPDX-License-Identifier: MIT */
/* What became of a contract: text, JSON, JUnit's XML. One sentence a breach, the same everywhere. */
#include <math.h>
#include <string.h>

#include "base/clean.h"
#include "contracts/contract.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

static const char *const verdicts[] = { "kept", "broken", "cannot say" };

enum { SENTENCE = 768 };
#define LEAST_PACE 0.005 /* that is worth being told */

static bool is(const struct contracts_breach *b, const char *unit)
{
    return !strcmp(b->unit, unit);
}

static const char *value_text(const struct contracts_breach *b, double value)
{
    return value < 0 ? "none" : is(b, "seconds") ? findings_time(value) :
           is(b, "share") ? findings_text("%.1f %%", 100 * value) : findings_text("%.15g", value);
}

/* What is worse, and where: "time in MPI_Send at main@x.c:3", "bytes of …". */
static void print_subject(const struct contracts_breach *b, char *text, size_t size)
{
    if (!*b->where)
        snprintf(text, size, "%s", is(b, "seconds") ? "wall time" :
                 !strcmp(b->what, "parallel") ? "parallel efficiency" :
                 !strcmp(b->what, "load_balance") ? "load balance" : !strcmp(b->what, "openmp") ? "OpenMP" : b->what);
    else if (!strcmp(b->what, "turn"))
        snprintf(text, size, "time of a turn of the %s", b->where);
    else if (is(b, "seconds"))
        snprintf(text, size, "time %s %s", b->what, b->where);
    else if (!strcmp(b->what, "bytes") || !strcmp(b->what, "turns"))
        snprintf(text, size, "%s of %s%s", b->what, b->what[0] == 't' ? "the " : "", b->where);
    else
        snprintf(text, size, "executions of %s", b->where);
}

/* What, where, by how much, since when it varies; without the rule. */
static const char *sentence(const struct contract *c, const struct contracts_breach *b, char text[SENTENCE])
{
    char subject[512], change[64] = "", chance[96] = "";

    if (!strcmp(b->what, "classes")) { /* the new run has none that it has not */
        snprintf(text, SENTENCE, "%.15g groups of ranks are in one of the runs only", b->base);
        return text;
    }
    print_subject(b, subject, sizeof subject);
    base_clean_end(subject);
    if (b->base > 0 && b->value >= 0)
        snprintf(change, sizeof change, " (%+.1f %%)", 100 * (b->value / b->base - 1));
    if (fabs(b->pace) >= LEAST_PACE)
        snprintf(change, sizeof change, " (%+.1f %%, most times %+.1f %%)", 100 * (b->value / b->base - 1),
                 100 * b->pace);
    if (b->scatter >= 0)
        snprintf(chance, sizeof chance, "; %u runs vary by %.1f %%", c->runs, 100 * b->scatter);
    if (b->varies_since)
        snprintf(chance + strlen(chance), sizeof chance - strlen(chance), "; varies since run %u of the baseline",
                 b->varies_since);
    else if (c->runs > 1)
        snprintf(chance + strlen(chance), sizeof chance - strlen(chance), "; %s in all %u runs of the baseline",
                 is(b, "seconds") || is(b, "share") ? "within the tolerance" : "the same", c->runs);
    int length = snprintf(text, SENTENCE, "%s: %s -> %s%s%s", subject, value_text(b, b->base), value_text(b, b->value),
                          change, chance);
    if (b->grown_count && length < SENTENCE)
        snprintf(text + length, SENTENCE - (size_t)length, "; %s", contracts_grown_text(&b->grown[0]));
    base_clean(text);
    return text;
}

/* Against one run: from where on times are longer. */
static void print_least(const struct contract *c, FILE *out)
{
    const char *before = "against one run nothing is said below the scatter inside the runs: of half of the times ";

    for (uint32_t i = 0; i < c->rule_count; i++)
        if (c->rules[i].least > 0) {
            fprintf(out, "%s%.2g %% (%s)", before, 100 * c->rules[i].least, c->rules[i].text);
            before = ", ";
        }
    if (*before == ',')
        fputc('\n', out);
}

void contract_print(const struct contract *c, FILE *out)
{
    uint32_t count[3] = { 0 };
    char text[SENTENCE];

    for (uint32_t i = 0; i < c->breach_count; i++)
        fprintf(out, "broken: %s: %s\n", c->rules[c->breaches[i].rule].text, sentence(c, &c->breaches[i], text));
    for (uint32_t i = 0; i < c->rule_count; i++) {
        count[c->rules[i].verdict]++;
        if (c->rules[i].verdict == CONTRACTS_CANNOT_SAY)
            fprintf(out, "cannot say: %s: %s\n", c->rules[i].text, c->rules[i].why);
    }
    if (c->runs == 1)
        print_least(c, out);
    fprintf(out, "contract: %u of %u rules kept, %u broken, %u cannot be judged\n", count[CONTRACTS_KEPT],
            c->rule_count, count[CONTRACTS_BROKEN], count[CONTRACTS_CANNOT_SAY]);
}

/* --- JSON --- */

static void add_breach(const struct contract *c, const struct contracts_breach *b, cJSON *array)
{
    double unit = is(b, "seconds") ? 1e-9 : 1;
    char text[SENTENCE];

    cJSON *o = ADD(array, TEXT("what", b->what), TEXT("where", b->where), TEXT("unit", b->unit),
        NUMBER("base", views_known(b->base >= 0, b->base * unit)),
        NUMBER("new", views_known(b->value >= 0, b->value * unit)),
        NUMBER("change_percent", views_known(b->base > 0 && b->value >= 0, 100 * (b->value / b->base - 1))),
        NUMBER("pace_percent", views_known(is(b, "seconds"), 100 * b->pace)),
        NUMBER("scatter_percent", views_known(b->scatter >= 0, 100 * b->scatter)),
        NUMBER("varies_since_run", views_known(b->varies_since, b->varies_since)), TEXT("text", sentence(c, b, text)));
    views_json_grown(o, b->grown, b->grown_count);
}

void contract_print_json(const struct contract *c, FILE *out)
{
    cJSON *root = cJSON_CreateObject(), *rules = cJSON_AddArrayToObject(root, "rules");

    ADD(root, NUMBER("version", 1), TEXT("verdict", verdicts[contract_verdict(c)]),
        NUMBER("baseline_runs", c->runs));
    for (uint32_t i = 0; i < c->rule_count; i++) {
        const struct contracts_rule *r = &c->rules[i];
        cJSON *o = ADD(rules, TEXT("rule", r->text), TEXT("verdict", verdicts[r->verdict]), NUMBER("judged", r->judged),
                       NUMBER("least_percent", views_known(r->least >= 0, 100 * r->least)));
        if (r->verdict == CONTRACTS_CANNOT_SAY)
            ADD(o, TEXT("why", r->why));
        cJSON *broken = cJSON_AddArrayToObject(o, "broken");
        for (uint32_t k = 0; k < c->breach_count; k++)
            if (c->breaches[k].rule == i)
                add_breach(c, &c->breaches[k], broken);
    }
    views_json_write(root, out);
}

/* --- JUnit --- */

static void print_xml(const char *text, FILE *out)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc((unsigned char)*text < ' ' ? '?' : *text, out);
        }
}

static void print_case(const struct contract *c, uint32_t rule, FILE *out)
{
    const struct contracts_rule *r = &c->rules[rule];
    char text[SENTENCE];

    fputs("  <testcase classname=\"pythia.contract\" name=\"", out);
    print_xml(r->text, out);
    fputs("\">\n", out);
    if (r->verdict == CONTRACTS_CANNOT_SAY) {
        fputs("    <error message=\"", out);
        print_xml(r->why, out);
        fputs("\"/>\n", out);
    } else if (r->verdict == CONTRACTS_BROKEN) {
        fputs("    <failure message=\"broken\">", out);
        for (uint32_t k = 0; k < c->breach_count; k++)
            if (c->breaches[k].rule == rule) {
                sentence(c, &c->breaches[k], text);
                base_clean_utf8(text);
                print_xml(text, out);
                fputc('\n', out);
            }
        fputs("</failure>\n", out);
    }
    fputs("  </testcase>\n", out);
}

void contract_print_junit(const struct contract *c, FILE *out)
{
    uint32_t count[3] = { 0 };

    for (uint32_t i = 0; i < c->rule_count; i++)
        count[c->rules[i].verdict]++;
    fprintf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pythia compare\" tests=\"%u\" failures=\"%u\" "
        "errors=\"%u\">\n",
        c->rule_count, count[CONTRACTS_BROKEN], count[CONTRACTS_CANNOT_SAY]);
    for (uint32_t i = 0; i < c->rule_count; i++)
        print_case(c, i, out);
    fputs("</testsuite>\n", out);
}
