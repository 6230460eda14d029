/* SPDX-License-Identifier: MIT */
/*
 * A job for a run that predicts: what it needs at once is read, the rest when it is asked for.
 *
 *   job_open          header, checksums, definitions, members of the classes, streams
 *   job_open_class    a class that a thread of this rank may be: its rules, checked whole; an index of times by block
 *   the oracle        statistics, a block at a time; attributes, a node at a time (open_values.c)
 *
 * The file stays open, and its parts are read when they are needed, into memory that stands for all of it and costs nothing
 * before. Not mapped: a mapped file that somebody truncates is a crash of the program that is predicted. What turns out to
 * be damaged, or cannot be read any more, is as if nothing were known of its nodes.
 *
 * A class that is not open looks like one in a message whose rules were left out.
 */
#include "file/open.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pythia.h"
#include "job/check.h"
#include "job/intern.h"
#include "file/times.h"

/* --- The job --- */

/* A program that closes all files that it does not know may have the number for one of its own by now. */
static void close_file(const struct merge_store *s)
{
    struct stat now;
    if (fstat(s->source.fd, &now) == 0 && now.st_dev == s->file.st_dev && now.st_ino == s->file.st_ino)
        close(s->source.fd);
}

void merge_store_close(struct merge_store *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->page && i < merge_reader_count(&s->reader, SECTION_CLASSES); i++) {
        free(s->page[i].before);
        merge_values_close(&s->page[i]);
    }
    free(s->page);
    free(s->parts);
    free(s->reader.local);
    merge_container_close(&s->reader.in);
    pthread_mutex_destroy(&s->lock);
    if (s->source.fd >= 0) {
        close_file(s);
        munmap(s->source.data, s->source.size + 1);
    } else {
        free(s->source.data);
    }
    free(s);
}

/* Members only, and a grammar without rules. */
static int open_members(struct merge_reader *r, uint32_t i, const struct merge_parts *p)
{
    struct job_class_entry *c = &r->job->classes[i];
    memset(c, 0, sizeof *c);
    r->job->class_count = i + 1;
    c->grammar = grammar_flat_create(0, 0, 0);
    c->spread = calloc(1, sizeof *c->spread);
    c->ranges = calloc((size_t)p->member_ranges + 1, sizeof *c->ranges);
    c->variants = calloc(1, sizeof *c->variants);
    if (!c->grammar || !c->spread || !c->ranges || !c->variants)
        return merge_reader_no_memory(r);
    if (merge_container_need(&r->in, SECTION_RANGES, p->range_first, p->member_ranges))
        return REFUSE(r, "damaged: section ranges does not decompress");
    if (!p->rules)
        return REFUSE(r, "class %u: its rules were left out", i);
    merge_unpack_ranges(r, p, 0, p->member_ranges, c->ranges);
    c->range_count = c->member_ranges = p->member_ranges;
    return merge_unpack_hash(r, i);
}

static int open_all(struct merge_store *s)
{
    struct merge_reader *r = &s->reader;
    uint32_t classes = merge_reader_count(r, SECTION_CLASSES);
    int error = merge_unpack_definitions(r);
    if (!error)
        error = merge_unpack_parts(r, &s->parts);
    s->page = error ? NULL : calloc((size_t)classes + 1, sizeof *s->page);
    if (!error && !s->page)
        error = merge_reader_no_memory(r);
    for (uint32_t i = 0; i < classes && !error; i++) {
        s->page[i].store = s;
        s->page[i].class_index = i;
        error = open_members(r, i, &s->parts[i]);
    }
    if (!error)
        error = merge_unpack_others(r);
    return error ? error : merge_check(r->job, 1, r->why, r->why_size);
}

