/* SPDX-License-Identifier: MIT */
/*
 * A job for a run that predicts: what it needs at once is read, the rest when it is asked for.
 *
 *   file_open          header, checksums, definitions, members of the classes, streams
 *   file_open_class    a class that a thread of this rank may be, whole: of sections in blocks what it needs of them
 *
 * The file stays open, and its parts are read when they are needed, into memory that stands for all of it and costs
 * nothing before. Not mapped: a mapped file that somebody truncates is a crash of the program that is predicted.
 * (Classes had blocks of times and values of nodes that were read when they were asked for. Whole, a class of a file of
 * 1 MB is open in 2 ms more, and every reader sees the same job.)
 *
 * A class that is not open looks like one in a message whose rules were left out.
 */
#include "base/io.h"
#include "base/lock.h"
#include "file/file.h"
#include "file/open.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pythia.h"
#include "job/check.h"
#include "job/class.h"
#include "job/ranges.h"
#include "job/turns.h"

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
        BASE_OWN struct file_member *m = s->member;
        s->member = m->next;
        job_member_free(m->grammar);
    }
}

static void close_store(struct job_store *base)
{
    BASE_OWN struct file_store *s = (struct file_store *)base;
    for (uint32_t i = 0; s->was && i < file_reader_count(&s->reader, SECTION_CLASSES); i++)
        job_class_clear(&s->was[i]);
    free(s->was);
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
    s->was = error ? NULL : calloc((size_t)classes + 1, sizeof *s->was);
    if (!error && !s->was)
        error = file_reader_no_memory(r);
    for (uint32_t i = 0; i < classes && !error; i++)
        error = open_members(r, i, &s->parts[i]);
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

/* In place of what was there; who read that has it still. */
static void put_class(struct job_class *c, const struct job_class *body, struct job_class *was)
{
    *was = (struct job_class){ .grammar = c->grammar, .spread = c->spread, .ranges = c->ranges,
                               .variants = c->variants };
    c->ranges = body->ranges; /* the members first, as before */
    c->range_count = body->range_count;
    c->variants = body->variants;
    c->variant_count = body->variant_count;
    c->spread = body->spread;
    c->grammar = body->grammar;
}

static int read_class(struct file_store *s, uint32_t class_index)
{
    struct file_reader *r = &s->reader;
    struct job_class *c = &r->job->classes[class_index], body = { 0 };
    int error = file_unpack_body(r, class_index, &s->parts[class_index], &body);
    body.turns = c->turns;
    body.turn_count = c->turn_count;
    body.columns = c->columns;
    body.column_count = c->column_count;
    body.hash = c->hash;
    error = error ?: job_check_class(r->job, class_index, &body, r->why, r->why_size);
    if (!error)
        put_class(c, &body, &s->was[class_index]);
    body.turns = NULL;
    body.columns = NULL;
    body.column_count = 0;
    if (error)
        job_class_clear(&body);
    return error;
}

int file_open_class(struct job *j, uint32_t class_index, char *why, size_t why_size)
{
    struct file_store *s = file_store_of(j);
    if (!s || s->was[class_index].grammar)
        return 0;
    base_lock_take(&s->lock, BASE_LOCK_FILE);
    int error = read_class(s, class_index);
    if (error)
        job_refuse(why, why_size, "%s", s->why);
    base_lock_release(&s->lock, BASE_LOCK_FILE);
    return error;
}

/* --- A member --- */

static int make_member(struct file_store *s, uint32_t class_index, uint32_t rank, uint32_t thread,
                       const struct grammar_flat **g)
{
    struct file_reader *r = &s->reader;
    struct file_member *m = calloc(1, sizeof *m);
    if (!m)
        return file_reader_no_memory(r);
    m->class_index = class_index;
    m->grammar = job_member_grammar(&r->job->classes[class_index], rank, thread);
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
        if (m->class_index == class_index && job_turns_same(c, m->grammar, rank, thread))
            *g = m->grammar;
    if (*g == c->grammar)
        error = make_member(s, class_index, rank, thread, g);
    if (error)
        job_refuse(why, why_size, "%s", s->why);
    base_lock_release(&s->lock, BASE_LOCK_FILE);
    return error;
}
