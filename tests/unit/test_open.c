/* SPDX-License-Identifier: MIT */
/* A job that is opened answers as one that is read, reads little, and survives what becomes of its file. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar/grammar.h"
#include "merge/container.h"
#include "merge/format.h"
#include "merge/job.h"
#include "oracle/oracle.h"
#include "pythia.h"
#include "unit.h"

enum { RANKS = 5, CALLS = 14, EVENTS = 30000, ASKED = 4000, MEMORY = 1 << 20 };

static char path[] = "/tmp/pythia-open-XXXXXX";
static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

/* --- A job whose ranks complete what they wait for in an order of their own: many rules, each in few places --- */

static void append(struct grammar *g, struct job_stream *s, uint32_t terminal, uint32_t rank)
{
    struct grammar_event e = { .terminal = terminal, .gap = below(3000), .duration = below(900),
                               .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES,
                               .value = { [GRAMMAR_PEER] = (rank + terminal) % RANKS, [GRAMMAR_BYTES] = below(3) } };
    s->wall_ns += e.gap + e.duration;
    grammar_append(g, &e);
}

static struct job *rank_job(uint32_t rank)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(64 << 20);
    struct job_stream s = { .rank = rank };
    uint32_t order[CALLS];
    char name[16];
    j->info.ranks = RANKS;
    state = rank / 2; /* two ranks do the same: one class */
    for (uint32_t i = 0; i < CALLS; i++) {
        snprintf(name, sizeof name, "call %u", i);
        order[i] = job_terminal(j, &(struct job_terminal){ .kind = JOB_CALL, .function = job_string(j, name),
                                                           .callsite = GRAMMAR_NONE, .comm = job_comm(j, "world", RANKS) });
    }
    for (uint32_t n = 0; n < EVENTS; n += CALLS)
        for (uint32_t i = 0; i < CALLS; i++) {
            uint32_t k = i + below(CALLS - i), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
            append(g, &s, order[i], rank);
        }
    ck_assert_int_eq(job_add_stream(j, &s, grammar_freeze(g)), 0);
    grammar_destroy(g);
    return j;
}

static void write_file(void)
{
    struct job *j = job_create();
    char why[256] = "";
    int fd;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (uint32_t r = 0; r < RANKS; r++) {
        struct job *one = rank_job(r);
        ck_assert_int_eq(job_merge(j, one), 0);
        job_destroy(one);
    }
    ck_assert_msg(job_write(j, path, why, sizeof why) == 0, "%s", why);
    job_destroy(j);
}

static struct job *open_file(void)
{
    struct job *j = NULL;
    char why[256] = "";
    ck_assert_msg(job_open(path, &j, why, sizeof why) == 0, "%s", why);
    return j;
}

static struct job *read_file(void)
{
    struct job *j = NULL;
    char why[256] = "";
    ck_assert_msg(job_read(path, &j, why, sizeof why) == 0, "%s", why);
    return j;
}

/* --- One rank's oracle --- */

struct fixture { struct job *job; uint32_t class_index; const struct oracle_index *index; struct oracle *oracle; };

static struct fixture follow_in(struct job *j, uint32_t rank, size_t learn)
{
    struct fixture f = { .job = j, .class_index = job_stream_class(j, rank, 0) };
    struct oracle_options how = { .learn = learn };
    char why[256] = "";
    ck_assert_uint_ne(f.class_index, GRAMMAR_NONE);
    ck_assert_msg(job_open_class(j, f.class_index, why, sizeof why) == 0, "%s", why);
    ck_assert_int_eq(job_open_class(j, f.class_index, why, sizeof why), 0); /* twice is once */
    f.index = oracle_index_create(j->classes[f.class_index].grammar);
    f.oracle = oracle_create(&f.index, NULL, 1, &how);
    ck_assert_ptr_nonnull(f.oracle);
    return f;
}

static void end(struct fixture *f)
{
    oracle_destroy(f->oracle);
    oracle_index_destroy((struct oracle_index *)f->index);
    job_destroy(f->job);
}

