/* SPDX-License-Identifier: MIT */
#include "tools/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/resolve.h"
#include "findings/units.h"
#include "inside/maps.h"
#include "inside/walk.h"
#include "tools/tool.h"
#include "views/table.h"

enum { LINES = 4 };

/* A thread of a rank; 0: its first one. */
struct who { uint32_t rank, thread; };

struct node {
    char *key;                /* what it is told apart by; NULL: of the root */
    const struct findings_place *place;
    const char *name;         /* of what has no place of its own, as an MPI call; else NULL */
    uint32_t line[LINES], lines;
    struct who *who;
    uint32_t count;
    struct node **inside;
    uint32_t inside_count;
};

/* A thread as it was seen at one look. */
struct seen {
    struct who who;
    pid_t id;
    uint32_t look;
    struct job_frame frame[INSIDE_FRAMES];
    uint32_t count;
};

struct not_seen { struct who who; int why; };

struct stacks {
    struct job *places;
    struct findings_resolver *resolver;
    struct seen *seen;
    struct not_seen *not_seen;
    uint32_t count, not_count;
    uint64_t stopped_ns;      /* the longest */
    struct node root;
    bool made;                /* the tree is */
};

struct stacks *stacks_create(void)
{
    struct stacks *s = calloc(1, sizeof *s);
    s->places = tool_need(job_create());
    return s;
}

static void drop(struct node *n)
{
    for (uint32_t i = 0; i < n->inside_count; i++) {
        drop(n->inside[i]);
        free(n->inside[i]);
    }
    free(n->inside);
    free(n->who);
    free(n->key);
}

void stacks_destroy(struct stacks *s)
{
    if (!s)
        return;
    drop(&s->root);
    findings_resolver_destroy(s->resolver);
    job_destroy(s->places);
    free(s->seen);
    free(s->not_seen);
    free(s);
}

/* --- Looking --- */

/* What lies in no module is not followed: it has been lost, or is code that was made at run time. */
static void add_stack(struct stacks *s, const struct inside_maps *maps, struct who who,
                      const struct inside_stack *stack)
{
    struct seen one = { .who = who, .id = stack->thread, .look = s->count };
    while (one.count < stack->count && inside_maps_find(maps, stack->at[one.count], &one.frame[one.count]))
        one.count++;
    BASE_ADD(s->seen, s->count, one);
}

void stacks_leave_out(struct stacks *s, uint32_t rank, int why)
{
    for (uint32_t i = 0; i < s->not_count; i++)
        if (s->not_seen[i].who.rank == rank && s->not_seen[i].why == why)
            return;
    BASE_ADD(s->not_seen, s->not_count, (struct not_seen){ { rank, 0 }, why });
}

static bool is_others(pid_t process)
{
    struct stat st;
    return geteuid() != 0 && !stat(findings_text("/proc/%d", process), &st) && st.st_uid != geteuid();
}

int stacks_add(struct stacks *s, uint32_t rank, pid_t process)
{
    struct inside_stacks now;
    struct inside_maps maps;
    int error = inside_walk(process, &now);
    if (error == -EPERM || error == -EACCES)
        error = is_others(process) ? -EACCES : -EPERM;
    if (error)
        stacks_leave_out(s, rank, error);
    inside_maps_read(&maps, process, s->places);
    for (uint32_t i = 0; i < now.count; i++)
        add_stack(s, &maps, (struct who){ rank, i }, &now.of[i]);
    if (now.stopped_ns > s->stopped_ns)
        s->stopped_ns = now.stopped_ns;
    inside_maps_free(&maps);
    free(now.of);
    return error;
}

/* --- The tree --- */

/* Of an MPI call its name; NULL: it is none. */
static const char *mpi_name(const struct findings_place *p)
{
    const char *name = p->function ?: "";
    name += !strncmp(name, "PMPI_", 5);
    return strncasecmp(name, "MPI_", 4) ? NULL : name;
}

/* In order. */
static void add_line(struct node *n, uint32_t line)
{
    uint32_t i = BASE_ARRAY_PLACE(n->lines, k, n->line[k] < line);
    if (!line || n->lines == LINES || (i < n->lines && n->line[i] == line))
        return;
    memmove(&n->line[i + 1], &n->line[i], (n->lines++ - i) * sizeof *n->line);
    n->line[i] = line;
}

static struct node *child_of(struct node *n, const char *key)
{
    for (uint32_t i = 0; i < n->inside_count; i++)
        if (!strcmp(n->inside[i]->key, key))
            return n->inside[i];
    struct node *made = calloc(1, sizeof *made);
    made->key = strdup(key);
    BASE_ADD(n->inside, n->inside_count, made);
    return made;
}

static bool is_of(const struct findings_place *p, const char *module)
{
    return !strncmp(p->module, module, strlen(module));
}

