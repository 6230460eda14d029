/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing of what reads a job: findings, replay, views, contracts and page, from files that are sound and whose numbers
 * lie. Random bytes never come that far: here a sound job is changed as a structure, what follows from the change is
 * made to follow (hashes, order), and what the reader accepts then is printed in every form. Counts, sums and events
 * may be any: readers do not look whether they agree.
 *
 *     fuzz_report FIRST COUNT FILE...     inputs of the seeds FIRST … FIRST + COUNT - 1, each from one of the files
 *                                         or from six simulated ranks
 *     fuzz_report SEED 1 FILE...          one of them, again, here: for a debugger
 *
 * None may crash, take a GB or 10 s of a processor. A child has some hundred inputs; one that ends is told with the
 * seed that it was at, and the next child begins behind that. Exit code 1 where one was.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contracts/compare.h"
#include "contracts/contract.h"
#include "file/file.h"
#include "findings/report.h"
#include "job/class.h"
#include "job/ranges.h"
#include "job/relation.h"
#include "job/schema.h"
#include "page/export.h"
#include "page/html.h"
#include "replay/analysis.h"
#include "merge/merge.h"
#include "tests/unit/simulate.h"
#include "views/scaling.h"
#include "views/views.h"

enum { PIECE = 200 /* inputs a child */, SECONDS = 10, STEPS = 20000, EVENTS = 2000, MOST_FILES = 64 };
#define MOST_MEMORY ((rlim_t)1 << 30)

static struct { void *data; size_t size; } files[MOST_FILES];
static uint32_t file_count;
static struct told { uint64_t seed, accepted, inputs; } *told; /* shared with the children */
static FILE *nowhere;

/* --- Chance --- */

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % (below ? below : 1);
}

static uint64_t strange(uint64_t was, uint64_t below)
{
    static const uint64_t words[] = { 0, 1, 2, 3, UINT32_MAX, INT32_MAX, 1ull << 31, UINT64_MAX, INT64_MAX, 1ull << 63,
                                      0x7ff0000000000000 /* infinity */, 0x7ff8000000000000 /* no number */,
                                      0xbff0000000000000 /* -1 */, 0x7fe0000000000000 /* 1e308 */, 1ull << 40,
                                      1ull << 52, UINT32_MAX - 1 };
    switch (draw(6)) {
    case 0: return words[draw(sizeof words / sizeof *words)];
    case 1: return was + 1 - 2 * draw(2);
    case 2: return draw(1000);
    case 3: return was * (1 + draw(1000000));
    case 4: return draw(below + 1);
    default: return draw(UINT64_MAX) >> draw(64);
    }
}

/* --- What is changed --- */

/* A field of a row of a table. */
static void change_table(struct job *j)
{
    enum job_tables t = (enum job_tables)draw(JOB_TABLES);
    uint32_t count;
    char *rows = job_rows_of(j, t, &count);
    const struct job_schema *s = &job_schemas[t];
    if (!count)
        return;
    const struct job_field *f = &s->field[draw(s->fields)];
    void *row = rows + s->size * (size_t)draw(count);
    uint32_t k = (uint32_t)draw(f->count);
    uint64_t below = f->refers ? job_rows_named(j, f->refers) : f->below ? f->below : j->info.ranks;
    job_field_put(f, row, k, strange(job_field_get(f, row, k), below));
    if (s->keyed && t != JOB_TABLE_STREAMS)
        (void)job_rows_settle(j, t);
}