/* The rank's events, with some missing, some that nobody knows and some exchanged from `wrong` in a hundred on. */
static uint32_t *some_events(const struct job *j, uint32_t rank, uint32_t wrong, uint32_t *count)
{
    struct grammar_cursor c;
    uint32_t *list = calloc(EVENTS + CALLS, sizeof *list);
    *count = 0;
    state = 99;
    for (int more = grammar_cursor_open(&c, j->classes[job_stream_class(j, rank, 0)].grammar); more && *count < ASKED;
         more = grammar_cursor_next(&c)) {
        if (below(100) >= wrong)
            list[(*count)++] = c.terminal;
        else if (below(2))
            list[(*count)++] = below(CALLS + 3);
    }
    grammar_cursor_close(&c);
    return list;
}

static void same_attr(const struct fixture *a, const struct fixture *b, const struct oracle_answer *answer, uint32_t rank)
{
    for (enum grammar_channel k = 0; k < GRAMMAR_CHANNELS; k++) {
        const struct grammar_attr *x = oracle_attr(a->oracle, answer, k), *y = oracle_attr(b->oracle, answer, k);
        ck_assert(!x == !y);
        ck_assert(!x || memcmp(x, y, sizeof *x) == 0);
        int64_t v = 0, w = 0;
        struct job_class_entry c, d;
        ck_assert(job_class_at(a->job, a->class_index, answer->node, &c) && job_class_at(b->job, b->class_index, answer->node, &d));
        ck_assert_int_eq(job_attr_value(a->job, &c, answer->node, k, rank, 0, answer->turn, &v),
                         job_attr_value(b->job, &d, answer->node, k, rank, 0, answer->turn, &w));
        ck_assert_int_eq(v, w);
    }
}

static void same_answer(const struct fixture *a, const struct fixture *b, uint64_t distance, uint32_t rank)
{
    struct oracle_answer x, y;
    int known = oracle_predict(a->oracle, distance, &x);
    ck_assert_int_eq(known, oracle_predict(b->oracle, distance, &y));
    if (known)
        return;
    ck_assert_uint_eq(x.terminal, y.terminal);
    ck_assert_uint_eq(x.node, y.node);
    ck_assert(x.probability == y.probability && x.until == y.until && x.until_deviation == y.until_deviation);
    ck_assert(x.duration == y.duration && x.duration_deviation == y.duration_deviation);
    if (x.reference == GRAMMAR_NONE)
        return;
    const struct grammar_stats *s = oracle_stats(a->oracle, &x), *t = oracle_stats(b->oracle, &y);
    ck_assert(memcmp(s, t, sizeof *s) == 0);
    same_attr(a, b, &x, rank);
}

START_TEST(answers_are_those_of_a_job_that_is_read)
{
    uint32_t rank = (uint32_t)_i % 3 * 2, count;
    size_t learn = _i / 3 ? MEMORY : 0;
    write_file();
    struct fixture a = follow_in(read_file(), rank, learn), b = follow_in(open_file(), rank, learn);
    uint32_t *list = some_events(a.job, rank, rank ? 5 : 0, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct oracle_remaining x, y;
        uint64_t gap = below(2000), duration = below(1000);
        same_answer(&a, &b, 1, rank);
        same_answer(&a, &b, 1 + below(500), rank);
        if (i % 50 == 0)
            same_answer(&a, &b, 1 + below(EVENTS), rank);
        oracle_remaining(a.oracle, &x);
        oracle_remaining(b.oracle, &y);
        ck_assert(x.events == y.events && x.ns == y.ns && x.loop_ns == y.loop_ns);
        oracle_follow(a.oracle, list[i], gap, duration);
        oracle_follow(b.oracle, list[i], gap, duration);
    }
    ck_assert(memcmp(oracle_score(a.oracle), oracle_score(b.oracle), sizeof(struct oracle_score)) == 0);
    free(list);
    end(&a);
    end(&b);
    unlink(path);
}
END_TEST

/* --- How much is read --- */

static uint64_t bytes_read(void)
{
    char line[64];
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    ck_assert_int_eq(sscanf(line, "rchar: %llu", &n), 1);
    fclose(f);
    return n;
}

