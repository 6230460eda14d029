/* SPDX-License-Identifier: MIT */
/*
 * A job for a run that predicts: what it needs at once is read, the rest when it is asked for.
 *
 *   file_open          header, checksums, definitions, members of the classes, streams
 *   file_open_class    a class that a thread of this rank may be: its rules, checked whole; an index of times by block
 *   the oracle        statistics, a block at a time; attributes, a node at a time (open_values.c)
 *
 * The file stays open, and its parts are read when they are needed, into memory that stands for all of it and costs
 * nothing before. Not mapped: a mapped file that somebody truncates is a crash of the program that is predicted. What
 * turns out to be damaged, or cannot be read any more, is as if nothing were known of its nodes.
 *
 * A class that is not open looks like one in a message whose rules were left out.
 */
#include "base/io.h"
#include "base/lock.h"
#include "file/file.h"
#include "file/open.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pythia.h"
#include "job/check.h"
#include "job/intern.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "file/times.h"

/* --- The job --- */

/* A program that closes all files that it does not know may have the number for one of its own by now. */
static void close_file(const struct file_store *s)
{
    struct stat now;
    if (fstat(s->source.fd, &now) == 0 && now.st_dev == s->file.st_dev && now.st_ino == s->file.st_ino)
        close(s->source.fd);
}

static void close_members(struct file_store *s)
{
    while (s->member) {
        struct file_member *m = s->member;
        s->member = m->next;
        job_member_free(m->grammar);
        free(m);
    }
}

static void close_store(struct job_store *base)
{
    struct file_store *s = (struct file_store *)base;
    for (uint32_t i = 0; s->page && i < file_reader_count(&s->reader, SECTION_CLASSES); i++) {
        free(s->page[i].before);
        file_values_close(&s->page[i]);
    }
    free(s->page);
    close_members(s);
    free(s->parts);
    free(s->reader.local);
    file_container_close(&s->reader.in);
    pthread_mutex_destroy(&s->lock);
    if (s->source.fd >= 0) {
        close_file(s);
        munmap(s->source.data, s->source.size + 1);
    } else {
        free(s->source.data);
    }
    free(s);
}

/* Sets of the exponents stand after the members. */
static int open_turn_ranges(struct file_reader *r, uint32_t i, const struct file_parts *p, struct job_class *c)
{
    uint32_t end = c->member_ranges;
    for (uint32_t k = 0; k < c->turn_count; k++) {
        const struct job_turn *t = &c->turns[k];
        if (t->column != GRAMMAR_NONE || t->range_first < end)
            continue;
        if (t->range_first != end || t->range_count > p->ranges - end)
            return REFUSE(r, "class %u: ranges of exponents", i);
        end += t->range_count;
    }
    struct job_range *more = realloc(c->ranges, ((size_t)end + 1) * sizeof *more);
    if (!more)
        return file_reader_no_memory(r);
    c->ranges = more;
    if (file_container_need(&r->in, SECTION_RANGES, (uint64_t)p->range_first + c->member_ranges,
                            end - c->member_ranges))
        return REFUSE(r, "damaged: section ranges does not decompress");
    file_unpack_ranges(r, p, c->member_ranges, end - c->member_ranges, c->ranges + c->member_ranges);
    c->range_count = end;
    return 0;
}

/* Members only, and a grammar without rules. */
static int open_members(struct file_reader *r, uint32_t i, const struct file_parts *p)
{
    struct job_class *c = &r->job->classes[i];
    memset(c, 0, sizeof *c);
    r->job->class_count = i + 1;
    c->grammar = grammar_flat_create(0, 0, 0);
    c->spread = calloc(1, sizeof *c->spread);
    c->ranges = calloc((size_t)p->member_ranges + 1, sizeof *c->ranges);
    c->variants = calloc(1, sizeof *c->variants);
    if (!c->grammar || !c->spread || !c->ranges || !c->variants)
        return file_reader_no_memory(r);
    if (file_container_need(&r->in, SECTION_RANGES, p->range_first, p->member_ranges))
        return REFUSE(r, "damaged: section ranges does not decompress");
    if (!p->rules)
        return REFUSE(r, "class %u: its rules were left out", i);
    file_unpack_ranges(r, p, 0, p->member_ranges, c->ranges);
    c->range_count = c->member_ranges = p->member_ranges;
    int error = file_unpack_turns(r, i, p, job_ranges_size(c->ranges, c->member_ranges), c);
    error = error ?: open_turn_ranges(r, i, p, c);
    if (error)
        return error;
    return file_unpack_hash(r, i, p);
}

