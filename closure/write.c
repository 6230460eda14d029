/* SPDX-License-Identifier: MIT */
/* The whole program: head, what is fixed, tables, a function a call, rules, main. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "closure/parts.h"
#include "closure/proxy_text.h"
#include "replay/bind.h"
#include "replay/blame.h"
#include "replay/engine.h"

static char *text_of(const char *format, va_list list)
{
    char *text;

    base_must(vasprintf(&text, format, list) < 0);
    return text;
}

char *closure_text(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    char *text = text_of(format, list);
    va_end(list);
    return text;
}

void closure_lack(struct closure *g, uint64_t events, const char *format, ...)
{
    struct closure_program *p = g->made;
    va_list list;
    uint32_t k = 0;

    va_start(list, format);
    char *what = text_of(format, list);
    va_end(list);
    while (k < p->lack_count && strcmp(p->lacks[k].what, what) != 0)
        k++;
    if (k == p->lack_count)
        BASE_ADD(p->lacks, p->lack_count, (struct closure_lack){ what, 0 });
    else
        free(what);
    p->lacks[k].events += events;
}

void closure_refuse(struct closure *g, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g->made->refused = g->made->refused ? g->made->refused : text_of(format, list);
    va_end(list);
}

char *closure_shared(struct closure *g, FILE *to, const char *name, char *text)
{
    uint32_t before = g->words->string_count, number = job_string(g->words, text);
    char *label = closure_text("%s_%u", name, number), *open = closure_text("%s_#", name);

    if (number >= before) {
        char *at = text, *next;
        for (; (next = strstr(at, open)); at = next + strlen(open))
            fprintf(to, "%.*s%s", (int)(next - at), at, label);
        fputs(at, to);
    }
    free(open);
    free(text);
    return label;
}

/* --- What would hang --- */

/* A receive that the replay has no message for. */
static void look_for_hangs(struct closure *g)
{
    enum { STEPS = 20000000 };
    struct replay_bind *b = replay_bind_create(g->job);
    const struct replay_source *s = b ? &b->source : NULL;
    struct replay_blame *blame = s ? replay_blame_create_sums(s->ranks, s->places) : NULL;
    struct replay_how how = { .blame = blame, .limit = STEPS, .exact_steps = STEPS / 10 };
    struct replay_result result = { 0 };
    char place[512];

    if (!blame)
        return;
    struct replay_model model = replay_bind_model(b);
    if (replay_run(s, &model, &how, &result))
        closure_lack(g, 0, "whether each receive gets a message was not looked at: the replay would take too long");
    for (uint32_t site = 0; result.unmatched && site < b->site_count; site++) {
        uint64_t n = replay_blame_unmatched_at(blame, 2 * site + 1, REPLAY_NO_MESSAGE);
        const struct job_terminal *t = &g->job->terminals[b->site[site].terminal];
        if (!n)
            continue;
        findings_callsite_text(g->places, t->callsite, FINDINGS_CALL, place, sizeof place);
        closure_refuse(g, "%s: %" PRIu64 " calls of %s have no message to receive: the program would hang", place, n,
                       job_text(g->job, t->function));
    }
    free(result.end);
    replay_blame_destroy(blame);
    replay_bind_destroy(b);
}

static void look_at_ranks(struct closure *g)
{
    const struct job *j = g->job;

    if (!j->info.ranks || !j->class_count)
        closure_refuse(g, "no rank was recorded");
    for (uint32_t r = 0; r < j->info.ranks; r++)
        if (job_stream_class(j, r, 0) == GRAMMAR_NONE) {
            closure_refuse(g, "rank %u has no recording", r);
            return;
        }
    if (g->made->ranks == j->info.ranks)
        return;
    for (uint32_t r = 1; r < j->info.ranks; r++)
        if (job_stream_class(j, r, 0) != job_stream_class(j, 0, 0))
            closure_refuse(g, "--ranks %u: rank %u does something else than rank 0, by no rule of its number",
                           g->made->ranks, r);
}

static void look_at_threads(struct closure *g)
{
    uint64_t events = 0;

    for (uint32_t k = 0; k < g->job->stream_count; k++)
        events += g->job->streams[k].thread ? g->job->streams[k].events : 0;
    if (events)
        closure_lack(g, events, "events of threads beyond the first of a rank: not made");
}

/* --- Parts --- */

static void means(struct closure *g)
{
    const struct job *j = g->job;
    BASE_OWN double *count = calloc((size_t)j->terminal_count + 1, sizeof *count);

    for (uint32_t c = 0; c < j->class_count; c++)
        for (uint32_t k = 0; k < j->classes[c].grammar->node_count; k++) {
            uint32_t symbol = j->classes[c].grammar->nodes[k].symbol;
            const struct grammar_stats *s = &j->classes[c].grammar->stats[k];
            if (symbol >= j->terminal_count)
                continue;
            g->call[symbol].gap += (double)s->gap.sum;
            count[symbol] += (double)s->count;
        }
    for (uint32_t t = 0; t < j->terminal_count; t++)
        g->call[t].gap /= count[t] > 0 ? count[t] : 1;
}