/* Takes what the source stands for over, unless it fails. */
static int open_source(const struct merge_source *source, struct job **j, char *why, size_t why_size)
{
    struct merge_store *s = calloc(1, sizeof *s);
    struct job *job = job_create();
    if (!s || !job) {
        merge_refuse(why, why_size, "out of memory");
        job_destroy(job);
        free(s);
        return PYTHIA_ENOMEM;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->source = (struct merge_source){ .fd = -1 };
    s->reader = (struct merge_reader){ .job = job, .why = why, .why_size = why_size };
    job->store = s;
    int error = merge_container_open_source(&s->reader.in, source, why, why_size);
    if (!error)
        error = open_all(s);
    if (error) {
        job_destroy(job);
        return error;
    }
    s->reader.why = s->why;
    s->reader.why_size = sizeof s->why;
    s->source = *source;
    if (source->fd >= 0)
        fstat(source->fd, &s->file);
    *j = job;
    return 0;
}

int job_open_bytes(void *bytes, size_t size, struct job **j, char *why, size_t why_size)
{
    return open_source(&(struct merge_source){ bytes, size, -1 }, j, why, why_size);
}

/* Out of the way of a program that expects low numbers. */
static int move_up(int fd)
{
    enum { HIGH = 500 };
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

int job_open(const char *path, struct job **j, char *why, size_t why_size)
{
    char reason[200] = "";
    struct merge_source source = { .fd = -1 };
    int error = merge_file_open(path, &source.fd, &source.size, why, why_size);
    if (error)
        return error;
    source.fd = move_up(source.fd);
    source.data = mmap(NULL, source.size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (source.data == MAP_FAILED) {
        close(source.fd);
        merge_refuse(why, why_size, "%s: out of memory for %llu bytes", path, (unsigned long long)source.size);
        return PYTHIA_ENOMEM;
    }
    error = open_source(&source, j, reason, sizeof reason);
    if (error) {
        merge_refuse(why, why_size, "%s: %s", path, reason);
        munmap(source.data, source.size + 1);
        close(source.fd);
    }
    return error;
}

const void *job_bytes(const struct job *j, size_t *size)
{
    struct merge_store *s = j->store;
    *size = s ? s->source.size : 0;
    if (!s)
        return NULL;
    pthread_mutex_lock(&s->lock);
    int error = merge_container_fill(&s->reader.in);
    pthread_mutex_unlock(&s->lock);
    return error ? NULL : s->source.data;
}

uint64_t job_opened_mark(const struct job *j)
{
    return j->store ? format_get64(j->store->source.data + HEADER_CHECKSUM) : 0;
}

/* --- A class --- */

static bool has_times(const struct merge_reader *r)
{
    const struct merge_section *s = &r->in.section[SECTION_STATS];
    return s->in_blocks && r->in.section[SECTION_TIMES].data && r->in.section[SECTION_TIMES].count == s->blocks.count;
}

/* The statistics of a block that are of this class. */
static void page_stats(struct grammar_pager *pager, uint32_t block)
{
    struct merge_page *page = (struct merge_page *)pager;
    struct merge_store *s = page->store;
    struct grammar_flat *g = s->reader.job->classes[page->class_index].grammar;
    const struct merge_blocks *blocks = &s->reader.in.section[SECTION_STATS].blocks;
    uint32_t at = s->parts[page->class_index].stats_first / blocks->per + block;
    pthread_mutex_lock(&s->lock);
    const unsigned char *words = merge_container_block(&s->reader.in, SECTION_STATS, at);
    uint64_t first = (uint64_t)block * pager->per;
    for (uint32_t k = 0, length = merge_blocks_length(blocks, at); words && k < length; k++)
        if (first + k >= pager->offset && first + k - pager->offset < g->node_count)
            merge_unpack_stats(words + 8 * (size_t)k, 8 * (size_t)length, &g->stats[first + k - pager->offset], NULL);
    pthread_mutex_unlock(&s->lock);
}

/* Times by block; without them (an older file) all statistics at once. */
static int open_times(struct merge_store *s, struct merge_page *page, struct grammar_flat *g)
{
    struct merge_reader *r = &s->reader;
    const struct merge_parts *p = &s->parts[page->class_index];
    const struct merge_blocks *b = &r->in.section[SECTION_STATS].blocks;
    page->pager.stats = page_stats;
    if (!has_times(r)) {
        if (merge_container_need(&r->in, SECTION_STATS, p->stats_first, p->nodes))
            return REFUSE(r, "damaged: section statistics does not decompress");
        for (uint32_t n = 0; n < p->nodes; n++)
            merge_unpack_stats(merge_reader_at(r, SECTION_STATS, p->stats_first + n, RECORD_STATS), 8, &g->stats[n], NULL);
        return 0;
    }
    page->pager.per = b->per;
    page->pager.offset = p->stats_first % b->per;
    page->pager.blocks = (page->pager.offset + p->nodes + b->per - 1) / b->per;
    page->before = calloc((size_t)page->pager.blocks + 1, sizeof *page->before);
    if (!page->before)
        return merge_reader_no_memory(r);
    for (uint32_t k = 0; k < page->pager.blocks; k++) {
        page->before[k] = merge_unpack_time(r, p->stats_first / b->per + k);
        if (!merge_times_sane(&page->before[k]))
            return REFUSE(r, "damaged: times of class %u", page->class_index);
    }
    page->pager.before = page->before;
    return 0;
}

static int read_rules(struct merge_store *s, struct merge_page *page, struct grammar_flat *g)
{
    struct merge_reader *r = &s->reader;
    const struct merge_parts *p = &s->parts[page->class_index];
    g->terminals = r->job->terminal_count;
    int error = merge_unpack_rules(r, page->class_index, p, g);
    if (!error)
        error = open_times(s, page, g);
    if (!error)
        error = grammar_flat_measure(g, r->why, r->why_size);
    return error ? error : merge_values_open(page, g);
}

int job_open_class(struct job *j, uint32_t class_index, char *why, size_t why_size)
{
    struct merge_store *s = j->store;
    struct merge_page *page = s ? &s->page[class_index] : NULL;
    if (!s || page->open)
        return 0;
    struct job_class_entry *c = &j->classes[class_index];
    const struct merge_parts *p = &s->parts[class_index];
    struct grammar_flat *g = grammar_flat_create(p->rules, p->nodes, 0);
    pthread_mutex_lock(&s->lock);
    int error = g ? read_rules(s, page, g) : merge_reader_no_memory(&s->reader);
    if (error)
        merge_refuse(why, why_size, "%s", s->why);
    pthread_mutex_unlock(&s->lock);
    if (error) {
        free(page->before);
        page->before = NULL;
        merge_values_close(page);
        grammar_flat_destroy(g);
        return error;
    }
    g->pager = &page->pager;
    grammar_flat_destroy(c->grammar);
    c->grammar = g;
    page->open = true;
    return 0;
}
