/* SPDX-License-Identifier: MIT */
#include "loops/script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/must.h"

enum { MOST_BYTES = 1 << 22, NOWHERE = UINT32_MAX };

/* CLAUSE: another way of the statement before, at the same indentation; ELSE: one that nothing is asked for. */
enum kind { PLAIN, LOOP, CHOICE, CLAUSE, ELSE, DEFINES, LEAVES, BREAKS, CONTINUES };

struct line { uint32_t number, indent, around /* the line that this one is within */; enum kind kind; };

struct script {
    struct line *line;
    uint32_t count;
    bool whole; /* no line of it defines all */
};

/* --- Lines --- */

static enum kind kind_of(const char *text)
{
    static const struct { const char *word; enum kind kind; } words[] = {
        { "for", LOOP }, { "while", LOOP }, { "async for", LOOP }, { "if", CHOICE }, { "try", CHOICE },
        { "match", CHOICE }, { "elif", CLAUSE }, { "except", CLAUSE }, { "case", CLAUSE }, { "else", ELSE },
        { "finally", ELSE }, { "def", DEFINES }, { "class", DEFINES }, { "async def", DEFINES }, { "return", LEAVES },
        { "raise", LEAVES }, { "break", BREAKS }, { "continue", CONTINUES } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if (!strncmp(text, words[i].word, n) && !isalnum((unsigned char)text[n]) && text[n] != '_')
            return words[i].kind;
    }
    return PLAIN;
}

/* Empty ones, remarks and closing brackets are none. */
static void add_line(struct script *s, const char *text, uint32_t number)
{
    struct line l = { .number = number, .around = NOWHERE };
    for (; *text == ' ' || *text == '\t'; text++)
        l.indent = *text == '\t' ? (l.indent / 8 + 1) * 8 : l.indent + 1;
    if (strchr("\r\n#)]}", *text)) /* its end, too */
        return;
    l.kind = kind_of(text);
    uint32_t up = s->count ? s->count - 1 : NOWHERE;
    while (up != NOWHERE && s->line[up].indent >= l.indent)
        up = s->line[up].around;
    l.around = up;
    BASE_ADD(s->line, s->count, l);
}

/* From line `first` on as far as it goes. */
static void read_lines(struct script *s, FILE *in, uint32_t first)
{
    char *text = NULL;
    size_t size = 0;
    bool inside = false; /* behind what defines it, which may have decorators before */
    for (uint32_t number = 1; getline(&text, &size, in) >= 0; number++) {
        if (number < first)
            continue;
        uint32_t before = s->count;
        add_line(s, text, number);
        if (s->count == before || s->whole)
            continue;
        const struct line *l = &s->line[s->count - 1], *begin = &s->line[0];
        if (inside && l->indent <= begin->indent) {
            s->count--;
            break;
        }
        inside |= l->kind == DEFINES || (s->count == 1 && text[strspn(text, " \t")] != '@');
    }
    free(text);
}

/* --- Where it goes on --- */

/* The next line that is not within that one. */
static uint32_t behind(const struct script *s, uint32_t i)
{
    uint32_t j = i + 1;
    while (j < s->count && s->line[j].indent > s->line[i].indent)
        j++;
    return j;
}

/* Where it goes on from line i, if the next one that is not within it is j. */
static uint32_t goes_to(const struct script *s, uint32_t i, uint32_t j)
{
    for (uint32_t up = s->line[i].around; up != NOWHERE; up = s->line[up].around) {
        const struct line *h = &s->line[up];
        if (j < s->count && s->line[j].indent > h->indent)
            break;
        if (h->kind == LOOP)
            return up;
        if (h->kind == DEFINES)
            return NOWHERE;
        while (h->kind >= CHOICE && h->kind <= ELSE && j < s->count && s->line[j].indent == h->indent &&
               (s->line[j].kind == CLAUSE || s->line[j].kind == ELSE))
            j = behind(s, j);
    }
    return j < s->count ? j : NOWHERE;
}

static uint32_t loop_around(const struct script *s, uint32_t i)
{
    while (i != NOWHERE && s->line[i].kind != LOOP)
        i = s->line[i].around;
    return i;
}

static void find_ways(const struct script *s, uint32_t i, uint32_t to[2])
{
    enum kind kind = s->line[i].kind;
    uint32_t loop = kind == BREAKS || kind == CONTINUES ? loop_around(s, i) : NOWHERE, next = behind(s, i);
    bool inside = next > i + 1, own = !s->whole && s->line[i].around == NOWHERE;
    to[0] = to[1] = NOWHERE;
    if (kind == BREAKS)
        to[0] = loop == NOWHERE ? NOWHERE : goes_to(s, loop, behind(s, loop));
    else if (kind == CONTINUES)
        to[0] = loop;
    else if (inside && (kind != DEFINES || own))
        to[0] = i + 1;
    if (kind == LOOP || kind == CHOICE || kind == CLAUSE || kind == DEFINES ||
        (!inside && kind != LEAVES && kind != BREAKS && kind != CONTINUES))
        to[1] = goes_to(s, i, next);
}

/* --- As a function --- */

static void make_graph(const struct script *s, struct loops_function *f)
{
    uint32_t *first = calloc((size_t)s->count + 1, sizeof *first), edges = 0,
             *to = malloc((2 * (size_t)s->count + 1) * sizeof *to);
    f->block = malloc((s->count + (size_t)1) * sizeof *f->block);
    f->node = malloc((s->count + (size_t)1) * sizeof *f->node);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t ways[2];
        find_ways(s, i, ways);
        f->block[i] = s->line[i].number;
        f->node[i] = i;
        first[i] = edges;
        for (int k = 0; k < 2; k++)
            if (ways[k] != NOWHERE && (!k || ways[1] != ways[0]))
                to[edges++] = ways[k];
    }
    first[s->count] = edges;
    f->graph = (struct loops_graph){ .first = first, .to = to, .nodes = s->count };
    loops_forest_make(&f->forest, &f->graph);
    f->turn = calloc((size_t)f->forest.loops + 1, sizeof *f->turn);
    for (uint32_t l = 0; l < f->forest.loops; l++) /* where people look for it */
        f->turn[l] = f->block[f->forest.head[l]];
}

bool loops_script_read(const char *path, uint32_t first, bool whole, struct loops_function *f)
{
    struct script s = { .whole = whole };
    struct stat st;
    FILE *in = stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > MOST_BYTES ? NULL : fopen(path, "re");
    if (!in)
        return false;
    read_lines(&s, in, first);
    fclose(in);
    if (s.count) {
        f->entry = s.line[0].number;
        f->range[f->ranges++] = (struct code_range){ .begin = s.line[0].number,
                                                      .end = s.line[s.count - 1].number + 1 };
        make_graph(&s, f);
    }
    free(s.line);
    return s.count > 0;
}