START_TEST(little_is_read_before_the_first_event)
{
    struct stat st;
    struct oracle_answer answer;
    write_file();
    ck_assert_int_eq(stat(path, &st), 0);
    uint64_t before = bytes_read();
    struct fixture f = follow_in(open_file(), 2, 8 * MEMORY); /* its list of events is put off */
    ck_assert_int_eq(oracle_predict(f.oracle, 1, &answer), 0);
    uint64_t taken = bytes_read() - before;
    ck_assert_msg((double)taken < 0.2 * (double)st.st_size, "%llu of %lld bytes", (unsigned long long)taken,
                  (long long)st.st_size);
    size_t size;
    ck_assert_ptr_nonnull(job_bytes(f.job, &size)); /* all of it, for others */
    ck_assert_uint_eq(size, (uint64_t)st.st_size);
    unsigned char *own = malloc(size);
    int fd = open(path, O_RDONLY);
    ck_assert_int_eq(read(fd, own, size), (ssize_t)size);
    ck_assert_mem_eq(job_bytes(f.job, &size), own, size);
    close(fd);
    struct job *copy = NULL;
    char why[256] = "";
    ck_assert_msg(job_open_bytes(own, size, &copy, why, sizeof why) == 0, "%s", why);
    ck_assert_uint_eq(job_opened_mark(copy), job_opened_mark(f.job));
    job_destroy(copy);
    end(&f);
    unlink(path);
}
END_TEST

/* --- What becomes of the file --- */

static uint32_t right(struct fixture *f, const uint32_t *list, uint32_t count)
{
    struct oracle_answer a;
    uint32_t hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (oracle_predict(f->oracle, 1, &a) == 0) {
            hits += a.terminal == list[i];
            ck_assert(a.until >= 0 && a.duration >= 0);
        }
        oracle_follow(f->oracle, list[i], 1000, 100);
    }
    return hits;
}

/* The structure was read; the times that were not are unknown, and nothing else is. */
START_TEST(a_file_that_vanishes_while_it_is_used)
{
    uint32_t count;
    write_file();
    struct job *whole = read_file();
    uint32_t *list = some_events(whole, 4, 0, &count);
    struct fixture f = follow_in(open_file(), 4, MEMORY);
    struct job *late = open_file();
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_uint_eq(right(&f, list, count), count);
    size_t size;
    ck_assert_ptr_null(job_bytes(f.job, &size));
    char why[256] = "";
    ck_assert_int_lt(job_open_class(late, 0, why, sizeof why), 0);
    ck_assert_msg(*why && !strchr(why, '\n'), "%s", why);
    job_destroy(late);
    free(list);
    job_destroy(whole);
    end(&f);
    unlink(path);
}
END_TEST

static struct merge_section section_of(const unsigned char *data, size_t size, enum format_section type, size_t *at)
{
    struct merge_container c;
    char why[200] = "";
    ck_assert_msg(merge_container_open(&c, data, size, why, sizeof why) == 0, "%s", why);
    struct merge_section s = c.section[type];
    ck_assert(s.in_blocks && s.blocks.count > 3);
    *at = (size_t)(s.blocks.frames - data) + s.blocks.at[2];
    merge_container_close(&c);
    return s;
}

/* A byte of a block is wrong: of statistics the block's times are unknown, of nodes the class. Who reads it all refuses it. */
START_TEST(a_damaged_block)
{
    uint32_t count;
    size_t size, at;
    char why[256] = "";
    write_file();
    struct job *whole = read_file();
    uint32_t *list = some_events(whole, 0, 0, &count);
    for (int nodes = 0; nodes < 2; nodes++) {
        struct job *j = open_file(), *refused = NULL;
        const unsigned char *bytes = job_bytes(j, &size);
        unsigned char *own = malloc(size);
        memcpy(own, bytes, size);
        job_destroy(j);
        section_of(own, size, nodes ? SECTION_NODES : SECTION_STATS, &at);
        own[at + 7] ^= 1;
        ck_assert_int_eq(job_unpack(own, size, &refused, why, sizeof why), PYTHIA_EFORMAT);
        ck_assert_msg(strstr(why, "checksum") != NULL, "%s", why);
        ck_assert_int_eq(job_open_bytes(own, size, &j, why, sizeof why), 0);
        if (nodes) {
            uint32_t opened = 0;
            for (uint32_t c = 0; c < j->class_count; c++)
                opened += job_open_class(j, c, why, sizeof why) == 0;
            ck_assert_uint_lt(opened, j->class_count); /* others may share its rules */
            job_destroy(j);
        } else {
            struct fixture f = follow_in(j, 0, 0);
            ck_assert_uint_eq(right(&f, list, count), count);
            end(&f);
        }
    }
    free(list);
    job_destroy(whole);
    unlink(path);
}
END_TEST