/* What is known of the frames up to main, or to what starts a thread, innermost first; how many. */
static uint32_t resolve(const struct stacks *s, const struct seen *t, const struct findings_place **place)
{
    uint32_t count = 0;
    bool in_main = false;
    while (count < t->count && !in_main) {
        const struct job_frame *f = &t->frame[count];
        place[count] = findings_resolve_at(s->resolver, f->module, f->offset, count ? FINDINGS_CALL : FINDINGS_ENTRY);
        in_main = place[count++]->in_main;
    }
    while (count && findings_is_start(place[count - 1]) && !is_of(place[count - 1], "libgomp"))
        count--;
    return count;
}

static struct node *enter(struct node *n, const char *key, const char *name, const struct findings_place *p,
                          struct who who)
{
    n = child_of(n, key);
    n->place = p;
    n->name = name;
    add_line(n, p ? p->line : 0);
    BASE_ADD(n->who, n->count, who);
    return n;
}

/* The program's functions among them, outermost first, up to an MPI call; how many. Of our own threads *ours. */
static uint32_t path_of(const struct stacks *s, const struct seen *t, const struct findings_place **path, bool *ours)
{
    const struct findings_place *place[INSIDE_FRAMES];
    uint32_t all = resolve(s, t, place), count = 0;
    *ours = all && is_of(place[all - 1], "libpythia");
    for (uint32_t i = all; i-- > 0 && !(count && mpi_name(path[count - 1]));)
        if (mpi_name(place[i]) || !findings_is_runtime(place[i]->module))
            path[count++] = place[i];
    return count;
}

static const char *key_of(const struct findings_place *p)
{
    return mpi_name(p) ?: p->symbol ?: findings_function_at(p, false);
}

/* One thread as it was at several looks: functions that it was in at all of them. */
static void add_thread(struct stacks *s, const struct seen *t, uint32_t looks)
{
    const struct findings_place *path[INSIDE_FRAMES], *other[INSIDE_FRAMES];
    struct node *n = &s->root;
    bool ours, moves = false;
    uint32_t count = path_of(s, t, path, &ours);
    for (uint32_t k = 1; k < looks; k++) {
        uint32_t there = path_of(s, &t[k], other, &ours), same = 0;
        while (same < count && same < there && !strcmp(key_of(path[same]), key_of(other[same])))
            same++;
        moves |= same < count || same < there;
        count = same;
    }
    if (ours)
        return;
    for (uint32_t i = 0; i < count; i++)
        n = enter(n, key_of(path[i]), mpi_name(path[i]), path[i], t->who);
    if (moves)
        (void)enter(n, "moves", "moves", NULL, t->who);
    else if (!count && t->count)
        (void)enter(n, "waits", "waits for work", NULL, t->who);
}

BASE_COMPARISON(seen_order, struct seen, BASE_UP(who.thread) ?: BASE_UP(who.rank) ?: BASE_UP(id) ?: BASE_UP(look))

static void make_tree(struct stacks *s)
{
    if (s->made)
        return;
    s->made = true;
    s->resolver = findings_resolver_create(s->places);
    BASE_SORT(s->seen, s->count, seen_order);
    for (uint32_t i = 0, n; i < s->count; i += n) {
        for (n = 1; i + n < s->count && s->seen[i + n].id == s->seen[i].id &&
                    s->seen[i + n].who.rank == s->seen[i].who.rank; n++)
            ;
        add_thread(s, &s->seen[i], n);
    }
}

/* --- Text --- */

static const char *node_text(const struct node *n)
{
    const struct findings_place *p = n->place;
    const char *text = n->name ?: findings_function_at(p, false);
    if (n->name || !n->lines)
        return text;
    text = findings_text("%s@%s", text, p->file);
    for (uint32_t i = 0; i < n->lines; i++)
        text = findings_text("%s%s%u", text, i ? "," : ":", n->line[i]);
    return text;
}

static bool same_ranks(const struct who *a, const struct who *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].rank != b[i].rank)
            return false;
    return true;
}

/* "0-2,5" of ranks of one thread. */
static const char *ranks_text(const struct who *w, uint32_t count)
{
    const char *text = "";
    for (uint32_t i = 0, first; i < count; i++) {
        for (first = i; i + 1 < count && w[i + 1].rank == w[i].rank + 1; i++)
            ;
        text = findings_text("%s%s%u", text, first ? "," : "", w[first].rank);
        if (i > first)
            text = findings_text("%s-%u", text, w[i].rank);
    }
    return text;
}

/* Whether the `n` from `at` on are those of one thread, all of it. */
static bool is_block(const struct who *w, uint32_t count, uint32_t at, uint32_t n, uint32_t thread)
{
    return at + n <= count && w[at].thread == thread && w[at + n - 1].thread == thread &&
           (at + n == count || w[at + n].thread != thread);
}