static void change_name(struct job *j)
{
    static const char *const names[] = {
        "MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Sendrecv", "MPI_Waitall", "MPI_Waitany", "MPI_Wait",
        "MPI_Waitsome", "MPI_Test", "MPI_Probe", "MPI_Iprobe", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce",
        "MPI_Barrier", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Gather", "MPI_Scatterv", "MPI_Scan", "MPI_Iallreduce",
        "MPI_Start", "MPI_Startall", "MPI_Init", "MPI_Finalize", "MPI_Comm_split", "MPI_Cart_create",
        "MPI_File_write_all", "MPI_Put", "MPI_Win_fence", "MPI_Win_lock", "MPI_Ssend", "MPI_Neighbor_alltoall",
        "MPI_Comm_dup", "omp parallel", "world", "self", "world/split#0", "world/cart#0", "", "\xff\xfe", "%s%n",
        "<b>", "a\nb\tc", "=1+1", "exclusive ns" };
    const char *name = names[draw(sizeof names / sizeof *names)];
    for (uint32_t i = 0; i < j->string_count; i++)
        if (!strcmp(j->strings[i], name))
            return; /* each once */
    if (!j->string_count)
        return;
    uint32_t n = (uint32_t)draw(j->string_count);
    free(j->strings[n]);
    j->strings[n] = strdup(name);
}

static void change_moments(struct grammar_moments *m)
{
    uint64_t word = strange(m->sum, 1u << 20);
    switch (draw(3)) {
    case 0: m->min = word; break;
    case 1: m->max = word; break;
    default: memcpy(&m->square, &word, sizeof word);
    }
}

/* What a node counts and takes need not agree with what others do. */
static void change_times(struct job_class *c)
{
    struct grammar_stats *s = &c->grammar->stats[draw(c->grammar->node_count)];
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges);
    switch (draw(4)) {
    case 0: s->count = strange(s->count, 1u << 30); s->count += s->count < members ? members : 0; break;
    case 1: s->gap.sum = strange(s->gap.sum, 1u << 30); break;
    case 2: s->duration.sum = strange(s->duration.sum, 1u << 30); break;
    default: change_moments(draw(2) ? &s->gap : &s->duration);
    }
}

/* Counts are exponents, as often as the rules are used, by all members: or what they were. */
static void change_exponent(struct job *j, struct job_class *c)
{
    struct grammar_flat *g = c->grammar;
    if (c->turn_count || !g->rule_count)
        return;
    uint32_t n = (uint32_t)draw(g->node_count);
    bool agree = draw(2);
    uint64_t *uses = calloc(2 * (size_t)g->rule_count, sizeof *uses), *length = uses + g->rule_count;
    g->nodes[n].exponent = strange(g->nodes[n].exponent, 100) | (draw(2) ? 1 : 0);
    grammar_flat_lengths(g, length);
    grammar_flat_uses(g, uses);
    g->events = length[0];
    for (uint32_t r = 0; r < g->rule_count && agree; r++)
        for (uint32_t k = g->rules[r].first; k < g->rules[r].first + g->rules[r].length; k++)
            g->stats[k].count = uses[r] * g->nodes[k].exponent * job_ranges_size(c->ranges, c->member_ranges);
    for (uint32_t i = 0; i < j->stream_count && agree && j->info.block == 1; i++)
        if (j->streams[i].class_index == c - j->classes)
            j->streams[i].events = g->events;
    free(uses);
}

/* Of members that have exponents of their own. */
static void change_turn(struct job_class *c)
{
    if (!c->turn_count)
        return;
    struct job_turn *t = &c->turns[draw(c->turn_count)];
    struct job_column *col = t->column != GRAMMAR_NONE ? &c->columns[t->column] : NULL;
    if (!col)
        t->exponent = strange(t->exponent, 1000);
    else
        col->data[draw(col->width * job_ranges_size(c->ranges, c->member_ranges))] = (uint8_t)(1 + draw(255));
}