/* The bytes between the frames of the blocks become wrong: they were verified, and are not read again. */
START_TEST(a_file_that_is_written_over_while_it_is_used)
{
    size_t size, at;
    write_file();
    struct job *whole = read_file(), *j = open_file();
    int fd = open(path, O_RDWR);
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    unsigned char *was = malloc((size_t)st.st_size), *wrong = malloc((size_t)st.st_size);
    ck_assert_int_eq(pread(fd, was, (size_t)st.st_size, 0), st.st_size);
    memset(wrong, 0xff, (size_t)st.st_size);
    for (int type = SECTION_NODES; type <= SECTION_VARIANTS; type++)
        if (type == SECTION_NODES || type == SECTION_STATS) {
            struct merge_container c;
            char why[200] = "";
            ck_assert_int_eq(merge_container_open(&c, was, (size_t)st.st_size, why, sizeof why), 0);
            const struct merge_blocks *b = &c.section[type].blocks;
            at = (size_t)(b->frames - was);
            memcpy(wrong + at, was + at, b->at[b->count]);
            merge_container_close(&c);
        }
    ck_assert_int_eq(pwrite(fd, wrong, (size_t)st.st_size, 0), st.st_size);
    const unsigned char *bytes = job_bytes(j, &size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(size, (size_t)st.st_size);
    ck_assert_mem_eq(bytes, was, FORMAT_HEADER + SECTION_STREAMS * FORMAT_ENTRY);
    struct fixture f = follow_in(j, 3, 0);
    uint32_t count, *list = some_events(whole, 3, 0, &count);
    ck_assert_uint_eq(right(&f, list, count), count);
    end(&f);
    close(fd);
    free(list);
    free(was);
    free(wrong);
    job_destroy(whole);
    unlink(path);
}
END_TEST

/* The number of our file, found by its name; -1: none. */
static int number_of_file(void)
{
    char link[64], target[256];
    for (int fd = 3; fd < 1024; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (!strcmp(target, path))
            return fd;
    }
    return -1;
}

/* As programs do that become daemons. What is read then is not what was expected, and the program's own file is not ours to
   close. */
START_TEST(a_program_that_closes_all_files)
{
    uint32_t count;
    write_file();
    struct job *whole = read_file();
    uint32_t *list = some_events(whole, 2, 0, &count);
    struct fixture f = follow_in(open_file(), 2, 0);
    int fd = number_of_file();
    ck_assert_int_ge(fd, 500); /* out of the way */
    close(fd);
    ck_assert_int_eq(dup2(STDERR_FILENO, fd), fd);
    ck_assert_uint_eq(right(&f, list, count), count);
    end(&f);
    ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
    free(list);
    job_destroy(whole);
    unlink(path);
}
END_TEST

static void *ask_while_cancelled(void *given)
{
    struct fixture *f = given;
    struct oracle_answer a;
    struct job_class_entry c;
    int64_t value;
    pthread_cancel(pthread_self()); /* waits for the next cancellation point */
    (void)oracle_predict(f->oracle, 1000, &a);
    if (job_class_at(f->job, f->class_index, 0, &c))
        (void)job_attr_value(f->job, &c, 0, GRAMMAR_PEER, 1, 0, 0, &value);
    pthread_testcancel();
    return NULL;
}

/* A thread that is cancelled while it reads would leave the others waiting for its lock. */
START_TEST(a_thread_that_is_cancelled)
{
    pthread_t id;
    void *result;
    uint32_t count;
    write_file();
    struct job *whole = read_file();
    uint32_t *list = some_events(whole, 1, 0, &count);
    struct fixture f = follow_in(open_file(), 1, 0);
    ck_assert_int_eq(pthread_create(&id, NULL, ask_while_cancelled, &f), 0);
    ck_assert_int_eq(pthread_join(id, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_uint_eq(right(&f, list, count), count);
    end(&f);
    free(list);
    job_destroy(whole);
    unlink(path);
}
END_TEST

/* --- Attributes, node by node --- */

enum { MANY = 60, NODES = 700 };

/* One class whose ranks have partners without a rule, some of them the same: many sets, some of which are used again. */
static struct job *partners_of_rank(uint32_t rank)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(64 << 20);
    struct job_stream s = { .rank = rank };
    char name[16];
    j->info.ranks = MANY;
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "call %u", i);
        struct job_terminal t = { .kind = JOB_CALL, .function = job_string(j, name), .callsite = GRAMMAR_NONE,
                                  .comm = job_comm(j, "world", MANY) };
        struct grammar_event e = { .terminal = job_terminal(j, &t), .gap = 10,
                                   .channels = (i % 5 ? 1u << GRAMMAR_PEER : 0) | (i % 3 ? 1u << GRAMMAR_INDEX : 0),
                                   .value = { [GRAMMAR_PEER] = i % 4 ? rank * rank * (i % 7 + 1) % MANY : (rank + i) % MANY,
                                              [GRAMMAR_INDEX] = rank % (i % 11 + 1) } };
        s.wall_ns += e.gap;
        grammar_append(g, &e);
    }
    ck_assert_int_eq(job_add_stream(j, &s, grammar_freeze(g)), 0);
    grammar_destroy(g);
    return j;
}