static void print_lists(const struct closure *g, FILE *out)
{
    fputs("/* Distances of a completion, in events back to the starts: `count` from `distance` on, `step` apart. */\n"
          "struct run {\n    long distance;\n    int step, count;\n};\n", out);
    for (uint32_t k = 0; k < g->list_count; k++) {
        uint32_t count = 0;
        const struct job_start_run *run = job_starts_find(&g->job->starts, g->list[k], &count);
        fprintf(out, "static const struct run run_%u[] = { ", k);
        for (uint32_t i = 0; i < count; i++)
            fprintf(out, "{ %" PRId64 ", %d, %u }, ", run[i].distance, run[i].step, run[i].count);
        fputs("{ 0, 0, 0 } };\n", out);
    }
    fputs("static const struct run *const lists[] = { ", out);
    for (uint32_t k = 0; k < g->list_count; k++)
        fprintf(out, "run_%u, ", k);
    fputs("NULL };\n\n", out);
}

/* Sections that are needed, each up to the next one's line. */
static void print_fixed(const struct closure *g, FILE *out)
{
    const char *at = closure_proxy_text;

    for (uint32_t section = 0; section < CLOSURE_SECTIONS; section++) {
        at = strchr(at, '\n') + 1; /* behind its own line */
        const char *end = strstr(at, "/*: ");
        if (section == CLOSURE_REQUESTS && g->sections & CLOSURE_NEEDS(section))
            print_lists(g, out);
        if (g->sections & CLOSURE_NEEDS(section))
            fprintf(out, "%.*s\n", (int)(end ? end - at : (long)strlen(at)), at);
        at = end ? end : at + strlen(at);
    }
}

static void print_head(const struct closure *g, FILE *out)
{
    const struct job *j = g->job;
    const char *program = strrchr(job_text(j, j->info.program), '/');

    fprintf(out, "/*\n * What %s did on %u ranks, made of its job file by pythia export --to c.\n *\n"
            " *     mpicc -O1 -fopenmp FILE.c -o proxy && mpirun -n %u ./proxy\n *\n"
            " * Computation between calls takes TIME times as long as it took there.\n",
            program ? program + 1 : job_text(j, j->info.program), j->info.ranks, g->made->ranks);
    if (g->made->lack_count)
        fputs(" * Not as recorded:\n", out);
    for (uint32_t k = 0; k < g->made->lack_count; k++)
        fprintf(out, " *     %" PRIu64 " %s\n", g->made->lacks[k].events, g->made->lacks[k].what);
    fputs(" */\n#include <limits.h>\n#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
          "#include <time.h>\n#include <unistd.h>\n\n", out);
}

static uint64_t power(uint64_t least)
{
    uint64_t p = 4096; /* requests that are open at once, too */

    while (p <= least)
        p *= 2;
    return p;
}

static void print_defines(const struct closure *g, FILE *out)
{
    fprintf(out, "#ifndef TIME\n#define TIME %g\n#endif\n#define RANKS %u\n#define NTH %u\n"
            "#define COMMS %u\n#define LARGEST %" PRIu64 "\n#define RING %" PRIu64 "\n",
            g->how.time, g->made->ranks, g->job->terminal_count + 1, g->job->comm_count + 1,
            g->largest + 16, power(g->furthest));
    if (g->sections & CLOSURE_NEEDS(CLOSURE_MAKE))
        fprintf(out, "#define MADE %u\n", closure_comms((struct closure *)g, out));
    putc('\n', out);
}

static void print_classes(const struct closure *g, char **root, FILE *out)
{
    const struct job *j = g->job;
    uint32_t first = job_stream_class(j, 0, 0);
    bool one = true;

    for (uint32_t r = 0; r < j->info.ranks; r++)
        one = one && !strcmp(root[job_stream_class(j, r, 0)], root[first]);
    if (one) {
        fprintf(out, "    %s();\n", root[first]);
        return;
    }
    fputs("    static void (*const what[RANKS])(void) = {", out);
    for (uint32_t r = 0; r < j->info.ranks; r++)
        fprintf(out, "%s%s,", r % 8 ? " " : "\n        ", root[job_stream_class(j, r, 0)]);
    fputs("\n    };\n    what[me]();\n", out);
}