static void change_variant(struct job *j, struct job_class *c)
{
    if (!c->variant_count)
        return;
    struct job_variant *v = &c->variants[draw(c->variant_count)];
    struct grammar_attr *a = &v->attr;
    switch (draw(8)) {
    case 0: a->kind = (uint8_t)draw(3); a->length = 1 + (uint16_t)draw(GRAMMAR_ATTR_KEYS); break;
    case 1: a->min = (int64_t)strange((uint64_t)a->min, j->info.ranks); break;
    case 2: a->course = j->starts.count ? j->starts.list[draw(j->starts.count)].name : (int64_t)strange(0, 9); break;
    case 3: a->count = strange(a->count, 1000); break;
    case 4: a->min = (int64_t)strange((uint64_t)a->min, 1000); break;
    case 5: a->sum = (int64_t)strange((uint64_t)a->sum, 1000); break;
    case 6: a->key[draw(GRAMMAR_ATTR_KEYS)].sum = strange(0, 1u << 30); break;
    default: v->modulus = (uint32_t)strange(v->modulus, j->info.ranks);
    }
    job_relation_canonical(a);
    v->relations &= job_relation_possible(&j->starts, a, v->modulus);
    v->relations |= v->relations ? 0 : JOB_ABSOLUTE;
}

static void change_spread(struct job_class *c)
{
    struct job_spread *s = &c->spread[draw(c->grammar->node_count)];
    struct job_extent *e = draw(2) ? &s->all : &s->call;
    switch (draw(4)) {
    case 0: e->most = strange(e->most, 1000); break;
    case 1: e->least = draw(e->most + 1); break;
    case 2: e->most_rank = (uint32_t)strange(e->most_rank, 1000); break;
    default: s->call_square = draw(2) ? -1e300 : (double)NAN;
    }
}

/* What tables and arrays are as large as. */
static void change_size(struct job *j)
{
    uint32_t size = (uint32_t)strange(j->info.ranks, j->info.ranks);
    if (j->comm_count && draw(2))
        j->comms[draw(j->comm_count)].size = size;
    else if (draw(4))
        j->info.ranks = size;
    else
        j->info.threads = size;
    for (uint32_t i = 0; i < j->comm_count && draw(2); i++) /* one that is all ranks */
        j->comms[i].size = j->info.ranks;
}

static void change_stream(struct job *j)
{
    if (!j->stream_count)
        return;
    struct job_stream *s = &j->streams[draw(j->stream_count)];
    uint64_t *const at[] = { &s->begin_ns, &s->wall_ns, &s->mpi_ns, &s->omp_ns, &s->cost_ns, &s->lost,
                             &s->events };
    uint64_t *one = at[draw(sizeof at / sizeof *at)];
    *one = strange(*one, s->events);
}

/* Terminals may have become others: classes have the hashes of what they are now. False: two have become one. */
static bool make_hashes(struct job *j)
{
    struct job *fresh = job_create();
    struct job_frame *frames = j->frames;
    union { struct job_module m; struct job_callsite c; struct job_comm k; struct job_terminal t; } row;
    bool good = true;
    static const enum job_tables tables[] = { JOB_TABLE_MODULES, JOB_TABLE_CALLSITES, JOB_TABLE_COMMS,
                                              JOB_TABLE_TERMINALS };
    for (uint32_t i = 0; i < j->string_count && good; i++)
        good = job_string(fresh, j->strings[i]) == i;
    for (unsigned k = 0; k < sizeof tables / sizeof *tables && good; k++) {
        uint32_t count;
        const char *rows = job_rows_of(j, tables[k], &count);
        for (uint32_t i = 0; i < count && good; i++) {
            memcpy(&row, rows + i * (size_t)job_schemas[tables[k]].size, job_schemas[tables[k]].size);
            good = job_row_sane(fresh, tables[k], &row) && (tables[k] != JOB_TABLE_CALLSITES ||
                   (row.c.first <= j->frame_count && row.c.count <= j->frame_count - row.c.first)) &&
                   job_define(fresh, tables[k], &row, frames) == i;
        }
    }
    for (uint32_t i = 0; i < j->class_count && good; i++)
        j->classes[i].hash = grammar_flat_shape(j->classes[i].grammar, fresh->terminal_hash);
    job_destroy(fresh);
    return good;
}

/* So that it can be packed. */
static bool has_sane_tables(const struct job *j)
{
    char why[200];
    bool good = true;
    for (uint32_t i = 0; i < j->callsite_count && good; i++) /* what tables name is followed */
        good = j->callsites[i].first <= j->frame_count &&
               j->callsites[i].count <= j->frame_count - j->callsites[i].first;
    for (enum job_tables t = 0; t < JOB_TABLES && good; t++)
        good = job_rows_check(j, t, why, sizeof why) == 0;
    return good;
}

