/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"

static const struct base_option table[] = {
#define OPTION(field, type, value, flag, letter, env, argument, commands, help) \
    {#field, #type, value, flag, letter, env, argument, commands, help},
#include "base/options.def"
#undef OPTION
};

const struct base_option *base_options_row(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

/* --- One value --- */

static bool parse_number(const char *text, bool suffix, uint64_t *value)
{
    char *end;
    errno = 0;
    if (!suffix && !strcmp(text, "no")) {
        *value = 0;
        return true;
    }
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long n = strtoull(text, &end, 10);
    unsigned shift = 0;
    if (suffix && *end) {
        const char *letters = "KMG", *at = strchr(letters, *end & ~0x20);
        if (!at || !*at)
            return false;
        shift = 10 * (unsigned)(at - letters + 1);
        end++;
    }
    if (errno || *end || n > UINT64_MAX >> shift)
        return false;
    *value = (uint64_t)n << shift;
    return true;
}

static bool parse_switch(const char *text, bool *value)
{
    static const char *const yes[] = {"1", "yes", "on", "true"}, *const no[] = {"0", "no", "off", "false"};
    for (size_t i = 0; i < 4; i++) {
        if (!strcasecmp(text, yes[i]))
            return *value = true;
        if (!strcasecmp(text, no[i])) {
            *value = false;
            return true;
        }
    }
    return false;
}

static bool in_range(const char *range, uint64_t value)
{
    unsigned long long low, high;
    return sscanf(range, "%llu..%llu", &low, &high) != 2 || (value >= low && value <= high);
}

/* --- Words, with a separator between them --- */

static bool has_word(const char *words, char separator, const char *word, size_t length)
{
    if (memchr(word, separator, length))
        return false;
    for (const char *w = words; w && length; w = strchr(w, separator), w += w != NULL)
        if (!strncmp(w, word, length) && (w[length] == separator || w[length] == '\0'))
            return true;
    return false;
}

static bool has_only(const char *list, const char *words)
{
    for (const char *w = list; w; w = strchr(w, ','), w += w != NULL)
        if (!has_word(words, '|', w, strcspn(w, ",")))
            return false;
    return true;
}

bool base_options_list_has(const char *list, const char *word)
{
    return list && (has_word(list, ',', word, strlen(word)) || has_word(list, ',', "all", 3));
}

/* --- Legal or not --- */

const char *base_options_argument(const struct base_option *option)
{
    return !strcmp(option->type, "NAMES") ? "LIST" : option->argument;
}

bool base_options_legal(const struct base_option *option, const char *text, char *why, size_t size)
{
    uint64_t number;
    bool flag, legal = true;
    if (!strcmp(option->type, "COUNT"))
        legal = parse_number(text, false, &number) && in_range(option->argument, number);
    else if (!strcmp(option->type, "SIZE"))
        legal = parse_number(text, true, &number);
    else if (!strcmp(option->type, "SWITCH"))
        legal = parse_switch(text, &flag);
    else if (!strcmp(option->type, "CHOICE"))
        legal = has_word(option->argument, '|', text, strlen(text));
    else if (!strcmp(option->type, "LIST") || !strcmp(option->type, "NAMES"))
        legal = has_only(text, option->argument);
    if (!legal)
        snprintf(why, size, "is '%.100s', expected %s", text, option->argument);
    return legal;
}

/* --- All of them --- */

/* The environment's value where there is a legal one, else the default. */
static const char *value_of(const struct base_option *option, bool complain)
{
    char why[256];
    const char *text = getenv(option->env);
    if (!text || !*text)
        return option->value;
    if (!strcmp(option->type, "NAMES") || base_options_legal(option, text, why, sizeof why))
        return text;
    if (complain)
        base_log_warn("%s %s; using %s", option->env, why, option->value);
    return option->value;
}

static void set_TEXT(const char **field, const char *text)
{
    *field = text;
}

static void set_CHOICE(const char **field, const char *text)
{
    *field = text;
}

static void set_LIST(const char **field, const char *text)
{
    *field = text;
}

static void set_NAMES(const char **field, const char *text)
{
    *field = text;
}

static void set_COUNT(uint64_t *field, const char *text)
{
    parse_number(text, false, field);
}

static void set_SIZE(uint64_t *field, const char *text)
{
    parse_number(text, true, field);
}

static void set_SWITCH(bool *field, const char *text)
{
    parse_switch(text, field);
}

void base_options_load(struct pythia_options *o)
{
    static atomic_flag loaded = ATOMIC_FLAG_INIT;
    bool complain = !atomic_flag_test_and_set(&loaded) && base_log_is_first_rank();
    const struct base_option *row = table;
#define OPTION(field, type, value, flag, letter, env, argument, commands, help) \
    set_##type(&o->field, value_of(row++, complain));
#include "base/options.def"
#undef OPTION
    base_log_verbosity((int)o->verbose);
}

/* --- Documenting --- */

/* Prints words from column `indent` on, in lines of at most 80 characters. */
static void print_wrapped(const char *text, int indent, FILE *out)
{
    int column = indent;
    fprintf(out, "%*s", indent, "");
    for (size_t n; *text; text += n, text += strspn(text, " ")) {
        n = strcspn(text, " ");
        if (column > indent && column + 1 + (int)n > 80) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", (int)n, text);
    }
    fputc('\n', out);
}

void base_options_print(FILE *out)
{
    for (const struct base_option *o = table; base_options_row((size_t)(o - table)); o++) {
        fprintf(out, "  %s=%s", o->env, base_options_argument(o));
        if (o->letter)
            fprintf(out, "  (-%c, --%s of %s)", o->letter, o->flag, o->commands);
        else if (*o->flag)
            fprintf(out, "  (--%s of %s)", o->flag, o->commands);
        fprintf(out, "%s%s\n", *o->value ? "  default " : "", o->value);
        print_wrapped(o->help, 6, out);
    }
}

/* What man(7) would take for its own: dashes that are hyphens, backslashes, a dot or a quote that begins a line. */
static void print_roff(const char *text, FILE *out)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
}

void base_options_print_man(FILE *out)
{
    for (const struct base_option *o = table; base_options_row((size_t)(o - table)); o++) {
        fprintf(out, ".TP\n\\fB%s\\fR=\\fI%s\\fR\n", o->env, base_options_argument(o));
        print_roff(o->help, out);
        if (*o->value)
            fprintf(out, "; default %s", o->value);
        if (*o->flag)
            fprintf(out, " (\\fB\\-\\-%s\\fR)", o->flag);
        fputc('\n', out);
    }
}