static void write_partners(void)
{
    struct job *j = job_create();
    char why[256] = "";
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (uint32_t r = 0; r < MANY; r++) {
        struct job *one = partners_of_rank(r);
        ck_assert_int_eq(job_merge(j, one), 0);
        job_destroy(one);
    }
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_uint_gt(j->classes[0].variant_count, 4 * NODES);
    ck_assert_msg(job_write(j, path, why, sizeof why) == 0, "%s", why);
    job_destroy(j);
}

/* Whether the opened job says the same of a node, or (where that is not `must`) nothing. */
static bool same_node(const struct job *whole, const struct job *opened, uint32_t node, bool must)
{
    struct job_class_entry c, d;
    ck_assert(job_class_at(whole, 0, node, &c) && job_class_at(opened, 0, node, &d));
    const struct grammar_flat_node *n = &c.grammar->nodes[node], *m = &d.grammar->nodes[node];
    if (!must && !m->attr_count)
        return n->attr_count == 0;
    ck_assert_uint_eq(n->attr_count, m->attr_count);
    for (uint32_t k = 0; k < n->attr_count; k++)
        ck_assert(!memcmp(&c.grammar->attrs[n->attr + k], &d.grammar->attrs[m->attr + k], sizeof(struct grammar_attr)));
    for (uint32_t rank = 0; rank < MANY + 2; rank++)
        for (enum grammar_channel k = 0; k < GRAMMAR_CHANNELS; k++) {
            int64_t v = 0, w = 0;
            ck_assert_int_eq(job_attr_value(whole, &c, node, k, rank, 0, 0, &v), job_attr_value(opened, &d, node, k, rank, 0, 0, &w));
            ck_assert_int_eq(v, w);
            const struct job_variant *a = job_variant_most(&c, node, k), *b = job_variant_most(&d, node, k);
            ck_assert(!a == !b && (!a || (a->sample_rank == b->sample_rank && a->range_count == b->range_count)));
        }
    return true;
}

START_TEST(attributes_of_any_node_first)
{
    char why[256];
    struct job_class_entry c;
    write_partners();
    struct job *whole = read_file(), *opened = open_file();
    ck_assert(!job_class_at(opened, 0, 0, &c));
    ck_assert_int_eq(job_open_class(opened, 0, why, sizeof why), 0);
    for (uint32_t i = 0; i < NODES; i++)
        same_node(whole, opened, i * 271 % NODES, true);
    for (uint32_t i = 0; i < NODES; i++)
        same_node(whole, opened, i, true);
    job_destroy(whole);
    job_destroy(opened);
    unlink(path);
}
END_TEST

static unsigned char *bytes_of_file(size_t *size)
{
    struct job *j = open_file();
    const unsigned char *bytes = job_bytes(j, size);
    unsigned char *own = malloc(*size);
    memcpy(own, bytes, *size);
    job_destroy(j);
    return own;
}