/* A job of a file, changed; NULL where the reader does not take it. */
static struct job *make(uint32_t file, bool change)
{
    struct job *j = NULL, *back = NULL;
    char why[200];
    void *data;
    size_t size;
    if (file_unpack(files[file].data, files[file].size, &j, why, sizeof why))
        abort();
    for (uint64_t n = change ? 1 + draw(6) : 0; n > 0; n--) {
        struct job_class *c = j->class_count ? &j->classes[draw(j->class_count)] : NULL;
        switch (draw(c ? 11 : 5)) {
        case 0: case 1: change_table(j); break;
        case 2: change_name(j); break;
        case 3: change_stream(j); break;
        case 4: change_size(j); break;
        case 5: case 6: change_times(c); break;
        case 7: change_exponent(j, c); break;
        case 8: change_variant(j, c); break;
        case 9: change_turn(c); break;
        default: change_spread(c);
        }
    }
    bool made = has_sane_tables(j) && make_hashes(j) && file_pack_for_file(j, &data, &size) == 0;
    if (made && file_unpack(data, size, &back, why, sizeof why))
        back = NULL;
    if (made)
        free(data);
    job_destroy(j);
    return back;
}

/* --- What is done with it --- */

static void print_texts(struct report *r)
{
    const struct views_tree_how how = { .depth = (uint32_t)draw(3), .all = draw(2) };
    for (enum views_view v = VIEWS_SUMMARY; v <= VIEWS_DATA; v++)
        views_print_text(r, v, &how, nowhere);
}

static void print_tables(struct report *r)
{
    views_print_json(r, NULL, nowhere);
    views_print_csv(r, nowhere);
    views_print_calls_csv(r, nowhere);
    views_print_sizes_csv(r, nowhere);
    views_print_calltree_csv(r, nowhere);
}

static void print_page(struct report *r)
{
    page_print_html(r, nowhere);
    page_print_folded(r, nowhere);
}

static void print_exports(struct report *r)
{
    struct page_export how = { .limit = EVENTS, .folded = draw(2) };
    page_print_trace(r, &how, nowhere);
    how.limit = 50;
    page_print_dot(r, &how, nowhere);
    if (page_trace_events(r->job) <= EVENTS)
        page_print_goal(r, nowhere);
}

static void replay(struct report *r)
{
    struct replay_analysis *a = NULL;
    struct replay_efficiency e;
    struct replay_prediction p;
    struct bind_network network = { 0 };
    struct bind_change c = { .network = draw(2) ? &network : NULL, .balance_all = draw(2), .balance = GRAMMAR_NONE };
    if (replay_analysis_create(r->job, STEPS, &a))
        return;
    (void)replay_analysis_efficiency(a, NULL, &e);
    (void)replay_analysis_predict(a, &c, &p);
    replay_analysis_destroy(a);
}

static void compare(struct report *a, struct report *b)
{
    struct contracts_comparison *c = contracts_compare(a, "a", b, "b");
    views_print_comparison(c, nowhere);
    page_print_jobs_html(views_comparison_json(c), nowhere);
    contracts_comparison_destroy(c);
    struct views_scaling s = { .count = 2, .file = { "a", "b" }, .report = { a, b } };
    views_print_scaling(&s, nowhere);
    views_json_write(views_scaling_json(&s), nowhere);
}

static void judge(struct report *a, struct report *b)
{
    static const char rules[] = "structure, wall > 5%, callsite > 10%, region > 10%, loop > 10%, parallel > 5%, "
                                "load_balance > 5%, serialisation > 5%, openmp > 5%, structure[messages], "
                                "structure[bytes], structure[collectives], structure[turns], structure[callsites]";
    struct contract c = { 0 };
    const char *names[] = { "a", "b" };
    char why[200];
    if (!contract_parse(&c, rules, why, sizeof why))
        abort();
    contract_judge(&c, &a, names, 1, b, "b");
    contract_print(&c, nowhere);
    contract_print_json(&c, nowhere);
    contract_print_junit(&c, nowhere);
    contract_clear(&c);
}