/* "0-3, 0-3.1-2": ranks, and ranks.threads where these are not the first. */
static const char *who_text(const struct who *w, uint32_t count)
{
    const char *text = "";
    for (uint32_t i = 0, n, more; i < count; i += n * more) {
        for (n = 1; i + n < count && w[i + n].thread == w[i].thread; n++)
            ;
        for (more = 1; w[i].thread && is_block(w, count, i + more * n, n, w[i].thread + more) &&
                       same_ranks(&w[i], &w[i + more * n], n); more++)
            ;
        text = findings_text("%s%s%s", text, i ? ", " : "", ranks_text(&w[i], n));
        if (w[i].thread)
            text = findings_text(more > 1 ? "%s.%u-%u" : "%s.%u", text, w[i].thread, w[i].thread + more - 1);
    }
    return text;
}

/* In one line as long as there is one way on; who goes on is said where it is not all. */
static void print_node(const struct node *n, int indent, FILE *out)
{
    fprintf(out, "%*s%s [%s]", indent, "", node_text(n), who_text(n->who, n->count));
    for (; n->inside_count == 1 && n->inside[0]->count == n->count; n = n->inside[0])
        fprintf(out, " > %s", node_text(n->inside[0]));
    fputc('\n', out);
    for (uint32_t i = 0; i < n->inside_count; i++)
        print_node(n->inside[i], indent + 2, out);
}

/* What allows a user's own process to be looked at. */
static const char *own_text(void)
{
    static const char *const scopes[] = { /* of kernel.yama.ptrace_scope, which not every kernel has */
        "a debugger has it, or this container may not: --cap-add SYS_PTRACE, or look from outside of it",
        ("kernel.yama.ptrace_scope is 1: a run that is started with PYTHIA_STACKS=yes allows it, and so does "
         "sysctl kernel.yama.ptrace_scope=0"),
        "kernel.yama.ptrace_scope is 2: root may",
        "kernel.yama.ptrace_scope is 3: nobody may until the next boot" };
    char scope[8] = "0";
    (void)base_io_text(scope, sizeof scope, "/proc/sys/kernel/yama/ptrace_scope");
    return scopes[*scope >= '1' && *scope <= '3' && (geteuid() || *scope == '3') ? *scope - '0' : 0];
}

static const char *why_text(int why)
{
    return why == -EPERM     ? findings_text("the kernel forbids it; %s", own_text())
           : why == -EACCES  ? "the kernel forbids it; it is another user's: that user and root may"
           : why == -ENOTSUP ? "this pythia was built without libunwind-ptrace (libunwind-dev)"
           : why == -ESRCH   ? "the process is gone"
           : why == -EREMOTE ? "on another node or in another container: look there"
                             : strerror(-why);
}

void stacks_print(struct stacks *s, FILE *out)
{
    make_tree(s);
    for (uint32_t i = 0; i < s->root.inside_count; i++)
        print_node(s->root.inside[i], 2, out);
    for (uint32_t i = 0, n; i < s->not_count; i += n) {
        BASE_OWN struct who *who = calloc(s->not_count, sizeof *who);
        for (n = 0; i + n < s->not_count && s->not_seen[i + n].why == s->not_seen[i].why; n++)
            who[n] = s->not_seen[i + n].who;
        fprintf(out, "  no stack of rank%s %s: %s\n", n > 1 ? "s" : "", ranks_text(who, n),
                why_text(s->not_seen[i].why));
    }
}

/* --- JSON --- */

static void add_node(cJSON *array, const struct node *n)
{
    cJSON *o = ADD(array, TEXT("function", n->name ?: findings_function_at(n->place, true)),
                   TEXT("file", n->name ? NULL : n->place->file), TEXT("who", who_text(n->who, n->count)));
    cJSON *lines = cJSON_AddArrayToObject(o, "lines"), *ranks = cJSON_AddArrayToObject(o, "ranks");
    for (uint32_t i = 0; i < n->lines && !n->name; i++)
        cJSON_AddItemToArray(lines, cJSON_CreateNumber(n->line[i]));
    uint32_t *rank = calloc(n->count + 1u, sizeof *rank), count = 0;
    for (uint32_t i = 0, k; i < n->count; i++) {
        for (k = 0; k < count && rank[k] != n->who[i].rank; k++)
            ;
        if (k == count)
            cJSON_AddItemToArray(ranks, cJSON_CreateNumber(rank[count++] = n->who[i].rank));
    }
    free(rank);
    ADD(o, NUMBER("threads", n->count));
    cJSON *inside = cJSON_AddArrayToObject(o, "inside");
    for (uint32_t i = 0; i < n->inside_count; i++)
        add_node(inside, n->inside[i]);
}

cJSON *stacks_json(struct stacks *s)
{
    cJSON *o = cJSON_CreateObject(), *tree = cJSON_AddArrayToObject(o, "tree");
    make_tree(s);
    for (uint32_t i = 0; i < s->root.inside_count; i++)
        add_node(tree, s->root.inside[i]);
    cJSON *not_seen = cJSON_AddArrayToObject(o, "not_seen");
    for (uint32_t i = 0; i < s->not_count; i++)
        ADD(not_seen, NUMBER("rank", s->not_seen[i].who.rank), TEXT("why", why_text(s->not_seen[i].why)));
    ADD(o, TIME("stopped_seconds", s->stopped_ns));
    return o;
}