static int open_all(struct file_store *s)
{
    struct file_reader *r = &s->reader;
    uint32_t classes = file_reader_count(r, SECTION_CLASSES);
    int error = file_unpack_definitions(r);
    error = error ?: file_unpack_parts(r, &s->parts);
    s->page = error ? NULL : calloc((size_t)classes + 1, sizeof *s->page);
    if (!error && !s->page)
        error = file_reader_no_memory(r);
    for (uint32_t i = 0; i < classes && !error; i++) {
        s->page[i].store = s;
        s->page[i].class_index = i;
        error = open_members(r, i, &s->parts[i]);
    }
    error = error ?: file_unpack_others(r);
    return error ?: job_check_parts(r->job, 1, r->why, r->why_size);
}

/* Takes what the source stands for over, unless it fails. */
static int open_source(const struct file_source *source, struct job **j, char *why, size_t why_size)
{
    struct file_store *s = calloc(1, sizeof *s);
    struct job *job = job_create();
    if (!s || !job) {
        job_refuse(why, why_size, "out of memory");
        job_destroy(job);
        free(s);
        return PYTHIA_ENOMEM;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->source = (struct file_source){ .fd = -1 };
    s->reader = (struct file_reader){ .job = job, .why = why, .why_size = why_size };
    s->base.close = close_store;
    job->store = &s->base;
    int error = file_container_open_source(&s->reader.in, source, why, why_size);
    error = error ?: open_all(s);
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

int file_open_bytes(void *bytes, size_t size, struct job **j, char *why, size_t why_size)
{
    return open_source(&(struct file_source){ bytes, size, -1, false }, j, why, why_size);
}

int file_open(const char *path, struct job **j, char *why, size_t why_size)
{
    char reason[200] = "";
    struct file_source source = { .fd = -1 };
    int error = file_open_regular(path, &source.fd, &source.size, why, why_size);
    if (error)
        return error;
    source.fd = base_io_raise(source.fd);
    source.data = mmap(NULL, source.size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                       0);
    if (source.data == MAP_FAILED) {
        close(source.fd);
        job_refuse(why, why_size, "%s: out of memory for %llu bytes", path, (unsigned long long)source.size);
        return PYTHIA_ENOMEM;
    }
    error = open_source(&source, j, reason, sizeof reason);
    if (error) {
        job_refuse(why, why_size, "%s: %s", path, reason);
        munmap(source.data, source.size + 1);
        close(source.fd);
    }
    return error;
}

const void *file_bytes(const struct job *j, size_t *size)
{
    struct file_store *s = file_store_of(j);
    *size = s ? s->source.size : 0;
    if (!s)
        return NULL;
    base_lock_take(&s->lock, BASE_LOCK_FILE);
    int error = file_container_fill(&s->reader.in);
    base_lock_release(&s->lock, BASE_LOCK_FILE);
    return error ? NULL : s->source.data;
}

uint64_t file_mark(const struct job *j)
{
    return j->store ? file_get64(file_store_of(j)->source.data + HEADER_CHECKSUM) : 0;
}

/* --- A class --- */

static bool has_times(const struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_STATS];
    return s->in_blocks && r->in.section[SECTION_TIMES].data && r->in.section[SECTION_TIMES].count == s->blocks.count;
}

/* The statistics of a block that are of this class. */
static void page_stats(struct grammar_pager *pager, uint32_t block)
{
    struct file_page *page = (struct file_page *)pager;
    struct file_store *s = page->store;
    struct grammar_flat *g = s->reader.job->classes[page->class_index].grammar;
    const struct file_blocks *blocks = &s->reader.in.section[SECTION_STATS].blocks;
    uint32_t at = s->parts[page->class_index].stats_first / blocks->per + block;
    base_lock_take(&s->lock, BASE_LOCK_FILE);
    const unsigned char *words = file_container_block(&s->reader.in, SECTION_STATS, at);
    uint64_t first = (uint64_t)block * pager->per;
    for (uint32_t k = 0, length = file_blocks_length(blocks, at); words && k < length; k++)
        if (first + k >= pager->offset && first + k - pager->offset < g->node_count)
            file_unpack_stats(words + 8 * (size_t)k, 8 * (size_t)length, &g->stats[first + k - pager->offset], NULL);
    base_lock_release(&s->lock, BASE_LOCK_FILE);
}

/* Times by block; where there are none, or members have times of their own, all statistics at once. */
static int open_times(struct file_store *s, struct file_page *page, struct grammar_flat *g)
{
    struct file_reader *r = &s->reader;
    const struct file_parts *p = &s->parts[page->class_index];
    const struct file_blocks *b = &r->in.section[SECTION_STATS].blocks;
    page->pager.stats = page_stats;
    if (!has_times(r) || p->turns) {
        if (file_container_need(&r->in, SECTION_STATS, p->stats_first, p->nodes))
            return REFUSE(r, "damaged: section statistics does not decompress");
        for (uint32_t n = 0; n < p->nodes; n++)
            file_unpack_stats(file_reader_at(r, SECTION_STATS, p->stats_first + n, RECORD_STATS), 8, &g->stats[n],
                              NULL);
        return 0;
    }
    page->pager.per = b->per;
    page->pager.offset = p->stats_first % b->per;
    page->pager.blocks = (page->pager.offset + p->nodes + b->per - 1) / b->per;
    page->before = calloc((size_t)page->pager.blocks + 1, sizeof *page->before);
    if (!page->before)
        return file_reader_no_memory(r);
    for (uint32_t k = 0; k < page->pager.blocks; k++) {
        page->before[k] = file_unpack_time(r, p->stats_first / b->per + k);
        if (!file_times_sane(&page->before[k]))
            return REFUSE(r, "damaged: times of class %u", page->class_index);
    }
    page->pager.before = page->before;
    return 0;
}

static int read_rules(struct file_store *s, struct file_page *page, struct grammar_flat *g)
{
    struct file_reader *r = &s->reader;
    const struct file_parts *p = &s->parts[page->class_index];
    g->terminals = r->job->terminal_count;
    int error = file_unpack_rules(r, page->class_index, p, g);
    error = error ?: open_times(s, page, g);
    error = error ?: grammar_flat_measure(g, r->why, r->why_size);
    return error ?: file_values_open(page, g);
}

int file_open_class(struct job *j, uint32_t class_index, char *why, size_t why_size)
{
    struct file_store *s = file_store_of(j);
    struct file_page *page = s ? &s->page[class_index] : NULL;
    if (!s || page->open)
        return 0;
    struct job_class *c = &j->classes[class_index];
    const struct file_parts *p = &s->parts[class_index];
    struct grammar_flat *g = grammar_flat_create(p->rules, p->nodes, 0);
    base_lock_take(&s->lock, BASE_LOCK_FILE);
    int error = g ? read_rules(s, page, g) : file_reader_no_memory(&s->reader);
    if (error)
        job_refuse(why, why_size, "%s", s->why);
    base_lock_release(&s->lock, BASE_LOCK_FILE);
    if (error) {
        free(page->before);
        page->before = NULL;
        file_values_close(page);
        grammar_flat_destroy(g);
        return error;
    }
    g->pager = page->before ? &page->pager : NULL;
    grammar_flat_destroy(c->grammar);
    c->grammar = g;
    page->open = true;
    return 0;
}

/* --- A member --- */

static int make_member(struct file_store *s, struct file_page *page, const struct job_class *c, uint32_t rank,
                       uint32_t thread, const struct grammar_flat **g)
{
    struct file_reader *r = &s->reader;
    struct file_member *m = calloc(1, sizeof *m);
    if (!m)
        return file_reader_no_memory(r);
    m->page = page;
    m->grammar = job_member_grammar(c, rank, thread);
    int error = m->grammar ? grammar_flat_measure(m->grammar, r->why, r->why_size) : file_reader_no_memory(r);
    if (error) {
        job_member_free(m->grammar);
        free(m);
        return error;
    }
    m->next = s->member;
    s->member = m;
    *g = m->grammar;
    return 0;
}

int file_open_member(struct job *j, uint32_t class_index, uint32_t rank, uint32_t thread, const struct grammar_flat **g,
                     char *why, size_t why_size)
{
    struct file_store *s = file_store_of(j);
    const struct job_class *c = &j->classes[class_index];
    int error = file_open_class(j, class_index, why, why_size);
    *g = error ? NULL : c->grammar;
    if (error || !s || !c->turn_count)
        return error;
    base_lock_take(&s->lock, BASE_LOCK_FILE);
    for (const struct file_member *m = s->member; m && *g == c->grammar; m = m->next)
        if (m->page->class_index == class_index && job_turns_same(c, m->grammar, rank, thread))
            *g = m->grammar;
    if (*g == c->grammar)
        error = make_member(s, &s->page[class_index], c, rank, thread, g);
    if (error)
        job_refuse(why, why_size, "%s", s->why);
    base_lock_release(&s->lock, BASE_LOCK_FILE);
    return error;
}