static struct report *report_of(struct job *j)
{
    struct report *r = report_create(j);
    r->steps = STEPS;
    return r;
}

static void with_another(struct report *r, uint32_t file)
{
    struct job *other = make(file, draw(2));
    if (!other)
        return;
    struct report *o = report_of(other);
    if (draw(2))
        compare(r, o);
    else
        judge(draw(2) ? r : o, draw(2) ? o : r);
    report_destroy(o);
    job_destroy(other);
}

static void input(uint64_t seed)
{
    state = seed * 0xd1342543de82ef95u;
    uint32_t file = (uint32_t)draw(file_count);
    struct job *j = make(file, true);
    told->inputs++;
    if (!j)
        return;
    told->accepted++;
    struct report *r = report_of(j);
    switch (draw(6)) { /* each of them makes the tables and the findings that it needs */
    case 0: print_texts(r); break;
    case 1: print_tables(r); break;
    case 2: print_page(r); break;
    case 3: print_exports(r); break;
    case 4: replay(r); break;
    default: with_another(r, draw(3) ? file : (uint32_t)draw(file_count));
    }
    report_destroy(r);
    job_destroy(j);
}

/* --- Pieces --- */

static void set_clock(void)
{
    struct itimerval limit = { .it_value = { .tv_sec = SECONDS } };
    setitimer(ITIMER_PROF, &limit, NULL);
}

static void run(uint64_t first, uint64_t end)
{
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    setrlimit(RLIMIT_AS, &(struct rlimit){ MOST_MEMORY, MOST_MEMORY });
#endif
    for (uint64_t seed = first; seed < end; seed++) {
        told->seed = seed;
        set_clock();
        input(seed);
    }
}

/* How many inputs ended their process. */
static unsigned run_pieces(uint64_t first, uint64_t end)
{
    unsigned failed = 0;
    int status;
    while (first < end) {
        uint64_t last = end - first < PIECE ? end : first + PIECE;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            run(first, last);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status) {
            failed++;
            printf("seed %llu: %s %d\n", (unsigned long long)told->seed, WIFSIGNALED(status) ? "signal" : "exit",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
        first = status ? told->seed + 1 : last;
    }
    return failed;
}

static void simulate(enum simulate_shape shape)
{
    enum { RANKS = 6 };
    struct job *j = job_create();
    for (uint32_t i = 0; i < RANKS; i++) {
        struct simulate_rank r;
        simulate_rank(&r, shape, i, RANKS, 3);
        if (merge_job(j, r.job))
            abort();
        simulate_clear(&r);
    }
    if (file_pack(j, NULL, &files[file_count].data, &files[file_count].size))
        abort();
    file_count++;
    job_destroy(j);
}

static void read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || file_count == MOST_FILES)
        exit(99);
    fseek(f, 0, SEEK_END);
    files[file_count].size = (size_t)ftell(f);
    files[file_count].data = malloc(files[file_count].size + 1);
    rewind(f);
    if (fread(files[file_count].data, 1, files[file_count].size, f) != files[file_count].size)
        exit(99);
    fclose(f);
    file_count++;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: fuzz_report FIRST COUNT FILE...\n");
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    nowhere = fopen("/dev/null", "w");
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (enum simulate_shape s = 0; s < SIMULATE_SHAPES; s++)
        simulate(s);
    for (int i = 3; i < argc; i++)
        read_file(argv[i]);
    unsigned failed = 0;
    if (count == 1)
        run(first, first + 1);
    else
        failed = run_pieces(first, first + count);
    printf("%llu inputs, %llu accepted, %u failed\n", (unsigned long long)told->inputs,
           (unsigned long long)told->accepted, failed);
    return failed > 0;
}