static void print_main(struct closure *g, char **root, FILE *out)
{
    const struct job *j = g->job;
    BASE_OWN char *init = NULL;

    for (uint32_t t = 0; t < j->terminal_count && !init; t++)
        init = job_is_start(j, t) ? closure_call_name(g, t) : NULL;
    fputs("\nint main(void)\n{\n    int n = 1, over = 0;\n\n    calibrate();\n", out);
    if (init)
        fprintf(out, "    %s(0);\n    event = 0;\n    MPI_Comm_rank(MPI_COMM_WORLD, &me);\n"
                "    MPI_Comm_size(MPI_COMM_WORLD, &n);\n", init);
    fputs("    if (n != RANKS) {\n        fprintf(stderr, \"this is a program for %d ranks, not %d\\n\", RANKS, n);\n"
          "        return 2;\n    }\n    for (int i = 0; i < COMMS; i++)\n        comm[i] = MPI_COMM_NULL;\n", out);
    if (g->sections & CLOSURE_NEEDS(CLOSURE_WINDOW))
        fputs("    for (int i = 0; i < COMMS; i++)\n        window[i] = MPI_WIN_NULL;\n", out);
    if (g->sections & CLOSURE_NEEDS(CLOSURE_FILE))
        fputs("    file = MPI_FILE_NULL;\n", out);
    if (g->sections & CLOSURE_NEEDS(CLOSURE_MAKE))
        fputs("    for (int i = 0; i < MADE; i++)\n        seen[i] = MPI_GROUP_NULL;\n", out);
    for (uint32_t c = 0; c < j->comm_count; c++) {
        const char *name = job_text(j, j->comms[c].name);
        if (!strcmp(name, "world") || !strcmp(name, "self"))
            fprintf(out, "    comm[%u] = MPI_COMM_%s;\n", c, !strcmp(name, "world") ? "WORLD" : "SELF");
    }
    fputs("    out = calloc(1, LARGEST);\n    in = calloc(1, LARGEST);\n", out);
    print_classes(g, root, out);
    if (init)
        fputs("    MPI_Finalized(&over);\n    if (!over)\n        MPI_Finalize();\n", out);
    fputs("    return 0;\n}\n", out);
}

static void assemble(struct closure *g, char **root)
{
    size_t size;
    FILE *out = open_memstream(&g->made->text, &size);

    print_head(g, out);
    print_defines(g, out);
    print_fixed(g, out);
    fputs(g->table_text, out);
    fputs(g->call_text, out);
    fputs(g->rule_text, out);
    print_main(g, root, out);
    fclose(out);
}

struct closure_program closure_make(const struct job *j, struct findings_resolver *r, const struct closure_how *how)
{
    struct closure_program made = { .ranks = how->ranks ? how->ranks : j->info.ranks };
    struct closure g = { .job = j, .places = r, .how = *how, .made = &made, .words = job_create(),
                         .call = calloc((size_t)j->terminal_count + 1, sizeof *g.call),
                         .sections = CLOSURE_NEEDS(CLOSURE_BASE) | CLOSURE_NEEDS(CLOSURE_PEER) |
                                     CLOSURE_NEEDS(CLOSURE_COMM) };
    BASE_OWN char **root = calloc((size_t)j->class_count + 1, sizeof *root);

    g.tables = open_memstream(&g.table_text, &g.table_size);
    g.calls = open_memstream(&g.call_text, &g.call_size);
    g.rules = open_memstream(&g.rule_text, &g.rule_size);
    look_at_ranks(&g);
    if (!made.refused) {
        look_at_threads(&g);
        means(&g);
        closure_children(&g);
        closure_calls(&g);
        for (uint32_t c = 0; c < j->class_count; c++)
            for (struct job_walk w = { .range = j->classes[c].ranges, .left = j->classes[c].member_ranges };
                 !root[c] && job_walk_next(&w);)
                root[c] = w.at.thread ? NULL : closure_class(&g, c);
    }
    if (!made.refused)
        look_for_hangs(&g);
    for (uint32_t t = 0; t < j->terminal_count; t++)
        if (g.call[t].used || (!g.call[t].why && job_is_start(j, t)))
            closure_print_call(&g, t);
    fclose(g.tables);
    fclose(g.calls);
    fclose(g.rules);
    if (!made.refused)
        assemble(&g, root);
    if (made.refused) {
        free(made.text);
        made.text = NULL;
    }
    for (uint32_t t = 0; t < j->terminal_count; t++)
        free(g.call[t].text);
    for (uint32_t c = 0; c < j->class_count; c++)
        free(root[c]);
    free(g.call);
    free(g.list);
    free(g.table_text);
    free(g.call_text);
    free(g.rule_text);
    job_destroy(g.words);
    return made;
}

void closure_free(struct closure_program *p)
{
    for (uint32_t k = 0; k < p->lack_count; k++)
        free(p->lacks[k].what);
    free(p->lacks);
    free(p->text);
    free(p->refused);
    *p = (struct closure_program){ 0 };
}