/* A damaged block of variants or of ranges: its nodes have no attributes, the others have theirs. */
START_TEST(attributes_beside_damage)
{
    size_t size, at;
    char why[256];
    write_partners();
    struct job *whole = read_file(), *opened = NULL;
    unsigned char *own = bytes_of_file(&size);
    section_of(own, size, SECTION_VARIANTS, &at);
    own[at + 7] ^= 1;
    ck_assert_int_eq(job_open_bytes(own, size, &opened, why, sizeof why), 0);
    ck_assert_int_eq(job_open_class(opened, 0, why, sizeof why), 0);
    uint32_t good = 0;
    for (uint32_t i = 0; i < NODES; i++)
        good += same_node(whole, opened, i * 271 % NODES, false);
    ck_assert_msg(good > NODES / 2 && good < NODES, "%u", good);
    job_destroy(whole);
    job_destroy(opened);
    unlink(path);
}
END_TEST

/* What one node needs, whatever there is beside it. */
START_TEST(attributes_of_one_node_are_little)
{
    struct stat st;
    char why[256];
    struct job_class_entry c;
    write_partners();
    ck_assert_int_eq(stat(path, &st), 0);
    struct job *whole = read_file(), *opened = open_file();
    ck_assert_int_eq(job_open_class(opened, 0, why, sizeof why), 0);
    uint64_t before = bytes_read();
    ck_assert(job_class_at(opened, 0, NODES / 2, &c));
    uint64_t taken = bytes_read() - before, blocks = whole->classes[0].variant_count / 256;
    ck_assert_msg((double)taken < 0.6 * (double)st.st_size && blocks > 12, "%llu of %lld bytes, %llu blocks",
                  (unsigned long long)taken, (long long)st.st_size, (unsigned long long)blocks);
    job_destroy(whole);
    job_destroy(opened);
    unlink(path);
}
END_TEST

/* --- Threads that share an index --- */

struct thread { pthread_t id; struct fixture f; const uint32_t *list; uint32_t count, hits; double sum; };

static void *run(void *given)
{
    struct thread *t = given;
    struct oracle_options how = { .learn = MEMORY };
    struct oracle *o = oracle_create(&t->f.index, NULL, 1, &how);
    struct oracle_answer a;
    for (uint32_t i = 0; o && i < t->count; i++) {
        if (oracle_predict(o, 1 + i % 300, &a) == 0) {
            t->sum += a.until;
            (void)oracle_attr(o, &a, GRAMMAR_PEER);
        }
        oracle_follow(o, t->list[i], 1000, 100);
    }
    t->hits = (uint32_t)oracle_score(o)->at[0].hits;
    oracle_destroy(o);
    return NULL;
}

START_TEST(threads_share_what_is_read)
{
    enum { THREADS = 4 };
    struct thread t[THREADS];
    uint32_t count;
    write_file();
    struct job *whole = read_file();
    uint32_t *list = some_events(whole, 1, 3, &count);
    struct fixture f = follow_in(open_file(), 1, 0);
    for (int i = 0; i < THREADS; i++) {
        t[i] = (struct thread){ .f = f, .list = list, .count = count };
        ck_assert_int_eq(pthread_create(&t[i].id, NULL, run, &t[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i].id, NULL);
    for (int i = 1; i < THREADS; i++) {
        ck_assert(t[i].sum == t[0].sum && t[0].sum > 0);
        ck_assert_uint_eq(t[i].hits, t[0].hits);
    }
    free(list);
    job_destroy(whole);
    end(&f);
    unlink(path);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(answers_are_those_of_a_job_that_is_read, 6),
        UNIT_TEST(little_is_read_before_the_first_event),
        UNIT_TEST(a_file_that_vanishes_while_it_is_used),
        UNIT_TEST(a_damaged_block),
        UNIT_TEST(a_file_that_is_written_over_while_it_is_used),
        UNIT_TEST(a_program_that_closes_all_files),
        UNIT_TEST(a_thread_that_is_cancelled),
        UNIT_TEST(attributes_of_any_node_first),
        UNIT_TEST(attributes_beside_damage),
        UNIT_TEST(attributes_of_one_node_are_little),
        UNIT_TEST(threads_share_what_is_read),
    };
    return unit_run("merge/open", tests, UNIT_COUNT(tests));
}
